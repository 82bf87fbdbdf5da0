/*
 * The components of a view from those of the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/eigen.h"
#include "linalg/factor.h"
#include "methods/complete/complete_impl.h"

enum { MIX_COLUMNS = 20 }; /* components per view that the mixture is over */

/* ---- what belongs together ---- */

/* Every block of C over the rows that have both of its views; nobody has both: 0. */
static plx_status find_block(plx_mat cov, const complete *c, plx_index u, plx_index v)
{
    const complete_view *a = &c->views[u], *b = &c->views[v];
    double count = 0;
    for (plx_index i = 0; i < c->n; i++) {
        const double *z = c->z.data + i * c->z.ld;
        if (!c->seen[i * c->m + u] || !c->seen[i * c->m + v]) continue;
        count++;
        for (plx_index k = 0; k < a->r; k++)
            plx__axpy(cov.data + (a->at + k) * cov.ld + b->at, z[a->at + k], z + b->at, b->r);
    }
    for (plx_index k = 0; k < a->r; k++)
        for (plx_index l = 0; l < b->r; l++) {
            double *entry = cov.data + (a->at + k) * cov.ld + b->at + l;
            if (count > 0) *entry /= count;
            cov.data[(b->at + l) * cov.ld + a->at + k] = *entry;
        }
    return plx__poll(c->ctx);
}

/* Blocks over different rows need not make a covariance together: with negative eigenvalues some regressions on parts of
 * it have coefficients of any size, whatever they did on the rows that chose them. These are set to 0, and the variances
 * to what they were. */
static plx_status make_definite(plx_mat cov, plx_context *ctx)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index d = cov.rows;
    plx_mat copy, vectors, scaled;
    double *value = NULL, *variance = NULL, largest = 0;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(cov)));
    PLX_TRY(plx__arena_mat(&vectors, plx__scratch(ctx), d, d));
    PLX_TRY(plx__arena_f64(&value, plx__scratch(ctx), d, 1));
    PLX_TRY(plx__arena_f64(&variance, plx__scratch(ctx), d, 1));
    PLX_TRY(plx__sym_eigen(ctx, copy, value, vectors));
    for (plx_index k = 0; k < d; k++) largest = fmax(largest, value[k]), variance[k] = cov.data[k * (cov.ld + 1)];
    if (d && value[0] < -1e-10 * largest) {
        PLX_TRY(plx__mat_clone(&scaled, plx__scratch(ctx), plx__cmat(vectors)));
        for (plx_index k = 0; k < d; k++)
            for (plx_index e = 0; e < d; e++) scaled.data[e * scaled.ld + k] *= fmax(value[k], 0);
        PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(scaled), PLX__N, plx__cmat(vectors), PLX__T, 0.0, cov));
        for (plx_index k = 0; k < d; k++) {
            double now = cov.data[k * (cov.ld + 1)];
            variance[k] = now > 0 ? sqrt(variance[k] / now) : 0;
        }
        for (plx_index k = 0; k < d; k++)
            for (plx_index e = 0; e < d; e++) cov.data[k * cov.ld + e] *= variance[k] * variance[e];
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return plx__poll(ctx);
}

static plx_status learn_mixture(complete *c, plx__arena *arena, plx_index components)
{
    plx_index d = c->mix_dims, block[2] = {0, d};
    plx_mat x;
    uint8_t *there = NULL;
    plx__incomplete_result result;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(c->ctx), c->n, d));
    PLX_TRY(plx__arena_u8(&there, plx__scratch(c->ctx), c->n * d));
    for (plx_index e = 0; e < d; e++)
        for (plx_index v = 0; v < c->m; v++) {
            plx_index at = c->mix_cols[e];
            if (at < c->views[v].at || at >= c->views[v].at + c->views[v].r) continue;
            for (plx_index i = 0; i < c->n; i++) {
                x.data[i * d + e] = c->z.data[i * c->z.ld + at];
                there[i * d + e] = c->seen[i * c->m + v];
            }
        }
    plx__incomplete_data data = {.x = plx__cmat(x), .seen = there, .n_blocks = 1, .block = block};
    PLX_TRY(plx__incomplete_describe(&data, c->ctx, plx__scratch(c->ctx)));
    plx__incomplete_options o = {.components = plx__min(components, plx__max(1, data.usable)),
                                 .shape = PLX__COV_FULL,
                                 .cov_reg = 0.2,
                                 .max_iter = 30,
                                 .tol = 1e-4,
                                 .what = "complete"};
    return plx__incomplete_fit(&c->mixture[c->n_mixtures++], &result, c->ctx, arena, &data, &o);
}

