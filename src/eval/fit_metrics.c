/*
 * Metrics of a fit. Samples that do not count get the truth `?`; after that the general computations do the rest.
 */
#include "eval/fit_metrics.h"

#include <string.h>

#include "core/ranks.h"
#include "eval/class_counts.h"
#include "eval/contingency.h"
#include "eval/metrics_store.h"
#include "eval/rank_core.h"
#include "eval/rank_divided.h"

static bool has_truth(const plx__fit_outcome *o, plx_index i) { return o->truth[i] && !plx__is_unknown(o->truth[i]); }

/* The truth of the samples that count, `?` for the others; *count tells how many. */
static plx_status choose_samples(const char ***truth, plx_index *count, plx_metrics *m, const plx__fit_outcome *o)
{
    plx_context *ctx = m->ctx;
    plx_index unseen = 0;
    *count = 0;
    PLX_TRY(PLX__ARENA_NEW(truth, plx__scratch(ctx), o->n));
    for (plx_index i = 0; i < o->n; i++) unseen += has_truth(o, i) && !(o->seen && o->seen[i]);
    bool all = unseen == 0 || o->kind == PLX__FIT_CLUSTERER;
    for (plx_index i = 0; i < o->n; i++) {
        bool counts = has_truth(o, i) && (all || !(o->seen && o->seen[i]));
        (*truth)[i] = counts ? o->truth[i] : "?";
        *count += counts;
    }
    if (*count && unseen == 0 && o->kind != PLX__FIT_CLUSTERER) m->basis = "on the labelled samples";
    return PLX_OK;
}

static bool has_sets(const plx__fit_outcome *o)
{
    if (o->multilabel) return true;
    for (plx_index i = 0; i < o->n; i++)
        if ((o->truth[i] && strchr(o->truth[i], '|')) || (o->pred[i] && strchr(o->pred[i], '|'))) return true;
    return false;
}

/* ---- classifiers ---- */

static plx_status add_ranked(plx_metrics *m, const plx__rank_result *r, const char *class_name, const char *suffix)
{
    const char *reason = NULL;
    if (r->nan_row >= 0) reason = "a score is NaN";
    else if (r->positives == 0) reason = "no evaluated sample is of this class";
    if (reason) PLX_TRY(plx__metrics_undefined(m, reason, "auc%s%s", suffix, class_name));
    else if (r->negatives == 0)
        PLX_TRY(plx__metrics_undefined(m, "every evaluated sample is of this class", "auc%s%s", suffix, class_name));
    else PLX_TRY(plx__metrics_add(m, r->auc, "auc%s%s", suffix, class_name));
    if (reason) return plx__metrics_undefined(m, reason, "prbep%s%s", suffix, class_name);
    return plx__metrics_add(m, r->prbep, "prbep%s%s", suffix, class_name);
}

/* The samples whose scores are here. */
static plx_index held_rows(const plx__fit_outcome *o, const plx_context *ctx)
{
    return o->bound ? o->bound[plx__rank(ctx) + 1] - o->bound[plx__rank(ctx)] : o->n;
}

static plx_status rank_classes(plx__rank_result **out, plx_context *ctx, const plx__fit_outcome *o,
                               const char *const *truth, plx_cmat scores)
{
    plx__rank_truth who;
    if (scores.rows != held_rows(o, ctx) || scores.cols != o->n_classes)
        PLX_FAIL(ctx, PLX_E_INTERNAL, "scores are %lld x %lld, expected %lld x %lld", (long long)scores.rows,
                 (long long)scores.cols, (long long)held_rows(o, ctx), (long long)o->n_classes);
    PLX_TRY(plx__rank_truth_make(&who, ctx, truth, o->n, o->classes, o->n_classes, false));
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), o->n_classes));
    return o->bound ? plx__rank_divided(*out, ctx, &who, scores, o->bound) : plx__rank_columns(*out, ctx, &who, scores);
}

static plx_status add_classifier(plx_metrics *m, const plx__fit_outcome *o, const char *const *truth)
{
    plx__class_counts c;
    plx__rank_result *ranked = NULL;
    PLX_TRY(plx__count_labels(&c, m->ctx, truth, o->pred, o->n));
    PLX_TRY(plx__metrics_add(m, (double)c.correct / (double)c.n, "accuracy"));
    PLX_TRY(plx__metrics_add(m, plx__prf_macro(&c).f1, "macro_f1"));
    PLX_TRY(plx__metrics_add(m, plx__prf_micro(&c).f1, "micro_f1"));
    if ((!o->scores.data && !o->bound) || o->n_classes == 0) return PLX_OK;
    PLX_TRY(rank_classes(&ranked, m->ctx, o, truth, o->scores));
    if (o->n_classes == 2) PLX_TRY(add_ranked(m, &ranked[1], "", ""));
    for (plx_index k = 0; k < o->n_classes; k++) PLX_TRY(add_ranked(m, &ranked[k], o->classes[k], ":"));
    return PLX_OK;
}

