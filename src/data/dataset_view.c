/*
 * Adding views to a data set: everything a learner may rely on is checked here, once.
 */
#include <math.h>
#include <string.h>

#include "data/divided.h"
#include "data/kernel_columns.h"
#include "data/value_facts.h"
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

/* Names in the block, distinct and not empty. */
static plx_status keep_features(plx__view *view, plx_context *ctx, plx__arena *block, const plx__view_source *source)
{
    if (!source->features) return PLX_OK;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const char **copy = NULL, *const *names = source->features;
    plx__map seen;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), view->cols));
    if (!source->features_in_block) PLX_TRY(PLX__ARENA_NEW(&copy, block, view->cols));
    for (plx_index j = 0; j < view->cols; j++) {
        if (!names[j] || !names[j][0])
            PLX_FAIL(ctx, PLX_E_DATA, "view '%s': column %lld has an empty feature name", view->name, (long long)j);
        if (copy) PLX_TRY(plx__arena_text(&copy[j], block, names[j]));
        PLX_TRY(plx__map_add(&seen, names[j], j, &existing));
        if (existing >= 0)
            PLX_FAIL(ctx, PLX_E_DATA,
                     "view '%s': feature name '%s' stands for columns %lld and %lld; names must be distinct",
                     view->name, names[j], (long long)existing, (long long)j);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    view->features = copy ? copy : names;
    return PLX_OK;
}

/* ---- values ---- */

static void count_nans(plx__view *view, plx_index row, plx_index first, plx_index nans)
{
    if (nans && !view->missing_values) {
        view->nan_row = row;
        view->nan_col = first;
    }
    view->missing_values += nans;
}

/* Checks one present dense row, counts non-zeros and NaN; a row of NaN only turns out to be absent. */
static plx_status check_dense_row(plx__view *view, plx_context *ctx, plx_index row, double *x, uint8_t *present)
{
    plx_index nans = 0, nonzeros = 0, first = -1;
    for (plx_index j = 0; j < view->cols; j++) {
        if (isnan(x[j])) first = nans++ ? first : j;
        else if (x[j] != 0) {
            nonzeros++;
            PLX_TRY(check_value(ctx, view, row, j, x[j]));
        }
    }
    if (nans == view->cols) {
        memset(x, 0, (size_t)view->cols * sizeof *x);
        *present = 0;
        return PLX_OK;
    }
    count_nans(view, row, first, nans);
    view->nonzeros += nonzeros;
    view->present_count++;
    return PLX_OK;
}

static plx_status check_dense(plx__view *view, plx_context *ctx, plx_mat x, uint8_t *flags)
{
    for (plx_index i = plx__held_begin(view); i < plx__held_end(view, x.rows); i++) {
        double *row = x.data + i * x.ld;
        plx__breathe(ctx, i);
        if (flags[i]) PLX_TRY(check_dense_row(view, ctx, i, row, &flags[i]));
        else memset(row, 0, (size_t)x.cols * sizeof *row);
    }
    view->dense = plx__cmat(x);
    return PLX_OK;
}

/* One row moved down to `out` without its stored zeros; all NaN over all columns means absent. Where the next row
 * goes. */
static plx_status check_sparse_row(plx__view *view, plx_context *ctx, plx_index row, plx_csr x, int64_t begin,
                                   int64_t end, int64_t *out, uint8_t *present)
{
    int64_t start = *out;
    plx_index nans = 0, first = -1;
    for (int64_t p = begin; p < end; p++) {
        double value = x.val[p];
        if (value == 0) continue;
        if (isnan(value)) first = nans++ ? first : x.col[p];
        else PLX_TRY(check_value(ctx, view, row, x.col[p], value));
        if (*out != p) { /* values that can stay are never written: they may be lent */
            x.col[*out] = x.col[p];
            x.val[*out] = value;
        }
        ++*out;
    }
    if (nans == view->cols) {
        *present = 0;
        *out = start;
        return PLX_OK;
    }
    count_nans(view, row, first, nans);
    view->nonzeros += (plx_index)(*out - start) - nans;
    view->present_count++;
    return PLX_OK;
}

static plx_status check_csr(plx_context *ctx, const char *name, plx_ccsr values)
{
    const char *what = NULL;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(ctx), "view '%s'", name));
    return plx__csr_check_shape(ctx, values, -1, what);
}

