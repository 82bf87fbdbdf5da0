#include "linalg_test.h"

#include "linalg/eigen.h"
#include "linalg/lowrank.h"

static plx_status column_of(void *arg, plx_context *ctx, plx_index j, plx_index begin, plx_index end, double *out)
{
    const plx_mat *k = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) out[i - begin] = at(*k, i, j);
    return PLX_OK;
}

static void diagonal_of(plx_mat k, double *out)
{
    for (plx_index i = 0; i < k.rows; i++) out[i] = at(k, i, i);
}

static void full_rank_reconstructs(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_index n = 90;
    plx_mat k = test_spd(ctx, n, 0.5, 1);
    double d[90];
    diagonal_of(k, d);
    plx__pivoted p;
    plx__pivot_options o = {.threshold = 0};
    assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, d, n, column_of, &k, &o));
    assert_int_equal(p.rank, n);
    assert_true(p.residual == 0);
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++) {
            double sum = 0;
            for (plx_index c = 0; c < n; c++) sum += at(p.z, i, c) * at(p.z, j, c);
            assert_close(sum, at(k, i, j), 1e-9);
            if (j > i) assert_true(at(p.z, p.pivot[i], j) == 0.0);
        }
    plx_context_destroy(ctx);
}

/* K = diag(1,4,4,2): pivots by size, ties to the smaller index; residuals after r pivots are known. */
static void pivots_and_stop_rules(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double data[16] = {1, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 2}, d[4];
    plx_mat k = plx__mat_of(data, 4, 4);
    plx__pivoted p;
    diagonal_of(k, d);
    plx__pivot_options o = {.threshold = 0.5, .stop = PLX__STOP_MAX}; /* stops at residual 2 <= 0.5 * 4 */
    assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, d, 4, column_of, &k, &o));
    assert_true(p.rank == 2 && p.pivot[0] == 1 && p.pivot[1] == 2 && p.residual == 3);
    o = (plx__pivot_options){.threshold = 0.1, .stop = PLX__STOP_SUM}; /* 11 total: stops at 1 <= 1.1 */
    assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, d, 4, column_of, &k, &o));
    assert_true(p.rank == 3 && p.pivot[2] == 3 && p.residual == 1);
    o = (plx__pivot_options){.max_rank = 1};
    assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, d, 4, column_of, &k, &o));
    assert_true(p.rank == 1 && at(p.z, 1, 0) == 2 && p.z.cols == 1);
    double zero[4] = {0};
    assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, zero, 4, column_of, &k, &o));
    assert_int_equal(p.rank, 0);
    plx_context_destroy(ctx);
}

/* Rank 5 by construction: stops there by itself. */
static void rank_is_found(void **state)
{
    (void)state;
    double first[40 * 5], other[40 * 5];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_mat x = test_mat(ctx, 40, 5, 3), k = test_mat(ctx, 40, 40, 4);
        double d[40];
        assert_ok(ctx, plx__syrk(ctx, 1.0, plx__cmat(x), PLX__N, 0.0, k));
        diagonal_of(k, d);
        plx__pivoted p;
        plx__pivot_options o = {.threshold = 1e-10};
        assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, d, 40, column_of, &k, &o));
        assert_int_equal(p.rank, 5);
        memcpy(t ? other : first, p.z.data, sizeof first);
        if (t) assert_memory_equal(first, other, sizeof first);
        plx_context_destroy(ctx);
    }
}

/* Blocks of columns give the pivots and columns of the column-by-column form, with every stop rule and thread count. */
static void full_form_agrees(void **state)
{
    (void)state;
    enum { N = 160 };
    static double first[N * N];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_mat k = test_spd(ctx, N, 0.5, 5), copy;
        double d[N];
        const plx__pivot_options options[] = {
            {0}, {.threshold = 0.05}, {.threshold = 0.2, .stop = PLX__STOP_SUM}, {.max_rank = 70}};
        diagonal_of(k, d);
        for (int o = 0; o < 4; o++) {
            plx__pivoted p, q;
            assert_ok(ctx, plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(k)));
            assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, d, N, column_of, &k, &options[o]));
            assert_ok(ctx, plx__pivoted_cholesky_full(&q, plx__scratch(ctx), ctx, copy, &options[o]));
            assert_int_equal(p.rank, q.rank);
            assert_close(p.residual, q.residual, 1e-9);
            for (plx_index r = 0; r < p.rank; r++) {
                assert_int_equal(p.pivot[r], q.pivot[r]);
                for (plx_index i = 0; i < N; i++) assert_close(at(p.z, i, r), at(q.z, i, r), 1e-8);
                for (plx_index c = r + 1; c < p.rank; c++) assert_true(at(q.z, q.pivot[r], c) == 0.0);
            }
            if (o == 0 && t == 0) memcpy(first, q.z.data, sizeof first);
            if (o == 0) assert_memory_equal(first, q.z.data, sizeof first);
        }
        plx_context_destroy(ctx);
    }
}

