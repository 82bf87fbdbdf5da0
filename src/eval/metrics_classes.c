/*
 * Classification, multi-label and regression metrics of a list.
 */
#include <math.h>

#include "core/number.h"
#include "eval/class_counts.h"
#include "eval/metrics_store.h"
#include "eval/rule_check.h"

static const char NO_TRUTH[] = "no sample has a known truth value";

static plx_status add_per_class(plx_metrics *m, const plx__class_counts *c)
{
    for (plx_index k = 0; k < c->classes; k++) {
        plx__prf r = plx__prf_class(c, k);
        PLX_TRY(plx__metrics_add(m, r.precision, "precision:%s", c->names[k]));
        PLX_TRY(plx__metrics_add(m, r.recall, "recall:%s", c->names[k]));
        PLX_TRY(plx__metrics_add(m, r.f1, "f1:%s", c->names[k]));
    }
    return PLX_OK;
}

static plx_status add_prf(plx_metrics *m, const char *prefix, plx__prf r)
{
    PLX_TRY(plx__metrics_add(m, r.precision, "%sprecision", prefix));
    PLX_TRY(plx__metrics_add(m, r.recall, "%srecall", prefix));
    return plx__metrics_add(m, r.f1, "%sf1", prefix);
}

static plx_status add_averages(plx_metrics *m, const plx__class_counts *c)
{
    PLX_TRY(add_per_class(m, c));
    PLX_TRY(add_prf(m, "macro_", plx__prf_macro(c)));
    PLX_TRY(plx__metrics_add(m, plx__f1_weighted(c), "weighted_f1"));
    return add_prf(m, "micro_", plx__prf_micro(c));
}

static plx_status all_undefined(plx_metrics *m, const char *const *names)
{
    for (; *names; names++) PLX_TRY(plx__metrics_undefined(m, NO_TRUTH, "%s", *names));
    return PLX_OK;
}

plx_status plx__metrics_classification(plx_metrics *metrics, const char *const *truth, const char *const *pred,
                                       plx_index n)
{
    static const char *const names[] = {"accuracy",    "error",           "macro_precision", "macro_recall", "macro_f1",
                                        "weighted_f1", "micro_precision", "micro_recall",    "micro_f1",     NULL};
    plx__class_counts c;
    PLX_TRY(plx__count_labels(&c, metrics->ctx, truth, pred, n));
    if (c.n == 0) return all_undefined(metrics, names);
    PLX_TRY(plx__metrics_add(metrics, (double)c.correct / (double)c.n, "accuracy"));
    PLX_TRY(plx__metrics_add(metrics, (double)(c.n - c.correct) / (double)c.n, "error"));
    return add_averages(metrics, &c);
}

/* A label the hierarchy does not list is more often a slip than meant. */
static plx_status warn_unlisted(plx_metrics *m, const plx__class_counts *c, const plx_metrics_hierarchy *h)
{
    plx__map listed;
    plx_index before = -1;
    PLX_TRY(plx__map_init(&listed, plx__scratch(m->ctx), h->n_classes));
    for (plx_index i = 0; i < h->n_classes; i++) PLX_TRY(plx__map_add(&listed, h->classes[i], i, &before));
    for (plx_index k = 0; k < c->classes; k++)
        if (plx__map_get(&listed, c->names[k]) < 0)
            PLX_TRY(plx__metrics_warn(m, "label '%s' is not in the hierarchy and is taken as a class without ancestors",
                                      c->names[k]));
    return PLX_OK;
}

plx_status plx__metrics_multilabel(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n,
                                   const plx_metrics_hierarchy *hierarchy)
{
    static const char *const names[] = {
        "macro_precision", "macro_recall", "macro_f1",        "weighted_f1",  "micro_precision",
        "micro_recall",    "micro_f1",     "subset_accuracy", "hamming_loss", NULL};
    static const char *const closed_names[] = {"h_precision", "h_recall", "h_f1", "h_violations", NULL};
    plx__class_counts c, closed;
    PLX_TRY(plx__count_sets(&c, hierarchy ? &closed : NULL, metrics->ctx, truth, pred, n, hierarchy));
    if (c.n == 0) {
        PLX_TRY(all_undefined(metrics, names));
        return hierarchy ? all_undefined(metrics, closed_names) : PLX_OK;
    }
    PLX_TRY(add_averages(metrics, &c));
    PLX_TRY(plx__metrics_add(metrics, (double)c.correct / (double)c.n, "subset_accuracy"));
    PLX_TRY(plx__metrics_add(metrics, plx__hamming_loss(&c), "hamming_loss"));
    if (!hierarchy) return PLX_OK;
    PLX_TRY(warn_unlisted(metrics, &c, hierarchy));
    PLX_TRY(add_prf(metrics, "h_", plx__prf_micro(&closed)));
    return plx__metrics_violations(metrics, truth, pred, n, hierarchy);
}

/* ---- regression ---- */

static plx_status number_of(double *out, plx_context *ctx, const char *text, const char *what, plx_index i)
{
    if (!text) PLX_FAIL(ctx, PLX_E_ARG, "%s %lld is NULL", what, (long long)i);
    if (!plx__parse_double(out, text) || !isfinite(*out))
        PLX_FAIL(ctx, PLX_E_DATA, "%s %lld: '%s' is not a finite number, as a regression needs", what, (long long)i + 1,
                 text);
    return PLX_OK;
}

plx_status plx__metrics_regression(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n)
{
    plx_context *ctx = metrics->ctx;
    double sum = 0, t = 0, p = 0;
    plx_index count = 0;
    for (plx_index i = 0; i < n; i++) {
        if (truth[i] && plx__is_unknown(truth[i])) continue;
        PLX_TRY(number_of(&t, ctx, truth[i], "truth", i));
        PLX_TRY(number_of(&p, ctx, pred[i], "prediction", i));
        sum += (t - p) * (t - p);
        count++;
    }
    if (count == 0) return plx__metrics_undefined(metrics, NO_TRUTH, "rmse");
    return plx__metrics_add(metrics, sqrt(sum / (double)count), "rmse");
}
