/*
 * Simulation of missing views. Draws are functions of (seed, view or group, sample).
 */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "data/split_impl.h"

static const char *const PATTERN_NAMES[] = {"mcar", "exclusive", "block"};
enum { N_PATTERNS = 3, DEFAULT_BLOCKS = 10 };

const char *plx__missing_pattern_name(plx_missing_pattern pattern)
{
    return (int)pattern >= 0 && (int)pattern < N_PATTERNS ? PATTERN_NAMES[pattern] : NULL;
}

plx_status plx__missing_pattern_parse(plx_missing_pattern *out, const char *name)
{
    for (int p = 0; p < N_PATTERNS; p++)
        if (strcmp(name, PATTERN_NAMES[p]) == 0) {
            *out = (plx_missing_pattern)p;
            return PLX_OK;
        }
    return PLX_E_ARG;
}

typedef struct job {
    const plx_missing_options *o;
    plx_index n, views, groups;
    const uint8_t *const *base;
    uint8_t *present;       /* views x n */
    const double *rate;     /* per view */
    const double *survival; /* 1 - rate */
    const double *weight;   /* NULL: equal */
    double *odds;           /* scratch, views */
    int32_t *group;         /* n, when there are groups */
    uint64_t seed;
    char purpose;
} job;

static uint64_t stream(const job *j, char a, char b, plx_index index)
{
    return PLX__STREAM(j->purpose, 'm', a, b, index);
}

static bool has(const job *j, plx_index v, plx_index i) { return !j->base || !j->base[v] || j->base[v][i]; }

/* One of the views sample i has, with the given odds; where these are all 0, any of them. -1: it has none. */
static plx_index one_view(const job *j, plx_index i, const double *odds, uint64_t draw)
{
    plx__rng r = {j->seed, draw, (uint64_t)(j->group ? j->group[i] : i)}; /* a group decides alike */
    double sum = 0;
    bool any = false;
    for (plx_index v = 0; v < j->views; v++) {
        j->odds[v] = !has(j, v, i) ? 0 : odds ? odds[v] : 1;
        any |= has(j, v, i);
        sum += j->odds[v];
    }
    if (!any) return -1;
    for (plx_index v = 0; sum == 0 && v < j->views; v++) j->odds[v] = has(j, v, i);
    return plx__next_weighted(&r, j->odds, j->views);
}

/* Give a sample that lost everything one of its views back, with odds 1 - rate. */
static void keep_one(const job *j, plx_index i)
{
    for (plx_index v = 0; v < j->views; v++)
        if (j->present[v * j->n + i]) return;
    plx_index v = one_view(j, i, j->survival, stream(j, 'k', 'p', 0));
    if (v >= 0) j->present[v * j->n + i] = 1;
}

static void draw_mcar(const job *j)
{
    for (plx_index v = 0; v < j->views; v++)
        for (plx_index i = 0; i < j->n; i++) {
            double u = plx__rng_uniform(j->seed, stream(j, 'c', 'r', v), (uint64_t)i);
            j->present[v * j->n + i] = has(j, v, i) && u >= j->rate[v];
        }
}

/* View v goes from round(rate B) groups: the ones first in a random order of its own. */
static plx_status draw_blocks(const job *j, plx_context *ctx)
{
    plx_index *order = NULL;
    uint8_t *gone = NULL;
    PLX_TRY(plx__arena_i64(&order, plx__scratch(ctx), j->groups));
    PLX_TRY(plx__arena_u8(&gone, plx__scratch(ctx), j->groups));
    for (plx_index v = 0; v < j->views; v++) {
        plx__rng r = plx__rng_start(j->seed, stream(j, 'b', 'k', v));
        memset(gone, 0, (size_t)j->groups);
        plx__permutation(&r, order, j->groups);
        plx_index count = (plx_index)floor(j->rate[v] * (double)j->groups + 0.5);
        for (plx_index k = 0; k < count; k++) gone[order[k]] = 1;
        for (plx_index i = 0; i < j->n; i++) j->present[v * j->n + i] = has(j, v, i) && !gone[j->group[i]];
    }
    return PLX_OK;
}

static void keep_only(const job *j, plx_index i, plx_index kept)
{
    for (plx_index v = 0; v < j->views; v++) j->present[v * j->n + i] = v == kept && has(j, v, i);
}

static void keep_all(const job *j, plx_index i)
{
    for (plx_index v = 0; v < j->views; v++) j->present[v * j->n + i] = has(j, v, i);
}

static void draw_exclusive(const job *j)
{
    for (plx_index i = 0; i < j->n; i++) {
        double u = plx__rng_uniform(j->seed, stream(j, 'e', 'c', 0), (uint64_t)i);
        if (u < j->o->complete) keep_all(j, i);
        else keep_only(j, i, one_view(j, i, j->weight, stream(j, 'e', 'v', 0)));
    }
}

/* Which view a group keeps, -1 = all: the unit interval is cut into `complete` and the views' shares, and group g
 * of B takes the piece its middle (g + 1/2)/B lies in. */
static plx_index view_of_group(const job *j, plx_index g)
{
    double total = 0, at = ((double)g + 0.5) / (double)j->groups, edge = 0;
    plx_index last = 0;
    for (plx_index v = 0; v < j->views; v++) total += j->weight ? j->weight[v] : 1.0;
    for (plx_index v = 0; v < j->views; v++) {
        double share = (1.0 - j->o->complete) * (j->weight ? j->weight[v] : 1.0) / total;
        if (share > 0) last = v;
        edge += share;
        if (at < edge) return v;
    }
    return j->o->complete > 0 ? -1 : last; /* rounding of the edges */
}

