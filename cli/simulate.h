/*
 * acquire --simulate: learning curves of several strategies over several runs, in a file that survives interruption.
 */
#ifndef PARALLAX_CLI_SIMULATE_H
#define PARALLAX_CLI_SIMULATE_H

#include "session.h"

int cli_simulate(cli_session *s, const plx_dataset *data, const plx_params *params, plx_acquire_kind kind);

#endif
