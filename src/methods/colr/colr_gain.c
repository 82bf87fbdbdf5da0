/*
 * Information of all candidates about one problem's weights: S = Dp^-1 once, products of S with rows by blocks, tables
 * per component of the density, and small determinants per candidate.
 */
#include "methods/colr/colr_gain.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/factor.h"
#include "optim/klr.h"

enum { BLOCK_ROWS = 256, GRAIN = 8, PANEL = 64 };

/* ---- the posterior ---- */

static plx_status open_posterior(colr_posterior *p)
{
    const colr *c = p->c;
    plx_mat weight, information, a;
    PLX_TRY(plx__arena_mat(&p->s, plx__scratch(p->ctx), c->n, c->m));
    PLX_TRY(plx__arena_mat(&p->cov, plx__scratch(p->ctx), c->d, c->d));
    PLX_TRY(plx__colr_scores(c, p->fit->w, p->s));
    plx__mark mark = plx__arena_mark(plx__scratch(p->ctx));
    PLX_TRY(plx__arena_mat(&weight, plx__scratch(p->ctx), c->n, c->m));
    PLX_TRY(plx__arena_mat(&information, plx__scratch(p->ctx), c->d, c->d));
    PLX_TRY(plx__arena_mat(&a, plx__scratch(p->ctx), c->d, c->d));
    plx__colr_curvature(c, plx__cmat(p->s), true, weight);
    PLX_TRY(plx__colr_information(c, plx__cmat(weight), information));
    plx__colr_precision(c, &p->fit->lambda, plx__cmat(information), a);
    PLX_TRY(plx__cholesky_jitter(p->ctx, a, NULL, "colr: the posterior precision", NULL,
                                 "scale the views or increase lambda_ridge"));
    PLX_TRY(plx__chol_inverse(p->ctx, p->cov, plx__cmat(a)));
    plx__arena_rewind(plx__scratch(p->ctx), mark);
    return PLX_OK;
}

/* x' S_jj x = |L_j' x|^2, and the triangle has half the entries. */
static plx_status open_roots(colr_posterior *p)
{
    const colr *c = p->c;
    PLX_TRY(PLX__ARENA_NEW(&p->root, plx__scratch(p->ctx), c->m));
    for (plx_index j = 0; j < c->m; j++) {
        const colr_view *v = &c->views[j];
        PLX_TRY(
            plx__mat_clone(&p->root[j], plx__scratch(p->ctx), plx__csub(plx__cmat(p->cov), v->at, v->at, v->d, v->d)));
        PLX_TRY(plx__cholesky_jitter(p->ctx, p->root[j], NULL, "colr: the covariance of the weights", NULL,
                                     "scale the views or increase lambda_ridge"));
    }
    return PLX_OK;
}

/* X L, by panels of columns: those of a lower triangle begin at its diagonal. */
static plx_status times_root(plx_context *ctx, plx_cmat x, plx_cmat l, plx_mat out)
{
    for (plx_index at = 0; at < l.cols; at += PANEL) {
        plx_index cols = plx__min(PANEL, l.cols - at);
        PLX_TRY(plx__gemm(ctx, 1.0, plx__csub(x, 0, at, x.rows, x.cols - at), PLX__N,
                          plx__csub(l, at, at, l.rows - at, cols), PLX__N, 0.0, plx__sub(out, 0, at, out.rows, cols)));
    }
    return PLX_OK;
}

plx_status plx__colr_pull_block(colr_posterior *p, plx_index begin, plx_index end)
{
    const colr *c = p->c;
    p->begin = begin;
    p->end = end;
    p->rooted = p->root && !p->whole && !p->changed;
    for (plx_index j = 0; j < c->m; j++) {
        const colr_view *v = &c->views[j];
        plx_index cols = p->whole ? c->d : v->at + (p->rooted ? 0 : v->d); /* else with the views up to this one */
        plx_cmat x = plx__csub(plx__cmat(c->full), begin, v->at, end - begin, v->d);
        if (!memchr(v->present + begin, 1, (size_t)(end - begin))) continue; /* nobody asks for these rows */
        PLX_TRY(plx__gemm(p->ctx, 1.0, x, PLX__N, plx__csub(plx__cmat(p->cov), v->at, 0, v->d, cols), PLX__N, 0.0,
                          plx__sub(p->rows[j], 0, 0, end - begin, cols)));
        if (p->rooted)
            PLX_TRY(times_root(p->ctx, x, plx__cmat(p->root[j]), plx__sub(p->rows[j], 0, v->at, end - begin, v->d)));
    }
    return PLX_OK;
}

