/*
 * Settings under which a method is tried beside its defaults, and settings it needs before the general fixtures make
 * sense to it. Every row is one more run of all checks; a method without a row runs with its defaults only, a method
 * with a row named "needed" runs only with its rows.
 */
#ifndef PLX_TESTS_CONTRACT_EXTRA_H
#define PLX_TESTS_CONTRACT_EXTRA_H

typedef struct extra_settings {
    const char *method, *name;
    const char *settings[8]; /* "key=value" */
} extra_settings;

static const extra_settings EXTRA_SETTINGS[] = {
    {"bct", "rbf", {"kernel=rbf", "optimize=view_variance", "max_iter=2", "averaging=map"}},
    {"bct", "pivots", {"pivots=12", "view_variance=0.5"}},
    {"cca", "iterative", {"dim=2", "tau=0.7", "solver=iterative", "scale=unit", "missing=pairwise"}},
    {"cca", "svd", {"dim=2", "tau=0.7", "solver=svd", "classifier=svm"}},
    {"coem", "half", {"eta=0.5", "priors=view", "likelihood=vmf", "max_iter=20"}},
    {"coem", "joint", {"mode=joint", "init=kmeans++", "likelihood=gaussian", "max_iter=10"}},
    {"coem", "annealed", {"anneal=linear", "anneal_steps=3", "likelihood.text=gaussian", "max_iter=10"}},
    {"colaprls",
     "concat",
     {"laplacian_concat=1", "combine=concat", "graph_weights=local", "scale=unit", "graph_k=100"}},
    {"colaprls", "cg", {"kernel=rbf", "solver=cg", "tol=1e-13", "decision=share"}},
    {"colapsvm", "normalized", {"laplacian=normalized", "bias=0", "graph_weights=heat", "kernel=rbf"}},
    {"colr", "fixed", {"hyper=fixed", "graph=rbf", "lambda_graph=0.1", "consensus=all", "combine=sum", "scale=unit"}},
    {"colr", "graph", {"graph=rbf", "tie_graph=0", "balance=none", "bias=0", "gem_iter=30"}},
    {"corls", "orthogonal", {"orthogonal=1", "kernel=rbf", "gamma_c=2"}},
    {"corls", "primal", {"solver=primal", "tol=1e-13", "orthogonal=1", "kernel=cosine"}},
    {"corls", "pivots", {"kernel=poly", "pivots=9", "orthogonal=1"}},
    {"corls", "cg", {"solver=cg", "tol=1e-13", "kernel=rbf", "orthogonal=1"}},
    {"cotrain", "gp", {"base=gp", "grow=2", "rounds=2"}},
    {"cotrain", "logistic", {"base=logistic", "reg=0.5", "grow=1", "pool=12"}},
    {"cotrain", "rls", {"base=rls", "pool_order=index", "pool=0"}},
    {"cotrain", "svm", {"base=svm", "grow=2", "rounds=3"}},
    {"gp", "needed", {"combine=sum", "missing=mean", "max_iter=3"}},
    {"gp", "linear", {"view=link", "missing=zero", "max_iter=4", "averaging=map"}},
    {"gp", "rbf", {"view=link", "kernel=rbf", "scale=unit", "missing=mean", "optimize=none", "averaging=exact"}},
    {"gp", "pivots", {"combine=sum", "kernel=poly", "pivots=6", "max_iter=3"}},
    {"hknn", "vectors", {"combine=crv", "missing=all", "balance=none", "k=cv", "k_grid=2,3", "lambda=0", "scale=none"}},
    {"hknn", "forward", {"select=forward", "members=3", "combine=auto", "distance=residual", "scale=unit"}},
    {"hybridtree", "hybrid", {"mode=hybrid", "cut=goodness", "clusters=3"}},
    {"hybridtree", "sums", {"rows=l1", "balance=none", "clusters=4"}},
    {"infobottleneck", "needed", {"restarts=1", "max_iter=30"}},
    {"infobottleneck", "random", {"init=random", "restarts=3", "beta=20", "prepare=none"}},
    {"kcca", "rbf", {"dim=2", "kernel=rbf", "gs_max=10", "classifier=svm", "amplitude=auto"}},
    {"kcca", "pairwise", {"dim=2", "tau=0.9", "missing=pairwise", "kernel=cosine", "gs_threshold=1e-6"}},
    {"kcomplete", "diag", {"covariance=diag", "components=auto", "max_components=2", "kernel=poly", "scale=zscore"}},
    {"kcomplete", "filled", {"completion=conditional_mean", "kernel=linear", "amplitude=auto", "cov_reg=0.1"}},
    {"lapreg", "needed", {"graph_k=100"}},
    {"laprls", "cg", {"solver=cg", "tol=1e-12", "kernel=rbf", "gamma_i=0.1"}},
    {"laprls", "primal", {"solver=primal", "view=concat", "graph_sym=and", "laplacian_power=2"}},
    {"lapsvm", "primal", {"solver=primal", "bias=0", "graph_metric=cosine", "graph_weights=cosine"}},
    {"lapsvm", "rbf", {"kernel=rbf", "laplacian=normalized"}},
    {"llereg", "needed", {"neighbours=40", "nonneg=1"}},
    {"llreg", "needed", {"neighbours=100"}},
    {"llreg", "kernel", {"neighbours=100", "model=kernel", "kernel=rbf", "expansion=full", "c_u=0.01"}},
    {"localmodels",
     "classes",
     {"pattern=classification", "learner=logistic", "tau=0.2", "outputs=fit", "rfe_step=0.2"}},
    {"localmodels", "background", {"irrelevant=clustering", "bg_clusters=3", "tau=0.3", "global_features=3"}},
    {"mrdbscan", "union", {"semantics=union", "eps=2.5", "minpts=3", "metric=cosine", "normalise=mean", "scale=none"}},
    {"mrknn",
     "accuracy",
     {"weight=accuracy", "decision=count", "normalise=median", "metric=cosine", "scale=unit", "k=3"}},
    {"mvc", "needed", {"base_restarts=2", "max_iter=30"}},
    {"mvc", "euclid", {"loss=euclid", "base=kmeans", "base_restarts=1", "max_iter=20"}},
    {"mvkmeans", "agree", {"assignment=maxagree", "alpha2=0.02"}},
    {"mvll", "needed", {"neighbours=100"}},
    {"mvll",
     "kernel",
     {"neighbours=100", "model=kernel", "kernel=local", "expansion=full", "graph_scale_k=100", "c_u=0.01"}},
    {"mvplsa", "unit rows", {"topics=5", "max_iter=20", "rows=unit", "tol=1e-6", "init_mix=0.2"}},
    {"mvplsa", "dplsa", {"model=dplsa", "topics=4", "max_iter=20"}},
    {"mvplsa", "plsa", {"model=plsa", "max_iter=20", "init_z=uniform"}},
    {"mvplsa", "few topics", {"topics=2", "max_iter=20", "init_z=random", "rows=l1"}},
    {"nb", "product", {"combine=product", "smoothing=0.5"}},
    {"nlapreg", "needed", {"graph_k=100"}},
    {"rls", "concat", {"view=concat", "scale=unit", "solver=cg", "tol=1e-13"}},
    {"rls", "rbf", {"kernel=rbf", "view=link", "decision=share"}},
    {"rls", "pivots", {"kernel=poly", "pivots=7"}},
    {"rls", "primal", {"solver=primal", "bias=0", "kernel=cosine"}},
    {"smd", "sparse", {"affinity_k=30", "width=local"}},
    {"smd", "prefer", {"use=text", "width=auto", "width_grid=1,2", "scale=unit"}},
    {"spectral", "sum", {"combine=sum", "zero_diagonal=0", "width=local"}},
    {"spectral", "concat", {"combine=concat", "affinity_k=30", "scale=unit"}},
    /* narrower widths cut this graph in two but for 2e-9 of an eigenvalue: rounding then turns the vectors by 1e-7 */
    {"spectral",
     "auto",
     {"combine=single:link", "width=auto", "width_grid=0.5,1,2", "kmeans_init=plusplus", "affinity_k=0"}},
    {"svm", "rbf", {"kernel=rbf", "decision=share"}},
    {"svm", "plain", {"bias=0"}},
};

enum { N_EXTRA_SETTINGS = sizeof EXTRA_SETTINGS / sizeof *EXTRA_SETTINGS };

#endif
