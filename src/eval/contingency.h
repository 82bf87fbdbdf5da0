/*
 * Clusters against classes: the table of counts and the figures made of it.
 */
#ifndef PLX_EVAL_CONTINGENCY_H
#define PLX_EVAL_CONTINGENCY_H

#include "eval/label_codes.h"

typedef struct plx__contingency {
    plx_index n;    /* samples that count */
    plx_mat counts; /* clusters x classes */
    double *cluster_size, *class_size;
} plx__contingency;

/* Samples with unknown truth are skipped, those in cluster `noise` too when asked. Memory is scratch. */
plx_status plx__contingency_make(plx__contingency *out, plx_context *ctx, const char *const *truth,
                                 const char *const *clusters, plx_index n, bool drop_noise);

typedef struct plx__pair_counts {
    double tp, fp, fn, all; /* pairs of samples: together in both, only clusters, only classes; all */
} plx__pair_counts;

/* All need n >= 1. */
double plx__nmi(const plx__contingency *t, double *geometric);
double plx__cluster_entropy(const plx__contingency *t);
double plx__purity(const plx__contingency *t);
plx__pair_counts plx__count_pairs(const plx__contingency *t);
double plx__pair_f(plx__pair_counts p);
double plx__ari(plx__pair_counts p);
plx_status plx__cluster_accuracy(double *out, plx_context *ctx, const plx__contingency *t);

#endif
