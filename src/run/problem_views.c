/*
 * The views of a problem. The scaling of a view is settled first (scale=auto goes by the rows as given), then all-zero
 * rows become missing views where the method says so, then views that no sample has are left out.
 */
#include "run/problem_views.h"
#include "data/divided.h"
#include "run/facts.h"

#include <string.h>

const plx__param_spec plx__zero_rows_params[] = {
    {"zero_rows", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "missing", 0, 0, "missing|present",
     "Whether an all-zero row of a counts or binary view counts as a missing view or as the zero vector."},
    PLX__PARAM_END};

const plx__param_spec plx__uncovered_params[] = {
    {"uncovered", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "prior", 0, 0, "prior|error",
     "What samples without any view get: the most frequent class or the largest cluster, or an error."},
    PLX__PARAM_END};

/* ---- scaling ---- */

static plx_status settle_scale(plx__scale_kind *out, plx_context *ctx, const plx__problem_source *from,
                               const plx__view *v, const uint8_t *rows)
{
    plx__value value;
    *out = PLX__SCALE_NONE;
    if (v->kind == PLX_VIEW_KERNEL || plx__view_value_level(from->settings, "scale", v->name) < 0) return PLX_OK;
    PLX_TRY(plx__view_value(&value, ctx, from->settings, "scale", v->name));
    if (plx__scale_parse(out, value.text) || !from->fitting) return PLX_OK; /* a model without scalings predates auto */
    if (from->method->scale_auto) return from->method->scale_auto(out, ctx, from->settings, v, rows);
    const plx__param_spec *spec = plx__param_find(from->settings->tables, "scale");
    *out = strstr(spec->words, "unit") ? plx__scale_auto(v, rows) : PLX__SCALE_ZSCORE; /* where that is all there is */
    return PLX_OK;
}

/* The rows that scaling is fitted on: NULL means all. */
static plx_status labelled_rows(const uint8_t **out, plx_context *ctx, const plx__problem_source *from)
{
    uint8_t *rows = NULL;
    *out = NULL;
    if (!from->method->scale_by_labelled || !from->fitting || !from->data->labels) return PLX_OK;
    PLX_TRY(plx__arena_u8(&rows, plx__scratch(ctx), from->data->n));
    for (plx_index i = 0; i < from->data->n; i++) rows[i] = from->data->labels[i] != NULL;
    *out = rows;
    return PLX_OK;
}

static bool has_scale(const plx__run *run) { return plx__param_find(run->method->params, "scale") != NULL; }

plx_status plx__scales_put(plx__run *run)
{
    plx_mat kinds;
    if (!has_scale(run)) return PLX_OK;
    PLX_TRY(plx__store_new(&kinds, run->out, PLX__SCALES, 1, run->problem->n_views));
    for (plx_index v = 0; v < run->problem->n_views; v++) kinds.data[v] = (double)run->problem->scale[v];
    return PLX_OK;
}

plx_status plx__scales_report(plx__run *run)
{
    const plx__problem *p = run->problem;
    if (!has_scale(run)) return PLX_OK;
    for (plx_index v = 0; v < p->n_views; v++) {
        const char *key = NULL;
        PLX_TRY(plx__view_key(&key, run->ctx, "scale", p->views[v].name));
        PLX_TRY(plx__report_text(run, key, plx__scale_name(p->scale[v])));
    }
    return PLX_OK;
}

plx_status plx__scales_get(const plx__scale_kind **out, plx_context *ctx, const plx__store *fitted, plx_index n_views)
{
    plx_cmat kinds;
    plx__scale_kind *scale = NULL;
    *out = NULL;
    if (!plx__store_find(fitted, PLX__SCALES)) return PLX_OK;
    PLX_TRY(plx__store_shaped(&kinds, ctx, fitted, PLX__SCALES, 1, n_views));
    PLX_TRY(PLX__ARENA_NEW(&scale, plx__scratch(ctx), n_views));
    for (plx_index v = 0; v < n_views; v++) {
        double kind = kinds.data[v];
        if (!(kind >= 0 && kind <= PLX__SCALE_L1)) PLX_FAIL(ctx, PLX_E_FORMAT, "the model's scalings are damaged");
        scale[v] = (plx__scale_kind)kind;
    }
    *out = scale;
    return PLX_OK;
}

/* ---- zero rows ---- */

