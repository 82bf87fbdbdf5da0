/*
 * Outcomes are recorded with their kind (classes, clusters, numbers); progress, limits and cancelling pass
 * through plx__iterate, so that no method reads a clock.
 */
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"

bool plx__wanted(const plx__run *run, const char *name)
{
    for (plx_index i = 0; i < run->n_wanted; i++)
        if (plx__same_array_name(run->wanted[i], name, strlen(name) + 1)) return true;
    return false;
}

/* ---- results over samples ---- */

void plx__kept_rows(plx_index *begin, plx_index *end, const plx__run *run)
{
    int rank = plx__rank(run->ctx);
    *begin = run->kept ? run->kept[rank] : 0;
    *end = run->kept ? run->kept[rank + 1] : run->problem->n;
}

plx_index plx__kept_count(const plx__run *run)
{
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, run);
    return end - begin;
}

static plx_mat by_sample(const plx__run *run, plx_mat part)
{
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, run);
    return (plx_mat){plx__rows_at(part.data, begin, part.cols), run->problem->n, part.cols, part.ld};
}

plx_status plx__sample_array(plx_mat *out, plx__run *run, const char *name, plx_index cols)
{
    plx_mat part;
    PLX_TRY(plx__store_new(&part, run->out, name, plx__kept_count(run), cols));
    *out = by_sample(run, part);
    return PLX_OK;
}

plx_status plx__sample_scores(plx_mat *out, plx__run *run, plx_index cols)
{
    PLX_TRY(plx__arena_mat(&run->outcome->scores, run->out->arena, plx__kept_count(run), cols));
    *out = by_sample(run, run->outcome->scores);
    return PLX_OK;
}

plx_cmat plx__kept_part(const plx__run *run, plx_mat m)
{
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, run);
    if (!run->kept) return plx__cmat(m);
    return (plx_cmat){plx__rows_at(m.data, -begin, m.cols), end - begin, m.cols, m.ld};
}

plx_status plx__whose_panes(plx_index *bound, plx__run *run)
{
    plx__slabs_bounds(bound, run->ctx, plx__slabs_cut(run->problem->n, PLX__PANE_ROWS));
    return PLX_OK;
}

plx_status plx__whose_even(plx_index *bound, plx__run *run)
{
    plx__slabs_bounds(bound, run->ctx, plx__slabs_even(run->ctx, run->problem->n));
    return PLX_OK;
}

bool plx__streams_always(plx__run *run, const plx_dataset *data)
{
    (void)run, (void)data;
    return true;
}

plx_status plx__share_rows(plx__run *run, plx__slabs cut, plx_mat m)
{
    if (run->kept) return PLX_OK;
    return plx__slabs_share(run->ctx, cut, m.data, (size_t)m.ld * sizeof *m.data, 1);
}

plx_status plx__share_column(plx__run *run, double *column)
{
    return run->kept ? plx__bound_share(run->ctx, run->kept, column, sizeof *column) : PLX_OK;
}

plx_status plx__share_counts(plx__run *run, double *count, plx_index n)
{
    return run->kept ? plx__peers_add(run->ctx, count, n) : PLX_OK; /* exact in any order */
}

/* ---- outcome ---- */

/* How many samples it is about, and which. */
static void open_outcome(plx__run *run, plx__outcome_kind kind)
{
    plx_index end = 0;
    run->outcome->kind = kind;
    plx__kept_rows(&run->outcome->first, &end, run);
    run->outcome->n = end - run->outcome->first;
}

static plx_status copy_scores(plx__run *run, plx_cmat scores, const char *const *columns)
{
    plx__outcome *o = run->outcome;
    if (!scores.data && !(run->kept && scores.cols)) return PLX_OK; /* a rank may have no samples */
    const char **names = NULL;
    PLX_TRY(plx__arena_mat(&o->scores, run->out->arena, scores.rows, scores.cols));
    for (plx_index i = 0; i < scores.rows; i++) {
        plx__breathe(run->ctx, i);
        memcpy(o->scores.data + i * scores.cols, scores.data + i * scores.ld, (size_t)scores.cols * sizeof(double));
    }
    PLX_TRY(PLX__ARENA_NEW(&names, run->out->arena, scores.cols));
    for (plx_index j = 0; j < scores.cols; j++) PLX_TRY(plx__arena_text(&names[j], run->out->arena, columns[j]));
    o->columns = names;
    return PLX_OK;
}

