/*
 * kcca of two views in the space of the samples, for factors with nearly as many columns as rows.
 *
 * With M_j = (1-tau) Z_j Z_j' + tau I the whitened product N of canon_solve.c is N N' = G' H_2 G, where
 * H_2 = Z_2 B_2^-1 Z_2' = (I - tau M_2^-1)/(1-tau) and G = Z_1 L^-1 with B_1 = L'L. In the order of view 1's pivots Z_1 is
 * lower triangular, and so are L, G, C of M_2 = C C' and W = C^-1 G: every step towards S = (G'G - tau W'W)/(1-tau) takes
 * n^3/3 operations, 7/3 n^3 in all instead of the 8 of the blocks N and N'N.
 *
 * From S V = V diag(rho^2): y = W V, projections p_1 = G V = C y, x_2 = M_2^-1 p_1 / rho = C^-T y / rho and
 * p_2 = Z_2 Z_2' x_2 = (p_1 / rho - tau x_2)/(1-tau); the same relation for view 1 gives x_1 = (p_2 / rho - (1-tau) p_1)/tau.
 * The weights are w_j = Z_j' x_j, their squared lengths x_j'p_j, and the dual weights T^-T w_j = x_j[pivots] +
 * T^-T E' x_j[rest], where T and E are the rows of Z_j at its pivots and the rest.
 */
#include "methods/cca/kcca.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "device/anywhere.h"
#include "linalg/dense.h"
#include "linalg/eigen.h"
#include "linalg/factor.h"

enum {
    SMALLEST = 400, /* below, canon_solve computes all singular values */
    BLOCK = 96,     /* rows or columns of a triangular matrix at a time */
    TURN = 16
};
/* S is a difference of matrices of norm up to 1 / (1-tau), and so are p_2 and x_1: the values wanted must be at least
 * this part of it, and the condition of M_2 and B_1 at most LARGEST_CONDITION, so that no more than three digits are lost
 * in the worst case. */
static const double SMALLEST_VALUE = 1e-3, LARGEST_CONDITION = 1e3;

typedef struct by_samples {
    canon *c;
    plx_context *ctx;
    double tau;
    plx_index n, r; /* samples, columns of view 1 */
    const plx__pivoted *reduced;
    plx_index *order[2]; /* samples in the order of the pivots of a view */
    plx_index *place;    /* where a sample is in the order of view 2 */
    plx_mat turned[2];   /* r x (n - r): T^-T E' */
    plx_mat g;           /* n x r, lower: G, then W */
    plx_mat l;           /* r x r: B_1 = L'L */
    plx_mat chol;        /* n x n: M_2 = C C' */
    plx_mat v;           /* r x k */
    plx_mat y, p;        /* n x k, in the order of view 1 */
} by_samples;

/* ---- triangular matrices by blocks ---- */

/* Pivots first, then the other rows as they come. */
static plx_status pivot_order(plx_index **order, plx_context *ctx, const plx__pivoted *p)
{
    plx_index n = p->z.rows, at = p->rank;
    uint8_t *taken = NULL;
    PLX_TRY(plx__arena_i64(order, plx__scratch(ctx), n));
    PLX_TRY(PLX__ARENA_NEW(&taken, plx__scratch(ctx), n));
    for (plx_index i = 0; i < p->rank; i++) taken[(*order)[i] = p->pivot[i]] = 1;
    for (plx_index i = 0; i < n; i++)
        if (!taken[i]) (*order)[at++] = i;
    return PLX_OK;
}

/* Rows begin..end-1 in the order given, their columns first..last-1. */
static void take_rows(plx_mat out, plx_cmat z, const plx_index *order, plx_index begin, plx_index first)
{
    for (plx_index i = 0; i < out.rows; i++)
        memcpy(out.data + i * out.ld, z.data + order[begin + i] * z.ld + first, (size_t)out.cols * sizeof(double));
}

/* Not set to zero: what is read of it is written before. */
static plx_status new_matrix(plx_mat *out, plx_context *ctx, plx_index rows, plx_index cols)
{
    *out = (plx_mat){NULL, rows, cols, cols};
    return plx__arena_bytes((void **)&out->data, plx__scratch(ctx), rows * cols, sizeof(double));
}

