/*
 * Changes of the data after which the answer must be the same, or move in a known way. Orders of samples, views and
 * features are in checks_invariance.c; here are the rest.
 *
 * Violations that are right:
 *   kind of change            methods             why
 *   a view without labels     any                 may be refused: nothing can be learned in it; then in every order
 *   views in another order    random methods      draws are dealt out in the order of the views
 *   classes renamed           regression tasks    labels are numbers there
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

/* Labels, scores and objective; arrays may have other names or sizes. */
static void expect_same_answer(trial *t, const picture *a, const picture *b, double tolerance, const char *what)
{
    if (!a || !b) return;
    CHECK(t, a->n == b->n && a->k == b->k, "%s: another number of samples or scores", what);
    if (a->n != b->n || a->k != b->k) return;
    for (plx_index i = 0; i < a->n; i++)
        if (strcmp(a->label[i], b->label[i]) != 0) {
            complain(t, "%s: sample %d is %s instead of %s", what, (int)i, b->label[i], a->label[i]);
            return;
        }
    for (plx_index i = 0; i < a->n * a->k; i++)
        if (!(fabs(a->scores[i] - b->scores[i]) <= tolerance * fmax(1.0, fabs(a->scores[i])))) {
            complain(t, "%s: score %d of sample %d is %g instead of %g", what, (int)(i % a->k), (int)(i / a->k),
                     b->scores[i], a->scores[i]);
            return;
        }
}

static void compare(trial *t, const raw *r, const raw *other, double tolerance, const char *what)
{
    plx_context *ctx = patient_context(1);
    picture *a = fit_picture(t, ctx, r), *b = fit_picture(t, ctx, other);
    expect_same_answer(t, a, b, tolerance, what);
    picture_free(a);
    picture_free(b);
    plx_context_destroy(ctx);
}

/* A view that no sample has counts nowhere. */
static void view_nobody_has(trial *t)
{
    if (!can(t, PLX_CAN_MISSING_VIEWS)) return;
    raw *r = raw_make(t, 25, 3, 7);
    if (r->n_views < MAX_VIEWS && (!t->about->max_views || r->n_views < t->about->max_views)) {
        raw *more = raw_clone(r), *spare = raw_clone(r);
        raw_view *last = &more->view[more->n_views++];
        *last = spare->view[0];
        snprintf(last->name, sizeof last->name, "nobody");
        memset(last->present, 0, (size_t)r->n);
        spare->view[0] = spare->view[--spare->n_views]; /* its memory belongs to the other now */
        compare(t, r, more, 1e-12, "a view that nobody has");
        raw_free(more);
        raw_free(spare);
    }
    raw_free(r);
}

/* No labelled sample has the first view: the same answer with the views the other way round, or the same refusal. */
static void view_without_labels(trial *t)
{
    if (!can(t, PLX_CAN_MISSING_VIEWS) || can(t, PLX_IS_RANDOM)) return;
    raw *r = raw_make(t, 30, 3, 7);
    if (r->n_views > 1) {
        for (plx_index i = 0; i < r->n; i++) r->view[0].present[i] = r->label[i] < 0;
        raw *swapped = raw_clone(r);
        raw_swap_views(swapped, 0, 1);
        plx_context *ctx = patient_context(1);
        plx_dataset *one = raw_dataset(t, r, ctx), *two = raw_dataset(t, swapped, ctx);
        plx_model *a = NULL, *b = NULL;
        plx_status first = try_fit(t, &a, ctx, one, NULL), second = try_fit(t, &b, ctx, two, NULL);
        CHECK(t, first == second, "a view without labelled samples: %s, in the other order %s", plx_status_name(first),
              plx_status_name(second));
        if (a && b && can(t, PLX_IS_VIEW_FREE)) {
            picture *x = picture_model(a), *y = picture_model(b);
            expect_same_answer(t, x, y, 1e-7, "a view without labelled samples, views in another order");
            picture_free(x);
            picture_free(y);
        }
        plx_model_destroy(a);
        plx_model_destroy(b);
        plx_dataset_destroy(one);
        plx_dataset_destroy(two);
        plx_context_destroy(ctx);
        raw_free(swapped);
    }
    raw_free(r);
}

/* zscore takes away what is added to a feature. */
static void constant_added_under_zscore(trial *t)
{
    if (!plx__param_find(t->about->params, "scale")) return;
    raw *r = raw_make(t, 25, 3, 7), *other = raw_clone(r);
    for (plx_index v = 0; v < r->n_views; v++)
        for (plx_index i = 0; i < r->n; i++) other->view[v].x[i * r->view[v].cols] += 8; /* exact in binary */
    plx_context *ctx = patient_context(1);
    plx_model *m[2] = {NULL, NULL};
    const raw *both[] = {r, other};
    for (int k = 0; k < 2; k++) {
        plx_dataset *data = raw_dataset(t, both[k], ctx);
        plx_params *params = base_params(t, ctx, 3);
        plx_status st = plx_params_set(params, ctx, "scale", "zscore");
        if (st == PLX_OK) st = try_fit(t, &m[k], ctx, data, params);
        CHECK(t, st == PLX_OK, "zscore: %s", plx_context_error(ctx));
        plx_params_destroy(params);
        plx_dataset_destroy(data);
    }
    if (m[0] && m[1]) {
        picture *a = picture_model(m[0]), *b = picture_model(m[1]);
        expect_same_answer(t, a, b, 1e-7, "a constant added to a feature under zscore");
        picture_free(a);
        picture_free(b);
    }
    plx_model_destroy(m[0]);
    plx_model_destroy(m[1]);
    plx_context_destroy(ctx);
    raw_free(r);
    raw_free(other);
}

const check metamorphic_checks[] = {{"view-nobody-has", view_nobody_has},
                                    {"view-without-labels", view_without_labels},
                                    {"constant-under-zscore", constant_added_under_zscore},
                                    {NULL, NULL}};
