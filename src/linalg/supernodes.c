/*
 * Approximate minimum degree order (libamd), elimination tree, column counts of the factor, supernodes.
 *
 * The tree is Liu's (parent of column j: the first row below it in the factor), the counts come from the skeleton of
 * the row subtrees (Gilbert, Ng, Peyton 1994) in nearly linear time. Columns are renumbered by a postorder of the tree,
 * so that columns of one supernode are neighbours. Neighbouring supernodes are merged while few explicit zeros are
 * stored for it (Ashcraft and Grimes 1989): wide panels are what makes the dense kernels fast.
 */
#include "linalg/supernodes.h"

#include <amd.h>
#include <string.h>

#include "linalg/csr.h"

/* Strict lower triangle by rows in elimination order, and the same by columns: patterns only. */
typedef struct pattern {
    int64_t *ptr;
    int32_t *at;
} pattern;

typedef struct analysis {
    plx__supernodes *x;
    plx__arena *keep, *work; /* memory of the result; memory given back at the end */
    plx_ccsr a;
    pattern by_row, by_col;
    int32_t *parent; /* elimination tree; -1: root */
    int32_t *count;  /* entries of a column of the factor, the diagonal among them */
} analysis;

/* ---- order ---- */

/* Both triangles without the diagonal, column after column, as libamd wants them. */
static void fill_both_triangles(plx_ccsr a, SuiteSparse_long *ptr, SuiteSparse_long *len, SuiteSparse_long *at)
{
    for (plx_index i = 0; i < a.rows; i++)
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++)
            if (a.col[p] < i) len[i]++, len[a.col[p]]++;
    SuiteSparse_long sum = 0;
    for (plx_index i = 0; i < a.rows; i++) {
        ptr[i] = sum;
        sum += len[i];
        len[i] = 0;
    }
    for (plx_index i = 0; i < a.rows; i++)
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            plx_index j = a.col[p];
            if (j >= i) continue;
            at[ptr[i] + len[i]++] = j;
            at[ptr[j] + len[j]++] = i;
        }
}

static int64_t strictly_lower(plx_ccsr a)
{
    int64_t count = 0;
    for (plx_index i = 0; i < a.rows; i++)
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) count += a.col[p] < i;
    return count;
}

/* amd_l2 works in memory given to it (amd_l_order would call malloc). It wants a fifth more than the pattern, and n. */
static plx_status find_order(analysis *z)
{
    enum { ARRAYS = 9 };
    plx__mark mark = plx__arena_mark(z->work);
    int64_t n = z->x->n, entries = 2 * strictly_lower(z->a), room = entries + entries / 5 + n;
    SuiteSparse_long *w[ARRAYS], *at = NULL;
    double control[AMD_CONTROL], info[AMD_INFO];
    for (int i = 0; i < ARRAYS; i++) PLX_TRY(PLX__ARENA_NEW(&w[i], z->work, n));
    PLX_TRY(PLX__ARENA_NEW(&at, z->work, room));
    fill_both_triangles(z->a, w[0], w[1], at);
    amd_l_defaults(control);
    amd_l2(n, w[0], at, w[1], room, entries, w[2], w[3], w[4], w[5], w[6], w[7], w[8], control, info);
    for (plx_index k = 0; k < n; k++) z->x->order[k] = (int32_t)w[4][k];
    plx__arena_rewind(z->work, mark);
    return PLX_OK;
}

static void invert_order(const plx__supernodes *x)
{
    for (plx_index k = 0; k < x->n; k++) x->place[x->order[k]] = (int32_t)k;
}

/* ---- pattern and elimination tree ---- */

/* Strict lower triangle of P A P', row by row. */
static plx_status permute_rows(analysis *z)
{
    plx_index n = z->x->n;
    const int32_t *place = z->x->place;
    int64_t *fill = NULL;
    memset(z->by_row.ptr, 0, (size_t)(n + 1) * sizeof *z->by_row.ptr);
    PLX_TRY(plx__arena_i64(&fill, z->work, n));
    for (int pass = 0; pass < 2; pass++) {
        for (plx_index i = 0; i < n; i++)
            for (int64_t p = z->a.ptr[i]; p < z->a.ptr[i + 1]; p++) {
                if (z->a.col[p] >= i) continue;
                int32_t r = place[i], c = place[z->a.col[p]];
                plx_index row = plx__max(r, c);
                if (pass == 0) z->by_row.ptr[row + 1]++;
                else z->by_row.at[z->by_row.ptr[row] + fill[row]++] = (int32_t)plx__min(r, c);
            }
        for (plx_index i = 0; pass == 0 && i < n; i++) z->by_row.ptr[i + 1] += z->by_row.ptr[i];
    }
    return PLX_OK;
}

