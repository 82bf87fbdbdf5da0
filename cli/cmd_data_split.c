/*
 * parallax data split: hide labels, set samples aside for testing, or make folds.
 *
 * A training part shows the class of all its samples; a test part shows none and keeps them as truth.
 */
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "hide_labels.h"
#include "read_data.h"
#include "summary.h"

typedef struct splitter {
    cli_session *s;
    plx_dataset *data;
    plx_index n;
    uint8_t *flags;              /* n */
    int32_t *fold;               /* n */
    plx_index *rows;             /* n */
    const char **texts;          /* n */
    plx_index smallest, largest; /* test part */
} splitter;

static bool allocate(splitter *w)
{
    w->n = plx_dataset_samples(w->data);
    w->flags = calloc((size_t)w->n, sizeof *w->flags);
    w->fold = calloc((size_t)w->n, sizeof *w->fold);
    w->rows = calloc((size_t)w->n, sizeof *w->rows);
    w->texts = calloc((size_t)w->n, sizeof *w->texts);
    return w->flags && w->fold && w->rows && w->texts;
}

static void release(splitter *w)
{
    free(w->flags);
    free(w->fold);
    free(w->rows);
    free(w->texts);
    plx_dataset_destroy(w->data);
}

/* ---- labels ---- */

static int hide_labels(splitter *w, const char *spec, const char *out)
{
    plx_dataset *hidden = NULL;
    int code = cli_hide_labels(&hidden, w->s, w->data, spec);
    if (!code) code = cli_fail(w->s, plx_dataset_write(w->s->ctx, hidden, out));
    if (!code) cli_say_data(w->s, hidden);
    plx_dataset_destroy(hidden);
    return code;
}

/* ---- parts ---- */

/* Samples whose flag is `wanted`, with the class of all of them as label (training) or as truth only (test). */
static int make_part(plx_dataset **out, splitter *w, uint8_t wanted)
{
    plx_index count = 0;
    plx_dataset *part = NULL;
    for (plx_index i = 0; i < w->n; i++)
        if (w->flags[i] == wanted) w->rows[count++] = i;
    int code = cli_fail(w->s, plx_dataset_select(&part, w->s->ctx, w->data, w->rows, count));
    for (plx_index i = 0; i < count; i++) {
        const char *truth = plx_dataset_truth(w->data, w->rows[i]);
        w->texts[i] = truth ? truth : plx_dataset_label(w->data, w->rows[i]);
    }
    bool known = plx_dataset_has_truth(w->data) || plx_dataset_has_labels(w->data);
    if (!code && wanted && known) code = cli_fail(w->s, plx_dataset_set_truth(part, w->s->ctx, w->texts));
    if (!code && known) code = cli_fail(w->s, plx_dataset_relabel(out, w->s->ctx, part, wanted ? NULL : w->texts));
    else if (!code) {
        *out = part;
        part = NULL;
    }
    plx_dataset_destroy(part);
    return code;
}

static int add_parts(splitter *w, cli_folder *folder, const char *prefix)
{
    static const char *const names[] = {"train", "test"};
    int code = CLI_DONE;
    for (uint8_t k = 0; k < 2 && !code; k++) {
        char name[64];
        plx_dataset *part = NULL;
        snprintf(name, sizeof name, "%s%s", prefix, names[k]);
        code = make_part(&part, w, k);
        if (!code) code = cli_folder_add(folder, w->s, part, name);
        plx_dataset_destroy(part);
    }
    plx_index test = 0;
    for (plx_index i = 0; i < w->n; i++) test += w->flags[i];
    if (!w->largest || test < w->smallest) w->smallest = test;
    if (test > w->largest) w->largest = test;
    return code;
}

static void say_parts(const splitter *w)
{
    const char *folds = cli_value(w->s->args, "folds");
    if (folds && w->smallest < w->largest)
        cli_say(w->s, "folds    %s, test parts of %s to %s", folds, CLI_COUNT(w->smallest, "", ""),
                CLI_COUNT(w->largest, "sample", "samples"));
    else if (folds) cli_say(w->s, "folds    %s, test parts of %s", folds, CLI_COUNT(w->largest, "sample", "samples"));
    else
        cli_say(w->s, "parts    train %s, test %s", CLI_COUNT(w->n - w->largest, "sample", "samples"),
                CLI_COUNT(w->largest, "sample", "samples"));
}

