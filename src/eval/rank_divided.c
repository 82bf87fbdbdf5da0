/*
 * A class is ranked over all samples, so columns have to come together; but only a few at a time, and each on one rank:
 * in a round every rank gets the scores of all samples for its next columns, and tells the others what it found.
 */
#include "eval/rank_divided.h"

#include <string.h>

#include "core/ranks.h"

enum { NUMBERS_AT_A_TIME = 1 << 23 }; /* of all samples together; at least a column */

typedef struct deal {
    plx_index cols;        /* in all */
    plx_index first, each; /* of the round: columns first + r * each .. are rank r's */
} deal;

static plx_index first_column(const deal *d, int rank) { return plx__min(d->cols, d->first + rank * d->each); }
static plx_index column_count(const deal *d, int rank) { return first_column(d, rank + 1) - first_column(d, rank); }

/* Own samples, for every rank the columns that it is to have. */
static void pack(double *out, const deal *d, plx_cmat scores, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        plx_index cols = column_count(d, r);
        for (plx_index i = 0; cols && i < scores.rows; i++, out += cols)
            memcpy(out, scores.data + i * scores.ld + first_column(d, r), (size_t)cols * sizeof *out);
    }
}

static plx_status swap_columns(double *in, plx_context *ctx, const deal *d, plx_cmat scores, const plx_index *bound)
{
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx);
    plx_index own = column_count(d, rank);
    size_t *out_offset = NULL, *in_offset = NULL;
    double *out = NULL;
    PLX_TRY(PLX__ARENA_NEW(&out_offset, plx__scratch(ctx), ranks + 1));
    PLX_TRY(PLX__ARENA_NEW(&in_offset, plx__scratch(ctx), ranks + 1));
    PLX_TRY(plx__arena_f64(&out, plx__scratch(ctx), scores.rows, first_column(d, ranks) - d->first));
    pack(out, d, scores, ranks);
    for (int r = 0; r < ranks; r++) {
        out_offset[r + 1] = out_offset[r] + (size_t)(scores.rows * column_count(d, r)) * sizeof *out;
        in_offset[r + 1] = in_offset[r] + (size_t)((bound[r + 1] - bound[r]) * own) * sizeof *in;
    }
    PLX_TRY(plx__peers_settle(ctx, PLX_OK));
    return plx__peers_exchange(ctx, out, out_offset, in, in_offset);
}

static plx_status share_results(plx__rank_result *out, plx_context *ctx, const deal *d)
{
    int ranks = plx__ranks(ctx);
    size_t *offset = NULL;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), ranks + 1));
    for (int r = 0; r < ranks; r++) offset[r + 1] = (size_t)(first_column(d, r + 1) - d->first) * sizeof *out;
    return plx__peers_share(ctx, out + d->first, offset);
}

plx_status plx__rank_divided(plx__rank_result *out, plx_context *ctx, const plx__rank_truth *truth, plx_cmat scores,
                             const plx_index *bound)
{
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx);
    deal d = {.cols = scores.cols, .each = plx__max(1, NUMBERS_AT_A_TIME / plx__max(1, truth->n))};
    d.each = plx__min(d.each, (scores.cols + ranks - 1) / ranks);
    for (; d.first < d.cols; d.first += ranks * d.each) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_index own = column_count(&d, rank), column = first_column(&d, rank);
        plx__rank_truth mine = *truth;
        double *all = NULL;
        mine.membership += column * truth->codes;
        PLX_TRY(plx__arena_f64(&all, plx__scratch(ctx), truth->n, own));
        PLX_TRY(swap_columns(all, ctx, &d, scores, bound));
        plx_status st = own ? plx__rank_columns(out + column, ctx, &mine, (plx_cmat){all, truth->n, own, own}) : PLX_OK;
        PLX_TRY(plx__peers_settle(ctx, st));
        PLX_TRY(share_results(out, ctx, &d));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}
