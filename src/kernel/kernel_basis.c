/*
 * Pivoted incomplete Cholesky on the centred kernel, one column at a time: the full matrix is formed only
 * when it is small, and means over the whole matrix are streamed otherwise.
 */
#include "kernel/kernel_basis.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "kernel/pivots_device.h"

enum { FULL_ROWS = 6000, BLOCK_ROWS = 512 }; /* up to FULL_ROWS samples the kernel matrix is formed */

/* ---- rows and means ---- */

/* Chosen rows, all of them here; of unit length for the cosine, whose kernel is linear then. */
static plx_status select_rows(plx__points *out, plx_context *ctx, const plx__kernel_basis *basis,
                              const plx__prepared *data, const plx_index *chosen, plx_index count)
{
    PLX_TRY(plx__points_choose(out, ctx, data->rows, data->bound, chosen, count));
    return basis->unit ? plx__points_unit(out, ctx, *out, NULL) : PLX_OK;
}

static void open_kernel(plx__kernel_basis *basis, const plx__prepared *data, bool centre)
{
    *basis = (plx__kernel_basis){.kernel = data->kernel, .centred = centre};
    basis->precomputed = data->kernel.kind == PLX__KERNEL_PRECOMPUTED;
    basis->unit = data->kernel.kind == PLX__KERNEL_COSINE;
    if (basis->unit) basis->kernel.kind = PLX__KERNEL_LINEAR;
}

/* Linear kernels of dense rows are centred by shifting the rows: no cancellation in large offsets. */
static plx_status shift_rows(plx__points *rows, plx_context *ctx, const plx_index *bound, const double *mean)
{
    plx_mat shifted;
    plx_index begin = plx__bound_begin(ctx, bound), end = plx__bound_end(ctx, bound, rows->dense.rows);
    PLX_TRY(plx__rows_clone(&shifted, ctx, rows->dense, bound));
    plx__sub_row(plx__sub(shifted, begin, 0, end - begin, shifted.cols), mean);
    *rows = plx__points_dense(plx__cmat(shifted));
    return PLX_OK;
}

static bool shifts(const plx__kernel_basis *basis)
{
    return basis->centred && basis->kernel.kind == PLX__KERNEL_LINEAR && !plx__points_sparse(basis->rows);
}

/* ---- the kernel matrix of the chosen samples, at hand or column by column ---- */

typedef struct gram_job {
    plx__kernel_basis *basis;
    const plx__prepared *data;
    const plx_index *chosen;
    plx_index n;
    plx__points rows;       /* of the chosen samples; shifted where that centres */
    const plx_index *bound; /* whose they are, where a process has its own only; NULL: all are here */
    plx__row_round pivot;   /* then: the row that all compare theirs with */
    bool subtract;          /* means are still to be taken off */
    double *mean;           /* n */
    double *diagonal;       /* n, centred */
} gram_job;

static plx_status gram_block(gram_job *job, plx_context *ctx, plx_index begin, plx_index end, plx_mat out)
{
    if (!job->basis->precomputed)
        return plx__kernel_matrix(ctx, &job->basis->kernel, plx__points_range(job->rows, begin, end), job->rows, out);
    for (plx_index i = begin; i < end; i++) {
        const double *from = job->data->rows.dense.data + job->chosen[i] * job->data->rows.dense.ld;
        for (plx_index j = 0; j < job->n; j++) out.data[(i - begin) * out.ld + j] = from[job->chosen[j]];
    }
    return PLX_OK;
}

static plx_status gram_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, plx_mat out)
{
    return gram_block(arg, ctx, begin, end, out);
}

