/*
 * Multinomial logistic regression by Newton steps (optim/newton_cg.c) and ridge regression by one factorisation.
 */
#include "optim/linear_models.h"

#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "optim/newton_cg.h"

enum { MOST_STEPS = 200 };

static const double GRADIENT_NORM = 1e-10;

plx_status plx__design_open(plx__design *x, plx_context *ctx, plx__points rows, const int32_t *label, const char *what)
{
    *x = (plx__design){.rows = rows, .label = label, .what = what};
    if (plx__points_sparse(rows)) PLX_TRY(plx__csr_transpose(&x->transposed, plx__scratch(ctx), rows.csr));
    return PLX_OK;
}

plx_status plx__design_times(plx_context *ctx, const plx__design *x, plx_cmat w, plx_mat out)
{
    if (plx__points_sparse(x->rows)) return plx__spmm(ctx, 1.0, x->rows.csr, w, 0.0, out);
    return plx__gemm(ctx, 1.0, x->rows.dense, PLX__N, w, PLX__N, 0.0, out);
}

plx_status plx__design_times_t(plx_context *ctx, const plx__design *x, plx_cmat r, plx_mat out)
{
    if (plx__points_sparse(x->rows)) return plx__spmm(ctx, 1.0, plx__ccsr(x->transposed), r, 0.0, out);
    return plx__gemm(ctx, 1.0, x->rows.dense, PLX__T, r, PLX__N, 0.0, out);
}

/* ---- logistic ---- */

typedef struct logistic {
    const plx__design *x;
    double lambda;
    plx_index p, k;
    plx_mat probability, work; /* l x k */
} logistic;

/* Softmax of a row of scores in place; returns -log of the probability of class c. */
static double row_loss(double *row, plx_index k, plx_index c)
{
    double top = row[0], sum = 0, own = row[c];
    for (plx_index j = 1; j < k; j++) top = fmax(top, row[j]);
    for (plx_index j = 0; j < k; j++) sum += row[j] = exp(row[j] - top);
    for (plx_index j = 0; j < k; j++) row[j] /= sum;
    return log(sum) + top - own;
}

static plx_status logistic_value(void *arg, plx_context *ctx, const double *w, double *f, double *gradient)
{
    logistic *s = arg;
    plx_index l = s->work.rows, size = s->p * s->k;
    double loss = 0;
    PLX_TRY(plx__design_times(ctx, s->x, plx__cmat_of(w, s->p, s->k), s->probability));
    for (plx_index i = 0; i < l; i++) loss += row_loss(s->probability.data + i * s->k, s->k, s->x->label[i]);
    plx__mat_copy(s->work, plx__cmat(s->probability));
    for (plx_index i = 0; i < l; i++) s->work.data[i * s->k + s->x->label[i]] -= 1;
    PLX_TRY(plx__design_times_t(ctx, s->x, plx__cmat(s->work), plx__mat_of(gradient, s->p, s->k)));
    plx__axpy(gradient, s->lambda, w, size);
    *f = loss + 0.5 * s->lambda * plx__dot(w, w, size);
    return PLX_OK;
}

static plx_status logistic_curve(void *arg, plx_context *ctx, double *out, const double *v)
{
    logistic *s = arg;
    PLX_TRY(plx__design_times(ctx, s->x, plx__cmat_of(v, s->p, s->k), s->work));
    for (plx_index i = 0; i < s->work.rows; i++) {
        double *q = s->work.data + i * s->k;
        const double *pi = s->probability.data + i * s->k;
        double mean = plx__dot(pi, q, s->k);
        for (plx_index j = 0; j < s->k; j++) q[j] = pi[j] * (q[j] - mean);
    }
    PLX_TRY(plx__design_times_t(ctx, s->x, plx__cmat(s->work), plx__mat_of(out, s->p, s->k)));
    plx__axpy(out, s->lambda, v, s->p * s->k);
    return PLX_OK;
}

plx_status plx__logistic_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    logistic s = {.x = x, .lambda = lambda, .p = w.rows, .k = w.cols};
    plx__newton_problem problem = {w.rows * w.cols, 0.1, &s, logistic_value, logistic_curve};
    plx_index l = plx__points_rows(x->rows);
    PLX_ASSERT(w.ld == w.cols);
    PLX_TRY(plx__arena_mat(&s.probability, plx__scratch(ctx), l, w.cols));
    PLX_TRY(plx__arena_mat(&s.work, plx__scratch(ctx), l, w.cols));
    plx_status st = plx__newton_cg(ctx, &problem, w.data, GRADIENT_NORM, MOST_STEPS, NULL);
    if (st != PLX_OK) return plx__fail_prefix(ctx, st, "%s", x->what);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- ridge ---- */

static plx_status targets(plx_mat *out, plx_context *ctx, const plx__design *x, plx_index k)
{
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), plx__points_rows(x->rows), k));
    plx__mat_fill(*out, -1.0);
    for (plx_index i = 0; i < out->rows; i++) out->data[i * k + x->label[i]] = 1.0;
    return PLX_OK;
}

static plx_status factorise(plx_context *ctx, const plx__design *x, plx_mat a, double lambda)
{
    plx__mat_add_diag(a, lambda);
    return plx__cholesky_jitter(ctx, a, NULL, x->what, NULL, "increase reg or scale the view");
}

plx_status plx__linear_ridge_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index l = plx__points_rows(x->rows), p = w.rows, size = plx__min(l, p);
    plx_mat t, a;
    bool sparse = plx__points_sparse(x->rows);
    PLX_TRY(targets(&t, ctx, x, w.cols));
    PLX_TRY(plx__arena_mat(&a, plx__scratch(ctx), size, size));
    if (l <= p) {
        PLX_TRY(plx__points_inner(ctx, x->rows, x->rows, a));
        PLX_TRY(factorise(ctx, x, a, lambda));
        PLX_TRY(plx__chol_solve(ctx, plx__cmat(a), t));
        PLX_TRY(plx__design_times_t(ctx, x, plx__cmat(t), w));
    } else {
        if (sparse) PLX_TRY(plx__csr_gram(ctx, plx__ccsr(x->transposed), plx__ccsr(x->transposed), a));
        else PLX_TRY(plx__syrk(ctx, 1.0, x->rows.dense, PLX__T, 0.0, a));
        PLX_TRY(factorise(ctx, x, a, lambda));
        PLX_TRY(plx__design_times_t(ctx, x, plx__cmat(t), w));
        PLX_TRY(plx__chol_solve(ctx, plx__cmat(a), w));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
