/*
 * Sparse Cholesky where L can be formed and fits, conjugate gradients with products otherwise; vertices that
 * no labelled sample reaches are singular directions and are set apart first.
 */
#include "graph/smoother.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "graph/components.h"
#include "linalg/eigen.h"
#include "linalg/iterative.h"
#include "linalg/rank_solvers.h"
#include "linalg/sparse_chol.h"

enum {
    FACTOR_UP_TO = 3000,     /* samples up to which L + C is formed and factorised: fill may make the factor dense */
    ALL_VECTORS_UP_TO = 1500 /* samples up to which all eigenvectors are computed */
};

/* Residual of systems and, relative to the norm of L, of eigenpairs that several processes solve: as near to the factors
 * of one process as conjugate gradients come without pains. */
static const double RANKS_TOL = 1e-10, RANKS_EIGEN_TOL = 1e-12;

/* ---- making ---- */

plx_status plx__smoother_create(plx__smoother *out, plx_context *ctx, plx_index n, plx_index n_parts)
{
    *out = (plx__smoother){.n = n, .n_parts = n_parts};
    return PLX__ARENA_NEW(&out->part, plx__scratch(ctx), n_parts);
}

void plx__smoother_set(plx__smoother *s, plx_index v, plx_csr l)
{
    s->part[v] = (plx__smoother_part){.weight = 1.0, .l = l};
}

/* Row i of I - A with the diagonal in its place. */
static plx_index local_row(plx_csr b, plx_index at, plx_ccsr a, plx_index i)
{
    bool placed = false;
    for (plx_index p = a.ptr[i]; p <= a.ptr[i + 1]; p++) {
        bool end = p == a.ptr[i + 1];
        if (!placed && (end || a.col[p] >= i)) {
            b.col[at] = (int32_t)i;
            b.val[at++] = 1.0;
            placed = true;
        }
        if (end) break;
        if (a.col[p] == i) {
            b.val[at - 1] -= a.val[p];
            continue;
        }
        b.col[at] = a.col[p];
        b.val[at++] = -a.val[p];
    }
    return at;
}

plx_status plx__smoother_set_local(plx__smoother *s, plx_context *ctx, plx_index v, plx_ccsr a, bool skip_empty)
{
    plx__smoother_part *part = &s->part[v];
    *part = (plx__smoother_part){.weight = 1.0, .factored = true};
    PLX_TRY(plx__arena_csr(&part->b, plx__scratch(ctx), s->n, s->n, plx__nnz(a) + s->n));
    for (plx_index i = 0; i < s->n; i++) {
        bool empty = skip_empty && a.ptr[i] == a.ptr[i + 1];
        part->b.ptr[i + 1] = empty ? part->b.ptr[i] : local_row(part->b, part->b.ptr[i], a, i);
    }
    return plx__csr_transpose(&part->b_turned, plx__scratch(ctx), plx__ccsr(part->b));
}

plx_status plx__smoother_form_parts(plx_context *ctx, plx__smoother *s)
{
    for (plx_index v = 0; v < s->n_parts && s->n <= FACTOR_UP_TO; v++) {
        plx__smoother_part *part = &s->part[v];
        if (!part->factored) continue;
        PLX_TRY(plx__csr_matmul(&part->l, plx__scratch(ctx), plx__ccsr(part->b_turned), plx__ccsr(part->b)));
        part->factored = false;
    }
    return PLX_OK;
}

/* ---- products ---- */

static void scale_rows(const plx__smoother *s, plx_mat x)
{
    for (plx_index i = 0; i < s->n; i++) plx__scale(x.data + i * x.ld, s->row_scale[i], x.cols);
}

