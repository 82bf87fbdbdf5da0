/*
 * What is to be compared: checked and copied before anything runs, so that an hour of work does not end at a slip.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/comparison.h"
#include "core/file.h"
#include "eval/metrics_store.h"
#include "methods/registry.h"

/* ---- metrics ---- */

/* What fits are measured by (eval/fit_metrics.h); `auc` also stands for auc:CLASS. */
static const char *const KNOWN[] = {"accuracy",         "macro_f1",        "micro_f1", "auc",          "prbep",
                                    "subset_accuracy",  "hamming_loss",    "h_f1",     "nmi",          "ari",
                                    "cluster_accuracy", "cluster_entropy", "pair_f",   "view_accuracy"};
enum { N_KNOWN = sizeof KNOWN / sizeof *KNOWN };

bool plx__smaller_is_better(const char *metric)
{
    return strcmp(metric, "hamming_loss") == 0 || strcmp(metric, "cluster_entropy") == 0;
}

static bool is_method_metric(const char *name)
{
    for (plx_index i = 0; i < plx__method_count(); i++)
        for (const plx__mean_metric *m = plx__method_at(i)->metrics; m && m->name; m++)
            if (strcmp(m->name, name) == 0) return true;
    return false;
}

static plx_status check_metric(plx_context *ctx, const char *name)
{
    char hint[128];
    size_t stem = strcspn(name, ":");
    for (int k = 0; k < N_KNOWN; k++)
        if (strlen(KNOWN[k]) == stem && strncmp(KNOWN[k], name, stem) == 0) return PLX_OK;
    if (is_method_metric(name)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_ARG, "metric '%s' is not known%s", name, plx__suggest(hint, sizeof hint, name, KNOWN, N_KNOWN));
}

/* ---- lists of texts ---- */

/* Copies of texts, none of them empty or there twice. */
static plx_status take_list(const char *const **out, plx_comparison *c, plx_context *ctx, const char *const *from,
                            plx_index count, const char *what)
{
    const char **to = NULL;
    PLX_TRY(PLX__ARENA_NEW(&to, &c->arena, count));
    for (plx_index i = 0; i < count; i++) {
        if (!from[i] || !*from[i]) PLX_FAIL(ctx, PLX_E_ARG, "%s number %lld is empty", what, (long long)i + 1);
        for (plx_index k = 0; k < i; k++)
            if (strcmp(to[k], from[i]) == 0) PLX_FAIL(ctx, PLX_E_ARG, "%s '%s' is given twice", what, from[i]);
        PLX_TRY(plx__arena_text(&to[i], &c->arena, from[i]));
    }
    *out = to;
    return PLX_OK;
}

static plx_status take_metrics(plx_comparison *c, plx_context *ctx, const plx_compare_options *o)
{
    static const char *const classify[] = {"accuracy", "macro_f1"}, *const cluster[] = {"nmi", "ari"};
    const char *const *from = o->n_metrics ? o->metrics : c->task == PLX_TASK_CLUSTER ? cluster : classify;
    c->n_metrics = o->n_metrics ? o->n_metrics : 2;
    PLX_TRY(take_list(&c->metric, c, ctx, from, c->n_metrics, "metric"));
    for (plx_index i = 0; i < c->n_metrics; i++) PLX_TRY(check_metric(ctx, c->metric[i]));
    return PLX_OK;
}

/* ---- blocks ---- */

static plx_status check_data(plx_context *ctx, const plx_dataset *data, const char *name)
{
    for (plx_index i = 0; i < data->n; i++)
        if (plx__class_of(data, i)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_DATA, "data set '%s' has neither truth nor labels to score by", name);
}

static plx_status add_block(plx__block *b, plx_comparison *c, plx_index data, const char *dataset, const char *labels)
{
    *b = (plx__block){.data = data, .dataset = dataset, .labels = labels};
    return plx__arena_printf(&b->name, &c->arena, "%s%s%s", dataset, *labels ? " " : "", labels);
}

