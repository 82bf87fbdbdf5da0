/*
 * Data sets made from data sets: chosen samples, other presence, other labels. Views that stay as they are are shared.
 */
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "data/kernel_columns.h"

/* What the columns are called in the part: those of a kernel view like the samples of the whole, so that the part, and
 * files written from it, still tell which column belongs to whom. */
static plx_status column_names(const char *const **out, plx_context *ctx, const plx__view *v, const plx_dataset *from,
                               const char *const *names)
{
    plx__kernel_columns columns;
    *out = v->features;
    if (v->kind != PLX_VIEW_KERNEL || !names || v->cols != from->n) return PLX_OK;
    PLX_TRY(plx__kernel_columns_find(&columns, ctx, v->features, v->cols, names, from->n));
    if (!columns.by_name) *out = names;
    return PLX_OK;
}

static plx_status pick_sparse(plx_csr *out, plx__arena *arena, plx_ccsr from, const plx_index *samples, plx_index count,
                              const uint8_t *present)
{
    plx_index nnz = 0;
    for (plx_index i = 0; i < count; i++)
        if (present[i]) nnz += from.ptr[samples[i] + 1] - from.ptr[samples[i]];
    PLX_TRY(plx__arena_csr(out, arena, count, from.cols, nnz));
    for (plx_index i = 0; i < count; i++) {
        int64_t begin = from.ptr[samples[i]], len = present[i] ? from.ptr[samples[i] + 1] - begin : 0, at = out->ptr[i];
        if (len) memcpy(out->col + at, from.col + begin, (size_t)len * sizeof *out->col);
        if (len) memcpy(out->val + at, from.val + begin, (size_t)len * sizeof *out->val);
        out->ptr[i + 1] = at + len;
    }
    return PLX_OK;
}

/* Rows begin .. end-1 of the part are those that are here. */
static plx_status pick_dense(plx_mat *out, plx__arena *arena, plx_cmat from, const plx_index *samples, plx_index begin,
                             plx_index end, plx_index count, const uint8_t *present)
{
    double *values = NULL;
    PLX_TRY(plx__arena_f64(&values, arena, end - begin, from.cols));
    *out = (plx_mat){begin ? plx__rows_at(values, begin, from.cols) : values, count, from.cols, from.cols};
    for (plx_index i = begin; i < end; i++)
        if (present[i])
            memcpy(out->data + i * out->ld, from.data + samples[i] * from.ld, (size_t)from.cols * sizeof(double));
    return PLX_OK;
}

/* Which of the chosen rows of a divided view are here. */
static plx_status held_rows(plx_index *begin, plx_index *end, plx_context *ctx, const plx__view *v,
                            const plx_index *samples, plx_index count)
{
    *begin = 0;
    *end = count;
    if (!v->divided) return PLX_OK;
    for (plx_index i = 1; i < count; i++)
        if (samples[i] <= samples[i - 1])
            PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "view '%s' is divided among ranks: its samples can be left out, not moved",
                     v->name);
    while (*begin < count && samples[*begin] < v->begin) ++*begin;
    for (*end = *begin; *end < count && samples[*end] < v->end;) ++*end;
    return PLX_OK;
}

/* A view of values that are in the arena, with the cost and the text options of another. */
static plx_status adopt_like(plx_dataset *to, plx_context *ctx, plx__arena *arena, const plx__view_source *s,
                             const plx__view *v)
{
    PLX_TRY(plx__dataset_adopt_arena(to, ctx, arena, s));
    to->views[to->n_views - 1].cost = v->cost;
    return v->text ? plx__arena_text(&to->views[to->n_views - 1].text, &to->arena, v->text) : PLX_OK;
}

/* Rows samples[0..count) of view v into `to`, present where the flags say so. */
static plx_status copy_view(plx_dataset *to, plx_context *ctx, const plx__view *v, const char *const *features,
                            const plx_index *samples, plx_index count, const uint8_t *present)
{
    plx__view_source s = {
        .name = v->name, .kind = v->kind, .sparse = v->sparse, .features = features, .present = present};
    plx__arena arena;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, to->arena.ctx);
    s.divided = v->divided;
    PLX_GOTO(held_rows(&s.begin, &s.end, ctx, v, samples, count));
    if (v->sparse) PLX_GOTO(pick_sparse(&s.csr, &arena, v->csr, samples, count, present));
    else PLX_GOTO(pick_dense(&s.dense, &arena, v->dense, samples, s.begin, s.end, count, present));
    PLX_GOTO(adopt_like(to, ctx, &arena, &s, v));
done:
    plx__arena_free(&arena);
    return st;
}

static plx_status pick(const char ***out, plx_context *ctx, const char *const *from, const plx_index *samples,
                       plx_index count)
{
    *out = NULL;
    if (!from) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), count));
    for (plx_index i = 0; i < count; i++) (*out)[i] = from[samples[i]];
    return PLX_OK;
}

static plx_status copy_hierarchy(plx_dataset *to, plx_context *ctx, const plx__hierarchy *h)
{
    if (!h) return PLX_OK;
    return plx__dataset_set_hierarchy(to, ctx, h->classes, h->n_classes, h->subset, h->n_subset, h->mutex, h->n_mutex);
}

