/*
 * Self-test of a device: every operation of parallax/device.h against plain loops on the CPU, for any table. Inputs are
 * drawn afresh in every run (the seed is printed), outputs are poisoned before, every call is made twice and must give
 * the same bytes, and what lies around a matrix in its buffer must stay as it was.
 */
#ifndef PLX_CHECK_H
#define PLX_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parallax/device.h"

/* A matrix as it lies in its buffer: other numbers before it, between its rows and behind it. */
typedef struct image {
    int64_t rows, cols, ld, offset, total;
    double *data;
} image;

typedef struct checker {
    const plx_device_table *t;
    plx_device *d;
    bool small; /* sizes for an emulated device */
    const char *what;
    int cases, failures;
    double worst; /* largest error so far, as a share of what is allowed */
} checker;

extern checker check;

/* Runs the operations whose name holds `pattern` (NULL: all); the number of operations that failed. */
int check_device(const plx_device_table *table, int number, bool small, const char *pattern);

/* Most memory taken at a time since the last call with `restart`; NULL: the device cannot tell. */
extern int64_t (*device_peak)(int restart);

/* ---- one case ---- */

/* What a case takes is given back by case_end(). */
void *keep_bytes(size_t bytes);
void case_end(void);
void fail_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The call must succeed. */
void must(int code);

/* What a call takes: between them it must stay within the estimate. */
void peak_begin(void);
void peak_end(int64_t estimate);

double draw(void);             /* in (-1, 1) */
int64_t draw_below(int64_t n); /* 0 .. n-1 */
double draw_normal(void);

image image_random(int64_t rows, int64_t cols);
image image_poison(int64_t rows, int64_t cols); /* NaN: must not be read, must be overwritten */
image image_copy(const image *from);
double *at(const image *m, int64_t i, int64_t j);

plx_device_mat upload(const image *m);
image download(const image *like, plx_device_mat from);
plx_device_buffer *upload_bytes(const void *from, int64_t bytes); /* NULL for no `from` */
void download_bytes(void *to, const plx_device_buffer *from, int64_t bytes);
plx_device_mat no_matrix(void);
plx_device_buffer *hold(plx_device_buffer *buffer); /* released at the end of the case */
plx_device_csr *hold_csr(plx_device_csr *csr);

/* ---- comparisons ---- */

/* The same bytes in both runs, borders as in `before`, entries within tolerance * scale of the expected ones; scale 0:
 * the largest expected. `lower`: above the diagonal as `before` too. */
void compare_image(const image *first, const image *second, const image *before, const image *expected,
                   double tolerance, double scale, bool lower);
/* |a - b| <= tolerance * max(|b|, least), one by one. */
void compare_values(const double *got, const double *expected, int64_t count, double tolerance, double least);
void compare_bytes(const void *a, const void *b, int64_t bytes, const char *what);

/* ---- sparse matrices ---- */

typedef struct sparse {
    int64_t rows, cols, *ptr;
    int32_t *col;
    double *val;
} sparse;

/* One row, one column and no entry of another row are full; counts: small whole numbers. */
sparse sparse_random(int64_t rows, int64_t cols, double density, bool counts);
/* About per_row entries in every row but one of fifty, half of them in the last eighth of the columns. */
sparse sparse_crowded(int64_t rows, int64_t cols, int64_t per_row, bool counts);
plx_device_csr *upload_csr(const sparse *x, int flags);
double *densify(const sparse *x); /* rows x cols */

/* ---- groups of operations ---- */
void check_memory(void);
void check_dense_products(void);
void check_factors(void);
void check_eigen(void);
void check_entries(void);
void check_kernels(void);
void check_knn(void);
void check_sparse_products(void);
void check_mixture(void);
void check_assign(void);
void check_plsa(void);
void check_pivots(void);

/* begin_operation: false: not asked for. end_operation prints the line. */
bool begin_operation(const char *name);
void end_operation(void);

/* Sizes to try: *count of them; 0, 1, odd ones, multiples of tiles and beyond. */
const int64_t *check_sizes(int *count);

#endif
