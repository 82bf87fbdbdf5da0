/*
 * Fitting the mixtures of the features. The number of components is chosen by an information criterion on
 * the same rows, smaller numbers first, so that ties keep the simpler model; with one mixture per class all
 * components end up in one list weighted by p(class) pi_c, and everything downstream sees a single mixture.
 */
#include "active/density.h"

#include <math.h>
#include <string.h>

#include "run/start_file.h"

enum { MOST_FULL = 500 };

/* What was asked for, looked up once. */
typedef struct settings {
    bool by_class;
    plx_index components, most; /* components 0: by the information criterion among 1..most */
    plx__incomplete_options options;
    plx_mat start; /* n x components responsibilities; data NULL: none */
} settings;

typedef struct fitting {
    plx__run *run;
    plx_context *ctx;
    plx__density *d;
    settings set;
    plx__incomplete_data data; /* all rows */
} fitting;

/* ---- settings ---- */

static plx_status number_of(double *out, plx__run *run, const char *name)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, name, NULL));
    *out = value.word >= 0 ? (double)value.word : value.number;
    return PLX_OK;
}

static plx_status told(void *arg, plx_index iteration, double log_likelihood)
{
    const fitting *f = arg;
    return plx__report(f->ctx, "density", iteration, f->set.options.max_iter, log_likelihood);
}

static plx_status read_settings(fitting *f)
{
    double density = 0, most = 0, shape = 0, iter = 0;
    plx__value components;
    settings *s = &f->set;
    PLX_TRY(number_of(&density, f->run, "density"));
    PLX_TRY(number_of(&most, f->run, "max_components"));
    PLX_TRY(number_of(&shape, f->run, "covariance"));
    PLX_TRY(number_of(&iter, f->run, "em_iter"));
    PLX_TRY(number_of(&s->options.cov_reg, f->run, "cov_reg"));
    PLX_TRY(number_of(&s->options.tol, f->run, "em_tol"));
    PLX_TRY(plx__view_value(&components, f->ctx, f->run->settings, "components", NULL));
    s->by_class = density > 0;
    s->components = components.word >= 0 ? 0 : (plx_index)components.number;
    s->most = (plx_index)most;
    s->options.shape = (plx__cov_shape)(int)shape;
    s->options.max_iter = (plx_index)iter;
    s->options.what = "acquire";
    s->options.told = told;
    s->options.arg = f;
    return PLX_OK;
}

static bool has_rows(const fitting *f, plx_index i) { return f->data.patterns.observed[f->data.patterns.of[i]] > 0; }

/* Samples a mixture is fitted to: those with a modelled view, and a label where classes are wanted. */
static bool is_used(const fitting *f, plx_index i)
{
    return has_rows(f, i) && (!f->set.by_class || f->run->problem->label[i] >= 0);
}

static plx_status read_start(fitting *f)
{
    plx__value init;
    uint8_t *used = NULL;
    PLX_TRY(plx__view_value(&init, f->ctx, f->run->settings, "init", NULL));
    if (strcmp(init.text, "auto") == 0) return PLX_OK;
    if (!plx__starts_with(init.text, "file:") || !init.text[5])
        PLX_FAIL(f->ctx, PLX_E_ARG, "init = %s: expected auto or file:F", init.text);
    PLX_TRY(plx__arena_u8(&used, plx__scratch(f->ctx), f->d->n));
    for (plx_index i = 0; i < f->d->n; i++) used[i] = is_used(f, i);
    PLX_TRY(plx__responsibilities_read(&f->set.start, f->run, init.text, f->set.components, used));
    f->set.components = f->set.start.cols;
    return PLX_OK;
}

/* ---- rows ---- */

static void place_view(plx__density *d, plx_index v)
{
    const plx__density_view *view = &d->views[v];
    plx_index cols = d->block[v + 1] - d->block[v];
    for (plx_index i = 0; i < d->n; i++) {
        double *to = d->x.data + i * d->x.ld + d->block[v];
        if (!view->present[i]) continue;
        memset(d->seen + i * d->x.cols + d->block[v], 1, (size_t)cols);
        if (!plx__points_sparse(view->rows))
            memcpy(to, view->rows.dense.data + i * view->rows.dense.ld, (size_t)cols * sizeof *to);
        else
            for (int64_t e = view->rows.csr.ptr[i]; e < view->rows.csr.ptr[i + 1]; e++)
                to[view->rows.csr.col[e]] = view->rows.csr.val[e];
    }
}

