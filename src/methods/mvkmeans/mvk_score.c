/*
 * Cosines between samples and centroids: one sparse (or dense) product per chunk of rows and view, kept in the
 * worker's cache and used up before the next chunk.
 */
#include <math.h>
#include <string.h>

#include "linalg/csr.h"
#include "linalg/dense.h"
#include "methods/mvkmeans/mvkmeans.h"

static plx_status product(const mvk *m, const mvk_channel *ch, const plx__row_part *part, plx_index begin,
                          plx_index end, plx_mat out)
{
    const plx__view *v = part->view;
    plx_cmat columns = plx__csub(plx__cmat(ch->columns), part->first, 0, v->cols, m->k_padded);
    if (v->sparse) return plx__spmm(m->ctx, 1.0, plx__csr_rows(v->csr, begin, end), columns, 0.0, out);
    plx_cmat rows = plx__csub(v->dense, begin, 0, end - begin, v->cols);
    return plx__gemm_serial(m->ctx, 1.0, rows, PLX__N, columns, PLX__N, 0.0, out);
}

plx_status plx__mvk_score_chunk(const mvk *m, mvk_worker *w, plx_index c, plx_index begin, plx_index end)
{
    const mvk_channel *ch = &m->channels[c];
    plx_index rows = end - begin, kp = m->k_padded;
    double *scores = w->scores + c * m->chunk * kp;
    for (plx_index q = 0; q < ch->n_parts; q++) {
        const plx__row_part *part = &ch->parts[q];
        plx_mat out = plx__mat_of(q ? w->spare : scores, rows, kp);
        PLX_TRY(product(m, ch, part, begin, end, out));
        for (plx_index j = 0; j < rows; j++) {
            double f = part->factor[begin + j];
            if (q) plx__axpy(scores + j * kp, f, w->spare + j * kp, kp);
            else plx__scale(scores + j * kp, f, kp);
        }
    }
    return PLX_OK;
}

int plx__mvk_present_rows(const mvk *m, mvk_worker *w, plx_index begin, plx_index j)
{
    int s = 0;
    for (plx_index c = 0; c < m->n_channels; c++)
        if (m->channels[c].present[j]) w->rows[s++] = w->scores + (c * m->chunk + (j - begin)) * m->k_padded;
    return s;
}

int32_t plx__mvk_argmax(const double *x, plx_index k)
{
    double best = x[0];
    bool any = x[0] != 0;
    for (plx_index i = 1; i < k; i++) {
        best = x[i] > best ? x[i] : best;
        any |= x[i] != 0;
    }
    if (!any) return -1;
    int32_t first = 0;
    while (x[first] < best - MVK_TIE) first++;
    return first;
}

void plx__mvk_effective(const mvk *m, mvk_worker *w, int s)
{
    bool product_rule = m->rule == MVK_PROD || m->rule == MVK_HIER_PROD;
    double *x = w->effective;
    if (s == 0) {
        memset(x, 0, (size_t)m->k * sizeof *x);
        return;
    }
    for (plx_index i = 0; i < m->k; i++) x[i] = product_rule ? fmax(w->rows[0][i], 0) : w->rows[0][i];
    for (int v = 1; v < s; v++)
        for (plx_index i = 0; i < m->k; i++) x[i] = product_rule ? x[i] * fmax(w->rows[v][i], 0) : x[i] + w->rows[v][i];
    if (m->rule == MVK_HIER_SUM && m->set->score_scale == MVK_SCALE_MEAN) plx__scale(x, 1.0 / s, m->k);
}
