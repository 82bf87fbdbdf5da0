"""The golden cases of `eval` and `ner` through Python give what the command gives; those of `fit` are in test_cases.py, those
of `acquire` in test_modules.py."""
import csv
import json
import subprocess

import numpy as np
import pytest

from parallax import metrics, ner

from conftest import ROOT


def cases(name):
    return sorted(p.parent for p in (ROOT / "tests/cases" / name).glob("*/case.json"))


def options(argv):
    """{option: values}; options of these verbs all have a value but two."""
    found, rest = {}, list(argv)
    while rest:
        key = rest.pop(0)
        found.setdefault(key, []).append("" if key in ("--clusters", "--multilabel") else rest.pop(0))
    return found


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def numbers(path):
    rows = list(csv.reader(path.open(encoding="utf-8")))
    return rows[0], rows[1:]


# ---- eval ----

def eval_in_python(folder, o):
    def read(key):
        return lines(folder / o[key][0])

    if "--table" in o:
        head, rows = numbers(folder / o["--table"][0])
        return metrics.table(np.array([[float(x) for x in r[1:]] for r in rows]), head[1:], o["--higher-better"] == ["1"])
    if "--topn" in o:
        _, rows = numbers(folder / o["--topn"][0])
        gold = [-1 if g == "?" else int(g) for g in read("--gold")]
        return metrics.retrieval(np.array(rows, dtype=float), gold, [int(n) for n in o["--top"][0].split(",")])
    if "--views" in o:
        head, rows = numbers(folder / o["--views"][0])
        return metrics.views([[None if x == "?" else x for x in r] for r in rows], head, read("--truth"))
    if "--scores" in o:
        head, rows = numbers(folder / o["--scores"][0])
        return metrics.ranking(read("--truth"), np.array(rows, dtype=float), head, o["--positive"][0])
    if "--multilabel" in o:
        return metrics.multilabel(read("--truth"), read("--pred"), json.loads((folder / o["--hierarchy"][0]).read_text()))
    measure = metrics.clustering if "--clusters" in o else metrics.classification
    return measure(read("--truth"), read("--pred"))


@pytest.mark.parametrize("case", cases("metrics"), ids=lambda c: c.name)
def test_measures_are_those_of_the_command(case, command, tmp_path):
    argv = json.loads((case / "case.json").read_text())["argv"]
    done = subprocess.run([command, *argv, "--json", tmp_path / "m.json", "--quiet"], cwd=case, capture_output=True, text=True)
    if done.returncode:
        with pytest.raises(ValueError):
            eval_in_python(case, options(argv[1:]))
        return
    found = eval_in_python(case, options(argv[1:]))
    theirs = json.loads((tmp_path / "m.json").read_text())
    theirs = theirs.get("metrics", theirs)
    asked = options(argv[1:]).get("--metrics")
    for name in asked[0].split(",") if asked else theirs:
        assert name in found and (found[name] == theirs[name] or theirs[name] is None and np.isnan(found[name])), name


# ---- ner ----

def settings_of(o):
    found = dict(s.split("=", 1) for s in o.get("--set", []))
    return {k.replace(".", "__"): v for k, v in found.items()}


def read_conll(path, columns):
    """Sentences and as many further columns, lists per sentence."""
    blocks = [b.split("\n") for b in path.read_text(encoding="utf-8").strip("\n").split("\n\n")]
    rows = [[line.split() for line in b if line and not line.startswith("-DOCSTART-")] for b in blocks]
    rows = [b for b in rows if b]
    return [[[line[c] for line in b] for b in rows] for c in (0, *columns)]


