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

/* Both fits with one more setting each; the answers must agree. */
static void compare_with(trial *t, const raw *both[2], const char *key, const char *const value[2], const char *what)
{
    plx_context *ctx = patient_context(1);
    plx_model *m[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        plx_dataset *data = raw_dataset(t, both[k], ctx);
        plx_params *params = base_params(t, ctx, 3);
        plx_status st = plx_params_set(params, ctx, key, value[k]);
        if (st == PLX_OK) st = try_fit(t, &m[k], ctx, data, params);
        CHECK(t, st == PLX_OK, "%s: %s", what, plx_context_error(ctx));
        plx_params_destroy(params);
        plx_dataset_destroy(data);
    }
    if (m[0] && m[1]) {
        picture *a = picture_model(m[0]), *b = picture_model(m[1]);
        expect_same_answer(t, a, b, 1e-7, what);
        picture_free(a);
        picture_free(b);
    }
    plx_model_destroy(m[0]);
    plx_model_destroy(m[1]);
    plx_context_destroy(ctx);
}

/* zscore takes away what is added to a feature, and its unit: 8 and 2^20 are exact in binary. */
static void unit_under_zscore(trial *t)
{
    static const char *const zscore[] = {"zscore", "zscore"};
    if (!plx__param_find(t->about->params, "scale")) return;
    raw *r = raw_make(t, 25, 3, 7), *shifted = raw_clone(r), *larger = raw_clone(r), *smaller = raw_clone(r);
    for (plx_index v = 0; v < r->n_views; v++) {
        r->view[v].kind = shifted->view[v].kind = larger->view[v].kind = smaller->view[v].kind = PLX_VIEW_REAL;
        for (plx_index i = 0; i < r->n; i++) shifted->view[v].x[i * r->view[v].cols] += 8;
        for (plx_index e = 0; e < r->n * r->view[v].cols; e++) {
            larger->view[v].x[e] *= 0x1p20;
            smaller->view[v].x[e] *= 0x1p-20;
        }
    }
    compare_with(t, (const raw *[]){r, shifted}, "scale", zscore, "a constant added to a feature under zscore");
    compare_with(t, (const raw *[]){r, larger}, "scale", zscore, "values times 2^20 under zscore");
    compare_with(t, (const raw *[]){r, smaller}, "scale", zscore, "values times 2^-20 under zscore");
    raw_free(r);
    raw_free(shifted);
    raw_free(larger);
    raw_free(smaller);
}

/* A view that stands twice with half of its weight counts as before. */
static void view_twice(trial *t)
{
    if (!plx__param_find(t->about->params, "view_weights") || t->variant >= 0) return;
    raw *r = raw_make(t, 25, 3, 7);
    while (r->n_views > 2) raw_drop_view(r, r->n_views - 1);
    raw *twice = raw_clone(r), *spare = raw_clone(r);
    twice->view[twice->n_views] = spare->view[0];
    snprintf(twice->view[twice->n_views++].name, sizeof r->view[0].name, "again");
    spare->view[0] = spare->view[--spare->n_views]; /* its memory belongs to the other now */
    compare_with(t, (const raw *[]){r, twice}, "view_weights", (const char *const[]){"2,1", "1,1,1"},
                 "a view twice with half the weight");
    raw_free(r);
    raw_free(twice);
    raw_free(spare);
}

/* ---- names of classes ---- */

/* Labels of the data set with class c called by the c-th name. */
static plx_dataset *renamed_dataset(trial *t, const raw *r, plx_context *ctx, const char *const *name)
{
    plx_dataset *data = raw_dataset(t, r, ctx);
    const char **label = calloc((size_t)r->n, sizeof *label);
    for (plx_index i = 0; i < r->n; i++) label[i] = r->label[i] < 0 ? "?" : name[r->label[i]];
    CHECK(t, plx_dataset_set_labels(data, ctx, label) == PLX_OK, "%s", plx_context_error(ctx));
    free(label);
    return data;
}

/* Names in the same alphabetical order change nothing. In another order ties may fall otherwise and draws are dealt out
 * otherwise, so only methods without chance are compared, on the samples whose class is clear. */
static void classes_renamed(trial *t)
{
    static const char *const names[3][3] = {{"a", "b", "c"}, {"north", "south", "west"}, {"z", "y", "x"}};
    if (!needs_labels(t)) return;
    raw *r = raw_make(t, 27, 3, 7);
    plx_context *ctx = patient_context(1);
    picture *p[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; k++) {
        plx_dataset *data = renamed_dataset(t, r, ctx, names[k]);
        plx_model *m = NULL;
        plx_status st = try_fit(t, &m, ctx, data, NULL);
        CHECK(t, st == PLX_OK || clean_refusal(st, ctx), "renamed classes: %s", plx_context_error(ctx));
        p[k] = m ? picture_model(m) : NULL;
        plx_model_destroy(m);
        plx_dataset_destroy(data);
    }
    for (int k = 1; k < 3 && p[0]; k++) {
        CHECK(t, p[k] && p[k]->k == p[0]->k, "renamed classes: another number of scores");
        bool same_order = k == 1, whole = p[k] && p[k]->k == p[0]->k && p[0]->k == 3;
        if (!whole || (!same_order && can(t, PLX_IS_RANDOM))) continue;
        for (plx_index i = 0; i < 3 * r->n; i++) {
            plx_index other = same_order ? i : i - i % 3 + 2 - i % 3;
            double a = p[0]->scores[i], b = p[k]->scores[other];
            if (fabs(a - b) <= (same_order ? 0 : 1e-6) * fmax(1.0, fabs(a))) continue;
            complain(t, "classes renamed (%s order): score %d of sample %d is %g instead of %g",
                     same_order ? "same" : "other", (int)(i % 3), (int)(i / 3), b, a);
            break;
        }
    }
    for (int k = 0; k < 3; k++) picture_free(p[k]);
    plx_context_destroy(ctx);
    raw_free(r);
}

const check metamorphic_checks[] = {
    {"view-nobody-has", view_nobody_has},     {"view-without-labels", view_without_labels},
    {"unit-under-zscore", unit_under_zscore}, {"view-twice", view_twice},
    {"classes-renamed", classes_renamed},     {NULL, NULL}};
