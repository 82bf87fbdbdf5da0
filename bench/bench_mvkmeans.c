/*
 * Measures mvkmeans: an iteration on sparse text against the sparse product it consists of, and the label programs
 * against GLPK. One line per claim.
 *
 * usage: bench_mvkmeans iterate [SAMPLES=100000] [CLASSES=100] [THREADS]    two views x 50000 features x 60 entries per row
 *        bench_mvkmeans programs [SAMPLES=100000] [CLASSES=200] [THREADS] [GLPK_SAMPLES=1]   hier-maxagree on a tree with exclusive siblings
 *        bench_mvkmeans write FILE SAMPLES CLASSES                          scores of the programs as text, for bench_mvkmeans.py
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/model_impl.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/dense.h"
#include "labelsets/label_program.h"
#include "parallax/model.h"
#ifdef PLX_HAVE_REFERENCES
#include "reference/label_glpk.h"
#endif

enum { COLS = 50000, ROW = 60, VIEWS = 2, ITERATIONS = 12, PRODUCTS = 3, FAN = 6 };

static plx_context *ctx;

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_mvkmeans: %s\n", plx_context_error(ctx));
    exit(1);
}

static plx_context *new_context(int threads)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    if (plx_context_create(&ctx, &o) != PLX_OK) exit(1);
    return ctx;
}

/* ---- iterations ---- */

/* Entry e of row i falls into the e-th of 60 stripes; the class of a row prefers its own place in every stripe. */
static plx_csr text_view(plx_index n, plx_index k, uint64_t stream)
{
    plx_csr a;
    plx_index stripe = COLS / ROW;
    check(plx__arena_csr(&a, plx__scratch(ctx), n, COLS, n * ROW));
    for (plx_index i = 0; i < n; i++) {
        for (plx_index e = 0; e < ROW; e++) {
            uint64_t r = plx__rng_u64(1, stream, (uint64_t)(i * ROW + e));
            plx_index within = r % 4 == 0 ? (i % k) * stripe / k + (plx_index)((r >> 8) % 8)
                                          : (plx_index)((r >> 8) % (uint64_t)stripe);
            a.col[i * ROW + e] = (int32_t)(e * stripe + within % stripe);
            a.val[i * ROW + e] = 1 + (double)((r >> 40) % 3);
        }
        a.ptr[i + 1] = (i + 1) * ROW;
    }
    return a;
}

typedef struct clock_book {
    double last, best;
} clock_book;

static int note_time(const plx_progress *p, void *payload)
{
    clock_book *book = payload;
    if (strcmp(p->phase, "iterate") != 0) return 0;
    double now = plx__now();
    if (p->iteration > 1) book->best = fmin(book->best, now - book->last);
    book->last = now;
    return 0;
}

static double product_seconds(const plx_csr *views, plx_index k)
{
    plx_mat b, c;
    double best = INFINITY;
    plx_index padded = (k + 7) / 8 * 8;
    check(plx__arena_mat(&b, plx__scratch(ctx), COLS, padded));
    check(plx__arena_mat(&c, plx__scratch(ctx), views[0].rows, padded));
    for (plx_index i = 0; i < COLS * padded; i++) b.data[i] = plx__rng_uniform(2, 1, (uint64_t)i);
    for (int r = 0; r < PRODUCTS; r++) {
        double t = plx__now();
        for (int v = 0; v < VIEWS; v++) check(plx__spmm(ctx, 1, plx__ccsr(views[v]), plx__cmat(b), 0, c));
        best = fmin(best, plx__now() - t);
    }
    return best;
}

