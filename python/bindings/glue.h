/*
 * What the bindings add to the public functions: loops over texts that would be slow in Python, and Ctrl-C.
 */
#ifndef PARALLAX_PYTHON_GLUE_H
#define PARALLAX_PYTHON_GLUE_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "parallax/parallax.h"

/* ---- labels ---- */

typedef struct glue_name {
    const char *text;
    int64_t code;
} glue_name;

static int glue_compare(const void *a, const void *b)
{
    return strcmp(((const glue_name *)a)->text, ((const glue_name *)b)->text);
}

/* Place of a text in the table; without a table its number (clusters). -1: left open or noise; -2: another text. */
static int64_t glue_code(const char *text, const glue_name *table, plx_index count)
{
    glue_name key = {text, 0};
    char *end = NULL;
    if (count) {
        const glue_name *found = bsearch(&key, table, (size_t)count, sizeof *table, glue_compare);
        return found ? found->code : strcmp(text, "?") == 0 ? -1 : -2;
    }
    if (*text == 'c') text++; /* clusters are called c0, c1, ... */
    long long number = strtoll(text, &end, 10);
    return end != text && !*end ? number : -1;
}

/* Label of every sample as its place in `names`, or as a number when count is 0. Returns 0 without memory. */
static int glue_label_codes(int64_t *codes, const plx_prediction *prediction, const char *const *names, plx_index count)
{
    plx_index n = plx_prediction_samples(prediction);
    glue_name *table = malloc(sizeof *table * (size_t)(count + 1));
    const char *last = NULL;
    if (!table) return 0;
    for (plx_index i = 0; i < count; i++) table[i] = (glue_name){names[i], i};
    qsort(table, (size_t)count, sizeof *table, glue_compare);
    for (plx_index i = 0; i < n; i++) {
        const char *text = plx_prediction_label(prediction, i);
        codes[i] = text == last ? codes[i - 1] : glue_code(text, table, count);
        last = text;
    }
    free(table);
    return 1;
}

/* ---- Ctrl-C ---- */

static plx_context *volatile glue_watched;
static volatile sig_atomic_t glue_interrupted;
static struct sigaction glue_before;

/* Asks the running call to stop, and lets Python know as if we had not been there. */
static void glue_on_interrupt(int number, siginfo_t *info, void *where)
{
    glue_interrupted = 1;
    if (glue_watched) plx_context_cancel(glue_watched);
    if (glue_before.sa_flags & SA_SIGINFO) glue_before.sa_sigaction(number, info, where);
    else glue_before.sa_handler(number);
}

/* From here to glue_unwatch() an interrupt cancels the calls with this context. For the main thread, which is the one
 * that Python interrupts. 0: nobody waits for interrupts (they are ignored, or end the program), or one call is being
 * watched already. */
static int glue_watch(plx_context *ctx)
{
    struct sigaction ours;
    if (glue_watched || sigaction(SIGINT, NULL, &glue_before) != 0) return 0;
    if (!(glue_before.sa_flags & SA_SIGINFO) &&
        (glue_before.sa_handler == SIG_IGN || glue_before.sa_handler == SIG_DFL))
        return 0;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = glue_on_interrupt;
    ours.sa_flags = SA_SIGINFO | (glue_before.sa_flags & (SA_RESTART | SA_ONSTACK));
    sigemptyset(&ours.sa_mask);
    glue_interrupted = 0;
    glue_watched = ctx;
    if (sigaction(SIGINT, &ours, NULL) == 0) return 1;
    glue_watched = NULL;
    return 0;
}

/* 1 when an interrupt came. */
static int glue_unwatch(void)
{
    sigaction(SIGINT, &glue_before, NULL);
    glue_watched = NULL;
    return glue_interrupted != 0;
}

#endif
