/*
 * mrknn: k-nearest-neighbour classification of multi-represented objects.
 *
 * (1) Distances of a view are divided by a statistic s_v of the distances between its labelled samples, so that views
 *     can be compared.
 * (2) A query's decision set in view v is its k nearest labelled samples that have the view, never the query itself.
 * (3) Its confidence in class c is the share of c in the set, by 1 / (d + eps)^2 or by count.
 * (4) Views are weighted per query by how unanimous the set is (1 - entropy / log c), by the leave-one-out accuracy of
 *     the view alone, or equally, over the views with a decision set.
 * (5) The score is the weighted mean of the confidences. Labelled samples are predicted leave-one-out.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/tally.h"
#include "device/anywhere.h"
#include "kernel/prepared.h"
#include "linalg/knn.h"
#include "run/problem.h"

enum { QUERY_GRAIN = 256 };
enum { NORMALISE_NONE = 3 }; /* after the words of plx__pair_statistic */
enum { WEIGHT_ENTROPY = 0, WEIGHT_EQUAL = 1, WEIGHT_ACCURACY = 2 };
enum { BY_INVERSE = 0, BY_COUNT = 1 };

typedef struct params {
    int normalise, weight, decision;
    double eps;
} params;

static const plx__param_spec param_specs[] = {
    PLX__VIEW_INT("k", "5", 1, 1e9, "Nearest labelled samples in a view's decision set; more smooths."),
    PLX__VIEW_CHOICE("metric", "euclid", "euclid|cosine", "Distance between rows of a view."),
    PLX__CHOICE(params, normalise, "mean", "mean|median|max|none",
                "What the distances of a view are divided by: a statistic over pairs of labelled samples."),
    PLX__CHOICE(
        params, weight, "entropy", "entropy|equal|accuracy",
        "Weight of a view: how unanimous its decision set is, the same for all, or its leave-one-out accuracy."),
    PLX__CHOICE(params, decision, "inverse", "inverse|count", "What a neighbour counts: 1 / (distance + eps)^2, or 1."),
    PLX__REAL_ABOVE(params, eps, "1e-6", 0, "Added to a distance before it is inverted; larger evens neighbours out."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"scores", "n x c", 0, "Weighted mean of the views' confidences."},
    {"weights", "n x V", 0, "Weight of every view for every sample; 0 where it has no say."},
    {"confidence_VIEW", "n x c", 0, "Shares of the classes in the view's decision set; zero rows where there is none."},
    {"scale_factors", "V x 1", 0, "What the distances of every view were divided by."},
    {"view_accuracy", "V x 1", PLX__MEASURED, "Leave-one-out accuracy of every view alone over its labelled samples."},
    {NULL, NULL, 0, NULL}};

/* ---- one view ---- */

typedef struct decisions { /* of the samples of this run in one view */
    const plx__prepared *rows;
    plx__points references;        /* labelled rows of the fitted samples, scaled */
    const double *reference_class; /* their classes */
    const plx_index *own;          /* n: the sample's place among the references, -1: none */
    plx_index k, classes;
    plx__metric metric;
    double factor, eps;
    bool count;
    int64_t *found; /* n x (k + 1) */
    double *distance;
    plx_mat confidence;
} decisions;

static plx_status view_settings(decisions *d, plx__run *run, const char *view)
{
    const params *p = run->params;
    plx__value k, metric;
    PLX_TRY(plx__view_value(&k, run->ctx, run->settings, "k", view));
    PLX_TRY(plx__view_value(&metric, run->ctx, run->settings, "metric", view));
    d->k = plx__min((plx_index)k.number, plx__points_rows(d->references));
    d->metric = (plx__metric)metric.word;
    d->eps = p->eps;
    d->count = p->decision == BY_COUNT;
    d->classes = run->problem->n_classes;
    return PLX_OK;
}

