/*
 * A choice of samples from a text file: flags, ids or numbers.
 */
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "data/split_impl.h"

typedef struct entry {
    const char *text;
    plx_index line; /* 1-based */
} entry;

/* One entry per line that is not blank, surrounding blanks cut off. */
static plx_status read_entries(entry **out, plx_index *count, plx_context *ctx, const plx__bytes *file)
{
    const char *cursor = file->data, *end = file->data + file->size, *line = NULL;
    size_t len = 0;
    plx_index lines = 0, number = 0;
    while (plx__next_line(&line, &len, &cursor, end)) lines++;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), lines));
    *count = 0;
    cursor = file->data;
    while (plx__next_line(&line, &len, &cursor, end)) {
        number++;
        while (len && (line[0] == ' ' || line[0] == '\t')) line++, len--;
        while (len && (line[len - 1] == ' ' || line[len - 1] == '\t')) len--;
        if (!len) continue;
        entry *e = &(*out)[(*count)++];
        e->line = number;
        PLX_TRY(plx__arena_textn(&e->text, plx__scratch(ctx), line, len));
    }
    return PLX_OK;
}

static bool is_flag(const char *text) { return strcmp(text, "0") == 0 || strcmp(text, "1") == 0; }

static bool all_flags(const entry *entries, plx_index count)
{
    for (plx_index k = 0; k < count; k++)
        if (!is_flag(entries[k].text)) return false;
    return true;
}

static plx_status map_ids(plx__map *map, plx_context *ctx, const plx_dataset *data)
{
    plx_index existing = -1;
    PLX_TRY(plx__map_init(map, plx__scratch(ctx), data->ids ? data->n : 0));
    for (plx_index i = 0; data->ids && i < data->n; i++) PLX_TRY(plx__map_add(map, data->ids[i], i, &existing));
    return PLX_OK;
}

static plx_status find_sample(plx_index *out, plx_context *ctx, const char *path, const entry *e, const plx__map *ids,
                              bool by_id, plx_index n)
{
    if (by_id) {
        *out = plx__map_get(ids, e->text);
        if (*out < 0)
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: no sample has the id '%s'", path, (long long)e->line, e->text);
        return PLX_OK;
    }
    if (!plx__parse_int64(out, e->text))
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: '%s' is neither a sample number nor an id", path,
                 (long long)e->line, e->text);
    if (*out < 0 || *out >= n)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: sample %lld does not exist; numbers are 0 to %lld", path,
                 (long long)e->line, (long long)*out, (long long)n - 1);
    return PLX_OK;
}

static plx_status flag_entries(uint8_t *flags, plx_context *ctx, const plx_dataset *data, const char *path,
                               const entry *entries, plx_index count)
{
    plx__map ids;
    memset(flags, 0, (size_t)data->n);
    if (count == data->n && all_flags(entries, count)) {
        for (plx_index i = 0; i < count; i++) flags[i] = entries[i].text[0] == '1';
        return PLX_OK;
    }
    PLX_TRY(map_ids(&ids, ctx, data));
    bool by_id = count > 0 && plx__map_get(&ids, entries[0].text) >= 0;
    for (plx_index k = 0; k < count; k++) {
        plx_index i = 0;
        PLX_TRY(find_sample(&i, ctx, path, &entries[k], &ids, by_id, data->n));
        if (flags[i])
            PLX_FAIL(ctx, PLX_E_FORMAT,
                     "%s: line %lld: sample '%s' is listed twice (a file of flags needs exactly %lld lines of 0 or 1, "
                     "this has %lld)",
                     path, (long long)entries[k].line, entries[k].text, (long long)data->n, (long long)count);
        flags[i] = 1;
    }
    return PLX_OK;
}

plx_status plx__split_read(uint8_t *flags, plx_context *ctx, const plx_dataset *data, const char *path)
{
    plx__bytes file;
    entry *entries = NULL;
    plx_index count = 0;
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    plx_status st = read_entries(&entries, &count, ctx, &file);
    plx__bytes_free(&file, ctx);
    PLX_TRY(st);
    return flag_entries(flags, ctx, data, path, entries, count);
}
