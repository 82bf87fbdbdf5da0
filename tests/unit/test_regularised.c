/* The equalities that must hold between rls, svm, laprls, lapsvm, corls, colaprls and colapsvm: limits of the weights,
 * all-point systems by Gaussian elimination, deformed kernels, solvers, errors. */
#include "fit_helpers.h"
#include "pivot_helpers.h"

#include "linalg/dense.h"

enum { N = 26, D1 = 3, D2 = 4, D3 = 2, K = 3 };

typedef struct world {
    int label[N];
    double x1[N * D1], x2[N * D2], x3[N * D3];
    uint8_t p1[N], p2[N], p3[N];
} world;

static void fill(double *x, int d, int i, int class, plx__rng *rng)
{
    for (int f = 0; f < d; f++) x[i * d + f] = 0.7 * plx__next_normal(rng) + (f == class % d);
}

static world draw(uint64_t seed, bool missing)
{
    world w;
    plx__rng rng = plx__rng_start(seed, 11);
    for (int i = 0; i < N; i++) {
        int class = i % K;
        w.label[i] = i < 3 * K ? class : -1;
        w.p1[i] = w.p2[i] = w.p3[i] = 1;
        fill(w.x1, D1, i, class, &rng);
        fill(w.x2, D2, i, class, &rng);
        fill(w.x3, D3, i, class, &rng);
        if (!missing) continue;
        w.p1[i] = i % 5 != 1;
        w.p2[i] = i % 7 != 2 || !w.p1[i];
        w.p3[i] = i % 4 != 3;
    }
    return w;
}

static plx_dataset *dataset_of(const world *w, plx_context *ctx, bool sparse, int views)
{
    plx_dataset *d = new_dataset(ctx, N);
    if (sparse) add_thin(d, ctx, "one", PLX_VIEW_REAL, w->x1, D1, w->p1);
    else add_dense(d, ctx, "one", PLX_VIEW_REAL, w->x1, D1, w->p1);
    if (views > 1) add_dense(d, ctx, "two", PLX_VIEW_REAL, w->x2, D2, w->p2);
    if (views > 2) add_dense(d, ctx, "three", PLX_VIEW_REAL, w->x3, D3, w->p3);
    set_labels(d, ctx, w->label);
    return d;
}

/* The arrays of two fits agree; NULL for b: the same name. */
static void assert_equal_arrays(plx_model *a, const char *in_a, plx_model *b, const char *in_b, double tolerance)
{
    assert_same_matrix(array_of(a, in_a), array_of(b, in_b ? in_b : in_a), tolerance);
}

#define COMPARE(ctx, d, m1, s1, a1, m2, s2, a2, tol)                                                                   \
    do {                                                                                                               \
        plx_model *first = fit_model(ctx, m1, d, s1), *second = fit_model(ctx, m2, d, s2);                             \
        assert_equal_arrays(first, a1, second, a2, tol);                                                               \
        plx_model_destroy(first);                                                                                      \
        plx_model_destroy(second);                                                                                     \
    } while (0)

/* ---- limits of the weights ---- */

