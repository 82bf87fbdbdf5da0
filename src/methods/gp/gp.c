/*
 * gp: Gaussian process regression, and logistic classification by the Laplace approximation.
 *
 * The covariance is one kernel on a view or on all views joined, or the sum of a kernel per view; its amplitudes and
 * widths and the noise maximise the evidence of the labelled samples. Only labelled samples shape the posterior:
 * every other sample is predicted from its covariances with them, by blocks.
 */
#include "methods/gp/gp.h"

#include <string.h>

#include "frame/problem.h"

enum { BLOCK_ROWS = 512, MANY_LABELLED = 20000 };

static const plx__param_spec param_specs[] = {
    PLX__CHOICE(gp_params, task, "classification", "classification|regression",
                "What the labels are: classes, or numbers to be predicted."),
    PLX__TEXT(gp_params, view, "all", "View to learn from, or all."),
    PLX__CHOICE(gp_params, combine, "concat", "concat|sum",
                "With view=all: one kernel on all features joined, or the sum of one kernel per view."),
    PLX__CHOICE(gp_params, missing, "error", "error|mean|zero",
                "A missing view or value: refuse, or put the column mean or 0 in its place; with combine=sum a missing "
                "view adds nothing."),
    PLX__REAL_ABOVE(gp_params, noise, "0.1", 0, "Regression: variance of the labels around the function."),
    PLX__BOOL(gp_params, center, "1", "Regression: take the mean of the labels off first and add it to predictions."),
    PLX__CHOICE(gp_params, averaging, "probit", "probit|map|exact",
                "Probabilities: by the probit formula, at the latent mean alone, or by integration."),
    PLX__CHOICE(gp_params, optimize, "evidence", "none|evidence",
                "Keep amplitude, width and noise as given, or start there and maximise the evidence."),
    PLX__INT(gp_params, max_iter, "200", 1, 1e9, "Most iterations of that."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"kernel", "n x n", PLX__ON_REQUEST, "Covariance of all samples."},
    {"mean", "n x Q", 0, "Latent posterior mean; Q = 1 for regression and two classes, else one column per class."},
    {"variance", "n x Q", 0, "Latent posterior variance."},
    {"probability", "n x K", PLX__SOMETIMES, "Class probabilities; only with task=classification."},
    {"hyper", "P x 1", 0, "Per kernel amplitude and (rbf) width, then the noise (regression)."},
    {"evidence_gradient", "P x 1", 0, "Derivative of the log evidence by the logarithm of each of these."},
    {"alpha", "l x Q", PLX__SAMPLE_ORDER, "Weights of the labelled samples: mean = covariance times alpha."},
    {NULL, NULL, 0, NULL}};

/* ---- scoring ---- */

static plx_status score_block(gp *g, const plx__gp_state *s, plx_index begin, plx_index end, plx_mat mean,
                              plx_mat variance)
{
    plx__mark mark = plx__arena_mark(plx__scratch(g->ctx));
    plx_mat k;
    double *self = NULL;
    PLX_TRY(plx__arena_mat(&k, plx__scratch(g->ctx), end - begin, s->n));
    PLX_TRY(plx__arena_f64(&self, plx__scratch(g->ctx), end - begin, 1));
    for (plx_index v = 0; v < g->count; v++) {
        PLX_TRY(plx__view_kernel_values(g->ctx, &g->kernels[v], begin, end, &g->refs[v], v > 0, k));
        PLX_TRY(plx__view_kernel_self(g->run, &g->kernels[v], begin, end, self));
    }
    PLX_TRY(plx__gp_predict(g->ctx, s, k, self, plx__sub(mean, begin, 0, end - begin, s->q),
                            plx__sub(variance, begin, 0, end - begin, s->q)));
    plx__arena_rewind(plx__scratch(g->ctx), mark);
    return plx__report(g->ctx, "score", end, mean.rows, NAN);
}

static plx_status score(gp *g, const plx__gp_state *s, double offset)
{
    plx_index n = g->run->problem->n;
    plx_mat mean, variance;
    PLX_TRY(plx__store_new(&mean, g->run->out, "mean", n, s->q));
    PLX_TRY(plx__store_new(&variance, g->run->out, "variance", n, s->q));
    for (plx_index at = 0; at < n; at += BLOCK_ROWS)
        PLX_TRY(score_block(g, s, at, plx__min(n, at + BLOCK_ROWS), mean, variance));
    for (plx_index i = 0; i < n * s->q; i++) mean.data[i] += offset;
    plx__gp_outcome outcome = {.regression = g->regression,
                               .averaging = (plx__averaging)g->set->averaging,
                               .mean = plx__cmat(mean),
                               .variance = plx__cmat(variance)};
    return plx__gp_tell(g->run, &outcome);
}

