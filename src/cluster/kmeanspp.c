/*
 * Distances to the newest centre lower a running minimum per sample and channel, in chunks whose sums are
 * added in a fixed order: the draw is the same for any number of threads.
 */
#include "cluster/kmeanspp.h"

#include <math.h>

#include "core/parallel.h"
#include "data/divided.h"

enum { SAMPLES_AT_A_TIME = 256 };

plx_status plx__kmeanspp_open(plx__kmeanspp *s, plx_context *ctx)
{
    PLX_TRY(plx__arena_f64(&s->near, plx__scratch(ctx), s->n_channels, s->n));
    PLX_TRY(plx__arena_f64(&s->weight, plx__scratch(ctx), s->n, 1));
    for (plx_index i = 0; i < s->n_channels * s->n; i++) s->near[i] = NAN;
    return PLX_OK;
}

static plx_status take_chunk(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__kmeanspp *s = arg;
    plx_index first = s->divided ? plx__held_begin(s->divided) : 0;
    (void)ctx, (void)worker;
    for (plx_index i = first + begin; i < first + end; i++) {
        double sum = 0, count = 0;
        for (plx_index c = 0; c < s->n_channels; c++) {
            double *near = &s->near[c * s->n + i];
            if (!s->present(s->arg, c, i)) continue;
            *near = fmin(*near, s->distance(s->arg, c, i));
            sum += fmax(0, *near);
            count++;
        }
        s->weight[i] = count > 0 ? sum / count : 0;
    }
    return PLX_OK;
}

plx_status plx__kmeanspp_take(plx__kmeanspp *s, plx_context *ctx)
{
    const plx__view *v = s->divided;
    plx_index rows = v ? plx__held_end(v, s->n) - plx__held_begin(v) : s->n;
    PLX_TRY(plx__parallel_for(ctx, rows, SAMPLES_AT_A_TIME, take_chunk, s));
    return v ? plx__held_share(ctx, v, s->weight, sizeof *s->weight) : PLX_OK;
}

static bool usable(const plx__kmeanspp *s, plx_index i)
{
    for (plx_index c = 0; c < s->n_channels; c++)
        if (s->present(s->arg, c, i)) return true;
    return false;
}

plx_index plx__kmeanspp_draw(plx__kmeanspp *s, plx__rng *rng)
{
    if (!(plx__sum(s->weight, s->n) > 0))
        for (plx_index i = 0; i < s->n; i++) s->weight[i] = usable(s, i);
    return plx__next_weighted(rng, s->weight, s->n);
}
