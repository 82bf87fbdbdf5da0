/*
 * The operations of a device with the library's statuses.
 */
#include <math.h>
#include <stdio.h>

#include "device/device_impl.h"
#include "linalg/factor.h"

const plx_device_table *plx__device_table(const plx__device *dev) { return dev->at.table; }
plx_context *plx__device_context(const plx__device *dev) { return dev->ctx; }

/* Asked for right before an operation of the table is called. */
plx_device *plx__device_handle(plx__device *dev)
{
    plx__device_times_begin(dev);
    return dev->at.opened;
}

/* A device that failed in itself is not asked again; one that was short of memory is. */
plx_status plx__device_did(plx__device *dev, int code, const char *operation)
{
    plx__device_times_end(dev, operation);
    if (code == PLX_DEVICE_OK) return PLX_OK;
    if (code == PLX_DEVICE_NUMERIC) return PLX_E_NUMERIC;
    dev->failures++;
    dev->lost |= code != PLX_DEVICE_NOMEM && code != PLX_DEVICE_LIMIT;
    PLX_FAIL(dev->ctx, code == PLX_DEVICE_NOMEM ? PLX_E_NOMEM : PLX_E_DEVICE,
             "device %s: %s failed: %s; set device to cpu or auto", dev->at.name, operation,
             dev->at.table->error(dev->at.opened));
}

plx_status plx__device_lacks(plx__device *dev, const char *operation)
{
    dev->failures++;
    PLX_FAIL(dev->ctx, PLX_E_DEVICE, "device %s has no %s; set device to cpu or auto", dev->at.name, operation);
}

/* One operation of the table, then the cancel flag. */
#define OPERATION(dev, name, ...)                                                                                      \
    do {                                                                                                               \
        PLX_TRY(plx__poll((dev)->ctx));                                                                                \
        plx__device_times_begin(dev);                                                                                  \
        return plx__device_did((dev), (dev)->at.table->name((dev)->at.opened, __VA_ARGS__), #name);                    \
    } while (0)

static plx_device_trans trans(plx__trans t) { return t == PLX__T ? PLX_DEVICE_TRANSPOSED : PLX_DEVICE_PLAIN; }

plx_status plx__device_write(plx__device *dev, plx_device_mat to, plx_cmat from)
{
    OPERATION(dev, write, to, from.data, from.ld);
}

plx_status plx__device_read(plx__device *dev, plx_mat to, plx_device_mat from)
{
    OPERATION(dev, read, to.data, to.ld, from);
}

plx_status plx__device_write_vec(plx__device *dev, plx_device_mat to, const double *from)
{
    OPERATION(dev, write, to, from, 1);
}

plx_status plx__device_read_vec(plx__device *dev, double *to, plx_device_mat from)
{
    OPERATION(dev, read, to, 1, from);
}

plx_status plx__device_copy(plx__device *dev, plx_device_mat to, plx_device_mat from)
{
    OPERATION(dev, copy, to, from);
}

plx_status plx__device_fill(plx__device *dev, plx_device_mat to, double value) { OPERATION(dev, fill, to, value); }

plx_status plx__device_gemm(plx__device *dev, double alpha, plx_device_mat a, plx__trans ta, plx_device_mat b,
                            plx__trans tb, double beta, plx_device_mat c)
{
    OPERATION(dev, gemm, alpha, a, trans(ta), b, trans(tb), beta, c);
}

plx_status plx__device_chol_solve(plx__device *dev, plx_device_mat l, plx_device_mat b) { OPERATION(dev, potrs, l, b); }

plx_status plx__device_tri_solve_right(plx__device *dev, plx_device_mat l, plx__trans tl, plx_device_mat b)
{
    OPERATION(dev, trsm, 1, l, trans(tl), b);
}

plx_status plx__device_diagonal(plx__device *dev, plx_device_mat a, plx_device_mat out)
{
    OPERATION(dev, diagonal, a, out, 0);
}

plx_status plx__device_triangle(plx__device *dev, plx_device_mat a, plx_device_triangle how)
{
    OPERATION(dev, triangle, a, how);
}

plx_status plx__device_combine(plx__device *dev, plx_device_mat c, const plx__device_terms *t)
{
    OPERATION(dev, combine, t->beta, c, t->alpha, t->a, t->l, t->r, t->gamma, t->u, t->v, t->shift);
}

plx_status plx__device_gather(plx__device *dev, plx_device_mat out, plx_device_mat a, const plx_device_buffer *row,
                              const plx_device_buffer *col)
{
    OPERATION(dev, gather, out, a, row, col);
}

plx_status plx__device_dot(double *out, plx__device *dev, plx_device_mat a, plx_device_mat b)
{
    OPERATION(dev, dot, a, b, out);
}

plx_status plx__device_row_norms_sq(plx__device *dev, plx_device_mat a, plx_device_mat out)
{
    OPERATION(dev, row_norms_sq, a, out);
}

/* ---- factorisations ---- */

static plx_status factorise(plx__device *dev, plx_device_mat a, plx__bad_pivot *bad)
{
    int64_t pivot = -1;
    PLX_TRY(plx__poll(dev->ctx));
    plx__device_times_begin(dev);
    plx_status st = plx__device_did(dev, dev->at.table->potrf(dev->at.opened, a, &pivot), "potrf");
    *bad = (plx__bad_pivot){pivot, NAN};
    return st;
}

/* The upper triangle still holds the matrix; `work` its diagonal, to which `shift` is added. */
static plx_status restore(plx__device *dev, plx_device_mat a, plx_device_mat work, double shift)
{
    plx__device_terms add = {.beta = 1, .shift = shift};
    PLX_TRY(plx__device_triangle(dev, a, PLX_DEVICE_MIRROR_UPPER));
    PLX_TRY(plx__device_did(dev, dev->at.table->diagonal(dev->at.opened, a, work, 1), "diagonal"));
    return plx__device_combine(dev, a, &add);
}

static plx_status mean_diagonal(double *mean, plx__device *dev, plx_device_mat work)
{
    double *diagonal = NULL;
    plx__mark mark = plx__arena_mark(plx__scratch(dev->ctx));
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(dev->ctx), work.rows, 1));
    PLX_TRY(plx__device_read_vec(dev, diagonal, work));
    *mean = 0;
    for (plx_index i = 0; i < work.rows; i++) *mean += diagonal[i] / (double)work.rows;
    plx__arena_rewind(plx__scratch(dev->ctx), mark);
    return PLX_OK;
}

