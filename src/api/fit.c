/*
 * plx_fit: from a data set and settings to a model.
 *
 * Held-out samples are taken away before the method sees anything, and afterwards predicted like new
 * ones; arrays over samples get their rows back (heldout.c).
 */
#include <math.h>
#include <string.h>

#include "api/advice.h"
#include "api/api_args.h"
#include "api/choose_clusters.h"
#include "api/heldout.h"
#include "api/merge_rows.h"
#include "api/portfolio_impl.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "data/kernel_columns.h"
#include "device/device_session.h"
#include "run/checkpoint.h"
#include "run/problem.h"
#include "linalg/csr.h"
#include "linalg/dense.h"
#include "methods/registry.h"

/* ---- checks on the request ---- */

static plx_status unknown_array(plx_context *ctx, const plx__method *method, const char *name)
{
    const char **names = NULL;
    char near[128];
    plx_index count = 0;
    while (method->arrays[count].name) count++;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), count));
    for (plx_index i = 0; i < count; i++) names[i] = method->arrays[i].name;
    PLX_FAIL(ctx, PLX_E_ARG, "%s has no array '%s'%s", method->name, name,
             plx__suggest(near, sizeof near, name, names, count));
}

static plx_status check_request(plx_fit_options *o, plx_context *ctx, const plx__method *method,
                                const plx_dataset *data, const plx_params *params, const plx_fit_options *given)
{
    *o = (plx_fit_options)PLX_FIT_OPTIONS_INIT;
    PLX_TRY(plx__take_options(o, sizeof *o, ctx, given, "PLX_FIT_OPTIONS_INIT"));
    if (o->n_arrays < 0 || (o->n_arrays > 0 && !o->arrays))
        PLX_FAIL(ctx, PLX_E_ARG, "fit options: n_arrays = %lld does not fit the arrays given", (long long)o->n_arrays);
    if (!data->n_views) PLX_FAIL(ctx, PLX_E_DATA, "the data set has no views");
    if (params && params->tables != method->params)
        PLX_FAIL(ctx, PLX_E_ARG, "the parameters were made for '%s', not for '%s'", params->method, method->name);
    for (plx_index i = 0; i < o->n_arrays; i++)
        if (!o->arrays[i]) PLX_FAIL(ctx, PLX_E_ARG, "fit options: the name of array %lld is NULL", (long long)i);
        else if (!plx__array_spec_find(method, o->arrays[i])) return unknown_array(ctx, method, o->arrays[i]);
    return PLX_OK;
}

static plx_status check_setting_views(plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    const char **names = NULL;
    plx_index extra = 0;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), data->n_views));
    for (plx_index v = 0; v < data->n_views; v++) names[v] = data->views[v].name;
    while (m->method->extra_views && m->method->extra_views[extra]) extra++;
    return plx__params_check_views(m->settings, ctx, names, data->n_views, m->method->extra_views, extra);
}

static plx_status list_methods(const char **out, plx_context *ctx, bool (*can)(const plx__method *m))
{
    const char **names = NULL;
    plx_index count = 0;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(ctx), plx__method_count()));
    for (plx_index i = 0; i < plx__method_count(); i++)
        if (can(plx__method_at(i))) names[count++] = plx__method_at(i)->name;
    return plx__list_names(out, plx__scratch(ctx), names, count);
}

static bool streams(const plx__method *m) { return m->streams != NULL; }
static bool is_distributed(const plx__method *m) { return m->ranks != 0; }
static bool keeps_checkpoints(const plx__method *m) { return m->checkpoints; }

