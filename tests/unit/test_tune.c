/*
 * Tuning: candidates, what they are validated on, and when the settings one starts from stay.
 */
#include "api/tune_impl.h"
#include "compare_helpers.h"

/* View `noise` says nothing of the class, view `signal` all of it; the first `labelled` samples have labels. */
static plx_dataset *two_views(plx_context *ctx, int labelled)
{
    double noise[TOY_N * 2], signal[TOY_N * 2];
    int label[TOY_N];
    const char *truth[TOY_N];
    plx_dataset *d = new_dataset(ctx, TOY_N);
    plx__rng rng = plx__rng_start(4, 1);
    for (int i = 0; i < TOY_N; i++) {
        for (int j = 0; j < 2; j++) {
            noise[2 * i + j] = plx__next_normal(&rng);
            signal[2 * i + j] = (i % 2 ? 3 : -3) + plx__next_normal(&rng);
        }
        label[i] = i < labelled ? i % 2 : -1;
        truth[i] = i % 2 ? "B" : "A";
    }
    add_dense(d, ctx, "noise", PLX_VIEW_REAL, noise, 2, NULL);
    add_dense(d, ctx, "signal", PLX_VIEW_REAL, signal, 2, NULL);
    set_labels(d, ctx, label);
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    return d;
}

static plx_tuning *tuned(plx_context *ctx, const plx_dataset *data, const char *start, const plx_tune_options *o)
{
    plx_params *p = NULL;
    plx_tuning *t = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, "rls"));
    assert_ok(ctx, plx_params_set(p, ctx, "view", start));
    assert_ok(ctx, plx_tune(&t, ctx, "rls", data, p, o));
    plx_params_destroy(p);
    return t;
}

static plx_tune_options with_grid(const char *const *grid, plx_index n)
{
    plx_tune_options o = PLX_TUNE_OPTIONS_INIT;
    o.grid = grid;
    o.n_grid = n;
    o.jobs = 1;
    return o;
}