/* y += weight L x. */
static plx_status add_part(const plx__smoother_part *part, plx_context *ctx, plx_cmat x, plx_mat y)
{
    plx_mat image;
    if (part->weight == 0) return PLX_OK;
    if (!part->factored) return plx__spmm(ctx, part->weight, plx__ccsr(part->l), x, 1.0, y);
    PLX_TRY(plx__arena_mat(&image, plx__scratch(ctx), part->b.rows, x.cols));
    PLX_TRY(plx__spmm(ctx, 1.0, plx__ccsr(part->b), x, 0.0, image));
    return plx__spmm(ctx, part->weight, plx__ccsr(part->b_turned), plx__cmat(image), 1.0, y);
}

plx_status plx__smoother_apply_block(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const plx__smoother *s = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat scaled;
    plx__mat_fill(y, 0.0);
    if (s->row_scale) {
        PLX_TRY(plx__mat_clone(&scaled, plx__scratch(ctx), x));
        scale_rows(s, scaled);
        x = plx__cmat(scaled);
    }
    for (plx_index v = 0; v < s->n_parts; v++) PLX_TRY(add_part(&s->part[v], ctx, x, y));
    if (s->row_scale) scale_rows(s, y);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__smoother_apply(void *arg, plx_context *ctx, double *y, const double *x)
{
    const plx__smoother *s = arg;
    return plx__smoother_apply_block(arg, ctx, plx__cmat_of(x, s->n, 1), plx__mat_of(y, s->n, 1));
}

plx_status plx__smoother_rows(plx_csr *out, plx_context *ctx, const plx__smoother *s, plx_index begin, plx_index end)
{
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), end - begin, s->n, 0));
    for (plx_index v = 0; v < s->n_parts; v++) {
        const plx__smoother_part *part = &s->part[v];
        plx_csr product, sum;
        if (part->weight == 0) continue;
        plx_ccsr l = plx__csr_rows(plx__ccsr(part->factored ? part->b_turned : part->l), begin, end);
        if (part->factored) {
            PLX_TRY(plx__csr_matmul(&product, plx__scratch(ctx), l, plx__ccsr(part->b)));
            l = plx__ccsr(product);
        }
        PLX_TRY(plx__csr_add(&sum, plx__scratch(ctx), 1.0, plx__ccsr(*out), part->weight, l));
        *out = sum;
    }
    for (plx_index i = 0; s->row_scale && i < end - begin; i++)
        for (plx_index p = out->ptr[i]; p < out->ptr[i + 1]; p++)
            out->val[p] *= s->row_scale[begin + i] * s->row_scale[out->col[p]];
    return PLX_OK;
}

plx_status plx__smoother_matrix(plx_csr *out, plx_context *ctx, const plx__smoother *s)
{
    return plx__smoother_rows(out, ctx, s, 0, s->n);
}

static void diagonal(double *out, const plx__smoother *s)
{
    memset(out, 0, (size_t)s->n * sizeof *out);
    for (plx_index v = 0; v < s->n_parts; v++) {
        const plx__smoother_part *part = &s->part[v];
        for (plx_index i = 0; i < s->n && !part->factored; i++)
            out[i] += part->weight * plx__csr_get(plx__ccsr(part->l), i, i);
        for (plx_index p = 0; part->factored && p < plx__nnz(plx__ccsr(part->b)); p++)
            out[part->b.col[p]] += part->weight * part->b.val[p] * part->b.val[p];
    }
}

/* ---- does every sample hear of a label? ---- */

static plx_status unreachable(plx_context *ctx, const char *method)
{
    PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: no label reaches some samples; set c_u > 0", method);
}

