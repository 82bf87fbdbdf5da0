#include "linalg_test.h"

#include "linalg/distance.h"

/* Long double sum, rounded once. */
static double exact_dist_sq(plx_mat a, plx_index i, plx_mat b, plx_index j)
{
    long double sum = 0;
    for (plx_index c = 0; c < a.cols; c++) {
        long double d = (long double)at(a, i, c) - (long double)at(b, j, c);
        sum += d * d;
    }
    return (double)sum;
}

/* Clusters of nearly equal rows far from the origin: |x|^2 + |z|^2 - 2 x.z alone would lose everything. */
static plx_mat awkward_rows(plx_context *ctx, plx_index rows, plx_index cols, int stream)
{
    plx_mat m = test_mat(ctx, rows, cols, stream);
    for (plx_index i = 0; i < rows; i++)
        for (plx_index c = 0; c < cols; c++) {
            double noise = at(m, i, c);
            m.data[i * cols + c] = i % 3 == 0   ? noise
                                   : i % 3 == 1 ? 1000.0 + noise * 1e-5
                                                : 3.0 * (double)(i % 5) + 1e-9 * noise;
        }
    return m;
}

static void check_accuracy(plx_context *ctx, plx_index cols, bool sparse)
{
    plx_mat a = awkward_rows(ctx, 60, cols, 1), b = awkward_rows(ctx, 45, cols, 2), d = test_mat(ctx, 60, 45, 3);
    for (plx_index c = 0; c < cols; c++) b.data[7 * cols + c] = a.data[8 * cols + c];
    plx__points pa = plx__points_dense(plx__cmat(a)), pb = plx__points_dense(plx__cmat(b));
    if (sparse) {
        plx_csr sa, sb;
        for (plx_index i = 0; i < 60 * cols; i += 3) a.data[i] = 0;
        for (plx_index i = 0; i < 45 * cols; i += 4) b.data[i] = 0;
        assert_ok(ctx, plx__csr_from_dense(&sa, plx__scratch(ctx), plx__cmat(a)));
        assert_ok(ctx, plx__csr_from_dense(&sb, plx__scratch(ctx), plx__cmat(b)));
        pa = plx__points_csr(plx__ccsr(sa));
        pb = plx__points_csr(plx__ccsr(sb));
    }
    assert_ok(ctx, plx__dist_sq_matrix(ctx, pa, pb, d));
    for (plx_index i = 0; i < 60; i++)
        for (plx_index j = 0; j < 45; j++) {
            double want = exact_dist_sq(a, i, b, j);
            assert_close(at(d, i, j), want, 1e-12 * want);
            assert_close(plx__point_distance(pa, i, pb, j, PLX__EUCLID), sqrt(want), 1e-12 * sqrt(want));
        }
    if (!sparse) assert_true(at(d, 8, 7) == 0.0);
}

static void squared_distances_keep_twelve_digits(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    check_accuracy(ctx, 3, false);
    check_accuracy(ctx, 200, false);
    check_accuracy(ctx, 3000, false);
    check_accuracy(ctx, 100, true);
    plx_context_destroy(ctx);
}

static void self_distances_are_symmetric(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_mat a = test_mat(ctx, 150, 20, 1), d = test_mat(ctx, 150, 150, 2);
    plx__points p = plx__points_dense(plx__cmat(a));
    assert_ok(ctx, plx__dist_sq_matrix(ctx, p, p, d));
    for (plx_index i = 0; i < 150; i++)
        for (plx_index j = 0; j <= i; j++) assert_true(at(d, i, j) == at(d, j, i) && (i != j || at(d, i, i) == 0));
    plx_context_destroy(ctx);
}

