"""Labels of all kinds as texts, and back."""
import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ._core import NULL, Texts, ffi, lib, text, warn


class Labels:
    """Classes in sorted order, and the place of each sample's class among them; -1 where it is unlabelled."""

    def __init__(self, classes, codes):
        self.classes, self.codes = classes, codes

    def texts(self):
        return Texts([class_text(c) for c in self.classes], self.codes)


def class_text(value):
    """What the library calls a class."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str) else str(value)


def in_order(y, index):
    """A pandas Series by its index in the order of the samples, unlabelled where it lacks one; anything else as it is.
    `index` is that of the samples, their ids as a list, or None. An index that only counts belongs to no samples."""
    if not hasattr(y, "reindex") or index is None or not len(y.index):
        return y
    import pandas

    own, wanted = y.index, pandas.Index(index)
    if isinstance(index, list) and not own.equals(wanted):
        own = own.map(str)  # ids are texts
    if own.equals(wanted):
        return y
    if not own.isin(wanted).any():
        if len(y) == len(wanted) and y.index.equals(pandas.RangeIndex(len(y))):
            return y
        raise ValueError(f"the labels belong to none of the samples: their index begins with '{own[0]}', that of the samples "
                         f"with '{wanted[0]}'; give them the index of the samples, or none (y.to_numpy())")
    if own.has_duplicates:
        raise ValueError(f"the index of the labels holds '{own[own.duplicated()][0]}' more than once")
    y = y.set_axis(own)
    if getattr(y.dtype, "kind", "O") == "i":
        return y.reindex(wanted, fill_value=-1)
    return (y if wanted.isin(own).all() or y.dtype == float else y.astype(object)).reindex(wanted)


def _is_missing(value):
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ in ("NAType", "NaTType")


def _as_objects(y):
    """One label per sample; sets of classes become texts like a|b."""
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if isinstance(y, (list, tuple)) and any(isinstance(v, (set, frozenset, tuple, list)) for v in y):
        if any(isinstance(v, (set, frozenset)) for v in y):
            out = np.empty(len(y), dtype=object)
            out[:] = ["|".join(sorted(map(str, v))) or "-" if isinstance(v, (set, frozenset)) else v for v in y]
            return out
    y = np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) and any(v is None for v in y) else np.asarray(y)
    return column_or_1d(y, warn=True)


def unlabelled(y):
    """-1 among integers, NaN among numbers, None or NaN among objects, and the library's own ? among texts."""
    if y.dtype.kind in "iu":
        return y == -1
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind == "O":
        return np.array([_is_missing(v) or (isinstance(v, str) and v == "?") for v in y], dtype=bool)
    if y.dtype.kind in "US":
        return y == "?"
    return np.zeros(len(y), dtype=bool)


def encode(y, n):
    """Labels of a classifier."""
    y = _as_objects(y)
    if len(y) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
    hidden = unlabelled(y)
    if y.dtype.kind == "i" and hidden.any() and set(np.unique(y)) == {-1, 1}:
        warn("y holds -1 and 1 only, which are taken for two classes; mark unlabelled samples with None or NaN to learn "
             "from one class")
        hidden[:] = False
    known = y[~hidden]
    if known.dtype.kind == "O" and len(known):
        known = np.array(list(known)) if len({type(v) for v in known}) == 1 and not isinstance(known[0], bytes) else known
    if known.dtype.kind == "f" and not np.isfinite(known).all():
        raise ValueError("Input y contains infinity")
    check_classification_targets(known)
    classes, places = np.unique(known, return_inverse=True)
    codes = np.full(len(y), -1, np.int64)
    codes[~hidden] = places
    return Labels(classes, codes)


def encode_numbers(y, n):
    """Targets of a regression; NaN or None is unknown."""
    y = _as_objects(y)
    if len(y) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
    hidden = unlabelled(y) if y.dtype.kind not in "iu" else np.zeros(n, dtype=bool)
    values = np.array([np.nan if h else float(v) for v, h in zip(y, hidden)])
    return Texts([None if np.isnan(v) else repr(float(v)) for v in values])


def decode(prediction, classes):
    """Predicted labels in the classes' own type; where the method leaves one open: -1, NaN or None by type."""
    n = lib.plx_prediction_samples(prediction)
    codes = np.empty(n, np.int64)
    names = Texts([class_text(c) for c in classes])
    if not lib.glue_label_codes(ffi.cast("int64_t *", codes.ctypes.data), prediction, names.pointer, len(classes)):
        raise MemoryError
    if (codes >= 0).all():
        return classes[codes]
    if (codes == -2).any():  # sets of classes
        return np.array([text(lib.plx_prediction_label(prediction, i)) for i in range(n)], dtype=object)
    return _with_gaps(classes, codes)


def _with_gaps(classes, codes):
    kind = classes.dtype.kind
    if kind in "iu":
        out = np.full(len(codes), -1, dtype=np.int64 if kind == "u" else classes.dtype)
    elif kind == "f":
        out = np.full(len(codes), np.nan, dtype=classes.dtype)
    else:
        out = np.full(len(codes), None, dtype=object)
    out[codes >= 0] = classes[codes[codes >= 0]]
    return out


def decode_clusters(prediction):
    """Cluster numbers; -1 for noise and for samples that are in none."""
    n = lib.plx_prediction_samples(prediction)
    codes = np.empty(n, np.int64)
    if not lib.glue_label_codes(ffi.cast("int64_t *", codes.ctypes.data), prediction, NULL, 0):
        raise MemoryError
    return codes


def decode_numbers(prediction):
    """Predicted numbers of a regression; NaN where there is none."""
    words = [text(lib.plx_prediction_label(prediction, i)) for i in range(lib.plx_prediction_samples(prediction))]
    return np.array([np.nan if w == "?" else float(w) for w in words])
