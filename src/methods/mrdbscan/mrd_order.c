/*
 * Objects in an order in which near ones stand together, with the boxes of runs of them.
 *
 * Recursive median splits across the feature that varies most, measured in radii of its view, until runs of MRD_CHUNK
 * objects are left; every MRD_TILE of them form a tile. Rows are then laid down in that order in single precision: moved
 * to the mean (Euclid) or brought to unit length (cosine), so that whether two are near is a question about one inner
 * product:
 *     |x - z|^2 <= l  <=>  x.z >= (|x|^2 - l/2)/2 + (|z|^2 - l/2)/2,       1 - x.z <= l  <=>  x.z >= (1 - l)/2 + (1 - l)/2.
 * Each side's share of the threshold is kept with the rounding it can suffer taken off (`low`) and put on (`high`).
 */
#include <float.h>
#include <math.h>

#include "methods/mrdbscan/mrdbscan.h"

enum { SAMPLED = 512 }; /* rows of a part that tell how its features vary */

typedef struct keyed {
    double key;
    int32_t row;
} keyed;

typedef struct splitting {
    const mrd *m;
    mrd_order *o;
    keyed *items;
    double *sum, *square; /* as long as the widest view */
} splitting;

/* ---- values as the products see them, before they are moved and scaled ---- */

static double value_of(const mrd *m, const mrd_order *o, plx_index v, plx_index row, plx_index j)
{
    plx_cmat a = m->view[v].a.dense;
    const double *shrink = o->view[v].shrink;
    return a.data[row * a.ld + j] * (shrink ? shrink[row] : 1.0);
}

/* ---- the order ---- */

/* The feature that varies most among the present of some rows of a part, in radii; its mean stands for absent rows. */
static double widest_feature(splitting *s, plx_index begin, plx_index end, plx_index *view, plx_index *feature)
{
    plx_index step = plx__max(1, (end - begin) / SAMPLED);
    double most = -1, mean = 0;
    for (plx_index v = 0; v < s->m->n_views; v++) {
        plx_index d = s->o->view[v].d, count = 0;
        for (plx_index j = 0; j < d; j++) s->sum[j] = s->square[j] = 0;
        for (plx_index p = begin; p < end; p += step) {
            plx_index row = s->o->row[p];
            if (!s->m->view[v].has_a[row]) continue;
            count++;
            for (plx_index j = 0; j < d; j++) {
                double x = value_of(s->m, s->o, v, row, j) - s->o->view[v].centre[j];
                s->sum[j] += x;
                s->square[j] += x * x;
            }
        }
        for (plx_index j = 0; j < d && count; j++) {
            double own = s->sum[j] / (double)count, varies = s->square[j] / (double)count - own * own;
            if (!(varies / s->o->view[v].radius_sq > most)) continue;
            most = varies / s->o->view[v].radius_sq;
            *view = v, *feature = j;
            mean = own + s->o->view[v].centre[j];
        }
    }
    return mean;
}

static bool comes_before(keyed a, keyed b) { return a.key < b.key || (a.key == b.key && a.row < b.row); }

/* Hoare's selection: the first `left` items in order come to the front. */
static void select_front(keyed *items, plx_index count, plx_index left)
{
    plx_index lo = 0, hi = count - 1;
    while (lo < hi) {
        keyed pivot = items[lo + (hi - lo) / 2];
        plx_index i = lo, j = hi;
        while (i <= j) {
            while (comes_before(items[i], pivot)) i++;
            while (comes_before(pivot, items[j])) j--;
            if (i > j) break;
            keyed t = items[i];
            items[i++] = items[j];
            items[j--] = t;
        }
        if (left <= j) hi = j;
        else if (left >= i) lo = i;
        else break;
    }
}

