/*
 * kcomplete: kernels between incomplete samples, the missing features integrated out, and a logistic regression on
 * them.
 *
 * A mixture of Gaussians of all features is fitted with missing entries (mixture/incomplete_mixture.h); given what it has, every
 * sample is a distribution, and the expected kernel of two samples has a closed form (mixture/expected_kernel.h). As
 * baselines the samples are filled by the conditional mean or by the column mean. Kernel logistic regression
 * (optim/klr.h) labels.
 */
#include "core/parallel.h"
#include "methods/kcomplete/kcomplete.h"

#include <math.h>
#include <string.h>

#include "optim/klr.h"

static const plx__param_spec param_specs[] = {
    PLX__CHOICE(kc_params, completion, "analytic", "analytic|conditional_mean|mean",
                "Expected kernel, or the kernel of samples filled by the conditional mean or the column mean."),
    {"kernel", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "rbf", 0, 0, "linear|rbf|poly",
     "Kernel of the features of all views together."},
    {"width", PLX_PARAM_REAL_OR_WORD, PLX__NO_FIELD | PLX__ABOVE_LO, 0, "median", 0, INFINITY, "median",
     "Width of the rbf kernel: larger is smoother; median = median distance of the mean-filled rows."},
    {"gamma", PLX_PARAM_REAL, PLX__NO_FIELD | PLX__ABOVE_LO, 0, "", 0, INFINITY, NULL,
     "The rbf kernel as exp(-gamma |x-z|^2), instead of width: larger is more local."},
    {"amplitude", PLX_PARAM_REAL_OR_WORD, PLX__NO_FIELD | PLX__ABOVE_LO, 0, "1", 0, INFINITY, "auto",
     "Factor of every kernel value; auto makes the mean of the diagonal of the mean-filled rows 1."},
    {"degree", PLX_PARAM_INT, PLX__NO_FIELD, 0, "2", 1, PLX__EXPECT_MAX_DEGREE, NULL,
     "Degree of the poly kernel (x.z + coef0)^degree."},
    {"coef0", PLX_PARAM_REAL, PLX__NO_FIELD, 0, "1", 0, INFINITY, NULL,
     "Constant of the poly kernel; larger gives lower orders more weight."},
    PLX__BOOL(kc_params, normalised, "false", "Multiply the rbf kernel by (2 pi)^(-d/2) width^-d."),
    {"components", PLX_PARAM_INT_OR_WORD, PLX__NO_FIELD, 0, "1", 1, 1e6, "auto",
     "Components of the mixture; auto: the number with the smallest BIC."},
    PLX__INT(kc_params, max_components, "5", 1, 1e6, "Most components that components=auto tries."),
    PLX__CHOICE(kc_params, covariance, "full", "full|diag", "Shape of the covariances."),
    PLX__REAL(kc_params, cov_reg, "1e-3", 0, INFINITY,
              "Added to every variance, relative to the mean variance of the features; larger is smoother."),
    PLX__INT(kc_params, em_iter, "500", 0, 1e9, "Most iterations of EM."),
    PLX__REAL(kc_params, em_tol, "1e-9", 0, INFINITY, "EM stops when the mean log likelihood changes by less."),
    PLX__TEXT(kc_params, init, "auto",
              "Start of EM: auto (far apart centres), or file:F with a row of responsibilities per sample."),
    PLX__CHOICE(kc_params, classifier, "klr", "klr|none", "Kernel logistic regression, or only mixture and kernel."),
    PLX__REAL_ABOVE(kc_params, ridge, "0.01", 0, "Penalty of the logistic regression; larger is smoother."),
    PLX__VIEW_CHOICE("scale", "auto", "auto|none|zscore",
                     "Columns to mean 0 and deviation 1 over observed entries (auto does so too), or as they are."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"kernel", "n x n", PLX__ON_REQUEST, "Completed kernel matrix: a view of kind kernel for other methods."},
    {"imputed", "n x D", 0, "Features filled by conditional means; completion=mean: by column means."},
    {"gmm_weight", "Z x 1", PLX__SOMETIMES, "Weights of the mixture; not with completion=mean."},
    {"gmm_mean", "Z x D", PLX__SOMETIMES, "Means of the mixture; not with completion=mean."},
    {"gmm_cov", "ZD x D", PLX__SOMETIMES, "Covariances of the mixture, one below the other; not with completion=mean."},
    {"responsibility", "n x Z", PLX__SOMETIMES, "Components given what a sample has; not with completion=mean."},
    {"probability", "n x C", PLX__SOMETIMES, "classifier=klr: class probabilities."},
    {"weights", "1+l x Q", PLX__SOMETIMES | PLX__SAMPLE_ORDER,
     "classifier=klr: bias and weights of the l labelled samples; two classes: one column."},
    {NULL, NULL, 0, NULL}};

