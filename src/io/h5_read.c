/*
 * Reading HDF5 data sets of any width, filter and string form.
 */
#include <stdio.h>
#include <string.h>

#include "io/h5_impl.h"

/* A data set opened for one read. */
typedef struct reading {
    hid_t set, type, space;
    plx__h5_shape shape;
} reading;

static void end_reading(reading *r)
{
    if (r->space >= 0) H5Sclose(r->space);
    if (r->type >= 0) H5Tclose(r->type);
    if (r->set >= 0) H5Dclose(r->set);
}

plx_status plx__h5_space_shape(plx__h5_shape *out, const plx__h5 *f, hid_t space, const char *object)
{
    hsize_t dims[H5S_MAX_RANK];
    *out = (plx__h5_shape){.count = 1};
    int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL || rank > PLX__H5_MAX_RANK ||
        H5Sget_simple_extent_dims(space, dims, NULL) < 0)
        return plx__h5_fail(f, PLX_E_FORMAT, object, "has no shape, or too many dimensions");
    out->rank = rank;
    for (int d = 0; d < rank; d++) {
        if (dims[d] > (hsize_t)INT64_MAX || __builtin_mul_overflow(out->count, (plx_index)dims[d], &out->count))
            return plx__h5_fail(f, PLX_E_FORMAT, object, "claims an impossible size");
        out->dim[d] = (plx_index)dims[d];
    }
    return PLX_OK;
}

/* ---- what may be read ---- */

/* Plug-in filters seen in files of others. */
static const char *filter_name(H5Z_filter_t id)
{
    switch (id) {
    case 32000: return "LZF";
    case 32001: return "Blosc";
    case 32015: return "Zstandard";
    case H5Z_FILTER_SZIP: return "szip";
    default: return "an unknown method";
    }
}

