/*
 * The prior of colr: graphs of the views, the agreement form Cm, their ranks, and P(lambda) as a matrix or as an
 * operator.
 */
#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "kernel/expansion.h"
#include "linalg/csr.h"
#include "linalg/eigen.h"
#include "methods/colr/colr.h"

/* Largest order of a matrix whose rank is found from its eigenvalues. */
enum { MOST_EXACT_RANK = 4000 };

/* ---- rows of all views side by side ---- */

static plx_status open_full(colr *c)
{
    plx_index begin = plx__bound_begin(c->ctx, c->bound), end = plx__bound_end(c->ctx, c->bound, c->n);
    PLX_TRY(plx__arena_mat(&c->full, plx__scratch(c->ctx), end - begin, c->d));
    c->full.rows = c->n;
    if (begin) c->full.data = plx__rows_at(c->full.data, begin, c->d);
    for (plx_index j = 0; j < c->m; j++) {
        const colr_view *v = &c->views[j];
        for (plx_index i = begin; i < end; i++) {
            double *row = c->full.data + i * c->full.ld + v->at;
            memset(row, 0, (size_t)v->d * sizeof *row);
            if (!v->present[i]) continue;
            if (!plx__points_sparse(v->x))
                memcpy(row, v->x.dense.data + i * v->x.dense.ld, (size_t)v->features * sizeof *row);
            else
                for (int64_t e = v->x.csr.ptr[i]; e < v->x.csr.ptr[i + 1]; e++) row[v->x.csr.col[e]] = v->x.csr.val[e];
            if (c->set->bias) row[v->features] = 1.0;
        }
    }
    return PLX_OK;
}

typedef struct weighted {
    const colr *c;
    plx_cmat weight; /* n x m, >= 0 */
} weighted;

