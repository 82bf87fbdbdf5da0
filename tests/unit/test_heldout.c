/* heldout=FILE: the rest is fitted alone, the held-out samples are predicted as new ones, rows come back in place. */
#include "core/json.h"
#include "fit_helpers.h"

#include "api/heldout.h"

enum { N = 16, D = 4, SEED = 3 };

static const char FLAGS[] = "0\n1\n0\n0\n0\n1\n0\n0\n0\n0\n1\n0\n0\n0\n0\n1\n";
static const plx_index HELD[] = {1, 5, 10, 15}, REST[] = {0, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14};

#include "heldout_desk.h"

static plx_dataset *whole(desk *k, bool ids)
{
    static const char *const names[] = {"q", "w", "e", "r", "t", "z", "u", "i", "o", "p", "a", "s", "d", "f", "g", "h"};
    plx_dataset *d = new_dataset(k->ctx, N);
    if (ids) assert_ok(k->ctx, plx_dataset_set_ids(d, k->ctx, names));
    add_dense(d, k->ctx, "v", PLX_VIEW_COUNTS, k->x, D, NULL);
    add_dense(d, k->ctx, "g", PLX_VIEW_KERNEL, k->gram, N, NULL);
    set_labels(d, k->ctx, k->label);
    return d;
}

/* Linear kernel given as a Gram matrix or computed: the same model, held out or not, with and without ids. */
static void kernel_views_can_be_held_out(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    for (int ids = 0; ids < 2; ids++) {
        plx_dataset *d = whole(&k, ids);
        plx_model *linear = NULL, *given = NULL;
        assert_ok(k.ctx, try_fit(&linear, k.ctx, "rls", d, SETTINGS("view=v", "heldout=held.txt"), k.directory));
        assert_ok(k.ctx, try_fit(&given, k.ctx, "rls", d, SETTINGS("view=g", "heldout=file:held.txt"), k.directory));
        assert_int_equal(array_of(linear, "scores").rows, N);
        assert_same_matrix(array_of(linear, "scores"), array_of(given, "scores"), 1e-9);
        plx_model_destroy(linear);
        plx_model_destroy(given);
        plx_dataset_destroy(d);
    }
    close_desk(&k);
}

/* A sparse Gram matrix is cut to the fitted columns like a dense one. */
static void sparse_kernel_views_too(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    plx_model *a = NULL, *b = NULL;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if ((i + j) % 3 == 0 && i != j) k.gram[i * N + j] = 0;
    plx_dataset *dense = whole(&k, true), *thin = new_dataset(k.ctx, N);
    add_thin(thin, k.ctx, "g", PLX_VIEW_KERNEL, k.gram, N, NULL);
    set_labels(thin, k.ctx, k.label);
    assert_ok(k.ctx, try_fit(&a, k.ctx, "rls", dense, SETTINGS("view=g", "heldout=held.txt"), k.directory));
    assert_ok(k.ctx, try_fit(&b, k.ctx, "rls", thin, SETTINGS("view=g", "heldout=held.txt"), k.directory));
    assert_same_matrix(array_of(a, "scores"), array_of(b, "scores"), 1e-12);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(dense);
    plx_dataset_destroy(thin);
    close_desk(&k);
}

