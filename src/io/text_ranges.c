/*
 * Ranges of a text among ranks: cutting, counting, and bringing rows to those who keep them.
 */
#include "io/text_ranges.h"

#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"

/* ---- cutting ---- */

/* Start of the first line at `p` or behind it. */
static const char *line_start(const char *begin, const char *p, const char *end)
{
    if (p == begin) return begin;
    const char *newline = memchr(p - 1, '\n', (size_t)(end - p + 1));
    return newline ? newline + 1 : end;
}

static const char *cut(const char *begin, const char *end, int rank, int ranks)
{
    plx_index size = end - begin;
    return line_start(begin, begin + size / ranks * rank + size % ranks * rank / ranks, end);
}

plx__text_range plx__text_range_of(plx_context *ctx, const char *name, const char *begin, const char *end, bool some)
{
    plx__text_range g = {.ctx = ctx, .name = name, .ranks = 1, .whole = begin, .begin = begin, .end = end};
    if (!some || ctx->share.ranks < 2) return g;
    g.shared = true;
    g.rank = ctx->share.rank;
    g.ranks = ctx->share.ranks;
    g.begin = cut(begin, end, g.rank, g.ranks);
    g.end = cut(begin, end, g.rank + 1, g.ranks);
    return g;
}

/* ---- counting ---- */

plx_status plx__text_tell(const plx__text_range *g, const int64_t *mine, plx_index width, int64_t **all)
{
    if (g->shared) return plx__peers_tell(g->ctx, mine, width, all);
    PLX_TRY(plx__arena_i64(all, plx__scratch(g->ctx), width));
    memcpy(*all, mine, (size_t)width * sizeof *mine);
    return PLX_OK;
}

/* The ranges follow each other, which they would not if the ranks had different files. */
static plx_status check_ranges(const plx__text_range *g, const int64_t *all, plx_index width)
{
    for (int r = 1; r < g->ranks; r++)
        if (all[r * width] != all[(r - 1) * width + 1])
            PLX_FAIL(g->ctx, PLX_E_DATA, "%s: the ranks read different data; the path must lead all to the same",
                     g->name);
    return PLX_OK;
}

plx_status plx__text_range_split(plx__text_chunks *out, const plx__text_range *g, plx_index line, char mark,
                                 plx_index *lines)
{
    enum { BEGIN, END, LINES, FACTS };
    int64_t *all = NULL;
    plx_index before = 0;
    PLX_TRY(plx__text_split(out, g->ctx, g->name, g->begin, g->end, line, mark));
    const int64_t mine[FACTS] = {g->begin - g->whole, g->end - g->whole, out->lines};
    PLX_TRY(plx__text_tell(g, mine, FACTS, &all));
    PLX_TRY(check_ranges(g, all, FACTS));
    *lines = 0;
    for (int r = 0; r < g->ranks; r++) {
        before += r < g->rank ? all[r * FACTS + LINES] : 0;
        *lines += all[r * FACTS + LINES];
    }
    for (plx_index c = 0; c < out->count; c++) out->chunk[c].line += before;
    return PLX_OK;
}

plx_status plx__text_rows(plx__text_range *g, plx_index rows)
{
    int64_t *all = NULL;
    PLX_TRY(plx__arena_i64(&g->bound, plx__scratch(g->ctx), g->ranks + 1));
    PLX_TRY(plx__text_tell(g, &rows, 1, &all));
    for (int r = 0; r < g->ranks; r++) g->bound[r + 1] = g->bound[r] + all[r];
    return PLX_OK;
}

/* ---- texts ---- */

plx__arena *plx__text_room(const plx__text_range *g, plx__arena *arena)
{
    return g->shared ? plx__scratch(g->ctx) : arena;
}

plx_status plx__text_share(const plx__text_range *g, plx__arena *arena, const char *const **texts)
{
    return g->shared ? plx__share_texts(texts, g->ctx, arena, g->bound) : PLX_OK;
}

/* ---- rows ---- */

/* The rows that are here, as a matrix of all rows. */
static plx_status spread_out(plx__view *v, const plx__text_range *g, const plx__table *t)
{
    plx_index n = plx__text_row_count(g), cols = plx__table_cols(t);
    plx_csr padded;
    *v = (plx__view){.divided = true, .sparse = t->sparse, .cols = cols, .bound = g->bound};
    v->begin = g->bound[g->rank];
    v->end = g->bound[g->rank + 1];
    if (!t->sparse) {
        v->dense = (plx_cmat){plx__rows_at(t->dense.data, v->begin, cols), n, cols, cols};
        return PLX_OK;
    }
    PLX_TRY(plx__pad_rows(&padded, plx__scratch(g->ctx), t->csr, v->begin, n));
    v->csr = plx__ccsr(padded);
    return PLX_OK;
}

static void take_values(plx__table *t, const plx__view *v)
{
    if (t->sparse)
        t->csr = (plx_csr){v->csr.rows, v->csr.cols, (int64_t *)(uintptr_t)v->csr.ptr, (int32_t *)(uintptr_t)v->csr.col,
                           (double *)(uintptr_t)v->csr.val};
    else t->dense = (plx_mat){(double *)(uintptr_t)v->dense.data, v->dense.rows, v->cols, v->cols};
    t->divided = true;
    t->begin = v->begin;
    t->end = v->end;
}

plx_status plx__text_regroup(const plx__text_range *g, plx__arena *arena, plx__table *table)
{
    plx_index *bound = NULL, n = plx__text_row_count(g);
    plx__view v;
    if (!g->shared) return PLX_OK;
    PLX_TRY(spread_out(&v, g, table));
    PLX_TRY(plx__arena_i64(&bound, plx__scratch(g->ctx), g->ranks + 1));
    plx__slabs_bounds(bound, g->ctx, plx__slabs_cut(n, PLX__PANE_ROWS));
    if (memcmp(bound, g->bound, ((size_t)g->ranks + 1) * sizeof *bound) == 0) { /* they are where they belong */
        plx__table whole = *table;
        take_values(&whole, &v);
        return plx__table_share(table, arena, &whole, v.begin, v.end);
    }
    PLX_TRY(plx__peers_settle(g->ctx, PLX_OK));
    plx_status st = plx__view_regroup(&v, g->ctx, arena, n, bound);
    if (st != PLX_OK) g->ctx->failure_told = true; /* in the middle of an exchange nobody listens */
    PLX_TRY(st);
    take_values(table, &v);
    return PLX_OK;
}
