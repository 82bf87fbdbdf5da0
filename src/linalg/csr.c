/*
 * CSR matrices: checking what comes from outside, and making new ones from old ones.
 */
#include "linalg/csr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checking ---- */

/* Ascending from 0 or more to less than the number of columns; without branches, as nearly all rows are. */
static bool row_ascends(plx_ccsr a, int64_t begin, int64_t end)
{
    if (begin == end) return true;
    int bad = (a.col[begin] < 0) | (a.col[end - 1] >= a.cols);
    for (int64_t p = begin + 1; p < end; p++) bad |= a.col[p] <= a.col[p - 1];
    return !bad;
}

static plx_status check_row(plx_context *ctx, plx_ccsr a, plx_index i, const char *what)
{
    int64_t before = -1;
    if (row_ascends(a, a.ptr[i], a.ptr[i + 1])) return PLX_OK;
    for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
        int64_t c = a.col[p];
        if (c < 0 || c >= a.cols)
            PLX_FAIL(ctx, PLX_E_DATA, "%s row %lld: column %lld is outside 0..%lld", what, (long long)i, (long long)c,
                     (long long)a.cols - 1);
        if (c <= before)
            PLX_FAIL(ctx, PLX_E_DATA, "%s row %lld: column %lld comes %s; columns must ascend", what, (long long)i,
                     (long long)c, c == before ? "twice" : "after a larger one");
        before = c;
    }
    return PLX_OK;
}

plx_status plx__csr_check_shape(plx_context *ctx, plx_ccsr a, plx_index entries, const char *what)
{
    if (a.rows < 0 || a.cols < 0 || a.cols > INT32_MAX)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: %lld x %lld is not a size a sparse matrix can have", what, (long long)a.rows,
                 (long long)a.cols);
    if (a.ptr[0] != 0) PLX_FAIL(ctx, PLX_E_DATA, "%s: the first row offset is %lld, not 0", what, (long long)a.ptr[0]);
    for (plx_index i = 0; i < a.rows; i++) /* all offsets first: a row may only be read inside them */
        if (a.ptr[i + 1] < a.ptr[i])
            PLX_FAIL(ctx, PLX_E_DATA, "%s row %lld: row offsets must not decrease", what, (long long)i);
    if (entries >= 0 && a.ptr[a.rows] != entries)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: the last row offset is %lld, but there are %lld entries", what,
                 (long long)a.ptr[a.rows], (long long)entries);
    if (a.ptr[a.rows] > 0 && (!a.col || !a.val))
        PLX_FAIL(ctx, PLX_E_ARG, "%s: the columns or values of its %lld entries are NULL", what,
                 (long long)a.ptr[a.rows]);
    for (plx_index i = 0; i < a.rows; i++) PLX_TRY(check_row(ctx, a, i, what));
    return PLX_OK;
}

plx_status plx__csr_check(plx_context *ctx, plx_ccsr a, const char *what)
{
    PLX_TRY(plx__csr_check_shape(ctx, a, -1, what));
    for (plx_index i = 0; i < a.rows; i++)
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++)
            if (!isfinite(a.val[p]))
                PLX_FAIL(ctx, PLX_E_DATA, "%s row %lld column %lld: value is not finite", what, (long long)i,
                         (long long)a.col[p]);
    return PLX_OK;
}

/* ---- from triplets ---- */

static plx_status check_triplets(plx_context *ctx, plx_index rows, plx_index cols, plx_index count, const int32_t *row,
                                 const int32_t *col)
{
    for (plx_index t = 0; t < count; t++)
        if (row[t] < 0 || row[t] >= rows || col[t] < 0 || col[t] >= cols)
            PLX_FAIL(ctx, PLX_E_DATA, "entry %lld at (%d, %d) lies outside the %lld x %lld matrix", (long long)t,
                     (int)row[t], (int)col[t], (long long)rows, (long long)cols);
    return PLX_OK;
}

/* Stable counting sort of `order` by key[order[t]]. `start` has room for buckets + 1. */
static void sort_stable(int64_t *sorted, const int64_t *order, const int32_t *key, plx_index count, int64_t *start,
                        plx_index buckets)
{
    memset(start, 0, (size_t)(buckets + 1) * sizeof *start);
    for (plx_index t = 0; t < count; t++) start[key[t] + 1]++;
    for (plx_index b = 0; b < buckets; b++) start[b + 1] += start[b];
    for (plx_index t = 0; t < count; t++) {
        int64_t from = order ? order[t] : t;
        sorted[start[key[from]]++] = from;
    }
}

