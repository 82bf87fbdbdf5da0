/*
 * Who can rank what to acquire next: methods with rankings of their own, and every classifier for labels.
 */
#ifndef PLX_METHODS_ACQUIRERS_H
#define PLX_METHODS_ACQUIRERS_H

#include "run/run.h"
#include "parallax/acquire.h"

plx_index plx__acquirer_count(void);
/* Name of the i-th in the order of methods, NULL past the end. */
const char *plx__acquirer_name(plx_index i);

/* The descriptor by which `name` ranks; NULL: it ranks nothing of this kind. */
const plx__method *plx__acquirer_find(const char *name, plx_acquire_kind kind);

/* Same; an error says why it cannot, and who can. `kind` -1: any descriptor of the method (they share parameters). */
plx_status plx__acquirer_require(const plx__method **out, plx_context *ctx, const char *name, int kind);

/* The descriptor that ranks with these parameters (NULL: defaults): a criterion of labels that is asked for is the one that
 * counts, also where the method has a ranking of its own. Refuses those that would have no effect. */
plx_status plx__acquirer_as_set(const plx__method **out, plx_context *ctx, const char *name, plx_acquire_kind kind,
                                const plx_params *params);

/* The general ranking of labels by scores, also of a method with one of its own; NULL: no classifier. And the method
 * itself without any ranking. Both with the parameters of its rankings. */
const plx__method *plx__acquirer_by_scores(const char *name);
const plx__method *plx__acquirer_plain(const char *name);

#endif
