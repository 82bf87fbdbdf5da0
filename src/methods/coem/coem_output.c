/*
 * What coem leaves behind: posteriors and labels of the samples, priors, parameters.
 */
#include <string.h>

#include "core/parallel.h"
#include "linalg/dense.h"
#include "methods/coem/coem.h"

enum { SAMPLES_AT_A_TIME = 512 };

/* ---- samples ---- */

typedef struct finale {
    coem *m;
    plx_mat joint;             /* n x m */
    plx_mat *own;              /* per channel: n x m */
    double *prior, *log_prior; /* padded: for the joint posterior */
    plx_index begin;           /* of the pane */
} finale;

static void own_posterior(const finale *q, coem_worker *w, plx_index i, plx_index c)
{
    coem *m = q->m;
    double *to = q->own[c].data + i * m->m, *z = w->scores;
    const double *loglik = plx__coem_scores(m, c, i);
    const double *prior = m->log_alpha + (m->own_priors ? c * m->padded : 0);
    memset(to, 0, (size_t)m->m * sizeof *to);
    if (!m->channels[c].view.present[i]) return;
    if (m->label[i] >= 0) {
        to[m->label[i]] = 1;
        return;
    }
    for (plx_index j = 0; j < m->padded; j++) z[j] = prior[j] + loglik[j];
    (void)plx__softmax8(z, z, m->padded);
    memcpy(to, z, (size_t)m->m * sizeof *to);
}

/* Eq. 18, 19: all present channels together; the prior where there is none. */
static void joint_posterior(const finale *q, coem_worker *w, plx_index i)
{
    coem *m = q->m;
    double *to = q->joint.data + i * m->m, *z = w->posterior;
    if (m->label[i] >= 0) {
        memset(to, 0, (size_t)m->m * sizeof *to);
        to[m->label[i]] = 1;
        return;
    }
    if (!m->views[i]) {
        memcpy(to, q->prior, (size_t)m->m * sizeof *to);
        return;
    }
    memcpy(z, q->log_prior, (size_t)m->padded * sizeof *z);
    for (plx_index c = 0; c < m->n_channels; c++)
        if (m->channels[c].view.present[i]) plx__axpy(z, 1.0, plx__coem_scores(m, c, i), m->padded);
    (void)plx__softmax8(z, z, m->padded);
    memcpy(to, z, (size_t)m->m * sizeof *to);
}

static plx_status finish_samples(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const finale *q = arg;
    coem_worker *w = &q->m->workers[worker];
    (void)ctx;
    for (plx_index i = q->begin + begin; i < q->begin + end; i++) {
        for (plx_index c = 0; c < q->m->n_channels; c++) own_posterior(q, w, i, c);
        joint_posterior(q, w, i);
    }
    return PLX_OK;
}

static plx_status finish_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *none)
{
    finale *q = arg;
    (void)none;
    q->begin = begin;
    PLX_TRY(plx__coem_open_pane(q->m, begin, end));
    return plx__parallel_for(ctx, end - begin, SAMPLES_AT_A_TIME, finish_samples, q);
}

static plx_status share_posteriors(const finale *q)
{
    coem *m = q->m;
    PLX_TRY(plx__share_rows(m->run, m->cut.slabs, q->joint));
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__share_rows(m->run, m->cut.slabs, q->own[c]));
    return PLX_OK;
}

/* The prior of the joint posterior: the one there is, or the mean of the channels' own. */
static plx_status joint_prior(finale *q)
{
    coem *m = q->m;
    plx_index rows = m->own_priors ? m->n_channels : 1;
    PLX_TRY(plx__arena_f64(&q->prior, plx__scratch(m->ctx), m->padded, 1));
    PLX_TRY(plx__arena_f64(&q->log_prior, plx__scratch(m->ctx), m->padded, 1));
    for (plx_index r = 0; r < rows; r++) plx__axpy(q->prior, 1 / (double)rows, m->alpha + r * m->padded, m->padded);
    plx__log_floored8(q->log_prior, q->prior, m->padded);
    for (plx_index j = m->m; j < m->padded; j++) q->log_prior[j] = PLX__PAD_SCORE;
    return PLX_OK;
}

