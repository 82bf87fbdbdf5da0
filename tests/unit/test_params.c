/* Parameter tables: every kind of value, ranges, words, lists, the three levels of a per-view setting. */
#include "plx_test.h"

#include "params/param.h"

typedef struct fields {
    plx_index count, unset;
    double weight, share;
    bool flag;
    int mode;
    const char *title, *file;
    plx__value size, shares;
} fields;

static const plx__param_spec own[] = {
    PLX__INT(fields, count, "3", 1, 10, "A count."),
    PLX__INT(fields, unset, "", 0, 10, "A count that is not set."),
    PLX__REAL_ABOVE(fields, weight, "0.5", 0, "A weight."),
    {"share", PLX_PARAM_REAL, PLX__BELOW_HI, offsetof(fields, share), "0", 0, 1, NULL, "In [0, 1)."},
    PLX__BOOL(fields, flag, "1", "A flag."),
    PLX__CHOICE(fields, mode, "mean", "mean|product|mean_of", "A word."),
    PLX__TEXT(fields, title, "", "A text."),
    PLX__FILE(fields, file, "A file."),
    {"size", PLX_PARAM_INT_OR_WORD, 0, offsetof(fields, size), "auto", 1, INFINITY, "auto|all", "A number or a word."},
    PLX__REALS(fields, shares, "labels", 0, 1, "labels", "Numbers or a word."),
    PLX__PARAM_END};

static const plx__param_spec by_view[] = {PLX__VIEW_REAL_OR("width", "median", 0, PLX__ABOVE_LO, "median", "A width."),
                                          PLX__VIEW_INT("degree", "2", 1, 9, "A degree."),
                                          PLX__VIEW_CHOICE("kernel", "linear", "linear|rbf", "A kernel."),
                                          PLX__PARAM_END};

static const plx__param_table tables[] = {own, by_view, NULL};

typedef struct desk {
    plx_context *ctx;
    plx_params *p;
} desk;

static desk open_desk(void)
{
    desk d = {test_context(1), NULL};
    assert_ok(d.ctx, plx__params_create(&d.p, d.ctx, "toy", tables));
    return d;
}

static void close_desk(desk *d)
{
    plx_params_destroy(d->p);
    plx_context_destroy(d->ctx);
}

static void assert_number(desk *d, const char *name, const char *view, double expected)
{
    plx__value v;
    assert_ok(d->ctx, plx__view_value(&v, d->ctx, d->p, name, view));
    assert_true(v.number == expected);
}

static void tables_are_searched_in_order(void **state)
{
    (void)state;
    assert_int_equal(plx__param_count(tables), 13);
    assert_string_equal(plx__param_at(tables, 0)->name, "count");
    assert_string_equal(plx__param_at(tables, 10)->name, "width");
    assert_null(plx__param_at(tables, 13));
    assert_null(plx__param_at(tables, -1));
    assert_null(plx__param_find(tables, "coun"));
    assert_string_equal(plx__param_find(tables, "kernel")->def, "linear");
    assert_int_equal(plx__word_index("mean|product", "product"), 1);
    assert_int_equal(plx__word_index("mean|product", "mea"), -1);
    assert_int_equal(plx__word_index("mean|product", "mean|product"), -1);
    assert_int_equal(plx__word_index(NULL, "mean"), -1);
    assert_int_equal(plx__word_index("mean|product", ""), -1);
}

static void ranges_are_told_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *range;
    } expected[] = {{"count", "integer in [1, 10]"},
                    {"weight", "> 0"},
                    {"share", "in [0, 1)"},
                    {"flag", "0 or 1"},
                    {"mode", "mean|product|mean_of"},
                    {"title", "text"},
                    {"file", "a file"},
                    {"size", "integer >= 1, or auto|all"},
                    {"shares", "in [0, 1], separated by commas, or labels"},
                    {"width", "> 0, or median"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char out[128];
        assert_string_equal(plx__param_range(out, sizeof out, plx__param_find(tables, expected[i].name)),
                            expected[i].range);
    }
}

