/*
 * Methods with a device, here the host device or that of PLX_TEST_DEVICE: results near the CPU's; any call that fails, and memory that does not
 * suffice, ends in one line where the device was asked for, and in the CPU's result with auto; nothing stays behind.
 */
#include "gp_helpers.h"

#include "device_helpers.h"

enum { DENSE = 0, MISSING = 1, SPARSE = 2 };

typedef struct trial {
    const char *method;
    const char *settings[6];
    const char *arrays[4]; /* compared */
    int views, classes;    /* classes 0: numbers */
    int shape;             /* MISSING and SPARSE */
} trial;

static const trial trials[] = {
    {"gp", {"view=text", "kernel=rbf", "width=1"}, {"mean", "variance", "hyper"}, 1, 2, DENSE},
    {"gp",
     {"combine=sum", "kernel=rbf", "width=1", "optimize=none"},
     {"mean", "variance", "evidence_gradient"},
     3,
     3,
     MISSING},
    {"gp", {"task=regression", "kernel=poly", "optimize=none"}, {"mean", "variance", "alpha"}, 1, 0, DENSE},
    {"bct", {"kernel=rbf", "width=1", "optimize=evidence"}, {"mean", "variance", "hyper"}, 2, 2, DENSE},
    {"bct", {"kernel=rbf", "width=1", "optimize=none"}, {"mean", "variance", "alpha"}, 2, 3, DENSE},
    {"bct", {"kernel=rbf", "width=1", "optimize=view_variance"}, {"mean", "variance", "hyper"}, 3, 3, MISSING},
    {"bct", {"task=regression", "kernel=poly", "optimize=none"}, {"mean", "variance", "alpha"}, 3, 0, MISSING},
    {"bct", {"task=regression", "kernel=rbf", "width=1"}, {"mean", "variance", "alpha"}, 1, 0, DENSE},
    {"rls", {"view=text", "kernel=rbf", "width=1", "solver=dense"}, {"scores"}, 1, 3, DENSE},
    {"rls", {"view=text", "kernel=poly", "solver=dense", "bias=0"}, {"scores"}, 1, 2, DENSE},
    {"svm", {"view=text", "kernel=rbf", "width=1"}, {"scores"}, 1, 2, DENSE},
    {"corls", {"kernel=rbf", "width=1"}, {"scores"}, 2, 3, MISSING},
    {"kcca", {"kernel=rbf", "width=1", "dim=2"}, {"rho", "shared", "weights.text"}, 2, 2, DENSE},
    {"kcca", {"kernel=linear", "gs_stop=sum", "dim=1"}, {"rho", "shared", "weights.text"}, 2, 2, DENSE},
    {"kcca", {"kernel=rbf", "width=1", "dim=1", "gs_max=12"}, {"rho", "projection.text"}, 3, 2, MISSING},
    {"mvkmeans", {"assignment=sumscore"}, {"centroids.text", "centroids.image"}, 2, 3, MISSING | SPARSE},
    {"mvkmeans", {"assignment=prodscore"}, {"centroids.text"}, 1, 2, SPARSE},
    {"mvplsa", {"max_iter=20"}, {"pz", "loglik"}, 2, 3, MISSING | SPARSE},
    {"mvplsa", {"max_iter=20", "model=plsa"}, {"pz", "loglik"}, 2, 2, SPARSE},
    {"coem", {"max_iter=20"}, {"posterior", "alpha", "theta.text"}, 2, 3, MISSING | SPARSE},
    {"coem", {"max_iter=20", "mode=joint"}, {"posterior", "alpha", "loglik"}, 2, 2, SPARSE},
};

enum { TRIALS = sizeof trials / sizeof *trials };

typedef enum how { ON_CPU, INSISTING, AUTOMATIC } how;

static plx_context *context_for(how way)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    o.threads = 2;
    o.device = way == INSISTING ? tested_device() : "cpu";
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    if (way == AUTOMATIC) assert_int_equal(plx__device_choose_table(ctx, &plx__host_device_table, true), PLX_OK);
    return ctx;
}

static plx_dataset *data_of(plx_context *ctx, const trial *t)
{
    toy made = make_toy(t->classes ? t->classes : 2, (t->shape & MISSING) != 0);
    if (!(t->shape & SPARSE)) return toy_dataset(ctx, &made, t->views, t->classes == 0);
    plx_dataset *d = new_dataset(ctx, TOY_N);
    for (int v = 0; v < t->views; v++) {
        for (int i = 0; i < TOY_N * TOY_COLS; i++) made.x[v][i] = floor(4 * fabs(made.x[v][i])); /* counts */
        add_thin(d, ctx, toy_names[v], PLX_VIEW_COUNTS, made.x[v], TOY_COLS, made.present[v]);
    }
    set_labels(d, ctx, made.label);
    return d;
}

