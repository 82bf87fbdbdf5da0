/*
 * clusters=auto, for every method alike. The method is fitted with each number from 2 to max_clusters on the same data
 * and seed, and a criterion that fits it decides (`clusters_by` of its descriptor):
 *
 * silhouette  the mean silhouette of its clusters over the views' distances (eval/internal_indices.h); a tree is grown
 *             once and cut into every number;
 * eigengap    value k less value k + 1 of its spectrum, from one fit with the largest number;
 * bic         twice the log-likelihood less the free parameters times log n.
 *
 * The largest wins, the smaller number when two agree to 1e-12. Asked for by clusters_by:
 *
 * stability   how alike the clusters of samples drawn again are (api/cluster_stability.c).
 */
#include "api/choose_clusters.h"
#include "api/cluster_stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/internal_indices.h"
#include "run/facts.h"

enum { JUDGED = 2000 };

typedef struct search {
    plx_context *ctx;
    plx_model *model;
    const plx_dataset *data;
    plx_fit_options options;
    plx__cluster_choice *out;
    plx__cluster_rule rule;
    int32_t *cluster; /* tried x n */
} search;

/* Grown once, cut into every number. */
static bool is_tree(const plx__method *m) { return m->clusters_by == PLX__CLUSTERS_SILHOUETTE && m->clusters_array; }

/* ---- one try ---- */

/* The same settings with k clusters and nobody held out. */
static plx_status settings_with(plx_params **out, const search *s, plx_index k)
{
    char text[24];
    PLX_TRY(plx__params_create(out, s->ctx, s->model->method->name, s->model->method->params));
    for (const plx__setting *x = s->model->settings->first; x; x = x->next) {
        const char *key = x->spec->name;
        if (strcmp(key, "heldout") == 0 || strcmp(key, "clusters") == 0) continue;
        if (x->view) PLX_TRY(plx__view_key(&key, s->ctx, x->spec->name, x->view));
        PLX_TRY(plx__params_set(*out, s->ctx, key, x->value.text));
    }
    snprintf(text, sizeof text, "%lld", (long long)k);
    return plx__params_set(*out, s->ctx, "clusters", text);
}

/* Clusters are called c0, c1, ...; everybody else is left out. */
static plx_status read_clusters(int32_t *cluster, const search *s, const plx_model *m)
{
    const plx__outcome *o = &m->fitted.outcome;
    if (o->kind != PLX__OUTCOME_CLUSTERS)
        PLX_FAIL(s->ctx, PLX_E_ARG, "clusters = auto: %s does not cluster with these settings and labels",
                 m->method->name);
    for (plx_index i = 0; i < o->n; i++) {
        const char *label = o->label[i];
        cluster[i] = label && label[0] == 'c' && label[1] >= '0' && label[1] <= '9' ? (int32_t)atol(label + 1) : -1;
    }
    return PLX_OK;
}

static plx_status spectrum_gaps(const search *s, const plx_model *m)
{
    plx_cmat values;
    PLX_TRY(plx__store_dense(&values, s->ctx, &m->store, m->method->clusters_array));
    for (plx_index t = 0; t < s->out->count; t++) {
        plx_index k = s->out->tried[t];
        double next = k < values.rows ? values.data[k * values.ld] : 0;
        s->out->criterion[t] = k <= values.rows ? values.data[(k - 1) * values.ld] - next : NAN;
    }
    return PLX_OK;
}

static plx_status information(double *out, const search *s, const plx_model *m)
{
    plx_cmat trace;
    double sum = 0;
    PLX_TRY(plx__store_dense(&trace, s->ctx, &m->store, m->method->clusters_array));
    for (plx_index c = 0; trace.rows > 0 && c < trace.cols; c++) sum += trace.data[(trace.rows - 1) * trace.ld + c];
    *out = 2 * sum - m->method->free_parameters(&m->store) * log((double)s->data->n);
    return PLX_OK;
}

/* The clusters a tree is cut into: undo its last k - 1 rows. Children come before their parents. */
static plx_status cut_tree(const search *s, const plx_model *m)
{
    plx_cmat tree;
    plx_index n = s->data->n, *top = NULL;
    int32_t *number = NULL;
    PLX_TRY(plx__store_shaped(&tree, s->ctx, &m->store, m->method->clusters_array, n - 1, 4));
    PLX_TRY(plx__arena_i64(&top, plx__scratch(s->ctx), 2 * n));
    PLX_TRY(plx__arena_i32(&number, plx__scratch(s->ctx), 2 * n));
    for (plx_index t = 0; t < s->out->count; t++) {
        plx_index merged = n - s->out->tried[t], count = 0;
        for (plx_index q = 0; q < n + merged; q++) top[q] = q, number[q] = -1;
        for (plx_index r = merged; r-- > 0;)
            for (int c = 0; c < 2; c++) top[(plx_index)tree.data[4 * r + c]] = top[n + r];
        for (plx_index i = 0; i < n; i++) {
            if (number[top[i]] < 0) number[top[i]] = (int32_t)count++;
            s->cluster[t * n + i] = number[top[i]];
        }
    }
    return PLX_OK;
}

