/*
 * The nearest known word to a misspelt one.
 */
#ifndef PARALLAX_CLI_SUGGEST_H
#define PARALLAX_CLI_SUGGEST_H

/* Keeps the best candidate seen so far. Start with {word, NULL, 0}. */
typedef struct cli_suggestion {
    const char *word;
    const char *best;
    int distance;
} cli_suggestion;

void cli_suggest(cli_suggestion *s, const char *candidate);
/* The best candidate if it is near enough to be meant, else NULL. */
const char *cli_suggested(const cli_suggestion *s);

#endif
