/*
 * colr: multi-view logistic regression with a co-training prior.
 *
 * One linear logistic classifier per view; labelled samples teach every view they have, and a Gaussian prior shrinks
 * weights, makes the views agree on samples they share and keeps each view smooth on its graph. Gamma hyper-priors
 * learn how strongly. Several classes: one against the rest, each with weights and precisions of its own.
 */
#include "methods/colr/colr.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "optim/klr.h"
#include "run/problem.h"

#define PRIOR_ROW(name, def, help)                                                                                     \
    {                                                                                                                  \
        name, PLX_PARAM_REAL, PLX__NO_FIELD | PLX__ABOVE_LO, 0, def, 0, INFINITY, NULL, help                           \
    }

const plx__param_spec plx__colr_params[] = {
    PLX__BOOL(colr_params, bias, "true", "Append a constant 1 to every view."),
    PLX__CHOICE(colr_params, balance, "view", "view|none",
                "Bring every scaled view to a mean squared distance of 1 from its mean, or leave it."),
    PLX__CHOICE(colr_params, consensus, "unlabelled", "unlabelled|all", "Samples on which the views should agree."),
    PLX__CHOICE(colr_params, hyper, "gamma", "gamma|fixed", "Learn the precisions under Gamma priors, or fix them."),
    PLX__REAL(colr_params, lambda_ridge, "1", 0, INFINITY, "hyper=fixed: precision of every weight; larger shrinks."),
    PLX__REAL(colr_params, lambda_graph, "0", 0, INFINITY, "hyper=fixed: weight of smoothness on the graphs."),
    PLX__REAL(colr_params, lambda_co, "0.1", 0, INFINITY, "hyper=fixed: weight of agreement between views."),
    PRIOR_ROW("alpha", "1", "Shape of the Gamma priors; larger expects larger precisions."),
    PRIOR_ROW("alpha.ridge", "", "The same for the weights' precisions alone."),
    PRIOR_ROW("alpha.graph", "", "The same for the graph precisions alone."),
    PRIOR_ROW("alpha.co", "", "The same for the agreement alone."),
    PRIOR_ROW("beta.ridge", "100", "Rate of the Gamma prior on the weights' precisions; larger shrinks less."),
    PRIOR_ROW("beta.co", "",
              "Rate of the Gamma prior on the agreement, larger starts weaker; not set: 50 times the number of its "
              "terms, at least 1."),
    PRIOR_ROW("beta.graph", "",
              "Rate of the Gamma prior on the graph precisions; not set: half the sum of the graph's weights, at least "
              "1."),
    PLX__CHOICE(colr_params, graph, "none", "none|rbf", "Graph of every view: none, or all pairs by an rbf kernel."),
    PLX__VIEW_REAL_OR("width", "median", 0, PLX__ABOVE_LO, "median",
                      "Width of the graph's rbf kernel: larger is smoother; median = median distance."),
    PLX__BOOL(colr_params, tie_graph, "true", "One graph precision for all views, or one per view."),
    PLX__CHOICE(colr_params, combine, "mean", "mean|sum",
                "Prediction from the mean, or the sum, of the scores of the views that are there."),
    PLX__INT(colr_params, gem_iter, "1000", 1, 1e9, "Most iterations."),
    PLX__REAL(colr_params, gem_tol, "1e-10", 0, INFINITY,
              "Stop when the log posterior changes relatively by less. 0: never, and no step is lengthened."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"weights", "D x Q", 0, "Weights of all views one below the other, the constant last within each."},
    {"lambda", "P x Q", 0, "Precisions: of every weight, of the graphs (one, or one per view), of the agreement."},
    {"posterior_precision", "DQ x D", PLX__ON_REQUEST,
     "Precision of the weights at the end, one class below the other."},
    {"probability", "n x K", 0, "Class probabilities."},
    {"view_score", "n x mQ", 0, "Scores of every view, grouped by view; 0 where it is missing."},
    {NULL, NULL, 0, NULL}};

/* ---- predictions ---- */

/* Shares of the classes among the labelled samples that have a view. */
static plx_status put_shares(const colr *c)
{
    plx_mat shares;
    plx_index classes = c->run->problem->n_classes, count = 0;
    PLX_TRY(plx__store_new(&shares, c->run->out, "_shares", 1, classes));
    plx__mat_fill(shares, 0.0);
    for (plx_index i = 0; i < c->n; i++) {
        if (c->label[i] < 0) continue;
        shares.data[c->label[i]]++;
        count++;
    }
    plx__mat_scale(shares, count ? 1.0 / (double)count : 0.0);
    return PLX_OK;
}

/* Of class 1 (two classes) or of every class against the rest, from the scores of the views a sample has. */
static double probability_of(const colr *c, plx_cmat view_score, plx_index i, plx_index q)
{
    double sum = 0;
    for (plx_index j = 0; j < c->m; j++) sum += view_score.data[i * view_score.ld + j * c->q + q];
    return plx__sigmoid(c->set->combine == COLR_MEAN ? sum / (double)c->count[i] : sum);
}

