"""What each view is worth."""
from . import _report
from ._core import Context, ffi, lib
from ._dataset import Dataset
from ._settings import seed_of, threads
from .explain import Explanation, read_tables


class ViewReport(Explanation):
    """Tables views, pairs, spectrum, presence and advice."""

    @property
    def advice(self) -> list[tuple[str, str]]:
        """What follows, with the evidence: [(advice, evidence)]."""
        return [tuple(row) for row in self["advice"].rows]

    def report(self) -> _report.Report:
        """A page with plots: shown in a notebook, or saved to a file."""
        return _report.of_tables(self._made, self._data)


def views(Xs, y=None, *, folds=5, directions=10, random_state=None, n_jobs=None, memory_limit=None,
          progress=None) -> ViewReport:
    """What each view is worth, what views share, and which methods follow.

    Xs is a Dataset or views; y are the classes, where known. Accuracies are by cross-validation on those.
    """
    data = Xs if isinstance(Xs, Dataset) else Dataset(Xs, y)
    if isinstance(Xs, Dataset) and y is not None:
        data = Xs.relabel(y)
    context = Context(seed_of(random_state), threads(n_jobs), memory_limit, None, progress)
    options = ffi.new("plx_views_options *")
    options.struct_size = ffi.sizeof("plx_views_options")
    options.folds, options.directions = folds, directions
    made = context.make("plx_explanation", lib.plx_explanation_destroy, lib.plx_views, context.pointer, data.pointer,
                        options)
    context.rest()
    return ViewReport(*read_tables(context, made), made, data)
