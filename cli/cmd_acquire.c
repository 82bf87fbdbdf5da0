/*
 * parallax acquire: what to measure next, and what that would have been worth.
 */
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "help.h"
#include "hide_labels.h"
#include "output.h"
#include "read_data.h"
#include "report_file.h"
#include "simulate.h"
#include "summary.h"

static const char *const outputs[] = {"out", "json", "dump", "report", NULL};

enum { DEFAULT_TOP = 10 };

static plx_acquire_kind kind_of(const char *word)
{
    return strcmp(word, "labels") == 0 ? PLX_ACQUIRE_LABELS
           : strcmp(word, "any") == 0  ? PLX_ACQUIRE_ANY
                                       : PLX_ACQUIRE_FEATURES;
}

/* ---- ranking ---- */

static int rank(plx_acquisition **out, cli_session *s, const plx_dataset *data, const plx_params *params)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    char **names = NULL, *directory = NULL;
    int code = cli_dump_names(&names, s);
    if (!code) directory = cli_data_directory(s->args->positional[1]);
    if (!code && !directory) code = cli_fail_text(s, "out of memory");
    o.directory = directory;
    o.arrays = (const char *const *)names;
    o.n_arrays = cli_value_count(s->args, "dump");
    if (!code)
        code = cli_fail(
            s, plx_acquire(out, s->ctx, kind_of(s->args->positional[0]), cli_value(s->args, "with"), data, params, &o));
    cli_free_names(names, (int)o.n_arrays);
    free(directory);
    return code;
}

static int write_results(cli_session *s, plx_acquisition *a, const plx_dataset *data)
{
    const char *out = cli_value(s->args, "out"), *json = cli_value(s->args, "json"), *text = NULL;
    plx_model *model = plx_acquisition_model(a);
    plx_index top = (plx_index)cli_whole(s->args, "top", DEFAULT_TOP);
    bool elsewhere = json || cli_value(s->args, "dump");
    int code = json ? cli_fail(s, plx_model_json(&text, s->ctx, model, data)) : CLI_DONE;
    if (!code) code = cli_dump_all(s, model, data, false);
    if (!code) code = cli_dump_all(s, model, data, true);
    if (!code && out && !cli_flag(s->args, "details"))
        code = cli_fail(s, plx_acquisition_write(s->ctx, a, data, top, out));
    else if (!code && (out || !elsewhere))
        code = cli_fail(s, plx_acquisition_table(s->ctx, a, data, top, out ? out : "-"));
    if (!code && json) code = cli_write_text(s, json, text);
    return code;
}

static void say_result(cli_session *s, const plx_acquisition *a, const plx_dataset *data)
{
    cli_say_data(s, data);
    cli_say_warnings(s);
    if (plx_acquisition_count(a))
        cli_say(s, "ranked   %s", CLI_COUNT(plx_acquisition_count(a), "candidate", "candidates"));
    else cli_say(s, "ranked   nothing: there is no candidate to acquire");
    cli_say_outputs(s, outputs);
}

static int acquire(cli_session *s, const plx_dataset *data, const plx_params *params)
{
    plx_acquisition *a = NULL;
    int code = rank(&a, s, data, params);
    if (!code) code = write_results(s, a, data);
    if (!code) say_result(s, a, data);
    plx_acquisition_destroy(a);
    return code;
}

/* ---- the verb ---- */

static int check_options(const cli_args *args)
{
    static const char *const simulated[] = {"hide",          "hide-file",     "runs", "criteria",
                                            "retrain-every", "restart-every", "test", "stop-gain",
                                            "stop-stable",   "report",        NULL};
    static const char *const ranked[] = {"json", "dump", "top", "details", NULL};
    bool simulate = cli_value(args, "simulate") != NULL;
    if (!cli_value(args, "with")) return cli_usage_error(args->verb, "--with METHOD is missing");
    for (const char *const *o = simulate ? ranked : simulated; *o; o++)
        if (cli_value(args, *o))
            return cli_usage_error(args->verb, simulate ? "--%s does not go with --simulate" : "--%s needs --simulate",
                                   *o);
    return CLI_DONE;
}

