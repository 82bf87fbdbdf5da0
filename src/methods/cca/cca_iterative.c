/*
 * Canonical directions by products with the views only.
 *
 * The stacked directions w = (w_1, ..., w_m) solve A w = theta B w with A_jk = share_jk Xt_j'Xt_k (j != k), B_j = (1-tau)
 * Xt_j'Xt_j + tau I and theta = (m-1) rho: linalg/block_eigen.h, with B^-1 by conjugate gradients view by view. Xt = X -
 * 1 mean' is never formed. Products with the rows are passes that processes divide (kernel/row_passes.h).
 */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "linalg/block_eigen.h"
#include "linalg/iterative.h"
#include "methods/cca/cca.h"

enum { SPARE = 8, MAX_CG = 1000 };

/* One view: its directions are rows first .. first + r - 1 of the stacked ones. */
typedef struct iter_view {
    const canon_view *view;
    plx__row_passes rows;
    plx_index first;
    struct iteration *all;
} iter_view;

typedef struct iteration {
    canon *c;
    iter_view *views;
    plx_index rows; /* of the stacked directions */
    bool aligned;   /* all views have the same samples, and a process the same ones of each */
    plx_mat share;  /* m x m: weight of a pair of views; pairwise: sqrt(n_j n_k) / n_jk */
} iteration;

static plx_mat rows_of(const iter_view *v, plx_mat stacked)
{
    return plx__sub(stacked, v->first, 0, v->view->r, stacked.cols);
}

/* ---- products ---- */

/* out (the view's own rows, those of this process) = Xt v. */
static plx_status forward(plx_context *ctx, const iter_view *v, plx_cmat from, plx_mat out)
{
    return plx__canon_own_times(out, ctx, &v->rows, v->view->mean, from);
}

/* out = Xt' y for y over the view's own rows. */
static plx_status adjoint(plx_context *ctx, const iter_view *v, plx_cmat y, plx_mat out)
{
    return plx__canon_times_t(out, ctx, &v->rows, v->view->mean, y);
}

/* out = (1-tau) Xt'y + tau x, where y = Xt x. */
static plx_status within(plx_context *ctx, const iter_view *v, plx_cmat x, plx_cmat y, plx_mat out)
{
    double tau = v->all->c->set->tau;
    PLX_TRY(adjoint(ctx, v, y, out));
    for (plx_index i = 0; i < out.rows; i++) {
        plx__scale(out.data + i * out.ld, 1.0 - tau, out.cols);
        plx__axpy(out.data + i * out.ld, tau, x.data + i * x.ld, out.cols);
    }
    return PLX_OK;
}