/* Blocks (j, j) of the table (d x d) += X_j' diag(weight_j) X_j over some samples. */
static plx_status add_blocks(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const weighted *q = arg;
    const colr *c = q->c;
    plx_mat out = plx__mat_of(table, c->d, c->d);
    for (plx_index j = 0; j < c->m; j++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        const colr_view *v = &c->views[j];
        plx_mat scaled, block = plx__sub(out, v->at, v->at, v->d, v->d);
        PLX_TRY(plx__arena_mat(&scaled, plx__scratch(ctx), end - begin, v->d));
        for (plx_index i = begin; i < end; i++) {
            double root = sqrt(q->weight.data[i * q->weight.ld + j]);
            const double *from = c->full.data + i * c->full.ld + v->at;
            for (plx_index e = 0; e < v->d; e++) scaled.data[(i - begin) * v->d + e] = root * from[e];
        }
        PLX_TRY(plx__syrk(ctx, 1.0, plx__cmat(scaled), PLX__T, 1.0, block));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

/* ---- agreement ---- */

/* Cm = blockdiag(X_j' diag(c_i) X_j) - Z'Z over the consensus samples, Z their rows of all views. */
static plx_status add_agreement(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const weighted *q = arg;
    const colr *c = q->c;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat rows;
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), end - begin, c->d));
    for (plx_index i = begin; i < end; i++) {
        double *to = rows.data + (i - begin) * rows.ld;
        if (c->consensus[i]) memcpy(to, c->full.data + i * c->full.ld, (size_t)c->d * sizeof *to);
        else memset(to, 0, (size_t)c->d * sizeof *to);
    }
    PLX_TRY(add_blocks(arg, ctx, begin, end, table));
    PLX_TRY(plx__syrk(ctx, -1.0, plx__cmat(rows), PLX__T, 1.0, plx__mat_of(table, c->d, c->d)));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status form_agreement(const colr *c, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_mat weight;
    PLX_TRY(plx__arena_mat(&weight, plx__scratch(c->ctx), c->n, c->m));
    for (plx_index i = 0; i < c->n; i++)
        for (plx_index j = 0; j < c->m; j++)
            weight.data[i * c->m + j] = c->consensus[i] && c->views[j].present[i] ? (double)c->count[i] : 0.0;
    PLX_TRY(plx__colr_sum(c, c->d * c->d, add_agreement, &(weighted){c, plx__cmat(weight)}, out.data));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

/* t_ij = c_i s_ij - sum_k s_ik of the consensus samples: Cm w = X't. */
static void agreement_pull(const colr *c, plx_cmat s, plx_mat t)
{
    for (plx_index i = c->begin; i < c->end; i++) {
        const double *from = s.data + i * s.ld;
        double *to = t.data + i * t.ld, sum = 0;
        for (plx_index j = 0; j < c->m; j++) sum += c->views[j].present[i] ? from[j] : 0.0;
        for (plx_index j = 0; j < c->m; j++)
            to[j] = c->consensus[i] && c->views[j].present[i] ? (double)c->count[i] * from[j] - sum : 0.0;
    }
}

/* ---- ranks ---- */

/* Eigenvalues above 1e-10 of the largest; `a` is overwritten. */
static plx_status rank_of(double *out, plx_context *ctx, plx_mat a)
{
    double *values = NULL, largest = 0;
    *out = 0;
    if (!a.rows) return PLX_OK;
    PLX_TRY(plx__arena_f64(&values, plx__scratch(ctx), a.rows, 1));
    PLX_TRY(plx__sym_eigen(ctx, a, values, (plx_mat){0}));
    for (plx_index i = 0; i < a.rows; i++) largest = fmax(largest, values[i]);
    for (plx_index i = 0; i < a.rows; i++) *out += values[i] > 1e-10 * largest;
    return PLX_OK;
}

typedef struct contrast {
    plx_index sample, place; /* place: among the samples that have contrasts */
    plx_index number;        /* r = number + 1 views of the sample against the next */
} contrast;

/* Coefficient of view j (the `order`-th of the sample's views) in a contrast: orthogonal, of equal length. */
static double coefficient(const contrast *k, plx_index order)
{
    double r = (double)(k->number + 1);
    if (order > k->number + 1) return 0.0;
    return (order <= k->number ? 1.0 : -r) / sqrt(r * (r + 1));
}

/* Inner products of the rows of these samples, which come here where rows are divided. */
static plx_status inner_products(const colr *c, const colr_view *v, const plx_index *samples, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx__points x;
    PLX_TRY(plx__points_choose(&x, c->ctx, v->x, c->bound, samples, out.rows));
    PLX_TRY(plx__points_inner(c->ctx, x, x, out));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

/* The contrasts, and the samples they are of, both in the order of the samples. */
static plx_index list_contrasts(const colr *c, contrast *list, plx_index *samples)
{
    plx_index at = 0, count = 0;
    for (plx_index i = 0; i < c->n; i++) {
        if (!c->consensus[i] || c->count[i] < 2) continue;
        for (plx_index r = 0; r + 1 < c->count[i]; r++) list[at++] = (contrast){i, count, r};
        samples[count++] = i;
    }
    return count;
}

/* The forms of a sample's pairs are those of count - 1 orthogonal contrasts of its views; Cm = Z'Z has the rank of the
 * Gram matrix Z Z', whose entries need inner products within views only. */
static plx_status contrast_rank(double *out, const colr *c, plx_index rows)
{
    plx_mat gram, inner;
    contrast *list = NULL;
    plx_index *samples = NULL;
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(c->ctx), rows));
    PLX_TRY(plx__arena_i64(&samples, plx__scratch(c->ctx), rows));
    PLX_TRY(plx__arena_mat(&gram, plx__scratch(c->ctx), rows, rows));
    plx_index count = list_contrasts(c, list, samples);
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(c->ctx), count, count));
    plx__mat_fill(gram, 0.0);
    for (plx_index j = 0; j < c->m; j++) {
        const colr_view *v = &c->views[j];
        double *own = NULL, constant = c->set->bias;
        PLX_TRY(plx__arena_f64(&own, plx__scratch(c->ctx), rows, 1));
        for (plx_index a = 0; a < rows; a++) {
            plx_index order = 0;
            for (plx_index k = 0; k < j; k++) order += c->views[k].present[list[a].sample];
            own[a] = v->present[list[a].sample] ? coefficient(&list[a], order) : 0.0;
        }
        PLX_TRY(inner_products(c, v, samples, inner));
        for (plx_index a = 0; a < rows; a++)
            for (plx_index b = 0; b <= a && own[a] != 0; b++)
                gram.data[a * rows + b] +=
                    own[a] * own[b] * (inner.data[list[a].place * count + list[b].place] + constant);
    }
    plx__mirror_lower(gram);
    return rank_of(out, c->ctx, gram);
}

