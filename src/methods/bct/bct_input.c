/*
 * What bct works on: views with their kernels, which samples have them, and the hyper-parameters.
 */
#include <string.h>

#include "linalg/csr.h"
#include "methods/bct/bct.h"

/* ---- zero rows ---- */

/* Under a linear or cosine kernel a zero row says f_j = 0, which nobody meant. */
plx_status plx__bct_zero_says_nothing(bool *out, plx_context *ctx, const plx_params *settings, const plx__view *v)
{
    plx__value kernel;
    PLX_TRY(plx__view_value(&kernel, ctx, settings, "kernel", v->name));
    *out = (v->kind == PLX_VIEW_COUNTS || v->kind == PLX_VIEW_BINARY || v->kind == PLX_VIEW_REAL) &&
           (kernel.word == PLX__KERNEL_LINEAR || kernel.word == PLX__KERNEL_COSINE);
    return PLX_OK;
}

/* ---- views ---- */

static plx_status choose_views(const uint8_t **out, bct *b)
{
    const plx__problem *p = b->run->problem;
    uint8_t *used = NULL;
    plx_index count = 0;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(b->ctx), p->n_views));
    *out = used;
    if (b->run->fitted) {
        PLX_TRY(plx__used_views(out, b->ctx, b->run->fitted, p->n_views));
        return *out ? PLX_OK : plx__fail(b->ctx, PLX_E_FORMAT, "the model does not tell its views");
    }
    for (plx_index v = 0; v < p->n_views; v++) {
        used[v] = p->views[v].present_count > 0;
        count += used[v];
    }
    if (!count) PLX_FAIL(b->ctx, PLX_E_DATA, "bct: no sample has any view");
    for (plx_index v = 0; v < p->n_views; v++)
        if (!used[v]) plx__warn(b->ctx, "bct: no sample has view '%s'; it is ignored", p->views[v].name);
    return plx__mark_used(b->run, used);
}

static plx_status open_view(bct *b, bct_view *v, plx_index number)
{
    const plx__view *from = &b->run->problem->views[number];
    plx__prepared data;
    plx__value variance;
    v->view = number;
    PLX_TRY(plx__prepare_rows(&data, b->run, number));
    v->k = (plx__view_kernel){
        .name = from->name, .rows = data.rows, .bound = data.bound, .present = from->present, .self = from->self};
    PLX_TRY(plx__kernel_settings(&v->k.kernel, b->run, from->name, from->kind == PLX_VIEW_KERNEL));
    PLX_TRY(plx__view_value(&variance, b->ctx, b->run->settings, "view_variance", from->name));
    v->variance = variance.number;
    if (b->run->fitted) return PLX_OK;
    PLX_TRY(plx__kernel_set_width(&v->k.kernel, b->ctx, v->k.rows, from->present, b->run->method->name, from->name));
    return plx__kernel_set_amplitude(&v->k.kernel, b->ctx, v->k.rows, v->k.bound, from->present, from->name);
}

static plx_status view_samples(bct *b, bct_view *v)
{
    const uint8_t *present = v->k.present;
    PLX_TRY(plx__arena_i64(&v->sample, plx__scratch(b->ctx), b->run->problem->views[v->view].present_count));
    for (plx_index i = 0; i < b->n; i++)
        if (present[i]) v->sample[v->n++] = i;
    return PLX_OK;
}

static plx_status known_samples(bct *b, bct_view *v)
{
    const char *name = NULL;
    plx_cmat known;
    PLX_TRY(plx__view_key(&name, b->ctx, "_sample", v->k.name));
    PLX_TRY(plx__store_shaped(&known, b->ctx, b->run->fitted, name, 1, -1));
    v->n = known.cols;
    PLX_TRY(plx__arena_i64(&v->sample, plx__scratch(b->ctx), v->n));
    for (plx_index i = 0; i < v->n; i++) {
        if (!(known.data[i] >= 0 && known.data[i] < (double)b->n_fit) || (i && known.data[i] <= known.data[i - 1]))
            PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's samples of view '%s' are out of range", v->k.name);
        v->sample[i] = (plx_index)known.data[i];
    }
    return PLX_OK;
}

/* ---- covered samples ---- */

static plx_status number_covered(bct *b)
{
    PLX_TRY(plx__arena_i64(&b->covered, plx__scratch(b->ctx), b->n_fit));
    PLX_TRY(plx__arena_i64(&b->place, plx__scratch(b->ctx), b->n_fit));
    for (plx_index j = 0; j < b->m; j++)
        for (plx_index i = 0; i < b->views[j].n; i++) b->place[b->views[j].sample[i]] = 1;
    for (plx_index i = 0; i < b->n_fit; i++) {
        if (b->place[i]) b->covered[b->n_cov] = i;
        b->place[i] = b->place[i] ? b->n_cov++ : -1;
    }
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        PLX_TRY(plx__arena_i64(&v->at, plx__scratch(b->ctx), v->n));
        for (plx_index i = 0; i < v->n; i++) v->at[i] = b->place[v->sample[i]];
    }
    return PLX_OK;
}

/* ---- hyper-parameters ---- */

void plx__bct_set_hyper(bct *b, const double *hyper)
{
    plx_index at = 0;
    for (plx_index j = 0; j < b->m; j++) {
        b->views[j].k.kernel.amplitude = hyper[at++];
        if (b->views[j].k.kernel.kind == PLX__KERNEL_RBF) b->views[j].k.kernel.width = hyper[at++];
    }
    for (plx_index j = 0; j < b->m; j++) b->views[j].variance = hyper[at++];
    if (b->regression) b->targets.noise = hyper[at];
}

