/*
 * Choosing the representation, building the graph, scoring and storing; the solvers are in learner.c.
 */
#include "methods/regularised/one_view.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "linalg/knn.h"

const char *const plx__one_view_extra[] = {"concat", "joined", NULL};

/* ---- choosing the view ---- */

/* One view is what all of them joined are. No name stood for the first view once; models of that time still say so. */
static plx_status choose_view(plx_index *out, plx__run *run)
{
    const plx__one_view_params *p = run->params;
    bool concat = strcmp(p->view, "concat") == 0, joined = strcmp(p->view, "joined") == 0;
    *out = 0;
    if (!p->view[0]) return PLX_OK;
    if (!concat && !joined) return plx__require_view(out, run, p->view, "view");
    if (run->problem->n_views > 1) *out = joined ? PLX__VIEW_JOINED : PLX__VIEW_CONCAT;
    return PLX_OK;
}

/* New data need only the view that was learned from. */
static plx_status mark_view(plx__run *run, plx_index view)
{
    uint8_t *used = NULL;
    if (run->fitted || view < 0) return PLX_OK;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(run->ctx), run->problem->n_views));
    used[view] = 1;
    return plx__mark_used(run, used);
}

/* ---- the graph ---- */

typedef struct view_graph {
    plx_csr all, own; /* over all samples; over those that have the view */
} view_graph;

static plx_status apply_graph(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const view_graph *g = arg;
    return plx__spmm(ctx, 1.0, plx__ccsr(g->own), x, 0.0, y);
}

static plx_status build_graph(view_graph *g, plx__run *run, const plx__learner *q)
{
    const plx__expansion *x = &q->x;
    plx__graph_settings settings;
    plx__graph_source source = {.rows = x->data.rows,
                                .bound = x->data.bound,
                                .present = x->data.present,
                                .is_kernel = x->data.kernel.kind == PLX__KERNEL_PRECOMPUTED,
                                .view = x->data.name,
                                .run = run};
    if (q->n < 2)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: only one sample has view '%s'; a graph needs two", run->method->name,
                 x->data.name);
    PLX_TRY(plx__graph_settings_of(&settings, run, x->data.name));
    PLX_TRY(plx__view_laplacian(&g->all, run->ctx, &source, &settings));
    g->own = g->all;
    if (q->n == run->problem->n) return PLX_OK;
    plx_csr rows;
    PLX_TRY(plx__csr_select_rows(&rows, plx__scratch(run->ctx), plx__ccsr(g->all), q->sample, q->n));
    return plx__csr_select_cols(&g->own, plx__scratch(run->ctx), plx__ccsr(rows), q->sample, q->n);
}

/* ---- scoring ---- */

/* f becomes what is compared: f + b, f alone when the decision is centred. Samples without the view: the prior, and a
 * zero row in the array. */
static plx_status score(plx__run *run, const plx__expansion *x, plx_mat f)
{
    const plx__one_view_params *own = run->params;
    plx__decision how = PLX__DECIDE_ARGMAX;
    int32_t *label = NULL;
    plx_mat shown;
    plx_cmat b;
    const char *why = NULL;
    PLX_TRY(plx__decision_of(&how, run));
    bool centred = own->bias && how == PLX__DECIDE_CENTRED;
    PLX_TRY(plx__store_shaped(&b, run->ctx, run->fitted ? run->fitted : run->out, "bias", 1, f.cols));
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = begin; i < end && !centred; i++) {
        plx__breathe(run->ctx, i);
        if (x->data.present[i]) plx__axpy(f.data + i * f.ld, 1.0, b.data, f.cols);
    }
    PLX_TRY(plx__require_finite(run, plx__cmat(f), "scores"));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), end - begin));
    PLX_TRY(plx__decide(label, run, f, x->data.present, centred));
    PLX_TRY(plx__rows_clone(&shown, run->ctx, plx__cmat(f), run->kept));
    PLX_TRY(plx__arena_printf(&why, plx__scratch(run->ctx), "lack view '%s'", x->data.name));
    PLX_TRY(plx__prior_rows(run, shown, label, x->data.present, why));
    return plx__outcome_classes(run, label, plx__kept_part(run, shown));
}

/* ---- results of a fit ---- */