plx_status plx__smoother_unreached(uint8_t **out, plx_index *count, plx_context *ctx, const plx__smoother *s,
                                   const double *c)
{
    int32_t *parent = NULL, *set = NULL;
    uint8_t *used = NULL, *heard = NULL;
    plx_index sets = 0;
    PLX_TRY(plx__arena_u8(out, plx__scratch(ctx), s->n));
    PLX_TRY(plx__arena_i32(&parent, plx__scratch(ctx), s->n));
    PLX_TRY(plx__arena_i32(&set, plx__scratch(ctx), s->n));
    PLX_TRY(plx__arena_u8(&used, plx__scratch(ctx), s->n));
    PLX_TRY(plx__arena_u8(&heard, plx__scratch(ctx), s->n));
    for (plx_index i = 0; i < s->n; i++) parent[i] = (int32_t)i, used[i] = 1;
    for (plx_index v = 0; v < s->n_parts; v++) {
        plx_ccsr m = plx__ccsr(s->part[v].factored ? s->part[v].b : s->part[v].l);
        for (plx_index i = 0; i < s->n && s->part[v].weight > 0; i++)
            for (plx_index p = m.ptr[i]; p < m.ptr[i + 1]; p++)
                if (m.val[p] != 0) plx__disjoint_join(parent, i, m.col[p]);
    }
    PLX_TRY(plx__disjoint_number(set, &sets, ctx, parent, used, s->n));
    for (plx_index i = 0; i < s->n; i++)
        if (c[i] > 0) heard[set[i]] = 1;
    *count = 0;
    for (plx_index i = 0; i < s->n; i++) *count += (*out)[i] = !heard[set[i]];
    return PLX_OK;
}

static plx_status check_reach(plx_context *ctx, const plx__smoother *s, const double *c, const char *method)
{
    uint8_t *unreached = NULL;
    plx_index count = 0;
    PLX_TRY(plx__smoother_unreached(&unreached, &count, ctx, s, c));
    return count ? unreachable(ctx, method) : PLX_OK;
}

/* ---- solving ---- */

/* Rows of L from `first` on, with those of C. */
static plx_status add_diagonal(plx_csr *out, plx_context *ctx, plx_ccsr l, plx_index first, const double *c,
                               double *largest)
{
    plx_csr d;
    PLX_TRY(plx__arena_csr(&d, plx__scratch(ctx), l.rows, l.cols, l.rows));
    for (plx_index i = 0; i < l.rows; i++) {
        d.col[i] = (int32_t)(first + i);
        d.val[i] = c[first + i];
        d.ptr[i + 1] = i + 1;
    }
    PLX_TRY(plx__csr_add(out, plx__scratch(ctx), 1.0, l, 1.0, plx__ccsr(d)));
    *largest = 0;
    for (plx_index i = 0; i < l.rows; i++) *largest = fmax(*largest, plx__csr_get(plx__ccsr(*out), i, first + i));
    return PLX_OK;
}

/* f holds C Y on entry. A matrix that is not positive definite in rounded numbers is singular for us. */
static plx_status solve_factorised(plx_context *ctx, const plx__smoother *s, const double *c, plx_mat f,
                                   const char *method)
{
    plx__sparse_chol *factor = NULL;
    plx_csr l, m;
    double largest = 0;
    PLX_TRY(plx__smoother_matrix(&l, ctx, s));
    PLX_TRY(add_diagonal(&m, ctx, plx__ccsr(l), 0, c, &largest));
    plx_status st = plx__sparse_chol_create(&factor, plx__scratch(ctx), plx__ccsr(m), method);
    if (st == PLX_E_NUMERIC) plx__clear_error(ctx);
    bool singular = st == PLX_E_NUMERIC || (st == PLX_OK && plx__sparse_chol_smallest_pivot(factor) <= 1e-12 * largest);
    if (singular) return unreachable(ctx, method);
    PLX_TRY(st);
    return plx__sparse_chol_solve(factor, ctx, f);
}

typedef struct shifted {
    plx__smoother *s;
    const double *c;
} shifted;

static plx_status apply_shifted(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const shifted *z = arg;
    PLX_TRY(plx__smoother_apply_block(z->s, ctx, x, y));
    for (plx_index i = 0; i < x.rows; i++) plx__axpy(y.data + i * y.ld, z->c[i], x.data + i * x.ld, x.cols);
    return PLX_OK;
}

