/*
 * The list of verbs and the options several of them share.
 */
#include <string.h>

#include "cli.h"
#include "suggest.h"

static const cli_verb *const verbs[] = {
    &cli_verb_fit,          &cli_verb_predict,       &cli_verb_transform,     &cli_verb_retrieve,
    &cli_verb_explain,      &cli_verb_tree,          &cli_verb_plot,          &cli_verb_eval,
    &cli_verb_compare,      &cli_verb_tune,          &cli_verb_views,         &cli_verb_acquire,
    &cli_verb_methods,      &cli_verb_model_show,    &cli_verb_data_info,     &cli_verb_data_check,
    &cli_verb_data_convert, &cli_verb_data_save,     &cli_verb_data_split,    &cli_verb_data_shard,
    &cli_verb_data_drop,    &cli_verb_data_complete, &cli_verb_data_generate, &cli_verb_ner_train,
    &cli_verb_ner_tag,      &cli_verb_ner_select,    &cli_verb_ner_simulate,  &cli_verb_ner_bootstrap,
    &cli_verb_ner_eval,     &cli_verb_version,       &cli_verb_doctor,        &cli_verb_bench,
    &cli_verb_completion,   &cli_verb_man,           &cli_verb_help,          NULL};

const cli_verb *cli_verb_at(int i) { return verbs[i]; }

const cli_verb *cli_verb_find(const char *group, const char *name)
{
    for (int i = 0; verbs[i]; i++) {
        bool same_group = group ? verbs[i]->group && strcmp(verbs[i]->group, group) == 0 : !verbs[i]->group;
        if (same_group && strcmp(verbs[i]->name, name) == 0) return verbs[i];
    }
    return NULL;
}

bool cli_is_group(const char *name) { return cli_group_summary(name) != NULL; }

const char *cli_group_summary(const char *group)
{
    if (strcmp(group, "data") == 0)
        return "Look at, check, convert, split, shard, thin out, complete or make data sets.";
    if (strcmp(group, "ner") == 0) return "Find names in text: learn, tag, choose what to annotate, measure.";
    return strcmp(group, "model") == 0 ? "Look at models." : NULL;
}

const char *cli_verb_nearest(const char *group, const char *word)
{
    cli_suggestion near = {word, NULL, 0};
    for (int i = 0; verbs[i]; i++) {
        const cli_verb *v = verbs[i];
        if (group && v->group && strcmp(v->group, group) == 0) cli_suggest(&near, v->name);
        if (!group) cli_suggest(&near, v->group ? v->group : v->name);
    }
    return cli_suggested(&near);
}

const char *cli_verb_title(char *buffer, size_t size, const cli_verb *verb)
{
    snprintf(buffer, size, "%s%s%s", verb->group ? verb->group : "", verb->group ? " " : "", verb->name);
    return buffer;
}

const cli_option cli_seed_options[] = {{.name = "seed",
                                        .value = "N",
                                        .kind = CLI_WHOLE,
                                        .low = 0,
                                        .help = "Every random choice follows from it (default 0)."},
                                       CLI_END_OPTIONS};

#define MEMORY_OPTION                                                                                                  \
    {                                                                                                                  \
        .name = "memory", .value = "SIZE", .kind = CLI_SIZE,                                                           \
        .help = "Memory limit, e.g. 500M or 8G (default: 80 % of what is free)."                                       \
    }

const cli_option cli_memory_options[] = {MEMORY_OPTION, CLI_END_OPTIONS};

const cli_option cli_run_options[] = {
    {.name = "threads",
     .value = "N",
     .kind = CLI_WHOLE,
     .low = 1,
     .high = 4096,
     .help = "Threads to use (default: one per core)."},
    MEMORY_OPTION,
    {.name = "time-limit",
     .value = "SECONDS",
     .kind = CLI_REAL,
     .low = 0,
     .help = "Stop iterating after this time and keep the result; give up half as long after."},
    {.name = "deterministic",
     .value = "0|1",
     .kind = CLI_CHOICE,
     .choices = "0|1",
     .help = "1 (default): the same bytes for every number of threads and ranks."},
    CLI_END_OPTIONS};

