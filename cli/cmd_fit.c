/*
 * parallax fit: read, hide labels, fit, and only then write everything that was asked for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dump.h"
#include "fit_auto.h"
#include "hide_labels.h"
#include "output.h"
#include "read_data.h"
#include "report_file.h"
#include "summary.h"

/* ---- labels ---- */

/* Replace the data set by one where only the samples of --labels keep theirs. */
static int hide_labels(plx_dataset **data, cli_session *s)
{
    const char *spec = cli_value(s->args, "labels");
    plx_dataset *hidden = NULL;
    int code = spec ? cli_hide_labels(&hidden, s, *data, spec) : CLI_DONE;
    if (!hidden) return code;
    plx_dataset_destroy(*data);
    *data = hidden;
    return code;
}

static bool dumps_matrices(const cli_args *args)
{
    const char *request = NULL;
    for (int i = 0; (request = cli_value_at(args, "dump", i)); i++)
        if (!cli_goes_by_rows(request)) return true;
    return false;
}

static int run_fit(plx_model **out, cli_session *s, const char *method, const plx_dataset *data,
                   const plx_params *params)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    char **names = NULL, *directory = NULL;
    int code = cli_dump_names(&names, s);
    if (!code) directory = cli_data_directory(s->args->positional[1]);
    if (!code && !directory) code = cli_fail_text(s, "out of memory");
    o.directory = directory;
    o.arrays = (const char *const *)names;
    o.n_arrays = cli_value_count(s->args, "dump");
    o.checkpoint = cli_value(s->args, "checkpoint");
    if (cli_value(s->args, "every")) cli_read_time(&o.checkpoint_every, cli_value(s->args, "every"));
    o.resume = cli_flag(s->args, "resume");
    o.own_results = s->own_rows && !dumps_matrices(s->args);
    if (!code) code = cli_fail(s, plx_fit(out, s->ctx, method, data, params, &o));
    cli_free_names(names, (int)o.n_arrays);
    free(directory);
    return code;
}

/* ---- results ---- */

/* By all ranks where each has the results of its own samples: what they write together is rank 0's file. */
static int write_results(cli_session *s, plx_model *model, const plx_dataset *data)
{
    const char *out = cli_value(s->args, "out"), *file = cli_value(s->args, "model"),
               *json = cli_value(s->args, "json");
    const char *text = NULL;
    int code = json ? cli_fail(s, plx_model_json(&text, s->ctx, model, data)) : CLI_DONE;
    if (!code) code = cli_dump_all(s, model, data, false);
    if (!code) code = cli_dump_all(s, model, data, true);
    if (!code && out) code = cli_fail(s, plx_prediction_write(s->ctx, plx_model_prediction(model), data, out));
    if (!code && file && cli_writes()) code = cli_fail(s, plx_model_save(s->ctx, model, file));
    if (!code && json && cli_writes()) code = cli_write_text(s, json, text);
    return code;
}

static int write_report(cli_session *s, const plx_model *model, const plx_dataset *data)
{
    plx_report *report = NULL;
    int code = cli_report_open(&report, s, PLX_REPORT_FIT);
    if (report && !code) code = cli_fail(s, plx_report_add_model(report, s->ctx, model, data));
    return cli_report_close(report, s, code);
}

static bool reached(const plx_model *model, const char *parameter)
{
    const char *most = plx_model_param(model, parameter);
    long long iterations = 0;
    return most && cli_read_whole(&iterations, most) && plx_model_iterations(model) >= iterations;
}

/* Which limit stopped the run, as far as one can tell from outside. Rounds are a plan: to run all of them is no failure. */
static const char *limit_text(char *buffer, size_t size, cli_session *s, const plx_model *model, double seconds)
{
    double limit = cli_real(s->args, "time-limit", 0);
    if (limit > 0 && seconds >= limit) snprintf(buffer, size, "stopped by --time-limit before convergence");
    else if (reached(model, "max_iter"))
        snprintf(buffer, size, "stopped by max_iter = %s before convergence", plx_model_param(model, "max_iter"));
    else if (reached(model, "rounds")) snprintf(buffer, size, "all rounds asked for");
    else snprintf(buffer, size, "did not converge");
    return buffer;
}