static const double *row_of(const colr_posterior *p, plx_index i, plx_index j)
{
    return p->c->full.data + i * p->c->full.ld + p->c->views[j].at;
}

const double *plx__colr_pulled_row(const colr_posterior *p, plx_index i, plx_index j)
{
    return p->rows[j].data + (i - p->begin) * p->rows[j].ld;
}

/* x_a' S x_b of two views the sample has, b not behind a. */
static double product_of(const colr_posterior *p, plx_index i, plx_index a, plx_index b)
{
    const colr_view *v = &p->c->views[b];
    const double *pulled = plx__colr_pulled_row(p, i, a) + v->at;
    return plx__dot(pulled, a == b && p->rooted ? pulled : row_of(p, i, b), v->d);
}

/* log det of the k x k matrix in place; it is I + something positive semi-definite. */
static plx_status small_logdet(double *out, plx_context *ctx, double *a, plx_index k)
{
    if (k == 0) {
        *out = 0;
        return PLX_OK;
    }
    if (k == 1) {
        *out = log(a[0]);
        return PLX_OK;
    }
    PLX_TRY(plx__cholesky_serial(ctx, plx__mat_of(a, k, k), NULL));
    *out = plx__chol_logdet(plx__cmat_of(a, k, k));
    return PLX_OK;
}

/* ---- labels ---- */

/* + sum over the sample's views of p(1-p) x x': rank = number of views. */
colr_change plx__colr_label_change(const colr_posterior *p, const colr_work *w, plx_index i)
{
    const colr *c = p->c;
    plx_index k = 0;
    for (plx_index j = 0; j < c->m; j++)
        if (c->views[j].present[i]) w->views[k++] = j;
    for (plx_index a = 0; a < k; a++)
        for (plx_index b = 0; b <= a; b++) {
            double x = p->s.data[i * c->m + w->views[a]], y = p->s.data[i * c->m + w->views[b]];
            double weight = sqrt(plx__sigmoid(x) * plx__sigmoid(-x) * plx__sigmoid(y) * plx__sigmoid(-y));
            w->small[a * k + b] = w->small[b * k + a] = weight * product_of(p, i, w->views[a], w->views[b]) + (a == b);
        }
    return (colr_change){.size = k, .views = k};
}

plx_status plx__colr_label_gain(double *out, plx_context *ctx, const colr_posterior *p, const colr_work *w, plx_index i)
{
    colr_change change = plx__colr_label_change(p, w, i);
    double logdet = 0;
    PLX_TRY(small_logdet(&logdet, ctx, w->small, change.size));
    *out = 0.5 * logdet;
    return PLX_OK;
}

static plx_status label_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    colr_posterior *p = arg;
    const colr *c = p->c;
    for (plx_index i = p->begin + begin; i < p->begin + end; i++) {
        double gain = 0;
        if (c->label[i] >= 0 || !c->count[i]) continue;
        PLX_TRY(plx__colr_label_gain(&gain, ctx, p, &p->workers[worker], i));
        p->g->label_gain.data[i] += gain;
    }
    return PLX_OK;
}

/* ---- tables of a view ---- */

/* The component's covariance as a full matrix of the features. */
static void fill_cov(const colr_posterior *p, plx_index c, plx_index j, plx_mat out)
{
    plx_cmat cov = plx__density_cov(&p->g->density, c, j);
    plx__mat_fill(out, 0.0);
    if (cov.rows == out.rows && cov.cols == out.cols && (out.rows != 1 || p->g->density.mix.shape == PLX__COV_FULL))
        plx__mat_copy(out, cov);
    else
        for (plx_index e = 0; e < out.rows; e++) out.data[e * (out.ld + 1)] = cov.data[e];
}

