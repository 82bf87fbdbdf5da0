/*
 * Runs of the bottleneck: starts, annealing, sweeps until nothing changes; and rows made into distributions.
 */
#include <math.h>
#include <string.h>

#include "cluster/bottleneck.h"
#include "core/parallel.h"
#include "core/rng.h"

enum { STAGE_SWEEPS = 15, NEARLY_UNIFORM = 50 };

static const double FIRST_FACTOR = 1.0 / 200, STAGE_GROWTH = 1.25, STAGE_TOL = 1e-5, DISTURBANCE = 0.02;

/* ---- starts ---- */

static void normalise_rows(plx_mat p)
{
    for (plx_index i = 0; i < p.rows; i++) {
        double *row = p.data + i * p.ld, most = plx__max_abs(row, p.cols), sum = 0;
        for (plx_index c = 0; c < p.cols; c++) sum += row[c] /= most;
        for (plx_index c = 0; c < p.cols; c++) row[c] /= sum;
    }
}

plx_status plx__ib_draw(plx__bottleneck *b, double alpha, uint64_t stream)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx__rng rng = plx__rng_start(b->ctx->seed, stream);
    double *shape = NULL;
    PLX_TRY(plx__arena_f64(&shape, plx__scratch(b->ctx), b->k, 1));
    for (plx_index c = 0; c < b->k; c++) shape[c] = alpha;
    for (plx_index u = 0; u < b->n; u++) plx__next_dirichlet(&rng, b->pcu.data + u * b->k, shape, b->k);
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

void plx__ib_start(plx__bottleneck *b, plx_cmat weights)
{
    plx__mat_copy(b->pcu, weights);
    normalise_rows(b->pcu);
}

/* ---- annealing ---- */

static void disturb(plx__bottleneck *b, uint64_t stream)
{
    for (plx_index e = 0; e < b->n * b->k; e++)
        b->pcu.data[e] *= 1.0 + DISTURBANCE * plx__rng_uniform(b->ctx->seed, stream, (uint64_t)e);
    normalise_rows(b->pcu);
}

plx_status plx__ib_anneal(plx__bottleneck *b, plx_index restart)
{
    plx_index stage = 0, stages = 1;
    for (double factor = FIRST_FACTOR; factor < 1; factor *= STAGE_GROWTH) stages++;
    uint64_t stream = PLX__STREAM('i', 'b', 'd', 'i', restart * stages);
    PLX_TRY(plx__ib_draw(b, NEARLY_UNIFORM, PLX__STREAM('i', 'b', 'a', 'n', restart)));
    for (double factor = FIRST_FACTOR; factor < 1 && !plx__out_of_time(b->ctx); factor *= STAGE_GROWTH, stage++) {
        double change = INFINITY;
        disturb(b, stream + (uint64_t)stage);
        for (int sweep = 0; sweep < STAGE_SWEEPS && change > STAGE_TOL; sweep++) {
            PLX_TRY(plx__ib_marginals(b));
            PLX_TRY(plx__ib_assign(b, factor, &change));
            PLX_TRY(plx__poll(b->ctx));
        }
        PLX_TRY(plx__report(b->ctx, "annealing", stage + 1, stages, NAN));
    }
    disturb(b, stream + (uint64_t)stages - 1);
    return PLX_OK;
}

/* ---- the ordinary run ---- */

static plx_status measure(plx__bottleneck *b, plx__ib_course *r)
{
    PLX_TRY(plx__ib_marginals(b));
    PLX_TRY(plx__ib_compression(&r->compression, b));
    r->value = plx__ib_functional(b, r->compression);
    if (isfinite(r->value)) return PLX_OK;
    PLX_FAIL(b->ctx, PLX_E_NUMERIC, "the bottleneck's functional is not finite; choose a smaller beta");
}

plx_status plx__ib_run(plx__bottleneck *b, plx__run *run, const char *phase, plx_index max_iter, double tol,
                       plx__ib_course *out)
{
    *out = (plx__ib_course){0};
    PLX_TRY(measure(b, out));
    PLX_TRY(plx__iterate(run, &out->trace, phase, 0, max_iter, out->value));
    while (out->iterations < max_iter && !out->converged && !plx__out_of_time(b->ctx)) {
        double change = 0;
        PLX_TRY(plx__ib_assign(b, 1.0, &change));
        PLX_TRY(measure(b, out));
        out->iterations++;
        out->converged = change <= tol;
        PLX_TRY(plx__iterate(run, &out->trace, phase, out->iterations, max_iter, out->value));
    }
    return PLX_OK;
}

/* ---- rows that sum to 1 ---- */

static void normalise(double *row, plx_index count)
{
    double most = 0, sum = 0;
    for (plx_index j = 0; j < count; j++) most = fmax(most, row[j]);
    if (!(most > 0)) {
        memset(row, 0, (size_t)count * sizeof *row);
        return;
    }
    for (plx_index j = 0; j < count; j++) row[j] /= most;
    sum = plx__sum(row, count);
    for (plx_index j = 0; j < count; j++) row[j] /= sum;
}

void plx__ib_normalise_dense(plx_mat rows)
{
    for (plx_index i = 0; i < rows.rows; i++) normalise(rows.data + i * rows.ld, rows.cols);
}

void plx__ib_normalise_csr(plx_csr rows)
{
    for (plx_index i = 0; i < rows.rows; i++) normalise(rows.val + rows.ptr[i], rows.ptr[i + 1] - rows.ptr[i]);
}
