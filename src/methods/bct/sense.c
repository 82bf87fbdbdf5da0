/*
 * acquire features --with bct: which missing view of which sample makes the consensus function most certain.
 */
#include "methods/bct/sense_gain.h"

#include <math.h>
#include <string.h>

#include "active/acquirer.h"
#include "active/batch.h"
#include "active/label_ranking.h"
#include "core/rng.h"
#include "run/problem.h"

static const plx__param_spec sense_specs[] = {
    PLX__CHOICE(sense_params, strategy, "mi", "mi|var|random",
                "Rank by the information about the consensus, by its posterior variance at the sample, or at random."),
    PLX__CHOICE(sense_params, expectation, "point", "point|moments|sample",
                "What an unseen view may hold: the components' means, moments of the kernel in closed form (linear and "
                "rbf), or draws."),
    PLX__INT(sense_params, samples, "200", 1, 1e6, "expectation=sample: draws per component; more is more exact."),
    PLX__REAL_ABOVE(sense_params, vague, "1e-6", 0,
                    "Precision given to samples without any view, so that their candidates have a finite score."),
    PLX__PARAM_END};

static const plx__param_table tables[] = {sense_specs,       plx__acquire_params, plx__density_params,
                                          plx__label_params, plx__bct_params,     plx__kernel_params,
                                          plx__scale_params, plx__heldout_params, NULL};

static const plx__array_spec array_specs[] = {
    {"gain", "n x m", PLX__SOMETIMES,
     "Information in nats of every candidate, not divided by its cost; 0 where there is none. With strategy=var or "
     "random only on request."},
    {"posterior_variance", "n x 1", 0,
     "Posterior variance of the consensus, mean over the classes when more than two."},
    {"mixing", "n x K", PLX__SOMETIMES, "Weight of every component given what is seen of the sample; as gain."},
    {"gmm_weight", "K x 1", PLX__SOMETIMES, "Weights of the components; as gain."},
    {"gmm_mean.VIEW", "K x d", PLX__SOMETIMES,
     "Means of the components in the view, as the method scales it; as gain."},
    {"gmm_cov.VIEW", "K*d x d", PLX__ON_REQUEST | PLX__SOMETIMES, "Covariances, one below the other."},
    {"covered", "n x 1", 0, "1: the sample has at least one view."},
    {"mean", "n x Q", 0, "Latent posterior mean of the consensus."},
    {"variance", "n x Q", 0, "Latent posterior variance, 0 where no view is there."},
    {"probability", "n x K", PLX__SOMETIMES, "Class probabilities; only with task=classification."},
    {"hyper", "P x 1", 0, "Per view amplitude and (rbf) width, then the view variances, then the noise (regression)."},
    {"view_weight", "m x 1", 0, "Share of every view in the precision."},
    {"alpha", "l x Q", PLX__SAMPLE_ORDER, "Weights of the labelled samples: mean = kernel times alpha."},
    {NULL, NULL, 0, NULL}};

/* ---- checks ---- */

static plx_status check(plx__run *run)
{
    const sense_params *p = run->params;
    plx__value density;
    PLX_TRY(plx__view_value(&density, run->ctx, run->settings, "density", NULL));
    if (density.word == 1 && p->bct.task == BCT_REGRESSION)
        PLX_FAIL(run->ctx, PLX_E_ARG, "density = class: needs classes; use density=free with task=regression");
    if (p->bct.task != BCT_CLASSIFICATION && p->bct.task != BCT_REGRESSION)
        PLX_FAIL(run->ctx, PLX_E_ARG, "task = %s: acquire needs classification or regression",
                 p->bct.task == BCT_KERNEL ? "kernel" : "cluster");
    return PLX_OK;
}

static plx_status check_views(sense *s)
{
    static const char *const names[] = {"linear", "rbf", "poly", "cosine", "precomputed"};
    const plx__view *views = s->run->problem->views;
    for (plx_index j = 0; j < s->b.m; j++) {
        const bct_view *v = &s->b.views[j];
        plx__kernel_kind kind = v->k.kernel.kind;
        if (v->n == s->b.n) continue;
        if (views[v->view].kind == PLX_VIEW_KERNEL)
            PLX_FAIL(s->ctx, PLX_E_DATA,
                     "sense: view '%s' is a kernel view; unseen features cannot be modelled; leave out the view or the "
                     "samples that lack it",
                     v->k.name);
        if (s->set->expectation == SENSE_MOMENTS && kind != PLX__KERNEL_LINEAR && kind != PLX__KERNEL_RBF)
            PLX_FAIL(s->ctx, PLX_E_ARG,
                     "sense: expectation=moments is available for linear and rbf kernels only (view '%s' uses %s)",
                     v->k.name, names[kind]);
    }
    return PLX_OK;
}

/* ---- density ---- */

