/*
 * A run of samples is the rows in their place; where samples are left out, rows are copied.
 */
#include <string.h>

#include "data/kernel_columns.h"
#include "run/problem.h"

typedef struct part {
    const plx_index *sample;
    plx_index count;
    bool run; /* neighbours, none left out */
} part;

static plx_status part_flags(plx__view *v, plx_context *ctx, const part *q)
{
    uint8_t *present = NULL;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), q->count));
    v->present_count = 0;
    for (plx_index i = 0; i < q->count; i++) v->present_count += present[i] = v->present[q->sample[i]];
    v->present = present;
    return PLX_OK;
}

static plx_status part_sparse(plx__view *v, plx_context *ctx, const part *q)
{
    plx_ccsr from = v->csr;
    int64_t *ptr = NULL;
    int32_t *col = NULL;
    double *val = NULL;
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(ctx), q->count + 1));
    for (plx_index i = 0; i < q->count; i++) ptr[i + 1] = ptr[i] + from.ptr[q->sample[i] + 1] - from.ptr[q->sample[i]];
    v->csr = (plx_ccsr){q->count, from.cols, ptr, NULL, NULL};
    if (q->run) {
        v->csr.col = from.col + from.ptr[q->sample[0]];
        v->csr.val = from.val + from.ptr[q->sample[0]];
        return PLX_OK;
    }
    PLX_TRY(plx__arena_bytes((void **)&col, plx__scratch(ctx), ptr[q->count], sizeof *col));
    PLX_TRY(plx__arena_bytes((void **)&val, plx__scratch(ctx), ptr[q->count], sizeof *val));
    for (plx_index i = 0; i < q->count; i++) {
        size_t length = (size_t)(ptr[i + 1] - ptr[i]);
        if (length) memcpy(col + ptr[i], from.col + from.ptr[q->sample[i]], length * sizeof *col);
        if (length) memcpy(val + ptr[i], from.val + from.ptr[q->sample[i]], length * sizeof *val);
    }
    v->csr.col = col;
    v->csr.val = val;
    return PLX_OK;
}

static plx_status part_dense(plx__view *v, plx_context *ctx, const part *q)
{
    plx_cmat from = v->dense;
    double *values = NULL;
    v->dense = (plx_cmat){from.data + q->sample[0] * from.ld, q->count, from.cols, from.ld};
    if (q->run) return PLX_OK;
    PLX_TRY(plx__arena_bytes((void **)&values, plx__scratch(ctx), q->count, (size_t)from.cols * sizeof *values));
    for (plx_index i = 0; i < q->count; i++)
        memcpy(values + i * from.cols, from.data + q->sample[i] * from.ld, (size_t)from.cols * sizeof *values);
    v->dense = (plx_cmat){values, q->count, from.cols, from.cols};
    return PLX_OK;
}

static plx_status part_view(plx__view *v, plx_context *ctx, const part *q)
{
    PLX_TRY(part_flags(v, ctx, q));
    if (v->sparse) PLX_TRY(part_sparse(v, ctx, q));
    else PLX_TRY(part_dense(v, ctx, q));
    v->divided = false;
    v->bound = NULL;
    v->begin = v->end = 0;
    plx__view_recount(v, q->count);
    return PLX_OK;
}

plx_status plx__problem_part(plx__problem *out, plx_context *ctx, const plx__problem *whole, const plx_index *sample,
                             plx_index count)
{
    part q = {sample, count, count > 0 && sample[count - 1] - sample[0] == count - 1};
    plx__view *views = NULL;
    const char **ids = NULL;
    plx_index *row = NULL;
    PLX_ASSERT(count > 0 && whole->n_labelled == 0);
    *out = *whole; /* nobody has a label: those of the first samples do for any */
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(ctx), whole->n_views));
    PLX_TRY(PLX__ARENA_NEW(&ids, plx__scratch(ctx), count));
    PLX_TRY(plx__arena_i64(&row, plx__scratch(ctx), count));
    for (plx_index v = 0; v < whole->n_views; v++) {
        views[v] = whole->views[v];
        PLX_TRY(part_view(&views[v], ctx, &q));
    }
    for (plx_index i = 0; i < count; i++) {
        ids[i] = whole->ids[sample[i]];
        row[i] = whole->row[sample[i]];
    }
    out->n = count;
    out->views = views;
    out->ids = ids;
    out->row = row;
    out->sample_costs = NULL;
    return PLX_OK;
}
