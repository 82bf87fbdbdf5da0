/*
 * The threads behind plx__parallel_for: every chunk once, workers in range, nesting, fork, many short loops.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "core/pool.h"
#include "plx_test.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLX_TSAN 1 /* refuses threads in a forked child */
#endif
#endif

enum { N = 5000 };

typedef struct visits {
    atomic_int count[N];
    int workers;
    atomic_int out_of_range, nested;
} visits;

static plx_status inner(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    visits *v = arg;
    (void)ctx;
    if (worker < 0 || worker >= v->workers || worker != plx__pool_worker()) atomic_fetch_add(&v->out_of_range, 1);
    for (plx_index i = begin; i < end; i++) atomic_fetch_add(&v->nested, 1);
    return PLX_OK;
}

static plx_status visit(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    visits *v = arg;
    if (worker < 0 || worker >= v->workers) atomic_fetch_add(&v->out_of_range, 1);
    for (plx_index i = begin; i < end; i++) atomic_fetch_add(&v->count[i], 1);
    return plx__parallel_for(ctx, 3, 1, inner, v);
}

static bool all_once(plx_context *ctx, visits *v)
{
    memset(v, 0, sizeof *v);
    v->workers = plx__workers(ctx);
    if (plx__parallel_for(ctx, N, 7, visit, v) != PLX_OK) return false;
    for (int i = 0; i < N; i++)
        if (atomic_load(&v->count[i]) != 1) return false;
    return atomic_load(&v->out_of_range) == 0 && atomic_load(&v->nested) == 3 * ((N + 6) / 7);
}

static void every_chunk_runs_once_and_loops_nest(void **state)
{
    (void)state;
    static visits v;
    for (int threads = 2; threads <= 9; threads += 7) {
        plx_context *ctx = test_context(threads);
        for (int repeat = 0; repeat < 20; repeat++) assert_true(all_once(ctx, &v));
        assert_int_equal(plx__pool_worker(), -1);
        plx_context_destroy(ctx);
    }
}

static plx_status add_one(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx, (void)worker;
    atomic_fetch_add((atomic_long *)arg, end - begin);
    return PLX_OK;
}

static void short_loops_do_not_lose_work(void **state)
{
    (void)state;
    plx_context *ctx = test_context(3);
    atomic_long total = 0;
    for (int repeat = 0; repeat < 20000; repeat++) assert_ok(ctx, plx__parallel_for(ctx, 4, 1, add_one, &total));
    assert_int_equal(atomic_load(&total), 4 * 20000);
    plx_context_destroy(ctx);
}

static void contexts_do_not_disturb_each_other(void **state)
{
    (void)state;
    static visits v;
    plx_context *a = test_context(3), *b = test_context(2);
    for (int repeat = 0; repeat < 5; repeat++) assert_true(all_once(a, &v) && all_once(b, &v));
    plx_context_destroy(a);
    assert_true(all_once(b, &v));
    plx_context_destroy(b);
}

/* A program that forks after a fit (a Python process pool) must be able to fit in the child. */
static void a_child_of_fork_starts_its_own_threads(void **state)
{
    (void)state;
#ifdef PLX_TSAN
    skip();
#endif
    static visits v;
    plx_context *ctx = test_context(3);
    assert_true(all_once(ctx, &v));
    pid_t child = fork();
    if (child == 0) {
        bool fine = all_once(ctx, &v);
        plx_context_destroy(ctx);
        _exit(fine ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(all_once(ctx, &v));
    plx_context_destroy(ctx);
}

static void without_memory_there_is_no_context(void **state)
{
    (void)state;
    meter m = {0};
    for (m.fail_at = 1;; m.fail_at++) {
        m.calls = 0;
        plx_context *ctx = metered_context(&m, 4);
        bool done = ctx != NULL;
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (done) break;
    }
    assert_true(m.fail_at > 2); /* the context and its threads */
}

static double sum_by_halves(const double *x, plx_index n)
{
    double sum = 0;
    if (n > 128) return sum_by_halves(x, n / 2) + sum_by_halves(x + n / 2, n - n / 2);
    for (plx_index i = 0; i < n; i++) sum += x[i];
    return sum;
}

/* Four pieces side by side must not change a bit, at any length. */
static void sums_are_those_of_halves(void **state)
{
    static double x[3000];
    plx__rng rng = plx__rng_start(7, 1);
    (void)state;
    for (int i = 0; i < 3000; i++) x[i] = plx__next_normal(&rng);
    for (plx_index n = 0; n <= 3000; n++) assert_true(plx__sum(x, n) == sum_by_halves(x, n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_runs_once_and_loops_nest),
        cmocka_unit_test(short_loops_do_not_lose_work),
        cmocka_unit_test(contexts_do_not_disturb_each_other),
        cmocka_unit_test(a_child_of_fork_starts_its_own_threads),
        cmocka_unit_test(without_memory_there_is_no_context),
        cmocka_unit_test(sums_are_those_of_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