static plx_status check_checkpoint(plx_context *ctx, const plx__method *method, const plx_fit_options *o)
{
    const char *list = NULL;
    if (!(o->checkpoint_every >= 0))
        PLX_FAIL(ctx, PLX_E_ARG, "fit options: checkpoint_every = %g is not a time in seconds", o->checkpoint_every);
    if (o->resume && !o->checkpoint) PLX_FAIL(ctx, PLX_E_ARG, "there is no checkpoint to resume from; name one");
    if (!o->checkpoint || method->checkpoints) return PLX_OK;
    PLX_TRY(list_methods(&list, ctx, keeps_checkpoints));
    PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s keeps no checkpoints; methods that do: %s", method->name, list);
}

/* A method that goes back and forth through the samples would read the disk for every step. */
static plx_status check_streaming(plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    const plx__method *method = m->method;
    plx__run run = {.ctx = ctx, .method = method, .settings = m->settings, .params = m->params};
    const char *list = NULL;
    if (!ctx->paging || (method->streams && method->streams(&run, data))) return PLX_OK;
    if (method->streams)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s cannot stream with these settings; with %s it can", method->name,
                 method->streams_with);
    PLX_TRY(list_methods(&list, ctx, streams));
    PLX_FAIL(ctx, PLX_E_UNSUPPORTED,
             "%s cannot stream: it does not go through the samples row by row; methods that do: %s", method->name,
             list);
}

static plx_status check_ranks(plx_context *ctx, const plx__method *method)
{
    const char *list = NULL;
    if (ctx->peers.ranks == 1) return PLX_OK;
    if (!method->ranks) {
        PLX_TRY(list_methods(&list, ctx, is_distributed));
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s is not distributed: one process has to fit it; methods that are: %s",
                 method->name, list);
    }
    if (((method->ranks & PLX__RANKS_SYSTEMS) && !ctx->engines.solve) ||
        ((method->ranks & PLX__RANKS_SPECTRA) && !ctx->engines.eigen))
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED,
                 "%s: several processes need solvers of systems and spectra, which this program was built without "
                 "(PETSc and SLEPc); let one process fit it",
                 method->name);
    return PLX_OK;
}

/* ---- kernel views ---- */

static plx_status check_own_columns(plx_context *ctx, const plx__view *v, const plx__problem *p,
                                    const plx__kernel_columns *columns)
{
    for (plx_index i = 0; i < p->n; i++) {
        if (!v->present[i] || columns->own[i] >= 0) continue;
        if (!columns->by_name)
            PLX_FAIL(ctx, PLX_E_DATA,
                     "kernel view '%s' is %lld x %lld, expected %lld x %lld or columns named (features) by sample ids",
                     v->name, (long long)p->n, (long long)v->cols, (long long)p->n, (long long)p->n);
        PLX_FAIL(ctx, PLX_E_DATA, "kernel view '%s' has no column for sample '%s'; give every sample one", v->name,
                 p->ids[i]);
    }
    return PLX_OK;
}

/* What new data find the columns by: the ids of the samples; without ids the view's own names; else row numbers. */
static plx_status name_columns(plx__view *v, plx__arena *arena, const plx__problem *p, bool ids,
                               const plx__kernel_columns *columns)
{
    const char **names = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, arena, p->n));
    for (plx_index i = 0; i < p->n; i++) {
        bool own_name = !ids && v->features && columns->own[i] >= 0;
        PLX_TRY(plx__arena_text(&names[i], arena, own_name ? v->features[columns->own[i]] : p->ids[i]));
    }
    v->features = names;
    return PLX_OK;
}

