#include "linalg_test.h"

#include "linalg/block_eigen.h"
#include "linalg/eigen.h"
#include "linalg/eigen_lapack.h"
#include "linalg/eigen_sparse.h"
#include "linalg/factor.h"
#include "linalg/iterative.h"

static const plx_mat NONE = {NULL, 0, 0, 0};

/* A v = lambda v, V'V = I, signs as promised. */
static void check_pairs(plx_mat a, const double *values, plx_mat v, double tol)
{
    for (plx_index j = 0; j < v.cols; j++) {
        double big = 0, lead = 0;
        for (plx_index i = 0; i < a.rows; i++) {
            double sum = 0;
            for (plx_index k = 0; k < a.rows; k++) sum += at(a, i, k) * at(v, k, j);
            assert_close(sum, values[j] * at(v, i, j), tol);
            if (fabs(at(v, i, j)) > big * (1 + 1e-9)) {
                big = fabs(at(v, i, j));
                lead = at(v, i, j);
            }
        }
        assert_true(lead > 0);
        for (plx_index k = 0; k <= j; k++) {
            double dot = 0;
            for (plx_index i = 0; i < a.rows; i++) dot += at(v, i, j) * at(v, i, k);
            assert_close(dot, j == k, 1e-9);
        }
    }
}

static void full_problem(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_index n = 60;
    plx_mat a = test_spd(ctx, n, 0.0, 1), work, v = test_mat(ctx, n, n, 2), part = test_mat(ctx, n, 5, 3);
    double values[60], again[60], some[5];
    assert_ok(ctx, plx__mat_clone(&work, plx__scratch(ctx), plx__cmat(a)));
    assert_ok(ctx, plx__sym_eigen(ctx, work, values, v));
    check_pairs(a, values, v, 1e-9);
    for (int j = 1; j < n; j++) assert_true(values[j] >= values[j - 1]);
    plx__mat_copy(work, plx__cmat(a));
    assert_ok(ctx, plx__sym_eigen(ctx, work, again, NONE));
    plx__mat_copy(work, plx__cmat(a));
    assert_ok(ctx, plx__sym_eigen_range(ctx, work, n - 5, 5, some, part));
    check_pairs(a, some, part, 1e-9);
    for (int j = 0; j < 5; j++) assert_close(some[j], values[n - 5 + j], 1e-10);
    for (int j = 0; j < n; j++) assert_close(again[j], values[j], 1e-10);
    a.data[3] = NAN;
    assert_fails(ctx, plx__sym_eigen(ctx, a, values, v), PLX_E_NUMERIC, "not finite");
    plx_context_destroy(ctx);
}

/* Several panels, at both ends, in the middle and across, with a cluster of equal eigenvalues; values beyond what may be
 * squared. All pairs of the same matrix by divide and conquer are the reference for the values. */
static void ranges_of_a_larger_matrix(void **state)
{
    (void)state;
    enum { N = 150 };
    static const plx_index from[] = {0, N - 7, 40, 10}, many[] = {9, 7, 30, 1};
    static const double factor[] = {1, 1, 1e200, 1e-200};
    plx_context *ctx = test_context(1);
    plx_mat q = test_mat(ctx, N, N, 1), a = test_mat(ctx, N, N, 2), work, v;
    double all[N], some[N];
    assert_ok(ctx, plx__qr(ctx, q, NONE));
    for (plx_index i = 0; i < N; i++)
        for (plx_index j = 0; j < N; j++) {
            double sum = 0; /* Q diag(lambda) Q', lambda = 1 .. N with 20 times 50 */
            for (plx_index k = 0; k < N; k++)
                sum += at(q, i, k) * at(q, j, k) * (k >= 40 && k < 60 ? 50.0 : 1.0 + (double)k);
            a.data[i * N + j] = sum;
        }
    assert_ok(ctx, plx__mat_clone(&work, plx__scratch(ctx), plx__cmat(a)));
    assert_ok(ctx, plx__sym_eigen(ctx, work, all, NONE));
    for (int t = 0; t < 4; t++) {
        v = test_mat(ctx, N, many[t], 3);
        for (plx_index i = 0; i < N * N; i++) work.data[i] = a.data[i] * factor[t];
        assert_ok(ctx, plx__sym_eigen_range(ctx, work, from[t], many[t], some, v));
        for (plx_index j = 0; j < many[t]; j++) {
            some[j] /= factor[t];
            assert_close(some[j], all[from[t] + j], 1e-10);
        }
        check_pairs(a, some, v, 1e-9);
    }
    plx_context_destroy(ctx);
}

