/*
 * What the runs say: means and deviations, who is best and who is not significantly worse, ranks over the blocks.
 *
 * An entry is tested against the best of its block by a paired t test over the runs, two-sided; the p values of a block
 * are corrected by Holm. Without samples set aside the runs are independent draws of labels from the data set, and the
 * test speaks of such draws. With samples set aside the fits of different runs share most of their samples, which makes
 * the plain test call far too much significant: the variance is then that of Nadeau and Bengio (2003),
 * (1/J + n_test / n_fit) s^2 for J runs.
 */
#include <math.h>
#include <string.h>

#include "compare/comparison.h"
#include "eval/paired_tests.h"
#include "eval/special.h"

double plx__measured_value(const plx__measured *m, const char *metric)
{
    for (plx_index i = 0; m->done && !m->reason && i < m->count; i++)
        if (strcmp(m->name[i], metric) == 0) return m->value[i];
    return NAN;
}

const char *plx__comparison_test(const plx_comparison *c)
{
    if (c->runs < 2) return "one run, not tested";
    return c->folds || c->inductive ? "corrected resampled t test, Holm" : "paired t test, Holm";
}

const char *plx__tally_reason(const plx_comparison *c, plx_index block, plx_index entry, plx_index *failed)
{
    const char *reason = NULL;
    *failed = 0;
    for (plx_index r = 0; r < c->runs; r++) {
        const plx__measured *m = plx__measured_of(c, block, entry, r);
        *failed += m->reason != NULL;
        if (!reason) reason = m->reason;
    }
    return reason;
}

plx__expense plx__expense_of(const plx_comparison *c, plx_index block, plx_index entry)
{
    double sum[3] = {0, 0, 0}, count[3] = {0, 0, 0};
    for (plx_index r = 0; r < c->runs; r++) {
        const plx__measured *m = plx__measured_of(c, block, entry, r);
        const double value[3] = {m->seconds, m->cpu, m->memory};
        for (int k = 0; k < 3; k++) {
            if (isnan(value[k]) || m->reason) continue;
            sum[k] += value[k];
            count[k]++;
        }
    }
    for (int k = 0; k < 3; k++) sum[k] = count[k] > 0 ? sum[k] / count[k] : NAN;
    return (plx__expense){sum[0], sum[1], sum[2]};
}

/* ---- one cell ---- */

static void describe(plx__tally *cell, const plx_comparison *c, plx_index metric, plx_index block, plx_index entry)
{
    double sum = 0, squares = 0;
    *cell = (plx__tally){.mean = NAN, .sd = NAN, .p = NAN, .p_holm = NAN};
    for (plx_index r = 0; r < c->runs; r++) {
        double x = plx__measured_value(plx__measured_of(c, block, entry, r), c->metric[metric]);
        if (isnan(x)) continue;
        sum += x;
        cell->runs++;
    }
    if (cell->runs) cell->mean = sum / (double)cell->runs;
    for (plx_index r = 0; r < c->runs; r++) {
        double x = plx__measured_value(plx__measured_of(c, block, entry, r), c->metric[metric]);
        if (!isnan(x)) squares += (x - cell->mean) * (x - cell->mean);
    }
    if (cell->runs > 1) cell->sd = sqrt(squares / (double)(cell->runs - 1));
}

/* ---- tests against the best ---- */

static bool better(const plx_comparison *c, plx_index metric, double a, double b)
{
    return plx__smaller_is_better(c->metric[metric]) ? a < b : a > b;
}

static plx_index find_best(const plx_comparison *c, plx_index metric, plx_index block)
{
    plx_index best = -1;
    for (plx_index e = 0; e < c->n_entries; e++) {
        const plx__tally *cell = plx__tally_of(c, metric, block, e);
        if (cell->runs < c->runs) continue;
        if (best < 0 || better(c, metric, cell->mean, plx__tally_of(c, metric, block, best)->mean)) best = e;
    }
    return best;
}

static double test_pair(double *difference, const plx_comparison *c, plx_index metric, plx_index block, plx_index a,
                        plx_index b)
{
    double runs = (double)c->runs;
    for (plx_index r = 0; r < c->runs; r++)
        difference[r] = plx__measured_value(plx__measured_of(c, block, a, r), c->metric[metric]) -
                        plx__measured_value(plx__measured_of(c, block, b, r), c->metric[metric]);
    plx__test plain = plx__paired_t(difference, c->runs);
    double t = plain.statistic / sqrt(1 + runs * c->block[block].test_ratio);
    return isinf(t) ? plain.p : plx__student_two_sided(t, runs - 1);
}

