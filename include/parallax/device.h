/**
 * @file parallax/device.h
 * @brief What a device (a GPU) must offer to work for the library: a table of functions.
 *
 * For authors of devices; programs that use the library choose one by plx_context_options.device and need nothing of
 * this. A device is a shared object, `libparallax_NAME.so` (`libparallax_cuda.so`), that exports the one function
 * plx_device_entry(). The library opens it at run time and has no other tie to it.
 *
 * **Layout.** All numbers are doubles. Matrices are row-major with a leading dimension: element (i, j) is at
 * `offset + i * ld + j` of its buffer. For a library that thinks in columns the same bytes are the transpose with the
 * same leading dimension: C = A B becomes C' = B'A', and a *lower* triangle here is its *upper* one. Symmetric
 * matrices are both.
 *
 * **Order.** Calls come from one thread at a time for each opened device and take effect in the order they were made.
 * A device may return before the work is done (a stream); `read`, `read_bytes`, `sync` and every function that gives
 * numbers back through a host pointer wait for it. A failure of work still under way may be told by a later call.
 * Host memory handed in may be reused by the caller as soon as the call returns.
 *
 * **Same bytes.** The same calls on the same device and driver give the same bytes in every run: sums are taken in an
 * order that depends on shapes only, so no floating-point atomics, no order of arrival. Bytes may differ from the
 * CPU's; results agree with it within the tolerances of the library's tests.
 *
 * **Overlap.** An output does not overlap any input unless the function says "in place". Sub-matrices of one buffer
 * that share no element do not overlap. Sizes always agree and are >= 0; a call with an empty output does nothing. NaN
 * and infinity are carried through as arithmetic does, except that beta = 0 leaves the old output unread.
 *
 * **Ownership.** What `open`, `alloc` and `csr_create` hand out is freed by `close`, `release` and `csr_release`, and
 * by nothing else; the library frees all of it before `close`, whatever failed before.
 *
 * **Return codes.** Every function that returns `int` returns a plx_device_code. After anything but PLX_DEVICE_OK,
 * `error` gives one line of text, and outputs hold anything; the device stays usable for `release`, `close` and
 * (unless the failure is one of the device itself, which every later call then repeats) for more work.
 *
 * **Missing functions.** A pointer may be NULL in the parts marked "optional": methods that need it run on the CPU.
 *
 * Lifetime: the table is static in the shared object, which the library never unloads.
 *
 * Threads: plx_device_entry() and `open` may be called from any; an opened device serves one thread at a time.
 */
#ifndef PARALLAX_DEVICE_H
#define PARALLAX_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of everything below. A change that only appends functions to the table keeps it: struct_size tells. */
#define PLX_DEVICE_ABI 1u

/** What functions of a device return. */
typedef enum plx_device_code {
    PLX_DEVICE_OK = 0,
    PLX_DEVICE_NUMERIC = 1, /**< the numbers do not allow it: a pivot is not positive, an iteration did not converge */
    PLX_DEVICE_NOMEM = 2,   /**< too little memory on the device */
    PLX_DEVICE_LIMIT = 3,   /**< sizes beyond what this function can take (e.g. 32-bit counts of a library below) */
    PLX_DEVICE_FAILED = 4   /**< anything else: no such device, driver too old, a failed launch */
} plx_device_code;

typedef struct plx_device plx_device;               /**< an opened device */
typedef struct plx_device_buffer plx_device_buffer; /**< memory on it, aligned to at least 256 bytes */
typedef struct plx_device_csr plx_device_csr;       /**< a sparse matrix on it */

/** What is known of a device. Texts live as long as the device is open. */
typedef struct plx_device_facts {
    size_t struct_size;
    const char *name;   /**< e.g. "NVIDIA H200" */
    const char *driver; /**< e.g. "compute capability 9.0, driver 550.54, CUDA 12.4" */
    int64_t memory;     /**< bytes in all */
    double flops;       /**< estimated operations per second of double-precision products; 0: not known */
    double transfer;    /**< estimated bytes per second between host and device; 0: not known */
} plx_device_facts;

