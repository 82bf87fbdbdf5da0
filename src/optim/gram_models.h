/*
 * Linear classifiers of two classes in terms of inner products: f = K b minimises the same functionals as the learners
 * of optim/linear_models.h, with w = X'b and K = X X'. For fewer rows than columns.
 */
#ifndef PLX_OPTIM_GRAM_MODELS_H
#define PLX_OPTIM_GRAM_MODELS_H

#include "core/ctx.h"

typedef enum plx__linear_learner { PLX__LEARN_SVM = 0, PLX__LEARN_LOGISTIC = 1 } plx__linear_learner;

/* k: l x l; t: l values +-1; b: l, holds the start and receives the optimum, by Newton's method with exact steps:
 * svm      min 1/2 b'Kb + (1/lambda) sum_i max(0, 1 - t_i f_i)^2
 * logistic min lambda/2 b'Kb + sum_i log(1 + exp(-t_i f_i)) */
plx_status plx__gram_fit(plx_context *ctx, plx_cmat k, const double *t, plx__linear_learner learner, double lambda,
                         double *b, const char *what);

#endif
