/*
 * All of a comparison as JSON: what is needed to repeat it, every run, every cell. Costs are a document of their own.
 */
#include <math.h>

#include "compare/render.h"
#include "core/json.h"
#include "parallax/version.h"

typedef struct writer {
    plx_context *ctx;
    const plx_comparison *c;
    bool failed; /* jansson had no memory */
} writer;

/* Takes over `value`, also when it fails. */
static void put(writer *w, json_t *object, const char *key, json_t *value)
{
    const char *clean = NULL; /* names of classes may be part of a key */
    if (plx__utf8(&clean, plx__scratch(w->ctx), key) != PLX_OK) clean = NULL;
    if (!clean) json_decref(value);
    if (!clean || !value || json_object_set_new(object, clean, value) != 0) w->failed = true;
}

static void push(writer *w, json_t *list, json_t *value)
{
    if (!value || json_array_append_new(list, value) != 0) w->failed = true;
}

static void put_text(writer *w, json_t *object, const char *key, const char *text)
{
    const char *clean = NULL;
    if (!text) put(w, object, key, json_null());
    else if (plx__utf8(&clean, plx__scratch(w->ctx), text) != PLX_OK) w->failed = true;
    else put(w, object, key, json_string(clean));
}

static void put_whole(writer *w, json_t *object, const char *key, plx_index value)
{
    put(w, object, key, json_integer(value));
}

static void put_real(writer *w, json_t *object, const char *key, double value)
{
    put(w, object, key, plx__json_real(value));
}

/* ---- results ---- */

static json_t *runs_of(writer *w, plx_index metric, plx_index block, plx_index entry)
{
    json_t *list = json_array();
    for (plx_index r = 0; list && r < w->c->runs; r++)
        push(w, list,
             plx__json_real(plx__measured_value(plx__measured_of(w->c, block, entry, r), w->c->metric[metric])));
    return list;
}

static json_t *metric_of(writer *w, plx_index metric, plx_index block, plx_index entry)
{
    const plx__tally *cell = plx__tally_of(w->c, metric, block, entry);
    json_t *o = json_object();
    if (!o) return NULL;
    put_whole(w, o, "runs", cell->runs);
    put_real(w, o, "mean", cell->mean);
    put_real(w, o, "sd", cell->sd);
    put(w, o, "best", json_boolean(cell->best));
    put(w, o, "not_worse", json_boolean(cell->level));
    put_real(w, o, "p", cell->p);
    put_real(w, o, "p_holm", cell->p_holm);
    put(w, o, "values", runs_of(w, metric, block, entry));
    return o;
}

static json_t *reasons_of(writer *w, plx_index block, plx_index entry)
{
    json_t *list = json_array();
    for (plx_index r = 0; list && r < w->c->runs; r++) {
        const plx__measured *m = plx__measured_of(w->c, block, entry, r);
        json_t *o = m->reason ? json_object() : NULL;
        if (!m->reason) continue;
        if (o) {
            put_whole(w, o, "run", r);
            put_text(w, o, "status", plx__status_name(m->status));
            put_text(w, o, "reason", m->reason);
        }
        push(w, list, o);
    }
    return list;
}

static json_t *entry_of(writer *w, plx_index block, plx_index entry)
{
    json_t *o = json_object(), *metrics = json_object();
    if (!o || !metrics) w->failed = true;
    for (plx_index m = 0; metrics && m < w->c->n_metrics; m++)
        put(w, metrics, w->c->metric[m], metric_of(w, m, block, entry));
    if (!o) {
        json_decref(metrics);
        return NULL;
    }
    put_text(w, o, "method", w->c->entry[entry].name);
    put(w, o, "metrics", metrics);
    put(w, o, "failures", reasons_of(w, block, entry));
    return o;
}

static json_t *block_of(writer *w, plx_index block, json_t *(*entry)(writer *, plx_index, plx_index))
{
    json_t *o = json_object(), *list = json_array();
    for (plx_index e = 0; list && e < w->c->n_entries; e++) push(w, list, entry(w, block, e));
    if (!o) {
        json_decref(list);
        return NULL;
    }
    put_text(w, o, "dataset", w->c->block[block].dataset);
    put_text(w, o, "labels", w->c->block[block].labels);
    put(w, o, "methods", list);
    return o;
}

static json_t *ranks_of(writer *w)
{
    json_t *all = json_object();
    for (plx_index m = 0; all && m < w->c->n_metrics; m++) {
        json_t *o = json_object(), *ranks = json_array();
        for (plx_index e = 0; ranks && e < w->c->n_entries; e++)
            push(w, ranks, plx__json_real(w->c->rank[m * w->c->n_entries + e]));
        if (o) {
            put(w, o, "average_rank", ranks);
            put_real(w, o, "friedman_p", w->c->friedman_p[m]);
        } else json_decref(ranks);
        put(w, all, w->c->metric[m], o);
    }
    return all;
}

static json_t *names_of(writer *w)
{
    json_t *list = json_array();
    for (plx_index e = 0; list && e < w->c->n_entries; e++) {
        const char *clean = NULL;
        if (plx__utf8(&clean, plx__scratch(w->ctx), w->c->entry[e].name) != PLX_OK) clean = NULL;
        push(w, list, clean ? json_string(clean) : NULL);
    }
    return list;
}

static void put_setup(writer *w, json_t *o)
{
    const plx_comparison *c = w->c;
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)c->seed);
    put_text(w, o, "version", PLX_VERSION_STRING);
    put_text(w, o, "task", c->task == PLX_TASK_CLUSTER ? "cluster" : "classify");
    if (c->seed <= INT64_MAX) put_whole(w, o, "seed", (plx_index)c->seed);
    else put_text(w, o, "seed", seed);
    put_whole(w, o, "repeats", c->repeats);
    put_whole(w, o, "folds", c->folds);
    put(w, o, "inductive", json_boolean(c->inductive));
    if (c->inductive && !c->folds) put_real(w, o, "test_share", c->test);
    put_text(w, o, "test", plx__comparison_test(c));
    put_real(w, o, "alpha", c->alpha);
    put(w, o, "methods", names_of(w));
    put(w, o, "ranks", ranks_of(w));
}

/* ---- costs ---- */

static json_t *cost_of(writer *w, plx_index block, plx_index entry)
{
    plx__expense x = plx__expense_of(w->c, block, entry);
    json_t *o = json_object();
    if (!o) return NULL;
    put_text(w, o, "method", w->c->entry[entry].name);
    put_real(w, o, "seconds", x.seconds);
    put_real(w, o, "cpu_seconds", x.cpu);
    put_real(w, o, "memory_bytes", x.memory);
    return o;
}

plx_status plx__render_json(const char **out, plx_context *ctx, const plx_comparison *c, plx_compare_part part)
{
    writer w = {.ctx = ctx, .c = c};
    json_t *o = json_object(), *blocks = json_array();
    plx_status st = PLX_OK;
    if (!o || !blocks) w.failed = true;
    for (plx_index b = 0; blocks && b < c->n_blocks; b++)
        push(&w, blocks, block_of(&w, b, part == PLX_COMPARE_COSTS ? cost_of : entry_of));
    if (o && part == PLX_COMPARE_RESULTS) put_setup(&w, o);
    if (o) put(&w, o, "blocks", blocks);
    else json_decref(blocks);
    if (w.failed) st = plx__fail(ctx, PLX_E_NOMEM, "out of memory");
    else st = plx__json_print(out, plx__scratch(ctx), o);
    json_decref(o);
    return st;
}
