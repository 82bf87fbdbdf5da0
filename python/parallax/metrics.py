"""How good a result is, by the library's own measures: dicts of numbers, NaN where a value is undefined.

Labels are compared as texts; -1, NaN, None and "?" as truth mean unknown: such samples are skipped.
"""
import numpy as np

from ._core import NULL, Context, Texts, encoded, ffi, lib, text
from ._dataset import Dataset
from ._labels import _as_objects, class_text, unlabelled
from ._matrix import Dense


def _texts(y):
    y = _as_objects(y)
    return [("?" if hidden else class_text(v)) for v, hidden in zip(y, unlabelled(y))]


class _List:
    """A plx_metrics while it is filled."""

    def __init__(self):
        self.context = Context()
        self.owned = self.context.make("plx_metrics", lib.plx_metrics_destroy, lib.plx_metrics_create,
                                       self.context.pointer)

    def add(self, function, *arguments):
        self.context.call(function, self.owned.pointer, *arguments)
        return self

    def values(self):
        return read(self.owned.pointer)


def read(pointer):
    """All values of a list of the library."""
    return {text(lib.plx_metrics_name(pointer, i)): lib.plx_metrics_value(pointer, i, NULL)
            for i in range(lib.plx_metrics_count(pointer))}


def _pair(y_true, y_pred):
    truth, found = _texts(y_true), _texts(y_pred)
    if len(truth) != len(found):
        raise ValueError(f"{len(truth)} true labels and {len(found)} predicted ones")
    return Texts(truth), Texts(found), len(truth)


def classification(y_true, y_pred):
    """accuracy, error, precision:C, recall:C, f1:C, macro_*, micro_*, weighted_f1."""
    truth, found, n = _pair(y_true, y_pred)
    return _List().add(lib.plx_metrics_classification, truth.pointer, found.pointer, n).values()


def multilabel(y_true, y_pred, hierarchy=None):
    """Sets of labels, given as sets or as texts a|b: also subset_accuracy and hamming_loss. `hierarchy` is a dict of
    `classes`, `subset` (pairs below, above) and `mutex` (pairs that exclude each other) as `Dataset.hierarchy` gives it:
    also h_precision, h_recall, h_f1 and h_violations."""
    truth, found, n = _pair(y_true, y_pred)
    rules = hierarchy and _Hierarchy(**hierarchy)
    return _List().add(lib.plx_metrics_multilabel, truth.pointer, found.pointer, n, rules.pointer if rules else NULL).values()


class _Hierarchy:
    """Rules for the library; classes in pairs are names or numbers."""

    def __init__(self, classes, subset=(), mutex=()):
        self.texts = [Texts(classes)] + [Texts([c if isinstance(c, str) else classes[c] for pair in pairs for c in pair])
                                         for pairs in (subset, mutex)]
        p = self.pointer = ffi.new("plx_metrics_hierarchy *")
        p.struct_size = ffi.sizeof("plx_metrics_hierarchy")
        p.classes, p.subset, p.mutex = (t.pointer for t in self.texts)
        p.n_classes, p.n_subset, p.n_mutex = len(classes), len(subset), len(mutex)


def ranking(y_true, scores, classes, positive=None):
    """auc:C, prbep:C, average_precision:C, macro_auc, from scores with a column per class."""
    matrix, names = Dense(scores), Texts([class_text(c) for c in classes])
    truth = Texts(_texts(y_true))
    return _List().add(lib.plx_metrics_ranking, truth.pointer, matrix.struct()[0], names.pointer,
                       NULL if positive is None else encoded(class_text(positive)), 0).values()


def clustering(y_true, clusters, drop_noise=False):
    """nmi, nmi_geometric, cluster_entropy, cluster_accuracy, purity, pair_*, rand, ari."""
    truth, n = Texts(_texts(y_true)), len(clusters)
    found = Texts(_cluster_texts(clusters))
    return _List().add(lib.plx_metrics_clustering, truth.pointer, found.pointer, n, int(drop_noise)).values()


def _cluster_texts(clusters):
    clusters = np.asarray(clusters)
    if clusters.dtype.kind in "iu":
        return ["noise" if c == -1 else str(c) for c in clusters]
    return [str(c) for c in clusters]


def internal(Xs, clusters, drop_noise=False):
    """silhouette, davies_bouldin, calinski_harabasz: over all views and in each."""
    data = Xs if isinstance(Xs, Dataset) else Dataset(Xs)
    return _List().add(lib.plx_metrics_internal, data.pointer, Texts(_cluster_texts(clusters)).pointer,
                       int(drop_noise)).values()


def views(labels, names=None, y_true=None):
    """agreement:A|B, kappa:A|B and with truth view_accuracy:V, from labels with a column per view."""
    labels = np.asarray(labels, dtype=object)
    names = [f"view{i}" for i in range(labels.shape[1])] if names is None else names
    words = Texts(["?" if v is None or v != v or v == -1 else class_text(v) for v in labels.ravel()])
    truth = None if y_true is None else Texts(_texts(y_true))
    return _List().add(lib.plx_metrics_views, NULL if truth is None else truth.pointer, words.pointer, len(labels),
                       Texts(names).pointer, len(names)).values()


def retrieval(scores, gold, top=(1, 5, 10)):
    """top:N, mrr, median_rank: row q of scores rates every item for query q, gold[q] is the right one, -1: skip."""
    matrix = Dense(scores)
    gold = np.ascontiguousarray(gold, dtype=np.int64)
    top = np.ascontiguousarray(top, dtype=np.int64)
    return _List().add(lib.plx_metrics_retrieval, matrix.struct()[0], ffi.cast("const plx_index *", gold.ctypes.data),
                       ffi.cast("const plx_index *", top.ctypes.data), len(top)).values()


def table(values, methods, higher_better=True):
    """Methods over data sets: avg_rank:M, ttest:A|B, wilcoxon:A|B, win/tie/loss, friedman."""
    matrix = Dense(values)
    return _List().add(lib.plx_metrics_table, matrix.struct()[0], Texts(methods).pointer, NULL,
                       int(higher_better)).values()


def regression(y_true, y_pred):
    """rmse; NaN as truth is skipped."""
    words = [Texts(["?" if np.isnan(v) else repr(float(v)) for v in np.asarray(y, dtype=float)])
             for y in (y_true, y_pred)]
    return _List().add(lib.plx_metrics_regression, words[0].pointer, words[1].pointer, len(y_true)).values()
