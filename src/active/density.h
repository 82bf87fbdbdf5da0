/*
 * Density of the features, for views that are not seen: a mixture whose components are independent between views,
 *
 *     p(x) = sum_c pi_c prod_j N(x_j | mu_cj, Sigma_cj),
 *
 * over all samples or one per class. A missing view given the others is a mixture of the same normals with weights
 * rho_c ~ pi_c prod_{k observed} N(x_k | mu_ck, Sigma_ck); with one mixture per class and an unknown label the classes
 * take part with their posterior probability.
 */
#ifndef PLX_ACTIVE_DENSITY_H
#define PLX_ACTIVE_DENSITY_H

#include "linalg/distance.h"
#include "run/run.h"
#include "mixture/incomplete_mixture.h"

/* A view whose features are modelled. */
typedef struct plx__density_view {
    const char *name;
    plx__points rows; /* n rows, as the method sees them */
    const uint8_t *present;
} plx__density_view;

typedef struct plx__density {
    plx_index n, n_views;
    const plx__density_view *views;
    plx_index *block;            /* n_views + 1: first column of every view */
    plx_mat x;                   /* n x d, the views side by side */
    uint8_t *seen;               /* n x d */
    plx__incomplete_mixture mix; /* all components; those of classes in class order, weighted by the class */
    plx_mat rho;                 /* n x k */
} plx__density;

/* Reads the shared parameters and fits; views with more features than a full covariance allows are an error. In
 * scratch. `views` must live as long. */
plx_status plx__density_fit(plx__density *out, plx__run *run, const plx__density_view *views, plx_index n_views);

/* Can a full covariance be had of every view? */
plx_status plx__density_check(plx__run *run, const plx__density_view *views, plx_index n_views);

/* Arrays mixing, gmm_weight, gmm_mean.VIEW and (on request) gmm_cov.VIEW. */
plx_status plx__density_put(const plx__density *density, plx__run *run);

/* Mean of component c in a view; and its covariance, d x d or the diagonal as 1 x d. */
const double *plx__density_mean(const plx__density *density, plx_index c, plx_index view);
plx_cmat plx__density_cov(const plx__density *density, plx_index c, plx_index view);

#endif
