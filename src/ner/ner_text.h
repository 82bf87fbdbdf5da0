/*
 * A text as the taggers see it: forms, parts of speech and tags of its tokens, sentences, and for every token the
 * neighbours of its form's last occurrence in the document.
 */
#ifndef PLX_NER_NER_TEXT_H
#define PLX_NER_NER_TEXT_H

#include "ner/tags.h"
#include "ner/views.h"

typedef struct plx__ner_text {
    plx_index n, n_sentences;
    const plx_index *sentence;          /* n_sentences + 1 offsets */
    const int32_t *document;            /* of every sentence */
    const char *const *word;            /* n */
    const char *const *pos;             /* NULL: none */
    const plx__ner_mark *gold;          /* NULL: unlabelled */
    int32_t *form;                      /* n, once plx__ner_text_forms() was called */
    int32_t *seen_before, *seen_behind; /* n, once plx__ner_text_seen() was called */
} plx__ner_text;

/* Columns of tagged text: word, parts of speech where there are more than word and tag, tag. */
typedef struct plx__ner_columns {
    bool unlabelled; /* there is no column of tags */
    plx__ner_scheme scheme;
    int32_t first_document; /* number of the first one, where the text is part of a longer one */
} plx__ner_columns;

/* Words, parts of speech and tags of a text; types that are new are added; NULL: tags are
 * not read. One column is words alone. */
plx_status plx__ner_text_open(plx__ner_text *out, plx_context *ctx, plx__arena *arena, const plx__conll *conll,
                              const plx__ner_columns *columns, plx__ner_types *types);

/* The column of tags, or the number of columns when there is none. */
plx_index plx__ner_tag_column(const plx__conll *conll, bool unlabelled);

/* Number the forms of all words. */
plx_status plx__ner_text_forms(plx__ner_text *text, plx__arena *arena, plx__ner_forms *forms);

/* Last occurrences of forms in the running document; lasts over the parts of a text. */
typedef struct plx__ner_seen {
    plx__arena *arena;
    int32_t *document, *before, *behind; /* by form; document + 1, 0: not seen */
    plx_index room;
} plx__ner_seen;

/* Fills seen_before and seen_behind in order of the sentences. */
plx_status plx__ner_text_seen(plx__ner_text *text, plx__arena *arena, plx__ner_seen *seen, const plx__ner_forms *forms);

plx__ner_sentence plx__ner_sentence_of(const plx__ner_text *text, plx_index s);

/* Bytes of the longest word or part of speech. */
size_t plx__ner_longest(const plx__ner_text *text, const plx__ner_forms *forms);

#endif
