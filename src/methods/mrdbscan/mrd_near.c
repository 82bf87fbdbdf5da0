/*
 * Neighbourhoods under settled radii, as one row of bits per object.
 *
 * Whether a pair is near in a view is one comparison of what plx__separation_matrix computes (a squared distance) with
 * the largest value whose distance is within the radius. Dense views: every worker takes rows and walks over tiles that
 * stay in its cache. Sparse views go through the tiles of mrd_pairs.c.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/mrdbscan/mrdbscan.h"

enum { CHUNK = 64, COLUMNS = 512, BLOCK_BITS = 1 << 27, LEAST_ROWS = 64 };

typedef struct near_work { /* of a worker */
    plx_mat separation;    /* CHUNK x COLUMNS */
    uint8_t *hits, *common;
} near_work;

/* ---- radii as separations ---- */

static bool within(const mrd_view *v, double separation)
{
    return plx__separation_distance(v->metric, separation) / v->factor <= v->radius + MRD_RADIUS_SLACK;
}

/* The largest separation within the radius: a guess from the formula, moved by single numbers to where it holds. */
static double largest_within(const mrd_view *v)
{
    double reach = (v->radius + MRD_RADIUS_SLACK) * v->factor, s = v->metric == PLX__COSINE ? reach : reach * reach;
    if (!isfinite(s)) return INFINITY;
    while (s > 0 && !within(v, s)) s = nextafter(s, 0);
    while (within(v, nextafter(s, INFINITY))) s = nextafter(s, INFINITY);
    return s;
}

/* ---- opening ---- */

static plx_status open_works(mrd_near *s)
{
    plx__arena *scratch = plx__scratch(s->m->ctx);
    near_work *works = NULL;
    PLX_TRY(PLX__ARENA_NEW(&works, scratch, plx__workers(s->m->ctx)));
    for (int t = 0; t < plx__workers(s->m->ctx); t++) {
        PLX_TRY(plx__arena_mat(&works[t].separation, scratch, CHUNK, COLUMNS));
        PLX_TRY(plx__arena_u8(&works[t].hits, scratch, (plx_index)CHUNK * COLUMNS));
        PLX_TRY(plx__arena_u8(&works[t].common, scratch, (plx_index)CHUNK * COLUMNS));
    }
    s->works = works;
    return PLX_OK;
}

plx_status plx__mrd_near_open(mrd_near *s, const mrd *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    *s = (mrd_near){.m = m, .words = (m->n_b + 63) / 64, .dense = m->n_views < 256};
    s->block = plx__min(m->n_a, plx__max(LEAST_ROWS, BLOCK_BITS / plx__max(1, m->n_b)));
    PLX_TRY(PLX__ARENA_NEW(&s->bits, scratch, s->block * s->words));
    PLX_TRY(plx__arena_f64(&s->limit, scratch, m->n_views, 1));
    PLX_TRY(PLX__ARENA_NEW(&s->norm, scratch, m->n_views));
    for (plx_index v = 0; v < m->n_views; v++) {
        s->dense = s->dense && !plx__points_sparse(m->view[v].a);
        s->limit[v] = largest_within(&m->view[v]);
    }
    for (plx_index v = 0; s->dense && v < m->n_views; v++) {
        PLX_TRY(plx__arena_f64(&s->norm[v], scratch, m->n_a, 1));
        PLX_TRY(plx__points_norms_sq(m->ctx, m->view[v].a, s->norm[v]));
    }
    if (s->dense) return open_works(s);
    return plx__arena_mat(&s->tile, scratch, MRD_TILE_ROWS, MRD_TILE_COLS);
}

/* ---- dense views ---- */

static void count_view(const mrd_near *s, near_work *w, plx_index v, plx_index i0, plx_index rows, plx_index j0,
                       plx_index cols)
{
    const mrd_view *view = &s->m->view[v];
    double limit = s->limit[v];
    for (plx_index r = 0; r < rows; r++) {
        const double *x = w->separation.data + r * w->separation.ld;
        uint8_t *hits = w->hits + r * COLUMNS, *common = w->common + r * COLUMNS;
        if (!view->has_a[i0 + r]) continue;
        for (plx_index c = 0; c < cols; c++) {
            uint8_t both = view->has_b[j0 + c] != 0;
            common[c] = (uint8_t)(common[c] + both);
            hits[c] = (uint8_t)(hits[c] + (both & (x[c] <= limit)));
        }
    }
}