static plx_status turn_pattern(analysis *z)
{
    plx_index n = z->x->n;
    int64_t *fill = NULL;
    PLX_TRY(plx__arena_i64(&z->by_col.ptr, z->work, n + 1));
    PLX_TRY(plx__arena_i64(&fill, z->work, n));
    PLX_TRY(plx__arena_i32(&z->by_col.at, z->work, z->by_row.ptr[n]));
    for (int64_t p = 0; p < z->by_row.ptr[n]; p++) z->by_col.ptr[z->by_row.at[p] + 1]++;
    for (plx_index j = 0; j < n; j++) z->by_col.ptr[j + 1] += z->by_col.ptr[j];
    for (plx_index i = 0; i < n; i++)
        for (int64_t p = z->by_row.ptr[i]; p < z->by_row.ptr[i + 1]; p++) {
            int32_t j = z->by_row.at[p];
            z->by_col.at[z->by_col.ptr[j] + fill[j]++] = (int32_t)i;
        }
    return PLX_OK;
}

/* Climb from every entry of row i to the root found so far and hang that root below i; `up` shortens later climbs. */
static void find_tree(analysis *z, int32_t *up)
{
    for (int32_t i = 0; i < z->x->n; i++) {
        z->parent[i] = up[i] = -1;
        for (int64_t p = z->by_row.ptr[i]; p < z->by_row.ptr[i + 1]; p++) {
            int32_t j = z->by_row.at[p];
            while (j != -1 && j < i) {
                int32_t next = up[j];
                up[j] = i;
                if (next == -1) z->parent[j] = i;
                j = next;
            }
        }
    }
}

/* Number the columns of the tree children first, without recursion: go down to the first child left, number a column
 * when it has none. */
static plx_status postorder(const analysis *z, int32_t *number)
{
    int32_t n = (int32_t)z->x->n, *child = NULL, *sibling = NULL, *stack = NULL, next = 0;
    PLX_TRY(plx__arena_i32(&child, z->work, n));
    PLX_TRY(plx__arena_i32(&sibling, z->work, n));
    PLX_TRY(plx__arena_i32(&stack, z->work, n));
    for (int32_t j = 0; j < n; j++) child[j] = -1;
    for (int32_t j = n - 1; j >= 0; j--) {
        if (z->parent[j] == -1) continue;
        sibling[j] = child[z->parent[j]];
        child[z->parent[j]] = j;
    }
    for (int32_t root = 0; root < n; root++) {
        int32_t depth = 0;
        if (z->parent[root] != -1) continue;
        stack[depth++] = root;
        while (depth > 0) {
            int32_t j = stack[depth - 1], c = child[j];
            if (c == -1) number[stack[--depth]] = next++;
            else {
                child[j] = sibling[c];
                stack[depth++] = c;
            }
        }
    }
    return PLX_OK;
}

/* Renumber order and tree by the postorder; the pattern is made again. */
static plx_status renumber(analysis *z)
{
    plx_index n = z->x->n;
    int32_t *number = NULL, *old = NULL, *up = NULL;
    PLX_TRY(plx__arena_i32(&number, z->work, n));
    PLX_TRY(plx__arena_i32(&old, z->work, n));
    PLX_TRY(plx__arena_i32(&up, z->work, n));
    find_tree(z, up);
    PLX_TRY(postorder(z, number));
    for (plx_index j = 0; j < n; j++) old[number[j]] = z->x->order[j];
    memcpy(z->x->order, old, (size_t)n * sizeof *old);
    for (plx_index j = 0; j < n; j++) up[number[j]] = z->parent[j] == -1 ? -1 : number[z->parent[j]];
    memcpy(z->parent, up, (size_t)n * sizeof *up);
    invert_order(z->x);
    return permute_rows(z);
}

/* ---- column counts ---- */

typedef struct leaves {
    int32_t *first;    /* first (smallest) descendant of a column */
    int32_t *deepest;  /* largest first descendant among the leaves of a row's subtree so far */
    int32_t *previous; /* last leaf of a row's subtree so far */
    int32_t *ancestor; /* disjoint sets: climbs to the root of the part of the tree done so far */
} leaves;