/* Sum runs of equal columns inside each row; returns the entries left. */
static int64_t sum_duplicates(plx_csr a)
{
    int64_t to = 0, from = 0;
    for (plx_index i = 0; i < a.rows; i++) {
        int64_t begin = to, end = a.ptr[i + 1];
        for (; from < end; from++) {
            if (to > begin && a.col[to - 1] == a.col[from]) {
                a.val[to - 1] += a.val[from];
                continue;
            }
            a.col[to] = a.col[from];
            a.val[to++] = a.val[from];
        }
        a.ptr[i + 1] = to;
    }
    return to;
}

plx_status plx__csr_from_triplets(plx_csr *out, plx__arena *arena, plx_index rows, plx_index cols, plx_index count,
                                  const int32_t *row, const int32_t *col, const double *val)
{
    plx_context *ctx = arena->ctx;
    int64_t *by_col = NULL, *order = NULL, *start = NULL;
    PLX_TRY(check_triplets(ctx, rows, cols, count, row, col));
    PLX_TRY(plx__arena_csr(out, arena, rows, cols, count));
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    PLX_TRY(plx__arena_i64(&by_col, scratch, count));
    PLX_TRY(plx__arena_i64(&order, scratch, count));
    PLX_TRY(plx__arena_i64(&start, scratch, plx__max(rows, cols) + 1));
    sort_stable(by_col, NULL, col, count, start, cols);
    sort_stable(order, by_col, row, count, start, rows);
    for (plx_index t = 0; t < count; t++) {
        out->ptr[row[t] + 1]++;
        out->col[t] = col[order[t]];
        out->val[t] = val[order[t]];
    }
    for (plx_index i = 0; i < rows; i++) out->ptr[i + 1] += out->ptr[i];
    sum_duplicates(*out);
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- sorting rows ---- */

typedef struct entry {
    int32_t col;
    int64_t place;
    double val;
} entry;

static int compare_entries(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->col != b->col) return a->col < b->col ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static bool row_sorted(plx_ccsr a, plx_index i)
{
    for (int64_t p = a.ptr[i] + 1; p < a.ptr[i + 1]; p++)
        if (a.col[p] <= a.col[p - 1]) return false;
    return true;
}

static void sort_row(plx_csr a, plx_index i, entry *work)
{
    int64_t begin = a.ptr[i], count = a.ptr[i + 1] - begin;
    for (int64_t t = 0; t < count; t++) work[t] = (entry){a.col[begin + t], t, a.val[begin + t]};
    qsort(work, (size_t)count, sizeof *work, compare_entries);
    for (int64_t t = 0; t < count; t++) {
        a.col[begin + t] = work[t].col;
        a.val[begin + t] = work[t].val;
    }
}

plx_status plx__csr_sort_rows(plx_context *ctx, plx_csr *a)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index longest = 0;
    entry *work = NULL;
    for (plx_index i = 0; i < a->rows; i++)
        if (!row_sorted(plx__ccsr(*a), i)) longest = plx__max(longest, a->ptr[i + 1] - a->ptr[i]);
    if (longest == 0) return PLX_OK;
    PLX_TRY(plx__arena_bytes((void **)&work, plx__scratch(ctx), longest, sizeof *work));
    for (plx_index i = 0; i < a->rows; i++)
        if (!row_sorted(plx__ccsr(*a), i)) sort_row(*a, i, work);
    sum_duplicates(*a);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- copies ---- */

plx_status plx__csr_clone(plx_csr *out, plx__arena *arena, plx_ccsr a)
{
    PLX_TRY(plx__arena_csr(out, arena, a.rows, a.cols, plx__nnz(a)));
    memcpy(out->ptr, a.ptr, (size_t)(a.rows + 1) * sizeof *a.ptr);
    if (plx__nnz(a) == 0) return PLX_OK;
    memcpy(out->col, a.col, (size_t)plx__nnz(a) * sizeof *a.col);
    memcpy(out->val, a.val, (size_t)plx__nnz(a) * sizeof *a.val);
    return PLX_OK;
}

/* Accepts a row range (ptr[0] != 0) too. Rows of the result come out sorted because rows of `a` are
 * visited in order. */
plx_status plx__csr_transpose(plx_csr *out, plx__arena *arena, plx_ccsr a)
{
    int64_t first = a.ptr[0], last = a.ptr[a.rows];
    if (a.rows > INT32_MAX)
        return plx__fail(arena->ctx, PLX_E_NOMEM, "a sparse matrix of %lld rows is too large to transpose",
                         (long long)a.rows);
    PLX_TRY(plx__arena_csr(out, arena, a.cols, a.rows, last - first));
    for (int64_t p = first; p < last; p++) out->ptr[a.col[p] + 1]++;
    for (plx_index j = 0; j < a.cols; j++) out->ptr[j + 1] += out->ptr[j];
    for (plx_index i = 0; i < a.rows; i++) {
        plx__breathe(arena->ctx, i);
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            int64_t to = out->ptr[a.col[p]]++;
            out->col[to] = (int32_t)i;
            out->val[to] = a.val[p];
        }
    }
    for (plx_index j = a.cols; j > 0; j--) out->ptr[j] = out->ptr[j - 1]; /* undo the running increments */
    out->ptr[0] = 0;
    return PLX_OK;
}

