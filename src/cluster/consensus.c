/*
 * Multiplicative updates of Long, Yu & Zhang's general model.
 *
 * Patterns are sparse rows (a partition has one entry per row), so an update visits entries of A only: what entries
 * with A = 0 contribute is in the row sums of P (I-divergence) or in P P' and B'B (squared loss). Maps are kept by
 * columns: an entry (i, h) then needs the contiguous row h of P'.
 */
#include "cluster/consensus.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "linalg/dense.h"

enum { ROWS_AT_A_TIME = 256, DIRECT_COLS = 64 };

static const double FLOOR = 1e-300;

plx_status plx__consensus_open(plx__consensus *c, plx_context *ctx, plx__consensus_loss loss, plx__membership *patterns,
                               plx_index n_patterns, plx_index n, plx_index k)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index widest = 0;
    *c = (plx__consensus){.ctx = ctx, .loss = loss, .n = n, .k = k, .n_patterns = n_patterns, .patterns = patterns};
    PLX_TRY(plx__arena_mat(&c->b, scratch, n, k));
    PLX_TRY(plx__arena_f64(&c->row_loss, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&c->work, scratch, plx__workers(ctx), 2 * k));
    for (plx_index v = 0; v < n_patterns; v++) {
        plx__membership *p = &patterns[v];
        PLX_TRY(plx__arena_mat(&p->columns, scratch, p->values.cols, k));
        PLX_TRY(plx__arena_f64(&p->row_sum, scratch, k, 1));
        if (loss == PLX__LOSS_EUCLID) PLX_TRY(plx__arena_mat(&p->gram, scratch, k, k));
        widest = plx__max(widest, p->values.cols);
    }
    return plx__arena_f64(&c->partial, scratch, PLX__CONSENSUS_SLABS, (widest + 1 + k) * k);
}

void plx__consensus_random(plx__consensus *c, uint64_t stream)
{
    for (plx_index i = 0; i < c->n; i++)
        for (plx_index g = 0; g < c->k; g++)
            c->b.data[i * c->b.ld + g] = plx__rng_uniform(c->ctx->seed, stream, (uint64_t)(i * c->k + g)) + 0.1;
}

/* ---- B ---- */

/* M_ih = (B P)_ih. */
static double model_at(const plx__consensus *c, const plx__membership *p, const double *b, plx_index h)
{
    return plx__dot(b, p->columns.data + h * p->columns.ld, c->k);
}

/* What one view adds to numerator and denominator of a row's update. */
static void add_view(const plx__consensus *c, const plx__membership *p, plx_index i, const double *b, double *above,
                     double *below)
{
    bool idiv = c->loss == PLX__LOSS_IDIV;
    for (int64_t e = p->values.ptr[i]; e < p->values.ptr[i + 1]; e++) {
        plx_index h = p->values.col[e];
        double a = p->values.val[e], pull = idiv && a > 0 ? a / fmax(model_at(c, p, b, h), FLOOR) : a;
        plx__axpy(above, p->weight * pull, p->columns.data + h * p->columns.ld, c->k);
    }
    if (idiv) plx__axpy(below, p->weight, p->row_sum, c->k);
    else
        for (plx_index g = 0; g < c->k; g++) plx__axpy(below, p->weight * b[g], p->gram.data + g * p->gram.ld, c->k);
}

/* Returns the largest change of an entry. A row without a view that has weight keeps its value. */
static double update_row(const plx__consensus *c, plx_index i, double *work)
{
    double *b = c->b.data + i * c->b.ld, *above = work, *below = work + c->k, change = 0;
    bool any = false;
    memset(work, 0, (size_t)(2 * c->k) * sizeof *work);
    for (plx_index v = 0; v < c->n_patterns; v++) {
        const plx__membership *p = &c->patterns[v];
        if (!p->present[i] || !(p->weight > 0)) continue;
        add_view(c, p, i, b, above, below);
        any = true;
    }
    for (plx_index g = 0; any && g < c->k; g++) {
        double value = b[g] * above[g] / fmax(below[g], FLOOR);
        change = fmax(change, fabs(value - b[g]));
        b[g] = value;
    }
    return change;
}

static plx_status update_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__consensus *c = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) (void)update_row(c, i, c->work + 2 * c->k * worker);
    return PLX_OK;
}

/* ---- maps ---- */

typedef struct map_sums {
    const plx__consensus *c;
    const plx__membership *p;
    bool start;
    plx_index slab_rows, width;
} map_sums;

