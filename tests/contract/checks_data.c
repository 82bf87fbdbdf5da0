/*
 * Promises about awkward data: a clear answer or a clear refusal, never a crash or a silent NaN.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

static void fit_raw(trial *t, raw *r, plx_index clusters, const char *what)
{
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_params *p = base_params(t, ctx, clusters);
    plx_model *m = NULL;
    plx_status st = try_fit(t, &m, ctx, data, p);
    check_outcome(t, st, ctx, m, what);
    plx_params_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* The fit must be refused with this status and a message holding `word`. */
static void refuse_raw(trial *t, raw *r, plx_status expected, const char *word, const char *what)
{
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_model *m = NULL;
    plx_status st = try_fit(t, &m, ctx, data, NULL);
    CHECK(t, st == expected, "%s: %s, not %s", what, plx_status_name(st), plx_status_name(expected));
    CHECK(t, strstr(plx_context_error(ctx), word), "%s: the message lacks '%s': '%s'", what, word,
          plx_context_error(ctx));
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* ---- small and degenerate ---- */

static void few_samples(trial *t)
{
    for (plx_index n = 1; n <= 4; n++) {
        char what[32];
        snprintf(what, sizeof what, "n = %lld", (long long)n);
        fit_raw(t, raw_make(t, n, plx__min(n, 2), 3), plx__min(n, 2), what);
    }
}

static void one_feature(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    for (plx_index v = 0; v < r->n_views; v++)
        while (r->view[v].cols > 1) raw_drop_column(r, v, r->view[v].cols - 1);
    for (plx_index i = 0; i < r->n; i++)
        for (plx_index v = 0; v < r->n_views; v++) r->view[v].x[i] = (double)(1 + i);
    fit_raw(t, r, 2, "one feature");
}

static void constant_features(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    for (plx_index i = 0; i < r->n; i++) r->view[0].x[i * r->view[0].cols + 2] = 4;
    fit_raw(t, raw_clone(r), 2, "a constant feature");
    for (plx_index v = 0; v < r->n_views; v++)
        for (plx_index e = 0; e < r->n * r->view[v].cols; e++) r->view[v].x[e] = 1;
    fit_raw(t, r, 2, "all samples equal");
}

static void zero_view(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    raw *real = raw_clone(r);
    memset(r->view[0].x, 0, (size_t)(r->n * r->view[0].cols) * sizeof(double));
    fit_raw(t, raw_clone(r), 2, "an all-zero view of counts");
    r->view[0].kind = PLX_VIEW_REAL;
    fit_raw(t, r, 2, "an all-zero view of real values");
    for (plx_index v = 0; v < real->n_views; v++)
        memset(real->view[v].x, 0, (size_t)(real->n * real->view[v].cols) * sizeof(double));
    fit_raw(t, real, 2, "all views zero");
}

static void duplicate_rows(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    plx_index twice[24];
    for (plx_index i = 0; i < 24; i++) twice[i] = i / 2;
    raw *doubled = raw_rows(r, twice, 24);
    fit_raw(t, doubled, 2, "every row twice");
    raw_free(r);
}

static void large_and_small_values(trial *t)
{
    static const double factors[] = {1e12, 1e-12};
    for (size_t f = 0; f < 2; f++) {
        raw *r = raw_make(t, 12, 2, 3);
        for (plx_index v = 0; v < r->n_views; v++) {
            r->view[v].kind = PLX_VIEW_REAL;
            for (plx_index e = 0; e < r->n * r->view[v].cols; e++) r->view[v].x[e] *= factors[f];
        }
        fit_raw(t, r, 2, f ? "values times 1e-12" : "values times 1e12");
    }
}

/* Every third column of every view becomes `value` times what it is; all views are real numbers then. */
static void stretch(raw *r, double value)
{
    for (plx_index v = 0; v < r->n_views; v++) {
        r->view[v].kind = PLX_VIEW_REAL;
        for (plx_index i = 0; i < r->n; i++)
            for (plx_index j = 0; j < r->view[v].cols; j += 3) r->view[v].x[i * r->view[v].cols + j] *= value;
    }
}

/* Without the scaling that would take the size of values away. */
static void fit_unscaled(trial *t, raw *r, const char *what)
{
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_params *p = base_params(t, ctx, 2);
    plx_model *m = NULL;
    plx_status st = plx_params_set(p, ctx, "scale", "none");
    if (st == PLX_OK) st = try_fit(t, &m, ctx, data, p);
    check_outcome(t, st, ctx, m, what);
    plx_params_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* New samples with such values: finite scores and arrays, or a refusal. */
static void predict_stretched(trial *t, double value, const char *what)
{
    if (!can(t, PLX_CAN_PREDICT)) return;
    raw *r = raw_make(t, 18, 2, 3), *fresh = raw_make(t, 6, 2, 4);
    stretch(r, 1.0);
    stretch(fresh, value);
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx), *others = raw_dataset(t, fresh, ctx);
    plx_model *m = must_fit(t, ctx, data);
    plx_prediction *p = NULL;
    plx_status st = m ? plx_predict(&p, ctx, m, others) : PLX_OK;
    CHECK(t, st == PLX_OK || clean_refusal(st, ctx), "%s in new samples: %s", what, plx_status_name(st));
    if (p) {
        char where[128] = "";
        picture *shown = picture_prediction(p);
        CHECK(t, picture_finite(shown, where, sizeof where), "%s in new samples: not finite: %s", what, where);
        picture_free(shown);
    }
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_dataset_destroy(others);
    plx_context_destroy(ctx);
    raw_free(r);
    raw_free(fresh);
}

static void extreme_values(trial *t)
{
    static const struct {
        double value;
        const char *what;
    } extreme[] = {{1e200, "columns of 1e200"}, {1e307, "columns of 1e307"}, {1e-310, "denormal columns"}};
    for (int e = 0; e < 3; e++) {
        raw *r = raw_make(t, 12, 2, 3);
        stretch(r, extreme[e].value);
        if (plx__param_find(t->about->params, "scale")) fit_unscaled(t, r, extreme[e].what);
        fit_raw(t, r, 2, extreme[e].what);
        predict_stretched(t, extreme[e].value, extreme[e].what);
    }
}

/* ---- classes ---- */

static void few_classes(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3), *one = raw_clone(r), *single = raw_clone(r);
    for (plx_index i = 0; i < r->n; i++) r->label[i] = one->label[i] = -1;
    one->label[3] = 1;
    for (plx_index i = 0; i < r->n; i++) single->label[i] = 0;
    if (t->about->min_classes > 0) refuse_raw(t, r, PLX_E_DATA, "label", "nobody is labelled");
    else fit_raw(t, r, 2, "nobody is labelled");
    if (t->about->min_classes > 1) refuse_raw(t, single, PLX_E_DATA, "class", "one class only");
    else fit_raw(t, single, 2, "one class only");
    fit_raw(t, one, 2, "one labelled sample");
}

