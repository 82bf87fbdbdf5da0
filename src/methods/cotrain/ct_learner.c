/*
 * Learners of one view behind one interface, and the linear ones among them (logistic, rls, svm), on rows with a constant
 * 1 at the end.
 *
 * A linear learner sees only the columns its training rows use: the weights of all others are 0 at the optimum. It
 * starts from the weights of the round before.
 */
#include <math.h>
#include <string.h>

#include "data/divided.h"
#include "kernel/prepared.h"
#include "methods/cotrain/cotrain.h"
#include "optim/linear_models.h"
#include "mixture/naive_bayes.h"

static int base_of(const plx__run *run) { return ((const ct_params *)run->params)->base; }

/* ---- room ---- */

plx_status plx__ct_array(plx_mat *out, plx__run *run, const char *name, const plx__view *v, plx_index rows,
                         plx_index cols)
{
    const char *key = NULL;
    plx_cmat found;
    PLX_TRY(plx__view_key(&key, run->ctx, name, v->name));
    if (!run->fitted) return plx__store_new(out, run->out, key, rows, cols);
    PLX_TRY(plx__store_shaped(&found, run->ctx, run->fitted, key, rows, cols));
    *out = (plx_mat){(double *)(uintptr_t)found.data, found.rows, found.cols, found.ld}; /* read only when predicting */
    return PLX_OK;
}

plx_status plx__ct_open_learner(ct_learner *h, plx__run *run, const plx__view *view)
{
    *h = (ct_learner){.view = view, .able = true, .teaches = true};
    if (base_of(run) == CT_GP) return PLX_OK;
    if (base_of(run) == CT_NB) return plx__ct_open_nb(h, run);
    return plx__ct_array(&h->weights, run, "_weights", view, view->cols + 1, run->problem->n_classes);
}

plx_status plx__ct_rows(plx__points *out, plx_context *ctx, const plx__view *v, const plx_index *rows, plx_index count)
{
    return plx__points_choose(out, ctx, plx__view_points(v), plx__held_bound(v), rows, count);
}

plx_status plx__ct_own_rows(plx__points *out, plx_context *ctx, const plx__view *v, const plx_index *rows,
                            plx_index count, plx__slabs cut)
{
    plx__slab_rows whose = {cut, count, NULL};
    plx_index begin = 0, end = 0;
    plx__slabs_mine(&begin, &end, ctx, cut);
    if (!v->divided) return plx__ct_rows(out, ctx, v, rows + begin, end - begin);
    PLX_TRY(plx__points_choose_own(out, ctx, plx__view_points(v), v->bound, rows, &whose));
    *out = plx__points_range(*out, begin, end);
    return PLX_OK;
}

/* ---- linear learners ---- */

typedef struct training {
    plx__points rows; /* with the constant column last */
    int32_t *label;
    plx_index *column; /* columns used, ascending; the constant one last */
    plx_index count, columns;
} training;

/* Which columns the rows use: new number of each, or -1. */
static plx_status number_columns(training *t, plx_context *ctx, plx__points rows, int32_t *number)
{
    plx_index d = plx__points_cols(rows);
    bool sparse = plx__points_sparse(rows);
    for (plx_index j = 0; j < d; j++) number[j] = sparse ? -1 : 0;
    for (plx_index p = 0; sparse && p < plx__nnz(rows.csr); p++) number[rows.csr.col[p]] = 0;
    PLX_TRY(plx__arena_i64(&t->column, plx__scratch(ctx), d + 1));
    for (plx_index j = 0; j < d; j++)
        if (number[j] == 0) {
            number[j] = (int32_t)t->columns;
            t->column[t->columns++] = j;
        }
    t->column[t->columns++] = d;
    return PLX_OK;
}

static plx_status add_ones(training *t, plx_context *ctx, plx__points rows, const int32_t *number)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index l = t->count;
    if (!plx__points_sparse(rows)) {
        plx_mat wide;
        PLX_TRY(plx__arena_mat(&wide, scratch, l, t->columns));
        plx__mat_copy(plx__sub(wide, 0, 0, l, rows.dense.cols), rows.dense);
        for (plx_index i = 0; i < l; i++) wide.data[i * wide.ld + t->columns - 1] = 1.0;
        t->rows = plx__points_dense(plx__cmat(wide));
        return PLX_OK;
    }
    plx_csr wide;
    PLX_TRY(plx__arena_csr(&wide, scratch, l, t->columns, plx__nnz(rows.csr) + l));
    for (plx_index i = 0, at = 0; i < l; i++) {
        for (plx_index p = rows.csr.ptr[i]; p < rows.csr.ptr[i + 1]; p++, at++) {
            wide.col[at] = number[rows.csr.col[p]];
            wide.val[at] = rows.csr.val[p];
        }
        wide.col[at] = (int32_t)(t->columns - 1);
        wide.val[at++] = 1.0;
        wide.ptr[i + 1] = at;
    }
    t->rows = plx__points_csr(plx__ccsr(wide));
    return PLX_OK;
}

