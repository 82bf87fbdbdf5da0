/*
 * Outer loop: rank the violations, choose a working set, solve it by optim/svm_dual.h, update f. Stops when
 * the largest violation over all samples is within the tolerance, which is the criterion of the whole
 * problem.
 */
#include "kernel/svm_chunks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1000, MOST_ROUNDS = 2000, PATIENCE = 50 };

typedef struct candidate {
    double worth;
    plx_index index;
} candidate;

typedef struct chunked {
    plx_context *ctx;
    const plx__expansion *x;
    const plx_index *sample;
    plx_index l;
    plx__points rows; /* of the samples; not for precomputed kernels */
    const double *y;
    const plx__svm_options *o;
    double *a, *f, *e;
    double *weights; /* of a linear kernel */
    candidate *rank;
    uint8_t *chosen;
    plx_index *set, size;
} chunked;

static bool may_grow(const chunked *s, plx_index i) { return s->y[i] > 0 ? s->a[i] < s->o->cost : s->a[i] > 0; }
static bool may_shrink(const chunked *s, plx_index i) { return s->y[i] > 0 ? s->a[i] > 0 : s->a[i] < s->o->cost; }

/* ---- the working set ---- */

static int worth_first(const void *p, const void *q)
{
    const candidate *a = p, *b = q;
    if (a->worth != b->worth) return a->worth > b->worth ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The best of the ranked candidates not chosen yet, until the set has `until` members. */
static void take(chunked *s, plx_index count, plx_index until)
{
    qsort(s->rank, (size_t)count, sizeof *s->rank, worth_first);
    for (plx_index i = 0; i < count && s->size < until; i++) {
        if (s->chosen[s->rank[i].index]) continue;
        s->chosen[s->rank[i].index] = 1;
        s->set[s->size++] = s->rank[i].index;
    }
}

static int ascending(const void *p, const void *q)
{
    plx_index a = *(const plx_index *)p, b = *(const plx_index *)q;
    return (a > b) - (a < b);
}

/* A quarter of the worst on either side of b, then free samples, those farthest from b first. */
static void choose_set(chunked *s, double b)
{
    plx_index quarter = plx__max(1, plx__min(CHUNK, s->l) / 4);
    s->size = 0;
    memset(s->chosen, 0, (size_t)s->l);
    for (int side = 0; side < 2; side++) {
        plx_index count = 0;
        for (plx_index i = 0; i < s->l; i++) {
            double worth = side ? b - s->e[i] : s->e[i] - b;
            if (worth > 0 && (side ? may_shrink(s, i) : may_grow(s, i))) s->rank[count++] = (candidate){worth, i};
        }
        take(s, count, (side + 1) * quarter);
    }
    plx_index count = 0;
    for (plx_index i = 0; i < s->l; i++)
        if (s->a[i] > 0 && s->a[i] < s->o->cost) s->rank[count++] = (candidate){fabs(s->e[i] - b), i};
    take(s, count, CHUNK);
    qsort(s->set, (size_t)s->size, sizeof *s->set, ascending);
}

/* ---- solving it ---- */

/* f of every sample for a change of u = a y in the set. */
static plx_status update_values(chunked *s, plx__points own, plx_cmat change)
{
    enum { BLOCK = 2048 };
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    if (s->weights) {
        plx_index d = plx__points_cols(s->rows);
        plx_mat w;
        PLX_TRY(plx__arena_mat(&w, plx__scratch(s->ctx), d, 1));
        PLX_TRY(plx__points_times_t(s->ctx, own, change, w));
        plx__axpy(s->weights, 1.0, w.data, d);
        PLX_TRY(plx__points_times(s->ctx, s->rows, plx__cmat_of(s->weights, d, 1), plx__mat_of(s->f, s->l, 1)));
    } else if (s->x->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) {
        for (plx_index i = 0; i < s->l; i++) {
            const double *row = s->x->rows.dense.data + s->sample[i] * s->x->rows.dense.ld;
            for (plx_index j = 0; j < s->size; j++) s->f[i] += row[s->sample[s->set[j]]] * change.data[j];
        }
    } else {
        for (plx_index at = 0; at < s->l; at += BLOCK) {
            plx__mark block = plx__arena_mark(plx__scratch(s->ctx));
            plx_index end = plx__min(s->l, at + BLOCK);
            plx_mat k;
            PLX_TRY(plx__arena_mat(&k, plx__scratch(s->ctx), end - at, s->size));
            PLX_TRY(plx__expansion_between(s->ctx, s->x, plx__points_range(s->rows, at, end), own, k));
            PLX_TRY(plx__gemv(s->ctx, 1.0, plx__cmat(k), PLX__N, change.data, 1.0, s->f + at));
            plx__arena_rewind(plx__scratch(s->ctx), block);
        }
    }
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

static plx_status solve_set(chunked *s, double tol)
{
    plx_index q = s->size, *at = NULL;
    double *y = NULL, *a = NULL, *outside = NULL, *inside = NULL;
    plx_mat k, change;
    plx__points own = {0};
    plx__svm_result result;
    plx__svm_options o = *s->o;
    plx__arena *scratch = plx__scratch(s->ctx);
    PLX_TRY(plx__arena_i64(&at, scratch, q));
    double **const vectors[] = {&y, &a, &outside, &inside};
    for (int i = 0; i < 4; i++) PLX_TRY(plx__arena_f64(vectors[i], scratch, q, 1));
    PLX_TRY(plx__arena_mat(&k, scratch, q, q));
    PLX_TRY(plx__arena_mat(&change, scratch, q, 1));
    for (plx_index i = 0; i < q; i++) {
        at[i] = s->sample[s->set[i]];
        y[i] = s->y[s->set[i]];
        a[i] = s->a[s->set[i]];
        change.data[i] = y[i] * a[i];
    }
    PLX_TRY(plx__expansion_gram(s->ctx, s->x, at, q, k));
    PLX_TRY(plx__gemv(s->ctx, 1.0, plx__cmat(k), PLX__N, change.data, 0.0, inside));
    for (plx_index i = 0; i < q; i++) outside[i] = s->f[s->set[i]] - inside[i];
    o.outside = outside;
    o.tol = tol;
    o.gap = 0;
    PLX_TRY(plx__svm_dual(s->ctx, plx__cmat(k), y, &o, a, &result));
    for (plx_index i = 0; i < q; i++) {
        change.data[i] = y[i] * a[i] - change.data[i];
        s->a[s->set[i]] = a[i];
    }
    if (s->x->data.kernel.kind != PLX__KERNEL_PRECOMPUTED)
        PLX_TRY(plx__points_select(&own, s->ctx, s->rows, s->set, q));
    return update_values(s, own, plx__cmat(change));
}

/* ---- rounds ---- */

static plx_status open_chunks(chunked *s)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    PLX_TRY(plx__arena_f64(&s->f, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->e, scratch, s->l, 1));
    PLX_TRY(PLX__ARENA_NEW(&s->rank, scratch, s->l));
    PLX_TRY(plx__arena_u8(&s->chosen, scratch, s->l));
    PLX_TRY(plx__arena_i64(&s->set, scratch, plx__min(CHUNK, s->l)));
    memset(s->a, 0, (size_t)s->l * sizeof *s->a);
    if (s->x->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) return PLX_OK;
    PLX_TRY(plx__expansion_rows(&s->rows, s->ctx, s->x, s->sample, s->l));
    if (s->x->linear) PLX_TRY(plx__arena_f64(&s->weights, scratch, plx__points_cols(s->rows), 1));
    return PLX_OK;
}

/* One working set holds everything. */
static plx_status solve_whole(plx_context *ctx, const plx__expansion *x, const plx_index *sample, plx_index l,
                              const double *y, const plx__svm_options *options, double *a, plx__svm_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat k;
    PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), l, l));
    PLX_TRY(plx__expansion_gram(ctx, x, sample, l, k));
    PLX_TRY(plx__svm_dual(ctx, plx__cmat(k), y, options, a, result));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__svm_chunks(plx_context *ctx, const plx__expansion *x, const plx_index *sample, plx_index l,
                           const double *y, const plx__svm_options *options, double *a, plx__svm_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    chunked s = {.ctx = ctx, .x = x, .sample = sample, .l = l, .y = y, .o = options, .a = a};
    double tol = options->tol > 0 ? options->tol : 1e-8, least = INFINITY;
    plx_index better = 0; /* the round of the smallest violation so far */
    *result = (plx__svm_result){0};
    if (l <= CHUNK) return solve_whole(ctx, x, sample, l, y, options, a, result);
    PLX_TRY(open_chunks(&s));
    for (plx_index round = 0; round <= MOST_ROUNDS; round++) {
        plx__mark inner = plx__arena_mark(plx__scratch(ctx));
        for (plx_index i = 0; i < l; i++) s.e[i] = y[i] - s.f[i];
        plx__svm_values(result, y, a, s.e, l, options);
        result->converged = result->violation <= tol;
        result->iterations = round;
        bool more = plx__svm_tighten(result, options, &tol);
        if (result->violation < least) least = result->violation, better = round;
        if (result->converged || round - better > PATIENCE || !more || plx__out_of_time(ctx)) break;
        PLX_TRY(plx__report(ctx, "working sets", round, MOST_ROUNDS, result->violation));
        choose_set(&s, result->bias);
        PLX_TRY(solve_set(&s, fmax(0.1 * tol, fmin(1e-3, 0.01 * result->violation))));
        plx__arena_rewind(plx__scratch(ctx), inner);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__svm_chunks_bytes(double l, double cols)
{
    return 8.0 * (8 * l + 3.0 * CHUNK * CHUNK + 2048.0 * CHUNK + 3 * cols);
}
