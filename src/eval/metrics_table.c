/*
 * Methods compared over data sets: average ranks, paired tests, Friedman's test.
 */
#include <math.h>

#include "eval/metrics_store.h"
#include "eval/paired_tests.h"
#include "eval/special.h"

typedef struct results {
    plx_cmat values; /* data sets x methods */
    const char *const *methods;
    bool higher_better;
    double *average_rank; /* per method, 1 = best */
} results;

static plx_status check_values(plx_context *ctx, plx_cmat values, const char *const *methods,
                               const char *const *datasets)
{
    if (values.rows == 0) PLX_FAIL(ctx, PLX_E_DATA, "the table has no data set");
    for (plx_index i = 0; i < values.rows; i++)
        for (plx_index j = 0; j < values.cols; j++)
            if (!isfinite(values.data[i * values.ld + j]))
                PLX_FAIL(ctx, PLX_E_DATA,
                         "row %lld%s%s, method '%s': the value is not a finite number; every method needs one "
                         "for every data set",
                         (long long)i + 1, datasets ? ", data set " : "", datasets ? datasets[i] : "", methods[j]);
    return PLX_OK;
}

/* ---- ranks ---- */

static plx_status average_ranks(results *r, plx_context *ctx)
{
    plx__arena *arena = plx__scratch(ctx);
    plx_index k = r->values.cols, n = r->values.rows;
    double *row = NULL, *rank = NULL;
    PLX_TRY(plx__arena_f64(&r->average_rank, arena, k, 1));
    PLX_TRY(plx__arena_f64(&row, arena, k, 1));
    PLX_TRY(plx__arena_f64(&rank, arena, k, 1));
    for (plx_index i = 0; i < n; i++) {
        for (plx_index j = 0; j < k; j++)
            row[j] = r->higher_better ? -r->values.data[i * r->values.ld + j] : r->values.data[i * r->values.ld + j];
        PLX_TRY(plx__mean_ranks(rank, NULL, ctx, row, k));
        for (plx_index j = 0; j < k; j++) r->average_rank[j] += rank[j];
    }
    for (plx_index j = 0; j < k; j++) r->average_rank[j] /= (double)n;
    return PLX_OK;
}

/* 12 n/(k(k+1)) sum_j (R_j - (k+1)/2)^2, which equals the usual form without its cancellation. */
static plx_status add_friedman(plx_metrics *m, const results *r)
{
    double n = (double)r->values.rows, k = (double)r->values.cols, sum = 0;
    for (plx_index j = 0; j < r->values.cols; j++) {
        double off = r->average_rank[j] - (k + 1) / 2;
        sum += off * off;
    }
    double statistic = 12 * n / (k * (k + 1)) * sum;
    PLX_TRY(plx__metrics_add(m, statistic, "friedman"));
    if (r->values.cols < 2) return plx__metrics_undefined(m, "there is only one method", "friedman_p");
    return plx__metrics_add(m, plx__chi_square_upper(statistic, k - 1), "friedman_p");
}

/* ---- pairs ---- */

/* 12 decimals, so that differences that are equal as decimals tie. Beyond 2^52 / 10^12 a double has no more. */
static double round12(double d) { return fabs(d) < 4503.0 ? nearbyint(d * 1e12) / 1e12 : d; }

static plx_status add_counts(plx_metrics *m, const results *r, const double *d, const char *a, const char *b)
{
    double win = 0, tie = 0, loss = 0;
    for (plx_index i = 0; i < r->values.rows; i++) {
        if (fabs(d[i]) <= 1e-12) tie++;
        else if ((d[i] > 0) == r->higher_better) win++;
        else loss++;
    }
    PLX_TRY(plx__metrics_add(m, win, "win:%s|%s", a, b));
    PLX_TRY(plx__metrics_add(m, tie, "tie:%s|%s", a, b));
    return plx__metrics_add(m, loss, "loss:%s|%s", a, b);
}

static plx_status add_t(plx_metrics *m, const double *d, plx_index n, const char *a, const char *b)
{
    if (n < 2) {
        PLX_TRY(plx__metrics_undefined(m, "a paired test needs at least two data sets", "ttest:%s|%s", a, b));
        return plx__metrics_undefined(m, "a paired test needs at least two data sets", "ttest_p:%s|%s", a, b);
    }
    plx__test t = plx__paired_t(d, n);
    PLX_TRY(plx__metrics_add(m, t.statistic, "ttest:%s|%s", a, b));
    return plx__metrics_add(m, t.p, "ttest_p:%s|%s", a, b);
}

static plx_status add_pair(plx_metrics *m, const results *r, double *d, plx_index a, plx_index b)
{
    const char *left = r->methods[a], *right = r->methods[b];
    plx__test w = {0, 0};
    for (plx_index i = 0; i < r->values.rows; i++) {
        const double *row = r->values.data + i * r->values.ld;
        d[i] = round12(row[a] - row[b]);
        if (!isfinite(d[i]))
            PLX_FAIL(m->ctx, PLX_E_NUMERIC, "row %lld: the difference of '%s' and '%s' is too large for a double",
                     (long long)i + 1, left, right);
    }
    PLX_TRY(add_t(m, d, r->values.rows, left, right));
    PLX_TRY(plx__wilcoxon(&w, m->ctx, d, r->values.rows));
    PLX_TRY(plx__metrics_add(m, w.statistic, "wilcoxon:%s|%s", left, right));
    PLX_TRY(plx__metrics_add(m, w.p, "wilcoxon_p:%s|%s", left, right));
    return add_counts(m, r, d, left, right);
}

plx_status plx__metrics_table(plx_metrics *metrics, plx_cmat values, const char *const *methods,
                              const char *const *datasets, bool higher_better)
{
    plx_context *ctx = metrics->ctx;
    results r = {.values = values, .methods = methods, .higher_better = higher_better};
    double *d = NULL;
    PLX_TRY(plx__names_differ(ctx, methods, values.cols, "method"));
    PLX_TRY(check_values(ctx, values, methods, datasets));
    PLX_TRY(average_ranks(&r, ctx));
    for (plx_index j = 0; j < values.cols; j++)
        PLX_TRY(plx__metrics_add(metrics, r.average_rank[j], "avg_rank:%s", methods[j]));
    PLX_TRY(plx__arena_f64(&d, plx__scratch(ctx), values.rows, 1));
    for (plx_index a = 0; a < values.cols; a++) {
        PLX_TRY(plx__poll(ctx));
        for (plx_index b = a + 1; b < values.cols; b++) PLX_TRY(add_pair(metrics, &r, d, a, b));
    }
    return add_friedman(metrics, &r);
}
