/*
 * parallax data shard: the samples in parts of neighbouring rows, for processes that read their own rows only.
 *
 * OUT is a directory with one .h5mu file per part and a manifest that names them, and is read like any other data set.
 */
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "jsonout.h"
#include "read_data.h"
#include "summary.h"

typedef struct sharder {
    cli_session *s;
    plx_dataset *data;
    plx_index n, parts;
    plx_index *rows; /* n */
} sharder;

static plx_index first_of(const sharder *w, plx_index part)
{
    return part * (w->n / w->parts) + (part < w->n % w->parts ? part : w->n % w->parts);
}

static const char *part_name(char *buffer, size_t size, plx_index part)
{
    snprintf(buffer, size, "part%05lld.h5mu", (long long)part + 1);
    return buffer;
}

static int check_views(const sharder *w)
{
    plx_view_info v = PLX_VIEW_INFO_INIT;
    for (plx_index i = 0; plx_dataset_view_info(&v, w->data, i) == PLX_OK; i++)
        if (v.kind == PLX_VIEW_KERNEL)
            return cli_fail_text(w->s,
                                 "view '%s' is of kind kernel: its columns are samples, which parts would tear "
                                 "from each other; leave it out",
                                 v.name);
    return CLI_DONE;
}

static int write_part(sharder *w, cli_folder *folder, plx_index part)
{
    char name[40];
    plx_dataset *some = NULL;
    plx_index first = first_of(w, part), count = first_of(w, part + 1) - first;
    for (plx_index i = 0; i < count; i++) w->rows[i] = first + i;
    int code = cli_fail(w->s, plx_dataset_select(&some, w->s->ctx, w->data, w->rows, count));
    if (!code) code = cli_folder_add(folder, w->s, some, part_name(name, sizeof name, part));
    plx_dataset_destroy(some);
    return code;
}

/* Which files there are; and how the text of views was counted, which .h5mu files do not tell. */
static void print_manifest(FILE *f, const sharder *w)
{
    plx_view_info v = PLX_VIEW_INFO_INIT;
    cli_json j;
    cli_json_start(&j, f, true);
    cli_json_open(&j, NULL, '{');
    cli_json_whole(&j, "parallax", 1);
    cli_json_text(&j, "name", plx_dataset_name(w->data));
    cli_json_open(&j, "text", '{');
    for (plx_index i = 0; plx_dataset_view_info(&v, w->data, i) == PLX_OK; i++)
        if (v.text) cli_json_text(&j, v.name, v.text);
    cli_json_close(&j, '}');
    cli_json_open(&j, "parts", '[');
    for (plx_index p = 0; p < w->parts; p++) {
        char name[40];
        cli_json_open(&j, NULL, '{');
        cli_json_text(&j, "file", part_name(name, sizeof name, p));
        cli_json_whole(&j, "rows", first_of(w, p + 1) - first_of(w, p));
        cli_json_close(&j, '}');
    }
    cli_json_close(&j, ']');
    cli_json_close(&j, '}');
    fputc('\n', f);
}

static int write_manifest(const sharder *w, const cli_folder *folder)
{
    char *path = NULL;
    if (asprintf(&path, "%s/dataset.json", folder->temporary) < 0) return cli_fail_text(w->s, "out of memory");
    FILE *f = fopen(path, "w");
    if (f) print_manifest(f, w);
    bool failed = !f || ferror(f);
    if (f) failed |= fclose(f) != 0;
    int code = failed ? cli_fail_text(w->s, "%s: cannot write", folder->path) : CLI_DONE;
    free(path);
    return code;
}

static int shard(sharder *w, const char *out)
{
    cli_folder folder = {0};
    w->n = plx_dataset_samples(w->data);
    w->parts = cli_whole(w->s->args, "parts", 2);
    if (w->parts > w->n)
        return cli_usage_error(w->s->args->verb, "--parts %lld: there are only %s", (long long)w->parts,
                               CLI_COUNT(w->n, "sample", "samples"));
    w->rows = calloc((size_t)(w->n / w->parts) + 1, sizeof *w->rows);
    if (!w->rows) return cli_fail_text(w->s, "out of memory");
    int code = check_views(w);
    if (!code) code = cli_folder_open(&folder, w->s, out);
    if (code) return code;
    for (plx_index p = 0; p < w->parts && !code; p++) code = write_part(w, &folder, p);
    if (!code) code = write_manifest(w, &folder);
    return cli_folder_close(&folder, w->s, code);
}

static int run(const cli_args *args)
{
    cli_session s;
    sharder w = {.s = &s};
    const char *out = args->positional[1];
    if (!cli_value(args, "parts")) return cli_usage_error(args->verb, "--parts N is missing: into how many");
    int code = cli_session_open(&s, args);
    if (code) return code;
    code = cli_check_new(&s, out);
    if (!code) code = cli_read_data(&w.data, &s, args->positional[0]);
    if (!code) code = shard(&w, out);
    if (!code) {
        cli_say_data(&s, w.data);
        cli_say(&s, "parts    %s of up to %s", CLI_COUNT(w.parts, "", ""),
                CLI_COUNT(first_of(&w, 1), "sample", "samples"));
        cli_say_warnings(&s);
        cli_say(&s, "wrote    %s", out);
    }
    free(w.rows);
    plx_dataset_destroy(w.data);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL},
    {"OUT", CLI_FILE, false, "A new directory.", NULL},
    CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "parts", .value = "N", .kind = CLI_WHOLE, .low = 1, .help = "Number of parts, of equally many samples."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_memory_options, cli_read_options, cli_talk_options, NULL};
static const cli_example examples[] = {
    {"parallax data shard reviews.csv reviews --parts 64", "Sixty-four files, each with a run of the samples."},
    {"mpirun -n 16 parallax-mpi fit coem reviews --labels 5% --model m.plx", "Every process reads its part of them."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_shard = {
    .group = "data",
    .name = "shard",
    .summary = "Cut a data set into files of neighbouring samples.",
    .description =
        "Writes the directory OUT with one .h5mu file for each part and a manifest that names them. OUT is read "
        "like any other data set, with the same results; the processes of parallax-mpi read the rows they "
        "work on only, whatever format DATA has.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
