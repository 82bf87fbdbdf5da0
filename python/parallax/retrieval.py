"""Search across views: which items lie nearest to a query in the space a model learned."""
import numpy as np

from ._core import Context, encoded, ffi, lib
from ._dataset import Dataset
from ._settings import threads
from .metrics import read


class Retrieval:
    """items and similarity (queries x top), rank of each query's mate (NaN without one), and metrics."""

    def __init__(self, items, similarity, rank, metrics):
        self.items, self.similarity, self.rank, self.metrics = items, similarity, rank, metrics


def retrieve(estimator, queries, items, *, top=10, source=None, target=None):
    """The items most similar to every query. `source` and `target` restrict what is looked at to one view."""
    data = [X if isinstance(X, Dataset) else Dataset(X, kinds={n: k for n, k in estimator._model.views().items()
                                                              if not hasattr(X, "items") or n in X})
            for X in (queries, items)]
    context, options = Context(threads=threads(estimator.n_jobs)), ffi.new("plx_retrieve_options *")
    names = encoded(source), encoded(target)
    options.struct_size, options.top = ffi.sizeof("plx_retrieve_options"), top
    setattr(options, "from", names[0])
    options.to = names[1]
    found = context.make("plx_retrieval", lib.plx_retrieval_destroy, lib.plx_retrieve, context.pointer,
                         estimator._model.pointer, data[0].pointer, data[1].pointer, options)
    n, listed = lib.plx_retrieval_queries(found.pointer), lib.plx_retrieval_listed(found.pointer)
    places = [[lib.plx_retrieval_item(found.pointer, q, p) for p in range(listed)] for q in range(n)]
    cosine = [[lib.plx_retrieval_similarity(found.pointer, q, p) for p in range(listed)] for q in range(n)]
    rank = np.array([lib.plx_retrieval_rank(found.pointer, q) for q in range(n)])
    values = context.make("plx_metrics", lib.plx_metrics_destroy, lib.plx_retrieval_metrics, context.pointer,
                          found.pointer)
    return Retrieval(np.array(places).reshape(n, listed), np.array(cosine).reshape(n, listed), rank,
                     read(values.pointer))
