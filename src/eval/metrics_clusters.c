/*
 * Clustering metrics and agreement of views in a list.
 */
#include <math.h>

#include "eval/contingency.h"
#include "eval/metrics_store.h"

/* ---- clusters ---- */

static double ratio_or_one(double a, double b) { return b == 0 ? 1 : a / b; }

static plx_status add_pairs(plx_metrics *m, plx__pair_counts p)
{
    PLX_TRY(plx__metrics_add(m, ratio_or_one(p.tp, p.tp + p.fp), "pair_precision"));
    PLX_TRY(plx__metrics_add(m, ratio_or_one(p.tp, p.tp + p.fn), "pair_recall"));
    PLX_TRY(plx__metrics_add(m, plx__pair_f(p), "pair_f"));
    PLX_TRY(plx__metrics_add(m, ratio_or_one(p.all - p.fp - p.fn, p.all), "rand"));
    return plx__metrics_add(m, plx__ari(p), "ari");
}

static plx_status all_undefined(plx_metrics *m, bool drop_noise)
{
    static const char *const names[] = {"nmi",
                                        "nmi_geometric",
                                        "cluster_entropy",
                                        "cluster_accuracy",
                                        "purity",
                                        "pair_precision",
                                        "pair_recall",
                                        "pair_f",
                                        "rand",
                                        "ari"};
    const char *reason =
        drop_noise ? "every sample is noise or has no known truth" : "no sample has a known truth value";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        PLX_TRY(plx__metrics_undefined(m, reason, "%s", names[i]));
    return PLX_OK;
}

plx_status plx__metrics_clustering(plx_metrics *metrics, const char *const *truth, const char *const *clusters,
                                   plx_index n, bool drop_noise)
{
    plx__contingency t;
    double geometric = 0, accuracy = 0;
    PLX_TRY(plx__contingency_make(&t, metrics->ctx, truth, clusters, n, drop_noise));
    if (t.n == 0) return all_undefined(metrics, drop_noise);
    PLX_TRY(plx__cluster_accuracy(&accuracy, metrics->ctx, &t));
    PLX_TRY(plx__metrics_add(metrics, plx__nmi(&t, &geometric), "nmi"));
    PLX_TRY(plx__metrics_add(metrics, geometric, "nmi_geometric"));
    PLX_TRY(plx__metrics_add(metrics, plx__cluster_entropy(&t), "cluster_entropy"));
    PLX_TRY(plx__metrics_add(metrics, accuracy, "cluster_accuracy"));
    PLX_TRY(plx__metrics_add(metrics, plx__purity(&t), "purity"));
    return add_pairs(metrics, plx__count_pairs(&t));
}

/* ---- views ---- */

typedef struct view_labels {
    plx_index n, views, classes;
    const char *const *names;
    const int32_t *truth;       /* NULL: not given; else -1 = skip the sample */
    const int32_t **label;      /* per view, -1: no prediction */
    int64_t *count_a, *count_b; /* per class */
} view_labels;

static plx_status encode_views(view_labels *v, plx_context *ctx, const char *const *truth, const char *const *labels)
{
    plx__arena *arena = plx__scratch(ctx);
    plx__codes classes;
    int32_t *t = NULL;
    const char **column = NULL;
    PLX_TRY(plx__codes_init(&classes, arena));
    if (truth) PLX_TRY(plx__encode(&t, &classes, truth, v->n, (plx__encode_options){.what = "truth"}));
    v->truth = t;
    PLX_TRY(PLX__ARENA_NEW(&v->label, arena, v->views));
    PLX_TRY(PLX__ARENA_NEW(&column, arena, v->n));
    for (plx_index k = 0; k < v->views; k++) {
        int32_t *codes = NULL;
        for (plx_index i = 0; i < v->n; i++) column[i] = labels[i * v->views + k];
        PLX_TRY(
            plx__encode(&codes, &classes, column, v->n, (plx__encode_options){.mask = t, .what = "label of a view"}));
        v->label[k] = codes;
    }
    v->classes = classes.count;
    PLX_TRY(plx__arena_i64(&v->count_a, arena, v->classes));
    return plx__arena_i64(&v->count_b, arena, v->classes);
}

