/*
 * Adding views to a data set: everything a learner may rely on is checked here, once.
 */
#include <math.h>
#include <string.h>

#include "data/kernel_columns.h"
#include "linalg/csr.h"

static const char *const kind_names[] = {"real", "counts", "binary", "probability", "kernel"};
enum { N_KINDS = sizeof kind_names / sizeof *kind_names };

const char *plx__view_kind_name(plx_view_kind kind)
{
    return (int)kind >= 0 && (int)kind < N_KINDS ? kind_names[kind] : NULL;
}

plx_status plx__view_kind_parse(plx_view_kind *out, const char *name)
{
    for (int k = 0; k < N_KINDS; k++) {
        if (strcmp(name, kind_names[k]) != 0) continue;
        *out = (plx_view_kind)k;
        return PLX_OK;
    }
    return PLX_E_ARG;
}

/* ---- checks ---- */

bool plx__reserved_view_name(const char *name)
{
    return strcmp(name, "concat") == 0 || strcmp(name, "joined") == 0 || strcmp(name, "label") == 0;
}

static plx_status check_name(const plx_dataset *data, plx_context *ctx, const char *name)
{
    if (!name || !name[0]) PLX_FAIL(ctx, PLX_E_DATA, "a view has an empty name");
    if (strpbrk(name, ".,:|+/= \t\r\n"))
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s': a view name may not contain . , : | + / = or blanks", name);
    if (plx__reserved_view_name(name))
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s': this name is reserved; choose another", name);
    for (plx_index v = 0; v < data->n_views; v++)
        if (strcmp(data->views[v].name, name) == 0) PLX_FAIL(ctx, PLX_E_DATA, "duplicate view name '%s'", name);
    return PLX_OK;
}

static plx_status check_shape(const plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                              plx_index rows, plx_index cols)
{
    if ((int)kind < 0 || (int)kind >= N_KINDS) PLX_FAIL(ctx, PLX_E_ARG, "view '%s': unknown kind %d", name, (int)kind);
    if (rows != data->n)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' has %lld rows, expected %lld (one per sample)", name, (long long)rows,
                 (long long)data->n);
    if (cols < 1) PLX_FAIL(ctx, PLX_E_DATA, "view '%s' has no columns", name);
    if (cols > INT32_MAX)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' has %lld columns; at most 2147483647 are supported", name,
                 (long long)cols);
    return PLX_OK;
}

static plx_status check_value(plx_context *ctx, const plx__view *view, plx_index row, plx_index col, double x)
{
    const char *kind = kind_names[view->kind];
    if (isinf(x))
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' row %lld, column %lld: infinite value; values must be finite", view->name,
                 (long long)row, (long long)col);
    if (view->kind == PLX_VIEW_REAL || view->kind == PLX_VIEW_KERNEL) return PLX_OK;
    if (x < 0)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' row %lld, column %lld: negative value %g in a %s view; use kind \"real\"",
                 view->name, (long long)row, (long long)col, x, kind);
    if (view->kind == PLX_VIEW_BINARY && x > 0 && x != 1)
        PLX_FAIL(ctx, PLX_E_DATA,
                 "view '%s' row %lld, column %lld: value %g in a binary view; use kind \"counts\" or \"real\"",
                 view->name, (long long)row, (long long)col, x);
    return PLX_OK;
}

static plx_status copy_features(plx__view *view, plx_dataset *data, plx_context *ctx, const char *const *features)
{
    if (!features) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const char **copy = NULL;
    plx__map seen;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), view->cols));
    PLX_TRY(PLX__ARENA_NEW(&copy, &data->arena, view->cols));
    for (plx_index j = 0; j < view->cols; j++) {
        if (!features[j] || !features[j][0])
            PLX_FAIL(ctx, PLX_E_DATA, "view '%s': column %lld has an empty feature name", view->name, (long long)j);
        PLX_TRY(plx__arena_text(&copy[j], &data->arena, features[j]));
        PLX_TRY(plx__map_add(&seen, copy[j], j, &existing));
        if (existing >= 0)
            PLX_FAIL(ctx, PLX_E_DATA,
                     "view '%s': feature name '%s' stands for columns %lld and %lld; names must be distinct",
                     view->name, copy[j], (long long)existing, (long long)j);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    view->features = copy;
    return PLX_OK;
}

/* ---- copying ---- */

static void count_nans(plx__view *view, plx_index row, plx_index first, plx_index nans)
{
    if (nans && !view->missing_values) {
        view->nan_row = row;
        view->nan_col = first;
    }
    view->missing_values += nans;
}

/* Copies one present dense row, counts non-zeros and NaN; a row of NaN only turns out to be absent. */
static plx_status copy_dense_row(plx__view *view, plx_context *ctx, plx_index row, const double *from, double *to,
                                 uint8_t *present)
{
    plx_index nans = 0, nonzeros = 0, first = -1;
    for (plx_index j = 0; j < view->cols; j++) {
        double x = from[j];
        if (isnan(x)) first = nans++ ? first : j;
        else if (x != 0) {
            nonzeros++;
            PLX_TRY(check_value(ctx, view, row, j, x));
        }
        to[j] = x;
    }
    if (nans == view->cols) {
        memset(to, 0, (size_t)view->cols * sizeof *to);
        *present = 0;
        return PLX_OK;
    }
    count_nans(view, row, first, nans);
    view->nonzeros += nonzeros;
    view->present_count++;
    return PLX_OK;
}

