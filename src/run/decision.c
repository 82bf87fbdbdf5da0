#include "run/decision.h"

#include <math.h>
#include <stdlib.h>

const plx__param_spec plx__decision_params[] = {
    {"decision", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "argmax", 0, 0, "argmax|share",
     "Largest score, or scores shifted so that each class gets its share of the unlabelled samples."},
    {"class_prior", PLX_PARAM_REALS, PLX__NO_FIELD, 0, "labels", 0, 1, "labels",
     "Shares for decision=share: those among the labelled samples, or a list in class order."},
    PLX__PARAM_END};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear interpolation between order statistics; x is sorted, n >= 1. */
static double quantile(const double *x, plx_index n, double q)
{
    double at = q * (double)(n - 1), below = floor(at);
    plx_index i = (plx_index)below;
    return i + 1 < n ? x[i] + (at - below) * (x[i + 1] - x[i]) : x[n - 1];
}

static plx_status class_shares(double *share, plx__run *run)
{
    const plx__problem *p = run->problem;
    plx__value prior;
    PLX_TRY(plx__view_value(&prior, run->ctx, run->settings, "class_prior", NULL));
    if (prior.word < 0 && prior.n_list != p->n_classes)
        PLX_FAIL(run->ctx, PLX_E_ARG, "class_prior lists %lld shares for %lld classes", (long long)prior.n_list,
                 (long long)p->n_classes);
    for (plx_index i = 0; prior.word == 0 && i < p->n; i++)
        if (p->label[i] >= 0) share[p->label[i]] += 1.0 / (double)p->n_labelled;
    for (plx_index c = 0; prior.word < 0 && c < p->n_classes; c++) share[c] = prior.list[c];
    return PLX_OK;
}

static plx_status fit_offsets(plx_mat offset, plx__run *run, plx_cmat scores, const uint8_t *usable)
{
    const plx__problem *p = run->problem;
    double *share = NULL, *column = NULL;
    PLX_TRY(plx__arena_f64(&share, plx__scratch(run->ctx), p->n_classes, 1));
    PLX_TRY(plx__arena_f64(&column, plx__scratch(run->ctx), p->n, 1));
    PLX_TRY(class_shares(share, run));
    for (plx_index c = 0; c < p->n_classes; c++) {
        plx_index count = 0;
        for (plx_index i = 0; i < p->n; i++)
            if (p->label[i] < 0 && usable[i]) column[count++] = scores.data[i * scores.ld + c];
        if (!count) {
            plx__warn(run->ctx,
                      "%s: decision=share needs unlabelled samples and there are none; the largest score decides",
                      run->method->name);
            return PLX_OK;
        }
        qsort(column, (size_t)count, sizeof *column, ascending);
        offset.data[c] = quantile(column, count, 1.0 - share[c]);
    }
    return PLX_OK;
}

plx_status plx__decide(int32_t *label, plx__run *run, plx_cmat scores, const uint8_t *usable)
{
    plx__value decision;
    PLX_TRY(plx__view_value(&decision, run->ctx, run->settings, "decision", NULL));
    if (decision.word == 0) {
        plx__argmax_rows(label, scores);
        return PLX_OK;
    }
    plx_mat offset = {0}, shifted;
    plx_cmat known;
    if (run->fitted) {
        PLX_TRY(plx__store_shaped(&known, run->ctx, run->fitted, "_share", 1, scores.cols));
    } else {
        PLX_TRY(plx__store_new(&offset, run->out, "_share", 1, scores.cols));
        PLX_TRY(fit_offsets(offset, run, scores, usable));
        known = plx__cmat(offset);
    }
    PLX_TRY(plx__arena_mat(&shifted, plx__scratch(run->ctx), scores.rows, scores.cols));
    for (plx_index i = 0; i < scores.rows; i++)
        for (plx_index c = 0; c < scores.cols; c++)
            shifted.data[i * shifted.ld + c] = scores.data[i * scores.ld + c] - known.data[c];
    plx__argmax_rows(label, plx__cmat(shifted));
    return PLX_OK;
}
