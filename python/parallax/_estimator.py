"""What all estimators have in common; the classes themselves are made in estimators.py."""
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from . import _doctor, _labels, _report, _views
from ._core import Context, lib
from ._dataset import Dataset
from ._labels import class_text
from ._matrix import names_of
from ._model import FittedModel, Prediction, fit, predict
from ._settings import seed_of, settings_of, threads
# Methods of counts; a test compares this list with what the library refuses.
NON_NEGATIVE = ("cotrain", "mvplsa", "nb")


class _Input:
    """Data of one call in the library, with what results need to be dressed in."""

    def __init__(self, context, data, samples=None, directory=None):
        self.context, self.data, self.samples, self.directory = context, data, samples, directory
        self.index = None if samples is None else samples.index

    @property
    def n(self):
        return lib.plx_dataset_samples(self.data.pointer)


class Estimator(BaseEstimator):
    """Base of all estimators: everything a method of the library needs, driven by its description `method`."""

    method = None  # a _registry.Method

    # ---- input ----

    def _context(self):
        return Context(seed_of(self.random_state), threads(self.n_jobs), self.memory_limit, self.time_limit,
                       self.progress, self.device)

    def _gather(self, Xs, reset):
        """Views of the caller; of one matrix with the checks that scikit-learn users know."""
        if not _views.is_single(Xs):
            return _views.gather(Xs)
        names = names_of(Xs)
        X = validate_data(self, Xs, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan",
                          ensure_min_samples=2 if reset else 1)
        if self.method.name in NON_NEGATIVE:
            check_non_negative(X, type(self).__name__)
        self._refuse_nan(X)
        samples = _views.split_matrix(X, self.views, names)
        samples.single = True
        return samples

    def _refuse_nan(self, X):
        """NaN inside a row only where the method takes it; a row of nothing but NaN is a missing view."""
        if self.method.capabilities["missing_values"] or hasattr(X, "indptr"):
            return
        if not np.isnan(X.sum()):  # infinities were refused before
            return
        holes = np.isnan(X)
        for columns in _views.column_groups(self.views, X.shape[1], None if self.views is None else
                                            list(getattr(self, "feature_names_in_", []))).values():
            part = holes[:, columns]
            if (part.any(axis=1) & ~part.all(axis=1)).any():
                raise ValueError(f"Input X contains NaN. {type(self).__name__} takes rows of nothing but NaN as missing "
                                 f"views, but no NaN inside a row.")

    def _input(self, context, Xs, present, reset):
        if isinstance(Xs, Dataset):
            if present is not None:
                Xs = Xs.mask(present)
            return _Input(context, Xs, directory=Xs.directory)
        samples = self._gather(Xs, reset)
        _views.set_kinds(samples, self.kinds)
        _views.set_present(samples, present)
        fitted = None if reset else self._model.views()
        return _Input(context, _views.build(context, samples, fitted_kinds=fitted), samples)

    # ---- fitting ----

    def fit(self, Xs, y=None, *, present=None):
        """Fit to samples, labelled or not.

        Parameters
        ----------
        Xs : list or dict of matrices, sparse matrices or frames; AnnData or MuData; Dataset; or one matrix
            One matrix is cut into views by the parameter `views`. Frames are joined by their index.
        y : array-like or None
            -1, NaN or None (as the type allows) is unlabelled. With AnnData or MuData also the name of a column of obs.
        present : array of flags, samples x views, or dict of flags by view
            Which samples have which view. A row of NaN is missing without it.
        """
        _doctor.check_once()
        context = self._context()
        given = self._input(context, Xs, present, reset=True)
        self._take_labels(given, y)
        self._model = fit(context, self.method.name, given.data, settings_of(self.method, self), list(self.arrays or ()),
                          given.directory)
        self._after_fit(given)
        context.rest()
        return self

    @property
    def _regression(self):
        return getattr(self, "task", None) == "regression"

    def _can_cluster(self):
        return self.method.task == "cluster" or getattr(self, "clusters", None) is not None

    def _take_labels(self, given, y):
        """Labels into the data set; `classes_` in the caller's own type."""
        self.__dict__.pop("classes_", None)
        if given.samples is not None and isinstance(y, str) and given.samples.obs is not None:
            y = given.samples.obs[y]
        y = _labels.in_order(y, given.index)
        if self.method.task == "cluster" and given.samples is not None:
            y = None
        if y is None:
            self._take_known(given)
            return
        if self._regression:
            words = _labels.encode_numbers(y, given.n)
        else:
            labels = _labels.encode(y, given.n)
            self.classes_, words = labels.classes, labels.texts()
        if given.samples is None:
            given.data = self._relabelled(given.data, words)
        else:
            given.context.call(lib.plx_dataset_set_labels, given.data.pointer, given.context.pointer, words.pointer)

    @staticmethod
    def _relabelled(data, words):
        return data._derived(lib.plx_dataset_relabel, words.pointer)

    def _take_known(self, given):
        """Without y: labels that a Dataset brings, or clusters."""
        if given.samples is None and lib.plx_dataset_has_labels(given.data.pointer):
            if not self._regression and self.method.task != "cluster":
                self.classes_ = np.array(given.data.classes)
        elif self.method.task == "classify" and not self._can_cluster():
            hint = "; set clusters to find clusters instead" if self.method.has("clusters") else ""
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None"
                             f"{hint}")

    def _after_fit(self, given):
        model = self._model
        self._kept = {}
        self._index, self._named = self._names_of_input(given)
        self.view_names_ = list(model.views())
        self.n_views_ = len(self.view_names_)
        if given.samples is None or not given.samples.single:
            self._name_features(given)
        if "classes_" in self.__dict__ and given.samples is None:
            self._classes_of_model()
        self.labels_ = self._decode(Prediction(model.owned, lib.plx_model_prediction(model.pointer)))
        if model.converged is not None or self.method.has("max_iter"):
            self.n_iter_ = max(1, model.iterations)
            self.converged_ = model.converged is not False
        if not np.isnan(model.objective):
            self.objective_ = model.objective

    def _name_features(self, given):
        """Of several views: VIEW:FEATURE, where all have names."""
        views = given.data.features if given.samples is None else {v.name: v.features for v in given.samples.views}
        self.__dict__.pop("feature_names_in_", None)
        if given.samples is None:
            self.n_features_in_ = given.data.shape[1]
        else:
            self.n_features_in_ = sum(v.matrix.shape[1] for v in given.samples.views)
        if all(names is not None for names in views.values()):
            self.feature_names_in_ = np.array([f"{view}:{name}" for view, names in views.items() for name in names],
                                              dtype=object)

    def _classes_of_model(self):
        known = self._model.classes()
        if known and self.classes_.dtype.kind in "UO" and set(known) != {class_text(c) for c in self.classes_}:
            self.classes_ = np.array(known)

    @staticmethod
    def _names_of_input(given):
        if given.samples is None:
            ids = given.data.ids
            return ids, ids is not None or any(given.data.features.values())
        named = any(view.features is not None for view in given.samples.views)
        return (given.index if given.index is not None else given.samples.ids), named or given.index is not None

    def _decode(self, prediction):
        if self._regression:
            return _labels.decode_numbers(prediction.pointer)
        if "classes_" in self.__dict__:
            return _labels.decode(prediction.pointer, self.classes_)
        return _labels.decode_clusters(prediction.pointer)

    def fit_predict(self, Xs, y=None, *, present=None):
        """Labels or clusters of the samples that were fitted, unlabelled ones included."""
        self.fit(Xs, y, present=present)
        return self._dressed(self.labels_, self._index)

    # ---- new samples ----

    def _apply(self, Xs, present, transform=False):
        """A prediction, and the index results are given with."""
        check_is_fitted(self)
        context = Context(seed_of(self.random_state) if not isinstance(self.random_state, np.random.RandomState) else 0,
                          threads(self.n_jobs), self.memory_limit, self.time_limit, None, self.device)
        given = self._input(context, Xs, present, reset=False)
        return predict(context, self._model, given.data, transform), given.index

    @staticmethod
    def _dressed(values, index, columns=None):
        """With the index of the frames that came in."""
        if index is None or isinstance(index, list):
            return values
        import pandas

        if values.ndim == 1:
            return pandas.Series(values, index=index)
        return pandas.DataFrame(values, index=index, columns=columns)

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__

    # ---- learned arrays ----

    def __getattr__(self, name):
        if name.startswith("_") or not name.endswith("_"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        described = [a for a in self.method.arrays if a.attribute == name]
        if not described:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if "_model" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: '{name}' is learned by fit")
        found = self._views_of(described[0]) if name.endswith("_by_view_") else self._array(described[0], described[0].name)
        if found is None:
            hint = f"; ask for it with arrays=['{described[0].name}']" if described[0].on_request else ""
            raise AttributeError(f"this fit of '{type(self).__name__}' has no '{name}'{hint}")
        return found

    def _views_of(self, described):
        named = ((view, self._array(described, described.name.replace("VIEW", view))) for view in self.view_names_)
        found = {view: array for view, array in named if array is not None}
        return found or None

    def _array(self, described, name):
        values = self._kept.get(name)
        if values is None:
            values = self._model.array(name)
        if values is None or hasattr(values, "indptr") or not self._named:
            flat = described.shape.endswith(" x 1") and getattr(values, "ndim", 0) == 2 and values.shape[1] == 1
            return values[:, 0] if flat and not hasattr(values, "indptr") else values
        return self._framed(described, name, values)

    def _framed(self, described, name, values):
        try:
            import pandas
        except ImportError:
            return values
        labels = []
        for dimension, size in enumerate(values.shape):
            token = described.shape.split(" x ")[dimension]
            samples = token == "n" and self._index is not None and len(self._index) == size
            labels.append(self._index if samples else self._model_names(name, dimension, size))
        if values.shape[1] == 1 and described.shape.endswith(" x 1"):
            return pandas.Series(np.asarray(values)[:, 0], index=labels[0], name=name)
        return pandas.DataFrame(np.asarray(values), index=labels[0], columns=labels[1])

    def _model_names(self, name, dimension, size):
        return range(size) if name in self._kept else self._model.names(name, dimension)

    def __dir__(self):
        fitted = [a.attribute for a in self.method.arrays] if "_model" in self.__dict__ else []
        return sorted({*super().__dir__(), *fitted})

    # ---- parameters, files, pickling ----

    def set_params(self, **params):
        """As scikit-learn's; name__VIEW=value sets a parameter for one view."""
        views = {p.python_name for p in self.method.parameters if p.per_view}
        plain, own = {}, self.get_params(deep=False)
        for key, value in params.items():
            name, cut, view = key.partition("__")
            if not cut or name not in views:
                plain[key] = value
                continue
            base = plain.get(name, own[name])
            plain[name] = {**(base if isinstance(base, dict) else {} if base is None else {None: base}), view: value}
        return super().set_params(**plain)

    def save_model(self, path):
        """Write the model file that the command line reads too (.plx)."""
        check_is_fitted(self)
        self._model.save(path)

    def facts(self):
        """What the fit was: method, parameters, seed, seconds, iterations, objective, warnings."""
        check_is_fitted(self)
        return self._model.facts()

    def report(self, Xs, y=None, *, truth=None, present=None) -> _report.Report:
        """A page about the fit, with plots: shown in a notebook, or saved to a file.

        Xs, y and present are those of the fit; truth says what the samples really are, where that is known.
        """
        check_is_fitted(self)
        given = self._input(self._context(), Xs, present, reset=False)
        data = given.data if given.samples is None else Dataset._wrap(given.context, given.data)
        if y is not None:
            data = data.relabel(y)
        if truth is not None:
            data = data.with_truth(truth)
        return _report.of_model(self._model, data, seed_of(self.random_state))

    def __getstate__(self):
        state = dict(super().__getstate__())
        model = state.pop("_model", None)
        if model is not None:
            kept = dict(self._kept)
            for described in self.method.arrays:
                if not described.rows_are_samples:
                    continue
                views = self.view_names_ if "VIEW" in described.name else [""]
                for name in (described.name.replace("VIEW", view) for view in views):
                    values = model.array(name)
                    if values is not None:
                        kept[name] = values.copy()
            state["_kept"], state["_model_file"] = kept, model.to_bytes()
        return state

    def __setstate__(self, state):
        state = dict(state)
        content = state.pop("_model_file", None)
        super().__setstate__(state)
        if content is not None:
            self._model = FittedModel.from_bytes(content)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.method.capabilities["missing_values"]
        tags.input_tags.positive_only = self.method.name in NON_NEGATIVE
        tags.non_deterministic = False
        tags.no_validation = False
        return tags
