/*
 * The functions of the CUDA runtime that the files of gpu/ call, on the CPU: memory is malloc's, streams are the
 * order of calls. $PLX_EMULATED_MEMORY (bytes) bounds it.
 */
#ifndef PLX_EMULATE_CUDA_RUNTIME_H
#define PLX_EMULATE_CUDA_RUNTIME_H

#include <cstdlib>
#include <map>

#include "fibers.h"

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrClockRate, cudaDevAttrMemoryPoolsSupported, cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrUsedMemCurrent
};
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0 };

struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount;
    size_t totalGlobalMem;
};

typedef int *cudaStream_t;
typedef int *cudaMemPool_t;
typedef int *cudaEvent_t;

struct emulated_memory {
    std::map<void *, size_t> blocks;
    size_t used = 0, peak = 0;
};

inline emulated_memory &emulated()
{
    static emulated_memory memory;
    return memory;
}

inline size_t emulated_limit()
{
    const char *text = getenv("PLX_EMULATED_MEMORY");
    return text ? (size_t)strtoull(text, nullptr, 10) : (size_t)4 << 30;
}

inline const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory" : "failed";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *v) { return *v = 13000, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *v) { return *v = 13000, cudaSuccess; }

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = cudaDeviceProp();
    strcpy(p->name, "emulated");
    p->major = 9;
    p->multiProcessorCount = 3;
    p->totalGlobalMem = emulated_limit();
    return cudaSuccess;
}

/* Shared memory for eight rows of eight numbers beside what open.cu keeps: a small test has many slabs. */
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int)
{
    *value = which == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 4096 + 8 * 64 : 1;
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, int) { return *s = new int, cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t s) { return delete s, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return *e = new int, cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned)
{
    return (*out = malloc(bytes)) ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void *room) { return free(room), cudaSuccess; }
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int) { return *pool = nullptr, cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value)
{
    memset(value, 0, 8);
    return cudaSuccess;
}

inline cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = emulated_limit();
    *available = *total - emulated().used;
    return cudaSuccess;
}

/* Poisoned, as memory of a device holds anything. */
inline cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t)
{
    *out = bytes <= emulated_limit() - emulated().used ? aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
    if (!*out) return cudaErrorMemoryAllocation;
    memset(*out, 0xA5, bytes);
    emulated().blocks[*out] = bytes;
    emulated().used += bytes;
    if (emulated().used > emulated().peak) emulated().peak = emulated().used;
    return cudaSuccess;
}

inline cudaError_t cudaFreeAsync(void *data, cudaStream_t)
{
    auto at = emulated().blocks.find(data);
    if (at == emulated().blocks.end()) abort(); /* freed twice, or never taken */
    emulated().used -= at->second;
    emulated().blocks.erase(at);
    free(data);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
    memset(to, value, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t)
{
    for (size_t i = 0; i < height; i++) memset((char *)to + i * pitch, value, width);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind, cudaStream_t)
{
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    for (size_t i = 0; i < height; i++) memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return cudaSuccess;
}

#endif
