/*
 * Joins: all pairs of a small group of rows.
 *
 * Dense groups are copied as columns, so that sixteen separations grow side by side, each summed over the features in
 * order: the same bytes wherever the pair is met, and both ways round. Sparse rows are scattered one at a time; a
 * product then costs the entries of the other row, added in the order of the columns.
 */
#include <math.h>

#include "graph/descent_impl.h"
#include "linalg/clones.h"

enum { LANES = PLX__DESCENT_LANES, TILE = 4 };

/* Half as long as LANES: the compiler keeps wider ones in memory where the processor has none. */
typedef float half __attribute__((vector_size(2 * LANES)));

/* ---- separations ---- */

static float limit_of(const plx__descent_lists *lists, uint32_t position)
{
    return atomic_load_explicit(&lists->limit[position], memory_order_relaxed);
}

static plx_index padded(plx_index count) { return (count + LANES - 1) / LANES * LANES; }

static void copy_columns(const plx__descent_rows *rows, const uint32_t *group, plx_index count, float *block)
{
    plx_index width = padded(count);
    for (plx_index j = 0; j < width; j++) {
        const float *x = rows->value + (plx_index)group[j < count ? j : 0] * rows->ld;
        for (plx_index t = 0; t < rows->cols; t++) block[t * width + j] = x[t];
    }
}

/* |x_a - x_j|^2 for TILE rows and the columns from `first` on. */
PLX__CLONES static void tile_separations(const float *const x[TILE], const float *block, plx_index cols,
                                         plx_index width, plx_index first, float *out)
{
    const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    for (plx_index j = first; j < width; j += LANES) {
        half a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, b0 = {0}, b1 = {0}, b2 = {0}, b3 = {0};
        const float *column = block + j;
        for (plx_index t = 0; t < cols; t++, column += width) {
            half z = *(const half *)column, w = *(const half *)(column + LANES / 2), d;
            d = z - x0[t], a0 += d * d;
            d = z - x1[t], a1 += d * d;
            d = z - x2[t], a2 += d * d;
            d = z - x3[t], a3 += d * d;
            d = w - x0[t], b0 += d * d;
            d = w - x1[t], b1 += d * d;
            d = w - x2[t], b2 += d * d;
            d = w - x3[t], b3 += d * d;
        }
        half *to = (half *)(out + j);
        plx_index step = width / (LANES / 2);
        to[0] = a0, to[1] = b0;
        to[step] = a1, to[step + 1] = b1;
        to[2 * step] = a2, to[2 * step + 1] = b2;
        to[3 * step] = a3, to[3 * step + 1] = b3;
    }
}

static float sparse_separation(const plx__descent_rows *rows, uint32_t a, uint32_t b, const double *scattered)
{
    plx_ccsr m = rows->source.csr;
    plx_index row = rows->row[b];
    double product = 0, x = rows->norm[a], z = rows->norm[b];
    for (int64_t p = m.ptr[row]; p < m.ptr[row + 1]; p++) product += m.val[p] * scattered[m.col[p]];
    double separation = rows->metric == PLX__COSINE ? 2.0 - 2.0 * product / sqrt(x * z) : x + z - 2.0 * product;
    return (float)fmax(0.0, separation);
}

static void sparse_separations(const plx__descent_rows *rows, const uint32_t *group, plx_index count, plx_index i,
                               plx__join_space *space)
{
    plx_ccsr m = rows->source.csr;
    plx_index row = rows->row[group[i]];
    for (int64_t p = m.ptr[row]; p < m.ptr[row + 1]; p++) space->scattered[m.col[p]] = m.val[p];
    for (plx_index j = i + 1; j < count; j++)
        space->separation[j] = sparse_separation(rows, group[i], group[j], space->scattered);
    for (int64_t p = m.ptr[row]; p < m.ptr[row + 1]; p++) space->scattered[m.col[p]] = 0.0;
}

/* ---- joins ---- */

/* First group of LANES from `from` on with something near enough for either end; late rounds find next to none. */
PLX__CLONES static plx_index next_near(const float *separation, const float *limit, float own, plx_index from,
                                       plx_index count)
{
    for (; from + LANES <= count; from += LANES) {
        int hits = 0;
        for (int l = 0; l < LANES; l++) {
            float most = limit[from + l] > own ? limit[from + l] : own;
            hits += separation[from + l] <= most;
        }
        if (hits) return from;
    }
    return from;
}

static void offer_row(plx__descent_lists *lists, const uint32_t *group, plx_index count, plx_index i,
                      const float *separation, float *limit)
{
    for (plx_index j = i + 1; j < count;) {
        plx_index near = next_near(separation, limit, limit[i], j, count), end = plx__min(count, near + LANES);
        for (j = near; j < end; j++) {
            if (group[i] == group[j]) continue;
            if (separation[j] <= limit[i]) {
                plx__descent_offer(lists, group[i], group[j], separation[j]);
                limit[i] = limit_of(lists, group[i]);
            }
            if (separation[j] <= limit[j]) {
                plx__descent_offer(lists, group[j], group[i], separation[j]);
                limit[j] = limit_of(lists, group[j]);
            }
        }
    }
}

void plx__join(const plx__descent_rows *rows, plx__descent_lists *lists, const uint32_t *group, plx_index count,
               plx_index fresh, plx__join_space *space)
{
    plx_index width = padded(count);
    for (plx_index j = 0; j < count; j++) space->limit[j] = limit_of(lists, group[j]);
    if (plx__points_sparse(rows->source)) {
        for (plx_index i = 0; i < fresh; i++) {
            sparse_separations(rows, group, count, i, space);
            offer_row(lists, group, count, i, space->separation, space->limit);
        }
        return;
    }
    copy_columns(rows, group, count, space->block);
    for (plx_index i = 0; i < fresh; i += TILE) {
        const float *x[TILE];
        for (plx_index r = 0; r < TILE; r++)
            x[r] = rows->value + (plx_index)group[plx__min(i + r, fresh - 1)] * rows->ld;
        tile_separations(x, space->block, rows->cols, width, i / LANES * LANES, space->separation);
        for (plx_index r = 0; r < plx__min(TILE, fresh - i); r++)
            offer_row(lists, group, count, i + r, space->separation + r * width, space->limit);
    }
}

plx_status plx__join_space_open(plx__join_space *out, plx_context *ctx, const plx__descent_rows *rows, plx_index most)
{
    plx__arena *scratch = plx__scratch(ctx);
    bool sparse = plx__points_sparse(rows->source);
    *out = (plx__join_space){0};
    PLX_TRY(plx__arena_bytes((void **)&out->separation, scratch, TILE * padded(most), sizeof(float)));
    PLX_TRY(plx__arena_bytes((void **)&out->limit, scratch, padded(most), sizeof(float)));
    if (sparse) return plx__arena_f64(&out->scattered, scratch, rows->cols, 1);
    return plx__arena_bytes((void **)&out->block, scratch, plx__max(1, rows->cols) * padded(most), sizeof(float));
}

double plx__join_space_bytes(plx_index cols, bool sparse, plx_index most)
{
    double width = (double)padded(most);
    return 4.0 * (TILE + 1) * width + (sparse ? 8.0 : 4.0 * width) * (double)plx__max(1, cols);
}
