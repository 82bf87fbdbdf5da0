/*
 * Matrices of anndata files: dense, CSR or CSC of any number type, indices in any order.
 */
#include <string.h>

#include "io/h5_impl.h"
#include "io/h5mu_impl.h"

/* ---- sparse ---- */

/* Compressed matrix as stored: `major` slices (rows of a CSR, columns of a CSC). Wherever there is no slice of more than
 * one entry with an index, and none out of order, this is a CSR of ours already: hence 32 bits for an index. */
typedef struct compressed {
    plx_index major, minor;
    int64_t *ptr;
    int32_t *index;
    double *value;
} compressed;

static plx_status check_pointers(const plx__h5 *f, const int64_t *ptr, plx_index slices, plx_index n_ptr,
                                 plx_index stored, const char *object)
{
    if (n_ptr != slices + 1)
        PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s/indptr: has %lld entries, expected %lld", f->path, object,
                 (long long)n_ptr, (long long)slices + 1);
    for (plx_index i = 0; i <= slices; i++)
        if (ptr[i] < (i ? ptr[i - 1] : 0) || ptr[i] > stored || (i == 0 && ptr[0] != 0))
            PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s/indptr: entry %lld (%lld) does not fit %lld stored values", f->path,
                     object, (long long)i, (long long)ptr[i], (long long)stored);
    return PLX_OK;
}

/* `first`: entry of the file that the entries at hand begin with. */
static plx_status check_indices(const plx__h5 *f, const compressed *c, int64_t first, const char *object)
{
    for (int64_t p = 0; p < c->ptr[c->major]; p++)
        if (c->index[p] < 0 || c->index[p] >= c->minor)
            PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s/indices: entry %lld (%lld) is not below %lld", f->path, object,
                     (long long)(first + p), (long long)c->index[p], (long long)c->minor);
    return PLX_OK;
}

/* The slices begin .. end-1, which are all that is left of the matrix, into `arena`. */
static plx_status read_slices(compressed *c, const plx__h5 *f, plx__arena *arena, const char *object,
                              const int64_t *ptr, plx_index begin, plx_index end)
{
    const char *data = NULL, *indices = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__arena_printf(&data, plx__scratch(f->ctx), "%s/data", object));
    PLX_TRY(plx__arena_printf(&indices, plx__scratch(f->ctx), "%s/indices", object));
    c->major = end - begin;
    PLX_TRY(plx__arena_bytes((void **)&c->ptr, arena, c->major + 1, sizeof *c->ptr));
    for (plx_index i = 0; i <= c->major; i++) c->ptr[i] = ptr[begin + i] - ptr[begin];
    PLX_TRY(plx__h5_read_i32_part(&c->index, &shape, f, arena, indices, ptr[begin], ptr[end]));
    PLX_TRY(plx__h5_read_f64_part(&c->value, &shape, f, arena, data, ptr[begin], ptr[end]));
    return check_indices(f, c, ptr[begin], object);
}

/* `part`: slices begin .. end-1 only. */
static plx_status read_compressed(compressed *c, const plx__h5 *f, plx__arena *arena, const char *object,
                                  const plx__row_run *part)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    const char *name = NULL;
    int64_t *ptr = NULL;
    plx__h5_shape n_data, n_index, n_ptr;
    PLX_TRY(plx__arena_printf(&name, scratch, "%s/indptr", object));
    PLX_TRY(plx__h5_read_i64(&ptr, &n_ptr, f, scratch, name));
    PLX_TRY(plx__arena_printf(&name, scratch, "%s/data", object));
    PLX_TRY(plx__h5_shape_of(&n_data, f, name));
    PLX_TRY(plx__arena_printf(&name, scratch, "%s/indices", object));
    PLX_TRY(plx__h5_shape_of(&n_index, f, name));
    if (n_data.count != n_index.count)
        PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s: %lld values but %lld indices", f->path, object, (long long)n_data.count,
                 (long long)n_index.count);
    PLX_TRY(check_pointers(f, ptr, c->major, n_ptr.count, n_data.count, object));
    return read_slices(c, f, arena, object, ptr, part ? part->begin : 0, part ? part->end : c->major);
}

