/*
 * Promises about models: the arrays they hold, files, new samples, held-out samples, the JSON result.
 */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
#include "methods/registry.h"

/* A fitted model with all that belongs to it. */
typedef struct stage {
    raw *r;
    plx_context *ctx;
    plx_dataset *data;
    plx_model *model;
} stage;

static bool open_stage(stage *s, trial *t)
{
    s->r = raw_make(t, 24, 3, 7);
    s->ctx = plain_context(1);
    s->data = raw_dataset(t, s->r, s->ctx);
    s->model = must_fit(t, s->ctx, s->data);
    return s->model != NULL;
}

static void close_stage(stage *s)
{
    plx_model_destroy(s->model);
    plx_dataset_destroy(s->data);
    plx_context_destroy(s->ctx);
    raw_free(s->r);
}

static void expect_same(trial *t, picture *a, picture *b, double tolerance, const char *what)
{
    const char *difference = picture_difference(t, a, b, tolerance, NULL);
    CHECK(t, !difference, "%s: %s", what, difference);
    picture_free(a);
    picture_free(b);
}

/* ---- arrays ---- */

/* Size a letter of a shape stands for, or -1: free. */
static plx_index size_of(const stage *s, const char *letter, size_t len, const char *view)
{
    if (len == 1 && letter[0] == 'n') return s->r->n;
    if (len == 1 && letter[0] == '1') return 1;
    if (len == 1 && letter[0] == 'K') return s->model->n_classes ? s->model->n_classes : -1;
    if (len == 1 && letter[0] == 'V') return s->r->n_views;
    for (plx_index v = 0; len == 1 && letter[0] == 'd' && v < s->r->n_views; v++)
        if (view && strcmp(s->r->view[v].name, view) == 0) return s->r->view[v].cols;
    return -1;
}

static void array_shape(trial *t, const stage *s, const plx_model *m, const plx__array_spec *spec, const char *name,
                        const char *view)
{
    plx_cmat dense;
    plx_ccsr csr;
    const char *cross = strstr(spec->shape, " x ");
    bool is_dense = plx_model_array(&dense, m, name) == PLX_OK,
         is_sparse = plx_model_array_sparse(&csr, m, name) == PLX_OK;
    if (!is_dense && !is_sparse && spec->flags & PLX__SOMETIMES) return;
    CHECK(t, is_dense != is_sparse, "array %s is %s", name, is_dense ? "both dense and sparse" : "not there");
    if (is_dense == is_sparse || !cross) return;
    plx_index rows = is_dense ? dense.rows : csr.rows, cols = is_dense ? dense.cols : csr.cols;
    plx_index r = size_of(s, spec->shape, (size_t)(cross - spec->shape), view),
              c = size_of(s, cross + 3, strlen(cross + 3), view);
    CHECK(t, (r < 0 || r == rows) && (c < 0 || c == cols), "array %s is %lld x %lld, declared %s", name,
          (long long)rows, (long long)cols, spec->shape);
}

static void declared_array(trial *t, const stage *s, const plx_model *m, const plx__array_spec *spec)
{
    char name[128];
    const char *tail = strstr(spec->name, "VIEW");
    if (!tail) {
        array_shape(t, s, m, spec, spec->name, NULL);
        return;
    }
    for (plx_index v = 0; v < s->r->n_views; v++) {
        snprintf(name, sizeof name, "%.*s%s", (int)(tail - spec->name), spec->name, s->r->view[v].name);
        array_shape(t, s, m, spec, name, s->r->view[v].name);
    }
}

static void arrays(trial *t)
{
    stage s;
    if (!open_stage(&s, t)) return;
    for (const plx__array_spec *a = t->about->arrays; a->name; a++)
        if (!(a->flags & (PLX__ON_REQUEST | PLX__SOMETIMES))) declared_array(t, &s, s.model, a);
    for (plx_index i = 0; i < plx_model_arrays(s.model); i++) {
        const char *name = plx_model_array_name(s.model, i);
        const plx__array_spec *spec = plx__array_spec_find(t->about, name);
        CHECK(t, name[0] == '_' || spec, "array %s is not declared", name);
        CHECK(t, !spec || !(spec->flags & PLX__ON_REQUEST), "array %s is there though nobody asked for it", name);
    }
    CHECK(t, !plx_model_array_name(s.model, plx_model_arrays(s.model)), "an array beyond the last");
    close_stage(&s);
}

