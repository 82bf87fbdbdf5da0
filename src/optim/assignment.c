/*
 * Hungarian method: rows are inserted one by one, each along a shortest augmenting path in reduced costs
 * (Jonker and Volgenant's form of Dijkstra with potentials).
 */
#include "optim/assignment.h"

#include <math.h>

typedef struct hungarian {
    const double *data;
    plx_index row_step, col_step; /* strides: the smaller side is always "rows" */
    double sign;
    plx_index rows, cols;
    double *u, *v, *slack;    /* potentials of rows and columns; best reduced cost per column */
    plx_index *row_of, *from; /* per column; index 0 is a stand-in for "no column" */
    uint8_t *done;
} hungarian;

static double cost(const hungarian *h, plx_index i, plx_index j)
{
    return h->sign * h->data[i * h->row_step + j * h->col_step];
}

static plx_status prepare(plx_context *ctx, hungarian *h, plx_cmat w, bool maximize)
{
    plx__arena *scratch = plx__scratch(ctx);
    bool turn = w.cols < w.rows;
    *h = (hungarian){.data = w.data, .sign = maximize ? -1.0 : 1.0};
    h->rows = turn ? w.cols : w.rows;
    h->cols = turn ? w.rows : w.cols;
    h->row_step = turn ? 1 : w.ld;
    h->col_step = turn ? w.ld : 1;
    PLX_TRY(plx__arena_f64(&h->u, scratch, h->rows + 1, 1));
    PLX_TRY(plx__arena_f64(&h->v, scratch, h->cols + 1, 1));
    PLX_TRY(plx__arena_f64(&h->slack, scratch, h->cols + 1, 1));
    PLX_TRY(plx__arena_i64(&h->row_of, scratch, h->cols + 1));
    PLX_TRY(plx__arena_i64(&h->from, scratch, h->cols + 1));
    return plx__arena_u8(&h->done, scratch, h->cols + 1);
}

/* Settle one more column: relax all open ones from `column`, return the nearest (smallest index on ties). */
static plx_index relax(hungarian *h, plx_index column, double *delta)
{
    plx_index row = h->row_of[column], best = 0;
    *delta = INFINITY;
    for (plx_index j = 1; j <= h->cols; j++) {
        if (h->done[j]) continue;
        double reduced = cost(h, row - 1, j - 1) - h->u[row] - h->v[j];
        if (reduced < h->slack[j]) {
            h->slack[j] = reduced;
            h->from[j] = column;
        }
        if (h->slack[j] < *delta) {
            *delta = h->slack[j];
            best = j;
        }
    }
    return best;
}

static void shift_potentials(hungarian *h, double delta)
{
    for (plx_index j = 0; j <= h->cols; j++) {
        if (h->done[j]) {
            h->u[h->row_of[j]] += delta;
            h->v[j] -= delta;
        } else {
            h->slack[j] -= delta;
        }
    }
}

static void insert_row(hungarian *h, plx_index row)
{
    plx_index column = 0;
    h->row_of[0] = row;
    for (plx_index j = 0; j <= h->cols; j++) {
        h->slack[j] = INFINITY;
        h->done[j] = 0;
    }
    do {
        double delta = 0;
        h->done[column] = 1;
        plx_index next = relax(h, column, &delta);
        shift_potentials(h, delta);
        column = next;
    } while (h->row_of[column] != 0);
    while (column != 0) { /* flip the path */
        plx_index before = h->from[column];
        h->row_of[column] = h->row_of[before];
        column = before;
    }
}

static plx_status check_finite(plx_context *ctx, plx_cmat w)
{
    for (plx_index i = 0; i < w.rows; i++)
        for (plx_index j = 0; j < w.cols; j++)
            if (!isfinite(w.data[i * w.ld + j]))
                PLX_FAIL(ctx, PLX_E_DATA, "assignment: weight (%lld, %lld) is not finite", (long long)i, (long long)j);
    return PLX_OK;
}

plx_status plx__assignment(plx_context *ctx, plx_cmat weight, bool maximize, plx_index *column_of_row, double *total)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    hungarian h;
    double sum = 0;
    PLX_TRY(check_finite(ctx, weight));
    PLX_TRY(prepare(ctx, &h, weight, maximize));
    for (plx_index i = 1; i <= h.rows; i++) {
        PLX_TRY(plx__poll(ctx));
        insert_row(&h, i);
    }
    for (plx_index i = 0; i < weight.rows; i++) column_of_row[i] = -1;
    for (plx_index j = 1; j <= h.cols; j++) {
        if (h.row_of[j] == 0) continue;
        if (weight.cols < weight.rows) column_of_row[j - 1] = h.row_of[j] - 1;
        else column_of_row[h.row_of[j] - 1] = j - 1;
    }
    for (plx_index i = 0; i < weight.rows; i++)
        if (column_of_row[i] >= 0) sum += weight.data[i * weight.ld + column_of_row[i]];
    if (total) *total = sum;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
