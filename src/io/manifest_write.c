/*
 * A data set as a directory. Everything is written into a fresh directory beside the target, which then takes its name.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"
#include "data/dataset_impl.h"
#include "io/manifest.h"
#include "io/matrix_file.h"

typedef struct writer {
    plx_context *ctx;
    const plx_dataset *data;
    const char *directory;
    json_t *root;
} writer;

static plx_status put(const writer *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0) return PLX_OK;
    PLX_FAIL(w->ctx, PLX_E_NOMEM, "out of memory while writing the manifest");
}

/* Writes count lines and records the file under `key`. */
static plx_status write_lines(const writer *w, json_t *object, const char *key, const char *file,
                              const char *const *lines, plx_index count, const char *none)
{
    const char *path = NULL;
    plx__outfile out;
    if (!lines) return PLX_OK;
    PLX_TRY(plx__path_join(&path, plx__scratch(w->ctx), w->directory, file));
    PLX_TRY(plx__outfile_open(&out, w->ctx, path));
    for (plx_index i = 0; i < count; i++) {
        if (lines[i] && strpbrk(lines[i], "\r\n")) {
            plx__outfile_abort(&out);
            PLX_FAIL(w->ctx, PLX_E_DATA, "'%s' holds a line end and cannot be written to %s", lines[i], file);
        }
        fprintf(out.file, "%s\n", lines[i] ? lines[i] : none);
    }
    PLX_TRY(plx__outfile_commit(&out, w->ctx));
    return put(w, object, key, json_string(file));
}

static plx_status write_present(const writer *w, json_t *object, const plx__view *v)
{
    const char **flags = NULL, *file = NULL;
    if (v->present_count == w->data->n) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&flags, plx__scratch(w->ctx), w->data->n));
    for (plx_index i = 0; i < w->data->n; i++) flags[i] = v->present[i] ? "1" : "0";
    PLX_TRY(plx__arena_printf(&file, plx__scratch(w->ctx), "%s.present.txt", v->name));
    return write_lines(w, object, "present", file, flags, w->data->n, "0");
}

static plx_status write_view(const writer *w, json_t *object, const plx__view *v)
{
    const char *file = NULL, *path = NULL, *features = NULL;
    plx__table table = {.sparse = v->sparse};
    table.dense = (plx_mat){(double *)(uintptr_t)v->dense.data, v->dense.rows, v->dense.cols, v->dense.ld};
    table.csr = (plx_csr){v->csr.rows, v->csr.cols, (int64_t *)(uintptr_t)v->csr.ptr, (int32_t *)(uintptr_t)v->csr.col,
                          (double *)(uintptr_t)v->csr.val};
    PLX_TRY(plx__arena_printf(&file, plx__scratch(w->ctx), "%s.%s", v->name, v->sparse ? "mtx" : "csv"));
    PLX_TRY(plx__path_join(&path, plx__scratch(w->ctx), w->directory, file));
    PLX_TRY(plx__matrix_file_write(w->ctx, path, &table));
    PLX_TRY(put(w, object, "name", json_string(v->name)));
    PLX_TRY(put(w, object, "file", json_string(file)));
    PLX_TRY(put(w, object, "kind", json_string(plx__view_kind_name(v->kind))));
    PLX_TRY(write_present(w, object, v));
    PLX_TRY(plx__arena_printf(&features, plx__scratch(w->ctx), "%s.features.txt", v->name));
    PLX_TRY(write_lines(w, object, "features", features, v->features, v->cols, ""));
    return v->cost == 1.0 ? PLX_OK : put(w, object, "cost", json_real(v->cost));
}

static plx_status write_views(const writer *w)
{
    json_t *list = json_array();
    PLX_TRY(put(w, w->root, "views", list));
    for (plx_index v = 0; v < w->data->n_views; v++) {
        json_t *object = json_object();
        if (json_array_append_new(list, object) != 0)
            PLX_FAIL(w->ctx, PLX_E_NOMEM, "out of memory while writing the manifest");
        PLX_TRY(write_view(w, object, &w->data->views[v]));
    }
    return PLX_OK;
}

static json_t *pair_list(const plx__hierarchy *h, const int32_t *pairs, plx_index count)
{
    json_t *list = json_array();
    for (plx_index p = 0; p < count; p++)
        json_array_append_new(list, json_pack("[ss]", h->classes[pairs[2 * p]], h->classes[pairs[2 * p + 1]]));
    return list;
}

