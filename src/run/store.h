/*
 * Named arrays: what a method leaves behind. Names starting with '_' are private to the method (state it
 * needs to predict); the others are the ones its table declares. Everything is copied into the arena.
 */
#ifndef PLX_RUN_STORE_H
#define PLX_RUN_STORE_H

#include "core/ctx.h"

typedef struct plx__array {
    struct plx__array *next;
    const char *name;
    bool sparse;
    plx_mat dense;
    plx_csr csr;
} plx__array;

typedef struct plx__store {
    plx__arena *arena;
    plx__array *first, **tail;
    plx_index count;
} plx__store;

void plx__store_init(plx__store *store, plx__arena *arena);
plx_status plx__store_put(plx__store *store, const char *name, plx_cmat values);
plx_status plx__store_put_csr(plx__store *store, const char *name, plx_ccsr values);
/* An uninitialised array in place, to be filled by the caller: saves the copy of a large result. */
plx_status plx__store_new(plx_mat *out, plx__store *store, const char *name, plx_index rows, plx_index cols);
/* Values that lie in the store's arena already. */
plx_status plx__store_adopt(plx__store *store, const char *name, plx_mat values);
const plx__array *plx__store_find(const plx__store *store, const char *name);
/* The same for names as users write them: f.VIEW and f_VIEW are one array, the exact name first. */
const plx__array *plx__store_lookup(const plx__store *store, const char *name);
bool plx__same_array_name(const char *a, const char *b, size_t length);

/* Look-ups that must succeed: PLX_E_FORMAT naming the array otherwise (a model file may lack it). */
plx_status plx__store_dense(plx_cmat *out, plx_context *ctx, const plx__store *store, const char *name);
/* Same, and of this shape (-1: any number): nothing read from a model file is trusted. */
plx_status plx__store_shaped(plx_cmat *out, plx_context *ctx, const plx__store *store, const char *name, plx_index rows,
                             plx_index cols);
plx_status plx__store_scalar(double *out, plx_context *ctx, const plx__store *store, const char *name);

/* "name.VIEW" in scratch. */
plx_status plx__view_key(const char **out, plx_context *ctx, const char *name, const char *view);

#endif
