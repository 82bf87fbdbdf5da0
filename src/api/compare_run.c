/*
 * The runs of a comparison. Members of a crew, each on a thread of its own, take tasks from a common list, oldest first;
 * what a member has finished it puts on its tray and waits until the caller's thread has kept it, in the comparison and in
 * the journal. So everything that is kept is kept by one thread, and a member never runs ahead of the journal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "active/curves.h"
#include "api/compare_impl.h"
#include "core/crew.h"
#include "eval/metrics_store.h"
#include "parallax/version.h"

/* What a member has to hand over. */
typedef struct tray {
    bool full;
    plx_index task;
    plx_status status;
    char reason[PLX__ERROR_BYTES];
    plx_metrics *metrics; /* NULL after a failure */
    double seconds, cpu, memory;
    double started; /* of the task at work; 0: none */
    bool late;      /* it was given up for want of time */
} tray;

typedef struct desk {
    plx__compare_work *w;
    plx__crew crew;
    plx__compare_task *task;
    plx_index n_tasks, next; /* next: not yet taken */
    plx_index *again;        /* tasks that want more memory than a share */
    plx_index n_again;
    bool last_try; /* nothing is shared: a refusal is final */
    tray *trays;
    int at_work;
    bool stopped;
    pthread_mutex_t lock;
    pthread_cond_t news, cleared; /* a tray is full or a member has left; a tray is empty */
    plx_index done, total;        /* for progress */
} desk;

int plx__compare_jobs(plx_index jobs, int threads)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    plx_index room = plx__max(1, (cores > 0 ? (plx_index)cores : 1) / threads);
    return (int)(jobs ? plx__min(jobs, room) : room);
}

/* ---- members ---- */

static bool take_task(plx_index *task, desk *d, plx_context *member, tray *mine)
{
    pthread_mutex_lock(&d->lock);
    while (mine->full && !d->stopped) pthread_cond_wait(&d->cleared, &d->lock);
    bool some = !d->stopped && d->next < d->n_tasks;
    if (some) {
        *task = d->next++;
        mine->started = plx__now();
        mine->late = false;
        atomic_store(&member->cancelled, 0);
    }
    pthread_mutex_unlock(&d->lock);
    return some;
}

static void hand_over(desk *d, tray *mine, const tray *result)
{
    pthread_mutex_lock(&d->lock);
    bool late = mine->late;
    *mine = *result;
    mine->late = late;
    mine->full = true;
    pthread_cond_signal(&d->news);
    pthread_mutex_unlock(&d->lock);
}

static void work(void *desk_, plx_context *member, int number)
{
    desk *d = desk_;
    tray *mine = &d->trays[number];
    plx_index task = 0;
    while (take_task(&task, d, member, mine)) {
        tray result = {.task = task, .cpu = NAN, .memory = NAN};
        double started = plx__now(), used = plx__thread_time();
        result.status = plx__compare_fit(&result.metrics, &result.memory, member, d->w, &d->task[task]);
        result.seconds = plx__now() - started;
        if (d->w->threads == 1) result.cpu = plx__thread_time() - used;
        snprintf(result.reason, sizeof result.reason, "%s", member->error);
        hand_over(d, mine, &result);
    }
    pthread_mutex_lock(&d->lock);
    d->at_work--;
    pthread_cond_signal(&d->news);
    pthread_mutex_unlock(&d->lock);
}

/* ---- the caller's thread ---- */

static void key_of(plx__journal_key *key, const plx__compare_work *w, const plx__compare_task *t)
{
    const plx_comparison *c = w->c;
    *key = (plx__journal_key){.hash = t->key,
                              .dataset = c->block[t->block].dataset,
                              .labels = c->block[t->block].labels,
                              .entry = c->entry[t->entry].name,
                              .repeat = plx__repeat_of(c, t->run),
                              .fold = c->folds ? plx__fold_of(c, t->run) : -1,
                              .seed = plx__seed_of(c, t->run),
                              .seconds_limit = w->run_limit,
                              .memory_limit = (double)w->ctx->memory_limit};
}

