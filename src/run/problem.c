/*
 * Done once, before the method: what the descriptor requires is checked here, with rows counted as the
 * caller counts them, and methods may rely on it.
 */
#include "run/problem.h"

#include <string.h>

#include "data/classes.h"
#include "data/lines.h"
#include "run/problem_views.h"

const plx__param_spec plx__heldout_params[] = {
    {"heldout", PLX_PARAM_FILE, PLX__NO_FIELD, 0, "", 0, 0, NULL,
     "File with one 0/1 per line: samples marked 1 take no part in fitting and are predicted as new ones."},
    PLX__PARAM_END};

/* ---- labels ---- */

typedef struct label_sink {
    const plx__map *map;
    int32_t *out;
    int64_t count;
} label_sink;

static plx_status add_class(void *arg, plx_context *ctx, const char *name, size_t len)
{
    label_sink *sink = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const char *text = NULL;
    PLX_TRY(plx__arena_textn(&text, plx__scratch(ctx), name, len));
    plx_index c = plx__map_get(sink->map, text);
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (c >= 0) sink->out[sink->count++] = (int32_t)c; /* "-" is the empty set */
    return PLX_OK;
}

static plx_index count_names(const char *text)
{
    plx_index count = 1;
    for (; *text; text++) count += *text == '|';
    return count;
}

static plx_status index_labels(plx__problem *p, plx_context *ctx)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__map map;
    plx_index existing = -1, most = 0;
    int64_t *ptr = NULL;
    int32_t *set = NULL, *label = NULL;
    PLX_TRY(plx__map_init(&map, scratch, p->n_classes));
    for (plx_index c = 0; c < p->n_classes; c++) PLX_TRY(plx__map_add(&map, p->classes[c], c, &existing));
    for (plx_index i = 0; i < p->n; i++)
        if (p->label_text[i]) most += count_names(p->label_text[i]);
    PLX_TRY(plx__arena_i64(&ptr, scratch, p->n + 1));
    PLX_TRY(plx__arena_i32(&set, scratch, most));
    PLX_TRY(plx__arena_i32(&label, scratch, p->n));
    label_sink sink = {&map, set, 0};
    for (plx_index i = 0; i < p->n; i++) {
        if (p->label_text[i]) PLX_TRY(plx__each_class(p->label_text[i], ctx, add_class, &sink));
        ptr[i + 1] = sink.count;
        label[i] = ptr[i + 1] > ptr[i] ? set[ptr[i]] : -1;
        p->n_labelled += label[i] >= 0;
    }
    p->set_ptr = ptr;
    p->set_class = set;
    p->label = label;
    return PLX_OK;
}

/* Class order: the hierarchy's own, else byte-sorted names among the labels the learner may see. */
static plx_status build_classes(plx__problem *p, plx_context *ctx, plx__arena *keep, const plx_dataset *data)
{
    if (!data->hierarchy) return plx__class_names(&p->classes, &p->n_classes, ctx, keep, p->label_text, NULL, p->n);
    const char **copy = NULL;
    p->n_classes = data->hierarchy->n_classes;
    PLX_TRY(PLX__ARENA_NEW(&copy, keep, p->n_classes));
    for (plx_index c = 0; c < p->n_classes; c++) PLX_TRY(plx__arena_text(&copy[c], keep, data->hierarchy->classes[c]));
    p->classes = copy;
    p->hierarchy = data->hierarchy;
    return PLX_OK;
}

static plx_status build_ids(plx__problem *p, plx_context *ctx, const plx_dataset *data)
{
    const char **ids = NULL;
    PLX_TRY(PLX__ARENA_NEW(&ids, plx__scratch(ctx), p->n));
    for (plx_index i = 0; i < p->n; i++) {
        if (data->ids) ids[i] = data->ids[i];
        else PLX_TRY(plx__arena_printf(&ids[i], plx__scratch(ctx), "%lld", (long long)p->row[i]));
    }
    p->ids = ids;
    p->has_ids = data->ids != NULL;
    return PLX_OK;
}

plx_status plx__problem_build(plx__problem *out, plx_context *ctx, plx__arena *keep, const plx__problem_source *from)
{
    const plx_dataset *data = from->data;
    plx__arena *scratch = plx__scratch(ctx);
    plx_index *identity = NULL;
    const char **none = NULL;
    *out = (plx__problem){.n = data->n, .row = from->row, .rows = from->rows};
    if (!from->row) {
        PLX_TRY(plx__arena_i64(&identity, scratch, data->n));
        for (plx_index i = 0; i < data->n; i++) identity[i] = i;
        out->row = identity;
    }
    PLX_TRY(plx__problem_views(out, ctx, from));
    PLX_TRY(build_ids(out, ctx, data));
    out->label_text = data->labels;
    out->sample_costs = data->sample_costs;
    if (!from->fitting || !data->labels) {
        PLX_TRY(PLX__ARENA_NEW(&none, scratch, data->n));
        out->label_text = none;
    }
    if (from->fitting) PLX_TRY(build_classes(out, ctx, keep, data));
    return index_labels(out, ctx);
}

