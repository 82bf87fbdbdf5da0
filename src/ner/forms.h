/*
 * Word forms of a text with what the feature views ask of them, and the resources features are looked up in: counts of
 * words and gazetteers.
 */
#ifndef PLX_NER_FORMS_H
#define PLX_NER_FORMS_H

#include "ner/dict.h"
#include "params/param.h"

/* Room for changed copies of a word; may share an arena with what is kept. */
typedef struct plx__word_buffer {
    char *text;
    size_t bytes;
} plx__word_buffer;

/* ---- resources, part of a model ---- */

typedef struct plx__gazetteer {
    const char *name;
    plx__dict words; /* of all entries */
} plx__gazetteer;

typedef struct plx__ner_lexicon {
    plx__dict words; /* lower case */
    int64_t *count;  /* of every word, in training and unlabelled text */
    plx_index room;
    plx__gazetteer *gazetteer;
    plx_index n_gazetteers;
    plx__word_buffer work;
} plx__ner_lexicon;

plx_status plx__ner_lexicon_init(plx__ner_lexicon *lexicon, plx__arena *arena);

/* Count words (case does not matter), `times` each. */
plx_status plx__ner_lexicon_count(plx__ner_lexicon *lexicon, plx_context *ctx, const char *const *word, plx_index n,
                                  int64_t times);

/* A gazetteer: its words are those of all lines of a file. */
plx_status plx__ner_gazetteer_read(plx__gazetteer *out, plx_context *ctx, plx__arena *arena, const char *name,
                                   const char *path);

/* ---- forms ---- */

/* What stands outside a sentence; other forms follow. */
enum { PLX__FORM_BEFORE = 0, PLX__FORM_BEHIND = 1, PLX__FORM_FIRST = 2 };

typedef struct plx__ner_form {
    const char *text, *shape;
    uint32_t length, shape_length;
    bool is_dotted, is_capitals; /* abbreviation classes D and C */
    bool fits_brackets;          /* P, when it stands between ( and ) */
    bool recurs;                 /* has an upper-case letter or a digit: earlier occurrences matter */
    uint8_t frequency;           /* q of fr:q */
    uint64_t gazetteers;         /* bit k: in gazetteer k */
} plx__ner_form;

typedef struct plx__ner_forms {
    const plx__ner_lexicon *lexicon;
    plx__arena *arena;
    plx__dict dict; /* number k here is form k + PLX__FORM_FIRST */
    plx__ner_form *form;
    plx_index count, room;
    plx_index longest; /* bytes of the longest form */
    plx__word_buffer work;
} plx__ner_forms;

plx_status plx__ner_forms_init(plx__ner_forms *forms, plx__arena *arena, const plx__ner_lexicon *lexicon);
plx_status plx__ner_form_add(int32_t *out, plx__ner_forms *forms, const char *word);

#endif
