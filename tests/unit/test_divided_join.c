/* Files joined by sample id where every rank keeps its own rows: each file is read by ranges in its own order, and its rows
 * go to the ranks that have their samples. */
#include "divided_helpers.h"

#include "io/npy.h"

#ifdef PLX_CHECKED
enum { PANES = 5 };
#else
enum { PANES = 2 };
#endif
enum { N = PANES * PLX__PANE_ROWS + 11, COLS = 3, STEP = 7 };

static FILE *open_file(const char *folder, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

/* Sample of row i of the files that have another order. */
static int elsewhere(int i) { return (int)(((long)i * STEP + 3) % N); }

static void write_ids(const char *folder, const char *name, bool backwards)
{
    FILE *f = open_file(folder, name);
    for (int i = 0; i < N; i++) fprintf(f, "s%d\n", backwards ? N - 1 - i : i);
    fclose(f);
}

/* Flags but for one row, which ends up with another rank than the one that reads it; a stranger, and samples left out. */
static void write_shuffled(const char *folder)
{
    FILE *f = open_file(folder, "shuffled.csv");
    fprintf(f, "id,x,y,label\n");
    for (int i = 0; i < N; i++) {
        if (i % 31 == 4) continue;
        fprintf(f, "s%d,%s,%d,%s\n", elsewhere(i), i == 5 ? "0.25" : i == 9 ? "nan" : "1", i % 2, i % 3 ? "a" : "?");
        if (i == N / 2) fprintf(f, "stranger,1,1,b\n");
    }
    fclose(f);
}

static void write_thin(const char *folder)
{
    FILE *f = open_file(folder, "thin.svm");
    for (int i = 0; i < N; i++) {
        fprintf(f, "?");
        for (int k = 0; k < i % 4; k++) fprintf(f, " %d:%d", 2 * k + 1, i % 5 + 1);
        fprintf(f, "\n");
    }
    fclose(f);
}

static void write_plain(plx_context *ctx, const char *folder)
{
    char path[160];
    double *x = malloc(sizeof *x * N * COLS);
    for (int k = 0; k < N * COLS; k++) x[k] = k % 11 - 0.5;
    plx__table table = {.dense = {x, N, COLS, COLS}};
    snprintf(path, sizeof path, "%s/plain.npy", folder);
    assert_ok(ctx, plx__npy_write(ctx, path, &table));
    free(x);
}

static void write_box(plx_context *ctx, const char *folder)
{
    char path[160], (*name)[16] = malloc(sizeof *name * N);
    const char **ids = malloc(sizeof *ids * N);
    double *x = malloc(sizeof *x * N * COLS);
    plx_dataset *d = new_dataset(ctx, N);
    for (int i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "s%d", elsewhere(i));
        ids[i] = name[i];
        for (int j = 0; j < COLS; j++) x[i * COLS + j] = (i + j) % 3;
    }
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    add_thin(d, ctx, "thin", PLX_VIEW_COUNTS, x, COLS, NULL);
    add_dense(d, ctx, "full", PLX_VIEW_REAL, x, COLS, NULL);
    snprintf(path, sizeof path, "%s/box.h5mu", folder);
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    plx_dataset_destroy(d);
    free(x);
    free(ids);
    free(name);
}

static void write_all(plx_context *ctx, const char *folder)
{
    write_ids(folder, "ids.txt", false);
    write_ids(folder, "backwards.txt", true);
    write_shuffled(folder);
    write_thin(folder);
    write_plain(ctx, folder);
    write_box(ctx, folder);
    write_file(folder, "all.json",
               "{\"parallax\": 1, \"ids\": \"ids.txt\", \"views\": ["
               "{\"name\": \"plain\", \"file\": \"plain.npy\"},"
               "{\"name\": \"shuffled\", \"file\": \"shuffled.csv\"},"
               "{\"name\": \"thin\", \"file\": \"thin.svm\", \"ids\": \"backwards.txt\"},"
               "{\"name\": \"box\", \"file\": \"box.h5mu\"}]}");
    write_file(folder, "order.json",
               "{\"parallax\": 1, \"ids\": \"ids.txt\", \"views\": ["
               "{\"name\": \"plain\", \"file\": \"plain.npy\"},"
               "{\"name\": \"thin\", \"file\": \"thin.svm\", \"ids\": \"ids.txt\", \"kind\": \"real\"}]}");
    write_file(folder, "wrong.json",
               "{\"parallax\": 1, \"ids\": \"ids.txt\", \"views\": ["
               "{\"name\": \"shuffled\", \"file\": \"shuffled.csv\", \"kind\": \"binary\"},"
               "{\"name\": \"plain\", \"file\": \"plain.npy\", \"kind\": \"counts\"}]}");
}