static void many_classes(trial *t)
{
    raw *r = raw_make(t, 12, 12, 3);
    for (plx_index i = 0; i < r->n; i++) r->label[i] = (int32_t)i;
    fit_raw(t, r, 12, "every sample its own class");
    fit_raw(t, raw_make(t, 6, 2, 3), 7, "more clusters than samples");
}

static void label_sets(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    const char *labels[12] = {"k00", "k01", "k00|k01", "k00", "k01", "k00"};
    plx_model *m = NULL;
    CHECK(t, plx_dataset_set_labels(data, ctx, labels) == PLX_OK, "%s", plx_context_error(ctx));
    plx_status st = try_fit(t, &m, ctx, data, NULL);
    if (can(t, PLX_CAN_LABEL_SETS)) {
        check_outcome(t, st, ctx, m, "a label set");
    } else {
        CHECK(t, st == PLX_E_DATA, "a label set gives %s, not PLX_E_DATA", plx_status_name(st));
        CHECK(t, strstr(plx_context_error(ctx), "k00|k01"), "the message does not show the labels: '%s'",
              plx_context_error(ctx));
        plx_model_destroy(m);
    }
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* ---- values ---- */

static void infinite_values(trial *t)
{
    raw *r = raw_make(t, 6, 2, 3);
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    double x[6] = {1, 2, INFINITY, 4, 5, 6};
    plx_status st = plx_dataset_add_dense(data, ctx, "odd", PLX_VIEW_REAL, (plx_cmat){x, 6, 1, 1}, NULL, NULL);
    CHECK(t, st == PLX_E_DATA && strstr(plx_context_error(ctx), "odd"), "an infinite value: %s '%s'",
          plx_status_name(st), plx_context_error(ctx));
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

static void missing_values(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    r->view[0].x[1] = NAN;
    r->view[0].x[3 * r->view[0].cols + 2] = NAN;
    if (can(t, PLX_CAN_MISSING_VALUES)) fit_raw(t, r, 2, "nan entries");
    else refuse_raw(t, r, PLX_E_DATA, r->view[0].name, "nan entries");
}

static void negative_values(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    for (plx_index v = 0; v < r->n_views; v++) {
        r->view[v].kind = PLX_VIEW_REAL;
        for (plx_index e = 0; e < r->n * r->view[v].cols; e++) r->view[v].x[e] -= 1.5;
    }
    if (can(t, PLX_IS_FOR_COUNTS) && t->variant < 0)
        refuse_raw(t, r, PLX_E_DATA, "needs values >= 0", "negative values");
    else fit_raw(t, r, 2, "negative values");
}

/* ---- views ---- */

static void mask(raw *r, plx_index percent)
{
    for (plx_index i = 0; i < r->n; i++)
        for (plx_index v = 0; v < r->n_views; v++)
            r->view[v].present[i] = (7 * i + 37 * v + i * i) % 100 >= percent || v == i % r->n_views;
}

static void missing_views(trial *t)
{
    raw *r = raw_make(t, 30, 3, 3);
    mask(r, 30);
    if (!can(t, PLX_CAN_MISSING_VIEWS)) {
        refuse_raw(t, r, PLX_E_DATA, "view '", "missing views");
        return;
    }
    plx_context *ctx = plain_context(1);
    char where[128] = "";
    picture *p = fit_picture(t, ctx, r);
    CHECK(t, p && picture_finite(p, where, sizeof where), "missing views: not finite: %s", where);
    picture_free(p);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* What stands in the place of a missing row must not matter. */
static void missing_rows_are_not_read(trial *t)
{
    if (!can(t, PLX_CAN_MISSING_VIEWS)) return;
    raw *r = raw_make(t, 30, 3, 3);
    mask(r, 30);
    raw *other = raw_clone(r);
    for (plx_index v = 0; v < r->n_views; v++)
        for (plx_index i = 0; i < r->n; i++)
            for (plx_index j = 0; !r->view[v].present[i] && j < r->view[v].cols; j++)
                other->view[v].x[i * r->view[v].cols + j] = 1e9;
    plx_context *ctx = plain_context(1);
    picture *a = fit_picture(t, ctx, r), *b = fit_picture(t, ctx, other);
    const char *difference = picture_difference(t, a, b, 0, NULL);
    CHECK(t, !difference, "values in missing rows matter: %s", difference);
    picture_free(a);
    picture_free(b);
    plx_context_destroy(ctx);
    raw_free(r);
    raw_free(other);
}

/* uncovered=error names the sample. */
static void uncovered_is_refused(trial *t, const raw *r)
{
    if (!plx__param_find(t->about->params, "uncovered")) return;
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_params *params = base_params(t, ctx, 3);
    plx_model *m = NULL;
    NEED(t, plx_params_set(params, ctx, "uncovered", "error") == PLX_OK, "%s", plx_context_error(ctx));
    plx_status st = try_fit(t, &m, ctx, data, params);
    CHECK(t, st == PLX_E_DATA && strstr(plx_context_error(ctx), "10"), "uncovered=error: %s '%s'", plx_status_name(st),
          plx_context_error(ctx));
    plx_model_destroy(m);
    plx_params_destroy(params);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* Classes, clusters or numbers: what a fit gives does not change with one sample more. */
static void same_kind_of_outcome(trial *t, const raw *whole, const raw *with_hole)
{
    plx_context *ctx = plain_context(1);
    const raw *both[] = {whole, with_hole};
    plx__outcome_kind kind[2] = {0};
    bool fitted = true;
    for (int k = 0; k < 2; k++) {
        plx_dataset *data = raw_dataset(t, both[k], ctx);
        plx_params *p = base_params(t, ctx, 3);
        plx_model *m = NULL;
        fitted = try_fit(t, &m, ctx, data, p) == PLX_OK && fitted;
        if (m) kind[k] = m->fitted.outcome.kind;
        plx_model_destroy(m);
        plx_params_destroy(p);
        plx_dataset_destroy(data);
    }
    CHECK(t, !fitted || kind[0] == kind[1], "a sample without any view makes outcome %d of outcome %d", (int)kind[1],
          (int)kind[0]);
    plx_context_destroy(ctx);
}

static void uncovered_sample(trial *t)
{
    if (!can(t, PLX_CAN_MISSING_VIEWS)) return;
    raw *r = raw_make(t, 18, 3, 3), *whole = raw_clone(r);
    for (plx_index v = 0; v < r->n_views; v++) r->view[v].present[10] = 0;
    same_kind_of_outcome(t, whole, r);
    raw_free(whole);
    uncovered_is_refused(t, r);
    fit_raw(t, r, 3, "a sample without any view");
}

static void number_of_views(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    while (t->about->min_views > 1 && r->n_views >= t->about->min_views) raw_drop_view(r, r->n_views - 1);
    if (t->about->min_views > 1) refuse_raw(t, r, PLX_E_DATA, "view", "too few views");
    else raw_free(r);
    plx_context *ctx = plain_context(1);
    plx_dataset *empty = NULL;
    plx_model *m = NULL;
    NEED(t, plx_dataset_create(&empty, ctx, "empty", 3) == PLX_OK, "%s", plx_context_error(ctx));
    plx_status st = try_fit(t, &m, ctx, empty, NULL);
    CHECK(t, st == PLX_E_DATA && strstr(plx_context_error(ctx), "view"), "no views: %s '%s'", plx_status_name(st),
          plx_context_error(ctx));
    plx_dataset_destroy(empty);
    plx_context_destroy(ctx);
}

/* A Gram matrix of the first view in its place. */
static raw *with_kernel_view(const raw *from)
{
    raw *r = raw_clone(from);
    raw_view *v = &r->view[0];
    double *g = calloc((size_t)(r->n * r->n), sizeof *g);
    for (plx_index i = 0; i < r->n; i++)
        for (plx_index j = 0; j < r->n; j++)
            for (plx_index f = 0; f < v->cols; f++) g[i * r->n + j] += v->x[i * v->cols + f] * v->x[j * v->cols + f];
    free(v->x);
    v->x = g;
    v->cols = r->n;
    v->kind = PLX_VIEW_KERNEL;
    v->named = false;
    return r;
}

static plx_dataset *kernel_dataset(trial *t, const raw *from, plx_context *ctx)
{
    raw *r = with_kernel_view(from);
    char(*names)[16] = calloc((size_t)r->n, sizeof *names);
    free(r->view[0].feature);
    r->view[0].feature = names;
    plx_dataset *data = raw_dataset(t, r, ctx);
    raw_free(r);
    return data;
}

static void kernel_views(trial *t)
{
    raw *r = raw_make(t, 12, 2, 3);
    plx_context *ctx = plain_context(1);
    plx_dataset *data = kernel_dataset(t, r, ctx);
    plx_params *params = base_params(t, ctx, 3);
    plx_model *m = NULL;
    if (plx__param_find(t->about->params, "view") && t->variant < 0) /* all views joined cannot take a kernel in */
        NEED(t, plx_params_set(params, ctx, "view", r->view[0].name) == PLX_OK, "%s", plx_context_error(ctx));
    plx_status st = try_fit(t, &m, ctx, data, params);
    plx_params_destroy(params);
    if (can(t, PLX_CAN_KERNEL_VIEWS)) {
        CHECK(t, st == PLX_OK || t->variant >= 0, "a kernel view: %s", plx_context_error(ctx));
        check_outcome(t, st, ctx, m, "a kernel view");
    } else {
        CHECK(t, st == PLX_E_DATA && strstr(plx_context_error(ctx), "kernel"), "a kernel view: %s '%s'",
              plx_status_name(st), plx_context_error(ctx));
        plx_model_destroy(m);
    }
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

const check data_checks[] = {{"few-samples", few_samples},
                             {"one-feature", one_feature},
                             {"constant-features", constant_features},
                             {"zero-view", zero_view},
                             {"duplicate-rows", duplicate_rows},
                             {"scale-of-values", large_and_small_values},
                             {"extreme-values", extreme_values},
                             {"few-classes", few_classes},
                             {"many-classes", many_classes},
                             {"label-sets", label_sets},
                             {"infinite-values", infinite_values},
                             {"missing-values", missing_values},
                             {"negative-values", negative_values},
                             {"missing-views", missing_views},
                             {"missing-rows-not-read", missing_rows_are_not_read},
                             {"uncovered-sample", uncovered_sample},
                             {"number-of-views", number_of_views},
                             {"kernel-views", kernel_views},
                             {NULL, NULL}};
