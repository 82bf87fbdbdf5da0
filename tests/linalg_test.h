/*
 * What the tests of linear algebra share: reproducible numbers, plain reference products, and the sweep
 * that refuses every allocation in turn.
 */
#ifndef PLX_LINALG_TEST_H
#define PLX_LINALG_TEST_H

#include "plx_test.h"

#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

static const int thread_counts[] = {1, 2, 7};

/* Normal numbers from a stream of their own. */
static inline plx_mat test_mat(plx_context *ctx, plx_index rows, plx_index cols, int stream)
{
    plx_mat m;
    assert_int_equal(plx__arena_mat(&m, plx__scratch(ctx), rows, cols), PLX_OK);
    for (plx_index i = 0; i < rows * cols; i++)
        m.data[i] = plx__rng_normal(99, PLX__STREAM('t', 'm', 'a', 't', stream), (uint64_t)i);
    return m;
}

static inline double at(plx_mat m, plx_index i, plx_index j) { return m.data[i * m.ld + j]; }

/* A A' + shift I. */
static inline plx_mat test_spd(plx_context *ctx, plx_index n, double shift, int stream)
{
    plx_mat a = test_mat(ctx, n, n, stream), s = test_mat(ctx, n, n, stream);
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j <= i; j++) {
            double sum = i == j ? shift : 0.0;
            for (plx_index k = 0; k < n; k++) sum += at(a, i, k) * at(a, j, k);
            s.data[i * n + j] = s.data[j * n + i] = sum;
        }
    return s;
}

/* Sparse with about `density` of the entries. */
static inline plx_csr test_csr(plx_context *ctx, plx_index rows, plx_index cols, double density, int stream)
{
    plx_mat m = test_mat(ctx, rows, cols, stream);
    for (plx_index i = 0; i < rows * cols; i++)
        if (plx__rng_uniform(98, PLX__STREAM('t', 'c', 's', 'r', stream), (uint64_t)i) >= density) m.data[i] = 0;
    plx_csr a;
    assert_int_equal(plx__csr_from_dense(&a, plx__scratch(ctx), plx__cmat(m)), PLX_OK);
    return a;
}

static inline plx_mat test_dense(plx_context *ctx, plx_ccsr a)
{
    plx_mat m;
    assert_int_equal(plx__arena_mat(&m, plx__scratch(ctx), a.rows, a.cols), PLX_OK);
    plx__csr_to_dense(m, a);
    return m;
}

/* Runs `body` with allocation 1, 2, 3, ... refused until it succeeds: each failure must be PLX_E_NOMEM with a
 * message and leave nothing behind. */
static inline void sweep_allocations(plx_status (*body)(plx_context *), long at_least)
{
    plx_status st = PLX_E_NOMEM;
    long k = 0;
    while (st != PLX_OK && k < 10000) {
        meter m = {0, ++k, 0};
        plx_context *ctx = metered_context(&m, 2);
        st = ctx ? body(ctx) : PLX_E_NOMEM;
        if (st != PLX_OK && st != PLX_E_NOMEM) fail_msg("allocation %ld: %s", k, plx_status_name(st));
        if (ctx && st != PLX_OK) assert_true(plx_context_error(ctx)[0] != '\0');
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(st, PLX_OK);
    assert_true(k > at_least);
}

#endif
