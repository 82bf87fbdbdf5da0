/*
 * parallax ner bootstrap: features from unlabelled text.
 */
#include "ner_common.h"

static const char *const outputs[] = {"model", "json", "dump-lexicon", "dump-contexts", NULL};

static int bootstrap(plx_ner_model **out, cli_session *s)
{
    plx_ner_bootstrap_options o = PLX_NER_BOOTSTRAP_OPTIONS_INIT;
    plx_conll *train = NULL, *dev = NULL;
    plx_params *params = NULL;
    o.scheme = cli_value(s->args, "scheme");
    o.dump_lexicon = cli_value(s->args, "dump-lexicon");
    o.dump_contexts = cli_value(s->args, "dump-contexts");
    int code = cli_ner_params(&params, s, "bootstrap");
    if (!code) code = cli_fail(s, plx_ner_read(&train, s->ctx, cli_value(s->args, "train")));
    if (!code) code = cli_fail(s, plx_ner_read(&dev, s->ctx, cli_value(s->args, "dev")));
    if (!code) code = cli_fail(s, plx_ner_bootstrap(out, s->ctx, train, dev, cli_value(s->args, "text"), params, &o));
    plx_conll_destroy(dev);
    plx_conll_destroy(train);
    plx_params_destroy(params);
    return code;
}

static int run(const cli_args *args)
{
    static const char *const needed[] = {"train", "dev", "text", "model", NULL};
    return cli_ner_make(args, needed, outputs, bootstrap);
}

static void more_help(FILE *to) { cli_ner_list(to, "bootstrap", "Parameters"); }

static const cli_option options[] = {
    {.name = "train", .value = "FILE", .kind = CLI_FILE, .help = "Tagged text to learn from. Needed."},
    {.name = "dev", .value = "FILE", .kind = CLI_FILE, .help = "Tagged text that decides when to stop. Needed."},
    {.name = "text",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Unlabelled text, words first in a line. It is read part by part. Needed."},
    {.name = "model", .value = "OUT", .kind = CLI_FILE, .help = "Write the best model there. Needed."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write phase, F1 on dev and support vectors of every training as JSON (- for standard output)."},
    {.name = "dump-lexicon",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write word, CAT@bin and ratio of the last training's corpus lexicon there."},
    {.name = "dump-contexts",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write pre or suc, words, CAT and ratio of its context lexicon there."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options,         cli_ner_scheme_options, cli_ner_set_options,
                                                cli_run_options, cli_talk_options,       NULL};

static const cli_example examples[] = {
    {"parallax ner bootstrap --train few.conll --dev dev.conll --text many.txt --model names.plx --json log.json",
     "A small tagged text and a large one without tags."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_ner_bootstrap = {
    .group = "ner",
    .name = "bootstrap",
    .summary = "Learn from tagged and unlabelled text.",
    .description =
        "Support vector machines tag the unlabelled text; how they judge its words, and what stands around the "
        "names they find, become features of the next training. Spans of words come first, then words.",
    .positionals = cli_ner_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
    .more_help = more_help,
};
