/*
 * HDF5 on demand (on_demand.h). What HDF5 calls its predefined types and properties are variables that H5open() fills;
 * its headers call that before every use, which is when ours are filled from them.
 */
#include "io/h5.h"
#include "lazy/on_demand.h"

#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
#define NEWER_FUNCTIONS(X) X(herr_t, -1, H5Pset_file_locking, (hid_t a, hbool_t b, hbool_t c), (a, b, c))
#else
#define NEWER_FUNCTIONS(X)
#endif

#define FUNCTIONS(X)                                                                                                   \
    X(herr_t, -1, H5Aclose, (hid_t a), (a))                                                                            \
    X(hid_t, -1, H5Acreate_by_name,                                                                                    \
      (hid_t a, const char *b, const char *c, hid_t d, hid_t e, hid_t f, hid_t g, hid_t h), (a, b, c, d, e, f, g, h))  \
    X(htri_t, -1, H5Aexists_by_name, (hid_t a, const char *b, const char *c, hid_t d), (a, b, c, d))                   \
    X(hid_t, -1, H5Aget_space, (hid_t a), (a))                                                                         \
    X(hid_t, -1, H5Aget_type, (hid_t a), (a))                                                                          \
    X(hid_t, -1, H5Aopen_by_name, (hid_t a, const char *b, const char *c, hid_t d, hid_t e), (a, b, c, d, e))          \
    X(herr_t, -1, H5Aread, (hid_t a, hid_t b, void *c), (a, b, c))                                                     \
    X(herr_t, -1, H5Awrite, (hid_t a, hid_t b, const void *c), (a, b, c))                                              \
    X(herr_t, -1, H5Dclose, (hid_t a), (a))                                                                            \
    X(hid_t, -1, H5Dcreate2, (hid_t a, const char *b, hid_t c, hid_t d, hid_t e, hid_t f, hid_t g),                    \
      (a, b, c, d, e, f, g))                                                                                           \
    X(hid_t, -1, H5Dget_create_plist, (hid_t a), (a))                                                                  \
    X(haddr_t, HADDR_UNDEF, H5Dget_offset, (hid_t a), (a))                                                             \
    X(hid_t, -1, H5Dget_space, (hid_t a), (a))                                                                         \
    X(hsize_t, 0, H5Dget_storage_size, (hid_t a), (a))                                                                 \
    X(hid_t, -1, H5Dget_type, (hid_t a), (a))                                                                          \
    X(hid_t, -1, H5Dopen2, (hid_t a, const char *b, hid_t c), (a, b, c))                                               \
    X(herr_t, -1, H5Dread, (hid_t a, hid_t b, hid_t c, hid_t d, hid_t e, void *f), (a, b, c, d, e, f))                 \
    X(herr_t, -1, H5Dvlen_reclaim, (hid_t a, hid_t b, hid_t c, void *d), (a, b, c, d))                                 \
    X(herr_t, -1, H5Dwrite, (hid_t a, hid_t b, hid_t c, hid_t d, hid_t e, const void *f), (a, b, c, d, e, f))          \
    X(herr_t, -1, H5Eget_auto2, (hid_t a, H5E_auto2_t * b, void **c), (a, b, c))                                       \
    X(herr_t, -1, H5Eset_auto2, (hid_t a, H5E_auto2_t b, void *c), (a, b, c))                                          \
    X(herr_t, -1, H5Fclose, (hid_t a), (a))                                                                            \
    X(hid_t, -1, H5Fcreate, (const char *a, unsigned b, hid_t c, hid_t d), (a, b, c, d))                               \
    X(hid_t, -1, H5Fget_create_plist, (hid_t a), (a))                                                                  \
    X(htri_t, -1, H5Fis_hdf5, (const char *a), (a))                                                                    \
    X(hid_t, -1, H5Fopen, (const char *a, unsigned b, hid_t c), (a, b, c))                                             \
    X(herr_t, -1, H5Gclose, (hid_t a), (a))                                                                            \
    X(hid_t, -1, H5Gcreate2, (hid_t a, const char *b, hid_t c, hid_t d, hid_t e), (a, b, c, d, e))                     \
    X(hid_t, -1, H5Gopen2, (hid_t a, const char *b, hid_t c), (a, b, c))                                               \
    X(ssize_t, -1, H5Iget_name, (hid_t a, char *b, size_t c), (a, b, c))                                               \
    X(herr_t, -1, H5Literate, (hid_t a, H5_index_t b, H5_iter_order_t c, hsize_t * d, H5L_iterate_t e, void *f),       \
      (a, b, c, d, e, f))                                                                                              \
    X(herr_t, -1, H5Oclose, (hid_t a), (a))                                                                            \
    X(herr_t, -1, H5Oget_info, (hid_t a, H5O_info_t * b), (a, b))                                                      \
    X(hid_t, -1, H5Oopen, (hid_t a, const char *b, hid_t c), (a, b, c))                                                \
    X(herr_t, -1, H5Pclose, (hid_t a), (a))                                                                            \
    X(hid_t, -1, H5Pcreate, (hid_t a), (a))                                                                            \
    X(int, -1, H5Pget_external_count, (hid_t a), (a))                                                                  \
    X(H5Z_filter_t, -1, H5Pget_filter2,                                                                                \
      (hid_t a, unsigned b, unsigned int *c, size_t *d, unsigned *e, size_t f, char *g, unsigned *h),                  \
      (a, b, c, d, e, f, g, h))                                                                                        \
    X(H5D_layout_t, -1, H5Pget_layout, (hid_t a), (a))                                                                 \
    X(int, -1, H5Pget_nfilters, (hid_t a), (a))                                                                        \
    X(herr_t, -1, H5Pget_sizes, (hid_t a, size_t * b, size_t * c), (a, b, c))                                          \
    X(herr_t, -1, H5Pget_userblock, (hid_t a, hsize_t * b), (a, b))                                                    \
    X(herr_t, -1, H5Pset_attr_creation_order, (hid_t a, unsigned b), (a, b))                                           \
    X(herr_t, -1, H5Pset_attr_phase_change, (hid_t a, unsigned b, unsigned c), (a, b, c))                              \
    X(herr_t, -1, H5Pset_chunk, (hid_t a, int b, const hsize_t *c), (a, b, c))                                         \
    X(herr_t, -1, H5Pset_deflate, (hid_t a, unsigned b), (a, b))                                                       \
    X(herr_t, -1, H5Pset_fclose_degree, (hid_t a, H5F_close_degree_t b), (a, b))                                       \
    X(herr_t, -1, H5Pset_obj_track_times, (hid_t a, hbool_t b), (a, b))                                                \
    X(herr_t, -1, H5Pset_shuffle, (hid_t a), (a))                                                                      \
    X(herr_t, -1, H5Pset_userblock, (hid_t a, hsize_t b), (a, b))                                                      \
    X(hid_t, -1, H5Rdereference2, (hid_t a, hid_t b, H5R_type_t c, const void *d), (a, b, c, d))                       \
    X(herr_t, -1, H5Sclose, (hid_t a), (a))                                                                            \
    X(hid_t, -1, H5Screate, (H5S_class_t a), (a))                                                                      \
    X(hid_t, -1, H5Screate_simple, (int a, const hsize_t *b, const hsize_t *c), (a, b, c))                             \
    X(int, -1, H5Sget_simple_extent_dims, (hid_t a, hsize_t * b, hsize_t * c), (a, b, c))                              \
    X(int, -1, H5Sget_simple_extent_ndims, (hid_t a), (a))                                                             \
    X(H5S_class_t, -1, H5Sget_simple_extent_type, (hid_t a), (a))                                                      \
    X(herr_t, -1, H5Sselect_hyperslab,                                                                                 \
      (hid_t a, H5S_seloper_t b, const hsize_t *c, const hsize_t *d, const hsize_t *e, const hsize_t *f),              \
      (a, b, c, d, e, f))                                                                                              \
    X(herr_t, -1, H5Tclose, (hid_t a), (a))                                                                            \
    X(hid_t, -1, H5Tcopy, (hid_t a), (a))                                                                              \
    X(hid_t, -1, H5Tenum_create, (hid_t a), (a))                                                                       \
    X(herr_t, -1, H5Tenum_insert, (hid_t a, const char *b, const void *c), (a, b, c))                                  \
    X(htri_t, -1, H5Tequal, (hid_t a, hid_t b), (a, b))                                                                \
    X(H5T_class_t, -1, H5Tget_class, (hid_t a), (a))                                                                   \
    X(size_t, 0, H5Tget_size, (hid_t a), (a))                                                                          \
    X(H5T_str_t, -1, H5Tget_strpad, (hid_t a), (a))                                                                    \
    X(htri_t, -1, H5Tis_variable_str, (hid_t a), (a))                                                                  \
    X(herr_t, -1, H5Tset_cset, (hid_t a, H5T_cset_t b), (a, b))                                                        \
    X(herr_t, -1, H5Tset_size, (hid_t a, size_t b), (a, b))                                                            \
    X(htri_t, -1, H5Zfilter_avail, (H5Z_filter_t a), (a))                                                              \
    X(herr_t, -1, H5check_version, (unsigned a, unsigned b, unsigned c), (a, b, c))                                    \
    NEWER_FUNCTIONS(X)

