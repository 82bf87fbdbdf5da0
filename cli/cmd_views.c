/*
 * parallax views: what each view is worth, and what follows for the choice of a method.
 */
#include <string.h>

#include "hide_labels.h"
#include "output.h"
#include "read_data.h"
#include "report_file.h"
#include "sections.h"

static const char *const outputs[] = {"json", "report", NULL};

/* Advice is sentences, not columns. */
static void print_advice(const plx_explanation *e, plx_index s)
{
    printf("%s\n", plx_explanation_title(e, s));
    for (plx_index r = 0; r < plx_explanation_rows(e, s); r++)
        printf("  * %s\n    (%s)\n", plx_explanation_text(e, s, r, 0), plx_explanation_text(e, s, r, 1));
}

static void print_report(const plx_explanation *e)
{
    for (plx_index i = 0; i < plx_explanation_sections(e); i++) {
        const char *key = plx_explanation_key(e, i);
        if (strcmp(key, "advice") == 0) print_advice(e, i);
        else if (strcmp(key, "spectrum") != 0) cli_print_section(e, i, 28); /* the numbers are in the JSON */
    }
}

static int hide(plx_dataset **data, cli_session *s)
{
    const char *spec = cli_value(s->args, "labels");
    plx_dataset *hidden = NULL;
    int code = spec ? cli_hide_labels(&hidden, s, *data, spec) : CLI_DONE;
    if (!hidden) return code;
    plx_dataset_destroy(*data);
    *data = hidden;
    return code;
}

static int write_page(cli_session *s, const plx_explanation *e, const plx_dataset *data)
{
    plx_report *report = NULL;
    int code = cli_report_open(&report, s, PLX_REPORT_VIEWS);
    if (report && !code)
        code = cli_fail(s, plx_report_add_explanation(report, s->ctx, e, NULL, plx_dataset_name(data)));
    if (report && !code) code = cli_fail(s, plx_report_add_data(report, s->ctx, data, NULL));
    return cli_report_close(report, s, code);
}

static int write_report(cli_session *s, plx_explanation *e)
{
    const char *json = cli_value(s->args, "json"), *text = NULL;
    int code = json ? cli_fail(s, plx_explanation_json(&text, s->ctx, e)) : CLI_DONE;
    if (!code && json) code = cli_write_text(s, json, text);
    if (code) return code;
    if (!json || strcmp(json, "-") != 0) print_report(e);
    cli_say_warnings(s);
    cli_say_outputs(s, outputs);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_dataset *data = NULL;
    plx_explanation *report = NULL;
    plx_views_options o = PLX_VIEWS_OPTIONS_INIT;
    int code = cli_session_open(&s, args);
    if (code) return code;
    o.folds = cli_whole(args, "folds", o.folds);
    o.directions = cli_whole(args, "directions", o.directions);
    code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_check_report(&s);
    if (!code) code = cli_read_data(&data, &s, args->positional[0]);
    if (!code) code = hide(&data, &s);
    if (!code) code = cli_fail(&s, plx_views(&report, s.ctx, data, &o));
    if (!code) code = write_page(&s, report, data);
    if (!code) code = write_report(&s, report);
    plx_explanation_destroy(report);
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL}, CLI_END_POSITIONALS};

static const cli_option options[] = {
    {.name = "labels",
     .value = "SPEC",
     .kind = CLI_TEXT,
     .help = "Look only at the classes of some samples, as for fit: 10%, 5, a=2,b=10, file:F."},
    {.name = "folds",
     .value = "K",
     .kind = CLI_WHOLE,
     .low = 2,
     .high = 1000000,
     .help = "Folds behind the accuracies (default 5)."},
    {.name = "directions",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1000,
     .help = "Strongest directions of each view whose correlations are found (default 10)."},
    {.name = "json", .value = "FILE", .kind = CLI_FILE, .help = "Write everything as JSON (- for standard output)."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {
    options, cli_report_options, cli_seed_options, cli_run_options, cli_talk_options, cli_read_options, NULL};
static const cli_example examples[] = {
    {"parallax views data/cora --labels 10%", "What is each view worth, as far as a tenth of the labels tells?"},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_views = {
    .name = "views",
    .summary = "What each view is worth, what views share, and which methods follow.",
    .description =
        "How good a linear classifier on each view alone is, by cross-validation on the samples whose class is known; "
        "how "
        "far views agree, whether they err together given the class, whether they hold the same; which samples lack "
        "which; and what follows for the choice of a method, with the evidence.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
