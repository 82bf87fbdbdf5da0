/*
 * All of a comparison as JSON: what is needed to repeat it, every run, every cell. Costs are a document of their own.
 */
#include <math.h>

#include "compare/render.h"
#include "core/json.h"
#include "parallax/version.h"

typedef struct writer {
    plx__json_maker m;
    const plx_comparison *c;
} writer;

/* ---- results ---- */

static json_t *runs_of(writer *w, plx_index metric, plx_index block, plx_index entry)
{
    json_t *list = json_array();
    for (plx_index r = 0; list && r < w->c->runs; r++)
        plx__json_push(
            &w->m, list,
            plx__json_real(plx__measured_value(plx__measured_of(w->c, block, entry, r), w->c->metric[metric])));
    return list;
}

static json_t *metric_of(writer *w, plx_index metric, plx_index block, plx_index entry)
{
    const plx__tally *cell = plx__tally_of(w->c, metric, block, entry);
    json_t *o = json_object();
    if (!o) return NULL;
    plx__json_put_whole(&w->m, o, "runs", cell->runs);
    plx__json_put_real(&w->m, o, "mean", cell->mean);
    plx__json_put_real(&w->m, o, "sd", cell->sd);
    plx__json_put(&w->m, o, "best", json_boolean(cell->best));
    plx__json_put(&w->m, o, "not_worse", json_boolean(cell->level));
    plx__json_put_real(&w->m, o, "p", cell->p);
    plx__json_put_real(&w->m, o, "p_holm", cell->p_holm);
    plx__json_put(&w->m, o, "values", runs_of(w, metric, block, entry));
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
            plx__json_put_whole(&w->m, o, "run", r);
            plx__json_put_text(&w->m, o, "status", plx__status_name(m->status));
            plx__json_put_text(&w->m, o, "reason", m->reason);
        }
        plx__json_push(&w->m, list, o);
    }
    return list;
}

static json_t *entry_of(writer *w, plx_index block, plx_index entry)
{
    json_t *o = json_object(), *metrics = json_object();
    if (!o || !metrics) w->m.failed = true;
    for (plx_index m = 0; metrics && m < w->c->n_metrics; m++)
        plx__json_put(&w->m, metrics, w->c->metric[m], metric_of(w, m, block, entry));
    if (!o) {
        json_decref(metrics);
        return NULL;
    }
    plx__json_put_text(&w->m, o, "method", w->c->entry[entry].name);
    plx__json_put(&w->m, o, "metrics", metrics);
    plx__json_put(&w->m, o, "failures", reasons_of(w, block, entry));
    return o;
}

static json_t *block_of(writer *w, plx_index block, json_t *(*entry)(writer *, plx_index, plx_index))
{
    json_t *o = json_object(), *list = json_array();
    for (plx_index e = 0; list && e < w->c->n_entries; e++) plx__json_push(&w->m, list, entry(w, block, e));
    if (!o) {
        json_decref(list);
        return NULL;
    }
    plx__json_put_text(&w->m, o, "dataset", w->c->block[block].dataset);
    plx__json_put_text(&w->m, o, "labels", w->c->block[block].labels);
    plx__json_put(&w->m, o, "methods", list);
    return o;
}

static json_t *ranks_of(writer *w)
{
    json_t *all = json_object();
    for (plx_index m = 0; all && m < w->c->n_metrics; m++) {
        json_t *o = json_object(), *ranks = json_array();
        for (plx_index e = 0; ranks && e < w->c->n_entries; e++)
            plx__json_push(&w->m, ranks, plx__json_real(w->c->rank[m * w->c->n_entries + e]));
        if (o) {
            plx__json_put(&w->m, o, "average_rank", ranks);
            plx__json_put_real(&w->m, o, "friedman_p", w->c->friedman_p[m]);
        } else json_decref(ranks);
        plx__json_put(&w->m, all, w->c->metric[m], o);
    }
    return all;
}

static json_t *names_of(writer *w)
{
    json_t *list = json_array();
    for (plx_index e = 0; list && e < w->c->n_entries; e++)
        plx__json_push(&w->m, list, plx__json_text(&w->m, w->c->entry[e].name));
    return list;
}

static void put_setup(writer *w, json_t *o)
{
    const plx_comparison *c = w->c;
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)c->seed);
    plx__json_put_text(&w->m, o, "version", PLX_VERSION_STRING);
    plx__json_put_text(&w->m, o, "task", c->task == PLX_TASK_CLUSTER ? "cluster" : "classify");
    if (c->seed <= INT64_MAX) plx__json_put_whole(&w->m, o, "seed", (plx_index)c->seed);
    else plx__json_put_text(&w->m, o, "seed", seed);
    plx__json_put_whole(&w->m, o, "repeats", c->repeats);
    plx__json_put_whole(&w->m, o, "folds", c->folds);
    plx__json_put(&w->m, o, "inductive", json_boolean(c->inductive));
    if (c->inductive && !c->folds) plx__json_put_real(&w->m, o, "test_share", c->test);
    plx__json_put_text(&w->m, o, "test", plx__comparison_test(c));
    plx__json_put_real(&w->m, o, "alpha", c->alpha);
    plx__json_put(&w->m, o, "methods", names_of(w));
    plx__json_put(&w->m, o, "ranks", ranks_of(w));
}

/* ---- costs ---- */

static json_t *cost_of(writer *w, plx_index block, plx_index entry)
{
    plx__expense x = plx__expense_of(w->c, block, entry);
    json_t *o = json_object();
    if (!o) return NULL;
    plx__json_put_text(&w->m, o, "method", w->c->entry[entry].name);
    plx__json_put_real(&w->m, o, "seconds", x.seconds);
    plx__json_put_real(&w->m, o, "cpu_seconds", x.cpu);
    plx__json_put_real(&w->m, o, "memory_bytes", x.memory);
    return o;
}

plx_status plx__render_json(const char **out, plx_context *ctx, const plx_comparison *c, plx_compare_part part)
{
    writer w = {.m = {.ctx = ctx}, .c = c};
    json_t *o = json_object(), *blocks = json_array();
    plx_status st = PLX_OK;
    if (!o || !blocks) w.m.failed = true;
    for (plx_index b = 0; blocks && b < c->n_blocks; b++)
        plx__json_push(&w.m, blocks, block_of(&w, b, part == PLX_COMPARE_COSTS ? cost_of : entry_of));
    if (o && part == PLX_COMPARE_RESULTS) put_setup(&w, o);
    if (o) plx__json_put(&w.m, o, "blocks", blocks);
    else json_decref(blocks);
    st = plx__json_made(&w.m);
    if (st == PLX_OK) st = plx__json_print(out, plx__scratch(ctx), o);
    json_decref(o);
    return st;
}
