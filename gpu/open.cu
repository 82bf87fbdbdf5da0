/*
 * Opening a CUDA device, what is known of it, and the table. One stream carries all work of an opened device, in the
 * order of the calls. Memory comes from the device's stream-ordered pool, which keeps what it has: methods take and
 * give back the same few sizes over and over.
 */
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "cuda_device.h"

/* ---- failures ---- */

int device_fail(plx_device *d, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->error, sizeof d->error, format, args);
    va_end(args);
    return code;
}

/* The name of the function without its arguments. */
static int name_length(const char *what) { return (int)strcspn(what, "("); }

int device_cuda(plx_device *d, cudaError_t status, const char *what)
{
    if (status == cudaSuccess) return PLX_DEVICE_OK;
    (void)cudaGetLastError(); /* forgets it, unless the device itself has failed */
    int code = status == cudaErrorMemoryAllocation    ? PLX_DEVICE_NOMEM
               : status == cudaErrorInvalidPitchValue ? PLX_DEVICE_LIMIT
                                                      : PLX_DEVICE_FAILED;
    return device_fail(d, code, "%.*s: %s", name_length(what), what, cudaGetErrorString(status));
}

int device_blas(plx_device *d, cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS) return PLX_DEVICE_OK;
    int code = status == CUBLAS_STATUS_ALLOC_FAILED ? PLX_DEVICE_NOMEM : PLX_DEVICE_FAILED;
    return device_fail(d, code, "%.*s: %s", name_length(what), what, cublasGetStatusString(status));
}

int device_solver(plx_device *d, cusolverStatus_t status, const char *what)
{
    if (status == CUSOLVER_STATUS_SUCCESS) return PLX_DEVICE_OK;
    int code = status == CUSOLVER_STATUS_ALLOC_FAILED ? PLX_DEVICE_NOMEM : PLX_DEVICE_FAILED;
    return device_fail(d, code, "%.*s: status %d of cuSOLVER", name_length(what), what, (int)status);
}

/* ---- opening ---- */

static int whole_driver_version(int *driver, int *runtime)
{
    *driver = *runtime = 0;
    return cudaDriverGetVersion(driver) == cudaSuccess && cudaRuntimeGetVersion(runtime) == cudaSuccess;
}

/* 0: there is such a device; otherwise `why` is written. */
static int look_for(int number, char *why, size_t size)
{
    int count = 0, driver, runtime;
    (void)whole_driver_version(&driver, &runtime);
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver && driver > 0)
        snprintf(why, size, "the driver serves CUDA %d.%d only and this needs %d.%d; update it", driver / 1000,
                 driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
             (status == cudaSuccess && count == 0))
        snprintf(why, size, "no CUDA device was found");
    else if (status != cudaSuccess) snprintf(why, size, "%s", cudaGetErrorString(status));
    else if (number < 0 || number >= count)
        snprintf(why, size, "there is no CUDA device %d; they are numbered 0 to %d", number, count - 1);
    else return PLX_DEVICE_OK;
    (void)cudaGetLastError();
    return PLX_DEVICE_FAILED;
}

/* Double-precision products: operations per clock and multiprocessor. Cards for graphics have next to none. */
static int flops_per_clock(int major, int minor)
{
    if (major == 9) return 256;
    if (major == 8 && minor == 0) return 128;
    if (major == 10) return 128;
    return 4;
}

/* Shared memory that one block may have, less what the runtime takes for each of some blocks and their own variables. */
static int learn_room(plx_device *d)
{
    const int kept = 4096, row = NEAR_COLUMNS * (int)sizeof(double);
    int most = 0;
    TRY_CUDA(d, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, d->number));
    d->near_rows = (most - kept) / row / NEAR_STEP * NEAR_STEP;
    return PLX_DEVICE_OK;
}

static int learn(plx_device *d)
{
    cudaDeviceProp properties;
    int driver, runtime, clock = 0, pools = 0;
    TRY_CUDA(d, cudaGetDeviceProperties(&properties, d->number));
    TRY_CUDA(d, cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, d->number)); /* kHz */
    TRY_CUDA(d, cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, d->number));
    if (!pools) return device_fail(d, PLX_DEVICE_FAILED, "this device has no memory pools; the library needs them");
    TRY(learn_room(d));
    (void)whole_driver_version(&driver, &runtime);
    d->multiprocessors = properties.multiProcessorCount;
    d->memory = (int64_t)properties.totalGlobalMem;
    learn_ranked(d);
    d->flops = 0.7e3 * clock * d->multiprocessors * flops_per_clock(properties.major, properties.minor);
    snprintf(d->name, sizeof d->name, "%s", properties.name);
    snprintf(d->driver, sizeof d->driver, "compute capability %d.%d, driver for CUDA %d.%d, built with %d.%d",
             properties.major, properties.minor, driver / 1000, driver % 1000 / 10, runtime / 1000,
             runtime % 1000 / 10);
    return PLX_DEVICE_OK;
}

