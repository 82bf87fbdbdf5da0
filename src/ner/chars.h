/*
 * Characters of words: code points of UTF-8, their classes (Unicode's Uppercase, Lowercase and letters; digits are
 * ASCII only), lower case by the simple mapping.
 */
#ifndef PLX_NER_CHARS_H
#define PLX_NER_CHARS_H

#include "core/base.h"

enum {
    PLX__CHAR_UPPER = 1,
    PLX__CHAR_LOWER = 2,
    PLX__CHAR_LETTER = 4, /* of either case, or of none */
    PLX__CHAR_DIGIT = 8
};

/* Class bits of a code point. */
unsigned plx__char_class(int32_t code);

/* The character at *at, which moves behind it. A byte that is no UTF-8 is a character of its own. Not at the end. */
int32_t plx__next_char(const char **at);

/* Characters in a word. */
plx_index plx__char_count(const char *word);

/* Where the first `count` characters end; the end of the word when it has fewer. */
const char *plx__skip_chars(const char *word, plx_index count);

/* Lower case into `out`, which has room for 2 * strlen(word) + 1 bytes. Returns the length. */
size_t plx__lower_word(char *out, const char *word);

/* Upper -> X, lower -> x, digit -> d, others kept; runs of one symbol are cut to two. `out` has room for strlen(word) + 1
 * bytes. Returns the length. */
size_t plx__word_shape(char *out, const char *word);

/* Classes of all characters of the word, or'ed. */
unsigned plx__word_classes(const char *word);

#endif
