/*
 * Splitting the columns of a view into views.
 */
#include "data/feature_split.h"

#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/rng.h"
#include "data/scale.h"
#include "parallax/split.h"

static const uint64_t SPLIT_STREAM = PLX__STREAM('f', 's', 'p', 'l', 0);

plx_status plx__feature_split_random(plx__feature_split *out, plx_context *ctx, plx__arena *arena, plx_index cols,
                                     plx_index parts, uint64_t stream)
{
    int32_t *part = NULL;
    plx_index *order = NULL;
    plx__rng r = plx__rng_start(ctx->seed, stream);
    if (parts < 1 || parts > cols)
        PLX_FAIL(ctx, PLX_E_ARG, "split = %lld: must be in [1, %lld], the number of columns", (long long)parts,
                 (long long)cols);
    PLX_TRY(plx__arena_i32(&part, arena, cols));
    PLX_TRY(plx__arena_i64(&order, arena, cols));
    plx__permutation(&r, order, cols);
    for (plx_index j = 0; j < cols; j++) part[order[j]] = (int32_t)(j % parts);
    *out = (plx__feature_split){cols, parts, part};
    return PLX_OK;
}

plx_status plx__feature_split_from(plx__feature_split *out, plx_context *ctx, plx__arena *arena, const char *where,
                                   const int32_t *part, plx_index cols)
{
    int32_t *copy = NULL;
    uint8_t *used = NULL;
    plx_index parts = 0;
    PLX_TRY(plx__arena_i32(&copy, arena, cols));
    for (plx_index j = 0; j < cols; j++) {
        copy[j] = part[j];
        if (copy[j] < 0 || copy[j] >= cols)
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s line %lld: view number %d is not in 0 to %lld", where, (long long)j + 1,
                     (int)copy[j], (long long)cols - 1);
        parts = plx__max(parts, copy[j] + 1);
    }
    PLX_TRY(plx__arena_u8(&used, arena, parts));
    for (plx_index j = 0; j < cols; j++) used[copy[j]] = 1;
    for (plx_index p = 0; p < parts; p++)
        if (!used[p])
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: view %lld of %lld gets no column", where, (long long)p, (long long)parts);
    *out = (plx__feature_split){cols, parts, copy};
    return PLX_OK;
}

static plx_status parse_part(int32_t *out, plx_context *ctx, const char *path, plx_index number, const char *line,
                             size_t len)
{
    const char *end = line + len;
    int64_t value = 0;
    while (line < end && (*line == ' ' || *line == '\t')) line++;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (line == end || plx__read_int64(&value, line, end) != end || value < 0 || value > INT32_MAX)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s line %lld: expected the 0-based number of a view, found '%.*s'", path,
                 (long long)number, (int)plx__min(end - line, 40), line);
    *out = (int32_t)value;
    return PLX_OK;
}

static plx_status parse_parts(int32_t *part, plx_context *ctx, const char *path, const plx__bytes *file, plx_index cols)
{
    const char *cursor = file->data, *end = file->data + file->size, *line = NULL;
    size_t len = 0;
    plx_index number = 0;
    while (plx__next_line(&line, &len, &cursor, end)) {
        if (number < cols) PLX_TRY(parse_part(&part[number], ctx, path, number + 1, line, len));
        number++;
    }
    if (number != cols)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s has %lld lines, but the view has %lld columns; one line per column is needed",
                 path, (long long)number, (long long)cols);
    return PLX_OK;
}

plx_status plx__feature_split_read(plx__feature_split *out, plx_context *ctx, plx__arena *arena, const char *path,
                                   plx_index cols)
{
    plx__bytes file;
    int32_t *part = NULL;
    PLX_TRY(plx__arena_i32(&part, arena, cols));
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    plx_status st = parse_parts(part, ctx, path, &file, cols);
    plx__bytes_free(&file, ctx);
    PLX_TRY(st);
    return plx__feature_split_from(out, ctx, arena, path, part, cols);
}

