/*
 * Where the time of a session goes, told with the diagnostics: every operation is waited for then.
 */
#include <string.h>

#include "core/ctx.h"
#include "device/device_impl.h"

void plx__device_times_start(plx__device *dev)
{
    plx__device_times *t = &dev->times;
    t->on = dev->ctx->log_level >= PLX_LOG_DEBUG;
    if (!t->on) return;
    t->count = 0;
    t->elsewhere = 0;
    t->mark = plx__now();
}

void plx__device_times_begin(plx__device *dev)
{
    plx__device_times *t = &dev->times;
    if (!t->on) return;
    double time = plx__now();
    t->elsewhere += time - t->mark;
    t->mark = time;
}

/* The last entry takes what finds no place of its own. */
static plx__device_time *entry_of(plx__device_times *t, const char *operation)
{
    int i = 0;
    while (i < t->count && strcmp(t->entry[i].operation, operation) != 0) i++;
    if (i == PLX__DEVICE_TIMED) return &t->entry[i - 1];
    if (i == t->count) t->entry[t->count++] = (plx__device_time){.operation = operation};
    return &t->entry[i];
}

void plx__device_times_end(plx__device *dev, const char *operation)
{
    plx__device_times *t = &dev->times;
    if (!t->on) return;
    (void)dev->at.table->sync(dev->at.opened); /* what failed is told by the operation that needs it */
    plx__device_time *e = entry_of(t, operation);
    double time = plx__now();
    e->calls++;
    e->seconds += time - t->mark;
    t->mark = time;
}

void plx__device_times_tell(plx__device *dev, const char *what)
{
    plx__device_times *t = &dev->times;
    if (!t->on) return;
    t->elsewhere += plx__now() - t->mark;
    for (int i = 0; i < t->count; i++)
        plx__debug(dev->ctx, "device   %s: %-14s %6lld calls %9.3f s", what, t->entry[i].operation,
                   (long long)t->entry[i].calls, t->entry[i].seconds);
    plx__debug(dev->ctx, "device   %s: %-14s %6s       %9.3f s", what, "on the CPU", "", t->elsewhere);
    t->on = false;
}
