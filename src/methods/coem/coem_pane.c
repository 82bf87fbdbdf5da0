/*
 * Panes of samples. In memory the log-likelihoods of all samples are kept and a channel's are computed anew when its
 * parameters change. When the context streams, arrays of samples x components would be the largest of all and would be
 * written and read with every step; so nothing of that size is kept: each pass computes what it needs of one pane after
 * the other from the rows themselves (`brief`). A pass then has products with the rows of all channels instead of one.
 * Several processes sum up the M step during the pass, pane by pane, and keep the log-likelihoods of their own samples
 * where there is room for them. The numbers, and the order in which they are added, are always the same.
 */
#include "core/parallel.h"
#include "linalg/dense.h"
#include "methods/coem/coem.h"

plx_status plx__coem_open_pane(coem *m, plx_index begin, plx_index end)
{
    if (m->way != PLX__ALL_AT_ONCE) m->first = begin;
    if (m->way != PLX__BRIEF) return PLX_OK;
    m->scored = begin;
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(plx__view_mixture_score_pane(&m->channels[c].mix, begin, end));
        PLX_TRY(plx__coem_fill_cache(m, c, begin, end));
    }
    return PLX_OK;
}

plx_status plx__coem_rescore(coem *m, plx_index channel)
{
    plx_index begin = 0, end = 0;
    if (m->way == PLX__BRIEF) return PLX_OK;
    if (plx__coem_there(m)) {
        plx__coem_device_outdate(m, channel);
        return PLX_OK;
    }
    PLX_TRY(plx__view_mixture_scores(&m->channels[channel].mix));
    plx__slabs_mine(&begin, &end, m->ctx, m->cut.slabs);
    return plx__coem_fill_cache(m, channel, begin, end);
}

typedef struct lesson {
    coem *m;
    plx_index channel;
    coem_fill_fn fill;
    void *arg;
} lesson;

static plx_status teach_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const lesson *q = arg;
    coem *m = q->m;
    (void)ctx;
    m->first = begin;
    q->fill(q->arg, m, q->channel, begin, end);
    return plx__view_mixture_add(&m->channels[q->channel].mix, m->weights, begin, end, table);
}

plx_status plx__coem_teach(coem *m, plx_index channel, coem_fill_fn fill, void *arg, const double *mass)
{
    plx__view_mixture *mix = &m->channels[channel].mix;
    lesson q = {m, channel, fill, arg};
    if (m->way != PLX__ALL_AT_ONCE) {
        plx_index width = mix->view->cols * m->padded;
        PLX_TRY(plx__slabs_sum(m->ctx, m->cut.slabs, width, teach_pane, &q, mix->fresh.data));
        PLX_TRY(plx__view_mixture_finish(mix, mass));
    } else {
        fill(arg, m, channel, 0, m->n);
        PLX_TRY(plx__view_mixture_m_step(mix, m->weights, mass));
    }
    return plx__coem_rescore(m, channel);
}
