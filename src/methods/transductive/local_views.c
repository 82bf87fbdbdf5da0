/*
 * Views of local models: scaled rows with their settings, and what the model keeps of them for new samples.
 */
#include <math.h>

#include "core/parallel.h"
#include "data/divided.h"
#include "methods/transductive/local.h"

const plx__param_spec plx__local_neighbour_params[] = {
    PLX__VIEW_INT("neighbours", "10", 1, 2147483647,
                  "Neighbours of a sample in a view; larger is smoother and slower."),
    PLX__VIEW_CHOICE("metric", "euclid", "euclid|cosine", "Distance by which neighbours are found."), PLX__KNN_PARAMS,
    PLX__PARAM_END};

const plx__param_spec plx__local_model_params[] = {
    PLX__CHOICE(plx__local_params, model, "linear", "linear|kernel",
                "Local model: linear in the differences to the sample, or a kernel expansion."),
    PLX__VIEW_REAL("lambda", "1", 0, PLX__ABOVE_LO,
                   "Ridge weight of the local models of a view, in units of lambda_scale; larger is smoother."),
    PLX__CHOICE(
        plx__local_params, lambda_scale, "spread", "spread|none",
        "Unit of lambda in a view: its mean squared distance to a neighbour (model=kernel: mean similarity of a "
        "sample to itself), so that the unit of the features does not matter; none = 1."),
    PLX__VIEW_CHOICE(
        "kernel", "linear", "linear|rbf|poly|cosine|precomputed|local",
        "Similarity of two rows for model=kernel; local is exp(-d^2/(s_i s_j)) with s to the graph_scale_k-th "
        "neighbour."),
    PLX__VIEW_REAL_OR(
        "width", "median", 0, PLX__ABOVE_LO, "median",
        "Width of the rbf kernel exp(-|x-z|^2/(2 width^2)): larger is smoother; median = median distance."),
    PLX__VIEW_INT("degree", "2", 1, 1000, "Degree of the poly kernel (x.z + coef0)^degree."),
    PLX__VIEW_REAL("coef0", "1", 0, 0, "Constant of the poly kernel; larger gives lower orders more weight."),
    PLX__VIEW_INT("graph_scale_k", "7", 1, 2147483647,
                  "Neighbour that sets the scale of kernel=local; larger is flatter."),
    PLX__CHOICE(plx__local_params, expansion, "neighbours", "neighbours|full",
                "Kernel expansion over the neighbours (as published), or over the sample as well."),
    PLX__PARAM_END};

/* ---- settings ---- */

static plx_status read_settings(plx__local_view *out, plx__run *run, const char *name, plx__local_kind kind)
{
    plx__value neighbours, metric, lambda;
    PLX_TRY(plx__view_value(&neighbours, run->ctx, run->settings, "neighbours", name));
    PLX_TRY(plx__view_value(&metric, run->ctx, run->settings, "metric", name));
    out->neighbours = (plx_index)neighbours.number;
    out->metric = (plx__metric)metric.word;
    if (kind == PLX__LOCAL_WEIGHTS) return PLX_OK;
    PLX_TRY(plx__view_value(&lambda, run->ctx, run->settings, "lambda", name));
    out->lambda = lambda.number;
    return kind == PLX__LOCAL_KERNEL ? plx__kernel_settings(&out->kernel, run, name, out->given) : PLX_OK;
}

/* Similarities of the samples of this run to themselves: on the diagonal when fitting. */
static plx_status own_similarities(plx__local_view *out, plx__run *run, const plx__view *v)
{
    const plx__problem *x = run->problem;
    double *own = NULL;
    PLX_TRY(plx__arena_f64(&own, plx__scratch(run->ctx), x->n, 1));
    out->query_own = own;
    for (plx_index i = 0; i < x->n; i++) {
        if (!v->present[i]) continue;
        if (!run->fitted) own[i] = out->queries.dense.data[i * out->queries.dense.ld + i];
        else if (v->self && !isnan(v->self[i])) own[i] = v->self[i];
        else
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "%s: kernel view '%s' lacks the similarity of sample '%s' to itself; add its own column",
                     run->method->name, v->name, x->ids[i]);
    }
    return PLX_OK;
}

static plx_status scale_k(plx_index *out, plx__run *run, const char *name)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "graph_scale_k", name));
    *out = (plx_index)value.number;
    return PLX_OK;
}

/* ---- fitting ---- */

static plx_status settle(plx__local_view *out, plx__run *run, const char *name)
{
    plx_index k = 0;
    double *scale = NULL;
    if ((int)out->kernel.kind == PLX__KERNEL_LOCAL) {
        PLX_TRY(scale_k(&k, run, name));
        PLX_TRY(plx__local_scales(&scale, run, out, true, k));
        out->query_scale = out->scale = scale;
    }
    return plx__kernel_set_width(&out->kernel, run->ctx, out->rows, out->present, run->method->name, name);
}

