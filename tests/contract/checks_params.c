/*
 * Promises about parameters and about what `methods show` prints.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "core/file.h"
#include "core/number.h"

/* A data set and a context for the many small fits of this file. */
typedef struct bench {
    plx_context *ctx;
    plx_dataset *data;
    plx_dataset *holes; /* class 2 lacks the last view altogether; NULL for methods that need all views */
} bench;

static bench open_bench(trial *t)
{
    raw *r = raw_make(t, 18, 3, 5);
    bench b = {plain_context(1), NULL, NULL};
    b.data = raw_dataset(t, r, b.ctx);
    for (plx_index i = 2; r->n_views > 1 && i < r->n; i += 3) r->view[r->n_views - 1].present[i] = 0;
    if (can(t, PLX_CAN_MISSING_VIEWS)) b.holes = raw_dataset(t, r, b.ctx);
    raw_free(r);
    return b;
}

static void close_bench(bench *b)
{
    plx_dataset_destroy(b->data);
    plx_dataset_destroy(b->holes);
    plx_context_destroy(b->ctx);
}

static plx_index param_count(const trial *t) { return plx__param_count(t->about->params); }
static const plx__param_spec *param(const trial *t, plx_index i) { return plx__param_at(t->about->params, i); }

static bool is_number(const plx__param_spec *s)
{
    return s->kind == PLX_PARAM_INT || s->kind == PLX_PARAM_REAL || s->kind == PLX_PARAM_INT_OR_WORD ||
           s->kind == PLX_PARAM_REAL_OR_WORD || s->kind == PLX_PARAM_REALS;
}

static bool is_whole(const plx__param_spec *s) { return s->kind == PLX_PARAM_INT || s->kind == PLX_PARAM_INT_OR_WORD; }

/* ---- defaults ---- */

static void defaults_fit(trial *t)
{
    bench b = open_bench(t);
    char where[128] = "";
    plx_model *m = must_fit(t, b.ctx, b.data);
    if (m) {
        picture *p = picture_model(m);
        CHECK(t, picture_finite(p, where, sizeof where), "not finite: %s", where);
        CHECK(t, t->about->task == PLX_TASK_EMBED || p->n == plx_dataset_samples(b.data),
              "labels for %lld of %lld samples", (long long)p->n, (long long)plx_dataset_samples(b.data));
        CHECK(t, !plx_context_error(b.ctx)[0], "a message after success: %s", plx_context_error(b.ctx));
        CHECK(t, strcmp(plx_model_method(m), t->method) == 0, "the model says it is of '%s'", plx_model_method(m));
        picture_free(p);
    }
    plx_model_destroy(m);
    close_bench(&b);
}

/* ---- ranges ---- */

/* A setting that asks for too much (a million clusters) may end at the time limit, if it says so. */
static bool gave_up(const bench *b, plx_status st)
{
    return st == PLX_E_CANCELLED && strstr(plx_context_error(b->ctx), "no result within the time limit");
}

static void set_and_fit(trial *t, bench *b, const plx__param_spec *s, const char *value)
{
    char what[128];
    plx_model *m = NULL;
    plx_params *p = base_params(t, b->ctx, 3);
    snprintf(what, sizeof what, "%s=%s", s->name, value);
    plx_status st = plx_params_set(p, b->ctx, s->name, value);
    CHECK(t, st == PLX_OK, "%s is refused though allowed: %s", what, plx_context_error(b->ctx));
    if (st == PLX_OK) {
        st = try_fit(t, &m, b->ctx, b->data, p);
        if (!gave_up(b, st)) check_outcome(t, st, b->ctx, m, what);
        if (b->holes) {
            st = try_fit(t, &m, b->ctx, b->holes, p);
            if (!gave_up(b, st)) check_outcome(t, st, b->ctx, m, what);
        }
    }
    plx_params_destroy(p);
}

