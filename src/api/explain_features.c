/*
 * Top features by group and view: from arrays of the model, by slopes of its scores at the mean sample where it is
 * linear, else by permuting columns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/array_names.h"
#include "api/explain_impl.h"
#include "core/rng.h"
#include "explain/rearrange.h"
#include "linalg/dense.h"
#include "run/problem.h"

enum { MOST_SLOPES = 400, MOST_PERMUTED = 40 };

static int by_size(const void *a, const void *b)
{
    const plx__ranked_feature *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return (x->column > y->column) - (x->column < y->column);
}

void plx__rank_features(plx__ranked_feature *list, plx_index count)
{
    qsort(list, (size_t)count, sizeof *list, by_size);
}

/* ---- rows of the section ---- */

typedef struct table {
    plx__explainer *x;
    plx__section *section;
    plx_index view;
    const char *source;
    plx__ranked_feature *list; /* room for all columns, or twice as many */
} table;

static plx_status feature_name(const char **out, const table *t, plx_index column)
{
    const plx__view_card *card = &t->x->model->views[t->view];
    const char *own = NULL;
    PLX_TRY(plx__feature_name(&own, t->x->ctx, card, column % card->cols));
    *out = own;
    return column < card->cols ? PLX_OK : plx__arena_printf(out, plx__scratch(t->x->ctx), "low %s", own);
}

/* The best of the list, as rows of a group. Features that do not matter at all are left out. */
static plx_status put_top(const table *t, const char *group, plx_index count)
{
    plx__rank_features(t->list, count);
    for (plx_index k = 0; k < plx__min(count, t->x->options.top) && t->list[k].size > 0; k++) {
        const char *name = NULL;
        PLX_TRY(feature_name(&name, t, t->list[k].column));
        PLX_TRY(plx__section_row(t->section,
                                 (plx__cell[]){plx__cell_text(t->x->model->views[t->view].name), plx__cell_text(group),
                                               plx__cell_number((double)k + 1), plx__cell_text(name),
                                               plx__cell_number(t->list[k].weight), plx__cell_text(t->source)}));
    }
    return PLX_OK;
}

/* ---- arrays of the model ---- */

static plx_status array_for(plx_cmat *out, const plx__explainer *x, const char *pattern, const char *view)
{
    const char *name = pattern;
    size_t stem = strlen(pattern) - 4;
    out->data = NULL;
    if (strcmp(pattern + stem, "VIEW") == 0)
        PLX_TRY(plx__arena_printf(&name, plx__scratch(x->ctx), "%.*s%s", (int)stem, pattern, view));
    const plx__array *a = plx__store_find(&x->model->store, name);
    if (a && !a->sparse) *out = plx__cmat(a->dense);
    return PLX_OK;
}

/* The profiles of a view as groups x features. */
static plx_status profiles_of(plx_mat *out, const plx__explainer *x, plx_index view)
{
    const plx__profiles *about = &x->model->method->profiles;
    const plx__view_card *card = &x->model->views[view];
    plx_cmat a, mix;
    out->data = NULL;
    PLX_TRY(array_for(&a, x, about->array, card->name));
    if (!a.data) return PLX_OK;
    if (about->mix) {
        PLX_TRY(array_for(&mix, x, about->mix, card->name));
        if (!mix.data || a.rows != card->cols || mix.rows != a.cols) return PLX_OK;
        PLX_TRY(plx__arena_mat(out, plx__scratch(x->ctx), mix.cols, a.rows));
        return plx__gemm(x->ctx, 1.0, mix, PLX__T, a, PLX__T, 0.0, *out);
    }
    const plx__array_spec *spec = plx__array_spec_find(x->model->method, about->array);
    bool rows = spec && strncmp(spec->shape, "d x", 3) == 0;
    plx_index features = rows ? a.rows : a.cols;
    if (features != card->cols && features != 2 * card->cols) return PLX_OK;
    if (!rows) return plx__mat_clone(out, plx__scratch(x->ctx), a);
    PLX_TRY(plx__arena_mat(out, plx__scratch(x->ctx), a.cols, a.rows));
    plx__mat_transpose(*out, a);
    return PLX_OK;
}

