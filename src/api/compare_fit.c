/*
 * One run of a comparison: the data set as the run shows it, a fit, and the scored samples measured.
 */
#include <string.h>

#include "api/compare_impl.h"
#include "api/model_impl.h"
#include "api/portfolio_impl.h"
#include "api/tune_impl.h"
#include "eval/metrics_store.h"

typedef struct trial {
    const plx__compare_work *work;
    const plx__compare_task *task;
    const plx_dataset *from;
    plx_context *ctx;
    uint8_t *role;
    plx_dataset *fitted; /* what the method sees; truth of the scored samples only */
    plx_dataset *apart;  /* samples set aside, where they take no part in the fit */
    plx_params *params;
    plx_tuning *tuning; /* NULL: the settings are as they were given */
    plx_model *model;
    plx_prediction *prediction; /* of `apart` */
} trial;

/* ---- data ---- */

/* Labels of the labelled, truth of the scored. */
static plx_status dress(plx_dataset **out, trial *t, const plx_dataset *from)
{
    const plx_comparison *c = t->work->c;
    const char **labels = NULL, **truth = NULL;
    PLX_TRY(PLX__ARENA_NEW(&labels, plx__scratch(t->ctx), from->n));
    PLX_TRY(PLX__ARENA_NEW(&truth, plx__scratch(t->ctx), from->n));
    for (plx_index i = 0; i < from->n; i++) {
        if (t->role[i] == PLX__ROLE_LABELLED) labels[i] = plx__class_of(from, i);
        if (plx__role_scored(c, t->role[i])) truth[i] = plx__class_of(from, i);
    }
    PLX_TRY(plx__dataset_relabel(out, t->ctx, from, c->task == PLX_TASK_CLUSTER ? NULL : labels));
    return plx__dataset_set_truth(*out, t->ctx, truth);
}

/* Some of the samples, in their order. */
static plx_status pick(plx_dataset **out, trial *t, const plx_dataset *from, bool test)
{
    plx_index *rows = NULL, count = 0;
    PLX_TRY(plx__arena_i64(&rows, plx__scratch(t->ctx), from->n));
    for (plx_index i = 0; i < from->n; i++)
        if ((t->role[i] == PLX__ROLE_TEST) == test) rows[count++] = i;
    return plx__dataset_select(out, t->ctx, from, rows, count);
}

static plx_status open_data(trial *t)
{
    const plx_comparison *c = t->work->c;
    plx_dataset *all = NULL;
    PLX_TRY(plx__arena_u8(&t->role, plx__scratch(t->ctx), t->from->n));
    PLX_TRY(plx__run_roles(t->role, t->ctx, c, t->from, t->task->block, t->task->run));
    plx_status st = dress(&all, t, t->from);
    if (st == PLX_OK && c->inductive) {
        st = pick(&t->fitted, t, all, false);
        if (st == PLX_OK) st = pick(&t->apart, t, all, true);
    } else if (st == PLX_OK) {
        t->fitted = all;
        all = NULL;
    }
    plx__dataset_destroy(all);
    return st;
}

/* ---- fit ---- */

/* On the labels this run shows, as anyone would who has no others. */
static plx_status tune(trial *t, const plx__entry *e, const char *directory)
{
    plx_tune_options o = PLX_TUNE_OPTIONS_INIT;
    o.jobs = 1;
    o.threads = t->work->threads;
    o.directory = directory;
    return plx__tune(&t->tuning, t->ctx, e->method, t->fitted, t->params, &o);
}

static plx_status learn(trial *t)
{
    const plx__entry *e = &t->work->c->entry[t->task->entry];
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    if (t->work->directories) o.directory = t->work->directories[t->work->c->block[t->task->block].data];
    if (t->apart && e->method && !e->method->predict)
        PLX_FAIL(t->ctx, PLX_E_UNSUPPORTED, "%s cannot label samples that took no part in the fit", e->method->name);
    if (e->method) PLX_TRY(plx__entry_params(&t->params, t->ctx, t->work->c, e, t->from));
    if (e->tuned) PLX_TRY(tune(t, e, o.directory));
    PLX_TRY(plx__fit(&t->model, t->ctx, e->method ? e->method : &plx__method_auto, t->fitted,
                     t->tuning ? t->tuning->params : t->params, &o, NULL));
    return t->apart ? plx__predict(&t->prediction, t->ctx, t->model, t->apart, NULL, t->apart->n, NULL, 0) : PLX_OK;
}

static plx_status measure(plx_metrics *metrics, trial *t)
{
    return t->apart ? plx__measure(metrics, t->ctx, t->prediction, t->model, t->apart)
                    : plx__measure(metrics, t->ctx, &t->model->fitted, t->model, t->fitted);
}

static plx_status score(plx_metrics **out, trial *t)
{
    plx_metrics *metrics = NULL;
    PLX_TRY(plx__metrics_new(&metrics, t->ctx));
    plx_status st = measure(metrics, t);
    if (st == PLX_OK && metrics->count == 0)
        st = plx__fail(t->ctx, PLX_E_UNSUPPORTED, "%s gives no labels that could be scored",
                       t->work->c->entry[t->task->entry].name);
    if (st == PLX_OK) *out = metrics;
    else plx__metrics_destroy(metrics);
    return st;
}

static void close_trial(trial *t)
{
    plx_prediction_destroy(t->prediction);
    plx_model_destroy(t->model);
    plx__tuning_destroy(t->tuning);
    plx__params_destroy(t->params);
    plx__dataset_destroy(t->apart);
    plx__dataset_destroy(t->fitted);
}

plx_status plx__compare_fit(plx_metrics **out, double *memory, plx_context *member, const plx__compare_work *work,
                            const plx__compare_task *task)
{
    trial t = {.work = work, .task = task, .ctx = member, .from = work->data[work->c->block[task->block].data]};
    plx_status st = PLX_OK;
    *out = NULL;
    plx__call_begin(member);
    plx__memory_peak_reset(member);
    member->seed = plx__seed_of(work->c, task->run);
    PLX_GOTO(open_data(&t));
    PLX_GOTO(learn(&t));
    PLX_GOTO(score(out, &t));
done:
    *memory = (double)atomic_load(&member->memory_peak);
    close_trial(&t);
    plx__arena_free(&member->scratch);
    return st;
}