/* Lower triangle of out = alpha A'A + beta out, A lower: the rows up to K have no columns behind K. */
static plx_status inner_lower(plx_context *ctx, double alpha, plx_mat a, double beta, plx_mat out)
{
    plx_index blocks = (a.cols + BLOCK - 1) / BLOCK;
    for (plx_index b = blocks - 1; b >= 0; b--) {
        plx_index begin = b * BLOCK, end = plx__min(a.cols, begin + BLOCK);
        plx_cmat rows = plx__csub(plx__cmat(a), begin, 0, (b == blocks - 1 ? a.rows : end) - begin, end);
        PLX_TRY(plx__syrk_lower(ctx, alpha, rows, PLX__T, b == blocks - 1 ? beta : 1.0, plx__sub(out, 0, 0, end, end)));
        PLX_TRY(plx__poll(ctx));
    }
    return PLX_OK;
}

/* Lower triangle of out = Z Z', the rows of Z in their own order of pivots: no columns behind the row. */
static plx_status outer_lower(plx_context *ctx, plx_cmat z, const plx_index *order, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat panel;
    PLX_TRY(new_matrix(&panel, ctx, z.rows, BLOCK));
    for (plx_index begin = 0; begin < z.cols; begin += BLOCK) {
        plx_index rows = z.rows - begin;
        plx_mat part = plx__sub(panel, 0, 0, rows, plx__min(BLOCK, z.cols - begin));
        take_rows(part, z, order, begin, begin);
        PLX_TRY(plx__syrk_lower(ctx, 1.0, plx__cmat(part), PLX__N, begin ? 1.0 : 0.0,
                                plx__sub(out, begin, begin, rows, rows)));
        PLX_TRY(plx__poll(ctx));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Rows of G L = T, in place. */
static plx_status solve_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const by_samples *s = arg;
    plx_index width = plx__min(end, s->r);
    (void)worker;
    PLX_TRY(plx__poll(ctx));
    return plx__tri_solve_right_serial(ctx, plx__csub(plx__cmat(s->l), 0, 0, width, width), PLX__N,
                                       plx__sub(s->g, begin, 0, end - begin, width));
}

/* Columns of C W = G, in place. */
static plx_status solve_columns(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const by_samples *s = arg;
    plx_index rows = s->n - begin;
    (void)worker;
    PLX_TRY(plx__poll(ctx));
    return plx__tri_solve_serial(ctx, plx__csub(plx__cmat(s->chol), begin, begin, rows, rows), PLX__N,
                                 plx__sub(s->g, begin, begin, rows, end - begin));
}

/* Rows of y = W V, and of p_1 = C y. */
static plx_status times_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const by_samples *s = arg;
    plx_index width = plx__min(end, s->r), k = s->v.cols;
    (void)worker;
    return plx__gemm_serial(ctx, 1.0, plx__csub(plx__cmat(s->g), begin, 0, end - begin, width), PLX__N,
                            plx__csub(plx__cmat(s->v), 0, 0, width, k), PLX__N, 0.0,
                            plx__sub(s->y, begin, 0, end - begin, k));
}

static plx_status project_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const by_samples *s = arg;
    plx_index k = s->v.cols;
    (void)worker;
    return plx__gemm_serial(ctx, 1.0, plx__csub(plx__cmat(s->chol), begin, 0, end - begin, end), PLX__N,
                            plx__csub(plx__cmat(s->y), 0, 0, end, k), PLX__N, 0.0,
                            plx__sub(s->p, begin, 0, end - begin, k));
}

/* The lower triangle reflected at the other diagonal: A = L L' reflected gives factors A = L'L. */
static void reflect(plx_mat a)
{
    plx_index n = a.rows;
    for (plx_index i0 = 0; i0 < n; i0 += TURN)
        for (plx_index j = 0; j < plx__min(n, i0 + TURN); j++)
            for (plx_index i = plx__max(i0, j); i < plx__min(plx__min(n, i0 + TURN), n - 1 - j); i++) {
                double *x = a.data + i * a.ld + j, *y = a.data + (n - 1 - j) * a.ld + n - 1 - i, keep = *x;
                *x = *y;
                *y = keep;
            }
}

