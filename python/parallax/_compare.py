"""Several methods on the same splits."""
import json
import os

import numpy as np

from . import _report
from ._core import NULL, Context, Texts, encoded, ffi, lib, text
from ._dataset import Dataset
from ._files import written
from ._settings import seed_of, settings_of, threads

FORMATS = {"text": "PLX_COMPARE_TEXT", "json": "PLX_COMPARE_JSON", "csv": "PLX_COMPARE_CSV",
           "markdown": "PLX_COMPARE_MARKDOWN", "latex": "PLX_COMPARE_LATEX"}
FIGURES = ("runs", "failed", "mean", "sd", "best", "level", "p", "p_holm", "rank", "seconds", "cpu", "memory")


def spec_of(method):
    """An estimator or a text as METHOD:KEY=VALUE:..."""
    if isinstance(method, str):
        return method
    return ":".join([method.method.name, *(f"{key}={value}" for key, value in settings_of(method.method, method))])


def data_sets(data, y):
    """{name: Dataset} of one data set, a list or dict of them, or views and labels."""
    if isinstance(data, Dataset):
        return {data.name: data}
    if hasattr(data, "items") and data and all(isinstance(d, Dataset) for d in data.values()):
        return {str(name): d for name, d in data.items()}
    if isinstance(data, (list, tuple)) and data and all(isinstance(d, Dataset) for d in data):
        return {d.name: d for d in data} if len({d.name for d in data}) == len(data) else \
               {f"{d.name}{i}": d for i, d in enumerate(data)}
    return {"data": Dataset(data, truth=y)}


class Comparison:
    """Results of `compare`: shown as a table; `to_frame`, `values`, `report` and `save` give more."""

    def __init__(self, made):
        self._made, self._pointer = made, made.pointer
        names = (("blocks", lib.plx_comparison_blocks, lib.plx_comparison_block),
                 ("methods", lib.plx_comparison_entries, lib.plx_comparison_entry),
                 ("metrics", lib.plx_comparison_metrics, lib.plx_comparison_metric))
        for attribute, count, name in names:
            setattr(self, attribute, [text(name(self._pointer, i)) for i in range(count(self._pointer))])
        self.runs = lib.plx_comparison_runs(self._pointer)
        self.resumed, self.failed = lib.plx_comparison_resumed(self._pointer), lib.plx_comparison_failed(self._pointer)

    def values(self, metric=None, block=0) -> np.ndarray:
        """A metric (the first, if none is named) of every method in every run: methods x runs; NaN: no answer."""
        m = 0 if metric is None else self.metrics.index(metric)
        b = self.blocks.index(block) if isinstance(block, str) else block
        return np.array([[lib.plx_comparison_value(self._pointer, m, b, e, r) for r in range(self.runs)]
                         for e in range(len(self.methods))])

    def _row(self, m, b, e):
        row = ffi.new("plx_compared *")
        row.struct_size = ffi.sizeof("plx_compared")
        lib.plx_comparison_get(row, self._pointer, m, b, e)
        figures = {name: getattr(row, name) for name in FIGURES}
        figures.update(best=bool(row.best), level=bool(row.level), reason=text(row.reason))
        return {"block": self.blocks[b], "method": self.methods[e], "metric": self.metrics[m], **figures}

    def rows(self) -> list[dict]:
        """A dict for every block, method and metric: mean, sd, best, level (not significantly worse), p, rank, ..."""
        return [self._row(m, b, e) for b in range(len(self.blocks)) for m in range(len(self.metrics))
                for e in range(len(self.methods))]

    def to_frame(self):
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_text(self, format="text", costs=False) -> str:
        """As the command writes it: text, json, csv, markdown or latex; `costs`: seconds and memory instead."""
        if format not in FORMATS:
            raise ValueError(f"format '{format}': expected {', '.join(FORMATS)}")
        context, part = Context(), lib.PLX_COMPARE_COSTS if costs else lib.PLX_COMPARE_RESULTS
        return written(context, lambda path: (lib.plx_comparison_write, context.pointer, self._pointer,
                                              getattr(lib, FORMATS[format]), part, path)).decode("utf-8")

    def to_dict(self) -> dict:
        """Everything, the value of every run included."""
        return json.loads(self.to_text("json"))

    def report(self) -> _report.Report:
        """A page with plots, tests and tables: shown in a notebook, or saved to a file."""
        return _report.of_comparison(self._made)

    def __repr__(self):
        return self.to_text().rstrip()

    def _repr_html_(self):
        frame = self.to_frame()
        return frame[["block", "metric", "method", "runs", "mean", "sd", "best", "level", "rank", "seconds"]].to_html(
            index=False, float_format="{:.4g}".format)


def _texts(keep, options, field, words):
    """A list of texts into two fields of the options; None leaves them empty."""
    if words is None:
        return
    words = [words] if isinstance(words, (str, os.PathLike)) else [str(w) for w in words]
    keep.append(Texts(words))
    setattr(options, field, keep[-1].pointer)
    setattr(options, f"n_{field}", len(words))


def compare(data, methods=None, *, y=None, task="classify", labels=None, metrics=None, repeats=10, folds=0,
            inductive=False, test=0.3, predictions=None, alpha=0.05, run_limit=None, journal=None, resume=False,
            random_state=None, n_jobs=None, memory_limit=None, progress=None) -> Comparison:
    """Run several methods on the same splits, and tell who is best and who is not significantly worse.

    Parameters
    ----------
    data : Dataset, list or dict of them, or views with y
        Each with a truth or labels.
    methods : names ("nb", "rls:gamma_a=0.1", "svm:tuned", "auto") or estimators; None: all that do the task
    task : "classify" or "cluster"
    labels : how many samples keep their label: "10%", "5" of each class, or a list of these; None: "10%"
    metrics : names; None: accuracy and macro_f1, or nmi and ari
    repeats, folds, inductive, test : the splits, as the command's options of these names
    predictions : files of other programs' answers, FILE or NAME=FILE
    journal, resume : a file of finished runs, from which a comparison that was killed goes on
    n_jobs : runs side by side
    """
    sets = data_sets(data, y)
    context, keep = Context(seed_of(random_state), 1, memory_limit, None, progress), []
    options = ffi.new("plx_compare_options *")
    options.struct_size = ffi.sizeof("plx_compare_options")
    tasks = {"classify": lib.PLX_TASK_CLASSIFY, "cluster": lib.PLX_TASK_CLUSTER}
    if task not in tasks:
        raise ValueError(f"task '{task}': expected classify or cluster")
    _texts(keep, options, "methods", None if methods is None else
           [spec_of(m) for m in ([methods] if isinstance(methods, str) or hasattr(methods, "fit") else methods)])
    _texts(keep, options, "labels", labels)
    _texts(keep, options, "metrics", metrics)
    _texts(keep, options, "predictions", predictions)
    names, folders = Texts(sets), Texts([d.directory or "." for d in sets.values()])
    options.names, options.directories = names.pointer, folders.pointer
    options.task, options.repeats, options.folds, options.inductive = tasks[task], repeats, folds, bool(inductive)
    options.test, options.alpha, options.run_limit = test, alpha, run_limit or 0
    options.jobs, options.threads = threads(n_jobs), 1
    file = NULL if journal is None else encoded(os.fspath(journal))
    options.journal, options.resume = file, bool(resume)
    pointers = ffi.new("plx_dataset *[]", [d.pointer for d in sets.values()])
    return Comparison(context.make("plx_comparison", lib.plx_comparison_destroy, lib.plx_compare, context.pointer,
                                   ffi.cast("const plx_dataset *const *", pointers), len(sets), options))
