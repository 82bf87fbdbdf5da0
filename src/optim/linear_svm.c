/*
 * Linear support vector machine with squared hinge loss, in the primal: the loss is once differentiable and piecewise
 * quadratic, so Newton steps (optim/newton_cg.c) end exactly once the set of rows inside the margin has settled.
 */
#include <math.h>

#include "optim/linear_models.h"
#include "optim/newton_cg.h"

enum { MOST_STEPS = 500 };

static const double GRADIENT_NORM = 1e-10;

typedef struct svm {
    const plx__design *x;
    double twice_c; /* 2 / lambda */
    plx_index p;
    int32_t target; /* class against the rest */
    double *slack;  /* l: max(0, 1 - t w.x) */
    double *work;   /* l */
} svm;

static double sign_of(const svm *s, plx_index i) { return s->x->label[i] == s->target ? 1.0 : -1.0; }

static plx_status svm_value(void *arg, plx_context *ctx, const double *w, double *f, double *gradient)
{
    svm *s = arg;
    plx_index l = plx__points_rows(s->x->rows);
    double loss = 0;
    PLX_TRY(plx__design_times(ctx, s->x, plx__cmat_of(w, s->p, 1), plx__mat_of(s->work, l, 1)));
    for (plx_index i = 0; i < l; i++) {
        s->slack[i] = fmax(0.0, 1.0 - sign_of(s, i) * s->work[i]);
        loss += s->slack[i] * s->slack[i];
        s->work[i] = -s->twice_c * sign_of(s, i) * s->slack[i];
    }
    PLX_TRY(plx__design_times_t(ctx, s->x, plx__cmat_of(s->work, l, 1), plx__mat_of(gradient, s->p, 1)));
    plx__axpy(gradient, 1.0, w, s->p);
    *f = 0.5 * plx__dot(w, w, s->p) + 0.5 * s->twice_c * loss;
    return PLX_OK;
}

static plx_status svm_curve(void *arg, plx_context *ctx, double *out, const double *v)
{
    svm *s = arg;
    plx_index l = plx__points_rows(s->x->rows);
    PLX_TRY(plx__design_times(ctx, s->x, plx__cmat_of(v, s->p, 1), plx__mat_of(s->work, l, 1)));
    for (plx_index i = 0; i < l; i++) s->work[i] *= s->slack[i] > 0 ? s->twice_c : 0.0;
    PLX_TRY(plx__design_times_t(ctx, s->x, plx__cmat_of(s->work, l, 1), plx__mat_of(out, s->p, 1)));
    plx__axpy(out, 1.0, v, s->p);
    return PLX_OK;
}

plx_status plx__linear_svm_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index l = plx__points_rows(x->rows);
    svm s = {.x = x, .twice_c = 2.0 / lambda, .p = w.rows};
    plx__newton_problem problem = {w.rows, 1e-6, &s, svm_value, svm_curve};
    double *column = NULL;
    PLX_TRY(plx__arena_f64(&s.slack, plx__scratch(ctx), l, 1));
    PLX_TRY(plx__arena_f64(&s.work, plx__scratch(ctx), l, 1));
    PLX_TRY(plx__arena_f64(&column, plx__scratch(ctx), w.rows, 1));
    for (s.target = 0; s.target < w.cols; s.target++) {
        for (plx_index j = 0; j < w.rows; j++) column[j] = w.data[j * w.ld + s.target];
        plx_status st = plx__newton_cg(ctx, &problem, column, GRADIENT_NORM, MOST_STEPS, NULL);
        if (st != PLX_OK) return plx__fail_prefix(ctx, st, "%s", x->what);
        for (plx_index j = 0; j < w.rows; j++) w.data[j * w.ld + s.target] = column[j];
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
