/*
 * Data set: creation, ids, labels, hierarchy, costs. Views are in dataset_view.c.
 */
#include "data/classes.h"
#include "data/dataset_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

plx_status plx__dataset_create(plx_dataset **out, plx_context *ctx, const char *name, plx_index n)
{
    *out = NULL;
    if (n < 1) PLX_FAIL(ctx, PLX_E_DATA, "a data set needs at least one sample (found %lld)", (long long)n);
    plx_dataset *data = plx__alloc(ctx, sizeof *data);
    if (!data) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *data = (plx_dataset){.n = n, .label_cost = 1.0};
    plx__arena_init(&data->arena, ctx);
    plx_status st = plx__arena_text(&data->name, &data->arena, name ? name : "data");
    if (st == PLX_OK) *out = data;
    else plx__dataset_destroy(data);
    return st;
}

void plx__dataset_destroy(plx_dataset *data)
{
    if (!data) return;
    plx_context *ctx = data->arena.ctx;
    for (plx_index v = 0; v < data->n_views; v++) plx__shared_drop(data->views[v].block);
    plx__arena_free(&data->arena);
    plx__release(ctx, data, sizeof *data);
}

/* ---- ids ---- */

plx_status plx__dataset_set_ids(plx_dataset *data, plx_context *ctx, const char *const *ids)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx__map seen;
    const char **copy = NULL;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&seen, scratch, data->n));
    PLX_TRY(PLX__ARENA_NEW(&copy, &data->arena, data->n));
    for (plx_index i = 0; i < data->n; i++) {
        if (!ids[i] || !ids[i][0]) PLX_FAIL(ctx, PLX_E_DATA, "sample %lld has an empty id", (long long)i);
        PLX_TRY(plx__arena_text(&copy[i], &data->arena, ids[i]));
        PLX_TRY(plx__map_add(&seen, copy[i], i, &existing));
        if (existing >= 0)
            PLX_FAIL(ctx, PLX_E_DATA, "duplicate id '%s' (samples %lld and %lld); ids must be distinct", copy[i],
                     (long long)existing, (long long)i);
    }
    plx__arena_rewind(scratch, mark);
    data->ids = copy;
    return PLX_OK;
}

/* ---- labels ---- */

/* Classes of labels and truth together, byte-sorted; with a hierarchy: its own list. */
static plx_status refresh_classes(plx_dataset *data, plx_context *ctx)
{
    if (data->hierarchy) {
        data->classes = data->hierarchy->classes;
        data->n_classes = data->hierarchy->n_classes;
        return PLX_OK;
    }
    return plx__class_names(&data->classes, &data->n_classes, ctx, &data->arena, data->labels, data->truth, data->n);
}

typedef struct known_check {
    const plx__map *classes;
    const char *unknown;
    size_t len;
} known_check;

