/*
 * parallax ner simulate: what selective sampling would have been worth.
 */
#include "ner_common.h"

static const char *const outputs[] = {"out", NULL};

static int read_texts(plx_conll *texts[3], cli_session *s)
{
    static const char *const names[] = {"train", "pool", "test"};
    int code = CLI_DONE;
    for (int k = 0; k < 3 && !code; k++)
        code = cli_fail(s, plx_ner_read(&texts[k], s->ctx, cli_value(s->args, names[k])));
    return code;
}

static int simulate(cli_session *s, const plx_params *params)
{
    plx_ner_simulate_options o = PLX_NER_SIMULATE_OPTIONS_INIT;
    plx_conll *texts[3] = {NULL, NULL, NULL};
    plx_ner_curve *curve = NULL;
    o.scheme = cli_value(s->args, "scheme");
    o.metric = cli_value(s->args, "metric");
    o.batch = (plx_index)cli_whole(s->args, "batch", o.batch);
    o.rounds = (plx_index)cli_whole(s->args, "rounds", o.rounds);
    int code = read_texts(texts, s);
    if (!code) code = cli_fail(s, plx_ner_simulate(&curve, s->ctx, texts[0], texts[1], texts[2], params, &o));
    if (!code) code = cli_fail(s, plx_ner_curve_write(s->ctx, curve, cli_value(s->args, "out")));
    plx_ner_curve_destroy(curve);
    for (int k = 0; k < 3; k++) plx_conll_destroy(texts[k]);
    return code;
}

static int run(const cli_args *args)
{
    static const char *const needed[] = {"train", "pool", "test", "metric", "out", NULL};
    cli_session s;
    plx_params *params = NULL;
    int code = cli_ner_need(args, needed);
    if (code) return code;
    code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = cli_ner_params(&params, &s, "simulate");
    if (!code) code = simulate(&s, params);
    if (!code) cli_say_warnings(&s);
    if (!code) cli_say_outputs(&s, outputs);
    plx_params_destroy(params);
    cli_session_close(&s);
    return code;
}

static void more_help(FILE *to) { cli_ner_list(to, "simulate", "Parameters (view cannot be set)"); }

static const cli_option options[] = {
    {.name = "train", .value = "FILE", .kind = CLI_FILE, .help = "Tagged text to start from. Needed."},
    {.name = "pool", .value = "FILE", .kind = CLI_FILE, .help = "Tagged text to choose sentences from. Needed."},
    {.name = "test", .value = "FILE", .kind = CLI_FILE, .help = "Tagged text to measure on. Needed."},
    {.name = "metric",
     .value = "M",
     .kind = CLI_CHOICE,
     .choices = "kl-max|kl-ave|f-complement|random",
     .help = "How sentences are chosen, as for 'ner select'. Needed."},
    {.name = "batch",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 1e9,
     .help = "Sentences annotated per round (default 50)."},
    {.name = "rounds", .value = "R", .kind = CLI_WHOLE, .low = 0, .high = 1e6, .help = "Rounds (default 20)."},
    {.name = "out", .letter = 'o', .value = "FILE", .kind = CLI_FILE, .help = "Write the curve there. Needed."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {
    options, cli_ner_scheme_options, cli_ner_set_options, cli_seed_options, cli_run_options, cli_talk_options, NULL};

static const cli_example examples[] = {
    {"parallax ner simulate --train seed.conll --pool pool.conll --test test.conll --metric kl-ave --batch 50 --rounds "
     "20 "
     "--out curve.csv",
     "F1 against sentences, words and names annotated; run it again with --metric random."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_ner_simulate = {
    .group = "ner",
    .name = "simulate",
    .summary = "See what choosing sentences would have saved.",
    .description = "Models of two feature views, trained on a small text, choose sentences of a pool whose tags are "
                   "known; the curve tells F1 on the test text after every round, and what was annotated for it.",
    .positionals = cli_ner_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
    .more_help = more_help,
};
