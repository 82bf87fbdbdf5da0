/*
 * Which (sample, view) pairs a simulation hides: drawn at a rate per view, or listed in a file.
 */
#ifndef PARALLAX_CLI_PAIR_LIST_H
#define PARALLAX_CLI_PAIR_LIST_H

#include "session.h"

typedef struct cli_pairs {
    plx_pair *pairs;
    plx_index count;
    double *rates; /* per view; NULL: as listed */
} cli_pairs;

/* By --hide VIEW=SHARE or by --hide-file; one of the two must be given unless labels are asked for. */
int cli_pairs_choose(cli_pairs *out, cli_session *s, const plx_dataset *data);
void cli_pairs_free(cli_pairs *pairs);

#endif
