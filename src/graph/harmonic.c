/*
 * pinv(L_QQ) is formed for up to a thousand absent samples and applied by conjugate gradients beyond that; a
 * component without any sample of P makes L_QQ singular, so it is never factorised.
 */
#include "graph/harmonic.h"

#include <math.h>

#include "linalg/eigen.h"
#include "linalg/iterative.h"

enum { INVERT_UP_TO = 1000 }; /* absent samples with edges whose pseudoinverse is formed */

static plx_status block_of(plx_csr *out, plx_context *ctx, plx_ccsr l, const plx_index *rows, plx_index n_rows,
                           const plx_index *cols, plx_index n_cols)
{
    plx_csr chosen;
    PLX_TRY(plx__csr_select_rows(&chosen, plx__scratch(ctx), l, rows, n_rows));
    return plx__csr_select_cols(out, plx__scratch(ctx), plx__ccsr(chosen), cols, n_cols);
}

/* V diag(1/lambda) V' over the eigenvalues above 1e-10 of the largest. */
static plx_status pseudoinverse(plx_mat *out, plx_context *ctx, plx_ccsr a)
{
    plx_index n = a.rows;
    plx_mat dense, vectors, scaled;
    double *values = NULL;
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), n, n));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_mat(&dense, plx__scratch(ctx), n, n));
    PLX_TRY(plx__arena_mat(&vectors, plx__scratch(ctx), n, n));
    PLX_TRY(plx__arena_f64(&values, plx__scratch(ctx), n, 1));
    plx__csr_to_dense(dense, a);
    PLX_TRY(plx__sym_eigen(ctx, dense, values, vectors));
    PLX_TRY(plx__mat_clone(&scaled, plx__scratch(ctx), plx__cmat(vectors)));
    for (plx_index j = 0; j < n; j++) {
        double inverse = values[j] > 1e-10 * values[n - 1] ? 1.0 / values[j] : 0.0;
        for (plx_index i = 0; i < n; i++) scaled.data[i * n + j] *= inverse;
    }
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(scaled), PLX__N, plx__cmat(vectors), PLX__T, 0.0, *out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__harmonic_begin(plx__harmonic *out, plx_context *ctx, plx_ccsr l, const uint8_t *present)
{
    plx_index *p = NULL, *q = NULL, n_p = 0, n_q = 0;
    *out = (plx__harmonic){0};
    PLX_TRY(plx__arena_i64(&p, plx__scratch(ctx), l.rows));
    PLX_TRY(plx__arena_i64(&q, plx__scratch(ctx), l.rows));
    for (plx_index i = 0; i < l.rows; i++)
        if (present[i]) p[n_p++] = i;
        else if (l.ptr[i + 1] > l.ptr[i]) q[n_q++] = i; /* samples without edges carry nothing */
    PLX_TRY(block_of(&out->pp, ctx, l, p, n_p, p, n_p));
    if (!n_q) return PLX_OK;
    PLX_TRY(block_of(&out->pq, ctx, l, p, n_p, q, n_q));
    PLX_TRY(block_of(&out->qp, ctx, l, q, n_q, p, n_p));
    PLX_TRY(block_of(&out->qq, ctx, l, q, n_q, q, n_q));
    if (n_q <= INVERT_UP_TO) return pseudoinverse(&out->inverse, ctx, plx__ccsr(out->qq));
    PLX_TRY(plx__arena_f64(&out->diagonal, plx__scratch(ctx), n_q, 1));
    for (plx_index i = 0; i < n_q; i++) out->diagonal[i] = plx__csr_get(plx__ccsr(out->qq), i, i);
    return PLX_OK;
}

/* z = pinv(L_QQ) t. */
static plx_status fill_in(const plx__harmonic *h, plx_context *ctx, plx_cmat t, plx_mat z)
{
    if (h->inverse.data) return plx__gemm(ctx, 1.0, plx__cmat(h->inverse), PLX__N, t, PLX__N, 0.0, z);
    plx_ccsr qq = plx__ccsr(h->qq);
    plx__block_operator a = {qq.rows, plx__csr_apply_block, &qq};
    plx__iter_options options = {.tol = 1e-12, .diagonal = h->diagonal, .phase = "missing views"};
    plx__mat_fill(z, 0.0);
    return plx__cg_block(ctx, a, t, z, &options, NULL);
}

plx_status plx__harmonic_apply(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const plx__harmonic *h = arg;
    PLX_TRY(plx__spmm(ctx, 1.0, plx__ccsr(h->pp), x, 0.0, y));
    if (!h->qq.rows) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat t, z;
    PLX_TRY(plx__arena_mat(&t, plx__scratch(ctx), h->qq.rows, x.cols));
    PLX_TRY(plx__arena_mat(&z, plx__scratch(ctx), h->qq.rows, x.cols));
    PLX_TRY(plx__spmm(ctx, 1.0, plx__ccsr(h->qp), x, 0.0, t));
    PLX_TRY(fill_in(h, ctx, plx__cmat(t), z));
    PLX_TRY(plx__spmm(ctx, -1.0, plx__ccsr(h->pq), plx__cmat(z), 1.0, y));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
