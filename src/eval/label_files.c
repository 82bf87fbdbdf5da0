/*
 * A file is a table when its first line says so (a column `label`, with `id` or a table's ending), else one
 * label per line; predictions written by the command are read back with their scores.
 */
#include "eval/label_files.h"

#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "data/lines.h"

plx_status plx__label_list_read(plx__label_list *out, plx__arena *arena, const char *path, bool empty_allowed)
{
    PLX_TRY(plx__lines_read(&out->labels, &out->count, arena->ctx, arena, path));
    if (out->count == 0) PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: holds no labels; expected one per line", path);
    for (plx_index i = 0; i < out->count && !empty_allowed; i++)
        if (!*out->labels[i])
            PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: line %lld is empty; expected a label, or ? where there is none",
                     path, (long long)i + 1);
    return PLX_OK;
}

/* ---- tables ---- */

static char table_delimiter(const char *path)
{
    return plx__ends_with(path, ".tsv") || plx__ends_with(path, ".tsv.gz") ? '\t' : ',';
}

plx_status plx__text_table_read(plx__text_table *out, plx__arena *arena, const char *path)
{
    plx__csv_options o = {.delimiter = table_delimiter(path), .header = PLX__HEADER_YES};
    PLX_TRY(plx__csv_read_strings(out, arena->ctx, arena, path, &o));
    for (plx_index j = 0; j < out->cols; j++)
        if (!out->header[j][0])
            PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: column %lld has no name in the header", path, (long long)j + 1);
    return PLX_OK;
}

plx_status plx__table_numbers(plx_mat *out, plx__arena *arena, const char *path, const plx__text_table *table,
                              const plx_index *columns, plx_index count)
{
    PLX_TRY(plx__arena_mat(out, arena, table->rows, count));
    for (plx_index i = 0; i < table->rows; i++)
        for (plx_index j = 0; j < count; j++) {
            const char *cell = table->cells[i * table->cols + columns[j]];
            if (!plx__parse_double(&out->data[i * out->ld + j], cell))
                PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: line %lld, column '%s': '%s' is not a number", path,
                         plx__table_line(i), table->header[columns[j]], cell);
        }
    return PLX_OK;
}

plx_status plx__number_table_read(plx__number_table *out, plx__arena *arena, const char *path)
{
    plx__text_table table;
    plx_index *all = NULL;
    *out = (plx__number_table){.header = NULL};
    PLX_TRY(plx__text_table_read(&table, arena, path));
    PLX_TRY(plx__arena_i64(&all, arena, table.cols));
    for (plx_index j = 0; j < table.cols; j++) all[j] = j;
    out->header = table.header;
    return plx__table_numbers(&out->values, arena, path, &table, all, table.cols);
}

/* ---- predictions ---- */

bool plx__is_named_table(const char *path)
{
    return plx__ends_with(path, ".csv") || plx__ends_with(path, ".csv.gz") || table_delimiter(path) == '\t';
}

/* The fields of the first line; none when it is no line of CSV, like a label that begins with a quote. */
plx_status plx__first_fields(plx__label_list *out, plx__arena *arena, const char *path)
{
    plx__bytes bytes;
    plx__strings cells = {0};
    plx__csv_options o = {.delimiter = table_delimiter(path), .header = PLX__HEADER_NO};
    size_t len = 0;
    *out = (plx__label_list){NULL, 0};
    PLX_TRY(plx__bytes_read(&bytes, arena->ctx, path));
    const char *cursor = bytes.data, *line = NULL;
    plx_status st = PLX_OK;
    if (plx__next_line(&line, &len, &cursor, bytes.data + bytes.size))
        st = plx__csv_parse_strings(&cells, arena->ctx, arena, path, line, len, &o);
    plx__bytes_free(&bytes, arena->ctx);
    if (st == PLX_E_FORMAT) plx__clear_error(arena->ctx);
    else if (st != PLX_OK) return st;
    else if (cells.rows == 1) *out = (plx__label_list){cells.cells, cells.cols};
    return PLX_OK;
}

/* Is the first line a header with a column `label`, and the file a table by its name or a column `id`? */
static plx_status looks_like_predictions(bool *yes, plx__arena *arena, const char *path)
{
    plx__label_list first;
    bool id = false, label = false;
    PLX_TRY(plx__first_fields(&first, arena, path));
    for (plx_index j = 0; j < first.count; j++) {
        id |= strcmp(first.labels[j], "id") == 0;
        label |= strcmp(first.labels[j], "label") == 0;
    }
    *yes = label && (id || plx__is_named_table(path));
    return PLX_OK;
}