static plx_status take_blocks(plx_comparison *c, plx_context *ctx, const plx_dataset *const *data, plx_index n_data,
                              const plx_compare_options *o)
{
    const char *usual[] = {c->task == PLX_TASK_CLUSTER ? "" : c->folds ? "all" : "10%"};
    const char *const *names = NULL, *const *labels = usual;
    const char **own = NULL;
    plx_index n_labels = 1;
    PLX_TRY(PLX__ARENA_NEW(&own, plx__scratch(ctx), n_data));
    for (plx_index d = 0; d < n_data; d++) own[d] = o->names ? o->names[d] : data[d]->name;
    PLX_TRY(take_list(&names, c, ctx, own, n_data, "data set"));
    if (c->task == PLX_TASK_CLUSTER && o->n_labels)
        PLX_FAIL(ctx, PLX_E_ARG, "clusterers see no labels; leave the labels out, or compare classifiers");
    if (o->n_labels) {
        n_labels = o->n_labels;
        PLX_TRY(take_list(&labels, c, ctx, o->labels, n_labels, "labels"));
    } else PLX_TRY(plx__arena_text(&usual[0], &c->arena, usual[0]));
    c->n_blocks = n_data * n_labels;
    PLX_TRY(PLX__ARENA_NEW(&c->block, &c->arena, c->n_blocks));
    for (plx_index d = 0; d < n_data; d++) {
        PLX_TRY(check_data(ctx, data[d], names[d]));
        for (plx_index l = 0; l < n_labels; l++)
            PLX_TRY(add_block(&c->block[d * n_labels + l], c, d, names[d], labels[l]));
    }
    return PLX_OK;
}

/* ---- entries ---- */

/* Does a setting begin here: a key and `=`, or `tuned` at the end? A colon before anything else belongs to the value. */
static bool begins_setting(const char *text)
{
    if (strcmp(text, "tuned") == 0) return true;
    size_t key = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (key && text[key] == '.') key += strcspn(text + key, ":=");
    return key && text[key] == '=';
}

static size_t setting_length(const char *text)
{
    size_t length = strcspn(text, ":");
    while (text[length] && !begins_setting(text + length + 1)) length += 1 + strcspn(text + length + 1, ":");
    return length;
}

static plx_status take_settings(plx__entry *e, plx_comparison *c, plx_context *ctx, const char *text)
{
    while (*text) {
        const char *setting = NULL;
        size_t length = setting_length(text);
        PLX_TRY(plx__arena_textn(&setting, &c->arena, text, length));
        if (strcmp(setting, "tuned") == 0 && c->task == PLX_TASK_CLASSIFY && !text[length]) {
            e->tuned = true;
            return PLX_OK;
        }
        char *equals = strchr(setting, '=');
        if (!equals || !begins_setting(setting))
            PLX_FAIL(ctx, PLX_E_ARG, "method '%s': expected NAME:KEY=VALUE:KEY=VALUE, not '%s'", e->name, setting);
        *equals = '\0';
        if (strcmp(setting, "clusters") == 0) e->chooses_clusters = true;
        PLX_TRY(plx__params_set(e->params, ctx, setting, equals + 1));
        text += length + (text[length] == ':');
    }
    return PLX_OK;
}

static bool has_word(const plx__method *m, const char *param, const char *word)
{
    const plx__param_spec *spec = plx__param_find(m->params, param);
    return spec && (!word || (spec->words && plx__word_index(spec->words, word) >= 0));
}

/* Does the method do what is compared, at least with its settings? */
static bool does_task(const plx__method *m, plx_task task)
{
    if (task == PLX_TASK_CLASSIFY) return m->task == PLX_TASK_CLASSIFY;
    return m->task == PLX_TASK_CLUSTER || has_word(m, "clusters", NULL);
}

static plx_status add_method(plx__entry *e, plx_comparison *c, plx_context *ctx, const char *spec)
{
    const char *name = NULL;
    size_t length = strcspn(spec, ":");
    PLX_TRY(plx__arena_text(&e->name, &c->arena, spec));
    PLX_TRY(plx__arena_textn(&name, &c->arena, spec, length));
    if (strcmp(spec, "auto") == 0 && c->task == PLX_TASK_CLASSIFY) return PLX_OK;
    PLX_TRY(plx__method_require(&e->method, ctx, name));
    if (c->task == PLX_TASK_CLUSTER && !does_task(e->method, c->task))
        PLX_FAIL(ctx, PLX_E_ARG, "method '%s' does not cluster", name);
    PLX_TRY(plx__params_create(&e->params, ctx, e->method->name, e->method->params));
    e->chooses_clusters = !has_word(e->method, "clusters", NULL);
    if (c->task == PLX_TASK_CLUSTER && has_word(e->method, "task", "cluster"))
        PLX_TRY(plx__params_set(e->params, ctx, "task", "cluster"));
    return spec[length] ? take_settings(e, c, ctx, spec + length + 1) : PLX_OK;
}

