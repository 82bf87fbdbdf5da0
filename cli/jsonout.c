/*
 * A small JSON writer.
 */
#include "jsonout.h"

#include <stdlib.h>

void cli_json_start(cli_json *j, FILE *to, bool pretty) { *j = (cli_json){.to = to, .pretty = pretty, .first = true}; }

/* Numbers and texts are the library's, so that every verb writes them alike. */
static void put_string(FILE *to, const char *text)
{
    char few[256], *buffer = few;
    plx_index length = plx_json_string(few, sizeof few, text);
    if (length >= (plx_index)sizeof few && (buffer = malloc((size_t)length + 1)) != NULL)
        plx_json_string(buffer, length + 1, text);
    fputs(buffer ? buffer : "null", to);
    if (buffer != few) free(buffer);
}

static void begin_item(cli_json *j, const char *key)
{
    if (!j->first) fputs(j->pretty ? "," : ", ", j->to);
    if (j->pretty && j->depth) fprintf(j->to, "\n%*s", 2 * j->depth, "");
    j->first = false;
    if (!key) return;
    put_string(j->to, key);
    fputs(": ", j->to);
}

void cli_json_open(cli_json *j, const char *key, char bracket)
{
    begin_item(j, key);
    fputc(bracket, j->to);
    j->depth++;
    j->first = true;
}

void cli_json_close(cli_json *j, char bracket)
{
    j->depth--;
    if (j->pretty && !j->first) fprintf(j->to, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->to);
    j->first = false;
}

void cli_json_text(cli_json *j, const char *key, const char *text)
{
    begin_item(j, key);
    put_string(j->to, text);
}

void cli_json_whole(cli_json *j, const char *key, long long value)
{
    begin_item(j, key);
    fprintf(j->to, "%lld", value);
}

void cli_json_real(cli_json *j, const char *key, double value)
{
    char text[64];
    begin_item(j, key);
    plx_json_number(text, sizeof text, value);
    fputs(text, j->to);
}

void cli_json_bool(cli_json *j, const char *key, bool value)
{
    begin_item(j, key);
    fputs(value ? "true" : "false", j->to);
}
