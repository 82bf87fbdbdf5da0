/*
 * The contract suite: what every method promises through its descriptor, checked for whichever method is named. The
 * fixtures are chosen by the descriptor, so a new method is covered the day it joins methods.def.
 */
#ifndef PLX_TESTS_CONTRACT_H
#define PLX_TESTS_CONTRACT_H

#include <stdbool.h>

#include "api/model_impl.h"
#include "methods/registry.h"

/* ---- the trial: one method, and what went wrong so far ---- */

typedef struct trial {
    const plx__method *about;
    const char *method;
    const char *check; /* the running one */
    int variant;       /* row of EXTRA_SETTINGS, or -1: the defaults */
    const char *variant_name;
    bool first;                      /* of the method's rows: what no setting changes is checked with this one only */
    const char *source;              /* root of the source tree */
    char directory[64];              /* scratch files go here */
    bool seeds_tried, seed_mattered; /* in any of the method's rows so far */
    int failures;
} trial;

void complain(trial *t, const char *fmt, ...) PLX_PRINTF(2, 3);

#define CHECK(t, condition, ...)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) complain((t), __VA_ARGS__);                                                                  \
    } while (0)

/* Like CHECK, but nothing after it makes sense. */
#define NEED(t, condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            complain((t), __VA_ARGS__);                                                                                \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

/* ---- fixtures (contract_data.c) ---- */

enum { MAX_VIEWS = 4 };

typedef struct raw_view {
    char name[16];
    plx_view_kind kind;
    bool sparse, named;
    plx_index cols;
    double *x;           /* n x cols */
    char (*feature)[16]; /* cols */
    uint8_t *present;    /* n */
} raw_view;

typedef struct raw {
    plx_index n, n_views, classes;
    raw_view view[MAX_VIEWS];
    int32_t *label, *truth; /* -1: unlabelled */
} raw;

/* Counts in every view, class c prefers the features that are c modulo `classes`; every second sample of a class is
 * labelled. No row is zero. */
raw *raw_make(const trial *t, plx_index n, plx_index classes, uint64_t seed);
/* The same with `widen` times the features in every view. */
raw *raw_make_wide(const trial *t, plx_index n, plx_index classes, uint64_t seed, plx_index widen);
raw *raw_clone(const raw *r);
/* Rows in another order, or some of them: row i of the result is row rows[i]. */
raw *raw_rows(const raw *r, const plx_index *rows, plx_index count);
void raw_move_feature(raw *r, plx_index view, const plx_index *from); /* column j becomes column from[j] */
void raw_swap_views(raw *r, plx_index a, plx_index b);
void raw_drop_view(raw *r, plx_index view);
void raw_drop_column(raw *r, plx_index view, plx_index column);
void raw_add_column(raw *r, plx_index view, const char *name);
void raw_free(raw *r);
plx_dataset *raw_dataset(trial *t, const raw *r, plx_context *ctx);

plx_index *reversed_order(plx_index n);
/* A fixed shuffle: i -> (a i + b) mod n with a prime to n. */
plx_index *mixed_order(plx_index n);

/* A sum over everything the API lets one read of a data set. */
uint64_t dataset_checksum(const plx_dataset *data);

/* ---- running (contract_run.c) ---- */

typedef struct meter {
    long calls, fail_at, live;
} meter;

/* 20 s per call: parameters at their upper bounds may mean very many iterations. */
plx_context *plain_context(int threads);
/* No limit: for results that are compared byte for byte, which must not depend on how busy the machine is. */
plx_context *patient_context(int threads);
/* Every arena block is in a file. */
plx_context *streaming_context(int threads);
plx_context *metered(meter *m, int threads);
plx_context *limited_context(int64_t memory, double seconds);

bool is_clusterer(const trial *t);
bool needs_labels(const trial *t);
bool can(const trial *t, unsigned capability);

/* Settings every fit of this run gets: those of the variant, and the number of clusters. NULL: out of memory. */
plx_params *base_params(trial *t, plx_context *ctx, plx_index clusters);
plx_status try_fit(trial *t, plx_model **out, plx_context *ctx, const plx_dataset *data, const plx_params *params);
/* Fit that must work. */
plx_model *must_fit(trial *t, plx_context *ctx, const plx_dataset *data);

/* A refusal a user can act on: ARG, DATA, NUMERIC, UNSUPPORTED or NOMEM with one line of text. */
bool clean_refusal(plx_status st, const plx_context *ctx);
/* OK with finite numbers, or a clean refusal; anything else is complained about. Frees the model. */
void check_outcome(trial *t, plx_status st, const plx_context *ctx, plx_model *model, const char *what);

/* ---- results as plain memory (contract_picture.c) ---- */

typedef struct picture_array {
    char *name;
    plx_index rows, cols;
    double *x;     /* sparse arrays are filled out */
    bool infinite; /* infinity is one of its values */
} picture_array;

typedef struct picture {
    plx_index n_arrays, n, k;
    picture_array *array;
    char **label;
    double *scores; /* n x k */
    plx_index iterations;
    double objective;
} picture;

picture *picture_model(const plx_model *m);
picture *picture_prediction(const plx_prediction *p);
void picture_free(picture *p);

/* How rows and features of the second picture relate to the first: a(i, j) stands at b(row[i], feature[v][j]). */
typedef struct moved {
    const plx_index *row;
    const plx_index *feature[MAX_VIEWS];
    const raw *data; /* names of the views, for feature[] */
} moved;

/* First difference in words, or NULL. tolerance 0: same bytes, private arrays too. */
const char *picture_difference(const trial *t, const picture *a, const picture *b, double tolerance, const moved *m);
bool picture_finite(const picture *p, char *where, size_t bytes);
picture *fit_picture(trial *t, plx_context *ctx, const raw *r);
picture *predict_picture(trial *t, plx_context *ctx, const plx_model *model, const raw *r);

/* Processor time of the process: does not depend on what else the machine does. */
double processor_seconds(void);

/* ---- the checks ---- */

typedef struct check {
    const char *name;
    void (*run)(trial *t);
} check;

extern const check metamorphic_checks[], params_checks[], data_checks[], invariance_checks[], run_checks[],
    memory_checks[], model_checks[];

#endif
