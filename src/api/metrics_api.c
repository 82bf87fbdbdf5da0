/*
 * Public face of the metrics: the list, reading it, and the computations that add to it, each one call of the library
 * around its internal namesake.
 */
#include <math.h>

#include "api/api_args.h"
#include "eval/metrics_store.h"

/* ---- the list ---- */

plx_status plx_metrics_create(plx_metrics **out, plx_context *ctx)
{
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__metrics_new(out, ctx));
}

void plx_metrics_destroy(plx_metrics *metrics) { plx__metrics_destroy(metrics); }

plx_index plx_metrics_count(const plx_metrics *metrics) { return metrics->count; }
plx_index plx_metrics_find(const plx_metrics *metrics, const char *name) { return plx__map_get(&metrics->index, name); }
plx_index plx_metrics_warning_count(const plx_metrics *metrics) { return metrics->n_warnings; }

const char *plx_metrics_name(const plx_metrics *metrics, plx_index i)
{
    return i >= 0 && i < metrics->count ? metrics->items[i].name : NULL;
}

double plx_metrics_value(const plx_metrics *metrics, plx_index i, int *defined)
{
    double value = i >= 0 && i < metrics->count ? metrics->items[i].value : NAN;
    if (defined) *defined = !isnan(value);
    return value;
}

const char *plx_metrics_warning(const plx_metrics *metrics, plx_index i)
{
    return i >= 0 && i < metrics->n_warnings ? metrics->warnings[i].text : NULL;
}

plx_status plx_metrics_json(const char **text, plx_metrics *metrics)
{
    *text = NULL;
    plx__call_begin(metrics->ctx);
    return plx__call_end(metrics->ctx, plx__metrics_json(text, metrics));
}

/* ---- computations ---- */

static plx_status end_call(plx_metrics *metrics, plx_status st, plx_index warnings_before)
{
    if (st == PLX_OK) plx__metrics_log_warnings(metrics, warnings_before);
    return plx__call_end(metrics->ctx, st);
}

/* Begin, compute, log new warnings, unwind. */
#define PUBLIC_CALL(metrics, computation)                                                                              \
    do {                                                                                                               \
        plx_index warned = (metrics)->n_warnings;                                                                      \
        plx__call_begin((metrics)->ctx);                                                                               \
        plx_status st = (computation);                                                                                 \
        return end_call((metrics), st, warned);                                                                        \
    } while (0)

/* Arrays may be NULL only when there is nothing in them. */
static plx_status check_arrays(plx_metrics *m, const void *a, const void *b, plx_index n)
{
    if (n < 0) PLX_FAIL(m->ctx, PLX_E_ARG, "the number of samples is %lld; it cannot be negative", (long long)n);
    if (n > 0 && (!a || !b)) PLX_FAIL(m->ctx, PLX_E_ARG, "an array of %lld labels is NULL", (long long)n);
    return PLX_OK;
}

static plx_status check_matrix(plx_metrics *m, plx_cmat x, const char *what)
{
    if (x.rows < 0 || x.cols < 1 || x.ld < x.cols || (x.rows > 0 && !x.data))
        PLX_FAIL(m->ctx, PLX_E_ARG, "%s: %lld x %lld with leading dimension %lld is no matrix", what, (long long)x.rows,
                 (long long)x.cols, (long long)x.ld);
    return PLX_OK;
}

static plx_status classification(plx_metrics *m, const char *const *truth, const char *const *pred, plx_index n)
{
    PLX_TRY(check_arrays(m, truth, pred, n));
    return plx__metrics_classification(m, truth, pred, n);
}

static plx_status multilabel(plx_metrics *m, const char *const *truth, const char *const *pred, plx_index n,
                             const plx_metrics_hierarchy *hierarchy)
{
    PLX_TRY(check_arrays(m, truth, pred, n));
    if (hierarchy && hierarchy->struct_size != sizeof *hierarchy)
        PLX_FAIL(m->ctx, PLX_E_ARG, "hierarchy: struct_size must be sizeof(plx_metrics_hierarchy)");
    return plx__metrics_multilabel(m, truth, pred, n, hierarchy);
}