/* Nothing to put right, nothing to refuse: there is no need to look at every value in turn. */
static bool is_clean(const plx__value_facts *f, plx_view_kind kind)
{
    bool any_number = kind == PLX_VIEW_REAL || kind == PLX_VIEW_KERNEL;
    if (f->zero || f->nan || f->infinite) return false;
    return any_number || (!f->negative && (kind != PLX_VIEW_BINARY || !f->other));
}

static bool all_present(const uint8_t *present, plx_index n)
{
    for (plx_index i = 0; present && i < n; i++)
        if (!present[i]) return false;
    return true;
}

/* Columns are in order before the values are looked at. */
static plx_status look_at(plx__value_facts *out, plx_context *ctx, const char *name, plx_ccsr x)
{
    *out = (plx__value_facts){0};
    PLX_TRY(check_csr(ctx, name, x));
    plx__value_facts_scan(out, ctx, x.val, x.ptr[x.rows]);
    return PLX_OK;
}

static void take_clean(plx__view *view, plx_csr x)
{
    view->sparse = true;
    view->csr = plx__ccsr(x);
    view->nonzeros = x.ptr[x.rows];
    view->present_count = x.rows;
}

static plx_status check_sparse(plx__view *view, plx_context *ctx, plx_csr x, uint8_t *flags,
                               const plx__value_facts *known)
{
    int64_t out = 0, begin = 0;
    plx__value_facts facts;
    if (known) facts = *known;
    else PLX_TRY(look_at(&facts, ctx, view->name, plx__ccsr(x)));
    if (is_clean(&facts, view->kind) && all_present(flags, x.rows)) {
        take_clean(view, x);
        return PLX_OK;
    }
    for (plx_index i = 0; i < x.rows; i++) {
        int64_t end = x.ptr[i + 1];
        plx__breathe(ctx, i);
        if (flags[i]) PLX_TRY(check_sparse_row(view, ctx, i, x, begin, end, &out, &flags[i]));
        if (out != end) x.ptr[i + 1] = out;
        begin = end;
    }
    view->sparse = true;
    view->csr = plx__ccsr(x);
    return PLX_OK;
}

/* ---- blocks ---- */

plx_status plx__shared_take(plx__shared **out, plx_context *ctx, plx__arena *arena)
{
    plx__shared *block = plx__alloc(arena->ctx, sizeof *block);
    *out = NULL;
    if (!block) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    atomic_init(&block->owners, 1);
    block->arena = *arena;
    plx__arena_init(arena, arena->ctx);
    *out = block;
    return PLX_OK;
}

void plx__shared_drop(plx__shared *block)
{
    if (!block || atomic_fetch_sub_explicit(&block->owners, 1, memory_order_acq_rel) != 1) return;
    plx_context *ctx = block->arena.ctx;
    plx__arena_free(&block->arena);
    plx__release(ctx, block, sizeof *block);
}

/* ---- views ---- */

static plx_status begin_view(plx__view *view, uint8_t **flags, plx_dataset *data, const char *name,
                             const uint8_t *present)
{
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
    atomic_fetch_add_explicit(&view->block->owners, 1, memory_order_relaxed);
    data->views[data->n_views++] = *view;
    return PLX_OK;
}

static plx_status adopt(plx_dataset *data, plx_context *ctx, plx__shared *block, const plx__view_source *s)
{
    plx_index rows = s->sparse ? s->csr.rows : s->dense.rows, cols = s->sparse ? s->csr.cols : s->dense.cols;
    plx__view view = {.kind = s->kind, .cols = cols, .cost = 1.0, .block = block};
    uint8_t *flags = NULL;
    view.divided = s->divided;
    view.begin = s->begin;
    view.end = s->end;
    PLX_TRY(check_name(data, ctx, s->name));
    PLX_TRY(check_shape(data, ctx, s->name, s->kind, rows, cols));
    PLX_TRY(begin_view(&view, &flags, data, s->name, s->present));
    if (s->sparse) PLX_TRY(check_sparse(&view, ctx, s->csr, flags, s->facts));
    else PLX_TRY(check_dense(&view, ctx, s->dense, flags));
    PLX_TRY(keep_features(&view, ctx, &block->arena, s));
    if (s->kind == PLX_VIEW_KERNEL) PLX_TRY(plx__kernel_clear_nan(&view, ctx, s->dense, s->csr, data->ids, data->n));
    return push_view(data, &view);
}