plx_status plx__complete_mixture_columns(complete *c, plx__arena *arena)
{
    c->mix_dims = 0;
    PLX_TRY(plx__arena_i64(&c->mix_cols, arena, c->dims));
    for (plx_index v = 0; v < c->m; v++)
        for (plx_index k = 0; k < plx__min(c->views[v].r, MIX_COLUMNS); k++)
            c->mix_cols[c->mix_dims++] = c->views[v].at + k;
    return PLX_OK;
}

plx_status plx__complete_learn_joint(complete *c, plx__arena *arena, bool mixtures)
{
    plx_mat cov;
    PLX_TRY(plx__arena_mat(&cov, arena, c->dims, c->dims));
    for (plx_index u = 0; u < c->m; u++)
        for (plx_index v = u; v < c->m; v++) PLX_TRY(find_block(cov, c, u, v));
    PLX_TRY(make_definite(cov, c->ctx));
    c->cov = plx__cmat(cov);
    PLX_TRY(plx__complete_mixture_columns(c, arena));
    c->n_mixtures = 0;
    for (plx_index k = 1; k <= plx__min(c->set->components, COMPLETE_MIXTURES) && mixtures && c->mix_dims; k++) {
        plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
        PLX_TRY(learn_mixture(c, arena, k));
        plx__arena_rewind(plx__scratch(c->ctx), mark);
    }
    return PLX_OK;
}

/* ---- ridge and canonical regression ---- */

/* One pattern O of views and the view that is predicted from it. */
typedef struct regression {
    const complete *c;
    const complete_choice *how;
    plx_index v, count; /* columns of O */
    plx_index *column;  /* count: which z; then those of v */
    double *mean;       /* of all these columns */
    plx_mat cov;        /* of all these columns */
    plx_mat b;          /* count x r: coefficients */
} regression;

static plx_status list_columns(regression *g, const uint8_t *pattern)
{
    const complete *c = g->c;
    PLX_TRY(plx__arena_i64(&g->column, plx__scratch(c->ctx), c->dims));
    for (plx_index u = 0; u < c->m; u++)
        for (plx_index k = 0; k < c->views[u].r && pattern[u] && u != g->v; k++)
            g->column[g->count++] = c->views[u].at + k;
    for (plx_index k = 0; k < c->views[g->v].r; k++) g->column[g->count + k] = c->views[g->v].at + k;
    return PLX_OK;
}

static bool has_all(const complete *c, plx_index i, const uint8_t *pattern, plx_index v)
{
    for (plx_index u = 0; u < c->m; u++)
        if ((u == v || pattern[u]) && !c->seen[i * c->m + u]) return false;
    return true;
}

/* Over the rows that have all of O and v; false: too few of them. */
static plx_status common_moments(bool *enough, regression *g, const uint8_t *pattern)
{
    const complete *c = g->c;
    plx_index size = g->cov.rows, rows = 0, at = 0;
    plx_mat x;
    for (plx_index i = 0; i < c->n; i++) rows += has_all(c, i, pattern, g->v);
    *enough = rows >= 10;
    if (!*enough) return PLX_OK;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(c->ctx), rows, size));
    for (plx_index i = 0; i < c->n; i++) {
        if (!has_all(c, i, pattern, g->v)) continue;
        for (plx_index k = 0; k < size; k++) {
            x.data[at * size + k] = c->z.data[i * c->z.ld + g->column[k]];
            g->mean[k] += x.data[at * size + k] / (double)rows;
        }
        at++;
    }
    for (plx_index i = 0; i < rows; i++) plx__axpy(x.data + i * size, -1.0, g->mean, size);
    return plx__gemm(c->ctx, 1.0 / (double)rows, plx__cmat(x), PLX__T, plx__cmat(x), PLX__N, 0.0, g->cov);
}

