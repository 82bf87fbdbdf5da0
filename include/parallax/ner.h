/**
 * @file parallax/ner.h
 * @brief Tagged text: tokens in columns, sentences, documents (CoNLL).
 *
 * Lifetime: a text is owned by the caller and freed with plx_conll_destroy(); what is read from it is borrowed.
 *
 * Threads: a text is read-only once read and may be shared.
 */
#ifndef PARALLAX_NER_H
#define PARALLAX_NER_H

#include "parallax/context.h"
#include "parallax/matrix.h"
#include "parallax/method.h"
#include "parallax/metrics.h"
#include "parallax/params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_conll plx_conll;
typedef struct plx_ner_model plx_ner_model;
typedef struct plx_ner_choice plx_ner_choice;
typedef struct plx_ner_curve plx_ner_curve;

/**
 * Read a CoNLL file: one token per line, its columns separated by tabs (by blanks when the file has no tab), a blank
 * line after a sentence, lines that start with -DOCSTART- between documents.
 *
 * @param[out] out       NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  no tokens, an empty column, or lines of different numbers of columns: the message names the line
 * @retval PLX_E_NOMEM   the text would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_conll_destroy().
 * Threads: as the context passed in.
 * Cost: time O(bytes of the file), memory about the file and a pointer per column and token.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_conll_read(plx_conll **out, plx_context *ctx, const char *path);

/**
 * The same for text with names: columns are separated by blanks or tabs in any mixture, the text is UTF-8, and a line
 * whose first field is -DOCSTART- stands between documents. The functions below expect texts read this way.
 *
 * @param[out] out       NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  no tokens, lines of different numbers of columns, or bytes that are no UTF-8: the message names
 *                       the line
 * @retval PLX_E_NOMEM   the text would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_conll_destroy().
 * Threads: as the context passed in.
 * Cost: time O(bytes of the file), memory about the file and a pointer per column and token.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_ner_read(plx_conll **out, plx_context *ctx, const char *path);

/**
 * @name Reading
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the text.
 * Threads: any number may read.
 * Cost: O(1).
 */

/**
 * Free a text. NULL is allowed.
 *
 * Ownership: what was read from the text goes with it.
 * Threads: one, when no other uses the text.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_conll_destroy(plx_conll *text);

/** Number of tokens; 0 for NULL. */
PLX_API plx_index plx_conll_tokens(const plx_conll *text);

/** Number of sentences; 0 for NULL. */
PLX_API plx_index plx_conll_sentences(const plx_conll *text);

/** Number of documents; 0 for NULL. */
PLX_API plx_index plx_conll_documents(const plx_conll *text);

/** Number of columns of every token; 0 for NULL. */
PLX_API plx_index plx_conll_columns(const plx_conll *text);

/** One column of one token; NULL when there is no such token or column. The last column usually is the tag. */
PLX_API const char *plx_conll_column(const plx_conll *text, plx_index token, plx_index column);

/** First token of a sentence; for sentence = plx_conll_sentences() the number of tokens; -1 for others. */
PLX_API plx_index plx_conll_sentence(const plx_conll *text, plx_index sentence);

/** First sentence of a document; for document = plx_conll_documents() the number of sentences; -1 for others. */
PLX_API plx_index plx_conll_document(const plx_conll *text, plx_index document);

/**
 * Compare the last two columns of a text, right and guessed tags, as conlleval does: tokens, phrases, found, correct,
 * accuracy, precision, recall, f1, and of every type T precision:T, recall:T, f1:T, found:T, phrases:T, correct:T.
 *
 * @param metrics        where the figures are added
 * @param scheme         "any" (or NULL): tags have a prefix B, I, E, O, ., [ or ]; "raw": bare types, every token a name
 * @retval PLX_E_ARG     an argument is NULL, or there is no such scheme
 * @retval PLX_E_FORMAT  fewer than two columns, or an unknown prefix: the message names the line
 * @retval PLX_E_NOMEM   the memory limit
 *
 * Ownership: the caller keeps both.
 * Threads: as the context passed in.
 * Cost: time and memory O(tokens).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_ner_eval(plx_context *ctx, plx_metrics *metrics, const plx_conll *text,
                                              const char *scheme);

/**
 * @name Learning
 *
 * Threads: as the context passed in; texts are only read.
 */