/* ---- classifier ---- */

typedef struct labelled {
    plx_index *sample;
    plx_index l, outputs;
} labelled;

static plx_status find_labelled(labelled *out, kc *c)
{
    const plx__problem *p = c->run->problem;
    *out = (labelled){.outputs = p->n_classes == 2 ? 1 : p->n_classes};
    PLX_TRY(plx__arena_i64(&out->sample, plx__scratch(c->ctx), p->n));
    for (plx_index i = 0; i < p->n; i++)
        if (p->label[i] >= 0) out->sample[out->l++] = i;
    return PLX_OK;
}

static plx_status fit_output(kc *c, const labelled *who, plx_cmat k, plx_index output, plx_mat weights)
{
    const plx__problem *p = c->run->problem;
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_index positive = who->outputs == 1 ? 1 : output;
    double *y = NULL, *w = NULL;
    plx__klr_result result;
    PLX_TRY(plx__arena_f64(&y, plx__scratch(c->ctx), who->l, 1));
    PLX_TRY(plx__arena_f64(&w, plx__scratch(c->ctx), who->l + 1, 1));
    for (plx_index i = 0; i < who->l; i++) y[i] = p->label[who->sample[i]] == positive ? 1.0 : -1.0;
    PLX_TRY(plx__klr_fit(c->ctx, k, y, c->set->ridge, w, &result));
    if (!result.converged) c->run->info->converged = 0;
    if (!result.converged)
        plx__warn(c->ctx, "kcomplete: class '%s': the logistic regression stopped at gradient %g", p->classes[positive],
                  result.gradient);
    for (plx_index a = 0; a <= who->l; a++) weights.data[a * weights.ld + output] = w[a];
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

static plx_status fit_classifier(kc *c, const kc_rows *rows, const labelled *who)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_mat k, weights;
    PLX_TRY(plx__arena_mat(&k, plx__scratch(c->ctx), who->l, who->l));
    PLX_TRY(plx__store_new(&weights, c->run->out, "weights", who->l + 1, who->outputs));
    PLX_TRY(plx__kc_values(c, rows, who->sample, who->l, rows, who->sample, who->l, k));
    PLX_TRY(plx__require_finite(c->run, plx__cmat(k), "kernel values"));
    for (plx_index q = 0; q < who->outputs; q++) PLX_TRY(fit_output(c, who, plx__cmat(k), q, weights));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

/* One against the rest: normalised over the classes; all zero: uniform. */
static void share_out(double *row, plx_index classes)
{
    double sum = 0;
    for (plx_index q = 0; q < classes; q++) sum += row[q];
    for (plx_index q = 0; q < classes; q++) row[q] = sum > 0 ? row[q] / sum : 1.0 / (double)classes;
}

/* k: n x l kernel values with the labelled samples. */
static plx_status classify(kc *c, plx_cmat k)
{
    const plx__store *state = c->run->fitted ? c->run->fitted : c->run->out;
    plx_index classes = c->run->problem->n_classes, outputs = classes == 2 ? 1 : classes;
    plx_mat probability;
    plx_cmat weights;
    double *f = NULL, *w = NULL;
    int32_t *label = NULL;
    PLX_TRY(plx__store_shaped(&weights, c->ctx, state, "weights", k.cols + 1, outputs));
    PLX_TRY(plx__store_new(&probability, c->run->out, "probability", k.rows, classes));
    PLX_TRY(plx__arena_f64(&f, plx__scratch(c->ctx), k.rows, 1));
    PLX_TRY(plx__arena_f64(&w, plx__scratch(c->ctx), weights.rows, 1));
    for (plx_index q = 0; q < outputs; q++) {
        for (plx_index a = 0; a < weights.rows; a++) w[a] = weights.data[a * weights.ld + q];
        PLX_TRY(plx__klr_apply(c->ctx, k, w, f));
        for (plx_index i = 0; i < k.rows; i++) {
            double *row = probability.data + i * probability.ld;
            row[outputs == 1 ? 1 : q] = plx__sigmoid(f[i]);
            if (outputs == 1) row[0] = plx__sigmoid(-f[i]);
        }
    }
    for (plx_index i = 0; i < k.rows && outputs > 1; i++) share_out(probability.data + i * probability.ld, classes);
    PLX_TRY(plx__require_finite(c->run, plx__cmat(probability), "probabilities"));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(c->ctx), k.rows));
    plx__argmax_rows(label, plx__cmat(probability));
    return plx__outcome_classes(c->run, label, plx__cmat(probability));
}