/* Waiving determinism may change the last bits, not the answer, and leaves BLAS's threads as they were. */
static void threaded_blas_is_allowed_on_request(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_mat a = test_spd(ctx, 50, 0.0, 1), work, v = test_mat(ctx, 50, 50, 2);
    double values[50];
    ctx->deterministic = false;
    assert_ok(ctx, plx__mat_clone(&work, plx__scratch(ctx), plx__cmat(a)));
    assert_ok(ctx, plx__sym_eigen(ctx, work, values, v));
    check_pairs(a, values, v, 1e-9);
    plx_context_destroy(ctx);
}

/* [[2,1],[1,2]]: 1 with (1,-1)/sqrt 2 (a tie in size: the first entry is made positive), 3 with (1,1)/sqrt 2. */
static void known_pair_and_tie(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double a[] = {2, 1, 1, 2}, values[2], v[4];
    assert_ok(ctx, plx__sym_eigen(ctx, plx__mat_of(a, 2, 2), values, plx__mat_of(v, 2, 2)));
    assert_close(values[0], 1, 1e-14);
    assert_close(values[1], 3, 1e-14);
    assert_close(v[0], sqrt(0.5), 1e-14);
    assert_close(v[2], -sqrt(0.5), 1e-14);
    assert_close(v[1], sqrt(0.5), 1e-14);
    plx_context_destroy(ctx);
}

static void check_svd(plx_context *ctx, plx_index rows, plx_index cols)
{
    plx_index r = plx__min(rows, cols);
    plx_mat a = test_mat(ctx, rows, cols, 1), work, u = test_mat(ctx, rows, r, 2), vt = test_mat(ctx, r, cols, 3);
    double s[40], only[40];
    assert_ok(ctx, plx__mat_clone(&work, plx__scratch(ctx), plx__cmat(a)));
    assert_ok(ctx, plx__svd(ctx, work, u, s, vt));
    for (plx_index i = 0; i < rows; i++)
        for (plx_index j = 0; j < cols; j++) {
            double sum = 0;
            for (plx_index k = 0; k < r; k++) sum += at(u, i, k) * s[k] * at(vt, k, j);
            assert_close(sum, at(a, i, j), 1e-11);
        }
    for (plx_index k = 0; k < r; k++) {
        assert_true(k == 0 || s[k] <= s[k - 1]);
        assert_int_equal(plx__leading_sign(u.data + k, rows, u.ld), 1);
    }
    plx__mat_copy(work, plx__cmat(a));
    assert_ok(ctx, plx__svd(ctx, work, NONE, only, NONE));
    for (plx_index k = 0; k < r; k++) assert_close(only[k], s[k], 1e-12);
}

static void svd_reconstructs(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    check_svd(ctx, 30, 7);
    check_svd(ctx, 7, 30);
    check_svd(ctx, 1, 1);
    check_svd(ctx, 20, 20);
    plx_context_destroy(ctx);
}

