/*
 * The table of parallax/device.h on the CPU, over our own linear algebra: what tests everything around a device where
 * there is none. Its memory is counted apart from the context's, it can be short of it, and any call can be made to
 * fail. Chosen by the name "host"; nobody gains by it.
 */
#ifndef PLX_DEVICE_HOST_DEVICE_H
#define PLX_DEVICE_HOST_DEVICE_H

#include "linalg/distance.h"
#include "parallax/device.h"

extern const plx_device_table plx__host_device_table;

/* What goes wrong with devices opened by this thread; all zero: nothing. */
typedef struct plx__host_faults {
    int64_t memory;       /* bytes it has; 0: plenty */
    int64_t fail_at;      /* the call of this number (from 1) that returns a code fails; 0: none */
    plx_device_code code; /* with this; 0: PLX_DEVICE_FAILED */
    bool absent;          /* it cannot be opened */
    int64_t calls;        /* out: how many there were */
} plx__host_faults;

plx__host_faults *plx__host_device_faults(void);

/* ---- between its files ---- */

struct plx_device {
    plx_context *ctx; /* its own: one thread, and the memory there is */
    char error[PLX__ERROR_BYTES];
};

struct plx_device_buffer {
    size_t bytes;                               /* of the whole block */
    _Alignas(max_align_t) unsigned char data[]; /* our own functions need no more */
};

struct plx_device_csr {
    plx__arena arena;
    plx_ccsr plain, flipped; /* flipped.ptr NULL: not kept */
};

/* Counts the call; anything but PLX_DEVICE_OK: it is to fail. */
int plx__host_enter(plx_device *d);
/* What a status of the library is to a device; frees the scratch of the call. */
int plx__host_leave(plx_device *d, plx_status st);

/* A function of the table: counted, then `call`. */
#define PLX__HOST_CALL(d, call)                                                                                        \
    do {                                                                                                               \
        int plx__code = plx__host_enter(d);                                                                            \
        return plx__code != PLX_DEVICE_OK ? plx__code : plx__host_leave((d), (call));                                  \
    } while (0)

/* NULL for a matrix that is not there. */
static inline double *plx__host_data(plx_device_mat m)
{
    return m.buffer ? (double *)(void *)m.buffer->data + m.offset : NULL;
}

static inline plx_mat plx__host_mat(plx_device_mat m)
{
    plx_mat out = {plx__host_data(m), m.rows, m.cols, m.ld};
    return out;
}

static inline plx_cmat plx__host_cmat(plx_device_mat m)
{
    plx_cmat out = {plx__host_data(m), m.rows, m.cols, m.ld};
    return out;
}

static inline const void *plx__host_values(const plx_device_buffer *b) { return b ? b->data : NULL; }

static inline plx__points plx__host_points(plx_device_rows rows)
{
    if (!rows.csr) return plx__points_dense(plx__host_cmat(rows.dense));
    return plx__points_csr(plx__csr_rows(rows.csr->plain, rows.first, rows.first + rows.count));
}

/* ---- host_dense.c ---- */
int plx__host_gemm(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, plx_device_mat b,
                   plx_device_trans tb, double beta, plx_device_mat c);
int plx__host_syrk(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, double beta, plx_device_mat c);
int plx__host_potrf(plx_device *d, plx_device_mat a, int64_t *pivot);
int plx__host_potrs(plx_device *d, plx_device_mat l, plx_device_mat b);
int plx__host_potri(plx_device *d, plx_device_mat l);
int plx__host_trsm(plx_device *d, int right, plx_device_mat l, plx_device_trans tl, plx_device_mat b);
int plx__host_sym_eigen(plx_device *d, plx_device_mat a, int64_t first, int64_t count, double *values,
                        plx_device_mat vectors);

int plx__host_pivots(plx_device *d, const plx_device_pivots *step);

/* ---- host_entries.c ---- */
int plx__host_triangle(plx_device *d, plx_device_mat a, plx_device_triangle how);
int plx__host_combine(plx_device *d, double beta, plx_device_mat c, double alpha, plx_device_mat a, plx_device_mat l,
                      plx_device_mat r, double gamma, plx_device_mat u, plx_device_mat v, double shift);
int plx__host_diagonal(plx_device *d, plx_device_mat a, plx_device_mat out, int set);
int plx__host_row_norms_sq(plx_device *d, plx_device_mat a, plx_device_mat out);
int plx__host_dot(plx_device *d, plx_device_mat a, plx_device_mat b, double *sum);
int plx__host_gather(plx_device *d, plx_device_mat out, plx_device_mat a, const plx_device_buffer *row,
                     const plx_device_buffer *col);
int plx__host_scatter_add(plx_device *d, plx_device_mat out, const plx_device_buffer *row, plx_device_mat a);
int plx__host_kernel(plx_device *d, const plx_device_kernel *kernel, plx_device_rows a, plx_device_rows b,
                     const plx_device_buffer *present_a, const plx_device_buffer *present_b, plx_device_mat out);
int plx__host_kernel_of_base(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, double beta,
                             plx_device_mat out);
int plx__host_kernel_gradient(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, plx_device_mat m,
                              double *sums);
int plx__host_knn(plx_device *d, const plx_device_knn *step);

/* ---- host_sparse.c ---- */
int plx__host_csr_create(plx_device *d, int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col,
                         const double *val, int flags, plx_device_csr **out);
void plx__host_csr_release(plx_device *d, plx_device_csr *csr);
int64_t plx__host_csr_bytes(plx_device *d, int64_t rows, int64_t cols, int64_t entries, int flags);
int plx__host_spmm(plx_device *d, double alpha, const plx_device_csr *a, plx_device_trans ta, plx_device_mat b,
                   double beta, plx_device_mat c);
int plx__host_class_sums(plx_device *d, const plx_device_csr *x, const plx_device_buffer *label,
                         const plx_device_buffer *factor, int64_t k, plx_device_mat out);
int plx__host_mixture(plx_device *d, const plx_device_mixture *pass);
int plx__host_assign(plx_device *d, const plx_device_assign *pass);
int plx__host_plsa(plx_device *d, const plx_device_plsa *step);
int plx__host_plsa_mixture(plx_device *d, plx_device_mat next, plx_device_mat mix, plx_device_mat gain,
                           const plx_device_buffer *label, double flush);

#endif
