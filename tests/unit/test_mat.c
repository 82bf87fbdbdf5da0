#include "plx_test.h"

#include <matio.h>
#include <unistd.h>

#include "data/dataset_impl.h"
#include "io/mat.h"

/* Files made with scipy.io.savemat (v4, v5, v7) and h5py (v7.3, laid out as MATLAB does): four samples,
 * a 4 x 3 and a 4 x 2 matrix, labels 1 2 2 1. */
#define SEEDS "tests/fuzz/corpus/mat/"

static const double A[] = {1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.25};
static const double B[] = {0, 3, 1, 0, 255, 2, 0, 0};

static char notes[1000];

static void keep_note(plx_log_level level, const char *text, void *payload)
{
    (void)level;
    (void)payload;
    snprintf(notes, sizeof notes, "%s", text);
}

static plx_context *noting_context(void)
{
    plx_context *ctx = test_context(1);
    notes[0] = '\0';
    plx_context_set_log(ctx, PLX_LOG_WARNING, keep_note, NULL);
    return ctx;
}

static void check_truth(const plx_dataset *d, const char *a, const char *b)
{
    const char *expect[] = {a, b, b, a};
    for (int i = 0; i < 4; i++) assert_string_equal(d->truth[i], expect[i]);
    assert_null(d->labels);
}

static void check_dense(const plx__view *v, const char *name, const double *values, plx_index cols)
{
    assert_string_equal(v->name, name);
    assert_false(v->sparse);
    assert_int_equal(v->cols, cols);
    assert_memory_equal(v->dense.data, values, (size_t)(4 * cols) * sizeof(double));
}