/* (3) of sample i; its own row is passed over. */
static void confidence_of(const decisions *d, plx_index i)
{
    double *row = d->confidence.data + i * d->confidence.ld, sum = 0;
    plx_index taken = 0;
    for (plx_index t = 0; t <= d->k && taken < d->k; t++) {
        int64_t u = d->found[i * (d->k + 1) + t];
        if (u < 0) break;
        if (u == d->own[i]) continue;
        double gap = d->distance[i * (d->k + 1) + t] / d->factor + d->eps;
        double vote = d->count ? 1.0 : 1.0 / (gap * gap);
        row[(plx_index)d->reference_class[u]] += vote;
        sum += vote;
        taken++;
    }
    for (plx_index c = 0; c < d->classes && sum > 0; c++) row[c] /= sum;
}

static plx_status confidences(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const decisions *d = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++)
        if (d->rows->present[i]) confidence_of(d, i);
    return PLX_OK;
}

/* Rows that share no word with any labelled one are equally far from all of them, and the order of the samples chooses:
 * tell where that happens to more than a fifth of a view. */
static void warn_of_ties(const decisions *d, plx__run *run)
{
    plx_index tied = 0, queries = 0;
    for (plx_index i = 0; i < run->problem->n; i++) {
        const double *x = d->distance + i * (d->k + 1);
        if (!d->rows->present[i] || d->own[i] >= 0 || d->found[i * (d->k + 1) + d->k] < 0) continue;
        queries++;
        tied += x[d->k] > 0 && x[d->k] - x[d->k - 1] <= 1e-12 * x[d->k];
    }
    if (5 * tied > queries)
        plx__warn(
            run->ctx,
            "mrknn: in view '%s' %lld of %lld samples have more than k labelled ones at the same distance, and the "
            "first of these decide; weight=accuracy trusts such a view less",
            d->rows->name, (long long)tied, (long long)queries);
}

/* (2), (3): fills confidence_VIEW. One neighbour more than k is sought because a sample finds itself. */
static plx_status decide_view(decisions *d, plx__run *run)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx_index n = run->problem->n;
    plx__knn_options options = {.k = d->k + 1, .metric = d->metric, .query_present = d->rows->present};
    const char *name = NULL;
    PLX_TRY(plx__arena_printf(&name, plx__scratch(run->ctx), "confidence_%s", d->rows->name));
    PLX_TRY(plx__store_new(&d->confidence, run->out, name, n, d->classes));
    plx__mat_fill(d->confidence, 0.0);
    if (d->k == 0) return PLX_OK;
    PLX_TRY(plx__arena_i64(&d->found, plx__scratch(run->ctx), n * (d->k + 1)));
    PLX_TRY(plx__arena_f64(&d->distance, plx__scratch(run->ctx), n, d->k + 1));
    PLX_TRY(plx__knn_anywhere(run->ctx, d->rows->rows, d->references, &options, d->found, d->distance));
    PLX_TRY(plx__parallel_for(run->ctx, n, QUERY_GRAIN, confidences, d));
    if (!run->fitted) warn_of_ties(d, run);
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

static bool has_say(plx_cmat confidence, plx_index i)
{
    for (plx_index c = 0; c < confidence.cols; c++)
        if (confidence.data[i * confidence.ld + c] > 0) return true;
    return false;
}

/* Share of the labelled samples with the view that its decision set alone gets right; 0 without any. */
static plx_status view_accuracy(double *out, plx__run *run, const decisions *d)
{
    plx_index right = 0, total = 0;
    int32_t *label = NULL;
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), run->problem->n));
    plx__argmax_rows(label, plx__cmat(d->confidence));
    for (plx_index i = 0; i < run->problem->n; i++) {
        if (d->own[i] < 0) continue;
        total++;
        right += label[i] == run->problem->label[i] && has_say(plx__cmat(d->confidence), i);
    }
    *out = total ? (double)right / (double)total : 0.0;
    return PLX_OK;
}

/* ---- (1) fitting: references and their scale ---- */