static void assert_same(rank_job *job, const plx_dataset *part, const plx_dataset *whole)
{
    assert_int_equal(part->n, whole->n);
    assert_int_equal(part->n_views, whole->n_views);
    for (plx_index v = 0; v < whole->n_views; v++) {
        assert_string_equal(part->views[v].name, whole->views[v].name);
        assert_part_of(job, &part->views[v], &whole->views[v], whole->n);
    }
    assert_int_equal(!part->ids, !whole->ids);
    for (plx_index i = 0; i < whole->n; i++) {
        if (whole->ids) assert_string_equal(plx_dataset_id(part, i), plx_dataset_id(whole, i));
        assert_int_equal(!plx_dataset_label(part, i), !plx_dataset_label(whole, i));
    }
}

static void compare(rank_job *job, const char *path, const plx_read_options *given)
{
    plx_read_options o = given ? *given : (plx_read_options)PLX_READ_OPTIONS_INIT;
    plx_dataset *part = NULL, *whole = NULL;
    char message[PLX__ERROR_BYTES];
    o.trust = READ_WITHIN;
    plx_status expected = plx_dataset_read(&whole, job->ctx, path, &o);
    snprintf(message, sizeof message, "%s", plx_context_error(job->ctx));
    o.own_rows = 1;
    assert_int_equal(plx_dataset_read(&part, job->ctx, path, &o), expected);
    assert_string_equal(plx_context_error(job->ctx), message);
    if (expected == PLX_OK) assert_same(job, part, whole);
    plx_dataset_destroy(part);
    plx_dataset_destroy(whole);
}

static void read_manifests(rank_job *job)
{
    static const char *const names[] = {"all.json", "order.json", "wrong.json"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", job->folder, names[k]);
        compare(job, path, NULL);
    }
}

static void read_files(rank_job *job)
{
    char file[3][160];
    static const char *const names[] = {"shuffled.csv", "box.h5mu", "thin.svm"};
    plx_view_source views[3];
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    for (int k = 0; k < 3; k++) {
        snprintf(file[k], sizeof file[k], "%s/%s", job->folder, names[k]);
        views[k] = (plx_view_source)PLX_VIEW_SOURCE_INIT;
        views[k].name = k == 0 ? "one" : k == 1 ? "two" : "three";
        views[k].file = file[k];
    }
    o.views = views;
    o.n_views = 2;
    compare(job, NULL, &o);
    o.join = PLX_JOIN_INTERSECTION;
    compare(job, NULL, &o);
    o.n_views = 3; /* some have ids and one has not */
    compare(job, NULL, &o);
    o.views = views + 2; /* row by row */
    o.n_views = 1;
    snprintf(file[0], sizeof file[0], "%s/plain.npy", job->folder);
    compare(job, file[0], &o);
}

static void by_ranks(void (*work)(rank_job *job))
{
    plx_context *ctx = test_context(1);
    char folder[64];
    make_directory(folder);
    write_all(ctx, folder);
    for (int ranks = 1; ranks <= MOST; ranks += 2) together(ranks, work, NULL, folder);
    remove_directory(folder);
    plx_context_destroy(ctx);
}

static void views_of_a_manifest_are_joined(void **state)
{
    (void)state;
    by_ranks(read_manifests);
}

static void files_are_joined(void **state)
{
    (void)state;
    by_ranks(read_files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_of_a_manifest_are_joined),
        cmocka_unit_test(files_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
