/*
 * The `metrics` of a fit: what the JSON result of every method reports about its predictions.
 */
#ifndef PLX_EVAL_FIT_METRICS_H
#define PLX_EVAL_FIT_METRICS_H

#include "core/base.h"
#include "parallax/metrics.h"

typedef enum plx__fit_kind {
    PLX__FIT_CLASSIFIER, /* accuracy, macro_f1, micro_f1, auc:C, prbep:C; two classes: auc, prbep of the second */
    PLX__FIT_CLUSTERER,  /* nmi, ari, cluster_accuracy, cluster_entropy, pair_f */
    PLX__FIT_REGRESSOR   /* rmse */
} plx__fit_kind;

/* Optional parts are NULL or 0. Everything is borrowed. */
typedef struct plx__fit_outcome {
    plx__fit_kind kind;
    plx_index n;
    const char *const *truth;   /* n; NULL or "?" entries: not known */
    const char *const *pred;    /* n */
    const uint8_t *seen;        /* n; 1: the learner saw this label (not held out). NULL: it saw none */
    plx_cmat scores;            /* n x n_classes; data NULL: none. Divided: rows bound[rank] .. of this rank */
    const plx_index *bound;     /* scores are divided: rank r has rows bound[r] .. bound[r+1]-1. NULL: they are not */
    const char *const *classes; /* names of the columns, class order of the learner */
    plx_index n_classes;
    bool multilabel; /* sets: micro_f1, macro_f1, subset_accuracy, hamming_loss; also if a label has | */
    const plx_metrics_hierarchy *hierarchy; /* with sets: h_f1 */
} plx__fit_outcome;

/* By all ranks where scores are divided. Adds the metrics of the kind. Classifiers and regressors are measured on samples with a truth value whose label
 * the learner did not see, or, when there is none, on all samples with a truth value, which the basis of the metrics then
 * says; clusterers always on the latter. Adds nothing when there is no truth at all. NaN scores make the ranking metrics of their class undefined. */
plx_status plx__metrics_for_fit(plx_metrics *metrics, const plx__fit_outcome *outcome);

/* view_accuracy:VIEW and prbep:C@VIEW of one view's classifier on the same samples. `scores` is n x n_classes,
 * the label of a sample its largest score (ties: first class); `present` (NULL: all) tells where the view predicts. */
plx_status plx__metrics_for_view(plx_metrics *metrics, const plx__fit_outcome *outcome, const char *view,
                                 plx_cmat scores, const uint8_t *present);

#endif
