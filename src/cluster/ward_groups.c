/*
 * Sums over sparse groups touch the union of their columns only; the cost of comparing one group with all
 * others is that of its own entries once it is spread over a dense row.
 */
#include "cluster/ward_groups.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

static plx_index row_of(const plx_index *sample, plx_index i) { return sample ? sample[i] : i; }

/* ---- opening ---- */

static plx_status open_dense(plx__ward_means *m, plx__arena *arena, plx_cmat rows, const plx_index *sample, plx_index n)
{
    m->ld = (rows.cols + PLX__BREGMAN_PAD - 1) / PLX__BREGMAN_PAD * PLX__BREGMAN_PAD;
    PLX_TRY(plx__arena_f64(&m->mean, arena, n, m->ld));
    for (plx_index i = 0; i < n; i++) {
        double *to = m->mean + i * m->ld;
        if (rows.cols) memcpy(to, rows.data + row_of(sample, i) * rows.ld, (size_t)rows.cols * sizeof *to);
        if (m->kind == PLX__BREGMAN_IS)
            for (plx_index j = rows.cols; j < m->ld; j++) to[j] = 1.0;
    }
    return PLX_OK;
}

static plx_status open_sparse(plx__ward_means *m, plx__arena *arena, plx_ccsr rows, const plx_index *sample,
                              plx_index n)
{
    int64_t stored = 0;
    for (plx_index i = 0; i < n; i++) stored += rows.ptr[row_of(sample, i) + 1] - rows.ptr[row_of(sample, i)];
    m->room = 2 * stored;
    PLX_TRY(plx__arena_i32(&m->col, arena, m->room));
    PLX_TRY(plx__arena_f64(&m->val, arena, 1, m->room));
    PLX_TRY(plx__arena_i64(&m->start, arena, n));
    PLX_TRY(plx__arena_i64(&m->len, arena, n));
    PLX_TRY(plx__arena_i32(&m->next, arena, n));
    PLX_TRY(plx__arena_i32(&m->before, arena, n));
    PLX_TRY(plx__arena_f64(&m->row, arena, 1, rows.cols));
    for (plx_index i = 0; i < n; i++) {
        int64_t from = rows.ptr[row_of(sample, i)], len = rows.ptr[row_of(sample, i) + 1] - from;
        m->start[i] = m->used, m->len[i] = len;
        m->next[i] = (int32_t)(i + 1 < n ? i + 1 : -1), m->before[i] = (int32_t)(i - 1);
        memcpy(m->col + m->used, rows.col + from, (size_t)len * sizeof *m->col);
        memcpy(m->val + m->used, rows.val + from, (size_t)len * sizeof *m->val);
        m->used += len;
    }
    m->tail = (int32_t)(n - 1);
    return PLX_OK;
}

plx_status plx__ward_open(plx__ward_groups *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                          const plx_index *sample, plx_index n)
{
    plx__arena *scratch = plx__scratch(ctx);
    *out = (plx__ward_groups){ctx, n, count, NULL, NULL};
    PLX_TRY(plx__arena_f64(&out->size, scratch, n, 1));
    PLX_TRY(PLX__ARENA_NEW(&out->part, scratch, count));
    for (plx_index i = 0; i < n; i++) out->size[i] = 1.0;
    for (plx_index p = 0; p < count; p++) {
        plx__ward_means *m = &out->part[p];
        plx__points rows = parts[p].rows;
        m->kind = parts[p].kind, m->weight = parts[p].weight;
        m->sparse = plx__points_sparse(rows);
        m->cols = plx__points_cols(rows);
        if (m->sparse) PLX_TRY(open_sparse(m, scratch, rows.csr, sample, n));
        else PLX_TRY(open_dense(m, scratch, rows.dense, sample, n));
    }
    return PLX_OK;
}

/* ---- costs ---- */

/* What a column costs that only the group of s rows has, mean x there; the other group has t rows. */
static double alone(plx__bregman kind, double x, double s, double t)
{
    return kind == PLX__BREGMAN_EUCLID ? s * t / (s + t) * x * x : s * x * log1p(t / s);
}

