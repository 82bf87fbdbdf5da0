"""What users call Xs, as a list of views over the same samples."""
import dataclasses

import numpy as np
import scipy.sparse

from ._core import NULL, Texts, encoded, ffi, lib, text
from ._matrix import Sparse, as_matrix, is_arrow, is_matrix, is_pandas, names_of

GENERAL = ("binary", "counts", "real")  # each holds the values of those before it


@dataclasses.dataclass
class View:
    """A matrix with the names of its columns (or None), flags of the samples that have it (or None: all), its kind (or
    None: guessed from the values)."""

    name: str
    matrix: object
    features: list | None = None
    present: np.ndarray | None = None
    kind: str | None = None


@dataclasses.dataclass
class Samples:
    """Views over the same n samples. `index` is the pandas index that results are given with, or None."""

    views: list
    n: int
    ids: list | None = None
    index: object = None
    obs: object = None
    single: bool = False  # cut from one matrix


# ---- one matrix ----

def column_groups(views, n_columns, names):
    """The columns of each view, from slices, lists of numbers or names, a dict of those, or a number of equal parts."""
    if views is None:
        return {"view0": slice(0, n_columns)}
    if isinstance(views, (int, np.integer)):
        if not 1 <= views <= n_columns:
            raise ValueError(f"views={views}: the matrix has {n_columns} feature(s), n_features={n_columns}; give one "
                             f"at least to every view")
        cuts = np.ceil(np.linspace(0, n_columns, views + 1)).astype(int)  # the first ones get what is over
        views = [slice(a, b) for a, b in zip(cuts[:-1], cuts[1:])]
    items = views.items() if hasattr(views, "items") else ((f"view{i}", v) for i, v in enumerate(views))
    return {str(name): _columns(name, spec, n_columns, names) for name, spec in items}


def _columns(name, spec, n_columns, names):
    if isinstance(spec, slice):
        return slice(*spec.indices(n_columns))
    chosen = np.atleast_1d(np.asarray(spec))
    if chosen.dtype == bool:
        chosen = np.flatnonzero(chosen)
    if chosen.dtype.kind in "UOS":
        place = {n: i for i, n in enumerate(names or [])}
        unknown = [c for c in chosen if str(c) not in place]
        if unknown:
            raise ValueError(f"view '{name}': there is no column '{unknown[0]}'")
        chosen = np.array([place[str(c)] for c in chosen])
    if chosen.size and (chosen.min() < -n_columns or chosen.max() >= n_columns):
        raise ValueError(f"view '{name}': column {chosen.max()} of {n_columns}")
    chosen = chosen % n_columns if n_columns else chosen
    if chosen.size and np.array_equal(chosen, np.arange(chosen[0], chosen[0] + chosen.size)):
        return slice(int(chosen[0]), int(chosen[-1]) + 1)
    return chosen


def split_matrix(X, views, names):
    """A matrix cut into views. Slices of dense rows are lent as they are."""
    n, n_columns = X.shape
    found = []
    for name, columns in column_groups(views, n_columns, names).items():
        whole = isinstance(columns, slice) and columns == slice(0, n_columns, 1)
        part = X if whole else X[:, columns]
        labels = None if names is None else list(np.asarray(names, dtype=object)[columns])
        found.append(View(name, as_matrix(part), labels))
    return Samples(found, n)


# ---- collections ----

def _named(Xs):
    if hasattr(Xs, "items"):
        return [(str(name), X) for name, X in Xs.items()]
    return [(f"view{i}", X) for i, X in enumerate(Xs)]


