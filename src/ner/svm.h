/*
 * Names by linear support vector machines, one per type of name, over surface features of a window of words.
 *
 * Simple window: an instance is a word, with the words -3 .. +2 around it. Enhanced window: an instance is a span of up to
 * max_span words, with its first, inner and last words and those -3 .. -1 before and +1, +2 behind it. Features of a word
 * depend on its form alone, so products with the design matrix go through tables of slot x form.
 */
#ifndef PLX_NER_SVM_H
#define PLX_NER_SVM_H

#include "core/crew.h"
#include "ner/ner_text.h"

enum {
    PLX__SVM_CONTEXT = 3, /* longest sequence of words in a context */
    PLX__SVM_MOST_SLOTS = 8,
    PLX__SVM_SPAN_UNIT = 8 /* feature len = span / 8 */
};

typedef struct plx__svm_params {
    int window; /* 0: simple, 1: enhanced */
    double C, tol;
    plx_index max_span, stop_top;
    bool memory;
} plx__svm_params;

extern const plx__param_spec plx__svm_params_table[];

/* ---- lexicons made from unlabelled text ---- */

typedef struct plx__svm_ratio {
    int32_t key; /* corpus lexicon: category * bins + bin; contexts: category */
    double ratio;
} plx__svm_ratio;

/* Ratios by a text: corpus lexicon (f4) by word, contexts (f5) by "p" or "s" and the words, each behind a blank. */
typedef struct plx__svm_ratios {
    plx__dict keys;
    plx_index *ptr; /* keys.count + 1 */
    plx__svm_ratio *entry;
} plx__svm_ratios;

typedef struct plx__svm_lexicon {
    bool present; /* f4 and f5 are used */
    plx_index bins;
    plx__svm_ratios corpus, contexts;
} plx__svm_lexicon;

/* ---- model ---- */

typedef struct plx__svm {
    plx__svm_params params;
    plx_index n_cat;
    const char **cat;    /* bytewise sorted */
    const int32_t *type; /* of marks */
    plx__svm_lexicon lexicon;
    plx__dict stop; /* forms that are no candidates */
    plx__dict base; /* features of a word, without position */
    plx_index columns;
    double *weight;    /* n_cat x columns */
    double *objective; /* n_cat */
    plx_index support; /* instances with margin < 1, over all categories */
} plx__svm;

/* Columns: slot * base.count + base feature; then pad by slot, len, bias, pre N:CAT, suc N:CAT. */
typedef struct plx__svm_layout {
    plx_index slots, base, pad, len, bias, pre, suc, columns;
    int before, after;             /* first slot of the words before; of those behind */
    int focus, first, inner, last; /* slots, -1 where the window has none */
} plx__svm_layout;

plx__svm_layout plx__svm_layout_of(const plx__svm *m);
/* "-3|" .. of a slot. */
const char *plx__svm_slot_name(bool enhanced, int slot);

/* ---- features of a word ---- */

/* Surface class: the text behind "f1:". */
const char *plx__surface_class(const char *word);
bool plx__svm_has_word_character(const char *word); /* a letter or digit */

/* Every feature of a word with its value. */
typedef plx_status (*plx__svm_feature_fn)(void *arg, const char *name, size_t length, double value);

/* Room to spell features in; grows in an arena, nothing of which is given back. */
typedef struct plx__svm_pen {
    plx__arena *arena;
    char *lower, *name;
    size_t lower_bytes, name_bytes;
} plx__svm_pen;

plx_status plx__svm_word_features(const plx__svm *m, plx__svm_pen *pen, const char *word, plx__svm_feature_fn put,
                                  void *arg);

/* ---- texts ---- */

/* A text with the features of its forms, and of the contexts at the edges between its words. */
typedef struct plx__svm_text {
    plx_index n, n_sentences;
    const plx_index *sentence;
    const int32_t *document; /* of every sentence */
    const char *const *word;
    int32_t *form; /* n */
    plx_index n_forms;
    const char **form_text;
    bool *candidate; /* by form */
    plx_index *ptr;  /* by form: base features */
    int32_t *base;
    double *value;
    plx_index *pre_ptr, *suc_ptr; /* by token: contexts that end before it; that begin behind it */
    int32_t *pre_col, *suc_col;   /* columns (0: the first of layout.pre, layout.suc) */
    double *pre_val, *suc_val;
} plx__svm_text;

