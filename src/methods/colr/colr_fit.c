/*
 * Fitting colr: generalised EM with Gamma hyper-priors, or Newton's method at fixed precisions.
 *
 * E-step: every precision is its posterior mean given w. M-step: one step on the quadratic lower bound of the log
 * posterior (the logistic curvature is at most 1/4),
 *
 *     w <- w + [P(lambda) + X'X/4]^-1 (X'(t - p) - P(lambda) w),
 *
 * so that the log posterior never decreases. X'(t - p) - P(lambda) w at these precisions is its gradient, so the step
 * leads uphill, and longer ones are taken while they gain. With fixed precisions the problem is convex and the curvature
 * in the matrix is the true one; steps are halved until they gain.
 */
#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "linalg/iterative.h"
#include "methods/colr/colr.h"
#include "optim/klr.h"

enum { MAX_HALVINGS = 40, MAX_NEWTON = 200, MAX_DOUBLINGS = 20 };

typedef struct learner {
    colr *c;
    plx_context *ctx;
    plx_index positive; /* the class */
    colr_fit *fit;
    plx_mat s;                                   /* n x m scores at w */
    plx_mat trial_s, step_s;                     /* of w + scale step, of the step: scores are linear in w */
    double *trial, *gradient, *step, *quadratic; /* d, d, d, n_graph */
    double co;                                   /* w'Cm w */
    plx_mat weight;                              /* n x m curvatures of the labelled samples */
    plx_mat information, a;                      /* dense: X' diag(weight) X, the step's matrix */
    double *diagonal;                            /* d, of the preconditioner */
} learner;

static double target(const learner *l, plx_index i) { return l->c->label[i] == l->positive ? 1.0 : -1.0; }

void plx__colr_curvature(const colr *c, plx_cmat s, bool labelled, plx_mat out)
{
    for (plx_index i = c->begin; i < c->end; i++)
        for (plx_index j = 0; j < c->m; j++) {
            double x = s.data[i * s.ld + j];
            bool counts = c->views[j].present[i] && (!labelled || c->label[i] >= 0);
            out.data[i * out.ld + j] = counts ? plx__sigmoid(x) * plx__sigmoid(-x) : 0.0;
        }
}

/* ---- log posterior ---- */

typedef struct samples {
    const learner *l;
    plx_cmat s;
} samples;

static plx_status add_likelihood(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const samples *q = arg;
    const colr *c = q->l->c;
    (void)ctx;
    for (plx_index i = begin; i < end; i++)
        for (plx_index j = 0; j < c->m && c->label[i] >= 0; j++)
            if (c->views[j].present[i]) *table += plx__log_sigmoid(target(q->l, i) * q->s.data[i * q->s.ld + j]);
    return PLX_OK;
}

static double gamma_term(const colr_gamma *g, double quadratic)
{
    return (g->alpha + 0.5 * g->rank) * log(g->beta + 0.5 * quadratic);
}

/* At w with scores s; leaves the quadratic forms behind. */
static plx_status log_posterior(double *out, learner *l, const double *w, plx_cmat s)
{
    const colr *c = l->c;
    const colr_lambda *lambda = &l->fit->lambda;
    PLX_TRY(plx__colr_quadratic(c, w, s, &l->co, l->quadratic));
    PLX_TRY(plx__colr_sum(c, 1, add_likelihood, &(samples){l, s}, out));
    if (c->set->hyper == COLR_FIXED) {
        *out -= 0.5 * lambda->co * l->co;
        for (plx_index e = 0; e < c->d; e++) *out -= 0.5 * lambda->ridge[e] * w[e] * w[e];
        for (plx_index g = 0; g < c->n_graph; g++) *out -= 0.5 * lambda->graph[g] * l->quadratic[g];
        return PLX_OK;
    }
    *out -= gamma_term(&c->co, l->co);
    for (plx_index e = 0; e < c->d; e++) *out -= gamma_term(&c->ridge, w[e] * w[e]);
    for (plx_index g = 0; g < c->n_graph; g++) *out -= gamma_term(&c->graph[g], l->quadratic[g]);
    return PLX_OK;
}

/* ---- E-step ---- */

static double precision(const colr_gamma *g, double quadratic)
{
    return (g->alpha + 0.5 * g->rank) / (g->beta + 0.5 * quadratic);
}