/* Scales the lower triangle, adds to the diagonal, and returns the largest row sum of absolute values of all of it. */
static plx_status regularise(plx_mat a, plx_context *ctx, double tau, double *norm)
{
    double *sum = NULL;
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(ctx), a.rows, 1));
    *norm = 0;
    for (plx_index i = 0; i < a.rows; i++) {
        double *row = a.data + i * a.ld, own = 0;
        for (plx_index j = 0; j < i; j++) {
            row[j] *= 1.0 - tau;
            own += fabs(row[j]);
            sum[j] += fabs(row[j]);
        }
        row[i] = (1.0 - tau) * row[i] + tau;
        sum[i] += own + fabs(row[i]);
    }
    for (plx_index i = 0; i < a.rows; i++) *norm = fmax(*norm, sum[i]);
    return PLX_OK;
}

/* ---- the two views ---- */

/* In place; *fine: it is positive definite. */
static plx_status factor(by_samples *s, plx_mat a, bool *fine)
{
    plx_status st = plx__cholesky(s->ctx, a, NULL);
    *fine = st == PLX_OK;
    if (st != PLX_E_NUMERIC) return st;
    plx__clear_error(s->ctx);
    return PLX_OK;
}

/* L and G; *fine: B_1 is conditioned well enough. */
static plx_status whiten_first(by_samples *s, bool *fine)
{
    double norm = 0;
    take_rows(s->g, plx__cmat(s->reduced[0].z), s->order[0], 0, 0);
    PLX_TRY(inner_lower(s->ctx, 1.0, s->g, 0.0, s->l));
    PLX_TRY(regularise(s->l, s->ctx, s->tau, &norm));
    *fine = norm <= LARGEST_CONDITION * s->tau;
    if (!*fine) return PLX_OK;
    reflect(s->l);
    PLX_TRY(factor(s, s->l, fine));
    if (!*fine) return PLX_OK;
    reflect(s->l);
    return plx__parallel_for(s->ctx, s->n, BLOCK, solve_rows, s);
}

