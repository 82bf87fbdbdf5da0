"""Matrices of all kinds as the library reads them: row-major float64, or CSR with int64 offsets and int32 columns.

What has that form already is lent without a copy; everything else is converted once.
"""
import numpy as np
import scipy.sparse

from ._core import ffi


def is_pandas(X):
    return hasattr(X, "iloc") and hasattr(X, "index") and hasattr(X, "columns")


def is_arrow(X):
    """polars, pyarrow and whoever else speaks Arrow, pandas left aside."""
    return not hasattr(X, "iloc") and (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__"))


def is_matrix(X):
    """One matrix, as opposed to a collection of views."""
    return scipy.sparse.issparse(X) or is_pandas(X) or is_arrow(X) or hasattr(X, "__array__") or (
        isinstance(X, (list, tuple)) and not any(_is_two_dimensional(part) for part in X))


def _is_two_dimensional(part):
    if hasattr(part, "shape"):
        return len(part.shape) == 2
    if hasattr(part, "__array__"):
        return np.ndim(part) == 2
    return isinstance(part, (list, tuple)) and len(part) > 0 and isinstance(part[0], (list, tuple))


def names_of(X):
    """Names of the columns of a frame as texts; None where columns are only numbered."""
    if not (is_pandas(X) or is_arrow(X)):
        return None
    names = X.column_names if hasattr(X, "column_names") else X.columns
    names = list(names() if callable(names) else names)
    return None if all(isinstance(n, (int, np.integer)) for n in names) else [str(n) for n in names]


def _from_arrow(X):
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    import pyarrow

    table = pyarrow.table(X)
    return np.column_stack([c.to_numpy() for c in table.columns]) if table.num_columns else np.zeros((table.num_rows, 0))


def _dense(X):
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"a view must be two-dimensional, one row per sample; found {X.ndim} dimension(s)")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if X.dtype == np.float64 and X.flags.aligned and X.dtype.isnative and _has_rows(X):
        return X
    return np.ascontiguousarray(X, dtype=np.float64)


def _has_rows(X):
    """Rows of adjacent values, at a distance that is a whole number of values: also a slice of the columns of such."""
    across, along = X.strides
    if X.shape[1] > 1 and along != 8:
        return False
    return X.shape[0] <= 1 or (across % 8 == 0 and across >= 8 * X.shape[1])


class Sparse:
    """A CSR matrix in the library's types. scipy's row offsets are converted unless they are int64."""

    def __init__(self, X):
        X = X.tocsr() if X.format != "csr" else X
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        self.shape = X.shape
        self.values = np.ascontiguousarray(X.data, dtype=np.float64)
        self.columns = np.ascontiguousarray(X.indices, dtype=np.int32)
        self.offsets = np.ascontiguousarray(X.indptr, dtype=np.int64)

    def spread(self, places, n):
        """Row i becomes row places[i] of n."""
        out = object.__new__(Sparse)
        order = np.argsort(places, kind="stable")
        picked = scipy.sparse.csr_matrix((self.values, self.columns, self.offsets), shape=self.shape)[order].tocsr()
        lengths = np.zeros(n, np.int64)
        lengths[np.asarray(places)[order]] = np.diff(picked.indptr)
        out.shape, out.values = (n, self.shape[1]), picked.data
        out.columns = picked.indices.astype(np.int32, copy=False)
        out.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return out

    def struct(self):
        out = ffi.new("plx_ccsr *")
        out.rows, out.cols = self.shape
        out.ptr = ffi.cast("const int64_t *", self.offsets.ctypes.data)
        out.col = ffi.cast("const int32_t *", self.columns.ctypes.data)
        out.val = ffi.cast("const double *", self.values.ctypes.data)
        return out


class Dense:
    """A dense matrix with a distance between rows."""

    def __init__(self, X):
        self.values = _dense(X)
        self.shape = self.values.shape

    def spread(self, places, n):
        out = object.__new__(Dense)
        out.values = np.zeros((n, self.shape[1]))
        out.values[places] = self.values
        out.shape = out.values.shape
        return out

    def struct(self):
        out = ffi.new("plx_cmat *")
        out.rows, out.cols = self.shape
        out.ld = self.values.strides[0] // 8 if self.shape[0] > 1 else self.shape[1]
        out.data = ffi.cast("const double *", self.values.ctypes.data)
        return out


def as_matrix(X):
    """Any matrix as Dense or Sparse."""
    if scipy.sparse.issparse(X):
        return Sparse(X)
    if is_pandas(X):
        if hasattr(X, "sparse") and len(X.columns) and all(hasattr(t, "subtype") and hasattr(t, "fill_value")
                                                           for t in X.dtypes):
            return Sparse(X.sparse.to_coo())
        return Dense(X.to_numpy(dtype=np.float64, na_value=np.nan))
    return Dense(_from_arrow(X) if is_arrow(X) else X)
