/*
 * Multiplicative updates of Long, Yu & Zhang's general model.
 *
 * Patterns are sparse rows (a partition has one entry per row), so an update visits entries of A only: what entries
 * with A = 0 contribute is in the row sums of P (I-divergence) or in P P' and B'B (squared loss). Maps are kept by
 * columns: an entry (i, h) then needs the contiguous row h of P'. Clusters are few, so a row is short: rows of B and of P'
 * are padded with zeros to whole registers, which change no sum, and the loops over them are compiled in place.
 */
#include "cluster/consensus.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "linalg/dense.h"
#include "linalg/vecmath.h"

enum { ROWS_AT_A_TIME = 256, DIRECT_COLS = 64, LANES = 4 };

static const double FLOOR = 1e-300;

/* ---- short rows ---- */

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef double loose __attribute__((vector_size(8 * LANES), aligned(8)));

#define IN_PLACE static inline __attribute__((always_inline))

/* Of `width` entries, a multiple of LANES. */
IN_PLACE double short_dot(const double *x, const double *y, plx_index width)
{
    lanes s = {0};
    for (plx_index i = 0; i < width; i += LANES) s += *(const loose *)(x + i) * *(const loose *)(y + i);
    return (s[0] + s[2]) + (s[1] + s[3]);
}

IN_PLACE void short_axpy(double *y, double a, const double *x, plx_index width)
{
    for (plx_index i = 0; i < width; i += LANES) *(loose *)(y + i) += a * *(const loose *)(x + i);
}

IN_PLACE double floored(double x) { return x > FLOOR ? x : FLOOR; }

static plx_status padded_mat(plx_mat *out, plx__arena *arena, plx_index rows, plx_index cols, plx_index width)
{
    *out = (plx_mat){NULL, rows, cols, width};
    return plx__arena_f64(&out->data, arena, rows, width);
}

plx_index plx__consensus_width(plx_index k) { return (k + LANES - 1) / LANES * LANES; }

/* ---- room ---- */

static plx_status open_pattern(plx__consensus *c, plx__membership *p)
{
    plx__arena *scratch = plx__scratch(c->ctx);
    bool idiv = c->loss == PLX__LOSS_IDIV;
    PLX_TRY(padded_mat(&p->columns, scratch, p->values.cols, c->k, c->width));
    PLX_TRY(plx__arena_f64(&p->row_sum, scratch, c->width, 1));
    p->others = (plx_mat){0};
    if (idiv && p->values.cols <= DIRECT_COLS) PLX_TRY(padded_mat(&p->others, scratch, p->values.cols, c->k, c->width));
    return idiv ? PLX_OK : padded_mat(&p->gram, scratch, c->k, c->k, c->width);
}

plx_status plx__consensus_open(plx__consensus *c, plx_context *ctx, plx__consensus_loss loss, plx__membership *patterns,
                               plx_index n_patterns, plx_index n, plx_index k)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index widest = 0;
    *c = (plx__consensus){.ctx = ctx, .loss = loss, .n = n, .k = k, .n_patterns = n_patterns, .patterns = patterns};
    c->width = plx__consensus_width(k);
    PLX_TRY(padded_mat(&c->b, scratch, n, k, c->width));
    PLX_TRY(plx__arena_f64(&c->row_loss, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&c->work, scratch, plx__workers(ctx), 2 * c->width));
    for (plx_index v = 0; v < n_patterns; v++) {
        PLX_TRY(open_pattern(c, &patterns[v]));
        widest = plx__max(widest, patterns[v].values.cols);
    }
    return plx__arena_f64(&c->partial, scratch, PLX__CONSENSUS_SLABS, (widest + 1 + k) * c->width);
}

void plx__consensus_random(plx__consensus *c, uint64_t stream)
{
    for (plx_index i = 0; i < c->n; i++)
        for (plx_index g = 0; g < c->k; g++)
            c->b.data[i * c->b.ld + g] = plx__rng_uniform(c->ctx->seed, stream, (uint64_t)(i * c->k + g)) + 0.1;
}

/* ---- B ---- */

/* M_ih = (B P)_ih. */
IN_PLACE double model_at(const plx__consensus *c, const plx__membership *p, const double *b, plx_index h)
{
    return short_dot(b, p->columns.data + h * c->width, c->width);
}

/* What an entry of A pulls with: A/M or A. */
IN_PLACE double pull_of(const plx__consensus *c, const plx__membership *p, const double *b, int64_t e, bool ratio)
{
    double a = p->values.val[e];
    return ratio && a > 0 ? a / floored(model_at(c, p, b, p->values.col[e])) : a;
}

