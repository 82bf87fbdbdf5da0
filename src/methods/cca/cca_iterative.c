/*
 * Canonical directions by products with the views only.
 *
 * The stacked directions w = (w_1, ..., w_m) solve A w = theta B w with A_jk = Xt_j'Xt_k (j != k), B_j = (1-tau)
 * Xt_j'Xt_j + tau I and theta = (m-1) rho. A block of them is iterated: G_j = B_j^-1 Xt_j' sum_{k != j} Xt_k w_k by
 * conjugate gradients, then Rayleigh-Ritz in the span of the block, of G and of the last change (locally optimal block
 * iteration), until |G - theta w| <= 1e-8 |theta w|. Xt = X - 1 mean' is never formed.
 */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "linalg/dense.h"
#include "linalg/eigen.h"
#include "methods/cca/cca.h"

enum { SPARE = 8, MAX_ITER = 500, MAX_CG = 1000, PARTS = 3 };
static const double TOLERANCE = 1e-8;

/* One view: rows in the space of all samples, so that sums over views are sums of matrices. */
typedef struct iter_view {
    const canon_view *view;
    plx_csr transposed;   /* of a sparse view */
    plx_mat basis[PARTS]; /* d x p: block, G, change */
    plx_mat image[PARTS]; /* n x p over all samples: Xt times these; zero for samples without the view */
    plx_mat spare, spare_image;
} iter_view;

typedef struct iteration {
    canon *c;
    plx_index p, parts; /* columns of the block; parts in use */
    iter_view *views;
    plx_mat share; /* m x m: weight of a pair of views; pairwise: sqrt(n_j n_k) / n_jk */
    double *theta; /* p */
    plx_mat small; /* view rows x p: a view's own rows of an image */
    double residual;
} iteration;

/* ---- products ---- */

/* out (all samples) = Xt v. */
static plx_status forward(iteration *it, const iter_view *v, plx_cmat from, plx_mat out)
{
    const canon_view *view = v->view;
    plx_mat rows = plx__mat_of(it->small.data, view->n, from.cols);
    PLX_TRY(plx__canon_times(rows, it->c->ctx, view->z, view->mean, from));
    for (plx_index i = 0; i < view->n; i++)
        memcpy(out.data + view->sample[i] * out.ld, rows.data + i * rows.ld, (size_t)rows.cols * sizeof(double));
    return PLX_OK;
}

/* out = Xt' y for y over the view's own rows. */
static plx_status adjoint(iteration *it, const iter_view *v, plx_cmat y, plx_mat out)
{
    const canon_view *view = v->view;
    plx_context *ctx = it->c->ctx;
    double *sums = NULL;
    if (!plx__points_sparse(view->z)) return plx__gemm(ctx, 1.0, view->z.dense, PLX__T, y, PLX__N, 0.0, out);
    PLX_TRY(plx__spmm(ctx, 1.0, plx__ccsr(v->transposed), y, 0.0, out));
    if (!view->mean) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_f64(&sums, plx__scratch(ctx), y.cols, 1));
    PLX_TRY(plx__col_sums(ctx, sums, y));
    for (plx_index i = 0; i < out.rows; i++) plx__axpy(out.data + i * out.ld, -view->mean[i], sums, out.cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Rows of the view out of a matrix over all samples. */
static void own_rows(const canon_view *view, plx_mat out, plx_cmat from)
{
    for (plx_index i = 0; i < view->n; i++)
        memcpy(out.data + i * out.ld, from.data + view->sample[i] * from.ld, (size_t)from.cols * sizeof(double));
}

/* ---- conjugate gradients, all columns at once ---- */

static void column_dots(double *out, plx_cmat a, plx_cmat b)
{
    memset(out, 0, (size_t)a.cols * sizeof *out);
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index j = 0; j < a.cols; j++) out[j] += a.data[i * a.ld + j] * b.data[i * b.ld + j];
}

/* y_j += factor_j x_j. */
static void add_columns(plx_mat y, const double *factor, plx_cmat x)
{
    for (plx_index i = 0; i < y.rows; i++)
        for (plx_index j = 0; j < y.cols; j++) y.data[i * y.ld + j] += factor[j] * x.data[i * x.ld + j];
}