/* Rows begin .. end-1 of those means. */
static plx_status mean_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    gram_job *job = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat block;
    (void)table;
    PLX_TRY(plx__arena_mat(&block, plx__scratch(ctx), plx__min(BLOCK_ROWS, end - begin), job->n));
    for (plx_index at = begin; at < end; at += BLOCK_ROWS) {
        plx_index last = plx__min(end, at + BLOCK_ROWS);
        PLX_TRY(gram_block(job, ctx, at, last, plx__sub(block, 0, 0, last - at, job->n)));
        for (plx_index i = at; i < last; i++)
            job->mean[i] = plx__sum(block.data + (i - at) * block.ld, job->n) / (double)job->n;
        PLX_TRY(plx__report(ctx, "kernel means", last, job->n, NAN));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Means over the columns of the whole matrix without keeping it; processes divide the rows if they divide those of
 * Z. */
static plx_status stream_means(gram_job *job, plx_context *ctx, const plx__slab_rows *rows)
{
    if (!rows) return mean_pane(job, ctx, 0, job->n, NULL);
    PLX_TRY(plx__slabs_each(ctx, rows->cut, mean_pane, job));
    return plx__slabs_share(ctx, rows->cut, job->mean, sizeof *job->mean, 1);
}

/* On all processes. */
static plx_status rows_diagonal(gram_job *job, plx_context *ctx)
{
    plx_index begin = plx__bound_begin(ctx, job->bound), end = plx__bound_end(ctx, job->bound, job->n);
    PLX_TRY(plx__kernel_diagonal(ctx, &job->basis->kernel, plx__points_range(job->rows, begin, end),
                                 job->diagonal + begin));
    return job->bound ? plx__bound_share(ctx, job->bound, job->diagonal, sizeof *job->diagonal) : PLX_OK;
}

static plx_status raw_diagonal(gram_job *job, plx_context *ctx, double *largest)
{
    if (!job->basis->precomputed) PLX_TRY(rows_diagonal(job, ctx));
    else
        for (plx_index i = 0; i < job->n; i++)
            job->diagonal[i] = job->data->rows.dense.data[job->chosen[i] * (job->data->rows.dense.ld + 1)];
    *largest = 0;
    for (plx_index i = 0; i < job->n; i++) *largest = fmax(*largest, job->diagonal[i]);
    return PLX_OK;
}

static plx_status hand_round(void *arg, plx_context *ctx, plx_index j, int owner)
{
    gram_job *job = arg;
    return plx__row_round_take(&job->pivot, ctx, job->rows, j, owner);
}

static plx__points row_of(const gram_job *job, plx_context *ctx, plx_index j)
{
    bool here = !job->bound || (j >= plx__bound_begin(ctx, job->bound) && j < plx__bound_end(ctx, job->bound, job->n));
    return here ? plx__points_range(job->rows, j, j + 1) : plx__row_round_points(&job->pivot);
}

static plx_status centred_column(void *arg, plx_context *ctx, plx_index j, plx_index begin, plx_index end, double *out)
{
    gram_job *job = arg;
    if (job->basis->precomputed)
        for (plx_index i = begin; i < end; i++)
            out[i - begin] = job->data->rows.dense.data[job->chosen[j] * job->data->rows.dense.ld + job->chosen[i]];
    else
        PLX_TRY(plx__kernel_matrix(ctx, &job->basis->kernel, plx__points_range(job->rows, begin, end),
                                   row_of(job, ctx, j), plx__mat_of(out, end - begin, 1)));
    if (!job->subtract) return PLX_OK;
    for (plx_index i = begin; i < end; i++) out[i - begin] += job->basis->grand - job->mean[i] - job->mean[j];
    return PLX_OK;
}

/* Means over the columns of a sparse linear kernel: products with the mean row. */
static plx_status linear_means(gram_job *job, plx_context *ctx)
{
    double factor = job->basis->kernel.amplitude > 0 ? job->basis->kernel.amplitude : 1.0;
    plx_index begin = plx__bound_begin(ctx, job->bound), end = plx__bound_end(ctx, job->bound, job->n);
    PLX_TRY(
        plx__spmv(ctx, factor, plx__csr_rows(job->rows.csr, begin, end), job->basis->mean_row, 0.0, job->mean + begin));
    return job->bound ? plx__bound_share(ctx, job->bound, job->mean, sizeof *job->mean) : PLX_OK;
}

static plx_status factor_streaming(plx__pivoted *out, plx__arena *arena, plx_context *ctx, gram_job *job,
                                   const plx__pivot_options *options)
{
    plx__pivot_options o = *options;
    if (job->bound) {
        o.hand_round = hand_round;
        PLX_TRY(plx__row_round_open(&job->pivot, ctx, job->rows));
    }
    if (job->subtract) {
        if (job->basis->mean_row) PLX_TRY(linear_means(job, ctx));
        else PLX_TRY(stream_means(job, ctx, options->rows));
        job->basis->grand = plx__sum(job->mean, job->n) / (double)job->n;
        for (plx_index i = 0; i < job->n; i++) job->diagonal[i] += job->basis->grand - 2 * job->mean[i];
    }
    return plx__pivoted_cholesky(out, arena, ctx, job->diagonal, job->n, centred_column, job, &o);
}

static plx_status factor_full(plx__pivoted *out, plx__arena *arena, plx_context *ctx, gram_job *job,
                              const plx__pivot_options *options)
{
    plx_mat k;
    PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), job->n, job->n));
    PLX_TRY(gram_block(job, ctx, 0, job->n, k));
    if (job->subtract) PLX_TRY(plx__double_centre(ctx, k, job->mean, &job->basis->grand));
    for (plx_index i = 0; i < job->n; i++) job->diagonal[i] = k.data[i * (k.ld + 1)];
    return plx__pivoted_cholesky_full(out, arena, ctx, k, options);
}

