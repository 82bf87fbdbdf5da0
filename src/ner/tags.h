/*
 * Tags of tokens: a prefix and a type ("B-PER" is B and PER), and the schemes they are written in.
 *
 * Inside the library names are in IOB2: B-X begins a name of type X, I-X goes on with it, O is outside. IOB1 writes B-X
 * only where a name follows another of its type at once; raw tags are bare types, a name being a run of equal ones.
 */
#ifndef PLX_NER_TAGS_H
#define PLX_NER_TAGS_H

#include "core/text.h"
#include "io/conll.h"

typedef enum plx__ner_scheme {
    PLX__NER_IOB2,
    PLX__NER_IOB1,
    PLX__NER_RAW,
    PLX__NER_ANY,       /* evaluation: the prefixes B I E O . [ ] in any order */
    PLX__NER_RAW_TOKENS /* evaluation of bare types: every token is a name of its own */
} plx__ner_scheme;

/* The words of --scheme, in the order above. */
#define PLX__NER_SCHEMES "iob2|iob1|raw"

typedef struct plx__ner_mark {
    char prefix;
    int32_t type; /* into plx__ner_types; 0 for O */
} plx__ner_mark;

static inline plx__ner_mark plx__ner_outside(void)
{
    plx__ner_mark o = {'O', 0};
    return o;
}

/* Names of types in order of arrival; number 0 is "". */
typedef struct plx__ner_types {
    plx__arena *arena;
    plx__map map;
    const char **name;
    plx_index count, room;
} plx__ner_types;

plx_status plx__ner_types_init(plx__ner_types *types, plx__arena *arena);
plx_status plx__ner_type(int32_t *out, plx__ner_types *types, const char *name);

/* Tags of a column as marks (n_tokens of them); IOB1 and raw become IOB2. An unknown prefix is PLX_E_FORMAT with its
 * line. */
plx_status plx__ner_read_marks(plx__ner_mark *out, plx_context *ctx, plx__ner_types *types, const plx__conll *text,
                               plx_index column, plx__ner_scheme scheme);

/* "B-PER", "O". */
plx_status plx__ner_tag_text(const char **out, plx__arena *arena, const plx__ner_types *types, plx__ner_mark mark);

/* An IOB2 mark of a sentence in another scheme, the mark before it (outside: none) being known. */
plx__ner_mark plx__ner_to_scheme(plx__ner_mark mark, plx__ner_mark before, plx__ner_scheme scheme);

#endif
