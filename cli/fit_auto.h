/*
 * `fit auto`: several methods, chosen by the look of the data, instead of one.
 */
#ifndef PARALLAX_CLI_FIT_AUTO_H
#define PARALLAX_CLI_FIT_AUTO_H

#include "session.h"

/* Fits to a data set that is read and whose labels are hidden, and writes what is asked for. */
int cli_fit_auto(cli_session *s, const plx_dataset *data);
/* Options that need one method. CLI_DONE or CLI_USAGE after one line. */
int cli_check_auto(const cli_args *args);

#endif
