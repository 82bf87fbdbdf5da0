/*
 * Documents to word counts.
 *
 * A word is a maximal run of letters and the marks on them (tokens=alpha), or of letters, marks and numbers
 * (tokens=alnum). Everything else separates; so does an apostrophe, which turns "l'homme" into "l" and
 * "homme", unless apostrophe=keep and it stands between two word characters. Text is normalised (NFC), soft
 * hyphens and other ignorable characters are dropped and upper and lower case become one (Unicode case
 * folding, case=keep: not). Then, in this order: words shorter than min_length characters go, stop words go,
 * the rest is stemmed. Features are sorted bytewise; bytes that are no UTF-8 separate words and are counted.
 */
#ifndef PLX_IO_TEXT_COUNTS_H
#define PLX_IO_TEXT_COUNTS_H

#include "data/table.h"

typedef struct plx__df_bound { /* a number of documents, or a share of them */
    double value;
    bool is_share;
} plx__df_bound;

typedef struct plx__text_options {
    plx__df_bound min_df, max_df; /* default 1, and 100 % */
    plx_index min_length;         /* characters; default 2 */
    plx_index max_features;       /* most frequent ones; 0 (default): all */
    bool numbers;                 /* tokens=alnum; default alpha */
    bool keep_case, keep_apostrophe;
    const char *stop; /* none (default), english, french, german, spanish, or file:PATH */
    const char *stem; /* none (default) or a Snowball language */
} plx__text_options;

/* "min_df=5,max_df=0.5,stem=english,stop=english,min_length=2,max_features=1000,tokens=alpha,case=fold,
 * apostrophe=split"; NULL or "": defaults. A bound with '.' or '%' is a share. Texts are copied to `arena`. */
plx_status plx__text_options_parse(plx__text_options *out, plx_context *ctx, plx__arena *arena, const char *text);

/* Counts of n documents: CSR and feature names in out, both in `arena`. A document may be NULL when its
 * length is 0. @retval PLX_E_DATA no word is left */
plx_status plx__text_counts(plx__table *out, plx_context *ctx, plx__arena *arena, const char *const *docs,
                            const size_t *lens, plx_index n, const plx__text_options *options);

/* One document per line of a file; every `.txt` file of a directory (row names: the file names, byte-sorted). `options` may
 * be NULL: the defaults. */
plx_status plx__text_read_lines(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                                const plx__text_options *options);
plx_status plx__text_read_directory(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                                    const plx__text_options *options);

#endif