static plx_status open_hyper(bct *b)
{
    plx_index at = 0;
    plx_cmat known;
    b->n_hyper = 2 * b->m + b->regression;
    for (plx_index j = 0; j < b->m; j++) b->n_hyper += b->views[j].k.kernel.kind == PLX__KERNEL_RBF;
    PLX_TRY(plx__arena_f64(&b->hyper, plx__scratch(b->ctx), b->n_hyper, 1));
    if (b->run->fitted) {
        PLX_TRY(plx__store_shaped(&known, b->ctx, b->run->fitted, "hyper", b->n_hyper, 1));
        memcpy(b->hyper, known.data, (size_t)b->n_hyper * sizeof *b->hyper);
        for (plx_index i = 0; i < b->n_hyper; i++)
            if (!(known.data[i] > 0)) PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's hyper-parameters are not > 0");
        plx__bct_set_hyper(b, b->hyper);
        return PLX_OK;
    }
    for (plx_index j = 0; j < b->m; j++) {
        b->hyper[at++] = b->views[j].k.kernel.amplitude;
        if (b->views[j].k.kernel.kind == PLX__KERNEL_RBF) b->hyper[at++] = b->views[j].k.kernel.width;
    }
    for (plx_index j = 0; j < b->m; j++) b->hyper[at++] = b->views[j].variance;
    if (b->regression) b->hyper[at] = b->set->noise;
    return PLX_OK;
}

/* ---- opening ---- */

static plx_status known_count(bct *b)
{
    double count = 0;
    PLX_TRY(plx__store_scalar(&count, b->ctx, b->run->fitted, "_count"));
    if (!(count >= 1 && count < 1e9)) PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's number of samples is out of range");
    b->n_fit = (plx_index)count;
    return PLX_OK;
}

plx_status plx__bct_open(bct *b, plx__run *run)
{
    const uint8_t *used = NULL;
    *b = (bct){.run = run, .ctx = run->ctx, .set = run->params, .n = run->problem->n, .n_fit = run->problem->n};
    b->regression = b->set->task == BCT_REGRESSION;
    b->labels = b->set->task <= BCT_REGRESSION;
    if (run->fitted) PLX_TRY(known_count(b));
    PLX_TRY(choose_views(&used, b));
    PLX_TRY(PLX__ARENA_NEW(&b->views, plx__scratch(b->ctx), b->run->problem->n_views));
    for (plx_index v = 0; v < b->run->problem->n_views; v++) {
        if (!used[v]) continue;
        bct_view *view = &b->views[b->m++];
        PLX_TRY(open_view(b, view, v));
        PLX_TRY(run->fitted ? known_samples(b, view) : view_samples(b, view));
    }
    if (!b->m) PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model uses no view");
    PLX_TRY(number_covered(b));
    PLX_TRY(open_hyper(b));
    return plx__bct_choose_form(b);
}

/* ---- keeping ---- */

static plx_status store_numbers(bct *b, const char *what, const char *view, const plx_index *value, plx_index count)
{
    const char *name = NULL;
    plx_mat out;
    PLX_TRY(plx__view_key(&name, b->ctx, what, view));
    PLX_TRY(plx__store_new(&out, b->run->out, name, 1, count));
    for (plx_index i = 0; i < count; i++) out.data[i] = (double)value[i];
    return PLX_OK;
}

/* X_j, from the processes that have its rows to all. */
static plx_status store_rows(bct *b, const bct_view *v)
{
    const char *name = NULL;
    plx_index begin = 0, end = 0;
    plx_mat x;
    PLX_TRY(plx__view_key(&name, b->ctx, "_x", v->k.name));
    PLX_TRY(plx__store_new(&x, b->run->out, name, v->n, v->x.cols));
    plx__slab_rows_mine(&begin, &end, b->ctx, &v->rows);
    plx__mat_copy(plx__sub(x, begin, 0, end - begin, x.cols), plx__csub(v->x, begin, 0, end - begin, x.cols));
    return plx__slab_rows_share(b->ctx, &v->rows, x.data, (size_t)x.cols * sizeof *x.data);
}

static plx_status store_given(bct *b, const bct_view *v)
{
    const char *name = NULL;
    plx_mat gram;
    PLX_TRY(plx__view_key(&name, b->ctx, "_gram", v->k.name));
    PLX_TRY(plx__store_new(&gram, b->run->out, name, v->n, v->n));
    return plx__view_kernel_base(b->ctx, &v->k, &v->ref, gram);
}

/* The fitted samples of every view, as prediction needs them. */
plx_status plx__bct_store(bct *b)
{
    double count = (double)b->n_fit;
    PLX_TRY(plx__store_put(b->run->out, "_count", (plx_cmat){&count, 1, 1, 1}));
    for (plx_index j = 0; j < b->m; j++) {
        const bct_view *v = &b->views[j];
        PLX_TRY(store_numbers(b, "_sample", v->k.name, v->sample, v->n));
        if (b->weights) PLX_TRY(store_rows(b, v));
        if (v->reduced) PLX_TRY(plx__kernel_pivots_store(b->run, &v->pivots, v->k.name));
        if (b->weights) continue;
        if (v->k.kernel.kind == PLX__KERNEL_PRECOMPUTED) PLX_TRY(store_given(b, v));
        else PLX_TRY(plx__reference_store(b->run, &v->ref, "rows", v->k.name));
    }
    return PLX_OK;
}
