"""Taggers of names against the command, scikit-free: the same tags, probabilities, figures and rankings."""
import csv
import json
import subprocess

import numpy as np
import pytest

import parallax

SENTENCES = [["Ann", "Lee", "saw", "Rome", "(", "IBM", ")", "."], ["Rome", "fell", ",", "said", "Lee"],
             ["U.S.", "Bank", "met", "Ann", "in", "Köln"]]
TAGS = [["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "O", "O"], ["B-LOC", "O", "O", "O", "B-PER"],
        ["B-ORG", "I-ORG", "O", "B-PER", "O", "B-LOC"]]
DOCUMENTS = [1, 1, 2]
NEW = [["Ann", "fell", "in", "Köln"], ["IBM", "met", "Lee", "."]]


def write(path, sentences, tags=None, documents=None):
    last = None
    with open(path, "w", encoding="utf-8") as f:
        for k, words in enumerate(sentences):
            if documents and documents[k] != last:
                last = documents[k]
                f.write("-DOCSTART- O\n\n" if tags else "-DOCSTART-\n\n")
            for i, word in enumerate(words):
                f.write(word + (" " + tags[k][i] if tags else "") + "\n")
            f.write("\n")
    return str(path)


@pytest.mark.parametrize("learner", ["memm", "svm"])
def test_tags_and_values_are_those_of_the_command(learner, command, tmp_path):
    tagger = parallax.ner.Tagger(learner).fit(SENTENCES, TAGS, documents=DOCUMENTS)
    tagged = tagger.tag(NEW)
    train = write(tmp_path / "train", SENTENCES, TAGS, DOCUMENTS)
    model, out, values = (str(tmp_path / n) for n in ("m.plx", "out", "values"))
    subprocess.run([command, "ner", "train", "--train", train, "--learner", learner, "--model", model, "--quiet"], check=True)
    subprocess.run([command, "ner", "tag", "--model", model, "--in", write(tmp_path / "new", NEW), "--unlabelled", "--out", out,
                    "--probs" if learner == "memm" else "--scores", values, "--quiet"], check=True)
    blocks = [b.split("\n") for b in open(out, encoding="utf-8").read().strip().split("\n\n")]
    assert tagged.tags == [[line.split(" ")[1] for line in b] for b in blocks]
    lines = open(values, encoding="utf-8").read().split("\n")
    assert tagged.columns == lines[0].split()[1:]
    theirs = np.array([[float(x) for x in line.split(" ")[1:]] for line in lines[1:] if line])
    np.testing.assert_array_equal(tagged.values, theirs)


def test_names_are_runs_of_tags():
    tagger = parallax.ner.Tagger().fit(SENTENCES, TAGS)
    names = tagger.tag(SENTENCES).names
    assert [(n.sentence, n.begin, n.end, n.type) for n in names][:3] == [(0, 0, 2, "PER"), (0, 3, 4, "LOC"), (0, 5, 6, "ORG")]
    assert names[-1].words == ("Köln",)
    assert tagger.evaluate(SENTENCES, TAGS)["f1"] == 1


def test_models_are_those_of_the_command(command, tmp_path):
    tagger = parallax.ner.Tagger(view="2", sigma=0.5).fit(SENTENCES, TAGS)
    path = tmp_path / "m.plx"
    tagger.save(path)
    again = parallax.ner.Tagger.load(path)
    assert again.learner == "memm" and again.info()["parameters"]["sigma"] == "0.5"
    assert again.tag(NEW).tags == tagger.tag(NEW).tags
    out = tmp_path / "out"
    subprocess.run([command, "ner", "tag", "--model", path, "--in", write(tmp_path / "new", NEW), "--unlabelled", "--out", out,
                    "--quiet"], check=True)
    assert [line.split(" ")[1] for line in out.read_text().split("\n") if line] == sum(tagger.tag(NEW).tags, [])


def test_evaluation_is_that_of_the_command(command, tmp_path):
    found = [["B-PER", "O", "O", "B-LOC", "O", "B-LOC", "O", "O"], TAGS[1], ["O", "I-ORG", "O", "B-PER", "I-PER", "O"]]
    ours = parallax.ner.evaluate(SENTENCES, TAGS, found)
    both = [[f"{a} {b}" for a, b in zip(t, f)] for t, f in zip(TAGS, found)]
    done = subprocess.run([command, "ner", "eval", "--in", write(tmp_path / "t", SENTENCES, both), "--json", "-"], check=True,
                          capture_output=True, text=True)
    assert ours == json.loads(done.stdout)


def test_ranking_is_that_of_the_command(command, tmp_path):
    views = [parallax.ner.Tagger(view=v).fit(SENTENCES, TAGS) for v in ("1", "2")]
    models = []
    for k, tagger in enumerate(views):
        tagger.save(tmp_path / f"{k}.plx")
        models += ["--model", str(tmp_path / f"{k}.plx")]
    scores, order = parallax.ner.select(views, NEW, "kl-max")
    out = tmp_path / "next.csv"
    subprocess.run([command, "ner", "select", *models, "--pool", write(tmp_path / "new", NEW), "--unlabelled", "--metric",
                    "kl-max", "--out", out, "--quiet"], check=True)
    rows = list(csv.DictReader(open(out, encoding="utf-8")))
    np.testing.assert_allclose(scores, [float(r["score"]) for r in rows], rtol=1e-15)
    assert [int(rows[i]["rank"]) for i in order] == [0, 1]


def test_wrong_sentences_are_refused():
    tagger = parallax.ner.Tagger()
    for sentences, tags in (([], []), ([[]], [[]]), ([["a b"]], [["O"]]), ([["a"]], [["O", "O"]]), ([["a"]], [])):
        with pytest.raises(ValueError):
            tagger.fit(sentences, tags)
    with pytest.raises(ValueError, match="fit"):
        tagger.tag([["a"]])
    with pytest.raises(parallax.FormatError, match="prefix"):
        tagger.fit([["a"]], [["X-PER"]])
    with pytest.raises(parallax.ArgumentError, match="sigmas"):
        parallax.ner.Tagger(sigmas=2).fit([["a"]], [["B-PER"]])
    assert "history" in parallax.ner.parameters() and "window" in parallax.ner.parameters("svm")
