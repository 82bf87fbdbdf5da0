/*
 * The functions of cuBLAS that the files of gpu/ call, by the BLAS of the CPU: the same arguments in the same order,
 * column-major there too, so a wrong leading dimension or triangle shows here as it would there.
 */
#ifndef PLX_EMULATE_CUBLAS_H
#define PLX_EMULATE_CUBLAS_H

#include <cblas.h>

#include "cuda_runtime.h"

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N = CblasNoTrans, CUBLAS_OP_T = CblasTrans };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = CblasLower, CUBLAS_FILL_MODE_UPPER = CblasUpper };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = CblasLeft, CUBLAS_SIDE_RIGHT = CblasRight };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = CblasNonUnit };
typedef int *cublasHandle_t;

inline const char *cublasGetStatusString(cublasStatus_t s)
{
    return s == CUBLAS_STATUS_INVALID_VALUE ? "invalid value" : "failed";
}
inline cublasStatus_t cublasCreate(cublasHandle_t *h) { return *h = new int, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t h) { return delete h, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t) { return CUBLAS_STATUS_SUCCESS; }

inline cublasStatus_t emulated_blas(bool fine) { return fine ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE; }
inline bool leads(int64_t ld, int64_t rows) { return ld >= (rows > 1 ? rows : 1) && ld <= INT32_MAX; }

inline cublasStatus_t cublasDgemm_64(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int64_t m, int64_t n,
                                     int64_t k, const double *alpha, const double *a, int64_t lda, const double *b,
                                     int64_t ldb, const double *beta, double *c, int64_t ldc)
{
    bool fine = leads(lda, ta == CUBLAS_OP_N ? m : k) && leads(ldb, tb == CUBLAS_OP_N ? k : n) && leads(ldc, m);
    if (fine)
        cblas_dgemm(CblasColMajor, (CBLAS_TRANSPOSE)ta, (CBLAS_TRANSPOSE)tb, (int)m, (int)n, (int)k, *alpha, a,
                    (int)lda, b, (int)ldb, *beta, c, (int)ldc);
    return emulated_blas(fine);
}

inline cublasStatus_t cublasDsyrk_64(cublasHandle_t, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
                                     int64_t k, const double *alpha, const double *a, int64_t lda, const double *beta,
                                     double *c, int64_t ldc)
{
    bool fine = leads(lda, trans == CUBLAS_OP_N ? n : k) && leads(ldc, n);
    if (fine)
        cblas_dsyrk(CblasColMajor, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans, (int)n, (int)k, *alpha, a, (int)lda, *beta,
                    c, (int)ldc);
    return emulated_blas(fine);
}

inline cublasStatus_t cublasDgemv_64(cublasHandle_t, cublasOperation_t trans, int64_t m, int64_t n, const double *alpha,
                                     const double *a, int64_t lda, const double *x, int64_t incx, const double *beta,
                                     double *y, int64_t incy)
{
    bool fine = leads(lda, m) && incx > 0 && incy > 0;
    if (fine)
        cblas_dgemv(CblasColMajor, (CBLAS_TRANSPOSE)trans, (int)m, (int)n, *alpha, a, (int)lda, x, (int)incx, *beta, y,
                    (int)incy);
    return emulated_blas(fine);
}

inline cublasStatus_t cublasDtrsm_64(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t uplo,
                                     cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n,
                                     const double *alpha, const double *a, int64_t lda, double *b, int64_t ldb)
{
    bool fine = leads(lda, side == CUBLAS_SIDE_LEFT ? m : n) && leads(ldb, m);
    if (fine)
        cblas_dtrsm(CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans, (CBLAS_DIAG)diag, (int)m,
                    (int)n, *alpha, a, (int)lda, b, (int)ldb);
    return emulated_blas(fine);
}

/* In place only. */
inline cublasStatus_t cublasDtrmm_64(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t uplo,
                                     cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n,
                                     const double *alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                                     double *c, int64_t ldc)
{
    bool fine = leads(lda, side == CUBLAS_SIDE_LEFT ? m : n) && leads(ldb, m) && b == c && ldb == ldc;
    if (fine)
        cblas_dtrmm(CblasColMajor, (CBLAS_SIDE)side, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans, (CBLAS_DIAG)diag, (int)m,
                    (int)n, *alpha, a, (int)lda, c, (int)ldc);
    return emulated_blas(fine);
}

inline cublasStatus_t cublasDtrsv_64(cublasHandle_t, cublasFillMode_t uplo, cublasOperation_t trans,
                                     cublasDiagType_t diag, int64_t n, const double *a, int64_t lda, double *x,
                                     int64_t incx)
{
    bool fine = leads(lda, n) && incx > 0;
    if (fine)
        cblas_dtrsv(CblasColMajor, (CBLAS_UPLO)uplo, (CBLAS_TRANSPOSE)trans, (CBLAS_DIAG)diag, (int)n, a, (int)lda, x,
                    (int)incx);
    return emulated_blas(fine);
}

#endif
