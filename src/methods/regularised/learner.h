/*
 * One kernel classifier per class in one view, with or without a graph: what rls, svm, laprls, lapsvm, colaprls and
 * colapsvm have in common.
 *
 *     min_f,b  (1/l) sum_i V(y_i, f(x_i) + b) + gamma_A |f|_K^2 + gamma_I f'Lf
 *
 * over the l labelled of the n samples that have the view; V is the squared or the hinge loss, y = +-1 one class
 * against the rest, b = 0 without bias.
 */
#ifndef PLX_METHODS_REGULARISED_LEARNER_H
#define PLX_METHODS_REGULARISED_LEARNER_H

#include "kernel/kernel_system.h"
#include "kernel/pivot_expansion.h"
#include "run/prior.h"

typedef struct plx__learner {
    plx__expansion x;
    plx_index *sample, n;   /* those that have the view */
    plx_index *labelled, l; /* positions in `sample` */
    plx_mat y;              /* l x K, +-1 */
    double gamma_a, gamma_i, tol;
    bool bias, hinge;
    bool one_class_ok; /* hinge: labels of one class are not an error but give the constant f = 0, b = +-1 */
    plx__system_solver solver;
    plx_index most_pivots;  /* squared loss without a graph: the kernel is reduced to so many; 0: it is not */
    plx__coupling_fn graph; /* y = L x over the n samples; not used when gamma_i is 0 */
    void *graph_arg;

    plx__expansion near; /* hinge without a graph: x with the rows of the labelled samples on every process, and */
    plx_index *at;       /* where they are there */

    plx_mat alpha;             /* coefficients in K of all n samples, or, without a graph, of the labelled ones */
    const plx_index *expanded; /* positions in `sample` of its rows; NULL: all */
    plx_mat dual;              /* l x K, hinge only */
    plx_mat weights;           /* cols x K when the solver found them; data NULL otherwise */
    plx__kernel_pivots pivots; /* of most_pivots: the weights are those of its rows */
    double *b;                 /* K */
    double *mean; /* mean row of the features or of the kernel when the system was solved for f less its mean */
    plx_index iterations;
    bool converged;
} plx__learner;

/* Fills sample, labelled and y for the view in x. l may be 0. */
plx_status plx__learner_collect(plx__learner *q, plx__run *run);

/* Chooses a solver where it is auto, says which in the log, and fits. */
plx_status plx__learner_solve(plx__learner *q, plx__run *run);

/* Stores what prediction needs; then f (samples whose results stay here x K) without offset. */
plx_status plx__learner_values(plx__learner *q, plx__run *run, plx_mat f);

/* Sum over classes of the objective at the values f. */
plx_status plx__learner_objective(double *out, const plx__learner *q, plx__run *run, plx_mat f);

/* Rows of `from` (one per sample of the list, or of its positions) into an n x K array of the model; other rows are
 * zero. */
plx_status plx__put_rows(plx__run *run, const char *name, const plx_index *sample, const plx_index *position,
                         plx_cmat from);

/* Bytes plx__learner_solve and plx__learner_values take for a view (-1: concat) and its asked-for solver. */
double plx__learner_bytes(const plx__run *run, plx_index view, plx__system_solver asked, bool graph, bool hinge);

/* The same with pivots, squared loss and no graph. */
double plx__learner_pivot_bytes(const plx__run *run, plx_index view, plx_index most_pivots);

/* Rows that are not usable get the class shares of the model and its most frequent class; the warning says `why`. Scores
 * and labels are those that stay here. */
plx_status plx__prior_rows(plx__run *run, plx_mat scores, int32_t *label, const uint8_t *usable, const char *why);

/* Tells which limit ended a solver before it reached tol; max_iter 0: it has none. */
void plx__warn_unsolved(const plx__run *run, plx_index iterations, plx_index max_iter);

#endif
