/*
 * parallax ner tag: names in new text.
 */
#include "ner_common.h"

static const char *const outputs[] = {"out", "probs", "scores", NULL};

static int tag(cli_session *s)
{
    plx_ner_tag_options o = PLX_NER_TAG_OPTIONS_INIT;
    plx_ner_model *model = NULL;
    const char *in = cli_value(s->args, "in"), *out = cli_value(s->args, "out");
    o.scheme = cli_value(s->args, "scheme");
    o.unlabelled = cli_flag(s->args, "unlabelled");
    o.probs = cli_value(s->args, "probs");
    o.scores = cli_value(s->args, "scores");
    int code = cli_fail(s, plx_ner_model_load(&model, s->ctx, cli_value(s->args, "model")));
    if (!code) code = cli_fail(s, plx_ner_tag_file(s->ctx, model, in ? in : "-", out ? out : "-", &o));
    plx_ner_model_destroy(model);
    return code;
}

static int run(const cli_args *args)
{
    static const char *const needed[] = {"model", NULL};
    cli_session s;
    int code = cli_ner_need(args, needed);
    if (code) return code;
    code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = tag(&s);
    if (!code) cli_say_warnings(&s);
    if (!code) cli_say_outputs(&s, outputs);
    cli_session_close(&s);
    return code;
}

static const cli_option options[] = {
    {.name = "model", .value = "M", .kind = CLI_FILE, .help = "A model of 'ner train' or 'ner bootstrap'. Needed."},
    {.name = "in",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Text to tag, in columns as for training. Default, and -: standard input, tagged as it comes."},
    {.name = "unlabelled", .kind = CLI_FLAG, .help = "The text has no column of tags."},
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "Write the columns and the guessed tag there. Default, and -: standard output."},
    {.name = "probs",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "memm: write the probability of every tag there, a line per word."},
    {.name = "scores",
     .value = "FILE",
     .kind = CLI_FILE,
     .help = "svm: write the score of every type there, a line per word; nan where a word is no candidate."},
    CLI_END_OPTIONS};

static const cli_option *const option_sets[] = {options, cli_ner_scheme_options, cli_run_options, cli_talk_options,
                                                NULL};

static const cli_example examples[] = {
    {"parallax ner tag --model names.plx --in test.conll --out tagged.conll", "Then: parallax ner eval --in ..."},
    {"tr ' ' '\\n' < words.txt | parallax ner tag --model names.plx --unlabelled", "From a pipe into a pipe."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_ner_tag = {
    .group = "ner",
    .name = "tag",
    .summary = "Find names in text.",
    .description = "Writes the text with one column more: the guessed tags, written as in the training text.",
    .positionals = cli_ner_positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
