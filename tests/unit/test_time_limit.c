/*
 * A time limit that has passed before the first iteration: methods that iterate stop at once, give an answer, do not call it
 * converged, and name the limit.
 */
#include "fit_helpers.h"

enum { N = 40, D = 6 };

static plx_context *hurried_context(void)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    o.time_limit = 1e-9;
    o.threads = 1;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    return ctx;
}

static plx_dataset *two_views(plx_context *ctx, bool labelled)
{
    static double x[2][N * D];
    int label[N];
    plx__rng rng = plx__rng_start(4, 4);
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < N * D; i++) x[v][i] = 1 + random_count(&rng, i / D % 3 == i % 3 ? 6 : 3);
    for (int i = 0; i < N; i++) label[i] = i < 6 ? i % 3 : -1;
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "a", PLX_VIEW_COUNTS, x[0], D, NULL);
    add_dense(d, ctx, "b", PLX_VIEW_COUNTS, x[1], D, NULL);
    if (labelled) set_labels(d, ctx, label);
    return d;
}

static void expect_cut(const char *method, bool labelled, const char *const *settings)
{
    plx_context *ctx = hurried_context();
    plx_dataset *d = two_views(ctx, labelled);
    plx_model *m = fit_model(ctx, method, d, settings);
    bool named = false;
    for (plx_index i = 0; i < plx_model_warnings(m); i++)
        named |= strstr(plx_model_warning(m, i), "time limit") != NULL;
    if (m->facts.converged || !named) fail_msg("%s: converged %d, limit named %d", method, m->facts.converged, named);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void limits_are_named(void **state)
{
    (void)state;
    expect_cut("coem", true, NULL);
    expect_cut("coem", false, SETTINGS("clusters=3"));
    expect_cut("mvplsa", true, NULL);
    expect_cut("mvkmeans", true, NULL);
    expect_cut("mvkmeans", false, SETTINGS("clusters=3"));
    expect_cut("cotrain", true, NULL);
    expect_cut("cotrain", true, SETTINGS("base=logistic"));
    expect_cut("mvc", false, SETTINGS("clusters=3"));
}

/* What has no half result goes on for half of the limit, at least two seconds, and then gives up with a reason. */
static void overdue_calls_give_up(void **state)
{
    (void)state;
    static const struct {
        double limit, since;
        bool stops;
    } cases[] = {{1, 2.5, false}, {1, 3.5, true}, {100, 140, false}, {100, 160, true}, {0, 1e6, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plx_context *ctx = test_context(1);
        ctx->time_limit = cases[i].limit;
        ctx->call_started = plx__now() - cases[i].since;
        plx_status st = plx__poll(ctx);
        assert_int_equal(st, cases[i].stops ? PLX_E_CANCELLED : PLX_OK);
        if (cases[i].stops) assert_non_null(strstr(plx_context_error(ctx), "no result within the time limit"));
        plx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(overdue_calls_give_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
