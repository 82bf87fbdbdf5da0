/*
 * Best one-to-one assignment of clusters to classes.
 */
#ifndef PLX_EVAL_CLUSTER_MATCH_H
#define PLX_EVAL_CLUSTER_MATCH_H

#include "core/ctx.h"

/* Largest sum of counts over all one-to-one assignments of rows to columns (the longer side keeps unmatched members).
 * O(r^2 s), r <= s the two sides. Memory is scratch. */
plx_status plx__match_clusters(double *matched, plx_context *ctx, plx_cmat counts);

#endif
