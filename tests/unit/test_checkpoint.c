/* Checkpoints: a fit that is stopped after any number of iterations and resumed gives the same model file as one that
 * is not; what is not its state is refused. */
#include "fit_helpers.h"

#include "parallax/params.h"

enum { N = 90, COLS = 12, K = 3 };

static plx_dataset *make_data(plx_context *ctx, bool labelled, bool real)
{
    plx__rng rng = plx__rng_start(5, PLX__STREAM('c', 'k', 'p', 't', 0));
    static double x[2][N * COLS];
    int label[N];
    plx_dataset *d = new_dataset(ctx, N);
    for (int i = 0; i < N; i++) {
        label[i] = labelled && i < 4 * K ? i % K : -1;
        for (int v = 0; v < 2; v++)
            for (int j = 0; j < COLS; j++)
                x[v][i * COLS + j] = random_count(&rng, 4) + (j % K == i % K ? random_count(&rng, 3) : 0);
    }
    add_thin(d, ctx, "a", PLX_VIEW_COUNTS, x[0], COLS, NULL);
    add_dense(d, ctx, "b", real ? PLX_VIEW_REAL : PLX_VIEW_COUNTS, x[1], COLS, NULL);
    if (labelled) set_labels(d, ctx, label);
    return d;
}

/* Counts iterations, and stops the fit when there were enough. */
typedef struct stopper {
    plx_context *ctx;
    int seen, most; /* most 0: never */
} stopper;

static int on_progress(const plx_progress *p, void *payload)
{
    stopper *s = payload;
    s->ctx->last_report = -1e9; /* tell every iteration, not one in 50 ms */
    if (strcmp(p->phase, "iterate") != 0 && strcmp(p->phase, "em") != 0) return 0;
    return ++s->seen == s->most;
}

typedef struct trial {
    const char *method;
    bool labelled, real;
    const char *settings[6]; /* name, value, ..., ended by NULL */
} trial;

static plx_status fit_once(const trial *t, const char *model, plx_fit_options *o, int most, int *iterations)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, t->labelled, t->real);
    plx_params *p = NULL;
    plx_model *m = NULL;
    stopper s = {ctx, 0, most};
    plx_context_set_seed(ctx, 3);
    assert_ok(ctx, plx_params_create(&p, ctx, t->method));
    for (int k = 0; t->settings[k]; k += 2) assert_ok(ctx, plx_params_set(p, ctx, t->settings[k], t->settings[k + 1]));
    plx_context_set_progress(ctx, on_progress, &s);
    plx_status st = plx_fit(&m, ctx, t->method, d, p, o);
    if (st == PLX_OK) assert_ok(ctx, plx_model_save(ctx, m, model));
    else assert_true(st == PLX_E_CANCELLED);
    if (iterations) *iterations = s.seen;
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    return st;
}

static void a_resumed_fit_is_the_same(void **state)
{
    static const trial trials[] = {
        {"coem", true, false, {"max_iter", "9", "tol", "0", NULL}},
        {"coem", true, true, {"max_iter", "7", "tol", "0", NULL}}, /* a gaussian view */
        {"coem", false, false, {"clusters", "3", "restarts", "3", NULL}},
        {"coem", true, false, {"priors", "view", "likelihood", "vmf", NULL}},
        {"mvkmeans", true, false, {NULL}},
        {"mvkmeans", false, false, {"clusters", "3", "restarts", "4", NULL}},
        {"mvkmeans", true, false, {"assignment", "cotrain", NULL}},
        {"mvkmeans", true, false, {"assignment", "maxagree", NULL}},
        {"mvplsa", true, false, {"max_iter", "8", "tol", "0", NULL}},
        {"mvplsa", true, false, {"max_iter", "6", "temper", "0.9", NULL}},
    };
    (void)state;
    char folder[] = "/tmp/plx_checkpoint_XXXXXX", whole[64], part[64], kept[64];
    assert_non_null(mkdtemp(folder));
    snprintf(whole, sizeof whole, "%s/whole.plx", folder);
    snprintf(part, sizeof part, "%s/part.plx", folder);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        plx_fit_options plain = PLX_FIT_OPTIONS_INIT, o = PLX_FIT_OPTIONS_INIT;
        int told = 0;
        o.checkpoint = kept;
        o.checkpoint_every = 0;
        assert_int_equal(fit_once(&trials[k], whole, &plain, 0, &told), PLX_OK);
        assert_true(told > 3);
        for (int stop = 2; stop <= told; stop += 1 + told / 8) {
            int rest = 0;
            o.resume = 0;
            unlink(kept);
            assert_int_equal(fit_once(&trials[k], part, &o, stop, NULL), PLX_E_CANCELLED);
            o.resume = access(kept, F_OK) == 0;
            assert_int_equal(fit_once(&trials[k], part, &o, 0, &rest), PLX_OK);
            assert_true(stop == 2 || rest < told); /* it did not start again */
            assert_same_files(whole, part);
        }
    }
    unlink(whole);
    unlink(part);
    unlink(kept);
    rmdir(folder);
}

