/*
 * Neighbours block by block, so that lists and rows are all that is on the device at once; eigenpairs there and back.
 */
#include "device/anywhere.h"

#include <math.h>
#include <string.h>

#include "device/device_session.h"
#include "linalg/eigen.h"

enum { QUERIES = 16384, REFERENCES = 65536 }; /* of a block */

/* ---- neighbours ---- */

typedef struct search {
    plx__device *dev;
    const plx__knn_options *o;
    plx_device_rows queries, references;
    plx_index n_queries, n_references;
    plx_device_buffer **present; /* one per block of references; NULL: all are */
    plx_device_buffer *index, *distance;
} search;

static plx_device_rows part(plx_device_rows all, plx_index begin, plx_index end)
{
    plx_device_rows out = {.csr = all.csr, .first = begin, .count = end - begin};
    if (!all.csr) out.dense = plx__device_sub(all.dense, begin, 0, end - begin, all.dense.cols);
    return out;
}

static plx_status put_flags(search *s)
{
    plx_index blocks = (s->n_references + REFERENCES - 1) / REFERENCES;
    if (!s->o->present) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&s->present, plx__scratch(plx__device_context(s->dev)), blocks));
    for (plx_index b = 0; b < blocks; b++) {
        plx_index count = plx__min(REFERENCES, s->n_references - b * REFERENCES);
        PLX_TRY(plx__device_put_bytes(&s->present[b], s->dev, s->o->present + b * REFERENCES, count, 1));
    }
    return PLX_OK;
}

/* Lists with nobody in them. */
static plx_status clear_lists(search *s, int64_t *index, double *distance, plx_index count)
{
    const plx_device_table *t = plx__device_table(s->dev);
    plx_device *d = plx__device_handle(s->dev);
    for (plx_index i = 0; i < count * s->o->k; i++) {
        index[i] = -1;
        distance[i] = INFINITY;
    }
    PLX_TRY(plx__device_did(s->dev, t->write_bytes(d, s->index, 0, index, count * s->o->k * (int64_t)sizeof *index),
                            "write_bytes"));
    return plx__device_did(s->dev,
                           t->write_bytes(d, s->distance, 0, distance, count * s->o->k * (int64_t)sizeof *distance),
                           "write_bytes");
}

static plx_status search_block(search *s, plx_index begin, plx_index end, int64_t *index, double *distance)
{
    const plx_device_table *t = plx__device_table(s->dev);
    plx_device *d = plx__device_handle(s->dev);
    int64_t bytes = (end - begin) * s->o->k * (int64_t)sizeof(double);
    plx_device_knn step = {.struct_size = sizeof step, .queries = part(s->queries, begin, end), .k = s->o->k};
    step.metric = s->o->metric == PLX__COSINE ? PLX_DEVICE_COSINE_DISTANCE : PLX_DEVICE_EUCLID;
    step.first_query = s->o->self ? begin : -1;
    step.index = s->index;
    step.distance = s->distance;
    PLX_TRY(clear_lists(s, index, distance, end - begin));
    for (plx_index at = 0; at < s->n_references; at += REFERENCES) {
        PLX_TRY(plx__poll(plx__device_context(s->dev)));
        step.references = part(s->references, at, plx__min(s->n_references, at + REFERENCES));
        step.first_reference = at;
        step.present = s->present ? s->present[at / REFERENCES] : NULL;
        PLX_TRY(plx__device_did(s->dev, t->knn(d, &step), "knn"));
    }
    PLX_TRY(plx__device_did(s->dev, t->read_bytes(d, index, s->index, 0, bytes), "read_bytes"));
    return plx__device_did(s->dev, t->read_bytes(d, distance, s->distance, 0, bytes), "read_bytes");
}

/* Absent queries have no neighbours, and nobody is not far away but not a number. */
static void finish_lists(const search *s, int64_t *index, double *distance)
{
    const uint8_t *present = s->o->self ? s->o->present : s->o->query_present;
    for (plx_index i = 0; i < s->n_queries; i++)
        for (plx_index j = i * s->o->k; j < (i + 1) * s->o->k; j++) {
            if (present && !present[i]) index[j] = -1;
            if (index[j] < 0) distance[j] = NAN;
        }
}

