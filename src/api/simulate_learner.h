/*
 * What a simulation lets learn: one curve of plx_acquire_simulate() on the data of its run.
 */
#ifndef PLX_API_SIMULATE_LEARNER_H
#define PLX_API_SIMULATE_LEARNER_H

#include <stdatomic.h>

#include "active/simulation.h"
#include "api/acquire_impl.h"
#include "core/crew.h"

/* A strategy and what it takes. */
typedef struct plx__study_strategy {
    plx__decider decider;
    const plx__method *method; /* that ranks, or only fits */
    plx_params *params;        /* with its settings; owned */
} plx__study_strategy;

enum { PLX__STUDY_NOTES = 8, PLX__STUDY_NOTE_BYTES = 400 };

/* All curves of a simulation. */
typedef struct plx__study {
    plx_context *ctx;
    const plx_dataset *data;
    plx_acquire_kind kind;
    bool regression;
    plx_simulate_options o;
    plx__study_strategy *strategy; /* o.n_strategies */
    const uint8_t *hidden;         /* views x n, from o.hidden; NULL: by rates or none */
    double *view_cost, label_cost, budget;
    plx_curves *curves;
    plx__crew crew;
    plx_index expected;                                 /* states, for progress */
    atomic_llong stepped;                               /* states so far, all threads */
    char note[PLX__STUDY_NOTES][PLX__STUDY_NOTE_BYTES]; /* warnings of the first fit of all */
    plx_index notes;
} plx__study;

/* Plays one curve with a member of the crew. */
plx_status plx__study_curve(plx__study *study, plx_context *member, plx_index run, plx_index strategy);

#endif
