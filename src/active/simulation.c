/*
 * One curve: fit, rank, reveal what can be paid for, note the score, until nothing is left or the stopping
 * rule fires. Everything that decides the next step is a function of the list of revealed items, which is
 * what the journal keeps.
 */
#include "active/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"

/* Items count as flags count: view after view, labels last; view -1 is the label. */
static plx_index flag_of(const plx__simulation *s, plx_index sample, plx_index view)
{
    return (view < 0 ? s->data->n_views : view) * s->data->n + sample;
}

static double cost_of(const plx__simulation *s, plx_index sample, plx_index view)
{
    double factor = s->data->sample_costs ? s->data->sample_costs[sample] : 1.0;
    return factor * (view < 0 ? s->label_cost : s->view_cost[view]);
}

static plx_status start(plx__simulation *s)
{
    plx_index n = s->data->n, views = s->data->n_views;
    plx__arena *scratch = plx__scratch(s->ctx);
    PLX_TRY(plx__arena_u8(&s->present, scratch, views * n));
    PLX_TRY(plx__arena_u8(&s->open, scratch, (views + 1) * n));
    PLX_TRY(PLX__ARENA_NEW(&s->labels, scratch, n));
    s->left = 0;
    for (plx_index v = 0; v < views; v++)
        for (plx_index i = 0; i < n; i++) {
            bool hidden = s->hidden && s->hidden[v * n + i];
            s->present[v * n + i] = s->data->views[v].present[i] && !s->away[v * n + i];
            s->left += s->open[v * n + i] = hidden;
        }
    for (plx_index i = 0; i < n; i++) {
        s->labels[i] = s->data->labels ? s->data->labels[i] : NULL;
        s->left += s->open[views * n + i] = s->askable && s->askable[i];
    }
    PLX_TRY(PLX__ARENA_NEW(&s->order, scratch, s->left));
    s->state = (plx__curve_point){0, -1, -1, 0, NAN, NAN, NAN, NAN, 0};
    return PLX_OK;
}

static void reveal(plx__simulation *s, plx_index sample, plx_index view, double gain)
{
    s->open[flag_of(s, sample, view)] = 0;
    s->left--;
    if (view < 0) s->labels[sample] = s->data->truth[sample];
    else s->present[flag_of(s, sample, view)] = 1;
    s->state = (plx__curve_point){
        s->state.step + 1, sample, view, s->state.cost + cost_of(s, sample, view), gain, NAN, NAN, NAN, 0};
}

/* ---- what comes next ---- */

/* A label of a sample without any view tells nothing. */
static bool is_covered(const plx__simulation *s, plx_index i)
{
    for (plx_index v = 0; v < s->data->n_views; v++)
        if (s->present[v * s->data->n + i]) return true;
    return false;
}

static plx_status list_open(plx__simulation *s, const plx__round *r)
{
    plx__candidate *list = NULL;
    plx__ranked *ranked = NULL;
    plx_index count = 0, n = s->data->n;
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(s->ctx), s->left));
    for (plx_index v = 0; v <= s->data->n_views; v++)
        for (plx_index i = 0; i < n; i++) {
            plx_index view = v < s->data->n_views ? v : -1;
            if (!s->open[v * n + i] || (view < 0 && !is_covered(s, i))) continue;
            double worth = s->decider == PLX__DECIDE_UNCERTAIN
                               ? r->uncertain[i]
                               : plx__rng_uniform(s->ctx->seed, PLX__STREAM('s', 'i', 'm', 'r', v), (uint64_t)i);
            double cost = view < 0 ? s->label_cost : s->view_cost[view];
            list[count++] = (plx__candidate){.row = i, .view = view, .information = worth, .cost = cost};
        }
    PLX_TRY(plx__rank(&ranked, &s->n_order, s->ctx, plx__scratch(s->ctx), list, count, s->data->sample_costs, NAN));
    memcpy(s->order, ranked, (size_t)s->n_order * sizeof *ranked);
    return PLX_OK;
}

static plx_status find_order(plx__simulation *s, const plx__round *r)
{
    s->next = s->n_order = 0;
    if (s->decider != PLX__DECIDE_RANKING) return list_open(s, r);
    for (plx_index k = 0; k < r->count; k++) {
        const plx__ranked *x = &r->ranked[k];
        if (s->open[flag_of(s, x->row, x->view)]) s->order[s->n_order++] = *x;
    }
    return PLX_OK;
}

/* The next that can be paid for; false: none is left. */
static bool reveal_next(plx__simulation *s)
{
    for (; s->next < s->n_order; s->next++) {
        const plx__ranked *x = &s->order[s->next];
        if (!s->open[flag_of(s, x->row, x->view)] || s->state.cost + cost_of(s, x->row, x->view) > s->budget) continue;
        reveal(s, x->row, x->view, s->decider == PLX__DECIDE_RANKING ? x->score : NAN);
        return true;
    }
    return false;
}

