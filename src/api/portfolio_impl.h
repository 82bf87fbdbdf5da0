/*
 * Models that answer together (method `auto`) inside a running call. The model of a portfolio has a plx__portfolio; all
 * other parts of it (classes, views, answers) are like those of any model.
 */
#ifndef PLX_API_PORTFOLIO_IMPL_H
#define PLX_API_PORTFOLIO_IMPL_H

#include "api/model_impl.h"
#include "parallax/portfolio.h"

typedef struct plx__member {
    const plx__method *method;
    plx_model *model;   /* NULL: left out */
    const char *reason; /* why */
    double agreement;   /* with the others; NaN: there are none */
    bool margins;       /* its scores are no probabilities; the softmax of them is */
    double power;       /* its probabilities are raised to it and made to sum to 1 again */
} plx__member;

struct plx__portfolio {
    plx__member *member;
    plx_index n_members;
    const char *reason; /* why these */
};

/* Not among the methods of the registry: its members are. */
extern const plx__method plx__method_auto;

/* A method of the registry, or `auto`; NULL: there is none of that name. */
const plx__method *plx__any_method(const char *name);
/* Same, or an error that names the nearest. */
plx_status plx__any_method_require(const plx__method **out, plx_context *ctx, const char *name);

/* Names of the members for a data set, NULL at the end, and why. */
const char *const *plx__portfolio_choice(const char **reason, const plx_dataset *data);

/* Fits the members of a model that was just created, and answers about the samples. */
plx_status plx__portfolio_fit(plx_model *whole, plx_context *ctx, const plx_dataset *data, const char *directory);

/* Room for members in the arena of a model; they are destroyed with it. */
enum { PLX__MOST_MEMBERS = 16 };
plx_status plx__portfolio_open(plx_model *whole, plx_context *ctx);
void plx__portfolio_release(plx__portfolio *p);

/* Answers of all members that can label new samples, combined, about data in the model's terms. */
plx_status plx__portfolio_answer(plx_prediction *out, plx_context *ctx, const plx_model *whole,
                                 const plx_dataset *matched);

#endif
