/*
 * What the tests of methods share: data sets from plain arrays, fits with "key=value" settings, scratch directories.
 */
#ifndef PLX_TESTS_FIT_HELPERS_H
#define PLX_TESTS_FIT_HELPERS_H

#include <stdio.h>
#include <unistd.h>

#include "api/model_impl.h"
#include "core/rng.h"
#include "methods/registry.h"
#include "plx_test.h"

/* Uniform whole numbers 0 .. top-1. */
static inline double random_count(plx__rng *rng, int top) { return floor(plx__next_uniform(rng) * top); }

static inline plx_dataset *new_dataset(plx_context *ctx, plx_index n)
{
    plx_dataset *d = NULL;
    assert_ok(ctx, plx_dataset_create(&d, ctx, "test", n));
    return d;
}

static inline void add_dense(plx_dataset *d, plx_context *ctx, const char *name, plx_view_kind kind, const double *x,
                             plx_index cols, const uint8_t *present)
{
    plx_cmat m = {x, plx_dataset_samples(d), cols, cols};
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, name, kind, m, NULL, present));
}

/* The same values, stored sparse. */
static inline void add_thin(plx_dataset *d, plx_context *ctx, const char *name, plx_view_kind kind, const double *x,
                            plx_index cols, const uint8_t *present)
{
    plx_index n = plx_dataset_samples(d);
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr), nnz = 0;
    int32_t *col = calloc((size_t)(n * cols), sizeof *col);
    double *val = calloc((size_t)(n * cols), sizeof *val);
    for (plx_index i = 0; i < n; i++) {
        for (plx_index j = 0; j < cols; j++)
            if (x[i * cols + j] != 0) {
                col[nnz] = (int32_t)j;
                val[nnz++] = x[i * cols + j];
            }
        ptr[i + 1] = nnz;
    }
    assert_ok(ctx, plx_dataset_add_sparse(d, ctx, name, kind, (plx_ccsr){n, cols, ptr, col, val}, NULL, present));
    free(ptr);
    free(col);
    free(val);
}

/* Class index to "A", "B", ...; -1 is unlabelled. */
static inline void set_labels(plx_dataset *d, plx_context *ctx, const int *label)
{
    static const char *const names[] = {"A", "B", "C", "D", "E", "F"};
    plx_index n = plx_dataset_samples(d);
    const char **labels = calloc((size_t)n, sizeof *labels);
    for (plx_index i = 0; i < n; i++) labels[i] = label[i] < 0 ? NULL : names[label[i]];
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    free(labels);
}

/* Expected values are worked out on the data as they are, without scaling and with the largest score deciding: so is
 * every fit here, unless its settings say otherwise. */
static inline plx_params *settings_of(plx_context *ctx, const char *method, const char *const *settings)
{
    static const char *const plain[][2] = {{"scale", "none"}, {"decision", "argmax"}};
    plx_params *p = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, method));
    for (int i = 0; i < 2; i++)
        if (plx_params_get(p, plain[i][0])) assert_ok(ctx, plx_params_set(p, ctx, plain[i][0], plain[i][1]));
    for (; settings && *settings; settings++) {
        char key[64];
        const char *equals = strchr(*settings, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *settings), *settings);
        assert_ok(ctx, plx_params_set(p, ctx, key, equals + 1));
    }
    return p;
}

/* Methods of one view learn from the first one here, where their settings name none. */
static inline void choose_first_view(plx_context *ctx, plx_params *p, const plx_dataset *d, const char *const *settings)
{
    const char *view = plx_params_get(p, "view");
    plx_view_info first = PLX_VIEW_INFO_INIT;
    for (; settings && *settings; settings++)
        if (strncmp(*settings, "view=", 5) == 0) return;
    if (!view || strcmp(view, "joined") != 0 || !plx_dataset_views(d)) return;
    assert_ok(ctx, plx_dataset_view_info(&first, d, 0));
    assert_ok(ctx, plx_params_set(p, ctx, "view", first.name));
}

static inline plx_status try_fit(plx_model **out, plx_context *ctx, const char *method, const plx_dataset *d,
                                 const char *const *settings, const char *directory)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = settings_of(ctx, method, settings);
    choose_first_view(ctx, p, d, settings);
    o.directory = directory;
    plx_status st = plx_fit(out, ctx, method, d, p, &o);
    plx_params_destroy(p);
    return st;
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline plx_model *fit_model(plx_context *ctx, const char *method, const plx_dataset *d,
                                   const char *const *settings)
{
    plx_model *m = NULL;
    assert_ok(ctx, try_fit(&m, ctx, method, d, settings, NULL));
    return m;
}

static inline plx_cmat array_of(const plx_model *m, const char *name)
{
    plx_cmat a = {0};
    if (plx_model_array(&a, m, name) != PLX_OK) fail_msg("the model has no dense array %s", name);
    return a;
}

static inline void assert_same_matrix(plx_cmat a, plx_cmat b, double tolerance)
{
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.cols, b.cols);
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index j = 0; j < a.cols; j++) assert_close(a.data[i * a.ld + j], b.data[i * b.ld + j], tolerance);
}

/* A fresh directory under /tmp; remove_directory() takes it away with the files in it. */
static inline void assert_same_files(const char *a, const char *b)
{
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    int x = 0, y = 0;
    assert_true(f && g);
    while (x != EOF || y != EOF) {
        x = fgetc(f);
        y = fgetc(g);
        assert_int_equal(x, y);
    }
    fclose(f);
    fclose(g);
}

static inline void make_directory(char path[64])
{
    snprintf(path, 64, "/tmp/plx_unit_XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline void remove_directory(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static inline void write_file(const char *directory, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

#endif
