/*
 * Which samples have which views: the presence patterns of a data set, most frequent first.
 */
#ifndef PARALLAX_CLI_PATTERNS_H
#define PARALLAX_CLI_PATTERNS_H

#include "cli.h"

typedef struct cli_pattern {
    plx_index sample; /* a sample that has it */
    plx_index count;
} cli_pattern;

/* All patterns; *out is the caller's to free. False: no memory. */
bool cli_patterns(cli_pattern **out, plx_index *count, const plx_dataset *data);
/* "text+links", or "none". */
void cli_pattern_print(FILE *to, const plx_dataset *data, plx_index sample);

/* How often each class occurs. `truth`: in the truth, else in the labels; sets count for each of their classes. */
bool cli_class_counts(plx_index **out, const plx_dataset *data, bool truth);

#endif
