/*
 * The information bottleneck: soft clusters C of samples U that keep information about relevant variables V, optionally
 * only what an irrelevant variable W does not tell already, while they compress U:
 *
 *     F = I(U;C) - sum_v beta_v I(V_v;C|W)
 *
 * is minimised alternately over P(c|u) and the marginals, so that it never grows. Without W this is the plain bottleneck.
 * A sample whose row of a variable is zero takes no part in that variable's terms.
 */
#ifndef PLX_CLUSTER_BOTTLENECK_H
#define PLX_CLUSTER_BOTTLENECK_H

#include "optim/linear_models.h"
#include "run/run.h"

typedef struct plx__ib_variable {
    plx__design rows; /* n x cols: P(f|u), rows that sum to 1, or zero where the variable is not known */
    plx_index cols;
    double beta;
    double *joint;      /* cols x (k n_w), column c n_w + w: P(f,w,c) over the samples that have the variable */
    double *mass;       /* k n_w: P(w,c) over these samples */
    double *log_given;  /* like joint: log P(f|w,c), floored */
    double base;        /* sum over f, w of P(f,w) log P(f|w), which no clustering changes */
    double information; /* I(V;C|W), after plx__ib_marginals */
} plx__ib_variable;

typedef struct plx__bottleneck {
    plx_context *ctx;
    plx_index n, k, n_w;  /* n_w = 1: no irrelevant variable */
    const double *weight; /* P(u), which sum to 1 */
    plx_cmat given;       /* n x n_w: P(w|u); data NULL when n_w = 1 */
    plx__ib_variable *variable;
    plx_index n_variables;
    plx_mat pcu;      /* n x k: P(c|u) */
    plx_mat pc;       /* 1 x k */
    plx_mat next;     /* n x k: work */
    plx_mat wide;     /* n x (k n_w): work */
    double *chunk;    /* sums of chunks: work */
    plx_index chunks; /* of samples */
} plx__bottleneck;

/* All memory of a problem whose counts, weights, rows and betas are set, in scratch; P(c|u) is zero. */
plx_status plx__ib_open(plx__bottleneck *b);

/* Bytes plx__ib_open takes, and transposes of sparse rows, for a method's estimate: `entries` of all variables together
 * that are sparse, `cols` of all. */
double plx__ib_bytes(const plx_context *ctx, double n, double k, double n_w, double cols, double sparse_entries);

/* P(c), P(f|w,c) and I(V;C|W) of the present P(c|u). */
plx_status plx__ib_marginals(plx__bottleneck *b);

/* I(U;C) and F with the present marginals. */
plx_status plx__ib_compression(double *out, plx__bottleneck *b);
double plx__ib_functional(const plx__bottleneck *b, double compression);

/* P(c|u) anew from the marginals with every beta times `factor`; *change: the largest change of an entry. */
plx_status plx__ib_assign(plx__bottleneck *b, double factor, double *change);

/* P(f|w,c) of a variable as a (k n_w) x cols matrix, zero where nothing has mass; and the way back for prediction. */
void plx__ib_profile(plx_mat out, const plx__bottleneck *b, const plx__ib_variable *v);
void plx__ib_set_profile(plx__bottleneck *b, plx__ib_variable *v, plx_cmat profile);

/* ---- runs ---- */

/* Rows drawn from a symmetric Dirichlet distribution. */
plx_status plx__ib_draw(plx__bottleneck *b, double alpha, uint64_t stream);
/* Rows copied from a matrix of weights and normalised. */
void plx__ib_start(plx__bottleneck *b, plx_cmat weights);
/* Deterministic annealing from a nearly uniform start: stages of growing beta, disturbed before each. */
plx_status plx__ib_anneal(plx__bottleneck *b, plx_index restart);

typedef struct plx__ib_course {
    plx__trace trace; /* F at the start and after every sweep */
    plx_index iterations;
    double value, compression;
    bool converged; /* no entry of P(c|u) changed by more than tol */
} plx__ib_course;

/* Sweeps from the present P(c|u); the marginals are those of the final one. */
plx_status plx__ib_run(plx__bottleneck *b, plx__run *run, const char *phase, plx_index max_iter, double tol,
                       plx__ib_course *out);

/* ---- inputs ---- */

/* Rows to sum 1, in place, however large or small they are; a row without a positive sum becomes zero. */
void plx__ib_normalise_dense(plx_mat rows);
void plx__ib_normalise_csr(plx_csr rows);

#endif
