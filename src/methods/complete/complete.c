/*
 * Completion as a model: what is learned goes into named arrays, and new samples are filled from those.
 */
#include "methods/complete/complete_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/facts.h"
#include "run/problem.h"

static const plx__param_spec specs[] = {
    PLX__CHOICE(
        complete_params, with, "auto", "auto|mean|knn|ridge|cca|mixture",
        "How views are filled: auto (per view what is best on hidden rows), column means, nearest samples, ridge "
        "regression or canonical regression on the other views, or a Gaussian mixture."),
    PLX__INT(complete_params, neighbours, "10", 1, 1e6,
             "knn: neighbours; half, twice and four times as many are tried too."),
    PLX__INT(complete_params, dimensions, "50", 1, 1e4, "Principal components a view is described by."),
    PLX__INT(complete_params, components, "2", 1, COMPLETE_MIXTURES, "mixture: most components that are tried."),
    PLX__REAL(complete_params, hide, "0.2", 0, 0.9,
              "Share of the rows of every view that are hidden to measure errors and to choose by them."),
    PLX__PARAM_END};

static const plx__param_table tables[] = {specs, NULL};

static const plx__array_spec arrays[] = {
    {"fill.VIEW", "n x 4", PLX__SOMETIMES, "Of samples: all that was missing, as row, column, value, deviation."},
    {"error", "m x 5", 0,
     "Normalised error on hidden rows by mean, knn, ridge, cca and mixture; nan: not tried. The mean has 1."},
    {"entry_error", "m x 1", 0,
     "Normalised error of single hidden entries under the chosen method; nan: the view lacks no single entries."},
    {NULL, NULL, 0, NULL}};

static const char *const METHOD_NAMES[COMPLETE_METHODS] = {"mean", "knn", "ridge", "cca", "mixture"};

/* ---- samples ---- */

static plx_status open_seen(const uint8_t **out, plx__run *run)
{
    const plx__problem *p = run->problem;
    uint8_t *seen = NULL;
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(run->ctx), p->n * p->n_views));
    for (plx_index i = 0; i < p->n; i++)
        for (plx_index v = 0; v < p->n_views; v++) seen[i * p->n_views + v] = p->views[v].present[i];
    *out = seen;
    return PLX_OK;
}

/* ---- the model's arrays ---- */

static plx_status put_of(plx__run *run, const char *name, const char *view, plx_cmat values)
{
    const char *key = NULL;
    PLX_TRY(plx__view_key(&key, run->ctx, name, view));
    return plx__store_put(run->out, key, values);
}

static plx_status put_view(const complete *c, plx_index v)
{
    const complete_view *x = &c->views[v];
    const complete_choice *h = &x->choice;
    const double choice[] = {(double)h->method, h->lambda, (double)h->rank, (double)h->number, x->calibration};
    PLX_TRY(put_of(c->run, "_mean", x->name, plx__cmat_of(x->mean, 1, x->d)));
    PLX_TRY(put_of(c->run, "_sd", x->name, plx__cmat_of(x->sd, 1, x->d)));
    PLX_TRY(put_of(c->run, "_basis", x->name, x->basis));
    PLX_TRY(put_of(c->run, "_column", x->name, plx__cmat_of(x->column, 1, x->d)));
    PLX_TRY(put_of(c->run, "_latent", x->name, plx__cmat_of(x->latent, 1, x->r)));
    PLX_TRY(put_of(c->run, "_noise", x->name, plx__cmat_of(x->noise, 1, x->d)));
    PLX_TRY(put_of(c->run, "_choice", x->name, plx__cmat_of(choice, 1, 5)));
    if (h->method != COMPLETE_KNN) return PLX_OK;
    const char *key = NULL;
    PLX_TRY(plx__view_key(&key, c->ctx, "_rows", x->name));
    return plx__points_sparse(x->rows) ? plx__store_put_csr(c->run->out, key, x->rows.csr)
                                       : plx__store_put(c->run->out, key, x->rows.dense);
}