static plx_status add_sets(plx_metrics *m, const plx__fit_outcome *o, const char *const *truth)
{
    plx__class_counts c, closed;
    PLX_TRY(plx__count_sets(&c, o->hierarchy ? &closed : NULL, m->ctx, truth, o->pred, o->n, o->hierarchy));
    PLX_TRY(plx__metrics_add(m, plx__prf_micro(&c).f1, "micro_f1"));
    PLX_TRY(plx__metrics_add(m, plx__prf_macro(&c).f1, "macro_f1"));
    PLX_TRY(plx__metrics_add(m, (double)c.correct / (double)c.n, "subset_accuracy"));
    PLX_TRY(plx__metrics_add(m, plx__hamming_loss(&c), "hamming_loss"));
    return o->hierarchy ? plx__metrics_add(m, plx__prf_micro(&closed).f1, "h_f1") : PLX_OK;
}

/* ---- clusterers ---- */

static plx_status add_clusterer(plx_metrics *m, const plx__fit_outcome *o, const char *const *truth)
{
    plx__contingency t;
    double geometric = 0, accuracy = 0;
    PLX_TRY(plx__contingency_make(&t, m->ctx, truth, o->pred, o->n, false));
    PLX_TRY(plx__cluster_accuracy(&accuracy, m->ctx, &t));
    plx__pair_counts pairs = plx__count_pairs(&t);
    PLX_TRY(plx__metrics_add(m, plx__nmi(&t, &geometric), "nmi"));
    PLX_TRY(plx__metrics_add(m, plx__ari(pairs), "ari"));
    PLX_TRY(plx__metrics_add(m, accuracy, "cluster_accuracy"));
    PLX_TRY(plx__metrics_add(m, plx__cluster_entropy(&t), "cluster_entropy"));
    return plx__metrics_add(m, plx__pair_f(pairs), "pair_f");
}

plx_status plx__metrics_for_fit(plx_metrics *metrics, const plx__fit_outcome *outcome)
{
    const char **truth = NULL;
    plx_index count = 0;
    if (!outcome->truth) return PLX_OK;
    PLX_TRY(choose_samples(&truth, &count, metrics, outcome));
    if (count == 0) return PLX_OK;
    if (outcome->kind == PLX__FIT_CLUSTERER) return add_clusterer(metrics, outcome, truth);
    if (outcome->kind == PLX__FIT_REGRESSOR) return plx__metrics_regression(metrics, truth, outcome->pred, outcome->n);
    return has_sets(outcome) ? add_sets(metrics, outcome, truth) : add_classifier(metrics, outcome, truth);
}

/* ---- one view ---- */

static const char *largest(const plx__fit_outcome *o, const double *row)
{
    plx_index best = 0;
    for (plx_index k = 1; k < o->n_classes; k++)
        if (row[k] > row[best]) best = k;
    return o->classes[best];
}

static plx_status add_view_accuracy(plx_metrics *m, const plx__fit_outcome *o, const char *const *truth,
                                    const char *view, plx_cmat scores)
{
    int64_t count[2] = {0, 0}; /* predicted, correct */
    plx_index first = o->bound ? o->bound[plx__rank(m->ctx)] : 0;
    for (plx_index i = 0; i < held_rows(o, m->ctx); i++) {
        if (plx__is_unknown(truth[first + i])) continue;
        count[0]++;
        count[1] += strcmp(truth[first + i], largest(o, scores.data + i * scores.ld)) == 0;
    }
    if (o->bound) PLX_TRY(plx__peers_total(m->ctx, count, 2));
    if (count[0] == 0)
        return plx__metrics_undefined(m, "the view predicts no evaluated sample", "view_accuracy:%s", view);
    return plx__metrics_add(m, (double)count[1] / (double)count[0], "view_accuracy:%s", view);
}

plx_status plx__metrics_for_view(plx_metrics *metrics, const plx__fit_outcome *outcome, const char *view,
                                 plx_cmat scores, const uint8_t *present)
{
    const char **truth = NULL;
    plx__rank_result *ranked = NULL;
    plx_index count = 0;
    if (!outcome->truth || outcome->n_classes == 0 || has_sets(outcome)) return PLX_OK; /* sets: no largest class */
    PLX_TRY(choose_samples(&truth, &count, metrics, outcome));
    if (count == 0) return PLX_OK;
    for (plx_index i = 0; present && i < outcome->n; i++)
        if (!present[i]) truth[i] = "?";
    PLX_TRY(rank_classes(&ranked, metrics->ctx, outcome, truth, scores));
    PLX_TRY(add_view_accuracy(metrics, outcome, truth, view, scores));
    for (plx_index k = 0; k < outcome->n_classes; k++) {
        const plx__rank_result *r = &ranked[k];
        const char *name = outcome->classes[k];
        if (r->nan_row >= 0 || r->positives == 0)
            PLX_TRY(plx__metrics_undefined(metrics,
                                           r->nan_row >= 0 ? "a score is NaN" : "no evaluated sample is of this class",
                                           "prbep:%s@%s", name, view));
        else PLX_TRY(plx__metrics_add(metrics, r->prbep, "prbep:%s@%s", name, view));
    }
    return PLX_OK;
}
