/*
 * gp: closed forms, gradients by finite differences, ways to say the same thing, and every refusal.
 */
#include "gp_helpers.h"
#include "linalg/distance.h"
#include "pivot_helpers.h"

/* One labelled sample: mean = k y / (k_11 + noise), variance = k_** - k^2 / (k_11 + noise). */
static void one_labelled_sample(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 3);
    static const double x[] = {2, 1, 3};
    static const char *const labels[] = {"4", NULL, NULL};
    (void)state;
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, 1, NULL);
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    plx_model *m = fit_model(ctx, "gp", d, SETTINGS("task=regression", "optimize=none", "noise=0.5", "center=0"));
    plx_cmat mean = array_of(m, "mean"), variance = array_of(m, "variance");
    for (int i = 0; i < 3; i++) {
        double k = 2 * x[i];
        assert_close(mean.data[i], k * 4 / 4.5, 1e-14);
        assert_close(variance.data[i], x[i] * x[i] - k * k / 4.5, 1e-13);
    }
    assert_close(evidence(m), -0.5 * 16 / 4.5 - 0.5 * log(4.5) - 0.5 * log(2 * acos(-1.0)), 1e-13);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void gradients(void **state)
{
    static const char *const joined[] = {"amplitude", "width", "noise"};
    static const char *const summed[] = {"amplitude.text",  "width.text",  "amplitude.image",
                                         "amplitude.audio", "width.audio", "noise"};
    plx_context *ctx = test_context(1);
    (void)state;
    for (int classes = 2; classes <= 3; classes++) {
        toy t = make_toy(classes, true);
        for (int regression = 0; regression < 2; regression++) {
            plx_dataset *d = toy_dataset(ctx, &t, 3, regression);
            const char *task = regression ? "task=regression" : "task=classification";
            check_gradient(ctx, "gp", d, SETTINGS(task, "optimize=none", "kernel=rbf", "missing=mean"), joined);
            check_gradient(ctx, "gp", d,
                           SETTINGS(task, "optimize=none", "kernel=rbf", "combine=sum", "kernel.image=linear"), summed);
            plx_dataset_destroy(d);
        }
    }
    plx_context_destroy(ctx);
}