static plx_status put_mixtures(const complete *c)
{
    for (plx_index k = 0; k < c->n_mixtures; k++) {
        const plx__incomplete_mixture *m = &c->mixture[k];
        char name[32];
        snprintf(name, sizeof name, "_mixture_weight%d", (int)k);
        PLX_TRY(plx__store_put(c->run->out, name, plx__cmat_of(m->weight, 1, m->k)));
        snprintf(name, sizeof name, "_mixture_mean%d", (int)k);
        PLX_TRY(plx__store_put(c->run->out, name, plx__cmat(m->mean)));
        snprintf(name, sizeof name, "_mixture_cov%d", (int)k);
        PLX_TRY(plx__store_put(c->run->out, name, plx__cmat(m->cov)));
    }
    return PLX_OK;
}

static plx_status put_model(const complete *c)
{
    plx_mat seen;
    PLX_TRY(plx__store_put(c->run->out, "_z", c->z));
    PLX_TRY(plx__store_put(c->run->out, "_cov", c->cov));
    PLX_TRY(plx__store_new(&seen, c->run->out, "_seen", c->n, c->m));
    for (plx_index i = 0; i < c->n * c->m; i++) seen.data[i] = c->seen[i];
    for (plx_index v = 0; v < c->m; v++) PLX_TRY(put_view(c, v));
    return put_mixtures(c);
}

static plx_status get_of(plx_cmat *out, const complete *c, const char *name, const char *view, plx_index rows,
                         plx_index cols)
{
    const char *key = NULL;
    PLX_TRY(plx__view_key(&key, c->ctx, name, view));
    return plx__store_shaped(out, c->ctx, c->run->fitted, key, rows, cols);
}

static plx_status get_rows(complete_view *x, const complete *c)
{
    const char *key = NULL;
    PLX_TRY(plx__view_key(&key, c->ctx, "_rows", x->name));
    const plx__array *a = plx__store_find(c->run->fitted, key);
    plx_index rows = !a          ? -1
                     : a->sparse ? a->csr.rows
                                 : a->dense.rows,
              cols = !a          ? -1
                     : a->sparse ? a->csr.cols
                                 : a->dense.cols;
    if (rows != c->n || cols != x->d) PLX_FAIL(c->ctx, PLX_E_FORMAT, "the model lacks the rows of view '%s'", x->name);
    x->rows = a->sparse ? plx__points_csr(plx__ccsr(a->csr)) : plx__points_dense(plx__cmat(a->dense));
    return PLX_OK;
}

static plx_status get_view(complete *c, plx_index v)
{
    complete_view *x = &c->views[v];
    plx_cmat mean, sd, column, latent, noise, choice;
    *x = (complete_view){.name = c->run->problem->views[v].name, .d = c->run->problem->views[v].cols, .at = c->dims};
    PLX_TRY(get_of(&mean, c, "_mean", x->name, 1, x->d));
    PLX_TRY(get_of(&sd, c, "_sd", x->name, 1, x->d));
    PLX_TRY(get_of(&x->basis, c, "_basis", x->name, -1, x->d));
    x->r = x->basis.rows;
    PLX_TRY(get_of(&column, c, "_column", x->name, 1, x->d));
    PLX_TRY(get_of(&latent, c, "_latent", x->name, 1, x->r));
    PLX_TRY(get_of(&noise, c, "_noise", x->name, 1, x->d));
    PLX_TRY(get_of(&choice, c, "_choice", x->name, 1, 5));
    x->mean = mean.data;
    x->sd = sd.data;
    x->column = column.data;
    x->latent = latent.data;
    x->noise = noise.data;
    const double *h = choice.data;
    bool right = h[0] >= 0 && h[0] < COMPLETE_METHODS && h[1] >= 0 && h[2] >= 0 && h[3] >= 0 && h[3] <= 2e6;
    if (!right) PLX_FAIL(c->ctx, PLX_E_FORMAT, "the model's choice for view '%s' cannot be right", x->name);
    x->choice = (complete_choice){(int)h[0], h[1], (plx_index)h[2], (plx_index)h[3]};
    x->calibration = h[4];
    c->dims += x->r;
    return x->choice.method == COMPLETE_KNN ? get_rows(x, c) : PLX_OK;
}

