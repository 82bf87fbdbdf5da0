/*
 * CoNLL columns: one token per line, columns separated by a tab (by runs of blanks when the file has no
 * tab), sentences separated by blank lines, documents by lines that start with -DOCSTART-.
 */
#ifndef PLX_IO_CONLL_H
#define PLX_IO_CONLL_H

#include "core/ctx.h"

typedef struct plx__conll {
    plx_index n_columns, n_tokens, n_sentences, n_documents;
    const char *const *const *columns; /* columns[c][token] */
    const plx_index *sentences;        /* n_sentences + 1 offsets into the tokens */
    const plx_index *documents;        /* n_documents + 1 offsets into the sentences; one document
                                         * when the file has no -DOCSTART- */
} plx__conll;

/* All memory is in `arena`. Fails with PLX_E_FORMAT on a line with fewer or more columns than the first. */
plx_status plx__conll_read(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *path);

/* The same from memory; `where` names the text in messages. */
plx_status plx__conll_parse(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *where, const char *text,
                            size_t size);

#endif
