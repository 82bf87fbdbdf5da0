#include <float.h>

#include "linalg_test.h"

#include "linalg/blas.h"
#include "linalg/blas_library.h"
#include "linalg/factor.h"

/* ---- products ---- */

static double ref_gemm(plx_mat a, plx__trans ta, plx_mat b, plx__trans tb, plx_index i, plx_index j)
{
    plx_index inner = ta == PLX__N ? a.cols : a.rows;
    double sum = 0;
    for (plx_index k = 0; k < inner; k++)
        sum += (ta == PLX__N ? at(a, i, k) : at(a, k, i)) * (tb == PLX__N ? at(b, k, j) : at(b, j, k));
    return sum;
}

static void check_gemm(plx_context *ctx, plx_index m, plx_index n, plx_index k, plx__trans ta, plx__trans tb)
{
    plx_mat a = ta == PLX__N ? test_mat(ctx, m, k, 1) : test_mat(ctx, k, m, 1);
    plx_mat b = tb == PLX__N ? test_mat(ctx, k, n, 2) : test_mat(ctx, n, k, 2);
    plx_mat wide = test_mat(ctx, m, n + 3, 3), before = test_mat(ctx, m, n + 3, 3);
    plx_mat c = plx__sub(wide, 0, 1, m, n);
    assert_ok(ctx, plx__gemm(ctx, 2.0, plx__cmat(a), ta, plx__cmat(b), tb, -0.5, c));
    for (plx_index i = 0; i < m; i += 1 + m / 40) {
        for (plx_index j = 0; j < n; j += 1 + n / 40)
            assert_close(at(c, i, j), 2.0 * ref_gemm(a, ta, b, tb, i, j) - 0.5 * at(before, i, j + 1),
                         1e-11 * (double)(k + 1));
        assert_true(at(wide, i, 0) == at(before, i, 0) && at(wide, i, n + 1) == at(before, i, n + 1));
    }
}

