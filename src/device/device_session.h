/*
 * A device at work for a context: which one, whether it pays, its memory, and its operations with statuses.
 *
 * Work goes to the device in sessions. A session is opened with an estimate of the work; without a device, or where it
 * would not pay, it has none and the CPU goes on as ever. Everything allocated on the device in a session is freed
 * with it, so that code inside needs no clean-up:
 *
 *     plx__session s;
 *     PLX_TRY(plx__session_open(&s, ctx, &work));
 *     if (s.dev) PLX_TRY(plx__session_close(&s, on_device(job, s.dev)));
 *     if (!s.done) PLX_TRY(on_cpu(job));
 *
 * When the device fails, or has too little memory, plx__session_close() returns the failure if this very device was
 * asked for. With `auto` it tells so (info), gives scratch memory back as it was when the session was opened, and
 * `done` stays false: the CPU does the work from its start. Work on the device must therefore leave what lives longer
 * than scratch as it was until it succeeds.
 *
 * Sessions nest. There is none inside the bodies of parallel loops, for members of crews, and among several processes.
 */
#ifndef PLX_DEVICE_DEVICE_SESSION_H
#define PLX_DEVICE_DEVICE_SESSION_H

#include "linalg/distance.h"
#include "parallax/device.h"

typedef struct plx__device plx__device;

typedef struct plx__device_work {
    const char *what; /* begins messages: "gp" */
    double flops;     /* operations on double-precision numbers */
    double traffic;   /* bytes that passes over memory read and write, where these are what takes the time */
    double moved;     /* bytes to the device and back */
} plx__device_work;

typedef struct plx__session {
    plx__device *dev; /* NULL: the CPU does it */
    bool done;        /* the device did it */
    const char *what;
    plx_context *ctx;
    plx__mark mark;
    struct plx__held *held;
    int64_t failures; /* of the device, before */
    bool inner;
} plx__session;

plx_status plx__session_open(plx__session *s, plx_context *ctx, const plx__device_work *work);
plx_status plx__session_close(plx__session *s, plx_status st);

/* For work of many steps in one session: true when a step failed for the device and the CPU goes on with that step and
 * the rest. The session has ended then, *st is PLX_OK, and scratch memory is as it was. */
bool plx__session_gives_up(plx__session *s, plx_status *st);

/* For such work: whether the session stays open after what it begins with. If not it has ended, and the CPU does the work,
 * or the failure is returned. */
plx_status plx__session_stay(bool *stays, plx__session *s, plx_status st);

/* Part of a session that is open: what it takes is freed with it. A failure is passed on to the outer one. */
void plx__session_nest(plx__session *s, plx__device *dev);

/* ---- choice (device.c) ---- */

/* The words of plx_context_options.device: NULL, "cpu", "auto" or the name of a device. PLX_E_ARG for what cannot be a
 * name. One that is named is opened by a thread meanwhile; whether that went well is told when it is needed. */
plx_status plx__device_choose(plx_context *ctx, const char *device, int64_t memory);

/* As auto does, with a table at hand; eager: all work pays. For tests. */
plx_status plx__device_choose_table(plx_context *ctx, const plx_device_table *table, bool eager);

/* A device asked for by name is opened, or fails with one line. Nothing for cpu and auto. */
plx_status plx__device_require(plx_context *ctx);

/* A method that never asks for a session says so where a device was asked for by name. */
void plx__device_unused(plx_context *ctx, const char *method);

/* What sessions took since the context was made; of a device that was never opened 0. */
int64_t plx__device_sessions(const plx_context *ctx);

/* Whether work pays: the estimated seconds on the device, with those to open it, are at most half of the CPU's. */
bool plx__device_pays(const plx__device_work *work, int threads, const plx_device_facts *facts);

/* ---- memory (device.c) ---- */

/* States what work is going to take, before it does: PLX_E_NOMEM with the numbers where the device has less. */
plx_status plx__device_need(plx__device *dev, double bytes, const char *what, const char *remedy);
double plx__device_workspace(plx__device *dev, plx_device_op op, plx_index a, plx_index b, plx_index c);