static plx_status check_filters(const plx__h5 *f, hid_t plist, const char *object)
{
    int count = H5Pget_nfilters(plist);
    for (int i = 0; i < count; i++) {
        unsigned flags = 0, config = 0;
        size_t values = 0;
        char text[160];
        H5Z_filter_t id = H5Pget_filter2(plist, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        if (id >= 0 && H5Zfilter_avail(id) > 0) continue;
        snprintf(text, sizeof text, "is compressed with %s (HDF5 filter %d), %s", filter_name(id), (int)id,
                 "which cannot be unpacked here; write the file again with gzip");
        return plx__h5_fail(f, PLX_E_UNSUPPORTED, object, text);
    }
    return PLX_OK;
}

static plx_status check_storage(const plx__h5 *f, const reading *r, const char *object)
{
    hid_t plist = H5Dget_create_plist(r->set);
    if (plist < 0) return plx__h5_fail(f, PLX_E_FORMAT, object, "is damaged");
    plx_status st = PLX_OK;
    if (H5Pget_external_count(plist) > 0 || H5Pget_layout(plist) == H5D_VIRTUAL)
        st = plx__h5_fail(f, PLX_E_UNSUPPORTED, object, "keeps its values in other files; copy them into this one");
    else st = check_filters(f, plist, object);
    H5Pclose(plist);
    PLX_TRY(st);
    /* Deflate gains at most a factor of about 1030; a larger claim is a lie or a data set never filled. */
    double claimed = (double)r->shape.count * (double)H5Tget_size(r->type);
    double stored = (double)H5Dget_storage_size(r->set);
    if (claimed > 1100.0 * stored + 1048576.0)
        return plx__h5_fail(f, PLX_E_FORMAT, object, "claims far more values than the file holds");
    return PLX_OK;
}

static plx_status begin_reading(reading *r, const plx__h5 *f, const char *object)
{
    *r = (reading){-1, -1, -1, {0}};
    r->set = H5Dopen2(f->base, plx__h5_name(object), H5P_DEFAULT);
    if (r->set < 0) return plx__h5_fail(f, PLX_E_FORMAT, object, "there is no readable data set of this name");
    r->type = H5Dget_type(r->set);
    r->space = H5Dget_space(r->set);
    if (r->type < 0 || r->space < 0) return plx__h5_fail(f, PLX_E_FORMAT, object, "is damaged");
    return plx__h5_space_shape(&r->shape, f, r->space, object);
}

plx_status plx__h5_shape_of(plx__h5_shape *out, const plx__h5 *f, const char *object)
{
    reading r;
    plx_status st = begin_reading(&r, f, object);
    *out = r.shape;
    end_reading(&r);
    return st;
}

/* ---- numbers ---- */

static plx_status check_number_type(const plx__h5 *f, const reading *r, const char *object)
{
    H5T_class_t class = H5Tget_class(r->type);
    if (class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM) return PLX_OK;
    return plx__h5_fail(f, PLX_E_FORMAT, object, "does not hold numbers");
}

/* What to read of a data set: all of it, or begin .. end-1 of its first dimension. */
typedef struct slice {
    hid_t memory; /* type in memory, and its bytes */
    size_t width;
    plx_index count; /* -1: any shape, else a vector of so many values */
    bool part;
    plx_index begin, end;
} slice;

/* The values of the slice; shape->dim[0] and shape->count become those of the slice. */
static plx_status read_slice(void **out, const plx__h5 *f, plx__arena *arena, reading *r, const slice *s,
                             const char *object)
{
    hsize_t start[PLX__H5_MAX_RANK] = {0}, size[PLX__H5_MAX_RANK] = {0};
    hid_t space = H5S_ALL, file = H5S_ALL;
    bool failed = false;
    if (s->part) {
        if (r->shape.rank < 1 || s->end > r->shape.dim[0])
            return plx__h5_fail(f, PLX_E_FORMAT, object, "has fewer rows than it should");
        r->shape.count = r->shape.dim[0] ? r->shape.count / r->shape.dim[0] * (s->end - s->begin) : 0;
        r->shape.dim[0] = s->end - s->begin;
        for (int d = 0; d < r->shape.rank; d++) size[d] = (hsize_t)r->shape.dim[d];
        start[0] = (hsize_t)s->begin;
    }
    PLX_TRY(plx__arena_bytes(out, arena, r->shape.count, s->width));
    if (!r->shape.count) return PLX_OK;
    if (s->part) {
        failed = H5Sselect_hyperslab(r->space, H5S_SELECT_SET, start, NULL, size, NULL) < 0;
        space = H5Screate_simple(r->shape.rank, size, NULL);
        file = r->space;
        failed |= space < 0;
    }
    failed = failed || H5Dread(r->set, s->memory, space, file, H5P_DEFAULT, *out) < 0;
    if (s->part && space >= 0) H5Sclose(space);
    return failed ? plx__h5_fail(f, PLX_E_FORMAT, object, "its values are damaged or cut off") : PLX_OK;
}

static plx_status read_numbers(void **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                               const char *object, slice s)
{
    plx_index count = s.count;
    reading r;
    char text[128];
    *out = NULL;
    if (shape) *shape = (plx__h5_shape){0};
    plx_status st = begin_reading(&r, f, object);
    if (st != PLX_OK) goto done;
    PLX_GOTO(check_number_type(f, &r, object));
    if (count >= 0 && (r.shape.rank != 1 || r.shape.count != count)) {
        snprintf(text, sizeof text, "has %lld values in %d dimensions, expected a list of %lld",
                 (long long)r.shape.count, r.shape.rank, (long long)count);
        st = plx__h5_fail(f, PLX_E_FORMAT, object, text);
        goto done;
    }
    PLX_GOTO(check_storage(f, &r, object));
    PLX_GOTO(read_slice(out, f, arena, &r, &s, object));
    if (shape) *shape = r.shape;
done:
    end_reading(&r);
    return st;
}

plx_status plx__h5_read_f64(double **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena, const char *object)
{
    return read_numbers((void **)out, shape, f, arena, object,
                        (slice){H5T_NATIVE_DOUBLE, sizeof **out, -1, false, 0, 0});
}

plx_status plx__h5_read_f64_part(double **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                                 const char *object, plx_index begin, plx_index end)
{
    slice s = {H5T_NATIVE_DOUBLE, sizeof **out, -1, true, begin, end};
    return read_numbers((void **)out, shape, f, arena, object, s);
}

plx_status plx__h5_read_i32_part(int32_t **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                                 const char *object, plx_index begin, plx_index end)
{
    slice s = {H5T_NATIVE_INT32, sizeof **out, -1, true, begin, end};
    return read_numbers((void **)out, shape, f, arena, object, s);
}

plx_status plx__h5_read_i64(int64_t **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                            const char *object)
{
    return read_numbers((void **)out, shape, f, arena, object,
                        (slice){H5T_NATIVE_INT64, sizeof **out, -1, false, 0, 0});
}

plx_status plx__h5_read_vector(double **out, plx_index count, const plx__h5 *f, plx__arena *arena, const char *object)
{
    return read_numbers((void **)out, NULL, f, arena, object,
                        (slice){H5T_NATIVE_DOUBLE, sizeof **out, count, false, 0, 0});
}

plx_status plx__h5_read_real(double *out, const plx__h5 *f, const char *object)
{
    plx__mark mark = plx__arena_mark(plx__scratch(f->ctx));
    plx__h5_shape shape;
    double *value = NULL;
    *out = 0;
    PLX_TRY(plx__h5_read_f64(&value, &shape, f, plx__scratch(f->ctx), object));
    if (shape.count != 1) return plx__h5_fail(f, PLX_E_FORMAT, object, "is not a single number");
    *out = value[0];
    plx__arena_rewind(plx__scratch(f->ctx), mark);
    return PLX_OK;
}

/* ---- strings ---- */

/* Length of a fixed-width string without its padding (NUL or blanks). */
static size_t unpadded(const char *text, size_t width, H5T_str_t padding)
{
    size_t len = strnlen(text, width);
    if (padding == H5T_STR_SPACEPAD)
        while (len && text[len - 1] == ' ') len--;
    return len;
}

plx_status plx__h5_copy_texts(const char **to, plx_index count, plx__arena *arena, hid_t type, const char *raw)
{
    bool variable = H5Tis_variable_str(type) > 0;
    size_t width = H5Tget_size(type);
    H5T_str_t padding = H5Tget_strpad(type);
    for (plx_index i = 0; i < count; i++) {
        const char *text = variable ? ((const char *const *)raw)[i] : raw + (size_t)i * width;
        if (!text) text = "";
        size_t len = variable ? strlen(text) : unpadded(text, width, padding);
        PLX_TRY(plx__arena_textn(&to[i], arena, text, len));
    }
    return PLX_OK;
}

/* Variable-length strings are allocated by HDF5 and reclaimed here on every path. */
static plx_status read_text_block(const char **to, const plx__h5 *f, plx__arena *arena, const reading *r,
                                  const char *object)
{
    plx__mark mark = plx__arena_mark(plx__scratch(f->ctx));
    bool variable = H5Tis_variable_str(r->type) > 0;
    char *raw = NULL;
    if (variable) PLX_TRY(plx__h5_check_references(f, r->set, r->shape.count, object));
    PLX_TRY(plx__arena_zeroed((void **)&raw, plx__scratch(f->ctx), r->shape.count, H5Tget_size(r->type)));
    plx_status st = PLX_OK;
    if (r->shape.count && H5Dread(r->set, r->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
        st = plx__h5_fail(f, PLX_E_FORMAT, object, "its texts are damaged or cut off");
    if (st == PLX_OK) st = plx__h5_copy_texts(to, r->shape.count, arena, r->type, raw);
    if (variable && r->shape.count) H5Dvlen_reclaim(r->type, r->space, H5P_DEFAULT, raw);
    if (arena != plx__scratch(f->ctx)) plx__arena_rewind(plx__scratch(f->ctx), mark);
    return st;
}

plx_status plx__h5_read_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                              const char *object)
{
    reading r;
    const char **texts = NULL;
    *out = NULL;
    *count = 0;
    plx_status st = begin_reading(&r, f, object);
    if (st != PLX_OK) goto done;
    if (H5Tget_class(r.type) != H5T_STRING) {
        st = plx__h5_fail(f, PLX_E_FORMAT, object, "does not hold texts");
        goto done;
    }
    PLX_GOTO(check_storage(f, &r, object));
    PLX_GOTO(PLX__ARENA_NEW(&texts, arena, r.shape.count));
    PLX_GOTO(read_text_block(texts, f, arena, &r, object));
    *out = texts;
    *count = r.shape.count;
done:
    end_reading(&r);
    return st;
}

plx_status plx__h5_read_text(const char **out, const plx__h5 *f, plx__arena *arena, const char *object)
{
    const char *const *texts = NULL;
    plx_index count = 0;
    *out = "";
    PLX_TRY(plx__h5_read_texts(&texts, &count, f, arena, object));
    if (count != 1) return plx__h5_fail(f, PLX_E_FORMAT, object, "is not a single text");
    *out = texts[0];
    return PLX_OK;
}
