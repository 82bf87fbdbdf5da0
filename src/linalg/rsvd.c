/*
 * Randomised SVD (Halko, Martinsson and Tropp 2011, algorithms 4.4 and 5.1): the range of A is found from
 * products with a Gaussian matrix, refined by power iterations with a QR after every product, and the
 * small problem Q'A is solved exactly.
 */
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/eigen.h"
#include "linalg/lowrank.h"

typedef struct matrix {
    const plx__rsvd_input *in;
    plx_ccsr transposed; /* of a sparse one: rows make both products fast */
} matrix;

static plx_index rows_of(const plx__rsvd_input *a) { return a->csr.ptr ? a->csr.rows : a->dense.rows; }
static plx_index cols_of(const plx__rsvd_input *a) { return a->csr.ptr ? a->csr.cols : a->dense.cols; }

/* y = (A - 1 mean') x. */
static plx_status forward(plx_context *ctx, const matrix *m, plx_cmat x, plx_mat y)
{
    const plx__rsvd_input *a = m->in;
    if (a->times) return a->times(a->arg, ctx, x, y);
    if (a->csr.ptr) PLX_TRY(plx__spmm(ctx, 1.0, a->csr, x, 0.0, y));
    else PLX_TRY(plx__gemm(ctx, 1.0, a->dense, PLX__N, x, PLX__N, 0.0, y));
    if (!a->mean) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *shift = NULL;
    PLX_TRY(plx__arena_f64(&shift, plx__scratch(ctx), x.cols, 1));
    PLX_TRY(plx__gemv(ctx, 1.0, x, PLX__T, a->mean, 0.0, shift));
    plx__sub_row(y, shift);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* x = (A - 1 mean')' y. */
static plx_status adjoint(plx_context *ctx, const matrix *m, plx_cmat y, plx_mat x)
{
    const plx__rsvd_input *a = m->in;
    if (a->times) return a->times_t(a->arg, ctx, y, x);
    if (a->csr.ptr) PLX_TRY(plx__spmm(ctx, 1.0, m->transposed, y, 0.0, x));
    else PLX_TRY(plx__gemm(ctx, 1.0, a->dense, PLX__T, y, PLX__N, 0.0, x));
    if (!a->mean) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *sums = NULL;
    PLX_TRY(plx__arena_f64(&sums, plx__scratch(ctx), y.cols, 1));
    PLX_TRY(plx__col_sums(ctx, sums, y));
    for (plx_index i = 0; i < x.rows; i++) plx__axpy(x.data + i * x.ld, -a->mean[i], sums, x.cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static const plx_mat NONE = {NULL, 0, 0, 0};

typedef struct normal_job {
    plx_mat out;
    uint64_t stream;
} normal_job;

static plx_status draw_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const normal_job *job = arg;
    (void)worker;
    for (plx_index i = begin * job->out.cols; i < end * job->out.cols; i++)
        job->out.data[i] = plx__rng_normal(ctx->seed, job->stream, (uint64_t)i);
    return PLX_OK;
}

/* Orthonormal `range` (rows x l) whose span holds most of A; `other` is cols x l work space. */
static plx_status find_range(plx_context *ctx, const matrix *a, plx_index power, uint64_t stream, plx_mat range,
                             plx_mat other)
{
    normal_job job = {other, stream};
    PLX_TRY(plx__parallel_for(ctx, other.rows, 1024, draw_rows, &job));
    PLX_TRY(forward(ctx, a, plx__cmat(other), range));
    PLX_TRY(plx__qr(ctx, range, NONE));
    for (plx_index p = 0; p < power; p++) {
        PLX_TRY(adjoint(ctx, a, plx__cmat(range), other));
        PLX_TRY(plx__qr(ctx, other, NONE));
        PLX_TRY(forward(ctx, a, plx__cmat(other), range));
        PLX_TRY(plx__qr(ctx, range, NONE));
        PLX_TRY(plx__report(ctx, "randomised svd", p + 1, power, 0.0));
    }
    return PLX_OK;
}

/* With B' = A'Q = W R and R = Y1 diag(s) Y': A ~ Q Y diag(s) (W Y1)'. */
static plx_status small_problem(plx_context *ctx, const matrix *a, plx_cmat range, plx_mat other, plx_index k,
                                plx_mat u, double *s, plx_mat vt)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index l = range.cols;
    plx_mat r, y1, yt, w;
    double *values = NULL;
    PLX_TRY(adjoint(ctx, a, range, other));
    PLX_TRY(plx__arena_mat(&r, scratch, l, l));
    PLX_TRY(plx__arena_mat(&y1, scratch, l, l));
    PLX_TRY(plx__arena_mat(&yt, scratch, l, l));
    PLX_TRY(plx__arena_f64(&values, scratch, l, 1));
    PLX_TRY(plx__arena_mat(&w, scratch, other.rows, k));
    PLX_TRY(plx__qr(ctx, other, r));
    PLX_TRY(plx__svd(ctx, r, y1, values, yt));
    memcpy(s, values, (size_t)k * sizeof *s);
    PLX_TRY(plx__gemm(ctx, 1.0, range, PLX__N, plx__csub(plx__cmat(yt), 0, 0, k, l), PLX__T, 0.0, u));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(other), PLX__N, plx__csub(plx__cmat(y1), 0, 0, l, k), PLX__N, 0.0, w));
    for (plx_index j = 0; j < k; j++) plx__fix_sign(u, j, w);
    if (vt.data) plx__mat_transpose(vt, plx__cmat(w));
    return PLX_OK;
}

plx_status plx__rsvd(plx_context *ctx, plx__rsvd_input a, plx_index k, const plx__rsvd_options *options, plx_mat u,
                     double *s, plx_mat vt)
{
    static const plx__rsvd_options defaults = {0, -1, 0};
    const plx__rsvd_options *o = options ? options : &defaults;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index rows = rows_of(&a), cols = cols_of(&a);
    plx_index l = plx__min(k + (o->oversample > 0 ? o->oversample : 10), plx__min(rows, cols));
    matrix m = {.in = &a};
    plx_csr transposed;
    plx_mat range, other;
    PLX_ASSERT(k <= plx__min(rows, cols) && u.rows == rows && u.cols == k);
    if (k == 0) return PLX_OK;
    if (a.csr.ptr) {
        PLX_TRY(plx__csr_transpose(&transposed, plx__scratch(ctx), a.csr));
        m.transposed = plx__ccsr(transposed);
    }
    PLX_TRY(plx__arena_mat(&range, plx__scratch(ctx), rows, l));
    PLX_TRY(plx__arena_mat(&other, plx__scratch(ctx), cols, l));
    uint64_t stream = o->stream ? o->stream : PLX__STREAM('r', 's', 'v', 'd', 0);
    PLX_TRY(find_range(ctx, &m, o->power < 0 ? 2 : o->power, stream, range, other));
    PLX_TRY(small_problem(ctx, &m, plx__cmat(range), other, k, u, s, vt));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
