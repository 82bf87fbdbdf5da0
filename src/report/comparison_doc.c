/*
 * A comparison in a report: every cell with its runs, ranks, costs and refusals, and who is best in one sentence.
 */
#include <math.h>
#include <string.h>

#include "compare/comparison.h"
#include "report/report_parts.h"

static json_t *push_cell(plx__json_maker *m, json_t *list, const plx_comparison *c, plx_index metric, plx_index block,
                         plx_index entry)
{
    const plx__tally *t = plx__tally_of(c, metric, block, entry);
    plx_index failed = 0;
    json_t *o = plx__json_push_object(m, list), *values = plx__json_put_list(m, o, "values");
    for (plx_index r = 0; r < c->runs; r++) {
        const plx__measured *run = plx__measured_of(c, block, entry, r);
        failed += run->reason != NULL;
        plx__json_push(m, values, plx__json_real(plx__measured_value(run, c->metric[metric])));
    }
    plx__json_put_real(m, o, "mean", t->mean);
    plx__json_put_real(m, o, "sd", t->sd);
    plx__json_put_whole(m, o, "runs", t->runs);
    plx__json_put_whole(m, o, "failed", failed);
    plx__json_put(m, o, "best", json_boolean(t->best));
    plx__json_put(m, o, "level", json_boolean(t->level));
    plx__json_put_real(m, o, "p", t->p);
    plx__json_put_real(m, o, "p_holm", t->p_holm);
    return o;
}

static void put_cells(plx__json_maker *m, json_t *o, const plx_comparison *c)
{
    json_t *cells = plx__json_put_list(m, o, "cells");
    for (plx_index k = 0; k < c->n_metrics; k++) {
        json_t *blocks = plx__json_push_list(m, cells);
        for (plx_index b = 0; b < c->n_blocks; b++) {
            json_t *entries = plx__json_push_list(m, blocks);
            for (plx_index e = 0; e < c->n_entries; e++) push_cell(m, entries, c, k, b, e);
        }
    }
}

static void put_ranks(plx__json_maker *m, json_t *o, const plx_comparison *c)
{
    json_t *ranks = plx__json_put_list(m, o, "ranks"), *p = plx__json_put_list(m, o, "friedman_p");
    for (plx_index k = 0; k < c->n_metrics; k++) {
        json_t *list = plx__json_push_list(m, ranks);
        for (plx_index e = 0; e < c->n_entries; e++)
            plx__json_push(m, list, plx__json_real(c->rank[k * c->n_entries + e]));
        plx__json_push(m, p, plx__json_real(c->friedman_p[k]));
    }
}

static void put_costs(plx__json_maker *m, json_t *o, const plx_comparison *c)
{
    json_t *costs = plx__json_put_list(m, o, "costs");
    for (plx_index b = 0; b < c->n_blocks; b++) {
        json_t *list = plx__json_push_list(m, costs);
        for (plx_index e = 0; e < c->n_entries; e++) {
            plx__expense x = plx__expense_of(c, b, e);
            json_t *one = plx__json_push_object(m, list);
            plx__json_put_real(m, one, "seconds", x.seconds);
            plx__json_put_real(m, one, "memory", x.memory);
        }
    }
}

static void put_refusals(plx__json_maker *m, json_t *o, const plx_comparison *c)
{
    json_t *list = plx__json_put_list(m, o, "refusals");
    for (plx_index e = 0; e < c->n_entries; e++)
        for (plx_index b = 0; b < c->n_blocks; b++) {
            const char *reason = NULL;
            plx_index failed = 0;
            for (plx_index r = c->runs - 1; r >= 0; r--) {
                const plx__measured *x = plx__measured_of(c, b, e, r);
                if (!x->reason) continue;
                reason = x->reason;
                failed++;
            }
            if (!failed) continue;
            json_t *one = plx__json_push_object(m, list);
            plx__json_put_whole(m, one, "entry", e);
            plx__json_put_whole(m, one, "block", b);
            plx__json_put_whole(m, one, "failed", failed);
            plx__json_put_text(m, one, "reason", reason);
        }
}

static void put_names(plx__json_maker *m, json_t *o, const plx_comparison *c)
{
    json_t *metrics = plx__json_put_list(m, o, "metrics"), *lower = plx__json_put_list(m, o, "lower");
    json_t *blocks = plx__json_put_list(m, o, "blocks"), *entries = plx__json_put_list(m, o, "entries");
    for (plx_index k = 0; k < c->n_metrics; k++) {
        plx__json_push(m, metrics, plx__json_text(m, c->metric[k]));
        plx__json_push(m, lower, json_boolean(plx__smaller_is_better(c->metric[k])));
    }
    for (plx_index b = 0; b < c->n_blocks; b++) {
        json_t *block = plx__json_push_object(m, blocks);
        plx__json_put_text(m, block, "name", c->block[b].name);
        plx__json_put_text(m, block, "dataset", c->block[b].dataset);
        plx__json_put_text(m, block, "labels", c->block[b].labels);
    }
    for (plx_index e = 0; e < c->n_entries; e++) plx__json_push(m, entries, plx__json_text(m, c->entry[e].name));
}

/* ---- in one sentence ---- */

