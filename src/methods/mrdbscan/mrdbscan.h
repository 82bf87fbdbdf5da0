/*
 * Inside of mrdbscan: density-based clustering of objects with several representations.
 *
 * Two objects that have b views in common are joined when they are near in at least min(r, b) of them. With
 * rho_v = 0 within the radius of view v and infinity beyond, that is J(o,q) = 0 for J = the min(r, b)-th smallest rho_v;
 * while radii are being chosen (eps = auto) rho_v = d_v / e_v, and a common factor t of the units e_v is sought.
 */
#ifndef PLX_METHODS_MRDBSCAN_MRDBSCAN_H
#define PLX_METHODS_MRDBSCAN_MRDBSCAN_H

#include "kernel/prepared.h"
#include "run/problem.h"

/* One view of two sets of objects. */
typedef struct mrd_view {
    const char *name;
    plx__points a, b; /* rows and columns of the tiles: the same points when clustering */
    const uint8_t *has_a, *has_b;
    plx__metric metric;
    double factor; /* distances are divided by it (normalise) */
    bool free;     /* its radius is still to be chosen: unit counts, not radius */
    double unit, radius;
} mrd_view;

typedef struct mrd {
    plx__run *run;
    plx_context *ctx;
    plx_index n_a, n_b, n_views, minpts;
    plx_index needed; /* r; 0: more than half of the common views */
    mrd_view *view;
} mrd;

/* ---- pairs (mrd_pairs.c) ---- */

enum { MRD_TILE_ROWS = 256, MRD_TILE_COLS = 2048 };
#define MRD_RADIUS_SLACK 1e-12 /* d <= eps holds up to this */

/* J of rows i0..i1-1 with columns j0..j1-1 of a tile; infinite where no view is common. Room for the views' distances is
 * in scratch: mark and rewind around it. */
plx_status plx__mrd_tile(const mrd *m, plx_index i0, plx_index i1, plx_index j0, plx_index j1, plx_mat out);

/* Mean normalised distance over the common views of the same tile; infinite where there is none. */
plx_status plx__mrd_mean_tile(const mrd *m, plx_index i0, plx_index i1, plx_index j0, plx_index j1, plx_mat out);

double plx__mrd_tile_bytes(double n_views);

/* ---- objects in order, with boxes (mrd_order.c): dense views, clustering only ---- */

enum { MRD_CHUNK = 64, MRD_TILE = 256 };

typedef struct mrd_boxes { /* of runs of objects */
    float *box;            /* runs x 2 x d: smallest and largest entries of the present */
    int32_t *present;
} mrd_boxes;

typedef struct mrd_flat { /* a view in single precision, rows in order */
    plx_index d;
    double *centre;   /* taken off */
    double *shrink;   /* cosine: one over the norm of every row (of a zero row: 0), by object; else NULL */
    double unit;      /* entries were multiplied by it */
    double radius_sq; /* squared radius; cosine: of unit rows */
    double reach;     /* the same in units of x, bounded */
    float *x;         /* n x d; absent rows are zero */
    float *low,
        *high; /* pairs whose product is below low + low are far, from high + high on near; absent: never near */
    mrd_boxes chunk, tile;
} mrd_flat;

typedef struct mrd_order {
    plx_index n, chunks;
    int32_t *row; /* the object at every place */
    mrd_flat *view;
} mrd_order;

/* limit: per view, the largest separation (plx__separation_matrix) within the radius. In scratch. */
plx_status plx__mrd_order(mrd_order *o, const mrd *m, const double *limit);

/* No present object of the chunk is within the radius of one of the tile. */
bool plx__mrd_apart(const mrd_flat *f, plx_index chunk, plx_index tile);

/* Of a view, and besides once with no columns. */
double plx__mrd_order_bytes(double n, double cols);

/* ---- pairs of neighbours under settled radii (mrd_near.c) ---- */

typedef struct mrd_near {
    const mrd *m;
    bool dense;      /* all views are */
    double *limit;   /* per view: largest separation within the radius */
    mrd_order order; /* dense */
    void *works;     /* dense: room of the workers */
    plx_mat tile;    /* sparse */
    int32_t *others; /* sparse */
} mrd_near;

/* Neighbours of object i; every pair is told once, by any worker, in any order. */
typedef void (*mrd_visit)(void *arg, int worker, int32_t i, const int32_t *others, plx_index count);

/* Clustering only: rows and columns are the same objects. */
plx_status plx__mrd_near_open(mrd_near *s, const mrd *m);
plx_status plx__mrd_near_pairs(const mrd_near *s, mrd_visit visit, void *arg, const char *phase);
double plx__mrd_near_bytes(int workers);

/* ---- clusters under settled radii (mrd_clusters.c) ---- */

typedef struct mrd_clusters { /* in scratch */
    double *neighbours;       /* of every object, itself included */
    uint8_t *core;
    int32_t *cluster; /* -1: noise */
    plx_index count;
} mrd_clusters;

plx_status plx__mrd_cluster(mrd_clusters *out, const mrd *m);
double plx__mrd_cluster_bytes(double n, double minpts, int workers);

/* ---- radii (mrd_radius.c, mrd_hierarchy.c) ---- */

/* Settles the radius of every free view; *factor = t, 0 when no view is free. */
plx_status plx__mrd_choose_radii(mrd *m, double *factor);

/* The factor t for core distances c and a spanning forest of n objects under max(c(o), c(q), J(o,q)): edge e joins
 * from[e] and to[e] at weight[e]. */
typedef struct mrd_tree {
    plx_index n, edges, minpts;
    const double *core;
    int32_t *from, *to;
    double *weight;
} mrd_tree;
plx_status plx__mrd_cut(double *factor, plx_context *ctx, const mrd_tree *tree);

#endif