/* (3,4) and (4,3): cos = 24/25. A zero row has cosine 0 with everything, itself included. */
static void cosines(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {3, 4, 4, 3, 0, 0, 6, 8, -3, -4}, c[25];
    plx__points p = plx__points_dense(plx__cmat_of(x, 5, 2));
    plx_csr s;
    assert_ok(ctx, plx__csr_from_dense(&s, plx__scratch(ctx), plx__cmat_of(x, 5, 2)));
    for (int t = 0; t < 2; t++) {
        if (t) p = plx__points_csr(plx__ccsr(s));
        assert_ok(ctx, plx__cosine_matrix(ctx, p, p, plx__mat_of(c, 5, 5)));
        assert_close(c[1], 0.96, 1e-15);
        assert_close(c[3], 1.0, 1e-15);
        assert_close(c[4], -1.0, 1e-15);
        assert_true(c[2] == 0 && c[12] == 0 && c[3] <= 1.0);
        assert_close(plx__point_distance(p, 0, p, 1, PLX__COSINE), 0.04, 1e-15);
        assert_close(plx__point_distance(p, 0, p, 3, PLX__COSINE), 0.0, 1e-30);
        assert_close(plx__point_distance(p, 0, p, 4, PLX__COSINE), 2.0, 1e-15);
        assert_true(plx__point_distance(p, 2, p, 2, PLX__COSINE) == 1.0);
        assert_true(plx__point_distance(p, 0, p, 4, PLX__EUCLID) == 10.0);
    }
    plx_context_destroy(ctx);
}

static void keys_round_to_twelve_digits(void **state)
{
    (void)state;
    assert_true(plx__distance_key(9.9e-13) == 0.0);
    assert_true(plx__distance_key(0.0) == 0.0);
    assert_true(plx__distance_key(1.0) == 1.0);
    assert_true(plx__distance_key(0.1) == 0.1);
    assert_true(plx__distance_key(1.0 + 4e-12) == 1.0);
    assert_true(plx__distance_key(1.0 + 6e-12) == 1.00000000001);
    assert_true(plx__distance_key(123456789012.4) == 123456789012.0);
    assert_true(plx__distance_key(0.99999999999951) == 1.0);
    assert_true(plx__distance_key(1234567890123456.0) == 1234567890120000.0);
    assert_true(plx__distance_key(1e300 * (1 + 1e-13)) == plx__distance_key(1e300));
    assert_true(plx__distance_key(1.23456789012345e-7) == 1.23456789012e-7);
    for (int i = 1; i < 2000; i++) { /* monotone */
        double a = exp(i * 0.02 - 20), b = a * (1 + 1e-12);
        assert_true(plx__distance_key(a) <= plx__distance_key(b));
    }
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Straight from the definition, in long double where it matters. */
static double exact_distance(plx_mat m, plx_index i, plx_index j, plx__metric metric)
{
    if (metric == PLX__EUCLID) return sqrt(exact_dist_sq(m, i, m, j));
    long double xz = 0, xx = 0, zz = 0;
    for (plx_index c = 0; c < m.cols; c++) {
        long double x = at(m, i, c), z = at(m, j, c);
        xz += x * z, xx += x * x, zz += z * z;
    }
    return xx > 0 && zz > 0 ? (double)(1.0L - xz / sqrtl(xx * zz)) : 1.0;
}

static void check_pairs(plx_context *ctx, plx_mat m, const uint8_t *present, bool sparse, plx__metric metric)
{
    double *all = malloc((size_t)(m.rows * m.rows) * sizeof *all), got = 0, sum = 0;
    plx_index count = 0;
    for (plx_index i = 0; i < m.rows; i++)
        for (plx_index j = i + 1; j < m.rows; j++)
            if (!present || (present[i] && present[j])) sum += all[count++] = exact_distance(m, i, j, metric);
    qsort(all, (size_t)count, sizeof *all, compare);
    double want[] = {sum / (double)count, count % 2 ? all[count / 2] : 0.5 * (all[count / 2 - 1] + all[count / 2]),
                     all[count - 1]};
    plx_csr s;
    assert_ok(ctx, plx__csr_from_dense(&s, plx__scratch(ctx), plx__cmat(m)));
    plx__points p = sparse ? plx__points_csr(plx__ccsr(s)) : plx__points_dense(plx__cmat(m));
    for (plx__pair_statistic k = PLX__PAIR_MEAN; k <= PLX__PAIR_MAX; k++) {
        assert_ok(ctx, plx__pair_distance(ctx, p, present, metric, k, &got, "view 'x'"));
        assert_close(got, want[k], 1e-12 * want[k] + 1e-16);
    }
    free(all);
}

static void check_median(plx_context *ctx, plx_mat m, const uint8_t *present, bool sparse)
{
    check_pairs(ctx, m, present, sparse, PLX__EUCLID);
    check_pairs(ctx, m, present, sparse, PLX__COSINE);
}

static void median_is_exact(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    uint8_t present[300];
    for (int i = 0; i < 300; i++) present[i] = i % 7 != 0;
    for (plx_index n = 2; n < 9; n++) check_median(ctx, test_mat(ctx, n, 3, (int)n), NULL, n % 2);
    check_median(ctx, test_mat(ctx, 300, 4, 1), present, false);
    check_median(ctx, test_mat(ctx, 300, 4, 1), present, true);
    plx_mat integers = test_mat(ctx, 200, 2, 2); /* many ties */
    for (plx_index i = 0; i < 400; i++) integers.data[i] = rint(integers.data[i]);
    check_median(ctx, integers, NULL, false);
    plx__mat_fill(integers, 2.5);
    check_median(ctx, integers, NULL, false);
    double got;
    uint8_t one[300] = {0, 1};
    assert_fails(ctx,
                 plx__pair_distance(ctx, plx__points_dense(plx__cmat(integers)), one, PLX__EUCLID, PLX__PAIR_MEDIAN,
                                    &got, "view 'x'"),
                 PLX_E_DATA, "view 'x' has fewer than two rows");
    plx_context_destroy(ctx);
}

/* More than the values one pass may collect: 2,300 rows give 2.6 million pairs, half of them equal. */
static void median_of_many_pairs(void **state)
{
    (void)state;
    double value[3];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_mat m = test_mat(ctx, 2300, 1, 5);
        for (plx_index i = 0; i < 2300; i++) m.data[i] = i < 2200 ? (double)(i % 2) : 50.0 + at(m, i, 0);
        assert_ok(ctx, plx__pair_distance(ctx, plx__points_dense(plx__cmat(m)), NULL, PLX__EUCLID, PLX__PAIR_MEDIAN,
                                          &value[t], "x"));
        assert_true(value[t] == 1.0); /* 1,208,900 zeros, 1,210,000 ones, 224,950 larger: the middle is a one */
        plx_context_destroy(ctx);
    }
}

