/*
 * Sets are ascending arrays of codes. The upward closure is a depth-first walk that stamps what it visited
 * with the number of the text, so that nothing is cleared between texts; a walk that meets its own origin
 * has found a cycle.
 */
#include "eval/label_sets.h"

#include <stdlib.h>
#include <string.h>

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sort a set and drop duplicates; returns its size. */
static plx_index make_set(int32_t *ids, plx_index count)
{
    plx_index kept = 0;
    if (count > 1) qsort(ids, (size_t)count, sizeof *ids, compare_ids);
    for (plx_index i = 0; i < count; i++)
        if (kept == 0 || ids[kept - 1] != ids[i]) ids[kept++] = ids[i];
    return kept;
}

static plx_index most_parts(const char *text)
{
    plx_index parts = 1;
    for (; *text; text++) parts += *text == '|';
    return parts;
}

/* Add the classes named in [text, text + len) to ids; blanks around names and empty names are ignored. */
static plx_status split_text(int32_t *ids, plx_index *count, plx__codes *classes, const char *text)
{
    if (strcmp(text, "-") == 0) return PLX_OK;
    for (const char *part = text; part;) {
        const char *bar = strchr(part, '|'), *end = bar ? bar : part + strlen(part), *name = NULL;
        while (part < end && (*part == ' ' || *part == '\t')) part++;
        while (end > part && (end[-1] == ' ' || end[-1] == '\t')) end--;
        if (end > part) {
            PLX_TRY(plx__arena_textn(&name, classes->map.arena, part, (size_t)(end - part)));
            PLX_TRY(plx__codes_add(&ids[(*count)++], classes, name));
        }
        part = bar ? bar + 1 : NULL;
    }
    return PLX_OK;
}

plx_status plx__sets_split(plx__label_sets *out, const plx__codes *texts, plx__codes *classes)
{
    plx__arena *arena = classes->map.arena;
    plx_index total = 0, used = 0;
    for (plx_index i = 0; i < texts->count; i++) total += most_parts(texts->names[i]);
    *out = (plx__label_sets){.count = texts->count};
    PLX_TRY(plx__arena_i64(&out->ptr, arena, texts->count + 1));
    PLX_TRY(plx__arena_i32(&out->ids, arena, total));
    for (plx_index i = 0; i < texts->count; i++) {
        plx_index count = 0;
        PLX_TRY(split_text(out->ids + used, &count, classes, texts->names[i]));
        used += make_set(out->ids + used, count);
        out->ptr[i + 1] = used;
    }
    return PLX_OK;
}

void plx__sets_renumber(plx__label_sets *sets, const int32_t *renumber)
{
    for (plx_index i = 0; i < sets->count; i++) {
        plx_index count = sets->ptr[i + 1] - sets->ptr[i];
        for (plx_index k = sets->ptr[i]; k < sets->ptr[i + 1]; k++) sets->ids[k] = renumber[sets->ids[k]];
        make_set(sets->ids + sets->ptr[i], count);
    }
}

/* ---- upward closure ---- */

typedef struct upward {
    plx__codes *classes;
    int64_t *first; /* class -> its pairs start here in parent, count + 1 offsets */
    int32_t *parent;
    int32_t *stack, *stamp; /* walk: classes to visit; number of the walk that saw a class */
    int32_t walk;
} upward;

/* Codes of both ends of every pair. Classes of the hierarchy join `classes`. */
static plx_status read_pairs(int32_t **child_parent, plx__codes *classes, const plx_metrics_hierarchy *h)
{
    plx__arena *arena = classes->map.arena;
    plx__map listed;
    int32_t code;
    PLX_TRY(plx__map_init(&listed, arena, h->n_classes));
    for (plx_index i = 0; i < h->n_classes; i++) {
        plx_index before = -1;
        if (!h->classes[i]) return plx__fail(arena->ctx, PLX_E_ARG, "hierarchy: class %lld is NULL", (long long)i);
        PLX_TRY(plx__map_add(&listed, h->classes[i], i, &before));
        PLX_TRY(plx__codes_add(&code, classes, h->classes[i]));
    }
    PLX_TRY(plx__arena_i32(child_parent, arena, 2 * h->n_subset));
    for (plx_index i = 0; i < 2 * h->n_subset; i++) {
        char hint[160];
        if (!h->subset[i]) return plx__fail(arena->ctx, PLX_E_ARG, "hierarchy: subset name %lld is NULL", (long long)i);
        if (plx__map_get(&listed, h->subset[i]) < 0)
            return plx__fail(arena->ctx, PLX_E_DATA,
                             "hierarchy: subset pair %lld names '%s', which is not among its classes%s",
                             (long long)i / 2 + 1, h->subset[i],
                             plx__suggest(hint, sizeof hint, h->subset[i], h->classes, h->n_classes));
        PLX_TRY(plx__codes_add(&(*child_parent)[i], classes, h->subset[i]));
    }
    return PLX_OK;
}

