/*
 * Model files: what was saved predicts the same, damage of any byte is noticed, files of older versions stay readable.
 *
 * tests/data/model_v1_*.plx were written by `test_model_file write tests/data` at format version 1 and are never
 * written again: a later format keeps reading them. Their predictions are compared with a fresh fit on the same data.
 */
#include "fit_helpers.h"

#include <fcntl.h>

#include "api/model_file.h"
#include "core/file.h"

enum { N = 18, D1 = 6, D2 = 5, NEW = 7 };

/* ---- the data of the kept files: whole numbers from a formula, so that they can always be made again ---- */

static double entry(int i, int f, int salt)
{
    return (double)((i * i + 3 * i * f + 5 * f + salt * (i + 1)) % 7 + (f % 3 == i % 3 ? 6 : 0));
}

static plx_dataset *formula_data(plx_context *ctx, int n, int salt, bool labels)
{
    static const char *const f1[] = {"ant", "bee", "cat", "dog", "elk", "fox"};
    double x[N * D1], y[N * D2];
    int label[N];
    uint8_t present[N];
    plx_dataset *d = new_dataset(ctx, n);
    for (int i = 0; i < n; i++) {
        for (int f = 0; f < D1; f++) x[i * D1 + f] = entry(i, f, salt);
        for (int f = 0; f < D2; f++) y[i * D2 + f] = entry(i, f, salt + 1);
        label[i] = i % 4 == 3 ? -1 : i % 3;
        present[i] = i % 5 != 4;
    }
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "beasts", PLX_VIEW_COUNTS, (plx_cmat){x, n, D1, D1}, f1, NULL));
    add_thin(d, ctx, "words", PLX_VIEW_COUNTS, y, D2, present);
    if (labels) set_labels(d, ctx, label);
    return d;
}

typedef struct kept {
    const char *file, *method;
    const char *settings[6];
} kept;

static const kept KEPT[] = {
    {"model_v1_nb.plx", "nb", {"smoothing=0.5", "combine=product"}},
    {"model_v1_rls.plx", "rls", {"view=words", "kernel=rbf", "scale.words=unit", "gamma_a=0.05"}},
};

static plx_model *fit_kept(plx_context *ctx, const kept *k)
{
    plx_dataset *d = formula_data(ctx, N, 1, true);
    plx_model *m = fit_model(ctx, k->method, d, k->settings);
    plx_dataset_destroy(d);
    return m;
}

static void assert_same_predictions(plx_context *ctx, const plx_model *a, const plx_model *b, double tolerance)
{
    plx_dataset *fresh = formula_data(ctx, NEW, 4, false);
    plx_prediction *x = NULL, *y = NULL;
    assert_ok(ctx, plx_predict(&x, ctx, a, fresh));
    assert_ok(ctx, plx_predict(&y, ctx, b, fresh));
    plx_cmat s = plx_prediction_scores(x), t = plx_prediction_scores(y);
    assert_int_equal(s.cols, t.cols);
    for (int i = 0; i < NEW; i++) /* scores of samples without the model's view were 0 once and are class shares now */
        for (plx_index c = 0; c < s.cols && i % 5 != 4; c++)
            assert_close(s.data[i * s.ld + c], t.data[i * t.ld + c], tolerance);
    for (int i = 0; i < NEW; i++) assert_string_equal(plx_prediction_label(x, i), plx_prediction_label(y, i));
    plx_prediction_destroy(x);
    plx_prediction_destroy(y);
    plx_dataset_destroy(fresh);
}

/* ---- tests ---- */

static void old_files_are_read(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        char path[96];
        plx_model *old = NULL, *now = fit_kept(ctx, &KEPT[i]);
        snprintf(path, sizeof path, "tests/data/%s", KEPT[i].file);
        assert_ok(ctx, plx_model_load(&old, ctx, path));
        assert_string_equal(plx_model_method(old), KEPT[i].method);
        assert_int_equal(old->n_views, 2);
        assert_int_equal(old->n_fitted, N);
        assert_int_equal(old->n_classes, 3);
        assert_string_equal(old->views[0].features[2], "cat");
        assert_same_predictions(ctx, old, now, 1e-10);
        plx_model_destroy(old);
        plx_model_destroy(now);
    }
    plx_context_destroy(ctx);
}

