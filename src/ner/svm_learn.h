/*
 * From tagged text to support vector machines; from unlabelled text to lexicons; and both in turn.
 */
#ifndef PLX_NER_SVM_LEARN_H
#define PLX_NER_SVM_LEARN_H

#include "ner/chunks.h"
#include "ner/source.h"
#include "ner/tagged_output.h"
#include "ner/svm.h"

/* Learn with surface features only. Everything of the model is in `arena`. `unlabelled` (more text for stop_top) and `dump`
 * may be NULL. */
plx_status plx__svm_learn(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                          const plx__ner_types *types, const plx_params *settings, const char *unlabelled,
                          const char *dump);

/* The most frequent forms of the training text and a file that are never part of a name. */
plx_status plx__svm_stop_words(plx__svm *m, plx_context *ctx, plx__arena *arena, const plx__ner_text *text,
                               const char *unlabelled);

/* What to do with a text part by part (svm_parts.c). `memory` is for plx__svm_find(). */
typedef struct plx__svm_parts {
    plx__svm *m;
    bool unlabelled;
    const char *phase; /* for progress */
    plx_status (*use)(void *arg, const plx__conll *part, int32_t document, plx__name_memory *memory);
    void *arg;
} plx__svm_parts;

/* Parts of a source that was just opened. Of standard input a document is held until its end. */
plx_status plx__svm_each_part(plx_context *ctx, plx__ner_source *source, const plx__svm_parts *parts);

/* Tag a file or standard input. */
typedef struct plx__svm_tag_job {
    const char *in, *out, *values;
    bool unlabelled;
    plx__ner_scheme scheme;
} plx__svm_tag_job;

plx_status plx__svm_tag_file(plx__svm *m, plx_context *ctx, const plx__ner_types *types, const plx__svm_tag_job *job);

/* ---- bootstrapping ---- */

typedef struct plx__bootstrap_params {
    double C, tol;
    plx_index max_span, stop_top;
    bool memory;
    int phases; /* 0: both, 1: simple only */
    plx__value edges;
    double theta;
    plx_index max_iter;
} plx__bootstrap_params;

extern const plx__param_spec plx__bootstrap_params_table[];

/* Lexicons from a text tagged by a model: corpus lexicon (f4) and contexts (f5). */
plx_status plx__svm_make_lexicon(plx__svm_lexicon *out, plx_context *ctx, plx__arena *arena, plx__svm *m,
                                 const char *path, const plx__bootstrap_params *params);
plx_status plx__svm_write_lexicon(const plx__svm_lexicon *l, plx_context *ctx, const plx__svm *m, const char *path);
plx_status plx__svm_write_contexts(const plx__svm_lexicon *l, plx_context *ctx, const plx__svm *m, const char *path);

typedef struct plx__bootstrap_step {
    int phase; /* 1: enhanced window, 2: simple */
    double dev_f1;
    plx_index support;
} plx__bootstrap_step;

typedef struct plx__bootstrap {
    plx__bootstrap_step *step;
    plx_index count, best;
} plx__bootstrap;

typedef struct plx__bootstrap_job {
    const plx__ner_text *train, *dev;
    const plx__ner_types *types;
    const char *text;
    const char *dump_lexicon, *dump_contexts; /* or NULL */
    plx__bootstrap_params params;
} plx__bootstrap_job;

/* The best model of the loop. Log, categories and stop words are in `arena`, the rest of the model in *home, which is made
 * here and freed by the caller when *has_home. */
plx_status plx__svm_bootstrap(plx__svm *m, plx__bootstrap *log, plx_context *ctx, plx__arena *arena, plx__arena *home,
                              bool *has_home, const plx__bootstrap_job *job);

#endif
