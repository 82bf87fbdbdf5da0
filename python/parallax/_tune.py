"""Settings of a method, chosen by cross-validation on the labelled samples."""
import os

from sklearn.base import clone

from ._core import NULL, Context, Texts, encoded, ffi, lib, text
from ._dataset import Dataset
from ._registry import number
from ._settings import seed_of, settings_of, threads


def _located(method, key):
    """Parameter and view of name, name__VIEW or, as the library writes it, name.VIEW."""
    for p in method.parameters:
        for own in (p.name, p.python_name):
            if key == own:
                return p, None
            for cut in ("__", "."):
                if p.per_view and key.startswith(own + cut):
                    return p, key[len(own + cut):]
    raise ValueError(f"{method.name} has no parameter '{key}'")


class Tuning:
    """What `tune` found: `best_params`, `best_estimator` (not fitted), `verdict`, `candidates`."""

    def __init__(self, made, estimator):
        self._made, pointer = made, made.pointer
        self.candidates = [self._candidate(pointer, i) for i in range(lib.plx_tuning_count(pointer))]
        self.chosen, self.verdict = lib.plx_tuning_chosen(pointer), text(lib.plx_tuning_verdict(pointer))
        self.resumed = lib.plx_tuning_resumed(pointer)
        self.best_params = {}
        for setting in filter(None, self.candidates[self.chosen]["settings"].split(":")):
            key, _, value = setting.partition("=")
            p, view = _located(estimator.method, key)
            self.best_params[p.python_name if view is None else f"{p.python_name}__{view}"] = number(value)
        self.best_estimator = clone(estimator).set_params(**self.best_params)

    @staticmethod
    def _candidate(pointer, i):
        row = ffi.new("plx_candidate *")
        row.struct_size = ffi.sizeof("plx_candidate")
        lib.plx_tuning_get(row, pointer, i)
        return {"settings": text(row.settings), "folds": row.runs, "mean": row.mean, "sd": row.sd,
                "difference": row.difference, "difference_error": row.difference_error, "finalist": bool(row.finalist),
                "reason": text(row.reason)}

    def to_frame(self):
        """The candidates as a pandas DataFrame; number 0 is what one started from."""
        import pandas

        return pandas.DataFrame(self.candidates)

    def __repr__(self):
        return f"<parallax.Tuning: {self.best_params or 'the settings one started from'}; {self.verdict}>"

    def _repr_html_(self):
        import html

        return f"<p>{html.escape(self.verdict)}</p>" + self.to_frame().to_html(float_format="{:.4g}".format)


def tune(estimator, Xs, y=None, *, grid=None, trials=24, folds=5, repeats=2, metric=None, present=None, run_limit=None,
         journal=None, resume=False) -> Tuning:
    """Choose settings of an estimator by cross-validation on the labelled samples; no other label is looked at.

    The estimator's own settings are where the search starts, and they stay unless others are better by more than chance.

    Parameters
    ----------
    estimator : an estimator of this package; what differs from its defaults is not searched
    Xs, y, present : as for its fit
    grid : dict of lists of values, name or name__VIEW; None: points over the ranges of the parameters
    trials : how many points, without a grid
    folds, repeats, metric : of the cross-validation
    journal, resume : a file of finished runs, from which a search that was killed goes on
    """
    method = estimator.method
    data = Xs if isinstance(Xs, Dataset) else Dataset(Xs, y, views=estimator.views, kinds=estimator.kinds,
                                                      present=present)
    if isinstance(Xs, Dataset) and y is not None:
        data = Xs.relabel(y)
    context = Context(seed_of(estimator.random_state), 1, estimator.memory_limit, None, estimator.progress)
    params = context.make("plx_params", lib.plx_params_destroy, lib.plx_params_create, context.pointer,
                          encoded(method.name))
    for key, value in settings_of(method, estimator):
        context.call(lib.plx_params_set, params.pointer, context.pointer, encoded(key), encoded(value))
    lines = []
    for key, values in (grid or {}).items():
        p, view = _located(method, key)
        lines.append(f"{p.name if view is None else f'{p.name}.{view}'}={','.join(map(p.as_text, values))}")
    options, words = ffi.new("plx_tune_options *"), Texts(lines)
    options.struct_size = ffi.sizeof("plx_tune_options")
    if lines:
        options.grid, options.n_grid = words.pointer, len(lines)
    keep = [encoded(metric), encoded(data.directory), NULL if journal is None else encoded(os.fspath(journal))]
    options.metric, options.directory, options.journal = keep
    options.trials, options.folds, options.repeats, options.resume = trials, folds, repeats, bool(resume)
    options.jobs, options.threads, options.run_limit = threads(estimator.n_jobs), 1, run_limit or 0
    return Tuning(context.make("plx_tuning", lib.plx_tuning_destroy, lib.plx_tune, context.pointer, encoded(method.name),
                               data.pointer, params.pointer, options), estimator)
