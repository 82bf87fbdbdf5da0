/*
 * Curves as objects, as a table, and in figures: means over the acquisitions, differences run by run.
 */
#include "active/curves.h"

#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"

plx_status plx__curves_create(plx_curves **out, plx_context *ctx, plx_index runs, const char *const *strategies,
                              plx_index n_strategies, plx_index room)
{
    const char **names = NULL;
    plx_status st = PLX_OK;
    plx_curves *c = plx__alloc(ctx, sizeof *c);
    *out = NULL;
    if (!c) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *c = (plx_curves){.runs = runs, .n_strategies = n_strategies};
    pthread_mutex_init(&c->lock, NULL);
    plx__arena_init(&c->arena, ctx);
    PLX_GOTO(PLX__ARENA_NEW(&names, &c->arena, n_strategies));
    for (plx_index s = 0; s < n_strategies; s++) PLX_GOTO(plx__arena_text(&names[s], &c->arena, strategies[s]));
    c->strategy = names;
    PLX_GOTO(PLX__ARENA_NEW(&c->curve, &c->arena, runs * n_strategies));
    for (plx_index i = 0; i < runs * n_strategies; i++) {
        PLX_GOTO(PLX__ARENA_NEW(&c->curve[i].point, &c->arena, room));
        c->curve[i].room = room;
    }
    *out = c;
done:
    if (st != PLX_OK) plx__curves_destroy(c);
    return st;
}

void plx__curves_destroy(plx_curves *c)
{
    if (!c) return;
    plx_context *ctx = c->arena.ctx;
    plx__curves_close_part(c);
    pthread_mutex_destroy(&c->lock);
    plx__arena_free(&c->arena);
    plx__release(ctx, c, sizeof *c);
}

/* ---- the table ---- */

static void put_real(FILE *to, double value)
{
    char text[PLX__NUMBER_BYTES];
    fputc(',', to);
    if (isnan(value)) return;
    plx__print_double(text, value);
    fputs(text, to);
}

static void put_point(FILE *to, const plx_curves *c, const plx_dataset *data, const plx__curve_point *p)
{
    if (p->sample < 0) fputs(",,", to);
    else {
        fputc(',', to);
        if (data->ids) plx__write_cell(to, "", data->ids[p->sample]);
        else fprintf(to, "%lld", (long long)p->sample);
        fputc(',', to);
        plx__write_cell(to, "", p->view < 0 ? "label" : data->views[p->view].name);
    }
    put_real(to, p->cost);
    if (c->regression) put_real(to, p->rmse);
    else {
        put_real(to, p->accuracy);
        put_real(to, p->auc);
    }
    put_real(to, p->gain);
    fputc('\n', to);
}

void plx__curves_print(FILE *to, const plx_curves *c, const plx_dataset *data)
{
    fprintf(to, "criterion,run,step,id,view,cost,%s,gain\n", c->regression ? "rmse" : "accuracy,auc");
    for (plx_index r = 0; r < c->runs; r++)
        for (plx_index s = 0; s < c->n_strategies; s++) {
            const plx__curve *curve = plx__curve_of(c, r, s);
            for (plx_index i = 0; i < curve->count; i++) {
                fprintf(to, "%s,%lld,%lld", c->strategy[s], (long long)r, (long long)curve->point[i].step);
                put_point(to, c, data, &curve->point[i]);
            }
        }
}

/* ---- figures ---- */

typedef double (*metric_fn)(const plx__curve_point *p);

static double accuracy_of(const plx__curve_point *p) { return p->accuracy; }
static double auc_of(const plx__curve_point *p) { return p->auc; }
static double rmse_of(const plx__curve_point *p) { return p->rmse; }

/* The one asked for; else rmse, auc where two classes have one, accuracy. */
static metric_fn choose_metric(const plx_curves *c, const char *name)
{
    if (name) return strcmp(name, "accuracy") == 0 ? accuracy_of : strcmp(name, "auc") == 0 ? auc_of : rmse_of;
    if (c->regression) return rmse_of;
    const plx__curve *first = &c->curve[0];
    return c->runs * c->n_strategies > 0 && first->count > 0 && !isnan(first->point[0].auc) ? auc_of : accuracy_of;
}

/* Mean over the acquisitions of a curve. */
static double mean_of(const plx__curve *curve, metric_fn metric)
{
    double sum = 0, count = 0;
    for (plx_index i = 0; i < curve->count; i++) {
        double value = metric(&curve->point[i]);
        if (curve->point[i].step == 0 || isnan(value)) continue;
        sum += value;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

static double last_of(const plx__curve *curve, metric_fn metric)
{
    for (plx_index i = curve->count; i-- > 0;)
        if (!isnan(metric(&curve->point[i]))) return metric(&curve->point[i]);
    return NAN;
}

typedef struct moments {
    double count, sum, squares;
} moments;

static void note(moments *m, double value)
{
    if (isnan(value)) return;
    m->count++;
    m->sum += value;
    m->squares += value * value;
}

static double mean(const moments *m) { return m->count > 0 ? m->sum / m->count : NAN; }

static double standard_error(const moments *m)
{
    if (m->count < 2) return NAN;
    double variance = fmax(m->squares - m->sum * m->sum / m->count, 0.0) / (m->count - 1);
    return sqrt(variance / m->count);
}

/* The first state within 5 % of what all labels and views together give; NaN: not reached, or that is not known. */
static const plx__curve_point *reached(const plx_curves *c, plx_index run, const plx__curve *curve, metric_fn metric)
{
    double goal = NAN;
    for (plx_index s = 0; s < c->n_strategies; s++)
        if (strcmp(c->strategy[s], "all") == 0) goal = last_of(plx__curve_of(c, run, s), metric);
    for (plx_index i = 0; i < curve->count; i++) {
        double value = metric(&curve->point[i]);
        if (metric == rmse_of ? value <= goal / 0.95 : value >= 0.95 * goal) return &curve->point[i];
    }
    return NULL;
}

void plx__curves_summary(plx_curve_summary *out, const plx_curves *c, plx_index strategy, plx_index other,
                         const char *name)
{
    metric_fn metric = choose_metric(c, name);
    moments own = {0}, difference = {0}, first = {0}, last = {0}, steps = {0}, cost = {0};
    for (plx_index r = 0; r < c->runs; r++) {
        const plx__curve *curve = plx__curve_of(c, r, strategy);
        const plx__curve_point *goal = reached(c, r, curve, metric);
        note(&own, mean_of(curve, metric));
        if (other != strategy) note(&difference, mean_of(curve, metric) - mean_of(plx__curve_of(c, r, other), metric));
        if (curve->count) note(&first, metric(&curve->point[0]));
        note(&last, last_of(curve, metric));
        note(&steps, goal ? (double)goal->step : NAN);
        note(&cost, goal ? goal->cost : NAN);
    }
    *out = (plx_curve_summary){.struct_size = sizeof *out,
                               .metric = metric == rmse_of  ? "rmse"
                                         : metric == auc_of ? "auc"
                                                            : "accuracy",
                               .runs = (plx_index)own.count,
                               .mean = mean(&own),
                               .error = standard_error(&own),
                               .difference = mean(&difference),
                               .difference_error = standard_error(&difference),
                               .first = mean(&first),
                               .last = mean(&last),
                               .reached = (plx_index)steps.count,
                               .steps_to_reach = mean(&steps),
                               .cost_to_reach = mean(&cost)};
}