static void saved_models_come_back(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    char directory[64], path[96];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/m.plx", directory);
    plx_dataset *d = formula_data(ctx, N, 1, true);
    const char *classes[] = {"B", "A", "C", "D"};
    const int32_t subset[] = {0, 3, 1, 3}, mutex[] = {0, 1};
    assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 4, subset, 2, mutex, 1));
    plx_model *m = fit_model(
                  ctx, "rls", d,
                  SETTINGS("view=concat", "scale=tfidf", "scale.words=unit", "kernel=poly", "degree=3", "bias=no")),
              *back = NULL;
    assert_ok(ctx, plx_model_save(ctx, m, path));
    assert_ok(ctx, plx_model_load(&back, ctx, path));
    assert_same_predictions(ctx, m, back, 0);
    assert_string_equal(plx_model_param(back, "scale.words"), "unit");
    assert_string_equal(plx_model_param(back, "bias"), "no");
    assert_string_equal(plx_model_param(back, "solver"), "auto");
    assert_string_equal(back->classes[0], "B");
    assert_int_equal(back->hierarchy->n_subset, 2);
    assert_int_equal(back->hierarchy->subset[3], 3);
    assert_int_equal(back->hierarchy->mutex[1], 1);
    assert_true(back->views[1].sparse && !back->views[1].features);
    assert_true(plx_model_objective(back) == plx_model_objective(m));
    assert_null(plx_model_prediction(back));
    plx_model_destroy(m);
    plx_model_destroy(back);
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

static void poke(const char *path, long at, char flip)
{
    int fd = open(path, O_RDWR);
    char byte = 0;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ flip);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Every byte of the head, and a good many of the body. */
static void flipped_bytes_are_noticed(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    char directory[64], path[96];
    plx_model *m = fit_kept(ctx, &KEPT[0]), *back = NULL;
    plx__bytes bytes;
    make_directory(directory);
    snprintf(path, sizeof path, "%s/m.plx", directory);
    assert_ok(ctx, plx_model_save(ctx, m, path));
    assert_ok(ctx, plx__bytes_read(&bytes, ctx, path));
    long size = (long)bytes.size;
    plx__bytes_free(&bytes, ctx);
    for (long at = 0; at < size; at += at < PLX__MODEL_HEAD ? 1 : 97) {
        poke(path, at, 0x10);
        assert_fails(ctx, plx_model_load(&back, ctx, path), PLX_E_FORMAT, path);
        assert_null(back);
        poke(path, at, 0x10);
    }
    assert_ok(ctx, plx_model_load(&back, ctx, path));
    plx_model_destroy(back);
    assert_int_equal(truncate(path, size - 1), 0);
    assert_fails(ctx, plx_model_load(&back, ctx, path), PLX_E_FORMAT, "damaged");
    assert_int_equal(truncate(path, 100), 0);
    assert_fails(ctx, plx_model_load(&back, ctx, path), PLX_E_FORMAT, "not a model file");
    plx_model_destroy(m);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    char directory[64], path[96], head[PLX__MODEL_HEAD + 1] = {0};
    plx_model *m = NULL;
    make_directory(directory);
    snprintf(path, sizeof path, "%s/none.plx", directory);
    assert_fails(ctx, plx_model_load(&m, ctx, path), PLX_E_IO, "none.plx");
    write_file(directory, "none.plx", "id,label\n");
    assert_fails(ctx, plx_model_load(&m, ctx, path), PLX_E_FORMAT, "not a model file");
    memset(head, ' ', PLX__MODEL_HEAD);
    memcpy(head, "PARALLAX MODEL 99\nbytes 512\n", 28);
    write_file(directory, "none.plx", head);
    assert_fails(ctx, plx_model_load(&m, ctx, path), PLX_E_FORMAT, "newer");
    memcpy(head, "PARALLAX MODEL 0\nbytes 512 \n", 28);
    write_file(directory, "none.plx", head);
    assert_fails(ctx, plx_model_load(&m, ctx, path), PLX_E_FORMAT, "head");
    plx_model *good = fit_kept(ctx, &KEPT[0]);
    snprintf(path, sizeof path, "%s/no/such/m.plx", directory);
    assert_fails(ctx, plx_model_save(ctx, good, path), PLX_E_IO, path);
    plx_model_destroy(good);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

static int write_kept(const char *directory)
{
    plx_context *ctx = NULL;
    if (plx_context_create(&ctx, NULL) != PLX_OK) return 1;
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        char path[256];
        plx_model *m = fit_kept(ctx, &KEPT[i]);
        snprintf(path, sizeof path, "%s/%s", directory, KEPT[i].file);
        if (plx_model_save(ctx, m, path) != PLX_OK) return 1;
        plx_model_destroy(m);
    }
    plx_context_destroy(ctx);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_files_are_read),
        cmocka_unit_test(saved_models_come_back),
        cmocka_unit_test(flipped_bytes_are_noticed),
        cmocka_unit_test(other_files_are_refused),
    };
    if (argc == 3 && strcmp(argv[1], "write") == 0) return write_kept(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
