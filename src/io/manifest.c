/*
 * Reading a manifest: the fields of the JSON, the views they name, joined by id, and what belongs to the samples.
 */
#include "io/manifest.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "data/divided.h"
#include "data/lines.h"
#include "io/guarded_read.h"
#include "io/label_source.h"
#include "io/matrix_file.h"

enum { MOST_PARTS = 64 };

typedef struct reader {
    plx_context *ctx;
    plx__arena *arena; /* of the reading, not of the data set */
    const char *path, *directory;
    const json_t *root;
    const plx__read_request *request;
} reader;

typedef struct view_list {
    plx__loose_view *at;
    plx_index count, room;
    plx_dataset *parts[MOST_PARTS]; /* data sets of files that hold one by themselves */
    plx_index n_parts;
    plx__shared *block; /* the tables, once the data set takes them over */
} view_list;

/* ---- fields ---- */

static plx_status check_keys(const reader *r, const json_t *object, const char *where, const char *const *known,
                             plx_index count)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        bool found = false;
        char near[96];
        for (plx_index i = 0; i < count; i++) found |= strcmp(key, known[i]) == 0;
        if (!found)
            PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %sunknown key \"%s\"%s", r->path, where, key,
                     plx__suggest(near, sizeof near, key, known, count));
    }
    return PLX_OK;
}

/* Text of an optional key; NULL when absent. */
static plx_status get_text(const char **out, const reader *r, const json_t *object, const char *where, const char *key)
{
    const json_t *value = json_object_get(object, key);
    *out = NULL;
    if (!value) return PLX_OK;
    if (!json_is_string(value) || !json_string_value(value)[0])
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"%s\" must be a text", r->path, where, key);
    *out = json_string_value(value);
    return PLX_OK;
}

static plx_status get_cost(double *out, const reader *r, const json_t *object, const char *where, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return PLX_OK;
    if (!json_is_number(value)) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"%s\" must be a number", r->path, where, key);
    *out = json_number_value(value);
    return PLX_OK;
}

/* Path of a file named by a key, relative to the manifest; NULL when absent. */
static plx_status get_file(const char **out, const reader *r, const json_t *object, const char *where, const char *key)
{
    const char *name = NULL;
    PLX_TRY(get_text(&name, r, object, where, key));
    *out = NULL;
    return name ? plx__path_join(out, r->arena, r->directory, name) : PLX_OK;
}

/* ---- views ---- */

static plx_status check_length(const reader *r, const char *file, plx_index found, plx_index expected, const char *what)
{
    if (found == expected) return PLX_OK;
    PLX_FAIL(r->ctx, PLX_E_DATA, "%s has %lld lines, expected %lld (one per %s)", file, (long long)found,
             (long long)expected, what);
}

/* What an entry of "views" says about its file. */
typedef struct entry {
    const json_t *object;
    char where[160];
    const char *name, *file, *format, *id, *label, *truth, *columns, *drop, *text_columns, *text;
    plx__csv_header header;
    bool named; /* else the views are called as the file says */
    bool kind_given;
    plx_view_kind kind;
} entry;

static plx_status read_text(plx__loose_view *v, const reader *r, const entry *e)
{
    plx__text_options o;
    PLX_TRY(plx__text_recipe_for(&o, &v->text, r->ctx, r->arena, r->request, v->name, e->text));
    return plx__is_directory(v->file) ? plx__text_read_directory(&v->table, r->ctx, r->arena, v->file, &o)
                                      : plx__text_read_lines(&v->table, r->ctx, r->arena, v->file, &o);
}

