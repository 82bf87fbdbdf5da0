/*
 * The journal of comparisons: an SQLite file with a row per finished run, found again by a hash of all that the run is a
 * function of. Rows are committed one by one, so that a kill loses what was running and nothing else. One program at a
 * time holds a journal; it is called from one thread.
 */
#ifndef PLX_COMPARE_JOURNAL_H
#define PLX_COMPARE_JOURNAL_H

#include "compare/comparison.h"

typedef struct plx__journal plx__journal;

/* What a run is found by, what it is about, and under which limits it ran (0: none). */
typedef struct plx__journal_key {
    uint64_t hash;
    const char *dataset, *labels, *entry;
    plx_index repeat, fold; /* fold -1: none */
    uint64_t seed;
    double seconds_limit, memory_limit;
} plx__journal_key;

#define PLX__JOURNAL_IN_MEMORY ""

/* `path` NULL: nothing is kept; PLX__JOURNAL_IN_MEMORY: until it is closed. A file that holds runs already is refused unless `resume`. */
plx_status plx__journal_open(plx__journal **out, plx_context *ctx, const char *path, bool resume);
void plx__journal_close(plx__journal *journal);

/* The run, where it is there; texts go into `arena`. One that was given up for want of time or memory counts only under
 * limits that are no wider than its own. */
plx_status plx__journal_find(bool *found, plx__measured *out, plx__journal *journal, plx__arena *arena,
                             const plx__journal_key *key);
plx_status plx__journal_add(plx__journal *journal, const plx__journal_key *key, const plx__measured *run);

#endif
