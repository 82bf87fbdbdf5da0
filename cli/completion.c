/*
 * The bash script. Values are completed by the kind the tables give them; parameter and array names depend on the
 * method, which is the word after `fit`.
 */
#include "completion.h"

#include <string.h>

/* ---- names ---- */

void cli_list_methods(FILE *to)
{
    for (plx_index i = 0; i < plx_method_count(); i++) fprintf(to, "%s%s", i ? " " : "", plx_method_name(i));
}

void cli_list_generators(FILE *to)
{
    for (plx_index i = 0; i < plx_generator_count(); i++) fprintf(to, "%s%s", i ? " " : "", plx_generator_name(i));
}

void cli_cases_parameters(FILE *to)
{
    plx_param_info p = PLX_PARAM_INFO_INIT;
    for (plx_index m = 0; m < plx_method_count(); m++) {
        fprintf(to, "    %s) echo \"", plx_method_name(m));
        for (plx_index i = 0; plx_method_param(&p, plx_method_name(m), i) == PLX_OK; i++)
            fprintf(to, "%s%s", i ? " " : "", p.name);
        fputs("\" ;;\n", to);
    }
    for (plx_index m = 0; m < plx_acquirer_count(); m++) {
        fprintf(to, m ? " " : "    labels|features|any) echo \"");
        for (plx_index i = 0; plx_acquirer_param(&p, plx_acquirer_name(m), i) == PLX_OK; i++)
            fprintf(to, "%s%s", i ? " " : "", p.name);
    }
    fputs("\" ;;\n", to);
}

void cli_cases_arrays(FILE *to)
{
    plx_array_info a = PLX_ARRAY_INFO_INIT;
    for (plx_index m = 0; m < plx_method_count(); m++) {
        fprintf(to, "    %s) echo \"", plx_method_name(m));
        for (plx_index i = 0; plx_method_array(&a, plx_method_name(m), i) == PLX_OK; i++)
            fprintf(to, "%s%s", i ? " " : "", a.name);
        fputs("\" ;;\n", to);
    }
    for (plx_index m = 0; m < plx_acquirer_count(); m++) {
        fprintf(to, m ? " " : "    labels|features|any) echo \"");
        for (plx_index i = 0; plx_acquirer_array(&a, plx_acquirer_name(m), i) == PLX_OK; i++)
            fprintf(to, "%s%s", i ? " " : "", a.name);
    }
    fputs("\" ;;\n", to);
}

void cli_cases_settings(FILE *to)
{
    plx_generator_param p = PLX_GENERATOR_PARAM_INIT;
    for (plx_index g = 0; g < plx_generator_count(); g++) {
        fprintf(to, "    %s) echo \"", plx_generator_name(g));
        for (plx_index i = 0; plx_generator_param_info(&p, g, i) == PLX_OK; i++)
            fprintf(to, "%s%s", i ? " " : "", p.name);
        fputs("\" ;;\n", to);
    }
}

static void list_verbs(FILE *to, const char *group)
{
    const char *last = "";
    for (int i = 0; cli_verb_at(i); i++) {
        const cli_verb *v = cli_verb_at(i);
        bool inside = group && v->group && strcmp(group, v->group) == 0;
        if (group ? !inside : v->group && strcmp(v->group, last) == 0) continue;
        if (!group && v->group) last = v->group;
        fprintf(to, "%s ", !group && v->group ? v->group : v->name);
    }
}

static void list_choices(FILE *to, const char *choices)
{
    for (; *choices; choices++) fputc(*choices == '|' ? ' ' : *choices, to);
}

/* ---- bash ---- */