static int run_on_data(cli_session *s, plx_params *params)
{
    plx_dataset *data = NULL, *hidden = NULL;
    const char *labels = cli_value(s->args, "labels");
    int code = cli_check_outputs(s, outputs);
    if (!code) code = cli_check_report(s);
    if (!code) code = cli_read_data(&data, s, s->args->positional[1]);
    if (!code && cli_value(s->args, "simulate")) code = cli_simulate(s, data, params, kind_of(s->args->positional[0]));
    else if (!code) {
        if (labels) code = cli_hide_labels(&hidden, s, data, labels);
        if (!code) code = acquire(s, hidden ? hidden : data, params);
    }
    plx_dataset_destroy(hidden);
    plx_dataset_destroy(data);
    return code;
}

static int set_batch(cli_session *s, plx_params *params)
{
    const char *batch = cli_value(s->args, "batch");
    return batch ? cli_fail(s, plx_params_set(params, s->ctx, "batch", batch)) : CLI_DONE;
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_params *params = NULL;
    int code = check_options(args);
    if (code) return code;
    code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_fail(&s, plx_acquire_params_create(&params, s.ctx, cli_value(args, "with")));
    if (!code) code = cli_set_params(params, &s);
    if (!code) code = set_batch(&s, params);
    if (!code) code = run_on_data(&s, params);
    plx_params_destroy(params);
    cli_session_close(&s);
    return code;
}

/* Does the method itself have the parameter, so that `methods show` explains it? */
static bool is_of_method(const char *method, const char *name)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    for (plx_index i = 0; plx_method_param(&p, method, i) == PLX_OK; i++)
        if (strcmp(p.name, name) == 0) return true;
    return false;
}