static int start(plx_device *d)
{
    unsigned long long all = ~0ull;
    TRY(device_enter(d));
    TRY(learn(d));
    TRY_CUDA(d, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
    TRY_CUDA(d, cudaDeviceGetDefaultMemPool(&d->pool, d->number));
    TRY_CUDA(d, cudaMemPoolSetAttribute(d->pool, cudaMemPoolAttrReleaseThreshold, &all));
    TRY_BLAS(d, cublasCreate(&d->blas));
    TRY_BLAS(d, cublasSetStream(d->blas, d->stream));
    TRY(device_take(d, &d->blas_room, CUBLAS_BYTES));
    TRY_BLAS(d, cublasSetWorkspace(d->blas, d->blas_room, CUBLAS_BYTES));
    TRY_SOLVER(d, cusolverDnCreate(&d->solver));
    TRY_SOLVER(d, cusolverDnSetStream(d->solver, d->stream));
    TRY_SOLVER(d, cusolverDnSetDeterministicMode(d->solver, CUSOLVER_DETERMINISTIC_RESULTS));
    return device_solver(d, cusolverDnCreateParams(&d->params), "cusolverDnCreateParams");
}

static void cuda_close(plx_device *d)
{
    if (!d) return;
    (void)device_enter(d);
    if (d->stream) (void)cudaStreamSynchronize(d->stream);
    if (d->params) (void)cusolverDnDestroyParams(d->params);
    if (d->solver) (void)cusolverDnDestroy(d->solver);
    if (d->blas) (void)cublasDestroy(d->blas);
    device_give(d, d->blas_room);
    close_stage(d);
    if (d->stream) {
        (void)cudaStreamSynchronize(d->stream);
        (void)cudaMemPoolTrimTo(d->pool, 0);
        (void)cudaStreamDestroy(d->stream);
    }
    (void)cudaGetLastError();
    delete d;
}

static int cuda_open(plx_device **out, int number, char *why, size_t size)
{
    *out = nullptr;
    TRY(look_for(number, why, size));
    plx_device *d = new (std::nothrow) plx_device();
    if (!d) {
        snprintf(why, size, "out of memory");
        return PLX_DEVICE_NOMEM;
    }
    d->number = number;
    int code = start(d);
    if (code == PLX_DEVICE_OK) {
        *out = d;
        return code;
    }
    snprintf(why, size, "%s", d->error);
    cuda_close(d);
    return code;
}

static const char *cuda_error(const plx_device *d) { return d->error; }

/* ---- facts ---- */

static int cuda_facts(plx_device *d, plx_device_facts *out)
{
    const double pageable = 1e10; /* bytes per second, by PCIe of generation 4 or 5 from memory that is not pinned */
    out->name = d->name;
    out->driver = d->driver;
    out->memory = d->memory;
    out->flops = d->flops;
    out->transfer = pageable;
    return PLX_DEVICE_OK;
}

/* What the pool holds and nobody uses is free too. */
static int cuda_memory_free(plx_device *d, int64_t *bytes)
{
    size_t available = 0, total = 0;
    unsigned long long held = 0, used = 0;
    TRY(device_enter(d));
    TRY_CUDA(d, cudaStreamSynchronize(d->stream));
    TRY_CUDA(d, cudaMemGetInfo(&available, &total));
    TRY_CUDA(d, cudaMemPoolGetAttribute(d->pool, cudaMemPoolAttrReservedMemCurrent, &held));
    TRY_CUDA(d, cudaMemPoolGetAttribute(d->pool, cudaMemPoolAttrUsedMemCurrent, &used));
    *bytes = (int64_t)available + (int64_t)(held - used);
    return PLX_DEVICE_OK;
}

static int64_t cuda_workspace(plx_device *d, plx_device_op op, int64_t a, int64_t b, int64_t c)
{
    const int64_t leaf = TRIANGLE_LEAF, number = (int64_t)sizeof(double);
    switch (op) {
    case PLX_DEVICE_OP_POTRF: return SMALL_BYTES + potrf_bytes(d, a);
    case PLX_DEVICE_OP_POTRI: return SMALL_BYTES + number * leaf * leaf;
    case PLX_DEVICE_OP_EIGEN: return SMALL_BYTES + eigen_bytes(d, a, b);
    case PLX_DEVICE_OP_KERNEL: return SMALL_BYTES + number * (a + b);
    case PLX_DEVICE_OP_KNN: return SMALL_BYTES + knn_bytes(a, b);
    case PLX_DEVICE_OP_SWEEP: return SMALL_BYTES + sweep_bytes(d, a, b, c);
    }
    return SMALL_BYTES;
}

static int cuda_sync(plx_device *d)
{
    TRY(device_enter(d));
    return device_cuda(d, cudaStreamSynchronize(d->stream), "waiting for the device");
}

/* ---- the table ---- */

static const plx_device_table table = {sizeof table,
                                       PLX_DEVICE_ABI,
                                       "cuda",
                                       cuda_open,
                                       cuda_close,
                                       cuda_error,
                                       cuda_facts,
                                       cuda_memory_free,
                                       cuda_workspace,
                                       cuda_sync,
                                       cuda_alloc,
                                       cuda_release,
                                       cuda_write_bytes,
                                       cuda_read_bytes,
                                       cuda_write,
                                       cuda_read,
                                       cuda_copy,
                                       cuda_fill,
                                       cuda_gemm,
                                       cuda_syrk,
                                       cuda_potrf,
                                       cuda_potrs,
                                       cuda_potri,
                                       cuda_trsm,
                                       cuda_sym_eigen,
                                       cuda_triangle,
                                       cuda_combine,
                                       cuda_diagonal,
                                       cuda_row_norms_sq,
                                       cuda_gather,
                                       cuda_scatter_add,
                                       cuda_kernel,
                                       cuda_kernel_of_base,
                                       cuda_kernel_gradient,
                                       cuda_knn,
                                       cuda_csr_create,
                                       cuda_csr_release,
                                       cuda_csr_bytes,
                                       cuda_spmm,
                                       cuda_class_sums,
                                       cuda_mixture,
                                       cuda_assign,
                                       cuda_plsa,
                                       cuda_plsa_mixture,
                                       cuda_dot,
                                       cuda_pivots};

extern "C" __attribute__((visibility("default"))) const plx_device_table *plx_device_entry(uint32_t abi)
{
    return abi == PLX_DEVICE_ABI ? &table : nullptr;
}