static void find_precisions(learner *l)
{
    const colr *c = l->c;
    colr_lambda *lambda = &l->fit->lambda;
    if (c->set->hyper == COLR_FIXED) return;
    for (plx_index e = 0; e < c->d; e++) lambda->ridge[e] = precision(&c->ridge, l->fit->w[e] * l->fit->w[e]);
    for (plx_index g = 0; g < c->n_graph; g++) lambda->graph[g] = precision(&c->graph[g], l->quadratic[g]);
    lambda->co = precision(&c->co, l->co);
}

/* ---- M-step ---- */

/* X'(t - p) - P w. */
static plx_status find_gradient(learner *l)
{
    const colr *c = l->c;
    plx__mark mark = plx__arena_mark(plx__scratch(l->ctx));
    plx_mat error;
    PLX_TRY(plx__arena_mat(&error, plx__scratch(l->ctx), c->n, c->m));
    for (plx_index i = c->begin; i < c->end; i++)
        for (plx_index j = 0; j < c->m; j++) {
            double y = target(l, i);
            bool counts = c->label[i] >= 0 && c->views[j].present[i];
            error.data[i * c->m + j] = counts ? y * plx__sigmoid(-y * l->s.data[i * c->m + j]) : 0.0;
        }
    PLX_TRY(plx__colr_apply_prior(c, &l->fit->lambda, l->fit->w, plx__cmat(l->s), l->gradient));
    plx__scale(l->gradient, -1.0, c->d);
    PLX_TRY(plx__colr_pull(c, plx__cmat(error), l->gradient));
    plx__arena_rewind(plx__scratch(l->ctx), mark);
    return PLX_OK;
}

/* The bound's curvature: 1/4 wherever there is a label. */
static void bound_weights(learner *l)
{
    const colr *c = l->c;
    for (plx_index i = c->begin; i < c->end; i++)
        for (plx_index j = 0; j < c->m; j++)
            l->weight.data[i * c->m + j] = c->label[i] >= 0 && c->views[j].present[i] ? 0.25 : 0.0;
}

