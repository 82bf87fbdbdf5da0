/*
 * True and false positives per class, and the figures made of them.
 */
#ifndef PLX_EVAL_CLASS_COUNTS_H
#define PLX_EVAL_CLASS_COUNTS_H

#include "eval/label_sets.h"

typedef struct plx__class_counts {
    plx_index n;     /* samples with known truth */
    int64_t correct; /* of these right, as a whole */
    plx_index classes;
    const char **names;    /* bytewise order */
    int64_t *tp, *fp, *fn; /* per class */
} plx__class_counts;

typedef struct plx__prf {
    double precision, recall, f1;
} plx__prf;

/* One label per sample. Memory is the context's scratch. */
plx_status plx__count_labels(plx__class_counts *out, plx_context *ctx, const char *const *truth,
                             const char *const *pred, plx_index n);

/* Sets of labels. `closed` (optional) gets the counts after closing all sets upwards under `hierarchy`;
 * its classes are in no particular order. */
plx_status plx__count_sets(plx__class_counts *out, plx__class_counts *closed, plx_context *ctx,
                           const char *const *truth, const char *const *pred, plx_index n,
                           const plx_metrics_hierarchy *hierarchy);

/* Precision, recall and F1 with 0/0 = 0. */
plx__prf plx__prf_class(const plx__class_counts *counts, plx_index c);
plx__prf plx__prf_micro(const plx__class_counts *counts);
plx__prf plx__prf_macro(const plx__class_counts *counts);
double plx__f1_weighted(const plx__class_counts *counts);

/* Wrong (sample, class) pairs as a fraction. */
double plx__hamming_loss(const plx__class_counts *counts);

#endif
