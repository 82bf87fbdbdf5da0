/*
 * PLX__CLONES before a hot function compiles it for several instruction sets and picks one at load time.
 * Contraction to fused operations is off in the whole build, so every clone gives the same bytes.
 * Resolvers run before sanitizers are ready, and clang lacks parts of it: there the plain version serves.
 */
#ifndef PLX_LINALG_CLONES_H
#define PLX_LINALG_CLONES_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) &&                           \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PLX__CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PLX__CLONES
#endif

/* Eight doubles that the compiler maps to whatever registers the clone has. `loose` may start anywhere. */
typedef double plx__v8 __attribute__((vector_size(64)));
typedef double plx__v8u __attribute__((vector_size(64), aligned(8)));

#endif