/* What sets group g apart in feature f. Shares: what the feature adds to the divergence from the mean profile. */
static double apart(plx_cmat p, plx_index g, plx_index f, int kind)
{
    double own = p.data[g * p.ld + f], others = 0;
    if (kind == PLX__PROFILE_LOADINGS || p.rows < 2) return own;
    for (plx_index k = 0; k < p.rows; k++)
        if (k != g) others += p.data[k * p.ld + f] / (double)(p.rows - 1);
    if (kind == PLX__PROFILE_LEVELS) return own - others;
    double mean = (own + others * (double)(p.rows - 1)) / (double)p.rows;
    return own > 0 && mean > 0 ? own * log(own / mean) : 0.0;
}

static plx_status group_names(const char *const **out, const plx__explainer *x, plx_index count)
{
    const plx__outcome *o = &x->answers->outcome;
    const char **names = NULL;
    if (o->scores.cols == count && o->columns) *out = o->columns;
    else if (x->model->n_classes == count) *out = x->model->classes;
    else {
        PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(x->ctx), count));
        for (plx_index g = 0; g < count; g++)
            PLX_TRY(plx__arena_printf(&names[g], plx__scratch(x->ctx), "%lld", (long long)g));
        *out = names;
    }
    return PLX_OK;
}

/* Levels and weights are compared in deviations of the data, unless the view is sparse: rare features would win. The
 * arrays of a model that standardises the view have this unit already. */
static plx_status units_of(double **out, const table *t, plx_index features)
{
    const plx__view *v = &t->x->matched->views[t->view];
    const plx_model *m = t->x->model;
    const plx__scale_kind *scale = NULL;
    double *mean = NULL;
    int kind = m->method->profiles.kind;
    PLX_TRY(plx__scales_get(&scale, t->x->ctx, &m->store, m->n_views));
    PLX_TRY(plx__arena_f64(out, plx__scratch(t->x->ctx), features, 1));
    for (plx_index f = 0; f < features; f++) (*out)[f] = 1;
    if (kind == PLX__PROFILE_SHARES || v->sparse || features != v->cols) return PLX_OK;
    if (scale && scale[t->view] == PLX__SCALE_ZSCORE) return PLX_OK;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(t->x->ctx), features, 1));
    PLX_TRY(plx__column_moments(mean, *out, t->x->ctx, v, t->x->matched->n));
    for (plx_index f = 0; f < features && kind == PLX__PROFILE_LEVELS; f++)
        (*out)[f] = (*out)[f] > 0 ? 1 / (*out)[f] : 0;
    return PLX_OK;
}

static plx_status from_profiles(table *t, bool *done)
{
    const plx__profiles *about = &t->x->model->method->profiles;
    const char *const *names = NULL;
    double *unit = NULL;
    plx_mat p;
    *done = false;
    if (!about->array || about->columns) return PLX_OK;
    PLX_TRY(profiles_of(&p, t->x, t->view));
    if (!p.data) return PLX_OK;
    PLX_TRY(group_names(&names, t->x, p.rows));
    PLX_TRY(units_of(&unit, t, p.cols));
    t->source = about->kind == PLX__PROFILE_LOADINGS ? "weights" : "profiles";
    for (plx_index g = 0; g < p.rows; g++) {
        for (plx_index f = 0; f < p.cols; f++) {
            double w = apart(plx__cmat(p), g, f, about->kind) * unit[f];
            t->list[f] = (plx__ranked_feature){f, w, about->kind == PLX__PROFILE_LOADINGS ? fabs(w) : fmax(w, 0)};
        }
        PLX_TRY(put_top(t, names[g], p.cols));
    }
    *done = true;
    return PLX_OK;
}

