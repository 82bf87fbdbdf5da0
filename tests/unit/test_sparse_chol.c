/*
 * Sparse Cholesky against the dense one and against products with A; orders, graphs in pieces, refusals.
 */
#include "linalg_test.h"

#include "linalg/factor.h"
#include "linalg/sparse_chol.h"
#include "linalg/supernodes.h"

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

/* S + S' with `density` of the entries, made diagonally dominant. With `pieces` > 1, no entry joins two pieces. */
static plx_csr random_spd(plx_context *ctx, plx_index n, double density, plx_index pieces, int stream)
{
    plx_mat m = test_mat(ctx, n, n, stream);
    plx_csr a;
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < i; j++) {
            bool here = i % pieces == j % pieces &&
                        plx__rng_uniform(97, PLX__STREAM('t', 's', 'p', 'd', stream), (uint64_t)(i * n + j)) < density;
            m.data[j * n + i] = m.data[i * n + j] = here ? at(m, i, j) : 0.0;
        }
    for (plx_index i = 0; i < n; i++) {
        double sum = 0.1;
        for (plx_index j = 0; j < n; j++) sum += j == i ? 0.0 : fabs(at(m, i, j));
        m.data[i * n + i] = sum;
    }
    assert_ok(ctx, plx__csr_from_dense(&a, plx__scratch(ctx), plx__cmat(m)));
    return a;
}

/* A^-1 B by the sparse factor and by the dense one. */
static void check_against_dense(plx_context *ctx, plx_csr a, plx_index m)
{
    plx_index n = a.rows;
    plx_mat b = test_mat(ctx, n, m, 1), x = test_mat(ctx, n, m, 1), dense = test_dense(ctx, plx__ccsr(a));
    plx__sparse_chol *f = NULL;
    assert_ok(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "matrix"));
    assert_ok(ctx, plx__sparse_chol_solve(f, ctx, x));
    assert_ok(ctx, plx__cholesky(ctx, dense, NULL));
    assert_ok(ctx, plx__chol_solve(ctx, plx__cmat(dense), b));
    for (plx_index i = 0; i < n * m; i++) assert_close(x.data[i], b.data[i], 1e-9);
}

static void random_matrices_agree_with_dense(void **state)
{
    (void)state;
    static const plx_index sizes[] = {1, 2, 3, 10, 64, 200, 500}, widths[] = {1, 2, 33, 70};
    static const double densities[] = {0.0, 0.005, 0.05, 0.5, 1.0};
    plx_context *ctx = test_context(2);
    int stream = 0;
    for (int s = 0; s < 7; s++)
        for (int d = 0; d < 5; d++) {
            plx__mark mark = plx__arena_mark(plx__scratch(ctx));
            plx_csr a = random_spd(ctx, sizes[s], densities[d], stream % 3 + 1, stream);
            check_against_dense(ctx, a, widths[stream++ % 4]);
            plx__arena_rewind(plx__scratch(ctx), mark);
        }
    plx_context_destroy(ctx);
}

/* A hub first, then its spokes: eliminated in the order given, the factor would be dense. */
static void order_keeps_the_factor_sparse(void **state)
{
    (void)state;
    enum { N = 300 };
    plx_context *ctx = test_context(1);
    plx_mat m = test_mat(ctx, N, N, 1);
    plx_csr a;
    plx__supernodes x;
    for (plx_index i = 0; i < N; i++)
        for (plx_index j = 0; j < N; j++) m.data[i * N + j] = i == j ? N : i == 0 || j == 0 ? -1.0 : 0.0;
    assert_ok(ctx, plx__csr_from_dense(&a, plx__scratch(ctx), plx__cmat(m)));
    assert_ok(ctx, plx__supernodes_find(&x, plx__scratch(ctx), plx__ccsr(a)));
    assert_true(x.panel[x.count] < 20 * N);
    check_against_dense(ctx, a, 2);
    plx_context_destroy(ctx);
}

