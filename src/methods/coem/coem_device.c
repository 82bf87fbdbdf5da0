/*
 * The passes of coem on a device: rows, log-likelihoods and responsibilities stay there over all iterations. Tables of
 * the channels whose parameters changed go there; the sums of the target's M step come back with every pass, so that
 * the parameters here are always enough to go on without the device.
 *
 * For sparse multinomial views, whose log-likelihoods are products of the rows with a table.
 */
#include <string.h>

#include "device/device_session.h"
#include "methods/coem/coem.h"

struct coem_device {
    plx__session session;
    plx_device_channel *channel; /* n_channels */
    plx_device_buffer *label;
    plx_device_mat weights; /* n x padded */
    plx_device_mat *fresh;  /* n_channels: cols x padded, sums of an M step */
    bool *dirty;            /* n_channels: its table there is out of date */
    double *sums;           /* of the target of the last pass, here */
    bool paused;            /* parameters are being set without it */
};

static bool can_run_there(const coem *m)
{
    if (!m->ctx->device || m->way != PLX__ALL_AT_ONCE || m->ctx->paging) return false;
    for (plx_index c = 0; c < m->n_channels; c++) {
        const plx__view_mixture *mix = &m->channels[c].mix;
        if (mix->set.likelihood != PLX__MULTINOMIAL || !mix->view->sparse) return false;
    }
    return true;
}

bool plx__coem_there(const coem *m) { return m->on && !m->on->paused; }

/* ---- opening ---- */

static plx_status state_memory(const coem *m, plx__device *dev)
{
    double n = (double)m->n, width = (double)m->padded, bytes = 8 * n * width + 4 * n, work = 0;
    const int flags = plx__device_sweep_flags(m->padded);
    for (plx_index c = 0; c < m->n_channels; c++) {
        plx_ccsr x = m->channels[c].mix.view->csr;
        bytes += plx__device_rows_bytes(dev, plx__points_csr(x), flags) + n + 8 * width * (n + 2 * (double)x.cols);
        work = fmax(work, plx__device_workspace(dev, PLX_DEVICE_OP_SWEEP, m->n, plx__nnz(x), m->padded));
    }
    return plx__device_need(dev, bytes + work, "coem", "use fewer components, or set device to cpu or auto");
}

static plx_status put_channel(coem *m, coem_device *on, plx_index c)
{
    plx__device *dev = on->session.dev;
    const plx__view *view = m->channels[c].mix.view;
    plx_device_channel *ch = &on->channel[c];
    plx_device_buffer *present = NULL;
    plx_device_rows rows;
    PLX_TRY(plx__device_put_rows(&rows, dev, plx__points_csr(view->csr), plx__device_sweep_flags(m->padded)));
    PLX_TRY(plx__device_put_bytes(&present, dev, m->channels[c].view.present, m->n, 1));
    *ch = (plx_device_channel){.x = rows.csr, .present = present};
    PLX_TRY(plx__device_mat(&ch->table, dev, view->cols, m->padded));
    PLX_TRY(plx__device_mat(&on->fresh[c], dev, view->cols, m->padded));
    return plx__device_mat(&ch->score, dev, m->n, m->padded);
}

static plx_status put_all(coem *m, coem_device *on)
{
    plx__device *dev = on->session.dev;
    const plx_device_table *t = plx__device_table(dev);
    if (!t->mixture || !t->spmm) return plx__device_lacks(dev, "mixture");
    PLX_TRY(state_memory(m, dev));
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(put_channel(m, on, c));
    PLX_TRY(plx__device_mat(&on->weights, dev, m->n, m->padded));
    return plx__device_put_bytes(&on->label, dev, m->label, m->n, sizeof(int32_t));
}

static plx_status make(coem_device **out, coem *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index widest = 0;
    for (plx_index c = 0; c < m->n_channels; c++) widest = plx__max(widest, m->channels[c].mix.view->cols);
    PLX_TRY(PLX__ARENA_NEW(out, scratch, 1));
    PLX_TRY(PLX__ARENA_NEW(&(*out)->channel, scratch, m->n_channels));
    PLX_TRY(PLX__ARENA_NEW(&(*out)->fresh, scratch, m->n_channels));
    PLX_TRY(PLX__ARENA_NEW(&(*out)->dirty, scratch, m->n_channels));
    return plx__arena_f64(&(*out)->sums, scratch, widest, m->padded);
}