/* ---- weights of chosen columns over several views ---- */

static plx_status from_columns(table *t, bool *done)
{
    const plx__profiles *about = &t->x->model->method->profiles;
    const plx_model *m = t->x->model;
    plx_cmat w, columns;
    *done = false;
    if (!about->columns) return PLX_OK;
    PLX_TRY(array_for(&w, t->x, about->array, ""));
    PLX_TRY(array_for(&columns, t->x, about->columns, ""));
    plx_index first = plx__first_column(m, about->views, t->view), cols = m->views[t->view].cols;
    *done = true;
    if (!w.data || !columns.data || first < 0 || w.cols != columns.rows + 1) return PLX_OK;
    t->source = "weights";
    for (plx_index f = 0; f < w.rows; f++) {
        plx_index count = 0;
        for (plx_index k = 0; k < columns.rows; k++) {
            double at = columns.data[k * columns.ld] - (double)first, weight = w.data[f * w.ld + k];
            if (at < 0 || at >= (double)cols) continue;
            t->list[count++] = (plx__ranked_feature){(plx_index)at, weight, fabs(weight)};
        }
        PLX_TRY(put_top(t, plx__function_name(m, f, w.rows), count));
    }
    return PLX_OK;
}

/* Columns that describe a region of their own. */
static plx_status put_pattern(const plx__explainer *x)
{
    const plx__profiles *about = &x->model->method->profiles;
    plx__section *s = NULL;
    plx_cmat columns;
    if (!about->pattern) return PLX_OK;
    PLX_TRY(array_for(&columns, x, about->pattern, ""));
    if (!columns.data) return PLX_OK;
    PLX_TRY(
        plx__section_add(&s, x->out, "pattern", "Features that describe where another model decides", "view|feature"));
    for (plx_index v = 0; v < x->model->n_views; v++) {
        plx_index first = plx__first_column(x->model, about->pattern_views, v);
        for (plx_index k = 0; first >= 0 && k < columns.rows; k++) {
            double at = columns.data[k * columns.ld] - (double)first;
            const char *name = NULL;
            if (at < 0 || at >= (double)x->model->views[v].cols) continue;
            PLX_TRY(plx__feature_name(&name, x->ctx, &x->model->views[v], (plx_index)at));
            PLX_TRY(plx__section_row(s, (plx__cell[]){plx__cell_text(x->model->views[v].name), plx__cell_text(name)}));
        }
    }
    return PLX_OK;
}

/* Samples that stand in the middle of that region, one for each of its clusters. */
static plx_status put_medoids(const plx__explainer *x)
{
    const plx_model *m = x->model;
    plx__section *s = NULL;
    plx_cmat places;
    if (!m->method->profiles.pattern_places || !m->samples) return PLX_OK;
    PLX_TRY(array_for(&places, x, m->method->profiles.pattern_places, ""));
    if (!places.data) return PLX_OK;
    PLX_TRY(
        plx__section_add(&s, x->out, "medoids", "Samples typical of where another model decides", "cluster|sample"));
    for (plx_index k = 0; k < places.rows; k++) {
        double at = places.data[k * places.ld];
        if (!(at >= 0 && at < (double)m->n_samples))
            PLX_FAIL(x->ctx, PLX_E_FORMAT, "the model's medoids cannot be right");
        PLX_TRY(
            plx__section_row(s, (plx__cell[]){plx__cell_number((double)k), plx__cell_text(m->samples[(plx_index)at])}));
    }
    return PLX_OK;
}

/* ---- promising columns ---- */