/* out += scale a a'. */
static void add_outer(plx_mat out, double scale, const double *a)
{
    for (plx_index e = 0; e < out.rows; e++) plx__axpy(out.data + e * out.ld, scale * a[e], a, out.cols);
}

/* With s(z)s(-z) taken as N(z | 0, 8/pi): l_c (u u' + U), U = Sigma - Sigma w w' Sigma (pi/8)/(1 + pi/8 w'Sigma w),
 * u = mu - Sigma w (pi/8)(w.mu + w0)/(1 + pi/8 w'Sigma w). */
static plx_status likely_part(colr_posterior *p, plx_index j, plx_cmat sigma, const double *mu, plx_mat out)
{
    const colr_view *v = &p->c->views[j];
    const double *w = p->fit->w + v->at, pi = 3.14159265358979323846, eighth = pi / 8;
    double w0 = p->c->set->bias ? w[v->features] : 0.0, *sw = NULL, *u = NULL;
    PLX_TRY(plx__arena_f64(&sw, plx__scratch(p->ctx), v->features, 1));
    PLX_TRY(plx__arena_f64(&u, plx__scratch(p->ctx), v->d, 1));
    PLX_TRY(plx__gemv(p->ctx, 1.0, sigma, PLX__N, w, 0.0, sw));
    double spread = plx__dot(w, sw, v->features), z = plx__dot(w, mu, v->features) + w0, variance = 8 / pi + spread;
    double shrink = eighth / (1 + eighth * spread);
    double likely = exp(-0.5 * z * z / variance) / sqrt(2 * pi * variance);
    memcpy(u, mu, (size_t)v->d * sizeof *u); /* the constant stays 1 */
    plx__axpy(u, -shrink * z, sw, v->features);
    plx_mat inner = plx__sub(out, 0, 0, v->features, v->features);
    for (plx_index e = 0; e < v->features; e++)
        plx__axpy(inner.data + e * inner.ld, likely, sigma.data + e * sigma.ld, v->features);
    add_outer(inner, -likely * shrink, sw);
    add_outer(out, likely, u);
    return PLX_OK;
}

/* A = Sigma + h^2 I: E[K_l (x-x_l)(x-x_l)'] = z_l [h^4 A^-1 (mu-x_l)(mu-x_l)' A^-1 + h^2 (I - h^2 A^-1)], summed over l,
 * z_l = |A/h^2|^-1/2 exp(-1/2 (x_l-mu)' A^-1 (x_l-mu)). */
static plx_status smooth_part(colr_posterior *p, plx_index j, plx_cmat sigma, const double *mu, plx_mat out)
{
    const colr *c = p->c;
    const colr_view *v = &c->views[j];
    double h = v->width * v->width, total = 0, *away = NULL;
    plx_mat a, inverse, sum;
    PLX_TRY(plx__mat_clone(&a, plx__scratch(p->ctx), sigma));
    PLX_TRY(plx__arena_mat(&inverse, plx__scratch(p->ctx), v->features, v->features));
    PLX_TRY(plx__arena_mat(&sum, plx__scratch(p->ctx), v->features, v->features));
    PLX_TRY(plx__arena_f64(&away, plx__scratch(p->ctx), v->features, 2));
    plx__mat_add_diag(a, h);
    PLX_TRY(plx__cholesky(p->ctx, a, NULL));
    PLX_TRY(plx__chol_inverse(p->ctx, inverse, plx__cmat(a)));
    double scale = exp(0.5 * ((double)v->features * log(h) - plx__chol_logdet(plx__cmat(a))));
    for (plx_index l = 0; l < c->n; l++) {
        double *pulled = away + v->features;
        if (!v->present[l]) continue;
        for (plx_index e = 0; e < v->features; e++) away[e] = mu[e] - row_of(p, l, j)[e];
        PLX_TRY(plx__gemv(p->ctx, 1.0, plx__cmat(inverse), PLX__N, away, 0.0, pulled));
        double z = scale * exp(-0.5 * plx__dot(away, pulled, v->features));
        add_outer(sum, z * h * h, pulled);
        total += z;
    }
    for (plx_index e = 0; e < v->features; e++) {
        double *row = out.data + e * out.ld;
        memcpy(row, sum.data + e * sum.ld, (size_t)v->features * sizeof *row);
        plx__axpy(row, -total * h * h, inverse.data + e * inverse.ld, v->features);
        row[e] += total * h;
    }
    return PLX_OK;
}