/* Samples where both views predict, and where they agree; class counts of each over the common samples. */
static plx_index count_common(plx_index *equal, view_labels *v, plx_index a, plx_index b)
{
    plx_index common = 0;
    *equal = 0;
    for (plx_index c = 0; c < v->classes; c++) v->count_a[c] = v->count_b[c] = 0;
    for (plx_index i = 0; i < v->n; i++) {
        int32_t x = v->label[a][i], y = v->label[b][i];
        if (x < 0 || y < 0) continue;
        common++;
        *equal += x == y;
        v->count_a[x]++;
        v->count_b[y]++;
    }
    return common;
}

/* Cohen's kappa (po - pe)/(1 - pe) with both multiplied by n^2; expected agreement 1 gives 1. */
static double kappa(const view_labels *v, plx_index common, plx_index equal)
{
    double expected = 0, n = (double)common;
    for (plx_index c = 0; c < v->classes; c++) expected += (double)v->count_a[c] * (double)v->count_b[c];
    return expected == n * n ? 1 : (n * (double)equal - expected) / (n * n - expected);
}

static plx_status add_agreement(plx_metrics *m, view_labels *v)
{
    static const char reason[] = "no sample has predictions of both views";
    double sum = 0;
    plx_index pairs = 0, equal = 0;
    for (plx_index a = 0; a < v->views; a++)
        for (plx_index b = a + 1; b < v->views; b++) {
            plx_index common = count_common(&equal, v, a, b);
            if (common == 0) {
                PLX_TRY(plx__metrics_undefined(m, reason, "agreement:%s|%s", v->names[a], v->names[b]));
                PLX_TRY(plx__metrics_undefined(m, reason, "kappa:%s|%s", v->names[a], v->names[b]));
                continue;
            }
            double agreement = (double)equal / (double)common;
            PLX_TRY(plx__metrics_add(m, agreement, "agreement:%s|%s", v->names[a], v->names[b]));
            PLX_TRY(plx__metrics_add(m, kappa(v, common, equal), "kappa:%s|%s", v->names[a], v->names[b]));
            sum += agreement;
            pairs++;
        }
    if (pairs == 0) return plx__metrics_undefined(m, "no two views share a sample", "agreement");
    return plx__metrics_add(m, sum / (double)pairs, "agreement");
}

static plx_status add_accuracies(plx_metrics *m, const view_labels *v)
{
    double best = -INFINITY, worst = INFINITY;
    for (plx_index k = 0; k < v->views; k++) {
        plx_index predicted = 0, correct = 0;
        for (plx_index i = 0; i < v->n; i++) {
            predicted += v->label[k][i] >= 0;
            correct += v->label[k][i] >= 0 && v->label[k][i] == v->truth[i];
        }
        if (predicted == 0) {
            PLX_TRY(plx__metrics_undefined(m, "the view predicts no sample with known truth", "view_accuracy:%s",
                                           v->names[k]));
            continue;
        }
        double accuracy = (double)correct / (double)predicted;
        PLX_TRY(plx__metrics_add(m, accuracy, "view_accuracy:%s", v->names[k]));
        best = fmax(best, accuracy);
        worst = fmin(worst, accuracy);
    }
    if (best < worst) return plx__metrics_undefined(m, "no view has an accuracy", "imbalance");
    return plx__metrics_add(m, best - worst, "imbalance");
}

plx_status plx__metrics_views(plx_metrics *metrics, const char *const *truth, const char *const *labels, plx_index n,
                              const char *const *views, plx_index n_views)
{
    view_labels v = {.n = n, .views = n_views, .names = views};
    PLX_TRY(plx__names_differ(metrics->ctx, views, n_views, "view"));
    PLX_TRY(encode_views(&v, metrics->ctx, truth, labels));
    PLX_TRY(add_agreement(metrics, &v));
    return truth ? add_accuracies(metrics, &v) : PLX_OK;
}
