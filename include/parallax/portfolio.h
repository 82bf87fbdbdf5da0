/**
 * @file parallax/portfolio.h
 * @brief Several methods at once, their scores made comparable and averaged: what `fit auto` does.
 *
 * Members are chosen by what the data look like: where most views are thin (words, links) coem, mvkmeans, corls, gp, hknn
 * and mvll, where they are full of numbers hknn, gp, mvll, svm and corls; methods whose time or memory does not suit the
 * number of samples are left out, and one that refuses the data is left out with its reason. Scores become probabilities,
 * and those of a member are made as sure, on the samples without a label, as the member agrees with the others there:
 * methods differ in how sure they pretend to be. The mean decides. docs/guide/choosing.md has the figures behind this.
 *
 * Lifetime: the caller owns a portfolio and destroys it before its context. What is read from it is borrowed.
 *
 * Threads: as the context passed in; a fitted portfolio may be read by any number.
 */
#ifndef PARALLAX_PORTFOLIO_H
#define PARALLAX_PORTFOLIO_H

#include "parallax/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_portfolio plx_portfolio;

/**
 * Fit the members and combine what they say.
 *
 * @param[out] out    NULL on any failure.
 * @param data        with labels of two classes at least
 * @param directory   what file parameters are relative to; NULL: the working directory
 * @retval PLX_E_ARG        an argument is NULL
 * @retval PLX_E_DATA       no labels, or no member takes the data: the message has the reason of the first
 * @retval PLX_E_NOMEM      memory ran out outside of a member
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Same seed and input give the same bytes for every thread count.
 *
 * Ownership: the caller's; free it with plx_portfolio_destroy(). It keeps no pointer to the data.
 * Threads: as the context passed in.
 * Cost: that of plx_fit() for each member, one after the other.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_portfolio_fit(plx_portfolio **out, plx_context *ctx, const plx_dataset *data,
                                                   const char *directory);

/**
 * Label new samples: the members that can, combined as they were fitted.
 *
 * @param[out] out            NULL on failure.
 * @retval PLX_E_ARG          an argument is NULL
 * @retval PLX_E_UNSUPPORTED  no member can label new samples
 * @retval PLX_E_DATA         as plx_predict()
 * @retval PLX_E_NOMEM        memory ran out
 * @retval PLX_E_CANCELLED    asked to stop
 *
 * Ownership: the caller's; free it with plx_prediction_destroy() before the portfolio.
 * Threads: as the context passed in; portfolio and data are only read.
 * Cost: that of plx_predict() for each member.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_portfolio_predict(plx_prediction **out, plx_context *ctx,
                                                       const plx_portfolio *portfolio, const plx_dataset *data);

/**
 * Free a portfolio and its members. NULL is allowed.
 *
 * Errors: none.
 * Ownership: what was read from the portfolio goes with it.
 * Threads: one, when no other uses the portfolio.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_portfolio_destroy(plx_portfolio *portfolio);

/**
 * How good the labels of the fitted samples are, measured against the truth of `data`, samples whose label was seen left
 * out. Empty when `data` has no truth.
 *
 * @param[out] out      NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL, or the numbers of samples differ
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the caller's; free it with plx_metrics_destroy().
 * Threads: as the context passed in.
 * Cost: O(samples x classes).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_portfolio_metrics(plx_metrics **out, plx_context *ctx,
                                                       const plx_portfolio *portfolio, const plx_dataset *data);

/**
 * @name Reading a portfolio
 *
 * Errors: none; 0, NULL or NaN for NULL or out of range.
 * Ownership: borrowed from the portfolio.
 * Threads: any number may read.
 * Cost: O(1).
 */

/** Labels and scores of the fitted samples. @since 0.1 */
PLX_API const plx_prediction *plx_portfolio_prediction(const plx_portfolio *portfolio);
/** Why these members: one sentence. @since 0.1 */
PLX_API const char *plx_portfolio_reason(const plx_portfolio *portfolio);
/** Number of members, those left out included. @since 0.1 */
PLX_API plx_index plx_portfolio_members(const plx_portfolio *portfolio);
/** Name of the method of member i. @since 0.1 */
PLX_API const char *plx_portfolio_method(const plx_portfolio *portfolio, plx_index i);
/** Model of member i; NULL also where it was left out. @since 0.1 */
PLX_API const plx_model *plx_portfolio_model(const plx_portfolio *portfolio, plx_index i);
/** Why member i was left out; NULL: it was not. @since 0.1 */
PLX_API const char *plx_portfolio_left_out(const plx_portfolio *portfolio, plx_index i);
/** Share of the samples without a label on which member i agrees with another one, on the average. @since 0.1 */
PLX_API double plx_portfolio_agreement(const plx_portfolio *portfolio, plx_index i);

#ifdef __cplusplus
}
#endif
#endif
