/*
 * One pass makes centres and squared distances to them in every view; the indices of single views and of all
 * views together are then sums over clusters, with no second pass over the data. The silhouette, which needs
 * all pairs, is in silhouette.c.
 */
#include "eval/internal_indices.h"

#include <math.h>
#include <string.h>

/* ---- views as distances see them ---- */

static plx__points points_of(const plx__view *v)
{
    return v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense);
}

/* |row i - centre|^2 */
static double square_to(plx__points rows, plx_index i, const double *centre, double norm)
{
    if (!plx__points_sparse(rows)) return plx__dist_sq(rows.dense.data + i * rows.dense.ld, centre, rows.dense.cols);
    double sum = norm;
    for (int64_t p = rows.csr.ptr[i]; p < rows.csr.ptr[i + 1]; p++) {
        double c = centre[rows.csr.col[p]], x = rows.csr.val[p];
        sum += (x - c) * (x - c) - c * c;
    }
    return fmax(sum, 0);
}

static void add_row(double *to, plx__points rows, plx_index i)
{
    if (!plx__points_sparse(rows)) {
        plx__axpy(to, 1.0, rows.dense.data + i * rows.dense.ld, rows.dense.cols);
        return;
    }
    for (int64_t p = rows.csr.ptr[i]; p < rows.csr.ptr[i + 1]; p++) to[rows.csr.col[p]] += rows.csr.val[p];
}

/* Centres of groups in one view, and how the samples lie around them. */
typedef struct centres {
    plx_index k, cols;
    double *mean, *norm, *size; /* k x cols, k, k */
} centres;

static plx_status make_centres(centres *c, plx_context *ctx, const plx__index_view *v, plx_index n,
                               const int32_t *cluster, plx_index k)
{
    plx__arena *scratch = plx__scratch(ctx);
    *c = (centres){.k = k, .cols = plx__points_cols(v->rows)};
    PLX_TRY(plx__arena_f64(&c->mean, scratch, k, c->cols));
    PLX_TRY(plx__arena_f64(&c->norm, scratch, k, 1));
    PLX_TRY(plx__arena_f64(&c->size, scratch, k, 1));
    for (plx_index i = 0; i < n; i++) {
        plx_index g = cluster ? cluster[i] : 0;
        if (!v->present[i] || g < 0) continue;
        add_row(c->mean + g * c->cols, v->rows, i);
        c->size[g]++;
    }
    for (plx_index g = 0; g < k; g++) {
        if (c->size[g] > 0) plx__scale(c->mean + g * c->cols, 1.0 / c->size[g], c->cols);
        c->norm[g] = plx__norm_sq(c->mean + g * c->cols, c->cols);
    }
    return PLX_OK;
}