plx_status plx__coem_device_open(coem *m)
{
    enum { SWEEPS = 20 }; /* nobody knows how many there will be */
    coem_device *on = NULL;
    double entries = 0;
    bool there = false;
    m->on = NULL;
    if (!can_run_there(m)) return PLX_OK;
    for (plx_index c = 0; c < m->n_channels; c++) entries += (double)plx__nnz(m->channels[c].mix.view->csr);
    plx__device_work work = {.what = "coem", .traffic = SWEEPS * 24 * entries, .moved = 24 * entries};
    work.flops = SWEEPS * 4 * entries * (double)m->padded;
    PLX_TRY(make(&on, m));
    PLX_TRY(plx__session_open(&on->session, m->ctx, &work));
    if (!on->session.dev) return PLX_OK;
    PLX_TRY(plx__session_stay(&there, &on->session, put_all(m, on)));
    if (there) m->on = on;
    return PLX_OK;
}

void plx__coem_device_pause(coem *m, bool pause)
{
    if (!m->on) return;
    m->on->paused = pause;
    for (plx_index c = 0; c < m->n_channels; c++) m->on->dirty[c] = true;
}

void plx__coem_device_outdate(coem *m, plx_index channel) { m->on->dirty[channel] = true; }

/* ---- a pass ---- */

static plx_status refresh_tables(coem *m)
{
    coem_device *on = m->on;
    for (plx_index c = 0; c < m->n_channels; c++) {
        on->channel[c].log_prior = plx__coem_log_prior(m, c);
        on->channel[c].refresh = on->dirty[c];
        if (on->dirty[c])
            PLX_TRY(plx__device_write(on->session.dev, on->channel[c].table, plx__cmat(m->channels[c].mix.table)));
    }
    return PLX_OK;
}

static plx_status pass_there(coem *m, coem_pass pass)
{
    coem_device *on = m->on;
    plx__device *dev = on->session.dev;
    const plx_device_table *t = plx__device_table(dev);
    double *sums = m->sums;
    plx_index cols = m->channels[pass.target].mix.view->cols;
    plx_device_mixture q = {.struct_size = sizeof q,
                            .n = m->n,
                            .width = m->padded,
                            .n_channels = m->n_channels,
                            .channel = on->channel,
                            .label = on->label,
                            .joint = m->mode == COEM_JOINT,
                            .target = pass.target,
                            .eta = pass.target_eta,
                            .weights = on->weights,
                            .measure = pass.measure,
                            .measure_eta = pass.eta,
                            .prior = sums,
                            .mass = sums + m->padded,
                            .objective = sums + 2 * m->padded,
                            .loglik = sums + 2 * m->padded + 1};
    PLX_TRY(refresh_tables(m));
    PLX_TRY(plx__poll(m->ctx));
    PLX_TRY(plx__device_did(dev, t->mixture(plx__device_handle(dev), &q), "mixture"));
    memset(on->dirty, 0, (size_t)m->n_channels * sizeof *on->dirty);
    PLX_TRY(plx__device_did(dev,
                            t->spmm(plx__device_handle(dev), 1.0, on->channel[pass.target].x, PLX_DEVICE_TRANSPOSED,
                                    on->weights, 0.0, on->fresh[pass.target]),
                            "spmm"));
    return plx__device_read(dev, plx__mat_of(on->sums, cols, m->padded), on->fresh[pass.target]);
}

/* From here on without: what the passes read is made of the parameters. */
static plx_status go_on_here(coem *m)
{
    m->on = NULL;
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__coem_rescore(m, c));
    return PLX_OK;
}

plx_status plx__coem_device_pass(bool *done, coem *m, coem_pass pass)
{
    *done = false;
    if (!plx__coem_there(m)) return PLX_OK;
    plx_status st = pass_there(m, pass);
    *done = st == PLX_OK;
    return plx__session_gives_up(&m->on->session, &st) ? go_on_here(m) : st;
}

plx_status plx__coem_device_finish(coem *m, plx_index channel, const double *mass)
{
    plx__view_mixture *mix = &m->channels[channel].mix;
    memcpy(mix->fresh.data, m->on->sums, (size_t)(mix->view->cols * m->padded) * sizeof *m->on->sums);
    return plx__view_mixture_finish(mix, mass);
}

/* Log-likelihoods come back for what is told of the samples. */
static plx_status fetch_scores(coem *m)
{
    for (plx_index c = 0; c < m->n_channels; c++)
        PLX_TRY(plx__device_read(m->on->session.dev, m->channels[c].mix.loglik, m->on->channel[c].score));
    return PLX_OK;
}

plx_status plx__coem_device_close(coem *m, plx_status st)
{
    coem_device *on = m->on;
    if (!on) return st;
    if (st == PLX_OK) st = fetch_scores(m);
    if (plx__session_gives_up(&on->session, &st)) return go_on_here(m);
    m->on = NULL;
    return plx__session_close(&on->session, st);
}