static void fill_row(const colr *c, plx_cmat view_score, plx_index i, const double *shares, double *row)
{
    plx_index classes = c->run->problem->n_classes;
    double sum = 0;
    if (!c->count[i]) {
        memcpy(row, shares, (size_t)classes * sizeof *row);
        return;
    }
    if (c->q == 1) {
        row[1] = probability_of(c, view_score, i, 0);
        row[0] = 1.0 - row[1];
        return;
    }
    for (plx_index q = 0; q < classes; q++) sum += row[q] = probability_of(c, view_score, i, q);
    for (plx_index q = 0; q < classes; q++) row[q] = sum > 0 ? row[q] / sum : 1.0 / (double)classes;
}

static plx_status put_view_scores(plx_mat *out, const colr *c, plx_cmat weights)
{
    double *w = NULL;
    plx_mat s;
    PLX_TRY(plx__sample_array(out, c->run, "view_score", c->m * c->q));
    PLX_TRY(plx__arena_f64(&w, plx__scratch(c->ctx), c->d, 1));
    PLX_TRY(plx__arena_mat(&s, plx__scratch(c->ctx), c->n, c->m));
    for (plx_index q = 0; q < c->q; q++) {
        for (plx_index e = 0; e < c->d; e++) w[e] = weights.data[e * weights.ld + q];
        PLX_TRY(plx__colr_scores(c, w, s));
        for (plx_index i = c->begin; i < c->end; i++)
            for (plx_index j = 0; j < c->m; j++) out->data[i * out->ld + j * c->q + q] = s.data[i * c->m + j];
    }
    PLX_TRY(plx__share_rows(c->run, c->cut, *out));
    return plx__require_finite(c->run, plx__cmat(*out), "scores");
}

static plx_status put_predictions(const colr *c)
{
    const plx__store *state = c->run->fitted ? c->run->fitted : c->run->out;
    plx_index classes = c->run->problem->n_classes, begin = 0, end = 0;
    plx_cmat weights, shares;
    plx_mat scores, probability;
    int32_t *label = NULL;
    PLX_TRY(plx__store_shaped(&weights, c->ctx, state, "weights", c->d, c->q));
    PLX_TRY(plx__store_shaped(&shares, c->ctx, state, "_shares", 1, classes));
    PLX_TRY(put_view_scores(&scores, c, weights));
    PLX_TRY(plx__sample_array(&probability, c->run, "probability", classes));
    plx__kept_rows(&begin, &end, c->run);
    for (plx_index i = begin; i < end; i++)
        fill_row(c, plx__cmat(scores), i, shares.data, probability.data + i * probability.ld);
    PLX_TRY(plx__arena_i32(&label, plx__scratch(c->ctx), end - begin));
    plx__argmax_rows(label, plx__kept_part(c->run, probability));
    return plx__outcome_classes(c->run, label, plx__kept_part(c->run, probability));
}

/* ---- fitting ---- */

static plx_status put_fits(const colr *c, const colr_fit *fits)
{
    plx_mat weights, lambda;
    PLX_TRY(plx__store_new(&weights, c->run->out, "weights", c->d, c->q));
    PLX_TRY(plx__store_new(&lambda, c->run->out, "lambda", c->d + c->n_graph + 1, c->q));
    for (plx_index q = 0; q < c->q; q++) {
        const colr_fit *f = &fits[q];
        for (plx_index e = 0; e < c->d; e++) {
            weights.data[e * c->q + q] = f->w[e];
            lambda.data[e * c->q + q] = f->lambda.ridge[e];
        }
        for (plx_index g = 0; g < c->n_graph; g++) lambda.data[(c->d + g) * c->q + q] = f->lambda.graph[g];
        lambda.data[(c->d + c->n_graph) * c->q + q] = f->lambda.co;
    }
    return PLX_OK;
}

static plx_status put_precision(const colr *c, const colr_fit *fits)
{
    plx_mat out, s, weight, information;
    if (!plx__wanted(c->run, "posterior_precision")) return PLX_OK;
    PLX_TRY(plx__store_new(&out, c->run->out, "posterior_precision", c->d * c->q, c->d));
    PLX_TRY(plx__arena_mat(&s, plx__scratch(c->ctx), c->n, c->m));
    PLX_TRY(plx__arena_mat(&weight, plx__scratch(c->ctx), c->n, c->m));
    PLX_TRY(plx__arena_mat(&information, plx__scratch(c->ctx), c->d, c->d));
    for (plx_index q = 0; q < c->q; q++) {
        PLX_TRY(plx__colr_scores(c, fits[q].w, s));
        plx__colr_curvature(c, plx__cmat(s), true, weight);
        PLX_TRY(plx__colr_information(c, plx__cmat(weight), information));
        plx__colr_precision(c, &fits[q].lambda, plx__cmat(information), plx__sub(out, q * c->d, 0, c->d, c->d));
    }
    return PLX_OK;
}

