/*
 * One pass over the samples: local posteriors of all channels from their log-likelihoods, responsibilities of the
 * channel that is next, and everything that is summed over samples. Posteriors are used up sample by sample and never
 * stored. Sums are kept per block of samples and added in order, slab by slab.
 *
 * Layout of the sums: prior (padded), mass of the target (padded), objective, log-likelihood of every channel.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/dense.h"
#include "methods/coem/coem.h"

enum { SAMPLES_AT_A_TIME = 512 };

typedef struct job {
    coem *m;
    coem_pass pass;
    plx_index begin; /* of the pane */
} job;

plx_index plx__coem_width(const coem *m) { return 2 * m->padded + 1 + m->n_channels; }

const double *plx__coem_log_prior(const coem *m, plx_index c)
{
    return m->log_alpha + (m->own_priors ? c * m->padded : 0);
}

/* ---- one sample ---- */

static void one_hot(double *row, plx_index padded, int32_t j)
{
    memset(row, 0, (size_t)padded * sizeof *row);
    row[j] = 1;
}

/* scores = log prior + log-likelihood and its softmax, channel by channel. */
static void local_posteriors(const coem *m, coem_worker *w, plx_index i, double *loglik)
{
    for (plx_index c = 0; c < m->n_channels; c++) {
        double *z = w->scores + c * m->padded, *p = w->posterior + c * m->padded;
        if (!m->channels[c].view.present[i]) continue;
        const double *own = plx__coem_scores(m, c, i), *prior = plx__coem_log_prior(m, c);
        for (plx_index j = 0; j < m->padded; j++) z[j] = prior[j] + own[j];
        loglik[c] += plx__softmax8(p, z, m->padded);
        if (m->label[i] >= 0) one_hot(p, m->padded, m->label[i]);
    }
}

/* joint: one posterior from the product of the likelihoods; the channels' scores stay as they are. */
static void joint_posterior(const coem *m, coem_worker *w, plx_index i)
{
    double *p = NULL;
    for (plx_index c = 0; c < m->n_channels; c++) {
        const double *own = plx__coem_scores(m, c, i);
        if (!m->channels[c].view.present[i]) continue;
        if (p) plx__axpy(p, 1.0, own, m->padded);
        else {
            p = w->posterior + c * m->padded;
            for (plx_index j = 0; j < m->padded; j++) p[j] = m->log_alpha[j] + own[j];
        }
    }
    if (!p) return;
    if (m->label[i] >= 0) one_hot(p, m->padded, m->label[i]);
    else (void)plx__softmax8(p, p, m->padded);
    for (plx_index c = 0; c < m->n_channels; c++) {
        double *to = w->posterior + c * m->padded;
        if (m->channels[c].view.present[i] && to != p) memcpy(to, p, (size_t)m->padded * sizeof *to);
    }
}

/* Eq. 13: (1 - eta) P_v + eta / (a - 1) sum of the other channels' P. */
static void responsibilities(const coem *m, const coem_worker *w, plx_index i, plx_index target, double eta,
                             double *out)
{
    const double *own = w->posterior + target * m->padded;
    double share = eta / (m->views[i] - 1.0);
    if (m->views[i] < 2 || eta == 0 || m->mode == COEM_JOINT) {
        memcpy(out, own, (size_t)m->padded * sizeof *out);
        return;
    }
    for (plx_index j = 0; j < m->padded; j++) out[j] = (1 - eta) * own[j];
    for (plx_index c = 0; c < m->n_channels; c++)
        if (c != target && m->channels[c].view.present[i])
            plx__axpy(out, share, w->posterior + c * m->padded, m->padded);
}

/* sum_v R_v . z_v with z_v = log alpha + L_v, R_v spelled out: (1 - eta - share) P_v . z_v + share T . z_v, where T is the
 * sum of all P. Linear in the number of channels. */
