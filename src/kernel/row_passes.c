/*
 * A slab's table starts at zero, so its first pane overwrites and the others add.
 */
#include "kernel/row_passes.h"

#include <string.h>

#include "core/ranks.h"
#include "kernel/expansion.h"

typedef struct pass {
    const plx__row_passes *p;
    plx_cmat y; /* beside the rows; of X w it is w */
    plx_mat out;
    double factor;
    const double *mean;
} pass;

static bool opens_slab(const plx__row_passes *p, plx_index begin) { return begin % p->whose.cut.rows == 0; }

/* Rows of the samples begin .. end-1. */
static void to_rows(const plx__row_passes *p, plx_index *begin, plx_index *end)
{
    *begin = plx__slab_row(&p->whose, *begin);
    *end = plx__slab_row(&p->whose, *end);
}

static plx_cmat rows_of(plx_cmat m, plx_index begin, plx_index end)
{
    return plx__csub(m, begin, 0, end - begin, m.cols);
}

/* Which of the panes of this process begins with that sample. */
static plx_index pane_of(const plx__row_passes *p, const plx_context *ctx, plx_index begin)
{
    plx_index first = 0, end = 0;
    plx__slabs_mine(&first, &end, ctx, p->whose.cut);
    return (begin - first) / p->whose.cut.pane;
}

static plx_status turn_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const plx__row_passes *p = ((const pass *)arg)->p;
    plx_csr *out = &p->turned[pane_of(p, ctx, begin)];
    (void)table;
    to_rows(p, &begin, &end);
    return plx__csr_transpose(out, plx__scratch(ctx), plx__csr_rows(p->x.csr, begin, end));
}

plx_status plx__row_passes_open(plx__row_passes *out, plx_context *ctx, plx__points x, bool turn)
{
    plx_index n = plx__points_rows(x);
    plx__slab_rows whose = {plx__slabs_cut(n, PLX__PANE_ROWS), n, NULL};
    return plx__row_passes_open_for(out, ctx, x, turn, &whose);
}

plx_status plx__row_passes_open_for(plx__row_passes *out, plx_context *ctx, plx__points x, bool turn,
                                    const plx__slab_rows *whose)
{
    plx_index first = 0, end = 0;
    *out = (plx__row_passes){.x = x, .whose = *whose};
    plx__slab_rows_mine(&out->begin, &out->end, ctx, whose);
    if (!turn || !plx__points_sparse(x)) return PLX_OK;
    plx__slabs_mine(&first, &end, ctx, whose->cut);
    PLX_TRY(PLX__ARENA_NEW(&out->turned, plx__scratch(ctx), (end - first) / whose->cut.pane + 1));
    return plx__slabs_each(ctx, whose->cut, turn_pane, &(pass){.p = out});
}

plx_status plx__row_passes_share(const plx__row_passes *p, plx_context *ctx, plx_mat y)
{
    return plx__slab_rows_share(ctx, &p->whose, y.data, (size_t)y.ld * sizeof *y.data);
}

/* ---- X w ---- */

static plx_status times_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pass *q = arg;
    (void)table;
    to_rows(q->p, &begin, &end);
    return plx__points_times(ctx, plx__points_range(q->p->x, begin, end), q->y,
                             plx__sub(q->out, begin, 0, end - begin, q->out.cols));
}

plx_status plx__row_passes_times(const plx__row_passes *p, plx_context *ctx, plx_cmat w, plx_mat y)
{
    return plx__slabs_each(ctx, p->whose.cut, times_pane, &(pass){.p = p, .y = w, .out = y});
}

/* ---- X' y ---- */

static plx_status add_products(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pass *q = arg;
    const plx__row_passes *p = q->p;
    double keep = opens_slab(p, begin) ? 0.0 : 1.0;
    const plx_csr *turned = p->turned ? &p->turned[pane_of(p, ctx, begin)] : NULL;
    to_rows(p, &begin, &end);
    plx_cmat y = rows_of(q->y, begin, end);
    plx_mat to = plx__mat_of(table, plx__points_cols(p->x), y.cols);
    if (turned) return plx__spmm(ctx, 1.0, plx__ccsr(*turned), y, keep, to);
    plx__points x = plx__points_range(p->x, begin, end);
    if (plx__points_sparse(x)) return plx__spmm_t(ctx, 1.0, x.csr, y, keep, to);
    if (y.cols == 1 && y.ld == 1) return plx__gemv(ctx, 1.0, x.dense, PLX__T, y.data, keep, table);
    return plx__gemm(ctx, 1.0, x.dense, PLX__T, y, PLX__N, keep, to);
}

