#include "plx_test.h"

#include "data/split_impl.h"

enum { N = 4000, V = 3 };

static void draw(plx_context *ctx, uint8_t *present, const plx_missing_options *o, const uint8_t *const *base)
{
    assert_ok(ctx, plx__missing_draw(present, ctx, N, V, base, o, 't'));
}

static plx_index row_count(const uint8_t *present, plx_index view)
{
    plx_index count = 0;
    for (plx_index i = 0; i < N; i++) count += present[view * N + i];
    return count;
}

static int views_of(const uint8_t *present, plx_index i) { return present[i] + present[N + i] + present[2 * N + i]; }

static void names_go_both_ways(void **state)
{
    (void)state;
    plx_missing_pattern p = PLX_MISSING_MCAR;
    assert_int_equal(plx_missing_pattern_parse(&p, "block"), PLX_OK);
    assert_int_equal(p, PLX_MISSING_BLOCK);
    assert_string_equal(plx_missing_pattern_name(PLX_MISSING_EXCLUSIVE), "exclusive");
    assert_int_equal(plx_missing_pattern_parse(&p, "blocks"), PLX_E_ARG);
    assert_null(plx_missing_pattern_name((plx_missing_pattern)8));
}

static void defaults_remove_nothing(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N];
    draw(ctx, present, NULL, NULL);
    for (int k = 0; k < V * N; k++) assert_int_equal(present[k], 1);
    plx_context_destroy(ctx);
}

/* Without keep_one the rates are the given ones: 5 sd of a binomial with N = 4000 is at most 5 * 31.6 = 158. */
static void mcar_has_the_given_rates(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N];
    const double rates[] = {0.0, 0.3, 1.0};
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    o.view_rates = rates;
    o.keep_one = 0;
    draw(ctx, present, &o, NULL);
    assert_int_equal(row_count(present, 0), N);
    assert_close((double)row_count(present, 1), 0.7 * N, 145);
    assert_int_equal(row_count(present, 2), 0);
    o.view_rates = NULL;
    o.rate = 0.6;
    draw(ctx, present, &o, NULL);
    plx_index empty = 0;
    for (plx_index i = 0; i < N; i++) empty += views_of(present, i) == 0;
    assert_close((double)empty, 0.216 * N, 130); /* views are independent: 0.6^3 */
    plx_context_destroy(ctx);
}

/* With keep_one every sample keeps a view; the rate becomes r - r^V / V = 0.6 - 0.072 = 0.528. */
static void mcar_keeps_one_view(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N];
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    o.rate = 0.6;
    draw(ctx, present, &o, NULL);
    for (plx_index i = 0; i < N; i++) assert_true(views_of(present, i) >= 1);
    for (plx_index v = 0; v < V; v++) assert_close((double)row_count(present, v), 0.472 * N, 158);
    const double rates[] = {1.0, 1.0, 1.0}, sure[] = {1.0, 0.0, 1.0};
    o.view_rates = rates;
    draw(ctx, present, &o, NULL);
    for (plx_index i = 0; i < N; i++) assert_int_equal(views_of(present, i), 1);
    for (plx_index v = 0; v < V; v++) assert_close((double)row_count(present, v), N / 3.0, 150);
    o.view_rates = sure;
    draw(ctx, present, &o, NULL);
    assert_int_equal(row_count(present, 1), N);
    plx_context_destroy(ctx);
}

/* Sample i lacks view i mod 4 (4: none), every tenth lacks all: nothing comes back, and those stay empty. */
static void only_present_rows_are_removed(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N], flags[V][N];
    const uint8_t *base[V];
    for (int v = 0; v < V; v++) {
        base[v] = flags[v];
        for (int i = 0; i < N; i++) flags[v][i] = i % 4 != v && i % 10 != 0;
    }
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    o.rate = 0.7;
    for (int pattern = 0; pattern < 3; pattern++)
        for (int blocks = 0; blocks < 8; blocks += 7) {
            o.pattern = (plx_missing_pattern)pattern;
            o.blocks = blocks;
            draw(ctx, present, &o, base);
            for (int i = 0; i < N; i++) {
                for (int v = 0; v < V; v++) assert_true(present[v * N + i] <= flags[v][i]);
                assert_int_equal(views_of(present, i) >= 1, i % 10 != 0);
            }
        }
    plx_context_destroy(ctx);
}

/* 40 % keep view 0 only, 40 % view 1 only, 20 % all: the toy of the acquisition literature. */
static void exclusive_keeps_exactly_one(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N];
    const double weights[] = {1, 1, 0};
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    o.pattern = PLX_MISSING_EXCLUSIVE;
    draw(ctx, present, &o, NULL);
    for (plx_index i = 0; i < N; i++) assert_int_equal(views_of(present, i), 1);
    for (plx_index v = 0; v < V; v++) assert_close((double)row_count(present, v), N / 3.0, 150);
    o.view_weights = weights;
    o.complete = 0.2;
    draw(ctx, present, &o, NULL);
    plx_index all = 0;
    for (plx_index i = 0; i < N; i++) all += views_of(present, i) == 3;
    assert_close((double)all, 0.2 * N, 127);
    assert_int_equal(row_count(present, 2), all);
    assert_close((double)row_count(present, 0), 0.6 * N, 155);
    plx_context_destroy(ctx);
}

