#include "graph/neighbours.h"

#include <math.h>

#include "core/parallel.h"
#include "linalg/knn_approx.h"

const plx__param_spec plx__knn_params[] = {
    {"knn", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "exact", 0, 0, "exact|approx",
     "Search of the neighbours: exact, or approximate (FAISS; dense views) for very many samples."},
    PLX__PARAM_END};

bool plx__knn_is_approx(const plx__run *run)
{
    plx__value value;
    return plx__view_value_level(run->settings, "knn", NULL) >= 0 &&
           plx__view_value(&value, run->ctx, run->settings, "knn", NULL) == PLX_OK && value.word == 1;
}

static plx_status report_recall(plx__run *run, const char *view, double recall)
{
    plx__info(run->ctx, "%s: approximate neighbours in view '%s', recall %.4f", run->method->name, view, recall);
    if (isnan(recall)) return PLX_OK;
    json_t *extra = run->info->extra ? run->info->extra : json_object(), *all = json_object_get(extra, "knn_recall");
    run->info->extra = extra;
    if (extra && !all && json_object_set_new(extra, "knn_recall", json_object()) == 0)
        all = json_object_get(extra, "knn_recall");
    if (!all || json_object_set_new(all, view, json_real(recall)) != 0)
        PLX_FAIL(run->ctx, PLX_E_NOMEM, "out of memory for the recall of view '%s'", view);
    return PLX_OK;
}

plx_status plx__neighbours(plx_context *ctx, plx__run *run, const char *view, plx__points rows,
                           const plx__knn_options *options, int64_t *index, double *distance)
{
    if (!run || !plx__knn_is_approx(run)) return plx__knn(ctx, rows, rows, options, index, distance);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double recall = NAN;
    if (!distance) PLX_TRY(plx__arena_f64(&distance, plx__scratch(ctx), plx__points_rows(rows), options->k));
    PLX_TRY(plx__knn_approx(ctx, rows, options, view, index, distance, &recall));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return report_recall(run, view, recall);
}

double plx__neighbours_bytes(const plx__run *run)
{
    enum { MANY = 100 }; /* neighbours: few searches ask for more */
    plx_index cols = 0;
    if (run->fitted || !plx__knn_is_approx(run)) return 0.0;
    for (plx_index v = 0; v < run->problem->n_views; v++)
        if (!run->problem->views[v].sparse) cols += run->problem->views[v].cols;
    return plx__knn_approx_bytes(run->problem->n, cols, MANY, plx__workers(run->ctx));
}
