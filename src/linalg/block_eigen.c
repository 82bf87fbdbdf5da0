/*
 * Three blocks span the space of a step: the directions w, what the pencil makes of them, G = B^-1 A w, and the last
 * change. Rayleigh-Ritz in that space gives the next directions. The images A S and B S are kept beside every block S
 * and recombined with it, so that a step costs one solve and one pair of products.
 */
#include "linalg/block_eigen.h"

#include <math.h>
#include <string.h>

#include "linalg/eigen.h"

enum { PARTS = 3, MAX_ITER = 500 };

typedef struct part { /* a block of columns and its images */
    plx_mat s, as, bs;
} part;

typedef struct iteration {
    plx_context *ctx;
    const plx__pencil *pencil;
    plx__block_eigen_options o;
    plx_index p, parts; /* columns of a block; blocks in use */
    part part[PARTS];
    plx_mat spare;
    double *theta;
    double residual;
} iteration;

/* ---- a step ---- */

static plx_status image_of(iteration *it, part *x)
{
    return it->pencil->apply(it->pencil->arg, it->ctx, plx__cmat(x->s), x->as, x->bs);
}

/* G = B^-1 A w from the start theta w, as accurately as the directions deserve. */
static plx_status next_directions(iteration *it)
{
    double tol = fmax(1e-11, fmin(1e-3, 0.01 * it->residual));
    plx_mat w = it->part[0].s, g = it->part[1].s;
    for (plx_index i = 0; i < w.rows; i++)
        for (plx_index j = 0; j < it->p; j++) g.data[i * g.ld + j] = it->theta[j] * w.data[i * w.ld + j];
    return it->pencil->solve(it->pencil->arg, it->ctx, plx__cmat(it->part[0].as), g, tol);
}

/* Largest |G - theta w| / |w| over the wanted directions, relative to the largest theta. */
static plx_status measure(iteration *it)
{
    plx__mark mark = plx__arena_mark(plx__scratch(it->ctx));
    plx_mat w = it->part[0].s, g = it->part[1].s;
    double *error = NULL, *size = NULL, worst = 0, largest = 0;
    PLX_TRY(plx__arena_f64(&error, plx__scratch(it->ctx), it->p, 1));
    PLX_TRY(plx__arena_f64(&size, plx__scratch(it->ctx), it->p, 1));
    for (plx_index i = 0; i < w.rows; i++)
        for (plx_index j = 0; j < it->p; j++) {
            double x = w.data[i * w.ld + j], e = g.data[i * g.ld + j] - it->theta[j] * x;
            error[j] += e * e;
            size[j] += x * x;
        }
    for (plx_index j = 0; j < it->o.wanted; j++) {
        worst = fmax(worst, sqrt(error[j] / fmax(size[j], 1e-300)));
        largest = fmax(largest, fabs(it->theta[j]));
    }
    it->residual = worst / fmax(largest, 1e-300);
    plx__arena_rewind(plx__scratch(it->ctx), mark);
    return PLX_OK;
}

/* ---- Rayleigh-Ritz ---- */

/* S'A S and S'B S of the blocks side by side. */
static plx_status small_matrices(iteration *it, plx_mat a, plx_mat b)
{
    plx_index p = it->p;
    for (plx_index s = 0; s < it->parts; s++)
        for (plx_index t = 0; t <= s; t++) {
            plx_cmat left = plx__cmat(it->part[s].s);
            PLX_TRY(plx__gemm(it->ctx, 1.0, left, PLX__T, plx__cmat(it->part[t].as), PLX__N, 0.0,
                              plx__sub(a, s * p, t * p, p, p)));
            PLX_TRY(plx__gemm(it->ctx, 1.0, left, PLX__T, plx__cmat(it->part[t].bs), PLX__N, 0.0,
                              plx__sub(b, s * p, t * p, p, p)));
        }
    plx__mirror_lower(a);
    plx__mirror_lower(b);
    return PLX_OK;
}

/* Columns H with H'bH = I over the directions in which b does not vanish; b is overwritten. Columns of very different
 * length are brought to one first: the change is much shorter than the directions near the end. */
static plx_status whitening(plx_mat *half, plx_context *ctx, plx_mat b)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index order = b.rows, kept = 0;
    double *size = NULL, *values = NULL;
    plx_mat q;
    PLX_TRY(plx__arena_f64(&size, scratch, order, 1));
    PLX_TRY(plx__arena_f64(&values, scratch, order, 1));
    PLX_TRY(plx__arena_mat(&q, scratch, order, order));
    for (plx_index i = 0; i < order; i++) size[i] = b.data[i * (b.ld + 1)] > 0 ? 1 / sqrt(b.data[i * (b.ld + 1)]) : 0.0;
    for (plx_index i = 0; i < order; i++)
        for (plx_index j = 0; j < order; j++) b.data[i * b.ld + j] *= size[i] * size[j];
    PLX_TRY(plx__sym_eigen(ctx, b, values, q));
    while (kept < order && values[order - 1 - kept] > 1e-13 * values[order - 1]) kept++;
    PLX_TRY(plx__arena_mat(half, scratch, order, kept));
    for (plx_index i = 0; i < order; i++)
        for (plx_index j = 0; j < kept; j++)
            half->data[i * kept + j] = size[i] * q.data[i * order + order - 1 - j] / sqrt(values[order - 1 - j]);
    return PLX_OK;
}

