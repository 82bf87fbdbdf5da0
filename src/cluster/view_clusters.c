/*
 * Both losses share assignment and update: spherical k-means is the same iteration on unit rows with the sum of a
 * cluster divided by its length instead of by its size.
 */
#include "cluster/view_clusters.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/dense.h"
#include "data/row_parts.h"
#include "cluster/kmeanspp.h"

enum { ROUNDS = 100, ROWS_AT_A_TIME = 128 };

typedef struct clustering {
    plx_context *ctx;
    plx__row_part part; /* unit rows when spherical, else the rows as they are */
    plx_index n, k;
    bool spherical;
    plx_mat centroids;
    double *norm_sq; /* k: of the centroids */
    int32_t *label;  /* n */
    double *loss;    /* n: of every sample at its centroid */
    double **sum, *room;
    double *newest, newest_norm_sq; /* k-means++: the newest centre */
    int64_t changed;                /* labels changed by the last assignment, counted in order afterwards */
    uint8_t *moved;                 /* n */
} clustering;

/* ---- assignment ---- */

static double loss_at(const clustering *q, plx_index i, const double *centre, double norm_sq)
{
    if (q->spherical) return 1 - plx__part_dot(&q->part, i, centre);
    return plx__view_row_dist_sq(q->part.view, i, centre, norm_sq);
}

static plx_status assign_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const clustering *q = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        int32_t best = -1;
        double least = INFINITY;
        for (plx_index c = 0; q->part.view->present[i] && c < q->k; c++) {
            double loss = loss_at(q, i, q->centroids.data + c * q->centroids.ld, q->norm_sq[c]);
            if (best >= 0 && !(loss < least)) continue;
            best = (int32_t)c;
            least = loss;
        }
        q->moved[i] = q->label[i] != best;
        q->label[i] = best;
        q->loss[i] = best < 0 ? 0 : least;
    }
    return PLX_OK;
}

static plx_status assign(clustering *q)
{
    for (plx_index c = 0; c < q->k; c++)
        q->norm_sq[c] = plx__norm_sq(q->centroids.data + c * q->centroids.ld, q->centroids.cols);
    PLX_TRY(plx__parallel_for(q->ctx, q->n, ROWS_AT_A_TIME, assign_rows, q));
    q->changed = 0;
    for (plx_index i = 0; i < q->n; i++) q->changed += q->moved[i];
    return PLX_OK;
}

/* ---- centroids ---- */

static plx_status update_centroids(clustering *q)
{
    plx_index cols = q->centroids.cols;
    plx__mark mark = plx__arena_mark(plx__scratch(q->ctx));
    plx__members members;
    PLX_TRY(plx__members_of(&members, q->ctx, q->label, q->n, q->k));
    PLX_TRY(plx__class_sums(q->sum, q->ctx, &q->part, 1, cols, members, q->room));
    for (plx_index c = 0; c < q->k; c++) {
        if (!q->sum[c]) continue;
        double size = q->spherical ? plx__norm(q->sum[c], cols) : (double)(members.ptr[c + 1] - members.ptr[c]);
        double *to = q->centroids.data + c * q->centroids.ld;
        for (plx_index f = 0; size > 0 && f < cols; f++) to[f] = q->sum[c][f] / size;
    }
    plx__arena_rewind(plx__scratch(q->ctx), mark);
    return PLX_OK;
}

/* ---- start ---- */

static bool is_present(const void *arg, plx_index channel, plx_index sample)
{
    (void)channel;
    return ((const clustering *)arg)->part.view->present[sample];
}

static double to_newest(const void *arg, plx_index channel, plx_index sample)
{
    const clustering *q = arg;
    (void)channel;
    return loss_at(q, sample, q->newest, q->newest_norm_sq);
}

static plx_status spread_start(clustering *q, uint64_t stream)
{
    plx__kmeanspp spread = {.n = q->n, .n_channels = 1, .present = is_present, .distance = to_newest, .arg = q};
    plx__rng rng = plx__rng_start(q->ctx->seed, stream);
    plx__mark mark = plx__arena_mark(plx__scratch(q->ctx));
    PLX_TRY(plx__kmeanspp_open(&spread, q->ctx));
    plx__mat_fill(q->centroids, 0);
    for (plx_index c = 0; c < q->k; c++) {
        q->newest = q->centroids.data + c * q->centroids.ld;
        plx__part_add(q->newest, &q->part, plx__kmeanspp_draw(&spread, &rng));
        q->newest_norm_sq = plx__norm_sq(q->newest, q->centroids.cols);
        PLX_TRY(plx__kmeanspp_take(&spread, q->ctx));
    }
    plx__arena_rewind(plx__scratch(q->ctx), mark);
    return PLX_OK;
}

