/*
 * Which methods fit a data set and a question, and why.
 */
#ifndef PARALLAX_CLI_METHOD_CHOICE_H
#define PARALLAX_CLI_METHOD_CHOICE_H

#include "cli.h"

/* Does the method do that: "classify", "cluster", "regression" or "embed"? */
bool cli_method_does(const plx_method_info *method, const char *task);
/* "classify, cluster" into a buffer that is returned. */
const char *cli_method_tasks(char *buffer, size_t size, const plx_method_info *method);

/* Lists all methods for `task` (NULL: any) and `data` (NULL: any) on standard output: those that fit, then those that do
 * not, each with the reason. */
void cli_print_choice(const plx_dataset *data, const char *task);

#endif
