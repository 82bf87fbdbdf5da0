/*
 * Affinities of several views made one: dense by blocks of rows, or sparse by merging the rows of the views.
 */
#include "methods/spectral/blend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"

plx_index plx__block_rows(plx_index n) { return plx__max(1, plx__min(256, 8000000 / plx__max(1, n))); }

/* A product over `common` of m views as if it were over all of them; a sum likewise. */
static double to_all_views(const plx__blend_options *how, double value, plx_index common, plx_index m)
{
    if (common == m || common == 0) return value;
    double share = (double)m / (double)common;
    if (how->rule == PLX__BLEND_SUM) return value * share;
    return how->fill && value > 0 ? pow(value, share) : value;
}

/* ---- blocks of dense rows ---- */

typedef struct mix_job {
    const plx__blend_options *how;
    const plx__affinity *rows, *cols; /* views of the samples of the rows and of the columns */
    plx_index n_views, v, begin;
    const plx__presence *row_presence, *col_presence;
    const double *row_degree, *col_degree; /* normalise: of view v; row_degree NULL: the sum of the row itself */
    const plx_index *own;                  /* columns of the rows' own samples; NULL: begin + row */
    double unknown;
    plx_mat one, out; /* affinities in view v; the blend so far */
} mix_job;

static plx_index own_column(const mix_job *job, plx_index i)
{
    return job->own ? job->own[job->begin + i] : job->begin + i;
}

/* Row of D^-1/2 A_v D^-1/2 with diagonal 0; one root at a time, so that tiny degrees do not underflow. */
static void normalise_row(const mix_job *job, plx_index i)
{
    double *row = job->one.data + i * job->one.ld;
    plx_index own = own_column(job, i);
    if (own >= 0) row[own] = 0.0;
    double degree = job->row_degree ? job->row_degree[job->begin + i] : plx__sum(row, job->one.cols);
    for (plx_index j = 0; j < job->one.cols; j++)
        row[j] = degree > 0 && job->col_degree[j] > 0 ? row[j] / (sqrt(degree) * sqrt(job->col_degree[j])) : 0.0;
}

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
        if (job->how->normalise) normalise_row(job, i);
        for (plx_index j = 0; j < job->out.cols; j++)
            if (there[j]) to[j] = job->how->rule == PLX__BLEND_SUM ? to[j] + from[j] : to[j] * from[j];
    }
    return PLX_OK;
}

static plx_status weigh_common(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const mix_job *job = arg;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++)
        for (plx_index j = 0; j < job->out.cols; j++) {
            double *to = &job->out.data[i * job->out.ld + j];
            plx_index common = plx__presence_common(job->row_presence, job->begin + i, job->col_presence, j);
            *to = common ? to_all_views(job->how, *to, common, job->n_views) : job->unknown;
        }
    return PLX_OK;
}

