/*
 * parallax man: the manual page in roff, made from the verb tables.
 */
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "options.h"

/* Text that roff prints as it is: a dot or quote never starts a line, dashes stay dashes. */
static void put_text(FILE *to, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", to);
        if (*text == '\\') fputs("\\e", to);
        else if (*text == '-') fputs("\\-", to);
        else fputc(*text, to);
        line_start = *text == '\n';
    }
}

static void put_paragraph(FILE *to, const char *text)
{
    put_text(to, text);
    fputc('\n', to);
}

static void put_usage(FILE *to, const cli_verb *verb)
{
    char title[64];
    fprintf(to, ".B parallax %s\n", cli_verb_title(title, sizeof title, verb));
    for (const cli_positional *p = verb->positionals; p && p->name; p++)
        fprintf(to, p->optional ? "[\\fI%s\\fR]\n" : "\\fI%s\\fR\n", p->name);
    if (cli_verb_option(verb, 0)) fputs("[\\fIOPTIONS\\fR]\n", to);
}

static void put_options(FILE *to, const cli_verb *verb)
{
    const cli_option *o = NULL;
    for (int i = 0; (o = cli_verb_option(verb, i)); i++) {
        fputs(".TP\n\\fB\\-\\-", to);
        put_text(to, o->name);
        fprintf(to, "\\fR%s", o->by_view ? "[.\\fIVIEW\\fR]" : "");
        if (o->value) {
            fputs(" \\fI", to);
            put_text(to, o->value);
            fputs("\\fR", to);
        }
        fputc('\n', to);
        put_paragraph(to, o->help);
    }
}

static void put_more(FILE *to, const cli_verb *verb)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = verb->more_help ? open_memstream(&text, &size) : NULL;
    if (!memory) return;
    verb->more_help(memory);
    fclose(memory);
    fputs(".PP\n.nf\n", to);
    put_text(to, text);
    fputs(".fi\n", to);
    free(text);
}

static void put_verb(FILE *to, const cli_verb *verb)
{
    char title[64];
    fprintf(to, ".SS %s\n", cli_verb_title(title, sizeof title, verb));
    put_usage(to, verb);
    fputs(".PP\n", to);
    put_paragraph(to, verb->description);
    for (const cli_positional *p = verb->positionals; p && p->name; p++) {
        fprintf(to, ".TP\n\\fI%s\\fR\n", p->name);
        put_paragraph(to, p->help);
    }
    put_options(to, verb);
    put_more(to, verb);
    for (const cli_example *e = verb->examples; e && e->command; e++) {
        fputs(".PP\n", to);
        put_paragraph(to, e->meaning);
        fputs(".RS\n.nf\n", to);
        put_paragraph(to, e->command);
        fputs(".fi\n.RE\n", to);
    }
}

static int run(const cli_args *args)
{
    (void)args;
    printf(".TH PARALLAX 1 \"\" \"parallax %s\" \"User Commands\"\n", PLX_VERSION_STRING);
    fputs(".SH NAME\nparallax \\- learn from data described by several views\n.SH SYNOPSIS\n", stdout);
    fputs(".B parallax\n\\fIVERB\\fR [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n", stdout);
    put_paragraph(
        stdout,
        "Parallax fits multi-view methods to data sets whose samples are described by several views (text and links, "
        "say), any of which may be missing, and labels, clusters or embeds the samples. Data go to files or standard "
        "output, words to standard error.");
    fputs(".SH VERBS\n", stdout);
    for (int i = 0; cli_verb_at(i); i++) put_verb(stdout, cli_verb_at(i));
    fputs(".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nIt could not be done: one line on standard error says "
          "why.\n.TP\n2\nWrong usage.\n"
          ".TP\n130\nInterrupted. No file was left half written.\n",
          stdout);
    return CLI_DONE;
}

static const cli_example examples[] = {{"parallax man | man -l -", "Read it without installing it."}, CLI_END_EXAMPLES};

const cli_verb cli_verb_man = {
    .name = "man",
    .summary = "Print the manual page.",
    .description = "Prints the manual page of the command in roff.",
    .examples = examples,
    .run = run,
};
