#!/usr/bin/env python3
"""Writes parallax/estimators.pyi, the types of the estimators, from the library's descriptions.

usage: PYTHONPATH=build/python/site python3 tools/gen_python_stubs.py [--check]
"""
import pathlib
import sys

import parallax
from parallax.estimators import COMMON

FILE = pathlib.Path(__file__).resolve().parent.parent / "python/parallax/estimators.pyi"
KINDS = {"int": "int", "real": "float", "bool": "bool", "choice": "str", "text": "str | float", "file": "str",
         "int or word": "int | str", "real or word": "float | str", "reals": "str | float | Sequence[float]"}
COMMON_TYPES = {"views": "int | Sequence[Any] | Mapping[str, Any] | None", "kinds":
                "str | Sequence[str] | Mapping[str, str] | None", "arrays": "Sequence[str] | None",
                "random_state": "int | np.random.RandomState | np.random.Generator | None", "n_jobs": "int | None",
                "memory_limit": "int | None", "time_limit": "float | None", "device": "str | None",
                "progress": "Callable[[Progress], object] | None"}
HEAD = '''"""Types of the estimators; written by tools/gen_python_stubs.py."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ._core import Progress
from ._registry import Method
from ._report import Report

Views = Any
Result = Any

class Estimator(BaseEstimator):
    method: Method
    labels_: np.ndarray
    classes_: np.ndarray
    view_names_: list[str]
    n_views_: int
    n_features_in_: int
    feature_names_in_: np.ndarray
    n_iter_: int
    converged_: bool
    objective_: float
    def fit(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> Any: ...
    def fit_predict(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> Result: ...
    def set_params(self, **params: Any) -> Any: ...
    def save_model(self, path: Any) -> None: ...
    def facts(self) -> dict[str, Any]: ...
    def report(self, Xs: Views, y: Any = ..., *, truth: Any = ..., present: Any = ...) -> Report: ...
'''
TAIL = '''
def estimator(name: str, **params: Any) -> Estimator: ...
def all_estimators(task: str | None = ...) -> list[type[Estimator]]: ...
def load_model(path: Any) -> Estimator: ...
'''
CALLS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "membership", "transform", "similarity")


def parameter(p):
    kind = KINDS[p.kind]
    if p.per_view:
        kind += " | Mapping[str | None, Any]"
    return f"{p.python_name}: {kind} | None = ..."


def stub(made):
    """One class."""
    words = [parameter(p) for p in made.method.parameters] + [f"{c[0]}: {COMMON_TYPES[c[0]]} = ..." for c in COMMON]
    lines = [f"class {made.__name__}(Estimator):"]
    for a in made.method.arrays:
        kind = "dict[str, Any]" if a.attribute.endswith("_by_view_") else "Any"
        if a.attribute.isidentifier():
            lines.append(f"    {a.attribute}: {kind}")
    lines += ["    def __init__(", "        self,", "        *,"] + [f"        {w}," for w in words] + ["    ) -> None: ..."]
    lines += [f"    def {call}(self, Xs: Views, *, present: Any = ...) -> Result: ..." for call in CALLS
              if any(call in base.__dict__ for base in made.__mro__)]
    if any("score" in base.__dict__ for base in made.__mro__):
        lines.append("    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...")
    return "\n".join(lines)


def written():
    classes = parallax.all_estimators()
    names = ", ".join(f'"{c.__name__}"' for c in classes)
    return (HEAD + "\n" + "\n\n".join(map(stub, classes)) + "\n" + TAIL +
            f'\n__all__ = [{names}, "estimator", "all_estimators", "load_model"]\n')


def main():
    if "--check" in sys.argv:
        current = FILE.exists() and FILE.read_text(encoding="utf-8") == written()
        print("estimators.pyi is " + ("current" if current else "out of date: run tools/gen_python_stubs.py"))
        return 0 if current else 1
    FILE.write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
