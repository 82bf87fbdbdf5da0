/*
 * A text read part by part, each of whole sentences: files of any length, and standard input as it comes.
 */
#ifndef PLX_NER_SOURCE_H
#define PLX_NER_SOURCE_H

#include "core/file.h"
#include "io/conll.h"

typedef struct plx__ner_source {
    plx_context *ctx;
    const char *path;
    bool stream; /* standard input, called "-" */
    plx__bytes file;
    const char *at; /* of the file: what comes next */
    char *buffer;   /* of a stream: what has not been handed out */
    size_t held, room;
    size_t looked; /* bytes of the buffer that have been searched for ends of sentences */
    size_t whole;  /* bytes up to the last end of a sentence among them */
    bool ended;
    size_t part_bytes;
    bool documents;              /* set it after opening: parts are of whole documents */
    bool piece;                  /* but this one of a file is a piece of a document much longer than a part */
    bool inside;                 /* and the next one continues it. A copy of the struct is a place to go back to */
    plx__conll_style style;      /* lines and columns so far */
    int32_t document;            /* number of the running one; -1: none yet */
    bool closed;                 /* a mark has come since */
    plx_index sentences, tokens; /* handed out so far */
} plx__ner_source;

/* Free it whether or not it could be opened. */
plx_status plx__ner_source_open(plx__ner_source *source, plx_context *ctx, const char *path);
void plx__ner_source_close(plx__ner_source *source);

/* The next part; *more false, and no tokens, at the end. *document is the number of its first document. Everything is in
 * `arena`. A source without any token is PLX_E_FORMAT. */
plx_status plx__ner_source_next(plx__ner_source *source, plx__arena *arena, plx__conll *part, int32_t *document,
                                bool *more);

#endif
