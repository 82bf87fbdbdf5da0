/*
 * PLX__CLONES before a hot function compiles it for several instruction sets and picks one at load time.
 * Contraction to fused operations is off in the whole build, so every clone gives the same bytes.
 * Resolvers run before sanitizers are ready, and clang lacks parts of it: there the plain version serves.
 */
#ifndef PLX_LINALG_CLONES_H
#define PLX_LINALG_CLONES_H

#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) &&                           \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PLX__TARGETS 1
#define PLX__CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PLX__CLONES
#endif

/* Eight, four and two doubles; those that end in u may start anywhere. A vector wider than the registers of the target
 * lives in memory, every operation on it included, so a kernel with vectors is written for any width VEC and compiled
 * for each:
 *
 *     #define DEFINE_DOT(SUFFIX, TARGET, VEC) TARGET static double dot##SUFFIX(...) { ... }
 *     PLX__EACH_WIDTH(DEFINE_DOT)
 *     ... PLX__WIDEST(dot)(...)
 *
 * Sums keep one order: eight running sums, in PLX__VECS(VEC) vectors. */
typedef double plx__v8 __attribute__((vector_size(64)));
typedef double plx__v8u __attribute__((vector_size(64), aligned(8)));
typedef int64_t plx__v8bits __attribute__((vector_size(64)));
typedef uint64_t plx__v8words __attribute__((vector_size(64)));
typedef double plx__v4 __attribute__((vector_size(32)));
typedef double plx__v4u __attribute__((vector_size(32), aligned(8)));
typedef int64_t plx__v4bits __attribute__((vector_size(32)));
typedef uint64_t plx__v4words __attribute__((vector_size(32)));
typedef double plx__v2 __attribute__((vector_size(16)));
typedef double plx__v2u __attribute__((vector_size(16), aligned(8)));
typedef int64_t plx__v2bits __attribute__((vector_size(16)));
typedef uint64_t plx__v2words __attribute__((vector_size(16)));

#define PLX__LANES(VEC) ((int)(sizeof(VEC) / sizeof(double)))
#define PLX__VECS(VEC) (8 / PLX__LANES(VEC))

#ifdef PLX__TARGETS
#define PLX__EACH_WIDTH(DEFINE)                                                                                        \
    DEFINE(_512, __attribute__((target("avx512f"))), plx__v8)                                                          \
    DEFINE(_256, __attribute__((target("avx2"))), plx__v4)                                                             \
    DEFINE(_128, , plx__v2)
#define PLX__WIDEST(name)                                                                                              \
    (__builtin_cpu_supports("avx512f") ? name##_512 : __builtin_cpu_supports("avx2") ? name##_256 : name##_128)
#else
#define PLX__EACH_WIDTH(DEFINE) DEFINE(_128, , plx__v2)
#define PLX__WIDEST(name) (name##_128)
#endif

#endif
