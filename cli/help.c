/*
 * Help: the overview, a group, one verb.
 */
#include "help.h"

#include <string.h>

#include "options.h"

enum { WIDTH = 79, OPTION_COLUMN = 26, VERB_COLUMN = 18 };

/* Columns a text takes on a terminal: UTF-8 continuation bytes take none. */
static int columns(const char *text, size_t bytes)
{
    int count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

void cli_help_wrap(FILE *to, const char *text, int indent, int column)
{
    bool fresh = true;
    while (*text) {
        size_t blanks = strspn(text, " "), length = strcspn(text + blanks, " \n");
        int width = columns(text + blanks, length);
        if (!fresh && column + 1 + width > WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        if (length) {
            fprintf(to, "%s%.*s", fresh ? "" : " ", (int)length, text + blanks);
            column += width + !fresh;
            fresh = false;
        }
        text += blanks + length;
        if (*text != '\n') continue;
        fprintf(to, "\n%*s", indent, "");
        column = indent;
        fresh = true;
        text++;
    }
    fputc('\n', to);
}

const char *cli_option_head(char *buffer, size_t size, const cli_option *o)
{
    char letter[5] = "";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(buffer, size, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
    return buffer;
}

static void entry(FILE *to, const char *head, const char *text, int column)
{
    int used = 2 + columns(head, strlen(head));
    fprintf(to, "  %s", head);
    if (used + 2 > column) fprintf(to, "\n%*s", column, "");
    else fprintf(to, "%*s", column - used, "");
    cli_help_wrap(to, text, column, column);
}

void cli_help_usage(FILE *to, const cli_verb *verb)
{
    char title[64];
    fprintf(to, "parallax %s", cli_verb_title(title, sizeof title, verb));
    for (const cli_positional *p = verb->positionals; p && p->name; p++)
        fprintf(to, p->optional ? " [%s]" : " %s", p->name);
    if (cli_verb_option(verb, 0)) fputs(" [OPTIONS]", to);
    fputc('\n', to);
}

static void print_options(FILE *to, const cli_verb *verb)
{
    const cli_option *o = NULL;
    char head[80];
    if (!cli_verb_option(verb, 0)) return;
    fputs("\nOptions:\n", to);
    for (int i = 0; (o = cli_verb_option(verb, i)); i++) {
        entry(to, cli_option_head(head, sizeof head, o), o->help, OPTION_COLUMN);
        if (!o->by_view) continue;
        snprintf(head, sizeof head, "--%s.VIEW %s", o->name, o->value);
        entry(to, head, "The same for one view.", OPTION_COLUMN);
    }
}

void cli_help_verb(FILE *to, const cli_verb *verb)
{
    fputs("Usage: ", to);
    cli_help_usage(to, verb);
    fputc('\n', to);
    cli_help_wrap(to, verb->description, 0, 0);
    if (verb->positionals && verb->positionals[0].name) {
        fputs("\nArguments:\n", to);
        for (const cli_positional *p = verb->positionals; p->name; p++) entry(to, p->name, p->help, OPTION_COLUMN);
    }
    print_options(to, verb);
    if (verb->more_help) verb->more_help(to);
    if (!verb->examples) return;
    fputs(verb->examples[1].command ? "\nExamples:\n" : "\nExample:\n", to);
    for (const cli_example *e = verb->examples; e->command; e++) {
        fputs("  # ", to);
        cli_help_wrap(to, e->meaning, 2, 4);
        fprintf(to, "  %s\n", e->command);
    }
}

void cli_help_group(FILE *to, const char *group)
{
    fprintf(to, "Usage: parallax %s VERB ...\n\n%s\n\nVerbs:\n", group, cli_group_summary(group));
    for (int i = 0; cli_verb_at(i); i++) {
        const cli_verb *v = cli_verb_at(i);
        if (v->group && strcmp(v->group, group) == 0) entry(to, v->name, v->summary, VERB_COLUMN);
    }
    fprintf(to, "\n'parallax %s VERB --help' tells more about one of them.\n", group);
}

void cli_help_overview(FILE *to)
{
    char title[64];
    fputs("Parallax learns from data described by several views.\n\nUsage: parallax VERB ...\n\nVerbs:\n", to);
    for (int i = 0; cli_verb_at(i); i++)
        entry(to, cli_verb_title(title, sizeof title, cli_verb_at(i)), cli_verb_at(i)->summary, VERB_COLUMN);
    fputs("\nA first try:\n"
          "  parallax data generate text toy\n"
          "  parallax data info toy\n"
          "  parallax fit nb toy --out labels.csv\n"
          "\n'parallax VERB --help' explains a verb, 'parallax methods' lists the methods.\n"
          "Exit status: 0 done, 1 could not, 2 wrong usage, 130 interrupted.\n",
          to);
}
