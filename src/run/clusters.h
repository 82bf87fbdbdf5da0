/*
 * clusters=auto: what a clusterer lists so that the framework can choose the number of clusters (api/choose_clusters.c).
 * A method sees the number that was chosen, never the word.
 */
#ifndef PLX_RUN_CLUSTERS_H
#define PLX_RUN_CLUSTERS_H

#include "run/run.h"

/* Two rows of a parameter table: `clusters`, into the plx_index field `clusters` of T (-1: not set), and the largest
 * number that auto tries. */
#define PLX__CLUSTERS_ROWS(T, def, lo, help)                                                                           \
    {"clusters", PLX_PARAM_INT_OR_WORD, PLX__INT_FIELD, offsetof(T, clusters), def, lo, 1e9, "auto", help},            \
    {                                                                                                                  \
        "max_clusters", PLX_PARAM_INT, PLX__NO_FIELD, 0, "20", 2, 1e6, NULL,                                           \
            "clusters=auto: the largest number that is tried."                                                         \
    }

/* A row of its array table. */
#define PLX__CLUSTER_CURVE                                                                                             \
    {                                                                                                                  \
        "cluster_curve", "C x 2", PLX__SOMETIMES,                                                                      \
            "clusters=auto: numbers of clusters that were tried, and the criterion: the largest one counts."           \
    }

#endif