/* Blended rows begin .. end-1 of the job's samples. */
static plx_status blend_rows(plx_context *ctx, mix_job *job, double *const *row_degree, const double *const *col_degree,
                             plx_index end, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index begin = job->begin;
    PLX_TRY(plx__arena_mat(&job->one, plx__scratch(ctx), end - begin, job->cols[0].n));
    job->out = out;
    plx__mat_fill(out, job->how->rule == PLX__BLEND_SUM ? 0.0 : 1.0);
    for (plx_index v = 0; v < job->n_views; v++) {
        const plx__affinity *cols = &job->cols[v], *rows = &job->rows[v];
        job->v = v;
        job->row_degree = row_degree ? row_degree[v] : NULL;
        job->col_degree = col_degree ? col_degree[v] : NULL;
        if (job->own) PLX_TRY(plx__affinity_to_fitted(ctx, cols, rows, job->own, begin, end, job->one));
        else PLX_TRY(plx__affinity_block(ctx, cols, begin, end, job->one));
        PLX_TRY(plx__parallel_for(ctx, end - begin, 16, mix_view, job));
    }
    PLX_TRY(plx__parallel_for(ctx, end - begin, 16, weigh_common, job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__blend_to_fitted(plx_context *ctx, const plx__blend_fresh *z, plx_index begin, plx_index end,
                                plx_mat out)
{
    mix_job job = {.how = &z->how,
                   .rows = z->fresh,
                   .cols = z->fitted,
                   .n_views = z->n_views,
                   .begin = begin,
                   .row_presence = &z->fresh_presence,
                   .col_presence = &z->fitted_presence,
                   .own = z->own,
                   .unknown = z->unknown};
    PLX_TRY(blend_rows(ctx, &job, NULL, z->degree, end, out));
    for (plx_index i = begin; z->how.zero_diagonal && i < end; i++)
        if (z->own[i] >= 0) out.data[(i - begin) * out.ld + z->own[i]] = 0.0;
    return PLX_OK;
}

/* ---- dense ---- */

/* Row sums of A_v without its diagonal. */
static plx_status dense_degrees(double *degree, plx_context *ctx, const plx__affinity *a)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index step = plx__block_rows(a->n);
    plx_mat rows;
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), step, a->n));
    for (plx_index at = 0; at < a->n; at += step) {
        plx_index end = plx__min(a->n, at + step);
        PLX_TRY(plx__affinity_block(ctx, a, at, end, plx__sub(rows, 0, 0, end - at, a->n)));
        for (plx_index i = at; i < end; i++) {
            double *row = rows.data + (i - at) * rows.ld;
            row[i] = 0.0;
            degree[i] = plx__sum(row, a->n);
        }
        PLX_TRY(plx__report(ctx, "affinity", end, a->n, NAN));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Pairs without a common view get their value; the rest of the matrix is there. */
static void fill_dense(plx__blend *b)
{
    for (plx_index i = 0; i < b->n; i++)
        for (plx_index j = 0; j < b->n; j++)
            if (!plx__presence_common(&b->presence, i, &b->presence, j)) b->dense.data[i * b->n + j] = b->unknown;
}

static plx_status build_dense(plx__blend *b, plx_context *ctx, const plx__affinity *views, plx_index n_views)
{
    plx_index all = views[0].n, step = plx__block_rows(all), next = 0;
    plx__presence everybody;
    plx_mat rows;
    PLX_TRY(plx__arena_mat(&b->dense, plx__scratch(ctx), b->n, b->n));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__presence_build(&everybody, ctx, views, n_views, NULL, all));
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), step, all));
    mix_job job = {.how = &b->how,
                   .rows = views,
                   .cols = views,
                   .n_views = n_views,
                   .row_presence = &everybody,
                   .col_presence = &everybody};
    for (plx_index v = 0; v < n_views && b->degree; v++) PLX_TRY(dense_degrees(b->degree[v], ctx, &views[v]));
    for (plx_index at = 0; at < all; at += step) {
        plx_index end = plx__min(all, at + step);
        plx_mat part = plx__sub(rows, 0, 0, end - at, all);
        job.begin = at;
        PLX_TRY(blend_rows(ctx, &job, b->degree, (const double *const *)b->degree, end, part));
        for (; next < b->n && b->sample[next] < end; next++) {
            const double *from = part.data + (b->sample[next] - at) * part.ld;
            double *to = b->dense.data + next * b->n;
            for (plx_index j = 0; j < b->n; j++) to[j] = from[b->sample[j]];
            if (b->how.zero_diagonal) to[next] = 0.0;
        }
        PLX_TRY(plx__report(ctx, "affinity", end, all, NAN));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- sparse ---- */

/* D^-1/2 A D^-1/2 of a view in place, its diagonal 0; the row sums go to `degree`. */
static void normalise_csr(plx_csr a, double *degree)
{
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            if (a.col[p] == i) a.val[p] = 0.0;
            degree[i] += a.val[p];
        }
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index p = a.ptr[i]; p < a.ptr[i + 1]; p++)
            if (a.val[p] > 0) a.val[p] /= sqrt(degree[i]) * sqrt(degree[a.col[p]]);
}

/* Rows of all views are merged by adding them up in a row of n places. */
typedef struct merge_job {
    const plx__blend *b;
    const plx_csr *parts;
    plx_index n_views;
    const plx_index *place; /* of every sample among those that take part, -1: left out */
    double *sum, *product;  /* n */
    plx_index *found;       /* n: views with an entry */
    int32_t *touched;       /* columns with entries */
} merge_job;

