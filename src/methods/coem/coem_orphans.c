/*
 * Classes without a labelled sample in some channel (init=labels): that component alone starts from what the other
 * channels say. Sample i weighs w_ic = mean over its channels u that know class c of P_u[i,c], the posterior of u's start
 * model over the classes u knows (one-hot for labelled samples); one M step of the component with these weights. All
 * weights come from the models before any of these steps.
 */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "methods/coem/coem.h"

/* Which classes have a labelled sample in which channel: n_channels x m. */
static plx_status find_known(uint8_t **out, const coem *m)
{
    PLX_TRY(plx__arena_u8(out, plx__scratch(m->ctx), m->n_channels * m->m));
    for (plx_index c = 0; c < m->n_channels; c++)
        for (plx_index i = 0; i < m->n; i++)
            if (m->label[i] >= 0 && m->channels[c].view.present[i]) (*out)[c * m->m + m->label[i]] = 1;
    return PLX_OK;
}

plx_status plx__coem_check_classes(const coem *m)
{
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    uint8_t *known = NULL;
    PLX_TRY(find_known(&known, m));
    for (plx_index j = 0; j < m->m; j++) {
        bool met = false;
        for (plx_index c = 0; c < m->n_channels; c++) met |= known[c * m->m + j];
        if (!met)
            PLX_FAIL(
                m->ctx, PLX_E_DATA,
                "coem: class '%s' has no labelled sample with a view that is used; label one or choose another init",
                m->run->problem->classes[j]);
    }
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return PLX_OK;
}

static void warn_of_orphans(const coem *m, const uint8_t *known)
{
    plx_index count = 0, first = -1;
    for (plx_index k = 0; k < m->n_channels * m->m; k++) {
        if (known[k]) continue;
        if (first < 0) first = k;
        count++;
    }
    if (!count) return;
    const char *class = m->run->problem->classes[first % m->m], *view = m->channels[first / m->m].name;
    if (count == 1)
        plx__warn(m->ctx, "coem: class '%s' has no labelled sample in view '%s'; it starts there from the other views",
                  class, view);
    else
        plx__warn(m->ctx,
                  "coem: %lld times a class has no labelled sample in a view, e.g. class '%s' in view '%s'; it starts "
                  "there from the other views",
                  (long long)count, class, view);
}

/* Posterior of sample i by channel c over the classes the channel knows; 0 for the others. */
static void known_posterior(const coem *m, const uint8_t *known, plx_index c, plx_index i, double *out)
{
    const double *loglik = plx__coem_scores(m, c, i), *prior = plx__coem_log_prior(m, c);
    memset(out, 0, (size_t)m->padded * sizeof *out);
    if (m->label[i] >= 0) {
        out[m->label[i]] = 1;
        return;
    }
    for (plx_index j = 0; j < m->padded; j++)
        out[j] = j < m->m && known[c * m->m + j] ? prior[j] + loglik[j] : PLX__PAD_SCORE;
    (void)plx__softmax8(out, out, m->padded);
    for (plx_index j = 0; j < m->m; j++)
        if (!known[c * m->m + j]) out[j] = 0;
}

/* w of sample i for all classes; `room` has two padded rows. */
static void weigh_sample(const coem *m, const uint8_t *known, plx_index i, double *room, double *w)
{
    double *posterior = room, *met = room + m->padded;
    memset(met, 0, (size_t)m->padded * sizeof *met);
    for (plx_index c = 0; c < m->n_channels; c++) {
        if (!m->channels[c].view.present[i]) continue;
        known_posterior(m, known, c, i, posterior);
        for (plx_index j = 0; j < m->m; j++) {
            w[j] += posterior[j];
            met[j] += known[c * m->m + j];
        }
    }
    for (plx_index j = 0; j < m->m; j++) w[j] = met[j] > 0 ? w[j] / met[j] : 0;
}

typedef struct orphans {
    coem *m;
    uint8_t *known; /* n_channels x m */
    plx_mat w;      /* n x padded */
    double *room;   /* two padded rows */
} orphans;

static plx_status weigh_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *none)
{
    const orphans *q = arg;
    (void)ctx, (void)none;
    PLX_TRY(plx__coem_open_pane(q->m, begin, end));
    for (plx_index i = begin; i < end; i++) weigh_sample(q->m, q->known, i, q->room, q->w.data + i * q->w.ld);
    return PLX_OK;
}

/* Weights of the channel's unknown classes only. */
static void fill_unknown(void *arg, coem *m, plx_index c, plx_index begin, plx_index end)
{
    const orphans *q = arg;
    for (plx_index i = begin; i < end; i++) {
        double *to = plx__coem_weights(m, i);
        memset(to, 0, (size_t)m->padded * sizeof *to);
        if (!m->channels[c].view.present[i]) continue;
        for (plx_index j = 0; j < m->m; j++)
            if (!q->known[c * m->m + j]) to[j] = q->w.data[i * q->w.ld + j];
    }
}

/* M step of the channel's unknown classes; components without mass keep what they have. */
static plx_status start_unknown(coem *m, const orphans *q, plx_index c, double *mass)
{
    memset(mass, 0, (size_t)m->padded * sizeof *mass);
    for (plx_index i = 0; i < m->n; i++)
        for (plx_index j = 0; m->channels[c].view.present[i] && j < m->m; j++)
            if (!q->known[c * m->m + j]) mass[j] += q->w.data[i * q->w.ld + j];
    return plx__coem_teach(m, c, fill_unknown, (void *)(uintptr_t)q, mass);
}

static bool knows_all(const uint8_t *known, plx_index count) { return !memchr(known, 0, (size_t)count); }

plx_status plx__coem_start_orphans(coem *m, double *mass)
{
    orphans q = {.m = m};
    PLX_TRY(find_known(&q.known, m));
    if (knows_all(q.known, m->n_channels * m->m)) return PLX_OK;
    warn_of_orphans(m, q.known);
    PLX_TRY(plx__arena_f64(&q.room, plx__scratch(m->ctx), 2, m->padded));
    PLX_TRY(plx__arena_mat(&q.w, plx__scratch(m->ctx), m->n, m->padded));
    PLX_TRY(plx__slabs_each(m->ctx, m->cut.slabs, weigh_pane, &q));
    PLX_TRY(plx__slabs_share(m->ctx, m->cut.slabs, q.w.data, (size_t)m->padded * sizeof(double), 1));
    for (plx_index c = 0; c < m->n_channels; c++)
        if (!knows_all(q.known + c * m->m, m->m)) PLX_TRY(start_unknown(m, &q, c, mass));
    return PLX_OK;
}