static plx_status variance_of(double *out, plx_context *ctx, const plx__index_view *v, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    centres all;
    *out = 0;
    PLX_TRY(make_centres(&all, ctx, v, n, NULL, 1));
    for (plx_index i = 0; i < n; i++)
        if (v->present[i]) *out += square_to(v->rows, i, all.mean, all.norm[0]);
    if (all.size[0] > 0) *out /= all.size[0];
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__index_views(plx__index_view **out, plx_index *count, plx_context *ctx, const plx__view *views,
                            plx_index n_views, plx_index n)
{
    plx__arena *scratch = plx__scratch(ctx);
    *count = 0;
    PLX_TRY(PLX__ARENA_NEW(out, scratch, n_views));
    for (plx_index v = 0; v < n_views; v++) {
        plx__view stored = views[v], ready;
        plx__scaler scaler;
        if (views[v].kind == PLX_VIEW_KERNEL || views[v].present_count < 2) continue;
        plx__scale_kind kind = plx__scale_auto(&views[v], NULL);
        if (kind == PLX__SCALE_ZSCORE) PLX_TRY(plx__view_dense(&stored, scratch, &views[v]));
        PLX_TRY(plx__scaler_fit(&scaler, ctx, scratch, kind, &stored, NULL));
        PLX_TRY(plx__scaler_apply(&ready, ctx, scratch, &scaler, &stored));
        plx__index_view *view = &(*out)[(*count)++];
        *view = (plx__index_view){views[v].name, points_of(&ready), views[v].present, 0};
        PLX_TRY(variance_of(&view->variance, ctx, view, n));
        if (!isfinite(view->variance))
            PLX_FAIL(ctx, PLX_E_DATA, "view '%s' has missing or too large values: distances are not defined",
                     view->name);
    }
    return PLX_OK;
}

/* ---- Davies-Bouldin and Calinski-Harabasz ---- */

/* What the views add up to: over all, or one view alone. */
typedef struct spread {
    plx_index k;
    double *apart, *shared; /* k x k: squared distance of centres, summed over views that both have, and how many */
    double *far, *seen;     /* n: squared distance to the own centre, likewise */
    double within, between, samples, views;
} spread;

static plx_status open_spread(spread *s, plx_context *ctx, plx_index n, plx_index k)
{
    plx__arena *scratch = plx__scratch(ctx);
    *s = (spread){.k = k};
    PLX_TRY(plx__arena_f64(&s->apart, scratch, k, k));
    PLX_TRY(plx__arena_f64(&s->shared, scratch, k, k));
    PLX_TRY(plx__arena_f64(&s->far, scratch, n, 1));
    return plx__arena_f64(&s->seen, scratch, n, 1);
}

/* A view enters with squared distances divided by `unit`. */
static void add_view(spread *s, const centres *c, const double *square, const plx__index_view *v, plx_index n,
                     const int32_t *cluster, double unit)
{
    double scatter = 0, between = 0, total = 0, *grand = c->mean + c->k * c->cols;
    for (plx_index i = 0; i < n; i++) {
        if (!v->present[i] || cluster[i] < 0) continue;
        s->far[i] += square[i] / unit;
        s->seen[i]++;
        scatter += square[i];
    }
    for (plx_index a = 0; a < c->k; a++) {
        if (c->size[a] == 0) continue;
        between += c->size[a] * plx__dist_sq(c->mean + a * c->cols, grand, c->cols);
        total += c->size[a];
        for (plx_index b = 0; b < c->k; b++) {
            if (c->size[b] == 0 || a == b) continue;
            s->apart[a * s->k + b] += plx__dist_sq(c->mean + a * c->cols, c->mean + b * c->cols, c->cols) / unit;
            s->shared[a * s->k + b]++;
        }
    }
    s->within += scatter / (unit * total);
    s->between += between / (unit * total);
    s->samples += total;
    s->views++;
}

/* Mean over clusters of the worst (spread + spread) / distance; centres in one place do not count. */
static double davies_bouldin(const spread *s, plx_context *ctx, plx_index n, const int32_t *cluster, double *mean)
{
    double *members = mean + s->k, sum = 0, count = 0;
    (void)ctx;
    memset(mean, 0, (size_t)(2 * s->k) * sizeof *mean);
    for (plx_index i = 0; i < n; i++) {
        if (cluster[i] < 0 || s->seen[i] == 0) continue;
        mean[cluster[i]] += sqrt(s->far[i] / s->seen[i]);
        members[cluster[i]]++;
    }
    for (plx_index a = 0; a < s->k; a++) {
        double worst = 0;
        if (members[a] == 0) continue;
        count++;
        for (plx_index b = 0; b < s->k; b++) {
            double apart = a != b && s->shared[a * s->k + b] > 0 ? s->apart[a * s->k + b] / s->shared[a * s->k + b] : 0;
            if (apart > 0) worst = fmax(worst, (mean[a] / members[a] + mean[b] / members[b]) / sqrt(apart));
        }
        sum += worst;
    }
    return count > 1 ? sum / count : NAN;
}

static double calinski_harabasz(const spread *s, const double *members)
{
    double k = 0, n = s->views > 0 ? s->samples / s->views : 0;
    for (plx_index c = 0; c < s->k; c++) k += members[c] > 0;
    if (k < 2 || n <= k) return NAN;
    return s->within > 0 ? s->between / (k - 1) / (s->within / (n - k)) : INFINITY;
}

/* Centres with the grand mean behind them, and squared distances to the own centre. */
static plx_status look_at(centres *c, double *square, plx_context *ctx, const plx__index_view *v, plx_index n,
                          const int32_t *cluster, plx_index k)
{
    double total = 0;
    PLX_TRY(make_centres(c, ctx, v, n, cluster, k + 1)); /* the last one is empty */
    double *grand = c->mean + k * c->cols;
    for (plx_index g = 0; g < k; g++) {
        plx__axpy(grand, c->size[g], c->mean + g * c->cols, c->cols);
        total += c->size[g];
    }
    if (total > 0) plx__scale(grand, 1.0 / total, c->cols);
    for (plx_index i = 0; i < n; i++)
        if (v->present[i] && cluster[i] >= 0)
            square[i] = square_to(v->rows, i, c->mean + cluster[i] * c->cols, c->norm[cluster[i]]);
    c->k = k;
    return PLX_OK;
}

static plx_status measure_spreads(plx__indices *out, plx_context *ctx, const plx__index_view *views, plx_index n_views,
                                  plx_index n, const int32_t *cluster, plx_index k)
{
    plx__arena *scratch = plx__scratch(ctx);
    double *square = NULL, *mean = NULL;
    spread all;
    PLX_TRY(open_spread(&all, ctx, n, k));
    PLX_TRY(plx__arena_f64(&square, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&mean, scratch, 2 * k, 1));
    for (plx_index v = 0; v < n_views; v++) {
        plx__mark mark = plx__arena_mark(scratch);
        spread own;
        centres c;
        PLX_TRY(open_spread(&own, ctx, n, k));
        PLX_TRY(look_at(&c, square, ctx, &views[v], n, cluster, k));
        add_view(&own, &c, square, &views[v], n, cluster, 1.0);
        if (views[v].variance > 0) add_view(&all, &c, square, &views[v], n, cluster, views[v].variance);
        out[v].davies_bouldin = davies_bouldin(&own, ctx, n, cluster, mean);
        out[v].calinski_harabasz = calinski_harabasz(&own, mean + k);
        plx__arena_rewind(scratch, mark);
    }
    out[n_views].davies_bouldin = davies_bouldin(&all, ctx, n, cluster, mean);
    out[n_views].calinski_harabasz = calinski_harabasz(&all, mean + k);
    return PLX_OK;
}

plx_status plx__internal_indices(plx__indices *out, plx_context *ctx, const plx__index_view *views, plx_index n_views,
                                 plx_index n, const int32_t *cluster, plx_index k)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *silhouette = NULL;
    PLX_TRY(plx__arena_f64(&silhouette, plx__scratch(ctx), n_views + 1, 1));
    PLX_TRY(plx__silhouettes(silhouette, ctx, views, n_views, n, cluster, &k, 1, 0));
    PLX_TRY(measure_spreads(out, ctx, views, n_views, n, cluster, k));
    for (plx_index v = 0; v <= n_views; v++) out[v].silhouette = silhouette[v];
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
