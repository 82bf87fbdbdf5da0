/*
 * parallax eval: metrics of files, or of predictions against the truth of a data set.
 */
#include <stdio.h>
#include <string.h>

#include "metric_table.h"
#include "output.h"
#include "read_data.h"
#include "summary.h"

/* ---- output ---- */

static int print_metrics(cli_session *s, plx_metrics *metrics)
{
    const char *json = cli_value(s->args, "json"), *text = NULL;
    int code = CLI_DONE;
    cli_say_warnings(s);
    if (!json) {
        if (!cli_print_metrics(metrics)) return cli_fail_text(s, "out of memory");
        return code;
    }
    code = cli_fail(s, plx_metrics_json(&text, metrics));
    if (code) return code;
    return cli_write_text(s, json, text);
}

/* ---- input ---- */

static plx_eval_options eval_options(const cli_args *args)
{
    plx_eval_options o = PLX_EVAL_OPTIONS_INIT;
    o.truth = cli_value(args, "truth");
    if (o.truth) o.truth_column = cli_value(args, "truth-column");
    o.pred = cli_value(args, "pred");
    o.scores = cli_value(args, "scores");
    o.positive = cli_value(args, "positive");
    o.multilabel = cli_flag(args, "multilabel");
    o.hierarchy = cli_value(args, "hierarchy");
    o.clusters = cli_flag(args, "clusters");
    o.noise = cli_value(args, "noise");
    o.internal = cli_flag(args, "internal");
    o.topn = cli_value(args, "topn");
    o.gold = cli_value(args, "gold");
    o.top = cli_value(args, "top");
    o.views = cli_value(args, "views");
    o.table = cli_value(args, "table");
    o.higher_better = (int)cli_whole(args, "higher-better", 1);
    o.metrics = cli_value(args, "metrics");
    return o;
}

/* Predictions from standard input: they are looked at more than once, so a file without a name keeps them. */
static int keep_stdin(FILE **kept, char *name, size_t room, cli_session *s, plx_eval_options *o)
{
    char block[1 << 16];
    size_t got = 0;
    if (!o->pred || strcmp(o->pred, "-") != 0) return CLI_DONE;
    *kept = tmpfile();
    if (!*kept) return cli_fail_text(s, "no room for a temporary file; give the predictions as a file");
    while ((got = fread(block, 1, sizeof block, stdin)) > 0)
        if (fwrite(block, 1, got, *kept) != got) break;
    if (ferror(stdin) || ferror(*kept) || fflush(*kept) != 0)
        return cli_fail_text(s, "standard input could not be read; give the predictions as a file");
    snprintf(name, room, "/dev/fd/%d", fileno(*kept));
    o->pred = name;
    return CLI_DONE;
}

/* `eval PRED DATA`: the truth comes from the data set. */
static int eval_dataset(plx_metrics **out, cli_session *s, plx_eval_options *o)
{
    plx_dataset *data = NULL;
    if (!s->args->positional[1] && !cli_value(s->args, "view"))
        return cli_usage_error(s->args->verb, "DATA is missing: the data set that has the truth, or --truth FILE");
    int code = cli_read_data(&data, s, s->args->positional[1]);
    if (!code) code = cli_fail(s, plx_eval_dataset(out, s->ctx, data, o, cli_flag(s->args, "unlabelled")));
    plx_dataset_destroy(data);
    return code;
}

static int eval_files(plx_metrics **out, cli_session *s, const plx_eval_options *o)
{
    if (cli_flag(s->args, "unlabelled")) return cli_usage_error(s->args->verb, "--unlabelled needs PRED and DATA");
    return cli_fail(s, plx_eval_files(out, s->ctx, o));
}

/* `eval PRED --truth FILE` needs no data set. */
static int measure(plx_metrics **out, cli_session *s, plx_eval_options *o)
{
    const char *pred = s->args->positional[0];
    char name[32];
    FILE *kept = NULL;
    if (pred && o->pred) return cli_usage_error(s->args->verb, "give predictions as PRED or with --pred, not both");
    if (pred) o->pred = pred;
    int code = keep_stdin(&kept, name, sizeof name, s, o);
    bool files_only = !pred || (o->truth && !s->args->positional[1] && !cli_value(s->args, "view"));
    if (!code) code = files_only ? eval_files(out, s, o) : eval_dataset(out, s, o);
    if (kept) fclose(kept);
    return code;
}