plx_status plx__csr_select_rows(plx_csr *out, plx__arena *arena, plx_ccsr a, const plx_index *rows, plx_index count)
{
    int64_t nnz = 0;
    for (plx_index i = 0; i < count; i++) nnz += a.ptr[rows[i] + 1] - a.ptr[rows[i]];
    PLX_TRY(plx__arena_csr(out, arena, count, a.cols, nnz));
    for (plx_index i = 0; i < count; i++) {
        int64_t from = a.ptr[rows[i]], len = a.ptr[rows[i] + 1] - from, to = out->ptr[i];
        plx__breathe(arena->ctx, i);
        if (len > 0) {
            memcpy(out->col + to, a.col + from, (size_t)len * sizeof *a.col);
            memcpy(out->val + to, a.val + from, (size_t)len * sizeof *a.val);
        }
        out->ptr[i + 1] = to + len;
    }
    return PLX_OK;
}

plx_status plx__csr_move_cols(plx_csr *out, plx__arena *arena, plx_ccsr a, const int32_t *target, plx_index cols)
{
    int64_t nnz = 0, to = 0;
    for (int64_t p = 0; p < plx__nnz(a); p++) nnz += target[a.col[p]] >= 0;
    PLX_TRY(plx__arena_csr(out, arena, a.rows, cols, nnz));
    for (plx_index i = 0; i < a.rows; i++) {
        plx__breathe(arena->ctx, i);
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            if (target[a.col[p]] < 0) continue;
            out->col[to] = target[a.col[p]];
            out->val[to++] = a.val[p];
        }
        out->ptr[i + 1] = to;
    }
    return plx__csr_sort_rows(arena->ctx, out);
}

plx_status plx__csr_select_cols(plx_csr *out, plx__arena *arena, plx_ccsr a, const plx_index *cols, plx_index count)
{
    int32_t *target = NULL;
    PLX_TRY(plx__arena_i32(&target, plx__scratch(arena->ctx), a.cols));
    for (plx_index j = 0; j < a.cols; j++) target[j] = -1;
    for (plx_index j = 0; j < count; j++) target[cols[j]] = (int32_t)j;
    return plx__csr_move_cols(out, arena, a, target, count);
}

plx_status plx__csr_from_dense(plx_csr *out, plx__arena *arena, plx_cmat a)
{
    int64_t nnz = 0, to = 0;
    if (a.cols > INT32_MAX) return plx__fail(arena->ctx, PLX_E_NOMEM, "too many columns for a sparse matrix");
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index j = 0; j < a.cols; j++) nnz += a.data[i * a.ld + j] != 0;
    PLX_TRY(plx__arena_csr(out, arena, a.rows, a.cols, nnz));
    for (plx_index i = 0; i < a.rows; i++) {
        for (plx_index j = 0; j < a.cols; j++) {
            double v = a.data[i * a.ld + j];
            if (v == 0) continue;
            out->col[to] = (int32_t)j;
            out->val[to++] = v;
        }
        out->ptr[i + 1] = to;
    }
    return PLX_OK;
}

void plx__csr_to_dense(plx_mat out, plx_ccsr a)
{
    for (plx_index i = 0; i < a.rows; i++) {
        double *row = out.data + i * out.ld;
        for (plx_index j = 0; j < a.cols; j++) row[j] = 0;
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) row[a.col[p]] = a.val[p];
    }
}