static plx_status copy_about_samples(plx_dataset *to, plx_context *ctx, const plx_dataset *from,
                                     const char *const *names, const plx_index *samples, plx_index count)
{
    const char **ids = NULL, **labels = NULL, **truth = NULL;
    double *costs = NULL;
    PLX_TRY(pick(&ids, ctx, names, samples, count));
    PLX_TRY(pick(&labels, ctx, from->labels, samples, count));
    PLX_TRY(pick(&truth, ctx, from->truth, samples, count));
    PLX_TRY(copy_hierarchy(to, ctx, from->hierarchy));
    if (ids) PLX_TRY(plx__dataset_set_ids(to, ctx, ids));
    if (labels) PLX_TRY(plx__dataset_set_labels(to, ctx, labels));
    if (truth) PLX_TRY(plx__dataset_set_truth(to, ctx, truth));
    to->label_cost = from->label_cost;
    if (!from->sample_costs) return PLX_OK;
    PLX_TRY(plx__arena_f64(&costs, plx__scratch(ctx), count, 1));
    for (plx_index i = 0; i < count; i++) costs[i] = from->sample_costs[samples[i]];
    return plx__dataset_set_sample_costs(to, ctx, costs);
}

typedef struct choice {
    const plx_index *samples;
    plx_index count;
    const uint8_t *present; /* views x count, or NULL: the flags as they are */
    bool part;              /* some of the samples, perhaps in another order */
} choice;

static plx_status derive(plx_dataset *to, plx_context *ctx, const plx_dataset *from, const choice *c)
{
    uint8_t *flags = NULL;
    const char *const *names = from->ids, *const *features = NULL;
    if (c->part) PLX_TRY(plx__kernel_sample_names(&names, ctx, from));
    PLX_TRY(plx__arena_u8(&flags, plx__scratch(ctx), c->count));
    PLX_TRY(copy_about_samples(to, ctx, from, names, c->samples, c->count));
    for (plx_index v = 0; v < from->n_views; v++) {
        const plx__view *view = &from->views[v];
        for (plx_index i = 0; i < c->count; i++) {
            flags[i] = c->present ? c->present[v * c->count + i] : view->present[c->samples[i]];
            if (flags[i] && !view->present[c->samples[i]])
                PLX_FAIL(ctx, PLX_E_ARG, "view '%s' is missing for sample %lld and cannot be made present", view->name,
                         (long long)c->samples[i]);
        }
        if (!c->part && memcmp(flags, view->present, (size_t)c->count) == 0) {
            PLX_TRY(plx__dataset_share(to, ctx, view));
            continue;
        }
        PLX_TRY(column_names(&features, ctx, view, from, c->part ? names : NULL));
        PLX_TRY(copy_view(to, ctx, view, features, c->samples, c->count, flags));
    }
    return PLX_OK;
}

static plx_status derive_new(plx_dataset **out, plx_context *ctx, const plx_dataset *from, const choice *c)
{
    *out = NULL;
    for (plx_index i = 0; i < c->count; i++)
        if (c->samples[i] < 0 || c->samples[i] >= from->n)
            PLX_FAIL(ctx, PLX_E_ARG, "sample %lld does not exist (there are %lld)", (long long)c->samples[i],
                     (long long)from->n);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_dataset *to = NULL;
    PLX_TRY(plx__dataset_create(&to, ctx, from->name, c->count));
    plx_status st = derive(to, ctx, from, c);
    if (st == PLX_OK && plx__dataset_divided(from)) st = plx__dataset_agree(to, ctx);
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (st == PLX_OK) *out = to;
    else plx__dataset_destroy(to);
    return st;
}

plx_status plx__dataset_select(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const plx_index *samples,
                               plx_index count)
{
    return derive_new(out, ctx, data, &(choice){samples, count, NULL, true});
}

static plx_status all_samples(plx_index **out, plx_context *ctx, plx_index n)
{
    PLX_TRY(plx__arena_i64(out, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) (*out)[i] = i;
    return PLX_OK;
}

plx_status plx__dataset_mask(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const uint8_t *present)
{
    plx_index *all = NULL;
    *out = NULL;
    PLX_TRY(all_samples(&all, ctx, data->n));
    return derive_new(out, ctx, data, &(choice){all, data->n, present, false});
}

plx_status plx__dataset_relabel(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const char *const *labels)
{
    plx_index *all = NULL;
    *out = NULL;
    PLX_TRY(all_samples(&all, ctx, data->n));
    PLX_TRY(derive_new(out, ctx, data, &(choice){all, data->n, NULL, false}));
    plx_status st = plx__dataset_set_labels(*out, ctx, labels);
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}

/* ---- all rows again ---- */

static plx_status add_gathered(plx_dataset *to, plx_context *ctx, const plx__view *v)
{
    plx__view_source s;
    plx__arena arena;
    plx_status st = PLX_OK;
    if (!v->divided) return plx__dataset_share(to, ctx, v);
    plx__arena_init(&arena, to->arena.ctx);
    PLX_GOTO(plx__view_gather(&s, ctx, &arena, v, to->n));
    PLX_GOTO(adopt_like(to, ctx, &arena, &s, v));
done:
    plx__arena_free(&arena);
    return st;
}

plx_status plx__dataset_gather(plx_dataset **out, plx_context *ctx, const plx_dataset *data)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index *all = NULL;
    plx_status st = PLX_OK;
    PLX_TRY(all_samples(&all, ctx, data->n));
    PLX_TRY(plx__dataset_create(out, ctx, data->name, data->n));
    PLX_GOTO(copy_about_samples(*out, ctx, data, data->ids, all, data->n));
    for (plx_index v = 0; v < data->n_views; v++) PLX_GOTO(add_gathered(*out, ctx, &data->views[v]));
done:
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (st == PLX_OK) return st;
    plx__dataset_destroy(*out);
    *out = NULL;
    return st;
}
