/*
 * What the tests of file readers share: scratch files, and a sweep that refuses every allocation in turn.
 */
#ifndef PLX_IO_TEST_H
#define PLX_IO_TEST_H

#include <unistd.h>
#include <zlib.h>

#include "core/file.h"
#include "data/table.h"
#include "plx_test.h"

enum { SCRATCH_PATH = 128 };

/* A path in the temporary directory that ends in `ending`; nothing is there yet. */
static inline const char *scratch_path(char out[SCRATCH_PATH], const char *ending)
{
    static int count;
    snprintf(out, SCRATCH_PATH, "/tmp/plx_io_%ld_%d%s", (long)getpid(), count++, ending);
    return out;
}

static inline void write_bytes(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline void write_gzip(const char *path, const void *data, size_t size)
{
    gzFile f = gzopen(path, "wb1");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, data, (unsigned)size), (int)size);
    assert_int_equal(gzclose(f), Z_OK);
}

/* The whole of a file as text; static buffer. */
static inline const char *file_text(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

/* Bytes in a block of their exact size, so that ASan sees a read behind the end. `free` it. */
static inline char *exact_copy(const char *data, size_t size)
{
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    char *shrunk = realloc(copy, size ? size : 1);
    return shrunk ? shrunk : copy;
}

typedef plx_status (*io_call)(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path);

/* `call` with request 1, 2, 3, ... refused until it succeeds: PLX_E_NOMEM with a message, and nothing left behind. */
static inline void refuse_every_allocation(io_call call, const char *path)
{
    plx_status st = PLX_E_NOMEM;
    long k = 0;
    while (st != PLX_OK) {
        meter m = {0, ++k + 1, 0}; /* the first request makes the context */
        plx_context *ctx = metered_context(&m, 1);
        plx__arena arena;
        plx__table t;
        assert_non_null(ctx);
        plx__arena_init(&arena, ctx);
        st = call(&t, ctx, &arena, path);
        if (st != PLX_OK) {
            assert_int_equal(st, PLX_E_NOMEM);
            assert_true(plx_context_error(ctx)[0] != '\0');
            assert_null(t.dense.data);
            assert_null(t.csr.ptr);
        }
        plx__arena_free(&arena);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        assert_true(k < 1000);
    }
    assert_true(k > 1);
}

#endif