class InPython:
    """Runs a step of a case by parallax.ner and checks it against the files that the command wrote."""

    def __init__(self, folder, out):
        self.folder, self.out, self.tagger = folder, out, None

    def eval(self, o, theirs):
        words, gold, guess = read_conll(self.folder / o["--in"][0], (-2, -1))
        found = ner.evaluate(words, gold, guess, *o.get("--scheme", []))
        assert found == json.loads(theirs)

    def train(self, o, _):
        given = dict(settings_of(o), **({"view": o["--view"][0]} if "--view" in o else {}))
        sentences, tags, pos, documents = whole_text(self.folder / o["--train"][0])
        self.tagger = ner.Tagger(o["--learner"][0], **given).fit(sentences, tags, pos=pos, documents=documents)
        self.tagger.save(self.out / "py.plx")
        assert (self.out / "py.plx").read_bytes() == (self.out / "m.plx").read_bytes()

    def tag(self, o, _):
        path = self.folder / o["--in"][0]
        sentences, _, pos, documents = whole_text(path)
        found = self.tagger.tag(sentences, pos=pos, documents=documents)
        blocks = (self.out / "tagged.txt").read_text(encoding="utf-8").strip("\n").split("\n\n")
        assert found.tags == [[line.split()[-1] for line in b.split("\n")] for b in blocks]
        if "--probs" in o:
            rows = [line for line in lines(self.out / "probs.txt") if line]
            np.testing.assert_array_equal(found.values, [[float(x) for x in r.split(" ")[1:]] for r in rows[1:]])

    def select(self, o, _):
        scores, order = ner.select_probs([self.folder / p for p in o["--probs"]], o["--metric"][0], **settings_of(o))
        _, rows = numbers(self.out / "scores.csv")
        assert scores.tolist() == [float(r[1]) for r in rows]
        assert order.tolist() == sorted(range(len(rows)), key=lambda i: int(rows[i][4]))

    def simulate(self, o, _):
        rounds = ner.simulate(*(self.folder / o[k][0] for k in ("--train", "--pool", "--test")), o["--metric"][0],
                              batch=int(o["--batch"][0]), rounds=int(o["--rounds"][0]), **settings_of(o))
        _, rows = numbers(self.out / "curve.csv")
        assert [list(r.values()) for r in rounds] == [[float(x) for x in r[1:]] for r in rows]

    def bootstrap(self, o, _):
        tagger = ner.bootstrap(*(self.folder / o[k][0] for k in ("--train", "--dev", "--text")), **settings_of(o))
        theirs = json.loads((self.out / "boot.json").read_text())
        info = tagger.info()
        assert all(info[key] == theirs[key] for key in ("phase", "dev_f1", "support", "best"))
        tagger.save(self.out / "py.plx")
        assert (self.out / "py.plx").read_bytes() == (self.out / "m.plx").read_bytes()


def whole_text(path):
    """Sentences, tags, parts of speech (None: no column) and documents of a file with tags."""
    sentences, tags, pos, documents, document, fresh = [], [], [], [], 0, True
    for line in path.read_text(encoding="utf-8").split("\n"):
        fields = line.split()
        if not fields or fields[0] == "-DOCSTART-":
            document += bool(fields)
            fresh = True
            continue
        if fresh:
            for column in (sentences, tags, pos):
                column.append([])
            documents.append(document)
            fresh = False
        sentences[-1].append(fields[0])
        tags[-1].append(fields[-1])
        if len(fields) > 2:
            pos[-1].append(fields[1])
    return sentences, tags, pos if any(pos) else None, documents if document else None


@pytest.mark.parametrize("case", cases("ner"), ids=lambda c: c.name)
def test_names_in_text_are_those_of_the_command(case, command, tmp_path):
    about = json.loads((case / "case.json").read_text())
    here = InPython(case, tmp_path)
    for step in about.get("steps") or [about["argv"]]:
        argv = [word.replace("{out}", str(tmp_path)) for word in step]
        extra = ["--json", "-"] if argv[1] == "eval" else ["--quiet"]
        done = subprocess.run([command, *argv, *extra], cwd=case, capture_output=True, text=True)
        o = options(argv[2:])
        if done.returncode:
            with pytest.raises(ValueError):
                getattr(here, argv[1])(o, done.stdout)
            return
        getattr(here, argv[1])(o, done.stdout)