static void gemm_agrees_with_the_definition(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index shapes[][3] = {{1, 1, 1},      {3, 5, 7},      {64, 200, 40},
                                          {500, 130, 70}, {130, 900, 40}, {20, 30, 5000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int t = 0; t < 4; t++) {
            plx__mark mark = plx__arena_mark(plx__scratch(ctx));
            check_gemm(ctx, shapes[s][0], shapes[s][1], shapes[s][2], (plx__trans)(t & 1), (plx__trans)(t >> 1));
            plx__arena_rewind(plx__scratch(ctx), mark);
        }
    plx_context_destroy(ctx);
}

/* One vector goes another way than a matrix. */
static void products_with_one_vector_agree(void **state)
{
    static const plx_index shapes[][2] = {{37, 21}, {1, 700}, {700, 1}, {5, 3}};
    plx_context *ctx = test_context(2);
    (void)state;
    for (int s = 0; s < 4; s++)
        for (int t = 0; t < 4; t++) {
            plx_index m = shapes[s][0], k = shapes[s][1];
            plx__trans ta = (plx__trans)(t & 1), tx = (plx__trans)(t >> 1);
            plx_mat a = ta == PLX__N ? test_mat(ctx, m, k, 1) : test_mat(ctx, k, m, 1);
            plx_mat x = tx == PLX__N ? test_mat(ctx, k, 1, 2) : test_mat(ctx, 1, k, 2);
            plx_mat column = test_mat(ctx, m, 1, 3), row = test_mat(ctx, 1, m, 3), before = test_mat(ctx, m, 1, 3);
            plx__trans back = ta == PLX__N ? PLX__T : PLX__N, lying = tx == PLX__N ? PLX__T : PLX__N;
            assert_ok(ctx, plx__gemm(ctx, 2.0, plx__cmat(a), ta, plx__cmat(x), tx, -0.5, column));
            assert_ok(ctx, plx__gemm(ctx, 2.0, plx__cmat(x), lying, plx__cmat(a), back, 0, row));
            for (plx_index i = 0; i < m; i++) {
                double product = 2.0 * ref_gemm(a, ta, x, tx, i, 0);
                assert_close(at(column, i, 0), product - 0.5 * at(before, i, 0), 1e-11 * (double)(k + 1));
                assert_close(at(row, 0, i), product, 1e-11 * (double)(k + 1));
            }
        }
    plx_context_destroy(ctx);
}

/* Four rows together give the bytes of one after the other, whatever the length. */
static void four_rows_are_four_times_one(void **state)
{
    enum { LD = 45 };
    double rows[4 * LD], x[LD], one[LD], four[LD], a[4] = {0.3, -2, 1e-3, 7}, dots[4];
    plx__rng r = plx__rng_start(3, 3);
    (void)state;
    for (int i = 0; i < 4 * LD; i++) rows[i] = plx__next_normal(&r);
    for (int n = 0; n <= LD; n++) {
        for (int i = 0; i < LD; i++) x[i] = one[i] = four[i] = plx__next_normal(&r);
        plx__dot4(dots, rows, LD, x, n);
        plx__axpy4(four, a, rows, LD, n);
        for (int k = 0; k < 4; k++) {
            assert_true(dots[k] == plx__dot(rows + k * LD, x, n));
            plx__axpy(one, a[k], rows + k * LD, n);
        }
        assert_memory_equal(one, four, sizeof one);
    }
}

static void serial_gemm_agrees(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat a = test_mat(ctx, 40, 30, 1), b = test_mat(ctx, 20, 30, 2), c = test_mat(ctx, 40, 20, 3),
            before = test_mat(ctx, 40, 20, 3);
    assert_ok(ctx, plx__gemm_serial(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(b), PLX__T, 1.0, c));
    for (plx_index i = 0; i < 40; i++)
        for (plx_index j = 0; j < 20; j++)
            assert_close(at(c, i, j), ref_gemm(a, PLX__N, b, PLX__T, i, j) + at(before, i, j), 1e-12);
    plx_context_destroy(ctx);
}

static void gemm_without_inner_dimension_scales(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat c = test_mat(ctx, 2, 2, 1);
    double nan_c[] = {NAN, NAN, NAN, NAN};
    plx_cmat a = {NULL, 2, 0, 1}, b = {NULL, 0, 2, 2};
    double first = c.data[0];
    assert_ok(ctx, plx__gemm(ctx, 1.0, a, PLX__N, b, PLX__N, 2.0, c));
    assert_true(c.data[0] == 2 * first);
    assert_ok(ctx, plx__gemm(ctx, 1.0, a, PLX__N, b, PLX__N, 0.0, plx__mat_of(nan_c, 2, 2)));
    assert_true(nan_c[3] == 0.0);
    plx_context_destroy(ctx);
}

static void syrk_is_symmetric_and_right(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index shapes[][2] = {{3, 4}, {300, 70}, {70, 450}, {30, 9000}};
    for (size_t s = 0; s < 4; s++)
        for (int t = 0; t < 2; t++) {
            plx_index n = shapes[s][0], k = shapes[s][1];
            plx_mat a = t ? test_mat(ctx, k, n, 4) : test_mat(ctx, n, k, 4), c = test_mat(ctx, n, n, 5);
            assert_ok(ctx, plx__syrk(ctx, 1.5, plx__cmat(a), (plx__trans)t, 0.0, c));
            for (plx_index i = 0; i < n; i += 7)
                for (plx_index j = 0; j < n; j += 5) {
                    assert_true(at(c, i, j) == at(c, j, i));
                    assert_close(at(c, i, j), 1.5 * ref_gemm(a, (plx__trans)t, a, t ? PLX__N : PLX__T, i, j),
                                 1e-11 * (double)k);
                }
        }
    plx_context_destroy(ctx);
}

static void gemv_agrees_with_the_definition(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index shapes[][2] = {{5, 3}, {700, 600}, {20000, 20}};
    for (size_t s = 0; s < 3; s++)
        for (int t = 0; t < 2; t++) {
            plx_mat a = test_mat(ctx, shapes[s][0], shapes[s][1], 6), x = test_mat(ctx, 20000, 1, 7),
                    y = test_mat(ctx, 20000, 1, 8);
            plx_mat before = test_mat(ctx, 20000, 1, 8);
            plx_index n = t ? a.cols : a.rows, inner = t ? a.rows : a.cols;
            assert_ok(ctx, plx__gemv(ctx, 2.0, plx__cmat(a), (plx__trans)t, x.data, 0.5, y.data));
            for (plx_index i = 0; i < n; i += 11) {
                double sum = 0;
                for (plx_index k = 0; k < inner; k++) sum += (t ? at(a, k, i) : at(a, i, k)) * x.data[k];
                assert_close(y.data[i], 2.0 * sum + 0.5 * before.data[i], 1e-10);
            }
        }
    plx_context_destroy(ctx);
}

/* From the lower triangle alone, whatever the upper one holds; the same bytes for any number of threads. */
static void symv_agrees_with_gemv(void **state)
{
    (void)state;
    static const plx_index orders[] = {1, 3, 4, 5, 12, 37, 256, 259, 700};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        plx_index n = orders[o];
        plx_context *ctx = test_context(1), *three = test_context(3);
        plx_mat a = test_spd(ctx, n, 1.0, 6), x = test_mat(ctx, n, 1, 7), full = test_mat(ctx, n, 1, 8),
                half = test_mat(ctx, n, 1, 9), again = test_mat(ctx, n, 1, 10);
        assert_ok(ctx, plx__gemv(ctx, 1.0, plx__cmat(a), PLX__N, x.data, 0.0, full.data));
        for (plx_index i = 0; i < n; i++)
            for (plx_index j = i + 1; j < n; j++) a.data[i * a.ld + j] = NAN;
        assert_ok(ctx, plx__symv(ctx, plx__cmat(a), x.data, half.data));
        assert_ok(three, plx__symv(three, plx__cmat(a), x.data, again.data));
        for (plx_index i = 0; i < n; i++) assert_close(half.data[i], full.data[i], 1e-10 * (double)n);
        assert_memory_equal(half.data, again.data, (size_t)n * sizeof(double));
        plx_context_destroy(ctx);
        plx_context_destroy(three);
    }
}

