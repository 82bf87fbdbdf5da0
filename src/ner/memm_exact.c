/*
 * Exact decoding and forward marginals: dynamic programming over the last `depth` tags.
 *
 * A state is written oldest tag first; the newest stands along a row. A step drops the oldest: the row of the tags that
 * stay (the tail) is the best, or the sum, over what may have stood before them. Probabilities are products of factors
 * that were made once: e(c) of the position and the tag before, of the model's own history (the index), and of the few
 * pairs of tags that the position has features for.
 */
#include <math.h>
#include <string.h>

#include "linalg/clones.h"
#include "ner/memm_tag.h"

typedef double v4 __attribute__((vector_size(32), aligned(8)));
typedef int64_t m4 __attribute__((vector_size(32), aligned(8)));

/* Below this a sum of products may have lost everything; logarithms decide then. */
static const double LOST = 1e-200;

typedef struct dp {
    const plx__memm_index *x;
    plx_index T, S, Q; /* tags, stride, symbols */
    int depth;
    double *e1;        /* Q x S */
    double *pair;      /* rows of factors */
    int32_t *pair_row; /* Q x Q: row of `pair`, -1: none */
    int32_t *pair_code;
    plx_index n_pairs;
    double *best, *best_next, *sum, *sum_next; /* tails x S */
    plx_index tails;
    uint16_t *back; /* n x tails x S */
    double *q;      /* S */
    bool decode, marginals;
} dp;

/* ---- scores in logarithms ---- */

static void add_weights(double *to, const plx__memm_index *x, plx_index feature)
{
    const double *w = x->m->weight + feature * x->stride;
    for (plx_index t = 0; t < x->n_tags; t++) to[t] += w[t];
}

static void add_history(double *to, const plx__memm_index *x, const int32_t *symbol)
{
    int32_t oldest_first[PLX__NER_HISTORY];
    for (int d = 1; d <= x->depth; d++) {
        for (int k = 0; k < d; k++) oldest_first[k] = symbol[d - 1 - k];
        plx_index feature = plx__memm_history(x, oldest_first, d);
        if (feature >= 0) add_weights(to, x, feature);
    }
}

void plx__memm_follow(const plx__memm_index *x, const plx__memm_local *local, const int32_t *symbol, double *q)
{
    double top = -INFINITY;
    memcpy(q, local->u, (size_t)x->stride * sizeof *q);
    add_history(q, x, symbol);
    for (int kind = 0; kind < PLX__NER_RESTS; kind++) {
        plx_index code = plx__rest_tags[kind] == 1 ? symbol[0] : symbol[1] * x->symbols + symbol[0];
        for (plx_index k = 0; k < local->n_entries[kind]; k++)
            if (local->entry[kind][k].code == code) add_weights(q, x, local->entry[kind][k].feature);
    }
    if (local->bracket && x->bracket[symbol[local->bracket - 1]] >= 0)
        add_weights(q, x, x->bracket[symbol[local->bracket - 1]]);
    for (plx_index t = 0; t < x->n_tags; t++) top = fmax(top, q[t]);
    for (plx_index t = 0; t < x->n_tags; t++) q[t] = exp(q[t] - top);
    for (plx_index t = x->n_tags; t < x->stride; t++) q[t] = 0;
}

/* ---- factors of a position ---- */

static void exp_row(double *row, plx_index T)
{
    double top = row[0];
    for (plx_index t = 1; t < T; t++)
        if (row[t] > top) top = row[t];
    for (plx_index t = 0; t < T; t++) row[t] = exp(row[t] - top);
}

/* Symbols that may stand d before position i. */
static plx_index first_symbol(const dp *d, plx_index i, int before) { return i >= before ? 0 : d->T; }
static plx_index end_symbol(const dp *d, plx_index i, int before) { return i >= before ? d->T : d->T + 1; }

static void make_e1(dp *d, const plx__memm_local *local, plx_index i)
{
    plx_index first = first_symbol(d, i, 1), end = end_symbol(d, i, 1);
    for (plx_index c = first; c < end; c++) memcpy(d->e1 + c * d->S, local->u, (size_t)d->S * sizeof *d->e1);
    for (int kind = 0; kind < PLX__NER_RESTS; kind++) {
        if (plx__rest_tags[kind] != 1) continue;
        for (plx_index k = 0; k < local->n_entries[kind]; k++) {
            plx__memm_entry e = local->entry[kind][k];
            if (e.code >= first && e.code < end) add_weights(d->e1 + e.code * d->S, d->x, e.feature);
        }
    }
    for (plx_index c = first; c < end; c++) exp_row(d->e1 + c * d->S, d->T);
}

