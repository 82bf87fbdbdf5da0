/*
 * The reduced problem of cca and kcca. With B_j = (1-tau) Z_j'Z_j + tau I = L_j L_j' and N_jk = L_j^-1 Z_j'Z_k L_k^-T:
 * two views: N_12 = U diag(rho) V', w_1 = L_1^-T U, w_2 = L_2^-T V; more (MAXVAR): leading eigenvectors v of the blocks
 * N with N_jj = I, rho = (mu - 1)/(m - 1), w_j = sqrt(m) L_j^-T v_j.
 */
#include <math.h>
#include <string.h>

#include "device/anywhere.h"
#include "linalg/eigen.h"
#include "linalg/factor.h"
#include "methods/cca/canon.h"

enum { DENSE_SVD = 400 }; /* up to this order all singular values are computed */

/* ---- within views ---- */

static plx_status factor_view(canon *c, const canon_view *v, plx_mat l)
{
    const char *what = NULL;
    double jitter = 0;
    PLX_TRY(plx__canon_cross(l, c->ctx, v, v, false));
    plx__mat_scale(l, 1.0 - c->set->tau);
    plx__mat_add_diag(l, c->set->tau);
    PLX_TRY(plx__arena_printf(&what, plx__scratch(c->ctx), "%s: matrix for view '%s'", c->run->method->name,
                              v->view->name));
    PLX_TRY(plx__cholesky_jitter(c->ctx, l, &jitter, what, NULL, "increase tau"));
    c->jitter = fmax(c->jitter, jitter);
    return PLX_OK;
}

static plx_status factor_views(canon *c, plx_mat *l)
{
    for (plx_index v = 0; v < c->m; v++) {
        plx_index r = c->views[v].r;
        PLX_TRY(plx__arena_mat(&l[v], plx__scratch(c->ctx), r, r));
        PLX_TRY(factor_view(c, &c->views[v], l[v]));
        PLX_TRY(plx__report(c->ctx, "factor", v + 1, c->m, NAN));
    }
    return PLX_OK;
}

/* out = N_ab. */
static plx_status whitened(canon *c, const plx_mat *l, plx_index a, plx_index b, plx_mat out)
{
    PLX_TRY(plx__canon_cross(out, c->ctx, &c->views[a], &c->views[b], c->set->missing == CANON_PAIRWISE));
    PLX_TRY(plx__tri_solve(c->ctx, plx__cmat(l[a]), PLX__N, out));
    return plx__tri_solve_right(c->ctx, plx__cmat(l[b]), PLX__T, out);
}

/* ---- two views ---- */

/* Right singular vectors from the eigenvectors of N'N, then a small exact problem in their span: N V = Q R,
 * R = U' S W', so that values far below the largest keep their digits. */
static plx_status leading_svd(canon *c, plx_mat n, plx_mat u, double *s, plx_mat vt)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    plx_index k = c->k;
    plx_mat gram, v, image, small_u, small_vt;
    double *values = NULL;
    PLX_TRY(plx__arena_mat(&gram, scratch, n.cols, n.cols));
    PLX_TRY(plx__arena_mat(&v, scratch, n.cols, k));
    PLX_TRY(plx__arena_mat(&image, scratch, n.rows, k));
    PLX_TRY(plx__arena_mat(&small_u, scratch, n.rows, k));
    PLX_TRY(plx__arena_mat(&small_vt, scratch, k, k));
    PLX_TRY(plx__arena_f64(&values, scratch, k, 1));
    PLX_TRY(plx__syrk(c->ctx, 1.0, plx__cmat(n), PLX__T, 0.0, gram));
    PLX_TRY(plx__eigen_anywhere(c->ctx, gram, n.cols - k, k, values, v));
    PLX_TRY(plx__gemm(c->ctx, 1.0, plx__cmat(n), PLX__N, plx__cmat(v), PLX__N, 0.0, image));
    PLX_TRY(plx__svd(c->ctx, image, small_u, s, small_vt));
    plx__mat_copy(u, plx__cmat(small_u));
    return plx__gemm(c->ctx, 1.0, plx__cmat(small_vt), PLX__N, plx__cmat(v), PLX__T, 0.0, vt);
}

