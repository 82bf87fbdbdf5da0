/*
 * Changed data share every block of values that did not change; a shuffled view is a permutation of rows of
 * the same table, and only a shuffled or stepped column is copied.
 */
#include "explain/rearrange.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

/* ---- presence ---- */

static plx_status masked(plx_dataset **out, plx_context *ctx, const plx_dataset *d, plx_index view, bool keep)
{
    uint8_t *present = NULL;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), d->n * d->n_views));
    for (plx_index i = 0; i < d->n; i++)
        for (plx_index v = 0; v < d->n_views; v++)
            present[v * d->n + i] = d->views[v].present[i] && (v == view) == keep;
    return plx__dataset_mask(out, ctx, d, present);
}

plx_status plx__without_view(plx_dataset **out, plx_context *ctx, const plx_dataset *d, plx_index view)
{
    return masked(out, ctx, d, view, false);
}

plx_status plx__only_view(plx_dataset **out, plx_context *ctx, const plx_dataset *d, plx_index view)
{
    return masked(out, ctx, d, view, true);
}

/* ---- other values in one view ---- */

/* Rows that have the view, dealt anew: row i gets that of source[i]; the others keep their own. */
static plx_status deal(plx_index **source, plx_context *ctx, const plx__view *v, plx_index n, uint64_t stream)
{
    plx_index *have = NULL, *order = NULL, count = 0;
    plx__rng rng = plx__rng_start(ctx->seed, stream);
    PLX_TRY(plx__arena_i64(source, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_i64(&have, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_i64(&order, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) {
        (*source)[i] = i;
        if (v->present[i]) have[count++] = i;
    }
    plx__permutation(&rng, order, count);
    for (plx_index k = 0; k < count; k++) (*source)[have[k]] = have[order[k]];
    return PLX_OK;
}

typedef plx_status (*values_fn)(plx_dataset *to, plx_context *ctx, const plx__view *v, plx_index n,
                                const plx_index *source, plx_index column);

static plx_status deal_rows(plx_dataset *to, plx_context *ctx, const plx__view *v, plx_index n, const plx_index *source,
                            plx_index column)
{
    plx_mat dense;
    plx_csr thin;
    (void)column;
    if (v->sparse) {
        PLX_TRY(plx__csr_select_rows(&thin, plx__scratch(ctx), v->csr, source, n));
        return plx__dataset_add_sparse(to, ctx, v->name, v->kind, plx__ccsr(thin), v->features, v->present);
    }
    PLX_TRY(plx__arena_mat(&dense, plx__scratch(ctx), n, v->cols));
    for (plx_index i = 0; i < n; i++)
        memcpy(dense.data + i * dense.ld, v->dense.data + source[i] * v->dense.ld, (size_t)v->cols * sizeof(double));
    return plx__dataset_add_dense(to, ctx, v->name, v->kind, plx__cmat(dense), v->features, v->present);
}

/* Row i without the column, and with another value there. */
static void copy_row(plx_csr *out, plx_index *at, plx_ccsr from, plx_index i, plx_index column, double value)
{
    bool placed = value == 0;
    for (int64_t p = from.ptr[i]; p <= from.ptr[i + 1]; p++) {
        bool end = p == from.ptr[i + 1];
        if (!placed && (end || from.col[p] >= column)) {
            out->col[*at] = (int32_t)column;
            out->val[(*at)++] = value;
            placed = true;
        }
        if (end || from.col[p] == column) continue;
        out->col[*at] = from.col[p];
        out->val[(*at)++] = from.val[p];
    }
    out->ptr[i + 1] = *at;
}

static plx_status deal_column(plx_dataset *to, plx_context *ctx, const plx__view *v, plx_index n,
                              const plx_index *source, plx_index column)
{
    plx_mat dense;
    plx_csr thin;
    plx_index at = 0;
    if (v->sparse) {
        PLX_TRY(plx__arena_csr(&thin, plx__scratch(ctx), n, v->cols, plx__nnz(v->csr) + n));
        for (plx_index i = 0; i < n; i++)
            copy_row(&thin, &at, v->csr, i, column, plx__csr_get(v->csr, source[i], column));
        return plx__dataset_add_sparse(to, ctx, v->name, v->kind, plx__ccsr(thin), v->features, v->present);
    }
    PLX_TRY(plx__mat_clone(&dense, plx__scratch(ctx), v->dense));
    for (plx_index i = 0; i < n; i++)
        dense.data[i * dense.ld + column] = v->dense.data[source[i] * v->dense.ld + column];
    return plx__dataset_add_dense(to, ctx, v->name, v->kind, plx__cmat(dense), v->features, v->present);
}

static plx_status fill(plx_dataset *to, plx_context *ctx, const plx_dataset *d, plx_index view, plx_index column,
                       uint64_t stream, values_fn values)
{
    plx_index *source = NULL;
    PLX_TRY(deal(&source, ctx, &d->views[view], d->n, stream));
    if (d->ids) PLX_TRY(plx__dataset_set_ids(to, ctx, d->ids));
    for (plx_index v = 0; v < d->n_views; v++) {
        if (v == view) PLX_TRY(values(to, ctx, &d->views[v], d->n, source, column));
        else PLX_TRY(plx__dataset_share(to, ctx, &d->views[v]));
    }
    return PLX_OK;
}

static plx_status dealt(plx_dataset **out, plx_context *ctx, const plx_dataset *d, plx_index view, plx_index column,
                        uint64_t stream, values_fn values)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    *out = NULL;
    PLX_TRY(plx__dataset_create(out, ctx, d->name, d->n));
    plx_status st = fill(*out, ctx, d, view, column, stream, values);
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}

plx_status plx__permuted_view(plx_dataset **out, plx_context *ctx, const plx_dataset *d, plx_index view,
                              uint64_t stream)
{
    return dealt(out, ctx, d, view, -1, stream, deal_rows);
}

plx_status plx__permuted_column(plx_dataset **out, plx_context *ctx, const plx_dataset *d, plx_index view,
                                plx_index column, uint64_t stream)
{
    return dealt(out, ctx, d, view, column, stream, deal_column);
}

/* ---- samples made up ---- */

plx_status plx__column_moments(double *mean, double *deviation, plx_context *ctx, const plx__view *v, plx_index n)
{
    double count = (double)plx__max(v->present_count, 1);
    (void)ctx;
    memset(mean, 0, (size_t)v->cols * sizeof *mean);
    memset(deviation, 0, (size_t)v->cols * sizeof *deviation);
    for (int pass = 0; pass < 2; pass++)
        for (plx_index i = 0; i < n; i++) {
            if (!v->present[i]) continue;
            plx_index entries = v->sparse ? v->csr.ptr[i + 1] - v->csr.ptr[i] : v->cols;
            const double *x = v->sparse ? v->csr.val + v->csr.ptr[i] : v->dense.data + i * v->dense.ld;
            for (plx_index e = 0; e < entries; e++) {
                plx_index j = v->sparse ? v->csr.col[v->csr.ptr[i] + e] : e;
                if (isnan(x[e])) continue;
                if (pass == 0) mean[j] += x[e] / count;
                else
                    deviation[j] += ((x[e] - mean[j]) * (x[e] - mean[j]) - (v->sparse ? mean[j] * mean[j] : 0)) / count;
            }
        }
    /* Entries that are not stored are zeros: (0 - mean)^2 each. */
    for (plx_index j = 0; j < v->cols; j++)
        deviation[j] = sqrt(fmax(0.0, deviation[j] + (v->sparse ? mean[j] * mean[j] : 0)));
    return PLX_OK;
}

static plx_status add_mean_view(plx_dataset *to, plx_context *ctx, const plx__view *v, plx_index n,
                                const plx_index *column, plx_index count, double *deviation)
{
    double *mean = NULL, *spread = NULL;
    plx_mat rows;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), v->cols, 1));
    PLX_TRY(plx__arena_f64(&spread, plx__scratch(ctx), v->cols, 1));
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), count + 1, v->cols));
    PLX_TRY(plx__column_moments(mean, spread, ctx, v, n));
    for (plx_index k = 0; k <= count; k++) {
        memcpy(rows.data + k * rows.ld, mean, (size_t)v->cols * sizeof *mean);
        if (!column || k == 0) continue;
        deviation[k - 1] = spread[column[k - 1]];
        rows.data[k * rows.ld + column[k - 1]] += spread[column[k - 1]];
    }
    return plx__dataset_add_dense(to, ctx, v->name, v->kind == PLX_VIEW_BINARY ? PLX_VIEW_REAL : v->kind,
                                  plx__cmat(rows), v->features, NULL);
}

plx_status plx__stepped_samples(plx_dataset **out, plx_context *ctx, const plx_dataset *d, plx_index view,
                                const plx_index *column, plx_index count, double *deviation)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_status st = PLX_OK;
    PLX_TRY(plx__dataset_create(out, ctx, d->name, count + 1));
    for (plx_index v = 0; st == PLX_OK && v < d->n_views; v++)
        st = add_mean_view(*out, ctx, &d->views[v], d->n, v == view ? column : NULL, count, deviation);
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}
