/*
 * Warnings of work that goes through its samples part by part, perhaps on several processes: they are kept until all
 * parts are done and then told once each, with the samples they are about added up.
 */
#ifndef PLX_CORE_TALLY_H
#define PLX_CORE_TALLY_H

#include "core/ctx.h"

/* Where a text about samples has their number and the name of the first one. */
#define PLX__COUNT_HERE "\1"
#define PLX__FIRST_HERE "\2"

typedef struct plx__tally_note {
    struct plx__tally_note *next;
    const char *text;
    const char *first; /* name of the first sample; NULL: it is not told */
    int64_t count;     /* samples; 0: the warning is about something else */
} plx__tally_note;

typedef struct plx__tally {
    plx__arena *arena; /* of what is kept */
    plx__tally_note *notes, **tail;
    plx_index count;
} plx__tally;

void plx__tally_open(plx__tally *tally, plx__arena *arena);

/* One more warning; of the same text as one that is kept: its samples are added there. Without memory it is not kept. */
void plx__tally_add(plx__tally *tally, const char *text, const char *first, int64_t count);

/* All of them, as warnings of the running call. */
void plx__tally_tell(const plx__tally *tally, plx_context *ctx);

/* A warning about `count` samples, of which `first` (may be NULL) is the first: told at once, or kept while ctx->tally is
 * set. `fmt` has PLX__COUNT_HERE and PLX__FIRST_HERE for the two. */
void plx__warn_samples(plx_context *ctx, int64_t count, const char *first, const char *fmt, ...) PLX_PRINTF(4, 5);

#endif
