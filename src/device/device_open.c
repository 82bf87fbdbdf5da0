/*
 * Finding a device: a shared object in one of the directories of $PARALLAX_DEVICE_PATH, beside the library, or where the
 * system looks. It is never unloaded: libraries behind it keep threads and handlers that would be left without code.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device_impl.h"

/* The functions every device has. */
static bool is_complete(const plx_device_table *t)
{
    return t->struct_size >= sizeof *t && t->kind && t->open && t->close && t->error && t->facts && t->memory_free &&
           t->workspace && t->sync && t->alloc && t->release && t->write_bytes && t->read_bytes && t->write &&
           t->read && t->copy && t->fill && t->gemm && t->syrk && t->potrf && t->potrs && t->potri && t->trsm &&
           t->sym_eigen && t->triangle && t->combine && t->diagonal && t->row_norms_sq && t->gather && t->scatter_add &&
           t->kernel && t->kernel_of_base && t->kernel_gradient && t->dot;
}

/* A table of the same ABI may be longer than ours. */
static plx_status take_table(plx_device_table *out, plx_context *ctx, void *library, const char *file)
{
    plx_device_entry_fn entry = NULL;
    void *symbol = dlsym(library, PLX_DEVICE_ENTRY);
    memcpy(&entry, &symbol, sizeof symbol); /* C converts a pointer to a function by its bytes only */
    const plx_device_table *given = entry ? entry(PLX_DEVICE_ABI) : NULL;
    if (!given || given->abi != PLX_DEVICE_ABI || !is_complete(given))
        PLX_FAIL(ctx, PLX_E_DEVICE, "%s is no device for this version of the library (interface %u); build both anew",
                 file, PLX_DEVICE_ABI);
    *out = *given;
    return PLX_OK;
}

/* NULL where there is no such file; a file that does not load is an answer. */
static void *load(const char *directory, size_t length, const char *file, char *why, size_t size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%.*s/%s", (int)length, directory, file) >= (int)sizeof path) return NULL;
    if (access(path, R_OK) != 0) return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = library ? NULL : dlerror();
    if (reason) snprintf(why, size, "%s", reason);
    return library;
}

static void *look_in_path(const char *path, const char *file, char *why, size_t size)
{
    void *library = NULL;
    while (path && *path && !library) {
        size_t length = strcspn(path, ":");
        if (length > 0) library = load(path, length, file, why, size);
        path += length + (path[length] == ':');
    }
    return library;
}

static void *look_beside(const char *file, char *why, size_t size)
{
    Dl_info info;
    if (!dladdr((const void *)(uintptr_t)plx__device_find, &info) || !info.dli_fname) return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? load(info.dli_fname, (size_t)(slash - info.dli_fname), file, why, size) : NULL;
}

plx_status plx__device_find(plx_device_table *out, plx_context *ctx, const char *name)
{
    char file[64], why[512] = "";
    snprintf(file, sizeof file, "libparallax_%s.so", name);
    void *library = look_in_path(getenv("PARALLAX_DEVICE_PATH"), file, why, sizeof why);
    if (!library && !why[0]) library = look_beside(file, why, sizeof why);
    if (!library && !why[0]) {
        library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        (void)dlerror(); /* that it is not there */
    }
    if (library) return take_table(out, ctx, library, file);
    if (why[0]) PLX_FAIL(ctx, PLX_E_DEVICE, "device %s cannot be loaded: %s", name, why);
    PLX_FAIL(ctx, PLX_E_DEVICE,
             "device %s is not installed: %s is neither in PARALLAX_DEVICE_PATH, nor beside the library, nor where the "
             "system looks",
             name, file);
}
