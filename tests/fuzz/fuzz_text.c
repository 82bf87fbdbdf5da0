/*
 * First line: options; the rest: one document per line. What is accepted must be a sound matrix.
 */
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/text.h"
#include "io/text_counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const plx__table *t)
{
    for (plx_index j = 1; j < t->csr.cols; j++)
        if (strcmp(t->col_names[j - 1], t->col_names[j]) >= 0) abort();
    for (plx_index i = 0; i < t->csr.rows; i++)
        for (int64_t p = t->csr.ptr[i]; p < t->csr.ptr[i + 1]; p++)
            if (t->csr.col[p] < 0 || t->csr.col[p] >= t->csr.cols || t->csr.val[p] < 1 ||
                (p > t->csr.ptr[i] && t->csr.col[p] <= t->csr.col[p - 1]))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 64 };
    plx_context_options o = {
        .struct_size = sizeof o, .threads = 1, .deterministic = 1, .memory_limit = 1 << 28, .arena_block = 1};
    plx_context *ctx = NULL;
    const char *cursor = (const char *)data, *end = cursor + size, *line = NULL, *options = NULL, *docs[MOST];
    size_t len = 0, lens[MOST];
    plx_index n = 0;
    plx__text_options how;
    plx__table t;
    if (plx_context_create(&ctx, &o) != PLX_OK || !plx__next_line(&line, &len, &cursor, end)) goto done;
    if (plx__arena_textn(&options, plx__scratch(ctx), line, len) != PLX_OK || strstr(options, "file:")) goto done;
    while (n < MOST && plx__next_line(&docs[n], &lens[n], &cursor, end)) n++;
    if (plx__text_options_parse(&how, ctx, plx__scratch(ctx), options) == PLX_OK &&
        plx__text_counts(&t, ctx, plx__scratch(ctx), docs, lens, n, &how) == PLX_OK)
        check(&t);
done:
    plx_context_destroy(ctx);
    return 0;
}