/* ---- checks ---- */

/* Rows are the caller's, also when samples are held out. */
static plx_status refuse_nan(plx_context *ctx, const plx__method *m, const plx__problem *p, const plx__view *v)
{
    const char *feature = "", *sample = "";
    if (p->has_ids) PLX_TRY(plx__arena_printf(&sample, plx__scratch(ctx), " (sample '%.60s')", p->ids[v->nan_row]));
    if (v->features) PLX_TRY(plx__arena_printf(&feature, plx__scratch(ctx), " ('%s')", v->features[v->nan_col]));
    PLX_FAIL(ctx, PLX_E_DATA,
             "%s: view '%s' row %lld, column %lld%s: nan%s; this method accepts missing views, not missing values; "
             "complete the data first, use kcomplete, or remove them",
             m->name, v->name, (long long)p->row[v->nan_row], (long long)v->nan_col, feature, sample);
}

static plx_status check_views(plx_context *ctx, const plx__method *m, const plx__problem *p)
{
    if (!p->n_views) PLX_FAIL(ctx, PLX_E_DATA, "%s: no sample has any view; there is nothing to learn from", m->name);
    if (p->n_views < m->min_views || (m->max_views && p->n_views > m->max_views)) {
        if (p->n_views < m->min_views)
            PLX_FAIL(ctx, PLX_E_DATA, "%s: needs at least %s view%s (found %lld)", m->name,
                     m->min_views == 2 ? "two" : "one", m->min_views == 1 ? "" : "s", (long long)p->n_views);
        PLX_FAIL(ctx, PLX_E_DATA, "%s: takes at most %lld views (found %lld)", m->name, (long long)m->max_views,
                 (long long)p->n_views);
    }
    for (plx_index v = 0; v < p->n_views; v++) {
        const plx__view *view = &p->views[v];
        if (view->kind == PLX_VIEW_KERNEL && !(m->capabilities & PLX_CAN_KERNEL_VIEWS))
            PLX_FAIL(ctx, PLX_E_DATA, "%s: view '%s' is of kind kernel, which this method cannot use; leave it out",
                     m->name, view->name);
        if (view->missing_values && !(m->capabilities & PLX_CAN_MISSING_VALUES)) return refuse_nan(ctx, m, p, view);
        if (view->present_count < p->n && !(m->capabilities & PLX_CAN_MISSING_VIEWS))
            PLX_FAIL(ctx, PLX_E_DATA, "%s: view '%s' is missing for %lld samples; this method needs complete views",
                     m->name, view->name, (long long)(p->n - view->present_count));
    }
    return PLX_OK;
}

static plx_status check_labels(plx_context *ctx, const plx__method *m, const plx__problem *p)
{
    if (!(m->capabilities & PLX_CAN_LABEL_SETS))
        for (plx_index i = 0; i < p->n; i++)
            if (p->set_ptr[i + 1] - p->set_ptr[i] > 1)
                PLX_FAIL(ctx, PLX_E_DATA,
                         "%s: sample %s has several labels (%s); hierarchical label sets need a method like mvkmeans",
                         m->name, p->ids[i], p->label_text[i]);
    if (m->min_classes && !p->n_labelled)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: no labels; at least one sample must be labelled", m->name);
    plx_index seen = 0;
    uint8_t *used = NULL;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(ctx), p->n_classes));
    for (plx_index i = 0; i < p->set_ptr[p->n]; i++) used[p->set_class[i]] = 1;
    for (plx_index c = 0; c < p->n_classes; c++) seen += used[c];
    if (seen < m->min_classes)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: need at least two classes among the labelled samples (found %lld)", m->name,
                 (long long)seen);
    return PLX_OK;
}

plx_status plx__problem_check(plx_context *ctx, const plx__method *m, const plx__problem *p, bool fitting)
{
    PLX_TRY(check_views(ctx, m, p));
    return fitting ? check_labels(ctx, m, p) : PLX_OK;
}

/* ---- files with a flag per row ---- */

plx_status plx__read_flags(uint8_t **out, plx_context *ctx, plx__arena *arena, const char *directory, const char *path,
                           plx_index rows, const char *parameter)
{
    const char *full = NULL;
    plx_index count = 0;
    if (plx__starts_with(path, "file:")) path += 5;
    PLX_TRY(plx__path_join(&full, arena, directory ? directory : ".", path));
    PLX_TRY(plx__flag_lines_read(out, &count, ctx, arena, full));
    if (count != rows)
        PLX_FAIL(ctx, PLX_E_DATA, "%s = %s: the file has %lld lines, the data set %lld samples", parameter, path,
                 (long long)count, (long long)rows);
    return PLX_OK;
}