/* What a fit says about its number of clusters. */
static plx_status note(const search *s, const plx_model *m, plx_index t)
{
    int32_t *cluster = s->cluster + t * s->data->n;
    PLX_TRY(read_clusters(cluster, s, m));
    if (s->rule == PLX__CLUSTERS_EIGENGAP) return spectrum_gaps(s, m);
    if (s->rule == PLX__CLUSTERS_BIC) return information(&s->out->criterion[t], s, m);
    return is_tree(m->method) ? cut_tree(s, m) : PLX_OK;
}

static plx_status try_number(const search *s, plx_index k, plx_index t)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_params *settings = NULL;
    plx_model *m = NULL;
    plx_status st = settings_with(&settings, s, k);
    if (st == PLX_OK) st = plx__fit(&m, s->ctx, s->model->method, s->data, settings, &s->options, NULL);
    if (st == PLX_OK) st = note(s, m, t);
    plx_model_destroy(m);
    plx__params_destroy(settings);
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return st;
}

/* ---- all of them ---- */

static plx_status judge_silhouettes(const search *s)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx__index_view *views = NULL;
    plx_index n_views = 0;
    double *value = NULL;
    PLX_TRY(plx__index_views(&views, &n_views, s->ctx, s->data->views, s->data->n_views, s->data->n));
    if (n_views == 0)
        PLX_FAIL(s->ctx, PLX_E_DATA, "clusters = auto: no view has distances between samples; give the number");
    PLX_TRY(plx__arena_f64(&value, scratch, s->out->count, n_views + 1));
    PLX_TRY(
        plx__silhouettes(value, s->ctx, views, n_views, s->data->n, s->cluster, s->out->tried, s->out->count, JUDGED));
    for (plx_index t = 0; t < s->out->count; t++) s->out->criterion[t] = value[t * (n_views + 1) + n_views];
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* The clusters of all numbers into s->cluster. */
static plx_status cluster_all(const search *s)
{
    for (plx_index t = 0; t < (is_tree(s->model->method) ? 1 : s->out->count); t++) {
        PLX_TRY(try_number(s, s->out->tried[t], t));
        PLX_TRY(plx__report(s->ctx, "clusters", t + 1, s->out->count, NAN));
    }
    return PLX_OK;
}

/* Some of the samples, for the stability: numbers they are too few for are left out. */
static plx_status cluster_part(void *arg, const plx_dataset *part, int32_t *cluster)
{
    search s = *(const search *)arg;
    plx__cluster_choice fewer = *s.out;
    while (fewer.count > 0 && fewer.tried[fewer.count - 1] >= part->n) fewer.count--;
    s.out = &fewer;
    s.data = part;
    s.cluster = cluster;
    return fewer.count ? cluster_all(&s) : PLX_OK;
}

static plx_status try_all(const search *s)
{
    plx__cluster_choice *out = s->out;
    plx__stability job = {s->ctx, s->data, out->count, cluster_part, (void *)(uintptr_t)s, out->criterion, out->error};
    if (s->rule == PLX__CLUSTERS_EIGENGAP)
        return try_number(s, plx__min(out->tried[out->count - 1] + 1, s->data->n), 0);
    if (s->rule == PLX__CLUSTERS_STABILITY) return plx__cluster_stability(&job);
    PLX_TRY(cluster_all(s));
    return s->rule == PLX__CLUSTERS_BIC ? PLX_OK : judge_silhouettes(s);
}

/* Tries are silent: the fit that counts says what there is to say. */
static plx_status try_quietly(const search *s)
{
    plx_context *ctx = s->ctx;
    plx__note **tail = ctx->notes_tail;
    plx_log_fn log = ctx->log;
    ctx->log = NULL;
    plx_status st = try_all(s);
    ctx->log = log;
    ctx->notes_tail = tail;
    if (tail) *tail = NULL;
    return st;
}

/* What was asked for, or what fits the method. */
static plx_status find_rule(search *s)
{
    const plx__method *method = s->model->method;
    plx__value asked;
    PLX_TRY(plx__view_value(&asked, s->ctx, s->model->settings, "clusters_by", NULL));
    s->rule = asked.word == 0 ? method->clusters_by : (plx__cluster_rule)(asked.word - 1);
    bool own = s->rule == PLX__CLUSTERS_EIGENGAP || s->rule == PLX__CLUSTERS_BIC;
    if (own && s->rule != method->clusters_by)
        PLX_FAIL(s->ctx, PLX_E_ARG, "clusters_by = %s: %s has no %s; use silhouette or stability", asked.text,
                 method->name, s->rule == PLX__CLUSTERS_BIC ? "likelihood" : "spectrum");
    return PLX_OK;
}