static bool is_table(const entry *e)
{
    static const char *const endings[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz"};
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (plx__ends_with(e->file, endings[k])) return true;
    return e->format && (strcmp(e->format, "csv") == 0 || strcmp(e->format, "tsv") == 0);
}

static bool is_container(const char *file)
{
    return plx__ends_with(file, ".h5ad") || plx__ends_with(file, ".h5mu") || plx__ends_with(file, ".mat");
}

/* Room for `more` further views. */
static plx_status make_room(view_list *list, const reader *r, plx_index more)
{
    plx__loose_view *bigger = NULL;
    if (list->count + more <= list->room) return PLX_OK;
    list->room = 2 * list->room + more;
    PLX_TRY(PLX__ARENA_NEW(&bigger, r->arena, list->room));
    if (list->count) memcpy(bigger, list->at, (size_t)list->count * sizeof *bigger);
    list->at = bigger;
    return PLX_OK;
}

/* The views of an .h5ad, .h5mu or .mat file: NAME, or NAME_VIEW where there are several. */
static plx_status read_container(view_list *list, const reader *r, const entry *e)
{
    plx_dataset **part = &list->parts[list->n_parts];
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    const char *name = NULL;
    plx_index first = list->count;
    if (list->n_parts == MOST_PARTS)
        PLX_FAIL(r->ctx, PLX_E_UNSUPPORTED, "%s: more than %d views are files with views of their own", r->path,
                 MOST_PARTS);
    o.label = e->label;
    o.truth = e->truth;
    o.trust = r->request->o.trust;
    plx__row_share share = r->ctx->share; /* of a run, whose rows are which is known after joining */
    if (share.run) r->ctx->share = (plx__row_share){0};
    plx_status st = plx__guarded_read(
        part, r->ctx, e->file, &o, plx__ends_with(e->file, ".mat") ? &plx__mat_reader_entry : &plx__h5mu_reader_entry);
    r->ctx->share = share;
    PLX_TRY(plx__share_settle(r->ctx, st));
    list->n_parts++;
    if (!share.run) PLX_TRY(plx__dataset_agree(*part, r->ctx));
    PLX_TRY(make_room(list, r, (*part)->n_views));
    for (plx_index v = 0; v < (*part)->n_views; v++) {
        name = (*part)->views[v].name;
        if (e->columns && strcmp(e->columns, name) != 0) continue;
        if (e->named && ((*part)->n_views == 1 || e->columns)) name = e->name;
        else if (e->named) PLX_TRY(plx__arena_printf(&name, r->arena, "%s_%s", e->name, name));
        list->at[list->count++] = plx__loose_from(*part, v, e->file, name);
    }
    if (list->count == first) return PLX_OK;
    list->at[first].labels = (*part)->labels;
    list->at[first].truth = (*part)->truth;
    return PLX_OK;
}

static plx_status read_table(view_list *list, const reader *r, const entry *e)
{
    plx__matrix_options o = {.format = e->format};
    plx__table table;
    plx_index first = list->count;
    o.in_order = !(json_object_get(e->object, "ids") && r->ctx->share.run) && e->kind != PLX_VIEW_KERNEL;
    o.csv = (plx__csv_options){.header = e->header, .id = e->id, .label = e->label, .columns = e->columns};
    o.csv.drop = e->drop;
    o.csv.truth = e->truth;
    o.csv.text = e->text_columns;
    if (e->text && !e->columns && !e->text_columns) o.csv.columns = "*"; /* all that are no numbers */
    o.csv.hint = "; say which column is \"id\", \"label\" or \"text\", or \"drop\" it";
    if (e->id && e->header == PLX__HEADER_NO) o.csv.header = PLX__HEADER_YES;
    PLX_TRY(plx__matrix_file_read(&table, r->ctx, r->arena, e->file, &o));
    PLX_TRY(make_room(list, r, 1 + table.n_texts));
    PLX_TRY(plx__table_views(list->at, &list->count, r->ctx, r->arena, &table, e->file, e->name, e->named, e->text,
                             r->request));
    for (plx_index v = first; v < list->count; v++) {
        list->at[v].labels = v == first ? table.labels : NULL;
        list->at[v].truth = v == first ? table.truth : NULL;
    }
    return PLX_OK;
}

/* Every name once. */
static plx_status are_distinct(bool *out, const reader *r, const char *const *name, plx_index count)
{
    plx__map seen;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&seen, r->arena, count));
    *out = true;
    for (plx_index j = 0; j < count && *out; j++) {
        PLX_TRY(plx__map_add(&seen, name[j], j, &existing));
        *out = existing < 0;
    }
    return PLX_OK;
}

