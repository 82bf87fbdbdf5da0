/*
 * Folding in: the mixture of a new document with A and B fixed. Every round is a step of EM on a concave function, from
 * the uniform mixture.
 */
#include <string.h>

#include "core/parallel.h"
#include "methods/mvplsa/mvplsa.h"

enum { DOCUMENTS_AT_A_TIME = 64 };

typedef struct fold_job {
    mvp *m;
    plx_mat pz;
} fold_job;

static void add_gain(const mvp *m, const mvp_view *v, const mvp_worker *w, plx_index d)
{
    plx_index begin = v->counts.ptr[d];
    plx__plsa_row row = {.col = v->counts.col + begin,
                         .val = v->counts.val + begin,
                         .count = v->counts.ptr[d + 1] - begin,
                         .width = m->width,
                         .table = v->table,
                         .mix = w->mix,
                         .gain = w->gain};
    plx__plsa_row_step(&row);
}

/* mix <- mix * gain, normalised; false: no token left, nothing changes. */
static bool one_round(const mvp *m, const mvp_worker *w, plx_index d)
{
    double sum = 0;
    memset(w->gain, 0, (size_t)m->width * sizeof(double));
    for (plx_index v = 0; v < m->n_views; v++) add_gain(m, &m->views[v], w, d);
    for (plx_index z = 0; z < m->z; z++) sum += w->gain[z] *= w->mix[z];
    if (!(sum > 0)) return false;
    for (plx_index z = 0; z < m->z; z++) {
        w->mix[z] = w->gain[z] / sum;
        if (w->mix[z] < MVP_FLUSH) w->mix[z] = 0;
    }
    return true;
}

static plx_status fold_documents(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const fold_job *job = arg;
    const mvp *m = job->m;
    const mvp_worker *w = &m->workers[worker];
    for (plx_index d = begin; d < end; d++) {
        PLX_TRY(plx__poll(ctx));
        for (plx_index z = 0; z < m->z; z++) w->mix[z] = 1.0 / (double)m->z;
        for (plx_index t = 0; t < m->set->fold_iter; t++)
            if (!one_round(m, w, d)) break;
        memcpy(job->pz.data + d * job->pz.ld, w->mix, (size_t)m->z * sizeof(double));
    }
    return PLX_OK;
}

/* A and B from the model, as tables with a column per class. */
static plx_status read_view(mvp *m, mvp_view *v)
{
    const char *a = NULL, *b = NULL;
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_cmat pf, py;
    PLX_TRY(plx__view_key(&a, m->ctx, "pf", v->name));
    PLX_TRY(plx__view_key(&b, m->ctx, "py", v->name));
    PLX_TRY(plx__store_shaped(&pf, m->ctx, m->run->fitted, a, v->features, v->topics));
    PLX_TRY(plx__store_shaped(&py, m->ctx, m->run->fitted, b, v->topics, m->z));
    v->order = MVP_BY_CLASS;
    v->width = m->width;
    PLX_TRY(plx__mat_clone(&v->a, scratch, pf));
    PLX_TRY(plx__mat_clone(&v->b, scratch, py));
    PLX_TRY(plx__arena_mat(&v->b_power, scratch, v->topics, m->z));
    return plx__arena_f64(&v->table, scratch, v->features, v->width);
}

plx_status plx__mvp_fold(mvp *m, plx_mat pz)
{
    fold_job job = {m, pz};
    PLX_TRY(plx__mvp_open_workers(m));
    for (plx_index v = 0; v < m->n_views; v++) PLX_TRY(read_view(m, &m->views[v]));
    PLX_TRY(plx__mvp_tables(m, 1.0));
    return plx__parallel_for(m->ctx, m->n, DOCUMENTS_AT_A_TIME, fold_documents, &job);
}
