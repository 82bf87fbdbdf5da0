/*
 * Opening, memory and the table itself of the device that is none.
 */
#include "device/host_device.h"

#include <stdio.h>
#include <string.h>

static _Thread_local plx__host_faults faults;

plx__host_faults *plx__host_device_faults(void) { return &faults; }

/* ---- calls ---- */

static int fail(plx_device *d, int code, const char *text)
{
    snprintf(d->error, sizeof d->error, "%s", text);
    return code;
}

int plx__host_enter(plx_device *d)
{
    d->error[0] = '\0';
    if (++faults.calls != faults.fail_at) return PLX_DEVICE_OK;
    return fail(d, faults.code ? (int)faults.code : PLX_DEVICE_FAILED, "the call was made to fail");
}

int plx__host_leave(plx_device *d, plx_status st)
{
    int code = st == PLX_OK          ? PLX_DEVICE_OK
               : st == PLX_E_NUMERIC ? PLX_DEVICE_NUMERIC
               : st == PLX_E_NOMEM   ? PLX_DEVICE_NOMEM
                                     : PLX_DEVICE_FAILED;
    st = plx__call_end(d->ctx, st); /* writes a text where there is none, and frees scratch */
    if (st != PLX_OK) (void)fail(d, code, d->ctx->error);
    d->ctx->error[0] = '\0';
    return code;
}

/* ---- opening ---- */

static int open_host(plx_device **out, int number, char *why, size_t size)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    *out = NULL;
    o.threads = 1;
    o.memory_limit = faults.memory;
    if (number != 0 || faults.absent) {
        snprintf(why, size, "there is no such device");
        return PLX_DEVICE_FAILED;
    }
    if (plx__context_create(&ctx, &o) == PLX_OK) *out = plx__alloc(ctx, sizeof **out);
    if (*out) {
        **out = (plx_device){.ctx = ctx};
        return PLX_DEVICE_OK;
    }
    plx__context_destroy(ctx);
    snprintf(why, size, "out of memory");
    return PLX_DEVICE_NOMEM;
}

static void close_host(plx_device *d)
{
    if (!d) return;
    plx_context *ctx = d->ctx;
    plx__release(ctx, d, sizeof *d);
    plx__context_destroy(ctx);
}

static const char *error(const plx_device *d) { return d->error; }

static int facts(plx_device *d, plx_device_facts *out)
{
    int code = plx__host_enter(d);
    out->name = "host";
    out->driver = "for tests, without a device";
    out->memory = d->ctx->memory_limit;
    out->flops = 0;
    out->transfer = 0;
    return code;
}

static int memory_free(plx_device *d, int64_t *bytes)
{
    int code = plx__host_enter(d);
    *bytes = plx__max(0, d->ctx->memory_limit - (int64_t)atomic_load(&d->ctx->memory_used));
    return code;
}

/* What our functions take is scratch of theirs: a copy or two of what they work on, and rooms for blocks. */
static int64_t workspace(plx_device *d, plx_device_op op, int64_t a, int64_t b, int64_t c)
{
    (void)d;
    const int64_t blocks = (int64_t)1 << 20, number = (int64_t)sizeof(double);
    switch (op) {
    case PLX_DEVICE_OP_POTRF: return blocks + number * a * a;
    case PLX_DEVICE_OP_POTRI: return blocks + 2 * number * a * a;
    case PLX_DEVICE_OP_EIGEN: return blocks + 4 * number * a * a + number * a * b;
    case PLX_DEVICE_OP_KERNEL: return blocks + number * (a + b);
    case PLX_DEVICE_OP_KNN: return blocks;
    case PLX_DEVICE_OP_SWEEP: return blocks + number * c * 64;
    }
    return blocks;
}

static int sync(plx_device *d) { return plx__host_enter(d); }

/* ---- memory ---- */

static int allocate(plx_device *d, int64_t bytes, plx_device_buffer **out)
{
    int code = plx__host_enter(d);
    *out = NULL;
    if (code != PLX_DEVICE_OK) return code;
    size_t whole = sizeof **out + (size_t)bytes;
    *out = plx__alloc(d->ctx, whole);
    if (!*out) return fail(d, PLX_DEVICE_NOMEM, "out of memory");
    (*out)->bytes = whole;
    return PLX_DEVICE_OK;
}

