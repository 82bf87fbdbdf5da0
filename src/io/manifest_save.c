/*
 * A manifest of what a reading was asked for: the files stay where they are, and the manifest names them relative to
 * itself, with the columns that play a part.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "io/csv_scan.h"
#include "io/dataset_file.h"

typedef struct saver {
    plx_context *ctx;
    plx__arena *arena;
    const char *directory; /* of the manifest, all links followed */
    const plx_read_options *o;
} saver;

static plx_status out_of_memory(const saver *s)
{
    PLX_FAIL(s->ctx, PLX_E_NOMEM, "out of memory while writing the manifest");
}

static plx_status put_text(const saver *s, json_t *object, const char *key, const char *value)
{
    if (!value || json_object_set_new(object, key, json_string(value)) == 0) return PLX_OK;
    return out_of_memory(s);
}

/* `file` as seen from the manifest. */
static plx_status relative(const char **out, const saver *s, const char *file)
{
    char real[PATH_MAX];
    plx__textbuf text;
    size_t common = 0;
    if (!realpath(file, real)) PLX_FAIL(s->ctx, PLX_E_IO, "%s: %s", file, strerror(errno));
    for (size_t i = 0; s->directory[i] == real[i] && real[i]; i++)
        if (real[i] == '/') common = i + 1;
    size_t len = strlen(s->directory);
    if (strncmp(s->directory, real, len) == 0 && real[len] == '/') common = len + 1;
    plx__textbuf_init(&text, s->arena);
    for (const char *up = common > len ? "" : s->directory + common; *up; up += strcspn(up, "/"), up += *up == '/')
        plx__textbuf_add(&text, "../");
    plx__textbuf_add(&text, real + common);
    return plx__textbuf_done(out, &text);
}

/* ---- which columns a file has ---- */

static bool is_table(const char *file, const char *format)
{
    static const char *const endings[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz"};
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (plx__ends_with(file, endings[k])) return true;
    return format && (strcmp(format, "csv") == 0 || strcmp(format, "tsv") == 0);
}

/* Those items of a list that are columns of the file; NULL: none. A number stands for a column of any file. */
static plx_status columns_here(const char **out, const saver *s, const plx__csv_plan *plan, const char *list)
{
    plx__textbuf text;
    plx_index count = 0;
    *out = NULL;
    if (!list) return PLX_OK;
    plx__textbuf_init(&text, s->arena);
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        const char *item = NULL;
        PLX_TRY(plx__arena_textn(&item, s->arena, list, strcspn(list, ",")));
        bool pattern = *item && (item[strlen(item) - 1] == '*' || strchr(item, '-'));
        if (!pattern && plx__column_find(plan->names, plan->cols, item) < 0) continue;
        plx__textbuf_printf(&text, "%s%s", count++ ? "," : "", item);
    }
    return count ? plx__textbuf_done(out, &text) : PLX_OK;
}

/* The names, or numbers, of the columns that are read as text; NULL: none. */
static plx_status text_columns(const char **out, const saver *s, const plx__csv_plan *plan)
{
    plx__textbuf text;
    plx_index count = 0;
    *out = NULL;
    plx__textbuf_init(&text, s->arena);
    for (plx_index j = 0; j < plan->cols; j++) {
        if (plan->role[j] != PLX__ROLE_TEXT) continue;
        if (count++) plx__textbuf_add(&text, ",");
        if (plan->names) plx__textbuf_add(&text, plan->names[j]);
        else plx__textbuf_printf(&text, "%lld", (long long)j + 1);
    }
    return count ? plx__textbuf_done(out, &text) : PLX_OK;
}

static plx_status put_columns(const saver *s, json_t *object, const char *file, const char *columns)
{
    plx__bytes bytes;
    plx__csv_plan plan;
    const char *texts = NULL;
    plx__csv_options here = {.columns = columns};
    const struct {
        const char *key, *list, **here;
    } parts[] = {{"id", s->o->id, &here.id},
                 {"label", s->o->label, &here.label},
                 {"truth", s->o->truth, &here.truth},
                 {"text_columns", s->o->text, &here.text},
                 {"drop", s->o->drop, &here.drop}};
    plx__csv_options how = {.id = s->o->id, .label = s->o->label, .truth = s->o->truth, .text = s->o->text};
    how.drop = s->o->drop;
    plx_status st = PLX_OK;
    PLX_TRY(plx__bytes_read(&bytes, s->ctx, file));
    PLX_GOTO(plx__csv_plan_make(&plan, s->ctx, s->arena, file, bytes.data, bytes.size, &how, false));
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        PLX_GOTO(columns_here(parts[k].here, s, &plan, parts[k].list));
    if (s->o->text_options) { /* only of a table with texts: a manifest takes any other with "text" for documents */
        PLX_GOTO(plx__csv_plan_make(&plan, s->ctx, s->arena, file, bytes.data, bytes.size, &here, true));
        PLX_GOTO(text_columns(&texts, s, &plan));
        if (texts && !columns) here.text = texts;
        if (texts) PLX_GOTO(put_text(s, object, "text", s->o->text_options));
    }
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        PLX_GOTO(put_text(s, object, parts[k].key, *parts[k].here));
done:
    plx__bytes_free(&bytes, s->ctx);
    return st;
}