/* NAME=FILE, or FILE, whose name without folder and ending is the entry's. */
static plx_status add_guest(plx__entry *e, plx_comparison *c, plx_context *ctx, const char *text)
{
    const char *equals = strchr(text, '='), *base = plx__path_base(text);
    if (equals && equals != text && !memchr(text, '/', (size_t)(equals - text))) {
        PLX_TRY(plx__arena_textn(&e->name, &c->arena, text, (size_t)(equals - text)));
        text = equals + 1;
    } else PLX_TRY(plx__arena_textn(&e->name, &c->arena, base, strcspn(base, ".")));
    PLX_TRY(plx__arena_text(&e->file, &c->arena, text));
    if (!*e->name || !*e->file) PLX_FAIL(ctx, PLX_E_ARG, "predictions '%s': expected FILE or NAME=FILE", text);
    return PLX_OK;
}

static plx_status check_names(plx_context *ctx, const plx_comparison *c)
{
    for (plx_index i = 0; i < c->n_entries; i++)
        for (plx_index k = 0; k < i; k++)
            if (strcmp(c->entry[k].name, c->entry[i].name) == 0)
                PLX_FAIL(ctx, PLX_E_ARG, "method '%s' is given twice", c->entry[i].name);
    return PLX_OK;
}

static plx_status take_entries(plx_comparison *c, plx_context *ctx, const plx_compare_options *o)
{
    plx_index most = plx__max(o->n_methods, plx__method_count()) + o->n_predictions;
    bool all = !o->n_methods && !o->n_predictions;
    PLX_TRY(PLX__ARENA_NEW(&c->entry, &c->arena, most));
    for (plx_index i = 0; i < o->n_methods; i++) {
        if (!o->methods[i] || !*o->methods[i])
            PLX_FAIL(ctx, PLX_E_ARG, "method number %lld is empty", (long long)i + 1);
        PLX_TRY(add_method(&c->entry[c->n_entries++], c, ctx, o->methods[i]));
    }
    for (plx_index i = 0; all && i < plx__method_count(); i++)
        if (does_task(plx__method_at(i), c->task))
            PLX_TRY(add_method(&c->entry[c->n_entries++], c, ctx, plx__method_at(i)->name));
    for (plx_index i = 0; i < o->n_predictions; i++) {
        if (!o->predictions[i]) PLX_FAIL(ctx, PLX_E_ARG, "predictions number %lld are NULL", (long long)i + 1);
        PLX_TRY(add_guest(&c->entry[c->n_entries++], c, ctx, o->predictions[i]));
    }
    return check_names(ctx, c);
}

plx_status plx__entry_params(plx_params **out, plx_context *ctx, const plx_comparison *c, const plx__entry *entry,
                             const plx_dataset *data)
{
    char number[24];
    PLX_TRY(plx__params_copy(out, ctx, entry->params));
    if (c->task != PLX_TASK_CLUSTER || entry->chooses_clusters) return PLX_OK;
    snprintf(number, sizeof number, "%lld", (long long)data->n_classes);
    plx_status st = plx__params_set(*out, ctx, "clusters", number);
    if (st == PLX_OK) return st;
    plx__params_destroy(*out);
    *out = NULL;
    return st;
}

/* ---- all of it ---- */

static plx_status check_options(plx_context *ctx, const plx_compare_options *o, plx_index n_data)
{
    if (n_data < 1) PLX_FAIL(ctx, PLX_E_ARG, "there is no data set to compare on");
    if (o->task != PLX_TASK_CLASSIFY && o->task != PLX_TASK_CLUSTER)
        PLX_FAIL(ctx, PLX_E_ARG, "only classifiers or clusterers can be compared");
    if (o->n_methods < 0 || o->n_predictions < 0 || o->n_labels < 0 || o->n_metrics < 0 ||
        (o->n_methods && !o->methods) || (o->n_predictions && !o->predictions) || (o->n_labels && !o->labels) ||
        (o->n_metrics && !o->metrics))
        PLX_FAIL(ctx, PLX_E_ARG, "comparison options: a list with entries is NULL, or a count is negative");
    if (o->repeats < 1 || o->folds < 0 || o->folds == 1 || o->jobs < 0 || o->threads < 1 || !(o->run_limit >= 0) ||
        !(o->alpha > 0 && o->alpha < 1) || !(o->test > 0 && o->test < 1))
        PLX_FAIL(ctx, PLX_E_ARG,
                 "comparison options: repeats >= 1, folds 0 or from 2, jobs >= 0, threads >= 1, run_limit >= 0, alpha "
                 "and test in (0,1) expected");
    if (o->repeats > 1000000 || o->folds > 1000000 || o->jobs > 4096 || o->threads > 4096)
        PLX_FAIL(ctx, PLX_E_ARG, "comparison options: that many repeats, folds, jobs or threads cannot be had");
    if (o->task == PLX_TASK_CLUSTER && (o->folds || o->inductive))
        PLX_FAIL(ctx, PLX_E_ARG, "clusterers are scored on the samples they were given; leave folds and inductive out");
    return PLX_OK;
}

