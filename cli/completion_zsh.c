/*
 * The zsh script: one _arguments call per verb.
 */
#include <string.h>

#include "completion.h"

/* Inside single quotes of an _arguments specification or a _describe item. */
static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", to);
        else if (strchr("[]:\\", *text)) fprintf(to, "\\%c", *text);
        else fputc(*text, to);
    }
}

static void put_value(FILE *to, const cli_verb *verb, cli_kind kind, const char *choices)
{
    bool generate = verb == &cli_verb_data_generate;
    switch (kind) {
    case CLI_CHOICE:
        fputc('(', to);
        for (const char *c = choices; *c; c++) fputc(*c == '|' ? ' ' : *c, to);
        fputc(')', to);
        break;
    case CLI_SETTING: fprintf(to, "{_parallax_keys %s}", generate ? "settings" : "parameters"); break;
    case CLI_DUMP: fputs("{_parallax_keys arrays}", to); break;
    case CLI_METHOD:
        fputc('(', to);
        for (const char *c = choices ? choices : ""; *c; c++) fputc(*c == '|' ? ' ' : *c, to);
        if (choices) fputc(' ', to);
        cli_list_methods(to);
        fputc(')', to);
        break;
    case CLI_GENERATOR:
        fputc('(', to);
        cli_list_generators(to);
        fputc(')', to);
        break;
    case CLI_SOURCE:
    case CLI_FILE: fputs("_files", to); break;
    default: fputc(' ', to); break;
    }
}

static void put_verb(FILE *to, const cli_verb *verb)
{
    const cli_option *o = NULL;
    fprintf(to, "  (%s%s%s) _arguments", verb->group ? verb->group : "", verb->group ? "\\ " : "", verb->name);
    for (int i = 0; (o = cli_verb_option(verb, i)); i++) {
        bool repeated = o->repeatable;
        fprintf(to, " \\\n      '%s--%s[", repeated ? "*" : "", o->name);
        put_text(to, o->help);
        fputc(']', to);
        if (o->value) {
            fputc(':', to);
            put_text(to, o->value);
            fputc(':', to);
            put_value(to, verb, o->kind, o->choices);
        }
        fputc('\'', to);
    }
    fputs(" \\\n      '--help[Explain the verb.]'", to);
    for (int i = 0; verb->positionals && verb->positionals[i].name; i++) {
        const cli_positional *p = &verb->positionals[i];
        fprintf(to, " \\\n      '%d:%s:", i + 1, p->name);
        put_value(to, verb, p->kind, p->choices);
        fputc('\'', to);
    }
    fputs(" ;;\n", to);
}

static void put_verbs(FILE *to, const char *group)
{
    const char *last = "";
    for (int i = 0; cli_verb_at(i); i++) {
        const cli_verb *v = cli_verb_at(i);
        bool inside = group && v->group && strcmp(group, v->group) == 0;
        if (group ? !inside : v->group && strcmp(v->group, last) == 0) continue;
        bool as_group = !group && v->group;
        if (as_group) last = v->group;
        fprintf(to, " '%s:", as_group ? v->group : v->name);
        put_text(to, as_group ? cli_group_summary(v->group) : v->summary);
        fputc('\'', to);
    }
}

static const char zsh_keys[] = "_parallax_keys() {\n"
                               "  local -a keys\n"
                               "  keys=(${(z)$(_parallax_$1 $subject)})\n"
                               "  compadd -S = -- $keys\n"
                               "}\n";

void cli_completion_zsh(FILE *to)
{
    fputs("#compdef parallax\n# zsh completion for parallax; made by 'parallax completion zsh'\n", to);
    fputs("_parallax_parameters() {\n  case \"$1\" in\n", to);
    cli_cases_parameters(to);
    fputs("  esac\n}\n_parallax_arrays() {\n  case \"$1\" in\n", to);
    cli_cases_arrays(to);
    fputs("  esac\n}\n_parallax_settings() {\n  case \"$1\" in\n", to);
    cli_cases_settings(to);
    fprintf(to, "  esac\n}\n%s", zsh_keys);
    fputs("_parallax() {\n  local -a verbs\n  local verb=$words[2] subject\n"
          "  if (( CURRENT == 2 )); then\n    verbs=(",
          to);
    put_verbs(to, NULL);
    fputs(")\n    _describe verb verbs\n    return\n  fi\n"
          "  if [[ $verb == data ]]; then\n    if (( CURRENT == 3 )); then\n      verbs=(",
          to);
    put_verbs(to, "data");
    fputs(")\n      _describe verb verbs\n      return\n    fi\n"
          "    verb=\"data $words[3]\"\n    shift words\n    (( CURRENT-- ))\n  fi\n"
          "  shift words\n  (( CURRENT-- ))\n  subject=$words[2]\n  case $verb in\n",
          to);
    for (int i = 0; cli_verb_at(i); i++) put_verb(to, cli_verb_at(i));
    fputs(
        "  esac\n}\nif [[ $funcstack[1] == _parallax ]]; then _parallax \"$@\"; else compdef _parallax parallax; fi\n",
        to);
}