static void defaults_fill_the_struct(void **state)
{
    (void)state;
    desk d = open_desk();
    fields f = {0};
    assert_ok(d.ctx, plx__params_fill(&f, d.ctx, plx__scratch(d.ctx), d.p));
    assert_int_equal(f.count, 3);
    assert_int_equal(f.unset, -1);
    assert_true(f.weight == 0.5 && f.share == 0 && f.flag);
    assert_int_equal(f.mode, 0);
    assert_string_equal(f.title, "");
    assert_int_equal(f.size.word, 0);
    assert_int_equal(f.shares.word, 0);
    assert_int_equal(f.shares.n_list, 0);
    close_desk(&d);
}

static void settings_fill_the_struct(void **state)
{
    (void)state;
    static const char *const settings[][2] = {
        {"count", "10"},     {"unset", "0"},     {"weight", "1e-300"}, {"share", "0.999"}, {"flag", "Off"},
        {"mode", "mean_of"}, {"title", "a = b"}, {"file", "x/y.csv"},  {"size", "12"},     {"shares", " 0.25, 1 ,0"}};
    desk d = open_desk();
    fields f = {0};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_ok(d.ctx, plx__params_set(d.p, d.ctx, settings[i][0], settings[i][1]));
    assert_ok(d.ctx, plx__params_fill(&f, d.ctx, plx__scratch(d.ctx), d.p));
    assert_int_equal(f.count, 10);
    assert_int_equal(f.unset, 0);
    assert_true(f.weight == 1e-300 && f.share == 0.999 && !f.flag);
    assert_int_equal(f.mode, 2);
    assert_string_equal(f.title, "a = b");
    assert_string_equal(f.file, "x/y.csv");
    assert_true(f.size.word == -1 && f.size.number == 12);
    assert_int_equal(f.shares.n_list, 3);
    assert_true(f.shares.list[0] == 0.25 && f.shares.list[1] == 1 && f.shares.list[2] == 0);
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "count", "1e0")); /* the last setting wins */
    assert_ok(d.ctx, plx__params_fill(&f, d.ctx, plx__scratch(d.ctx), d.p));
    assert_int_equal(f.count, 1);
    close_desk(&d);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"count", "0"},        {"count", "11"},       {"count", "2.5"},   {"count", "x"},     {"count", ""},
        {"count", "1e300"},    {"count", "nan"},      {"weight", "0"},    {"weight", "-1"},   {"weight", "inf"},
        {"weight", "nan"},     {"weight", "1,5"},     {"weight", "1 2"},  {"share", "1"},     {"share", "-1e-12"},
        {"flag", "2"},         {"flag", "maybe"},     {"flag", ""},       {"mode", "median"}, {"mode", "Mean"},
        {"size", "0"},         {"size", "none"},      {"shares", "0.5,"}, {"shares", ",0.5"}, {"shares", "0.5;0.5"},
        {"shares", "0.5,1.5"}, {"shares", "0.5,nan"}, {"width", "0"},     {"width", "mean"},  {"degree", "10"}};
    desk d = open_desk();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(d.ctx, plx__params_set(d.p, d.ctx, bad[i][0], bad[i][1]), PLX_E_ARG, bad[i][0]);
        assert_null(d.p->first);
    }
    assert_fails(d.ctx, plx__params_set(d.p, d.ctx, "count", "11"), PLX_E_ARG,
                 "count = 11: must be integer in [1, 10]");
    close_desk(&d);
}

