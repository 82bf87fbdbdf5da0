/*
 * mvkmeans inside: settings, the prepared data, and the steps of the iteration.
 *
 * A channel is what has centroids of its own: one per view, or a single one over all views (concat). Assignments are
 * kept in the smallest form that serves the rule: one class per sample; one class per sample and view (cotrain); or a
 * row of bits per class and sample (label programs), channel c at bit n_channels - 1 - c.
 */
#ifndef PLX_METHODS_MVKMEANS_H
#define PLX_METHODS_MVKMEANS_H

#include "core/slabs.h"
#include "run/problem.h"
#include "labelsets/label_program.h"
#include "data/row_parts.h"

typedef enum mvk_rule {
    MVK_SINGLE,
    MVK_CONCAT,
    MVK_SUM,
    MVK_PROD,
    MVK_AGREE,
    MVK_COTRAIN,
    MVK_HIER_SUM,
    MVK_HIER_PROD,
    MVK_HIER_AGREE
} mvk_rule;

typedef enum mvk_start { MVK_FROM_LABELS, MVK_FROM_KMEANSPP, MVK_FROM_RANDOM, MVK_FROM_FILE } mvk_start;

enum { MVK_SCALE_SUM = 0, MVK_SCALE_MEAN = 1 };
enum { MVK_NORM_RAW = 0, MVK_NORM_UNIT = 1 };
enum { MVK_PARALLEL = 0, MVK_SEQUENTIAL = 1 };
enum { MVK_KEEP = 0, MVK_RESEED = 1 };
enum { MVK_ARGMAX = PLX__LABEL_SOLVERS, MVK_NO_EVIDENCE, MVK_SERVERS }; /* who labelled a sample, beside the solvers */

#define MVK_TIE 1e-12

typedef struct mvk_params {
    const char *assignment, *init;
    double alpha1, alpha2, alpha3;
    int score_scale, concat_norm, order, empty;
    bool closure;
    plx_index clusters, max_iter, restarts; /* clusters -1: not set */
} mvk_params;

typedef struct mvk_channel {
    const char *name;
    plx_index cols, n_parts;
    plx__row_part *parts;
    uint8_t *present;  /* n */
    plx_mat centroids; /* k x cols */
    plx_mat columns;   /* cols x k_padded: the same, for products with rows */
} mvk_channel;

typedef struct mvk_worker {
    double *scores;             /* n_channels x chunk x k_padded */
    double *spare;              /* chunk x k_padded */
    double *effective;          /* k_padded */
    const double **rows;        /* n_channels */
    uint16_t *pattern, *report; /* k each */
    plx__label_work *label;     /* NULL without label programs */
    int64_t served[MVK_SERVERS];
} mvk_worker;

typedef struct mvk {
    plx__run *run;
    plx_context *ctx;
    const mvk_params *set;
    mvk_rule rule;
    const char *single; /* view of single:VIEW */
    bool hier, programs, per_view, seeded;
    plx_index n, k, k_padded, chunk;
    plx__slabs cut; /* of the samples; a pane has whole chunks */
    plx_index n_channels;
    mvk_channel *channels;
    plx__view *scaled; /* n_views; those no channel uses stay empty */

    const char *const *names;   /* k, or NULL for clusters */
    const int32_t *leaf_of;     /* class of the data -> flat class or -1; NULL: the same */
    plx__label_rules rules;     /* of the program, or what makes a report a violation */
    plx__label_rules ancestors; /* hierarchy: everything above a class */
    plx__label_program *program;

    uint8_t *labelled;     /* n */
    int32_t *label;        /* n x label_width; -1: none */
    plx_index label_width; /* 1, or n_channels for cotrain; 0 with programs */
    int32_t *taught;       /* cotrain: n x n_channels */
    uint16_t *pattern;     /* programs: n x k */
    uint16_t *report;      /* programs with per_view: n x k */
    uint16_t *fallback;    /* k: the set for samples without evidence, 0/1 */
    int32_t fallback_class;
    double *own_score; /* empty=reseed: n */
    uint8_t *pending;  /* programs: samples left to the search */

    double *partial; /* (k + PLX__CLASS_SLABS) x most columns of a channel: room for the M step */
    double *sums;    /* k x most columns of a channel: what it adds up */
    int n_workers;
    mvk_worker *workers;
    struct mvk_device *on; /* sweeps on a device (mvk_device.c); NULL: here */
} mvk;

