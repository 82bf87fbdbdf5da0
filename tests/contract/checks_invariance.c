/*
 * Promises about what may not change the result: seeds, threads, earlier fits, storage, and the order of things.
 */
#include <stdlib.h>
#include <string.h>

#include "contract.h"

static void inputs_unchanged(trial *t)
{
    raw *r = raw_make(t, 24, 3, 7);
    plx_context *ctx = patient_context(2);
    for (int sparse = 0; sparse < 2; sparse++) {
        for (plx_index v = 0; v < r->n_views; v++) r->view[v].sparse = sparse;
        plx_dataset *data = raw_dataset(t, r, ctx);
        uint64_t before = dataset_checksum(data);
        plx_model *m = must_fit(t, ctx, data);
        CHECK(t, dataset_checksum(data) == before, "fit changes its %s input", sparse ? "sparse" : "dense");
        if (m && can(t, PLX_CAN_PREDICT)) {
            plx_prediction *p = NULL;
            CHECK(t, plx_predict(&p, ctx, m, data) == PLX_OK, "predict: %s", plx_context_error(ctx));
            CHECK(t, dataset_checksum(data) == before, "predict changes its input");
            plx_prediction_destroy(p);
        }
        plx_model_destroy(m);
        plx_dataset_destroy(data);
    }
    plx_context_destroy(ctx);
    raw_free(r);
}

/* Two fits that must give the same bytes; frees the pictures. */
static void expect_same(trial *t, picture *a, picture *b, double tolerance, const moved *m, const char *what)
{
    const char *difference = picture_difference(t, a, b, tolerance, m);
    CHECK(t, !difference, "%s: %s", what, difference);
    picture_free(a);
    picture_free(b);
}

static void forgets(trial *t)
{
    raw *r = raw_make(t, 24, 3, 7), *other = raw_make(t, 17, 2, 9);
    plx_context *ctx = patient_context(1), *fresh = patient_context(1);
    picture *first = fit_picture(t, ctx, r);
    picture_free(fit_picture(t, ctx, other));
    picture *again = fit_picture(t, ctx, r);
    expect_same(t, first, again, 0, NULL, "fit after another fit");
    expect_same(t, fit_picture(t, ctx, r), fit_picture(t, fresh, r), 0, NULL, "a fresh context");
    plx_context_destroy(ctx);
    plx_context_destroy(fresh);
    raw_free(r);
    raw_free(other);
}

/* Without labels a method that can do without looks for clusters; NULL: not with these settings. */
static picture *picture_of_clusters(trial *t, plx_context *ctx, const raw *r)
{
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_params *p = base_params(t, ctx, 3);
    plx_model *m = NULL;
    plx_status st =
        p && plx__param_find(t->about->params, "clusters") ? plx_params_set_int(p, ctx, "clusters", 3) : PLX_OK;
    if (st == PLX_OK) st = try_fit(t, &m, ctx, data, p);
    picture *out = st == PLX_OK ? picture_model(m) : NULL;
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(data);
    return out;
}

/* Does one of a few seeds give anything else? Data on which the classes are mixed up, so that starts matter. */
static bool seed_matters(trial *t, bool labelled)
{
    raw *r = raw_make(t, 40, 3, 13);
    for (plx_index i = 0; !labelled && i < r->n; i++) r->label[i] = -1;
    plx_context *ctx = patient_context(1);
    for (plx_index i = 0; i < r->n; i++)
        for (plx_index v = 0; v < r->n_views; v++)
            for (plx_index j = 0; j < r->view[v].cols; j++)
                r->view[v].x[i * r->view[v].cols + j] = (double)(1 + (i * (j + 3) + v * j * j) % 4);
    plx_context_set_seed(ctx, 3);
    picture *(*fit)(trial *, plx_context *, const raw *) = labelled ? fit_picture : picture_of_clusters;
    picture *first = fit(t, ctx, r);
    bool differs = false;
    for (uint64_t seed = 4; first && !differs && seed < 10; seed++) {
        plx_context_set_seed(ctx, seed);
        picture *other = fit(t, ctx, r);
        differs = picture_difference(t, first, other, 0, NULL) != NULL;
        picture_free(other);
    }
    picture_free(first);
    plx_context_destroy(ctx);
    raw_free(r);
    return differs;
}