/* ---- arrays ---- */

static plx_status put_samples(kc *c, const kc_rows *rows)
{
    PLX_TRY(plx__store_put(c->run->out, "imputed", plx__cmat(rows->imputed)));
    if (c->set->completion == KC_MEAN) return PLX_OK;
    return plx__store_put(c->run->out, "responsibility", plx__cmat(rows->moments.prob));
}

static plx_status put_kernel(kc *c, const kc_rows *rows)
{
    plx_index n = rows->x.rows;
    plx_mat kernel;
    if (!plx__wanted(c->run, "kernel")) return PLX_OK;
    PLX_TRY(plx__store_new(&kernel, c->run->out, "kernel", n, n));
    PLX_TRY(plx__kc_values(c, rows, NULL, n, rows, NULL, n, kernel));
    return plx__require_finite(c->run, plx__cmat(kernel), "kernel values");
}

/* The samples new ones are compared with: the labelled ones, and all of them where the whole kernel was asked for. */
static plx_status put_rows(kc *c, const kc_rows *rows, const labelled *who)
{
    plx_mat out;
    PLX_TRY(plx__store_put(c->run->out, "_column_mean", (plx_cmat){c->column_mean, 1, rows->x.cols, rows->x.cols}));
    if (c->set->classifier == KC_KLR) {
        PLX_TRY(plx__store_new(&out, c->run->out, "_labelled_rows", who->l, rows->x.cols));
        plx__kc_with_nan(out, rows, who->sample, who->l);
    }
    if (!plx__wanted(c->run, "kernel")) return PLX_OK;
    PLX_TRY(plx__store_new(&out, c->run->out, "_rows", rows->x.rows, rows->x.cols));
    plx__kc_with_nan(out, rows, NULL, rows->x.rows);
    return PLX_OK;
}

/* ---- fit and predict ---- */

static plx_status fit(plx__run *run)
{
    kc c = {.run = run, .ctx = run->ctx, .set = run->params};
    kc_rows rows;
    labelled who;
    plx_mat k;
    PLX_TRY(plx__kc_open_rows(&rows, &c));
    PLX_TRY(find_labelled(&who, &c));
    c.column_mean = rows.data.mean;
    if (c.set->completion != KC_MEAN) {
        PLX_TRY(plx__kc_fit_mixture(&c, &rows));
        PLX_TRY(plx__kc_put_mixture(&c));
    }
    PLX_TRY(plx__kc_settle_kernel(&c, &rows));
    PLX_TRY(plx__kc_complete(&rows, &c));
    PLX_TRY(put_samples(&c, &rows));
    PLX_TRY(put_rows(&c, &rows, &who));
    PLX_TRY(plx__report(run->ctx, "kernel", 1, 1, NAN));
    PLX_TRY(put_kernel(&c, &rows));
    if (c.set->classifier == KC_NO_CLASSIFIER) return plx__outcome_nothing(run);
    PLX_TRY(fit_classifier(&c, &rows, &who));
    PLX_TRY(plx__arena_mat(&k, plx__scratch(run->ctx), rows.x.rows, who.l));
    PLX_TRY(plx__kc_values(&c, &rows, NULL, rows.x.rows, &rows, who.sample, who.l, k));
    return classify(&c, plx__cmat(k));
}

/* Kernel values of new rows with rows the model kept; out is n x (number of those). */
static plx_status values_with(plx_mat *out, kc *c, const kc_rows *rows, const char *kept)
{
    plx_cmat with_nan;
    kc_rows known;
    PLX_TRY(plx__store_shaped(&with_nan, c->ctx, c->run->fitted, kept, -1, rows->x.cols));
    PLX_TRY(plx__kc_rows_of(&known, c, with_nan));
    PLX_TRY(plx__kc_complete(&known, c));
    PLX_TRY(plx__arena_mat(out, plx__scratch(c->ctx), rows->x.rows, with_nan.rows));
    return plx__kc_values(c, rows, NULL, rows->x.rows, &known, NULL, with_nan.rows, *out);
}

