/*
 * Widths first (they may need distances of their own), then either blocks of rows on demand or one sparse
 * matrix between neighbours.
 */
#include "methods/spectral/affinity.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "graph/similarity.h"

/* ---- given matrices ---- */

static plx_status check_given(plx__run *run, const plx__affinity *a)
{
    for (plx_index i = 0; i < a->n; i++) {
        if (!a->present[i]) continue;
        plx_index count =
            plx__points_sparse(a->rows) ? a->rows.csr.ptr[i + 1] - a->rows.csr.ptr[i] : a->rows.dense.cols;
        for (plx_index p = 0; p < count; p++) {
            plx_index at = plx__points_sparse(a->rows) ? a->rows.csr.ptr[i] + p : p;
            plx_index j = plx__points_sparse(a->rows) ? a->rows.csr.col[at] : p;
            double x = plx__points_sparse(a->rows) ? a->rows.csr.val[at] : a->rows.dense.data[i * a->rows.dense.ld + p];
            if (x >= 0 || (!run->fitted && !a->present[j])) continue;
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "%s: kernel view '%s' row %lld, column %lld: %g is negative; affinities must be >= 0",
                     run->method->name, a->name, (long long)run->problem->row[i], (long long)j, x);
        }
    }
    return PLX_OK;
}

/* Entries between present samples only. */
static plx_status present_csr(plx_csr *out, plx_context *ctx, const plx__affinity *a)
{
    plx_ccsr from = a->rows.csr;
    plx_index kept = 0;
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), from.rows, from.cols, plx__nnz(from)));
    for (plx_index i = 0; i < from.rows; i++) {
        for (plx_index p = from.ptr[i]; p < from.ptr[i + 1]; p++) {
            if (!a->present[i] || !a->present[from.col[p]] || from.val[p] == 0) continue;
            out->col[kept] = from.col[p];
            out->val[kept++] = from.val[p];
        }
        out->ptr[i + 1] = kept;
    }
    return PLX_OK;
}

static plx_status clean_sparse(plx__affinity *a, plx_context *ctx, bool symmetric)
{
    plx_csr kept, mirrored, mean;
    PLX_TRY(present_csr(&kept, ctx, a));
    a->rows = plx__points_csr(plx__ccsr(kept));
    if (!symmetric) return PLX_OK;
    PLX_TRY(plx__csr_transpose(&mirrored, plx__scratch(ctx), plx__ccsr(kept)));
    PLX_TRY(plx__csr_add(&mean, plx__scratch(ctx), 0.5, plx__ccsr(kept), 0.5, plx__ccsr(mirrored)));
    a->rows = plx__points_csr(plx__ccsr(mean));
    return PLX_OK;
}

static plx_status clean_dense(plx__affinity *a, plx_context *ctx, bool symmetric)
{
    plx_index n = a->n;
    plx_mat g;
    PLX_TRY(plx__mat_clone(&g, plx__scratch(ctx), a->rows.dense));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++)
            if (!a->present[i] || !a->present[j]) g.data[i * g.ld + j] = 0.0;
    for (plx_index i = 0; symmetric && i < n; i++)
        for (plx_index j = 0; j < i; j++) {
            double mean = 0.5 * (g.data[i * g.ld + j] + g.data[j * g.ld + i]);
            g.data[i * g.ld + j] = g.data[j * g.ld + i] = mean;
        }
    a->rows = plx__points_dense(plx__cmat(g));
    return PLX_OK;
}

static plx_status open_given(plx__affinity *a, plx__run *run, const plx__view *v, bool symmetric)
{
    a->given = true;
    a->name = v->name;
    a->present = v->present;
    a->rows = v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense);
    PLX_TRY(check_given(run, a));
    if (run->fitted) return PLX_OK;
    return v->sparse ? clean_sparse(a, run->ctx, symmetric) : clean_dense(a, run->ctx, symmetric);
}

/* ---- widths ---- */

static plx__graph_source source_of(const plx__affinity *a)
{
    return (plx__graph_source){
        .rows = a->rows, .present = a->present, .is_kernel = a->given, .view = a->name, .run = a->run, .near = a->near};
}

static plx__graph_settings settings_of(const plx__affinity *a)
{
    return (plx__graph_settings){.k = a->k,
                                 .k_given = true,
                                 .metric = PLX__EUCLID,
                                 .weights = a->rule == PLX__WIDTH_LOCAL ? PLX__EDGES_LOCAL : PLX__EDGES_HEAT,
                                 .width = a->width,
                                 .scale_k = a->scale_k};
}