static double objective_of(const coem *m, coem_worker *w, plx_index i, double eta)
{
    bool mixed = m->views[i] >= 2 && m->mode != COEM_JOINT;
    double share = mixed ? eta / (m->views[i] - 1.0) : 0, own = mixed ? 1 - eta - share : 1, sum = 0;
    memset(w->total, 0, (size_t)m->padded * sizeof *w->total);
    for (plx_index v = 0; share > 0 && v < m->n_channels; v++)
        if (m->channels[v].view.present[i]) plx__axpy(w->total, share, w->posterior + v * m->padded, m->padded);
    for (plx_index v = 0; v < m->n_channels; v++) {
        if (!m->channels[v].view.present[i]) continue;
        const double *z = w->scores + v * m->padded;
        sum += own * plx__dot(w->posterior + v * m->padded, z, m->padded) + plx__dot(w->total, z, m->padded);
    }
    return sum;
}

static void add_priors(const coem *m, const coem_worker *w, plx_index i, double *sum)
{
    if (m->own_priors) return; /* the target's mass is what counts */
    for (plx_index c = 0; c < m->n_channels; c++) {
        if (!m->channels[c].view.present[i]) continue;
        plx__axpy(sum, 1.0, w->posterior + c * m->padded, m->padded);
        if (m->mode == COEM_JOINT) return;
    }
}

/* The same as visit() without measuring, from what is kept of the likelihoods. */
static void visit_cached(const job *q, coem_worker *w, plx_index i, double *sums)
{
    coem *m = q->m;
    double *out = plx__coem_weights(m, i), *mass = sums + m->padded, *own = w->posterior, *others = w->total;
    double eta = m->views[i] < 2 ? 0 : q->pass.target_eta, share = eta / fmax(1, m->views[i] - 1);
    plx__coem_cached_posteriors(m, i, q->pass.target, own, others);
    bool present = m->channels[q->pass.target].view.present[i];
    for (plx_index j = 0; j < m->padded; j++) {
        out[j] = present ? (1 - eta) * own[j] + share * others[j] : 0;
        mass[j] += out[j];
        if (!m->own_priors) sums[j] += own[j] + others[j];
    }
}

static void visit(const job *q, coem_worker *w, plx_index i, double *sums)
{
    coem *m = q->m;
    double *out = plx__coem_weights(m, i), *mass = sums + m->padded;
    if (!m->views[i]) return;
    if (m->cache && !q->pass.measure) {
        visit_cached(q, w, i, sums);
        return;
    }
    local_posteriors(m, w, i, mass + m->padded + 1);
    if (m->mode == COEM_JOINT) joint_posterior(m, w, i);
    if (m->channels[q->pass.target].view.present[i]) {
        responsibilities(m, w, i, q->pass.target, q->pass.target_eta, out);
        plx__axpy(mass, 1.0, out, m->padded);
    } else memset(out, 0, (size_t)m->padded * sizeof *out);
    add_priors(m, w, i, sums);
    if (q->pass.measure) mass[m->padded] += objective_of(m, w, i, q->pass.eta);
}

/* ---- all samples ---- */

/* Blocks of the pane that starts at q->begin. */
static plx_status visit_block(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const job *q = arg;
    plx_index width = plx__coem_width(q->m);
    double *sums = q->m->partials + begin / SAMPLES_AT_A_TIME * width;
    (void)ctx;
    memset(sums, 0, (size_t)width * sizeof *sums);
    for (plx_index i = begin; i < end; i++) visit(q, &q->m->workers[worker], q->begin + i, sums);
    return PLX_OK;
}

/* The table of a pass by panes has the target's M step before the sums. */
static plx_status visit_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    job *q = arg;
    coem *m = q->m;
    plx__view_mixture *mix = &m->channels[q->pass.target].mix;
    plx_index width = plx__coem_width(m), step = m->way == PLX__ALL_AT_ONCE ? 0 : mix->view->cols * m->padded;
    q->begin = begin;
    PLX_TRY(plx__coem_open_pane(m, begin, end));
    PLX_TRY(plx__parallel_for(ctx, end - begin, SAMPLES_AT_A_TIME, visit_block, q));
    for (plx_index b = 0; b * SAMPLES_AT_A_TIME < end - begin; b++)
        plx__axpy(table + step, 1.0, m->partials + b * width, width);
    return m->way == PLX__ALL_AT_ONCE ? PLX_OK : plx__view_mixture_add(mix, m->weights, begin, end, table);
}

