/* Data sets of which every rank reads its own rows: the rows that are there, what all know about all of them, and fits
 * whose model files are those of a single process. */
#include "divided_helpers.h"

#include "io/npy.h"
#include "parallax/explain.h"
#include "parallax/params.h"
#include "parallax/view_report.h"

#ifdef PLX_CHECKED
enum { PANES = 6, ONLY_SOME = 0 };
#else
enum { PANES = 2, ONLY_SOME = 1 }; /* panes are long: a few fits, the others where they are short */
#endif
enum { N = PANES * PLX__PANE_ROWS + 7, COLS = 5, K = 2 };

/* Two views of counts, the second one dense; rows of zeros, missing rows, and samples with neither. */
static plx_dataset *make_data(plx_context *ctx, bool dense, bool labelled, bool complete)
{
    plx__rng rng = plx__rng_start(5, PLX__STREAM('d', 'i', 'v', 'i', 0));
    double *x = malloc(sizeof *x * N * COLS);
    int *label = malloc(sizeof *label * N);
    uint8_t *present = malloc(N);
    plx_dataset *d = new_dataset(ctx, N);
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < N; i++) {
            present[i] = complete || (i % 17 != 3 && (v || i % 13 != 5));
            for (int j = 0; j < COLS; j++) {
                double value = random_count(&rng, 3) + (j % K == i % K ? random_count(&rng, 3) : 0);
                x[i * COLS + j] = i % 29 == 7 ? 0 : value;
            }
        }
        if (v && dense) add_dense(d, ctx, "b", PLX_VIEW_COUNTS, x, COLS, present);
        else add_thin(d, ctx, v ? "b" : "a", PLX_VIEW_COUNTS, x, COLS, present);
    }
    for (int i = 0; i < N; i++) label[i] = i % K;
    set_labels(d, ctx, label);
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, d->labels));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, NULL));
    for (int i = 0; i < N; i++) label[i] = labelled && i % 25 == 1 ? i / 25 % K : -1;
    if (labelled) set_labels(d, ctx, label);
    free(x);
    free(label);
    free(present);
    return d;
}

static void read_work(rank_job *job)
{
    const char *path = job->arg;
    plx_dataset *part = read_data(job->ctx, path, 1), *whole = read_data(job->ctx, path, 0);
    assert_int_equal(part->n, whole->n);
    assert_int_equal(part->n_views, whole->n_views);
    for (plx_index v = 0; v < whole->n_views; v++) assert_part_of(job, &part->views[v], &whole->views[v], whole->n);
    for (plx_index v = 0; v < whole->n_views; v++) {
        plx_index own = -1, all = 0;
        for (plx_index i = 0; i < whole->n; i++)
            all += whole->views[v].present[i] && plx__row_is_zero(&whole->views[v], i);
        assert_ok(job->ctx, plx_dataset_zero_rows(&own, job->ctx, part, v));
        assert_int_equal(own, all);
    }
    assert_whole_again(job, part, whole);
    assert_regrouped(job, part, whole);
    plx_dataset_destroy(part);
    plx_dataset_destroy(whole);
}

/* A table whose first rows are binary and whose last one is not, with a number that is missing. */
static void write_table(const char *folder, const char *name, const char *ids)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    if (ids) fprintf(f, "%s,x,y\n", ids);
    for (int i = 0; i < N; i++) {
        if (ids) fprintf(f, "s%d,", i);
        fprintf(f, "%s,%d\n", i == N - 1 ? "2.5" : i == N - 3 ? "nan" : "1", i % 2);
    }
    fclose(f);
}

static void write_values(plx_context *ctx, const plx__view *v, const char *folder)
{
    char path[256];
    plx__table table = {.dense = {(double *)(uintptr_t)v->dense.data, N, COLS, v->dense.ld}};
    snprintf(path, sizeof path, "%s/values.npy", folder);
    assert_ok(ctx, plx__npy_write(ctx, path, &table));
}

/* Three parts of different sizes, files and a directory, and a manifest that lists them. */
static void write_parts(plx_context *ctx, const plx_dataset *d, const char *folder)
{
    static const char *const files[] = {"one.h5mu", "two", "three.h5mu"};
    const plx_index first[] = {0, 5, N - 9, N};
    plx_index *rows = malloc(sizeof *rows * N);
    char path[256], manifest[512];
    for (int p = 0; p < 3; p++) {
        plx_dataset *part = NULL;
        for (plx_index i = first[p]; i < first[p + 1]; i++) rows[i - first[p]] = i;
        assert_ok(ctx, plx_dataset_select(&part, ctx, d, rows, first[p + 1] - first[p]));
        snprintf(path, sizeof path, "%s/%s", folder, files[p]);
        assert_ok(ctx, plx_dataset_write(ctx, part, path));
        plx_dataset_destroy(part);
    }
    snprintf(manifest, sizeof manifest,
             "{\"parallax\": 1, \"parts\": [{\"file\": \"one.h5mu\", \"rows\": 5}, {\"file\": \"two\", \"rows\": %d}, "
             "{\"file\": \"three.h5mu\", \"rows\": 9}]}",
             N - 14);
    write_file(folder, "parts.json", manifest);
    free(rows);
}

