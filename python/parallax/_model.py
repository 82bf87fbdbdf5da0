"""A fitted model of the library."""
import json
import os
import tempfile
import threading

import numpy as np

from ._core import NULL, Context, Texts, encoded, ffi, lent_dense, lent_sparse, lib, text, text_list
from ._files import written


class FittedModel:
    """Owns a plx_model. Only read after the fit, so threads may share it."""

    def __init__(self, owned):
        self.owned, self.pointer = owned, owned.pointer
        self._lock = threading.Lock()  # for texts that belong to the model

    # ---- arrays ----

    def arrays(self):
        """Names of all arrays the model holds, private ones left out."""
        names = [text(lib.plx_model_array_name(self.pointer, i)) for i in range(lib.plx_model_arrays(self.pointer))]
        return [name for name in names if not name.startswith("_")]

    def array(self, name):
        """The array, without a copy: a numpy array or a scipy CSR matrix; None when there is none."""
        dense, sparse, key = ffi.new("plx_cmat *"), ffi.new("plx_ccsr *"), encoded(name)
        if lib.plx_model_array(dense, self.pointer, key) == lib.PLX_OK:
            return lent_dense(self.owned, dense)
        if lib.plx_model_array_sparse(sparse, self.pointer, key) == lib.PLX_OK:
            return lent_sparse(self.owned, sparse)
        return None

    def names(self, array, dimension):
        """What rows (0) or columns (1) of an array are called."""
        context, out, count = Context(), ffi.new("const char *const **"), ffi.new("plx_index *")
        with self._lock:
            context.call(lib.plx_model_array_names, out, count, context.pointer, self.pointer, NULL, encoded(array),
                         dimension)
            return text_list(out[0], count[0])

    # ---- facts ----

    @property
    def iterations(self):
        return lib.plx_model_iterations(self.pointer)

    @property
    def converged(self):
        """True, False, or None where the method does not iterate."""
        return {1: True, 0: False}.get(lib.plx_model_converged(self.pointer))

    @property
    def objective(self):
        return lib.plx_model_objective(self.pointer)

    def views(self):
        """Names of the views with their kinds."""
        found, info = {}, ffi.new("plx_model_view *")
        for v in range(lib.plx_model_views(self.pointer)):
            info.struct_size = ffi.sizeof("plx_model_view")
            if lib.plx_model_view_info(info, self.pointer, v) == lib.PLX_OK:
                found[text(info.name)] = text(lib.plx_view_kind_name(info.kind))
        return found

    def classes(self):
        return [text(lib.plx_model_class(self.pointer, c)) for c in range(lib.plx_model_classes(self.pointer))]

    def json_text(self, data=None):
        context, out = Context(), ffi.new("const char **")
        with self._lock:
            context.call(lib.plx_model_json, out, context.pointer, self.pointer, NULL if data is None else data)
            return text(out[0])

    def facts(self, data=None):
        """Method, parameters, seed, seconds, iterations, objective, warnings; metrics where the data have a truth."""
        return json.loads(self.json_text(data))

    # ---- files ----

    def save(self, path):
        context = Context()
        context.call(lib.plx_model_save, context.pointer, self.pointer, encoded(os.fspath(path)))

    @classmethod
    def load(cls, path):
        context = Context()
        return cls(context.make("plx_model", lib.plx_model_destroy, lib.plx_model_load, context.pointer,
                                encoded(os.fspath(path))))

    def to_bytes(self):
        """The model file."""
        context = Context()
        return written(context, lambda path: (lib.plx_model_save, context.pointer, self.pointer, path), ".plx")

    @classmethod
    def from_bytes(cls, content):
        with tempfile.TemporaryDirectory(prefix="parallax-") as folder:
            path = os.path.join(folder, "model.plx")
            with open(path, "wb") as file:
                file.write(content)
            return cls.load(path)


class Prediction:
    """A prediction of new samples, or the one of the samples of a fit, which belongs to its model."""

    def __init__(self, owned, pointer):
        self.owned, self.pointer = owned, pointer

    def scores(self):
        return lent_dense(self.owned, lib.plx_prediction_scores(self.pointer))

    def columns(self):
        return [text(lib.plx_prediction_column(self.pointer, c)) for c in range(self.scores().shape[1])]

    def scores_of(self, classes):
        """Columns in the order of `classes`; a class the method gives no score has NaN."""
        scores, place = self.scores(), {c: i for i, c in enumerate(self.columns())}
        order = [place.get(c, -1) for c in classes]
        if order == list(range(scores.shape[1])):
            return np.array(scores)
        out = np.full((scores.shape[0], len(order)), np.nan)
        for column, source in enumerate(order):
            if source >= 0:
                out[:, column] = scores[:, source]
        return out

    def transformed(self):
        out = ffi.new("plx_cmat *")
        if lib.plx_prediction_transform(out, self.pointer) != lib.PLX_OK:
            return None
        return lent_dense(self.owned, out)


def fit(context, method, data, settings, arrays=(), directory=None):
    """Fit a method with settings [(key, text)] to a data set of the library."""
    params = context.make("plx_params", lib.plx_params_destroy, lib.plx_params_create, context.pointer, encoded(method))
    for key, value in settings:
        context.call(lib.plx_params_set, params.pointer, context.pointer, encoded(key), encoded(value))
    options, names, folder = ffi.new("plx_fit_options *"), Texts(arrays), encoded(directory)
    options.struct_size = ffi.sizeof("plx_fit_options")
    options.directory, options.arrays, options.n_arrays = folder, names.pointer, len(arrays)
    return FittedModel(context.make("plx_model", lib.plx_model_destroy, lib.plx_fit, context.pointer, encoded(method),
                                    data.pointer, params.pointer, options))


def predict(context, model, data, transform=False):
    function = lib.plx_transform if transform else lib.plx_predict
    owned = context.make("plx_prediction", lib.plx_prediction_destroy, function, context.pointer, model.pointer,
                         data.pointer)
    return Prediction(owned, owned.pointer)