static plx_status begin_view(plx__view *view, uint8_t **flags, plx_dataset *data, plx_context *ctx, const char *name,
                             plx_view_kind kind, plx_index rows, plx_index cols, const uint8_t *present)
{
    PLX_TRY(check_name(data, ctx, name));
    PLX_TRY(check_shape(data, ctx, name, kind, rows, cols));
    *view = (plx__view){.kind = kind, .cols = cols, .cost = 1.0};
    PLX_TRY(plx__arena_text(&view->name, &data->arena, name));
    PLX_TRY(plx__arena_u8(flags, &data->arena, data->n));
    for (plx_index i = 0; i < data->n; i++) (*flags)[i] = !present || present[i];
    view->present = *flags;
    return PLX_OK;
}

static plx_status push_view(plx_dataset *data, const plx__view *view)
{
    if (data->n_views == data->view_capacity) {
        plx__view *bigger = NULL;
        plx_index capacity = 2 * data->view_capacity + 4;
        PLX_TRY(PLX__ARENA_NEW(&bigger, &data->arena, capacity));
        if (data->n_views) memcpy(bigger, data->views, (size_t)data->n_views * sizeof *bigger);
        data->views = bigger;
        data->view_capacity = capacity;
    }
    data->views[data->n_views++] = *view;
    return PLX_OK;
}

plx_status plx__dataset_add_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                  plx_cmat values, const char *const *features, const uint8_t *present)
{
    plx__view view;
    plx_mat copy;
    uint8_t *flags = NULL;
    PLX_TRY(begin_view(&view, &flags, data, ctx, name, kind, values.rows, values.cols, present));
    PLX_TRY(plx__arena_mat(&copy, &data->arena, values.rows, values.cols));
    for (plx_index i = 0; i < values.rows; i++)
        if (flags[i])
            PLX_TRY(copy_dense_row(&view, ctx, i, values.data + i * values.ld, copy.data + i * copy.ld, &flags[i]));
    view.dense = plx__cmat(copy);
    PLX_TRY(copy_features(&view, data, ctx, features));
    if (kind == PLX_VIEW_KERNEL) PLX_TRY(plx__kernel_clear_nan(&view, ctx, copy, (plx_csr){0}, data->ids, data->n));
    return push_view(data, &view);
}

static plx_status check_csr(plx_context *ctx, const char *name, plx_ccsr values)
{
    const char *what = NULL;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(ctx), "view '%s'", name));
    return plx__csr_check_shape(ctx, values, -1, what);
}

/* Appends one present row without its explicit zeros; all NaN over all columns means absent. */
static plx_status copy_sparse_row(plx__view *view, plx_context *ctx, plx_index row, plx_ccsr from, plx_csr *to,
                                  uint8_t *present)
{
    int64_t out = to->ptr[row];
    plx_index nans = 0, first = -1;
    for (int64_t p = from.ptr[row]; p < from.ptr[row + 1]; p++) {
        double x = from.val[p];
        if (x == 0) continue;
        if (isnan(x)) first = nans++ ? first : from.col[p];
        else PLX_TRY(check_value(ctx, view, row, from.col[p], x));
        to->col[out] = from.col[p];
        to->val[out++] = x;
    }
    if (nans == view->cols) {
        *present = 0;
        out = to->ptr[row];
    } else {
        count_nans(view, row, first, nans);
        view->nonzeros += (plx_index)(out - to->ptr[row]) - nans;
        view->present_count++;
    }
    to->ptr[row + 1] = out;
    return PLX_OK;
}

plx_status plx__dataset_add_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                   plx_ccsr values, const char *const *features, const uint8_t *present)
{
    plx__view view;
    plx_csr copy;
    uint8_t *flags = NULL;
    PLX_TRY(begin_view(&view, &flags, data, ctx, name, kind, values.rows, values.cols, present));
    PLX_TRY(check_csr(ctx, name, values));
    PLX_TRY(plx__arena_csr(&copy, &data->arena, values.rows, values.cols, values.ptr[values.rows]));
    for (plx_index i = 0; i < values.rows; i++) {
        if (flags[i]) PLX_TRY(copy_sparse_row(&view, ctx, i, values, &copy, &flags[i]));
        else copy.ptr[i + 1] = copy.ptr[i];
    }
    view.sparse = true;
    view.csr = plx__ccsr(copy);
    PLX_TRY(copy_features(&view, data, ctx, features));
    if (kind == PLX_VIEW_KERNEL) PLX_TRY(plx__kernel_clear_nan(&view, ctx, (plx_mat){0}, copy, data->ids, data->n));
    return push_view(data, &view);
}
