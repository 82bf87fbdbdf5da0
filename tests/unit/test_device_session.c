/*
 * Devices around the work: which is chosen, whether it pays, memory, failure of any call, and who goes on then.
 */
#include "linalg_test.h"

#include "core/parallel.h"
#include "device/device_impl.h"
#include "device/host_device.h"
#include "device/anywhere.h"
#include "linalg/eigen.h"

static const plx__device_work LARGE = {.what = "test", .flops = 1e15};

static plx_context *context_with(const char *device, int64_t memory)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    *plx__host_device_faults() = (plx__host_faults){0};
    o.threads = 2;
    o.device = device;
    o.device_memory = memory;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    return ctx;
}

static plx_context *automatic(void)
{
    plx_context *ctx = context_with("cpu", 0);
    assert_int_equal(plx__device_choose_table(ctx, &plx__host_device_table, false), PLX_OK);
    return ctx;
}

/* ---- choice ---- */

static void chooses_by_name(void **state)
{
    (void)state;
    static const char *const wrong[] = {"CUDA", "../x", "a b", "a-name-that-goes-on-for-much-too-long"};
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.device = wrong[i];
        assert_int_equal(plx_context_create(&ctx, &o), PLX_E_ARG);
        assert_null(ctx);
    }
    o.device = "cuda";
    o.device_memory = -1;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_E_ARG);
    ctx = context_with(NULL, 0);
    assert_null(ctx->device);
    assert_int_equal(plx__device_require(ctx), PLX_OK);
    plx_context_destroy(ctx);
    ctx = context_with("auto", 0);
    assert_non_null(ctx->device);
    assert_int_equal(plx__device_require(ctx), PLX_OK); /* opens nothing */
    plx_context_destroy(ctx);
}

static void names_what_is_missing(void **state)
{
    (void)state;
    plx_context *ctx = context_with("nowhere", 0);
    assert_int_equal(plx__device_require(ctx), PLX_E_DEVICE);
    assert_string_equal(plx_context_error(ctx),
                        "device nowhere is not installed: libparallax_nowhere.so is neither in PARALLAX_DEVICE_PATH, "
                        "nor beside the library, nor where the system looks");
    plx_context_destroy(ctx);
    ctx = context_with("host", 0);
    plx__host_device_faults()->absent = true;
    assert_int_equal(plx__device_require(ctx), PLX_E_DEVICE);
    assert_string_equal(plx_context_error(ctx),
                        "device host cannot be used: there is no such device; set device to cpu or auto");
    plx_context_destroy(ctx);
}

static void opens_shared_objects(void **state)
{
    (void)state;
    plx_context *ctx = context_with("near", 0);
    plx__session s;
    plx_device_mat m;
    double one = 0;
    assert_int_equal(plx__device_require(ctx), PLX_OK);
    assert_int_equal(plx__session_open(&s, ctx, &LARGE), PLX_OK);
    assert_int_equal(plx__device_mat(&m, s.dev, 1, 1), PLX_OK);
    assert_int_equal(plx__device_fill(s.dev, m, 1), PLX_OK);
    assert_int_equal(plx__session_close(&s, plx__device_read_vec(s.dev, &one, m)), PLX_OK);
    assert_true(s.done && one == 1);
    plx_context_destroy(ctx);
    ctx = context_with("old", 0);
    assert_int_equal(plx__device_require(ctx), PLX_E_DEVICE);
    assert_string_equal(plx_context_error(ctx), "libparallax_old.so is no device for this version of the library "
                                                "(interface 1); build both anew");
    plx_context_destroy(ctx);
}

