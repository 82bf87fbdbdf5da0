/*
 * plx_explain: the model's answers for the data, measured, and then for the data with one thing changed at a time.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/array_names.h"
#include "api/explain_impl.h"
#include "core/json.h"
#include "core/rng.h"
#include "eval/metrics_store.h"
#include "explain/rearrange.h"

/* ---- answers ---- */

plx_status plx__answers_for(plx_prediction **out, const plx__explainer *x, const plx_dataset *data)
{
    plx_context *ctx = x->ctx;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_log_fn log = ctx->log;
    plx__note **tail = ctx->notes_tail;
    ctx->log = NULL; /* what changed data are warned of is not about the caller's */
    plx_status st =
        x->again ? plx__answer_again(out, x, data) : plx__predict(out, ctx, x->model, data, NULL, data->n, NULL, 0);
    ctx->log = log;
    ctx->notes_tail = tail;
    *tail = NULL;
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (st == PLX_OK || st == PLX_E_CANCELLED || st == PLX_E_NOMEM || st == PLX_E_INTERNAL) return st;
    plx__clear_error(ctx);
    *out = NULL;
    return PLX_OK;
}

bool plx__has_answers(const plx__explainer *x) { return x->answers->outcome.kind != PLX__OUTCOME_NONE; }

/* ---- views ---- */

/* Mean and error of rightness (or of how much it falls) over the samples that have the view. */
static plx_status measure(double *mean, double *error, const plx__explainer *x, plx_index view, const double *other,
                          bool fall)
{
    plx__mark mark = plx__arena_mark(plx__scratch(x->ctx));
    double *d = NULL;
    plx_index n = x->judged.n;
    PLX_TRY(plx__arena_f64(&d, plx__scratch(x->ctx), n, 1));
    for (plx_index i = 0; i < n; i++) {
        d[i] = fall ? x->right[i] - other[i] : other[i];
        if (!x->matched->views[view].present[i]) d[i] = NAN;
    }
    plx__mean_error(d, n, mean, error);
    plx__arena_rewind(plx__scratch(x->ctx), mark);
    return PLX_OK;
}

typedef plx_status (*change_fn)(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view);

/* Adds the rightness of the answers for changed data to `sum`; *refused: there are none. */
static plx_status add_rightness(double *sum, bool *refused, const plx__explainer *x, const plx_dataset *changed)
{
    plx_prediction *p = NULL;
    plx__judged judged;
    double *right = NULL;
    plx_index n = x->judged.n;
    PLX_TRY(plx__answers_for(&p, x, changed));
    *refused = !p;
    if (!p) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(x->ctx));
    plx_status st = plx__arena_f64(&right, plx__scratch(x->ctx), n, 1);
    if (st == PLX_OK) st = plx__cross_again(&judged, x, p);
    if (st == PLX_OK) st = plx__rightness(right, x->ctx, &judged, (const char *const *)p->outcome.label);
    for (plx_index i = 0; st == PLX_OK && i < n; i++) sum[i] += right[i];
    plx__arena_rewind(plx__scratch(x->ctx), mark);
    plx_prediction_destroy(p);
    return st;
}

static plx_status try_mask(double *out, bool *refused, const plx__explainer *x, plx_index view, change_fn change)
{
    plx_dataset *changed = NULL;
    memset(out, 0, (size_t)x->judged.n * sizeof *out);
    PLX_TRY(change(&changed, x->ctx, x->matched, view));
    plx_status st = add_rightness(out, refused, x, changed);
    plx__dataset_destroy(changed);
    return st;
}

static plx_status try_permutations(double *out, bool *refused, const plx__explainer *x, plx_index view)
{
    plx_index n = x->judged.n, repeats = x->options.repeats;
    memset(out, 0, (size_t)n * sizeof *out);
    *refused = false;
    for (plx_index r = 0; r < repeats && !*refused; r++) {
        plx_dataset *changed = NULL;
        uint64_t stream = PLX__STREAM('e', 'x', 'v', (char)(view & 127), r);
        PLX_TRY(plx__permuted_view(&changed, x->ctx, x->matched, view, stream));
        plx_status st = add_rightness(out, refused, x, changed);
        plx__dataset_destroy(changed);
        PLX_TRY(st);
    }
    for (plx_index i = 0; i < n; i++) out[i] /= (double)repeats;
    return PLX_OK;
}

