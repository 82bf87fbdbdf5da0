/*
 * Weights of the views in L = sum_v w_v L_v: equal, as given, or the best on a grid by cross-validation over the
 * labelled samples (folds dealt round-robin within each class).
 */
#include <math.h>
#include <string.h>

#include "methods/transductive/local.h"

const plx__param_spec plx__local_weights_params[] = {
    PLX__REALS(plx__local_params, view_weights, "equal", 0, INFINITY, "equal|cv",
               "Weights of the views, one per view (scaled to sum 1), equal, or cv: chosen by cross-validation."),
    PLX__INT(plx__local_params, cv_folds, "5", 2, 1e6, "Folds of view_weights=cv; more are slower."),
    PLX__INT(plx__local_params, cv_steps, "10", 1, 1000,
             "Weights tried by view_weights=cv are multiples of 1/cv_steps; more are finer and slower."),
    PLX__BOOL(plx__local_params, presence_scale, "1",
              "Clustering: weigh samples by the views they lack, so that those with few views do not form clusters."),
    PLX__PARAM_END};

enum { EQUAL = 0, BY_CV = 1 };

static plx_status given_weights(plx__run *run, double *w)
{
    const plx__local_params *p = run->params;
    plx_index m = run->problem->n_views;
    double sum = 0;
    PLX_TRY(plx__view_numbers(w, run, "view_weights", &p->view_weights, 0));
    for (plx_index v = 0; v < m; v++) sum += w[v];
    if (!(sum > 0) || !isfinite(sum))
        PLX_FAIL(run->ctx, PLX_E_ARG, "view_weights = %s: at least one must be > 0", p->view_weights.text);
    for (plx_index v = 0; v < m; v++) w[v] /= sum;
    return PLX_OK;
}

/* ---- candidates ---- */

/* The next vector of whole numbers with the same sum, first entries descending; false after the last one. */
static bool next_steps(plx_index *step, plx_index m)
{
    plx_index tail = step[m - 1], at = m - 2;
    while (at >= 0 && step[at] == 0) at--;
    if (at < 0) return false;
    step[m - 1] = 0;
    step[at]--;
    step[at + 1] = tail + 1;
    return true;
}

static double count_candidates(plx_index m, plx_index steps)
{
    double count = 1;
    for (plx_index i = 1; i < m; i++) count = count * (double)(steps + i) / (double)i;
    return nearbyint(count);
}

/* ---- folds ---- */

typedef struct folds {
    int32_t *of; /* fold of every labelled sample, -1: unlabelled */
    plx_mat y, part, f;
    double *c, *hidden, c_u;
} folds;

static plx_status deal_folds(folds *d, plx__run *run, const plx__local_goal *goal)
{
    const plx__local_params *p = run->params;
    const plx__problem *x = run->problem;
    plx_index *dealt = NULL;
    d->c_u = goal->c_u;
    PLX_TRY(plx__local_targets(&d->y, &d->c, run, goal));
    PLX_TRY(plx__arena_mat(&d->part, plx__scratch(run->ctx), x->n, d->y.cols));
    PLX_TRY(plx__arena_mat(&d->f, plx__scratch(run->ctx), x->n, d->y.cols));
    PLX_TRY(plx__arena_f64(&d->hidden, plx__scratch(run->ctx), x->n, 1));
    PLX_TRY(plx__arena_i32(&d->of, plx__scratch(run->ctx), x->n));
    PLX_TRY(plx__arena_i64(&dealt, plx__scratch(run->ctx), x->n_classes));
    for (plx_index i = 0; i < x->n; i++)
        d->of[i] = x->label[i] < 0 ? -1 : (int32_t)(dealt[x->label[i]]++ % p->cv_folds);
    return PLX_OK;
}