static plx_status take_scores(plx__number_table *out, plx__arena *arena, const char *path, const plx__text_table *table)
{
    static const char prefix[] = "score_";
    plx_index *columns = NULL, count = 0;
    const char **names = NULL;
    PLX_TRY(plx__arena_i64(&columns, arena, table->cols));
    PLX_TRY(PLX__ARENA_NEW(&names, arena, table->cols));
    for (plx_index j = 0; j < table->cols; j++) {
        if (!plx__starts_with(table->header[j], prefix)) continue;
        names[count] = table->header[j] + strlen(prefix);
        columns[count++] = j;
    }
    out->header = names;
    return plx__table_numbers(&out->values, arena, path, table, columns, count);
}

static plx_status read_predictions(plx__prediction_file *out, plx__arena *arena, const char *path, bool empty_allowed)
{
    plx__text_table table;
    const char **labels = NULL, **ids = NULL;
    PLX_TRY(plx__text_table_read(&table, arena, path));
    plx_index column = plx__strings_column(&table, "label"), id = plx__strings_column(&table, "id");
    PLX_TRY(PLX__ARENA_NEW(&labels, arena, table.rows));
    if (id >= 0) PLX_TRY(PLX__ARENA_NEW(&ids, arena, table.rows));
    for (plx_index i = 0; i < table.rows; i++) {
        labels[i] = table.cells[i * table.cols + column];
        if (ids) ids[i] = table.cells[i * table.cols + id];
        if (!*labels[i] && !empty_allowed)
            PLX_FAIL(arena->ctx, PLX_E_FORMAT,
                     "%s: line %lld, column 'label' is empty; expected a label, or ? for none", path,
                     plx__table_line(i));
    }
    out->list = (plx__label_list){labels, table.rows};
    out->ids = ids;
    return take_scores(&out->scores, arena, path, &table);
}

plx_status plx__prediction_file_read(plx__prediction_file *out, plx__arena *arena, const char *path, bool empty_allowed)
{
    bool table = false;
    *out = (plx__prediction_file){.list = {NULL, 0}};
    PLX_TRY(looks_like_predictions(&table, arena, path));
    return table ? read_predictions(out, arena, path, empty_allowed)
                 : plx__label_list_read(&out->list, arena, path, empty_allowed);
}

/* Blanks after a comma are not part of the next entry. */
static void drop_blanks(char *text)
{
    char *to = text;
    bool quoted = false, start = true;
    for (const char *p = text; *p; p++) {
        if (*p == '"') quoted = !quoted;
        if (start && !quoted && (*p == ' ' || *p == '\t')) continue;
        start = !quoted && *p == ',';
        *to++ = *p;
    }
    *to = '\0';
}

plx_status plx__text_list(plx__label_list *out, plx__arena *arena, const char *what, const char *text)
{
    plx__strings cells;
    plx__csv_options o = {.delimiter = ',', .header = PLX__HEADER_NO};
    char *copy = NULL;
    *out = (plx__label_list){NULL, 0};
    PLX_TRY(plx__arena_textn((const char **)&copy, arena, text, strlen(text)));
    drop_blanks(copy);
    if (!copy[0]) return PLX_OK;
    PLX_TRY(plx__csv_parse_strings(&cells, arena->ctx, arena, what, copy, strlen(copy), &o));
    if (cells.rows != 1) PLX_FAIL(arena->ctx, PLX_E_ARG, "%s: '%s' is not one line", what, text);
    *out = (plx__label_list){cells.cells, cells.cols};
    return PLX_OK;
}

bool plx__is_cluster_name(const char *label)
{
    if (strcmp(label, "noise") == 0 || strcmp(label, "?") == 0) return true;
    return label[0] == 'c' && label[1] && strspn(label + 1, "0123456789") == strlen(label + 1);
}

plx_status plx__prediction_kind_of(plx__prediction_kind *out, plx__arena *arena, const char *const *truth,
                                   const char *const *pred, plx_index n)
{
    plx__map classes;
    plx_index existing = -1;
    bool named = true;
    *out = PLX__PREDICTS_CLASSES;
    PLX_TRY(plx__map_init(&classes, arena, 0));
    for (plx_index i = 0; i < n; i++) PLX_TRY(plx__map_add(&classes, truth[i], i, &existing));
    for (plx_index i = 0; i < n; i++) {
        if (strcmp(pred[i], "?") != 0 && plx__map_get(&classes, pred[i]) >= 0) return PLX_OK;
        named = named && plx__is_cluster_name(pred[i]);
    }
    *out = named ? PLX__PREDICTS_CLUSTERS : PLX__PREDICTS_STRANGERS;
    return PLX_OK;
}