static plx_status factor(plx__pivoted *out, plx__arena *arena, plx_context *ctx, gram_job *job, bool streams,
                         const plx__pivot_options *options)
{
    bool done = false;
    plx__pivots_there there = {.kernel = &job->basis->kernel,
                               .rows = job->rows,
                               .n = job->n,
                               .given = job->basis->precomputed,
                               .values = gram_rows,
                               .arg = job,
                               .by_columns = streams,
                               .subtract = job->subtract,
                               .mean = job->mean,
                               .diagonal = job->diagonal,
                               .grand = &job->basis->grand};
    PLX_TRY(plx__pivots_on_device(&done, out, arena, ctx, &there, options));
    if (done) return PLX_OK;
    return streams ? factor_streaming(out, arena, ctx, job, options) : factor_full(out, arena, ctx, job, options);
}

/* ---- what is kept for other samples ---- */

/* Linear kernels, and those that are not centred, need the pivots only; the others all chosen samples, for the mean. */
static plx_status keep_rows(plx__kernel_basis *basis, plx_context *ctx, const gram_job *job, const plx__pivoted *p)
{
    bool all = basis->centred && !basis->mean_row;
    double *pick = NULL, *share = NULL, *means = NULL;
    PLX_TRY(plx__arena_f64(&pick, plx__scratch(ctx), p->rank, 1));
    PLX_TRY(plx__arena_f64(&means, plx__scratch(ctx), p->rank, 1));
    for (plx_index r = 0; r < p->rank; r++) {
        pick[r] = (double)(basis->precomputed ? job->chosen[p->pivot[r]] : all ? p->pivot[r] : r);
        means[r] = job->subtract ? job->mean[p->pivot[r]] : 0.0;
    }
    basis->columns = basis->precomputed ? job->data->rows.dense.cols : all ? job->n : p->rank;
    if (all) {
        PLX_TRY(plx__arena_f64(&share, plx__scratch(ctx), basis->columns, 1));
        for (plx_index i = 0; i < job->n; i++) share[basis->precomputed ? job->chosen[i] : i] = 1.0 / (double)job->n;
    }
    basis->rows = (plx__points){0};
    if (!basis->precomputed && all) basis->rows = job->rows;
    else if (!basis->precomputed)
        PLX_TRY(plx__points_choose(&basis->rows, ctx, job->rows, job->bound, p->pivot, p->rank));
    basis->pick = pick;
    basis->share = share;
    basis->pivot_mean = means;
    basis->rank = p->rank;
    return PLX_OK;
}

/* The rows of the chosen samples: all of them, or of divided data those that fall to this process with the rows of Z,
 * where they are never compared with all others. */
static plx_status open_rows(gram_job *job, plx_context *ctx, bool streams, const plx__slab_rows *whose)
{
    plx__kernel_basis *basis = job->basis;
    plx_index *bound = NULL;
    bool compares = job->subtract && basis->kernel.kind != PLX__KERNEL_LINEAR;
    if (basis->precomputed) return PLX_OK;
    if (!job->data->bound || !streams || !whose || compares)
        return select_rows(&job->rows, ctx, basis, job->data, job->chosen, job->n);
    PLX_TRY(plx__points_choose_own(&job->rows, ctx, job->data->rows, job->data->bound, job->chosen, whose));
    PLX_TRY(plx__arena_i64(&bound, plx__scratch(ctx), plx__ranks(ctx) + 1));
    plx__slabs_bounds(bound, ctx, whose->cut);
    job->bound = bound;
    return basis->unit ? plx__points_unit(&job->rows, ctx, job->rows, bound) : PLX_OK;
}