static plx_status find_near(plx__near *out, const plx__affinity *a, plx_context *ctx)
{
    plx__graph_source source = source_of(a);
    plx__graph_settings settings = settings_of(a);
    return plx__similarity_near(out, ctx, &source, &settings);
}

/* Neighbours that serve nothing else are let go. */
static plx_status local_scales(plx__affinity *a, plx_context *ctx)
{
    plx__near near;
    double *scale = NULL;
    PLX_TRY(plx__arena_f64(&scale, plx__scratch(ctx), a->n, 1));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(find_near(&near, a, ctx));
    plx__near_scales(scale, &near, a->n, a->scale_k);
    plx__arena_rewind(plx__scratch(ctx), mark);
    a->scale = scale;
    return PLX_OK;
}

/* width=median, and the median that width=auto multiplies. */
static plx_status median_width(plx__affinity *a, plx__run *run)
{
    plx__kernel rbf = {.kind = PLX__KERNEL_RBF, .width = NAN};
    PLX_TRY(plx__kernel_set_width(&rbf, run->ctx, a->rows, a->present, run->method->name, a->name));
    a->width = rbf.width;
    return PLX_OK;
}

static plx_status settle_width(plx__affinity *a, plx__run *run)
{
    plx__value width, scale_k;
    PLX_TRY(plx__view_value(&width, run->ctx, run->settings, "width", a->name));
    PLX_TRY(plx__view_value(&scale_k, run->ctx, run->settings, "graph_scale_k", a->name));
    a->rule = (plx__width_rule)width.word;
    a->width = width.number;
    a->scale_k = (plx_index)scale_k.number;
    if (run->fitted) return PLX_OK;
    if (a->k) PLX_TRY(find_near(&a->near, a, run->ctx));
    if (a->rule == PLX__WIDTH_NUMBER) return PLX_OK;
    return a->rule == PLX__WIDTH_LOCAL ? local_scales(a, run->ctx) : median_width(a, run);
}

plx_status plx__affinity_open(plx__affinity *out, plx__run *run, plx_index view, plx_index k, bool symmetric)
{
    const plx__problem *p = run->problem;
    plx__prepared rows;
    *out = (plx__affinity){.run = run, .n = p->n, .k = k, .width = NAN};
    if (view >= 0 && p->views[view].kind == PLX_VIEW_KERNEL) return open_given(out, run, &p->views[view], symmetric);
    PLX_TRY(plx__prepare_rows(&rows, run, view));
    out->name = rows.name;
    out->rows = rows.rows;
    out->present = rows.present;
    return settle_width(out, run);
}

/* ---- blocks of rows ---- */

typedef struct block_job {
    const plx__affinity *rows, *cols; /* whose affinities to whom */
    const double *scale;              /* local: of the rows, from `begin` */
    plx_index begin;
    plx_mat out; /* squared distances become affinities */
} block_job;

/* Squared distances of one row over its local scales, negative; no scale on either side: equal rows alone are near. */
static void over_scales(const block_job *job, plx_index i, double *row)
{
    for (plx_index j = 0; j < job->out.cols; j++) {
        double product = job->scale[i] * job->cols->scale[j];
        row[j] = product > 0 ? -row[j] / product : row[j] == 0 ? 0.0 : -INFINITY;
    }
}

static plx_status transform_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const block_job *job = arg;
    double width = job->cols->width, factor = job->scale ? 1.0 : -0.5 / (width * width);
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->out.data + i * job->out.ld;
        if (!job->rows->present[job->begin + i]) {
            memset(row, 0, (size_t)job->out.cols * sizeof *row);
            continue;
        }
        if (job->scale) over_scales(job, i, row);
        plx__exp_scaled(row, job->out.cols, factor, 1.0, row);
        for (plx_index j = 0; j < job->out.cols; j++)
            if (!job->cols->present[j]) row[j] = 0.0;
    }
    return PLX_OK;
}

static void copy_given(const plx__affinity *a, plx_index begin, plx_index end, plx_mat out)
{
    if (plx__points_sparse(a->rows)) plx__csr_to_dense(out, plx__csr_rows(a->rows.csr, begin, end));
    else plx__mat_copy(out, plx__csub(a->rows.dense, begin, 0, end - begin, out.cols));
}

plx_status plx__affinity_block(plx_context *ctx, const plx__affinity *a, plx_index begin, plx_index end, plx_mat out)
{
    if (a->given) {
        copy_given(a, begin, end, out);
        return PLX_OK;
    }
    PLX_TRY(plx__dist_sq_matrix(ctx, plx__points_range(a->rows, begin, end), a->rows, out));
    block_job job = {a, a, a->scale ? a->scale + begin : NULL, begin, out};
    return plx__parallel_for(ctx, end - begin, 16, transform_rows, &job);
}