static void seeds(trial *t)
{
    raw *r = raw_make(t, 24, 3, 7);
    plx_context *a = patient_context(1), *b = patient_context(1);
    plx_context_set_seed(a, 3);
    plx_context_set_seed(b, 3);
    expect_same(t, fit_picture(t, a, r), fit_picture(t, b, r), 0, NULL, "the same seed");
    plx_context_set_seed(b, 4);
    if (!can(t, PLX_IS_RANDOM))
        expect_same(t, fit_picture(t, a, r), fit_picture(t, b, r), 0, NULL, "another seed, method not random");
    t->seeds_tried = true; /* some rows leave nothing to chance, and so may labels */
    if (can(t, PLX_IS_RANDOM) && !t->seed_mattered)
        t->seed_mattered = seed_matters(t, true) || (!t->about->min_classes && seed_matters(t, false));
    plx_context_destroy(a);
    plx_context_destroy(b);
    raw_free(r);
}

/* Seven threads on dense views, two on sparse ones: either differs from one thread if the order of sums depends on who
 * does them. */
static void threads(trial *t)
{
    static const struct {
        int sparse, count;
        const char *what;
    } each[] = {{0, 7, "7 threads"}, {1, 2, "2 threads"}};
    raw *r = raw_make(t, 300, 3, 7); /* several grains of the parallel loops */
    for (size_t i = 0; i < 2; i++) {
        for (plx_index v = 0; v < r->n_views; v++) r->view[v].sparse = each[i].sparse;
        plx_context *one = patient_context(1), *many = patient_context(each[i].count);
        expect_same(t, fit_picture(t, one, r), fit_picture(t, many, r), 0, NULL, each[i].what);
        plx_context_destroy(one);
        plx_context_destroy(many);
    }
    raw_free(r);
}

/* Whether a method that streams does so with the settings of this row: else it says with which. */
static bool streams_with_these(trial *t, plx_context *far, const plx_dataset *streamed)
{
    plx_params *p = base_params(t, far, 3);
    plx_model *m = NULL;
    plx_status st = try_fit(t, &m, far, streamed, p);
    bool refused = st == PLX_E_UNSUPPORTED && strstr(plx_context_error(far), "cannot stream with these settings");
    if (refused)
        CHECK(t, t->about->streams_with && strstr(plx_context_error(far), t->about->streams_with), "%s",
              plx_context_error(far));
    plx_model_destroy(m);
    plx_params_destroy(p);
    return !refused;
}

/* Data and working arrays in files: the same bytes, or a refusal that says who can. Prediction streams with any model. */
static void streaming(trial *t)
{
    raw *r = raw_make(t, 120, 3, 7), *fresh = raw_make(t, 40, 3, 8);
    plx_context *near = patient_context(1), *far = streaming_context(2);
    plx_dataset *data = raw_dataset(t, r, near), *streamed = raw_dataset(t, r, far);
    plx_model *m = must_fit(t, near, data), *refused = NULL;
    if (t->about->streams) {
        if (streams_with_these(t, far, streamed))
            expect_same(t, fit_picture(t, near, r), fit_picture(t, far, r), 0, NULL, "streaming");
        else CHECK(t, !t->first, "the first row of settings does not stream");
    } else {
        plx_params *p = base_params(t, far, 3);
        plx_status st = try_fit(t, &refused, far, streamed, p);
        CHECK(t,
              st == PLX_E_UNSUPPORTED && strstr(plx_context_error(far), "cannot stream") &&
                  strstr(plx_context_error(far), "methods that do"),
              "a fit that streams is not refused: %s", plx_context_error(far));
        plx_model_destroy(refused);
        plx_params_destroy(p);
    }
    if (m && can(t, PLX_CAN_PREDICT))
        expect_same(t, predict_picture(t, near, m, fresh), predict_picture(t, far, m, fresh), 0, NULL,
                    "predicting while streaming");
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_dataset_destroy(streamed);
    plx_context_destroy(near);
    plx_context_destroy(far);
    raw_free(r);
    raw_free(fresh);
}