/* Counting sort by index: exchanges the roles of slices and indices, and leaves indices sorted. */
static plx_status flip(compressed *out, plx__arena *arena, const compressed *in)
{
    int64_t stored = in->ptr[in->major], *next = NULL;
    *out = (compressed){.major = in->minor, .minor = in->major};
    PLX_TRY(plx__arena_i64(&out->ptr, arena, out->major + 1));
    PLX_TRY(plx__arena_i64(&next, arena, out->major + 1));
    PLX_TRY(plx__arena_bytes((void **)&out->index, arena, stored, sizeof *out->index));
    PLX_TRY(plx__arena_bytes((void **)&out->value, arena, stored, sizeof(double)));
    for (int64_t p = 0; p < stored; p++) out->ptr[in->index[p] + 1]++;
    for (plx_index j = 0; j < out->major; j++) out->ptr[j + 1] += out->ptr[j];
    memcpy(next, out->ptr, (size_t)(out->major + 1) * sizeof *next);
    for (plx_index i = 0; i < in->major; i++)
        for (int64_t p = in->ptr[i]; p < in->ptr[i + 1]; p++) {
            int64_t q = next[in->index[p]]++;
            out->index[q] = (int32_t)i;
            out->value[q] = in->value[p];
        }
    return PLX_OK;
}

static bool is_sorted(const compressed *c)
{
    for (plx_index i = 0; i < c->major; i++)
        for (int64_t p = c->ptr[i] + 1; p < c->ptr[i + 1]; p++)
            if (c->index[p] <= c->index[p - 1]) return false;
    return true;
}

/* Of sorted slices: entries given twice are added up, as SciPy does. */
static void merge_doubles(compressed *c)
{
    int64_t from = 0, q = 0;
    for (plx_index i = 0; i < c->major; i++) {
        int64_t begin = q, end = c->ptr[i + 1];
        for (; from < end; from++) {
            if (q > begin && c->index[q - 1] == c->index[from]) {
                c->value[q - 1] += c->value[from];
                continue;
            }
            c->index[q] = c->index[from];
            c->value[q++] = c->value[from];
        }
        c->ptr[i + 1] = q;
    }
}

/* *by_column: CSC. Files before anndata 0.7 mark sparse groups by h5sparse_format. */
static plx_status sparse_layout(bool *by_column, int64_t shape[2], const plx__h5 *f, const char *object)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    const char *type = NULL, *old = NULL;
    PLX_TRY(plx__h5_attr_text(&type, f, scratch, object, "encoding-type"));
    PLX_TRY(plx__h5_attr_text(&old, f, scratch, object, "h5sparse_format"));
    bool csr = strcmp(type, "csr_matrix") == 0 || strcmp(old, "csr") == 0;
    *by_column = strcmp(type, "csc_matrix") == 0 || strcmp(old, "csc") == 0;
    if (!csr && !*by_column)
        PLX_FAIL(f->ctx, PLX_E_UNSUPPORTED,
                 "%s: %s: encoding '%s' is not a matrix; expected array, csr_matrix or csc_matrix", f->path, object,
                 type[0] ? type : "(none)");
    return plx__h5_attr_i64(shape, 2, f, object, plx__h5_has_attr(f, object, "shape") ? "shape" : "h5sparse_shape");
}

static plx_status check_shape(const plx__h5 *f, const char *object, int64_t rows, int64_t cols, plx_index obs,
                              plx_index var)
{
    if (rows == obs && cols == var) return PLX_OK;
    PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: %s: is %lld x %lld, but there are %lld observations and %lld variables",
             f->path, object, (long long)rows, (long long)cols, (long long)obs, (long long)var);
}

