/*
 * What the parts of localmodels share.
 */
#ifndef PLX_METHODS_LOCALMODELS_H
#define PLX_METHODS_LOCALMODELS_H

#include "cluster/bottleneck.h"
#include "optim/elimination.h"
#include "optim/platt.h"

enum { LM_PATTERN_CLASSIFICATION = 0, LM_PATTERN_IB = 1, LM_PATTERN_CIB = 2 };
enum { LM_IRRELEVANT_GLOBAL = 0, LM_IRRELEVANT_CLUSTERING = 1 };
enum { LM_OUTPUTS_CV = 0, LM_OUTPUTS_FIT = 1 };
enum { LM_MISSING_ZERO = 0, LM_MISSING_ERROR = 1 };

typedef struct lm_params {
    int learner, pattern, irrelevant, outputs, missing;
    double reg, global_features, pattern_features, beta, bg_beta, ib_tol, rfe_step, tau;
    bool standardise;
    const char *global_view, *local_view, *pattern_view, *ib_init, *bg_init;
    plx_index pattern_clusters, bg_clusters, ib_iter;
} lm_params;

/* Columns of some views side by side. */
typedef struct lm_block {
    plx_index n_views, *view; /* in the order they were named */
    plx_index *first;         /* n_views + 1: first column of each */
    plx_index cols;
} lm_block;

/* A linear model on some columns of a block: decisions and probabilities. */
typedef struct lm_model {
    const lm_block *block;
    plx_index *column, count; /* ascending */
    plx_mat weight;           /* functions x (count + 1), bias last */
    plx__platt *platt;        /* per function; NULL: the logistic function */
} lm_model;

/* What a model says of samples. */
typedef struct lm_said {
    plx_mat decision;    /* n x functions */
    plx_mat probability; /* n x classes */
    int32_t *label;      /* n */
} lm_said;

typedef struct lm {
    plx__run *run;
    plx_context *ctx;
    const plx__problem *x;
    const lm_params *set;
    plx_index classes, functions;
    plx_index l, *labelled; /* rows of the labelled samples; predicting: 0 */
    const int32_t *label;   /* l */
    lm_block global_block, local_block, pattern_block;
    plx_cmat *standard; /* per view, 2 x cols: mean and deviation of labelled rows */
    plx_cmat *range;    /* per view, 2 x cols: smallest and largest value; ib and cib */
    lm_model global, local;
} lm;

/* What replaces the global model where: the score, and its threshold. */
typedef struct lm_pattern {
    lm_model classifier;   /* classification; count 0 and no weight: the score is 0 */
    plx_index *column;     /* ib, cib: columns of the description */
    plx_index count;       /* of them */
    plx_mat medoid;        /* clusters x count: rows of N */
    plx_index *medoid_row; /* clusters: position among the labelled */
    double threshold;
} lm_pattern;

/* ---- lm_input.c ---- */

/* Blocks, statistics of the views, labelled samples; predicting, statistics from the model. */
plx_status plx__lm_open(lm *m, plx__run *run);
/* Standardised columns of a block for the labelled samples (l x cols, in scratch). */
plx_status plx__lm_labelled_rows(plx_mat *out, const lm *m, const lm_block *block);
/* N: non-negative columns for the labelled samples (l x cols, in scratch). */
plx_status plx__lm_nonnegative_rows(plx_mat *out, const lm *m, const lm_block *block);
/* The chosen columns of N for any sample; an absent view is 0. */
void plx__lm_nonnegative_some(double *out, const lm *m, const lm_block *block, const plx_index *column, plx_index count,
                              plx_index sample);
/* Standardised values likewise. */
void plx__lm_standard_some(double *out, const lm *m, const lm_block *block, const plx_index *column, plx_index count,
                           plx_index sample);

/* ---- lm_models.c ---- */

/* How many columns are kept of `cols`: a count, or a share of at least ten. */
plx_index plx__lm_wanted(double setting, plx_index cols);
/* Elimination down to `wanted` columns (0: keep all), and the model on the rest. `rows` are the block's. */
plx_status plx__lm_learn(lm_model *out, const lm *m, const lm_block *block, plx_cmat rows, const int32_t *label,
                         plx_index classes, double wanted);
/* Decisions, probabilities and labels of all samples. */
plx_status plx__lm_apply(lm_said *out, const lm *m, const lm_model *model, plx_index classes);
/* What is said of the labelled samples, as `outputs` wants it: by models that have not seen them, or by the full ones. */
plx_status plx__lm_say_labelled(lm_said *out, const lm *m, const lm_model *model, plx_cmat rows, const lm_said *all);
plx_status plx__lm_model_put(const lm *m, const lm_model *model, const char *name, bool all_columns);
plx_status plx__lm_model_get(lm_model *out, const lm *m, const lm_block *block, const char *name, plx_index classes);

/* ---- lm_pattern.c ---- */

plx_status plx__lm_find_pattern(lm_pattern *out, lm *m, const lm_said *global, const lm_said *local);
/* Scores of all samples. */
plx_status plx__lm_scores(double *score, const lm *m, const lm_pattern *p);
plx_status plx__lm_pattern_put(const lm *m, const lm_pattern *p);
plx_status plx__lm_pattern_get(lm_pattern *out, const lm *m);

/* Largest number of labelled samples inside. */
plx_index plx__lm_room(double tau, plx_index l);
/* The threshold with at most `room` samples above it that makes the combined model right most often, then with the
 * fewest above it. `order`: samples by falling score. */
double plx__lm_threshold(const double *score, const uint8_t *global_right, const uint8_t *local_right, plx_index l,
                         plx_index room, const plx_index *order);

#endif