/* Every entry of the dense factor of P A P' lies in a panel: lists of rows are ascending, below, and hold all fill. */
static void panels_hold_all_of_the_factor(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (int t = 0; t < 6; t++) {
        plx_index n = 120;
        plx_csr a = t % 2 ? grid(ctx, 11, 0.3, true) : random_spd(ctx, n, 0.01 * (t + 1), 1, t);
        plx_mat m = test_dense(ctx, plx__ccsr(a)), p;
        plx__supernodes x;
        n = a.rows;
        assert_ok(ctx, plx__supernodes_find(&x, plx__scratch(ctx), plx__ccsr(a)));
        assert_ok(ctx, plx__arena_mat(&p, plx__scratch(ctx), n, n));
        for (plx_index i = 0; i < n; i++) {
            assert_int_equal(x.place[x.order[i]], i);
            for (plx_index j = 0; j < n; j++) p.data[i * n + j] = at(m, x.order[i], x.order[j]);
        }
        assert_ok(ctx, plx__cholesky(ctx, p, NULL));
        for (plx_index s = 0; s < x.count; s++) {
            for (int64_t q = x.row_ptr[s]; q < x.row_ptr[s + 1]; q++)
                assert_true(x.row[q] >= x.first[s + 1] && (q == x.row_ptr[s] || x.row[q] > x.row[q - 1]));
            for (plx_index j = x.first[s]; j < x.first[s + 1]; j++)
                for (plx_index i = x.first[s + 1]; i < n; i++) {
                    bool listed = false;
                    for (int64_t q = x.row_ptr[s]; q < x.row_ptr[s + 1]; q++) listed |= x.row[q] == i;
                    assert_true(listed || at(p, i, j) == 0.0);
                }
        }
    }
    plx_context_destroy(ctx);
}

/* B = A X by a product, both triangles given or one. */
static void solves_grids(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index sides[] = {1, 3, 20, 60};
    for (int t = 0; t < 8; t++) {
        plx_index side = sides[t / 2], n = side * side;
        plx_csr a = grid(ctx, side, 0.1, t % 2), full = grid(ctx, side, 0.1, true);
        plx_mat x = test_mat(ctx, n, 3, 1), b = test_mat(ctx, n, 3, 2);
        plx__sparse_chol *f = NULL;
        assert_ok(ctx, plx__spmm(ctx, 1.0, plx__ccsr(full), plx__cmat(x), 0.0, b));
        assert_ok(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "laplacian"));
        assert_ok(ctx, plx__sparse_chol_solve(f, ctx, b));
        for (plx_index i = 0; i < 3 * n; i++) assert_close(b.data[i], x.data[i], 1e-9);
    }
    plx_context_destroy(ctx);
}

/* Diagonal matrices: the pivots are the entries. 0 x 0: nothing to do. */
static void pivots_and_empty_matrices(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__sparse_chol *f = NULL;
    int64_t ptr[] = {0, 1, 2, 3};
    int32_t col[] = {0, 1, 2};
    double val[] = {4.0, 0.25, 9.0}, b[] = {8.0, 1.0, 3.0};
    plx_ccsr a = {3, 3, ptr, col, val}, none = {0, 0, ptr, col, val};
    assert_ok(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), a, "a"));
    assert_close(plx__sparse_chol_smallest_pivot(f), 0.25, 1e-15);
    assert_ok(ctx, plx__sparse_chol_solve(f, ctx, plx__mat_of(b, 3, 1)));
    assert_close(b[0], 2.0, 1e-15);
    assert_close(b[1], 4.0, 1e-15);
    assert_close(b[2], 1.0 / 3.0, 1e-15);
    assert_ok(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), none, "none"));
    assert_ok(ctx, plx__sparse_chol_solve(f, ctx, plx__mat_of(b, 0, 1)));
    plx_context_destroy(ctx);
}