static void release(plx_device *d, plx_device_buffer *buffer)
{
    if (buffer) plx__release(d->ctx, buffer, buffer->bytes);
}

static int write_bytes(plx_device *d, plx_device_buffer *to, int64_t offset, const void *from, int64_t bytes)
{
    int code = plx__host_enter(d);
    if (code == PLX_DEVICE_OK && bytes > 0) memcpy(to->data + offset, from, (size_t)bytes);
    return code;
}

static int read_bytes(plx_device *d, void *to, const plx_device_buffer *from, int64_t offset, int64_t bytes)
{
    int code = plx__host_enter(d);
    if (code == PLX_DEVICE_OK && bytes > 0) memcpy(to, from->data + offset, (size_t)bytes);
    return code;
}

static int write_rows(plx_device *d, plx_device_mat to, const double *from, int64_t ld)
{
    int code = plx__host_enter(d);
    if (code == PLX_DEVICE_OK) plx__mat_copy(plx__host_mat(to), (plx_cmat){from, to.rows, to.cols, ld});
    return code;
}

static int read_rows(plx_device *d, double *to, int64_t ld, plx_device_mat from)
{
    int code = plx__host_enter(d);
    if (code == PLX_DEVICE_OK) plx__mat_copy((plx_mat){to, from.rows, from.cols, ld}, plx__host_cmat(from));
    return code;
}

static int copy(plx_device *d, plx_device_mat to, plx_device_mat from)
{
    int code = plx__host_enter(d);
    if (code == PLX_DEVICE_OK) plx__mat_copy(plx__host_mat(to), plx__host_cmat(from));
    return code;
}

static int fill(plx_device *d, plx_device_mat to, double value)
{
    int code = plx__host_enter(d);
    if (code == PLX_DEVICE_OK) plx__mat_fill(plx__host_mat(to), value);
    return code;
}

const plx_device_table plx__host_device_table = {.struct_size = sizeof plx__host_device_table,
                                                 .abi = PLX_DEVICE_ABI,
                                                 .kind = "host",
                                                 .open = open_host,
                                                 .close = close_host,
                                                 .error = error,
                                                 .facts = facts,
                                                 .memory_free = memory_free,
                                                 .workspace = workspace,
                                                 .sync = sync,
                                                 .alloc = allocate,
                                                 .release = release,
                                                 .write_bytes = write_bytes,
                                                 .read_bytes = read_bytes,
                                                 .write = write_rows,
                                                 .read = read_rows,
                                                 .copy = copy,
                                                 .fill = fill,
                                                 .gemm = plx__host_gemm,
                                                 .syrk = plx__host_syrk,
                                                 .potrf = plx__host_potrf,
                                                 .potrs = plx__host_potrs,
                                                 .potri = plx__host_potri,
                                                 .trsm = plx__host_trsm,
                                                 .sym_eigen = plx__host_sym_eigen,
                                                 .triangle = plx__host_triangle,
                                                 .combine = plx__host_combine,
                                                 .diagonal = plx__host_diagonal,
                                                 .row_norms_sq = plx__host_row_norms_sq,
                                                 .gather = plx__host_gather,
                                                 .scatter_add = plx__host_scatter_add,
                                                 .kernel = plx__host_kernel,
                                                 .kernel_of_base = plx__host_kernel_of_base,
                                                 .kernel_gradient = plx__host_kernel_gradient,
                                                 .knn = plx__host_knn,
                                                 .csr_create = plx__host_csr_create,
                                                 .csr_release = plx__host_csr_release,
                                                 .csr_bytes = plx__host_csr_bytes,
                                                 .spmm = plx__host_spmm,
                                                 .class_sums = plx__host_class_sums,
                                                 .mixture = plx__host_mixture,
                                                 .assign = plx__host_assign,
                                                 .plsa = plx__host_plsa,
                                                 .plsa_mixture = plx__host_plsa_mixture,
                                                 .dot = plx__host_dot,
                                                 .pivots = plx__host_pivots};
