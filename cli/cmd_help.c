/*
 * parallax help VERB: the same as parallax VERB --help.
 */
#include "help.h"
#include "methods.h"
#include "options.h"

static int unknown(const cli_args *args, const char *group, const char *word)
{
    const char *near = cli_verb_nearest(group, word);
    if (near) return cli_usage_error(args->verb, "unknown verb '%s'; did you mean '%s'?", word, near);
    if (group) return cli_usage_error(args->verb, "unknown verb '%s'", word);
    return cli_usage_error(args->verb, "there is no verb or method '%s'; 'parallax methods' lists the methods", word);
}

static int run(const cli_args *args)
{
    const char *word = args->positional[0], *second = args->positional[1];
    if (!word) {
        cli_help_overview(stdout);
        return CLI_DONE;
    }
    bool group = cli_is_group(word);
    if (group && !second) {
        cli_help_group(stdout, word);
        return CLI_DONE;
    }
    plx_method_info method = PLX_METHOD_INFO_INIT;
    if (!group && !second && !cli_verb_find(NULL, word) && plx_method_describe(&method, word) == PLX_OK) {
        cli_show_method(&method);
        return CLI_DONE;
    }
    const cli_verb *verb = group ? cli_verb_find(word, second) : cli_verb_find(NULL, word);
    if (!verb) return unknown(args, group ? word : NULL, group ? second : word);
    if (!group && second) return cli_usage_error(args->verb, "unexpected argument '%s'", second);
    cli_help_verb(stdout, verb);
    return CLI_DONE;
}

static const cli_positional positionals[] = {
    {"VERB", CLI_VERB, true, "What to explain, a verb or a method; nothing: the overview.", NULL},
    {"SUBVERB", CLI_VERB, true, "For data: which of its verbs.", NULL},
    CLI_END_POSITIONALS};
static const cli_example examples[] = {{"parallax help data split", "How to split a data set."}, CLI_END_EXAMPLES};

const cli_verb cli_verb_help = {
    .name = "help",
    .summary = "Explain a verb or a method.",
    .description = "Prints what 'parallax VERB --help' or 'parallax methods show METHOD' prints, or the overview.",
    .positionals = positionals,
    .examples = examples,
    .run = run,
};