/* Labels of held-out samples are not looked at, and their rows do not move the others'. */
static void held_out_labels_do_not_matter(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    plx_model *a = NULL, *b = NULL, *c = NULL;
    plx_dataset *d = new_dataset(k.ctx, N), *part = NULL;
    add_dense(d, k.ctx, "v", PLX_VIEW_COUNTS, k.x, D, NULL);
    set_labels(d, k.ctx, k.label);
    assert_ok(k.ctx, try_fit(&a, k.ctx, "nb", d, SETTINGS("heldout=held.txt"), k.directory));
    for (size_t i = 0; i < 4; i++) k.label[HELD[i]] = 1 - abs(k.label[HELD[i]]);
    set_labels(d, k.ctx, k.label);
    assert_ok(k.ctx, try_fit(&b, k.ctx, "nb", d, SETTINGS("heldout=held.txt"), k.directory));
    assert_same_matrix(array_of(a, "posterior"), array_of(b, "posterior"), 0);
    assert_same_matrix(array_of(a, "theta.v"), array_of(b, "theta.v"), 0);
    assert_ok(k.ctx, plx_dataset_select(&part, k.ctx, d, REST, 12));
    c = fit_model(k.ctx, "nb", part, NULL);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 2; j++)
            assert_true(array_of(c, "posterior").data[i * 2 + j] == array_of(b, "posterior").data[REST[i] * 2 + j]);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_model_destroy(c);
    plx_dataset_destroy(part);
    plx_dataset_destroy(d);
    close_desk(&k);
}

static void bad_flags_are_refused(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    plx_dataset *d = whole(&k, false);
    plx_model *m = NULL;
    write_file(k.directory, "short.txt", "0\n1\n");
    write_file(k.directory, "odd.txt", "0\n2\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n");
    write_file(k.directory, "none.txt", "0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n");
    write_file(k.directory, "all.txt", "1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n");
    assert_fails(k.ctx, try_fit(&m, k.ctx, "rls", d, SETTINGS("heldout=short.txt"), k.directory), PLX_E_DATA,
                 "2 lines, the data set 16 samples");
    assert_fails(k.ctx, try_fit(&m, k.ctx, "rls", d, SETTINGS("heldout=odd.txt"), k.directory), PLX_E_FORMAT, "line 2");
    assert_fails(k.ctx, try_fit(&m, k.ctx, "rls", d, SETTINGS("heldout=all.txt"), k.directory), PLX_E_DATA,
                 "every sample");
    assert_fails(k.ctx, try_fit(&m, k.ctx, "rls", d, SETTINGS("heldout=gone.txt"), k.directory), PLX_E_IO, "gone.txt");
    plx_model *plain = fit_model(k.ctx, "rls", d, NULL);
    assert_ok(k.ctx, try_fit(&m, k.ctx, "rls", d, SETTINGS("heldout=none.txt"), k.directory));
    assert_same_matrix(array_of(m, "scores"), array_of(plain, "scores"), 0);
    plx_model_destroy(m);
    plx_model_destroy(plain);
    plx_dataset_destroy(d);
    close_desk(&k);
}

/* Metrics count the samples whose label was not seen: held-out ones are among them though they have a label. */
static void held_out_samples_are_evaluated(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    const char *truth[N];
    const char *text = NULL;
    plx_model *m = NULL;
    for (int i = 0; i < N; i++) truth[i] = i % 2 ? "B" : "A";
    plx_dataset *d = whole(&k, false);
    assert_ok(k.ctx, plx_dataset_set_truth(d, k.ctx, truth));
    assert_ok(k.ctx, try_fit(&m, k.ctx, "rls", d, SETTINGS("heldout=held.txt"), k.directory));
    int unseen = 0, right = 0;
    for (int i = 0; i < N; i++) {
        bool held = i == 1 || i == 5 || i == 10 || i == 15;
        if (k.label[i] >= 0 && !held) continue;
        unseen++;
        right += strcmp(plx_prediction_label(plx_model_prediction(m), i), truth[i]) == 0;
    }
    assert_ok(k.ctx, plx_model_json(&text, k.ctx, m, d));
    json_t *root = json_loads(text, 0, NULL);
    assert_close(json_number_value(json_object_get(json_object_get(root, "metrics"), "accuracy")),
                 (double)right / unseen, 1e-15);
    assert_int_equal(json_integer_value(json_object_get(root, "fitted_samples")), 12);
    json_decref(root);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    close_desk(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_views_can_be_held_out),   cmocka_unit_test(sparse_kernel_views_too),
        cmocka_unit_test(held_out_labels_do_not_matter),  cmocka_unit_test(bad_flags_are_refused),
        cmocka_unit_test(held_out_samples_are_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
