/*
 * acquire --simulate: options in, curves and a line per strategy out.
 */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pair_list.h"
#include "report_file.h"
#include "summary.h"

enum { MOST_STRATEGIES = 16 };

typedef struct simulation {
    cli_session *s;
    const plx_dataset *data;
    char *directory, *names, *part;
    const char *strategies[MOST_STRATEGIES];
    cli_pairs hidden;
    plx_simulate_options o;
} simulation;

/* ---- what was asked for ---- */

static int read_strategies(simulation *m)
{
    const char *list = cli_value(m->s->args, "criteria");
    char *rest = NULL;
    m->names = strdup(list ? list : "");
    if (!m->names) return cli_fail_text(m->s, "out of memory");
    for (char *word = strtok_r(m->names, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (m->o.n_strategies == MOST_STRATEGIES)
            return cli_usage_error(m->s->args->verb, "--criteria: at most %d strategies", MOST_STRATEGIES);
        m->strategies[m->o.n_strategies++] = word;
    }
    if (list && !m->o.n_strategies) return cli_usage_error(m->s->args->verb, "--criteria: no strategy given");
    m->o.strategies = m->strategies;
    return CLI_DONE;
}

/* States are kept beside the file they will be written to. */
static int name_part(simulation *m)
{
    const char *out = cli_value(m->s->args, "out");
    if (!out || strcmp(out, "-") == 0) return CLI_DONE;
    size_t size = strlen(out) + sizeof ".part";
    m->part = malloc(size);
    if (!m->part) return cli_fail_text(m->s, "out of memory");
    snprintf(m->part, size, "%s.part", out);
    m->o.part = m->part;
    return CLI_DONE;
}

static int read_options(simulation *m)
{
    const cli_args *args = m->s->args;
    bool labels = strcmp(args->positional[0], "features") != 0;
    m->o.steps = cli_whole(args, "simulate", 0);
    m->o.runs = cli_whole(args, "runs", 1);
    m->o.retrain_every = cli_whole(args, "retrain-every", cli_whole(args, "batch", 1));
    m->o.restart_every = cli_whole(args, "restart-every", m->o.restart_every);
    m->o.stable_rounds = cli_whole(args, "stop-stable", 0);
    m->o.least_gain = cli_real(args, "stop-gain", 0.0);
    m->o.test = labels ? 0.3 : 0.0;
    if (cli_value(args, "test")) cli_read_share(&m->o.test, cli_value(args, "test")); /* checked with the options */
    m->o.labels = cli_value(args, "labels");
    int code = read_strategies(m);
    if (!code) code = name_part(m);
    m->directory = cli_data_directory(args->positional[1]);
    if (!code && !m->directory) code = cli_fail_text(m->s, "out of memory");
    m->o.directory = m->directory;
    if (!code) code = cli_pairs_choose(&m->hidden, m->s, m->data);
    m->o.hidden = m->hidden.pairs;
    m->o.n_hidden = m->hidden.count;
    m->o.hide_rates = m->hidden.rates;
    return code;
}

/* ---- words ---- */

static plx_index find_strategy(const plx_curves *curves, const char *name)
{
    const char *here = NULL;
    for (plx_index i = 0; (here = plx_curves_strategy(curves, i)); i++)
        if (strcmp(here, name) == 0) return i;
    return -1;
}

static void say_strategy(simulation *m, const plx_curves *curves, plx_index strategy, plx_index random)
{
    plx_curve_summary c = PLX_CURVE_SUMMARY_INIT;
    char error[64] = "", beside[128] = "", goal[128] = "";
    const char *name = plx_curves_strategy(curves, strategy);
    plx_index other = random < 0 ? strategy : random;
    if (plx_curves_summary(&c, curves, strategy, other, NULL) != PLX_OK || isnan(c.mean)) return;
    if (!isnan(c.error)) snprintf(error, sizeof error, ", standard error %.4f", c.error);
    if (!isnan(c.difference_error))
        snprintf(beside, sizeof beside, "; %+.4f (%.4f) to random", c.difference, c.difference_error);
    if (c.reached && strcmp(name, "all") != 0)
        snprintf(goal, sizeof goal, "; 95 %% of all after %.1f in %lld of %lld", c.steps_to_reach, (long long)c.reached,
                 (long long)c.runs);
    cli_say(m->s, "%-11s %s %.4f over the acquisitions%s%s%s", name, c.metric, c.mean, error, beside, goal);
}

static void say_curves(simulation *m, const plx_curves *curves)
{
    plx_index random = find_strategy(curves, "random");
    cli_say_data(m->s, m->data);
    cli_say_warnings(m->s);
    for (plx_index i = 0; plx_curves_strategy(curves, i); i++) say_strategy(m, curves, i, random);
    if (m->part) cli_say(m->s, "wrote    %s", cli_value(m->s->args, "out"));
    if (cli_value(m->s->args, "report")) cli_say(m->s, "wrote    %s", cli_value(m->s->args, "report"));
}

static int write_report(simulation *m, const plx_curves *curves)
{
    const cli_args *args = m->s->args;
    plx_report *report = NULL;
    char *what = NULL;
    int code = cli_report_open(&report, m->s, PLX_REPORT_ACQUIRE);
    if (code || !report) return code;
    if (asprintf(&what, "which %s of %s to acquire for %s",
                 strcmp(args->positional[0], "any") == 0 ? "labels and views" : args->positional[0],
                 plx_dataset_name(m->data), cli_value(args, "with")) < 0)
        code = cli_fail_text(m->s, "out of memory");
    if (!code) code = cli_fail(m->s, plx_report_add_curves(report, m->s->ctx, curves, what));
    free(what);
    return cli_report_close(report, m->s, code);
}

/* ---- the whole ---- */

static int run(simulation *m, const plx_params *params, plx_acquire_kind kind)
{
    plx_curves *curves = NULL;
    const char *out = cli_value(m->s->args, "out");
    plx_status st =
        plx_acquire_simulate(&curves, m->s->ctx, kind, cli_value(m->s->args, "with"), m->data, params, &m->o);
    if (st == PLX_E_CANCELLED && m->part) cli_say(m->s, "kept     %s; the same command goes on from there", m->part);
    int code = cli_fail(m->s, st);
    if (!code && plx_curves_resumed(curves))
        cli_say(m->s, "resumed  %s from %s", CLI_COUNT(plx_curves_resumed(curves), "state", "states"), m->part);
    if (!code) code = write_report(m, curves);
    if (!code) code = cli_fail(m->s, plx_curves_write(m->s->ctx, curves, m->data, out ? out : "-"));
    if (!code) say_curves(m, curves);
    plx_curves_destroy(curves);
    return code;
}

int cli_simulate(cli_session *s, const plx_dataset *data, const plx_params *params, plx_acquire_kind kind)
{
    simulation m = {.s = s, .data = data, .o = PLX_SIMULATE_OPTIONS_INIT};
    int code = read_options(&m);
    if (!code) code = run(&m, params, kind);
    cli_pairs_free(&m.hidden);
    free(m.directory);
    free(m.names);
    free(m.part);
    return code;
}