plx_status plx__device_cholesky_jitter(plx__device *dev, plx_device_mat a, plx_device_mat work, double *relative,
                                       const char *what, const plx_index *samples, const char *remedy)
{
    plx__bad_pivot bad = {-1, NAN};
    double mean = 0;
    PLX_TRY(plx__device_diagonal(dev, a, work));
    for (int s = 0; s < PLX__JITTER_STEPS; s++) {
        if (s == 1) PLX_TRY(mean_diagonal(&mean, dev, work));
        if (s > 0) PLX_TRY(restore(dev, a, work, plx__jitter_steps[s] * mean));
        plx_status st = factorise(dev, a, &bad);
        if (st == PLX_E_NUMERIC && bad.index >= 0) continue;
        if (relative) *relative = plx__jitter_steps[s];
        return st;
    }
    return plx__not_definite(dev->ctx, bad, what, samples, remedy);
}

plx_status plx__device_chol_inverse(plx__device *dev, plx_device_mat l)
{
    PLX_TRY(plx__poll(dev->ctx));
    plx__device_times_begin(dev);
    PLX_TRY(plx__device_did(dev, dev->at.table->potri(dev->at.opened, l), "potri"));
    return plx__device_triangle(dev, l, PLX_DEVICE_MIRROR_LOWER);
}

plx_status plx__device_chol_logdet(double *out, plx__device *dev, plx_device_mat l, plx_device_mat work)
{
    double *diagonal = NULL;
    plx__mark mark = plx__arena_mark(plx__scratch(dev->ctx));
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(dev->ctx), l.rows, 1));
    PLX_TRY(plx__device_diagonal(dev, l, work));
    PLX_TRY(plx__device_read_vec(dev, diagonal, work));
    *out = 0;
    for (plx_index i = 0; i < l.rows; i++) *out += 2 * log(diagonal[i]);
    plx__arena_rewind(plx__scratch(dev->ctx), mark);
    return PLX_OK;
}