static plx_status open_rows(fitting *f)
{
    plx__density *d = f->d;
    plx__arena *scratch = plx__scratch(f->ctx);
    PLX_TRY(plx__arena_i64(&d->block, scratch, d->n_views + 1));
    for (plx_index v = 0; v < d->n_views; v++) d->block[v + 1] = d->block[v] + plx__points_cols(d->views[v].rows);
    PLX_TRY(plx__arena_mat(&d->x, scratch, d->n, d->block[d->n_views]));
    PLX_TRY(plx__arena_u8(&d->seen, scratch, d->n * d->x.cols));
    for (plx_index v = 0; v < d->n_views; v++) place_view(d, v);
    f->data = (plx__incomplete_data){
        .x = plx__cmat(d->x), .seen = d->seen, .n_blocks = plx__max(1, d->n_views), .block = d->block};
    return plx__incomplete_describe(&f->data, f->ctx, scratch);
}

/* Some of the rows as data of their own; the spread of a view stays that of all its rows. */
static plx_status choose_rows(plx__incomplete_data *out, plx_mat *start, fitting *f, const plx_index *row,
                              plx_index count)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    plx_index d = f->data.x.cols;
    plx_mat x;
    uint8_t *seen = NULL;
    PLX_TRY(plx__arena_mat(&x, scratch, count, d));
    PLX_TRY(plx__arena_u8(&seen, scratch, count * d));
    PLX_TRY(plx__arena_mat(start, scratch, count, f->set.start.cols));
    for (plx_index i = 0; i < count; i++) {
        memcpy(x.data + i * x.ld, f->data.x.data + row[i] * f->data.x.ld, (size_t)d * sizeof(double));
        memcpy(seen + i * d, f->data.seen + row[i] * d, (size_t)d);
        if (f->set.start.data)
            memcpy(start->data + i * start->ld, f->set.start.data + row[i] * f->set.start.ld,
                   (size_t)start->cols * sizeof(double));
    }
    *out = f->data;
    out->x = plx__cmat(x);
    out->seen = seen;
    PLX_TRY(plx__incomplete_describe(out, f->ctx, scratch));
    out->spread = f->data.spread;
    return PLX_OK;
}

/* ---- mixtures ---- */

typedef struct trial {
    plx__incomplete_mixture mix;
    double criterion;
} trial;

static plx_status try_components(trial *out, fitting *f, const plx__incomplete_data *data,
                                 const plx__incomplete_options *base, plx_index components)
{
    plx__incomplete_options o = *base;
    plx__incomplete_result result;
    double n = (double)data->usable;
    o.components = components;
    PLX_TRY(plx__incomplete_fit(&out->mix, &result, f->ctx, plx__scratch(f->ctx), data, &o));
    out->criterion = -2 * n * result.log_likelihood +
                     plx__incomplete_parameters(components, o.shape, data->n_blocks, data->block) * log(n);
    return PLX_OK;
}

/* As many components as asked for, or the number with the smallest information criterion (ties: fewer). */
static plx_status fit_mixture(plx__incomplete_mixture *out, fitting *f, const plx__incomplete_data *data,
                              plx_cmat start, const plx__incomplete_mixture *overall)
{
    plx__incomplete_options o = f->set.options;
    plx_index components = f->set.components, most = components ? 1 : plx__min(f->set.most, data->usable);
    trial best = {0}, next;
    o.overall = overall;
    if (f->set.start.data) o.start = start;
    PLX_TRY(try_components(&best, f, data, &o, components ? components : 1));
    for (plx_index k = 2; k <= most; k++) {
        PLX_TRY(try_components(&next, f, data, &o, k));
        if (next.criterion < best.criterion) best = next;
    }
    *out = best.mix;
    return PLX_OK;
}

static plx_status fit_free(fitting *f)
{
    plx__moments moments;
    PLX_TRY(fit_mixture(&f->d->mix, f, &f->data, plx__cmat(f->set.start), NULL));
    PLX_TRY(plx__incomplete_moments(&moments, f->ctx, plx__scratch(f->ctx), &f->d->mix, &f->data, false, "acquire"));
    f->d->rho = moments.prob;
    return PLX_OK;
}

/* ---- one mixture per class ---- */

typedef struct class_part {
    plx__incomplete_mixture mix;
    plx_index count; /* samples it was fitted to; 0: none, no mixture */
    plx_index first; /* among all components */
} class_part;

