/*
 * What the verbs of `parallax ner` share.
 */
#include "ner_common.h"

#include "dump.h"
#include "help.h"

int cli_ner_need(const cli_args *args, const char *const *options)
{
    for (; *options; options++)
        if (!cli_value(args, *options)) return cli_usage_error(args->verb, "--%s is missing", *options);
    return CLI_DONE;
}

int cli_ner_params(plx_params **out, cli_session *s, const char *what)
{
    int code = cli_fail(s, plx_ner_params_create(out, s->ctx, what));
    return code ? code : cli_set_params(*out, s);
}

void cli_ner_list(FILE *to, const char *what, const char *title)
{
    enum { HEAD = 26 };
    plx_param_info p = PLX_PARAM_INFO_INIT;
    fprintf(to, "\n%s:\n", title);
    for (plx_index i = 0; plx_ner_param(&p, what, i) == PLX_OK; i++) {
        int used = fprintf(to, "  %s%s%s%s", p.name, p.per_view ? ".NAME" : "", *p.def ? "=" : "", p.def);
        fprintf(to, used < HEAD ? "%*s" : "\n%*s", used < HEAD ? HEAD - used : HEAD, "");
        cli_help_wrap(to, p.help, HEAD, HEAD);
    }
}

const cli_option cli_ner_set_options[] = {{.name = "set",
                                           .value = "KEY=VALUE",
                                           .kind = CLI_SETTING,
                                           .repeatable = true,
                                           .help = "Set a parameter (listed below). Repeatable."},
                                          CLI_END_OPTIONS};

const cli_option cli_ner_scheme_options[] = {
    {.name = "scheme",
     .value = "S",
     .kind = CLI_CHOICE,
     .choices = "iob1|iob2|raw",
     .help = "How tags are written: iob2 (default; B-PER I-PER O), iob1 (B- only between names of one type), raw (PER "
             "PER O)."},
    CLI_END_OPTIONS};

const cli_positional cli_ner_positionals[] = {CLI_END_POSITIONALS};
