/*
 * Logistic regression of every class against the rest, each by Newton steps (optim/newton_cg.c).
 */
#include <math.h>

#include "optim/klr.h"
#include "optim/linear_models.h"
#include "optim/newton_cg.h"

enum { MOST_STEPS = 200 };

static const double GRADIENT_NORM = 1e-10;

typedef struct logit {
    const plx__design *x;
    double lambda;
    plx_index p;
    int32_t target; /* class against the rest */
    double *curvature, *work;
} logit;

static double sign_of(const logit *s, plx_index i) { return s->x->label[i] == s->target ? 1.0 : -1.0; }

static plx_status logit_value(void *arg, plx_context *ctx, const double *w, double *f, double *gradient)
{
    logit *s = arg;
    plx_index l = plx__points_rows(s->x->rows);
    double loss = 0;
    PLX_TRY(plx__design_times(ctx, s->x, plx__cmat_of(w, s->p, 1), plx__mat_of(s->work, l, 1)));
    for (plx_index i = 0; i < l; i++) {
        double sign = sign_of(s, i), miss = plx__sigmoid(-sign * s->work[i]);
        loss -= plx__log_sigmoid(sign * s->work[i]);
        s->curvature[i] = miss * (1.0 - miss);
        s->work[i] = -sign * miss;
    }
    PLX_TRY(plx__design_times_t(ctx, s->x, plx__cmat_of(s->work, l, 1), plx__mat_of(gradient, s->p, 1)));
    plx__axpy(gradient, s->lambda, w, s->p);
    *f = loss + 0.5 * s->lambda * plx__dot(w, w, s->p);
    return PLX_OK;
}

static plx_status logit_curve(void *arg, plx_context *ctx, double *out, const double *v)
{
    logit *s = arg;
    plx_index l = plx__points_rows(s->x->rows);
    PLX_TRY(plx__design_times(ctx, s->x, plx__cmat_of(v, s->p, 1), plx__mat_of(s->work, l, 1)));
    for (plx_index i = 0; i < l; i++) s->work[i] *= s->curvature[i];
    PLX_TRY(plx__design_times_t(ctx, s->x, plx__cmat_of(s->work, l, 1), plx__mat_of(out, s->p, 1)));
    plx__axpy(out, s->lambda, v, s->p);
    return PLX_OK;
}

plx_status plx__linear_logit_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index l = plx__points_rows(x->rows);
    logit s = {.x = x, .lambda = lambda, .p = w.rows};
    plx__newton_problem problem = {w.rows, 0.1, &s, logit_value, logit_curve};
    double *column = NULL;
    PLX_TRY(plx__arena_f64(&s.curvature, plx__scratch(ctx), l, 1));
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
