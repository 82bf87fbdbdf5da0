/*
 * Buffers and copies. Memory is taken and given back in the order of the stream, so giving back waits for nothing and
 * what is under way still has its buffers.
 */
#include <new>

#include "cuda_device.h"

int device_take(plx_device *d, void **out, int64_t bytes)
{
    *out = nullptr;
    size_t size = (size_t)std::max<int64_t>(bytes, 1);
    cudaError_t status = cudaMallocAsync(out, size, d->stream);
    if (status == cudaErrorMemoryAllocation) { /* what the pool keeps in other sizes may serve */
        (void)cudaGetLastError();
        (void)cudaStreamSynchronize(d->stream);
        (void)cudaMemPoolTrimTo(d->pool, 0);
        status = cudaMallocAsync(out, size, d->stream);
    }
    if (status == cudaSuccess) return PLX_DEVICE_OK;
    *out = nullptr;
    int code = device_cuda(d, status, "cudaMallocAsync");
    if (code != PLX_DEVICE_NOMEM) return code;
    return device_fail(d, code, "%.1f MB more than the device has were asked for", (double)bytes / 1e6);
}

void device_give(plx_device *d, void *data)
{
    if (data) (void)cudaFreeAsync(data, d->stream);
}

int cuda_alloc(plx_device *d, int64_t bytes, plx_device_buffer **out)
{
    *out = nullptr;
    TRY(device_enter(d));
    plx_device_buffer *buffer = new (std::nothrow) plx_device_buffer();
    if (!buffer) return device_fail(d, PLX_DEVICE_NOMEM, "out of memory");
    buffer->bytes = bytes;
    int code = bytes > 0 ? device_take(d, &buffer->data, bytes) : PLX_DEVICE_OK;
    if (code == PLX_DEVICE_OK) *out = buffer;
    else delete buffer;
    return code;
}

void cuda_release(plx_device *d, plx_device_buffer *buffer)
{
    if (!buffer) return;
    (void)device_enter(d);
    device_give(d, buffer->data);
    delete buffer;
}

int cuda_write_bytes(plx_device *d, plx_device_buffer *to, int64_t offset, const void *from, int64_t bytes)
{
    TRY(device_enter(d));
    return device_send(d, (char *)to->data + offset, (const char *)from, bytes);
}

int cuda_read_bytes(plx_device *d, void *to, const plx_device_buffer *from, int64_t offset, int64_t bytes)
{
    TRY(device_enter(d));
    return device_fetch(d, (char *)to, (const char *)from->data + offset, bytes);
}

/* Rows of one matrix to another of the same shape. Strides are limited by the device, blocks are not. */
static int copy_rows(plx_device *d, double *to, int64_t to_ld, const double *from, int64_t from_ld, int64_t rows,
                     int64_t cols, cudaMemcpyKind kind)
{
    const size_t number = sizeof(double);
    if (rows == 0 || cols == 0) return PLX_DEVICE_OK;
    if (rows == 1 || (to_ld == cols && from_ld == cols)) {
        TRY_CUDA(d, cudaMemcpyAsync(to, from, (size_t)(rows * cols) * number, kind, d->stream));
        return PLX_DEVICE_OK;
    }
    TRY_CUDA(d, cudaMemcpy2DAsync(to, (size_t)to_ld * number, from, (size_t)from_ld * number, (size_t)cols * number,
                                  (size_t)rows, kind, d->stream));
    return PLX_DEVICE_OK;
}

int cuda_write(plx_device *d, plx_device_mat to, const double *from, int64_t ld)
{
    TRY(device_enter(d));
    if (to.ld == to.cols && ld == to.cols) return device_send(d, mat_data(to), from, to.rows * to.cols);
    TRY(copy_rows(d, mat_data(to), to.ld, from, ld, to.rows, to.cols, cudaMemcpyHostToDevice));
    return device_cuda(d, cudaStreamSynchronize(d->stream), "waiting for the device");
}

int cuda_read(plx_device *d, double *to, int64_t ld, plx_device_mat from)
{
    TRY(device_enter(d));
    if (from.ld == from.cols && ld == from.cols)
        return device_fetch(d, to, (const double *)mat_data(from), from.rows * from.cols);
    TRY(copy_rows(d, to, ld, mat_data(from), from.ld, from.rows, from.cols, cudaMemcpyDeviceToHost));
    return device_cuda(d, cudaStreamSynchronize(d->stream), "waiting for the device");
}

int cuda_copy(plx_device *d, plx_device_mat to, plx_device_mat from)
{
    TRY(device_enter(d));
    return copy_rows(d, mat_data(to), to.ld, mat_data(from), from.ld, to.rows, to.cols, cudaMemcpyDeviceToDevice);
}