/* With `learn` features that are new are added to m->base. */
plx_status plx__svm_text_open(plx__svm_text *out, plx__arena *arena, const plx__ner_text *text, plx__svm *m,
                              bool learn);

/* ---- learning ---- */

/* Fit weights; categories, lexicon, stop words and params are there. `start`: a model of the same categories to start from
 * where its window is the same, or NULL; the minimum does not depend on it. */
plx_status plx__svm_fit(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__svm_text *text,
                        const plx__ner_mark *gold, const plx__svm *start);

/* Categories of the training tags, sorted. */
plx_status plx__svm_categories(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                               const plx__ner_types *types);

/* Label of the span begin .. end of a sentence: category, -1: none. */
typedef struct plx__svm_span {
    int32_t begin, end, cat; /* in the sentence */
    double value;
} plx__svm_span;

/* "sentence start end label feature=value .." of every instance. */
plx_status plx__svm_dump(const plx__svm *m, plx_context *ctx, const plx__svm_text *text, const plx__ner_mark *gold,
                         const char *path);

/* Category of the instance begin .. end (of sentence tokens `gold`, n of them): the name it is, or the type of a word. */
int32_t plx__svm_label(const plx__svm *m, const plx__ner_mark *gold, plx_index n, plx_index begin, plx_index end);

/* ---- tagging ---- */

/* Scores of words by slot: n_cat x slots x forms. */
typedef struct plx__svm_tables {
    const plx__svm *m;
    const plx__svm_text *text;
    plx__svm_layout layout;
    double *slot; /* (cat * slots + slot) * n_forms + form */
} plx__svm_tables;

plx_status plx__svm_tables_make(plx__svm_tables *t, plx_context *ctx, plx__arena *arena, const plx__svm *m,
                                const plx__svm_text *text);

/* Names of a sentence (spans, at most its length of them), and per word the value of every category (n x n_cat, NaN
 * where a word is in no instance); either may be NULL. */
plx_status plx__svm_sentence(const plx__svm_tables *t, plx__arena *arena, plx_index s, plx__svm_span *names,
                             plx_index *n_names, double *values);

/* Mark sequences equal to names of the same document that are untagged. names[s] .. of all sentences; rows are changed.
 * names: first[s] .. first[s] + count[s] of `span`, with room for the sentence's length. */
plx_status plx__svm_memory(plx_context *ctx, const plx__svm *m, const plx__svm_text *text, plx__svm_span *span,
                           plx_index *count);

/* Names of a whole text, by sentence: span[sentence[s]] .. for count[s] of them. */
typedef struct plx__svm_names {
    plx__svm_text text;
    plx__svm_span *span;
    plx_index *count;
} plx__svm_names;

/* The names of one document, which may come in pieces: learn from all of them, settle, then mark each. In `arena`, which
 * must not be the scratch arena. */
typedef struct plx__name_memory plx__name_memory;
plx_status plx__name_memory_new(plx__name_memory **out, plx_context *ctx, plx__arena *arena, const plx__svm *m);
plx_status plx__name_memory_learn(plx__name_memory *memory, const plx__svm_names *names);
plx_status plx__name_memory_settle(plx__name_memory *memory);
plx_status plx__name_memory_mark(plx__name_memory *memory, plx__svm_names *names);

/* Names of a text as decided sentence by sentence; and with name memory (m->params): that of a document the text is a
 * piece of, or NULL where its documents are whole. */
plx_status plx__svm_decide(plx__svm_names *out, plx_context *ctx, plx__arena *arena, plx__svm *m,
                           const plx__ner_text *text, double *values);
plx_status plx__svm_find(plx__svm_names *out, plx_context *ctx, plx__arena *arena, plx__svm *m,
                         const plx__ner_text *text, double *values, plx__name_memory *memory);

/* All of it: marks of a text, and values per word (n x n_cat) where wanted; `memory` as for plx__svm_find(). */
plx_status plx__svm_tag(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                        plx__ner_mark *marks, double *values, plx__name_memory *memory);

#endif