/* Similarities to the samples of the fit themselves, in their order: the other columns are for prediction. */
static plx_status square_kernel(plx__view *v, plx_context *ctx, const plx__problem *p, const char *const *ids,
                                plx__arena *arena)
{
    plx__kernel_columns columns;
    int32_t *target = NULL;
    bool in_order = v->cols == p->n;
    PLX_TRY(plx__kernel_columns_find(&columns, ctx, v->features, v->cols, ids, p->n));
    PLX_TRY(check_own_columns(ctx, v, p, &columns));
    PLX_TRY(name_columns(v, arena, p, ids != NULL, &columns));
    for (plx_index i = 0; i < p->n && in_order; i++) in_order = columns.own[i] == i;
    if (in_order) return PLX_OK;
    PLX_TRY(plx__arena_i32(&target, plx__scratch(ctx), v->cols));
    for (plx_index j = 0; j < v->cols; j++) target[j] = -1;
    for (plx_index i = 0; i < p->n; i++)
        if (columns.own[i] >= 0) target[columns.own[i]] = (int32_t)i;
    if (v->sparse) {
        plx_csr block;
        PLX_TRY(plx__csr_move_cols(&block, plx__scratch(ctx), v->csr, target, p->n));
        v->csr = plx__ccsr(block);
    } else {
        plx_mat block;
        PLX_TRY(plx__mat_move_cols(&block, plx__scratch(ctx), v->dense, target, p->n));
        v->dense = plx__cmat(block);
    }
    v->cols = p->n;
    plx__view_recount(v, p->n); /* columns that are left out may hold nan */
    return PLX_OK;
}

static plx_status square_kernels(plx_context *ctx, plx__problem *p, const plx_dataset *data, plx__arena *arena)
{
    plx__view *views = NULL;
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(ctx), p->n_views));
    memcpy(views, p->views, (size_t)p->n_views * sizeof *views);
    for (plx_index v = 0; v < p->n_views; v++)
        if (views[v].kind == PLX_VIEW_KERNEL) PLX_TRY(square_kernel(&views[v], ctx, p, data->ids, arena));
    p->views = views;
    return PLX_OK;
}

/* ---- what the model keeps about its data ---- */

static plx_status keep_texts(const char *const **out, plx__arena *arena, const char *const *from, plx_index count)
{
    const char **copy = NULL;
    *out = NULL;
    if (!from) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&copy, arena, count));
    for (plx_index i = 0; i < count; i++) PLX_TRY(plx__arena_text(&copy[i], arena, from[i]));
    *out = copy;
    return PLX_OK;
}

static plx_status keep_hierarchy(plx_model *m, const plx__hierarchy *h)
{
    if (!h) return PLX_OK;
    int32_t *subset = NULL, *mutex = NULL;
    PLX_TRY(PLX__ARENA_NEW(&m->hierarchy, &m->arena, 1));
    PLX_TRY(plx__arena_i32(&subset, &m->arena, 2 * h->n_subset));
    PLX_TRY(plx__arena_i32(&mutex, &m->arena, 2 * h->n_mutex));
    if (h->n_subset) memcpy(subset, h->subset, (size_t)(2 * h->n_subset) * sizeof *subset);
    if (h->n_mutex) memcpy(mutex, h->mutex, (size_t)(2 * h->n_mutex) * sizeof *mutex);
    *m->hierarchy = (plx__hierarchy){m->classes, h->n_classes, h->n_subset, h->n_mutex, subset, mutex};
    return PLX_OK;
}