/* A part that is not what the manifest says, far from the rows of most ranks: all tell the same. */
static void fault_work(rank_job *job)
{
    static const char *const names[] = {"short.json", "gone.json"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        plx_read_options o = PLX_READ_OPTIONS_INIT;
        plx_dataset *d = NULL;
        char path[256], alone[PLX__ERROR_BYTES];
        o.trust = READ_WITHIN;
        snprintf(path, sizeof path, "%s/%s", (const char *)job->arg, names[k]);
        plx_status st = plx_dataset_read(&d, job->ctx, path, &o);
        snprintf(alone, sizeof alone, "%s", plx_context_error(job->ctx));
        o.own_rows = 1;
        assert_int_not_equal(st, PLX_OK);
        assert_int_equal(plx_dataset_read(&d, job->ctx, path, &o), st);
        assert_string_equal(plx_context_error(job->ctx), alone);
    }
}

static void write_faulty_parts(const char *folder)
{
    char manifest[512];
    snprintf(manifest, sizeof manifest,
             "{\"parallax\": 1, \"parts\": [{\"file\": \"one.h5mu\", \"rows\": 5}, {\"file\": \"two\", \"rows\": %d}, "
             "{\"file\": \"three.h5mu\", \"rows\": 8}]}",
             N - 14);
    write_file(folder, "short.json", manifest);
    snprintf(manifest, sizeof manifest,
             "{\"parallax\": 1, \"parts\": [{\"file\": \"one.h5mu\", \"rows\": 5}, {\"file\": \"two\", \"rows\": %d}, "
             "{\"file\": \"four.h5mu\", \"rows\": 9}]}",
             N - 14);
    write_file(folder, "gone.json", manifest);
}

static void rows_are_those_of_the_file(void **state)
{
    static const char *const names[] = {"data.h5mu", "data",       "complete.h5mu", "table.csv",
                                        "named.csv", "parts.json", "values.npy"};
    plx_context *ctx = test_context(1);
    char folder[64], path[256];
    (void)state;
    make_directory(folder);
    plx_dataset *d = make_data(ctx, true, true, true);
    snprintf(path, sizeof path, "%s/complete.h5mu", folder);
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    plx_dataset_destroy(d);
    d = make_data(ctx, true, true, false);
    snprintf(path, sizeof path, "%s/data.h5mu", folder);
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    snprintf(path, sizeof path, "%s/data", folder);
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    write_parts(ctx, d, folder);
    write_values(ctx, &d->views[1], folder);
    write_table(folder, "table.csv", NULL);
    write_table(folder, "named.csv", "id");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int ranks = 1; ranks <= MOST; ranks += 2) {
            snprintf(path, sizeof path, "%s/%s", folder, names[k]);
            together(ranks, read_work, path, "");
        }
    write_faulty_parts(folder);
    for (int ranks = 1; ranks <= MOST; ranks += 2) together(ranks, fault_work, folder, "");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    remove_directory(folder);
}

/* ---- what needs all rows ---- */

/* Values of all samples cannot stand beside those of some. */
static void assert_no_view_can_be_added(rank_job *job, plx_dataset *d)
{
    const double x[] = {1, 2};
    const int64_t ptr[] = {0, 1, 1};
    const int32_t col[] = {0};
    plx_cmat dense = {x, 2, 1, 1};
    plx_ccsr sparse = {2, 1, ptr, col, x};
    plx_context *ctx = job->ctx;
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "more", PLX_VIEW_REAL, dense, NULL, NULL), PLX_E_ARG,
                 "divided among ranks");
    assert_fails(ctx, plx_dataset_add_sparse(d, ctx, "more", PLX_VIEW_REAL, sparse, NULL, NULL), PLX_E_ARG,
                 "divided among ranks");
    assert_fails(ctx, plx_dataset_borrow_dense(d, ctx, "more", PLX_VIEW_REAL, dense, NULL, NULL), PLX_E_ARG,
                 "divided among ranks");
    assert_fails(ctx, plx_dataset_borrow_sparse(d, ctx, "more", PLX_VIEW_REAL, sparse, NULL, NULL), PLX_E_ARG,
                 "divided among ranks");
    assert_int_equal(plx_dataset_views(d), 2);
}

