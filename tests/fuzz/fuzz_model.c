/*
 * The model loader. An input that starts like a model file is loaded as it is: the checksum must refuse every damaged
 * one. Any other input is a list of edits (three bytes each) on the objects inside a sound model file: removed,
 * renamed, given other shapes and values through HDF5 itself, with a head made to fit afterwards. Flipping raw bytes
 * behind a correct checksum would find faults of libhdf5 (its global heap) before any of ours; the checksum keeps those
 * away.
 *
 * A model that is accepted must predict or refuse with a message, and survive being saved and loaded again.
 */
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/model_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROMISE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition);                            \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static plx_context *new_context(void)
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

static void told(plx_status st, const plx_context *ctx)
{
    const char *text = plx_context_error(ctx);
    PROMISE(st != PLX_E_INTERNAL);
    PROMISE((st == PLX_OK) == !text[0]);
    PROMISE(!strchr(text, '\n'));
}

static void write_bytes(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
}

/* ---- sound models to start from ---- */

static plx_dataset *training(plx_context *ctx)
{
    static const double x[] = {5, 1, 2, 1, 6, 1, 4, 2, 1, 1, 5, 2, 3, 0, 1, 0, 4, 1};
    static const int64_t ptr[] = {0, 1, 2, 4, 5, 5, 6};
    static const int32_t col[] = {0, 1, 0, 2, 1, 0};
    static const double val[] = {2, 3, 1, 1, 4, 2};
    static const char *const names[] = {"ant", "bee", "cat"}, *const labels[] = {"A", "B", "A", "B", "A", "B"};
    plx_dataset *d = NULL;
    if (plx_dataset_create(&d, ctx, "base", 6) != PLX_OK ||
        plx_dataset_add_dense(d, ctx, "beasts", PLX_VIEW_COUNTS, (plx_cmat){x, 6, 3, 3}, names, NULL) != PLX_OK ||
        plx_dataset_add_sparse(d, ctx, "words", PLX_VIEW_COUNTS, (plx_ccsr){6, 3, ptr, col, val}, NULL, NULL) !=
            PLX_OK ||
        plx_dataset_set_labels(d, ctx, labels) != PLX_OK)
        abort();
    return d;
}

/* nb; rls with kept sparse rows; rls with weights and scaling state. */
static void write_base(plx_context *ctx, unsigned which, const char *path)
{
    static const char *const settings[][3][2] = {
        {{"smoothing", "1"}, {"combine", "mean"}, {"smoothing", "2"}},
        {{"view", "words"}, {"kernel", "rbf"}, {"decision", "share"}},
        {{"view", "concat"}, {"scale", "tfidf"}, {"kernel", "cosine"}},
    };
    const char *method = which % 3 ? "rls" : "nb";
    plx_dataset *d = training(ctx);
    plx_params *p = NULL;
    plx_model *m = NULL;
    if (plx_params_create(&p, ctx, method) != PLX_OK) abort();
    for (int i = 0; i < 3; i++)
        if (plx_params_set(p, ctx, settings[which % 3][i][0], settings[which % 3][i][1]) != PLX_OK) abort();
    if (plx_fit(&m, ctx, method, d, p, NULL) != PLX_OK || plx_model_save(ctx, m, path) != PLX_OK) abort();
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
}

/* ---- edits ---- */

static const char *const OBJECTS[] = {"/facts_int",
                                      "/facts_real",
                                      "/classes",
                                      "/parameters",
                                      "/parameters/names",
                                      "/parameters/defaults",
                                      "/parameters/set_keys",
                                      "/parameters/set_values",
                                      "/views",
                                      "/views/0",
                                      "/views/1",
                                      "/views/0/features",
                                      "/views/1/features",
                                      "/arrays",
                                      "/arrays/0",
                                      "/arrays/1",
                                      "/arrays/2",
                                      "/arrays/3",
                                      "/arrays/4",
                                      "/arrays/5",
                                      "/arrays/0/ptr",
                                      "/arrays/1/ptr",
                                      "/arrays/2/ptr",
                                      "/arrays/3/ptr",
                                      "/arrays/2/col",
                                      "/arrays/3/col",
                                      "/arrays/2/val",
                                      "/arrays/3/val",
                                      "/hierarchy",
                                      "/hierarchy/subset",
                                      "/"};
static const char *const ATTRIBUTES[] = {"name", "kind", "columns", "sparse", "shape", "method"};
static const char *const TEXTS[] = {"",   "beasts",      "words", "kernel", "counts", "rls",
                                    "nb", "theta.words", "_rows", "_coef",  "prior",  "nan"};
static const double NUMBERS[] = {0, 1, -1, 2, 3, 1e300, -1e18, 4294967296.0, 1e-300, 7};
static const int64_t WHOLE[] = {0, 1, -1, 2, 3, 4, 7, INT64_MAX, INT64_MIN, (int64_t)1 << 31, (int64_t)1 << 40};

enum {
    N_OBJECTS = sizeof OBJECTS / sizeof *OBJECTS,
    N_ATTRIBUTES = sizeof ATTRIBUTES / sizeof *ATTRIBUTES,
    N_TEXTS = sizeof TEXTS / sizeof *TEXTS,
    N_NUMBERS = sizeof NUMBERS / sizeof *NUMBERS,
    N_WHOLE = sizeof WHOLE / sizeof *WHOLE
};

