/*
 * Advice to the user. The rules are coarse on purpose: a warning that is often wrong is not read.
 */
#include "api/advice.h"

#include <string.h>

#include "data/targets.h"

enum { FEW_SAMPLES = 20 }; /* of which it is no surprise that all are of one class */

void plx__advise_problem(plx_context *ctx, const plx__problem *p, const plx_params *settings)
{
    const char *task = plx_params_get(settings, "task");
    if (task && strcmp(task, "regression") == 0) return;
    if (plx__are_targets(p->label_text, p->n))
        plx__warn(ctx,
                  "the labels are %lld different numbers and each is taken for a class; for numbers to predict use a "
                  "method with task=regression",
                  (long long)p->n_classes);
}

static bool constant_scores(const plx__outcome *o)
{
    for (plx_index i = 0; i < o->n; i++)
        for (plx_index c = 0; c < o->scores.cols; c++)
            if (o->scores.data[i * o->scores.ld + c] != o->scores.data[c]) return false;
    return o->scores.cols > 0;
}

void plx__advise_outcome(plx_context *ctx, const plx__outcome *o)
{
    bool classes = o->kind == PLX__OUTCOME_CLASSES || o->kind == PLX__OUTCOME_CLUSTERS;
    if (!classes || o->n < FEW_SAMPLES || !o->label) return;
    plx_index same = 0;
    for (plx_index i = 0; i < o->n; i++) same += o->label[i] && o->label[0] && strcmp(o->label[i], o->label[0]) == 0;
    bool several = o->kind == PLX__OUTCOME_CLUSTERS || o->scores.cols > 1;
    if (several && same == o->n)
        plx__warn(ctx, "all %lld samples get the same label '%.60s'", (long long)o->n, o->label[0]);
    if (o->scores.data && constant_scores(o))
        plx__warn(ctx, "all %lld samples have the same scores: nothing was learned that tells them apart",
                  (long long)o->n);
}
