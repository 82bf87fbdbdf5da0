"""Every golden case of the verb `fit` through Python gives the bytes of the command: predictions, arrays, model file; and
the same arrays when the data come as matrices instead of a Dataset."""
import json
import subprocess

import numpy as np
import pytest

import parallax
from parallax._core import Context, encoded, lib
from parallax._registry import METHODS

from conftest import ROOT

CASES = sorted(p.parent for p in (ROOT / "tests/cases").glob("*/*/case.json")
               if json.loads(p.read_text()).get("argv", [""])[0] == "fit")


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        chosen = CASES[::6] if metafunc.config.getoption("--quick") else CASES
        metafunc.parametrize("case", chosen, ids=lambda c: f"{c.parent.name}/{c.name}")


class Case:
    def __init__(self, folder):
        self.folder, self.about = folder, json.loads((folder / "case.json").read_text())
        self.argv = self.about["argv"]
        self.method, rest = self.argv[1], self.argv[2:]
        self.settings = [tuple(v.split("=", 1)) for k, v in zip(rest, rest[1:]) if k == "--set"]
        self.seed = next((int(v) for k, v in zip(rest, rest[1:]) if k == "--seed"), 0)

    def estimator(self):
        names = {p.name: p for p in METHODS[self.method].parameters}
        params = {}
        for key, value in self.settings:
            name, _, view = key.partition(".") if key not in names else (key, "", None)
            known = names[name].python_name
            params[known] = {**params.get(known, {}), view or None: value}
        params = {key: value if set(value) != {None} else value[None] for key, value in params.items()}
        return parallax.estimator(self.method, random_state=self.seed, arrays=list(self.about.get("arrays", {})) or None,
                                  **params)

    def run(self, command, scratch):
        """The command's files, or what it says when it fails."""
        extra = [x for i, name in enumerate(self.about.get("arrays", {})) for x in ("--dump", f"{name}={scratch}/{i}.csv")]
        if METHODS[self.method].task != "embed":
            extra += ["--out", f"{scratch}/out.csv"]
        done = subprocess.run([command, *self.argv[:2], ".", *self.argv[2:], *extra, "--model", f"{scratch}/model.plx",
                               "--json", f"{scratch}/result.json"], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stderr


def write(estimator, data, arrays, scratch):
    """What the command writes, by the library's own writers."""
    context, model = Context(), estimator._model.pointer
    lib_data = data.pointer
    for i, name in enumerate(arrays):
        context.call(lib.plx_model_array_write, context.pointer, model, lib_data, encoded(name),
                     encoded(f"{scratch}/py{i}.csv"))
    context.call(lib.plx_prediction_write, context.pointer, lib.plx_model_prediction(model), lib_data,
                 encoded(f"{scratch}/pyout.csv"))
    estimator.save_model(f"{scratch}/py.plx")


def without_times(path_or_text):
    facts = json.loads(path_or_text)
    return {k: v for k, v in facts.items() if k not in ("seconds", "processor_seconds", "memory", "metrics", "data")}


def as_matrices(data):
    """The data set as users would hand it over: matrices with rows of NaN, or flags where they are sparse."""
    Xs, flags, present = {}, {}, data.present
    for name, values in data.views.items():
        if not hasattr(values, "indptr"):
            values = np.array(values)
            values[~present[name]] = np.nan
        Xs[name], flags[name] = values, present[name]
    return parallax.Dataset(Xs, data.labels, truth=data.truth, ids=data.ids, kinds=data.kinds, present=flags,
                            name=data.name)


@pytest.mark.filterwarnings("ignore::parallax.ParallaxWarning")
def test_case_gives_the_bytes_of_the_command(case, command, tmp_path):
    case = Case(case)
    status, words = case.run(command, tmp_path)
    if status != 0:
        with pytest.raises((parallax.ParallaxError, KeyError, ValueError)) as problem:
            case.estimator().fit(parallax.read(case.folder))
        if isinstance(problem.value, parallax.ParallaxError):
            assert str(problem.value) in words
        return
    data = parallax.read(case.folder)
    fitted = case.estimator().fit(data)
    arrays = list(case.about.get("arrays", {}))
    write(fitted, data, arrays, tmp_path)
    for i, name in enumerate(arrays):
        assert (tmp_path / f"py{i}.csv").read_bytes() == (tmp_path / f"{i}.csv").read_bytes(), name
    if METHODS[case.method].task != "embed":
        assert (tmp_path / "pyout.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    ours, theirs = fitted._model.json_text(data.pointer), (tmp_path / "result.json").read_text()
    assert without_times(ours) == without_times(theirs)
    again = case.estimator()
    if data.hierarchy is None and all(f is None for f in data.features.values()):
        same = as_matrices(data)
        same.directory = data.directory
        again.fit(same)
        for name in fitted._model.arrays():
            a, b = fitted._model.array(name), again._model.array(name)
            a, b = (m.toarray() if hasattr(m, "indptr") else np.array(m) for m in (a, b))
            assert a.tobytes() == b.tobytes(), name
