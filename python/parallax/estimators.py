"""An estimator for every method of the library, made from its description.

A class is called like its method, with a capital: `parallax.Bct` is the method `bct`. `estimator("bct")` finds it by name.
"""
import textwrap

import numpy as np
from sklearn.base import ClassifierMixin, ClusterMixin, TransformerMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if

from . import _labels
from ._dataset import Dataset
from ._estimator import Estimator
from ._labels import class_text
from ._registry import AUTO, METHODS

# Parameters of every estimator: name, default, what they are for.
COMMON = (
    ("views", None, "columns of each view when X is one matrix: a list or dict of slices, column numbers or names, or a "
                    "number of equal parts; None: all columns are one view"),
    ("kinds", None, "real, counts, binary, probability or kernel: one for all views, a list, or a dict by view; None: "
                    "guessed from the values"),
    ("arrays", None, "names of arrays marked 'on request' to compute too"),
    ("random_state", None, "seed: an int, a RandomState or a Generator; None: 0, so that results repeat"),
    ("n_jobs", None, "threads; None: all processors, but one inside a worker of joblib; results do not depend on it"),
    ("memory_limit", None, "bytes a fit may take; None: 80 % of what is free"),
    ("time_limit", None, "seconds after which a fit ends like by its iteration limit; None: none"),
    ("device", None, "what computes: 'cpu' (also None), 'cuda' for a GPU or an error, 'auto' for a GPU where there is one "
                     "and it pays"),
    ("progress", None, "function that is told how far a fit is (parallax.Progress); a true result stops it"),
)


# ---- what some methods can ----

class _Predicts:
    """New samples."""

    def predict(self, Xs, *, present=None):
        """Labels (or cluster numbers, or numbers of a regression) of new samples, which may lack views."""
        prediction, index = self._apply(Xs, present)
        return self._dressed(self._decode(prediction), index)

    def _scores(self, Xs, present):
        prediction, index = self._apply(Xs, present)
        if "classes_" not in self.__dict__:
            return np.array(prediction.scores()), index, prediction.columns()
        classes = [class_text(c) for c in self.classes_]
        return prediction.scores_of(classes), index, self.classes_


def _has_classes(self):
    return not self._regression


class _Probabilities:
    """Methods whose scores are probabilities."""

    @available_if(_has_classes)
    def predict_proba(self, Xs, *, present=None):
        """Probability of every class, in the order of classes_ (of every cluster, when clusters were fitted)."""
        scores, index, columns = self._scores(Xs, present)
        return self._dressed(scores, index, columns)

    @available_if(_has_classes)
    def predict_log_proba(self, Xs, *, present=None):
        """Logarithm of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(Xs, present=present))


class _Decides:
    """Methods whose scores are margins, votes or the like."""

    def decision_function(self, Xs, *, present=None):
        """Scores of the classes; of two classes, how much the second is ahead of the first."""
        scores, index, columns = self._scores(Xs, present)
        if scores.shape[1] == 2 and "classes_" in self.__dict__:
            return self._dressed(scores[:, 1] - scores[:, 0], index)
        return self._dressed(scores, index, columns)


class _Memberships:
    """Clusterers that tell how much a sample belongs to each cluster."""

    def membership(self, Xs, *, present=None):
        """One column per cluster; what the numbers are is said by `method.scores`."""
        scores, index, columns = self._scores(Xs, present)
        return self._dressed(scores, index, columns)


class _Transforms(TransformerMixin):
    """Methods with coordinates of samples."""

    def transform(self, Xs, *, present=None):
        """Coordinates of samples, one row each."""
        prediction, index = self._apply(Xs, present, transform=True)
        values = np.array(prediction.transformed())
        return self._dressed(values, index, self._columns(values.shape[1]))

    def fit_transform(self, Xs, y=None, *, present=None):
        """fit, then transform of the same samples."""
        return self.fit(Xs, y, present=present).transform(Xs, present=present)

    def _columns(self, count):
        return [f"{type(self).__name__.lower()}{i}" for i in range(count)]

    def get_feature_names_out(self, input_features=None):
        """Names of the columns transform gives."""
        array = self._model.array(self.method.transform)
        count = array.shape[1] if array is not None else len(self._kept[self.method.transform][0])
        return np.asarray(self._columns(count), dtype=object)


class _Compares:
    """Methods whose result is a matrix over pairs of the samples given."""

    def similarity(self, Xs, *, present=None):
        """Similarity of the given samples to each other, one row and one column each."""
        prediction, index = self._apply(Xs, present, transform=True)
        return self._dressed(np.array(prediction.transformed()), index, index)


class _Classifies(ClassifierMixin):
    """Classifiers in scikit-learn's sense: they label new samples."""

    def score(self, Xs, y=None, *, present=None):
        """Accuracy over the samples that have a label; R2 for a regression. Without y the truth of a Dataset counts."""
        if y is None and isinstance(Xs, Dataset):
            y = Xs.truth if Xs.truth is not None else Xs.labels
        found = self.predict(Xs, present=present)
        y = _labels._as_objects(_labels.in_order(y, getattr(found, "index", None)))
        found = np.asarray(found)
        known = ~_labels.unlabelled(y)
        if self._regression:
            return r2_score(y[known].astype(float), found[known])
        y, found = y[known], found[known]
        if y.dtype.kind == "O" or found.dtype.kind == "O":
            y, found = [str(v) for v in y], [str(v) for v in found]
        return accuracy_score(y, found)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if not self._regression:
            tags.classifier_tags.poor_score = tags.input_tags.positive_only  # counts, not measurements
        else:
            tags.estimator_type = "regressor"
            tags.classifier_tags = None
        return tags


