/*
 * What the report on views is made of.
 */
#ifndef PLX_API_VIEWS_IMPL_H
#define PLX_API_VIEWS_IMPL_H

#include "api/model_impl.h"
#include "explain/explanation.h"
#include "parallax/view_report.h"

/* All that was found out about one view. */
typedef struct plx__view_facts {
    const plx__view *view;
    double density;      /* of its present rows */
    const char **answer; /* n: label given by the view alone, on folds; NULL: none */
    double accuracy, error;
    plx_index judged;     /* samples behind the accuracy */
    const char **cluster; /* n; NULL: misses the view */
    plx_mat direction;    /* n x k, orthonormal over the present rows; absent rows 0 */
} plx__view_facts;

/* Two views side by side. */
typedef struct plx__pair_facts {
    plx_index a, b, both; /* samples that have both */
    double agreement, kappa, odds, p, mutual, largest, mean;
    double *spectrum; /* canonical correlations, descending */
    plx_index n_spectrum;
} plx__pair_facts;

typedef struct plx__view_report {
    plx_context *ctx;
    const plx_dataset *data;
    plx_views_options o;
    const char *const *classes; /* n: known classes; NULL: none at all */
    plx_index labelled, n_classes;
    plx__view_facts *facts;
    plx__pair_facts *pairs;
    plx_index n_pairs;
} plx__view_report;

/* One view by itself (view_facts.c); two of them (view_pairs.c); in words (view_advice.c). */
plx_status plx__view_alone(plx__view_report *r, plx_index view);
plx_status plx__view_pair(plx__view_report *r, plx__pair_facts *pair);
plx_status plx__view_advice(plx__view_report *r, plx_explanation *e);

#endif
