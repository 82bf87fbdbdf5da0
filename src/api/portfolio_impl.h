/*
 * Portfolios inside a running call.
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
    double power;       /* its probabilities are raised to it and made to sum to 1 again */
} plx__member;

struct plx_portfolio {
    plx__arena arena;
    plx__member *member;
    plx_index n_members;
    const char *reason;
    plx_index n_classes;
    const char *const *classes;
    plx_prediction *fitted;
    uint8_t *seen; /* n: labels that were seen */
};

/* Names of the members for a data set, NULL at the end, and why. */
const char *const *plx__portfolio_choice(const char **reason, const plx_dataset *data);
plx_status plx__portfolio_fit(plx_portfolio **out, plx_context *ctx, const plx_dataset *data, const char *directory);
plx_status plx__portfolio_predict(plx_prediction **out, plx_context *ctx, const plx_portfolio *p,
                                  const plx_dataset *data);
/* Adds the metrics of a prediction; `seen` NULL: all samples with a truth count. */
plx_status plx__portfolio_measure(plx_metrics *metrics, plx_context *ctx, const plx_prediction *prediction,
                                  const uint8_t *seen, const plx_dataset *data);
void plx__portfolio_destroy(plx_portfolio *p);

#endif