/* Labelled samples with the view become the references. */
static plx_status take_references(decisions *d, plx__run *run)
{
    const plx__problem *x = run->problem;
    plx__arena *scratch = plx__scratch(run->ctx);
    plx_index *rows = NULL, *own = NULL, count = 0;
    double *classes = NULL;
    const char *name = NULL;
    PLX_TRY(plx__arena_i64(&rows, scratch, x->n));
    PLX_TRY(plx__arena_i64(&own, scratch, x->n));
    PLX_TRY(plx__arena_f64(&classes, scratch, x->n, 1));
    for (plx_index i = 0; i < x->n; i++) {
        own[i] = -1;
        if (x->label[i] < 0 || !d->rows->present[i]) continue;
        own[i] = count;
        classes[count] = x->label[i];
        rows[count++] = i;
    }
    PLX_TRY(plx__points_select(&d->references, run->ctx, d->rows->rows, rows, count));
    d->own = own;
    d->reference_class = classes;
    PLX_TRY(plx__view_key(&name, run->ctx, "_class", d->rows->name));
    PLX_TRY(plx__store_put(run->out, name, (plx_cmat){classes, count, 1, 1}));
    PLX_TRY(plx__view_key(&name, run->ctx, "_references", d->rows->name));
    return plx__points_put(run->out, name, d->references);
}

static plx_status find_factor(double *out, plx__run *run, const decisions *d)
{
    const params *p = run->params;
    const char *what = NULL;
    *out = 1.0;
    if (p->normalise == NORMALISE_NONE || plx__points_rows(d->references) < 2) return PLX_OK;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(run->ctx), "view '%s'", d->rows->name));
    PLX_TRY(plx__pair_distance(run->ctx, d->references, NULL, d->metric, (plx__pair_statistic)p->normalise, out, what));
    if (!isfinite(*out))
        PLX_FAIL(run->ctx, PLX_E_NUMERIC, "mrknn: distances in view '%s' are not finite; scale the view",
                 d->rows->name);
    if (*out == 0) *out = 1.0;
    return PLX_OK;
}

/* Also scale_factors and view_accuracy at `view`. A view without labelled samples has no say. */
static plx_status fit_view(plx__run *run, plx_index view, double *factor, double *accuracy, uint8_t *used)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx__prepared rows;
    decisions d = {.rows = &rows};
    PLX_TRY(plx__prepare_rows(&rows, run, view));
    PLX_TRY(take_references(&d, run));
    PLX_TRY(view_settings(&d, run, rows.name));
    *used = plx__points_rows(d.references) > 0;
    if (!*used) plx__warn(run->ctx, "mrknn: no labelled sample has view '%s'; it is ignored", rows.name);
    PLX_TRY(find_factor(factor, run, &d));
    d.factor = *factor;
    PLX_TRY(decide_view(&d, run));
    PLX_TRY(view_accuracy(accuracy, run, &d));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

/* ---- predicting: references from the model ---- */

static plx_status load_references(decisions *d, plx__run *run)
{
    const char *name = NULL;
    plx_cmat classes;
    PLX_TRY(plx__view_key(&name, run->ctx, "_references", d->rows->name));
    PLX_TRY(plx__points_get(&d->references, run->ctx, run->fitted, name, -1, d->rows->cols));
    plx_index count = plx__points_rows(d->references);
    PLX_TRY(plx__view_key(&name, run->ctx, "_class", d->rows->name));
    PLX_TRY(plx__store_shaped(&classes, run->ctx, run->fitted, name, count, 1));
    for (plx_index u = 0; u < count; u++)
        if (!(classes.data[u] >= 0 && classes.data[u] < (double)run->problem->n_classes))
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's classes of view '%s' are out of range", d->rows->name);
    d->reference_class = classes.data;
    return PLX_OK;
}

static plx_status predict_view(plx__run *run, plx_index view, double factor)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx__prepared rows;
    plx_index *nobody = NULL;
    decisions d = {.rows = &rows, .factor = factor};
    PLX_TRY(plx__prepare_rows(&rows, run, view));
    PLX_TRY(load_references(&d, run));
    PLX_TRY(plx__points_match(&rows.rows, run->ctx, d.references));
    PLX_TRY(view_settings(&d, run, rows.name));
    PLX_TRY(plx__arena_i64(&nobody, plx__scratch(run->ctx), run->problem->n));
    for (plx_index i = 0; i < run->problem->n; i++) nobody[i] = -1;
    d.own = nobody;
    PLX_TRY(decide_view(&d, run));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

