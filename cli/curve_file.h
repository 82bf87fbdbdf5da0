/*
 * The states of a simulation so far. They are kept in FILE.part while it runs, so that it goes on where it was
 * interrupted; the curves appear as FILE when all are finished.
 */
#ifndef PARALLAX_CLI_CURVE_FILE_H
#define PARALLAX_CLI_CURVE_FILE_H

#include "output.h"

typedef struct cli_curve_point {
    long long run, criterion;
    plx_simulated state;
} cli_curve_point;

typedef struct cli_curves {
    cli_curve_point *points;
    long long count, room;
    char *path, *part; /* NULL: standard output, nothing is kept */
    uint64_t key;      /* of everything the curves are a function of */
    double saved;      /* when the part was written last */
    plx_context *ctx;  /* to save with while another call runs */
} cli_curves;

/* Takes up the part that was left, if it belongs to the same simulation; another one is an error. */
int cli_curves_open(cli_curves *c, cli_session *s, const char *path, uint64_t key);
/* Adds a point; the part is written at most every two seconds. */
int cli_curves_add(cli_curves *c, cli_session *s, const cli_curve_point *point);
/* Writes the part now: before leaving early. */
int cli_curves_save(cli_curves *c, cli_session *s);
/* Writes the curves and removes the part. */
int cli_curves_finish(cli_curves *c, cli_session *s, const plx_dataset *data, const char *const *criteria,
                      bool regression);
void cli_curves_free(cli_curves *c);

/* FNV-1a over bytes, to be chained from CLI_HASH_START. */
#define CLI_HASH_START UINT64_C(14695981039346656037)
uint64_t cli_hash(uint64_t hash, const void *bytes, size_t count);
uint64_t cli_hash_text(uint64_t hash, const char *text); /* NULL differs from "" */
uint64_t cli_hash_data(uint64_t hash, const plx_dataset *data);

#endif
