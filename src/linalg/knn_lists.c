/*
 * Short lists of candidates: every reference whose lower bound does not exceed the k-th smallest upper bound (knn.c has the
 * bounds). Whatever the order in which references are offered, the k best by directly computed distances are among them.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "linalg/clones.h"
#include "linalg/knn_impl.h"

enum { SCAN = 32, LOOK = 8 };

void plx__knn_start_list(const plx__knn_job *job, plx__shortlist *list, plx__candidate *items, float *best)
{
    *list = (plx__shortlist){items, 0, FLT_MAX, best};
    for (plx_index t = 0; best && t < job->k; t++) best[t] = FLT_MAX;
}

/* k-th smallest upper bound (k from 1); the items are reordered (Hoare's selection). */
static float kth_high(plx__candidate *items, plx_index count, plx_index k)
{
    plx_index left = 0, right = count - 1;
    while (left < right) {
        float pivot = items[left + (right - left) / 2].high;
        plx_index i = left, j = right;
        while (i <= j) {
            while (items[i].high < pivot) i++;
            while (items[j].high > pivot) j--;
            if (i > j) break;
            plx__candidate t = items[i];
            items[i++] = items[j];
            items[j--] = t;
        }
        if (k - 1 <= j) right = j;
        else if (k - 1 >= i) left = i;
        else break;
    }
    return items[k - 1].high;
}

static int by_distance(const void *a_, const void *b_)
{
    const plx__knn_ranked *a = a_, *b = b_;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->from.index > b->from.index) - (a->from.index < b->from.index);
}

/* Lower bounds up to here may tie with an upper bound of `high`: the key rounds to 12 digits, and everything
 * below 1e-12 is one. */
static float with_slack(const plx__knn_job *job, plx_index query, float high)
{
    double slack = 1e-11;
    if (job->o->metric == PLX__EUCLID)
        slack = 4e-12 * fabs(2.0 * high + job->x_sq[query]) + 1e-23 * job->scale * job->scale;
    return (float)(high + slack);
}

static void rank_by_distance(const plx__knn_job *job, plx_index query, plx__shortlist *list, plx__knn_ranked *ranks)
{
    for (plx_index t = 0; t < list->count; t++) {
        double d = plx__point_distance(job->queries, query, job->references, list->items[t].index, job->o->metric);
        ranks[t] = (plx__knn_ranked){plx__distance_key(d), d, list->items[t]};
    }
    qsort(ranks, (size_t)list->count, sizeof *ranks, by_distance);
    list->count = plx__min(list->count, job->k);
    for (plx_index t = 0; t < list->count; t++) list->items[t] = ranks[t].from;
}

/* Make room: forget what lies beyond the limit; where ties leave too much, keep the k truly best. */
static void shorten(const plx__knn_job *job, plx_index query, plx__shortlist *list, plx__knn_ranked *ranks)
{
    if (list->count <= job->k) return;
    plx_index kept = 0;
    float limit = with_slack(job, query, kth_high(list->items, list->count, job->k));
    if (limit < list->limit) list->limit = limit;
    for (plx_index t = 0; t < list->count; t++)
        if (list->items[t].low <= list->limit) list->items[kept++] = list->items[t];
    list->count = kept;
    if (kept > job->capacity / 2) rank_by_distance(job, query, list, ranks);
}

/* The limit follows every upper bound among the k smallest, so that few candidates come in that go out again. */
static void follow(const plx__knn_job *job, plx_index query, plx__shortlist *list, float high)
{
    plx_index at = job->k - 1;
    if (!list->best || !(high < list->best[at])) return;
    for (; at > 0 && list->best[at - 1] > high; at--) list->best[at] = list->best[at - 1];
    list->best[at] = high;
    if (list->best[job->k - 1] == FLT_MAX) return;
    float limit = with_slack(job, query, list->best[job->k - 1]);
    if (limit < list->limit) list->limit = limit;
}

void plx__knn_offer(const plx__knn_job *job, plx_index query, plx__shortlist *list, plx__knn_ranked *ranks, float low,
                    plx_index index)
{
    if (!(low <= list->limit) || (job->o->self && index == query)) return;
    if (list->count == job->capacity) {
        shorten(job, query, list, ranks);
        if (!(low <= list->limit)) return;
    }
    double high = low + 2.0 * job->c * (job->x_sq[query] + job->z_sq[index]);
    list->items[list->count++] = (plx__candidate){low, (float)high, index};
    follow(job, query, list, (float)high);
}

/* First group of LOOK references, from `from` on, with a lower bound within the limit. Nearly all have none, so SCAN of
 * them are passed over at a time. */
PLX__CLONES static plx_index next_hit(const float *half, const float *dot, plx_index from, plx_index count, float limit)
{
    for (; from + SCAN <= count; from += SCAN) {
        int hits = 0;
        for (int l = 0; l < SCAN; l++) hits += half[from + l] - dot[from + l] <= limit;
        for (int g = 0; hits && g < SCAN; g += LOOK) {
            int here = 0;
            for (int l = g; l < g + LOOK; l++) here += half[from + l] - dot[from + l] <= limit;
            if (here) return from + g;
        }
    }
    for (; from + LOOK <= count; from += LOOK) {
        int here = 0;
        for (int l = 0; l < LOOK; l++) here += half[from + l] - dot[from + l] <= limit;
        if (here) return from;
    }
    return from;
}

/* References first..first+count-1 with their products. The part of the error that is due to x is the same
 * for all of them. */
void plx__knn_scan(const plx__knn_job *job, plx__knn_space *w, plx_index query, plx__shortlist *list, const float *dot,
                   plx_index first, plx_index count)
{
    const float *half = job->low_half + first;
    float own = (float)(job->c * job->x_sq[query]);
    for (plx_index j = 0; j < count; j += LOOK) {
        j = next_hit(half, dot, j, count, list->limit + own);
        for (plx_index t = j; t < plx__min(count, j + LOOK); t++)
            plx__knn_offer(job, query, list, w->ranks, half[t] - dot[t] - own, first + t);
    }
}

void plx__knn_write(const plx__knn_job *job, plx__knn_space *w, plx_index query, plx__shortlist *list)
{
    int64_t *index = job->index + query * job->o->k;
    double *distance = job->distance ? job->distance + query * job->o->k : NULL;
    bool present = !job->query_present || job->query_present[query];
    if (present) {
        shorten(job, query, list, w->ranks);
        rank_by_distance(job, query, list, w->ranks);
    }
    for (plx_index t = 0; t < job->o->k; t++) {
        bool have = present && t < list->count;
        index[t] = have ? w->ranks[t].from.index : -1;
        if (distance) distance[t] = have ? w->ranks[t].distance : NAN;
    }
}
