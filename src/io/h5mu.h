/*
 * Multi-view containers of the scverse: `.h5mu` (several modalities) and `.h5ad` (one).
 *
 * A modality is a view, its `X` the values, its `obs` names say which samples have it; names are what
 * joins the modalities. `.h5ad` gives one view called `X`.
 *
 * Labels come from a column of /obs: the one asked for (options->label), else the first of `label`,
 * `labels`, `class`, `cell_type`, `celltype` that is there. A column `truth` becomes the truth.
 *
 * What the format has no place for (kinds, costs, hierarchy, name) is stored under /uns/parallax; files of
 * other writers get their kinds from the values: only 0 and 1: binary; non-negative integers: counts; else real.
 */
#ifndef PLX_IO_H5MU_H
#define PLX_IO_H5MU_H

#include "parallax/dataset.h"

/* Read either kind; which one is decided by the content. options may be NULL. */
plx_status plx__h5mu_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options);

/* Write an `.h5mu` file that mudata, anndata and our reader understand; nothing half-written stays. */
plx_status plx__h5mu_write(plx_context *ctx, const plx_dataset *data, const char *path);

#endif
