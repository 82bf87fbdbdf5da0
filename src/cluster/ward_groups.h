/*
 * Groups of rows while a Ward tree grows: sizes and means in every part, and what merging two of them costs.
 *
 * A group is known by its smallest member. Means of sparse parts stay sparse: the entries of all groups together never
 * are more than those of the rows, and what merged groups leave behind is swept when the room is used up.
 */
#ifndef PLX_CLUSTER_WARD_GROUPS_H
#define PLX_CLUSTER_WARD_GROUPS_H

#include <string.h>

#include "cluster/ward.h"

typedef struct plx__ward_means {
    plx__bregman kind;
    double weight;
    bool sparse;
    plx_index cols, ld;
    double *mean; /* dense: n x ld */
    int32_t *col; /* sparse: entries of group g are start[g] .. start[g] + len[g] - 1 */
    double *val;
    int64_t *start, *len, used, room;
    int32_t *next, *before, head, tail; /* groups by start */
    double *row;                        /* the group being compared, over all columns */
    double total;                       /* of its values; under Euclid, of their squares */
} plx__ward_means;

typedef struct plx__ward_groups {
    plx_context *ctx;
    plx_index n, parts;
    double *size;
    plx__ward_means *part;
} plx__ward_groups;

/* One group per row; samples NULL: rows 0 .. n-1. In scratch. */
plx_status plx__ward_open(plx__ward_groups *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                          const plx_index *sample, plx_index n);

/* Cost of merging group i with one other group, or with each of `count` others (on all threads). */
double plx__ward_pair(const plx__ward_groups *g, plx_index i, plx_index j);
plx_status plx__ward_row(double *cost, const plx__ward_groups *g, plx_index i, const int32_t *other, plx_index count);

/* Group j becomes part of group i. */
void plx__ward_merge(plx__ward_groups *g, plx_index i, plx_index j);

/* What costs are compared by: equal in their first 40 bits (1e-12) is a tie. */
static inline int64_t plx__ward_key(double cost)
{
    int64_t bits;
    memcpy(&bits, &cost, sizeof bits);
    return (bits + 0x800) >> 12;
}

/* The two ways to a tree: merges as pairs of groups (first[r] < second[r]) with their costs. */
plx_status plx__ward_greedy(plx__merges *out, plx__ward_groups *g);
plx_status plx__ward_chain(plx__merges *out, plx__ward_groups *g, plx__points rows);

#endif
