/*
 * MATLAB variables as matrices and labels.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "core/number.h"
#include "core/text.h"
#include "io/mat_impl.h"

/* ---- what a variable is ---- */

static bool is_full(const matvar_t *var)
{
    return (var->class_type >= MAT_C_DOUBLE && var->class_type <= MAT_C_UINT64) && var->rank == 2 && !var->isComplex;
}

static bool is_sparse(const matvar_t *var)
{
    return var->class_type == MAT_C_SPARSE && var->rank == 2 && !var->isComplex;
}

bool plx__mat_is_matrix(const matvar_t *var) { return is_full(var) || is_sparse(var); }

static plx_index rows_of(const matvar_t *var) { return (plx_index)var->dims[0]; }
static plx_index cols_of(const matvar_t *var) { return (plx_index)var->dims[1]; }

static plx_index cell_count(const matvar_t *var)
{
    plx_index count = 1;
    for (int d = 0; d < var->rank; d++)
        if (__builtin_mul_overflow(count, (plx_index)var->dims[d], &count)) return 0;
    return count;
}

/* Value k of an array, whatever its number type. The type of the data may differ from the class in v5 files;
 * matio has converted it to the class by now. */
static double value_at(const void *data, enum matio_types type, size_t k)
{
    switch (type) {
    case MAT_T_DOUBLE: return ((const double *)data)[k];
    case MAT_T_SINGLE: return ((const float *)data)[k];
    case MAT_T_INT8: return ((const int8_t *)data)[k];
    case MAT_T_UINT8: return ((const uint8_t *)data)[k];
    case MAT_T_INT16: return ((const int16_t *)data)[k];
    case MAT_T_UINT16: return ((const uint16_t *)data)[k];
    case MAT_T_INT32: return ((const int32_t *)data)[k];
    case MAT_T_UINT32: return ((const uint32_t *)data)[k];
    case MAT_T_INT64: return (double)((const int64_t *)data)[k];
    case MAT_T_UINT64: return (double)((const uint64_t *)data)[k];
    default: return NAN;
    }
}

static bool is_number_type(enum matio_types type)
{
    return (type >= MAT_T_INT8 && type <= MAT_T_SINGLE) || type == MAT_T_DOUBLE || type == MAT_T_INT64 ||
           type == MAT_T_UINT64;
}

static plx_status damaged(plx_context *ctx, const char *where, const matvar_t *var)
{
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: variable '%s' is damaged: its size and its values do not agree", where,
             var->name ? var->name : "(cell)");
}

/* ---- matrices ---- */

static plx_status full_table(plx__table *out, plx_context *ctx, plx__arena *arena, const char *where,
                             const matvar_t *var, bool transpose)
{
    plx_index rows = rows_of(var), cols = cols_of(var);
    size_t width = Mat_SizeOf(var->data_type);
    if (!is_number_type(var->data_type) ||
        (rows && cols && (!var->data || width == 0 || var->nbytes / width / (size_t)rows < (size_t)cols)))
        return damaged(ctx, where, var);
    PLX_TRY(transpose ? plx__arena_mat(&out->dense, arena, cols, rows)
                      : plx__arena_mat(&out->dense, arena, rows, cols));
    for (plx_index j = 0; j < cols; j++)
        for (plx_index i = 0; i < rows; i++) {
            double x = value_at(var->data, var->data_type, (size_t)(j * rows + i));
            out->dense.data[transpose ? j * rows + i : i * cols + j] = x;
        }
    return PLX_OK;
}

static bool sparse_is_sound(const mat_sparse_t *s, plx_index rows, plx_index cols)
{
    if (!s || (plx_index)s->njc < cols + 1 || !s->jc || s->jc[0] != 0) return false;
    for (plx_index j = 0; j < cols; j++)
        if (s->jc[j + 1] < s->jc[j]) return false;
    uint32_t stored = s->jc[cols];
    if (stored > s->nir || stored > s->ndata || (stored && (!s->ir || !s->data))) return false;
    for (uint32_t p = 0; p < stored; p++)
        if ((plx_index)s->ir[p] >= rows) return false;
    for (plx_index j = 0; j < cols; j++)
        for (uint32_t p = s->jc[j] + 1; p < s->jc[j + 1]; p++)
            if (s->ir[p] <= s->ir[p - 1]) return false;
    return true;
}

/* Columns of a sparse matrix are the rows of its transpose: copy, or counting sort by row. */
static void fill_csr(plx_csr *a, const mat_sparse_t *s, enum matio_types type, plx_index cols, bool transpose,
                     int64_t *next)
{
    for (plx_index j = 0; transpose && j < cols; j++) a->ptr[j + 1] = s->jc[j + 1];
    for (uint32_t p = 0; !transpose && p < s->jc[cols]; p++) a->ptr[s->ir[p] + 1]++;
    for (plx_index i = 0; !transpose && i < a->rows; i++) a->ptr[i + 1] += a->ptr[i];
    memcpy(next, a->ptr, (size_t)(a->rows + 1) * sizeof *next);
    for (plx_index j = 0; j < cols; j++)
        for (uint32_t p = s->jc[j]; p < s->jc[j + 1]; p++) {
            int64_t q = next[transpose ? j : s->ir[p]]++;
            a->col[q] = transpose ? (int32_t)s->ir[p] : (int32_t)j;
            a->val[q] = value_at(s->data, type, p);
        }
}

