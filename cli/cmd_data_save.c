/*
 * parallax data save: what was given on the command line as a manifest, for later runs.
 */
#include "output.h"
#include "read_data.h"
#include "summary.h"

/* The data is read first: a manifest of data that do not fit together would be of no use. */
static int save(cli_session *s, const char *path, const char *manifest)
{
    cli_reading r;
    plx_dataset *data = NULL;
    int code = cli_reading_open(&r, s, path);
    if (!code) code = cli_read_data(&data, s, path);
    if (!code) code = cli_fail(s, plx_dataset_save(s->ctx, manifest, path, &r.o));
    if (!code) {
        cli_say_data(s, data);
        cli_say_warnings(s);
        cli_say(s, "wrote    %s", manifest);
    }
    plx_dataset_destroy(data);
    cli_reading_close(&r);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, args->positional[1]);
    if (!code) code = save(&s, args->positional[0], args->positional[1]);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A single file, left out when all views come from --view.", NULL},
    {"OUT", CLI_FILE, false, "A new manifest; its name ends in .json.", NULL},
    CLI_END_POSITIONALS};
static const cli_option *const option_sets[] = {cli_read_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax data save --view rna=rna.csv --view notes=posts.csv:body --labels-from clinic.csv:diagnosis study.json",
     "Name the files once; afterwards 'parallax fit nb study.json'."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_save = {
    .group = "data",
    .name = "save",
    .summary = "Write the manifest of the files and columns given.",
    .description =
        "Reads the data as every verb does and writes a manifest that says the same, for later runs. The files "
        "stay where they are; the manifest names them relative to itself.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