/* y = [P + X' diag(weight) X] x. */
static plx_status apply_matrix(void *arg, plx_context *ctx, double *y, const double *x)
{
    learner *l = arg;
    const colr *c = l->c;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat s;
    PLX_TRY(plx__arena_mat(&s, plx__scratch(ctx), c->n, c->m));
    PLX_TRY(plx__colr_scores(c, x, s));
    PLX_TRY(plx__colr_apply_prior(c, &l->fit->lambda, x, plx__cmat(s), y));
    for (plx_index i = c->begin * c->m; i < c->end * c->m; i++) s.data[i] *= l->weight.data[i];
    PLX_TRY(plx__colr_pull(c, plx__cmat(s), y));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status no_optimum(learner *l)
{
    PLX_FAIL(l->ctx, PLX_E_NUMERIC, "colr: no finite optimum; set lambda_ridge > 0");
}

/* step = matrix^-1 gradient. */
static plx_status find_step(learner *l)
{
    const colr *c = l->c;
    plx_status st = PLX_OK;
    if (!c->dense) {
        plx__iter_options o = {.tol = 1e-12, .diagonal = l->diagonal, .phase = "step"};
        PLX_TRY(plx__colr_diagonal(c, &l->fit->lambda, plx__cmat(l->weight), l->diagonal));
        for (plx_index e = 0; e < c->d; e++)
            if (!(l->diagonal[e] > 0)) return no_optimum(l);
        memset(l->step, 0, (size_t)c->d * sizeof *l->step);
        return plx__cg(l->ctx, (plx__operator){c->d, apply_matrix, l}, l->gradient, l->step, &o, NULL);
    }
    plx__colr_precision(c, &l->fit->lambda, plx__cmat(l->information), l->a);
    memcpy(l->step, l->gradient, (size_t)c->d * sizeof *l->step);
    if (c->set->hyper == COLR_FIXED && c->set->lambda_ridge == 0) {
        st = plx__cholesky(l->ctx, l->a, NULL);
        if (st == PLX_E_NUMERIC) return no_optimum(l);
        PLX_TRY(st);
    } else
        PLX_TRY(plx__cholesky_jitter(l->ctx, l->a, NULL, "colr: the posterior precision", NULL,
                                     "scale the views or increase lambda_ridge"));
    return plx__chol_solve_vec(l->ctx, plx__cmat(l->a), l->step);
}

/* Numbers of this process's rows of an n x m array, and where they begin. */
static plx_index own_count(const colr *c) { return (c->end - c->begin) * c->m; }
static double *own_rows(const colr *c, plx_mat s) { return s.data + c->begin * c->m; }

static plx_status trial_at(learner *l, double scale, double *value)
{
    const colr *c = l->c;
    memcpy(l->trial, l->fit->w, (size_t)l->c->d * sizeof *l->trial);
    plx__axpy(l->trial, scale, l->step, l->c->d);
    if (own_count(c)) memcpy(own_rows(c, l->trial_s), own_rows(c, l->s), (size_t)own_count(c) * sizeof(double));
    plx__axpy(own_rows(c, l->trial_s), scale, own_rows(c, l->step_s), own_count(c));
    return log_posterior(value, l, l->trial, plx__cmat(l->trial_s));
}

static void accept(learner *l, double value)
{
    memcpy(l->fit->w, l->trial, (size_t)l->c->d * sizeof *l->trial);
    if (own_count(l->c))
        memcpy(own_rows(l->c, l->s), own_rows(l->c, l->trial_s), (size_t)own_count(l->c) * sizeof(double));
    l->fit->objective = value;
}

/* ---- the two ways ---- */

static bool is_small(double change, double objective, double tol)
{
    return fabs(change) < tol * fmax(1.0, fabs(objective));
}

/* One step on the bound always gains; longer ones do as long as they do, and cost no factorisation. */
static plx_status stretch(learner *l, double *value)
{
    double scale = 1, next = 0;
    PLX_TRY(trial_at(l, scale, value));
    if (l->c->set->gem_tol == 0) return PLX_OK; /* so many iterations are asked for: plain ones */
    for (int t = 0; t < MAX_DOUBLINGS; t++) {
        PLX_TRY(trial_at(l, 2 * scale, &next));
        if (!(next > *value)) break;
        *value = next;
        scale *= 2;
    }
    return trial_at(l, scale, value); /* leaves its scores and quadratic forms behind */
}

static plx_status learn_gamma(learner *l, plx__trace *trace)
{
    colr *c = l->c;
    bound_weights(l);
    if (c->dense) PLX_TRY(plx__colr_information(c, plx__cmat(l->weight), l->information));
    while (!l->fit->converged && l->fit->iterations < c->set->gem_iter && !plx__out_of_time(l->ctx)) {
        double before = l->fit->objective, value = 0;
        find_precisions(l);
        PLX_TRY(find_gradient(l));
        PLX_TRY(find_step(l));
        PLX_TRY(plx__colr_scores(c, l->step, l->step_s));
        PLX_TRY(stretch(l, &value));
        accept(l, value);
        l->fit->converged = is_small(value - before, value, c->set->gem_tol);
        PLX_TRY(plx__iterate(c->run, trace, "gem", ++l->fit->iterations, c->set->gem_iter, value));
    }
    find_precisions(l);
    return PLX_OK;
}

/* The longest of 1, 1/2, 1/4, ... steps that gains, beyond rounding; none at the optimum. */
static plx_status move(learner *l, bool *moved)
{
    double scale = 1;
    *moved = false;
    for (int t = 0; t < MAX_HALVINGS && !*moved; t++, scale *= 0.5) {
        double value = 0;
        PLX_TRY(trial_at(l, scale, &value));
        *moved = value >= l->fit->objective - 1e-14 * (1 + fabs(l->fit->objective));
        if (*moved) accept(l, value);
    }
    return PLX_OK;
}

static plx_status count_large(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const samples *q = arg;
    plx_index m = q->l->c->m;
    (void)ctx;
    for (plx_index i = begin * m; i < end * m; i++) *table += !(fabs(q->s.data[i]) <= 1e-3);
    return PLX_OK;
}

/* Separable data without a ridge: steps go on changing scores by about 1 while the likelihood runs out. */
static plx_status check_optimum(learner *l)
{
    const colr *c = l->c;
    double large = 0;
    if (c->set->lambda_ridge > 0) return PLX_OK;
    PLX_TRY(plx__colr_scores(c, l->step, l->trial_s));
    PLX_TRY(plx__colr_sum(c, 1, count_large, &(samples){l, plx__cmat(l->trial_s)}, &large));
    return large > 0 ? no_optimum(l) : PLX_OK;
}

/* Newton's method converges quadratically: one step beyond the tolerance brings all digits. */
static plx_status learn_fixed(learner *l, plx__trace *trace)
{
    colr *c = l->c;
    bool moved = true, once_more = true;
    plx_index most = plx__min(c->set->gem_iter, MAX_NEWTON);
    while (moved && (!l->fit->converged || once_more) && l->fit->iterations < most && !plx__out_of_time(l->ctx)) {
        double before = l->fit->objective;
        once_more = !l->fit->converged;
        plx__colr_curvature(c, plx__cmat(l->s), true, l->weight);
        if (c->dense) PLX_TRY(plx__colr_information(c, plx__cmat(l->weight), l->information));
        PLX_TRY(find_gradient(l));
        PLX_TRY(find_step(l));
        PLX_TRY(plx__colr_scores(c, l->step, l->step_s));
        PLX_TRY(move(l, &moved));
        l->fit->converged |= !moved || is_small(l->fit->objective - before, before, fmax(c->set->gem_tol, 1e-12));
        PLX_TRY(plx__iterate(c->run, trace, "newton", ++l->fit->iterations, most, l->fit->objective));
    }
    return l->fit->iterations ? check_optimum(l) : PLX_OK;
}

/* ---- the whole ---- */

static plx_status open_learner(learner *l)
{
    const colr *c = l->c;
    plx__arena *scratch = plx__scratch(l->ctx);
    double **vectors[] = {&l->trial, &l->gradient, &l->step, &l->diagonal};
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) PLX_TRY(plx__arena_f64(vectors[v], scratch, c->d, 1));
    PLX_TRY(plx__arena_f64(&l->quadratic, scratch, c->n_graph, 1));
    PLX_TRY(plx__arena_mat(&l->s, scratch, c->n, c->m));
    PLX_TRY(plx__arena_mat(&l->trial_s, scratch, c->n, c->m));
    PLX_TRY(plx__arena_mat(&l->step_s, scratch, c->n, c->m));
    PLX_TRY(plx__arena_mat(&l->weight, scratch, c->n, c->m));
    if (!c->dense) return PLX_OK;
    PLX_TRY(plx__arena_mat(&l->information, scratch, c->d, c->d));
    return plx__arena_mat(&l->a, scratch, c->d, c->d);
}

