/*
 * What the tests of metrics share: a list of metrics in a fresh context for every test, and its values by name.
 */
#ifndef PLX_METRICS_HELPERS_H
#define PLX_METRICS_HELPERS_H

#include "plx_test.h"

#include "parallax/metrics.h"

static plx_context *ctx;
static plx_metrics *m;

static int fresh(void **state)
{
    (void)state;
    ctx = test_context(2);
    assert_ok(ctx, plx_metrics_create(&m, ctx));
    return 0;
}

static int gone(void **state)
{
    (void)state;
    plx_metrics_destroy(m);
    plx_context_destroy(ctx);
    return 0;
}

static inline double value_or_nan(const char *name)
{
    int defined = 0;
    plx_index i = plx_metrics_find(m, name);
    if (i < 0) fail_msg("no metric %s", name);
    double v = plx_metrics_value(m, i, &defined);
    return defined ? v : NAN;
}

static inline bool is_null(const char *name) { return isnan(value_or_nan(name)); }

static inline double value_of(const char *name)
{
    if (is_null(name)) fail_msg("metric %s is undefined", name);
    return value_or_nan(name);
}

#endif
