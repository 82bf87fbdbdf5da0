/*
 * Kernel values of samples in one view (or in all joined) with chosen reference samples, for any kind of kernel and any
 * pattern of missing views: a pair of which one lacks the view has the value 0.
 */
#ifndef PLX_KERNEL_VIEW_KERNEL_H
#define PLX_KERNEL_VIEW_KERNEL_H

#include "kernel/prepared.h"

typedef struct plx__view_kernel {
    const char *name;
    plx__kernel kernel;     /* amplitude and width in force */
    plx__points rows;       /* n rows; precomputed: n x N similarities as given */
    const plx_index *bound; /* divided rows: rank r has bound[r] .. bound[r+1]-1; NULL: all are here */
    const uint8_t *present; /* n flags; NULL: all */
    const double *self;     /* precomputed, new samples: similarity to themselves; NULL: not known */
    const double *peers;    /* likewise n x n: to each other */
} plx__view_kernel;

/* The samples others are compared with. */
typedef struct plx__reference {
    plx_index count;
    plx__points rows;        /* count rows; precomputed: none */
    const plx_index *column; /* precomputed: their columns among the similarities */
    const uint8_t *present;  /* count flags; NULL: all */
} plx__reference;

/* Some of the samples as reference, in scratch; `sample` must live as long. Every process has all of them, or of divided
 * rows its own by `whose`. */
plx_status plx__reference_of(plx__reference *out, plx_context *ctx, const plx__view_kernel *k, const plx_index *sample,
                             plx_index count);
plx_status plx__reference_own(plx__reference *out, plx_context *ctx, const plx__view_kernel *k, const plx_index *sample,
                              const plx__slab_rows *whose);

/* In the model as private arrays "_WHAT.VIEW" and "_WHAT_present.VIEW", and back; what a reference of precomputed
 * kernels needs are `column` numbers the caller keeps. */
plx_status plx__reference_store(plx__run *run, const plx__reference *ref, const char *what, const char *view);
plx_status plx__reference_load(plx__reference *out, plx__run *run, const plx__view_kernel *k, const char *what,
                               const plx_index *column, plx_index count);

/* out (end - begin x count) = (add: +=) values of samples begin..end-1 with the reference. */
plx_status plx__view_kernel_values(plx_context *ctx, const plx__view_kernel *k, plx_index begin, plx_index end,
                                   const plx__reference *ref, bool add, plx_mat out);

/* out[i] += value of sample begin + i with itself. Precomputed needs the own column (when fitting) or `self`; an error
 * names the sample that lacks both. */
plx_status plx__view_kernel_self(plx__run *run, const plx__view_kernel *k, plx_index begin, plx_index end, double *out);

/* ---- one reference among itself, at changing amplitude and width ---- */

/* out (count x count): squared distances of the rbf kernel, values at amplitude 1 of the others. */
plx_status plx__view_kernel_base(plx_context *ctx, const plx__view_kernel *k, const plx__reference *ref, plx_mat out);

/* Kernel values from n entries of the base; may be in place. */
void plx__kernel_of_base(const plx__kernel *k, const double *base, plx_index n, double *out);

#endif
