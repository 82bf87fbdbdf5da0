/*
 * NumPy's .npy: magic, version, length of the header, the header as a Python dictionary, then the raw array.
 * The dictionary is read by looking for its three keys; whatever value they hold that is not ours is refused by name.
 */
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/parallel.h"
#include "data/divided.h"
#include "io/text_chunks.h"
#include "io/joined_file.h"

typedef struct header {
    const char *name;
    char kind; /* f, i, u, b */
    int bytes; /* of one value */
    bool swapped, fortran;
    plx_index rows, cols;
    const unsigned char *body;
    size_t body_bytes;
} header;

/* ---- header ---- */

static plx_status bad_header(plx_context *ctx, const header *h, const char *what)
{
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: damaged .npy header: %s", h->name, what);
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r'))) p++;
    return p;
}

/* What stands behind `'key':` in [p, end), or NULL. */
static const char *value_of(const char *p, const char *end, const char *key)
{
    size_t len = strlen(key);
    for (; end - p >= (ptrdiff_t)len + 2; p++) {
        if ((*p != '\'' && *p != '"') || memcmp(p + 1, key, len) != 0 || p[len + 1] != *p) continue;
        const char *q = skip_space(p + len + 2, end);
        if (q < end && *q == ':') return skip_space(q + 1, end);
    }
    return NULL;
}

/* '<f8' and its relatives */
static plx_status read_type(header *h, plx_context *ctx, const char *p, const char *end)
{
    char shown[PLX__EXCERPT_BYTES];
    if (p < end && *p == '[')
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: a structured array; save its columns as a plain 2-D array", h->name);
    if (p == end || (*p != '\'' && *p != '"')) return bad_header(ctx, h, "'descr' is not a type");
    const char *stop = memchr(p + 1, *p, (size_t)(end - p - 1));
    if (!stop) return bad_header(ctx, h, "'descr' is not a type");
    size_t len = (size_t)(stop - p - 1);
    const char *type = p + 1;
    bool order = len == 3 && (type[0] == '<' || type[0] == '>' || type[0] == '=' || type[0] == '|');
    h->kind = order ? type[1] : '\0';
    h->bytes = order ? type[2] - '0' : 0;
    bool size = h->bytes == 1 || h->bytes == 2 || h->bytes == 4 || h->bytes == 8;
    bool known = (h->kind == 'f' && (h->bytes == 4 || h->bytes == 8)) || (h->kind == 'b' && h->bytes == 1) ||
                 ((h->kind == 'i' || h->kind == 'u') && size);
    if (!known)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: values of type '%s' are not supported; save as float64", h->name,
                 plx__excerpt(shown, type, len));
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    h->swapped = type[0] == (little ? '>' : '<') && h->bytes > 1;
    return PLX_OK;
}

/* (3, 4) or (3,) */
static plx_status read_shape(header *h, plx_context *ctx, const char *p, const char *end)
{
    plx_index sizes[2] = {0, 1};
    int rank = 0;
    if (p == end || *p != '(') return bad_header(ctx, h, "'shape' is not a tuple");
    for (p = skip_space(p + 1, end); p < end && *p != ')'; rank++) {
        if (rank == 2)
            PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: an array of more than two dimensions; reshape it to 2-D", h->name);
        p = plx__read_int64(&sizes[rank], p, end);
        if (!p || sizes[rank] < 0) return bad_header(ctx, h, "'shape' holds no size");
        p = skip_space(p, end);
        if (p < end && *p == 'L') p++; /* Python 2 */
        if (p < end && *p == ',') p = skip_space(p + 1, end);
        else if (p == end || *p != ')') return bad_header(ctx, h, "'shape' is not closed");
    }
    if (p == end) return bad_header(ctx, h, "'shape' is not closed");
    if (rank == 0) PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: a single number, expected a 1-D or 2-D array", h->name);
    h->rows = sizes[0];
    h->cols = sizes[1];
    return PLX_OK;
}

static plx_status read_dictionary(header *h, plx_context *ctx, const char *p, const char *end)
{
    const char *type = value_of(p, end, "descr"), *order = value_of(p, end, "fortran_order"),
               *shape = value_of(p, end, "shape");
    if (!type || !order || !shape) return bad_header(ctx, h, "it lacks 'descr', 'fortran_order' or 'shape'");
    PLX_TRY(read_type(h, ctx, type, end));
    PLX_TRY(read_shape(h, ctx, shape, end));
    h->fortran = end - order >= 4 && memcmp(order, "True", 4) == 0;
    if (!h->fortran && (end - order < 5 || memcmp(order, "False", 5) != 0))
        return bad_header(ctx, h, "'fortran_order' is neither True nor False");
    return PLX_OK;
}

