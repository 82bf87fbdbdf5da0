/*
 * Completion: a model that is no method of its own, and data sets filled by it.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/describe.h"
#include "api/model_impl.h"
#include "core/file.h"
#include "core/number.h"
#include "methods/complete/complete_impl.h"
#include "parallax/complete.h"

struct plx_completion {
    plx__arena arena;
    plx_dataset *data;
    plx_mat *fill; /* per view: row, column, value, deviation */
};

/* ---- fitting ---- */

static plx_status params_create(plx_params **out, plx_context *ctx)
{
    return plx__params_create(out, ctx, plx__method_complete.name, plx__method_complete.params);
}

plx_status plx_complete_params_create(plx_params **out, plx_context *ctx)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, params_create(out, ctx), PLX__ARG(out));
}

plx_status plx_complete_param(plx_param_info *info, plx_index i)
{
    return plx__describe_param(info, &plx__method_complete, i);
}

plx_status plx_complete_fit(plx_model **out, plx_context *ctx, const plx_dataset *data, const plx_params *params)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__fit(out, ctx, &plx__method_complete, data, params, NULL, NULL), PLX__ARG(out),
              PLX__WHOLE(data));
}

/* ---- filling ---- */

static plx_view_kind kind_of(const plx__view *v, plx_mat fill, bool whole)
{
    return v->kind == PLX_VIEW_BINARY && !whole && fill.rows ? PLX_VIEW_PROBABILITY : v->kind;
}

static void round_fill(plx_mat fill, const plx__view *v)
{
    for (plx_index k = 0; k < fill.rows && (v->kind == PLX_VIEW_COUNTS || v->kind == PLX_VIEW_BINARY); k++)
        fill.data[k * fill.ld + 2] = rint(fill.data[k * fill.ld + 2]);
}

static plx_status add_dense(plx_dataset *to, plx_context *ctx, const plx__view *v, plx_mat fill, bool whole)
{
    plx_mat x;
    PLX_TRY(plx__mat_clone(&x, plx__scratch(ctx), v->dense));
    for (plx_index k = 0; k < fill.rows; k++) {
        const double *f = fill.data + k * fill.ld;
        x.data[(plx_index)f[0] * x.ld + (plx_index)f[1]] = f[2];
    }
    return plx__dataset_add_dense(to, ctx, v->name, kind_of(v, fill, whole), plx__cmat(x), v->features, NULL);
}

/* Rows of the view without its holes, and the fills, which come row by row with rising columns. */
static plx_status add_sparse(plx_dataset *to, plx_context *ctx, const plx__view *v, plx_mat fill, bool whole)
{
    plx_csr x;
    plx_index next = 0, n = to->n;
    PLX_TRY(plx__arena_csr(&x, plx__scratch(ctx), n, v->cols, v->csr.ptr[n] + fill.rows));
    for (plx_index i = 0; i < n; i++) {
        int64_t at = x.ptr[i], e = v->csr.ptr[i], end = v->csr.ptr[i + 1];
        for (;;) {
            const double *f =
                next < fill.rows && fill.data[next * fill.ld] == (double)i ? fill.data + next * fill.ld : NULL;
            while (e < end && isnan(v->csr.val[e])) e++;
            if (!f && e >= end) break;
            bool filled = f && (e >= end || f[1] < v->csr.col[e]);
            x.col[at] = filled ? (int32_t)f[1] : v->csr.col[e];
            x.val[at] = filled ? f[2] : v->csr.val[e];
            at += x.val[at] != 0;
            if (filled) next++;
            else e++;
        }
        x.ptr[i + 1] = at;
    }
    return plx__dataset_add_sparse(to, ctx, v->name, kind_of(v, fill, whole), plx__ccsr(x), v->features, NULL);
}

static plx_status describe_samples(plx_dataset *to, plx_context *ctx, const plx_dataset *from)
{
    const plx__hierarchy *h = from->hierarchy;
    if (h)
        PLX_TRY(plx__dataset_set_hierarchy(to, ctx, h->classes, h->n_classes, h->subset, h->n_subset, h->mutex,
                                           h->n_mutex));
    if (from->ids) PLX_TRY(plx__dataset_set_ids(to, ctx, from->ids));
    if (from->labels) PLX_TRY(plx__dataset_set_labels(to, ctx, from->labels));
    if (from->truth) PLX_TRY(plx__dataset_set_truth(to, ctx, from->truth));
    if (from->sample_costs) PLX_TRY(plx__dataset_set_sample_costs(to, ctx, from->sample_costs));
    to->label_cost = from->label_cost;
    return PLX_OK;
}

