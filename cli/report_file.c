/*
 * The command is put together from the words it was started with, quoted for a shell where needed.
 */
#include "report_file.h"

#include <stdlib.h>
#include <string.h>

const cli_option cli_report_options[] = {
    {.name = "report",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write a page with plots and tables, for a browser: one HTML file that needs no network."},
    CLI_END_OPTIONS};

int cli_check_report(cli_session *s)
{
    if (!cli_value(s->args, "report") || plx_report_available()) return CLI_DONE;
    plx_report *empty = NULL; /* to be refused before the work, in the library's words */
    int code = cli_fail(s, plx_report_create(&empty, s->ctx, PLX_REPORT_FIT, NULL));
    if (!code) code = cli_fail(s, plx_report_write(s->ctx, empty, cli_value(s->args, "report")));
    plx_report_destroy(empty);
    return code;
}

static void write_word(FILE *to, const char *word)
{
    bool plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/%@") ==
                              strlen(word);
    fputc(' ', to);
    if (plain) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++)
        if (*word == '\'') fputs("'\\''", to);
        else fputc(*word, to);
    fputc('\'', to);
}

/* The caller frees it; NULL without memory. */
static char *command_text(const cli_args *args)
{
    char *text = NULL, title[64];
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    fprintf(to, "parallax %s", cli_verb_title(title, sizeof title, args->verb));
    for (int i = 0; i < args->argc; i++) write_word(to, args->argv[i]);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

int cli_report_open(plx_report **out, cli_session *s, plx_report_kind kind)
{
    *out = NULL;
    if (!cli_value(s->args, "report")) return CLI_DONE;
    char *command = command_text(s->args);
    if (!command) return cli_fail_text(s, "out of memory");
    int code = cli_fail(s, plx_report_create(out, s->ctx, kind, command));
    free(command);
    return code;
}

int cli_report_close(plx_report *report, cli_session *s, int code)
{
    if (!report) return code;
    for (int i = 0; !code && i < s->n_warnings; i++)
        code = cli_fail(s, plx_report_add_warning(report, s->ctx, s->warnings[i]));
    if (!code) code = cli_fail(s, plx_report_write(s->ctx, report, cli_value(s->args, "report")));
    plx_report_destroy(report);
    return code;
}