static plx_status find_moments(regression *g, const uint8_t *pattern)
{
    const complete *c = g->c;
    plx_index size = g->count + c->views[g->v].r;
    bool enough = false;
    PLX_TRY(plx__arena_f64(&g->mean, plx__scratch(c->ctx), size, 1));
    PLX_TRY(plx__arena_mat(&g->cov, plx__scratch(c->ctx), size, size));
    if (!g->how->number) PLX_TRY(common_moments(&enough, g, pattern));
    for (plx_index k = 0; k < size && !enough; k++)
        for (plx_index l = 0; l < size; l++)
            g->cov.data[k * size + l] = c->cov.data[g->column[k] * c->cov.ld + g->column[l]];
    return PLX_OK;
}

static double mean_variance(plx_cmat cov)
{
    double sum = 0;
    for (plx_index k = 0; k < cov.rows; k++) sum += cov.data[k * (cov.ld + 1)];
    return cov.rows ? fmax(sum / (double)cov.rows, 1e-12) : 1.0;
}

/* Covariances by pairs need not be positive definite: what lambda leaves undone a larger one does. */
static plx_status factor(plx_mat a, plx_context *ctx, double lambda)
{
    double unit = mean_variance(plx__cmat(a));
    plx_mat copy;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(a)));
    for (;; lambda *= 4) {
        plx__mat_copy(a, plx__cmat(copy));
        plx__mat_add_diag(a, lambda * unit);
        plx_status st = plx__cholesky(ctx, a, NULL);
        if (st != PLX_E_NUMERIC || !(lambda < 1e6)) return st;
    }
}

/* b becomes L_O^-T U_k S_k W_k' L_v', the leading pairs of L_O^-1 C_Ov L_v^-T; l is the factor of O. */
static plx_status keep_pairs(const regression *g, plx_cmat l)
{
    plx_context *ctx = g->c->ctx;
    plx_mat own, u, vt, copy, b = g->b;
    plx_index r = b.cols, rank = plx__min(b.rows, r), kept = plx__min(rank, g->how->rank);
    double *s = NULL;
    PLX_TRY(plx__mat_clone(&own, plx__scratch(ctx), plx__csub(plx__cmat(g->cov), g->count, g->count, r, r)));
    PLX_TRY(factor(own, ctx, g->how->lambda));
    PLX_TRY(plx__tri_solve(ctx, l, PLX__N, b));
    PLX_TRY(plx__tri_solve_right(ctx, plx__cmat(own), PLX__T, b));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(ctx), b.rows, rank));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(ctx), rank, r));
    PLX_TRY(plx__arena_f64(&s, plx__scratch(ctx), rank, 1));
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(b)));
    PLX_TRY(plx__svd(ctx, copy, u, s, vt));
    for (plx_index k = 0; k < kept; k++) plx__scale(vt.data + k * vt.ld, fmin(s[k], 1.0), r);
    PLX_TRY(plx__gemm(ctx, 1.0, plx__csub(plx__cmat(u), 0, 0, b.rows, kept), PLX__N,
                      plx__csub(plx__cmat(vt), 0, 0, kept, r), PLX__N, 0.0, b));
    PLX_TRY(plx__arena_mat(&copy, plx__scratch(ctx), b.rows, r));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(b), PLX__N, plx__cmat(own), PLX__T, 0.0, copy));
    plx__mat_copy(b, plx__cmat(copy));
    return plx__tri_solve(ctx, l, PLX__T, b);
}

