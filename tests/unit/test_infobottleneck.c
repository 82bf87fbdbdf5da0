/*
 * The information bottleneck: functional and sweeps against the definitions written out in full, the gradient of the
 * functional by finite differences at fixed points, new samples, views made into distributions, and every error.
 */
#include "cluster/bottleneck.h"
#include "core/rng.h"
#include "fit_helpers.h"

enum { N = 13, K = 3, W = 2, D1 = 6, D2 = 4 };

static const plx_index COLS[2] = {D1, D2};

typedef struct world {
    plx_index n_w;
    double x[2][N][D1]; /* P(f|u); zero rows are absent */
    double pu[N], pw[N][W], pcu[N][K], beta[2];
} world;

static void draw_distribution(double *out, plx__rng *r, plx_index n)
{
    double sum = 0;
    for (plx_index j = 0; j < n; j++) sum += out[j] = 0.05 + plx__next_uniform(r) * plx__next_uniform(r);
    for (plx_index j = 0; j < n; j++) out[j] /= sum;
}

static world make_world(plx_index n_w)
{
    world w = {.n_w = n_w, .beta = {7, 4}};
    plx__rng r = plx__rng_start(5, PLX__STREAM('i', 'b', 't', 's', n_w));
    for (int u = 0; u < N; u++) {
        for (int v = 0; v < 2; v++) draw_distribution(w.x[v][u], &r, COLS[v]);
        draw_distribution(w.pcu[u], &r, K);
        draw_distribution(w.pw[u], &r, W);
        if (n_w == 1) w.pw[u][0] = 1;
    }
    memset(w.x[0][3], 0, sizeof w.x[0][3]);
    memset(w.x[1][7], 0, sizeof w.x[1][7]);
    w.x[0][2][1] += w.x[0][2][0], w.x[0][2][0] = 0; /* a zero inside the support of the others */
    draw_distribution(w.pu, &r, N);
    return w;
}

/* ---- the definitions ---- */

static bool has(const world *w, int v, int u)
{
    double sum = 0;
    for (plx_index f = 0; f < COLS[v]; f++) sum += w->x[v][u][f];
    return sum > 0;
}

/* P(f|w,c), or P(f|w) with c < 0. */
static double feature_given(const world *w, int v, plx_index f, int b, int c)
{
    double top = 0, bottom = 0;
    for (int u = 0; u < N; u++) {
        double q = has(w, v, u) ? w->pu[u] * w->pw[u][b] * (c < 0 ? 1 : w->pcu[u][c]) : 0;
        top += q * w->x[v][u][f];
        bottom += q;
    }
    return bottom > 0 ? top / bottom : 0;
}

static double cluster_size(const world *w, int c)
{
    double sum = 0;
    for (int u = 0; u < N; u++) sum += w->pu[u] * w->pcu[u][c];
    return sum;
}

static double information(const world *w, int v)
{
    double sum = 0;
    for (int b = 0; b < w->n_w; b++)
        for (int c = 0; c < K; c++)
            for (plx_index f = 0; f < COLS[v]; f++) {
                double ratio = feature_given(w, v, f, b, c) / feature_given(w, v, f, b, -1);
                for (int u = 0; u < N; u++)
                    if (w->x[v][u][f] > 0) sum += w->pu[u] * w->pw[u][b] * w->pcu[u][c] * w->x[v][u][f] * log(ratio);
            }
    return sum;
}

static double compression(const world *w)
{
    double sum = 0;
    for (int u = 0; u < N; u++)
        for (int c = 0; c < K; c++)
            if (w->pcu[u][c] > 0) sum += w->pu[u] * w->pcu[u][c] * log(w->pcu[u][c] / cluster_size(w, c));
    return sum;
}

static double functional(const world *w)
{
    return compression(w) - w->beta[0] * information(w, 0) - w->beta[1] * information(w, 1);
}

