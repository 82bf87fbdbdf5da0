#include "linalg_test.h"

#include "linalg/factor.h"
#include "linalg/sparse_chol.h"

/* Grid Laplacian plus `shift`, order side^2; `full`: both triangles, else the lower one. */
static plx_csr grid(plx_context *ctx, plx_index side, double shift, bool full)
{
    plx_index n = side * side, count = 0;
    int32_t *row = NULL, *col = NULL;
    double *val = NULL;
    plx__arena *s = plx__scratch(ctx);
    if (plx__arena_i32(&row, s, 5 * n) || plx__arena_i32(&col, s, 5 * n) || plx__arena_f64(&val, s, 5 * n, 1))
        return (plx_csr){0};
    for (plx_index i = 0; i < n; i++) {
        plx_index near[] = {i % side ? i - 1 : -1, i % side < side - 1 ? i + 1 : -1, i - side,
                            i + side < n ? i + side : -1};
        double degree = 0;
        for (int k = 0; k < 4; k++) {
            if (near[k] < 0) continue;
            degree++;
            if (!full && near[k] > i) continue;
            row[count] = (int32_t)i;
            col[count] = (int32_t)near[k];
            val[count++] = -1.0;
        }
        row[count] = col[count] = (int32_t)i;
        val[count++] = degree + shift;
    }
    plx_csr a;
    if (plx__csr_from_triplets(&a, s, n, n, count, row, col, val)) return (plx_csr){0};
    return a;
}

static void solves_agree_with_dense(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index sides[] = {1, 3, 20};
    for (int t = 0; t < 6; t++) {
        plx_index side = sides[t / 2], n = side * side;
        plx_csr a = grid(ctx, side, 0.1, t % 2), full = grid(ctx, side, 0.1, true), doubled;
        plx_mat x = test_mat(ctx, n, 3, 1), b = test_mat(ctx, n, 3, 2);
        assert_ok(ctx, plx__spmm(ctx, 1.0, plx__ccsr(full), plx__cmat(x), 0.0, b));
        plx__sparse_chol *f = NULL;
        assert_ok(ctx, plx__sparse_chol_create(&f, ctx, plx__ccsr(a), "laplacian"));
        assert_ok(ctx, plx__sparse_chol_solve(f, ctx, b));
        for (plx_index i = 0; i < 3 * n; i++) assert_close(b.data[i], x.data[i], 1e-10);
        plx_mat dense = test_dense(ctx, plx__ccsr(full));
        assert_ok(ctx, plx__cholesky(ctx, dense, NULL));
        assert_close(plx__sparse_chol_logdet(f), plx__chol_logdet(plx__cmat(dense)), 1e-9);
        assert_ok(ctx, plx__csr_clone(&doubled, plx__scratch(ctx), plx__ccsr(a)));
        for (int64_t p = 0; p < doubled.ptr[n]; p++) doubled.val[p] *= 2;
        assert_ok(ctx, plx__sparse_chol_refactor(f, ctx, plx__ccsr(doubled), "laplacian"));
        assert_ok(ctx, plx__sparse_chol_solve(f, ctx, b));
        for (plx_index i = 0; i < n; i += 7) { /* b = A^-1 (x) / 2: check A b = x / 2 */
            double sum = 0;
            for (int64_t p = full.ptr[i]; p < full.ptr[i + 1]; p++) sum += full.val[p] * b.data[3 * full.col[p]];
            assert_close(2 * sum, x.data[3 * i], 1e-9);
        }
        plx__sparse_chol_destroy(f);
    }
    plx_context_destroy(ctx);
}

static void indefinite_matrices_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__sparse_chol *f = NULL;
    plx_csr a = grid(ctx, 4, 0.5, true), b = grid(ctx, 12, -0.5, true);
    for (int64_t p = a.ptr[6]; p < a.ptr[7]; p++)
        if (a.col[p] == 6) a.val[p] = -1;
    assert_fails(ctx, plx__sparse_chol_create(&f, ctx, plx__ccsr(a), "view 'a'"), PLX_E_NUMERIC,
                 "view 'a' is not positive definite (column 6)");
    assert_null(f);
    assert_fails(ctx, plx__sparse_chol_create(&f, ctx, plx__ccsr(b), "view 'b'"), PLX_E_NUMERIC,
                 "not positive definite (column");
    assert_null(f);
    plx__sparse_chol_destroy(NULL);
    plx_context_destroy(ctx);
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    static double first[3200], other[3200];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_csr a = grid(ctx, 40, 0.1, true);
        plx_mat b = test_mat(ctx, 1600, 2, 2);
        plx__sparse_chol *f = NULL;
        assert_ok(ctx, plx__sparse_chol_create(&f, ctx, plx__ccsr(a), "l"));
        assert_ok(ctx, plx__sparse_chol_solve(f, ctx, b));
        memcpy(t ? other : first, b.data, sizeof first);
        plx__sparse_chol_destroy(f);
        plx_context_destroy(ctx);
        if (t) assert_memory_equal(first, other, sizeof first);
    }
}

static plx_status many_allocations(plx_context *ctx)
{
    plx_csr a = grid(ctx, 3, 1.0, true);
    double b[9] = {1};
    plx__sparse_chol *f = NULL;
    if (!a.ptr) return PLX_E_NOMEM;
    plx_status st = plx__sparse_chol_create(&f, ctx, plx__ccsr(a), "l");
    if (st == PLX_OK) st = plx__sparse_chol_solve(f, ctx, plx__mat_of(b, 9, 1));
    plx__sparse_chol_destroy(f);
    return st;
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_agree_with_dense),
        cmocka_unit_test(indefinite_matrices_are_refused),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
