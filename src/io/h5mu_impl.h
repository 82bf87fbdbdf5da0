/*
 * What the h5mu_*.c files share: data frames and matrices as anndata lays them out.
 */
#ifndef PLX_IO_H5MU_IMPL_H
#define PLX_IO_H5MU_IMPL_H

#include "data/table.h"
#include "io/h5.h"
#include "io/h5mu.h"

/* Where our own additions live. */
#define PLX__H5MU_OWN "/uns/parallax"

/* Row names of a data frame. */
plx_status plx__h5mu_index(const char *const **names, plx_index *count, const plx__h5 *f, plx__arena *arena,
                           const char *frame);

/* A column of any type as texts, NULL where a value is missing; *out = NULL when there is no such column. */
plx_status plx__h5mu_column(const char *const **out, const plx__h5 *f, plx__arena *arena, const char *frame,
                            const char *column, plx_index rows);

/* Rows begin .. end-1 of a matrix: those of samples first .. last-1 that it has. */
typedef struct plx__row_run {
    plx_index begin, end, first, last;
    bool whole; /* told by the reader: all rows came, because they are not stored one after the other */
} plx__row_run;

/* A matrix element (array, csr_matrix, csc_matrix, also the older unmarked forms) of that shape, or (part not NULL) some
 * rows of it; sparse rows come out sorted and without duplicates. */
plx_status plx__h5mu_matrix(plx__table *out, const plx__h5 *f, plx__arena *arena, const char *object, plx_index rows,
                            plx_index cols, plx__row_run *part);

/* ---- a file being read ---- */

typedef struct plx__modality {
    const char *group; /* "/mod/rna"; "" in an .h5ad file */
    const char *key;   /* its name in the file */
    const char *view;  /* its name in the data set */
    const char *const *obs, *const *var;
    plx_index n_obs, n_var;
    plx_index *sample; /* of each of its rows; -1: not kept */
} plx__modality;

typedef struct plx__h5mu_reader {
    plx_context *ctx;
    const plx__h5 *f;
    const char *label; /* column asked for, or NULL */
    const char *truth; /* likewise, of the truth */
    bool intersect;
    bool own; /* written by us: PLX__H5MU_OWN is there */
    plx__modality *mods;
    plx_index n_mods;
    const char *const *global; /* index of /obs */
    plx_index n_global;
    const char **ids;       /* samples of the data set */
    plx_index n, *position; /* position of a sample in /obs, or -1 */
} plx__h5mu_reader;

/* Modalities in their order, with names; then the samples they have together. */
plx_status plx__h5mu_read_modalities(plx__h5mu_reader *r);
plx_status plx__h5mu_join_samples(plx__h5mu_reader *r);

/* Labels and truth; then what only our own files have: costs and hierarchy. */
plx_status plx__h5mu_read_labels(plx_dataset *data, plx__h5mu_reader *r);
plx_status plx__h5mu_read_own(plx_dataset *data, plx__h5mu_reader *r);

#endif