/* Names of columns that the manifest does not speak of, in NAME.features.txt or NAME.vocabulary.txt beside NAME.mtx: they
 * are taken when there is one for every column. */
static plx_status find_names(plx__loose_view *v, const reader *r, const entry *e)
{
    static const char *const endings[] = {"features.txt", "vocabulary.txt"};
    plx_index count = 0, cols = plx__table_cols(&v->table);
    const char *slash = strrchr(e->file, '/'), *dot = strchr(slash ? slash + 1 : e->file, '.');
    if (v->table.col_names || e->kind == PLX_VIEW_KERNEL || e->text || !dot) return PLX_OK;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        const char *file = NULL, *const *names = NULL;
        bool distinct = false;
        PLX_TRY(plx__arena_printf(&file, r->arena, "%.*s.%s", (int)(dot - e->file), e->file, endings[k]));
        if (!plx__file_exists(file)) continue;
        PLX_TRY(plx__lines_read(&names, &count, r->ctx, r->arena, file));
        if (count == cols) PLX_TRY(are_distinct(&distinct, r, names, count));
        if (distinct) {
            v->table.col_names = names;
            return PLX_OK;
        }
    }
    return PLX_OK;
}

static plx_status read_about_view(plx__loose_view *v, const reader *r, const entry *e)
{
    const char *ids = NULL, *features = NULL, *present = NULL;
    plx_index count = 0, rows = plx__table_rows(&v->table);
    uint8_t *flags = NULL;
    PLX_TRY(get_file(&ids, r, e->object, e->where, "ids"));
    if (ids) {
        PLX_TRY(plx__lines_read(&v->ids, &count, r->ctx, r->arena, ids));
        PLX_TRY(check_length(r, ids, count, rows, "row"));
    }
    PLX_TRY(get_file(&features, r, e->object, e->where, "features"));
    if (features) {
        PLX_TRY(plx__lines_read(&v->table.col_names, &count, r->ctx, r->arena, features));
        PLX_TRY(check_length(r, features, count, plx__table_cols(&v->table), "column"));
    } else PLX_TRY(find_names(v, r, e));
    PLX_TRY(get_file(&present, r, e->object, e->where, "present"));
    if (present) {
        PLX_TRY(plx__flag_lines_read(&flags, &count, r->ctx, r->arena, present));
        PLX_TRY(check_length(r, present, count, rows, "sample"));
        v->present = flags;
    }
    return get_cost(&v->cost, r, e->object, e->where, "cost");
}

static plx_status get_header(plx__csv_header *out, const reader *r, const entry *e)
{
    const json_t *header = json_object_get(e->object, "header");
    *out = PLX__HEADER_AUTO;
    if (header && !json_is_boolean(header))
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"header\" must be true or false", r->path, e->where);
    if (header) *out = json_is_true(header) ? PLX__HEADER_YES : PLX__HEADER_NO;
    return PLX_OK;
}

/* A column, or a list of columns. */
static plx_status get_columns(const char **out, const reader *r, const entry *e, const char *key)
{
    const json_t *value = json_object_get(e->object, key);
    plx__textbuf text;
    if (!json_is_array(value)) return get_text(out, r, e->object, e->where, key);
    plx__textbuf_init(&text, r->arena);
    for (size_t k = 0; k < json_array_size(value); k++) {
        const char *column = json_string_value(json_array_get(value, k));
        if (!column) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"%s\" must be a list of texts", r->path, e->where, key);
        plx__textbuf_printf(&text, "%s%s", k ? "," : "", column);
    }
    return plx__textbuf_done(out, &text);
}

