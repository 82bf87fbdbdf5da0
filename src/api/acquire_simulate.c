/*
 * plx_acquire_simulate: several runs of several strategies, curve by curve on the threads of the context.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/simulate_learner.h"
#include "core/parallel.h"
#include "parallax/version.h"

/* ---- what was asked for ---- */

static plx_status check_counts(plx_context *ctx, const plx_simulate_options *o)
{
    if (o->runs < 1 || o->steps < 0 || o->retrain_every < 1 || o->restart_every < 1 || o->n_strategies < 0 ||
        o->n_hidden < 0 || o->stable_rounds < 0 || !(o->least_gain >= 0) || !(o->test >= 0 && o->test < 1))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "simulation options: runs, retrain_every, restart_every >= 1, test in [0,1) and nothing negative "
                 "expected");
    if ((o->n_strategies && !o->strategies) || (o->n_hidden && !o->hidden))
        PLX_FAIL(ctx, PLX_E_ARG, "simulation options: a list with entries is NULL");
    if (o->n_hidden && o->hide_rates)
        PLX_FAIL(ctx, PLX_E_ARG, "simulation options: give hidden pairs or rates of hiding, not both");
    return PLX_OK;
}

static plx_status take_options(plx__study *s, const plx_simulate_options *given)
{
    static const char *const usual[] = {"chosen", "random", "uncertainty"};
    s->o = (plx_simulate_options)PLX_SIMULATE_OPTIONS_INIT;
    PLX_TRY(plx__take_options(&s->o, sizeof s->o, s->ctx, given, "PLX_SIMULATE_OPTIONS_INIT"));
    PLX_TRY(check_counts(s->ctx, &s->o));
    if (!s->o.n_strategies) {
        s->o.strategies = usual;
        s->o.n_strategies = sizeof usual / sizeof *usual;
    }
    if (!s->data->truth && !(s->data->labels && s->o.labels))
        PLX_FAIL(s->ctx, PLX_E_DATA, "a simulation is scored on true labels; the data set has no truth");
    if (s->kind != PLX_ACQUIRE_LABELS && !s->o.n_hidden && !s->o.hide_rates && s->o.steps > 0)
        PLX_FAIL(s->ctx, PLX_E_ARG, "a simulation of features reveals hidden views; no view is hidden");
    return PLX_OK;
}

/* ---- strategies ---- */

static bool has_word(const plx__method *method, const char *param, const char *word)
{
    const plx__param_spec *spec = plx__param_find(method->params, param);
    return spec && spec->words && plx__word_index(spec->words, word) >= 0;
}

static plx_status unknown_strategy(plx__study *s, const char *method, const char *word)
{
    const plx__method *ranking = plx__acquirer_plain(method);
    const plx__param_spec *own =
        plx__param_find(ranking->params, s->kind == PLX_ACQUIRE_LABELS ? "criterion" : "strategy");
    PLX_FAIL(s->ctx, PLX_E_ARG, "strategy '%s': must be chosen|uncertainty|all|%s", word, own ? own->words : "random");
}

static plx_status open_strategy(plx__study *s, const char *method, const plx_params *params, plx_index k)
{
    plx__study_strategy *to = &s->strategy[k];
    const char *word = s->o.strategies[k], *key = NULL;
    if (!word) PLX_FAIL(s->ctx, PLX_E_ARG, "simulation options: the name of strategy %lld is NULL", (long long)k);
    for (plx_index other = 0; other < k; other++)
        if (strcmp(s->o.strategies[other], word) == 0)
            PLX_FAIL(s->ctx, PLX_E_ARG, "strategy '%s' is given twice", word);
    PLX_TRY(plx__acquirer_as_set(&to->method, s->ctx, method, s->kind, params));
    to->decider = PLX__DECIDE_RANKING;
    if (strcmp(word, "random") == 0) to->decider = PLX__DECIDE_RANDOM;
    else if (strcmp(word, "uncertainty") == 0) to->decider = PLX__DECIDE_UNCERTAIN;
    else if (strcmp(word, "all") == 0) to->decider = PLX__DECIDE_ALL;
    else if (s->kind == PLX_ACQUIRE_LABELS && has_word(to->method, "criterion", word)) key = "criterion";
    else if (s->kind != PLX_ACQUIRE_LABELS && has_word(to->method, "strategy", word)) key = "strategy";
    else if (strcmp(word, "chosen") != 0) return unknown_strategy(s, method, word);
    if (to->decider != PLX__DECIDE_RANKING) to->method = plx__acquirer_plain(method);
    else if (key && s->kind == PLX_ACQUIRE_LABELS) to->method = plx__acquirer_by_scores(method);
    if (params && params->tables != to->method->params)
        PLX_FAIL(s->ctx, PLX_E_ARG, "the parameters were not made by plx_acquire_params_create() for '%s'", method);
    if (params) PLX_TRY(plx__params_copy(&to->params, s->ctx, params));
    else PLX_TRY(plx__params_create(&to->params, s->ctx, method, to->method->params));
    if (key && strcmp(key, "strategy") == 0 && strcmp(word, "mi") != 0) /* the others do not know of batches */
        PLX_TRY(plx__params_set(to->params, s->ctx, "batch", "0"));
    return key ? plx__params_set(to->params, s->ctx, key, word) : PLX_OK;
}