static plx_status open_component(colr_posterior *p, colr_tables *t, plx_index j, plx_index k)
{
    plx__mark mark = plx__arena_mark(plx__scratch(p->ctx));
    const colr_view *v = &p->c->views[j];
    double *mu = t->mean.data + k * v->d;
    plx_mat sigma, second = plx__sub(t->second, k * v->d, 0, v->d, v->d);
    PLX_TRY(plx__arena_mat(&sigma, plx__scratch(p->ctx), v->features, v->features));
    fill_cov(p, k, j, sigma);
    plx__mat_copy(plx__sub(second, 0, 0, v->features, v->features), plx__cmat(sigma));
    add_outer(second, 1.0, mu);
    PLX_TRY(likely_part(p, j, plx__cmat(sigma), mu, plx__sub(t->likely, k * v->d, 0, v->d, v->d)));
    if (t->smooth.data) PLX_TRY(smooth_part(p, j, plx__cmat(sigma), mu, plx__sub(t->smooth, k * v->d, 0, v->d, v->d)));
    plx__arena_rewind(plx__scratch(p->ctx), mark);
    return plx__poll(p->ctx);
}

/* S(:, v) mu_c of all components. */
static plx_status pull_means(const colr_posterior *p, const colr_tables *t, plx_index j)
{
    const colr_view *v = &p->c->views[j];
    return plx__gemm(p->ctx, 1.0, plx__cmat(t->mean), PLX__N, plx__csub(plx__cmat(p->cov), v->at, 0, v->d, p->c->d),
                     PLX__N, 0.0, t->pulled);
}

plx_status plx__colr_changed(colr_posterior *p)
{
    p->changed = true;
    for (plx_index j = 0; j < p->c->m && p->all_tables; j++) PLX_TRY(pull_means(p, &p->all_tables[j], j));
    return PLX_OK;
}

static plx_status open_tables(colr_tables *t, colr_posterior *p, plx_index j)
{
    const colr *c = p->c;
    const colr_view *v = &c->views[j];
    plx__arena *scratch = plx__scratch(p->ctx);
    *t = (colr_tables){.k = p->g->density.mix.k};
    PLX_TRY(plx__arena_mat(&t->mean, scratch, t->k, v->d));
    PLX_TRY(plx__arena_mat(&t->pulled, scratch, t->k, c->d));
    for (plx_index k = 0; k < t->k; k++) {
        memcpy(t->mean.data + k * v->d, plx__density_mean(&p->g->density, k, j), (size_t)v->features * sizeof(double));
        if (c->set->bias) t->mean.data[k * v->d + v->features] = 1.0;
    }
    PLX_TRY(pull_means(p, t, j));
    if (!p->g->exact) return PLX_OK;
    PLX_TRY(plx__arena_mat(&t->second, scratch, t->k * v->d, v->d));
    PLX_TRY(plx__arena_mat(&t->likely, scratch, t->k * v->d, v->d));
    if (c->n_graph) PLX_TRY(plx__arena_mat(&t->smooth, scratch, t->k * v->d, v->d));
    for (plx_index k = 0; k < t->k; k++) PLX_TRY(open_component(p, t, j, k));
    return PLX_OK;
}

/* ---- features ---- */

/* full += scale sum_c rho_c (component c's matrix of a table). */
static void add_table(const colr_posterior *p, double *full, plx_cmat table, double scale, plx_index i)
{
    const double *rho = p->g->density.rho.data + i * p->g->density.rho.ld;
    plx_index size = table.cols * table.cols;
    for (plx_index k = 0; k < p->tables->k; k++)
        if (rho[k] > 0) plx__axpy(full, scale * rho[k], table.data + k * size, size);
}

