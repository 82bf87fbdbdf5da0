/*
 * plx_acquire_simulate: acquisition played through on data whose hidden views are known.
 *
 * Every step is a function of the pairs revealed so far, so a simulation that was interrupted goes on from the list of
 * those: it fits again at the last step that was fitted and takes the same pairs from there.
 */
#include <math.h>
#include <string.h>

#include "api/acquire_impl.h"
#include "api/api_args.h"
#include "eval/metrics_store.h"

typedef struct simulation {
    plx_context *ctx;
    const plx__method *acquirer;
    const plx_dataset *data;
    const plx_params *params;
    plx_simulate_options o;
    plx_index n_hidden;
    uint8_t *present; /* views x n: what the learner sees now */
    uint8_t *pending; /* views x n: hidden and not acquired yet */
    double *cost;     /* per view, without the samples' factors */
    double budget;    /* infinity: none */
    double spent;
    plx_acquisition *ranking; /* of the last fit */
    plx_index next;           /* its first row that was not looked at */
    plx_simulated state;
} simulation;

static plx_index flag_of(const simulation *s, plx_index sample, plx_index view) { return view * s->data->n + sample; }

/* ---- hiding ---- */

static plx_status hide(simulation *s, const plx_pair *hidden)
{
    plx_index n = s->data->n, views = s->data->n_views;
    PLX_TRY(plx__arena_u8(&s->present, plx__scratch(s->ctx), views * n));
    PLX_TRY(plx__arena_u8(&s->pending, plx__scratch(s->ctx), views * n));
    for (plx_index v = 0; v < views; v++) memcpy(s->present + v * n, s->data->views[v].present, (size_t)n);
    for (plx_index k = 0; k < s->n_hidden; k++) {
        plx_pair p = hidden[k];
        if (p.sample < 0 || p.sample >= n || p.view < 0 || p.view >= views)
            PLX_FAIL(s->ctx, PLX_E_ARG, "hidden pair %lld: there is no sample %lld with view %lld", (long long)k,
                     (long long)p.sample, (long long)p.view);
        if (!s->present[flag_of(s, p.sample, p.view)])
            PLX_FAIL(s->ctx, PLX_E_ARG, "hidden pair %lld: view '%s' of sample %lld is %s", (long long)k,
                     s->data->views[p.view].name, (long long)p.sample,
                     s->pending[flag_of(s, p.sample, p.view)] ? "given twice" : "missing already");
        s->present[flag_of(s, p.sample, p.view)] = 0;
        s->pending[flag_of(s, p.sample, p.view)] = 1;
    }
    return PLX_OK;
}

static plx_status read_costs(simulation *s)
{
    plx__value value;
    s->budget = INFINITY;
    PLX_TRY(plx__arena_f64(&s->cost, plx__scratch(s->ctx), s->data->n_views, 1));
    for (plx_index v = 0; v < s->data->n_views; v++) {
        s->cost[v] = s->data->views[v].cost;
        if (!s->params) continue;
        PLX_TRY(plx__view_value(&value, s->ctx, s->params, "cost", s->data->views[v].name));
        if (value.text[0]) s->cost[v] = value.number;
    }
    if (!s->params) return PLX_OK;
    PLX_TRY(plx__view_value(&value, s->ctx, s->params, "budget", NULL));
    if (value.text[0]) s->budget = value.number;
    return PLX_OK;
}

/* ---- one fit ---- */

static plx_status fit_again(simulation *s)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_dataset *seen = NULL;
    o.directory = s->o.directory;
    plx_acquisition_destroy(s->ranking);
    s->ranking = NULL;
    s->next = 0;
    PLX_TRY(plx__dataset_mask(&seen, s->ctx, s->data, s->present));
    plx_status st = plx__acquire(&s->ranking, s->ctx, s->acquirer, seen, s->params, &o, false);
    plx_dataset_destroy(seen);
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return st;
}

static double metric(const plx_metrics *metrics, const char *name)
{
    plx_index at = plx_metrics_find(metrics, name);
    return at < 0 ? NAN : plx_metrics_value(metrics, at, NULL);
}

static plx_status measure(simulation *s)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_metrics *metrics = NULL;
    const plx_model *m = s->ranking->model;
    PLX_TRY(plx__metrics_new(&metrics, s->ctx));
    plx_status st = plx__measure(metrics, s->ctx, &m->fitted, m, s->data);
    if (st == PLX_OK) {
        s->state.accuracy = metric(metrics, "accuracy");
        s->state.auc = metric(metrics, "auc");
        s->state.rmse = metric(metrics, "rmse");
    }
    plx_metrics_destroy(metrics);
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return st;
}

/* ---- revealing ---- */

static double cost_of(const simulation *s, plx_index sample, plx_index view)
{
    return s->cost[view] * (s->data->sample_costs ? s->data->sample_costs[sample] : 1.0);
}

