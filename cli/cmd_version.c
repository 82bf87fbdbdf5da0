/*
 * parallax version: what is linked and how it was built.
 */
#include "jsonout.h"
#include "output.h"

#ifdef __clang__
static const char compiler[] = "clang " __clang_version__;
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

static int run(const cli_args *args)
{
    cli_session s;
    int code = cli_session_open(&s, args);
    if (code) return code;
    if (cli_flag(args, "json")) {
        cli_json j;
        cli_json_start(&j, stdout, true);
        cli_json_open(&j, NULL, '{');
        cli_json_text(&j, "version", plx_version());
        cli_json_text(&j, "command", PLX_VERSION_STRING);
        cli_json_text(&j, "compiler", compiler);
        cli_json_whole(&j, "threads", plx_context_threads(s.ctx));
        cli_json_whole(&j, "memory_limit", plx_context_memory_limit(s.ctx));
        cli_json_whole(&j, "methods", plx_method_count());
        cli_json_close(&j, '}');
        putchar('\n');
    } else {
        printf("parallax %s\n", plx_version());
        printf("command %s, %s, %zu-bit\n", PLX_VERSION_STRING, compiler, 8 * sizeof(void *));
        printf("%s, memory limit %.3g GiB\n", CLI_COUNT(plx_context_threads(s.ctx), "thread", "threads"),
               (double)plx_context_memory_limit(s.ctx) / 1073741824.0);
        printf("%s, %s\n", CLI_COUNT(plx_method_count(), "method", "methods"),
               CLI_COUNT(plx_generator_count(), "generator", "generators"));
    }
    cli_session_close(&s);
    return CLI_DONE;
}

static const cli_option options[] = {{.name = "json", .kind = CLI_FLAG, .help = "The same as JSON."}, CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, NULL};
static const cli_example examples[] = {{"parallax version", "Name this in reports of faults."}, CLI_END_EXAMPLES};

const cli_verb cli_verb_version = {
    .name = "version",
    .summary = "Version, compiler, threads and memory limit.",
    .description =
        "Prints the version of the library and of the command, the compiler, and what a run would use by default.",
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