static hid_t text_type(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    return type;
}

static void set_attribute(hid_t file, const char *object, const char *attribute, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    H5Adelete_by_name(file, object, attribute, H5P_DEFAULT);
    hid_t a = H5Acreate_by_name(file, object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (a >= 0) H5Awrite(a, type, value);
    if (a >= 0) H5Aclose(a);
    H5Sclose(space);
}

/* Other numbers in the same place. */
static void overwrite(hid_t file, const char *object, double value)
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
static void reshape(hid_t file, const char *object, unsigned how)
{
    hsize_t dims[2] = {how % 5, how / 5 % 5};
    double values[16];
    int rank = how & 128 ? 1 : 2;
    for (int i = 0; i < 16; i++) values[i] = NUMBERS[(unsigned)i % N_NUMBERS];
    H5Ldelete(file, object, H5P_DEFAULT);
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t set = H5Dcreate2(file, object, how & 64 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                           H5P_DEFAULT, H5P_DEFAULT);
    if (set >= 0) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
}

static void edit(hid_t file, unsigned op, unsigned target, unsigned arg)
{
    const char *object = OBJECTS[target % N_OBJECTS], *other = OBJECTS[arg % N_OBJECTS];
    const char *attribute = ATTRIBUTES[arg % N_ATTRIBUTES], *text = TEXTS[arg / N_ATTRIBUTES % N_TEXTS];
    int64_t whole = WHOLE[arg / N_ATTRIBUTES % N_WHOLE];
    hid_t type = text_type(text);
    switch (op % 7) {
    case 0: H5Ldelete(file, object, H5P_DEFAULT); break;
    case 1: H5Adelete_by_name(file, object, attribute, H5P_DEFAULT); break;
    case 2: H5Lmove(file, object, file, other, H5P_DEFAULT, H5P_DEFAULT); break;
    case 3: overwrite(file, object, NUMBERS[arg % N_NUMBERS]); break;
    case 4: reshape(file, object, arg); break;
    case 5: set_attribute(file, object, attribute, type, text); break;
    default: set_attribute(file, object, attribute, H5T_NATIVE_INT64, &whole);
    }
    H5Tclose(type);
}

static bool write_edited(const char *path, plx_context *ctx, const uint8_t *data, size_t size)
{
    char head[PLX__MODEL_HEAD];
    write_base(ctx, data[0], path);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0) abort();
    for (size_t i = 1; i + 2 < size && i < 90; i += 3) edit(file, data[i], data[i + 1], data[i + 2]);
    if (H5Fclose(file) < 0 || plx__model_head_make(head, ctx, path) != PLX_OK) return false;
    int fd = open(path, O_RDWR);
    if (fd < 0 || pwrite(fd, head, sizeof head, 0) != (ssize_t)sizeof head) abort();
    close(fd);
    return true;
}

/* Two samples with ones in every column of every view the model knows. */
static plx_dataset *samples_for(const plx_model *m, plx_context *ctx)
{
    enum { WIDEST = 4096 };
    static double ones[2 * WIDEST];
    plx_dataset *d = NULL;
    if (plx_dataset_create(&d, ctx, "new", 2) != PLX_OK) return NULL;
    for (int i = 0; i < 2 * WIDEST; i++) ones[i] = 1;
    for (plx_index v = 0; v < m->n_views; v++) {
        const plx__view_card *card = &m->views[v];
        if (card->cols > WIDEST) continue;
        plx_cmat values = {ones, 2, card->cols, card->cols};
        if (plx_dataset_add_dense(d, ctx, card->name, card->kind, values, card->features, NULL) != PLX_OK) continue;
    }
    return d;
}

static void use(const plx_model *m, plx_context *ctx, const char *path)
{
    plx_dataset *d = samples_for(m, ctx);
    plx_prediction *p = NULL;
    plx_model *again = NULL;
    if (d) told(plx_predict(&p, ctx, m, d), ctx);
    plx_prediction_destroy(p);
    plx_dataset_destroy(d);
    plx_status st = plx_model_save(ctx, m, path);
    told(st, ctx);
    if (st == PLX_OK) {
        st = plx_model_load(&again, ctx, path);
        told(st, ctx);
        PROMISE(st == PLX_OK || st == PLX_E_NOMEM);
    }
    plx_model_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64], copy[64];
    plx_context *ctx = new_context();
    plx_model *m = NULL;
    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/plx_fuzz_model_%ld.plx", (long)getpid());
        snprintf(copy, sizeof copy, "/tmp/plx_fuzz_model_%ld_copy.plx", (long)getpid());
    }
    bool whole = size >= 8 && memcmp(data, "PARALLAX", 8) == 0, ready = whole;
    if (whole) write_bytes(path, data, size);
    else if (size) ready = write_edited(path, ctx, data, size);
    if (ready) {
        plx_status st = plx_model_load(&m, ctx, path);
        told(st, ctx);
        PROMISE((st == PLX_OK) == (m != NULL));
        if (m) use(m, ctx, copy);
    }
    plx_model_destroy(m);
    unlink(path);
    unlink(copy);
    plx_context_destroy(ctx);
    return 0;
}
