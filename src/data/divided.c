/*
 * Views of which every rank has a run of rows: what ranks tell each other about them.
 */
#include "data/divided.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "linalg/csr.h"

/* ---- rows that are here ---- */

double plx__held_values(const plx__view *v, plx_index n)
{
    if (!v->sparse) return (double)(plx__held_end(v, n) - plx__held_begin(v)) * (double)v->cols;
    return v->divided ? (double)v->csr.ptr[n] : (double)v->nonzeros;
}

double plx__held_entries(const plx__view *v, plx_index n)
{
    return fmin((double)v->nonzeros, plx__held_values(v, n)); /* those of all rows where nobody has counted its own */
}

plx_status plx__held_dense(double **out, plx__arena *arena, const plx__view *v, plx_index n)
{
    plx_index begin = plx__held_begin(v);
    double *values = NULL;
    PLX_TRY(plx__arena_f64(&values, arena, plx__held_end(v, n) - begin, v->cols));
    *out = begin ? plx__rows_at(values, begin, v->cols) : values;
    return PLX_OK;
}

plx_status plx__held_sparse(plx_csr *out, plx__arena *arena, const plx__view *v)
{
    plx_cmat here = v->dense;
    plx_csr thin;
    if (!v->divided) return plx__csr_from_dense(out, arena, v->dense);
    here.data += v->begin * v->dense.ld;
    here.rows = v->end - v->begin;
    PLX_TRY(plx__csr_from_dense(&thin, arena, here));
    return plx__pad_rows(out, arena, thin, v->begin, v->dense.rows);
}

/* ---- among the ranks ---- */

plx_status plx__held_share(plx_context *ctx, const plx__view *v, void *rows, size_t bytes)
{
    return v->divided ? plx__bound_share(ctx, v->bound, rows, bytes) : PLX_OK;
}

plx_status plx__held_total(plx_context *ctx, const plx__view *v, double *x, plx_index width)
{
    return v->divided ? plx__peers_add(ctx, x, width) : PLX_OK;
}

plx_status plx__held_chain(plx_context *ctx, const plx__view *v, void *state, size_t bytes, void (*add)(void *arg),
                           void *arg)
{
    return plx__bound_chain(ctx, plx__held_bound(v), state, bytes, add, arg);
}

int plx__held_owner(const plx_context *ctx, const plx__view *v, plx_index i)
{
    return plx__bound_owner(v->bound, plx__ranks(ctx), i);
}

/* ---- reading ---- */

bool plx__share_wanted(plx_index *begin, plx_index *end, const plx_context *ctx, plx_index n)
{
    const plx__row_share *s = &ctx->share;
    *begin = 0;
    *end = n;
    if (s->ranks > 1) plx__slabs_part(begin, end, plx__slabs_cut(n, PLX__PANE_ROWS), s->rank, s->ranks);
    else if (s->run) {
        *begin = plx__min(n, s->begin);
        *end = plx__min(n, plx__max(s->begin, s->end));
    }
    return s->ranks > 1 || s->run;
}

plx_status plx__pad_rows(plx_csr *out, plx__arena *arena, plx_csr part, plx_index begin, plx_index n)
{
    plx_index rows = part.rows;
    *out = (plx_csr){n, part.cols, NULL, part.col, part.val};
    PLX_TRY(plx__arena_i64(&out->ptr, arena, n + 1));
    memcpy(out->ptr + begin, part.ptr, (size_t)(rows + 1) * sizeof *out->ptr);
    for (plx_index i = begin + rows + 1; i <= n; i++) out->ptr[i] = part.ptr[rows];
    return PLX_OK;
}

static plx_status sparse_share(plx_csr *out, plx__arena *arena, plx_csr whole, plx_index begin, plx_index end)
{
    int64_t first = whole.ptr[begin], count = whole.ptr[end] - first;
    plx_csr part;
    PLX_TRY(plx__arena_csr(&part, arena, end - begin, whole.cols, count));
    for (plx_index i = begin; i <= end; i++) part.ptr[i - begin] = whole.ptr[i] - first;
    if (count) memcpy(part.col, whole.col + first, (size_t)count * sizeof *part.col);
    if (count) memcpy(part.val, whole.val + first, (size_t)count * sizeof *part.val);
    return plx__pad_rows(out, arena, part, begin, whole.rows);
}

static plx_status dense_share(plx_mat *out, plx__arena *arena, plx_mat whole, plx_index begin, plx_index end)
{
    double *values = NULL;
    size_t row = (size_t)whole.cols * sizeof *values;
    PLX_TRY(plx__arena_bytes((void **)&values, arena, end - begin, row));
    for (plx_index i = begin; i < end; i++) memcpy(values + (i - begin) * whole.cols, whole.data + i * whole.ld, row);
    *out = (plx_mat){plx__rows_at(values, begin, whole.cols), whole.rows, whole.cols, whole.cols};
    return PLX_OK;
}

plx_status plx__share_of(plx__view_source *out, plx__arena *arena, const plx__view_source *whole, plx_index begin,
                         plx_index end)
{
    *out = *whole;
    out->divided = true;
    out->begin = begin;
    out->end = end;
    out->features_in_block = false;
    out->facts = NULL;
    return whole->sparse ? sparse_share(&out->csr, arena, whole->csr, begin, end)
                         : dense_share(&out->dense, arena, whole->dense, begin, end);
}

