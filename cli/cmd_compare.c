/*
 * parallax compare: several methods on the same splits of several data sets.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "read_data.h"
#include "report_file.h"
#include "word_list.h"

typedef struct comparing {
    cli_session s;
    plx_compare_options o;
    cli_words methods, predictions, labels, metrics;
    int n_data;
    plx_dataset **data;
    const char **names;
    char **directories;
    char *journal; /* where it is named after the results */
    plx_comparison *result;
} comparing;

/* ---- what was asked for ---- */

static int read_lists(comparing *c)
{
    int code = cli_words_add(&c->methods, &c->s, "methods", true, 0);
    if (!code) code = cli_words_add(&c->methods, &c->s, "method", false, 0);
    if (!code) code = cli_words_add(&c->predictions, &c->s, "with", true, 0);
    if (!code) code = cli_words_add(&c->labels, &c->s, "labels", true, '='); /* a=2,b=10 is one choice */
    if (!code) code = cli_words_add(&c->metrics, &c->s, "metrics", true, 0);
    c->o.methods = c->methods.word;
    c->o.n_methods = c->methods.count;
    c->o.predictions = c->predictions.word;
    c->o.n_predictions = c->predictions.count;
    c->o.labels = c->labels.word;
    c->o.n_labels = c->labels.count;
    c->o.metrics = c->metrics.word;
    c->o.n_metrics = c->metrics.count;
    return code;
}

static void read_numbers(comparing *c)
{
    const cli_args *args = c->s.args;
    const char *task = cli_value(args, "task"), *test = cli_value(args, "test");
    c->o.task = task && strcmp(task, "cluster") == 0 ? PLX_TASK_CLUSTER : PLX_TASK_CLASSIFY;
    c->o.repeats = cli_whole(args, "repeats", cli_flag(args, "folds") ? 1 : c->o.repeats);
    c->o.folds = cli_whole(args, "folds", 0);
    c->o.inductive = cli_flag(args, "inductive");
    if (test) cli_read_share(&c->o.test, test);
    c->o.jobs = cli_whole(args, "jobs", 0);
    c->o.threads = (int)cli_whole(args, "threads", 1);
    c->o.run_limit = cli_real(args, "run-limit", 0);
    c->o.alpha = cli_real(args, "alpha", c->o.alpha);
    c->o.resume = cli_flag(args, "resume");
}

/* Named, or beside the results. */
static int name_journal(comparing *c)
{
    const char *named = cli_value(c->s.args, "journal"), *out = cli_value(c->s.args, "out");
    if (named && strcmp(named, "-") == 0)
        return cli_usage_error(c->s.args->verb, "--journal: a journal is a file; give its name");
    c->o.journal = named;
    if (named || cli_flag(c->s.args, "write-splits")) return CLI_DONE;
    if (out && strncmp(out, "/dev/", 5) != 0 && strcmp(out, "-") != 0) {
        if (asprintf(&c->journal, "%s.journal", out) < 0) return cli_fail_text(&c->s, "out of memory");
        c->o.journal = c->journal;
        return CLI_DONE;
    }
    if (!c->o.resume) return CLI_DONE;
    return cli_usage_error(c->s.args->verb, "--resume needs the journal to go on from: --journal FILE, or --out FILE");
}

static int check_contradictions(const cli_args *args)
{
    if (cli_flag(args, "test") && (!cli_flag(args, "inductive") || cli_flag(args, "folds")))
        return cli_usage_error(args->verb,
                               "--test says how many samples --inductive sets aside where --folds does not");
    if (args->n_positional > 1 && (cli_flag(args, "view") || cli_flag(args, "labels-from")))
        return cli_usage_error(args->verb,
                               "--view and --labels-from make one data set, and %d are given; save each "
                               "with 'parallax data save' first",
                               args->n_positional);
    return CLI_DONE;
}

/* ---- data ---- */

static int read_one(comparing *c, int i)
{
    const char *path = c->s.args->positional[i];
    int code = cli_read_data(&c->data[i], &c->s, path);
    if (code) return code;
    c->directories[i] = cli_data_directory(path);
    if (!c->directories[i]) return cli_fail_text(&c->s, "out of memory");
    c->names[i] = plx_dataset_name(c->data[i]);
    return CLI_DONE;
}

/* Data sets of one name are told apart by their paths. */
static void tell_apart(comparing *c)
{
    for (int i = 0; i < c->n_data; i++)
        for (int k = 0; k < c->n_data; k++)
            if (k != i && strcmp(plx_dataset_name(c->data[i]), plx_dataset_name(c->data[k])) == 0)
                c->names[i] = c->s.args->positional[i];
}

