#include "linalg_test.h"

static void assert_same(plx_context *ctx, plx_ccsr a, plx_mat want)
{
    assert_ok(ctx, plx__csr_check(ctx, a, "result"));
    assert_int_equal(a.rows, want.rows);
    assert_int_equal(a.cols, want.cols);
    plx_mat got = test_dense(ctx, a);
    for (plx_index i = 0; i < want.rows; i++)
        for (plx_index j = 0; j < want.cols; j++) assert_close(at(got, i, j), at(want, i, j), 1e-12);
}

static void boundary_check_names_the_place(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    int64_t ptr[] = {0, 2, 3}, falling[] = {0, 2, 1}, late[] = {1, 2, 3};
    int32_t good[] = {0, 2, 1}, wide[] = {0, 3, 1}, unsorted[] = {2, 0, 1}, twice[] = {1, 1, 1},
            negative[] = {-1, 0, 0};
    double val[] = {1, 2, 3}, infinite[] = {1, 2, INFINITY};
    assert_ok(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, ptr, good, val}, "v"));
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, ptr, wide, val}, "view 'a'"), PLX_E_DATA,
                 "view 'a' row 0: column 3 is outside 0..2");
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, ptr, negative, val}, "v"), PLX_E_DATA, "column -1");
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, ptr, unsorted, val}, "v"), PLX_E_DATA, "after a larger one");
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, ptr, twice, val}, "v"), PLX_E_DATA, "twice");
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, falling, good, val}, "v"), PLX_E_DATA, "row 1: row offsets");
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, late, good, val}, "v"), PLX_E_DATA, "first row offset");
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, 3, ptr, good, infinite}, "v"), PLX_E_DATA,
                 "row 1 column 1: value");
    assert_ok(ctx, plx__csr_check_shape(ctx, (plx_ccsr){2, 3, ptr, good, infinite}, ptr[2], "v"));
    assert_fails(ctx, plx__csr_check_shape(ctx, (plx_ccsr){2, 3, ptr, good, val}, ptr[2] + 1, "v"), PLX_E_DATA,
                 "last row offset");
    assert_fails(ctx, plx__csr_check(ctx, (plx_ccsr){2, (plx_index)1 << 40, ptr, good, val}, "v"), PLX_E_DATA, "size");
    plx_context_destroy(ctx);
}

static void triplets_are_sorted_and_summed(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    int32_t row[] = {2, 0, 2, 0, 2}, col[] = {1, 3, 0, 0, 1};
    double val[] = {1, 2, 3, 4, 5}, want[] = {4, 0, 0, 2, 0, 0, 0, 0, 3, 6, 0, 0};
    plx_csr a;
    assert_ok(ctx, plx__csr_from_triplets(&a, plx__scratch(ctx), 3, 4, 5, row, col, val));
    assert_int_equal(a.ptr[3], 4);
    assert_same(ctx, plx__ccsr(a), plx__mat_of(want, 3, 4));
    row[4] = 3;
    assert_fails(ctx, plx__csr_from_triplets(&a, plx__scratch(ctx), 3, 4, 5, row, col, val), PLX_E_DATA,
                 "entry 4 at (3, 1)");
    assert_ok(ctx, plx__csr_from_triplets(&a, plx__scratch(ctx), 0, 0, 0, row, col, val));
    plx_context_destroy(ctx);
}

static void rows_are_sorted_in_place(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    int64_t ptr[] = {0, 4, 4, 6};
    int32_t col[] = {2, 0, 2, 1, 0, 1};
    double val[] = {1, 2, 3, 4, 5, 6}, want[] = {2, 4, 4, 0, 0, 0, 5, 6, 0};
    plx_csr a = {3, 3, ptr, col, val};
    assert_ok(ctx, plx__csr_sort_rows(ctx, &a));
    assert_int_equal(ptr[3], 5);
    assert_same(ctx, plx__ccsr(a), plx__mat_of(want, 3, 3));
    plx_context_destroy(ctx);
}

