/*
 * The reader of delimited text. The first byte chooses the options, the rest is the file.
 */
#include "fuzz.h"
#include "io/csv.h"

static void choose_options(plx__csv_options *o, uint8_t bits)
{
    static const char delimiters[] = {0, 0, ',', ' '};
    static const plx__csv_header headers[] = {PLX__HEADER_AUTO, PLX__HEADER_YES, PLX__HEADER_NO, PLX__HEADER_AUTO};
    *o = (plx__csv_options){.delimiter = delimiters[bits & 3], .header = headers[bits >> 2 & 3]};
    if (bits & 16) o->id = "1";
    if (bits & 32) o->label = "-1";
    if (bits & 64) o->text = "b";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    plx_context *ctx = fuzz_context();
    plx__csv_options o;
    plx__table t;
    plx__strings s;
    const char *text = (const char *)data + 1;
    choose_options(&o, data[0]);
    plx_status numbers = plx__csv_parse(&t, ctx, plx__scratch(ctx), "fuzz.csv", text, size - 1, &o);
    if (numbers == PLX_OK) check_table(&t);
    else check_failure(ctx, &t);
    plx__clear_error(ctx);
    plx_status strings = plx__csv_parse_strings(&s, ctx, plx__scratch(ctx), "fuzz.csv", text, size - 1, &o);
    size_t letters = 0;
    for (plx_index i = 0; strings == PLX_OK && i < s.rows * s.cols; i++) letters += strlen(s.cells[i]);
    FUZZ_CHECK(letters <= size);
    if (numbers == PLX_OK) FUZZ_CHECK(strings == PLX_OK && s.rows == t.dense.rows && s.cols >= t.dense.cols);
    plx_context_destroy(ctx);
    return 0;
}