static int run(const cli_args *args)
{
    static const char *const outputs[] = {"json", NULL};
    cli_session s;
    plx_metrics *metrics = NULL;
    plx_eval_options o = eval_options(args);
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = measure(&metrics, &s, &o);
    if (!code) code = print_metrics(&s, metrics);
    plx_metrics_destroy(metrics);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"PRED", CLI_FILE, true, "A predictions.csv, or one label per line (- for standard input).", NULL},
    {"DATA", CLI_FILE, true, "The data set whose truth counts; rows are matched by id.", NULL},
    CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "truth",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "True labels: one per line, ? is skipped; or a table, joined by id with predictions that have ids."},
    {.name = "pred",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Predicted labels, one per line, or a predictions.csv."},
    {.name = "scores",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "CSV of scores: a header of class names, one row per sample."},
    {.name = "positive",
     .value = "CLASS",
     .kind = CLI_TEXT,
     .help = "Class whose auc, prbep and average_precision are wanted."},
    {.name = "multilabel", .kind = CLI_FLAG, .help = "Labels are sets separated by |."},
    {.name = "hierarchy",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "JSON with classes, subset and mutex pairs, for h_precision, h_recall, h_f1, h_violations."},
    {.name = "clusters", .kind = CLI_FLAG, .help = "Predictions are clusters."},
    {.name = "noise",
     .value = "HOW",
     .kind = CLI_CHOICE,
     .choices = "keep|drop",
     .help = "keep (default): 'noise' is a cluster; drop: its samples are left out."},
    {.name = "internal",
     .kind = CLI_FLAG,
     .help = "With DATA: also silhouette, davies_bouldin and calinski_harabasz of the clusters, in every view and over "
             "all; without a truth these are what is measured."},
    {.name = "topn", .value = "FILE", .kind = CLI_FILE, .help = "CSV of item scores, one row per query."},
    {.name = "gold", .value = "FILE", .kind = CLI_FILE, .help = "Right item of every query, counted from 0."},
    {.name = "top", .value = "LIST", .kind = CLI_TEXT, .help = "The N of top:N (default 1,5,10)."},
    {.name = "views",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "CSV of labels by view: a header of view names, one row per sample."},
    {.name = "table",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "CSV dataset,METHOD1,METHOD2,...: ranks and tests over data sets."},
    {.name = "higher-better",
     .value = "0|1",
     .kind = CLI_CHOICE,
     .choices = "0|1",
     .help = "For --table: 0 when small values are good."},
    {.name = "unlabelled", .kind = CLI_FLAG, .help = "With DATA: count only samples that DATA gives no label for."},
    {.name = "metrics", .value = "LIST", .kind = CLI_TEXT, .help = "Names to print, in this order (default: all)."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write JSON instead of a table (- for standard output)."},
    {.name = "threads",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 4096,
     .help = "Threads to use (default: one per core)."},
    {.name = "quiet", .kind = CLI_FLAG, .help = "No warnings."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options, cli_memory_options, cli_read_options, NULL};

static const cli_example examples[] = {
    {"parallax eval labels.csv data/cora", "Predictions against the truth of a data set."},
    {"parallax eval predictions.csv --truth truth.txt", "Accuracy, F1, AUC and more from two files."},
    {"parallax eval --truth truth.txt --pred clusters.csv --clusters --metrics nmi", "One figure about clusters."},
    {"parallax eval labels.csv data/cora --clusters --internal", "Clusters by the distances in every view too."},
    {"parallax eval --table results.csv --json -", "Ranks and significance tests of methods over data sets."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_eval = {
    .name = "eval",
    .summary = "Measure predictions, scores, clusters or rankings.",
    .description =
        "Computes every metric the given files allow. All results are fractions, not percent; values of one class are "
        "called f1:CLASS. A value that is not defined is listed as such, with a warning that says why.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
