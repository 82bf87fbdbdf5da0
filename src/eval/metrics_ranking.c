/*
 * Ranking and retrieval metrics of a list.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "eval/metrics_store.h"
#include "eval/rank_core.h"

/* ---- ranking ---- */

/* The three figures of one class under the names auc<suffix>, ... */
static plx_status add_class(plx_metrics *m, const plx__rank_result *r, const char *class_name, const char *suffix)
{
    const char *reason = NULL;
    if (r->positives == 0 || r->negatives == 0)
        PLX_TRY(plx__arena_printf(&reason, plx__scratch(m->ctx),
                                  r->positives ? "every sample with known truth is of class '%s'"
                                               : "no sample with known truth is of class '%s'",
                                  class_name));
    if (reason) PLX_TRY(plx__metrics_undefined(m, reason, "auc%s", suffix));
    else PLX_TRY(plx__metrics_add(m, r->auc, "auc%s", suffix));
    if (r->positives == 0) {
        PLX_TRY(plx__metrics_undefined(m, reason, "prbep%s", suffix));
        return plx__metrics_undefined(m, reason, "average_precision%s", suffix);
    }
    PLX_TRY(plx__metrics_add(m, r->prbep, "prbep%s", suffix));
    return plx__metrics_add(m, r->average_precision, "average_precision%s", suffix);
}

static plx_status add_macro_auc(plx_metrics *m, const plx__rank_result *results, plx_index classes)
{
    double sum = 0;
    plx_index defined = 0;
    for (plx_index k = 0; k < classes; k++) {
        if (results[k].positives == 0 || results[k].negatives == 0) continue;
        sum += results[k].auc;
        defined++;
    }
    if (defined == 0) return plx__metrics_undefined(m, "the AUC of no class is defined", "macro_auc");
    return plx__metrics_add(m, sum / (double)defined, "macro_auc");
}

/* Column of the positive class: the one named so, or the only one when its own name is no class of the truth.
 * -1: there is no positive class. */
static plx_status positive_column(plx_index *column, const char **names, plx_context *ctx, const char *const *truth,
                                  plx_cmat scores, const char *positive)
{
    plx_index classes = scores.cols;
    *column = classes == 1 ? 0 : -1;
    if (!positive) return PLX_OK;
    for (plx_index k = 0; k < classes; k++)
        if (strcmp(names[k], positive) == 0) {
            *column = k;
            return PLX_OK;
        }
    bool free_name = classes == 1;
    for (plx_index i = 0; i < scores.rows && free_name; i++) free_name = !truth[i] || strcmp(truth[i], names[0]) != 0;
    if (!free_name) {
        const char *list = NULL;
        PLX_TRY(plx__list_names(&list, plx__scratch(ctx), names, classes));
        PLX_FAIL(ctx, PLX_E_ARG, "positive class '%s' has no column of scores; those that have are %s", positive, list);
    }
    names[0] = positive;
    return PLX_OK;
}

static plx_status check_nan(plx_context *ctx, const plx__rank_result *results, const char *const *names,
                            plx_index classes)
{
    for (plx_index k = 0; k < classes; k++)
        if (results[k].nan_row >= 0)
            PLX_FAIL(ctx, PLX_E_DATA, "row %lld, class '%s': the score is NaN, which cannot be ranked",
                     (long long)results[k].nan_row + 1, names[k]);
    return PLX_OK;
}

plx_status plx__metrics_ranking(plx_metrics *metrics, const char *const *truth, plx_cmat scores,
                                const char *const *classes, const char *positive, bool multilabel)
{
    plx_context *ctx = metrics->ctx;
    plx__rank_truth who;
    plx__rank_result *results = NULL;
    const char **names = NULL, *suffix = NULL;
    plx_index column = -1;
    PLX_TRY(plx__names_differ(ctx, classes, scores.cols, "score column"));
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), scores.cols));
    memcpy(names, classes, (size_t)scores.cols * sizeof *names);
    PLX_TRY(positive_column(&column, names, ctx, truth, scores, positive));
    PLX_TRY(plx__rank_truth_make(&who, ctx, truth, scores.rows, names, scores.cols, multilabel));
    PLX_TRY(PLX__ARENA_NEW(&results, plx__scratch(ctx), scores.cols));
    PLX_TRY(plx__rank_columns(results, ctx, &who, scores));
    PLX_TRY(check_nan(ctx, results, names, scores.cols));
    for (plx_index k = 0; k < scores.cols; k++) {
        PLX_TRY(plx__arena_printf(&suffix, plx__scratch(ctx), ":%s", names[k]));
        PLX_TRY(add_class(metrics, &results[k], names[k], suffix));
    }
    PLX_TRY(add_macro_auc(metrics, results, scores.cols));
    return column >= 0 ? add_class(metrics, &results[column], names[column], "") : PLX_OK;
}