plx_status plx__kernel_basis_fit(plx__kernel_basis *basis, plx__pivoted *out, plx__arena *arena, plx_context *ctx,
                                 const plx__prepared *data, const plx_index *chosen, plx_index count, bool centre,
                                 const plx__pivot_options *options, double *largest, double *centred_largest)
{
    gram_job job = {.basis = basis, .data = data, .chosen = chosen, .n = count, .subtract = centre};
    double *mean_row = NULL;
    open_kernel(basis, data, centre);
    PLX_TRY(plx__arena_f64(&job.mean, plx__scratch(ctx), count, 1));
    PLX_TRY(plx__arena_f64(&job.diagonal, plx__scratch(ctx), count, 1));
    bool few = options->max_rank > 0 && options->max_rank < count / 4;
    bool streams = count > FULL_ROWS || few;
    PLX_TRY(open_rows(&job, ctx, streams, options->rows));
    PLX_TRY(raw_diagonal(&job, ctx, largest));
    basis->rows = job.rows;
    if (centre && !basis->precomputed && basis->kernel.kind == PLX__KERNEL_LINEAR) {
        PLX_TRY(plx__arena_f64(&mean_row, plx__scratch(ctx), plx__points_cols(job.rows), 1));
        PLX_TRY(plx__points_col_means(mean_row, ctx, job.rows, job.bound));
        basis->mean_row = mean_row;
        if (shifts(basis)) {
            PLX_TRY(shift_rows(&job.rows, ctx, job.bound, mean_row));
            PLX_TRY(rows_diagonal(&job, ctx));
            job.subtract = false;
        }
    }
    PLX_TRY(factor(out, arena, ctx, &job, streams, options));
    *centred_largest = 0;
    for (plx_index i = 0; i < count; i++) *centred_largest = fmax(*centred_largest, job.diagonal[i]);
    return keep_rows(basis, ctx, &job, out);
}

/* ---- other samples ---- */

/* Raw kernel values of a block with all columns of the basis, and mean_F k(x, .) of every row. */
static plx_status raw_values(plx_context *ctx, const plx__kernel_basis *basis, const plx__prepared *data,
                             const plx_index *chosen, plx_index count, plx_mat k, double *mean)
{
    plx__points x = {0};
    if (basis->precomputed) {
        for (plx_index i = 0; i < count; i++)
            memcpy(k.data + i * k.ld, data->rows.dense.data + chosen[i] * data->rows.dense.ld,
                   (size_t)k.cols * sizeof(double));
    } else {
        PLX_TRY(select_rows(&x, ctx, basis, data, chosen, count));
        if (shifts(basis)) PLX_TRY(shift_rows(&x, ctx, NULL, basis->mean_row));
        PLX_TRY(plx__kernel_matrix(ctx, &basis->kernel, x, basis->rows, k));
    }
    if (basis->share) return plx__gemv(ctx, 1.0, plx__cmat(k), PLX__N, basis->share, 0.0, mean);
    if (!basis->mean_row || shifts(basis)) return PLX_OK;
    double factor = basis->kernel.amplitude > 0 ? basis->kernel.amplitude : 1.0;
    return plx__spmv(ctx, factor, x.csr, basis->mean_row, 0.0, mean);
}

plx_status plx__kernel_basis_values(plx_context *ctx, const plx__kernel_basis *basis, const plx__prepared *data,
                                    const plx_index *chosen, plx_index count, plx_mat out)
{
    for (plx_index at = 0; at < count; at += BLOCK_ROWS) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_index end = plx__min(count, at + BLOCK_ROWS);
        plx_mat k;
        double *mean = NULL;
        PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), end - at, basis->columns));
        PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), end - at, 1));
        PLX_TRY(raw_values(ctx, basis, data, chosen + at, end - at, k, mean));
        for (plx_index i = at; i < end; i++) {
            const double *from = k.data + (i - at) * k.ld;
            double *to = out.data + i * out.ld, shift = basis->grand - mean[i - at];
            for (plx_index r = 0; r < basis->rank; r++)
                to[r] = from[(plx_index)basis->pick[r]] + (shift - basis->pivot_mean[r]);
        }
        plx__arena_rewind(plx__scratch(ctx), mark);
        PLX_TRY(plx__report(ctx, "project", end, count, NAN));
    }
    return PLX_OK;
}

/* ---- in the model ---- */