/* Everything that is cut into tiles, in one buffer of bytes. */
static void all_products(plx_context *ctx, double *out)
{
    plx_mat a = test_mat(ctx, 700, 450, 1), b = test_mat(ctx, 450, 800, 2), c = plx__mat_of(out, 700, 800);
    plx_mat tall = test_mat(ctx, 20000, 30, 3), g = plx__mat_of(out + 560000, 30, 30);
    plx_mat s = test_spd(ctx, 420, 50.0, 4), inverse = plx__mat_of(out + 561000, 420, 420);
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(b), PLX__N, 0.0, c));
    assert_ok(ctx, plx__syrk(ctx, 1.0, plx__cmat(tall), PLX__T, 0.0, g));
    assert_ok(ctx, plx__cholesky(ctx, s, NULL));
    assert_ok(ctx, plx__chol_inverse(ctx, inverse, plx__cmat(s)));
    assert_ok(ctx, plx__chol_solve(ctx, plx__cmat(s), plx__sub(c, 0, 0, 420, 800)));
    assert_ok(ctx, plx__col_means(ctx, out + 737400, plx__cmat(tall)));
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { N = 737430 };
    double *first = calloc(N, sizeof *first), *other = calloc(N, sizeof *other);
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        all_products(ctx, t ? other : first);
        plx_context_destroy(ctx);
        if (t) assert_memory_equal(first, other, N * sizeof *first);
    }
    free(first);
    free(other);
}

