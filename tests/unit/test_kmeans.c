/* Deterministic k-means against a plain reading of its rules, without bounds or threads; invariances; bad input. */
#include "plx_test.h"

#include "core/rng.h"
#include "cluster/kmeans.h"

enum { N = 40, D = 3, K = 4 };

static double decimals(double x) { return nearbyint(x * 1e12) / 1e12; }

static double square(const double *a, const double *b, int d)
{
    double s = 0;
    for (int j = 0; j < d; j++) s += (a[j] - b[j]) * (a[j] - b[j]);
    return s;
}

static double cosine(const double *a, const double *b, int d)
{
    double ab = 0, aa = 0, bb = 0;
    for (int j = 0; j < d; j++) ab += a[j] * b[j], aa += a[j] * a[j], bb += b[j] * b[j];
    return aa > 0 && bb > 0 ? fabs(ab) / (sqrt(aa) * sqrt(bb)) : 1;
}

/* ---- the rules, word by word ---- */

static void plain_start(double *centres, const double *x, int n, int d, int k, int first, int orthogonal)
{
    int chosen[16] = {first};
    for (int c = 1; c < k; c++) {
        double best = 0;
        int at = -1;
        for (int i = 0; i < n; i++) {
            double value = orthogonal ? 0 : INFINITY;
            for (int j = 0; j < c; j++)
                value = orthogonal ? fmax(value, cosine(x + i * d, x + chosen[j] * d, d))
                                   : fmin(value, square(x + i * d, x + chosen[j] * d, d));
            value = decimals(value);
            if (at < 0 || (orthogonal ? value < best : value > best)) best = value, at = i;
        }
        chosen[c] = at;
    }
    for (int c = 0; c < k; c++) memcpy(centres + c * d, x + chosen[c] * d, (size_t)d * sizeof *x);
}

static void plain_fill(int *label, const double *x, const double *centres, int n, int d, int k)
{
    int moved[N] = {0};
    for (int c = 0; c < k; c++) {
        int members = 0, at = -1;
        double most = 0;
        for (int i = 0; i < n; i++) members += label[i] == c;
        if (members) continue;
        for (int i = 0; i < n; i++) {
            double far = decimals(square(x + i * d, centres + label[i] * d, d));
            if (!moved[i] && (at < 0 || far > most)) most = far, at = i;
        }
        label[at] = c;
        moved[at] = 1;
    }
}

static double plain_lloyd(int *label, double *centres, const double *x, int n, int d, int k)
{
    int before[N];
    for (int round = 0; round < 300; round++) {
        memcpy(before, label, sizeof(int) * (size_t)n);
        for (int i = 0; i < n; i++) {
            double best = INFINITY;
            for (int c = 0; c < k; c++) {
                double s = decimals(square(x + i * d, centres + c * d, d));
                if (s < best) best = s, label[i] = c;
            }
        }
        plain_fill(label, x, centres, n, d, k);
        if (round && memcmp(before, label, sizeof(int) * (size_t)n) == 0) break;
        for (int c = 0; c < k; c++) {
            double sum[8] = {0};
            int count = 0;
            for (int i = 0; i < n; i++)
                for (int j = 0; label[i] == c && j < d; j++) sum[j] += x[i * d + j], count += j == 0;
            for (int j = 0; count && j < d; j++) centres[c * d + j] = sum[j] / count;
        }
    }
    double inertia = 0;
    for (int i = 0; i < n; i++) inertia += square(x + i * d, centres + label[i] * d, d);
    return inertia;
}

static double plain_kmeans(int *best, const double *x, int n, int d, int k)
{
    int starts = n < 10 ? n : 10, label[N], map[16], next = 0;
    double least = INFINITY, centres[16 * 8];
    for (int q = 0; q < starts; q++)
        for (int rule = 0; rule < 2; rule++) {
            plain_start(centres, x, n, d, k, q * n / starts, rule == 0);
            double inertia = plain_lloyd(label, centres, x, n, d, k);
            if (isfinite(least) && !(inertia < least - 1e-12 * fmax(1, least))) continue;
            least = inertia;
            memcpy(best, label, sizeof(int) * (size_t)n);
        }
    for (int c = 0; c < k; c++) map[c] = -1;
    for (int i = 0; i < n; i++) {
        if (map[best[i]] < 0) map[best[i]] = next++;
        best[i] = map[best[i]];
    }
    return least;
}

/* ---- comparisons ---- */

static void draw(double *x, uint64_t seed, int grid)
{
    plx__rng rng = plx__rng_start(seed, 6);
    for (int i = 0; i < N * D; i++) {
        double v = plx__next_normal(&rng) + 2 * ((i / D) % K == i % D);
        x[i] = grid ? nearbyint(v) : v;
    }
}

static plx__kmeans_result run(plx_context *ctx, const double *x, int n, int d, int k)
{
    plx__kmeans_result r;
    plx__kmeans_options o = {.k = k};
    assert_ok(ctx, plx__kmeans(&r, ctx, (plx_cmat){x, n, d, d}, &o));
    return r;
}

/* Real values, and whole numbers with ties and repeated rows. */
static void follows_the_rules(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (uint64_t seed = 1; seed < 40; seed++) {
        double x[N * D];
        int expected[N];
        draw(x, seed, seed % 2 == 0);
        for (int k = 1; k <= 6; k += 1) {
            double inertia = plain_kmeans(expected, x, N, D, k);
            plx__kmeans_result r = run(ctx, x, N, D, k);
            assert_close(r.inertia, inertia, 1e-10);
            for (int i = 0; i < N; i++) assert_int_equal(r.label[i], expected[i]);
            assert_true(r.converged);
        }
    }
    plx_context_destroy(ctx);
}