static plx_status read_entry(entry *e, const reader *r, plx_index index)
{
    static const char *const known[] = {"name", "file", "kind",   "present", "header", "ids",  "id",    "features",
                                        "text", "cost", "format", "columns", "label",  "drop", "truth", "text_columns"};
    const char *kind = NULL;
    snprintf(e->where, sizeof e->where, "view %lld: ", (long long)index + 1);
    if (!json_is_object(e->object)) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %sexpected an object", r->path, e->where);
    PLX_TRY(get_text(&e->name, r, e->object, e->where, "name"));
    if (!e->name) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"name\" is missing", r->path, e->where);
    e->named = strcmp(e->name, "*") != 0;
    snprintf(e->where, sizeof e->where, "view '%.100s': ", e->name);
    PLX_TRY(check_keys(r, e->object, e->where, known, sizeof known / sizeof *known));
    PLX_TRY(get_file(&e->file, r, e->object, e->where, "file"));
    if (!e->file) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"file\" is missing", r->path, e->where);
    if (!e->named)
        PLX_TRY(plx__view_name(&e->name, r->arena, plx__path_base(e->file), strcspn(plx__path_base(e->file), ".")));
    PLX_TRY(get_text(&kind, r, e->object, e->where, "kind"));
    e->kind_given = kind != NULL;
    if (kind && plx__view_kind_parse(&e->kind, kind) != PLX_OK)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %skind \"%s\" is none of counts, real, binary, probability, kernel",
                 r->path, e->where, kind);
    PLX_TRY(get_text(&e->format, r, e->object, e->where, "format"));
    PLX_TRY(get_text(&e->id, r, e->object, e->where, "id"));
    PLX_TRY(get_text(&e->label, r, e->object, e->where, "label"));
    PLX_TRY(get_text(&e->truth, r, e->object, e->where, "truth"));
    if (json_is_true(json_object_get(e->object, "text"))) e->text = "";
    else PLX_TRY(get_text(&e->text, r, e->object, e->where, "text"));
    PLX_TRY(get_columns(&e->text_columns, r, e, "text_columns"));
    PLX_TRY(get_columns(&e->columns, r, e, "columns"));
    PLX_TRY(get_columns(&e->drop, r, e, "drop"));
    return get_header(&e->header, r, e);
}

/* "text" of a table is about its columns; of anything else it says that the file is documents. */
static plx_status read_view(view_list *list, const reader *r, const json_t *object, plx_index index)
{
    entry e = {.object = object};
    plx_index first = list->count;
    PLX_TRY(read_entry(&e, r, index));
    if (is_container(e.file)) {
        PLX_TRY(read_container(list, r, &e));
    } else if (json_object_get(object, "text") && !(is_table(&e) && (e.id || e.columns || e.text_columns || e.label))) {
        PLX_TRY(make_room(list, r, 1));
        plx__loose_view *v = &list->at[list->count++];
        *v = (plx__loose_view){.name = e.name, .file = e.file, .cost = 1.0, .kind = PLX_VIEW_COUNTS};
        PLX_TRY(read_text(v, r, &e));
        v->ids = v->table.row_names;
    } else {
        PLX_TRY(read_table(list, r, &e));
    }
    for (plx_index v = first; v < list->count; v++) {
        if (e.kind_given) list->at[v].kind = e.kind;
        PLX_TRY(read_about_view(&list->at[v], r, &e));
    }
    return PLX_OK;
}

static plx_status read_views(view_list *out, const reader *r)
{
    const json_t *list = json_object_get(r->root, "views");
    if (!json_is_array(list) || json_array_size(list) == 0)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: \"views\" must be a list with at least one view", r->path);
    plx_index count = (plx_index)json_array_size(list);
    for (plx_index v = 0; v < count; v++) {
        PLX_TRY(read_view(out, r, json_array_get(list, (size_t)v), v));
        PLX_TRY(plx__report(r->ctx, "read views", v + 1, count, NAN));
    }
    return PLX_OK;
}

/* ---- labels ---- */

