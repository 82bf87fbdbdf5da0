/*
 * Completion scripts.
 */
#ifndef PARALLAX_CLI_COMPLETION_H
#define PARALLAX_CLI_COMPLETION_H

#include "cli.h"

void cli_completion_bash(FILE *to);
void cli_completion_zsh(FILE *to);
void cli_completion_fish(FILE *to);

/* Names separated by blanks, for both scripts. */
void cli_list_methods(FILE *to);
void cli_list_generators(FILE *to);
/* Lines `    NAME) echo "KEY KEY ..." ;;` of a case: parameters or arrays of every method, settings of generators. */
void cli_cases_parameters(FILE *to);
void cli_cases_arrays(FILE *to);
void cli_cases_settings(FILE *to);

#endif
