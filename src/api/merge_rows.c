/*
 * Which arrays have a row per sample is told by their shape in the method's table, never guessed from their
 * size: a view may have as many features as there are samples.
 */
#include "api/merge_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ranks.h"
#include "run/prior.h"

/* ---- arrays ---- */

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
static plx_status merge_pairs(plx_mat all, const char *name, const plx__merge *m)
{
    const char *cross_name = NULL;
    if (!m->rest) return PLX_OK;
    PLX_TRY(plx__view_key(&cross_name, m->rest->arena.ctx, "_cross", name));
    const plx__array *own = plx__store_find(&m->rest->store, name),
                     *cross = plx__store_find(&m->rest->store, cross_name);
    if (!own || own->sparse || !cross || cross->sparse) return PLX_OK;
    scatter(all, plx__cmat(own->dense), m->rest_row, m->rest_row);
    scatter(all, plx__cmat(cross->dense), m->rest_row, m->row);
    for (plx_index i = 0; i < cross->dense.rows; i++)
        for (plx_index j = 0; j < cross->dense.cols; j++)
            all.data[m->row[j] * all.ld + m->rest_row[i]] = cross->dense.data[i * cross->dense.ld + j];
    return PLX_OK;
}

static void show_prior(plx_mat to, const plx__merge *m)
{
    if (!m->prior.shares || to.cols != m->prior.n_classes) return;
    for (plx_index i = 0; i < m->n_bare; i++)
        memcpy(to.data + m->bare[i] * to.ld, m->prior.shares, (size_t)to.cols * sizeof(double));
}

static plx_status merge_dense(plx__store *to, const plx__array *a, const plx__merge *m)
{
    const plx__array_spec *spec = plx__array_spec_find(m->method, a->name);
    bool rows = plx__array_by_sample(spec, 0) || plx__starts_with(a->name, "_cross."),
         cols = plx__array_by_sample(spec, 1);
    plx_mat all;
    PLX_TRY(plx__store_new(&all, to, a->name, rows ? m->n : a->dense.rows, cols ? m->n : a->dense.cols));
    scatter(all, plx__cmat(a->dense), rows ? m->row : NULL, cols ? m->row : NULL);
    const plx__array *b = m->rest ? plx__store_find(&m->rest->store, a->name) : NULL;
    if (spec && spec->flags & PLX__MEASURED) take_measured(all, b);
    if (rows && cols) return merge_pairs(all, a->name, m);
    if (!rows) return PLX_OK;
    if (b && !b->sparse && b->dense.cols == a->dense.cols) scatter(all, plx__cmat(b->dense), m->rest_row, NULL);
    if (m->method->prior_array && strcmp(a->name, m->method->prior_array) == 0) show_prior(all, m);
    return PLX_OK;
}

static plx_status merge_sparse(plx__store *to, plx_context *ctx, const plx__array *a, const plx__merge *m)
{
    const plx__array_spec *spec = plx__array_spec_find(m->method, a->name);
    bool rows = plx__array_by_sample(spec, 0), cols = plx__array_by_sample(spec, 1);
    if (!rows && !cols) return plx__store_put_csr(to, a->name, plx__ccsr(a->csr));
    plx_csr all;
    plx_index nnz = a->csr.ptr[a->csr.rows], next = 0;
    PLX_TRY(plx__arena_csr(&all, plx__scratch(ctx), rows ? m->n : a->csr.rows, cols ? m->n : a->csr.cols, nnz));
    for (plx_index i = 0; i < all.rows; i++) {
        all.ptr[i + 1] = all.ptr[i];
        if (next >= a->csr.rows || (rows && m->row[next] != i)) continue;
        for (int64_t k = a->csr.ptr[next]; k < a->csr.ptr[next + 1]; k++) {
            all.col[k] = (int32_t)(cols ? m->row[a->csr.col[k]] : a->csr.col[k]);
            all.val[k] = a->csr.val[k];
        }
        all.ptr[i + 1] = a->csr.ptr[++next];
    }
    return plx__store_put_csr(to, a->name, plx__ccsr(all));
}

/* ---- labels and scores ---- */