plx_status plx__coem_make_room(coem *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    bool whole = m->way == PLX__ALL_AT_ONCE;
    plx_index pane = plx__min(m->n, m->cut.slabs.pane), widest = 0;
    plx_index blocks = (pane + SAMPLES_AT_A_TIME - 1) / SAMPLES_AT_A_TIME;
    for (plx_index c = 0; c < m->n_channels; c++) widest = plx__max(widest, m->channels[c].view.cols);
    PLX_TRY(plx__arena_mat(&m->weights, scratch, whole ? m->n : pane, m->padded));
    if (!whole) plx__keep_at_hand(m->ctx, m->weights.data);
    PLX_TRY(plx__arena_f64(&m->sums, scratch, plx__coem_width(m), 1));
    if (!whole) PLX_TRY(plx__arena_f64(&m->table, scratch, widest * m->padded + plx__coem_width(m), 1));
    return plx__arena_f64(&m->partials, scratch, blocks, plx__coem_width(m));
}

plx_status plx__coem_posteriors(coem *m, coem_pass pass)
{
    job q = {.m = m, .pass = pass};
    plx__view_mixture *mix = &m->channels[pass.target].mix;
    plx_index width = plx__coem_width(m), step = mix->view->cols * m->padded;
    bool done = false;
    PLX_TRY(plx__coem_device_pass(&done, m, pass));
    if (done) return PLX_OK;
    if (m->way == PLX__ALL_AT_ONCE) return plx__slabs_sum(m->ctx, m->cut.slabs, width, visit_pane, &q, m->sums);
    PLX_TRY(plx__slabs_sum(m->ctx, m->cut.slabs, step + width, visit_pane, &q, m->table));
    memcpy(mix->fresh.data, m->table, (size_t)step * sizeof *m->table);
    memcpy(m->sums, m->table + step, (size_t)width * sizeof *m->sums);
    return PLX_OK;
}

const double *plx__coem_mass(const coem *m) { return m->sums + m->padded; }
double plx__coem_objective(const coem *m) { return m->sums[2 * m->padded]; }
const double *plx__coem_loglik(const coem *m) { return m->sums + 2 * m->padded + 1; }

/* ---- priors ---- */

/* (prior_smoothing + sum_j) / (prior_smoothing m + count). */
void plx__coem_prior_from(coem *m, plx_index row, const double *sum, double count)
{
    double s = m->set->prior_smoothing, *alpha = m->alpha + row * m->padded;
    for (plx_index j = 0; j < m->m; j++)
        alpha[j] = (s + (sum[j] > PLX__LEAST_MASS ? sum[j] : 0)) / (s * (double)m->m + count);
    plx__coem_log_priors(m);
}

void plx__coem_set_prior(coem *m, plx_index channel)
{
    if (m->own_priors)
        plx__coem_prior_from(m, channel, plx__coem_mass(m), (double)m->channels[channel].view.present_count);
    else plx__coem_prior_from(m, 0, m->sums, m->mode == COEM_JOINT ? m->covered : m->pairs);
}

void plx__coem_log_priors(coem *m)
{
    for (plx_index r = 0; r < (m->own_priors ? m->n_channels : 1); r++)
        for (plx_index j = 0; j < m->padded; j++) {
            double a = j < m->m ? fmax(m->alpha[r * m->padded + j], 1e-300) : 0;
            m->floored[r * m->padded + j] = a;
            m->log_alpha[r * m->padded + j] = j < m->m ? log(a) : PLX__PAD_SCORE;
        }
}