/* ---- the kernel on request ---- */

static plx_status covariance(gp *g, const plx__reference *refs, plx_mat out)
{
    for (plx_index v = 0; v < g->count; v++)
        PLX_TRY(plx__view_kernel_values(g->ctx, &g->kernels[v], 0, out.rows, &refs[v], v > 0, out));
    return PLX_OK;
}

static plx_status everybody(plx__reference **refs, plx_index **sample, gp *g)
{
    plx_index n = g->run->problem->n;
    PLX_TRY(plx__arena_i64(sample, plx__scratch(g->ctx), n));
    for (plx_index i = 0; i < n; i++) (*sample)[i] = i;
    PLX_TRY(PLX__ARENA_NEW(refs, plx__scratch(g->ctx), g->count));
    for (plx_index v = 0; v < g->count; v++)
        PLX_TRY(plx__reference_of(&(*refs)[v], g->ctx, &g->kernels[v], *sample, n));
    return PLX_OK;
}

/* All fitted samples stay in the model when held-out ones will be compared with them. */
static plx_status keep_everybody(gp *g, const plx__reference *refs)
{
    plx__value heldout;
    double n = (double)g->run->problem->n;
    PLX_TRY(plx__pv(&heldout, g->ctx, g->run->settings, "heldout", NULL));
    if (!heldout.text[0]) return PLX_OK;
    PLX_TRY(plx__store_put(g->run->out, "_fitted", (plx_cmat){&n, 1, 1, 1}));
    for (plx_index v = 0; v < g->count; v++)
        PLX_TRY(plx__reference_store(g->run, &refs[v], "fitted", g->kernels[v].name));
    return PLX_OK;
}

static plx_status put_kernel(gp *g)
{
    plx_index n = g->run->problem->n, *sample = NULL;
    plx__reference *refs = NULL;
    plx_mat k;
    if (!plx__wanted(g->run, "kernel")) return PLX_OK;
    PLX_TRY(everybody(&refs, &sample, g));
    PLX_TRY(plx__store_new(&k, g->run->out, "kernel", n, n));
    PLX_TRY(covariance(g, refs, k));
    return keep_everybody(g, refs);
}

/* New samples among themselves; the similarities of different ones are not known in a precomputed view. */
static plx_status new_kernel(gp *g, plx_mat k)
{
    plx_index n = g->run->problem->n, *sample = NULL;
    plx__reference *refs = NULL;
    double *self = NULL;
    PLX_TRY(everybody(&refs, &sample, g));
    PLX_TRY(plx__arena_f64(&self, plx__scratch(g->ctx), n, 1));
    for (plx_index v = 0; v < g->count; v++) {
        if (g->kernels[v].kernel.kind == PLX__KERNEL_PRECOMPUTED)
            PLX_TRY(plx__view_kernel_self(g->run, &g->kernels[v], 0, n, self));
        else PLX_TRY(plx__view_kernel_values(g->ctx, &g->kernels[v], 0, n, &refs[v], true, k));
    }
    for (plx_index i = 0; i < n; i++) k.data[i * k.ld + i] += self[i];
    return PLX_OK;
}

static plx_status put_new_kernel(gp *g)
{
    plx_index n = g->run->problem->n, *column = NULL;
    plx__reference *refs = NULL;
    double fitted = 0;
    plx_mat own, cross;
    if (!plx__wanted(g->run, "kernel") || !plx__store_find(g->run->fitted, "_fitted")) return PLX_OK;
    PLX_TRY(plx__store_scalar(&fitted, g->ctx, g->run->fitted, "_fitted"));
    if (!(fitted >= 1 && fitted < 1e9)) PLX_FAIL(g->ctx, PLX_E_FORMAT, "the model's number of samples is out of range");
    PLX_TRY(plx__store_new(&own, g->run->out, "kernel", n, n));
    PLX_TRY(plx__store_new(&cross, g->run->out, "_cross.kernel", n, (plx_index)fitted));
    PLX_TRY(plx__arena_i64(&column, plx__scratch(g->ctx), cross.cols));
    for (plx_index i = 0; i < cross.cols; i++) column[i] = i;
    PLX_TRY(PLX__ARENA_NEW(&refs, plx__scratch(g->ctx), g->count));
    for (plx_index v = 0; v < g->count; v++)
        PLX_TRY(plx__reference_load(&refs[v], g->run, &g->kernels[v], "fitted", column, cross.cols));
    PLX_TRY(covariance(g, refs, cross));
    return new_kernel(g, own);
}

/* ---- the method ---- */

