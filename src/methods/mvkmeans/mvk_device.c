/*
 * The sweeps of mvkmeans on a device: rows, labels and factors stay there over all iterations; centroids go there and
 * sums come back. Labels come back with every assignment, so that the CPU can go on at any step.
 */
#include <string.h>

#include "device/device_session.h"
#include "methods/mvkmeans/mvkmeans.h"

struct mvk_device {
    plx__session session;
    plx_device_channel *channel; /* n_channels */
    plx_device_buffer **factor;  /* n_channels */
    plx_device_buffer *label, *fixed;
    plx_device_mat *sums; /* n_channels: k x cols */
    bool fresh;           /* the labels there are those here */
};

/* One class per sample, by sums or products of cosines of sparse rows. */
static bool can_run_there(const mvk *m)
{
    if (!m->ctx->device || m->ctx->paging || m->programs || m->hier || m->rule == MVK_COTRAIN || m->own_score)
        return false;
    for (plx_index c = 0; c < m->n_channels; c++)
        if (m->channels[c].n_parts != 1 || !m->channels[c].parts[0].view->sparse) return false;
    return true;
}

static double entries_of(const mvk *m)
{
    double sum = 0;
    for (plx_index c = 0; c < m->n_channels; c++) sum += (double)plx__nnz(m->channels[c].parts[0].view->csr);
    return sum;
}

static plx__points rows_of(const mvk *m, plx_index c) { return plx__points_csr(m->channels[c].parts[0].view->csr); }

/* ---- opening ---- */

static plx_status state_memory(const mvk *m, plx__device *dev)
{
    double n = (double)m->n, bytes = 5 * n, work = 0;
    const int flags = plx__device_sweep_flags(m->k_padded);
    for (plx_index c = 0; c < m->n_channels; c++) {
        double cols = (double)m->channels[c].cols;
        bytes += plx__device_rows_bytes(dev, rows_of(m, c), flags) + 9 * n + 8 * cols * (double)(m->k + m->k_padded);
        work =
            fmax(work, plx__device_workspace(dev, PLX_DEVICE_OP_SWEEP, m->n, plx__nnz(rows_of(m, c).csr), m->k_padded));
    }
    return plx__device_need(dev, bytes + work, "mvkmeans", "use fewer classes, or set device to cpu or auto");
}

static plx_status put_channel(mvk *m, mvk_device *on, plx_index c)
{
    plx__device *dev = on->session.dev;
    const mvk_channel *ch = &m->channels[c];
    plx_device_buffer *present = NULL;
    plx_device_rows rows;
    PLX_TRY(plx__device_put_rows(&rows, dev, rows_of(m, c), plx__device_sweep_flags(m->k_padded)));
    PLX_TRY(plx__device_put_bytes(&present, dev, ch->present, m->n, 1));
    PLX_TRY(plx__device_put_bytes(&on->factor[c], dev, ch->parts[0].factor, m->n, sizeof(double)));
    PLX_TRY(plx__device_mat(&on->sums[c], dev, m->k, ch->cols));
    on->channel[c] = (plx_device_channel){.x = rows.csr, .present = present};
    return plx__device_mat(&on->channel[c].table, dev, ch->cols, m->k_padded);
}

static plx_status put_all(mvk *m, mvk_device *on)
{
    plx__device *dev = on->session.dev;
    const plx_device_table *t = plx__device_table(dev);
    if (!t->assign || !t->class_sums) return plx__device_lacks(dev, "assign");
    PLX_TRY(state_memory(m, dev));
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(put_channel(m, on, c));
    PLX_TRY(plx__device_put_bytes(&on->fixed, dev, m->labelled, m->n, 1));
    return plx__device_bytes(&on->label, dev, m->n, sizeof(int32_t));
}

plx_status plx__mvk_device_open(mvk *m)
{
    enum { SWEEPS = 20 }; /* nobody knows how many there will be */
    double entries = 0;
    mvk_device *on = NULL;
    bool there = false;
    m->on = NULL;
    if (!can_run_there(m)) return PLX_OK;
    entries = entries_of(m);
    plx__device_work work = {.what = "mvkmeans", .traffic = SWEEPS * 24 * entries, .moved = 24 * entries};
    work.flops = SWEEPS * 4 * entries * (double)m->k;
    PLX_TRY(PLX__ARENA_NEW(&on, plx__scratch(m->ctx), 1));
    PLX_TRY(PLX__ARENA_NEW(&on->channel, plx__scratch(m->ctx), m->n_channels));
    PLX_TRY(PLX__ARENA_NEW(&on->factor, plx__scratch(m->ctx), m->n_channels));
    PLX_TRY(PLX__ARENA_NEW(&on->sums, plx__scratch(m->ctx), m->n_channels));
    PLX_TRY(plx__session_open(&on->session, m->ctx, &work));
    if (!on->session.dev) return PLX_OK;
    PLX_TRY(plx__session_stay(&there, &on->session, put_all(m, on)));
    if (there) m->on = on;
    return PLX_OK;
}

