/*
 * Products of blocks of rows in single precision, turned into lower bounds of distances by the rounding
 * error stated in the header; a pair is computed in double precision only when its bound does not rule it
 * out.
 */
#include "cluster/float_rows.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/clones.h"
#include "linalg/dense.h"

typedef float v8 __attribute__((vector_size(32)));
typedef float v8u __attribute__((vector_size(32), aligned(4)));
enum { LANES = 8 };

plx_status plx__float_open(plx__float_rows *out, plx_context *ctx, plx_cmat rows)
{
    plx__arena *scratch = plx__scratch(ctx);
    double *centre = NULL;
    *out = (plx__float_rows){.n = rows.rows, .cols = rows.cols, .ld = (rows.cols + LANES - 1) / LANES * LANES};
    void *x = NULL;
    PLX_TRY(plx__arena_f64(&centre, scratch, 1, rows.cols));
    PLX_TRY(plx__arena_f64(&out->norm, scratch, rows.rows, 1));
    PLX_TRY(plx__arena_zeroed(&x, scratch, rows.rows * out->ld, sizeof(float)));
    PLX_TRY(plx__col_means(ctx, centre, rows));
    for (plx_index i = 0; i < rows.rows; i++)
        for (plx_index j = 0; j < rows.cols; j++)
            out->unit = fmax(out->unit, fabs(rows.data[i * rows.ld + j] - centre[j]));
    if (!(out->unit > 0)) out->unit = 1;
    out->x = x;
    out->centre = centre;
    for (plx_index i = 0; i < rows.rows; i++) plx__float_set(out, i, rows.data + i * rows.ld);
    return PLX_OK;
}

void plx__float_set(plx__float_rows *f, plx_index i, const double *row)
{
    float *to = f->x + i * f->ld;
    double norm = 0;
    for (plx_index j = 0; j < f->cols; j++) {
        double x = (row[j] - f->centre[j]) / f->unit;
        to[j] = (float)x;
        norm += x * x;
    }
    f->norm[i] = norm;
}

void plx__float_move(plx__float_rows *f, plx_index to, plx_index from)
{
    if (to == from) return;
    memcpy(f->x + to * f->ld, f->x + from * f->ld, (size_t)f->ld * sizeof *f->x);
    f->norm[to] = f->norm[from];
}

typedef struct bound_job {
    const plx__float_rows *f;
    plx_index i;
    double *bound;
} bound_job;

#define SUM8(v) ((double)((((v)[0] + (v)[4]) + ((v)[2] + (v)[6])) + (((v)[1] + (v)[5]) + ((v)[3] + (v)[7]))))

/* Four rows at a time. */
PLX__CLONES static void products(double *out, const float *x, const float *rows, plx_index count, plx_index ld)
{
    plx_index k = 0;
    for (; k + 4 <= count; k += 4) {
        const float *y = rows + k * ld;
        v8 a = {0}, b = {0}, c = {0}, d = {0};
        for (plx_index j = 0; j < ld; j += LANES) {
            v8 own = *(const v8u *)(x + j);
            a += own * *(const v8u *)(y + j);
            b += own * *(const v8u *)(y + ld + j);
            c += own * *(const v8u *)(y + 2 * ld + j);
            d += own * *(const v8u *)(y + 3 * ld + j);
        }
        out[k] = SUM8(a), out[k + 1] = SUM8(b), out[k + 2] = SUM8(c), out[k + 3] = SUM8(d);
    }
    for (; k < count; k++) {
        v8 a = {0};
        for (plx_index j = 0; j < ld; j += LANES) a += *(const v8u *)(x + j) * *(const v8u *)(rows + k * ld + j);
        out[k] = SUM8(a);
    }
}

static plx_status bound_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const bound_job *job = arg;
    const plx__float_rows *f = job->f;
    double own = f->norm[job->i], scale = f->unit * f->unit, tiny = (double)f->cols * 4e-37;
    double rounding = 2.0 * ((double)f->cols + 8) * 0x1p-24;
    (void)ctx, (void)worker;
    products(job->bound + begin, f->x + job->i * f->ld, f->x + begin * f->ld, end - begin, f->ld);
    for (plx_index k = begin; k < end; k++) {
        double lost = rounding * sqrt(own * f->norm[k]) + tiny;
        job->bound[k] = ((own + f->norm[k]) * (1 - 1e-12) - 2 * job->bound[k] - lost) * scale;
    }
    return PLX_OK;
}

plx_status plx__float_bounds(double *bound, plx_context *ctx, const plx__float_rows *f, plx_index i, plx_index count)
{
    bound_job job = {f, i, bound};
    return plx__parallel_for(ctx, count, 2048, bound_rows, &job);
}
