/*
 * Who has which views. Samples that have the same ones share a pattern; there are few patterns, so that what depends on
 * two samples through their views alone is worked out between patterns. The pairs of samples without a common view form
 * such a matrix U, U(i,j) = 1: constant on blocks of patterns, and applied without being formed.
 */
#ifndef PLX_METHODS_SPECTRAL_PRESENCE_H
#define PLX_METHODS_SPECTRAL_PRESENCE_H

#include "core/slabs.h"
#include "methods/spectral/affinity.h"

typedef struct plx__presence {
    plx_index n, n_views, n_patterns, words;
    int32_t *pattern;         /* n: pattern of every sample, numbered by first member */
    uint64_t *bits;           /* n_patterns x words: one bit per view */
    plx_index *count, *first; /* n_patterns: samples, and the first of them */
} plx__presence;

/* Of the samples of these views, or of the `n` named by `sample` (NULL: all). In scratch. */
plx_status plx__presence_build(plx__presence *out, plx_context *ctx, const plx__affinity *views, plx_index n_views,
                               const plx_index *sample, plx_index n);

/* Views that sample i of `a` and sample j of `b` both have. */
plx_index plx__presence_common(const plx__presence *a, plx_index i, const plx__presence *b, plx_index j);

/* Pairs i < j without a common view. */
double plx__presence_apart(const plx__presence *p);

/* y += factor U x. */
plx_status plx__presence_add(plx_context *ctx, const plx__presence *p, double factor, const double *x, double *y);

/* The same with x and y divided among the processes (core/ranks.h): both are this one's rows. */
plx_status plx__presence_add_rows(plx_context *ctx, const plx__presence *p, double factor, plx__slabs cut,
                                  const double *x, double *y);

/* Joins every two samples without a common view in the disjoint sets `parent` (graph/components.h). */
plx_status plx__presence_join(plx_context *ctx, const plx__presence *p, int32_t *parent);

#endif
