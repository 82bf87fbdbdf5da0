/*
 * Inside of models and predictions.
 */
#ifndef PLX_API_MODEL_IMPL_H
#define PLX_API_MODEL_IMPL_H

#include <stdio.h>

#include "run/run.h"
#include "parallax/model.h"

struct plx_prediction {
    plx__arena arena; /* unused when the prediction belongs to a model */
    const plx__method *method;
    plx__outcome outcome;
    plx__store store; /* arrays over the predicted samples */
    const char *const *warnings;
    plx_index n_warnings;
};

/* What a view was like when the model was fitted: how new data are matched. */
typedef struct plx__view_card {
    const char *name;
    plx_view_kind kind;
    bool sparse;
    plx_index cols;
    const char *const *features; /* NULL: named by index. Kernel views: ids of the fitted samples */
    const char *text;            /* how its text was counted; NULL: not from text */
} plx__view_card;

typedef struct plx__portfolio plx__portfolio;

/* What a fit said it would need beyond the data, and what it took. */
typedef struct plx__memory_use {
    double stated; /* 0: the method states nothing */
    int64_t taken; /* high-water mark of the context during the fit, less what was held when it began */
} plx__memory_use;

struct plx_model {
    plx__arena arena;
    const plx__method *method;
    plx__portfolio *portfolio; /* its members (portfolio_impl.h); NULL: the model of one method */
    plx_params *settings;
    void *params; /* the method's struct */
    plx_index n_classes;
    const char *const *classes;
    plx__hierarchy *hierarchy; /* NULL: none */
    plx_index n_views;
    plx__view_card *views;
    const char *const *ignored; /* views that no sample of the fit had; none from a file */
    plx_index n_ignored;
    plx_index n_fitted;         /* samples that took part */
    const char *const *samples; /* their names, where the method asks for them */
    plx_index n_samples;
    uint64_t seed;
    double seconds;
    double processor_seconds; /* of the fit, all threads together; zero from a file */
    plx__memory_use memory;   /* of the fit; zero from a file */
    plx__store store;
    plx__facts facts;
    plx_prediction fitted; /* about the samples of the fit; outcome.n = 0 for a model from a file */
    const uint8_t *seen;   /* labels the learner saw, over the caller's rows; NULL from a file */
    plx_index rows;
    plx__arena json_arena; /* text of the last plx_model_json() */
};

plx_status plx__model_create(plx_model **out, plx_context *ctx, const plx__method *method, const plx_params *settings);

/* What a fit may be helped by: an earlier model of nearly the same data to start from; what a ranking may offer. */
typedef struct plx__fit_aid {
    const plx_model *warm;
    const plx__offer *offer;
} plx__fit_aid;

/* plx_fit() inside a running call, with any descriptor; `aid` may be NULL. */
plx_status plx__fit(plx_model **out, plx_context *ctx, const plx__method *method, const plx_dataset *data,
                    const plx_params *params, const plx_fit_options *options, const plx__fit_aid *aid);

/* An empty prediction with an arena of its own. */
plx_status plx__prediction_create(plx_prediction **out, plx_context *ctx, const plx__method *method);

/* Predict with a fitted model; the prediction lives in an arena of its own. `wanted` names on-request arrays. */
plx_status plx__predict(plx_prediction **out, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                        const plx_index *row, plx_index rows, const char *const *wanted, plx_index n_wanted);

/* Warnings of the running call, copied. */
plx_status plx__take_notes(const char *const **out, plx_index *count, plx_context *ctx, plx__arena *arena);

/* Truth of `data` against a prediction of the model (model_metrics.c). */
plx_status plx__measure(plx_metrics *metrics, plx_context *ctx, const plx_prediction *prediction,
                        const plx_model *model, const plx_dataset *data);

/* New data in the model's terms: same views in the same order, same columns (match.c). */
plx_status plx__match_data(plx_dataset **out, plx_context *ctx, const plx_model *model, const plx_dataset *data);

/* Row of the method's array table for an array name, VIEW matched; NULL: private or unknown. */
const plx__array_spec *plx__array_spec_find(const plx__method *method, const char *name);
/* Is dimension 0 (rows) or 1 (columns) of the array counted in samples? */
bool plx__array_by_sample(const plx__array_spec *spec, int dimension);

#endif
