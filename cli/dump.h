/*
 * --set and --dump, shared by the verbs that run a method.
 */
#ifndef PARALLAX_CLI_DUMP_H
#define PARALLAX_CLI_DUMP_H

#include "session.h"

/* Every --set KEY=VALUE. */
int cli_set_params(plx_params *params, cli_session *s);

/* The array names of all --dump options. */
int cli_dump_names(char ***out, cli_session *s);
void cli_free_names(char **names, int count);

/* Write every --dump NAME=FILE, or only see that all can be written. */
int cli_dump_all(cli_session *s, const plx_model *model, const plx_dataset *data, bool write);

#endif