static void reshaping_agrees_with_dense(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__arena *s = plx__scratch(ctx);
    plx_csr a = test_csr(ctx, 9, 7, 0.4, 1), b = test_csr(ctx, 9, 7, 0.3, 2), c = test_csr(ctx, 7, 5, 0.5, 3), out;
    plx_mat da = test_dense(ctx, plx__ccsr(a)), db = test_dense(ctx, plx__ccsr(b)), dc = test_dense(ctx, plx__ccsr(c)),
            want;
    assert_ok(ctx, plx__arena_mat(&want, s, 7, 9));
    plx__mat_transpose(want, plx__cmat(da));
    assert_ok(ctx, plx__csr_transpose(&out, s, plx__ccsr(a)));
    assert_same(ctx, plx__ccsr(out), want);
    assert_ok(ctx, plx__csr_transpose(&out, s, plx__csr_rows(plx__ccsr(a), 2, 6)));
    assert_same(ctx, plx__ccsr(out), plx__sub(want, 0, 2, 7, 4));

    plx_index rows[] = {8, 0, 0}, cols[] = {5, 1, 3};
    double picked[27];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 7; j++) picked[i * 7 + j] = at(da, rows[i], j);
    assert_ok(ctx, plx__csr_select_rows(&out, s, plx__ccsr(a), rows, 3));
    assert_same(ctx, plx__ccsr(out), plx__mat_of(picked, 3, 7));
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 3; j++) picked[i * 3 + j] = at(da, i, cols[j]);
    assert_ok(ctx, plx__csr_select_cols(&out, s, plx__ccsr(a), cols, 3));
    assert_same(ctx, plx__ccsr(out), plx__mat_of(picked, 9, 3));

    static const int32_t target[] = {4, -1, 0, 5, 1, -1, 3}; /* column 2 gets nothing */
    assert_ok(ctx, plx__arena_mat(&want, s, 9, 6));
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 7; j++)
            if (target[j] >= 0) want.data[i * 6 + target[j]] = at(da, i, j);
    assert_ok(ctx, plx__csr_move_cols(&out, s, plx__ccsr(a), target, 6));
    assert_same(ctx, plx__ccsr(out), want);
    plx_mat moved;
    assert_ok(ctx, plx__mat_move_cols(&moved, s, plx__cmat(da), target, 6));
    for (int i = 0; i < 54; i++) assert_true(moved.data[i] == want.data[i]);

    assert_ok(ctx, plx__arena_mat(&want, s, 9, 7));
    for (int i = 0; i < 63; i++) want.data[i] = 2 * da.data[i] - 3 * db.data[i];
    assert_ok(ctx, plx__csr_add(&out, s, 2.0, plx__ccsr(a), -3.0, plx__ccsr(b)));
    assert_same(ctx, plx__ccsr(out), want);
    assert_ok(ctx, plx__arena_mat(&want, s, 9, 5));
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(da), PLX__N, plx__cmat(dc), PLX__N, 0.0, want));
    assert_ok(ctx, plx__csr_matmul(&out, s, plx__ccsr(a), plx__ccsr(c)));
    assert_same(ctx, plx__ccsr(out), want);
    assert_ok(ctx, plx__arena_mat(&want, s, 9, 14));
    plx__mat_copy(plx__sub(want, 0, 0, 9, 7), plx__cmat(da));
    plx__mat_copy(plx__sub(want, 0, 7, 9, 7), plx__cmat(db));
    assert_ok(ctx, plx__csr_hstack(&out, s, (plx_ccsr[]){plx__ccsr(a), plx__ccsr(b)}, 2));
    assert_same(ctx, plx__ccsr(out), want);
    assert_ok(ctx, plx__csr_clone(&out, s, plx__ccsr(a)));
    assert_same(ctx, plx__ccsr(out), da);
    plx_context_destroy(ctx);
}

static void row_and_column_functions(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    int64_t ptr[] = {0, 2, 2, 4};
    int32_t col[] = {0, 2, 1, 2};
    double val[] = {3, 4, 0, 5}, out[3], factor[] = {2, 1, -1}, by_col[] = {1, 1, 10};
    int64_t counts[3];
    plx_csr a = {3, 3, ptr, col, val};
    plx__csr_row_norms_sq(plx__ccsr(a), out);
    assert_true(out[0] == 25 && out[1] == 0 && out[2] == 25);
    plx__csr_row_sums(plx__ccsr(a), out);
    assert_true(out[0] == 7 && out[1] == 0 && out[2] == 5);
    plx__csr_col_sums(plx__ccsr(a), out);
    assert_true(out[0] == 3 && out[1] == 0 && out[2] == 9);
    plx__csr_col_means(plx__ccsr(a), out);
    assert_true(out[0] == 1 && out[2] == 3);
    plx__csr_col_counts(plx__ccsr(a), counts);
    assert_true(counts[0] == 1 && counts[1] == 0 && counts[2] == 2); /* a stored zero does not count */
    assert_true(plx__csr_row_dot(plx__ccsr(a), 0, plx__ccsr(a), 2) == 20);
    assert_true(plx__csr_row_dist_sq(plx__ccsr(a), 0, plx__ccsr(a), 2) == 10);
    assert_true(plx__csr_row_dist_sq(plx__ccsr(a), 0, plx__ccsr(a), 1) == 25);
    assert_true(plx__csr_get(plx__ccsr(a), 2, 2) == 5 && plx__csr_get(plx__ccsr(a), 1, 1) == 0 &&
                plx__csr_get(plx__ccsr(a), 0, 1) == 0);
    plx__csr_scale_rows(a, factor);
    plx__csr_scale_cols(a, by_col);
    assert_true(val[0] == 6 && val[1] == 80 && val[3] == -50);
    plx_context_destroy(ctx);
}