/* Two sorted lists side by side. */
static double sparse_pair(const plx__ward_means *m, const double *size, plx_index i, plx_index j)
{
    int64_t a = m->start[i], a1 = a + m->len[i], b = m->start[j], b1 = b + m->len[j];
    double s = size[i], t = size[j], cost = 0;
    while (a < a1 || b < b1) {
        if (b == b1 || (a < a1 && m->col[a] < m->col[b])) cost += alone(m->kind, m->val[a++], s, t);
        else if (a == a1 || m->col[b] < m->col[a]) cost += alone(m->kind, m->val[b++], t, s);
        else cost += plx__bregman_merge_term(m->kind, m->val[a++], s, m->val[b++], t);
    }
    return cost;
}

enum { PACK = 256 }; /* entries whose common columns are priced together */

typedef struct packed {
    double x[PACK + 1], y[PACK + 1];
    plx_index count;
} packed;

/* Cost of the columns packed so far; filled up with equal values, which cost nothing. */
static double packed_cost(packed *c, plx__bregman kind, double s, double t)
{
    plx_index d = (c->count + PLX__BREGMAN_PAD - 1) / PLX__BREGMAN_PAD * PLX__BREGMAN_PAD;
    for (plx_index k = c->count; k < d; k++) c->x[k] = c->y[k] = 1.0;
    c->count = 0;
    return d ? plx__bregman_merge(kind, c->x, s, c->y, t, d) : 0.0;
}

/* Entries begin..end-1 of the other group, PACK at most: common columns are packed, without branches since it cannot be
 * foretold which they are. Sums of the values that the other has alone and of those of the spread group that are shared;
 * under Euclid, of their squares. */
static void pack(packed *c, const plx__ward_means *m, int64_t begin, int64_t end, double *other, double *common)
{
    bool squares = m->kind == PLX__BREGMAN_EUCLID;
    for (int64_t p = begin; p < end; p++) {
        double x = m->row[m->col[p]], y = m->val[p];
        c->x[c->count] = x, c->y[c->count] = y;
        c->count += x != 0;
        *common += squares ? x * x : x;
        *other += x != 0 ? 0.0 : squares ? y * y : y;
    }
}

/* The same with group i spread over all columns in m->row: time goes with the entries of j alone, and logarithms are
 * taken of common columns only. What i has alone is the difference of two sums; where these nearly agree, both lists
 * are walked. */
static double sparse_spread(const plx__ward_means *m, const double *size, plx_index i, plx_index j)
{
    double s = size[i], t = size[j], cost = 0, common = 0, other = 0;
    bool squares = m->kind == PLX__BREGMAN_EUCLID;
    int64_t shared = 0, end = m->start[j] + m->len[j];
    packed c;
    c.count = 0; /* the rest is written before it is read */
    for (int64_t p = m->start[j]; p < end; p += PACK) {
        pack(&c, m, p, plx__min(p + PACK, end), &other, &common);
        shared += c.count;
        cost += packed_cost(&c, m->kind, s, t);
    }
    cost += squares ? s * t / (s + t) * other : t * other * log1p(s / t);
    if (shared == m->len[i]) return cost;
    double rest = m->total - common;
    if (rest < 1e-3 * m->total) return sparse_pair(m, size, i, j);
    return cost + (squares ? s * t / (s + t) * rest : s * rest * log1p(t / s));
}

double plx__ward_pair(const plx__ward_groups *g, plx_index i, plx_index j)
{
    double cost = 0;
    for (plx_index p = 0; p < g->parts; p++) {
        const plx__ward_means *m = &g->part[p];
        cost += m->weight * (m->sparse ? sparse_pair(m, g->size, i, j)
                                       : plx__bregman_merge(m->kind, m->mean + i * m->ld, g->size[i],
                                                            m->mean + j * m->ld, g->size[j], m->ld));
    }
    return cost;
}

typedef struct row_job {
    const plx__ward_groups *g;
    plx_index i;
    const int32_t *other;
    double *cost;
} row_job;

