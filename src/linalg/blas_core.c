/*
 * Names of OpenBLAS's kernels by what they use, and a stopwatch for its matrix product.
 */
#include "linalg/blas_core.h"

#include <strings.h>
#include <time.h>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "linalg/dense.h"

plx__simd_level plx__processor_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    /* AMD's first processors with AVX-512 run it at half width: kernels for AVX2 serve them as well */
    if (wide && __builtin_cpu_is("intel")) return PLX__SIMD_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return PLX__SIMD_AVX2;
    return __builtin_cpu_supports("avx") ? PLX__SIMD_AVX : PLX__SIMD_SSE;
#elif defined(__aarch64__) && defined(__linux__)
    const unsigned long dot_products = 1UL << 20; /* HWCAP_ASIMDDP */
    return getauxval(AT_HWCAP) & dot_products ? PLX__SIMD_NEOVERSE : PLX__SIMD_ARMV8;
#else
    return PLX__SIMD_UNKNOWN;
#endif
}

plx__simd_level plx__core_level(const char *core)
{
    static const struct {
        const char *name;
        plx__simd_level level;
    } cores[] = {{"Katmai", PLX__SIMD_SSE},        {"Coppermine", PLX__SIMD_SSE},
                 {"Northwood", PLX__SIMD_SSE},     {"Prescott", PLX__SIMD_SSE},
                 {"Banias", PLX__SIMD_SSE},        {"Core2", PLX__SIMD_SSE},
                 {"Penryn", PLX__SIMD_SSE},        {"Dunnington", PLX__SIMD_SSE},
                 {"Nehalem", PLX__SIMD_SSE},       {"Atom", PLX__SIMD_SSE},
                 {"Athlon", PLX__SIMD_SSE},        {"Opteron", PLX__SIMD_SSE},
                 {"Opteron_SSE3", PLX__SIMD_SSE},  {"Barcelona", PLX__SIMD_SSE},
                 {"Bobcat", PLX__SIMD_SSE},        {"Nano", PLX__SIMD_SSE},
                 {"Sandybridge", PLX__SIMD_AVX},   {"Bulldozer", PLX__SIMD_AVX},
                 {"Piledriver", PLX__SIMD_AVX},    {"Steamroller", PLX__SIMD_AVX},
                 {"Excavator", PLX__SIMD_AVX},     {"Haswell", PLX__SIMD_AVX2},
                 {"Zen", PLX__SIMD_AVX2},          {"SkylakeX", PLX__SIMD_AVX512},
                 {"Cooperlake", PLX__SIMD_AVX512}, {"SapphireRapids", PLX__SIMD_AVX512},
                 {"armv8", PLX__SIMD_ARMV8},       {"neoversen1", PLX__SIMD_NEOVERSE}};
    for (size_t i = 0; core && i < sizeof cores / sizeof *cores; i++)
        if (strcasecmp(core, cores[i].name) == 0) return cores[i].level;
    return PLX__SIMD_UNKNOWN;
}

const char *plx__better_core(const char *core, plx__simd_level processor)
{
    static const char *const best[] = {NULL, "Nehalem", "Sandybridge", "Haswell", "SkylakeX", "armv8", "neoversen1"};
    plx__simd_level now = plx__core_level(core);
    bool same_kind = (now >= PLX__SIMD_ARMV8) == (processor >= PLX__SIMD_ARMV8);
    return now == PLX__SIMD_UNKNOWN || now >= processor || !same_kind ? NULL : best[processor];
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

plx_status plx__blas_rate(double *out, plx_context *ctx, plx_index n, double seconds)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat a, b, c;
    plx_mat *const all[] = {&a, &b, &c};
    for (int i = 0; i < 3; i++) PLX_TRY(plx__arena_mat(all[i], plx__scratch(ctx), n, n));
    for (plx_index i = 0; i < n * n; i++) {
        a.data[i] = (double)(i % 7) - 3;
        b.data[i] = (double)(i % 5) - 2;
    }
    double begin = 0, flops = 0, taken = 0;
    for (int round = 0; taken < seconds; round++) {
        if (round == 1) begin = seconds_now(); /* the first fills caches and wakes the processor */
        PLX_TRY(plx__gemm_serial(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(b), PLX__N, 0.0, c));
        PLX_TRY(plx__poll(ctx));
        if (round < 1) continue;
        flops += 2.0 * (double)n * (double)n * (double)n;
        taken = seconds_now() - begin;
    }
    *out = flops / taken * 1e-9;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