static void warn_of_size(gp *g)
{
    char size[PLX__SIZE_BYTES];
    double n = (double)g->targets.n;
    if (g->targets.n > MANY_LABELLED)
        plx__warn(g->ctx, "gp: %lld labelled samples; each of several covariance matrices takes %s",
                  (long long)g->targets.n, plx__size_text(size, 8.0 * n * n));
}

static plx_status open_targets(gp *g)
{
    PLX_TRY(plx__gp_targets_of(&g->targets, g->run, g->regression, g->set->center, NULL, "samples"));
    PLX_TRY(plx__arena_printf(&g->targets.what, plx__scratch(g->ctx), "gp: matrix for view '%s'",
                              g->count > 1 ? "all" : g->kernels[0].name));
    warn_of_size(g);
    for (plx_index v = 0; v < g->count; v++)
        PLX_TRY(plx__reference_of(&g->refs[v], g->ctx, &g->kernels[v], g->targets.sample, g->targets.n));
    return PLX_OK;
}

static plx_status fit(plx__run *run)
{
    gp g;
    plx__gp_state state;
    plx_mat hyper, gradient;
    PLX_TRY(plx__gp_open(&g, run));
    PLX_TRY(open_targets(&g));
    PLX_TRY(plx__store_new(&hyper, run->out, "hyper", g.n_hyper, 1));
    PLX_TRY(plx__store_new(&gradient, run->out, "evidence_gradient", g.n_hyper, 1));
    PLX_TRY(plx__gp_learn(&g, &state, gradient.data));
    memcpy(hyper.data, g.hyper, (size_t)g.n_hyper * sizeof(double));
    PLX_TRY(plx__gp_store(run, &state, &g.targets));
    for (plx_index v = 0; v < g.count; v++) PLX_TRY(plx__reference_store(run, &g.refs[v], "rows", g.kernels[v].name));
    PLX_TRY(plx__gp_tell_jitter(run, state.jitter));
    PLX_TRY(score(&g, &state, g.targets.offset));
    return put_kernel(&g);
}

static plx_status predict(plx__run *run)
{
    gp g;
    plx__gp_state state;
    plx_index *sample = NULL;
    double offset = 0;
    PLX_TRY(plx__gp_open(&g, run));
    PLX_TRY(plx__gp_load(&state, &sample, &offset, run, g.regression));
    for (plx_index v = 0; v < g.count; v++)
        PLX_TRY(plx__reference_load(&g.refs[v], run, &g.kernels[v], "rows", sample, state.n));
    PLX_TRY(score(&g, &state, offset));
    return put_new_kernel(&g);
}

/* Prepared and filled views, the labelled rows twice, and l x l matrices: one per kernel, the covariance, the gradient,
 * an inverse, two factors in the making and Q kept twice. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const gp_params *p = run->params;
    bool all = strcmp(p->view, "all") == 0;
    double n = (double)x->n, l = run->fitted ? 0.0 : (double)x->n_labelled, rows = 0, kernels = 0;
    double q = (double)plx__gp_problems(p->task == GP_REGRESSION, x->n_classes);
    for (plx_index v = 0; v < x->n_views; v++) {
        if (!all && strcmp(x->views[v].name, p->view) != 0) continue;
        kernels++;
        rows += plx__prepared_bytes(run, v) +
                2 * (x->views[v].sparse ? 12.0 * (double)x->views[v].nonzeros : 8.0 * n * (double)x->views[v].cols);
    }
    if (all && p->combine == GP_CONCAT) kernels = 1;
    double block = (run->fitted ? n : l) * (double)BLOCK_ROWS * 3;
    return rows +
           8 * ((kernels + 5 + 2 * q) * l * l + block + n * (4 * q + 4) + (plx__wanted(run, "kernel") ? n * n : 0));
}

static const plx__param_table tables[] = {param_specs,       plx__kernel_params,  plx__amplitude_params,
                                          plx__scale_params, plx__heldout_params, NULL};

const plx__method plx__method_gp = {
    .name = "gp",
    .title = "Gaussian process on one view, all joined, or a sum of kernels",
    .summary = "Supervised baseline with variances: exact regression, or classification by the Laplace approximation, "
               "with hyper-parameters by maximum evidence.",
    .citation = "rasmussen2006gp",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_MISSING_VALUES | PLX_CAN_SPARSE |
                    PLX_CAN_KERNEL_VIEWS | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PRESENT,
    .params_size = sizeof(gp_params),
    .params = tables,
    .arrays = array_specs,
    .transform = "mean",
    .memory_remedy = "label fewer samples or raise --memory",
    .memory = memory,
    .fit = fit,
    .predict = predict};