static void thread_settings_are_put_back(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_mat a = test_mat(ctx, 300, 300, 1), c = test_mat(ctx, 300, 300, 2);
    int before = plx__blas_threads();
    plx__blas_set_threads(2);
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(a), PLX__N, 0.0, c));
    assert_int_equal(plx__blas_threads(), 2);
    plx__blas_scope outer = plx__blas_enter(), inner = plx__blas_enter();
    assert_int_equal(plx__blas_threads(), 1);
    plx__blas_leave(inner);
    assert_int_equal(plx__blas_threads(), 1);
    plx__blas_leave(outer);
    assert_int_equal(plx__blas_threads(), 2);
    plx__blas_set_threads(before);
    assert_fails(ctx, plx__blas_fits(ctx, 3, (plx_index)INT32_MAX + 1, 1), PLX_E_NOMEM, "too large");
    plx_context_destroy(ctx);
}

/* ---- vectors ---- */

static void vector_kernels_are_right(void **state)
{
    (void)state;
    double x[19], y[19], dot = 0, dist = 0;
    for (int i = 0; i < 19; i++) {
        x[i] = i + 1;
        y[i] = 3 - 2 * i;
        dot += x[i] * y[i];
        dist += (x[i] - y[i]) * (x[i] - y[i]);
    }
    assert_true(plx__dot(x, y, 19) == dot); /* small integers: exact in any order */
    assert_true(plx__dist_sq(x, y, 19) == dist);
    assert_close(plx__norm((double[]){3e200, 4e200}, 2) / 5e200, 1.0, 1e-15);
    assert_close(plx__norm((double[]){3e-200, 4e-200}, 2) * 1e200, 5.0, 1e-15);
    assert_true(plx__norm(x, 0) == 0.0);
    assert_true(plx__max_abs(y, 19) == 33.0);
    assert_true(isnan(plx__max_abs((double[]){1, NAN, 2}, 3)));
    assert_true(plx__all_finite(plx__cmat_of(x, 19, 1)));
    x[7] = INFINITY;
    assert_false(plx__all_finite(plx__cmat_of(x, 19, 1)));
}

static void transposes_move_every_entry(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat a = test_mat(ctx, 70, 41, 1), t = test_mat(ctx, 41, 70, 2), s = test_mat(ctx, 75, 75, 3),
            u = test_mat(ctx, 75, 75, 3);
    plx__mat_transpose(t, plx__cmat(a));
    for (plx_index i = 0; i < 70; i++)
        for (plx_index j = 0; j < 41; j++) assert_true(at(t, j, i) == at(a, i, j));
    plx__mat_transpose_square(s);
    for (plx_index i = 0; i < 75; i++)
        for (plx_index j = 0; j < 75; j++) assert_true(at(s, j, i) == at(u, i, j));
    plx__mirror_lower(u);
    for (plx_index i = 0; i < 75; i++)
        for (plx_index j = 0; j < i; j++) assert_true(at(u, i, j) == at(s, j, i) && at(u, j, i) == at(s, j, i));
    plx_context_destroy(ctx);
}

/* Rows and columns of a doubly centred matrix sum to zero; the constant matrix becomes zero. */
static void double_centring_removes_means(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_mat k = test_spd(ctx, 90, 0.0, 1);
    double means[90], grand = 0, third = 0;
    for (int i = 0; i < 90; i++) third += at(k, 2, i) / 90;
    assert_ok(ctx, plx__double_centre(ctx, k, means, &grand));
    assert_close(means[2], third, 1e-12);
    for (plx_index i = 0; i < 90; i++) {
        double sum = 0;
        for (plx_index j = 0; j < 90; j++) {
            sum += at(k, i, j);
            assert_true(at(k, i, j) == at(k, j, i));
        }
        assert_close(sum, 0.0, 1e-10);
    }
    plx_context_destroy(ctx);
}

/* ---- Cholesky and solves ---- */