plx_status plx__table_share(plx__table *out, plx__arena *arena, const plx__table *whole, plx_index begin, plx_index end)
{
    plx__view_source all = {.sparse = whole->sparse, .dense = whole->dense, .csr = whole->csr}, part;
    PLX_TRY(plx__share_of(&part, arena, &all, begin, end));
    *out = *whole;
    out->dense = part.dense;
    out->csr = part.csr;
    out->divided = true;
    out->begin = begin;
    out->end = end;
    return PLX_OK;
}

bool plx__dataset_divided(const plx_dataset *data)
{
    for (plx_index v = 0; data && v < data->n_views; v++)
        if (data->views[v].divided) return true;
    return false;
}

/* ---- agreeing ---- */

/* What a rank found in its rows of a view. */
enum { ROWS, COLS, HELD_BEGIN, HELD_END, HELD, KIND, NONZEROS, MISSING, NAN_ROW, NAN_COL, FACTS };

static void describe(int64_t *fact, const plx__view *v, plx_index n)
{
    fact[ROWS] = n;
    fact[COLS] = v->cols;
    fact[HELD_BEGIN] = v->begin;
    fact[HELD_END] = v->end;
    fact[HELD] = v->end - v->begin;
    fact[KIND] = v->kind;
    fact[NONZEROS] = v->nonzeros;
    fact[MISSING] = v->missing_values;
    fact[NAN_ROW] = v->nan_row;
    fact[NAN_COL] = v->nan_col;
}

/* Kinds that were guessed from a part of the rows: binary, unless somewhere there are counts, or real numbers. `facts` are
 * how many rows a rank has and what it takes them for, every `stride` numbers. */
static plx_status join_kinds(plx_view_kind *kind, plx_context *ctx, const int64_t *facts, plx_index stride,
                             const char *view)
{
    bool any = false;
    for (int r = 0; r < plx__ranks(ctx); r++) {
        const int64_t *f = facts + r * stride;
        plx_view_kind other = (plx_view_kind)f[1];
        if (f[0] == 0 || (any && other == *kind)) continue;
        if (any && (other > PLX_VIEW_BINARY || *kind > PLX_VIEW_BINARY))
            PLX_FAIL(ctx, PLX_E_DATA, "view '%s' is not of the same kind everywhere; say in a manifest what it is",
                     view);
        /* real before counts before binary, as the kinds are numbered */
        *kind = any && *kind < other ? *kind : other;
        any = true;
    }
    return PLX_OK;
}

plx_status plx__share_settle(plx_context *ctx, plx_status st)
{
    return ctx->share.ranks > 1 ? plx__peers_settle(ctx, st) : st;
}

plx_status plx__share_kind(plx_view_kind *kind, plx_context *ctx, plx_index held, const char *view)
{
    const int64_t mine[2] = {held, *kind};
    int64_t *all = NULL;
    PLX_TRY(plx__peers_tell(ctx, mine, 2, &all));
    return join_kinds(kind, ctx, all, 2, view);
}

static plx_status take_facts(plx__view *v, plx_context *ctx, plx_dataset *data, const int64_t *facts)
{
    plx_index *bound = NULL;
    int ranks = plx__ranks(ctx);
    PLX_TRY(plx__arena_i64(&bound, &data->arena, ranks + 1));
    PLX_TRY(join_kinds(&v->kind, ctx, facts + HELD, FACTS, v->name));
    v->nonzeros = v->missing_values = 0;
    for (int r = 0; r < ranks; r++) {
        const int64_t *f = facts + r * FACTS;
        bool last = r == ranks - 1;
        if (f[ROWS] != data->n || f[COLS] != v->cols || f[HELD_BEGIN] != bound[r] || (last && f[HELD_END] != data->n))
            PLX_FAIL(ctx, PLX_E_DATA, "view '%s': the ranks read different data; the path must lead all to the same",
                     v->name);
        bound[r + 1] = f[HELD_END];
        if (f[MISSING] && !v->missing_values) {
            v->nan_row = f[NAN_ROW];
            v->nan_col = f[NAN_COL];
        }
        v->nonzeros += f[NONZEROS];
        v->missing_values += f[MISSING];
    }
    v->bound = bound;
    return PLX_OK;
}

static plx_status agree_on(plx__view *v, plx_context *ctx, plx_dataset *data)
{
    int64_t *facts = NULL;
    uint8_t *present = (uint8_t *)(uintptr_t)v->present; /* the data set's own flags */
    plx_index width = (plx_index)plx__ranks(ctx) * FACTS;
    PLX_TRY(plx__arena_i64(&facts, plx__scratch(ctx), width));
    describe(facts + plx__rank(ctx) * FACTS, v, data->n);
    PLX_TRY(plx__peers_total(ctx, facts, width));
    PLX_TRY(take_facts(v, ctx, data, facts));
    PLX_TRY(plx__held_share(ctx, v, present, 1));
    v->present_count = 0;
    for (plx_index i = 0; i < data->n; i++) v->present_count += present[i];
    return PLX_OK;
}

plx_status plx__dataset_agree(plx_dataset *data, plx_context *ctx)
{
    for (plx_index v = 0; v < data->n_views; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        if (data->views[v].divided && !data->views[v].bound) PLX_TRY(agree_on(&data->views[v], ctx, data));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}
