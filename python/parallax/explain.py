"""Why a model says what it says: features, views, quality and single samples, as tables."""
import html
import json

from . import _report
from ._core import NULL, Context, encoded, ffi, lib, text
from ._dataset import Dataset
from ._model import predict
from ._registry import METHODS
from ._settings import seed_of, threads


class Table:
    """A section of an explanation: rows of texts and numbers under named columns."""

    def __init__(self, key, title, note, columns, rows):
        self.key, self.title, self.note, self.columns, self.rows = key, title, note, columns, rows

    def to_frame(self):
        """As a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def __repr__(self):
        shown = [[cell if isinstance(cell, str) else f"{cell:.4g}" for cell in row] for row in self.rows]
        widths = [max(len(c) for c in column) for column in zip(self.columns, *shown)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in [self.columns, *shown]]
        return "\n".join([self.title, *lines, *([self.note] if self.note else [])])

    def _repr_html_(self):
        def cells(row, tag):
            return "".join(f"<{tag}>{html.escape(c if isinstance(c, str) else f'{c:.4g}')}</{tag}>" for c in row)
        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in self.rows)
        return (f"<h4>{html.escape(self.title)}</h4><table><tr>{cells(self.columns, 'th')}</tr>{body}</table>"
                f"<p>{html.escape(self.note)}</p>")


class Explanation:
    """A dict of tables by key: quality, confusion, classes, calibration, presence, views, features, ..."""

    def __init__(self, tables, content, made=None, data=None, model=None):
        self.tables, self.content = tables, content
        self._made, self._data, self._model = made, data, model

    def __getitem__(self, key):
        return self.tables[key]

    def __iter__(self):
        return iter(self.tables)

    def __len__(self):
        return len(self.tables)

    def to_dict(self):
        """Everything, as the command line writes it with --json."""
        return json.loads(self.content)

    def report(self) -> _report.Report:
        """A page with plots: shown in a notebook, or saved to a file."""
        name = text(lib.plx_model_method(self._model.pointer))
        known = METHODS.get(name)  # not that of auto
        answers = predict(Context(), self._model, self._data) if known is None or known.capabilities["predict"] else None
        return _report.of_tables(self._made, self._data, name, NULL if answers is None else answers.pointer)

    def __getstate__(self):
        return {"tables": self.tables, "content": self.content}  # a report is made where the model is

    def __setstate__(self, state):
        self.__init__(**state)

    def __repr__(self):
        return "\n\n".join(map(repr, self.tables.values()))

    def _repr_html_(self):
        return "".join(table._repr_html_() for table in self.tables.values())


def explain(estimator, Xs, y=None, *, sample=None, top=10, repeats=5):
    """Explain a fitted estimator by the samples of Xs (views or a Dataset); y says what they are, where known.

    `sample` is the id (or number) of one sample to be explained in particular.
    """
    context = Context(seed_of(estimator.random_state), threads(estimator.n_jobs), estimator.memory_limit)
    if isinstance(Xs, Dataset):
        data = Xs
    else:
        data = Dataset(Xs, truth=y, views=estimator.views, kinds=_kinds(estimator, Xs))
    options, name = ffi.new("plx_explain_options *"), encoded(sample)
    options.struct_size = ffi.sizeof("plx_explain_options")
    options.sample, options.top, options.repeats = name, top, repeats
    made = context.make("plx_explanation", lib.plx_explanation_destroy, lib.plx_explain, context.pointer,
                        estimator._model.pointer, data.pointer, options)
    context.rest()
    return Explanation(*read_tables(context, made), made, data, estimator._model)


def read_tables(context, made):
    """The sections of an explanation by key, and all of them as JSON."""
    content = ffi.new("const char **")
    context.call(lib.plx_explanation_json, content, context.pointer, made.pointer)
    tables = [_table(made.pointer, i) for i in range(lib.plx_explanation_sections(made.pointer))]
    return {t.key: t for t in tables}, text(content[0])


def _kinds(estimator, Xs):
    if estimator.kinds is not None:
        return estimator.kinds
    return {name: kind for name, kind in estimator._model.views().items() if not hasattr(Xs, "items") or name in Xs}


def _table(pointer, i):
    columns = [text(lib.plx_explanation_column(pointer, i, c)) for c in range(lib.plx_explanation_columns(pointer, i))]

    def cell(row, column):
        words = text(lib.plx_explanation_text(pointer, i, row, column))
        return lib.plx_explanation_number(pointer, i, row, column) if words is None else words
    rows = [[cell(r, c) for c in range(len(columns))] for r in range(lib.plx_explanation_rows(pointer, i))]
    return Table(text(lib.plx_explanation_key(pointer, i)), text(lib.plx_explanation_title(pointer, i)),
                 text(lib.plx_explanation_note(pointer, i)), columns, rows)
