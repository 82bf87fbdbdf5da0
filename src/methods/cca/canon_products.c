/*
 * Products of the rows of two views, dense or sparse, centred implicitly: X'Y - m_x s_y' - s_x m_y' + n m_x m_y' with
 * the column sums s over the rows taken. X'Y is a sum over slabs of the rows, which processes divide.
 */
#include <math.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "linalg/dense.h"
#include "methods/cca/canon.h"

/* Rows of a view, and which a process has of them; NULL: all. */
typedef struct some_rows {
    plx__points rows;
    const plx_index *bound;
} some_rows;

static plx_status take_some(some_rows *out, plx_context *ctx, const canon_view *v, const plx_index *at, plx_index count)
{
    plx__slab_rows whose = {plx__slabs_cut(count, PLX__PANE_ROWS), count, NULL};
    plx_index *bound = NULL;
    PLX_TRY(plx__points_choose_own(&out->rows, ctx, v->z, v->bound, at, &whose));
    if (v->bound) PLX_TRY(plx__arena_i64(&bound, plx__scratch(ctx), plx__ranks(ctx) + 1));
    if (bound) plx__slabs_bounds(bound, ctx, whose.cut);
    out->bound = bound;
    return PLX_OK;
}

/* Rows of both views that belong to the same sample. */
static plx_status common_rows(some_rows *x, some_rows *y, plx_index *count, plx_context *ctx, const canon_view *a,
                              const canon_view *b)
{
    plx_index *first = NULL, *second = NULL, i = 0, j = 0;
    *count = 0;
    PLX_TRY(plx__arena_i64(&first, plx__scratch(ctx), a->n));
    PLX_TRY(plx__arena_i64(&second, plx__scratch(ctx), b->n));
    while (i < a->n && j < b->n) {
        if (a->sample[i] == b->sample[j]) {
            first[*count] = i;
            second[(*count)++] = j;
        }
        plx_index here = a->sample[i], there = b->sample[j];
        i += here <= there;
        j += there <= here;
    }
    *x = (some_rows){a->z, a->bound};
    *y = (some_rows){b->z, b->bound};
    if (*count == a->n && *count == b->n) return PLX_OK;
    PLX_TRY(take_some(x, ctx, a, first, *count));
    return take_some(y, ctx, b, second, *count);
}

static plx_status sparse_sparse(plx_mat out, plx_context *ctx, plx_ccsr x, plx_ccsr y)
{
    plx_csr transposed, product;
    PLX_TRY(plx__csr_transpose(&transposed, plx__scratch(ctx), x));
    PLX_TRY(plx__csr_matmul(&product, plx__scratch(ctx), plx__ccsr(transposed), y));
    plx__csr_to_dense(out, plx__ccsr(product));
    return PLX_OK;
}

/* Rows begin .. end-1, offsets from 0. */
static plx_status rows_from(plx__points *out, plx_context *ctx, plx__points x, plx_index begin, plx_index end)
{
    plx_index *ptr = NULL;
    *out = plx__points_range(x, begin, end);
    if (!plx__points_sparse(x) || begin == 0) return PLX_OK;
    plx_ccsr part = out->csr;
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(ctx), end - begin + 1));
    for (plx_index i = 0; i <= end - begin; i++) ptr[i] = part.ptr[i] - part.ptr[0];
    *out = plx__points_csr((plx_ccsr){part.rows, part.cols, ptr, part.col + part.ptr[0], part.val + part.ptr[0]});
    return PLX_OK;
}

/* out = X' Y. */
static plx_status inner(plx_mat out, plx_context *ctx, plx__points x, plx__points y)
{
    bool sx = plx__points_sparse(x), sy = plx__points_sparse(y);
    plx_mat flipped;
    if (sx && sy) return sparse_sparse(out, ctx, x.csr, y.csr);
    if (sx) return plx__spmm_t(ctx, 1.0, x.csr, y.dense, 0.0, out);
    if (!sy && x.dense.data == y.dense.data) return plx__syrk(ctx, 1.0, x.dense, PLX__T, 0.0, out);
    if (!sy) return plx__gemm(ctx, 1.0, x.dense, PLX__T, y.dense, PLX__N, 0.0, out);
    PLX_TRY(plx__arena_mat(&flipped, plx__scratch(ctx), out.cols, out.rows));
    PLX_TRY(plx__spmm_t(ctx, 1.0, y.csr, x.dense, 0.0, flipped));
    plx__mat_transpose(out, plx__cmat(flipped));
    return PLX_OK;
}

typedef struct cross {
    plx__points x, y;
    plx__slabs cut;
} cross;

