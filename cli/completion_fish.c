/*
 * The fish script: one `complete` line per verb, argument and option.
 */
#include <string.h>

#include "completion.h"

/* Inside single quotes. */
static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') fputc('\\', to);
        fputc(*text, to);
    }
}

static void put_choices(FILE *to, const char *choices)
{
    for (const char *c = choices; *c; c++) fputc(*c == '|' ? ' ' : *c, to);
}

/* What a value may be, behind `-x` (no files) or `-F` (files). */
static void put_value(FILE *to, cli_kind kind, const char *choices)
{
    bool files = kind == CLI_FILE || kind == CLI_SOURCE || kind == CLI_VIEW;
    fputs(files ? " -r -F" : " -x", to);
    if (kind != CLI_CHOICE && kind != CLI_METHOD && kind != CLI_GENERATOR) return;
    fputs(" -a '", to);
    if (choices) put_choices(to, choices);
    if (choices && kind != CLI_CHOICE) fputc(' ', to);
    if (kind == CLI_METHOD) cli_list_methods(to);
    if (kind == CLI_GENERATOR) cli_list_generators(to);
    fputc('\'', to);
}

/* When a verb is at work: "__fish_seen_subcommand_from fit". */
static void put_condition(FILE *to, const cli_verb *verb)
{
    fputs("complete -c parallax -n '", to);
    if (verb->group) fprintf(to, "__fish_seen_subcommand_from %s; and ", verb->group);
    fprintf(to, "__fish_seen_subcommand_from %s'", verb->name);
}

static void put_verb(FILE *to, const cli_verb *verb)
{
    const cli_option *o = NULL;
    for (const cli_positional *p = verb->positionals; p && p->name; p++) {
        if (p->kind != CLI_FILE && p->kind != CLI_METHOD && p->kind != CLI_CHOICE && p->kind != CLI_GENERATOR) continue;
        put_condition(to, verb);
        if (p->kind == CLI_FILE) fputs(" -F", to);
        else put_value(to, p->kind, p->choices);
        fputc('\n', to);
    }
    for (int i = 0; (o = cli_verb_option(verb, i)); i++) {
        put_condition(to, verb);
        fprintf(to, " -l %s", o->name);
        if (o->letter) fprintf(to, " -s %c", o->letter);
        if (o->value) put_value(to, o->kind, o->choices);
        fputs(" -d '", to);
        put_text(to, o->help);
        fputs("'\n", to);
    }
}

static void put_names(FILE *to)
{
    for (int i = 0; cli_verb_at(i); i++) {
        const cli_verb *v = cli_verb_at(i);
        if (v->group)
            fprintf(to, "complete -c parallax -n '__fish_seen_subcommand_from %s' -a %s -d '", v->group, v->name);
        else fprintf(to, "complete -c parallax -n __fish_use_subcommand -a %s -d '", v->name);
        put_text(to, v->summary);
        fputs("'\n", to);
    }
}

void cli_completion_fish(FILE *to)
{
    fputs("# fish completion for parallax; made by 'parallax completion fish'\ncomplete -c parallax -f\n", to);
    for (int g = 0; g < 2; g++) {
        static const char *const groups[] = {"data", "model"};
        fprintf(to, "complete -c parallax -n __fish_use_subcommand -a %s -d '", groups[g]);
        put_text(to, cli_group_summary(groups[g]));
        fputs("'\n", to);
    }
    put_names(to);
    for (int i = 0; cli_verb_at(i); i++) put_verb(to, cli_verb_at(i));
}