/* By a thread while something else is done; a failure is told by who needs the device, and tried again. */
static void opens_ahead(void **state)
{
    (void)state;
    plx_context *ctx = context_with("near", 0);
    assert_true(plx__device_open_wait(&ctx->device->at));
    assert_non_null(ctx->device->at.opened);
    assert_false(plx__device_open_wait(&ctx->device->at));
    assert_int_equal(plx__device_require(ctx), PLX_OK);
    plx_context_destroy(ctx);
    ctx = context_with("near", 0);
    plx_context_destroy(ctx); /* what nobody needed is closed */
    ctx = context_with("nowhere", 0);
    assert_true(plx__device_open_wait(&ctx->device->at));
    assert_null(ctx->device->at.opened);
    assert_int_equal(plx__device_require(ctx), PLX_E_DEVICE);
    assert_int_equal(plx__device_require(ctx), PLX_E_DEVICE);
    plx_context_destroy(ctx);
    ctx = context_with("auto", 0);
    assert_false(plx__device_open_wait(&ctx->device->at)); /* opened when it pays */
    plx_context_destroy(ctx);
}

static void pays_when_large(void **state)
{
    (void)state;
    plx__device_work small = {.flops = 1e9}, large = {.flops = 1e13}, carried = {.flops = 1e11, .moved = 1e11};
    plx__device_work sweep = {.traffic = 1e12};
    plx_device_facts known = {.flops = 4e13, .transfer = 5e10};
    assert_false(plx__device_pays(&small, 16, NULL));
    assert_true(plx__device_pays(&large, 16, NULL));
    assert_true(plx__device_pays(&large, 16, &known));
    assert_false(plx__device_pays(&carried, 16, &known));
    assert_true(plx__device_pays(&sweep, 16, &known));
    plx_context *ctx = automatic();
    plx__session s;
    assert_int_equal(plx__session_open(&s, ctx, &small), PLX_OK);
    assert_null(s.dev);
    assert_int_equal(plx__device_sessions(ctx), 0);
    plx_context_destroy(ctx);
}

/* ---- sessions ---- */

/* Some work: three matrices, a product, and what is read back. */
static plx_status some_work(plx_context *ctx, plx__device *dev, double *out)
{
    plx_mat a = test_mat(ctx, 3, 3, 1);
    plx_device_mat da, dc;
    PLX_TRY(plx__device_need(dev, 2 * 72, "test", "use less"));
    PLX_TRY(plx__device_put(&da, dev, plx__cmat(a)));
    PLX_TRY(plx__device_mat(&dc, dev, 3, 3));
    PLX_TRY(plx__device_gemm(dev, 1, da, PLX__N, da, PLX__T, 0, dc));
    return plx__device_read(dev, plx__mat_of(out, 3, 3), dc);
}

static plx_status session(plx__session *s, plx_context *ctx, double *out)
{
    PLX_TRY(plx__session_open(s, ctx, &LARGE));
    return s->dev ? plx__session_close(s, some_work(ctx, s->dev, out)) : PLX_OK;
}

static void frees_with_the_session(void **state)
{
    (void)state;
    plx_context *ctx = context_with("host", 0);
    plx__session outer, inner;
    double out[9];
    plx_device_mat kept;
    assert_int_equal(plx__session_open(&outer, ctx, &LARGE), PLX_OK);
    assert_int_equal(plx__device_mat(&kept, outer.dev, 10, 10), PLX_OK);
    int64_t free_before = 0, free_after = 0;
    const plx_device_table *t = plx__device_table(outer.dev);
    t->memory_free(plx__device_handle(outer.dev), &free_before);
    assert_int_equal(session(&inner, ctx, out), PLX_OK);
    assert_true(inner.done);
    t->memory_free(plx__device_handle(outer.dev), &free_after);
    assert_true(free_before == free_after);
    assert_int_equal(plx__session_close(&outer, PLX_OK), PLX_OK);
    assert_int_equal(plx__device_sessions(ctx), 2);
    plx_context_destroy(ctx);
}