static plx_status sparse_table(plx__table *out, plx_context *ctx, plx__arena *arena, const char *where,
                               const matvar_t *var, bool transpose)
{
    plx_index rows = rows_of(var), cols = cols_of(var);
    const mat_sparse_t *s = var->data;
    int64_t *next = NULL;
    if (rows > INT32_MAX || cols > INT32_MAX || !is_number_type(var->data_type) || !sparse_is_sound(s, rows, cols))
        return damaged(ctx, where, var);
    out->sparse = true;
    PLX_TRY(plx__arena_csr(&out->csr, arena, transpose ? cols : rows, transpose ? rows : cols, s->jc[cols]));
    PLX_TRY(plx__arena_i64(&next, arena, out->csr.rows + 1));
    fill_csr(&out->csr, s, var->data_type, cols, transpose, next);
    return PLX_OK;
}

plx_status plx__mat_table(plx__table *out, plx_context *ctx, plx__arena *arena, const char *where, const matvar_t *var,
                          bool transpose)
{
    *out = (plx__table){0};
    return is_sparse(var) ? sparse_table(out, ctx, arena, where, var, transpose)
                          : full_table(out, ctx, arena, where, var, transpose);
}

/* ---- labels ---- */

static bool is_text(const matvar_t *var) { return var->class_type == MAT_C_CHAR && var->rank == 2; }

plx_index plx__mat_label_count(const matvar_t *var)
{
    if (var->class_type == MAT_C_CELL) return cell_count(var);
    if (is_text(var)) return rows_of(var);
    return plx__mat_is_matrix(var) ? plx__max(rows_of(var), cols_of(var)) : 0;
}

/* Row i of a char matrix as UTF-8 without trailing blanks. */
static plx_status char_row(const char **out, plx_context *ctx, plx__arena *arena, const char *where,
                           const matvar_t *var, plx_index i)
{
    plx_index rows = rows_of(var), cols = cols_of(var);
    size_t width = Mat_SizeOf(var->data_type), used = 0;
    char *text = NULL;
    bool utf8 = var->data_type == MAT_T_UTF8 || var->data_type == MAT_T_UINT8 || var->data_type == MAT_T_INT8;
    if (rows && cols && (!var->data || width == 0 || var->nbytes / width / (size_t)rows < (size_t)cols))
        return damaged(ctx, where, var);
    PLX_TRY(plx__arena_bytes((void **)&text, arena, 4 * cols + 1, 1));
    for (plx_index j = 0; j < cols; j++) {
        size_t k = (size_t)(j * rows + i);
        if (utf8) text[used++] = ((const char *)var->data)[k];
        else {
            int32_t code = width == 2   ? ((const uint16_t *)var->data)[k]
                           : width == 4 ? (int32_t)((const uint32_t *)var->data)[k]
                                        : '?';
            if (!utf8proc_codepoint_valid(code)) code = 0xFFFD;
            used += (size_t)utf8proc_encode_char(code, (utf8proc_uint8_t *)text + used);
        }
    }
    while (used && (text[used - 1] == ' ' || text[used - 1] == '\0')) used--;
    text[used] = '\0';
    *out = used ? text : NULL;
    return PLX_OK;
}

static plx_status number_label(const char **out, plx__arena *arena, double x)
{
    char number[PLX__NUMBER_BYTES];
    *out = NULL;
    if (isnan(x)) return PLX_OK;
    plx__print_short(number, x);
    return plx__arena_text(out, arena, number);
}

static plx_status cell_labels(const char **to, plx_context *ctx, plx__arena *arena, const char *where,
                              const matvar_t *var, plx_index n)
{
    matvar_t *const *cells = var->data;
    for (plx_index i = 0; i < n; i++) {
        const matvar_t *c = cells ? cells[i] : NULL;
        if (!c || c->rank != 2 || rows_of(c) == 0 || cols_of(c) == 0) continue;
        plx__table one;
        if (is_text(c) && rows_of(c) == 1) {
            PLX_TRY(char_row(&to[i], ctx, arena, where, c, 0));
        } else if (is_full(c) && rows_of(c) == 1 && cols_of(c) == 1) {
            PLX_TRY(full_table(&one, ctx, arena, where, c, false));
            PLX_TRY(number_label(&to[i], arena, one.dense.data[0]));
        } else {
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: '%s', cell %lld: neither a text nor a number", where, var->name,
                     (long long)i + 1);
        }
    }
    return PLX_OK;
}