static plx_status open_search(search *s, plx__cluster_choice *out)
{
    static const char *const rules[] = {"silhouette", "eigengap", "bic", "stability"};
    plx__arena *scratch = plx__scratch(s->ctx);
    plx__value most;
    PLX_TRY(find_rule(s));
    PLX_TRY(plx__view_value(&most, s->ctx, s->model->settings, "max_clusters", NULL));
    plx_index last = plx__min((plx_index)most.number, s->data->n - 1);
    if (last < 2)
        PLX_FAIL(s->ctx, PLX_E_DATA, "clusters = auto: needs at least three samples (found %lld); give the number",
                 (long long)s->data->n);
    out->count = last - 1;
    out->rule = rules[s->rule];
    out->several = s->rule == PLX__CLUSTERS_STABILITY;
    PLX_TRY(plx__arena_i64(&out->tried, scratch, out->count));
    PLX_TRY(plx__arena_f64(&out->criterion, scratch, out->count, 1));
    PLX_TRY(plx__arena_f64(&out->error, scratch, out->count, 1));
    PLX_TRY(plx__arena_i32(&s->cluster, scratch, out->count * s->data->n));
    for (plx_index t = 0; t < out->count; t++) out->tried[t] = t + 2, out->criterion[t] = NAN;
    return PLX_OK;
}

/* The largest criterion, then the largest number whose criterion is within the error of that one (stability: few large
 * groups are often as stable as the smaller ones they are made of). */
static plx_index best_number(const plx__cluster_choice *out)
{
    plx_index best = -1;
    for (plx_index t = 0; t < out->count; t++) {
        double x = out->criterion[t], least = best < 0 ? -INFINITY : out->criterion[best];
        if (!isnan(x) && (best < 0 || x > least + 1e-12 * fabs(least))) best = t;
    }
    if (best < 0 || !out->several) return best;
    double least = out->criterion[best] - out->error[best] - 1e-12;
    for (plx_index t = out->count - 1; t > best; t--)
        if (out->criterion[t] >= least) return t;
    return best;
}

static plx_status take_best(plx__cluster_choice *out, plx_context *ctx, plx_model *m)
{
    char text[24];
    plx_index best = best_number(out);
    if (best < 0)
        PLX_FAIL(ctx, PLX_E_NUMERIC, "clusters = auto: the %s is not defined for any number; give the number",
                 out->rule);
    out->chosen = out->tried[best];
    snprintf(text, sizeof text, "%lld", (long long)out->chosen);
    PLX_TRY(plx__params_set(m->settings, ctx, "clusters", text));
    return plx__params_fill(m->params, ctx, &m->arena, m->settings);
}

plx_status plx__choose_clusters(plx__cluster_choice *out, plx_context *ctx, plx_model *m, const plx_dataset *data,
                                const plx_fit_options *options)
{
    const plx__param_spec *spec = plx__param_find(m->method->params, "clusters");
    search s = {.ctx = ctx, .model = m, .data = data, .options = *options, .out = out};
    plx__value asked;
    *out = (plx__cluster_choice){0};
    if (!spec || !(spec->flags & PLX__INT_FIELD)) return PLX_OK;
    PLX_TRY(plx__view_value(&asked, ctx, m->settings, "clusters", NULL));
    if (asked.word < 0) return PLX_OK;
    s.options.arrays = NULL;
    s.options.n_arrays = 0;
    s.options.checkpoint = NULL; /* of the fit that follows */
    s.options.resume = 0;
    PLX_TRY(open_search(&s, out));
    PLX_TRY(try_quietly(&s));
    out->made = true;
    return take_best(out, ctx, m);
}

plx_status plx__keep_choice(plx_model *m, plx_context *ctx, const plx__cluster_choice *choice)
{
    plx__run run = {.ctx = ctx, .info = &m->facts};
    plx_mat curve;
    if (!choice->made) return PLX_OK;
    PLX_TRY(plx__store_new(&curve, &m->store, "cluster_curve", choice->count, 2));
    for (plx_index t = 0; t < choice->count; t++) {
        curve.data[2 * t] = (double)choice->tried[t];
        curve.data[2 * t + 1] = choice->criterion[t];
    }
    PLX_TRY(plx__report_count(&run, "clusters_chosen", choice->chosen));
    return plx__report_text(&run, "clusters_chosen_by", choice->rule);
}