static void refusal_work(rank_job *job)
{
    const char *path = job->arg;
    char file[160];
    plx_dataset *d = read_data(job->ctx, path, 1), *some = NULL;
    plx_model *m = NULL;
    plx_explanation *e = NULL;
    plx_cmat dense;
    const plx_index backwards[] = {3, 1};
    assert_ok(job->ctx, plx_fit(&m, job->ctx, "nb", d, NULL, NULL));
    assert_fails(job->ctx, plx_explain(&e, job->ctx, m, d, NULL), PLX_E_ARG, "divided among ranks");
    snprintf(file, sizeof file, "%s.%d.h5mu", path, job->rank);
    assert_fails(job->ctx, plx_dataset_write(job->ctx, d, file), PLX_E_ARG, "divided among ranks");
    assert_fails(job->ctx, plx_dataset_select(&some, job->ctx, d, backwards, 2), PLX_E_UNSUPPORTED, "not moved");
    assert_int_equal(plx_dataset_dense(&dense, d, 1), PLX_E_ARG);
    assert_no_view_can_be_added(job, d);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
}

static void what_needs_all_rows_is_refused(void **state)
{
    plx_context *ctx = test_context(1);
    char folder[64], path[128];
    (void)state;
    make_directory(folder);
    snprintf(path, sizeof path, "%s/data.h5mu", folder);
    plx_dataset *d = make_data(ctx, true, true, false);
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    together(2, refusal_work, path, "");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    remove_directory(folder);
}

/* ---- fits ---- */

static void fits_are_those_of_one_process(void **state)
{
    static const trial trials[] = {
        {"nb", false, true, {NULL}, "posterior", false},
        {"coem", true, true, {"max_iter", "3", NULL}, "posterior.a", false},
        {"mvkmeans", true, true, {"max_iter", "3", NULL}, "scores.b", false},
        {"mvplsa", false, true, {"max_iter", "3", "topics", "3", NULL}, "pz", false},
        {"nb", false, true, {"rows", "l1", "combine", "product", NULL}, "posterior.b", false},
        {"nb", true, true, {NULL}, NULL, true}, /* dense: gathered */
        {"coem", false, false, {"clusters", "2", "restarts", "2", "max_iter", "4", NULL}, "posterior", false},
        {"coem", true, true, {"init", "kmeans++", "likelihood", "vmf", "max_iter", "3", NULL}, NULL, false},
        {"coem", true, true, {"mode", "concat", "max_iter", "2", NULL}, NULL, true}, /* gathered */
        {"mvkmeans", true, false, {"clusters", "3", "max_iter", "4", NULL}, "scores.a", false},
        {"mvkmeans", true, true, {"scale", "zscore", "assignment", "single:b", NULL}, NULL, false},
        {"mvkmeans", true, true, {"scale", "unit", "assignment", "concat", "max_iter", "2", NULL}, NULL, false},
        {"mvkmeans", false, true, {"scale", "tfidf", "init", "kmeans++", "max_iter", "2", NULL}, NULL, false},
        {"mvkmeans", false, true, {"assignment", "maxagree", "max_iter", "2", NULL}, NULL, true}, /* gathered */
        {"mvplsa", true, true, {"max_iter", "2", "topics", "3", "rows", "raw", NULL}, "pz", false},
        {"mvplsa", false, true, {"max_iter", "2", "model", "dplsa", "topics", "3", NULL}, "pz", false},
        {"mvplsa", true, false, {"max_iter", "2", "clusters", "2", "topics", "2", NULL}, NULL, true}, /* gathered */
    };
    (void)state;
    for (size_t k = 0; k < (ONLY_SOME ? 4 : sizeof trials / sizeof *trials); k++) {
        char folder[64], path[128];
        plx_context *ctx = test_context(1);
        make_directory(folder);
        snprintf(path, sizeof path, "%s/data.h5mu", folder);
        plx_dataset *d = make_data(ctx, trials[k].dense, trials[k].labelled, k % 2 == 0);
        assert_ok(ctx, plx_dataset_write(ctx, d, path));
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        for (int ranks = 1; ranks <= (ONLY_SOME ? 3 : MOST); ranks += ranks == 3 ? 2 : 1) {
            assert_same_by_ranks(&trials[k], folder, ranks);
        }
        remove_directory(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_file),
        cmocka_unit_test(what_needs_all_rows_is_refused),
        cmocka_unit_test(fits_are_those_of_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
