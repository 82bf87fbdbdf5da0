/*
 * Conditional variances of a Gaussian process without noise, by one column of the Cholesky factor per sample taken.
 *
 * Its kernel is k(i,l) = sum_v exp(-|x_iv - x_lv|^2 / t_v) / sqrt(m_i m_l) over the views both have, m the numbers of
 * views and t_v the mean squared distance of a view's rows from their mean: a positive semi-definite kernel with unit
 * diagonal, about e^-2 between unrelated samples. Rows of numbers are standardised, rows of counts and sparse rows made
 * of unit length.
 */
#include <math.h>
#include <string.h>

#include "active/batch.h"
#include "kernel/expansion.h"
#include "linalg/dense.h"
#include "linalg/distance.h"

typedef struct spread_view {
    const plx__view *v;
    plx__points x;     /* of a kernel view: its values */
    double *square;    /* n: |x_i|^2; 0 and not `told`: no say */
    uint8_t *told;     /* n: takes part */
    double variance;   /* t_v */
    bool unit, kernel; /* rows are taken at unit length; similarities are given */
} spread_view;

struct plx__spread {
    plx__run *run;
    plx_index n, count, most;
    spread_view *views;
    plx_mat factor; /* most x n: what each sample taken has told about all */
    double *left;   /* n: variance that is left */
    double *degree; /* n: views of the sample that take part */
    plx_mat inner;  /* n x 1 */
    double *kernel; /* n: row of the sample that is taken now */
};

/* ---- views ---- */

/* Columns with mean 0 and variance 1 over the rows that have the view; constant ones become 0. */
static plx_status standardise(spread_view *s, plx_context *ctx, plx_index n)
{
    const plx__view *v = s->v;
    plx_mat copy;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), v->dense));
    for (plx_index e = 0; e < v->cols; e++) {
        double sum = 0, squares = 0, count = (double)v->present_count;
        for (plx_index i = 0; i < n; i++)
            if (v->present[i]) sum += copy.data[i * copy.ld + e];
        for (plx_index i = 0; i < n; i++)
            if (v->present[i]) squares += pow(copy.data[i * copy.ld + e] - sum / count, 2);
        double deviation = sqrt(squares / count), scale = deviation > 1e-12 * fabs(sum / count) ? 1 / deviation : 0.0;
        for (plx_index i = 0; i < n; i++)
            if (v->present[i]) copy.data[i * copy.ld + e] = scale * (copy.data[i * copy.ld + e] - sum / count);
    }
    s->x = plx__points_dense(plx__cmat(copy));
    return PLX_OK;
}

static double kernel_entry(const plx__view *v, plx_index i, plx_index l)
{
    if (!v->sparse) return v->dense.data[i * v->dense.ld + l];
    for (int64_t e = v->csr.ptr[i]; e < v->csr.ptr[i + 1]; e++)
        if (v->csr.col[e] == l) return v->csr.val[e];
    return 0.0;
}

/* Mean |x_i|^2 - |mean|^2 over the rows that take part, rows at unit length where asked for. */
static plx_status find_variance(spread_view *s, plx_context *ctx, plx_mat share)
{
    double count = 0, squares = 0, middle = 0;
    plx_mat mean;
    for (plx_index i = 0; i < share.rows; i++) count += s->told[i];
    for (plx_index i = 0; i < share.rows; i++) {
        share.data[i] = !s->told[i] ? 0.0 : (s->unit ? 1 / sqrt(s->square[i]) : 1.0) / count;
        squares += !s->told[i] ? 0.0 : (s->unit ? 1.0 : s->square[i]) / count;
    }
    if (s->kernel) {
        for (plx_index i = 0; i < share.rows; i++)
            for (plx_index l = 0; l < share.rows && s->told[i]; l++)
                if (s->told[l]) middle += kernel_entry(s->v, i, l) / (count * count);
    } else {
        PLX_TRY(plx__arena_mat(&mean, plx__scratch(ctx), plx__points_cols(s->x), 1));
        PLX_TRY(plx__points_times_t(ctx, s->x, plx__cmat(share), mean));
        middle = plx__norm_sq(mean.data, mean.rows);
    }
    s->variance = fmax(squares - middle, 1e-12 * squares);
    return PLX_OK;
}

