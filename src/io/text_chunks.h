/*
 * A big text in pieces that end at line ends, for reading it on all threads.
 *
 * The pieces depend on the text alone, never on the number of threads, so what is read and which error is
 * reported (the one in the lowest line) are the same on one thread and on many.
 */
#ifndef PLX_IO_TEXT_CHUNKS_H
#define PLX_IO_TEXT_CHUNKS_H

#include "core/ctx.h"

typedef struct plx__text_chunk {
    const char *begin, *end;
    plx_index line;                   /* number of the first line, from 1 */
    plx_index lines, marks;           /* lines that start here; bytes equal to the mark */
    plx_index first_line, first_mark; /* how many come before this chunk */
} plx__text_chunk;

typedef struct plx__text_chunks {
    const char *name; /* of the file, for messages */
    plx__text_chunk *chunk;
    plx_index count, lines, marks;
} plx__text_chunks;

/* Cut [begin, end) and count its lines and `mark` bytes; `line` is the number of the first line. An unended last
 * line counts. Memory is in scratch. */
plx_status plx__text_split(plx__text_chunks *out, plx_context *ctx, const char *name, const char *begin,
                           const char *end, plx_index line, char mark);

/* Call fn(arg, ctx, chunks, index) for every chunk, in parallel, with "read NAME" as progress on big texts. */
typedef plx_status (*plx__text_chunk_fn)(void *arg, plx_context *ctx, plx_index index);
plx_status plx__text_each(plx_context *ctx, const plx__text_chunks *chunks, plx__text_chunk_fn fn, void *arg);

/* Number of the line that holds p, a place in the chunk. */
plx_index plx__text_line(const plx__text_chunk *chunk, const char *p);

/* A short printable excerpt of text for messages: at most 40 bytes, control bytes shown as '?'. */
enum { PLX__EXCERPT_BYTES = 48 };
const char *plx__excerpt(char out[PLX__EXCERPT_BYTES], const char *text, size_t len);

/* Texts of known total length, packed one after the other with a NUL each: cheaper than an arena block per cell. */
typedef struct plx__text_pool {
    char *next;
} plx__text_pool;
plx_status plx__text_pool_init(plx__text_pool *pool, plx__arena *arena, plx_index texts, plx_index bytes);
const char *plx__text_pool_add(plx__text_pool *pool, const char *text, size_t len);

#endif