static void make_pairs(dp *d, const plx__memm_local *local)
{
    for (plx_index k = 0; k < d->n_pairs; k++) d->pair_row[d->pair_code[k]] = -1;
    d->n_pairs = 0;
    for (int kind = 0; kind < PLX__NER_RESTS; kind++) {
        if (plx__rest_tags[kind] != 2) continue;
        for (plx_index k = 0; k < local->n_entries[kind]; k++) {
            plx__memm_entry e = local->entry[kind][k];
            if (d->pair_row[e.code] < 0) {
                d->pair_code[d->n_pairs] = e.code;
                d->pair_row[e.code] = (int32_t)d->n_pairs;
                memset(d->pair + d->n_pairs++ * d->S, 0, (size_t)d->S * sizeof *d->pair);
            }
            add_weights(d->pair + d->pair_row[e.code] * d->S, d->x, e.feature);
        }
    }
    for (plx_index k = 0; k < d->n_pairs; k++) exp_row(d->pair + k * d->S, d->T);
}

/* ---- a step ---- */

typedef struct step {
    const plx__memm_local *local;
    plx_index i;
    plx_index a, b, c;        /* the state before, oldest first; those beyond the depth are not looked at */
    const double *best, *sum; /* of the state before */
    plx_index code;           /* its place in index->constant */
} step;

/* The state before: its place among states and in the table of constants. */
static void place(step *s, const dp *d)
{
    plx_index row = d->depth == 3 ? s->a * d->Q + s->b : d->depth == 2 ? s->b : 0;
    static const double one = 1.0;
    s->code = row * d->Q + s->c;
    s->best = s->i == 0 ? &one : d->best + row * d->S + s->c;
    s->sum = s->i == 0 ? &one : d->sum + row * d->S + s->c;
}

static double total(const double *q, plx_index T)
{
    double sum = 0;
    for (plx_index t = 0; t < T; t++) sum += q[t];
    return sum;
}

/* q: products of the factors, normalised by the caller; returns 1 / sum. */
static inline __attribute__((always_inline)) double follow(dp *d, const step *s)
{
    const v4 *e = (const v4 *)(d->e1 + s->c * d->S), *k = (const v4 *)(d->x->constant + s->code * d->S);
    v4 *q = (v4 *)d->q;
    plx_index V = d->S / 4;
    int32_t row = d->depth >= 2 ? d->pair_row[s->b * d->Q + s->c] : -1;
    for (plx_index v = 0; v < V; v++) q[v] = e[v] * k[v];
    if (row >= 0)
        for (plx_index v = 0; v < V; v++) q[v] *= ((const v4 *)(d->pair + row * d->S))[v];
    double sum = total(d->q, d->T);
    if (sum < LOST || s->local->bracket) {
        const int32_t symbol[] = {(int32_t)s->c, (int32_t)s->b, (int32_t)s->a};
        plx__memm_follow(d->x, s->local, symbol, d->q);
        sum = total(d->q, d->T);
    }
    return 1 / sum;
}

/* The row of a tail: over all that may have been oldest. */
PLX__CLONES static void fill_row(dp *d, step s, plx_index tail)
{
    double *best = d->best_next + tail * d->S, *sum = d->sum_next + tail * d->S;
    m4 back[16] = {{0}}; /* up to 64 tags in registers' width; more: below */
    plx_index V = d->S / 4, first = first_symbol(d, s.i, d->depth), end = end_symbol(d, s.i, d->depth);
    uint16_t *kept = d->decode ? d->back + (s.i * d->tails + tail) * d->S : NULL;
    if (kept) memset(kept, 0, (size_t)d->S * sizeof *kept);
    plx_index *oldest = d->depth == 3 ? &s.a : d->depth == 2 ? &s.b : &s.c;
    for (plx_index o = first; o < end; o++) {
        *oldest = o;
        place(&s, d);
        if (*s.best == 0 && *s.sum == 0) continue;
        double scale = follow(d, &s), with_best = *s.best * scale, with_sum = *s.sum * scale;
        const v4 *q = (const v4 *)d->q;
        if (d->marginals)
            for (plx_index v = 0; v < V; v++) ((v4 *)sum)[v] += q[v] * with_sum;
        if (!d->decode) continue;
        if (V <= 16) {
            for (plx_index v = 0; v < V; v++) {
                v4 score = q[v] * with_best, old = ((v4 *)best)[v];
                m4 better = score > old;
                ((v4 *)best)[v] = (v4)((better & (m4)score) | (~better & (m4)old));
                back[v] = (better & o) | (~better & back[v]);
            }
            continue;
        }
        for (plx_index t = 0; t < d->T; t++)
            if (d->q[t] * with_best > best[t]) {
                best[t] = d->q[t] * with_best;
                kept[t] = (uint16_t)o;
            }
    }
    if (d->decode && V <= 16)
        for (plx_index t = 0; t < d->S; t++) kept[t] = (uint16_t)back[t / 4][t % 4];
}

