/*
 * Advice to the user. The rules are coarse on purpose: a warning that is often wrong is not read.
 */
#include "api/advice.h"

#include <string.h>

#include "core/ranks.h"
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

/* What all samples are compared with: label and scores of the first one, of rank 0. */
typedef struct first_sample {
    const char *label;
    const double *scores;
} first_sample;

static plx_status first_of(first_sample *out, plx_context *ctx, const plx__outcome *o)
{
    double *row = NULL, column = -1; /* then the label */
    *out = (first_sample){o->n ? o->label[0] : NULL, o->scores.data};
    if (!o->bound) return PLX_OK;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), o->scores.cols + 1, 1));
    for (plx_index c = 0; out->label && c < o->scores.cols; c++)
        if (strcmp(o->columns[c], out->label) == 0) column = (double)c;
    if (o->n && o->scores.cols) memcpy(row, o->scores.data, (size_t)o->scores.cols * sizeof *row);
    row[o->scores.cols] = column;
    PLX_TRY(plx__peers_spread(ctx, 0, row, (size_t)(o->scores.cols + 1) * sizeof *row));
    column = row[o->scores.cols];
    *out = (first_sample){column < 0 ? NULL : o->columns[(plx_index)column], row};
    return PLX_OK;
}

static bool has_scores(const plx__outcome *o, plx_index i, const double *scores)
{
    for (plx_index c = 0; c < o->scores.cols; c++)
        if (o->scores.data[i * o->scores.ld + c] != scores[c]) return false;
    return true;
}

plx_status plx__advise_outcome(plx_context *ctx, const plx__outcome *o)
{
    bool classes = o->kind == PLX__OUTCOME_CLASSES || o->kind == PLX__OUTCOME_CLUSTERS;
    plx_index n = plx__outcome_samples(ctx, o);
    int64_t alike[2] = {0, 0}; /* samples with that label; with those scores */
    first_sample first;
    if (!classes || n < FEW_SAMPLES || (!o->label && !o->bound)) return PLX_OK;
    PLX_TRY(first_of(&first, ctx, o));
    for (plx_index i = 0; i < o->n; i++) {
        alike[0] += o->label[i] && first.label && strcmp(o->label[i], first.label) == 0;
        alike[1] +=
            alike[1] == i && has_scores(o, i, first.scores); /* the others do not matter after one that differs */
    }
    if (o->bound) PLX_TRY(plx__peers_total(ctx, alike, 2));
    bool several = o->kind == PLX__OUTCOME_CLUSTERS || o->scores.cols > 1;
    if (several && alike[0] == n)
        plx__warn(ctx, "all %lld samples get the same label '%.60s'", (long long)n, first.label);
    if (o->scores.cols && alike[1] == n)
        plx__warn(ctx, "all %lld samples have the same scores: nothing was learned that tells them apart",
                  (long long)n);
    return PLX_OK;
}
