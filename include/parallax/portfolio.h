/**
 * @file parallax/portfolio.h
 * @brief Models whose scores are made comparable and averaged: what plx_fit() makes of the method "auto".
 *
 * Members are chosen by what the data look like: where most views are thin (words, links) coem, mvkmeans, corls, gp, hknn
 * and mvll, where they are full of numbers hknn, gp, mvll, svm and corls; methods whose time or memory does not suit the
 * number of samples are left out, and one that refuses the data is left out with its reason. Scores become probabilities,
 * and those of a member are made as sure, on the samples without a label, as the member agrees with the others there:
 * methods differ in how sure they pretend to be. The mean decides. docs/guide/choosing.md has the figures behind this.
 *
 * The result is a model like any other: plx_predict(), plx_explain(), plx_model_save() and plx_report_add_model() take
 * it, and one file holds all members. New samples are labelled by the members that can. It has no parameters, needs
 * labels of two classes at least (PLX_E_DATA), and costs what its members cost, which are fitted one after the other.
 *
 * Lifetime: members belong to their model. What is read from it is borrowed.
 *
 * Threads: a fitted model may be read by any number.
 */
#ifndef PARALLAX_PORTFOLIO_H
#define PARALLAX_PORTFOLIO_H

#include "parallax/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @name Reading the members of a model
 *
 * Errors: none; 0, NULL or NaN for NULL, for the model of one method, or out of range.
 * Ownership: borrowed from the model.
 * Threads: any number may read.
 * Cost: O(1).
 */

/** Why these members: one sentence. @since 0.1 */
PLX_API const char *plx_model_reason(const plx_model *model);
/** Number of members, those left out included. @since 0.1 */
PLX_API plx_index plx_model_members(const plx_model *model);
/** Name of the method of member i. @since 0.1 */
PLX_API const char *plx_model_member_method(const plx_model *model, plx_index i);
/** Model of member i; NULL also where it was left out. @since 0.1 */
PLX_API const plx_model *plx_model_member(const plx_model *model, plx_index i);
/** Why member i was left out; NULL: it was not. @since 0.1 */
PLX_API const char *plx_model_member_left_out(const plx_model *model, plx_index i);
/** Share of the samples without a label on which member i agrees with another one, on the average. @since 0.1 */
PLX_API double plx_model_member_agreement(const plx_model *model, plx_index i);

#ifdef __cplusplus
}
#endif
#endif
