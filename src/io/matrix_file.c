/*
 * The format of a matrix file: by the ending of its name, else by its first bytes.
 */
#include "io/matrix_file.h"

#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "data/divided.h"
#include "io/mtx.h"
#include "io/npy.h"

typedef enum format { UNKNOWN = 0, CSV, TSV, MTX, NPY, SVMLIGHT } format;

static const struct {
    const char *name, *ending;
    format format;
} formats[] = {{"csv", ".csv", CSV},
               {"tsv", ".tsv", TSV},
               {"mtx", ".mtx", MTX},
               {"npy", ".npy", NPY},
               {"svmlight", ".svmlight", SVMLIGHT},
               {"svm", ".svm", SVMLIGHT},
               {"libsvm", ".libsvm", SVMLIGHT}};
enum { FORMATS = sizeof formats / sizeof *formats };

static const char *const KNOWN = "known are .csv .tsv .mtx .npy .svmlight (also .svm, .libsvm), each also with .gz";

static format by_name(const char *path)
{
    size_t len = strlen(path);
    if (plx__ends_with(path, ".gz")) len -= 3;
    for (int i = 0; i < FORMATS; i++) {
        size_t ending = strlen(formats[i].ending);
        if (len > ending && plx__same_letters(path + len - ending, formats[i].ending, ending)) return formats[i].format;
    }
    return UNKNOWN;
}

/* A text whose first line has an index:value pair after at most one other word. */
static bool looks_like_svmlight(const char *line, size_t len)
{
    const char *end = line + len, *colon = memchr(line, ':', len);
    int64_t index = 0;
    double value = 0;
    if (!colon) return false;
    const char *start = colon;
    while (start > line && start[-1] != ' ' && start[-1] != '\t') start--;
    if (plx__read_int64(&index, start, end) != colon || !plx__read_double(&value, colon + 1, end)) return false;
    const char *label_end = start;
    while (label_end > line && (label_end[-1] == ' ' || label_end[-1] == '\t')) label_end--;
    return !memchr(line, ' ', (size_t)(label_end - line)) && !memchr(line, '\t', (size_t)(label_end - line));
}

/* Binary data has control bytes in its first lines; then it is none of our text formats. */
static bool looks_like_text(const char *data, size_t size)
{
    for (size_t i = 0; i < size && i < 4096; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') return false;
    }
    return size > 0;
}

static format by_content(const char *data, size_t size)
{
    static const char banner[] = "%%MatrixMarket";
    if (size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0) return NPY;
    if (size >= sizeof banner - 1 && plx__same_letters(data, banner, sizeof banner - 1)) return MTX;
    if (!looks_like_text(data, size)) return UNKNOWN;
    const char *line = NULL, *cursor = data;
    size_t len = 0;
    while (plx__next_line(&line, &len, &cursor, data + size))
        if (len && line[0] != '#') return looks_like_svmlight(line, len) ? SVMLIGHT : CSV;
    return UNKNOWN;
}

static plx_status choose(format *out, plx_context *ctx, const char *path, const plx__bytes *bytes, const char *asked)
{
    *out = UNKNOWN;
    for (int i = 0; asked && i < FORMATS; i++)
        if (strcmp(asked, formats[i].name) == 0) *out = formats[i].format;
    if (asked && *out == UNKNOWN) PLX_FAIL(ctx, PLX_E_ARG, "format '%s' is not known; %s", asked, KNOWN);
    if (!asked) *out = by_name(path);
    if (*out == UNKNOWN && bytes->size == 0) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the file is empty", path);
    if (*out == UNKNOWN) *out = by_content(bytes->data, bytes->size);
    if (*out == UNKNOWN) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: neither name nor content tells the format; %s", path, KNOWN);
    return PLX_OK;
}