/* Weights the model itself gives to views, where it has any. */
static double own_weight(const plx_model *m, plx_index view)
{
    const plx__array *a = plx__store_find(&m->store, "view_weight");
    if (!a || a->sparse || a->dense.cols != 1 || a->dense.rows != m->n_views) return NAN;
    return a->dense.data[view * a->dense.ld];
}

static plx_status explain_view(const plx__explainer *x, plx__section *s, plx_index view, double *work)
{
    plx__cell row[9] = {{0}};
    bool refused[3] = {false, false, false};
    const plx__view *v = &x->matched->views[view];
    row[0] = plx__cell_text(v->name);
    row[1] = plx__cell_number((double)v->present_count);
    for (int c = 2; c < 9; c++) row[c] = plx__cell_number(NAN);
    PLX_TRY(try_mask(work, &refused[0], x, view, plx__without_view));
    if (!refused[0]) PLX_TRY(measure(&row[2].number, &row[3].number, x, view, work, true));
    PLX_TRY(try_permutations(work, &refused[1], x, view));
    if (!refused[1]) PLX_TRY(measure(&row[4].number, &row[5].number, x, view, work, true));
    PLX_TRY(try_mask(work, &refused[2], x, view, plx__only_view));
    if (!refused[2]) PLX_TRY(measure(&row[6].number, &row[7].number, x, view, work, false));
    row[8] = plx__cell_number(own_weight(x->model, view));
    if (refused[0]) PLX_TRY(plx__section_note(s, "The model does not answer without view '%s'.", v->name));
    return plx__section_row(s, row);
}

static plx_status note_weights(const plx__explainer *x, plx__section *s)
{
    double most = 0, sum = 0;
    for (plx_index v = 0; v < x->model->n_views; v++) {
        double w = own_weight(x->model, v);
        if (isnan(w)) return PLX_OK;
        most = fmax(most, w);
        sum += w;
    }
    if (x->model->n_views > 1 && most > 0.999 * sum)
        return plx__section_note(s, "The model's own weights put everything on one view: with this kernel they are not "
                                    "identifiable; trust the other columns.");
    return PLX_OK;
}

plx_status plx__explain_views(plx__explainer *x)
{
    plx__section *s = NULL;
    double *work = NULL;
    if (!plx__has_answers(x) || !x->judged.samples) return PLX_OK;
    PLX_TRY(plx__section_add(&s, x->out, "views", "What every view contributes",
                             "view|samples|withheld|withheld_error|permuted|permuted_error|alone|alone_error|weight"));
    PLX_TRY(plx__section_note(
        s,
        "How much %s falls when a view is withheld and when its rows are dealt anew, and how much there is with this "
        "view alone; of the samples that have it, with standard errors.",
        x->judged.own        ? "the share of answers like the model's own"
        : x->judged.numbers  ? "r2"
        : x->judged.clusters ? "the share of samples whose cluster stands for their class"
                             : "accuracy"));
    if (x->again)
        PLX_TRY(plx__section_note(
            s, "%s labels only the samples it is fitted to: it was fitted again for every number%s.",
            x->model->method->name,
            x->hidden && !x->judged.own ? ", and judged by every fifth label, which it did not see" : ""));
    PLX_TRY(plx__arena_f64(&work, plx__scratch(x->ctx), x->judged.n, 1));
    for (plx_index v = 0; v < x->matched->n_views; v++) {
        if (x->matched->views[v].present_count) PLX_TRY(explain_view(x, s, v, work));
        PLX_TRY(plx__report(x->ctx, "views", v + 1, x->matched->n_views, NAN));
    }
    return note_weights(x, s);
}

/* ---- figures ---- */

enum { FEW_NUMBERS = 12 };

/* The entries of an array by the names of its rows and columns. */
static plx_status put_figures(const plx__explainer *x, plx__section *s, const plx__array *a)
{
    plx_index rows = a->dense.rows, cols = a->dense.cols;
    const char *const *row = NULL, *const *column = NULL;
    PLX_TRY(plx__array_names(&row, x->ctx, x->model, NULL, a->name, 0, rows));
    PLX_TRY(plx__array_names(&column, x->ctx, x->model, NULL, a->name, 1, cols));
    for (plx_index e = 0; e < rows * cols; e++) {
        const char *name = cols == 1 ? row[e] : column[e % cols];
        if (rows > 1 && cols > 1)
            PLX_TRY(plx__arena_printf(&name, plx__scratch(x->ctx), "%s, %s", row[e / cols], column[e % cols]));
        if (rows == 1 && cols == 1) name = "";
        PLX_TRY(plx__section_row(s, (plx__cell[]){plx__cell_text(a->name), plx__cell_text(name),
                                                  plx__cell_number(a->dense.data[e / cols * a->dense.ld + e % cols])}));
    }
    return PLX_OK;
}