/* out = B_j v. */
static plx_status apply_within(iteration *it, const iter_view *v, plx_cmat from, plx_mat out)
{
    double tau = it->c->set->tau;
    plx_mat rows = plx__mat_of(it->small.data, v->view->n, from.cols);
    PLX_TRY(plx__canon_times(rows, it->c->ctx, v->view->z, v->view->mean, from));
    PLX_TRY(adjoint(it, v, plx__cmat(rows), out));
    for (plx_index i = 0; i < out.rows; i++) {
        plx__scale(out.data + i * out.ld, 1.0 - tau, out.cols);
        plx__axpy(out.data + i * out.ld, tau, from.data + i * from.ld, out.cols);
    }
    return PLX_OK;
}

typedef struct cg_work {
    plx_mat r, direction, image;
    double *rr, *next, *step, *limit;
} cg_work;

static plx_status open_cg(cg_work *w, plx_context *ctx, plx_index d, plx_index p)
{
    plx__arena *scratch = plx__scratch(ctx);
    PLX_TRY(plx__arena_mat(&w->r, scratch, d, p));
    PLX_TRY(plx__arena_mat(&w->direction, scratch, d, p));
    PLX_TRY(plx__arena_mat(&w->image, scratch, d, p));
    PLX_TRY(plx__arena_f64(&w->rr, scratch, p, 1));
    PLX_TRY(plx__arena_f64(&w->next, scratch, p, 1));
    PLX_TRY(plx__arena_f64(&w->step, scratch, p, 1));
    return plx__arena_f64(&w->limit, scratch, p, 1);
}

static bool all_small(const cg_work *w, plx_index p)
{
    for (plx_index j = 0; j < p; j++)
        if (w->rr[j] > w->limit[j]) return false;
    return true;
}