/* What one view adds to numerator and denominator of a row's update. */
IN_PLACE void add_view(const plx__consensus *c, const plx__membership *p, plx_index i, const double *b, double *above,
                       double *below)
{
    bool idiv = c->loss == PLX__LOSS_IDIV;
    for (int64_t e = p->values.ptr[i]; e < p->values.ptr[i + 1]; e++)
        short_axpy(above, p->weight * pull_of(c, p, b, e, idiv), p->columns.data + p->values.col[e] * c->width,
                   c->width);
    if (idiv) short_axpy(below, p->weight, p->row_sum, c->width);
    else
        for (plx_index g = 0; g < c->k; g++) short_axpy(below, p->weight * b[g], p->gram.data + g * c->width, c->width);
}

/* Returns the largest change of an entry, if `measured`. A row without a view that has weight keeps its value. */
IN_PLACE double update_row(const plx__consensus *c, plx_index i, double *work, bool measured)
{
    double *b = c->b.data + i * c->width, *above = work, *below = work + c->width, change = 0;
    bool any = false;
    for (plx_index g = 0; g < 2 * c->width; g++) work[g] = 0;
    for (plx_index v = 0; v < c->n_patterns; v++) {
        const plx__membership *p = &c->patterns[v];
        if (!p->present[i] || !(p->weight > 0)) continue;
        add_view(c, p, i, b, above, below);
        any = true;
    }
    if (!any) return 0;
    for (plx_index g = 0; g < c->width; g++) above[g] = b[g] * above[g] / floored(below[g]);
    for (plx_index g = 0; measured && g < c->k; g++) change = fmax(change, fabs(above[g] - b[g]));
    for (plx_index g = 0; g < c->width; g++) b[g] = above[g];
    return change;
}

PLX__CLONES static void update_range(const plx__consensus *c, plx_index begin, plx_index end, double *work)
{
    for (plx_index i = begin; i < end; i++) (void)update_row(c, i, work, false);
}

static plx_status update_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__consensus *c = arg;
    (void)ctx;
    update_range(c, begin, end, c->work + 2 * c->width * worker);
    return PLX_OK;
}

/* ---- maps ---- */

typedef struct map_sums {
    const plx__consensus *c;
    const plx__membership *p;
    bool start;
    plx_index slab_rows, width;
} map_sums;

/* Partial sums: k_v rows of b times (A or A/M), one of b, and for the squared loss k of b b'. */
PLX__CLONES static void sum_rows(const map_sums *q, plx_index begin, plx_index end, double *partial)
{
    const plx__consensus *c = q->c;
    const plx__membership *p = q->p;
    bool ratio = c->loss == PLX__LOSS_IDIV && !q->start, squares = c->loss == PLX__LOSS_EUCLID && !q->start;
    double *mass = partial + p->values.cols * c->width, *square = mass + c->width;
    memset(partial, 0, (size_t)q->width * sizeof *partial);
    for (plx_index i = begin; i < end; i++) {
        const double *b = c->b.data + i * c->width;
        if (!p->present[i]) continue;
        for (int64_t e = p->values.ptr[i]; e < p->values.ptr[i + 1]; e++)
            short_axpy(partial + p->values.col[e] * c->width, pull_of(c, p, b, e, ratio), b, c->width);
        short_axpy(mass, 1.0, b, c->width);
        for (plx_index g = 0; squares && g < c->k; g++) short_axpy(square + g * c->width, b[g], b, c->width);
    }
}

static plx_status sum_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const map_sums *q = arg;
    (void)ctx, (void)worker;
    for (plx_index s = begin; s < end; s++)
        sum_rows(q, plx__min(q->c->n, s * q->slab_rows), plx__min(q->c->n, (s + 1) * q->slab_rows),
                 q->c->partial + s * q->width);
    return PLX_OK;
}

static void apply_sums(const plx__consensus *c, plx__membership *p, const double *sums, bool start)
{
    const double *mass = sums + p->values.cols * c->width, *square = mass + c->width;
    for (plx_index h = 0; h < p->values.cols; h++) {
        double *column = p->columns.data + h * c->width, *below = c->work;
        memcpy(below, mass, (size_t)c->k * sizeof *below);
        if (!start && c->loss == PLX__LOSS_EUCLID) {
            memset(below, 0, (size_t)c->k * sizeof *below);
            for (plx_index g = 0; g < c->k; g++) plx__axpy(below, column[g], square + g * c->width, c->k);
        }
        for (plx_index g = 0; g < c->k; g++)
            column[g] = (start ? 1 : column[g]) * sums[h * c->width + g] / floored(below[g]);
    }
}