static int read_all(comparing *c)
{
    int code = CLI_DONE;
    c->n_data = c->s.args->n_positional;
    c->data = calloc((size_t)c->n_data, sizeof *c->data);
    c->names = calloc((size_t)c->n_data, sizeof *c->names);
    c->directories = calloc((size_t)c->n_data, sizeof *c->directories);
    if (!c->data || !c->names || !c->directories) return cli_fail_text(&c->s, "out of memory");
    for (int i = 0; i < c->n_data && !code; i++) code = read_one(c, i);
    if (code) return code;
    tell_apart(c);
    c->o.names = c->names;
    c->o.directories = (const char *const *)c->directories;
    return CLI_DONE;
}

/* ---- results ---- */

static plx_compare_format format_of(const comparing *c, const char *path)
{
    const char *named = cli_value(c->s.args, "format"), *dot = path ? strrchr(path, '.') : NULL;
    plx_compare_format format = PLX_COMPARE_TEXT;
    if (named) (void)!plx_compare_format_parse(&format, named);
    else if (dot) (void)!plx_compare_format_parse(&format, dot + 1);
    return format;
}

static int write_part(comparing *c, plx_compare_part part, const char *path)
{
    return cli_fail(&c->s, plx_comparison_write(c->s.ctx, c->result, format_of(c, path), part, path));
}

/* Files first; then what people read, on standard output unless it is in use. */
static int write_results(comparing *c)
{
    const char *out = cli_value(c->s.args, "out"), *costs = cli_value(c->s.args, "costs");
    bool busy = (out && strcmp(out, "-") == 0) || (costs && strcmp(costs, "-") == 0);
    bool formatted = !out && cli_flag(c->s.args, "format");
    int code = out ? write_part(c, PLX_COMPARE_RESULTS, out) : CLI_DONE;
    if (!code && costs) code = write_part(c, PLX_COMPARE_COSTS, costs);
    if (code || busy) return code;
    if (formatted) return write_part(c, PLX_COMPARE_RESULTS, "-");
    if (c->s.quiet && out) return CLI_DONE;
    code = cli_fail(&c->s, plx_comparison_write(c->s.ctx, c->result, PLX_COMPARE_TEXT, PLX_COMPARE_RESULTS, "-"));
    if (code) return code;
    puts("");
    return cli_fail(&c->s, plx_comparison_write(c->s.ctx, c->result, PLX_COMPARE_TEXT, PLX_COMPARE_COSTS, "-"));
}

static int write_report(comparing *c)
{
    plx_report *report = NULL;
    int code = cli_report_open(&report, &c->s, PLX_REPORT_COMPARE);
    if (report && !code) code = cli_fail(&c->s, plx_report_add_comparison(report, c->s.ctx, c->result));
    return cli_report_close(report, &c->s, code);
}

static const char *const outputs[] = {"out", "costs", "journal", "report", NULL};

static int say_end(comparing *c)
{
    plx_index all =
        plx_comparison_blocks(c->result) * plx_comparison_entries(c->result) * plx_comparison_runs(c->result);
    plx_index failed = plx_comparison_failed(c->result);
    cli_say_warnings(&c->s);
    if (plx_comparison_resumed(c->result))
        cli_say(&c->s, "resumed  %s of %lld from the journal",
                CLI_COUNT(plx_comparison_resumed(c->result), "run", "runs"), (long long)all);
    cli_say_outputs(&c->s, outputs);
    if (c->journal) cli_say(&c->s, "kept     every run in %s", c->journal);
    if (failed < all) return CLI_DONE;
    return cli_fail_text(&c->s, "no run has an answer; the table says why");
}

/* ---- the verb ---- */

static int work(comparing *c)
{
    const char *splits = cli_value(c->s.args, "write-splits");
    const plx_dataset *const *data = NULL;
    int code = cli_check_outputs(&c->s, outputs);
    if (!code) code = cli_check_report(&c->s);
    if (!code) code = read_lists(c);
    read_numbers(c);
    if (!code) code = name_journal(c);
    if (!code) code = read_all(c);
    if (code) return code;
    data = (const plx_dataset *const *)c->data;
    if (splits) {
        code = cli_fail(&c->s, plx_compare_splits(c->s.ctx, data, c->n_data, &c->o, splits));
        if (!code) cli_say(&c->s, "wrote    %s/splits.csv", splits);
        return code;
    }
    code = cli_fail(&c->s, plx_compare(&c->result, c->s.ctx, data, c->n_data, &c->o));
    if (!code) code = write_report(c);
    if (!code) code = write_results(c);
    return code ? code : say_end(c);
}