/* Parts end where tiles and chunks do. */
static plx_status split(splitting *s, plx_index begin, plx_index end)
{
    plx_index count = end - begin, view = 0, feature = 0, grain = count > MRD_TILE ? MRD_TILE : MRD_CHUNK;
    if (count <= MRD_CHUNK) return PLX_OK;
    PLX_TRY(plx__poll(s->m->ctx));
    plx_index left = (count / 2 + grain - 1) / grain * grain;
    double mean = widest_feature(s, begin, end, &view, &feature);
    for (plx_index p = begin; p < end; p++) {
        int32_t row = s->o->row[p];
        bool has = s->m->view[view].has_a[row] != 0 && s->o->view[view].d > 0;
        s->items[p] = (keyed){has ? value_of(s->m, s->o, view, row, feature) : mean, row};
    }
    select_front(s->items + begin, count, left);
    for (plx_index p = begin; p < end; p++) s->o->row[p] = s->items[p].row;
    PLX_TRY(split(s, begin, begin + left));
    return split(s, begin + left, end);
}

static plx_status arrange(const mrd *m, mrd_order *o)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index widest = 1;
    splitting s = {.m = m, .o = o};
    for (plx_index v = 0; v < m->n_views; v++) widest = plx__max(widest, o->view[v].d);
    PLX_TRY(plx__arena_bytes((void **)&s.items, scratch, m->n_a, sizeof *s.items));
    PLX_TRY(plx__arena_f64(&s.sum, scratch, widest, 1));
    PLX_TRY(plx__arena_f64(&s.square, scratch, widest, 1));
    for (plx_index i = 0; i < m->n_a; i++) o->row[i] = (int32_t)i;
    PLX_TRY(split(&s, 0, m->n_a));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- rows in single precision ---- */

/* Mean of the present rows (cosine: the origin) and the power of two that brings every entry within 1. */
static void place_view(const mrd *m, mrd_order *o, plx_index v)
{
    mrd_flat *f = &o->view[v];
    double largest = 0, count = 0;
    int exponent = 0;
    for (plx_index i = 0; i < m->n_a && !f->shrink; i++) {
        if (!m->view[v].has_a[i]) continue;
        count++;
        for (plx_index j = 0; j < f->d; j++) f->centre[j] += (value_of(m, o, v, i, j) - f->centre[j]) / count;
    }
    for (plx_index i = 0; i < m->n_a; i++)
        for (plx_index j = 0; m->view[v].has_a[i] && j < f->d; j++)
            largest = fmax(largest, fabs(value_of(m, o, v, i, j) - f->centre[j]));
    if (isfinite(largest)) frexp(largest, &exponent);
    f->unit = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

/* Beyond this squared radius, in units of the rows, all present are near: entries are within 1. */
static double everything(plx_index d) { return 16.0 * (double)(d + 1); }

static void lay_row(const mrd *m, mrd_order *o, plx_index v, plx_index at)
{
    static const float absent = FLT_MAX / 4;
    mrd_flat *f = &o->view[v];
    plx_index row = o->row[at];
    double norm = 0, rounding = ((double)f->d + 64) * FLT_EPSILON; /* 64: for the few roundings outside the sum */
    f->low[at] = f->high[at] = absent;
    for (plx_index j = 0; j < f->d; j++) f->x[at * f->d + j] = 0;
    if (!m->view[v].has_a[row]) return;
    for (plx_index j = 0; j < f->d; j++) {
        double x = (value_of(m, o, v, row, j) - f->centre[j]) * f->unit;
        f->x[at * f->d + j] = (float)x;
        norm += x * x;
    }
    if (f->shrink) norm = f->unit * f->unit; /* 1 - x.z, also where x is zero */
    double share = 0.5 * norm - 0.25 * f->reach;
    double lost = rounding * (norm + f->reach) + 1e-37 * (double)(f->d + 1);
    f->low[at] = (float)(share - lost);
    f->high[at] = (float)(share + lost);
}

static void bound_rows(const mrd_flat *f, plx_index begin, plx_index end, float *box, int32_t *present)
{
    *present = 0;
    for (plx_index j = 0; j < f->d; j++) box[j] = FLT_MAX, box[f->d + j] = -FLT_MAX;
    for (plx_index p = begin; p < end; p++) {
        if (f->low[p] >= FLT_MAX / 8) continue;
        ++*present;
        for (plx_index j = 0; j < f->d; j++) {
            float x = f->x[p * f->d + j];
            box[j] = x < box[j] ? x : box[j];
            box[f->d + j] = x > box[f->d + j] ? x : box[f->d + j];
        }
    }
}

static plx_status bound_runs(plx_context *ctx, const mrd_flat *f, plx_index n, plx_index run, mrd_boxes *out)
{
    plx_index count = (n + run - 1) / run;
    PLX_TRY(plx__arena_bytes((void **)&out->box, plx__scratch(ctx), count * 2 * f->d, sizeof *out->box));
    PLX_TRY(plx__arena_i32(&out->present, plx__scratch(ctx), count));
    for (plx_index q = 0; q < count; q++)
        bound_rows(f, q * run, plx__min(n, (q + 1) * run), out->box + q * 2 * f->d, &out->present[q]);
    return PLX_OK;
}

static plx_status lay_view(const mrd *m, mrd_order *o, plx_index v)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    mrd_flat *f = &o->view[v];
    f->reach = fmin(f->radius_sq * f->unit * f->unit, everything(f->d));
    PLX_TRY(plx__arena_bytes((void **)&f->x, scratch, m->n_a * f->d, sizeof *f->x));
    PLX_TRY(plx__arena_bytes((void **)&f->low, scratch, m->n_a, sizeof *f->low));
    PLX_TRY(plx__arena_bytes((void **)&f->high, scratch, m->n_a, sizeof *f->high));
    for (plx_index at = 0; at < m->n_a; at++) lay_row(m, o, v, at);
    PLX_TRY(bound_runs(m->ctx, f, m->n_a, MRD_CHUNK, &f->chunk));
    return bound_runs(m->ctx, f, m->n_a, MRD_TILE, &f->tile);
}

