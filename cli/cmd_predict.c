/*
 * parallax predict: label new samples with a model.
 */
#include "apply.h"
#include "output.h"
#include "summary.h"

static const char *const outputs[] = {"out", "json", NULL};

static int write_json(cli_session *s, const cli_applied *a, const plx_metrics *metrics, const char *path)
{
    cli_json_file out;
    cli_json *j = &out.j;
    int code = cli_json_file_open(&out, s);
    if (code) return code;
    cli_json_text(j, "method", plx_model_method(a->model));
    cli_json_text(j, "version", plx_version());
    cli_json_text(j, "data", plx_dataset_name(a->data));
    cli_json_whole(j, "samples", plx_dataset_samples(a->data));
    cli_json_warnings(j, s);
    if (plx_metrics_count(metrics)) cli_json_metrics(j, "metrics", metrics);
    return cli_json_file_write(&out, s, path);
}

/* Several processes measure together, and write together where each has the results of its own samples. */
static int write_results(cli_session *s, const cli_applied *a)
{
    const char *out = cli_value(s->args, "out"), *json = cli_value(s->args, "json");
    plx_metrics *metrics = NULL;
    int code = cli_fail(s, plx_prediction_metrics(&metrics, s->ctx, a->prediction, a->model, a->data));
    if (!code && (out || !json) && cli_takes_part(a))
        code = cli_fail(s, plx_prediction_write(s->ctx, a->prediction, a->data, out ? out : "-"));
    if (!code && json && cli_writes()) code = write_json(s, a, metrics, json);
    if (!code) {
        cli_say_data(s, a->data);
        cli_say_metrics(s, metrics);
        cli_say_warnings(s);
        cli_say_outputs(s, outputs);
    }
    plx_metrics_destroy(metrics);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    cli_applied applied = {0};
    int code = cli_session_open(&s, args);
    if (code) return code;
    s.own_rows = cli_peers != NULL;
    if (cli_writes()) code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_apply(&applied, &s, plx_predict);
    if (!code) code = write_results(&s, &applied);
    cli_applied_free(&applied);
    cli_session_close(&s);
    return code;
}

static const cli_option options[] = {{.name = "out",
                                      .letter = 'o',
                                      .value = "FILE",
                                      .kind = CLI_FILE,
                                      .help = "Write predictions there (default: standard output)."},
                                     {.name = "json",
                                      .value = "FILE",
                                      .kind = CLI_FILE,
                                      .help = "Write run facts and metrics as JSON (- for standard output)."},
                                     CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {
    options, cli_run_options, cli_device_options, cli_stream_options, cli_talk_options, cli_read_options, NULL};
static const cli_example examples[] = {{"parallax predict cora.plx new-papers --out labels.csv", "Label new samples."},
                                       CLI_END_EXAMPLES};

const cli_verb cli_verb_predict = {
    .name = "predict",
    .summary = "Label new samples with a fitted model.",
    .description = "Reads a model and labels the samples of DATA as id,label,score_CLASS,... Views that DATA lacks "
                   "count as missing. "
                   "When DATA has a truth, the quality is measured.",
    .positionals = cli_apply_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
