#include "io/dataset_file.h"

#include <dirent.h>
#include <string.h>

#include "core/file.h"
#include "data/dataset_impl.h"
#include "io/matrix_kind.h"
#include "io/h5mu.h"
#include "io/linqs.h"
#include "io/manifest.h"
#include "io/mat.h"
#include "io/matrix_file.h"
#include "io/text_counts.h"

typedef enum format { UNKNOWN, MANIFEST, H5MU, MAT, LINQS, TEXT, MATRIX, CONLL } format;

/* ---- which format ---- */

static format by_name(const char *path)
{
    static const struct {
        const char *ending;
        format format;
    } endings[] = {{".json", MANIFEST}, {".h5mu", H5MU}, {".h5ad", H5MU},   {".mat", MAT},     {".content", LINQS},
                   {".cites", LINQS},   {".txt", TEXT},  {".txt.gz", TEXT}, {".conll", CONLL}, {".conll.gz", CONLL}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (plx__ends_with(path, endings[i].ending)) return endings[i].format;
    return MATRIX;
}

static format by_word(const char *word)
{
    static const struct {
        const char *word;
        format format;
    } words[] = {{"manifest", MANIFEST}, {"h5mu", H5MU},  {"h5ad", H5MU},       {"mat", MAT},
                 {"linqs", LINQS},       {"text", TEXT},  {"csv", MATRIX},      {"tsv", MATRIX},
                 {"mtx", MATRIX},        {"npy", MATRIX}, {"svmlight", MATRIX}, {"conll", CONLL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) return words[i].format;
    return UNKNOWN;
}

static bool holds(const char *directory, const char *ending)
{
    DIR *dir = opendir(directory);
    const struct dirent *entry = NULL;
    bool found = false;
    while (dir && !found && (entry = readdir(dir))) found = plx__ends_with(entry->d_name, ending);
    if (dir) closedir(dir);
    return found;
}

/* ---- a single matrix or text file as a data set of one view ---- */

static plx_status view_name(const char **out, plx_context *ctx, const char *path)
{
    char *name = NULL;
    const char *base = plx__path_base(path);
    size_t len = strcspn(base, ".");
    PLX_TRY(plx__arena_textn((const char **)&name, plx__scratch(ctx), len ? base : "view", len ? len : 4));
    for (char *p = name; *p; p++)
        if (strchr(",:|+= \t", *p)) *p = '_';
    if (strcmp(name, "concat") == 0 || strcmp(name, "joined") == 0 || strcmp(name, "label") == 0)
        name[0] = (char)(name[0] - 'a' + 'A');
    *out = name;
    return PLX_OK;
}

static plx_status add_table(plx_dataset *data, plx_context *ctx, const char *name, const plx__table *t)
{
    plx_view_kind kind = plx__guess_kind(t);
    if (t->sparse) return plx__dataset_add_sparse(data, ctx, name, kind, plx__ccsr(t->csr), t->col_names, NULL);
    return plx__dataset_add_dense(data, ctx, name, kind, plx__cmat(t->dense), t->col_names, NULL);
}

static plx_status table_dataset(plx_dataset **out, plx_context *ctx, const char *path, const plx__table *t,
                                const plx__table *text)
{
    const char *name = NULL;
    plx_index rows = t->sparse ? t->csr.rows : t->dense.rows, cols = t->sparse ? t->csr.cols : t->dense.cols;
    PLX_TRY(view_name(&name, ctx, path));
    PLX_TRY(plx__dataset_create(out, ctx, name, text && cols == 0 ? text->csr.rows : rows));
    plx_status st = PLX_OK;
    if (cols > 0 || !text) st = add_table(*out, ctx, name, t);
    if (st == PLX_OK && text) st = add_table(*out, ctx, strcmp(name, "text") == 0 && cols > 0 ? "words" : "text", text);
    if (st == PLX_OK && t->row_names) st = plx__dataset_set_ids(*out, ctx, t->row_names);
    if (st == PLX_OK && t->labels) st = plx__dataset_set_labels(*out, ctx, t->labels);
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}

static plx_status count_column(plx__table *out, plx_context *ctx, plx__arena *arena, const char *const *docs,
                               plx_index n, const char *options)
{
    plx__text_options o;
    size_t *lens = NULL;
    PLX_TRY(plx__text_options_parse(&o, ctx, arena, options));
    PLX_TRY(PLX__ARENA_NEW(&lens, arena, n));
    for (plx_index i = 0; i < n; i++) lens[i] = docs[i] ? strlen(docs[i]) : 0;
    return plx__text_counts(out, ctx, arena, docs, lens, n, &o);
}

static plx_status matrix_dataset(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx_read_options *options)
{
    plx__table table, text;
    plx__matrix_options o = {.format = options->format};
    o.csv = (plx__csv_options){.id = options->id, .label = options->label, .text = options->text};
    o.csv.hint = "; columns of classes, ids or text are named by the options label, id and text";
    if (options->id || options->label || options->text) o.csv.header = PLX__HEADER_YES;
    PLX_TRY(plx__matrix_file_read(&table, ctx, arena, path, &o));
    if (!options->text) return table_dataset(out, ctx, path, &table, NULL);
    PLX_TRY(count_column(&text, ctx, arena, table.texts, table.dense.rows, options->text_options));
    return table_dataset(out, ctx, path, &table, &text);
}

static plx_status text_dataset(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                               const plx_read_options *options)
{
    plx__table table;
    if (plx__is_directory(path)) PLX_TRY(plx__text_read_directory(&table, ctx, arena, path, options->text_options));
    else PLX_TRY(plx__text_read_lines(&table, ctx, arena, path, options->text_options));
    return table_dataset(out, ctx, path, &table, NULL);
}

/* ---- dispatch ---- */

static plx_status directory_format(format *out, const char **path, plx_context *ctx, plx__arena *arena)
{
    const char *manifest = NULL;
    PLX_TRY(plx__path_join(&manifest, arena, *path, "dataset.json"));
    if (plx__file_exists(manifest)) {
        *out = MANIFEST;
        *path = manifest;
    } else if (holds(*path, ".content")) {
        *out = LINQS;
    } else if (holds(*path, ".txt")) {
        *out = TEXT;
    } else {
        PLX_FAIL(ctx, PLX_E_IO, "%s: there is no dataset.json in this directory; name a manifest or a data file",
                 *path);
    }
    return PLX_OK;
}

static plx_status dispatch(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                           const plx_read_options *options)
{
    format f = UNKNOWN;
    if (options->format) {
        f = by_word(options->format);
        if (f == UNKNOWN)
            PLX_FAIL(
                ctx, PLX_E_ARG,
                "format = %s: must be manifest, h5mu, h5ad, mat, linqs, text, csv, tsv, mtx, npy, svmlight or conll",
                options->format);
    } else if (plx__is_directory(path)) {
        PLX_TRY(directory_format(&f, &path, ctx, arena));
    } else {
        f = by_name(path);
    }
    switch (f) {
    case MANIFEST: return plx__manifest_read(out, ctx, path, options);
    case H5MU: return plx__h5mu_read(out, ctx, path, options);
    case MAT: return plx__mat_read(out, ctx, path, options);
    case LINQS: return plx__linqs_read(out, ctx, path);
    case CONLL:
        PLX_FAIL(ctx, PLX_E_DATA, "%s: tagged text has tokens, not views; read it as tagged text (plx_conll_read())",
                 path);
    case TEXT: return text_dataset(out, ctx, arena, path, options);
    default: return matrix_dataset(out, ctx, arena, path, options);
    }
}

plx_status plx__dataset_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *given)
{
    plx_read_options options = PLX_READ_OPTIONS_INIT;
    plx__arena arena;
    *out = NULL;
    PLX_TRY(plx__take_options(&options, sizeof options, ctx, given, "PLX_READ_OPTIONS_INIT"));
    if (options.join != PLX_JOIN_UNION && options.join != PLX_JOIN_INTERSECTION)
        PLX_FAIL(ctx, PLX_E_ARG, "read options: join = %d is neither union nor intersection", (int)options.join);
    plx__arena_init(&arena, ctx);
    plx_status st = dispatch(out, ctx, &arena, path, &options);
    plx__arena_free(&arena);
    return st;
}

/* A directory called x.csv is nobody's wish. */
static bool has_file_ending(const char *path)
{
    static const char *const endings[] = {".csv", ".tsv",   ".mtx",  ".npy",     ".svm",   ".svmlight", ".libsvm",
                                          ".mat", ".h5ad",  ".json", ".content", ".cites", ".txt",      ".gz",
                                          ".plx", ".conll", ".npz",  ".h5",      ".hdf5",  ".zip",      ".parquet"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (plx__ends_with(path, endings[i])) return true;
    return false;
}

plx_status plx__dataset_write(plx_context *ctx, const plx_dataset *data, const char *path)
{
    if (plx__ends_with(path, ".h5mu")) return plx__h5mu_write(ctx, data, path);
    if (has_file_ending(path))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "%s: data sets are written as an .h5mu file or as a directory, whose name must not end like a file's",
                 path);
    return plx__manifest_write(ctx, data, path);
}
