#include "methods/spectral/blend.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

plx_index plx__block_rows(plx_index n) { return plx__max(1, plx__min(256, 8000000 / plx__max(1, n))); }

/* ---- dense ---- */

typedef struct mix_job {
    const plx__affinity *rows, *cols; /* views of the samples of the rows and of the columns */
    plx_index n_views, v, begin;
    plx__blend_rule rule;
    plx_mat one, out; /* affinities in view v; the blend so far */
} mix_job;

static plx_status mix_view(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const mix_job *job = arg;
    const uint8_t *there = job->cols[job->v].present;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *to = job->out.data + i * job->out.ld;
        const double *from = job->one.data + i * job->one.ld;
        if (!job->rows[job->v].present[job->begin + i]) continue;
        for (plx_index j = 0; j < job->out.cols; j++)
            if (there[j]) to[j] = job->rule == PLX__BLEND_SUM ? to[j] + from[j] : to[j] * from[j];
    }
    return PLX_OK;
}

static plx_index common_views(const plx__affinity *rows, const plx__affinity *cols, plx_index n_views, plx_index i,
                              plx_index j)
{
    plx_index count = 0;
    for (plx_index v = 0; v < n_views; v++) count += rows[v].present[i] && cols[v].present[j];
    return count;
}

static plx_status weigh_common(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const mix_job *job = arg;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++)
        for (plx_index j = 0; j < job->out.cols; j++) {
            double *to = &job->out.data[i * job->out.ld + j];
            plx_index common = common_views(job->rows, job->cols, job->n_views, job->begin + i, j);
            if (common == 0) *to = 0.0;
            else if (job->rule == PLX__BLEND_SUM) *to *= (double)job->n_views / (double)common;
        }
    return PLX_OK;
}

/* Blended rows begin .. end-1; own NULL: the rows are fitted samples themselves. */
static plx_status blend_rows(plx_context *ctx, const plx__affinity *cols, const plx__affinity *rows, plx_index n_views,
                             plx__blend_rule rule, const plx_index *own, plx_index begin, plx_index end, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat one;
    PLX_TRY(plx__arena_mat(&one, plx__scratch(ctx), end - begin, cols[0].n));
    plx__mat_fill(out, rule == PLX__BLEND_SUM ? 0.0 : 1.0);
    mix_job job = {rows, cols, n_views, 0, begin, rule, one, out};
    for (; job.v < n_views; job.v++) {
        if (own) PLX_TRY(plx__affinity_to_fitted(ctx, &cols[job.v], &rows[job.v], own, begin, end, one));
        else PLX_TRY(plx__affinity_block(ctx, &cols[job.v], begin, end, one));
        PLX_TRY(plx__parallel_for(ctx, end - begin, 16, mix_view, &job));
    }
    PLX_TRY(plx__parallel_for(ctx, end - begin, 16, weigh_common, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__blend_to_fitted(plx_context *ctx, const plx__affinity *fitted, const plx__affinity *fresh,
                                plx_index n_views, plx__blend_rule rule, bool zero_diagonal, const plx_index *own,
                                plx_index begin, plx_index end, plx_mat out)
{
    PLX_TRY(blend_rows(ctx, fitted, fresh, n_views, rule, own, begin, end, out));
    for (plx_index i = begin; zero_diagonal && i < end; i++)
        if (own[i] >= 0) out.data[(i - begin) * out.ld + own[i]] = 0.0;
    return PLX_OK;
}

static plx_status build_dense(plx__blend *b, plx_context *ctx, const plx__affinity *views, plx_index n_views)
{
    plx_index all = views[0].n, step = plx__block_rows(all), next = 0;
    plx_mat rows;
    PLX_TRY(plx__arena_mat(&b->dense, plx__scratch(ctx), b->n, b->n));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), step, all));
    for (plx_index at = 0; at < all; at += step) {
        plx_index end = plx__min(all, at + step);
        plx_mat part = plx__sub(rows, 0, 0, end - at, all);
        PLX_TRY(blend_rows(ctx, views, views, n_views, b->rule, NULL, at, end, part));
        for (; next < b->n && b->sample[next] < end; next++) {
            const double *from = part.data + (b->sample[next] - at) * part.ld;
            double *to = b->dense.data + next * b->n;
            for (plx_index j = 0; j < b->n; j++) to[j] = from[b->sample[j]];
            if (b->zero_diagonal) to[next] = 0.0;
        }
        PLX_TRY(plx__report(ctx, "affinity", end, all, NAN));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- sparse ---- */

typedef struct merge_job {
    const plx__affinity *views;
    const plx_csr *parts;
    plx_index n_views;
    const plx__blend *b;
} merge_job;

/* Value of pair (i, j) from the entries of the views that have one (`found` of them hold `sum` and `product`). */
static double blended(const merge_job *job, plx_index i, plx_index j, plx_index found, double sum, double product)
{
    plx_index common = common_views(job->views, job->views, job->n_views, i, j);
    if (i == j && job->b->zero_diagonal) return 0.0;
    if (job->b->rule == PLX__BLEND_SUM) return common ? sum * (double)job->n_views / (double)common : 0.0;
    return found == common ? product : 0.0; /* an entry that is not there is a factor 0 */
}

/* Rows of all views merged by column; col NULL: only counted. `at` has a place for every view. */
static plx_index merge_row(const merge_job *job, plx_index i, plx_index *at, int32_t *col, double *val)
{
    plx_index count = 0;
    for (plx_index v = 0; v < job->n_views; v++) at[v] = job->parts[v].ptr[i];
    for (;;) {
        int32_t j = INT32_MAX;
        plx_index found = 0;
        double sum = 0, product = 1;
        for (plx_index v = 0; v < job->n_views; v++)
            if (at[v] < job->parts[v].ptr[i + 1] && job->parts[v].col[at[v]] < j) j = job->parts[v].col[at[v]];
        if (j == INT32_MAX) return count;
        for (plx_index v = 0; v < job->n_views; v++) {
            if (at[v] == job->parts[v].ptr[i + 1] || job->parts[v].col[at[v]] != j) continue;
            double x = job->parts[v].val[at[v]++];
            sum += x;
            product *= x;
            found++;
        }
        double value = blended(job, i, j, found, sum, product);
        if (value == 0) continue;
        if (col) col[count] = j, val[count] = value;
        count++;
    }
}

static plx_status merge_parts(plx_csr *out, plx_context *ctx, const merge_job *job)
{
    plx_index n = job->views[0].n, total = 0, *at = NULL;
    PLX_TRY(plx__arena_i64(&at, plx__scratch(ctx), job->n_views));
    for (plx_index i = 0; i < n; i++) total += merge_row(job, i, at, NULL, NULL);
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), n, n, total));
    for (plx_index i = 0; i < n; i++)
        out->ptr[i + 1] = out->ptr[i] + merge_row(job, i, at, out->col + out->ptr[i], out->val + out->ptr[i]);
    return PLX_OK;
}

