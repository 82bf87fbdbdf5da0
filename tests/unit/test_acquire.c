/*
 * Rankings as a whole: order, ties, costs, budget, density, held-out samples, refusals, failures of memory.
 */
#include "acquire_helpers.h"

#define FIXED "kernel=rbf", "width=0.7", "amplitude=1", "view_variance=0.4", "scale=none"

/* ---- ranking ---- */

static void ten_digits(void **state)
{
    (void)state;
    assert_true(plx__ten_digits(1.00000000004) == 1.0);
    assert_true(plx__ten_digits(1.00000000006) == plx__ten_digits(1.0000000001));
    assert_true(plx__ten_digits(123456789.04) == 123456789.0);
    assert_true(plx__ten_digits(123456789044.0) == 123456789000.0);
    assert_true(plx__ten_digits(2.5e-300) == 2.5e-300 && plx__ten_digits(0) == 0);
    assert_true(plx__ten_digits(3e-310) > 0 && plx__ten_digits(-1.00000000004) == -1.0);
}

static void order_ties_and_budget(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const plx__candidate c[] = {{2, 1, 1.0, 1, 0},  {2, 0, 1.0 + 1e-13, 1, 0}, {1, 1, 1.0, 1, 0},
                                {5, -1, 2.0, 2, 0}, {0, 0, 6.0, 2, 0},         {3, 0, 0.9, 1, 0}};
    const double factor[] = {1, 1, 1, 1, 1, 1};
    plx__ranked *r = NULL;
    plx_index count = 0;
    assert_ok(ctx, plx__rank(&r, &count, ctx, plx__scratch(ctx), c, 6, factor, NAN));
    const plx_index row[] = {0, 5, 1, 2, 2, 3}, view[] = {0, -1, 1, 0, 1, 0};
    assert_int_equal(count, 6);
    for (int i = 0; i < 6; i++) assert_true(r[i].row == row[i] && r[i].view == view[i]);
    assert_close(r[0].score, 3, 0);
    /* 2 + (label does not fit in 3) + 1: cheaper rows further down are still taken */
    assert_ok(ctx, plx__rank(&r, &count, ctx, plx__scratch(ctx), c, 6, NULL, 3));
    assert_int_equal(count, 2);
    assert_true(r[0].row == 0 && r[1].row == 1);
    assert_ok(ctx, plx__rank(&r, &count, ctx, plx__scratch(ctx), c, 6, NULL, 0.5));
    assert_int_equal(count, 0);
    const double twice[] = {4, 1, 1, 1, 1, 1};
    assert_ok(ctx, plx__rank(&r, &count, ctx, plx__scratch(ctx), c, 6, twice, NAN));
    assert_true(r[5].row == 0 && r[5].cost == 8 && r[5].score == 0.75);
    plx_context_destroy(ctx);
}

