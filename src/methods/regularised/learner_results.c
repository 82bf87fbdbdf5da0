/*
 * What fits of these classifiers leave and say: rows of samples, the prior where nothing reaches, limits that were met.
 */
#include <string.h>

#include "core/tally.h"
#include "methods/regularised/learner.h"

plx_status plx__put_rows(plx__run *run, const char *name, const plx_index *sample, const plx_index *position,
                         plx_cmat from)
{
    plx_mat to;
    plx_index begin = 0, end = 0;
    PLX_TRY(plx__sample_array(&to, run, name, from.cols));
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = 0; i < from.rows; i++) {
        plx_index at = sample[position ? position[i] : i];
        plx__breathe(run->ctx, i);
        if (at < begin || at >= end) continue;
        memcpy(to.data + at * to.ld, from.data + i * from.ld, (size_t)from.cols * sizeof(double));
    }
    return PLX_OK;
}

/* ---- samples out of reach ---- */

plx_status plx__prior_rows(plx__run *run, plx_mat scores, int32_t *label, const uint8_t *usable, const char *why)
{
    const plx__problem *p = run->problem;
    const double *shares = NULL;
    int32_t majority = 0;
    plx_index without = 0, begin = 0, end = 0;
    for (plx_index i = 0; i < p->n; i++) without += !usable[i];
    if (!without) return PLX_OK;
    PLX_TRY(plx__prior_get(&shares, &majority, run->ctx, run->fitted ? run->fitted : run->out, p->n_classes));
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = begin; i < end; i++) {
        if (usable[i]) continue;
        memcpy(scores.data + i * scores.ld, shares, (size_t)scores.cols * sizeof *shares);
        label[i - begin] = majority;
    }
    plx__warn_samples(run->ctx, without, NULL,
                      "%s: " PLX__COUNT_HERE " samples %s and get the most frequent class '%s'", run->method->name, why,
                      p->classes[majority]);
    return PLX_OK;
}

void plx__warn_unsolved(const plx__run *run, plx_index iterations, plx_index max_iter)
{
    const char *name = run->method->name;
    if (plx__out_of_time(run->ctx))
        plx__warn(run->ctx, "%s: the time limit ended the solver before it reached tol; results are approximate", name);
    else if (max_iter && iterations >= max_iter)
        plx__warn(run->ctx, "%s: max_iter = %lld ended the solver before it reached tol; raise it", name,
                  (long long)max_iter);
    else
        plx__warn(
            run->ctx,
            "%s: the solver made no more progress before it reached tol; scale the views or raise the norm's weight",
            name);
}
