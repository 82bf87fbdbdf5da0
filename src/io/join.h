/*
 * Views with samples of their own, joined by sample id: every view becomes one row per sample of the data set, missing
 * where the view's file has no row for it.
 */
#ifndef PLX_IO_JOIN_H
#define PLX_IO_JOIN_H

#include "data/dataset_impl.h"
#include "data/table.h"

typedef struct plx__loose_view {
    const char *name, *file; /* file for messages */
    plx__table table;
    plx_view_kind kind;
    const char *const *ids; /* one per row of the table, or NULL: rows correspond to the samples */
    const uint8_t *present; /* one per row of the table, or NULL */
    double cost;
    const char *text;                         /* how its text was counted; NULL: not from text */
    const char *const *labels, *const *truth; /* one per row, as its file has them; NULL: none */
    bool borrowed;                            /* the values are another data set's */
    plx__shared *block; /* where the table is, when the data set may take it as it is; NULL: it is copied */
} plx__loose_view;

/* A view of a data set, under another name unless `name` is NULL; everything is borrowed. */
plx__loose_view plx__loose_from(const plx_dataset *data, plx_index view, const char *file, const char *name);

typedef struct plx__sample_list {
    plx_index n;
    const char *const *ids; /* NULL: no view has ids */
    plx__map index;         /* id -> sample, when there are ids */
} plx__sample_list;

/* The samples of all views together. `ids` (n_ids of them, may be NULL) is the list given for the whole data set: it
 * fixes the samples and their order. Without it: all ids in order of appearance (union), or those every view with ids
 * has (intersection). */
plx_status plx__join_samples(plx__sample_list *out, plx_context *ctx, plx__arena *arena, const plx__loose_view *views,
                             plx_index n_views, const char *const *ids, plx_index n_ids, plx_join join);

/* What belongs to rows with ids, one text each, brought into the order of the samples; NULL stays NULL. Fails where two
 * sources disagree about a sample: `to` keeps what it has. `what` is "label" or "truth", for messages. */
plx_status plx__join_texts(const char **to, plx_context *ctx, const plx__sample_list *samples, const char *const *texts,
                           const char *const *ids, plx_index rows, const char *file, const char *what);

/* Where every view's rows are the samples already, the arena their tables are in becomes a block for the data set to
 * take over; else *out = NULL and the tables will be copied. The caller drops the block when all views are added. */
plx_status plx__join_hand_over(plx__shared **out, plx_context *ctx, plx__arena *arena, plx__loose_view *views,
                               plx_index count, const plx__sample_list *samples);

/* Add a view, its rows brought into the order of the samples. */
plx_status plx__join_add(plx_dataset *data, plx_context *ctx, const plx__loose_view *view,
                         const plx__sample_list *samples);

#endif
