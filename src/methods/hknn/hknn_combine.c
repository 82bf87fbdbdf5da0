/*
 * From the vector of member predictions of a sample to its class.
 *
 * crv: the true classes of the training samples whose (leave-one-out) vectors are nearest in Hamming distance, relative
 * to the positions where both have a prediction. vote: the class most members predict. Ties go to the class the
 * earliest member predicts among the tied, then to the smallest.
 */
#include <string.h>

#include "core/parallel.h"
#include "methods/hknn/hknn.h"

enum { VECTOR_GRAIN = 64 };

static int32_t most_frequent(const int32_t *count, plx_index classes, const int32_t *vector, plx_index members)
{
    int32_t best = 0;
    for (plx_index c = 1; c < classes; c++)
        if (count[c] > count[best]) best = (int32_t)c;
    for (plx_index t = 0; t < members; t++)
        if (vector[t] >= 0 && count[vector[t]] == count[best]) return vector[t];
    return best;
}

/* Positions where both have a prediction, and how many of them differ. */
static void compare_vectors(int32_t *differ, int32_t *both, const int32_t *a, const int32_t *b, plx_index members)
{
    *differ = *both = 0;
    for (plx_index t = 0; t < members; t++) {
        bool common = a[t] >= 0 && b[t] >= 0;
        *both += common;
        *differ += common && a[t] != b[t];
    }
}

/* Counts the classes of the nearest training vectors; without any common position all are equally far. */
static void count_nearest(int32_t *count, const hknn_combiner *c, const int32_t *vector, plx_index own)
{
    int64_t best_differ = 1, best_both = 0; /* infinite */
    for (plx_index u = 0; u < c->l; u++) {
        int32_t differ, both;
        if (u == own) continue;
        compare_vectors(&differ, &both, vector, c->vectors + u * c->stride, c->members);
        if (both == 0) differ = 1;
        int64_t nearer = differ * best_both - best_differ * both; /* sign of differ/both - best */
        if (both == 0 && best_both == 0) nearer = 0;
        if (nearer > 0) continue;
        if (nearer < 0) {
            memset(count, 0, (size_t)c->classes * sizeof *count);
            best_differ = differ, best_both = both;
        }
        count[c->truth[u]]++;
    }
}

int32_t plx__hknn_combine(double *share, const hknn_combiner *c, const int32_t *vector, plx_index own, int32_t *count)
{
    plx_index predicting = 0, total = 0;
    memset(count, 0, (size_t)c->classes * sizeof *count);
    for (plx_index t = 0; t < c->members; t++) {
        if (vector[t] < 0) continue;
        predicting++;
        if (c->vote) count[vector[t]]++;
    }
    if (!predicting) return -1;
    if (!c->vote) count_nearest(count, c, vector, own);
    for (plx_index k = 0; k < c->classes; k++) total += count[k];
    for (plx_index k = 0; k < c->classes; k++) share[k] = total ? (double)count[k] / (double)total : 0.0;
    return total ? most_frequent(count, c->classes, vector, c->members) : -1;
}

/* ---- error of an ensemble ---- */

typedef struct error_job {
    const hknn_combiner *c;
    const int32_t *vectors, *truth;
    plx_index stride;
    bool own;
    int32_t *count; /* workers x classes */
    double *share;  /* likewise */
    uint8_t *wrong;
} error_job;

static plx_status judge(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const error_job *job = arg;
    plx_index k = job->c->classes;
    for (plx_index i = begin; i < end; i++) {
        int32_t guess = plx__hknn_combine(job->share + worker * k, job->c, job->vectors + i * job->stride,
                                          job->own ? i : -1, job->count + worker * k);
        job->wrong[i] = (guess < 0 ? job->c->majority : guess) != job->truth[i];
    }
    return plx__poll(ctx);
}

plx_status plx__hknn_error(double *out, plx_context *ctx, const hknn_combiner *c, const int32_t *vectors,
                           plx_index stride, const int32_t *truth, plx_index n, bool own)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index workers = plx__workers(ctx), wrong = 0;
    error_job job = {.c = c, .vectors = vectors, .truth = truth, .stride = stride, .own = own};
    PLX_TRY(plx__arena_i32(&job.count, scratch, workers * c->classes));
    PLX_TRY(plx__arena_f64(&job.share, scratch, workers, c->classes));
    PLX_TRY(plx__arena_u8(&job.wrong, scratch, n));
    PLX_TRY(plx__parallel_for(ctx, n, VECTOR_GRAIN, judge, &job));
    for (plx_index i = 0; i < n; i++) wrong += job.wrong[i];
    *out = n ? (double)wrong / (double)n : 0.0;
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}
