/*
 * Candidates of a ranking, and the parameters all rankings share.
 */
#include "active/acquirer.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

/* ---- candidates ---- */

static const char CANDIDATES[] = "_candidates";

plx_status plx__candidates_put(plx__run *run, const plx__candidate *candidates, plx_index count)
{
    plx_mat out;
    PLX_TRY(plx__store_new(&out, run->out, CANDIDATES, count, 5));
    for (plx_index i = 0; i < count; i++) {
        double *row = out.data + i * out.ld;
        row[0] = (double)candidates[i].row;
        row[1] = (double)candidates[i].view;
        row[2] = candidates[i].information;
        row[3] = candidates[i].cost;
        row[4] = (double)candidates[i].pick;
    }
    return PLX_OK;
}

plx_status plx__candidates_get(plx__candidate **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                               const plx__store *store)
{
    plx_cmat from;
    PLX_TRY(plx__store_shaped(&from, ctx, store, CANDIDATES, -1, 5));
    PLX_TRY(PLX__ARENA_NEW(out, arena, from.rows));
    *count = from.rows;
    for (plx_index i = 0; i < from.rows; i++) {
        const double *row = from.data + i * from.ld;
        (*out)[i] = (plx__candidate){(plx_index)row[0], (plx_index)row[1], row[2], row[3], (plx_index)row[4]};
    }
    return PLX_OK;
}

bool plx__may_acquire(const plx__run *run, plx_index i, plx_index view)
{
    const plx__problem *p = run->problem;
    if (!run->offer) return true;
    return run->offer->open[(view < 0 ? p->n_given : p->given[view]) * p->rows + p->row[i]] != 0;
}

/* ---- shared parameters ---- */

#define ROW(name, kind, flags, def, lo, hi, words, help)                                                               \
    {                                                                                                                  \
        name, kind, PLX__NO_FIELD | (flags), 0, def, lo, hi, words, help                                               \
    }

const plx__param_spec plx__acquire_params[] = {
    PLX__VIEW_REAL(
        "cost", "", 0, PLX__ABOVE_LO,
        "Cost of measuring a view (cost.VIEW) or of a label (cost.label); not set: the data set's, which is 1 "
        "unless it says otherwise. Larger ranks lower."),
    ROW("budget", PLX_PARAM_REAL, PLX__ABOVE_LO, "", 0, INFINITY, NULL,
        "List only what can be paid for: walk down the ranking and skip what does not fit any more; not set: no "
        "limit."),
    ROW("batch", PLX_PARAM_INT, 0, "0", 0, 1e6, NULL,
        "Take so many at once, each worth what it adds to those taken before; 0: rank every candidate by itself."),
    PLX__PARAM_END};

const plx__param_spec plx__density_params[] = {
    ROW("density", PLX_PARAM_CHOICE, 0, "free", 0, 0, "free|class",
        "Density of unseen features: one mixture for all samples, or one per class."),
    ROW("components", PLX_PARAM_INT_OR_WORD, 0, "auto", 1, 1e6, "auto",
        "Components of each mixture; auto: smallest Bayesian information criterion."),
    ROW("max_components", PLX_PARAM_INT, 0, "5", 1, 1e6, NULL, "Most components that components=auto tries."),
    ROW("covariance", PLX_PARAM_CHOICE, 0, "full", 0, 0, "full|diag|spherical", "Shape of a component's covariances."),
    ROW("cov_reg", PLX_PARAM_REAL, 0, "1e-3", 0, INFINITY, NULL,
        "Share of the view's mean variance added to every variance; larger is smoother."),
    ROW("em_iter", PLX_PARAM_INT, 0, "500", 0, 1e9, NULL, "Most iterations of EM."),
    ROW("em_tol", PLX_PARAM_REAL, 0, "1e-9", 0, INFINITY, NULL,
        "EM stops when the log likelihood per sample changes by less."),
    ROW("init", PLX_PARAM_TEXT, 0, "auto", 0, 0, NULL,
        "Start of EM: auto (farthest-first centres), or file:F with a row of responsibilities per sample."),
    PLX__PARAM_END};

const char *const plx__acquire_extra_views[] = {"label", NULL};

plx_status plx__view_cost(double *out, plx__run *run, plx_index view)
{
    const plx__view *v = &run->problem->views[view];
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "cost", v->name));
    *out = value.text[0] ? value.number : v->cost;
    return PLX_OK;
}

plx_status plx__label_cost(double *out, plx__run *run)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "cost", "label"));
    *out = value.text[0] ? value.number : 1.0;
    return PLX_OK;
}

plx_status plx__require_seen_views(plx__run *run, const plx__view *views)
{
    for (plx_index v = 0; v < run->problem->n_views; v++)
        if (!views[v].present_count)
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "acquire: view '%s' is present for no sample; its density cannot be estimated; leave the view out",
                     views[v].name);
    return PLX_OK;
}