static plx_status regress(regression *g, const uint8_t *pattern)
{
    plx_context *ctx = g->c->ctx;
    plx_index r = g->c->views[g->v].r;
    plx_mat a;
    PLX_TRY(find_moments(g, pattern));
    PLX_TRY(plx__mat_clone(&a, plx__scratch(ctx), plx__csub(plx__cmat(g->cov), 0, 0, g->count, g->count)));
    PLX_TRY(plx__mat_clone(&g->b, plx__scratch(ctx), plx__csub(plx__cmat(g->cov), 0, g->count, g->count, r)));
    PLX_TRY(factor(a, ctx, g->how->lambda));
    return g->how->method == COMPLETE_CCA ? keep_pairs(g, plx__cmat(a)) : plx__chol_solve(ctx, plx__cmat(a), g->b);
}

/* All rows of one pattern at once. */
static plx_status predict_pattern(plx_mat out, regression *g, const complete_rows *rows, const plx_index *row,
                                  const plx_index *member, plx_index members)
{
    const complete *c = g->c;
    const uint8_t *pattern = rows->seen + row[member[0]] * c->m;
    plx_mat x, y;
    PLX_TRY(list_columns(g, pattern));
    if (!g->count || !out.cols) return PLX_OK;
    PLX_TRY(regress(g, pattern));
    PLX_TRY(plx__arena_mat(&x, plx__scratch(c->ctx), members, g->count));
    PLX_TRY(plx__arena_mat(&y, plx__scratch(c->ctx), members, out.cols));
    for (plx_index k = 0; k < members; k++) {
        for (plx_index e = 0; e < g->count; e++)
            x.data[k * x.ld + e] = rows->z.data[row[member[k]] * rows->z.ld + g->column[e]] - g->mean[e];
        memcpy(y.data + k * y.ld, g->mean + g->count, (size_t)out.cols * sizeof(double));
    }
    PLX_TRY(plx__gemm(c->ctx, 1.0, plx__cmat(x), PLX__N, plx__cmat(g->b), PLX__N, 1.0, y));
    for (plx_index k = 0; k < members; k++)
        memcpy(out.data + member[k] * out.ld, y.data + k * y.ld, (size_t)out.cols * sizeof(double));
    return plx__poll(c->ctx);
}

static bool same_pattern(const complete *c, const complete_rows *rows, plx_index a, plx_index b, plx_index v)
{
    for (plx_index u = 0; u < c->m; u++)
        if (u != v && rows->seen[a * c->m + u] != rows->seen[b * c->m + u]) return false;
    return true;
}

static plx_status predict_linear(plx_mat out, const complete *c, plx_index v, const complete_choice *how,
                                 const complete_rows *rows, const plx_index *row, plx_index count)
{
    plx_index *member = NULL;
    uint8_t *done = NULL;
    PLX_TRY(plx__arena_i64(&member, plx__scratch(c->ctx), count));
    PLX_TRY(plx__arena_u8(&done, plx__scratch(c->ctx), count));
    for (plx_index first = 0; first < count; first++) {
        plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
        regression g = {.c = c, .how = how, .v = v};
        plx_index members = 0;
        if (done[first]) continue;
        for (plx_index k = first; k < count; k++)
            if (!done[k] && same_pattern(c, rows, row[first], row[k], v)) {
                done[k] = 1;
                member[members++] = k;
            }
        PLX_TRY(predict_pattern(out, &g, rows, row, member, members));
        plx__arena_rewind(plx__scratch(c->ctx), mark);
    }
    return PLX_OK;
}

/* ---- mixture ---- */