static void unknown_names_are_suggested(void **state)
{
    (void)state;
    desk d = open_desk();
    assert_fails(d.ctx, plx__params_set(d.p, d.ctx, "wieght", "1"), PLX_E_ARG,
                 "toy has no parameter 'wieght'; did you mean 'weight'?");
    assert_fails(d.ctx, plx__params_set(d.p, d.ctx, "kernl.text", "rbf"), PLX_E_ARG, "'kernel'");
    assert_fails(d.ctx, plx__params_set(d.p, d.ctx, "quite_another", "1"), PLX_E_ARG, "quite_another");
    assert_fails(d.ctx, plx__params_set(d.p, d.ctx, "count.text", "1"), PLX_E_ARG, "per view");
    close_desk(&d);
}

/* View's own, else the plain one, else the default. */
static void per_view_settings_have_levels(void **state)
{
    (void)state;
    desk d = open_desk();
    plx__value v;
    assert_int_equal(plx__view_value_level(d.p, "degree", "text"), 0);
    assert_number(&d, "degree", "text", 2);
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "degree.text", "5"));
    assert_number(&d, "degree", "text", 5);
    assert_number(&d, "degree", "image", 2);
    assert_number(&d, "degree", NULL, 2);
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "degree", "3"));
    assert_number(&d, "degree", "text", 5);
    assert_number(&d, "degree", "image", 3);
    assert_int_equal(plx__view_value_level(d.p, "degree", "text"), 2);
    assert_int_equal(plx__view_value_level(d.p, "degree", "image"), 1);
    assert_int_equal(plx__view_value_level(d.p, "nothing", NULL), -1);
    assert_fails(d.ctx, plx__view_value(&v, d.ctx, d.p, "nothing", NULL), PLX_E_INTERNAL, "nothing");
    assert_ok(d.ctx, plx__view_value(&v, d.ctx, d.p, "width", "text"));
    assert_true(v.word == 0 && isnan(v.number));
    assert_string_equal(plx_params_get(d.p, "degree.text"), "5");
    assert_string_equal(plx_params_get(d.p, "degree"), "3");
    assert_string_equal(plx_params_get(d.p, "kernel"), "linear");
    assert_null(plx_params_get(d.p, "degree.image"));
    assert_string_equal(plx_params_get(d.p, "Degree.text"), "5"); /* what can be set by a name is found by it */
    close_desk(&d);
}

static void views_of_settings_must_exist(void **state)
{
    (void)state;
    static const char *const views[] = {"text", "image"}, *const extra[] = {"concat"};
    desk d = open_desk();
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "degree.image", "3"));
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "degree.concat", "3"));
    assert_ok(d.ctx, plx__params_check_views(d.p, d.ctx, views, 2, extra, 1));
    assert_fails(d.ctx, plx__params_check_views(d.p, d.ctx, views, 2, NULL, 0), PLX_E_ARG,
                 "degree.concat: there is no view 'concat'; the views are text, image");
    close_desk(&d);
}

static void copies_are_their_own(void **state)
{
    (void)state;
    desk d = open_desk();
    plx_params *copy = NULL;
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "degree.text", "5"));
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "shares", "0.5,0.5"));
    assert_ok(d.ctx, plx__params_copy(&copy, d.ctx, d.p));
    assert_ok(d.ctx, plx__params_set(d.p, d.ctx, "degree.text", "6"));
    plx_params_destroy(d.p);
    d.p = copy;
    assert_string_equal(plx_params_get(d.p, "degree.text"), "5");
    assert_string_equal(plx_params_get(d.p, "shares"), "0.5,0.5");
    close_desk(&d);
}

static plx_status set_several(plx_context *ctx)
{
    plx_params *p = NULL, *copy = NULL;
    fields f = {0};
    PLX_TRY(plx__params_create(&p, ctx, "toy", tables));
    plx_status st = plx__params_set(p, ctx, "degree.text", "5");
    if (st == PLX_OK) st = plx__params_set(p, ctx, "shares", "0.5,0.5");
    if (st == PLX_OK) st = plx__params_copy(&copy, ctx, p);
    if (st == PLX_OK) st = plx__params_fill(&f, ctx, plx__scratch(ctx), copy);
    plx_params_destroy(copy);
    plx_params_destroy(p);
    return plx__call_end(ctx, st);
}