/* Where rows take the place of indices. */
static plx_status rows_as_indices(const plx__h5 *f, const char *object, plx_index rows)
{
    if (rows <= INT32_MAX) return PLX_OK;
    return plx__h5_fail(f, PLX_E_UNSUPPORTED, object,
                        "has more than 2147483647 rows; store it as csr_matrix with sorted indices");
}

/* By rows, sorted, from whatever it is. */
static plx_status turn(compressed *c, const plx__h5 *f, plx__arena *arena, bool by_column)
{
    compressed other = {0};
    PLX_TRY(flip(&other, by_column ? arena : plx__scratch(f->ctx), c));
    if (by_column) *c = other;
    else PLX_TRY(flip(c, arena, &other));
    merge_doubles(c);
    return PLX_OK;
}

/* Rows of a matrix that is stored by columns cannot be told apart before all of it was read: *part is then told so. */
static plx_status read_sparse(plx__table *out, const plx__h5 *f, plx__arena *arena, const char *object, plx_index rows,
                              plx_index cols, plx__row_run *part)
{
    bool by_column = false;
    int64_t shape[2] = {0, 0};
    compressed c = {0};
    PLX_TRY(sparse_layout(&by_column, shape, f, object));
    PLX_TRY(check_shape(f, object, shape[0], shape[1], rows, cols));
    if (cols > INT32_MAX) return plx__h5_fail(f, PLX_E_UNSUPPORTED, object, "has more than 2147483647 columns");
    if (by_column) PLX_TRY(rows_as_indices(f, object, rows)); /* else only where rows are out of order */
    c.major = by_column ? cols : rows;
    c.minor = by_column ? rows : cols;
    if (by_column && part) part->whole = true;
    PLX_TRY(read_compressed(&c, f, by_column ? plx__scratch(f->ctx) : arena, object, by_column ? NULL : part));
    if (by_column || !is_sorted(&c)) {
        PLX_TRY(rows_as_indices(f, object, rows));
        PLX_TRY(turn(&c, f, arena, by_column));
    }
    *out = (plx__table){.sparse = true, .csr = {c.major, c.minor, c.ptr, c.index, c.value}};
    return PLX_OK;
}

/* ---- dense ---- */

static plx_status read_dense(plx__table *out, const plx__h5 *f, plx__arena *arena, const char *object, plx_index rows,
                             plx_index cols, const plx__row_run *part)
{
    plx__h5_shape shape;
    double *data = NULL;
    PLX_TRY(plx__h5_shape_of(&shape, f, object));
    if (shape.rank == 1 && cols == 1) shape.dim[1] = 1; /* anndata once squeezed a single column */
    else if (shape.rank != 2) return plx__h5_fail(f, PLX_E_FORMAT, object, "is not a matrix of two dimensions");
    PLX_TRY(check_shape(f, object, shape.dim[0], shape.dim[1], rows, cols));
    if (part) PLX_TRY(plx__h5_read_f64_part(&data, &shape, f, arena, object, part->begin, part->end));
    else PLX_TRY(plx__h5_read_f64(&data, &shape, f, arena, object));
    out->sparse = false;
    out->dense = (plx_mat){data, part ? part->end - part->begin : rows, cols, cols};
    return PLX_OK;
}

plx_status plx__h5mu_matrix(plx__table *out, const plx__h5 *f, plx__arena *arena, const char *object, plx_index rows,
                            plx_index cols, plx__row_run *part)
{
    *out = (plx__table){0};
    switch (plx__h5_what(f, object)) {
    case PLX__H5_GROUP: return read_sparse(out, f, arena, object, rows, cols, part);
    case PLX__H5_NUMBERS: return read_dense(out, f, arena, object, rows, cols, part);
    default: return plx__h5_fail(f, PLX_E_FORMAT, object, "is not a matrix of numbers");
    }
}