static plx_status keep_cards(plx_model *m, const plx__problem *p)
{
    m->n_views = p->n_views;
    m->n_fitted = p->n;
    m->classes = p->classes; /* already in the model's arena */
    m->n_classes = p->n_classes;
    PLX_TRY(keep_hierarchy(m, p->hierarchy));
    if (m->method->keep_samples) {
        PLX_TRY(keep_texts(&m->samples, &m->arena, p->ids, p->n));
        m->n_samples = p->n;
    }
    PLX_TRY(PLX__ARENA_NEW(&m->views, &m->arena, p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) {
        const plx__view *from = &p->views[v];
        plx__view_card *card = &m->views[v];
        *card = (plx__view_card){.kind = from->kind, .sparse = from->sparse, .cols = from->cols};
        PLX_TRY(plx__arena_text(&card->name, &m->arena, from->name));
        if (from->text) PLX_TRY(plx__arena_text(&card->text, &m->arena, from->text));
        PLX_TRY(keep_texts(&card->features, &m->arena, from->features, from->cols));
    }
    return PLX_OK;
}

static plx_status keep_seen(plx_model *m, const plx__problem *p)
{
    uint8_t *seen = NULL;
    PLX_TRY(plx__arena_u8(&seen, &m->arena, p->rows));
    for (plx_index i = 0; i < p->n; i++) seen[p->row[i]] = p->label_text[i] != NULL;
    m->seen = seen;
    m->rows = p->rows;
    return PLX_OK;
}

/* Views that no sample of the fit has: new data may have them, which is no news to the user. */
static plx_status keep_ignored(plx_model *m, const plx__problem_source *from, const plx__problem *p)
{
    const char **names = NULL;
    plx_index next = 0;
    PLX_TRY(PLX__ARENA_NEW(&names, &m->arena, p->n_given - p->n_views));
    for (plx_index v = 0; v < p->n_given; v++) {
        if (next < p->n_views && p->given[next] == v) next++;
        else PLX_TRY(plx__arena_text(&names[m->n_ignored++], &m->arena, from->data->views[v].name));
    }
    m->ignored = names;
    return PLX_OK;
}

/* ---- rows divided among ranks ---- */

/* Held-out samples and trials with other numbers of clusters make data sets of their own. */
static bool makes_parts(plx_context *ctx, const plx_model *m)
{
    static const char *const keys[] = {"heldout", "clusters"};
    for (int k = 0; k < 2; k++) {
        plx__value value;
        if (!plx__param_find(m->method->params, keys[k])) continue;
        if (plx__view_value(&value, ctx, m->settings, keys[k], NULL) != PLX_OK || !value.text) continue;
        if (k == 0 ? value.text[0] != '\0' : strcmp(value.text, "auto") == 0) return true;
    }
    return false;
}

/* Whether the rows of this rank are enough for it. */
static bool fits_own_rows(plx_context *ctx, const plx_model *m, const plx_dataset *data, const plx_fit_options *o)
{
    plx__run run = {.ctx = ctx,
                    .method = m->method,
                    .settings = m->settings,
                    .params = m->params,
                    .wanted = o->arrays,
                    .n_wanted = o->n_arrays};
    return m->method->own_rows && !makes_parts(ctx, m) && m->method->own_rows(&run, data);
}

/* Every rank has the rows that the method gives it to work on, and keeps the results of these where that is asked for. */
static plx_status divide_rows(plx__run *run, plx__problem *p, bool own_results)
{
    plx__view *views = NULL;
    plx_index *bound = NULL;
    bool divided = false;
    double bytes = 0;
    for (plx_index v = 0; v < p->n_views; v++) divided |= p->views[v].divided;
    if (!divided) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(run->ctx), p->n_views));
    PLX_TRY(plx__arena_i64(&bound, run->out->arena, plx__ranks(run->ctx) + 1));
    PLX_TRY(run->method->whose_rows(bound, run));
    if (own_results && run->method->own_results) run->kept = run->outcome->bound = bound;
    for (plx_index v = 0; v < p->n_views; v++) {
        views[v] = p->views[v];
        PLX_TRY(plx__view_regroup(&views[v], run->ctx, plx__scratch(run->ctx), p->n, bound));
        bytes += plx__held_values(&views[v], p->n) * (views[v].sparse ? 12 : 8);
    }
    p->views = views;
    plx__debug(run->ctx, "rows     %lld to %lld of %lld are rank %d's: %.1f MB of values",
               (long long)bound[plx__rank(run->ctx)], (long long)bound[plx__rank(run->ctx) + 1], (long long)p->n,
               plx__rank(run->ctx), bytes / 1e6);
    return PLX_OK;
}

/* ---- running ---- */

static plx_status estimate(double *stated, plx__run *run)
{
    *stated = 0;
    if (!run->method->memory) return PLX_OK;
    *stated = run->method->memory(run);
    return plx__need_memory(run->ctx, *stated, run->method->name,
                            run->method->memory_remedy ? run->method->memory_remedy
                                                       : "raise the memory limit or use fewer samples");
}

