/*
 * The reader of svmlight text. The first byte chooses from where indices count.
 */
#include "fuzz.h"
#include "io/svmlight.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    static const plx__index_base bases[] = {PLX__BASE_AUTO, PLX__BASE_ONE, PLX__BASE_ZERO, PLX__BASE_AUTO};
    plx_context *ctx = fuzz_context();
    plx__svmlight_options o = {.base = bases[data[0] & 3]};
    plx__table t;
    const char *text = (const char *)data + 1;
    if (plx__svmlight_parse(&t, ctx, plx__scratch(ctx), "fuzz.svm", text, size - 1, &o) == PLX_OK) check_table(&t);
    else check_failure(ctx, &t);
    plx_context_destroy(ctx);
    return 0;
}