typedef struct outcome {
    plx_status status;
    char error[512];
    double values[4][TOY_N * 8];
    int64_t count[4], calls, sessions;
} outcome;

static outcome run(const trial *t, how way, plx__host_faults faults)
{
    outcome out = {.status = PLX_OK};
    plx_context *ctx = context_for(way);
    plx_dataset *d = data_of(ctx, t);
    plx_model *m = NULL;
    *plx__host_device_faults() = faults;
    out.status = try_fit(&m, ctx, t->method, d, t->settings, NULL);
    snprintf(out.error, sizeof out.error, "%s", plx_context_error(ctx));
    for (int a = 0; out.status == PLX_OK && t->arrays[a]; a++) {
        plx_cmat x = array_of(m, t->arrays[a]);
        out.count[a] = x.rows * x.cols;
        assert_true(out.count[a] <= TOY_N * 8);
        for (plx_index i = 0; i < x.rows; i++)
            memcpy(out.values[a] + i * x.cols, x.data + i * x.ld, (size_t)x.cols * sizeof(double));
    }
    out.calls = plx__host_device_faults()->calls;
    out.sessions = plx__device_sessions(ctx);
    *plx__host_device_faults() = (plx__host_faults){0};
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    return out;
}

static bool near_to(const outcome *a, const outcome *b, double tol)
{
    bool same = true;
    for (int k = 0; k < 4; k++) {
        same &= a->count[k] == b->count[k];
        for (int64_t i = 0; same && i < a->count[k]; i++)
            same &= fabs(a->values[k][i] - b->values[k][i]) <= tol * fmax(1, fabs(b->values[k][i]));
    }
    return same;
}

static const plx__host_faults NO_FAULT = {0};

/* Hyper-parameters are as precise as their search is. */
static const double TOLERANCE = 1e-5;

static void agrees_with_the_cpu(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        outcome cpu = run(&trials[i], ON_CPU, NO_FAULT), there = run(&trials[i], INSISTING, NO_FAULT);
        outcome again = run(&trials[i], INSISTING, NO_FAULT);
        assert_int_equal(cpu.status, PLX_OK);
        if (there.status != PLX_OK) fail_msg("%s: %s", trials[i].method, there.error);
        assert_true(there.sessions > 0 && cpu.sessions == 0);
        if (!near_to(&there, &cpu, TOLERANCE)) fail_msg("trial %d of %s differs", i, trials[i].method);
        assert_true(near_to(&there, &again, 0));
    }
}

static void any_call_may_fail(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        outcome cpu = run(&trials[i], ON_CPU, NO_FAULT), there = run(&trials[i], INSISTING, NO_FAULT);
        int64_t step = there.calls > 60 ? there.calls / 30 : 1; /* all of the first ones, then some */
        for (int64_t k = 1; k <= there.calls; k += k < 20 ? 1 : step) {
            plx__host_faults fault = {.fail_at = k, .code = k % 2 ? PLX_DEVICE_FAILED : PLX_DEVICE_NOMEM};
            outcome failed = run(&trials[i], INSISTING, fault), rescued = run(&trials[i], AUTOMATIC, fault);
            assert_int_equal(failed.status, k % 2 ? PLX_E_DEVICE : PLX_E_NOMEM);
            if (!strstr(failed.error, "device host")) fail_msg("call %d: %s", (int)k, failed.error);
            if (rescued.status != PLX_OK) fail_msg("%s, call %d: %s", trials[i].method, (int)k, rescued.error);
            assert_string_equal(rescued.error, "");
            bool exact = rescued.sessions <= 1 && !(trials[i].shape & SPARSE); /* else what was done before counts */
            assert_true(near_to(&rescued, &cpu, exact ? 0 : TOLERANCE));
        }
    }
}

static void memory_may_not_suffice(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        outcome cpu = run(&trials[i], ON_CPU, NO_FAULT), there = {.status = PLX_E_NOMEM};
        int refused = 0;
        for (int64_t bytes = 16 << 10; there.status != PLX_OK; bytes *= 2) {
            plx__host_faults fault = {.memory = bytes};
            assert_true(bytes < (int64_t)1 << 32);
            there = run(&trials[i], INSISTING, fault);
            outcome rescued = run(&trials[i], AUTOMATIC, fault);
            assert_int_equal(rescued.status, PLX_OK);
            assert_true(near_to(&rescued, &cpu, TOLERANCE));
            if (there.status == PLX_OK) continue;
            assert_int_equal(there.status, PLX_E_NOMEM);
            refused += strstr(there.error, " on device host, which has ") != NULL;
        }
        assert_true(refused > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_cpu)};
    const struct CMUnitTest host_only[] = {cmocka_unit_test(any_call_may_fail),
                                           cmocka_unit_test(memory_may_not_suffice)};
    int failed = tests_the_host() ? cmocka_run_group_tests(host_only, NULL, NULL) : 0;
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