/* Equal residuals: the smaller index first, also after a block of 48 pivots has been left out. */
static void full_form_ties(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat k = test_mat(ctx, 120, 120, 1);
    plx__pivoted p;
    plx__pivot_options o = {0};
    plx__mat_fill(k, 0.0);
    for (plx_index i = 0; i < 120; i++) k.data[i * 121] = i % 3 == 0 ? 2.0 : 1.0;
    assert_ok(ctx, plx__pivoted_cholesky_full(&p, plx__scratch(ctx), ctx, k, &o));
    assert_int_equal(p.rank, 120);
    for (plx_index r = 0; r < 120; r++) {
        plx_index later = r - 40;
        assert_int_equal(p.pivot[r], r < 40 ? 3 * r : later + later / 2 + 1);
    }
    plx_context_destroy(ctx);
}

/* Diagonals that are equal but for rounding: the first comes first, whichever way the rounding fell, and so on with the
 * residuals of orthogonal rows. */
static void rounding_breaks_no_ties(void **state)
{
    enum { ORDER = 60 };
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat k = test_mat(ctx, ORDER, ORDER, 1);
    double diagonal[ORDER];
    plx__pivoted p, q;
    plx__pivot_options o = {0};
    plx__mat_fill(k, 0.0);
    for (plx_index i = 0; i < ORDER; i++) diagonal[i] = k.data[i * (ORDER + 1)] = 1.0 + 2.2e-16 * (double)(i % 3);
    assert_ok(ctx, plx__pivoted_cholesky(&q, plx__scratch(ctx), ctx, diagonal, ORDER, column_of, &k, &o));
    assert_ok(ctx, plx__pivoted_cholesky_full(&p, plx__scratch(ctx), ctx, k, &o));
    assert_int_equal(p.rank, ORDER);
    assert_int_equal(q.rank, ORDER);
    for (plx_index r = 0; r < ORDER; r++) {
        assert_int_equal(p.pivot[r], r);
        assert_int_equal(q.pivot[r], r);
    }
    plx_context_destroy(ctx);
}

/* Rank 6 plus nothing: the randomised SVD is exact; against the full SVD, dense, CSR and centred. */
static void randomised_svd_of_low_rank(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int t = 0; t < 4; t++) {
        plx_index rows = t & 1 ? 50 : 120, cols = t & 1 ? 90 : 40, k = 6, r = plx__min(rows, cols);
        plx_mat l = test_mat(ctx, rows, k, 1), rt = test_mat(ctx, k, cols, 2), a = test_mat(ctx, rows, cols, 3),
                mean = test_mat(ctx, 1, cols, 4);
        plx_mat u = test_mat(ctx, rows, k, 5), vt = test_mat(ctx, k, cols, 6), fu = test_mat(ctx, rows, r, 7),
                fvt = test_mat(ctx, r, cols, 8), fs = test_mat(ctx, 1, r, 9);
        double s[6];
        plx_csr sparse;
        assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(l), PLX__N, plx__cmat(rt), PLX__N, 0.0, a));
        assert_ok(ctx, plx__csr_from_dense(&sparse, plx__scratch(ctx), plx__cmat(a)));
        assert_ok(ctx, plx__col_means(ctx, mean.data, plx__cmat(a)));
        plx__rsvd_input in = {.mean = t & 2 ? mean.data : NULL};
        if (t == 1 || t == 2) in.csr = plx__ccsr(sparse);
        else in.dense = plx__cmat(a);
        assert_ok(ctx, plx__rsvd(ctx, in, k, NULL, u, s, vt));
        plx_mat full;
        assert_ok(ctx, plx__mat_clone(&full, plx__scratch(ctx), plx__cmat(a)));
        if (in.mean) plx__sub_row(full, mean.data);
        assert_ok(ctx, plx__svd(ctx, full, fu, fs.data, fvt));
        for (plx_index j = 0; j < k; j++) {
            assert_close(s[j], fs.data[j], 1e-9);
            for (plx_index i = 0; i < rows; i++) assert_close(at(u, i, j), at(fu, i, j), 1e-8);
            for (plx_index i = 0; i < cols; i++) assert_close(at(vt, j, i), at(fvt, j, i), 1e-8);
        }
    }
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    plx_mat a, u, vt;
    double s[2], d[8];
    plx_csr sparse;
    plx__pivoted p;
    PLX_TRY(plx__arena_mat(&a, plx__scratch(ctx), 8, 8));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(ctx), 8, 2));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(ctx), 2, 8));
    for (int i = 0; i < 8; i++) a.data[9 * i] = d[i] = i + 1;
    PLX_TRY(plx__csr_from_dense(&sparse, plx__scratch(ctx), plx__cmat(a)));
    plx__rsvd_input in = {.csr = plx__ccsr(sparse), .mean = d};
    PLX_TRY(plx__rsvd(ctx, in, 2, NULL, u, s, vt));
    plx__pivot_options o = {0};
    PLX_TRY(plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, d, 8, column_of, &a, &o));
    return plx__pivoted_cholesky_full(&p, plx__scratch(ctx), ctx, a, &o);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_rank_reconstructs),     cmocka_unit_test(pivots_and_stop_rules),
        cmocka_unit_test(full_form_agrees),           cmocka_unit_test(full_form_ties),
        cmocka_unit_test(rounding_breaks_no_ties),    cmocka_unit_test(rank_is_found),
        cmocka_unit_test(randomised_svd_of_low_rank), cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
