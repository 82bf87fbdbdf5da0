/*
 * The linear systems of the smoothed and coupled kernel classifiers:
 *
 *     (Gamma + B K) alpha = R,    f = K alpha
 *
 * K = blockdiag(K_v) holds the kernels of one or more views over the samples that have them, Gamma = blockdiag(gamma_v I)
 * the weights of their norms, and B, symmetric positive semidefinite and given as a product, everything that punishes
 * values of f: the loss, the graph, the disagreement between views. R has many columns. The system is similar to
 * Gamma + psd, so it has one solution whatever the rank of K.
 *
 * Three exact roads. Dense: with K_v = Z_v Z_v' (the features of a linear kernel where they are few, else a pivoted
 * Cholesky factor) the weights w of f_v = Z_v w_v from (Gamma + Z'BZ) w = Z'R, a symmetric positive definite system that
 * does not cancel however large K is; a kernel with negative eigenvalues goes to LU of the matrix itself. Primal: the
 * same with the features of linear kernels, by conjugate gradients when they are many. Cg: conjugate gradients in the
 * inner product x'Ky, in which the matrix is self-adjoint (blocks are first scaled by gamma_v^-1/2); it is judged, and
 * restarted, by the residual of the system itself.
 *
 * Where a constant added to f costs nothing (a free offset, and B that only sees differences but for the loss), the mean
 * of the features is taken out first (`shifted`): a large constant in K would cost as many digits.
 */
#ifndef PLX_KERNEL_KERNEL_SYSTEM_H
#define PLX_KERNEL_KERNEL_SYSTEM_H

#include "kernel/expansion.h"
#include "kernel/row_passes.h"
#include "linalg/iterative.h"

typedef enum plx__system_solver { /* order of the words of parameter `solver`, which starts with auto */
                                  PLX__SYSTEM_AUTO = 0,
                                  PLX__SYSTEM_DENSE = 1,
                                  PLX__SYSTEM_CG = 2,
                                  PLX__SYSTEM_PRIMAL = 3
} plx__system_solver;

const char *plx__system_solver_name(plx__system_solver solver);

typedef struct plx__system_block {
    const plx__expansion *x;
    const plx_index *sample; /* the rows of this block */
    plx_index count;
    double gamma; /* > 0 */
    bool centred; /* K0 = K - (K1)(K1)'/(1'K1): functions that sum to zero over these samples */
    bool shifted; /* f may come out less its mean: the offset of the caller takes that up */
    plx_cmat
        features; /* count rows X with K = X X' in the place of the kernel (kernel/kernel_pivots.h), of divided ones a
                     process's own; data NULL: none */

    /* filled by plx__system_solve */
    plx_index offset;       /* of its first row in stacked vectors */
    plx__points rows;       /* not for precomputed kernels */
    plx__row_passes passes; /* over the rows of a linear kernel */
    bool own;               /* of divided rows a process has those of its passes only, of others all */
    plx_mat gram;           /* data NULL: not stored */
    plx_mat factor;         /* dense: gram = factor factor'; data NULL: the features themselves serve */
    double *mean;       /* shifted: mean row of the features (primal) or of the gram matrix; NULL: f was not shifted */
    double *pull;       /* centred: K1 (kernel roads) or X'1 (primal); NULL: nothing to take away */
    double pull_norm;   /* 1'K1 = |X'1|^2 */
    plx_index w_offset; /* of its weights in stacked weights */
    plx_mat weights;    /* primal: cols x columns of R, in scratch */
} plx__system_block;

/* y = B x for stacked x (size x any number of columns). */
typedef plx_status (*plx__coupling_fn)(void *arg, plx_context *ctx, plx_cmat x, plx_mat y);

/* The same where B joins nothing but the rows of a sample: x and y are the stacked rows of samples begin .. end-1 alone. */
typedef plx_status (*plx__coupling_part_fn)(void *arg, plx_context *ctx, plx_index begin, plx_index end, plx_cmat x,
                                            plx_mat y);

typedef struct plx__kernel_system {
    plx__system_block *block;
    plx_index n_blocks;
    plx__coupling_fn coupling;
    plx__coupling_part_fn coupling_part; /* then samples are divided among processes; NULL: B may join any rows */
    plx_index samples; /* that coupling_part counts; rows of a block belong to some of them, in order */
    void *arg;
    plx__system_solver solver; /* not auto */
    double tol;                /* relative residual of the iterations */
    plx_index max_iter;        /* 0: no limit of its own */
    const char *what;          /* for messages, e.g. "laprls: matrix for view 'text'" */
} plx__kernel_system;

/* Whose the rows of a block are: by their samples where these are divided, else by themselves. */
plx__slab_rows plx__block_whose(const plx__kernel_system *s, const plx__system_block *b);

/* r, alpha, f: sum of the counts x columns. Scratch memory is the caller's to rewind: weights live there. */
plx_status plx__system_solve(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                             plx__iter_result *result);

/* Coefficients of f in K itself: alpha less a constant per column where the kernel was centred. */
void plx__system_plain(const plx__system_block *b, plx_mat alpha);

/* Bytes the solver takes beyond the rows, for `size` stacked rows, `largest` of a block, `features` stacked columns and
 * `columns` of R. `held`: with coupling_part, rows of a block that are here; else 0. */
double plx__system_bytes(plx__system_solver solver, bool linear, double size, double largest, double features,
                         double columns, double held);

#endif
