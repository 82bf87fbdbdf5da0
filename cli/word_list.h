/*
 * Lists in options: all uses together, each cut at its commas.
 */
#ifndef PARALLAX_CLI_WORD_LIST_H
#define PARALLAX_CLI_WORD_LIST_H

#include "session.h"

typedef struct cli_words {
    const char **word;
    plx_index count;
    char **own;
    int n_own;
} cli_words;

/* Adds the values of an option. One that holds the character `whole` is a single word, commas and all; 0: none is.
 * Empty words are an error. Close the list whether or not this succeeds. */
int cli_words_add(cli_words *words, cli_session *s, const char *option, bool cut, char whole);
void cli_words_close(cli_words *words);

#endif