/* The data set's costs are the default, cost.VIEW wins, a sample's factor multiplies both. */
static void costs(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    double factor[TOY_N];
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    for (int i = 0; i < TOY_N; i++) factor[i] = i == 4 ? 3 : 1;
    assert_ok(ctx, plx_dataset_set_view_cost(d, ctx, 0, 5));
    assert_ok(ctx, plx_dataset_set_view_cost(d, ctx, 1, 7));
    assert_ok(ctx, plx_dataset_set_sample_costs(d, ctx, factor));
    plx_acquisition *a = acquire(ctx, d, SETTINGS(FIXED, "cost.image=2", "components=1"), NULL);
    plx_cmat gain = array_of(a->model, "gain");
    const double cost[] = {5, 2, 1};
    for (plx_index i = 0; i < a->count; i++) {
        const plx__ranked *r = &a->ranked[i];
        assert_close(r->cost, cost[r->view] * factor[r->row], 0);
        assert_close(r->score, gain.data[r->row * gain.ld + r->view] / r->cost, 1e-15);
        assert_false(t.present[r->view][r->row]);
        if (i) assert_true(r[-1].score >= r->score * (1 - 1e-9));
    }
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void strategies(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_acquisition *var = acquire(ctx, d, SETTINGS(FIXED, "strategy=var"), NULL),
                    *random = acquire(ctx, d, SETTINGS(FIXED, "strategy=random"), NULL);
    plx_cmat variance = array_of(var->model, "posterior_variance"), gain;
    for (plx_index i = 0; i < var->count; i++) assert_close(var->ranked[i].score, variance.data[var->ranked[i].row], 0);
    assert_int_equal(plx_model_array(&gain, var->model, "gain"), PLX_E_ARG);
    assert_int_equal(random->count, var->count);
    for (plx_index i = 0; i < random->count; i++)
        assert_true(random->ranked[i].score > 0 && random->ranked[i].score < 1);
    plx_context_set_seed(ctx, 99);
    plx_acquisition *other = acquire(ctx, d, SETTINGS(FIXED, "strategy=random"), (const char *const[]){"gain", NULL});
    assert_true(other->ranked[0].row != random->ranked[0].row || other->ranked[0].score != random->ranked[0].score);
    assert_int_equal(plx_model_array(&gain, other->model, "gain"), PLX_OK);
    plx_acquisition_destroy(var);
    plx_acquisition_destroy(random);
    plx_acquisition_destroy(other);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void nothing_is_missing(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_acquisition *a = acquire(ctx, d, SETTINGS(FIXED), NULL);
    plx_acquired row = PLX_ACQUIRED_INIT;
    assert_int_equal(plx_acquisition_count(a), 0);
    assert_int_equal(plx_acquisition_get(&row, a, 0), PLX_E_ARG);
    plx_cmat gain = array_of(a->model, "gain");
    for (int i = 0; i < TOY_N * 3; i++) assert_true(gain.data[i] == 0);
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- held-out samples ---- */

/* They are no candidates, tell the density nothing, and are predicted as bct predicts new samples. */
static void held_out(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    char directory[64];
    plx_acquisition *a = NULL, *b = NULL;
    plx_model *m = NULL;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n0\n1\n0\n0\n1\n0\n0\n0\n0\n1\n0\n0\n0\n");
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    const char *const settings[] = {FIXED, "components=2", "heldout=held.txt", NULL};
    assert_ok(ctx, try_acquire(&a, ctx, d, settings, NULL, directory));
    assert_ok(ctx, try_fit(&m, ctx, "bct", d, SETTINGS(FIXED, "heldout=held.txt"), directory));
    for (plx_index i = 0; i < a->count; i++)
        assert_true(a->ranked[i].row != 2 && a->ranked[i].row != 5 && a->ranked[i].row != 10);
    assert_same_matrix(array_of(a->model, "probability"), array_of(m, "probability"), 1e-12);
    assert_int_equal(array_of(a->model, "gain").rows, TOY_N);
    for (int v = 0; v < 3; v++) t.x[v][2 * TOY_COLS] += 5; /* another held-out sample: the same ranking */
    plx_dataset *other = toy_dataset(ctx, &t, 3, false);
    assert_ok(ctx, try_acquire(&b, ctx, other, settings, NULL, directory));
    assert_int_equal(a->count, b->count);
    for (plx_index i = 0; i < a->count; i++)
        assert_true(a->ranked[i].row == b->ranked[i].row && a->ranked[i].score == b->ranked[i].score);
    plx_acquisition_destroy(a);
    plx_acquisition_destroy(b);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_dataset_destroy(other);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* ---- density ---- */

/* One component per class by hand: means and variances of the labelled rows, cov_reg of the view's own variance, and
 * what a class has never seen is that of all. */
static void class_density(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    enum { N = 6 };
    const double x[N] = {1, 3, -2, -2, 4, 0}, y[N] = {1, 2, 0, 0, 5, 0};
    const uint8_t has_y[N] = {1, 1, 0, 0, 1, 0};
    const int label[N] = {0, 0, 1, 1, -1, -1};
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, 1, NULL);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, y, 1, has_y);
    set_labels(d, ctx, label);
    plx_acquisition *a = acquire(
        ctx, d,
        SETTINGS("kernel=rbf", "width=1", "amplitude=1", "density=class", "components=1", "cov_reg=0.1", "scale=none"),
        (const char *const[]){"gmm_cov.x", "gmm_cov.y", NULL});
    plx_cmat mean_x = array_of(a->model, "gmm_mean.x"), cov_x = array_of(a->model, "gmm_cov.x");
    plx_cmat mean_y = array_of(a->model, "gmm_mean.y"), cov_y = array_of(a->model, "gmm_cov.y");
    plx_cmat rho = array_of(a->model, "mixing"), weight = array_of(a->model, "gmm_weight");
    double var_x = 34.0 / 6 - pow(4.0 / 6, 2), var_y = 30.0 / 3 - pow(8.0 / 3, 2);
    assert_close(weight.data[0], 0.5, 1e-15);
    assert_close(mean_x.data[0], 2, 1e-12);
    assert_close(mean_x.data[1], -2, 1e-12);
    assert_close(cov_x.data[0], 1 + 0.1 * var_x, 1e-12);
    assert_close(cov_x.data[1], 0.1 * var_x, 1e-12);
    assert_close(cov_y.data[0], 0.25 + 0.1 * var_y, 1e-12);
    assert_close(mean_y.data[1], 8.0 / 3, 1e-12);
    assert_close(cov_y.data[1], 1.1 * var_y, 1e-12);
    for (int i = 0; i < 4; i++) assert_true(rho.data[2 * i + label[i]] == 1 && rho.data[2 * i + 1 - label[i]] == 0);
    double log_ratio = 0.5 * log(cov_x.data[0] / cov_x.data[1]) + 0.5 * (4 / cov_x.data[0] - 4 / cov_x.data[1]);
    assert_close(rho.data[2 * 5 + 1], 1 / (1 + exp(-log_ratio)), 1e-12);
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void start_files(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    char directory[64];
    plx_acquisition *a = NULL;
    make_directory(directory);
    for (int v = 0; v < 3; v++) t.present[v][3] = 0; /* not used: its row may hold anything */
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    write_file(directory, "r.csv", "1,0\n1,0\n1,0\nnan,-1\n1,0\n1,0\n1,0\n0,1\n0,1\n0,1\n0,1\n0,1\n0,1\n0,1\n");
    write_file(directory, "short.csv", "1,0\n0,1\n");
    write_file(directory, "bad.csv", "1,0\n1,-1\n1,0\n1,0\n1,0\n1,0\n1,0\n0,1\n0,1\n0,1\n0,1\n0,1\n0,1\n0,1\n");
    assert_ok(ctx, try_acquire(&a, ctx, d, SETTINGS(FIXED, "init=file:r.csv"), NULL, directory));
    assert_int_equal(array_of(a->model, "gmm_weight").rows, 2); /* components=auto takes the file's columns */
    plx_acquisition_destroy(a);
    assert_fails(ctx, try_acquire(&a, ctx, d, SETTINGS(FIXED, "init=file:short.csv"), NULL, directory), PLX_E_DATA,
                 "the file is 2 x 2, expected 14 samples");
    assert_fails(ctx, try_acquire(&a, ctx, d, SETTINGS(FIXED, "init=file:r.csv", "components=3"), NULL, directory),
                 PLX_E_DATA, "14 samples x 3");
    assert_fails(ctx, try_acquire(&a, ctx, d, SETTINGS(FIXED, "init=file:bad.csv"), NULL, directory), PLX_E_DATA,
                 "row 1, column 1");
    assert_fails(ctx, try_acquire(&a, ctx, d, SETTINGS(FIXED, "init=random"), NULL, directory), PLX_E_ARG,
                 "expected auto or file:F");
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* Kernel views that everybody has take part; the density leaves them out. */
static void kernel_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    double g[TOY_N * TOY_N];
    uint8_t some[TOY_N];
    plx_acquisition *a = NULL;
    for (int i = 0; i < TOY_N * TOY_N; i++) g[i] = i % (TOY_N + 1) == 0 ? 2 : 0.1;
    for (int i = 0; i < TOY_N; i++) some[i] = i != 6;
    plx_dataset *d = toy_dataset(ctx, &t, 2, false);
    add_dense(d, ctx, "given", PLX_VIEW_KERNEL, g, TOY_N, NULL);
    a = acquire(ctx, d, SETTINGS(FIXED, "components=1"), NULL);
    assert_true(a->count > 0);
    for (plx_index i = 0; i < a->count; i++) assert_true(a->ranked[i].view < 2);
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    d = toy_dataset(ctx, &t, 2, false);
    add_dense(d, ctx, "given", PLX_VIEW_KERNEL, g, TOY_N, some);
    assert_fails(ctx, try_acquire(&a, ctx, d, SETTINGS(FIXED), NULL, NULL), PLX_E_DATA,
                 "view 'given' is a kernel view; unseen features cannot be modelled");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- refusals ---- */

#define REFUSED(status, word, ...)                                                                                     \
    assert_fails(ctx, try_acquire(&a, ctx, d, SETTINGS(__VA_ARGS__), NULL, NULL), status, word)

static void refusals(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    plx_acquisition *a = NULL;
    plx_params *p = NULL;
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    REFUSED(PLX_E_ARG, "(view 'text' uses poly)", "kernel=poly", "expectation=moments");
    REFUSED(PLX_E_ARG, "density = class", "task=regression", "density=class");
    REFUSED(PLX_E_ARG, "task = kernel", "task=kernel");
    REFUSED(PLX_E_ARG, "nobody", FIXED, "cost.nobody=2");
    REFUSED(PLX_E_DATA, "components = 20", FIXED, "components=20");
    assert_ok(ctx, plx_acquire_params_create(&p, ctx, "bct"));
    static const char *const bad[][2] = {{"cost.text", "0"}, {"budget", "0"},   {"vague", "0"},      {"samples", "0"},
                                         {"strategy", "x"},  {"cov_reg", "-1"}, {"components", "0"}, {"nothing", "1"}};
    for (int i = 0; i < 8; i++) {
        char word[32];
        snprintf(word, sizeof word, "%.4s", bad[i][0]);
        assert_fails(ctx, plx_params_set(p, ctx, bad[i][0], bad[i][1]), PLX_E_ARG, word);
    }
    assert_fails(ctx, plx_acquire(&a, ctx, PLX_ACQUIRE_ANY, "bct", d, p, NULL), PLX_E_ARG,
                 "bct cannot rank labels and features together; available: colr");
    assert_fails(ctx, plx_acquire(&a, ctx, (plx_acquire_kind)7, "bct", d, p, NULL), PLX_E_ARG, "unknown kind");
    assert_fails(ctx, plx_acquire(&a, ctx, PLX_ACQUIRE_FEATURES, "nb", d, p, NULL), PLX_E_ARG,
                 "nb cannot rank features; available: bct, colr");
    plx_params_destroy(p);
    assert_fails(ctx, plx_acquire_params_create(&p, ctx, "cca"), PLX_E_ARG, "cca does not classify");
    plx_dataset_destroy(d);
    for (int i = 0; i < TOY_N; i++) t.present[2][i] = 0;
    d = toy_dataset(ctx, &t, 3, false);
    REFUSED(PLX_E_DATA, "view 'audio' is present for no sample", FIXED);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void wide_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    enum { N = 6, D = 501 };
    static double x[N * D];
    const uint8_t some[N] = {1, 1, 1, 1, 1, 0};
    const int label[N] = {0, 1, 0, 1, -1, -1};
    plx_acquisition *a = NULL;
    for (int i = 0; i < N * D; i++) x[i] = sin(i + 1);
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, D, some);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, x, 1, NULL);
    set_labels(d, ctx, label);
    REFUSED(PLX_E_DATA, "use covariance=diag", "kernel=rbf");
    a = acquire(ctx, d, SETTINGS("kernel=rbf", "covariance=diag", "components=1"), NULL);
    assert_int_equal(a->count, 1);
    plx_acquisition_destroy(a);
    plx_acquisition *b =
        acquire(ctx, d, SETTINGS("kernel=linear", "covariance=diag", "components=1", "expectation=moments"), NULL);
    assert_int_equal(b->count, 1);
    plx_acquisition_destroy(b);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- threads, memory, cancelling ---- */

static void same_bytes(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 7};
    static const char *const how[] = {"expectation=point", "expectation=moments", "expectation=sample"};
    toy t = make_toy(3, true);
    for (int e = 0; e < 3; e++) {
        double first[TOY_N * 3];
        for (int k = 0; k < 3; k++) {
            plx_context *ctx = test_context(threads[k]);
            plx_dataset *d = toy_dataset(ctx, &t, 3, false);
            plx_acquisition *a = acquire(ctx, d, SETTINGS(FIXED, how[e]), NULL);
            plx_cmat gain = array_of(a->model, "gain");
            if (k == 0) memcpy(first, gain.data, sizeof first);
            assert_memory_equal(first, gain.data, sizeof first);
            plx_acquisition_destroy(a);
            plx_dataset_destroy(d);
            plx_context_destroy(ctx);
        }
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    toy t = make_toy(2, true);
    bool done = false;
    for (long fail = 1; !done; fail++) {
        meter m = {0, 0, 0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *d = toy_dataset(ctx, &t, 3, false);
        plx_params *p = acquire_settings(ctx, SETTINGS(FIXED, "density=class", "expectation=moments"));
        plx_acquisition *a = NULL;
        long before = m.live;
        m.calls = 0;
        m.fail_at = fail;
        plx_status st = plx_acquire(&a, ctx, PLX_ACQUIRE_FEATURES, "bct", d, p, NULL);
        done = st == PLX_OK && m.calls < fail;
        if (st != PLX_OK) assert_true(st == PLX_E_NOMEM && plx_context_error(ctx)[0]);
        m.fail_at = 0;
        plx_acquisition_destroy(a);
        plx__call_begin(ctx);
        assert_true(m.live == before);
        plx_params_destroy(p);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

static int stop_at_gain(const plx_progress *p, void *payload)
{
    (void)payload;
    return strcmp(p->phase, "gain") == 0;
}

static void cancelled(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    plx_acquisition *a = NULL;
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_context_set_progress(ctx, stop_at_gain, NULL);
    REFUSED(PLX_E_CANCELLED, "", FIXED);
    assert_null(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void cannot_be_saved(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_acquisition *a = acquire(ctx, d, SETTINGS(FIXED), NULL);
    assert_fails(ctx, plx_model_save(ctx, plx_acquisition_model(a), "/tmp/never.plx"), PLX_E_UNSUPPORTED, "ranking");
    plx_acquisition_destroy(a);
    plx_acquisition_destroy(NULL);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_digits),
                                       cmocka_unit_test(order_ties_and_budget),
                                       cmocka_unit_test(costs),
                                       cmocka_unit_test(strategies),
                                       cmocka_unit_test(nothing_is_missing),
                                       cmocka_unit_test(held_out),
                                       cmocka_unit_test(class_density),
                                       cmocka_unit_test(start_files),
                                       cmocka_unit_test(kernel_views),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(wide_views),
                                       cmocka_unit_test(same_bytes),
                                       cmocka_unit_test(memory_runs_out),
                                       cmocka_unit_test(cancelled),
                                       cmocka_unit_test(cannot_be_saved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
