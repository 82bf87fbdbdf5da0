/*
 * The two feature views of the conditional Markov models, as strings.
 *
 * Features come in groups by what they depend on, because tagging keeps their sums by group: the word itself, the word
 * as a neighbour, as one of five around, shapes and abbreviations side by side, parts of speech, earlier occurrences; and
 * those that ask for the tags before, which are NAME:TAGS_REST with a rest that does not depend on tags.
 */
#ifndef PLX_NER_VIEWS_H
#define PLX_NER_VIEWS_H

#include "ner/forms.h"

enum { PLX__NER_HISTORY = 3, PLX__NER_AROUND = 5, PLX__NER_RESTS = 7 };

typedef struct plx__ner_views {
    bool one, two;
    bool context; /* view 1 sees the history and its neighbours' affixes */
    bool pos;     /* the text has parts of speech */
    int history;  /* tags before a word that features may ask for, at most PLX__NER_HISTORY */
} plx__ner_views;

/* Tags before a word that some feature does ask for. */
int plx__ner_depth(const plx__ner_views *views);

/* A sentence: its forms, parts of speech, and the neighbours of the last earlier occurrence of each (-1: none). */
typedef struct plx__ner_sentence {
    plx_index n;
    const int32_t *form;
    const char *const *pos; /* NULL: none */
    const int32_t *seen_before, *seen_behind;
} plx__ner_sentence;

typedef plx_status (*plx__feature_fn)(void *arg, const char *text, size_t length);

typedef struct plx__emitter {
    const plx__ner_views *views;
    const plx__ner_form *form;
    const plx__ner_lexicon *lexicon;
    char *buffer; /* room for the longest feature */
    plx__feature_fn put;
    void *arg;
} plx__emitter;

/* Bytes of the longest feature: forms and parts of speech of that many bytes, tags of that many. */
size_t plx__ner_feature_room(size_t longest_form, size_t longest_tag);

/* Form at a position, also outside the sentence. */
int32_t plx__ner_form_at(const plx__ner_sentence *s, plx_index i);

/* ---- groups without tags ---- */
plx_status plx__emit_bias(const plx__emitter *e);
plx_status plx__emit_own(const plx__emitter *e, int32_t form);
plx_status plx__emit_neighbour(const plx__emitter *e, int32_t form, int side);   /* -1: stands before; +1: behind */
plx_status plx__emit_around(const plx__emitter *e, int32_t form, int side);      /* one of the five */
plx_status plx__emit_abbreviations(const plx__emitter *e, const char around[3]); /* see plx__ner_abbreviation */
plx_status plx__emit_shapes(const plx__emitter *e, const plx__ner_sentence *s, plx_index i);
plx_status plx__emit_pos(const plx__emitter *e, const plx__ner_sentence *s, plx_index i);
plx_status plx__emit_occurrence(const plx__emitter *e, const plx__ner_sentence *s, plx_index i);

/* The distinct forms among the five before (side -1) or behind; returns how many. */
int plx__ner_around(int32_t out[PLX__NER_AROUND], const plx__ner_sentence *s, plx_index i, int side);

/* Abbreviation class: 0, C, P, D; outside the sentence '<' and '>'. */
char plx__ner_abbreviation(const plx__emitter *e, const plx__ner_sentence *s, plx_index i);

/* ---- groups with tags ---- */

/* "NAME:" of the kinds of features with a rest, and how many tags they have. */
extern const char *const plx__rest_name[PLX__NER_RESTS];
extern const int plx__rest_tags[PLX__NER_RESTS];

/* "NAME:REST" of a kind at a position: the feature without its tags. *length 0: there is no such feature here. */
void plx__ner_rest(size_t *length, const plx__emitter *e, const plx__ner_sentence *s, plx_index i, int kind);

/* How far back the opening bracket is that belongs to the closing one at i; 0: no such feature. */
int plx__ner_bracket(const plx__emitter *e, const plx__ner_sentence *s, plx_index i);

/* All features with tags; tag[0] is the one before, tag[1] before that. */
plx_status plx__emit_history(const plx__emitter *e, const plx__ner_sentence *s, plx_index i,
                             const char *const tag[PLX__NER_HISTORY]);

/* Every group without tags. */
plx_status plx__emit_static(const plx__emitter *e, const plx__ner_sentence *s, plx_index i);

#endif
