#include "io/manifest.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "data/dataset_impl.h"
#include "io/matrix_kind.h"
#include "data/lines.h"
#include "io/join.h"
#include "io/matrix_file.h"
#include "io/text_counts.h"

typedef struct reader {
    plx_context *ctx;
    plx__arena *arena; /* of the reading, not of the data set */
    const char *path, *directory;
    const json_t *root;
    const plx_read_options *options;
} reader;

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

static plx_status read_table(plx__loose_view *v, const reader *r, const json_t *object, const char *where)
{
    const json_t *header = json_object_get(object, "header"), *text = json_object_get(object, "text");
    plx__matrix_options o = {0};
    const char *options = NULL;
    PLX_TRY(get_text(&o.format, r, object, where, "format"));
    if (text) { /* documents to be counted */
        PLX_TRY(get_text(&options, r, object, where, "text"));
        return plx__is_directory(v->file) ? plx__text_read_directory(&v->table, r->ctx, r->arena, v->file, options)
                                          : plx__text_read_lines(&v->table, r->ctx, r->arena, v->file, options);
    }
    if (header && !json_is_boolean(header))
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"header\" must be true or false", r->path, where);
    o.csv.header = json_is_true(header) ? PLX__HEADER_YES : PLX__HEADER_NO;
    PLX_TRY(get_text(&o.csv.id, r, object, where, "id"));
    if (o.csv.id) o.csv.header = PLX__HEADER_YES;
    return plx__matrix_file_read(&v->table, r->ctx, r->arena, v->file, &o);
}

static plx_status read_about_view(plx__loose_view *v, const reader *r, const json_t *object, const char *where)
{
    const char *ids = NULL, *features = NULL, *present = NULL;
    plx_index count = 0, rows = plx__table_rows(&v->table);
    uint8_t *flags = NULL;
    v->ids = v->table.row_names;
    PLX_TRY(get_file(&ids, r, object, where, "ids"));
    if (ids) {
        PLX_TRY(plx__lines_read(&v->ids, &count, r->ctx, r->arena, ids));
        PLX_TRY(check_length(r, ids, count, rows, "row"));
    }
    PLX_TRY(get_file(&features, r, object, where, "features"));
    if (features) {
        PLX_TRY(plx__lines_read(&v->table.col_names, &count, r->ctx, r->arena, features));
        PLX_TRY(check_length(r, features, count, plx__table_cols(&v->table), "column"));
    }
    PLX_TRY(get_file(&present, r, object, where, "present"));
    if (present) {
        PLX_TRY(plx__flag_lines_read(&flags, &count, r->ctx, r->arena, present));
        PLX_TRY(check_length(r, present, count, rows, "sample"));
        v->present = flags;
    }
    v->cost = 1.0;
    return get_cost(&v->cost, r, object, where, "cost");
}

static plx_status read_view(plx__loose_view *v, const reader *r, const json_t *object, plx_index index)
{
    static const char *const known[] = {"name", "file",     "kind", "present", "header", "ids",
                                        "id",   "features", "text", "cost",    "format"};
    char where[160];
    const char *kind = NULL;
    snprintf(where, sizeof where, "view %lld: ", (long long)index + 1);
    if (!json_is_object(object)) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %sexpected an object", r->path, where);
    PLX_TRY(get_text(&v->name, r, object, where, "name"));
    if (!v->name) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"name\" is missing", r->path, where);
    snprintf(where, sizeof where, "view '%.100s': ", v->name);
    PLX_TRY(check_keys(r, object, where, known, sizeof known / sizeof *known));
    PLX_TRY(get_file(&v->file, r, object, where, "file"));
    if (!v->file) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %s\"file\" is missing", r->path, where);
    PLX_TRY(get_text(&kind, r, object, where, "kind"));
    if (kind && plx__view_kind_parse(&v->kind, kind) != PLX_OK)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: %skind \"%s\" is none of counts, real, binary, probability, kernel",
                 r->path, where, kind);
    PLX_TRY(read_table(v, r, object, where));
    if (!kind) v->kind = plx__guess_kind(&v->table);
    return read_about_view(v, r, object, where);
}

static plx_status read_views(plx__loose_view **out, plx_index *count, const reader *r)
{
    const json_t *list = json_object_get(r->root, "views");
    if (!json_is_array(list) || json_array_size(list) == 0)
        PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: \"views\" must be a list with at least one view", r->path);
    *count = (plx_index)json_array_size(list);
    PLX_TRY(PLX__ARENA_NEW(out, r->arena, *count));
    for (plx_index v = 0; v < *count; v++) {
        PLX_TRY(read_view(&(*out)[v], r, json_array_get(list, (size_t)v), v));
        PLX_TRY(plx__report(r->ctx, "read views", v + 1, *count, NAN));
    }
    return PLX_OK;
}