static void check_factor(plx_context *ctx, plx_index n)
{
    plx_mat a = test_spd(ctx, n, 1.0, 9), l;
    assert_ok(ctx, plx__mat_clone(&l, plx__scratch(ctx), plx__cmat(a)));
    plx__bad_pivot bad;
    assert_ok(ctx, plx__cholesky(ctx, l, &bad));
    assert_int_equal(bad.index, -1);
    for (plx_index i = 0; i < n; i += 1 + n / 30)
        for (plx_index j = 0; j < n; j += 1 + n / 30) {
            double sum = 0;
            for (plx_index k = 0; k < n; k++) sum += at(l, i, k) * at(l, j, k);
            assert_close(sum, at(a, i, j), 1e-10 * (double)n);
            if (j > i) assert_true(at(l, i, j) == 0.0);
        }
}

static void cholesky_reconstructs(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index sizes[] = {0, 1, 2, 50, 384, 385, 650};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check_factor(ctx, sizes[s]);
    plx_context_destroy(ctx);
}

/* diag(4, 1, -2, ...): the pivot that fails is known. Inside the second panel too. */
static void cholesky_tells_the_bad_pivot(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index places[] = {0, 2, 399, 500};
    for (int t = 0; t < 4; t++) {
        plx_mat a;
        plx__bad_pivot bad;
        assert_ok(ctx, plx__arena_mat(&a, plx__scratch(ctx), 600, 600));
        plx__mat_add_diag(a, 4.0);
        a.data[places[t] * 601] = -2.0;
        assert_int_equal(plx__cholesky(ctx, a, &bad), PLX_E_NUMERIC);
        assert_string_equal(plx_context_error(ctx), "");
        assert_int_equal(bad.index, places[t]);
        assert_close(bad.value, -2.0, 1e-15);
    }
    double nan_matrix[] = {1, NAN, NAN, 1};
    plx__bad_pivot bad;
    assert_int_equal(plx__cholesky(ctx, plx__mat_of(nan_matrix, 2, 2), &bad), PLX_E_NUMERIC);
    assert_int_equal(bad.index, 1);
    plx_context_destroy(ctx);
}

/* [[1,1],[1,1-t]]: the second pivot is -t; the first step eps * trace/2 (about eps) that exceeds t/2 helps. */
static void jitter_follows_the_ladder(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static const double dip[] = {0.0, 3e-12, 3e-9, 3e-7}, want[] = {1e-12, 1e-11, 1e-8, 1e-6};
    double used = -1;
    for (int t = 0; t < 4; t++) {
        double a[] = {1, 1, 1, 1 - dip[t]};
        assert_ok(ctx, plx__cholesky_jitter(ctx, plx__mat_of(a, 2, 2), &used, "m", NULL, NULL));
        assert_true(used == want[t]);
        assert_close(a[0], sqrt(1 + want[t]), 1e-13);
        assert_true(a[1] == 0.0);
    }
    double good[] = {4, 2, 2, 5};
    assert_ok(ctx, plx__cholesky_jitter(ctx, plx__mat_of(good, 2, 2), &used, "m", NULL, NULL));
    assert_true(used == 0 && good[0] == 2 && good[2] == 1 && good[3] == 2);
    double bad[] = {1, 2, 2, 1};
    plx_index samples[] = {7, 11};
    assert_fails(ctx,
                 plx__cholesky_jitter(ctx, plx__mat_of(bad, 2, 2), &used, "gp: matrix for view 'text'", samples, NULL),
                 PLX_E_NUMERIC,
                 "gp: matrix for view 'text' is not positive definite (smallest pivot -3 at sample 11); increase");
    plx_context_destroy(ctx);
}

