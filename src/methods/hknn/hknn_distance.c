/*
 * The hyperplane distance of a sample to a class, from squared distances alone (equations in hknn.h):
 *
 *     d_c = min_a |r - V a|^2 + lambda |a|^2,   (V'V + lambda I) a = V'r;   residual: without the penalty's value.
 */
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "graph/local_solve.h"
#include "methods/hknn/hknn.h"

plx_status plx__hknn_work_new(hknn_work **out, const hknn *h, plx_index most_k)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    plx_index l = h->train.n, workers = plx__workers(h->ctx);
    plx_index k = plx__min(most_k, l);
    PLX_TRY(PLX__ARENA_NEW(out, scratch, workers));
    for (plx_index t = 0; t < workers; t++) {
        hknn_work *w = *out + t;
        w->most_k = k;
        PLX_TRY(plx__arena_f64(&w->total, scratch, l, 1));
        PLX_TRY(plx__arena_f64(&w->candidate, scratch, l, 1));
        PLX_TRY(plx__arena_f64(&w->matrix, scratch, 2 * k, k));
        PLX_TRY(plx__arena_f64(&w->vector, scratch, 4 * k, 1));
        PLX_TRY(plx__arena_i32(&w->index, scratch, l));
        PLX_TRY(plx__arena_i32(&w->neighbour, scratch, k * h->classes));
        PLX_TRY(plx__arena_i64(&w->found, scratch, h->classes));
    }
    return PLX_OK;
}

double plx__hknn_work_bytes(double l, double classes, double most_k)
{
    double k = fmin(most_k, l);
    return 20 * l + 16 * k * k + 32 * k + 4 * k * classes + 8 * classes;
}

/* ---- neighbours ---- */

/* missing = all: every view of the subset; zero: at least one. */
static bool serves(const hknn *h, plx_index s, const uint8_t *has)
{
    plx_index there = 0, views = h->subsets.ptr[s + 1] - h->subsets.ptr[s];
    for (plx_index p = h->subsets.ptr[s]; p < h->subsets.ptr[s + 1]; p++) there += has[h->subsets.view[p]];
    return h->set->missing ? there == views : there > 0;
}

/* k-th smallest of count values (k from 1), which are reordered. */
static double kth_smallest(double *x, plx_index count, plx_index k)
{
    plx_index left = 0, right = count - 1;
    while (left < right) {
        double pivot = x[left + (right - left) / 2];
        plx_index i = left, j = right;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            double t = x[i];
            x[i++] = x[j];
            x[j--] = t;
        }
        if (k - 1 <= j) right = j;
        else if (k - 1 >= i) left = i;
        else break;
    }
    return x[k - 1];
}

typedef struct ranked {
    double key;
    int32_t index;
} ranked;

static bool before(ranked a, ranked b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }

/* The k nearest of the candidates index[0..count), ties to the smaller index: those at or near the k-th distance are
 * compared by the rounded key, so that ties do not depend on rounding. */
static plx_index nearest(int32_t *out, hknn_work *w, plx_index count, plx_index k)
{
    plx_index taken = 0;
    if (count == 0) return 0;
    k = plx__min(k, count);
    for (plx_index t = 0; t < count; t++) w->candidate[t] = w->total[w->index[t]];
    double limit = kth_smallest(w->candidate, count, k) * (1 + 1e-10) + 1e-23;
    for (plx_index t = 0; t < count; t++) {
        double d = w->total[w->index[t]];
        if (d > limit) continue;
        ranked own = {plx__distance_key(sqrt(d)), w->index[t]};
        plx_index at = taken < k ? taken++ : k;
        while (at > 0) { /* insertion into the sorted list of at most k */
            ranked last = {plx__distance_key(sqrt(w->total[out[at - 1]])), out[at - 1]};
            if (!before(own, last)) break;
            if (at < k) out[at] = out[at - 1];
            at--;
        }
        if (at < k) out[at] = own.index;
    }
    return taken;
}

static void sum_distances(hknn_work *w, const hknn *h, const hknn_query *q, plx_index s)
{
    plx_index l = h->train.n, first = h->subsets.ptr[s], end = h->subsets.ptr[s + 1];
    const double *row = q->row[h->subsets.view[first]];
    for (plx_index u = 0; u < l; u++) w->total[u] = row[u];
    for (plx_index p = first + 1; p < end; p++) {
        row = q->row[h->subsets.view[p]];
        for (plx_index u = 0; u < l; u++) w->total[u] += row[u];
    }
}

bool plx__hknn_neighbours(hknn_work *w, const hknn *h, const hknn_query *q, plx_index s)
{
    if (!serves(h, s, q->has)) return false;
    sum_distances(w, h, q, s);
    for (plx_index c = 0; c < h->classes; c++) {
        plx_index count = 0;
        for (plx_index u = h->class_begin[c]; u < h->class_begin[c + 1]; u++)
            if (u != q->own && serves(h, s, h->train.has + u * h->n_views)) w->index[count++] = (int32_t)u;
        w->found[c] = nearest(w->neighbour + c * w->most_k, w, count, w->most_k);
    }
    return true;
}

