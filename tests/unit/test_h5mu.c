#include "plx_test.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text.h"
#include "data/dataset_impl.h"
#include "io/h5.h"
#include "io/h5mu.h"

#define SEEDS "tests/fuzz/corpus/h5mu/"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/plx_h5mu_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int drop_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    closedir(dir);
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- comparing ---- */

static void same_text(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_string_equal(a, b);
}

static void same_texts(const char *const *a, const char *const *b, plx_index n)
{
    assert_int_equal(a == NULL, b == NULL);
    for (plx_index i = 0; a && i < n; i++) same_text(a[i], b[i]);
}

static void same_view(const plx__view *a, const plx__view *b, plx_index n)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->sparse, b->sparse);
    assert_int_equal(a->cols, b->cols);
    assert_int_equal(a->nonzeros, b->nonzeros);
    assert_int_equal(a->missing_values, b->missing_values);
    assert_true(a->cost == b->cost);
    assert_memory_equal(a->present, b->present, (size_t)n);
    same_texts(a->features, b->features, a->cols);
    if (a->sparse) {
        assert_memory_equal(a->csr.ptr, b->csr.ptr, (size_t)(n + 1) * sizeof(int64_t));
        assert_memory_equal(a->csr.col, b->csr.col, (size_t)a->csr.ptr[n] * sizeof(int32_t));
        assert_memory_equal(a->csr.val, b->csr.val, (size_t)a->csr.ptr[n] * sizeof(double));
    } else {
        for (plx_index i = 0; i < n; i++)
            assert_memory_equal(a->dense.data + i * a->dense.ld, b->dense.data + i * b->dense.ld,
                                (size_t)a->cols * sizeof(double));
    }
}

static void same_dataset(const plx_dataset *a, const plx_dataset *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_views, b->n_views);
    for (plx_index v = 0; v < a->n_views; v++) same_view(&a->views[v], &b->views[v], a->n);
    same_texts(a->ids, b->ids, a->n);
    same_texts(a->labels, b->labels, a->n);
    same_texts(a->truth, b->truth, a->n);
    assert_true(a->label_cost == b->label_cost);
    assert_int_equal(a->sample_costs == NULL, b->sample_costs == NULL);
    if (a->sample_costs) assert_memory_equal(a->sample_costs, b->sample_costs, (size_t)a->n * sizeof(double));
    assert_int_equal(a->hierarchy == NULL, b->hierarchy == NULL);
    if (!a->hierarchy) return;
    const plx__hierarchy *g = a->hierarchy, *h = b->hierarchy;
    assert_int_equal(g->n_classes, h->n_classes);
    assert_int_equal(g->n_subset, h->n_subset);
    assert_int_equal(g->n_mutex, h->n_mutex);
    same_texts(g->classes, h->classes, g->n_classes);
    assert_memory_equal(g->subset, h->subset, (size_t)g->n_subset * 2 * sizeof(int32_t));
    assert_memory_equal(g->mutex, h->mutex, (size_t)g->n_mutex * 2 * sizeof(int32_t));
}

/* ---- data sets ---- */

