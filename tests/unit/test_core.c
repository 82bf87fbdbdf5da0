#include "plx_test.h"

#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/number.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/text.h"

/* ---- arenas ---- */

static void arena_aligns_zeroes_and_rewinds(void **state)
{
    (void)state;
    meter m = {0, 0, 0};
    plx_context *ctx = metered_context(&m, 1);
    long before = m.live;
    double *x = NULL;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    assert_ok(ctx, plx__arena_f64(&x, plx__scratch(ctx), 3, 5));
    assert_int_equal((uintptr_t)x % 64, 0);
    for (int i = 0; i < 15; i++) assert_true(x[i] == 0.0);
    plx__arena_rewind(plx__scratch(ctx), mark);
    assert_int_equal(m.live, before);
    assert_fails(ctx, plx__arena_f64(&x, plx__scratch(ctx), INT64_MAX / 2, 3), PLX_E_NOMEM, "too large");
    assert_fails(ctx, plx__arena_f64(&x, plx__scratch(ctx), -1, 3), PLX_E_NOMEM, "too large");
    plx_context_destroy(ctx);
    assert_int_equal(m.live, 0);
}

static void memory_limit_is_kept(void **state)
{
    (void)state;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.memory_limit = 1 << 20;
    plx_context *ctx = NULL;
    double *x = NULL;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    assert_fails(ctx, plx__arena_f64(&x, plx__scratch(ctx), 1 << 18, 1), PLX_E_NOMEM,
                 "memory limit of 1 MiB; raise the limit");
    plx__clear_error(ctx);
    assert_ok(ctx, plx__arena_f64(&x, plx__scratch(ctx), 1 << 10, 1));
    assert_fails(ctx, plx__need_memory(ctx, 2e9, "gram", "use pivots"), PLX_E_NOMEM, "use pivots");
    plx_context_destroy(ctx);
}

/* The mark is lifted by what was held together, not by what was held one after the other, and never by a refusal. */
static void memory_peak_is_the_most_held_at_once(void **state)
{
    (void)state;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.memory_limit = 1 << 22;
    o.threads = 1;
    plx_context *ctx = NULL;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    plx_context_reset_memory_peak(ctx);
    int64_t before = plx_context_memory_used(ctx);
    assert_int_equal(plx_context_memory_peak(ctx), before);
    void *a = plx__alloc(ctx, 1 << 20), *b = plx__alloc(ctx, 1 << 19);
    assert_int_equal(plx_context_memory_used(ctx), before + (1 << 20) + (1 << 19));
    plx__release(ctx, a, 1 << 20);
    a = plx__alloc(ctx, 1 << 18);
    assert_null(plx__alloc(ctx, 1 << 23));
    assert_int_equal(plx_context_memory_peak(ctx), before + (1 << 20) + (1 << 19));
    assert_true(plx__count_foreign(ctx, 1 << 21));
    assert_false(plx__count_foreign(ctx, 1 << 22));
    assert_int_equal(plx_context_memory_peak(ctx), before + (1 << 18) + (1 << 19) + (1 << 21));
    plx__uncount_foreign(ctx, 1 << 21);
    plx_context_reset_memory_peak(ctx);
    assert_int_equal(plx_context_memory_peak(ctx), before + (1 << 18) + (1 << 19));
    plx__release(ctx, a, 1 << 18);
    plx__release(ctx, b, 1 << 19);
    plx_context_destroy(ctx);
    assert_int_equal(plx_context_memory_used(NULL), 0);
    assert_int_equal(plx_context_memory_peak(NULL), 0);
    plx_context_reset_memory_peak(NULL);
}

/* ---- random numbers ---- */

