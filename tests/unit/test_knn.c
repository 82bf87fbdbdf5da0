#include "linalg_test.h"

#include "linalg/knn.h"

/* The definition: all distances directly, keys by printing 12 digits, insertion in order of index. */
static double key_of(double distance)
{
    char text[40];
    if (distance < 1e-12) return 0;
    snprintf(text, sizeof text, "%.11e", distance);
    return strtod(text, NULL);
}

typedef struct setting {
    plx_mat queries, references;
    plx__knn_options o;
} setting;

static double direct(setting *s, plx_index i, plx_index j)
{
    const double *x = s->queries.data + i * s->queries.ld, *z = s->references.data + j * s->references.ld;
    double dot = 0, nx = 0, nz = 0, sum = 0;
    for (plx_index c = 0; c < s->queries.cols; c++) {
        dot += x[c] * z[c];
        nx += x[c] * x[c];
        nz += z[c] * z[c];
        sum += (x[c] - z[c]) * (x[c] - z[c]);
    }
    if (s->o.metric == PLX__EUCLID) return sqrt(sum);
    return nx == 0 || nz == 0 ? 1.0 : 1.0 - dot / (sqrt(nx) * sqrt(nz));
}

static bool usable(setting *s, plx_index i, plx_index j)
{
    return (!s->o.present || s->o.present[j]) && !(s->o.self && i == j);
}

static plx_index brute_row(setting *s, plx_index i, plx_index *index, double *key)
{
    plx_index count = 0;
    const uint8_t *mask = s->o.self ? s->o.present : s->o.query_present;
    if (mask && !mask[i]) return 0;
    for (plx_index j = 0; j < s->references.rows; j++) {
        if (!usable(s, i, j)) continue;
        double k = key_of(direct(s, i, j));
        plx_index t = count < s->o.k ? count++ : s->o.k;
        if (t == s->o.k && !(k < key[t - 1])) continue;
        if (t == s->o.k) t--;
        for (; t > 0 && key[t - 1] > k; t--) {
            key[t] = key[t - 1];
            index[t] = index[t - 1];
        }
        key[t] = k;
        index[t] = j;
    }
    return count;
}

/* `slack`: where rounding may turn a tie of the definition, distances are compared instead of indices. */
static void check_knn(plx_context *ctx, setting *s, bool sparse, double slack)
{
    plx_index n = s->queries.rows, k = s->o.k, want[64];
    int64_t *index = calloc((size_t)(n * k), sizeof *index);
    double *distance = calloc((size_t)(n * k), sizeof *distance), key[64];
    plx__points q = plx__points_dense(plx__cmat(s->queries)), r = plx__points_dense(plx__cmat(s->references));
    plx_csr sq, sr;
    if (sparse) {
        assert_ok(ctx, plx__csr_from_dense(&sq, plx__scratch(ctx), plx__cmat(s->queries)));
        assert_ok(ctx, plx__csr_from_dense(&sr, plx__scratch(ctx), plx__cmat(s->references)));
        q = plx__points_csr(plx__ccsr(sq));
        r = plx__points_csr(plx__ccsr(sr));
    }
    assert_ok(ctx, plx__knn(ctx, q, s->o.self ? q : r, &s->o, index, distance));
    for (plx_index i = 0; i < n; i++) {
        plx_index count = brute_row(s, i, want, key);
        for (plx_index t = 0; t < k; t++) {
            if (t >= count) {
                assert_true(index[i * k + t] == -1 && isnan(distance[i * k + t]));
                continue;
            }
            if (slack == 0) assert_int_equal(index[i * k + t], want[t]);
            assert_true(usable(s, i, index[i * k + t]));
            assert_close(distance[i * k + t], direct(s, i, want[t]), 1e-11 * fmax(slack > 0 ? 1.0 : 0.1, key[t]));
        }
    }
    free(index);
    free(distance);
}

static setting self_setting(plx_mat m, plx_index k, plx__metric metric)
{
    setting s = {m, m, {.k = k, .metric = metric, .self = true}};
    return s;
}

static void random_points(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int metric = 0; metric < 2; metric++) {
        setting s = self_setting(test_mat(ctx, 700, 8, 1), 10, (plx__metric)metric);
        check_knn(ctx, &s, false, 0);
        check_knn(ctx, &s, true, 0);
        setting two = {test_mat(ctx, 90, 8, 2), test_mat(ctx, 1300, 8, 3), {.k = 5, .metric = (plx__metric)metric}};
        check_knn(ctx, &two, false, 0);
        check_knn(ctx, &two, true, 0);
    }
    plx_context_destroy(ctx);
}

/* Small integers: squared distances are exact and most of them tied, far more than a list can hold. */
static void ties_go_to_the_smaller_index(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_mat m = test_mat(ctx, 900, 3, 4);
    for (plx_index i = 0; i < 2700; i++) m.data[i] = rint(m.data[i]);
    setting s = self_setting(m, 7, PLX__EUCLID);
    check_knn(ctx, &s, false, 0);
    check_knn(ctx, &s, true, 0);
    s.o.metric = PLX__COSINE;
    check_knn(ctx, &s, false, 0);
    check_knn(ctx, &s, true, 0);
    plx__mat_fill(m, 1.0); /* all the same point */
    check_knn(ctx, &s, false, 0);
    s.o.metric = PLX__EUCLID;
    check_knn(ctx, &s, false, 0);
    plx_context_destroy(ctx);
}

