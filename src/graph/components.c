/*
 * Disjoint sets with path halving; the smaller root wins, so that components are numbered by their smallest
 * vertex.
 */
#include "graph/components.h"

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

void plx__disjoint_join(int32_t *parent, plx_index a, plx_index b)
{
    int32_t x = root_of(parent, (int32_t)a), y = root_of(parent, (int32_t)b);
    if (x < y) parent[y] = x;
    else parent[x] = y;
}

plx_status plx__disjoint_number(int32_t *out, plx_index *count, plx_context *ctx, int32_t *parent, const uint8_t *used,
                                plx_index n)
{
    int32_t *number = NULL, next = 0;
    PLX_TRY(plx__arena_i32(&number, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) number[i] = -1;
    for (plx_index i = 0; i < n; i++) {
        int32_t *mine = &number[root_of(parent, (int32_t)i)];
        if (used[i] && *mine < 0) *mine = next++;
        out[i] = used[i] ? *mine : -1;
    }
    *count = next;
    return PLX_OK;
}

static plx_status new_sets(int32_t **out, int32_t **parent, uint8_t **used, plx_context *ctx, plx_index n)
{
    PLX_TRY(plx__arena_i32(out, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_i32(parent, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_u8(used, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) (*parent)[i] = (int32_t)i;
    return PLX_OK;
}

plx_status plx__components(int32_t **out, plx_index *count, plx_context *ctx, plx_ccsr a)
{
    int32_t *parent = NULL;
    uint8_t *used = NULL;
    PLX_TRY(new_sets(out, &parent, &used, ctx, a.rows));
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            if (!(a.val[p] > 0)) continue;
            used[i] = 1;
            plx__disjoint_join(parent, i, a.col[p]);
        }
    return plx__disjoint_number(*out, count, ctx, parent, used, a.rows);
}

plx_status plx__components_dense(int32_t **out, plx_index *count, plx_context *ctx, plx_cmat a)
{
    int32_t *parent = NULL;
    uint8_t *used = NULL;
    PLX_TRY(new_sets(out, &parent, &used, ctx, a.rows));
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index j = 0; j < i; j++) {
            if (!(a.data[i * a.ld + j] > 0)) continue;
            used[i] = used[j] = 1;
            if (parent[i] != parent[j]) plx__disjoint_join(parent, i, j);
        }
    for (plx_index i = 0; i < a.rows; i++) used[i] |= a.data[i * a.ld + i] > 0;
    return plx__disjoint_number(*out, count, ctx, parent, used, a.rows);
}
