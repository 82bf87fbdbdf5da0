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

static int write_model(cli_session *s, plx_ner_model *model, const char *const *outputs)
{
    const char *json = cli_value(s->args, "json"), *text = NULL;
    int code = cli_fail(s, plx_ner_model_save(s->ctx, model, cli_value(s->args, "model")));
    if (!code && json) code = cli_fail(s, plx_ner_model_json(&text, s->ctx, model));
    if (!code && json) code = cli_write_text(s, json, text);
    if (code) return code;
    cli_say_warnings(s);
    cli_say_outputs(s, outputs);
    return CLI_DONE;
}

int cli_ner_make(const cli_args *args, const char *const *needed, const char *const *outputs, cli_ner_make_fn make)
{
    cli_session s;
    plx_ner_model *model = NULL;
    int code = cli_ner_need(args, needed);
    if (code) return code;
    code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = make(&model, &s);
    if (!code) code = write_model(&s, model, outputs);
    plx_ner_model_destroy(model);
    cli_session_close(&s);
    return code;
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
