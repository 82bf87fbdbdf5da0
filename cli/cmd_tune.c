/*
 * parallax tune: settings of a method chosen by cross-validation on the labelled samples.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "hide_labels.h"
#include "output.h"
#include "read_data.h"
#include "summary.h"

enum { SHOWN = 8 };

typedef struct tuner {
    cli_session s;
    const char *method, *path;
    plx_params *params;
    plx_dataset *data;
    plx_tuning *tuning;
} tuner;

/* ---- results ---- */

static plx_candidate candidate(const tuner *t, plx_index i)
{
    plx_candidate c = PLX_CANDIDATE_INIT;
    (void)!plx_tuning_get(&c, t->tuning, i);
    return c;
}

static void print_candidate(const tuner *t, plx_index i)
{
    plx_candidate c = candidate(t, i);
    printf("%s %.3f ± %.3f  %3lld   %s\n", i == plx_tuning_chosen(t->tuning) ? "*" : " ", c.mean, c.sd,
           (long long)c.runs, *c.settings ? c.settings : "(start)");
}

/* Finalists from the best on, then number 0 if it was not among them. */
static void print_best(const tuner *t)
{
    plx_index count = plx_tuning_count(t->tuning);
    bool smaller = false;
    const char *metric = cli_value(t->s.args, "metric");
    bool *shown = calloc((size_t)count, sizeof *shown);
    if (metric) smaller = strcmp(metric, "hamming_loss") == 0;
    printf("  %-15s folds   settings\n", metric ? metric : "accuracy");
    for (int k = 0; shown && k < SHOWN; k++) {
        plx_index best = -1;
        for (plx_index i = 0; i < count; i++) {
            plx_candidate c = candidate(t, i), b = candidate(t, best < 0 ? i : best);
            if (shown[i] || !c.finalist || (best >= 0 && !(smaller ? c.mean < b.mean : c.mean > b.mean))) continue;
            best = i;
        }
        if (best < 0) break;
        shown[best] = true;
        print_candidate(t, best);
    }
    if (shown && !shown[0]) print_candidate(t, 0);
    free(shown);
}

static int write_json(tuner *t, const char *path)
{
    cli_json_file f;
    int code = cli_json_file_open(&f, &t->s);
    if (code) return code;
    cli_json_text(&f.j, "method", t->method);
    cli_json_text(&f.j, "metric", cli_value(t->s.args, "metric") ? cli_value(t->s.args, "metric") : "accuracy");
    cli_json_whole(&f.j, "chosen", plx_tuning_chosen(t->tuning));
    cli_json_text(&f.j, "verdict", plx_tuning_verdict(t->tuning));
    cli_json_open(&f.j, "candidates", '[');
    for (plx_index i = 0; i < plx_tuning_count(t->tuning); i++) {
        plx_candidate c = candidate(t, i);
        cli_json_open(&f.j, NULL, '{');
        cli_json_text(&f.j, "settings", c.settings);
        cli_json_whole(&f.j, "folds", c.runs);
        cli_json_real(&f.j, "mean", c.mean);
        cli_json_real(&f.j, "sd", c.sd);
        cli_json_real(&f.j, "difference", c.difference);
        cli_json_real(&f.j, "difference_error", c.difference_error);
        cli_json_bool(&f.j, "finalist", c.finalist);
        cli_json_text(&f.j, "reason", c.reason);
        cli_json_close(&f.j, '}');
    }
    cli_json_close(&f.j, ']');
    cli_json_warnings(&f.j, &t->s);
    return cli_json_file_write(&f, &t->s, path);
}

/* The settings as options of fit, for a shell. */
static void print_command(const tuner *t)
{
    const char *settings = candidate(t, plx_tuning_chosen(t->tuning)).settings;
    printf("\nparallax fit %s %s", t->method, t->path ? t->path : "DATA");
    for (int i = 0; cli_value_at(t->s.args, "set", i); i++) printf(" --set %s", cli_value_at(t->s.args, "set", i));
    while (*settings) {
        size_t length = strcspn(settings, ":");
        printf(" --set %.*s", (int)length, settings);
        settings += length + (settings[length] == ':');
    }
    puts("");
}

/* ---- running ---- */

static int search(tuner *t)
{
    const cli_args *args = t->s.args;
    plx_tune_options o = PLX_TUNE_OPTIONS_INIT;
    int n = cli_value_count(args, "grid"), code = CLI_DONE;
    const char **grid = calloc((size_t)n + 1, sizeof *grid);
    char *directory = cli_data_directory(t->path);
    if (!grid || !directory) code = cli_fail_text(&t->s, "out of memory");
    for (int i = 0; !code && i < n; i++) grid[i] = cli_value_at(args, "grid", i);
    o.grid = grid;
    o.n_grid = n;
    o.trials = cli_whole(args, "trials", o.trials);
    o.folds = cli_whole(args, "folds", o.folds);
    o.repeats = cli_whole(args, "repeats", o.repeats);
    o.metric = cli_value(args, "metric");
    o.jobs = cli_whole(args, "jobs", 0);
    o.threads = (int)cli_whole(args, "threads", 1);
    o.run_limit = cli_real(args, "run-limit", 0);
    o.journal = cli_value(args, "journal");
    o.resume = cli_flag(args, "resume");
    o.directory = directory;
    if (!code) code = cli_fail(&t->s, plx_tune(&t->tuning, t->s.ctx, t->method, t->data, t->params, &o));
    free(grid);
    free(directory);
    return code;
}

