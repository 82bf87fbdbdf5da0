/*
 * Search by cosine: the best items of every query, and where a given item stands among all.
 *
 * A zero row has cosine 0 with everything. Similarities are compared after rounding to 1e-12, so that equal rows tie
 * whatever block of a product they fell into. O(queries items columns) time, O((queries + items) columns) memory.
 */
#ifndef PLX_LINALG_COSINE_SEARCH_H
#define PLX_LINALG_COSINE_SEARCH_H

#include "linalg/dense.h"

typedef struct plx__search_result {
    plx_index top;      /* how many items are wanted; 0: none */
    int64_t *item;      /* queries x top, best first, ties: smaller index; -1 where there are fewer items */
    double *similarity; /* queries x top; NaN where there are fewer items */
    double
        *rank; /* queries: 1 + #(larger than the mate's) + #(others equal) / 2; NaN without a mate. NULL: not wanted */
} plx__search_result;

/* `mate` (queries long, -1: none) is needed for ranks only. Rows of both have the same number of columns. */
plx_status plx__cosine_search(plx_context *ctx, plx_cmat queries, plx_cmat items, const plx_index *mate,
                              const plx__search_result *result);

/* Bytes the above takes. */
double plx__cosine_search_bytes(const plx_context *ctx, plx_index queries, plx_index items, plx_index cols);

#endif