/* Blocks of the exclusive pattern: one run of samples per view, exactly; weights 2:1:1 over four blocks. */
static void exclusive_blocks_follow_the_weights(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N];
    const double weights[] = {2, 1, 1};
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    o.pattern = PLX_MISSING_EXCLUSIVE;
    o.blocks = 4;
    o.contiguous = 1;
    o.view_weights = weights;
    draw(ctx, present, &o, NULL);
    for (plx_index i = 0; i < N; i++)
        for (plx_index v = 0; v < V; v++)
            assert_int_equal(present[v * N + i], v == (i < N / 2 ? 0 : i < 3 * N / 4 ? 1 : 2));
    o.contiguous = 0;
    draw(ctx, present, &o, NULL);
    assert_int_equal(row_count(present, 0), N / 2);
    assert_int_equal(row_count(present, 2), N / 4);
    o.complete = 0.5; /* shares 0.25, 0.125, 0.125 of the views, then 0.5: groups 2 and 3 keep all */
    o.contiguous = 1;
    draw(ctx, present, &o, NULL);
    for (plx_index i = 0; i < N; i++) assert_int_equal(views_of(present, i), i < N / 2 ? 1 : 3);
    plx_context_destroy(ctx);
}

/* View v is gone from exactly round(0.3 * 20) = 6 of 20 groups of 200; members of a group are alike. */
static void blocks_miss_the_same_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N];
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    o.pattern = PLX_MISSING_BLOCK;
    o.rate = 0.3;
    o.blocks = 20;
    o.contiguous = 1;
    o.keep_one = 0;
    draw(ctx, present, &o, NULL);
    for (plx_index v = 0; v < V; v++) {
        assert_int_equal(row_count(present, v), N - 6 * 200);
        for (plx_index i = 0; i < N; i++) assert_int_equal(present[v * N + i], present[v * N + i / 200 * 200]);
    }
    o.contiguous = 0;
    draw(ctx, present, &o, NULL);
    for (plx_index v = 0; v < V; v++) assert_int_equal(row_count(present, v), N - 6 * 200);
    plx_index changes = 0;
    for (plx_index i = 1; i < N; i++) changes += present[i] != present[i - 1];
    assert_true(changes > 1000); /* scattered: expectation 2 * 0.3 * 0.7 * N = 1680 */
    o.keep_one = 1;
    o.rate = 1.0;
    o.contiguous = 1;
    draw(ctx, present, &o, NULL); /* a group that lost all keeps one view as a group */
    for (plx_index i = 0; i < N; i++) {
        assert_int_equal(views_of(present, i), 1);
        for (plx_index v = 0; v < V; v++) assert_int_equal(present[v * N + i], present[v * N + i / 200 * 200]);
    }
    plx_context_destroy(ctx);
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static uint8_t present[V * N];
    const double minus[] = {1, -1, 1}, zero[] = {0, 0, 0}, high[] = {0, 0, 1.5};
    plx_missing_options ok = PLX_MISSING_OPTIONS_INIT, o = ok;
    o.rate = 1.5;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "missing rate = 1.5");
    o.rate = NAN;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "[0, 1]");
    o = ok, o.view_rates = high;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "view 2");
    o = ok, o.view_weights = minus;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "weight of view 1");
    o = ok, o.view_weights = zero;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "all 0");
    o = ok, o.complete = -0.1;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "complete");
    o = ok, o.blocks = N + 1;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "blocks");
    o = ok, o.pattern = (plx_missing_pattern)5;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "pattern 5");
    o = ok, o.struct_size = 0;
    assert_fails(ctx, plx__missing_draw(present, ctx, N, V, NULL, &o, 't'), PLX_E_ARG, "struct_size");
    plx_context_destroy(ctx);
}

/* Through the public door, and what comes out fits plx_dataset_mask. */
static void result_masks_a_data_set(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {1, 2, 3, 4};
    const uint8_t flags[] = {1, 1, 0, 1};
    plx_dataset *d = NULL, *masked = NULL;
    uint8_t present[8], again[8];
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    o.pattern = PLX_MISSING_EXCLUSIVE;
    assert_ok(ctx, plx__dataset_create(&d, ctx, "m", 4));
    assert_ok(ctx, plx__dataset_add_dense(d, ctx, "p", PLX_VIEW_REAL, (plx_cmat){x, 4, 1, 1}, NULL, flags));
    assert_ok(ctx, plx__dataset_add_dense(d, ctx, "q", PLX_VIEW_REAL, (plx_cmat){x, 4, 1, 1}, NULL, NULL));
    assert_ok(ctx, plx_missing_simulate(present, ctx, d, &o));
    assert_ok(ctx, plx_missing_simulate(again, ctx, d, &o));
    assert_memory_equal(present, again, sizeof present);
    for (int i = 0; i < 4; i++) assert_int_equal(present[i] + present[4 + i], 1);
    assert_int_equal(present[2], 0);
    assert_ok(ctx, plx__dataset_mask(&masked, ctx, d, present));
    assert_int_equal(masked->views[0].present_count + masked->views[1].present_count, 4);
    plx_dataset_destroy(masked);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    plx_status st = PLX_E_NOMEM;
    long k = 1;
    while (st != PLX_OK && k < 1000) {
        meter m = {0, ++k, 0};
        plx_context *ctx = metered_context(&m, 1);
        uint8_t present[20];
        plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
        o.pattern = PLX_MISSING_BLOCK;
        o.rate = 0.5;
        st = plx__call_end(ctx, plx__missing_draw(present, ctx, 10, 2, NULL, &o, 't'));
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        if (st != PLX_OK) assert_true(plx_context_error(ctx)[0]);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(k > 5 && k < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(defaults_remove_nothing),
        cmocka_unit_test(mcar_has_the_given_rates),
        cmocka_unit_test(mcar_keeps_one_view),
        cmocka_unit_test(only_present_rows_are_removed),
        cmocka_unit_test(exclusive_keeps_exactly_one),
        cmocka_unit_test(exclusive_blocks_follow_the_weights),
        cmocka_unit_test(blocks_miss_the_same_views),
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(result_masks_a_data_set),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