static int hide(tuner *t)
{
    const char *spec = cli_value(t->s.args, "labels");
    plx_dataset *hidden = NULL;
    int code = spec ? cli_hide_labels(&hidden, &t->s, t->data, spec) : CLI_DONE;
    if (!hidden) return code;
    plx_dataset_destroy(t->data);
    t->data = hidden;
    return code;
}

static const char *const outputs[] = {"json", "journal", NULL};

static int work(tuner *t)
{
    const char *json = cli_value(t->s.args, "json");
    int code = cli_fail(&t->s, plx_params_create(&t->params, t->s.ctx, t->method));
    if (!code) code = cli_set_params(t->params, &t->s);
    if (!code) code = cli_check_outputs(&t->s, outputs);
    if (!code) code = cli_read_data(&t->data, &t->s, t->path);
    if (!code) code = hide(t);
    if (!code) code = search(t);
    if (!code && json) code = write_json(t, json);
    if (code) return code;
    if (!json || strcmp(json, "-") != 0) {
        print_best(t);
        printf("\n%s\n", plx_tuning_verdict(t->tuning));
        print_command(t);
    }
    cli_say_warnings(&t->s);
    cli_say_outputs(&t->s, outputs);
    return CLI_DONE;
}

static int check_usage(const cli_args *args)
{
    const char *journal = cli_value(args, "journal");
    if (cli_flag(args, "resume") && !journal)
        return cli_usage_error(args->verb, "--resume needs the journal to go on from: --journal FILE");
    if (journal && strcmp(journal, "-") == 0)
        return cli_usage_error(args->verb, "--journal: a journal is a file; give its name");
    if (cli_flag(args, "grid") && (cli_flag(args, "space") || cli_flag(args, "trials")))
        return cli_usage_error(args->verb, "give --grid, or --space with --trials, not both");
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    tuner t = {.path = args->positional[0], .method = args->positional[1]};
    plx_method_info m = PLX_METHOD_INFO_INIT;
    int code = check_usage(args);
    if (t.path && plx_method_describe(&m, t.method) != PLX_OK && plx_method_describe(&m, t.path) == PLX_OK) {
        t.path = args->positional[1]; /* as for fit */
        t.method = args->positional[0];
    }
    if (!code) code = cli_session_open(&t.s, args);
    if (code) return code;
    code = work(&t);
    plx_tuning_destroy(t.tuning);
    plx_dataset_destroy(t.data);
    plx_params_destroy(t.params);
    cli_session_close(&t.s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    {"METHOD", CLI_METHOD, false, "A method listed by 'parallax methods'.", NULL},
    CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "grid",
     .value = "KEY=V1,V2",
     .kind = CLI_SETTING,
     .repeatable = true,
     .help = "Values to try. Repeatable: all combinations are candidates."},
    {.name = "space",
     .value = "WHICH",
     .kind = CLI_CHOICE,
     .choices = "default",
     .help = "Draw candidates from the ranges of the method's parameters (default without --grid)."},
    {.name = "trials",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 4095,
     .help = "How many candidates to draw (default 24)."},
    {.name = "set",
     .repeatable = true,
     .value = "KEY=VALUE",
     .kind = CLI_SETTING,
     .help = "Start from this setting, and keep it. Repeatable."},
    {.name = "labels",
     .value = "SPEC",
     .kind = CLI_TEXT,
     .help = "Hide all labels but some, as for fit; only those are validated on."},
    {.name = "folds",
     .value = "K",
     .kind = CLI_WHOLE,
     .low = 2,
     .high = 1000000,
     .help = "Folds of the labelled samples (default 5)."},
    {.name = "repeats",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1000000,
     .help = "How often the folds are dealt anew for the candidates left at the end (default 2)."},
    {.name = "metric", .value = "NAME", .kind = CLI_TEXT, .help = "To be best in (default accuracy)."},
    {.name = "jobs",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 4096,
     .help = "Runs side by side (default, and at most: as many as there are cores for)."},
    {.name = "threads",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 4096,
     .help = "Threads of each run (default 1)."},
    {.name = "run-limit",
     .value = "SECONDS",
     .kind = CLI_REAL,
     .low = 0,
     .help = "Give a run up after this time; its candidate is out."},
    {.name = "journal", .value = "FILE", .kind = CLI_FILE, .help = "Keep every finished run in this SQLite file."},
    {.name = "resume", .kind = CLI_FLAG, .help = "Go on from the journal: what it holds is not computed again."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write all candidates and the choice as JSON (- for standard output)."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options,          cli_seed_options, cli_memory_options,
                                                cli_talk_options, cli_read_options, NULL};

static const cli_example examples[] = {
    {"parallax tune data/cora rls --labels 10% --grid gamma_a=0.001,0.01,0.1 --grid decision=argmax,share",
     "Try six settings."},
    {"parallax tune data/cora coem --labels 10% --trials 40 --journal coem.db", "Draw forty; --resume goes on."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_tune = {
    .name = "tune",
    .summary = "Choose settings of a method by cross-validation on the labelled samples.",
    .description =
        "Tries settings on folds of the labelled samples: few folds for all of them, more for the better third. Labels "
        "that are hidden and the truth are not looked at. The settings one starts from stay unless another candidate "
        "is "
        "better by more than a standard error: with few labels the best of many is mostly the luckiest.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
