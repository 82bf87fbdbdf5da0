/*
 * A linked list in the order of storing, which is the order of dumps and of model files.
 */
#include "run/store.h"

#include <string.h>

#include "core/text.h"

void plx__store_init(plx__store *store, plx__arena *arena) { *store = (plx__store){.arena = arena}; }

static plx_status append(plx__array **out, plx__store *store, const char *name)
{
    PLX_ASSERT(!plx__store_find(store, name));
    PLX_TRY(PLX__ARENA_NEW(out, store->arena, 1));
    PLX_TRY(plx__arena_text(&(*out)->name, store->arena, name));
    plx__array **tail = store->tail ? store->tail : &store->first;
    *tail = *out;
    store->tail = &(*out)->next;
    store->count++;
    return PLX_OK;
}

plx_status plx__store_new(plx_mat *out, plx__store *store, const char *name, plx_index rows, plx_index cols)
{
    plx__array *a = NULL;
    PLX_TRY(plx__arena_mat(out, store->arena, rows, cols));
    PLX_TRY(append(&a, store, name));
    a->dense = *out;
    return PLX_OK;
}

plx_status plx__store_adopt(plx__store *store, const char *name, plx_mat values)
{
    plx__array *a = NULL;
    PLX_TRY(append(&a, store, name));
    a->dense = values;
    return PLX_OK;
}

plx_status plx__store_put(plx__store *store, const char *name, plx_cmat values)
{
    plx_mat copy;
    PLX_TRY(plx__store_new(&copy, store, name, values.rows, values.cols));
    for (plx_index i = 0; i < values.rows; i++)
        memcpy(copy.data + i * copy.ld, values.data + i * values.ld, (size_t)values.cols * sizeof(double));
    return PLX_OK;
}

plx_status plx__store_put_csr(plx__store *store, const char *name, plx_ccsr v)
{
    plx_csr copy;
    plx__array *a = NULL;
    plx_index nnz = v.ptr[v.rows];
    PLX_TRY(plx__arena_csr(&copy, store->arena, v.rows, v.cols, nnz));
    memcpy(copy.ptr, v.ptr, (size_t)(v.rows + 1) * sizeof *copy.ptr);
    if (nnz) memcpy(copy.col, v.col, (size_t)nnz * sizeof *copy.col);
    if (nnz) memcpy(copy.val, v.val, (size_t)nnz * sizeof *copy.val);
    PLX_TRY(append(&a, store, name));
    a->sparse = true;
    a->csr = copy;
    return PLX_OK;
}

const plx__array *plx__store_find(const plx__store *store, const char *name)
{
    for (const plx__array *a = store->first; a; a = a->next)
        if (strcmp(a->name, name) == 0) return a;
    return NULL;
}

bool plx__same_array_name(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool separators = (a[i] == '.' || a[i] == '_') && (b[i] == '.' || b[i] == '_');
        if (!separators && a[i] != b[i]) return false;
        if (!a[i]) return true;
    }
    return true;
}

const plx__array *plx__store_lookup(const plx__store *store, const char *name)
{
    const plx__array *exact = plx__store_find(store, name);
    for (const plx__array *a = exact ? NULL : store->first; a; a = a->next)
        if (a->name[0] != '_' && plx__same_array_name(a->name, name, strlen(a->name) + 1)) return a;
    return exact;
}

plx_status plx__store_dense(plx_cmat *out, plx_context *ctx, const plx__store *store, const char *name)
{
    const plx__array *a = plx__store_find(store, name);
    if (!a || a->sparse) PLX_FAIL(ctx, PLX_E_FORMAT, "the model lacks the array '%s'", name);
    *out = plx__cmat(a->dense);
    return PLX_OK;
}

plx_status plx__store_shaped(plx_cmat *out, plx_context *ctx, const plx__store *store, const char *name, plx_index rows,
                             plx_index cols)
{
    PLX_TRY(plx__store_dense(out, ctx, store, name));
    if ((rows >= 0 && out->rows != rows) || (cols >= 0 && out->cols != cols))
        PLX_FAIL(ctx, PLX_E_FORMAT, "the model's array '%s' is %lld x %lld and does not fit its views and classes",
                 name, (long long)out->rows, (long long)out->cols);
    return PLX_OK;
}

plx_status plx__store_scalar(double *out, plx_context *ctx, const plx__store *store, const char *name)
{
    plx_cmat m = {0};
    PLX_TRY(plx__store_shaped(&m, ctx, store, name, 1, 1));
    *out = m.data[0];
    return PLX_OK;
}

plx_status plx__view_key(const char **out, plx_context *ctx, const char *name, const char *view)
{
    return plx__arena_printf(out, plx__scratch(ctx), "%s.%s", name, view);
}
