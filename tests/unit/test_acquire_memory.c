/*
 * What rankings state to take, alone and with batches: no less than they take, and no more than four times as much. A
 * criterion of labels counts where it is given, and is refused where it would not.
 */
#include "acquire_helpers.h"

enum { N = 300, D = 12, VIEWS = 3, SMALL_CHANGE = 64 << 10 };

static plx_dataset *make(plx_context *ctx, bool holes)
{
    static const char *const names[VIEWS] = {"a", "b", "c"};
    static const char *label[N];
    plx_dataset *d = new_dataset(ctx, N);
    plx__rng rng = plx__rng_start(5, 1);
    for (int v = 0; v < VIEWS; v++) {
        double x[N * D];
        uint8_t there[N];
        for (int i = 0; i < N; i++) {
            there[i] = !holes || v == i % VIEWS || plx__next_uniform(&rng) < 0.6;
            for (int e = 0; e < D; e++) x[i * D + e] = plx__next_normal(&rng) + (e % 3 == i % 3);
        }
        add_dense(d, ctx, names[v], PLX_VIEW_REAL, x, D, there);
    }
    for (int i = 0; i < N; i++) label[i] = i >= 30 ? NULL : i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z";
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, label));
    return d;
}

static void states_what_it_takes(void **state)
{
    (void)state;
    static const struct {
        plx_acquire_kind kind;
        const char *method, *settings[5];
    } cases[] = {
        {PLX_ACQUIRE_LABELS, "svm", {"criterion=margin"}},
        {PLX_ACQUIRE_LABELS, "svm", {"batch=200"}},
        {PLX_ACQUIRE_LABELS, "svm", {"batch=200", "density_weight=1"}},
        {PLX_ACQUIRE_LABELS, "colr", {"criterion=entropy", "batch=200"}},
        {PLX_ACQUIRE_LABELS, "colr", {"batch=50"}},
        {PLX_ACQUIRE_FEATURES, "bct", {"kernel=rbf", "components=2"}},
        {PLX_ACQUIRE_FEATURES, "bct", {"kernel=rbf", "components=2", "batch=60"}},
        {PLX_ACQUIRE_FEATURES, "bct", {"kernel=linear", "components=2", "batch=60", "expectation=moments"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = make(ctx, cases[k].kind == PLX_ACQUIRE_FEATURES);
        plx_acquisition *a = NULL;
        assert_ok(ctx, try_acquire_with(&a, ctx, cases[k].kind, cases[k].method, d, cases[k].settings));
        double stated = a->model->memory.stated, taken = (double)a->model->memory.taken;
        if (taken > stated + SMALL_CHANGE || stated > 4 * taken + SMALL_CHANGE)
            fail_msg("case %d, %s: states %.0f and takes %.0f bytes", (int)k, cases[k].method, stated, taken);
        plx_acquisition_destroy(a);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

/* The first sample of a ranking by margins is the one whose two best classes are closest, by the probabilities told. */
static void criterion_counts(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make(ctx, false);
    plx_acquisition *a = NULL;
    plx_acquired first = PLX_ACQUIRED_INIT;
    plx_index closest = -1;
    double least = INFINITY;
    assert_ok(ctx, try_acquire_with(&a, ctx, PLX_ACQUIRE_LABELS, "colr", d, SETTINGS("criterion=margin")));
    plx_cmat p = array_of(a->model, "probability");
    for (plx_index i = 30; i < N; i++) {
        double best = 0, second = 0;
        for (plx_index c = 0; c < p.cols; c++) {
            double x = p.data[i * p.ld + c];
            if (x > best) second = best, best = x;
            else second = fmax(second, x);
        }
        if (best - second < least) least = best - second, closest = i;
    }
    assert_int_equal(plx_acquisition_get(&first, a, 0), PLX_OK);
    assert_int_equal(first.sample, closest);
    assert_close(first.gain, 1 - least, 1e-9);
    plx_acquisition_destroy(a);
    assert_fails(ctx, try_acquire_with(&a, ctx, PLX_ACQUIRE_LABELS, "colr", d, SETTINGS("density_weight=1")), PLX_E_ARG,
                 "set criterion");
    assert_fails(ctx, try_acquire_with(&a, ctx, PLX_ACQUIRE_ANY, "colr", d, SETTINGS("criterion=margin")), PLX_E_ARG,
                 "labels only");
    assert_fails(ctx, try_acquire_with(&a, ctx, PLX_ACQUIRE_FEATURES, "bct", d, SETTINGS("density_weight=1")),
                 PLX_E_ARG, "labels only");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_what_it_takes),
        cmocka_unit_test(criterion_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