/* ---- (4), (5): all views together ---- */

typedef struct joint {
    plx_mat scores, weights;
    const plx_cmat *confidence; /* per view */
    const double *accuracy;
    const double *share; /* classes among the labelled samples */
    int rule;
    plx_index classes;
} joint;

/* 1: unanimous, 0: uniform. */
static double unanimity(const double *confidence, plx_index classes)
{
    double entropy = 0;
    for (plx_index c = 0; c < classes; c++)
        if (confidence[c] > 0) entropy -= confidence[c] * log(confidence[c]);
    return classes > 1 ? fmax(0.0, 1.0 - entropy / log((double)classes)) : 1.0;
}

static double raw_weight(const joint *j, plx_index view, plx_index i)
{
    if (!has_say(j->confidence[view], i)) return -1.0;
    if (j->rule == WEIGHT_EQUAL) return 1.0;
    if (j->rule == WEIGHT_ACCURACY) return j->accuracy[view];
    return unanimity(j->confidence[view].data + i * j->confidence[view].ld, j->classes);
}

/* Returns false where no view has a say: the shares of the classes then. */
static bool join_sample(const joint *j, plx_index i)
{
    double *w = j->weights.data + i * j->weights.ld, *s = j->scores.data + i * j->scores.ld, sum = 0, views = 0;
    for (plx_index v = 0; v < j->weights.cols; v++) {
        w[v] = raw_weight(j, v, i);
        if (w[v] >= 0) views++, sum += w[v];
    }
    for (plx_index c = 0; c < j->classes; c++) s[c] = views > 0 ? 0.0 : j->share[c];
    for (plx_index v = 0; v < j->weights.cols; v++) {
        w[v] = w[v] < 0 ? 0.0 : sum > 0 ? w[v] / sum : 1.0 / views;
        if (w[v] > 0) plx__axpy(s, w[v], j->confidence[v].data + i * j->confidence[v].ld, j->classes);
    }
    return views > 0;
}

static plx_status confidences_of(const plx_cmat **out, plx__run *run)
{
    const plx__problem *x = run->problem;
    plx_cmat *all = NULL;
    PLX_TRY(PLX__ARENA_NEW(&all, plx__scratch(run->ctx), x->n_views));
    for (plx_index v = 0; v < x->n_views; v++) {
        const char *name = NULL;
        PLX_TRY(plx__arena_printf(&name, plx__scratch(run->ctx), "confidence_%s", x->views[v].name));
        PLX_TRY(plx__store_shaped(&all[v], run->ctx, run->out, name, x->n, x->n_classes));
    }
    *out = all;
    return PLX_OK;
}

static plx_status join(plx__run *run, const double *accuracy, const double *share)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    joint j = {.accuracy = accuracy, .share = share, .rule = p->weight, .classes = x->n_classes};
    plx_index silent = 0, first = 0;
    int32_t *label = NULL;
    PLX_TRY(confidences_of(&j.confidence, run));
    PLX_TRY(plx__store_new(&j.scores, run->out, "scores", x->n, x->n_classes));
    PLX_TRY(plx__store_new(&j.weights, run->out, "weights", x->n, x->n_views));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), x->n));
    for (plx_index i = 0; i < x->n; i++)
        if (!join_sample(&j, i) && silent++ == 0) first = i;
    if (silent)
        plx__warn_samples(run->ctx, silent, x->ids[first],
                          "mrknn: " PLX__COUNT_HERE
                          " samples have no view with other labelled samples, e.g. " PLX__FIRST_HERE
                          "; they get the most frequent class");
    PLX_TRY(plx__require_finite(run, plx__cmat(j.scores), "scores"));
    plx__argmax_rows(label, plx__cmat(j.scores));
    return plx__outcome_classes(run, label, plx__cmat(j.scores));
}

/* ---- the method ---- */

