/*
 * A text of which every rank reads a range of lines (core/ranks.h), where a data set is read with own rows.
 *
 * The text is cut at line ends into as many ranges as there are ranks, as even as its bytes allow. A rank counts and reads
 * the lines of its range; what only the whole file tells (how many lines and rows come before, labels and ids of all rows)
 * is exchanged, and in the end the rows go to the ranks that keep them (data/divided.h). Alone, the range is everything
 * and nothing is exchanged, so readers are written once. All calls but the first are made by all ranks; see
 * plx__peers_settle() for what becomes of failures.
 */
#ifndef PLX_IO_TEXT_RANGES_H
#define PLX_IO_TEXT_RANGES_H

#include "data/table.h"
#include "io/text_chunks.h"

typedef struct plx__text_range {
    plx_context *ctx;
    const char *name; /* of the file */
    bool shared;      /* other ranks have the rest */
    int rank, ranks;  /* alone: 0 of 1 */
    const char *whole;
    const char *begin, *end; /* this rank's lines */
    plx_index *bound;        /* ranks + 1: rank r reads the rows bound[r] .. bound[r+1]-1; see plx__text_rows() */
} plx__text_range;

/* The range of [begin, end) that is this rank's, when `some` rows are to be kept and several ranks read; else all. */
plx__text_range plx__text_range_of(plx_context *ctx, const char *name, const char *begin, const char *end, bool some);

/* `width` numbers of every rank: all[r * width ..]. */
plx_status plx__text_tell(const plx__text_range *g, const int64_t *mine, plx_index width, int64_t **all);

/* Cut the range into chunks as plx__text_split() does, their lines numbered as in the file. *lines: of the whole text. */
plx_status plx__text_range_split(plx__text_chunks *out, const plx__text_range *g, plx_index line, char mark,
                                 plx_index *lines);

/* Sets `bound` when this rank has found `rows` rows. */
plx_status plx__text_rows(plx__text_range *g, plx_index rows);
static inline plx_index plx__text_row_count(const plx__text_range *g) { return g->bound ? g->bound[g->ranks] : 0; }

/* Where a rank puts what goes to others afterwards: `arena` when it stays. */
plx__arena *plx__text_room(const plx__text_range *g, plx__arena *arena);

/* Texts of this rank's rows, NULL among them, to all ranks: *texts becomes those of all rows, in the arena. */
plx_status plx__text_share(const plx__text_range *g, plx__arena *arena, const char *const **texts);

/* A table of this rank's rows (bound[rank+1] - bound[rank] of them, in plx__text_room()) becomes one of all rows, of which
 * those are here that fall to this rank. */
plx_status plx__text_regroup(const plx__text_range *g, plx__arena *arena, plx__table *table);

#endif
