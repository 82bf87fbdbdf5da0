/*
 * The method `auto` as the outside sees it, and reading its members.
 */
#include <math.h>
#include <string.h>

#include "api/portfolio_impl.h"
#include "methods/registry.h"

/* ---- the descriptor ---- */

static const plx__param_table tables[] = {NULL};

static const plx__array_spec arrays[] = {
    {"agreement", "members x 1", 0,
     "share of the samples without a label on which a member agrees with another one, on the average; nan: left out"},
    {"power", "members x 1", 0, "what the probabilities of a member are raised to before the mean; nan: left out"},
    {0}};

const plx__method plx__method_auto = {
    .name = "auto",
    .title = "Several methods, chosen by the look of the data",
    .summary = "The mean of the probabilities of several methods, each made as sure as it agrees with the others.",
    .task = PLX_TASK_CLASSIFY,
    .scores = "probability of the class: the mean of the members, each tempered",
    .growth = "that of its members",
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM,
    .min_views = 1,
    .min_classes = 2,
    .params = tables,
    .arrays = arrays};

const plx__method *plx__any_method(const char *name)
{
    return strcmp(name, plx__method_auto.name) == 0 ? &plx__method_auto : plx__method_find(name);
}

plx_status plx__any_method_require(const plx__method **out, plx_context *ctx, const char *name)
{
    *out = plx__any_method(name);
    return *out ? PLX_OK : plx__method_require(out, ctx, name);
}

/* ---- reading ---- */

static const plx__member *member_at(const plx_model *model, plx_index i)
{
    return i >= 0 && i < plx_model_members(model) ? &model->portfolio->member[i] : NULL;
}

const char *plx_model_reason(const plx_model *model)
{
    return model && model->portfolio ? model->portfolio->reason : NULL;
}

plx_index plx_model_members(const plx_model *model)
{
    return model && model->portfolio ? model->portfolio->n_members : 0;
}

const char *plx_model_member_method(const plx_model *model, plx_index i)
{
    const plx__member *m = member_at(model, i);
    return m ? m->method->name : NULL;
}

const plx_model *plx_model_member(const plx_model *model, plx_index i)
{
    const plx__member *m = member_at(model, i);
    return m ? m->model : NULL;
}

const char *plx_model_member_left_out(const plx_model *model, plx_index i)
{
    const plx__member *m = member_at(model, i);
    return m ? m->reason : NULL;
}

double plx_model_member_agreement(const plx_model *model, plx_index i)
{
    const plx__member *m = member_at(model, i);
    return m ? m->agreement : NAN;
}