static plx_status agreement_rank(double *out, colr *c)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_index rows = 0;
    plx_mat copy;
    for (plx_index i = 0; i < c->n; i++) rows += c->consensus[i] ? c->count[i] - 1 : 0;
    if (c->dense) {
        PLX_TRY(plx__mat_clone(&copy, plx__scratch(c->ctx), plx__cmat(c->agree)));
        PLX_TRY(rank_of(out, c->ctx, copy));
    } else if (rows <= MOST_EXACT_RANK) {
        PLX_TRY(contrast_rank(out, c, rows));
    } else {
        *out = (double)plx__min(rows, c->d);
        plx__info(c->ctx, "colr: the rank of the agreement is taken as %g, its largest possible value", *out);
    }
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

double plx__colr_rank_bytes(const plx__run *run)
{
    const plx__problem *x = run->problem;
    bool all = ((const colr_params *)run->params)->consensus == COLR_ALL;
    double rows = 0, samples = 0, widest = 0;
    for (plx_index i = 0; i < x->n; i++) {
        double count = 0;
        for (plx_index j = 0; j < x->n_views; j++) count += x->views[j].present[i];
        if (count < 2 || (!all && x->label[i] >= 0)) continue;
        rows += count - 1;
        samples++;
    }
    if (rows > MOST_EXACT_RANK) return 0;
    for (plx_index j = 0; j < x->n_views; j++) {
        const plx__view *v = &x->views[j];
        double filled = samples * (double)v->cols; /* the rows come from all ranks */
        widest = fmax(widest, v->sparse ? 12 * fmin((double)v->nonzeros, filled) : 8 * filled);
    }
    return 8 * (2 * rows * rows + samples * samples) + widest;
}

/* ---- graphs ---- */

static plx_status graph_width(colr *c, colr_view *v)
{
    plx__value value;
    const char *what = NULL;
    PLX_TRY(plx__view_value(&value, c->ctx, c->run->settings, "width", v->name));
    v->width = value.number;
    if (value.word < 0) return PLX_OK;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(c->ctx), "colr: view '%s'", v->name));
    PLX_TRY(plx__pair_distance(c->ctx, v->x, v->present, PLX__EUCLID, PLX__PAIR_MEDIAN, &v->width, what));
    if (v->width > 0) return PLX_OK;
    PLX_FAIL(c->ctx, PLX_E_DATA, "%s: the median distance of its rows is 0; set width to a number > 0", what);
}

/* Deg - K on the samples that have the view; *sum = sum of K over pairs. */
static plx_status form_laplacian(const colr *c, const colr_view *v, plx_mat out, double *sum)
{
    double scale = -0.5 / (v->width * v->width);
    PLX_TRY(plx__dist_sq_matrix(c->ctx, v->x, v->x, out));
    *sum = 0;
    for (plx_index i = 0; i < c->n; i++) {
        double *row = out.data + i * out.ld, degree = 0;
        plx__exp_scaled(row, c->n, scale, -1.0, row);
        for (plx_index l = 0; l < c->n; l++) {
            if (i == l || !v->present[i] || !v->present[l]) row[l] = 0.0;
            degree -= row[l];
        }
        row[i] = degree;
        *sum += 0.5 * degree;
    }
    return PLX_OK;
}

/* Delta_j = X'(L X); the constant takes no part. */
static plx_status form_smooth(const colr *c, const colr_view *v, plx_mat out)
{
    plx_mat product, inner;
    plx_cmat x = plx__csub(plx__cmat(c->full), 0, v->at, c->n, v->features);
    PLX_TRY(plx__arena_mat(&product, plx__scratch(c->ctx), c->n, v->features));
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(c->ctx), v->features, v->features));
    PLX_TRY(plx__gemm(c->ctx, 1.0, plx__cmat(v->laplacian), PLX__N, x, PLX__N, 0.0, product));
    PLX_TRY(plx__gemm(c->ctx, 1.0, x, PLX__T, plx__cmat(product), PLX__N, 0.0, inner));
    plx__mirror_lower(inner);
    plx__mat_fill(out, 0.0);
    plx__mat_copy(plx__sub(out, 0, 0, v->features, v->features), plx__cmat(inner));
    return PLX_OK;
}

