/*
 * Which device the tests of the table are about: the host device, or the one that $PLX_TEST_DEVICE names (`cuda`), found
 * like any other. Tests of what only the host device can do are left out then.
 */
#ifndef PLX_TESTS_DEVICE_HELPERS_H
#define PLX_TESTS_DEVICE_HELPERS_H

#include "device/device_impl.h"
#include "device/host_device.h"
#include "plx_test.h"

static inline const char *tested_device(void)
{
    const char *name = getenv("PLX_TEST_DEVICE");
    return name && *name ? name : "host";
}

static inline bool tests_the_host(void) { return strcmp(tested_device(), "host") == 0; }

static inline const plx_device_table *tested_table(void)
{
    static plx_device_table found;
    char why[768];
    if (tests_the_host()) return &plx__host_device_table;
    if (!plx__device_find(&found, tested_device(), why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    return &found;
}

#endif
