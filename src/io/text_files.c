/*
 * Documents from files: one per line, or one file each.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/text.h"
#include "io/text_counts.h"

/* ---- one document per line ---- */

static plx_status split_lines(const char ***docs, size_t **lens, plx_index *count, plx_context *ctx,
                              const plx__bytes *file)
{
    plx__arena *scratch = plx__scratch(ctx);
    const char *cursor = file->data, *end = file->data + file->size, *line = NULL;
    size_t len = 0;
    plx_index n = 0;
    while (plx__next_line(&line, &len, &cursor, end)) n++;
    PLX_TRY(PLX__ARENA_NEW(docs, scratch, n));
    PLX_TRY(PLX__ARENA_NEW(lens, scratch, n));
    cursor = file->data;
    for (plx_index i = 0; i < n && plx__next_line(&(*docs)[i], &(*lens)[i], &cursor, end); i++) continue;
    *count = n;
    return PLX_OK;
}

plx_status plx__text_read_lines(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                                const plx__text_options *options)
{
    plx__text_options usual;
    plx__bytes file = {0};
    const char **docs = NULL;
    size_t *lens = NULL;
    plx_index n = 0;
    plx_status st = PLX_OK;
    *out = (plx__table){0};
    if (!options) PLX_TRY(plx__text_options_parse(&usual, ctx, plx__scratch(ctx), NULL));
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    PLX_GOTO(split_lines(&docs, &lens, &n, ctx, &file));
    PLX_GOTO(plx__text_counts(out, ctx, arena, docs, lens, n, options ? options : &usual));
done:
    plx__bytes_free(&file, ctx);
    return st == PLX_E_DATA ? plx__fail_prefix(ctx, st, "%s", path) : st;
}

/* ---- one file per document ---- */

typedef struct folder {
    const char **names; /* of the .txt files */
    plx__bytes *files;
    const char **docs;
    size_t *lens;
    plx_index count, capacity;
} folder;

static plx_status add_file(folder *d, plx_context *ctx, plx__arena *arena, const char *name)
{
    if (d->count == d->capacity) {
        const char **bigger = NULL;
        PLX_TRY(PLX__ARENA_NEW(&bigger, arena, 2 * d->capacity + 64));
        if (d->count) memcpy(bigger, d->names, (size_t)d->count * sizeof *bigger);
        d->names = bigger;
        d->capacity = 2 * d->capacity + 64;
    }
    PLX_TRY(plx__poll(ctx));
    return plx__arena_text(&d->names[d->count++], arena, name);
}

static plx_status list_folder(folder *d, plx_context *ctx, plx__arena *arena, const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) PLX_FAIL(ctx, PLX_E_IO, "%s: %s", path, strerror(errno));
    plx_status st = PLX_OK;
    for (struct dirent *entry = readdir(dir); entry && st == PLX_OK; entry = readdir(dir))
        if (plx__ends_with(entry->d_name, ".txt")) st = add_file(d, ctx, arena, entry->d_name);
    closedir(dir);
    PLX_TRY(st);
    if (d->count == 0) PLX_FAIL(ctx, PLX_E_DATA, "%s: there is no .txt file in this directory", path);
    qsort(d->names, (size_t)d->count, sizeof *d->names, plx__compare_text);
    return PLX_OK;
}

static plx_status load_folder(folder *d, plx_context *ctx, const char *path)
{
    plx__arena *scratch = plx__scratch(ctx);
    PLX_TRY(PLX__ARENA_NEW(&d->docs, scratch, d->count));
    PLX_TRY(PLX__ARENA_NEW(&d->lens, scratch, d->count));
    PLX_TRY(PLX__ARENA_NEW(&d->files, scratch, d->count));
    for (plx_index i = 0; i < d->count; i++) {
        const char *file = NULL;
        PLX_TRY(plx__path_join(&file, scratch, path, d->names[i]));
        PLX_TRY(plx__bytes_read(&d->files[i], ctx, file));
        d->docs[i] = d->files[i].data;
        d->lens[i] = d->files[i].size;
    }
    return PLX_OK;
}

plx_status plx__text_read_directory(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                                    const plx__text_options *options)
{
    plx__text_options usual;
    folder d = {0};
    plx_status st = PLX_OK;
    *out = (plx__table){0};
    if (!options) PLX_TRY(plx__text_options_parse(&usual, ctx, plx__scratch(ctx), NULL));
    PLX_GOTO(list_folder(&d, ctx, arena, path));
    PLX_GOTO(load_folder(&d, ctx, path));
    PLX_GOTO(plx__text_counts(out, ctx, arena, d.docs, d.lens, d.count, options ? options : &usual));
    out->row_names = d.names;
done:
    for (plx_index i = 0; d.files && i < d.count; i++) plx__bytes_free(&d.files[i], ctx);
    return st == PLX_E_DATA && !strstr(ctx->error, path) ? plx__fail_prefix(ctx, st, "%s", path) : st;
}
