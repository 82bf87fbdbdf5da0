/*
 * Large copies between this memory and the device's. Memory that is not pinned goes through buffers that are: the driver
 * does that with one thread and reaches 4 to 9 GB/s; here some threads copy a part each, which also shares the work of
 * touching new pages for the first time. The copies themselves are on the device's one stream, as everything else.
 */
#include <atomic>
#include <thread>

#include "cuda_device.h"

/* One large copy: threads take its parts in turn. */
struct staged_copy {
    plx_device *d;
    char *to;
    const char *from;
    int64_t bytes;
    bool inward; /* to the device */
    std::atomic<int> status{cudaSuccess};

    void fail(cudaError_t status_of_call)
    {
        int none = cudaSuccess;
        if (status_of_call != cudaSuccess) status.compare_exchange_strong(none, (int)status_of_call);
    }

    /* A buffer is used again when the device is done with it. */
    cudaError_t part(char *buffer, cudaEvent_t done, int64_t at)
    {
        const size_t size = (size_t)std::min<int64_t>(STAGE_BYTES, bytes - at);
        cudaError_t code = cudaEventSynchronize(done);
        if (code != cudaSuccess) return code;
        if (inward) memcpy(buffer, from + at, size);
        code = cudaMemcpyAsync(inward ? to + at : buffer, inward ? buffer : from + at, size,
                               inward ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, d->stream);
        if (code == cudaSuccess) code = cudaEventRecord(done, d->stream);
        if (code != cudaSuccess || inward) return code;
        code = cudaEventSynchronize(done);
        if (code == cudaSuccess) memcpy(to + at, buffer, size);
        return code;
    }

    void work(int me)
    {
        fail(cudaSetDevice(d->number));
        for (int64_t at = me * (int64_t)STAGE_BYTES; at < bytes && status == cudaSuccess;
             at += STAGE_THREADS * (int64_t)STAGE_BYTES)
            fail(part(d->stage + me * (int64_t)STAGE_BYTES, d->staged[me], at));
    }
};

static int open_stage(plx_device *d)
{
    if (d->stage) return PLX_DEVICE_OK;
    for (int t = 0; t < STAGE_THREADS; t++)
        if (!d->staged[t]) TRY_CUDA(d, cudaEventCreateWithFlags(&d->staged[t], cudaEventDisableTiming));
    void *room = nullptr;
    TRY_CUDA(d, cudaHostAlloc(&room, STAGE_THREADS * (size_t)STAGE_BYTES, cudaHostAllocDefault));
    d->stage = (char *)room;
    return PLX_DEVICE_OK;
}

void close_stage(plx_device *d)
{
    if (d->stage) (void)cudaFreeHost(d->stage);
    for (int t = 0; t < STAGE_THREADS; t++)
        if (d->staged[t]) (void)cudaEventDestroy(d->staged[t]);
}

/* Without pinned memory, or threads, the driver's way is right, too. */
static bool copies_in_parts(plx_device *d, int64_t bytes)
{
    if (bytes < 2 * (int64_t)STAGE_BYTES) return false;
    if (open_stage(d) == PLX_DEVICE_OK) return true;
    d->error[0] = '\0';
    return false;
}

static int copy_staged(plx_device *d, void *to, const void *from, int64_t bytes, bool inward)
{
    staged_copy copy{d, (char *)to, (const char *)from, bytes, inward};
    std::thread helper[STAGE_THREADS];
    int helpers = 0;
    try {
        for (int t = 1; t < STAGE_THREADS; t++, helpers++) helper[t] = std::thread([&copy, t] { copy.work(t); });
    } catch (...) { /* no more threads: their parts are done here */
    }
    copy.work(0);
    for (int t = helpers + 1; t < STAGE_THREADS; t++) copy.work(t);
    for (int t = 1; t <= helpers; t++) helper[t].join();
    return device_cuda(d, (cudaError_t)copy.status.load(), "cudaMemcpyAsync");
}

int copy_in(plx_device *d, void *to, const void *from, int64_t bytes)
{
    if (bytes == 0) return PLX_DEVICE_OK;
    if (copies_in_parts(d, bytes)) TRY(copy_staged(d, to, from, bytes, true));
    else TRY_CUDA(d, cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, d->stream));
    return device_cuda(d, cudaStreamSynchronize(d->stream), "waiting for the device");
}

int copy_out(plx_device *d, void *to, const void *from, int64_t bytes)
{
    if (bytes == 0) return PLX_DEVICE_OK;
    if (copies_in_parts(d, bytes)) return copy_staged(d, to, from, bytes, false);
    TRY_CUDA(d, cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, d->stream));
    return device_cuda(d, cudaStreamSynchronize(d->stream), "waiting for the device");
}
