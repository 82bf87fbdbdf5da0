/*
 * Acquisition played through on data whose hidden labels and views are known: one curve.
 *
 * A state is a function of what was revealed up to the last fit that started afresh (every `restart`-th fit does; those
 * between may start from the one before). An interrupted curve therefore takes up its list of revealed items, fits again
 * from the last fresh start and goes on with the same bytes.
 */
#ifndef PLX_ACTIVE_SIMULATION_H
#define PLX_ACTIVE_SIMULATION_H

#include "active/curves.h"
#include "active/ranking.h"

/* Who decides what is revealed next. */
typedef enum plx__decider {
    PLX__DECIDE_RANKING = 0, /* the method's ranking */
    PLX__DECIDE_UNCERTAIN,   /* the sample whose class is least sure, by the lead of the best class */
    PLX__DECIDE_RANDOM,      /* a seeded order */
    PLX__DECIDE_ALL          /* everything at once: what could be reached */
} plx__decider;

/* What one fit tells. */
typedef struct plx__round {
    const plx__ranked *ranked; /* PLX__DECIDE_RANKING: best first */
    plx_index count;
    const double *uncertain; /* PLX__DECIDE_UNCERTAIN: n */
    double accuracy, auc, rmse;
    uint64_t told; /* hash of the labels given to scored samples */
} plx__round;

/* What the learner sees at a fit. */
typedef struct plx__seen {
    const plx_dataset *data; /* with the labels and views revealed so far */
    plx__offer offer;
    bool fresh; /* not from the fit before */
} plx__seen;

/* Fits; what it tells stays valid until the next call. */
typedef plx_status (*plx__round_fn)(plx__round *out, void *arg, plx_context *ctx, const plx__seen *seen);

typedef struct plx__simulation {
    plx_context *ctx;
    plx_curves *curves;
    plx_index run, strategy;
    plx__decider decider;
    const plx_dataset *data; /* views complete as far as known, labels as the learner starts with, truth */
    const uint8_t *hidden;   /* views x n: to be acquired; NULL: none */
    const uint8_t *away;     /* views x n: not seen at the start */
    const uint8_t *askable;  /* n: labels to be acquired; NULL: none */
    plx_index steps, every;  /* most items; fits after every so many */
    plx_index restart;       /* every so many fits starts afresh */
    double least;            /* stop when the best gain per cost is below; 0: never */
    plx_index stable;        /* stop when this many fits in a row told the same; 0: never */
    double budget;           /* infinity: none */
    const double *view_cost; /* per view, without the samples' factors */
    double label_cost;
    plx__round_fn round;
    void *arg;
    plx_status (*stepped)(void *arg); /* after every state; may be NULL */
    /* ---- what follows is the simulation's own ---- */
    uint8_t *present, *open; /* views x n; (views + 1) x n */
    const char **labels;     /* n */
    plx__ranked *order;      /* the items to be had, best first */
    plx_index n_order, next, left;
    plx__curve_point state;
    plx_index same; /* fits in a row that told the same */
    uint64_t before;
} plx__simulation;

/* Plays the curve to its end, from where it was interrupted. */
plx_status plx__simulate_curve(plx__simulation *s);

#endif
