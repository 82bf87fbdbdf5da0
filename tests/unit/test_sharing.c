/*
 * Values of views are shared, not copied, wherever they stay as they are; and reading, fitting and predicting hold the
 * data once.
 */
#include "io_test.h"

#include "data/dataset_impl.h"
#include "io/npy.h"
#include "parallax/parallax.h"

enum { N = 2000, COLS = 256, BYTES = N * COLS * 8 };

static double value_at(plx_index i, plx_index j) { return (double)((7 * i + 3 * j) % 5 + (i % 2 == j % 2 ? 3 : 0)); }

static plx_mat values(void)
{
    plx_mat x = {malloc(BYTES), N, COLS, COLS};
    assert_non_null(x.data);
    for (plx_index i = 0; i < N; i++)
        for (plx_index j = 0; j < COLS; j++) x.data[i * COLS + j] = value_at(i, j);
    return x;
}

/* Two classes, every sample labelled, one dense view of counts and a small second one. */
static plx_dataset *make_data(plx_context *ctx)
{
    plx_dataset *d = NULL;
    plx_mat x = values();
    const char *labels[N];
    for (plx_index i = 0; i < N; i++) labels[i] = i % 2 ? "odd" : "even";
    assert_ok(ctx, plx_dataset_create(&d, ctx, "d", N));
    assert_ok(ctx,
              plx_dataset_add_dense(d, ctx, "big", PLX_VIEW_COUNTS, (plx_cmat){x.data, N, COLS, COLS}, NULL, NULL));
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "small", PLX_VIEW_COUNTS, (plx_cmat){x.data, N, 2, COLS}, NULL, NULL));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    free(x.data);
    return d;
}

static const double *data_of(const plx_dataset *d, plx_index view)
{
    plx_cmat x;
    assert_int_equal(plx_dataset_dense(&x, d, view), PLX_OK);
    return x.data;
}

static void other_labels_share_all_values(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx), *other = NULL;
    const char *labels[N] = {"a", "b"};
    int64_t before = plx_context_memory_used(ctx);
    plx_context_reset_memory_peak(ctx);
    assert_ok(ctx, plx_dataset_relabel(&other, ctx, d, labels));
    assert_ptr_equal(data_of(d, 0), data_of(other, 0));
    assert_ptr_equal(data_of(d, 1), data_of(other, 1));
    assert_true(plx_context_memory_peak(ctx) - before < BYTES / 4);
    plx_dataset_destroy(d); /* the values live on */
    for (plx_index j = 0; j < COLS; j++) assert_true(data_of(other, 0)[5 * COLS + j] == value_at(5, j));
    plx_dataset_destroy(other);
    plx_context_destroy(ctx);
}

static void a_mask_copies_only_what_it_changes(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx), *masked = NULL;
    uint8_t *present = malloc(2 * N);
    assert_non_null(present);
    memset(present, 1, 2 * N);
    present[N + 7] = 0;
    assert_ok(ctx, plx_dataset_mask(&masked, ctx, d, present));
    assert_ptr_equal(data_of(d, 0), data_of(masked, 0));
    assert_ptr_not_equal(data_of(d, 1), data_of(masked, 1));
    assert_true(data_of(masked, 1)[14] == 0 && data_of(masked, 1)[15] == 0);
    assert_true(data_of(d, 1)[14] == value_at(7, 0));
    assert_int_equal(plx_dataset_present(d, 1)[7], 1);
    free(present);
    plx_dataset_destroy(masked);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A block goes back to the context it came from, so data sets of other contexts have copies. */
static void other_contexts_get_copies(void **state)
{
    (void)state;
    meter m = {0, 0, 0};
    plx_context *mine = metered_context(&m, 1), *other = test_context(1);
    plx_dataset *d = make_data(mine), *copy = NULL;
    assert_ok(other, plx_dataset_relabel(&copy, other, d, NULL));
    assert_ptr_not_equal(data_of(d, 0), data_of(copy, 0));
    plx_dataset_destroy(d);
    plx_context_destroy(mine);
    assert_int_equal(m.live, 0);
    assert_true(data_of(copy, 0)[3] == value_at(0, 3));
    plx_dataset_destroy(copy);
    plx_context_destroy(other);
}

