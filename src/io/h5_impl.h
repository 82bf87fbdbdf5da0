/*
 * What the h5_*.c files share.
 */
#ifndef PLX_IO_H5_IMPL_H
#define PLX_IO_H5_IMPL_H

#include "io/h5.h"

/* An object name as HDF5 resolves it from `base`. */
static inline const char *plx__h5_name(const char *object)
{
    if (object[0] != '/') return object;
    return object[1] ? object + 1 : ".";
}

/* "file: object: what". */
plx_status plx__h5_fail(const plx__h5 *f, plx_status code, const char *object, const char *what);

/* Damage that would make libhdf5 itself misbehave: in the file's heaps, and in the strings of a data set. */
void plx__h5_map(plx__h5 *f);
void plx__h5_unmap(plx__h5 *f);
plx_status plx__h5_check_heaps(const plx__h5 *f);
plx_status plx__h5_check_references(const plx__h5 *f, hid_t set, plx_index count, const char *object);

/* Type class of a data set; H5T_NO_CLASS when there is none (or its space is null). */
H5T_class_t plx__h5_class(const plx__h5 *f, const char *object);

/* Shape of a data space; fails on more than PLX__H5_MAX_RANK dimensions. `object` is for messages. */
plx_status plx__h5_space_shape(plx__h5_shape *out, const plx__h5 *f, hid_t space, const char *object);

/* Copies strings out of what H5Dread/H5Aread gave for `type` (a string type) into the arena. */
plx_status plx__h5_copy_texts(const char **to, plx_index count, plx__arena *arena, hid_t type, const char *raw);

/* Memory types: variable-length UTF-8 string, and the boolean enumeration. Close with H5Tclose. */
hid_t plx__h5_text_type(void);
hid_t plx__h5_bool_type(void);

#endif