static plx_status solve_iterated(plx_context *ctx, plx__smoother *s, const double *c, plx_mat f,
                                 plx__smooth_result *result)
{
    double *jacobi = NULL;
    plx_mat rhs;
    plx__iter_result iterated;
    shifted z = {s, c};
    PLX_TRY(plx__arena_f64(&jacobi, plx__scratch(ctx), s->n, 1));
    diagonal(jacobi, s);
    for (plx_index i = 0; i < s->n; i++) jacobi[i] += c[i];
    PLX_TRY(plx__mat_clone(&rhs, plx__scratch(ctx), plx__cmat(f)));
    plx__mat_fill(f, 0.0);
    plx__iter_options o = {.tol = 1e-8, .diagonal = jacobi, .phase = "solve"};
    plx__block_operator a = {s->n, apply_shifted, &z};
    PLX_TRY(plx__cg_block(ctx, a, plx__cmat(rhs), f, &o, &iterated));
    *result = (plx__smooth_result){iterated.iterations, iterated.converged};
    return PLX_OK;
}

/* Each process has its rows of L + C. */
static plx_status solve_together(plx_context *ctx, const plx__smoother *s, const double *c, plx_mat f,
                                 const char *method, plx__smooth_result *result)
{
    plx__slabs cut = plx__slabs_even(ctx, s->n);
    plx_index begin = 0, end = 0;
    double largest = 0;
    plx_csr l, m;
    plx_mat rhs;
    plx__iter_result iterated;
    plx__slabs_mine(&begin, &end, ctx, cut);
    PLX_TRY(plx__smoother_rows(&l, ctx, s, begin, end));
    PLX_TRY(add_diagonal(&m, ctx, plx__ccsr(l), begin, c, &largest));
    PLX_TRY(plx__mat_clone(&rhs, plx__scratch(ctx), plx__cmat(f)));
    PLX_TRY(plx__rank_solve(ctx, cut, plx__ccsr(m), plx__cmat(rhs), f, RANKS_TOL, method, &iterated));
    *result = (plx__smooth_result){plx__max(1, iterated.iterations), iterated.converged};
    return PLX_OK;
}

const char *plx__smoother_route(const plx_context *ctx, const plx__smoother *s)
{
    if (plx__ranks(ctx) > 1) return "a system divided among the processes";
    return s->n <= FACTOR_UP_TO ? "sparse Cholesky factorisation" : "conjugate gradients";
}