/* ---- sparse ---- */

bool plx__affinity_is_sparse(const plx__affinity *a) { return a->k > 0 || (a->given && plx__points_sparse(a->rows)); }

bool plx__affinities_sparse(const plx__run *run, plx_index k)
{
    for (plx_index v = 0; v < run->problem->n_views; v++)
        if (k == 0 && !(run->problem->views[v].kind == PLX_VIEW_KERNEL && run->problem->views[v].sparse)) return false;
    return true;
}

plx_status plx__affinities_divide(plx__run *run, plx_index k)
{
    if (plx__ranks(run->ctx) == 1 || plx__affinities_sparse(run, k)) return PLX_OK;
    PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
             "%s: affinities of all pairs (affinity_k = 0) are not distributed; set affinity_k, or let one process fit "
             "it",
             run->method->name);
}

static double own_affinity(const plx__affinity *a, plx_index i)
{
    if (!a->present[i]) return 0.0;
    if (!a->given) return 1.0;
    return plx__points_sparse(a->rows) ? plx__csr_get(a->rows.csr, i, i) : a->rows.dense.data[i * a->rows.dense.ld + i];
}

static plx_status diagonal_of(plx_csr *out, plx_context *ctx, const plx__affinity *a)
{
    plx_index count = 0;
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), a->n, a->n, a->n));
    for (plx_index i = 0; i < a->n; i++) {
        out->col[count] = (int32_t)i;
        out->val[count] = own_affinity(a, i);
        count += out->val[count] > 0;
        out->ptr[i + 1] = count;
    }
    return PLX_OK;
}

plx_status plx__affinity_csr(plx_csr *out, plx_context *ctx, const plx__affinity *a)
{
    plx_csr joined, diagonal;
    if (a->given && a->k == 0) return plx__csr_clone(out, plx__scratch(ctx), a->rows.csr);
    plx__graph_source source = source_of(a);
    plx__graph_settings settings = settings_of(a);
    PLX_TRY(plx__similarity_graph(&joined, ctx, &source, &settings));
    PLX_TRY(diagonal_of(&diagonal, ctx, a));
    return plx__csr_add(out, plx__scratch(ctx), 1.0, plx__ccsr(joined), 1.0, plx__ccsr(diagonal));
}

static double width_bytes(const plx__run *run, int rule, double own)
{
    return rule == PLX__WIDTH_MEDIAN || rule == PLX__WIDTH_AUTO
               ? plx__pair_distance_bytes(run->ctx, run->problem->n, own)
               : 0.0;
}

double plx__affinity_bytes(const plx__run *run, plx_index view, plx_index k, double *entries)
{
    const plx__view *v = &run->problem->views[view];
    double n = (double)run->problem->n;
    bool dense = !v->sparse || run->problem->scale[view] == PLX__SCALE_ZSCORE;
    double own = dense ? 8.0 * n * (double)v->cols : 12.0 * (double)v->nonzeros + 8.0 * n;
    *entries = 0;
    if (v->kind == PLX_VIEW_KERNEL) {
        *entries = k ? n * fmin(n, 2.0 * (double)k + 1) : v->sparse ? 2.0 * (double)v->nonzeros : 0.0;
        return (k || v->sparse ? 6 : 1) * own + 12.0 * *entries;
    }
    double bytes = plx__prepared_bytes(run, view) + own + 32.0 * n;
    plx__value width, scale_k;
    if (plx__view_value(&width, run->ctx, run->settings, "width", v->name) != PLX_OK ||
        plx__view_value(&scale_k, run->ctx, run->settings, "graph_scale_k", v->name) != PLX_OK)
        return INFINITY;
    double scaling = width_bytes(run, width.word, own);
    if (!k) return bytes + scaling;
    bool local = width.word == PLX__WIDTH_LOCAL;
    plx__graph_settings graph = {
        .k = k, .weights = local ? PLX__EDGES_LOCAL : PLX__EDGES_HEAT, .scale_k = (plx_index)fmin(scale_k.number, n)};
    double found = fmin(n, fmax((double)k, local ? scale_k.number : 0.0));
    *entries = n * fmin(n, 2.0 * (double)k + 1);
    /* the neighbours, which are part of the graph's, are there while a median is searched for */
    return bytes + plx__neighbours_bytes(run, v->name, (plx_index)found, own / 8.0, !dense) +
           fmax(16 * n * found + scaling, plx__similarity_bytes(run->problem->n, &graph) + 12.0 * *entries);
}
