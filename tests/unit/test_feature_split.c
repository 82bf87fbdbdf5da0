#include "plx_test.h"

#include <unistd.h>

#include "core/rng.h"
#include "data/feature_split.h"
#include "parallax/split.h"

static const char *write_file(const char *text)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/plx_fsplit_%ld.txt", (long)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* Views: d (dense 3 x 5, value = 10 row + column, row 1 missing), s (sparse with the same values as counts). */
static plx_dataset *two_views(plx_context *ctx)
{
    double x[15];
    int64_t ptr[4] = {0, 5, 5, 10};
    int32_t col[10];
    double val[10];
    const uint8_t present[] = {1, 0, 1};
    const char *const features[] = {"a", "b", "c", "d", "e"}, *const labels[] = {"p", "q", NULL};
    plx_dataset *d = NULL;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) x[5 * i + j] = 10 * i + j;
    for (int k = 0; k < 10; k++) {
        col[k] = k % 5;
        val[k] = k < 5 ? k + 1 : 20 + k % 5;
    }
    assert_ok(ctx, plx__dataset_create(&d, ctx, "two", 3));
    assert_ok(ctx, plx__dataset_add_dense(d, ctx, "d", PLX_VIEW_REAL, (plx_cmat){x, 3, 5, 5}, features, present));
    assert_ok(ctx, plx__dataset_add_sparse(d, ctx, "s", PLX_VIEW_COUNTS, (plx_ccsr){3, 5, ptr, col, val}, NULL, NULL));
    assert_ok(ctx, plx__dataset_set_labels(d, ctx, labels));
    assert_ok(ctx, plx__dataset_set_view_cost(d, ctx, 0, 3.0));
    return d;
}

static void random_parts_are_even_and_seeded(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__feature_split a, b;
    plx_index size[4] = {0};
    uint64_t stream = PLX__STREAM('t', 'e', 's', 't', 0);
    assert_ok(ctx, plx__feature_split_random(&a, ctx, plx__scratch(ctx), 103, 4, stream));
    assert_ok(ctx, plx__feature_split_random(&b, ctx, plx__scratch(ctx), 103, 4, stream));
    assert_memory_equal(a.part, b.part, 103 * sizeof *a.part);
    for (int j = 0; j < 103; j++) size[a.part[j]]++;
    for (int p = 0; p < 4; p++) assert_in_range(size[p], 25, 26);
    plx_context_set_seed(ctx, 1);
    assert_ok(ctx, plx__feature_split_random(&b, ctx, plx__scratch(ctx), 103, 4, stream));
    assert_memory_not_equal(a.part, b.part, 103 * sizeof *a.part);
    assert_fails(ctx, plx__feature_split_random(&a, ctx, plx__scratch(ctx), 3, 4, stream), PLX_E_ARG, "[1, 3]");
    assert_fails(ctx, plx__feature_split_random(&a, ctx, plx__scratch(ctx), 3, 0, stream), PLX_E_ARG, "split = 0");
    plx_context_destroy(ctx);
}

/* Columns 0 2 3 go to part 1, columns 1 4 to part 0; dense values by hand, the other view unchanged. */
static void listed_dense_split(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = two_views(ctx), *out = NULL;
    char spec[96];
    snprintf(spec, sizeof spec, "file:%s", write_file("1\n0\n1\n1\n0\n"));
    assert_ok(ctx, plx_split_features(&out, ctx, d, 0, spec));
    assert_int_equal(out->n_views, 3);
    assert_string_equal(out->views[0].name, "split0");
    assert_string_equal(out->views[1].name, "split1");
    assert_string_equal(out->views[2].name, "s");
    const double part0[] = {1, 4, 0, 0, 21, 24}, part1[] = {0, 2, 3, 0, 0, 0, 20, 22, 23};
    assert_memory_equal(out->views[0].dense.data, part0, sizeof part0);
    assert_memory_equal(out->views[1].dense.data, part1, sizeof part1);
    assert_string_equal(out->views[1].features[2], "d");
    assert_int_equal(out->views[0].present[1], 0);
    assert_int_equal(out->views[1].present_count, 2);
    assert_close(out->views[0].cost, 1.2, 1e-15); /* 2 of 5 columns of a view that costs 3 */
    assert_close(out->views[2].cost, 1.0, 0);
    assert_int_equal(out->views[2].nonzeros, 10);
    assert_string_equal(out->labels[1], "q");
    plx_dataset_destroy(out);
    plx_dataset_destroy(d);
    unlink(write_file(""));
    plx_context_destroy(ctx);
}