static void reveal(simulation *s, plx_index sample, plx_index view)
{
    s->present[flag_of(s, sample, view)] = 1;
    s->pending[flag_of(s, sample, view)] = 0;
    s->spent += cost_of(s, sample, view);
    s->state = (plx_simulated){sizeof s->state, s->state.step + 1, sample, view, s->spent, NAN, NAN, NAN};
}

/* The best pair of the last ranking whose values are at hand and can be paid for; false: none is left. */
static bool reveal_next(simulation *s)
{
    for (; s->next < s->ranking->count; s->next++) {
        const plx__ranked *r = &s->ranking->ranked[s->next];
        if (r->view < 0 || !s->pending[flag_of(s, r->row, r->view)]) continue;
        if (s->spent + cost_of(s, r->row, r->view) > s->budget) continue;
        reveal(s, r->row, r->view);
        return true;
    }
    return false;
}

/* What was revealed up to the last fit of an interrupted run. */
static plx_status replay(simulation *s)
{
    plx_index count = s->o.n_known / s->o.retrain_every * s->o.retrain_every;
    for (plx_index k = 0; k < count; k++) {
        plx_pair p = s->o.known[k];
        bool there = p.sample >= 0 && p.sample < s->data->n && p.view >= 0 && p.view < s->data->n_views;
        if (!there || !s->pending[flag_of(s, p.sample, p.view)])
            PLX_FAIL(s->ctx, PLX_E_ARG, "known pair %lld (sample %lld, view %lld) is not hidden", (long long)k,
                     (long long)p.sample, (long long)p.view);
        reveal(s, p.sample, p.view);
    }
    return PLX_OK;
}

static plx_status play(simulation *s, plx_simulated_fn told, void *payload)
{
    PLX_TRY(replay(s));
    for (;;) {
        bool last = s->state.step >= s->o.steps || s->state.step >= s->n_hidden;
        bool fitted = s->state.step % s->o.retrain_every == 0 || last;
        if (fitted) PLX_TRY(fit_again(s));
        if (fitted) PLX_TRY(measure(s));
        bool known = s->o.n_known > 0 && s->state.step <= s->o.n_known;
        if (!known && told && told(&s->state, payload)) PLX_FAIL(s->ctx, PLX_E_CANCELLED, "cancelled");
        if (last || !reveal_next(s)) return PLX_OK;
    }
}

/* ---- the call ---- */

static plx_status check_options(plx_simulate_options *o, plx_context *ctx, const plx_dataset *data,
                                const plx_simulate_options *given)
{
    *o = (plx_simulate_options)PLX_SIMULATE_OPTIONS_INIT;
    PLX_TRY(plx__take_options(o, sizeof *o, ctx, given, "PLX_SIMULATE_OPTIONS_INIT"));
    if (o->steps < 0 || o->retrain_every < 1 || o->n_known < 0 || (o->n_known && !o->known))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "simulation options: steps >= 0, retrain_every >= 1 and a list of known pairs expected");
    if (!data->truth) PLX_FAIL(ctx, PLX_E_DATA, "a simulation is scored on true labels; the data set has no truth");
    return PLX_OK;
}

static plx_status simulate(plx_context *ctx, const char *method, const plx_dataset *data, const plx_pair *hidden,
                           plx_index n_hidden, const plx_params *params, const plx_simulate_options *options,
                           plx_simulated_fn told, void *payload)
{
    simulation s = {.ctx = ctx, .data = data, .params = params, .n_hidden = n_hidden};
    s.state = (plx_simulated){sizeof s.state, 0, -1, -1, 0, NAN, NAN, NAN};
    PLX_TRY(plx__acquirer_require(&s.acquirer, ctx, method, PLX_ACQUIRE_FEATURES));
    PLX_TRY(check_options(&s.o, ctx, data, options));
    if (params && params->tables != s.acquirer->params)
        PLX_FAIL(ctx, PLX_E_ARG, "the parameters were not made by plx_acquire_params_create() for '%s'", method);
    PLX_TRY(read_costs(&s));
    PLX_TRY(hide(&s, hidden));
    plx_status st = play(&s, told, payload);
    plx_acquisition_destroy(s.ranking);
    return st;
}

plx_status plx_acquire_simulate(plx_context *ctx, const char *method, const plx_dataset *data, const plx_pair *hidden,
                                plx_index n_hidden, const plx_params *params, const plx_simulate_options *options,
                                plx_simulated_fn told, void *payload)
{
    PLX__CALL(ctx, simulate(ctx, method, data, hidden, n_hidden, params, options, told, payload), PLX__ARG(method),
              PLX__ARG(data), PLX__ARG(hidden), PLX__COUNT(n_hidden));
}
