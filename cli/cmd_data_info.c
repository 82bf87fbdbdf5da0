/*
 * parallax data info: what a data set holds, in the order a newcomer asks: how many samples, which views, which
 * views are missing where, which classes, how many labels.
 */
#include <stdlib.h>
#include <string.h>

#include "conll_info.h"
#include "output.h"
#include "patterns.h"
#include "read_data.h"
#include "summary.h"

enum { MOST_ROWS = 20 }; /* of classes and patterns shown to people; --json has all */

typedef struct facts {
    const plx_dataset *data;
    cli_pattern *patterns;
    plx_index n_patterns;
    plx_index *truth, *labels;   /* counts per class */
    plx_index n_truth, n_labels; /* samples */
    plx_index n_subset, n_mutex;
    plx_index *zero; /* rows of every view that most methods take for missing: there, of counts or binary, all zero */
} facts;

/* A kernel compares samples with samples: one column per sample, unless names say whose columns they are. */
static int check_kernels(cli_session *s, const plx_dataset *data)
{
    for (plx_index v = 0; v < plx_dataset_views(data); v++) {
        plx_view_info info = PLX_VIEW_INFO_INIT;
        if (plx_dataset_view_info(&info, data, v) != PLX_OK || info.kind != PLX_VIEW_KERNEL) continue;
        if (info.cols != info.rows && !plx_dataset_feature(data, v, 0))
            return cli_fail_text(
                s,
                "view '%s' is a kernel of %lld rows and %lld columns; expected one column per sample, or "
                "columns named by sample ids",
                info.name, (long long)info.rows, (long long)info.cols);
    }
    return CLI_DONE;
}

/* By all of several processes, each of which has its rows. */
static int count_zero_rows(facts *f, cli_session *s)
{
    plx_view_info v = PLX_VIEW_INFO_INIT;
    int code = CLI_DONE;
    f->zero = calloc((size_t)plx_dataset_views(f->data) + 1, sizeof *f->zero);
    if (!f->zero) return cli_fail_text(s, "out of memory");
    for (plx_index i = 0; !code && plx_dataset_view_info(&v, f->data, i) == PLX_OK; i++)
        if (v.kind == PLX_VIEW_COUNTS || v.kind == PLX_VIEW_BINARY)
            code = cli_fail(s, plx_dataset_zero_rows(&f->zero[i], s->ctx, f->data, i));
    return code;
}

static int gather(facts *f, cli_session *s, const plx_dataset *data)
{
    const int32_t *pairs = NULL;
    *f = (facts){.data = data};
    bool fine = cli_patterns(&f->patterns, &f->n_patterns, data) && cli_class_counts(&f->truth, data, true) &&
                cli_class_counts(&f->labels, data, false);
    for (plx_index i = 0; i < plx_dataset_samples(data); i++) f->n_truth += plx_dataset_truth(data, i) != NULL;
    f->n_labels = cli_labelled_count(data);
    f->n_subset = plx_dataset_subset(&pairs, data);
    f->n_mutex = plx_dataset_mutex(&pairs, data);
    int code = fine ? check_kernels(s, data) : cli_fail_text(s, "out of memory");
    return code ? code : count_zero_rows(f, s);
}

static void release(facts *f)
{
    free(f->patterns);
    free(f->truth);
    free(f->labels);
    free(f->zero);
}

/* ---- for people ---- */

static const char *kind_text(plx_view_kind kind)
{
    const char *name = plx_view_kind_name(kind);
    return name ? name : "?";
}

/* Share of entries of present rows that are not zero, in percent. */
static double filled(const plx_view_info *v)
{
    double entries = (double)v->present * (double)v->cols;
    return entries > 0 ? 100.0 * (double)v->nonzeros / entries : 0;
}

static void print_views(const facts *f)
{
    int width = 4;
    plx_view_info v = PLX_VIEW_INFO_INIT;
    for (plx_index i = 0; plx_dataset_view_info(&v, f->data, i) == PLX_OK; i++)
        if ((int)strlen(v.name) > width) width = (int)strlen(v.name);
    printf("\n%-*s  %-11s %10s  %-6s %9s %11s %14s\n", width, "view", "kind", "features", "stored", "non-zero",
           "present", "missing values");
    for (plx_index i = 0; plx_dataset_view_info(&v, f->data, i) == PLX_OK; i++)
        printf("%-*s  %-11s %10s  %-6s %8.3g%% %11s %14s\n", width, v.name, kind_text(v.kind),
               CLI_COUNT(v.cols, "", ""), v.sparse ? "sparse" : "dense", filled(&v), CLI_COUNT(v.present, "", ""),
               CLI_COUNT(v.missing_values, "", ""));
}

