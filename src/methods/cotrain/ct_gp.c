/*
 * base=gp: the classifier of method gp with its defaults (linear kernel, amplitude by maximum evidence) on one view.
 *
 * A Gaussian process is its labelled samples, so there is nothing small to carry from one round to the next: the
 * learner is fitted where its scores are asked for, and the last one goes into the model.
 */
#include <math.h>
#include <string.h>

#include "methods/cotrain/cotrain.h"
#include "gp/gp_learn.h"
#include "mixture/naive_bayes.h"

enum { MAX_ITER = 200, BLOCK_ROWS = 512 };

typedef struct gp_of_view {
    plx__gp_learner learner;
    plx__gp_state state;
    plx__view_kernel kernel;
    plx__reference ref;
} gp_of_view;

static void open_kernel(gp_of_view *g, plx__run *run, const plx__view *view)
{
    *g = (gp_of_view){.learner = {.run = run, .ctx = run->ctx, .count = 1}};
    g->kernel = (plx__view_kernel){.name = view->name, .rows = plx__view_points(view)};
    g->kernel.kernel = (plx__kernel){.kind = PLX__KERNEL_LINEAR, .amplitude = 1.0};
    g->learner.kernels = &g->kernel;
    g->learner.refs = &g->ref;
}

/* ---- fitting ---- */

static plx_status fit_view(gp_of_view *g, const ct_learner *h, plx__run *run)
{
    plx__problem problem = *run->problem;
    plx__run own = *run;
    plx__lbfgs_result result;
    double gradient = 0;
    open_kernel(g, run, h->view);
    problem.label = h->label;
    own.problem = &problem;
    PLX_TRY(plx__gp_targets_of(&g->learner.targets, &own, false, false, h->view->present, "samples"));
    PLX_TRY(plx__arena_printf(&g->learner.targets.what, plx__scratch(run->ctx), "cotrain: matrix for view '%s'",
                              h->view->name));
    PLX_TRY(plx__reference_of(&g->ref, run->ctx, &g->kernel, g->learner.targets.sample, g->learner.targets.n));
    PLX_TRY(plx__gp_open_hyper(&g->learner, (plx_cmat){0}, 0.0));
    return plx__gp_learn(&g->learner, MAX_ITER, &g->state, &gradient, &result);
}

static plx_status put(plx__run *run, const char *what, const char *view, plx_cmat values)
{
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, run->ctx, what, view));
    return plx__store_put(run->out, name, values);
}

static plx_status keep(const gp_of_view *g, plx__run *run)
{
    const plx__gp_state *s = &g->state;
    const char *view = g->kernel.name;
    PLX_TRY(put(run, "_amplitude", view, (plx_cmat){g->learner.hyper, 1, 1, 1}));
    PLX_TRY(put(run, "_factor", view, s->factor));
    PLX_TRY(put(run, "_root", view, s->root));
    PLX_TRY(put(run, "_alpha", view, s->alpha));
    if (s->weights.data) return put(run, "_posterior_weights", view, s->weights);
    return plx__reference_store(run, &g->ref, "rows", view);
}

/* ---- from the model ---- */

static plx_status get(plx_cmat *out, plx__run *run, const char *what, const char *view, plx_index rows, plx_index cols)
{
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, run->ctx, what, view));
    *out = (plx_cmat){0};
    if (rows < 0 && cols < 0 && !plx__store_find(run->fitted, name)) return PLX_OK;
    return plx__store_shaped(out, run->ctx, run->fitted, name, rows, cols);
}

static plx_status load_view(gp_of_view *g, const ct_learner *h, plx__run *run)
{
    plx__gp_state *s = &g->state;
    const char *view = h->view->name;
    plx_cmat amplitude;
    open_kernel(g, run, h->view);
    PLX_TRY(get(&amplitude, run, "_amplitude", view, 1, 1));
    PLX_TRY(plx__gp_open_hyper(&g->learner, amplitude, 0.0));
    s->q = plx__gp_problems(false, run->problem->n_classes);
    PLX_TRY(get(&s->weights, run, "_posterior_weights", view, -1, -1));
    PLX_TRY(get(&s->alpha, run, "_alpha", view, -1, s->q));
    s->n = s->alpha.rows;
    plx_index order = s->weights.data ? h->view->cols : s->n;
    PLX_TRY(get(&s->factor, run, "_factor", view, s->q * order, order));
    PLX_TRY(get(&s->root, run, "_root", view, s->q, s->n));
    if (!s->weights.data) return plx__reference_load(&g->ref, run, &g->kernel, "rows", NULL, s->n);
    return get(&s->weights, run, "_posterior_weights", view, h->view->cols, s->q);
}

/* ---- scores ---- */

plx_status plx__ct_score_gp(const ct_learner *h, plx__run *run, plx__points rows, plx_mat scores)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    gp_of_view g;
    plx_mat mean, variance;
    plx_index n = scores.rows;
    PLX_TRY(run->fitted ? load_view(&g, h, run) : fit_view(&g, h, run));
    if (h->final && !run->fitted) PLX_TRY(keep(&g, run));
    g.kernel.rows = rows;
    g.state.spread = (plx_cmat){0}; /* known variances are of samples by number, and these rows have other numbers */
    PLX_TRY(plx__arena_mat(&mean, plx__scratch(run->ctx), n, g.state.q));
    PLX_TRY(plx__arena_mat(&variance, plx__scratch(run->ctx), n, g.state.q));
    for (plx_index at = 0; at < n; at += BLOCK_ROWS)
        PLX_TRY(plx__gp_score(&g.learner, &g.state, at, plx__min(n, at + BLOCK_ROWS), mean, variance));
    plx__gp_log_probabilities(plx__cmat(mean), plx__cmat(variance), scores);
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

double plx__ct_gp_bytes(const plx__problem *p, plx_index view)
{
    double l = (double)p->n, d = (double)p->views[view].cols, q = (double)p->n_classes;
    if (plx__gp_in_weight_space(true, d, l)) return 8 * (3 * l * d + (5 + 2 * q) * d * d + 3 * (double)BLOCK_ROWS * d);
    return 8 * ((6 + 2 * q) * l * l + 3 * (double)BLOCK_ROWS * l);
}
