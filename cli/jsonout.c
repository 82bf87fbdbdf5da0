/*
 * A small JSON writer.
 */
#include "jsonout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_json_start(cli_json *j, FILE *to, bool pretty) { *j = (cli_json){.to = to, .pretty = pretty, .first = true}; }

/* Length of the UTF-8 character at p, 0 when it is none. */
static int utf8_length(const unsigned char *p)
{
    int more = *p >= 0xF0 && *p < 0xF5 ? 3 : *p >= 0xE0 && *p < 0xF0 ? 2 : *p >= 0xC2 && *p < 0xE0 ? 1 : 0;
    if (*p < 0x80) return 1;
    if (!more) return 0;
    for (int i = 1; i <= more; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F)) return 0;
    if ((*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F)) return 0;
    return more + 1;
}

static void put_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int length = utf8_length(p);
        if (*p == '"' || *p == '\\') fprintf(to, "\\%c", *p);
        else if (*p == '\n') fputs("\\n", to);
        else if (*p == '\t') fputs("\\t", to);
        else if (*p < 0x20) fprintf(to, "\\u%04x", *p);
        else if (length == 0) fputs("\\ufffd", to);
        else fwrite(p, 1, (size_t)length, to);
        p += length ? length : 1;
    }
    fputc('"', to);
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
    if (text) put_string(j->to, text);
    else fputs("null", j->to);
}

void cli_json_whole(cli_json *j, const char *key, long long value)
{
    begin_item(j, key);
    fprintf(j->to, "%lld", value);
}

void cli_json_real(cli_json *j, const char *key, double value)
{
    char text[40];
    begin_item(j, key);
    if (isnan(value)) {
        fputs("null", j->to);
        return;
    }
    if (isinf(value)) value = value > 0 ? 1e308 : -1e308;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, j->to);
}

void cli_json_bool(cli_json *j, const char *key, bool value)
{
    begin_item(j, key);
    fputs(value ? "true" : "false", j->to);
}