/* Holm: the k-th smallest of m, counted from 0, is multiplied by m - k, and none is below the one before. */
static void correct(plx__tally **tested, plx_index count)
{
    double before = 0;
    for (plx_index k = 0; k < count; k++) {
        plx_index least = k;
        for (plx_index i = k + 1; i < count; i++)
            if (tested[i]->p < tested[least]->p) least = i;
        plx__tally *cell = tested[least];
        tested[least] = tested[k];
        tested[k] = cell;
        cell->p_holm = fmin(1, fmax(before, cell->p * (double)(count - k)));
        before = cell->p_holm;
    }
}

static plx_status test_block(plx_comparison *c, plx_context *ctx, plx_index metric, plx_index block)
{
    plx_index best = find_best(c, metric, block), count = 0;
    double *difference = NULL;
    plx__tally **tested = NULL;
    if (best < 0) return PLX_OK;
    plx__tally *top = plx__tally_of(c, metric, block, best);
    top->best = top->level = true;
    PLX_TRY(plx__arena_f64(&difference, plx__scratch(ctx), c->runs, 1));
    PLX_TRY(PLX__ARENA_NEW(&tested, plx__scratch(ctx), c->n_entries));
    for (plx_index e = 0; e < c->n_entries; e++) {
        plx__tally *cell = plx__tally_of(c, metric, block, e);
        if (e == best || cell->runs < c->runs) continue;
        if (cell->mean == top->mean)
            cell->best = cell->level = true; /* as good; the test below cannot tell otherwise */
        if (c->runs < 2) continue;
        cell->p = test_pair(difference, c, metric, block, best, e);
        tested[count++] = cell;
    }
    correct(tested, count);
    for (plx_index k = 0; k < count; k++) tested[k]->level |= tested[k]->p_holm >= c->alpha;
    return PLX_OK;
}

/* ---- ranks over the blocks ---- */

/* An entry without a value in every run of a block is the last there, beside others like it. */
static plx_status rank_blocks(plx_comparison *c, plx_context *ctx, plx_index metric)
{
    double *row = NULL, *rank = NULL, sum = 0, n = (double)c->n_blocks, k = (double)c->n_entries;
    double *mean = c->rank + metric * c->n_entries;
    bool complete = true;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), c->n_entries, 1));
    PLX_TRY(plx__arena_f64(&rank, plx__scratch(ctx), c->n_entries, 1));
    for (plx_index b = 0; b < c->n_blocks; b++) {
        for (plx_index e = 0; e < c->n_entries; e++) {
            const plx__tally *cell = plx__tally_of(c, metric, b, e);
            bool whole = cell->runs == c->runs;
            complete &= whole;
            row[e] = !whole ? INFINITY : plx__smaller_is_better(c->metric[metric]) ? cell->mean : -cell->mean;
        }
        PLX_TRY(plx__mean_ranks(rank, NULL, ctx, row, c->n_entries));
        for (plx_index e = 0; e < c->n_entries; e++) mean[e] += rank[e] / n;
    }
    for (plx_index e = 0; e < c->n_entries; e++) sum += (mean[e] - (k + 1) / 2) * (mean[e] - (k + 1) / 2);
    c->friedman_p[metric] = complete && c->n_blocks > 1 && c->n_entries > 1
                                ? plx__chi_square_upper(12 * n / (k * (k + 1)) * sum, k - 1)
                                : NAN;
    return PLX_OK;
}

/* No rank for who never answered. */
static void drop_ranks(plx_comparison *c, plx_index metric)
{
    for (plx_index e = 0; e < c->n_entries; e++) {
        plx_index answers = 0;
        for (plx_index b = 0; b < c->n_blocks; b++) answers += plx__tally_of(c, metric, b, e)->runs == c->runs;
        if (answers == 0) c->rank[metric * c->n_entries + e] = NAN;
    }
}

plx_status plx__comparison_summarise(plx_comparison *c, plx_context *ctx)
{
    for (plx_index m = 0; m < c->n_metrics; m++) {
        for (plx_index b = 0; b < c->n_blocks; b++) {
            for (plx_index e = 0; e < c->n_entries; e++) describe(plx__tally_of(c, m, b, e), c, m, b, e);
            PLX_TRY(test_block(c, ctx, m, b));
        }
        PLX_TRY(rank_blocks(c, ctx, m));
        drop_ranks(c, m);
    }
    return PLX_OK;
}

plx_status plx__order_by_rank(plx_index **out, plx_context *ctx, const plx_comparison *c, plx_index metric)
{
    const double *rank = c->rank + metric * c->n_entries;
    PLX_TRY(plx__arena_i64(out, plx__scratch(ctx), c->n_entries));
    for (plx_index e = 0; e < c->n_entries; e++) {
        plx_index at = e;
        for (; at > 0; at--) {
            double before = rank[(*out)[at - 1]];
            if (!isnan(before) && !(rank[e] < before)) break;
            if (isnan(before) && isnan(rank[e])) break;
            (*out)[at] = (*out)[at - 1];
        }
        (*out)[at] = e;
    }
    return PLX_OK;
}
