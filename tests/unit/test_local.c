/*
 * mvll and kin: local models against direct minimisation of their objective, identities of A and L, the small solvers,
 * the iterative route against a tridiagonal solution, and refusals. Values against an independent implementation are in
 * tests/cases/{mvll,lapreg,nlapreg,llereg,llreg}.
 */
#include "fit_helpers.h"
#include "graph/local_model.h"
#include "graph/local_solve.h"
#include "graph/smoother.h"
#include "linalg/factor.h"
#include "methods/transductive/local.h"

/* ---- local models ---- */

enum { N = 9, VIEWS = 3, MOST = 12 };
static const plx_index COLS[VIEWS] = {2, 3, 1};
static const double LAMBDA[VIEWS] = {0.5, 2.0, 0.3};

static void random_views(double x[VIEWS][N * 3], uint8_t present[VIEWS][N], plx__local_view *views)
{
    plx__rng rng = plx__rng_start(3, PLX__STREAM('l', 'o', 'c', 'a', 0));
    for (int v = 0; v < VIEWS; v++) {
        for (int i = 0; i < N * 3; i++) x[v][i] = plx__next_normal(&rng);
        for (int i = 0; i < N; i++) present[v][i] = (i + v) % 5 != 4;
        plx__points p = plx__points_dense(plx__cmat_of(x[v], N, COLS[v]));
        views[v] = (plx__local_view){.queries = p,
                                     .rows = p,
                                     .query_present = present[v],
                                     .present = present[v],
                                     .neighbours = 3,
                                     .lambda = LAMBDA[v],
                                     .kernel = {.kind = PLX__KERNEL_RBF, .width = 1.3}};
    }
}