/* Differences only in the 13th digit are ties; a point within 1e-12 is at distance 0. */
static void noise_below_the_key_is_a_tie(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {0, 1.0 + 3e-13, 1.0, 1.0 - 3e-13, 5e-13, -1.0};
    setting s = self_setting(plx__mat_of(x, 6, 1), 5, PLX__EUCLID);
    int64_t index[30];
    plx__points p = plx__points_dense(plx__cmat(s.queries));
    assert_ok(ctx, plx__knn(ctx, p, p, &s.o, index, NULL));
    assert_true(index[0] == 4 && index[1] == 1 && index[2] == 2 && index[3] == 3 && index[4] == 5);
    plx_context_destroy(ctx);
}

/* Far from the origin, huge, tiny, and with one outlier: the product formula alone would be noise. */
static void awkward_scales(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const double shift[] = {1e6, 0, 0, 0}, scale[] = {1e-3, 1e150, 1e-140, 1};
    for (int t = 0; t < 4; t++) {
        plx_mat m = test_mat(ctx, 400, 5, 6);
        for (plx_index i = 0; i < 2000; i++) m.data[i] = shift[t] + scale[t] * m.data[i];
        if (t == 3) m.data[77] = 1e12;
        setting s = self_setting(m, 4, PLX__EUCLID);
        if (t == 2) s.o.metric = PLX__COSINE; /* Euclidean distances would all be below 1e-12 */
        check_knn(ctx, &s, false, 0);
        if (t != 0) check_knn(ctx, &s, true, 0);
    }
    plx_context_destroy(ctx);
}

static void masks_and_short_supply(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    uint8_t present[700], queries[50];
    for (int i = 0; i < 700; i++) present[i] = i % 3 != 0;
    for (int i = 0; i < 50; i++) queries[i] = i % 4 != 0;
    plx_mat m = test_mat(ctx, 200, 4, 7);
    setting s = self_setting(m, 6, PLX__EUCLID);
    s.o.present = present;
    check_knn(ctx, &s, true, 0);
    m.data[0] = NAN; /* an absent row may hold anything */
    check_knn(ctx, &s, false, 0);
    plx_mat more = test_mat(ctx, 700, 4, 7); /* enough for blocks that meet in pairs */
    more.data[600 * 4] = NAN;
    setting pairs = self_setting(more, 6, PLX__EUCLID);
    pairs.o.present = present;
    check_knn(ctx, &pairs, false, 0);
    setting two = {
        test_mat(ctx, 50, 4, 8), test_mat(ctx, 200, 4, 9), {.k = 6, .present = present, .query_present = queries}};
    check_knn(ctx, &two, false, 0);
    setting few = self_setting(test_mat(ctx, 4, 3, 1), 9, PLX__EUCLID);
    check_knn(ctx, &few, false, 0);
    check_knn(ctx, &few, true, 0);
    setting lonely = self_setting(test_mat(ctx, 1, 3, 1), 2, PLX__COSINE);
    check_knn(ctx, &lonely, false, 0);
    plx_mat zeros;
    assert_ok(ctx, plx__arena_mat(&zeros, plx__scratch(ctx), 20, 3));
    zeros.data[10] = 1;
    setting z = self_setting(zeros, 3, PLX__COSINE); /* zero rows: distance 1 to everything */
    check_knn(ctx, &z, false, 0);
    check_knn(ctx, &z, true, 0);
    plx_context_destroy(ctx);
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { N = 1500, K = 8 };
    static int64_t index[2][N * K];
    static double distance[2][N * K];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_mat m = test_mat(ctx, N, 12, 1);
        plx__points p = plx__points_dense(plx__cmat(m));
        plx__knn_options o = {.k = K, .self = true};
        assert_ok(ctx, plx__knn(ctx, p, p, &o, index[t > 0], distance[t > 0]));
        plx_context_destroy(ctx);
        if (t) assert_memory_equal(index[0], index[1], sizeof index[0]);
        if (t) assert_memory_equal(distance[0], distance[1], sizeof distance[0]);
    }
}

static plx_status many_allocations(plx_context *ctx)
{
    double x[] = {0, 1, 3, 7, 9, 2};
    int64_t index[3];
    plx__points p = plx__points_dense(plx__cmat_of(x, 3, 2));
    plx_csr s;
    plx__knn_options o = {.k = 1, .self = true}, other = {.k = 1, .metric = PLX__COSINE};
    PLX_TRY(plx__csr_from_dense(&s, plx__scratch(ctx), p.dense));
    PLX_TRY(plx__knn(ctx, p, p, &o, index, NULL));
    PLX_TRY(plx__knn(ctx, p, p, &other, index, NULL));
    return plx__knn(ctx, plx__points_csr(plx__ccsr(s)), plx__points_csr(plx__ccsr(s)), &other, index, NULL);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),
        cmocka_unit_test(ties_go_to_the_smaller_index),
        cmocka_unit_test(noise_below_the_key_is_a_tie),
        cmocka_unit_test(awkward_scales),
        cmocka_unit_test(masks_and_short_supply),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
