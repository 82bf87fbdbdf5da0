/*
 * Rectangular assignment by shortest augmenting paths (Hungarian method with dual potentials).
 *
 * Costs are -count. Rows of the shorter side enter one by one; each search grows a tree of tight edges
 * from the new row until it meets a free column, raising the potentials just enough on the way.
 */
#include "eval/cluster_match.h"

#include <math.h>

typedef struct matching {
    plx_cmat counts;
    bool transposed;            /* rows here are columns of counts */
    plx_index rows, cols;       /* rows <= cols */
    double *row_dual, *col_dual, *slack;
    plx_index *row_of;          /* column -> its row, -1: free */
    plx_index *back;            /* column -> previous column on the path, -1: the start */
    uint8_t *reached;
} matching;

static double cost(const matching *m, plx_index i, plx_index j)
{
    return m->transposed ? -m->counts.data[j * m->counts.ld + i] : -m->counts.data[i * m->counts.ld + j];
}

static plx_status matching_init(matching *m, plx__arena *arena, plx_cmat counts)
{
    bool transposed = counts.rows > counts.cols;
    *m = (matching){.counts = counts, .transposed = transposed};
    m->rows = transposed ? counts.cols : counts.rows;
    m->cols = transposed ? counts.rows : counts.cols;
    PLX_TRY(plx__arena_f64(&m->row_dual, arena, m->rows, 1));
    PLX_TRY(plx__arena_f64(&m->col_dual, arena, m->cols, 1));
    PLX_TRY(plx__arena_f64(&m->slack, arena, m->cols, 1));
    PLX_TRY(plx__arena_i64(&m->row_of, arena, m->cols));
    PLX_TRY(plx__arena_i64(&m->back, arena, m->cols));
    PLX_TRY(plx__arena_u8(&m->reached, arena, m->cols));
    for (plx_index j = 0; j < m->cols; j++) m->row_of[j] = -1;
    return PLX_OK;
}

/* Relax all unreached columns from row i, which was entered through column `via`; returns the nearest column. */
static plx_index relax(matching *m, plx_index i, plx_index via)
{
    plx_index nearest = -1;
    for (plx_index j = 0; j < m->cols; j++) {
        if (m->reached[j]) continue;
        double reduced = cost(m, i, j) - m->row_dual[i] - m->col_dual[j];
        if (reduced < m->slack[j]) {
            m->slack[j] = reduced;
            m->back[j] = via;
        }
        if (nearest < 0 || m->slack[j] < m->slack[nearest]) nearest = j;
    }
    return nearest;
}

/* Make the edge to the nearest column tight. */
static void shift_duals(matching *m, plx_index start, double delta)
{
    m->row_dual[start] += delta;
    for (plx_index j = 0; j < m->cols; j++) {
        if (m->reached[j]) {
            m->row_dual[m->row_of[j]] += delta;
            m->col_dual[j] -= delta;
        } else {
            m->slack[j] -= delta;
        }
    }
}

static void add_row(matching *m, plx_index start)
{
    plx_index row = start, via = -1, free_column = -1;
    for (plx_index j = 0; j < m->cols; j++) {
        m->slack[j] = INFINITY;
        m->reached[j] = 0;
    }
    while (free_column < 0) {
        plx_index j = relax(m, row, via);
        shift_duals(m, start, m->slack[j]);
        if (m->row_of[j] < 0) free_column = j;
        m->reached[j] = 1;
        via = j;
        row = m->row_of[j];
    }
    for (plx_index j = free_column; j >= 0; j = m->back[j]) m->row_of[j] = m->back[j] < 0 ? start : m->row_of[m->back[j]];
}

plx_status plx__match_clusters(double *matched, plx_context *ctx, plx_cmat counts)
{
    matching m;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    *matched = 0;
    PLX_TRY(matching_init(&m, plx__scratch(ctx), counts));
    for (plx_index i = 0; i < m.rows; i++) {
        PLX_TRY(plx__poll(ctx));
        add_row(&m, i);
    }
    for (plx_index j = 0; j < m.cols; j++)
        if (m.row_of[j] >= 0) *matched -= cost(&m, m.row_of[j], j);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
