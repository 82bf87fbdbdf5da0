"""Transformers of single views in pipelines over several."""
from sklearn.base import BaseEstimator, TransformerMixin, clone


class PerView(TransformerMixin, BaseEstimator):
    """Fit a transformer to every view of a list or dict of views: PerView(StandardScaler()), or a dict by view.

    Views that a dict does not name stay as they are.
    """

    def __init__(self, transformer):
        self.transformer = transformer

    @staticmethod
    def _items(Xs):
        return list(Xs.items()) if hasattr(Xs, "items") else list(enumerate(Xs))

    def _for(self, key):
        return self.transformer.get(key) if isinstance(self.transformer, dict) else self.transformer

    def fit(self, Xs, y=None):
        """Fit one copy per view."""
        self.transformers_ = {key: clone(self._for(key)).fit(X, y) for key, X in self._items(Xs)
                              if self._for(key) is not None}
        return self

    def transform(self, Xs):
        """The views, transformed, in the form they came in."""
        done = {key: self.transformers_[key].transform(X) if key in self.transformers_ else X
                for key, X in self._items(Xs)}
        return done if hasattr(Xs, "items") else list(done.values())

    def __sklearn_is_fitted__(self):
        return hasattr(self, "transformers_")
