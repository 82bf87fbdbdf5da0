/*
 * HDF5 with our manners: objects are named by absolute path ("/mod/rna/X"), every call opens and closes
 * what it needs itself, nothing is printed, and every failure names the file and the object.
 *
 * A plx__h5 is one open file. While it is open the calling thread owns the HDF5 library (one process-wide
 * recursive lock: not every build of HDF5 is thread safe) and HDF5's own error printing is off. Always
 * end with plx__h5_close(), also after a failure and after plx__h5_commit().
 *
 * Reading trusts nothing: sizes are compared with what the file stores before memory is asked for, and
 * external or virtual storage (which would open other files) is refused.
 */
#ifndef PLX_IO_H5_H
#define PLX_IO_H5_H

#include <hdf5.h>

#include "core/file.h"

/* Why libhdf5 cannot be used, NULL when it can. A library that opens it on demand (lazy/) has another answer than NULL. */
const char *plx__hdf5_missing(void);

/* The lock alone, around a fork; and in the copy, where nobody holds it. */
void plx__h5_lock(void);
void plx__h5_unlock(void);
void plx__h5_forked(void);

typedef struct plx__h5 {
    plx_context *ctx;
    const char *path;  /* as the user wrote it; for messages */
    hid_t file;        /* < 0: closed */
    hid_t base;        /* what object names start at: the file, or a group of it */
    bool entered;      /* holds the lock */
    H5E_auto2_t print; /* the error printer to restore */
    void *print_data;
    plx__outfile out;         /* when writing: the temporary file behind `file` */
    const unsigned char *map; /* when reading: its bytes, for checks beside HDF5; or NULL */
    size_t map_size;
} plx__h5;

/* ---- life ---- */

/* A group as if it were the whole file: "/x" is then GROUP/x. Close it with plx__h5_leave() before the file. */
plx_status plx__h5_enter_group(plx__h5 *part, const plx__h5 *f, const char *group);
void plx__h5_leave(plx__h5 *part);

/* Take the lock and silence HDF5 without opening a file; for a library that uses HDF5 itself (matio). */
void plx__h5_enter(plx__h5 *f, plx_context *ctx, const char *path);

/* Open for reading. `path` is borrowed until the file is closed. */
plx_status plx__h5_open(plx__h5 *f, plx_context *ctx, const char *path);

/* Create under a temporary name, with a user block of that many bytes (0, or a power of two >= 512). */
plx_status plx__h5_create(plx__h5 *f, plx_context *ctx, const char *path, size_t userblock);

/* Finish writing: close, put `head` (or NULL) into the user block, give the file its name. */
plx_status plx__h5_commit(plx__h5 *f, const char *head);

/* All data are on disk, under the temporary name f->out.temporary; only the head and the commit are left. */
plx_status plx__h5_finish(plx__h5 *f);

/* Close and release the lock; a file that was created but not committed vanishes. Safe to call twice. */
void plx__h5_close(plx__h5 *f);

/* ---- looking around ---- */

typedef enum plx__h5_kind {
    PLX__H5_NONE,
    PLX__H5_GROUP,
    PLX__H5_NUMBERS, /* data set of integers, floats or booleans */
    PLX__H5_TEXTS,   /* data set of strings */
    PLX__H5_OTHER    /* compound, reference, null, ... */
} plx__h5_kind;

plx__h5_kind plx__h5_what(const plx__h5 *f, const char *object);

/* Is this a data set of integers (booleans included)? */
bool plx__h5_is_integer(const plx__h5 *f, const char *object);

/* Names inside a group, byte-sorted. */
plx_status plx__h5_children(const char *const **names, plx_index *count, const plx__h5 *f, plx__arena *arena,
                            const char *group);

/* ---- reading data sets ---- */

enum { PLX__H5_MAX_RANK = 8 };

typedef struct plx__h5_shape {
    int rank; /* 0: scalar */
    plx_index dim[PLX__H5_MAX_RANK];
    plx_index count; /* product of dim */
} plx__h5_shape;