static void any_failure_ends_or_falls_back(void **state)
{
    (void)state;
    static const plx_device_code codes[] = {PLX_DEVICE_FAILED, PLX_DEVICE_NOMEM, PLX_DEVICE_LIMIT};
    double out[9];
    plx__session s;
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        int failed = 0;
        for (int64_t k = 1; k < 20; k++) {
            plx_context *ctx = context_with("host", 0);
            *plx__host_device_faults() = (plx__host_faults){.fail_at = k, .code = codes[c]};
            plx_status st = session(&s, ctx, out);
            if (st == PLX_OK) {
                plx_context_destroy(ctx);
                break;
            }
            failed++;
            assert_int_equal(st, codes[c] == PLX_DEVICE_NOMEM ? PLX_E_NOMEM : PLX_E_DEVICE);
            assert_non_null(strstr(plx_context_error(ctx), "device host: "));
            assert_non_null(strstr(plx_context_error(ctx), "failed: the call was made to fail; set device to cpu or"));
            plx_context_destroy(ctx);
            ctx = automatic();
            *plx__host_device_faults() = (plx__host_faults){.fail_at = k, .code = codes[c]};
            assert_int_equal(session(&s, ctx, out), PLX_OK);
            assert_true(!s.done && !s.dev);
            assert_string_equal(plx_context_error(ctx), "");
            *plx__host_device_faults() = (plx__host_faults){0}; /* one that failed in itself is not asked again */
            assert_int_equal(session(&s, ctx, out), PLX_OK);
            assert_true(s.done == (codes[c] != PLX_DEVICE_FAILED && k > 1));
            plx_context_destroy(ctx);
        }
        assert_true(failed > 5);
    }
}

static void states_memory_first(void **state)
{
    (void)state;
    double out[9];
    plx__session s;
    plx_context *ctx = context_with("host", 100);
    assert_int_equal(session(&s, ctx, out), PLX_E_NOMEM);
    assert_string_equal(plx_context_error(ctx),
                        "test needs about 144 B on device host, which has 100 B left; use less");
    plx_context_destroy(ctx);
    ctx = automatic();
    plx__host_device_faults()->memory = 20000; /* enough for itself, not for the matrices */
    assert_int_equal(plx__session_open(&s, ctx, &LARGE), PLX_OK);
    assert_int_equal(plx__session_close(&s, plx__device_need(s.dev, 1e6, "test", "use less")), PLX_OK);
    assert_false(s.done);
    assert_int_equal(session(&s, ctx, out), PLX_OK);
    assert_true(s.done);
    plx_context_destroy(ctx);
}

/* A failure of the work itself is no failure of the device. */
static void passes_other_failures_on(void **state)
{
    (void)state;
    plx_context *ctx = automatic();
    plx__session s;
    assert_int_equal(plx__session_open(&s, ctx, &LARGE), PLX_OK);
    assert_int_equal(plx__session_close(&s, plx__fail(ctx, PLX_E_NUMERIC, "no")), PLX_E_NUMERIC);
    assert_string_equal(ctx->error, "no");
    plx_context_destroy(ctx);
}

static plx_status in_loop(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__session s;
    (void)begin, (void)end, (void)worker;
    PLX_TRY(plx__session_open(&s, ctx, &LARGE));
    if (s.dev) *(bool *)arg = true;
    return PLX_OK;
}

static void keeps_out_of_loops(void **state)
{
    (void)state;
    plx_context *ctx = context_with("host", 0);
    bool any = false;
    assert_int_equal(plx__parallel_for(ctx, 100, 1, in_loop, &any), PLX_OK);
    assert_int_equal(plx__parallel_for(ctx, 1, 1, in_loop, &any), PLX_OK);
    assert_false(any);
    plx_context_destroy(ctx);
}

static void jitters_as_the_cpu_does(void **state)
{
    (void)state;
    plx_context *ctx = context_with("host", 0);
    plx__session s;
    plx_mat a = test_mat(ctx, 4, 4, 1);
    plx_device_mat d, work;
    double relative = 0;
    for (plx_index i = 0; i < 16; i++) a.data[i] = 1; /* of rank one */
    assert_int_equal(plx__session_open(&s, ctx, &LARGE), PLX_OK);
    assert_int_equal(plx__device_put(&d, s.dev, plx__cmat(a)), PLX_OK);
    assert_int_equal(plx__device_mat(&work, s.dev, 4, 1), PLX_OK);
    assert_int_equal(plx__device_cholesky_jitter(s.dev, d, work, &relative, "test: matrix", NULL, NULL), PLX_OK);
    assert_true(relative == 1e-12);
    a.data[0] = -3;
    assert_int_equal(plx__device_write(s.dev, d, plx__cmat(a)), PLX_OK);
    assert_int_equal(plx__device_cholesky_jitter(s.dev, d, work, &relative, "test: matrix", NULL, "check it"),
                     PLX_E_NUMERIC);
    assert_string_equal(ctx->error, "test: matrix is not positive definite (at sample 0); check it");
    assert_int_equal(plx__session_close(&s, PLX_E_NUMERIC), PLX_E_NUMERIC);
    plx_context_destroy(ctx);
}