/* Column j is the random one times fade^j plus a share of column 0, so that the condition grows with 1/fade^(cols-1). */
static void check_qr(plx_context *ctx, plx_index rows, plx_index cols, double fade)
{
    plx_mat a = test_mat(ctx, rows, cols, 1), q = test_mat(ctx, rows, cols, 1), r = test_mat(ctx, cols, cols, 2);
    for (plx_index i = 0; i < rows; i++)
        for (plx_index j = 1; j < cols; j++) q.data[i * q.ld + j] = at(a, i, j) * pow(fade, (double)j) + at(a, i, 0);
    plx__mat_copy(a, plx__cmat(q));
    assert_ok(ctx, plx__qr(ctx, q, r));
    for (plx_index i = 0; i < rows; i++)
        for (plx_index j = 0; j < cols; j++) {
            double sum = 0;
            for (plx_index k = 0; k < cols; k++) sum += at(q, i, k) * at(r, k, j);
            assert_close(sum, at(a, i, j), 1e-12);
        }
    for (plx_index i = 0; i < cols; i++)
        for (plx_index j = 0; j < cols; j++) {
            double dot = 0;
            for (plx_index k = 0; k < rows; k++) dot += at(q, k, i) * at(q, k, j);
            assert_close(dot, i == j, 1e-13);
            assert_true(j < i ? at(r, i, j) == 0 : j > i || at(r, i, j) >= 0);
        }
}

/* Tall ones go through A'A where its condition (fade^-14) allows, else, after a try or two, through reflections. */
static void qr_is_orthonormal(void **state)
{
    (void)state;
    static const double fades[] = {1.0, 0.3, 0.1, 0.07, 0.05, 0.01, 0.0};
    plx_context *ctx = test_context(2);
    check_qr(ctx, 50, 8, 1.0);
    for (int f = 0; f < 7; f++) check_qr(ctx, 2000, 8, fades[f]);
    plx_context_destroy(ctx);
}

/* ---- a few eigenvalues ---- */

/* Path graph Laplacian: eigenvalues 2 - 2 cos(pi j / n), j = 0..n-1. */
static plx_csr path_laplacian(plx_context *ctx, plx_index n)
{
    plx_csr a;
    assert_ok(ctx, plx__arena_csr(&a, plx__scratch(ctx), n, n, 3 * n - 2));
    int64_t to = 0;
    for (plx_index i = 0; i < n; i++) {
        for (plx_index j = plx__max(0, i - 1); j <= plx__min(n - 1, i + 1); j++) {
            a.col[to] = (int32_t)j;
            a.val[to++] = i != j ? -1.0 : i == 0 || i == n - 1 ? 1.0 : 2.0;
        }
        a.ptr[i + 1] = to;
    }
    return a;
}

static void few_of_a_path(plx_context *ctx, plx_index n, plx_index k, double *out)
{
    plx_csr a = path_laplacian(ctx, n);
    plx_ccsr arg = plx__ccsr(a);
    plx_mat v = test_mat(ctx, n, k, 1);
    plx__operator op = {n, plx__csr_apply, &arg};
    plx_mat dense = test_dense(ctx, arg);
    for (int end = 0; end < 2; end++) {
        assert_ok(ctx, plx__eigen_few(ctx, op, k, (plx__end)end, NULL, out, v, "path"));
        for (plx_index j = 0; j < k; j++) {
            plx_index which = end ? n - 1 - j : j;
            assert_close(out[j], 2 - 2 * cos(3.14159265358979324 * (double)which / (double)n), 1e-10);
        }
        check_pairs(dense, out, v, 1e-7);
    }
}

static void few_eigenvalues_are_the_right_ones(void **state)
{
    (void)state;
    double first[6], other[6];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        few_of_a_path(ctx, 220, 6, t ? other : first);
        if (t) assert_memory_equal(first, other, sizeof first);
        if (t == 0) few_of_a_path(ctx, 10, 4, other); /* dense path */
        if (t == 0) few_of_a_path(ctx, 10, 10, (double[10]){0});
        plx_context_destroy(ctx);
    }
}

/* Ten cliques of thirty: two distinct eigenvalues, so Lanczos runs out of new directions at once. The largest
 * eigenvalue 29 belongs to the ten indicator vectors; a second call must give the same bytes. */
