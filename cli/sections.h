/*
 * Explanations laid out to be read: a table per section.
 */
#ifndef PARALLAX_CLI_SECTIONS_H
#define PARALLAX_CLI_SECTIONS_H

#include "cli.h"

/* `widest`: characters of a cell, what is longer is cut; 0: nothing is. */
void cli_print_section(const plx_explanation *e, plx_index section, int widest);

#endif
