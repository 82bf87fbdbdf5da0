/*
 * parallax transform: coordinates of new samples by a model.
 */
#include "apply.h"
#include "output.h"
#include "summary.h"

static const char *const outputs[] = {"out", NULL};

static int write_result(cli_session *s, const cli_applied *a)
{
    plx_cmat z = {0};
    const char *out = cli_value(s->args, "out");
    int code = cli_fail(s, plx_prediction_transform(&z, a->prediction));
    if (!code && cli_takes_part(a)) code = cli_fail(s, plx_prediction_array_write(s->ctx, a->prediction, NULL, out));
    if (code) return code;
    cli_say_data(s, a->data);
    cli_say(s, "result   %lld x %lld", (long long)plx_dataset_samples(a->data), (long long)z.cols);
    cli_say_warnings(s);
    cli_say_outputs(s, outputs);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    cli_session s;
    cli_applied applied = {0};
    if (!cli_value(args, "out")) return cli_usage_error(args->verb, "--out FILE is missing");
    int code = cli_session_open(&s, args);
    if (code) return code;
    s.own_rows = cli_peers && cli_goes_by_rows(cli_value(args, "out"));
    if (cli_writes()) code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_apply(&applied, &s, plx_transform);
    if (!code) code = write_result(&s, &applied);
    cli_applied_free(&applied);
    cli_session_close(&s);
    return code;
}

static const cli_option options[] = {{.name = "out",
                                      .letter = 'o',
                                      .value = "FILE",
                                      .kind = CLI_FILE,
                                      .help = "Where to write: .npy, .mtx, .tsv, or csv for any other name. Needed."},
                                     CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options,          cli_run_options,  cli_device_options,
                                                cli_talk_options, cli_read_options, NULL};
static const cli_example examples[] = {
    {"parallax transform cora.plx new-papers --out z.csv", "One row of coordinates per sample."}, CLI_END_EXAMPLES};

const cli_verb cli_verb_transform = {
    .name = "transform",
    .summary = "Give new samples the coordinates a model learned.",
    .description = "Reads a model and writes the array that 'parallax methods show METHOD' names for transform, one "
                   "row per sample of "
                   "DATA: embeddings, or class probabilities.",
    .positionals = cli_apply_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
