/*
 * Kernels between rows: linear, rbf, polynomial, cosine, precomputed; their parameters and their matrices.
 */
#ifndef PLX_KERNEL_KERNEL_H
#define PLX_KERNEL_KERNEL_H

#include "run/run.h"
#include "linalg/distance.h"

typedef enum plx__kernel_kind { /* order of the words in the parameter table */
                                PLX__KERNEL_LINEAR = 0,
                                PLX__KERNEL_RBF = 1,
                                PLX__KERNEL_POLY = 2,
                                PLX__KERNEL_COSINE = 3,
                                PLX__KERNEL_PRECOMPUTED = 4
} plx__kernel_kind;

const char *plx__kernel_name(plx__kernel_kind kind); /* as the parameter `kernel` has it */

typedef struct plx__kernel {
    plx__kernel_kind kind;
    double width;         /* rbf: exp(-|x-z|^2 / (2 width^2)); NaN: median, not yet known */
    double degree, coef0; /* poly: (x.z + coef0)^degree */
    double amplitude;     /* factor of every value; 0: none; NaN: auto, not yet known */
} plx__kernel;

/* Rows kernel, width, degree, coef0 (all per view) of a method's parameter table. */
extern const plx__param_spec plx__kernel_params[];

/* Rows gamma and amplitude (per view) for methods that take them as well; without these rows the amplitude is 1. */
extern const plx__param_spec plx__amplitude_params[];

/* What was asked for a view. A view of kind `kernel` is precomputed: another kernel asked of it by name is an
 * error, a plain kernel=... passes it over. */
plx_status plx__kernel_settings(plx__kernel *out, plx__run *run, const char *view, bool is_kernel_view);

/* Of divided rows (data/divided.h): can these settings do with a process's own? Not with views of kind kernel, nor where a
 * width is the median over all pairs; `extra` are further names of views, NULL-ended, or NULL. */
bool plx__kernels_by_own_rows(plx__run *run, const plx_dataset *data, const char *const *extra);

/* Whether a function of this view is one of its rows: a linear or cosine kernel. */
bool plx__kernel_has_rows(plx__run *run, const char *view, bool is_kernel_view);

/* width=median becomes a number: median distance between the given rows (0 is an error, naming method and view). */
plx_status plx__kernel_set_width(plx__kernel *kernel, plx_context *ctx, plx__points rows, const uint8_t *present,
                                 const char *method, const char *view);

/* Bytes that takes for n rows of a view: 0 where the settings give a width or no rbf kernel. */
double plx__kernel_width_bytes(const plx__run *run, const char *view, plx_index n, double row_bytes);

/* Mean of kappa(x, x) at amplitude 1 over the present rows (NULL: all); 0 without any. Of divided rows rank r has
 * bound[r] .. bound[r+1]-1 (NULL: all are here), and the mean is that of all. */
plx_status plx__kernel_mean_diagonal(double *out, plx_context *ctx, const plx__kernel *kernel, plx__points rows,
                                     const plx_index *bound, const uint8_t *present);

/* amplitude=auto becomes a number: 1 / mean of kappa(x, x) over the given rows (0 is an error). `rows` of a precomputed
 * kernel are the n x n values. */
plx_status plx__kernel_set_amplitude(plx__kernel *kernel, plx_context *ctx, plx__points rows, const plx_index *bound,
                                     const uint8_t *present, const char *view);

/* out[i] = kappa(x_i, x_i); not for precomputed. */
plx_status plx__kernel_diagonal(plx_context *ctx, const plx__kernel *kernel, plx__points rows, double *out);

/* out (rows(a) x rows(b)) of kernel values; not for precomputed. With a = b the result is exactly symmetric and the
 * diagonal of rbf exactly the amplitude. */
plx_status plx__kernel_matrix(plx_context *ctx, const plx__kernel *kernel, plx__points a, plx__points b, plx_mat out);

/* out[i] = amplitude * exp(-dist_sq[i] / (2 width^2)) of an rbf kernel; exactly the amplitude at distance 0. May be in
 * place. */
void plx__rbf_values(const plx__kernel *kernel, const double *dist_sq, plx_index n, double *out);

/* A given Gram matrix must be finite and symmetric to 1e-8 max|G| on the present block; averaged with its transpose. */
plx_status plx__kernel_symmetrise(plx_context *ctx, plx_mat g, const uint8_t *present, const char *view);

#endif