static plx_status put(plx__run *run, const char *what, const char *view, const double *values, plx_index count)
{
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, run->ctx, what, view));
    return plx__store_put(run->out, name, plx__cmat_of(values, 1, count));
}

plx_status plx__local_put_lambda(plx__run *run, const plx__local_view *views, plx_index n_views)
{
    for (plx_index v = 0; v < n_views; v++) {
        const char *name = NULL;
        PLX_TRY(plx__arena_printf(&name, plx__scratch(run->ctx), "lambda_%s", views[v].name));
        PLX_TRY(plx__store_put(run->out, name, plx__cmat_of(&views[v].lambda, 1, 1)));
    }
    return PLX_OK;
}

static plx_status keep_view(const plx__local_view *v, plx__run *run, const char *view)
{
    plx_index n = run->problem->n;
    const char *name = NULL;
    double *flags = NULL;
    PLX_TRY(plx__arena_f64(&flags, plx__scratch(run->ctx), n, 1));
    for (plx_index i = 0; i < n; i++) flags[i] = v->present[i];
    PLX_TRY(put(run, "_present", view, flags, n));
    PLX_TRY(put(run, "_width", view, &v->kernel.width, 1));
    if (v->scale) PLX_TRY(put(run, "_local", view, v->scale, n));
    PLX_TRY(plx__view_key(&name, run->ctx, "_rows", view));
    return plx__points_sparse(v->rows) ? plx__store_put_csr(run->out, name, v->rows.csr)
                                       : plx__store_put(run->out, name, v->rows.dense);
}

/* ---- predicting ---- */

static plx_status get(const double **out, plx_index *count, plx__run *run, const char *what, const char *view)
{
    const char *name = NULL;
    plx_cmat m;
    PLX_TRY(plx__view_key(&name, run->ctx, what, view));
    PLX_TRY(plx__store_shaped(&m, run->ctx, run->fitted, name, 1, *count));
    *out = m.data;
    *count = m.cols;
    return PLX_OK;
}

static plx_status recall_rows(plx__local_view *out, plx__run *run, const char *view, plx_index n)
{
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, run->ctx, "_rows", view));
    const plx__array *rows = plx__store_find(run->fitted, name);
    if (!rows) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model lacks the array '%s'", name);
    out->rows = rows->sparse ? plx__points_csr(plx__ccsr(rows->csr)) : plx__points_dense(plx__cmat(rows->dense));
    if (plx__points_sparse(out->rows) != plx__points_sparse(out->queries) || plx__points_rows(out->rows) != n ||
        plx__points_cols(out->rows) != plx__points_cols(out->queries))
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", view);
    return PLX_OK;
}

/* The ridge weight the model was fitted with; models from before lambda_scale have none, and take lambda as it is. */
static plx_status recall_lambda(plx__local_view *out, plx__run *run, const char *view)
{
    const char *name = NULL;
    PLX_TRY(plx__arena_printf(&name, plx__scratch(run->ctx), "lambda_%s", view));
    if (!plx__store_find(run->fitted, name)) return PLX_OK;
    PLX_TRY(plx__store_scalar(&out->lambda, run->ctx, run->fitted, name));
    if (!(out->lambda > 0)) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's array '%s' is not > 0", name);
    return PLX_OK;
}

static plx_status recall(plx__local_view *out, plx__run *run, const char *view)
{
    plx_index n = -1, one = 1, k = 0;
    const double *flags = NULL, *width = NULL;
    uint8_t *present = NULL;
    double *scale = NULL, *own = NULL;
    PLX_TRY(get(&flags, &n, run, "_present", view));
    PLX_TRY(plx__arena_u8(&present, plx__scratch(run->ctx), n));
    for (plx_index i = 0; i < n; i++) present[i] = flags[i] != 0;
    out->present = present;
    PLX_TRY(recall_rows(out, run, view, n));
    PLX_TRY(recall_lambda(out, run, view));
    if (out->given) {
        PLX_TRY(plx__arena_f64(&own, plx__scratch(run->ctx), n, 1));
        for (plx_index i = 0; i < n; i++) own[i] = out->rows.dense.data[i * out->rows.dense.ld + i];
        out->own = own;
        return PLX_OK;
    }
    PLX_TRY(get(&width, &one, run, "_width", view));
    out->kernel.width = *width;
    if ((int)out->kernel.kind != PLX__KERNEL_LOCAL) return PLX_OK;
    PLX_TRY(get(&out->scale, &n, run, "_local", view));
    PLX_TRY(scale_k(&k, run, view));
    PLX_TRY(plx__local_scales(&scale, run, out, false, k));
    out->query_scale = scale;
    return PLX_OK;
}

