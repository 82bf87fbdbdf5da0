/*
 * What a method does, for people: shared by methods and help.
 */
#ifndef PARALLAX_CLI_METHODS_H
#define PARALLAX_CLI_METHODS_H

#include "cli.h"

void cli_show_method(const plx_method_info *method);

#endif
