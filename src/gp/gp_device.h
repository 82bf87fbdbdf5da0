/*
 * The learner of gp_learn.h on a device: bases, covariance, gradient matrix and factors are made and stay there, and only
 * vectors come back; of the final state also the factors, which the model keeps.
 */
#ifndef PLX_GP_GP_DEVICE_H
#define PLX_GP_GP_DEVICE_H

#include "gp/gp_learn.h"
#include "gp/laplace.h"
#include "kernel/device_kernel.h"

typedef struct plx__gp_device {
    plx__laplace_device at;
    plx_device_mat *base; /* one per kernel, see plx__view_kernel_base */
} plx__gp_device;

/* What plx__gp_learn() costs with at most max_iter iterations, and the scores of `rows` samples. */
plx__device_work plx__gp_learn_work(const plx__gp_learner *g, plx_index max_iter);

/* Everything the evaluations need, in g->on. */
plx_status plx__gp_device_reserve(plx__gp_learner *g, plx__device *dev);

/* One evaluation at the kernels' present settings; `factors`: the state is complete. */
plx_status plx__gp_device_evaluate(plx__gp_learner *g, plx__gp_state *state, bool factors, double *gradient);

/* plx__gp_score of all samples, where a device does it; *done false: it does not. */
plx_status plx__gp_device_scores(bool *done, plx__gp_learner *g, const plx__gp_state *state, plx_mat mean,
                                 plx_mat variance);

/* State with K there; see plx__gp_fit. gradient: M to on->m; factors: copied back, else the state has none. They are
 * large: where `keep` is the model's arena they are read into it and need no copy (state->kept). */
plx_status plx__gp_device_fit(plx__gp_state *out, plx__arena *arena, plx_context *ctx, const plx__laplace_device *on,
                              const plx__gp_targets *targets, bool gradient, bool factors, plx__arena *keep);

#endif