/* The same for the usual case, three tags back and up to 16 tags: what does not depend on the oldest tag is read once,
 * and a row stays in registers. False: a sum was lost; the general way has to do it. */
static inline __attribute__((always_inline)) bool quick_row(dp *d, const step *s, plx_index tail, int V)
{
    v4 e[4], best[4] = {{0}}, sum[4] = {{0}};
    m4 back[4] = {{0}};
    plx_index from = s->b * d->S + s->c, hop = d->Q * d->S, first = first_symbol(d, s->i, 3);
    const double *k = d->x->constant + (first * d->Q * d->Q + s->b * d->Q + s->c) * d->S;
    int32_t row = d->pair_row[s->b * d->Q + s->c];
    for (int v = 0; v < V; v++) {
        e[v] = ((const v4 *)(d->e1 + s->c * d->S))[v];
        if (row >= 0) e[v] *= ((const v4 *)(d->pair + row * d->S))[v];
    }
    for (plx_index o = first; o < end_symbol(d, s->i, 3); o++, k += d->Q * hop) {
        v4 q[4], all = {0};
        double old_best = s->i == 0 ? 1 : d->best[o * hop + from], old_sum = s->i == 0 ? 1 : d->sum[o * hop + from];
        for (int v = 0; v < V; v++) all += q[v] = e[v] * ((const v4 *)k)[v];
        double sum_q = (all[0] + all[1]) + (all[2] + all[3]);
        if (sum_q < LOST) return false;
        double scale = 1 / sum_q, with_best = old_best * scale, with_sum = old_sum * scale;
        for (int v = 0; v < V; v++) {
            v4 score = q[v] * with_best;
            m4 better = score > best[v];
            best[v] = (v4)((better & (m4)score) | (~better & (m4)best[v]));
            back[v] = (better & o) | (~better & back[v]);
            sum[v] += q[v] * with_sum;
        }
    }
    for (int v = 0; v < V; v++) {
        ((v4 *)(d->best_next + tail * d->S))[v] = best[v];
        ((v4 *)(d->sum_next + tail * d->S))[v] = sum[v];
        for (int t = 0; d->decode && t < 4; t++)
            d->back[(s->i * d->tails + tail) * d->S + 4 * v + t] = (uint16_t)back[v][t];
    }
    return true;
}

PLX__CLONES static bool quick(dp *d, const step *s, plx_index tail)
{
    switch (d->S) {
    case 4: return quick_row(d, s, tail, 1);
    case 8: return quick_row(d, s, tail, 2);
    case 12: return quick_row(d, s, tail, 3);
    case 16: return quick_row(d, s, tail, 4);
    default: return false;
    }
}

static void fill_rows(dp *d, const plx__memm_local *local, plx_index i)
{
    step s = {.local = local, .i = i, .a = d->T, .b = d->T, .c = d->T};
    if (d->depth == 1) {
        fill_row(d, s, 0);
        return;
    }
    for (s.c = first_symbol(d, i, 1); s.c < end_symbol(d, i, 1); s.c++) {
        if (d->depth == 2) fill_row(d, s, s.c);
        else
            for (s.b = first_symbol(d, i, 2); s.b < end_symbol(d, i, 2); s.b++)
                if (local->bracket || !quick(d, &s, s.b * d->Q + s.c)) fill_row(d, s, s.b * d->Q + s.c);
    }
}

