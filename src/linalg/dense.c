/*
 * Dense matrices without arithmetic worth a BLAS: copies, transposes, means, centring.
 */
#include "linalg/dense.h"

#include <string.h>

#include "core/parallel.h"

void plx__mat_fill(plx_mat m, double value)
{
    for (plx_index i = 0; i < m.rows; i++)
        for (plx_index j = 0; j < m.cols; j++) m.data[i * m.ld + j] = value;
}

void plx__mat_copy(plx_mat to, plx_cmat from)
{
    PLX_ASSERT(to.rows == from.rows && to.cols == from.cols);
    for (plx_index i = 0; i < to.rows && to.cols > 0; i++)
        memcpy(to.data + i * to.ld, from.data + i * from.ld, (size_t)to.cols * sizeof(double));
}

plx_status plx__mat_clone(plx_mat *out, plx__arena *arena, plx_cmat from)
{
    *out = (plx_mat){NULL, from.rows, from.cols, from.cols};
    plx_index count = 0;
    if (__builtin_mul_overflow(from.rows, from.cols, &count)) count = -1;
    PLX_TRY(plx__arena_bytes((void **)&out->data, arena, count, sizeof(double)));
    plx__mat_copy(*out, from);
    return PLX_OK;
}

plx_status plx__mat_move_cols(plx_mat *out, plx__arena *arena, plx_cmat from, const int32_t *target, plx_index cols)
{
    PLX_TRY(plx__arena_mat(out, arena, from.rows, cols));
    for (plx_index i = 0; i < from.rows; i++)
        for (plx_index j = 0; j < from.cols; j++)
            if (target[j] >= 0) out->data[i * out->ld + target[j]] = from.data[i * from.ld + j];
    return PLX_OK;
}

enum { TURN = 32 }; /* side of the squares a transpose moves at once: both fit in L1 */

void plx__mat_transpose(plx_mat to, plx_cmat from)
{
    PLX_ASSERT(to.rows == from.cols && to.cols == from.rows);
    for (plx_index i0 = 0; i0 < from.rows; i0 += TURN)
        for (plx_index j0 = 0; j0 < from.cols; j0 += TURN) {
            plx_index i1 = plx__min(from.rows, i0 + TURN), j1 = plx__min(from.cols, j0 + TURN);
            for (plx_index j = j0; j < j1; j++)
                for (plx_index i = i0; i < i1; i++) to.data[j * to.ld + i] = from.data[i * from.ld + j];
        }
}

static void swap_entries(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

void plx__mat_transpose_square(plx_mat m)
{
    PLX_ASSERT(m.rows == m.cols);
    for (plx_index i0 = 0; i0 < m.rows; i0 += TURN)
        for (plx_index j0 = 0; j0 <= i0; j0 += TURN)
            for (plx_index i = i0; i < plx__min(m.rows, i0 + TURN); i++)
                for (plx_index j = j0; j < plx__min(i, j0 + TURN); j++)
                    swap_entries(m.data + i * m.ld + j, m.data + j * m.ld + i);
}

void plx__mirror_lower(plx_mat m)
{
    for (plx_index i0 = 0; i0 < m.rows; i0 += TURN)
        for (plx_index j0 = 0; j0 <= i0; j0 += TURN)
            for (plx_index j = j0; j < plx__min(m.rows, j0 + TURN); j++)
                for (plx_index i = plx__max(i0, j + 1); i < plx__min(m.rows, i0 + TURN); i++)
                    m.data[j * m.ld + i] = m.data[i * m.ld + j];
}

void plx__mat_scale(plx_mat m, double a)
{
    for (plx_index i = 0; i < m.rows; i++) plx__scale(m.data + i * m.ld, a, m.cols);
}

void plx__unit_rows(plx_mat m)
{
    for (plx_index i = 0; i < m.rows; i++) {
        double *row = m.data + i * m.ld, norm = plx__norm(row, m.cols);
        if (!(norm > 0)) continue;
        if (norm < 1e-290) plx__scale(row, 1e290, m.cols); /* 1 / norm could overflow */
        plx__scale(row, 1.0 / (norm < 1e-290 ? plx__norm(row, m.cols) : norm), m.cols);
    }
}

void plx__mat_add_diag(plx_mat m, double value)
{
    for (plx_index i = 0; i < plx__min(m.rows, m.cols); i++) m.data[i * m.ld + i] += value;
}

double plx__mat_trace(plx_cmat m)
{
    double sum = 0;
    for (plx_index i = 0; i < plx__min(m.rows, m.cols); i++) sum += m.data[i * m.ld + i];
    return sum;
}

void plx__sub_row(plx_mat m, const double *row)
{
    for (plx_index i = 0; i < m.rows; i++)
        for (plx_index j = 0; j < m.cols; j++) m.data[i * m.ld + j] -= row[j];
}

/* ---- column sums ---- */

static plx_status add_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const plx_cmat *m = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) plx__axpy(partial, 1.0, m->data + i * m->ld, m->cols);
    return PLX_OK;
}

/* Blocks of about sqrt(n) rows keep both levels of the sum short, so rounding stays small. */
plx_index plx__col_sums_grain(plx_index rows)
{
    plx_index grain = 64;
    while (grain * grain < rows) grain *= 2;
    return grain;
}

plx_status plx__col_sums(plx_context *ctx, double *out, plx_cmat m)
{
    return plx__parallel_sum(ctx, m.rows, plx__col_sums_grain(m.rows), m.cols, add_rows, &m, out);
}

plx_status plx__col_means(plx_context *ctx, double *out, plx_cmat m)
{
    PLX_TRY(plx__col_sums(ctx, out, m));
    for (plx_index j = 0; j < m.cols; j++) out[j] = m.rows ? out[j] / (double)m.rows : 0.0;
    return PLX_OK;
}

typedef struct centre_job {
    plx_mat k;
    const double *mean;
    double grand;
} centre_job;

/* The two means are added first: the correction of (i,j) and of (j,i) is then the same bits. */
static plx_status centre_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const centre_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->k.data + i * job->k.ld;
        for (plx_index j = 0; j < job->k.cols; j++) row[j] = row[j] - (job->mean[i] + job->mean[j]) + job->grand;
    }
    return PLX_OK;
}

plx_status plx__double_centre(plx_context *ctx, plx_mat k, double *means, double *grand)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *mean = means;
    if (!mean) PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), k.cols, 1));
    PLX_TRY(plx__col_means(ctx, mean, plx__cmat(k)));
    centre_job job = {k, mean, k.cols ? plx__sum(mean, k.cols) / (double)k.cols : 0.0};
    if (grand) *grand = job.grand;
    PLX_TRY(plx__parallel_for(ctx, k.rows, 64, centre_rows, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