plx_status plx__local_view_open(plx__local_view *out, plx__run *run, plx_index view, plx__local_kind kind, bool keep)
{
    plx__prepared rows;
    PLX_TRY(plx__prepare_rows(&rows, run, view));
    const plx__view *v = &run->problem->views[view];
    *out = (plx__local_view){
        .name = rows.name, .queries = rows.rows, .query_present = rows.present, .given = v->kind == PLX_VIEW_KERNEL};
    if (!run->fitted) out->bound = rows.bound;
    if (out->given) PLX_TRY(own_similarities(out, run, v));
    PLX_TRY(read_settings(out, run, rows.name, kind));
    if (run->fitted) return recall(out, run, rows.name);
    out->rows = out->queries;
    out->present = out->query_present;
    out->own = out->query_own;
    if (kind == PLX__LOCAL_KERNEL) PLX_TRY(settle(out, run, rows.name));
    return keep ? keep_view(out, run, rows.name) : PLX_OK;
}

/* ---- memory ---- */

static double rows_bytes(const plx__view *v, plx_index n, bool dense)
{
    return v->sparse && !dense ? 12.0 * (double)v->nonzeros + 8.0 * (double)n : 8.0 * (double)n * (double)v->cols;
}

/* The same of those that are here. */
static double held_bytes(const plx__view *v, plx_index n, bool dense)
{
    double rows = (double)(plx__held_end(v, n) - plx__held_begin(v));
    if (!v->divided) return rows_bytes(v, n, dense);
    return v->sparse && !dense ? 12.0 * plx__held_values(v, n) + 8.0 * (double)n : 8.0 * rows * (double)v->cols;
}

double plx__local_rows_bytes(const plx__run *run, const char *neighbours, bool kept)
{
    const plx__problem *x = run->problem;
    double bytes = 0, search = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        plx__value k;
        if (plx__view_value(&k, run->ctx, run->settings, neighbours, x->views[v].name) != PLX_OK) return INFINITY;
        bool dense = x->scale[v] == PLX__SCALE_ZSCORE;
        double all = rows_bytes(&x->views[v], x->n, dense), own = held_bytes(&x->views[v], x->n, dense);
        plx_index most = (plx_index)fmin(k.number, (double)x->n);
        bytes += plx__prepared_bytes(run, v) + (kept ? own + 16.0 * (double)x->n : 0.0);
        search = fmax(
            search, own + plx__neighbours_bytes(run, x->views[v].name, most, all / 8.0, x->views[v].sparse && !dense));
        if (x->views[v].divided) search = fmax(search, plx__local_divided_bytes(run->ctx, x->n, most, all));
    }
    return bytes + search;
}

double plx__local_task_bytes(const plx__run *run, double entries)
{
    const plx__problem *x = run->problem;
    const plx__local_params *p = run->params;
    double n = (double)x->n;
    bool clusters = p->task == PLX__TASK_CLUSTERS || (p->task == PLX__TASK_UNSET && !x->n_labelled);
    plx_index columns = clusters ? plx__max(2, p->clusters) : plx__max(1, x->n_classes);
    double bytes = plx__smoother_bytes(run->ctx, x->n, fmin(entries, n * n), clusters, columns);
    bytes += 8.0 * n * ((clusters ? 4 : 7) * (double)columns + 16); /* targets or k-means, results */
    return bytes + 8.0 * n * n * (plx__wanted(run, "A") + plx__wanted(run, "L"));
}

double plx__local_memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    double n = (double)x->n, entries = 0;
    plx_index neighbours = 0, cols = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        plx__value k;
        if (plx__view_value(&k, run->ctx, run->settings, "neighbours", x->views[v].name) != PLX_OK) return INFINITY;
        neighbours += (plx_index)fmin(k.number, n);
        if (!x->views[v].sparse) cols = plx__max(cols, x->views[v].cols);
    }
    double k = (double)neighbours;
    entries = n * fmin(n, (k + 1) * (k + 1)); /* of (I - A)'(I - A): neighbours of neighbours */
    double bytes = plx__local_rows_bytes(run, "neighbours", run->method->predict != NULL);
    bytes += plx__local_bytes(x->n, neighbours, cols, x->n_views, plx__workers(run->ctx));
    if (run->fitted) return bytes + 8.0 * n * 4 * (double)plx__max(2, x->n_classes);
    return bytes + 24.0 * n * (k + 2) + plx__local_task_bytes(run, entries); /* I - A and its transpose */
}
