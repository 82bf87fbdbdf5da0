/*
 * CUDA kernels on the CPU, for tests: the threads of a block are fibers that take turns in a random order, and the
 * blocks run one after the other in a random order. Barriers and exchanges between lanes wait for all who must come;
 * when nobody can go on, or lanes meet at different calls, the program ends with a message. So a missing or divergent
 * barrier, a result that depends on the order of threads, and, under AddressSanitizer, an access outside of a buffer
 * all show.
 *
 * It knows what the files of gpu/ use and no more.
 */
#ifndef PLX_EMULATE_FIBERS_H
#define PLX_EMULATE_FIBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static

struct emulated_index {
    unsigned x;
};

extern emulated_index threadIdx, blockIdx, blockDim, gridDim;

/* `room`: bytes of shared memory that emulated_room() hands out, filled with junk for each block. */
void emulate_launch(int64_t blocks, int threads, int64_t room, const std::function<void()> &kernel);
void *emulated_room();
void __syncthreads();

/* Every lane of the warp hands in eight bytes; all see all 32. `kind` tells calls apart. */
const uint64_t *emulate_exchange(uint64_t mine, int kind);

inline void __syncwarp() { (void)emulate_exchange(0, 1); }

template <typename T> T emulate_read(const uint64_t *slots, int lane)
{
    T out;
    memcpy(&out, &slots[lane], sizeof out);
    return out;
}

template <typename T> uint64_t emulate_word(T x)
{
    uint64_t word = 0;
    static_assert(sizeof x <= sizeof word, "exchanges are of at most eight bytes");
    memcpy(&word, &x, sizeof x);
    return word;
}

template <typename T> T __shfl_sync(unsigned, T x, int from)
{
    return emulate_read<T>(emulate_exchange(emulate_word(x), 2), from % 32);
}

template <typename T> T __shfl_xor_sync(unsigned, T x, int mask)
{
    int lane = (int)(threadIdx.x % 32);
    return emulate_read<T>(emulate_exchange(emulate_word(x), 3), lane ^ mask);
}

inline unsigned __ballot_sync(unsigned, int predicate)
{
    const uint64_t *slots = emulate_exchange(predicate != 0, 4);
    unsigned out = 0;
    for (int l = 0; l < 32; l++) out |= (unsigned)slots[l] << l;
    return out;
}

inline unsigned __match_any_sync(unsigned, int value)
{
    int lane = (int)(threadIdx.x % 32);
    const uint64_t *slots = emulate_exchange(emulate_word(value), 5);
    unsigned out = 0;
    for (int l = 0; l < 32; l++) out |= (unsigned)(slots[l] == slots[lane]) << l;
    return out;
}

struct double2 {
    double x, y;
};

template <typename T> T __ldcs(const T *from) { return *from; }

inline int __double2hiint(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 32);
}

inline int __double2loint(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)bits;
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }

/* One fiber runs at a time. */
template <typename T> T atomicMin(T *at, T x)
{
    T old = *at;
    if (x < old) *at = x;
    return old;
}

template <typename T> T atomicAdd(T *at, T x)
{
    T old = *at;
    *at = old + x;
    return old;
}

template <typename T> T atomicOr(T *at, T x)
{
    T old = *at;
    *at = old | x;
    return old;
}

using std::exp;
using std::fabs;
using std::floor;
using std::fma;
using std::fmax;
using std::fmin;
using std::isfinite;
using std::log;
using std::log10;
using std::pow;
using std::rint;
using std::sqrt;

#endif