static plx_status predict(plx__run *run)
{
    kc c = {.run = run, .ctx = run->ctx, .set = run->params};
    kc_rows rows;
    plx_cmat mean;
    plx_mat k;
    PLX_TRY(plx__kc_open_rows(&rows, &c));
    PLX_TRY(plx__store_shaped(&mean, run->ctx, run->fitted, "_column_mean", 1, rows.x.cols));
    PLX_TRY(plx__arena_f64(&c.column_mean, plx__scratch(run->ctx), rows.x.cols, 1));
    memcpy(c.column_mean, mean.data, (size_t)rows.x.cols * sizeof *c.column_mean);
    if (c.set->completion != KC_MEAN) PLX_TRY(plx__kc_load_mixture(&c, rows.x.cols));
    PLX_TRY(plx__kc_settle_kernel(&c, &rows));
    PLX_TRY(plx__kc_complete(&rows, &c));
    PLX_TRY(put_samples(&c, &rows));
    PLX_TRY(put_kernel(&c, &rows));
    if (plx__wanted(run, "kernel") && plx__store_find(run->fitted, "_rows")) {
        PLX_TRY(values_with(&k, &c, &rows, "_rows"));
        PLX_TRY(plx__store_put(run->out, "_cross.kernel", plx__cmat(k)));
    }
    if (c.set->classifier == KC_NO_CLASSIFIER) return plx__outcome_nothing(run);
    PLX_TRY(values_with(&k, &c, &rows, "_labelled_rows"));
    return classify(&c, plx__cmat(k));
}

static plx_status check(plx__run *run)
{
    const kc_params *set = run->params;
    const plx__problem *p = run->problem;
    plx_index classes = 0;
    uint8_t *seen = NULL;
    if (set->classifier == KC_NO_CLASSIFIER) return PLX_OK;
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(run->ctx), p->n_classes));
    for (plx_index i = 0; i < p->n; i++)
        if (p->label[i] >= 0) seen[p->label[i]] = 1;
    for (plx_index q = 0; q < p->n_classes; q++) classes += seen[q];
    if (classes < 2)
        PLX_FAIL(
            run->ctx, PLX_E_DATA,
            "kcomplete: classification needs labelled samples of at least two classes (found %lld); classifier=none "
            "needs no labels",
            (long long)classes);
    return PLX_OK;
}

/* Rows as given, dense, scaled, filled, and conditional means; covariances of the mixture and, for the expected
 * kernel, of every pattern (at most one per sample); kernel values. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const kc_params *set = run->params;
    plx__value components = {.word = -1, .number = 1};
    double n = (double)x->n, l = (double)x->n_labelled, d = 0, missing = 0;
    if (plx__view_value(&components, run->ctx, run->settings, "components", NULL) != PLX_OK) return INFINITY;
    double k = components.word >= 0 ? (double)set->max_components : components.number;
    for (plx_index v = 0; v < x->n_views; v++) {
        d += (double)x->views[v].cols;
        missing +=
            (double)x->views[v].missing_values + (n - (double)x->views[v].present_count) * (double)x->views[v].cols;
    }
    double width = n > 0 ? fmin(d, missing / n) : 0;
    double bytes = n * d * 10 + 8 * (n * (4 + k) * d + l * d);
    if (set->completion != KC_MEAN) bytes += 8 * k * (set->covariance == PLX__COV_FULL ? 24 * d * d : 24 * d);
    if (set->completion != KC_MEAN) /* two tiles of rows per worker and the sums of a sweep; columns of every pattern */
        bytes += 8 * (256 * plx__workers(run->ctx) + 32 * k) * d + 8 * n * d;
    if (set->completion == KC_ANALYTIC) bytes += 8 * n * k * width * (set->covariance == PLX__COV_FULL ? width : 1);
    if (set->classifier == KC_KLR) bytes += 8 * (n * l + 3 * l * l);
    return bytes + (plx__wanted(run, "kernel") ? 16 * n * n : 0);
}

static const plx__param_table tables[] = {param_specs, plx__heldout_params, plx__zero_rows_params,
                                          plx__uncovered_params, NULL};

const plx__method plx__method_kcomplete = {
    .name = "kcomplete",
    .title = "Kernels between incomplete samples",
    .summary = "Integrates missing features and views out of the kernel, under a mixture fitted to what is there; "
               "classifies by logistic regression, or hands the kernel to other methods.",
    .citation = "williams2005kcomplete",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_MISSING_VALUES | PLX_CAN_USE_UNLABELLED,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .params_size = sizeof(kc_params),
    .scores = "class probability",
    .growth = "quadratic",
    .params = tables,
    .arrays = array_specs,
    .transform = "kernel",
    .memory_remedy = "use covariance=diag or completion=conditional_mean, or raise the memory limit",
    .check = check,
    .memory = memory,
    .fit = fit,
    .predict = predict};
