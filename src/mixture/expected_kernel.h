/*
 * Expected kernels between rows of which only a part is known: given what it has, row i is the mixture
 * sum_z pi_iz N(M_iz, V_iz), independent of every other row. Closed forms for rbf, linear and polynomial kernels.
 *
 *   rbf     |I + (V_iz+V_jz')/w^2|^-1/2 exp(-1/2 (M_iz-M_jz')'(w^2 I + V_iz + V_jz')^-1 (M_iz-M_jz'))
 *   linear  xbar_i . xbar_j with xbar_i = sum_z pi_iz M_iz
 *   poly    p-th moment of x.y + coef0 from its cumulants
 *
 * (rbf and poly: averaged over all z and z' with weights pi_iz pi_jz').
 *
 * A row with itself is the same random vector, not a copy: 1, E|x|^2 and the p-th moment of x.x + coef0.
 */
#ifndef PLX_MIXTURE_EXPECTED_KERNEL_H
#define PLX_MIXTURE_EXPECTED_KERNEL_H

#include "mixture/incomplete_mixture.h"

typedef enum plx__expected_kind {
    PLX__EXPECT_LINEAR = 0,
    PLX__EXPECT_RBF = 1,
    PLX__EXPECT_POLY = 2
} plx__expected_kind;

enum { PLX__EXPECT_MAX_DEGREE = 64 };

typedef struct plx__expected {
    plx__expected_kind kind;
    double width;     /* rbf */
    plx_index degree; /* poly: 1 .. PLX__EXPECT_MAX_DEGREE */
    double coef0;
    double factor; /* of every value */
} plx__expected;

/* Chosen rows of moments that keep their covariances. */
typedef struct plx__expected_rows {
    const plx__moments *moments;
    const plx_index *row; /* count rows; NULL: all */
    plx_index count;
} plx__expected_rows;

/* out (a.count x b.count). With the same moments on both sides equal rows are the same sample; with the same list too
 * the result is exactly symmetric. One factorisation per pair of patterns and components; (pairs of patterns) m^3 +
 * (pairs of rows) d flops for rbf, (pairs of rows) degree m^2 for poly. */
plx_status plx__expected_kernel(plx_context *ctx, const plx__expected *kernel, plx__expected_rows a,
                                plx__expected_rows b, plx_mat out);

#endif
