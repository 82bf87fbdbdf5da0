/*
 * Promises about the run: progress and cancelling, refused memory, limits, the objective.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contract.h"

/* ---- objective ---- */

/* Up or down is the method's choice; the first step that changes anything decides which. */
static void monotone(trial *t)
{
    if (!can(t, PLX_IS_MONOTONE)) return;
    raw *r = raw_make(t, 45, 3, 7);
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_model *m = must_fit(t, ctx, data);
    double direction = 0;
    CHECK(t, m && m->facts.n_trace > 0, "monotone, but there is no trace");
    for (plx_index i = 1; m && i < m->facts.n_trace; i++) {
        double change = m->facts.trace[i] - m->facts.trace[i - 1], slack = 1e-10 * fmax(1.0, fabs(m->facts.trace[i]));
        if (fabs(change) <= slack) continue;
        if (direction == 0) direction = change;
        CHECK(t, change * direction > 0, "iteration %lld: objective %.17g after %.17g", (long long)i, m->facts.trace[i],
              m->facts.trace[i - 1]);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* ---- cancelling ---- */

typedef struct stopper {
    long calls, stop_at;
    bool sane;
} stopper;

static int stop_at(const plx_progress *p, void *payload)
{
    stopper *s = payload;
    s->sane = s->sane && p->struct_size == sizeof *p && p->phase && p->phase[0] && p->iteration >= 0;
    return ++s->calls == s->stop_at;
}

static void cancel_once(trial *t, const plx_dataset *data, long at, const picture *expected)
{
    meter m = {0, 0, 0};
    plx_context *ctx = metered(&m, 1);
    plx_model *model = NULL;
    stopper s = {0, at, true};
    long before = m.live;
    plx_context_set_progress(ctx, stop_at, &s);
    plx_status st = try_fit(t, &model, ctx, data, NULL);
    CHECK(t, st == PLX_E_CANCELLED, "stopped at callback %ld: %s", at, plx_status_name(st));
    CHECK(t, plx_context_error(ctx)[0], "stopped at callback %ld: no message", at);
    plx__call_begin(ctx); /* notes of the last call may stay with the context until the next one */
    CHECK(t, m.live == before, "stopped at callback %ld: %ld blocks stay behind", at, m.live - before);
    plx_model_destroy(model);
    plx_context_set_progress(ctx, NULL, NULL);
    model = must_fit(t, ctx, data);
    if (model) {
        picture *p = picture_model(model);
        const char *difference = picture_difference(t, expected, p, 0, NULL);
        CHECK(t, !difference, "fit after a cancelled one: %s", difference);
        picture_free(p);
    }
    plx_model_destroy(model);
    plx_context_destroy(ctx);
    CHECK(t, m.live == 0, "stopped at callback %ld: %ld blocks leak", at, m.live);
}

static void cancel_by_flag(trial *t, const plx_dataset *data)
{
    plx_context *ctx = plain_context(1);
    plx_model *model = NULL;
    plx_context_cancel(ctx);
    plx_status st = try_fit(t, &model, ctx, data, NULL);
    CHECK(t, st == PLX_E_CANCELLED, "plx_context_cancel: %s", plx_status_name(st));
    plx_model_destroy(model);
    plx_context_reset_cancel(ctx);
    plx_model_destroy(must_fit(t, ctx, data));
    plx_context_destroy(ctx);
}

static void cancel(trial *t)
{
    raw *r = raw_make(t, 24, 3, 7);
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    stopper s = {0, 0, true};
    plx_context_set_progress(ctx, stop_at, &s);
    plx_model *m = must_fit(t, ctx, data);
    CHECK(t, s.calls > 0, "fit never reports progress, so it cannot be stopped");
    CHECK(t, s.sane, "a progress report lacks its phase or size");
    if (m) {
        picture *expected = picture_model(m);
        cancel_once(t, data, 1, expected);
        if (s.calls > 1) cancel_once(t, data, 2, expected);
        if (s.calls > 3) cancel_once(t, data, s.calls / 2 + 1, expected);
        if (s.calls > 2) cancel_once(t, data, s.calls, expected);
        cancel_by_flag(t, data);
        picture_free(expected);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* ---- every allocation refused in turn ---- */

typedef struct sweep {
    const plx_dataset *data, *fresh;
    const plx_model *model; /* for the steps after the fit */
    char path[96];
    plx_index told, kept; /* warnings: told to the log, kept in the result */
    meter *meter;         /* of the running step */
} sweep;

typedef plx_status (*sweep_step)(trial *t, plx_context *ctx, sweep *s);

static plx_status step_fit(trial *t, plx_context *ctx, sweep *s)
{
    plx_model *m = NULL;
    plx_status st = try_fit(t, &m, ctx, s->data, NULL);
    if (m) s->kept += plx_model_warnings(m);
    plx_model_destroy(m);
    return st;
}

static plx_status step_predict(trial *t, plx_context *ctx, sweep *s)
{
    plx_prediction *p = NULL;
    plx_status st = plx_predict(&p, ctx, s->model, s->fresh);
    CHECK(t, (st == PLX_OK) == (p != NULL), "predict: status and result disagree");
    if (p) s->kept += plx_prediction_warnings(p);
    plx_prediction_destroy(p);
    return st;
}

static plx_status step_save(trial *t, plx_context *ctx, sweep *s)
{
    plx_status st = plx_model_save(ctx, s->model, s->path);
    CHECK(t, (st == PLX_OK) == (access(s->path, F_OK) == 0), "save: status and file disagree");
    unlink(s->path);
    return st;
}

static plx_status step_load(trial *t, plx_context *ctx, sweep *s)
{
    plx_model *m = NULL;
    plx_status st = plx_model_load(&m, ctx, s->path);
    CHECK(t, (st == PLX_OK) == (m != NULL), "load: status and result disagree");
    plx_model_destroy(m);
    return st;
}

static plx_status step_json(trial *t, plx_context *ctx, sweep *s)
{
    plx_model *m = NULL;
    const char *text = NULL;
    long refused = s->meter->fail_at;
    s->meter->fail_at = 0; /* the fit has had its own sweep */
    plx_status st = try_fit(t, &m, ctx, s->data, NULL);
    s->meter->calls = 0;
    s->meter->fail_at = refused;
    if (m) s->kept += plx_model_warnings(m);
    if (st == PLX_OK) st = plx_model_json(&text, ctx, m, s->data);
    CHECK(t, (st == PLX_OK) == (text != NULL), "json: status and result disagree");
    plx_model_destroy(m);
    return st;
}

static void count_warning(plx_log_level level, const char *text, void *payload)
{
    (void)text;
    if (level == PLX_LOG_WARNING) ++*(plx_index *)payload;
}

/* One run with request number `k` refused; false when the run did not get that far. The one refusal that may pass is of
 * memory to keep a warning: it was told to the log and is missing in the result. */
static bool refuse_one(trial *t, const char *what, sweep_step step, sweep *s, long k)
{
    meter m = {0, 0, 0};
    plx_context *ctx = metered(&m, 1);
    long before = m.live;
    s->told = s->kept = 0;
    s->meter = &m;
    plx_context_set_log(ctx, PLX_LOG_WARNING, count_warning, &s->told);
    m.calls = 0;
    m.fail_at = k;
    plx_status st = step(t, ctx, s);
    bool reached = m.calls >= k, lost_warning = st == PLX_OK && s->kept < s->told;
    m.fail_at = 0;
    if (reached && !lost_warning) {
        CHECK(t, st == PLX_E_NOMEM, "%s, allocation %ld refused: %s", what, k, plx_status_name(st));
        CHECK(t, st == PLX_OK || plx_context_error(ctx)[0], "%s, allocation %ld refused: no message", what, k);
    } else if (!reached) {
        CHECK(t, st == PLX_OK, "%s: %s %s", what, plx_status_name(st), plx_context_error(ctx));
    }
    /* notes of the last call may stay with the context until the next one */
    plx__call_begin(ctx);
    CHECK(t, m.live == before, "%s, allocation %ld refused: %ld blocks stay behind", what, k, m.live - before);
    plx_context_destroy(ctx);
    CHECK(t, m.live == 0, "%s, allocation %ld refused: %ld blocks leak", what, k, m.live);
    return reached;
}

static void sweep_all(trial *t, const char *what, sweep_step step, sweep *s)
{
    enum { MANY = 100000, STEP = 7 };
    int failures = t->failures;
    long k = 1, all_up_to = t->first ? 600 : 200; /* further rows of a method share most of their road with the first */
    while (k < MANY && t->failures < failures + 5 && refuse_one(t, what, step, s, k)) k += k < all_up_to ? 1 : STEP;
    CHECK(t, k > 5 && k < MANY, "%s: %ld allocations were tried", what, k);
}

/* `files`: saving and loading too, which go the same road whatever the settings. */
static void sweep_steps(trial *t, raw *r, bool files)
{
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    sweep s = {.data = data, .fresh = data};
    snprintf(s.path, sizeof s.path, "%s/m.plx", t->directory);
    plx_model *m = must_fit(t, ctx, data);
    s.model = m;
    if (m) {
        sweep_all(t, "fit", step_fit, &s);
        sweep_all(t, "json", step_json, &s);
        if (can(t, PLX_CAN_PREDICT)) sweep_all(t, "predict", step_predict, &s);
        if (can(t, PLX_CAN_PREDICT) && files) {
            sweep_all(t, "save", step_save, &s);
            CHECK(t, plx_model_save(ctx, m, s.path) == PLX_OK, "%s", plx_context_error(ctx));
            sweep_all(t, "load", step_load, &s);
            unlink(s.path);
        }
    }
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* Whether the method takes the data; a refusal must be a clean one. */
static bool takes(trial *t, const raw *r)
{
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_params *p = base_params(t, ctx, 2);
    plx_model *m = NULL;
    plx_status st = try_fit(t, &m, ctx, data, p);
    check_outcome(t, st, ctx, m, "a class without one of the views");
    plx_params_destroy(p);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    return st == PLX_OK;
}

/* Once with all views, once with holes, where methods warn and take other roads. */
static void allocations(trial *t)
{
    raw *r = raw_make(t, 8, 2, 7), *holes = raw_clone(r);
    sweep_steps(t, r, t->first);
    for (plx_index i = 1; r->n_views > 1 && i < r->n; i += 2) holes->view[r->n_views - 1].present[i] = 0;
    if (can(t, PLX_CAN_MISSING_VIEWS) && takes(t, holes)) sweep_steps(t, holes, false);
    raw_free(r);
    raw_free(holes);
}

/* ---- limits ---- */

static void memory_limit(trial *t)
{
    raw *r = raw_make(t, 400, 3, 7);
    plx_context *ctx = plain_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    const char *remedy = t->about->memory_remedy ? t->about->memory_remedy : "raise the memory limit";
    bool told = false;
    plx_status st = PLX_E_NOMEM;
    for (double limit = 512; st != PLX_OK && limit < 1e9; limit *= 1.1) {
        plx_context *small = limited_context((int64_t)limit, 0);
        plx_model *m = NULL;
        st = try_fit(t, &m, small, data, NULL);
        CHECK(t, st == PLX_OK || st == PLX_E_NOMEM, "%.0f bytes: %s", limit, plx_status_name(st));
        if (st != PLX_OK) CHECK(t, plx_context_error(small)[0], "%.0f bytes: no message", limit);
        told |= strstr(plx_context_error(small), remedy) != NULL;
        plx_model_destroy(m);
        plx_context_destroy(small);
    }
    CHECK(t, t->about->memory, "no estimate of the memory");
    CHECK(t, told, "no limit leads to the remedy '%s'", remedy);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* Running out of time ends a fit like the iteration limit: a result, not an error. */
static void time_limit(trial *t)
{
    raw *r = raw_make(t, 60, 3, 7);
    plx_context *ctx = limited_context(0, 1e-9);
    plx_dataset *data = raw_dataset(t, r, ctx);
    char where[128] = "";
    plx_model *m = must_fit(t, ctx, data);
    if (m) {
        picture *p = picture_model(m);
        CHECK(t, picture_finite(p, where, sizeof where), "not finite: %s", where);
        CHECK(t, plx_model_converged(m) != 1, "says converged after no time at all");
        picture_free(p);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

/* ---- stopping soon ---- */

typedef struct interrupt {
    plx_context *ctx;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool done;
    double cancelled_at; /* processor seconds of the process; 0: the fit was faster */
} interrupt;

/* Waits until the fit has worked for a while, then asks it to stop. */
static void *cancel_at_work(void *arg)
{
    interrupt *i = arg;
    double started = processor_seconds();
    pthread_mutex_lock(&i->lock);
    while (!i->done && processor_seconds() - started < 0.1) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 10000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&i->over, &i->lock, &soon);
    }
    if (!i->done) {
        i->cancelled_at = processor_seconds();
        plx_context_cancel(i->ctx);
    }
    pthread_mutex_unlock(&i->lock);
    return NULL;
}

/* Within a second of processor time, which does not depend on what else the machine does; sanitizers make our own loops
 * three to four times as slow. */
#ifdef PLX_CHECKED
static const double SOON = 4;
#else
static const double SOON = 1;
#endif

static void cancel_soon(trial *t)
{
    raw *r = raw_make_wide(t, 1200, 3, 7, 8);
    plx_context *ctx = patient_context(1);
    plx_dataset *data = raw_dataset(t, r, ctx);
    plx_model *m = NULL;
    pthread_t helper;
    interrupt i = {.ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};
    NEED(t, pthread_create(&helper, NULL, cancel_at_work, &i) == 0, "cannot start a thread");
    plx_status st = try_fit(t, &m, ctx, data, NULL);
    double ended = processor_seconds();
    pthread_mutex_lock(&i.lock);
    i.done = true;
    pthread_cond_signal(&i.over);
    pthread_mutex_unlock(&i.lock);
    pthread_join(helper, NULL);
    CHECK(t, st == PLX_OK || st == PLX_E_CANCELLED, "%s: %s", plx_status_name(st), plx_context_error(ctx));
    CHECK(t, i.cancelled_at == 0 || ended - i.cancelled_at < SOON, "goes on for %.1f s after it was cancelled",
          ended - i.cancelled_at);
    plx_model_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    raw_free(r);
}

const check run_checks[] = {{"monotone", monotone},
                            {"cancel", cancel},
                            {"allocations", allocations},
                            {"memory-limit", memory_limit},
                            {"time-limit", time_limit},
                            {"cancel-soon", cancel_soon},
                            {NULL, NULL}};