/* Graph term at the conditional mean: sum_l K(m1, x_l)(m1 - x_l)(m1 - x_l)'. */
static void smooth_at_mean(const colr_posterior *p, const colr_work *w, double scale)
{
    const colr *c = p->c;
    const colr_view *v = &c->views[p->view];
    plx_mat full = plx__mat_of(w->full, v->d, v->d);
    double *away = w->product;
    for (plx_index l = 0; l < c->n; l++) {
        if (!v->present[l]) continue;
        const double *x = row_of(p, l, p->view);
        for (plx_index e = 0; e < v->d; e++) away[e] = w->mean[e] - x[e]; /* 0 for the constant */
        double k = exp(-0.5 * plx__norm_sq(away, v->features) / (v->width * v->width));
        add_outer(full, scale * k, away);
    }
}

/* F of candidate (i, view): what the columns do not tell. */
bool plx__colr_full_part(const colr_posterior *p, const colr_work *w, plx_index i, const colr_change *change)
{
    double agree = change->agree;
    plx_index others = change->views;
    const colr_view *v = &p->c->views[p->view];
    double graph = plx__colr_graph_of(p->c, &p->fit->lambda, p->view);
    bool labelled = p->c->label[i] >= 0;
    if (!p->g->exact && graph == 0) return false;
    memset(w->full, 0, (size_t)(v->d * v->d) * sizeof *w->full);
    if (!p->g->exact) {
        smooth_at_mean(p, w, graph);
        return true;
    }
    if (agree > 0 && others > 0) {
        add_table(p, w->full, plx__cmat(p->tables->second), agree * (double)others, i);
        add_outer(plx__mat_of(w->full, v->d, v->d), -agree * (double)others, w->mean);
    }
    if (graph > 0) add_table(p, w->full, plx__cmat(p->tables->smooth), graph, i);
    if (labelled) add_table(p, w->full, plx__cmat(p->tables->likely), 1.0, i);
    return true;
}

/* m1 and S m1. */
static void find_mean(const colr_posterior *p, const colr_work *w, plx_index i)
{
    const colr_view *v = &p->c->views[p->view];
    const double *rho = p->g->density.rho.data + i * p->g->density.rho.ld;
    memset(w->mean, 0, (size_t)v->d * sizeof *w->mean);
    memset(w->pulled, 0, (size_t)p->c->d * sizeof *w->pulled);
    for (plx_index k = 0; k < p->tables->k; k++) {
        plx__axpy(w->mean, rho[k], p->tables->mean.data + k * v->d, v->d);
        plx__axpy(w->pulled, rho[k], p->tables->pulled.data + k * p->c->d, p->c->d);
    }
}

/* U'SU of the columns (x_k; -m1), k among `views`, and (last, if `own`) m1 itself: x_a'Sx_b - x_a'Sm1 - x_b'Sm1 + m1'Sm1,
 * x_b'Sm1 - m1'Sm1 and m1'Sm1. */
static void inner_products(const colr_posterior *p, const colr_work *w, plx_index i, plx_index k, bool own)
{
    const colr_view *v = &p->c->views[p->view];
    plx_index size = k + own;
    double both = plx__dot(w->mean, w->pulled + v->at, v->d), *to = w->small_inner;
    for (plx_index a = 0; a < k; a++) {
        const colr_view *view = &p->c->views[w->views[a]];
        double cross = plx__dot(row_of(p, i, w->views[a]), w->pulled + view->at, view->d);
        to[a * size + a] = both - 2 * cross + product_of(p, i, w->views[a], w->views[a]);
        for (plx_index b = 0; b < k; b++)
            if (b != a) to[a * size + b] -= cross, to[b * size + a] -= cross;
        for (plx_index b = 0; b < a; b++) {
            double inner = both + product_of(p, i, w->views[a], w->views[b]);
            to[a * size + b] += inner, to[b * size + a] += inner;
        }
        if (own) to[a * size + k] = to[k * size + a] = cross - both;
    }
    if (own) to[k * size + k] = both;
}

/* Rows v of S U, for what is full within the view. */
static void view_columns(const colr_posterior *p, const colr_work *w, plx_index i, plx_index k, bool own)
{
    const colr_view *v = &p->c->views[p->view];
    for (plx_index a = 0; a < k + own; a++) {
        const double *from = a < k ? plx__colr_pulled_row(p, i, w->views[a]) + v->at : NULL;
        double *column = w->columns + a * v->d, sign = a < k ? -1.0 : 1.0;
        for (plx_index e = 0; e < v->d; e++) column[e] = (from ? from[e] : 0.0) + sign * w->pulled[v->at + e];
    }
}