static void scaling_one_view_shares_the_others(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx), *scaled = NULL;
    assert_ok(ctx, plx_dataset_scale(&scaled, ctx, d, 1, "unit"));
    assert_ptr_equal(data_of(d, 0), data_of(scaled, 0));
    assert_ptr_not_equal(data_of(d, 1), data_of(scaled, 1));
    plx_dataset_destroy(scaled);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- adopting ---- */

static void adopted_values_are_put_right_in_place(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    plx__shared *block = NULL;
    plx__arena arena;
    plx__arena_init(&arena, ctx);
    plx__view_source s = {.name = "v", .kind = PLX_VIEW_REAL, .sparse = true};
    assert_ok(ctx, plx_dataset_create(&d, ctx, "d", 3));
    assert_ok(ctx, plx__arena_csr(&s.csr, &arena, 3, 2, 5));
    const int64_t ptr[] = {0, 2, 4, 5};
    const int32_t col[] = {0, 1, 0, 1, 1};
    const double val[] = {0, 5, NAN, NAN, 7};
    memcpy(s.csr.ptr, ptr, sizeof ptr);
    memcpy(s.csr.col, col, sizeof col);
    memcpy(s.csr.val, val, sizeof val);
    assert_ok(ctx, plx__shared_take(&block, ctx, &arena));
    assert_ok(ctx, plx__dataset_adopt(d, ctx, block, &s));
    plx__shared_drop(block);
    const plx__view *v = &d->views[0];
    assert_ptr_equal(v->csr.val, s.csr.val);
    assert_int_equal(v->present_count, 2);
    assert_int_equal(v->present[1], 0);
    assert_int_equal(v->csr.ptr[1], 1);
    assert_int_equal(v->csr.ptr[2], 1);
    assert_int_equal(v->csr.ptr[3], 2);
    assert_true(v->csr.val[0] == 5 && v->csr.col[0] == 1 && v->csr.val[1] == 7);
    assert_int_equal(v->nonzeros, 2);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void a_refused_view_leaves_nothing_behind(void **state)
{
    (void)state;
    meter m = {0, 0, 0};
    plx_context *ctx = metered_context(&m, 1);
    plx_dataset *d = NULL;
    const double x[] = {1, INFINITY};
    const char *empty[] = {""};
    assert_ok(ctx, plx_dataset_create(&d, ctx, "d", 1));
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, (plx_cmat){x, 1, 2, 2}, NULL, NULL), PLX_E_DATA,
                 "infinite");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, (plx_cmat){x, 1, 1, 2}, empty, NULL),
                 PLX_E_DATA, "empty feature");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    assert_int_equal(m.live, 0);
}

/* ---- memory ---- */

static void write_npy(const char *path, plx_context *ctx)
{
    plx_mat x = values();
    plx__table t = {.dense = x};
    assert_ok(ctx, plx__npy_write(ctx, path, &t));
    free(x.data);
}

/* Reading holds the values once; so do a fit with other labels, and a prediction, beyond what the method states. */
static void the_data_are_held_once(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL, *labelled = NULL;
    plx_model *m = NULL;
    plx_prediction *p = NULL;
    const char *labels[N] = {0};
    labels[0] = "even";
    labels[1] = "odd";
    write_npy(scratch_path(path, ".npy"), ctx);
    int64_t before = plx_context_memory_used(ctx);
    plx_context_reset_memory_peak(ctx);
    assert_ok(ctx, plx_dataset_read(&d, ctx, path, NULL));
    assert_true(plx_context_memory_peak(ctx) - before < BYTES * 13 / 10);
    assert_ok(ctx, plx_dataset_relabel(&labelled, ctx, d, labels));
    assert_ok(ctx, plx_fit(&m, ctx, "nb", labelled, NULL, NULL));
    int64_t stated = (int64_t)(4 * N * 8 * 10);
    assert_true(plx_context_memory_peak(ctx) - before < BYTES * 13 / 10 + stated);
    assert_ok(ctx, plx_predict(&p, ctx, m, d));
    assert_true(plx_context_memory_peak(ctx) - before < BYTES * 13 / 10 + stated);
    unlink(path);
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx_dataset_destroy(labelled);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_labels_share_all_values),
        cmocka_unit_test(a_mask_copies_only_what_it_changes),
        cmocka_unit_test(other_contexts_get_copies),
        cmocka_unit_test(scaling_one_view_shares_the_others),
        cmocka_unit_test(adopted_values_are_put_right_in_place),
        cmocka_unit_test(a_refused_view_leaves_nothing_behind),
        cmocka_unit_test(the_data_are_held_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
