/*
 * kcca: regularised kernel canonical correlation analysis of two or more views.
 *
 * Every view's centred kernel matrix is reduced by partial Gram-Schmidt, Kt_j ~ Z_j Z_j'; the canonical directions w_j
 * are found in the reduced spaces (canon_solve.c). A training sample is at Z_j w_j, any other one at kt . A_j with its
 * centred kernel values kt with the pivots and A_j = Z_j[pivots,:]^-T w_j.
 */
#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "kernel/kernel_basis.h"
#include "linalg/cosine_search.h"
#include "linalg/dense.h"
#include "linalg/factor.h"
#include "methods/cca/kcca.h"

static const plx__param_spec param_specs[] = {
    PLX__REAL(canon_params, gs_threshold, "1e-10", 0, INFINITY,
              "Where partial Gram-Schmidt stops; larger keeps fewer columns and is faster and coarser."),
    PLX__CHOICE(canon_params, gs_stop, "max", "max|sum",
                "What the threshold bounds: the largest residual over the largest diagonal entry, or sum over sum."),
    PLX__INT(canon_params, gs_max, "0", 0, 1e9, "Most columns per view; 0: no limit."), PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"rho", "k x 1", 0, "Regularised canonical values, descending."},
    {"correlation", "k x 1", 0,
     "Mean over the pairs of views in which both projections vary of their correlation; 0: none does."},
    {"projection.VIEW", "n x k", 0, "Coordinates by one view; zero rows where it is missing."},
    {"shared", "n x k", 0, "Mean of the projections of the views a sample has."},
    {"weights.VIEW", "r x k", 0, "Dual weights of the pivots."},
    {"pivots.VIEW", "r x 1", PLX__SAMPLE_NUMBERS, "Row numbers of the pivots in the data set, in pivot order."},
    {"retrieval", "pairs x 5", PLX__MEASURED | PLX__SOMETIMES,
     "retrieval=true: from view, to view, share of mates ranked first, in the first ten, mean reciprocal rank."},
    {"decision", "n x C", PLX__SOMETIMES, "classifier=svm: decision values; two classes: -f and f."},
    {NULL, NULL, 0, NULL}};

static const plx__mean_metric metrics[] = {{"top1", "retrieval", 2}, {"top10", "retrieval", 3}, {NULL, NULL, 0}};

/* ---- fitting ---- */

static plx_status put_pivots(canon *c, const canon_view *v, const plx__pivoted *p)
{
    const char *name = NULL;
    plx_mat out;
    PLX_TRY(plx__view_key(&name, c->ctx, "pivots", v->view->name));
    PLX_TRY(plx__store_new(&out, c->run->out, name, p->rank, 1));
    for (plx_index r = 0; r < p->rank; r++) out.data[r] = (double)c->run->problem->row[v->sample[p->pivot[r]]];
    return PLX_OK;
}

/* Processes divide the rows of Z where all views have the same ones; else a sample would be with several. */
static bool divides(const canon *c) { return c->set->missing == CANON_COMPLETE || c->n_complete == c->n; }

/* Z_j of one view, kept in `arena` with its pivots; what prediction needs goes into the model. */
static plx_status reduce_view(canon *c, canon_view *v, plx__prepared *data, plx__pivoted *p, plx__arena *arena)
{
    plx__pivot_options options = {
        .threshold = c->set->gs_threshold, .stop = (plx__pivot_stop)c->set->gs_stop, .max_rank = c->set->gs_max};
    plx__slab_rows rows = {plx__slabs_cut(v->n, PLX__PANE_ROWS), v->n, NULL};
    plx__kernel_basis basis;
    double largest = 0, centred = 0;
    if (divides(c)) options.rows = &rows;
    PLX_TRY(plx__prepare(data, c->run, v->index));
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    PLX_TRY(plx__kernel_basis_fit(&basis, p, arena, c->ctx, data, v->sample, v->n, c->set->center, &options, &largest,
                                  &centred));
    if (!p->rank || !(centred > 1e-13 * largest))
        PLX_FAIL(c->ctx, PLX_E_DATA, "kcca: view '%s' has no variance; leave it out", v->view->name);
    PLX_TRY(plx__kernel_basis_store(c->run, &basis, v->view->name));
    PLX_TRY(put_pivots(c, v, p));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    plx__info(c->ctx, "kcca: view '%s': %lld of %lld columns", v->view->name, (long long)p->rank, (long long)v->n);
    v->z = plx__points_dense(plx__cmat(p->z));
    v->r = p->rank;
    return PLX_OK;
}

