/*
 * plx_tune and what it gives.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/tune_impl.h"
#include "methods/registry.h"

static plx_status tune(plx_tuning **out, plx_context *ctx, const char *name, const plx_dataset *data,
                       const plx_params *params, const plx_tune_options *options)
{
    plx_tune_options o = PLX_TUNE_OPTIONS_INIT;
    const plx__method *method = NULL;
    PLX_TRY(plx__take_options(&o, sizeof o, ctx, options, "PLX_TUNE_OPTIONS_INIT"));
    PLX_TRY(plx__method_require(&method, ctx, name));
    return plx__tune(out, ctx, method, data, params, &o);
}

plx_status plx_tune(plx_tuning **out, plx_context *ctx, const char *method, const plx_dataset *data,
                    const plx_params *params, const plx_tune_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, tune(out, ctx, method, data, params, options), PLX__ARG(out), PLX__ARG(method), PLX__WHOLE(data));
}

void plx_tuning_destroy(plx_tuning *tuning) { plx__tuning_destroy(tuning); }

plx_index plx_tuning_count(const plx_tuning *t) { return t ? t->candidates.count : 0; }
plx_index plx_tuning_chosen(const plx_tuning *t) { return t ? t->chosen : -1; }
plx_index plx_tuning_resumed(const plx_tuning *t) { return t ? t->resumed : 0; }
const char *plx_tuning_verdict(const plx_tuning *t) { return t ? t->verdict : NULL; }
const plx_params *plx_tuning_params(const plx_tuning *t) { return t ? t->params : NULL; }

plx_status plx_tuning_get(plx_candidate *out, const plx_tuning *t, plx_index i)
{
    if (!out || out->struct_size < sizeof out->struct_size || out->struct_size > sizeof *out || !t || i < 0 ||
        i >= t->candidates.count)
        return PLX_E_ARG;
    const plx__tried *x = &t->tried[i];
    plx_candidate full = {.struct_size = out->struct_size,
                          .settings = t->candidates.settings[i],
                          .runs = x->runs,
                          .mean = x->mean,
                          .sd = x->sd,
                          .difference = x->difference,
                          .difference_error = x->error,
                          .finalist = x->finalist,
                          .reason = x->reason};
    memcpy(out, &full, out->struct_size);
    return PLX_OK;
}
