"""compare, tune, views, reports and doctor: the same as the command's verbs of these names."""
import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest

import parallax
from parallax import _doctor


@pytest.fixture
def docs():
    return parallax.datasets.generate("text", n=90, views=2, classes=3, random_state=1)


@pytest.fixture
def folder(docs, tmp_path):
    docs.write(tmp_path / "docs")
    return tmp_path / "docs"


def told(command, *words):
    return json.loads(subprocess.run([command, *map(str, words), "--quiet"], capture_output=True, check=True).stdout)


# ---- compare ----

def test_compare_gives_what_the_command_gives(command, folder):
    theirs = told(command, "compare", folder, "--methods", "nb,rls:gamma_a=0.1,auto", "--labels", "10%", "--repeats", "3",
                  "--format", "json")
    found = parallax.compare(parallax.read(folder), ["nb", parallax.Rls(gamma_a=0.1), "auto"], labels="10%", repeats=3,
                             n_jobs=2)
    assert found.to_dict()["blocks"] == theirs["blocks"]
    values = theirs["blocks"][0]["methods"]
    assert found.values("accuracy").tolist() == [m["metrics"]["accuracy"]["values"] for m in values]
    assert found.methods == ["nb", "rls:gamma_a=0.1", "auto"] and found.runs == 3 and found.failed == 0
    means = {r["method"]: r["mean"] for r in found.rows() if r["metric"] == "accuracy"}
    assert means["auto"] == pytest.approx(found.values()[2].mean())
    assert [r["method"] for r in found.rows() if r["metric"] == "accuracy" and r["best"]] == [max(means, key=means.get)]
    assert "auto" in repr(found) and found.to_text("markdown").count("|") > 8
    with pytest.raises(ValueError, match="format"):
        found.to_text("pdf")


def test_compare_takes_views_several_sets_and_a_journal(two_views, tmp_path):
    Xs, y = two_views
    one = parallax.compare(Xs, "rls", y=y, repeats=2, journal=tmp_path / "j")
    again = parallax.compare(Xs, "rls", y=y, repeats=2, journal=tmp_path / "j", resume=True)
    assert again.resumed == 2 and again.values().tolist() == one.values().tolist()
    data = parallax.Dataset(Xs, truth=y)
    both = parallax.compare({"a": data, "b": data}, ["rls", "mvkmeans"], labels=["5", "10"], metrics="accuracy", repeats=2)
    assert both.blocks == ["a 5", "a 10", "b 5", "b 10"] and both.metrics == ["accuracy"]
    assert both.values(block="a 5").tolist() == both.values(block="b 5").tolist()
    clusters = parallax.compare(data, ["mvkmeans", "spectral"], task="cluster", repeats=2)
    assert clusters.metrics == ["nmi", "ari"]
    refused = parallax.compare(data, ["nb", "rls"], repeats=1)
    assert ">= 0" in next(r["reason"] for r in refused.rows() if r["method"] == "nb")
    with pytest.raises(ValueError, match="task"):
        parallax.compare(data, task="guess")
    with pytest.raises(parallax.ArgumentError, match="did you mean"):
        parallax.compare(data, ["rlss"])


def test_compare_tells_how_far_it_is_and_stops(two_views):
    Xs, y = two_views
    steps = []
    parallax.compare(Xs, ["rls", "svm"], y=y, repeats=2, progress=lambda p: steps.append(p.iteration))
    assert steps[-1] == 4
    with pytest.raises(parallax.CancelledError):
        parallax.compare(Xs, ["rls", "svm"], y=y, repeats=2, progress=lambda p: True)


# ---- tune ----

def test_tune_gives_what_the_command_gives(command, folder):
    theirs = told(command, "tune", folder, "rls", "--labels", "30%", "--grid", "gamma_a=0.001,0.1,10", "--json", "-")
    data = parallax.read(folder)
    rows = [label is not None for label in parallax.read(folder).labels]
    assert sum(rows) > 0
    found = parallax.tune(parallax.Rls(), _thirty_percent(command, folder, data), grid={"gamma_a": [0.001, 0.1, 10.0]})
    assert [c["mean"] for c in found.candidates] == [c["mean"] for c in theirs["candidates"]]
    assert found.chosen == theirs["chosen"] and found.verdict == theirs["verdict"]
    assert len(found.to_frame()) == 4


def _thirty_percent(command, folder, data):
    """The labels that --labels 30% leaves."""
    out = folder.parent / "split"
    subprocess.run([command, "data", "split", folder, out, "--labels", "30%", "--quiet"], check=True)
    return data.relabel(parallax.read(out).labels)