/* Bits of one row of a tile; an object is not its own neighbour here. */
static void set_bits(const mrd_near *s, const near_work *w, plx_index r, plx_index i, plx_index j0, plx_index cols)
{
    const uint8_t *hits = w->hits + r * COLUMNS, *common = w->common + r * COLUMNS;
    uint64_t *row = s->bits + (i - s->first) * s->words;
    plx_index needed = s->m->needed;
    for (plx_index c = 0; c < cols; c++) {
        if (!hits[c] || j0 + c == i) continue;
        plx_index least = needed ? plx__min(needed, common[c]) : common[c] / 2 + 1;
        if (hits[c] >= least) row[(j0 + c) / 64] |= UINT64_C(1) << ((j0 + c) % 64);
    }
}

static plx_status dense_tile(const mrd_near *s, plx_context *ctx, near_work *w, plx_index i0, plx_index rows,
                             plx_index j0, plx_index cols)
{
    memset(w->hits, 0, (size_t)CHUNK * COLUMNS);
    memset(w->common, 0, (size_t)CHUNK * COLUMNS);
    for (plx_index v = 0; v < s->m->n_views; v++) {
        plx_cmat a = s->m->view[v].a.dense, b = s->m->view[v].b.dense;
        PLX_TRY(plx__separation_tile(ctx, plx__csub(a, i0, 0, rows, a.cols), s->norm[v] + i0,
                                     plx__csub(b, j0, 0, cols, b.cols), s->norm[v] + j0, s->m->view[v].metric,
                                     plx__sub(w->separation, 0, 0, rows, cols)));
        count_view(s, w, v, i0, rows, j0, cols);
    }
    for (plx_index r = 0; r < rows; r++) set_bits(s, w, r, i0 + r, j0, cols);
    return PLX_OK;
}

static plx_status dense_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const mrd_near *s = arg;
    for (plx_index i0 = begin; i0 < end; i0 += CHUNK)
        for (plx_index j0 = 0; j0 < s->m->n_b; j0 += COLUMNS) {
            PLX_TRY(plx__poll(ctx));
            PLX_TRY(dense_tile(s, ctx, (near_work *)s->works + worker, s->first + i0, plx__min(CHUNK, end - i0), j0,
                               plx__min(COLUMNS, s->m->n_b - j0)));
        }
    return PLX_OK;
}

/* ---- sparse views ---- */

static plx_status sparse_rows(const mrd_near *s)
{
    plx__arena *scratch = plx__scratch(s->m->ctx);
    for (plx_index i0 = s->first; i0 < s->first + s->rows; i0 += MRD_TILE_ROWS)
        for (plx_index j0 = 0; j0 < s->m->n_b; j0 += MRD_TILE_COLS) {
            plx_index i1 = plx__min(i0 + MRD_TILE_ROWS, s->first + s->rows),
                      j1 = plx__min(j0 + MRD_TILE_COLS, s->m->n_b);
            plx__mark mark = plx__arena_mark(scratch);
            PLX_TRY(plx__mrd_tile(s->m, i0, i1, j0, j1, s->tile));
            for (plx_index i = i0; i < i1; i++)
                for (plx_index q = j0; q < j1; q++)
                    if (s->tile.data[(i - i0) * s->tile.ld + (q - j0)] == 0 && q != i)
                        s->bits[(i - s->first) * s->words + q / 64] |= UINT64_C(1) << (q % 64);
            plx__arena_rewind(scratch, mark);
        }
    return PLX_OK;
}

plx_status plx__mrd_near_rows(mrd_near *s, plx_index first)
{
    s->first = first;
    s->rows = plx__min(s->block, s->m->n_a - first);
    memset(s->bits, 0, (size_t)(s->rows * s->words) * sizeof *s->bits);
    if (!s->dense) return sparse_rows(s);
    return plx__parallel_for(s->m->ctx, s->rows, CHUNK, dense_rows, s);
}

double plx__mrd_near_bytes(double n, int workers)
{
    return fmin(n, fmax(LEAST_ROWS, BLOCK_BITS / fmax(1, n))) * (n + 64) / 8 + 10.0 * CHUNK * COLUMNS * workers;
}