static plx_status get_mixtures(complete *c)
{
    for (plx_index k = 0; k < COMPLETE_MIXTURES; k++) {
        plx__incomplete_mixture *m = &c->mixture[k];
        plx_cmat weight, mean, cov;
        char name[32];
        snprintf(name, sizeof name, "_mixture_weight%d", (int)k);
        if (!plx__store_find(c->run->fitted, name)) break;
        PLX_TRY(plx__store_shaped(&weight, c->ctx, c->run->fitted, name, 1, -1));
        snprintf(name, sizeof name, "_mixture_mean%d", (int)k);
        PLX_TRY(plx__store_shaped(&mean, c->ctx, c->run->fitted, name, weight.cols, c->mix_dims));
        snprintf(name, sizeof name, "_mixture_cov%d", (int)k);
        PLX_TRY(plx__store_shaped(&cov, c->ctx, c->run->fitted, name, weight.cols * c->mix_dims, c->mix_dims));
        *m = (plx__incomplete_mixture){.k = weight.cols, .d = c->mix_dims, .shape = PLX__COV_FULL};
        plx_mat copy;
        PLX_TRY(plx__mat_clone(&copy, plx__scratch(c->ctx), weight));
        m->weight = copy.data;
        PLX_TRY(plx__mat_clone(&m->mean, plx__scratch(c->ctx), mean));
        PLX_TRY(plx__mat_clone(&m->cov, plx__scratch(c->ctx), cov));
        c->n_mixtures++;
    }
    for (plx_index v = 0; v < c->m; v++)
        if (c->views[v].choice.method == COMPLETE_MIXTURE && c->views[v].choice.number >= c->n_mixtures)
            PLX_FAIL(c->ctx, PLX_E_FORMAT, "the model lacks a mixture");
    return PLX_OK;
}

static plx_status get_model(complete *c)
{
    plx_cmat seen;
    uint8_t *flags = NULL;
    PLX_TRY(plx__store_dense(&seen, c->ctx, c->run->fitted, "_seen"));
    c->n = seen.rows;
    if (seen.cols != c->m) PLX_FAIL(c->ctx, PLX_E_FORMAT, "the model has another number of views");
    PLX_TRY(plx__arena_u8(&flags, plx__scratch(c->ctx), c->n * c->m));
    for (plx_index i = 0; i < c->n * c->m; i++) flags[i] = seen.data[i] != 0;
    c->seen = flags;
    PLX_TRY(PLX__ARENA_NEW(&c->views, plx__scratch(c->ctx), c->m));
    for (plx_index v = 0; v < c->m; v++) PLX_TRY(get_view(c, v));
    PLX_TRY(plx__store_shaped(&c->z, c->ctx, c->run->fitted, "_z", c->n, c->dims));
    PLX_TRY(plx__store_shaped(&c->cov, c->ctx, c->run->fitted, "_cov", c->dims, c->dims));
    PLX_TRY(plx__complete_mixture_columns(c, plx__scratch(c->ctx)));
    return get_mixtures(c);
}

/* ---- fitting ---- */

static plx_status report_choices(complete *c, plx_cmat error, const double *entry_error)
{
    for (plx_index v = 0; v < c->m; v++) {
        const char *key = NULL;
        int method = c->views[v].choice.method;
        PLX_TRY(plx__view_key(&key, c->ctx, "filled_by", c->views[v].name));
        PLX_TRY(plx__report_text(c->run, key, METHOD_NAMES[method]));
        for (int k = 0; k < COMPLETE_METHODS; k++) {
            double value = error.data[v * error.ld + k];
            char name[32];
            snprintf(name, sizeof name, "nrmse_%s", METHOD_NAMES[k]);
            PLX_TRY(plx__view_key(&key, c->ctx, name, c->views[v].name));
            if (!isnan(value)) PLX_TRY(plx__report_number(c->run, key, value));
        }
        PLX_TRY(plx__view_key(&key, c->ctx, "nrmse_entries", c->views[v].name));
        if (!isnan(entry_error[v])) PLX_TRY(plx__report_number(c->run, key, entry_error[v]));
    }
    return PLX_OK;
}