/* ---- retrieval ---- */

enum { CELLS_PER_CHUNK = 1 << 16 };

typedef struct retrieval {
    plx_cmat scores;
    const plx_index *gold;
    double *rank; /* per query; 0: skipped */
} retrieval;

static plx_status rank_query(double *rank, plx_context *ctx, const double *row, plx_index items, plx_index gold,
                             plx_index query)
{
    plx_index higher = 0, tied = 0;
    for (plx_index j = 0; j < items; j++) {
        if (isnan(row[j]))
            PLX_FAIL(ctx, PLX_E_DATA, "query %lld, item %lld: the score is NaN, which cannot be ranked",
                     (long long)query + 1, (long long)j);
        higher += row[j] > row[gold];
        tied += row[j] == row[gold];
    }
    *rank = 1 + (double)higher + (double)(tied - 1) / 2;
    return PLX_OK;
}

static plx_status rank_queries(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const retrieval *r = arg;
    (void)worker;
    for (plx_index q = begin; q < end; q++) {
        plx_index gold = r->gold[q];
        if (gold == -1) continue;
        if (gold < 0 || gold >= r->scores.cols)
            PLX_FAIL(ctx, PLX_E_DATA, "gold item of query %lld is %lld; items are numbered 0 to %lld", (long long)q + 1,
                     (long long)gold, (long long)r->scores.cols - 1);
        PLX_TRY(rank_query(&r->rank[q], ctx, r->scores.data + q * r->scores.ld, r->scores.cols, gold, q));
    }
    return PLX_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Moves the ranks of answered queries to the front; returns their number. */
static plx_index drop_skipped(double *rank, plx_index n)
{
    plx_index kept = 0;
    for (plx_index q = 0; q < n; q++)
        if (rank[q] > 0) rank[kept++] = rank[q];
    return kept;
}

static plx_status add_retrieval(plx_metrics *m, double *rank, plx_index n, const plx_index *top, plx_index n_top)
{
    double reciprocal = 0;
    for (plx_index q = 0; q < n; q++) reciprocal += 1 / rank[q];
    qsort(rank, (size_t)n, sizeof *rank, compare_doubles);
    for (plx_index k = 0; k < n_top; k++) {
        plx_index hits = 0;
        while (hits < n && rank[hits] <= (double)top[k]) hits++;
        PLX_TRY(plx__metrics_add(m, (double)hits / (double)n, "top:%lld", (long long)top[k]));
    }
    PLX_TRY(plx__metrics_add(m, reciprocal / (double)n, "mrr"));
    return plx__metrics_add(m, (rank[(n - 1) / 2] + rank[n / 2]) / 2, "median_rank");
}

plx_status plx__metrics_retrieval(plx_metrics *metrics, plx_cmat scores, const plx_index *gold, const plx_index *top,
                                  plx_index n_top)
{
    static const char reason[] = "there is no query with a gold item";
    plx_context *ctx = metrics->ctx;
    retrieval r = {.scores = scores, .gold = gold};
    for (plx_index k = 0; k < n_top; k++)
        if (top[k] < 1) PLX_FAIL(ctx, PLX_E_ARG, "top:%lld: N must be at least 1", (long long)top[k]);
    PLX_TRY(plx__arena_f64(&r.rank, plx__scratch(ctx), scores.rows, 1));
    PLX_TRY(
        plx__parallel_for(ctx, scores.rows, plx__max(1, CELLS_PER_CHUNK / plx__max(1, scores.cols)), rank_queries, &r));
    plx_index n = drop_skipped(r.rank, scores.rows);
    if (n > 0) return add_retrieval(metrics, r.rank, n, top, n_top);
    for (plx_index k = 0; k < n_top; k++)
        PLX_TRY(plx__metrics_undefined(metrics, reason, "top:%lld", (long long)top[k]));
    PLX_TRY(plx__metrics_undefined(metrics, reason, "mrr"));
    return plx__metrics_undefined(metrics, reason, "median_rank");
}