/* Between-group share of the variance of every column, groups being the answers. */
static plx_status variance_shares(double *share, const plx__explainer *x, plx_index view)
{
    const plx__view *v = &x->matched->views[view];
    const char *const *names = NULL;
    plx_index groups = x->answers->outcome.scores.cols;
    double *sum = NULL, *size = NULL, *mean = NULL, *deviation = NULL;
    plx__arena *scratch = plx__scratch(x->ctx);
    if (groups < 1) groups = 1;
    PLX_TRY(group_names(&names, x, groups));
    PLX_TRY(plx__arena_f64(&sum, scratch, groups, v->cols));
    PLX_TRY(plx__arena_f64(&size, scratch, groups, 1));
    PLX_TRY(plx__arena_f64(&mean, scratch, v->cols, 1));
    PLX_TRY(plx__arena_f64(&deviation, scratch, v->cols, 1));
    PLX_TRY(plx__column_moments(mean, deviation, x->ctx, v, x->matched->n));
    for (plx_index i = 0; i < x->matched->n; i++) {
        plx_index g = 0, entries = v->sparse ? v->csr.ptr[i + 1] - v->csr.ptr[i] : v->cols;
        const char *label = x->answers->outcome.label[i];
        if (!v->present[i] || !label) continue;
        while (g < groups && strcmp(names[g], label) != 0) g++;
        if (g == groups) g = 0;
        size[g]++;
        for (plx_index e = 0; e < entries; e++) {
            plx_index j = v->sparse ? v->csr.col[v->csr.ptr[i] + e] : e;
            sum[g * v->cols + j] += v->sparse ? v->csr.val[v->csr.ptr[i] + e] : v->dense.data[i * v->dense.ld + e];
        }
    }
    for (plx_index j = 0; j < v->cols; j++) {
        share[j] = 0;
        for (plx_index g = 0; g < groups; g++) {
            double off = size[g] > 0 ? sum[g * v->cols + j] / size[g] - mean[j] : 0;
            share[j] += size[g] * off * off;
        }
        share[j] = groups > 1 && deviation[j] > 0 ? share[j] / (deviation[j] * deviation[j]) : deviation[j];
    }
    return PLX_OK;
}

plx_status plx__promising_columns(plx_index **out, plx_index *count, const plx__explainer *x, plx_index view,
                                  plx_index most)
{
    plx_index cols = x->matched->views[view].cols;
    plx__ranked_feature *list = NULL;
    double *share = NULL;
    *count = plx__min(cols, most);
    PLX_TRY(plx__arena_i64(out, plx__scratch(x->ctx), *count));
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(x->ctx), cols));
    PLX_TRY(plx__arena_f64(&share, plx__scratch(x->ctx), cols, 1));
    PLX_TRY(variance_shares(share, x, view));
    for (plx_index j = 0; j < cols; j++) list[j] = (plx__ranked_feature){j, share[j], share[j]};
    plx__rank_features(list, cols);
    for (plx_index k = 0; k < *count; k++) (*out)[k] = list[k].column;
    return PLX_OK;
}

/* ---- slopes ---- */

static bool is_linear(const plx__explainer *x, plx_index view)
{
    plx__value kernel;
    if (!plx__param_find(x->model->method->params, "kernel")) return true;
    if (plx__view_value(&kernel, x->ctx, x->model->settings, "kernel", x->model->views[view].name) != PLX_OK)
        return false;
    return strcmp(kernel.text, "linear") == 0 || strcmp(kernel.text, "cosine") == 0;
}

/* What is stepped: scores, or where a method has none the coordinates that it finds in the view. */
static plx_status steps_of(plx_cmat *out, const char *const **names, const table *t, const plx_prediction *p)
{
    const char *name = NULL;
    *out = plx__cmat(p->outcome.scores);
    *names = p->outcome.columns;
    if (out->data || plx__has_answers(t->x)) return PLX_OK;
    PLX_TRY(plx__arena_printf(&name, plx__scratch(t->x->ctx), "projection.%s", t->x->model->views[t->view].name));
    const plx__array *a = plx__store_find(&p->store, name);
    if (!a || a->sparse) return PLX_OK;
    *out = plx__cmat(a->dense);
    return group_names(names, t->x, out->cols);
}

