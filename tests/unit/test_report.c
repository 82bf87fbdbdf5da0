/*
 * Reports: what is escaped, maps whose coordinates are known in closed form, refusals, memory that runs out.
 */
#include "compare_helpers.h"
#include "explain/directions.h"
#include "linalg/eigen.h"
#include "report/page.h"
#include "report/report_parts.h"

enum { N = 30 };

static void escapes_what_could_be_markup(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    (void)state;
    plx__page_escape(to, "[\"</script>&\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa \xc3\xa9\"]");
    fclose(to);
    assert_string_equal(text, "[\"\\u003c/script\\u003e\\u0026\\u2028\\u2029\xe2\x80\xaa \xc3\xa9\"]");
    free(text);
}

static void prints_on_one_line(void **state)
{
    plx_context *ctx = test_context(1);
    const char *text = NULL;
    (void)state;
    plx__json_maker m = {.ctx = ctx};
    json_t *root = json_object(), *list = plx__json_put_list(&m, root, "x\xff");
    plx__json_push(&m, list, json_integer(1));
    plx__json_push(&m, list, plx__json_real(0.5));
    plx__json_push(&m, list, plx__json_text(&m, NULL));
    plx__json_put_object(&m, root, "o");
    assert_ok(ctx, plx__json_made(&m));
    assert_ok(ctx, plx__json_print_line(&text, plx__scratch(ctx), root));
    assert_string_equal(text, "{\"x\\\\xFF\":[1,0.5,null],\"o\":{}}");
    json_decref(root);
    plx_context_destroy(ctx);
}

/* Two correlated columns, every third row absent. */
static void fill_pair(double *x, uint8_t *present)
{
    plx__rng rng = plx__rng_start(11, 5);
    for (int i = 0; i < N; i++) {
        double shared = 2 * plx__next_normal(&rng);
        x[2 * i] = 5 + shared + plx__next_normal(&rng);
        x[2 * i + 1] = 3 * (shared + plx__next_normal(&rng)) - 1;
        present[i] = i % 3 != 2;
    }
}

static plx_dataset *pair_data(plx_context *ctx)
{
    double x[2 * N], one[N];
    uint8_t present[N];
    const char *truth[N];
    plx_dataset *d = new_dataset(ctx, N);
    fill_pair(x, present);
    for (int i = 0; i < N; i++) {
        one[i] = x[2 * i];
        truth[i] = i % 2 ? "a" : "b";
    }
    add_dense(d, ctx, "pair", PLX_VIEW_REAL, x, 2, present);
    add_dense(d, ctx, "one", PLX_VIEW_REAL, one, 1, NULL);
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    return d;
}

