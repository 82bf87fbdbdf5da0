/*
 * Row scaling: one pass measures the rows, statistics of the fitted ones are taken, and values are copied only for a view
 * in which some row changes.
 */
#include "mixture/row_scaling.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "data/divided.h"

enum { ROWS_AT_A_TIME = 512 };

static const double CAP = 3; /* medians of the row sums a row may have */
static const char STATISTICS[] = "_row_sizes";

const plx__param_spec plx__row_params[] = {
    {"rows", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "cap", 0, 0, "cap|raw|l1|unit",
     "Scaling of the rows of counts first. cap: rows longer than three times the median are shortened to that; raw: "
     "none; l1: all to the view's mean sum; unit: all to Euclidean length 1."},
    PLX__PARAM_END};

plx_status plx__row_rule_of(plx__row_rule *out, const plx__run *run)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "rows", NULL));
    *out = (plx__row_rule)value.word;
    return PLX_OK;
}

bool plx__is_countlike(const plx__run *run, const plx__view *view)
{
    (void)run;
    return view->kind != PLX_VIEW_REAL && view->kind != PLX_VIEW_KERNEL;
}

/* ---- measuring ---- */

/* The sum (unit: Euclidean norm) of row i is unit[i] * size[i]. unit is 1 unless that over- or underflows. */
typedef struct measured {
    const plx__view *view;
    plx_index n;
    plx__row_rule rule;
    double *unit, *size;
    double target;  /* what a row is brought to; cap: at most; 0: rows stay as they are */
    double *values; /* scaled copy of the view's stored values */
} measured;

static const double *row_values(const plx__view *v, plx_index i, plx_index *count)
{
    *count = v->sparse ? v->csr.ptr[i + 1] - v->csr.ptr[i] : v->cols;
    return v->sparse ? v->csr.val + v->csr.ptr[i] : v->dense.data + i * v->dense.ld;
}

static double size_of(const double *x, plx_index count, double unit, bool norm)
{
    double sum = 0;
    for (plx_index k = 0; k < count; k++) {
        double t = x[k] / unit;
        sum += norm ? t * t : t;
    }
    return norm ? sqrt(sum) : sum;
}

static plx_status measure_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    measured *q = arg;
    bool norm = q->rule == PLX__ROWS_UNIT;
    plx_index first = plx__held_begin(q->view);
    (void)ctx, (void)worker;
    for (plx_index i = first + begin; i < first + end; i++) {
        plx_index count = 0;
        const double *x = row_values(q->view, i, &count);
        q->unit[i] = 1;
        q->size[i] = q->view->present[i] ? size_of(x, count, 1, norm) : 0;
        if (!q->view->present[i] || (q->size[i] > 1e-140 && q->size[i] < 1e300)) continue;
        double largest = 0;
        for (plx_index k = 0; k < count; k++) largest = fmax(largest, x[k]);
        if (!(largest > 0)) continue;
        q->unit[i] = largest;
        q->size[i] = size_of(x, count, largest, norm);
    }
    return PLX_OK;
}

/* Room for the measures of one view after the other. */
static plx_status open_measures(measured *q, const plx__run *run, plx__row_rule rule)
{
    *q = (measured){.n = run->problem->n, .rule = rule};
    PLX_TRY(plx__arena_f64(&q->unit, plx__scratch(run->ctx), q->n, 1));
    return plx__arena_f64(&q->size, plx__scratch(run->ctx), q->n, 1);
}

static plx_status measure(measured *q, plx_context *ctx, const plx__view *view)
{
    plx_index rows = plx__held_end(view, q->n) - plx__held_begin(view);
    q->view = view;
    PLX_TRY(plx__parallel_for(ctx, rows, ROWS_AT_A_TIME, measure_rows, q));
    PLX_TRY(plx__held_share(ctx, view, q->unit, sizeof *q->unit));
    return plx__held_share(ctx, view, q->size, sizeof *q->size);
}

/* ---- statistics of the fitted rows ---- */

/* Puts the k-th smallest of x (from 0) at its place, smaller or equal ones in front of it (Hoare 1961). */
static void select_kth(double *x, plx_index n, plx_index k)
{
    for (plx_index low = 0, high = n - 1; low < high;) {
        double pivot = x[low + (high - low) / 2];
        plx_index i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            double keep = x[i];
            x[i++] = x[j];
            x[j--] = keep;
        }
        if (k <= j) high = j;
        else if (k >= i) low = i;
        else return;
    }
}

static double median_of(double *x, plx_index n)
{
    double below = 0;
    select_kth(x, n, n / 2);
    for (plx_index i = 0; i < n / 2; i++) below = fmax(below, x[i]);
    return n % 2 ? x[n / 2] : 0.5 * below + 0.5 * x[n / 2];
}

/* Median (cap) or mean (l1) of the positive row sums; 0 when there is none. */
static plx_status statistic(double *out, plx_context *ctx, const measured *q)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *sums = NULL;
    plx_index count = 0;
    *out = 0;
    PLX_TRY(plx__arena_f64(&sums, plx__scratch(ctx), q->n, 1));
    for (plx_index i = 0; i < q->n; i++)
        if (q->size[i] > 0) sums[count++] = q->unit[i] * q->size[i];
    if (count && q->rule == PLX__ROWS_L1) *out = plx__sum(sums, count) / (double)count;
    if (count && q->rule == PLX__ROWS_CAP) *out = median_of(sums, count);
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (!isfinite(CAP * *out))
        PLX_FAIL(ctx, PLX_E_NUMERIC, "view '%s': the sums of its rows are too large; divide its values", q->view->name);
    return PLX_OK;
}

/* ---- scaling ---- */

