/**
 * @file parallax/json_text.h
 * @brief Numbers and texts as the library writes them in JSON, for programs that write JSON beside it.
 *
 * Lifetime: results go into a buffer of the caller; nothing is kept.
 *
 * Threads: any.
 */
#ifndef PARALLAX_JSON_TEXT_H
#define PARALLAX_JSON_TEXT_H

#include "parallax/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @name Writing
 *
 * Errors: none; 0 for a negative size.
 * Ownership: the text goes into the caller's buffer.
 * Threads: any.
 * Cost: O(length of the text).
 */

/**
 * A real number as JSON: the fewest digits that read back to the same bits, with a point or an exponent; `null` for NaN,
 * +-1e308 for infinities. Returns the length; what does not fit into `size` bytes with the final zero is cut off, and a
 * NULL buffer only counts.
 * @since 0.1
 */
PLX_API plx_index plx_json_number(char *buffer, plx_index size, double value);

/**
 * A text as a JSON string, quotes included; NULL is `null`. A byte that is not UTF-8 is written as \\xNN, so that it reads
 * as the four characters \xNN. Length, size and buffer as in plx_json_number().
 * @since 0.1
 */
PLX_API plx_index plx_json_string(char *buffer, plx_index size, const char *text);

#ifdef __cplusplus
}
#endif
#endif
