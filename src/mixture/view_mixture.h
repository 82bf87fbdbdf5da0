/*
 * The components of a mixture in one view: what EM needs of them, for four likelihoods.
 *
 *   multinomial  sum_l n_l log theta_jl (the coefficient, which is the same for all components, is left out)
 *   gaussian     diagonal covariance, variances floored
 *   spherical    one variance per component, floored
 *   vmf          kappa <x/|x|, mu_j> with fixed kappa
 *
 * Responsibilities (weights) and log-likelihoods are n x padded matrices, padded = plx__padded(m); the padding of weights
 * is zero, that of log-likelihoods means nothing. Sparse views keep their transpose: an M step then is a product without
 * scattered writes. Rows of absent samples must have zero weights, and their log-likelihoods mean nothing.
 *
 * Samples are worked on by panes (core/slabs.h). A mixture may take its responsibilities pane by pane, and may also hold
 * the log-likelihoods of one pane only: memory does not grow with the number of samples then. The bytes of its parameters
 * are the same. Multinomial and vmf only: variances need two passes.
 */
#ifndef PLX_MIXTURE_VIEW_MIXTURE_H
#define PLX_MIXTURE_VIEW_MIXTURE_H

#include "core/slabs.h"
#include "data/dataset_impl.h"
#include "mixture/softmax.h"

typedef enum plx__likelihood {
    PLX__MULTINOMIAL = 0,
    PLX__GAUSSIAN = 1,
    PLX__SPHERICAL = 2,
    PLX__VMF = 3
} plx__likelihood;

/* What is there at a time, of the samples this process works on. */
typedef enum plx__mixture_way {
    PLX__ALL_AT_ONCE, /* log-likelihoods and responsibilities of all */
    PLX__BY_PANES,    /* log-likelihoods of all, responsibilities of a pane */
    PLX__BRIEF        /* both of a pane */
} plx__mixture_way;

typedef struct plx__view_mixture_settings {
    plx__likelihood likelihood;
    plx_index components;
    double smoothing; /* multinomial: pseudo-count per component and feature */
    double var_floor; /* gaussian, spherical: share of the view's mean variance */
    double kappa;     /* vmf */
} plx__view_mixture_settings;

typedef struct plx__view_mixture {
    plx_context *ctx;
    plx__view_mixture_settings set;
    plx_index n, m, padded;
    const plx__view *view; /* its presence flags decide which rows count */
    plx__slabs cut;        /* of the samples; slice_rows divides its panes */
    plx_ccsr flipped;      /* sparse views, fitting, gaussian and spherical: the transpose */
    plx_ccsr *slices;      /* likewise multinomial and vmf: transposes of n_slices runs of slice_rows samples */
    plx_index n_slices, slice_rows;
    double *factor;        /* vmf: 1 / norm of every row; 0: absent */
    plx_mat theta;         /* multinomial, vmf: cols x padded; else m x cols: means */
    plx_mat table;         /* multinomial: cols x padded, logarithms of theta; vmf: room for sums; sparse Gaussian:
                              cols x 2 padded, 1 / variance and -2 mean / variance */
    plx_mat var;           /* gaussian: m x cols; spherical: m x 1 */
    double *constant;      /* gaussian, spherical: m, what does not depend on x */
    double floor;          /* least variance */
    double total_variance; /* gaussian, spherical, fitting: sum over features, over the present samples */
    double *sums;          /* room for sums over rows */
    plx_mat moments;       /* gaussian, spherical: m x cols, room for sums of squares */
    plx_mat fresh;         /* multinomial, vmf: cols x padded, what the M step adds up; `table`, if all at once */
    plx_mat loglik;        /* padded columns: of the samples of this process, or of a pane */
} plx__view_mixture;

/* How the samples of views are cut: panes of whole slices, and slices that suit all the views. */
typedef struct plx__mixture_cut {
    plx__slabs slabs;
    plx_index slice_rows;
} plx__mixture_cut;

plx__mixture_cut plx__mixture_cut_of(const plx__view *const *views, plx_index n_views, plx_index n,
                                     plx_index components);

/* Everything in scratch. `fitting`: also what the M step needs, and parameters of components that never get any mass
 * (uniform; mean and variance of the view; zero direction). Otherwise parameters come through plx__view_mixture_set. */
plx_status plx__view_mixture_open(plx__view_mixture *mix, plx_context *ctx, const plx__view *view,
                                  const plx__mixture_cut *cut, const plx__view_mixture_settings *settings,
                                  plx__mixture_way way, bool fitting);
double plx__view_mixture_bytes(const plx__view *view, plx_index n, plx__likelihood likelihood, plx_index components);

/* New parameters from responsibilities (n x padded; vmf changes them) with column sums `mass`. A component whose mass
 * is at most PLX__LEAST_MASS keeps its parameters. */
plx_status plx__view_mixture_m_step(plx__view_mixture *mix, plx_mat weights, const double *mass);

/* The same by panes, in steps: the sums of one pane, whose responsibilities are in rows 0 .. end-begin-1 of
 * `weights`, onto `table` (cols x padded; mix->fresh in the end), for plx__slabs_sum(); then the parameters. */
plx_status plx__view_mixture_add(plx__view_mixture *mix, plx_mat weights, plx_index begin, plx_index end,
                                 double *table);
plx_status plx__view_mixture_finish(plx__view_mixture *mix, const double *mass);

/* loglik at the current parameters, of the samples of this process; brief: of begin .. end-1, which are a pane. */
plx_status plx__view_mixture_scores(plx__view_mixture *mix);
plx_status plx__view_mixture_score_pane(plx__view_mixture *mix, plx_index begin, plx_index end);

/* Parameters as m x cols (variances m x cols or m x 1): copied out, and put in again. */
void plx__view_mixture_get(plx_mat theta, const plx__view_mixture *mix);
void plx__view_mixture_set(plx__view_mixture *mix, plx_cmat theta, plx_cmat var);
void plx__view_mixture_refresh(
    plx__view_mixture *mix); /* what is derived from theta and var, after they were changed */

static inline bool plx__has_variance(plx__likelihood l) { return l == PLX__GAUSSIAN || l == PLX__SPHERICAL; }

/* Responsibilities that add up to less are none: their products with data would leave the range of normal numbers. */
#define PLX__LEAST_MASS 1e-200

/* ---- view_mixture_gaussian.c ---- */
plx_status plx__gaussian_open(plx__view_mixture *mix, bool fitting);
plx_status plx__gaussian_m_step(plx__view_mixture *mix, plx_cmat weights, const double *mass);
plx_status plx__gaussian_scores(plx__view_mixture *mix);
void plx__gaussian_refresh(plx__view_mixture *mix);
enum { PLX__GAUSSIAN_SLABS = 16 };

#endif
