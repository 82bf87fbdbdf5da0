/*
 * Names of classes out of label texts.
 */
#include "data/classes.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"

plx_status plx__each_class(const char *set, plx_context *ctx, plx__class_fn fn, void *arg)
{
    while (*set) {
        size_t len = strcspn(set, "|");
        if (len) PLX_TRY(fn(arg, ctx, set, len));
        set += len + (set[len] == '|');
    }
    return PLX_OK;
}

typedef struct collector {
    plx__map map;
    const char **names; /* in order of appearance; grows in scratch */
    plx_index count, capacity;
    plx__arena *arena; /* for the texts that stay */
} collector;

static plx_status collect_name(void *arg, plx_context *ctx, const char *name, size_t len)
{
    collector *c = arg;
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    const char *text = NULL;
    plx_index existing = -1;
    PLX_TRY(plx__arena_textn(&text, scratch, name, len));
    bool known = plx__map_get(&c->map, text) >= 0 || strcmp(text, "-") == 0;
    plx__arena_rewind(scratch, mark);
    if (known) return PLX_OK;
    if (c->count == c->capacity) {
        const char **bigger = NULL;
        PLX_TRY(PLX__ARENA_NEW(&bigger, scratch, 2 * c->capacity + 64));
        if (c->count) memcpy(bigger, c->names, (size_t)c->count * sizeof *bigger);
        c->names = bigger;
        c->capacity = 2 * c->capacity + 64;
    }
    PLX_TRY(plx__arena_textn(&c->names[c->count], c->arena, name, len));
    c->count++;
    return plx__map_add(&c->map, c->names[c->count - 1], c->count - 1, &existing);
}

plx_status plx__class_names(const char *const **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                            const char *const *labels, const char *const *more, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    collector c = {.arena = arena};
    const char **kept = NULL;
    PLX_TRY(plx__map_init(&c.map, plx__scratch(ctx), 0));
    for (plx_index i = 0; i < n; i++) {
        if (labels && labels[i]) PLX_TRY(plx__each_class(labels[i], ctx, collect_name, &c));
        if (more && more[i]) PLX_TRY(plx__each_class(more[i], ctx, collect_name, &c));
    }
    PLX_TRY(PLX__ARENA_NEW(&kept, arena, c.count));
    if (c.count) memcpy(kept, c.names, (size_t)c.count * sizeof *kept);
    qsort(kept, (size_t)c.count, sizeof *kept, plx__compare_text);
    plx__arena_rewind(plx__scratch(ctx), mark);
    *out = kept;
    *count = c.count;
    return PLX_OK;
}
