/*
 * Nearest words: the optimal-string-alignment distance (insertions, deletions, changes, swapped neighbours),
 * accepted when at most a third of the word is wrong. A word that begins a candidate is near as well.
 */
#include "suggest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 63 };

static int smaller(int a, int b) { return a < b ? a : b; }

static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][LONGEST + 1];
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int j = 0; j <= m; j++) rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = smaller(smaller(row[j - 1], above[j]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], higher[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

static bool begins(const char *word, const char *candidate)
{
    size_t len = strlen(word);
    return len >= 2 && strncmp(candidate, word, len) == 0;
}

void cli_suggest(cli_suggestion *s, const char *candidate)
{
    int d = begins(s->word, candidate) ? 1 : distance(s->word, candidate);
    if (s->best && d >= s->distance) return;
    s->best = candidate;
    s->distance = d;
}

const char *cli_suggested(const cli_suggestion *s)
{
    if (!s->best) return NULL;
    int len = (int)strlen(s->word);
    return s->distance <= (begins(s->word, s->best) ? 1 : len / 3) ? s->best : NULL;
}