/* B_j x = rhs from the start in x; columns that are done take no further steps. */
static plx_status solve_within(iteration *it, const iter_view *v, plx_cmat rhs, plx_mat x, double tol)
{
    plx_context *ctx = it->c->ctx;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index p = rhs.cols;
    cg_work w;
    PLX_TRY(open_cg(&w, ctx, rhs.rows, p));
    PLX_TRY(apply_within(it, v, plx__cmat(x), w.r));
    for (plx_index i = 0; i < rhs.rows * p; i++) w.r.data[i] = rhs.data[i] - w.r.data[i];
    plx__mat_copy(w.direction, plx__cmat(w.r));
    column_dots(w.rr, plx__cmat(w.r), plx__cmat(w.r));
    column_dots(w.limit, rhs, rhs);
    for (plx_index j = 0; j < p; j++) w.limit[j] *= tol * tol;
    for (plx_index step = 0; step < MAX_CG && !all_small(&w, p); step++) {
        PLX_TRY(apply_within(it, v, plx__cmat(w.direction), w.image));
        column_dots(w.step, plx__cmat(w.direction), plx__cmat(w.image));
        for (plx_index j = 0; j < p; j++) w.step[j] = w.rr[j] > w.limit[j] && w.step[j] > 0 ? w.rr[j] / w.step[j] : 0.0;
        add_columns(x, w.step, plx__cmat(w.direction));
        for (plx_index j = 0; j < p; j++) w.step[j] = -w.step[j];
        add_columns(w.r, w.step, plx__cmat(w.image));
        column_dots(w.next, plx__cmat(w.r), plx__cmat(w.r));
        for (plx_index j = 0; j < p; j++) w.step[j] = w.rr[j] > 0 ? w.next[j] / w.rr[j] : 0.0;
        for (plx_index i = 0; i < w.r.rows; i++)
            for (plx_index j = 0; j < p; j++) {
                double *d = &w.direction.data[i * p + j];
                *d = w.r.data[i * p + j] + w.step[j] * *d;
            }
        memcpy(w.rr, w.next, (size_t)p * sizeof *w.rr);
        PLX_TRY(plx__poll(ctx));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- the step ---- */

/* G_j = B_j^-1 Xt_j' sum_k share_jk Xt_k w_k, from the start theta w. */
static plx_status next_directions(iteration *it)
{
    plx_context *ctx = it->c->ctx;
    double tol = fmax(1e-11, fmin(1e-3, 0.01 * it->residual));
    for (plx_index j = 0; j < it->c->m; j++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        iter_view *v = &it->views[j];
        plx_mat sum, rows, rhs;
        PLX_TRY(plx__arena_mat(&sum, plx__scratch(ctx), it->c->n, it->p));
        PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), v->view->n, it->p));
        PLX_TRY(plx__arena_mat(&rhs, plx__scratch(ctx), v->view->r, it->p));
        for (plx_index k = 0; k < it->c->m; k++)
            if (k != j)
                plx__axpy(sum.data, it->share.data[j * it->c->m + k], it->views[k].image[0].data, it->c->n * it->p);
        own_rows(v->view, rows, plx__cmat(sum));
        PLX_TRY(adjoint(it, v, plx__cmat(rows), rhs));
        plx__mat_fill(v->basis[1], 0.0);
        add_columns(v->basis[1], it->theta, plx__cmat(v->basis[0]));
        PLX_TRY(solve_within(it, v, plx__cmat(rhs), v->basis[1], tol));
        PLX_TRY(forward(it, v, plx__cmat(v->basis[1]), v->image[1]));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

/* Largest |G - theta w| / max(theta |w|) over the wanted directions. */
static plx_status measure(iteration *it)
{
    plx__mark mark = plx__arena_mark(plx__scratch(it->c->ctx));
    double *error = NULL, *size = NULL, worst = 0, largest = 0;
    PLX_TRY(plx__arena_f64(&error, plx__scratch(it->c->ctx), it->p, 1));
    PLX_TRY(plx__arena_f64(&size, plx__scratch(it->c->ctx), it->p, 1));
    for (plx_index v = 0; v < it->c->m; v++) {
        plx_mat w = it->views[v].basis[0], g = it->views[v].basis[1];
        for (plx_index i = 0; i < w.rows; i++)
            for (plx_index j = 0; j < it->p; j++) {
                double e = g.data[i * it->p + j] - it->theta[j] * w.data[i * it->p + j];
                error[j] += e * e;
                size[j] += w.data[i * it->p + j] * w.data[i * it->p + j];
            }
    }
    for (plx_index j = 0; j < it->c->k; j++) {
        worst = fmax(worst, sqrt(error[j] / fmax(size[j], 1e-300)));
        largest = fmax(largest, fabs(it->theta[j]));
    }
    it->residual = worst / fmax(largest, 1e-300);
    plx__arena_rewind(plx__scratch(it->c->ctx), mark);
    return PLX_OK;
}

/* ---- Rayleigh-Ritz ---- */

/* S'A S and S'B S for the parts of the basis side by side. */
static plx_status small_matrices(iteration *it, plx_mat a, plx_mat b)
{
    plx_context *ctx = it->c->ctx;
    plx_index p = it->p, m = it->c->m;
    double tau = it->c->set->tau;
    for (plx_index s = 0; s < it->parts; s++)
        for (plx_index t = 0; t <= s; t++) {
            plx_mat ab = plx__sub(a, s * p, t * p, p, p), bb = plx__sub(b, s * p, t * p, p, p);
            for (plx_index j = 0; j < m; j++) {
                const iter_view *v = &it->views[j];
                PLX_TRY(
                    plx__gemm(ctx, 1.0 - tau, plx__cmat(v->image[s]), PLX__T, plx__cmat(v->image[t]), PLX__N, 1.0, bb));
                PLX_TRY(plx__gemm(ctx, tau, plx__cmat(v->basis[s]), PLX__T, plx__cmat(v->basis[t]), PLX__N, 1.0, bb));
                for (plx_index k = 0; k < m; k++)
                    if (k != j)
                        PLX_TRY(plx__gemm(ctx, it->share.data[j * m + k], plx__cmat(v->image[s]), PLX__T,
                                          plx__cmat(it->views[k].image[t]), PLX__N, 1.0, ab));
            }
        }
    plx__mirror_lower(a);
    plx__mirror_lower(b);
    return PLX_OK;
}

/* Coefficients (order x p) of the leading Ritz vectors, B-orthonormal. Directions in which b vanishes are left out. */
static plx_status ritz(iteration *it, plx_mat a, plx_mat b, plx_mat coef)
{
    plx__arena *scratch = plx__scratch(it->c->ctx);
    plx_context *ctx = it->c->ctx;
    plx_index order = a.rows, kept = 0;
    plx_mat q, half, projected, vectors;
    double *size = NULL, *values = NULL;
    PLX_TRY(plx__arena_f64(&size, scratch, order, 1));
    PLX_TRY(plx__arena_f64(&values, scratch, order, 1));
    PLX_TRY(plx__arena_mat(&q, scratch, order, order));
    for (plx_index i = 0; i < order; i++) size[i] = b.data[i * (b.ld + 1)] > 0 ? 1 / sqrt(b.data[i * (b.ld + 1)]) : 0.0;
    for (plx_index i = 0; i < order; i++)
        for (plx_index j = 0; j < order; j++) b.data[i * b.ld + j] *= size[i] * size[j];
    PLX_TRY(plx__sym_eigen(ctx, b, values, q));
    while (kept < order && values[order - 1 - kept] > 1e-13 * values[order - 1]) kept++;
    PLX_TRY(plx__arena_mat(&half, scratch, order, kept));
    for (plx_index i = 0; i < order; i++)
        for (plx_index j = 0; j < kept; j++)
            half.data[i * kept + j] = size[i] * q.data[i * order + order - 1 - j] / sqrt(values[order - 1 - j]);
    plx_mat image;
    PLX_TRY(plx__arena_mat(&image, scratch, order, kept));
    PLX_TRY(plx__arena_mat(&projected, scratch, kept, kept));
    PLX_TRY(plx__arena_mat(&vectors, scratch, kept, kept));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(half), PLX__N, 0.0, image));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(half), PLX__T, plx__cmat(image), PLX__N, 0.0, projected));
    PLX_TRY(plx__sym_eigen(ctx, projected, values, vectors));
    plx_index p = plx__min(it->p, kept);
    plx_mat leading;
    PLX_TRY(plx__arena_mat(&leading, scratch, kept, it->p));
    memset(it->theta, 0, (size_t)it->p * sizeof *it->theta);
    for (plx_index j = 0; j < p; j++) {
        it->theta[j] = values[kept - 1 - j];
        for (plx_index i = 0; i < kept; i++) leading.data[i * it->p + j] = vectors.data[i * kept + kept - 1 - j];
    }
    return plx__gemm(ctx, 1.0, plx__cmat(half), PLX__N, plx__cmat(leading), PLX__N, 0.0, coef);
}

