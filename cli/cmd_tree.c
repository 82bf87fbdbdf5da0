/*
 * parallax tree: the tree of a model as a picture, or for other programs.
 */
#include <string.h>

#include "output.h"

static const struct {
    const char *option;
    plx_tree_format format;
} formats[] = {{"svg", PLX_TREE_SVG}, {"newick", PLX_TREE_NEWICK}, {"json", PLX_TREE_JSON}};
enum { FORMATS = sizeof formats / sizeof *formats };
static const char *const outputs[] = {"out", NULL};

/* Which of them was asked for, or -1. */
static int chosen_format(const cli_args *args)
{
    int chosen = -1, count = 0;
    for (int f = 0; f < FORMATS; f++) {
        if (!cli_flag(args, formats[f].option)) continue;
        chosen = f;
        count++;
    }
    return count == 1 ? chosen : -1;
}

static int write_tree(cli_session *s, plx_tree_format format)
{
    plx_model *model = NULL;
    const char *text = NULL, *out = cli_value(s->args, "out");
    int code = cli_fail(s, plx_model_load(&model, s->ctx, s->args->positional[0]));
    if (!code) code = cli_fail(s, plx_model_tree(&text, s->ctx, model, format, cli_whole(s->args, "leaves", 0)));
    if (!code) code = cli_write_text(s, out ? out : "-", text);
    plx_model_destroy(model);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    int format = chosen_format(args);
    if (format < 0) return cli_usage_error(args->verb, "give one of --svg, --newick and --json");
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_outputs(&s, outputs);
    if (!code) code = write_tree(&s, formats[format].format);
    if (!code) cli_say_outputs(&s, outputs);
    cli_session_close(&s);
    return code;
}

static const cli_option options[] = {
    {.name = "svg", .kind = CLI_FLAG, .help = "A picture: every split in the colour of the view that made it."},
    {.name = "newick", .kind = CLI_FLAG, .help = "Newick, for programs that draw trees."},
    {.name = "json", .kind = CLI_FLAG, .help = "A list of nodes, the root first."},
    {.name = "leaves",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .help = "Show at most N leaves; groups below are one leaf with their size (default: 60 in a picture, else all)."},
    {.name = "out", .letter = 'o', .value = "FILE", .kind = CLI_FILE, .help = "Where to write (default: -)."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_memory_options, cli_talk_options, NULL};
static const cli_positional positionals[] = {
    {"MODEL", CLI_FILE, false, "A model of hybridtree, written by 'parallax fit --model'.", NULL}, CLI_END_POSITIONALS};
static const cli_example examples[] = {
    {"parallax tree digits.plx --svg --out tree.svg", "Sixty groups with the names of their first samples."},
    {"parallax tree digits.plx --newick --out tree.nwk", "All samples."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_tree = {
    .name = "tree",
    .summary = "Draw the tree of a model, or write it for other programs.",
    .description = "Reads a model that has a tree and writes it with the names of the samples on its leaves. In a "
                   "picture, the root is on the left, and a group that is not shown split is a triangle with its size.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