/* ---- products ---- */

static void check_products(plx_context *ctx, plx_index rows, plx_index cols, plx_index m)
{
    plx_csr a = test_csr(ctx, rows, cols, 0.1, 4);
    plx_ccsr ca = plx__ccsr(a);
    plx_mat da = test_dense(ctx, ca), b = test_mat(ctx, cols, m, 5), bt = test_mat(ctx, rows, m, 6);
    plx_mat c = test_mat(ctx, rows, m, 7), want = test_mat(ctx, rows, m, 7), ct = test_mat(ctx, cols, m, 8),
            want_t = test_mat(ctx, cols, m, 8);
    assert_ok(ctx, plx__spmm(ctx, 2.0, ca, plx__cmat(b), 0.5, c));
    assert_ok(ctx, plx__gemm(ctx, 2.0, plx__cmat(da), PLX__N, plx__cmat(b), PLX__N, 0.5, want));
    assert_ok(ctx, plx__spmm_t(ctx, 2.0, ca, plx__cmat(bt), 0.5, ct));
    assert_ok(ctx, plx__gemm(ctx, 2.0, plx__cmat(da), PLX__T, plx__cmat(bt), PLX__N, 0.5, want_t));
    for (plx_index i = 0; i < rows * m; i++) assert_close(c.data[i], want.data[i], 1e-11);
    for (plx_index i = 0; i < cols * m; i++) assert_close(ct.data[i], want_t.data[i], 1e-11);
    assert_ok(ctx, plx__spmm(ctx, 1.0, plx__csr_rows(ca, 3, rows), plx__cmat(b), 0.0, plx__sub(c, 3, 0, rows - 3, m)));
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(da), PLX__N, plx__cmat(b), PLX__N, 0.0, want));
    for (plx_index i = 3 * m; i < rows * m; i++) assert_close(c.data[i], want.data[i], 1e-11);
}

static void sparse_times_dense_of_every_width(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    static const plx_index widths[] = {1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 100};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        check_products(ctx, 60, 40, widths[w]);
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    check_products(ctx, 900, 6, 5); /* several slabs in the transposed product */
    plx_context_destroy(ctx);
}

/* Wide enough for results to be written past the caches. */
static void large_results_are_streamed_correctly(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_csr a = test_csr(ctx, 20000, 20, 0.2, 9);
    plx_mat b = test_mat(ctx, 20, 48, 1), c = test_mat(ctx, 20000, 48, 2), want = test_mat(ctx, 20000, 48, 3);
    plx_mat da = test_dense(ctx, plx__ccsr(a));
    assert_ok(ctx, plx__spmm(ctx, -1.0, plx__ccsr(a), plx__cmat(b), 0.0, c));
    assert_ok(ctx, plx__gemm(ctx, -1.0, plx__cmat(da), PLX__N, plx__cmat(b), PLX__N, 0.0, want));
    for (plx_index i = 0; i < 20000 * 48; i += 13) assert_close(c.data[i], want.data[i], 1e-12);
    plx_context_destroy(ctx);
}

