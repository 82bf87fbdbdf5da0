/*
 * A data set from whatever the user points at: which format it is, which options that format can follow, and the files
 * the data set consists of.
 */
#include "io/dataset_file.h"

#include <dirent.h>
#include <string.h>

#include "core/file.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "io/matrix_kind.h"
#include "io/guarded_read.h"
#include "io/h5mu.h"
#include "io/linqs.h"
#include "io/manifest.h"
#include "io/matrix_file.h"

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

/* ---- a single matrix or text file as a data set ---- */

static plx_status file_name(const char **out, plx_context *ctx, const char *path)
{
    const char *base = plx__path_base(path);
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0) base = "stdin";
    return plx__view_name(out, plx__scratch(ctx), base, strcspn(base, "."));
}

static plx_status table_dataset(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                                const plx__table *t, const plx__read_request *request)
{
    const char *name = NULL;
    plx__loose_view *views = NULL;
    plx__shared *block = NULL;
    plx_index count = 0, rows = plx__table_rows(t);
    plx_status st = PLX_OK;
    PLX_TRY(file_name(&name, ctx, path));
    PLX_TRY(PLX__ARENA_NEW(&views, arena, 1 + t->n_texts));
    PLX_TRY(plx__table_views(views, &count, ctx, arena, t, path, name, false, NULL, request));
    PLX_TRY(plx__dataset_create(out, ctx, name, rows));
    const plx__sample_list in_order = {.n = rows};
    for (plx_index v = 0; v < count; v++) views[v].ids = NULL;
    PLX_GOTO(plx__join_hand_over(&block, ctx, arena, views, count, &in_order));
    for (plx_index v = 0; v < count; v++) PLX_GOTO(plx__join_add(*out, ctx, &views[v], &in_order));
    if (t->row_names) PLX_GOTO(plx__dataset_set_ids(*out, ctx, t->row_names));
    if (t->labels) PLX_GOTO(plx__dataset_set_labels(*out, ctx, t->labels));
    if (t->truth) PLX_GOTO(plx__dataset_set_truth(*out, ctx, t->truth));
done:
    plx__shared_drop(block);
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}

static plx_status matrix_dataset(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx__read_request *request)
{
    const plx_read_options *o = &request->o;
    plx__table table;
    const char **known = NULL;
    plx__matrix_options how = {.format = o->format, .in_order = true};
    how.csv = (plx__csv_options){.id = o->id, .label = o->label, .truth = o->truth, .text = o->text};
    how.csv.columns = o->columns;
    how.csv.drop = o->drop;
    how.csv.found = request->found;
    how.csv.hint = "; say which columns hold ids, labels or text, or leave it out";
    PLX_TRY(PLX__ARENA_NEW(&known, arena, request->n_fitted));
    for (plx_index k = 0; k < request->n_fitted; k++) known[k] = request->fitted[k].view;
    how.csv.known_texts = known;
    how.csv.n_known_texts = request->n_fitted;
    PLX_TRY(plx__matrix_file_read(&table, ctx, arena, path, &how));
    return table_dataset(out, ctx, arena, path, &table, request);
}

static plx_status text_dataset(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                               const plx__read_request *request)
{
    plx__table table;
    plx__text_options o;
    const char *name = NULL, *as_text = NULL;
    PLX_TRY(file_name(&name, ctx, path));
    PLX_TRY(plx__text_recipe_for(&o, &as_text, ctx, arena, request, name, NULL));
    if (plx__is_directory(path)) PLX_TRY(plx__text_read_directory(&table, ctx, arena, path, &o));
    else PLX_TRY(plx__text_read_lines(&table, ctx, arena, path, &o));
    PLX_TRY(table_dataset(out, ctx, arena, path, &table, request));
    return plx__arena_text(&(*out)->views[0].text, &(*out)->arena, as_text);
}

/* ---- options without effect ---- */

static const char *const format_names[] = {"a file of this format", "a manifest",  "an .h5mu or .h5ad file",
                                           "a .mat file",           "LINQS files", "a text file",
                                           "a matrix file",         "tagged text"};