/**
 * Settings with their defaults: for "memm" (conditional Markov model), "svm" (support vector machines), "bootstrap",
 * "select" or "simulate".
 *
 * @param[out] out    NULL on failure.
 * @retval PLX_E_ARG  an argument is NULL, or there are no such settings
 *
 * Ownership: the caller's; free it with plx_params_destroy().
 * Cost: O(1).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_params_create(plx_params **out, plx_context *ctx, const char *what);

/**
 * The i-th of these settings. Set `info->struct_size` first (PLX_PARAM_INFO_INIT).
 *
 * @retval PLX_E_ARG  past the end, no such settings, NULL
 *
 * Ownership: texts are borrowed and stay valid.
 * Cost: O(1).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_param(plx_param_info *info, const char *what, plx_index i);

/** How to train. Start from PLX_NER_TRAIN_OPTIONS_INIT. */
typedef struct plx_ner_train_options {
    size_t struct_size;
    const char *scheme;          /**< of the tags: "iob2" (NULL), "iob1" or "raw" */
    const char *unlabelled_text; /**< a file with more text whose words are counted too; NULL: none */
    const char *dump_features;   /**< a file for the features of every token; NULL: none */
} plx_ner_train_options;

#define PLX_NER_TRAIN_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(plx_ner_train_options), 0, 0, 0                                                                         \
    }

/**
 * Train a tagger on a text whose last column holds the tags.
 *
 * @param[out] out  NULL on failure.
 * @param learner   "memm" or "svm"
 * @param params    NULL for the defaults; made by plx_ner_params_create() for the same learner.
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG        an argument is NULL or no such learner, scheme or setting
 * @retval PLX_E_DATA       there are no tags
 * @retval PLX_E_FORMAT     an unknown prefix of a tag: the message names the line
 * @retval PLX_E_IO         a file cannot be read or written
 * @retval PLX_E_NOMEM      the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Same text and settings give the same bytes for every number of threads.
 *
 * Ownership: the caller's; free it with plx_ner_model_destroy(). It keeps no pointer to the text.
 * Cost: memm: time O(steps x tokens x features of a token x tags), memory about 20 numbers per feature and tag. svm: time
 * O(steps x (instances + forms)) per type of name, memory O(instances).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_train(plx_ner_model **out, plx_context *ctx, const char *learner,
                                               const plx_conll *text, const plx_params *params,
                                               const plx_ner_train_options *options);

/** How to bootstrap. Start from PLX_NER_BOOTSTRAP_OPTIONS_INIT. */
typedef struct plx_ner_bootstrap_options {
    size_t struct_size;
    const char *scheme;        /**< of the tags: "iob2" (NULL), "iob1" or "raw" */
    const char *dump_lexicon;  /**< a file for the corpus lexicon of the last training; NULL: none */
    const char *dump_contexts; /**< a file for its context lexicon; NULL: none */
} plx_ner_bootstrap_options;

#define PLX_NER_BOOTSTRAP_OPTIONS_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(plx_ner_bootstrap_options), 0, 0, 0                                                                     \
    }

/**
 * Support vector machines with features bootstrapped from unlabelled text: classifiers tag the text, what they find
 * becomes features, and they are trained again, first over spans of words, then over words. The model is the one that was
 * best on `dev`.
 *
 * @param[out] out  NULL on failure.
 * @param text      path of the unlabelled text, words first in a line; it is read part by part
 * @param params    NULL for the defaults; made by plx_ner_params_create() for "bootstrap"
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG        an argument is NULL or a setting out of range
 * @retval PLX_E_DATA       a text has no tags, or the training text no names
 * @retval PLX_E_FORMAT     an unknown prefix of a tag, or a file that cannot be read as text in columns
 * @retval PLX_E_IO         a file cannot be read or written
 * @retval PLX_E_NOMEM      the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Ownership: the caller's; free it with plx_ner_model_destroy().
 * Cost: per training that of an svm, and tagging the text once (documents of more than 4 MiB twice); memory grows with
 * the different words and names of the text, not with its length.
 */
PLX_API PLX_NODISCARD plx_status plx_ner_bootstrap(plx_ner_model **out, plx_context *ctx, const plx_conll *train,
                                                   const plx_conll *dev, const char *text, const plx_params *params,
                                                   const plx_ner_bootstrap_options *options);

/**
 * @name Models
 *
 * Threads: a model is read-only: any number may tag with it, each with a context of its own.
 */

/**
 * Free a model. NULL is allowed.
 *
 * Errors: none.
 * Ownership: what was read from it goes with it.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_ner_model_destroy(plx_ner_model *model);

/**
 * Write a model file.
 *
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_IO     the file cannot be written; nothing is left behind
 * @retval PLX_E_NOMEM  the memory limit
 *
 * Ownership: the caller keeps the model.
 * Cost: O(weights).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_model_save(plx_context *ctx, const plx_ner_model *model, const char *path);

/**
 * Read a model file that plx_ner_model_save() wrote.
 *
 * @param[out] out       NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  not a model file, damaged, or a model of another kind
 * @retval PLX_E_NOMEM   the memory limit
 *
 * Ownership: the caller's; free it with plx_ner_model_destroy().
 * Cost: O(weights).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_model_load(plx_ner_model **out, plx_context *ctx, const char *path);

/**
 * What the model is, as JSON: learner, parameters, objective, number of features and tags.
 *
 * @param[out] text     NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  no memory
 *
 * Ownership: borrowed from the model until the next call or its end.
 * Threads: one at a time for a model.
 * Cost: O(length of the text).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_model_json(const char **text, plx_context *ctx, plx_ner_model *model);

/**
 * "memm", ..
 *
 * Errors: none; NULL for NULL.
 * Ownership: borrowed from the model.
 * Cost: O(1).
 */
