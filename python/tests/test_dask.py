"""Sweeps on a cluster: a local one of two workers."""
import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import parallax

distributed = pytest.importorskip("distributed")


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_grid_search_on_two_workers(few_labels):
    Xs, _, truth = few_labels
    data = parallax.Dataset(Xs, truth)
    search = GridSearchCV(parallax.Bct(), {"view_variance": [0.1, 1.0, {"left": 0.1, "right": 10.0}]}, cv=3)
    here = search.fit(data, truth).cv_results_["mean_test_score"]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            with joblib.parallel_backend("dask"):
                there = GridSearchCV(parallax.Bct(), search.param_grid, cv=3).fit(data, truth)
    assert np.array_equal(there.cv_results_["mean_test_score"], here) and there.best_score_ > 0.9