static void predict_threads(trial *t)
{
    if (!can(t, PLX_CAN_PREDICT)) return;
    raw *r = raw_make(t, 30, 3, 7), *fresh = raw_make(t, 1500, 3, 8);
    plx_context *one = patient_context(1), *many = patient_context(7);
    plx_dataset *data = raw_dataset(t, r, one);
    plx_model *m = must_fit(t, one, data);
    if (m)
        expect_same(t, predict_picture(t, one, m, fresh), predict_picture(t, many, m, fresh), 0, NULL,
                    "predicting with 7 threads");
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(one);
    plx_context_destroy(many);
    raw_free(r);
    raw_free(fresh);
}

static void rows_permuted(trial *t)
{
    if (can(t, PLX_IS_RANDOM)) return;
    raw *r = raw_make(t, 25, 3, 7);
    plx_context *ctx = patient_context(1);
    plx_index *orders[] = {reversed_order(r->n), mixed_order(r->n)};
    for (int o = 0; o < 2; o++) {
        raw *p = raw_rows(r, orders[o], r->n);
        moved m = {.row = orders[o]};
        expect_same(t, fit_picture(t, ctx, p), fit_picture(t, ctx, r), 1e-9, &m, "rows in another order");
        raw_free(p);
        free(orders[o]);
    }
    plx_context_destroy(ctx);
    raw_free(r);
}

static void views_reordered(trial *t)
{
    raw *r = raw_make(t, 25, 3, 7), *p = raw_clone(r);
    if (can(t, PLX_IS_VIEW_FREE) && r->n_views > 1) {
        plx_context *ctx = patient_context(1);
        raw_swap_views(p, 0, 1);
        expect_same(t, fit_picture(t, ctx, r), fit_picture(t, ctx, p), 1e-8, NULL, "views in another order");
        plx_context_destroy(ctx);
    }
    raw_free(r);
    raw_free(p);
}

static void features_permuted(trial *t)
{
    if (!can(t, PLX_IS_FEATURE_FREE)) return;
    raw *r = raw_make(t, 25, 3, 7), *p = raw_clone(r);
    plx_context *ctx = patient_context(1);
    moved m = {.data = r};
    for (plx_index v = 0; v < r->n_views; v++) {
        plx_index *order = mixed_order(r->view[v].cols);
        raw_move_feature(p, v, order);
        m.feature[v] = order;
    }
    expect_same(t, fit_picture(t, ctx, p), fit_picture(t, ctx, r), 1e-8, &m, "features in another order");
    for (plx_index v = 0; v < r->n_views; v++) free((void *)(uintptr_t)m.feature[v]);
    plx_context_destroy(ctx);
    raw_free(r);
    raw_free(p);
}

static void sparse_is_dense(trial *t)
{
    raw *r = raw_make(t, 25, 3, 7), *s = raw_clone(r);
    plx_context *ctx = patient_context(1);
    for (plx_index v = 0; v < s->n_views; v++) s->view[v].sparse = true;
    expect_same(t, fit_picture(t, ctx, r), fit_picture(t, ctx, s), 1e-9, NULL, "sparse storage");
    s->view[0].sparse = false;
    expect_same(t, fit_picture(t, ctx, r), fit_picture(t, ctx, s), 1e-9, NULL, "sparse and dense views together");
    plx_context_destroy(ctx);
    raw_free(r);
    raw_free(s);
}

/* Truth is for evaluation only. */
static void truth_is_not_seen(trial *t)
{
    raw *r = raw_make(t, 24, 3, 7), *other = raw_clone(r);
    plx_context *ctx = patient_context(1);
    for (plx_index i = 0; i < r->n; i++) other->truth[i] = (int32_t)((r->truth[i] + 1) % 3);
    expect_same(t, fit_picture(t, ctx, r), fit_picture(t, ctx, other), 0, NULL, "another truth");
    plx_context_destroy(ctx);
    raw_free(r);
    raw_free(other);
}

const check invariance_checks[] = {{"inputs-unchanged", inputs_unchanged},
                                   {"forgets", forgets},
                                   {"seeds", seeds},
                                   {"threads", threads},
                                   {"streaming", streaming},
                                   {"predict-threads", predict_threads},
                                   {"rows-permuted", rows_permuted},
                                   {"views-reordered", views_reordered},
                                   {"features-permuted", features_permuted},
                                   {"sparse-is-dense", sparse_is_dense},
                                   {"truth-not-seen", truth_is_not_seen},
                                   {NULL, NULL}};
