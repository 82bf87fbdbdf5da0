/*
 * clusters=auto: what a clusterer lists so that the framework can choose the number of clusters (api/choose_clusters.c).
 * A method sees the number that was chosen, never the word.
 */
#ifndef PLX_RUN_CLUSTERS_H
#define PLX_RUN_CLUSTERS_H

#include "run/run.h"

/* Rows of a parameter table: `clusters`, into the plx_index field `clusters` of T (-1: not set), the largest number that
 * auto tries, and what it goes by. */
#define PLX__CLUSTERS_ROWS(T, def, lo, help)                                                                           \
    {"clusters", PLX_PARAM_INT_OR_WORD, PLX__INT_FIELD, offsetof(T, clusters), def, lo, 1e9, "auto", help},            \
        {"max_clusters",                                                                                               \
         PLX_PARAM_INT,                                                                                                \
         PLX__NO_FIELD,                                                                                                \
         0,                                                                                                            \
         "20",                                                                                                         \
         2,                                                                                                            \
         1e6,                                                                                                          \
         NULL,                                                                                                         \
         "clusters=auto: the largest number that is tried."},                                                          \
    {                                                                                                                  \
        "clusters_by", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "auto", 0, 0, "auto|silhouette|eigengap|bic|stability",     \
            "clusters=auto: what a number is judged by; auto: by what fits the method, stability: by how alike the "   \
            "clusters of samples drawn again are."                                                                     \
    }

/* A row of its array table. */
#define PLX__CLUSTER_CURVE                                                                                             \
    {                                                                                                                  \
        "cluster_curve", "C x 2", PLX__SOMETIMES,                                                                      \
            "clusters=auto: numbers of clusters that were tried, and the criterion: the largest one counts "           \
            "(stability: the largest number that is within a standard error of it)."                                   \
    }

#endif
