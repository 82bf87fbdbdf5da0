"""Types of the estimators; written by tools/gen_python_stubs.py."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ._core import Progress
from ._registry import Method
from ._report import Report

Views = Any
Result = Any

class Estimator(BaseEstimator):
    method: Method
    labels_: np.ndarray
    classes_: np.ndarray
    view_names_: list[str]
    n_views_: int
    n_features_in_: int
    feature_names_in_: np.ndarray
    n_iter_: int
    converged_: bool
    objective_: float
    def fit(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> Any: ...
    def fit_predict(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> Result: ...
    def set_params(self, **params: Any) -> Any: ...
    def save_model(self, path: Any) -> None: ...
    def facts(self) -> dict[str, Any]: ...
    def report(self, Xs: Views, y: Any = ..., *, truth: Any = ..., present: Any = ...) -> Report: ...

class Auto(Estimator):
    agreement_: Any
    power_: Any
    def __init__(
        self,
        *,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Bct(Estimator):
    cluster_curve_: Any
    kernel_: Any
    precision_: Any
    covered_: Any
    mean_: Any
    variance_: Any
    probability_: Any
    hyper_: Any
    evidence_gradient_: Any
    view_weight_: Any
    view_mean_: Any
    alpha_: Any
    marginal_by_view_: dict[str, Any]
    def __init__(
        self,
        *,
        task: str | None = ...,
        view_variance: float | Mapping[str | None, Any] | None = ...,
        zero_rows: str | None = ...,
        noise: float | None = ...,
        center: bool | None = ...,
        averaging: str | None = ...,
        optimize: str | None = ...,
        max_iter: int | None = ...,
        lowrank: str | None = ...,
        pivots: int | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        gamma: float | Mapping[str | None, Any] | None = ...,
        amplitude: float | str | Mapping[str | None, Any] | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Cca(Estimator):
    rho_: Any
    correlation_: Any
    projection_by_view_: dict[str, Any]
    shared_: Any
    weights_by_view_: dict[str, Any]
    retrieval_: Any
    decision_: Any
    def __init__(
        self,
        *,
        dim: int | None = ...,
        tau: float | None = ...,
        center: bool | None = ...,
        missing: str | None = ...,
        classifier: str | None = ...,
        C: float | None = ...,
        retrieval: bool | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        solver: str | None = ...,
        rank: int | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Coem(Estimator):
    cluster_curve_: Any
    posterior_: Any
    posterior_by_view_: dict[str, Any]
    alpha_: Any
    theta_by_view_: dict[str, Any]
    var_by_view_: dict[str, Any]
    loglik_: Any
    eta_: Any
    def __init__(
        self,
        *,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        mode: str | float | None = ...,
        merge: str | float | None = ...,
        likelihood: str | Mapping[str | None, Any] | None = ...,
        eta: float | None = ...,
        anneal: str | None = ...,
        anneal_steps: int | None = ...,
        anneal_rate: float | None = ...,
        priors: str | None = ...,
        smoothing: float | None = ...,
        prior_smoothing: float | None = ...,
        var_floor: float | None = ...,
        kappa: float | None = ...,
        init: str | float | None = ...,
        restarts: int | None = ...,
        max_iter: int | None = ...,
        tol: float | None = ...,
        rows: str | None = ...,
        heldout: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Colaprls(Estimator):
    scores_: Any
    alpha_by_view_: dict[str, Any]
    f_by_view_: dict[str, Any]
    bias_by_view_: dict[str, Any]
    laplacian_: Any
    laplacian_by_view_: dict[str, Any]
    def __init__(
        self,
        *,
        gamma_a: float | Mapping[str | None, Any] | None = ...,
        gamma_i: float | Mapping[str | None, Any] | None = ...,
        laplacian_weights: str | float | Sequence[float] | None = ...,
        laplacian_concat: bool | None = ...,
        classify_concat: bool | None = ...,
        combine: str | float | None = ...,
        bias: bool | None = ...,
        tol: float | None = ...,
        solver: str | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        graph_k: int | Mapping[str | None, Any] | None = ...,
        graph_metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        graph_weights: str | Mapping[str | None, Any] | None = ...,
        graph_width: float | str | Mapping[str | None, Any] | None = ...,
        graph_sym: str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        laplacian: str | Mapping[str | None, Any] | None = ...,
        laplacian_power: int | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Colapsvm(Estimator):
    scores_: Any
    alpha_by_view_: dict[str, Any]
    f_by_view_: dict[str, Any]
    bias_by_view_: dict[str, Any]
    laplacian_: Any
    laplacian_by_view_: dict[str, Any]
    dual_by_view_: dict[str, Any]
    def __init__(
        self,
        *,
        gamma_a: float | Mapping[str | None, Any] | None = ...,
        gamma_i: float | Mapping[str | None, Any] | None = ...,
        laplacian_weights: str | float | Sequence[float] | None = ...,
        laplacian_concat: bool | None = ...,
        classify_concat: bool | None = ...,
        combine: str | float | None = ...,
        bias: bool | None = ...,
        tol: float | None = ...,
        solver: str | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        graph_k: int | Mapping[str | None, Any] | None = ...,
        graph_metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        graph_weights: str | Mapping[str | None, Any] | None = ...,
        graph_width: float | str | Mapping[str | None, Any] | None = ...,
        graph_sym: str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        laplacian: str | Mapping[str | None, Any] | None = ...,
        laplacian_power: int | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Colr(Estimator):
    weights_: Any
    lambda_: Any
    posterior_precision_: Any
    probability_: Any
    view_score_: Any
    def __init__(
        self,
        *,
        bias: bool | None = ...,
        balance: str | None = ...,
        consensus: str | None = ...,
        hyper: str | None = ...,
        lambda_ridge: float | None = ...,
        lambda_graph: float | None = ...,
        lambda_co: float | None = ...,
        alpha: float | None = ...,
        alpha_ridge: float | None = ...,
        alpha_graph: float | None = ...,
        alpha_co: float | None = ...,
        beta_ridge: float | None = ...,
        beta_co: float | None = ...,
        beta_graph: float | None = ...,
        graph: str | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        tie_graph: bool | None = ...,
        combine: str | None = ...,
        gem_iter: int | None = ...,
        gem_tol: float | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        zero_rows: str | None = ...,
        heldout: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Corls(Estimator):
    scores_: Any
    alpha_by_view_: dict[str, Any]
    f_by_view_: dict[str, Any]
    def __init__(
        self,
        *,
        gamma: float | Mapping[str | None, Any] | None = ...,
        gamma_c: float | None = ...,
        mu: float | Mapping[str | None, Any] | None = ...,
        orthogonal: bool | None = ...,
        combine: str | float | None = ...,
        solver: str | None = ...,
        pivots: int | None = ...,
        tol: float | None = ...,
        max_iter: int | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Cotrain(Estimator):
    posterior_: Any
    posterior_by_view_: dict[str, Any]
    added_: Any
    def __init__(
        self,
        *,
        base: str | None = ...,
        rounds: int | None = ...,
        pool: int | None = ...,
        grow: str | float | Sequence[float] | None = ...,
        pool_order: str | None = ...,
        prior: str | None = ...,
        smoothing: float | None = ...,
        prior_smoothing: float | None = ...,
        reg: float | None = ...,
        rows: str | None = ...,
        zero_rows: str | None = ...,
        heldout: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Gp(Estimator):
    kernel_: Any
    mean_: Any
    variance_: Any
    probability_: Any
    hyper_: Any
    evidence_gradient_: Any
    alpha_: Any
    def __init__(
        self,
        *,
        task: str | None = ...,
        view: str | float | None = ...,
        combine: str | None = ...,
        missing: str | None = ...,
        noise: float | None = ...,
        center: bool | None = ...,
        averaging: str | None = ...,
        optimize: str | None = ...,
        max_iter: int | None = ...,
        pivots: int | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        gamma: float | Mapping[str | None, Any] | None = ...,
        amplitude: float | str | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Hknn(Estimator):
    loo_error_: Any
    chosen_: Any
    member_predictions_: Any
    scores_: Any
    distances_: Any
    validation_error_: Any
    def __init__(
        self,
        *,
        k: float | str | None = ...,
        lambda_: float | str | None = ...,
        k_grid: str | float | Sequence[float] | None = ...,
        lambda_grid: str | float | Sequence[float] | None = ...,
        distance: str | None = ...,
        balance: str | None = ...,
        missing: str | None = ...,
        max_subset: float | str | None = ...,
        select: str | float | None = ...,
        members: int | None = ...,
        start: int | None = ...,
        validation: str | float | None = ...,
        combine: str | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        uncovered: str | None = ...,
        zero_rows: str | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Hybridtree(Estimator):
    cluster_curve_: Any
    linkage_: Any
    view_: Any
    goodness_: Any
    explained_: Any
    def __init__(
        self,
        *,
        mode: str | float | None = ...,
        divergence: str | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        rows: str | None = ...,
        missing: str | None = ...,
        weights: str | float | Sequence[float] | None = ...,
        balance: str | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        cut: str | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Infobottleneck(Estimator):
    cluster_curve_: Any
    pcu_: Any
    pc_: Any
    pvc_by_view_: dict[str, Any]
    information_: Any
    def __init__(
        self,
        *,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        prepare: str | None = ...,
        beta: str | float | Sequence[float] | None = ...,
        irrelevant: str | float | None = ...,
        weights: str | float | None = ...,
        init: str | float | None = ...,
        max_iter: int | None = ...,
        tol: float | None = ...,
        restarts: int | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def membership(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Kcca(Estimator):
    rho_: Any
    correlation_: Any
    projection_by_view_: dict[str, Any]
    shared_: Any
    weights_by_view_: dict[str, Any]
    pivots_by_view_: dict[str, Any]
    retrieval_: Any
    decision_: Any
    def __init__(
        self,
        *,
        dim: int | None = ...,
        tau: float | None = ...,
        center: bool | None = ...,
        missing: str | None = ...,
        classifier: str | None = ...,
        C: float | None = ...,
        retrieval: bool | None = ...,
        gs_threshold: float | None = ...,
        gs_stop: str | None = ...,
        gs_max: int | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        gamma: float | Mapping[str | None, Any] | None = ...,
        amplitude: float | str | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Kcomplete(Estimator):
    kernel_: Any
    imputed_: Any
    gmm_weight_: Any
    gmm_mean_: Any
    gmm_cov_: Any
    responsibility_: Any
    probability_: Any
    weights_: Any
    def __init__(
        self,
        *,
        completion: str | None = ...,
        kernel: str | None = ...,
        width: float | str | None = ...,
        gamma: float | None = ...,
        amplitude: float | str | None = ...,
        degree: int | None = ...,
        coef0: float | None = ...,
        normalised: bool | None = ...,
        components: int | str | None = ...,
        max_components: int | None = ...,
        covariance: str | None = ...,
        cov_reg: float | None = ...,
        em_iter: int | None = ...,
        em_tol: float | None = ...,
        init: str | float | None = ...,
        classifier: str | None = ...,
        ridge: float | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def similarity(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Lapreg(Estimator):
    F_: Any
    scores_: Any
    embedding_: Any
    eigenvalues_: Any
    view_weights_: Any
    cv_accuracy_: Any
    L_: Any
    cluster_curve_: Any
    def __init__(
        self,
        *,
        task: str | None = ...,
        c_l: float | None = ...,
        c_u: float | str | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        discretise: str | None = ...,
        view_weights: str | float | Sequence[float] | None = ...,
        cv_folds: int | None = ...,
        cv_steps: int | None = ...,
        presence_scale: bool | None = ...,
        graph_k: int | Mapping[str | None, Any] | None = ...,
        graph_metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        graph_weights: str | Mapping[str | None, Any] | None = ...,
        graph_width: float | str | Mapping[str | None, Any] | None = ...,
        graph_sym: str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        laplacian: str | Mapping[str | None, Any] | None = ...,
        laplacian_power: int | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        kmeans_init: str | float | None = ...,
        starts: int | None = ...,
        restarts: int | None = ...,
        kmeans_iter: int | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class Laprls(Estimator):
    scores_: Any
    alpha_: Any
    bias_: Any
    gram_: Any
    laplacian_: Any
    def __init__(
        self,
        *,
        view: str | float | None = ...,
        gamma_a: float | None = ...,
        bias: bool | None = ...,
        solver: str | None = ...,
        gamma_i: float | None = ...,
        tol: float | None = ...,
        graph_k: int | Mapping[str | None, Any] | None = ...,
        graph_metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        graph_weights: str | Mapping[str | None, Any] | None = ...,
        graph_width: float | str | Mapping[str | None, Any] | None = ...,
        graph_sym: str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        laplacian: str | Mapping[str | None, Any] | None = ...,
        laplacian_power: int | Mapping[str | None, Any] | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Lapsvm(Estimator):
    scores_: Any
    alpha_: Any
    bias_: Any
    gram_: Any
    dual_: Any
    laplacian_: Any
    def __init__(
        self,
        *,
        view: str | float | None = ...,
        gamma_a: float | None = ...,
        bias: bool | None = ...,
        solver: str | None = ...,
        gamma_i: float | None = ...,
        tol: float | None = ...,
        graph_k: int | Mapping[str | None, Any] | None = ...,
        graph_metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        graph_weights: str | Mapping[str | None, Any] | None = ...,
        graph_width: float | str | Mapping[str | None, Any] | None = ...,
        graph_sym: str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        laplacian: str | Mapping[str | None, Any] | None = ...,
        laplacian_power: int | Mapping[str | None, Any] | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Llereg(Estimator):
    F_: Any
    scores_: Any
    embedding_: Any
    eigenvalues_: Any
    view_weights_: Any
    cv_accuracy_: Any
    L_: Any
    cluster_curve_: Any
    def __init__(
        self,
        *,
        task: str | None = ...,
        c_l: float | None = ...,
        c_u: float | str | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        discretise: str | None = ...,
        view_weights: str | float | Sequence[float] | None = ...,
        cv_folds: int | None = ...,
        cv_steps: int | None = ...,
        presence_scale: bool | None = ...,
        neighbours: int | Mapping[str | None, Any] | None = ...,
        metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        nonneg: bool | None = ...,
        lle_reg: float | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        kmeans_init: str | float | None = ...,
        starts: int | None = ...,
        restarts: int | None = ...,
        kmeans_iter: int | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class Llreg(Estimator):
    cluster_curve_: Any
    F_: Any
    scores_: Any
    embedding_: Any
    eigenvalues_: Any
    view_weights_: Any
    cv_accuracy_: Any
    L_: Any
    lambda_by_view_: dict[str, Any]
    A_: Any
    def __init__(
        self,
        *,
        task: str | None = ...,
        c_l: float | None = ...,
        c_u: float | str | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        discretise: str | None = ...,
        view_weights: str | float | Sequence[float] | None = ...,
        cv_folds: int | None = ...,
        cv_steps: int | None = ...,
        presence_scale: bool | None = ...,
        neighbours: int | Mapping[str | None, Any] | None = ...,
        metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        model: str | None = ...,
        lambda_: float | Mapping[str | None, Any] | None = ...,
        lambda_scale: str | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        expansion: str | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        kmeans_init: str | float | None = ...,
        starts: int | None = ...,
        restarts: int | None = ...,
        kmeans_iter: int | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class Localmodels(Estimator):
    predictions_: Any
    inside_: Any
    score_: Any
    threshold_: Any
    rates_: Any
    prob_global_: Any
    weights_global_: Any
    weights_local_: Any
    weights_pattern_: Any
    global_features_: Any
    pattern_features_: Any
    medoids_: Any
    pcu_: Any
    feature_information_: Any
    background_: Any
    def __init__(
        self,
        *,
        learner: str | None = ...,
        reg: float | None = ...,
        standardise: bool | None = ...,
        global_view: str | float | None = ...,
        local_view: str | float | None = ...,
        pattern_view: str | float | None = ...,
        global_features: float | None = ...,
        pattern_features: float | None = ...,
        pattern: str | None = ...,
        irrelevant: str | None = ...,
        pattern_clusters: int | None = ...,
        beta: float | None = ...,
        bg_clusters: int | None = ...,
        bg_beta: float | None = ...,
        ib_init: str | float | None = ...,
        bg_init: str | float | None = ...,
        ib_iter: int | None = ...,
        ib_tol: float | None = ...,
        rfe_step: float | None = ...,
        tau: float | None = ...,
        outputs: str | None = ...,
        missing: str | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Mrdbscan(Estimator):
    core_: Any
    neighbours_: Any
    cluster_: Any
    scale_factors_: Any
    eps_: Any
    def __init__(
        self,
        *,
        semantics: str | float | None = ...,
        eps: float | str | Mapping[str | None, Any] | None = ...,
        minpts: int | None = ...,
        metric: str | Mapping[str | None, Any] | None = ...,
        normalise: str | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        zero_rows: str | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Mrknn(Estimator):
    scores_: Any
    weights_: Any
    confidence_by_view_: dict[str, Any]
    scale_factors_: Any
    view_accuracy_: Any
    def __init__(
        self,
        *,
        k: int | Mapping[str | None, Any] | None = ...,
        metric: str | Mapping[str | None, Any] | None = ...,
        normalise: str | None = ...,
        weight: str | None = ...,
        decision: str | None = ...,
        eps: float | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        uncovered: str | None = ...,
        zero_rows: str | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Mvc(Estimator):
    cluster_curve_: Any
    consensus_: Any
    B_: Any
    map_by_view_: dict[str, Any]
    def __init__(
        self,
        *,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        loss: str | None = ...,
        weights: str | float | Sequence[float] | None = ...,
        base: str | None = ...,
        base_clusters: int | None = ...,
        base_restarts: int | None = ...,
        init: str | float | None = ...,
        max_iter: int | None = ...,
        tol: float | None = ...,
        restarts: int | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        heldout: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def membership(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Mvkmeans(Estimator):
    cluster_curve_: Any
    assign_: Any
    assign_by_view_: dict[str, Any]
    scores_by_view_: dict[str, Any]
    centroids_by_view_: dict[str, Any]
    flips_: Any
    def __init__(
        self,
        *,
        assignment: str | float | None = ...,
        alpha1: float | None = ...,
        alpha2: float | None = ...,
        alpha3: float | None = ...,
        score_scale: str | None = ...,
        closure: bool | None = ...,
        concat_norm: str | None = ...,
        order: str | None = ...,
        init: str | float | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        empty: str | None = ...,
        max_iter: int | None = ...,
        restarts: int | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Mvll(Estimator):
    cluster_curve_: Any
    F_: Any
    scores_: Any
    embedding_: Any
    eigenvalues_: Any
    lambda_by_view_: dict[str, Any]
    A_: Any
    L_: Any
    def __init__(
        self,
        *,
        task: str | None = ...,
        c_l: float | None = ...,
        c_u: float | str | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        discretise: str | None = ...,
        neighbours: int | Mapping[str | None, Any] | None = ...,
        metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        model: str | None = ...,
        lambda_: float | Mapping[str | None, Any] | None = ...,
        lambda_scale: str | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        expansion: str | None = ...,
        coupling: float | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        kmeans_init: str | float | None = ...,
        starts: int | None = ...,
        restarts: int | None = ...,
        kmeans_iter: int | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Mvplsa(Estimator):
    cluster_curve_: Any
    pz_: Any
    pf_by_view_: dict[str, Any]
    py_by_view_: dict[str, Any]
    loglik_: Any
    def __init__(
        self,
        *,
        model: str | None = ...,
        topics: str | float | Sequence[float] | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        init_z: str | float | None = ...,
        init_mix: float | None = ...,
        nb_smoothing: float | None = ...,
        init_f: str | float | None = ...,
        init_y: str | float | None = ...,
        max_iter: int | None = ...,
        tol: float | None = ...,
        temper: float | None = ...,
        smoothing: float | None = ...,
        split: str | float | None = ...,
        fold_iter: int | None = ...,
        rows: str | None = ...,
        heldout: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Nb(Estimator):
    posterior_: Any
    posterior_by_view_: dict[str, Any]
    theta_by_view_: dict[str, Any]
    prior_: Any
    def __init__(
        self,
        *,
        smoothing: float | None = ...,
        prior_smoothing: float | None = ...,
        combine: str | None = ...,
        rows: str | None = ...,
        heldout: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def predict_log_proba(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Nlapreg(Estimator):
    F_: Any
    scores_: Any
    embedding_: Any
    eigenvalues_: Any
    view_weights_: Any
    cv_accuracy_: Any
    L_: Any
    cluster_curve_: Any
    def __init__(
        self,
        *,
        task: str | None = ...,
        c_l: float | None = ...,
        c_u: float | str | None = ...,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        discretise: str | None = ...,
        view_weights: str | float | Sequence[float] | None = ...,
        cv_folds: int | None = ...,
        cv_steps: int | None = ...,
        presence_scale: bool | None = ...,
        graph_k: int | Mapping[str | None, Any] | None = ...,
        graph_metric: str | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        graph_weights: str | Mapping[str | None, Any] | None = ...,
        graph_width: float | str | Mapping[str | None, Any] | None = ...,
        graph_sym: str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        laplacian: str | Mapping[str | None, Any] | None = ...,
        laplacian_power: int | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        kmeans_init: str | float | None = ...,
        starts: int | None = ...,
        restarts: int | None = ...,
        kmeans_iter: int | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class Rls(Estimator):
    scores_: Any
    alpha_: Any
    bias_: Any
    gram_: Any
    def __init__(
        self,
        *,
        view: str | float | None = ...,
        gamma_a: float | None = ...,
        bias: bool | None = ...,
        solver: str | None = ...,
        pivots: int | None = ...,
        tol: float | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

class Smd(Estimator):
    cluster_curve_: Any
    singular_values_: Any
    embedding_: Any
    cluster_by_view_: dict[str, Any]
    affinity_: Any
    gram_embedding_: Any
    def __init__(
        self,
        *,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        use: str | float | None = ...,
        width_grid: str | float | Sequence[float] | None = ...,
        affinity_k: int | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        kmeans_init: str | float | None = ...,
        starts: int | None = ...,
        restarts: int | None = ...,
        kmeans_iter: int | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Spectral(Estimator):
    cluster_curve_: Any
    eigenvalues_: Any
    embedding_: Any
    affinity_: Any
    gram_embedding_: Any
    widths_: Any
    def __init__(
        self,
        *,
        clusters: int | str | None = ...,
        max_clusters: int | None = ...,
        clusters_by: str | None = ...,
        combine: str | float | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        graph_scale_k: int | Mapping[str | None, Any] | None = ...,
        knn: str | Mapping[str | None, Any] | None = ...,
        knn_recall: float | Mapping[str | None, Any] | None = ...,
        width_grid: str | float | Sequence[float] | None = ...,
        zero_diagonal: bool | None = ...,
        affinity_k: int | None = ...,
        normalise_views: bool | None = ...,
        unknown: str | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        kmeans_init: str | float | None = ...,
        starts: int | None = ...,
        restarts: int | None = ...,
        kmeans_iter: int | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...

class Svm(Estimator):
    scores_: Any
    alpha_: Any
    bias_: Any
    gram_: Any
    dual_: Any
    def __init__(
        self,
        *,
        view: str | float | None = ...,
        gamma_a: float | None = ...,
        bias: bool | None = ...,
        solver: str | None = ...,
        tol: float | None = ...,
        kernel: str | Mapping[str | None, Any] | None = ...,
        width: float | str | Mapping[str | None, Any] | None = ...,
        degree: int | Mapping[str | None, Any] | None = ...,
        coef0: float | Mapping[str | None, Any] | None = ...,
        scale: str | Mapping[str | None, Any] | None = ...,
        heldout: str | None = ...,
        zero_rows: str | None = ...,
        uncovered: str | None = ...,
        decision: str | None = ...,
        class_prior: str | float | Sequence[float] | None = ...,
        views: int | Sequence[Any] | Mapping[str, Any] | None = ...,
        kinds: str | Sequence[str] | Mapping[str, str] | None = ...,
        arrays: Sequence[str] | None = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | None = ...,
        time_limit: float | None = ...,
        device: str | None = ...,
        progress: Callable[[Progress], object] | None = ...,
    ) -> None: ...
    def predict(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def decision_function(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def transform(self, Xs: Views, *, present: Any = ...) -> Result: ...
    def score(self, Xs: Views, y: Any = ..., *, present: Any = ...) -> float: ...

def estimator(name: str, **params: Any) -> Estimator: ...
def all_estimators(task: str | None = ...) -> list[type[Estimator]]: ...
def load_model(path: Any) -> Estimator: ...

__all__ = ["Auto", "Bct", "Cca", "Coem", "Colaprls", "Colapsvm", "Colr", "Corls", "Cotrain", "Gp", "Hknn", "Hybridtree", "Infobottleneck", "Kcca", "Kcomplete", "Lapreg", "Laprls", "Lapsvm", "Llereg", "Llreg", "Localmodels", "Mrdbscan", "Mrknn", "Mvc", "Mvkmeans", "Mvll", "Mvplsa", "Nb", "Nlapreg", "Rls", "Smd", "Spectral", "Svm", "estimator", "all_estimators", "load_model"]