static plx_status put_gram(plx__run *run, const plx__learner *q)
{
    plx_index n = run->problem->n;
    plx_mat g, own;
    if (!plx__wanted(run, "gram")) return PLX_OK;
    PLX_TRY(plx__store_new(&g, run->out, "gram", n, n));
    if (q->n == n) return plx__expansion_gram(run->ctx, &q->x, q->sample, n, g);
    PLX_TRY(plx__arena_mat(&own, plx__scratch(run->ctx), q->n, q->n));
    PLX_TRY(plx__expansion_gram(run->ctx, &q->x, q->sample, q->n, own));
    for (plx_index i = 0; i < q->n; i++)
        for (plx_index j = 0; j < q->n; j++) g.data[q->sample[i] * n + q->sample[j]] = own.data[i * q->n + j];
    return PLX_OK;
}

static plx_status put_laplacian(plx__run *run, const view_graph *g)
{
    plx_mat l;
    if (!g->all.ptr || !plx__wanted(run, "laplacian")) return PLX_OK;
    PLX_TRY(plx__store_new(&l, run->out, "laplacian", run->problem->n, run->problem->n));
    plx__csr_to_dense(l, plx__ccsr(g->all));
    return PLX_OK;
}

static plx_status put_results(plx__run *run, plx__learner *q, const view_graph *g)
{
    plx_mat f;
    PLX_TRY(plx__store_put(run->out, "bias", plx__cmat_of(q->b, 1, q->y.cols)));
    PLX_TRY(plx__sample_array(&f, run, "scores", q->y.cols));
    PLX_TRY(plx__put_rows(run, "alpha", q->sample, q->expanded, plx__cmat(q->alpha)));
    if (q->hinge) PLX_TRY(plx__put_rows(run, "dual", q->sample, q->labelled, plx__cmat(q->dual)));
    PLX_TRY(put_gram(run, q));
    PLX_TRY(put_laplacian(run, g));
    PLX_TRY(plx__prior_put(run->out, run->ctx, run->problem, q->x.data.present));
    PLX_TRY(plx__learner_values(q, run, f));
    PLX_TRY(plx__learner_objective(&run->info->objective, q, run, f));
    PLX_TRY(score(run, &q->x, f));
    run->info->iterations = q->iterations;
    if (q->iterations || !q->converged) run->info->converged = q->converged;
    if (!q->converged) plx__warn_unsolved(run, q->iterations, 0);
    return PLX_OK;
}

plx_status plx__one_view_fit(plx__run *run, bool hinge, bool graph)
{
    const plx__one_view_params *p = run->params;
    plx_index view = 0;
    view_graph g = {0};
    plx__learner q = {.gamma_a = p->gamma_a,
                      .gamma_i = graph ? p->gamma_i : 0.0,
                      .tol = p->tol,
                      .bias = p->bias,
                      .hinge = hinge,
                      .solver = (plx__system_solver)p->solver,
                      .most_pivots = p->pivots};
    PLX_TRY(choose_view(&view, run));
    PLX_TRY(mark_view(run, view));
    PLX_TRY(plx__expansion_prepare(&q.x, run, view));
    PLX_TRY(plx__learner_collect(&q, run));
    if (!q.l)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: no labelled sample has view '%s'; label one or choose another view",
                 run->method->name, q.x.data.name);
    if (graph) {
        PLX_TRY(build_graph(&g, run, &q));
        q.graph = apply_graph;
        q.graph_arg = &g;
    }
    PLX_TRY(plx__learner_solve(&q, run));
    return put_results(run, &q, &g);
}

plx_status plx__one_view_predict(plx__run *run)
{
    plx__expansion x = {0};
    plx_index view = 0;
    plx_mat f;
    PLX_TRY(choose_view(&view, run));
    PLX_TRY(plx__expansion_prepare(&x, run, view));
    PLX_TRY(plx__sample_array(&f, run, "scores", run->problem->n_classes));
    PLX_TRY(plx__expansion_values(run, &x, f));
    return score(run, &x, f);
}

/* ---- memory ---- */

