/*
 * Parts of the exact search of neighbours: short lists of candidates by bounds in single precision (knn_lists.c), and the
 * search of rows among themselves, which uses every product for both (knn_self.c).
 */
#ifndef PLX_LINALG_KNN_IMPL_H
#define PLX_LINALG_KNN_IMPL_H

#include "linalg/knn.h"

enum { PLX__KNN_BLOCK = 256, PLX__KNN_REFERENCES = 512, PLX__KNN_FEW = 64 };

typedef struct plx__candidate {
    float low, high; /* bounds of the score */
    plx_index index;
} plx__candidate;

typedef struct plx__knn_ranked {
    double key, distance;
    plx__candidate from;
} plx__knn_ranked;

typedef struct plx__shortlist {
    plx__candidate *items;
    plx_index count;
    float limit; /* a lower bound above this cannot be among the k best */
    float *best; /* k <= PLX__KNN_FEW: the k smallest upper bounds so far, ascending */
} plx__shortlist;

typedef struct plx__knn_space {
    float *products;        /* dense: PLX__KNN_BLOCK x PLX__KNN_REFERENCES; sparse: one row of references */
    plx__candidate *items;  /* the lists */
    float *best;            /* k <= PLX__KNN_FEW: theirs */
    plx__knn_ranked *ranks; /* one list while it is ranked */
    plx__shortlist list[PLX__KNN_BLOCK];
} plx__knn_space;

typedef struct plx__knn_job {
    plx__points queries, references; /* as given: for direct distances */
    plx__points x, z;                /* moved or normalised; sparse: z is transposed */
    float *xf, *zf;                  /* dense: the same in single precision, scaled */
    double scale;                    /* power of two that brings the largest norm near 1 */
    const plx__knn_options *o;
    const uint8_t *query_present;
    double *x_sq, *z_sq; /* squared norms, scaled */
    float *low_half;     /* lower bound of |z|^2/2 less the error due to z; absent: infinite */
    double c;            /* relative rounding of a product in single precision */
    plx_index n, k, capacity;
    plx__knn_space *space;
    int64_t *index;
    double *distance;
} plx__knn_job;

/* Empties a list that has room for job->capacity items and, where `best` is not NULL, job->k bounds. */
void plx__knn_start_list(const plx__knn_job *job, plx__shortlist *list, plx__candidate *items, float *best);

/* Offers a reference by the lower bound of its score. */
void plx__knn_offer(const plx__knn_job *job, plx_index query, plx__shortlist *list, plx__knn_ranked *ranks, float low,
                    plx_index index);

/* Offers the references first..first+count-1, given their products with the query. */
void plx__knn_scan(const plx__knn_job *job, plx__knn_space *w, plx_index query, plx__shortlist *list, const float *dot,
                   plx_index first, plx_index count);

/* The list's best, by directly computed distances, to the results. */
void plx__knn_write(const plx__knn_job *job, plx__knn_space *w, plx_index query, plx__shortlist *list);

/* All rows among themselves, dense; the caller has made ready what one block of queries needs. False: the lists of all
 * rows together would take too much. */
bool plx__knn_can_pair(plx_index n, plx_index k);
double plx__knn_pair_bytes(plx_index n, plx_index k);
plx_status plx__knn_pairs(plx_context *ctx, plx__knn_job *job);

#endif
