/*
 * Which search serves a view, and what the user is told of it.
 */
#include "graph/neighbours.h"

#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "device/anywhere.h"
#include "graph/descent.h"
#include "linalg/knn_ring.h"
#include "run/facts.h"

typedef enum knn_choice { KNN_AUTO = 0, KNN_EXACT = 1, KNN_APPROX = 2 } knn_choice; /* order of the words */

static plx_index count_present(const uint8_t *present, plx_index n)
{
    plx_index count = 0;
    for (plx_index i = 0; i < n; i++) count += !present || present[i];
    return count;
}

typedef struct search_plan {
    bool approx, unasked; /* unasked: auto took it, which it does not among ranks */
    double target;
} search_plan;

/* Methods without the parameters search exactly. */
static plx_status plan_search(search_plan *out, plx_context *ctx, const plx__run *run, const char *view, plx_index n)
{
    plx__value choice, recall;
    *out = (search_plan){0};
    if (!run || plx__view_value_level(run->settings, "knn", view) < 0) return PLX_OK;
    PLX_TRY(plx__view_value(&choice, ctx, run->settings, "knn", view));
    PLX_TRY(plx__view_value(&recall, ctx, run->settings, "knn_recall", view));
    out->unasked = choice.word == KNN_AUTO && n > PLX__KNN_EXACT_ROWS && plx__ranks(ctx) == 1;
    out->approx = out->unasked || choice.word == KNN_APPROX;
    out->target = recall.number;
    return PLX_OK;
}

/* What nobody asked for is told as loudly as what went wrong. */
static plx_status tell(plx__run *run, const char *view, const plx__descent_report *report, const search_plan *plan)
{
    const char *name = run->method->name;
    double found = 100 * report->recall;
    if (report->exact) return PLX_OK;
    if (report->recall < plan->target)
        plx__warn(
            run->ctx,
            "%s: %.1f %% of the neighbours in view '%s' were found, knn_recall asks for %.1f %%%s; knn=exact finds "
            "all of them",
            name, found, view, 100 * plan->target, report->out_of_time ? " (the time limit ended the search)" : "");
    else if (plan->unasked)
        plx__warn(
            run->ctx,
            "%s: with more than %d samples the neighbours in view '%s' are approximate (knn=auto): %.1f %% are the "
            "true ones; knn=exact finds all of them",
            name, PLX__KNN_EXACT_ROWS, view, found);
    else plx__info(run->ctx, "%s: approximate neighbours in view '%s', %.1f %% are the true ones", name, view, found);
    return run->fitted ? PLX_OK : plx__report_number_of(run, "knn_recall", view, report->recall);
}

/* Rows that are divided otherwise go where the search has them. */
static plx_status move_rows(plx__points *rows, plx_context *ctx, const plx_index *bound, plx__slabs cut)
{
    plx_index *to = NULL, *all = NULL;
    int ranks = plx__ranks(ctx);
    if (!bound) return PLX_OK;
    PLX_TRY(plx__arena_i64(&to, plx__scratch(ctx), ranks + 1));
    plx__slabs_bounds(to, ctx, cut);
    if (memcmp(to, bound, ((size_t)ranks + 1) * sizeof *to) == 0) return PLX_OK;
    PLX_TRY(plx__arena_i64(&all, plx__scratch(ctx), cut.n));
    for (plx_index i = 0; i < cut.n; i++) all[i] = i;
    return plx__rows_fetch(rows, ctx, *rows, bound, all, cut.n, to);
}

/* Every process with its own rows; the search by descent is one process's. */
static plx_status search_together(plx_context *ctx, plx__points rows, const plx_index *bound,
                                  const plx__knn_options *options, int64_t *index, double *distance)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__slabs cut = plx__slabs_even(ctx, plx__points_rows(rows));
    plx__knn_options own = *options;
    plx_index begin = 0, end = 0;
    PLX_TRY(move_rows(&rows, ctx, bound, cut));
    plx__slabs_mine(&begin, &end, ctx, cut);
    if (own.present) own.present += begin;
    PLX_TRY(plx__knn_ring(ctx, cut, plx__points_range(rows, begin, end), &own, index, distance));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__neighbours(plx_context *ctx, plx__run *run, const char *view, plx__points rows, const plx_index *bound,
                           const plx__knn_options *options, int64_t *index, double *distance)
{
    plx__descent_report report;
    search_plan plan;
    PLX_TRY(plan_search(&plan, ctx, run, view, count_present(options->present, plx__points_rows(rows))));
    if (plan.approx && plx__ranks(ctx) > 1)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "knn = approx (view '%s'): several processes search exactly; set knn=exact",
                 view);
    if (plx__ranks(ctx) > 1) return search_together(ctx, rows, bound, options, index, distance);
    if (!plan.approx) return plx__knn_anywhere(ctx, rows, rows, options, index, distance);
    PLX_TRY(plx__descent_knn(ctx, rows, options, plan.target, index, distance, &report));
    return tell(run, view, &report, &plan);
}

double plx__neighbours_bytes(const plx__run *run, const char *view, plx_index k, double entries, bool sparse)
{
    plx_index n = run->problem->n;
    search_plan plan;
    if (plan_search(&plan, run->ctx, run, view, n) != PLX_OK) return INFINITY;
    if (plx__ranks(run->ctx) > 1) return plx__knn_ring_bytes(run->ctx, n, k, entries, sparse);
    return plan.approx ? plx__descent_bytes(run->ctx, n, k, entries, sparse)
                       : plx__knn_bytes(run->ctx, n, k, entries, sparse);
}