/* Names of all on-request arrays, "VIEW" at the end spelled out for the first view. */
static plx_index requested(const char **names, char (*texts)[128], const trial *t)
{
    plx_index count = 0;
    for (const plx__array_spec *a = t->about->arrays; a->name && count < 16; a++) {
        const char *tail = strstr(a->name, "VIEW");
        if (!(a->flags & PLX__ON_REQUEST)) continue;
        snprintf(texts[count], sizeof *texts, "%.*s%s", tail ? (int)(tail - a->name) : (int)strlen(a->name), a->name,
                 tail ? "text" : "");
        names[count] = texts[count];
        count++;
    }
    return count;
}

static void arrays_on_request(trial *t)
{
    stage s;
    char texts[16][128];
    const char *names[16] = {0};
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_model *m = NULL;
    if (!open_stage(&s, t)) return;
    plx_params *p = base_params(t, s.ctx, 3);
    o.arrays = names;
    o.n_arrays = requested(names, texts, t);
    plx_status st = plx_fit(&m, s.ctx, t->method, s.data, p, &o);
    CHECK(t, st == PLX_OK, "asking for every array: %s", plx_context_error(s.ctx));
    for (plx_index i = 0; m && i < o.n_arrays; i++)
        array_shape(t, &s, m, plx__array_spec_find(t->about, names[i]), names[i],
                    strstr(plx__array_spec_find(t->about, names[i])->name, "VIEW") ? "text" : NULL);
    plx_model_destroy(m);
    names[0] = "no_such_array";
    o.n_arrays = 1;
    st = plx_fit(&m, s.ctx, t->method, s.data, p, &o);
    CHECK(t, st == PLX_E_ARG && !m && strstr(plx_context_error(s.ctx), "no_such_array"), "an unknown array: %s '%s'",
          plx_status_name(st), plx_context_error(s.ctx));
    plx_params_destroy(p);
    close_stage(&s);
}

/* ---- new samples ---- */

static bool leaves_one_out(const trial *t)
{
    const plx__method *m = plx__method_find(t->method);
    return m && m->leave_one_out;
}

static void predict_training(trial *t)
{
    stage s;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    picture *fitted = picture_model(s.model), *predicted = predict_picture(t, s.ctx, s.model, s.r);
    if (predicted && !can(t, PLX_CAN_USE_UNLABELLED) && !leaves_one_out(t)) {
        predicted->objective = fitted->objective;
        plx_index arrays_of_fit = fitted->n_arrays;
        fitted->n_arrays = 0; /* labels and scores; a prediction has fewer arrays */
        const char *difference = picture_difference(t, fitted, predicted, 1e-9, NULL);
        CHECK(t, !difference, "predicting the training samples: %s", difference);
        fitted->n_arrays = arrays_of_fit;
    } else if (predicted) {
        CHECK(t, predicted->n == fitted->n, "labels for %lld of %lld samples", (long long)predicted->n,
              (long long)fitted->n);
    }
    picture_free(fitted);
    picture_free(predicted);
    close_stage(&s);
}