/* T^-T E' of a view, from the last block of pivots to the first. */
static plx_status turn_rest(by_samples *s, int view)
{
    plx_cmat z = plx__cmat(s->reduced[view].z);
    plx_index r = z.cols, rest = s->n - r, *order = s->order[view];
    plx_mat panel, out;
    PLX_TRY(plx__arena_mat(&out, plx__scratch(s->ctx), r, rest));
    s->turned[view] = out;
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    PLX_TRY(new_matrix(&panel, s->ctx, BLOCK, r));
    for (plx_index i = 0; i < rest; i++)
        for (plx_index j = 0; j < r; j++) out.data[j * rest + i] = z.data[order[r + i] * z.ld + j];
    for (plx_index begin = (r - 1) / BLOCK * BLOCK; rest && begin >= 0; begin -= BLOCK) {
        plx_index rows = plx__min(BLOCK, r - begin);
        plx_mat part = plx__sub(panel, 0, 0, rows, begin + rows), x = plx__sub(out, begin, 0, rows, rest);
        take_rows(part, z, order, begin, 0);
        PLX_TRY(plx__tri_solve(s->ctx, plx__csub(plx__cmat(part), 0, begin, rows, rows), PLX__T, x));
        PLX_TRY(plx__gemm(s->ctx, -1.0, plx__csub(plx__cmat(part), 0, 0, rows, begin), PLX__T, plx__cmat(x), PLX__N,
                          1.0, plx__sub(out, 0, 0, begin, rest)));
    }
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

/* Z_2 Z_2' in the order of view 2 (both triangles in `from`), brought to that of view 1. */
static void reorder(by_samples *s, plx_mat from)
{
    const plx_index *at = s->place, *order = s->order[0];
    for (plx_index i = 0; i < s->n; i++) {
        const double *row = from.data + at[order[i]] * from.ld;
        double *to = s->chol.data + i * s->chol.ld;
        for (plx_index j = 0; j <= i; j++) to[j] = row[at[order[j]]];
    }
}

/* C of M_2 in the order of view 1; `work` (n x n) is free afterwards. */
static plx_status factor_second(by_samples *s, plx_mat work, bool *fine)
{
    double norm = 0;
    PLX_TRY(outer_lower(s->ctx, plx__cmat(s->reduced[1].z), s->order[1], work));
    plx__mirror_lower(work);
    reorder(s, work);
    PLX_TRY(regularise(s->chol, s->ctx, s->tau, &norm));
    *fine = norm <= LARGEST_CONDITION * s->tau;
    return *fine ? factor(s, s->chol, fine) : PLX_OK;
}

/* V and rho from S, for which G becomes W; *fine: all values are large enough. */
static plx_status directions(by_samples *s, plx_mat gram, bool *fine)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_index k = s->c->k;
    double *values = NULL, scale = 1.0 / (1.0 - s->tau);
    plx_mat ascending;
    PLX_TRY(plx__arena_f64(&values, plx__scratch(s->ctx), k, 1));
    PLX_TRY(plx__arena_mat(&ascending, plx__scratch(s->ctx), s->r, k));
    PLX_TRY(inner_lower(s->ctx, scale, s->g, 0.0, gram));
    PLX_TRY(plx__parallel_for(s->ctx, s->r, BLOCK, solve_columns, s));
    PLX_TRY(inner_lower(s->ctx, -s->tau * scale, s->g, 1.0, gram));
    PLX_TRY(plx__eigen_anywhere(s->ctx, gram, s->r - k, k, values, ascending));
    *fine = values[0] >= SMALLEST_VALUE * scale * scale;
    for (plx_index j = 0; j < k; j++) {
        s->c->rho[j] = sqrt(fmax(values[k - 1 - j], 0.0));
        for (plx_index i = 0; i < s->r; i++) s->v.data[i * k + j] = ascending.data[i * k + k - 1 - j];
    }
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

/* ---- results ---- */

/* Dual weights of a view from x (n x k, in the order of its pivots), and the squared lengths of w: x'Z Z'x. */
static plx_status take_weights(by_samples *s, int v, plx_mat x)
{
    canon_view *view = &s->c->views[v];
    plx_index k = s->c->k, r = view->r;
    for (plx_index i = 0; i < s->n; i++)
        for (plx_index j = 0; j < k; j++)
            view->w_square[j] += x.data[i * k + j] * view->rows.data[s->order[v][i] * k + j];
    plx__mat_copy(view->dual, plx__csub(plx__cmat(x), 0, 0, r, k));
    return plx__gemm(s->ctx, 1.0, plx__cmat(s->turned[v]), PLX__N, plx__csub(plx__cmat(x), r, 0, s->n - r, k), PLX__N,
                     1.0, view->dual);
}

static plx_status take_results(by_samples *s)
{
    plx_index k = s->c->k;
    plx_mat x[2];
    double *all[2] = {s->c->views[0].rows.data, s->c->views[1].rows.data}, tau = s->tau;
    PLX_TRY(plx__arena_mat(&s->y, plx__scratch(s->ctx), s->n, k));
    PLX_TRY(plx__arena_mat(&s->p, plx__scratch(s->ctx), s->n, k));
    PLX_TRY(plx__arena_mat(&x[1], plx__scratch(s->ctx), s->n, k));
    PLX_TRY(plx__parallel_for(s->ctx, s->n, BLOCK, times_rows, s));
    PLX_TRY(plx__parallel_for(s->ctx, s->n, BLOCK, project_rows, s));
    PLX_TRY(plx__tri_solve(s->ctx, plx__cmat(s->chol), PLX__T, s->y));
    x[0] = s->p; /* p_1 is replaced by x_1 row by row */
    for (plx_index i = 0; i < s->n; i++) {
        plx_index sample = s->order[0][i];
        double *first = all[0] + sample * k, *second = all[1] + sample * k, *own = x[0].data + i * k;
        double *other = x[1].data + s->place[sample] * k, *y = s->y.data + i * k;
        for (plx_index j = 0; j < k; j++) {
            double rho = s->c->rho[j];
            first[j] = own[j];
            other[j] = y[j] / rho;
            second[j] = (first[j] / rho - tau * other[j]) / (1.0 - tau);
            own[j] = (second[j] / rho - (1.0 - tau) * first[j]) / tau;
        }
    }
    PLX_TRY(take_weights(s, 0, x[0]));
    return take_weights(s, 1, x[1]);
}

static plx_status prepare(by_samples *s)
{
    for (int v = 0; v < 2; v++) {
        PLX_TRY(pivot_order(&s->order[v], s->ctx, &s->reduced[v]));
        PLX_TRY(turn_rest(s, v));
    }
    PLX_TRY(plx__arena_i64(&s->place, plx__scratch(s->ctx), s->n));
    for (plx_index i = 0; i < s->n; i++) s->place[s->order[1][i]] = i;
    PLX_TRY(plx__arena_mat(&s->v, plx__scratch(s->ctx), s->r, s->c->k));
    PLX_TRY(new_matrix(&s->g, s->ctx, s->n, s->r));
    return new_matrix(&s->chol, s->ctx, s->n, s->n);
}

static plx_status solve(by_samples *s, bool *done)
{
    plx_mat work; /* L, then Z_2 Z_2', then S */
    bool fine = false;
    PLX_TRY(prepare(s));
    PLX_TRY(plx__arena_mat(&work, plx__scratch(s->ctx), s->n, s->n));
    s->l = plx__mat_of(work.data, s->r, s->r);
    PLX_TRY(whiten_first(s, &fine));
    if (!fine) return PLX_OK;
    PLX_TRY(plx__report(s->ctx, "factor", 1, 2, NAN));
    PLX_TRY(factor_second(s, work, &fine));
    if (!fine) return PLX_OK;
    PLX_TRY(plx__report(s->ctx, "factor", 2, 2, NAN));
    PLX_TRY(directions(s, plx__mat_of(work.data, s->r, s->r), &fine));
    if (!fine) return PLX_OK;
    PLX_TRY(take_results(s));
    *done = true;
    return PLX_OK;
}

/* Two views of the same samples, most of which are pivots in both, and some of the directions. */
static bool pays(const canon *c)
{
    const canon_view *a = &c->views[0], *b = &c->views[1];
    plx_index least = c->m == 2 ? plx__min(a->r, b->r) : 0;
    return least > SMALLEST && 4 * least >= 3 * a->n && 2 * c->set->dim <= least && a->n == b->n &&
           !memcmp(a->sample, b->sample, (size_t)a->n * sizeof *a->sample) && c->set->tau > 0 && c->set->tau < 1;
}

/* Room for the results, which outlives the work. */
static plx_status open_results(canon *c)
{
    PLX_TRY(plx__canon_set_dim(c, plx__min(c->views[0].r, c->views[1].r)));
    for (int v = 0; v < 2; v++) {
        canon_view *view = &c->views[v];
        PLX_TRY(plx__arena_mat(&view->rows, plx__scratch(c->ctx), view->n, c->k));
        PLX_TRY(plx__arena_mat(&view->dual, plx__scratch(c->ctx), view->r, c->k));
        PLX_TRY(plx__arena_f64(&view->w_square, plx__scratch(c->ctx), c->k, 1));
    }
    return PLX_OK;
}

/* All rows of Z on every process. */
static plx_status gather_rows(canon *c, plx__pivoted *reduced)
{
    plx__slabs cut = plx__slabs_cut(c->views[0].n, PLX__PANE_ROWS);
    plx_index begin = 0, end = 0;
    if (plx__ranks(c->ctx) == 1 || !reduced[0].corner.data) return PLX_OK;
    plx__slabs_mine(&begin, &end, c->ctx, cut);
    for (int v = 0; v < 2; v++) {
        plx_mat all, own = reduced[v].z;
        PLX_TRY(new_matrix(&all, c->ctx, own.rows, own.cols));
        plx__mat_copy(plx__sub(all, begin, 0, end - begin, own.cols),
                      plx__csub(plx__cmat(own), begin, 0, end - begin, own.cols));
        PLX_TRY(plx__slabs_share(c->ctx, cut, all.data, (size_t)all.cols * sizeof(double), 1));
        reduced[v].z = all;
        c->views[v].z = plx__points_dense(plx__cmat(all));
    }
    return PLX_OK;
}

plx_status plx__kcca_by_samples(canon *c, plx__pivoted *reduced, bool *done)
{
    *done = false;
    if (!pays(c)) return PLX_OK;
    PLX_TRY(gather_rows(c, reduced));
    by_samples s = {
        .c = c, .ctx = c->ctx, .tau = c->set->tau, .n = c->views[0].n, .r = c->views[0].r, .reduced = reduced};
    plx__mark start = plx__arena_mark(plx__scratch(c->ctx));
    PLX_TRY(open_results(c));
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    PLX_TRY(solve(&s, done));
    plx__arena_rewind(plx__scratch(c->ctx), *done ? mark : start);
    for (int v = 0; !*done && v < 2; v++) {
        c->views[v].rows = c->views[v].dual = (plx_mat){0};
        c->views[v].w_square = NULL;
    }
    return PLX_OK;
}
