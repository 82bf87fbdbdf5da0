/*
 * The memory a method states before it begins is a promise: what the fit takes is no more than that, and no less than a
 * quarter of it, or people with enough memory would be turned away.
 */
#include <stdio.h>
#include <string.h>

#include "contract.h"

/* What no estimate lists: the header of every block (96 bytes where each request is a block of its own, as here; there
 * are some hundred), names, flags and class lists. It does not grow with the problem. */
enum { SMALL_CHANGE = 64 << 10 };

/* Long and wide, dense and sparse, alone and with helpers. */
static const struct {
    const char *name;
    plx_index n, widen;
    bool sparse;
    int threads;
} sizes[] = {{"long", 400, 1, false, 1}, {"wide", 90, 16, true, 3}};

static void memory_used(plx__memory_use *out, trial *t, plx_index n, plx_index widen, bool sparse, int threads)
{
    raw *r = raw_make_wide(t, n, 3, 7, widen);
    plx_context *ctx = plain_context(threads);
    for (plx_index v = 0; v < r->n_views; v++) r->view[v].sparse = sparse;
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_model *m = must_fit(t, ctx, data);
    *out = m ? m->memory : (plx__memory_use){0};
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

static void memory_estimate(trial *t)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        plx__memory_use use;
        memory_used(&use, t, sizes[i].n, sizes[i].widen, sizes[i].sparse, sizes[i].threads);
        double taken = (double)use.taken;
        bool low = taken > use.stated + SMALL_CHANGE, high = use.stated > 4 * taken + SMALL_CHANGE;
        CHECK(t, !low && !high, "%s data: states %.0f KiB and takes %.0f KiB (%.2f times)", sizes[i].name,
              use.stated / 1024, taken / 1024, use.stated / taken);
    }
}

const check memory_checks[] = {{"memory-estimate", memory_estimate}, {NULL, NULL}};
