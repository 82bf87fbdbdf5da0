/*
 * The search for best label sets where no faster solver applies: three trees of classes with exclusive siblings, whose
 * leaves have a second parent in another tree, and scores that often exceed the price of a broken rule (as
 * hier-sumscore with score_scale=sum gives). Processor time per sample beside GLPK where the build has it.
 *
 * usage: bench_label_search CLASSES VIEWS SAMPLES PRICE [GLPK_SAMPLES=0]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/ctx.h"
#include "core/rng.h"
#include "labelsets/label_program.h"
#ifdef PLX_HAVE_REFERENCES
#include "reference/label_glpk.h"
#endif

enum { FAN = 4, TREES = 3, MOST_VIEWS = 4 };

static plx_context *ctx;

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_label_search: %s\n", plx_context_error(ctx));
    exit(1);
}

static double processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Classes 0, 1, 2 are roots; class i hangs below class (i - TREES) / FAN, of the same tree. */
static int32_t parent_of(int32_t i) { return i < TREES ? -1 : (i - TREES) / FAN; }

static int32_t tree_of(int32_t i)
{
    while (parent_of(i) >= 0) i = parent_of(i);
    return i;
}

static void make_rules(plx__label_rules *rules, plx_index k)
{
    int32_t *subset = NULL, *mutex = NULL;
    const char **names = NULL;
    plx_index ns = 0, nm = 0, inner = (k - TREES) / FAN;
    plx__arena *s = plx__scratch(ctx);
    check(plx__arena_i32(&subset, s, 4 * k));
    check(plx__arena_i32(&mutex, s, 2 * k * FAN));
    check(PLX__ARENA_NEW(&names, s, k));
    for (int32_t i = TREES; i < k; i++) {
        subset[2 * ns] = i;
        subset[2 * ns++ + 1] = parent_of(i);
        for (int32_t j = TREES; j < i; j++)
            if (parent_of(j) == parent_of(i)) {
                mutex[2 * nm] = j;
                mutex[2 * nm++ + 1] = i;
            }
        int32_t other = (int32_t)(plx__rng_uniform(1, 1, (uint64_t)i) * (double)inner);
        if (i <= inner || tree_of(other) == tree_of(i)) continue;
        subset[2 * ns] = i;
        subset[2 * ns++ + 1] = other;
    }
    check(plx__label_rules_pairs(rules, s, names, k, subset, ns, mutex, nm, true));
}

int main(int argc, char **argv)
{
    if (argc < 5) return 1;
    plx_index k = atoll(argv[1]), n = atoll(argv[3]), glpk_samples = argc > 5 ? atoll(argv[5]) : 0;
    int s = atoi(argv[2]);
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = 1;
    if (s > MOST_VIEWS || plx_context_create(&ctx, &o)) return 1;
    plx__label_rules rules;
    plx__label_program *p = NULL;
    plx__label_work *work = NULL;
    double *score[MOST_VIEWS], slowest = 0, sum = 0, glpk = 0;
    uint16_t *mine = NULL, *theirs = NULL;
    make_rules(&rules, k);
    check(plx__label_plan(&p, plx__scratch(ctx), &rules, (plx__label_weights){1, 0.1, atof(argv[4])}, s));
    check(plx__label_work_new(&work, plx__scratch(ctx), p));
    check(PLX__ARENA_NEW(&mine, plx__scratch(ctx), k));
    check(PLX__ARENA_NEW(&theirs, plx__scratch(ctx), k));
    for (int v = 0; v < s; v++) check(plx__arena_f64(&score[v], plx__scratch(ctx), k, 1));
    const double *const *rows = (const double *const *)score;
    for (plx_index j = 0; j < n; j++) {
        for (int v = 0; v < s; v++)
            for (plx_index i = 0; i < k; i++)
                score[v][i] = 0.5 * plx__rng_uniform(2, 7, (uint64_t)(j * k + i)) +
                              0.5 * plx__rng_uniform(2, (uint64_t)(10 + v), (uint64_t)(j * k + i));
        double t = processor_time();
        check(plx__label_search(mine, ctx, p, rows, s));
        t = processor_time() - t;
        sum += t;
        slowest = fmax(slowest, t);
        if (j >= glpk_samples) continue;
#ifdef PLX_HAVE_REFERENCES
        t = processor_time();
        check(glpk_solve(theirs, ctx, p, rows, s));
        glpk += processor_time() - t;
        if (fabs(plx__label_value(p, work, mine, rows, s) - plx__label_value(p, work, theirs, rows, s)) > 1e-7)
            printf("GLPK disagrees on sample %lld\n", (long long)j);
#endif
    }
    printf("search, %lld classes, %d views, price %s: %.4f s per sample, slowest %.4f s", (long long)k, s, argv[4],
           sum / (double)n, slowest);
    if (glpk_samples > 0) printf("; GLPK %.4f s", glpk / (double)glpk_samples);
    printf("\n");
    plx_context_destroy(ctx);
    return 0;
}
