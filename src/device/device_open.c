/*
 * Finding and opening a device: a shared object in one of the directories of $PARALLAX_DEVICE_PATH, beside the library,
 * or where the system looks. It is never unloaded: libraries behind it keep threads and handlers that would be left
 * without code.
 *
 * Opening a GPU takes some tenths of a second, so a device that was asked for by name is opened by a thread of its own
 * while data are read. The thread touches what is in `plx__device_opening` only, never the context.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
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
static bool take_table(plx_device_table *out, void *library, const char *file, char *why, size_t size)
{
    plx_device_entry_fn entry = NULL;
    void *symbol = dlsym(library, PLX_DEVICE_ENTRY);
    memcpy(&entry, &symbol, sizeof symbol); /* C converts a pointer to a function by its bytes only */
    const plx_device_table *given = entry ? entry(PLX_DEVICE_ABI) : NULL;
    if (!given || given->abi != PLX_DEVICE_ABI || !is_complete(given)) {
        snprintf(why, size, "%s is no device for this version of the library (interface %u); build both anew", file,
                 PLX_DEVICE_ABI);
        return false;
    }
    *out = *given;
    return true;
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

bool plx__device_find(plx_device_table *out, const char *name, char *why, size_t size)
{
    char file[64], reason[512] = "";
    snprintf(file, sizeof file, "libparallax_%s.so", name);
    void *library = look_in_path(getenv("PARALLAX_DEVICE_PATH"), file, reason, sizeof reason);
    if (!library && !reason[0]) library = look_beside(file, reason, sizeof reason);
    if (!library && !reason[0]) {
        library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        (void)dlerror(); /* that it is not there */
    }
    if (library) return take_table(out, library, file, why, size);
    if (reason[0]) snprintf(why, size, "device %s cannot be loaded: %s", name, reason);
    else
        snprintf(why, size,
                 "device %s is not installed: %s is neither in PARALLAX_DEVICE_PATH, nor beside the library, nor where "
                 "the system looks",
                 name, file);
    return false;
}

/* ---- opening ---- */

static void *open_now(void *opening_)
{
    plx__device_opening *o = opening_;
    char reason[256] = "";
    if (!o->table && plx__device_find(&o->found, o->name, o->why, sizeof o->why)) o->table = &o->found;
    if (!o->table) return NULL;
    if (o->table->open(&o->opened, 0, reason, sizeof reason) == PLX_DEVICE_OK && o->opened) return NULL;
    o->opened = NULL;
    snprintf(o->why, sizeof o->why, "device %s cannot be used: %s; set device to cpu or auto", o->name, reason);
    return NULL;
}

/* Signals are for the threads of the program. Without a thread the device is opened when it is needed. */
void plx__device_open_ahead(plx__device_opening *o)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    o->running = pthread_create(&o->thread, NULL, open_now, o) == 0;
    o->owner = getpid();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Threads do not survive fork(): a child has none to wait for, and nothing of what it did. */
bool plx__device_open_wait(plx__device_opening *o)
{
    bool ours = o->running && o->owner == getpid();
    if (ours) pthread_join(o->thread, NULL);
    o->running = false;
    return ours;
}

bool plx__device_open_done(plx__device_opening *o)
{
    if (!o->opened && !plx__device_open_wait(o)) (void)open_now(o);
    return o->opened != NULL;
}
