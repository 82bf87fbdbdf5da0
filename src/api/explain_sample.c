/*
 * One sample: what the model says and how sure it is, what every view says alone, the features that spoke most, and the
 * labelled samples nearest to it in every view.
 */
#include <math.h>
#include <string.h>

#include "api/array_names.h"
#include "api/explain_impl.h"
#include "core/number.h"
#include "explain/rearrange.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

enum { MOST_SPOKEN = 60, NEIGHBOURS = 5, FEW_COLUMNS = 10 };

static plx_status find_sample(plx_index *out, const plx__explainer *x)
{
    const plx_dataset *d = x->data;
    int64_t row = -1;
    *out = -1;
    for (plx_index i = 0; d->ids && i < d->n; i++)
        if (strcmp(d->ids[i], x->options.sample) == 0) *out = i;
    if (*out < 0 && plx__parse_int64(&row, x->options.sample) && row >= 0 && row < d->n && !d->ids) *out = row;
    if (*out >= 0) return PLX_OK;
    char near[128] = "";
    if (d->ids) plx__suggest(near, sizeof near, x->options.sample, d->ids, d->n);
    PLX_FAIL(x->ctx, PLX_E_ARG, "sample = %s: there is no such sample in '%s'%s", x->options.sample, d->name, near);
}

static plx_status pair(plx__section *s, const char *what, plx__cell value)
{
    return plx__section_row(s, (plx__cell[]){plx__cell_text(what), value});
}

/* A class by its name, anything else as the number it is. */
static plx__cell array_cell(const plx_model *m, const plx__array_spec *spec, double value)
{
    bool class_number = (spec->flags & PLX__CLASS_NUMBERS) && value >= 0 && value < (double)m->n_classes;
    return class_number ? plx__cell_text(m->classes[(plx_index)value]) : plx__cell_number(value);
}

/* Small arrays about the sample, such as which of several models decided. */
static plx_status put_arrays(const plx__explainer *x, plx__section *s, plx_index i)
{
    for (const plx__array *a = x->answers->store.first; a; a = a->next) {
        const plx__array_spec *spec = plx__array_spec_find(x->model->method, a->name);
        if (a->name[0] == '_' || a->sparse || !plx__array_by_sample(spec, 0) || a->dense.cols > FEW_COLUMNS) continue;
        if (i >= a->dense.rows) continue;
        const char *const *column = NULL;
        PLX_TRY(plx__array_names(&column, x->ctx, x->model, NULL, a->name, 1, a->dense.cols));
        for (plx_index c = 0; c < a->dense.cols; c++) {
            const char *name = a->name;
            if (a->dense.cols > 1) PLX_TRY(plx__arena_printf(&name, plx__scratch(x->ctx), "%s.%s", a->name, column[c]));
            PLX_TRY(pair(s, name, array_cell(x->model, spec, a->dense.data[i * a->dense.ld + c])));
        }
    }
    return PLX_OK;
}

static plx_status put_answer(const plx__explainer *x, plx_index i)
{
    const plx__outcome *o = &x->answers->outcome;
    plx__section *s = NULL;
    PLX_TRY(plx__section_add(&s, x->out, "sample", "The sample", "what|value"));
    PLX_TRY(pair(s, "id", plx__cell_text(x->options.sample)));
    PLX_TRY(pair(s, "answer", plx__cell_text(o->label && o->label[i] ? o->label[i] : "?")));
    if (!x->judged.own && x->judged.known && x->judged.known[i])
        PLX_TRY(pair(s, "known", plx__cell_text(x->judged.known[i])));
    for (plx_index c = 0; o->scores.data && c < o->scores.cols; c++) {
        const char *name = NULL;
        PLX_TRY(plx__arena_printf(&name, plx__scratch(x->ctx), "score_%s", o->columns[c]));
        PLX_TRY(pair(s, name, plx__cell_number(o->scores.data[i * o->scores.ld + c])));
    }
    return put_arrays(x, s, i);
}

static plx_index column_of(const plx__outcome *o, const char *label)
{
    for (plx_index c = 0; o->scores.data && label && c < o->scores.cols; c++)
        if (strcmp(o->columns[c], label) == 0) return c;
    return o->scores.data && o->scores.cols == 1 ? 0 : -1;
}

/* ---- by view ---- */

static plx_status put_view(const plx__explainer *x, plx__section *s, plx_index view, plx_index i)
{
    plx_dataset *only = NULL;
    plx_prediction *p = NULL;
    const char *answer = x->answers->outcome.label[i];
    PLX_TRY(plx__only_view(&only, x->ctx, x->matched, view));
    plx_status st = plx__answers_for(&p, x, only);
    plx__dataset_destroy(only);
    PLX_TRY(st);
    const char *own = p && p->outcome.label ? p->outcome.label[i] : NULL;
    plx_index c = p ? column_of(&p->outcome, answer) : -1;
    double score = c >= 0 ? p->outcome.scores.data[i * p->outcome.scores.ld + c] : NAN;
    st = plx__section_row(s, (plx__cell[]){plx__cell_text(x->matched->views[view].name),
                                           plx__cell_text(own ? own : "?"), plx__cell_number(score),
                                           plx__cell_text(own && answer && strcmp(own, answer) == 0 ? "yes" : "no")});
    plx_prediction_destroy(p);
    return st;
}

