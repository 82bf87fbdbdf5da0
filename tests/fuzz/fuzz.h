/*
 * What the fuzz targets share. A target is one function; libFuzzer calls it (PLX_BUILD_FUZZ), or replay_main.c does
 * with the files of the seed corpus, in every test build.
 */
#ifndef PLX_FUZZ_H
#define PLX_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ctx.h"
#include "data/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise ends the run, as a sanitizer's finding does. */
#define FUZZ_CHECK(cond)                                                                                               \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #cond);                                 \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline plx_context *fuzz_context(void)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = 1;
    o.memory_limit = 64 << 20;
    o.arena_block = 1;
    plx_context *ctx = NULL;
    if (plx_context_create(&ctx, &o) != PLX_OK) abort();
    return ctx;
}

/* A failure has a one-line message and leaves nothing in the table. */
static inline void check_failure(const plx_context *ctx, const plx__table *t)
{
    const char *message = plx_context_error(ctx);
    FUZZ_CHECK(message[0] != '\0');
    FUZZ_CHECK(strchr(message, '\n') == NULL);
    FUZZ_CHECK(t->dense.data == NULL && t->csr.ptr == NULL);
}

/* What every reader promises of a table. */
static inline void check_table(const plx__table *t)
{
    plx_index rows = t->sparse ? t->csr.rows : t->dense.rows;
    double sum = 0;
    for (plx_index i = 0; t->sparse && i < rows; i++) {
        FUZZ_CHECK(t->csr.ptr[i] <= t->csr.ptr[i + 1]);
        for (plx_index k = t->csr.ptr[i]; k < t->csr.ptr[i + 1]; k++) {
            FUZZ_CHECK(t->csr.col[k] >= 0 && t->csr.col[k] < t->csr.cols);
            FUZZ_CHECK(k == t->csr.ptr[i] || t->csr.col[k] > t->csr.col[k - 1]);
            sum += t->csr.val[k];
        }
    }
    for (plx_index i = 0; !t->sparse && i < rows * t->dense.cols; i++) sum += t->dense.data[i];
    volatile double used = sum;
    (void)used;
    size_t letters = 0;
    for (plx_index i = 0; i < rows; i++) {
        if (t->row_names) letters += strlen(t->row_names[i]);
        if (t->labels && t->labels[i]) letters += strlen(t->labels[i]);
        for (plx_index k = 0; k < t->n_texts; k++)
            if (t->texts[k][i]) letters += strlen(t->texts[k][i]);
    }
    for (plx_index j = 0; t->col_names && j < (t->sparse ? t->csr.cols : t->dense.cols); j++)
        letters += strlen(t->col_names[j]);
    volatile size_t seen = letters;
    (void)seen;
}

#endif