static plx_status merge_labels(const char **label, plx__arena *arena, const plx__merge *m)
{
    const plx__outcome *fit = m->outcome, *more = m->rest ? &m->rest->outcome : NULL;
    for (plx_index i = 0; i < fit->n; i++)
        if (fit->label[i]) PLX_TRY(plx__arena_text(&label[m->row[i]], arena, fit->label[i]));
    for (plx_index i = 0; more && i < more->n; i++)
        if (more->label[i]) PLX_TRY(plx__arena_text(&label[m->rest_row[i]], arena, more->label[i]));
    for (plx_index i = 0; m->prior.label && i < m->n_bare; i++)
        PLX_TRY(plx__arena_text(&label[m->bare[i]], arena, m->prior.label));
    return PLX_OK;
}

static plx_status merge_outcome(plx__outcome *to, plx__arena *arena, const plx__merge *m)
{
    plx__outcome out = {.n = m->n, .kind = m->outcome->kind, .first = to->first, .bound = to->bound};
    const plx__outcome *fit = m->outcome;
    if (!fit->n && !fit->bound) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&out.label, arena, m->n));
    PLX_TRY(merge_labels(out.label, arena, m));
    if (fit->columns) {
        const char **columns = NULL;
        PLX_TRY(PLX__ARENA_NEW(&columns, arena, fit->scores.cols));
        for (plx_index j = 0; j < fit->scores.cols; j++) PLX_TRY(plx__arena_text(&columns[j], arena, fit->columns[j]));
        out.columns = columns;
        PLX_TRY(plx__arena_mat(&out.scores, arena, m->n, fit->scores.cols));
        scatter(out.scores, plx__cmat(fit->scores), m->row, NULL);
        if (m->rest && m->rest->outcome.scores.cols == fit->scores.cols)
            scatter(out.scores, plx__cmat(m->rest->outcome.scores), m->rest_row, NULL);
        show_prior(out.scores, m);
    }
    *to = out;
    return PLX_OK;
}

plx_status plx__merge_rows(plx__store *to, plx__outcome *outcome, plx_context *ctx, const plx__merge *m)
{
    for (const plx__array *a = m->store->first; a; a = a->next) {
        if (a->sparse) PLX_TRY(merge_sparse(to, ctx, a, m));
        else PLX_TRY(merge_dense(to, a, m));
    }
    return merge_outcome(outcome, to->arena, m);
}

/* ---- the prior ---- */

static const char LARGEST[] = "_largest_cluster";

/* Most frequent of the labels c0, c1, ..., ties to the smaller number; of the samples of all ranks. */
static plx_status largest_cluster(plx_index *out, plx_context *ctx, const plx__outcome *o)
{
    plx_index *count = NULL, most = o->bound ? o->scores.cols : o->n;
    PLX_TRY(plx__arena_i64(&count, plx__scratch(ctx), most + 1));
    for (plx_index i = 0; i < o->n; i++) {
        long long number = o->label[i] ? strtoll(o->label[i] + 1, NULL, 10) : -1;
        if (number >= 0 && number <= most) count[number]++;
    }
    if (o->bound) PLX_TRY(plx__peers_total(ctx, count, most + 1));
    *out = 0;
    for (plx_index c = 1; c <= most; c++)
        if (count[c] > count[*out]) *out = c;
    return PLX_OK;
}

plx_status plx__prior_keep(plx__store *store, plx_context *ctx, const plx__problem *p, const plx__outcome *o)
{
    plx_index largest = 0;
    if (p->n_labelled && o->kind == PLX__OUTCOME_CLASSES) return plx__prior_put(store, ctx, p, NULL);
    if (o->kind != PLX__OUTCOME_CLUSTERS) return PLX_OK;
    PLX_TRY(largest_cluster(&largest, ctx, o));
    double number = (double)largest;
    return plx__store_put(store, LARGEST, (plx_cmat){&number, 1, 1, 1});
}

plx_status plx__prior_read(plx__prior *out, plx_context *ctx, const plx_model *m, const plx__store *store)
{
    double number = 0;
    *out = (plx__prior){0};
    if (plx__store_find(store, LARGEST)) {
        PLX_TRY(plx__store_scalar(&number, ctx, store, LARGEST));
        return plx__arena_printf(&out->label, plx__scratch(ctx), "c%.0f", number);
    }
    if (!plx__prior_known(store)) return PLX_OK;
    int32_t class = 0;
    out->n_classes = m->n_classes;
    PLX_TRY(plx__prior_get(&out->shares, &class, ctx, store, m->n_classes));
    out->label = m->classes[class];
    return PLX_OK;
}