static int ascending(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* Value of pair (i, j) of the samples that take part. */
static double blended(const merge_job *job, plx_index i, plx_index j)
{
    const plx__blend *b = job->b;
    if (i == j && b->how.zero_diagonal) return 0.0;
    plx_index common = plx__presence_common(&b->presence, i, &b->presence, j);
    if (b->how.rule == PLX__BLEND_SUM) return to_all_views(&b->how, job->sum[j], common, job->n_views);
    if (job->found[j] < common) return 0.0; /* an entry that is not there is a factor 0 */
    return to_all_views(&b->how, job->product[j], common, job->n_views);
}

static void collect_row(merge_job *job, plx_index sample, plx_index *n_touched)
{
    *n_touched = 0;
    for (plx_index v = 0; v < job->n_views; v++) {
        const plx_csr *a = &job->parts[v];
        for (plx_index p = a->ptr[sample]; p < a->ptr[sample + 1]; p++) {
            plx_index j = job->place[a->col[p]];
            if (j < 0) continue;
            if (!job->found[j]++) {
                job->touched[(*n_touched)++] = (int32_t)j;
                job->sum[j] = 0;
                job->product[j] = 1;
            }
            job->sum[j] += a->val[p];
            job->product[j] *= a->val[p];
        }
    }
    qsort(job->touched, (size_t)*n_touched, sizeof *job->touched, ascending);
}

/* Entries of row i; col NULL: only counted. */
static plx_index merge_row(merge_job *job, plx_index i, int32_t *col, double *val)
{
    plx_index count = 0, n_touched = 0;
    collect_row(job, job->b->sample[i], &n_touched);
    for (plx_index q = 0; q < n_touched; q++) {
        int32_t j = job->touched[q];
        double value = blended(job, i, j);
        job->found[j] = 0;
        if (value == 0) continue;
        if (col) col[count] = j, val[count] = value;
        count++;
    }
    return count;
}

static plx_status merge_parts(plx_csr *out, plx_context *ctx, merge_job *job)
{
    plx_index n = job->b->n, total = 0;
    PLX_TRY(plx__arena_f64(&job->sum, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&job->product, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_i64(&job->found, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_i32(&job->touched, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) {
        total += merge_row(job, i, NULL, NULL);
        if (i % 4096 == 0) PLX_TRY(plx__poll(ctx));
    }
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), n, n, total));
    for (plx_index i = 0; i < n; i++) {
        out->ptr[i + 1] = out->ptr[i] + merge_row(job, i, out->col + out->ptr[i], out->val + out->ptr[i]);
        if (i % 4096 == 0) PLX_TRY(plx__poll(ctx));
    }
    return PLX_OK;
}

static plx_status build_sparse(plx__blend *b, plx_context *ctx, const plx__affinity *views, plx_index n_views)
{
    plx_csr *parts = NULL;
    plx_index *place = NULL;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(ctx), n_views));
    PLX_TRY(plx__arena_i64(&place, plx__scratch(ctx), views[0].n));
    for (plx_index i = 0; i < views[0].n; i++) place[i] = -1;
    for (plx_index i = 0; i < b->n; i++) place[b->sample[i]] = i;
    for (plx_index v = 0; v < n_views; v++) {
        PLX_TRY(plx__affinity_csr(&parts[v], ctx, &views[v]));
        if (b->degree) normalise_csr(parts[v], b->degree[v]);
        PLX_TRY(plx__report(ctx, "affinity", v + 1, n_views, NAN));
    }
    merge_job job = {.b = b, .parts = parts, .n_views = n_views, .place = place};
    return merge_parts(&b->csr, ctx, &job);
}

/* ---- pairs without a common view ---- */

/* Sum of A(i,j) over ordered pairs i != j. */
static plx_status sum_pairs(double *out, plx_context *ctx, const plx__blend *b)
{
    double *row = NULL;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), b->n, 1));
    for (plx_index i = 0; i < b->n; i++) {
        double own = b->sparse ? plx__csr_get(plx__ccsr(b->csr), i, i) : b->dense.data[i * b->n + i];
        row[i] = -own;
        if (!b->sparse) row[i] += plx__sum(b->dense.data + i * b->n, b->n);
        for (plx_index p = b->sparse ? b->csr.ptr[i] : 0; b->sparse && p < b->csr.ptr[i + 1]; p++)
            row[i] += b->csr.val[p];
    }
    *out = plx__sum(row, b->n);
    return PLX_OK;
}

/* The mean of A over the pairs that have a common view, where there are others. */
static plx_status find_unknown(plx__blend *b, plx_context *ctx)
{
    double n = (double)b->n, apart = plx__presence_apart(&b->presence), together = n * (n - 1) / 2 - apart, sum = 0;
    if (apart == 0 || together == 0) return PLX_OK;
    PLX_TRY(sum_pairs(&sum, ctx, b));
    b->unknown = 0.5 * sum / together;
    if (!b->sparse) fill_dense(b);
    return PLX_OK;
}

/* ---- as an operator ---- */

static plx_status apply_dense(void *arg, plx_context *ctx, double *y, const double *x)
{
    const plx__blend *b = arg;
    return plx__gemv(ctx, 1.0, plx__cmat(b->dense), PLX__N, x, 0.0, y);
}

