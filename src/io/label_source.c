/*
 * Labels from a file of their own.
 */
#include "io/label_source.h"

#include <string.h>

#include "data/dataset_impl.h"
#include "data/lines.h"
#include "io/csv.h"
#include "io/guarded_read.h"

static bool is_missing(const char *text)
{
    static const char *const words[] = {"", "?", "na", "nan", "n/a", "#n/a", "null"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k]) == strlen(text) && plx__same_letters(words[k], text, strlen(text))) return true;
    return false;
}

/* ---- a table ---- */

static plx_status label_column(plx_index *out, plx_context *ctx, const plx__strings *t, const plx__label_source *s,
                               plx_index id)
{
    char hint[160];
    static const char *const usual[] = {"label", "truth", "class"};
    *out = s->column ? plx__strings_find(t, s->column) : -1;
    for (int k = 0; !s->column && *out < 0 && k < 3; k++) *out = plx__strings_column(t, usual[k]);
    if (!s->column && *out < 0 && t->cols - (id >= 0) == 1) *out = id == 0 ? 1 : 0;
    if (*out >= 0) return PLX_OK;
    if (!s->column)
        PLX_FAIL(ctx, PLX_E_DATA, "%s has %lld columns and none is called label; say which one", s->file,
                 (long long)t->cols);
    PLX_FAIL(ctx, PLX_E_DATA, "%s: no column '%s'%s", s->file, s->column,
             plx__suggest(hint, sizeof hint, s->column, t->header, t->header ? t->cols : 0));
}

static plx_status table_rows(const char *const **texts, const char *const **ids, plx_index *rows, plx_context *ctx,
                             plx__arena *arena, const plx__label_source *s)
{
    plx__strings t;
    plx__csv_options how = {.header = PLX__HEADER_YES};
    plx_index id = -1, column = -1;
    const char **out = NULL, **names = NULL;
    PLX_TRY(plx__csv_read_strings(&t, ctx, arena, s->file, &how));
    PLX_TRY(plx__strings_id_column(&id, ctx, &t, s->id));
    if (id == -2 && plx__strings_column(&t, "id") >= 0) id = plx__strings_column(&t, "id");
    PLX_TRY(label_column(&column, ctx, &t, s, id));
    if (id == column) id = -1;
    PLX_TRY(PLX__ARENA_NEW(&out, arena, t.rows));
    PLX_TRY(PLX__ARENA_NEW(&names, arena, t.rows));
    for (plx_index i = 0; i < t.rows; i++) {
        const char *text = t.cells[i * t.cols + column];
        out[i] = is_missing(text) ? NULL : text;
        if (id >= 0) names[i] = t.cells[i * t.cols + id];
    }
    *texts = out;
    *ids = id >= 0 ? names : NULL;
    *rows = t.rows;
    return PLX_OK;
}

/* ---- other files ---- */

static plx_status frame_rows(const char *const **texts, const char *const **ids, plx_index *rows, plx_context *ctx,
                             plx__arena *arena, const plx__label_source *s)
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    plx_dataset *data = NULL;
    const char **out = NULL, **names = NULL;
    plx_status st = PLX_OK;
    o.label = s->column;
    PLX_TRY(plx__guarded_read(&data, ctx, s->file, &o, &plx__h5mu_reader_entry));
    const char *const *from = data->labels ? data->labels : data->truth;
    if (!from) {
        st = plx__fail(ctx, PLX_E_DATA, "%s has no labels; say which column of obs holds them", s->file);
        goto done;
    }
    PLX_GOTO(PLX__ARENA_NEW(&out, arena, data->n));
    PLX_GOTO(PLX__ARENA_NEW(&names, arena, data->n));
    for (plx_index i = 0; i < data->n; i++) {
        if (from[i]) PLX_GOTO(plx__arena_text(&out[i], arena, from[i]));
        if (data->ids) PLX_GOTO(plx__arena_text(&names[i], arena, data->ids[i]));
    }
    *texts = out;
    *ids = data->ids ? names : NULL;
    *rows = data->n;
done:
    plx__dataset_destroy(data);
    return st;
}

static plx_status line_rows(const char *const **texts, plx_index *rows, plx_context *ctx, plx__arena *arena,
                            const char *file)
{
    const char *const *lines = NULL;
    const char **out = NULL;
    PLX_TRY(plx__lines_read(&lines, rows, ctx, arena, file));
    PLX_TRY(PLX__ARENA_NEW(&out, arena, *rows));
    for (plx_index i = 0; i < *rows; i++) out[i] = is_missing(lines[i]) ? NULL : lines[i];
    *texts = out;
    return PLX_OK;
}

plx_status plx__label_source_rows(const char *const **texts, const char *const **ids, plx_index *rows, plx_context *ctx,
                                  plx__arena *arena, const plx__label_source *s)
{
    static const char *const tables[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz"};
    bool table = s->column != NULL;
    *ids = NULL;
    if (plx__ends_with(s->file, ".h5mu") || plx__ends_with(s->file, ".h5ad"))
        return frame_rows(texts, ids, rows, ctx, arena, s);
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) table = table || plx__ends_with(s->file, tables[k]);
    return table ? table_rows(texts, ids, rows, ctx, arena, s) : line_rows(texts, rows, ctx, arena, s->file);
}

plx_status plx__label_source_read(const char **to, plx_context *ctx, plx__arena *arena, const plx__label_source *s,
                                  const plx__sample_list *samples, const char *what)
{
    const char *const *texts = NULL, *const *ids = NULL;
    plx_index rows = 0;
    PLX_TRY(plx__label_source_rows(&texts, &ids, &rows, ctx, arena, s));
    if (ids && !samples->ids && rows != samples->n)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: labels by id need sample ids; give the data set or its views ids", s->file);
    if (ids && !samples->ids)
        plx__warn(ctx, "%s has ids and the data set has none: its rows are taken in the order of the samples", s->file);
    return plx__join_texts(to, ctx, samples, texts, samples->ids ? ids : NULL, rows, s->file, what);
}