static plx_status fit_class(class_part *out, fitting *f, plx_index c, const plx__incomplete_mixture *overall)
{
    plx__incomplete_data data;
    plx_mat start;
    plx_index *row = NULL;
    *out = (class_part){.count = 0};
    PLX_TRY(plx__arena_i64(&row, plx__scratch(f->ctx), f->d->n));
    for (plx_index i = 0; i < f->d->n; i++)
        if (is_used(f, i) && f->run->problem->label[i] == c) row[out->count++] = i;
    if (!out->count) return PLX_OK;
    PLX_TRY(choose_rows(&data, &start, f, row, out->count));
    plx_status st = fit_mixture(&out->mix, f, &data, plx__cmat(start), overall);
    return st == PLX_OK ? st : plx__fail_prefix(f->ctx, st, "class '%s'", f->run->problem->classes[c]);
}

/* All components in class order, with weights p(class) pi. */
static plx_status join_classes(fitting *f, class_part *parts, plx_index classes)
{
    plx__incomplete_mixture *all = &f->d->mix;
    plx__arena *scratch = plx__scratch(f->ctx);
    plx_index used = 0, rows = f->set.options.shape == PLX__COV_FULL ? f->d->x.cols : 1;
    *all = (plx__incomplete_mixture){.d = f->d->x.cols, .shape = f->set.options.shape};
    for (plx_index c = 0; c < classes; c++) {
        parts[c].first = all->k;
        all->k += parts[c].mix.k;
        used += parts[c].count;
    }
    PLX_TRY(plx__arena_f64(&all->weight, scratch, all->k, 1));
    PLX_TRY(plx__arena_mat(&all->mean, scratch, all->k, all->d));
    PLX_TRY(plx__arena_mat(&all->cov, scratch, all->k * rows, all->d));
    for (plx_index c = 0; c < classes; c++) {
        const class_part *p = &parts[c];
        if (!p->count) continue;
        for (plx_index z = 0; z < p->mix.k; z++)
            all->weight[p->first + z] = (double)p->count / (double)used * p->mix.weight[z];
        plx__mat_copy(plx__sub(all->mean, p->first, 0, p->mix.k, all->d), plx__cmat(p->mix.mean));
        plx__mat_copy(plx__sub(all->cov, p->first * rows, 0, p->mix.k * rows, all->d), plx__cmat(p->mix.cov));
    }
    return PLX_OK;
}

/* With a known label only its class's components count. */
static plx_status weigh_labelled(fitting *f, const class_part *p, plx_index c)
{
    plx__moments own;
    plx_mat rho = f->d->rho;
    if (!p->count) return PLX_OK;
    PLX_TRY(plx__incomplete_moments(&own, f->ctx, plx__scratch(f->ctx), &p->mix, &f->data, false, "acquire"));
    for (plx_index i = 0; i < f->d->n; i++) {
        if (f->run->problem->label[i] != c) continue;
        memset(rho.data + i * rho.ld, 0, (size_t)rho.cols * sizeof(double));
        memcpy(rho.data + i * rho.ld + p->first, own.prob.data + i * own.prob.ld, (size_t)p->mix.k * sizeof(double));
    }
    return PLX_OK;
}

static plx_status fit_classes(fitting *f)
{
    plx_index classes = f->run->problem->n_classes;
    plx__incomplete_options one = f->set.options;
    plx__incomplete_mixture overall;
    plx__incomplete_result result;
    plx__moments moments;
    class_part *parts = NULL;
    one.components = 1;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(f->ctx), classes));
    PLX_TRY(plx__incomplete_fit(&overall, &result, f->ctx, plx__scratch(f->ctx), &f->data, &one));
    for (plx_index c = 0; c < classes; c++) PLX_TRY(fit_class(&parts[c], f, c, &overall));
    PLX_TRY(join_classes(f, parts, classes));
    if (!f->d->mix.k) PLX_FAIL(f->ctx, PLX_E_DATA, "density = class: no labelled sample has a view to be modelled");
    PLX_TRY(plx__incomplete_moments(&moments, f->ctx, plx__scratch(f->ctx), &f->d->mix, &f->data, false, "acquire"));
    f->d->rho = moments.prob;
    for (plx_index c = 0; c < classes; c++) PLX_TRY(weigh_labelled(f, &parts[c], c));
    return PLX_OK;
}