plx_status plx__outcome_numbers(plx__run *run, const char *const *labels, plx_cmat scores, const char *const *columns)
{
    plx__outcome *o = run->outcome;
    open_outcome(run, PLX__OUTCOME_NUMBERS);
    PLX_TRY(PLX__ARENA_NEW(&o->label, run->out->arena, o->n));
    for (plx_index i = 0; i < o->n; i++)
        if (labels[i]) PLX_TRY(plx__arena_text(&o->label[i], run->out->arena, labels[i]));
    return copy_scores(run, scores, columns);
}

plx_status plx__outcome_nothing(plx__run *run)
{
    plx__outcome *o = run->outcome;
    open_outcome(run, PLX__OUTCOME_NONE);
    return PLX__ARENA_NEW(&o->label, run->out->arena, o->n);
}

/* Labels drawn from a list of names: the texts are shared. */
static plx_status outcome_indexed(plx__run *run, plx__outcome_kind kind, const int32_t *index, const char *const *names,
                                  plx_cmat scores)
{
    plx__outcome *o = run->outcome;
    open_outcome(run, kind);
    PLX_TRY(PLX__ARENA_NEW(&o->label, run->out->arena, o->n));
    for (plx_index i = 0; i < o->n; i++) o->label[i] = index[i] < 0 ? NULL : names[index[i]];
    return copy_scores(run, scores, names);
}

plx_status plx__outcome_classes(plx__run *run, const int32_t *index, plx_cmat scores)
{
    const plx__problem *p = run->problem;
    const char **names = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, run->out->arena, p->n_classes));
    for (plx_index c = 0; c < p->n_classes; c++) PLX_TRY(plx__arena_text(&names[c], run->out->arena, p->classes[c]));
    return outcome_indexed(run, PLX__OUTCOME_CLASSES, index, names, scores);
}

plx_status plx__outcome_clusters(plx__run *run, const int32_t *index, plx_index n_clusters, plx_cmat scores)
{
    const char **names = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, run->out->arena, n_clusters));
    for (plx_index c = 0; c < n_clusters; c++)
        PLX_TRY(plx__arena_printf(&names[c], run->out->arena, "c%lld", (long long)c));
    return outcome_indexed(run, PLX__OUTCOME_CLUSTERS, index, names, scores);
}

plx_status plx__outcome_clusters_and(plx__run *run, const int32_t *index, plx_index n_clusters, const char *rest)
{
    const char *name = NULL;
    PLX_TRY(plx__outcome_clusters(run, index, n_clusters, (plx_cmat){0}));
    PLX_TRY(plx__arena_text(&name, run->out->arena, rest));
    for (plx_index i = 0; i < run->outcome->n; i++)
        if (index[i] < 0) run->outcome->label[i] = name;
    return PLX_OK;
}

plx_index plx__outcome_samples(const plx_context *ctx, const plx__outcome *o)
{
    return o->bound ? o->bound[plx__ranks(ctx)] : o->n;
}

void plx__argmax_rows(int32_t *out, plx_cmat scores)
{
    for (plx_index i = 0; i < scores.rows; i++) {
        const double *s = scores.data + i * scores.ld;
        int32_t best = 0;
        for (plx_index c = 1; c < scores.cols; c++)
            if (s[c] > s[best]) best = (int32_t)c;
        out[i] = best;
    }
}

/* ---- iterations ---- */

plx_status plx__iterate(plx__run *run, plx__trace *trace, const char *phase, plx_index iteration, plx_index max,
                        double objective)
{
    if (trace->count == trace->capacity) {
        double *bigger = NULL;
        plx_index capacity = 2 * trace->capacity + 64;
        PLX_TRY(plx__arena_f64(&bigger, run->out->arena, capacity, 1));
        if (trace->count) memcpy(bigger, trace->value, (size_t)trace->count * sizeof *bigger);
        trace->value = bigger;
        trace->capacity = capacity;
    }
    trace->value[trace->count++] = objective;
    return plx__report(run->ctx, phase, iteration, max, objective);
}

plx_status plx__finish(plx__run *run, const plx__trace *trace, plx_index iterations, bool converged, double objective)
{
    plx__facts *info = run->info;
    info->iterations = iterations;
    info->converged = converged;
    info->objective = objective;
    if (trace) {
        info->trace = trace->value;
        info->n_trace = trace->count;
    }
    if (converged) return PLX_OK;
    const char *limit = plx__out_of_time(run->ctx)                         ? ": the time limit struck"
                        : plx__param_find(run->method->params, "max_iter") ? ": max_iter is reached"
                                                                           : "";
    plx__warn(run->ctx, "%s stopped after %lld iterations without converging%s", run->method->name,
              (long long)iterations, limit);
    return PLX_OK;
}

/* ---- checks ---- */

