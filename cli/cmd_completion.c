/*
 * parallax completion: scripts for shells, made from the verb tables, the methods and the generators.
 */
#include "completion.h"

#include <string.h>

#include "options.h"

static int run(const cli_args *args)
{
    if (strcmp(args->positional[0], "bash") == 0) cli_completion_bash(stdout);
    else if (strcmp(args->positional[0], "zsh") == 0) cli_completion_zsh(stdout);
    else cli_completion_fish(stdout);
    return CLI_DONE;
}

static const cli_positional positionals[] = {{"SHELL", CLI_CHOICE, false, "bash, zsh or fish.", "bash|zsh|fish"},
                                             CLI_END_POSITIONALS};
static const cli_example examples[] = {
    {"source <(parallax completion bash)", "Try it in this shell."},
    {"parallax completion zsh > ~/.zfunc/_parallax", "Keep it, in a directory of fpath."},
    {"parallax completion fish > ~/.config/fish/completions/parallax.fish", "The same for fish."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_completion = {
    .name = "completion",
    .summary = "Print a completion script for bash, zsh or fish.",
    .description = "Prints a script that completes verbs, options, methods, parameter and array names, and files.",
    .positionals = positionals,
    .examples = examples,
    .run = run,
};