static plx_status fill(plx_comparison *c, plx_context *ctx, const plx_dataset *const *data, plx_index n_data,
                       const plx_compare_options *o)
{
    PLX_TRY(take_metrics(c, ctx, o));
    PLX_TRY(take_blocks(c, ctx, data, n_data, o));
    PLX_TRY(take_entries(c, ctx, o));
    PLX_TRY(PLX__ARENA_NEW(&c->measured, &c->arena, c->n_blocks * c->n_entries * c->runs));
    for (plx_index i = 0; i < c->n_blocks * c->n_entries * c->runs; i++)
        c->measured[i] = (plx__measured){.seconds = NAN, .cpu = NAN, .memory = NAN};
    PLX_TRY(PLX__ARENA_NEW(&c->cell, &c->arena, c->n_metrics * c->n_blocks * c->n_entries));
    PLX_TRY(plx__arena_f64(&c->rank, &c->arena, c->n_metrics, c->n_entries));
    return plx__arena_f64(&c->friedman_p, &c->arena, c->n_metrics, 1);
}

plx_status plx__comparison_create(plx_comparison **out, plx_context *ctx, const plx_dataset *const *data,
                                  plx_index n_data, const plx_compare_options *o)
{
    *out = NULL;
    PLX_TRY(check_options(ctx, o, n_data));
    for (plx_index d = 0; d < n_data; d++)
        if (!data[d]) PLX_FAIL(ctx, PLX_E_ARG, "data set number %lld is NULL", (long long)d + 1);
    plx_comparison *c = plx__alloc(ctx, sizeof *c);
    if (!c) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *c = (plx_comparison){.task = o->task,
                          .repeats = o->repeats,
                          .folds = o->folds,
                          .runs = o->repeats * plx__max(o->folds, 1),
                          .inductive = o->inductive != 0,
                          .test = o->test,
                          .alpha = o->alpha,
                          .seed = ctx->seed};
    plx__arena_init(&c->arena, ctx);
    plx_status st = fill(c, ctx, data, n_data, o);
    if (st == PLX_OK) *out = c;
    else plx__comparison_destroy(c);
    return st;
}

void plx__comparison_destroy(plx_comparison *c)
{
    if (!c) return;
    plx_context *ctx = c->arena.ctx;
    for (plx_index i = 0; i < c->n_entries; i++) plx__params_destroy(c->entry[i].params);
    plx__arena_free(&c->arena);
    plx__release(ctx, c, sizeof *c);
}

/* ---- what a run leaves ---- */

plx_status plx__measured_take(plx__measured *to, plx_comparison *c, const plx_metrics *metrics)
{
    const char **name = NULL;
    double *value = NULL;
    plx_index count = metrics->count;
    PLX_TRY(PLX__ARENA_NEW(&name, &c->arena, count));
    PLX_TRY(plx__arena_f64(&value, &c->arena, count, 1));
    for (plx_index i = 0; i < count; i++) {
        PLX_TRY(plx__arena_text(&name[i], &c->arena, metrics->items[i].name));
        value[i] = metrics->items[i].value;
    }
    to->name = name;
    to->value = value;
    to->count = count;
    to->done = true;
    return PLX_OK;
}

plx_status plx__measured_fail(plx__measured *to, plx_comparison *c, plx_status status, const char *reason)
{
    to->status = status;
    to->done = true;
    return plx__arena_text(&to->reason, &c->arena, *reason ? reason : "failed without a word");
}