static plx_status row_costs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const row_job *job = arg;
    const plx__ward_groups *g = job->g;
    plx_index i = job->i;
    (void)ctx, (void)worker;
    for (plx_index k = begin; k < end; k++) {
        plx_index j = job->other[k];
        double cost = 0;
        for (plx_index p = 0; p < g->parts; p++) {
            const plx__ward_means *m = &g->part[p];
            cost += m->weight * (m->sparse ? sparse_spread(m, g->size, i, j)
                                           : plx__bregman_merge(m->kind, m->mean + i * m->ld, g->size[i],
                                                                m->mean + j * m->ld, g->size[j], m->ld));
        }
        job->cost[k] = cost;
    }
    return PLX_OK;
}

static void spread(plx__ward_means *m, plx_index i, bool clear)
{
    m->total = 0;
    for (int64_t p = m->start[i]; p < m->start[i] + m->len[i]; p++) {
        m->row[m->col[p]] = clear ? 0 : m->val[p];
        m->total += m->kind == PLX__BREGMAN_EUCLID ? m->val[p] * m->val[p] : m->val[p];
    }
}

plx_status plx__ward_row(double *cost, const plx__ward_groups *g, plx_index i, const int32_t *other, plx_index count)
{
    row_job job = {g, i, other, cost};
    for (plx_index p = 0; p < g->parts; p++)
        if (g->part[p].sparse) spread(&g->part[p], i, false);
    PLX_TRY(plx__parallel_for(g->ctx, count, 512, row_costs, &job));
    for (plx_index p = 0; p < g->parts; p++)
        if (g->part[p].sparse) spread(&g->part[p], i, true);
    return PLX_OK;
}

/* ---- merging ---- */

static void unlink_group(plx__ward_means *m, int32_t i)
{
    if (m->before[i] >= 0) m->next[m->before[i]] = m->next[i];
    else m->head = m->next[i];
    if (m->next[i] >= 0) m->before[m->next[i]] = m->before[i];
    else m->tail = m->before[i];
}

static void link_last(plx__ward_means *m, int32_t i)
{
    m->before[i] = m->tail, m->next[i] = -1;
    if (m->tail >= 0) m->next[m->tail] = i;
    else m->head = i;
    m->tail = i;
}

/* Groups close up, in their order. */
static void sweep(plx__ward_means *m)
{
    m->used = 0;
    for (int32_t i = m->head; i >= 0; i = m->next[i]) {
        memmove(m->col + m->used, m->col + m->start[i], (size_t)m->len[i] * sizeof *m->col);
        memmove(m->val + m->used, m->val + m->start[i], (size_t)m->len[i] * sizeof *m->val);
        m->start[i] = m->used;
        m->used += m->len[i];
    }
}

/* x + share (y - x): equal means stay what they are. */
static void sparse_merge(plx__ward_means *m, plx_index i, plx_index j, double share)
{
    if (m->used + m->len[i] + m->len[j] > m->room) sweep(m);
    int64_t a = m->start[i], a1 = a + m->len[i], b = m->start[j], b1 = b + m->len[j], to = m->used;
    while (a < a1 || b < b1) {
        bool left = b == b1 || (a < a1 && m->col[a] <= m->col[b]),
             right = a == a1 || (b < b1 && m->col[b] <= m->col[a]);
        double x = left ? m->val[a] : 0, y = right ? m->val[b] : 0;
        m->col[to] = left ? m->col[a] : m->col[b];
        m->val[to++] = x + share * (y - x);
        a += left, b += right;
    }
    unlink_group(m, (int32_t)i);
    unlink_group(m, (int32_t)j);
    link_last(m, (int32_t)i);
    m->start[i] = m->used, m->len[i] = to - m->used;
    m->used = to;
}

void plx__ward_merge(plx__ward_groups *g, plx_index i, plx_index j)
{
    double share = g->size[j] / (g->size[i] + g->size[j]);
    for (plx_index p = 0; p < g->parts; p++) {
        plx__ward_means *m = &g->part[p];
        if (m->sparse) {
            sparse_merge(m, i, j, share);
            continue;
        }
        double *x = m->mean + i * m->ld, *y = m->mean + j * m->ld;
        for (plx_index c = 0; c < m->ld; c++) x[c] += share * (y[c] - x[c]);
    }
    g->size[i] += g->size[j];
}