/* ---- neighbours and eigenpairs ---- */

static void neighbours_are_those_of_the_cpu(void **state)
{
    (void)state;
    enum { N = 60, Q = 7, K = 4 };
    plx_context *cpu = context_with("cpu", 0), *there = context_with("host", 0);
    int64_t want[N * K], got[N * K];
    double distance[N * K], own[N * K];
    uint8_t flags[N];
    for (int i = 0; i < N; i++) flags[i] = i % 5 != 3;
    for (int form = 0; form < 8; form++) {
        bool sparse = form & 1, self = form & 2, cosine = form & 4;
        plx_csr x = test_csr(cpu, N, 9, 0.5, 1), y = test_csr(cpu, Q, 9, 0.5, 2);
        plx__points all = plx__points_csr(plx__ccsr(x)), few = plx__points_csr(plx__ccsr(y));
        plx__knn_options o = {.k = K, .metric = cosine ? PLX__COSINE : PLX__EUCLID, .present = flags, .self = self};
        if (!sparse) all = plx__points_dense(plx__cmat(test_dense(cpu, all.csr)));
        if (!sparse) few = plx__points_dense(plx__cmat(test_dense(cpu, few.csr)));
        plx_index rows = self ? N : Q;
        assert_int_equal(plx__knn(cpu, self ? all : few, all, &o, want, distance), PLX_OK);
        assert_int_equal(plx__knn_anywhere(there, self ? all : few, all, &o, got, form & 4 ? own : NULL), PLX_OK);
        for (plx_index i = 0; i < rows * K; i++) {
            assert_int_equal(got[i], want[i]);
            if (form & 4) assert_true(isnan(own[i]) ? isnan(distance[i]) : fabs(own[i] - distance[i]) < 1e-14);
        }
    }
    assert_int_equal(plx__device_sessions(there), 8);
    plx_context_destroy(cpu);
    plx_context_destroy(there);
}

static void eigenpairs_are_those_of_the_cpu(void **state)
{
    (void)state;
    enum { N = 12, K = 3 };
    plx_context *cpu = context_with("cpu", 0), *there = context_with("host", 0);
    plx_mat a = test_spd(cpu, N, 1, 1), b = test_spd(cpu, N, 1, 1), v = test_mat(cpu, N, K, 0),
            w = test_mat(cpu, N, K, 0);
    double values[K], others[K];
    assert_int_equal(plx__sym_eigen_range(cpu, a, N - K, K, values, v), PLX_OK);
    assert_int_equal(plx__eigen_anywhere(there, b, N - K, K, others, w), PLX_OK);
    for (int k = 0; k < K; k++) assert_true(fabs(values[k] - others[k]) < 1e-11);
    for (int i = 0; i < N * K; i++) assert_true(fabs(v.data[i] - w.data[i]) < 1e-11);
    plx_context_destroy(cpu);
    plx_context_destroy(there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_by_name),
        cmocka_unit_test(names_what_is_missing),
        cmocka_unit_test(opens_shared_objects),
        cmocka_unit_test(opens_ahead),
        cmocka_unit_test(pays_when_large),
        cmocka_unit_test(frees_with_the_session),
        cmocka_unit_test(any_failure_ends_or_falls_back),
        cmocka_unit_test(states_memory_first),
        cmocka_unit_test(passes_other_failures_on),
        cmocka_unit_test(keeps_out_of_loops),
        cmocka_unit_test(jitters_as_the_cpu_does),
        cmocka_unit_test(neighbours_are_those_of_the_cpu),
        cmocka_unit_test(eigenpairs_are_those_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
