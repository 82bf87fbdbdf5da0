/*
 * What a comparison says about its runs: means, tests, ranks, and tables that names cannot break.
 */
#include "compare/render.h"
#include "compare_helpers.h"

/* A comparison of four entries over one block, five runs each, without any fit. */
typedef struct figures {
    plx_context *ctx;
    plx_dataset *data;
    plx_comparison *c;
} figures;

static const double SCORES[4][5] = {
    {.80, .82, .78, .81, .84}, {.79, .80, .79, .80, .81}, {.70, .75, .69, .72, .71}, {.81, .79, .80, .78, .83}};
static const char *const metric_name[] = {"accuracy"};

static figures open_figures(plx_compare_options *o)
{
    figures f = {.ctx = test_context(1)};
    const plx_dataset *list[1];
    f.data = toy_data(f.ctx, "toy", 1);
    METHODS(o, "nb", "rls", "svm", "coem");
    METRICS(o, "accuracy");
    list[0] = f.data;
    assert_ok(f.ctx, plx__comparison_create(&f.c, f.ctx, list, 1, o));
    for (int e = 0; e < 4; e++)
        for (int r = 0; r < 5; r++) {
            plx__measured *m = plx__measured_of(f.c, 0, e, r);
            m->done = true;
            m->count = 1;
            m->name = metric_name;
            m->value = &SCORES[e][r];
        }
    return f;
}

static void close_figures(figures *f)
{
    plx__comparison_destroy(f->c);
    plx_dataset_destroy(f->data);
    plx_context_destroy(f->ctx);
}

/* ---- tests ---- */

/* Means and deviations by hand, p by scipy.stats.ttest_rel; Holm by hand: the smallest of three times 3, then 2, then 1. */
static void tests_draws_of_labels(void **state)
{
    static const double mean[] = {.81, .798, .714, .802},
                        sd[] = {.02236067977499787, .008366600265340763, .023021728866442694, .019235384061671322};
    static const double p[] = {NAN, .14470399860633054, .0006081849444633351, .47662066727284164};
    plx_compare_options o = toy_options(5);
    figures f = open_figures(&o);
    (void)state;
    assert_ok(f.ctx, plx__comparison_summarise(f.c, f.ctx));
    for (int e = 0; e < 4; e++) {
        const plx__tally *cell = plx__tally_of(f.c, 0, 0, e);
        assert_close(cell->mean, mean[e], 1e-14);
        assert_close(cell->sd, sd[e], 1e-14);
        if (e) assert_close(cell->p, p[e], 1e-12);
    }
    assert_close(plx__tally_of(f.c, 0, 0, 2)->p_holm, 3 * p[2], 1e-12);
    assert_close(plx__tally_of(f.c, 0, 0, 1)->p_holm, 2 * p[1], 1e-12);
    assert_close(plx__tally_of(f.c, 0, 0, 3)->p_holm, p[3], 1e-12);
    assert_true(plx__tally_of(f.c, 0, 0, 0)->best);
    assert_true(plx__tally_of(f.c, 0, 0, 1)->level);
    assert_false(plx__tally_of(f.c, 0, 0, 2)->level);
    assert_true(isnan(plx__tally_of(f.c, 0, 0, 0)->p));
    close_figures(&f);
}

/* t = mean / sqrt((1/5 + 1/4) s^2), p by scipy.stats.t: a fifth of the samples is set aside. */
static void tests_folds_more_carefully(void **state)
{
    plx_compare_options o = toy_options(1);
    (void)state;
    o.folds = 5;
    figures f = open_figures(&o);
    f.c->block[0].test_ratio = 0.25;
    assert_ok(f.ctx, plx__comparison_summarise(f.c, f.ctx));
    assert_close(plx__tally_of(f.c, 0, 0, 1)->p, .29425636802442656, 1e-12);
    assert_close(plx__tally_of(f.c, 0, 0, 2)->p, .0028378459267344473, 1e-12);
    assert_close(plx__tally_of(f.c, 0, 0, 3)->p, .6286221115898262, 1e-12);
    assert_string_equal(plx__comparison_test(f.c), "corrected resampled t test, Holm");
    close_figures(&f);
}

/* An entry with a run less than the others is neither best nor tested, and ranks last. */
static void leaves_the_incomplete_out(void **state)
{
    plx_compare_options o = toy_options(5);
    figures f = open_figures(&o);
    plx_index *order = NULL, failed = 0;
    (void)state;
    assert_ok(f.ctx, plx__measured_fail(plx__measured_of(f.c, 0, 0, 3), f.c, PLX_E_NUMERIC, "broke down"));
    assert_ok(f.ctx, plx__comparison_summarise(f.c, f.ctx));
    const plx__tally *cell = plx__tally_of(f.c, 0, 0, 0);
    assert_int_equal(cell->runs, 4);
    assert_false(cell->best || cell->level);
    assert_true(isnan(cell->p) && isnan(f.c->rank[0]));
    assert_true(plx__tally_of(f.c, 0, 0, 3)->best);
    assert_string_equal(plx__tally_reason(f.c, 0, 0, &failed), "broke down");
    assert_int_equal(failed, 1);
    assert_ok(f.ctx, plx__order_by_rank(&order, f.ctx, f.c, 0));
    const plx_index expected[] = {3, 1, 2, 0};
    for (int k = 0; k < 4; k++) assert_int_equal(order[k], expected[k]);
    close_figures(&f);
}