/* ---- one fit ---- */

static plx_status see(plx_dataset **out, plx__simulation *s)
{
    plx_dataset *labelled = NULL;
    PLX_TRY(plx__dataset_relabel(&labelled, s->ctx, s->data, s->labels));
    plx_status st = plx__dataset_mask(out, s->ctx, labelled, s->present);
    plx__dataset_destroy(labelled);
    return st;
}

static plx_status fit_again(plx__simulation *s)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_dataset *seen = NULL;
    plx__round r = {.accuracy = NAN, .auc = NAN, .rmse = NAN};
    PLX_TRY(see(&seen, s));
    plx__seen what = {
        .data = seen, .offer = {s->open, s->state.cost}, .fresh = s->state.step / s->every % s->restart == 0};
    plx_status st = s->round(&r, s->arg, s->ctx, &what);
    plx__dataset_destroy(seen);
    PLX_TRY(st);
    PLX_TRY(find_order(s, &r));
    s->state.accuracy = r.accuracy;
    s->state.auc = r.auc;
    s->state.rmse = r.rmse;
    s->state.told = r.told;
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

/* ---- stopping ---- */

static void count_same(plx__simulation *s, uint64_t told)
{
    if (!told) return; /* not fitted here */
    s->same = told == s->before ? s->same + 1 : 1;
    s->before = told;
}

static bool may_stop(const plx__simulation *s)
{
    bool ranked = s->decider == PLX__DECIDE_RANKING || s->decider == PLX__DECIDE_UNCERTAIN;
    if (s->stable && s->same > s->stable) return true;
    return s->least > 0 && ranked && s->next == 0 && (s->n_order == 0 || s->order[0].score < s->least);
}

/* ---- going on ---- */

/* What was revealed up to the last fresh start of an interrupted curve. */
static plx_status replay(plx__simulation *s)
{
    const plx__curve *curve = plx__curve_of(s->curves, s->run, s->strategy);
    plx_index known = curve->count ? curve->point[curve->count - 1].step : 0, period = s->every * s->restart;
    plx_index until = known / period * period;
    for (plx_index k = 0; k < curve->count && curve->point[k].step <= until; k++) {
        const plx__curve_point *p = &curve->point[k];
        if (p->step < until) count_same(s, p->told);
        if (p->step == 0) continue;
        bool there = p->step == s->state.step + 1 && p->sample >= 0 && p->sample < s->data->n && p->view >= -1 &&
                     p->view < s->data->n_views && s->open[flag_of(s, p->sample, p->view)];
        if (!there)
            PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: step %lld of run %lld reveals what is not hidden; remove the file",
                     s->curves->part, (long long)p->step, (long long)s->run);
        reveal(s, p->sample, p->view, p->gain);
    }
    return PLX_OK;
}

static plx_status tell(plx__simulation *s)
{
    const plx__curve *curve = plx__curve_of(s->curves, s->run, s->strategy);
    bool known = curve->count > 0 && s->state.step <= curve->point[curve->count - 1].step;
    if (!known) PLX_TRY(plx__curves_add(s->curves, s->ctx, s->run, s->strategy, &s->state));
    return s->stepped ? s->stepped(s->arg) : plx__poll(s->ctx);
}

static plx_status play_all(plx__simulation *s)
{
    PLX_TRY(fit_again(s));
    PLX_TRY(tell(s));
    while (reveal_next(s)) continue;
    s->state.sample = s->state.view = -1;
    PLX_TRY(fit_again(s));
    return tell(s);
}

static plx_status play(plx__simulation *s)
{
    PLX_TRY(replay(s));
    for (;;) {
        bool last = s->state.step >= s->steps || s->left == 0;
        bool fitted = s->state.step % s->every == 0 || last;
        if (fitted) PLX_TRY(fit_again(s));
        count_same(s, s->state.told);
        PLX_TRY(tell(s));
        if (last || (fitted && may_stop(s)) || !reveal_next(s)) return PLX_OK;
    }
}

plx_status plx__simulate_curve(plx__simulation *s)
{
    plx__curve *curve = plx__curve_of(s->curves, s->run, s->strategy);
    if (curve->finished) return PLX_OK;
    PLX_TRY(start(s));
    if (s->decider == PLX__DECIDE_ALL) {
        s->budget = INFINITY;
        PLX_TRY(play_all(s));
    } else PLX_TRY(play(s));
    return plx__curves_end(s->curves, s->ctx, s->run, s->strategy);
}
