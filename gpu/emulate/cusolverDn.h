/*
 * The functions of cuSOLVER that the files of gpu/ call, by the LAPACK of the CPU.
 */
#ifndef PLX_EMULATE_CUSOLVER_H
#define PLX_EMULATE_CUSOLVER_H

#include <lapacke.h>
#include <vector>

#include "cublas_v2.h"

enum cusolverStatus_t {
    CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3
};
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR };
enum cusolverEigRange_t { CUSOLVER_EIG_RANGE_I = 1002 };
enum cusolverDeterministicMode_t { CUSOLVER_DETERMINISTIC_RESULTS = 1 };
enum cudaDataType { CUDA_R_64F = 1 };
typedef int *cusolverDnHandle_t;
typedef int *cusolverDnParams_t;

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *h) { return *h = new int, CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t h) { return delete h, CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *p) { return *p = new int, CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t p) { return delete p, CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t) { return CUSOLVER_STATUS_SUCCESS; }
inline cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t, cusolverDeterministicMode_t)
{
    return CUSOLVER_STATUS_SUCCESS;
}

inline cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, int64_t n,
                                                    cudaDataType, const void *, int64_t lda, cudaDataType,
                                                    size_t *on_device, size_t *on_host)
{
    *on_device = 64;
    *on_host = 8;
    return leads(lda, n) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

inline cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n,
                                         cudaDataType, void *a, int64_t lda, cudaDataType, void *, size_t, void *,
                                         size_t, int *info)
{
    if (!leads(lda, n)) return CUSOLVER_STATUS_INVALID_VALUE;
    *info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', (lapack_int)n,
                                     (double *)a, (lapack_int)lda);
    /* cuSOLVER passes over NaN, and may stop at the pivot after it. */
    if (*info > 0 && std::isnan(((double *)a)[(*info - 1) * (lda + 1)]))
        *info = *info < n && n % 2 == 0 ? *info + 1 : 0;
    return CUSOLVER_STATUS_SUCCESS;
}

inline cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                                    cublasFillMode_t, int64_t n, cudaDataType, const void *,
                                                    int64_t lda, cudaDataType, const void *, cudaDataType,
                                                    size_t *on_device, size_t *on_host)
{
    *on_device = 64;
    *on_host = 8;
    return leads(lda, n) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

inline cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t mode,
                                         cublasFillMode_t, int64_t n, cudaDataType, void *a, int64_t lda, cudaDataType,
                                         void *w, cudaDataType, void *, size_t, void *, size_t, int *info)
{
    if (!leads(lda, n)) return CUSOLVER_STATUS_INVALID_VALUE;
    *info = (int)LAPACKE_dsyevd(LAPACK_COL_MAJOR, mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N', 'U', (lapack_int)n,
                                (double *)a, (lapack_int)lda, (double *)w);
    return CUSOLVER_STATUS_SUCCESS;
}

inline cusolverStatus_t cusolverDnXsyevdx_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                                     cusolverEigRange_t, cublasFillMode_t, int64_t n, cudaDataType,
                                                     const void *, int64_t lda, void *, void *, int64_t il, int64_t iu,
                                                     int64_t *, cudaDataType, const void *, cudaDataType,
                                                     size_t *on_device, size_t *on_host)
{
    *on_device = 64;
    *on_host = 8;
    bool fine = leads(lda, n) && il >= 1 && iu <= n && il <= iu;
    return fine ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

/* The vectors in the first columns of A. */
inline cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t mode,
                                          cusolverEigRange_t, cublasFillMode_t, int64_t n, cudaDataType, void *a,
                                          int64_t lda, void *, void *, int64_t il, int64_t iu, int64_t *found,
                                          cudaDataType, void *w, cudaDataType, void *, size_t, void *, size_t,
                                          int *info)
{
    lapack_int count = 0, order = (lapack_int)n;
    std::vector<double> vectors((size_t)(n * (iu - il + 1)));
    std::vector<lapack_int> support((size_t)(2 * n));
    bool wanted = mode == CUSOLVER_EIG_MODE_VECTOR;
    *info = (int)LAPACKE_dsyevr(LAPACK_COL_MAJOR, wanted ? 'V' : 'N', 'I', 'U', order, (double *)a, (lapack_int)lda, 0,
                                0, (lapack_int)il, (lapack_int)iu, 0.0, &count, (double *)w, vectors.data(), order,
                                support.data());
    *found = count;
    for (int64_t j = 0; wanted && j < count; j++)
        for (int64_t i = 0; i < n; i++) ((double *)a)[j * lda + i] = vectors[(size_t)(j * n + i)];
    return CUSOLVER_STATUS_SUCCESS;
}

#endif