const cli_option cli_device_options[] = {
    {.name = "device",
     .value = "cpu|cuda|auto",
     .kind = CLI_TEXT,
     .help = "What computes: the CPU (default), a GPU or an error, or a GPU where there is one and it pays."},
    {.name = "device-memory",
     .value = "SIZE",
     .kind = CLI_SIZE,
     .help = "Most memory to take on the GPU (default: what it has free)."},
    CLI_END_OPTIONS};

const cli_option cli_stream_options[] = {
    {.name = "stream",
     .kind = CLI_FLAG,
     .help =
         "Keep the data in files of $TMPDIR (default /var/tmp) instead of memory and read them again on every pass: "
         "the same bytes, and memory that does not grow with the number of samples."},
    CLI_END_OPTIONS};

const cli_option cli_talk_options[] = {
    {.name = "quiet", .kind = CLI_FLAG, .help = "Print failures only."},
    {.name = "verbose", .kind = CLI_FLAG, .help = "Print diagnostics."},
    {.name = "progress",
     .value = "STYLE",
     .kind = CLI_CHOICE,
     .choices = "json|bar|none",
     .help = "json: one object per line on stderr; bar (default on a terminal); none."},
    CLI_END_OPTIONS};

/* How the files of a data set are read. */
/* clang-format off */
#define VIEW_OPTIONS                                                                                                   \
    {.name = "view",                                                                                                   \
     .value = "NAME=FILE[:COLUMNS]",                                                                                   \
     .kind = CLI_VIEW,                                                                                                 \
     .repeatable = true,                                                                                               \
     .help = "Read a view from a file of its own, or from some columns of a table; in place of DATA or beside it. "    \
             "Files are joined by sample id, or row by row where none has ids. Repeatable."},                          \
    {.name = "labels-from",                                                                                            \
     .value = "FILE[:COLUMN]",                                                                                         \
     .kind = CLI_SOURCE,                                                                                               \
     .help = "Take the labels from a column of another table (or .h5mu, .h5ad), by sample id."}
#define COLUMN_OPTIONS                                                                                                 \
    {.name = "join",                                                                                                   \
     .value = "HOW",                                                                                                   \
     .kind = CLI_CHOICE,                                                                                               \
     .choices = "union|intersection",                                                                                  \
     .help = "Views with ids of their own: keep all samples (union, default), or only those every view has."},         \
    {.name = "label-column", .value = "C", .kind = CLI_TEXT, .help = "Column of a table that holds the label."},       \
    {.name = "truth-column",                                                                                           \
     .value = "C",                                                                                                     \
     .kind = CLI_TEXT,                                                                                                 \
     .help = "Column of a table that holds the truth, for evaluation only."},                                          \
    {.name = "id-column", .value = "C", .kind = CLI_TEXT, .help = "Column of a table that holds the sample id."},      \
    {.name = "text-column",                                                                                            \
     .value = "C",                                                                                                     \
     .kind = CLI_TEXT,                                                                                                 \
     .repeatable = true,                                                                                               \
     .help = "Column of a table that holds text, to be counted word by word; it becomes a view of that name. "         \
             "Repeatable."},                                                                                           \
    {.name = "columns",                                                                                                \
     .value = "LIST",                                                                                                  \
     .kind = CLI_TEXT,                                                                                                 \
     .repeatable = true,                                                                                               \
     .help = "Columns of DATA to read: names or numbers separated by commas, 2-5, gene*."},                            \
    {.name = "drop-column",                                                                                            \
     .value = "C",                                                                                                     \
     .kind = CLI_TEXT,                                                                                                 \
     .repeatable = true,                                                                                               \
     .help = "Column of a table to leave out. Repeatable."},                                                           \
    {.name = "text-options",                                                                                           \
     .value = "O",                                                                                                     \
     .kind = CLI_TEXT,                                                                                                 \
     .help = "How to count words, e.g. min_df=5,stem=english,stop=english."},                                          \
    {.name = "trust",                                                                                                  \
     .kind = CLI_FLAG,                                                                                                 \
     .help = "Read HDF5 and MATLAB files directly: faster, but a hostile file can crash or fill the machine."}
/* clang-format on */

const cli_option cli_source_options[] = {VIEW_OPTIONS, COLUMN_OPTIONS, CLI_END_OPTIONS};

const cli_option cli_read_options[] = {
    VIEW_OPTIONS,
    {.name = "format", .value = "F", .kind = CLI_TEXT, .help = "Format of DATA when its name does not tell."},
    COLUMN_OPTIONS,
    CLI_END_OPTIONS};