static plx_status density_views(plx__density_view **out, plx_index *count, sense *s)
{
    *count = 0;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(s->ctx), s->b.m));
    PLX_TRY(plx__arena_i64(&s->modelled, plx__scratch(s->ctx), s->run->problem->n_views));
    for (plx_index j = 0; j < s->b.m; j++) {
        const bct_view *v = &s->b.views[j];
        bool features = s->run->problem->views[v->view].kind != PLX_VIEW_KERNEL;
        s->modelled[v->view] = features ? *count : -1;
        if (features) (*out)[(*count)++] = (plx__density_view){v->k.name, v->k.rows, v->k.present};
        s->candidates += features ? s->b.n - v->n : 0;
    }
    return PLX_OK;
}

static bool wants_gains(const sense *s)
{
    bool wanted = s->set->strategy == SENSE_MI;
    for (plx_index i = 0; i < s->run->n_wanted; i++) {
        const char *name = s->run->wanted[i];
        wanted |= strcmp(name, "gain") == 0 || strcmp(name, "mixing") == 0 || strncmp(name, "gmm_", 4) == 0;
    }
    return wanted;
}

/* Posterior covariance as K_c - V V'. */
static plx_status open_explained(sense *s)
{
    PLX_TRY(PLX__ARENA_NEW(&s->explained, plx__scratch(s->ctx), s->state.q));
    for (plx_index c = 0; c < s->state.q; c++) {
        PLX_TRY(plx__mat_clone(&s->explained[c], plx__scratch(s->ctx), plx__cmat(s->b.kl)));
        PLX_TRY(plx__gp_explained(s->ctx, &s->state, c, s->explained[c]));
    }
    return PLX_OK;
}

static plx_status find_gains(sense *s, const plx__density_view *views, plx_index n_views)
{
    plx_mat gain;
    if (!s->candidates && plx__density_check(s->run, views, n_views) != PLX_OK) {
        plx__clear_error(s->ctx); /* nothing is missing, so no density is needed */
        return plx__store_new(&gain, s->run->out, "gain", s->b.n, s->run->problem->n_views);
    }
    PLX_TRY(plx__density_fit(&s->density, s->run, views, n_views));
    PLX_TRY(plx__density_put(&s->density, s->run));
    PLX_TRY(plx__store_new(&gain, s->run->out, "gain", s->b.n, s->run->problem->n_views));
    PLX_TRY(open_explained(s));
    if (s->batch) PLX_TRY(PLX__ARENA_NEW(&s->kept, plx__scratch(s->ctx), s->b.m * s->state.q));
    for (plx_index j = 0; j < s->b.m; j++) {
        PLX_TRY(plx__report(s->ctx, "gain", j + 1, s->b.m, NAN));
        if (s->modelled[s->b.views[j].view] >= 0) PLX_TRY(plx__sense_gains(gain, s, &s->b.views[j]));
    }
    return plx__require_finite(s->run, plx__cmat(gain), "gains");
}

/* ---- candidates ---- */

static plx_status put_variance(plx_mat *out, sense *s)
{
    plx_index q = s->state.q;
    PLX_TRY(plx__store_new(out, s->run->out, "posterior_variance", s->b.n, 1));
    for (plx_index i = 0; i < s->b.n; i++) {
        double sum = 0;
        for (plx_index c = 0; c < q; c++) sum += s->variance.data[i * s->variance.ld + c];
        out->data[i] = s->b.place[i] < 0 ? 1.0 / s->set->vague : sum / (double)q;
    }
    return PLX_OK;
}

static double information(const sense *s, plx_cmat gain, plx_mat variance, plx_index i, plx_index view)
{
    uint64_t row = (uint64_t)s->run->problem->row[i];
    if (s->set->strategy == SENSE_MI) return gain.data[i * gain.ld + view];
    if (s->set->strategy == SENSE_VAR) return variance.data[i];
    return plx__rng_uniform(s->ctx->seed, PLX__STREAM('s', 'n', 'r', 'd', view), row);
}

static plx_status list_candidates(sense *s, plx_mat variance)
{
    plx__candidate *list = NULL;
    plx_index count = 0, *sample = NULL, *number = NULL;
    plx_cmat gain = {0};
    if (s->set->strategy == SENSE_MI) PLX_TRY(plx__store_dense(&gain, s->ctx, s->run->out, "gain"));
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(s->ctx), s->candidates));
    PLX_TRY(plx__arena_i64(&sample, plx__scratch(s->ctx), s->candidates));
    PLX_TRY(plx__arena_i64(&number, plx__scratch(s->ctx), s->candidates));
    for (plx_index j = 0; j < s->b.m; j++) {
        const bct_view *v = &s->b.views[j];
        double cost = 1;
        if (s->modelled[v->view] < 0) continue;
        PLX_TRY(plx__view_cost(&cost, s->run, v->view));
        for (plx_index i = 0; i < s->b.n; i++)
            if (!v->k.present[i] && plx__may_acquire(s->run, i, v->view)) {
                sample[count] = i;
                number[count] = j;
                list[count++] = (plx__candidate){s->run->problem->row[i], v->view,
                                                 information(s, gain, variance, i, v->view), cost, 0};
            }
    }
    if (s->batch && s->kept) PLX_TRY(plx__sense_batch(s, list, count, sample, number, s->batch));
    return plx__candidates_put(s->run, list, count);
}