static void say_fit(cli_session *s, const plx_model *model, double seconds)
{
    char run[200] = "", limit[96] = "", objective[64] = "", took[32] = "under a millisecond";
    int converged = plx_model_converged(model);
    if (converged >= 0)
        snprintf(run, sizeof run, ", %s, %s", CLI_COUNT(plx_model_iterations(model), "iteration", "iterations"),
                 converged ? "converged" : limit_text(limit, sizeof limit, s, model, seconds));
    if (!isnan(plx_model_objective(model)))
        snprintf(objective, sizeof objective, ", objective %.8g", plx_model_objective(model));
    if (seconds >= 100) snprintf(took, sizeof took, "%.0f s", seconds);
    else if (seconds >= 1) snprintf(took, sizeof took, "%.3g s", seconds);
    else if (seconds >= 0.001) snprintf(took, sizeof took, "%.0f ms", 1000 * seconds);
    cli_say(s, "fit      %s%s%s, %s", plx_model_method(model), run, objective, took);
}

static void say_changed(cli_session *s, const plx_model *model)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    for (plx_index i = 0; plx_method_param(&p, plx_model_method(model), i) == PLX_OK; i++) {
        const char *value = plx_model_param(model, p.name);
        if (value && strcmp(value, p.def) != 0)
            cli_say(s, "changed  %s = %s (default %s)", p.name, value, *p.def ? p.def : "not set");
    }
    for (int i = 0; i < s->args->n_given; i++) {
        const cli_given *g = &s->args->given[i];
        if (g->option->kind == CLI_SETTING && memchr(g->value, '.', strcspn(g->value, "=")))
            cli_say(s, "changed  %s", g->value);
    }
}

/* ---- the verb ---- */

/* Is a classifier in the space of coordinates asked for (cca, kcca)? */
static bool wants_classifier(const cli_args *args)
{
    bool wanted = false;
    for (int i = 0; i < args->n_given; i++) {
        const cli_given *g = &args->given[i];
        if (g->option->kind == CLI_SETTING && strncmp(g->value, "classifier=", 11) == 0)
            wanted = strcmp(g->value + 11, "none") != 0;
    }
    return wanted;
}

/* A file of ? helps no one: a method that finds coordinates has other outputs, unless it also classifies. */
static int check_out(const cli_args *args)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    if (!cli_value(args, "out") || plx_method_describe(&m, args->positional[0]) != PLX_OK) return CLI_DONE;
    if (m.task != PLX_TASK_EMBED || wants_classifier(args)) return CLI_DONE;
    return cli_usage_error(args->verb, "--out: %s finds coordinates, no labels; write them with --dump %s=FILE", m.name,
                           m.transform ? m.transform : "ARRAY");
}

/* --every and --resume are about --checkpoint. */
static int check_checkpoint(const cli_args *args)
{
    if (cli_value(args, "checkpoint")) return CLI_DONE;
    if (cli_flag(args, "resume")) return cli_usage_error(args->verb, "--resume needs --checkpoint FILE");
    return cli_value(args, "every") ? cli_usage_error(args->verb, "--every needs --checkpoint FILE") : CLI_DONE;
}

/* METHOD and DATA in the wrong order are a common slip. */
static int check_order(const cli_args *args)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    const char *method = args->positional[0], *data = args->positional[1];
    if (!data || plx_method_describe(&m, method) == PLX_OK || plx_method_describe(&m, data) != PLX_OK) return CLI_DONE;
    return cli_usage_error(args->verb, "METHOD comes first: parallax fit %s %s", data, method);
}

/* Sums and systems mostly need a rank's own rows only; a report shows all of them. */
static bool needs_own_rows(const cli_args *args)
{
    plx_method_info m = PLX_METHOD_INFO_INIT;
    if (!cli_peers || cli_value(args, "report") || plx_method_describe(&m, args->positional[0]) != PLX_OK) return false;
    return strstr(m.ranks, "sums") || strstr(m.ranks, "systems");
}

/* Files of the result; and all that are written, the checkpoint among them. */
static const char *const outputs[] = {"out", "model", "json", "dump", "report", NULL};
static const char *const written[] = {"out", "model", "json", "dump", "report", "checkpoint", NULL};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say_result(cli_session *s, const plx_model *model, const plx_dataset *data, const plx_metrics *metrics,
                       double seconds)
{
    cli_say_data(s, data);
    say_fit(s, model, seconds);
    if (plx_model_members(model)) cli_say_members(s, model);
    cli_say_metrics(s, metrics);
    if (cli_flag(s->args, "show-changed")) say_changed(s, model);
    cli_say_warnings(s);
    cli_say_outputs(s, outputs);
}