static int32_t climb(int32_t *ancestor, int32_t j)
{
    int32_t root = j;
    while (ancestor[root] != root) root = ancestor[root];
    while (j != root) {
        int32_t next = ancestor[j];
        ancestor[j] = root;
        j = next;
    }
    return root;
}

/* Column j in row i: when j is a leaf of the row's subtree, one path starts at j and the part shared with the previous
 * leaf, from their common ancestor on, is not counted twice. */
static void count_leaf(const leaves *l, int32_t *delta, int32_t i, int32_t j)
{
    if (l->first[j] <= l->deepest[i]) return;
    int32_t before = l->previous[i];
    l->deepest[i] = l->first[j];
    l->previous[i] = j;
    delta[j]++;
    if (before != -1) delta[climb(l->ancestor, before)]--;
}

static void find_first_descendants(const analysis *z, int32_t *first)
{
    for (int32_t j = 0; j < z->x->n; j++) first[j] = j;
    for (int32_t j = 0; j < z->x->n; j++) {
        int32_t up = z->parent[j];
        if (up != -1 && first[j] < first[up]) first[up] = first[j];
    }
}

static plx_status count_columns(analysis *z)
{
    int32_t n = (int32_t)z->x->n, *delta = z->count;
    leaves l;
    PLX_TRY(plx__arena_i32(&l.first, z->work, n));
    PLX_TRY(plx__arena_i32(&l.deepest, z->work, n));
    PLX_TRY(plx__arena_i32(&l.previous, z->work, n));
    PLX_TRY(plx__arena_i32(&l.ancestor, z->work, n));
    find_first_descendants(z, l.first);
    for (int32_t j = 0; j < n; j++) {
        l.deepest[j] = l.previous[j] = -1;
        l.ancestor[j] = j;
        delta[j] = l.first[j] == j;
    }
    for (int32_t j = 0; j < n; j++) {
        if (z->parent[j] != -1) delta[z->parent[j]]--;
        for (int64_t p = z->by_col.ptr[j]; p < z->by_col.ptr[j + 1]; p++) count_leaf(&l, delta, z->by_col.at[p], j);
        if (z->parent[j] != -1) l.ancestor[j] = z->parent[j];
    }
    for (int32_t j = 0; j < n; j++)
        if (z->parent[j] != -1) delta[z->parent[j]] += delta[j];
    return PLX_OK;
}

/* ---- supernodes ---- */

/* Largest runs of columns, each the parent of the one before with one entry less. */
static plx_index exact_supernodes(const analysis *z, int32_t *first)
{
    plx_index count = 0;
    for (int32_t j = 0; j < z->x->n; j++)
        if (j == 0 || z->parent[j - 1] != j || z->count[j - 1] != z->count[j] + 1) first[count++] = j;
    first[count] = (int32_t)z->x->n;
    return count;
}

/* May a panel of `cols` columns hold this share of zeros? Narrow ones cost more than the zeros do. */
static bool worth_merging(double zeros, double size, int64_t cols)
{
    static const struct {
        int64_t cols;
        double share;
    } limits[] = {{4, 1.0}, {16, 0.8}, {48, 0.2}};
    for (int i = 0; i < 3; i++)
        if (cols <= limits[i].cols) return zeros <= limits[i].share * size;
    return zeros <= 0.05 * size;
}

/* From right to left: does the supernode before fit in front of this one (its parent)? Entries of columns begin..end-1,
 * with `below` rows under them, are a trapezium; what the counts do not explain is zero. */
static plx_index merge_supernodes(const analysis *z, int32_t *first, plx_index count)
{
    plx_index to = count;
    int32_t end = (int32_t)z->x->n;
    for (plx_index s = count - 1; s >= 0;) {
        int32_t begin = first[s], head = begin;
        double below = (double)(z->count[head] - (first[s + 1] - head)), held = 0;
        end = first[s + 1];
        for (int32_t j = begin; j < end; j++) held += z->count[j];
        for (s--; s >= 0 && z->parent[begin - 1] != -1 && z->parent[begin - 1] < end; s--) {
            double more = held, cols = (double)(end - first[s]), size = cols * (cols + 1) / 2 + cols * below;
            for (int32_t j = first[s]; j < begin; j++) more += z->count[j];
            if (!worth_merging(size - more, size, end - first[s])) break;
            held = more;
            begin = first[s];
        }
        first[--to] = begin;
    }
    memmove(first, first + to, (size_t)(count - to) * sizeof *first);
    first[count - to] = (int32_t)z->x->n;
    return count - to;
}

