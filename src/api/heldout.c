#include "api/heldout.h"

#include <math.h>
#include <string.h>

#include "run/problem.h"

static plx_status split(plx__heldout *held, plx_context *ctx, const plx_dataset *data, const uint8_t *flags)
{
    plx_index out = 0, in = 0;
    for (plx_index i = 0; i < data->n; i++) out += flags[i];
    if (out == 0) return PLX_OK;
    if (out == data->n) PLX_FAIL(ctx, PLX_E_DATA, "heldout marks every sample; nothing is left to fit");
    PLX_TRY(plx__arena_i64(&held->row, plx__scratch(ctx), data->n - out));
    PLX_TRY(plx__arena_i64(&held->rest_row, plx__scratch(ctx), out));
    out = 0;
    for (plx_index i = 0; i < data->n; i++) {
        if (flags[i]) held->rest_row[out++] = i;
        else held->row[in++] = i;
    }
    PLX_TRY(plx__dataset_select(&held->subset, ctx, data, held->row, in));
    PLX_TRY(plx__dataset_select(&held->rest, ctx, data, held->rest_row, out));
    held->fitted = held->subset;
    held->any = true;
    return PLX_OK;
}

plx_status plx__heldout_open(plx__heldout *held, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                             const char *directory)
{
    plx__value value;
    uint8_t *flags = NULL;
    *held = (plx__heldout){.fitted = data};
    if (!plx__param_find(model->method->params, "heldout")) return PLX_OK;
    PLX_TRY(plx__view_value(&value, ctx, model->settings, "heldout", NULL));
    if (!value.text[0]) return PLX_OK;
    PLX_TRY(plx__read_flags(&flags, ctx, plx__scratch(ctx), directory, value.text, data->n, "heldout"));
    return split(held, ctx, data, flags);
}

void plx__heldout_free(plx__heldout *held)
{
    plx_dataset_destroy(held->subset);
    plx_dataset_destroy(held->rest);
    held->subset = held->rest = NULL;
}

/* ---- merging ---- */

/* Copies rows of `from` to the caller's rows of `to`; columns too are samples when `cols` is given. */
static void scatter(plx_mat to, plx_cmat from, const plx_index *row, const plx_index *col)
{
    for (plx_index i = 0; i < from.rows; i++) {
        double *t = to.data + (row ? row[i] : i) * to.ld;
        const double *f = from.data + i * from.ld;
        for (plx_index j = 0; j < from.cols; j++) t[col ? col[j] : j] = f[j];
    }
}

/* How good the model is on held-out samples, where they tell. */
static void take_measured(plx_mat to, const plx__array *from)
{
    if (!from || from->sparse || from->dense.rows != to.rows || from->dense.cols != to.cols) return;
    for (plx_index i = 0; i < to.rows; i++) {
        const double *row = from->dense.data + i * from->dense.ld;
        bool known = true;
        for (plx_index j = 0; j < to.cols; j++) known &= !isnan(row[j]);
        if (known) memcpy(to.data + i * to.ld, row, (size_t)to.cols * sizeof *row);
    }
}

/* Held-out samples among themselves, and with the fitted ones both ways round. */
static plx_status merge_pairs(plx_mat all, const char *name, const plx__heldout *held, const plx_prediction *rest)
{
    const char *cross_name = NULL;
    PLX_TRY(plx__view_key(&cross_name, rest->arena.ctx, "_cross", name));
    const plx__array *own = plx__store_find(&rest->store, name), *cross = plx__store_find(&rest->store, cross_name);
    if (!own || own->sparse || !cross || cross->sparse) return PLX_OK;
    scatter(all, plx__cmat(own->dense), held->rest_row, held->rest_row);
    scatter(all, plx__cmat(cross->dense), held->rest_row, held->row);
    for (plx_index i = 0; i < cross->dense.rows; i++)
        for (plx_index j = 0; j < cross->dense.cols; j++)
            all.data[held->row[j] * all.ld + held->rest_row[i]] = cross->dense.data[i * cross->dense.ld + j];
    return PLX_OK;
}

static plx_status merge_dense(plx__store *to, const plx__array *a, const plx__array_spec *spec,
                              const plx__heldout *held, const plx_prediction *rest, plx_index n)
{
    bool rows = plx__array_by_sample(spec, 0), cols = plx__array_by_sample(spec, 1);
    plx_mat all;
    PLX_TRY(plx__store_new(&all, to, a->name, rows ? n : a->dense.rows, cols ? n : a->dense.cols));
    scatter(all, plx__cmat(a->dense), rows ? held->row : NULL, cols ? held->row : NULL);
    const plx__array *b = plx__store_find(&rest->store, a->name);
    if (spec && spec->flags & PLX__MEASURED) take_measured(all, b);
    if (rows && cols) return merge_pairs(all, a->name, held, rest);
    if (!rows) return PLX_OK;
    if (b && !b->sparse && b->dense.cols == a->dense.cols) scatter(all, plx__cmat(b->dense), held->rest_row, NULL);
    return PLX_OK;
}

