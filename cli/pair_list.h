/*
 * Which (sample, view) pairs a simulation hides: drawn, or listed in a file.
 */
#ifndef PARALLAX_CLI_PAIR_LIST_H
#define PARALLAX_CLI_PAIR_LIST_H

#include "session.h"

typedef struct cli_pairs {
    plx_pair *pairs; /* the caller frees it */
    plx_index count;
} cli_pairs;

/* By --hide VIEW=SHARE and the context's seed, or by --hide-file; exactly one of the two must be given. */
int cli_pairs_choose(cli_pairs *out, cli_session *s, const plx_dataset *data);

#endif