plx_status plx__coem_write_samples(coem *m)
{
    plx__run *run = m->run;
    finale q = {.m = m};
    int32_t *label = NULL;
    const char *name = NULL;
    PLX_TRY(PLX__ARENA_NEW(&q.own, plx__scratch(m->ctx), m->n_channels));
    PLX_TRY(plx__sample_array(&q.joint, run, "posterior", m->m));
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(plx__view_key(&name, m->ctx, "posterior", m->channels[c].name));
        PLX_TRY(plx__sample_array(&q.own[c], run, name, m->m));
    }
    PLX_TRY(joint_prior(&q));
    PLX_TRY(plx__slabs_each(m->ctx, m->cut.slabs, finish_pane, &q));
    PLX_TRY(share_posteriors(&q));
    PLX_TRY(plx__require_finite(run, plx__cmat(q.joint), "posteriors"));
    plx_cmat joint = plx__kept_part(run, q.joint);
    PLX_TRY(plx__arena_i32(&label, plx__scratch(m->ctx), joint.rows));
    plx__argmax_rows(label, joint);
    if (m->seeded) return plx__outcome_classes(run, label, joint);
    return plx__outcome_clusters(run, label, m->m, joint);
}

/* ---- parameters ---- */

plx_status plx__coem_write_model(coem *m)
{
    plx_index rows = m->own_priors ? m->n_channels : 1;
    double seeded = m->seeded;
    plx_mat out;
    PLX_TRY(plx__store_put(m->run->out, "_seeded", plx__cmat_of(&seeded, 1, 1)));
    PLX_TRY(plx__store_new(&out, m->run->out, "alpha", rows, m->m));
    for (plx_index r = 0; r < rows; r++)
        memcpy(out.data + r * out.ld, m->alpha + r * m->padded, (size_t)m->m * sizeof *out.data);
    for (plx_index c = 0; c < m->n_channels; c++) {
        const plx__view_mixture *mix = &m->channels[c].mix;
        const char *name = NULL;
        PLX_TRY(plx__view_key(&name, m->ctx, "theta", m->channels[c].name));
        PLX_TRY(plx__store_new(&out, m->run->out, name, m->m, m->channels[c].view.cols));
        plx__view_mixture_get(out, mix);
        if (!plx__has_variance(mix->set.likelihood)) continue;
        PLX_TRY(plx__view_key(&name, m->ctx, "var", m->channels[c].name));
        PLX_TRY(plx__store_put(m->run->out, name, plx__cmat(mix->var)));
    }
    return PLX_OK;
}

plx_status plx__coem_read_model(coem *m)
{
    const plx__store *fitted = m->run->fitted;
    plx_index rows = m->own_priors ? m->n_channels : 1;
    plx_cmat alpha, theta, var = {0};
    PLX_TRY(plx__store_shaped(&alpha, m->ctx, fitted, "alpha", rows, m->m));
    for (plx_index r = 0; r < rows; r++)
        memcpy(m->alpha + r * m->padded, alpha.data + r * alpha.ld, (size_t)m->m * sizeof *m->alpha);
    plx__coem_log_priors(m);
    for (plx_index c = 0; c < m->n_channels; c++) {
        plx__view_mixture *mix = &m->channels[c].mix;
        const char *name = NULL;
        PLX_TRY(plx__view_key(&name, m->ctx, "theta", m->channels[c].name));
        PLX_TRY(plx__store_shaped(&theta, m->ctx, fitted, name, m->m, m->channels[c].view.cols));
        if (plx__has_variance(mix->set.likelihood)) {
            PLX_TRY(plx__view_key(&name, m->ctx, "var", m->channels[c].name));
            PLX_TRY(plx__store_shaped(&var, m->ctx, fitted, name, m->m, mix->var.cols));
        }
        plx__view_mixture_set(mix, theta, var);
        if (m->way != PLX__BRIEF) PLX_TRY(plx__view_mixture_scores(mix));
    }
    return PLX_OK;
}