plx_status plx__dataset_adopt_arena(plx_dataset *data, plx_context *ctx, plx__arena *arena, const plx__view_source *s)
{
    plx__shared *block = NULL;
    plx_status st = plx__shared_take(&block, ctx, arena);
    if (st == PLX_OK) st = plx__dataset_adopt(data, ctx, block, s);
    else plx__arena_free(arena);
    plx__shared_drop(block);
    return st;
}

/* Of a view that a reader has whole, the rows that are to be kept. Similarities stay together: their columns are samples. */
plx_status plx__dataset_adopt(plx_dataset *data, plx_context *ctx, plx__shared *block, const plx__view_source *s)
{
    plx_index rows = s->sparse ? s->csr.rows : s->dense.rows, begin = 0, end = 0;
    plx__view_source part;
    plx__arena arena;
    bool divide = !s->divided && s->kind != PLX_VIEW_KERNEL && rows == data->n;
    if (!plx__share_wanted(&begin, &end, ctx, rows) || !divide) return adopt(data, ctx, block, s);
    if (s->sparse) PLX_TRY(check_csr(ctx, s->name, plx__ccsr(s->csr)));
    plx__arena_init(&arena, data->arena.ctx);
    plx_status st = plx__share_of(&part, &arena, s, begin, end);
    if (st == PLX_OK) return plx__dataset_adopt_arena(data, ctx, &arena, &part);
    plx__arena_free(&arena);
    return st;
}

/* Rows that are absent are not looked at: the copy has zeros there. */
static plx_status copy_dense(plx_mat *out, plx__arena *arena, plx_cmat values, const uint8_t *present)
{
    *out = (plx_mat){NULL, values.rows, values.cols, values.cols};
    PLX_TRY(plx__arena_bytes((void **)&out->data, arena, values.rows, (size_t)values.cols * sizeof(double)));
    for (plx_index i = 0; i < values.rows; i++)
        if (!present || present[i])
            memcpy(out->data + i * out->ld, values.data + i * values.ld, (size_t)values.cols * sizeof(double));
    return PLX_OK;
}

plx_status plx__dataset_add_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                  plx_cmat values, const char *const *features, const uint8_t *present)
{
    plx__view_source s = {.name = name, .kind = kind, .features = features, .present = present};
    plx__arena arena;
    PLX_TRY(check_name(data, ctx, name));
    PLX_TRY(check_shape(data, ctx, name, kind, values.rows, values.cols));
    plx__arena_init(&arena, data->arena.ctx);
    plx_status st = copy_dense(&s.dense, &arena, values, present);
    if (st == PLX_OK) return plx__dataset_adopt_arena(data, ctx, &arena, &s);
    plx__arena_free(&arena);
    return st;
}

static plx_status copy_sparse(plx_csr *out, plx__arena *arena, plx_ccsr values, const uint8_t *present)
{
    int64_t nnz = 0;
    for (plx_index i = 0; i < values.rows; i++)
        if (!present || present[i]) nnz += values.ptr[i + 1] - values.ptr[i];
    PLX_TRY(plx__arena_csr(out, arena, values.rows, values.cols, nnz));
    for (plx_index i = 0; i < values.rows; i++) {
        int64_t at = out->ptr[i], from = values.ptr[i], len = present && !present[i] ? 0 : values.ptr[i + 1] - from;
        if (len) memcpy(out->col + at, values.col + from, (size_t)len * sizeof *out->col);
        if (len) memcpy(out->val + at, values.val + from, (size_t)len * sizeof *out->val);
        out->ptr[i + 1] = at + len;
    }
    return PLX_OK;
}

plx_status plx__dataset_add_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                   plx_ccsr values, const char *const *features, const uint8_t *present)
{
    plx__view_source s = {.name = name, .kind = kind, .sparse = true, .features = features, .present = present};
    plx__arena arena;
    PLX_TRY(check_name(data, ctx, name));
    PLX_TRY(check_shape(data, ctx, name, kind, values.rows, values.cols));
    PLX_TRY(check_csr(ctx, name, values));
    plx__arena_init(&arena, data->arena.ctx);
    plx_status st = copy_sparse(&s.csr, &arena, values, present);
    if (st == PLX_OK) return plx__dataset_adopt_arena(data, ctx, &arena, &s);
    plx__arena_free(&arena);
    return st;
}

/* ---- values that stay where they are ---- */

