/*
 * Inside of a plx_metrics: the list that the computations add to.
 */
#ifndef PLX_EVAL_METRICS_STORE_H
#define PLX_EVAL_METRICS_STORE_H

#include "core/text.h"
#include "parallax/metrics.h"

typedef struct plx__metric_item {
    const char *name;
    double value; /* NaN: undefined */
} plx__metric_item;

typedef struct plx__metric_warning {
    const char *metric; /* the metric it is about, NULL: all of them */
    const char *text;
} plx__metric_warning;

struct plx_metrics {
    plx_context *ctx;
    plx__arena arena; /* everything below lives here */
    plx__map index;   /* name -> position in items */
    plx__metric_item *items;
    plx_index count, capacity;
    plx__metric_warning *warnings;
    plx_index n_warnings, warnings_capacity;
    const char *basis; /* which samples they were measured on, where that matters; NULL: nothing to say */
};

plx_status plx__metrics_new(plx_metrics **out, plx_context *ctx);
void plx__metrics_destroy(plx_metrics *metrics);

/* Add or replace a value; the name is given as format. */
plx_status plx__metrics_add(plx_metrics *metrics, double value, const char *fmt, ...) PLX_PRINTF(3, 4);

/* Add a name without value, and the warning "NAME is undefined: REASON". */
plx_status plx__metrics_undefined(plx_metrics *metrics, const char *reason, const char *fmt, ...) PLX_PRINTF(3, 4);

/* A warning about no metric in particular. */
plx_status plx__metrics_warn(plx_metrics *metrics, const char *fmt, ...) PLX_PRINTF(2, 3);

/* Tell the log about warnings number `from` and later. */
void plx__metrics_log_warnings(plx_metrics *metrics, plx_index from);

/* Keep the metrics a comma-separated list asks for, in its order. An unknown name is an error that
 * suggests the nearest known one or says which input would give it. */
plx_status plx__metrics_filter(plx_metrics *metrics, const char *list);

/* The computations behind the public functions of the same name, for callers inside a call. */
plx_status plx__metrics_classification(plx_metrics *metrics, const char *const *truth, const char *const *pred,
                                       plx_index n);
plx_status plx__metrics_multilabel(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n,
                                   const plx_metrics_hierarchy *hierarchy);
plx_status plx__metrics_ranking(plx_metrics *metrics, const char *const *truth, plx_cmat scores,
                                const char *const *classes, const char *positive, bool multilabel);
plx_status plx__metrics_clustering(plx_metrics *metrics, const char *const *truth, const char *const *clusters,
                                   plx_index n, bool drop_noise);
plx_status plx__metrics_internal(plx_metrics *metrics, const plx_dataset *data, const char *const *clusters,
                                 bool drop_noise);
plx_status plx__metrics_retrieval(plx_metrics *metrics, plx_cmat scores, const plx_index *gold, const plx_index *top,
                                  plx_index n_top);
plx_status plx__metrics_views(plx_metrics *metrics, const char *const *truth, const char *const *labels, plx_index n,
                              const char *const *views, plx_index n_views);
plx_status plx__metrics_table(plx_metrics *metrics, plx_cmat values, const char *const *methods,
                              const char *const *datasets, bool higher_better);
plx_status plx__metrics_regression(plx_metrics *metrics, const char *const *truth, const char *const *pred,
                                   plx_index n);

/* plx_metrics_json() and plx_eval_files() inside a running call. */
plx_status plx__metrics_json(const char **text, plx_metrics *metrics);
plx_status plx__eval_files(plx_metrics **out, plx_context *ctx, const plx_eval_options *given);

/* Fails when two of the names are equal; `what` says what they name. */
plx_status plx__names_differ(plx_context *ctx, const char *const *names, plx_index count, const char *what);

#endif
