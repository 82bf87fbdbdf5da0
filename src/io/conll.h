/*
 * CoNLL columns: one token per line, columns separated by a tab (by runs of blanks when the file has no
 * tab), sentences separated by blank lines, documents by lines that start with -DOCSTART-.
 */
#ifndef PLX_IO_CONLL_H
#define PLX_IO_CONLL_H

#include "core/ctx.h"

typedef struct plx__conll {
    const char *where; /* the file, for messages */
    plx_index n_columns, n_tokens, n_sentences, n_documents;
    const char *const *const *columns; /* columns[c][token] */
    const plx_index *lines;            /* line of every token, from 1 */
    const plx_index *sentences;        /* n_sentences + 1 offsets into the tokens */
    const plx_index *documents;        /* n_documents + 1 offsets into the sentences; one document
                                         * when the file has no -DOCSTART- */
    bool has_tab;
    bool opens_document, closes_document; /* a mark stands before the first token, after the last one */
} plx__conll;

/* How a text is cut. NULL, or all zero: as above. */
typedef struct plx__conll_style {
    bool any_blank;        /* runs of blanks and tabs separate in every file; a mark is a first field -DOCSTART- */
    bool utf8;             /* refuse what is no UTF-8 */
    bool may_be_empty;     /* no tokens is no failure */
    plx_index lines_above; /* a part of a longer file: lines before it, and columns of a token there (0: not known) */
    plx_index columns;
} plx__conll_style;

/* All memory is in `arena`. Fails with PLX_E_FORMAT on a line with fewer or more columns than the first. */
plx_status plx__conll_read(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *path,
                           const plx__conll_style *style);

/* The same from memory; `where` names the text in messages. */
plx_status plx__conll_parse(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *where, const char *text,
                            size_t size, const plx__conll_style *style);

#endif
