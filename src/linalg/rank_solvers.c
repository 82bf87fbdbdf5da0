/*
 * What the engines want to see of a process is packed, what they leave is shared by all. BLAS has one thread meanwhile:
 * an engine has small dense problems on every process, and the threads of all processes would wait for each other.
 */
#include "linalg/rank_solvers.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "core/rng.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"

enum { REASON = 512, SMALL_ORDER = 200 }; /* up to SMALL_ORDER plx__eigen_few() is dense */

static plx_matrix_rows describe(plx_context *ctx, plx__slabs cut, plx_ccsr rows)
{
    plx_matrix_rows m = {.struct_size = sizeof m, .n = cut.n, .ptr = rows.ptr, .col = rows.col, .val = rows.val};
    plx__slabs_mine(&m.begin, &m.end, ctx, cut);
    PLX_ASSERT(rows.rows == m.end - m.begin && rows.ptr[0] == 0);
    return m;
}

static plx_status missing(plx_context *ctx, const char *what, const char *of)
{
    PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: this program has no solver of %s for several processes; use one", what, of);
}

static plx_status failed(plx_context *ctx, const char *what, int code, char *why)
{
    why[strcspn(why, "\n")] = '\0';
    PLX_FAIL(ctx, code == 1 ? PLX_E_NUMERIC : PLX_E_INTERNAL, "%s: the solver of all processes failed: %s", what,
             why[0] ? why : "no reason given");
}

/* ---- systems ---- */

plx_status plx__rank_solve(plx_context *ctx, plx__slabs cut, plx_ccsr rows, plx_cmat b, plx_mat x, double tol,
                           const char *what, plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_matrix_rows m = describe(ctx, cut, rows);
    plx_mat from, to;
    char why[REASON] = "";
    if (!ctx->engines.solve) return missing(ctx, what, "systems");
    PLX_TRY(plx__poll(ctx));
    PLX_TRY(plx__mat_clone(&from, plx__scratch(ctx), plx__csub(b, m.begin, 0, rows.rows, b.cols)));
    PLX_TRY(plx__arena_mat(&to, plx__scratch(ctx), rows.rows, b.cols));
    plx_rank_system s = {
        .struct_size = sizeof s, .a = &m, .columns = b.cols, .b = from.data, .tol = tol, .x = to.data, .converged = 1};
    plx__blas_scope scope = plx__blas_enter();
    int code = ctx->engines.solve(&s, why, sizeof why, ctx->engines.payload);
    plx__blas_leave(scope);
    if (code != 0) return failed(ctx, what, code, why);
    plx__mat_copy(plx__sub(x, m.begin, 0, rows.rows, x.cols), plx__cmat(to));
    PLX_TRY(plx__slabs_share(ctx, cut, x.data, (size_t)x.ld * sizeof *x.data, 1));
    *result = (plx__iter_result){.iterations = s.iterations, .residual = NAN, .converged = s.converged != 0};
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- spectra ---- */

typedef struct addition {
    plx_context *ctx;
    const plx__rank_operator *a;
    plx_status status;
} addition;

static int add_term(void *arg, const double *x, double *y)
{
    addition *z = arg;
    z->status = plx__poll(z->ctx);
    if (z->status == PLX_OK) z->status = z->a->add(z->a->arg, z->ctx, x, y);
    return z->status != PLX_OK;
}

/* The same start for every number of processes. */
static plx_status draw_start(double **out, plx_context *ctx, const plx_matrix_rows *m, uint64_t stream)
{
    PLX_TRY(plx__arena_f64(out, plx__scratch(ctx), m->end - m->begin + 1, 1));
    if (!stream) stream = PLX__STREAM('e', 'i', 'g', 'n', 0);
    for (plx_index i = m->begin; i < m->end; i++)
        (*out)[i - m->begin] = plx__rng_normal(ctx->seed, stream, (uint64_t)i);
    return PLX_OK;
}

bool plx__rank_eigen_serves(const plx_context *ctx, plx_index n, plx_index k)
{
    return plx__ranks(ctx) > 1 && n > SMALL_ORDER && 2 * k + 1 < n;
}

static plx_status take_vectors(plx_context *ctx, plx__slabs cut, const plx_matrix_rows *m, plx_cmat own, double *values,
                               plx_mat vectors)
{
    PLX_TRY(plx__peers_spread(ctx, 0, values, (size_t)own.cols * sizeof *values));
    if (!vectors.data) return PLX_OK;
    plx__mat_copy(plx__sub(vectors, m->begin, 0, own.rows, own.cols), own);
    PLX_TRY(plx__slabs_share(ctx, cut, vectors.data, (size_t)vectors.ld * sizeof *vectors.data, 1));
    for (plx_index j = 0; j < own.cols; j++) plx__fix_sign(vectors, j, (plx_mat){NULL, 0, 0, 0});
    return PLX_OK;
}

plx_status plx__rank_eigen(plx_context *ctx, const plx__rank_operator *a, plx_index k, plx__end which,
                           const plx__eigen_options *options, double *values, plx_mat vectors, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_matrix_rows m = describe(ctx, a->cut, a->rows);
    addition extra = {ctx, a, PLX_OK};
    double *start = NULL;
    plx_mat own;
    char why[REASON] = "";
    if (!ctx->engines.eigen) return missing(ctx, what, "spectra");
    PLX_TRY(plx__poll(ctx));
    PLX_TRY(draw_start(&start, ctx, &m, options->stream));
    PLX_TRY(plx__arena_mat(&own, plx__scratch(ctx), m.end - m.begin, k));
    plx_rank_spectrum s = {.struct_size = sizeof s,
                           .m = &m,
                           .add = a->add ? add_term : NULL,
                           .arg = &extra,
                           .k = k,
                           .basis = plx__min(a->cut.n, plx__max(options->basis, 2 * k + 1)),
                           .largest = which == PLX__LARGEST,
                           .tol = options->tol,
                           .start = start,
                           .values = values,
                           .vectors = own.data,
                           .converged = 1};
    plx__blas_scope scope = plx__blas_enter();
    int code = ctx->engines.eigen(&s, why, sizeof why, ctx->engines.payload);
    plx__blas_leave(scope);
    PLX_TRY(extra.status);
    if (code != 0) return failed(ctx, what, code, why);
    if (!s.converged)
        PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: not all of %lld eigenvalues converged in %lld restarts; ask for fewer", what,
                 (long long)k, (long long)s.iterations);
    PLX_TRY(take_vectors(ctx, a->cut, &m, plx__cmat(own), values, vectors));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__rank_bytes(const plx_context *ctx, plx_index n, double entries, plx_index columns)
{
    double share = (double)plx__slabs_even(ctx, n).rows / (double)plx__max(1, n);
    return share * (24.0 * entries + 16.0 * (double)n * (double)(columns + 1));
}