static plx_status make_rich(plx_dataset **out, plx_context *ctx)
{
    static const double dense[] = {0.1, -0.0, 1e-300, NAN, 5, 6, 7, 8, 9, 1.0 / 3, 2, 3};
    static const uint8_t present[] = {1, 0, 1, 1};
    static const int64_t ptr[] = {0, 2, 2, 3, 5};
    static const int32_t col[] = {0, 4, 2, 1, 3};
    static const double val[] = {1, 7, 2, 3, 1};
    static const double bits[] = {0, 1, 1, 0};
    static const char *const ids[] = {"b", "a", "\xc3\xa9t\xc3\xa9", "line 4"};
    static const char *const features[] = {"x", "y z", "\xce\xb1", "0", "w"};
    static const char *const labels[] = {"Fruit|Food", NULL, "Car", NULL};
    static const char *const truth[] = {"Fruit", "Car", "", "Food"};
    static const char *const classes[] = {"Food", "Fruit", "Car"};
    static const int32_t subset[] = {1, 0}, mutex[] = {0, 2, 1, 2};
    static const double costs[] = {1, 2.5, 1, 0.125};
    PLX_TRY(plx__dataset_create(out, ctx, "rich", 4));
    PLX_TRY(plx__dataset_set_ids(*out, ctx, ids));
    PLX_TRY(plx__dataset_add_dense(*out, ctx, "zeta", PLX_VIEW_REAL, (plx_cmat){dense, 4, 3, 3}, NULL, present));
    PLX_TRY(
        plx__dataset_add_sparse(*out, ctx, "alpha", PLX_VIEW_COUNTS, (plx_ccsr){4, 5, ptr, col, val}, features, NULL));
    PLX_TRY(plx__dataset_add_dense(*out, ctx, "one", PLX_VIEW_PROBABILITY, (plx_cmat){bits, 4, 1, 1}, NULL, NULL));
    PLX_TRY(plx__dataset_set_hierarchy(*out, ctx, classes, 3, subset, 1, mutex, 2));
    PLX_TRY(plx__dataset_set_labels(*out, ctx, labels));
    PLX_TRY(plx__dataset_set_truth(*out, ctx, truth));
    PLX_TRY(plx__dataset_set_label_cost(*out, ctx, 3.5));
    PLX_TRY(plx__dataset_set_view_cost(*out, ctx, 1, 0.25));
    return plx__dataset_set_sample_costs(*out, ctx, costs);
}

static plx_status make_plain(plx_dataset **out, plx_context *ctx)
{
    static const double x[] = {1, 2, 3, 4};
    static const uint8_t none[] = {0, 0};
    PLX_TRY(plx__dataset_create(out, ctx, "plain", 2));
    PLX_TRY(plx__dataset_add_dense(*out, ctx, "v", PLX_VIEW_KERNEL, (plx_cmat){x, 2, 2, 2}, NULL, NULL));
    return plx__dataset_add_dense(*out, ctx, "nobody", PLX_VIEW_REAL, (plx_cmat){x, 2, 2, 2}, NULL, none);
}

/* ---- round trip ---- */

static void check_round_trip(plx_context *ctx, plx_dataset *data)
{
    plx_dataset *back = NULL;
    assert_ok(ctx, plx__h5mu_write(ctx, data, in_folder("round.h5mu")));
    assert_ok(ctx, plx__h5mu_read(&back, ctx, in_folder("round.h5mu"), NULL));
    same_dataset(data, back);
    plx_dataset_destroy(back);
    plx_dataset_destroy(data);
    assert_int_equal(files_in_folder(), 1);
}

static void round_trip_gives_the_identical_data_set(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *data = NULL;
    assert_ok(ctx, make_rich(&data, ctx));
    check_round_trip(ctx, data);
    assert_ok(ctx, make_plain(&data, ctx));
    check_round_trip(ctx, data);
    plx_context_destroy(ctx);
}

/* Large enough for several chunks, deflate and shuffle. */
static void round_trip_of_many_values(void **state)
{
    (void)state;
    enum { N = 300, D = 250 };
    plx_context *ctx = test_context(2);
    plx_dataset *data = NULL;
    double *x = NULL;
    assert_ok(ctx, plx__arena_f64(&x, plx__scratch(ctx), N, D));
    for (int i = 0; i < N * D; i++) x[i] = sin(i) * 1e3;
    assert_ok(ctx, plx__dataset_create(&data, ctx, "many", N));
    assert_ok(ctx, plx__dataset_add_dense(data, ctx, "x", PLX_VIEW_REAL, (plx_cmat){x, N, D, D}, NULL, NULL));
    check_round_trip(ctx, data);
    plx_context_destroy(ctx);
}

