/*
 * Metrics for people, on standard output.
 */
#ifndef PARALLAX_CLI_METRIC_TABLE_H
#define PARALLAX_CLI_METRIC_TABLE_H

#include "cli.h"

/* Single values one per line; families like f1:CLASS that speak of the same things side by side, one line per thing.
 * False: no memory. */
bool cli_print_metrics(const plx_metrics *metrics);

#endif