static void refused_memory_is_reported(void **state)
{
    (void)state;
    for (long k = 1;; k++) {
        meter m = {0, 0, 0};
        plx_context *ctx = metered_context(&m, 1);
        m.calls = 0;
        m.fail_at = k;
        plx_status st = set_several(ctx);
        bool reached = m.calls >= k;
        assert_int_equal(st, reached ? PLX_E_NOMEM : PLX_OK);
        if (reached) assert_true(plx_context_error(ctx)[0]);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (!reached) break;
        assert_true(k < 1000);
    }
}

/* The public road: real numbers and integers, messages, an unknown method. */
static void public_setters_print_exactly(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_params *p = NULL;
    assert_fails(ctx, plx_params_create(&p, ctx, "nbb"), PLX_E_ARG, "'nb'");
    assert_null(p);
    assert_ok(ctx, plx_params_create(&p, ctx, "nb"));
    assert_ok(ctx, plx_params_set_real(p, ctx, "smoothing", 0.1));
    assert_true(strtod(plx_params_get(p, "smoothing"), NULL) == 0.1);
    assert_ok(ctx, plx_params_set_int(p, ctx, "smoothing", 7));
    assert_string_equal(plx_params_get(p, "smoothing"), "7");
    assert_fails(ctx, plx_params_set_real(p, ctx, "smoothing", NAN), PLX_E_ARG, "smoothing");
    assert_string_equal(plx_params_get(p, "smoothing"), "7");
    plx_params_destroy(p);
    plx_params_destroy(NULL);
    plx_context_destroy(ctx);
}

/* One name for one idea: the method's own parameter gets the value. */
static void common_names_reach_own_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *method, *given, *own, *value;
    } rows[] = {{"laprls", "regularisation", "gamma_a", "0.3"},
                {"corls", "regularisation", "gamma", "0.3"},
                {"colr", "regularisation", "lambda_ridge", "2"},
                {"mvll", "regularisation", "lambda", "2"},
                {"nlapreg", "neighbours", "graph_k", "7"},
                {"spectral", "neighbours", "affinity_k", "7"},
                {"hknn", "neighbours", "k", "3"},
                {"mvll", "neighbours", "neighbours", "6"},
                {"colaprls", "view_weights", "laplacian_weights", "1,2"},
                {"mvc", "view_weights", "weights", "1,2"},
                {"nlapreg", "view_weights", "view_weights", "1,2"},
                {"corls", "Gamma_C", "gamma_c", "2"}};
    plx_context *ctx = test_context(1);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        plx_params *p = NULL;
        assert_ok(ctx, plx_params_create(&p, ctx, rows[r].method));
        assert_ok(ctx, plx_params_set(p, ctx, rows[r].given, rows[r].value));
        assert_string_equal(plx_params_get(p, rows[r].own), rows[r].value);
        plx_params_destroy(p);
    }
    plx_params *p = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, "corls"));
    assert_ok(ctx, plx_params_set(p, ctx, "regularisation.text", "0.7"));
    assert_string_equal(plx_params_get(p, "gamma.text"), "0.7");
    assert_fails(ctx, plx_params_set(p, ctx, "neighbours", "3"), PLX_E_ARG, "corls has no parameter 'neighbours'");
    plx_params_destroy(p);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_searched_in_order),  cmocka_unit_test(ranges_are_told_in_words),
        cmocka_unit_test(defaults_fill_the_struct),      cmocka_unit_test(settings_fill_the_struct),
        cmocka_unit_test(bad_values_are_refused),        cmocka_unit_test(unknown_names_are_suggested),
        cmocka_unit_test(per_view_settings_have_levels), cmocka_unit_test(views_of_settings_must_exist),
        cmocka_unit_test(copies_are_their_own),          cmocka_unit_test(refused_memory_is_reported),
        cmocka_unit_test(public_setters_print_exactly),  cmocka_unit_test(common_names_reach_own_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