static plx_status negative(plx__run *run, const plx__view *v, plx_index i, plx_index j, double x)
{
    PLX_FAIL(run->ctx, PLX_E_DATA,
             "%s: view '%s' row %lld, column %lld: negative value %g; this method needs values >= 0", run->method->name,
             v->name, (long long)run->problem->row[i], (long long)j, x);
}

plx_status plx__require_nonnegative(plx__run *run, const plx__view *v)
{
    if (v->kind != PLX_VIEW_REAL && v->kind != PLX_VIEW_KERNEL) return PLX_OK; /* checked when it was added */
    for (plx_index i = plx__held_begin(v); i < plx__held_end(v, run->problem->n); i++) {
        plx__breathe(run->ctx, i);
        if (v->sparse) {
            for (int64_t p = v->csr.ptr[i]; p < v->csr.ptr[i + 1]; p++)
                if (v->csr.val[p] < 0) return negative(run, v, i, v->csr.col[p], v->csr.val[p]);
        } else {
            const double *x = v->dense.data + i * v->dense.ld;
            for (plx_index j = 0; j < v->cols; j++)
                if (x[j] < 0) return negative(run, v, i, j, x[j]);
        }
    }
    return PLX_OK;
}

plx_status plx__require_counts(plx__run *run, const char *remedy)
{
    const plx__problem *p = run->problem;
    for (plx_index v = 0; v < p->n_views; v++) {
        const plx__view *view = &p->views[v];
        PLX_TRY(plx__require_nonnegative(run, view));
        if (!run->fitted && view->kind == PLX_VIEW_REAL && plx__scale_auto(view, NULL) == PLX__SCALE_ZSCORE)
            plx__warn(run->ctx, "%s: view '%s' holds measurements, which it takes for counts; %s", run->method->name,
                      view->name, remedy);
    }
    return PLX_OK;
}

static plx_status finite_rows(plx__run *run, plx_cmat values, plx_index begin, plx_index end, const char *what)
{
    for (plx_index i = begin; i < end; i++) {
        plx__breathe(run->ctx, i);
        for (plx_index j = 0; j < values.cols; j++)
            if (!isfinite(values.data[i * values.ld + j]))
                PLX_FAIL(run->ctx, PLX_E_NUMERIC,
                         "%s: the %s of sample %s are not finite; its values are too large, scale the view",
                         run->method->name, what, run->problem->ids[i]);
    }
    return PLX_OK;
}

plx_status plx__require_finite(plx__run *run, plx_cmat values, const char *what)
{
    plx_index begin = 0, end = 0;
    if (!run->kept) return finite_rows(run, values, 0, values.rows, what);
    plx__kept_rows(&begin, &end, run);
    return plx__peers_settle(run->ctx, finite_rows(run, values, begin, end, what));
}

/* ---- views a model needs ---- */

static const char USED[] = "_views_used";

plx_status plx__mark_used(plx__run *run, const uint8_t *used)
{
    plx_mat flags;
    plx_index n = run->problem->n_views;
    PLX_TRY(plx__store_new(&flags, run->out, USED, 1, n));
    for (plx_index v = 0; v < n; v++) flags.data[v] = used[v] ? 1.0 : 0.0;
    return PLX_OK;
}

plx_status plx__used_views(const uint8_t **out, plx_context *ctx, const plx__store *fitted, plx_index n_views)
{
    plx_cmat flags;
    uint8_t *used = NULL;
    *out = NULL;
    if (!plx__store_find(fitted, USED)) return PLX_OK;
    PLX_TRY(plx__store_dense(&flags, ctx, fitted, USED));
    if (flags.rows != 1 || flags.cols != n_views)
        PLX_FAIL(ctx, PLX_E_FORMAT, "the model's list of used views does not fit its views");
    PLX_TRY(plx__arena_u8(&used, plx__scratch(ctx), n_views));
    for (plx_index v = 0; v < n_views; v++) used[v] = flags.data[v] != 0;
    *out = used;
    return PLX_OK;
}

/* ---- views by name ---- */

plx_status plx__require_view(plx_index *out, plx__run *run, const char *name, const char *parameter)
{
    const plx__problem *p = run->problem;
    const char **names = NULL;
    char near[128];
    *out = -1;
    for (plx_index v = 0; v < p->n_views; v++)
        if (strcmp(p->views[v].name, name) == 0) *out = v;
    if (*out >= 0) return PLX_OK;
    const char *text = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(run->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) names[v] = p->views[v].name;
    PLX_TRY(plx__list_names(&text, plx__scratch(run->ctx), names, p->n_views));
    PLX_FAIL(run->ctx, PLX_E_ARG, "%s = %s: there is no view '%s' (the views are %s)%s", parameter, name, name, text,
             plx__suggest(near, sizeof near, name, names, p->n_views));
}
