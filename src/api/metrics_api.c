/*
 * Public face of the metrics: the list, reading it, and the computations that add to it, each one call of the library
 * around its internal namesake.
 */
#include <math.h>

#include "api/api_args.h"
#include "data/dataset_impl.h"
#include "eval/metrics_store.h"

/* ---- the list ---- */

plx_status plx_metrics_create(plx_metrics **out, plx_context *ctx)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__metrics_new(out, ctx), PLX__ARG(out));
}

void plx_metrics_destroy(plx_metrics *metrics) { plx__metrics_destroy(metrics); }

plx_index plx_metrics_count(const plx_metrics *metrics) { return metrics ? metrics->count : 0; }
const char *plx_metrics_basis(const plx_metrics *metrics) { return metrics ? metrics->basis : NULL; }
plx_index plx_metrics_warning_count(const plx_metrics *metrics) { return metrics ? metrics->n_warnings : 0; }

plx_index plx_metrics_find(const plx_metrics *metrics, const char *name)
{
    return metrics && name ? plx__map_get(&metrics->index, name) : -1;
}

const char *plx_metrics_name(const plx_metrics *metrics, plx_index i)
{
    return i >= 0 && i < plx_metrics_count(metrics) ? metrics->items[i].name : NULL;
}

double plx_metrics_value(const plx_metrics *metrics, plx_index i, int *defined)
{
    double value = i >= 0 && i < plx_metrics_count(metrics) ? metrics->items[i].value : NAN;
    if (defined) *defined = !isnan(value);
    return value;
}

const char *plx_metrics_warning(const plx_metrics *metrics, plx_index i)
{
    return i >= 0 && i < plx_metrics_warning_count(metrics) ? metrics->warnings[i].text : NULL;
}

/* A call on a list is a call on the context it was made with. */
static plx_context *context_of(const plx_metrics *metrics) { return metrics ? metrics->ctx : NULL; }

plx_status plx_metrics_json(const char **text, plx_metrics *metrics)
{
    if (text) *text = NULL;
    PLX__CALL(context_of(metrics), plx__metrics_json(text, metrics), PLX__ARG(text));
}

/* ---- computations ---- */

static plx_status check_matrix(plx_metrics *m, plx_cmat x, const char *what)
{
    if (x.cols == 0) PLX_FAIL(m->ctx, PLX_E_ARG, "%s: no columns", what);
    return plx__check_dense(m->ctx, what, x);
}

/* Logs what a computation that succeeded warned about. */
static plx_status told(plx_metrics *m, plx_index warnings_before, plx_status st)
{
    if (st == PLX_OK) plx__metrics_log_warnings(m, warnings_before);
    return st;
}

static plx_status classification(plx_metrics *m, const char *const *truth, const char *const *pred, plx_index n)
{
    plx_index before = m->n_warnings;
    return told(m, before, plx__metrics_classification(m, truth, pred, n));
}

plx_status plx_metrics_classification(plx_metrics *metrics, const char *const *truth, const char *const *pred,
                                      plx_index n)
{
    PLX__CALL(context_of(metrics), classification(metrics, truth, pred, n), PLX__COUNT(n), PLX__ARG_IF(truth, n),
              PLX__ARG_IF(pred, n));
}

static plx_status check_hierarchy(plx_metrics *m, const plx_metrics_hierarchy *h)
{
    if (!h) return PLX_OK;
    if (h->struct_size != sizeof *h)
        PLX_FAIL(m->ctx, PLX_E_ARG, "hierarchy: struct_size must be sizeof(plx_metrics_hierarchy)");
    if (h->n_classes < 0 || h->n_subset < 0 || h->n_mutex < 0)
        PLX_FAIL(m->ctx, PLX_E_ARG, "hierarchy: a number of classes or pairs is negative");
    if ((h->n_classes && !h->classes) || (h->n_subset && !h->subset) || (h->n_mutex && !h->mutex))
        PLX_FAIL(m->ctx, PLX_E_ARG, "hierarchy: a list that is not empty is NULL");
    return PLX_OK;
}

static plx_status multilabel(plx_metrics *m, const char *const *truth, const char *const *pred, plx_index n,
                             const plx_metrics_hierarchy *hierarchy)
{
    plx_index before = m->n_warnings;
    PLX_TRY(check_hierarchy(m, hierarchy));
    return told(m, before, plx__metrics_multilabel(m, truth, pred, n, hierarchy));
}

plx_status plx_metrics_multilabel(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n,
                                  const plx_metrics_hierarchy *hierarchy)
{
    PLX__CALL(context_of(metrics), multilabel(metrics, truth, pred, n, hierarchy), PLX__COUNT(n), PLX__ARG_IF(truth, n),
              PLX__ARG_IF(pred, n));
}

