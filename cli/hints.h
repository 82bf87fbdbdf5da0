/*
 * What the command adds to a failure of the library: the option or the verb that helps. The library itself states facts
 * and knows nothing of the command.
 */
#ifndef PARALLAX_CLI_HINTS_H
#define PARALLAX_CLI_HINTS_H

#include "cli.h"

/* The hint that goes with a failed call of `verb`, in a buffer of the caller, with what joins it to the message; "" when
 * there is none. */
const char *cli_hint(char *buffer, size_t size, const cli_verb *verb, plx_status status, const char *message);

#endif