/* ---- labels ---- */

static plx_status labels_by_id(const char ***out, const reader *r, const char *file, const plx__sample_list *samples)
{
    plx__strings table;
    plx__csv_options o = {.header = PLX__HEADER_YES};
    plx_index unknown = 0;
    PLX_TRY(plx__csv_read_strings(&table, r->ctx, r->arena, file, &o));
    plx_index id = plx__strings_column(&table, "id"), label = plx__strings_column(&table, "label");
    if (id < 0 || label < 0) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: needs the columns id and label", file);
    if (!samples->ids)
        PLX_FAIL(r->ctx, PLX_E_DATA, "%s: labels by id need sample ids; give the data set or its views ids", file);
    for (plx_index i = 0; i < table.rows; i++) {
        plx_index s = plx__map_get(&samples->index, table.cells[i * table.cols + id]);
        if (s >= 0 && (*out)[s]) PLX_FAIL(r->ctx, PLX_E_DATA, "%s: id '%s' is there twice", file, samples->ids[s]);
        if (s >= 0) (*out)[s] = table.cells[i * table.cols + label];
        else unknown++;
    }
    if (unknown) plx__warn(r->ctx, "%s: %lld ids are not in the data set and are left out", file, (long long)unknown);
    return PLX_OK;
}

/* Labels for the samples, or NULL: a line each, or a csv with the columns id and label. */
static plx_status read_labels(const char ***out, const reader *r, const char *key, const plx__sample_list *samples)
{
    const char *file = NULL;
    const char *const *lines = NULL;
    plx_index count = 0;
    *out = NULL;
    PLX_TRY(get_file(&file, r, r->root, "", key));
    if (!file) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(out, r->arena, samples->n));
    if (plx__ends_with(file, ".csv")) return labels_by_id(out, r, file, samples);
    PLX_TRY(plx__lines_read(&lines, &count, r->ctx, r->arena, file));
    PLX_TRY(check_length(r, file, count, samples->n, "sample"));
    for (plx_index i = 0; i < count; i++) {
        (*out)[i] = lines[i];
        if (!lines[i][0] && strcmp(key, "labels") == 0)
            PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: line %lld is empty; write ? for unlabelled", file, (long long)i + 1);
    }
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

static plx_status build(plx_dataset **out, const reader *r)
{
    static const char *const known[] = {"parallax", "name", "ids", "views", "labels", "truth", "hierarchy", "costs"};
    const char *name = NULL, *ids_file = NULL, **labels = NULL, **truth = NULL;
    const char *const *ids = NULL;
    plx_index n_ids = 0, n_views = 0;
    plx__loose_view *views = NULL;
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
    PLX_TRY(read_views(&views, &n_views, r));
    PLX_TRY(plx__join_samples(&samples, r->ctx, r->arena, views, n_views, ids, n_ids, r->options->join));
    PLX_TRY(read_labels(&labels, r, "labels", &samples));
    PLX_TRY(read_labels(&truth, r, "truth", &samples));
    PLX_TRY(plx__dataset_create(out, r->ctx, name, samples.n));
    if (samples.ids) PLX_TRY(plx__dataset_set_ids(*out, r->ctx, samples.ids));
    for (plx_index v = 0; v < n_views; v++) PLX_TRY(plx__join_add(*out, r->ctx, &views[v], &samples));
    PLX_TRY(read_hierarchy(*out, r));
    if (labels) PLX_TRY(plx__dataset_set_labels(*out, r->ctx, labels));
    if (truth) PLX_TRY(plx__dataset_set_truth(*out, r->ctx, truth));
    return read_costs(*out, r);
}

plx_status plx__manifest_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options)
{
    plx__arena arena;
    json_t *root = NULL;
    reader r = {.ctx = ctx, .arena = &arena, .path = path, .options = options};
    plx_status st = PLX_OK;
    *out = NULL;
    plx__arena_init(&arena, ctx);
    PLX_GOTO(plx__path_dir(&r.directory, &arena, path));
    PLX_GOTO(plx__json_read_file(&root, ctx, path));
    r.root = root;
    PLX_GOTO(build(out, &r));
done:
    if (st != PLX_OK) {
        plx__dataset_destroy(*out);
        *out = NULL;
    }
    json_decref(root);
    plx__arena_free(&arena);
    return st;
}
