/*
 * Contexts, settings and fits the checks share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contract.h"
#include "contract_extra.h"

double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- contexts ---- */

static plx_context *make_context(const plx_context_options *o)
{
    plx_context *ctx = NULL;
    if (plx_context_create(&ctx, o) != PLX_OK) abort();
    return ctx;
}

static plx_context *context_of(int threads, double seconds)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    o.seed = 11;
    o.arena_block = 1; /* a block per request: sanitizers see overruns between neighbours */
    o.time_limit = seconds;
    return make_context(&o);
}

plx_context *plain_context(int threads) { return context_of(threads, 20); }

plx_context *patient_context(int threads) { return context_of(threads, 0); }

plx_context *streaming_context(int threads)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    o.seed = 11;
    plx_context *ctx = make_context(&o);
    if (plx_context_set_stream(ctx, NULL) != PLX_OK) abort();
    return ctx;
}

plx_context *limited_context(int64_t memory, double seconds)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = 1;
    o.seed = 11;
    o.memory_limit = memory;
    o.arena_block = 1;
    o.time_limit = seconds;
    return make_context(&o);
}

static void *meter_alloc(size_t bytes, void *payload)
{
    meter *m = payload;
    if (++m->calls == m->fail_at) return NULL;
    void *p = malloc(bytes);
    if (p) m->live++;
    return p;
}

static void meter_release(void *block, void *payload)
{
    if (block) ((meter *)payload)->live--;
    free(block);
}

plx_context *metered(meter *m, int threads)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    o.seed = 11;
    o.arena_block = 1;
    o.allocator = (plx_allocator){meter_alloc, meter_release, m};
    return make_context(&o);
}

/* ---- the method ---- */

bool is_clusterer(const trial *t) { return t->about->task == PLX_TASK_CLUSTER; }
bool can(const trial *t, unsigned capability) { return (t->about->capabilities & capability) != 0; }

/* Clusterers that can do without are tried without. */
bool needs_labels(const trial *t) { return t->about->min_classes > 0 || !is_clusterer(t); }

static plx_status set_extra(plx_params *p, plx_context *ctx, const char *setting)
{
    char key[64];
    const char *equals = strchr(setting, '=');
    snprintf(key, sizeof key, "%.*s", (int)(equals - setting), setting);
    return plx_params_set(p, ctx, key, equals + 1);
}

static plx_status set_all(const trial *t, plx_params *p, plx_context *ctx, plx_index clusters)
{
    const plx__param_spec *spec = plx__param_find(t->about->params, "clusters");
    if (is_clusterer(t) && spec && !needs_labels(t)) /* as few as the method takes */
        PLX_TRY(plx_params_set_int(p, ctx, "clusters", plx__max(clusters, (plx_index)spec->lo)));
    for (int s = 0; t->variant >= 0 && s < 8 && EXTRA_SETTINGS[t->variant].settings[s]; s++)
        PLX_TRY(set_extra(p, ctx, EXTRA_SETTINGS[t->variant].settings[s]));
    return PLX_OK;
}

plx_params *base_params(trial *t, plx_context *ctx, plx_index clusters)
{
    plx_params *p = NULL;
    plx_status st = plx_params_create(&p, ctx, t->method);
    if (st == PLX_OK) st = set_all(t, p, ctx, clusters);
    if (st == PLX_OK) return p;
    CHECK(t, st == PLX_E_NOMEM, "settings of the variant: %s", plx_context_error(ctx));
    plx_params_destroy(p);
    return NULL;
}

plx_status try_fit(trial *t, plx_model **out, plx_context *ctx, const plx_dataset *data, const plx_params *params)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *own = params ? NULL : base_params(t, ctx, 3);
    o.directory = t->directory;
    *out = NULL;
    if (!params && !own) return PLX_E_NOMEM;
    plx_status st = plx_fit(out, ctx, t->method, data, params ? params : own, &o);
    plx_params_destroy(own);
    if ((st == PLX_OK) != (*out != NULL))
        complain(t, "status %s but the model is %s", plx_status_name(st), *out ? "there" : "NULL");
    return st;
}

plx_model *must_fit(trial *t, plx_context *ctx, const plx_dataset *data)
{
    plx_model *m = NULL;
    plx_status st = try_fit(t, &m, ctx, data, NULL);
    CHECK(t, st == PLX_OK, "fit fails: %s: %s", plx_status_name(st), plx_context_error(ctx));
    return m;
}

/* ---- outcomes ---- */

bool clean_refusal(plx_status st, const plx_context *ctx)
{
    const char *text = plx_context_error(ctx);
    bool known =
        st == PLX_E_ARG || st == PLX_E_DATA || st == PLX_E_NUMERIC || st == PLX_E_UNSUPPORTED || st == PLX_E_NOMEM;
    return known && text[0] && strncmp(text, "PLX_E_", 6) != 0 && !strchr(text, '\n');
}

void check_outcome(trial *t, plx_status st, const plx_context *ctx, plx_model *model, const char *what)
{
    char where[128] = "";
    if (st != PLX_OK) {
        CHECK(t, clean_refusal(st, ctx), "%s: %s with the message '%s'", what, plx_status_name(st),
              plx_context_error(ctx));
    } else {
        picture *p = picture_model(model);
        CHECK(t, picture_finite(p, where, sizeof where), "%s: not finite: %s", what, where);
        picture_free(p);
    }
    plx_model_destroy(model);
}
