/*
 * Learning curves of simulated acquisition: a curve for every run and strategy, what they are worth beside each other,
 * and the file in which an interrupted simulation leaves its states.
 */
#ifndef PLX_ACTIVE_CURVES_H
#define PLX_ACTIVE_CURVES_H

#include <pthread.h>
#include <stdio.h>

#include "data/dataset_impl.h"
#include "parallax/acquire.h"

/* A state; view -1: a label. */
typedef struct plx__curve_point {
    plx_index step, sample, view;
    double cost, gain, accuracy, auc, rmse;
    uint64_t told; /* hash of what the model says about the scored samples; 0: not refitted here */
} plx__curve_point;

typedef struct plx__curve {
    plx__curve_point *point; /* room for `room` */
    plx_index count, room;
    plx_index taken_up; /* points that were in the file of an interrupted simulation */
    bool finished;      /* likewise: nothing is left to be done */
} plx__curve;

struct plx_curves {
    plx__arena arena;
    plx_index runs, n_strategies;
    const char *const *strategy;
    plx__curve *curve; /* runs x n_strategies */
    bool regression;
    const char *part; /* file the states are kept in until the curves are written; NULL: none */
    FILE *file;       /* the same, open for appending while the simulation runs */
    pthread_mutex_t lock;
    uint64_t key; /* what the curves are a function of */
};

static inline plx__curve *plx__curve_of(const plx_curves *c, plx_index run, plx_index strategy)
{
    return &c->curve[run * c->n_strategies + strategy];
}

/* Empty curves with room for so many points each. */
plx_status plx__curves_create(plx_curves **out, plx_context *ctx, plx_index runs, const char *const *strategies,
                              plx_index n_strategies, plx_index room);
void plx__curves_destroy(plx_curves *curves);

/* ---- the file of an interrupted simulation ---- */

/* Takes up what is in the file, cleans it of what a kill left half-written, and opens it. A file of another simulation
 * is an error. */
plx_status plx__curves_open_part(plx_curves *curves, plx_context *ctx, const char *path);
void plx__curves_close_part(plx_curves *curves);

/* Adds a point, and notes it in the file; any thread, one per curve. */
plx_status plx__curves_add(plx_curves *curves, plx_context *ctx, plx_index run, plx_index strategy,
                           const plx__curve_point *point);
/* The curve needs nothing any more. */
plx_status plx__curves_end(plx_curves *curves, plx_context *ctx, plx_index run, plx_index strategy);

/* FNV-1a over bytes, to be chained from PLX__HASH_START; a NULL text differs from "". */
#define PLX__HASH_START UINT64_C(14695981039346656037)
uint64_t plx__hash(uint64_t hash, const void *bytes, size_t count);
uint64_t plx__hash_text(uint64_t hash, const char *text);
uint64_t plx__hash_data(uint64_t hash, const plx_dataset *data);

/* ---- results ---- */

/* criterion,run,step,id,view,cost,accuracy,auc,gain (regression: rmse). */
void plx__curves_print(FILE *to, const plx_curves *curves, const plx_dataset *data);

/* See plx_curves_summary(). */
void plx__curves_summary(plx_curve_summary *out, const plx_curves *curves, plx_index strategy, plx_index other,
                         const char *metric);

#endif
