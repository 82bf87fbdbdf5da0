/*
 * Reading and writing of learning curves.
 */
#include <string.h>
#include <unistd.h>

#include "active/curves.h"
#include "api/api_args.h"
#include "core/file.h"

void plx_curves_destroy(plx_curves *curves) { plx__curves_destroy(curves); }

static plx_index curve_count(const plx_curves *c) { return c ? c->runs * c->n_strategies : 0; }

plx_index plx_curves_count(const plx_curves *c)
{
    plx_index count = 0;
    for (plx_index k = 0; k < curve_count(c); k++) count += c->curve[k].count;
    return count;
}

plx_index plx_curves_resumed(const plx_curves *c)
{
    plx_index count = 0;
    for (plx_index k = 0; k < curve_count(c); k++) count += c->curve[k].taken_up;
    return count;
}

const char *plx_curves_strategy(const plx_curves *c, plx_index i)
{
    return c && i >= 0 && i < c->n_strategies ? c->strategy[i] : NULL;
}

plx_status plx_curves_get(plx_simulated *out, const plx_curves *c, plx_index i)
{
    plx_index k = 0;
    if (!out || !c || out->struct_size != sizeof *out || i < 0) return PLX_E_ARG;
    while (k < curve_count(c) && i >= c->curve[k].count) i -= c->curve[k++].count;
    if (k == curve_count(c)) return PLX_E_ARG;
    const plx__curve_point *p = &c->curve[k].point[i];
    *out = (plx_simulated){sizeof *out,
                           k / c->n_strategies,
                           k % c->n_strategies,
                           p->step,
                           p->sample,
                           p->view,
                           p->cost,
                           p->gain,
                           p->accuracy,
                           p->auc,
                           p->rmse};
    return PLX_OK;
}

plx_status plx_curves_summary(plx_curve_summary *out, const plx_curves *c, plx_index strategy, plx_index other,
                              const char *metric)
{
    if (!out || !c || out->struct_size != sizeof *out || strategy < 0 || strategy >= c->n_strategies || other < 0 ||
        other >= c->n_strategies)
        return PLX_E_ARG;
    if (metric && strcmp(metric, "accuracy") != 0 && strcmp(metric, "auc") != 0 && strcmp(metric, "rmse") != 0)
        return PLX_E_ARG;
    plx__curves_summary(out, c, strategy, other, metric);
    return PLX_OK;
}

static plx_status write_curves(plx_context *ctx, const plx_curves *c, const plx_dataset *data, const char *path)
{
    plx__outfile out;
    for (plx_index k = 0; k < curve_count(c); k++)
        for (plx_index i = 0; i < c->curve[k].count; i++)
            if (c->curve[k].point[i].sample >= data->n || c->curve[k].point[i].view >= data->n_views)
                PLX_FAIL(ctx, PLX_E_ARG, "the data set is not the one that was simulated");
    PLX_TRY(plx__outfile_open(&out, ctx, path));
    plx__curves_print(out.file, c, data);
    PLX_TRY(plx__outfile_commit(&out, ctx));
    if (c->part) unlink(c->part);
    return PLX_OK;
}

plx_status plx_curves_write(plx_context *ctx, const plx_curves *curves, const plx_dataset *data, const char *path)
{
    PLX__CALL(ctx, write_curves(ctx, curves, data, path), PLX__ARG(curves), PLX__ARG(data), PLX__ARG(path));
}