static plx_status open_strategies(plx__study *s, const char *method, const plx_params *params)
{
    PLX_TRY(PLX__ARENA_NEW(&s->strategy, plx__scratch(s->ctx), s->o.n_strategies));
    for (plx_index k = 0; k < s->o.n_strategies; k++) PLX_TRY(open_strategy(s, method, params, k));
    const plx_params *settings = s->strategy[0].params;
    plx__value task = {.text = ""};
    if (plx__param_find(settings->tables, "task")) PLX_TRY(plx__view_value(&task, s->ctx, settings, "task", NULL));
    s->regression = strcmp(task.text, "regression") == 0;
    return PLX_OK;
}

/* ---- costs and hidden pairs ---- */

static plx_status read_costs(plx__study *s)
{
    const plx_params *params = s->strategy[0].params;
    plx__value value;
    PLX_TRY(plx__arena_f64(&s->view_cost, plx__scratch(s->ctx), s->data->n_views, 1));
    for (plx_index v = 0; v < s->data->n_views; v++) {
        PLX_TRY(plx__view_value(&value, s->ctx, params, "cost", s->data->views[v].name));
        s->view_cost[v] = value.text[0] ? value.number : s->data->views[v].cost;
    }
    PLX_TRY(plx__view_value(&value, s->ctx, params, "cost", "label"));
    s->label_cost = value.text[0] ? value.number : 1.0;
    PLX_TRY(plx__view_value(&value, s->ctx, params, "budget", NULL));
    s->budget = value.text[0] ? value.number : INFINITY;
    return PLX_OK;
}

static plx_status hide_pairs(plx__study *s)
{
    plx_index n = s->data->n, views = s->data->n_views;
    uint8_t *hidden = NULL;
    if (!s->o.n_hidden) return PLX_OK;
    PLX_TRY(plx__arena_u8(&hidden, plx__scratch(s->ctx), views * n));
    for (plx_index k = 0; k < s->o.n_hidden; k++) {
        plx_pair p = s->o.hidden[k];
        if (p.sample < 0 || p.sample >= n || p.view < 0 || p.view >= views)
            PLX_FAIL(s->ctx, PLX_E_ARG, "hidden pair %lld: there is no sample %lld with view %lld", (long long)k,
                     (long long)p.sample, (long long)p.view);
        const plx__view *v = &s->data->views[p.view];
        if (!v->present[p.sample] || hidden[p.view * n + p.sample])
            PLX_FAIL(s->ctx, PLX_E_ARG, "hidden pair %lld: view '%s' of sample %lld is %s", (long long)k, v->name,
                     (long long)p.sample, v->present[p.sample] ? "given twice" : "missing already");
        hidden[p.view * n + p.sample] = 1;
    }
    s->hidden = hidden;
    return PLX_OK;
}

/* ---- what the curves are a function of ---- */

static uint64_t hash_settings(uint64_t hash, const plx_params *params)
{
    for (const plx__setting *x = params->first; x; x = x->next) {
        hash = plx__hash_text(hash, x->spec->name);
        hash = plx__hash_text(hash, x->view);
        hash = plx__hash_text(hash, x->value.text);
    }
    return hash;
}