static plx_status read_header(header *h, plx_context *ctx, const char *data, size_t size)
{
    const unsigned char *u = (const unsigned char *)data;
    if (size < 10 || memcmp(data, "\x93NUMPY", 6) != 0) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: not a .npy file", h->name);
    size_t prefix = u[6] == 1 ? 10 : 12, len = (size_t)u[8] | (size_t)u[9] << 8;
    if (u[6] < 1 || u[6] > 3)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: version %d of the .npy format; known are 1 to 3", h->name, u[6]);
    if (size < prefix) return bad_header(ctx, h, "the file ends inside it");
    if (prefix == 12) len |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (len > size - prefix) return bad_header(ctx, h, "the file ends inside it");
    PLX_TRY(read_dictionary(h, ctx, data + prefix, data + prefix + len));
    h->body = u + prefix + len;
    h->body_bytes = size - prefix - len;
    return PLX_OK;
}

static plx_status check_sizes(const header *h, plx_context *ctx)
{
    char what[256];
    plx_index count = 0, bytes = 0;
    if (__builtin_mul_overflow(h->rows, h->cols, &count) || __builtin_mul_overflow(count, h->bytes, &bytes))
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: a shape of %lld x %lld is too large", h->name, (long long)h->rows,
                 (long long)h->cols);
    if (h->cols == 0) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the array has no columns", h->name);
    if ((size_t)bytes != h->body_bytes)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: %lld x %lld values of %d bytes need %lld bytes, the file has %zu", h->name,
                 (long long)h->rows, (long long)h->cols, h->bytes, (long long)bytes, h->body_bytes);
    snprintf(what, sizeof what, "%s: a matrix of %lld x %lld", h->name, (long long)h->rows, (long long)h->cols);
    return plx__need_memory(ctx, 8.0 * (double)count, what, "read fewer rows or columns");
}

/* ---- values ---- */

static inline uint64_t raw_value(const unsigned char *p, int bytes, bool swapped)
{
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (bytes) {
    case 1: memcpy(&b1, p, 1); return b1;
    case 2: memcpy(&b2, p, 2); return swapped ? __builtin_bswap16(b2) : b2;
    case 4: memcpy(&b4, p, 4); return swapped ? __builtin_bswap32(b4) : b4;
    default: memcpy(&b8, p, 8); return swapped ? __builtin_bswap64(b8) : b8;
    }
}

static inline double value_at(const header *h, const unsigned char *p)
{
    uint64_t raw = raw_value(p, h->bytes, h->swapped);
    float single;
    double value;
    uint32_t low = (uint32_t)raw;
    int unused = 64 - 8 * h->bytes;
    switch (h->kind) {
    case 'f':
        if (h->bytes == 8) {
            memcpy(&value, &raw, 8);
            return value;
        }
        memcpy(&single, &low, 4);
        return (double)single;
    case 'i': return (double)((int64_t)(raw << unused) >> unused); /* carry the sign up */
    case 'b': return raw != 0;
    default: return (double)raw;
    }
}

typedef struct convert_job {
    const header *h;
    double *out;          /* where row 0 is, or would be */
    plx_index begin, end; /* rows that are wanted */
    plx_index first;      /* row the running part starts with */
} convert_job;

static plx_status convert_rows(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    convert_job *job = job_;
    const header *h = job->h;
    begin += job->first;
    end += job->first;
    bool plain = h->kind == 'f' && h->bytes == 8 && !h->swapped;
    if (!h->fortran && plain) {
        memcpy(job->out + begin * h->cols, h->body + begin * h->cols * 8, (size_t)((end - begin) * h->cols) * 8);
    } else if (!h->fortran) {
        for (plx_index k = begin * h->cols; k < end * h->cols; k++) job->out[k] = value_at(h, h->body + k * h->bytes);
    } else {
        for (plx_index j = 0; j < h->cols; j++)
            for (plx_index i = begin; i < end; i++)
                job->out[i * h->cols + j] = value_at(h, h->body + (j * h->rows + i) * h->bytes);
    }
    return PLX_OK;
}