static plx_status predict_mixture(plx_mat out, const complete *c, plx_index v, const plx__incomplete_mixture *mix,
                                  const complete_rows *rows, const plx_index *row, plx_index count)
{
    plx_index d = c->mix_dims, block[2] = {0, d};
    const complete_view *view = &c->views[v];
    plx_mat x, mean;
    uint8_t *there = NULL;
    plx__moments moments;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(c->ctx), count, d));
    PLX_TRY(plx__arena_mat(&mean, plx__scratch(c->ctx), count, d));
    PLX_TRY(plx__arena_u8(&there, plx__scratch(c->ctx), count * d));
    for (plx_index e = 0; e < d; e++)
        for (plx_index u = 0; u < c->m; u++) {
            plx_index at = c->mix_cols[e];
            if (u == v || at < c->views[u].at || at >= c->views[u].at + c->views[u].r) continue;
            for (plx_index k = 0; k < count; k++) {
                x.data[k * d + e] = rows->z.data[row[k] * rows->z.ld + at];
                there[k * d + e] = rows->seen[row[k] * c->m + u];
            }
        }
    plx__incomplete_data data = {.x = plx__cmat(x), .seen = there, .n_blocks = 1, .block = block};
    PLX_TRY(plx__incomplete_describe(&data, c->ctx, plx__scratch(c->ctx)));
    PLX_TRY(plx__incomplete_moments(&moments, c->ctx, plx__scratch(c->ctx), mix, &data, false, "complete"));
    plx__moments_mean(mean, &moments);
    for (plx_index e = 0; e < d; e++)
        for (plx_index k = 0; k < count && c->mix_cols[e] >= view->at && c->mix_cols[e] < view->at + view->r; k++)
            out.data[k * out.ld + c->mix_cols[e] - view->at] = mean.data[k * d + e];
    return PLX_OK;
}

plx_status plx__complete_predict(plx_mat out, const complete *c, plx_index v, const complete_choice *how,
                                 const complete_rows *rows, const plx_index *row, plx_index count)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_status st = PLX_OK;
    plx__mat_fill(out, 0.0);
    if (count && (how->method == COMPLETE_RIDGE || how->method == COMPLETE_CCA))
        st = predict_linear(out, c, v, how, rows, row, count);
    else if (count && how->method == COMPLETE_MIXTURE && c->n_mixtures)
        st = predict_mixture(out, c, v, &c->mixture[how->number], rows, row, count);
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return st;
}

/* ---- neighbours ---- */

typedef struct near {
    double distance;
    plx_index row;
} near;

static int compare(const void *left, const void *right)
{
    const near *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Mean over common views of |z - z'|^2 in units of the view's variance; infinite without a common view. */
static double distance(const complete *c, plx_index v, bool own, const complete_rows *rows, plx_index row, plx_index l)
{
    double sum = 0, count = 0;
    for (plx_index u = 0; u < c->m; u++) {
        const complete_view *view = &c->views[u];
        double square = 0, variance = 0;
        if ((u == v && !own) || !view->r || !rows->seen[row * c->m + u] || !c->seen[l * c->m + u]) continue;
        const double *a = rows->z.data + row * rows->z.ld + view->at, *b = c->z.data + l * c->z.ld + view->at;
        for (plx_index k = 0; k < view->r; k++) {
            square += (a[k] - b[k]) * (a[k] - b[k]);
            variance += c->cov.data[(view->at + k) * (c->cov.ld + 1)];
        }
        sum += square / fmax(variance, 1e-300);
        count++;
    }
    return count > 0 ? sum / count : INFINITY;
}

plx_status plx__complete_neighbours(plx_index *out, plx_index k, const complete *c, plx_index v, bool own, bool self,
                                    const complete_rows *rows, plx_index row)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    near *list = NULL;
    plx_index count = 0;
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(c->ctx), c->n));
    for (plx_index l = 0; l < c->n; l++) {
        if (!c->seen[l * c->m + v] || (self && l == row)) continue;
        list[count] = (near){distance(c, v, own, rows, row, l), l};
        count += isfinite(list[count].distance);
    }
    qsort(list, (size_t)count, sizeof *list, compare);
    for (plx_index i = 0; i < k; i++) out[i] = i < count ? list[i].row : -1;
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}
