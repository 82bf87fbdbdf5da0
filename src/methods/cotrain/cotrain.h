/*
 * cotrain inside: settings, and the learner of a view behind one small interface.
 */
#ifndef PLX_METHODS_COTRAIN_H
#define PLX_METHODS_COTRAIN_H

#include "run/problem.h"
#include "linalg/distance.h"

enum { CT_NB = 0, CT_LOGISTIC = 1, CT_RLS = 2, CT_SVM = 3, CT_GP = 4 };
enum { CT_RANDOM = 0, CT_INDEX = 1 };
enum { CT_GIVEN = 0, CT_TAUGHT = 1 };

typedef struct ct_params {
    int base, pool_order, prior;
    plx_index rounds, pool;
    plx__value grow;
    double smoothing, prior_smoothing, reg;
} ct_params;

/* The state of one view's learner; what prediction needs is in the model. */
typedef struct ct_learner {
    const plx__view *view;
    plx_mat theta, prior; /* nb: K x d, 1 x K (0: class left out); theta holds counts until the last training */
    double *total;        /* nb: K, masses of the counts */
    plx_index *members;   /* nb: K, training samples */
    const double *shares; /* nb, prior=given: K, shares among the given labels */
    plx_mat weights;      /* linear learners: (d+1) x K, the bias last */
    const int32_t *label; /* gp: n, the labelled set it is to be fitted to */
    bool counted;         /* nb: the counts are those of the labelled set */
    bool brief;           /* nb: the rows to be scored have fewer entries than the view has features */
    bool final;           /* this was, or the next fit is, the last training */
    uint8_t *warned;      /* nb: K, classes already named as left out */
    bool able;            /* some class was learned: scores mean something */
    bool teaches;         /* it may label samples for the others */
} ct_learner;

/* Room in the model (fit), or the arrays found there (predict). */
plx_status plx__ct_open_learner(ct_learner *h, plx__run *run, const plx__view *view);

/* From the samples with a class (label >= 0) that have the view. With h->final the result goes into the model. */
plx_status plx__ct_train(ct_learner *h, plx__run *run, const int32_t *label);

/* More labelled samples, before the next training. */
plx_status plx__ct_add_samples(ct_learner *h, plx__run *run, const plx_index *sample, plx_index count,
                               const int32_t *label);

/* Log scores (rows x K) of some rows of the view. */
plx_status plx__ct_score(const ct_learner *h, plx__run *run, plx__points rows, plx_mat scores);

/* An array of the view in the model: new when fitting, found when predicting. */
plx_status plx__ct_array(plx_mat *out, plx__run *run, const char *name, const plx__view *view, plx_index rows,
                         plx_index cols);

/* The rows listed, in scratch, of divided views on all processes; or those of them that are this process's by the cut. */
plx_status plx__ct_rows(plx__points *out, plx_context *ctx, const plx__view *view, const plx_index *rows,
                        plx_index count);
plx_status plx__ct_own_rows(plx__points *out, plx_context *ctx, const plx__view *view, const plx_index *rows,
                            plx_index count, plx__slabs cut);

/* ---- ct_nb.c ---- */
plx_status plx__ct_open_nb(ct_learner *h, plx__run *run);
plx_status plx__ct_train_nb(ct_learner *h, plx__run *run, const int32_t *label);
plx_status plx__ct_add_to_nb(ct_learner *h, plx__run *run, const plx_index *sample, plx_index count,
                             const int32_t *label);
plx_status plx__ct_score_nb(const ct_learner *h, plx__run *run, plx__points rows, plx_mat scores);

/* ---- ct_gp.c ---- */
plx_status plx__ct_score_gp(const ct_learner *h, plx__run *run, plx__points rows, plx_mat scores);
double plx__ct_gp_bytes(const plx__problem *problem, plx_index view); /* with every sample labelled */

#endif