static double rbf(const double *a, const double *b, plx_index d)
{
    double sum = 0;
    for (plx_index j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return exp(-sum / (2 * 1.3 * 1.3));
}

/* The model of sample i in view v as a penalty P (p x p), a design (n_S x p) and the output o (p) at x_i. */
typedef struct view_model {
    plx_index p, n, member[N];
    double penalty[MOST * MOST], design[N * MOST], out[MOST];
} view_model;

static void describe(view_model *m, const double *x, plx_index d, double lambda, plx_index i, int kind, bool full)
{
    memset(m->penalty, 0, sizeof m->penalty);
    if (kind == PLX__LOCAL_LINEAR) {
        m->p = d + 1;
        for (plx_index j = 0; j < d; j++) m->penalty[j * m->p + j] = lambda, m->out[j] = 0;
        m->out[d] = 1;
        for (plx_index a = 0; a < m->n; a++) {
            for (plx_index j = 0; j < d; j++) m->design[a * m->p + j] = x[m->member[a] * d + j] - x[i * d + j];
            m->design[a * m->p + d] = 1;
        }
        return;
    }
    plx_index basis[N + 1];
    m->p = m->n + full;
    for (plx_index a = 0; a < m->n; a++) basis[a] = m->member[a];
    basis[m->n] = i;
    for (plx_index b = 0; b < m->p; b++) {
        for (plx_index c = 0; c < m->p; c++)
            m->penalty[b * m->p + c] = lambda * rbf(x + basis[b] * d, x + basis[c] * d, d);
        for (plx_index a = 0; a < m->n; a++) m->design[a * m->p + b] = rbf(x + m->member[a] * d, x + basis[b] * d, d);
        m->out[b] = rbf(x + i * d, x + basis[b] * d, d);
    }
}

/* Mean output at x_i when sample j has value 1 and all others 0: normal equations of all views at once. */
static double minimise(plx_context *ctx, const view_model *m, plx_index n_models, double coupling, plx_index j)
{
    plx_index size = 0, at = 0;
    double a[MOST * VIEWS * MOST * VIEWS] = {0}, rhs[MOST * VIEWS] = {0}, o[VIEWS][MOST * VIEWS] = {{0}}, mean = 0;
    for (plx_index v = 0; v < n_models; v++) size += m[v].p;
    for (plx_index v = 0; v < n_models; v++) {
        for (plx_index b = 0; b < m[v].p; b++) {
            for (plx_index c = 0; c < m[v].p; c++) {
                double sum = m[v].penalty[b * m[v].p + c];
                for (plx_index s = 0; s < m[v].n; s++) sum += m[v].design[s * m[v].p + b] * m[v].design[s * m[v].p + c];
                a[(at + b) * size + at + c] = sum;
            }
            for (plx_index s = 0; s < m[v].n; s++)
                if (m[v].member[s] == j) rhs[at + b] += m[v].design[s * m[v].p + b];
            o[v][at + b] = m[v].out[b];
        }
        at += m[v].p;
    }
    for (plx_index u = 0; u < n_models; u++)
        for (plx_index v = u + 1; v < n_models; v++)
            for (plx_index b = 0; b < size; b++)
                for (plx_index c = 0; c < size; c++)
                    a[b * size + c] += coupling * (o[u][b] - o[v][b]) * (o[u][c] - o[v][c]);
    assert_ok(ctx, plx__lu_solve(ctx, plx__mat_of(a, size, size), plx__mat_of(rhs, size, 1), "test"));
    for (plx_index v = 0; v < n_models; v++)
        for (plx_index b = 0; b < size; b++) mean += o[v][b] * rhs[b] / (double)n_models;
    return mean;
}

static void check_against_minimisation(int kind, bool full, double coupling)
{
    double x[VIEWS][N * 3];
    uint8_t present[VIEWS][N];
    plx__local_view views[VIEWS];
    plx_csr a;
    static const char *const ids[N] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
    plx_context *ctx = test_context(2);
    plx__local_options o = {
        .kind = (plx__local_kind)kind, .self = true, .full = full, .coupling = coupling, .ids = ids};
    o.method = "test";
    random_views(x, present, views);
    assert_ok(ctx, plx__local_matrix(&a, ctx, views, VIEWS, &o));
    for (plx_index i = 0; i < N; i++) {
        view_model m[VIEWS];
        plx_index used = 0;
        for (int v = 0; v < VIEWS; v++) {
            m[used].n = 0;
            for (plx_index p = a.ptr[i]; p < a.ptr[i + 1]; p++)
                if (present[v][a.col[p]]) m[used].member[m[used].n++] = a.col[p];
            if (!present[v][i] || !m[used].n) continue;
            describe(&m[used++], x[v], COLS[v], LAMBDA[v], i, kind, full);
        }
        double sum = 0;
        for (plx_index p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            assert_true(a.col[p] != i);
            assert_close(a.val[p], minimise(ctx, m, used, coupling, a.col[p]), 1e-7);
            sum += a.val[p];
        }
        if (kind == PLX__LOCAL_LINEAR) assert_close(sum, 1.0, 1e-12); /* A 1 = 1 */
    }
    plx_context_destroy(ctx);
}

static void local_models_minimise_their_objective(void **state)
{
    static const double couplings[] = {0.0, 0.7, 50.0};
    (void)state;
    for (int c = 0; c < 3; c++) {
        check_against_minimisation(PLX__LOCAL_LINEAR, false, couplings[c]);
        check_against_minimisation(PLX__LOCAL_KERNEL, false, couplings[c]);
        check_against_minimisation(PLX__LOCAL_KERNEL, true, couplings[c]);
    }
}

/* ---- small solvers ---- */

/* lambda in units of the view: t = mean squared distance to the neighbours, or mean K(x, x). Then the unit of the features
 * does not matter. */
static void lambda_counts_in_units_of_the_view(void **state)
{
    double x[VIEWS][N * 3], first[MOST * N];
    uint8_t present[VIEWS][N];
    plx__local_view views[VIEWS];
    plx_csr a;
    static const char *const ids[N] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
    (void)state;
    plx_context *ctx = test_context(1);
    plx__local_options o = {.self = true, .coupling = 2, .relative_lambda = true, .ids = ids, .method = "test"};
    random_views(x, present, views);
    assert_ok(ctx, plx__local_matrix(&a, ctx, views, VIEWS, &o));
    memcpy(first, a.val, (size_t)a.ptr[N] * sizeof *first);
    double sum = 0, count = 0; /* view 2 has one column: neighbours by sorting */
    for (int i = 0; i < N; i++) {
        double d[N];
        int near = 0;
        if (!present[2][i]) continue;
        for (int j = 0; j < N; j++)
            if (j != i && present[2][j]) {
                double gap = (x[2][j] - x[2][i]) * (x[2][j] - x[2][i]);
                int at = near++;
                for (; at > 0 && d[at - 1] > gap; at--) d[at] = d[at - 1];
                d[at] = gap;
            }
        for (int j = 0; j < 3; j++) sum += d[j], count++;
    }
    assert_close(views[2].lambda, LAMBDA[2] * sum / count, 1e-13);
    random_views(x, present, views);
    for (int i = 0; i < N * 3; i++) x[1][i] *= 1e6;
    assert_ok(ctx, plx__local_matrix(&a, ctx, views, VIEWS, &o));
    for (plx_index p = 0; p < a.ptr[N]; p++) assert_close(a.val[p], first[p], 1e-9);
    o.kind = PLX__LOCAL_KERNEL;
    random_views(x, present, views);
    assert_ok(ctx, plx__local_matrix(&a, ctx, views, VIEWS, &o));
    for (int v = 0; v < VIEWS; v++) assert_close(views[v].lambda, LAMBDA[v], 1e-14); /* rbf: K(x, x) = 1 */
    plx_context_destroy(ctx);
}

static void random_spd(double *a, plx_index n, plx__rng *rng)
{
    double b[64];
    for (plx_index i = 0; i < n * n; i++) b[i] = plx__next_normal(rng);
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++) {
            a[i * n + j] = i == j ? 0.1 : 0.0;
            for (plx_index k = 0; k < n; k++) a[i * n + j] += b[i * n + k] * b[j * n + k];
        }
}

