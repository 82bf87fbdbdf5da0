/*
 * Draws, their clusters side by side over all samples, and the adjusted Rand index of neighbouring draws.
 */
#include "api/cluster_stability.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "eval/contingency.h"

enum { DRAWS = 10 };
static const double SHARE = 0.8;

/* Clusters of draw r for all samples: -1 where it has none. */
static plx_status cluster_draw(int32_t *out, const plx__stability *s, plx_index r)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index n = s->data->n, *row = NULL, part_n = 0;
    plx_dataset *part = NULL;
    int32_t *cluster = NULL;
    PLX_TRY(plx__arena_i64(&row, scratch, n));
    for (plx_index i = 0; i < n; i++)
        if (plx__rng_uniform(s->ctx->seed, PLX__STREAM('d', 'r', 'a', 'w', r), (uint64_t)i) < SHARE) row[part_n++] = i;
    PLX_TRY(plx__arena_i32(&cluster, scratch, s->count * part_n));
    for (plx_index k = 0; k < s->count * part_n; k++) cluster[k] = -1;
    PLX_TRY(plx__dataset_select(&part, s->ctx, s->data, row, part_n));
    plx_status st = s->cluster(s->arg, part, cluster);
    for (plx_index t = 0; t < s->count && st == PLX_OK; t++)
        for (plx_index k = 0; k < part_n; k++) out[t * n + row[k]] = cluster[t * part_n + k];
    plx_dataset_destroy(part);
    plx__arena_rewind(scratch, mark);
    return st;
}

/* Adjusted Rand index of two clusterings over the samples that are in both; NaN: fewer than two. */
static plx_status compare(double *out, plx_context *ctx, const int32_t *a, const int32_t *b, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__contingency table = {0};
    plx_index rows = 0, cols = 0;
    for (plx_index i = 0; i < n; i++) {
        if (a[i] < 0 || b[i] < 0) continue;
        rows = plx__max(rows, a[i] + 1), cols = plx__max(cols, b[i] + 1);
        table.n++;
    }
    *out = NAN;
    if (table.n < 2) return PLX_OK;
    PLX_TRY(plx__arena_mat(&table.counts, plx__scratch(ctx), rows, cols));
    PLX_TRY(plx__arena_f64(&table.cluster_size, plx__scratch(ctx), rows, 1));
    PLX_TRY(plx__arena_f64(&table.class_size, plx__scratch(ctx), cols, 1));
    for (plx_index i = 0; i < n; i++) {
        if (a[i] < 0 || b[i] < 0) continue;
        table.counts.data[a[i] * table.counts.ld + b[i]]++;
        table.cluster_size[a[i]]++;
        table.class_size[b[i]]++;
    }
    *out = plx__ari(plx__count_pairs(&table));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Draw r with draw r + 1, the last one with the first. */
static plx_status judge(const plx__stability *s, const int32_t *cluster, plx_index t)
{
    plx_index n = s->data->n, count = 0;
    double value[DRAWS], sum = 0, squares = 0;
    for (plx_index r = 0; r < DRAWS; r++) {
        const int32_t *a = cluster + (r * s->count + t) * n, *b = cluster + ((r + 1) % DRAWS * s->count + t) * n;
        PLX_TRY(compare(&value[count], s->ctx, a, b, n));
        count += !isnan(value[count]);
    }
    for (plx_index r = 0; r < count; r++) sum += value[r];
    s->mean[t] = count ? sum / (double)count : NAN;
    for (plx_index r = 0; r < count; r++) squares += pow(value[r] - s->mean[t], 2);
    s->error[t] = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : 0.0;
    return PLX_OK;
}

plx_status plx__cluster_stability(const plx__stability *s)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_index n = s->data->n;
    int32_t *cluster = NULL;
    PLX_TRY(plx__arena_i32(&cluster, plx__scratch(s->ctx), DRAWS * s->count * n));
    for (plx_index k = 0; k < DRAWS * s->count * n; k++) cluster[k] = -1;
    for (plx_index r = 0; r < DRAWS; r++) {
        PLX_TRY(cluster_draw(cluster + r * s->count * n, s, r));
        PLX_TRY(plx__report(s->ctx, "draws", r + 1, DRAWS, NAN));
    }
    for (plx_index t = 0; t < s->count; t++) PLX_TRY(judge(s, cluster, t));
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}
