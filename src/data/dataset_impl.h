/*
 * Inside of a data set. Everything lives in its arena, but for the values of its views and the names of their columns:
 * these are in blocks that never change once they are in a data set, and are shared by all data sets made from it.
 */
#ifndef PLX_DATA_DATASET_IMPL_H
#define PLX_DATA_DATASET_IMPL_H

#include <stdatomic.h>

#include "core/text.h"
#include "parallax/dataset.h"

/* Memory with several owners. Counted atomically: data sets that share a block may go on different threads. */
typedef struct plx__shared {
    atomic_long owners;
    plx__arena arena;
} plx__shared;

typedef struct plx__view {
    const char *name;
    plx_view_kind kind;
    bool sparse;
    plx_cmat dense; /* one of the two, n rows; absent rows are zero / empty */
    plx_ccsr csr;
    plx_index cols, nonzeros, present_count, missing_values;
    plx_index nan_row, nan_col;  /* of the first nan inside a present row, when missing_values > 0 */
    const char *const *features; /* NULL: columns are named by their index */
    const uint8_t *present;      /* n flags */
    const double *self;          /* kernel views of new samples: similarity to themselves, nan: unknown; NULL: none */
    const double *peers;         /* likewise n x n: similarity to each other */
    double cost;
    const char *text; /* how its text was counted (text options); NULL: not from text */
    bool divided;     /* the values of rows begin .. end-1 only are here (data/divided.h); counts are those of all */
    plx_index begin, end;
    const plx_index *bound; /* divided: rank r has rows bound[r] .. bound[r+1]-1; NULL while it is being read */
    plx__shared *block;     /* where values and features are, when the view is one of a data set's own */
} plx__view;

/* Has row i, which is here, nothing but zeros? */
static inline bool plx__row_is_zero(const plx__view *v, plx_index i)
{
    const double *x = v->sparse ? v->csr.val + v->csr.ptr[i] : v->dense.data + i * v->dense.ld;
    plx_index count = v->sparse ? v->csr.ptr[i + 1] - v->csr.ptr[i] : v->cols;
    for (plx_index j = 0; j < count; j++) /* zeros may be stored */
        if (x[j] != 0) return false;
    return true;
}

/* Values to become a view. They are checked and put right where they are (rows that are absent become zero, stored
 * zeros go), so they must not be anybody else's. */
typedef struct plx__view_source {
    const char *name;
    plx_view_kind kind;
    bool sparse;
    plx_mat dense; /* one of the two */
    plx_csr csr;
    const char *const *features;          /* or NULL */
    bool features_in_block;               /* they need not be copied */
    const uint8_t *present;               /* or NULL: all */
    const struct plx__value_facts *facts; /* of sparse values whose columns were checked; NULL: look */
    bool divided;                         /* only rows begin .. end-1 have values, as in a view (data/divided.h) */
    plx_index begin, end;
} plx__view_source;

typedef struct plx__hierarchy {
    const char *const *classes;
    plx_index n_classes, n_subset, n_mutex;
    const int32_t *subset, *mutex; /* pairs of class indices, (below, above) for subset */
} plx__hierarchy;

struct plx_dataset {
    plx__arena arena;
    const char *name;
    plx_index n, n_views, view_capacity;
    plx__view *views;
    const char *const *ids;    /* NULL: none */
    const char *const *labels; /* NULL: none; entries NULL: unlabelled */
    const char *const *truth;
    plx__hierarchy *hierarchy;  /* NULL: none */
    const char *const *classes; /* see plx_dataset_classes(); kept up to date by the setters */
    plx_index n_classes;
    double label_cost;
    const double *sample_costs; /* NULL: all 1 */
    const char *const *files;   /* it was read from */
    plx_index n_files;
};

/* Names that settings use for all views together and for labels. */
bool plx__reserved_view_name(const char *name);

/* ---- the same operations as the public ones, for use inside a running call ---- */
const char *plx__view_kind_name(plx_view_kind kind);
plx_status plx__view_kind_parse(plx_view_kind *out, const char *name);
plx_status plx__dataset_create(plx_dataset **out, plx_context *ctx, const char *name, plx_index n);
void plx__dataset_destroy(plx_dataset *data);
plx_status plx__dataset_set_ids(plx_dataset *data, plx_context *ctx, const char *const *ids);
plx_status plx__dataset_add_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                  plx_cmat values, const char *const *features, const uint8_t *present);
plx_status plx__dataset_add_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                   plx_ccsr values, const char *const *features, const uint8_t *present);
plx_status plx__dataset_borrow_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                     plx_cmat values, const char *const *features, const uint8_t *present);
plx_status plx__dataset_borrow_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                      plx_ccsr values, const char *const *features, const uint8_t *present);

/* The memory of an arena as a block with one owner, the caller; the arena is empty afterwards. */
plx_status plx__shared_take(plx__shared **out, plx_context *ctx, plx__arena *arena);
void plx__shared_drop(plx__shared *block); /* one owner less; NULL is allowed */

/* A view made of values in `block`, without a copy; the data set becomes an owner of the block. */
plx_status plx__dataset_adopt(plx_dataset *data, plx_context *ctx, plx__shared *block, const plx__view_source *source);
/* The same of values in an arena, which the view takes over; whatever happens, the arena is empty afterwards. */
plx_status plx__dataset_adopt_arena(plx_dataset *data, plx_context *ctx, plx__arena *arena,
                                    const plx__view_source *source);

/* The view of another data set under its own name, values and features shared where both data sets have the same
 * context (a block goes back to the context it came from), else copied. */
plx_status plx__dataset_share(plx_dataset *data, plx_context *ctx, const plx__view *view);

plx_status plx__dataset_set_labels(plx_dataset *data, plx_context *ctx, const char *const *labels);
plx_status plx__dataset_set_truth(plx_dataset *data, plx_context *ctx, const char *const *truth);
plx_status plx__dataset_set_hierarchy(plx_dataset *data, plx_context *ctx, const char *const *classes,
                                      plx_index n_classes, const int32_t *subset, plx_index n_subset,
                                      const int32_t *mutex, plx_index n_mutex);
plx_status plx__dataset_set_label_cost(plx_dataset *data, plx_context *ctx, double cost);
plx_status plx__dataset_set_view_cost(plx_dataset *data, plx_context *ctx, plx_index view, double cost);
plx_status plx__dataset_set_sample_costs(plx_dataset *data, plx_context *ctx, const double *costs);
plx_status plx__dataset_select(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const plx_index *samples,
                               plx_index count);
plx_status plx__dataset_mask(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const uint8_t *present);
plx_status plx__dataset_relabel(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                const char *const *labels);
plx_status plx__dataset_scale(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                              const char *how);
plx_status plx__dataset_min_df(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                               plx_index least);

#endif
