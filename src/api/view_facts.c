/*
 * One view by itself: a linear classifier on folds, a clustering, its strongest directions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/views_impl.h"
#include "cluster/view_clusters.h"
#include "core/rng.h"
#include "data/split_impl.h"
#include "explain/directions.h"
#include "methods/registry.h"

/* ---- how good it is alone ---- */

/* The view as a data set whose labels are those of all folds but one. */
static plx_status open_fold(plx_dataset **out, plx__view_report *r, const plx__view *v, const int32_t *fold,
                            plx_index left_out)
{
    const char **labels = NULL;
    plx_status st = PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&labels, plx__scratch(r->ctx), r->data->n));
    for (plx_index i = 0; i < r->data->n; i++) labels[i] = fold[i] == left_out ? NULL : r->classes[i];
    PLX_TRY(plx__dataset_create(out, r->ctx, r->data->name, r->data->n));
    PLX_GOTO(plx__dataset_share(*out, r->ctx, v));
    PLX_GOTO(plx__dataset_set_labels(*out, r->ctx, labels));
done:
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}

/* Answers for the fold; a fit that is refused gives none. */
static plx_status answer_fold(plx__view_report *r, plx__view_facts *f, const int32_t *fold, plx_index k)
{
    plx_dataset *part = NULL;
    plx_model *model = NULL;
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_log_fn log = r->ctx->log;
    plx__note **tail = r->ctx->notes_tail;
    PLX_TRY(open_fold(&part, r, f->view, fold, k));
    r->ctx->log = NULL;
    plx_status st = plx__fit(&model, r->ctx, plx__method_find("svm"), part, NULL, &o, NULL);
    r->ctx->log = log;
    r->ctx->notes_tail = tail;
    *tail = NULL;
    for (plx_index i = 0; st == PLX_OK && i < r->data->n; i++) {
        const char *label = model->fitted.outcome.label ? model->fitted.outcome.label[i] : NULL;
        if (fold[i] != k || !r->classes[i] || !f->view->present[i] || !label) continue;
        for (plx_index c = 0; c < r->data->n_classes; c++) /* a text that outlives the model */
            if (strcmp(r->data->classes[c], label) == 0) f->answer[i] = r->data->classes[c];
    }
    plx_model_destroy(model);
    plx__dataset_destroy(part);
    if (st == PLX_OK || st == PLX_E_CANCELLED || st == PLX_E_NOMEM || st == PLX_E_INTERNAL) return st;
    plx__clear_error(r->ctx);
    return PLX_OK;
}

static void count_right(plx__view_report *r, plx__view_facts *f)
{
    double right = 0, count = 0;
    for (plx_index i = 0; i < r->data->n; i++) {
        if (!f->answer[i]) continue;
        right += strcmp(f->answer[i], r->classes[i]) == 0;
        count++;
    }
    f->judged = (plx_index)count;
    if (count == 0) return;
    f->accuracy = right / count;
    f->error = sqrt(f->accuracy * (1 - f->accuracy) / count);
}

static plx_status validate(plx__view_report *r, plx__view_facts *f)
{
    plx_index folds = plx__min(r->o.folds, r->labelled);
    int32_t *fold = NULL;
    plx_dataset *named = NULL;
    PLX_TRY(PLX__ARENA_NEW(&f->answer, plx__scratch(r->ctx), r->data->n));
    if (folds < 2 || r->n_classes < 2 || f->view->kind == PLX_VIEW_KERNEL) return PLX_OK;
    PLX_TRY(plx__arena_i32(&fold, plx__scratch(r->ctx), r->data->n));
    PLX_TRY(plx__dataset_create(&named, r->ctx, r->data->name, r->data->n));
    plx_status st = plx__dataset_set_truth(named, r->ctx, r->classes);
    if (st == PLX_OK) st = plx__split_folds(fold, r->ctx, named, folds);
    plx__dataset_destroy(named);
    PLX_TRY(st);
    for (plx_index k = 0; k < folds; k++) PLX_TRY(answer_fold(r, f, fold, k));
    count_right(r, f);
    return PLX_OK;
}

/* ---- clusters and directions of the scaled view ---- */

static plx_status name_clusters(plx__view_report *r, plx__view_facts *f, const int32_t *label)
{
    PLX_TRY(PLX__ARENA_NEW(&f->cluster, plx__scratch(r->ctx), r->data->n));
    for (plx_index i = 0; i < r->data->n; i++)
        if (label[i] >= 0) PLX_TRY(plx__arena_printf(&f->cluster[i], plx__scratch(r->ctx), "c%d", (int)label[i]));
    return PLX_OK;
}

static plx_status find_clusters(plx__view_report *r, plx__view_facts *f, const plx__view *scaled)
{
    plx__partition found;
    plx__cluster_settings o = {
        .clusters = plx__max(2, r->n_classes), .restarts = 5, .stream = PLX__STREAM('v', 'w', 'c', 0, 0)};
    if (f->view->present_count < o.clusters) return PLX_OK;
    PLX_TRY(plx__cluster_view(&found, r->ctx, plx__scratch(r->ctx), scaled, r->data->n, &o));
    return name_clusters(r, f, found.label);
}

static plx_status find_directions(plx__view_report *r, plx__view_facts *f, const plx__view *scaled)
{
    plx__directions found;
    PLX_TRY(plx__view_directions(&found, r->ctx, scaled, r->data->n, r->o.directions));
    f->direction = found.u;
    return PLX_OK;
}

plx_status plx__view_alone(plx__view_report *r, plx_index view)
{
    plx__view_facts *f = &r->facts[view];
    plx__view scaled;
    double cells = (double)plx__max(r->data->views[view].present_count * r->data->views[view].cols, 1);
    *f = (plx__view_facts){.view = &r->data->views[view], .accuracy = NAN, .error = NAN};
    f->density = (double)f->view->nonzeros / cells;
    if (r->classes) PLX_TRY(validate(r, f));
    if (f->view->kind == PLX_VIEW_KERNEL || f->view->missing_values > 0) return PLX_OK;
    PLX_TRY(plx__scaled_view(&scaled, r->ctx, f->view));
    PLX_TRY(find_clusters(r, f, &scaled));
    return find_directions(r, f, &scaled);
}