/* Without Delta_j itself: the rank of X'LX is that of the Gram matrix of the rows around their mean, as L is positive
 * definite but for constants. */
static plx_status centred_rank(double *out, const colr *c, const colr_view *v)
{
    plx_index count = 0, *of = NULL;
    plx_mat inner, gram;
    PLX_TRY(plx__arena_i64(&of, plx__scratch(c->ctx), c->n));
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(c->ctx), c->n, c->n));
    PLX_TRY(plx__points_inner(c->ctx, v->x, v->x, inner));
    for (plx_index i = 0; i < c->n; i++)
        if (v->present[i]) of[count++] = i;
    PLX_TRY(plx__arena_mat(&gram, plx__scratch(c->ctx), count, count));
    for (plx_index a = 0; a < count; a++)
        for (plx_index b = 0; b < count; b++) gram.data[a * count + b] = inner.data[of[a] * c->n + of[b]];
    PLX_TRY(plx__double_centre(c->ctx, gram, NULL, NULL));
    return rank_of(out, c->ctx, gram);
}

static plx_status open_graph(colr *c, colr_view *v, double *rank, double *sum)
{
    plx_mat copy;
    PLX_TRY(graph_width(c, v));
    if (c->dense) PLX_TRY(plx__arena_mat(&v->smooth, plx__scratch(c->ctx), v->d, v->d));
    else PLX_TRY(plx__arena_mat(&v->laplacian, plx__scratch(c->ctx), c->n, c->n));
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    if (c->dense) PLX_TRY(plx__arena_mat(&v->laplacian, plx__scratch(c->ctx), c->n, c->n));
    PLX_TRY(form_laplacian(c, v, v->laplacian, sum));
    if (c->dense) {
        PLX_TRY(form_smooth(c, v, v->smooth));
        PLX_TRY(plx__mat_clone(&copy, plx__scratch(c->ctx), plx__cmat(v->smooth)));
        PLX_TRY(rank_of(rank, c->ctx, copy));
        v->laplacian = (plx_mat){0};
    } else PLX_TRY(centred_rank(rank, c, v));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return plx__poll(c->ctx);
}

/* ---- Gamma priors ---- */

static plx_status rate(double *out, const colr *c, const char *key, double otherwise)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, c->ctx, c->run->settings, key, NULL));
    *out = value.text[0] ? value.number : otherwise;
    return PLX_OK;
}

static plx_status shape(double *out, const colr *c, const char *key)
{
    plx__value common;
    PLX_TRY(plx__view_value(&common, c->ctx, c->run->settings, "alpha", NULL));
    return rate(out, c, key, common.number);
}

static plx_status open_graphs(colr *c)
{
    double sum = 0;
    if (c->set->graph == COLR_NO_GRAPH) return PLX_OK;
    c->n_graph = c->set->tie_graph ? 1 : c->m;
    PLX_TRY(PLX__ARENA_NEW(&c->graph, plx__scratch(c->ctx), c->n_graph));
    for (plx_index j = 0; j < c->m; j++) {
        double rank = 0, pairs = 0;
        colr_gamma *g = &c->graph[c->set->tie_graph ? 0 : j];
        PLX_TRY(open_graph(c, &c->views[j], &rank, &pairs));
        g->rank += rank;
        sum = c->set->tie_graph ? sum + pairs : pairs;
        PLX_TRY(shape(&g->alpha, c, "alpha.graph"));
        PLX_TRY(rate(&g->beta, c, "beta.graph", fmax(1.0, 0.5 * sum)));
    }
    return PLX_OK;
}

bool plx__colr_prefers_dense(double d, double entries)
{
    enum { FEW = 500, MANY = 3000, PRODUCTS = 200 }; /* a product takes two passes of two operations per entry */
    return d <= FEW || (d <= MANY && d * d * d / 3 <= 4.0 * PRODUCTS * entries);
}