static void small_solvers_keep_their_identities(void **state)
{
    (void)state;
    plx__rng rng = plx__rng_start(8, PLX__STREAM('s', 'm', 'a', 'l', 0));
    for (plx_index n = 1; n <= 8; n++) {
        double a[64], copy[64], x[8], e[8], u[64];
        random_spd(a, n, &rng);
        memcpy(copy, a, sizeof copy);
        for (plx_index i = 0; i < n; i++) x[i] = 1.0;
        assert_true(plx__small_solve(copy, x, n));
        for (plx_index i = 0; i < n; i++) {
            double sum = 0;
            for (plx_index j = 0; j < n; j++) sum += a[i * n + j] * x[j];
            assert_close(sum, 1.0, 1e-10);
        }
        memcpy(copy, a, sizeof copy);
        plx__small_eigen(copy, e, u, n);
        for (plx_index i = 0; i < n; i++)
            for (plx_index j = 0; j < n; j++) {
                double rebuilt = 0, unit = 0;
                for (plx_index k = 0; k < n; k++) {
                    rebuilt += u[i * n + k] * e[k] * u[j * n + k];
                    unit += u[i * n + k] * u[j * n + k];
                }
                assert_close(rebuilt, a[i * n + j], 1e-12);
                assert_close(unit, i == j ? 1.0 : 0.0, 1e-13);
            }
    }
    double not_definite[4] = {1, 2, 2, 1}, rhs[2] = {1, 1};
    assert_false(plx__small_solve(not_definite, rhs, 2));
}

/* Karush-Kuhn-Tucker: (Ab)_i = b'Ab where b_i > 0, >= elsewhere. */
static void simplex_weights_are_optimal(void **state)
{
    (void)state;
    plx__rng rng = plx__rng_start(8, PLX__STREAM('s', 'i', 'm', 'p', 0));
    for (int trial = 0; trial < 200; trial++) {
        plx_index n = 1 + trial % 8;
        double a[64], b[8], work[80], level = 0, sum = 0;
        uint8_t active[8];
        random_spd(a, n, &rng);
        plx__small_simplex(a, b, n, work, active);
        for (plx_index i = 0; i < n; i++)
            for (plx_index j = 0; j < n; j++) level += b[i] * a[i * n + j] * b[j];
        for (plx_index i = 0; i < n; i++) {
            double gradient = 0;
            for (plx_index j = 0; j < n; j++) gradient += a[i * n + j] * b[j];
            assert_true(b[i] >= 0);
            assert_true(gradient >= level - 1e-9 * level);
            if (b[i] > 1e-9) assert_close(gradient, level, 1e-8 * level);
            sum += b[i];
        }
        assert_close(sum, 1.0, 1e-12);
    }
}