static plx_status find_supernodes(analysis *z)
{
    plx__supernodes *x = z->x;
    int32_t *first = NULL;
    PLX_TRY(plx__arena_i32(&first, z->work, x->n + 1));
    x->count = merge_supernodes(z, first, exact_supernodes(z, first));
    PLX_TRY(plx__arena_i32(&x->first, z->keep, x->count + 1));
    memcpy(x->first, first, (size_t)(x->count + 1) * sizeof *first);
    for (plx_index s = 0; s < x->count; s++)
        for (int32_t j = first[s]; j < first[s + 1]; j++) x->of[j] = (int32_t)s;
    return PLX_OK;
}

/* ---- rows of the supernodes ---- */

/* Row i belongs to every supernode on the way from its entries up to its own. Rows come in rising order, so each list is
 * sorted. The first pass counts, the second writes. */
static void climb_rows(const analysis *z, const int32_t *up, int32_t *seen, int64_t *fill)
{
    const plx__supernodes *x = z->x;
    for (plx_index s = 0; s < x->count; s++) seen[s] = -1;
    for (int32_t i = 0; i < x->n; i++)
        for (int64_t p = z->by_row.ptr[i]; p < z->by_row.ptr[i + 1]; p++)
            for (int32_t s = x->of[z->by_row.at[p]]; s != x->of[i] && seen[s] != i; s = up[s]) {
                seen[s] = i;
                if (x->row) x->row[x->row_ptr[s] + fill[s]] = i;
                fill[s]++;
            }
}

static plx_status list_rows(analysis *z)
{
    plx__supernodes *x = z->x;
    int32_t *up = NULL, *seen = NULL;
    int64_t *fill = NULL;
    PLX_TRY(plx__arena_i32(&up, z->work, x->count));
    PLX_TRY(plx__arena_i32(&seen, z->work, x->count));
    PLX_TRY(plx__arena_i64(&fill, z->work, x->count));
    PLX_TRY(plx__arena_i64(&x->row_ptr, z->keep, x->count + 1));
    PLX_TRY(plx__arena_i64(&x->panel, z->keep, x->count + 1));
    for (plx_index s = 0; s < x->count; s++) {
        int32_t above = z->parent[x->first[s + 1] - 1];
        up[s] = above == -1 ? -1 : x->of[above];
    }
    climb_rows(z, up, seen, fill);
    for (plx_index s = 0; s < x->count; s++) {
        plx_index cols = plx__super_cols(x, s);
        x->row_ptr[s + 1] = x->row_ptr[s] + fill[s];
        x->panel[s + 1] = x->panel[s] + (cols + fill[s]) * cols;
        fill[s] = 0;
    }
    PLX_TRY(plx__arena_i32(&x->row, z->keep, x->row_ptr[x->count]));
    climb_rows(z, up, seen, fill);
    return PLX_OK;
}

static plx_status analyse(analysis *z)
{
    plx_index n = z->x->n;
    PLX_TRY(find_order(z));
    invert_order(z->x);
    PLX_TRY(plx__arena_i64(&z->by_row.ptr, z->work, n + 1));
    PLX_TRY(plx__arena_i32(&z->by_row.at, z->work, strictly_lower(z->a)));
    PLX_TRY(plx__arena_i32(&z->parent, z->work, n));
    PLX_TRY(plx__arena_i32(&z->count, z->work, n));
    PLX_TRY(permute_rows(z));
    PLX_TRY(renumber(z));
    PLX_TRY(turn_pattern(z));
    PLX_TRY(count_columns(z));
    PLX_TRY(find_supernodes(z));
    return list_rows(z);
}

plx_status plx__supernodes_find(plx__supernodes *out, plx__arena *arena, plx_ccsr a)
{
    plx__arena work;
    analysis z = {.x = out, .keep = arena, .work = &work, .a = a};
    *out = (plx__supernodes){.n = a.rows};
    PLX_TRY(plx__arena_i32(&out->order, arena, a.rows));
    PLX_TRY(plx__arena_i32(&out->place, arena, a.rows));
    PLX_TRY(plx__arena_i32(&out->of, arena, a.rows));
    plx__arena_init(&work, arena->ctx);
    plx_status st = analyse(&z);
    plx__arena_free(&work);
    return st;
}
