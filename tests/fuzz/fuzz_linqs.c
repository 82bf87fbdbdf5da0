/*
 * Content, a line "%%", citations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ctx.h"
#include "io/linqs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char content[100], cites[100];

static void store(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f) abort();
    fwrite(data, 1, size, f);
    fclose(f);
}

static void prepare(void)
{
    static char folder[] = "/tmp/plx_fuzz_XXXXXX";
    if (content[0]) return;
    if (!mkdtemp(folder)) abort();
    snprintf(content, sizeof content, "%s/x.content", folder);
    snprintf(cites, sizeof cites, "%s/x.cites", folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plx_context_options o = {
        .struct_size = sizeof o, .threads = 1, .deterministic = 1, .memory_limit = 1 << 28, .arena_block = 1};
    plx_context *ctx = NULL;
    plx_dataset *d = NULL;
    const uint8_t *gap = memmem(data, size, "%%\n", 3);
    size_t head = gap ? (size_t)(gap - data) : size;
    prepare();
    store(content, data, head);
    if (gap) store(cites, gap + 3, size - head - 3);
    if (plx_context_create(&ctx, &o) != PLX_OK) return 0;
    if (plx__linqs_read(&d, ctx, content) != PLX_OK && !plx_context_error(ctx)[0]) abort();
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    unlink(content);
    unlink(cites);
    return 0;
}