static plx_status full_svd(canon *c, plx_mat n, plx_mat u, double *s, plx_mat vt)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    plx_index r = plx__min(n.rows, n.cols);
    plx_mat all_u, all_vt;
    double *values = NULL;
    PLX_TRY(plx__arena_mat(&all_u, scratch, n.rows, r));
    PLX_TRY(plx__arena_mat(&all_vt, scratch, r, n.cols));
    PLX_TRY(plx__arena_f64(&values, scratch, r, 1));
    PLX_TRY(plx__svd(c->ctx, n, all_u, values, all_vt));
    memcpy(s, values, (size_t)c->k * sizeof *s);
    plx__mat_copy(u, plx__csub(plx__cmat(all_u), 0, 0, n.rows, c->k));
    plx__mat_copy(vt, plx__csub(plx__cmat(all_vt), 0, 0, c->k, n.cols));
    return PLX_OK;
}

static plx_status solve_pair(canon *c, const plx_mat *l)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    canon_view *a = &c->views[0], *b = &c->views[1];
    plx_mat n, vt;
    PLX_TRY(plx__arena_mat(&n, scratch, a->r, b->r));
    PLX_TRY(whitened(c, l, 0, 1, n));
    PLX_TRY(plx__arena_mat(&vt, scratch, c->k, b->r));
    if (plx__min(a->r, b->r) <= DENSE_SVD || 2 * c->k > plx__min(a->r, b->r)) PLX_TRY(full_svd(c, n, a->w, c->rho, vt));
    else PLX_TRY(leading_svd(c, n, a->w, c->rho, vt));
    plx__mat_transpose(b->w, plx__cmat(vt));
    PLX_TRY(plx__tri_solve(c->ctx, plx__cmat(l[0]), PLX__T, a->w));
    return plx__tri_solve(c->ctx, plx__cmat(l[1]), PLX__T, b->w);
}

/* ---- more views ---- */

static plx_status assemble(canon *c, const plx_mat *l, plx_mat all)
{
    plx_index row = 0;
    for (plx_index a = 0; a < c->m; row += c->views[a++].r) {
        plx_index col = 0;
        for (plx_index i = 0; i < c->views[a].r; i++) all.data[(row + i) * (all.ld + 1)] = 1.0;
        for (plx_index b = 0; b < a; col += c->views[b++].r)
            PLX_TRY(whitened(c, l, a, b, plx__sub(all, row, col, c->views[a].r, c->views[b].r)));
    }
    return PLX_OK; /* the lower triangle is what the eigenproblem reads */
}

static plx_status solve_many(canon *c, const plx_mat *l)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    plx_index order = 0, row = 0;
    plx_mat all, vectors;
    double *values = NULL, m = (double)c->m;
    for (plx_index v = 0; v < c->m; v++) order += c->views[v].r;
    PLX_TRY(plx__arena_mat(&all, scratch, order, order));
    PLX_TRY(plx__arena_mat(&vectors, scratch, order, c->k));
    PLX_TRY(plx__arena_f64(&values, scratch, c->k, 1));
    PLX_TRY(assemble(c, l, all));
    PLX_TRY(plx__eigen_anywhere(c->ctx, all, order - c->k, c->k, values, vectors));
    for (plx_index j = 0; j < c->k; j++) c->rho[j] = (values[c->k - 1 - j] - 1.0) / (m - 1.0);
    for (plx_index v = 0; v < c->m; row += c->views[v++].r) {
        plx_mat w = c->views[v].w;
        for (plx_index i = 0; i < w.rows; i++)
            for (plx_index j = 0; j < c->k; j++)
                w.data[i * w.ld + j] = sqrt(m) * vectors.data[(row + i) * vectors.ld + c->k - 1 - j];
        PLX_TRY(plx__tri_solve(c->ctx, plx__cmat(l[v]), PLX__T, w));
    }
    return PLX_OK;
}

/* ---- both ---- */

plx_status plx__canon_solve(canon *c)
{
    plx_index least = c->views[0].r;
    plx_mat *l = NULL;
    for (plx_index v = 1; v < c->m; v++) least = plx__min(least, c->views[v].r);
    PLX_TRY(plx__canon_set_dim(c, least));
    for (plx_index v = 0; v < c->m; v++)
        PLX_TRY(plx__arena_mat(&c->views[v].w, plx__scratch(c->ctx), c->views[v].r, c->k));
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    PLX_TRY(PLX__ARENA_NEW(&l, plx__scratch(c->ctx), c->m));
    PLX_TRY(factor_views(c, l));
    PLX_TRY(c->m == 2 ? solve_pair(c, l) : solve_many(c, l));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}