static void solves_invert(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_index n = 210, m = 130;
    plx_mat a = test_spd(ctx, n, 5.0, 1), l, x = test_mat(ctx, n, m, 2), b = test_mat(ctx, n, m, 3),
            inverse = test_mat(ctx, n, n, 4);
    assert_ok(ctx, plx__mat_clone(&l, plx__scratch(ctx), plx__cmat(a)));
    assert_ok(ctx, plx__cholesky(ctx, l, NULL));
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(x), PLX__N, 0.0, b));
    assert_ok(ctx, plx__chol_solve(ctx, plx__cmat(l), b));
    for (plx_index i = 0; i < n * m; i++) assert_close(b.data[i], x.data[i], 1e-9);
    assert_ok(ctx, plx__chol_inverse(ctx, inverse, plx__cmat(l)));
    plx_mat eye = test_mat(ctx, n, n, 5);
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(inverse), PLX__N, 0.0, eye));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++) {
            assert_close(at(eye, i, j), i == j, 1e-9);
            assert_true(at(inverse, i, j) == at(inverse, j, i));
        }
    plx_mat triangle = test_mat(ctx, n, n, 6), sum = test_mat(ctx, 2 * n, 2 * n, 7), before;
    int64_t *place = NULL;
    assert_ok(ctx, plx__arena_i64(&place, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) place[i] = 2 * i + 1;
    assert_ok(ctx, plx__mat_clone(&before, plx__scratch(ctx), plx__cmat(sum)));
    assert_ok(ctx, plx__chol_inverse_add(ctx, sum, place, plx__cmat(l), triangle));
    for (plx_index i = 0; i < 2 * n; i++)
        for (plx_index j = 0; j < 2 * n; j++) {
            double added = i % 2 && j % 2 && j <= i ? at(inverse, i / 2, j / 2) : 0.0;
            assert_close(at(sum, i, j), at(before, i, j) + added, 1e-12);
        }
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(triangle), PLX__N, plx__cmat(l), PLX__N, 0.0, eye));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++) assert_close(at(eye, i, j), i == j, 1e-10);
    plx_context_destroy(ctx);
}

static void triangular_solves_on_both_sides(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    double l[] = {2, 0, 1, 4}, b[] = {2, 4, 5, 10}, r[] = {2, 4, 5, 10}, v[] = {2, 5}, w[] = {3, 4};
    plx_cmat lower = plx__cmat_of(l, 2, 2);
    assert_ok(ctx, plx__tri_solve(ctx, lower, PLX__N, plx__mat_of(b, 2, 2))); /* x0 = b0/2, x1 = (b1 - x0)/4 */
    assert_true(b[0] == 1 && b[1] == 2 && b[2] == 1 && b[3] == 2);
    assert_ok(ctx, plx__tri_solve_right(ctx, lower, PLX__T, plx__mat_of(r, 2, 2))); /* x L' = r row by row */
    assert_true(r[0] == 1 && r[1] == 0.75 && r[2] == 2.5 && r[3] == 1.875);
    assert_ok(ctx, plx__tri_solve_vec(ctx, lower, PLX__N, v));
    assert_true(v[0] == 1 && v[1] == 1);
    assert_ok(ctx, plx__tri_solve_vec(ctx, lower, PLX__T, w)); /* x1 = 1, x0 = (3 - 1)/2 */
    assert_true(w[0] == 1 && w[1] == 1);
    assert_close(plx__chol_logdet(lower), log(64.0), 1e-15);
    plx_context_destroy(ctx);
}

/* Against the system's exp, which is right to one unit in the last place; PLX__EXP claims about one more. */
static void exponentials_of_any_length(void **state)
{
    enum { MOST = 21 };
    double x[MOST] = {0}, out[MOST + 1];
    (void)state;
    for (plx_index n = 0; n <= MOST; n++) {
        for (plx_index i = 0; i < n; i++) x[i] = 0.37 * (double)(i * i) - 3.0;
        out[n] = 42;
        plx__exp_scaled(x, n, -1.25, 3.0, out);
        for (plx_index i = 0; i < n; i++)
            assert_true(fabs(out[i] - 3.0 * exp(-1.25 * x[i])) <= 4 * DBL_EPSILON * out[i]);
        assert_true(out[n] == 42);
        plx__exp_scaled(x, n, -1.25, 3.0, x);
        if (n) assert_memory_equal(x, out, (size_t)n * sizeof *x);
    }
    double edge[3] = {0.0, -INFINITY, -709.0};
    plx__exp_scaled(edge, 3, 1.0, 1.0, edge);
    assert_true(edge[0] == 1.0 && edge[1] == 0.0 && edge[2] == 0.0);
}

