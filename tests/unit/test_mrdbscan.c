/*
 * mrdbscan against its definition: neighbourhoods pair by pair, clusters by expanding core objects in index order. With
 * many neighbours per object there is no room for all pairs and a second pass joins; the answer must not show it.
 */
#include "fit_helpers.h"

enum { N = 700, D = 3, VIEWS = 3 }; /* three tiles of objects, the last one short */

typedef struct world {
    double x[VIEWS][N * D];
    uint8_t has[VIEWS][N];
} world;

static void make_world(world *w, double spread, double missing)
{
    plx__rng rng = plx__rng_start(7, 7);
    for (int v = 0; v < VIEWS; v++)
        for (int i = 0; i < N; i++) {
            w->has[v][i] = v == i % VIEWS || plx__next_uniform(&rng) >= missing;
            for (int j = 0; j < D; j++) w->x[v][i * D + j] = spread * (i % 4) * (j == v) + plx__next_normal(&rng) + 1;
        }
}

static double distance(const world *w, int v, int i, int q, bool cosine)
{
    const double *a = w->x[v] + i * D, *b = w->x[v] + q * D;
    double sum = 0, aa = 0, bb = 0, ab = 0;
    for (int j = 0; j < D; j++) {
        sum += (a[j] - b[j]) * (a[j] - b[j]);
        aa += a[j] * a[j], bb += b[j] * b[j], ab += a[j] * b[j];
    }
    if (cosine) return aa > 0 && bb > 0 ? 1 - ab / sqrt(aa * bb) : 1;
    return sqrt(sum);
}

/* needed 0: more than half of the common views. */
static bool is_near(const world *w, int i, int q, int needed, double eps, bool cosine)
{
    int common = 0, hits = 0;
    for (int v = 0; v < VIEWS; v++) {
        if (!w->has[v][i] || !w->has[v][q]) continue;
        common++;
        hits += distance(w, v, i, q, cosine) <= eps;
    }
    int least = needed == 0 ? common / 2 + 1 : needed < common ? needed : common;
    return common > 0 && hits >= least;
}

static void expand(const uint8_t near[N][N], const int *count, int minpts, int from, int number, int *cluster)
{
    int stack[N], depth = 0;
    stack[depth++] = from;
    cluster[from] = number;
    while (depth) {
        int i = stack[--depth];
        for (int q = 0; q < N; q++) {
            if (!near[i][q] || cluster[q] >= 0) continue;
            cluster[q] = number;
            if (count[q] >= minpts) stack[depth++] = q;
        }
    }
}

static void by_definition(int *cluster, int *count, const world *w, int needed, double eps, bool cosine, int minpts)
{
    static uint8_t near[N][N];
    int number = 0;
    for (int i = 0; i < N; i++) {
        cluster[i] = -1;
        count[i] = 1;
        for (int q = 0; q < N; q++) count[i] += near[i][q] = i != q && is_near(w, i, q, needed, eps, cosine);
    }
    for (int i = 0; i < N; i++)
        if (count[i] >= minpts && cluster[i] < 0)
            expand((const uint8_t(*)[N])near, count, minpts, i, number++, cluster);
}

static void compare(const world *w, const char *semantics, int needed, double eps, bool cosine, bool sparse,
                    int threads)
{
    static const char *const names[] = {"a", "b", "c"};
    plx_context *ctx = test_context(threads);
    plx_dataset *d = new_dataset(ctx, N);
    char radius[64], how[64];
    int cluster[N], count[N];
    plx_cmat found, neighbours;
    for (int v = 0; v < VIEWS; v++)
        if (sparse) add_thin(d, ctx, names[v], PLX_VIEW_REAL, w->x[v], D, w->has[v]);
        else add_dense(d, ctx, names[v], PLX_VIEW_REAL, w->x[v], D, w->has[v]);
    snprintf(radius, sizeof radius, "eps=%.17g", eps);
    snprintf(how, sizeof how, "semantics=%s", semantics);
    plx_model *m =
        fit_model(ctx, "mrdbscan", d,
                  SETTINGS(radius, how, "scale=none", "minpts=6", cosine ? "metric=cosine" : "metric=euclid"));
    by_definition(cluster, count, w, needed, eps, cosine, 6);
    assert_int_equal(plx_model_array(&found, m, "cluster"), PLX_OK);
    assert_int_equal(plx_model_array(&neighbours, m, "neighbours"), PLX_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal((int)neighbours.data[i], count[i]);
        assert_int_equal((int)found.data[i], cluster[i]);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Radii from a few neighbours each to nearly everybody (more than 128 on average: the second pass). */
static void agrees_with_the_definition(void **state)
{
    (void)state;
    static const struct {
        const char *semantics;
        int needed;
    } kinds[] = {{"union", 1}, {"majority", 0}, {"intersection", VIEWS}, {"atleast:2", 2}};
    static const double radii[] = {0.3, 0.8, 1.5, 4.0};
    static world w;
    for (int missing = 0; missing < 2; missing++) {
        make_world(&w, 6, 0.3 * missing);
        for (int k = 0; k < 4; k++)
            for (int r = 0; r < 4; r++)
                for (int sparse = 0; sparse < 2; sparse++)
                    compare(&w, kinds[k].semantics, kinds[k].needed, radii[r], false, sparse, 1 + r);
        compare(&w, "majority", 0, 0.05, true, false, 2);
        compare(&w, "union", 1, 0.4, true, true, 2);
    }
}

/* Whole numbers far from the origin: neighbours lie exactly at the radius, and products in single precision cannot tell. */
static void decides_at_the_radius_by_the_distance(void **state)
{
    (void)state;
    static world w;
    for (int v = 0; v < VIEWS; v++)
        for (int i = 0; i < N; i++) {
            w.has[v][i] = v == i % VIEWS || (i + v) % 4 > 0;
            for (int j = 0; j < D; j++) w.x[v][i * D + j] = (i % 2 ? 3e5 : -1e6) + (i / 2 * (7 + 4 * j + v)) % 9;
        }
    for (int eps = 1; eps < 4; eps++) {
        compare(&w, "union", 1, eps, false, false, 2);
        compare(&w, "majority", 0, eps, false, false, 3);
        compare(&w, "intersection", VIEWS, eps, false, false, 1);
    }
}

/* A zero row is at cosine distance 1 of everything, other zero rows included. */
static void zero_rows_under_cosine(void **state)
{
    (void)state;
    static world w;
    make_world(&w, 6, 0.2);
    for (int v = 0; v < VIEWS; v++)
        for (int i = v; i < N; i += 5)
            for (int j = 0; j < D; j++) w.x[v][i * D + j] = 0;
    compare(&w, "majority", 0, 0.1, true, false, 2);
    compare(&w, "union", 1, 1.0, true, false, 2);
    compare(&w, "intersection", VIEWS, 1.5, true, false, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(decides_at_the_radius_by_the_distance),
        cmocka_unit_test(zero_rows_under_cosine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