/* {"file": F, "column": C, "id": I} */
static plx_status labels_from_object(const char **out, const reader *r, const json_t *object, const char *key,
                                     const plx__sample_list *samples)
{
    static const char *const known[] = {"file", "column", "id"};
    plx__label_source from = {0};
    char where[32];
    snprintf(where, sizeof where, "%s: ", key);
    PLX_TRY(check_keys(r, object, where, known, 3));
    PLX_TRY(get_file(&from.file, r, object, where, "file"));
    if (!from.file) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"file\" is missing", r->path, where);
    PLX_TRY(get_text(&from.column, r, object, where, "column"));
    PLX_TRY(get_text(&from.id, r, object, where, "id"));
    return plx__label_source_read(out, r->ctx, r->arena, &from, samples, key);
}

/* A line each. */
static plx_status labels_from_lines(const char **out, const reader *r, const char *file, const char *key,
                                    const plx__sample_list *samples)
{
    const char *const *lines = NULL;
    plx_index count = 0;
    PLX_TRY(plx__lines_read(&lines, &count, r->ctx, r->arena, file));
    PLX_TRY(check_length(r, file, count, samples->n, "sample"));
    for (plx_index i = 0; i < count; i++) {
        out[i] = lines[i];
        if (!lines[i][0] && strcmp(key, "labels") == 0)
            PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: line %lld is empty; write ? for unlabelled", file, (long long)i + 1);
    }
    return PLX_OK;
}

static plx_status labels_by_id(const char **out, const reader *r, const char *file, const char *key,
                               const plx__sample_list *samples)
{
    plx__label_source from = {.file = file, .id = "id", .column = "label"};
    plx__map seen;
    plx_index rows = 0, existing = -1;
    const char *const *texts = NULL, *const *ids = NULL;
    plx_status st = plx__label_source_rows(&texts, &ids, &rows, r->ctx, r->arena, &from);
    if (st != PLX_OK && st != PLX_E_DATA) return st;
    plx__clear_error(r->ctx);
    if (st != PLX_OK || !ids) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: needs the columns id and label", file);
    if (!samples->ids)
        PLX_FAIL(r->ctx, PLX_E_DATA, "%s: labels by id need sample ids; give the data set or its views ids", file);
    PLX_TRY(plx__map_init(&seen, r->arena, rows));
    for (plx_index i = 0; i < rows; i++) {
        PLX_TRY(plx__map_add(&seen, ids[i], i, &existing));
        if (existing >= 0) PLX_FAIL(r->ctx, PLX_E_DATA, "%s: duplicate id '%s'", file, ids[i]);
    }
    return plx__join_texts(out, r->ctx, samples, texts, ids, rows, file, key);
}

/* Labels for the samples, or NULL: a line each, a csv with the columns id and label, or an object. What the views' own
 * files say counts where the manifest says nothing. */
static plx_status read_labels(const char ***out, const reader *r, const char *key, const plx__sample_list *samples,
                              const view_list *views)
{
    const json_t *object = json_object_get(r->root, key);
    const char *file = NULL;
    bool truth = strcmp(key, "truth") == 0, found = false;
    *out = NULL;
    PLX_TRY(PLX__ARENA_NEW(out, r->arena, samples->n));
    if (json_is_object(object)) return labels_from_object(*out, r, object, key, samples);
    PLX_TRY(get_file(&file, r, r->root, "", key));
    if (file && plx__ends_with(file, ".csv")) return labels_by_id(*out, r, file, key, samples);
    if (file) return labels_from_lines(*out, r, file, key, samples);
    for (plx_index v = 0; v < views->count; v++) {
        const plx__loose_view *view = &views->at[v];
        const char *const *texts = truth ? view->truth : view->labels;
        if (!texts) continue;
        found = true;
        PLX_TRY(plx__join_texts(*out, r->ctx, samples, texts, view->ids, plx__table_rows(&view->table), view->file,
                                truth ? "truth" : "label"));
    }
    if (!found) *out = NULL;
    return PLX_OK;
}

/* ---- hierarchy ---- */