/* ---- the whole ---- */

plx_status plx__density_check(plx__run *run, const plx__density_view *views, plx_index n_views)
{
    double shape = 0;
    PLX_TRY(number_of(&shape, run, "covariance"));
    for (plx_index v = 0; v < n_views && (int)shape == PLX__COV_FULL; v++)
        if (plx__points_cols(views[v].rows) > MOST_FULL)
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "acquire: view '%s' has %lld features, too many for covariance=full (at most %d); use "
                     "covariance=diag",
                     views[v].name, (long long)plx__points_cols(views[v].rows), MOST_FULL);
    return PLX_OK;
}

/* Nothing to be modelled: one component that says nothing. */
static plx_status fit_nothing(plx__density *d, plx_context *ctx)
{
    d->mix = (plx__incomplete_mixture){.k = 1};
    PLX_TRY(plx__arena_i64(&d->block, plx__scratch(ctx), 1));
    PLX_TRY(plx__arena_f64(&d->mix.weight, plx__scratch(ctx), 1, 1));
    PLX_TRY(plx__arena_mat(&d->rho, plx__scratch(ctx), d->n, 1));
    d->mix.weight[0] = 1.0;
    plx__mat_fill(d->rho, 1.0);
    return PLX_OK;
}

plx_status plx__density_fit(plx__density *out, plx__run *run, const plx__density_view *views, plx_index n_views)
{
    fitting f = {.run = run, .ctx = run->ctx, .d = out};
    *out = (plx__density){.n = run->problem->n, .n_views = n_views, .views = views};
    PLX_TRY(read_settings(&f));
    if (!n_views) return fit_nothing(out, run->ctx);
    PLX_TRY(plx__density_check(run, views, n_views));
    PLX_TRY(open_rows(&f));
    PLX_TRY(read_start(&f));
    if (!f.data.usable) PLX_FAIL(run->ctx, PLX_E_DATA, "acquire: no sample has a view to be modelled");
    return f.set.by_class ? fit_classes(&f) : fit_free(&f);
}

/* ---- reading ---- */

const double *plx__density_mean(const plx__density *d, plx_index c, plx_index view)
{
    return d->mix.mean.data + c * d->mix.mean.ld + d->block[view];
}

plx_cmat plx__density_cov(const plx__density *d, plx_index c, plx_index view)
{
    plx_index at = d->block[view], cols = d->block[view + 1] - at;
    if (d->mix.shape != PLX__COV_FULL) return plx__csub(plx__cmat(d->mix.cov), c, at, 1, cols);
    return plx__csub(plx__cmat(d->mix.cov), c * d->mix.d + at, at, cols, cols);
}

static plx_status put_cov(const plx__density *d, plx__run *run, const char *name, plx_index view)
{
    plx_mat out;
    plx_index cols = d->block[view + 1] - d->block[view];
    PLX_TRY(plx__store_new(&out, run->out, name, d->mix.k * cols, cols));
    plx__mat_fill(out, 0.0);
    for (plx_index c = 0; c < d->mix.k; c++) {
        plx_cmat cov = plx__density_cov(d, c, view);
        if (d->mix.shape == PLX__COV_FULL) plx__mat_copy(plx__sub(out, c * cols, 0, cols, cols), cov);
        else
            for (plx_index j = 0; j < cols; j++) out.data[(c * cols + j) * out.ld + j] = cov.data[j];
    }
    return PLX_OK;
}

plx_status plx__density_put(const plx__density *d, plx__run *run)
{
    PLX_TRY(plx__store_put(run->out, "mixing", plx__cmat(d->rho)));
    PLX_TRY(plx__store_put(run->out, "gmm_weight", (plx_cmat){d->mix.weight, d->mix.k, 1, 1}));
    for (plx_index v = 0; v < d->n_views; v++) {
        const char *mean = NULL, *cov = NULL;
        plx_index cols = d->block[v + 1] - d->block[v];
        PLX_TRY(plx__view_key(&mean, run->ctx, "gmm_mean", d->views[v].name));
        PLX_TRY(plx__view_key(&cov, run->ctx, "gmm_cov", d->views[v].name));
        PLX_TRY(plx__store_put(run->out, mean, plx__csub(plx__cmat(d->mix.mean), 0, d->block[v], d->mix.k, cols)));
        if (plx__wanted(run, cov)) PLX_TRY(put_cov(d, run, cov, v));
    }
    return PLX_OK;
}
