/*
 * The parts of a report that need to look inside models.
 */
#ifndef PLX_API_REPORT_IMPL_H
#define PLX_API_REPORT_IMPL_H

#include "api/model_impl.h"
#include "report/report_parts.h"

/* A data set with the answers of a prediction (NULL: none). */
plx_status plx__report_prediction(plx_report *r, plx_context *ctx, const plx_dataset *data, const plx_prediction *p);

/* Answers about the samples of a fit. */
typedef struct plx__reported {
    const char *name; /* who answers */
    const plx_prediction *prediction;
    const uint8_t *seen; /* n: labels that were seen; NULL: not known */
    plx_metrics *metrics;
} plx__reported;
plx_status plx__report_outcome(plx_report *r, plx_context *ctx, const plx__reported *about, const plx_dataset *data);

plx_status plx__report_model(plx_report *r, plx_context *ctx, const plx_model *model, const plx_dataset *data);

#endif
