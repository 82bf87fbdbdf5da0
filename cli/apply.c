/*
 * Reading a model and new data, and predicting.
 */
#include "apply.h"

#include "read_data.h"

int cli_apply(cli_applied *out, cli_session *s, cli_apply_fn apply)
{
    *out = (cli_applied){0};
    int code = cli_fail(s, plx_model_load(&out->model, s->ctx, s->args->positional[0]));
    if (!code) code = cli_read_data_for(&out->data, s, s->args->positional[1], out->model);
    if (!code) code = cli_fail(s, apply(&out->prediction, s->ctx, out->model, out->data));
    return code;
}

void cli_applied_free(cli_applied *applied)
{
    plx_prediction_destroy(applied->prediction);
    plx_dataset_destroy(applied->data);
    plx_model_destroy(applied->model);
}

bool cli_takes_part(const cli_applied *applied) { return cli_writes() || plx_prediction_divided(applied->prediction); }

const cli_positional cli_apply_positionals[] = {
    {"MODEL", CLI_FILE, false, "A model written by 'parallax fit --model'.", NULL},
    {"DATA", CLI_FILE, true, "New samples. Views and features are matched by name.", NULL},
    CLI_END_POSITIONALS};