/* The entry that is best on a block by the first metric; -1: none. */
static plx_index best_on(const plx_comparison *c, plx_index block)
{
    for (plx_index e = 0; e < c->n_entries; e++)
        if (plx__tally_of(c, 0, block, e)->best) return e;
    return -1;
}

static void say_one_block(plx__textbuf *to, const plx_comparison *c)
{
    plx_index best = best_on(c, 0), level = 0, others = 0;
    if (best < 0) {
        plx__textbuf_add(to, "No method has an answer in every run.");
        return;
    }
    const plx__tally *t = plx__tally_of(c, 0, 0, best);
    plx__textbuf_printf(to, "%s is best by %s: %.3f", c->entry[best].name, c->metric[0], t->mean);
    if (!isnan(t->sd)) plx__textbuf_printf(to, " \xc2\xb1 %.3f", t->sd);
    for (plx_index e = 0; e < c->n_entries; e++)
        if (e != best && plx__tally_of(c, 0, 0, e)->level) level++;
    for (plx_index e = 0; e < c->n_entries && level; e++)
        if (e != best && plx__tally_of(c, 0, 0, e)->level)
            plx__textbuf_printf(to, "%s%s", others++ == 0 ? "; " : others == level ? " and " : ", ", c->entry[e].name);
    if (level) plx__textbuf_printf(to, " %s not significantly worse.", level == 1 ? "is" : "are");
    else plx__textbuf_add(to, isnan(t->sd) ? "." : "; no other comes near.");
}

static void say_many_blocks(plx__textbuf *to, const plx_comparison *c)
{
    plx_index first = -1, wins = 0, level = 0;
    for (plx_index e = 0; e < c->n_entries; e++)
        if (!isnan(c->rank[e]) && (first < 0 || c->rank[e] < c->rank[first])) first = e;
    if (first < 0) {
        plx__textbuf_add(to, "No method has an answer.");
        return;
    }
    for (plx_index b = 0; b < c->n_blocks; b++) {
        wins += plx__tally_of(c, 0, b, first)->best;
        level += plx__tally_of(c, 0, b, first)->level;
    }
    plx__textbuf_printf(to,
                        "%s has the best average rank by %s, %.2f: best on %lld of %lld combinations of data and "
                        "labels, best or not significantly worse on %lld.",
                        c->entry[first].name, c->metric[0], c->rank[first], (long long)wins, (long long)c->n_blocks,
                        (long long)level);
    if (!isnan(c->friedman_p[0]) && c->friedman_p[0] > c->alpha)
        plx__textbuf_printf(to, " Over all of them together the ranks could be chance (Friedman's test, p = %.2g).",
                            c->friedman_p[0]);
}

static plx_status name_data(plx__textbuf *to, plx_context *ctx, const plx_comparison *c)
{
    const char **name = NULL, *list = NULL;
    plx_index count = 0;
    PLX_TRY(PLX__ARENA_NEW(&name, plx__scratch(ctx), c->n_blocks));
    for (plx_index b = 0; b < c->n_blocks; b++) {
        bool known = false;
        for (plx_index k = 0; k < count; k++) known = known || strcmp(name[k], c->block[b].dataset) == 0;
        if (!known) name[count++] = c->block[b].dataset;
    }
    PLX_TRY(plx__list_names(&list, plx__scratch(ctx), name, count));
    plx__textbuf_printf(to, "%s?", list);
    return PLX_OK;
}

static plx_status head(plx__json_maker *m, plx_report *r, const plx_comparison *c)
{
    plx__textbuf question, answer;
    const char *asked = NULL, *said = NULL;
    plx__textbuf_init(&question, plx__scratch(m->ctx));
    plx__textbuf_init(&answer, plx__scratch(m->ctx));
    plx__textbuf_printf(&question, "Which of %lld methods is best on ", (long long)c->n_entries);
    if (c->n_blocks == 1) plx__textbuf_printf(&question, "%s?", c->block[0].name);
    else PLX_TRY(name_data(&question, m->ctx, c));
    if (c->n_blocks == 1) say_one_block(&answer, c);
    else say_many_blocks(&answer, c);
    PLX_TRY(plx__textbuf_done(&asked, &question));
    PLX_TRY(plx__textbuf_done(&said, &answer));
    plx__report_headline(m, r, asked, said);
    return PLX_OK;
}

plx_status plx__report_comparison(plx_report *r, plx_context *ctx, const plx_comparison *c)
{
    plx__json_maker m = {.ctx = ctx};
    char seed[24];
    PLX_TRY(head(&m, r, c));
    json_t *o = plx__json_put_object(&m, r->root, "comparison");
    put_names(&m, o, c);
    plx__json_put_whole(&m, o, "runs", c->runs);
    plx__json_put_text(&m, o, "test", plx__comparison_test(c));
    plx__json_put_real(&m, o, "alpha", c->alpha);
    put_cells(&m, o, c);
    put_ranks(&m, o, c);
    put_costs(&m, o, c);
    put_refusals(&m, o, c);
    plx__report_fact(&m, r, "methods", (double)c->n_entries);
    plx__report_fact(&m, r, "runs of each", (double)c->runs);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)c->seed);
    plx__report_setting(&m, r, "seed of the first split", seed, "0");
    return plx__json_made(&m);
}