static plx_status count_entries(double *out, const colr *c)
{
    double held = (double)(plx__bound_end(c->ctx, c->bound, c->n) - plx__bound_begin(c->ctx, c->bound));
    *out = 0;
    for (plx_index j = 0; j < c->m; j++)
        *out += plx__points_sparse(c->views[j].x) ? (double)plx__nnz(c->views[j].x.csr)
                                                  : held * (double)c->views[j].features;
    return c->bound ? plx__peers_add(c->ctx, out, 1) : PLX_OK; /* exact in any order */
}

plx_status plx__colr_open_prior(colr *c)
{
    double entries = 0;
    PLX_TRY(count_entries(&entries, c));
    c->dense |= plx__colr_prefers_dense((double)c->d, entries);
    if (c->dense) {
        PLX_TRY(open_full(c));
        PLX_TRY(plx__arena_mat(&c->agree, plx__scratch(c->ctx), c->d, c->d));
        PLX_TRY(form_agreement(c, c->agree));
    }
    if (!c->terms && c->m > 1)
        plx__info(c->ctx, "colr: no sample in the agreement has two views; the views are fitted apart");
    PLX_TRY(open_graphs(c));
    if (c->set->hyper == COLR_FIXED) return PLX_OK;
    PLX_TRY(agreement_rank(&c->co.rank, c));
    PLX_TRY(shape(&c->ridge.alpha, c, "alpha.ridge"));
    PLX_TRY(shape(&c->co.alpha, c, "alpha.co"));
    PLX_TRY(rate(&c->ridge.beta, c, "beta.ridge", 100.0));
    c->ridge.rank = 1;
    return rate(&c->co.beta, c, "beta.co", fmax(1.0, 50.0 * (double)c->terms));
}

/* ---- P(lambda) ---- */

/* out = Delta_j w_j (v->d long), from its matrix or through the scores of the features. */
static plx_status apply_graph(const colr *c, plx_index j, const double *w, plx_cmat s, double *out)
{
    const colr_view *v = &c->views[j];
    plx_mat f, pull, sum;
    if (v->smooth.data) return plx__gemv(c->ctx, 1.0, plx__cmat(v->smooth), PLX__N, w + v->at, 0.0, out);
    PLX_TRY(plx__arena_mat(&f, plx__scratch(c->ctx), c->n, 1));
    PLX_TRY(plx__arena_mat(&pull, plx__scratch(c->ctx), c->n, 1));
    for (plx_index i = 0; i < c->n; i++) f.data[i] = s.data[i * s.ld + j]; /* constants vanish in L f */
    PLX_TRY(plx__gemv(c->ctx, 1.0, plx__cmat(v->laplacian), PLX__N, f.data, 0.0, pull.data));
    PLX_TRY(plx__arena_mat(&sum, plx__scratch(c->ctx), v->features, 1));
    PLX_TRY(plx__points_times_t(c->ctx, v->x, plx__cmat(pull), sum));
    memcpy(out, sum.data, (size_t)v->features * sizeof *out);
    if (c->set->bias) out[v->features] = 0;
    return PLX_OK;
}

typedef struct pairing {
    plx_cmat t, s;
} pairing;

static plx_status add_pairs(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pairing *q = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++)
        *table += plx__dot(q->t.data + i * q->t.ld, q->s.data + i * q->s.ld, q->s.cols);
    return PLX_OK;
}

plx_status plx__colr_quadratic(const colr *c, const double *w, plx_cmat s, double *co, double *graph)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_mat t;
    double *own = NULL;
    PLX_TRY(plx__arena_mat(&t, plx__scratch(c->ctx), c->n, c->m));
    PLX_TRY(plx__arena_f64(&own, plx__scratch(c->ctx), c->d, 1));
    agreement_pull(c, s, t);
    PLX_TRY(plx__colr_sum(c, 1, add_pairs, &(pairing){plx__cmat(t), s}, co));
    for (plx_index g = 0; g < c->n_graph; g++) graph[g] = 0;
    for (plx_index j = 0; j < c->m && c->n_graph; j++) {
        PLX_TRY(apply_graph(c, j, w, s, own));
        graph[c->n_graph == 1 ? 0 : j] += plx__dot(own, w + c->views[j].at, c->views[j].d);
    }
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

