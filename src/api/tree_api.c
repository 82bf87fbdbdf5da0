/*
 * Trees of models that have one: any method with an array `linkage`.
 */
#include <math.h>

#include "api/api_args.h"
#include "api/tree_impl.h"

enum { PICTURE_LEAVES = 60 };

/* ---- reading ---- */

static plx_status damaged(plx_context *ctx) { PLX_FAIL(ctx, PLX_E_FORMAT, "the model's tree cannot be right"); }

/* Every node but the root is joined once, by a later row: nothing read from a file is trusted. */
static plx_status check_linkage(plx__tree *t, plx_context *ctx)
{
    uint8_t *used = NULL;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(ctx), 2 * t->n));
    for (plx_index r = 0; r + 1 < t->n; r++) {
        double size = 0;
        for (int c = 0; c < 2; c++) {
            double node = t->linkage[4 * r + c];
            if (!(node >= 0 && node < (double)(t->n + r)) || node != floor(node) || used[(plx_index)node])
                return damaged(ctx);
            used[(plx_index)node] = 1;
            size += (double)plx__tree_size(t, (plx_index)node);
        }
        if (size != t->linkage[4 * r + 3] || !isfinite(t->linkage[4 * r + 2])) return damaged(ctx);
    }
    return PLX_OK;
}

static plx_status sort_children(plx__tree *t, plx_context *ctx)
{
    PLX_TRY(plx__arena_i64(&t->smallest, plx__scratch(ctx), 2 * t->n));
    PLX_TRY(plx__arena_i32(&t->child, plx__scratch(ctx), 2 * t->n));
    for (plx_index i = 0; i < t->n; i++) t->smallest[i] = i;
    for (plx_index r = 0; r + 1 < t->n; r++) {
        plx_index a = (plx_index)t->linkage[4 * r], b = (plx_index)t->linkage[4 * r + 1];
        bool swap = t->smallest[b] < t->smallest[a];
        t->child[2 * r] = (int32_t)(swap ? b : a);
        t->child[2 * r + 1] = (int32_t)(swap ? a : b);
        t->smallest[t->n + r] = t->smallest[swap ? b : a];
    }
    return PLX_OK;
}

/* Who made the splits, where the model tells it. */
static plx_status read_splits(plx__tree *t, plx_context *ctx)
{
    const plx__store *store = &t->model->store;
    plx_index rows = t->n - 1;
    plx_cmat view, values;
    if (!plx__store_find(store, "_split_view")) return PLX_OK;
    PLX_TRY(plx__store_shaped(&view, ctx, store, "_split_view", rows, 1));
    PLX_TRY(plx__arena_i32(&t->view, plx__scratch(ctx), rows));
    for (plx_index r = 0; r < rows; r++) {
        if (!(view.data[r] >= 0 && view.data[r] < (double)t->model->n_views)) return damaged(ctx);
        t->view[r] = (int32_t)view.data[r];
    }
    PLX_TRY(plx__store_shaped(&values, ctx, store, "goodness", rows, 1));
    t->goodness = values.data;
    PLX_TRY(plx__store_shaped(&values, ctx, store, "explained", rows, 1));
    t->explained = values.data;
    return PLX_OK;
}

plx_status plx__tree_open(plx__tree *t, plx_context *ctx, const plx_model *model, plx_index leaves)
{
    plx_cmat linkage;
    *t = (plx__tree){.model = model};
    if (!plx__store_find(&model->store, "linkage"))
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "a model of %s has no tree; hybridtree makes one", model->method->name);
    PLX_TRY(plx__store_shaped(&linkage, ctx, &model->store, "linkage", -1, 4));
    t->n = linkage.rows + 1;
    t->linkage = linkage.data;
    t->root = 2 * t->n - 2;
    t->first = leaves > 0 && leaves < t->n ? 2 * t->n - leaves : t->n;
    PLX_TRY(check_linkage(t, ctx));
    PLX_TRY(sort_children(t, ctx));
    return read_splits(t, ctx);
}

plx_status plx__tree_order(plx_index **out, plx_index *count, plx_context *ctx, const plx__tree *t)
{
    plx_index *stack = NULL, depth = 0;
    PLX_TRY(plx__arena_i64(out, plx__scratch(ctx), 2 * t->n));
    PLX_TRY(plx__arena_i64(&stack, plx__scratch(ctx), 2 * t->n));
    *count = 0;
    stack[depth++] = t->root;
    while (depth > 0) {
        plx_index node = stack[--depth];
        (*out)[(*count)++] = node;
        if (!plx__tree_is_split(t, node)) continue;
        stack[depth++] = t->child[2 * (node - t->n) + 1];
        stack[depth++] = t->child[2 * (node - t->n)];
    }
    return PLX_OK;
}

const char *plx__tree_name(const plx__tree *t, plx_index sample)
{
    return sample < t->model->n_samples ? t->model->samples[sample] : "?";
}

/* ---- the call ---- */

static plx_status model_tree(const char **text, plx_context *ctx, plx_model *m, plx_tree_format format,
                             plx_index leaves)
{
    plx__tree t;
    plx__textbuf out;
    plx_index *order = NULL, count = 0;
    if ((int)format < PLX_TREE_NEWICK || (int)format > PLX_TREE_SVG)
        PLX_FAIL(ctx, PLX_E_ARG, "%d is no format of a tree", (int)format);
    PLX_TRY(plx__tree_open(&t, ctx, m, leaves == 0 && format == PLX_TREE_SVG ? PICTURE_LEAVES : leaves));
    PLX_TRY(plx__tree_order(&order, &count, ctx, &t));
    plx__arena_free(&m->json_arena);
    plx__textbuf_init(&out, &m->json_arena);
    if (format == PLX_TREE_NEWICK) plx__tree_newick(&out, &t, order, count);
    else if (format == PLX_TREE_JSON) plx__tree_json(&out, &t, order, count);
    else PLX_TRY(plx__tree_svg(&out, ctx, &t, order, count));
    return plx__textbuf_done(text, &out);
}

plx_status plx_model_tree(const char **text, plx_context *ctx, plx_model *model, plx_tree_format format,
                          plx_index leaves)
{
    if (text) *text = NULL;
    PLX__CALL(ctx, model_tree(text, ctx, model, format, leaves), PLX__ARG(text), PLX__ARG(model), PLX__COUNT(leaves));
}