static plx_status put_views(const plx__explainer *x, plx_index i)
{
    plx__section *s = NULL;
    PLX_TRY(plx__section_add(&s, x->out, "sample_views", "What every view says alone", "view|answer|score|agrees"));
    PLX_TRY(plx__section_note(s, "score: that of the model's answer, by this view alone."));
    for (plx_index v = 0; v < x->matched->n_views; v++)
        if (x->matched->views[v].present[i]) PLX_TRY(put_view(x, s, v, i));
    return PLX_OK;
}

/* ---- features that spoke ---- */

/* Row i in full. */
static void fill_row(double *out, const plx__view *v, plx_index i)
{
    memset(out, 0, (size_t)v->cols * sizeof *out);
    if (!v->sparse) memcpy(out, v->dense.data + i * v->dense.ld, (size_t)v->cols * sizeof *out);
    for (int64_t p = v->sparse ? v->csr.ptr[i] : 0; v->sparse && p < v->csr.ptr[i + 1]; p++)
        out[v->csr.col[p]] = v->csr.val[p];
}

/* What a feature is replaced by: the mean, or 0 in a view of mostly zeros. */
static plx_status loudest(plx__ranked_feature **out, plx_index *count, double **neutral, const plx__explainer *x,
                          const plx__view *v, const double *row)
{
    double *deviation = NULL;
    plx__arena *scratch = plx__scratch(x->ctx);
    PLX_TRY(plx__arena_f64(neutral, scratch, v->cols, 1));
    PLX_TRY(plx__arena_f64(&deviation, scratch, v->cols, 1));
    PLX_TRY(PLX__ARENA_NEW(out, scratch, v->cols));
    PLX_TRY(plx__column_moments(*neutral, deviation, x->ctx, v, x->matched->n));
    *count = 0;
    for (plx_index j = 0; j < v->cols; j++) {
        if (v->sparse) (*neutral)[j] = 0;
        double z = deviation[j] > 0 ? fabs(row[j] - (*neutral)[j]) / deviation[j] : 0;
        if (z > 0) (*out)[(*count)++] = (plx__ranked_feature){j, row[j], z};
    }
    plx__rank_features(*out, *count);
    *count = plx__min(*count, MOST_SPOKEN);
    return PLX_OK;
}

/* count + 1 copies of sample i; copy k + 1 has the neutral value in the k-th listed column of `view`. */
static plx_status add_copies(plx_dataset *to, const plx__explainer *x, const plx__view *v, plx_index i,
                             const plx__ranked_feature *list, const double *neutral, plx_index count)
{
    plx_mat rows;
    uint8_t *present = NULL;
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(x->ctx), count + 1, v->cols));
    PLX_TRY(plx__arena_u8(&present, plx__scratch(x->ctx), count + 1));
    for (plx_index k = 0; k <= count; k++) {
        fill_row(rows.data + k * rows.ld, v, i);
        present[k] = v->present[i];
        if (list && k > 0) rows.data[k * rows.ld + list[k - 1].column] = neutral[list[k - 1].column];
    }
    return plx__dataset_add_dense(to, x->ctx, v->name, v->kind, plx__cmat(rows), v->features, present);
}

static plx_status put_spoken(const plx__explainer *x, plx__section *s, plx_index view, plx_index i)
{
    const plx__view *v = &x->matched->views[view];
    plx__ranked_feature *list = NULL;
    double *neutral = NULL, *row = NULL;
    plx_index count = 0;
    plx_dataset *copies = NULL;
    plx_prediction *p = NULL;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(x->ctx), v->cols, 1));
    fill_row(row, v, i);
    PLX_TRY(loudest(&list, &count, &neutral, x, v, row));
    PLX_TRY(plx__dataset_create(&copies, x->ctx, "copies", count + 1));
    plx_status st = PLX_OK;
    for (plx_index u = 0; st == PLX_OK && u < x->matched->n_views; u++)
        st = add_copies(copies, x, &x->matched->views[u], i, u == view ? list : NULL, neutral, count);
    if (st == PLX_OK) st = plx__answers_for(&p, x, copies);
    plx__dataset_destroy(copies);
    plx_index c = p ? column_of(&p->outcome, x->answers->outcome.label[i]) : -1;
    for (plx_index k = 0; st == PLX_OK && c >= 0 && k < count; k++) {
        plx_cmat scores = plx__cmat(p->outcome.scores);
        list[k].weight = scores.data[c] - scores.data[(k + 1) * scores.ld + c];
        list[k].size = fabs(list[k].weight);
    }
    if (st == PLX_OK && c >= 0) plx__rank_features(list, count);
    for (plx_index k = 0; st == PLX_OK && c >= 0 && k < plx__min(count, x->options.top); k++) {
        const char *name = NULL;
        st = plx__feature_name(&name, x->ctx, &x->model->views[view], list[k].column);
        if (st == PLX_OK)
            st = plx__section_row(s, (plx__cell[]){plx__cell_text(v->name), plx__cell_text(name),
                                                   plx__cell_number(row[list[k].column]),
                                                   plx__cell_number(list[k].weight)});
    }
    plx_prediction_destroy(p);
    return st;
}