plx_status plx__colr_apply_prior(const colr *c, const colr_lambda *lambda, const double *w, plx_cmat s, double *out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_mat t;
    double *own = NULL;
    PLX_TRY(plx__arena_mat(&t, plx__scratch(c->ctx), c->n, c->m));
    PLX_TRY(plx__arena_f64(&own, plx__scratch(c->ctx), c->d, 1));
    agreement_pull(c, s, t);
    plx__mat_scale(t, lambda->co);
    for (plx_index e = 0; e < c->d; e++) out[e] = lambda->ridge[e] * w[e];
    PLX_TRY(plx__colr_pull(c, plx__cmat(t), out));
    for (plx_index j = 0; j < c->m && c->n_graph; j++) {
        PLX_TRY(apply_graph(c, j, w, s, own));
        plx__axpy(out + c->views[j].at, plx__colr_graph_of(c, lambda, j), own, c->views[j].d);
    }
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

plx_status plx__colr_information(const colr *c, plx_cmat weight, plx_mat out)
{
    PLX_ASSERT(out.ld == out.cols);
    return plx__colr_sum(c, c->d * c->d, add_blocks, &(weighted){c, weight}, out.data);
}

void plx__colr_precision(const colr *c, const colr_lambda *lambda, plx_cmat information, plx_mat out)
{
    plx__mat_copy(out, information);
    for (plx_index e = 0; e < c->d; e++) {
        plx__axpy(out.data + e * out.ld, lambda->co, c->agree.data + e * c->agree.ld, c->d);
        out.data[e * (out.ld + 1)] += lambda->ridge[e];
    }
    for (plx_index j = 0; j < c->m && c->n_graph; j++) {
        const colr_view *v = &c->views[j];
        for (plx_index e = 0; e < v->d; e++)
            plx__axpy(out.data + (v->at + e) * out.ld + v->at, plx__colr_graph_of(c, lambda, j),
                      v->smooth.data + e * v->smooth.ld, v->d);
    }
}

/* to += sum_i weight_i x_i^2 over some samples, entry by entry, constant included; weight[0] is that of the first. */
static void add_squares(const colr *c, const colr_view *v, const double *weight, plx_index begin, plx_index end,
                        double *to)
{
    for (plx_index i = begin; i < end; i++) {
        double x_weight = weight[i - begin];
        if (x_weight == 0) continue;
        if (!plx__points_sparse(v->x)) {
            const double *x = v->x.dense.data + i * v->x.dense.ld;
            for (plx_index e = 0; e < v->features; e++) to[e] += x_weight * x[e] * x[e];
        } else
            for (int64_t e = v->x.csr.ptr[i]; e < v->x.csr.ptr[i + 1]; e++)
                to[v->x.csr.col[e]] += x_weight * v->x.csr.val[e] * v->x.csr.val[e];
        if (c->set->bias) to[v->features] += x_weight;
    }
}

typedef struct diagonal {
    const colr *c;
    const colr_lambda *lambda;
    plx_cmat weight;
} diagonal;

static plx_status add_diagonal(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const diagonal *q = arg;
    const colr *c = q->c;
    const colr_lambda *lambda = q->lambda;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *own = NULL;
    PLX_TRY(plx__arena_f64(&own, plx__scratch(ctx), end - begin, 1));
    if (begin == 0) memcpy(table, lambda->ridge, (size_t)c->d * sizeof *table);
    for (plx_index j = 0; j < c->m; j++) {
        const colr_view *v = &c->views[j];
        double graph = plx__colr_graph_of(c, lambda, j);
        for (plx_index i = begin; i < end; i++) {
            double agree = c->consensus[i] ? lambda->co * (double)(c->count[i] - 1) : 0.0;
            double smooth = graph > 0 ? graph * v->laplacian.data[i * (v->laplacian.ld + 1)] : 0.0;
            own[i - begin] = v->present[i] ? q->weight.data[i * q->weight.ld + j] + agree + smooth : 0.0;
        }
        add_squares(c, v, own, begin, end, table + v->at);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__colr_diagonal(const colr *c, const colr_lambda *lambda, plx_cmat weight, double *out)
{
    return plx__colr_sum(c, c->d, add_diagonal, &(diagonal){c, lambda, weight}, out);
}