static void predict_unsupported(trial *t)
{
    stage s;
    plx_prediction *p = NULL;
    if (can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    plx_status st = plx_predict(&p, s.ctx, s.model, s.data);
    CHECK(t, st == PLX_E_UNSUPPORTED && !p && plx_context_error(s.ctx)[0], "predict: %s", plx_status_name(st));
    close_stage(&s);
}

static void predict_transform(trial *t)
{
    stage s;
    plx_prediction *p = NULL;
    plx_cmat z;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    plx_status st = plx_transform(&p, s.ctx, s.model, s.data);
    if (st == PLX_OK) st = plx_prediction_transform(&z, p);
    if (t->about->transform)
        CHECK(t, st == PLX_OK && z.rows == s.r->n && z.cols > 0, "transform: %s", plx_status_name(st));
    else CHECK(t, st == PLX_E_UNSUPPORTED, "transform without an array: %s", plx_status_name(st));
    plx_prediction_destroy(p);
    close_stage(&s);
}

/* Names decide, not positions. */
static void predict_by_name(trial *t)
{
    stage s;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    raw *fresh = raw_make(t, 20, 3, 21), *views = raw_clone(fresh), *features = raw_clone(fresh),
        *more = raw_clone(fresh);
    if (fresh->n_views > 1) raw_swap_views(views, 0, fresh->n_views - 1);
    expect_same(t, predict_picture(t, s.ctx, s.model, fresh), predict_picture(t, s.ctx, s.model, views), 1e-12,
                "views in another order");
    for (plx_index v = 0; v < fresh->n_views; v++) {
        plx_index *order = mixed_order(fresh->view[v].cols);
        raw_move_feature(features, v, order);
        raw_add_column(more, v, "unheard-of");
        free(order);
    }
    expect_same(t, predict_picture(t, s.ctx, s.model, fresh), predict_picture(t, s.ctx, s.model, features), 1e-12,
                "features in another order");
    expect_same(t, predict_picture(t, s.ctx, s.model, fresh), predict_picture(t, s.ctx, s.model, more), 1e-12,
                "features nobody knows");
    for (plx_index v = 0; v < fresh->n_views; v++) features->view[v].sparse = true;
    expect_same(t, predict_picture(t, s.ctx, s.model, fresh), predict_picture(t, s.ctx, s.model, features), 1e-9,
                "sparse new samples");
    raw_free(fresh);
    raw_free(views);
    raw_free(features);
    raw_free(more);
    close_stage(&s);
}

/* A view that is not in the file is a view missing for everybody. */
static void predict_subset(trial *t)
{
    stage s;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    for (plx_index v = 0; can(t, PLX_CAN_MISSING_VIEWS) && v < s.r->n_views && s.r->n_views > 1; v++) {
        raw *masked = raw_make(t, 20, 3, 21), *cut = raw_clone(masked);
        memset(masked->view[v].present, 0, (size_t)masked->n);
        raw_drop_view(cut, v);
        expect_same(t, predict_picture(t, s.ctx, s.model, masked), predict_picture(t, s.ctx, s.model, cut), 1e-12,
                    "a view left out");
        raw_free(masked);
        raw_free(cut);
    }
    raw *strange = raw_make(t, 5, 2, 3);
    plx_prediction *p = NULL;
    for (plx_index v = 0; v < strange->n_views; v++) strange->view[v].name[0] = (char)toupper(strange->view[v].name[0]);
    plx_dataset *data = raw_dataset(t, strange, s.ctx);
    plx_status st = plx_predict(&p, s.ctx, s.model, data);
    CHECK(t, st == PLX_E_DATA && !p && strstr(plx_context_error(s.ctx), "text"), "none of the views: %s '%s'",
          plx_status_name(st), plx_context_error(s.ctx));
    plx_dataset_destroy(data);
    raw_free(strange);
    close_stage(&s);
}

/* Missing features are zero where that means "did not occur", and an error elsewhere. */
static void predict_missing_features(trial *t)
{
    stage s;
    plx_prediction *p = NULL;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    raw *zeroed = raw_make(t, 20, 3, 21), *cut = raw_clone(zeroed);
    for (plx_index i = 0; i < zeroed->n; i++) zeroed->view[0].x[i * zeroed->view[0].cols + 4] = 0;
    raw_drop_column(cut, 0, 4);
    expect_same(t, predict_picture(t, s.ctx, s.model, zeroed), predict_picture(t, s.ctx, s.model, cut), 1e-12,
                "a counts feature left out");
    raw *real = raw_clone(s.r);
    for (plx_index v = 0; v < real->n_views; v++) real->view[v].kind = PLX_VIEW_REAL;
    plx_dataset *data = raw_dataset(t, real, s.ctx);
    plx_model *m = must_fit(t, s.ctx, data);
    plx_dataset_destroy(data);
    raw_drop_column(real, 0, 4);
    data = raw_dataset(t, real, s.ctx);
    plx_status st = m ? plx_predict(&p, s.ctx, m, data) : PLX_E_DATA;
    plx_cmat used = {0};
    bool unused = m && plx_model_array(&used, m, "_views_used") == PLX_OK && used.data[0] == 0;
    if (unused) plx_prediction_destroy(p); /* a view the model does not need may lack what it likes */
    else
        CHECK(t, st == PLX_E_DATA && !p && (!m || strstr(plx_context_error(s.ctx), "f4")),
              "a real feature left out: %s '%s'", plx_status_name(st), plx_context_error(s.ctx));
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    raw_free(real);
    raw_free(zeroed);
    raw_free(cut);
    close_stage(&s);
}

/* ---- files ---- */

static void save_and_load(trial *t)
{
    stage s;
    char path[96], second[96];
    plx_model *loaded = NULL;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    raw *fresh = raw_make(t, 20, 3, 21);
    snprintf(path, sizeof path, "%s/m.plx", t->directory);
    snprintf(second, sizeof second, "%s/again.plx", t->directory);
    CHECK(t, plx_model_save(s.ctx, s.model, path) == PLX_OK, "save: %s", plx_context_error(s.ctx));
    CHECK(t, plx_model_load(&loaded, s.ctx, path) == PLX_OK, "load: %s", plx_context_error(s.ctx));
    if (loaded) {
        expect_same(t, predict_picture(t, s.ctx, s.model, fresh), predict_picture(t, s.ctx, loaded, fresh), 0,
                    "prediction after load");
        CHECK(t, !plx_model_prediction(loaded), "a loaded model has predictions of the fit");
        CHECK(t, strcmp(plx_model_method(loaded), t->method) == 0, "the method is lost");
        CHECK(t, plx_model_iterations(loaded) == plx_model_iterations(s.model), "the iterations are lost");
        for (plx_index i = 0; i < plx__param_count(t->about->params); i++) {
            const char *key = plx__param_at(t->about->params, i)->name;
            CHECK(t, strcmp(plx_model_param(loaded, key), plx_model_param(s.model, key)) == 0, "parameter %s is lost",
                  key);
        }
        CHECK(t, plx_model_save(s.ctx, loaded, second) == PLX_OK, "saving a loaded model: %s",
              plx_context_error(s.ctx));
    }
    plx_model_destroy(loaded);
    unlink(path);
    unlink(second);
    raw_free(fresh);
    close_stage(&s);
}

/* A model file of version 1, kept since the day it was written: it loads for ever. PLX_WRITE_MODELS=1 writes the file of
 * a new method, once; an existing one is never replaced. */
static void old_file(trial *t)
{
    stage s;
    char path[512];
    plx_model *old = NULL;
    if (!can(t, PLX_CAN_PREDICT) || !t->first || !open_stage(&s, t)) return;
    snprintf(path, sizeof path, "%s/tests/data/models/%s.plx", t->source, t->method);
    if (getenv("PLX_WRITE_MODELS") && access(path, F_OK) != 0)
        CHECK(t, plx_model_save(s.ctx, s.model, path) == PLX_OK, "save: %s", plx_context_error(s.ctx));
    CHECK(t, plx_model_load(&old, s.ctx, path) == PLX_OK, "%s (a new method: write it once with PLX_WRITE_MODELS=1)",
          plx_context_error(s.ctx));
    if (old) {
        raw *fresh = raw_make(t, 20, 3, 21);
        char where[128] = "";
        picture *p = predict_picture(t, s.ctx, old, fresh);
        CHECK(t, p && p->n == fresh->n && picture_finite(p, where, sizeof where), "an old model predicts: %s", where);
        picture_free(p);
        raw_free(fresh);
    }
    plx_model_destroy(old);
    close_stage(&s);
}

/* ---- held-out samples ---- */

static bool write_flags(const trial *t, plx_index n, bool (*out)(plx_index))
{
    char path[96];
    snprintf(path, sizeof path, "%s/held.txt", t->directory);
    FILE *f = fopen(path, "w");
    for (plx_index i = 0; f && i < n; i++) fprintf(f, "%d\n", out(i));
    return f && fclose(f) == 0;
}

static bool every_fifth(plx_index i) { return i % 5 == 2; }
static bool everybody(plx_index i) { return i >= 0; }

static plx_status fit_heldout(trial *t, plx_model **out, stage *s, const char *value)
{
    plx_params *p = base_params(t, s->ctx, 3);
    plx_status st = plx_params_set(p, s->ctx, "heldout", value);
    if (st == PLX_OK) st = try_fit(t, out, s->ctx, s->data, p);
    plx_params_destroy(p);
    return st;
}

static void compare_rows(trial *t, const picture *all, const picture *part, const plx_index *rows, const char *what)
{
    for (plx_index i = 0; i < part->n; i++) {
        CHECK(t, strcmp(all->label[rows[i]], part->label[i]) == 0, "%s: label of row %lld: %s and %s", what,
              (long long)rows[i], all->label[rows[i]], part->label[i]);
        for (plx_index c = 0; c < part->k && c < all->k; c++)
            CHECK(t, fabs(all->scores[rows[i] * all->k + c] - part->scores[i * part->k + c]) <= 1e-12,
                  "%s: score (%lld, %lld)", what, (long long)rows[i], (long long)c);
    }
}

static void heldout(trial *t)
{
    stage s;
    plx_model *whole = NULL;
    plx_index in[24], out[24], n_in = 0, n_out = 0;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    for (plx_index i = 0; i < s.r->n; i++) {
        if (every_fifth(i)) out[n_out++] = i;
        else in[n_in++] = i;
    }
    CHECK(t, write_flags(t, s.r->n, every_fifth), "cannot write the flags");
    plx_status st = fit_heldout(t, &whole, &s, "held.txt");
    CHECK(t, st == PLX_OK, "heldout: %s", plx_context_error(s.ctx));
    raw *fitted = raw_rows(s.r, in, n_in), *rest = raw_rows(s.r, out, n_out);
    plx_dataset *data = raw_dataset(t, fitted, s.ctx);
    plx_model *m = must_fit(t, s.ctx, data);
    if (whole && m) {
        picture *all = picture_model(whole), *a = picture_model(m), *b = predict_picture(t, s.ctx, m, rest);
        CHECK(t, all->n == s.r->n, "results for %lld of %lld samples", (long long)all->n, (long long)s.r->n);
        compare_rows(t, all, a, in, "fitted samples");
        if (b) compare_rows(t, all, b, out, "held-out samples");
        picture_free(all);
        picture_free(a);
        picture_free(b);
    }
    plx_model_destroy(whole);
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    raw_free(fitted);
    raw_free(rest);
    close_stage(&s);
}

static void heldout_refused(trial *t)
{
    stage s;
    char path[96];
    plx_model *m = NULL;
    if (!can(t, PLX_CAN_PREDICT) || !open_stage(&s, t)) return;
    CHECK(t, write_flags(t, 19, every_fifth), "cannot write the flags");
    plx_status st = fit_heldout(t, &m, &s, "file:held.txt");
    const char *text = plx_context_error(s.ctx);
    CHECK(t, st == PLX_E_DATA && strstr(text, "19") && strstr(text, "24"), "wrong length: %s '%s'", plx_status_name(st),
          text);
    CHECK(t, write_flags(t, s.r->n, everybody), "cannot write the flags");
    st = fit_heldout(t, &m, &s, "held.txt");
    CHECK(t, st == PLX_E_DATA && plx_context_error(s.ctx)[0], "everybody held out: %s", plx_status_name(st));
    st = fit_heldout(t, &m, &s, "nosuchfile.txt");
    CHECK(t, st == PLX_E_IO && strstr(plx_context_error(s.ctx), "nosuchfile.txt"), "no such file: %s '%s'",
          plx_status_name(st), plx_context_error(s.ctx));
    snprintf(path, sizeof path, "%s/held.txt", t->directory);
    unlink(path);
    close_stage(&s);
}

/* ---- JSON ---- */

static void json_result(trial *t)
{
    static const char *const keys[] = {
        "method",    "parameters",      "seed",    "seconds",  "iterations",       "converged",
        "objective", "objective_trace", "metrics", "warnings", "processor_seconds"};
    stage s;
    const char *text = NULL;
    json_error_t where;
    if (!open_stage(&s, t)) return;
    CHECK(t, plx_model_json(&text, s.ctx, s.model, s.data) == PLX_OK, "%s", plx_context_error(s.ctx));
    json_t *root = text ? json_loads(text, 0, &where) : NULL;
    CHECK(t, root, "the result is not JSON: %s", text ? where.text : "(none)");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        CHECK(t, json_object_get(root, keys[k]) || (k == 8 && t->about->task == PLX_TASK_EMBED),
              "the key \"%s\" is missing", keys[k]);
    for (plx_index i = 0; i < plx__param_count(t->about->params); i++) {
        const char *name = plx__param_at(t->about->params, i)->name;
        CHECK(t, json_object_get(json_object_get(root, "parameters"), name), "parameter %s is missing", name);
    }
    CHECK(t, json_integer_value(json_object_get(root, "seed")) == 11, "another seed");
    json_decref(root);
    close_stage(&s);
}

const check model_checks[] = {{"arrays", arrays},
                              {"arrays-on-request", arrays_on_request},
                              {"predict-training", predict_training},
                              {"predict-unsupported", predict_unsupported},
                              {"predict-transform", predict_transform},
                              {"predict-by-name", predict_by_name},
                              {"predict-subset", predict_subset},
                              {"predict-missing-features", predict_missing_features},
                              {"save-and-load", save_and_load},
                              {"old-file", old_file},
                              {"heldout", heldout},
                              {"heldout-refused", heldout_refused},
                              {"json", json_result},
                              {NULL, NULL}};