static plx_status check_known(void *arg, plx_context *ctx, const char *name, size_t len)
{
    known_check *k = arg;
    const char *text = NULL;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_textn(&text, plx__scratch(ctx), name, len));
    if (!k->unknown && strcmp(text, "-") != 0 && plx__map_get(k->classes, text) < 0) {
        k->unknown = name;
        k->len = len;
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status check_against_hierarchy(const plx_dataset *data, plx_context *ctx, const char *const *labels,
                                          const char *what)
{
    if (!data->hierarchy || !labels) return PLX_OK;
    const plx__hierarchy *h = data->hierarchy;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__map map;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&map, plx__scratch(ctx), h->n_classes));
    for (plx_index c = 0; c < h->n_classes; c++) PLX_TRY(plx__map_add(&map, h->classes[c], c, &existing));
    for (plx_index i = 0; i < data->n; i++) {
        known_check k = {&map, NULL, 0};
        if (labels[i]) PLX_TRY(plx__each_class(labels[i], ctx, check_known, &k));
        if (!k.unknown) continue;
        char near[128], name[128];
        snprintf(name, sizeof name, "%.*s", (int)(k.len < 100 ? k.len : 100), k.unknown);
        PLX_FAIL(ctx, PLX_E_DATA, "%s of sample %lld: class '%s' is not in the hierarchy%s", what, (long long)i, name,
                 plx__suggest(near, sizeof near, name, h->classes, h->n_classes));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status copy_labels(const char *const **out, plx_dataset *data, plx_context *ctx, const char *const *labels,
                              const char *what, bool empty_allowed)
{
    const char **copy = NULL;
    PLX_TRY(PLX__ARENA_NEW(&copy, &data->arena, data->n));
    for (plx_index i = 0; i < data->n; i++) {
        if (!labels[i] || strcmp(labels[i], "?") == 0) continue;
        if (!labels[i][0] && !empty_allowed)
            PLX_FAIL(ctx, PLX_E_DATA, "%s of sample %lld is empty; write ? for unlabelled", what, (long long)i);
        PLX_TRY(plx__arena_text(&copy[i], &data->arena, labels[i]));
    }
    PLX_TRY(check_against_hierarchy(data, ctx, copy, what));
    *out = copy;
    return PLX_OK;
}

plx_status plx__dataset_set_labels(plx_dataset *data, plx_context *ctx, const char *const *labels)
{
    const char *const *copy = NULL;
    if (labels) PLX_TRY(copy_labels(&copy, data, ctx, labels, "label", false));
    data->labels = copy;
    return refresh_classes(data, ctx);
}

plx_status plx__dataset_set_truth(plx_dataset *data, plx_context *ctx, const char *const *truth)
{
    const char *const *copy = NULL;
    if (truth) PLX_TRY(copy_labels(&copy, data, ctx, truth, "truth", true));
    data->truth = copy;
    return refresh_classes(data, ctx);
}

/* ---- hierarchy ---- */

static plx_status check_pairs(plx_context *ctx, const int32_t *pairs, plx_index count, plx_index n_classes,
                              const char *const *classes, const char *what)
{
    for (plx_index p = 0; p < 2 * count; p++)
        if (pairs[p] < 0 || pairs[p] >= n_classes)
            PLX_FAIL(ctx, PLX_E_DATA, "hierarchy: %s pair %lld names class %d of %lld", what, (long long)(p / 2),
                     (int)pairs[p], (long long)n_classes);
    for (plx_index p = 0; p < count; p++)
        if (pairs[2 * p] == pairs[2 * p + 1])
            PLX_FAIL(ctx, PLX_E_DATA, "hierarchy: %s pairs class '%s' with itself", what, classes[pairs[2 * p]]);
    return PLX_OK;
}

/* Repeatedly removes classes that are below nothing left (Kahn): what cannot be removed is on a cycle. */
static plx_status check_acyclic(plx_context *ctx, const int32_t *subset, plx_index count, plx_index n_classes,
                                const char *const *classes)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    int64_t *parents = NULL, *queue = NULL;
    PLX_TRY(plx__arena_i64(&parents, plx__scratch(ctx), n_classes));
    PLX_TRY(plx__arena_i64(&queue, plx__scratch(ctx), n_classes));
    plx_index head = 0, tail = 0;
    for (plx_index p = 0; p < count; p++) parents[subset[2 * p]]++;
    for (plx_index c = 0; c < n_classes; c++)
        if (!parents[c]) queue[tail++] = c;
    while (head < tail) {
        plx_index above = queue[head++];
        for (plx_index p = 0; p < count; p++)
            if (subset[2 * p + 1] == above && --parents[subset[2 * p]] == 0) queue[tail++] = subset[2 * p];
    }
    for (plx_index c = 0; tail < n_classes && c < n_classes; c++)
        if (parents[c])
            PLX_FAIL(ctx, PLX_E_DATA, "hierarchy: class '%s' is below itself (subset has a cycle)", classes[c]);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status copy_classes(const char *const **out, plx_dataset *data, plx_context *ctx, const char *const *classes,
                               plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const char **copy = NULL;
    plx__map map;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&map, plx__scratch(ctx), n));
    PLX_TRY(PLX__ARENA_NEW(&copy, &data->arena, n));
    for (plx_index c = 0; c < n; c++) {
        if (!classes[c] || !classes[c][0] || strchr(classes[c], '|'))
            PLX_FAIL(ctx, PLX_E_DATA, "hierarchy: class %lld has an empty name or one with '|'", (long long)c);
        PLX_TRY(plx__arena_text(&copy[c], &data->arena, classes[c]));
        PLX_TRY(plx__map_add(&map, copy[c], c, &existing));
        if (existing >= 0) PLX_FAIL(ctx, PLX_E_DATA, "hierarchy: class '%s' is listed twice", copy[c]);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    *out = copy;
    return PLX_OK;
}

