/*
 * Silhouettes of several partitions at once: distances from a block of samples to all others are the cost,
 * and they are computed once for all partitions. Memory is a block of rows times the number of samples.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "eval/internal_indices.h"
#include "kernel/prepared.h"

enum { BLOCK = 64 };

/* Sums of distances from the samples of a block to every cluster of every partition, in one view or over all. */
typedef struct judge {
    const plx__index_view *views;
    plx_index n, n_views, scopes; /* scopes: views, and all of them together */
    const int32_t *cluster;
    const plx_index *k;
    plx_index partitions, width;     /* width: clusters of all partitions */
    plx_index *at;                   /* partition: where its clusters begin */
    plx_index *row, rows;            /* samples of the block */
    plx_mat distance, joint, common; /* rows x n: of one view; sum over views and how many */
    double *sum, *count;             /* rows x width */
    plx_index scope;
    double *total, *judged; /* partitions x scopes */
} judge;

/* ---- distances of a block ---- */

static plx_status view_distances(judge *j, plx_context *ctx, plx_index v)
{
    const plx__index_view *view = &j->views[v];
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__points some;
    double unit = sqrt(2 * view->variance);
    PLX_TRY(plx__points_select(&some, ctx, view->rows, j->row, j->rows));
    PLX_TRY(plx__dist_sq_matrix(ctx, some, view->rows, plx__sub(j->distance, 0, 0, j->rows, j->n)));
    for (plx_index r = 0; r < j->rows; r++) {
        double *d = j->distance.data + r * j->n, *sum = j->joint.data + r * j->n, *common = j->common.data + r * j->n;
        bool here = view->present[j->row[r]];
        for (plx_index i = 0; i < j->n; i++) {
            bool both = here && view->present[i];
            d[i] = both ? sqrt(d[i]) : NAN;
            if (!both) continue;
            sum[i] += unit > 0 ? d[i] / unit : 0;
            common[i]++;
        }
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Mean over the common views. */
static void joint_distances(judge *j)
{
    for (plx_index e = 0; e < j->rows * j->n; e++)
        j->distance.data[e] = j->common.data[e] > 0 ? j->joint.data[e] / j->common.data[e] : NAN;
}

/* ---- sums and silhouettes ---- */

static plx_status sum_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const judge *j = arg;
    (void)ctx, (void)worker;
    for (plx_index r = begin; r < end; r++) {
        const double *d = j->distance.data + r * j->n;
        double *sum = j->sum + r * j->width, *count = j->count + r * j->width;
        memset(sum, 0, (size_t)j->width * sizeof *sum);
        memset(count, 0, (size_t)j->width * sizeof *count);
        for (plx_index i = 0; i < j->n; i++) {
            if (isnan(d[i]) || i == j->row[r]) continue;
            for (plx_index p = 0; p < j->partitions; p++) {
                int32_t c = j->cluster[p * j->n + i];
                if (c < 0) continue;
                sum[j->at[p] + c] += d[i];
                count[j->at[p] + c]++;
            }
        }
    }
    return PLX_OK;
}

/* Of one sample; alone in its cluster it has 0; NaN: no other cluster can be told. */
static double silhouette(const double *sum, const double *count, plx_index k, int32_t own)
{
    double within = 0, nearest = INFINITY;
    for (plx_index c = 0; c < k; c++)
        if (c != own && count[c] > 0) nearest = fmin(nearest, sum[c] / count[c]);
    if (isinf(nearest)) return NAN;
    if (count[own] == 0) return 0;
    within = sum[own] / count[own];
    return fmax(within, nearest) > 0 ? (nearest - within) / fmax(within, nearest) : 0;
}

static plx_status judge_block(judge *j, plx_context *ctx)
{
    PLX_TRY(plx__parallel_for(ctx, j->rows, 1, sum_rows, j));
    for (plx_index r = 0; r < j->rows; r++)
        for (plx_index p = 0; p < j->partitions; p++) {
            int32_t own = j->cluster[p * j->n + j->row[r]];
            bool there = j->scope == j->n_views || j->views[j->scope].present[j->row[r]];
            if (own < 0 || !there) continue;
            double s = silhouette(j->sum + r * j->width + j->at[p], j->count + r * j->width + j->at[p], j->k[p], own);
            if (isnan(s)) continue;
            j->total[p * j->scopes + j->scope] += s;
            j->judged[p * j->scopes + j->scope]++;
        }
    return PLX_OK;
}

static plx_status open_judge(judge *j, plx_context *ctx)
{
    plx__arena *scratch = plx__scratch(ctx);
    PLX_TRY(plx__arena_i64(&j->at, scratch, j->partitions));
    for (plx_index p = 0; p < j->partitions; p++) {
        j->at[p] = j->width;
        j->width += j->k[p];
    }
    PLX_TRY(plx__arena_i64(&j->row, scratch, BLOCK));
    PLX_TRY(plx__arena_mat(&j->distance, scratch, BLOCK, j->n));
    PLX_TRY(plx__arena_mat(&j->joint, scratch, BLOCK, j->n));
    PLX_TRY(plx__arena_mat(&j->common, scratch, BLOCK, j->n));
    PLX_TRY(plx__arena_f64(&j->sum, scratch, BLOCK, j->width));
    PLX_TRY(plx__arena_f64(&j->count, scratch, BLOCK, j->width));
    PLX_TRY(plx__arena_f64(&j->total, scratch, j->partitions, j->scopes));
    return plx__arena_f64(&j->judged, scratch, j->partitions, j->scopes);
}

plx_status plx__silhouettes(double *out, plx_context *ctx, const plx__index_view *views, plx_index n_views, plx_index n,
                            const int32_t *cluster, const plx_index *k, plx_index partitions, plx_index most)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index count = most > 0 && most < n ? most : n;
    judge j = {.views = views,
               .n = n,
               .n_views = n_views,
               .scopes = n_views + 1,
               .cluster = cluster,
               .k = k,
               .partitions = partitions};
    PLX_TRY(open_judge(&j, ctx));
    for (plx_index begin = 0; begin < count; begin += BLOCK) {
        j.rows = plx__min(BLOCK, count - begin);
        for (plx_index r = 0; r < j.rows; r++) j.row[r] = (plx_index)((double)(begin + r) * (double)n / (double)count);
        plx__mat_fill(j.joint, 0);
        plx__mat_fill(j.common, 0);
        for (j.scope = 0; j.scope < n_views; j.scope++) {
            PLX_TRY(view_distances(&j, ctx, j.scope));
            PLX_TRY(judge_block(&j, ctx));
        }
        joint_distances(&j);
        PLX_TRY(judge_block(&j, ctx));
        PLX_TRY(plx__report(ctx, "silhouette", begin + j.rows, count, NAN));
    }
    for (plx_index e = 0; e < partitions * j.scopes; e++) out[e] = j.judged[e] > 0 ? j.total[e] / j.judged[e] : NAN;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
