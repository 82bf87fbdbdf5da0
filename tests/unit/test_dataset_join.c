/*
 * Data sets of several files: views and columns named one by one, labels from another table, what was given written as a
 * manifest; and telling targets from classes.
 */
#include "fit_helpers.h"

#include "data/targets.h"

typedef struct desk {
    plx_context *ctx;
    char directory[64];
    char path[6][160];
    plx_dataset *data;
} desk;

static const char *place(desk *k, int i, const char *name)
{
    snprintf(k->path[i], sizeof k->path[i], "%s/%s", k->directory, name);
    return k->path[i];
}

static void open_desk(desk *k)
{
    k->ctx = test_context(1);
    k->data = NULL;
    make_directory(k->directory);
    write_file(k->directory, "a.csv", "who,x,y\np,1.5,2\nq,3.5,4\nr,5.5,6\n");
    write_file(k->directory, "b.csv", "who,z,note,w\nr,7.5,a red car,1\ns,8.5,two red cars,2\np,9.5,no car at all,3\n");
    write_file(k->directory, "l.csv", "who,age,state\ns,1,good\np,2,bad\nq,3,NA\n");
    place(k, 0, "a.csv");
    place(k, 1, "b.csv");
    place(k, 2, "l.csv");
    place(k, 3, "m.json");
}

static void close_desk(desk *k)
{
    plx_dataset_destroy(k->data);
    remove_directory(k->directory);
    plx_context_destroy(k->ctx);
}

/* p q r of a and r s p of b: four samples; the labels come by id from a third file. */
static void check_joined(const plx_dataset *d)
{
    plx_cmat m;
    assert_int_equal(plx_dataset_samples(d), 4);
    assert_int_equal(plx_dataset_views(d), 3);
    assert_string_equal(plx_dataset_id(d, 0), "p");
    assert_string_equal(plx_dataset_id(d, 3), "s");
    assert_int_equal(plx_dataset_find_view(d, "num"), 1);
    assert_int_equal(plx_dataset_find_view(d, "txt"), 2);
    assert_int_equal(plx_dataset_dense(&m, d, 1), PLX_OK);
    assert_true(m.cols == 1 && m.data[0] == 9.5 && m.data[2 * m.ld] == 7.5 && m.data[3 * m.ld] == 8.5);
    assert_false(plx_dataset_present(d, 1)[1]);
    assert_false(plx_dataset_present(d, 0)[3]);
    assert_string_equal(plx_dataset_label(d, 0), "bad");
    assert_null(plx_dataset_label(d, 1));
    assert_null(plx_dataset_label(d, 2));
    assert_string_equal(plx_dataset_label(d, 3), "good");
}

static plx_read_options three_views(desk *k, plx_view_source views[3])
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    for (int v = 0; v < 3; v++) views[v] = (plx_view_source)PLX_VIEW_SOURCE_INIT;
    views[0].name = "a", views[0].file = k->path[0];
    views[1].name = "num", views[1].file = k->path[1], views[1].columns = "z";
    views[2].name = "txt", views[2].file = k->path[1], views[2].columns = "note";
    o.views = views;
    o.n_views = 3;
    o.labels_file = k->path[2];
    o.labels_column = "state";
    return o;
}

static void files_are_joined_by_id(void **state)
{
    (void)state;
    desk k;
    plx_view_source views[3];
    open_desk(&k);
    plx_read_options o = three_views(&k, views);
    assert_ok(k.ctx, plx_dataset_read(&k.data, k.ctx, NULL, &o));
    check_joined(k.data);
    assert_int_equal(plx_dataset_files(k.data), 4);
    assert_null(plx_dataset_file(k.data, 4));
    assert_ok(k.ctx, plx_dataset_save(k.ctx, k.path[3], NULL, &o));
    assert_fails(k.ctx, plx_dataset_save(k.ctx, k.path[3], NULL, &o), PLX_E_IO, "already exists");
    plx_dataset_destroy(k.data);
    assert_ok(k.ctx, plx_dataset_read(&k.data, k.ctx, k.path[3], NULL));
    check_joined(k.data);
    close_desk(&k);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    desk k;
    plx_view_source views[3];
    open_desk(&k);
    plx_read_options o = three_views(&k, views);
    assert_fails(k.ctx, plx_dataset_read(&k.data, k.ctx, NULL, NULL), PLX_E_ARG, "nothing to read");
    views[1].columns = "zz";
    assert_fails(k.ctx, plx_dataset_read(&k.data, k.ctx, NULL, &o), PLX_E_DATA, "no column 'zz'");
    o = three_views(&k, views);
    o.drop = "nothing";
    assert_fails(k.ctx, plx_dataset_read(&k.data, k.ctx, NULL, &o), PLX_E_DATA,
                 "none of the files has a column 'nothing'");
    o = three_views(&k, views);
    o.labels_column = "stat";
    assert_fails(k.ctx, plx_dataset_read(&k.data, k.ctx, NULL, &o), PLX_E_DATA, "did you mean 'state'?");
    views[0].name = "a.b";
    assert_fails(k.ctx, plx_dataset_read(&k.data, k.ctx, NULL, &o), PLX_E_ARG, "view name 'a.b'");
    o = (plx_read_options)PLX_READ_OPTIONS_INIT;
    o.label = "x";
    write_file(k.directory, "t.txt", "some words\nmore words\n");
    assert_fails(k.ctx, plx_dataset_read(&k.data, k.ctx, place(&k, 4, "t.txt"), &o), PLX_E_ARG, "has no effect");
    close_desk(&k);
}

static void targets_are_not_classes(void **state)
{
    (void)state;
    enum { N = 80 };
    const char *texts[N] = {0};
    char room[N][16];
    for (int i = 0; i < N; i++) texts[i] = i % 2 ? "0" : "1";
    assert_false(plx__are_targets(texts, N));
    for (int i = 0; i < N; i++) snprintf(room[i], sizeof room[i], "%d", i % 10), texts[i] = room[i];
    assert_false(plx__are_targets(texts, N)); /* ten digits */
    for (int i = 0; i < N; i++) snprintf(room[i], sizeof room[i], "%d", i);
    assert_true(plx__are_targets(texts, N));
    for (int i = 0; i < N; i++) snprintf(room[i], sizeof room[i], "%d.5", i % 12);
    assert_true(plx__are_targets(texts, N));
    texts[7] = "old";
    assert_false(plx__are_targets(texts, N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_joined_by_id),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(targets_are_not_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
