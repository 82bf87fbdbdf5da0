/*
 * nb: multinomial naive Bayes per view, and the ensemble of the views.
 *
 * Every view v has its own word distributions theta_v (one row per class), estimated from the labelled samples that
 * have the view; the class prior comes from all labelled samples. A sample's posterior is the average of its views'
 * posteriors (NBC_E) or their product of experts. The steps themselves are in mixture/naive_bayes.c.
 */
#include <math.h>

#include "data/divided.h"
#include "mixture/naive_bayes.h"
#include "mixture/row_scaling.h"

enum { MEAN = 0, PRODUCT = 1 };

typedef struct params {
    double smoothing, prior_smoothing;
    int combine;
} params;

static const plx__param_spec param_specs[] = {
    PLX__REAL(params, smoothing, "1", 0, INFINITY,
              "Pseudo-count per class and feature; larger pulls towards the uniform distribution."),
    PLX__REAL(params, prior_smoothing, "0", 0, INFINITY,
              "Pseudo-count per class in the prior; larger pulls towards equal classes."),
    PLX__CHOICE(params, combine, "mean", "mean|product",
                "How the views' posteriors are joined: their average, or the product of their likelihoods."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"posterior", "n x K", 0, "Class probabilities of every sample."},
    {"posterior.VIEW", "n x K", 0, "Class probabilities by one view alone; zero rows where it is missing."},
    {"theta.VIEW", "K x d", 0, "Feature probabilities of every class in one view."},
    {"prior", "1 x K", 0, "Class probabilities before any view is seen."},
    {NULL, NULL, 0, NULL}};

/* ---- fitting ---- */

static plx_status fit_prior(plx__run *run)
{
    const params *p = run->params;
    plx__nb_labels labels = plx__nb_labels_of(run->problem, "nb");
    plx_mat prior;
    PLX_TRY(plx__store_new(&prior, run->out, "prior", 1, labels.n_classes));
    return plx__nb_prior(prior.data, run->ctx, &labels, p->prior_smoothing);
}

static plx_status fit_view(plx__run *run, const plx__view *v)
{
    const params *p = run->params;
    plx__nb_labels labels = plx__nb_labels_of(run->problem, "nb");
    const char *name = NULL;
    double *total = NULL;
    plx_mat theta;
    PLX_TRY(plx__view_key(&name, run->ctx, "theta", v->name));
    PLX_TRY(plx__store_new(&theta, run->out, name, labels.n_classes, v->cols));
    PLX_TRY(plx__arena_f64(&total, plx__scratch(run->ctx), labels.n_classes, 1));
    PLX_TRY(plx__nb_theta(theta, total, run->ctx, &labels, v, p->smoothing));
    for (plx_index c = 0; c < labels.n_classes; c++)
        if (total[c] == 0)
            plx__warn(
                run->ctx,
                "nb: the labelled samples of class '%s' all miss view '%s'; its features are taken as uniform there",
                labels.classes[c], v->name);
    return PLX_OK;
}

/* ---- scoring ---- */

static plx_status score_view(plx__run *run, plx__nb_joint *j, const plx__view *v)
{
    const plx__store *state = run->fitted ? run->fitted : run->out;
    const char *name = NULL, *theta_name = NULL;
    plx_cmat theta;
    plx_mat own;
    PLX_TRY(plx__view_key(&theta_name, run->ctx, "theta", v->name));
    PLX_TRY(plx__store_shaped(&theta, run->ctx, state, theta_name, j->joint.cols, v->cols));
    PLX_TRY(plx__view_key(&name, run->ctx, "posterior", v->name));
    PLX_TRY(plx__sample_array(&own, run, name, j->joint.cols));
    PLX_TRY(plx__nb_view_scores(run->ctx, v, theta, own));
    PLX_TRY(plx__nb_joint_add(j, run->ctx, v, own));
    return run->kept ? PLX_OK : plx__held_share(run->ctx, v, own.data, (size_t)own.ld * sizeof *own.data);
}

