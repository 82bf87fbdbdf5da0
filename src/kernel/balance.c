/*
 * The spread of a view around its mean. A sparse row differs from |mean|^2 only where it has entries.
 */
#include "kernel/balance.h"

#include <math.h>

#include "core/ranks.h"

static const double ROUNDING = 1e-14; /* spread relative to the squared norms that is taken for zero */

typedef struct sums {
    double count, spread, size; /* rows, sum of |x - mean|^2, sum of |x|^2 */
} sums;

/* Sums in row order, from process to process where rows are divided. */
typedef struct pass {
    const plx__prepared *rows;
    const uint8_t *use;
    plx_index begin, end; /* rows of this process */
    double *mean;         /* columns, then the number of rows that count */
    double mean_sq;
    sums s;
} pass;

static bool counts(const plx__prepared *rows, const uint8_t *use, plx_index i)
{
    return rows->present[i] && (!use || use[i]);
}

static void add_columns(void *arg)
{
    const pass *q = arg;
    plx__points x = q->rows->rows;
    for (plx_index i = q->begin; i < q->end; i++) {
        if (!counts(q->rows, q->use, i)) continue;
        q->mean[plx__points_cols(x)]++;
        if (!plx__points_sparse(x)) plx__axpy(q->mean, 1.0, x.dense.data + i * x.dense.ld, x.dense.cols);
        else
            for (int64_t e = x.csr.ptr[i]; e < x.csr.ptr[i + 1]; e++) q->mean[x.csr.col[e]] += x.csr.val[e];
    }
}

static void add_row(sums *s, plx__points x, plx_index i, const double *mean, double mean_sq)
{
    if (!plx__points_sparse(x)) {
        s->spread += plx__dist_sq(x.dense.data + i * x.dense.ld, mean, x.dense.cols);
        s->size += plx__norm_sq(x.dense.data + i * x.dense.ld, x.dense.cols);
        return;
    }
    double spread = mean_sq;
    for (int64_t e = x.csr.ptr[i]; e < x.csr.ptr[i + 1]; e++) {
        spread += x.csr.val[e] * (x.csr.val[e] - 2 * mean[x.csr.col[e]]);
        s->size += x.csr.val[e] * x.csr.val[e];
    }
    s->spread += fmax(spread, 0.0);
}

static void add_spread(void *arg)
{
    pass *q = arg;
    for (plx_index i = q->begin; i < q->end; i++)
        if (counts(q->rows, q->use, i)) add_row(&q->s, q->rows->rows, i, q->mean, q->mean_sq);
}

static plx_status find_factor(double *out, plx__run *run, const plx__prepared *rows, const uint8_t *use)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx_index cols = plx__points_cols(rows->rows);
    pass q = {.rows = rows, .use = use, .begin = plx__bound_begin(run->ctx, rows->bound)};
    q.end = plx__bound_end(run->ctx, rows->bound, plx__points_rows(rows->rows));
    PLX_TRY(plx__arena_f64(&q.mean, plx__scratch(run->ctx), cols + 1, 1));
    PLX_TRY(plx__bound_chain(run->ctx, rows->bound, q.mean, ((size_t)cols + 1) * sizeof *q.mean, add_columns, &q));
    double count = q.mean[cols];
    plx__scale(q.mean, count > 0 ? 1.0 / count : 0.0, cols);
    q.mean_sq = plx__norm_sq(q.mean, cols);
    PLX_TRY(plx__bound_chain(run->ctx, rows->bound, &q.s, sizeof q.s, add_spread, &q));
    sums s = q.s;
    s.count = count;
    if (!isfinite(s.spread))
        PLX_FAIL(run->ctx, PLX_E_NUMERIC, "%s: the values of view '%s' are too large; divide them by a constant",
                 run->method->name, rows->name);
    *out = s.count > 0 && s.spread > ROUNDING * s.size ? 1.0 / sqrt(s.spread / s.count) : 1.0;
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

static plx_status multiply(plx__points *x, plx_context *ctx, const plx_index *bound, double factor)
{
    if (plx__points_sparse(*x)) {
        plx_csr copy;
        PLX_TRY(plx__csr_clone(&copy, plx__scratch(ctx), x->csr));
        plx__scale(copy.val, factor, plx__nnz(x->csr));
        *x = plx__points_csr(plx__ccsr(copy));
        return PLX_OK;
    }
    plx_mat copy;
    plx_index begin = plx__bound_begin(ctx, bound), end = plx__bound_end(ctx, bound, x->dense.rows);
    PLX_TRY(plx__rows_clone(&copy, ctx, x->dense, bound));
    plx__mat_scale(plx__sub(copy, begin, 0, end - begin, copy.cols), factor);
    *x = plx__points_dense(plx__cmat(copy));
    return PLX_OK;
}

plx_status plx__balance(plx__prepared *rows, plx__run *run, const uint8_t *use)
{
    const char *name = NULL;
    double factor = 1;
    PLX_TRY(plx__view_key(&name, run->ctx, "_balance", rows->name));
    if (run->fitted) {
        PLX_TRY(plx__store_scalar(&factor, run->ctx, run->fitted, name));
        if (!(factor > 0 && isfinite(factor)))
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's factor of view '%s' is not > 0", rows->name);
    } else {
        PLX_TRY(find_factor(&factor, run, rows, use));
        PLX_TRY(plx__store_put(run->out, name, (plx_cmat){&factor, 1, 1, 1}));
    }
    return factor == 1.0 ? PLX_OK : multiply(&rows->rows, run->ctx, rows->bound, factor);
}