static plx_status open_view(const mrd *m, mrd_order *o, plx_index v, double limit)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    mrd_flat *f = &o->view[v];
    bool cosine = m->view[v].metric == PLX__COSINE;
    f->d = m->view[v].a.dense.cols;
    f->radius_sq = cosine ? 2 * limit : limit; /* |x/|x| - z/|z||^2 = 2 (1 - cos) */
    PLX_TRY(plx__arena_f64(&f->centre, scratch, f->d, 1));
    if (cosine) {
        PLX_TRY(plx__arena_f64(&f->shrink, scratch, m->n_a, 1));
        PLX_TRY(plx__points_norms_sq(m->ctx, m->view[v].a, f->shrink));
        for (plx_index i = 0; i < m->n_a; i++) f->shrink[i] = f->shrink[i] > 0 ? 1 / sqrt(f->shrink[i]) : 0;
    }
    place_view(m, o, v);
    return PLX_OK;
}

plx_status plx__mrd_order(mrd_order *o, const mrd *m, const double *limit)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    *o = (mrd_order){.n = m->n_a, .chunks = (m->n_a + MRD_CHUNK - 1) / MRD_CHUNK};
    PLX_TRY(PLX__ARENA_NEW(&o->view, scratch, m->n_views));
    PLX_TRY(plx__arena_i32(&o->row, scratch, m->n_a));
    for (plx_index v = 0; v < m->n_views; v++) PLX_TRY(open_view(m, o, v, limit[v]));
    PLX_TRY(arrange(m, o));
    for (plx_index v = 0; v < m->n_views; v++) PLX_TRY(lay_view(m, o, v));
    return PLX_OK;
}

/* ---- boxes ---- */

/* Gaps are made smaller by what rounding to single precision may have moved two entries within 1. */
bool plx__mrd_apart(const mrd_flat *f, plx_index chunk, plx_index tile)
{
    const float *a = f->chunk.box + chunk * 2 * f->d, *b = f->tile.box + tile * 2 * f->d;
    double sum = 0, limit = f->reach * (1 + 1e-6) + 1e-30;
    if (!f->chunk.present[chunk] || !f->tile.present[tile]) return true;
    for (plx_index j = 0; j < f->d && sum <= limit; j++) {
        double gap = fmax((double)b[j] - a[f->d + j], (double)a[j] - b[f->d + j]) - (double)FLT_EPSILON;
        if (gap > 0) sum += gap * gap;
    }
    return sum > limit;
}

double plx__mrd_order_bytes(double n, double cols)
{
    double runs = n / MRD_CHUNK + n / MRD_TILE + 2;
    return 4 * n * cols + 16 * n + runs * (8 * cols + 4) + 8 * cols;
}