/* ---- mvk_input.c ---- */
plx_status plx__mvk_open(mvk *m, plx__run *run); /* settings, channels, labels; everything in scratch */
bool plx__mvk_own_rows(plx__run *run, const plx_dataset *data);
plx_status plx__mvk_read_rule(mvk_rule *rule, const char **single, plx__run *run);
plx_status plx__mvk_make_workers(mvk *m);

/* ---- mvk_classes.c ---- */
plx_status plx__mvk_open_classes(mvk *m); /* classes, rules, given labels, fallback */
void plx__mvk_add_ancestors(const mvk *m, uint16_t *row, uint16_t bits);
plx_status plx__mvk_plan(mvk *m); /* the label program */

/* ---- mvk_score.c ---- */
/* Cosines of samples begin .. end-1 with the centroids of channel c, into the worker's scores. */
plx_status plx__mvk_score_chunk(const mvk *m, mvk_worker *w, plx_index c, plx_index begin, plx_index end);
/* w->rows = scores of sample j in its present channels (chunk starts at begin); returns their number. */
int plx__mvk_present_rows(const mvk *m, mvk_worker *w, plx_index begin, plx_index j);

/* Largest value, lowest index among those within MVK_TIE; -1 when all are exactly 0. */
int32_t plx__mvk_argmax(const double *x, plx_index k);
/* Sum (mean) or product of the present rows, into w->effective; for flat and shared label rules. */
void plx__mvk_effective(const mvk *m, mvk_worker *w, int s);

/* ---- mvk_estep.c, mvk_cotrain.c ---- */
typedef struct mvk_step {
    double objective;
    int64_t flips;
} mvk_step;
plx_status plx__mvk_assign(mvk *m, mvk_step *out, bool report);

/* Labels of all samples on every process: in the end, since only what needs them shares them in between. */
plx_status plx__mvk_share_labels(mvk *m);
/* Only the reported sets, at the scores of the current centroids. */
plx_status plx__mvk_report(mvk *m);
/* One sample with fixed scores; used for new samples too. Writes w->pattern (0/1 per class in bits of the channels);
 * false: only the search can. */
bool plx__mvk_solve_row(const mvk *m, mvk_worker *w, plx_index j, int s);
bool plx__mvk_report_row(const mvk *m, mvk_worker *w, plx_index j, int s);
plx_status plx__mvk_reseed(mvk *m, mvk_step *step);

plx_status plx__mvk_cotrain_step(mvk *m, mvk_step *out);
plx_status plx__mvk_cotrain_teach(mvk *m); /* M step of order=parallel */
plx_status plx__mvk_cotrain_consensus(mvk *m, int32_t *label);

/* ---- mvk_mstep.c ---- */
/* Centroids of channel c from labels (stride apart) or, when label is NULL, from m->pattern. */
plx_status plx__mvk_centroids(mvk *m, plx_index c, const int32_t *label, plx_index stride);
plx_status plx__mvk_all_centroids(mvk *m); /* cotrain: from the first view's labels */
plx_status plx__mvk_refresh_columns(mvk *m, plx_index c);

/* ---- mvk_device.c ---- */
typedef struct mvk_device mvk_device;
plx_status plx__mvk_device_open(mvk *m); /* where it pays */
plx_status plx__mvk_device_close(mvk *m, plx_status st);
void plx__mvk_device_begin(mvk *m); /* labels are about to change here */
/* The steps of the iteration; *done false: they are to be done here. */
plx_status plx__mvk_device_assign(bool *done, mvk *m, mvk_step *out);
plx_status plx__mvk_device_sums(bool *done, mvk *m, plx_index c, const int32_t *label);

/* ---- mvk_start.c ---- */
plx_status plx__mvk_start_once(mvk *m, mvk_start from, plx_index restart);

/* ---- mvk_output.c ---- */
typedef struct mvk_final {
    int32_t *label; /* flat: reported class */
    uint16_t *sets; /* programs: n x k, 0/1 */
} mvk_final;
/* Scores at the current centroids, labels, and the arrays that were asked for. For cotrain this labels the samples. */
plx_status plx__mvk_write(mvk *m, mvk_final *final);
plx_status plx__mvk_write_state(mvk *m, const int64_t *flips, plx_index n_flips);
plx_status plx__mvk_read_centroids(mvk *m);
/* Who labelled how many samples, and how many reported sets break a rule: into the result. */
plx_status plx__mvk_put_outcome(mvk *m, const mvk_final *final);

#endif
