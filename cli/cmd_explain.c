/*
 * parallax explain: why a model says what it says.
 */
#include "apply.h"
#include "output.h"
#include "read_data.h"
#include "report_file.h"
#include "sections.h"
#include "summary.h"

static const char *const outputs[] = {"json", "report", NULL};

enum { WIDEST = 28 }; /* characters of a cell */

static int write_results(cli_session *s, plx_explanation *e)
{
    const char *json = cli_value(s->args, "json"), *text = NULL;
    int code = CLI_DONE;
    if (json) {
        code = cli_fail(s, plx_explanation_json(&text, s->ctx, e));
        if (!code) code = cli_fail(s, plx_text_write(s->ctx, text, json));
    } else
        for (plx_index i = 0; i < plx_explanation_sections(e); i++) cli_print_section(e, i, WIDEST);
    if (!code) cli_say_warnings(s);
    return code;
}

static int fill_report(plx_report *report, cli_session *s, const plx_model *model, const plx_dataset *data,
                       const plx_explanation *e)
{
    plx_prediction *answers = NULL;
    plx_method_info method = PLX_METHOD_INFO_INIT;
    plx_status st = plx_report_add_explanation(report, s->ctx, e, plx_model_method(model), plx_dataset_name(data));
    /* maps are coloured by what is known where the method labels no samples but those of its fit */
    bool predicts =
        plx_method_describe(&method, plx_model_method(model)) != PLX_OK || (method.capabilities & PLX_CAN_PREDICT) != 0;
    if (st == PLX_OK && predicts) st = plx_predict(&answers, s->ctx, model, data);
    if (st == PLX_OK) st = plx_report_add_data(report, s->ctx, data, answers);
    plx_prediction_destroy(answers);
    return cli_fail(s, st);
}

static int write_report(cli_session *s, const plx_model *model, const plx_dataset *data, const plx_explanation *e)
{
    plx_report *report = NULL;
    int code = cli_report_open(&report, s, PLX_REPORT_EXPLAIN);
    if (report && !code) code = fill_report(report, s, model, data, e);
    return cli_report_close(report, s, code);
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_model *model = NULL;
    plx_dataset *data = NULL;
    plx_explanation *explanation = NULL;
    plx_explain_options o = PLX_EXPLAIN_OPTIONS_INIT;
    int code = cli_session_open(&s, args);
    if (code) return code;
    o.sample = cli_value(args, "sample");
    o.top = cli_whole(args, "top", o.top);
    o.repeats = cli_whole(args, "repeats", o.repeats);
    code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_check_report(&s);
    if (!code) code = cli_fail(&s, plx_model_load(&model, s.ctx, args->positional[0]));
    if (!code) code = cli_read_data_for(&data, &s, args->positional[1], model);
    if (!code) code = cli_fail(&s, plx_explain(&explanation, s.ctx, model, data, &o));
    if (!code) code = write_report(&s, model, data, explanation);
    if (!code) code = write_results(&s, explanation);
    if (!code) cli_say_outputs(&s, outputs);
    plx_explanation_destroy(explanation);
    plx_dataset_destroy(data);
    plx_model_destroy(model);
    cli_session_close(&s);
    return code;
}

static const cli_option options[] = {
    {.name = "sample",
     .value = "ID",
     .kind = CLI_TEXT,
     .help = "Explain this sample too (without ids: its row number)."},
    {.name = "top",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e9,
     .help = "Features per class and view (default 10)."},
    {.name = "repeats",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e4,
     .help = "Permutations of every view (default 5); more give smaller errors."},
    {.name = "json", .value = "FILE", .kind = CLI_FILE, .help = "Write everything as JSON (- for standard output)."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {
    options, cli_report_options, cli_seed_options, cli_run_options, cli_talk_options, cli_read_options, NULL};
static const cli_example examples[] = {
    {"parallax explain cora.plx data/cora", "Which views and features matter, and where is it wrong?"},
    {"parallax explain cora.plx data/cora --sample 31336 --json why.json", "Why this sample?"},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_explain = {
    .name = "explain",
    .summary = "Why a model says what it says: features, views, quality, single samples.",
    .description =
        "Asks a model about the samples of DATA, as they are and with one thing changed at a time, and tells "
        "which features and views matter, how good the answers are where labels or a truth are known, and "
        "what speaks for the answer of one sample. Nothing is refitted, but for methods that label only the samples "
        "they were fitted to.",
    .positionals = cli_apply_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