/** Dense matrix on a device, or a part of one. A vector is a matrix of one row or one column. */
typedef struct plx_device_mat {
    plx_device_buffer *buffer;
    int64_t offset; /**< in doubles */
    int64_t rows, cols, ld;
} plx_device_mat;

/** Rows first .. first+count-1 of a dense or of a sparse matrix. */
typedef struct plx_device_rows {
    plx_device_mat dense;      /**< its rows are those meant; csr is NULL */
    const plx_device_csr *csr; /**< or the rows first .. first+count-1 of this one */
    int64_t first, count;      /**< sparse rows only */
} plx_device_rows;

typedef enum plx_device_trans { PLX_DEVICE_PLAIN = 0, PLX_DEVICE_TRANSPOSED = 1 } plx_device_trans;

/** Values between rows x and z. */
typedef enum plx_device_kernel_kind {
    PLX_DEVICE_LINEAR = 0, /**< amplitude x.z */
    PLX_DEVICE_RBF = 1,    /**< amplitude exp(-|x-z|^2 / (2 width^2)) */
    PLX_DEVICE_POLY = 2,   /**< amplitude (x.z + coef0)^degree; degree is any number, as pow() has it */
    PLX_DEVICE_COSINE = 3, /**< amplitude x.z/(|x||z|), clipped to [-1, 1]; 0 where a row is zero */
    PLX_DEVICE_DIST_SQ = 5 /**< |x-z|^2, without amplitude */
} plx_device_kernel_kind;

typedef struct plx_device_kernel {
    plx_device_kernel_kind kind;
    double amplitude, width, degree, coef0;
} plx_device_kernel;

typedef enum plx_device_metric { PLX_DEVICE_EUCLID = 0, PLX_DEVICE_COSINE_DISTANCE = 1 } plx_device_metric;

/** What `triangle` does with a square matrix. */
typedef enum plx_device_triangle {
    PLX_DEVICE_MIRROR_LOWER = 0, /**< above the diagonal := transpose of what is below */
    PLX_DEVICE_MIRROR_UPPER = 1, /**< below the diagonal := transpose of what is above */
    PLX_DEVICE_CLEAR_UPPER = 2   /**< above the diagonal := 0 */
} plx_device_triangle;

/** Functions whose own memory `workspace` tells. */
typedef enum plx_device_op {
    PLX_DEVICE_OP_POTRF = 0,  /**< a: order */
    PLX_DEVICE_OP_POTRI = 1,  /**< a: order */
    PLX_DEVICE_OP_EIGEN = 2,  /**< a: order, b: pairs wanted */
    PLX_DEVICE_OP_KERNEL = 3, /**< a: rows, b: columns of the result */
    PLX_DEVICE_OP_KNN = 4,    /**< a: queries, b: references of a block, c: k */
    PLX_DEVICE_OP_SWEEP = 5   /**< a: rows, b: entries, c: columns of the table; any of the sweeps below */
} plx_device_op;

/** One step of the neighbour search: more references for the lists of some queries. */
typedef struct plx_device_knn {
    size_t struct_size;
    plx_device_rows queries, references; /**< both dense or both sparse, with equal column counts */
    plx_device_metric metric;
    int64_t k;                        /**< length of the lists, >= 1 */
    int64_t first_reference;          /**< number of the first row of `references`: what lists name */
    int64_t first_query;              /**< number of the first row of `queries` among the references; -1: they are other
                                           rows. Otherwise a row is not its own neighbour */
    const plx_device_buffer *present; /**< uint8 for each row of `references`: 0: passed over; NULL: all */
    plx_device_buffer *index;         /**< int64, queries x k, in and out; -1: nobody yet */
    plx_device_buffer *distance;      /**< double, queries x k, in and out; infinity: nobody yet */
} plx_device_knn;

/** One channel of the mixture sweep. */
typedef struct plx_device_channel {
    const plx_device_csr *x;          /**< n rows */
    plx_device_mat table;             /**< cols(x) x width */
    plx_device_mat score;             /**< n x width: x table */
    int refresh;                      /**< 1: `score` is computed from x and table first, and written; 0: it is read */
    const plx_device_buffer *present; /**< uint8, n; NULL: all */
    const double *log_prior;          /**< host, width */
} plx_device_channel;

