"""datasets, metrics, acquire, explain and retrieval over the library's own functions, compared with other sources."""
import json
import subprocess

import numpy as np
import pytest
from sklearn import metrics as reference

import parallax

from conftest import ROOT

ACQUIRE = sorted(p.parent for p in (ROOT / "tests/cases").glob("*/*/case.json")
                 if json.loads(p.read_text()).get("argv", [""])[0] == "acquire")


def test_metrics_agree_with_scikit_learn():
    generator = np.random.default_rng(3)
    truth, found = generator.integers(0, 4, 200), generator.integers(0, 4, 200)
    ours = parallax.metrics.classification(truth, found)
    assert ours["accuracy"] == pytest.approx(reference.accuracy_score(truth, found))
    assert ours["macro_f1"] == pytest.approx(reference.f1_score(truth, found, average="macro"))
    ours = parallax.metrics.clustering(truth, found)
    assert ours["ari"] == pytest.approx(reference.adjusted_rand_score(truth, found))
    assert ours["rand"] == pytest.approx(reference.rand_score(truth, found))
    scores = generator.random((200, 4))
    ours = parallax.metrics.ranking(truth, scores, range(4))
    for c in range(4):
        assert ours[f"auc:{c}"] == pytest.approx(reference.roc_auc_score(truth == c, scores[:, c]))
    hidden = np.where(generator.random(200) < 0.5, -1, truth)
    known = hidden >= 0
    ours = parallax.metrics.classification(hidden, found)
    assert ours["accuracy"] == pytest.approx(reference.accuracy_score(truth[known], found[known]))
    assert parallax.metrics.regression([1.0, 2.0, np.nan], [1.0, 4.0, 9.0])["rmse"] == pytest.approx(np.sqrt(2))


def test_metrics_of_views_retrieval_and_tables():
    ours = parallax.metrics.views([["a", "a"], ["b", "a"], ["b", "b"], [None, "b"]], ["x", "y"], ["a", "b", "b", "b"])
    assert ours["agreement:x|y"] == pytest.approx(2 / 3) and ours["view_accuracy:y"] == pytest.approx(3 / 4)
    ours = parallax.metrics.retrieval([[3.0, 1, 2], [1, 2, 3]], [0, 1], top=(1, 2))
    assert ours["top:1"] == 0.5 and ours["top:2"] == 1.0 and ours["mrr"] == pytest.approx(0.75)
    ours = parallax.metrics.table([[0.9, 0.8], [0.7, 0.6], [0.8, 0.9]], ["good", "bad"])
    assert ours["avg_rank:good"] == pytest.approx(4 / 3) and ours["win:good|bad"] == 2
    X = np.vstack([np.zeros((5, 2)), np.ones((5, 2)) * 9]) + np.random.default_rng(0).normal(size=(10, 2)) * 0.1
    assert parallax.metrics.internal([X], np.arange(10) // 5)["silhouette"] > 0.9


def test_generators_are_those_of_the_command(command, tmp_path):
    for kind in parallax.datasets.generators():
        data = parallax.datasets.generate(kind, random_state=5)
        subprocess.run([command, "data", "generate", kind, tmp_path / kind, "--seed", "5"], check=True,
                       capture_output=True)
        theirs = parallax.read(tmp_path / kind)
        assert theirs.view_names == data.view_names
        for name in data.view_names:
            a, b = data[name], theirs[name]
            assert (a != b).nnz == 0 if hasattr(a, "nnz") else np.array_equal(a, b)
    with pytest.raises(ValueError, match="unknown generator"):
        parallax.datasets.generate("three-gauss")
    with pytest.raises(parallax.ArgumentError):
        parallax.datasets.generate("two-gauss", colour=3)


def test_choices_over_samples():
    data = parallax.datasets.generate("two-gauss", n=100)
    few = parallax.datasets.hide_labels(data, "5", random_state=1)
    assert sum(v is not None for v in few.labels) == 10
    parts = parallax.datasets.folds(data, 5)
    assert np.bincount(parts).tolist() == [len(data) // 5] * 5
    holes = parallax.datasets.drop_views(data, 0.4, random_state=2)
    present = np.array(list(holes.present.values()))
    assert present.any(axis=0).all() and 0.5 < present.mean() < 0.9


@pytest.mark.parametrize("case", ACQUIRE, ids=lambda c: c.name)
def test_rankings_are_those_of_the_command(case, command, tmp_path):
    about = json.loads((case / "case.json").read_text())
    argv = about["argv"]
    pairs = list(zip(argv, argv[1:]))
    method = next(v for k, v in pairs if k == "--with")
    settings = {v.split("=", 1)[0].replace(".", "__"): v.split("=", 1)[1] for k, v in pairs if k == "--set"}
    done = subprocess.run([command, *argv[:2], ".", *argv[2:], "--out", tmp_path / "out.csv"], cwd=case,
                          capture_output=True, text=True)
    data = parallax.read(case)
    if done.returncode:
        with pytest.raises(parallax.ParallaxError) as problem:
            parallax.acquire.rank(argv[1], method, data, **settings)
        assert str(problem.value) in done.stderr
        return
    top = next((int(v) for k, v in pairs if k == "--top"), 10)
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    found = parallax.acquire.rank(argv[1], method, data, top=top, **settings)
    assert [(c.id, c.view or "", c.score) for c in found] == [(r[2], r[3] if r[1] != "label" else "", float(r[4]))
                                                             for r in rows]


def test_simulated_acquisition_has_curves():
    data = parallax.datasets.generate("two-gauss", n=60, labelled="2")
    states = parallax.acquire.simulate("labels", "bct", data, steps=5, strategies=["chosen", "random"], runs=2,
                                       labels="2")
    assert len(states) == 2 * 2 * 6 and {s["strategy"] for s in states} == {"chosen", "random"}
    assert all(0 <= s["accuracy"] <= 1 for s in states)


def test_explanations_are_those_of_the_command(command, few_labels, tmp_path):
    Xs, shown, truth = few_labels
    data = parallax.Dataset(Xs, shown, truth=truth, ids=[f"s{i}" for i in range(120)])
    model = parallax.Bct().fit(data)
    why = parallax.explain.explain(model, data, sample="s3")
    assert {"quality", "views", "features", "sample"} <= set(why)
    assert why["views"].to_frame().shape[0] == 2 and "<table>" in why._repr_html_()
    model.save_model(tmp_path / "model.plx")
    data.write(tmp_path / "data")
    subprocess.run([command, "explain", tmp_path / "model.plx", tmp_path / "data", "--sample", "s3", "--json",
                    tmp_path / "why.json"], check=True, capture_output=True)
    theirs = json.loads((tmp_path / "why.json").read_text())
    theirs = theirs.get("sections", theirs)
    ours = why.to_dict()
    assert all(theirs[key] == ours[key] for key in ours)


def test_retrieval_finds_mates():
    generator = np.random.default_rng(0)
    hidden = generator.normal(size=(200, 3))
    Xs = {"german": hidden @ generator.normal(size=(3, 8)), "english": hidden @ generator.normal(size=(3, 9))}
    model = parallax.Cca(dim=3).fit({name: X[:150] for name, X in Xs.items()})
    found = parallax.retrieval.retrieve(model, {"german": Xs["german"][150:]}, {"english": Xs["english"][150:]}, top=3)
    assert found.metrics["top1"] == 1.0 and (found.items[:, 0] == np.arange(50)).all()
