/* Which kernels serve which processor, and that the rate of products is a rate. */
#include "fit_helpers.h"

#include "linalg/blas_core.h"
#include "parallax/processor.h"

static void weak_kernels_are_told(void **state)
{
    (void)state;
    assert_string_equal(plx__better_core("Prescott", PLX__SIMD_AVX512), "SkylakeX");
    assert_string_equal(plx__better_core("prescott", PLX__SIMD_AVX2), "Haswell");
    assert_string_equal(plx__better_core("Nehalem", PLX__SIMD_AVX), "Sandybridge");
    assert_string_equal(plx__better_core("Haswell", PLX__SIMD_AVX512), "SkylakeX");
    assert_string_equal(plx__better_core("armv8", PLX__SIMD_NEOVERSE), "neoversen1");
}

static void good_and_unknown_kernels_are_left_alone(void **state)
{
    (void)state;
    assert_null(plx__better_core("Zen", PLX__SIMD_AVX2));
    assert_null(plx__better_core("SapphireRapids", PLX__SIMD_AVX512));
    assert_null(plx__better_core("SkylakeX", PLX__SIMD_AVX2)); /* whoever set it knows more than we do */
    assert_null(plx__better_core("Prescott", PLX__SIMD_SSE));
    assert_null(plx__better_core("Prescott", PLX__SIMD_UNKNOWN));
    assert_null(plx__better_core("TomorrowsLake", PLX__SIMD_AVX512));
    assert_null(plx__better_core(NULL, PLX__SIMD_AVX512));
    assert_null(plx__better_core("neoversen2", PLX__SIMD_NEOVERSE));
    assert_null(plx__better_core("cortexa53", PLX__SIMD_NEOVERSE));
    assert_null(plx__better_core("Prescott", PLX__SIMD_NEOVERSE)); /* no machine is both */
}

/* What is suggested for this machine is known to be better than what runs. */
static void this_machine(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const char *better = plx_blas_better_core();
    double gflops = 0;
    assert_true(!better || plx__core_level(better) > plx__core_level(plx_blas_core()));
    assert_true(strlen(plx_blas_name()) > 0);
    assert_ok(ctx, plx_blas_measure(&gflops, ctx));
    assert_true(gflops > 0.01 && gflops < 1e4);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_kernels_are_told),
        cmocka_unit_test(good_and_unknown_kernels_are_left_alone),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