/* Known answers of Philox-4x32-10 published with Random123 (kat_vectors). */
static void philox_matches_published_vectors(void **state)
{
    (void)state;
    uint32_t b[4];
    plx__philox(b, 0, 0, 0);
    assert_int_equal(b[0], 0x6627e8d5);
    assert_int_equal(b[1], 0xe169c58d);
    assert_int_equal(b[2], 0xbc57ac4c);
    assert_int_equal(b[3], 0x9b00dbd8);
    plx__philox(b, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    assert_int_equal(b[0], 0x408f276d);
    assert_int_equal(b[1], 0x41c83b0e);
    assert_int_equal(b[2], 0xa20bc7c6);
    assert_int_equal(b[3], 0x6d5451fd);
}

/* Means and variances within 5 standard errors of their exact values. */
static void distributions_have_their_moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    plx__rng r = plx__rng_start(7, PLX__STREAM('t', 'e', 's', 't', 0));
    double u = 0, z = 0, z2 = 0, g = 0, g2 = 0, small = 0, p = 0;
    for (int i = 0; i < N; i++) {
        u += plx__next_uniform(&r);
        double x = plx__next_normal(&r);
        z += x;
        z2 += x * x;
        x = plx__next_gamma(&r, 2.5);
        g += x;
        g2 += x * x;
        small += plx__next_gamma(&r, 0.3);
        p += plx__next_poisson(&r, 40.0);
    }
    assert_close(u / N, 0.5, 5 * sqrt(1.0 / 12 / N));
    assert_close(z / N, 0.0, 5 / sqrt(N));
    assert_close(z2 / N, 1.0, 5 * sqrt(2.0 / N));
    assert_close(g / N, 2.5, 5 * sqrt(2.5 / N));
    assert_close(g2 / N - g / N * (g / N), 2.5, 0.1);
    assert_close(small / N, 0.3, 5 * sqrt(0.3 / N));
    assert_close(p / N, 40.0, 5 * sqrt(40.0 / N));
}

/* All 24 orders of 4 items are equally likely: chi-square with 23 degrees, 99.99 % point 56.0. */
static void shuffle_is_unbiased(void **state)
{
    (void)state;
    enum { N = 48000 };
    int count[256] = {0};
    plx__rng r = plx__rng_start(3, 1);
    for (int t = 0; t < N; t++) {
        plx_index p[4];
        plx__permutation(&r, p, 4);
        count[p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3]]++;
    }
    double chi = 0;
    int cells = 0;
    for (int i = 0; i < 256; i++) {
        if (!count[i]) continue;
        cells++;
        chi += (count[i] - N / 24.0) * (count[i] - N / 24.0) / (N / 24.0);
    }
    assert_int_equal(cells, 24);
    assert_true(chi < 56.0);
}

static void dirichlet_sums_to_one(void **state)
{
    (void)state;
    plx__rng r = plx__rng_start(11, 2);
    double alpha[3] = {0.5, 1, 2}, tiny[3] = {1e-320, 1e-320, 1e-320}, x[3];
    plx__next_dirichlet(&r, x, alpha, 3);
    assert_close(x[0] + x[1] + x[2], 1.0, 1e-15);
    plx__next_dirichlet(&r, x, tiny, 3);
    assert_close(x[0] + x[1] + x[2], 1.0, 0);
}

/* ---- parallel ---- */

static plx_status add_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    (void)ctx;
    const double *x = arg;
    for (plx_index i = begin; i < end; i++) partial[i % 3] += x[i];
    return PLX_OK;
}

static void sums_have_the_same_bytes_on_any_threads(void **state)
{
    (void)state;
    enum { N = 10007 };
    static double x[N];
    double expect[3], out[3];
    for (int i = 0; i < N; i++) x[i] = plx__rng_normal(1, 1, (uint64_t)i) * 1e6;
    int threads[] = {1, 2, 7};
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(threads[t]);
        assert_ok(ctx, plx__parallel_sum(ctx, N, 100, 3, add_range, x, t ? out : expect));
        if (t) assert_memory_equal(out, expect, sizeof out);
        plx_context_destroy(ctx);
    }
}

static plx_status fail_late(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)arg;
    (void)end;
    (void)worker;
    if (begin >= 30) PLX_FAIL(ctx, PLX_E_DATA, "chunk at %d", (int)begin);
    return PLX_OK;
}

static void lowest_failure_is_reported(void **state)
{
    (void)state;
    for (int t = 0; t < 200; t++) {
        plx_context *ctx = test_context(1 + t % 4);
        assert_fails(ctx, plx__parallel_for(ctx, 1000, 10, fail_late, NULL), PLX_E_DATA, "chunk at 30");
        plx_context_destroy(ctx);
    }
}

static void cancel_stops_a_parallel_loop(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_context_cancel(ctx);
    assert_fails(ctx, plx__parallel_for(ctx, 1000, 10, fail_late, NULL), PLX_E_CANCELLED, "cancelled");
    plx_context_destroy(ctx);
}

