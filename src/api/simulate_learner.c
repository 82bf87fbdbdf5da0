/*
 * A curve: labels, test samples and hidden views of its run are functions of seed + run, so that all strategies of a run
 * start from the same.
 */
#include "api/simulate_learner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "active/label_ranking.h"
#include "core/pool.h"
#include "data/split_impl.h"
#include "eval/metrics_store.h"

typedef struct learner {
    plx__study *study;
    const plx__study_strategy *strategy;
    plx_context *ctx;
    plx_dataset *data;   /* of the run: labels to start with, truth */
    plx_dataset *scored; /* the same, truth of the scored samples only */
    uint8_t *judged;     /* n: scored and without a label at the start */
    plx_model *model;    /* of the last fit */
    uint8_t *hidden;     /* views x n, or NULL */
    uint8_t *askable;    /* n, or NULL */
    bool tells_notes;    /* its first fit's warnings are told */
} learner;

/* ---- the data of a run ---- */

static plx_status open_data(learner *l)
{
    const plx__study *s = l->study;
    const plx_dataset *from = s->data;
    const char **texts = NULL;
    uint8_t *chosen = NULL;
    PLX_TRY(PLX__ARENA_NEW(&texts, plx__scratch(l->ctx), from->n));
    PLX_TRY(plx__arena_u8(&chosen, plx__scratch(l->ctx), from->n));
    if (s->o.labels) {
        PLX_TRY(plx__split_labels(chosen, l->ctx, from, s->o.labels));
        plx__split_label_texts(texts, from, chosen);
    } else
        for (plx_index i = 0; i < from->n; i++) texts[i] = from->labels ? from->labels[i] : NULL;
    PLX_TRY(plx__dataset_relabel(&l->data, l->ctx, from, texts));
    if (!from->truth) PLX_TRY(plx__dataset_set_truth(l->data, l->ctx, from->labels));
    return PLX_OK;
}

/* Who is scored, and whose label may be asked for. */
static plx_status open_samples(learner *l)
{
    const plx__study *s = l->study;
    const plx_dataset *d = l->data;
    const char **truth = NULL;
    uint8_t *test = NULL;
    PLX_TRY(PLX__ARENA_NEW(&truth, plx__scratch(l->ctx), d->n));
    PLX_TRY(plx__arena_u8(&test, plx__scratch(l->ctx), d->n));
    PLX_TRY(plx__arena_u8(&l->judged, plx__scratch(l->ctx), d->n));
    if (s->o.test > 0) PLX_TRY(plx__split_test(test, l->ctx, d, s->o.test, !s->regression));
    if (s->kind != PLX_ACQUIRE_FEATURES) PLX_TRY(plx__arena_u8(&l->askable, plx__scratch(l->ctx), d->n));
    for (plx_index i = 0; i < d->n; i++) {
        bool labelled = d->labels && d->labels[i], scored = s->o.test > 0 ? test[i] && !labelled : true;
        truth[i] = scored ? d->truth[i] : NULL;
        l->judged[i] = scored && !labelled && d->truth[i];
        if (l->askable) l->askable[i] = !labelled && d->truth[i] && !(s->o.test > 0 && test[i]);
    }
    PLX_TRY(plx__dataset_relabel(&l->scored, l->ctx, d, d->labels));
    return plx__dataset_set_truth(l->scored, l->ctx, truth);
}

static plx_status open_hidden(learner *l)
{
    const plx__study *s = l->study;
    plx_index n = l->data->n, views = l->data->n_views;
    plx_missing_options o = PLX_MISSING_OPTIONS_INIT;
    uint8_t *present = NULL;
    PLX_TRY(plx__arena_u8(&l->hidden, plx__scratch(l->ctx), views * n));
    if (s->hidden) memcpy(l->hidden, s->hidden, (size_t)(views * n));
    if (!s->o.hide_rates) return PLX_OK;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(l->ctx), views * n));
    o.view_rates = s->o.hide_rates;
    PLX_TRY(plx__missing_simulate(present, l->ctx, l->data, &o));
    for (plx_index v = 0; v < views; v++)
        for (plx_index i = 0; i < n; i++) l->hidden[v * n + i] = l->data->views[v].present[i] && !present[v * n + i];
    return PLX_OK;
}

/* ---- one fit ---- */

static double metric(const plx_metrics *metrics, const char *name)
{
    plx_index at = plx_metrics_find(metrics, name);
    return at < 0 ? NAN : plx_metrics_value(metrics, at, NULL);
}