static plx_status apply_sparse(void *arg, plx_context *ctx, double *y, const double *x)
{
    const plx__blend *b = arg;
    PLX_TRY(plx__spmv(ctx, 1.0, plx__ccsr(b->csr), x, 0.0, y));
    return b->unknown > 0 ? plx__presence_add(ctx, &b->presence, b->unknown, x, y) : PLX_OK;
}

static plx_status add_unknown(void *arg, plx_context *ctx, plx__slabs cut, const double *x, double *y)
{
    const plx__blend *b = arg;
    return plx__presence_add_rows(ctx, &b->presence, b->unknown, cut, x, y);
}

static plx_status sparse_components(plx__blend *b, plx_context *ctx, const double *degree)
{
    int32_t *parent = NULL, *component = NULL;
    uint8_t *used = NULL;
    PLX_TRY(plx__arena_i32(&parent, plx__scratch(ctx), b->n));
    PLX_TRY(plx__arena_i32(&component, plx__scratch(ctx), b->n));
    PLX_TRY(plx__arena_u8(&used, plx__scratch(ctx), b->n));
    for (plx_index i = 0; i < b->n; i++) parent[i] = (int32_t)i, used[i] = degree[i] > 0;
    for (plx_index i = 0; i < b->n; i++)
        for (plx_index p = b->csr.ptr[i]; p < b->csr.ptr[i + 1]; p++) plx__disjoint_join(parent, i, b->csr.col[p]);
    if (b->unknown > 0) PLX_TRY(plx__presence_join(ctx, &b->presence, parent));
    PLX_TRY(plx__disjoint_number(component, &b->affine.n_components, ctx, parent, used, b->n));
    b->affine.component = component;
    return PLX_OK;
}

static plx_status describe(plx__blend *b, plx_context *ctx)
{
    double *degree = NULL, *ones = NULL;
    int32_t *component = NULL;
    PLX_TRY(plx__arena_f64(&degree, plx__scratch(ctx), b->n, 1));
    b->affine.degree = degree;
    b->affine.a = (plx__operator){b->n, b->sparse ? apply_sparse : apply_dense, b};
    if (!b->sparse) {
        for (plx_index i = 0; i < b->n; i++) degree[i] = plx__sum(b->dense.data + i * b->n, b->n);
        PLX_TRY(plx__components_dense(&component, &b->affine.n_components, ctx, plx__cmat(b->dense)));
        b->affine.component = component;
        return PLX_OK;
    }
    b->affine.sparse = &b->csr;
    b->affine.add = b->unknown > 0 ? add_unknown : NULL;
    PLX_TRY(plx__arena_f64(&ones, plx__scratch(ctx), b->n, 1));
    for (plx_index i = 0; i < b->n; i++) ones[i] = 1.0;
    PLX_TRY(apply_sparse(b, ctx, degree, ones));
    return sparse_components(b, ctx, degree);
}

static plx_status choose_samples(plx__blend *b, plx_context *ctx, const plx__affinity *views, plx_index n_views)
{
    PLX_TRY(plx__arena_i64(&b->sample, plx__scratch(ctx), views[0].n));
    for (plx_index i = 0; i < views[0].n; i++) {
        bool any = false;
        for (plx_index v = 0; v < n_views && !any; v++) any = views[v].present[i];
        if (any) b->sample[b->n++] = i;
    }
    return plx__presence_build(&b->presence, ctx, views, n_views, b->sample, b->n);
}

static plx_status new_degrees(plx__blend *b, plx_context *ctx, plx_index n, plx_index n_views)
{
    double **degree = NULL;
    PLX_TRY(PLX__ARENA_NEW(&degree, plx__scratch(ctx), n_views));
    for (plx_index v = 0; v < n_views; v++) PLX_TRY(plx__arena_f64(&degree[v], plx__scratch(ctx), n, 1));
    b->degree = degree;
    return PLX_OK;
}

plx_status plx__blend_build(plx__blend *out, plx_context *ctx, const plx__affinity *views, plx_index n_views,
                            const plx__blend_options *how)
{
    *out = (plx__blend){.how = *how, .sparse = true};
    PLX_TRY(choose_samples(out, ctx, views, n_views));
    if (how->normalise) PLX_TRY(new_degrees(out, ctx, views[0].n, n_views));
    for (plx_index v = 0; v < n_views; v++) out->sparse &= plx__affinity_is_sparse(&views[v]);
    PLX_TRY(out->sparse ? build_sparse(out, ctx, views, n_views) : build_dense(out, ctx, views, n_views));
    if (how->fill) PLX_TRY(find_unknown(out, ctx));
    return describe(out, ctx);
}
