/*
 * An assignment problem on the table of counts, solved exactly.
 */
#include "eval/cluster_match.h"

#include "optim/assignment.h"

plx_status plx__match_clusters(double *matched, plx_context *ctx, plx_cmat counts)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index *column = NULL;
    *matched = 0;
    if (counts.rows == 0 || counts.cols == 0) return PLX_OK;
    PLX_TRY(plx__arena_i64(&column, plx__scratch(ctx), counts.rows));
    PLX_TRY(plx__assignment(ctx, counts, true, column, matched));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