plx_status plx__smoother_solve(plx_context *ctx, plx__smoother *s, const double *c, plx_cmat y, plx_mat f,
                               const char *method, plx__smooth_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    *result = (plx__smooth_result){0, true};
    PLX_TRY(check_reach(ctx, s, c, method));
    for (plx_index i = 0; i < s->n; i++)
        for (plx_index k = 0; k < y.cols; k++) f.data[i * f.ld + k] = c[i] * y.data[i * y.ld + k];
    if (plx__ranks(ctx) > 1) PLX_TRY(solve_together(ctx, s, c, f, method, result));
    else if (s->n <= FACTOR_UP_TO) PLX_TRY(solve_factorised(ctx, s, c, f, method));
    else PLX_TRY(solve_iterated(ctx, s, c, f, result));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- eigenvectors ---- */

static bool solved_densely(plx_index n, plx_index k) { return n <= ALL_VECTORS_UP_TO || 2 * k + 1 >= n; }

static plx_index basis_for(plx_index n, plx_index k) { return plx__min(n, plx__max(4 * k + 20, 100)); }

/* Largest sum of absolute values in a row of this process, hence a bound of the norm, on all of them. */
static plx_status norm_bound(double *out, plx_context *ctx, plx_ccsr rows)
{
    double most = 0, other = 0;
    for (plx_index i = 0; i < rows.rows; i++) {
        double sum = 0;
        for (plx_index p = rows.ptr[i]; p < rows.ptr[i + 1]; p++) sum += fabs(rows.val[p]);
        most = fmax(most, sum);
    }
    *out = 0;
    for (int r = 0; r < plx__ranks(ctx); r++) {
        other = most;
        PLX_TRY(plx__peers_spread(ctx, r, &other, sizeof other));
        *out = fmax(*out, other);
    }
    return PLX_OK;
}

static plx_status smallest_together(plx_context *ctx, const plx__smoother *s, plx_index k, double *values,
                                    plx_mat vectors, const char *what)
{
    plx__rank_operator a = {.cut = plx__slabs_even(ctx, s->n)};
    plx__eigen_options o = {.basis = basis_for(s->n, k)};
    plx_index begin = 0, end = 0;
    double norm = 0;
    plx_csr l;
    plx__slabs_mine(&begin, &end, ctx, a.cut);
    PLX_TRY(plx__smoother_rows(&l, ctx, s, begin, end));
    a.rows = plx__ccsr(l);
    PLX_TRY(norm_bound(&norm, ctx, a.rows));
    o.tol = RANKS_EIGEN_TOL * (norm > 0 ? norm : 1.0);
    return plx__rank_eigen(ctx, &a, k, PLX__SMALLEST, &o, values, vectors, what);
}

plx_status plx__smoother_smallest(plx_context *ctx, plx__smoother *s, plx_index k, double *values, plx_mat vectors,
                                  bool *converged, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (plx__rank_eigen_serves(ctx, s->n, k)) {
        PLX_TRY(smallest_together(ctx, s, k, values, vectors, what));
    } else if (solved_densely(s->n, k)) {
        plx_csr l;
        plx_mat dense;
        PLX_TRY(plx__smoother_matrix(&l, ctx, s));
        PLX_TRY(plx__arena_mat(&dense, plx__scratch(ctx), s->n, s->n));
        plx__csr_to_dense(dense, plx__ccsr(l));
        PLX_TRY(plx__sym_eigen_range(ctx, dense, 0, k, values, vectors));
    } else {
        plx__operator a = {s->n, plx__smoother_apply, s};
        plx__eigen_options o = {.tol = 1e-10, .basis = basis_for(s->n, k), .converged = converged};
        PLX_TRY(plx__eigen_few(ctx, a, k, PLX__SMALLEST, &o, values, vectors, what));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__smoother_bytes(const plx_context *ctx, plx_index n, double entries, bool eigenvectors, plx_index columns)
{
    double size = (double)n, k = (double)columns, matrix = 12.0 * entries + 8.0 * size, vectors = 8.0 * size * (k + 4);
    bool engines = eigenvectors ? plx__rank_eigen_serves(ctx, n, columns) : plx__ranks(ctx) > 1;
    if (engines)
        return vectors + plx__rank_bytes(ctx, n, 3 * entries, columns + (eigenvectors ? basis_for(n, columns) : 8));
    if (eigenvectors && solved_densely(n, columns)) return 2 * matrix + 8.0 * size * (2 * size + k + 30);
    if (eigenvectors) return plx__eigen_few_bytes(n, columns, basis_for(n, columns)) + vectors;
    if (n > FACTOR_UP_TO) return 8.0 * size * (9 * k + 8);
    return 3 * matrix + vectors + plx__sparse_chol_bytes(n, (plx_index)(0.5 * (entries + size)), plx__workers(ctx));
}

plx_status plx__smoother_objective(double *out, plx_context *ctx, plx__smoother *s, const double *c, plx_cmat y,
                                   plx_cmat f)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *column = NULL, *image = NULL, rough = 0, misfit = 0;
    PLX_TRY(plx__arena_f64(&column, plx__scratch(ctx), s->n, 1));
    PLX_TRY(plx__arena_f64(&image, plx__scratch(ctx), s->n, 1));
    for (plx_index k = 0; k < f.cols; k++) {
        for (plx_index i = 0; i < s->n; i++) column[i] = f.data[i * f.ld + k];
        PLX_TRY(plx__smoother_apply(s, ctx, image, column));
        rough += plx__dot(column, image, s->n);
        for (plx_index i = 0; i < s->n; i++) {
            double gap = column[i] - y.data[i * y.ld + k];
            misfit += c[i] * gap * gap;
        }
    }
    *out = rough + misfit;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