static plx_status keep(desk *d, tray *from)
{
    plx__compare_work *w = d->w;
    const plx__compare_task *t = &d->task[from->task];
    plx__measured *to = plx__measured_of(w->c, t->block, t->entry, t->run);
    plx__journal_key key;
    if (from->status == PLX_E_NOMEM && !d->last_try) {
        d->again[d->n_again++] = from->task;
        return PLX_OK;
    }
    to->seconds = from->seconds;
    to->cpu = from->cpu;
    to->memory = from->memory;
    if (from->late && from->status == PLX_E_CANCELLED)
        snprintf(from->reason, sizeof from->reason, "given up after %.6g s", w->run_limit);
    if (from->status == PLX_OK) PLX_TRY(plx__measured_take(to, w->c, from->metrics));
    else PLX_TRY(plx__measured_fail(to, w->c, from->status, from->reason));
    key_of(&key, w, t);
    PLX_TRY(plx__journal_add(w->journal, &key, to));
    d->done++;
    return PLX_OK;
}

/* With the lock held. A run that was stopped with all the others is not kept: it was neither bad nor slow. */
static plx_status clear_trays(desk *d, int members)
{
    plx_status st = PLX_OK;
    for (int i = 0; i < members; i++) {
        tray *t = &d->trays[i];
        if (!t->full) continue;
        bool stopped = t->status == PLX_E_CANCELLED && !t->late;
        if (st == PLX_OK) st = stopped ? PLX_E_CANCELLED : keep(d, t);
        plx__metrics_destroy(t->metrics);
        t->metrics = NULL;
        t->started = 0;
        t->full = false;
    }
    pthread_cond_broadcast(&d->cleared);
    return st;
}

static void stop_late(desk *d, int members)
{
    double now = plx__now();
    for (int i = 0; d->w->run_limit > 0 && i < members; i++) {
        tray *t = &d->trays[i];
        if (t->full || t->started == 0 || now - t->started < d->w->run_limit) continue;
        t->late = true;
        atomic_store(&d->crew.member[i]->cancelled, 1);
    }
}

/* With the lock held, so that nobody takes a task in between and is not asked. */
static void stop_all(desk *d)
{
    d->stopped = true;
    plx__crew_stop(&d->crew);
    pthread_cond_broadcast(&d->cleared);
}

static void wait_for_news(desk *d)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&d->news, &d->lock, &until);
}

static plx_status watch(void *desk_, int started)
{
    desk *d = desk_;
    plx_status st = PLX_OK;
    pthread_mutex_lock(&d->lock);
    d->at_work -= d->crew.count - started; /* those who could not come */
    while (d->at_work > 0) {
        plx_status cleared = clear_trays(d, d->crew.count);
        if (st == PLX_OK) st = cleared;
        stop_late(d, d->crew.count);
        pthread_mutex_unlock(&d->lock);
        if (st == PLX_OK) st = plx__report(d->w->ctx, "compare", d->done, d->total, NAN);
        pthread_mutex_lock(&d->lock);
        if (st != PLX_OK) stop_all(d);
        bool news = d->at_work == 0;
        for (int i = 0; i < d->crew.count; i++) news |= d->trays[i].full;
        if (!news) wait_for_news(d);
    }
    plx_status cleared = clear_trays(d, d->crew.count);
    pthread_mutex_unlock(&d->lock);
    return st == PLX_OK ? cleared : st;
}

/* ---- phases ---- */

static plx_status run_phase(desk *d, int jobs)
{
    d->at_work = jobs;
    d->next = 0;
    PLX_TRY(PLX__ARENA_NEW(&d->trays, plx__scratch(d->w->ctx), jobs));
    plx_status st = plx__crew_open_apart(&d->crew, d->w->ctx, jobs, d->w->threads);
    if (st == PLX_OK) st = plx__crew_run_apart(&d->crew, work, watch, d);
    for (int i = 0; i < jobs; i++) plx__metrics_destroy(d->trays[i].metrics);
    plx__crew_close(&d->crew);
    return st;
}