static void exhausted_krylov_spaces_are_deterministic(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat dense, v = test_mat(ctx, 300, 3, 1), again = test_mat(ctx, 300, 3, 2);
    double values[3];
    plx_csr a;
    assert_ok(ctx, plx__arena_mat(&dense, plx__scratch(ctx), 300, 300));
    for (plx_index i = 0; i < 300; i++)
        for (plx_index j = 0; j < 300; j++) dense.data[i * 300 + j] = i != j && i / 30 == j / 30;
    assert_ok(ctx, plx__csr_from_dense(&a, plx__scratch(ctx), plx__cmat(dense)));
    plx_ccsr arg = plx__ccsr(a);
    plx__operator op = {300, plx__csr_apply, &arg};
    assert_ok(ctx, plx__eigen_few(ctx, op, 3, PLX__LARGEST, NULL, values, v, "cliques"));
    for (int j = 0; j < 3; j++) assert_close(values[j], 29.0, 1e-10);
    check_pairs(dense, values, v, 1e-8);
    assert_ok(ctx, plx__eigen_few(ctx, op, 3, PLX__LARGEST, NULL, values, again, "cliques"));
    assert_memory_equal(v.data, again.data, 900 * sizeof(double));
    plx_context_destroy(ctx);
}

/* Out of time: the best pairs so far, and the caller is told. */
static void the_time_limit_ends_with_the_best_so_far(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_csr a = path_laplacian(ctx, 2000);
    plx_ccsr arg = plx__ccsr(a);
    plx_mat v = test_mat(ctx, 2000, 4, 1);
    double values[4];
    bool converged = true;
    plx__operator op = {2000, plx__csr_apply, &arg};
    plx__eigen_options o = {.converged = &converged};
    ctx->time_limit = 1e-6;
    ctx->call_started = plx__now() - 1;
    assert_ok(ctx, plx__eigen_few(ctx, op, 4, PLX__SMALLEST, &o, values, v, "path"));
    assert_false(converged);
    for (int j = 0; j < 4; j++) { /* Ritz values lie within the spectrum, Ritz vectors are orthonormal */
        assert_true(values[j] > 0 && values[j] < 4);
        for (int k = 0; k < 4; k++) {
            double dot = 0;
            for (int i = 0; i < 2000; i++) dot += at(v, i, j) * at(v, i, k);
            assert_close(dot, j == k, 1e-12);
        }
    }
    plx_context_destroy(ctx);
}

static void giving_up_is_told(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_csr a = path_laplacian(ctx, 2000);
    plx_ccsr arg = plx__ccsr(a);
    double values[4];
    plx__operator op = {2000, plx__csr_apply, &arg};
    plx__eigen_options o = {.max_iter = 1};
    assert_fails(ctx, plx__eigen_few(ctx, op, 4, PLX__SMALLEST, &o, values, NONE, "laplacian of view 'text'"),
                 PLX_E_NUMERIC, "laplacian of view 'text': only");
    plx_context_cancel(ctx);
    assert_fails(ctx, plx__eigen_few(ctx, op, 4, PLX__SMALLEST, NULL, values, NONE, "x"), PLX_E_CANCELLED, "cancelled");
    plx_context_destroy(ctx);
}

/* ---- pencils ---- */

typedef struct dense_pencil {
    plx_mat a, b;
} dense_pencil;

static plx_status apply_b(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    return plx__gemm(ctx, 1.0, plx__cmat(((dense_pencil *)arg)->b), PLX__N, x, PLX__N, 0.0, y);
}

static plx_status apply_both(void *arg, plx_context *ctx, plx_cmat x, plx_mat ax, plx_mat bx)
{
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(((dense_pencil *)arg)->a), PLX__N, x, PLX__N, 0.0, ax));
    return apply_b(arg, ctx, x, bx);
}

static plx_status solve_b(void *arg, plx_context *ctx, plx_cmat rhs, plx_mat x, double tol)
{
    plx__block_operator b = {rhs.rows, apply_b, arg};
    return plx__cg_block(ctx, b, rhs, x, &(plx__iter_options){.tol = tol}, NULL);
}

