/*
 * parallax data convert: read one format, write a data set directory or an .h5mu file.
 */
#include "output.h"
#include "summary.h"

static int run(const cli_args *args)
{
    cli_session s;
    plx_dataset *data = NULL;
    const char *out = args->positional[1];
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, out);
    if (!code) code = cli_read_data(&data, &s, args->positional[0]);
    if (!code) code = cli_fail(&s, plx_dataset_write(s.ctx, data, out));
    if (!code) {
        cli_say_data(&s, data);
        cli_say_warnings(&s);
        cli_say(&s, "wrote    %s", out);
    }
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"IN", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    {"OUT", CLI_FILE, false, "A new directory, or a new .h5mu file.", NULL},
    CLI_END_POSITIONALS};
static const cli_option *const option_sets[] = {cli_read_options, cli_run_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax data convert digits.mat digits", "The field's MATLAB files as a directory of plain files."},
    {"parallax data convert reviews.csv reviews.h5mu --text-column text", "Count words on the way."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_convert = {
    .group = "data",
    .name = "convert",
    .summary = "Read any format, write a directory or an .h5mu file.",
    .description = "Reads IN and writes it to OUT, which must not exist: an .h5mu file when the name ends so, else a "
                   "directory with "
                   "dataset.json.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
