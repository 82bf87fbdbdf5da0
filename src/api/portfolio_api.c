/*
 * plx_portfolio_fit and what it gives.
 */
#include <math.h>

#include "api/api_args.h"
#include "api/portfolio_impl.h"
#include "eval/metrics_store.h"

plx_status plx_portfolio_fit(plx_portfolio **out, plx_context *ctx, const plx_dataset *data, const char *directory)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__portfolio_fit(out, ctx, data, directory), PLX__ARG(out), PLX__ARG(data));
}

plx_status plx_portfolio_predict(plx_prediction **out, plx_context *ctx, const plx_portfolio *portfolio,
                                 const plx_dataset *data)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__portfolio_predict(out, ctx, portfolio, data), PLX__ARG(out), PLX__ARG(portfolio),
              PLX__ARG(data));
}

void plx_portfolio_destroy(plx_portfolio *portfolio) { plx__portfolio_destroy(portfolio); }

static plx_status metrics_of(plx_metrics **out, plx_context *ctx, const plx_portfolio *p, const plx_dataset *data)
{
    plx_metrics *metrics = NULL;
    PLX_TRY(plx__metrics_new(&metrics, ctx));
    plx_status st = plx__portfolio_measure(metrics, ctx, p->fitted, p->seen, data);
    if (st == PLX_OK) *out = metrics;
    else plx__metrics_destroy(metrics);
    return st;
}

plx_status plx_portfolio_metrics(plx_metrics **out, plx_context *ctx, const plx_portfolio *portfolio,
                                 const plx_dataset *data)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, metrics_of(out, ctx, portfolio, data), PLX__ARG(out), PLX__ARG(portfolio), PLX__ARG(data));
}

static const plx__member *member_at(const plx_portfolio *p, plx_index i)
{
    return p && i >= 0 && i < p->n_members ? &p->member[i] : NULL;
}

const plx_prediction *plx_portfolio_prediction(const plx_portfolio *p) { return p ? p->fitted : NULL; }
const char *plx_portfolio_reason(const plx_portfolio *p) { return p ? p->reason : NULL; }
plx_index plx_portfolio_members(const plx_portfolio *p) { return p ? p->n_members : 0; }

const char *plx_portfolio_method(const plx_portfolio *p, plx_index i)
{
    const plx__member *m = member_at(p, i);
    return m ? m->method->name : NULL;
}

const plx_model *plx_portfolio_model(const plx_portfolio *p, plx_index i)
{
    const plx__member *m = member_at(p, i);
    return m ? m->model : NULL;
}

const char *plx_portfolio_left_out(const plx_portfolio *p, plx_index i)
{
    const plx__member *m = member_at(p, i);
    return m ? m->reason : NULL;
}

double plx_portfolio_agreement(const plx_portfolio *p, plx_index i)
{
    const plx__member *m = member_at(p, i);
    return m ? m->agreement : NAN;
}
