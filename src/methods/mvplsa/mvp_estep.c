/*
 * E step: one pass over the documents. For every document and view M = U C (A W), R = O / M and U'R (A'R) come from one
 * loop over its entries (mixture/plsa_kernel.c), which also adds R C' to the sums G of the document's block. Blocks are
 * fixed, so the sums are the same for every number of threads.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "methods/mvplsa/mvplsa.h"

/* ---- tables ---- */

typedef struct table_job {
    const mvp *m;
    mvp_view *view;
    double temper;
} table_job;

static plx_status table_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const table_job *job = arg;
    mvp_view *v = job->view;
    for (plx_index f = begin; f < end; f += MVP_FEATURE_BLOCK) {
        plx_index rows = plx__min(end - f, MVP_FEATURE_BLOCK);
        plx_cmat a = plx__csub(plx__cmat(v->a), f, 0, rows, v->topics);
        if (job->temper != 1) {
            plx_mat power = plx__mat_of(job->m->workers[worker].power, rows, v->topics);
            for (plx_index i = 0; i < rows * v->topics; i++) power.data[i] = pow(a.data[i], job->temper);
            a = plx__cmat(power);
        }
        plx_mat table = {v->table + f * v->width, rows, v->order == MVP_BY_CLASS ? job->m->z : v->topics, v->width};
        if (v->order == MVP_BY_CLASS)
            PLX_TRY(plx__gemm_serial(ctx, 1.0, a, PLX__N, plx__cmat(v->b_power), PLX__N, 0.0, table));
        else plx__mat_copy(table, a);
    }
    return PLX_OK;
}

plx_status plx__mvp_tables(mvp *m, double temper)
{
    for (plx_index i = 0; i < m->n_views; i++) {
        mvp_view *v = &m->views[i];
        table_job job = {m, v, temper};
        for (plx_index k = 0; k < v->topics * m->z; k++)
            v->b_power.data[k] = temper == 1 ? v->b.data[k] : pow(v->b.data[k], temper);
        plx_index grain = plx__max(MVP_FEATURE_BLOCK, v->features / MVP_FEATURE_CHUNKS + 1);
        PLX_TRY(plx__parallel_for(m->ctx, v->features, grain, table_rows, &job));
    }
    return PLX_OK;
}

/* ---- documents ---- */

typedef struct e_job {
    mvp *m;
    double temper;
    bool full;
    plx_index first; /* block the loop counts from */
} e_job;

/* mix = B c, gain += B' h, b_counts += h c': the part of a view with fewer topics than classes. */
static void to_topics(double *topic_mix, const mvp *m, const mvp_view *v, const double *mix)
{
    for (plx_index y = 0; y < v->topics; y++) topic_mix[y] = plx__dot(v->b_power.data + y * m->z, mix, m->z);
}

static void from_topics(double *gain, const mvp *m, const mvp_view *v, const double *topic_gain)
{
    for (plx_index y = 0; y < v->topics; y++) plx__axpy(gain, topic_gain[y], v->b_power.data + y * m->z, m->z);
}

static double document_view(const e_job *job, const mvp_view *v, mvp_worker *w, const double *mix, plx_index block,
                            plx_index d)
{
    const mvp *m = job->m;
    plx_index begin = v->counts.ptr[d];
    bool by_topic = v->order == MVP_BY_TOPIC;
    plx_index count = v->counts.ptr[d + 1] - begin;
    plx__plsa_row row = {.col = v->counts.col + begin,
                         .val = v->counts.val + begin,
                         .count = count,
                         .beyond = plx__nnz(v->counts) - begin - count,
                         .width = v->width,
                         .table = v->table,
                         .mix = mix,
                         .likelihood = job->temper == 1 || !job->full};
    if (!row.count) return 0;
    if (by_topic) {
        to_topics(w->topic_mix, m, v, mix);
        row.mix = w->topic_mix;
    }
    if (job->full) {
        row.gain = by_topic ? w->topic_gain : w->gain;
        row.scatter = v->scatter + block * v->features * v->width;
        if (by_topic) memset(w->topic_gain, 0, (size_t)v->width * sizeof(double));
    }
    double likelihood = plx__plsa_row_step(&row);
    if (by_topic && job->full) {
        double *counts = v->b_counts + block * v->topics * m->z;
        from_topics(w->gain, m, v, w->topic_gain);
        for (plx_index y = 0; y < v->topics; y++) plx__axpy(counts + y * m->z, w->topic_gain[y], mix, m->z);
    }
    return likelihood;
}