static plx_status copy_pairs(const int32_t **out, plx__arena *arena, const int32_t *pairs, plx_index count)
{
    int32_t *copy = NULL;
    PLX_TRY(plx__arena_i32(&copy, arena, 2 * count));
    if (count) memcpy(copy, pairs, (size_t)(2 * count) * sizeof *copy);
    *out = copy;
    return PLX_OK;
}

plx_status plx__dataset_set_hierarchy(plx_dataset *data, plx_context *ctx, const char *const *classes,
                                      plx_index n_classes, const int32_t *subset, plx_index n_subset,
                                      const int32_t *mutex, plx_index n_mutex)
{
    plx__hierarchy *h = NULL, *old = data->hierarchy;
    if (n_classes < 1) PLX_FAIL(ctx, PLX_E_DATA, "hierarchy: no classes");
    PLX_TRY(PLX__ARENA_NEW(&h, &data->arena, 1));
    PLX_TRY(copy_classes(&h->classes, data, ctx, classes, n_classes));
    PLX_TRY(check_pairs(ctx, subset, n_subset, n_classes, classes, "subset"));
    PLX_TRY(check_pairs(ctx, mutex, n_mutex, n_classes, classes, "mutex"));
    PLX_TRY(check_acyclic(ctx, subset, n_subset, n_classes, classes));
    PLX_TRY(copy_pairs(&h->subset, &data->arena, subset, n_subset));
    PLX_TRY(copy_pairs(&h->mutex, &data->arena, mutex, n_mutex));
    h->n_classes = n_classes;
    h->n_subset = n_subset;
    h->n_mutex = n_mutex;
    data->hierarchy = h;
    plx_status st = check_against_hierarchy(data, ctx, data->labels, "label");
    if (st == PLX_OK) st = check_against_hierarchy(data, ctx, data->truth, "truth");
    if (st != PLX_OK) {
        data->hierarchy = old;
        return st;
    }
    return refresh_classes(data, ctx);
}

/* ---- costs ---- */

static plx_status check_cost(plx_context *ctx, double cost, const char *what)
{
    if (cost > 0 && isfinite(cost)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_DATA, "cost of %s = %g: must be > 0", what, cost);
}

plx_status plx__dataset_set_label_cost(plx_dataset *data, plx_context *ctx, double cost)
{
    PLX_TRY(check_cost(ctx, cost, "a label"));
    data->label_cost = cost;
    return PLX_OK;
}

plx_status plx__dataset_set_view_cost(plx_dataset *data, plx_context *ctx, plx_index view, double cost)
{
    if (view < 0 || view >= data->n_views) PLX_FAIL(ctx, PLX_E_ARG, "view %lld does not exist", (long long)view);
    PLX_TRY(check_cost(ctx, cost, data->views[view].name));
    data->views[view].cost = cost;
    return PLX_OK;
}

plx_status plx__dataset_set_sample_costs(plx_dataset *data, plx_context *ctx, const double *costs)
{
    double *copy = NULL;
    for (plx_index i = 0; costs && i < data->n; i++)
        if (!(costs[i] > 0 && isfinite(costs[i])))
            PLX_FAIL(ctx, PLX_E_DATA, "cost of sample %lld = %g: must be > 0", (long long)i, costs[i]);
    if (costs) {
        PLX_TRY(plx__arena_f64(&copy, &data->arena, data->n, 1));
        memcpy(copy, costs, (size_t)data->n * sizeof *copy);
    }
    data->sample_costs = copy;
    return PLX_OK;
}