static int set_aside(splitter *w, cli_folder *folder)
{
    double fraction = 0.5;
    cli_read_share(&fraction, cli_value(w->s->args, "test"));
    bool stratified = !cli_flag(w->s->args, "unstratified");
    int code = cli_fail(w->s, plx_split_test(w->flags, w->s->ctx, w->data, fraction, stratified));
    return code ? code : add_parts(w, folder, "");
}

static int make_folds(splitter *w, cli_folder *folder)
{
    plx_index k = cli_whole(w->s->args, "folds", 2);
    int code = cli_fail(w->s, plx_split_folds(w->fold, w->s->ctx, w->data, k));
    for (plx_index f = 0; f < k && !code; f++) {
        char prefix[40];
        snprintf(prefix, sizeof prefix, "fold%lld/", (long long)f + 1);
        for (plx_index i = 0; i < w->n; i++) w->flags[i] = w->fold[i] == f;
        code = add_parts(w, folder, prefix);
    }
    return code;
}

/* ---- the verb ---- */

static int split(splitter *w, const char *out)
{
    const cli_args *args = w->s->args;
    cli_folder folder = {0};
    if (!allocate(w)) return cli_fail_text(w->s, "out of memory");
    if (cli_value(args, "labels")) return hide_labels(w, cli_value(args, "labels"), out);
    int code = cli_folder_open(&folder, w->s, out);
    if (!code) code = cli_value(args, "test") ? set_aside(w, &folder) : make_folds(w, &folder);
    code = cli_folder_close(&folder, w->s, code);
    if (!code) say_parts(w);
    return code;
}

static int run(const cli_args *args)
{
    cli_session s;
    splitter w = {.s = &s};
    const char *out = args->positional[1];
    int ways =
        (cli_value(args, "labels") != NULL) + (cli_value(args, "test") != NULL) + (cli_value(args, "folds") != NULL);
    if (ways != 1) return cli_usage_error(args->verb, "give exactly one of --labels, --test and --folds");
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, out);
    if (!code) code = cli_read_data(&w.data, &s, args->positional[0]);
    if (!code) code = split(&w, out);
    if (!code) {
        cli_say_warnings(&s);
        cli_say(&s, "wrote    %s", out);
    }
    release(&w);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    {"OUT", CLI_FILE, false, "A new directory (with --labels also a new .h5mu file).", NULL},
    CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "labels",
     .value = "SPEC",
     .kind = CLI_TEXT,
     .help = "Hide all labels but 10% of every class, 5 of every class, a=2,b=10 of these classes, or a file with one "
             "id, number or flag per line. Without a truth the hidden labels become it."},
    {.name = "test",
     .value = "SHARE",
     .kind = CLI_SHARE,
     .help = "Write OUT/train and OUT/test, e.g. 30% or 0.3 of the samples to test on."},
    {.name = "folds",
     .value = "K",
     .kind = CLI_WHOLE,
     .low = 2,
     .help = "Write OUT/fold1/train, OUT/fold1/test, OUT/fold2/train, ..."},
    {.name = "unstratified", .kind = CLI_FLAG, .help = "With --test: do not balance the classes."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options,          cli_seed_options, cli_memory_options,
                                                cli_read_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax data split data/cora cora10 --labels 10%", "The same data with a tenth of the labels."},
    {"parallax data split data/cora parts --test 0.3 --seed 1", "Seven tenths to learn from, three to test on."},
    {"parallax data split data/cora parts --folds 5", "Five pairs of training and test data."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_split = {
    .group = "data",
    .name = "split",
    .summary = "Hide labels, set a test part aside, or make folds.",
    .description = "Writes parts of DATA to OUT, which must not exist. Training parts show the class of every sample; "
                   "test parts show "
                   "none and keep them as truth. Classes are balanced. The same seed chooses the same samples.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