static plx_status upward_init(upward *up, plx__codes *classes, const plx_metrics_hierarchy *h)
{
    plx__arena *arena = classes->map.arena;
    int32_t *pairs = NULL;
    *up = (upward){.classes = classes};
    PLX_TRY(read_pairs(&pairs, classes, h));
    PLX_TRY(plx__arena_i64(&up->first, arena, classes->count + 2));
    PLX_TRY(plx__arena_i32(&up->parent, arena, h->n_subset));
    PLX_TRY(plx__arena_i32(&up->stack, arena, classes->count));
    PLX_TRY(plx__arena_i32(&up->stamp, arena, classes->count));
    for (plx_index i = 0; i < h->n_subset; i++) up->first[pairs[2 * i] + 2]++;
    for (plx_index c = 0; c < classes->count; c++) up->first[c + 2] += up->first[c + 1];
    for (plx_index i = 0; i < h->n_subset; i++) up->parent[up->first[pairs[2 * i] + 1]++] = pairs[2 * i + 1];
    return PLX_OK;
}

/* Everything reachable from the start classes on the stack, which are already stamped; the visited classes end up at
 * the front of the stack. `origin` >= 0 must not be met again. */
static plx_status walk_up(plx_index *count, upward *up, int32_t origin)
{
    for (plx_index done = 0; done < *count; done++) {
        int32_t c = up->stack[done];
        for (int64_t k = up->first[c]; k < up->first[c + 1]; k++) {
            int32_t p = up->parent[k];
            if (p == origin)
                return plx__fail(up->classes->map.arena->ctx, PLX_E_DATA,
                                 "hierarchy: subset pairs form a cycle through class '%s'", up->classes->names[p]);
            if (up->stamp[p] == up->walk) continue;
            up->stamp[p] = up->walk;
            up->stack[(*count)++] = p;
        }
    }
    return PLX_OK;
}

static plx_status close_set(plx_index *count, upward *up, plx__set_view set)
{
    up->walk++;
    for (plx_index k = 0; k < set.count; k++) {
        up->stack[k] = set.ids[k];
        up->stamp[set.ids[k]] = up->walk;
    }
    *count = set.count;
    return walk_up(count, up, -1);
}

static plx_status check_acyclic(upward *up)
{
    for (int32_t c = 0; c < up->classes->count; c++) {
        plx_index count = 1;
        up->walk++;
        up->stack[0] = c;
        PLX_TRY(walk_up(&count, up, c));
    }
    return PLX_OK;
}

plx_status plx__sets_close(plx__label_sets *out, const plx__label_sets *sets, plx__codes *classes,
                           const plx_metrics_hierarchy *hierarchy)
{
    plx__arena *arena = classes->map.arena;
    upward up;
    plx_index total = 0, count = 0;
    PLX_TRY(upward_init(&up, classes, hierarchy));
    PLX_TRY(check_acyclic(&up));
    *out = (plx__label_sets){.count = sets->count};
    PLX_TRY(plx__arena_i64(&out->ptr, arena, sets->count + 1));
    for (int32_t i = 0; i < sets->count; i++) { /* sizes first, then content */
        PLX_TRY(close_set(&count, &up, plx__set_at(sets, i)));
        out->ptr[i + 1] = total += count;
    }
    PLX_TRY(plx__arena_i32(&out->ids, arena, total));
    for (int32_t i = 0; i < sets->count; i++) {
        PLX_TRY(close_set(&count, &up, plx__set_at(sets, i)));
        if (count) memcpy(out->ids + out->ptr[i], up.stack, (size_t)count * sizeof *out->ids);
        make_set(out->ids + out->ptr[i], count);
    }
    return PLX_OK;
}
