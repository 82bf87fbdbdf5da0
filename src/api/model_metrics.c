/*
 * How good predictions are: truth of a data set against the labels and scores a model gave.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/model_impl.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "eval/fit_metrics.h"
#include "eval/metrics_store.h"
#include "eval/rule_check.h"

/* Flags of all samples, where every rank knows those of its own. */
static plx_status share_flags(uint8_t *flags, plx_context *ctx, const plx_index *bound)
{
    size_t *offset = NULL;
    if (!bound) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), plx__ranks(ctx) + 1));
    for (int r = 0; r <= plx__ranks(ctx); r++) offset[r] = (size_t)bound[r];
    return plx__peers_share(ctx, flags, offset);
}

/* How good every view is on its own, where the method tells. */
static plx_status measure_views(plx_metrics *metrics, plx_context *ctx, const plx_prediction *p, const plx_model *m,
                                const plx__fit_outcome *about)
{
    if (!m->method->view_scores || about->kind != PLX__FIT_CLASSIFIER) return PLX_OK;
    int stem = (int)strlen(m->method->view_scores) - 4;
    uint8_t *present = NULL;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), about->n));
    for (plx_index v = 0; v < m->n_views; v++) {
        const char *name = NULL;
        PLX_TRY(plx__arena_printf(&name, plx__scratch(ctx), "%.*s%s", stem, m->method->view_scores, m->views[v].name));
        const plx__array *a = plx__store_find(&p->store, name);
        if (!a || a->sparse || a->dense.rows != p->outcome.n || a->dense.cols != about->n_classes) continue;
        for (plx_index i = 0; i < a->dense.rows; i++) {
            uint8_t *here = &present[p->outcome.first + i];
            *here = 0;
            for (plx_index c = 0; c < a->dense.cols; c++) *here |= a->dense.data[i * a->dense.ld + c] != 0;
        }
        PLX_TRY(share_flags(present, ctx, about->bound));
        PLX_TRY(plx__metrics_for_view(metrics, about, m->views[v].name, plx__cmat(a->dense), present));
    }
    return PLX_OK;
}

typedef struct column_sum {
    plx_cmat rows;
    plx_index column;
    double sum[2]; /* of the numbers there, and how many they are */
} column_sum;

static void add_column(void *arg)
{
    column_sum *s = arg;
    for (plx_index i = 0; i < s->rows.rows; i++) {
        double value = s->rows.data[i * s->rows.ld + s->column];
        if (isnan(value)) continue;
        s->sum[0] += value;
        s->sum[1]++;
    }
}

/* Means over columns of arrays that tell how good the model is by themselves. */
static plx_status measure_arrays(plx_metrics *metrics, plx_context *ctx, const plx_prediction *p, const plx_model *m)
{
    for (const plx__mean_metric *mean = m->method->metrics; mean && mean->name; mean++) {
        const plx__array *a = plx__store_find(&p->store, mean->array);
        if (!a || a->sparse || mean->column >= a->dense.cols) continue;
        column_sum s = {.rows = plx__cmat(a->dense), .column = mean->column};
        bool divided = plx__array_by_sample(plx__array_spec_find(m->method, mean->array), 0);
        PLX_TRY(plx__bound_chain(ctx, divided ? p->outcome.bound : NULL, s.sum, sizeof s.sum, add_column, &s));
        if (s.sum[1] > 0) PLX_TRY(plx__metrics_add(metrics, s.sum[0] / s.sum[1], "%s", mean->name));
    }
    return PLX_OK;
}

/* What all samples were taken for. A method may leave all of them open (*none): there is nothing to compare then. */
static plx_status labels_of_all(const char *const **out, bool *none, plx_context *ctx, const plx__outcome *o)
{
    const char **pred = NULL;
    int64_t count = 0;
    PLX_TRY(PLX__ARENA_NEW(&pred, plx__scratch(ctx), o->n));
    for (plx_index i = 0; o->label && i < o->n; i++) {
        pred[i] = o->label[i] ? o->label[i] : "?";
        count += o->label[i] != NULL;
    }
    *out = pred;
    if (o->bound) PLX_TRY(plx__peers_total(ctx, &count, 1));
    *none = count == 0;
    return o->bound && count ? plx__share_texts(out, ctx, plx__scratch(ctx), o->bound) : PLX_OK;
}

static plx__fit_kind kind_of(const plx__outcome *o)
{
    return o->kind == PLX__OUTCOME_CLUSTERS  ? PLX__FIT_CLUSTERER
           : o->kind == PLX__OUTCOME_NUMBERS ? PLX__FIT_REGRESSOR
                                             : PLX__FIT_CLASSIFIER;
}

/* What is known about the samples: the truth, or, of samples that are new to the model, their labels. */
static const char *const *known_labels(const plx_prediction *p, const plx_model *m, const plx_dataset *data)
{
    return data->truth ? data->truth : p == &m->fitted ? NULL : data->labels;
}

static plx_status measure_labels(plx_metrics *metrics, plx_context *ctx, const plx_prediction *p, const plx_model *m,
                                 const plx_dataset *data)
{
    const plx__outcome *o = &p->outcome;
    const char *const *pred = NULL;
    plx_metrics_hierarchy h;
    bool none = false;
    PLX_TRY(labels_of_all(&pred, &none, ctx, o));
    if (none) return PLX_OK;
    plx__fit_outcome about = {.n = data->n,
                              .truth = known_labels(p, m, data),
                              .pred = pred,
                              .seen = p == &m->fitted ? m->seen : NULL,
                              .bound = o->bound};
    about.kind = kind_of(o);
    if (o->columns && o->scores.cols && about.kind == PLX__FIT_CLASSIFIER) {
        about.scores = plx__cmat(o->scores);
        about.classes = o->columns;
        about.n_classes = o->scores.cols;
    }
    if (m->hierarchy) {
        PLX_TRY(plx__metrics_hierarchy(&h, plx__scratch(ctx), m->hierarchy));
        about.hierarchy = &h;
    }
    PLX_TRY(plx__metrics_for_fit(metrics, &about));
    return measure_views(metrics, ctx, p, m, &about);
}

plx_status plx__measure(plx_metrics *metrics, plx_context *ctx, const plx_prediction *p, const plx_model *m,
                        const plx_dataset *data)
{
    plx_index n = plx__outcome_samples(ctx, &p->outcome);
    if (data->n != n)
        PLX_FAIL(ctx, PLX_E_ARG, "the data set has %lld samples, the prediction %lld", (long long)data->n,
                 (long long)n);
    if (known_labels(p, m, data)) PLX_TRY(measure_labels(metrics, ctx, p, m, data));
    return measure_arrays(metrics, ctx, p, m);
}

static plx_status prediction_metrics(plx_metrics **out, plx_context *ctx, const plx_prediction *p, const plx_model *m,
                                     const plx_dataset *data)
{
    plx_metrics *metrics = NULL;
    PLX_TRY(plx__metrics_new(&metrics, ctx));
    plx_status st = plx__measure(metrics, ctx, p, m, data);
    if (st == PLX_OK) *out = metrics;
    else plx_metrics_destroy(metrics);
    return st;
}

plx_status plx_prediction_metrics(plx_metrics **out, plx_context *ctx, const plx_prediction *prediction,
                                  const plx_model *model, const plx_dataset *data)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, prediction_metrics(out, ctx, prediction, model, data), PLX__ARG(out), PLX__ARG(prediction),
              PLX__ARG(model), PLX__ARG(data));
}
