/*
 * Insertion into a short sorted list per query: k is small, and the scan over the row of the Gram matrix
 * dominates.
 */
#include "graph/gram_knn.h"

#include <math.h>

#include "core/parallel.h"

typedef struct search {
    const plx__gram *g;
    const plx__knn_options *o;
    int64_t *index;
    double *key; /* queries x k: what the neighbours found so far are compared by */
} search;

static double distance(const search *s, plx_index i, plx_index j)
{
    double x = s->g->query_own[i], z = s->g->own[j], between = s->g->between.data[i * s->g->between.ld + j];
    if (s->o->metric == PLX__EUCLID) return sqrt(fmax(0.0, x + z - 2.0 * between));
    return x > 0 && z > 0 ? fmax(0.0, 1.0 - between / sqrt(x * z)) : 1.0;
}

/* Inserts j behind all that are at least as near: ties go to the smaller index. Returns the new count. */
static plx_index insert(int64_t *index, double *key, plx_index count, plx_index k, plx_index j, double value)
{
    if (count == k && !(value < key[k - 1])) return count;
    plx_index at = count < k ? count++ : k - 1;
    for (; at > 0 && key[at - 1] > value; at--) {
        key[at] = key[at - 1];
        index[at] = index[at - 1];
    }
    key[at] = value;
    index[at] = j;
    return count;
}

static plx_status search_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const search *s = arg;
    const plx__knn_options *o = s->o;
    const uint8_t *here = o->self ? o->present : o->query_present;
    (void)worker;
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = begin; i < end; i++) {
        plx_index count = 0;
        for (plx_index j = 0; j < s->g->between.cols && (!here || here[i]); j++) {
            if ((o->self && i == j) || (o->present && !o->present[j])) continue;
            count =
                insert(s->index + i * o->k, s->key + i * o->k, count, o->k, j, plx__distance_key(distance(s, i, j)));
        }
        for (; count < o->k; count++) s->index[i * o->k + count] = -1;
    }
    return PLX_OK;
}

plx_status plx__gram_knn(plx_context *ctx, const plx__gram *g, const plx__knn_options *options, int64_t *index)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    search s = {g, options, index, NULL};
    PLX_TRY(plx__arena_f64(&s.key, plx__scratch(ctx), g->between.rows, options->k));
    PLX_TRY(plx__parallel_for(ctx, g->between.rows, 16, search_rows, &s));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