/* The third equation. */
static void new_memberships(double out[N][K], const world *w)
{
    for (int u = 0; u < N; u++) {
        double sum = 0;
        for (int c = 0; c < K; c++) {
            double s = log(cluster_size(w, c));
            for (int v = 0; v < 2; v++)
                for (int b = 0; b < w->n_w; b++)
                    for (plx_index f = 0; f < COLS[v]; f++)
                        if (w->x[v][u][f] > 0)
                            s += w->beta[v] * w->pw[u][b] * w->x[v][u][f] * log(feature_given(w, v, f, b, c));
            sum += out[u][c] = exp(s);
        }
        for (int c = 0; c < K; c++) out[u][c] /= sum;
    }
}

/* ---- the library's side ---- */

static plx__points points_of(plx_context *ctx, const world *w, int v)
{
    plx_mat dense;
    plx_csr thin;
    assert_ok(ctx, plx__arena_mat(&dense, plx__scratch(ctx), N, COLS[v]));
    for (int u = 0; u < N; u++) memcpy(dense.data + u * COLS[v], w->x[v][u], (size_t)COLS[v] * sizeof(double));
    assert_ok(ctx, plx__csr_from_dense(&thin, plx__scratch(ctx), plx__cmat(dense)));
    return v ? plx__points_dense(plx__cmat(dense)) : plx__points_csr(plx__ccsr(thin));
}

static plx__bottleneck open_world(plx_context *ctx, const world *w)
{
    plx__bottleneck b = {.ctx = ctx, .n = N, .k = K, .n_w = w->n_w, .weight = w->pu, .n_variables = 2};
    if (w->n_w > 1) b.given = (plx_cmat){&w->pw[0][0], N, W, W};
    assert_ok(ctx, PLX__ARENA_NEW(&b.variable, plx__scratch(ctx), 2));
    for (int v = 0; v < 2; v++) {
        b.variable[v].cols = COLS[v];
        b.variable[v].beta = w->beta[v];
        assert_ok(ctx, plx__design_open(&b.variable[v].rows, ctx, points_of(ctx, w, v), NULL, "test"));
    }
    assert_ok(ctx, plx__ib_open(&b));
    plx__ib_start(&b, (plx_cmat){&w->pcu[0][0], N, K, K});
    return b;
}

static void take_back(world *w, const plx__bottleneck *b) { memcpy(w->pcu, b->pcu.data, sizeof w->pcu); }

static void check_one_sweep(plx_index n_w)
{
    plx_context *ctx = test_context(2);
    world w = make_world(n_w);
    plx__bottleneck b = open_world(ctx, &w);
    double mine = 0, change = 0, next[N][K];
    assert_ok(ctx, plx__ib_marginals(&b));
    assert_ok(ctx, plx__ib_compression(&mine, &b));
    assert_close(mine, compression(&w), 1e-13);
    for (int v = 0; v < 2; v++) assert_close(b.variable[v].information, information(&w, v), 1e-12);
    assert_close(plx__ib_functional(&b, mine), functional(&w), 1e-11);
    new_memberships(next, &w);
    assert_ok(ctx, plx__ib_assign(&b, 1.0, &change));
    for (int u = 0; u < N; u++)
        for (int c = 0; c < K; c++) assert_close(b.pcu.data[u * K + c], next[u][c], 1e-12);
    plx_context_destroy(ctx);
}

static void sweeps_follow_the_definitions(void **state)
{
    (void)state;
    check_one_sweep(1);
    check_one_sweep(W);
}

