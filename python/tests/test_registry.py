"""The package knows exactly what the command knows."""
import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

import parallax
from parallax._estimator import NON_NEGATIVE
from parallax._registry import METHODS
from parallax.estimators import COMMON

from conftest import ROOT


def test_descriptions_are_those_of_the_command(command):
    told = {m["name"]: m for m in json.loads(subprocess.run([command, "methods", "--json"], capture_output=True,
                                                            check=True).stdout)}
    assert list(told) == list(METHODS)
    for name, method in METHODS.items():
        ours, theirs = method, told[name]
        for key in ("title", "summary", "citation", "task", "min_views", "max_views", "transform", "scores", "growth",
                    "ranks", "capabilities"):
            assert getattr(ours, key) == theirs[key], (name, key)
        assert [(p.name, p.kind, p.per_view, p.default, p.range, p.help) for p in ours.parameters] == [
            (p["name"], p["kind"], p["per_view"], p["default"], p["range"], p["help"]) for p in theirs["parameters"]]
        assert [(a.name, a.shape, a.on_request, a.help) for a in ours.arrays] == [
            (a["name"], a["shape"], a["on_request"], a["help"]) for a in theirs["arrays"]]


@pytest.mark.parametrize("name", METHODS)
def test_class_has_every_parameter_once(name):
    made = getattr(parallax, METHODS[name].class_name)
    arguments = list(inspect.signature(made.__init__).parameters)[1:]
    expected = [p.python_name for p in METHODS[name].parameters] + [c[0] for c in COMMON]
    assert arguments == expected and len(set(arguments)) == len(arguments)
    assert METHODS[name].title in made.__doc__
    attributes = [a.attribute for a in METHODS[name].arrays]
    assert len(set(attributes)) == len(attributes), "two arrays would be one attribute"


@pytest.mark.parametrize("name", METHODS)
def test_defaults_are_the_librarys(name):
    """A default handed over as text is read as what it was: the fit does not change."""
    for p in METHODS[name].parameters:
        if p.python_default is None:
            continue
        again = p.as_text(p.python_default)
        if p.kind == "bool":
            assert (again == "true") == (p.default in ("1", "true", "yes", "on"))
        else:
            assert again == p.default or float(again) == float(p.default), (name, p.name)


def test_methods_of_counts_are_known():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 4)), np.arange(40) % 2
    refused = set()
    for made in parallax.all_estimators("classify"):
        try:
            made().fit([X, X], y)
        except parallax.DataError as problem:
            if "needs values >= 0" in str(problem):
                refused.add(made.method.name)
    assert refused == set(NON_NEGATIVE)


def test_unknown_method_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'bct'"):
        parallax.estimator("bctt")


def test_types_of_the_estimators_are_current():
    done = subprocess.run([sys.executable, ROOT / "tools/gen_python_stubs.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
