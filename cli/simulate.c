/*
 * Runs and strategies of a simulation. Run r is a function of seed + r: its labels, its hidden views, its random order.
 */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve_file.h"
#include "hide_labels.h"
#include "pair_list.h"
#include "summary.h"

enum { MOST_CRITERIA = 8 };

typedef struct simulation {
    cli_session *s;
    const plx_dataset *data;
    plx_params *params;
    const char *method;
    char *directory, *names;
    const char *criteria[MOST_CRITERIA];
    int n_criteria;
    long long runs, steps, retrain;
    uint64_t seed;
    cli_curves curves;
    long long run;
    int criterion;
    int code; /* of what went wrong inside the callback */
} simulation;

/* ---- what was asked for ---- */

static int read_criteria(simulation *m)
{
    const char *list = cli_value(m->s->args, "criteria");
    char *rest = NULL;
    m->names = strdup(list ? list : "mi,var,random");
    if (!m->names) return cli_fail_text(m->s, "out of memory");
    for (char *word = strtok_r(m->names, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (m->n_criteria == MOST_CRITERIA)
            return cli_usage_error(m->s->args->verb, "--criteria: at most %d strategies", MOST_CRITERIA);
        for (int i = 0; i < m->n_criteria; i++)
            if (strcmp(m->criteria[i], word) == 0)
                return cli_usage_error(m->s->args->verb, "--criteria: duplicate '%s'", word);
        int code = cli_fail(m->s, plx_params_set(m->params, m->s->ctx, "strategy", word));
        if (code) return code;
        m->criteria[m->n_criteria++] = word;
    }
    return m->n_criteria ? CLI_DONE : cli_usage_error(m->s->args->verb, "--criteria: no strategy given");
}

/* Everything the curves depend on. */
static uint64_t key_of(const simulation *m)
{
    const cli_args *args = m->s->args;
    uint64_t hash = cli_hash_text(CLI_HASH_START, plx_version());
    hash = cli_hash_text(hash, m->method);
    for (int i = 0; i < cli_value_count(args, "set"); i++) hash = cli_hash_text(hash, cli_value_at(args, "set", i));
    for (int i = 0; i < cli_value_count(args, "hide"); i++) hash = cli_hash_text(hash, cli_value_at(args, "hide", i));
    for (int i = 0; i < m->n_criteria; i++) hash = cli_hash_text(hash, m->criteria[i]);
    hash = cli_hash_text(hash, cli_value(args, "hide-file"));
    hash = cli_hash_text(hash, cli_value(args, "labels"));
    hash = cli_hash(hash, &m->runs, sizeof m->runs);
    hash = cli_hash(hash, &m->steps, sizeof m->steps);
    hash = cli_hash(hash, &m->retrain, sizeof m->retrain);
    hash = cli_hash(hash, &m->seed, sizeof m->seed);
    return cli_hash_data(hash, m->data);
}

static bool is_regression(const simulation *m)
{
    const char *task = plx_params_get(m->params, "task");
    return task && strcmp(task, "regression") == 0;
}

/* ---- one curve ---- */

static int on_state(const plx_simulated *state, void *payload)
{
    simulation *m = payload;
    cli_curve_point point = {m->run, m->criterion, *state};
    m->code = cli_curves_add(&m->curves, m->s, &point);
    return m->code != CLI_DONE;
}

/* Pairs an interrupted simulation has revealed in this curve; whether it has begun at all. */
static plx_index known_pairs(plx_pair *pairs, const simulation *m, bool *begun)
{
    plx_index count = 0;
    *begun = false;
    for (long long i = 0; i < m->curves.count; i++) {
        const cli_curve_point *p = &m->curves.points[i];
        if (p->run != m->run || p->criterion != m->criterion) continue;
        *begun = true;
        if (p->state.step > 0) pairs[count++] = (plx_pair){p->state.sample, p->state.view};
    }
    return count;
}

/* Is there a later curve, so that this one must be finished? */
static bool is_finished(const simulation *m)
{
    const cli_curve_point *last = m->curves.count ? &m->curves.points[m->curves.count - 1] : NULL;
    return last && (last->run > m->run || (last->run == m->run && last->criterion > m->criterion));
}

static int one_curve(simulation *m, const plx_dataset *data, const cli_pairs *hidden)
{
    plx_simulate_options o = PLX_SIMULATE_OPTIONS_INIT;
    bool begun = false;
    if (is_finished(m)) return CLI_DONE;
    plx_pair *known = calloc((size_t)m->curves.count + 1, sizeof *known);
    if (!known) return cli_fail_text(m->s, "out of memory");
    o.steps = m->steps;
    o.retrain_every = m->retrain;
    o.directory = m->directory;
    o.known = known;
    o.n_known = known_pairs(known, m, &begun);
    if (begun && !o.n_known) m->curves.count--; /* only its start: told again */
    plx_status st =
        plx_acquire_simulate(m->s->ctx, m->method, data, hidden->pairs, hidden->count, m->params, &o, on_state, m);
    free(known);
    if (st == PLX_E_CANCELLED && !m->code) {
        int saved = cli_curves_save(&m->curves, m->s);
        if (!saved && m->curves.part) cli_say(m->s, "kept     %s; the same command goes on from there", m->curves.part);
    }
    return m->code ? m->code : cli_fail(m->s, st);
}

/* ---- one run ---- */

static int one_run(simulation *m)
{
    const char *labels = cli_value(m->s->args, "labels");
    plx_dataset *relabelled = NULL;
    cli_pairs hidden = {0};
    plx_context_set_seed(m->s->ctx, m->seed + (uint64_t)m->run);
    int code = labels ? cli_hide_labels(&relabelled, m->s, m->data, labels) : CLI_DONE;
    const plx_dataset *data = relabelled ? relabelled : m->data;
    if (!code) code = cli_pairs_choose(&hidden, m->s, data);
    for (m->criterion = 0; !code && m->criterion < m->n_criteria; m->criterion++) {
        code = cli_fail(m->s, plx_params_set(m->params, m->s->ctx, "strategy", m->criteria[m->criterion]));
        if (!code) code = one_curve(m, data, &hidden);
    }
    free(hidden.pairs);
    plx_dataset_destroy(relabelled);
    return code;
}

/* ---- words ---- */

static double quality(const simulation *m, const plx_simulated *s)
{
    if (is_regression(m)) return s->rmse;
    return isnan(s->auc) ? s->accuracy : s->auc;
}

/* Mean over runs of the mean over a curve, and its standard error. */
static void say_criterion(simulation *m, int criterion, const char *what)
{
    double sum = 0, squares = 0, runs = 0;
    for (long long run = 0; run < m->runs; run++) {
        double total = 0, count = 0;
        for (long long i = 0; i < m->curves.count; i++) {
            const cli_curve_point *p = &m->curves.points[i];
            double value = quality(m, &p->state);
            if (p->run != run || p->criterion != criterion || p->state.step == 0 || isnan(value)) continue;
            total += value;
            count++;
        }
        if (count <= 0) continue;
        sum += total / count;
        squares += total / count * (total / count);
        runs++;
    }
    if (runs <= 0) return;
    double mean = sum / runs, variance = runs > 1 ? fmax(squares - runs * mean * mean, 0) / (runs - 1) : NAN;
    if (runs > 1)
        cli_say(m->s, "%-8s %s %.4f over the acquisitions, standard error %.4f", m->criteria[criterion], what, mean,
                sqrt(variance / runs));
    else cli_say(m->s, "%-8s %s %.4f over the acquisitions", m->criteria[criterion], what, mean);
}

static void say_curves(simulation *m)
{
    const char *what = "auc";
    if (is_regression(m)) what = "rmse";
    else
        for (long long i = 0; i < m->curves.count; i++)
            if (isnan(m->curves.points[i].state.auc) && !isnan(m->curves.points[i].state.accuracy)) what = "accuracy";
    cli_say_data(m->s, m->data);
    cli_say_warnings(m->s);
    for (int c = 0; c < m->n_criteria; c++) say_criterion(m, c, what);
    if (m->curves.path) cli_say(m->s, "wrote    %s", m->curves.path);
}

int cli_simulate(cli_session *s, const plx_dataset *data, plx_params *params)
{
    simulation m = {.s = s,
                    .data = data,
                    .params = params,
                    .method = cli_value(s->args, "with"),
                    .runs = cli_whole(s->args, "runs", 1),
                    .steps = cli_whole(s->args, "simulate", 0),
                    .retrain = cli_whole(s->args, "retrain-every", 1),
                    .seed = plx_context_seed(s->ctx)};
    int code = read_criteria(&m);
    m.directory = cli_data_directory(s->args->positional[1]);
    if (!code && !m.directory) code = cli_fail_text(s, "out of memory");
    if (!code) code = cli_curves_open(&m.curves, s, cli_value(s->args, "out"), key_of(&m));
    for (m.run = 0; !code && m.run < m.runs; m.run++) code = one_run(&m);
    if (!code) code = cli_curves_finish(&m.curves, s, data, m.criteria, is_regression(&m));
    if (!code) say_curves(&m);
    cli_curves_free(&m.curves);
    free(m.directory);
    free(m.names);
    return code;
}
