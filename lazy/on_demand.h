/*
 * Libraries that are opened when somebody calls them first. HDF5 and matio bring some forty others along, which would cost
 * every start of the command more than a small fit takes.
 *
 * A file that includes this lists the functions of one library with FUNCTIONS(X), X(type, failure, name, parameters,
 * arguments): `failure` is what callers are told when the library cannot be had. The functions defined here have the
 * library's own names, so that the rest of Parallax is written and tested as if it were linked.
 */
#ifndef PLX_LAZY_ON_DEMAND_H
#define PLX_LAZY_ON_DEMAND_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t once;
    bool loaded;
    char error[400];
} lazy = {.once = PTHREAD_ONCE_INIT};

static void load(void);

static bool ready(void)
{
    pthread_once(&lazy.once, load);
    return lazy.loaded;
}

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror();
    if (!library) snprintf(lazy.error, sizeof lazy.error, "%s", why ? why : name);
    return library;
}

/* A pointer to a function or to data; C knows no way to convert the former from what dlsym() gives but by its bytes. */
static bool find(void *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);
    if (!symbol) snprintf(lazy.error, sizeof lazy.error, "it has no %s", name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

#define LAZY_TEXT(name) #name
#define LAZY_NAME(name) LAZY_TEXT(name) /* headers may give a function another name by a macro */

#define LAZY_DEFINE(type, failure, name, parameters, arguments)                                                        \
    static type(*real_##name) parameters;                                                                              \
    type name parameters { return ready() ? real_##name arguments : (failure); }
#define LAZY_FIND(type, failure, name, parameters, arguments)                                                          \
    found = found && find(library, LAZY_NAME(name), &real_##name);

#endif