/* Small arrays of the model. */
static plx_status explain_figures(plx__explainer *x)
{
    plx__section *s = NULL;
    PLX_TRY(plx__section_add(&s, x->out, "figures", "Figures of the model", "figure|of|value"));
    for (const plx__array *a = x->model->store.first; a; a = a->next) {
        plx_index count = a->sparse ? 0 : a->dense.rows * a->dense.cols;
        if (a->name[0] != '_' && count > 0 && count <= FEW_NUMBERS) PLX_TRY(put_figures(x, s, a));
    }
    return PLX_OK;
}

/* Clusters beside a truth. */
static plx_status explain_clusters(plx__explainer *x)
{
    plx__section *s = NULL;
    plx_metrics *metrics = NULL;
    if (x->answers->outcome.kind != PLX__OUTCOME_CLUSTERS || !(x->data->truth || x->data->labels)) return PLX_OK;
    PLX_TRY(plx__metrics_new(&metrics, x->ctx));
    plx_status st = plx__measure(metrics, x->ctx, x->answers, x->model, x->data);
    if (st == PLX_OK) st = plx__section_add(&s, x->out, "quality", "Clusters beside the known classes", "metric|value");
    for (plx_index i = 0; st == PLX_OK && i < plx_metrics_count(metrics); i++)
        st = plx__section_row(s, (plx__cell[]){plx__cell_text(plx_metrics_name(metrics, i)),
                                               plx__cell_number(plx_metrics_value(metrics, i, NULL))});
    plx_metrics_destroy(metrics);
    return st;
}

/* ---- the call ---- */

static plx_status check_options(plx_explain_options *out, plx_context *ctx, const plx_explain_options *given)
{
    *out = (plx_explain_options)PLX_EXPLAIN_OPTIONS_INIT;
    PLX_TRY(plx__take_options(out, sizeof *out, ctx, given, "PLX_EXPLAIN_OPTIONS_INIT"));
    if (out->top < 1 || out->repeats < 1)
        PLX_FAIL(ctx, PLX_E_ARG, "top = %lld, repeats = %lld: both must be at least 1", (long long)out->top,
                 (long long)out->repeats);
    return PLX_OK;
}

static plx_status answer(plx__explainer *x)
{
    plx_context *ctx = x->ctx;
    x->again = !x->model->method->predict && !x->model->portfolio;
    PLX_TRY(plx__match_data(&x->matched, ctx, x->model, x->data));
    if (x->again) return plx__judge_again(x);
    PLX_TRY(plx__predict(&x->answers, ctx, x->model, x->data, NULL, x->data->n, NULL, 0));
    return plx__judge(&x->judged, ctx, x->data, &x->answers->outcome);
}

static plx_status run(plx__explainer *x)
{
    plx_context *ctx = x->ctx;
    PLX_TRY(answer(x));
    PLX_TRY(plx__arena_f64(&x->right, plx__scratch(ctx), x->judged.n, 1));
    if (plx__has_answers(x)) PLX_TRY(plx__rightness(x->right, ctx, &x->judged, x->judged.answer));
    PLX_TRY(explain_clusters(x));
    if (plx__has_answers(x)) PLX_TRY(plx__explain_quality(x->out, ctx, &x->judged, x->matched));
    PLX_TRY(plx__explain_views(x));
    PLX_TRY(plx__explain_features(x));
    PLX_TRY(explain_figures(x));
    return x->options.sample ? plx__explain_sample(x) : PLX_OK;
}

static plx_status explain(plx_explanation **out, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                          const plx_explain_options *options)
{
    plx__explainer x = {.ctx = ctx, .model = model, .data = data};
    PLX_TRY(check_options(&x.options, ctx, options));
    PLX_TRY(plx__explanation_create(&x.out, ctx));
    plx_status st = run(&x);
    plx_prediction_destroy(x.answers);
    plx__dataset_destroy(x.matched);
    if (st == PLX_OK) *out = x.out;
    else plx__explanation_free(x.out);
    return st;
}

plx_status plx_explain(plx_explanation **out, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                       const plx_explain_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, explain(out, ctx, model, data, options), PLX__ARG(out), PLX__ARG(model), PLX__WHOLE(data));
}