static int run(const cli_args *args)
{
    comparing c = {.o = PLX_COMPARE_OPTIONS_INIT};
    int code = check_contradictions(args);
    if (!code) code = cli_session_open(&c.s, args);
    if (code) return code;
    code = work(&c);
    plx_comparison_destroy(c.result);
    for (int i = 0; c.data && i < c.n_data; i++) plx_dataset_destroy(c.data[i]);
    for (int i = 0; c.directories && i < c.n_data; i++) free(c.directories[i]);
    free(c.data);
    free(c.names);
    free(c.directories);
    free(c.journal);
    cli_words_close(&c.methods);
    cli_words_close(&c.predictions);
    cli_words_close(&c.labels);
    cli_words_close(&c.metrics);
    cli_session_close(&c.s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA...", CLI_FILE, false, "Data sets: directories, manifests, or single files.", NULL}, CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "methods",
     .value = "LIST",
     .kind = CLI_TEXT,
     .repeatable = true,
     .help = "Methods, separated by commas, each with settings if you like: nb,rls:gamma_a=0.1:scale=unit "
             "(default: all that do the task)."},
    {.name = "method",
     .value = "SPEC",
     .kind = CLI_TEXT,
     .repeatable = true,
     .help = "One method, whose settings may hold commas. Repeatable."},
    {.name = "with",
     .value = "FILES",
     .kind = CLI_TEXT,
     .repeatable = true,
     .help = "Predictions of another program take part: FILE or NAME=FILE, a csv of run,id,label for the splits of "
             "--write-splits."},
    {.name = "task",
     .value = "TASK",
     .kind = CLI_CHOICE,
     .choices = "classify|cluster",
     .help = "classify (default), or cluster: no labels, as many clusters as classes."},
    {.name = "labels",
     .value = "LIST",
     .kind = CLI_TEXT,
     .repeatable = true,
     .help = "How many labels are seen, separated by commas: 10% of every class (default), 5 of every class, a=2,b=10, "
             "file:F, all, or given: those of the data set."},
    {.name = "repeats",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1000000,
     .help = "Splits per data set (default 10; with --folds 1). Split r has the seed + r."},
    {.name = "folds",
     .value = "K",
     .kind = CLI_WHOLE,
     .low = 2,
     .high = 1000000,
     .help = "Cross-validation: one fold after the other loses its labels and is scored; labels are then 'all' unless "
             "--labels says otherwise."},
    {.name = "inductive", .kind = CLI_FLAG, .help = "Scored samples take no part in the fit."},
    {.name = "test",
     .value = "SHARE",
     .kind = CLI_SHARE,
     .help = "Share of the samples that --inductive sets aside (default 30%)."},
    {.name = "metrics",
     .value = "LIST",
     .kind = CLI_TEXT,
     .repeatable = true,
     .help = "Metrics, separated by commas (default accuracy,macro_f1 or nmi,ari)."},
    {.name = "alpha",
     .value = "P",
     .kind = CLI_REAL,
     .low = 1e-9,
     .high = 0.999999999,
     .help = "Level of the tests against the best (default 0.05)."},
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
    {.name = "time-limit",
     .value = "SECONDS",
     .kind = CLI_REAL,
     .low = 0,
     .help = "Stop iterating a run after this time and keep its result."},
    {.name = "run-limit",
     .value = "SECONDS",
     .kind = CLI_REAL,
     .low = 0,
     .help = "Give a run up after this time; the table says so."},
    {.name = "journal",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Keep every finished run in this SQLite file (default: the file of --out with .journal behind it)."},
    {.name = "resume", .kind = CLI_FLAG, .help = "Go on from the journal: what it holds is not computed again."},
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write the results; .json, .csv, .md and .tex say how (- for standard output)."},
    {.name = "costs",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write seconds and memory, likewise. They differ from run to run; results do not."},
    {.name = "format",
     .value = "F",
     .kind = CLI_CHOICE,
     .choices = "text|json|csv|markdown|latex",
     .help = "How to write, whatever the names of the files say."},
    {.name = "write-splits",
     .value = "DIR",
     .kind = CLI_FILE,
     .help = "Only write DIR/splits.csv, for programs whose predictions --with reads."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {
    options, cli_report_options, cli_seed_options, cli_memory_options, cli_talk_options, cli_source_options, NULL};

static const cli_example examples[] = {
    {"parallax compare data/cora data/webkb --methods nb,coem,svm --out table.md",
     "Ten splits with a tenth of the labels."},
    {"parallax compare data/cora --methods rls,rls:gamma_a=0.1 --folds 5 --inductive", "Cross-validate two settings."},
    {"parallax compare data/cora --out all.json --jobs 2 --resume", "Go on after whatever ended it."},
    {"parallax compare --view rna=a.csv --view protein=b.csv --labels-from clinic.csv:diagnosis --folds 5",
     "Files joined by id, as in fit."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_compare = {
    .name = "compare",
    .summary = "Run several methods on the same splits and say who is best.",
    .description =
        "Runs every method on every data set, several times, on the same seeded splits: mean and deviation, the best "
        "and "
        "what is not significantly worse, average ranks over the data sets, time and memory. A run that fails or is "
        "refused becomes a line with its reason.\n"
        "Without --folds and --inductive a run is what 'parallax fit METHOD DATA --labels L --seed S' gives. Results "
        "do "
        "not depend on --jobs, nor on being killed and resumed.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
