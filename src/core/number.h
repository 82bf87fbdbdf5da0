/*
 * Numbers as text, independent of the locale and exact in both directions.
 */
#ifndef PLX_CORE_NUMBER_H
#define PLX_CORE_NUMBER_H

#include "core/base.h"

/* Read the longest number that starts at `text` and ends before `end`: correctly rounded decimal,
 * optional sign, `nan`, `inf`, `infinity` in any case. Returns the first byte not consumed, or NULL
 * when no number starts here. No white space is skipped, no locale is looked at, hexadecimal is not a number. */
const char *plx__read_double(double *out, const char *text, const char *end);
const char *plx__read_int64(int64_t *out, const char *text, const char *end);

/* The whole of `text` must be a number (surrounding blanks allowed). */
bool plx__parse_double(double *out, const char *text);
bool plx__parse_int64(int64_t *out, const char *text);

enum { PLX__NUMBER_BYTES = 32 };

/* `%.17g` with '.' as decimal point: reads back to the same bits. `nan`, `inf`, `-inf`. Returns the length. */
int plx__print_double(char out[PLX__NUMBER_BYTES], double value);

/* Fewest digits that read back to the same bits; for people. */
int plx__print_short(char out[PLX__NUMBER_BYTES], double value);

#endif
