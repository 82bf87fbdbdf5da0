/*
 * Help texts in 80 columns, made from the verb tables.
 */
#ifndef PARALLAX_CLI_HELP_H
#define PARALLAX_CLI_HELP_H

#include "cli.h"

void cli_help_overview(FILE *to);
void cli_help_group(FILE *to, const char *group);
void cli_help_verb(FILE *to, const cli_verb *verb);

/* "parallax fit METHOD DATA [OPTIONS]" */
void cli_help_usage(FILE *to, const cli_verb *verb);
/* Text wrapped to 80 columns; every line but the first, which is already at `column`, starts at `indent`. */
void cli_help_wrap(FILE *to, const char *text, int indent, int column);
/* "--name VALUE" into a buffer that is returned. */
const char *cli_option_head(char *buffer, size_t size, const cli_option *option);

#endif
