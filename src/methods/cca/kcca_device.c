/*
 * kcca of two views on a device, from the reduced views to the directions: the formulas of canon_solve.c, all in one
 * session. With products at its speed no order of pivots is worth keeping, and none of the conditions of
 * kcca_samples.c is needed.
 *
 * N = L_1^-1 Z_1'Z_2 L_2^-T; eigenvectors V of N'N; N V = U S R here, where it is small; w_1 = L_1^-T U,
 * w_2 = L_2^-T V R'.
 */
#include <math.h>
#include <string.h>

#include "device/device_session.h"
#include "linalg/eigen.h"
#include "linalg/factor.h"
#include "methods/cca/kcca.h"

typedef struct pair_job {
    canon *c;
    plx_context *ctx;
    plx__device *dev;
    plx_index n, k, r[2];
    plx_device_mat l[2];           /* r x r: factors */
    plx_device_mat cross, gram;    /* N: r_1 x r_2, N'N: r_2 x r_2 */
    plx_device_mat vectors, image; /* k x r_2, and N V: r_1 x k */
    plx_device_mat column;
    double jitter;
} pair_job;

static plx_device_mat part(plx_device_mat m, plx_index rows, plx_index cols)
{
    plx_device_mat out = {m.buffer, m.offset, rows, cols, cols};
    return out;
}

/* ---- N ---- */

/* B = (1-tau) Z'Z + tau I = L L', both triangles before. */
static plx_status factor_view(pair_job *job, int v, plx_device_mat z)
{
    plx__device *dev = job->dev;
    const canon *c = job->c;
    plx__device_terms shift = {.beta = 1, .shift = c->set->tau};
    const char *what = NULL;
    double jitter = 0;
    PLX_TRY(plx__poll(job->ctx));
    PLX_TRY(plx__device_did(dev,
                            plx__device_table(dev)->syrk(plx__device_handle(dev), 1.0 - c->set->tau, z,
                                                         PLX_DEVICE_TRANSPOSED, 0.0, job->l[v]),
                            "syrk"));
    PLX_TRY(plx__device_triangle(dev, job->l[v], PLX_DEVICE_MIRROR_LOWER));
    PLX_TRY(plx__device_combine(dev, job->l[v], &shift));
    PLX_TRY(plx__arena_printf(&what, plx__scratch(job->ctx), "kcca: matrix for view '%s'", c->views[v].view->name));
    PLX_TRY(plx__device_cholesky_jitter(dev, job->l[v], part(job->column, job->r[v], 1), &jitter, what, NULL,
                                        "increase tau"));
    job->jitter = fmax(job->jitter, jitter);
    return PLX_OK;
}

static plx_status solve_left(pair_job *job, int v, plx_device_trans how, plx_device_mat b)
{
    PLX_TRY(plx__poll(job->ctx));
    return plx__device_did(
        job->dev, plx__device_table(job->dev)->trsm(plx__device_handle(job->dev), 0, job->l[v], how, b), "trsm");
}

static plx_status whiten(pair_job *job)
{
    plx__device *dev = job->dev;
    plx_device_mat z[2];
    for (int v = 0; v < 2; v++) PLX_TRY(plx__device_put(&z[v], dev, job->c->views[v].z.dense));
    for (int v = 0; v < 2; v++) {
        PLX_TRY(plx__device_mat(&job->l[v], dev, job->r[v], job->r[v]));
        PLX_TRY(factor_view(job, v, z[v]));
        PLX_TRY(plx__report(job->ctx, "factor", v + 1, 2, NAN));
    }
    PLX_TRY(plx__device_gemm(dev, 1.0, z[0], PLX__T, z[1], PLX__N, 0.0, job->cross));
    PLX_TRY(solve_left(job, 0, PLX_DEVICE_PLAIN, job->cross));
    return plx__device_tri_solve_right(dev, job->l[1], PLX__T, job->cross);
}

/* ---- directions ---- */

/* V, rows of it in ascending order of their values, and N V here. */
static plx_status eigenvectors(pair_job *job, plx_mat image)
{
    plx__device *dev = job->dev;
    double *values = NULL;
    PLX_TRY(plx__arena_f64(&values, plx__scratch(job->ctx), job->k, 1));
    PLX_TRY(plx__poll(job->ctx));
    PLX_TRY(plx__device_did(
        dev,
        plx__device_table(dev)->syrk(plx__device_handle(dev), 1.0, job->cross, PLX_DEVICE_TRANSPOSED, 0.0, job->gram),
        "syrk"));
    int code = plx__device_table(dev)->sym_eigen(plx__device_handle(dev), job->gram, job->r[1] - job->k, job->k, values,
                                                 job->vectors);
    if (code == PLX_DEVICE_NUMERIC) PLX_FAIL(job->ctx, PLX_E_NUMERIC, "the eigenvalues did not converge");
    PLX_TRY(plx__device_did(dev, code, "sym_eigen"));
    PLX_TRY(plx__device_gemm(dev, 1.0, job->cross, PLX__N, job->vectors, PLX__T, 0.0, job->image));
    return plx__device_read(dev, image, job->image);
}

