/*
 * Parts of hybridtree: rows of the views (ht_input.c), the tree split from the top (ht_split.c), cuts and the descent
 * of new samples (ht_descent.c).
 */
#ifndef PLX_METHODS_HYBRIDTREE_HYBRIDTREE_H
#define PLX_METHODS_HYBRIDTREE_HYBRIDTREE_H

#include "cluster/ward.h"
#include "run/run.h"

typedef enum ht_mode { HT_HYBRID, HT_SINGLE, HT_LINEAR } ht_mode;
enum { HT_CUT_EXPLAINED = 0, HT_CUT_GOODNESS = 1, HT_CUT_SIZE = 2 };
enum { HT_MISSING_MEAN = 0, HT_MISSING_ELIGIBLE = 1 };

typedef struct ht_params {
    const char *mode;
    int missing, rows, balance, cut;
    plx__value weights;
    plx_index clusters;
} ht_params;

typedef struct ht_view {
    const char *name;
    plx__points rows; /* scaled; missing=mean: complete */
    const uint8_t *present;
    plx__bregman kind;
    bool used;
    double total;  /* cost of the samples that have it */
    double weight; /* linear */
} ht_view;

typedef struct ht {
    plx__run *run;
    plx_context *ctx;
    const ht_params *set;
    ht_mode mode;
    plx_index n, n_views;
    ht_view *view;
} ht;

/* Which divergence a view has, when its scaling is settled. */
plx_status plx__ht_divergence(plx__bregman *out, plx_context *ctx, const plx_params *settings, const plx__view *view,
                              plx__scale_kind scale);

/* Mode, and rows of all views that are used. When predicting, means of missing rows come from the model. */
plx_status plx__ht_read_mode(ht_mode *mode, plx_index *view, plx__run *run);
plx_status plx__ht_open(ht *h, plx__run *run);

/* Costs of the views over the samples that have them. */
plx_status plx__ht_totals(ht *h);

/* The tree: rows as in the linkage; `view`, `goodness` and `explained` are NULL but in the hybrid mode. */
typedef struct ht_tree {
    plx__merges merges; /* cost: height */
    int32_t *view;
    double *goodness, *explained;
} ht_tree;
plx_status plx__ht_hybrid(ht_tree *out, const ht *h);

/* Samples of every node, clusters and what new samples descend. */
plx_status plx__ht_cut(int32_t *cluster, plx_context *ctx, const plx__merges *tree, plx_index clusters);
plx_status plx__ht_keep(const ht *h, const ht_tree *tree, const int32_t *cluster);
plx_status plx__ht_descend(int32_t *cluster, const ht *h);

#endif
