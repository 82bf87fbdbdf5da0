/*
 * Several files as one data set: each is read as a data set of its own, and their views are joined by sample id, or row
 * by row where none has ids.
 */
#include <string.h>

#include "core/file.h"
#include "core/text.h"
#include "data/divided.h"
#include "io/dataset_file.h"
#include "io/label_source.h"

typedef struct joiner {
    plx_context *ctx;
    plx__arena *arena;
    plx__read_request *request;
    plx_dataset **parts;
    const char **files;
    plx_index n_parts;
    plx__loose_view *views;
    plx_index n_views;
} joiner;

/* ---- what of a part is taken ---- */

static bool is_table(const char *path)
{
    static const char *const others[] = {".h5mu", ".h5ad", ".mat", ".json", ".content", ".cites", ".txt", ".txt.gz"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (plx__ends_with(path, others[k])) return false;
    return !plx__is_directory(path);
}

static bool listed(const char *list, const char *name)
{
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == strlen(name) && strncmp(list, name, strlen(name)) == 0) return true;
    return false;
}

static bool has_view(const plx_dataset *part, const char *name)
{
    for (plx_index v = 0; v < part->n_views; v++)
        if (strcmp(part->views[v].name, name) == 0) return true;
    return false;
}

/* A part with several views: the list names some of them. */
static plx_status check_view_list(const joiner *j, const plx_dataset *part, const char *file, const char *list)
{
    const char *names[8], *item = NULL;
    plx_index shown = part->n_views < 8 ? part->n_views : 8;
    char hint[160];
    for (plx_index v = 0; v < shown; v++) names[v] = part->views[v].name;
    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        PLX_TRY(plx__arena_textn(&item, j->arena, list, strcspn(list, ",")));
        if (!has_view(part, item))
            PLX_FAIL(j->ctx, PLX_E_DATA, "%s: there is no view '%s'%s", file, item,
                     plx__suggest(hint, sizeof hint, item, names, shown));
    }
    return PLX_OK;
}

/* Views of a part under the name they were asked for. Where there are several: NAME for the numbers of a table, NAME_VIEW
 * for all others. */
static plx_status name_view(const char **out, const joiner *j, const plx_dataset *part, plx_index view,
                            const char *name, plx_index taken)
{
    const plx__view *v = &part->views[view];
    plx_index numbers = 0;
    *out = name;
    if (taken == 1 || !name) return PLX_OK;
    for (plx_index w = 0; w < part->n_views; w++) numbers += !part->views[w].text;
    if (numbers == 1 && !v->text) return PLX_OK;
    return plx__arena_printf(out, j->arena, "%s_%s", name, v->name);
}

static plx_status take_views(joiner *j, const plx_dataset *part, const char *file, const plx_view_source *source)
{
    const char *list = source && part->n_views > 1 && !is_table(file) ? source->columns : NULL, *name = NULL;
    plx_index taken = 0;
    PLX_TRY(check_view_list(j, part, file, list));
    for (plx_index v = 0; v < part->n_views; v++) taken += !list || listed(list, part->views[v].name);
    for (plx_index v = 0; v < part->n_views; v++) {
        if (list && !listed(list, part->views[v].name)) continue;
        PLX_TRY(name_view(&name, j, part, v, source ? source->name : NULL, taken));
        j->views[j->n_views++] = plx__loose_from(part, v, file, name);
    }
    return PLX_OK;
}

/* ---- reading ---- */

/* Only tables have columns to choose from. */
static plx_status check_columns(const joiner *j, const plx_dataset *part, const char *file, const char *list)
{
    if (part->n_views > 1 || !list) return PLX_OK;
    PLX_FAIL(j->ctx, PLX_E_DATA,
             "%s: columns can be chosen of tables, and views of files with several; '%s' is neither", file, list);
}

