/*
 * parallax ner train: a tagger of names from tagged text.
 */
#include <string.h>

#include "ner_common.h"

static const char *const outputs[] = {"model", "dump-features", "json", NULL};

static int set_view(plx_params *params, cli_session *s)
{
    const char *view = cli_value(s->args, "view");
    if (view && strcmp(cli_value(s->args, "learner"), "memm") != 0)
        return cli_usage_error(s->args->verb, "--view goes with --learner memm");
    return view ? cli_fail(s, plx_params_set(params, s->ctx, "view", view)) : CLI_DONE;
}

static int train(plx_ner_model **out, cli_session *s)
{
    plx_ner_train_options o = PLX_NER_TRAIN_OPTIONS_INIT;
    plx_conll *text = NULL;
    plx_params *params = NULL;
    const char *learner = cli_value(s->args, "learner");
    o.scheme = cli_value(s->args, "scheme");
    o.unlabelled_text = cli_value(s->args, "unlabelled-text");
    o.dump_features = cli_value(s->args, "dump-features");
    int code = cli_ner_params(&params, s, learner);
    if (!code) code = set_view(params, s);
    if (!code) code = cli_fail(s, plx_ner_read(&text, s->ctx, cli_value(s->args, "train")));
    if (!code) code = cli_fail(s, plx_ner_train(out, s->ctx, learner, text, params, &o));
    plx_conll_destroy(text);
    plx_params_destroy(params);
    return code;
}

static int run(const cli_args *args)
{
    static const char *const needed[] = {"train", "learner", "model", NULL};
    return cli_ner_make(args, needed, outputs, train);
}

static void more_help(FILE *to) { cli_ner_list(to, "memm", "Parameters of --learner memm"); }

static const cli_option options[] = {
    {.name = "train",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Text to learn from: CoNLL columns, word first, tag last, parts of speech second when there are three or "
             "more. Needed."},
    {.name = "learner",
     .value = "L",
     .kind = CLI_CHOICE,
     .choices = "memm|svm",
     .help = "memm: conditional Markov model; svm: a linear support vector machine per type of name. Needed."},
    {.name = "view",
     .value = "V",
     .kind = CLI_CHOICE,
     .choices = "1|2|all",
     .help = "Features of a memm: 1 sub-strings, 2 words and shapes, all (default)."},
    {.name = "unlabelled-text",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "More text, its words first in a line: they are counted for the frequency features."},
    {.name = "model", .value = "OUT", .kind = CLI_FILE, .help = "Write the model there. Needed."},
    {.name = "dump-features",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write the features of every token, or instance, there."},
    {.name = "json",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write objective, number of features and run facts as JSON (- for standard output)."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options,         cli_ner_scheme_options, cli_ner_set_options,
                                                cli_run_options, cli_talk_options,       NULL};

static const cli_example examples[] = {
    {"parallax ner train --train train.conll --learner memm --model names.plx", "A tagger with all features."},
    {"parallax ner train --train train.conll --learner memm --view 1 --set gazetteer.city=cities.txt --model v1.plx",
     "Sub-strings and a list of cities only."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_ner_train = {
    .group = "ner",
    .name = "train",
    .summary = "Learn to find names from tagged text.",
    .description = "An empty line ends a sentence; a line -DOCSTART- starts a document.",
    .positionals = cli_ner_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
    .more_help = more_help,
};