static void draw_exclusive_blocks(const job *j)
{
    for (plx_index i = 0; i < j->n; i++) {
        plx_index v = view_of_group(j, j->group[i]);
        if (v < 0) keep_all(j, i);
        else keep_only(j, i, v);
    }
}

/* ---- checks ---- */

static bool in_unit(double x) { return x >= 0 && x <= 1; }

static plx_status check_rates(plx_context *ctx, const plx_missing_options *o, plx_index views)
{
    if (!in_unit(o->rate)) PLX_FAIL(ctx, PLX_E_ARG, "missing rate = %g: must be in [0, 1]", o->rate);
    if (!in_unit(o->complete)) PLX_FAIL(ctx, PLX_E_ARG, "complete = %g: must be in [0, 1]", o->complete);
    for (plx_index v = 0; o->view_rates && v < views; v++)
        if (!in_unit(o->view_rates[v]))
            PLX_FAIL(ctx, PLX_E_ARG, "missing rate of view %lld = %g: must be in [0, 1]", (long long)v,
                     o->view_rates[v]);
    double sum = 0;
    for (plx_index v = 0; o->view_weights && v < views; v++) {
        if (!(o->view_weights[v] >= 0 && isfinite(o->view_weights[v])))
            PLX_FAIL(ctx, PLX_E_ARG, "weight of view %lld = %g: must be >= 0", (long long)v, o->view_weights[v]);
        sum += o->view_weights[v];
    }
    if (o->view_weights && !(sum > 0)) PLX_FAIL(ctx, PLX_E_ARG, "view_weights are all 0; at least one must be > 0");
    return PLX_OK;
}

static plx_status check_options(plx_missing_options *o, plx_context *ctx, const plx_missing_options *given, plx_index n,
                                plx_index views)
{
    *o = (plx_missing_options)PLX_MISSING_OPTIONS_INIT;
    if (!given) return PLX_OK;
    PLX_TRY(plx__take_options(o, sizeof *o, ctx, given, "PLX_MISSING_OPTIONS_INIT"));
    if (!plx__missing_pattern_name(o->pattern))
        PLX_FAIL(ctx, PLX_E_ARG, "missing pattern %d does not exist", (int)o->pattern);
    if (o->blocks < 0 || o->blocks > n)
        PLX_FAIL(ctx, PLX_E_ARG, "blocks = %lld: must be in [0, %lld], the number of samples", (long long)o->blocks,
                 (long long)n);
    return check_rates(ctx, o, views);
}

static plx_status prepare(job *j, plx_context *ctx, const plx_missing_options *o)
{
    plx__arena *scratch = plx__scratch(ctx);
    double *rate = NULL, *survival = NULL;
    PLX_TRY(plx__arena_f64(&j->odds, scratch, 1, j->views));
    PLX_TRY(plx__arena_f64(&rate, scratch, 1, j->views));
    PLX_TRY(plx__arena_f64(&survival, scratch, 1, j->views));
    for (plx_index v = 0; v < j->views; v++) {
        rate[v] = o->view_rates ? o->view_rates[v] : o->rate;
        survival[v] = 1.0 - rate[v];
    }
    j->rate = rate;
    j->survival = survival;
    j->groups = o->pattern == PLX_MISSING_BLOCK && o->blocks == 0 ? plx__min(DEFAULT_BLOCKS, j->n) : o->blocks;
    if (j->groups == 0 || o->pattern == PLX_MISSING_MCAR) return PLX_OK;
    PLX_TRY(plx__arena_i32(&j->group, scratch, j->n));
    return plx__split_groups(j->group, ctx, j->n, j->groups, o->contiguous != 0, stream(j, 'g', 'p', 0));
}

plx_status plx__missing_draw(uint8_t *present, plx_context *ctx, plx_index n, plx_index views,
                             const uint8_t *const *base, const plx_missing_options *options, char purpose)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_missing_options o;
    PLX_TRY(check_options(&o, ctx, options, n, views));
    job j = {.o = &o,
             .n = n,
             .views = views,
             .base = base,
             .present = present,
             .weight = o.view_weights,
             .seed = ctx->seed,
             .purpose = purpose};
    PLX_TRY(prepare(&j, ctx, &o));
    if (o.pattern == PLX_MISSING_MCAR) draw_mcar(&j);
    else if (o.pattern == PLX_MISSING_BLOCK) PLX_TRY(draw_blocks(&j, ctx));
    else if (j.groups) draw_exclusive_blocks(&j);
    else draw_exclusive(&j);
    for (plx_index i = 0; o.keep_one && i < n; i++) keep_one(&j, i);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__missing_simulate(uint8_t *present, plx_context *ctx, const plx_dataset *data,
                                 const plx_missing_options *options)
{
    const uint8_t **base = NULL;
    PLX_TRY(plx__arena_ptrs((void ***)&base, plx__scratch(ctx), data->n_views));
    for (plx_index v = 0; v < data->n_views; v++) base[v] = data->views[v].present;
    return plx__missing_draw(present, ctx, data->n, data->n_views, base, options, 'd');
}