/* Three distinct rows in five clusters: the empty-cluster rule makes every cluster non-empty. */
static void fewer_rows_than_clusters(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {0, 0, 1, 1, 5, 0, 0, 0, 1, 1, 5, 0, 0, 0};
    int expected[7], seen[5] = {0};
    double inertia = plain_kmeans(expected, x, 7, 2, 5);
    plx__kmeans_result r = run(ctx, x, 7, 2, 5);
    assert_close(r.inertia, inertia, 1e-12);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(r.label[i], expected[i]);
        seen[r.label[i]] = 1;
    }
    for (int c = 0; c < 5; c++) assert_int_equal(seen[c], 1);
    assert_int_equal(r.label[0], 0);
    plx_context_destroy(ctx);
}

/* A rotation and a change of sign of the embedding change nothing. */
static void rotations_do_not_matter(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[N * D], y[N * D], c = cos(0.7), s = sin(0.7);
    draw(x, 5, 0);
    for (int i = 0; i < N; i++) {
        y[i * D] = c * x[i * D] - s * x[i * D + 1];
        y[i * D + 1] = -(s * x[i * D] + c * x[i * D + 1]);
        y[i * D + 2] = x[i * D + 2];
    }
    plx__kmeans_result a = run(ctx, x, N, D, K), b = run(ctx, y, N, D, K);
    assert_close(a.inertia, b.inertia, 1e-9);
    assert_memory_equal(a.label, b.label, N * sizeof *a.label);
    plx_context_destroy(ctx);
}

/* More rows than a chunk: the bounds and the chunks agree with the plain nearest centre, for every number of threads. */
static void large_and_threaded(void **state)
{
    (void)state;
    enum { BIG = 9000, DIM = 4, GROUPS = 7 };
    double *x = calloc(BIG * DIM, sizeof *x);
    plx__rng rng = plx__rng_start(3, 7);
    for (int i = 0; i < BIG * DIM; i++) x[i] = plx__next_normal(&rng) + ((i / DIM) % GROUPS) * ((i % DIM) - 1.5);
    plx_context *one = test_context(1), *many = test_context(3);
    plx__kmeans_result a = run(one, x, BIG, DIM, GROUPS), b = run(many, x, BIG, DIM, GROUPS);
    assert_memory_equal(a.label, b.label, BIG * sizeof *a.label);
    assert_memory_equal(a.centres.data, b.centres.data, GROUPS * DIM * sizeof(double));
    assert_memory_equal(&a.inertia, &b.inertia, sizeof a.inertia);
    for (int i = 0; i < BIG; i++) assert_int_equal(a.label[i], plx__nearest_centre(x + i * DIM, plx__cmat(a.centres)));
    plx_context_destroy(one);
    plx_context_destroy(many);
    free(x);
}

static void other_starts(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[N * D];
    draw(x, 8, 0);
    plx__kmeans_result all = run(ctx, x, N, D, K), r, again;
    plx__kmeans_options o = {.k = K, .init = PLX__KMEANS_PLUSPLUS, .restarts = 20};
    assert_ok(ctx, plx__kmeans(&r, ctx, (plx_cmat){x, N, D, D}, &o));
    assert_ok(ctx, plx__kmeans(&again, ctx, (plx_cmat){x, N, D, D}, &o));
    assert_memory_equal(r.label, again.label, N * sizeof *r.label);
    assert_true(r.inertia < 1.2 * all.inertia);
    o = (plx__kmeans_options){.k = K, .init = PLX__KMEANS_CENTRES, .centres = plx__cmat(all.centres)};
    assert_ok(ctx, plx__kmeans(&r, ctx, (plx_cmat){x, N, D, D}, &o));
    assert_memory_equal(r.label, all.label, N * sizeof *r.label);
    assert_int_equal(r.iterations, 2);
    plx_context_destroy(ctx);
}

static void bad_input(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {1, 2, 3};
    plx__kmeans_result r;
    plx__kmeans_options o = {.k = 4};
    assert_fails(ctx, plx__kmeans(&r, ctx, (plx_cmat){x, 3, 1, 1}, &o), PLX_E_ARG, "4 clusters of 3");
    o.k = 0;
    assert_fails(ctx, plx__kmeans(&r, ctx, (plx_cmat){x, 3, 1, 1}, &o), PLX_E_ARG, "0 clusters");
    plx_context_destroy(ctx);
}

static void survives_every_allocation_failure(void **state)
{
    (void)state;
    double x[N * D];
    plx_status st = PLX_E_NOMEM;
    draw(x, 2, 0);
    for (long at = 1; st != PLX_OK; at++) {
        meter m = {0, at, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx__kmeans_result r;
        plx__kmeans_options o = {.k = K};
        st = plx__kmeans(&r, ctx, (plx_cmat){x, N, D, D}, &o);
        assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        assert_true(at < 10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_rules),
        cmocka_unit_test(fewer_rows_than_clusters),
        cmocka_unit_test(rotations_do_not_matter),
        cmocka_unit_test(large_and_threaded),
        cmocka_unit_test(other_starts),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