/* A row with one non-zero is that class, with several a set "1|3", without any unlabelled. */
static plx_status indicator_label(const char **out, plx__arena *arena, const double *row, plx_index classes)
{
    plx__textbuf text;
    bool any = false;
    plx__textbuf_init(&text, arena);
    for (plx_index c = 0; c < classes; c++) {
        if (row[c] == 0 || isnan(row[c])) continue;
        plx__textbuf_printf(&text, "%s%lld", any ? "|" : "", (long long)c + 1);
        any = true;
    }
    *out = NULL;
    return any ? plx__textbuf_done(out, &text) : PLX_OK;
}

static plx_status dense_rows(plx_mat *out, plx_context *ctx, plx__arena *arena, const char *where, const matvar_t *var,
                             bool transpose)
{
    plx__table t;
    PLX_TRY(plx__mat_table(&t, ctx, arena, where, var, transpose));
    *out = t.dense;
    if (!t.sparse) return PLX_OK;
    PLX_TRY(plx__arena_mat(out, arena, t.csr.rows, t.csr.cols));
    for (plx_index i = 0; i < t.csr.rows; i++)
        for (int64_t p = t.csr.ptr[i]; p < t.csr.ptr[i + 1]; p++) out->data[i * out->ld + t.csr.col[p]] = t.csr.val[p];
    return PLX_OK;
}

static plx_status matrix_labels(const char **to, plx_context *ctx, plx__arena *arena, const char *where,
                                const matvar_t *var, plx_index n)
{
    plx_mat m;
    PLX_TRY(dense_rows(&m, ctx, arena, where, var, rows_of(var) != n));
    if (m.cols == 1) {
        for (plx_index i = 0; i < n; i++) PLX_TRY(number_label(&to[i], arena, m.data[i]));
        return PLX_OK;
    }
    for (plx_index k = 0; k < m.rows * m.cols; k++)
        if (m.data[k] != 0 && m.data[k] != 1 && m.data[k] != -1)
            PLX_FAIL(ctx, PLX_E_DATA, "%s: '%s' is %lld x %lld but not a one-hot matrix of 0 and 1", where, var->name,
                     (long long)rows_of(var), (long long)cols_of(var));
    for (plx_index k = 0; k < m.rows * m.cols; k++) m.data[k] = m.data[k] > 0;
    for (plx_index i = 0; i < n; i++) PLX_TRY(indicator_label(&to[i], arena, m.data + i * m.ld, m.cols));
    return PLX_OK;
}

plx_status plx__mat_labels(const char *const **out, plx_context *ctx, plx__arena *arena, const char *where,
                           const matvar_t *var, plx_index n)
{
    const char **texts = NULL;
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, n));
    *out = (const char *const *)texts;
    if (var->class_type == MAT_C_CELL) return cell_labels(texts, ctx, arena, where, var, n);
    if (!is_text(var)) return matrix_labels(texts, ctx, arena, where, var, n);
    for (plx_index i = 0; i < n; i++) PLX_TRY(char_row(&texts[i], ctx, arena, where, var, i));
    return PLX_OK;
}

/* ---- sizes ---- */

static plx_status check_members(plx_context *ctx, const char *where, const matvar_t *var, double file_bytes, int depth)
{
    plx_index count = cell_count(var);
    matvar_t *const *members = var->data;
    if (var->class_type == MAT_C_STRUCT) count *= (plx_index)Mat_VarGetNumberOfFields((matvar_t *)var);
    if ((double)count * 8 > file_bytes * 1100 + 1048576) return damaged(ctx, where, var);
    if (!members || var->nbytes / sizeof *members < (size_t)count) return PLX_OK;
    for (plx_index k = 0; k < count; k++)
        if (members[k]) PLX_TRY(plx__mat_check_size(ctx, where, members[k], file_bytes, depth + 1));
    return PLX_OK;
}

plx_status plx__mat_check_size(plx_context *ctx, const char *where, const matvar_t *var, double file_bytes, int depth)
{
    double values = 1;
    if (depth > 8) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: cells are nested too deeply", where);
    if (var->rank < 1 || var->rank > 16 || !var->dims)
        return var->class_type == MAT_C_EMPTY ? PLX_OK : damaged(ctx, where, var);
    for (int d = 0; d < var->rank; d++) values *= (double)var->dims[d];
    if (var->class_type == MAT_C_CELL || var->class_type == MAT_C_STRUCT)
        return check_members(ctx, where, var, file_bytes, depth);
    /* zlib gains at most a factor of about 1030. A sparse matrix stores at least one pointer per column. */
    double claimed = var->class_type == MAT_C_SPARSE ? 4.0 * (double)var->dims[var->rank - 1] : values;
    return claimed > file_bytes * 1100 + 1048576 ? damaged(ctx, where, var) : PLX_OK;
}