static void optimum_is_no_worse(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(3, false);
    (void)state;
    for (int regression = 0; regression < 2; regression++) {
        plx_dataset *d = toy_dataset(ctx, &t, 2, regression);
        const char *task = regression ? "task=regression" : "task=classification";
        plx_model *a = fit_model(ctx, "gp", d, SETTINGS(task, "kernel=rbf", "optimize=none", "amplitude=0.01"));
        plx_model *b = fit_model(ctx, "gp", d, SETTINGS(task, "kernel=rbf", "amplitude=0.01"));
        assert_true(evidence(b) >= evidence(a));
        plx_cmat g = array_of(b, "evidence_gradient"), hyper = array_of(b, "hyper");
        for (plx_index i = 0; i < g.rows; i++) /* flat, or held by the box */
            assert_true(fabs(g.data[i]) < 1e-3 || hyper.data[i] < 1.1e-6 || hyper.data[i] > 9e2);
        plx_model_destroy(a);
        plx_model_destroy(b);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* The Gram matrix of a view as a kernel view, held-out samples with their own columns included. */
static void precomputed_is_linear(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false);
    double gram[TOY_N * TOY_N];
    char directory[64], flags[3 * TOY_N] = "";
    plx_dataset *a = toy_dataset(ctx, &t, 1, false), *b = new_dataset(ctx, TOY_N);
    (void)state;
    for (int i = 0; i < TOY_N * TOY_N; i++) {
        const double *p = t.x[0] + i / TOY_N * 2, *q = t.x[0] + i % TOY_N * 2;
        gram[i] = p[0] * q[0] + p[1] * q[1];
    }
    for (int i = 0; i < TOY_N; i++) strcat(flags, i % 5 == 1 ? "1\n" : "0\n");
    make_directory(directory);
    write_file(directory, "held.txt", flags);
    add_dense(b, ctx, "text", PLX_VIEW_KERNEL, gram, TOY_N, NULL);
    set_labels(b, ctx, t.label);
    static const char *const settings[] = {"view=text", "optimize=none", "amplitude=1.5", "heldout=held.txt", NULL};
    plx_model *m = fit_asking(ctx, "gp", a, settings, NULL, directory);
    plx_model *k = fit_asking(ctx, "gp", b, settings, NULL, directory);
    assert_same_matrix(array_of(m, "mean"), array_of(k, "mean"), 1e-12);
    assert_same_matrix(array_of(m, "variance"), array_of(k, "variance"), 1e-12);
    plx_model_destroy(m);
    plx_model_destroy(k);
    plx_dataset_destroy(a);
    plx_dataset_destroy(b);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* Two linear views of four features and ten labelled samples are learned in weight space; their Gram matrices, as kernel
 * views, are not. Some samples lack a view, some are held out. */
static void weight_space_is_dense(void **state)
{
    static const char *const arrays[] = {"mean", "variance", "alpha", "hyper", "evidence_gradient", "kernel", NULL};
    plx_context *ctx = test_context(1);
    char directory[64];
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n0\n0\n0\n0\n1\n0\n0\n0\n0\n0\n1\n0\n0\n");
    for (int variant = 0; variant < 8; variant++) {
        bool regression = variant & 1;
        toy t = make_toy(variant & 2 ? 3 : 2, variant & 4);
        plx_dataset *a = toy_dataset(ctx, &t, 2, regression), *b = toy_grams(ctx, &t, 2, regression);
        const char *const settings[] = {regression ? "task=regression" : "task=classification",
                                        "combine=sum",
                                        "amplitude.text=1.5",
                                        "heldout=held.txt",
                                        variant & 2 ? "optimize=none" : "max_iter=3",
                                        NULL};
        plx_model *thin = fit_asking(ctx, "gp", a, settings, arrays, directory);
        plx_model *dense = fit_asking(ctx, "gp", b, settings, arrays, directory);
        assert_non_null(plx__store_find(&thin->store, "_posterior_weights"));
        assert_null(plx__store_find(&dense->store, "_posterior_weights"));
        for (int k = 0; arrays[k]; k++) assert_same_matrix(array_of(thin, arrays[k]), array_of(dense, arrays[k]), 1e-8);
        assert_close(evidence(thin), evidence(dense), 1e-9);
        plx_model_destroy(thin);
        plx_model_destroy(dense);
        plx_dataset_destroy(a);
        plx_dataset_destroy(b);
    }
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* With every labelled sample a pivot the process is that of the whole kernels, for held-out samples too; the factor
 * leaves 1e-12 of the diagonal, which inference on ten samples does not magnify beyond 1e-8. */
static void all_pivots_are_the_kernel(void **state)
{
    static const char *const arrays[] = {"mean", "variance", "alpha", "hyper", NULL};
    plx_context *ctx = test_context(2);
    char directory[64];
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n0\n0\n0\n0\n1\n0\n0\n0\n0\n0\n1\n0\n0\n");
    for (int variant = 0; variant < 8; variant++) {
        bool regression = variant & 1;
        toy t = make_toy(variant & 2 ? 3 : 2, variant & 4);
        plx_dataset *d = toy_dataset(ctx, &t, 2, regression);
        const char *settings[] = {regression ? "task=regression" : "task=classification",
                                  "combine=sum",
                                  "amplitude.text=1.5",
                                  "heldout=held.txt",
                                  "kernel.text=rbf",
                                  "width.text=1.2",
                                  "kernel.image=poly",
                                  "optimize=none",
                                  "pivots=0",
                                  NULL};
        plx_model *whole = fit_asking(ctx, "gp", d, settings, arrays, directory);
        settings[8] = "pivots=100";
        plx_model *reduced = fit_asking(ctx, "gp", d, settings, arrays, directory);
        for (int k = 0; arrays[k]; k++)
            assert_same_matrix(array_of(reduced, arrays[k]), array_of(whole, arrays[k]), 1e-8);
        assert_close(evidence(reduced), evidence(whole), 1e-8);
        plx_model_destroy(whole);
        plx_model_destroy(reduced);
        plx_dataset_destroy(d);
    }
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* Three pivots, by the reduced kernel Q formed outright: mean = Q_xl (Q_ll + noise)^-1 y, variance = kappa(x,x) -
 * Q_xl (Q_ll + noise)^-1 Q_lx. */
static void few_pivots_by_brute_force(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false);
    plx_dataset *d = toy_dataset(ctx, &t, 1, true);
    double gram[TOY_N * TOY_N], q[TOY_N * TOY_N], inverse[TOY_N * TOY_N];
    uint8_t labelled[TOY_N];
    int at[TOY_N], l = 0;
    (void)state;
    for (int i = 0; i < TOY_N; i++) {
        labelled[i] = t.label[i] >= 0;
        if (labelled[i]) at[l++] = i;
        for (int j = 0; j < TOY_N; j++)
            gram[i * TOY_N + j] = 1.5 * exp(-plx__dist_sq(t.x[0] + 2 * i, t.x[0] + 2 * j, 2) / (2 * 1.2 * 1.2));
    }
    reduce_gram(q, gram, TOY_N, labelled, 3);
    for (int i = 0; i < l; i++)
        for (int j = 0; j < l; j++) inverse[i * l + j] = q[at[i] * TOY_N + at[j]] + (i == j ? 0.2 : 0);
    invert(inverse, l);
    plx_model *m = fit_model(ctx, "gp", d,
                             SETTINGS("task=regression", "kernel=rbf", "width=1.2", "amplitude=1.5", "noise=0.2",
                                      "center=0", "optimize=none", "pivots=3"));
    for (int i = 0; i < TOY_N; i++) {
        double mean = 0, variance = gram[i * TOY_N + i];
        for (int a = 0; a < l; a++)
            for (int b = 0; b < l; b++) {
                mean += q[i * TOY_N + at[a]] * inverse[a * l + b] * t.y[at[b]];
                variance -= q[i * TOY_N + at[a]] * inverse[a * l + b] * q[i * TOY_N + at[b]];
            }
        assert_close(array_of(m, "mean").data[i], mean, 1e-9);
        assert_close(array_of(m, "variance").data[i], variance, 1e-9);
    }
    plx_model_destroy(m);
    check_gradient(ctx, "gp", d, SETTINGS("task=regression", "kernel=poly", "pivots=3", "optimize=none"),
                   (const char *const[]){"amplitude", "noise"});
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Learning keeps the widths, which the pivots were chosen by, and is no worse than the start. */
static void pivots_keep_widths(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    plx_dataset *d = toy_dataset(ctx, &t, 2, false);
    (void)state;
    plx_model *start =
        fit_model(ctx, "gp", d, SETTINGS("combine=sum", "kernel=rbf", "width=1.3", "pivots=4", "optimize=none"));
    plx_model *best = fit_model(ctx, "gp", d, SETTINGS("combine=sum", "kernel=rbf", "width=1.3", "pivots=4"));
    assert_true(array_of(best, "hyper").data[1] == 1.3 && array_of(best, "hyper").data[3] == 1.3);
    assert_true(evidence(best) > evidence(start));
    plx_model_destroy(start);
    plx_model_destroy(best);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A view that no labelled sample has gives no pivot and nothing to learn; a model of it can be kept all the same. */
static void no_pivot_in_a_view(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false);
    char directory[64], path[96];
    plx_model *again = NULL;
    (void)state;
    for (int i = 0; i < TOY_N; i++) t.present[1][i] = t.label[i] < 0;
    plx_dataset *d = toy_dataset(ctx, &t, 2, false), *one = toy_dataset(ctx, &t, 1, false);
    const char *const settings[] = {"combine=sum", "kernel=poly", "pivots=5", "optimize=none", NULL};
    plx_model *m = fit_model(ctx, "gp", d, settings), *alone = fit_model(ctx, "gp", one, settings);
    assert_same_matrix(array_of(m, "mean"), array_of(alone, "mean"), 1e-12);
    make_directory(directory);
    snprintf(path, sizeof path, "%s/m.plx", directory);
    assert_ok(ctx, plx_model_save(ctx, m, path));
    assert_ok(ctx, plx_model_load(&again, ctx, path));
    plx_prediction *p = NULL;
    assert_ok(ctx, plx_predict(&p, ctx, again, d));
    for (int i = 0; i < TOY_N; i++)
        assert_string_equal(plx_prediction_label(p, i), plx_prediction_label(plx_model_prediction(m), i));
    plx_prediction_destroy(p);
    plx_model_destroy(again);
    plx_model_destroy(alone);
    plx_model_destroy(m);
    plx_dataset_destroy(one);
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* Where a standardised column is filled with its mean, which is 0, the cosine with everything is 0. */
static void mean_of_standardised_columns(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 6);
    static const double x[] = {0.1, 2.3, 0.7, 1.1, 3.3, 0.2, 0.9, 5.7, 1.3, 4.1, 0, 0};
    static const uint8_t present[] = {1, 1, 1, 1, 1, 0};
    static const char *const kernel[] = {"kernel", NULL};
    (void)state;
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, 2, present);
    set_labels(d, ctx, (int[]){0, 1, 0, 1, -1, -1});
    plx_model *m = fit_asking(ctx, "gp", d, SETTINGS("kernel=cosine", "scale=zscore", "missing=mean", "optimize=none"),
                              kernel, NULL);
    plx_cmat k = array_of(m, "kernel"), mean = array_of(m, "mean");
    for (int i = 0; i < 6; i++) assert_true(k.data[30 + i] == 0);
    assert_true(mean.data[5] == 0);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* K over all samples, held-out ones included, is the K of a fit to all of them. */
static void kernel_of_heldout(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    char directory[64];
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    static const char *const kernel[] = {"kernel", NULL};
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n1\n0\n0\n0\n1\n0\n0\n0\n0\n1\n0\n0\n1\n");
    plx_model *all =
        fit_asking(ctx, "gp", d, SETTINGS("combine=sum", "kernel=rbf", "width=1.3", "optimize=none"), kernel, NULL);
    plx_model *some = fit_asking(
        ctx, "gp", d, SETTINGS("combine=sum", "kernel=rbf", "width=1.3", "optimize=none", "heldout=held.txt"), kernel,
        directory);
    assert_same_matrix(array_of(all, "kernel"), array_of(some, "kernel"), 1e-14);
    plx_model_destroy(all);
    plx_model_destroy(some);
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* scale=auto standardises views without zeros, however they are stored: sparse ones become dense. */
static void storage_does_not_matter(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    plx_dataset *dense = toy_dataset(ctx, &t, 2, false), *thin = new_dataset(ctx, TOY_N);
    for (int v = 0; v < 2; v++) add_thin(thin, ctx, toy_names[v], PLX_VIEW_REAL, t.x[v], TOY_COLS, t.present[v]);
    set_labels(thin, ctx, t.label);
    plx_model *a = fit_model(ctx, "gp", dense, SETTINGS("scale=auto", "optimize=none"));
    plx_model *b = fit_model(ctx, "gp", thin, SETTINGS("scale=auto", "optimize=none"));
    assert_same_matrix(array_of(a, "probability"), array_of(b, "probability"), 1e-12);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(dense);
    plx_dataset_destroy(thin);
    plx_context_destroy(ctx);
}

/* A factor of the features is the amplitude's business: the best evidence is the same, however large the values are. */
static void evidence_does_not_depend_on_the_unit(void **state)
{
    double best[2];
    (void)state;
    for (int large = 0; large < 2; large++) {
        plx_context *ctx = test_context(1);
        toy t = make_toy(2, false);
        for (int i = 0; large && i < TOY_N * TOY_COLS; i++) t.x[0][i] *= 1e6, t.x[1][i] *= 1e6;
        plx_dataset *d = toy_dataset(ctx, &t, 2, false);
        plx_model *m = fit_model(ctx, "gp", d, SETTINGS("kernel=linear", "scale=none"));
        best[large] = plx_model_objective(m);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
    assert_close(best[0], best[1], 1e-4);
}

#define REFUSES(data, word, ...)                                                                                       \
    do {                                                                                                               \
        plx_model *refused = NULL;                                                                                     \
        plx_status got = try_fit(&refused, ctx, "gp", data, SETTINGS(__VA_ARGS__), NULL);                              \
        assert_true(got == PLX_E_DATA || got == PLX_E_ARG);                                                            \
        if (!strstr(plx_context_error(ctx), word)) fail_msg("'%s' lacks '%s'", plx_context_error(ctx), word);          \
        assert_null(refused);                                                                                          \
    } while (0)

static void refusals(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true), nobody = make_toy(2, false), holes = make_toy(2, false);
    (void)state;
    for (int i = 0; i < TOY_N; i++) nobody.label[i] = -1;
    holes.x[0][4] = NAN;
    plx_dataset *d = toy_dataset(ctx, &t, 2, false), *none = toy_dataset(ctx, &nobody, 2, false);
    plx_dataset *nan = toy_dataset(ctx, &holes, 2, false), *kernel = new_dataset(ctx, TOY_N);
    double identity[TOY_N * TOY_N] = {0};
    for (int i = 0; i < TOY_N; i++) identity[i * TOY_N + i] = 1;
    add_dense(kernel, ctx, "g", PLX_VIEW_KERNEL, identity, TOY_N, NULL);
    set_labels(kernel, ctx, t.label);
    REFUSES(none, "gp: no labelled samples; label some", "kernel=rbf");
    REFUSES(d, "missing for sample '0'; set missing=mean or combine=sum", "kernel=rbf", "missing=error");
    REFUSES(d, "kernel.text", "missing=mean", "kernel.text=rbf");
    REFUSES(d, "no view 'vide'", "view=vide");
    REFUSES(nan, "missing=mean", "combine=sum", "missing=error");
    REFUSES(kernel, "combine=sum or view=g", "optimize=none");
    plx_model *m = fit_model(ctx, "gp", nan, SETTINGS("missing=mean", "combine=sum", "optimize=none"));
    plx_model_destroy(m);
    m = fit_model(ctx, "gp", kernel, SETTINGS("combine=sum", "optimize=none"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_dataset_destroy(none);
    plx_dataset_destroy(nan);
    plx_dataset_destroy(kernel);
    plx_context_destroy(ctx);
}

/* Constant targets and duplicate samples are fine. */
static void degenerate_data(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 4);
    static const double x[] = {1, 1, 1, 2};
    static const char *const labels[] = {"3", "3", NULL, NULL};
    (void)state;
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, 1, NULL);
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    plx_model *m = fit_model(ctx, "gp", d, SETTINGS("task=regression", "optimize=none"));
    plx_cmat mean = array_of(m, "mean");
    for (int i = 0; i < 4; i++) assert_close(mean.data[i], 3, 1e-14);
    assert_string_equal(m->fitted.outcome.label[0], "3");
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_labelled_sample),
                                       cmocka_unit_test(gradients),
                                       cmocka_unit_test(optimum_is_no_worse),
                                       cmocka_unit_test(precomputed_is_linear),
                                       cmocka_unit_test(weight_space_is_dense),
                                       cmocka_unit_test(all_pivots_are_the_kernel),
                                       cmocka_unit_test(few_pivots_by_brute_force),
                                       cmocka_unit_test(pivots_keep_widths),
                                       cmocka_unit_test(no_pivot_in_a_view),
                                       cmocka_unit_test(mean_of_standardised_columns),
                                       cmocka_unit_test(kernel_of_heldout),
                                       cmocka_unit_test(storage_does_not_matter),
                                       cmocka_unit_test(evidence_does_not_depend_on_the_unit),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(degenerate_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
