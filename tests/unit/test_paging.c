/* Blocks in files: zero when new, whole after their pages were let go, given back, refused when the disk is full; what
 * is resident stays bounded; a fit whose data are larger than the memory limit. */
#include "plx_test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/paging.h"
#include "io/h5_impl.h"
#include "parallax/model.h"

enum { MIB = 1 << 20 };

static plx_context *streaming(int64_t memory)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    o.threads = 2;
    o.memory_limit = memory;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    assert_ok(ctx, plx_context_set_stream(ctx, NULL));
    return ctx;
}

/* Bytes of mapped files that are in this process's memory: the third number of statm, as the kernel documents it. */
static int64_t resident(void)
{
    long long total = 0, all = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lld %lld %lld", &total, &all, &shared), 3);
    fclose(f);
    return (int64_t)shared * sysconf(_SC_PAGESIZE);
}

static void blocks_keep_their_bytes(void **state)
{
    (void)state;
    plx_context *ctx = streaming(64 * MIB);
    enum { BYTES = 96 * MIB };
    int64_t before = plx_context_memory_used(ctx);
    unsigned char *block = plx__alloc(ctx, BYTES);
    assert_non_null(block);
    assert_true(plx_context_memory_used(ctx) == before); /* it is on the disk */
    assert_true(plx__paging_used(ctx->paging) == BYTES);
    for (size_t i = 0; i < BYTES; i += 4096) {
        assert_int_equal(block[i], 0);
        block[i] = (unsigned char)(i / 4096 * 7 + 1);
    }
    madvise(block, BYTES, MADV_DONTNEED); /* what the keeper does */
    for (size_t i = 0; i < BYTES; i += 4096) assert_int_equal(block[i], (unsigned char)(i / 4096 * 7 + 1));
    plx__release(ctx, block, BYTES);
    assert_true(plx__paging_used(ctx->paging) == 0);
    plx_context_destroy(ctx);
}

static void residence_is_bounded(void **state)
{
    (void)state;
    plx_context *ctx = streaming(96 * MIB);
    enum { BYTES = 512 * MIB };
    int64_t before = resident(), most = 0;
    char *block = plx__alloc(ctx, BYTES);
    assert_non_null(block);
    for (size_t i = 0; i < BYTES; i += 4096) {
        block[i] = 1;
        if (i % MIB == 0) {
            assert_ok(ctx, plx__poll(ctx)); /* as every loop of the library does */
            int64_t now = resident();
            most = now > most ? now : most;
        }
    }
    assert_true(most - before < 96 * MIB);
    plx__release(ctx, block, BYTES);
    plx_context_destroy(ctx);
}

/* Pages of a block that are mapped into this process: bit 63 of a page's entry in pagemap, as the kernel documents it. */
static int64_t mapped_pages(const void *block, size_t bytes)
{
    uint64_t entry[1024];
    int64_t count = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY);
    assert_true(fd >= 0);
    for (size_t at = 0; at < bytes / 4096; at += 1024) {
        assert_int_equal(pread(fd, entry, sizeof entry, (off_t)(((uintptr_t)block / 4096 + at) * sizeof *entry)),
                         sizeof entry);
        for (size_t i = 0; i < 1024; i++) count += entry[i] >> 63 & 1;
    }
    close(fd);
    return count;
}

/* Of two blocks that were written before many others came, the one that is needed again is still there. */
static void what_is_wanted_at_hand_stays(void **state)
{
    (void)state;
    plx_context *ctx = streaming(128 * MIB);
    enum { PANE = 8 * MIB, BYTES = 512 * MIB };
    char *hand = plx__alloc(ctx, PANE), *other = plx__alloc(ctx, PANE), *block = plx__alloc(ctx, BYTES);
    assert_true(hand && other && block);
    plx__keep_at_hand(ctx, hand + PANE / 2);
    memset(hand, 1, PANE);
    memset(other, 1, PANE);
    assert_int_equal(mapped_pages(other, PANE), PANE / 4096);
    for (size_t i = 0; i < BYTES; i += 4096) {
        block[i] = 1;
        if (i % MIB == 0) assert_ok(ctx, plx__poll(ctx));
    }
    assert_int_equal(mapped_pages(hand, PANE), PANE / 4096);
    assert_int_equal(mapped_pages(other, PANE), 0);
    plx__release(ctx, block, BYTES);
    plx__release(ctx, other, PANE);
    plx__release(ctx, hand, PANE);
    plx_context_destroy(ctx);
}

