/*
 * What the tests of acquisition share: rankings with "key=value" settings.
 */
#ifndef PLX_TESTS_ACQUIRE_HELPERS_H
#define PLX_TESTS_ACQUIRE_HELPERS_H

#include "api/acquire_impl.h"
#include "gp_helpers.h"

static inline plx_params *settings_to_acquire(plx_context *ctx, const char *method, const char *const *settings)
{
    plx_params *p = NULL;
    assert_ok(ctx, plx_acquire_params_create(&p, ctx, method));
    for (; settings && *settings; settings++) {
        char key[64];
        const char *equals = strchr(*settings, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *settings), *settings);
        assert_ok(ctx, plx_params_set(p, ctx, key, equals + 1));
    }
    return p;
}

static inline plx_params *acquire_settings(plx_context *ctx, const char *const *settings)
{
    return settings_to_acquire(ctx, "bct", settings);
}

/* Any kind with any method. */
static inline plx_status try_acquire_with(plx_acquisition **out, plx_context *ctx, plx_acquire_kind kind,
                                          const char *method, const plx_dataset *d, const char *const *settings)
{
    plx_params *p = settings_to_acquire(ctx, method, settings);
    plx_status st = plx_acquire(out, ctx, kind, method, d, p, NULL);
    plx_params_destroy(p);
    return st;
}

static inline plx_status try_acquire(plx_acquisition **out, plx_context *ctx, const plx_dataset *d,
                                     const char *const *settings, const char *const *arrays, const char *directory)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = acquire_settings(ctx, settings);
    o.directory = directory;
    o.arrays = arrays;
    while (arrays && arrays[o.n_arrays]) o.n_arrays++;
    plx_status st = plx_acquire(out, ctx, PLX_ACQUIRE_FEATURES, "bct", d, p, &o);
    plx_params_destroy(p);
    return st;
}

static inline plx_acquisition *acquire(plx_context *ctx, const plx_dataset *d, const char *const *settings,
                                       const char *const *arrays)
{
    plx_acquisition *a = NULL;
    assert_ok(ctx, try_acquire(&a, ctx, d, settings, arrays, NULL));
    return a;
}

#endif
