"""Data sets: views with holes, labels, truth, ids and a class hierarchy, held by the library."""
import html
import os
import threading

import numpy as np

from . import _views
from ._core import NULL, Context, Texts, encoded, ffi, lent_array, lent_dense, lent_sparse, lib, text
from ._labels import _as_objects, class_text, in_order, unlabelled

READ_TEXTS = ("format", "label", "id", "text", "text_options", "truth", "columns", "drop", "labels_file",
              "labels_column")


def _label_texts(y):
    if y is None:
        return None
    y = _as_objects(y)
    return [None if hidden else class_text(v) for v, hidden in zip(y, unlabelled(y))]


class Dataset:
    """Samples described by several views.

    Xs is whatever an estimator takes: a list or dict of matrices or frames, an AnnData or MuData, one matrix with
    `views`. Row-major float64 and CSR matrices are read where they are: leave them unchanged while the data set lives.

    Parameters
    ----------
    Xs : views
    y : labels that learners may see (-1, NaN or None: unlabelled)
    truth : labels for evaluation only
    views, kinds, present : as for an estimator
    ids : one distinct text per sample; from the index of frames when not given
    name : str
    """

    def __init__(self, Xs, y=None, *, truth=None, views=None, kinds=None, present=None, ids=None, name="data"):
        samples = _views.gather(Xs, views)
        _views.set_kinds(samples, kinds)
        _views.set_present(samples, present)
        if ids is not None:
            samples.ids = [str(i) for i in ids]
        if isinstance(y, str) and samples.obs is not None:
            y = samples.obs[y]
        if isinstance(truth, str) and samples.obs is not None:
            truth = samples.obs[truth]
        context = Context()
        self._hold(context, _views.build(context, samples, name))
        order = samples.ids if samples.index is None else samples.index
        self._set(lib.plx_dataset_set_labels, _label_texts(in_order(y, order)))
        self._set(lib.plx_dataset_set_truth, _label_texts(in_order(truth, order)))

    def _hold(self, context, owned, directory=None):
        self._context, self._owned, self._lock = context, owned, threading.RLock()
        self.directory = directory

    def _set(self, function, words):
        if words is None:
            return
        if len(words) != len(self):
            raise ValueError(f"{len(words)} labels for {len(self)} samples")
        self._context.call(function, self.pointer, self._context.pointer, Texts(words).pointer)

    @classmethod
    def _wrap(cls, context, owned, directory=None):
        self = object.__new__(cls)
        self._hold(context, owned, directory)
        return self

    def _derived(self, function, *arguments):
        """A data set made from this one with the same context, so that values are shared."""
        with self._lock:
            owned = self._context.make("plx_dataset", lib.plx_dataset_destroy, function, self._context.pointer,
                                       self.pointer, *arguments)
        owned.lenders = self._owned  # lent values live on
        return self._wrap(self._context, owned, self.directory)

    # ---- files ----

    @classmethod
    def read(cls, path, *, views=None, join="union", like=None, trust=False, **options):
        """Read a data set: a directory with dataset.json, a manifest, or a file of any format of the guide.

        `views` is a dict of further files: name -> path, or (path, columns). Options are those of plx_read_options:
        format, label, id, text, text_options, truth, columns, drop, labels_file, labels_column. `like` is an estimator:
        text is counted as it was for its model.
        """
        given = ffi.new("plx_read_options *")
        given.struct_size = ffi.sizeof("plx_read_options")
        given.join = {"union": lib.PLX_JOIN_UNION, "intersection": lib.PLX_JOIN_INTERSECTION}[join]
        given.trust = bool(trust)
        unknown = set(options) - set(READ_TEXTS)
        if unknown:
            raise TypeError(f"read: unknown option '{sorted(unknown)[0]}'; expected one of {', '.join(READ_TEXTS)}")
        keep = {key: encoded(",".join(value) if isinstance(value, (list, tuple)) else value)
                for key, value in options.items()}
        for key, value in keep.items():
            setattr(given, key, value)
        keep["sources"] = cls._sources(given, views or {})
        if like is not None:
            given.like = like._model.pointer
        context = Context()
        owned = context.make("plx_dataset", lib.plx_dataset_destroy, lib.plx_dataset_read, context.pointer,
                             NULL if path is None else encoded(os.fspath(path)), given)
        place = "." if path is None else os.fspath(path)
        return cls._wrap(context, owned, place if os.path.isdir(place) else os.path.dirname(place) or ".")

    @staticmethod
    def _sources(given, views):
        sources, keep = ffi.new("plx_view_source[]", max(1, len(views))), []
        for source, (name, where) in zip(sources, views.items()):
            file, columns = where if isinstance(where, tuple) else (where, None)
            texts = [encoded(name), encoded(os.fspath(file)), encoded(columns)]
            source.struct_size = ffi.sizeof("plx_view_source")
            source.name, source.file, source.columns = texts
            keep.append(texts)
        given.views, given.n_views = sources, len(views)
        return sources, keep

    def write(self, path):
        """Write a directory, or an .h5mu file when the name ends so."""
        with self._lock:
            self._context.call(lib.plx_dataset_write, self._context.pointer, self.pointer, encoded(os.fspath(path)))

    # ---- reading ----

    @property
    def pointer(self):
        return self._owned.pointer

    @property
    def name(self):
        return text(lib.plx_dataset_name(self.pointer))

    def __len__(self):
        return lib.plx_dataset_samples(self.pointer)

    @property
    def shape(self):
        """Samples, and columns of all views together."""
        return len(self), sum(info.cols for info in self._infos())

    def _infos(self):
        for v in range(lib.plx_dataset_views(self.pointer)):
            info = ffi.new("plx_view_info *")
            info.struct_size = ffi.sizeof("plx_view_info")
            lib.plx_dataset_view_info(info, self.pointer, v)
            yield info

    @property
    def view_names(self):
        return [text(info.name) for info in self._infos()]

    @property
    def kinds(self):
        return {text(info.name): text(lib.plx_view_kind_name(info.kind)) for info in self._infos()}

    def _values(self, v):
        dense, sparse = ffi.new("plx_cmat *"), ffi.new("plx_ccsr *")
        if lib.plx_dataset_dense(dense, self.pointer, v) == lib.PLX_OK:
            return lent_dense(self._owned, dense)
        lib.plx_dataset_sparse(sparse, self.pointer, v)
        return lent_sparse(self._owned, sparse)

    @property
    def views(self):
        """The values of every view, without a copy; rows that are missing read as zeros."""
        return {name: self._values(v) for v, name in enumerate(self.view_names)}

    @property
    def present(self):
        """Which samples have which view: flags by name."""
        return {name: lent_array(self._owned, lib.plx_dataset_present(self.pointer, v), (len(self),), "|u1").astype(bool)
                for v, name in enumerate(self.view_names)}

    @property
    def features(self):
        """Names of the columns by view; None where they are only numbered."""
        found = {}
        for v, info in enumerate(self._infos()):
            names = [text(lib.plx_dataset_feature(self.pointer, v, j)) for j in range(info.cols)] \
                if lib.plx_dataset_feature(self.pointer, v, 0) != NULL else None
            found[text(info.name)] = names
        return found

    def _texts(self, function):
        return [text(function(self.pointer, i)) for i in range(len(self))]

    @property
    def ids(self):
        return None if lib.plx_dataset_id(self.pointer, 0) == NULL else self._texts(lib.plx_dataset_id)

    @property
    def labels(self):
        """Labels a learner may see, None where unlabelled; None without labels."""
        if not lib.plx_dataset_has_labels(self.pointer):
            return None
        return np.array(self._texts(lib.plx_dataset_label), dtype=object)

    @property
    def truth(self):
        if not lib.plx_dataset_has_truth(self.pointer):
            return None
        return np.array(self._texts(lib.plx_dataset_truth), dtype=object)

    @property
    def classes(self):
        return [text(lib.plx_dataset_class(self.pointer, c)) for c in range(lib.plx_dataset_classes(self.pointer))]

    @property
    def hierarchy(self):
        """Classes, pairs (below, above) and pairs that exclude each other; None without a hierarchy."""
        subset, mutex = ffi.new("const int32_t **"), ffi.new("const int32_t **")
        below, apart = lib.plx_dataset_subset(subset, self.pointer), lib.plx_dataset_mutex(mutex, self.pointer)
        if not below and not apart:
            return None
        return {"classes": self.classes, "subset": [(subset[0][2 * i], subset[0][2 * i + 1]) for i in range(below)],
                "mutex": [(mutex[0][2 * i], mutex[0][2 * i + 1]) for i in range(apart)]}

    def set_hierarchy(self, classes, subset=(), mutex=()):
        """Rules over classes: pairs of class numbers (below, above), and pairs no sample has both of."""
        below = ffi.new("int32_t[]", [int(i) for pair in subset for i in pair] or [0])
        apart = ffi.new("int32_t[]", [int(i) for pair in mutex for i in pair] or [0])
        self._context.call(lib.plx_dataset_set_hierarchy, self.pointer, self._context.pointer, Texts(classes).pointer,
                           len(classes), below, len(subset), apart, len(mutex))
        return self

    # ---- deriving ----

    def select(self, samples):
        """The given samples, in the given order."""
        rows = np.arange(len(self))[samples]
        rows = np.ascontiguousarray(np.atleast_1d(rows), dtype=np.int64)
        return self._derived(lib.plx_dataset_select, ffi.cast("const plx_index *", rows.ctypes.data), len(rows))

    def relabel(self, y):
        """A copy with other labels that shares the values; None: none. A Series is taken by the ids of the samples."""
        words = _label_texts(in_order(y, self.ids))
        if words is not None and len(words) != len(self):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(self)}, {len(words)}]")
        return self._derived(lib.plx_dataset_relabel, NULL if words is None else Texts(words).pointer)

    def with_truth(self, truth):
        """A copy with this truth, for evaluation only, that shares the values."""
        words = _label_texts(in_order(truth, self.ids))
        copy = self.relabel(self.labels)
        copy._set(lib.plx_dataset_set_truth, words)
        return copy

    def mask(self, present):
        """A copy whose views are there only for the samples flagged: a dict of n flags by view."""
        flags = np.stack([np.asarray(present[n] if n in present else own, dtype=np.uint8)
                          for n, own in self.present.items()])
        return self._derived(lib.plx_dataset_mask, ffi.cast("const uint8_t *", flags.ctypes.data))

    def __getitem__(self, key):
        """A view by name, else the samples chosen by numbers, flags or a slice."""
        if isinstance(key, str):
            if key not in self.view_names:
                raise KeyError(key)
            return self._values(self.view_names.index(key))
        if isinstance(key, tuple):
            key = key[0]
        return self.select(key)

    # ---- other packages ----

    def to_mudata(self):
        """A MuData with a modality per view, over the samples that have it; labels and truth become columns of obs."""
        import anndata
        import mudata
        import pandas

        ids = np.array(self.ids or [str(i) for i in range(len(self))], dtype=object)
        parts, present, features = {}, self.present, self.features
        for name, values in self.views.items():
            here = np.flatnonzero(present[name])
            columns = features[name] or [str(j) for j in range(values.shape[1])]
            parts[name] = anndata.AnnData(values[here].copy(), obs=pandas.DataFrame(index=ids[here]),
                                          var=pandas.DataFrame(index=columns))
        out = mudata.MuData(parts)
        for column, words in (("label", self.labels), ("truth", self.truth)):
            if words is not None:
                out.obs[column] = pandas.Series(words, index=ids).reindex(out.obs_names)
        return out

    # ---- pickling and showing ----

    def __getstate__(self):
        views = [{"name": name, "values": values.copy(), "features": self.features[name],
                  "present": self.present[name], "kind": self.kinds[name]} for name, values in self.views.items()]
        for view, info in zip(views, self._infos()):
            view["text_options"] = text(info.text)
        costs = {"views": [info.cost for info in self._infos()], "label": lib.plx_dataset_label_cost(self.pointer),
                 "samples": [lib.plx_dataset_sample_cost(self.pointer, i) for i in range(len(self))]}
        return {"name": self.name, "views": views, "ids": self.ids, "labels": self.labels, "truth": self.truth,
                "hierarchy": self.hierarchy, "costs": costs, "directory": self.directory}

    def __setstate__(self, state):
        views = [_views.View(v["name"], _views.as_matrix(v["values"]), v["features"], v["present"].astype(np.uint8),
                             v["kind"]) for v in state["views"]]
        context = Context()
        samples = _views.Samples(views, len(views[0].present), state["ids"])
        self._hold(context, _views.build(context, samples, state["name"]), state["directory"])
        for v, view in enumerate(state["views"]):
            if view.get("text_options") is not None:
                self._context.call(lib.plx_dataset_set_view_text, self.pointer, self._context.pointer, v,
                                   encoded(view["text_options"]))
        if state["hierarchy"]:
            self.set_hierarchy(**state["hierarchy"])
        self._set(lib.plx_dataset_set_labels, None if state["labels"] is None else list(state["labels"]))
        self._set(lib.plx_dataset_set_truth, None if state["truth"] is None else list(state["truth"]))
        self.set_costs(**state["costs"])

    def set_costs(self, views=None, label=None, samples=None):
        """What measuring costs: one number per view, for a label, and a factor per sample; all 1 unless set."""
        for v, cost in enumerate(views or ()):
            self._context.call(lib.plx_dataset_set_view_cost, self.pointer, self._context.pointer, v, cost)
        if label is not None:
            self._context.call(lib.plx_dataset_set_label_cost, self.pointer, self._context.pointer, label)
        if samples is not None:
            factors = np.ascontiguousarray(samples, dtype=np.float64)
            self._context.call(lib.plx_dataset_set_sample_costs, self.pointer, self._context.pointer,
                               ffi.cast("const double *", factors.ctypes.data))
        return self

    def _lines(self):
        for info in self._infos():
            yield (text(info.name), text(lib.plx_view_kind_name(info.kind)), "sparse" if info.sparse else "dense",
                   info.cols, info.present, info.missing_values)

    def __repr__(self):
        labelled = "" if self.labels is None else f", {sum(v is not None for v in self.labels)} labelled"
        views = ", ".join(f"{name} ({kind}, {columns} columns, {present} samples)"
                          for name, kind, _, columns, present, _ in self._lines())
        return f"<parallax.Dataset '{self.name}': {len(self)} samples{labelled}; {views}>"

    def _repr_html_(self):
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in line) + "</tr>"
                       for line in self._lines())
        head = "".join(f"<th>{word}</th>" for word in ("view", "kind", "stored", "columns", "samples", "missing values"))
        labelled = "none" if self.labels is None else sum(v is not None for v in self.labels)
        return (f"<b>{html.escape(self.name)}</b>: {len(self)} samples, labelled: {labelled}, classes: "
                f"{len(self.classes)}<table><tr>{head}</tr>{rows}</table>")
