/*
 * What is known of the class of a sample that shows nothing: the shares of the classes among labelled samples, kept in
 * the model.
 */
#ifndef PLX_RUN_PRIOR_H
#define PLX_RUN_PRIOR_H

#include "run/run.h"

/* Shares among the labelled samples that have `usable` set (NULL: all). The first to put them is right: a method that
 * learns from some of the samples only says so before the framework does. */
plx_status plx__prior_put(plx__store *store, plx_context *ctx, const plx__problem *p, const uint8_t *usable);
bool plx__prior_known(const plx__store *store);

/* The shares, and the class with the largest (ties: the first). */
plx_status plx__prior_get(const double **shares, int32_t *class, plx_context *ctx, const plx__store *store,
                          plx_index n_classes);

#endif
