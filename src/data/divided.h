/*
 * Views whose values are divided among processes: every rank has ids, labels and presence of all samples, and the values
 * of a run of rows.
 *
 * A divided view looks like any other view of n rows. Of a sparse one, rows that are elsewhere are empty here: `ptr` has
 * n + 1 entries as ever, and `col` and `val` are as long as the entries of the rows that are here. Of a dense one, `data`
 * points to where row 0 would be if it were here; rows that are elsewhere must not be looked at. Kind, `present` and all
 * counts are those of all rows, the same on every rank.
 *
 * Reading cuts by panes (core/slabs.h), a method by panes of its own: views are regrouped to the cut of the method before
 * it sees them, and gathered for a method or a setting that needs all rows.
 */
#ifndef PLX_DATA_DIVIDED_H
#define PLX_DATA_DIVIDED_H

#include "core/slabs.h"
#include "data/dataset_impl.h"
#include "data/table.h"
#include "linalg/distance.h"

/* ---- rows that are here ---- */

static inline plx_index plx__held_begin(const plx__view *v) { return v->divided ? v->begin : 0; }
static inline plx_index plx__held_end(const plx__view *v, plx_index n) { return v->divided ? v->end : n; }
static inline bool plx__holds(const plx__view *v, plx_index i) { return !v->divided || (i >= v->begin && i < v->end); }

/* Which rows of it each rank has; NULL: all are here. */
static inline const plx_index *plx__held_bound(const plx__view *v) { return v->divided ? v->bound : NULL; }

/* For what is said about memory: values of a view that are stored here (entries of a sparse one, all of a dense one),
 * and those of its entries that a sparse copy would have, at most. */
double plx__held_values(const plx__view *v, plx_index n);
double plx__held_entries(const plx__view *v, plx_index n);

/* Room for dense rows begin .. end-1 of n, as the `data` of a matrix of all rows; for a view that is not divided, all. */
plx_status plx__held_dense(double **out, plx__arena *arena, const plx__view *v, plx_index n);

/* The rows of a sparse view that is made of the dense rows that are here (exact zeros dropped). */
plx_status plx__held_sparse(plx_csr *out, plx__arena *arena, const plx__view *v);

/* ---- among the ranks: each call is made by all of them; nothing to do for a view that is not divided ---- */

/* What every rank knows about its rows, `bytes` each, to all. */
plx_status plx__held_share(plx_context *ctx, const plx__view *v, void *rows, size_t bytes);

/* Counts, or numbers of which every sum is exact, added up over the ranks. */
plx_status plx__held_total(plx_context *ctx, const plx__view *v, double *x, plx_index width);

/* A run through all rows in their order, from rank to rank: add(arg) works on the rows of this rank and changes `state`,
 * which comes from the rank before and goes to the next; in the end all have the last one. */
plx_status plx__held_chain(plx_context *ctx, const plx__view *v, void *state, size_t bytes, void (*add)(void *arg),
                           void *arg);

/* Which rank has row i. */
int plx__held_owner(const plx_context *ctx, const plx__view *v, plx_index i);

/* ---- rows of other ranks ---- */

/* Chosen rows of `from`, of which rank r has those from bound[r] to bound[r+1]-1: `count` rows, in the order of the list,
 * which is the same on all ranks. Rank r gets to[r] .. to[r+1]-1 of the list (to NULL: every rank all of it); rows that go
 * elsewhere are as in a divided view. In scratch, or `from` itself where everything stays as it is. By all ranks. */
plx_status plx__rows_fetch(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound,
                           const plx_index *row, plx_index count, const plx_index *to);

/* One row that is handed round again and again: room for it (in scratch), then row `row` of `from` from the rank that
 * `owner` names to all. */
typedef struct plx__row_round {
    plx_mat dense;
    plx_csr csr; /* ptr NULL: dense */
} plx__row_round;
plx_status plx__row_round_open(plx__row_round *out, plx_context *ctx, plx__points from);
plx_status plx__row_round_take(plx__row_round *r, plx_context *ctx, plx__points from, plx_index row, int owner);
plx__points plx__row_round_points(const plx__row_round *r);

/* ---- reading ---- */

/* The rows of n whose values a reader has to keep; false: all of them. */
bool plx__share_wanted(plx_index *begin, plx_index *end, const plx_context *ctx, plx_index n);

/* The source with the rows that ctx->share asks for, copied into `arena`. */
plx_status plx__share_of(plx__view_source *out, plx__arena *arena, const plx__view_source *whole, plx_index begin,
                         plx_index end);

/* The same of a table: its values only, names and texts are those of `whole`. */
plx_status plx__table_share(plx__table *out, plx__arena *arena, const plx__table *whole, plx_index begin,
                            plx_index end);

/* Empty rows around those of `part` (end - begin rows): a matrix of n rows, its columns and values those of `part`. */
plx_status plx__pad_rows(plx_csr *out, plx__arena *arena, plx_csr part, plx_index begin, plx_index n);

/* Texts of the rows bound[rank] .. of this rank, NULL among them, become those of all rows, in the arena. By all ranks. */
plx_status plx__share_texts(const char *const **texts, plx_context *ctx, plx__arena *arena, const plx_index *bound);

/* The rows of a divided source as samples of a data set of n: row i becomes sample target[i], or is left out (-1). By all
 * ranks, each of which has the rows that plx__share_wanted() gave it and gets the samples that fall to it. */
plx_status plx__share_scatter(plx__view_source *out, plx_context *ctx, plx__arena *arena, const plx__view_source *from,
                              const plx_index *target, plx_index n);

/* Where all ranks read together (not parts, of which each has its own): see plx__peers_settle(). */
plx_status plx__share_settle(plx_context *ctx, plx_status st);

/* The kind of a view that every rank has taken its `held` rows for. */
plx_status plx__share_kind(plx_view_kind *kind, plx_context *ctx, plx_index held, const char *view);

/* After all views were read: what is known of all rows only together. */
plx_status plx__dataset_agree(plx_dataset *data, plx_context *ctx);

bool plx__dataset_divided(const plx_dataset *data);

/* ---- other divisions ---- */

/* The view with rows bound[r] .. bound[r+1]-1 on rank r; values in `arena` unless they are there already. */
plx_status plx__view_regroup(plx__view *v, plx_context *ctx, plx__arena *arena, plx_index n, const plx_index *bound);

/* The same data set with the values of all rows on every rank. */
plx_status plx__dataset_gather(plx_dataset **out, plx_context *ctx, const plx_dataset *data);

/* The values of all rows, on every rank, as a source. */
plx_status plx__view_gather(plx__view_source *out, plx_context *ctx, plx__arena *arena, const plx__view *v,
                            plx_index n);

#endif
