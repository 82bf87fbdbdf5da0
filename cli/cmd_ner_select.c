/*
 * parallax ner select: which sentences to annotate next.
 */
#include <stdlib.h>

#include "ner_common.h"

static const char *const outputs[] = {"out", NULL};

static int from_models(plx_ner_choice **out, cli_session *s, const plx_params *params)
{
    int count = cli_value_count(s->args, "model"), code = CLI_DONE;
    plx_ner_model **models = calloc((size_t)count, sizeof *models);
    plx_conll *pool = NULL;
    if (!models) return cli_fail_text(s, "out of memory");
    for (int k = 0; k < count && !code; k++)
        code = cli_fail(s, plx_ner_model_load(&models[k], s->ctx, cli_value_at(s->args, "model", k)));
    if (!code) code = cli_fail(s, plx_ner_read(&pool, s->ctx, cli_value(s->args, "pool")));
    if (!code)
        code = cli_fail(s, plx_ner_select(out, s->ctx, (const plx_ner_model *const *)models, count, pool,
                                          cli_value(s->args, "metric"), params, cli_flag(s->args, "unlabelled")));
    plx_conll_destroy(pool);
    for (int k = 0; k < count; k++) plx_ner_model_destroy(models[k]);
    free(models);
    return code;
}

static int from_probs(plx_ner_choice **out, cli_session *s, const plx_params *params)
{
    int count = cli_value_count(s->args, "probs");
    const char **paths = calloc((size_t)count, sizeof *paths);
    if (!paths) return cli_fail_text(s, "out of memory");
    for (int k = 0; k < count; k++) paths[k] = cli_value_at(s->args, "probs", k);
    int code = cli_fail(s, plx_ner_select_probs(out, s->ctx, paths, count, cli_value(s->args, "metric"), params));
    free(paths);
    return code;
}

static int check_inputs(const cli_args *args)
{
    static const char *const needed[] = {"metric", "out", NULL};
    bool models = cli_value(args, "model"), probs = cli_value(args, "probs");
    int code = cli_ner_need(args, needed);
    if (code) return code;
    if (models == probs) return cli_usage_error(args->verb, "give either --model, twice or more, or --probs");
    if (models && !cli_value(args, "pool")) return cli_usage_error(args->verb, "--model needs --pool FILE");
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    cli_session s;
    plx_ner_choice *choice = NULL;
    plx_params *params = NULL;
    int code = check_inputs(args);
    if (code) return code;
    code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_ner_params(&params, &s, "select");
    if (!code) code = (cli_value(args, "model") ? from_models : from_probs)(&choice, &s, params);
    if (!code)
        code = cli_fail(
            &s, plx_ner_choice_write(s.ctx, choice, (plx_index)cli_whole(args, "batch", 0), cli_value(args, "out")));
    if (!code) cli_say_warnings(&s);
    if (!code) cli_say_outputs(&s, outputs);
    plx_ner_choice_destroy(choice);
    plx_params_destroy(params);
    cli_session_close(&s);
    return code;
}

static void more_help(FILE *to) { cli_ner_list(to, "select", "Parameters"); }

static const cli_option options[] = {
    {.name = "model",
     .value = "M",
     .kind = CLI_FILE,
     .repeatable = true,
     .help = "A model of 'ner train --learner memm'; two or more, e.g. one of each view."},
    {.name = "pool",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "The sentences to choose from; tags are not looked at."},
    {.name = "unlabelled", .kind = CLI_FLAG, .help = "The pool has no column of tags."},
    {.name = "probs",
     .value = "FILE",
     .kind = CLI_FILE,
     .repeatable = true,
     .help = "In place of models: probabilities that 'ner tag --probs' wrote; two or more files."},
    {.name = "metric",
     .value = "M",
     .kind = CLI_CHOICE,
     .choices = "kl-max|kl-ave|f-complement|random",
     .help = "Disagreement: largest or mean divergence of tag distributions over the words of a sentence, or 1 - F1 of "
             "the names of one model against another's. Needed."},
    {.name = "batch", .value = "N", .kind = CLI_WHOLE, .low = 0, .high = 1e15, .help = "Mark the first N as selected."},
    {.name = "out", .letter = 'o', .value = "FILE", .kind = CLI_FILE, .help = "Write scores and ranks there. Needed."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options,         cli_ner_set_options, cli_seed_options,
                                                cli_run_options, cli_talk_options,    NULL};

static const cli_example examples[] = {
    {"parallax ner select --model v1.plx --model v2.plx --pool pool.conll --metric kl-ave --batch 50 --out next.csv",
     "Fifty sentences to annotate next."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_ner_select = {
    .group = "ner",
    .name = "select",
    .summary = "Choose sentences to annotate next.",
    .description = "Ranks the sentences of a pool by how much models disagree about them.",
    .positionals = cli_ner_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
    .more_help = more_help,
};
