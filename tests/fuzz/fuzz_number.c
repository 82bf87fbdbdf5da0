/*
 * Numbers against the C library: reading as strtod reads (in the "C" locale), printing as %.17g prints, and the short
 * form reading back to the same bits.
 */
#include <math.h>

#include "core/number.h"
#include "fuzz.h"

static void check_printing(double x)
{
    char ours[PLX__NUMBER_BYTES], theirs[64];
    int len = plx__print_double(ours, x);
    FUZZ_CHECK(len == (int)strlen(ours));
    snprintf(theirs, sizeof theirs, "%.17g", x);
    if (!isnan(x)) FUZZ_CHECK(strcmp(ours, theirs) == 0);
    len = plx__print_short(ours, x);
    double back = strtod(ours, NULL);
    if (!isnan(x)) FUZZ_CHECK(memcmp(&back, &x, sizeof x) == 0);
    if (isfinite(x)) FUZZ_CHECK(len <= (int)strlen(theirs) + 16);
}

static void check_reading(const uint8_t *data, size_t size)
{
    double ours = 0;
    const char *text = (const char *)data, *stop = plx__read_double(&ours, text, text + size);
    if (!stop) return;
    FUZZ_CHECK(stop > text && stop <= text + size);
    char *copy = malloc((size_t)(stop - text) + 1), *end = NULL;
    if (!copy) abort();
    memcpy(copy, text, (size_t)(stop - text));
    copy[stop - text] = '\0';
    double theirs = strtod(copy, &end);
    FUZZ_CHECK(*end == '\0');
    FUZZ_CHECK(isnan(ours) ? isnan(theirs) : memcmp(&ours, &theirs, sizeof ours) == 0);
    free(copy);
    check_printing(ours);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double x;
    check_reading(data, size);
    for (size_t i = 0; i + sizeof x <= size; i += sizeof x) {
        memcpy(&x, data + i, sizeof x);
        check_printing(x);
    }
    return 0;
}