PLX_API const char *plx_ner_model_learner(const plx_ner_model *model);

/**
 * Number of tags of a memm.
 *
 * Errors: none; 0 for NULL.
 * Ownership: nothing is handed out.
 * Cost: O(1).
 */
PLX_API plx_index plx_ner_model_tags(const plx_ner_model *model);

/**
 * The i-th tag, bytewise sorted, in IOB2.
 *
 * Errors: none; NULL for NULL or out of range.
 * Ownership: borrowed from the model.
 * Cost: O(1).
 */
PLX_API const char *plx_ner_model_tag(const plx_ner_model *model, plx_index i);

/** How to tag a file. Start from PLX_NER_TAG_OPTIONS_INIT. */
typedef struct plx_ner_tag_options {
    size_t struct_size;
    const char *scheme; /**< of the guesses; NULL: that of the training text */
    int unlabelled;     /**< the text has no column of tags */
    const char *probs;  /**< a file for the probabilities of a memm, a line per word; NULL: none */
    const char *scores; /**< a file for the scores of an svm, a line per word; NULL: none */
} plx_ner_tag_options;

#define PLX_NER_TAG_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(plx_ner_tag_options), 0, 0, 0, 0                                                                        \
    }

/**
 * Tag a file: its columns and the guess go to `out`, an empty line after every sentence. "-" is standard input, read as
 * it comes, and standard output.
 *
 * @param options        NULL for the defaults.
 * @retval PLX_E_ARG     an argument is NULL, no such scheme, or values the model does not have
 * @retval PLX_E_IO      a file cannot be read or written
 * @retval PLX_E_FORMAT  empty, other numbers of columns, no UTF-8: the message names the line
 * @retval PLX_E_DATA    the model wants parts of speech and there are none
 * @retval PLX_E_NOMEM   the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Ownership: the caller keeps the model.
 * Cost: time O(tokens x (features + tags^history)), memory O(a sentence x tags^history + different words).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_tag_file(plx_context *ctx, const plx_ner_model *model, const char *in,
                                                  const char *out, const plx_ner_tag_options *options);

/**
 * @name Selective sampling
 *
 * Threads: as the context passed in; models and texts are only read.
 */

/**
 * Rank the sentences of a pool by how much models disagree about them.
 *
 * @param[out] out    NULL on failure.
 * @param models      two or more of learner "memm", with the same tags
 * @param metric      "kl-max", "kl-ave", "f-complement" or "random"
 * @param params      NULL for the defaults; made by plx_ner_params_create() for "select"
 * @param unlabelled  not 0: the pool has no column of tags (tags are not looked at anyway)
 * @retval PLX_E_ARG        an argument is NULL, no such metric, fewer than two models, a model without probabilities
 * @retval PLX_E_DATA       models with different tags, or parts of speech are missing
 * @retval PLX_E_NOMEM      the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Ownership: the caller's; free it with plx_ner_choice_destroy().
 * Cost: tagging the pool with every model.
 */
PLX_API PLX_NODISCARD plx_status plx_ner_select(plx_ner_choice **out, plx_context *ctx,
                                                const plx_ner_model *const *models, plx_index n_models,
                                                const plx_conll *pool, const char *metric, const plx_params *params,
                                                int unlabelled);

/**
 * The same from files of probabilities as plx_ner_tag_file() writes them; the decoded tag of a token is its most
 * probable one.
 *
 * @param[out] out       NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL, no such metric, fewer than two files
 * @retval PLX_E_IO      a file cannot be read
 * @retval PLX_E_FORMAT  not such a file: the message names the line
 * @retval PLX_E_DATA    files with different tags or sentences
 * @retval PLX_E_NOMEM   the memory limit
 *
 * Ownership: the caller's; free it with plx_ner_choice_destroy().
 * Cost: O(files).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_select_probs(plx_ner_choice **out, plx_context *ctx, const char *const *paths,
                                                      plx_index n_paths, const char *metric, const plx_params *params);

/**
 * Free a ranking. NULL is allowed.
 *
 * Errors: none.
 * Ownership: it is gone.
 * Cost: O(1).
 */
PLX_API void plx_ner_choice_destroy(plx_ner_choice *choice);