static plx_status open_fit(colr_fit *fit, const colr *c)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    *fit = (colr_fit){.lambda = {.co = c->set->lambda_co}};
    PLX_TRY(plx__arena_f64(&fit->w, scratch, c->d, 1));
    PLX_TRY(plx__arena_f64(&fit->lambda.ridge, scratch, c->d, 1));
    PLX_TRY(plx__arena_f64(&fit->lambda.graph, scratch, c->n_graph, 1));
    for (plx_index e = 0; e < c->d; e++) fit->lambda.ridge[e] = c->set->lambda_ridge;
    for (plx_index g = 0; g < c->n_graph; g++) fit->lambda.graph[g] = c->set->lambda_graph;
    return PLX_OK;
}

/* From the weights of an earlier fit of the same problem, else from 0. */
static plx_status start(learner *l, plx_index q)
{
    const colr *c = l->c;
    const plx__array *warm = c->run->warm ? plx__store_find(c->run->warm, "weights") : NULL;
    plx__mat_fill(l->s, 0.0);
    if (!warm || warm->sparse || warm->dense.rows != c->d || warm->dense.cols != c->q) return PLX_OK;
    for (plx_index e = 0; e < c->d; e++) l->fit->w[e] = warm->dense.data[e * warm->dense.ld + q];
    return plx__colr_scores(c, l->fit->w, l->s);
}

plx_status plx__colr_learn(colr_fit *out, colr *c, plx_index q, plx__trace *trace)
{
    learner l = {.c = c, .ctx = c->ctx, .positive = c->q == 1 ? 1 : q, .fit = out};
    PLX_TRY(open_fit(out, c));
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    PLX_TRY(open_learner(&l));
    PLX_TRY(start(&l, q));
    PLX_TRY(log_posterior(&out->objective, &l, out->w, plx__cmat(l.s)));
    PLX_TRY(c->set->hyper == COLR_FIXED ? learn_fixed(&l, trace) : learn_gamma(&l, trace));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}