/* The method's own fit, with the memory it takes measured against what it stated. */
static plx_status measured_fit(plx__run *run, plx__memory_use *memory)
{
    plx_context *ctx = run->ctx;
    PLX_TRY(estimate(&memory->stated, run));
    int64_t before = atomic_load(&ctx->memory_used), earlier = atomic_load(&ctx->memory_peak);
    plx__memory_peak_reset(ctx);
    plx_status st = run->method->fit(run);
    memory->taken = atomic_load(&ctx->memory_peak) - before;
    if (run->info->converged == 1 && plx__out_of_time(ctx)) run->info->converged = 0; /* never after a limit */
    plx__memory_peak_raise(ctx, earlier);
    return st;
}

/* Is an earlier model about the same views and classes, so that its arrays have the same shapes and order? */
static bool fits_warm(const plx_model *m, const plx_model *warm)
{
    if (!warm || strcmp(warm->method->name, m->method->name) != 0 || warm->n_views != m->n_views ||
        warm->n_classes != m->n_classes)
        return false;
    for (plx_index c = 0; c < m->n_classes; c++)
        if (strcmp(m->classes[c], warm->classes[c]) != 0) return false;
    for (plx_index v = 0; v < m->n_views; v++)
        if (m->views[v].cols != warm->views[v].cols || strcmp(m->views[v].name, warm->views[v].name) != 0) return false;
    return true;
}

static plx_status run_fit(plx_context *ctx, plx_model *m, plx__problem *p, plx__store *store, const plx_fit_options *o,
                          const plx__fit_aid *aid)
{
    plx__run run = {.ctx = ctx,
                    .method = m->method,
                    .problem = p,
                    .settings = m->settings,
                    .params = m->params,
                    .out = store,
                    .outcome = &m->fitted.outcome,
                    .info = &m->facts,
                    .wanted = o->arrays,
                    .n_wanted = o->n_arrays,
                    .warm = fits_warm(m, aid->warm) ? &aid->warm->store : NULL,
                    .offer = aid->offer};
    plx__checkpoint checkpoint = {o->checkpoint, o->checkpoint_every, o->resume != 0, plx__now(), 0};
    if (o->checkpoint) run.checkpoint = &checkpoint;
    PLX_TRY(plx__problem_check(ctx, m->method, p, true));
    PLX_TRY(plx__scales_put(&run));
    if (m->method->check) PLX_TRY(m->method->check(&run));
    plx__advise_problem(ctx, p, m->settings);
    PLX_TRY(divide_rows(&run, p, o->own_results));
    PLX_TRY(plx__device_require(ctx));
    PLX_TRY(measured_fit(&run, &m->memory));
    plx__device_unused(ctx, m->method->name);
    PLX_TRY(plx__scales_report(&run));
    return plx__prior_keep(store, ctx, p, run.outcome);
}

/* The problem without samples that have no view. Scalings are settled before they are taken away. */
static plx_status build_problem(plx__problem *p, plx__heldout *held, plx_context *ctx, plx_model *m, plx_index rows)
{
    plx__problem_source from = {.method = m->method,
                                .settings = m->settings,
                                .data = held->fitted,
                                .row = held->row,
                                .rows = rows,
                                .fitting = true};
    plx__scale_kind *scale = NULL;
    PLX_TRY(plx__problem_build(p, ctx, &m->arena, &from));
    PLX_TRY(keep_seen(m, p));
    PLX_TRY(plx__problem_warn(ctx, &from, p));
    PLX_TRY(keep_ignored(m, &from, p));
    PLX_TRY(plx__heldout_uncovered(held, ctx, m, p));
    if (!held->n_bare) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&scale, plx__scratch(ctx), p->n_given));
    for (plx_index v = 0; v < p->n_views; v++) scale[p->given[v]] = p->scale[v];
    from.data = held->fitted;
    from.row = held->row;
    from.scale = scale;
    return plx__problem_build(p, ctx, &m->arena, &from);
}