static plx_status merge_sparse(plx__store *to, plx_context *ctx, const plx__array *a, const plx__array_spec *spec,
                               const plx__heldout *held, plx_index n)
{
    bool rows = plx__array_by_sample(spec, 0), cols = plx__array_by_sample(spec, 1);
    if (!rows && !cols) return plx__store_put_csr(to, a->name, plx__ccsr(a->csr));
    plx_csr all;
    plx_index nnz = a->csr.ptr[a->csr.rows], next = 0;
    PLX_TRY(plx__arena_csr(&all, plx__scratch(ctx), rows ? n : a->csr.rows, cols ? n : a->csr.cols, nnz));
    for (plx_index i = 0; i < all.rows; i++) {
        all.ptr[i + 1] = all.ptr[i];
        if (next >= a->csr.rows || (rows && held->row[next] != i)) continue;
        for (int64_t k = a->csr.ptr[next]; k < a->csr.ptr[next + 1]; k++) {
            all.col[k] = (int32_t)(cols ? held->row[a->csr.col[k]] : a->csr.col[k]);
            all.val[k] = a->csr.val[k];
        }
        all.ptr[i + 1] = a->csr.ptr[++next];
    }
    return plx__store_put_csr(to, a->name, plx__ccsr(all));
}

static plx_status merge_outcome(plx_model *m, const plx__heldout *held, const plx_prediction *rest, plx_index n)
{
    plx__outcome *o = &m->fitted.outcome, fit = *o;
    const plx__outcome *more = &rest->outcome;
    if (!fit.n) return PLX_OK;
    o->n = n;
    PLX_TRY(PLX__ARENA_NEW(&o->label, &m->arena, n));
    for (plx_index i = 0; i < fit.n; i++)
        if (fit.label[i]) PLX_TRY(plx__arena_text(&o->label[held->row[i]], &m->arena, fit.label[i]));
    for (plx_index i = 0; i < more->n; i++)
        if (more->label[i]) PLX_TRY(plx__arena_text(&o->label[held->rest_row[i]], &m->arena, more->label[i]));
    if (!fit.scores.data) return PLX_OK;
    const char **columns = NULL;
    PLX_TRY(PLX__ARENA_NEW(&columns, &m->arena, fit.scores.cols));
    for (plx_index j = 0; j < fit.scores.cols; j++) PLX_TRY(plx__arena_text(&columns[j], &m->arena, fit.columns[j]));
    o->columns = columns;
    PLX_TRY(plx__arena_mat(&o->scores, &m->arena, n, fit.scores.cols));
    scatter(o->scores, plx__cmat(fit.scores), held->row, NULL);
    if (more->scores.cols == fit.scores.cols) scatter(o->scores, plx__cmat(more->scores), held->rest_row, NULL);
    return PLX_OK;
}

static plx_status merge(plx__heldout *held, plx_context *ctx, plx_model *m, plx__store *fitted,
                        const plx_prediction *rest, plx_index n)
{
    plx__store_init(&m->store, &m->arena);
    for (const plx__array *a = fitted->first; a; a = a->next) {
        const plx__array_spec *spec = plx__array_spec_find(m->method, a->name);
        if (a->sparse) PLX_TRY(merge_sparse(&m->store, ctx, a, spec, held, n));
        else PLX_TRY(merge_dense(&m->store, a, spec, held, rest, n));
    }
    if (m->method->complete) PLX_TRY(m->method->complete(ctx, &m->store));
    if (m->facts.n_trace) { /* the trace is in the temporary arena too */
        double *copy = NULL;
        PLX_TRY(plx__arena_f64(&copy, &m->arena, m->facts.n_trace, 1));
        memcpy(copy, m->facts.trace, (size_t)m->facts.n_trace * sizeof *copy);
        m->facts.trace = copy;
    }
    return merge_outcome(m, held, rest, n);
}

/* What was asked for, and what tells how good the model is. */
static plx_status wanted_arrays(const char ***out, plx_index *count, plx_context *ctx, const plx__method *method,
                                const plx_fit_options *o)
{
    plx_index room = o->n_arrays;
    for (const plx__array_spec *s = method->arrays; s->name; s++) room++;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), room));
    for (*count = 0; *count < o->n_arrays; ++*count) (*out)[*count] = o->arrays[*count];
    for (const plx__array_spec *s = method->arrays; s->name; s++)
        if (s->flags & PLX__MEASURED) (*out)[(*count)++] = s->name;
    return PLX_OK;
}

plx_status plx__heldout_close(plx__heldout *held, plx_context *ctx, plx_model *m, const plx_dataset *data,
                              plx__store *fitted, const plx_fit_options *o)
{
    plx_prediction *rest = NULL;
    const char **wanted = NULL;
    plx_index count = 0;
    m->store = *fitted; /* what predict works from */
    PLX_TRY(wanted_arrays(&wanted, &count, ctx, m->method, o));
    PLX_TRY(plx__predict(&rest, ctx, m, held->rest, held->rest_row, data->n, wanted, count));
    plx_status st = merge(held, ctx, m, fitted, rest, data->n);
    plx_prediction_destroy(rest);
    return st;
}
