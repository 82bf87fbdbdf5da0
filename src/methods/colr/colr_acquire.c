/*
 * acquire --with colr: which label, or which missing view of which sample, tells most about the weights.
 *
 * With Dp the posterior precision at the end (one per class against the rest) the information of a candidate is
 * 1/2 log det(Dp + E) - 1/2 log det Dp, E the expected change of the precision; weights and precisions stay. A change has
 * few columns U with weights a, and a full part F within the view that is measured:
 *
 *     log det(I + A U'SU A) + log det(I + S'_vv F),   S = Dp^-1, A = diag(sqrt a), S' = S after the columns' change.
 *
 * Columns are (x_k; -m1) for every view k the sample has (agreement), m1 the conditional mean of the view, and for
 * labels x_j itself. F is the rest of the agreement's expectation, the graph's, and that of the likelihood of labelled
 * samples; given the component of the density it does not depend on the sample, so that tables per component do.
 */
#include <math.h>
#include <string.h>

#include "active/batch.h"
#include "active/density.h"
#include "active/label_ranking.h"
#include "core/parallel.h"
#include "linalg/factor.h"
#include "methods/colr/colr.h"
#include "methods/colr/colr_gain.h"
#include "run/problem.h"

static const plx__param_spec acquire_specs[] = {
    PLX__CHOICE(colr_acquire_params, expectation, "mean", "mean|exact",
                "What an unseen view may hold: its conditional mean, or expectations in closed form."),
    PLX__PARAM_END};

static const plx__param_table tables[] = {acquire_specs,         plx__acquire_params, plx__density_params,
                                          plx__label_params,     plx__colr_params,    plx__scale_params,
                                          plx__zero_rows_params, plx__heldout_params, NULL};

static const plx__array_spec array_specs[] = {
    {"label_gain", "n x 1", PLX__SOMETIMES, "Labels: information in nats, not divided by the cost; 0: no candidate."},
    {"gain", "n x m", PLX__SOMETIMES, "Features: information in nats, not divided by the cost; 0: no candidate."},
    {"mixing", "n x K", PLX__SOMETIMES, "Features: weight of every component given what is seen of the sample."},
    {"gmm_weight", "K x 1", PLX__SOMETIMES, "Features: weights of the components."},
    {"gmm_mean.VIEW", "K x d", PLX__SOMETIMES, "Features: means of the components in the view, as the method sees it."},
    {"gmm_cov.VIEW", "K*d x d", PLX__ON_REQUEST | PLX__SOMETIMES, "Covariances, one below the other."},
    {"weights", "D x Q", 0, "Weights of all views one below the other, the constant last within each."},
    {"lambda", "P x Q", 0, "Precisions: of every weight, of the graphs (one, or one per view), of the agreement."},
    {"probability", "n x K", 0, "Class probabilities."},
    {"view_score", "n x mQ", 0, "Scores of every view, grouped by view; 0 where it is missing."},
    {NULL, NULL, 0, NULL}};

/* ---- density ---- */

static plx_status open_density(colr_gains *g)
{
    colr *c = g->c;
    plx__density_view *views = NULL;
    plx_index hidden = 0;
    for (plx_index j = 0; j < c->m; j++)
        for (plx_index i = 0; i < c->n; i++) hidden += !c->views[j].present[i];
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(c->ctx), c->m));
    for (plx_index j = 0; j < c->m; j++)
        views[j] = (plx__density_view){c->views[j].name, c->views[j].x, c->views[j].present};
    if (!hidden && plx__density_check(c->run, views, c->m) != PLX_OK) {
        plx__clear_error(c->ctx); /* nothing is missing, so no density is needed */
        return PLX_OK;
    }
    g->candidates = hidden;
    PLX_TRY(plx__density_fit(&g->density, c->run, views, c->m));
    return plx__density_put(&g->density, c->run);
}

/* ---- candidates ---- */

static bool asks_for_label(const colr *c, plx_index i)
{
    return c->label[i] < 0 && c->count[i] > 0 && plx__may_acquire(c->run, i, -1);
}

static plx_status list_candidates(colr_gains *g, colr_posterior *posteriors, plx_index batch)
{
    const colr *c = g->c;
    const plx__problem *p = c->run->problem;
    plx__candidate *list = NULL;
    plx_index count = 0, *sample = NULL, *number = NULL;
    double cost = 1;
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(c->ctx), c->n * (c->m + 1)));
    PLX_TRY(plx__arena_i64(&sample, plx__scratch(c->ctx), c->n * (c->m + 1)));
    PLX_TRY(plx__arena_i64(&number, plx__scratch(c->ctx), c->n * (c->m + 1)));
    if (g->labels) PLX_TRY(plx__label_cost(&cost, c->run));
    for (plx_index i = 0; i < c->n && g->labels; i++)
        if (asks_for_label(c, i)) {
            sample[count] = i;
            number[count] = -1;
            list[count++] = (plx__candidate){p->row[i], -1, g->label_gain.data[i], cost, 0};
        }
    for (plx_index j = 0; j < c->m && g->features; j++) {
        plx_index view = c->views[j].view;
        PLX_TRY(plx__view_cost(&cost, c->run, view));
        for (plx_index i = 0; i < c->n; i++)
            if (!c->views[j].present[i] && plx__may_acquire(c->run, i, view)) {
                sample[count] = i;
                number[count] = j;
                list[count++] = (plx__candidate){p->row[i], view, g->gain.data[i * g->gain.ld + view], cost, 0};
            }
    }
    if (batch) PLX_TRY(plx__colr_batch(posteriors, list, count, sample, number, batch));
    return plx__candidates_put(c->run, list, count);
}

