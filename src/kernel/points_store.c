/*
 * Rows of a view as part of a model, and rows of two sources brought to one form.
 */
#include "kernel/prepared.h"

plx_status plx__points_put(plx__store *out, const char *name, plx__points rows)
{
    return plx__points_sparse(rows) ? plx__store_put_csr(out, name, rows.csr) : plx__store_put(out, name, rows.dense);
}

plx_status plx__points_get(plx__points *out, plx_context *ctx, const plx__store *fitted, const char *name,
                           plx_index rows, plx_index cols)
{
    const plx__array *found = plx__store_find(fitted, name);
    if (!found) PLX_FAIL(ctx, PLX_E_FORMAT, "the model lacks the array '%s'", name);
    *out = found->sparse ? plx__points_csr(plx__ccsr(found->csr)) : plx__points_dense(plx__cmat(found->dense));
    if ((rows >= 0 && plx__points_rows(*out) != rows) || plx__points_cols(*out) != cols)
        PLX_FAIL(ctx, PLX_E_FORMAT, "the model's array '%s' is %lld x %lld, which does not fit", name,
                 (long long)plx__points_rows(*out), (long long)plx__points_cols(*out));
    return PLX_OK;
}

plx_status plx__points_match(plx__points *rows, plx_context *ctx, plx__points like)
{
    plx_mat dense;
    plx_csr sparse;
    if (plx__points_sparse(*rows) == plx__points_sparse(like)) return PLX_OK;
    if (plx__points_sparse(like)) {
        PLX_TRY(plx__csr_from_dense(&sparse, plx__scratch(ctx), rows->dense));
        *rows = plx__points_csr(plx__ccsr(sparse));
        return PLX_OK;
    }
    PLX_TRY(plx__arena_mat(&dense, plx__scratch(ctx), rows->csr.rows, rows->csr.cols));
    plx__csr_to_dense(dense, rows->csr);
    *rows = plx__points_dense(plx__cmat(dense));
    return PLX_OK;
}