/* Coefficients (order x p) of the leading Ritz vectors, B-orthonormal; theta beside them. */
static plx_status ritz(iteration *it, plx_mat a, plx_mat b, plx_mat coef)
{
    plx__arena *scratch = plx__scratch(it->ctx);
    plx_mat half, image, projected, vectors, leading;
    double *values = NULL;
    PLX_TRY(whitening(&half, it->ctx, b));
    plx_index order = a.rows, kept = half.cols, p = plx__min(it->p, kept);
    PLX_TRY(plx__arena_f64(&values, scratch, kept, 1));
    PLX_TRY(plx__arena_mat(&image, scratch, order, kept));
    PLX_TRY(plx__arena_mat(&projected, scratch, kept, kept));
    PLX_TRY(plx__arena_mat(&vectors, scratch, kept, kept));
    PLX_TRY(plx__arena_mat(&leading, scratch, kept, it->p));
    PLX_TRY(plx__gemm(it->ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(half), PLX__N, 0.0, image));
    PLX_TRY(plx__gemm(it->ctx, 1.0, plx__cmat(half), PLX__T, plx__cmat(image), PLX__N, 0.0, projected));
    PLX_TRY(plx__sym_eigen(it->ctx, projected, values, vectors));
    memset(it->theta, 0, (size_t)it->p * sizeof *it->theta);
    for (plx_index j = 0; j < p; j++) {
        it->theta[j] = values[kept - 1 - j];
        for (plx_index i = 0; i < kept; i++) leading.data[i * it->p + j] = vectors.data[i * kept + kept - 1 - j];
    }
    return plx__gemm(it->ctx, 1.0, plx__cmat(half), PLX__N, plx__cmat(leading), PLX__N, 0.0, coef);
}

/* first := sum of the blocks times coefficients; last := the same without the first block, which is the change. */
static plx_status recombine(iteration *it, plx_mat *const block[PARTS], plx_cmat coef)
{
    plx_index p = it->p;
    plx__mat_fill(it->spare, 0.0);
    for (plx_index s = 1; s < it->parts; s++)
        PLX_TRY(plx__gemm(it->ctx, 1.0, plx__cmat(*block[s]), PLX__N, plx__csub(coef, s * p, 0, p, p), PLX__N, 1.0,
                          it->spare));
    plx__mat_copy(*block[2], plx__cmat(it->spare));
    PLX_TRY(plx__gemm(it->ctx, 1.0, plx__cmat(*block[0]), PLX__N, plx__csub(coef, 0, 0, p, p), PLX__N, 1.0, it->spare));
    plx__mat_copy(*block[0], plx__cmat(it->spare));
    return PLX_OK;
}

static plx_status rayleigh_ritz(iteration *it)
{
    plx__arena *scratch = plx__scratch(it->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index order = it->parts * it->p;
    plx_mat a, b, coef;
    part *x = it->part;
    PLX_TRY(plx__arena_mat(&a, scratch, order, order));
    PLX_TRY(plx__arena_mat(&b, scratch, order, order));
    PLX_TRY(plx__arena_mat(&coef, scratch, order, it->p));
    PLX_TRY(small_matrices(it, a, b));
    PLX_TRY(ritz(it, a, b, coef));
    PLX_TRY(recombine(it, (plx_mat *[]){&x[0].s, &x[1].s, &x[2].s}, plx__cmat(coef)));
    PLX_TRY(recombine(it, (plx_mat *[]){&x[0].as, &x[1].as, &x[2].as}, plx__cmat(coef)));
    PLX_TRY(recombine(it, (plx_mat *[]){&x[0].bs, &x[1].bs, &x[2].bs}, plx__cmat(coef)));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- all of it ---- */

static plx_status open_iteration(iteration *it, plx_context *ctx, const plx__pencil *pencil, double *theta, plx_mat w,
                                 const plx__block_eigen_options *options)
{
    plx__arena *scratch = plx__scratch(ctx);
    *it = (iteration){.ctx = ctx, .pencil = pencil, .o = *options, .p = w.cols, .parts = 1, .theta = theta};
    it->residual = 1;
    if (!it->o.max_iter) it->o.max_iter = MAX_ITER;
    if (!(it->o.tol > 0)) it->o.tol = 1e-8;
    if (!it->o.phase) it->o.phase = "iterate";
    for (int k = 0; k < PARTS; k++) {
        part *x = &it->part[k];
        if (k == 0) x->s = w;
        else PLX_TRY(plx__arena_mat(&x->s, scratch, w.rows, w.cols));
        PLX_TRY(plx__arena_mat(&x->as, scratch, w.rows, w.cols));
        PLX_TRY(plx__arena_mat(&x->bs, scratch, w.rows, w.cols));
    }
    return plx__arena_mat(&it->spare, scratch, w.rows, w.cols);
}

plx_status plx__block_eigen(plx_context *ctx, const plx__pencil *pencil, double *theta, plx_mat vectors,
                            const plx__block_eigen_options *options, plx__block_eigen_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__block_eigen_result out = {0, 1.0, false};
    iteration it;
    PLX_TRY(open_iteration(&it, ctx, pencil, theta, vectors, options));
    PLX_TRY(image_of(&it, &it.part[0]));
    PLX_TRY(rayleigh_ritz(&it));
    while (!out.converged && out.iterations < it.o.max_iter && !plx__out_of_time(ctx)) {
        PLX_TRY(next_directions(&it));
        PLX_TRY(measure(&it));
        out.converged = it.residual <= it.o.tol;
        PLX_TRY(plx__report(ctx, it.o.phase, ++out.iterations, it.o.max_iter, it.residual));
        if (out.converged) break;
        PLX_TRY(image_of(&it, &it.part[1]));
        it.parts = out.iterations > 1 ? 3 : 2;
        PLX_TRY(rayleigh_ritz(&it));
    }
    out.residual = it.residual;
    if (result) *result = out;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__block_eigen_bytes(double n, double p) { return 8 * (9 * n * p + 7 * (PARTS * p) * (PARTS * p)); }