/* Right answers for the samples of one fold when its labels are hidden; a singular system has none. */
static plx_status score_fold(plx_index *right, plx__run *run, plx__smoother *s, folds *d, int32_t fold)
{
    const plx__problem *x = run->problem;
    plx__smooth_result result;
    plx__mat_copy(d->part, plx__cmat(d->y));
    bool any = false;
    for (plx_index i = 0; i < x->n; i++) {
        bool hide = d->of[i] == fold;
        any |= hide;
        d->hidden[i] = hide ? d->c_u : d->c[i];
        if (hide) memset(d->part.data + i * d->part.ld, 0, (size_t)d->part.cols * sizeof(double));
    }
    if (!any) return PLX_OK;
    plx_status st = plx__smoother_solve(run->ctx, s, d->hidden, plx__cmat(d->part), d->f, run->method->name, &result);
    if (st == PLX_E_NUMERIC) {
        plx__clear_error(run->ctx);
        return PLX_OK;
    }
    PLX_TRY(st);
    for (plx_index i = 0; i < x->n; i++) {
        int32_t label = 0;
        if (d->of[i] != fold) continue;
        plx__argmax_rows(&label, plx__cmat_of(d->f.data + i * d->f.ld, 1, d->f.cols));
        *right += label == x->label[i];
    }
    return PLX_OK;
}

static plx_status score_weights(double *accuracy, plx__run *run, plx__smoother *s, folds *d)
{
    const plx__local_params *p = run->params;
    plx_index right = 0;
    for (plx_index fold = 0; fold < plx__min(p->cv_folds, run->problem->n); fold++) {
        plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
        PLX_TRY(score_fold(&right, run, s, d, (int32_t)fold));
        plx__arena_rewind(plx__scratch(run->ctx), mark);
    }
    *accuracy = (double)right / (double)run->problem->n_labelled;
    return PLX_OK;
}

static plx_status cross_validate(plx__run *run, plx__smoother *s, const plx__local_goal *goal, double *w)
{
    const plx__local_params *p = run->params;
    plx_index m = run->problem->n_views, *step = NULL, at = 0;
    double count = count_candidates(m, p->cv_steps), best = -1;
    folds d;
    plx_mat accuracy;
    if (count > 1e6)
        PLX_FAIL(run->ctx, PLX_E_ARG, "cv_steps = %lld: %.0f combinations of %lld views; set fewer steps",
                 (long long)p->cv_steps, count, (long long)m);
    PLX_TRY(deal_folds(&d, run, goal));
    PLX_TRY(plx__arena_i64(&step, plx__scratch(run->ctx), m));
    PLX_TRY(plx__store_new(&accuracy, run->out, "cv_accuracy", (plx_index)count, 1));
    step[0] = p->cv_steps;
    do {
        for (plx_index v = 0; v < m; v++) s->part[v].weight = (double)step[v] / (double)p->cv_steps;
        PLX_TRY(score_weights(&accuracy.data[at], run, s, &d));
        if (accuracy.data[at] > best) {
            best = accuracy.data[at];
            for (plx_index v = 0; v < m; v++) w[v] = s->part[v].weight;
        }
        at++;
        PLX_TRY(plx__report(run->ctx, "cross-validation", at, (plx_index)count, best));
    } while (next_steps(step, m));
    return PLX_OK;
}

plx_status plx__local_weigh(plx__run *run, plx__smoother *s, plx__local_goal *goal)
{
    const plx__local_params *p = run->params;
    plx_index m = run->problem->n_views;
    bool by_cv = p->view_weights.word == BY_CV;
    plx_mat w, none;
    if (by_cv && goal->task != PLX__TASK_LABELS)
        PLX_FAIL(run->ctx, PLX_E_ARG, "view_weights = cv: needs labels; clustering takes equal or given weights");
    PLX_TRY(plx__store_new(&w, run->out, "view_weights", m, 1));
    plx__mat_fill(w, 1.0 / (double)m);
    if (!by_cv && p->view_weights.word != EQUAL) PLX_TRY(given_weights(run, w.data));
    for (plx_index v = 0; v < m; v++) s->part[v].weight = w.data[v];
    PLX_TRY(plx__local_settle_reach(goal, run, s));
    if (!by_cv) return plx__store_new(&none, run->out, "cv_accuracy", 0, 1);
    PLX_TRY(plx__smoother_form_parts(run->ctx, s));
    PLX_TRY(cross_validate(run, s, goal, w.data));
    for (plx_index v = 0; v < m; v++) s->part[v].weight = w.data[v];
    return PLX_OK;
}