/* Directions from singular vectors; `w` is written last of all. */
static plx_status unwhiten(pair_job *job, int v, plx_device_mat u)
{
    PLX_TRY(solve_left(job, v, PLX_DEVICE_TRANSPOSED, u));
    return plx__device_read(job->dev, job->c->views[v].w, u);
}

static plx_status directions(pair_job *job)
{
    plx__arena *scratch = plx__scratch(job->ctx);
    plx__device *dev = job->dev;
    plx_mat image, u, rotation;
    plx_device_mat turn, second;
    PLX_TRY(plx__arena_mat(&image, scratch, job->r[0], job->k));
    PLX_TRY(plx__arena_mat(&u, scratch, job->r[0], job->k));
    PLX_TRY(plx__arena_mat(&rotation, scratch, job->k, job->k));
    PLX_TRY(eigenvectors(job, image));
    PLX_TRY(plx__svd(job->ctx, image, u, job->c->rho, rotation));
    PLX_TRY(plx__device_put(&turn, dev, plx__cmat(rotation)));
    PLX_TRY(plx__device_mat(&second, dev, job->r[1], job->k));
    PLX_TRY(plx__device_gemm(dev, 1.0, job->vectors, PLX__T, turn, PLX__T, 0.0, second));
    PLX_TRY(plx__device_write(dev, job->image, plx__cmat(u)));
    PLX_TRY(unwhiten(job, 0, job->image));
    return unwhiten(job, 1, second);
}

/* ---- all of it ---- */

static double bytes_needed(const pair_job *job)
{
    double n = (double)job->n, a = (double)job->r[0], b = (double)job->r[1], k = (double)job->k;
    plx_index largest = plx__max(job->r[0], job->r[1]);
    double own = fmax(plx__device_workspace(job->dev, PLX_DEVICE_OP_POTRF, largest, 0, 0),
                      plx__device_workspace(job->dev, PLX_DEVICE_OP_EIGEN, job->r[1], job->k, 0));
    return 8 * (n * (a + b) + a * a + 2 * b * b + a * b + k * (a + 2 * b + k) + (double)largest) + own;
}

static plx_status on_device(pair_job *job)
{
    plx__device *dev = job->dev;
    PLX_TRY(plx__device_need(dev, bytes_needed(job), "kcca", "set gs_max, or set device to cpu or auto"));
    PLX_TRY(plx__device_mat(&job->column, dev, plx__max(job->r[0], job->r[1]), 1));
    PLX_TRY(plx__device_mat(&job->cross, dev, job->r[0], job->r[1]));
    PLX_TRY(plx__device_mat(&job->gram, dev, job->r[1], job->r[1]));
    PLX_TRY(plx__device_mat(&job->vectors, dev, job->k, job->r[1]));
    PLX_TRY(plx__device_mat(&job->image, dev, job->r[0], job->k));
    PLX_TRY(whiten(job));
    return directions(job);
}

/* Two views of the same samples; where most directions are wanted, all singular values are computed here. */
static bool suits(const canon *c)
{
    const canon_view *a = &c->views[0], *b = &c->views[1];
    return !c->ctx->paging && c->m == 2 && c->set->tau > 0 && 2 * c->set->dim <= plx__min(a->r, b->r) && a->n == b->n &&
           !memcmp(a->sample, b->sample, (size_t)a->n * sizeof *a->sample);
}

static plx__device_work work_of(const pair_job *job)
{
    double n = (double)job->n, a = (double)job->r[0], b = (double)job->r[1];
    plx__device_work work = {.what = "kcca", .flops = n * (a * a + b * b + 2 * a * b)};
    work.flops += (a * a * a + b * b * b) / 3 + a * b * (a + b) + a * b * b + 4 * b * b * b / 3;
    work.moved = 8 * n * (a + b);
    return work;
}

plx_status plx__kcca_on_device(canon *c, bool *done)
{
    plx__session s;
    plx__mark start = plx__arena_mark(plx__scratch(c->ctx));
    *done = false;
    if (!suits(c)) return PLX_OK;
    pair_job job = {.c = c, .ctx = c->ctx, .n = c->views[0].n, .r = {c->views[0].r, c->views[1].r}};
    plx__device_work work = work_of(&job);
    PLX_TRY(plx__canon_set_dim(c, plx__min(job.r[0], job.r[1])));
    job.k = c->k;
    for (int v = 0; v < 2; v++) PLX_TRY(plx__arena_mat(&c->views[v].w, plx__scratch(c->ctx), job.r[v], c->k));
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    PLX_TRY(plx__session_open(&s, c->ctx, &work));
    if (s.dev) {
        job.dev = s.dev;
        PLX_TRY(plx__session_close(&s, on_device(&job)));
    }
    *done = s.done;
    if (*done) c->jitter = fmax(c->jitter, job.jitter);
    plx__arena_rewind(plx__scratch(c->ctx), *done ? mark : start);
    for (int v = 0; !*done && v < 2; v++) c->views[v].w = (plx_mat){0};
    return PLX_OK;
}