static plx_status collect(training *t, plx__run *run, const plx__view *v, const int32_t *label)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    plx_index *rows = NULL, n = run->problem->n;
    int32_t *number = NULL;
    plx__points chosen;
    *t = (training){0};
    PLX_TRY(plx__arena_i64(&rows, scratch, n));
    PLX_TRY(plx__arena_i32(&t->label, scratch, n));
    PLX_TRY(plx__arena_i32(&number, scratch, v->cols));
    for (plx_index i = 0; i < n; i++)
        if (label[i] >= 0 && v->present[i]) {
            t->label[t->count] = label[i];
            rows[t->count++] = i;
        }
    PLX_TRY(plx__ct_rows(&chosen, run->ctx, v, rows, t->count));
    PLX_TRY(number_columns(t, run->ctx, chosen, number));
    return add_ones(t, run->ctx, chosen, number);
}

/* Between all weights and those of the used columns. */
static void gather(plx_mat w, plx_cmat all, const training *t)
{
    for (plx_index j = 0; j < t->columns; j++)
        memcpy(w.data + j * w.ld, all.data + t->column[j] * all.ld, (size_t)w.cols * sizeof(double));
}

static void spread_out(plx_mat all, plx_cmat w, const training *t)
{
    plx__mat_fill(all, 0);
    for (plx_index j = 0; j < t->columns; j++)
        memcpy(all.data + t->column[j] * all.ld, w.data + j * w.ld, (size_t)w.cols * sizeof(double));
}

static plx_status train_linear(ct_learner *h, plx__run *run, const int32_t *label)
{
    const ct_params *p = run->params;
    training t;
    plx__design x;
    plx_mat w;
    const char *what = NULL;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(run->ctx), "cotrain: view '%s'", h->view->name));
    PLX_TRY(collect(&t, run, h->view, label));
    PLX_TRY(plx__design_open(&x, run->ctx, t.rows, t.label, what));
    PLX_TRY(plx__arena_mat(&w, plx__scratch(run->ctx), t.columns, h->weights.cols));
    gather(w, plx__cmat(h->weights), &t);
    switch (p->base) {
    case CT_LOGISTIC: PLX_TRY(plx__logistic_fit(run->ctx, &x, p->reg, w)); break;
    case CT_RLS: PLX_TRY(plx__linear_ridge_fit(run->ctx, &x, p->reg, w)); break;
    default: PLX_TRY(plx__linear_svm_fit(run->ctx, &x, p->reg, w));
    }
    spread_out(h->weights, plx__cmat(w), &t);
    return PLX_OK;
}

static plx_status score_linear(const ct_learner *h, plx__run *run, plx__points rows, plx_mat scores)
{
    plx_index d = h->weights.rows - 1;
    plx_cmat w = plx__csub(plx__cmat(h->weights), 0, 0, d, h->weights.cols);
    const double *bias = h->weights.data + d * h->weights.ld;
    if (plx__points_sparse(rows)) PLX_TRY(plx__spmm(run->ctx, 1.0, rows.csr, w, 0.0, scores));
    else PLX_TRY(plx__gemm(run->ctx, 1.0, rows.dense, PLX__N, w, PLX__N, 0.0, scores));
    for (plx_index i = 0; i < scores.rows; i++) plx__axpy(scores.data + i * scores.ld, 1.0, bias, scores.cols);
    return PLX_OK;
}

/* ---- the interface ---- */

plx_status plx__ct_train(ct_learner *h, plx__run *run, const int32_t *label)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    h->label = label;
    if (base_of(run) == CT_NB) PLX_TRY(plx__ct_train_nb(h, run, label));
    else if (base_of(run) != CT_GP) PLX_TRY(train_linear(h, run, label));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

plx_status plx__ct_add_samples(ct_learner *h, plx__run *run, const plx_index *sample, plx_index count,
                               const int32_t *label)
{
    return base_of(run) == CT_NB ? plx__ct_add_to_nb(h, run, sample, count, label) : PLX_OK;
}

plx_status plx__ct_score(const ct_learner *h, plx__run *run, plx__points rows, plx_mat scores)
{
    if (base_of(run) == CT_GP) return plx__ct_score_gp(h, run, rows, scores);
    return base_of(run) == CT_NB ? plx__ct_score_nb(h, run, rows, scores) : score_linear(h, run, rows, scores);
}