static plx_status put_slopes(table *t, const plx_prediction *p, const plx_index *column, plx_index count, bool *done)
{
    plx_cmat s;
    const char *const *names = NULL;
    double most = 0;
    PLX_TRY(steps_of(&s, &names, t, p));
    if (!s.data) return PLX_OK;
    bool signless = s.cols == 1 || !p->outcome.scores.data; /* a direction may point either way */
    for (plx_index k = 1; k < s.rows; k++)
        for (plx_index g = 0; g < s.cols; g++) most = fmax(most, fabs(s.data[k * s.ld + g] - s.data[g]));
    *done = most > 1e-12;
    if (!*done) return PLX_OK;
    t->source = "slopes";
    for (plx_index g = 0; g < s.cols; g++) {
        for (plx_index k = 0; k < count; k++) {
            double w = s.data[(k + 1) * s.ld + g] - s.data[g];
            t->list[k] = (plx__ranked_feature){column[k], w, signless ? fabs(w) : fmax(w, 0.0)};
        }
        PLX_TRY(put_top(t, names[g], count));
    }
    return PLX_OK;
}

static plx_status from_slopes(table *t, bool *done)
{
    const plx__explainer *x = t->x;
    plx_index *column = NULL, count = 0;
    double *deviation = NULL;
    plx_dataset *probe = NULL;
    plx_prediction *p = NULL;
    *done = false;
    if (x->again || (plx__has_answers(x) && (!x->answers->outcome.scores.data || !is_linear(x, t->view))))
        return PLX_OK;
    PLX_TRY(plx__promising_columns(&column, &count, x, t->view, MOST_SLOPES));
    PLX_TRY(plx__arena_f64(&deviation, plx__scratch(x->ctx), count, 1));
    plx_status st = plx__stepped_samples(&probe, x->ctx, x->matched, t->view, column, count, deviation);
    if (st == PLX_E_DATA) { /* a kind that has no mean */
        plx__clear_error(x->ctx);
        return PLX_OK;
    }
    PLX_TRY(st);
    st = plx__answers_for(&p, x, probe);
    if (st == PLX_OK && p) st = put_slopes(t, p, column, count, done);
    plx_prediction_destroy(p);
    plx__dataset_destroy(probe);
    return st;
}

/* ---- permutation ---- */

/* What the answer for sample i is called in the first answers: clusters of a new fit have other numbers. */
static const char *renamed(const plx__explainer *x, const plx__crossing *c, const plx_prediction *p, plx_index i)
{
    const char *label = p->outcome.label[i];
    return x->again && p->outcome.kind == PLX__OUTCOME_CLUSTERS ? plx__class_of_cluster(c, label) : label;
}

/* How much the score of its answer falls, or how often the answer changes, over the samples of a group (NULL: all). */
static double loss(const plx__explainer *x, const plx_prediction *p, const plx__crossing *c, const char *group,
                   plx_index view)
{
    const plx__outcome *a = &x->answers->outcome, *b = &p->outcome;
    bool scores = a->scores.data && b->scores.data && !(x->again && b->kind == PLX__OUTCOME_CLUSTERS);
    double sum = 0, count = 0;
    for (plx_index i = 0; i < a->n; i++) {
        if (!a->label[i] || !x->matched->views[view].present[i]) continue;
        if (group && strcmp(group, a->label[i]) != 0) continue;
        count++;
        const char *said = scores ? NULL : renamed(x, c, p, i);
        if (!scores) sum += !said || strcmp(a->label[i], said) != 0;
        for (plx_index k = 0; scores && k < a->scores.cols; k++)
            if (a->scores.cols == 1 || strcmp(a->columns[k], a->label[i]) == 0) {
                double fall = a->scores.data[i * a->scores.ld + k] - b->scores.data[i * b->scores.ld + k];
                sum += a->scores.cols == 1 ? fabs(fall) : fall;
            }
    }
    return count > 0 ? sum / count : 0;
}