static plx_status start_scoring(plx__nb_joint *j, plx__run *run)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    plx_cmat prior;
    plx_mat joint;
    PLX_TRY(plx__store_dense(&prior, run->ctx, run->fitted ? run->fitted : run->out, "prior"));
    if (prior.cols != x->n_classes) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's prior does not fit its classes");
    PLX_TRY(plx__sample_array(&joint, run, "posterior", x->n_classes));
    PLX_TRY(
        plx__nb_joint_open(j, run->ctx, prior.data, joint, p->combine == PRODUCT, x->n_views ? &x->views[0] : NULL));
    j->keep = run->kept != NULL;
    return PLX_OK;
}

static plx_status score(plx__run *run, const plx__view *views)
{
    const plx__problem *x = run->problem;
    plx__nb_joint j;
    int32_t *label = NULL;
    PLX_TRY(start_scoring(&j, run));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), plx__kept_count(run)));
    for (plx_index v = 0; v < x->n_views; v++) {
        PLX_TRY(score_view(run, &j, &views[v]));
        PLX_TRY(plx__report(run->ctx, "score", v + 1, x->n_views, NAN));
    }
    PLX_TRY(plx__nb_joint_close(&j, run->ctx));
    PLX_TRY(plx__require_finite(run, plx__cmat(j.joint), "posteriors"));
    plx__argmax_rows(label, plx__kept_part(run, j.joint));
    return plx__outcome_classes(run, label, plx__kept_part(run, j.joint));
}

/* Views with their rows scaled; every view has to be non-negative. */
static plx_status open_views(const plx__view **out, plx__run *run)
{
    PLX_TRY(plx__require_counts(run, "gp, svm or hknn suit them"));
    return plx__scale_rows(out, run, plx__is_countlike);
}

static plx_status fit(plx__run *run)
{
    const plx__view *views = NULL;
    PLX_TRY(open_views(&views, run));
    PLX_TRY(fit_prior(run));
    for (plx_index v = 0; v < run->problem->n_views; v++) PLX_TRY(fit_view(run, &views[v]));
    return score(run, views);
}

static plx_status predict(plx__run *run)
{
    const plx__view *views = NULL;
    PLX_TRY(open_views(&views, run));
    return score(run, views);
}

/* The product of a dense view is cut by its shape, and so would be its roundings. */
static bool own_rows(plx__run *run, const plx_dataset *data)
{
    bool sparse = true;
    (void)run;
    for (plx_index v = 0; v < data->n_views; v++) sparse &= data->views[v].sparse;
    return sparse;
}

static plx_status whose_rows(plx_index *bound, plx__run *run)
{
    plx__nb_bounds(bound, run->ctx, run->problem->n);
    return PLX_OK;
}

static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    double n = (double)x->n, kept = (double)plx__kept_count(run), k = (double)x->n_classes, cols = 0, widest = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        cols += (double)x->views[v].cols;
        widest = fmax(widest, (double)x->views[v].cols);
    }
    return 8 * k * (kept * (double)(x->n_views + 2) + cols + widest) + 16 * n +
           plx__scale_rows_bytes(run, plx__is_countlike);
}

static const plx__param_table tables[] = {param_specs, plx__row_params, plx__heldout_params, plx__uncovered_params,
                                          NULL};

const plx__method plx__method_nb = {
    .name = "nb",
    .title = "Multinomial naive Bayes, one per view, and their ensemble",
    .summary = "Class-conditional word distributions in every view; posteriors are averaged or multiplied over the "
               "views a sample has.",
    .citation = "zhuang2012mvplsa",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_IS_FEATURE_FREE | PLX_IS_VIEW_FREE |
                    PLX_IS_FOR_COUNTS,
    .min_views = 1,
    .min_classes = 1,
    .zero_rows = PLX__ZERO_ROWS_MISSING,
    .params_size = sizeof(params),
    .scores = "class probability",
    .growth = "linear",
    .streams = plx__streams_always,
    .ranks = PLX__RANKS_SUMS,
    .own_rows = own_rows,
    .whose_rows = whose_rows,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .profiles = {.array = "theta.VIEW"},
    .transform = "posterior",
    .view_scores = "posterior.VIEW",
    .memory = memory,
    .memory_remedy = "fit fewer samples at a time (heldout, then predict) or raise the memory limit",
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
