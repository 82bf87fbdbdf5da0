/*
 * Chunks are read through the memory map and given back to the system after each pass, so that a file larger
 * than memory can be read.
 */
#include "io/text_chunks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/parallel.h"
#include "core/text.h"

/* Pieces small enough to balance, large enough to pay; the fuzz build makes them tiny to meet their edges. */
#ifndef PLX__TEXT_CHUNK_LEAST
#define PLX__TEXT_CHUNK_LEAST (1 << 16)
#endif
enum { CHUNK_MOST = 1 << 20, CHUNKS_AT_ONCE = 32 };

static plx_index chunk_bytes(plx_index size)
{
    return plx__max(PLX__TEXT_CHUNK_LEAST, plx__min(CHUNK_MOST, size / 64));
}

/* Bytewise counters side by side, emptied before they can overflow: a loop compilers turn into vector code. */
static void count_bytes(plx_index *lines, plx_index *marks, const char *p, const char *end, char mark)
{
    enum { LANES = 64, ROUNDS = 255 };
    plx_index newlines = 0, found = 0;
    while (end - p >= LANES) {
        unsigned char a[LANES] = {0}, b[LANES] = {0};
        plx_index rounds = plx__min(ROUNDS, (end - p) / LANES);
        for (plx_index r = 0; r < rounds; r++, p += LANES)
            for (int i = 0; i < LANES; i++) {
                a[i] = (unsigned char)(a[i] + (p[i] == '\n'));
                b[i] = (unsigned char)(b[i] + (p[i] == mark));
            }
        for (int i = 0; i < LANES; i++) {
            newlines += a[i];
            found += b[i];
        }
    }
    for (; p < end; p++) {
        newlines += *p == '\n';
        found += *p == mark;
    }
    *lines = newlines;
    *marks = found;
}

typedef struct count_job {
    plx__text_chunks *chunks;
    plx_index first;
    char mark;
} count_job;

static plx_status count_chunk(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    count_job *job = job_;
    for (plx_index c = begin; c < end; c++) {
        plx__text_chunk *k = &job->chunks->chunk[job->first + c];
        count_bytes(&k->lines, &k->marks, k->begin, k->end, job->mark);
        if (k->end > k->begin && k->end[-1] != '\n') k->lines++;
    }
    return PLX_OK;
}

/* Read and done with for this pass: the file need not stay in memory. */
static void forget_chunks(const plx__text_chunks *chunks, plx_index first, plx_index count)
{
    plx__bytes_forget(chunks->chunk[first].begin, chunks->chunk[first + count - 1].end);
}

plx_status plx__text_split(plx__text_chunks *out, plx_context *ctx, const char *name, const char *begin,
                           const char *end, plx_index line, char mark)
{
    plx_index size = end - begin, bytes = chunk_bytes(size);
    *out = (plx__text_chunks){.name = name, .count = plx__max(1, (size + bytes - 1) / bytes)};
    PLX_TRY(PLX__ARENA_NEW(&out->chunk, plx__scratch(ctx), out->count));
    const char *start = begin;
    for (plx_index c = 0; c < out->count; c++) {
        const char *stop = c + 1 == out->count ? end : begin + (c + 1) * bytes;
        if (stop < start) stop = start; /* a line longer than a chunk */
        if (stop < end && stop > begin && stop[-1] != '\n') {
            const char *newline = memchr(stop, '\n', (size_t)(end - stop));
            stop = newline ? newline + 1 : end;
        }
        out->chunk[c].begin = start;
        out->chunk[c].end = start = stop;
    }
    count_job job = {out, 0, mark};
    for (; job.first < out->count; job.first += CHUNKS_AT_ONCE) {
        plx_index count = plx__min(CHUNKS_AT_ONCE, out->count - job.first);
        PLX_TRY(plx__parallel_for(ctx, count, 1, count_chunk, &job));
        forget_chunks(out, job.first, count);
    }
    for (plx_index c = 0; c < out->count; c++) {
        plx__text_chunk *k = &out->chunk[c];
        k->first_line = out->lines;
        k->first_mark = out->marks;
        k->line = line + out->lines;
        out->lines += k->lines;
        out->marks += k->marks;
    }
    return PLX_OK;
}

typedef struct each_job {
    plx__text_chunk_fn fn;
    void *arg;
    plx_index first;
} each_job;

static plx_status each_chunk(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)worker;
    each_job *job = job_;
    for (plx_index c = begin; c < end; c++) PLX_TRY(job->fn(job->arg, ctx, job->first + c));
    return PLX_OK;
}

plx_status plx__text_each(plx_context *ctx, const plx__text_chunks *chunks, plx__text_chunk_fn fn, void *arg)
{
    char phase[128];
    snprintf(phase, sizeof phase, "read %s", plx__path_base(chunks->name));
    each_job job = {fn, arg, 0};
    for (; job.first < chunks->count; job.first += CHUNKS_AT_ONCE) {
        plx_index count = plx__min(CHUNKS_AT_ONCE, chunks->count - job.first);
        PLX_TRY(plx__parallel_for(ctx, count, 1, each_chunk, &job));
        forget_chunks(chunks, job.first, count);
        if (chunks->count > CHUNKS_AT_ONCE) PLX_TRY(plx__report(ctx, phase, job.first + count, chunks->count, NAN));
    }
    return PLX_OK;
}

plx_index plx__text_line(const plx__text_chunk *chunk, const char *p)
{
    plx_index lines = 0, marks = 0;
    count_bytes(&lines, &marks, chunk->begin, p, '\n');
    return chunk->line + lines;
}

const char *plx__excerpt(char out[PLX__EXCERPT_BYTES], const char *text, size_t len)
{
    enum { MOST = 40 };
    size_t shown = len < MOST ? len : MOST;
    for (size_t i = 0; i < shown; i++) out[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? '?' : text[i];
    /* do not cut a UTF-8 sequence in two */
    if (len > MOST)
        while (shown > 0 && ((unsigned char)text[shown] & 0xC0) == 0x80) shown--;
    snprintf(out + shown, PLX__EXCERPT_BYTES - shown, "%s", len > MOST ? "..." : "");
    return out;
}

plx_status plx__text_pool_init(plx__text_pool *pool, plx__arena *arena, plx_index texts, plx_index bytes)
{
    plx_index total = 0;
    if (__builtin_add_overflow(texts, bytes, &total)) PLX_FAIL(arena->ctx, PLX_E_NOMEM, "a size overflowed");
    return plx__arena_bytes((void **)&pool->next, arena, total, 1);
}

const char *plx__text_pool_add(plx__text_pool *pool, const char *text, size_t len)
{
    char *copy = pool->next;
    if (len) memcpy(copy, text, len);
    copy[len] = '\0';
    pool->next += len + 1;
    return copy;
}
