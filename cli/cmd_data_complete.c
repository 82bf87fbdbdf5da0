/*
 * parallax data complete: what is missing, filled in.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "dump.h"
#include "output.h"
#include "read_data.h"
#include "summary.h"

static const char *const outputs[] = {"filled", "json", NULL};
static const char *const methods[] = {"mean", "knn", "ridge", "cca", "mixture"};
enum { METHODS = 5 };

/* ---- the model ---- */

static int learn(plx_model **out, cli_session *s, const plx_dataset *data)
{
    plx_params *params = NULL;
    const char *with = cli_value(s->args, "with");
    int code = cli_fail(s, plx_complete_params_create(&params, s->ctx));
    if (!code) code = cli_set_params(params, s);
    if (!code && with) code = cli_fail(s, plx_params_set(params, s->ctx, "with", with));
    if (!code) code = cli_fail(s, plx_complete_fit(out, s->ctx, data, params));
    plx_params_destroy(params);
    return code;
}

/* A model that is there fills; one that is not there yet is learned and written. */
static int open_model(plx_model **out, bool *learned, cli_session *s, const plx_dataset *data)
{
    const char *path = cli_value(s->args, "model");
    *learned = !path || access(path, F_OK) != 0;
    if (!*learned && (cli_value(s->args, "with") || cli_value(s->args, "set")))
        return cli_usage_error(s->args->verb,
                               "--model %s is there already and fills as it was learned; leave out --with "
                               "and --set, or name a new file",
                               path);
    if (!*learned) return cli_fail(s, plx_model_load(out, s->ctx, path));
    int code = learn(out, s, data);
    return !code && path ? cli_fail(s, plx_model_save(s->ctx, *out, path)) : code;
}

/* ---- words ---- */

static void say_view(cli_session *s, const plx_completion *c, plx_index v, const double *error)
{
    plx_view_info info = PLX_VIEW_INFO_INIT;
    char list[160] = "";
    if (plx_dataset_view_info(&info, plx_completion_data(c), v) != PLX_OK) return;
    for (int k = 0; error && k < METHODS; k++)
        if (!isnan(error[k])) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s %.3f", used ? ", " : "; error on hidden rows: ", methods[k],
                     error[k]);
        }
    cli_say(s, "view     %s: %s filled%s", info.name, CLI_COUNT(plx_completion_filled(c, v), "entry", "entries"), list);
}

static void say_result(cli_session *s, const plx_model *model, const plx_completion *c, const char *out)
{
    plx_cmat error = {0};
    if (plx_model_array(&error, model, "error") != PLX_OK) error.data = NULL;
    cli_say_data(s, plx_completion_data(c));
    cli_say_warnings(s);
    for (plx_index v = 0; v < plx_dataset_views(plx_completion_data(c)); v++)
        say_view(s, c, v, error.data && v < error.rows ? error.data + v * error.ld : NULL);
    cli_say(s, "wrote    %s", out);
    cli_say_outputs(s, outputs);
}

/* ---- the verb ---- */

static int write_all(cli_session *s, plx_model *model, const plx_completion *c, const char *out)
{
    const char *filled = cli_value(s->args, "filled"), *json = cli_value(s->args, "json"), *text = NULL;
    int code = json ? cli_fail(s, plx_model_json(&text, s->ctx, model, NULL)) : CLI_DONE;
    if (!code) code = cli_fail(s, plx_dataset_write(s->ctx, plx_completion_data(c), out));
    if (!code && filled) code = cli_fail(s, plx_completion_write(s->ctx, c, filled));
    if (!code && json) code = cli_write_text(s, json, text);
    return code;
}

static int complete(cli_session *s, const plx_dataset *data)
{
    plx_model *model = NULL;
    plx_completion *c = NULL;
    const char *out = s->args->positional[1];
    bool learned = false;
    int code = open_model(&model, &learned, s, data);
    if (!code) code = cli_fail(s, plx_complete(&c, s->ctx, model, data, cli_flag(s->args, "round")));
    if (!code) code = write_all(s, model, c, out);
    if (!code) say_result(s, model, c, out);
    if (!code && learned && cli_value(s->args, "model")) cli_say(s, "wrote    %s", cli_value(s->args, "model"));
    plx_completion_destroy(c);
    plx_model_destroy(model);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_dataset *data = NULL;
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, args->positional[1]);
    if (!code) code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_read_data(&data, &s, args->positional[0]);
    if (!code) code = complete(&s, data);
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static void more_help(FILE *to)
{
    enum { HEAD = 26 };
    plx_param_info p = PLX_PARAM_INFO_INIT;
    fputs("\nParameters (--set):\n", to);
    for (plx_index i = 0; plx_complete_param(&p, i) == PLX_OK; i++) {
        int used = fprintf(to, "  %s%s%s", p.name, *p.def ? "=" : "", p.def);
        fprintf(to, used < HEAD ? "%*s" : "\n%*s", used < HEAD ? HEAD - used : HEAD, "");
        cli_help_wrap(to, p.help, HEAD, HEAD);
    }
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    {"OUT", CLI_FILE, false, "A new directory, or a new .h5mu file.", NULL},
    CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "with",
     .value = "HOW",
     .kind = CLI_CHOICE,
     .choices = "auto|mean|knn|ridge|cca|mixture",
     .help = "auto (default): per view what is best on hidden rows; column means; nearest samples; ridge or canonical "
             "regression on the other views; a Gaussian mixture."},
    {.name = "model",
     .letter = 'm',
     .value = "FILE",
     .kind = CLI_FILE,
     .help =
         "A file that is there: fill with the model in it, also new samples. One that is not: write the model there."},
    {.name = "round", .kind = CLI_FLAG, .help = "Filled counts and binary values become whole."},
    {.name = "filled",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write id,view,feature,value,deviation of every filled entry: mask and standard deviations."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write parameters, choices and errors on hidden rows as JSON (- for standard output)."},
    {.name = "set",
     .value = "KEY=VALUE",
     .kind = CLI_SETTING,
     .repeatable = true,
     .help = "Set a parameter. Repeatable."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options,          cli_seed_options, cli_run_options,
                                                cli_read_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax data complete clinic clinic-full", "Fill what is missing, by the best method per view."},
    {"parallax data complete clinic clinic-full --model fill.plx --filled filled.csv",
     "Keep the model and what was filled, with standard deviations."},
    {"parallax data complete patients patients-full --model fill.plx", "Fill new samples."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_complete = {
    .group = "data",
    .name = "complete",
    .summary = "Fill in missing views and entries.",
    .description =
        "Predicts missing views, and single missing entries, from what is there and writes the completed data "
        "set to OUT, which must not exist. Errors are measured on known rows that are hidden: root mean "
        "square error divided by that of the column means. Counts stay counts, whole with --round only.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
    .more_help = more_help,
};
