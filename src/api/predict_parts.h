/*
 * New samples part by part: what a method says of one sample does not depend on the others (plx__method.predicts_apart),
 * so the slabs of the samples (core/slabs.h) are problems of their own. Working memory is that of a slab, and several
 * processes can have some of the slabs each, with the same bytes: a slab is the same problem whoever has it. There are
 * few of them, so what a method prepares once for all samples does not count when it is prepared for each.
 */
#ifndef PLX_API_PREDICT_PARTS_H
#define PLX_API_PREDICT_PARTS_H

#include "api/merge_rows.h"

typedef struct plx__parts {
    plx_context *ctx;
    const plx__method *method;
    const plx__problem *whole; /* all samples; of divided views those of this rank are there (plx__parts_open) */
    bool divided;              /* every rank keeps the results of its own samples; else all get all */
    const plx_index *bare;     /* samples without any view, which the method does not see */
    plx_index n_bare;
    plx__prior prior; /* what these get */
    /* The method on a part of the samples, by this rank alone. */
    plx_status (*predict)(void *arg, plx__problem *part, plx__store *store, plx__outcome *outcome);
    void *arg;
    plx__slabs cut;         /* the parts */
    const plx_index *bound; /* whose samples: rank r has bound[r] .. bound[r+1]-1 */
    plx_index begin, end;   /* those of this rank */
    plx_index first, rows;  /* those whose results come here */
} plx__parts;

/* Settles who has which samples, and moves rows of divided views of `whole` there. The bounds are in `keep`. */
plx_status plx__parts_open(plx__parts *q, plx__problem *whole, plx__arena *keep);

/* All samples, by all ranks together, at least one of them not bare. */
plx_status plx__parts_predict(plx_prediction *out, plx__parts *q);

#endif