/* Ranks by hand; Friedman's p by scipy.stats.friedmanchisquare([1,2,3],[2,1,4],[3,3,5]). */
static void ranks_over_blocks(void **state)
{
    static const double value[3][3] = {{1, 2, 3}, {2, 1, 4}, {3, 3, 5}}; /* entry, block */
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    const plx_dataset *list[] = {data};
    plx_compare_options o = toy_options(1);
    plx_comparison *c = NULL;
    (void)state;
    METHODS(&o, "nb", "rls", "svm");
    LABELS(&o, "5", "6", "7");
    METRICS(&o, "hamming_loss");
    const char *const name[] = {"hamming_loss"};
    assert_ok(ctx, plx__comparison_create(&c, ctx, list, 1, &o));
    for (int e = 0; e < 3; e++)
        for (int b = 0; b < 3; b++) {
            plx__measured *m = plx__measured_of(c, b, e, 0);
            *m = (plx__measured){.done = true, .count = 1, .name = name, .value = &value[e][b]};
        }
    assert_ok(ctx, plx__comparison_summarise(c, ctx));
    assert_close(c->rank[0], 4.0 / 3, 1e-14); /* small is good: 1, 2, 1 */
    assert_close(c->rank[1], 5.0 / 3, 1e-14);
    assert_close(c->rank[2], 3.0, 1e-14);
    assert_close(c->friedman_p[0], 0.09697196786440515, 1e-12);
    assert_true(plx__tally_of(c, 0, 0, 0)->best && !plx__tally_of(c, 0, 0, 1)->level); /* one run: not tested */
    plx__comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- tables ---- */

static const char *rendered(figures *f, plx_compare_format format)
{
    const char *text = NULL;
    assert_ok(f->ctx, plx__comparison_render(&text, f->ctx, f->c, format, PLX_COMPARE_RESULTS));
    return text;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) count++;
    return count;
}

static void escapes_names(void **state)
{
    plx_compare_options o = toy_options(5);
    figures f = open_figures(&o);
    (void)state;
    f.c->entry[0].name = "<script>alert(1)</script>|\n| x, \"y\" \\input{z} $a_b% & \x1b[31m";
    f.c->block[0].name = f.c->block[0].dataset = "=1+1|<b>";
    assert_ok(f.ctx, plx__measured_fail(plx__measured_of(f.c, 0, 1, 0), f.c, PLX_E_DATA, "bad </table>\n| row"));
    assert_ok(f.ctx, plx__comparison_summarise(f.c, f.ctx));
    const char *md = rendered(&f, PLX_COMPARE_MARKDOWN), *tex = rendered(&f, PLX_COMPARE_LATEX);
    const char *csv = rendered(&f, PLX_COMPARE_CSV), *text = rendered(&f, PLX_COMPARE_TEXT);
    assert_null(strchr(md, '<'));
    assert_non_null(strstr(md, "&lt;script&gt;alert\\(1\\)&lt;/script&gt;\\| \\| x"));
    assert_int_equal(count_of(md, "\n| "), 5); /* head and four rows: no name made a row of its own */
    assert_non_null(strstr(tex, "\\textbackslash{}input\\{z\\} \\$a\\_b\\% \\&"));
    assert_null(strstr(tex, "\\input"));
    assert_int_equal(count_of(tex, "\\\\\n"), 5);
    assert_non_null(strstr(csv, "\"<script>alert(1)</script>|\n| x, \"\"y\"\" "));
    assert_null(strchr(text, '\x1b'));
    assert_non_null(strstr(rendered(&f, PLX_COMPARE_JSON), "\\u001B"));
    close_figures(&f);
}

static void prints_points_in_every_locale(void **state)
{
    char text[PLX__FIGURE_BYTES];
    (void)state;
    assert_string_equal(plx__figure(text, 0.81249), "0.812");
    assert_string_equal(plx__decimals(text, -12.5, 0), "-12");
    assert_string_equal(plx__p_text(text, 0.0005), "<0.001");
    assert_string_equal(plx__seconds_text(text, 0.0123), "0.012");
    assert_string_equal(plx__seconds_text(text, 1234.5), "1234");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tests_draws_of_labels),
        cmocka_unit_test(tests_folds_more_carefully),
        cmocka_unit_test(leaves_the_incomplete_out),
        cmocka_unit_test(ranks_over_blocks),
        cmocka_unit_test(escapes_names),
        cmocka_unit_test(prints_points_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