static plx_status write_json(const writer *w, const char *file, const json_t *value)
{
    const char *text = NULL, *path = NULL, *line = NULL;
    PLX_TRY(plx__json_print(&text, plx__scratch(w->ctx), value));
    PLX_TRY(plx__arena_printf(&line, plx__scratch(w->ctx), "%s\n", text));
    PLX_TRY(plx__path_join(&path, plx__scratch(w->ctx), w->directory, file));
    return plx__write_text_file(w->ctx, path, line);
}

static plx_status write_hierarchy(const writer *w)
{
    const plx__hierarchy *h = w->data->hierarchy;
    if (!h) return PLX_OK;
    json_t *root = json_object(), *classes = json_array();
    for (plx_index c = 0; c < h->n_classes; c++) json_array_append_new(classes, json_string(h->classes[c]));
    plx_status st = put(w, root, "classes", classes);
    if (st == PLX_OK) st = put(w, root, "subset", pair_list(h, h->subset, h->n_subset));
    if (st == PLX_OK) st = put(w, root, "mutex", pair_list(h, h->mutex, h->n_mutex));
    if (st == PLX_OK) st = write_json(w, "classes.json", root);
    json_decref(root);
    return st == PLX_OK ? put(w, w->root, "hierarchy", json_string("classes.json")) : st;
}

static plx_status write_costs(const writer *w)
{
    const plx_dataset *d = w->data;
    const char *path = NULL;
    if (d->label_cost == 1.0 && !d->sample_costs) return PLX_OK;
    json_t *costs = json_object();
    PLX_TRY(put(w, w->root, "costs", costs));
    if (d->label_cost != 1.0) PLX_TRY(put(w, costs, "label", json_real(d->label_cost)));
    if (!d->sample_costs) return PLX_OK;
    plx__table table = {.dense = {(double *)(uintptr_t)d->sample_costs, d->n, 1, 1}};
    PLX_TRY(plx__path_join(&path, plx__scratch(w->ctx), w->directory, "costs.csv"));
    PLX_TRY(plx__matrix_file_write(w->ctx, path, &table));
    return put(w, costs, "samples", json_string("costs.csv"));
}

static plx_status write_all(const writer *w)
{
    const plx_dataset *d = w->data;
    PLX_TRY(put(w, w->root, "parallax", json_integer(1)));
    PLX_TRY(put(w, w->root, "name", json_string(d->name)));
    PLX_TRY(write_lines(w, w->root, "ids", "ids.txt", d->ids, d->n, ""));
    PLX_TRY(write_views(w));
    PLX_TRY(write_lines(w, w->root, "labels", "labels.txt", d->labels, d->n, "?"));
    PLX_TRY(write_lines(w, w->root, "truth", "truth.txt", d->truth, d->n, "?"));
    PLX_TRY(write_hierarchy(w));
    PLX_TRY(write_costs(w));
    return write_json(w, "dataset.json", w->root);
}

static bool is_empty_directory(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry = NULL;
    int others = 0;
    if (!dir) return false;
    while ((entry = readdir(dir))) others += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return others == 0;
}

plx_status plx__manifest_write(plx_context *ctx, const plx_dataset *data, const char *directory)
{
    const char *temporary = NULL, *target = NULL;
    size_t len = strlen(directory);
    while (len > 1 && directory[len - 1] == '/') len--;
    PLX_TRY(plx__arena_textn(&target, plx__scratch(ctx), directory, len));
    if (plx__file_exists(target) && !is_empty_directory(target))
        PLX_FAIL(ctx, PLX_E_IO, "%s already exists; remove it or choose another name", target);
    PLX_TRY(plx__remove_leftovers(ctx, target));
    PLX_TRY(plx__arena_printf(&temporary, plx__scratch(ctx), "%s.%ld.tmp", target, (long)getpid()));
    PLX_TRY(plx__make_directory(ctx, temporary));
    writer w = {ctx, data, temporary, json_object()};
    plx_status st = w.root ? write_all(&w) : plx__fail(ctx, PLX_E_NOMEM, "out of memory while writing the manifest");
    json_decref(w.root);
    if (st == PLX_OK && rename(temporary, target) != 0)
        st = plx__fail(ctx, PLX_E_IO, "%s: cannot write: %s", target, strerror(errno));
    if (st != PLX_OK) plx__remove_tree(temporary);
    return st;
}