static void indefinite_matrices_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__sparse_chol *f = NULL;
    plx_csr a = grid(ctx, 4, 0.5, true), b = grid(ctx, 12, -0.5, true), c = grid(ctx, 4, 0.5, true);
    double value[] = {-1.0, 0.0, NAN, INFINITY};
    for (int t = 0; t < 4; t++) {
        for (int64_t p = a.ptr[6]; p < a.ptr[7]; p++)
            if (a.col[p] == 6) a.val[p] = value[t];
        assert_fails(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "view 'a'"), PLX_E_NUMERIC,
                     "view 'a' is not positive definite (column 6)");
        assert_null(f);
        plx__clear_error(ctx);
    }
    assert_fails(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(b), "view 'b'"), PLX_E_NUMERIC,
                 "not positive definite (column");
    plx__clear_error(ctx);
    c.val[c.ptr[7]] = NAN; /* off the diagonal: met in the factorisation */
    assert_fails(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(c), "view 'c'"), PLX_E_NUMERIC,
                 "view 'c' is not positive definite (column");
    assert_null(f);
    plx_context_destroy(ctx);
}

/* Fill makes panels of several blocks of rows, so that threads really share them. */
static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { N = 900, M = 40 };
    static double first[N * M], other[N * M];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_csr a = random_spd(ctx, N, 0.02, 1, 3);
        plx_mat b = test_mat(ctx, N, M, 2);
        plx__sparse_chol *f = NULL;
        assert_ok(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "l"));
        assert_ok(ctx, plx__sparse_chol_solve(f, ctx, b));
        memcpy(t ? other : first, b.data, sizeof first);
        plx_context_destroy(ctx);
        if (t) assert_memory_equal(first, other, sizeof first);
    }
}

static void a_factor_beyond_the_limit_is_refused_first(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_csr a = random_spd(ctx, 400, 0.2, 1, 5);
    plx__sparse_chol *f = NULL;
    ctx->memory_limit =
        atomic_load(&ctx->memory_used) + 700000; /* enough for the analysis, 400 x 400 doubles are more */
    assert_fails(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "l"), PLX_E_NOMEM, "l needs about");
    assert_null(f);
    plx_context_destroy(ctx);
}

/* The bound holds for sparse and for dense patterns. */
static void memory_stays_below_the_bound(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(1);
        plx_csr a = t == 0 ? grid(ctx, 30, 0.5, true) : random_spd(ctx, 400, t == 1 ? 0.05 : 1.0, 1, t);
        long long before = atomic_load(&ctx->memory_used);
        double bound = plx__sparse_chol_bytes(a.rows, (plx__nnz(plx__ccsr(a)) + a.rows) / 2, 1);
        plx__sparse_chol *f = NULL;
        ctx->memory_limit = before + (int64_t)bound;
        assert_ok(ctx, plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "l"));
        plx_context_destroy(ctx);
    }
}

static void cancel_is_heard(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_csr a = grid(ctx, 20, 0.5, true);
    plx__sparse_chol *f = NULL;
    plx_context_cancel(ctx);
    assert_int_equal(plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "l"), PLX_E_CANCELLED);
    assert_null(f);
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    plx_csr a = grid(ctx, 3, 1.0, true);
    double b[9] = {1};
    plx__sparse_chol *f = NULL;
    if (!a.ptr) return PLX_E_NOMEM;
    PLX_TRY(plx__sparse_chol_create(&f, plx__scratch(ctx), plx__ccsr(a), "l"));
    return plx__sparse_chol_solve(f, ctx, plx__mat_of(b, 9, 1));
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_matrices_agree_with_dense),
        cmocka_unit_test(order_keeps_the_factor_sparse),
        cmocka_unit_test(panels_hold_all_of_the_factor),
        cmocka_unit_test(solves_grids),
        cmocka_unit_test(pivots_and_empty_matrices),
        cmocka_unit_test(indefinite_matrices_are_refused),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(a_factor_beyond_the_limit_is_refused_first),
        cmocka_unit_test(memory_stays_below_the_bound),
        cmocka_unit_test(cancel_is_heard),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