static void must_refuse(trial *t, bench *b, const plx__param_spec *s, const char *value)
{
    plx_params *p = base_params(t, b->ctx, 3);
    const char *got = plx_params_get(p, s->name);
    char before[64];
    snprintf(before, sizeof before, "%s", got ? got : "");
    plx_status st = plx_params_set(p, b->ctx, s->name, value);
    CHECK(t, st == PLX_E_ARG, "%s=%s gives %s, not PLX_E_ARG", s->name, value, plx_status_name(st));
    CHECK(t, strstr(plx_context_error(b->ctx), s->name), "%s=%s: the message does not name the parameter: '%s'",
          s->name, value, plx_context_error(b->ctx));
    CHECK(t, strcmp(plx_params_get(p, s->name), before) == 0, "%s=%s: a refused value is kept", s->name, value);
    plx_params_destroy(p);
}

static void number_text(char *out, double x) { plx__print_double(out, x); }

static void try_bound(trial *t, bench *b, const plx__param_spec *s, double bound, bool open, int outwards)
{
    char text[PLX__NUMBER_BYTES];
    double step = is_whole(s) ? 1.0 : 1e-9 * fmax(1.0, fabs(bound));
    if (!isfinite(bound)) return;
    number_text(text, bound);
    if (open) must_refuse(t, b, s, text);
    else set_and_fit(t, b, s, text);
    number_text(text, bound + outwards * step);
    must_refuse(t, b, s, text);
}

static void bounds(trial *t)
{
    static const char *const garbage[] = {"nan", "inf", "-inf", "abc", "1x", "1e999", "--1", "0x10", ""};
    bench b = open_bench(t);
    b.ctx->time_limit = 0.3; /* thousands of restarts prove no more than the first few */
    for (plx_index i = 0; i < param_count(t); i++) {
        const plx__param_spec *s = param(t, i);
        if (!is_number(s)) continue;
        try_bound(t, &b, s, s->lo, s->flags & PLX__ABOVE_LO, -1);
        try_bound(t, &b, s, s->hi, s->flags & PLX__BELOW_HI, 1);
        for (size_t g = 0; g < sizeof garbage / sizeof *garbage; g++)
            if (garbage[g][0] || s->def[0]) must_refuse(t, &b, s, garbage[g]);
        if (is_whole(s)) must_refuse(t, &b, s, "1.5");
    }
    close_bench(&b);
}

/* ---- words ---- */

static void words(trial *t)
{
    static const char *const yes_and_no[] = {"0", "1", "true", "FALSE", "Yes", "no", "on", "off"};
    bench b = open_bench(t);
    for (plx_index i = 0; i < param_count(t); i++) {
        const plx__param_spec *s = param(t, i);
        char word[64];
        for (const char *w = s->words; w && *w;) {
            size_t len = strcspn(w, "|");
            snprintf(word, sizeof word, "%.*s", (int)len, w);
            set_and_fit(t, &b, s, word);
            w += len + (w[len] == '|');
        }
        if (s->kind == PLX_PARAM_CHOICE) must_refuse(t, &b, s, "nosuchword");
        if (s->kind != PLX_PARAM_BOOL) continue;
        for (size_t y = 0; y < sizeof yes_and_no / sizeof *yes_and_no; y++) set_and_fit(t, &b, s, yes_and_no[y]);
        must_refuse(t, &b, s, "maybe");
        must_refuse(t, &b, s, "2");
    }
    close_bench(&b);
}

/* ---- names ---- */

static void unknown_name(trial *t)
{
    plx_context *ctx = plain_context(1);
    plx_params *p = NULL;
    const char *longest = "";
    char slip[128];
    NEED(t, plx_params_create(&p, ctx, t->method) == PLX_OK, "%s", plx_context_error(ctx));
    for (plx_index i = 0; i < param_count(t); i++)
        if (strlen(param(t, i)->name) > strlen(longest)) longest = param(t, i)->name;
    snprintf(slip, sizeof slip, "%sx", longest);
    CHECK(t, plx_params_set(p, ctx, slip, "1") == PLX_E_ARG, "the unknown parameter '%s' is accepted", slip);
    CHECK(t, strstr(plx_context_error(ctx), slip), "the message does not name '%s': %s", slip, plx_context_error(ctx));
    snprintf(slip, sizeof slip, "'%s'", longest);
    CHECK(t, strstr(plx_context_error(ctx), slip), "the message does not suggest %s: %s", slip, plx_context_error(ctx));
    CHECK(t, !plx_params_get(p, "no_such_parameter"), "an unknown parameter has a value");
    plx_params_destroy(p);
    plx_context_destroy(ctx);
}