/** Responsibilities of `coem`: one pass over n samples. */
typedef struct plx_device_mixture {
    size_t struct_size;
    int64_t n, width, n_channels;
    const plx_device_channel *channel; /**< host, n_channels */
    const plx_device_buffer *label;    /**< int32, n: class, -1: none */
    int joint;                         /**< 1: one posterior from the product of the channels' likelihoods */
    int64_t target;                    /**< channel whose responsibilities are wanted */
    double eta;                        /**< weight of the other channels in them */
    plx_device_mat weights;            /**< n x width, out; rows of samples that lack the target are 0 */
    int measure;                       /**< 1: objective and log-likelihoods too */
    double measure_eta;                /**< at this weight */
    double *prior;                     /**< host, width: sums of the posteriors (joint: of one per sample) */
    double *mass;                      /**< host, width: column sums of `weights` */
    double *objective;                 /**< host, 1 */
    double *loglik;                    /**< host, n_channels */
} plx_device_mixture;

/** Assignment of `mvkmeans`: one pass over n samples. */
typedef struct plx_device_assign {
    size_t struct_size;
    int64_t n, k, n_channels;
    const plx_device_channel *channel; /**< host; tables are cols x k at least (columns beyond k are ignored), `score`,
                                            `refresh` and `log_prior` unused */
    plx_device_buffer *const *factor;  /**< host list of n_channels: double, n: row i of x counts times factor[i];
                                            NULL: 1 */
    int product;                       /**< 1: scores are multiplied, negative ones as 0; 0: added */
    double tie;                        /**< scores that close to the largest are equal: the lowest class wins */
    int32_t fallback;                  /**< class of samples all of whose scores are exactly 0 */
    const plx_device_buffer *fixed;    /**< uint8, n: 1: keeps its label */
    plx_device_buffer *label;          /**< int32, n, in and out; -1: none yet */
    plx_device_buffer *own_score;      /**< double, n: score at the label, 0 without one; NULL: not wanted */
    double *objective;                 /**< host, 1: sum of the scores at the labels */
    int64_t *flips;                    /**< host, 1: 0 for a label that stays, 1 for a first one, 2 for a changed one */
    int64_t *without;                  /**< host, 1: samples that got the fallback */
} plx_device_assign;

/** E step of `mvplsa` in one view. */
typedef struct plx_device_plsa {
    size_t struct_size;
    const plx_device_csr *counts; /**< n x features, made with PLX_DEVICE_BOTH_WAYS where `scatter` is wanted */
    plx_device_mat table;         /**< features x width: u */
    plx_device_mat mix;           /**< n x width: c */
    plx_device_mat gain;          /**< n x width, added to; buffer NULL: not wanted */
    plx_device_mat scatter;       /**< features x width, overwritten; buffer NULL: not wanted */
    double *likelihood;           /**< host, 1; NULL: not wanted */
} plx_device_plsa;

/** Columns of a partial Gram-Schmidt of a symmetric K: one panel of a pivoted Cholesky factorisation. */
typedef struct plx_device_pivots {
    size_t struct_size;
    plx_device_mat k;        /**< n x n, both triangles: what finished panels left of K; read */
    plx_device_mat columns;  /**< most x n: **row** t is the column found t-th; rows from *found on are left alone */
    plx_device_mat residual; /**< n x 1, contiguous, in and out: diagonal of what is left; -1: a pivot already */
    double first;            /**< largest entry of the diagonal at the very first */
    double least;            /**< no pivot where the largest residual is at most that (nor where it is not > 0) */
    double least_sum;        /**< nor where the positive residuals sum to at most that; -1: whatever they sum to */
    int64_t *pivot;          /**< host, most: rows chosen */
    int64_t *found;          /**< host, 1: how many; fewer than most: no further pivot is left */
    double *left;            /**< host, 1: sum of the positive residuals after them */
} plx_device_pivots;

/** csr_create: keep the transpose too, for products with it; and lay the matrix out for sweeps with tables of at most
 * PLX_DEVICE_FEW columns, if there is a better way for these: such a matrix is not for kernels, neighbours and
 * wider tables, where a device may answer PLX_DEVICE_LIMIT. */