/* ---- the manifest ---- */

static plx_status add_view(const saver *s, json_t *views, const char *name, const char *file, const char *columns,
                           const char *format)
{
    const char *path = NULL;
    json_t *object = json_object();
    if (json_array_append_new(views, object) != 0) return out_of_memory(s);
    PLX_TRY(relative(&path, s, file));
    PLX_TRY(put_text(s, object, "name", name));
    PLX_TRY(put_text(s, object, "file", path));
    PLX_TRY(put_text(s, object, "format", format));
    PLX_TRY(put_text(s, object, "columns", columns));
    if (is_table(file, format)) return put_columns(s, object, file, columns);
    if (plx__ends_with(file, ".h5ad") || plx__ends_with(file, ".h5mu")) {
        PLX_TRY(put_text(s, object, "label", s->o->label));
        PLX_TRY(put_text(s, object, "truth", s->o->truth));
    }
    if (plx__ends_with(file, ".txt") || plx__is_directory(file))
        return s->o->text_options                                      ? put_text(s, object, "text", s->o->text_options)
               : json_object_set_new(object, "text", json_true()) == 0 ? PLX_OK
                                                                       : out_of_memory(s);
    return PLX_OK;
}

static plx_status add_labels(const saver *s, json_t *root)
{
    const char *path = NULL;
    if (!s->o->labels_file) return PLX_OK;
    json_t *object = json_object();
    if (json_object_set_new(root, "labels", object) != 0) return out_of_memory(s);
    PLX_TRY(relative(&path, s, s->o->labels_file));
    PLX_TRY(put_text(s, object, "file", path));
    PLX_TRY(put_text(s, object, "column", s->o->labels_column));
    return put_text(s, object, "id", s->o->id);
}

static plx_status fill(const saver *s, json_t *root, const char *path)
{
    json_t *views = json_array();
    if (json_object_set_new(root, "parallax", json_integer(1)) != 0 || json_object_set_new(root, "views", views) != 0)
        return out_of_memory(s);
    if (path) PLX_TRY(add_view(s, views, "*", path, s->o->columns, s->o->format));
    for (plx_index k = 0; k < s->o->n_views; k++)
        PLX_TRY(add_view(s, views, s->o->views[k].name, s->o->views[k].file, s->o->views[k].columns, NULL));
    return add_labels(s, root);
}

static plx_status write_manifest(const saver *s, const json_t *root, const char *manifest)
{
    const char *text = NULL, *line = NULL;
    PLX_TRY(plx__json_print(&text, s->arena, root));
    PLX_TRY(plx__arena_printf(&line, s->arena, "%s\n", text));
    return plx__write_text_file(s->ctx, manifest, line);
}

static plx_status check_save(plx_context *ctx, const char *manifest, const char *path, const plx_read_options *o)
{
    if (!plx__ends_with(manifest, ".json"))
        PLX_FAIL(ctx, PLX_E_ARG, "%s: the name of a manifest ends in .json", manifest);
    if (plx__file_exists(manifest))
        PLX_FAIL(ctx, PLX_E_IO, "%s already exists; remove it or choose another name", manifest);
    if (!path && !o->n_views)
        PLX_FAIL(ctx, PLX_E_ARG, "neither a path nor views were given; there is nothing to describe");
    if (path && (plx__ends_with(path, ".json") || plx__is_directory(path)))
        PLX_FAIL(ctx, PLX_E_ARG, "%s has a manifest of its own, or is a folder of files; name the files as views",
                 path);
    if (o->like || o->join != PLX_JOIN_UNION)
        PLX_FAIL(ctx, PLX_E_ARG, "a manifest has no word for join and like; give them when it is read");
    return PLX_OK;
}

static plx_status save(const saver *s, const char *manifest, const char *path)
{
    json_t *root = json_object();
    plx_status st = root ? fill(s, root, path) : out_of_memory(s);
    if (st == PLX_OK) st = write_manifest(s, root, manifest);
    json_decref(root);
    return st;
}

plx_status plx__dataset_save(plx_context *ctx, const char *manifest, const char *path, const plx_read_options *given)
{
    plx_read_options o;
    char real[PATH_MAX];
    const char *directory = NULL;
    PLX_TRY(plx__read_options_copy(&o, ctx, given));
    PLX_TRY(check_save(ctx, manifest, path, &o));
    PLX_TRY(plx__path_dir(&directory, plx__scratch(ctx), manifest));
    if (!realpath(directory, real)) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", directory, strerror(errno));
    if (strcmp(real, "/") == 0) real[0] = '\0';
    saver s = {ctx, plx__scratch(ctx), real, &o};
    return save(&s, manifest, path);
}