plx_status plx__row_passes_times_t(const plx__row_passes *p, plx_context *ctx, plx_cmat y, plx_mat w)
{
    PLX_ASSERT(w.ld == w.cols && w.rows == plx__points_cols(p->x));
    return plx__slabs_sum(ctx, p->whose.cut, w.rows * w.cols, add_products, &(pass){.p = p, .y = y}, w.data);
}

/* ---- sums over rows ---- */

static plx_status add_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pass *q = arg;
    (void)ctx;
    to_rows(q->p, &begin, &end);
    for (plx_index i = begin; i < end; i++) plx__axpy(table, q->factor, q->y.data + i * q->y.ld, q->y.cols);
    return PLX_OK;
}

plx_status plx__row_passes_sums(const plx__row_passes *p, plx_context *ctx, plx_cmat y, double factor, double *sums)
{
    return plx__slabs_sum(ctx, p->whose.cut, y.cols, add_rows, &(pass){.p = p, .y = y, .factor = factor}, sums);
}

/* Pane by pane in parallel. */
static plx_status add_sums(plx_context *ctx, plx_cmat rows, double *table)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *sums = NULL;
    PLX_TRY(plx__arena_f64(&sums, plx__scratch(ctx), rows.cols, 1));
    PLX_TRY(plx__col_sums(ctx, sums, rows));
    plx__axpy(table, 1.0, sums, rows.cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status add_part(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pass *q = arg;
    to_rows(q->p, &begin, &end);
    return add_sums(ctx, rows_of(q->y, begin, end), table);
}

plx_status plx__row_passes_columns(const plx__row_passes *p, plx_context *ctx, plx_cmat y, double *sums)
{
    return plx__slabs_sum(ctx, p->whose.cut, y.cols, add_part, &(pass){.p = p, .y = y}, sums);
}

static plx_status add_squares(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pass *q = arg;
    (void)ctx;
    to_rows(q->p, &begin, &end);
    const double *at = q->y.data + begin * q->y.ld;
    *table += plx__dot(at, at, (end - begin) * q->y.cols);
    return PLX_OK;
}

plx_status plx__row_passes_squares(const plx__row_passes *p, plx_context *ctx, plx_cmat y, double *out)
{
    PLX_ASSERT(y.ld == y.cols);
    return plx__slabs_sum(ctx, p->whose.cut, 1, add_squares, &(pass){.p = p, .y = y}, out);
}

/* ---- the rows' own moments ---- */

static plx_status dense_pane(plx_mat *out, plx_context *ctx, const plx__row_passes *p, plx_index begin, plx_index end)
{
    plx__points x = plx__points_range(p->x, begin, end);
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), end - begin, plx__points_cols(x)));
    if (plx__points_sparse(x)) plx__csr_to_dense(*out, x.csr);
    else plx__mat_copy(*out, x.dense);
    return PLX_OK;
}

static plx_status add_columns(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const plx__row_passes *p = ((const pass *)arg)->p;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat x;
    to_rows(p, &begin, &end);
    PLX_TRY(dense_pane(&x, ctx, p, begin, end));
    PLX_TRY(add_sums(ctx, plx__cmat(x), table));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__row_passes_mean(const plx__row_passes *p, plx_context *ctx, double *mean)
{
    plx_index d = plx__points_cols(p->x);
    PLX_TRY(plx__slabs_sum(ctx, p->whose.cut, d, add_columns, &(pass){.p = p}, mean));
    for (plx_index j = 0; j < d; j++) mean[j] /= (double)plx__max(1, p->whose.n);
    return PLX_OK;
}

static plx_status add_gram(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pass *q = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index d = plx__points_cols(q->p->x);
    double keep = opens_slab(q->p, begin) ? 0.0 : 1.0;
    plx_mat x;
    to_rows(q->p, &begin, &end);
    PLX_TRY(dense_pane(&x, ctx, q->p, begin, end));
    if (q->mean) plx__sub_row(x, q->mean);
    PLX_TRY(plx__syrk(ctx, q->factor, plx__cmat(x), PLX__T, keep, plx__mat_of(table, d, d)));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__row_passes_gram(const plx__row_passes *p, plx_context *ctx, const double *mean, double factor,
                                plx_mat out)
{
    PLX_ASSERT(out.ld == out.cols && out.cols == plx__points_cols(p->x));
    pass q = {.p = p, .factor = factor, .mean = mean};
    return plx__slabs_sum(ctx, p->whose.cut, out.rows * out.cols, add_gram, &q, out.data);
}

double plx__row_passes_bytes(const plx_context *ctx, plx_index rows, double width)
{
    plx__slabs cut = plx__slabs_cut(rows, PLX__PANE_ROWS);
    return 8.0 * width * (double)(plx__ranks(ctx) > 1 ? plx__slabs_most(ctx, cut) : cut.count > 1);
}
