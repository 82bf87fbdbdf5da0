/*
 * Explanations: figures of quality against a calculation by hand, data with one thing changed, and that the view that
 * tells the classes apart is found with every method that can predict.
 */
#include "api/explain_impl.h"
#include "explain/rearrange.h"
#include "fit_helpers.h"
#include "linalg/csr.h"

/* ---- quality ---- */

static const char *const KNOWN[] = {"a", "a", "b", "b", "b", NULL};
static const char *ANSWER[] = {"a", "b", "b", "b", "a", "a"};
static const double SCORES[] = {0.9, 0.1, 0.4, 0.6, 0.2, 0.8, 0.3, 0.7, 0.75, 0.25, 0.5, 0.5};
static const char *const CLASSES[] = {"a", "b"};

static double number_at(const plx_explanation *e, const char *key, plx_index row, plx_index column)
{
    plx_index s = plx_explanation_find(e, key);
    assert_true(s >= 0);
    return plx_explanation_number(e, s, row, column);
}

/* By hand: 3 of 5 right; a: precision 1/2, recall 1/2; b: 2/3, 2/3. */
static void quality_is_as_counted_by_hand(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 6);
    plx_explanation *e = NULL;
    plx__judged j;
    plx__outcome o = {.kind = PLX__OUTCOME_CLASSES,
                      .n = 6,
                      .label = ANSWER,
                      .scores = {(double *)(uintptr_t)SCORES, 6, 2, 2},
                      .columns = CLASSES};
    double x[6] = {0, 1, 2, 3, 4, 5};
    uint8_t present[6] = {1, 1, 1, 1, 0, 1};
    (void)state;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, x, 1, present);
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, KNOWN));
    assert_ok(ctx, plx__judge(&j, ctx, d, &o));
    assert_int_equal(j.samples, 5);
    assert_false(j.own);
    assert_ok(ctx, plx__explanation_create(&e, ctx));
    assert_ok(ctx, plx__explain_quality(e, ctx, &j, d));
    assert_close(number_at(e, "quality", 0, 1), 0.6, 1e-15);
    assert_close(number_at(e, "quality", 0, 2), sqrt(0.6 * 0.4 / 4), 1e-15); /* sd of 0/1 with n - 1, over sqrt n */
    assert_close(number_at(e, "quality", 1, 1), (0.5 + 2.0 / 3) / 2, 1e-15);
    double loss = -(log(0.9) + log(0.4) + log(0.8) + log(0.7) + log(0.25)) / 5;
    assert_close(number_at(e, "quality", 2, 1), loss, 1e-14);
    double brier = 2 * (0.1 * 0.1 + 0.6 * 0.6 + 0.2 * 0.2 + 0.3 * 0.3 + 0.75 * 0.75) / 5;
    assert_close(number_at(e, "quality", 3, 1), brier, 1e-14);
    assert_true(number_at(e, "confusion", 0, 1) == 1 && number_at(e, "confusion", 0, 2) == 1);
    assert_true(number_at(e, "confusion", 1, 1) == 1 && number_at(e, "confusion", 1, 2) == 2);
    assert_close(number_at(e, "classes", 1, 2), 2.0 / 3, 1e-15);
    assert_int_equal(plx_explanation_rows(e, plx_explanation_find(e, "presence")), 2);
    assert_close(number_at(e, "presence", 0, 3), 0.75, 1e-15);
    assert_close(number_at(e, "presence", 1, 3), 0.0, 1e-15);
    plx_explanation_destroy(e);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- changed data ---- */

enum { N = 60, D = 3 };

/* Column 0 of `signal` tells the class; the other views are noise. The first samples lack a view. */
static plx_dataset *one_of_three(plx_context *ctx, uint64_t seed, bool labelled)
{
    static const char *const names[] = {"noise1", "signal", "noise2"};
    plx_dataset *d = new_dataset(ctx, N);
    plx__rng r = plx__rng_start(seed, PLX__STREAM('o', 'n', 'e', '3', 0));
    int label[N];
    for (int i = 0; i < N; i++) label[i] = i % 2;
    for (int v = 0; v < 3; v++) {
        double x[N * D];
        uint8_t present[N];
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < D; j++) x[i * D + j] = 5 + 0.3 * plx__next_normal(&r);
            if (v == 1) x[i * D] += 4 * label[i];
            present[i] = i != 2 * v;
        }
        if (v == 2) add_thin(d, ctx, names[v], PLX_VIEW_REAL, x, D, present);
        else add_dense(d, ctx, names[v], PLX_VIEW_REAL, x, D, present);
    }
    if (labelled) set_labels(d, ctx, label);
    return d;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void column_of(double *out, const plx__view *v, plx_index j)
{
    for (plx_index i = 0; i < N; i++)
        out[i] = v->sparse ? plx__csr_get(v->csr, i, j) : v->dense.data[i * v->dense.ld + j];
}

