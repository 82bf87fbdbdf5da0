/*
 * Distances to the newest centre lower a running minimum per sample and channel, in chunks whose sums are
 * added in a fixed order: the draw is the same for any number of threads.
 */
#include "cluster/kmeanspp.h"

#include <math.h>

#include "core/parallel.h"

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
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
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
    return plx__parallel_for(ctx, s->n, SAMPLES_AT_A_TIME, take_chunk, s);
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
