/*
 * Support vector machine with the hinge loss, in the dual, on a given Gram matrix:
 *
 *     max_a  sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j K_ij,   0 <= a_i <= C,   and sum_i a_i y_i = 0 with a free bias;
 *     f(x) = sum_i a_i y_i K(x, x_i) + b.
 *
 * The primal is 1/2 |f|_K^2 + C sum_i max(0, 1 - y_i f(x_i)). With e_i = y_i - sum_j a_j y_j K_ij the bias is the mean
 * of e_i over 0 < a_i < C; when there is no such i, the midpoint between max{e_i : a_i can move f(x_i) up} and
 * min{e_i : a_i can move it down}.
 */
#ifndef PLX_OPTIM_SVM_DUAL_H
#define PLX_OPTIM_SVM_DUAL_H

#include "linalg/dense.h"

typedef struct plx__svm_options {
    double cost;           /* C > 0 */
    bool bias;             /* free, unregularised offset */
    double tol;            /* largest KKT violation allowed, in units of y f(x); 0: 1e-8 */
    double gap;            /* relative duality gap to reach as well; 0: not asked for */
    plx_index max_iter;    /* steps; 0: 10^7, at least 1000 l. Of svm_linear.h: sweeps; 0: 20,000 */
    const double *outside; /* part of a larger problem: what samples outside k add to f(x_i); a holds the start then */
    const char *what;      /* starts messages, e.g. "svm: class 'a'" */
} plx__svm_options;

typedef struct plx__svm_result {
    double bias;         /* b; 0 without bias */
    double dual, primal; /* values of the two objectives at the result */
    double violation;    /* of the KKT conditions */
    plx_index iterations;
    bool converged; /* violation <= tol (or what rounding of K allows) and the gap as asked */
} plx__svm_result;

/* k: l x l, symmetric; y: l values +-1; a: l results. Memory: 4 l doubles and the Gram matrix of at most 1000 free
 * samples. With a bias, y of one sign only is PLX_E_DATA. Not reaching the tolerance is an outcome, not a failure. Serial
 * code that allocates from scratch: for the calling thread. */
plx_status plx__svm_dual(plx_context *ctx, plx_cmat k, const double *y, const plx__svm_options *options, double *a,
                         plx__svm_result *result);

/* Whether the objectives of the result are as close as `gap` asks. */
bool plx__svm_closed(const plx__svm_result *result, const plx__svm_options *options);

/* A small objective asks for more than a small violation: takes back `converged` and a tenth of *tol while the gap is
 * open. False when tol is below what rounding leaves. */
bool plx__svm_tighten(plx__svm_result *result, const plx__svm_options *options, double *tol);

/* Everything of a result but iterations and converged, from a and e (see above) of l samples. */
void plx__svm_values(plx__svm_result *result, const double *y, double *a, double *e, plx_index l,
                     const plx__svm_options *options);

#endif