plx_status plx__mvk_device_close(mvk *m, plx_status st)
{
    mvk_device *on = m->on;
    m->on = NULL;
    return on ? plx__session_close(&on->session, st) : st;
}

void plx__mvk_device_begin(mvk *m)
{
    if (m->on) m->on->fresh = false;
}

/* ---- steps ---- */

static plx_status put_labels(mvk *m)
{
    mvk_device *on = m->on;
    plx__device *dev = on->session.dev;
    if (on->fresh) return PLX_OK;
    return plx__device_did(dev,
                           plx__device_table(dev)->write_bytes(plx__device_handle(dev), on->label, 0, m->label,
                                                               m->n * (int64_t)sizeof *m->label),
                           "write_bytes");
}

static plx_status assign_there(mvk *m, mvk_step *out)
{
    mvk_device *on = m->on;
    plx__device *dev = on->session.dev;
    const plx_device_table *t = plx__device_table(dev);
    int64_t flips = 0, without = 0, free = 0;
    plx_device_assign q = {.struct_size = sizeof q,
                           .n = m->n,
                           .k = m->k,
                           .n_channels = m->n_channels,
                           .channel = on->channel,
                           .factor = on->factor,
                           .product = m->rule == MVK_PROD,
                           .tie = MVK_TIE,
                           .fallback = m->fallback_class,
                           .fixed = on->fixed,
                           .label = on->label,
                           .objective = &out->objective,
                           .flips = &flips,
                           .without = &without};
    PLX_TRY(put_labels(m));
    for (plx_index c = 0; c < m->n_channels; c++)
        PLX_TRY(plx__device_write(dev, on->channel[c].table, plx__cmat(m->channels[c].columns)));
    PLX_TRY(plx__poll(m->ctx));
    PLX_TRY(plx__device_did(dev, t->assign(plx__device_handle(dev), &q), "assign"));
    PLX_TRY(plx__device_did(
        dev, t->read_bytes(plx__device_handle(dev), m->label, on->label, 0, m->n * (int64_t)sizeof *m->label),
        "read_bytes"));
    on->fresh = true;
    out->flips = flips;
    for (int w = 0; w < m->n_workers; w++) memset(m->workers[w].served, 0, sizeof m->workers[w].served);
    for (plx_index i = 0; i < m->n; i++) free += !m->labelled[i];
    m->workers[0].served[MVK_NO_EVIDENCE] = without;
    m->workers[0].served[MVK_ARGMAX] = free - without;
    return PLX_OK;
}

static plx_status sums_there(mvk *m, plx_index c)
{
    mvk_device *on = m->on;
    plx__device *dev = on->session.dev;
    PLX_TRY(put_labels(m));
    PLX_TRY(plx__device_did(dev,
                            plx__device_table(dev)->class_sums(plx__device_handle(dev), on->channel[c].x, on->label,
                                                               on->factor[c], m->k, on->sums[c]),
                            "class_sums"));
    return plx__device_read(dev, plx__mat_of(m->sums, m->k, m->channels[c].cols), on->sums[c]);
}

/* A step that fails for the device is left to the CPU, and all that follow it, unless this device was asked for. */
static plx_status settle(bool *done, mvk *m, plx_status st)
{
    *done = st == PLX_OK;
    if (plx__session_gives_up(&m->on->session, &st)) m->on = NULL;
    return st;
}

plx_status plx__mvk_device_assign(bool *done, mvk *m, mvk_step *out)
{
    *done = false;
    if (!m->on) return PLX_OK;
    *out = (mvk_step){0, 0};
    return settle(done, m, assign_there(m, out));
}

plx_status plx__mvk_device_sums(bool *done, mvk *m, plx_index c, const int32_t *label)
{
    *done = false;
    return m->on && label == m->label ? settle(done, m, sums_there(m, c)) : PLX_OK;
}
