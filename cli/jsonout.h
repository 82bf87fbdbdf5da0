/*
 * Writing JSON: commas, indentation and escapes are kept right; the caller opens and closes.
 */
#ifndef PARALLAX_CLI_JSONOUT_H
#define PARALLAX_CLI_JSONOUT_H

#include "cli.h"

typedef struct cli_json {
    FILE *to;
    bool pretty;
    int depth;
    bool first; /* nothing yet in the innermost object or list */
} cli_json;

void cli_json_start(cli_json *j, FILE *to, bool pretty);
/* Keys are NULL inside lists. `bracket` is '{' or '['; close with the matching one. */
void cli_json_open(cli_json *j, const char *key, char bracket);
void cli_json_close(cli_json *j, char bracket);
/* A NULL text is written as null. Bytes that are not UTF-8 are written as \\xNN. */
void cli_json_text(cli_json *j, const char *key, const char *text);
void cli_json_whole(cli_json *j, const char *key, long long value);
/* As plx_json_number(). */
void cli_json_real(cli_json *j, const char *key, double value);
void cli_json_bool(cli_json *j, const char *key, bool value);

#endif
