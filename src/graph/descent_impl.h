/*
 * Parts of the approximate search: rows in the order of a tree, lists of the nearest found so far, joins of groups.
 *
 * Why the number of threads does not matter: a list is the set of the `length` smallest pairs (separation, position)
 * offered to it, whatever their order, because the separation of two rows is the same number wherever it is computed;
 * and which pairs are offered in a round depends on the lists at its beginning only.
 */
#ifndef PLX_GRAPH_DESCENT_IMPL_H
#define PLX_GRAPH_DESCENT_IMPL_H

#include <stdatomic.h>

#include "core/parallel.h"
#include "linalg/distance.h"

enum { PLX__DESCENT_LANES = 16 }; /* floats of a vector: rows are padded to whole ones */

/* Rows that take part, by position; the order is that of a tree, so that near rows are near in memory. */
typedef struct plx__descent_rows {
    plx__points source;
    plx__metric metric;
    plx_index n, ld;
    plx_index cols;
    const int32_t *row; /* n: row of `source` at a position */
    const double *norm; /* n: squared norm */
    float *value;       /* dense: n x ld, moved and scaled, or of unit length */
    const double *mean; /* Euclid, dense: what they are moved by, ... */
    double scale;       /* ... and multiplied by */
} plx__descent_rows;

/* Rows that are present and, where directions count, not zero. */
plx_status plx__descent_rows_open(plx__descent_rows *out, plx_context *ctx, plx__points source, plx__metric metric,
                                  const uint8_t *present);
/* Puts them in the order of a tree. */
plx_status plx__descent_rows_sort(plx__descent_rows *rows, plx_context *ctx, const uint32_t *order);
double plx__descent_rows_bytes(plx_index n, plx_index cols, bool sparse);

/* One neighbour found: position * 2 + (found since the last round). */
typedef struct plx__found {
    float separation;
    uint32_t tag;
} plx__found;

#define PLX__NOBODY UINT32_MAX

typedef struct plx__descent_lists {
    plx_index n, length;
    plx__found *item;      /* n x length, ascending by (separation, position); PLX__NOBODY with infinity at the end */
    _Atomic(float) *limit; /* n: separation of the last; what is farther cannot enter */
    atomic_uchar *lock;    /* n */
} plx__descent_lists;

static inline uint32_t plx__found_position(plx__found f) { return f.tag >> 1; }

/* Empty lists; longer ones with what was found; and their end (NULL-safe). Not in scratch: lists that
 * grow give the short ones back. */
plx_status plx__descent_lists_open(plx__descent_lists *out, plx_context *ctx, plx_index n, plx_index length);
plx_status plx__descent_lists_grow(plx__descent_lists *lists, plx_context *ctx, plx_index length);
void plx__descent_lists_close(plx__descent_lists *lists, plx_context *ctx);
double plx__descent_lists_bytes(plx_index n, plx_index length);

void plx__descent_lock(atomic_uchar *lock);
void plx__descent_unlock(atomic_uchar *lock);

/* Offers `other` to the list of `position`; any thread. */
void plx__descent_offer(plx__descent_lists *lists, uint32_t position, uint32_t other, float separation);

/* ---- joins ---- */

typedef struct plx__join_space { /* of one worker */
    float *block;                /* dense: ld x most, the rows of a group as columns */
    float *separation;           /* 4 x most */
    float *limit;                /* most */
    double *scattered;           /* sparse: one row with its zeros */
} plx__join_space;

plx_status plx__join_space_open(plx__join_space *out, plx_context *ctx, const plx__descent_rows *rows, plx_index most);
double plx__join_space_bytes(plx_index cols, bool sparse, plx_index most);

/* Compares the first `fresh` of a group of positions with each other and with the rest; both ends are offered. */
void plx__join(const plx__descent_rows *rows, plx__descent_lists *lists, const uint32_t *group, plx_index count,
               plx_index fresh, plx__join_space *space);

/* ---- trees ---- */

/* One random-projection tree over the rows: positions ordered by leaf; leaf l holds order[start[l] .. start[l+1]).
 * Leaves have at most `most` and more than most / 2 rows. In scratch. */
typedef struct plx__tree_leaves {
    uint32_t *order;
    plx_index *start, count;
} plx__tree_leaves;

plx_status plx__projection_tree(plx__tree_leaves *out, plx_context *ctx, const plx__descent_rows *rows, plx_index most,
                                uint64_t tree);
double plx__projection_tree_bytes(plx_index n, plx_index cols, plx_index most, int workers);

/* ---- rounds ---- */

typedef struct plx__draws { /* of a row in this round: the `room` smallest of random number << 32 | position */
    plx_index room;
    uint64_t *slot;  /* n x room, ascending */
    uint16_t *count; /* n */
} plx__draws;

typedef struct plx__descent_round {
    const plx__descent_rows *rows;
    plx__descent_lists *lists;
    plx__draws fresh, known; /* found since the last round, and the others */
    uint64_t seed;           /* of this round */
    plx__join_space *space;  /* of each worker */
    uint32_t **group;
} plx__descent_round;

plx_status plx__descent_round_open(plx__descent_round *out, plx_context *ctx, const plx__descent_rows *rows,
                                   plx__descent_lists *lists, plx_index room);
plx_status plx__descent_run_round(plx__descent_round *round, plx_context *ctx, uint64_t number);
double plx__descent_round_bytes(plx_index n, plx_index cols, bool sparse, plx_index room, int workers);

/* ---- quality ---- */

typedef struct plx__ranked {
    double key, distance;
    int64_t row;
} plx__ranked;

/* The k best of a list by directly computed distances, in the order of linalg/knn.h. `ranks` has room for the list.
 * Returns how many there are. */
plx_index plx__descent_rank(const plx__descent_rows *rows, const plx__descent_lists *lists, plx_index k,
                            plx_index position, plx__ranked *ranks);

typedef struct plx__recall_sample {
    plx_index count, k; /* rows drawn, true neighbours of each */
    plx_index *position;
    double *reach; /* key of the distance to the last true neighbour */
} plx__recall_sample;

/* Searches the true neighbours of rows drawn one from each stretch of the order. */
plx_status plx__recall_sample_take(plx__recall_sample *out, plx_context *ctx, const plx__descent_rows *rows,
                                   plx_index k, const uint8_t *present);
/* Share of the true neighbours that the lists hold; any of equal distance is one. */
plx_status plx__recall_measure(double *out, plx_context *ctx, const plx__recall_sample *sample,
                               const plx__descent_rows *rows, const plx__descent_lists *lists);
double plx__recall_sample_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse);

#endif