/* What dealing a column anew costs every group. */
static plx_status permute_column(double *fall, const table *t, plx_index column, plx_index groups)
{
    const plx__explainer *x = t->x;
    const plx__outcome *o = &x->answers->outcome;
    plx__crossing crossing = {0};
    plx_dataset *changed = NULL;
    plx_prediction *p = NULL;
    PLX_TRY(
        plx__permuted_column(&changed, x->ctx, x->matched, t->view, column, PLX__STREAM('e', 'x', 'f', 'p', column)));
    plx_status st = plx__answers_for(&p, x, changed);
    if (st == PLX_OK && p && x->again && o->kind == PLX__OUTCOME_CLUSTERS)
        st = plx__cross(&crossing, x->ctx, (const char *const *)o->label, (const char *const *)p->outcome.label, o->n);
    for (plx_index g = 0; st == PLX_OK && p && g < groups; g++)
        fall[g] = loss(x, p, &crossing, groups > 1 ? o->columns[g] : NULL, t->view);
    plx_prediction_destroy(p);
    plx__dataset_destroy(changed);
    return st;
}

static plx_status from_permutation(table *t)
{
    const plx__explainer *x = t->x;
    const plx__outcome *o = &x->answers->outcome;
    plx_index *column = NULL, count = 0, groups = o->scores.cols > 1 ? o->scores.cols : 1;
    double *fall = NULL;
    if (!plx__has_answers(x) || x->matched->views[t->view].kind == PLX_VIEW_KERNEL) return PLX_OK;
    /* a fit is dear: where it is done again, the features that are told are those most promising */
    PLX_TRY(plx__promising_columns(&column, &count, x, t->view,
                                   x->again ? plx__min(x->options.top, MOST_PERMUTED) : MOST_PERMUTED));
    PLX_TRY(plx__arena_f64(&fall, plx__scratch(x->ctx), count, groups));
    for (plx_index k = 0; k < count; k++) {
        PLX_TRY(permute_column(fall + k * groups, t, column[k], groups));
        PLX_TRY(plx__report(x->ctx, "features", k + 1, count, NAN));
    }
    t->source = "permutation";
    for (plx_index g = 0; g < groups; g++) {
        for (plx_index k = 0; k < count; k++)
            t->list[k] = (plx__ranked_feature){column[k], fall[k * groups + g], fall[k * groups + g]};
        PLX_TRY(put_top(t, groups > 1 ? o->columns[g] : "all", count));
    }
    return PLX_OK;
}

plx_status plx__explain_features(plx__explainer *x)
{
    table t = {.x = x};
    PLX_TRY(plx__section_add(&t.section, x->out, "features", "Top features by group and view",
                             "view|group|rank|feature|weight|source"));
    PLX_TRY(plx__section_note(
        t.section,
        "profiles: what sets the group apart in the model's own arrays; weights: of the model, for "
        "standardised values; slopes: change of the score per deviation; permutation: fall of the score "
        "when the values of a feature are dealt anew, of at most %d features per view.",
        MOST_PERMUTED));
    for (t.view = 0; t.view < x->matched->n_views; t.view++) {
        plx__mark mark = plx__arena_mark(plx__scratch(x->ctx));
        const plx__view *v = &x->matched->views[t.view];
        bool done = false;
        if (!v->present_count || v->kind == PLX_VIEW_KERNEL) continue;
        PLX_TRY(PLX__ARENA_NEW(&t.list, plx__scratch(x->ctx), 2 * v->cols));
        PLX_TRY(from_columns(&t, &done));
        if (!done) PLX_TRY(from_profiles(&t, &done));
        if (!done) PLX_TRY(from_slopes(&t, &done));
        if (!done) PLX_TRY(from_permutation(&t));
        plx__arena_rewind(plx__scratch(x->ctx), mark);
    }
    PLX_TRY(put_pattern(x));
    return put_medoids(x);
}