/* log det(I + S'_vv F) with S' = S - (SU) A (I + A U'SU A)^-1 A (SU)'; w->small holds the factor of the inner matrix,
 * w->columns the rows v of S U A. */
static plx_status full_logdet(double *out, plx_context *ctx, const colr_posterior *p, const colr_work *w,
                              plx_index size)
{
    const colr_view *v = &p->c->views[p->view];
    plx_mat cov = plx__mat_of(w->cov, v->d, v->d), product = plx__mat_of(w->product, v->d, v->d);
    plx_cmat full = plx__cmat_of(w->full, v->d, v->d);
    for (plx_index e = 0; e < v->d; e++)
        memcpy(cov.data + e * v->d, p->cov.data + (v->at + e) * p->cov.ld + v->at, (size_t)v->d * sizeof(double));
    if (size > 0) {
        plx_mat columns = plx__mat_of(w->columns, size, v->d);
        PLX_TRY(plx__tri_solve_serial(ctx, plx__cmat_of(w->small, size, size), PLX__N, columns));
        PLX_TRY(plx__gemm_serial(ctx, -1.0, plx__cmat(columns), PLX__T, plx__cmat(columns), PLX__N, 1.0, cov));
    }
    PLX_TRY(plx__cholesky_serial(ctx, cov, NULL)); /* det(I + L'FL) */
    PLX_TRY(plx__gemm_serial(ctx, 1.0, full, PLX__N, plx__cmat(cov), PLX__N, 0.0, product));
    memcpy(w->full, product.data, (size_t)(v->d * v->d) * sizeof(double));
    PLX_TRY(plx__gemm_serial(ctx, 1.0, plx__cmat(cov), PLX__T, full, PLX__N, 0.0, product));
    plx__mat_add_diag(product, 1.0);
    PLX_TRY(plx__cholesky_serial(ctx, product, NULL));
    *out = plx__chol_logdet(plx__cmat(product));
    return PLX_OK;
}

colr_change plx__colr_feature_change(const colr_posterior *p, const colr_work *w, plx_index i)
{
    const colr *c = p->c;
    const colr_view *v = &c->views[p->view];
    bool labelled = c->label[i] >= 0, agrees = c->set->consensus == COLR_ALL || !labelled;
    colr_change change = {.agree = agrees ? p->fit->lambda.co : 0.0};
    for (plx_index j = 0; j < c->m && change.agree > 0; j++)
        if (c->views[j].present[i]) w->views[change.views++] = j;
    find_mean(p, w, i);
    if (labelled && !p->g->exact) {
        double z = plx__dot(w->mean, p->fit->w + v->at, v->d);
        change.own = plx__sigmoid(z) * plx__sigmoid(-z);
    }
    plx_index k = change.views, size = change.size = k + (change.own > 0);
    memset(w->small_inner, 0, (size_t)(size * size) * sizeof *w->small_inner);
    inner_products(p, w, i, k, change.own > 0);
    if (p->whole) view_columns(p, w, i, k, change.own > 0);
    for (plx_index a = 0; a < size; a++) {
        double root_a = sqrt(a < k ? change.agree : change.own);
        if (p->whole) plx__scale(w->columns + a * v->d, root_a, v->d);
        for (plx_index b = 0; b < size; b++)
            w->small[a * size + b] =
                root_a * sqrt(b < k ? change.agree : change.own) * w->small_inner[a * size + b] + (a == b);
    }
    return change;
}

plx_status plx__colr_feature_gain(double *out, plx_context *ctx, const colr_posterior *p, const colr_work *w,
                                  plx_index i)
{
    double first = 0, second = 0;
    colr_change change = plx__colr_feature_change(p, w, i);
    if (change.size > 0) {
        PLX_TRY(plx__cholesky_serial(ctx, plx__mat_of(w->small, change.size, change.size), NULL));
        first = plx__chol_logdet(plx__cmat_of(w->small, change.size, change.size));
    }
    if (plx__colr_full_part(p, w, i, &change)) PLX_TRY(full_logdet(&second, ctx, p, w, change.size));
    *out = 0.5 * (first + second);
    return PLX_OK;
}

