/*
 * Names are coded in order of appearance and sorted at the end, when all of them are known.
 */
#include "eval/label_codes.h"

#include <stdlib.h>
#include <string.h>

plx_status plx__codes_init(plx__codes *codes, plx__arena *arena)
{
    *codes = (plx__codes){.count = 0};
    return plx__map_init(&codes->map, arena, 16);
}

static plx_status grow_names(plx__codes *codes)
{
    plx_index capacity = codes->capacity ? 2 * codes->capacity : 16;
    const char **names = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, codes->map.arena, capacity));
    if (codes->count) memcpy(names, codes->names, (size_t)codes->count * sizeof *names);
    codes->names = names;
    codes->capacity = capacity;
    return PLX_OK;
}

plx_status plx__codes_add(int32_t *code, plx__codes *codes, const char *name)
{
    plx_index existing = -1;
    PLX_TRY(plx__map_add(&codes->map, name, codes->count, &existing));
    if (existing < 0) {
        if (codes->count == INT32_MAX)
            return plx__fail(codes->map.arena->ctx, PLX_E_DATA, "more than %d different labels", INT32_MAX);
        if (codes->count == codes->capacity) PLX_TRY(grow_names(codes));
        codes->names[codes->count] = name;
        existing = codes->count++;
    }
    *code = (int32_t)existing;
    return PLX_OK;
}

plx_status plx__codes_sort(int32_t **renumber, plx__codes *codes)
{
    PLX_TRY(plx__arena_i32(renumber, codes->map.arena, codes->count));
    if (codes->count) qsort(codes->names, (size_t)codes->count, sizeof *codes->names, plx__compare_text);
    for (plx_index i = 0; i < codes->count; i++) (*renumber)[plx__map_get(&codes->map, codes->names[i])] = (int32_t)i;
    return PLX_OK;
}

plx_status plx__encode(int32_t **out, plx__codes *codes, const char *const *labels, plx_index n,
                       plx__encode_options options)
{
    plx__arena *arena = codes->map.arena;
    PLX_TRY(plx__arena_bytes((void **)out, arena, n, sizeof **out));
    for (plx_index i = 0; i < n; i++) {
        (*out)[i] = -1;
        if (options.mask && options.mask[i] < 0) continue;
        if (!labels[i]) return plx__fail(arena->ctx, PLX_E_ARG, "%s %lld is NULL", options.what, (long long)i);
        if (options.unknown_is_name || !plx__is_unknown(labels[i]))
            PLX_TRY(plx__codes_add(&(*out)[i], codes, labels[i]));
    }
    return PLX_OK;
}