/* A = Z[pivots,:]^-T w: the rows of the pivots are lower triangular. */
static plx_status put_weights(canon *c, const canon_view *v, const void *own, plx_index index)
{
    const plx__pivoted *p = (const plx__pivoted *)own + index;
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    const char *name = NULL;
    plx_mat a, triangle;
    PLX_TRY(plx__view_key(&name, c->ctx, "weights", v->view->name));
    PLX_TRY(plx__store_new(&a, c->run->out, name, p->rank, c->k));
    plx__mat_copy(a, plx__cmat(v->dual.data ? v->dual : v->w));
    if (v->dual.data) return PLX_OK;
    triangle = p->corner;
    if (!triangle.data) PLX_TRY(plx__arena_mat(&triangle, plx__scratch(c->ctx), p->rank, p->rank));
    for (plx_index r = 0; r < p->rank && !p->corner.data; r++)
        memcpy(triangle.data + r * triangle.ld, p->z.data + p->pivot[r] * p->z.ld, (size_t)p->rank * sizeof(double));
    PLX_TRY(plx__tri_solve(c->ctx, plx__cmat(triangle), PLX__T, a));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

/* Through their kernel values with the pivots. */
static plx_status project(canon *c, const canon_view *v, const plx__prepared *data, const plx__store *state,
                          plx_cmat weights, const plx_index *samples, plx_mat out)
{
    plx__kernel_basis basis;
    plx_mat values;
    (void)v;
    PLX_TRY(plx__kernel_basis_load(&basis, c->ctx, state, data, c->set->center, weights.rows));
    PLX_TRY(plx__arena_mat(&values, plx__scratch(c->ctx), out.rows, weights.rows));
    PLX_TRY(plx__kernel_basis_values(c->ctx, &basis, data, samples, out.rows, values));
    return plx__gemm(c->ctx, 1.0, plx__cmat(values), PLX__N, weights, PLX__N, 0.0, out);
}

static const canon_way way = {plx__prepare, put_weights, project};

static plx_status fit_with(plx__run *run, plx__arena *arena)
{
    canon c;
    plx__prepared *data = NULL;
    plx__pivoted *p = NULL;
    bool done = false;
    PLX_TRY(plx__canon_open(&c, run));
    PLX_TRY(PLX__ARENA_NEW(&data, plx__scratch(run->ctx), c.m));
    PLX_TRY(PLX__ARENA_NEW(&p, plx__scratch(run->ctx), c.m));
    for (plx_index v = 0; v < c.m; v++) {
        PLX_TRY(reduce_view(&c, &c.views[v], &data[v], &p[v], arena));
        PLX_TRY(plx__report(run->ctx, "reduce", v + 1, c.m, NAN));
    }
    PLX_TRY(plx__kcca_on_device(&c, &done));
    if (!done) PLX_TRY(plx__kcca_by_samples(&c, p, &done));
    if (!done) PLX_TRY(plx__canon_solve(&c));
    return plx__canon_project(&c, &way, data, p);
}

static plx_status fit(plx__run *run)
{
    plx__arena reduced; /* Z of all views: outlives the kernel matrices in scratch, not the fit */
    plx__arena_init(&reduced, run->ctx);
    plx_status st = fit_with(run, &reduced);
    plx__arena_free(&reduced);
    return st;
}

static plx_status predict(plx__run *run) { return plx__canon_predict(run, &way); }

/* A centred kernel that is not linear is compared with itself, all rows with all; and views that lack different samples
 * have each all rows of Z. */
static bool own_rows(plx__run *run, const plx_dataset *data)
{
    const canon_params *set = run->params;
    for (plx_index v = 0; v < data->n_views; v++) {
        plx__value kernel;
        if (plx__view_value(&kernel, run->ctx, run->settings, "kernel", data->views[v].name) != PLX_OK) return false;
        if (set->center && kernel.word != PLX__KERNEL_LINEAR && kernel.word != PLX__KERNEL_COSINE) return false;
        if (set->missing != CANON_COMPLETE && data->views[v].present_count < data->n) return false;
    }
    return plx__kernels_by_own_rows(run, data, NULL);
}

/* Most columns of Z of a view: linear kernels have no more than features. */
static double most_columns(const plx__run *run, const plx__view *v)
{
    const canon_params *set = run->params;
    double n = (double)run->problem->n, most = set->gs_max > 0 ? fmin((double)set->gs_max, n) : n;
    plx__value kernel;
    if (v->kind == PLX_VIEW_KERNEL || plx__view_value(&kernel, run->ctx, run->settings, "kernel", v->name) != PLX_OK)
        return most;
    bool linear = kernel.word == PLX__KERNEL_LINEAR || kernel.word == PLX__KERNEL_COSINE;
    return linear ? fmin(most, (double)v->cols) : most;
}

/* Rows of Z that a process holds: all, where it forms the kernel matrix, most samples are pivots or views lack
 * samples. */
static double rows_of_z(const plx__run *run)
{
    const canon_params *set = run->params;
    plx_index n = run->problem->n;
    plx__slabs cut = plx__slabs_cut(n, PLX__PANE_ROWS);
    bool few = set->gs_max > 0 && set->gs_max < n / 4;
    cut.alone = !few || set->missing != CANON_COMPLETE;
    return (double)plx__min(n, plx__slabs_most(run->ctx, cut) * cut.rows);
}

/* Prepared rows and their copies, Z of all views; a kernel matrix at a time (or blocks of it) and its columns before
 * they are known to be few, or the reduced problem; results. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const canon_params *set = run->params;
    double n = (double)x->n, views = (double)x->n_views, bytes = 0, order = 0, squares = 0, widest = 0;
    double k = (double)plx__min(set->dim, x->n), limit = set->gs_max > 0 ? fmin((double)set->gs_max, n) : n;
    double held = rows_of_z(run), tables = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        double own = (view->sparse ? 1.5 : 1) * plx__held_values(view, x->n), r = most_columns(run, view);
        bytes += plx__prepared_bytes(run, v) + 8 * (own + held * r + (double)view->cols * fmin(r, n) + r * k);
        widest = fmax(widest, 2 * own);
        order += r;
        squares += r * r;
        tables = fmax(tables, r * r);
    }
    if (run->fitted) return bytes + 8 * (n * (limit + 2 * k * (views + 1)) + 512 * n);
    bool full = n <= 6000 && !(set->gs_max > 0 && (double)set->gs_max < n / 4);
    double block = (double)plx__min(512, PLX__PANE_ROWS);
    double reduce = widest + (full ? n * n + n * limit : block * n + 3 * limit * held) + 52 * n;
    double solve = squares + (x->n_views > 2 ? 2 * order * order : 5 * squares);
    bytes += 8 * (fmax(reduce, solve) + n * k * (views + 3));
    if (plx__ranks(run->ctx) > 1) bytes += plx__row_passes_bytes(run->ctx, x->n, tables);
    if (set->retrieval) bytes += plx__cosine_search_bytes(run->ctx, x->n, x->n, (plx_index)k) + 16 * n * (k + 2);
    if (set->classifier == CANON_SVM) bytes += 8 * (double)x->n_labelled * (double)x->n_labelled;
    return bytes;
}

static const plx__param_table tables[] = {
    plx__canon_params, param_specs,         plx__kernel_params,    plx__amplitude_params,
    plx__scale_params, plx__heldout_params, plx__zero_rows_params, NULL};

const plx__method plx__method_kcca = {
    .name = "kcca",
    .title = "Kernel canonical correlation analysis",
    .summary = "A space shared by all views, found where their kernels agree: search and classify across views.",
    .citation = "fortuna2005kcca",
    .task = PLX_TASK_EMBED,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE,
    .min_views = 2,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .params_size = sizeof(canon_params),
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "cubic; linear with gs_max",
    .ranks = PLX__RANKS_SUMS,
    .own_rows = own_rows,
    .whose_rows = plx__whose_panes,
    .params = tables,
    .arrays = array_specs,
    .transform = "shared",
    .metrics = metrics,
    .memory_remedy = "set gs_max or a larger gs_threshold, use cca, or raise the memory limit",
    .check = plx__canon_check,
    .memory = memory,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