/* Part by part, so that the file leaves memory as the values enter it; by columns every part needs the whole file. */
static plx_status convert_all(plx_context *ctx, convert_job *job)
{
    enum { PART = 1 << 23 };
    const header *h = job->h;
    plx_index grain = plx__max(1, plx__min(64, 65536 / h->cols)); /* 64 rows of a column share cache lines */
    plx_index row_bytes = h->cols * h->bytes, part = h->fortran ? h->rows : plx__max(grain, PART / row_bytes);
    for (job->first = job->begin; job->first < job->end; job->first += part) {
        plx_index rows = plx__min(part, job->end - job->first);
        const char *from = (const char *)h->body + job->first * row_bytes;
        PLX_TRY(plx__parallel_for(ctx, rows, grain, convert_rows, job));
        if (!h->fortran) plx__bytes_forget(from, from + rows * row_bytes);
    }
    return PLX_OK;
}

/* `some`: only the rows that the context asks for. */
static plx_status parse(plx__table *out, plx_context *ctx, plx__arena *arena, header *h, const char *data, size_t size,
                        bool some)
{
    convert_job job = {.h = h};
    *out = (plx__table){0};
    PLX_TRY(read_header(h, ctx, data, size));
    PLX_TRY(check_sizes(h, ctx));
    job.end = h->rows;
    out->divided = some && plx__share_wanted(&job.begin, &job.end, ctx, h->rows);
    out->begin = job.begin;
    out->end = job.end;
    PLX_TRY(plx__arena_bytes((void **)&job.out, arena, (job.end - job.begin) * h->cols, sizeof(double)));
    if (job.begin) job.out = plx__rows_at(job.out, job.begin, h->cols);
    if (job.end > job.begin && h->cols > 0) PLX_TRY(convert_all(ctx, &job));
    out->dense = (plx_mat){job.out, h->rows, h->cols, h->cols};
    return PLX_OK;
}

plx_status plx__npy_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                          size_t size)
{
    return parse(out, ctx, arena, &(header){.name = name}, data, size, false);
}

plx_status plx__npy_parse_share(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name,
                                const char *data, size_t size)
{
    return parse(out, ctx, arena, &(header){.name = name}, data, size, true);
}

plx_status plx__npy_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path)
{
    plx__bytes bytes;
    *out = (plx__table){0};
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx_status st = plx__npy_parse(out, ctx, arena, path, bytes.data, bytes.size);
    plx__bytes_free(&bytes, ctx);
    return st;
}

/* ---- writing ---- */

/* The header is padded with blanks so that the values start at a multiple of 64. */
static void write_npy_header(FILE *f, plx_index rows, plx_index cols)
{
    char text[192];
    int len = snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld), }",
                       (long long)rows, (long long)cols);
    int total = (10 + len + 1 + 63) / 64 * 64 - 10;
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc(total & 0xFF, f);
    fputc(total >> 8, f);
    fprintf(f, "%-*s\n", total - 1, text);
}

static void write_values(FILE *f, const double *x, plx_index n)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        fwrite(x, sizeof *x, (size_t)n, f);
        return;
    }
    for (plx_index i = 0; i < n; i++) {
        uint64_t raw;
        memcpy(&raw, &x[i], sizeof raw);
        raw = __builtin_bswap64(raw);
        fwrite(&raw, sizeof raw, 1, f);
    }
}

static plx_status write_all_rows(FILE *f, plx_context *ctx, const plx__table *t)
{
    plx_index rows = t->sparse ? t->csr.rows : t->dense.rows, cols = t->sparse ? t->csr.cols : t->dense.cols;
    double *row = NULL;
    if (t->sparse) PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), 1, cols));
    for (plx_index i = 0; i < rows; i++) {
        if (i % 4096 == 0) PLX_TRY(plx__poll(ctx));
        if (!t->sparse) {
            write_values(f, t->dense.data + i * t->dense.ld, cols);
            continue;
        }
        memset(row, 0, (size_t)cols * sizeof *row);
        for (plx_index k = t->csr.ptr[i]; k < t->csr.ptr[i + 1]; k++) row[t->csr.col[k]] = t->csr.val[k];
        write_values(f, row, cols);
    }
    return PLX_OK;
}

plx_status plx__npy_write(plx_context *ctx, const char *path, const plx__table *table)
{
    plx__joined file;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index rows = table->rows_in_all ? table->rows_in_all : plx__table_rows(table);
    plx_status st = plx__joined_open(&file, ctx, path, table->rows_in_all > 0);
    if (st == PLX_OK && file.first) write_npy_header(file.out.file, rows, plx__table_cols(table));
    if (st == PLX_OK) st = write_all_rows(file.out.file, ctx, table);
    st = plx__joined_close(&file, ctx, st);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}