static plx_status array_name(const char **out, plx_context *ctx, const char *what, const char *view)
{
    return plx__arena_printf(out, plx__scratch(ctx), "_basis.%s.%s", what, view);
}

static plx_status put_row(plx__run *run, const char *what, const char *view, const double *values, plx_index count)
{
    const char *name = NULL;
    if (!values) return PLX_OK;
    PLX_TRY(array_name(&name, run->ctx, what, view));
    return plx__store_put(run->out, name, (plx_cmat){values, 1, count, count});
}

plx_status plx__kernel_basis_store(plx__run *run, const plx__kernel_basis *b, const char *view)
{
    const char *name = NULL;
    PLX_TRY(put_row(run, "pick", view, b->pick, b->rank));
    PLX_TRY(put_row(run, "share", view, b->share, b->columns));
    if (b->mean_row) PLX_TRY(put_row(run, "mean", view, b->mean_row, plx__points_cols(b->rows)));
    PLX_TRY(put_row(run, "pivot_mean", view, b->pivot_mean, b->rank));
    PLX_TRY(put_row(run, "grand", view, &b->grand, 1));
    if (b->precomputed) return PLX_OK;
    PLX_TRY(array_name(&name, run->ctx, "rows", view));
    return plx__points_sparse(b->rows) ? plx__store_put_csr(run->out, name, b->rows.csr)
                                       : plx__store_put(run->out, name, b->rows.dense);
}

/* NULL when the model has none; of another length: the file is not to be trusted. */
static plx_status get_row(const double **out, plx_context *ctx, const plx__store *state, const char *what,
                          const char *view, plx_index count)
{
    const char *name = NULL;
    plx_cmat m;
    *out = NULL;
    PLX_TRY(array_name(&name, ctx, what, view));
    if (!plx__store_find(state, name)) return PLX_OK;
    PLX_TRY(plx__store_shaped(&m, ctx, state, name, 1, count));
    *out = m.data;
    return PLX_OK;
}

static plx_status load_rows(plx__kernel_basis *b, plx_context *ctx, const plx__store *state, const plx__prepared *data)
{
    const char *name = NULL;
    b->columns = data->rows.dense.cols;
    if (b->precomputed) return PLX_OK;
    PLX_TRY(array_name(&name, ctx, "rows", data->name));
    const plx__array *a = plx__store_find(state, name);
    if (!a || a->sparse != plx__points_sparse(data->rows) ||
        (a->sparse ? a->csr.cols : a->dense.cols) != plx__points_cols(data->rows))
        PLX_FAIL(ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", data->name);
    b->rows = a->sparse ? plx__points_csr(plx__ccsr(a->csr)) : plx__points_dense(plx__cmat(a->dense));
    b->columns = plx__points_rows(b->rows);
    return PLX_OK;
}

plx_status plx__kernel_basis_load(plx__kernel_basis *b, plx_context *ctx, const plx__store *state,
                                  const plx__prepared *data, bool centre, plx_index rank)
{
    const double *grand = NULL;
    bool linear = false;
    open_kernel(b, data, centre);
    b->rank = rank;
    linear = b->kernel.kind == PLX__KERNEL_LINEAR && !b->precomputed;
    PLX_TRY(load_rows(b, ctx, state, data));
    PLX_TRY(get_row(&b->pick, ctx, state, "pick", data->name, rank));
    PLX_TRY(get_row(&b->pivot_mean, ctx, state, "pivot_mean", data->name, rank));
    PLX_TRY(get_row(&grand, ctx, state, "grand", data->name, 1));
    if (centre && linear) PLX_TRY(get_row(&b->mean_row, ctx, state, "mean", data->name, plx__points_cols(data->rows)));
    if (centre && !linear) PLX_TRY(get_row(&b->share, ctx, state, "share", data->name, b->columns));
    if (!b->pick || !b->pivot_mean || !grand || (centre && !b->mean_row && !b->share))
        PLX_FAIL(ctx, PLX_E_FORMAT, "the model lacks part of the kernel of view '%s'", data->name);
    for (plx_index r = 0; r < rank; r++)
        if (!(b->pick[r] >= 0 && b->pick[r] < (double)b->columns))
            PLX_FAIL(ctx, PLX_E_FORMAT, "the model's pivots of view '%s' are out of range", data->name);
    b->grand = *grand;
    return PLX_OK;
}