/* Row h: sum of all columns of the map but h, as sums from both ends, so that nothing cancels. */
static void sum_others(const plx__consensus *c, plx__membership *p)
{
    plx_index cols = p->columns.rows, w = c->width;
    const double *column = p->columns.data;
    double *others = p->others.data, *after = c->work;
    memset(others, 0, (size_t)w * sizeof *others);
    memset(after, 0, (size_t)w * sizeof *after);
    for (plx_index h = 1; h < cols; h++)
        for (plx_index g = 0; g < w; g++) others[h * w + g] = others[(h - 1) * w + g] + column[(h - 1) * w + g];
    for (plx_index h = cols - 1; h >= 0; h--) {
        plx__axpy(others + h * w, 1.0, after, w);
        plx__axpy(after, 1.0, column + h * w, w);
    }
}

plx_status plx__consensus_refresh(plx__consensus *c, plx__membership *p)
{
    memset(p->row_sum, 0, (size_t)c->width * sizeof *p->row_sum);
    for (plx_index h = 0; h < p->columns.rows; h++)
        plx__axpy(p->row_sum, 1.0, p->columns.data + h * c->width, c->width);
    if (p->others.data && p->columns.rows) sum_others(c, p);
    if (c->loss != PLX__LOSS_EUCLID) return PLX_OK;
    return plx__syrk(c->ctx, 1.0, plx__cmat(p->columns), PLX__T, 0.0, p->gram);
}

static plx_status update_map(plx__consensus *c, plx__membership *p, bool start)
{
    map_sums q = {c, p, start, plx__max(ROWS_AT_A_TIME, c->n / PLX__CONSENSUS_SLABS + 1),
                  (p->values.cols + 1) * c->width};
    plx_index slabs = c->n / q.slab_rows + 1;
    if (c->loss == PLX__LOSS_EUCLID) q.width += c->k * c->width;
    PLX_TRY(plx__parallel_for(c->ctx, slabs, 1, sum_slabs, &q));
    for (plx_index s = 1; s < slabs; s++) plx__axpy(c->partial, 1.0, c->partial + s * q.width, q.width);
    apply_sums(c, p, c->partial, start);
    return plx__consensus_refresh(c, p);
}

static plx_status update_maps(plx__consensus *c, bool start)
{
    for (plx_index v = 0; v < c->n_patterns; v++) PLX_TRY(update_map(c, &c->patterns[v], start));
    return PLX_OK;
}

plx_status plx__consensus_start_maps(plx__consensus *c) { return update_maps(c, true); }

plx_status plx__consensus_step(plx__consensus *c)
{
    PLX_TRY(plx__parallel_for(c->ctx, c->n, ROWS_AT_A_TIME, update_rows, c));
    return update_maps(c, false);
}

/* ---- objective ---- */

static double entry_loss(plx__consensus_loss loss, double a, double m)
{
    if (loss == PLX__LOSS_EUCLID) return (a - m) * (a - m);
    return a > 0 ? a * log(a / floored(m)) - a + m : m;
}

/* Sum over all columns of what an entry with A = 0 costs. */
static double empty_loss(const plx__consensus *c, const plx__membership *p, const double *b)
{
    double sum = 0;
    if (c->loss == PLX__LOSS_IDIV) return plx__dot(b, p->row_sum, c->k);
    for (plx_index g = 0; g < c->k; g++) sum += b[g] * plx__dot(b, p->gram.data + g * c->width, c->k);
    return sum;
}

/* Narrow patterns are summed entry by entry, which stays exact when the fit is perfect; in wide ones the entries with
 * A = 0 are counted by what all of them would cost. */
static double view_loss(const plx__consensus *c, const plx__membership *p, plx_index i)
{
    const double *b = c->b.data + i * c->width;
    int64_t e = p->values.ptr[i], end = p->values.ptr[i + 1];
    double sum = 0, counted = 0;
    if (p->values.cols <= DIRECT_COLS) {
        for (plx_index h = 0; h < p->values.cols; h++) {
            double a = e < end && p->values.col[e] == h ? p->values.val[e++] : 0;
            sum += entry_loss(c->loss, a, model_at(c, p, b, h));
        }
        return sum;
    }
    for (; e < end; e++) {
        double m = model_at(c, p, b, p->values.col[e]);
        sum += entry_loss(c->loss, p->values.val[e], m);
        counted += entry_loss(c->loss, 0, m);
    }
    return sum + fmax(0, empty_loss(c, p, b) - counted);
}