/* ---- the distance ---- */

typedef struct plane { /* k neighbours, their Gram matrix around the mean, and the sample */
    plx_index k;
    double *gram, *cross; /* V'V (k x k), V'r */
    double *solution, *values;
    double rr;
} plane;

/* b (k x k) turns into V'V in place, given its row means and their mean. */
static void centre(plane *p, const double *a, double *row_mean)
{
    double mean = 0, a_mean = 0;
    for (plx_index i = 0; i < p->k; i++) {
        row_mean[i] = 0;
        for (plx_index j = 0; j < p->k; j++) row_mean[i] += p->gram[i * p->k + j];
        row_mean[i] /= (double)p->k;
        mean += row_mean[i] / (double)p->k;
        a_mean += a[i] / (double)p->k;
    }
    p->rr = fmax(0.0, a_mean - 0.5 * mean);
    for (plx_index i = 0; i < p->k; i++) {
        for (plx_index j = 0; j < p->k; j++)
            p->gram[i * p->k + j] = -0.5 * (p->gram[i * p->k + j] - row_mean[i] - row_mean[j] + mean);
        p->cross[i] = 0.5 * (p->rr + (row_mean[i] - 0.5 * mean) - a[i]);
    }
}

static void fill_plane(plane *p, const hknn_work *w, const hknn *h, plx_index s, const int32_t *neighbour)
{
    double *a = p->solution, *row_mean = p->values;
    for (plx_index i = 0; i < p->k; i++) {
        a[i] = w->total[neighbour[i]];
        for (plx_index j = 0; j < p->k; j++) {
            double sum = 0;
            for (plx_index q = h->subsets.ptr[s]; q < h->subsets.ptr[s + 1]; q++) {
                const plx_mat *b = &h->between[h->subsets.view[q]];
                sum += b->data[neighbour[i] * b->ld + neighbour[j]];
            }
            p->gram[i * p->k + j] = sum;
        }
    }
    centre(p, a, row_mean);
}

/* Minimum-norm solution of V'V a = V'r: eigenvalues up to 1e-12 of the largest count as zero. */
static void solve_singular(plane *p, double *vectors)
{
    double largest = 0;
    plx_index k = p->k;
    plx__small_eigen(p->gram, p->values, vectors, k);
    for (plx_index e = 0; e < k; e++) largest = fmax(largest, p->values[e]);
    for (plx_index i = 0; i < k; i++) p->solution[i] = 0;
    for (plx_index e = 0; e < k; e++) {
        double along = 0;
        if (!(p->values[e] > 1e-12 * largest)) continue;
        for (plx_index i = 0; i < k; i++) along += vectors[i * k + e] * p->cross[i];
        for (plx_index i = 0; i < k; i++) p->solution[i] += along / p->values[e] * vectors[i * k + e];
    }
}

/* (V'V + lambda I) a = V'r; the factor overwrites `copy`. Rounding may leave a tiny lambda indefinite. */
static void solve_penalised(plane *p, double *copy, double lambda)
{
    plx_index k = p->k;
    for (plx_index i = 0; i < k * k; i++) copy[i] = p->gram[i];
    for (plx_index i = 0; i < k; i++) copy[i * k + i] += lambda, p->solution[i] = p->cross[i];
    if (plx__small_solve(copy, p->solution, k)) return;
    solve_singular(p, copy);
}

static double plane_distance(plane *p, double *spare, double lambda, bool residual)
{
    double cross = 0, norm = 0;
    if (p->k == 1) return p->rr;
    if (lambda > 0) solve_penalised(p, spare, lambda);
    else solve_singular(p, spare);
    for (plx_index i = 0; i < p->k; i++) {
        cross += p->solution[i] * p->cross[i];
        norm += p->solution[i] * p->solution[i];
    }
    /* V'V a = V'r - lambda a, so |r - V a|^2 = r'r - 2 a'V'r + a'V'r - lambda a'a. */
    return fmax(0.0, p->rr - cross - (residual ? lambda * norm : 0.0));
}

int32_t plx__hknn_classify(double *distance, hknn_work *w, const hknn *h, plx_index s, hknn_setting by)
{
    int32_t best = -1;
    plx_index room = w->most_k;
    for (plx_index c = 0; c < h->classes; c++) {
        plane p = {plx__min(by.k, w->found[c]), w->matrix, w->vector, w->vector + room, w->vector + 2 * room, 0};
        distance[c] = INFINITY;
        if (p.k == 0) continue;
        fill_plane(&p, w, h, s, w->neighbour + c * room);
        distance[c] = plane_distance(&p, w->matrix + room * room, by.lambda, h->set->distance == HKNN_RESIDUAL);
        if (best < 0 || distance[c] < distance[best]) best = (int32_t)c;
    }
    return best;
}