static plx_status open_arrays(colr_gains *g)
{
    plx__store *out = g->c->run->out;
    if (g->labels) PLX_TRY(plx__store_new(&g->label_gain, out, "label_gain", g->c->n, 1));
    if (g->features) PLX_TRY(plx__store_new(&g->gain, out, "gain", g->c->n, g->c->run->problem->n_views));
    if (g->labels) plx__mat_fill(g->label_gain, 0.0);
    if (g->features) plx__mat_fill(g->gain, 0.0);
    return PLX_OK;
}

/* ---- the method's rule ---- */

static plx_status rank(plx__run *run, bool labels, bool features)
{
    colr c = {.dense = true};
    colr_gains g = {.c = &c, .labels = labels, .features = features};
    colr_fit *fits = NULL;
    colr_posterior *posteriors = NULL;
    plx_index batch = 0;
    PLX_TRY(plx__batch_size(&batch, run));
    g.exact = ((const colr_acquire_params *)run->params)->expectation == 1;
    if (features) PLX_TRY(plx__require_seen_views(run, run->problem->views));
    PLX_TRY(plx__colr_fit_all(&c, run, &fits));
    PLX_TRY(open_arrays(&g));
    if (features) PLX_TRY(open_density(&g));
    PLX_TRY(plx__colr_open_gains(&g));
    PLX_TRY(PLX__ARENA_NEW(&posteriors, plx__scratch(run->ctx), c.q));
    for (plx_index q = 0; q < c.q; q++) {
        plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
        PLX_TRY(plx__report(run->ctx, "gain", q + 1, c.q, NAN));
        PLX_TRY(plx__colr_open_posterior(&posteriors[q], &g, &fits[q]));
        PLX_TRY(plx__colr_add_gains(&posteriors[q]));
        if (!batch) plx__arena_rewind(plx__scratch(run->ctx), mark);
    }
    if (labels) PLX_TRY(plx__require_finite(run, plx__cmat(g.label_gain), "gains"));
    if (features) PLX_TRY(plx__require_finite(run, plx__cmat(g.gain), "gains"));
    return list_candidates(&g, posteriors, batch);
}

static plx_status rank_labels(plx__run *run) { return rank(run, true, false); }
static plx_status rank_features(plx__run *run) { return rank(run, false, true); }
static plx_status rank_any(plx__run *run) { return rank(run, true, true); }

static plx_status check(plx__run *run)
{
    enum { MOST_FEATURES = 5000 };
    const plx__problem *p = run->problem;
    plx_index d = 0;
    for (plx_index v = 0; v < p->n_views; v++) d += p->views[v].present_count ? p->views[v].cols : 0;
    if (d > MOST_FEATURES)
        PLX_FAIL(run->ctx, PLX_E_DATA,
                 "acquire: colr forms the precision of all weights, %lld features are too many (at most %d); leave "
                 "features out, or ask for labels with another method",
                 (long long)d, MOST_FEATURES);
    return PLX_OK;
}

/* Beyond the fit with d x d matrices: the covariance and its products with blocks of rows; the density and its tables. */
static double memory(const plx__run *run)
{
    const plx__problem *p = run->problem;
    plx__value components = {.word = -1, .number = 1}, most = {.number = 5}, batch = {.number = 0};
    double n = (double)p->n, d = 0, widest = 0, m = (double)p->n_views, base = plx__colr_memory(run);
    if (run->fitted) return base;
    if (plx__view_value(&components, run->ctx, run->settings, "components", NULL) != PLX_OK) return base;
    if (plx__view_value(&most, run->ctx, run->settings, "max_components", NULL) != PLX_OK) return base;
    if (plx__view_value(&batch, run->ctx, run->settings, "batch", NULL) != PLX_OK) return base;
    double k = components.word >= 0 ? most.number : components.number;
    double q = batch.number > 0 && p->n_classes > 2 ? (double)p->n_classes : 1.0; /* posteriors that are kept */
    for (plx_index v = 0; v < p->n_views; v++) {
        d += (double)p->views[v].cols + 1;
        widest = fmax(widest, (double)p->views[v].cols + 1);
    }
    return base + 8 * (2 * n * d + (6 + 2 * q) * d * d + n * d * (k + 2) + 3 * k * d * d + 4 * q * k * widest * widest +
                       m * 256 * d + 16 * 4 * widest * widest);
}

#define RANKING(rule, keeps_empty, words)                                                                              \
    {                                                                                                                  \
        .name = "colr", .title = "What to label or measure next, by multi-view logistic regression", .summary = words, \
        .citation = "krishnapuram2005active", .task = PLX_TASK_CLASSIFY,                                               \
        .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED,             \
        .min_views = 1, .min_classes = 2, .zero_rows = PLX__ZERO_ROWS_PARAM, .keep_empty_views = keeps_empty,          \
        .extra_views = plx__acquire_extra_views, .params_size = sizeof(colr_acquire_params), .params = tables,         \
        .arrays = array_specs, .memory_remedy = "use fewer features or samples, or raise the memory limit",            \
        .check = check, .memory = memory, .fit = rule, .predict = plx__colr_predict                                    \
    }

const plx__method plx__acquire_colr_labels =
    RANKING(rank_labels, false, "Ranks unlabelled samples by what their label would tell about the weights.");
const plx__method plx__acquire_colr_features =
    RANKING(rank_features, true, "Ranks missing views of samples by what measuring them would tell about the weights.");
const plx__method plx__acquire_colr_any =
    RANKING(rank_any, true, "Ranks labels and missing views together by what they would tell about the weights.");