static double target_of(plx__row_rule rule, double statistic)
{
    if (rule == PLX__ROWS_UNIT) return 1;
    return rule == PLX__ROWS_CAP ? CAP * statistic : statistic;
}

static bool changes(const measured *q, plx_index i)
{
    if (!(q->target > 0) || !(q->size[i] > 0)) return false;
    return q->rule != PLX__ROWS_CAP || q->size[i] > q->target / q->unit[i];
}

static bool any_changes(const measured *q)
{
    for (plx_index i = plx__held_begin(q->view); i < plx__held_end(q->view, q->n); i++)
        if (changes(q, i)) return true;
    return false;
}

static plx_status copy_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const measured *q = arg;
    const plx__view *v = q->view;
    plx_index first = plx__held_begin(v);
    (void)ctx, (void)worker;
    for (plx_index i = first + begin; i < first + end; i++) {
        plx_index count = 0;
        const double *x = row_values(v, i, &count);
        double *to = q->values + (v->sparse ? v->csr.ptr[i] : i * v->cols);
        if (count) memcpy(to, x, (size_t)count * sizeof *to);
        if (!changes(q, i)) continue;
        double factor = q->target / q->size[i];
        for (plx_index k = 0; k < count; k++) to[k] = x[k] / q->unit[i] * factor;
    }
    return PLX_OK;
}

/* That are here. */
static plx_index stored_values(const plx__view *v, plx_index n)
{
    return v->sparse ? v->csr.ptr[n] : (plx__held_end(v, n) - plx__held_begin(v)) * v->cols;
}

static plx_status scaled_copy(plx__view *out, plx_context *ctx, measured *q)
{
    const plx__view *v = q->view;
    plx_index rows = plx__held_end(v, q->n) - plx__held_begin(v);
    if (v->sparse) PLX_TRY(plx__arena_f64(&q->values, plx__scratch(ctx), stored_values(v, q->n), 1));
    else PLX_TRY(plx__held_dense(&q->values, plx__scratch(ctx), v, q->n));
    PLX_TRY(plx__parallel_for(ctx, rows, ROWS_AT_A_TIME, copy_rows, q));
    if (v->sparse) out->csr.val = q->values;
    else out->dense = (plx_cmat){q->values, q->n, v->cols, v->cols};
    return PLX_OK;
}

/* A model without them was fitted before rows were capped. */
static plx_status open_statistics(plx_mat *out, plx__run *run, plx__row_rule rule)
{
    plx_cmat known;
    plx_index n_views = run->problem->n_views;
    if (!run->fitted) return plx__store_new(out, run->out, STATISTICS, 1, n_views);
    if (rule == PLX__ROWS_CAP && !plx__store_find(run->fitted, STATISTICS))
        return plx__arena_mat(out, plx__scratch(run->ctx), 1, n_views);
    PLX_TRY(plx__store_shaped(&known, run->ctx, run->fitted, STATISTICS, 1, n_views));
    PLX_TRY(plx__arena_mat(out, plx__scratch(run->ctx), 1, n_views));
    memcpy(out->data, known.data, (size_t)n_views * sizeof *out->data);
    return PLX_OK;
}

plx_status plx__scale_rows(const plx__view **out, plx__run *run, plx__view_test scaled)
{
    const plx__problem *p = run->problem;
    plx__row_rule rule;
    plx__view *views = NULL;
    plx_mat statistics;
    measured q;
    *out = p->views;
    PLX_TRY(plx__row_rule_of(&rule, run));
    if (rule == PLX__ROWS_RAW) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(run->ctx), p->n_views));
    memcpy(views, p->views, (size_t)p->n_views * sizeof *views);
    PLX_TRY(open_statistics(&statistics, run, rule));
    PLX_TRY(open_measures(&q, run, rule));
    for (plx_index v = 0; v < p->n_views; v++) {
        if (scaled && !scaled(run, &p->views[v])) continue;
        PLX_TRY(measure(&q, run->ctx, &p->views[v]));
        if (!run->fitted) PLX_TRY(statistic(&statistics.data[v], run->ctx, &q));
        q.target = target_of(rule, statistics.data[v]);
        if (any_changes(&q)) PLX_TRY(scaled_copy(&views[v], run->ctx, &q));
    }
    *out = views;
    return PLX_OK;
}

/* Whether the cap can shorten a row, without room for a median: the largest sum passes three medians when more than half
 * of the rows have less than a third of it (half of them: perhaps). */
static bool cap_may_change(plx_context *ctx, const plx__view *v, plx_index n)
{
    double largest = 0;
    plx_index count = 0, rows = 0, below = 0;
    for (plx_index i = 0; i < n; i++) {
        const double *x = row_values(v, i, &count);
        plx__breathe(ctx, i);
        if (v->present[i]) largest = fmax(largest, size_of(x, count, 1, false));
    }
    for (plx_index i = 0; i < n; i++) {
        const double *x = row_values(v, i, &count);
        plx__breathe(ctx, i);
        double sum = v->present[i] ? size_of(x, count, 1, false) : 0;
        rows += sum > 0;
        below += sum > 0 && sum < largest / CAP;
    }
    return 2 * below >= rows;
}

double plx__scale_rows_bytes(const plx__run *run, plx__view_test scaled)
{
    const plx__problem *p = run->problem;
    plx__row_rule rule;
    double bytes = 24 * (double)p->n;
    if (plx__row_rule_of(&rule, run) != PLX_OK || rule == PLX__ROWS_RAW) return 0;
    for (plx_index v = 0; v < p->n_views; v++) {
        if (scaled && !scaled(run, &p->views[v])) continue;
        if (rule != PLX__ROWS_CAP || p->views[v].divided || cap_may_change(run->ctx, &p->views[v], p->n))
            bytes += 8 * (double)stored_values(&p->views[v], p->n);
    }
    return bytes;
}