/* Partial sums: k_v x k of b times (A or A/M), k of b, and for the squared loss k x k of b b'. */
static void sum_rows(const map_sums *q, plx_index begin, plx_index end, double *partial)
{
    const plx__consensus *c = q->c;
    const plx__membership *p = q->p;
    bool ratio = c->loss == PLX__LOSS_IDIV && !q->start, squares = c->loss == PLX__LOSS_EUCLID && !q->start;
    double *mass = partial + p->values.cols * c->k, *square = mass + c->k;
    memset(partial, 0, (size_t)q->width * sizeof *partial);
    for (plx_index i = begin; i < end; i++) {
        const double *b = c->b.data + i * c->b.ld;
        if (!p->present[i]) continue;
        for (int64_t e = p->values.ptr[i]; e < p->values.ptr[i + 1]; e++) {
            plx_index h = p->values.col[e];
            double a = p->values.val[e], pull = ratio && a > 0 ? a / fmax(model_at(c, p, b, h), FLOOR) : a;
            plx__axpy(partial + h * c->k, pull, b, c->k);
        }
        plx__axpy(mass, 1.0, b, c->k);
        for (plx_index g = 0; squares && g < c->k; g++) plx__axpy(square + g * c->k, b[g], b, c->k);
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
    const double *mass = sums + p->values.cols * c->k, *square = mass + c->k;
    for (plx_index h = 0; h < p->values.cols; h++) {
        double *column = p->columns.data + h * p->columns.ld, *below = c->work;
        memcpy(below, mass, (size_t)c->k * sizeof *below);
        if (!start && c->loss == PLX__LOSS_EUCLID) {
            memset(below, 0, (size_t)c->k * sizeof *below);
            for (plx_index g = 0; g < c->k; g++) plx__axpy(below, column[g], square + g * c->k, c->k);
        }
        for (plx_index g = 0; g < c->k; g++)
            column[g] = (start ? 1 : column[g]) * sums[h * c->k + g] / fmax(below[g], FLOOR);
    }
}

plx_status plx__consensus_refresh(plx__consensus *c, plx__membership *p)
{
    memset(p->row_sum, 0, (size_t)c->k * sizeof *p->row_sum);
    for (plx_index h = 0; h < p->columns.rows; h++)
        plx__axpy(p->row_sum, 1.0, p->columns.data + h * p->columns.ld, c->k);
    if (c->loss != PLX__LOSS_EUCLID) return PLX_OK;
    return plx__syrk(c->ctx, 1.0, plx__cmat(p->columns), PLX__T, 0.0, p->gram);
}

static plx_status update_map(plx__consensus *c, plx__membership *p, bool start)
{
    map_sums q = {c, p, start, plx__max(ROWS_AT_A_TIME, c->n / PLX__CONSENSUS_SLABS + 1), (p->values.cols + 1) * c->k};
    plx_index slabs = c->n / q.slab_rows + 1;
    if (c->loss == PLX__LOSS_EUCLID) q.width += c->k * c->k;
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
    return a > 0 ? a * log(a / fmax(m, FLOOR)) - a + m : m;
}

/* Sum over all columns of what an entry with A = 0 costs. */
static double empty_loss(const plx__consensus *c, const plx__membership *p, const double *b)
{
    double sum = 0;
    if (c->loss == PLX__LOSS_IDIV) return plx__dot(b, p->row_sum, c->k);
    for (plx_index g = 0; g < c->k; g++) sum += b[g] * plx__dot(b, p->gram.data + g * p->gram.ld, c->k);
    return sum;
}

/* Narrow patterns are summed entry by entry, which stays exact when the fit is perfect; in wide ones the entries with
 * A = 0 are counted by what all of them would cost. */
static double view_loss(const plx__consensus *c, const plx__membership *p, plx_index i)
{
    const double *b = c->b.data + i * c->b.ld;
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

static plx_status loss_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__consensus *c = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        c->row_loss[i] = 0;
        for (plx_index v = 0; v < c->n_patterns; v++)
            if (c->patterns[v].present[i]) c->row_loss[i] += c->patterns[v].weight * view_loss(c, &c->patterns[v], i);
    }
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

static plx_status place_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const placing *q = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) {
        double change = INFINITY, *b = q->c->b.data + i * q->c->b.ld;
        for (plx_index g = 0; g < q->c->k; g++) b[g] = 1 / (double)q->c->k;
        for (plx_index t = 0; t < q->rounds && change > q->tol; t++)
            change = update_row(q->c, i, q->c->work + 2 * q->c->k * worker);
    }
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