def _rows(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def collect(Xs):
    """A list or dict of matrices. Frames with an index each are joined by it; rows a frame lacks are missing there."""
    parts = _named(Xs)
    if not parts:
        raise ValueError("no view was given")
    frames = [X for _, X in parts if is_pandas(X)]
    if not frames or len(frames) < len(parts):
        n = _rows(parts[0][1])
        return Samples([View(name, as_matrix(X), names_of(X)) for name, X in parts], n,
                       index=frames[0].index if frames and len(frames[0]) == n else None)
    index = frames[0].index
    for frame in frames[1:]:
        if not index.equals(frame.index):
            index = index.append(frame.index.difference(index, sort=False))
    return Samples([_placed(name, X, X.index, index) for name, X in parts], len(index), [str(i) for i in index], index)


def _placed(name, X, own, index, features=None):
    """A view whose rows go where its own index says."""
    matrix, features = as_matrix(X), features or names_of(X)
    if len(own) == len(index) and own.equals(index):
        return View(name, matrix, features)
    if not own.is_unique:
        raise ValueError(f"view '{name}': the index holds '{own[own.duplicated()][0]}' more than once; views are joined "
                         f"by it")
    places = index.get_indexer(own)
    present = np.zeros(len(index), np.uint8)
    present[places] = 1
    return View(name, matrix.spread(places, len(index)), features, present)


def from_anndata(X):
    """X of an AnnData as one view."""
    view = View("X", as_matrix(_in_memory(X.X)), [str(v) for v in X.var_names])
    return Samples([view], X.n_obs, [str(i) for i in X.obs_names], X.obs_names, X.obs)


def from_mudata(X):
    """A view for every modality; samples that a modality lacks miss the view."""
    index = X.obs_names
    views = [_placed(str(name), _in_memory(part.X), part.obs_names, index, [str(v) for v in part.var_names])
             for name, part in X.mod.items()]
    return Samples(views, len(index), [str(i) for i in index], index, X.obs)


def _in_memory(X):
    return X.to_memory() if hasattr(X, "to_memory") else X


def is_single(Xs):
    """One matrix or frame, as opposed to a collection of views."""
    if scipy.sparse.issparse(Xs) or is_pandas(Xs) or is_arrow(Xs):
        return True
    return not hasattr(Xs, "items") and not hasattr(Xs, "obs_names") and is_matrix(Xs)


def gather(Xs, views=None):
    """Samples from anything but a Dataset."""
    if hasattr(Xs, "mod") and hasattr(Xs, "obs_names"):
        return from_mudata(Xs)
    if hasattr(Xs, "obs_names") and hasattr(Xs, "var_names"):
        return from_anndata(Xs)
    if is_single(Xs):
        names = names_of(Xs)
        X = Xs if scipy.sparse.issparse(Xs) else as_matrix(Xs)
        X = X.tocsr() if scipy.sparse.issparse(X) else X
        if isinstance(X, Sparse):
            X = scipy.sparse.csr_matrix((X.values, X.columns, X.offsets), shape=X.shape)
        return split_matrix(X if scipy.sparse.issparse(X) else X.values, views, names)
    return collect(Xs)


# ---- kinds and presence ----

def set_kinds(samples, kinds):
    """One kind for all views, a list in their order, or a dict by name."""
    if kinds is None:
        return
    names = [v.name for v in samples.views]
    if isinstance(kinds, str):
        kinds = dict.fromkeys(names, kinds)
    elif not hasattr(kinds, "items"):
        kinds = dict(zip(names, kinds, strict=True))
    for name in kinds:
        if name not in names:
            raise ValueError(f"kinds: there is no view '{name}'; views are {', '.join(names)}")
    for view in samples.views:
        view.kind = kinds.get(view.name, view.kind)


def set_present(samples, present):
    """Flags n x views, or a dict of n flags by name."""
    if present is None:
        return
    if not hasattr(present, "items"):
        flags = np.asarray(present)
        if flags.shape != (samples.n, len(samples.views)):
            raise ValueError(f"present has shape {flags.shape}, expected ({samples.n}, {len(samples.views)}): samples x "
                             f"views")
        present = {view.name: flags[:, v] for v, view in enumerate(samples.views)}
    for view in samples.views:
        if view.name in present:
            flags = np.asarray(present[view.name]).astype(bool)
            if flags.shape != (samples.n,):
                raise ValueError(f"present of view '{view.name}' has shape {flags.shape}, expected ({samples.n},)")
            own = flags if view.present is None else flags & view.present.astype(bool)
            view.present = np.ascontiguousarray(own, dtype=np.uint8)


# ---- into the library ----

def guess_kind(matrix):
    out = ffi.new("plx_view_kind *")
    guess = lib.plx_view_kind_guess_sparse if isinstance(matrix, Sparse) else lib.plx_view_kind_guess_dense
    if guess(out, matrix.struct()[0]) != lib.PLX_OK:
        raise ValueError("the matrix has no values")
    return text(lib.plx_view_kind_name(out[0]))


def kind_of(view, fitted):
    """As the user says; else what the values suggest, and of new samples what the model knows where that holds them."""
    if view.kind is not None:
        return view.kind
    guessed = guess_kind(view.matrix) if min(view.matrix.shape) else "real"
    if fitted is None:
        return guessed
    if fitted in GENERAL and guessed in GENERAL:
        return GENERAL[max(GENERAL.index(fitted), GENERAL.index(guessed))]
    return fitted


def _kind_number(name):
    out = ffi.new("plx_view_kind *")
    if lib.plx_view_kind_parse(out, encoded(name)) != lib.PLX_OK:
        raise ValueError(f"kind '{name}': expected real, counts, binary, probability or kernel")
    return out[0]


def _add_view(context, data, view, fitted):
    sparse = isinstance(view.matrix, Sparse)
    borrow = lib.plx_dataset_borrow_sparse if sparse else lib.plx_dataset_borrow_dense
    features = Texts(view.features) if view.features is not None else None
    present = NULL if view.present is None else ffi.cast("const uint8_t *", view.present.ctypes.data)
    context.call(borrow, data.pointer, context.pointer, encoded(view.name), _kind_number(kind_of(view, fitted)),
                 view.matrix.struct()[0], NULL if features is None else features.pointer, present)


def build(context, samples, name="data", fitted_kinds=None):
    """A data set of the library over the matrices of `samples`, which it keeps alive."""
    data = context.make("plx_dataset", lib.plx_dataset_destroy, lib.plx_dataset_create, context.pointer, encoded(name),
                        samples.n)
    data.lenders = samples.views
    if samples.ids is not None:
        context.call(lib.plx_dataset_set_ids, data.pointer, context.pointer, Texts(samples.ids).pointer)
    for view in samples.views:
        _add_view(context, data, view, (fitted_kinds or {}).get(view.name))
    return data
