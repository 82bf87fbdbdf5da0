/*
 * Labels as sets of classes. Different texts are few even when samples are many, so every text
 * is split (and closed upwards) once; samples then refer to it by number.
 */
#ifndef PLX_EVAL_LABEL_SETS_H
#define PLX_EVAL_LABEL_SETS_H

#include "eval/label_codes.h"
#include "parallax/metrics.h"

typedef struct plx__label_sets {
    plx_index count; /* sets */
    int64_t *ptr;    /* count + 1 offsets into ids */
    int32_t *ids;    /* classes of a set, ascending, no duplicates */
} plx__label_sets;

/* Sets of the texts known to `texts`; class names are added to `classes`. */
plx_status plx__sets_split(plx__label_sets *out, const plx__codes *texts, plx__codes *classes);

/* Replace class c by renumber[c] everywhere. */
void plx__sets_renumber(plx__label_sets *sets, const int32_t *renumber);

/* The same sets closed upwards; ancestors that did not occur yet are added to `classes`. */
plx_status plx__sets_close(plx__label_sets *out, const plx__label_sets *sets, plx__codes *classes,
                           const plx_metrics_hierarchy *hierarchy);

/* One set; index -1 is the empty one. */
typedef struct plx__set_view {
    const int32_t *ids;
    plx_index count;
} plx__set_view;

static inline plx__set_view plx__set_at(const plx__label_sets *sets, int32_t index)
{
    plx__set_view empty = {NULL, 0};
    if (index < 0) return empty;
    plx__set_view set = {sets->ids + sets->ptr[index], sets->ptr[index + 1] - sets->ptr[index]};
    return set;
}

#endif