/* next = c * gain, normalised; labelled documents and documents without a token keep what they have. */
static void new_mixture(double *next, const double *old, const double *mix, const double *gain, const mvp *m,
                        bool given)
{
    double sum = 0;
    for (plx_index z = 0; z < m->z; z++) sum += next[z] = mix[z] * gain[z];
    if (given || !(sum > 0)) {
        memcpy(next, old, (size_t)m->z * sizeof *next);
        return;
    }
    for (plx_index z = 0; z < m->z; z++) {
        next[z] /= sum;
        if (next[z] < MVP_FLUSH) next[z] = 0;
    }
}

static void clear_sums(const e_job *job, plx_index block)
{
    for (plx_index i = 0; i < job->m->n_views; i++) {
        const mvp_view *v = &job->m->views[i];
        plx_index scatter = v->features * v->width, counts = v->topics * job->m->z;
        memset(v->scatter + block * scatter, 0, (size_t)scatter * sizeof(double));
        if (v->b_counts) memset(v->b_counts + block * counts, 0, (size_t)counts * sizeof(double));
    }
}

static plx_status e_block(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const e_job *job = arg;
    mvp *m = job->m;
    mvp_worker *w = &m->workers[worker];
    (void)end;
    begin += job->first;
    if (job->full) clear_sums(job, begin);
    m->block_sum[begin] = 0;
    for (plx_index d = m->start[begin]; d < m->start[begin + 1]; d++) {
        const double *c = m->c + d * m->width, *mix = c;
        if ((d & 1023) == 0) PLX_TRY(plx__poll(ctx));
        if (job->temper != 1) {
            for (plx_index z = 0; z < m->z; z++) w->mix[z] = pow(c[z], job->temper);
            mix = w->mix;
        }
        memset(w->gain, 0, (size_t)m->width * sizeof(double));
        for (plx_index v = 0; v < m->n_views; v++)
            m->block_sum[begin] += document_view(job, &m->views[v], w, mix, begin, d);
        if (job->full) new_mixture(m->next + d * m->width, c, mix, w->gain, m, m->run->problem->label[d] >= 0);
    }
    return PLX_OK;
}

void plx__mvp_blocks_of(plx_index *first, plx_index *last, const plx_context *ctx, plx_index count, int rank)
{
    plx_index ranks = plx__ranks(ctx), each = (count + ranks - 1) / ranks;
    *first = plx__min(count, rank * each);
    *last = plx__min(count, *first + each);
}

/* What a process made of a block, to all. */
static plx_status share_block(mvp *m, int owner, plx_index b, bool full)
{
    PLX_TRY(plx__peers_spread(m->ctx, owner, &m->block_sum[b], sizeof *m->block_sum));
    if (!full) return PLX_OK;
    for (plx_index i = 0; i < m->n_views; i++) {
        const mvp_view *v = &m->views[i];
        plx_index scatter = v->features * v->width, counts = v->topics * m->z;
        PLX_TRY(plx__peers_spread(m->ctx, owner, v->scatter + b * scatter, (size_t)scatter * sizeof(double)));
        if (v->b_counts)
            PLX_TRY(plx__peers_spread(m->ctx, owner, v->b_counts + b * counts, (size_t)counts * sizeof(double)));
    }
    return PLX_OK;
}

plx_status plx__mvp_share(mvp *m, double *by_document, plx_index width)
{
    if (plx__ranks(m->ctx) == 1) return PLX_OK;
    return plx__bound_share(m->ctx, m->bound, by_document, (size_t)width * sizeof *by_document);
}

static plx_status share_blocks(mvp *m, bool full)
{
    if (full && m->run->checkpoint) PLX_TRY(plx__mvp_share(m, m->next, m->width));
    for (int r = 0; plx__ranks(m->ctx) > 1 && r < plx__ranks(m->ctx); r++) {
        plx_index first = 0, last = 0;
        plx__mvp_blocks_of(&first, &last, m->ctx, m->n_blocks, r);
        for (plx_index b = first; b < last; b++) PLX_TRY(share_block(m, r, b, full));
    }
    return PLX_OK;
}

plx_status plx__mvp_e_step(mvp *m, double temper, bool full, double *likelihood)
{
    e_job job = {.m = m, .temper = temper, .full = full};
    plx_index last = 0;
    bool done = false;
    PLX_TRY(plx__mvp_device_step(&done, m, full, likelihood));
    if (done) return PLX_OK;
    plx__mvp_blocks_of(&job.first, &last, m->ctx, m->n_blocks, plx__rank(m->ctx));
    PLX_TRY(plx__parallel_for(m->ctx, last - job.first, 1, e_block, &job));
    PLX_TRY(share_blocks(m, full));
    *likelihood = plx__sum(m->block_sum, m->n_blocks);
    return PLX_OK;
}
