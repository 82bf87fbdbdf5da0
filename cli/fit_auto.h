/*
 * What `parallax fit auto` has to tell beside what any fit tells.
 */
#ifndef PARALLAX_CLI_FIT_AUTO_H
#define PARALLAX_CLI_FIT_AUTO_H

#include "session.h"

void cli_say_members(cli_session *s, const plx_model *model);

#endif