static void listed_sparse_split(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx), *out = NULL;
    char spec[96];
    snprintf(spec, sizeof spec, "file:%s", write_file("1\n0\n1\n1\n0"));
    assert_ok(ctx, plx_split_features(&out, ctx, d, 1, spec));
    const int64_t ptr[] = {0, 3, 3, 6};
    const int32_t col[] = {0, 1, 2, 0, 1, 2};
    const double val[] = {1, 3, 4, 20, 22, 23};
    const plx__view *v = &out->views[2];
    assert_string_equal(v->name, "split1");
    assert_true(v->sparse && v->kind == PLX_VIEW_COUNTS && v->cols == 3);
    assert_memory_equal(v->csr.ptr, ptr, sizeof ptr);
    assert_memory_equal(v->csr.col, col, sizeof col);
    assert_memory_equal(v->csr.val, val, sizeof val);
    plx_dataset_destroy(out);
    plx_dataset_destroy(d);
    unlink(write_file(""));
    plx_context_destroy(ctx);
}

/* All columns appear exactly once over the parts of a random split. */
static void random_split_loses_nothing(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx), *out = NULL;
    double sum = 0;
    assert_ok(ctx, plx_split_features(&out, ctx, d, 0, "3"));
    assert_int_equal(out->n_views, 4);
    for (int v = 0; v < 3; v++) {
        assert_in_range(out->views[v].cols, 1, 2);
        for (plx_index j = 0; j < out->views[v].cols; j++) sum += out->views[v].dense.data[j];
    }
    assert_close(sum, 0 + 1 + 2 + 3 + 4, 0);
    plx_dataset_destroy(out);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void stored_splits_are_used_again(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx);
    const int32_t part[] = {0, 1, 0, 1, 0}, gap[] = {0, 2, 0, 2, 0}, outside[] = {0, 9, 0, 0, 0};
    plx__feature_split split, narrow = {2, 1, part};
    plx__view parts[2];
    plx__arena *m = plx__scratch(ctx);
    assert_ok(ctx, plx__feature_split_from(&split, ctx, m, "model", part, 5));
    assert_int_equal(split.parts, 2);
    assert_ok(ctx, plx__feature_split_apply(parts, ctx, m, &split, &d->views[0], "half"));
    assert_string_equal(parts[1].name, "half1");
    assert_close(parts[1].dense.data[1], 3, 0);
    assert_fails(ctx, plx__feature_split_apply(parts, ctx, m, &narrow, &d->views[0], "p"), PLX_E_DATA, "made for 2");
    assert_fails(ctx, plx__feature_split_from(&split, ctx, m, "model", gap, 5), PLX_E_FORMAT, "view 1 of 3");
    assert_fails(ctx, plx__feature_split_from(&split, ctx, m, "model", outside, 5), PLX_E_FORMAT, "line 2");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void wrong_splits_are_explained(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx), *out = NULL;
    char spec[96];
    snprintf(spec, sizeof spec, "file:%s", write_file("0\n1\n"));
    assert_fails(ctx, plx_split_features(&out, ctx, d, 0, spec), PLX_E_FORMAT, "has 2 lines, but the view has 5");
    write_file("0\n1\nx\n0\n1\n");
    assert_fails(ctx, plx_split_features(&out, ctx, d, 0, spec), PLX_E_FORMAT, "line 3");
    write_file("0\n1\n-1\n0\n1\n");
    assert_fails(ctx, plx_split_features(&out, ctx, d, 0, spec), PLX_E_FORMAT, "line 3");
    assert_fails(ctx, plx_split_features(&out, ctx, d, 2, "2"), PLX_E_ARG, "view 2 does not exist");
    assert_fails(ctx, plx_split_features(&out, ctx, d, 0, "6"), PLX_E_ARG, "[1, 5]");
    assert_fails(ctx, plx_split_features(&out, ctx, d, 0, NULL), PLX_E_ARG, "'spec'");
    assert_fails(ctx, plx_split_features(&out, ctx, d, 0, "some"), PLX_E_ARG, "file:PATH");
    assert_null(out);
    unlink(write_file(""));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static plx_status split_once(plx_context *ctx, plx_dataset **d, plx_dataset **out)
{
    const double x[] = {1, 2, 3, 4, 5, 6};
    const char *const features[] = {"a", "b", "c"};
    PLX_TRY(plx__dataset_create(d, ctx, "m", 2));
    PLX_TRY(plx__dataset_add_dense(*d, ctx, "x", PLX_VIEW_REAL, (plx_cmat){x, 2, 3, 3}, features, NULL));
    return plx_split_features(out, ctx, *d, 0, "2");
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    plx_status st = PLX_E_NOMEM;
    long k = 1;
    while (st != PLX_OK && k < 1000) {
        meter m = {0, ++k, 0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *d = NULL, *out = NULL;
        st = split_once(ctx, &d, &out);
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        if (st != PLX_OK) assert_true(plx_context_error(ctx)[0]);
        assert_int_equal(st == PLX_OK, out != NULL);
        plx_dataset_destroy(out);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(k > 20 && k < 1000);
}

/* ---- preparation of a view ---- */

static plx_status counts_and_reals(plx_dataset **out, plx_context *ctx)
{
    static const double x[] = {3, 0, 4, 5, 0, 0, 6, 7, 8}, y[] = {1, 2, 3};
    static const char *const names[] = {"p", "q", "r"}, *const labels[] = {"a", NULL, "b"};
    plx_status st = plx_dataset_create(out, ctx, "two", 3);
    if (st == PLX_OK) st = plx_dataset_add_dense(*out, ctx, "x", PLX_VIEW_COUNTS, (plx_cmat){x, 3, 3, 3}, names, NULL);
    if (st == PLX_OK) st = plx_dataset_add_dense(*out, ctx, "y", PLX_VIEW_REAL, (plx_cmat){y, 3, 1, 1}, NULL, NULL);
    if (st == PLX_OK) st = plx_dataset_set_labels(*out, ctx, labels);
    return st;
}

/* Columns are seen in 3, 1 and 2 rows; without the second the rows have the lengths 5, 5 and 10. */
static void views_are_prepared(void **state)
{
    (void)state;
    static const double unit[] = {0.6, 0.8, 1, 0, 0.6, 0.8};
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL, *kept = NULL, *scaled = NULL, *none = NULL;
    plx_view_info info = PLX_VIEW_INFO_INIT;
    plx_cmat m;
    assert_ok(ctx, counts_and_reals(&data, ctx));
    assert_ok(ctx, plx_dataset_min_df(&kept, ctx, data, 0, 2));
    assert_ok(ctx, plx_dataset_view_info(&info, kept, 0));
    assert_int_equal(info.cols, 2);
    assert_int_equal(info.kind, PLX_VIEW_COUNTS);
    assert_string_equal(plx_dataset_feature(kept, 0, 1), "r");
    assert_ok(ctx, plx_dataset_scale(&scaled, ctx, kept, 0, "unit"));
    assert_ok(ctx, plx_dataset_view_info(&info, scaled, 0));
    assert_int_equal(info.kind, PLX_VIEW_REAL);
    assert_ok(ctx, plx_dataset_dense(&m, scaled, 0));
    for (int i = 0; i < 6; i++) assert_close(m.data[i / 2 * m.ld + i % 2], unit[i], 1e-15);
    assert_int_equal(plx_dataset_find_view(scaled, "y"), 1);
    assert_string_equal(plx_dataset_label(scaled, 2), "b");
    assert_fails(ctx, plx_dataset_scale(&none, ctx, data, 2, "unit"), PLX_E_ARG, "view 2 does not exist");
    assert_fails(ctx, plx_dataset_scale(&none, ctx, data, 0, "none"), PLX_E_ARG, "unit, zscore, tfidf or l1");
    assert_fails(ctx, plx_dataset_min_df(&none, ctx, data, 0, 0), PLX_E_ARG, "at least 1");
    assert_fails(ctx, plx_dataset_min_df(&none, ctx, data, 0, 4), PLX_E_DATA, "nothing would be left");
    assert_null(none);
    plx_dataset_destroy(scaled);
    plx_dataset_destroy(kept);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void preparation_without_memory(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        plx_status st = PLX_E_NOMEM;
        for (long at = 1; st != PLX_OK; at++) {
            meter m = {0};
            plx_context *ctx = metered_context(&m, 1);
            plx_dataset *data = NULL, *out = NULL;
            assert_ok(ctx, counts_and_reals(&data, ctx));
            m.fail_at = m.calls + at;
            st = which ? plx_dataset_scale(&out, ctx, data, 0, "zscore") : plx_dataset_min_df(&out, ctx, data, 0, 2);
            m.fail_at = 0;
            assert_true(st == PLX_OK || (st == PLX_E_NOMEM && !out && plx_context_error(ctx)[0]));
            plx_dataset_destroy(out);
            plx_dataset_destroy(data);
            plx_context_destroy(ctx);
            assert_int_equal(m.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_parts_are_even_and_seeded),
        cmocka_unit_test(views_are_prepared),
        cmocka_unit_test(preparation_without_memory),
        cmocka_unit_test(listed_dense_split),
        cmocka_unit_test(listed_sparse_split),
        cmocka_unit_test(random_split_loses_nothing),
        cmocka_unit_test(stored_splits_are_used_again),
        cmocka_unit_test(wrong_splits_are_explained),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