/* ---- files ---- */

static void in_scratch(char *path, size_t size, const char *directory, const char *name)
{
    snprintf(path, size, "%s/%s", directory, name);
}

/* The link stays a link, its target keeps its mode and gets the text; a pipe stays a pipe. */
static void outputs_respect_what_is_there(void **state)
{
    (void)state;
    char directory[] = "/tmp/plx_core_XXXXXX", target[80], link[80], pipe[80], text[16] = "";
    struct stat info;
    plx_context *ctx = test_context(1);
    assert_non_null(mkdtemp(directory));
    in_scratch(target, sizeof target, directory, "target");
    in_scratch(link, sizeof link, directory, "link");
    in_scratch(pipe, sizeof pipe, directory, "pipe");
    assert_int_equal(symlink("target", link), 0);
    assert_ok(ctx, plx__write_text_file(ctx, link, "old"));
    assert_int_equal(chmod(target, 0601), 0);
    assert_ok(ctx, plx__write_text_file(ctx, link, "new"));
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0601);
    assert_int_equal(info.st_size, 3);

    assert_int_equal(mkfifo(pipe, 0600), 0);
    int reader = open(pipe, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(ctx, plx__write_text_file(ctx, pipe, "new"));
    assert_int_equal(read(reader, text, sizeof text - 1), 3);
    assert_string_equal(text, "new");
    assert_int_equal(close(reader), 0);
    assert_int_equal(lstat(pipe, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));

    assert_int_equal(unlink(target) | unlink(pipe) | unlink(link), 0);
    assert_int_equal(symlink("link", link), 0);
    assert_fails(ctx, plx__write_text_file(ctx, link, "new"), PLX_E_IO, "cannot write");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(directory), 0); /* no temporary file is left */
    plx_context_destroy(ctx);
}

/* ---- text ---- */

static void nearest_name_is_found(void **state)
{
    (void)state;
    const char *names[] = {"kernel", "width", "gamma_a"};
    char out[80];
    assert_string_equal(plx__nearest("kernal", names, 3), "kernel");
    assert_null(plx__nearest("zebra", names, 3));
    assert_null(plx__nearest("k", names, 3));
    assert_string_equal(plx__nearest("gam", names, 3), "gamma_a"); /* the beginning of a name */
    const char *short_names[] = {"nb", "rls", "v0"};
    assert_null(plx__nearest("xx", short_names, 3)); /* two letters are never a slip of something */
    assert_null(plx__nearest("v2", short_names, 3));
    assert_null(plx__nearest("foo", short_names, 3));
    assert_string_equal(plx__nearest("nbb", short_names, 3), "nb");
    assert_string_equal(plx__suggest(out, sizeof out, "widht", names, 3), "; did you mean 'width'?");
}

static void map_finds_what_was_added(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__map map;
    plx_index existing = 0;
    assert_ok(ctx, plx__map_init(&map, plx__scratch(ctx), 0));
    for (plx_index i = 0; i < 1000; i++) {
        const char *key = NULL;
        assert_ok(ctx, plx__arena_printf(&key, plx__scratch(ctx), "key%d", (int)i));
        assert_ok(ctx, plx__map_add(&map, key, i, &existing));
        assert_int_equal(existing, -1);
    }
    assert_ok(ctx, plx__map_add(&map, "key7", 5, &existing));
    assert_int_equal(existing, 7);
    assert_int_equal(plx__map_get(&map, "key999"), 999);
    assert_int_equal(plx__map_get(&map, "key1000"), -1);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_aligns_zeroes_and_rewinds),
        cmocka_unit_test(memory_limit_is_kept),
        cmocka_unit_test(memory_peak_is_the_most_held_at_once),
        cmocka_unit_test(philox_matches_published_vectors),
        cmocka_unit_test(distributions_have_their_moments),
        cmocka_unit_test(shuffle_is_unbiased),
        cmocka_unit_test(dirichlet_sums_to_one),
        cmocka_unit_test(sums_have_the_same_bytes_on_any_threads),
        cmocka_unit_test(lowest_failure_is_reported),
        cmocka_unit_test(cancel_stops_a_parallel_loop),
        cmocka_unit_test(outputs_respect_what_is_there),
        cmocka_unit_test(nearest_name_is_found),
        cmocka_unit_test(map_finds_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
