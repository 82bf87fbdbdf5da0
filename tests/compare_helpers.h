/*
 * A small data set for comparisons: two views of counts, three classes that the counts tell apart but for some noise.
 */
#ifndef PLX_TESTS_COMPARE_HELPERS_H
#define PLX_TESTS_COMPARE_HELPERS_H

#include "compare/journal.h"
#include "fit_helpers.h"
#include "parallax/split.h"

enum { TOY_N = 48, TOY_COLS = 5 };

static inline plx_dataset *toy_data(plx_context *ctx, const char *name, uint64_t seed)
{
    static const char *const classes[] = {"a", "b", "c"};
    double x[2][TOY_N * TOY_COLS];
    char ids[TOY_N][16];
    const char *truth[TOY_N], *id[TOY_N];
    plx_dataset *d = NULL;
    plx__rng rng = plx__rng_start(seed, 7);
    for (int i = 0; i < TOY_N; i++) {
        truth[i] = classes[i % 3];
        snprintf(ids[i], sizeof ids[i], "s%d", i);
        id[i] = ids[i];
        for (int v = 0; v < 2; v++)
            for (int j = 0; j < TOY_COLS; j++)
                x[v][i * TOY_COLS + j] = 1 + random_count(&rng, 4) + (j == i % 3 ? random_count(&rng, 4) : 0);
    }
    assert_ok(ctx, plx_dataset_create(&d, ctx, name, TOY_N));
    add_dense(d, ctx, "left", PLX_VIEW_COUNTS, x[0], TOY_COLS, NULL);
    add_dense(d, ctx, "right", PLX_VIEW_COUNTS, x[1], TOY_COLS, NULL);
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, id));
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    return d;
}

/* Options over lists that live as long as the expression. */
#define NAMES(...) ((const char *const[]){__VA_ARGS__})
#define COUNT_OF(...) ((plx_index)(sizeof NAMES(__VA_ARGS__) / sizeof(const char *)))
#define METHODS(o, ...) ((o)->methods = NAMES(__VA_ARGS__), (o)->n_methods = COUNT_OF(__VA_ARGS__))
#define LABELS(o, ...) ((o)->labels = NAMES(__VA_ARGS__), (o)->n_labels = COUNT_OF(__VA_ARGS__))
#define METRICS(o, ...) ((o)->metrics = NAMES(__VA_ARGS__), (o)->n_metrics = COUNT_OF(__VA_ARGS__))

static inline plx_compare_options toy_options(plx_index repeats)
{
    plx_compare_options o = PLX_COMPARE_OPTIONS_INIT;
    o.repeats = repeats;
    o.jobs = 1;
    return o;
}

static inline plx_status compare_one(plx_comparison **out, plx_context *ctx, const plx_dataset *data,
                                     const plx_compare_options *o)
{
    return plx_compare(out, ctx, &data, 1, o);
}

#endif