class _Clusters(ClusterMixin):
    """Clusterers; fit_predict as every estimator here has it."""

    fit_predict = Estimator.fit_predict


# ---- making the classes ----

def _bases(method):
    can = method.capabilities["predict"]
    found = []
    if method.task == "classify" and can:  # others label the samples they are fitted to, and no others: fit_predict
        found.append(_Classifies)
    elif method.task == "cluster":
        found.append(_Clusters)
    if can:
        found.append(_Predicts)
        if method.task == "cluster":
            found += [_Memberships] if method.scores else []
        elif method.scores and "probability" in method.scores and "not a" not in method.scores:
            found.append(_Probabilities)
        elif method.scores:
            found.append(_Decides)
        if method.transform:
            shape = next(a.shape for a in method.arrays if a.name == method.transform)
            found.append(_Compares if shape == "n x n" else _Transforms)
    return (*found, Estimator)


def _signature(method):
    """[(name, default, help)] of everything that can be set."""
    own = [(p.python_name, p.python_default, _parameter_help(p)) for p in method.parameters]
    return own + list(COMMON)


def _parameter_help(p):
    values = f" ({p.range})" if p.range else ""
    views = "; a dict sets it view by view" if p.per_view else ""
    return f"{p.help}{values}{views}"


def _constructor(method):
    names = [(name, default) for name, default, _ in _signature(method)]
    head = ", ".join(f"{name}={default!r}" for name, default in names)
    body = "\n".join(f"    self.{name} = {name}" for name, _ in names)
    space = {}
    exec(f"def __init__(self, *, {head}):\n{body}\n", space)  # a real signature, which scikit-learn reads
    return space["__init__"]


def _wrapped(words, indent):
    return textwrap.fill(" ".join(words.split()), 100, initial_indent=indent, subsequent_indent=indent)


def _docstring(method):
    lines = [f"{method.title}.", "", _wrapped(method.summary, ""), "", "Parameters", "----------"]
    for name, default, help_text in _signature(method):
        lines += [f"{name} : default {default!r}", _wrapped(help_text, "    ")]
    lines += ["", "Attributes", "----------"]
    for a in method.arrays:
        lines += [f"{a.attribute} : {a.shape}{' (on request)' if a.on_request else ''}", _wrapped(a.help, "    ")]
    lines += ["labels_ : labels or clusters of the fitted samples", "view_names_ : names of the views"]
    if method.citation:
        lines += ["", "References", "----------", _wrapped(method.citation, "")]
    return "\n".join(lines)


def _make(method):
    made = type(method.class_name, _bases(method), {"method": method, "__init__": _constructor(method),
                                                    "__module__": __name__, "__doc__": _docstring(method)})
    made.__init__.__qualname__ = f"{method.class_name}.__init__"
    return made


CLASSES = {name: _make(method) for name, method in {AUTO.name: AUTO, **METHODS}.items()}
globals().update({made.__name__: made for made in CLASSES.values()})
__all__ = [made.__name__ for made in CLASSES.values()] + ["estimator", "all_estimators", "load_model"]


def estimator(name, **params):
    """An estimator of a method by the name the command line knows."""
    if name not in CLASSES:
        from ._core import encoded, lib, text

        near = text(lib.plx_method_nearest(encoded(name)))
        raise ValueError(f"unknown method '{name}'" + (f"; did you mean '{near}'?" if near else ""))
    return CLASSES[name](**params)


def all_estimators(task=None):
    """Classes of all methods, or of those for a task: classify, cluster or embed."""
    return [made for made in CLASSES.values() if task in (None, made.method.task)]


def load_model(path):
    """An estimator from a model file (.plx), for predict and transform. Classes are texts."""
    from ._model import FittedModel
    from ._core import encoded, lib, text

    model = FittedModel.load(path)
    made = CLASSES[text(lib.plx_model_method(model.pointer))]()
    for p in made.method.parameters:
        value = text(lib.plx_model_param(model.pointer, encoded(p.name)))
        if value and value != p.default:
            setattr(made, p.python_name, value)
    made._model, made._kept, made._index, made._named = model, {}, None, False
    made.view_names_ = list(model.views())
    made.n_views_ = len(made.view_names_)
    if model.classes():
        made.classes_ = np.array(model.classes())
    return made