plx_status plx__feature_split_apply(plx__view *parts, plx_context *ctx, plx__arena *arena,
                                    const plx__feature_split *split, const plx__view *view, const char *prefix)
{
    int32_t *column = NULL;
    if (view->cols != split->cols)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' has %lld columns, its split was made for %lld", view->name,
                 (long long)view->cols, (long long)split->cols);
    PLX_TRY(plx__arena_i32(&column, arena, split->cols));
    for (plx_index p = 0; p < split->parts; p++) {
        plx_index count = 0;
        for (plx_index j = 0; j < split->cols; j++)
            if (split->part[j] == p) column[count++] = (int32_t)j;
        PLX_TRY(plx__view_columns(&parts[p], ctx, arena, view, column, count));
        PLX_TRY(plx__arena_printf(&parts[p].name, arena, "%s%lld", prefix, (long long)p));
    }
    return PLX_OK;
}

/* ---- data sets ---- */

static plx_status add_view(plx_dataset *to, plx_context *ctx, const plx__view *v)
{
    if (v->sparse) PLX_TRY(plx__dataset_add_sparse(to, ctx, v->name, v->kind, v->csr, v->features, v->present));
    else PLX_TRY(plx__dataset_add_dense(to, ctx, v->name, v->kind, v->dense, v->features, v->present));
    to->views[to->n_views - 1].cost = v->cost;
    return PLX_OK;
}

static plx_status copy_rest(plx_dataset *to, plx_context *ctx, const plx_dataset *from)
{
    const plx__hierarchy *h = from->hierarchy;
    if (h)
        PLX_TRY(plx__dataset_set_hierarchy(to, ctx, h->classes, h->n_classes, h->subset, h->n_subset, h->mutex,
                                           h->n_mutex));
    if (from->ids) PLX_TRY(plx__dataset_set_ids(to, ctx, from->ids));
    if (from->labels) PLX_TRY(plx__dataset_set_labels(to, ctx, from->labels));
    if (from->truth) PLX_TRY(plx__dataset_set_truth(to, ctx, from->truth));
    PLX_TRY(plx__dataset_set_label_cost(to, ctx, from->label_cost));
    return plx__dataset_set_sample_costs(to, ctx, from->sample_costs);
}

plx_status plx__dataset_replace_view(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                                     const plx__view *views, plx_index count)
{
    plx_status st = PLX_OK;
    plx_dataset *to = NULL;
    *out = NULL;
    PLX_GOTO(plx__dataset_create(&to, ctx, data->name, data->n));
    PLX_GOTO(copy_rest(to, ctx, data));
    for (plx_index w = 0; w < data->n_views; w++) {
        if (w != v) PLX_GOTO(plx__dataset_share(to, ctx, &data->views[w]));
        for (plx_index p = 0; w == v && p < count; p++) PLX_GOTO(add_view(to, ctx, &views[p]));
    }
    *out = to;
    to = NULL;
done:
    plx__dataset_destroy(to);
    return st;
}

plx_status plx__feature_split_dataset(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                                      const plx__feature_split *split)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const plx__view *view = &data->views[v];
    plx__view *parts = NULL;
    *out = NULL;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(ctx), split->parts));
    PLX_TRY(plx__feature_split_apply(parts, ctx, plx__scratch(ctx), split, view, "split"));
    for (plx_index p = 0; p < split->parts; p++)
        parts[p].cost = view->cost * (double)parts[p].cols / (double)view->cols;
    PLX_TRY(plx__dataset_replace_view(out, ctx, data, v, parts, split->parts));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__split_features(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                               const char *spec)
{
    plx__feature_split split;
    plx__arena *scratch = plx__scratch(ctx);
    int64_t parts = 0;
    if (v < 0 || v >= data->n_views)
        PLX_FAIL(ctx, PLX_E_ARG, "view %lld does not exist (there are %lld)", (long long)v, (long long)data->n_views);
    const plx__view *view = &data->views[v];
    if (view->kind == PLX_VIEW_KERNEL)
        PLX_FAIL(ctx, PLX_E_ARG, "view '%s' is a kernel: its columns are samples and cannot be split", view->name);
    if (plx__starts_with(spec, "file:")) PLX_TRY(plx__feature_split_read(&split, ctx, scratch, spec + 5, view->cols));
    else if (plx__parse_int64(&parts, spec))
        PLX_TRY(plx__feature_split_random(&split, ctx, scratch, view->cols, parts, SPLIT_STREAM));
    else PLX_FAIL(ctx, PLX_E_ARG, "split = %s: must be a number of views or file:PATH", spec);
    return plx__feature_split_dataset(out, ctx, data, v, &split);
}