static plx_status search_there(search *s, plx__points queries, plx__points references, int64_t *index, double *distance)
{
    plx_index k = s->o->k, block = plx__min(QUERIES, s->n_queries);
    double bytes = plx__device_rows_bytes(s->dev, references, 0) + 16.0 * (double)block * (double)k +
                   (double)s->n_references +
                   plx__device_workspace(s->dev, PLX_DEVICE_OP_KNN, block, plx__min(REFERENCES, s->n_references), k);
    if (!plx__device_table(s->dev)->knn) return plx__device_lacks(s->dev, "knn");
    if (!s->o->self) bytes += plx__device_rows_bytes(s->dev, queries, 0);
    PLX_TRY(plx__device_need(s->dev, bytes, "the search for neighbours", "set device to cpu or auto"));
    PLX_TRY(plx__device_put_rows(&s->references, s->dev, references, 0));
    s->queries = s->references;
    if (!s->o->self) PLX_TRY(plx__device_put_rows(&s->queries, s->dev, queries, 0));
    PLX_TRY(put_flags(s));
    PLX_TRY(plx__device_bytes(&s->index, s->dev, block * k, sizeof(int64_t)));
    PLX_TRY(plx__device_bytes(&s->distance, s->dev, block * k, sizeof(double)));
    for (plx_index at = 0; at < s->n_queries; at += QUERIES)
        PLX_TRY(search_block(s, at, plx__min(s->n_queries, at + QUERIES), index + at * k, distance + at * k));
    finish_lists(s, index, distance);
    return PLX_OK;
}

static double entries(plx__points p)
{
    if (!plx__points_sparse(p)) return (double)p.dense.rows * (double)p.dense.cols;
    return (double)(p.csr.ptr[p.csr.rows] - p.csr.ptr[0]);
}

plx_status plx__knn_anywhere(plx_context *ctx, plx__points queries, plx__points references,
                             const plx__knn_options *options, int64_t *index, double *distance)
{
    plx__session session;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    search s = {.o = options, .n_queries = plx__points_rows(queries), .n_references = plx__points_rows(references)};
    double moved = 8 * (entries(queries) + entries(references)) + 16.0 * (double)(s.n_queries * options->k);
    plx__device_work work = {
        .what = "the search for neighbours", .flops = 2.0 * (double)s.n_queries * entries(references), .moved = moved};
    PLX_TRY(plx__session_open(&session, ctx, &work));
    if (session.dev) {
        double *own = distance;
        s.dev = session.dev;
        plx_status st = own ? PLX_OK : plx__arena_f64(&own, plx__scratch(ctx), s.n_queries, options->k);
        if (st == PLX_OK) st = search_there(&s, queries, references, index, own);
        PLX_TRY(plx__session_close(&session, st));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return session.done ? PLX_OK : plx__knn(ctx, queries, references, options, index, distance);
}

/* ---- eigenpairs ---- */

static plx_status eigen_there(plx__device *dev, plx_cmat a, plx_index first, plx_index count, double *values,
                              plx_mat vectors)
{
    plx_context *ctx = plx__device_context(dev);
    plx_device_mat there, rows;
    plx_mat found;
    double n = (double)a.rows, bytes = 8 * n * (n + (double)count);
    PLX_TRY(plx__device_need(dev, bytes + plx__device_workspace(dev, PLX_DEVICE_OP_EIGEN, a.rows, count, 0),
                             "the eigenvalue problem", "set device to cpu or auto"));
    PLX_TRY(plx__device_put(&there, dev, a));
    PLX_TRY(plx__device_mat(&rows, dev, count, a.rows));
    PLX_TRY(plx__arena_mat(&found, plx__scratch(ctx), count, a.rows));
    int code = plx__device_table(dev)->sym_eigen(plx__device_handle(dev), there, first, count, values, rows);
    if (code == PLX_DEVICE_NUMERIC) PLX_FAIL(ctx, PLX_E_NUMERIC, "the eigenvalues did not converge");
    PLX_TRY(plx__device_did(dev, code, "sym_eigen"));
    PLX_TRY(plx__device_read(dev, found, rows));
    plx__mat_transpose(vectors, plx__cmat(found));
    for (plx_index j = 0; j < count; j++) plx__fix_sign(vectors, j, (plx_mat){0});
    return PLX_OK;
}

plx_status plx__eigen_anywhere(plx_context *ctx, plx_mat a, plx_index first, plx_index count, double *values,
                               plx_mat vectors)
{
    plx__session s;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double n = (double)a.rows;
    plx__device_work work = {.what = "the eigenvalue problem",
                             .flops = 4.0 / 3 * n * n * n + 2 * n * n * (double)count};
    work.moved = 8 * n * (n + (double)count);
    PLX_TRY(plx__session_open(&s, ctx, &work));
    if (s.dev) PLX_TRY(plx__session_close(&s, eigen_there(s.dev, plx__cmat(a), first, count, values, vectors)));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return s.done ? PLX_OK : plx__sym_eigen_range(ctx, a, first, count, values, vectors);
}
