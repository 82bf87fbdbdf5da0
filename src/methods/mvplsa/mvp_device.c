/*
 * The E step of mvplsa on a device: counts stay there over all iterations. Tables go there with every step, sums over the
 * documents come back, and so do their mixtures, with which the CPU can go on at any step.
 *
 * For models whose rows are as wide as the classes are many (U = A B, or plsa), without tempering.
 */
#include <string.h>

#include "device/device_session.h"
#include "methods/mvplsa/mvplsa.h"

struct mvp_device {
    plx__session session;
    plx_device_rows *counts;         /* n_views */
    plx_device_mat *table, *scatter; /* n_views: features x width */
    plx_device_mat mix, gain;        /* n x width */
    plx_device_buffer *label;
};

static bool can_run_there(const mvp *m)
{
    bool can = m->ctx->device && !m->ctx->paging && m->set->temper == 1;
    for (plx_index v = 0; v < m->n_views; v++)
        can &= m->views[v].order != MVP_BY_TOPIC && m->views[v].width == m->width;
    return can;
}

/* ---- opening ---- */

static plx_status state_memory(const mvp *m, plx__device *dev)
{
    double bytes = 16 * (double)m->n * (double)m->width + 4 * (double)m->n, work = 0;
    for (plx_index v = 0; v < m->n_views; v++) {
        const mvp_view *view = &m->views[v];
        plx__points rows = plx__points_csr(view->counts);
        bytes += plx__device_rows_bytes(dev, rows, plx__device_sweep_flags(view->width)) +
                 16 * (double)view->features * (double)view->width;
        work = fmax(work, plx__device_workspace(dev, PLX_DEVICE_OP_SWEEP, m->n, plx__nnz(view->counts), view->width));
    }
    return plx__device_need(dev, bytes + work, "mvplsa", "use fewer classes, or set device to cpu or auto");
}

static plx_status put_all(mvp *m, mvp_device *on)
{
    plx__device *dev = on->session.dev;
    const plx_device_table *t = plx__device_table(dev);
    if (!t->plsa || !t->plsa_mixture) return plx__device_lacks(dev, "plsa");
    PLX_TRY(state_memory(m, dev));
    for (plx_index v = 0; v < m->n_views; v++) {
        const mvp_view *view = &m->views[v];
        PLX_TRY(plx__device_put_rows(&on->counts[v], dev, plx__points_csr(view->counts),
                                     plx__device_sweep_flags(view->width)));
        PLX_TRY(plx__device_mat(&on->table[v], dev, view->features, view->width));
        PLX_TRY(plx__device_mat(&on->scatter[v], dev, view->features, view->width));
    }
    PLX_TRY(plx__device_mat(&on->mix, dev, m->n, m->width));
    PLX_TRY(plx__device_mat(&on->gain, dev, m->n, m->width));
    return plx__device_put_bytes(&on->label, dev, m->run->problem->label, m->n, sizeof(int32_t));
}

plx_status plx__mvp_device_open(mvp *m)
{
    double entries = 0, sweeps = (double)plx__min(20, m->set->max_iter);
    mvp_device *on = NULL;
    bool there = false;
    m->on = NULL;
    if (!can_run_there(m)) return PLX_OK;
    for (plx_index v = 0; v < m->n_views; v++) entries += (double)plx__nnz(m->views[v].counts);
    plx__device_work work = {.what = "mvplsa", .traffic = sweeps * 24 * entries, .moved = 24 * entries};
    work.flops = sweeps * 6 * entries * (double)m->width;
    work.moved += sweeps * 16 * (double)m->n * (double)m->width;
    PLX_TRY(PLX__ARENA_NEW(&on, plx__scratch(m->ctx), 1));
    PLX_TRY(PLX__ARENA_NEW(&on->counts, plx__scratch(m->ctx), m->n_views));
    PLX_TRY(PLX__ARENA_NEW(&on->table, plx__scratch(m->ctx), m->n_views));
    PLX_TRY(PLX__ARENA_NEW(&on->scatter, plx__scratch(m->ctx), m->n_views));
    PLX_TRY(plx__session_open(&on->session, m->ctx, &work));
    if (!on->session.dev) return PLX_OK;
    PLX_TRY(plx__session_stay(&there, &on->session, put_all(m, on)));
    if (there) m->on = on;
    return PLX_OK;
}

plx_status plx__mvp_device_close(mvp *m, plx_status st)
{
    mvp_device *on = m->on;
    m->on = NULL;
    return on ? plx__session_close(&on->session, st) : st;
}

/* ---- the step ---- */

static plx_status step_view(mvp *m, plx_index v, bool full, double *likelihood)
{
    mvp_device *on = m->on;
    plx__device *dev = on->session.dev;
    mvp_view *view = &m->views[v];
    plx_device_plsa q = {.struct_size = sizeof q, .counts = on->counts[v].csr, .table = on->table[v], .mix = on->mix};
    q.likelihood = likelihood;
    if (full) {
        q.gain = on->gain;
        q.scatter = on->scatter[v];
    }
    PLX_TRY(plx__device_write(dev, on->table[v], plx__cmat_of(view->table, view->features, view->width)));
    PLX_TRY(plx__poll(m->ctx));
    return plx__device_did(dev, plx__device_table(dev)->plsa(plx__device_handle(dev), &q), "plsa");
}

/* All sums are in the first block, the others are empty. */
static plx_status fetch_sums(mvp *m)
{
    mvp_device *on = m->on;
    for (plx_index v = 0; v < m->n_views; v++) {
        mvp_view *view = &m->views[v];
        plx_index size = view->features * view->width;
        PLX_TRY(
            plx__device_read(on->session.dev, plx__mat_of(view->scatter, view->features, view->width), on->scatter[v]));
        memset(view->scatter + size, 0, (size_t)((m->n_blocks - 1) * size) * sizeof *view->scatter);
    }
    return PLX_OK;
}

static plx_status step_there(mvp *m, bool full, double *likelihood)
{
    mvp_device *on = m->on;
    plx__device *dev = on->session.dev;
    double sum = 0;
    PLX_TRY(plx__device_write(dev, on->mix, plx__cmat_of(m->c, m->n, m->width)));
    if (full) PLX_TRY(plx__device_fill(dev, on->gain, 0.0));
    for (plx_index v = 0; v < m->n_views; v++) {
        double own = 0;
        PLX_TRY(step_view(m, v, full, &own));
        sum += own;
    }
    *likelihood = sum;
    if (!full) return PLX_OK;
    PLX_TRY(plx__device_did(dev,
                            plx__device_table(dev)->plsa_mixture(plx__device_handle(dev), on->gain, on->mix, on->gain,
                                                                 on->label, MVP_FLUSH),
                            "plsa_mixture"));
    PLX_TRY(fetch_sums(m));
    return plx__device_read(dev, plx__mat_of(m->next, m->n, m->width), on->gain);
}

plx_status plx__mvp_device_step(bool *done, mvp *m, bool full, double *likelihood)
{
    *done = false;
    if (!m->on) return PLX_OK;
    plx_status st = step_there(m, full, likelihood);
    *done = st == PLX_OK;
    if (plx__session_gives_up(&m->on->session, &st)) m->on = NULL;
    return st;
}