/* By the definition: A w = theta B w, w'Bw = 1; the values are those of L^-1 A L^-T, B = LL', formed and decomposed. */
static void pencil_agrees_with_its_dense_form(void **state)
{
    (void)state;
    enum { N = 70, P = 9, WANTED = 4 };
    for (int t = 0; t < 2; t++) {
        plx_context *ctx = test_context(t + 1);
        plx_mat m = test_mat(ctx, N, N, 4), b = test_spd(ctx, N, 5.0, 5), l, w = test_mat(ctx, N, P, 6);
        plx_mat a = test_mat(ctx, N, N, 7), both = test_mat(ctx, N, N, 8);
        double theta[P], all[N];
        for (plx_index i = 0; i < N; i++)
            for (plx_index j = 0; j < N; j++) a.data[i * N + j] = at(m, i, j) + at(m, j, i); /* indefinite */
        dense_pencil p = {a, b};
        plx__pencil pencil = {N, apply_both, solve_b, &p};
        plx__block_eigen_result result;
        assert_ok(ctx,
                  plx__block_eigen(ctx, &pencil, theta, w, &(plx__block_eigen_options){.wanted = WANTED}, &result));
        assert_true(result.converged);
        assert_ok(ctx, plx__mat_clone(&l, plx__scratch(ctx), plx__cmat(b)));
        assert_ok(ctx, plx__cholesky(ctx, l, NULL));
        for (plx_index c = 0; c < N; c++) /* columns of L^-1 A, then rows of (L^-1 (L^-1 A)')' */
            for (plx_index i = 0; i < N; i++) {
                double sum = at(a, i, c);
                for (plx_index k = 0; k < i; k++) sum -= at(l, i, k) * at(both, k, c);
                both.data[i * N + c] = sum / at(l, i, i);
            }
        for (plx_index r = 0; r < N; r++)
            for (plx_index i = 0; i < N; i++) {
                double sum = at(both, r, i);
                for (plx_index k = 0; k < i; k++) sum -= at(l, i, k) * at(both, r, k);
                both.data[r * N + i] = sum / at(l, i, i);
            }
        assert_ok(ctx, plx__sym_eigen(ctx, both, all, NONE));
        for (int j = 0; j < WANTED; j++) {
            double length = 0;
            assert_close(theta[j], all[N - 1 - j], 1e-10); /* the error of a value is that of its vector squared */
            for (plx_index i = 0; i < N; i++) {
                double aw = 0, bw = 0;
                for (plx_index k = 0; k < N; k++) {
                    aw += at(a, i, k) * at(w, k, j);
                    bw += at(b, i, k) * at(w, k, j);
                }
                assert_close(aw, theta[j] * bw, 1e-6); /* tol 1e-8 in B^-1 A w, times |B| of about 300 */
                length += at(w, i, j) * bw;
            }
            assert_close(length, 1.0, 1e-10);
        }
        plx_context_destroy(ctx);
    }
}