plx_status plx__h5_shape_of(plx__h5_shape *out, const plx__h5 *f, const char *object);

/* Whole data sets of any numeric or boolean type and rank, row-major. */
plx_status plx__h5_read_f64(double **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                            const char *object);
plx_status plx__h5_read_i64(int64_t **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                            const char *object);

/* begin .. end-1 of the first dimension only; `shape` is that of what was read. Numbers beyond 32 bits become the nearest
 * that has them. */
plx_status plx__h5_read_f64_part(double **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                                 const char *object, plx_index begin, plx_index end);
plx_status plx__h5_read_i32_part(int32_t **out, plx__h5_shape *shape, const plx__h5 *f, plx__arena *arena,
                                 const char *object, plx_index begin, plx_index end);

/* The same when the length is known: a vector of `count` values, any other shape is a failure. */
plx_status plx__h5_read_vector(double **out, plx_index count, const plx__h5 *f, plx__arena *arena, const char *object);

/* Strings of fixed or variable length; entries are never NULL. */
plx_status plx__h5_read_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                              const char *object);

/* A scalar data set. */
plx_status plx__h5_read_text(const char **out, const plx__h5 *f, plx__arena *arena, const char *object);
plx_status plx__h5_read_real(double *out, const plx__h5 *f, const char *object);

/* ---- reading attributes ---- */

bool plx__h5_has_attr(const plx__h5 *f, const char *object, const char *attr);

/* Text attribute; "" when it is absent. */
plx_status plx__h5_attr_text(const char **out, const plx__h5 *f, plx__arena *arena, const char *object,
                             const char *attr);
/* List of texts; an empty list may have any type. Absent: count = 0. */
plx_status plx__h5_attr_texts(const char *const **out, plx_index *count, const plx__h5 *f, plx__arena *arena,
                              const char *object, const char *attr);
/* Exactly `count` integers. */
plx_status plx__h5_attr_i64(int64_t *out, plx_index count, const plx__h5 *f, const char *object, const char *attr);
/* Path of the object an object-reference attribute points to; NULL when the attribute is no such thing. */
plx_status plx__h5_attr_target(const char **out, const plx__h5 *f, plx__arena *arena, const char *object,
                               const char *attr);

/* ---- writing ---- */

/* A group; its parents must exist. The group can hold attributes of any size (more than the 64 KiB of an
 * old-style header) when `wide` is set. */
plx_status plx__h5_write_group(const plx__h5 *f, const char *group, bool wide);

typedef enum plx__h5_type {
    PLX__H5_F64, /* const double * */
    PLX__H5_I64, /* const int64_t * */
    PLX__H5_I32, /* const int32_t * */
    PLX__H5_U32, /* const uint32_t * */
    PLX__H5_U8,  /* const uint8_t *, as a number */
    PLX__H5_BOOL /* const uint8_t * of 0 and 1, as the enumeration FALSE, TRUE */
} plx__h5_type;

/* Array of any rank, rank 0 being a scalar. Larger ones are stored in chunks and deflated. */
plx_status plx__h5_write(const plx__h5 *f, const char *object, plx__h5_type type, const void *values, int rank,
                         const plx_index *dims);
plx_status plx__h5_write_vector(const plx__h5 *f, const char *object, plx__h5_type type, const void *values,
                                plx_index count);

/* Variable-length UTF-8 strings; no entry may be NULL. */
plx_status plx__h5_write_texts(const plx__h5 *f, const char *object, const char *const *texts, plx_index count);
plx_status plx__h5_write_text(const plx__h5 *f, const char *object, const char *text);

plx_status plx__h5_write_attr(const plx__h5 *f, const char *object, const char *attr, plx__h5_type type,
                              const void *values, int rank, const plx_index *dims);
plx_status plx__h5_write_attr_text(const plx__h5 *f, const char *object, const char *attr, const char *text);
plx_status plx__h5_write_attr_texts(const plx__h5 *f, const char *object, const char *attr, const char *const *texts,
                                    plx_index count);

#endif
