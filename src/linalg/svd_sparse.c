/*
 * A few singular triplets of a large operator: eigenpairs of the smaller of A'A and AA', then the other
 * side by one product. Where that product cancels (tiny singular values), the missing directions are
 * completed to an orthonormal set.
 */
#include <math.h>
#include <string.h>

#include "linalg/csr.h"
#include "linalg/eigen.h"
#include "linalg/eigen_sparse.h"

typedef struct normal {
    plx__operator2 a;
    bool tall; /* rows >= cols: work on A'A */
    double *inner;
} normal;

static plx_status apply_normal(void *arg, plx_context *ctx, double *y, const double *x)
{
    const normal *n = arg;
    plx__apply_fn first = n->tall ? n->a.forward : n->a.adjoint, second = n->tall ? n->a.adjoint : n->a.forward;
    PLX_TRY(first(n->a.arg, ctx, n->inner, x));
    return second(n->a.arg, ctx, y, n->inner);
}

static void project_out(double *x, const double *basis, plx_index count, plx_index n)
{
    for (int pass = 0; pass < 2; pass++)
        for (plx_index j = 0; j < count; j++) plx__axpy(x, -plx__dot(x, basis + j * n, n), basis + j * n, n);
}

/* A unit vector orthogonal to the first `count` rows: the first coordinate axis that leaves enough. */
static void complete(double *x, const double *basis, plx_index count, plx_index n)
{
    for (plx_index axis = 0; axis < n; axis++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[axis] = 1.0;
        project_out(x, basis, count, n);
        double length = plx__norm(x, n);
        if (length * length * (double)n < 0.5) continue;
        plx__scale(x, 1.0 / length, n);
        return;
    }
}

/* other[j] = A v_j / s_j as rows; the length of A v_j is a better singular value than the square root. */
static plx_status other_side(plx_context *ctx, const normal *n, plx_cmat rows, double *s, plx_mat other)
{
    plx__apply_fn apply = n->tall ? n->a.forward : n->a.adjoint;
    for (plx_index j = 0; j < rows.rows; j++) {
        double *x = other.data + j * other.ld;
        PLX_TRY(apply(n->a.arg, ctx, x, rows.data + j * rows.ld));
        s[j] = plx__norm(x, other.cols);
        project_out(x, other.data, j, other.cols);
        double length = plx__norm(x, other.cols);
        if (length > 1e-10 * s[0]) plx__scale(x, 1.0 / length, other.cols);
        else complete(x, other.data, j, other.cols);
    }
    return PLX_OK;
}

static void hand_over(plx_mat out, plx_cmat rows, bool as_columns)
{
    if (!out.data) return;
    if (as_columns) plx__mat_transpose(out, rows);
    else plx__mat_copy(out, rows);
}

/* Sign by the left vectors. */
static void fix_row_signs(plx_mat left, plx_mat right)
{
    for (plx_index j = 0; j < left.rows; j++) {
        if (plx__leading_sign(left.data + j * left.ld, left.cols, 1) > 0) continue;
        plx__scale(left.data + j * left.ld, -1.0, left.cols);
        plx__scale(right.data + j * right.ld, -1.0, right.cols);
    }
}

plx_status plx__svd_few(plx_context *ctx, plx__operator2 a, plx_index k, const plx__eigen_options *options, plx_mat u,
                        double *s, plx_mat vt, const char *what)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    normal n = {a, a.rows >= a.cols, NULL};
    plx_index small = plx__min(a.rows, a.cols), large = plx__max(a.rows, a.cols);
    plx_mat vectors, near, far;
    PLX_ASSERT(k <= small);
    if (k == 0) return PLX_OK;
    PLX_TRY(plx__arena_f64(&n.inner, scratch, large, 1));
    PLX_TRY(plx__arena_mat(&vectors, scratch, small, k));
    PLX_TRY(plx__arena_mat(&near, scratch, k, small));
    PLX_TRY(plx__arena_mat(&far, scratch, k, large));
    plx__operator square = {small, apply_normal, &n};
    PLX_TRY(plx__eigen_few(ctx, square, k, PLX__LARGEST, options, s, vectors, what));
    plx__mat_transpose(near, plx__cmat(vectors));
    PLX_TRY(other_side(ctx, &n, plx__cmat(near), s, far));
    fix_row_signs(n.tall ? far : near, n.tall ? near : far);
    hand_over(u, plx__cmat(n.tall ? far : near), true);
    hand_over(vt, plx__cmat(n.tall ? near : far), false);
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- CSR, rows minus a mean that is never subtracted explicitly ---- */

typedef struct centred {
    plx_ccsr a;
    plx_ccsr transposed;
    const double *mean;
} centred;

static plx_status centred_forward(void *arg, plx_context *ctx, double *y, const double *x)
{
    const centred *c = arg;
    PLX_TRY(plx__spmv(ctx, 1.0, c->a, x, 0.0, y));
    double shift = c->mean ? plx__dot(c->mean, x, c->a.cols) : 0.0;
    for (plx_index i = 0; c->mean && i < c->a.rows; i++) y[i] -= shift;
    return PLX_OK;
}

static plx_status centred_adjoint(void *arg, plx_context *ctx, double *y, const double *x)
{
    const centred *c = arg;
    double sum = 0;
    PLX_TRY(plx__spmv(ctx, 1.0, c->transposed, x, 0.0, y));
    for (plx_index i = 0; c->mean && i < c->a.rows; i++) sum += x[i];
    if (c->mean) plx__axpy(y, -sum, c->mean, c->a.cols);
    return PLX_OK;
}

plx_status plx__csr_svd_few(plx_context *ctx, plx_ccsr a, const double *mean, plx_index k,
                            const plx__eigen_options *options, plx_mat u, double *s, plx_mat vt, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_csr transposed;
    PLX_TRY(plx__csr_transpose(&transposed, plx__scratch(ctx), a));
    centred c = {a, plx__ccsr(transposed), mean};
    plx__operator2 op = {a.rows, a.cols, centred_forward, centred_adjoint, &c};
    PLX_TRY(plx__svd_few(ctx, op, k, options, u, s, vt, what));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
