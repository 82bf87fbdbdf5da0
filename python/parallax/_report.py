"""Reports: results as one HTML page with plots, which needs no network."""
import html
import os

from ._core import NULL, Context, encoded, lib
from ._errors import UnsupportedError
from ._files import written


class Report:
    """A page with plots and sortable tables. A notebook shows it in place; `save` writes it to a file."""

    def __init__(self, page):
        self.page = page

    def save(self, path):
        """Write the page; it opens in any browser, without a network. A file of that name is replaced when all is written."""
        path = os.fspath(path)
        partial = f"{path}.{os.getpid()}.partial"
        try:
            with open(partial, "w", encoding="utf-8") as file:
                file.write(self.page)
            os.replace(partial, path)
        except OSError:
            if os.path.exists(partial):
                os.remove(partial)
            raise

    def __repr__(self):
        return f"<parallax.Report: {len(self.page) // 1024} KiB of HTML; save(path) writes it>"

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.page, quote=True)}" sandbox="allow-scripts" '
                f'style="width:100%;height:48em;border:0"></iframe>')


def make(kind, *parts, context=None):
    """A report of a kind from parts (function, arguments...), as plx_report_add_* take them after report and context."""
    if not lib.plx_report_available():
        raise UnsupportedError("this build of the library has no reports; build it with Node 18 and npm")
    context = context or Context()
    report = context.make("plx_report", lib.plx_report_destroy, lib.plx_report_create, context.pointer, kind, NULL)
    for function, *arguments in parts:
        context.call(function, report.pointer, context.pointer, *arguments)
    page = written(context, lambda path: (lib.plx_report_write, context.pointer, report.pointer, path), ".html")
    return Report(page.decode("utf-8"))


def of_model(model, data, seed=0):
    """What a fit says of its own samples."""
    return make(lib.PLX_REPORT_FIT, (lib.plx_report_add_model, model.pointer, data.pointer), context=Context(seed))


def of_tables(made, data, method=None, prediction=NULL):
    """Tables of explain or views, with maps of the samples."""
    kind = lib.PLX_REPORT_VIEWS if method is None else lib.PLX_REPORT_EXPLAIN
    return make(kind, (lib.plx_report_add_explanation, made.pointer, encoded(method), encoded(data.name)),
                (lib.plx_report_add_data, data.pointer, prediction))


def of_comparison(made):
    return make(lib.PLX_REPORT_COMPARE, (lib.plx_report_add_comparison, made.pointer))


def of_curves(made, what):
    return make(lib.PLX_REPORT_ACQUIRE, (lib.plx_report_add_curves, made.pointer, encoded(what)))