/* What completes a value of this kind; `choices` where it has them. */
static void bash_value(FILE *to, const cli_verb *verb, cli_kind kind, const char *choices)
{
    bool generate = verb == &cli_verb_data_generate;
    switch (kind) {
    case CLI_CHOICE:
        fputs("_parallax_words \"", to);
        list_choices(to, choices);
        fputs("\"", to);
        break;
    case CLI_SETTING:
        fprintf(to, "_parallax_keys \"$(_parallax_%s \"$subject\")\"", generate ? "settings" : "parameters");
        break;
    case CLI_DUMP: fputs("_parallax_keys \"$(_parallax_arrays \"$subject\")\"", to); break;
    case CLI_METHOD:
        fputs("_parallax_words \"", to);
        if (choices) list_choices(to, choices);
        fprintf(to, "%s$_parallax_methods\"", choices ? " " : "");
        break;
    case CLI_GENERATOR: fputs("_parallax_words \"$_parallax_kinds\"", to); break;
    case CLI_VERB:
        fputs("_parallax_words \"", to);
        list_verbs(to, NULL);
        fputs("\"", to);
        break;
    case CLI_SOURCE:
    case CLI_FILE: fputs("_parallax_files", to); break;
    default: fputs(":", to); break;
    }
}

static void bash_verb(FILE *to, const cli_verb *verb)
{
    const cli_option *o = NULL;
    char title[64];
    fprintf(to, "    \"%s\")\n        case \"$prev\" in\n", cli_verb_title(title, sizeof title, verb));
    for (int i = 0; (o = cli_verb_option(verb, i)); i++) {
        if (o->kind == CLI_FLAG) continue;
        fprintf(to, "        --%s) ", o->name);
        bash_value(to, verb, o->kind, o->choices);
        fputs("; return ;;\n", to);
    }
    fputs("        esac\n        if [[ $cur == -* ]]; then _parallax_words \"", to);
    for (int i = 0; (o = cli_verb_option(verb, i)); i++) fprintf(to, "--%s ", o->name);
    fputs("--help\"; return; fi\n        case $((COMP_CWORD - first)) in\n", to);
    for (int i = 0; verb->positionals && verb->positionals[i].name; i++) {
        fprintf(to, "        %d) ", i);
        bash_value(to, verb, verb->positionals[i].kind, verb->positionals[i].choices);
        fputs(" ;;\n", to);
    }
    fputs("        *) _parallax_files ;;\n        esac ;;\n", to);
}

static const char bash_helpers[] =
    "_parallax_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
    "_parallax_files() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); }\n"
    "_parallax_keys() { compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -S = -W \"$1\" -- \"$cur\")); }\n";

static void bash_main_start(FILE *to)
{
    fputs("_parallax()\n{\n"
          "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
          "    local verb=\"${COMP_WORDS[1]}\" first=2\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then _parallax_words \"",
          to);
    list_verbs(to, NULL);
    fputs("--help --version\"; return; fi\n"
          "    if [[ $verb == data ]]; then\n"
          "        if ((COMP_CWORD == 2)); then _parallax_words \"",
          to);
    list_verbs(to, "data");
    fputs("\"; return; fi\n"
          "        verb=\"data ${COMP_WORDS[2]}\" first=3\n"
          "    fi\n"
          "    local subject=\"${COMP_WORDS[first]}\"\n"
          "    case \"$verb\" in\n",
          to);
}

void cli_completion_bash(FILE *to)
{
    fputs("# bash completion for parallax; made by 'parallax completion bash'\n_parallax_methods=\"", to);
    cli_list_methods(to);
    fputs("\"\n_parallax_kinds=\"", to);
    cli_list_generators(to);
    fprintf(to, "\"\n%s", bash_helpers);
    fputs("_parallax_parameters()\n{\n    case \"$1\" in\n", to);
    cli_cases_parameters(to);
    fputs("    esac\n}\n_parallax_arrays()\n{\n    case \"$1\" in\n", to);
    cli_cases_arrays(to);
    fputs("    esac\n}\n_parallax_settings()\n{\n    case \"$1\" in\n", to);
    cli_cases_settings(to);
    fputs("    esac\n}\n", to);
    bash_main_start(to);
    for (int i = 0; cli_verb_at(i); i++) bash_verb(to, cli_verb_at(i));
    fputs("    esac\n}\ncomplete -F _parallax parallax\n", to);
}