/* B = diag(1, .., 1, 0, ..): only three directions count, of nine asked for. */
static void directions_without_length_are_left_out(void **state)
{
    (void)state;
    enum { N = 30, P = 9 };
    plx_context *ctx = test_context(1);
    plx_mat a = test_mat(ctx, N, N, 4), b = test_mat(ctx, N, N, 5), w = test_mat(ctx, N, P, 6);
    double theta[P];
    plx__mat_fill(a, 0.0);
    plx__mat_fill(b, 0.0);
    for (plx_index i = 0; i < 3; i++) {
        a.data[i * N + i] = (double)(3 - i);
        b.data[i * N + i] = 1;
    }
    dense_pencil p = {a, b};
    plx__pencil pencil = {N, apply_both, solve_b, &p};
    plx__block_eigen_result result;
    assert_ok(ctx, plx__block_eigen(ctx, &pencil, theta, w, &(plx__block_eigen_options){.wanted = 3}, &result));
    for (int j = 0; j < P; j++) assert_close(theta[j], j < 3 ? 3 - j : 0, 1e-9);
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    plx_mat a, v, u;
    double values[220];
    plx_csr sparse;
    PLX_TRY(plx__arena_mat(&a, plx__scratch(ctx), 220, 220));
    PLX_TRY(plx__arena_mat(&v, plx__scratch(ctx), 220, 220));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(ctx), 220, 3));
    for (plx_index i = 0; i < 220; i++) a.data[i * 221] = (double)(i + 1);
    PLX_TRY(plx__csr_from_dense(&sparse, plx__scratch(ctx), plx__cmat(a)));
    plx_ccsr arg = plx__ccsr(sparse);
    plx__operator op = {220, plx__csr_apply, &arg};
    PLX_TRY(plx__eigen_few(ctx, op, 3, PLX__LARGEST, NULL, values, u, "diagonal"));
    PLX_TRY(plx__qr(ctx, u, NONE));
    PLX_TRY(plx__sym_eigen_range(ctx, a, 0, 3, values, u));
    PLX_TRY(plx__svd(ctx, a, NONE, values, NONE));
    return plx__sym_eigen(ctx, a, values, v);
}

/* Values of tridiagonal matrices by bisection against divide and conquer: random ones, and Wilkinson's, whose largest
 * values are pairs that agree to rounding. */
static void values_by_bisection(void **state)
{
    enum { ORDER = 101 };
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2)
        for (int t = 0; t < 2; t++) {
            plx_context *ctx = test_context(threads);
            plx_mat a = test_mat(ctx, ORDER, ORDER, 1);
            double d[ORDER], e[ORDER], all[ORDER], some[ORDER];
            plx__rng rng = plx__rng_start(1, 2);
            plx__mat_fill(a, 0.0);
            for (int i = 0; i < ORDER; i++) {
                d[i] = t ? fabs(i - 50.0) : plx__next_normal(&rng);
                e[i] = t ? 1.0 : plx__next_normal(&rng);
                a.data[i * (a.ld + 1)] = d[i];
                if (i + 1 < ORDER) a.data[(i + 1) * a.ld + i] = e[i];
            }
            assert_false(plx__tridiagonal_splits(d, e, ORDER));
            assert_ok(ctx, plx__sym_eigen(ctx, a, all, NONE));
            assert_ok(ctx, plx__tridiagonal_values(ctx, d, e, ORDER, 0, ORDER, some));
            for (int j = 0; j < ORDER; j++) assert_close(some[j], all[j], 1e-13 * 50);
            for (int j = 1; j < ORDER; j++) assert_true(some[j] >= some[j - 1]);
            assert_ok(ctx, plx__tridiagonal_values(ctx, d, e, ORDER, 60, 5, some));
            for (int j = 0; j < 5; j++) assert_close(some[j], all[60 + j], 1e-13 * 50);
            e[40] = 1e-20;
            assert_true(plx__tridiagonal_splits(d, e, ORDER));
            assert_ok(ctx, plx__tridiagonal_values(ctx, d, NULL, 1, 0, 1, some));
            assert_close(some[0], d[0], 1e-13);
            plx_context_destroy(ctx);
        }
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_problem),
        cmocka_unit_test(ranges_of_a_larger_matrix),
        cmocka_unit_test(threaded_blas_is_allowed_on_request),
        cmocka_unit_test(known_pair_and_tie),
        cmocka_unit_test(svd_reconstructs),
        cmocka_unit_test(qr_is_orthonormal),
        cmocka_unit_test(few_eigenvalues_are_the_right_ones),
        cmocka_unit_test(exhausted_krylov_spaces_are_deterministic),
        cmocka_unit_test(the_time_limit_ends_with_the_best_so_far),
        cmocka_unit_test(giving_up_is_told),
        cmocka_unit_test(pencil_agrees_with_its_dense_form),
        cmocka_unit_test(directions_without_length_are_left_out),
        cmocka_unit_test(values_by_bisection),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