static plx_status check(plx__run *run)
{
    const plx__problem *p = run->problem;
    for (plx_index v = 0; v < p->n_views; v++) {
        if (p->views[v].kind == PLX_VIEW_KERNEL)
            PLX_FAIL(run->ctx, PLX_E_DATA, "complete: view '%s' is a kernel view, which has no features to fill",
                     p->views[v].name);
        if (!p->views[v].present_count && !run->fitted)
            PLX_FAIL(run->ctx, PLX_E_DATA, "complete: no sample has view '%s'; leave it out", p->views[v].name);
    }
    return PLX_OK;
}

static plx_status learn(plx__run *run, plx__arena *arena)
{
    const plx__problem *p = run->problem;
    complete c = {.run = run, .ctx = run->ctx, .set = run->params, .n = p->n, .m = p->n_views};
    const uint8_t *seen = NULL;
    plx_mat error, entry_error;
    bool mixtures = false;
    PLX_TRY(open_seen(&seen, run));
    PLX_TRY(plx__complete_learn_views(&c, arena, p->views, seen));
    PLX_TRY(plx__complete_learn_joint(&c, arena, false));
    for (plx_index v = 0; v < c.m; v++)
        c.views[v].rows = p->views[v].sparse ? plx__points_csr(p->views[v].csr) : plx__points_dense(p->views[v].dense);
    PLX_TRY(plx__store_new(&error, run->out, "error", c.m, COMPLETE_METHODS));
    PLX_TRY(plx__store_new(&entry_error, run->out, "entry_error", c.m, 1));
    PLX_TRY(plx__complete_choose(&c, error, entry_error.data));
    for (plx_index v = 0; v < c.m; v++) mixtures |= c.views[v].choice.method == COMPLETE_MIXTURE;
    if (mixtures) PLX_TRY(plx__complete_learn_joint(&c, arena, true));
    PLX_TRY(plx__complete_residuals(&c, arena));
    PLX_TRY(put_model(&c));
    PLX_TRY(report_choices(&c, plx__cmat(error), entry_error.data));
    PLX_TRY(plx__outcome_nothing(run));
    return plx__finish(run, NULL, 0, true, NAN);
}

static plx_status fit(plx__run *run)
{
    plx__arena arena; /* scratch is rewound by what learns */
    plx__arena_init(&arena, run->ctx);
    plx_status st = learn(run, &arena);
    plx__arena_free(&arena);
    return st;
}

static plx_status predict(plx__run *run)
{
    const plx__problem *p = run->problem;
    complete c = {.run = run, .ctx = run->ctx, .set = run->params, .m = p->n_views};
    const uint8_t *seen = NULL;
    plx_mat z;
    PLX_TRY(open_seen(&seen, run));
    PLX_TRY(get_model(&c));
    PLX_TRY(plx__complete_project(&z, &c, plx__scratch(run->ctx), p->views, seen, p->n));
    complete_rows rows = {p->n, plx__cmat(z), seen};
    PLX_TRY(plx__complete_put_fills(&c, p->views, &rows));
    return plx__outcome_nothing(run);
}

/* Principal components (a dense copy of the widest view), z twice, covariances, mixtures, and what is filled. */
static double memory(const plx__run *run)
{
    const plx__problem *p = run->problem;
    const complete_params *set = run->params;
    double n = (double)p->n, widest = 0, dims = 0, filled = 0, bases = 0;
    for (plx_index v = 0; v < p->n_views; v++) {
        double d = (double)p->views[v].cols, r = fmin((double)set->dimensions, d);
        widest = fmax(widest, d);
        dims += r;
        bases += r * d;
        filled += (n - (double)p->views[v].present_count) * d + (double)p->views[v].missing_values;
    }
    return 8 * (n * widest + 4 * n * dims + 6 * dims * dims + 3 * bases + 4 * filled + 2 * n * (double)p->n_views);
}

const plx__method plx__method_complete = {
    .name = "complete",
    .title = "Completion of missing views and entries",
    .summary = "Fills what is missing from what is there, by the method that is best on hidden rows.",
    .task = PLX_TASK_EMBED,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_MISSING_VALUES | PLX_CAN_SPARSE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PRESENT,
    .keep_empty_views = true,
    .params_size = sizeof(complete_params),
    .params = tables,
    .arrays = arrays,
    .memory_remedy = "lower dimensions, leave out features, or raise the memory limit",
    .check = check,
    .memory = memory,
    .fit = fit,
    .predict = predict};
