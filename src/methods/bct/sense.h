/*
 * Inside of acquiring features with bct.
 *
 * Measuring view j of sample i with value x changes the posterior precision Delta by q u u', u = e_i - E_j S_j^-1 b,
 * b = kappa_j(X_j, x), q = 1/(kappa_j(x,x) + s_j - b.S_j^-1 b). Its expectation over what x may be is, whatever way it is
 * taken, a sum over the components c of the density
 *
 *     sum_c rho_c [ q_c (e_i - a_c)(e_i - a_c)' + H_c H_c' ],
 *
 * where only the weights rho_c depend on the sample. plx__sense_terms makes q, a and H of a view; plx__sense_gains adds
 * up 1/2 log det(I + V' Delta^-1 V) of every candidate from tables that are made once per view.
 */
#ifndef PLX_METHODS_BCT_SENSE_H
#define PLX_METHODS_BCT_SENSE_H

#include "active/density.h"
#include "methods/bct/bct.h"

enum { SENSE_MI = 0, SENSE_VAR = 1, SENSE_RANDOM = 2 };
enum { SENSE_POINT = 0, SENSE_MOMENTS = 1, SENSE_SAMPLE = 2 };

typedef struct sense_params {
    bct_params bct; /* first: bct reads its own part */
    int strategy, expectation;
    plx_index samples;
    double vague;
} sense_params;

typedef struct sense {
    plx__run *run;
    plx_context *ctx;
    const sense_params *set;
    bct b;
    plx__gp_state state;
    plx__density density;
    plx_index *modelled;    /* n_views: number among the density's views, or -1 */
    plx_mat *explained;     /* per problem n_cov x labelled: Delta^-1 = K_c - V V' */
    plx_cmat variance;      /* n x problems: diagonal of Delta^-1; 0 where uncovered */
    plx_index candidates;   /* pairs */
    plx_index batch;        /* to be taken together; 0: none */
    struct sense_job *kept; /* views x problems: tables kept for a batch; NULL: none is asked for */
} sense;

/* The expectation for one view. */
typedef struct sense_terms {
    plx_index k;
    double *q;        /* k */
    plx_mat w;        /* n_cov x (k + columns of all H): a_1 .. a_k, H_1, H_2, ... */
    plx_index *first; /* k + 1: H_c are columns first[c] .. first[c+1]-1 of w */
} sense_terms;

/* ---- sense_terms.c ---- */
plx_status plx__sense_terms(sense_terms *out, sense *s, const bct_view *view);

/* ---- sense_moments.c: kernel values with a random x ---- */

/* Reference samples of a view, whose kernel values tell all others. */
typedef struct sense_reference {
    plx_cmat rows; /* features */
    plx__kernel kernel;
    const double *mean; /* of x */
    plx_cmat cov;       /* d x d, or the diagonal as 1 x d */
} sense_reference;

/* out: rows x (1 + r), E[b] and a factor F of Cov(b) = F F'; *self = E[kappa(x,x)]. Linear and rbf kernels. In scratch. */
plx_status plx__sense_moments(plx_mat *out, double *self, plx_context *ctx, const sense_reference *of);

/* draws x d normal vectors with this mean and covariance; a function of the stream. */
plx_status plx__sense_draw(plx_mat out, plx_context *ctx, const sense_reference *of, uint64_t stream);

/* A factor with as few columns as needed: out out' = f f' up to 1e-12 of the trace. */
plx_status plx__sense_compress(plx_mat *out, plx_context *ctx, plx_cmat f);

/* ---- sense_gain.c ---- */

/* gain (n x n_views) of all candidates of one view, summed over the problems. */
plx_status plx__sense_gains(plx_mat gain, sense *s, const bct_view *view);

/* Sum over the problems of log det Delta, uncovered samples included. */
plx_status plx__sense_logdet(double *out, sense *s);

#endif