static plx_status read_pairs(int32_t **out, plx_index *count, const reader *r, const char *file,
                             const json_t *hierarchy, const char *key, const plx__map *classes)
{
    const json_t *list = json_object_get(hierarchy, key);
    *count = list ? (plx_index)json_array_size(list) : 0;
    if (list && !json_is_array(list)) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: \"%s\" must be a list of pairs", file, key);
    PLX_TRY(plx__arena_i32(out, r->arena, 2 * *count));
    for (plx_index p = 0; p < *count; p++) {
        const json_t *pair = json_array_get(list, (size_t)p);
        for (size_t e = 0; e < 2; e++) {
            const json_t *name = json_array_size(pair) == 2 ? json_array_get(pair, e) : NULL;
            if (!json_is_string(name))
                PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: pair %lld of \"%s\" must be two class names", file,
                         (long long)p + 1, key);
            plx_index c = plx__map_get(classes, json_string_value(name));
            if (c < 0)
                PLX_FAIL(r->ctx, PLX_E_DATA, "%s: \"%s\" names the unknown class '%s'", file, key,
                         json_string_value(name));
            (*out)[2 * p + (plx_index)e] = (int32_t)c;
        }
    }
    return PLX_OK;
}

static plx_status apply_hierarchy(plx_dataset *data, const reader *r, const char *file, const json_t *h)
{
    static const char *const known[] = {"classes", "subset", "mutex"};
    const json_t *list = json_object_get(h, "classes");
    plx_index count = (plx_index)json_array_size(list), existing = -1, n_subset = 0, n_mutex = 0;
    const char **classes = NULL;
    int32_t *subset = NULL, *mutex = NULL;
    plx__map map;
    reader about = *r;
    about.path = file;
    PLX_TRY(check_keys(&about, h, "", known, 3));
    if (!json_is_array(list)) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: \"classes\" must be a list of names", file);
    PLX_TRY(PLX__ARENA_NEW(&classes, r->arena, count));
    PLX_TRY(plx__map_init(&map, r->arena, count));
    for (plx_index c = 0; c < count; c++) {
        classes[c] = json_string_value(json_array_get(list, (size_t)c));
        if (!classes[c]) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: class %lld is not a text", file, (long long)c + 1);
        PLX_TRY(plx__map_add(&map, classes[c], c, &existing));
    }
    PLX_TRY(read_pairs(&subset, &n_subset, r, file, h, "subset", &map));
    PLX_TRY(read_pairs(&mutex, &n_mutex, r, file, h, "mutex", &map));
    return plx__dataset_set_hierarchy(data, r->ctx, classes, count, subset, n_subset, mutex, n_mutex);
}

static plx_status read_hierarchy(plx_dataset *data, const reader *r)
{
    const char *file = NULL;
    json_t *h = NULL;
    PLX_TRY(get_file(&file, r, r->root, "", "hierarchy"));
    if (!file) return PLX_OK;
    PLX_TRY(plx__json_read_file(&h, r->ctx, file));
    plx_status st = json_is_object(h) ? apply_hierarchy(data, r, file, h)
                                      : plx__fail(r->ctx, PLX_E_FORMAT, "%s: expected an object", file);
    json_decref(h);
    return st;
}

/* ---- costs ---- */

static plx_status read_costs(plx_dataset *data, const reader *r)
{
    const json_t *costs = json_object_get(r->root, "costs");
    static const char *const known[] = {"label", "samples"};
    const char *file = NULL;
    plx__table table;
    double label = 1.0;
    if (!costs) return PLX_OK;
    if (!json_is_object(costs)) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: \"costs\" must be an object", r->path);
    PLX_TRY(check_keys(r, costs, "costs: ", known, 2));
    PLX_TRY(get_cost(&label, r, costs, "costs: ", "label"));
    PLX_TRY(plx__dataset_set_label_cost(data, r->ctx, label));
    PLX_TRY(get_file(&file, r, costs, "costs: ", "samples"));
    if (!file) return PLX_OK;
    PLX_TRY(plx__matrix_file_read(&table, r->ctx, r->arena, file,
                                  &(plx__matrix_options){.format = "csv", .csv = {.header = PLX__HEADER_NO}}));
    PLX_TRY(check_length(r, file, table.dense.rows, data->n, "sample"));
    return plx__dataset_set_sample_costs(data, r->ctx, table.dense.data);
}

