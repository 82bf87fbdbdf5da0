/*
 * A view, or the concatenation of all views, made ready for a kernel: scaled, with its kernel settled. What scaling
 * learned goes into the model (private arrays "_scale.VIEW.*") and is applied unchanged to new rows.
 */
#ifndef PLX_KERNEL_PREPARED_H
#define PLX_KERNEL_PREPARED_H

#include "core/slabs.h"
#include "data/scale.h"
#include "kernel/kernel.h"

/* Row scale (per view) of a method's parameter table. */
extern const plx__param_spec plx__scale_params[];

/* In the place of a view number: all views side by side, there where every one is or where any one is. */
enum { PLX__VIEW_CONCAT = -1, PLX__VIEW_JOINED = -2 };

typedef struct plx__prepared {
    const char *name; /* view name, "concat" or "joined" */
    plx__kernel kernel;
    plx__points rows; /* n rows; precomputed: n x N similarities in rows.dense */
    plx_index cols;
    const uint8_t *present; /* n flags; concat: all views present; joined: any, the blocks of the others are 0 */
    plx_index n_present;
    const plx_index *bound; /* rows divided among processes (data/divided.h): rank r has bound[r] .. bound[r+1]-1; NULL:
                               all are here */
} plx__prepared;

/* `view` is an index, PLX__VIEW_CONCAT or PLX__VIEW_JOINED. When fitting (run->fitted NULL) scalers are fitted on the present
 * rows and stored, and width=median is computed and stored; when predicting both are read back. */
plx_status plx__prepare(plx__prepared *out, plx__run *run, plx_index view);

/* Scaling only, for methods without kernels: everything but `kernel` is filled. */
plx_status plx__prepare_rows(plx__prepared *out, plx__run *run, plx_index view);

/* What settings call it: the name of the view, "concat" or "joined". */
const char *plx__prepared_name(const plx__run *run, plx_index view);

/* Bytes plx__prepare takes for a view (or the concatenation), for a method's memory estimate. */
double plx__prepared_bytes(const plx__run *run, plx_index view);

/* ---- rows (points_rows.c) ---- */

/* Chosen rows only, in scratch. */
plx_status plx__points_select(plx__points *out, plx_context *ctx, plx__points from, const plx_index *rows,
                              plx_index count);

/* The same of rows that may be divided (bound NULL: they are not): all chosen rows on every process, or only those of the
 * list that are a process's own by `whose`, which says where the rows of the list belong. */
plx_status plx__points_choose(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound,
                              const plx_index *rows, plx_index count);
plx_status plx__points_choose_own(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound,
                                  const plx_index *rows, const plx__slab_rows *whose);

/* A copy, in scratch; of divided rows it has those that are here. */
plx_status plx__rows_clone(plx_mat *out, plx_context *ctx, plx_cmat from, const plx_index *bound);

/* Sums and means of the columns; of divided rows those of all, in the order of a single process. */
plx_status plx__points_col_sums(double *out, plx_context *ctx, plx__points rows, const plx_index *bound);
plx_status plx__points_col_means(double *out, plx_context *ctx, plx__points rows, const plx_index *bound);

/* Rows of a process, of n. */
static inline plx_index plx__bound_begin(const plx_context *ctx, const plx_index *bound)
{
    return bound ? bound[ctx->peers.rank] : 0;
}
static inline plx_index plx__bound_end(const plx_context *ctx, const plx_index *bound, plx_index n)
{
    return bound ? bound[ctx->peers.rank + 1] : n;
}

/* ---- rows in a model (points_store.c) ---- */

plx_status plx__points_put(plx__store *out, const char *name, plx__points rows);
/* Rows of the model with `rows` (-1: any number) x `cols`; nothing read from a file is trusted. */
plx_status plx__points_get(plx__points *out, plx_context *ctx, const plx__store *fitted, const char *name,
                           plx_index rows, plx_index cols);
/* Stored like `like`, dense or sparse, in scratch: what distances and products need of both sides. */
plx_status plx__points_match(plx__points *rows, plx_context *ctx, plx__points like);

/* Rows divided by their Euclidean norm (zero rows stay zero), in scratch: the linear kernel of the result is the
 * cosine kernel of `from`. Of divided rows, those that are here. */
plx_status plx__points_unit(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound);

#endif