/* Moving mass between two clusters of a sample changes F by nothing at a fixed point. */
static void check_fixed_point(plx_index n_w)
{
    plx_context *ctx = test_context(1);
    world w = make_world(n_w);
    plx__bottleneck b = open_world(ctx, &w);
    double change = 1, before = INFINITY;
    for (int sweep = 0; sweep < 4000 && change > 1e-15; sweep++) {
        double c = 0;
        assert_ok(ctx, plx__ib_marginals(&b));
        assert_ok(ctx, plx__ib_compression(&c, &b));
        assert_true(plx__ib_functional(&b, c) <= before + 1e-12);
        before = plx__ib_functional(&b, c);
        assert_ok(ctx, plx__ib_assign(&b, 1.0, &change));
    }
    take_back(&w, &b);
    for (int u = 0; u < N; u++)
        for (int c = 1; c < K; c++) {
            double step = 1e-4 * fmin(w.pcu[u][0], w.pcu[u][c]);
            world up = w, down = w;
            if (step < 1e-9) continue;
            up.pcu[u][0] += step, up.pcu[u][c] -= step;
            down.pcu[u][0] -= step, down.pcu[u][c] += step;
            assert_true(fabs(functional(&up) - functional(&down)) / (2 * step) < 1e-5);
        }
    plx_context_destroy(ctx);
}

static void the_gradient_vanishes_at_fixed_points(void **state)
{
    (void)state;
    check_fixed_point(1);
    check_fixed_point(W);
}

static void rows_of_any_size_become_distributions(void **state)
{
    double x[3][2] = {{1e308, 1e308}, {0, 0}, {3e-320, 0}};
    (void)state;
    plx__ib_normalise_dense((plx_mat){&x[0][0], 3, 2, 2});
    assert_close(x[0][0], 0.5, 1e-15);
    assert_true(x[1][0] == 0 && x[1][1] == 0);
    assert_true(x[2][0] == 1 && x[2][1] == 0);
}

/* ---- through the door ---- */

/* Two groups far apart in a real view and in counts; each lacks one view somewhere. */
static plx_dataset *two_groups(plx_context *ctx)
{
    plx_dataset *data = new_dataset(ctx, 10);
    double real[20], counts[30];
    uint8_t some[10], others[10];
    for (int i = 0; i < 10; i++) {
        real[2 * i] = (i < 5 ? -3 : 4) + 0.1 * i;
        real[2 * i + 1] = 0.2 * i - 1;
        for (int j = 0; j < 3; j++) counts[3 * i + j] = 1 + 6 * (j == (i >= 5));
        some[i] = i != 2;
        others[i] = i != 8;
    }
    add_dense(data, ctx, "real", PLX_VIEW_REAL, real, 2, some);
    add_thin(data, ctx, "counts", PLX_VIEW_COUNTS, counts, 3, others);
    return data;
}

static void groups_are_found_with_defaults(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = two_groups(ctx);
    plx_model *model = fit_model(ctx, "infobottleneck", data, SETTINGS("clusters=2"));
    const plx_prediction *p = plx_model_prediction(model);
    (void)state;
    for (plx_index i = 0; i < 10; i++)
        assert_string_equal(plx_prediction_label(p, i), plx_prediction_label(p, i < 5 ? 0 : 9));
    assert_string_not_equal(plx_prediction_label(p, 0), plx_prediction_label(p, 9));
    plx_model_destroy(model);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void bad_settings_are_named(void **state)
{
    static const char *const bad[][4] = {{"clusters", "beta=1"},
                                         {"beta", "clusters=2", "beta=1,2,3"},
                                         {"nothing", "clusters=2", "irrelevant=nothing"},
                                         {"real", "clusters=2", "irrelevant=real"},
                                         {"real", "clusters=2", "prepare=none"},
                                         {"init", "clusters=2", "init=best"},
                                         {"weights", "clusters=2", "weights=equal"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        plx_context *ctx = test_context(1);
        plx_dataset *data = two_groups(ctx);
        plx_model *model = NULL;
        assert_int_not_equal(try_fit(&model, ctx, "infobottleneck", data, &bad[i][1], NULL), PLX_OK);
        assert_non_null(strstr(plx_context_error(ctx), bad[i][0]));
        plx_dataset_destroy(data);
        plx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_follow_the_definitions),
        cmocka_unit_test(the_gradient_vanishes_at_fixed_points),
        cmocka_unit_test(rows_of_any_size_become_distributions),
        cmocka_unit_test(groups_are_found_with_defaults),
        cmocka_unit_test(bad_settings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