static void arenas_are_clean(void **state)
{
    (void)state;
    plx_context *ctx = streaming(64 * MIB);
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    double *x = NULL;
    for (int round = 0; round < 3; round++) { /* the second and third get what the first wrote to */
        assert_ok(ctx, plx__arena_f64(&x, scratch, 1000, 1));
        for (int i = 0; i < 1000; i++) {
            assert_true(x[i] == 0);
            x[i] = i + 1;
        }
        assert_ok(ctx, plx__arena_f64(&x, scratch, 1000, 700)); /* a block of its own */
        for (int i = 0; i < 700000; i++) {
            assert_true(x[i] == 0);
            x[i] = i + 1;
        }
        plx__arena_rewind(scratch, mark);
    }
    plx_context_destroy(ctx);
}

static void refusals(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    assert_fails(ctx, plx_context_set_stream(ctx, "/nowhere/at/all"), PLX_E_IO, "/nowhere/at/all");
    assert_ok(ctx, plx_context_set_stream(ctx, "/var/tmp"));
    assert_fails(ctx, plx_context_set_stream(ctx, NULL), PLX_E_ARG, "streams already");
    double *x = NULL;
    assert_fails(ctx, plx__arena_f64(&x, plx__scratch(ctx), (plx_index)1 << 40, 64), PLX_E_NOMEM, "/var/tmp");
    plx__clear_error(ctx);
    assert_fails(ctx, plx__need_memory(ctx, 1e18, "this", "no remedy"), PLX_E_NOMEM, "on disk");
    assert_int_equal(plx_context_set_stream(NULL, NULL), PLX_E_ARG);
    plx_context_destroy(ctx);
}

/* 24 MiB of values through a context of 16 MiB, which in memory are refused. */
static plx_model *fit_large(plx_context *ctx, double **theta)
{
    enum { N = 6000, COLS = 512 };
    plx_dataset *d = NULL;
    plx_model *m = NULL;
    plx_cmat array = {0};
    const char **labels = calloc(N, sizeof *labels);
    double *x = malloc(sizeof *x * N * COLS);
    for (plx_index i = 0; i < N; i++) {
        labels[i] = i % 5 ? NULL : i % 2 ? "a" : "b";
        for (plx_index j = 0; j < COLS; j++) x[i * COLS + j] = (double)((i * 31 + j * (i % 7)) % 11);
    }
    assert_ok(ctx, plx_dataset_create(&d, ctx, "large", N));
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_COUNTS, (plx_cmat){x, N, COLS, COLS}, NULL, NULL));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    assert_ok(ctx, plx_fit(&m, ctx, "nb", d, NULL, NULL));
    assert_ok(ctx, plx_model_array(&array, m, "theta.v"));
    *theta = malloc(sizeof(double) * 2 * COLS);
    memcpy(*theta, array.data, sizeof(double) * 2 * COLS);
    plx_dataset_destroy(d);
    free(x);
    free(labels);
    return m;
}

static void larger_than_memory(void **state)
{
    (void)state;
    plx_context *near = test_context(1), *far = streaming(16 * MIB);
    double *a = NULL, *b = NULL;
    plx_model *m = fit_large(near, &a), *s = fit_large(far, &b);
    assert_memory_equal(a, b, sizeof(double) * 2 * 512);
    assert_true(plx_context_memory_peak(far) < 16 * MIB);
    plx_model_destroy(m);
    plx_model_destroy(s);
    free(a);
    free(b);
    plx_context_destroy(near);
    plx_context_destroy(far);
}

/* Pages of an input that could not be let go would count against all others: the keeper would throw those out for ever. */
static void inputs_are_let_go(void **state)
{
    (void)state;
    plx_context *ctx = streaming(72 * MIB);
    char path[] = "/tmp/plx-input-XXXXXX";
    enum { BYTES = 96 * MIB };
    int fd = mkstemp(path);
    assert_true(fd >= 0 && ftruncate(fd, BYTES) == 0);
    close(fd);
    plx__h5 f = {.ctx = ctx, .path = path};
    int64_t before = resident(), sum = 0;
    plx__h5_map(&f);
    assert_non_null(f.map);
    for (size_t i = 0; i < BYTES; i += 4096) {
        sum += f.map[i];
        if (i % MIB == 0) assert_ok(ctx, plx__poll(ctx));
    }
    assert_true(sum == 0);
    assert_true(resident() - before < 72 * MIB);
    plx__h5_unmap(&f);
    unlink(path);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_their_bytes),
        cmocka_unit_test(residence_is_bounded),
        cmocka_unit_test(arenas_are_clean),
        cmocka_unit_test(refusals),
        cmocka_unit_test(larger_than_memory),
        cmocka_unit_test(inputs_are_let_go),
        cmocka_unit_test(what_is_wanted_at_hand_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