static plx_status class_shares(plx_mat *out, plx__run *run)
{
    const plx__problem *x = run->problem;
    PLX_TRY(plx__store_new(out, run->out, "_share", 1, x->n_classes));
    plx__mat_fill(*out, 0.0);
    for (plx_index i = 0; i < x->n; i++)
        if (x->label[i] >= 0) out->data[x->label[i]] += 1.0 / (double)x->n_labelled;
    return PLX_OK;
}

static plx_status fit(plx__run *run)
{
    const plx__problem *x = run->problem;
    plx_mat factor, accuracy, share;
    uint8_t *used = NULL;
    PLX_TRY(plx__store_new(&factor, run->out, "scale_factors", x->n_views, 1));
    PLX_TRY(plx__store_new(&accuracy, run->out, "view_accuracy", x->n_views, 1));
    PLX_TRY(class_shares(&share, run));
    PLX_TRY(plx__arena_u8(&used, plx__scratch(run->ctx), x->n_views));
    for (plx_index v = 0; v < x->n_views; v++) {
        PLX_TRY(fit_view(run, v, &factor.data[v], &accuracy.data[v], &used[v]));
        PLX_TRY(plx__report(run->ctx, "neighbours", v + 1, x->n_views, NAN));
    }
    PLX_TRY(plx__mark_used(run, used));
    return join(run, accuracy.data, share.data);
}

static plx_status predict(plx__run *run)
{
    const plx__problem *x = run->problem;
    plx_cmat factor, accuracy, share;
    PLX_TRY(plx__store_shaped(&factor, run->ctx, run->fitted, "scale_factors", x->n_views, 1));
    PLX_TRY(plx__store_shaped(&accuracy, run->ctx, run->fitted, "view_accuracy", x->n_views, 1));
    PLX_TRY(plx__store_shaped(&share, run->ctx, run->fitted, "_share", 1, x->n_classes));
    for (plx_index v = 0; v < x->n_views; v++) {
        if (!(factor.data[v] > 0)) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's scale factors are not > 0");
        PLX_TRY(predict_view(run, v, factor.data[v]));
        PLX_TRY(plx__report(run->ctx, "neighbours", v + 1, x->n_views, NAN));
    }
    return join(run, accuracy.data, share.data);
}

/* Scaled rows, kept rows, neighbours and the search, per view; confidences of all. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    double n = (double)x->n, l = (double)x->n_labelled, c = (double)x->n_classes, m = (double)x->n_views;
    double kept = 0, widest = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        plx__value k = {.number = 5};
        bool sparse = view->sparse && x->scale[v] != PLX__SCALE_ZSCORE;
        double entries = sparse ? (double)view->nonzeros : n * (double)view->cols;
        if (plx__view_value(&k, run->ctx, run->settings, "k", view->name) != PLX_OK) return INFINITY;
        double near = fmin(k.number, l) + 1, search = plx__knn_bytes(run->ctx, x->n, (plx_index)near, entries, sparse);
        kept += (sparse ? 12.0 : 8.0) * entries * fmin(1.0, l / fmax(n, 1.0));
        widest = fmax(widest, plx__prepared_bytes(run, v) + 8 * entries + search + 16 * n * near + 32 * n);
    }
    return kept + widest + 8 * n * (c * (m + 1) + m + 1);
}

static const plx__param_table tables[] = {param_specs,           plx__scale_params,   plx__uncovered_params,
                                          plx__zero_rows_params, plx__heldout_params, NULL};

const plx__method plx__method_mrknn = {
    .name = "mrknn",
    .title = "Nearest neighbours of multi-represented objects",
    .summary = "The decision sets of k nearest labelled samples in every view, weighted by how sure each of them is.",
    .citation = "kriegel2005multirepresented",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .min_classes = 2,
    .leave_one_out = true,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .uncovered = PLX__UNCOVERED_PRIOR,
    .prior_array = "scores",
    .params_size = sizeof(params),
    .scores = "weighted share of the votes for the class",
    .growth = "labels times samples",
    .params = tables,
    .arrays = array_specs,
    .transform = "scores",
    .view_scores = "confidence_VIEW",
    .memory = memory,
    .memory_remedy = "label fewer samples or set a smaller k",
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