/* ---- the iterative route ---- */

/* Path of n vertices with labels at both ends; (L + C) f = C y is tridiagonal: elimination gives it exactly. */
static void conjugate_gradients_agree_with_elimination(void **state)
{
    enum { LONG = 3200 };
    (void)state;
    plx_context *ctx = test_context(2);
    plx__smoother s;
    plx_csr l;
    plx__smooth_result result;
    double *c = calloc(LONG, sizeof *c), *y = calloc(LONG, sizeof *y), *f = calloc(LONG, sizeof *f);
    double *upper = calloc(LONG, sizeof *upper), *exact = calloc(LONG, sizeof *exact);
    assert_ok(ctx, plx__arena_csr(&l, plx__scratch(ctx), LONG, LONG, 3 * LONG));
    for (plx_index i = 0, at = 0; i < LONG; i++) {
        double degree = (i > 0) + (i < LONG - 1);
        if (i > 0) l.col[at] = (int32_t)(i - 1), l.val[at++] = -1;
        l.col[at] = (int32_t)i, l.val[at++] = degree;
        if (i < LONG - 1) l.col[at] = (int32_t)(i + 1), l.val[at++] = -1;
        l.ptr[i + 1] = at;
        c[i] = i == 0 || i == LONG - 1 ? 1.0 : 1e-4;
    }
    y[0] = 1, y[LONG - 1] = -1;
    assert_ok(ctx, plx__smoother_create(&s, ctx, LONG, 1));
    plx__smoother_set(&s, 0, l);
    assert_ok(ctx, plx__smoother_solve(ctx, &s, c, plx__cmat_of(y, LONG, 1), plx__mat_of(f, LONG, 1), "test", &result));
    assert_true(result.iterations > 0 && result.converged);
    for (plx_index i = 0; i < LONG; i++) { /* forward elimination: exact holds the right-hand side */
        double degree = (i > 0) + (i < LONG - 1) + c[i], pivot = degree + (i > 0 ? upper[i - 1] : 0);
        exact[i] = (c[i] * y[i] + (i > 0 ? exact[i - 1] : 0)) / pivot;
        upper[i] = -1.0 / pivot;
    }
    for (plx_index i = LONG - 2; i >= 0; i--) exact[i] -= upper[i] * exact[i + 1];
    for (plx_index i = 0; i < LONG; i++) assert_close(f[i], exact[i], 1e-5);
    c[0] = c[LONG - 1] = 0;
    for (plx_index i = 0; i < LONG; i++) c[i] = 0;
    assert_fails(ctx,
                 plx__smoother_solve(ctx, &s, c, plx__cmat_of(y, LONG, 1), plx__mat_of(f, LONG, 1), "test", &result),
                 PLX_E_NUMERIC, "c_u");
    free(c), free(y), free(f), free(upper), free(exact);
    plx_context_destroy(ctx);
}

/* ---- rotation ---- */

/* Labels do not depend on the basis of the embedding. */
static void rotation_is_free_of_the_basis(void **state)
{
    enum { ROWS = 30 };
    double h[ROWS * 3], turned[ROWS * 3], r[9], number[3];
    int32_t first[ROWS], second[ROWS];
    double c = cos(0.7), s = sin(0.7), c2 = cos(2.1), s2 = sin(2.1);
    (void)state;
    plx_context *ctx = test_context(1);
    plx__rng rng = plx__rng_start(4, PLX__STREAM('t', 'u', 'r', 'n', 0));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 3; j++) h[3 * i + j] = (i % 3 == j) + 0.1 * plx__next_normal(&rng);
    for (int i = 0; i < ROWS; i++) {
        double a = c * h[3 * i] - s * h[3 * i + 1], b = s * h[3 * i] + c * h[3 * i + 1], d = h[3 * i + 2];
        turned[3 * i] = a;
        turned[3 * i + 1] = c2 * b - s2 * d;
        turned[3 * i + 2] = s2 * b + c2 * d;
    }
    assert_ok(ctx, plx__rotate(first, ctx, plx__cmat_of(h, ROWS, 3), plx__mat_of(r, 3, 3), number));
    assert_ok(ctx, plx__rotate(second, ctx, plx__cmat_of(turned, ROWS, 3), plx__mat_of(r, 3, 3), number));
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(first[i], i % 3);
        assert_int_equal(first[i], second[i]);
    }
    plx_context_destroy(ctx);
}

