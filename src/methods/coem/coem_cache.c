/*
 * Posteriors of very many channels. Every view step needs the posteriors of all channels, because the prior they share has
 * changed, so an iteration computes them as often as the square of the number of channels. With more than a few, exp(L - max L)
 * of every sample and channel is kept, sample by sample in one piece: a posterior then is a product with the prior and a
 * division, without exponentials and without a walk through all channels' memory.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/clones.h"
#include "methods/coem/coem.h"

#ifdef PLX_CHECKED
enum { MANY_CHANNELS = 2 }; /* so that small tests come this way */
#else
enum { MANY_CHANNELS = 8 };
#endif
enum { SAMPLES_AT_A_TIME = 512, LANES = 8 };

double plx__coem_cache_bytes(plx_index n, plx_index n_channels, plx_index padded)
{
    return n_channels <= MANY_CHANNELS ? 0 : (double)n * (double)n_channels * (8 * (double)padded + 1);
}

plx_status plx__coem_open_cache(coem *m)
{
    if (m->n_channels <= MANY_CHANNELS || m->mode == COEM_JOINT) return PLX_OK;
    plx_index rows = m->channels[0].mix.loglik.rows;
    PLX_TRY(plx__arena_f64(&m->cache, plx__scratch(m->ctx), rows * m->n_channels, m->padded));
    return plx__arena_u8(&m->cache_present, plx__scratch(m->ctx), rows * m->n_channels);
}

/* ---- filling ---- */

typedef struct fill_job {
    coem *m;
    plx_index channel, first; /* sample the loop counts from */
} fill_job;

static plx_status fill_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const fill_job *q = arg;
    const coem *m = q->m;
    const coem_channel *ch = &m->channels[q->channel];
    (void)ctx, (void)worker;
    for (plx_index i = q->first + begin; i < q->first + end; i++) {
        const double *loglik = plx__coem_scores(m, q->channel, i);
        plx_index at = (i - m->scored) * m->n_channels + q->channel;
        double *to = m->cache + at * m->padded, top = loglik[0];
        m->cache_present[at] = ch->view.present[i];
        if (!ch->view.present[i]) continue;
        for (plx_index j = 1; j < m->m; j++) top = fmax(top, loglik[j]);
        for (plx_index j = 0; j < m->m; j++) to[j] = exp(loglik[j] - top);
    }
    return PLX_OK;
}

plx_status plx__coem_fill_cache(coem *m, plx_index channel, plx_index begin, plx_index end)
{
    fill_job q = {m, channel, begin};
    return m->cache ? plx__parallel_for(m->ctx, end - begin, SAMPLES_AT_A_TIME, fill_rows, &q) : PLX_OK;
}

/* ---- posteriors ---- */

/* One sample: out += (prior * kept) / its sum over all present channels, the target's into `own`. Padding of `kept` is 0.
 * `stride` is 0 when all channels share the prior. */
typedef struct sample {
    const double *prior, *kept;
    const uint8_t *present;
    plx_index stride, n_channels, padded, target;
    double *own, *others;
} sample;

#define SUM8(x) (((x)[0] + (x)[1]) + ((x)[2] + (x)[3])) + (((x)[4] + (x)[5]) + ((x)[6] + (x)[7]))

/* add_narrow: at most eight components, so that a channel's stay in registers. */
#define DEFINE_ADD(SUFFIX, TARGET, VEC)                                                                                \
    TARGET static void add_narrow##SUFFIX(const sample *q)                                                             \
    {                                                                                                                  \
        VEC others[PLX__VECS(VEC)] = {{0}};                                                                            \
        for (plx_index c = 0; c < q->n_channels; c++) {                                                                \
            VEC e[PLX__VECS(VEC)];                                                                                     \
            if (!q->present[c]) continue;                                                                              \
            for (int v = 0; v < PLX__VECS(VEC); v++)                                                                   \
                e[v] = *(const VEC##u *)(q->prior + c * q->stride + v * PLX__LANES(VEC)) *                             \
                       *(const VEC##u *)(q->kept + c * LANES + v * PLX__LANES(VEC));                                   \
            const double scale = 1 / (SUM8((const double *)e));                                                        \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                e[v] *= scale;                                                                                         \
                if (c == q->target) *(VEC##u *)(q->own + v * PLX__LANES(VEC)) += e[v];                                 \
                else others[v] += e[v];                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        for (int v = 0; v < PLX__VECS(VEC); v++) *(VEC##u *)(q->others + v * PLX__LANES(VEC)) += others[v];            \
    }                                                                                                                  \
    TARGET static void add_wide##SUFFIX(const sample *q)                                                               \
    {                                                                                                                  \
        for (plx_index c = 0; c < q->n_channels; c++) {                                                                \
            const double *prior = q->prior + c * q->stride, *kept = q->kept + c * q->padded;                           \
            double *out = c == q->target ? q->own : q->others;                                                         \
            VEC sum[PLX__VECS(VEC)] = {{0}};                                                                           \
            if (!q->present[c]) continue;                                                                              \
            for (plx_index j = 0; j < q->padded; j += LANES)                                                           \
                for (int v = 0; v < PLX__VECS(VEC); v++) {                                                             \
                    plx_index at = j + v * PLX__LANES(VEC);                                                            \
                    sum[v] += *(const VEC##u *)(prior + at) * *(const VEC##u *)(kept + at);                            \
                }                                                                                                      \
            const double scale = 1 / (SUM8((const double *)sum));                                                      \
            for (plx_index j = 0; j < q->padded; j += PLX__LANES(VEC))                                                 \
                *(VEC##u *)(out + j) += *(const VEC##u *)(prior + j) * *(const VEC##u *)(kept + j) * scale;            \
        }                                                                                                              \
    }

PLX__EACH_WIDTH(DEFINE_ADD)

void plx__coem_cached_posteriors(const coem *m, plx_index i, plx_index target, double *own, double *others)
{
    sample q = {.prior = m->floored,
                .kept = m->cache + (i - m->scored) * m->n_channels * m->padded,
                .present = m->cache_present + (i - m->scored) * m->n_channels,
                .stride = m->own_priors ? m->padded : 0,
                .n_channels = m->n_channels,
                .padded = m->padded,
                .target = target,
                .own = own,
                .others = others};
    memset(own, 0, (size_t)m->padded * sizeof *own);
    memset(others, 0, (size_t)m->padded * sizeof *others);
    if (m->label[i] >= 0) {
        own[m->label[i]] = q.present[target];
        others[m->label[i]] = m->views[i] - q.present[target];
    } else if (m->padded == LANES) PLX__WIDEST(add_narrow)(&q);
    else PLX__WIDEST(add_wide)(&q);
}