/* Rows of a partition: one entry each, whose logarithms are taken together. */
typedef struct lone_entries {
    double ratio[ROWS_AT_A_TIME + 8], a[ROWS_AT_A_TIME], rest[ROWS_AT_A_TIME];
    plx_index row[ROWS_AT_A_TIME], count;
} lone_entries;

/* Is row i one of them? Its loss is a log(ratio) + rest, with the other columns' M summed through `others`. */
IN_PLACE bool take_lone(lone_entries *all, const plx__consensus *c, const plx__membership *p, plx_index i)
{
    const double *b = c->b.data + i * c->width;
    int64_t e = p->values.ptr[i];
    if (!p->others.data || p->values.ptr[i + 1] != e + 1) return false;
    plx_index h = p->values.col[e];
    double a = p->values.val[e], m = model_at(c, p, b, h), ratio = a / floored(m);
    if (!(ratio >= DBL_MIN && ratio <= DBL_MAX)) return false;
    all->ratio[all->count] = ratio;
    all->a[all->count] = a;
    all->rest[all->count] = (m - a) + short_dot(b, p->others.data + h * c->width, c->width);
    all->row[all->count++] = i;
    return true;
}

IN_PLACE void add_lone(lone_entries *all, double weight, double *row_loss)
{
    for (plx_index t = all->count; t < all->count + 7; t++) all->ratio[t] = 1.0;
    for (plx_index t = 0; t < all->count; t += PLX__LANES(plx__v4))
        PLX__LOG(plx__v4, *(plx__v4u *)(all->ratio + t), *(const plx__v4u *)(all->ratio + t));
    for (plx_index t = 0; t < all->count; t++)
        row_loss[all->row[t]] += weight * (all->a[t] * all->ratio[t] + all->rest[t]);
}

/* At most ROWS_AT_A_TIME rows. */
PLX__CLONES static void loss_range(const plx__consensus *c, plx_index begin, plx_index end)
{
    for (plx_index i = begin; i < end; i++) c->row_loss[i] = 0;
    for (plx_index v = 0; v < c->n_patterns; v++) {
        const plx__membership *p = &c->patterns[v];
        lone_entries all;
        all.count = 0;
        for (plx_index i = begin; i < end; i++)
            if (p->present[i] && !take_lone(&all, c, p, i)) c->row_loss[i] += p->weight * view_loss(c, p, i);
        add_lone(&all, p->weight, c->row_loss);
    }
}

static plx_status loss_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx, (void)worker;
    loss_range(arg, begin, end);
    return PLX_OK;
}

plx_status plx__consensus_objective(double *out, plx__consensus *c)
{
    PLX_TRY(plx__parallel_for(c->ctx, c->n, ROWS_AT_A_TIME, loss_rows, c));
    *out = plx__sum(c->row_loss, c->n);
    return PLX_OK;
}

/* ---- new samples and results ---- */

typedef struct placing {
    const plx__consensus *c;
    plx_index rounds;
    double tol;
} placing;

PLX__CLONES static void place_range(const placing *q, plx_index begin, plx_index end, double *work)
{
    const plx__consensus *c = q->c;
    for (plx_index i = begin; i < end; i++) {
        double change = INFINITY, *b = c->b.data + i * c->width;
        for (plx_index g = 0; g < c->k; g++) b[g] = 1 / (double)c->k;
        for (plx_index t = 0; t < q->rounds && change > q->tol; t++) change = update_row(c, i, work, true);
    }
}

static plx_status place_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const placing *q = arg;
    (void)ctx;
    place_range(q, begin, end, q->c->work + 2 * q->c->width * worker);
    return PLX_OK;
}

plx_status plx__consensus_place(plx__consensus *c, plx_index rounds, double tol)
{
    placing q = {c, rounds, tol};
    return plx__parallel_for(c->ctx, c->n, ROWS_AT_A_TIME, place_rows, &q);
}

void plx__consensus_normalise(plx_mat out, plx_cmat b)
{
    for (plx_index i = 0; i < b.rows; i++) {
        const double *from = b.data + i * b.ld;
        double sum = plx__sum(from, b.cols), *to = out.data + i * out.ld;
        for (plx_index g = 0; g < b.cols; g++) to[g] = sum > 0 ? from[g] / sum : 1 / (double)b.cols;
    }
}