/* The view that will be used, without complaining: fit does that. */
static plx_index likely_view(const plx__run *run)
{
    const plx__one_view_params *p = run->params;
    for (plx_index v = 0; v < run->problem->n_views; v++)
        if (strcmp(run->problem->views[v].name, p->view) == 0) return v;
    if (run->problem->n_views == 1 || !p->view[0]) return 0;
    return strcmp(p->view, "concat") == 0 ? PLX__VIEW_CONCAT : PLX__VIEW_JOINED;
}

/* ---- several processes ---- */

/* Pivots are a road of their own. Kernel matrices are nobody's to divide; a small one that nobody asked for each
 * process has for itself. Told before anything is done for such a kernel. */
plx_status plx__one_view_check(plx__run *run)
{
    const plx__one_view_params *p = run->params;
    plx_index view = likely_view(run);
    const char *name = plx__prepared_name(run, view);
    plx__value kernel = {0};
    if (p->pivots > 0 && p->solver != PLX__SYSTEM_AUTO && p->solver != PLX__SYSTEM_PRIMAL)
        PLX_FAIL(run->ctx, PLX_E_ARG, "pivots = %lld: solver = %s works on the whole kernel; leave one of them out",
                 (long long)p->pivots, plx__system_solver_name((plx__system_solver)p->solver));
    if (plx__ranks(run->ctx) == 1 || p->pivots > 0) return PLX_OK;
    PLX_TRY(plx__view_value(&kernel, run->ctx, run->settings, "kernel", name));
    if (view >= 0 && run->problem->views[view].kind == PLX_VIEW_KERNEL) kernel.word = PLX__KERNEL_PRECOMPUTED;
    if (kernel.word != PLX__KERNEL_LINEAR && kernel.word != PLX__KERNEL_COSINE)
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "%s: kernel = %s (view '%s') is not distributed: one process has to fit it; linear and cosine are%s",
                 run->method->name, plx__kernel_name((plx__kernel_kind)kernel.word), name,
                 plx__param_find(run->method->params, "pivots") ? ", and any with pivots > 0" : "");
    if (p->solver != PLX__SYSTEM_AUTO && p->solver != PLX__SYSTEM_PRIMAL)
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "%s: solver = %s is not distributed: one process has to fit it; primal is", run->method->name,
                 plx__system_solver_name((plx__system_solver)p->solver));
    return PLX_OK;
}

bool plx__one_view_own_rows(plx__run *run, const plx_dataset *data)
{
    return plx__kernels_by_own_rows(run, data, plx__one_view_extra);
}

/* What is made of labelled samples among themselves is small; the others are seen once, for their scores. */
bool plx__one_view_streams(plx__run *run, const plx_dataset *data)
{
    const plx__one_view_params *p = run->params;
    if (p->pivots > 0) return false; /* all rows for every one of them */
    for (plx_index v = 0; v < data->n_views; v++)
        if (strcmp(data->views[v].name, p->view) == 0)
            return plx__kernel_has_rows(run, p->view, data->views[v].kind == PLX_VIEW_KERNEL);
    for (plx_index v = 0; v < data->n_views; v++)
        if (!plx__kernel_has_rows(run, data->views[v].name, data->views[v].kind == PLX_VIEW_KERNEL)) return false;
    for (const char *const *name = plx__one_view_extra; *name; name++)
        if (!plx__kernel_has_rows(run, *name, false)) return false;
    return true;
}

double plx__one_view_bytes(const plx__run *run, bool hinge, bool graph)
{
    const plx__one_view_params *p = run->params;
    plx_index view = likely_view(run);
    double n = (double)run->problem->n, arrays = (plx__wanted(run, "gram") ? 16 : 0) * n * n;
    bool smooth = graph && p->gamma_i > 0;
    if (p->pivots > 0) return arrays + plx__learner_pivot_bytes(run, view, p->pivots);
    if (graph && !run->fitted) {
        plx__value k = {0};
        if (plx__view_value(&k, run->ctx, run->settings, "graph_k", plx__prepared_name(run, view))) return INFINITY;
        plx__graph_settings settings = {.k = (plx_index)k.number};
        arrays += plx__similarity_bytes(run->problem->n, &settings) + (plx__wanted(run, "laplacian") ? 8 : 0) * n * n;
        arrays += plx__graph_search_bytes(run, view, plx__prepared_name(run, view), settings.k);
    }
    return arrays + plx__learner_bytes(run, view, (plx__system_solver)p->solver, smooth, hinge);
}
