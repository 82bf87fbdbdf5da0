/*
 * Texts are compared with the places of number and name still open, so parts that warn of the same thing find each other.
 */
#include "core/tally.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void plx__tally_open(plx__tally *t, plx__arena *arena)
{
    *t = (plx__tally){.arena = arena};
    t->tail = &t->notes;
}

static plx_status keep(plx__tally *t, const char *text, const char *first, int64_t count)
{
    plx__tally_note *note = NULL;
    PLX_TRY(PLX__ARENA_NEW(&note, t->arena, 1));
    PLX_TRY(plx__arena_text(&note->text, t->arena, text));
    if (first) PLX_TRY(plx__arena_text(&note->first, t->arena, first));
    note->count = count;
    *t->tail = note;
    t->tail = &note->next;
    t->count++;
    return PLX_OK;
}

void plx__tally_add(plx__tally *t, const char *text, const char *first, int64_t count)
{
    for (plx__tally_note *note = t->notes; note; note = note->next)
        if (strcmp(note->text, text) == 0) {
            note->count += count;
            return;
        }
    if (keep(t, text, first, count) != PLX_OK) plx__clear_error(t->arena->ctx);
}

/* The text with number and name in their places. */
static void fill(char *out, size_t room, const char *text, const char *first, int64_t count)
{
    size_t used = 0;
    out[0] = '\0';
    for (; *text && used + 1 < room; text++) {
        int length = 1;
        if (*text == PLX__COUNT_HERE[0]) length = snprintf(out + used, room - used, "%" PRId64, count);
        else if (*text == PLX__FIRST_HERE[0]) length = snprintf(out + used, room - used, "%s", first ? first : "");
        else out[used] = *text;
        used += (size_t)length;
        out[used < room ? used : room - 1] = '\0';
    }
}

static void tell(plx_context *ctx, const char *text, const char *first, int64_t count)
{
    char line[PLX__ERROR_BYTES];
    if (count) fill(line, sizeof line, text, first, count);
    plx__warn(ctx, "%s", count ? line : text);
}

void plx__tally_tell(const plx__tally *t, plx_context *ctx)
{
    for (const plx__tally_note *note = t->notes; note; note = note->next)
        tell(ctx, note->text, note->first, note->count);
}

void plx__warn_samples(plx_context *ctx, int64_t count, const char *first, const char *fmt, ...)
{
    char text[PLX__ERROR_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (ctx->tally) plx__tally_add(ctx->tally, text, first, count);
    else tell(ctx, text, first, count);
}