static plx_status take_fills(plx_completion *c, plx_context *ctx, const plx_dataset *matched, const plx__store *store,
                             bool whole)
{
    PLX_TRY(PLX__ARENA_NEW(&c->fill, &c->arena, matched->n_views));
    for (plx_index v = 0; v < matched->n_views; v++) {
        const plx__view *view = &matched->views[v];
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        const char *name = NULL;
        plx_cmat fill;
        PLX_TRY(plx__view_key(&name, ctx, "fill", view->name));
        PLX_TRY(plx__store_shaped(&fill, ctx, store, name, -1, 4));
        PLX_TRY(plx__mat_clone(&c->fill[v], &c->arena, fill));
        if (whole) round_fill(c->fill[v], view);
        PLX_TRY((view->sparse ? add_sparse : add_dense)(c->data, ctx, view, c->fill[v], whole));
        c->data->views[v].cost = view->cost;
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

static plx_status fill_data(plx_completion *c, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                            bool whole)
{
    plx_prediction *prediction = NULL;
    plx_dataset *matched = NULL;
    plx_status st = PLX_OK;
    PLX_GOTO(plx__match_data(&matched, ctx, model, data));
    PLX_GOTO(plx__predict(&prediction, ctx, model, data, NULL, data->n, NULL, 0));
    PLX_GOTO(plx__dataset_create(&c->data, ctx, data->name, data->n));
    PLX_GOTO(describe_samples(c->data, ctx, data));
    PLX_GOTO(take_fills(c, ctx, matched, &prediction->store, whole));
done:
    plx_prediction_destroy(prediction);
    plx_dataset_destroy(matched);
    return st;
}

static plx_status complete_call(plx_completion **out, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                                bool whole)
{
    if (model->method != &plx__method_complete)
        PLX_FAIL(ctx, PLX_E_ARG, "a model of '%s' does not fill what is missing; use one of plx_complete_fit()",
                 model->method->name);
    plx_completion *c = plx__alloc(ctx, sizeof *c);
    if (!c) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *c = (plx_completion){0};
    plx__arena_init(&c->arena, ctx);
    plx_status st = fill_data(c, ctx, model, data, whole);
    if (st == PLX_OK) *out = c;
    else plx_completion_destroy(c);
    return st;
}

plx_status plx_complete(plx_completion **out, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                        int round)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, complete_call(out, ctx, model, data, round != 0), PLX__ARG(out), PLX__ARG(model), PLX__WHOLE(data));
}

void plx_completion_destroy(plx_completion *c)
{
    if (!c) return;
    plx_context *ctx = c->arena.ctx;
    plx__dataset_destroy(c->data);
    plx__arena_free(&c->arena);
    plx__release(ctx, c, sizeof *c);
}

/* ---- reading ---- */

const plx_dataset *plx_completion_data(const plx_completion *c) { return c ? c->data : NULL; }

plx_index plx_completion_filled(const plx_completion *c, plx_index view)
{
    return c && view >= 0 && view < c->data->n_views ? c->fill[view].rows : 0;
}

plx_status plx_completion_get(plx_filled *out, const plx_completion *c, plx_index view, plx_index i)
{
    if (!out || !c || out->struct_size != sizeof *out || i < 0 || i >= plx_completion_filled(c, view)) return PLX_E_ARG;
    const double *f = c->fill[view].data + i * c->fill[view].ld;
    *out = (plx_filled){sizeof *out, (plx_index)f[0], (plx_index)f[1], f[2], f[3]};
    return PLX_OK;
}

static void write_entry(FILE *f, const plx_dataset *data, const plx__view *v, const double *fill)
{
    char value[PLX__NUMBER_BYTES], deviation[PLX__NUMBER_BYTES];
    plx_index i = (plx_index)fill[0], e = (plx_index)fill[1];
    if (data->ids) plx__write_cell(f, "", data->ids[i]);
    else fprintf(f, "%lld", (long long)i);
    fputc(',', f);
    plx__write_cell(f, "", v->name);
    fputc(',', f);
    if (v->features) plx__write_cell(f, "", v->features[e]);
    else fprintf(f, "%lld", (long long)e);
    plx__print_double(value, fill[2]);
    plx__print_double(deviation, fill[3]);
    fprintf(f, ",%s,%s\n", value, deviation);
}

static plx_status write_fills(plx_context *ctx, const plx_completion *c, const char *path)
{
    plx__outfile out;
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    fputs("id,view,feature,value,deviation\n", out.file);
    for (plx_index v = 0; v < c->data->n_views; v++)
        for (plx_index k = 0; k < c->fill[v].rows; k++)
            write_entry(out.file, c->data, &c->data->views[v], c->fill[v].data + k * c->fill[v].ld);
    return plx__outfile_commit(&out, ctx);
}

plx_status plx_completion_write(plx_context *ctx, const plx_completion *completion, const char *path)
{
    PLX__CALL(ctx, write_fills(ctx, completion, path), PLX__ARG(completion), PLX__ARG(path));
}