/* ---- all together ---- */

/* Without "name": that of the directory of a dataset.json, else of the manifest itself. */
static plx_status default_name(const char **out, const reader *r)
{
    const char *base = plx__path_base(r->path), *dot = strrchr(base, '.');
    if (strcmp(base, "dataset.json") != 0 && dot && dot > base)
        return plx__arena_textn(out, r->arena, base, (size_t)(dot - base));
    char real[PATH_MAX]; /* "." has a name, too */
    const char *directory = realpath(r->directory, real) ? plx__path_base(real) : "";
    return plx__arena_text(out, r->arena, *directory ? directory : "data");
}

static plx_status build(plx_dataset **out, view_list *views, const reader *r)
{
    static const char *const known[] = {"parallax", "name", "ids", "views", "labels", "truth", "hierarchy", "costs"};
    const char *name = NULL, *ids_file = NULL, **labels = NULL, **truth = NULL;
    const char *const *ids = NULL;
    plx_index n_ids = 0;
    plx__sample_list samples;
    if (!json_is_object(r->root)) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: expected a JSON object", r->path);
    PLX_TRY(check_keys(r, r->root, "", known, sizeof known / sizeof *known));
    const json_t *version = json_object_get(r->root, "parallax");
    if (!json_is_integer(version))
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: not a data set manifest (\"parallax\": 1 is missing)", r->path);
    if (json_integer_value(version) != 1)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: manifest version %lld is not known to this version", r->path,
                 (long long)json_integer_value(version));
    PLX_TRY(get_text(&name, r, r->root, "", "name"));
    if (!name) PLX_TRY(default_name(&name, r));
    PLX_TRY(get_file(&ids_file, r, r->root, "", "ids"));
    if (ids_file) PLX_TRY(plx__lines_read(&ids, &n_ids, r->ctx, r->arena, ids_file));
    PLX_TRY(read_views(views, r));
    PLX_TRY(plx__join_samples(&samples, r->ctx, r->arena, views->at, views->count, ids, n_ids, r->request->o.join));
    PLX_TRY(read_labels(&labels, r, "labels", &samples, views));
    PLX_TRY(read_labels(&truth, r, "truth", &samples, views));
    PLX_TRY(plx__dataset_create(out, r->ctx, name, samples.n));
    if (samples.ids) PLX_TRY(plx__dataset_set_ids(*out, r->ctx, samples.ids));
    PLX_TRY(plx__join_hand_over(&views->block, r->ctx, r->arena, views->at, views->count, &samples));
    for (plx_index v = 0; v < views->count; v++) PLX_TRY(plx__join_add(*out, r->ctx, &views->at[v], &samples));
    PLX_TRY(read_hierarchy(*out, r));
    if (labels) PLX_TRY(plx__dataset_set_labels(*out, r->ctx, labels));
    if (truth) PLX_TRY(plx__dataset_set_truth(*out, r->ctx, truth));
    return read_costs(*out, r);
}

plx_status plx__manifest_read(plx_dataset **out, plx_context *ctx, const char *path, const plx__read_request *request)
{
    plx__arena arena;
    json_t *root = NULL;
    reader r = {.ctx = ctx, .arena = &arena, .path = path, .request = request};
    view_list views = {0};
    plx_status st = PLX_OK;
    *out = NULL;
    plx__arena_init(&arena, ctx);
    PLX_GOTO(plx__path_dir(&r.directory, &arena, path));
    PLX_GOTO(plx__json_read_file(&root, ctx, path));
    r.root = root;
    if (json_object_get(root, "parts"))
        PLX_GOTO(plx__manifest_parts(out, ctx, &arena, path, r.directory, root, request));
    else PLX_GOTO(build(out, &views, &r));
done:
    if (st != PLX_OK) {
        plx__dataset_destroy(*out);
        *out = NULL;
    }
    for (plx_index p = 0; p < views.n_parts; p++) plx__dataset_destroy(views.parts[p]);
    json_decref(root);
    plx__shared_drop(views.block);
    plx__arena_free(&arena);
    return st;
}