enum { PLX_DEVICE_BOTH_WAYS = 1, PLX_DEVICE_FEW_COLUMNS = 2, PLX_DEVICE_FEW = 8 };

/** The table; a device begins `static const plx_device_table table = {sizeof table, PLX_DEVICE_ABI, "cuda", ...}`. */
typedef struct plx_device_table {
    size_t struct_size;
    uint32_t abi;
    const char *kind; /**< "cuda": what `device` is set to */

    /** @name Opening */

    /**
     * Open device `number` (0: the first). On failure *out is NULL and one line about it is in `why` (at most `size`
     * bytes with the end): "no CUDA device was found", "the driver 450.80 is too old for CUDA 12; update it".
     */
    int (*open)(plx_device **out, int number, char *why, size_t size);
    /** Waits for work under way and frees the device; NULL is allowed. */
    void (*close)(plx_device *d);
    /** One line about the last failure, "" without one. Lives until the next call. */
    const char *(*error)(const plx_device *d);
    int (*facts)(plx_device *d, plx_device_facts *out);
    /** Bytes that can be allocated now. */
    int (*memory_free)(plx_device *d, int64_t *bytes);
    /** Bytes a function takes for itself while it runs; see plx_device_op for a, b, c. Never less than it takes. */
    int64_t (*workspace)(plx_device *d, plx_device_op op, int64_t a, int64_t b, int64_t c);
    /** Wait for everything. Tells a failure of work that was under way. */
    int (*sync)(plx_device *d);

    /** @name Memory */

    /** Not cleared. *out is NULL on failure; 0 bytes give a buffer that may be released and has no elements. */
    int (*alloc)(plx_device *d, int64_t bytes, plx_device_buffer **out);
    /** NULL is allowed. Work under way that uses the buffer is done first. */
    void (*release)(plx_device *d, plx_device_buffer *buffer);
    int (*write_bytes)(plx_device *d, plx_device_buffer *to, int64_t offset, const void *from, int64_t bytes);
    int (*read_bytes)(plx_device *d, void *to, const plx_device_buffer *from, int64_t offset, int64_t bytes);
    /** `from`: to.rows x to.cols with leading dimension `ld`. */
    int (*write)(plx_device *d, plx_device_mat to, const double *from, int64_t ld);
    /** `to`: from.rows x from.cols with leading dimension `ld`; what lies between rows is not touched. */
    int (*read)(plx_device *d, double *to, int64_t ld, plx_device_mat from);
    int (*copy)(plx_device *d, plx_device_mat to, plx_device_mat from);
    int (*fill)(plx_device *d, plx_device_mat to, double value);

    /** @name Dense matrices */

    /** C = alpha op(A) op(B) + beta C. With one column it is a product with a vector and should cost no more. */
    int (*gemm)(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, plx_device_mat b,
                plx_device_trans tb, double beta, plx_device_mat c);
    /** Lower triangle of C = alpha A A' + beta C (PLAIN) or alpha A'A + beta C; above the diagonal C is left alone. */
    int (*syrk)(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, double beta, plx_device_mat c);
    /**
     * A = L L' in place, lower triangle. Above the diagonal nothing is read or written. A pivot that is not positive:
     * PLX_DEVICE_NUMERIC and its row in *pivot, and the lower triangle with the diagonal holds anything.
     */
    int (*potrf)(plx_device *d, plx_device_mat a, int64_t *pivot);
    /** B = (L L')^-1 B in place; above the diagonal L is not read. */
    int (*potrs)(plx_device *d, plx_device_mat l, plx_device_mat b);
    /** Lower triangle of (L L')^-1 in the place of L; above the diagonal nothing is read or written. */
    int (*potri)(plx_device *d, plx_device_mat l);
    /** B = op(L)^-1 B (right = 0) or B op(L)^-1 (right = 1) in place; above the diagonal L is not read. */
    int (*trsm)(plx_device *d, int right, plx_device_mat l, plx_device_trans tl, plx_device_mat b);
    /**
     * Eigenpairs number first .. first+count-1 in ascending order of symmetric A, whose lower triangle is read and
     * which is overwritten. `values` (host, count). `vectors` is count x n: **row** j belongs to values[j], of unit
     * length, its sign left open; buffer NULL: values only. All (count = n), or the k largest (first = n - k).
     */
    int (*sym_eigen)(plx_device *d, plx_device_mat a, int64_t first, int64_t count, double *values,
                     plx_device_mat vectors);

    /** @name Entry by entry */

    /** See plx_device_triangle. */
    int (*triangle)(plx_device *d, plx_device_mat a, plx_device_triangle how);
    /**
     * C_ij = beta C_ij + alpha l_i A_ij r_j + gamma (u_i v_j + v_i u_j), and on the diagonal + shift.
     * `a` may be C itself (in place), or have buffer NULL (that term is 0); so may l, r (ones) and u, v (that term is
     * 0; both or none). l, r, u, v are vectors of any stride: one column, or one row.
     */
    int (*combine)(plx_device *d, double beta, plx_device_mat c, double alpha, plx_device_mat a, plx_device_mat l,
                   plx_device_mat r, double gamma, plx_device_mat u, plx_device_mat v, double shift);
    /** out (a vector) = the diagonal of A (set = 0), or the diagonal of A = out (set = 1). */
    int (*diagonal)(plx_device *d, plx_device_mat a, plx_device_mat out, int set);
    /** out (rows long) = sum of the squares of every row of A. */
    int (*row_norms_sq)(plx_device *d, plx_device_mat a, plx_device_mat out);
    /** out_ij = A(row_i, col_j). row and col are int64 buffers of out.rows and out.cols numbers; NULL: 0, 1, 2, ... */
    int (*gather)(plx_device *d, plx_device_mat out, plx_device_mat a, const plx_device_buffer *row,
                  const plx_device_buffer *col);
    /** out(row_i, row_j) += A_ij for j <= i: the lower triangle of symmetric A, to ascending, distinct rows. */
    int (*scatter_add)(plx_device *d, plx_device_mat out, const plx_device_buffer *row, plx_device_mat a);

    /** @name Kernels */

    /**
     * out (rows of a x rows of b). Squared distances are as precise as a direct sum, to 1e-12 of themselves: |x|^2 +
     * |z|^2 - 2 x.z serves where it is, the sum of (x_i - z_i)^2 where it cancels; equal rows have exactly 0, and rbf
     * exactly the amplitude. With a and b the same rows the result is exactly symmetric. present_a, present_b (uint8;
     * NULL: all): pairs of which one is absent get 0, or 1e300 with PLX_DEVICE_DIST_SQ.
     */
    int (*kernel)(plx_device *d, const plx_device_kernel *kernel, plx_device_rows a, plx_device_rows b,
                  const plx_device_buffer *present_a, const plx_device_buffer *present_b, plx_device_mat out);
    /**
     * out_ij = beta out_ij + the kernel's value from base_ij: amplitude exp(-base/(2 width^2)) of squared distances
     * (RBF), amplitude base otherwise. beta is 0 or 1. In place with beta = 0.
     */
    int (*kernel_of_base)(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, double beta,
                          plx_device_mat out);
    /**
     * sums[0] = sum of M_ij k_ij over all entries of both triangles, k the values as above, and sums[1] = sum of
     * M_ij k_ij base_ij (0 unless RBF); M and base are symmetric and only their lower triangles are read. sums: host.
     */
    int (*kernel_gradient)(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, plx_device_mat m,
                           double *sums);

    /** @name Neighbours (optional) */

    /**
     * Every query's list becomes the k best of what it held and of `references`, ordered by the distance rounded to 12
     * significant digits (0 below 1e-12), then by the smaller number. The distances written are unrounded and directly
     * computed: the root of the sum of (x_i - z_i)^2, or 1 - cosine (a zero row has cosine 0). No true neighbour may be
     * lost to the rounding of products. Called with blocks of references in ascending order.
     */
    int (*knn)(plx_device *d, const plx_device_knn *step);

    /** @name Sparse matrices (optional) */

    /**
     * From host arrays as in parallax/matrix.h, which may be reused at once. Columns are sorted and unique in every
     * row; ptr[0] is 0. flags: 0 or PLX_DEVICE_BOTH_WAYS, and with that PLX_DEVICE_FEW_COLUMNS.
     */
    int (*csr_create)(plx_device *d, int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col,
                      const double *val, int flags, plx_device_csr **out);
    void (*csr_release)(plx_device *d, plx_device_csr *csr);
    /** Bytes that csr_create will take, the most at a time. */
    int64_t (*csr_bytes)(plx_device *d, int64_t rows, int64_t cols, int64_t entries, int flags);
    /**
     * C = alpha op(A) B + beta C. TRANSPOSED needs a matrix made with PLX_DEVICE_BOTH_WAYS: sums have a fixed order,
     * which scattered writes do not have.
     */
    int (*spmm)(plx_device *d, double alpha, const plx_device_csr *a, plx_device_trans ta, plx_device_mat b,
                double beta, plx_device_mat c);

    /** @name Sweeps (optional; tables and rows of `width` columns) */

    /** out (k x cols) = sums of factor_i x_i over the rows with label i = 0 .. k-1; other labels are passed over.
     * label: int32; factor: double or NULL (ones). x is made with PLX_DEVICE_BOTH_WAYS. */
    int (*class_sums)(plx_device *d, const plx_device_csr *x, const plx_device_buffer *label,
                      const plx_device_buffer *factor, int64_t k, plx_device_mat out);
    /**
     * For a sample and each channel it has: z = log_prior + score, P = softmax(z), loglik += log sum exp z; a labelled
     * sample has P = 1 at its class. With `joint` all P are the softmax of log_prior of the first channel it has + the
     * sum of its scores. Weights of the target: P of the target where it is the only channel or with `joint`, else
     * (1 - eta) P_target + eta/(a - 1) times the sum of the others', a its number of channels. Objective: sum over the
     * channels of R_v . z_v, R_v the weights channel v would get with measure_eta. Samples without a channel count
     * nowhere. The M step is then `spmm` TRANSPOSED with `weights`.
     */
    int (*mixture)(plx_device *d, const plx_device_mixture *pass);
    /** Labels by the sum or the product of the scores x_c table_c of the channels a sample has, and their value. */
    int (*assign)(plx_device *d, const plx_device_assign *pass);
    /**
     * Over the entries (f, o) of row i: m = u_f . c_i, r = o/m, gain_i += r u_f, scatter_f += r c_i, likelihood +=
     * o log m. m below 1e-300 counts as 0: r = 0, and log 1e-300.
     */
    int (*plsa)(plx_device *d, const plx_device_plsa *step);
    /**
     * next_i = mix_i * gain_i divided by its sum, numbers below `flush` as 0; rows with a label >= 0 (int32) and rows
     * whose sum is not > 0 become those of mix. All n x width; next may be gain (in place).
     */
    int (*plsa_mixture)(plx_device *d, plx_device_mat next, plx_device_mat mix, plx_device_mat gain,
                        const plx_device_buffer *label, double flush);

    /** @name More of dense matrices (needed like the first) */

    /** *sum = sum of A_ij B_ij; host. */
    int (*dot)(plx_device *d, plx_device_mat a, plx_device_mat b, double *sum);

    /** @name Pivots (optional) */

    /**
     * Next pivot p: of the rows whose residual is > 0 and at least top - 1e-12 top - 1e-15 first, top the largest
     * residual, the first one. Its column is (K_ip - sum over the columns t of this panel of c_ti c_tp) / root, root
     * that of its residual; 0 at earlier pivots, root at p. Then residual_p is -1, and the square of the column is
     * taken off the others' residuals, down to 0.
     */
    int (*pivots)(plx_device *d, const plx_device_pivots *step);
} plx_device_table;

/**
 * The one symbol of a device. NULL when this ABI is not served: the library says so with the path of the file.
 */
typedef const plx_device_table *(*plx_device_entry_fn)(uint32_t abi);
#define PLX_DEVICE_ENTRY "plx_device_entry"

#ifdef __cplusplus
}
#endif
#endif