plx_status plx__csr_hstack(plx_csr *out, plx__arena *arena, const plx_ccsr *parts, plx_index count)
{
    plx_index rows = count ? parts[0].rows : 0, cols = 0, nnz = 0, to = 0;
    for (plx_index k = 0; k < count; k++) {
        cols += parts[k].cols;
        nnz += plx__nnz(parts[k]);
    }
    if (cols > INT32_MAX)
        return plx__fail(arena->ctx, PLX_E_NOMEM, "%lld columns are too many for a sparse matrix", (long long)cols);
    PLX_TRY(plx__arena_csr(out, arena, rows, cols, nnz));
    for (plx_index i = 0; i < rows; i++) {
        plx_index shift = 0;
        plx__breathe(arena->ctx, i);
        for (plx_index k = 0; k < count; shift += parts[k++].cols)
            for (int64_t p = parts[k].ptr[i]; p < parts[k].ptr[i + 1]; p++) {
                out->col[to] = (int32_t)(parts[k].col[p] + shift);
                out->val[to++] = parts[k].val[p];
            }
        out->ptr[i + 1] = to;
    }
    return PLX_OK;
}

/* ---- sums and products of two sparse matrices ---- */

plx_status plx__csr_add(plx_csr *out, plx__arena *arena, double alpha, plx_ccsr a, double beta, plx_ccsr b)
{
    int64_t to = 0;
    PLX_ASSERT(a.rows == b.rows && a.cols == b.cols);
    PLX_TRY(plx__arena_csr(out, arena, a.rows, a.cols, a.ptr[a.rows] - a.ptr[0] + b.ptr[b.rows] - b.ptr[0]));
    for (plx_index i = 0; i < a.rows; i++) {
        int64_t p = a.ptr[i], q = b.ptr[i];
        while (p < a.ptr[i + 1] || q < b.ptr[i + 1]) {
            int64_t ca = p < a.ptr[i + 1] ? a.col[p] : INT64_MAX, cb = q < b.ptr[i + 1] ? b.col[q] : INT64_MAX;
            double v = 0;
            if (ca <= cb) v += alpha * a.val[p++];
            if (cb <= ca) v += beta * b.val[q++];
            out->col[to] = (int32_t)(ca < cb ? ca : cb);
            out->val[to++] = v;
        }
        out->ptr[i + 1] = to;
    }
    return PLX_OK;
}

/* Gustavson's row by row product: `mark` says in which row a column was last met. */
static int64_t product_row(plx_ccsr a, plx_ccsr b, plx_index i, int64_t *met, double *sum, int32_t *list)
{
    int64_t count = 0;
    for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
        plx_index k = a.col[p];
        for (int64_t q = b.ptr[k]; q < b.ptr[k + 1]; q++) {
            int32_t c = b.col[q];
            if (met[c] != i + 1) {
                met[c] = i + 1;
                sum[c] = 0;
                list[count++] = c;
            }
            sum[c] += a.val[p] * b.val[q];
        }
    }
    return count;
}

static int compare_columns(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

plx_status plx__csr_matmul(plx_csr *out, plx__arena *arena, plx_ccsr a, plx_ccsr b)
{
    plx__arena *scratch = plx__scratch(arena->ctx);
    int64_t *met = NULL, nnz = 0, to = 0;
    double *sum = NULL;
    int32_t *list = NULL;
    PLX_ASSERT(a.cols == b.rows);
    PLX_TRY(plx__arena_i64(&met, scratch, b.cols));
    PLX_TRY(plx__arena_f64(&sum, scratch, b.cols, 1));
    PLX_TRY(plx__arena_i32(&list, scratch, b.cols));
    for (plx_index i = 0; i < a.rows; i++) nnz += product_row(a, b, i, met, sum, list);
    memset(met, 0, (size_t)b.cols * sizeof *met);
    PLX_TRY(plx__arena_csr(out, arena, a.rows, b.cols, nnz));
    for (plx_index i = 0; i < a.rows; i++) {
        int64_t count = product_row(a, b, i, met, sum, list);
        qsort(list, (size_t)count, sizeof *list, compare_columns);
        for (int64_t t = 0; t < count; t++) {
            out->col[to] = list[t];
            out->val[to++] = sum[list[t]];
        }
        out->ptr[i + 1] = to;
    }
    return PLX_OK;
}