static plx_status open_view(spread_view *s, plx__run *run, const plx__view *v, plx_mat share)
{
    plx_index n = run->problem->n;
    *s = (spread_view){.v = v, .kernel = v->kind == PLX_VIEW_KERNEL, .unit = v->sparse || v->kind != PLX_VIEW_REAL};
    s->unit &= !s->kernel;
    s->x = v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense);
    PLX_TRY(plx__arena_f64(&s->square, plx__scratch(run->ctx), n, 1));
    PLX_TRY(plx__arena_u8(&s->told, plx__scratch(run->ctx), n));
    if (!v->present_count || (s->kernel && v->cols != n)) return PLX_OK;
    if (!s->kernel && !s->unit) PLX_TRY(standardise(s, run->ctx, n));
    if (!s->kernel) PLX_TRY(plx__points_norms_sq(run->ctx, s->x, s->square));
    for (plx_index i = 0; i < n; i++) {
        if (s->kernel && v->present[i]) s->square[i] = kernel_entry(v, i, i);
        s->told[i] = v->present[i] && (!s->unit || s->square[i] > 0);
    }
    return find_variance(s, run->ctx, share);
}

plx_status plx__spread_open(plx__spread **out, plx__run *run, plx_index most)
{
    const plx__problem *p = run->problem;
    plx__arena *scratch = plx__scratch(run->ctx);
    plx__spread *s = NULL;
    PLX_TRY(PLX__ARENA_NEW(out, scratch, 1));
    s = *out;
    *s = (plx__spread){.run = run, .n = p->n, .most = plx__min(most, p->n)};
    PLX_TRY(plx__arena_mat(&s->factor, scratch, s->most, p->n));
    PLX_TRY(plx__arena_f64(&s->left, scratch, p->n, 1));
    PLX_TRY(plx__arena_f64(&s->degree, scratch, p->n, 1));
    PLX_TRY(plx__arena_f64(&s->kernel, scratch, p->n, 1));
    PLX_TRY(plx__arena_mat(&s->inner, scratch, p->n, 1));
    PLX_TRY(PLX__ARENA_NEW(&s->views, scratch, p->n_views));
    for (plx_index i = 0; i < p->n; i++) s->left[i] = 1.0;
    for (plx_index v = 0; v < p->n_views; v++) {
        PLX_TRY(open_view(&s->views[v], run, &p->views[v], s->inner));
        for (plx_index i = 0; i < p->n; i++) s->degree[i] += s->views[v].told[i];
    }
    return PLX_OK;
}

/* ---- taking ---- */

/* kernel += that of the view between all samples and sample t. */
static plx_status add_view(plx__spread *s, const spread_view *v, plx_index t)
{
    if (!v->told[t]) return PLX_OK;
    if (v->kernel)
        for (plx_index i = 0; i < s->n; i++) s->inner.data[i] = v->told[i] ? kernel_entry(v->v, i, t) : 0.0;
    else PLX_TRY(plx__points_inner(s->run->ctx, v->x, plx__points_range(v->x, t, t + 1), s->inner));
    for (plx_index i = 0; i < s->n; i++) {
        double inner = s->inner.data[i], square = v->square[i] + v->square[t] - 2 * inner;
        if (!v->told[i]) continue;
        if (v->unit) square = 2 - 2 * inner / sqrt(v->square[i] * v->square[t]);
        s->kernel[i] += exp(-fmax(square, 0.0) / v->variance) / sqrt(s->degree[i] * s->degree[t]);
    }
    return PLX_OK;
}

plx_status plx__spread_take(plx__spread *s, plx_index t)
{
    double pivot = s->left[t], *column = s->factor.data + s->count * s->factor.ld;
    if (s->count == s->most || pivot < 1e-12) return PLX_OK; /* told already */
    memset(s->kernel, 0, (size_t)s->n * sizeof *s->kernel);
    for (plx_index v = 0; v < s->run->problem->n_views; v++) PLX_TRY(add_view(s, &s->views[v], t));
    for (plx_index i = 0; i < s->n; i++) {
        double value = s->kernel[i];
        for (plx_index k = 0; k < s->count; k++)
            value -= s->factor.data[k * s->factor.ld + t] * s->factor.data[k * s->factor.ld + i];
        column[i] = value / sqrt(pivot);
        s->left[i] -= column[i] * column[i];
        if (s->left[i] < 1e-12) s->left[i] = 0.0;
    }
    s->left[t] = 0.0;
    s->count++;
    return PLX_OK;
}

double plx__spread_left(const plx__spread *s, plx_index i) { return s->left[i]; }

double plx__spread_bytes(const plx__run *run, double most)
{
    const plx__problem *p = run->problem;
    double n = (double)p->n, bytes = 8 * n * (fmin(most, n) + 4);
    for (plx_index v = 0; v < p->n_views; v++) {
        const plx__view *view = &p->views[v];
        bool copied = !view->sparse && view->kind == PLX_VIEW_REAL;
        bytes += 9 * n + 8 * (double)view->cols + (copied ? 8 * n * (double)view->cols : 0);
    }
    return bytes;
}