/* A value the parameter takes, other than nothing. */
static const char *some_value(const plx__param_spec *s, char *buffer, size_t bytes)
{
    if (s->def[0]) return s->def;
    if (s->words) snprintf(buffer, bytes, "%.*s", (int)strcspn(s->words, "|"), s->words);
    else if (is_number(s)) snprintf(buffer, bytes, "%g", isfinite(s->lo) ? s->lo + 1 : 1.0);
    else snprintf(buffer, bytes, "x");
    return buffer;
}

static void per_view_ok(trial *t, bench *b, const plx__param_spec *s, const char *value)
{
    char key[96];
    plx_model *m = NULL;
    plx_params *p = base_params(t, b->ctx, 3);
    snprintf(key, sizeof key, "%s.text", s->name);
    CHECK(t, plx_params_set(p, b->ctx, key, value) == PLX_OK, "%s=%s: %s", key, value, plx_context_error(b->ctx));
    plx_status st = try_fit(t, &m, b->ctx, b->data, p);
    CHECK(t, st == PLX_OK, "%s=%s: %s", key, value, plx_context_error(b->ctx));
    if (m) CHECK(t, plx_model_param(m, key) && strcmp(plx_model_param(m, key), value) == 0, "the model forgot %s", key);
    plx_model_destroy(m);
    plx_params_destroy(p);
}

static void per_view_unknown(trial *t, bench *b, const plx__param_spec *s, const char *value)
{
    char key[96];
    plx_model *m = NULL;
    plx_params *p = base_params(t, b->ctx, 3);
    snprintf(key, sizeof key, "%s.nosuchview", s->name);
    plx_status st = plx_params_set(p, b->ctx, key, value);
    if (s->flags & PLX__PER_VIEW) {
        CHECK(t, st == PLX_OK, "%s: %s", key, plx_context_error(b->ctx));
        st = try_fit(t, &m, b->ctx, b->data, p);
    }
    CHECK(t, st == PLX_E_ARG, "%s gives %s, not PLX_E_ARG", key, plx_status_name(st));
    CHECK(t, strstr(plx_context_error(b->ctx), "nosuchview") && strstr(plx_context_error(b->ctx), s->name),
          "%s: the message names neither: '%s'", key, plx_context_error(b->ctx));
    plx_model_destroy(m);
    plx_params_destroy(p);
}

static void per_view(trial *t)
{
    bench b = open_bench(t);
    for (plx_index i = 0; i < param_count(t); i++) {
        const plx__param_spec *s = param(t, i);
        char buffer[64];
        const char *value = some_value(s, buffer, sizeof buffer);
        if (s->flags & PLX__PER_VIEW) per_view_ok(t, &b, s, value);
        per_view_unknown(t, &b, s, value);
    }
    close_bench(&b);
}

/* ---- what is shown ---- */

static void show_params(trial *t, plx_context *ctx)
{
    plx_params *p = base_params(t, ctx, 3);
    for (plx_index i = 0; i < param_count(t); i++) {
        plx_param_info info = PLX_PARAM_INFO_INIT;
        NEED(t, plx_method_param(&info, t->method, i) == PLX_OK, "parameter %lld cannot be described", (long long)i);
        CHECK(t, info.name && info.name[0] && info.name[0] != '.' && !strpbrk(info.name, "= "),
              "parameter %lld has a bad name", (long long)i);
        CHECK(t, info.help && strlen(info.help) > 10 && info.help[strlen(info.help) - 1] == '.',
              "%s: no sentence of help", info.name);
        CHECK(t, info.range && info.range[0], "%s: no range", info.name);
        CHECK(t, info.def, "%s: no default", info.name);
        CHECK(t, !info.def[0] || plx_params_set(p, ctx, info.name, info.def) == PLX_OK,
              "%s: its own default is refused: %s", info.name, plx_context_error(ctx));
        for (plx_index j = 0; j < i; j++)
            CHECK(t, strcmp(param(t, j)->name, info.name) != 0, "%s is there twice", info.name);
    }
    plx_params_destroy(p);
}