static void print_zero_rows(const facts *f)
{
    plx_view_info v = PLX_VIEW_INFO_INIT;
    const char *before = "\nall-zero rows count as missing: ";
    for (plx_index i = 0; plx_dataset_view_info(&v, f->data, i) == PLX_OK; i++) {
        if (!f->zero[i]) continue;
        printf("%s%s %s", before, v.name, CLI_COUNT(f->zero[i], "", ""));
        before = ", ";
    }
    if (before[0] == ',') putchar('\n');
}

static void print_patterns(const facts *f)
{
    if (plx_dataset_views(f->data) < 2) return;
    printf("\nwhich views samples have:\n");
    for (plx_index p = 0; p < f->n_patterns && p < MOST_ROWS; p++) {
        printf("%12s  ", CLI_COUNT(f->patterns[p].count, "", ""));
        cli_pattern_print(stdout, f->data, f->patterns[p].sample);
        putchar('\n');
    }
    if (f->n_patterns > MOST_ROWS)
        printf("%12s  and %lld more patterns\n", "...", (long long)(f->n_patterns - MOST_ROWS));
}

static void print_classes(const facts *f)
{
    plx_index classes = plx_dataset_classes(f->data);
    int width = 5;
    if (!classes) return;
    for (plx_index c = 0; c < classes && c < MOST_ROWS; c++) {
        int length = (int)strlen(plx_dataset_class(f->data, c));
        if (length > width) width = length < 40 ? length : 40;
    }
    printf("\n%-*s %12s %12s\n", width, "class", "truth", "labels");
    for (plx_index c = 0; c < classes && c < MOST_ROWS; c++)
        printf("%-*s %12s %12s\n", width, plx_dataset_class(f->data, c),
               plx_dataset_has_truth(f->data) ? CLI_COUNT(f->truth[c], "", "") : "-", CLI_COUNT(f->labels[c], "", ""));
    if (classes > MOST_ROWS) printf("... and %s\n", CLI_COUNT(classes - MOST_ROWS, "more class", "more classes"));
}

static void print_facts(const facts *f)
{
    const plx_dataset *d = f->data;
    printf("%s: %s, %s, %s\n", plx_dataset_name(d), CLI_COUNT(plx_dataset_samples(d), "sample", "samples"),
           CLI_COUNT(plx_dataset_views(d), "view", "views"), CLI_COUNT(plx_dataset_classes(d), "class", "classes"));
    printf("ids: %s; labels: %s; truth: ", plx_dataset_id(d, 0) ? "yes" : "no (samples are numbered from 0)",
           plx_dataset_has_labels(d) ? CLI_COUNT(f->n_labels, "sample", "samples") : "none");
    puts(plx_dataset_has_truth(d) ? CLI_COUNT(f->n_truth, "sample", "samples") : "none");
    if (f->n_subset || f->n_mutex)
        printf("hierarchy: %s, %s\n", CLI_COUNT(f->n_subset, "subset pair", "subset pairs"),
               CLI_COUNT(f->n_mutex, "exclusive pair", "exclusive pairs"));
    print_views(f);
    print_zero_rows(f);
    print_patterns(f);
    print_classes(f);
}

/* ---- for programs ---- */

static void json_views(cli_json *j, const facts *f)
{
    plx_view_info v = PLX_VIEW_INFO_INIT;
    cli_json_open(j, "views", '[');
    for (plx_index i = 0; plx_dataset_view_info(&v, f->data, i) == PLX_OK; i++) {
        cli_json_open(j, NULL, '{');
        cli_json_text(j, "name", v.name);
        cli_json_text(j, "kind", kind_text(v.kind));
        cli_json_bool(j, "sparse", v.sparse);
        cli_json_whole(j, "rows", v.rows);
        cli_json_whole(j, "features", v.cols);
        cli_json_whole(j, "nonzeros", v.nonzeros);
        cli_json_whole(j, "present", v.present);
        cli_json_whole(j, "missing_values", v.missing_values);
        cli_json_whole(j, "zero_rows", f->zero[i]);
        cli_json_real(j, "cost", v.cost);
        cli_json_close(j, '}');
    }
    cli_json_close(j, ']');
}