/* basis[0] := sum of parts times coefficients, basis[2] := the same without part 0; images likewise. */
static plx_status recombine(plx_context *ctx, plx_mat *part, plx_mat spare, plx_index parts, plx_cmat coef)
{
    plx_index p = coef.cols;
    plx__mat_fill(spare, 0.0);
    for (plx_index s = 1; s < parts; s++)
        PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(part[s]), PLX__N, plx__csub(coef, s * p, 0, p, p), PLX__N, 1.0, spare));
    plx__mat_copy(part[2], plx__cmat(spare));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(part[0]), PLX__N, plx__csub(coef, 0, 0, p, p), PLX__N, 1.0, spare));
    plx__mat_copy(part[0], plx__cmat(spare));
    return PLX_OK;
}

static plx_status rayleigh_ritz(iteration *it)
{
    plx_context *ctx = it->c->ctx;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index order = it->parts * it->p;
    plx_mat a, b, coef;
    PLX_TRY(plx__arena_mat(&a, plx__scratch(ctx), order, order));
    PLX_TRY(plx__arena_mat(&b, plx__scratch(ctx), order, order));
    PLX_TRY(plx__arena_mat(&coef, plx__scratch(ctx), order, it->p));
    PLX_TRY(small_matrices(it, a, b));
    PLX_TRY(ritz(it, a, b, coef));
    for (plx_index v = 0; v < it->c->m; v++) {
        PLX_TRY(recombine(ctx, it->views[v].basis, it->views[v].spare, it->parts, plx__cmat(coef)));
        PLX_TRY(recombine(ctx, it->views[v].image, it->views[v].spare_image, it->parts, plx__cmat(coef)));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- all of it ---- */

static plx_index common_count(const canon_view *a, const canon_view *b)
{
    plx_index count = 0;
    for (plx_index i = 0, j = 0; i < a->n && j < b->n;) {
        plx_index here = a->sample[i], there = b->sample[j];
        count += here == there;
        i += here <= there;
        j += there <= here;
    }
    return count;
}

static plx_status pair_shares(iteration *it)
{
    canon *c = it->c;
    PLX_TRY(plx__arena_mat(&it->share, plx__scratch(c->ctx), c->m, c->m));
    for (plx_index a = 0; a < c->m; a++)
        for (plx_index b = 0; b < c->m; b++) {
            double common = (double)common_count(&c->views[a], &c->views[b]);
            double whole = sqrt((double)c->views[a].n * (double)c->views[b].n);
            it->share.data[a * c->m + b] = common > 0 ? whole / common : 0.0;
        }
    return PLX_OK;
}

static plx_status open_iteration(iteration *it, canon *c)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    plx_index least = c->views[0].r, most = 0;
    for (plx_index v = 0; v < c->m; v++) {
        least = plx__min(least, plx__min(c->views[v].r, c->views[v].n));
        most = plx__max(most, c->views[v].n);
    }
    PLX_TRY(plx__canon_set_dim(c, least));
    *it = (iteration){.c = c, .p = plx__min(c->k + SPARE, least), .parts = 1, .residual = 1};
    PLX_TRY(pair_shares(it));
    PLX_TRY(plx__arena_f64(&it->theta, scratch, it->p, 1));
    PLX_TRY(plx__arena_mat(&it->small, scratch, most, it->p));
    PLX_TRY(PLX__ARENA_NEW(&it->views, scratch, c->m));
    for (plx_index v = 0; v < c->m; v++) {
        iter_view *own = &it->views[v];
        own->view = &c->views[v];
        if (plx__points_sparse(own->view->z)) PLX_TRY(plx__csr_transpose(&own->transposed, scratch, own->view->z.csr));
        for (int part = 0; part < PARTS; part++) {
            PLX_TRY(plx__arena_mat(&own->basis[part], scratch, own->view->r, it->p));
            PLX_TRY(plx__arena_mat(&own->image[part], scratch, c->n, it->p));
        }
        PLX_TRY(plx__arena_mat(&own->spare, scratch, own->view->r, it->p));
        PLX_TRY(plx__arena_mat(&own->spare_image, scratch, c->n, it->p));
        uint64_t stream = PLX__STREAM('c', 'c', 'a', 'i', v);
        for (plx_index i = 0; i < own->view->r * it->p; i++)
            own->basis[0].data[i] = plx__rng_normal(c->ctx->seed, stream, (uint64_t)i);
        PLX_TRY(forward(it, own, plx__cmat(own->basis[0]), own->image[0]));
    }
    return PLX_OK;
}

static plx_status hand_over(iteration *it)
{
    canon *c = it->c;
    double m = (double)c->m;
    for (plx_index j = 0; j < c->k; j++) c->rho[j] = it->theta[j] / (m - 1.0);
    for (plx_index v = 0; v < c->m; v++) {
        PLX_TRY(plx__arena_mat(&c->views[v].w, plx__scratch(c->ctx), c->views[v].r, c->k));
        plx__mat_copy(c->views[v].w, plx__csub(plx__cmat(it->views[v].basis[0]), 0, 0, c->views[v].r, c->k));
        plx__mat_scale(c->views[v].w, sqrt(m));
    }
    return PLX_OK;
}

plx_status plx__cca_iterate(canon *c)
{
    iteration it;
    plx_index steps = 0;
    bool converged = false;
    PLX_TRY(open_iteration(&it, c));
    PLX_TRY(rayleigh_ritz(&it));
    while (!converged && steps < MAX_ITER && !plx__out_of_time(c->ctx)) {
        PLX_TRY(next_directions(&it));
        PLX_TRY(measure(&it));
        converged = it.residual <= TOLERANCE;
        PLX_TRY(plx__report(c->ctx, "iterate", ++steps, MAX_ITER, it.residual));
        if (converged) break;
        it.parts = steps > 1 ? 3 : 2;
        PLX_TRY(rayleigh_ritz(&it));
    }
    if (!converged)
        plx__warn(c->ctx, "cca: the directions changed by %g of their length when the iteration stopped", it.residual);
    c->run->info->iterations = steps;
    c->run->info->converged = converged;
    return hand_over(&it);
}
