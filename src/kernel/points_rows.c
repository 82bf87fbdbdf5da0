/*
 * Rows of points that are chosen, copied and added up, also where processes have their own.
 */
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "kernel/prepared.h"

/* ---- choosing ---- */

plx_status plx__points_select(plx__points *out, plx_context *ctx, plx__points from, const plx_index *rows,
                              plx_index count)
{
    if (plx__points_sparse(from)) {
        plx_csr chosen;
        PLX_TRY(plx__csr_select_rows(&chosen, plx__scratch(ctx), from.csr, rows, count));
        *out = plx__points_csr(plx__ccsr(chosen));
        return PLX_OK;
    }
    plx_mat chosen;
    PLX_TRY(plx__arena_mat(&chosen, plx__scratch(ctx), count, from.dense.cols));
    for (plx_index i = 0; i < count; i++) {
        plx__breathe(ctx, i);
        memcpy(chosen.data + i * chosen.ld, from.dense.data + rows[i] * from.dense.ld,
               (size_t)chosen.cols * sizeof(double));
    }
    *out = plx__points_dense(plx__cmat(chosen));
    return PLX_OK;
}

plx_status plx__points_choose(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound,
                              const plx_index *rows, plx_index count)
{
    if (!bound) return plx__points_select(out, ctx, from, rows, count);
    return plx__rows_fetch(out, ctx, from, bound, rows, count, NULL);
}

plx_status plx__points_choose_own(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound,
                                  const plx_index *rows, const plx__slab_rows *whose)
{
    plx_index *to = NULL;
    if (!bound) return plx__points_select(out, ctx, from, rows, whose->n);
    if (whose->cut.alone) return plx__rows_fetch(out, ctx, from, bound, rows, whose->n, NULL);
    PLX_TRY(plx__arena_i64(&to, plx__scratch(ctx), plx__ranks(ctx) + 1));
    for (int r = 0; r < plx__ranks(ctx); r++) {
        plx_index begin = 0, end = 0;
        plx__slabs_of_rank(&begin, &end, ctx, whose->cut, r);
        to[r + 1] = plx__slab_row(whose, end);
    }
    return plx__rows_fetch(out, ctx, from, bound, rows, whose->n, to);
}

plx_status plx__rows_clone(plx_mat *out, plx_context *ctx, plx_cmat from, const plx_index *bound)
{
    plx_index begin = plx__bound_begin(ctx, bound), end = plx__bound_end(ctx, bound, from.rows);
    plx_mat own;
    PLX_TRY(plx__mat_clone(&own, plx__scratch(ctx), plx__csub(from, begin, 0, end - begin, from.cols)));
    *out = (plx_mat){begin ? plx__rows_at(own.data, begin, from.cols) : own.data, from.rows, from.cols, from.cols};
    return PLX_OK;
}

plx_status plx__points_unit(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound)
{
    plx_index n = plx__points_rows(from), begin = plx__bound_begin(ctx, bound), end = plx__bound_end(ctx, bound, n);
    double *factor = NULL;
    PLX_TRY(plx__arena_f64(&factor, plx__scratch(ctx), n, 1));
    for (plx_index i = begin; i < end; i++) {
        double norm = plx__points_sparse(from)
                          ? plx__norm(from.csr.val + from.csr.ptr[i], from.csr.ptr[i + 1] - from.csr.ptr[i])
                          : plx__norm(from.dense.data + i * from.dense.ld, from.dense.cols);
        factor[i] = norm > 0 ? 1.0 / norm : 0.0;
    }
    if (plx__points_sparse(from)) {
        plx_csr unit;
        PLX_TRY(plx__csr_clone(&unit, plx__scratch(ctx), from.csr));
        plx__csr_scale_rows(unit, factor);
        *out = plx__points_csr(plx__ccsr(unit));
        return PLX_OK;
    }
    plx_mat unit;
    PLX_TRY(plx__rows_clone(&unit, ctx, from.dense, bound));
    for (plx_index i = begin; i < end; i++) plx__scale(unit.data + i * unit.ld, factor[i], unit.cols);
    *out = plx__points_dense(plx__cmat(unit));
    return PLX_OK;
}

/* ---- sums ---- */

typedef struct column_sums {
    plx__points rows;
    plx_index begin, end, grain;
    double *total, *part; /* part: dense rows, what comes before the total as plx__col_sums() has it */
} column_sums;

static void add_dense(const column_sums *q)
{
    plx_cmat m = q->rows.dense;
    for (plx_index i = q->begin; i < q->end; i++) {
        if (i && i % q->grain == 0) {
            plx__axpy(q->total, 1.0, q->part, m.cols);
            memset(q->part, 0, (size_t)m.cols * sizeof *q->part);
        }
        plx__axpy(q->part, 1.0, m.data + i * m.ld, m.cols);
    }
}

static void add_own(void *arg)
{
    const column_sums *q = arg;
    plx_ccsr x = q->rows.csr;
    if (!plx__points_sparse(q->rows)) add_dense(q);
    else
        for (int64_t e = x.ptr[q->begin]; e < x.ptr[q->end]; e++) q->total[x.col[e]] += x.val[e];
}

/* From rank to rank, each rank's rows in their order. */
static plx_status divided_sums(double *out, plx_context *ctx, plx__points rows, const plx_index *bound)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index cols = plx__points_cols(rows);
    column_sums q = {.rows = rows, .begin = bound[plx__rank(ctx)], .end = bound[plx__rank(ctx) + 1]};
    q.grain = plx__col_sums_grain(plx__points_rows(rows));
    PLX_TRY(plx__arena_f64(&q.total, plx__scratch(ctx), 2, cols));
    q.part = q.total + cols;
    PLX_TRY(plx__bound_chain(ctx, bound, q.total, 2 * (size_t)cols * sizeof *q.total, add_own, &q));
    memcpy(out, q.total, (size_t)cols * sizeof *out);
    plx__axpy(out, 1.0, q.part, cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__points_col_sums(double *out, plx_context *ctx, plx__points rows, const plx_index *bound)
{
    if (bound) return divided_sums(out, ctx, rows, bound);
    if (!plx__points_sparse(rows)) return plx__col_sums(ctx, out, rows.dense);
    plx__csr_col_sums(rows.csr, out);
    return PLX_OK;
}

plx_status plx__points_col_means(double *out, plx_context *ctx, plx__points rows, const plx_index *bound)
{
    double n = (double)plx__points_rows(rows);
    PLX_TRY(plx__points_col_sums(out, ctx, rows, bound));
    for (plx_index j = 0; j < plx__points_cols(rows); j++) out[j] = n > 0 ? out[j] / n : 0.0;
    return PLX_OK;
}