static plx_status build_sparse(plx__blend *b, plx_context *ctx, const plx__affinity *views, plx_index n_views)
{
    plx_csr *parts = NULL, all, rows;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(ctx), n_views));
    for (plx_index v = 0; v < n_views; v++) {
        PLX_TRY(plx__affinity_csr(&parts[v], ctx, &views[v]));
        PLX_TRY(plx__report(ctx, "affinity", v + 1, n_views, NAN));
    }
    merge_job job = {views, parts, n_views, b};
    PLX_TRY(merge_parts(&all, ctx, &job));
    b->csr = all;
    if (b->n == views[0].n) return PLX_OK;
    PLX_TRY(plx__csr_select_rows(&rows, plx__scratch(ctx), plx__ccsr(all), b->sample, b->n));
    return plx__csr_select_cols(&b->csr, plx__scratch(ctx), plx__ccsr(rows), b->sample, b->n);
}

/* ---- as an operator ---- */

static plx_status apply_dense(void *arg, plx_context *ctx, double *y, const double *x)
{
    const plx__blend *b = arg;
    return plx__gemv(ctx, 1.0, plx__cmat(b->dense), PLX__N, x, 0.0, y);
}

static plx_status describe(plx__blend *b, plx_context *ctx)
{
    double *degree = NULL;
    int32_t *component = NULL;
    PLX_TRY(plx__arena_f64(&degree, plx__scratch(ctx), b->n, 1));
    b->affine.degree = degree;
    b->affine.a = (plx__operator){b->n, apply_dense, b};
    if (!b->sparse) {
        for (plx_index i = 0; i < b->n; i++) degree[i] = plx__sum(b->dense.data + i * b->n, b->n);
        PLX_TRY(plx__components_dense(&component, &b->affine.n_components, ctx, plx__cmat(b->dense)));
        b->affine.component = component;
        return PLX_OK;
    }
    b->view_of_csr = plx__ccsr(b->csr);
    b->affine.a = (plx__operator){b->n, plx__csr_apply, &b->view_of_csr};
    plx__csr_row_sums(b->view_of_csr, degree);
    PLX_TRY(plx__components(&component, &b->affine.n_components, ctx, b->view_of_csr));
    b->affine.component = component;
    return PLX_OK;
}

static plx_status choose_samples(plx__blend *b, plx_context *ctx, const plx__affinity *views, plx_index n_views)
{
    PLX_TRY(plx__arena_i64(&b->sample, plx__scratch(ctx), views[0].n));
    for (plx_index i = 0; i < views[0].n; i++) {
        bool any = false;
        for (plx_index v = 0; v < n_views; v++) any |= views[v].present[i];
        if (any) b->sample[b->n++] = i;
    }
    return PLX_OK;
}

plx_status plx__blend_build(plx__blend *out, plx_context *ctx, const plx__affinity *views, plx_index n_views,
                            plx__blend_rule rule, bool zero_diagonal)
{
    *out = (plx__blend){.rule = rule, .zero_diagonal = zero_diagonal, .sparse = true};
    PLX_TRY(choose_samples(out, ctx, views, n_views));
    for (plx_index v = 0; v < n_views; v++) out->sparse &= plx__affinity_is_sparse(&views[v]);
    PLX_TRY(out->sparse ? build_sparse(out, ctx, views, n_views) : build_dense(out, ctx, views, n_views));
    return describe(out, ctx);
}