static void vectors_and_grams(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_csr a = test_csr(ctx, 50, 30, 0.2, 1), b = test_csr(ctx, 20, 30, 0.3, 2);
    plx_mat da = test_dense(ctx, plx__ccsr(a)), db = test_dense(ctx, plx__ccsr(b)), x = test_mat(ctx, 50, 1, 3);
    plx_mat y = test_mat(ctx, 50, 1, 4), want = test_mat(ctx, 50, 1, 4), g = test_mat(ctx, 50, 20, 5),
            wg = test_mat(ctx, 50, 20, 6);
    assert_ok(ctx, plx__spmv(ctx, 2.0, plx__ccsr(a), x.data, -1.0, y.data));
    assert_ok(ctx, plx__gemv(ctx, 2.0, plx__cmat(da), PLX__N, x.data, -1.0, want.data));
    for (int i = 0; i < 50; i++) assert_close(y.data[i], want.data[i], 1e-12);
    assert_ok(ctx, plx__spmv_t(ctx, 1.0, plx__ccsr(a), x.data, 0.0, y.data));
    assert_ok(ctx, plx__gemv(ctx, 1.0, plx__cmat(da), PLX__T, x.data, 0.0, want.data));
    for (int i = 0; i < 30; i++) assert_close(y.data[i], want.data[i], 1e-12);
    assert_ok(ctx, plx__csr_gram(ctx, plx__ccsr(a), plx__ccsr(b), g));
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(da), PLX__N, plx__cmat(db), PLX__T, 0.0, wg));
    for (int i = 0; i < 1000; i++) assert_close(g.data[i], wg.data[i], 1e-12);
    assert_ok(ctx, plx__csr_gram(ctx, plx__csr_rows(plx__ccsr(a), 10, 20), plx__ccsr(b), plx__sub(g, 10, 0, 10, 20)));
    for (int i = 0; i < 1000; i++) assert_close(g.data[i], wg.data[i], 1e-12);
    plx_mat self = test_mat(ctx, 50, 50, 7);
    assert_ok(ctx, plx__csr_gram(ctx, plx__ccsr(a), plx__ccsr(a), self));
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++) {
            assert_true(at(self, i, j) == at(self, j, i));
            assert_true(at(self, i, j) == plx__csr_row_dot(plx__ccsr(a), i, plx__ccsr(a), j));
        }
    plx_context_destroy(ctx);
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { ROWS = 3000, COLS = 100, M = 40 };
    static double first[(ROWS + COLS) * M], other[(ROWS + COLS) * M];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        double *out = t ? other : first;
        plx_csr a = test_csr(ctx, ROWS, COLS, 0.2, 1);
        plx_mat b = test_mat(ctx, ROWS, M, 2);
        assert_ok(ctx, plx__spmm_t(ctx, 1.0, plx__ccsr(a), plx__cmat(b), 0.0, plx__mat_of(out, COLS, M)));
        assert_ok(ctx, plx__spmm(ctx, 1.0, plx__ccsr(a), plx__cmat_of(out, COLS, M), 0.0,
                                 plx__mat_of(out + COLS * M, ROWS, M)));
        plx_context_destroy(ctx);
        if (t) assert_memory_equal(first, other, sizeof first);
    }
}

static plx_status many_allocations(plx_context *ctx)
{
    plx__arena *s = plx__scratch(ctx);
    int32_t row[] = {1, 0, 1}, col[] = {1, 0, 0};
    double val[] = {1, 2, 3}, g[4];
    plx_csr a, t, p;
    PLX_TRY(plx__csr_from_triplets(&a, s, 2, 2, 3, row, col, val));
    PLX_TRY(plx__csr_transpose(&t, s, plx__ccsr(a)));
    PLX_TRY(plx__csr_matmul(&p, s, plx__ccsr(a), plx__ccsr(t)));
    PLX_TRY(plx__csr_add(&t, s, 1, plx__ccsr(a), 1, plx__ccsr(p)));
    PLX_TRY(plx__csr_select_cols(&t, s, plx__ccsr(a), (plx_index[]){1, 0}, 2));
    PLX_TRY(plx__csr_select_rows(&p, s, plx__ccsr(a), (plx_index[]){1}, 1));
    PLX_TRY(plx__csr_gram(ctx, plx__ccsr(a), plx__ccsr(t), plx__mat_of(g, 2, 2)));
    return plx__spmm_t(ctx, 1.0, plx__ccsr(a), plx__cmat_of(val, 2, 1), 0.0, plx__mat_of(g, 2, 1));
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundary_check_names_the_place),
        cmocka_unit_test(triplets_are_sorted_and_summed),
        cmocka_unit_test(rows_are_sorted_in_place),
        cmocka_unit_test(reshaping_agrees_with_dense),
        cmocka_unit_test(row_and_column_functions),
        cmocka_unit_test(sparse_times_dense_of_every_width),
        cmocka_unit_test(large_results_are_streamed_correctly),
        cmocka_unit_test(vectors_and_grams),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
