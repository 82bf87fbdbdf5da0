/*
 * What cca and kcca share. Each of them brings every view into a form Z_j (rows of the fitted samples); here the
 * reduced problem is solved, and projections become the shared space, correlations, retrieval scores and a classifier.
 *
 * Per fit: plx__canon_open; the method fills z, mean and r of every view; plx__canon_solve; plx__canon_project.
 */
#ifndef PLX_METHODS_CCA_CANON_H
#define PLX_METHODS_CCA_CANON_H

#include "run/problem.h"
#include "kernel/prepared.h"
#include "kernel/row_passes.h"
#include "linalg/lowrank.h"

typedef struct canon_params {
    plx_index dim;
    double tau;
    bool center;
    int missing; /* CANON_COMPLETE or CANON_PAIRWISE */
    int classifier;
    double C;
    bool retrieval;
    double gs_threshold; /* kcca */
    int gs_stop;
    plx_index gs_max;
    int solver; /* cca; -1: by the number of features */
    plx_index rank;
} canon_params;

enum { CANON_COMPLETE = 0, CANON_PAIRWISE = 1 };
enum { CANON_NO_CLASSIFIER = 0, CANON_SVM = 1 };

typedef struct canon_view {
    const plx__view *view;
    plx_index index;         /* in the data set */
    plx_index n;             /* fitted samples */
    const plx_index *sample; /* n, ascending */
    plx__points z;           /* n x r */
    const plx_index
        *bound;         /* rows of z that a process has where views are divided: bound[r] .. bound[r+1]-1; NULL: all */
    const double *mean; /* r: taken off every row of z, never formed; NULL: none */
    plx_index r;
    plx_mat w;          /* r x k: result of plx__canon_solve */
    plx_mat rows;       /* n x k: Z w where the solver has it; data NULL: not yet */
    plx_mat dual;       /* r x k: kcca, dual weights where the solver has them instead of w */
    double *w_square;   /* k: then, squared lengths of w */
    plx_mat projection; /* samples x k: array projection.VIEW; zero where the view is missing */
} canon_view;

typedef struct canon {
    plx__run *run;
    plx_context *ctx;
    const canon_params *set;
    plx_index n; /* samples */
    plx_index m; /* views */
    canon_view *views;
    uint8_t *complete; /* n: has all views */
    plx_index n_complete;
    plx_index k;
    double *rho;   /* k */
    double jitter; /* largest that a factorisation needed */
} canon;

/* Rows both methods have in their tables. */
extern const plx__param_spec plx__canon_params[];

/* Views and the samples to fit. */
plx_status plx__canon_open(canon *c, plx__run *run);
plx_status plx__canon_open_fitted(canon *c, plx__run *run);
/* Fewer than two classes where a classifier is wanted. */
plx_status plx__canon_check(plx__run *run);

/* Reduced problem: k, rho and the w of all views (canon_solve.c). */
plx_status plx__canon_solve(canon *c);
/* dim cut to what the ranks allow, with a warning; another when tau = 0 leaves nothing to find. */
plx_status plx__canon_set_dim(canon *c, plx_index largest);
/* z of a view (or part of it) as products (canon_products.c). out = (Z_a - mean)' (Z_b - mean) over the samples both
 * have; `scaled`: times sqrt(n_a n_b) / n_ab. a == b: all of its rows. */
plx_status plx__canon_cross(plx_mat out, plx_context *ctx, const canon_view *a, const canon_view *b, bool scaled);
/* Root of the mean squared length of the rows of Z - mean. */
plx_status plx__canon_spread(double *out, plx_context *ctx, const canon_view *v);
/* out (n x k) = (Z - mean) w: in the rows of this process, or in all rows on all processes. */
plx_status plx__canon_own_times(plx_mat out, plx_context *ctx, const plx__row_passes *z, const double *mean,
                                plx_cmat w);
/* out (columns of Z x k) = (Z - mean)' y, on all processes; of y their own rows count. */
plx_status plx__canon_times_t(plx_mat out, plx_context *ctx, const plx__row_passes *z, const double *mean, plx_cmat y);
plx_status plx__canon_times(plx_mat out, plx_context *ctx, plx__points z, const double *mean, plx_cmat w);

/* What differs between the methods when samples are projected (canon_project.c). */
typedef struct canon_way {
    plx_status (*prepare)(plx__prepared *data, plx__run *run, plx_index view);
    /* Array weights.VIEW of view number v and whatever else `project` needs, into the model. */
    plx_status (*put_weights)(canon *c, const canon_view *view, const void *own, plx_index v);
    /* out (one row per sample of the list) from what the model `state` keeps. */
    plx_status (*project)(canon *c, const canon_view *view, const plx__prepared *data, const plx__store *state,
                          plx_cmat weights, const plx_index *samples, plx_mat out);
} canon_way;

/* After plx__canon_solve: signs, weights, projections of all samples and what follows. `own` is the method's. */
plx_status plx__canon_project(canon *c, const canon_way *way, const plx__prepared *data, const void *own);
/* The whole of a prediction. */
plx_status plx__canon_predict(plx__run *run, const canon_way *way);
/* Everything that follows from projections (canon_output.c). */
plx_status plx__canon_finish(canon *c);

#endif