def test_tune_chooses_what_helps_and_leaves_what_is_set(few_labels):
    Xs, shown, truth = few_labels
    noisy = {**Xs, "noise": np.random.default_rng(0).normal(size=(len(truth), 40))}
    search = parallax.tune(parallax.Rls(gamma_a=1e6, view="left"), noisy, truth, grid={"kernel": ["linear", "rbf"]})
    assert search.best_estimator.get_params()["gamma_a"] == 1e6 and search.best_estimator.get_params()["view"] == "left"
    search = parallax.tune(parallax.Hknn(), Xs, truth, trials=4)
    assert len(search.candidates) == 5 and search.candidates[0]["settings"] == ""
    assert search.best_estimator.fit(Xs, shown).labels_.shape == (len(truth),)
    bad = parallax.tune(parallax.Rls(view="noise"), noisy, truth, grid={"gamma_a": [1.0]})
    assert bad.candidates[0]["mean"] < 0.6
    with pytest.raises(ValueError, match="no parameter"):
        parallax.tune(parallax.Rls(), Xs, truth, grid={"nothing": [1]})


def test_tune_by_view(few_labels):
    Xs, _, truth = few_labels
    found = parallax.tune(parallax.Bct(), Xs, truth, grid={"view_variance__left": [0.01, 1.0]})
    assert {c["settings"] for c in found.candidates} == {"", "view_variance.left=0.01", "view_variance.left=1.0"}


# ---- views ----

def test_views_give_what_the_command_gives(command, folder):
    theirs = told(command, "views", folder, "--json", "-")
    found = parallax.views(parallax.read(folder))
    assert found.to_dict() == theirs
    assert found.advice[-1][0].startswith("fit auto") and len(found["views"].rows) == 2
    assert list(pickle.loads(pickle.dumps(found))) == list(found)


# ---- auto ----

def test_auto_is_that_of_the_command(command, folder, tmp_path):
    data = parallax.read(folder)
    model = parallax.Auto().fit(data)
    subprocess.run([command, "fit", "auto", folder, "--model", tmp_path / "m.plx", "--quiet"], check=True)
    model.save_model(tmp_path / "ours.plx")
    assert (tmp_path / "ours.plx").read_bytes() == (tmp_path / "m.plx").read_bytes()
    again = parallax.load_model(tmp_path / "m.plx")
    assert np.array_equal(again.predict_proba(data), model.predict_proba(data))
    assert [m["method"] for m in model.facts()["members"]] == ["coem", "mvkmeans", "corls", "gp", "hknn", "mvll"]
    assert len(model.agreement_) == 6
    assert np.allclose(model.predict_proba(data).sum(axis=1), 1)
    assert "Auto" in repr(model) and len(parallax.explain.explain(model, data)["views"].rows) == 2


# ---- reports ----

def test_reports_of_everything(docs, few_labels, tmp_path):
    from parallax._core import lib

    if not lib.plx_report_available():
        pytest.skip("this build has no reports")
    Xs, shown, truth = few_labels
    model = parallax.Rls().fit(Xs, shown)
    data = parallax.Dataset(Xs, shown, truth=truth, name="<b>data</b>")
    reports = {"fit": model.report(Xs, shown, truth=truth), "fit of a data set": model.report(data),
               "explain": parallax.explain.explain(model, data).report(),
               "explain without predict": parallax.explain.explain(parallax.Lapreg().fit(data), data).report(),
               "views": parallax.views(data).report(),
               "compare": parallax.compare(data, ["rls", "svm"], repeats=2).report(),
               "acquire": parallax.acquire.simulate("labels", "rls", data, steps=2, labels="1").report()}
    for what, report in reports.items():
        report.save(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>") and "<b>data</b>" not in page, what
        shown_inline = report._repr_html_()
        assert shown_inline.startswith("<iframe srcdoc=") and "<script" not in shown_inline, what
    assert "accuracy" in reports["fit"].page


# ---- doctor ----

def test_doctor_tells_what_the_command_tells(command):
    theirs = told_plain(command, "doctor", "--json")
    found = parallax.doctor()
    assert (found["blas"].split()[0], found["version"]) == (theirs["blas"].split()[0], theirs["version"])
    assert found["gflops"] > 0.1 and "kernels" in repr(found)


def told_plain(command, *words):
    return json.loads(subprocess.run([command, *words], capture_output=True, check=True).stdout)


def test_weak_kernels_are_told_once(monkeypatch, few_labels):
    Xs, shown, _ = few_labels
    monkeypatch.setattr(_doctor, "_told", False)
    monkeypatch.setattr(_doctor, "advice", lambda: "the kernels are weak: set OPENBLAS_CORETYPE=Haswell")
    with pytest.warns(parallax.ParallaxWarning, match="Haswell"):
        parallax.Rls().fit(Xs, shown)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallax.Rls().fit(Xs, shown)


def test_weak_kernels_are_found(command):
    """With kernels of an old processor set by force, on one that can do more."""
    import os
    import sys

    program = "import parallax; print(parallax._doctor.advice())"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                          env={**os.environ, "OPENBLAS_CORETYPE": "Prescott"}).stdout
    plain = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                           env={k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}).stdout
    if "DYNAMIC_ARCH" not in parallax.doctor()["blas"]:
        pytest.skip("this BLAS has one set of kernels")
    assert "unset it" in told or told == plain == "None\n"