/* What a format cannot do with an option is told, not ignored. `found`: then an option may be meant for another file. */
static plx_status check_effect(plx_context *ctx, const char *path, format f, const plx__read_request *request)
{
    const plx_read_options *o = &request->o;
    bool table = f == MATRIX, frame = f == H5MU, text = f == TEXT || table || f == MANIFEST;
    const struct {
        const char *value, *what;
        bool fits, shared;
    } rules[] = {{o->id, "id column", table, true},
                 {o->label, "label column", table || frame || f == MAT, true},
                 {o->truth, "truth column", table || frame, true},
                 {o->text, "text column", table, true},
                 {o->columns, "list of columns", table, false},
                 {o->drop, "column to leave out", table, true},
                 {o->text_options, "text option", text && f != MANIFEST, true}};
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (rules[k].value && !rules[k].fits && !(rules[k].shared && request->found))
            PLX_FAIL(ctx, PLX_E_ARG, "%s: the %s '%s' has no effect on %s%s", path, rules[k].what, rules[k].value,
                     format_names[f], f == MANIFEST ? ", which says so itself" : "");
    return PLX_OK;
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

static plx_status find_format(format *out, const char **path, plx_context *ctx, plx__arena *arena, const char *asked)
{
    *out = UNKNOWN;
    if (asked) {
        *out = by_word(asked);
        if (*out == UNKNOWN)
            PLX_FAIL(
                ctx, PLX_E_ARG,
                "format = %s: must be manifest, h5mu, h5ad, mat, linqs, text, csv, tsv, mtx, npy, svmlight or conll",
                asked);
        return PLX_OK;
    }
    if (plx__is_directory(*path)) return directory_format(out, path, ctx, arena);
    *out = by_name(*path);
    return PLX_OK;
}

/* Formats of other programs that there is no reader for. */
static plx_status check_foreign(plx_context *ctx, const char *path)
{
    static const struct {
        const char *ending, *what, *remedy;
    } foreign[] = {
        {".parquet", "Parquet", "python3 -c \"import pandas; pandas.read_parquet('FILE').to_csv('data.csv')\""},
        {".feather", "Arrow", "python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('data.csv')\""},
        {".arrow", "Arrow", "python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('data.csv')\""},
        {".xlsx", "Excel", "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('data.csv')\""},
        {".xls", "Excel", "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('data.csv')\""},
        {".ods", "OpenDocument", "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('data.csv')\""},
        {".dta", "Stata", "python3 -c \"import pandas; pandas.read_stata('FILE').to_csv('data.csv')\""},
        {".sav", "SPSS", "python3 -c \"import pandas; pandas.read_spss('FILE').to_csv('data.csv')\""},
        {".pkl", "pickle", "python3 -c \"import pandas; pandas.read_pickle('FILE').to_csv('data.csv')\""},
        {".rds", "R", "Rscript -e \"write.csv(readRDS('FILE'), 'data.csv')\""},
        {".plx", "a model", NULL}};
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++) {
        if (!plx__ends_with(path, foreign[k].ending) || !plx__file_exists(path)) continue;
        const char *mark = foreign[k].remedy ? strstr(foreign[k].remedy, "FILE") : NULL;
        if (!mark) PLX_FAIL(ctx, PLX_E_DATA, "%s: this is a model, not data; it labels or transforms data", path);
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: %s files cannot be read; write a csv with %.*s%s%s", path,
                 foreign[k].what, (int)(mark - foreign[k].remedy), foreign[k].remedy, path, mark + 4);
    }
    return PLX_OK;
}

static plx_status note_found(const plx__read_request *request, const char *column)
{
    plx_index existing = -1;
    return column ? plx__map_add(request->found, column, 1, &existing) : PLX_OK;
}

/* Beside other files the columns of labels and truth may be in one of those: then without them. */
static plx_status read_guarded(plx_dataset **out, plx_context *ctx, const char *path, const plx__read_request *request,
                               const plx__file_reader *entry)
{
    enum { LABEL = 1, TRUTH = 2, NEITHER = LABEL | TRUTH };
    plx_read_options o = request->o;
    plx_status st = plx__guarded_read(out, ctx, path, &o, entry);
    unsigned given = (o.label ? LABEL : 0U) | (o.truth ? TRUTH : 0U);
    for (unsigned without = LABEL; request->found && st == PLX_E_DATA && without <= NEITHER; without++) {
        if (without & ~given) continue;
        o.label = without & LABEL ? NULL : request->o.label;
        o.truth = without & TRUTH ? NULL : request->o.truth;
        plx__clear_error(ctx);
        st = plx__guarded_read(out, ctx, path, &o, entry);
    }
    if (st != PLX_OK || !request->found) return st;
    PLX_TRY(note_found(request, o.label));
    return note_found(request, o.truth);
}