static plx_status score(plx__round *out, learner *l)
{
    plx_metrics *metrics = NULL;
    const plx_model *m = l->model;
    PLX_TRY(plx__metrics_new(&metrics, l->ctx));
    plx_status st = plx__measure(metrics, l->ctx, &m->fitted, m, l->scored);
    out->accuracy = metric(metrics, "accuracy");
    out->auc = metric(metrics, "auc");
    out->rmse = metric(metrics, "rmse");
    plx_metrics_destroy(metrics);
    out->told = PLX__HASH_START;
    for (plx_index i = 0; i < m->fitted.outcome.n; i++)
        if (l->judged[i]) out->told = plx__hash_text(out->told, m->fitted.outcome.label[i]);
    return st;
}

/* 1 - (largest - second largest probability). */
static plx_status find_uncertain(plx__round *out, learner *l)
{
    const plx__outcome *o = &l->model->fitted.outcome;
    plx_mat p;
    double *worth = NULL;
    if (o->kind != PLX__OUTCOME_CLASSES || !o->scores.data)
        PLX_FAIL(l->ctx, PLX_E_ARG, "strategy uncertainty: %s gives no scores of classes with these settings",
                 l->strategy->method->name);
    PLX_TRY(plx__class_probabilities(&p, l->ctx, plx__cmat(o->scores), false));
    PLX_TRY(plx__arena_f64(&worth, plx__scratch(l->ctx), p.rows, 1));
    for (plx_index i = 0; i < p.rows; i++) worth[i] = plx__margin_worth(p.data + i * p.ld, p.cols);
    out->uncertain = worth;
    return PLX_OK;
}

static void keep_notes(learner *l)
{
    plx__study *s = l->study;
    l->tells_notes = false;
    for (plx_index k = 0; k < l->model->fitted.n_warnings && s->notes < PLX__STUDY_NOTES; k++)
        snprintf(s->note[s->notes++], PLX__STUDY_NOTE_BYTES, "%s", l->model->fitted.warnings[k]);
}

static plx_status play_round(plx__round *out, void *arg, plx_context *ctx, const plx__seen *seen)
{
    learner *l = arg;
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_model *model = NULL;
    plx__fit_aid aid = {.warm = seen->fresh ? NULL : l->model, .offer = &seen->offer};
    o.directory = l->study->o.directory;
    plx_status st = plx__fit(&model, ctx, l->strategy->method, seen->data, l->strategy->params, &o, &aid);
    plx_model_destroy(l->model);
    l->model = model;
    PLX_TRY(st);
    if (l->tells_notes) keep_notes(l);
    PLX_TRY(score(out, l));
    if (l->strategy->decider == PLX__DECIDE_UNCERTAIN) return find_uncertain(out, l);
    if (l->strategy->decider != PLX__DECIDE_RANKING) return PLX_OK;
    return plx__rank_model(&out->ranked, &out->count, ctx, model, seen->data, false);
}

/* Progress is told on the caller's thread only. */
static plx_status stepped(void *arg)
{
    learner *l = arg;
    plx__study *s = l->study;
    plx_index done = (plx_index)atomic_fetch_add(&s->stepped, 1) + 1;
    if (plx__pool_worker() > 0) return plx__poll(l->ctx);
    return plx__report(s->ctx, "simulate", done, s->expected, NAN);
}

/* ---- the curve ---- */

static plx_status play(learner *l, plx_index run, plx_index strategy)
{
    plx__study *s = l->study;
    PLX_TRY(open_data(l));
    PLX_TRY(open_samples(l));
    PLX_TRY(open_hidden(l));
    plx__simulation simulation = {.ctx = l->ctx,
                                  .curves = s->curves,
                                  .run = run,
                                  .strategy = strategy,
                                  .decider = l->strategy->decider,
                                  .data = l->data,
                                  .hidden = s->kind == PLX_ACQUIRE_LABELS ? NULL : l->hidden,
                                  .away = l->hidden,
                                  .askable = l->askable,
                                  .steps = s->o.steps,
                                  .every = s->o.retrain_every,
                                  .restart = s->o.restart_every,
                                  .least = s->o.least_gain,
                                  .stable = s->o.stable_rounds,
                                  .budget = s->budget,
                                  .view_cost = s->view_cost,
                                  .label_cost = s->label_cost,
                                  .round = play_round,
                                  .arg = l,
                                  .stepped = stepped};
    return plx__simulate_curve(&simulation);
}

plx_status plx__study_curve(plx__study *s, plx_context *member, plx_index run, plx_index strategy)
{
    learner l = {
        .study = s, .strategy = &s->strategy[strategy], .ctx = member, .tells_notes = run == 0 && strategy == 0};
    plx__call_begin(member);
    member->call_started = s->ctx->call_started;
    member->seed = s->ctx->seed + (uint64_t)run;
    plx_status st = play(&l, run, strategy);
    plx_model_destroy(l.model);
    plx__dataset_destroy(l.scored);
    plx__dataset_destroy(l.data);
    plx__arena_free(&member->scratch);
    return st;
}