static plx_status read_part(joiner *j, const char *file, const plx_view_source *source)
{
    plx__read_request one = *j->request;
    plx_dataset **part = &j->parts[j->n_parts];
    one.o.views = NULL;
    one.o.n_views = 0;
    one.o.labels_file = one.o.labels_column = NULL;
    if (source) one.o.format = NULL;
    if (source) one.o.columns = is_table(file) ? source->columns : NULL;
    plx__arena own; /* a part may keep what it was read into */
    plx__arena_init(&own, j->ctx);
    plx_status st = plx__share_settle(j->ctx, plx__dataset_read_one(part, j->ctx, &own, file, &one));
    plx__arena_free(&own);
    PLX_TRY(st);
    PLX_TRY(plx__dataset_agree(*part, j->ctx));
    j->files[j->n_parts++] = file;
    if (source && !is_table(file)) PLX_TRY(check_columns(j, *part, file, source->columns));
    return PLX_OK;
}

static plx_status check_source(const joiner *j, plx_view_source *out, const plx_view_source *given)
{
    const char *clean = NULL;
    *out = (plx_view_source)PLX_VIEW_SOURCE_INIT;
    PLX_TRY(plx__take_options(out, sizeof *out, j->ctx, given, "PLX_VIEW_SOURCE_INIT"));
    if (!out->name || !out->file) PLX_FAIL(j->ctx, PLX_E_ARG, "a view source needs a name and a file");
    PLX_TRY(plx__view_name(&clean, j->arena, out->name, strlen(out->name)));
    if (strcmp(clean, out->name) != 0)
        PLX_FAIL(j->ctx, PLX_E_ARG,
                 "view name '%s': blanks and any of .,:|+/= are not allowed, nor 'concat' and 'label'", out->name);
    return PLX_OK;
}

/* ---- joining ---- */

static plx_status join_labels(plx_dataset *to, const joiner *j, const plx__sample_list *samples)
{
    const char **labels = NULL, **truth = NULL;
    bool any_labels = false, any_truth = false;
    const plx_read_options *o = &j->request->o;
    PLX_TRY(PLX__ARENA_NEW(&labels, j->arena, samples->n));
    PLX_TRY(PLX__ARENA_NEW(&truth, j->arena, samples->n));
    for (plx_index p = 0; p < j->n_parts; p++) {
        const plx_dataset *part = j->parts[p];
        any_labels |= part->labels != NULL;
        any_truth |= part->truth != NULL;
        if (part->labels && !o->labels_file)
            PLX_TRY(plx__join_texts(labels, j->ctx, samples, part->labels, part->ids, part->n, j->files[p], "label"));
        if (part->truth)
            PLX_TRY(plx__join_texts(truth, j->ctx, samples, part->truth, part->ids, part->n, j->files[p], "truth"));
    }
    if (o->labels_file) {
        plx__label_source from = {o->labels_file, o->labels_column, o->id};
        PLX_TRY(plx__label_source_read(labels, j->ctx, j->arena, &from, samples, "label"));
    }
    if (any_labels || o->labels_file) PLX_TRY(plx__dataset_set_labels(to, j->ctx, labels));
    return any_truth ? plx__dataset_set_truth(to, j->ctx, truth) : PLX_OK;
}

/* Costs and the hierarchy of the parts that have them. */
static plx_status join_rest(plx_dataset *to, const joiner *j, const plx__sample_list *samples)
{
    double *costs = NULL;
    for (plx_index p = 0; p < j->n_parts; p++) {
        const plx_dataset *part = j->parts[p];
        const plx__hierarchy *h = part->hierarchy;
        if (h && !to->hierarchy)
            PLX_TRY(plx__dataset_set_hierarchy(to, j->ctx, h->classes, h->n_classes, h->subset, h->n_subset, h->mutex,
                                               h->n_mutex));
        if (part->label_cost != 1.0) to->label_cost = part->label_cost;
        if (!part->sample_costs) continue;
        if (!costs) {
            PLX_TRY(plx__arena_f64(&costs, j->arena, samples->n, 1));
            for (plx_index i = 0; i < samples->n; i++) costs[i] = 1.0;
        }
        for (plx_index i = 0; i < part->n; i++) {
            plx_index s = part->ids ? plx__map_get(&samples->index, part->ids[i]) : i;
            if (s >= 0) costs[s] = part->sample_costs[i];
        }
    }
    return costs ? plx__dataset_set_sample_costs(to, j->ctx, costs) : PLX_OK;
}