/* Two million equal distances and more: every bit is settled by counting, nothing is collected. */
static void median_of_equal_pairs(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_mat m = test_mat(ctx, 3000, 1, 5);
    double median = 0;
    for (plx_index i = 0; i < 3000; i++) m.data[i] = i % 2 ? 0.3 : 0.0;
    assert_ok(ctx, plx__pair_distance(ctx, plx__points_dense(plx__cmat(m)), NULL, PLX__EUCLID, PLX__PAIR_MEDIAN,
                                      &median, "x"));
    assert_close(median, 0.3, 1e-15); /* 2,248,500 zeros, 2,250,000 of 0.3: ranks 2,249,249 and 2,249,250 */
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    double x[] = {0, 1, 3, 7, 9, 2}, d[9], median;
    uint8_t present[] = {1, 1, 1};
    plx__points p = plx__points_dense(plx__cmat_of(x, 3, 2));
    plx_csr s;
    PLX_TRY(plx__csr_from_dense(&s, plx__scratch(ctx), p.dense));
    PLX_TRY(plx__dist_sq_matrix(ctx, p, p, plx__mat_of(d, 3, 3)));
    PLX_TRY(
        plx__pair_distance(ctx, plx__points_csr(plx__ccsr(s)), present, PLX__EUCLID, PLX__PAIR_MEDIAN, &median, "x"));
    return plx__pair_distance(ctx, p, present, PLX__EUCLID, PLX__PAIR_MEDIAN, &median, "x");
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squared_distances_keep_twelve_digits),
        cmocka_unit_test(self_distances_are_symmetric),
        cmocka_unit_test(cosines),
        cmocka_unit_test(keys_round_to_twelve_digits),
        cmocka_unit_test(median_is_exact),
        cmocka_unit_test(median_of_many_pairs),
        cmocka_unit_test(median_of_equal_pairs),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