static plx_status feature_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    colr_posterior *p = arg;
    const colr_view *v = &p->c->views[p->view];
    for (plx_index i = p->begin + begin; i < p->begin + end; i++) {
        double gain = 0;
        if (v->present[i]) continue;
        if (plx__colr_feature_gain(&gain, ctx, p, &p->workers[worker], i) != PLX_OK)
            PLX_FAIL(ctx, PLX_E_NUMERIC,
                     "colr: the precision after measuring view '%s' of sample %s is not positive definite", v->name,
                     p->c->run->problem->ids[i]);
        p->g->gain.data[i * p->g->gain.ld + v->view] += gain;
    }
    return PLX_OK;
}

/* ---- the whole ---- */

plx_status plx__colr_open_gains(colr_gains *g)
{
    const colr *c = g->c;
    plx__arena *scratch = plx__scratch(c->ctx);
    plx_index widest = 0, size = (c->m + 1) * (c->m + 1);
    for (plx_index j = 0; j < c->m; j++) widest = plx__max(widest, c->views[j].d);
    PLX_TRY(PLX__ARENA_NEW(&g->workers, scratch, plx__workers(c->ctx)));
    for (int t = 0; t < plx__workers(c->ctx); t++) {
        colr_work *w = &g->workers[t];
        bool square = g->features && (g->exact || c->n_graph);
        double **squares[] = {&w->full, &w->cov, &w->product};
        PLX_TRY(plx__arena_i64(&w->views, scratch, c->m));
        PLX_TRY(plx__arena_f64(&w->small, scratch, size, 2));
        w->small_inner = w->small + size;
        PLX_TRY(plx__arena_f64(&w->pulled, scratch, c->d, 1));
        PLX_TRY(plx__arena_f64(&w->mean, scratch, widest, 1));
        PLX_TRY(plx__arena_f64(&w->columns, scratch, c->m + 1, widest));
        for (int s = 0; s < 3 && square; s++) PLX_TRY(plx__arena_f64(squares[s], scratch, widest, widest));
    }
    PLX_TRY(PLX__ARENA_NEW(&g->rows, scratch, c->m));
    for (plx_index j = 0; j < c->m; j++)
        PLX_TRY(plx__arena_mat(&g->rows[j], scratch, plx__min(BLOCK_ROWS, c->n), c->d));
    return PLX_OK;
}

plx_status plx__colr_open_posterior(colr_posterior *p, colr_gains *g, const colr_fit *fit)
{
    colr_tables *tables = NULL;
    *p = (colr_posterior){.g = g,
                          .c = g->c,
                          .ctx = g->c->ctx,
                          .fit = fit,
                          .rows = g->rows,
                          .workers = g->workers,
                          .whole = g->features && (g->exact || g->c->n_graph)};
    PLX_TRY(open_posterior(p));
    if (!p->whole) PLX_TRY(open_roots(p));
    if (!g->features || !g->candidates) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&tables, plx__scratch(p->ctx), p->c->m));
    for (plx_index j = 0; j < p->c->m; j++) PLX_TRY(open_tables(&tables[j], p, j));
    p->all_tables = tables;
    return PLX_OK;
}

plx_status plx__colr_add_gains(colr_posterior *p)
{
    for (plx_index at = 0; at < p->c->n; at += BLOCK_ROWS) {
        plx_index rows = plx__min(BLOCK_ROWS, p->c->n - at);
        PLX_TRY(plx__colr_pull_block(p, at, at + rows));
        if (p->g->labels) PLX_TRY(plx__parallel_for(p->ctx, rows, GRAIN, label_rows, p));
        for (p->view = 0; p->view < p->c->m && p->all_tables; p->view++) {
            p->tables = &p->all_tables[p->view];
            PLX_TRY(plx__parallel_for(p->ctx, rows, GRAIN, feature_rows, p));
        }
        PLX_TRY(plx__poll(p->ctx));
    }
    return PLX_OK;
}