/* ---- methods ---- */

/* Two groups of ten, far apart, in two views; labels as given by `label`. */
static plx_dataset *two_groups(plx_context *ctx, const int *label)
{
    plx_dataset *d = new_dataset(ctx, 20);
    plx__rng rng = plx__rng_start(6, PLX__STREAM('p', 'a', 'i', 'r', 0));
    double x[60];
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 3; j++) x[3 * i + j] = plx__next_normal(&rng) + (i < 10 ? 0 : 50);
        add_dense(d, ctx, v ? "b" : "a", PLX_VIEW_REAL, x, 3, NULL);
    }
    set_labels(d, ctx, label);
    return d;
}

/* One labelled sample per class is enough; labels in one of two disconnected groups are not, unless c_u > 0. */
static void labels_must_reach_everybody(void **state)
{
    static const char *const methods[] = {"mvll", "lapreg", "nlapreg", "llereg", "llreg"};
    int both[20], one[20];
    (void)state;
    for (int i = 0; i < 20; i++) both[i] = one[i] = -1;
    both[2] = one[2] = 0;
    both[15] = 1;
    one[7] = 1;
    plx_context *ctx = test_context(1);
    plx_dataset *good = two_groups(ctx, both), *bad = two_groups(ctx, one);
    for (int t = 0; t < 5; t++) {
        const char *k = t == 1 || t == 2 ? "graph_k=4" : "neighbours=4";
        plx_model *m = fit_model(ctx, methods[t], good, SETTINGS(k));
        for (int i = 0; i < 20; i++) assert_string_equal(m->fitted.outcome.label[i], i < 10 ? "A" : "B");
        plx_model_destroy(m);
        assert_fails(ctx, try_fit(&m, ctx, methods[t], bad, SETTINGS(k, "c_u=0"), NULL), PLX_E_NUMERIC, "c_u > 0");
        m = fit_model(ctx, methods[t], bad, SETTINGS(k)); /* c_u=auto */
        assert_int_equal(plx_model_warnings(m), 1);
        assert_non_null(strstr(plx_model_warning(m, 0), "10 of 20 samples"));
        for (int i = 10; i < 20; i++)
            for (int c = 0; c < 2; c++) assert_close(array_of(m, "scores").data[2 * i + c], 0.5, 1e-12);
        plx_model_destroy(m);
        plx_model_destroy(fit_model(ctx, methods[t], bad, SETTINGS(k, "c_u=0.001")));
    }
    plx_dataset_destroy(good);
    plx_dataset_destroy(bad);
    plx_context_destroy(ctx);
}

/* The groups hang together by weights of exp(-86^2 / 128), about 1e-25: the system is singular to rounding. c_u=0 says so,
 * auto holds what the labels hardly reach, which is then at the level of the classes: even for each. */
