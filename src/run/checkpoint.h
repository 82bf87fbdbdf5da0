/*
 * Checkpoints of a fit that iterates: its state in a file, written every so often, from which the same fit goes on to
 * the same bytes.
 *
 * A method has one function that names every item of its state in turn. It serves both ways: saving writes the items,
 * loading fills them, in the same order and checked by name and size. The state is what an iteration ends with; what
 * follows from it (tables, scores) is computed again, so a state is small: parameters, not arrays over samples, unless
 * these are the state. The file has the fingerprint of the fit (method, settings, seed, data), so that nothing else
 * goes on from it, and appears under its name when it is complete.
 */
#ifndef PLX_RUN_CHECKPOINT_H
#define PLX_RUN_CHECKPOINT_H

#include "run/restarts.h"
#include "run/run.h"

typedef struct plx__state plx__state;

typedef plx_status (*plx__state_fn)(plx__state *state, void *arg);

/* An item: written, or read into `data`. Its size may depend on items before it. */
plx_status plx__state_item(plx__state *state, const char *name, void *data, size_t bytes);
plx_status plx__state_mat(plx__state *state, const char *name, plx_mat x); /* of ld = cols; data NULL: nothing */
bool plx__state_loading(const plx__state *state);

/* A list that grows: *data is made anew in the arena when loading. */
plx_status plx__state_list(plx__state *state, const char *name, void **data, plx_index count, size_t size,
                           plx__arena *arena);
plx_status plx__state_trace(plx__state *state, plx__trace *trace, plx__arena *arena);

/* Which of several runs it is, the best so far, and what is kept of it. */
plx_status plx__state_restarts(plx__state *state, plx__restarts *restarts);

/* At the end of an iteration: writes the state when it is time to; without a checkpoint nothing. */
plx_status plx__checkpoint_keep(plx__run *run, plx__state_fn fn, void *arg);

/* Before the first iteration: *found when the fit is to go on and there is a state, which is loaded. */
plx_status plx__checkpoint_resume(bool *found, plx__run *run, plx__state_fn fn, void *arg);

/* What a fit was asked for; in a run, NULL: no checkpoint. */
struct plx__checkpoint {
    const char *path;
    double every; /* seconds */
    bool resume;
    double last;    /* when the last one was written, or the fit began */
    uint64_t about; /* fingerprint of the fit, from plx__checkpoint_resume() on */
};

#endif