static void show_arrays(trial *t, const plx_method_info *about)
{
    bool transform = !about->transform;
    for (plx_index i = 0; i < about->arrays; i++) {
        plx_array_info info = PLX_ARRAY_INFO_INIT;
        NEED(t, plx_method_array(&info, t->method, i) == PLX_OK, "array %lld cannot be described", (long long)i);
        CHECK(t, info.name && info.name[0] && info.name[0] != '_', "array %lld has a bad name", (long long)i);
        CHECK(t, info.shape && strstr(info.shape, " x "), "%s: shape '%s' is not of the form 'n x K'", info.name,
              info.shape);
        CHECK(t, info.help && strlen(info.help) > 10 && info.help[strlen(info.help) - 1] == '.',
              "%s: no sentence of help", info.name);
        if (about->transform) transform |= strcmp(info.name, about->transform) == 0;
    }
    CHECK(t, transform, "transform names '%s', which is no array", about->transform);
}

/* The citation is a key of docs/references.bib (passed over while that file does not exist). */
static void show_citation(trial *t, plx_context *ctx, const char *citation)
{
    char path[512], entry[128];
    plx__bytes bytes;
    snprintf(path, sizeof path, "%s/docs/references.bib", t->source);
    if (!plx__file_exists(path)) return;
    NEED(t, plx__bytes_read(&bytes, ctx, path) == PLX_OK, "%s", plx_context_error(ctx));
    snprintf(entry, sizeof entry, "{%s,", citation);
    CHECK(t, strstr(bytes.data, entry), "docs/references.bib has no entry '%s'", citation);
    plx__bytes_free(&bytes, ctx);
}

static void show(trial *t)
{
    plx_context *ctx = plain_context(1);
    plx_method_info about = PLX_METHOD_INFO_INIT, none = PLX_METHOD_INFO_INIT;
    plx_param_info past = PLX_PARAM_INFO_INIT;
    plx_array_info beyond = PLX_ARRAY_INFO_INIT;
    NEED(t, plx_method_describe(&about, t->method) == PLX_OK, "cannot be described");
    CHECK(t, about.title && strlen(about.title) > 5, "no title");
    CHECK(t, about.summary && strlen(about.summary) > 20, "no summary");
    CHECK(t, about.growth, "no word on how the time grows");
    CHECK(t, about.scores || about.task != PLX_TASK_CLASSIFY, "no word on what its scores are");
    CHECK(t, about.citation && about.citation[0], "no citation");
    CHECK(t, about.params == param_count(t), "describes %lld of %lld parameters", (long long)about.params,
          (long long)param_count(t));
    CHECK(t, about.min_views >= 1 && (!about.max_views || about.max_views >= about.min_views),
          "impossible number of views");
    CHECK(t, plx_method_param(&past, t->method, about.params) == PLX_E_ARG, "a parameter beyond the last");
    CHECK(t, plx_method_array(&beyond, t->method, about.arrays) == PLX_E_ARG, "an array beyond the last");
    none.struct_size = 0;
    CHECK(t, plx_method_describe(&none, t->method) == PLX_E_ARG, "a struct of size 0 is accepted");
    CHECK(t, !(about.capabilities & PLX_CAN_PREDICT) == !t->about->predict,
          "PLX_CAN_PREDICT and the descriptor disagree");
    CHECK(t, !(about.capabilities & PLX_CAN_PREDICT) || plx__param_find(t->about->params, "heldout"),
          "can predict but has no heldout");
    show_params(t, ctx);
    show_arrays(t, &about);
    show_citation(t, ctx, about.citation);
    plx_context_destroy(ctx);
}

const check params_checks[] = {
    {"defaults", defaults_fit}, {"bounds", bounds}, {"words", words}, {"unknown-name", unknown_name},
    {"per-view", per_view},     {"show", show},     {NULL, NULL}};