static void list_arrays(FILE *to, const char *method)
{
    char text[1024] = "";
    size_t used = 0;
    plx_array_info a = PLX_ARRAY_INFO_INIT;
    for (plx_index i = 0; used < sizeof text - 64 && plx_acquirer_array(&a, method, i) == PLX_OK; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", a.name);
    fputs("\nIts arrays: ", to);
    cli_help_wrap(to, text, 2, 12);
}

/* Parameters of acquiring with the method that the method itself does not have. */
static void list_params(FILE *to, const char *method)
{
    enum { HEAD = 26 };
    plx_param_info p = PLX_PARAM_INFO_INIT;
    for (plx_index i = 0; plx_acquirer_param(&p, method, i) == PLX_OK; i++) {
        if (is_of_method(method, p.name)) continue;
        int used = fprintf(to, "  %s%s%s%s", p.name, p.per_view ? "[.VIEW]" : "", *p.def ? "=" : "", p.def);
        fprintf(to, used < HEAD ? "%*s" : "\n%*s", used < HEAD ? HEAD - used : HEAD, "");
        cli_help_wrap(to, p.help, HEAD, HEAD);
    }
}

/* Methods with rankings of their own one by one, the general ranking of labels once. */
static void more_help(FILE *to)
{
    const char *method = NULL, *general = NULL;
    for (plx_index m = 0; (method = plx_acquirer_name(m)); m++) {
        if (!plx_acquirer_ranks(method, PLX_ACQUIRE_FEATURES)) {
            general = general ? general : method;
            continue;
        }
        fprintf(to, "\nParameters of --with %s, besides those of 'parallax methods show %s':\n", method, method);
        list_params(to, method);
        list_arrays(to, method);
    }
    if (!general) return;
    fputs("\nParameters of labels --with any other classifier, besides its own (array: label_gain):\n", to);
    list_params(to, general);
}

static const cli_positional positionals[] = {
    {"KIND", CLI_CHOICE, false, "What may be acquired: labels, features, or any of both.", "labels|features|any"},
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "with",
     .value = "METHOD",
     .kind = CLI_TEXT,
     .help = "The method that learns. Labels: any classifier; features: bct or colr; any: colr. Needed."},
    {.name = "set",
     .repeatable = true,
     .value = "KEY=VALUE",
     .kind = CLI_SETTING,
     .help = "Set a parameter of the method, a cost (cost.VIEW=2), the budget or the density of unseen features. "
             "Repeatable. Files are relative to the data set's directory."},
    {.name = "top",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 0,
     .high = 1e15,
     .help = "Rows of the ranking to write (default 10; 0: all)."},
    {.name = "batch",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e6,
     .help = "Choose N to be acquired together, each worth what it adds to those before; with --simulate N are "
             "revealed between two fits."},
    {.name = "details",
     .kind = CLI_FLAG,
     .help = "Write --out as standard output is written: rank,id,what,gain,cost,gain_per_cost,guess,probability."},
    {.name = "labels",
     .value = "SPEC",
     .kind = CLI_TEXT,
     .help = "Hide all labels but some, as for fit; with --simulate drawn again for every run."},
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write rank,kind,id,view,score,cost there, or the learning curves. Default: standard output, with the "
             "current guess and its probability."},
    {.name = "dump",
     .value = "NAME=FILE",
     .kind = CLI_DUMP,
     .repeatable = true,
     .help = "Write a named array: label_gain, gain, mixing, gmm_mean.VIEW, ... (listed below). Repeatable."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write parameters, the ranking with guesses, run facts and metrics as JSON (- for standard output)."},
    {.name = "simulate",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 0,
     .high = 1e9,
     .help = "Hide labels (--labels) or views (--hide) that are known, acquire N of them one at a time and write "
             "learning curves. An interrupted simulation with --out goes on when started again."},
    {.name = "hide",
     .repeatable = true,
     .value = "VIEW=SHARE",
     .kind = CLI_TEXT,
     .help = "Simulation: hide the view of this share of the samples, drawn again for every run. Repeatable. No sample "
             "loses its last view."},
    {.name = "hide-file",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Simulation: hide the pairs listed there, with a header id,view."},
    {.name = "criteria",
     .value = "LIST",
     .kind = CLI_TEXT,
     .help = "Simulation: strategies to compare (default chosen,random,uncertainty): chosen is the ranking as set, all "
             "reveals everything at once; also a criterion of labels or a strategy of features by name."},
    {.name = "runs",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e6,
     .help = "Simulation: runs, each with a seed of its own: SEED, SEED + 1, ... (default 1)."},
    {.name = "retrain-every",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e9,
     .help = "Simulation: fit and rank again after so many acquisitions (default 1)."},
    {.name = "restart-every",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e9,
     .help = "Simulation: every N-th fit starts afresh, those between from the one before where the method can "
             "(default 10)."},
    {.name = "test",
     .value = "SHARE",
     .kind = CLI_SHARE,
     .help = "Simulation: share of the samples that are scored and never asked about, drawn again for every run "
             "(default 0.3 for labels and any; 0 for features: all whose label is not seen are scored)."},
    {.name = "stop-gain",
     .value = "X",
     .kind = CLI_REAL,
     .low = 0,
     .high = 1e300,
     .help = "Simulation: stop a curve when the best candidate promises less than X per cost."},
    {.name = "stop-stable",
     .value = "R",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e9,
     .help = "Simulation: stop a curve when the labels of the scored samples stay the same over R fits."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {
    options, cli_report_options, cli_seed_options, cli_run_options, cli_talk_options, cli_read_options, NULL};

static const cli_example examples[] = {
    {"parallax acquire labels posts --with svm --set criterion=margin --top 20",
     "Which texts should be labelled next?"},
    {"parallax acquire labels posts --with coem --batch 20 --out next.csv --details",
     "Twenty texts to be labelled together, not twenty times the same one."},
    {"parallax acquire any clinic --with colr --set cost.label=5 --set cost.mri=20",
     "A diagnosis or a test, whichever tells more for its price?"},
    {"parallax acquire features clinic --with bct --set cost.mri=20 --set cost.blood=1 --out next.csv",
     "Which test for which patient next, by information per cost?"},
    {"parallax acquire features clinic --with bct --simulate 30 --hide mri=0.5 --labels 10 --runs 20 --out curves.csv",
     "Would it have paid? Learning curves of three strategies over 20 runs."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_acquire = {
    .name = "acquire",
    .summary = "Rank what to measure next.",
    .description =
        "Fits a method to DATA and ranks the missing labels or views of its samples by what asking for them would "
        "tell, per unit cost. The density of what a view may hold is a mixture fitted to what is there.\n"
        "With --simulate labels or views that are known are hidden first and acquired one at a time by several "
        "strategies; the curves tell how good the model is after each, on samples whose label it does not see.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
    .more_help = more_help,
};
