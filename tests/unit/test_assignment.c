#include "linalg_test.h"

#include "optim/assignment.h"

static double best_total;

/* All injections of rows into columns (rows <= cols) by brute force. */
static void try_all(plx_mat w, plx_index row, unsigned used, double sum, double sign)
{
    if (row == w.rows) {
        if (sign * sum < sign * best_total) best_total = sum;
        return;
    }
    for (plx_index j = 0; j < w.cols; j++)
        if (!(used & 1u << j)) try_all(w, row + 1, used | 1u << j, sum + at(w, row, j), sign);
}

static void check(plx_context *ctx, plx_mat w, bool maximize)
{
    plx_index of_row[8], seen = 0, assigned = 0;
    double total = 0, sum = 0, sign = maximize ? -1.0 : 1.0;
    plx_mat t = w;
    if (w.rows > w.cols) {
        t = test_mat(ctx, w.cols, w.rows, 0);
        plx__mat_transpose(t, plx__cmat(w));
    }
    best_total = sign * INFINITY;
    try_all(t, 0, 0, 0.0, sign);
    assert_ok(ctx, plx__assignment(ctx, plx__cmat(w), maximize, of_row, &total));
    for (plx_index i = 0; i < w.rows; i++) {
        if (of_row[i] < 0) continue;
        assert_true(of_row[i] < w.cols && !(seen & (plx_index)1 << of_row[i]));
        seen |= (plx_index)1 << of_row[i];
        sum += at(w, i, of_row[i]);
        assigned++;
    }
    assert_int_equal(assigned, plx__min(w.rows, w.cols));
    assert_close(total, sum, 1e-12);
    assert_close(total, best_total, 1e-12);
}

static void brute_force_agrees(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (int t = 0; t < 60; t++) {
        plx_mat w = test_mat(ctx, 1 + t % 6, 1 + t / 10, t);
        if (t % 3 == 0)
            for (plx_index i = 0; i < w.rows * w.cols; i++) w.data[i] = rint(w.data[i]);
        check(ctx, w, t % 2);
    }
    plx_context_destroy(ctx);
}

static void ties_are_settled_the_same_way(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double w[12] = {0};
    plx_index of_row[4];
    assert_ok(ctx, plx__assignment(ctx, plx__cmat_of(w, 3, 4), true, of_row, NULL));
    assert_true(of_row[0] == 0 && of_row[1] == 1 && of_row[2] == 2);
    assert_ok(ctx, plx__assignment(ctx, plx__cmat_of(w, 0, 4), true, of_row, NULL));
    assert_ok(ctx, plx__assignment(ctx, (plx_cmat){w, 4, 0, 1}, true, of_row, NULL));
    assert_true(of_row[0] == -1 && of_row[3] == -1);
    plx_context_destroy(ctx);
}

/* 200 x 230 in a view with a wider leading dimension: a planted optimum is found. */
static void large_planted_problem(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat wide = test_mat(ctx, 200, 240, 3), w = plx__sub(wide, 0, 5, 200, 230);
    plx_index of_row[200];
    for (plx_index i = 0; i < 200; i++) w.data[i * w.ld + (i * 37 + 11) % 230] = -100.0;
    assert_ok(ctx, plx__assignment(ctx, plx__cmat(w), false, of_row, NULL));
    for (plx_index i = 0; i < 200; i++) assert_int_equal(of_row[i], (i * 37 + 11) % 230);
    plx_context_destroy(ctx);
}

static void bad_weights_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double w[] = {1, 2, NAN, 4};
    plx_index of_row[2];
    assert_fails(ctx, plx__assignment(ctx, plx__cmat_of(w, 2, 2), false, of_row, NULL), PLX_E_DATA, "weight (1, 0)");
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    double w[] = {1, 2, 3, 4};
    plx_index of_row[2];
    return plx__assignment(ctx, plx__cmat_of(w, 2, 2), false, of_row, NULL);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brute_force_agrees),           cmocka_unit_test(ties_are_settled_the_same_way),
        cmocka_unit_test(large_planted_problem),        cmocka_unit_test(bad_weights_are_named),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