static plx_status learn_all(colr *c, colr_fit *fits)
{
    plx__trace trace = {0};
    double objective = 0;
    plx_index iterations = 0;
    bool converged = true;
    for (plx_index q = 0; q < c->q; q++) {
        plx__trace own = {0};
        PLX_TRY(plx__colr_learn(&fits[q], c, q, c->q == 1 ? &trace : &own));
        objective += fits[q].objective;
        iterations = plx__max(iterations, fits[q].iterations);
        converged &= fits[q].converged;
    }
    return plx__finish(c->run, c->q == 1 ? &trace : NULL, iterations, converged, objective);
}

plx_status plx__colr_fit_all(colr *c, plx__run *run, colr_fit **fits)
{
    bool dense = c->dense;
    PLX_TRY(plx__colr_open(c, run));
    c->dense = dense || plx__wanted(run, "posterior_precision");
    PLX_TRY(plx__colr_open_prior(c));
    PLX_TRY(PLX__ARENA_NEW(fits, plx__scratch(c->ctx), c->q));
    PLX_TRY(learn_all(c, *fits));
    PLX_TRY(put_fits(c, *fits));
    PLX_TRY(put_shares(c));
    PLX_TRY(put_precision(c, *fits));
    return put_predictions(c);
}

/* Graphs of all pairs of samples are not divided. */
static plx_status check(plx__run *run)
{
    if (plx__ranks(run->ctx) > 1 && ((const colr_params *)run->params)->graph != COLR_NO_GRAPH)
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "colr: graph = rbf is not distributed: one process has to fit it; graph = none is");
    return PLX_OK;
}

/* Of a graph all pairs of samples are looked at. */
static bool own_rows(plx__run *run, const plx_dataset *data)
{
    (void)data;
    return ((const colr_params *)run->params)->graph == COLR_NO_GRAPH;
}

static plx_status fit(plx__run *run)
{
    colr c = {0};
    colr_fit *fits = NULL;
    return plx__colr_fit_all(&c, run, &fits);
}

plx_status plx__colr_predict(plx__run *run)
{
    colr c;
    PLX_TRY(plx__colr_open(&c, run));
    return put_predictions(&c);
}

/* ---- memory ---- */

/* Scaled and balanced rows; dense: rows of all views, a weighted copy and five d x d; graphs and ranks: n x n. */
double plx__colr_memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const colr_params *p = run->params;
    double n = (double)x->n, m = (double)x->n_views, d = 0, rows = 0, entries = 0;
    double q = x->n_classes == 2 ? 1 : (double)x->n_classes;
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        double own = (view->sparse ? 12.0 : 8.0) * plx__held_values(view, x->n) + (view->sparse ? 8 * n : 0);
        d += (double)view->cols + p->bias;
        entries += view->sparse ? (double)view->nonzeros : n * (double)view->cols;
        rows += plx__prepared_bytes(run, v) + (p->balance == COLR_BALANCED ? own : 0.0);
    }
    double kept = (double)plx__kept_count(run);
    double scores = kept * (m * q + 2 * (double)x->n_classes) + n * (8 * m + 4);
    if (run->fitted) return rows + 8 * (scores + d);
    bool dense = plx__colr_prefers_dense(d, entries) || plx__wanted(run, "posterior_precision");
    double held = (double)(plx__held_end(&x->views[0], x->n) - plx__held_begin(&x->views[0]));
    double squares = dense ? 2 * held * d + 5 * d * d : 0.0, graph = 0;
    if (!dense && p->hyper == COLR_GAMMA) graph = plx__colr_rank_bytes(run) / 8;
    if (p->graph == COLR_RBF) graph += dense ? n * n : (m + 2) * n * n;
    if (plx__wanted(run, "posterior_precision")) squares += q * d * d;
    squares += plx__row_passes_bytes(run->ctx, x->n, dense ? d * d : d) / 8;
    return rows + 8 * (scores + squares + graph + d * (4 * q + 8));
}

static const plx__param_table tables[] = {plx__colr_params,    plx__scale_params,     plx__zero_rows_params,
                                          plx__heldout_params, plx__uncovered_params, NULL};

const plx__method plx__method_colr = {
    .name = "colr",
    .title = "Multi-view logistic regression with a co-training prior",
    .summary = "A logistic classifier per view, made to agree where views are seen together; probabilities, missing "
               "views, and what to label or measure next.",
    .citation = "krishnapuram2005active",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED,
    .min_views = 1,
    .min_classes = 2,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .params_size = sizeof(colr_params),
    .scores = "class probability",
    .growth = "linear",
    .ranks = PLX__RANKS_SUMS, /* without graphs */
    .streams = own_rows,
    .streams_with = "graph=none",
    .own_rows = own_rows,
    .whose_rows = plx__whose_panes,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .transform = "view_score",
    .memory_remedy = "use graph=none, use fewer samples or features, or raise the memory limit",
    .memory = plx__colr_memory,
    .check = check,
    .predicts_apart = true,
    .fit = fit,
    .predict = plx__colr_predict,
    .acquire = {&plx__acquire_colr_labels, &plx__acquire_colr_features, &plx__acquire_colr_any}};