static void json_patterns(cli_json *j, const facts *f)
{
    cli_json_open(j, "patterns", '[');
    for (plx_index p = 0; p < f->n_patterns; p++) {
        cli_json_open(j, NULL, '{');
        cli_json_open(j, "views", '[');
        for (plx_index v = 0; v < plx_dataset_views(f->data); v++) {
            plx_view_info info = PLX_VIEW_INFO_INIT;
            if (plx_dataset_present(f->data, v)[f->patterns[p].sample] &&
                plx_dataset_view_info(&info, f->data, v) == PLX_OK)
                cli_json_text(j, NULL, info.name);
        }
        cli_json_close(j, ']');
        cli_json_whole(j, "samples", f->patterns[p].count);
        cli_json_close(j, '}');
    }
    cli_json_close(j, ']');
}

static void json_classes(cli_json *j, const facts *f)
{
    cli_json_open(j, "classes", '[');
    for (plx_index c = 0; c < plx_dataset_classes(f->data); c++) {
        cli_json_open(j, NULL, '{');
        cli_json_text(j, "name", plx_dataset_class(f->data, c));
        cli_json_whole(j, "truth", f->truth[c]);
        cli_json_whole(j, "labels", f->labels[c]);
        cli_json_close(j, '}');
    }
    cli_json_close(j, ']');
}

static int write_json(cli_session *s, const facts *f, const char *path)
{
    cli_json_file out;
    cli_json *j = &out.j;
    int code = cli_json_file_open(&out, s);
    if (code) return code;
    cli_json_text(j, "name", plx_dataset_name(f->data));
    cli_json_whole(j, "samples", plx_dataset_samples(f->data));
    cli_json_bool(j, "ids", plx_dataset_id(f->data, 0) != NULL);
    cli_json_whole(j, "labelled", f->n_labels);
    cli_json_whole(j, "with_truth", f->n_truth);
    json_views(j, f);
    json_patterns(j, f);
    json_classes(j, f);
    cli_json_open(j, "hierarchy", '{');
    cli_json_whole(j, "subset", f->n_subset);
    cli_json_whole(j, "mutex", f->n_mutex);
    cli_json_close(j, '}');
    return cli_json_file_write(&out, s, path);
}

/* ---- the verb ---- */

static int run(const cli_args *args)
{
    static const char *const outputs[] = {"json", NULL};
    const char *json = cli_value(args, "json");
    cli_session s;
    plx_dataset *data = NULL;
    facts f = {0};
    int code = cli_session_open(&s, args);
    if (code) return code;
    s.own_rows = cli_peers != NULL;
    if (cli_writes()) code = cli_check_outputs(&s, outputs);
    if (!code && cli_is_conll(args, args->positional[0])) {
        if (cli_writes()) code = cli_conll_info(&s, args->positional[0], json);
        cli_session_close(&s);
        return code;
    }
    if (!code) code = cli_read_data(&data, &s, args->positional[0]);
    if (!code) code = gather(&f, &s, data);
    if (!code && json && cli_writes()) code = write_json(&s, &f, json);
    else if (!code && !json) print_facts(&f);
    if (!code) cli_say_warnings(&s);
    release(&f);
    plx_dataset_destroy(data);
    cli_session_close(&s);
    return code;
}

static const cli_positional positionals[] = {
    {"DATA", CLI_FILE, false, "A data set directory, its manifest, or a single file.", NULL}, CLI_END_POSITIONALS};
static const cli_option options[] = {
    {.name = "json", .value = "FILE", .kind = CLI_FILE, .help = "Write everything as JSON (- for standard output)."},
    {.name = "quiet", .kind = CLI_FLAG, .help = "No warnings."},
    CLI_END_OPTIONS};
static const cli_option *const option_sets[] = {options, cli_memory_options, cli_read_options, NULL};
static const cli_example examples[] = {
    {"parallax data info data/cora", "What is in there?"},
    {"parallax data info table.csv --label-column class --json -", "The same of a single table, for a program."},
    CLI_END_EXAMPLES};

const cli_verb cli_verb_data_info = {
    .group = "data",
    .name = "info",
    .summary = "Tell what a data set holds.",
    .description = "Prints samples, views with kind, size and sparsity, which views are missing how often, classes and "
                   "labels; of tagged "
                   "text (CoNLL) sentences, tokens and tags.",
    .positionals = positionals,
    .option_sets = option_sets,
    .examples = examples,
    .run = run,
};
