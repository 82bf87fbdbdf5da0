/*
 * From arguments to a verb: finds it, parses its arguments by its table, runs it.
 */
#include "dispatch.h"

#include <string.h>

#include "help.h"
#include "options.h"

static int unknown_verb(const char *group, const char *word)
{
    const char *best = cli_verb_nearest(group, word);
    const char *prefix = group ? group : "", *gap = group ? " " : "";
    if (best)
        return cli_usage_error(NULL, "unknown verb '%s%s%s'; did you mean '%s%s%s'?", prefix, gap, word, prefix, gap,
                               best);
    return cli_usage_error(NULL, "unknown verb '%s%s%s'", prefix, gap, word);
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    cli_args args;
    int code = cli_args_parse(&args, verb, argc, argv);
    if (!code && args.help) cli_help_verb(stdout, verb);
    else if (!code) code = verb->run(&args);
    cli_args_free(&args);
    return code;
}

static bool is_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

static int run_group(const char *group, int argc, char **argv)
{
    if (argc < 1) {
        cli_help_group(stderr, group);
        return CLI_USAGE;
    }
    if (is_help(argv[0])) {
        cli_help_group(stdout, group);
        return CLI_DONE;
    }
    const cli_verb *verb = cli_verb_find(group, argv[0]);
    return verb ? run_verb(verb, argc - 1, argv + 1) : unknown_verb(group, argv[0]);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        cli_help_overview(stderr);
        return CLI_USAGE;
    }
    const char *word = argv[1];
    if (is_help(word)) {
        cli_help_overview(stdout);
        return CLI_DONE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) word = "version";
    if (cli_is_group(word)) return run_group(word, argc - 2, argv + 2);
    const cli_verb *verb = cli_verb_find(NULL, word);
    return verb ? run_verb(verb, argc - 2, argv + 2) : unknown_verb(NULL, word);
}

int cli_run(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    if (code == CLI_DONE && (fflush(stdout) != 0 || ferror(stdout))) {
        perror("parallax: standard output");
        code = CLI_FAILED;
    }
    return code;
}