static plx_status put_features(const plx__explainer *x, plx_index i)
{
    plx__section *s = NULL;
    if (x->again || !x->answers->outcome.scores.data) return PLX_OK;
    PLX_TRY(plx__section_add(&s, x->out, "sample_features", "Features that spoke most", "view|feature|value|effect"));
    PLX_TRY(plx__section_note(s,
                              "effect: how much the score of the answer falls when the feature has its mean (in sparse "
                              "views: 0) instead."));
    for (plx_index v = 0; v < x->matched->n_views; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(x->ctx));
        if (x->matched->views[v].present[i] && x->matched->views[v].kind != PLX_VIEW_KERNEL)
            PLX_TRY(put_spoken(x, s, v, i));
        plx__arena_rewind(plx__scratch(x->ctx), mark);
    }
    return PLX_OK;
}

/* ---- neighbours ---- */

/* The class of sample k: what is judged by, or a label that a new fit saw. */
static const char *known_class(const plx__explainer *x, plx_index k)
{
    const char *judged = x->judged.known ? x->judged.known[k] : NULL;
    return judged || !x->given ? judged : x->given[k];
}

/* 1 - cosine of rows centred by the column means; sparse rows are not centred. */
static plx_status distances(plx__ranked_feature *out, const plx__explainer *x, const plx__view *v, plx_index i)
{
    double *mean = NULL, *deviation = NULL, *a = NULL, *b = NULL;
    plx__arena *scratch = plx__scratch(x->ctx);
    PLX_TRY(plx__arena_f64(&mean, scratch, v->cols, 1));
    PLX_TRY(plx__arena_f64(&deviation, scratch, v->cols, 1));
    PLX_TRY(plx__arena_f64(&a, scratch, v->cols, 1));
    PLX_TRY(plx__arena_f64(&b, scratch, v->cols, 1));
    if (!v->sparse) PLX_TRY(plx__column_moments(mean, deviation, x->ctx, v, x->matched->n));
    fill_row(a, v, i);
    for (plx_index j = 0; !v->sparse && j < v->cols; j++) a[j] = deviation[j] > 0 ? (a[j] - mean[j]) / deviation[j] : 0;
    for (plx_index k = 0; k < x->matched->n; k++) {
        out[k] = (plx__ranked_feature){k, NAN, -INFINITY};
        if (k == i || !v->present[k] || !known_class(x, k)) continue;
        fill_row(b, v, k);
        for (plx_index j = 0; !v->sparse && j < v->cols; j++)
            b[j] = deviation[j] > 0 ? (b[j] - mean[j]) / deviation[j] : 0;
        double norms = plx__norm(a, v->cols) * plx__norm(b, v->cols);
        out[k].weight = out[k].size = norms > 0 ? plx__dot(a, b, v->cols) / norms : 0;
    }
    return PLX_OK;
}

static plx_status put_neighbours(const plx__explainer *x, plx_index i)
{
    plx__section *s = NULL;
    plx__ranked_feature *list = NULL;
    if (x->judged.own) return PLX_OK;
    PLX_TRY(plx__section_add(&s, x->out, "sample_neighbours", "Nearest samples whose class is known",
                             "view|id|known|cosine"));
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(x->ctx), x->matched->n));
    for (plx_index v = 0; v < x->matched->n_views; v++) {
        const plx__view *view = &x->matched->views[v];
        plx__mark mark = plx__arena_mark(plx__scratch(x->ctx));
        if (!view->present[i] || view->kind == PLX_VIEW_KERNEL) continue;
        PLX_TRY(distances(list, x, view, i));
        plx__rank_features(list, x->matched->n);
        for (plx_index k = 0; k < plx__min(NEIGHBOURS, x->matched->n) && list[k].size > -INFINITY; k++) {
            const char *id = x->data->ids ? x->data->ids[list[k].column] : NULL;
            if (!id) PLX_TRY(plx__arena_printf(&id, plx__scratch(x->ctx), "%lld", (long long)list[k].column));
            PLX_TRY(plx__section_row(s, (plx__cell[]){plx__cell_text(view->name), plx__cell_text(id),
                                                      plx__cell_text(known_class(x, list[k].column)),
                                                      plx__cell_number(list[k].weight)}));
        }
        plx__arena_rewind(plx__scratch(x->ctx), mark);
    }
    return PLX_OK;
}

plx_status plx__explain_sample(plx__explainer *x)
{
    plx_index i = -1;
    PLX_TRY(find_sample(&i, x));
    PLX_TRY(put_answer(x, i));
    if (!plx__has_answers(x)) return PLX_OK;
    PLX_TRY(put_views(x, i));
    PLX_TRY(put_features(x, i));
    return put_neighbours(x, i);
}
