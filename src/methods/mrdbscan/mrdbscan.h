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

/* ---- neighbourhoods under settled radii (mrd_near.c) ---- */

/* Some rows of the relation "near in enough common views", as bits: an object is not its own neighbour here. */
typedef struct mrd_near {
    const mrd *m;
    plx_index first, rows; /* present now: objects first .. first + rows - 1 */
    plx_index block;       /* rows at a time */
    plx_index words;       /* 64-bit words of a row */
    uint64_t *bits;        /* block x words */
    bool dense;            /* all views are */
    double *limit;         /* per view: largest separation within the radius */
    double **norm;         /* per view: squared norms */
    void *works;           /* dense: room of the workers */
    plx_mat tile;          /* sparse */
} mrd_near;

/* Clustering only: rows and columns are the same objects. */
plx_status plx__mrd_near_open(mrd_near *s, const mrd *m);
/* Rows first .. first + block - 1, as far as there are. */
plx_status plx__mrd_near_rows(mrd_near *s, plx_index first);
double plx__mrd_near_bytes(double n, int workers);

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