static plx_status parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path, const plx__bytes *bytes,
                        const plx__matrix_options *o)
{
    format chosen = UNKNOWN;
    plx__csv_options csv = o->csv;
    plx__svmlight_options svmlight = o->svmlight;
    csv.own_rows = svmlight.own_rows = o->in_order;
    PLX_TRY(choose(&chosen, ctx, path, bytes, o->format));
    switch (chosen) {
    case MTX:
        return o->in_order ? plx__mtx_parse_share(out, ctx, arena, path, bytes->data, bytes->size)
                           : plx__mtx_parse(out, ctx, arena, path, bytes->data, bytes->size);
    case NPY:
        return o->in_order ? plx__npy_parse_share(out, ctx, arena, path, bytes->data, bytes->size)
                           : plx__npy_parse(out, ctx, arena, path, bytes->data, bytes->size);
    case SVMLIGHT: return plx__svmlight_parse(out, ctx, arena, path, bytes->data, bytes->size, &svmlight);
    case TSV:
        if (o->format && !csv.delimiter) csv.delimiter = '\t';
        break;
    case CSV:
    case UNKNOWN: break;
    }
    return plx__csv_parse(out, ctx, arena, path, bytes->data, bytes->size, &csv);
}

static plx_status copy_texts(const char *const **texts, plx__arena *arena, plx_index count)
{
    const char **copy = NULL;
    if (!*texts) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&copy, arena, count));
    for (plx_index i = 0; i < count; i++)
        if ((*texts)[i]) PLX_TRY(plx__arena_text(&copy[i], arena, (*texts)[i]));
    *texts = copy;
    return PLX_OK;
}

/* The table with some of its rows, copied. */
static plx_status copy_share(plx__table *out, plx__arena *arena, const plx__table *from, plx_index begin, plx_index end)
{
    PLX_TRY(plx__table_share(out, arena, from, begin, end));
    PLX_TRY(copy_texts(&out->col_names, arena, plx__table_cols(from)));
    PLX_TRY(copy_texts(&out->labels, arena, plx__table_rows(from)));
    return copy_texts(&out->truth, arena, plx__table_rows(from));
}

/* Keeps the rows the context asks for and gives the memory of the others back, `mark` being where the table begins. Rows
 * with names may have to be brought into another order first, and text is counted over all of it. */
static plx_status keep_share(plx__table *table, plx_context *ctx, plx__arena *arena, plx__mark mark)
{
    plx_index begin = 0, end = 0;
    plx__table part;
    plx__arena aside;
    if (table->divided || table->row_names || table->n_texts ||
        !plx__share_wanted(&begin, &end, ctx, plx__table_rows(table)))
        return PLX_OK;
    plx__arena_init(&aside, ctx);
    plx_status st = copy_share(&part, &aside, table, begin, end);
    if (st == PLX_OK) {
        plx__arena_rewind(arena, mark);
        st = copy_share(table, arena, &part, begin, end);
    }
    plx__arena_free(&aside);
    return st;
}

plx_status plx__matrix_file_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx__matrix_options *options)
{
    static const plx__matrix_options automatic = {0};
    plx__bytes bytes;
    *out = (plx__table){0};
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx)), first = plx__arena_mark(arena);
    plx_status st = parse(out, ctx, arena, path, &bytes, options ? options : &automatic);
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    plx__bytes_free(&bytes, ctx);
    if (st == PLX_OK && options && options->in_order) st = keep_share(out, ctx, arena, first);
    return options && options->in_order ? plx__share_settle(ctx, st) : st;
}

plx_status plx__matrix_file_write(plx_context *ctx, const char *path, const plx__table *table)
{
    if (plx__ends_with(path, ".gz"))
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: gzipped files can be read but not written; leave .gz off", path);
    if (table->rows_in_all && (by_name(path) == MTX || by_name(path) == SVMLIGHT))
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: ranks write results together as .npy, .csv or .tsv only", path);
    switch (by_name(path)) {
    case MTX: return plx__mtx_write(ctx, path, table);
    case NPY: return plx__npy_write(ctx, path, table);
    case SVMLIGHT: return plx__svmlight_write(ctx, path, table);
    case TSV: return plx__csv_write_table(ctx, path, table, '\t');
    case CSV:
    case UNKNOWN: break;
    }
    return plx__csv_write_table(ctx, path, table, ',');
}