/* Against LAPACK's decomposition of the centred rows. */
static void finds_directions(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = pair_data(ctx);
    const plx__view *v = &d->views[0];
    plx__directions found;
    plx_mat a, u, vt;
    double mean[2] = {0, 0}, s[2];
    plx_index row = 0, rows = v->present_count;
    (void)state;
    assert_ok(ctx, plx__view_directions(&found, ctx, v, N, 5));
    assert_int_equal(found.u.cols, 2);
    assert_ok(ctx, plx__arena_mat(&a, plx__scratch(ctx), rows, 2));
    assert_ok(ctx, plx__arena_mat(&u, plx__scratch(ctx), rows, 2));
    assert_ok(ctx, plx__arena_mat(&vt, plx__scratch(ctx), 2, 2));
    for (int i = 0; i < N; i++)
        for (int j = 0; v->present[i] && j < 2; j++) mean[j] += v->dense.data[i * v->dense.ld + j] / (double)rows;
    for (int i = 0; i < N; i++) {
        for (int j = 0; v->present[i] && j < 2; j++)
            a.data[row * a.ld + j] = v->dense.data[i * v->dense.ld + j] - mean[j];
        row += v->present[i];
    }
    assert_ok(ctx, plx__svd(ctx, a, u, s, vt));
    for (int k = 0; k < 2; k++) assert_close(found.strength[k], s[k], 1e-8 * s[0]);
    assert_close(found.total, s[0] * s[0] + s[1] * s[1], 1e-8 * found.total);
    for (int i = 0; i < N; i++)
        if (!v->present[i]) assert_close(found.u.data[i * found.u.ld], 0, 0);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static double coordinate(const json_t *maps, size_t panel, const char *axis, size_t i)
{
    json_t *value = json_array_get(json_object_get(json_array_get(json_object_get(maps, "panels"), panel), axis), i);
    return json_is_null(value) ? NAN : json_number_value(value);
}

/* The principal axes of two standardised columns are their sum and their difference, whatever their correlation. */
static void maps_a_view(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = pair_data(ctx);
    plx_report r = {.ctx = ctx, .root = json_object()};
    double x[2 * N], mean[2] = {0}, sd[2] = {0}, most[2] = {0}, z[N][2];
    uint8_t present[N];
    (void)state;
    fill_pair(x, present);
    for (int i = 0; i < N; i++)
        for (int j = 0; present[i] && j < 2; j++) mean[j] += x[2 * i + j] / 20;
    for (int i = 0; i < N; i++)
        for (int j = 0; present[i] && j < 2; j++) sd[j] += pow(x[2 * i + j] - mean[j], 2);
    for (int i = 0; i < N; i++) {
        double a = (x[2 * i] - mean[0]) / sqrt(sd[0]), b = (x[2 * i + 1] - mean[1]) / sqrt(sd[1]);
        z[i][0] = a + b;
        z[i][1] = a - b;
        for (int j = 0; present[i] && j < 2; j++) most[j] = fmax(most[j], fabs(z[i][j]));
    }
    assert_ok(ctx, plx__report_data(&r, ctx, d, NULL));
    const json_t *maps = json_object_get(json_object_get(r.root, "data"), "maps");
    assert_int_equal(json_array_size(json_object_get(maps, "panels")), 3);
    for (size_t i = 0; i < N; i++) { /* panel 0 is of all views */
        if (present[i]) {
            assert_close(fabs(coordinate(maps, 1, "x", i)), fabs(z[i][0]) / most[0], 1e-4);
            assert_close(fabs(coordinate(maps, 1, "y", i)), fabs(z[i][1]) / most[1], 1e-4);
        } else assert_true(isnan(coordinate(maps, 1, "x", i)));
        assert_false(isnan(coordinate(maps, 0, "x", i)));
    }
    json_decref(r.root);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Two views that hold the same one number: so does the map of both, also where one is missing. */
static void joins_views(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, N);
    plx_report r = {.ctx = ctx, .root = json_object()};
    double a[N], b[N], middle = (N - 1) / 2.0;
    (void)state;
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 100 - 7 * i;
    }
    add_dense(d, ctx, "a", PLX_VIEW_REAL, a, 1, NULL);
    add_dense(d, ctx, "b", PLX_VIEW_REAL, b, 1, NULL);
    assert_ok(ctx, plx__report_data(&r, ctx, d, NULL));
    const json_t *maps = json_object_get(json_object_get(r.root, "data"), "maps");
    for (size_t i = 0; i < N; i++)
        assert_close(fabs(coordinate(maps, 0, "x", i)), fabs((double)i - middle) / middle, 1e-4);
    json_decref(r.root);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* More samples than are drawn: a choice that depends on the seed alone. */
static void draws_some_of_many(void **state)
{
    enum { MANY = 21000 };
    plx_context *ctx = test_context(2);
    plx_dataset *d = new_dataset(ctx, MANY);
    double *x = malloc(MANY * sizeof *x);
    (void)state;
    for (int i = 0; i < MANY; i++) x[i] = i;
    add_dense(d, ctx, "a", PLX_VIEW_REAL, x, 1, NULL);
    json_t *first = NULL;
    for (int k = 0; k < 2; k++) {
        plx_report r = {.ctx = ctx, .root = json_object()};
        assert_ok(ctx, plx__report_data(&r, ctx, d, NULL));
        const json_t *maps = json_object_get(json_object_get(r.root, "data"), "maps");
        assert_int_equal(json_integer_value(json_object_get(maps, "drawn")), 1500);
        assert_int_equal(json_integer_value(json_object_get(maps, "of")), MANY);
        assert_int_equal(json_integer_value(json_object_get(maps, "axes_from")), 20000);
        assert_int_equal(json_array_size(json_object_get(maps, "id")), 1500);
        if (first) assert_true(json_equal(first, r.root));
        first = first ? first : json_incref(r.root);
        json_decref(r.root);
    }
    json_decref(first);
    free(x);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static int stop_at_once(const plx_progress *p, void *payload)
{
    (void)p;
    (void)payload;
    return 1;
}

static void refuses(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = pair_data(ctx), *other = new_dataset(ctx, 2);
    plx_report *r = NULL;
    plx_model *model = NULL;
    (void)state;
    assert_fails(ctx, plx_report_create(&r, ctx, (plx_report_kind)17, NULL), PLX_E_ARG, "17");
    assert_ok(ctx, plx_report_create(&r, ctx, PLX_REPORT_FIT, "parallax fit"));
    assert_ok(ctx, plx_fit(&model, ctx, "mrdbscan", d, NULL, NULL));
    assert_fails(ctx, plx_report_add_model(r, ctx, NULL, d), PLX_E_ARG, "model");
    assert_fails(ctx, plx_report_add_data(r, ctx, other, plx_model_prediction(model)), PLX_E_ARG, "30 samples");
    if (plx_report_available())
        assert_fails(ctx, plx_report_write(ctx, r, "/nowhere/at/all.html"), PLX_E_IO, "/nowhere");
    else assert_fails(ctx, plx_report_write(ctx, r, "report.html"), PLX_E_UNSUPPORTED, "PLX_REPORT=ON");
    plx_context_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(plx_report_add_data(r, ctx, d, NULL), PLX_E_CANCELLED);
    plx_model_destroy(model);
    plx_report_destroy(r);
    plx_report_destroy(NULL);
    plx_dataset_destroy(other);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Every allocation refused in turn while a fit is reported: an error, and nothing stays behind. */
static void survives_refused_memory(void **state)
{
    bool whole = false;
    (void)state;
    for (long at = 1; !whole && at < 4000; at += 2) {
        meter m = {0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *d = pair_data(ctx);
        plx_model *model = NULL;
        plx_report *r = NULL;
        assert_ok(ctx, plx_fit(&model, ctx, "mrdbscan", d, NULL, NULL));
        m.fail_at = m.calls + at;
        plx_status st = plx_report_create(&r, ctx, PLX_REPORT_FIT, NULL);
        if (st == PLX_OK) st = plx_report_add_model(r, ctx, model, d);
        whole = m.calls < m.fail_at;
        m.fail_at = 0;
        assert_true(whole ? st == PLX_OK : st == PLX_E_NOMEM);
        plx_report_destroy(r);
        plx_model_destroy(model);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_could_be_markup),
        cmocka_unit_test(prints_on_one_line),
        cmocka_unit_test(finds_directions),
        cmocka_unit_test(maps_a_view),
        cmocka_unit_test(joins_views),
        cmocka_unit_test(draws_some_of_many),
        cmocka_unit_test(refuses),
        cmocka_unit_test(survives_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