#define IDENTIFIERS(X)                                                                                                 \
    X(H5P_CLS_DATASET_CREATE_ID_g)                                                                                     \
    X(H5P_CLS_FILE_ACCESS_ID_g)                                                                                        \
    X(H5P_CLS_FILE_CREATE_ID_g)                                                                                        \
    X(H5P_CLS_GROUP_CREATE_ID_g)                                                                                       \
    X(H5T_C_S1_g)                                                                                                      \
    X(H5T_NATIVE_DOUBLE_g)                                                                                             \
    X(H5T_NATIVE_INT32_g)                                                                                              \
    X(H5T_NATIVE_INT64_g)                                                                                              \
    X(H5T_NATIVE_INT8_g)                                                                                               \
    X(H5T_NATIVE_UINT32_g)                                                                                             \
    X(H5T_NATIVE_UINT8_g)                                                                                              \
    X(H5T_STD_REF_OBJ_g)

FUNCTIONS(LAZY_DEFINE)

#define DEFINE_IDENTIFIER(name)                                                                                        \
    hid_t name = -1;                                                                                                   \
    static const hid_t *real_##name;
IDENTIFIERS(DEFINE_IDENTIFIER)

static herr_t (*real_open)(void);

static void load(void)
{
    void *library = open_library(PLX_HDF5_SONAME);
    bool found = library && find(library, "H5open", &real_open);
    FUNCTIONS(LAZY_FIND)
#define FIND_IDENTIFIER(name) found = found && find(library, LAZY_NAME(name), (void *)&real_##name);
    IDENTIFIERS(FIND_IDENTIFIER)
    lazy.loaded = found;
}

herr_t H5open(void)
{
    if (!ready() || real_open() < 0) return -1;
#define COPY_IDENTIFIER(name) name = *real_##name;
    IDENTIFIERS(COPY_IDENTIFIER)
    return 0;
}

const char *plx__hdf5_missing(void) { return ready() ? NULL : lazy.error; }