plx_status plx__dataset_read_one(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx__read_request *request)
{
    format f = UNKNOWN;
    if (!request->o.format) PLX_TRY(check_foreign(ctx, path));
    if (strcmp(path, "-") == 0) path = "/dev/stdin";
    PLX_TRY(find_format(&f, &path, ctx, arena, request->o.format));
    PLX_TRY(check_effect(ctx, path, f, request));
    switch (f) {
    case MANIFEST: return plx__manifest_read(out, ctx, path, request);
    case H5MU: return read_guarded(out, ctx, path, request, &plx__h5mu_reader_entry);
    case MAT: return read_guarded(out, ctx, path, request, &plx__mat_reader_entry);
    case LINQS: return plx__linqs_read(out, ctx, path);
    case CONLL:
        PLX_FAIL(ctx, PLX_E_DATA, "%s: tagged text has tokens, not views; read it as tagged text (plx_conll_read())",
                 path);
    case TEXT: return text_dataset(out, ctx, arena, path, request);
    default: return matrix_dataset(out, ctx, arena, path, request);
    }
}

static plx_status read_all(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                           plx__read_request *request)
{
    if (request->o.n_views || request->o.labels_file) return plx__dataset_read_joined(out, ctx, arena, path, request);
    if (!path) PLX_FAIL(ctx, PLX_E_ARG, "neither a path nor views were given; there is nothing to read");
    return plx__dataset_read_one(out, ctx, arena, path, request);
}

plx_status plx__read_options_copy(plx_read_options *out, plx_context *ctx, const plx_read_options *given)
{
    *out = (plx_read_options)PLX_READ_OPTIONS_INIT;
    PLX_TRY(plx__take_options(out, sizeof *out, ctx, given, "PLX_READ_OPTIONS_INIT"));
    if (out->join != PLX_JOIN_UNION && out->join != PLX_JOIN_INTERSECTION)
        PLX_FAIL(ctx, PLX_E_ARG, "read options: join = %d is neither union nor intersection", (int)out->join);
    if (out->n_views < 0 || (out->n_views && !out->views))
        PLX_FAIL(ctx, PLX_E_ARG, "the list of views of the read options is NULL or has a negative length");
    return PLX_OK;
}

static plx_status check_text_options(plx_context *ctx, const plx_dataset *data, const char *options)
{
    for (plx_index v = 0; v < data->n_views; v++)
        if (data->views[v].text) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_ARG, "text options '%s': none of the views is text; name the columns that are", options);
}

/* The files that were opened belong to the data set from now on. */
static plx_status keep_files(plx_dataset *data, const plx__file_log *log)
{
    const char **files = NULL;
    PLX_TRY(PLX__ARENA_NEW(&files, &data->arena, log->count));
    for (const plx__file_name *f = log->last; f; f = f->before) {
        PLX_TRY(plx__arena_text(&files[data->n_files], &data->arena, f->path));
        data->n_files++;
    }
    data->files = files;
    return PLX_OK;
}

plx_status plx__dataset_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *given,
                             const plx__text_recipe *fitted, plx_index n_fitted)
{
    plx__read_request request = {.fitted = fitted, .n_fitted = n_fitted};
    plx__arena arena, names; /* what is read may go over to the data set, or be given back before the end */
    plx__file_log log = {.arena = &names};
    *out = NULL;
    PLX_TRY(plx__read_options_copy(&request.o, ctx, given));
    plx__arena_init(&arena, ctx);
    plx__arena_init(&names, ctx);
    ctx->files = &log;
    if (request.o.own_rows && plx__ranks(ctx) > 1)
        ctx->share = (plx__row_share){.rank = plx__rank(ctx), .ranks = plx__ranks(ctx)};
    plx_status st = plx__share_settle(ctx, read_all(out, ctx, &arena, path, &request));
    ctx->files = NULL;
    ctx->share = (plx__row_share){0};
    if (st == PLX_OK && request.o.text_options) st = check_text_options(ctx, *out, request.o.text_options);
    if (st == PLX_OK) st = keep_files(*out, &log);
    if (st == PLX_OK) st = plx__dataset_agree(*out, ctx);
    plx__arena_free(&names);
    plx__arena_free(&arena);
    if (st != PLX_OK) {
        plx__dataset_destroy(*out);
        *out = NULL;
    }
    return st;
}

/* A directory called x.csv is a slip. */
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
