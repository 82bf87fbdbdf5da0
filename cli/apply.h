/*
 * A model from a file applied to new data: what predict and transform share.
 */
#ifndef PARALLAX_CLI_APPLY_H
#define PARALLAX_CLI_APPLY_H

#include "session.h"

typedef struct cli_applied {
    plx_model *model;
    plx_dataset *data;
    plx_prediction *prediction;
} cli_applied;

typedef plx_status (*cli_apply_fn)(plx_prediction **out, plx_context *ctx, const plx_model *model,
                                   const plx_dataset *data);

/* Reads MODEL and DATA, the verb's two arguments, and applies one to the other: plx_predict or plx_transform.
 * cli_applied_free() in any case. */
int cli_apply(cli_applied *out, cli_session *s, cli_apply_fn apply);
void cli_applied_free(cli_applied *applied);

/* Does this process take part in writing the results? Of several rank 0, or all where each has those of its samples. */
bool cli_takes_part(const cli_applied *applied);

extern const cli_positional cli_apply_positionals[];

#endif
