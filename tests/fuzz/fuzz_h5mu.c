/*
 * A whole file, through the disk: HDF5 wants a path it can resolve. Every refusal must come with a message, and no
 * handle may stay open.
 */
#include <hdf5.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/ctx.h"
#include "io/h5mu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plx_context_options o = {
        .struct_size = sizeof o, .threads = 1, .deterministic = 1, .memory_limit = 1 << 28, .arena_block = 1};
    plx_context *ctx = NULL;
    plx_dataset *d = NULL;
    char path[] = "/tmp/plx_fuzz_XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || plx_context_create(&ctx, &o) != PLX_OK) abort();
    close(fd);
    if (plx__h5mu_read(&d, ctx, path, NULL) != PLX_OK && !plx_context_error(ctx)[0]) abort();
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0) abort();
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    unlink(path);
    return 0;
}