/**
 * Sentences of the pool.
 *
 * Errors: none; 0 for NULL.
 * Ownership: nothing is handed out.
 * Cost: O(1).
 */
PLX_API plx_index plx_ner_choice_count(const plx_ner_choice *choice);

/** A sentence of a ranked pool. Set struct_size first (PLX_NER_CHOSEN_INIT). */
typedef struct plx_ner_chosen {
    size_t struct_size;
    double score;
    plx_index tokens, names; /**< names as the first model decodes them */
    plx_index rank;          /**< 0: annotate it first */
} plx_ner_chosen;

#define PLX_NER_CHOSEN_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(plx_ner_chosen), 0, 0, 0, 0                                                                             \
    }

/**
 * Score and rank of a sentence, by its place in the pool.
 *
 * @retval PLX_E_ARG  out of range, NULL, or a struct of unknown size
 *
 * Ownership: copied.
 * Cost: O(1).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_choice_sentence(plx_ner_chosen *out, const plx_ner_choice *choice,
                                                         plx_index sentence);

/**
 * Write the ranking as sentence,score,tokens,entities_pred,rank,selected in the order of the pool; `selected` is 1 for the
 * first `batch`.
 *
 * @retval PLX_E_ARG  an argument is NULL or negative
 * @retval PLX_E_IO   the file cannot be written; nothing is left behind
 *
 * Ownership: the caller keeps the ranking.
 * Cost: O(sentences).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_choice_write(plx_context *ctx, const plx_ner_choice *choice, plx_index batch,
                                                      const char *path);

/** What to simulate. Start from PLX_NER_SIMULATE_OPTIONS_INIT. */
typedef struct plx_ner_simulate_options {
    size_t struct_size;
    const char *scheme; /**< of the tags: "iob2" (NULL), "iob1" or "raw" */
    const char *metric; /**< as for plx_ner_select(); NULL: "kl-ave" */
    plx_index batch;    /**< sentences per round */
    plx_index rounds;
} plx_ner_simulate_options;

#define PLX_NER_SIMULATE_OPTIONS_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(plx_ner_simulate_options), 0, 0, 50, 20                                                                 \
    }

/**
 * Selective sampling as it would have gone: models of both views, trained on `train`, choose sentences of `pool`, whose
 * tags then join the training text; a model of all features is measured on `test` before the first round and after each.
 *
 * @param[out] out  NULL on failure.
 * @param params    NULL for the defaults; made by plx_ner_params_create() for "simulate"
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG        an argument is NULL or out of range
 * @retval PLX_E_DATA       a text has no tags
 * @retval PLX_E_FORMAT     an unknown prefix of a tag
 * @retval PLX_E_NOMEM      the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Ownership: the caller's; free it with plx_ner_curve_destroy().
 * Cost: per round three trainings, and tagging the pool twice.
 */
PLX_API PLX_NODISCARD plx_status plx_ner_simulate(plx_ner_curve **out, plx_context *ctx, const plx_conll *train,
                                                  const plx_conll *pool, const plx_conll *test,
                                                  const plx_params *params, const plx_ner_simulate_options *options);

/**
 * Free a curve. NULL is allowed.
 *
 * Errors: none.
 * Ownership: it is gone.
 * Cost: O(1).
 */
PLX_API void plx_ner_curve_destroy(plx_ner_curve *curve);

/**
 * Rounds of a curve, the one before any annotation included.
 *
 * Errors: none; 0 for NULL.
 * Ownership: nothing is handed out.
 * Cost: O(1).
 */
PLX_API plx_index plx_ner_curve_count(const plx_ner_curve *curve);

/** State after a round. Set struct_size first (PLX_NER_ROUND_INIT). */
typedef struct plx_ner_round {
    size_t struct_size;
    plx_index sentences, tokens, names; /**< annotated from the pool so far */
    double f1, precision, recall;       /**< of names in the test text */
} plx_ner_round;

#define PLX_NER_ROUND_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(plx_ner_round), 0, 0, 0, 0, 0, 0                                                                        \
    }

/**
 * The state after a round; 0 is the start.
 *
 * @retval PLX_E_ARG  out of range, NULL, or a struct of unknown size
 *
 * Ownership: copied.
 * Cost: O(1).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_curve_round(plx_ner_round *out, const plx_ner_curve *curve, plx_index round);

/**
 * Write the curve as round,sentences,tokens,entities,f1,precision,recall.
 *
 * @retval PLX_E_ARG  an argument is NULL
 * @retval PLX_E_IO   the file cannot be written; nothing is left behind
 *
 * Ownership: the caller keeps the curve.
 * Cost: O(rounds).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_curve_write(plx_context *ctx, const plx_ner_curve *curve, const char *path);

#ifdef __cplusplus
}
#endif
#endif