plx_status plx__device_bytes(plx_device_buffer **out, plx__device *dev, plx_index count, size_t size);
plx_status plx__device_mat(plx_device_mat *out, plx__device *dev, plx_index rows, plx_index cols);
/* With what is there already. */
plx_status plx__device_put_bytes(plx_device_buffer **out, plx__device *dev, const void *from, plx_index count,
                                 size_t size);
plx_status plx__device_put(plx_device_mat *out, plx__device *dev, plx_cmat from);
/* Rows of either kind; `flags` of sparse ones as in csr_create. */
plx_status plx__device_put_rows(plx_device_rows *out, plx__device *dev, plx__points rows, int flags);
double plx__device_rows_bytes(plx__device *dev, plx__points rows, int flags);
/* The flags for sweeps with tables of `width` columns. */
int plx__device_sweep_flags(plx_index width);

static inline plx_device_mat plx__device_sub(plx_device_mat m, plx_index row, plx_index col, plx_index rows,
                                             plx_index cols)
{
    plx_device_mat s = {m.buffer, m.offset + row * m.ld + col, rows, cols, m.ld};
    return s;
}

/* ---- operations (device_ops.c): those of parallax/device.h, with a message on failure ---- */

/* The table and the device, for operations without a function of their own here: PLX_TRY(plx__device_did(dev,
 * t->knn(d, &step), "knn")). PLX_E_NUMERIC is passed on without counting as a failure of the device. */
const plx_device_table *plx__device_table(const plx__device *dev);
plx_device *plx__device_handle(plx__device *dev);
plx_context *plx__device_context(const plx__device *dev);
plx_status plx__device_did(plx__device *dev, int code, const char *operation);
/* The failure of a device without an optional operation; with auto the CPU takes over, and the device stays. */
plx_status plx__device_lacks(plx__device *dev, const char *operation);

plx_status plx__device_write(plx__device *dev, plx_device_mat to, plx_cmat from);
plx_status plx__device_read(plx__device *dev, plx_mat to, plx_device_mat from);
plx_status plx__device_write_vec(plx__device *dev, plx_device_mat to, const double *from); /* a column */
plx_status plx__device_read_vec(plx__device *dev, double *to, plx_device_mat from);
plx_status plx__device_copy(plx__device *dev, plx_device_mat to, plx_device_mat from);
plx_status plx__device_fill(plx__device *dev, plx_device_mat to, double value);
plx_status plx__device_gemm(plx__device *dev, double alpha, plx_device_mat a, plx__trans ta, plx_device_mat b,
                            plx__trans tb, double beta, plx_device_mat c);
plx_status plx__device_chol_solve(plx__device *dev, plx_device_mat l, plx_device_mat b);
plx_status plx__device_tri_solve_right(plx__device *dev, plx_device_mat l, plx__trans tl, plx_device_mat b);
plx_status plx__device_diagonal(plx__device *dev, plx_device_mat a, plx_device_mat out); /* a column */
plx_status plx__device_triangle(plx__device *dev, plx_device_mat a, plx_device_triangle how);

/* c = beta c + alpha diag(l) a diag(r) + gamma (u v' + v u') + shift I; see parallax/device.h. */
typedef struct plx__device_terms {
    double beta, alpha, gamma, shift;
    plx_device_mat a, l, r, u, v;
} plx__device_terms;
plx_status plx__device_combine(plx__device *dev, plx_device_mat c, const plx__device_terms *terms);

plx_status plx__device_gather(plx__device *dev, plx_device_mat out, plx_device_mat a, const plx_device_buffer *row,
                              const plx_device_buffer *col);
plx_status plx__device_dot(double *out, plx__device *dev, plx_device_mat a, plx_device_mat b);
plx_status plx__device_row_norms_sq(plx__device *dev, plx_device_mat a, plx_device_mat out);

/* a = L L' in place, both triangles given, by the policy of plx__cholesky_jitter; above the diagonal `a` keeps what it
 * had. `work` is a column. */
plx_status plx__device_cholesky_jitter(plx__device *dev, plx_device_mat a, plx_device_mat work, double *relative,
                                       const char *what, const plx_index *samples, const char *remedy);
/* L becomes (L L')^-1, both triangles. */
plx_status plx__device_chol_inverse(plx__device *dev, plx_device_mat l);
plx_status plx__device_chol_logdet(double *out, plx__device *dev, plx_device_mat l, plx_device_mat work);

#endif