static void finds_what_matters(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = two_views(ctx, 24);
    plx_tune_options o = with_grid(NAMES("view=noise,signal", "gamma_a=0.01,0.1"), 2);
    plx_candidate c = PLX_CANDIDATE_INIT;
    (void)state;
    plx_tuning *t = tuned(ctx, data, "noise", &o);
    assert_int_equal(plx_tuning_count(t), 5);
    assert_ok(ctx, plx_tuning_get(&c, t, plx_tuning_chosen(t)));
    assert_non_null(strstr(c.settings, "view=signal"));
    assert_close(c.mean, 1, 0); /* three deviations on each side in two columns */
    assert_int_equal(c.runs, 10);
    assert_true(c.difference > c.difference_error && c.finalist);
    assert_string_equal(plx_params_get(plx_tuning_params(t), "view"), "signal");
    plx_tuning_destroy(t);
    t = tuned(ctx, data, "signal", &o); /* nothing to gain: everything stays */
    assert_int_equal(plx_tuning_chosen(t), 0);
    assert_non_null(strstr(plx_tuning_verdict(t), "start"));
    assert_string_equal(plx_params_get(plx_tuning_params(t), "view"), "signal");
    plx_tuning_destroy(t);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* The truth, also of samples without a label, is not looked at; jobs change nothing. */
static void looks_at_labels_only(void **state)
{
    plx_context *ctx = test_context(2);
    plx_dataset *data = two_views(ctx, 20);
    const char *lies[TOY_N];
    double before[16] = {0};
    (void)state;
    for (int i = 0; i < TOY_N; i++) lies[i] = i % 3 ? "A" : "C";
    for (int pass = 0; pass < 3; pass++) {
        plx_tune_options o = PLX_TUNE_OPTIONS_INIT;
        plx_candidate c = PLX_CANDIDATE_INIT;
        o.trials = 6;
        o.jobs = pass == 2 ? 2 : 1;
        if (pass == 1) assert_ok(ctx, plx_dataset_set_truth(data, ctx, lies));
        plx_tuning *t = tuned(ctx, data, "joined", &o);
        assert_int_equal(plx_tuning_count(t), 7);
        for (plx_index i = 0; i < 7; i++) {
            assert_ok(ctx, plx_tuning_get(&c, t, i));
            if (pass) assert_close(c.mean, before[i], 0);
            before[i] = c.mean;
            assert_null(strstr(c.settings, "view=")); /* what is set stays */
        }
        plx_tuning_destroy(t);
    }
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* Every value drawn is one the method takes, for every classifier that can be searched. */
static void draws_within_the_ranges(void **state)
{
    plx_context *ctx = test_context(1);
    int searched = 0;
    (void)state;
    for (plx_index m = 0; m < plx__method_count(); m++) {
        const plx__method *method = plx__method_at(m);
        plx_params *from = NULL;
        plx__candidates found;
        if (method->task != PLX_TASK_CLASSIFY) continue;
        assert_ok(ctx, plx__params_create(&from, ctx, method->name, method->params));
        plx_status st = plx__candidates_draw(&found, ctx, plx__scratch(ctx), method, from, 40);
        for (plx_index i = 1; st == PLX_OK && i < found.count; i++) {
            char text[600], *rest = NULL;
            snprintf(text, sizeof text, "%s", found.settings[i]);
            for (char *word = strtok_r(text, ":", &rest); word; word = strtok_r(NULL, ":", &rest)) {
                char *equals = strchr(word, '=');
                *equals = '\0';
                assert_ok(ctx, plx__params_set(from, ctx, word, equals + 1));
            }
        }
        searched += st == PLX_OK;
        plx__clear_error(ctx);
        plx__params_destroy(from);
    }
    assert_true(searched > 15);
    plx_context_destroy(ctx);
}

static void refuses_what_cannot_be(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = two_views(ctx, 20), *few = two_views(ctx, 3), *bare = two_views(ctx, 0);
    plx_tune_options o = with_grid(NAMES("gama=1"), 1);
    plx_tuning *t = NULL;
    (void)state;
    assert_fails(ctx, plx_tune(&t, ctx, "rls", data, NULL, &o), PLX_E_ARG, "gama");
    o.grid = NAMES("gamma_a=0,1");
    assert_fails(ctx, plx_tune(&t, ctx, "rls", data, NULL, &o), PLX_E_ARG, "gamma_a");
    o.grid = NAMES("gamma_a");
    assert_fails(ctx, plx_tune(&t, ctx, "rls", data, NULL, &o), PLX_E_ARG, "KEY=VALUE");
    o.grid = NAMES("view=a:b");
    assert_fails(ctx, plx_tune(&t, ctx, "rls", data, NULL, &o), PLX_E_ARG, "colon");
    o.grid = NAMES("gamma_a=0.1,1");
    assert_fails(ctx, plx_tune(&t, ctx, "rls", few, NULL, &o), PLX_E_DATA, "3 labelled samples");
    assert_fails(ctx, plx_tune(&t, ctx, "rls", bare, NULL, &o), PLX_E_DATA, "0 labelled samples");
    o.metric = "acuracy";
    assert_fails(ctx, plx_tune(&t, ctx, "rls", data, NULL, &o), PLX_E_ARG, "accuracy");
    o.metric = NULL;
    o.grid = NAMES("view=nowhere");
    plx_params *p = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, "rls"));
    assert_ok(ctx, plx_params_set(p, ctx, "view", "elsewhere"));
    assert_fails(ctx, plx_tune(&t, ctx, "rls", data, p, &o), PLX_E_UNSUPPORTED, "elsewhere");
    assert_null(t);
    plx_params_destroy(p);
    plx_dataset_destroy(data);
    plx_dataset_destroy(few);
    plx_dataset_destroy(bare);
    plx_context_destroy(ctx);
}

/* A tuned method of a comparison sees the labels of its run, and does what tuning and a fit by hand do. */
static void takes_part_in_comparisons(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = two_views(ctx, 0);
    plx_compare_options o = toy_options(2);
    plx_comparison *c = NULL;
    (void)state;
    METHODS(&o, "rls:view=noise", "rls:view=noise:tuned", "rls:view=signal:tuned");
    LABELS(&o, "10");
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    for (plx_index e = 0; e < 3; e++)
        for (plx_index r = 0; r < 2; r++) assert_false(isnan(plx_comparison_value(c, 0, 0, e, r)));
    assert_close(plx_comparison_value(c, 0, 0, 2, 0), 1, 0);
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_matters),        cmocka_unit_test(looks_at_labels_only),
        cmocka_unit_test(draws_within_the_ranges),   cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(takes_part_in_comparisons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
