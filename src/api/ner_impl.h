/*
 * Inside of the objects of parallax/ner.h.
 */
#ifndef PLX_API_NER_IMPL_H
#define PLX_API_NER_IMPL_H

#include "io/conll.h"
#include "parallax/ner.h"

struct plx_conll {
    plx__arena arena;
    plx__conll text;
};

#endif
