/*
 * The list of acquirers and the parameters they share.
 */
#include "active/acquirer.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

extern const plx__method plx__acquire_bct;

static const plx__acquirer acquirers[] = {{.method = &plx__acquire_bct, .features = true}};

enum { COUNT = sizeof acquirers / sizeof *acquirers };

plx_index plx__acquirer_count(void) { return COUNT; }

const plx__acquirer *plx__acquirer_at(plx_index i) { return i >= 0 && i < COUNT ? &acquirers[i] : NULL; }

plx_status plx__acquirer_require(const plx__acquirer **out, plx_context *ctx, const char *name)
{
    plx__textbuf list;
    const char *known = NULL;
    *out = NULL;
    plx__textbuf_init(&list, plx__scratch(ctx));
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(acquirers[i].method->name, name) == 0) *out = &acquirers[i];
        plx__textbuf_printf(&list, "%s%s", i ? ", " : "", acquirers[i].method->name);
    }
    if (*out) return PLX_OK;
    PLX_TRY(plx__textbuf_done(&known, &list));
    PLX_FAIL(ctx, PLX_E_ARG, "acquire: '%s' cannot tell what to measure next; available: %s", name, known);
}

plx_status plx__acquirer_check_kind(plx_context *ctx, const plx__acquirer *a, plx_acquire_kind kind)
{
    const char *name = a->method->name;
    if (kind != PLX_ACQUIRE_LABELS && kind != PLX_ACQUIRE_FEATURES && kind != PLX_ACQUIRE_ANY)
        PLX_FAIL(ctx, PLX_E_ARG, "acquire: unknown kind %d; expected labels, features or any", (int)kind);
    if (kind != PLX_ACQUIRE_FEATURES && !a->labels)
        PLX_FAIL(ctx, PLX_E_ARG, "acquire: %s ranks features only; ask for features", name);
    if (kind != PLX_ACQUIRE_LABELS && !a->features)
        PLX_FAIL(ctx, PLX_E_ARG, "acquire: %s ranks labels only; ask for labels", name);
    return PLX_OK;
}

/* ---- candidates ---- */

static const char CANDIDATES[] = "_candidates";

plx_status plx__candidates_put(plx__run *run, const plx__candidate *candidates, plx_index count)
{
    plx_mat out;
    PLX_TRY(plx__store_new(&out, run->out, CANDIDATES, count, 4));
    for (plx_index i = 0; i < count; i++) {
        double *row = out.data + i * out.ld;
        row[0] = (double)candidates[i].row;
        row[1] = (double)candidates[i].view;
        row[2] = candidates[i].information;
        row[3] = candidates[i].cost;
    }
    return PLX_OK;
}

plx_status plx__candidates_get(plx__candidate **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                               const plx__store *store)
{
    plx_cmat from;
    PLX_TRY(plx__store_shaped(&from, ctx, store, CANDIDATES, -1, 4));
    PLX_TRY(PLX__ARENA_NEW(out, arena, from.rows));
    *count = from.rows;
    for (plx_index i = 0; i < from.rows; i++) {
        const double *row = from.data + i * from.ld;
        (*out)[i] = (plx__candidate){(plx_index)row[0], (plx_index)row[1], row[2], row[3]};
    }
    return PLX_OK;
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

plx_status plx__require_seen_views(plx__run *run, const plx__view *views)
{
    for (plx_index v = 0; v < run->problem->n_views; v++)
        if (!views[v].present_count)
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "acquire: view '%s' is present for no sample; its density cannot be estimated; leave the view out",
                     views[v].name);
    return PLX_OK;
}