static plx_status ranking(plx_metrics *m, const char *const *truth, plx_cmat scores, const char *const *classes,
                          const char *positive, int multi)
{
    PLX_TRY(check_matrix(m, scores, "scores"));
    PLX_TRY(check_arrays(m, truth, classes, scores.rows));
    return plx__metrics_ranking(m, truth, scores, classes, positive, multi != 0);
}

static plx_status clustering(plx_metrics *m, const char *const *truth, const char *const *clusters, plx_index n,
                             int drop_noise)
{
    PLX_TRY(check_arrays(m, truth, clusters, n));
    return plx__metrics_clustering(m, truth, clusters, n, drop_noise != 0);
}

static plx_status retrieval(plx_metrics *m, plx_cmat scores, const plx_index *gold, const plx_index *top,
                            plx_index n_top)
{
    PLX_TRY(check_matrix(m, scores, "scores"));
    PLX_TRY(check_arrays(m, gold, gold, scores.rows));
    PLX_TRY(check_arrays(m, top, top, n_top));
    return plx__metrics_retrieval(m, scores, gold, top, n_top);
}

static plx_status views_of(plx_metrics *m, const char *const *truth, const char *const *labels, plx_index n,
                           const char *const *views, plx_index n_views)
{
    if (n_views < 1 || !views) PLX_FAIL(m->ctx, PLX_E_ARG, "at least one view is needed");
    PLX_TRY(check_arrays(m, labels, labels, n));
    return plx__metrics_views(m, truth, labels, n, views, n_views);
}

static plx_status table(plx_metrics *m, plx_cmat values, const char *const *methods, const char *const *datasets,
                        int higher_better)
{
    PLX_TRY(check_matrix(m, values, "table"));
    if (!methods) PLX_FAIL(m->ctx, PLX_E_ARG, "the names of the methods are NULL");
    return plx__metrics_table(m, values, methods, datasets, higher_better != 0);
}

static plx_status regression(plx_metrics *m, const char *const *truth, const char *const *pred, plx_index n)
{
    PLX_TRY(check_arrays(m, truth, pred, n));
    return plx__metrics_regression(m, truth, pred, n);
}

plx_status plx_metrics_classification(plx_metrics *metrics, const char *const *truth, const char *const *pred,
                                      plx_index n)
{
    PUBLIC_CALL(metrics, classification(metrics, truth, pred, n));
}

plx_status plx_metrics_multilabel(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n,
                                  const plx_metrics_hierarchy *hierarchy)
{
    PUBLIC_CALL(metrics, multilabel(metrics, truth, pred, n, hierarchy));
}

plx_status plx_metrics_ranking(plx_metrics *metrics, const char *const *truth, plx_cmat scores,
                               const char *const *classes, const char *positive, int multi)
{
    PUBLIC_CALL(metrics, ranking(metrics, truth, scores, classes, positive, multi));
}

plx_status plx_metrics_clustering(plx_metrics *metrics, const char *const *truth, const char *const *clusters,
                                  plx_index n, int drop_noise)
{
    PUBLIC_CALL(metrics, clustering(metrics, truth, clusters, n, drop_noise));
}

plx_status plx_metrics_retrieval(plx_metrics *metrics, plx_cmat scores, const plx_index *gold, const plx_index *top,
                                 plx_index n_top)
{
    PUBLIC_CALL(metrics, retrieval(metrics, scores, gold, top, n_top));
}

plx_status plx_metrics_views(plx_metrics *metrics, const char *const *truth, const char *const *labels, plx_index n,
                             const char *const *views, plx_index n_views)
{
    PUBLIC_CALL(metrics, views_of(metrics, truth, labels, n, views, n_views));
}

plx_status plx_metrics_table(plx_metrics *metrics, plx_cmat values, const char *const *methods,
                             const char *const *datasets, int higher_better)
{
    PUBLIC_CALL(metrics, table(metrics, values, methods, datasets, higher_better));
}

plx_status plx_metrics_regression(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n)
{
    PUBLIC_CALL(metrics, regression(metrics, truth, pred, n));
}

/* ---- files ---- */

plx_status plx_eval_files(plx_metrics **out, plx_context *ctx, const plx_eval_options *options)
{
    *out = NULL;
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__eval_files(out, ctx, options));
}