static void general_solves(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_index n = 80, m = 3;
    plx_mat a = test_mat(ctx, n, n, 1), x = test_mat(ctx, n, m, 2), b = test_mat(ctx, n, m, 3), copy;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        if (symmetric) plx__mirror_lower(a);
        assert_ok(ctx, plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(a)));
        assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(x), PLX__N, 0.0, b));
        assert_ok(ctx, symmetric ? plx__sym_solve(ctx, copy, b, "m") : plx__lu_solve(ctx, copy, b, "m"));
        for (plx_index i = 0; i < n * m; i++) assert_close(b.data[i], x.data[i], 1e-9);
    }
    double singular[] = {1, 2, 2, 4}, zero[] = {0, 0, 0, 0}, rhs[] = {1, 1}, nan_matrix[] = {1, 0, 0, NAN};
    assert_fails(ctx, plx__lu_solve(ctx, plx__mat_of(singular, 2, 2), plx__mat_of(rhs, 2, 1), "the system"),
                 PLX_E_NUMERIC, "the system is singular");
    assert_fails(ctx, plx__sym_solve(ctx, plx__mat_of(zero, 2, 2), plx__mat_of(rhs, 2, 1), "the system"), PLX_E_NUMERIC,
                 "the system is singular");
    assert_fails(ctx, plx__lu_solve(ctx, plx__mat_of(nan_matrix, 2, 2), plx__mat_of(rhs, 2, 1), "the system"),
                 PLX_E_NUMERIC, "not finite");
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    plx_mat a, g, b;
    PLX_TRY(plx__arena_mat(&a, plx__scratch(ctx), 5000, 12));
    PLX_TRY(plx__arena_mat(&g, plx__scratch(ctx), 12, 12));
    PLX_TRY(plx__arena_mat(&b, plx__scratch(ctx), 12, 2));
    for (plx_index i = 0; i < 60000; i++) a.data[i] = (double)(i * i % 101);
    PLX_TRY(plx__syrk(ctx, 1.0, plx__cmat(a), PLX__T, 0.0, g));
    PLX_TRY(plx__cholesky_jitter(ctx, g, NULL, "g", NULL, NULL));
    PLX_TRY(plx__chol_solve(ctx, plx__cmat(g), b));
    plx__mat_add_diag(g, 1.0);
    PLX_TRY(plx__lu_solve(ctx, g, b, "g"));
    plx__mat_fill(g, 0.0);
    plx__mat_add_diag(g, -1.0);
    return plx__sym_solve(ctx, g, b, "g");
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    int before = plx__blas_threads();
    sweep_allocations(many_allocations, 8);
    assert_int_equal(plx__blas_threads(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_with_one_vector_agree),
        cmocka_unit_test(four_rows_are_four_times_one),
        cmocka_unit_test(serial_gemm_agrees),
        cmocka_unit_test(gemm_agrees_with_the_definition),
        cmocka_unit_test(gemm_without_inner_dimension_scales),
        cmocka_unit_test(syrk_is_symmetric_and_right),
        cmocka_unit_test(gemv_agrees_with_the_definition),
        cmocka_unit_test(symv_agrees_with_gemv),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(thread_settings_are_put_back),
        cmocka_unit_test(vector_kernels_are_right),
        cmocka_unit_test(transposes_move_every_entry),
        cmocka_unit_test(double_centring_removes_means),
        cmocka_unit_test(cholesky_reconstructs),
        cmocka_unit_test(cholesky_tells_the_bad_pivot),
        cmocka_unit_test(jitter_follows_the_ladder),
        cmocka_unit_test(solves_invert),
        cmocka_unit_test(triangular_solves_on_both_sides),
        cmocka_unit_test(general_solves),
        cmocka_unit_test(exponentials_of_any_length),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