static void labels_may_hardly_reach(void **state)
{
    int one[20];
    plx_model *m = NULL;
    (void)state;
    for (int i = 0; i < 20; i++) one[i] = i == 2 ? 0 : i == 7 ? 1 : -1;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_groups(ctx, one);
    const char *far[] = {"graph_k=12", "graph_weights=heat", "graph_width=8", "scale=none", "c_u=0"};
    assert_fails(ctx, try_fit(&m, ctx, "lapreg", d, SETTINGS(far[0], far[1], far[2], far[3], far[4]), NULL),
                 PLX_E_NUMERIC, "c_u");
    m = fit_model(ctx, "lapreg", d, SETTINGS(far[0], far[1], far[2], far[3]));
    assert_non_null(strstr(plx_model_warning(m, 0), "hardly reach"));
    assert_string_equal(m->fitted.outcome.label[2], "A");
    assert_string_equal(m->fitted.outcome.label[7], "B");
    for (int i = 10; i < 20; i++)
        assert_close(array_of(m, "scores").data[2 * i], array_of(m, "scores").data[2 * i + 1], 1e-6);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void settings_are_checked(void **state)
{
    int label[20], none[20];
    plx_model *m = NULL;
    (void)state;
    for (int i = 0; i < 20; i++) label[i] = i % 5 ? -1 : i / 10, none[i] = i == 3 ? 0 : -1;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_groups(ctx, label), *single = two_groups(ctx, none);
    assert_fails(ctx, try_fit(&m, ctx, "mvll", single, NULL, NULL), PLX_E_DATA, "two classes");
    assert_fails(ctx, try_fit(&m, ctx, "mvll", d, SETTINGS("task=cluster"), NULL), PLX_E_ARG, "clusters");
    assert_fails(ctx, try_fit(&m, ctx, "mvll", d, SETTINGS("task=cluster", "clusters=21"), NULL), PLX_E_ARG,
                 "clusters");
    assert_fails(ctx, try_fit(&m, ctx, "llreg", d, SETTINGS("view_weights=1,2,3"), NULL), PLX_E_ARG, "view_weights");
    assert_fails(ctx, try_fit(&m, ctx, "llreg", d, SETTINGS("view_weights=0,0"), NULL), PLX_E_ARG, "view_weights");
    assert_fails(ctx, try_fit(&m, ctx, "llreg", d, SETTINGS("view_weights=cv", "task=cluster", "clusters=2"), NULL),
                 PLX_E_ARG, "view_weights");
    plx_dataset_destroy(d);
    plx_dataset_destroy(single);
    plx_context_destroy(ctx);
}

/* ---- views of kind kernel ---- */

enum { PAIRED = 24, WIDE = 4 };

/* View "x" as features, or as their Gram matrix; "z" as features in both. The last four samples are held out. */
static plx_dataset *features_or_gram(plx_context *ctx, bool gram)
{
    static double x[PAIRED * WIDE], z[PAIRED * WIDE], k[PAIRED * PAIRED];
    static int label[PAIRED];
    static uint8_t present[PAIRED];
    plx__rng rng = plx__rng_start(9, PLX__STREAM('g', 'r', 'a', 'm', 0));
    plx_dataset *d = new_dataset(ctx, PAIRED);
    for (int i = 0; i < PAIRED * WIDE; i++) x[i] = plx__next_normal(&rng), z[i] = plx__next_normal(&rng);
    for (int i = 0; i < PAIRED; i++) {
        label[i] = i < 8 ? i % 2 : -1;
        present[i] = i % 9 != 8;
        for (int j = 0; j < PAIRED; j++) k[i * PAIRED + j] = plx__dot(x + i * WIDE, x + j * WIDE, WIDE);
    }
    if (gram) add_dense(d, ctx, "x", PLX_VIEW_KERNEL, k, PAIRED, present);
    else add_dense(d, ctx, "x", PLX_VIEW_REAL, x, WIDE, present);
    add_dense(d, ctx, "z", PLX_VIEW_REAL, z, WIDE, NULL);
    set_labels(d, ctx, label);
    return d;
}

/* A Gram matrix says all there is about rows: local models by K = XX' are those by X, for new samples too. */
static void a_gram_matrix_is_as_good_as_its_rows(void **state)
{
    static const char *const methods[] = {"mvll", "llreg", "llereg"};
    static const char *const model[] = {"model=linear", "model=kernel"},
                             *const expansion[] = {"expansion=neighbours", "expansion=full"},
                             *const metric[] = {"metric=euclid", "metric=cosine"};
    char folder[64], path[80];
    (void)state;
    make_directory(folder);
    snprintf(path, sizeof path, "%s/h.txt", folder);
    FILE *f = fopen(path, "w");
    for (int i = 0; i < PAIRED; i++) fprintf(f, "%d\n", i >= PAIRED - 4);
    fclose(f);
    plx_context *ctx = test_context(1);
    plx_dataset *rows = features_or_gram(ctx, false), *gram = features_or_gram(ctx, true);
    for (int t = 0; t < 24; t++) {
        bool lle = t / 8 == 2;
        const char *const settings[] = {"neighbours=5",
                                        metric[t % 2],
                                        lle ? "lle_reg=0.01" : model[t / 2 % 2],
                                        t / 8 == 0 ? "heldout=h.txt"
                                        : lle      ? NULL
                                                   : expansion[t / 4 % 2],
                                        t / 8 == 0 ? expansion[t / 4 % 2] : NULL,
                                        NULL};
        plx_model *a = NULL, *b = NULL;
        assert_ok(ctx, try_fit(&a, ctx, methods[t / 8], rows, settings, folder));
        assert_ok(ctx, try_fit(&b, ctx, methods[t / 8], gram, settings, folder));
        assert_same_matrix(array_of(a, "F"), array_of(b, "F"), 1e-9);
        plx_model_destroy(a);
        plx_model_destroy(b);
    }
    remove_directory(folder);
    plx_dataset_destroy(rows);
    plx_dataset_destroy(gram);
    plx_context_destroy(ctx);
}

/* ---- decision ---- */

/* share: scores less their (1 - p) quantile over the unlabelled, here worked out again from F. */
static void shares_decide_when_asked(void **state)
{
    static const char *const methods[] = {"mvll", "lapreg", "nlapreg", "llereg", "llreg"};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = features_or_gram(ctx, false);
    for (int t = 0; t < 5; t++) {
        plx_model *m = fit_model(ctx, methods[t], d, SETTINGS("decision=share", "class_prior=0.25,0.75"));
        plx_cmat f = array_of(m, "F");
        double offset[2];
        for (int c = 0; c < 2; c++) {
            double sorted[PAIRED - 8], at = (1 - (c ? 0.75 : 0.25)) * (PAIRED - 9);
            for (int i = 8; i < PAIRED; i++) { /* insertion */
                int p = i - 8;
                for (; p > 0 && sorted[p - 1] > f.data[2 * i + c]; p--) sorted[p] = sorted[p - 1];
                sorted[p] = f.data[2 * i + c];
            }
            int low = (int)at;
            offset[c] = sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]);
        }
        for (int i = 0; i < PAIRED; i++) {
            bool second = f.data[2 * i + 1] - offset[1] > f.data[2 * i] - offset[0];
            assert_string_equal(m->fitted.outcome.label[i], second ? "B" : "A");
        }
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A number of clusters beside labels does not make a clustering of it: the figures are those of classifiers. */
static void clusters_are_ignored_when_classifying(void **state)
{
    const char *truth[PAIRED];
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = features_or_gram(ctx, false);
    for (int i = 0; i < PAIRED; i++) truth[i] = i % 2 ? "B" : "A";
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    for (int t = 0; t < 3; t++) {
        const char *const settings[] = {"clusters=3", t == 0 ? NULL : t == 1 ? "task=classify" : "task=cluster", NULL};
        plx_model *m = fit_model(ctx, "mvll", d, settings);
        const char *text = NULL;
        assert_ok(ctx, plx_model_json(&text, ctx, m, d));
        assert_true((strstr(text, "\"accuracy\"") != NULL) == (t < 2));
        assert_true((strstr(text, "\"nmi\"") != NULL) == (t == 2));
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(local_models_minimise_their_objective),
                                       cmocka_unit_test(lambda_counts_in_units_of_the_view),
                                       cmocka_unit_test(small_solvers_keep_their_identities),
                                       cmocka_unit_test(simplex_weights_are_optimal),
                                       cmocka_unit_test(conjugate_gradients_agree_with_elimination),
                                       cmocka_unit_test(rotation_is_free_of_the_basis),
                                       cmocka_unit_test(labels_must_reach_everybody),
                                       cmocka_unit_test(labels_may_hardly_reach),
                                       cmocka_unit_test(a_gram_matrix_is_as_good_as_its_rows),
                                       cmocka_unit_test(shares_decide_when_asked),
                                       cmocka_unit_test(clusters_are_ignored_when_classifying),
                                       cmocka_unit_test(settings_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
