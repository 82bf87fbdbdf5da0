/*
 * check_table LIBRARY [small] [PATTERN]: the self-test of the device in a shared object.
 */
#include <dlfcn.h>

#include "check.h"

int main(int argc, char **argv)
{
    bool small = argc > 2 && strcmp(argv[2], "small") == 0;
    const char *pattern = argc > 2 + small ? argv[2 + small] : NULL;
    plx_device_entry_fn entry = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: check_table LIBRARY [small] [PATTERN]\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    void *symbol = dlsym(library, PLX_DEVICE_ENTRY);
    memcpy(&entry, &symbol, sizeof symbol);
    symbol = dlsym(library, "plx_emulated_peak");
    memcpy(&device_peak, &symbol, sizeof symbol);
    const plx_device_table *table = entry ? entry(PLX_DEVICE_ABI) : NULL;
    if (!table) {
        fprintf(stderr, "%s is no device of interface %u\n", argv[1], PLX_DEVICE_ABI);
        return 2;
    }
    return check_device(table, 0, small, pattern) == 0 ? 0 : 1;
}
