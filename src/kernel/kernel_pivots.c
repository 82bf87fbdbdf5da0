/*
 * The largest residual is next, until few columns are enough or nothing is left but rounding.
 */
#include "kernel/kernel_pivots.h"

#include "data/divided.h"
#include "linalg/factor.h"
#include "linalg/lowrank.h"

static const double NOTHING_LEFT = 1e-12; /* of the largest diagonal entry */

static plx__kernel at_amplitude_one(const plx__view_kernel *k)
{
    plx__kernel unit = k->kernel;
    unit.amplitude = 1.0;
    return unit;
}

/* ---- choosing ---- */

typedef struct column_job {
    plx__kernel unit;
    const plx__reference *ref;
    plx_cmat given;       /* precomputed: all values */
    plx_index begin, end; /* rows of this process */
    bool round;           /* the pivot's row is handed round */
    plx__row_round pivot;
} column_job;

static plx_status hand_round(void *arg, plx_context *ctx, plx_index j, int owner)
{
    column_job *job = arg;
    return plx__row_round_take(&job->pivot, ctx, job->ref->rows, j, owner);
}

/* The pivot's row: where it is at home that itself, so that a row knows that it is compared with itself. */
static plx__points pivot_row(const column_job *job, plx_index j)
{
    bool here = !job->round || (j >= job->begin && j < job->end);
    return here ? plx__points_range(job->ref->rows, j, j + 1) : plx__row_round_points(&job->pivot);
}

static plx_status kernel_column(void *arg, plx_context *ctx, plx_index j, plx_index begin, plx_index end, double *out)
{
    const column_job *job = arg;
    const plx_index *sample = job->ref->column;
    if (job->unit.kind != PLX__KERNEL_PRECOMPUTED)
        return plx__kernel_matrix(ctx, &job->unit, plx__points_range(job->ref->rows, begin, end), pivot_row(job, j),
                                  plx__mat_of(out, end - begin, 1));
    for (plx_index i = begin; i < end; i++) out[i - begin] = job->given.data[sample[i] * job->given.ld + sample[j]];
    return PLX_OK;
}

/* Of the own rows. */
static plx_status kernel_diagonal(double *out, plx_context *ctx, const column_job *job)
{
    const plx_index *sample = job->ref->column;
    if (job->unit.kind != PLX__KERNEL_PRECOMPUTED)
        return plx__kernel_diagonal(ctx, &job->unit, plx__points_range(job->ref->rows, job->begin, job->end),
                                    out + job->begin);
    for (plx_index i = 0; i < job->ref->count; i++) out[i] = job->given.data[sample[i] * (job->given.ld + 1)];
    return PLX_OK;
}

plx_status plx__kernel_pivots_find(plx__kernel_pivots *out, plx_context *ctx, const plx__view_kernel *k,
                                   const plx__reference *ref, const plx__slab_rows *rows, plx_index most)
{
    column_job job = {.unit = at_amplitude_one(k), .ref = ref, .given = k->rows.dense, .end = ref->count};
    plx__pivot_options options = {.threshold = NOTHING_LEFT, .stop = PLX__STOP_MAX, .max_rank = most, .rows = rows};
    plx__pivoted found;
    double *diagonal = NULL;
    job.round = k->bound && rows && !rows->cut.alone;
    if (rows) plx__slab_rows_mine(&job.begin, &job.end, ctx, rows);
    if (job.round) {
        options.hand_round = hand_round;
        PLX_TRY(plx__row_round_open(&job.pivot, ctx, ref->rows));
    }
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(ctx), ref->count, 1));
    PLX_TRY(kernel_diagonal(diagonal, ctx, &job));
    PLX_TRY(plx__pivoted_cholesky(&found, plx__scratch(ctx), ctx, diagonal, ref->count, kernel_column, &job, &options));
    *out = (plx__kernel_pivots){.rank = found.rank, .x = plx__cmat(found.z), .corner = plx__cmat(found.corner)};
    PLX_TRY(plx__arena_i64(&out->sample, plx__scratch(ctx), found.rank));
    for (plx_index r = 0; r < found.rank; r++) out->sample[r] = ref->column[found.pivot[r]];
    return plx__reference_of(&out->samples, ctx, k, out->sample, found.rank);
}

/* ---- in the model ---- */

plx_status plx__kernel_pivots_store(plx__run *run, const plx__kernel_pivots *p, const char *view)
{
    const char *name = NULL;
    plx_mat numbers;
    PLX_TRY(plx__view_key(&name, run->ctx, "_pivot", view));
    PLX_TRY(plx__store_new(&numbers, run->out, name, 1, p->rank));
    for (plx_index r = 0; r < p->rank; r++) numbers.data[r] = (double)p->sample[r];
    PLX_TRY(plx__view_key(&name, run->ctx, "_corner", view));
    PLX_TRY(plx__store_put(run->out, name, p->corner));
    return plx__reference_store(run, &p->samples, "pivots", view);
}

plx_status plx__kernel_pivots_load(plx__kernel_pivots *out, plx__run *run, const plx__view_kernel *k, plx_index rank,
                                   plx_index samples)
{
    const char *name = NULL;
    plx_cmat pivot;
    *out = (plx__kernel_pivots){0};
    PLX_TRY(plx__view_key(&name, run->ctx, "_pivot", k->name));
    PLX_TRY(plx__store_shaped(&pivot, run->ctx, run->fitted, name, 1, rank));
    out->rank = pivot.cols;
    PLX_TRY(plx__view_key(&name, run->ctx, "_corner", k->name));
    PLX_TRY(plx__store_shaped(&out->corner, run->ctx, run->fitted, name, out->rank, out->rank));
    PLX_TRY(plx__arena_i64(&out->sample, plx__scratch(run->ctx), out->rank));
    for (plx_index r = 0; r < out->rank; r++) {
        if (!(pivot.data[r] >= 0 && pivot.data[r] < (double)samples))
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's pivots of view '%s' are out of range", k->name);
        out->sample[r] = (plx_index)pivot.data[r];
    }
    return plx__reference_load(&out->samples, run, k, "pivots", out->sample, out->rank);
}

/* ---- other samples ---- */

plx_status plx__kernel_pivots_rows(plx_context *ctx, const plx__kernel_pivots *p, const plx__view_kernel *k,
                                   plx_index begin, plx_index end, plx_mat out)
{
    plx__view_kernel unit = *k;
    unit.kernel = at_amplitude_one(k);
    PLX_TRY(plx__view_kernel_values(ctx, &unit, begin, end, &p->samples, false, out));
    return plx__tri_solve_right(ctx, p->corner, PLX__T, out);
}
