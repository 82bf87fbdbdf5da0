/*
 * The reader of Matrix Market files.
 */
#include "fuzz.h"
#include "io/mtx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plx_context *ctx = fuzz_context();
    plx__table t;
    if (plx__mtx_parse(&t, ctx, plx__scratch(ctx), "fuzz.mtx", (const char *)data, size) == PLX_OK) check_table(&t);
    else check_failure(ctx, &t);
    plx_context_destroy(ctx);
    return 0;
}