static plx_status ranking(plx_metrics *m, const char *const *truth, plx_cmat scores, const char *const *classes,
                          const char *positive, bool multi)
{
    plx_index before = m->n_warnings;
    PLX_TRY(check_matrix(m, scores, "scores"));
    return told(m, before, plx__metrics_ranking(m, truth, scores, classes, positive, multi));
}

plx_status plx_metrics_ranking(plx_metrics *metrics, const char *const *truth, plx_cmat scores,
                               const char *const *classes, const char *positive, int multi)
{
    PLX__CALL(context_of(metrics), ranking(metrics, truth, scores, classes, positive, multi != 0),
              PLX__ARG_IF(truth, scores.rows), PLX__ARG(classes));
}

static plx_status clustering(plx_metrics *m, const char *const *truth, const char *const *clusters, plx_index n,
                             bool drop_noise)
{
    plx_index before = m->n_warnings;
    return told(m, before, plx__metrics_clustering(m, truth, clusters, n, drop_noise));
}

plx_status plx_metrics_clustering(plx_metrics *metrics, const char *const *truth, const char *const *clusters,
                                  plx_index n, int drop_noise)
{
    PLX__CALL(context_of(metrics), clustering(metrics, truth, clusters, n, drop_noise != 0), PLX__COUNT(n),
              PLX__ARG_IF(truth, n), PLX__ARG_IF(clusters, n));
}

static plx_status internal(plx_metrics *m, const plx_dataset *data, const char *const *clusters, bool drop_noise)
{
    plx_index before = m->n_warnings;
    for (plx_index i = 0; i < data->n; i++)
        if (!clusters[i]) PLX_FAIL(m->ctx, PLX_E_ARG, "clusters: entry %lld is NULL", (long long)i);
    return told(m, before, plx__metrics_internal(m, data, clusters, drop_noise));
}

plx_status plx_metrics_internal(plx_metrics *metrics, const plx_dataset *data, const char *const *clusters,
                                int drop_noise)
{
    PLX__CALL(context_of(metrics), internal(metrics, data, clusters, drop_noise != 0), PLX__WHOLE(data),
              PLX__ARG(clusters));
}

static plx_status retrieval(plx_metrics *m, plx_cmat scores, const plx_index *gold, const plx_index *top,
                            plx_index n_top)
{
    plx_index before = m->n_warnings;
    PLX_TRY(check_matrix(m, scores, "scores"));
    return told(m, before, plx__metrics_retrieval(m, scores, gold, top, n_top));
}

plx_status plx_metrics_retrieval(plx_metrics *metrics, plx_cmat scores, const plx_index *gold, const plx_index *top,
                                 plx_index n_top)
{
    PLX__CALL(context_of(metrics), retrieval(metrics, scores, gold, top, n_top), PLX__COUNT(n_top),
              PLX__ARG_IF(gold, scores.rows), PLX__ARG_IF(top, n_top));
}

static plx_status views_of(plx_metrics *m, const char *const *truth, const char *const *labels, plx_index n,
                           const char *const *views, plx_index n_views)
{
    plx_index before = m->n_warnings;
    if (n_views < 1) PLX_FAIL(m->ctx, PLX_E_ARG, "n_views = %lld: at least one view is needed", (long long)n_views);
    return told(m, before, plx__metrics_views(m, truth, labels, n, views, n_views));
}

plx_status plx_metrics_views(plx_metrics *metrics, const char *const *truth, const char *const *labels, plx_index n,
                             const char *const *views, plx_index n_views)
{
    PLX__CALL(context_of(metrics), views_of(metrics, truth, labels, n, views, n_views), PLX__COUNT(n),
              PLX__ARG_IF(labels, n), PLX__ARG(views));
}

static plx_status table(plx_metrics *m, plx_cmat values, const char *const *methods, const char *const *datasets,
                        bool higher_better)
{
    plx_index before = m->n_warnings;
    PLX_TRY(check_matrix(m, values, "table"));
    return told(m, before, plx__metrics_table(m, values, methods, datasets, higher_better));
}

plx_status plx_metrics_table(plx_metrics *metrics, plx_cmat values, const char *const *methods,
                             const char *const *datasets, int higher_better)
{
    PLX__CALL(context_of(metrics), table(metrics, values, methods, datasets, higher_better != 0), PLX__ARG(methods));
}

static plx_status regression(plx_metrics *m, const char *const *truth, const char *const *pred, plx_index n)
{
    plx_index before = m->n_warnings;
    return told(m, before, plx__metrics_regression(m, truth, pred, n));
}

plx_status plx_metrics_regression(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n)
{
    PLX__CALL(context_of(metrics), regression(metrics, truth, pred, n), PLX__COUNT(n), PLX__ARG_IF(truth, n),
              PLX__ARG_IF(pred, n));
}

/* ---- files ---- */

plx_status plx_eval_files(plx_metrics **out, plx_context *ctx, const plx_eval_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__eval_files(out, ctx, options), PLX__ARG(out), PLX__ARG(options));
}