/* y = B_j x. */
static plx_status apply_within(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const iter_view *v = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat image;
    PLX_TRY(plx__arena_mat(&image, plx__scratch(ctx), v->view->n, x.cols));
    PLX_TRY(forward(ctx, v, x, image));
    PLX_TRY(within(ctx, v, x, plx__cmat(image), y));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* to (rows of one view) += factor from (rows of another), where they are of the same sample. */
static void add_common(plx_mat to, const canon_view *a, double factor, plx_mat from, const canon_view *b)
{
    for (plx_index i = 0, j = 0; i < a->n && j < b->n;) {
        plx_index here = a->sample[i], there = b->sample[j];
        if (here == there) plx__axpy(to.data + i * to.ld, factor, from.data + j * from.ld, to.cols);
        i += here <= there;
        j += there <= here;
    }
}

/* Rows j of A x: Xt_j' sum over the other views of share_jk Xt_k x_k. */
static plx_status between(iteration *it, plx_context *ctx, plx_index j, const plx_mat *image, plx_mat out)
{
    const iter_view *v = &it->views[j];
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat sum;
    PLX_TRY(plx__arena_mat(&sum, plx__scratch(ctx), v->view->n, out.cols));
    for (plx_index k = 0; k < it->c->m; k++)
        if (k != j) add_common(sum, v->view, it->share.data[j * it->c->m + k], image[k], it->views[k].view);
    PLX_TRY(adjoint(ctx, v, plx__cmat(sum), out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status apply_pencil(void *arg, plx_context *ctx, plx_cmat x, plx_mat ax, plx_mat bx)
{
    iteration *it = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat *image = NULL;
    PLX_TRY(PLX__ARENA_NEW(&image, plx__scratch(ctx), it->c->m));
    for (plx_index j = 0; j < it->c->m; j++) {
        const iter_view *v = &it->views[j];
        plx_cmat own = plx__csub(x, v->first, 0, v->view->r, x.cols);
        PLX_TRY(plx__arena_mat(&image[j], plx__scratch(ctx), v->view->n, x.cols));
        PLX_TRY(forward(ctx, v, own, image[j]));
        PLX_TRY(within(ctx, v, own, plx__cmat(image[j]), rows_of(v, bx)));
        if (!it->aligned) PLX_TRY(plx__row_passes_share(&v->rows, ctx, image[j]));
    }
    for (plx_index j = 0; j < it->c->m; j++) PLX_TRY(between(it, ctx, j, image, rows_of(&it->views[j], ax)));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status solve_pencil(void *arg, plx_context *ctx, plx_cmat rhs, plx_mat x, double tol)
{
    iteration *it = arg;
    plx__iter_options options = {.tol = tol, .max_iter = MAX_CG};
    for (plx_index j = 0; j < it->c->m; j++) {
        iter_view *v = &it->views[j];
        plx__block_operator b = {v->view->r, apply_within, v};
        PLX_TRY(plx__cg_block(ctx, b, plx__csub(rhs, v->first, 0, v->view->r, x.cols), rows_of(v, x), &options, NULL));
    }
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

static bool are_aligned(const canon *c)
{
    for (plx_index v = 1; v < c->m; v++)
        if (c->views[v].n != c->views[0].n || common_count(&c->views[0], &c->views[v]) != c->views[0].n) return false;
    return true;
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

/* Views, room for k + SPARE directions as far as the ranks allow, and a random start of each view by its own stream. */
static plx_status open_iteration(iteration *it, plx_mat *w, canon *c)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    plx_index least = c->views[0].r;
    for (plx_index v = 0; v < c->m; v++) least = plx__min(least, plx__min(c->views[v].r, c->views[v].n));
    PLX_TRY(plx__canon_set_dim(c, least));
    *it = (iteration){.c = c, .aligned = are_aligned(c)};
    PLX_TRY(pair_shares(it));
    PLX_TRY(PLX__ARENA_NEW(&it->views, scratch, c->m));
    for (plx_index v = 0; v < c->m; it->rows += c->views[v++].r) {
        it->views[v] = (iter_view){.view = &c->views[v], .first = it->rows, .all = it};
        PLX_TRY(plx__row_passes_open(&it->views[v].rows, c->ctx, c->views[v].z, true));
    }
    PLX_TRY(plx__arena_mat(w, scratch, it->rows, plx__min(c->k + SPARE, least)));
    for (plx_index v = 0; v < c->m; v++) {
        uint64_t stream = PLX__STREAM('c', 'c', 'a', 'i', v);
        plx_mat own = rows_of(&it->views[v], *w);
        for (plx_index i = 0; i < own.rows * own.cols; i++)
            own.data[i] = plx__rng_normal(c->ctx->seed, stream, (uint64_t)i);
    }
    return PLX_OK;
}

static plx_status hand_over(iteration *it, const double *theta, plx_mat w)
{
    canon *c = it->c;
    double m = (double)c->m;
    for (plx_index j = 0; j < c->k; j++) c->rho[j] = theta[j] / (m - 1.0);
    for (plx_index v = 0; v < c->m; v++) {
        PLX_TRY(plx__arena_mat(&c->views[v].w, plx__scratch(c->ctx), c->views[v].r, c->k));
        plx__mat_copy(c->views[v].w, plx__csub(plx__cmat(w), it->views[v].first, 0, c->views[v].r, c->k));
        plx__mat_scale(c->views[v].w, sqrt(m));
    }
    return PLX_OK;
}

plx_status plx__cca_iterate(canon *c)
{
    iteration it;
    plx_mat w;
    double *theta = NULL;
    plx__block_eigen_result result;
    PLX_TRY(open_iteration(&it, &w, c));
    PLX_TRY(plx__arena_f64(&theta, plx__scratch(c->ctx), w.cols, 1));
    plx__pencil pencil = {it.rows, apply_pencil, solve_pencil, &it};
    PLX_TRY(plx__block_eigen(c->ctx, &pencil, theta, w, &(plx__block_eigen_options){.wanted = c->k}, &result));
    if (!result.converged)
        plx__warn(c->ctx, "cca: the directions changed by %g of their length when the iteration stopped",
                  result.residual);
    c->run->info->iterations = result.iterations;
    c->run->info->converged = result.converged;
    return hand_over(&it, theta, w);
}
