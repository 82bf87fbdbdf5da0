/*
 * mvplsa inside: settings, the prepared views, and the steps of the iteration.
 *
 * Notation of docs/methods/mvplsa.md: per view A = p(f|y), B = p(y|z), O = counts; shared C = p(z|d), kept with a row
 * per document. Everything in the E step goes through rows of one width: the number of classes (U = A B) or of topics
 * (W = B C), whichever is smaller.
 */
#ifndef PLX_METHODS_MVPLSA_H
#define PLX_METHODS_MVPLSA_H

#include "data/feature_split.h"
#include "run/problem.h"
#include "linalg/csr.h"
#include "linalg/dense.h"
#include "mixture/plsa_kernel.h"

enum { MVP_MVPLSA = 0, MVP_DPLSA = 1, MVP_PLSA = 2 };

typedef struct mvp_params {
    int model;
    plx__value topics;
    plx_index clusters, max_iter, fold_iter; /* clusters -1: not set */
    const char *init_z, *init_f, *init_y, *split;
    double init_mix, nb_smoothing, tol, temper, smoothing;
} mvp_params;

typedef enum mvp_order {
    MVP_BY_CLASS, /* U = A B, the products have Z columns */
    MVP_BY_TOPIC, /* W = B C, they have Y */
    MVP_SAME      /* plsa: B is the identity */
} mvp_order;

typedef struct mvp_room { /* of the M step of one view */
    plx_index grain, chunks, partial_width;
    double *partial;          /* chunks x partial_width */
    double *mass, *scale;     /* topics */
    plx_mat b_new, b_columns; /* topics x classes, and classes x topics */
} mvp_room;

typedef struct mvp_view {
    const char *name;
    plx_ccsr counts; /* n x features */
    plx_index features, topics;
    mvp_order order;
    plx_index width;  /* of the rows of table and scatter */
    plx_mat a, b;     /* features x topics, topics x classes; in the model */
    plx_mat b_power;  /* B to the power of temper, as the last tables were made with */
    double *table;    /* features x width: U or A, padded with zeros */
    double *scatter;  /* n_blocks x features x width: G = R C' (R W') of every block of documents */
    double *b_counts; /* MVP_BY_TOPIC: n_blocks x topics x classes: H C' */
    mvp_room room;
} mvp_view;

typedef struct mvp_worker {         /* room of one thread */
    double *mix, *gain;             /* a padded row each: classes */
    double *topic_mix, *topic_gain; /* topics */
    double *power, *product;        /* rows of a feature block x most topics */
} mvp_worker;

enum { MVP_BLOCKS = 8, MVP_FEATURE_BLOCK = 256, MVP_FEATURE_CHUNKS = 64 };

#define MVP_FLUSH 1e-290 /* probabilities below are set to 0, before arithmetic gets slow with them */

typedef struct mvp {
    plx__run *run;
    plx_context *ctx;
    const mvp_params *set;
    plx_index n, z, width; /* documents, classes, plx__plsa_width(z) */
    plx_index n_own, n_views;
    plx__view *own;  /* the data set's views, sparse and with scaled rows */
    mvp_view *views; /* as modelled: own, their parts, or all in one */
    /* n x width: p(z|d), and what the last E step makes of it. A rank has the rows of its blocks; with a checkpoint, which
     * takes all of them, those of others, too. */
    double *c, *next;
    plx_index *start;  /* n_blocks + 1: first document of every block */
    plx_index *bound;  /* documents bound[r] .. bound[r+1]-1 are in the blocks of rank r */
    double *block_sum; /* n_blocks */
    plx_index n_blocks;
    mvp_worker *workers;
    struct mvp_device *on; /* E steps on a device (mvp_device.c); NULL: here */
} mvp;

/* ---- mvp_input.c ---- */
/* Settings, views, room for the model; everything in scratch but A and B, which go to the model. */
plx_status plx__mvp_open(mvp *m, plx__run *run);
plx_status plx__mvp_open_workers(mvp *m);
bool plx__mvp_own_rows(plx__run *run, const plx_dataset *data);
plx_status plx__mvp_whose_rows(plx_index *bound, plx__run *run);
double plx__mvp_topics(const plx__run *run, plx_index view); /* before anything is checked */

/* ---- mvp_files.c ---- */
typedef struct mvp_file {
    const char *key, *text; /* parameter and its value "file:F", for messages */
    plx_mat values;
} mvp_file;

typedef struct mvp_shape {
    plx_index rows, cols;
    bool more_rows, more_cols; /* the file may have more: the first are used */
    const char *meaning;
} mvp_shape;

plx_status plx__mvp_read_file(mvp_file *out, mvp *m, const char *key, const char *text);
plx_status plx__mvp_require_shape(mvp *m, const mvp_file *file, mvp_shape shape);

/* ---- mvp_start.c ---- */
plx_status plx__mvp_start(mvp *m); /* A, B and C */

/* ---- mvp_estep.c ---- */
/* Tables from A and B to the power of `temper`. */
plx_status plx__mvp_tables(mvp *m, double temper);
/* p(z|d) of its own documents, from every rank to all. */
plx_status plx__mvp_share(mvp *m, double *by_document, plx_index width);
/* Of `count` blocks, first .. last-1 are the rank's. */
void plx__mvp_blocks_of(plx_index *first, plx_index *last, const plx_context *ctx, plx_index count, int rank);
/* Log-likelihood at the tables' parameters; with `full` also m->next, scatter and b_counts for the M step. */
plx_status plx__mvp_e_step(mvp *m, double temper, bool full, double *likelihood);

/* ---- mvp_device.c ---- */
typedef struct mvp_device mvp_device;
plx_status plx__mvp_device_open(mvp *m); /* where it pays */
plx_status plx__mvp_device_close(mvp *m, plx_status st);
/* plx__mvp_e_step without tempering; *done false: to be done here. */
plx_status plx__mvp_device_step(bool *done, mvp *m, bool full, double *likelihood);

/* ---- mvp_mstep.c ---- */
plx_status plx__mvp_open_room(mvp *m, mvp_view *v);
/* New A, B and C; without tempering also the tables of the new parameters. */
plx_status plx__mvp_m_step(mvp *m);

/* ---- mvp_fold.c ---- */
plx_status plx__mvp_fold(mvp *m, plx_mat pz); /* new documents: A and B fixed */

#endif