static plx_status check_rows(const joiner *j)
{
    for (plx_index v = 1; v < j->n_views; v++)
        if (plx__table_rows(&j->views[v].table) != plx__table_rows(&j->views[0].table))
            PLX_FAIL(j->ctx, PLX_E_DATA,
                     "%s has %lld rows, %s has %lld; without sample ids they must have as many (ids join files of any "
                     "length and order)",
                     j->views[v].file, (long long)plx__table_rows(&j->views[v].table), j->views[0].file,
                     (long long)plx__table_rows(&j->views[0].table));
    return PLX_OK;
}

static plx_status join_parts(plx_dataset **out, joiner *j)
{
    plx__sample_list samples;
    PLX_TRY(plx__join_samples(&samples, j->ctx, j->arena, j->views, j->n_views, NULL, 0, j->request->o.join));
    if (!samples.ids) PLX_TRY(check_rows(j));
    PLX_TRY(plx__dataset_create(out, j->ctx, j->parts[0]->name, samples.n));
    if (samples.ids) PLX_TRY(plx__dataset_set_ids(*out, j->ctx, samples.ids));
    for (plx_index v = 0; v < j->n_views; v++) PLX_TRY(plx__join_add(*out, j->ctx, &j->views[v], &samples));
    PLX_TRY(join_rest(*out, j, &samples));
    return join_labels(*out, j, &samples);
}

/* Every column that was asked for must have been in one of the files; a single one has said so itself. */
static plx_status check_found(const joiner *j)
{
    if (!j->request->found) return PLX_OK;
    const char *const lists[] = {j->request->o.label, j->request->o.truth, j->request->o.text, j->request->o.drop};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const char *list = lists[k], *item = NULL;
        if (list && plx__map_get(j->request->found, list) >= 0) continue;
        for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
            PLX_TRY(plx__arena_textn(&item, j->arena, list, strcspn(list, ",")));
            if (plx__map_get(j->request->found, item) < 0)
                PLX_FAIL(j->ctx, PLX_E_DATA, "none of the files has a column '%s'", item);
        }
    }
    return PLX_OK;
}

static plx_status read_and_join(plx_dataset **out, joiner *j, const char *path)
{
    const plx_read_options *o = &j->request->o;
    plx_view_source source;
    plx_index room = 0;
    if (path) PLX_TRY(read_part(j, path, NULL));
    for (plx_index k = 0; k < o->n_views; k++) {
        PLX_TRY(check_source(j, &source, &o->views[k]));
        PLX_TRY(read_part(j, source.file, &source));
    }
    for (plx_index p = 0; p < j->n_parts; p++) room += j->parts[p]->n_views;
    PLX_TRY(PLX__ARENA_NEW(&j->views, j->arena, room));
    for (plx_index p = 0; p < j->n_parts; p++) {
        const plx_view_source *from = path && p == 0 ? NULL : &o->views[p - (path != NULL)];
        if (from) PLX_TRY(check_source(j, &source, from));
        PLX_TRY(take_views(j, j->parts[p], j->files[p], from ? &source : NULL));
    }
    PLX_TRY(check_found(j));
    return join_parts(out, j);
}

plx_status plx__dataset_read_joined(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                                    plx__read_request *request)
{
    joiner j = {.ctx = ctx, .arena = arena, .request = request};
    plx_index most = request->o.n_views + (path != NULL);
    plx__map found;
    if (most == 0) PLX_FAIL(ctx, PLX_E_ARG, "neither a path nor views were given; there is nothing to read");
    PLX_TRY(plx__map_init(&found, arena, 8));
    if (request->o.n_views) request->found = &found;
    PLX_TRY(PLX__ARENA_NEW(&j.parts, arena, most));
    PLX_TRY(PLX__ARENA_NEW(&j.files, arena, most));
    plx_status st = read_and_join(out, &j, path);
    for (plx_index p = 0; p < most; p++) plx__dataset_destroy(j.parts[p]);
    return st;
}
