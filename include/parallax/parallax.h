/**
 * @file parallax/parallax.h
 * @brief Everything: the only include a program needs.
 *
 *     plx_context *ctx;   plx_dataset *data;   plx_model *model;
 *     plx_context_create(&ctx, NULL);
 *     plx_dataset_read(&data, ctx, "data/cora", NULL);
 *     plx_fit(&model, ctx, "nb", data, NULL, NULL);
 *     plx_prediction_write(ctx, plx_model_prediction(model), data, "labels.csv");
 *
 * Every call returns a plx_status; plx_context_error() has the sentence behind a failure.
 */
#ifndef PARALLAX_PARALLAX_H
#define PARALLAX_PARALLAX_H

#include "parallax/acquire.h"
#include "parallax/compare.h"
#include "parallax/complete.h"
#include "parallax/context.h"
#include "parallax/dataset.h"
#include "parallax/explain.h"
#include "parallax/generate.h"
#include "parallax/json_text.h"
#include "parallax/matrix.h"
#include "parallax/method.h"
#include "parallax/metrics.h"
#include "parallax/model.h"
#include "parallax/ner.h"
#include "parallax/ner_tagged.h"
#include "parallax/params.h"
#include "parallax/peers.h"
#include "parallax/portfolio.h"
#include "parallax/processor.h"
#include "parallax/report.h"
#include "parallax/retrieve.h"
#include "parallax/split.h"
#include "parallax/status.h"
#include "parallax/tune.h"
#include "parallax/version.h"
#include "parallax/view_report.h"

#endif