static plx_status fit_with(plx_context *ctx, const plx_dataset *d, const char *method, const plx_fit_options *o)
{
    plx_model *m = NULL;
    plx_status st = plx_fit(&m, ctx, method, d, NULL, o);
    plx_model_destroy(m);
    return st;
}

static void what_is_not_its_state_is_refused(void **state)
{
    (void)state;
    char kept[] = "/tmp/plx_checkpoint_XXXXXX";
    int fd = mkstemp(kept);
    assert_true(fd >= 0);
    close(fd);
    unlink(kept);
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, true, false), *other = make_data(ctx, true, true);
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    o.checkpoint = kept;
    o.checkpoint_every = 0;
    o.resume = 1;
    assert_ok(ctx, fit_with(ctx, d, "coem", &o)); /* nothing to resume from yet: a warning */
    assert_int_equal(access(kept, F_OK), 0);
    assert_ok(ctx, fit_with(ctx, d, "coem", &o));
    assert_fails(ctx, fit_with(ctx, other, "coem", &o), PLX_E_ARG, "another fit");
    assert_fails(ctx, fit_with(ctx, d, "mvplsa", &o), PLX_E_ARG, "another fit");
    plx_context_set_seed(ctx, 99);
    assert_fails(ctx, fit_with(ctx, d, "coem", &o), PLX_E_ARG, "another fit");
    plx_context_set_seed(ctx, 0);
    FILE *f = fopen(kept, "r+b");
    assert_non_null(f);
    fseek(f, 60, SEEK_SET);
    fputc(0x5a ^ 0x33, f);
    fputc(0x11, f);
    fclose(f);
    assert_fails(ctx, fit_with(ctx, d, "coem", &o), PLX_E_FORMAT, "damaged checkpoint");
    assert_int_equal(truncate(kept, 40), 0);
    assert_fails(ctx, fit_with(ctx, d, "coem", &o), PLX_E_FORMAT, "damaged checkpoint");
    assert_fails(ctx, fit_with(ctx, d, "nb", &o), PLX_E_UNSUPPORTED, "coem");
    o.checkpoint = "/nowhere/kept";
    o.resume = 0;
    assert_fails(ctx, fit_with(ctx, d, "coem", &o), PLX_E_IO, "/nowhere/kept");
    o.checkpoint = NULL;
    o.resume = 1;
    assert_fails(ctx, fit_with(ctx, d, "coem", &o), PLX_E_ARG, "no checkpoint");
    o.checkpoint = kept;
    o.checkpoint_every = -1;
    assert_fails(ctx, fit_with(ctx, d, "coem", &o), PLX_E_ARG, "checkpoint_every");
    unlink(kept);
    plx_dataset_destroy(d);
    plx_dataset_destroy(other);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_fit_is_the_same),
        cmocka_unit_test(what_is_not_its_state_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