static plx_dataset *text_data(const plx_csr *views, plx_index n, plx_index k)
{
    plx_dataset *d = NULL;
    const char **labels = NULL, *names[VIEWS] = {"text", "link"};
    check(PLX__ARENA_NEW(&labels, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i += 10)
        check(plx__arena_printf(&labels[i], plx__scratch(ctx), "class%03lld", (long long)(i % k)));
    for (plx_index i = 0; i < k; i++)
        check(plx__arena_printf(&labels[i], plx__scratch(ctx), "class%03lld", (long long)i));
    check(plx__dataset_create(&d, ctx, "bench", n));
    for (int v = 0; v < VIEWS; v++)
        check(plx__dataset_add_sparse(d, ctx, names[v], PLX_VIEW_COUNTS, plx__ccsr(views[v]), NULL, NULL));
    check(plx__dataset_set_labels(d, ctx, labels));
    return d;
}

static void iterate(plx_index n, plx_index k)
{
    plx_csr views[VIEWS];
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    for (int v = 0; v < VIEWS; v++) views[v] = text_view(n, k, (uint64_t)v);
    double product = product_seconds(views, k);
    plx_dataset *d = text_data(views, n, k);
    plx__arena_rewind(plx__scratch(ctx), mark);
    plx_params *p = NULL;
    plx_model *m = NULL;
    clock_book book = {0, INFINITY};
    char limit[16];
    snprintf(limit, sizeof limit, "%d", ITERATIONS);
    check(plx_params_create(&p, ctx, "mvkmeans"));
    check(plx_params_set(p, ctx, "max_iter", limit));
    plx_context_set_progress(ctx, note_time, &book);
    check(plx_fit(&m, ctx, "mvkmeans", d, p, NULL));
    double each = book.best;
    printf("iterate n=%lld k=%lld threads=%d: %.3f s per iteration, sparse products alone %.3f s, ratio %.2f\n",
           (long long)n, (long long)k, plx__workers(ctx), each, product, product / each);
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
}

/* ---- label programs ---- */

static plx__label_program *tree_program(plx__label_rules *rules, plx_index k)
{
    int32_t *subset = NULL, *mutex = NULL;
    const char **names = NULL;
    plx_index ns = 0, nm = 0;
    plx__label_program *p = NULL;
    check(plx__arena_i32(&subset, plx__scratch(ctx), 2 * k));
    check(plx__arena_i32(&mutex, plx__scratch(ctx), k * FAN * 2));
    check(PLX__ARENA_NEW(&names, plx__scratch(ctx), k));
    for (int32_t i = 1; i < k; i++) {
        subset[2 * ns] = i;
        subset[2 * ns++ + 1] = (i - 1) / FAN;
        for (int32_t j = (i - 1) / FAN * FAN + 1; j < i; j++) {
            mutex[2 * nm] = j;
            mutex[2 * nm++ + 1] = i;
        }
    }
    check(plx__label_rules_pairs(rules, plx__scratch(ctx), names, k, subset, ns, mutex, nm, true));
    check(plx__label_plan(&p, plx__scratch(ctx), rules, (plx__label_weights){0.5, 0.1, 1}, VIEWS));
    return p;
}

/* A sample likes the path to one class, in every view with noise of its own. */
static void sample_scores(double *score, plx_index k, plx_index j, int view)
{
    for (plx_index i = 0; i < k; i++) score[i] = 0.3 * plx__rng_uniform(3, (uint64_t)view, (uint64_t)(j * k + i));
    for (plx_index c = (plx_index)(plx__rng_uniform(3, 99, (uint64_t)j) * (double)k); c > 0; c = (c - 1) / FAN)
        score[c] += 0.4;
}

typedef struct crowd {
    const plx__label_program *program;
    plx__label_work **work;
    const double *scores; /* n x VIEWS x k */
    plx_index k;
    uint16_t *pattern; /* n x k */
} crowd;

static plx_status solve_range(void *arg, plx_context *c, plx_index begin, plx_index end, int worker)
{
    crowd *q = arg;
    (void)c;
    for (plx_index j = begin; j < end; j++) {
        const double *rows[VIEWS] = {q->scores + j * VIEWS * q->k, q->scores + (j * VIEWS + 1) * q->k};
        plx__label_solve(q->pattern + j * q->k, q->program, q->work[worker], rows, VIEWS);
    }
    return PLX_OK;
}

#ifdef PLX_HAVE_REFERENCES
static double glpk_seconds(const crowd *q, plx_index samples)
{
    double t = plx__now();
    uint16_t *y = NULL;
    check(PLX__ARENA_NEW(&y, plx__scratch(ctx), q->k));
    for (plx_index j = 0; j < samples; j++) {
        const double *rows[VIEWS] = {q->scores + j * VIEWS * q->k, q->scores + (j * VIEWS + 1) * q->k};
        check(glpk_solve(y, ctx, q->program, rows, VIEWS));
        double ours = plx__label_value(q->program, q->work[0], q->pattern + j * q->k, rows, VIEWS);
        if (fabs(plx__label_value(q->program, q->work[0], y, rows, VIEWS) - ours) > 1e-7)
            printf("GLPK disagrees on sample %lld\n", (long long)j);
    }
    return samples ? (plx__now() - t) / (double)samples : NAN;
}
#else
static double glpk_seconds(const crowd *q, plx_index samples)
{
    (void)q, (void)samples;
    return NAN;
}
#endif

static void programs(plx_index n, plx_index k, plx_index glpk_samples)
{
    plx__label_rules rules;
    crowd q = {.k = k, .program = tree_program(&rules, k)};
    double *scores = NULL;
    check(plx__arena_f64(&scores, plx__scratch(ctx), n * VIEWS, k));
    check(PLX__ARENA_NEW(&q.work, plx__scratch(ctx), plx__workers(ctx)));
    check(PLX__ARENA_NEW(&q.pattern, plx__scratch(ctx), n * k));
    for (int t = 0; t < plx__workers(ctx); t++) check(plx__label_work_new(&q.work[t], plx__scratch(ctx), q.program));
    for (plx_index j = 0; j < n; j++)
        for (int v = 0; v < VIEWS; v++) sample_scores(scores + (j * VIEWS + v) * k, k, j, v);
    q.scores = scores;
    double t = plx__now();
    check(plx__parallel_for(ctx, n, 256, solve_range, &q));
    double each = (plx__now() - t) / (double)n, glpk = glpk_seconds(&q, glpk_samples);
    printf("programs n=%lld k=%lld views=%d threads=%d: %.3f us per sample; GLPK %.0f us; ratio %.0f\n", (long long)n,
           (long long)k, VIEWS, plx__workers(ctx), 1e6 * each, 1e6 * glpk, glpk / each);
}

/* For another solver: rules as pairs of bits, scores, our value. */
static void write_programs(const char *path, plx_index n, plx_index k)
{
    plx__label_rules rules;
    plx__label_program *p = tree_program(&rules, k);
    plx__label_work *work = NULL;
    double *score[VIEWS];
    uint16_t *y = NULL;
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    check(plx__label_work_new(&work, plx__scratch(ctx), p));
    check(PLX__ARENA_NEW(&y, plx__scratch(ctx), k));
    for (int v = 0; v < VIEWS; v++) check(plx__arena_f64(&score[v], plx__scratch(ctx), k, 1));
    for (plx_index i = 0; i < k; i++)
        for (plx_index j = 0; j < k; j++) {
            if (rules.above[i * rules.words + j / 64] & plx__label_bit(j))
                fprintf(f, "above %lld %lld\n", (long long)i, (long long)j);
            if (i < j && rules.exclusive[i * rules.words + j / 64] & plx__label_bit(j))
                fprintf(f, "exclusive %lld %lld\n", (long long)i, (long long)j);
        }
    for (plx_index j = 0; j < n; j++) {
        for (int v = 0; v < VIEWS; v++) {
            sample_scores(score[v], k, j, v);
            fprintf(f, "score");
            for (plx_index i = 0; i < k; i++) fprintf(f, " %.17g", score[v][i]);
            fprintf(f, "\n");
        }
        plx__label_solve(y, p, work, (const double *const *)score, VIEWS);
        fprintf(f, "value %.17g\n", plx__label_value(p, work, y, (const double *const *)score, VIEWS));
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "iterate";
    if (strcmp(what, "write") == 0 && argc > 4) {
        new_context(1);
        write_programs(argv[2], atoll(argv[3]), atoll(argv[4]));
        plx_context_destroy(ctx);
        return 0;
    }
    plx_index n = argc > 2 ? atoll(argv[2]) : 100000, k = argc > 3                        ? atoll(argv[3])
                                                          : strcmp(what, "programs") == 0 ? 200
                                                                                          : 100;
    new_context(argc > 4 ? atoi(argv[4]) : 2);
    if (strcmp(what, "programs") == 0) programs(n, k, argc > 5 ? atoll(argv[5]) : 1);
    else iterate(n, k);
    plx_context_destroy(ctx);
    return 0;
}