static void cells_in_every_version_and_orientation(void **state)
{
    (void)state;
    static const char *const files[] = {SEEDS "cell_v7.mat", SEEDS "cell_v5_t.mat", SEEDS "onehot.mat",
                                        SEEDS "cell_v73.mat"};
    for (int k = 0; k < 4; k++) {
        plx_context *ctx = noting_context();
        plx_dataset *d = NULL;
        assert_ok(ctx, plx__mat_read(&d, ctx, files[k], NULL));
        assert_int_equal(d->n, 4);
        check_dense(&d->views[0], "view1", A, 3);
        check_dense(&d->views[1], "view2", B, 2);
        assert_int_equal(d->views[0].kind, PLX_VIEW_REAL);
        assert_int_equal(d->views[1].kind, PLX_VIEW_COUNTS);
        check_truth(d, "1", "2");
        assert_string_equal(notes, "");
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

static void check_sparse(const plx__view *v)
{
    assert_true(v->sparse);
    assert_memory_equal(v->csr.ptr, ((int64_t[]){0, 1, 2, 3, 3}), 5 * sizeof(int64_t));
    assert_memory_equal(v->csr.col, ((int32_t[]){1, 0, 2}), 3 * sizeof(int32_t));
    assert_memory_equal(v->csr.val, ((double[]){1, 2, 3}), 3 * sizeof(double));
}

static void sparse_and_logical_matrices_and_names(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    assert_ok(ctx, plx__mat_read(&d, ctx, SEEDS "sparse_names.mat", NULL));
    assert_string_equal(d->views[0].name, "X1");
    check_sparse(&d->views[0]);
    assert_int_equal(d->views[1].kind, PLX_VIEW_BINARY);
    assert_memory_equal(d->views[1].csr.ptr, ((int64_t[]){0, 1, 1, 3, 4}), 5 * sizeof(int64_t));
    check_truth(d, "cat", "dog");
    plx_dataset_destroy(d);
    assert_ok(ctx, plx__mat_read(&d, ctx, SEEDS "cell_v73.mat", NULL));
    check_sparse(&d->views[2]);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void structs_and_plain_variables(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    assert_ok(ctx, plx__mat_read(&d, ctx, SEEDS "struct.mat", NULL));
    check_dense(&d->views[0], "fou", A, 3);
    check_dense(&d->views[1], "kar", B, 2);
    plx_dataset_destroy(d);
    assert_ok(ctx, plx__mat_read(&d, ctx, SEEDS "v4.mat", NULL));
    assert_int_equal(d->n_views, 2);
    check_dense(&d->views[0], "alpha", A, 3);
    check_dense(&d->views[1], "beta", B, 2);
    check_truth(d, "1", "2");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void ambiguity_is_told(void **state)
{
    (void)state;
    plx_context *ctx = noting_context();
    plx_dataset *d = NULL;
    assert_ok(ctx, plx__mat_read(&d, ctx, SEEDS "square.mat", NULL));
    assert_non_null(strstr(notes, "either way"));
    assert_true(d->views[0].dense.data[1] == 1.5);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- written here, through matio ---- */

static void write_matrix(mat_t *mat, const char *name, size_t rows, size_t cols, double first)
{
    double x[64];
    size_t dims[2] = {rows, cols};
    for (int i = 0; i < 64; i++) x[i] = first + i;
    matvar_t *v = Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, x, 0);
    assert_int_equal(Mat_VarWrite(mat, v, MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v);
}

static plx_status read_made(plx_dataset **d, plx_context *ctx, enum mat_ft version, size_t label_rows,
                            const char *label)
{
    char path[] = "/tmp/plx_mat_XXXXXX";
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    o.label = label;
    close(mkstemp(path));
    mat_t *mat = Mat_CreateVer(path, NULL, version);
    write_matrix(mat, "X1", 3, 5, 0.5);
    write_matrix(mat, "X2", 2, 5, 1);
    if (label_rows) write_matrix(mat, "Y", label_rows, 1, 1);
    Mat_Close(mat);
    plx_status st = plx__mat_read(d, ctx, path, label ? &o : NULL);
    unlink(path);
    return st;
}

static void orientation_without_labels_is_the_shared_side(void **state)
{
    (void)state;
    plx_context *ctx = noting_context();
    plx_dataset *d = NULL;
    enum mat_ft versions[] = {MAT_FT_MAT5, MAT_FT_MAT73};
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, read_made(&d, ctx, versions[k], 0, NULL));
        assert_int_equal(d->n, 5);
        assert_null(d->truth);
        assert_memory_equal(d->views[0].dense.data, ((double[]){0.5, 1.5, 2.5, 3.5}), 4 * sizeof(double));
        plx_dataset_destroy(d);
        assert_string_equal(notes, "");
    }
    plx_context_destroy(ctx);
}

static void misfits_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    assert_fails(ctx, read_made(&d, ctx, MAT_FT_MAT5, 4, NULL), PLX_E_DATA,
                 "view 'X1' is 3 x 5, but there are 4 labels");
    assert_fails(ctx, read_made(&d, ctx, MAT_FT_MAT5, 5, "Z"), PLX_E_DATA, "no variable 'Z'");
    assert_fails(ctx, plx__mat_read(&d, ctx, SEEDS "struct_no_data.mat", NULL), PLX_E_FORMAT, "struct 'X'");
    assert_fails(ctx, plx__mat_read(&d, ctx, "nowhere.mat", NULL), PLX_E_IO, "nowhere.mat");
    assert_fails(ctx, plx__mat_read(&d, ctx, "tests", NULL), PLX_E_IO, "directory");
    assert_fails(ctx, plx__mat_read(&d, ctx, "CMakeLists.txt", NULL), PLX_E_FORMAT, "CMakeLists.txt");
    assert_null(d);
    plx_context_destroy(ctx);
}

/* Only a cut between two variables goes unnoticed. */
static void cut_files_fail(void **state)
{
    (void)state;
    static const char *const files[] = {SEEDS "cell_v7.mat", SEEDS "cell_v5_t.mat", SEEDS "v4.mat",
                                        SEEDS "cell_v73.mat"};
    static char bytes[8192];
    char path[] = "/tmp/plx_mat_XXXXXX";
    close(mkstemp(path));
    for (int k = 0; k < 4; k++) {
        FILE *f = fopen(files[k], "rb");
        size_t size = fread(bytes, 1, sizeof bytes, f), step = size / 400 + 1;
        int unnoticed = 0;
        fclose(f);
        for (size_t cut = 0; cut < size - 8; cut += step) {
            plx_context *ctx = test_context(1);
            plx_dataset *d = NULL;
            f = fopen(path, "wb");
            fwrite(bytes, 1, cut, f);
            fclose(f);
            plx_status st = plx__mat_read(&d, ctx, path, NULL);
            if (st != PLX_OK) assert_non_null(strstr(plx_context_error(ctx), path));
            unnoticed += st == PLX_OK;
            plx_dataset_destroy(d);
            plx_context_destroy(ctx);
        }
        assert_in_range(unnoticed, 0, 2);
    }
    unlink(path);
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    static const char *const files[] = {SEEDS "sparse_names.mat", SEEDS "onehot.mat", SEEDS "struct.mat"};
    for (int k = 0; k < 3; k++)
        for (long at = 1;; at++) {
            meter m = {0, at, 0};
            plx_context *ctx = metered_context(&m, 1);
            if (!ctx) continue;
            plx_dataset *d = NULL;
            plx_status st = plx__mat_read(&d, ctx, files[k], NULL);
            assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
            plx_dataset_destroy(d);
            plx_context_destroy(ctx);
            assert_int_equal(m.live, 0);
            if (m.calls < at) break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_in_every_version_and_orientation),
        cmocka_unit_test(sparse_and_logical_matrices_and_names),
        cmocka_unit_test(structs_and_plain_variables),
        cmocka_unit_test(ambiguity_is_told),
        cmocka_unit_test(orientation_without_labels_is_the_shared_side),
        cmocka_unit_test(misfits_are_named),
        cmocka_unit_test(cut_files_fail),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
