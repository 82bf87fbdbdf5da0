/*
 * Damaged model files: edits (three bytes each) on the objects inside a sound one: removed, renamed, given other shapes
 * and values through HDF5 itself, with a head made to fit afterwards. Flipping raw bytes behind a correct checksum would
 * find faults of libhdf5 (its global heap) before any of ours; the checksum keeps those away.
 */
#ifndef FUZZ_MODEL_EDITS_H
#define FUZZ_MODEL_EDITS_H

#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "api/model_file.h"

static inline plx_context *new_context(void)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    o.threads = 1;
    o.memory_limit = 64 << 20;
    o.time_limit = 2;
    o.arena_block = 1;
    if (plx_context_create(&ctx, &o) != PLX_OK) abort();
    return ctx;
}

static inline void told(plx_status st, const plx_context *ctx)
{
    const char *text = plx_context_error(ctx);
    FUZZ_CHECK(st != PLX_E_INTERNAL);
    FUZZ_CHECK((st == PLX_OK) == !text[0]);
    FUZZ_CHECK(!strchr(text, '\n'));
}

static inline void write_bytes(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
}

/* ---- edits ---- */

/* What edits speak of. */
typedef struct edit_words {
    const char *const *object, *const *attribute, *const *text;
    unsigned n_objects, n_attributes, n_texts;
} edit_words;

static const double EDIT_NUMBERS[] = {0, 1, -1, 2, 3, 1e300, -1e18, 4294967296.0, 1e-300, 7};
static const int64_t EDIT_WHOLE[] = {0, 1, -1, 2, 3, 4, 7, INT64_MAX, INT64_MIN, (int64_t)1 << 31, (int64_t)1 << 40};

enum { N_NUMBERS = sizeof EDIT_NUMBERS / sizeof *EDIT_NUMBERS, N_WHOLE = sizeof EDIT_WHOLE / sizeof *EDIT_WHOLE };

static inline hid_t text_type(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    return type;
}

static inline void set_attribute(hid_t file, const char *object, const char *attribute, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    H5Adelete_by_name(file, object, attribute, H5P_DEFAULT);
    hid_t a = H5Acreate_by_name(file, object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (a >= 0) H5Awrite(a, type, value);
    if (a >= 0) H5Aclose(a);
    H5Sclose(space);
}

/* Other numbers in the same place. */
static inline void overwrite(hid_t file, const char *object, double value)
{
    double many[4096];
    hid_t set = H5Dopen2(file, object, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
    hid_t type = set >= 0 ? H5Dget_type(set) : -1;
    for (int i = 0; i < 4096; i++) many[i] = value;
    if (set >= 0 && H5Tget_class(type) != H5T_STRING && H5Sget_simple_extent_npoints(space) <= 4096)
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, many);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
}

/* A matrix or vector of another shape (empty ones too) in the place of an object. */
static inline void reshape(hid_t file, const char *object, unsigned how)
{
    hsize_t dims[2] = {how % 5, how / 5 % 5};
    double values[16];
    int rank = how & 128 ? 1 : 2;
    for (int i = 0; i < 16; i++) values[i] = EDIT_NUMBERS[(unsigned)i % N_NUMBERS];
    H5Ldelete(file, object, H5P_DEFAULT);
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t set = H5Dcreate2(file, object, how & 64 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                           H5P_DEFAULT, H5P_DEFAULT);
    if (set >= 0) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
}

static inline void edit(const edit_words *w, hid_t file, unsigned op, unsigned target, unsigned arg)
{
    const char *object = w->object[target % w->n_objects], *other = w->object[arg % w->n_objects];
    const char *attribute = w->attribute[arg % w->n_attributes], *text = w->text[arg / w->n_attributes % w->n_texts];
    int64_t whole = EDIT_WHOLE[arg / w->n_attributes % N_WHOLE];
    hid_t type = text_type(text);
    switch (op % 7) {
    case 0: H5Ldelete(file, object, H5P_DEFAULT); break;
    case 1: H5Adelete_by_name(file, object, attribute, H5P_DEFAULT); break;
    case 2: H5Lmove(file, object, file, other, H5P_DEFAULT, H5P_DEFAULT); break;
    case 3: overwrite(file, object, EDIT_NUMBERS[arg % N_NUMBERS]); break;
    case 4: reshape(file, object, arg); break;
    case 5: set_attribute(file, object, attribute, type, text); break;
    default: set_attribute(file, object, attribute, H5T_NATIVE_INT64, &whole);
    }
    H5Tclose(type);
}

/* Edits on the model file that is there; false: HDF5 cannot close it any more. */
static inline bool edit_file(const edit_words *w, const char *path, plx_context *ctx, const uint8_t *data, size_t size)
{
    char head[PLX__MODEL_HEAD];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0) abort();
    for (size_t i = 0; i + 2 < size && i < 89; i += 3) edit(w, file, data[i], data[i + 1], data[i + 2]);
    if (H5Fclose(file) < 0 || plx__model_head_make(head, ctx, path) != PLX_OK) return false;
    int fd = open(path, O_RDWR);
    if (fd < 0 || pwrite(fd, head, sizeof head, 0) != (ssize_t)sizeof head) abort();
    close(fd);
    return true;
}

#endif