static void no_graph_weight_is_no_graph(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(1, true);
    plx_dataset *d = dataset_of(&w, ctx, false, 3);
    COMPARE(ctx, d, "laprls", SETTINGS("gamma_i=0", "kernel=rbf"), "scores", "rls", SETTINGS("kernel=rbf"), NULL, 0);
    COMPARE(ctx, d, "lapsvm", SETTINGS("gamma_i=0", "view=two"), "scores", "svm", SETTINGS("view=two"), NULL, 0);
    COMPARE(ctx, d, "lapsvm", SETTINGS("gamma_i=0", "view=two"), "dual", "svm", SETTINGS("view=two"), NULL, 0);
    COMPARE(ctx, d, "colaprls", SETTINGS("gamma_i=0"), "f_three", "rls", SETTINGS("view=three"), "scores", 0);
    COMPARE(ctx, d, "colapsvm", SETTINGS("gamma_i=0"), "f_two", "svm", SETTINGS("view=two"), "scores", 0);
    COMPARE(ctx, d, "laprls", SETTINGS("gamma_i=1e-12", "kernel=rbf"), "scores", "rls", SETTINGS("kernel=rbf"), NULL,
            1e-7);
    COMPARE(ctx, d, "lapsvm", SETTINGS("gamma_i=1e-12", "kernel=rbf"), "scores", "svm", SETTINGS("kernel=rbf"), NULL,
            1e-6);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void one_view_of_the_graph_is_that_view(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(2, false);
    plx_dataset *d = dataset_of(&w, ctx, false, 2);
    for (int bias = 0; bias < 2; bias++) {
        const char *b = bias ? "bias=1" : "bias=0";
        COMPARE(ctx, d, "colaprls", SETTINGS("laplacian_weights=3,0", "graph_k=4", b, "kernel=rbf"), "f_one", "laprls",
                SETTINGS("graph_k=4", b, "kernel=rbf"), "scores", 1e-11);
        COMPARE(ctx, d, "colapsvm", SETTINGS("laplacian_weights=0,1", "graph_k=4", b, "kernel=rbf"), "f_two", "lapsvm",
                SETTINGS("graph_k=4", b, "view=two", "kernel=rbf"), "scores", 1e-8);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void one_view_is_least_squares(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(3, false);
    plx_dataset *d = dataset_of(&w, ctx, true, 1);
    COMPARE(ctx, d, "corls", SETTINGS("gamma=0.03"), "scores", "rls", SETTINGS("gamma_a=0.03", "bias=0"), NULL, 1e-11);
    COMPARE(ctx, d, "corls", SETTINGS("gamma=0.03", "kernel=rbf"), "f_one", "rls",
            SETTINGS("gamma_a=0.03", "bias=0", "kernel=rbf"), "scores", 1e-11);
    plx_dataset_destroy(d);
    d = dataset_of(&w, ctx, false, 2);
    COMPARE(ctx, d, "corls", SETTINGS("gamma_c=0"), "f_two", "rls", SETTINGS("bias=0", "view=two"), "scores", 1e-11);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- the all-point system ---- */

static void eliminate(double *m, double *rhs, int n, int columns)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(m[r * n + c]) > fabs(m[best * n + c])) best = r;
        for (int j = 0; j < n; j++) {
            double keep = m[c * n + j];
            m[c * n + j] = m[best * n + j], m[best * n + j] = keep;
        }
        for (int j = 0; j < columns; j++) {
            double keep = rhs[c * columns + j];
            rhs[c * columns + j] = rhs[best * columns + j], rhs[best * columns + j] = keep;
        }
        for (int r = 0; r < n; r++) {
            double factor = m[r * n + c] / m[c * n + c];
            if (r == c) continue;
            for (int j = c; j < n; j++) m[r * n + j] -= factor * m[c * n + j];
            for (int j = 0; j < columns; j++) rhs[r * columns + j] -= factor * rhs[c * columns + j];
        }
    }
    for (int c = 0; c < n; c++)
        for (int j = 0; j < columns; j++) rhs[c * columns + j] /= m[c * n + c];
}

/* Fits with the arrays gram and laplacian as well. */
static plx_model *fit_with_matrices(plx_context *ctx, const char *method, const plx_dataset *d,
                                    const char *const *settings)
{
    static const char *const names[] = {"gram", "laplacian"};
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = settings_of(ctx, method, settings);
    choose_first_view(ctx, p, d, settings);
    plx_model *m = NULL;
    o.arrays = names;
    o.n_arrays = 2;
    assert_ok(ctx, plx_fit(&m, ctx, method, d, p, &o));
    plx_params_destroy(p);
    return m;
}

/* (J G + gamma_A l I + gamma_I l L G) alpha = y over the samples that have the view; no offset. */
static void all_point_system(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(4, true);
    plx_dataset *d = dataset_of(&w, ctx, false, 2);
    plx_model *m = fit_with_matrices(ctx, "laprls", d, SETTINGS("bias=0", "kernel=rbf", "graph_k=4", "gamma_i=0.3"));
    plx_cmat g = array_of(m, "gram"), l = array_of(m, "laplacian"), alpha = array_of(m, "alpha");
    static double a[N * N], rhs[N * K];
    int at[N], n = 0, labelled = 0;
    for (int i = 0; i < N; i++)
        if (w.p1[i]) at[n++] = i, labelled += w.label[i] >= 0;
    for (int i = 0; i < n; i++) {
        bool known = w.label[at[i]] >= 0;
        for (int j = 0; j < n; j++) {
            double lg = 0;
            for (int q = 0; q < n; q++) lg += l.data[at[i] * N + at[q]] * g.data[at[q] * N + at[j]];
            a[i * n + j] =
                (known ? g.data[at[i] * N + at[j]] : 0) + (i == j ? 0.01 * labelled : 0) + 0.3 * labelled * lg;
        }
        for (int c = 0; c < K; c++) rhs[i * K + c] = known ? (w.label[at[i]] == c ? 1 : -1) : 0;
    }
    eliminate(a, rhs, n, K);
    for (int i = 0; i < n; i++)
        for (int c = 0; c < K; c++) assert_close(alpha.data[at[i] * K + c], rhs[i * K + c], 1e-7);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- the deformed kernel ---- */

/* Kt = G (I + M G)^-1 given to svm and rls as a precomputed kernel gives the scores of lapsvm and laprls. */
static void deformed_kernel(void **state)
{
    (void)state;
    for (int bias = 0; bias < 2; bias++) {
        plx_context *ctx = test_context(1);
        world w = draw(5, false);
        const char *b = bias ? "bias=1" : "bias=0";
        plx_dataset *d = dataset_of(&w, ctx, false, 2), *e = new_dataset(ctx, N);
        plx_model *m =
            fit_with_matrices(ctx, "lapsvm", d, SETTINGS(b, "kernel=rbf", "graph_k=5", "gamma_i=0.2", "gamma_a=0.02"));
        plx_cmat g = array_of(m, "gram"), l = array_of(m, "laplacian");
        static double a[N * N], kt[N * N];
        for (int i = 0; i < N; i++) /* Kt' = (I + G M)^-1 G */
            for (int j = 0; j < N; j++) {
                a[i * N + j] = i == j;
                for (int q = 0; q < N; q++) a[i * N + j] += 10 * g.data[i * N + q] * l.data[q * N + j];
                kt[i * N + j] = g.data[i * N + j];
            }
        eliminate(a, kt, N, N);
        add_dense(e, ctx, "kt", PLX_VIEW_KERNEL, kt, N, NULL);
        set_labels(e, ctx, w.label);
        plx_model *svm = fit_model(ctx, "svm", e, SETTINGS(b, "gamma_a=0.02"));
        assert_equal_arrays(m, "scores", svm, NULL, 1e-7);
        assert_equal_arrays(m, "dual", svm, NULL, 1e-6);
        plx_model *squares =
            fit_model(ctx, "laprls", d, SETTINGS(b, "kernel=rbf", "graph_k=5", "gamma_i=0.2", "gamma_a=0.02"));
        plx_model *rls = fit_model(ctx, "rls", e, SETTINGS(b, "gamma_a=0.02"));
        assert_equal_arrays(squares, "scores", rls, NULL, 1e-8);
        plx_model_destroy(m);
        plx_model_destroy(svm);
        plx_model_destroy(squares);
        plx_model_destroy(rls);
        plx_dataset_destroy(d);
        plx_dataset_destroy(e);
        plx_context_destroy(ctx);
    }
}

/* ---- solvers ---- */

static void solvers_agree(void **state)
{
    (void)state;
    static const char *const methods[] = {"laprls", "lapsvm", "colaprls", "colapsvm"};
    plx_context *ctx = test_context(2);
    for (int sparse = 0; sparse < 2; sparse++)
        for (int t = 0; t < 4; t++)
            for (int bias = 0; bias < 2; bias++) {
                world w = draw(6, true);
                const char *b = bias ? "bias=1" : "bias=0", *m = methods[t];
                plx_dataset *d = dataset_of(&w, ctx, sparse, 3);
                COMPARE(ctx, d, m, SETTINGS(b, "solver=dense", "graph_k=4", "gamma_i=0.1"), "scores", m,
                        SETTINGS(b, "solver=primal", "graph_k=4", "gamma_i=0.1"), NULL, 1e-7);
                COMPARE(ctx, d, m, SETTINGS(b, "solver=dense", "graph_k=4", "gamma_i=0.1"), "scores", m,
                        SETTINGS(b, "solver=cg", "graph_k=4", "gamma_i=0.1", "tol=1e-13"), NULL, 1e-7);
                COMPARE(ctx, d, m, SETTINGS(b, "solver=dense", "graph_k=4", "gamma_i=0.1", "kernel=rbf"), "scores", m,
                        SETTINGS(b, "solver=cg", "graph_k=4", "gamma_i=0.1", "kernel=rbf", "tol=1e-13"), NULL, 1e-7);
                plx_dataset_destroy(d);
            }
    plx_context_destroy(ctx);
}

/* One convex problem has one objective, whatever the solver and however large the values are beside their differences;
 * or the run says that it did not get there. */
static void objectives_agree_on_large_values(void **state)
{
    (void)state;
    static const char *const methods[] = {"laprls", "lapsvm", "colaprls", "colapsvm", "corls", "rls", "svm"};
    static const char *const solvers[] = {"solver=dense", "solver=primal", "solver=cg"};
    static const double factors[] = {1e-3, 1, 1e4, 1e7};
    plx_context *ctx = test_context(1);
    for (int t = 0; t < 7; t++)
        for (int q = 0; q < 4; q++) {
            world w = draw(9, false);
            double best = 0; /* of the first solver that says it is there */
            for (int i = 0; i < N * D1; i++) w.x1[i] = factors[q] * (w.x1[i] + 100);
            plx_dataset *d = dataset_of(&w, ctx, false, 1);
            for (int s = 0; s < 3; s++) {
                plx_model *m = fit_model(ctx, methods[t], d, SETTINGS(solvers[s], "scale=none"));
                double objective = plx_model_objective(m);
                if (plx_model_converged(m) != 0) {
                    assert_true(objective >= 0 && objective <= K * 1.000001); /* f = 0 and b = 0 have at most this */
                    if (best == 0) best = objective;
                    assert_close(objective / best, 1.0, 1e-6);
                }
                plx_model_destroy(m);
            }
            plx_dataset_destroy(d);
        }
    plx_context_destroy(ctx);
}

/* Three views with holes, with and without the constraint on sums. */
static void corls_solvers_agree(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int sparse = 0; sparse < 2; sparse++)
        for (int orthogonal = 0; orthogonal < 2; orthogonal++) {
            world w = draw(7, true);
            const char *o = orthogonal ? "orthogonal=1" : "orthogonal=0";
            plx_dataset *d = dataset_of(&w, ctx, sparse, 3);
            COMPARE(ctx, d, "corls", SETTINGS(o, "gamma_c=2", "gamma.two=0.1", "mu.one=2"), "alpha_two", "corls",
                    SETTINGS(o, "gamma_c=2", "gamma.two=0.1", "mu.one=2", "solver=primal"), NULL, 1e-7);
            COMPARE(ctx, d, "corls", SETTINGS(o, "gamma_c=2", "gamma.two=0.1", "mu.one=2"), "f_three", "corls",
                    SETTINGS(o, "gamma_c=2", "gamma.two=0.1", "mu.one=2", "solver=primal"), NULL, 1e-8);
            COMPARE(ctx, d, "corls", SETTINGS(o, "gamma_c=2", "gamma.two=0.1"), "scores", "corls",
                    SETTINGS(o, "gamma_c=2", "gamma.two=0.1", "solver=cg", "tol=1e-13"), NULL, 1e-8);
            COMPARE(ctx, d, "corls", SETTINGS(o, "gamma_c=2", "gamma.two=0.1", "kernel.one=rbf"), "alpha_one", "corls",
                    SETTINGS(o, "gamma_c=2", "gamma.two=0.1", "kernel.one=rbf", "solver=cg", "tol=1e-14"), NULL, 1e-6);
            plx_dataset_destroy(d);
        }
    plx_context_destroy(ctx);
}

/* As many pivots as samples leave the kernel as it is but for 1e-12 of its diagonal; fewer leave another kernel, which
 * then given as a view of its own gives the same functions. */
static void corls_by_pivots(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int orthogonal = 0; orthogonal < 2; orthogonal++) {
        world w = draw(7, true);
        const char *o = orthogonal ? "orthogonal=1" : "orthogonal=0";
        plx_dataset *d = dataset_of(&w, ctx, orthogonal, 3);
        COMPARE(ctx, d, "corls", SETTINGS(o, "gamma_c=2", "kernel=rbf", "gamma.two=0.1"), "scores", "corls",
                SETTINGS(o, "gamma_c=2", "kernel=rbf", "gamma.two=0.1", "pivots=1000"), NULL, 1e-7);
        COMPARE(ctx, d, "corls", SETTINGS(o, "gamma_c=2", "kernel=cosine", "gamma.two=0.1"), "f_two", "corls",
                SETTINGS(o, "gamma_c=2", "kernel=cosine", "gamma.two=0.1", "pivots=1000"), NULL, 1e-7);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* The kernels of two views by rows, rbf of width 2, and what five pivots leave of them. */
static void corls_of_reduced_kernels(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(9, false);
    uint8_t everybody[N];
    static double full[N * N], reduced[2][N * N];
    const double *rows[] = {w.x1, w.x2};
    const int width[] = {D1, D2};
    memset(everybody, 1, sizeof everybody);
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                full[i * N + j] =
                    exp(-plx__dist_sq(rows[v] + i * width[v], rows[v] + j * width[v], width[v]) / (2 * 2.0 * 2.0));
        reduce_gram(reduced[v], full, N, everybody, 5);
    }
    plx_dataset *d = dataset_of(&w, ctx, false, 2), *given = new_dataset(ctx, N);
    add_dense(given, ctx, "one", PLX_VIEW_KERNEL, reduced[0], N, NULL);
    add_dense(given, ctx, "two", PLX_VIEW_KERNEL, reduced[1], N, NULL);
    set_labels(given, ctx, w.label);
    for (int orthogonal = 0; orthogonal < 2; orthogonal++) {
        const char *o = orthogonal ? "orthogonal=1" : "orthogonal=0";
        plx_model *a = fit_model(ctx, "corls", d, SETTINGS(o, "gamma_c=2", "kernel=rbf", "width=2", "pivots=5"));
        plx_model *b = fit_model(ctx, "corls", given, SETTINGS(o, "gamma_c=2"));
        assert_same_matrix(array_of(a, "f_one"), array_of(b, "f_one"), 1e-8);
        assert_same_matrix(array_of(a, "f_two"), array_of(b, "f_two"), 1e-8);
        assert_same_matrix(array_of(a, "alpha_two"), array_of(b, "alpha_two"), 1e-7);
        plx_model_destroy(a);
        plx_model_destroy(b);
    }
    plx_dataset_destroy(given);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* More features than the primal forms a matrix for: conjugate gradients in the features. */
static void many_features(void **state)
{
    (void)state;
    enum { WIDE = 2100 };
    plx_context *ctx = test_context(2);
    double *x = calloc((size_t)N * WIDE, sizeof *x);
    world w = draw(8, false);
    plx__rng rng = plx__rng_start(8, 12);
    for (int i = 0; i < N; i++)
        for (int f = 0; f < 20; f++) x[i * WIDE + (f * 97 + i * 13) % WIDE] = plx__next_normal(&rng);
    for (int i = 0; i < N; i++) x[i * WIDE + i % K] += 1;
    plx_dataset *d = new_dataset(ctx, N);
    add_thin(d, ctx, "wide", PLX_VIEW_REAL, x, WIDE, NULL);
    set_labels(d, ctx, w.label);
    COMPARE(ctx, d, "laprls", SETTINGS("solver=dense", "graph_k=4"), "scores", "laprls",
            SETTINGS("solver=primal", "graph_k=4", "tol=1e-12"), NULL, 1e-7);
    COMPARE(ctx, d, "corls", SETTINGS("solver=dense", "orthogonal=1"), "scores", "corls",
            SETTINGS("solver=primal", "orthogonal=1", "tol=1e-12"), NULL, 1e-7);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    free(x);
}

/* More samples than one working set: the kernel matrix of all, weights, and blocks of another kernel agree. */
static void svm_working_sets(void **state)
{
    (void)state;
    enum { MANY = 1300, DIM = 4 };
    plx_context *ctx = test_context(2);
    double *x = calloc(MANY * DIM, sizeof *x);
    int *label = calloc(MANY, sizeof *label);
    plx__rng rng = plx__rng_start(21, 13);
    for (int i = 0; i < MANY; i++) {
        label[i] = i % 2;
        for (int f = 0; f < DIM; f++) x[i * DIM + f] = plx__next_normal(&rng) + (f == 0 ? label[i] : 0);
    }
    plx_dataset *d = new_dataset(ctx, MANY);
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, DIM, NULL);
    set_labels(d, ctx, label);
    for (int bias = 0; bias < 2; bias++) {
        const char *b = bias ? "bias=1" : "bias=0";
        COMPARE(ctx, d, "svm", SETTINGS(b, "solver=dense", "gamma_a=1e-3"), "scores", "svm",
                SETTINGS(b, "solver=primal", "gamma_a=1e-3"), NULL, 1e-6);
        COMPARE(ctx, d, "svm", SETTINGS(b, "solver=dense", "kernel=rbf"), "scores", "svm",
                SETTINGS(b, "solver=cg", "kernel=rbf"), NULL, 1e-6);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    free(x);
    free(label);
}

/* ---- corls ---- */

/* sum_v gamma_v alpha_v = 0 on unlabelled samples that have all views. */
static void coefficients_cancel(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(9, false);
    plx_dataset *d = dataset_of(&w, ctx, false, 3);
    plx_model *m =
        fit_model(ctx, "corls", d, SETTINGS("gamma.one=0.1", "gamma.two=0.3", "gamma.three=0.02", "gamma_c=1"));
    plx_cmat a = array_of(m, "alpha_one"), b = array_of(m, "alpha_two"), c = array_of(m, "alpha_three");
    for (int i = 3 * K; i < N; i++)
        for (int k = 0; k < K; k++)
            assert_close(0.1 * a.data[i * K + k] + 0.3 * b.data[i * K + k] + 0.02 * c.data[i * K + k], 0, 1e-12);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* With the constraint every view's function sums to zero over its samples. */
static void functions_sum_to_zero(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(10, true);
    plx_dataset *d = dataset_of(&w, ctx, false, 2);
    plx_model *m = fit_model(ctx, "corls", d, SETTINGS("orthogonal=1", "kernel=rbf"));
    static const char *const names[] = {"f_one", "f_two"};
    for (int v = 0; v < 2; v++) {
        plx_cmat f = array_of(m, names[v]);
        for (int k = 0; k < K; k++) {
            double sum = 0;
            for (int i = 0; i < N; i++) sum += f.data[i * K + k];
            assert_close(sum, 0, 1e-10);
        }
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- edge cases ---- */

static void assert_refused(plx_context *ctx, const char *method, const plx_dataset *d, const char *const *settings,
                           plx_status status, const char *word)
{
    plx_model *m = NULL;
    plx_status st = try_fit(&m, ctx, method, d, settings, NULL);
    if (st != status || m) fail_msg("%s: %s (%s)", method, plx_status_name(st), plx_context_error(ctx));
    if (!strstr(plx_context_error(ctx), word)) fail_msg("message '%s' lacks '%s'", plx_context_error(ctx), word);
}

static void errors_name_the_culprit(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(11, false);
    plx_dataset *d = dataset_of(&w, ctx, false, 2);
    assert_refused(ctx, "laprls", d, SETTINGS("view=none"), PLX_E_ARG, "none");
    assert_refused(ctx, "lapsvm", d, SETTINGS("solver=primal", "kernel=rbf"), PLX_E_ARG, "primal");
    assert_refused(ctx, "corls", d, SETTINGS("solver=primal", "kernel.two=rbf"), PLX_E_ARG, "two");
    assert_refused(ctx, "corls", d, SETTINGS("combine=none"), PLX_E_ARG, "none");
    assert_refused(ctx, "colaprls", d, SETTINGS("laplacian_weights=0,0"), PLX_E_ARG, "laplacian_weights");
    assert_refused(ctx, "colaprls", d, SETTINGS("laplacian_weights=1,1", "laplacian_concat=1"), PLX_E_ARG, "3");
    for (int i = 0; i < N; i++) w.p2[i] = w.label[i] < 0;
    plx_dataset_destroy(d);
    d = dataset_of(&w, ctx, false, 2);
    assert_refused(ctx, "svm", d, SETTINGS("view=two"), PLX_E_DATA, "two");
    assert_refused(ctx, "laprls", d, SETTINGS("view=two"), PLX_E_DATA, "two");
    assert_refused(ctx, "corls", d, SETTINGS("gamma_c=0"), PLX_E_DATA, "nothing to learn from");
    for (int i = 0; i < N; i++) w.p2[i] = w.label[i] == 1 || w.label[i] < 0;
    plx_dataset_destroy(d);
    d = dataset_of(&w, ctx, false, 2);
    assert_refused(ctx, "svm", d, SETTINGS("view=two"), PLX_E_DATA, "class 'B'");
    for (int i = 0; i < N; i++) w.p2[i] = i == 0;
    plx_dataset_destroy(d);
    d = dataset_of(&w, ctx, false, 2);
    assert_refused(ctx, "laprls", d, SETTINGS("view=two"), PLX_E_DATA, "only one sample");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A view that only unlabelled samples have: corls learns it through the other views; colap* leave its classifier out and
 * keep its graph. */
static void views_without_labels(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(12, false);
    for (int i = 0; i < N; i++) w.p2[i] = w.label[i] < 0;
    plx_dataset *d = dataset_of(&w, ctx, false, 2);
    plx_model *m = fit_model(ctx, "corls", d, SETTINGS("gamma_c=1"));
    assert_true(plx__max_abs(array_of(m, "f_two").data, N * K) > 0.01);
    plx_model_destroy(m);
    static const char *const methods[] = {"colaprls", "colapsvm"};
    for (int t = 0; t < 2; t++) {
        m = fit_model(ctx, methods[t], d, SETTINGS("graph_k=4"));
        assert_int_equal(plx_model_warnings(m), 1);
        assert_non_null(strstr(plx_model_warning(m, 0), "two"));
        assert_close(plx__max_abs(array_of(m, "f_two").data, N * K), 0, 0);
        assert_same_matrix(array_of(m, "scores"), array_of(m, "f_one"), 0);
        plx_model *alone = fit_model(ctx, methods[t], d, SETTINGS("graph_k=4", "laplacian_weights=1,0"));
        double apart = 0;
        for (int i = 0; i < N * K; i++)
            apart = fmax(apart, fabs(array_of(m, "f_one").data[i] - array_of(alone, "f_one").data[i]));
        assert_true(apart > 1e-4);
        plx_model_destroy(m);
        plx_model_destroy(alone);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Two classes and a bias: the two one-against-rest problems are mirror images. */
static void two_classes_mirror(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(13, true);
    for (int i = 0; i < N; i++) w.label[i] = w.label[i] < 0 ? -1 : w.label[i] > 0;
    plx_dataset *d = dataset_of(&w, ctx, false, 2);
    plx_model *m = fit_model(ctx, "colapsvm", d, SETTINGS("kernel=rbf", "graph_k=5"));
    plx_cmat s = array_of(m, "scores");
    for (int i = 0; i < N; i++) assert_close(s.data[i * 2], -s.data[i * 2 + 1], 1e-8);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_graph_weight_is_no_graph),
        cmocka_unit_test(one_view_of_the_graph_is_that_view),
        cmocka_unit_test(one_view_is_least_squares),
        cmocka_unit_test(all_point_system),
        cmocka_unit_test(deformed_kernel),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(objectives_agree_on_large_values),
        cmocka_unit_test(corls_solvers_agree),
        cmocka_unit_test(corls_by_pivots),
        cmocka_unit_test(corls_of_reduced_kernels),
        cmocka_unit_test(many_features),
        cmocka_unit_test(svm_working_sets),
        cmocka_unit_test(coefficients_cancel),
        cmocka_unit_test(functions_sum_to_zero),
        cmocka_unit_test(errors_name_the_culprit),
        cmocka_unit_test(views_without_labels),
        cmocka_unit_test(two_classes_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
