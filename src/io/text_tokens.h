/*
 * Text to words: folding, cutting, stop words, stems. One cutter per worker.
 */
#ifndef PLX_IO_TEXT_TOKENS_H
#define PLX_IO_TEXT_TOKENS_H

#include "core/text.h"
#include "io/text_counts.h"

struct sb_stemmer;

typedef struct plx__cutter {
    const plx__text_options *options;
    const plx__map *stop;       /* NULL: none */
    struct sb_stemmer *stemmer; /* NULL: none; owned, see plx__cutter_free */
    char *clean;                /* one segment of text without bytes that are no UTF-8 */
    int32_t *code;              /* its folded characters */
} plx__cutter;

/* Words of one document, one after the other, each ended by NUL. */
typedef struct plx__words {
    char *text;
    size_t used, capacity;
    plx_index count;
    plx_index invalid; /* bytes that were no UTF-8 */
} plx__words;

/* Room that the words of `len` bytes never exceed: folding makes text at most three times as long. */
static inline size_t plx__words_room(size_t len) { return 4 * len + 16; }

plx_status plx__cutter_init(plx__cutter *c, plx_context *ctx, plx__arena *arena, const plx__text_options *options,
                            const plx__map *stop);
void plx__cutter_free(plx__cutter *c);

/* Append the words of a document to `out`, which has room for them. Allocates nothing. */
plx_status plx__cut(plx__words *out, plx__cutter *c, plx_context *ctx, const char *text, size_t len);

/* The stop words the options ask for; *out stays empty for "none". */
plx_status plx__stop_map(plx__map *out, plx_context *ctx, plx__arena *arena, const plx__text_options *options);

#endif