/* Products of probabilities would fade away over a long sentence. */
static void rescale(double *best, plx_index n)
{
    double top = 0;
    for (plx_index k = 0; k < n; k++)
        if (best[k] > top) top = best[k];
    if (!(top > 0)) return;
    double scale = 1 / top;
    for (plx_index k = 0; k < n; k++) best[k] *= scale;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

static void one_step(dp *d, const plx__memm_local *local, plx_index i, double *probs)
{
    plx_index cells = d->tails * d->S;
    memset(d->best_next, 0, (size_t)cells * sizeof(double));
    memset(d->sum_next, 0, (size_t)cells * sizeof(double));
    make_e1(d, local, i);
    make_pairs(d, local);
    fill_rows(d, local, i);
    if (d->decode) rescale(d->best_next, cells);
    swap(&d->best, &d->best_next);
    swap(&d->sum, &d->sum_next);
    for (plx_index t = 0; probs && t < d->T; t++) {
        probs[t] = 0;
        for (plx_index tail = 0; tail < d->tails; tail++) probs[t] += d->sum[tail * d->S + t];
    }
}

/* ---- all ---- */

static void trace_back(const dp *d, plx_index n, int32_t *tags)
{
    plx_index top = 0, cells = d->tails * d->S;
    for (plx_index k = 1; k < cells; k++)
        if (d->best[k] > d->best[top]) top = k;
    plx_index tail = top / d->S, t = top % d->S;
    for (plx_index i = n - 1; i >= 0; i--) {
        plx_index oldest = d->back[(i * d->tails + tail) * d->S + t];
        tags[i] = (int32_t)t;
        if (d->depth == 1) t = oldest;
        else if (d->depth == 2) {
            t = tail;
            tail = oldest;
        } else {
            plx_index b = tail / d->Q;
            t = tail % d->Q;
            tail = oldest * d->Q + b;
        }
    }
}

static plx_status open_dp(dp *d, plx__arena *arena, plx_index n)
{
    plx_index cells = d->tails * d->S, pairs = d->depth >= 2 ? d->Q * d->Q : 1;
    PLX_TRY(plx__arena_f64(&d->e1, arena, d->Q, d->S));
    PLX_TRY(plx__arena_f64(&d->pair, arena, pairs, d->S));
    PLX_TRY(plx__arena_i32(&d->pair_row, arena, pairs));
    PLX_TRY(plx__arena_i32(&d->pair_code, arena, pairs));
    PLX_TRY(plx__arena_f64(&d->best, arena, cells, 1));
    PLX_TRY(plx__arena_f64(&d->best_next, arena, cells, 1));
    PLX_TRY(plx__arena_f64(&d->sum, arena, cells, 1));
    PLX_TRY(plx__arena_f64(&d->sum_next, arena, cells, 1));
    PLX_TRY(plx__arena_f64(&d->q, arena, 1, d->S));
    for (plx_index k = 0; k < pairs; k++) d->pair_row[k] = -1;
    return d->decode ? plx__arena_bytes((void **)&d->back, arena, n * cells, sizeof *d->back) : PLX_OK;
}

/* Without history every token stands alone. */
static void alone(const plx__memm_index *x, const plx__memm_local *local, int32_t *tag, double *probs)
{
    double *u = local->u, sum = 0;
    plx_index top = 0;
    for (plx_index t = 1; t < x->n_tags; t++)
        if (u[t] > u[top]) top = t;
    if (tag) *tag = (int32_t)top;
    if (!probs) return;
    exp_row(u, x->n_tags);
    sum = total(u, x->n_tags);
    for (plx_index t = 0; t < x->n_tags; t++) probs[t] = u[t] / sum;
}

plx_status plx__memm_exact(const plx__memm_index *x, plx__arena *arena, const plx__memm_local *local, plx_index n,
                           int32_t *tags, double *probs)
{
    dp d = {.x = x, .T = x->n_tags, .S = x->stride, .Q = x->symbols, .depth = x->depth};
    d.tails = d.depth == 3 ? d.Q * d.Q : d.depth == 2 ? d.Q : 1;
    d.decode = tags != NULL;
    d.marginals = probs != NULL;
    if (d.depth > 0) PLX_TRY(open_dp(&d, arena, n));
    for (plx_index i = 0; i < n; i++) {
        double *row = probs ? probs + i * d.T : NULL;
        if (d.depth == 0) alone(x, &local[i], tags ? &tags[i] : NULL, row);
        else one_step(&d, &local[i], i, row);
    }
    if (tags && d.depth > 0 && n > 0) trace_back(&d, n, tags);
    return PLX_OK;
}
