/*
 * The mixture of kcomplete: its start, the number of its components, and its place in the model.
 */
#include <math.h>
#include <string.h>

#include "run/start_file.h"
#include "methods/kcomplete/kcomplete.h"
#include "run/facts.h"

typedef struct listener {
    kc *c;
    plx__trace trace;
} listener;

static plx_status told(void *arg, plx_index iteration, double mean_log_likelihood)
{
    listener *l = arg;
    return plx__iterate(l->c->run, &l->trace, "em", iteration, l->c->set->em_iter, mean_log_likelihood);
}

/* ---- start ---- */

static plx_status open_start(plx_mat *start, kc *c, plx_index *components)
{
    *start = (plx_mat){0};
    if (strcmp(c->set->init, "auto") == 0) return PLX_OK;
    if (!plx__starts_with(c->set->init, "file:") || !c->set->init[5])
        PLX_FAIL(c->ctx, PLX_E_ARG, "init = %s: expected auto or file:F", c->set->init);
    PLX_TRY(plx__responsibilities_read(start, c->run, c->set->init, *components, NULL));
    *components = start->cols;
    return PLX_OK;
}

/* ---- number of components ---- */

static plx_status check_size(kc *c, plx_index components, plx_index d)
{
    double entries = (double)components * (double)d * (double)d;
    if (c->set->covariance != PLX__COV_FULL || entries <= 268435456.0) return PLX_OK;
    PLX_FAIL(c->ctx, PLX_E_DATA, "kcomplete: %lld components of %lld features are too large; use covariance=diag",
             (long long)components, (long long)d);
}

typedef struct candidate {
    plx__incomplete_mixture mix;
    plx__incomplete_result result;
    plx__trace trace;
    double bic;
} candidate;

static plx_status fit_candidate(candidate *out, kc *c, const kc_rows *rows, plx_index components, plx_cmat start)
{
    listener l = {.c = c};
    plx__incomplete_options o = {.components = components,
                                 .shape = (plx__cov_shape)c->set->covariance,
                                 .cov_reg = c->set->cov_reg,
                                 .max_iter = c->set->em_iter,
                                 .tol = c->set->em_tol,
                                 .start = start,
                                 .what = "kcomplete",
                                 .told = told,
                                 .arg = &l};
    PLX_TRY(check_size(c, components, rows->x.cols));
    PLX_TRY(plx__incomplete_fit(&out->mix, &out->result, c->ctx, plx__scratch(c->ctx), &rows->data, &o));
    double n = (double)rows->data.usable;
    out->bic =
        -2 * n * out->result.log_likelihood + plx__incomplete_parameters(components, o.shape, 1, rows->block) * log(n);
    out->trace = l.trace;
    return PLX_OK;
}

static plx_status tell(kc *c, const candidate *best)
{
    PLX_TRY(plx__finish(c->run, &best->trace, best->result.iterations, best->result.converged,
                        best->result.log_likelihood));
    if (!(best->result.jitter > 0)) return PLX_OK;
    return plx__report_number(c->run, "jitter", best->result.jitter);
}

plx_status plx__kc_fit_mixture(kc *c, const kc_rows *rows)
{
    plx__value value;
    plx_mat start;
    candidate best = {0}, next;
    PLX_TRY(plx__view_value(&value, c->ctx, c->run->settings, "components", NULL));
    plx_index components = value.word >= 0 ? 0 : (plx_index)value.number;
    PLX_TRY(open_start(&start, c, &components));
    if (!rows->data.usable) PLX_FAIL(c->ctx, PLX_E_DATA, "kcomplete: no sample has an observed entry");
    PLX_TRY(fit_candidate(&best, c, rows, components ? components : 1, plx__cmat(start)));
    plx_index most = components ? 1 : plx__min(c->set->max_components, rows->data.usable);
    for (plx_index z = 2; z <= most; z++) {
        PLX_TRY(fit_candidate(&next, c, rows, z, (plx_cmat){0}));
        if (next.bic < best.bic) best = next;
    }
    c->mix = best.mix;
    return tell(c, &best);
}

/* ---- in the model ---- */

static plx_status put_cov(kc *c)
{
    plx__incomplete_mixture *m = &c->mix;
    plx_mat full;
    if (m->shape == PLX__COV_FULL) return plx__store_put(c->run->out, "gmm_cov", plx__cmat(m->cov));
    PLX_TRY(plx__store_put(c->run->out, "_variance", plx__cmat(m->cov)));
    if ((double)m->k * (double)m->d * (double)m->d > 268435456.0)
        return PLX_OK; /* diagonal: too many zeros to write out */
    PLX_TRY(plx__store_new(&full, c->run->out, "gmm_cov", m->k * m->d, m->d));
    plx__mat_fill(full, 0.0);
    for (plx_index z = 0; z < m->k; z++)
        for (plx_index j = 0; j < m->d; j++) full.data[(z * m->d + j) * full.ld + j] = m->cov.data[z * m->cov.ld + j];
    return PLX_OK;
}

plx_status plx__kc_put_mixture(kc *c)
{
    PLX_TRY(plx__store_put(c->run->out, "gmm_weight", (plx_cmat){c->mix.weight, c->mix.k, 1, 1}));
    PLX_TRY(plx__store_put(c->run->out, "gmm_mean", plx__cmat(c->mix.mean)));
    return put_cov(c);
}

static plx_status take(plx_mat *out, kc *c, const char *name, plx_index rows, plx_index cols)
{
    plx_cmat m;
    PLX_TRY(plx__store_shaped(&m, c->ctx, c->run->fitted, name, rows, cols));
    return plx__mat_clone(out, plx__scratch(c->ctx), m);
}

plx_status plx__kc_load_mixture(kc *c, plx_index d)
{
    bool full = c->set->covariance == PLX__COV_FULL;
    plx_mat weight;
    c->mix = (plx__incomplete_mixture){.d = d, .shape = (plx__cov_shape)c->set->covariance};
    PLX_TRY(take(&weight, c, "gmm_weight", -1, 1));
    c->mix.k = weight.rows;
    c->mix.weight = weight.data;
    PLX_TRY(take(&c->mix.mean, c, "gmm_mean", c->mix.k, d));
    return take(&c->mix.cov, c, full ? "gmm_cov" : "_variance", full ? c->mix.k * d : c->mix.k, d);
}