static int by_number(const void *a, const void *b)
{
    const plx_index *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static plx_status run_phases(desk *d)
{
    int jobs = (int)plx__max(1, plx__min(d->w->jobs, d->n_tasks));
    if (d->n_tasks == 0) return PLX_OK;
    PLX_TRY(plx__arena_i64(&d->again, plx__scratch(d->w->ctx), d->n_tasks));
    d->last_try = jobs == 1;
    PLX_TRY(run_phase(d, jobs));
    if (d->n_again == 0) return PLX_OK;
    qsort(d->again, (size_t)d->n_again, sizeof *d->again, by_number);
    for (plx_index k = 0; k < d->n_again; k++) d->task[k] = d->task[d->again[k]]; /* again[k] >= k */
    d->n_tasks = d->n_again;
    d->last_try = true;
    return run_phase(d, 1);
}

/* ---- what is left to do ---- */

static uint64_t hash_settings(uint64_t hash, const plx_params *params)
{
    for (const plx__setting *x = params->first; x; x = x->next) {
        hash = plx__hash_text(hash, x->spec->name);
        hash = plx__hash_text(hash, x->view);
        hash = plx__hash_text(hash, x->value.text);
    }
    return hash;
}

/* All that a run is a function of. */
static uint64_t task_key(const plx__compare_work *w, const plx__compare_task *t, uint64_t data_hash,
                         const uint8_t *role)
{
    const plx_comparison *c = w->c;
    const plx__entry *e = &c->entry[t->entry];
    uint64_t seed = plx__seed_of(c, t->run);
    const int facts[] = {(int)c->task, c->inductive, w->ctx->deterministic, e->tuned};
    uint64_t hash = plx__hash_text(data_hash, PLX_VERSION_STRING);
    hash = plx__hash_text(hash, e->method ? e->method->name : e->name);
    if (e->params) hash = hash_settings(hash, e->params);
    hash = plx__hash(hash, role, (size_t)w->data[c->block[t->block].data]->n);
    hash = plx__hash(hash, &seed, sizeof seed);
    hash = plx__hash(hash, facts, sizeof facts);
    return plx__hash(hash, &w->ctx->time_limit, sizeof w->ctx->time_limit);
}

static plx_status add_tasks(desk *d, plx_index block, plx_index run, uint64_t data_hash)
{
    plx__compare_work *w = d->w;
    plx_comparison *c = w->c;
    uint8_t *role = NULL;
    const plx_dataset *data = w->data[c->block[block].data];
    plx_index apart = 0;
    PLX_TRY(plx__arena_u8(&role, plx__scratch(w->ctx), data->n));
    PLX_TRY(plx__run_roles(role, w->ctx, c, data, block, run));
    for (plx_index i = 0; i < data->n; i++) apart += role[i] == PLX__ROLE_TEST;
    c->block[block].test_ratio = (double)apart / (double)(data->n - apart);
    for (plx_index e = 0; e < c->n_entries; e++) {
        plx__compare_task t = {.block = block, .entry = e, .run = run};
        plx__measured *to = plx__measured_of(c, block, e, run);
        plx__journal_key key;
        bool found = false;
        if (c->entry[e].file) continue;
        t.key = task_key(w, &t, data_hash, role);
        key_of(&key, w, &t);
        PLX_TRY(plx__journal_find(&found, to, w->journal, &c->arena, &key));
        c->resumed += found;
        if (!found) d->task[d->n_tasks++] = t;
    }
    return plx__poll(w->ctx);
}

/* Run by run over all blocks, so that early results are about everything. */
static plx_status list_tasks(desk *d)
{
    plx__compare_work *w = d->w;
    plx_comparison *c = w->c;
    uint64_t *hash = NULL;
    PLX_TRY(PLX__ARENA_NEW(&d->task, plx__scratch(w->ctx), c->n_blocks * c->n_entries * c->runs));
    PLX_TRY(PLX__ARENA_NEW(&hash, plx__scratch(w->ctx), w->n_data));
    for (plx_index i = 0; i < w->n_data; i++) hash[i] = plx__hash_data(PLX__HASH_START, w->data[i]);
    for (plx_index r = 0; r < c->runs; r++)
        for (plx_index b = 0; b < c->n_blocks; b++) {
            plx__mark mark = plx__arena_mark(plx__scratch(w->ctx));
            PLX_TRY(add_tasks(d, b, r, hash[c->block[b].data]));
            plx__arena_rewind(plx__scratch(w->ctx), mark);
        }
    d->total = d->n_tasks;
    return PLX_OK;
}

plx_status plx__compare_run_all(plx__compare_work *w)
{
    desk d = {.w = w};
    PLX_TRY(list_tasks(&d));
    pthread_mutex_init(&d.lock, NULL);
    pthread_cond_init(&d.news, NULL);
    pthread_cond_init(&d.cleared, NULL);
    plx_status st = run_phases(&d);
    pthread_cond_destroy(&d.cleared);
    pthread_cond_destroy(&d.news);
    pthread_mutex_destroy(&d.lock);
    return st;
}
