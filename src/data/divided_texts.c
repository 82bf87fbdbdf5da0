/*
 * Texts of samples, of which every rank knows those of a run of rows, to all of them.
 */
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"

/* As in a stream of texts: a flag, and the text with its end behind flag 1. */
static plx_index packed_bytes(const char *const *texts, plx_index count)
{
    plx_index bytes = 0;
    for (plx_index i = 0; i < count; i++) bytes += texts[i] ? 2 + (plx_index)strlen(texts[i]) : 1;
    return bytes;
}

static void pack(char *to, const char *const *texts, plx_index count)
{
    for (plx_index i = 0; i < count; i++) {
        size_t bytes = texts[i] ? strlen(texts[i]) + 1 : 0;
        *to++ = texts[i] != NULL;
        if (bytes) memcpy(to, texts[i], bytes);
        to += bytes;
    }
}

static void unpack(const char **texts, plx_index count, const char *from)
{
    for (plx_index i = 0; i < count; i++) {
        texts[i] = *from++ ? from : NULL;
        if (texts[i]) from += strlen(from) + 1;
    }
}

plx_status plx__share_texts(const char *const **texts, plx_context *ctx, plx__arena *arena, const plx_index *bound)
{
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx);
    plx_index own = bound[rank + 1] - bound[rank], n = bound[ranks];
    size_t *offset = NULL;
    int64_t *all = NULL, bytes = packed_bytes(*texts, own);
    const char **list = NULL;
    char *block = NULL;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), ranks + 1));
    PLX_TRY(plx__peers_tell(ctx, &bytes, 1, &all));
    for (int r = 0; r < ranks; r++) offset[r + 1] = offset[r] + (size_t)all[r];
    PLX_TRY(PLX__ARENA_NEW(&list, arena, n));
    PLX_TRY(plx__arena_bytes((void **)&block, arena, (plx_index)offset[ranks], 1));
    pack(block + offset[rank], *texts, own);
    PLX_TRY(plx__peers_settle(ctx, PLX_OK));
    PLX_TRY(plx__peers_share(ctx, block, offset));
    unpack(list, n, block);
    *texts = list;
    return PLX_OK;
}