/* After centring, zero is an ordinary value: zscore is exempt. */
static plx_status zero_rows_miss(bool *out, plx_context *ctx, const plx__problem_source *from, const plx__view *v,
                                 plx__scale_kind scale)
{
    plx__value value;
    *out = false;
    if (v->kind == PLX_VIEW_KERNEL || scale == PLX__SCALE_ZSCORE || from->method->zero_rows == PLX__ZERO_ROWS_PRESENT)
        return PLX_OK;
    if (from->method->zero_rows == PLX__ZERO_ROWS_MISSING) {
        *out = true;
        return PLX_OK;
    }
    PLX_TRY(plx__view_value(&value, ctx, from->settings, "zero_rows", NULL));
    if (value.word != 0) return PLX_OK;
    if (from->method->zero_says_nothing) return from->method->zero_says_nothing(out, ctx, from->settings, v);
    *out = v->kind == PLX_VIEW_COUNTS || v->kind == PLX_VIEW_BINARY;
    return PLX_OK;
}

static plx_status drop_zero_rows(plx__view *v, plx_context *ctx, plx_index n)
{
    plx_index begin = plx__held_begin(v), end = plx__held_end(v, n);
    double dropped = 0;
    uint8_t *present = NULL;
    for (plx_index i = begin; i < end; i++) {
        plx__breathe(ctx, i);
        dropped += v->present[i] && plx__row_is_zero(v, i);
    }
    PLX_TRY(plx__held_total(ctx, v, &dropped, 1));
    if (dropped == 0) return PLX_OK;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), n));
    for (plx_index i = begin; i < end; i++) {
        plx__breathe(ctx, i);
        present[i] = v->present[i] && !plx__row_is_zero(v, i);
    }
    PLX_TRY(plx__held_share(ctx, v, present, 1));
    v->present = present;
    v->present_count -= (plx_index)dropped;
    return PLX_OK;
}

/* ---- all views ---- */

plx_status plx__problem_views(plx__problem *out, plx_context *ctx, const plx__problem_source *from)
{
    const plx_dataset *data = from->data;
    plx__arena *scratch = plx__scratch(ctx);
    plx__view *views = NULL;
    plx__scale_kind *scale = NULL;
    plx_index *given = NULL, kept = 0;
    PLX_TRY(labelled_rows(&out->scale_rows, ctx, from));
    PLX_TRY(PLX__ARENA_NEW(&views, scratch, data->n_views));
    PLX_TRY(PLX__ARENA_NEW(&scale, scratch, data->n_views));
    PLX_TRY(plx__arena_i64(&given, scratch, data->n_views));
    for (plx_index v = 0; v < data->n_views; v++) {
        bool drop = false;
        plx__view *view = &views[kept];
        *view = data->views[v];
        scale[kept] = from->scale ? from->scale[v] : PLX__SCALE_NONE;
        if (!from->scale) PLX_TRY(settle_scale(&scale[kept], ctx, from, view, out->scale_rows));
        PLX_TRY(zero_rows_miss(&drop, ctx, from, view, scale[kept]));
        if (drop) PLX_TRY(drop_zero_rows(view, ctx, data->n));
        given[kept] = v;
        if (view->present_count || !from->fitting || from->method->keep_empty_views) kept++;
    }
    out->views = views;
    out->scale = scale;
    out->given = given;
    out->n_views = kept;
    out->n_given = data->n_views;
    return PLX_OK;
}

/* ---- coverage ---- */

plx_status plx__uncovered_samples(plx_index **out, plx_index *count, plx_context *ctx, const plx__problem *p)
{
    *count = 0;
    PLX_TRY(plx__arena_i64(out, plx__scratch(ctx), p->n));
    for (plx_index i = 0; i < p->n; i++) {
        bool covered = false;
        for (plx_index v = 0; v < p->n_views && !covered; v++) covered = p->views[v].present[i];
        if (!covered) (*out)[(*count)++] = i;
    }
    return PLX_OK;
}

void plx__warn_uncovered(plx_context *ctx, const plx__method *method, plx_index count, const char *id,
                         const char *answer)
{
    plx__warn(ctx, "%s: %lld %s no view, e.g. %.60s; %s", method->name, (long long)count,
              count == 1 ? "sample has" : "samples have", id, answer);
}