/* ---- all of it ---- */

static plx_status open_clustering(clustering *q, plx_context *ctx, const plx__view *view, plx_index n, plx_index k,
                                  bool spherical)
{
    plx__arena *scratch = plx__scratch(ctx);
    *q = (clustering){.ctx = ctx, .n = n, .k = k, .spherical = spherical, .part = {.view = view}};
    PLX_TRY(plx__arena_f64(&q->part.factor, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&q->norm_sq, scratch, k, 1));
    PLX_TRY(plx__arena_f64(&q->loss, scratch, n, 1));
    PLX_TRY(plx__arena_u8(&q->moved, scratch, n));
    for (plx_index i = 0; i < n; i++) {
        double norm = view->present[i] && spherical ? plx__view_row_norm(view, i) : 1;
        if (view->present[i]) q->part.factor[i] = norm > 0 ? 1 / norm : 0;
    }
    return PLX_OK;
}

static plx_status run_once(clustering *q, uint64_t stream)
{
    for (plx_index i = 0; i < q->n; i++) q->label[i] = -1;
    PLX_TRY(spread_start(q, stream));
    PLX_TRY(assign(q));
    for (plx_index t = 0; t < ROUNDS && q->changed; t++) {
        PLX_TRY(update_centroids(q));
        PLX_TRY(assign(q));
        PLX_TRY(plx__poll(q->ctx));
    }
    return PLX_OK;
}

static plx_status best_of(plx__partition *out, clustering *q, const plx__cluster_settings *set)
{
    out->loss = INFINITY;
    for (plx_index r = 0; r < set->restarts && !(r > 0 && plx__out_of_time(q->ctx)); r++) {
        PLX_TRY(run_once(q, set->stream + (uint64_t)r));
        double loss = plx__sum(q->loss, q->n);
        if (r > 0 && !(loss < out->loss)) continue;
        out->loss = loss;
        plx__mat_copy(out->centroids, plx__cmat(q->centroids));
        memcpy(out->label, q->label, (size_t)q->n * sizeof *q->label);
    }
    if (!isfinite(out->loss))
        PLX_FAIL(q->ctx, PLX_E_NUMERIC,
                 "view '%s': the squares of its values are not finite; divide them by a constant", q->part.view->name);
    return PLX_OK;
}

plx_status plx__cluster_view(plx__partition *out, plx_context *ctx, plx__arena *arena, const plx__view *view,
                             plx_index n, const plx__cluster_settings *set)
{
    clustering q;
    PLX_TRY(plx__arena_i32(&out->label, arena, n));
    PLX_TRY(plx__arena_mat(&out->centroids, arena, set->clusters, view->cols));
    for (plx_index i = 0; i < n; i++) out->label[i] = -1;
    out->loss = 0;
    if (!view->present_count) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(open_clustering(&q, ctx, view, n, set->clusters, set->spherical));
    PLX_TRY(plx__arena_i32(&q.label, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_mat(&q.centroids, plx__scratch(ctx), set->clusters, view->cols));
    PLX_TRY(PLX__ARENA_NEW(&q.sum, plx__scratch(ctx), set->clusters));
    PLX_TRY(plx__arena_f64(&q.room, plx__scratch(ctx), set->clusters + PLX__CLASS_SLABS, view->cols));
    PLX_TRY(best_of(out, &q, set));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__nearest_clusters(int32_t *label, plx_context *ctx, const plx__view *view, plx_index n,
                                 plx_cmat centroids, bool spherical)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    clustering q;
    PLX_TRY(open_clustering(&q, ctx, view, n, centroids.rows, spherical));
    PLX_TRY(plx__mat_clone(&q.centroids, plx__scratch(ctx), centroids));
    q.label = label;
    PLX_TRY(assign(&q));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