/* May a data set read the values as they are? Rows that turn out to be absent would have to become zero. */
static bool dense_can_stay(plx_cmat x)
{
    for (plx_index i = 0; i < x.rows; i++) {
        plx_index j = 0;
        while (j < x.cols && isnan(x.data[i * x.ld + j])) j++;
        if (j == x.cols) return false;
    }
    return true;
}

static bool sparse_can_stay(plx_ccsr x, const plx__value_facts *facts)
{
    if (facts->zero || !facts->nan) return !facts->zero;
    for (plx_index i = 0; i < x.rows; i++) {
        int64_t nans = 0;
        for (int64_t p = x.ptr[i]; p < x.ptr[i + 1]; p++) {
            nans += isnan(x.val[p]) != 0;
        }
        if (nans == x.cols) return false;
    }
    return true;
}

/* In a block that holds only the names: checking changes nothing in values that can stay. */
static plx_status lend(plx_dataset *data, plx_context *ctx, const plx__view_source *s)
{
    plx__arena texts;
    plx__arena_init(&texts, data->arena.ctx);
    return plx__dataset_adopt_arena(data, ctx, &texts, s);
}

plx_status plx__dataset_borrow_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                     plx_cmat values, const char *const *features, const uint8_t *present)
{
    plx__view_source s = {.name = name, .kind = kind, .features = features};
    PLX_TRY(check_name(data, ctx, name));
    PLX_TRY(check_shape(data, ctx, name, kind, values.rows, values.cols));
    if (!all_present(present, data->n) || !dense_can_stay(values))
        return plx__dataset_add_dense(data, ctx, name, kind, values, features, present);
    s.dense = (plx_mat){(double *)(uintptr_t)values.data, values.rows, values.cols, values.ld};
    return lend(data, ctx, &s);
}

plx_status plx__dataset_borrow_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                      plx_ccsr values, const char *const *features, const uint8_t *present)
{
    plx__view_source s = {.name = name, .kind = kind, .sparse = true, .features = features};
    plx__value_facts facts;
    PLX_TRY(check_name(data, ctx, name));
    PLX_TRY(check_shape(data, ctx, name, kind, values.rows, values.cols));
    PLX_TRY(look_at(&facts, ctx, name, values));
    s.facts = &facts;
    if (!all_present(present, data->n) || !sparse_can_stay(values, &facts))
        return plx__dataset_add_sparse(data, ctx, name, kind, values, features, present);
    s.csr = (plx_csr){values.rows, values.cols, (int64_t *)(uintptr_t)values.ptr, (int32_t *)(uintptr_t)values.col,
                      (double *)(uintptr_t)values.val};
    return lend(data, ctx, &s);
}

static plx_status copy_whole(plx_dataset *data, plx_context *ctx, const plx__view *v)
{
    if (v->sparse) PLX_TRY(plx__dataset_add_sparse(data, ctx, v->name, v->kind, v->csr, v->features, v->present));
    else PLX_TRY(plx__dataset_add_dense(data, ctx, v->name, v->kind, v->dense, v->features, v->present));
    data->views[data->n_views - 1].cost = v->cost;
    return PLX_OK;
}

static plx_status share_block(plx_dataset *data, plx_context *ctx, const plx__view *from)
{
    plx__view view = *from;
    uint8_t *flags = NULL;
    plx_index *bound = NULL;
    PLX_TRY(check_name(data, ctx, from->name));
    PLX_TRY(begin_view(&view, &flags, data, from->name, from->present));
    view.self = view.peers = NULL;
    if (from->bound) PLX_TRY(plx__arena_i64(&bound, &data->arena, ctx->peers.ranks + 1));
    if (from->bound) memcpy(bound, from->bound, ((size_t)ctx->peers.ranks + 1) * sizeof *bound);
    view.bound = bound;
    return push_view(data, &view);
}

plx_status plx__dataset_share(plx_dataset *data, plx_context *ctx, const plx__view *from)
{
    const plx_context *own = data->arena.ctx, *theirs = from->block->arena.ctx;
    bool same = theirs == own || theirs == own->parent; /* the parent outlives the crew and keeps the block */
    if (from->divided && !same)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "view '%s' is divided among ranks and stays with the context it was read with",
                 from->name);
    PLX_TRY(same ? share_block(data, ctx, from) : copy_whole(data, ctx, from));
    data->views[data->n_views - 1].text = NULL;
    if (from->text) PLX_TRY(plx__arena_text(&data->views[data->n_views - 1].text, &data->arena, from->text));
    return PLX_OK;
}
