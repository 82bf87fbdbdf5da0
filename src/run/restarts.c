/*
 * The best of several runs: blocks are copied out when a run is the best so far and back at the end.
 */
#include "run/restarts.h"

#include <string.h>

plx_status plx__restarts_keep(plx__restarts *r, void *data, size_t bytes)
{
    plx__restart_block *block = NULL;
    uint8_t *copy = NULL;
    if (r->runs <= 1 || !data || !bytes) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&block, plx__scratch(r->ctx), 1));
    PLX_TRY(plx__arena_u8(&copy, plx__scratch(r->ctx), (plx_index)bytes));
    *block = (plx__restart_block){r->blocks, data, copy, bytes};
    r->blocks = block;
    return PLX_OK;
}

plx_status plx__restarts_keep_mat(plx__restarts *r, plx_mat m)
{
    plx_index length = m.rows ? (m.rows - 1) * m.ld + m.cols : 0; /* what may lie between two rows goes with them */
    return plx__restarts_keep(r, m.data, (size_t)length * sizeof *m.data);
}

static void copy_out(const plx__restarts *r)
{
    for (const plx__restart_block *b = r->blocks; b; b = b->next) memcpy(b->copy, b->data, b->bytes);
}

static void copy_back(const plx__restarts *r)
{
    for (const plx__restart_block *b = r->blocks; b; b = b->next) memcpy(b->data, b->copy, b->bytes);
}

void *plx__restarts_kept(const plx__restarts *r, void *data)
{
    for (const plx__restart_block *b = r->blocks; b; b = b->next)
        if (b->data == data) return b->copy;
    return data;
}

plx_status plx__restarts_run(plx__restarts *r)
{
    plx_index first = r->at;
    for (; r->at < r->runs; r->at++) {
        double objective = 0;
        if (r->at > first && plx__out_of_time(r->ctx)) {
            r->cut = true;
            break;
        }
        PLX_TRY(r->run(r->arg, r->at, &objective));
        if (r->runs == 1) return PLX_OK;
        if (r->at > 0 && !(r->smallest ? objective < r->best : objective > r->best)) continue;
        r->best = objective;
        copy_out(r);
    }
    copy_back(r);
    return PLX_OK;
}