/* ---- the method's rule ---- */

static plx_status fit(plx__run *run)
{
    sense s = {.run = run, .ctx = run->ctx, .set = run->params};
    plx__density_view *views = NULL;
    plx_index n_views = 0;
    plx_mat variance;
    PLX_TRY(plx__batch_size(&s.batch, run));
    if (s.batch && s.set->strategy != SENSE_MI)
        PLX_FAIL(run->ctx, PLX_E_ARG,
                 "batch = %lld: strategy = %s does not tell what one view leaves to another; use mi",
                 (long long)s.batch, s.set->strategy == SENSE_VAR ? "var" : "random");
    PLX_TRY(plx__bct_open(&s.b, run));
    PLX_TRY(plx__require_seen_views(run, run->problem->views));
    PLX_TRY(check_views(&s));
    PLX_TRY(density_views(&views, &n_views, &s));
    PLX_TRY(plx__bct_fit(&s.b, &s.state, true));
    PLX_TRY(plx__store_dense(&s.variance, s.ctx, run->out, "variance"));
    PLX_TRY(put_variance(&variance, &s));
    if (wants_gains(&s)) PLX_TRY(find_gains(&s, views, n_views));
    PLX_TRY(plx__sense_logdet(&run->info->objective, &s));
    return list_candidates(&s, variance);
}

/* ---- memory ---- */

/* Beyond bct: all factors, a copy of the kernel, the density (rows, responsibilities, covariances) and the tables of a
 * view, whose width is that of all components together. */
static double memory(const plx__run *run)
{
    const plx__problem *p = run->problem;
    const sense_params *set = run->params;
    plx__value components = {.word = -1, .number = 1}, most = {.number = 5}, shape = {.word = 0}, batch = {.number = 0};
    double n = (double)p->n, d = 0, widest = 0, base = plx__method_bct.memory(run);
    if (run->fitted) return base;
    if (plx__view_value(&components, run->ctx, run->settings, "components", NULL) != PLX_OK) return base;
    if (plx__view_value(&most, run->ctx, run->settings, "max_components", NULL) != PLX_OK) return base;
    if (plx__view_value(&shape, run->ctx, run->settings, "covariance", NULL) != PLX_OK) return base;
    if (plx__view_value(&batch, run->ctx, run->settings, "batch", NULL) != PLX_OK) return base;
    double k = components.word >= 0 ? most.number : components.number;
    for (plx_index v = 0; v < p->n_views; v++) {
        d += (double)p->views[v].cols;
        widest = fmax(widest, (double)p->views[v].cols);
    }
    bool dense = set->bct.pivots == 0;
    double square = dense ? n * n : n * (double)set->bct.pivots;
    double rank = set->expectation == SENSE_POINT    ? 1
                  : set->expectation == SENSE_SAMPLE ? fmin((double)set->samples, n)
                                                     : fmin(widest, n);
    double mixture = n * d * (k + 2) + 3 * k * (shape.word == PLX__COV_FULL ? d * d : d);
    double table = 4 * n * k * rank + 3 * k * k * rank * rank;
    double problems = set->bct.task == BCT_CLASSIFICATION && p->n_classes > 2 ? (double)p->n_classes : 1;
    if (batch.number >
        0) /* tables of all views and problems stay, with P W over all samples; and what each taken told */
        table = problems * ((double)p->n_views * (table + n * k * rank) + fmin(batch.number, n) * n * (k * rank + 1));
    return base + 8 * (((double)p->n_views + 2) * square + mixture + table + n * (double)p->n_labelled);
}

const plx__method plx__acquire_bct = {
    .name = "bct",
    .title = "Active sensing with Bayesian co-training",
    .summary = "Ranks missing views of samples by what measuring them would tell about the consensus function.",
    .citation = "yu2011bct",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .zero_says_nothing = plx__bct_zero_says_nothing,
    .keep_empty_views = true, /* refused: somebody must have shown what a view is worth */
    .extra_views = plx__acquire_extra_views,
    .params_size = sizeof(sense_params),
    .params = tables,
    .arrays = array_specs,
    .memory_remedy = "set pivots (for example pivots=300), use fewer samples, or raise the memory limit",
    .check = check,
    .memory = memory,
    .fit = fit,
    .predict = plx__bct_predict};
