/*
 * Learning curves in a report: mean and standard error over the runs after every acquisition, and whether choosing paid.
 */
#include <math.h>
#include <string.h>

#include "report/report_parts.h"

/* Sums over the runs at one step. */
typedef struct moment {
    double sum, squares, cost;
    plx_index runs;
} moment;

static double value_of(const plx__curve_point *p, const char *metric)
{
    return strcmp(metric, "rmse") == 0 ? p->rmse : strcmp(metric, "auc") == 0 ? p->auc : p->accuracy;
}

static plx_status gather(moment **out, plx_index *steps, plx_context *ctx, const plx_curves *c, plx_index strategy,
                         const char *metric)
{
    *steps = 0;
    for (plx_index run = 0; run < c->runs; run++) {
        const plx__curve *curve = plx__curve_of(c, run, strategy);
        for (plx_index k = 0; k < curve->count; k++) *steps = plx__max(*steps, curve->point[k].step + 1);
    }
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), *steps));
    for (plx_index run = 0; run < c->runs; run++) {
        const plx__curve *curve = plx__curve_of(c, run, strategy);
        for (plx_index k = 0; k < curve->count; k++) {
            double x = value_of(&curve->point[k], metric);
            moment *at = &(*out)[curve->point[k].step];
            if (isnan(x)) continue;
            at->sum += x;
            at->squares += x * x;
            at->cost += curve->point[k].cost;
            at->runs++;
        }
    }
    return PLX_OK;
}

static void put_states(plx__json_maker *m, json_t *o, const moment *at, plx_index steps)
{
    json_t *states = plx__json_put_list(m, o, "states");
    for (plx_index k = 0; k < steps; k++) {
        double n = (double)at[k].runs, mean = at[k].sum / n;
        if (at[k].runs == 0) continue;
        double variance = n > 1 ? fmax(0, (at[k].squares - n * mean * mean) / (n - 1)) : NAN;
        json_t *state = plx__json_push_object(m, states);
        plx__json_put_whole(m, state, "step", k);
        plx__json_put_real(m, state, "cost", at[k].cost / n);
        plx__json_put_real(m, state, "mean", mean);
        plx__json_put_real(m, state, "error", sqrt(variance / n));
        plx__json_put_whole(m, state, "runs", at[k].runs);
    }
}

static plx_index find_strategy(const plx_curves *c, const char *name)
{
    for (plx_index s = 0; s < c->n_strategies; s++)
        if (strcmp(c->strategy[s], name) == 0) return s;
    return -1;
}

static void put_summary(plx__json_maker *m, json_t *o, const plx_curve_summary *s, bool beside)
{
    plx__json_put_real(m, o, "mean", s->mean);
    plx__json_put_real(m, o, "error", s->error);
    plx__json_put_real(m, o, "difference", beside ? s->difference : NAN);
    plx__json_put_real(m, o, "difference_error", beside ? s->difference_error : NAN);
    plx__json_put_real(m, o, "first", s->first);
    plx__json_put_real(m, o, "last", s->last);
    plx__json_put_real(m, o, "steps_to_reach", s->reached ? s->steps_to_reach : NAN);
}

/* Did choosing pay? The first strategy beside chance, in standard errors of their difference. */
static void say(plx__textbuf *to, const plx_curves *c, const plx_curve_summary *s, plx_index strategy)
{
    const char *name = c->strategy[strategy];
    double sense = strcmp(s->metric, "rmse") == 0 ? -1 : 1, gain = sense * s->difference;
    if (isnan(s->difference)) plx__textbuf_printf(to, "%s: %s %.3f over the acquisitions.", name, s->metric, s->mean);
    else if (isnan(s->difference_error))
        plx__textbuf_printf(to,
                            "In the one run, %s is %.3f %s than random choice by %s; more runs would tell whether "
                            "that is chance.",
                            name, fabs(gain), gain < 0 ? "worse" : "better", s->metric);
    else if (fabs(gain) <= 2 * s->difference_error)
        plx__textbuf_printf(to, "%s cannot be told from random choice: difference in %s %+.3f \xc2\xb1 %.3f.", name,
                            s->metric, s->difference, s->difference_error);
    else
        plx__textbuf_printf(to, "%s is %s than random choice by %.3f \xc2\xb1 %.3f in %s, over the acquisitions.", name,
                            gain > 0 ? "better" : "worse", fabs(gain), s->difference_error, s->metric);
}

static plx_status head(plx__json_maker *m, plx_report *r, const plx_curves *c, const char *what)
{
    plx__textbuf answer;
    const char *question = NULL, *text = NULL;
    plx_index random = find_strategy(c, "random"), first = -1;
    plx_curve_summary s = PLX_CURVE_SUMMARY_INIT;
    plx__textbuf_init(&answer, plx__scratch(m->ctx));
    for (plx_index k = c->n_strategies - 1; k >= 0; k--)
        if (k != random && strcmp(c->strategy[k], "all") != 0) first = k;
    PLX_TRY(plx__arena_printf(&question, plx__scratch(m->ctx), "Does it pay to choose %s?", what));
    if (first >= 0) {
        plx__curves_summary(&s, c, first, random < 0 ? first : random, NULL);
        if (random < 0) s.difference = NAN;
        say(&answer, c, &s, first);
    } else plx__textbuf_add(&answer, "Only random choice was simulated.");
    PLX_TRY(plx__textbuf_done(&text, &answer));
    plx__report_headline(m, r, question, text);
    return PLX_OK;
}

plx_status plx__report_curves(plx_report *r, plx_context *ctx, const plx_curves *c, const char *what)
{
    plx__json_maker m = {.ctx = ctx};
    plx_curve_summary s = PLX_CURVE_SUMMARY_INIT;
    plx_index random = find_strategy(c, "random");
    PLX_TRY(head(&m, r, c, what));
    json_t *o = plx__json_put_object(&m, r->root, "curves"), *list = plx__json_put_list(&m, o, "strategies");
    plx__json_put_whole(&m, o, "runs", c->runs);
    for (plx_index k = 0; k < c->n_strategies; k++) {
        moment *at = NULL;
        plx_index steps = 0;
        plx__curves_summary(&s, c, k, random < 0 ? k : random, NULL);
        if (k == 0) plx__json_put_text(&m, o, "metric", s.metric);
        PLX_TRY(gather(&at, &steps, ctx, c, k, s.metric));
        json_t *one = plx__json_push_object(&m, list);
        plx__json_put_text(&m, one, "name", c->strategy[k]);
        put_summary(&m, one, &s, random >= 0 && k != random);
        put_states(&m, one, at, steps);
    }
    plx__report_fact(&m, r, "runs", (double)c->runs);
    plx__report_fact(&m, r, "strategies", (double)c->n_strategies);
    return plx__json_made(&m);
}
