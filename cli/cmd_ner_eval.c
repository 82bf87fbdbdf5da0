/*
 * parallax ner eval: names found against names that are there.
 */
#include "metric_table.h"
#include "output.h"

static int print_metrics(cli_session *s, plx_metrics *metrics)
{
    const char *json = cli_value(s->args, "json"), *text = NULL;
    if (!json) return cli_print_metrics(metrics) ? CLI_DONE : cli_fail_text(s, "out of memory");
    int code = cli_fail(s, plx_metrics_json(&text, metrics));
    return code ? code : cli_write_text(s, json, text);
}

static int run(const cli_args *args)
{
    static const char *const outputs[] = {"json", NULL};
    cli_session s;
    plx_conll *text = NULL;
    plx_metrics *metrics = NULL;
    if (!cli_value(args, "in")) return cli_usage_error(args->verb, "--in FILE is missing");
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_fail(&s, plx_ner_read(&text, s.ctx, cli_value(args, "in")));
    if (!code) code = cli_fail(&s, plx_metrics_create(&metrics, s.ctx));
    if (!code) code = cli_fail(&s, plx_ner_eval(s.ctx, metrics, text, cli_value(args, "scheme")));
    if (!code) code = print_metrics(&s, metrics);
    plx_metrics_destroy(metrics);
    plx_conll_destroy(text);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "in",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "CoNLL columns; the last two are right and guessed tags. Needed."},
    {.name = "scheme",
     .value = "S",
     .kind = CLI_CHOICE,
     .choices = "any|raw",
     .help = "any (default): tags such as B-PER, I-PER, O in IOB1, IOB2 or a mixture; raw: bare types, every token a "
             "name of its own."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write JSON instead of a table (- for standard output)."},
    {.name = "quiet", .kind = CLI_FLAG, .help = "No warnings."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options, cli_memory_options, NULL};

static const cli_example examples[] = {
    {"parallax ner eval --in tagged.conll", "Precision, recall and F1 of names, by type."}, CLI_END_EXAMPLES};

const cli_verb cli_verb_ner_eval = {
    .group = "ner",
    .name = "eval",
    .summary = "Count names as conlleval does.",
    .description = "A name is right when its first word, its last word and its type are. All figures are fractions.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