static void file_starts_with_the_user_block(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL;
    char head[520] = {0};
    assert_ok(ctx, make_plain(&data, ctx));
    assert_ok(ctx, plx__h5mu_write(ctx, data, in_folder("head.h5mu")));
    FILE *f = fopen(in_folder("head.h5mu"), "rb");
    assert_int_equal(fread(head, 1, sizeof head, f), sizeof head);
    fclose(f);
    assert_true(plx__starts_with(head, "MuData (format-version=0.1.0;creator=parallax;creator-version="));
    assert_memory_equal(head + 512, "\211HDF\r\n\032\n", 8);
    for (int i = 100; i < 512; i++) assert_int_equal(head[i], 0);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- files of others (made with mudata 0.3.10, anndata 0.12 and h5py) ---- */

static void reads_a_file_of_mudata(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    assert_ok(ctx, plx__h5mu_read(&d, ctx, SEEDS "mudata.h5mu", NULL));
    assert_int_equal(d->n, 4);
    assert_int_equal(d->n_views, 2);
    const char *ids[] = {"s1", "s2", "s4", "s3"}, *labels[] = {"T", NULL, "T", "B"};
    same_texts(d->ids, ids, 4);
    same_texts(d->labels, labels, 4);
    assert_string_equal(d->views[0].name, "rna");
    assert_int_equal(d->views[0].kind, PLX_VIEW_COUNTS);
    assert_memory_equal(d->views[0].present, ((uint8_t[]){1, 1, 1, 0}), 4);
    assert_memory_equal(d->views[0].csr.val, ((double[]){2, 1, 5}), 3 * sizeof(double));
    assert_memory_equal(d->views[0].csr.col, ((int32_t[]){1, 0, 2}), 3 * sizeof(int32_t));
    assert_memory_equal(d->views[1].present, ((uint8_t[]){1, 1, 0, 1}), 4);
    assert_memory_equal(d->views[1].dense.data, ((double[]){4, 5, 2.25, 3, 0, 0, 0.5, -1}), 8 * sizeof(double));
    assert_string_equal(d->views[1].features[1], "p2");
    assert_string_equal(d->name, "mudata");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void intersection_keeps_common_samples(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    o.join = PLX_JOIN_INTERSECTION;
    assert_ok(ctx, plx__h5mu_read(&d, ctx, SEEDS "mudata.h5mu", &o));
    assert_int_equal(d->n, 2);
    same_texts(d->ids, ((const char *[]){"s1", "s2"}), 2);
    same_texts(d->labels, ((const char *[]){"T", NULL}), 2);
    assert_memory_equal(d->views[1].dense.data, ((double[]){4, 5, 2.25, 3}), 4 * sizeof(double));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void reads_columns_and_nullable_strings(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    assert_ok(ctx, plx__h5mu_read(&d, ctx, SEEDS "csc_gzip.h5ad", NULL));
    assert_string_equal(d->views[0].name, "X");
    same_texts(d->labels, ((const char *[]){"x", "y", NULL, "x"}), 4);
    assert_memory_equal(d->views[0].csr.ptr, ((int64_t[]){0, 1, 2, 2, 4}), 5 * sizeof(int64_t));
    assert_memory_equal(d->views[0].csr.val, ((double[]){1.5, 2, 3, 4}), 4 * sizeof(double));
    same_texts(d->views[0].features, ((const char *[]){"f", "g"}), 2);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Unsorted indices, one entry given twice (4 + 10), categories by reference, a name that occurs twice. */
static void reads_the_old_layout(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    assert_ok(ctx, plx__h5mu_read(&d, ctx, SEEDS "old.h5ad", NULL));
    same_texts(d->labels, ((const char *[]){"small", NULL, "big"}), 3);
    assert_memory_equal(d->views[0].csr.ptr, ((int64_t[]){0, 2, 2, 4}), 4 * sizeof(int64_t));
    assert_memory_equal(d->views[0].csr.col, ((int32_t[]){0, 3, 1, 2}), 4 * sizeof(int32_t));
    assert_memory_equal(d->views[0].csr.val, ((double[]){2, 1, 14, 3}), 4 * sizeof(double));
    same_texts(d->views[0].features, ((const char *[]){"a", "a-1", "b", "c"}), 4);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- refusals ---- */

static void bad_files_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    assert_fails(ctx, plx__h5mu_read(&d, ctx, SEEDS "lzf.h5ad", NULL), PLX_E_UNSUPPORTED,
                 "lzf.h5ad: /X: is compressed with LZF");
    assert_fails(ctx, plx__h5mu_read(&d, ctx, "nowhere.h5mu", NULL), PLX_E_IO, "nowhere.h5mu");
    assert_fails(ctx, plx__h5mu_read(&d, ctx, "tests", NULL), PLX_E_IO, "directory");
    assert_fails(ctx, plx__h5mu_read(&d, ctx, "tests/unit/test_h5mu.c", NULL), PLX_E_FORMAT, "not an HDF5 file");
    o.label = "lable";
    assert_fails(ctx, plx__h5mu_read(&d, ctx, SEEDS "mudata.h5mu", &o), PLX_E_DATA, "did you mean 'label'");
    assert_null(d);
    plx_context_destroy(ctx);
}

typedef enum flaw { AXIS, NO_X, CODE, TWICE, SHAPE, POINTER, INDEX, EMPTY_FILE, NESTED, COMPOUND, N_FLAWS } flaw;

static plx_status write_names(const plx__h5 *f, const char *frame, const char *const *names, plx_index n)
{
    char path[80];
    snprintf(path, sizeof path, "%s/_index", frame);
    PLX_TRY(plx__h5_write_group(f, frame, false));
    return plx__h5_write_texts(f, path, names, n);
}

static plx_status write_compound(const plx__h5 *f)
{
    hsize_t n = 1;
    hid_t type = H5Tcreate(H5T_COMPOUND, 8), space = H5Screate_simple(1, &n, NULL);
    H5Tinsert(type, "index", 0, H5T_NATIVE_INT64);
    hid_t set = H5Dcreate2(f->file, "/mod/v/obs", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    return PLX_OK;
}

/* A correct two-sample file with exactly one thing wrong. */
static plx_status write_flawed(plx_context *ctx, const char *path, flaw what)
{
    const char *names[] = {"s", what == TWICE ? "s" : "t"}, *classes[] = {"A"};
    int64_t axis = 1, shape[] = {2, what == SHAPE ? 3 : 2}, ptr[] = {0, what == POINTER ? 9 : 1, 2};
    int32_t index[] = {0, what == INDEX ? 2 : 1}, codes[] = {0, what == CODE ? 1 : -1};
    double value[] = {1, 2};
    plx_index two = 2;
    plx__h5 f;
    PLX_TRY(plx__h5_create(&f, ctx, path, 0));
    plx_status st = PLX_OK;
    if (what != EMPTY_FILE) {
        PLX_GOTO(plx__h5_write_group(&f, "/mod", false));
        PLX_GOTO(plx__h5_write_group(&f, "/mod/v", false));
        if (what == COMPOUND) PLX_GOTO(write_compound(&f));
        else PLX_GOTO(write_names(&f, "/mod/v/obs", names, 2));
        PLX_GOTO(write_names(&f, "/mod/v/var", (const char *[]){"a", "b"}, 2));
        if (what == AXIS) PLX_GOTO(plx__h5_write_attr(&f, "/", "axis", PLX__H5_I64, &axis, 0, NULL));
        if (what != NO_X) {
            PLX_GOTO(plx__h5_write_group(&f, "/mod/v/X", false));
            PLX_GOTO(plx__h5_write_attr_text(&f, "/mod/v/X", "encoding-type", "csr_matrix"));
            PLX_GOTO(plx__h5_write_attr(&f, "/mod/v/X", "shape", PLX__H5_I64, shape, 1, &two));
            PLX_GOTO(plx__h5_write_vector(&f, "/mod/v/X/data", PLX__H5_F64, value, 2));
            PLX_GOTO(plx__h5_write_vector(&f, "/mod/v/X/indices", PLX__H5_I32, index, 2));
            PLX_GOTO(plx__h5_write_vector(&f, "/mod/v/X/indptr", PLX__H5_I64, ptr, 3));
        }
        PLX_GOTO(plx__h5_write_group(&f, "/mod/v/obs/label", false));
        PLX_GOTO(plx__h5_write_vector(&f, "/mod/v/obs/label/codes", PLX__H5_I32, codes, 2));
        if (what == NESTED)
            H5Lcreate_hard(f.file, "/mod/v/obs/label", f.file, "/mod/v/obs/label/categories", H5P_DEFAULT, H5P_DEFAULT);
        else PLX_GOTO(plx__h5_write_texts(&f, "/mod/v/obs/label/categories", classes, 1));
    }
done:
    if (st == PLX_OK || what == COMPOUND) st = plx__h5_commit(&f, NULL);
    plx__h5_close(&f);
    plx__clear_error(ctx);
    return st;
}

static void every_flaw_is_found(void **state)
{
    (void)state;
    static const struct {
        flaw what;
        plx_status status;
        const char *word;
    } cases[] = {{AXIS, PLX_E_UNSUPPORTED, "axis = 1"},
                 {NO_X, PLX_E_FORMAT, "no modality with an X"},
                 {CODE, PLX_E_FORMAT, "/mod/v/obs/label/codes: row 1 has code 1"},
                 {TWICE, PLX_E_DATA, "duplicate sample 's'"},
                 {SHAPE, PLX_E_FORMAT, "/mod/v/X: is 2 x 3"},
                 {POINTER, PLX_E_FORMAT, "/mod/v/X/indptr: entry 1"},
                 {INDEX, PLX_E_FORMAT, "/mod/v/X/indices: entry 1"},
                 {EMPTY_FILE, PLX_E_FORMAT, "neither /mod"},
                 {NESTED, PLX_E_FORMAT, "nested too deeply"},
                 {COMPOUND, PLX_E_UNSUPPORTED, "before 0.7"}};
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_ok(ctx, write_flawed(ctx, in_folder("flaw.h5mu"), cases[k].what));
        assert_fails(ctx, plx__h5mu_read(&d, ctx, in_folder("flaw.h5mu"), NULL), cases[k].status, cases[k].word);
        assert_null(d);
    }
    assert_ok(ctx, write_flawed(ctx, in_folder("flaw.h5mu"), N_FLAWS));
    assert_ok(ctx, plx__h5mu_read(&d, ctx, in_folder("flaw.h5mu"), NULL));
    same_texts(d->labels, ((const char *[]){"A", NULL}), 2);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static size_t load(char **out, const char *path)
{
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    *out = malloc(size);
    assert_int_equal(fread(*out, 1, size, f), size);
    fclose(f);
    return size;
}

static void store(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    fwrite(bytes, 1, size, f);
    fclose(f);
}

static void cut_files_fail_with_a_message(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    char *bytes = NULL;
    size_t size = load(&bytes, SEEDS "mudata.h5mu");
    for (int k = 0; k < 30; k++) {
        store(in_folder("cut.h5mu"), bytes, size * (size_t)k / 30);
        plx_status st = plx__h5mu_read(&d, ctx, in_folder("cut.h5mu"), NULL);
        assert_int_equal(st, PLX_E_FORMAT);
        assert_non_null(strstr(plx_context_error(ctx), "cut.h5mu"));
        plx__clear_error(ctx);
    }
    free(bytes);
    plx_context_destroy(ctx);
}

static bool survives(plx_context *ctx, const char *path)
{
    plx_dataset *d = NULL;
    plx_status st = plx__h5mu_read(&d, ctx, path, NULL);
    bool named = st == PLX_OK || strstr(plx_context_error(ctx), path);
    plx_dataset_destroy(d);
    plx__clear_error(ctx);
    return named && H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
}

/* Whatever is overwritten, the reader answers with a data set or with a message that names the file, and every handle
 * is closed. In a process of its own that skips the exit handlers: libhdf5 leaks after some kinds of damage. */
static void overwritten_bytes_never_crash(void **state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        plx_context *ctx = test_context(1);
        char *bytes = NULL;
        bool good = true;
        size_t size = load(&bytes, SEEDS "old.h5ad");
        for (size_t k = 0; k < 150; k++) {
            size_t at = k * 7919 % size;
            char old = bytes[at];
            bytes[at] = (char)(old ^ 0x5a);
            store(in_folder("flip.h5ad"), bytes, size);
            bytes[at] = old;
            good = good && survives(ctx, in_folder("flip.h5ad"));
        }
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void unwritable_target_leaves_nothing(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL;
    int before = files_in_folder();
    assert_ok(ctx, make_plain(&data, ctx));
    assert_fails(ctx, plx__h5mu_write(ctx, data, in_folder("none/x.h5mu")), PLX_E_IO, "none/x.h5mu");
    assert_fails(ctx, plx__h5mu_write(ctx, data, folder), PLX_E_IO, "directory");
    assert_fails(ctx, plx__h5mu_write(ctx, data, "-"), PLX_E_ARG, "standard output");
    assert_int_equal(files_in_folder(), before);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- helpers used by others too ---- */

static void wide_groups_hold_long_attributes(void **state)
{
    (void)state;
    enum { N = 6000 };
    plx_context *ctx = test_context(1);
    const char **names = NULL, *const *back = NULL;
    plx_index count = 0;
    plx__h5 f;
    assert_ok(ctx, PLX__ARENA_NEW(&names, plx__scratch(ctx), N));
    for (int i = 0; i < N; i++) assert_ok(ctx, plx__arena_printf(&names[i], plx__scratch(ctx), "column%d", i));
    assert_ok(ctx, plx__h5_create(&f, ctx, in_folder("wide.h5"), 0));
    assert_ok(ctx, plx__h5_write_group(&f, "/g", true));
    assert_ok(ctx, plx__h5_write_attr_texts(&f, "/g", "column-order", (const char *const *)names, N));
    assert_ok(ctx, plx__h5_write_group(&f, "/h", false));
    assert_fails(ctx, plx__h5_write_attr_texts(&f, "/h", "column-order", (const char *const *)names, N), PLX_E_IO,
                 "/h: attribute");
    assert_ok(ctx, plx__h5_commit(&f, NULL));
    plx__h5_close(&f);
    assert_ok(ctx, plx__h5_open(&f, ctx, in_folder("wide.h5")));
    assert_ok(ctx, plx__h5_attr_texts(&back, &count, &f, plx__scratch(ctx), "/g", "column-order"));
    assert_int_equal(count, N);
    same_texts((const char *const *)names, back, N);
    plx__h5_close(&f);
    plx_context_destroy(ctx);
}

static void error_printing_is_restored(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__h5 f;
    H5E_auto2_t before, during, after;
    void *data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &before, &data);
    plx__h5_enter(&f, ctx, "x");
    H5Eget_auto2(H5E_DEFAULT, &during, &data);
    plx__h5_close(&f);
    plx__h5_close(&f);
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    assert_true(before == after);
    assert_true(during == NULL);
    plx_context_destroy(ctx);
}

/* ---- memory ---- */

static plx_status read_and_write(plx_context *ctx, const char *from)
{
    plx_dataset *d = NULL;
    plx_status st = plx__h5mu_read(&d, ctx, from, NULL);
    if (st == PLX_OK) st = plx__h5mu_write(ctx, d, in_folder("sweep.h5mu"));
    plx_dataset_destroy(d);
    return st;
}

static void sweep(const char *from)
{
    for (long k = 1;; k++) {
        meter m = {0, k, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx_status st = read_and_write(ctx, from);
        if (st != PLX_OK) {
            assert_int_equal(st, PLX_E_NOMEM);
            assert_true(plx_context_error(ctx)[0] != '\0');
        }
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (m.calls < k) {
            assert_int_equal(st, PLX_OK);
            return;
        }
    }
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL;
    char own[100];
    snprintf(own, sizeof own, "%s/own.h5mu", folder);
    assert_ok(ctx, make_rich(&data, ctx));
    assert_ok(ctx, plx__h5mu_write(ctx, data, own));
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    int before = files_in_folder();
    sweep(own);
    sweep(SEEDS "old.h5ad");
    sweep(SEEDS "mudata.h5mu");
    assert_int_equal(files_in_folder(), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_gives_the_identical_data_set),
        cmocka_unit_test(round_trip_of_many_values),
        cmocka_unit_test(file_starts_with_the_user_block),
        cmocka_unit_test(reads_a_file_of_mudata),
        cmocka_unit_test(intersection_keeps_common_samples),
        cmocka_unit_test(reads_columns_and_nullable_strings),
        cmocka_unit_test(reads_the_old_layout),
        cmocka_unit_test(bad_files_are_named),
        cmocka_unit_test(every_flaw_is_found),
        cmocka_unit_test(cut_files_fail_with_a_message),
        cmocka_unit_test(overwritten_bytes_never_crash),
        cmocka_unit_test(unwritable_target_leaves_nothing),
        cmocka_unit_test(wide_groups_hold_long_attributes),
        cmocka_unit_test(error_printing_is_restored),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
