/*
 * Function words that carry no topic, by language.
 */
#ifndef PLX_IO_STOPWORDS_H
#define PLX_IO_STOPWORDS_H

#include "core/base.h"

/* Languages with a list, and the words of one (case-folded, any order); NULL: there is no such list. */
const char *const *plx__stop_languages(plx_index *count);
const char *const *plx__stop_words(plx_index *count, const char *language);

#endif