static uint64_t key_of(const plx__study *s)
{
    const plx_simulate_options *o = &s->o;
    const plx_index counts[] = {o->runs,          o->steps,        o->retrain_every,  o->restart_every,
                                o->stable_rounds, o->n_strategies, (plx_index)s->kind};
    const double numbers[] = {o->test, o->least_gain, (double)s->ctx->seed};
    uint64_t hash = plx__hash_text(PLX__HASH_START, PLX_VERSION_STRING);
    for (plx_index k = 0; k < o->n_strategies; k++) {
        hash = plx__hash_text(hash, s->strategy[k].method->name);
        hash = plx__hash_text(hash, o->strategies[k]);
        hash = hash_settings(hash, s->strategy[k].params);
    }
    hash = plx__hash(hash, counts, sizeof counts);
    hash = plx__hash(hash, numbers, sizeof numbers);
    hash = plx__hash_text(hash, o->labels);
    if (s->hidden) hash = plx__hash(hash, s->hidden, (size_t)(s->data->n * s->data->n_views));
    if (o->hide_rates) hash = plx__hash(hash, o->hide_rates, (size_t)s->data->n_views * sizeof *o->hide_rates);
    return plx__hash_data(hash, s->data);
}

/* ---- running ---- */

static plx_status open_curves(plx__study *s)
{
    plx_index most = s->kind == PLX_ACQUIRE_LABELS ? s->data->n : s->data->n * (s->data->n_views + 1);
    plx_index room = plx__min(s->o.steps, most) + 2;
    PLX_TRY(plx__curves_create(&s->curves, s->ctx, s->o.runs, s->o.strategies, s->o.n_strategies, room));
    s->curves->regression = s->regression;
    s->curves->key = key_of(s);
    s->expected = s->o.runs * s->o.n_strategies * (room - 1);
    return s->o.part ? plx__curves_open_part(s->curves, s->ctx, s->o.part) : PLX_OK;
}

static plx_status curve_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__study *s = arg;
    plx_context *member = s->crew.member[worker];
    for (plx_index k = begin; k < end; k++) {
        plx_status st = plx__study_curve(s, member, k / s->o.n_strategies, k % s->o.n_strategies);
        if (st == PLX_OK) continue;
        if (st == PLX_E_CANCELLED) plx__crew_stop(&s->crew);
        return member->error[0] ? plx__fail(ctx, st, "%s", member->error) : st;
    }
    return PLX_OK;
}

static plx_status run_study(plx__study *s, const char *method, const plx_params *params)
{
    plx_index curves = 0;
    PLX_TRY(open_strategies(s, method, params));
    PLX_TRY(read_costs(s));
    PLX_TRY(hide_pairs(s));
    PLX_TRY(open_curves(s));
    curves = s->o.runs * s->o.n_strategies;
    PLX_TRY(plx__crew_open(&s->crew, s->ctx, curves));
    PLX_TRY(plx__parallel_for(s->ctx, curves, 1, curve_range, s));
    for (plx_index k = 0; k < s->notes; k++) plx__warn(s->ctx, "%s", s->note[k]);
    return PLX_OK;
}

static plx_status simulate(plx_curves **out, plx_context *ctx, plx_acquire_kind kind, const char *method,
                           const plx_dataset *data, const plx_params *params, const plx_simulate_options *options)
{
    plx__study s = {.ctx = ctx, .data = data, .kind = kind};
    const plx__method *ranking = NULL;
    if ((int)kind < 0 || (int)kind >= PLX__ACQUIRE_KINDS)
        PLX_FAIL(ctx, PLX_E_ARG, "unknown kind of acquisition %d", (int)kind);
    PLX_TRY(plx__acquirer_require(&ranking, ctx, method, (int)kind));
    PLX_TRY(take_options(&s, options));
    plx_status st = run_study(&s, method, params);
    plx__crew_close(&s.crew);
    for (plx_index k = 0; s.strategy && k < s.o.n_strategies; k++) plx__params_destroy(s.strategy[k].params);
    if (s.curves) plx__curves_close_part(s.curves);
    if (st == PLX_OK) *out = s.curves;
    else plx__curves_destroy(s.curves);
    return st;
}

plx_status plx_acquire_simulate(plx_curves **out, plx_context *ctx, plx_acquire_kind kind, const char *method,
                                const plx_dataset *data, const plx_params *params, const plx_simulate_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, simulate(out, ctx, kind, method, data, params, options), PLX__ARG(out), PLX__ARG(method),
              PLX__WHOLE(data));
}
