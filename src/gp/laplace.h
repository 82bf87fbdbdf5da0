/*
 * Laplace approximation of a Gaussian process with binary logistic likelihood: mode, evidence, and the matrix M that
 * turns any derivative of the prior covariance K into a derivative of the evidence.
 *
 *     B = I + W^1/2 K W^1/2 = L L',   log Z = psi(mode) - sum log L_ii,   d log Z = sum_ab M_ab dK_ab
 *
 * A covariance diag(c) + Z Z' with few columns p is never formed: with E = W/(1 + W c) and A = I + Z'EZ,
 * log det B = sum log(1 + W c) + log det A, and every step is a product with Z.
 */
#ifndef PLX_GP_LAPLACE_H
#define PLX_GP_LAPLACE_H

#include "device/device_session.h"
#include "linalg/dense.h"

typedef struct plx__laplace {
    plx_index n;
    double *mode;   /* n: f */
    double *slope;  /* n: g = (y + 1)/2 - pi; K^-1 f at the mode */
    double *weight; /* n: pi (1 - pi) */
    double *root;   /* n: its square root */
    double *turn;   /* n: 1 - 2 pi */
    plx_mat factor; /* n x n: L; of diag(c) + Z Z': p x p, the factor of A */
    double evidence, jitter;
    plx_index iterations;
    bool converged;
} plx__laplace;

/* Where Newton's method starts and where it may work. */
typedef struct plx__laplace_start {
    const double *a; /* n: K^-1 f of a nearby problem; NULL: f = 0. The mode is the same, found in fewer steps */
    plx_mat factor;  /* room for the factor; data NULL: in the arena */
} plx__laplace_start;

/* k is n x n with both triangles, y in {-1, +1}. The result lies in `arena`. `what` and `samples` as in
 * plx__cholesky_jitter; `start` NULL: f = 0. */
plx_status plx__laplace_fit(plx__laplace *out, plx__arena *arena, plx_context *ctx, plx_cmat k, const double *y,
                            const char *what, const plx_index *samples, const plx__laplace_start *start);

/* The same with K = diag(c) + Z Z' (c NULL: 0). n p^2 flops for a step. */
plx_status plx__laplace_fit_weights(plx__laplace *out, plx__arena *arena, plx_context *ctx, plx_cmat z, const double *c,
                                    const double *y, const char *what, const plx__laplace_start *start);

/* K and what is made of it on a device; vectors stay here. */
typedef struct plx__laplace_device {
    plx__device *dev;
    plx_device_mat k;       /* n x n, both triangles */
    plx_device_mat factor;  /* n x n: room for L; above its diagonal B stays */
    plx_device_mat m;       /* n x n: room for M */
    plx_device_mat inverse; /* n x n: room where M is added to; buffer NULL: never is */
    plx_device_mat x, y, z; /* n x 1: room */
} plx__laplace_device;

/* The same with K on a device, where the factor stays: out->factor has none. */
plx_status plx__laplace_fit_device(plx__laplace *out, plx__arena *arena, plx_context *ctx,
                                   const plx__laplace_device *on, const double *y, const char *what,
                                   const plx_index *samples, const plx__laplace_start *start);

/* column[j] += <M, z_j z_j'> for every column z_j of Z (p of them), c = 0: what one M is for n x n matrices. */
plx_status plx__laplace_gradient_weights(plx_context *ctx, const plx__laplace *at, plx_cmat z, double *column);

/* m = M, or (add) m += M (n x n, symmetric). n^3 flops. variance (n; NULL: not wanted): the posterior variances, which
 * come with it; NaN where they would not be precise. */
plx_status plx__laplace_gradient(plx_context *ctx, const plx__laplace *at, plx_cmat k, bool add, plx_mat m,
                                 double *variance);

/* The same on a device, to on->m. */
plx_status plx__laplace_gradient_device(plx_context *ctx, const plx__laplace *at, const plx__laplace_device *on,
                                        bool add, double *variance);

typedef enum plx__averaging { /* order of the words of the parameter `averaging` */
                              PLX__AVERAGE_PROBIT = 0,
                              PLX__AVERAGE_MAP = 1,
                              PLX__AVERAGE_EXACT = 2
} plx__averaging;

/* Probability of +1 at a point whose latent value is normal with this mean and variance. */
double plx__averaged_probability(plx__averaging how, double mean, double variance);

#endif
