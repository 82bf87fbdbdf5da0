/*
 * Inside of kcomplete: rows with holes, the mixture fitted to them, and kernels between them.
 */
#ifndef PLX_METHODS_KCOMPLETE_KCOMPLETE_H
#define PLX_METHODS_KCOMPLETE_KCOMPLETE_H

#include "run/problem.h"
#include "kernel/prepared.h"
#include "mixture/expected_kernel.h"

enum { KC_ANALYTIC = 0, KC_CONDITIONAL = 1, KC_MEAN = 2 };
enum { KC_KLR = 0, KC_NO_CLASSIFIER = 1 };

typedef struct kc_params {
    int completion, covariance, classifier;
    bool normalised;
    plx_index max_components, em_iter;
    double cov_reg, em_tol, ridge;
    const char *init;
} kc_params;

/* Rows to be compared: those of a fit, or new ones, or the labelled ones out of a model. */
typedef struct kc_rows {
    plx_mat x;     /* n x d, 0 where missing */
    uint8_t *seen; /* n x d */
    plx__incomplete_data data;
    plx_index block[2];
    plx__moments moments; /* not with completion=mean */
    plx_mat imputed;      /* n x d */
} kc_rows;

typedef struct kc {
    plx__run *run;
    plx_context *ctx;
    const kc_params *set;
    plx__incomplete_mixture mix;
    double *column_mean; /* d, of the fit */
    plx__kernel kernel;  /* with the normaliser in its amplitude */
} kc;

/* ---- rows (kc_rows.c) ---- */

/* Scaled views side by side, views nobody has left out (warned of when fitting). */
plx_status plx__kc_open_rows(kc_rows *out, kc *c);
/* From a matrix with NaN for missing entries, and back. */
plx_status plx__kc_rows_of(kc_rows *out, kc *c, plx_cmat with_nan);
void plx__kc_with_nan(plx_mat out, const kc_rows *rows, const plx_index *row, plx_index count);
/* Conditional moments under the mixture and filled rows, as the completion asks. */
plx_status plx__kc_complete(kc_rows *rows, kc *c);

/* ---- mixture (kc_mixture.c) ---- */
plx_status plx__kc_fit_mixture(kc *c, const kc_rows *rows);
plx_status plx__kc_put_mixture(kc *c);
plx_status plx__kc_load_mixture(kc *c, plx_index d);

/* ---- kernels (kc_kernel.c) ---- */

/* Width and amplitude become numbers and go into the model, or come out of it. */
plx_status plx__kc_settle_kernel(kc *c, const kc_rows *rows);
/* out: rows `a` (NULL list: all) against rows `b`. The same object on both sides: the same samples. */
plx_status plx__kc_values(kc *c, const kc_rows *a, const plx_index *row_a, plx_index count_a, const kc_rows *b,
                          const plx_index *row_b, plx_index count_b, plx_mat out);

#endif
