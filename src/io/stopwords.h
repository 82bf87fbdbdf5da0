/*
 * Function words that carry no topic, by language.
 */
#ifndef PLX_IO_STOPWORDS_H
#define PLX_IO_STOPWORDS_H

#include "core/base.h"

/* Names a user may choose from: the languages with a list, last "none". */
const char *const *plx__stop_languages(plx_index *count);

/* The words of a language, case-folded, in any order; NULL: there is no such list. */
const char *const *plx__stop_words(plx_index *count, const char *language);

#endif