plx_status plx__uncovered_refused(bool *out, plx_context *ctx, const plx__method *method, const plx_params *settings)
{
    plx__value value;
    *out = false;
    if (!plx__param_find(method->params, "uncovered")) return PLX_OK;
    PLX_TRY(plx__view_value(&value, ctx, settings, "uncovered", NULL));
    *out = value.word == 1;
    return PLX_OK;
}

/* ---- lists with a number per view ---- */

plx_status plx__view_numbers(double *out, plx__run *run, const char *name, const plx__value *list, plx_index extra)
{
    const plx__problem *p = run->problem;
    if (list->n_list != p->n_given + extra)
        PLX_FAIL(run->ctx, PLX_E_ARG, "%s = %s: lists %lld numbers, %lld are needed: one per view%s", name, list->text,
                 (long long)list->n_list, (long long)(p->n_given + extra),
                 extra ? " and one for the concatenation" : "");
    for (plx_index v = 0; v < p->n_views; v++) out[v] = list->list[p->given[v]];
    for (plx_index v = 0; v < extra; v++) out[p->n_views + v] = list->list[p->n_given + v];
    return PLX_OK;
}

/* ---- what a user should know about the data ---- */

/* Rows of the caller's view that the rule set aside. */
static plx_index set_aside(const plx_dataset *data, const plx__problem *p, plx_index v)
{
    plx_index kept = 0;
    for (plx_index w = 0; w < p->n_views; w++)
        if (p->given[w] == v) kept = p->views[w].present_count;
    return data->views[v].present_count - kept;
}

static plx_status warn_zero_rows(plx_context *ctx, const plx__problem_source *from, const plx__problem *p)
{
    const char **names = NULL, *list = NULL;
    plx_index total = 0, count = 0;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), from->data->n_views));
    for (plx_index v = 0; v < from->data->n_views; v++) {
        plx_index rows = set_aside(from->data, p, v);
        if (!rows) continue;
        total += rows;
        PLX_TRY(plx__arena_printf(&names[count++], plx__scratch(ctx), "%lld of view '%s'", (long long)rows,
                                  from->data->views[v].name));
    }
    if (!total) return PLX_OK;
    PLX_TRY(plx__list_names(&list, plx__scratch(ctx), names, count));
    plx__warn(ctx, "%lld all-zero %s as missing views: %s%s", (long long)total,
              total == 1 ? "row counts" : "rows count", list,
              from->method->zero_rows == PLX__ZERO_ROWS_PARAM ? "; zero_rows=present takes them as they are" : "");
    return PLX_OK;
}

static plx_status warn_empty_views(plx_context *ctx, const plx__problem_source *from, const plx__problem *p)
{
    const char **names = NULL, *list = NULL;
    plx_index count = 0, next = 0;
    if (p->n_views == p->n_given) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), p->n_given));
    for (plx_index v = 0; v < p->n_given; v++) {
        if (next < p->n_views && p->given[next] == v) next++;
        else names[count++] = from->data->views[v].name;
    }
    PLX_TRY(plx__list_names(&list, plx__scratch(ctx), names, count));
    plx__warn(ctx, "no sample has view%s %s: ignored", count > 1 ? "s" : "", list);
    return PLX_OK;
}

static plx_status warn_single_labels(plx_context *ctx, const plx__method *method, const plx__problem *p)
{
    plx_index *count = NULL, single = 0;
    const char **names = NULL, *list = NULL;
    if (!method->min_classes || p->hierarchy) return PLX_OK;
    PLX_TRY(plx__arena_i64(&count, plx__scratch(ctx), p->n_classes));
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), p->n_classes));
    for (plx_index i = 0; i < p->n; i++)
        if (p->label[i] >= 0) count[p->label[i]]++;
    for (plx_index c = 0; c < p->n_classes; c++)
        if (count[c] < 2) names[single++] = p->classes[c];
    if (!single) return PLX_OK;
    PLX_TRY(plx__list_names(&list, plx__scratch(ctx), names, single));
    plx__warn(ctx, "%lld of %lld classes have fewer than two labels: %s", (long long)single, (long long)p->n_classes,
              list);
    return PLX_OK;
}

plx_status plx__problem_warn(plx_context *ctx, const plx__problem_source *from, const plx__problem *p)
{
    PLX_TRY(warn_zero_rows(ctx, from, p));
    if (!from->fitting) return PLX_OK;
    PLX_TRY(warn_empty_views(ctx, from, p));
    return warn_single_labels(ctx, from->method, p);
}