static plx_status fit_model(plx_model *m, plx_context *ctx, const plx_dataset *data, const plx_fit_options *o,
                            const plx__fit_aid *aid)
{
    plx_status st = PLX_OK;
    plx__heldout held = {0};
    plx__problem p;
    plx__store fitted;
    plx__arena temporary;
    plx__cluster_choice choice;
    double started = plx__now(), used = plx__processor_time();
    plx__arena_init(&temporary, ctx);
    PLX_GOTO(check_setting_views(ctx, m, data));
    PLX_GOTO(plx__heldout_open(&held, ctx, m, data, o->directory));
    PLX_GOTO(plx__choose_clusters(&choice, ctx, m, held.fitted, o));
    PLX_GOTO(build_problem(&p, &held, ctx, m, data->n));
    p.directory = o->directory ? o->directory : ".";
    PLX_GOTO(square_kernels(ctx, &p, held.fitted, &m->arena));
    PLX_GOTO(keep_cards(m, &p));
    plx__store_init(&fitted, held.any ? &temporary : &m->arena);
    PLX_GOTO(run_fit(ctx, m, &p, &fitted, o, aid));
    if (held.any) PLX_GOTO(plx__heldout_close(&held, ctx, m, data, &fitted, o));
    else m->store = fitted;
    PLX_GOTO(plx__keep_choice(m, ctx, &choice));
    PLX_GOTO(plx__advise_outcome(ctx, &m->fitted.outcome));
    PLX_GOTO(plx__take_notes(&m->fitted.warnings, &m->fitted.n_warnings, ctx, &m->arena));
    m->fitted.store = m->store;
    m->seconds = plx__now() - started;
    m->processor_seconds = plx__processor_time() - used;
done:
    plx__heldout_free(&held);
    plx__arena_free(&temporary);
    return st;
}

plx_status plx__fit(plx_model **out, plx_context *ctx, const plx__method *method, const plx_dataset *data,
                    const plx_params *params, const plx_fit_options *options, const plx__fit_aid *aid)
{
    plx_fit_options o;
    plx_model *m = NULL;
    *out = NULL;
    PLX_TRY(check_request(&o, ctx, method, data, params, options));
    PLX_TRY(check_ranks(ctx, method));
    PLX_TRY(check_checkpoint(ctx, method, &o));
    PLX_TRY(plx__model_create(&m, ctx, method, params));
    plx_dataset *whole = NULL;
    plx_status st = check_streaming(ctx, m, data);
    if (st == PLX_OK && plx__dataset_divided(data) && !fits_own_rows(ctx, m, data, &o))
        st = plx__dataset_gather(&whole, ctx, data);
    if (whole) data = whole;
    if (st == PLX_OK)
        st = method == &plx__method_auto ? plx__portfolio_fit(m, ctx, data, o.directory)
                                         : fit_model(m, ctx, data, &o, aid ? aid : &(plx__fit_aid){0});
    plx_dataset_destroy(whole);
    if (st == PLX_OK) *out = m;
    else plx_model_destroy(m);
    return st;
}

static plx_status fit_call(plx_model **out, plx_context *ctx, const char *name, const plx_dataset *data,
                           const plx_params *params, const plx_fit_options *options)
{
    const plx__method *method = NULL;
    PLX_TRY(plx__any_method_require(&method, ctx, name));
    return plx__fit(out, ctx, method, data, params, options, NULL);
}

plx_status plx_fit(plx_model **out, plx_context *ctx, const char *method, const plx_dataset *data,
                   const plx_params *params, const plx_fit_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, fit_call(out, ctx, method, data, params, options), PLX__ARG(out), PLX__ARG(method), PLX__ARG(data));
}
