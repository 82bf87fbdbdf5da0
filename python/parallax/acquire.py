"""What to measure next: which label, or which missing view of which sample, tells most per unit of cost."""
import dataclasses

import numpy as np

from . import _report
from ._core import NULL, Context, Texts, encoded, ffi, lib, text
from ._dataset import Dataset
from ._registry import read_parameters
from ._settings import seed_of, threads

KINDS = {"labels": "PLX_ACQUIRE_LABELS", "features": "PLX_ACQUIRE_FEATURES", "any": "PLX_ACQUIRE_ANY"}


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A row of a ranking; view None is the label."""

    sample: int
    id: str
    view: str
    score: float
    cost: float
    gain: float
    guess: str
    probability: float


class Curves(list):
    """The states of a simulation, a dict each."""

    _made, _what = None, ""

    def report(self) -> _report.Report:
        """A page with learning curves: shown in a notebook, or saved to a file."""
        return _report.of_curves(self._made, self._what)

    def __reduce__(self):
        return list, (list(self),)  # a report is made where the simulation ran


def methods(kind="labels"):
    """Methods that can rank labels, features or any."""
    names = [text(lib.plx_acquirer_name(i)) for i in range(lib.plx_acquirer_count())]
    return [n for n in names if lib.plx_acquirer_ranks(encoded(n), _kind(kind))]


def parameters(method):
    """What can be set when ranking with a method: {name: (default, help)}."""
    return {p.name: (p.python_default, p.help) for p in read_parameters(lib.plx_acquirer_param, encoded(method))}


def _kind(kind):
    if kind not in KINDS:
        raise ValueError(f"kind '{kind}': expected labels, features or any")
    return getattr(lib, KINDS[kind])


def _params(context, method, settings):
    """Settings of a ranking; dots are written as __, so that width__text is width.text."""
    params = context.make("plx_params", lib.plx_params_destroy, lib.plx_acquire_params_create, context.pointer,
                          encoded(method))
    known = {p.name: p for p in read_parameters(lib.plx_acquirer_param, encoded(method))}
    for key, value in settings.items():
        name, cut, view = key.partition("__")
        name = name if name in known else name.rstrip("_")
        word = known[name].as_text(value) if name in known else str(value)
        context.call(lib.plx_params_set, params.pointer, context.pointer, encoded(f"{name}.{view}" if cut else name),
                     encoded(word))
    return params


def rank(kind, method, Xs, y=None, *, top=None, random_state=None, n_jobs=None, memory_limit=None, **settings):
    """Candidates, best first. Xs is a Dataset or views; settings are those of `parameters(method)`."""
    data = Xs if isinstance(Xs, Dataset) else Dataset(Xs, y)
    context = Context(seed_of(random_state), threads(n_jobs), memory_limit)
    params = _params(context, method, settings)
    options = ffi.new("plx_fit_options *")
    folder = encoded(data.directory)
    options.struct_size, options.directory = ffi.sizeof("plx_fit_options"), folder
    ranking = context.make("plx_acquisition", lib.plx_acquisition_destroy, lib.plx_acquire, context.pointer, _kind(kind),
                           encoded(method), data.pointer, params.pointer, options)
    count = lib.plx_acquisition_count(ranking.pointer)
    views, ids = data.view_names, data.ids
    return [_candidate(ranking, i, views, ids) for i in range(count if not top else min(top, count))]


def _candidate(ranking, i, views, ids):
    row = ffi.new("plx_acquired *")
    row.struct_size = ffi.sizeof("plx_acquired")
    lib.plx_acquisition_get(row, ranking.pointer, i)
    return Candidate(row.sample, ids[row.sample] if ids else str(row.sample), views[row.view] if row.view >= 0 else None,
                     row.score, row.cost, row.gain, text(row.guess), row.probability)


def simulate(kind, method, data, *, steps, strategies=("chosen", "random", "uncertainty"), runs=1, labels=None, test=0.0,
             hide_rates=None, retrain_every=1, random_state=None, n_jobs=None, memory_limit=None, **settings):
    """Learning curves as a list of dicts: reveal hidden labels and views one at a time, by several strategies."""
    context = Context(seed_of(random_state), threads(n_jobs), memory_limit)
    params = _params(context, method, settings)
    options, names, start = ffi.new("plx_simulate_options *"), Texts(strategies), encoded(labels)
    options.struct_size = ffi.sizeof("plx_simulate_options")
    options.strategies, options.n_strategies = names.pointer, len(strategies)
    options.runs, options.steps, options.retrain_every, options.restart_every = runs, steps, retrain_every, 10
    options.labels, options.test = start, test
    rates = None if hide_rates is None else np.ascontiguousarray(
        [hide_rates.get(v, 0.0) for v in data.view_names] if isinstance(hide_rates, dict) else hide_rates, dtype=float)
    options.hide_rates = NULL if rates is None else ffi.cast("const double *", rates.ctypes.data)
    curves = context.make("plx_curves", lib.plx_curves_destroy, lib.plx_acquire_simulate, context.pointer, _kind(kind),
                          encoded(method), data.pointer, params.pointer, options)
    found = Curves(_state(curves, i) for i in range(lib.plx_curves_count(curves.pointer)))
    found._made, found._what = curves, f"{kind} by {method}"
    return found


def _state(curves, i):
    row = ffi.new("plx_simulated *")
    row.struct_size = ffi.sizeof("plx_simulated")
    lib.plx_curves_get(row, curves.pointer, i)
    return {"run": row.run, "strategy": text(lib.plx_curves_strategy(curves.pointer, row.strategy)), "step": row.step,
            "sample": row.sample, "view": row.view, "cost": row.cost, "gain": row.gain, "accuracy": row.accuracy,
            "auc": row.auc, "rmse": row.rmse}
