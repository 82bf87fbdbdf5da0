/*
 * parallax data generate: synthetic data sets.
 */
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "output.h"
#include "summary.h"

static int generate(plx_dataset **out, cli_session *s, const char *kind)
{
    int count = cli_value_count(s->args, "set");
    const char **settings = calloc((size_t)count + 1, sizeof *settings);
    if (!settings) return cli_fail_text(s, "out of memory");
    for (int i = 0; i < count; i++) settings[i] = cli_value_at(s->args, "set", i);
    int code = cli_fail(s, plx_generate(out, s->ctx, kind, settings, count));
    free(settings);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_dataset *data = NULL;
    const char *out = args->positional[1];
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, out);
    if (!code) code = generate(&data, &s, args->positional[0]);
    if (!code) code = cli_put_data(&s, data, out);
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static void print_setting(FILE *to, const plx_generator_param *p)
{
    char head[128];
    int used = snprintf(head, sizeof head, "    %s=%s", p->name, p->fallback ? p->fallback : "");
    fputs(head, to);
    fprintf(to, "%*s", used < 26 ? 26 - used : 2, "");
    cli_help_wrap(to, p->help, 26, used < 26 ? 26 : used + 2);
}

static void list_kinds(FILE *to)
{
    fputs("\nKinds, with their settings and defaults:\n", to);
    for (plx_index g = 0; g < plx_generator_count(); g++) {
        plx_generator_param p = PLX_GENERATOR_PARAM_INIT;
        fprintf(to, "  %s\n    ", plx_generator_name(g));
        cli_help_wrap(to, plx_generator_summary(g), 4, 4);
        for (plx_index i = 0; plx_generator_param_info(&p, g, i) == PLX_OK; i++) print_setting(to, &p);
    }
}

static const cli_positional positionals[] = {{"KIND", CLI_GENERATOR, false, "One of the kinds below.", NULL},
                                             {"OUT", CLI_FILE, false, "A new directory, or a new .h5mu file.", NULL},
                                             CLI_END_POSITIONALS};
static const cli_option options[] = {{.name = "set",
                                      .repeatable = true,
                                      .value = "KEY=VALUE",
                                      .kind = CLI_SETTING,
                                      .help = "A setting of the kind. Repeatable."},
                                     CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_seed_options, cli_run_options, cli_talk_options, NULL};
static const cli_example examples[] = {{"parallax data generate two-gauss toy --set n=200 --seed 1",
                                        "Two classes of two hundred samples in the directory toy."},
                                       CLI_END_EXAMPLES};

const cli_verb cli_verb_data_generate = {
    .group = "data",
    .name = "generate",
    .summary = "Make a synthetic data set.",
    .description = "Writes a synthetic data set with truth and labels to OUT, which must not exist. The same seed and "
                   "settings give "
                   "the same bytes.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
    .more_help = list_kinds,
};