static int fit_data(cli_session *s, const char *method, plx_dataset **data, const plx_params *params)
{
    plx_model *model = NULL;
    plx_metrics *metrics = NULL;
    int code = hide_labels(data, s);
    double started = seconds_now();
    if (!code) code = run_fit(&model, s, method, *data, params);
    double seconds = seconds_now() - started;
    if (!code && !s->quiet) /* with many classes and samples they take longer than some fits */
        code = cli_fail(s, plx_prediction_metrics(&metrics, s->ctx, plx_model_prediction(model), model, *data));
    bool together = plx_prediction_divided(plx_model_prediction(model));
    if (!code && (together || cli_writes())) code = write_results(s, model, *data);
    if (!code && cli_writes()) code = write_report(s, model, *data);
    if (!code && !s->quiet) say_result(s, model, *data, metrics, seconds);
    plx_metrics_destroy(metrics);
    plx_model_destroy(model);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_params *params = NULL;
    plx_dataset *data = NULL;
    int code = check_order(args);
    if (!code) code = check_out(args);
    if (!code) code = check_checkpoint(args);
    if (!code) code = cli_session_open(&s, args);
    if (code) return code;
    s.own_rows = needs_own_rows(args);
    code = cli_fail(&s, plx_params_create(&params, s.ctx, args->positional[0]));
    if (!code) code = cli_set_params(params, &s);
    if (!code && cli_writes()) code = cli_check_outputs(&s, written);
    if (!code && cli_writes()) code = cli_check_report(&s);
    if (!code) code = cli_read_data(&data, &s, args->positional[1]);
    if (!code) code = fit_data(&s, args->positional[0], &data, params);
    plx_dataset_destroy(data);
    plx_params_destroy(params);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"METHOD", CLI_METHOD, false,
     "A method listed by 'parallax methods', or auto: several, chosen by the look of the data.", NULL},
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "set",
     .repeatable = true,
     .value = "KEY=VALUE",
     .kind = CLI_SETTING,
     .help = "Set a parameter of the method, or KEY.VIEW=VALUE for one view. Repeatable. "
             "Files are relative to the data set's directory."},
    {.name = "labels",
     .value = "SPEC",
     .kind = CLI_TEXT,
     .help = "Hide all labels but some: 10% of every class, 5 of every class, a=2,b=10 of these classes, "
             "or a file with one id, number or flag per line (file:F where the name reads like the others). "
             "Without a truth the hidden labels are what the quality is measured on."},
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write predictions: id,label,score_CLASS,... (- for standard output)."},
    {.name = "model",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write the fitted model (.plx) for predict and transform."},
    {.name = "dump",
     .repeatable = true,
     .value = "NAME=FILE",
     .kind = CLI_DUMP,
     .help = "Write a named array of the method as .npy, .mtx, .tsv, or csv for any other name (- for standard "
             "output). Repeatable."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write parameters, run facts and metrics as JSON (- for standard output)."},
    {.name = "checkpoint",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write the state of the iteration there now and then, to go on from with --resume."},
    {.name = "every",
     .value = "TIME",
     .kind = CLI_TIME,
     .help = "Time between two checkpoints: 30s, 5min (default), 2h; 0: every iteration."},
    {.name = "resume",
     .kind = CLI_FLAG,
     .help = "Go on from the checkpoint where there is one, to the same bytes as without the interruption."},
    {.name = "show-changed", .kind = CLI_FLAG, .help = "Tell which parameters differ from their defaults."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options,          cli_report_options, cli_seed_options,
                                                cli_run_options,  cli_device_options, cli_stream_options,
                                                cli_talk_options, cli_read_options,   NULL};

static const cli_example examples[] = {
    {"parallax fit nb data/cora --labels 10% --out labels.csv", "Label all samples from a tenth of the labels."},
    {"parallax fit rls data/cora --set view=text --set gamma_a=0.1 --model cora.plx", "Keep a model for later."},
    {"parallax fit auto data/cora --labels 10% --out labels.csv --model auto.plx", "Let the command choose."},
    {"parallax fit nb data/cora --dump posterior=p.npy --json result.json --quiet", "Numbers for a script."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_fit = {
    .name = "fit",
    .summary = "Fit a method to a data set and label its samples.",
    .description =
        "Fits METHOD to DATA, predicts every sample and writes what is asked for, after everything was computed. "
        "When the data set has a truth, the quality is measured on the samples whose label the method did not see. "
        "The same seed gives the same bytes for every number of threads.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
