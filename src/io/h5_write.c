/*
 * Writing HDF5 groups, data sets and attributes.
 */
#include <string.h>

#include "io/h5_impl.h"

enum { DEFLATE_LEVEL = 1, CHUNK_BYTES = 1 << 18, SMALL_BYTES = 4096 };

/* ---- types ---- */

hid_t plx__h5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

hid_t plx__h5_bool_type(void)
{
    int8_t no = 0, yes = 1;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    return type;
}

static hid_t number_type(plx__h5_type type)
{
    switch (type) {
    case PLX__H5_F64: return H5Tcopy(H5T_NATIVE_DOUBLE);
    case PLX__H5_I64: return H5Tcopy(H5T_NATIVE_INT64);
    case PLX__H5_I32: return H5Tcopy(H5T_NATIVE_INT32);
    case PLX__H5_U32: return H5Tcopy(H5T_NATIVE_UINT32);
    case PLX__H5_U8: return H5Tcopy(H5T_NATIVE_UINT8);
    case PLX__H5_BOOL: return plx__h5_bool_type();
    }
    return -1;
}

static hid_t make_space(int rank, const plx_index *dims)
{
    hsize_t size[PLX__H5_MAX_RANK];
    if (rank == 0) return H5Screate(H5S_SCALAR);
    for (int d = 0; d < rank; d++) size[d] = (hsize_t)dims[d];
    return H5Screate_simple(rank, size, NULL);
}

/* ---- groups ---- */

plx_status plx__h5_write_group(const plx__h5 *f, const char *group, bool wide)
{
    hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(plist, false);
    if (wide) { /* a new-style header with all attributes outside of it, where their size is free */
        H5Pset_attr_creation_order(plist, H5P_CRT_ORDER_TRACKED);
        H5Pset_attr_phase_change(plist, 0, 0);
    }
    hid_t id = H5Gcreate2(f->base, plx__h5_name(group), H5P_DEFAULT, plist, H5P_DEFAULT);
    H5Pclose(plist);
    if (id < 0) return plx__h5_fail(f, PLX_E_IO, group, "the group cannot be written");
    H5Gclose(id);
    return PLX_OK;
}

/* ---- data sets ---- */

/* Whole rows per chunk up to CHUNK_BYTES, a part of one row when rows are longer than that. */
static void chunk_shape(hsize_t *chunk, int rank, const plx_index *dims, size_t width)
{
    plx_index room = CHUNK_BYTES / (plx_index)width;
    for (int d = rank - 1; d >= 0; d--) {
        chunk[d] = (hsize_t)plx__max(1, plx__min(dims[d], room));
        room = plx__max(1, room / (plx_index)chunk[d]);
    }
}

static hid_t storage(int rank, const plx_index *dims, size_t width)
{
    hsize_t chunk[PLX__H5_MAX_RANK];
    plx_index count = 1;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(plist, false); /* the same values give the same bytes */
    for (int d = 0; d < rank; d++) count *= dims[d];
    if (rank == 0 || count < SMALL_BYTES / (plx_index)width) return plist;
    chunk_shape(chunk, rank, dims, width);
    H5Pset_chunk(plist, rank, chunk);
    if (width > 1) H5Pset_shuffle(plist);
    H5Pset_deflate(plist, DEFLATE_LEVEL);
    return plist;
}

static plx_status write_set(const plx__h5 *f, const char *object, hid_t type, const void *values, int rank,
                            const plx_index *dims)
{
    bool empty = false, written = false;
    for (int d = 0; d < rank; d++) empty = empty || dims[d] == 0;
    hid_t space = make_space(rank, dims), plist = storage(rank, dims, H5Tget_size(type));
    hid_t set = H5Dcreate2(f->base, plx__h5_name(object), type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (set >= 0) written = empty || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    if (set >= 0 && H5Dclose(set) < 0) written = false;
    H5Pclose(plist);
    H5Sclose(space);
    return written ? PLX_OK : plx__h5_fail(f, PLX_E_IO, object, "cannot be written; is the disk full?");
}

plx_status plx__h5_write(const plx__h5 *f, const char *object, plx__h5_type type, const void *values, int rank,
                         const plx_index *dims)
{
    hid_t id = number_type(type);
    plx_status st = write_set(f, object, id, values, rank, dims);
    H5Tclose(id);
    return st;
}

plx_status plx__h5_write_vector(const plx__h5 *f, const char *object, plx__h5_type type, const void *values,
                                plx_index count)
{
    return plx__h5_write(f, object, type, values, 1, &count);
}

plx_status plx__h5_write_texts(const plx__h5 *f, const char *object, const char *const *texts, plx_index count)
{
    hid_t type = plx__h5_text_type();
    plx_status st = write_set(f, object, type, texts, 1, &count);
    H5Tclose(type);
    return st;
}

plx_status plx__h5_write_text(const plx__h5 *f, const char *object, const char *text)
{
    hid_t type = plx__h5_text_type();
    plx_status st = write_set(f, object, type, &text, 0, NULL);
    H5Tclose(type);
    return st;
}

/* ---- attributes ---- */

static plx_status write_attribute(const plx__h5 *f, const char *object, const char *attr, hid_t type,
                                  const void *values, int rank, const plx_index *dims)
{
    bool empty = false, written = false;
    for (int d = 0; d < rank; d++) empty = empty || dims[d] == 0;
    hid_t space = make_space(rank, dims);
    hid_t id =
        H5Acreate_by_name(f->base, plx__h5_name(object), attr, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (id >= 0) written = empty || H5Awrite(id, type, values) >= 0;
    if (id >= 0 && H5Aclose(id) < 0) written = false;
    H5Sclose(space);
    if (written) return PLX_OK;
    return plx__fail(f->ctx, PLX_E_IO, "%s: %s: attribute '%s' cannot be written", f->path, object, attr);
}

plx_status plx__h5_write_attr(const plx__h5 *f, const char *object, const char *attr, plx__h5_type type,
                              const void *values, int rank, const plx_index *dims)
{
    hid_t id = number_type(type);
    plx_status st = write_attribute(f, object, attr, id, values, rank, dims);
    H5Tclose(id);
    return st;
}

plx_status plx__h5_write_attr_text(const plx__h5 *f, const char *object, const char *attr, const char *text)
{
    hid_t type = plx__h5_text_type();
    plx_status st = write_attribute(f, object, attr, type, &text, 0, NULL);
    H5Tclose(type);
    return st;
}

plx_status plx__h5_write_attr_texts(const plx__h5 *f, const char *object, const char *attr, const char *const *texts,
                                    plx_index count)
{
    hid_t type = plx__h5_text_type();
    plx_status st = write_attribute(f, object, attr, type, texts, 1, &count);
    H5Tclose(type);
    return st;
}