/* The same values in another order in the one place, the same bytes everywhere else. */
static void permutations_change_one_thing(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = one_of_three(ctx, 6, false), *changed = NULL;
    (void)state;
    for (plx_index view = 0; view < 3; view++)
        for (int whole = 0; whole < 2; whole++) {
            if (whole) assert_ok(ctx, plx__permuted_view(&changed, ctx, d, view, 7));
            else assert_ok(ctx, plx__permuted_column(&changed, ctx, d, view, 1, 7));
            for (plx_index v = 0; v < 3; v++)
                for (plx_index j = 0; j < D; j++) {
                    double a[N], b[N];
                    column_of(a, &d->views[v], j);
                    column_of(b, &changed->views[v], j);
                    bool same = memcmp(a, b, sizeof a) == 0;
                    assert_true(same == (v != view || (!whole && j != 1)));
                    qsort(a, N, sizeof *a, by_value);
                    qsort(b, N, sizeof *b, by_value);
                    assert_memory_equal(a, b, sizeof a);
                }
            plx_dataset_destroy(changed);
        }
    assert_ok(ctx, plx__without_view(&changed, ctx, d, 1));
    assert_true(changed->views[1].present_count == 0 && changed->views[0].present_count == N - 1);
    plx_dataset_destroy(changed);
    assert_ok(ctx, plx__only_view(&changed, ctx, d, 1));
    assert_true(changed->views[1].present_count == N - 1 && changed->views[0].present_count == 0);
    plx_dataset_destroy(changed);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void moments_are_those_of_present_rows(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = one_of_three(ctx, 6, false);
    (void)state;
    for (plx_index v = 0; v < 3; v++) {
        double mean[D], deviation[D], x[N];
        assert_ok(ctx, plx__column_moments(mean, deviation, ctx, &d->views[v], N));
        for (plx_index j = 0; j < D; j++) {
            double m = 0, s = 0;
            column_of(x, &d->views[v], j);
            for (int i = 0; i < N; i++)
                if (i != 2 * v) m += x[i] / (N - 1);
            for (int i = 0; i < N; i++)
                if (i != 2 * v) s += (x[i] - m) * (x[i] - m) / (N - 1);
            assert_close(mean[j], m, 1e-12);
            assert_close(deviation[j], sqrt(s), 1e-9);
        }
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- every method ---- */

static plx_model *fit_anyhow(plx_context *ctx, const plx__method *m)
{
    plx_params *p = NULL;
    plx_model *model = NULL;
    bool clusters = m->task == PLX_TASK_CLUSTER && plx__param_find(m->params, "clusters") != NULL;
    plx_dataset *data = one_of_three(ctx, 6, m->task != PLX_TASK_CLUSTER);
    assert_ok(ctx, plx_params_create(&p, ctx, m->name));
    if (clusters) assert_ok(ctx, plx_params_set(p, ctx, "clusters", "2"));
    if (strcmp(m->name, "gp") == 0) {
        assert_ok(ctx, plx_params_set(p, ctx, "combine", "sum"));
        assert_ok(ctx, plx_params_set(p, ctx, "missing", "mean"));
    }
    assert_ok(ctx, plx_fit(&model, ctx, m->name, data, p, NULL));
    plx_params_destroy(p);
    plx_dataset_destroy(data);
    return model;
}

static plx_index largest_row(const plx_explanation *e, plx_index section, plx_index column)
{
    plx_index best = 0;
    for (plx_index r = 1; r < plx_explanation_rows(e, section); r++)
        if (plx_explanation_number(e, section, r, column) > plx_explanation_number(e, section, best, column)) best = r;
    return best;
}

static void check_method(plx_context *ctx, const plx__method *m)
{
    plx_dataset *data = one_of_three(ctx, 7, true); /* samples the model has not seen */
    plx_explanation *e = NULL;
    plx_model *model = fit_anyhow(ctx, m);
    plx_explain_options o = PLX_EXPLAIN_OPTIONS_INIT;
    o.sample = "7";
    o.repeats = 2;
    const char *text = NULL;
    assert_ok(ctx, plx_explain(&e, ctx, model, data, &o));
    assert_ok(ctx, plx_explanation_json(&text, ctx, e));
    assert_true(plx_explanation_find(e, "features") >= 0);
    plx_index views = plx_explanation_find(e, "views"), best = views < 0 ? -1 : largest_row(e, views, 4);
    if (best >= 0 && strcmp(plx_explanation_text(e, views, best, 0), "signal") != 0)
        fail_msg("%s: the view that matters is said to be %s", m->name, plx_explanation_text(e, views, best, 0));
    plx_explanation_destroy(e);
    plx_model_destroy(model);
    plx_dataset_destroy(data);
}

static void the_informative_view_is_found_by_every_method(void **state)
{
    (void)state;
    for (plx_index i = 0; i < plx_method_count(); i++) {
        const plx__method *m = plx__method_find(plx_method_name(i));
        plx_context *ctx = test_context(2);
        check_method(ctx, m);
        plx_context_destroy(ctx);
    }
}

/* ---- units ---- */

/* Columns in other units, by factors that are powers of two. */
static plx_dataset *in_other_units(plx_context *ctx, const plx_dataset *d)
{
    plx_dataset *out = new_dataset(ctx, N);
    for (plx_index v = 0; v < d->n_views; v++) {
        double x[N * D];
        for (int j = 0; j < D; j++)
            for (int i = 0; i < N; i++)
                x[i * D + j] = ldexp(d->views[v].dense.data[i * d->views[v].dense.ld + j], 10 * j - 5);
        add_dense(out, ctx, d->views[v].name, PLX_VIEW_REAL, x, D, NULL);
    }
    assert_ok(ctx, plx_dataset_set_labels(out, ctx, d->labels));
    return out;
}

static plx_dataset *two_dense(plx_context *ctx)
{
    static const char *const label[] = {"a", "b"}, *const names[] = {"one", "two"};
    plx_dataset *d = new_dataset(ctx, N);
    plx__rng r = plx__rng_start(3, PLX__STREAM('u', 'n', 'i', 't', 0));
    const char *labels[N];
    for (int v = 0; v < 2; v++) {
        double x[N * D];
        for (int i = 0; i < N * D; i++) x[i] = plx__next_normal(&r) + (i % D == v ? 2 * (i / D % 2) : 0);
        add_dense(d, ctx, names[v], PLX_VIEW_REAL, x, D, NULL);
    }
    for (int i = 0; i < N; i++) labels[i] = label[i % 2];
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    return d;
}

/* What a model that standardises its views says of features does not depend on the units of columns. */
static void features_do_not_depend_on_units(void **state)
{
    static const char *const methods[] = {"cca", "coem", "mvkmeans", "svm", "localmodels"};
    (void)state;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        plx_context *ctx = test_context(1);
        plx_dataset *data[2] = {two_dense(ctx), NULL};
        plx_explanation *e[2] = {NULL, NULL};
        data[1] = in_other_units(ctx, data[0]);
        for (int u = 0; u < 2; u++) {
            plx_params *p = NULL;
            plx_model *m = NULL;
            assert_ok(ctx, plx_params_create(&p, ctx, methods[k]));
            if (plx__param_find(plx__method_find(methods[k])->params, "scale"))
                assert_ok(ctx, plx_params_set(p, ctx, "scale", "zscore"));
            assert_ok(ctx, plx_fit(&m, ctx, methods[k], data[u], p, NULL));
            assert_ok(ctx, plx_explain(&e[u], ctx, m, data[u], NULL));
            plx_model_destroy(m);
            plx_params_destroy(p);
        }
        plx_index s = plx_explanation_find(e[0], "features");
        assert_int_equal(plx_explanation_rows(e[0], s), plx_explanation_rows(e[1], s));
        assert_true(plx_explanation_rows(e[0], s) > 0);
        for (plx_index r = 0; r < plx_explanation_rows(e[0], s); r++) {
            assert_string_equal(plx_explanation_text(e[0], s, r, 3), plx_explanation_text(e[1], s, r, 3));
            assert_close(plx_explanation_number(e[0], s, r, 4), plx_explanation_number(e[1], s, r, 4), 1e-6);
        }
        for (int u = 0; u < 2; u++) {
            plx_explanation_destroy(e[u]);
            plx_dataset_destroy(data[u]);
        }
        plx_context_destroy(ctx);
    }
}

/* ---- methods that label the samples of a fit only ---- */

static double confusion_sum(const plx_explanation *e)
{
    plx_index s = plx_explanation_find(e, "confusion");
    double sum = 0;
    assert_true(s >= 0);
    for (plx_index r = 0; r < plx_explanation_rows(e, s); r++)
        for (plx_index c = 1; c < plx_explanation_columns(e, s); c++) sum += plx_explanation_number(e, s, r, c);
    return sum;
}

/* Judged are samples without a label; where all have one, every fifth of a class is hidden. */
static void a_new_fit_is_judged_by_what_it_did_not_see(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *all = one_of_three(ctx, 6, true);
    plx_model *m = fit_anyhow(ctx, plx__method_find("lapreg"));
    const char *some[N], *truth[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        truth[i] = all->labels[i];
        some[i] = i < 12 ? truth[i] : NULL;
    }
    plx_explanation *e = NULL;
    assert_ok(ctx, plx_explain(&e, ctx, m, all, NULL));
    assert_close(confusion_sum(e), 2 * (N / 2 / 5), 0);
    plx_explanation_destroy(e);
    plx_dataset *half = one_of_three(ctx, 6, false);
    assert_ok(ctx, plx_dataset_set_labels(half, ctx, some));
    assert_ok(ctx, plx_dataset_set_truth(half, ctx, truth));
    assert_ok(ctx, plx_explain(&e, ctx, m, half, NULL));
    assert_close(confusion_sum(e), N - 12, 0);
    plx_explanation_destroy(e);
    plx_dataset_destroy(half);
    plx_dataset_destroy(all);
    plx_model_destroy(m);
    plx_context_destroy(ctx);
}

/* Without labels a new fit may number its clusters in another way: that is no change. */
static void clusters_of_a_new_fit_may_have_other_numbers(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = one_of_three(ctx, 6, false);
    plx_params *p = NULL;
    plx_model *m = NULL;
    plx_explanation *e = NULL;
    (void)state;
    assert_ok(ctx, plx_params_create(&p, ctx, "lapreg"));
    assert_ok(ctx, plx_params_set(p, ctx, "task", "cluster"));
    assert_ok(ctx, plx_params_set(p, ctx, "clusters", "2"));
    assert_ok(ctx, plx_fit(&m, ctx, "lapreg", data, p, NULL));
    assert_ok(ctx, plx_explain(&e, ctx, m, data, NULL));
    plx_index s = plx_explanation_find(e, "views");
    assert_true(s >= 0 && plx_explanation_rows(e, s) == 3);
    for (plx_index v = 0; v < 3; v++) /* two clusters: at worst half of the samples are in the other one */
        for (plx_index c = 2; c <= 4; c += 2) assert_true(plx_explanation_number(e, s, v, c) <= 0.5);
    s = plx_explanation_find(e, "features");
    for (plx_index r = 0; r < plx_explanation_rows(e, s); r++) assert_true(plx_explanation_number(e, s, r, 4) <= 0.5);
    plx_explanation_destroy(e);
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- clusters ---- */

/* A cluster stands for its most frequent class, the first of equals in byte order; counted by hand. */
static void clusters_stand_for_their_most_frequent_class(void **state)
{
    static const char *const known[] = {"b", "a", "a", NULL, "b", "a", "c"};
    static const char *const cluster[] = {"1", "1", "0", "0", NULL, "0", "2"};
    plx_context *ctx = test_context(1);
    plx_explanation *e = NULL;
    plx__crossing c;
    (void)state;
    assert_ok(ctx, plx__cross(&c, ctx, known, cluster, 7));
    assert_int_equal(c.n_classes, 3);
    assert_int_equal(c.n_clusters, 3);
    assert_string_equal(plx__class_of_cluster(&c, "0"), "a");
    assert_string_equal(plx__class_of_cluster(&c, "1"), "a");
    assert_string_equal(plx__class_of_cluster(&c, "2"), "c");
    assert_null(plx__class_of_cluster(&c, NULL));
    assert_null(plx__class_of_cluster(&c, "9"));
    assert_ok(ctx, plx__explanation_create(&e, ctx));
    assert_ok(ctx, plx__put_crossing(e, ctx, &c));
    plx_index s = plx_explanation_find(e, "clusters");
    assert_true(s >= 0 && plx_explanation_rows(e, s) == 3);
    assert_string_equal(plx_explanation_text(e, s, 0, 0), "a");
    assert_close(plx_explanation_number(e, s, 0, 1), 2, 0); /* a, cluster 0 */
    assert_close(plx_explanation_number(e, s, 1, 2), 1, 0); /* b, cluster 1 */
    plx_explanation_destroy(e);
    plx_context_destroy(ctx);
}

/* ---- what a model says of itself ---- */

static bool has_note(const plx_explanation *e, const char *section, const char *words)
{
    const char *note = plx_explanation_note(e, plx_explanation_find(e, section));
    return note && strstr(note, words);
}

/* Only weights that are all on one view are doubted. */
static void weights_on_one_view_are_doubted(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = one_of_three(ctx, 6, true);
    (void)state;
    for (int lopsided = 0; lopsided < 2; lopsided++) {
        plx_params *p = NULL;
        plx_model *m = NULL;
        plx_explanation *e = NULL;
        assert_ok(ctx, plx_params_create(&p, ctx, "bct"));
        if (lopsided) assert_ok(ctx, plx_params_set(p, ctx, "view_variance.signal", "1e-6"));
        assert_ok(ctx, plx_fit(&m, ctx, "bct", d, p, NULL));
        assert_ok(ctx, plx_explain(&e, ctx, m, d, NULL));
        assert_true(has_note(e, "views", "not identifiable") == (lopsided == 1));
        plx_explanation_destroy(e);
        plx_model_destroy(m);
        plx_params_destroy(p);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Medoids are told by the names of the fitted samples, also when other data are explained. */
static void medoids_are_told_by_name(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *fitted = one_of_three(ctx, 6, true), *fresh = one_of_three(ctx, 7, true);
    plx_params *p = NULL;
    plx_model *m = NULL;
    plx_explanation *e = NULL;
    const char *ids[N];
    char text[N][16];
    (void)state;
    for (int i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "s%d", i);
        ids[i] = text[i];
    }
    assert_ok(ctx, plx_dataset_set_ids(fitted, ctx, ids));
    assert_ok(ctx, plx_params_create(&p, ctx, "localmodels"));
    assert_ok(ctx, plx_params_set(p, ctx, "global_view", "noise1"));
    assert_ok(ctx, plx_params_set(p, ctx, "tau", "0.5"));
    assert_ok(ctx, plx_fit(&m, ctx, "localmodels", fitted, p, NULL));
    assert_ok(ctx, plx_explain(&e, ctx, m, fresh, NULL));
    plx_index section = plx_explanation_find(e, "medoids");
    assert_true(section >= 0 && plx_explanation_rows(e, section) == 2);
    plx_cmat row;
    assert_ok(ctx, plx__store_shaped(&row, ctx, &m->store, "medoids", 2, 1));
    for (plx_index k = 0; k < 2; k++)
        assert_string_equal(plx_explanation_text(e, section, k, 1), ids[(plx_index)row.data[k * row.ld]]);
    plx_explanation_destroy(e);
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(fitted);
    plx_dataset_destroy(fresh);
    plx_context_destroy(ctx);
}

static void bad_options_are_refused(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = one_of_three(ctx, 6, true);
    plx_model *m = fit_model(ctx, "rls", d, NULL);
    plx_explanation *e = NULL;
    plx_explain_options o = PLX_EXPLAIN_OPTIONS_INIT;
    (void)state;
    o.top = 0;
    assert_int_equal(plx_explain(&e, ctx, m, d, &o), PLX_E_ARG);
    assert_non_null(strstr(plx_context_error(ctx), "top"));
    o.top = 1;
    o.sample = "nobody";
    assert_int_equal(plx_explain(&e, ctx, m, d, &o), PLX_E_ARG);
    assert_non_null(strstr(plx_context_error(ctx), "nobody"));
    assert_null(e);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quality_is_as_counted_by_hand),
        cmocka_unit_test(permutations_change_one_thing),
        cmocka_unit_test(moments_are_those_of_present_rows),
        cmocka_unit_test(the_informative_view_is_found_by_every_method),
        cmocka_unit_test(features_do_not_depend_on_units),
        cmocka_unit_test(a_new_fit_is_judged_by_what_it_did_not_see),
        cmocka_unit_test(clusters_of_a_new_fit_may_have_other_numbers),
        cmocka_unit_test(clusters_stand_for_their_most_frequent_class),
        cmocka_unit_test(weights_on_one_view_are_doubted),
        cmocka_unit_test(medoids_are_told_by_name),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
