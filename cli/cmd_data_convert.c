/*
 * parallax data convert: read one format, write a data set directory or an .h5mu file.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "read_data.h"
#include "summary.h"

/* ---- preparation on the way ---- */

typedef plx_status (*step)(plx_dataset **out, cli_session *s, const plx_dataset *data, plx_index view, const char *how);

static plx_status min_df(plx_dataset **out, cli_session *s, const plx_dataset *data, plx_index view, const char *how)
{
    long long least = 0;
    if (!cli_read_whole(&least, how)) least = 0; /* refused as being too small */
    return plx_dataset_min_df(out, s->ctx, data, view, least);
}

static plx_status scale(plx_dataset **out, cli_session *s, const plx_dataset *data, plx_index view, const char *how)
{
    return plx_dataset_scale(out, s->ctx, data, view, how);
}

static plx_status split(plx_dataset **out, cli_session *s, const plx_dataset *data, plx_index view, const char *how)
{
    return plx_split_features(out, s->ctx, data, view, how);
}

/* VIEW=HOW */
static int take_step(plx_dataset **data, cli_session *s, const char *option, const char *value, step apply)
{
    const char *how = strchr(value, '=') + 1;
    char *name = strndup(value, (size_t)(how - 1 - value));
    plx_dataset *next = NULL;
    if (!name) return cli_fail_text(s, "out of memory");
    plx_index view = plx_dataset_find_view(*data, name);
    int code = view < 0 ? cli_usage_error(s->args->verb, "--%s %s: there is no view '%s'", option, value, name)
                        : cli_fail(s, apply(&next, s, *data, view, how));
    free(name);
    if (code) return code;
    plx_dataset_destroy(*data);
    *data = next;
    return CLI_DONE;
}

/* In the order that makes sense whatever the order of the options: select, scale, split. */
static int prepare(plx_dataset **data, cli_session *s)
{
    static const struct {
        const char *option;
        step apply;
    } steps[] = {{"min-df", min_df}, {"scale", scale}, {"split", split}};
    int code = CLI_DONE;
    for (int k = 0; k < 3; k++) {
        const char *value = NULL;
        for (int i = 0; !code && (value = cli_value_at(s->args, steps[k].option, i)); i++)
            code = take_step(data, s, steps[k].option, value, steps[k].apply);
    }
    return code;
}

/* ---- the verb ---- */

static int run(const cli_args *args)
{
    cli_session s;
    plx_dataset *data = NULL;
    const char *out = args->positional[1];
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, out);
    if (!code) code = cli_read_data(&data, &s, args->positional[0]);
    if (!code) code = prepare(&data, &s);
    if (!code) code = cli_put_data(&s, data, out);
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    {"OUT", CLI_FILE, false, "A new directory, or a new .h5mu file.", NULL},
    CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "min-df",
     .repeatable = true,
     .value = "VIEW=N",
     .kind = CLI_SETTING,
     .help = "Leave out columns that are not zero in fewer than N rows. Repeatable."},
    {.name = "scale",
     .repeatable = true,
     .value = "VIEW=HOW",
     .kind = CLI_SETTING,
     .help = "Scale a view: unit, zscore, tfidf or l1; it becomes real. Repeatable."},
    {.name = "split",
     .repeatable = true,
     .value = "VIEW=K",
     .kind = CLI_SETTING,
     .help =
         "Split the columns of a view at random into K views split0, split1, ..., or VIEW=file:F with the number of "
         "the new view per column."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options,         cli_seed_options, cli_read_options,
                                                cli_run_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax data convert digits.mat digits", "The field's MATLAB files as a directory of plain files."},
    {"parallax data convert reviews.csv reviews.h5mu --text-column text", "Count words on the way."},
    {"parallax data convert reviews.h5mu ready --min-df text=2 --scale text=tfidf", "Rare words out, weights in."},
    {"parallax data convert data/cora two --split text=2 --seed 1", "Two views out of one."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_convert = {
    .group = "data",
    .name = "convert",
    .summary = "Read any format, write a directory or an .h5mu file.",
    .description = "Reads DATA and writes it to OUT, which must not exist: an .h5mu file when the name ends so, else a "
                   "directory with dataset.json. On the way columns can be left out, views scaled and split, in this "
                   "order.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
