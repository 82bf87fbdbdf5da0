/*
 * Rows are written in column order with the diagonal in place; powers are sparse products.
 */
#include "graph/laplacian.h"

#include <math.h>

/* Factor of the weights and value of the diagonal for a vertex of this degree. */
typedef struct row_rule {
    const double *degree;
    double mean; /* over vertices that have edges */
    plx__laplacian_kind kind;
} row_rule;

static double off_diagonal(const row_rule *r, plx_index i, plx_index j, double w)
{
    switch (r->kind) {
    /* One root at a time: the product of two tiny degrees would underflow to 0. */
    case PLX__LAPLACIAN_NORMALIZED: return -w / (sqrt(r->degree[i]) * sqrt(r->degree[j]));
    case PLX__LAPLACIAN_SCALED: return -w / r->mean;
    case PLX__LAPLACIAN_UNNORMALIZED: break;
    }
    return -w;
}

static double diagonal(const row_rule *r, plx_index i)
{
    switch (r->kind) {
    case PLX__LAPLACIAN_NORMALIZED: return 1.0;
    case PLX__LAPLACIAN_SCALED: return r->degree[i] / r->mean;
    case PLX__LAPLACIAN_UNNORMALIZED: break;
    }
    return r->degree[i];
}

/* Row i in column order, the diagonal in its place; weights of zero are left out. */
static plx_index fill_row(plx_csr out, plx_index at, plx_ccsr w, const row_rule *r, plx_index i)
{
    bool placed = false;
    if (!(r->degree[i] > 0)) return at;
    for (plx_index p = w.ptr[i]; p <= w.ptr[i + 1]; p++) {
        bool end = p == w.ptr[i + 1];
        if (!placed && (end || w.col[p] > i)) {
            out.col[at] = (int32_t)i;
            out.val[at++] = diagonal(r, i);
            placed = true;
        }
        if (end || w.val[p] == 0) continue;
        out.col[at] = w.col[p];
        out.val[at++] = off_diagonal(r, i, w.col[p], w.val[p]);
    }
    return at;
}

static plx_status first_power(plx_csr *out, plx_context *ctx, plx_ccsr w, plx__laplacian_kind kind)
{
    double *degree = NULL, sum = 0;
    plx_index joined = 0;
    PLX_TRY(plx__arena_f64(&degree, plx__scratch(ctx), w.rows, 1));
    plx__csr_row_sums(w, degree);
    for (plx_index i = 0; i < w.rows; i++) {
        joined += degree[i] > 0;
        sum += degree[i];
    }
    row_rule rule = {degree, joined ? sum / (double)joined : 1.0, kind};
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), w.rows, w.rows, plx__nnz(w) + w.rows));
    for (plx_index i = 0; i < w.rows; i++) out->ptr[i + 1] = fill_row(*out, out->ptr[i], w, &rule, i);
    return PLX_OK;
}

plx_status plx__laplacian(plx_csr *out, plx_context *ctx, plx_ccsr w, plx__laplacian_kind kind, plx_index power)
{
    plx_csr once;
    PLX_TRY(first_power(&once, ctx, w, kind));
    *out = once;
    for (plx_index p = 1; p < power; p++) {
        plx_csr next;
        PLX_TRY(plx__csr_matmul(&next, plx__scratch(ctx), plx__ccsr(*out), plx__ccsr(once)));
        *out = next;
    }
    return PLX_OK;
}

plx_status plx__view_laplacian(plx_csr *out, plx_context *ctx, const plx__graph_source *source,
                               const plx__graph_settings *settings)
{
    plx_csr w;
    PLX_TRY(plx__similarity_graph(&w, ctx, source, settings));
    return plx__laplacian(out, ctx, plx__ccsr(w), settings->laplacian, settings->power);
}
