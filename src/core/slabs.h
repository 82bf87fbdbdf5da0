/*
 * Slabs: the one way in which a method sums over its samples.
 *
 * The samples are cut into panes, runs of neighbouring rows that are worked on at once, and the panes into slabs of
 * equally many neighbouring panes. The cut is a function of the number of samples and of what the method says about a
 * pane; neither threads nor memory nor who holds the rows have a part in it. A pass over the samples (plx__slabs_sum)
 * hands the method one pane after the other and a table to add into: every slab has a table of its own that starts at
 * zero, and the tables are added in the order of the slabs. So the roundings of a sum are those of the cut, and whether
 * the rows are in memory or in files (core/paging.h) makes no difference to a single byte. Only the rows of one pane and
 * what is made of them need to be at hand at a time: working arrays a pane long serve any number of samples.
 *
 * Where several processes run the same call (core/ranks.h), each works on a run of neighbouring slabs; sums come to all
 * of them, in the same order and so to the same bytes (in any order, with --deterministic 0). What a pass leaves of single
 * samples is with the process that worked on them until it is shared (plx__slabs_share).
 */
#ifndef PLX_CORE_SLABS_H
#define PLX_CORE_SLABS_H

#include "core/ctx.h"

enum {
    PLX__MOST_SLABS = 64,       /* or one for so many panes, */
    PLX__PANES_OF_A_SLAB = 32,  /* where those are more */
    PLX__MOST_SLABS_EVER = 1024 /* processes that can share the work */
};

typedef struct plx__slabs {
    plx_index n;     /* samples */
    plx_index pane;  /* rows of a pane, the last may have fewer */
    plx_index rows;  /* rows of a slab: a multiple of those of a pane */
    plx_index count; /* slabs; at least 1 */
    bool alone;      /* every process works on all of them: what is made of the samples is not only summed */
} plx__slabs;

/* Panes of at least `pane` rows; what most methods want is PLX__PANE_ROWS. */
plx__slabs plx__slabs_cut(plx_index n, plx_index pane);

/* One slab per process, as even as can be: for work that sums nothing over samples, so that the cut may depend on how
 * many they are. */
plx__slabs plx__slabs_even(const plx_context *ctx, plx_index n);

#ifdef PLX_CHECKED
enum { PLX__PANE_ROWS = 40 }; /* so that small tests have several */
#else
enum { PLX__PANE_ROWS = 1 << 15 };
#endif

/* A pane, its half, a quarter and so on: the one whose rows are nearest to `wanted` in proportion. Panes of such parts are
 * those of everything else, so that no rows have to move from rank to rank. */
plx_index plx__pane_part(plx_index wanted);

/* Samples begin .. end-1 into `table`, which already holds what the slab's panes before have added. Called for one pane
 * after the other on the caller's thread; may run parallel loops. */
typedef plx_status (*plx__pane_fn)(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table);

/* table (`width` numbers, overwritten) = sum over the slabs, in order, of what `fn` adds up in each. Takes another
 * `width` numbers of scratch when there are several slabs; among several processes, for each slab of this one. */
plx_status plx__slabs_sum(plx_context *ctx, plx__slabs cut, plx_index width, plx__pane_fn fn, void *arg, double *table);

/* For every pane of this process in turn, when there is nothing to add up; `table` of fn is NULL. */
plx_status plx__slabs_each(plx_context *ctx, plx__slabs cut, plx__pane_fn fn, void *arg);

/* The samples this process works on: begin .. end-1. */
void plx__slabs_mine(plx_index *begin, plx_index *end, const plx_context *ctx, plx__slabs cut);

/* The same of rank `rank` among `ranks`, whoever asks. */
void plx__slabs_part(plx_index *begin, plx_index *end, plx__slabs cut, int rank, int ranks);

/* The same of another process. */
void plx__slabs_of_rank(plx_index *begin, plx_index *end, const plx_context *ctx, plx__slabs cut, int rank);

/* The same of all: rank r has bound[r] .. bound[r+1]-1. */
void plx__slabs_bounds(plx_index *bound, const plx_context *ctx, plx__slabs cut);

/* The most slabs that a process has. */
plx_index plx__slabs_most(const plx_context *ctx, plx__slabs cut);

/* Rows of an array over samples, `bytes` each, from the processes that worked on them to all. `group` samples have a row
 * together (1: each has its own); it divides a pane. O(log processes) messages of a process in a row. */
plx_status plx__slabs_share(plx_context *ctx, plx__slabs cut, void *rows, size_t bytes, plx_index group);

/* ---- rows that stand for samples ---- */

/* Rows of which each stands for one sample of a cut, in their order: those that have a view, for instance. What
 * belongs to one sample is then with one process, whatever the rows are. */
typedef struct plx__slab_rows {
    plx__slabs cut;
    plx_index n;         /* rows */
    const plx_index *at; /* n: their samples, ascending; NULL: row i is sample i */
} plx__slab_rows;

/* The first row of sample `sample` or of one behind it. */
plx_index plx__slab_row(const plx__slab_rows *r, plx_index sample);

/* The rows of this process. */
void plx__slab_rows_mine(plx_index *begin, plx_index *end, const plx_context *ctx, const plx__slab_rows *r);

/* Which process has row i. */
int plx__slab_row_owner(const plx_context *ctx, const plx__slab_rows *r, plx_index i);

/* Rows of an array, `bytes` each, from the processes that have them to all. */
plx_status plx__slab_rows_share(plx_context *ctx, const plx__slab_rows *r, void *rows, size_t bytes);

/* Values of dense rows begin .. as the `data` of a matrix of all rows, of which no others must be looked at. */
double *plx__rows_at(double *values, plx_index begin, plx_index cols);

/* Numbers that plx__slabs_sum() takes from scratch. */
static inline double plx__slabs_room(plx__slabs cut, plx_index width) { return cut.count > 1 ? (double)width : 0; }

#endif