static plx_status add_inner(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const cross *q = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index rows = plx__points_cols(q->x), cols = plx__points_cols(q->y);
    plx_mat own = plx__mat_of(table, rows, cols);
    plx__points x, y;
    bool first = begin % q->cut.rows == 0; /* nothing in the table yet */
    PLX_TRY(rows_from(&x, ctx, q->x, begin, end));
    PLX_TRY(rows_from(&y, ctx, q->y, begin, end));
    if (!first) PLX_TRY(plx__arena_mat(&own, plx__scratch(ctx), rows, cols));
    PLX_TRY(inner(own, ctx, x, y));
    if (!first) plx__axpy(table, 1.0, own.data, rows * cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status sum_inner(plx_mat out, plx_context *ctx, plx__points x, plx__points y)
{
    cross q = {x, y, plx__slabs_cut(plx__points_rows(x), PLX__PANE_ROWS)};
    plx_mat whole = out;
    if (q.cut.count == 1 && plx__points_rows(x) <= q.cut.pane && plx__ranks(ctx) == 1) return inner(out, ctx, x, y);
    if (out.ld != out.cols) PLX_TRY(plx__arena_mat(&whole, plx__scratch(ctx), out.rows, out.cols));
    PLX_TRY(plx__slabs_sum(ctx, q.cut, out.rows * out.cols, add_inner, &q, whole.data));
    if (out.ld != out.cols) plx__mat_copy(out, plx__cmat(whole));
    return PLX_OK;
}

static plx_status column_sums(double **out, plx_context *ctx, const some_rows *x)
{
    PLX_TRY(plx__arena_f64(out, plx__scratch(ctx), plx__points_cols(x->rows), 1));
    return plx__points_col_sums(*out, ctx, x->rows, x->bound);
}

/* out -= m_x s_y' + (s_x - n m_x) m_y'. */
static plx_status centre(plx_mat out, plx_context *ctx, const some_rows *x, const some_rows *y, const double *mx,
                         const double *my)
{
    double *sx = NULL, *sy = NULL, n = (double)plx__points_rows(x->rows);
    if (!mx && !my) return PLX_OK;
    PLX_TRY(column_sums(&sx, ctx, x));
    PLX_TRY(column_sums(&sy, ctx, y));
    for (plx_index i = 0; i < out.rows; i++) {
        double *row = out.data + i * out.ld;
        if (mx) plx__axpy(row, -mx[i], sy, out.cols);
        if (my) plx__axpy(row, (mx ? n * mx[i] : 0.0) - sx[i], my, out.cols);
    }
    return PLX_OK;
}

plx_status plx__canon_cross(plx_mat out, plx_context *ctx, const canon_view *a, const canon_view *b, bool scaled)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    some_rows x, y;
    plx_index count = 0;
    PLX_TRY(common_rows(&x, &y, &count, ctx, a, b));
    plx__mat_fill(out, 0.0);
    if (count > 0) {
        PLX_TRY(sum_inner(out, ctx, x.rows, y.rows));
        PLX_TRY(centre(out, ctx, &x, &y, a->mean, b->mean));
        if (scaled) plx__mat_scale(out, sqrt((double)a->n * (double)b->n) / (double)count);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__canon_spread(double *out, plx_context *ctx, const canon_view *v)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *square = NULL;
    plx__slabs cut = plx__slabs_cut(v->n, PLX__PANE_ROWS);
    plx_index begin = 0, end = 0;
    PLX_TRY(plx__arena_f64(&square, plx__scratch(ctx), v->n, 1));
    plx__slabs_mine(&begin, &end, ctx, cut);
    for (plx_index i = begin; i < end; i++) {
        if (!plx__points_sparse(v->z)) square[i] = plx__norm_sq(v->z.dense.data + i * v->z.dense.ld, v->r);
        else
            for (plx_index p = v->z.csr.ptr[i]; p < v->z.csr.ptr[i + 1]; p++)
                square[i] += v->z.csr.val[p] * v->z.csr.val[p];
    }
    PLX_TRY(plx__slabs_share(ctx, cut, square, sizeof *square, 1));
    *out = plx__sum(square, v->n) / (double)plx__max(1, v->n);
    if (v->mean) *out -= plx__norm_sq(v->mean, v->r);
    *out = sqrt(fmax(*out, 0.0));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__canon_own_times(plx_mat out, plx_context *ctx, const plx__row_passes *z, const double *mean, plx_cmat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *shift = NULL;
    PLX_TRY(plx__row_passes_times(z, ctx, w, out));
    if (mean) {
        PLX_TRY(plx__arena_f64(&shift, plx__scratch(ctx), w.cols, 1));
        PLX_TRY(plx__gemv(ctx, 1.0, w, PLX__T, mean, 0.0, shift));
        plx__sub_row(plx__sub(out, z->begin, 0, z->end - z->begin, out.cols), shift);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__canon_times_t(plx_mat out, plx_context *ctx, const plx__row_passes *z, const double *mean, plx_cmat y)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *sums = NULL;
    plx_mat whole = out;
    if (out.ld != out.cols) PLX_TRY(plx__arena_mat(&whole, plx__scratch(ctx), out.rows, out.cols));
    PLX_TRY(plx__row_passes_times_t(z, ctx, y, whole));
    if (whole.data != out.data) plx__mat_copy(out, plx__cmat(whole));
    if (mean) {
        PLX_TRY(plx__arena_f64(&sums, plx__scratch(ctx), y.cols, 1));
        PLX_TRY(plx__row_passes_columns(z, ctx, y, sums));
        for (plx_index i = 0; i < out.rows; i++) plx__axpy(out.data + i * out.ld, -mean[i], sums, out.cols);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__canon_times(plx_mat out, plx_context *ctx, plx__points z, const double *mean, plx_cmat w)
{
    plx__row_passes passes;
    PLX_TRY(plx__row_passes_open(&passes, ctx, z, false));
    PLX_TRY(plx__canon_own_times(out, ctx, &passes, mean, w));
    return plx__row_passes_share(&passes, ctx, out);
}
