/*
 * Tables from which the gains of a view's candidates are made, for one problem; see sense_gain.c.
 */
#ifndef PLX_METHODS_BCT_SENSE_GAIN_H
#define PLX_METHODS_BCT_SENSE_GAIN_H

#include "active/acquirer.h"
#include "methods/bct/sense.h"

typedef struct sense_job {
    const sense *s;
    const bct_view *v;
    const sense_terms *t;
    plx_mat pw;          /* n_cov x R: P W */
    plx_mat inner;       /* R x R: W' P W; diagonal within every H_c */
    plx_index *first;    /* k + 1: columns of H_c */
    double *spread;      /* k: trace of H_c' P H_c */
    plx_index problem;   /* whose P this is */
    plx_index *sample;   /* the candidates */
    plx_mat gain;        /* n x n_views */
    double *work;        /* per thread: a matrix of order R + 1 and three rows of R */
    plx_index work_size; /* doubles */
    /* ---- of a batch (sense_batch.c) ---- */
    plx_mat w;              /* n_cov x R: W itself */
    plx_mat all;            /* n x R: P W after what was taken, rows of all samples; data NULL: nothing was */
    const plx_mat *changed; /* n x problems: the diagonal of P */
} sense_job;

typedef struct sense_candidate {
    double variance;        /* P_ii */
    const double *own;      /* row i of P W; NULL: uncovered, all zero */
    const double *rho;      /* k */
    plx_index count, means; /* columns of V; the first `means` are those of the a_c */
    double *weight;         /* of the columns */
    double *number;         /* of the columns in W */
    double *shared;         /* means: a_c' P a, a the weighted mean of all */
    double total, own_mean, shared_mean;
} sense_candidate;

/* The columns of a candidate that matter; `room` is a thread's work. */
sense_candidate plx__sense_candidate(const sense_job *job, plx_index i, double *room);
/* Its centre, and the Cholesky factor of I + V'PV. */
plx_status plx__sense_factor(plx_mat *out, const sense_job *job, plx_context *ctx, sense_candidate *c, plx_index i,
                             double *room);
plx_status plx__sense_gain(double *out, const sense_job *job, plx_context *ctx, plx_index i, double *room);

/* Takes `size` candidates together; sample and view (number among bct's) of each. After plx__sense_gains with s->kept. */
plx_status plx__sense_batch(sense *s, plx__candidate *list, plx_index count, const plx_index *sample,
                            const plx_index *view, plx_index size);

#endif
