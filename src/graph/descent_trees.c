/*
 * Random-projection trees: the rows of a node are cut in half by their place along the line through two rows of it that
 * were drawn at random, until a leaf is small. Halves are cut at the median, so leaves are even and the depth is known.
 *
 * The upper nodes are cut one after the other with their projections in parallel, the rest side by side.
 */
#include <math.h>

#include "core/rng.h"
#include "graph/descent_impl.h"
#include "linalg/clones.h"

enum { LANES = PLX__DESCENT_LANES, SIDE_BY_SIDE = 64, GRAIN = 8192 };

typedef float half __attribute__((vector_size(2 * LANES)));

typedef struct placed {
    float place;
    uint32_t position;
} placed;

typedef struct tree_job {
    const plx__descent_rows *rows;
    placed *item;
    uint64_t seed, stream;
    plx_index most;
    float **direction; /* of a worker: dense ld floats, sparse cols */
    plx_index begin;   /* of the node whose projections are made in parallel */
    plx_index *start;  /* of the nodes that are cut side by side */
    plx_index *leaf;   /* leaf l of such a node begins at leaf[l] */
    plx_index leaves;  /* of each of them */
} tree_job;

/* Of rows padded with zeros. */
PLX__CLONES static float inner(const float *a, const float *b, plx_index ld)
{
    half first = {0}, second = {0};
    float total = 0;
    for (plx_index t = 0; t < ld; t += LANES) {
        first += *(const half *)(a + t) * *(const half *)(b + t);
        second += *(const half *)(a + t + LANES / 2) * *(const half *)(b + t + LANES / 2);
    }
    first += second;
    for (int l = 0; l < LANES / 2; l++) total += first[l];
    return total;
}

/* ---- projections ---- */

static void add_sparse(float *direction, plx_ccsr m, plx_index row, double factor)
{
    for (int64_t p = m.ptr[row]; p < m.ptr[row + 1]; p++) direction[m.col[p]] += (float)(factor * m.val[p]);
}

static void clear_sparse(float *direction, plx_ccsr m, plx_index row)
{
    for (int64_t p = m.ptr[row]; p < m.ptr[row + 1]; p++) direction[m.col[p]] = 0.0f;
}

/* x_a - x_b, in units of their lengths where directions are what counts. */
static void set_direction(const plx__descent_rows *rows, uint32_t a, uint32_t b, float *direction)
{
    if (plx__points_sparse(rows->source)) {
        bool cosine = rows->metric == PLX__COSINE;
        add_sparse(direction, rows->source.csr, rows->row[a], cosine ? 1.0 / sqrt(rows->norm[a]) : 1.0);
        add_sparse(direction, rows->source.csr, rows->row[b], cosine ? -1.0 / sqrt(rows->norm[b]) : -1.0);
        return;
    }
    const float *x = rows->value + (plx_index)a * rows->ld, *z = rows->value + (plx_index)b * rows->ld;
    for (plx_index t = 0; t < rows->ld; t++) direction[t] = x[t] - z[t];
}

static void clear_direction(const plx__descent_rows *rows, uint32_t a, uint32_t b, float *direction)
{
    if (!plx__points_sparse(rows->source)) return;
    clear_sparse(direction, rows->source.csr, rows->row[a]);
    clear_sparse(direction, rows->source.csr, rows->row[b]);
}

static float place_of(const plx__descent_rows *rows, uint32_t position, const float *direction)
{
    if (!plx__points_sparse(rows->source))
        return inner(rows->value + (plx_index)position * rows->ld, direction, rows->ld);
    plx_ccsr m = rows->source.csr;
    plx_index row = rows->row[position];
    double sum = 0;
    for (int64_t p = m.ptr[row]; p < m.ptr[row + 1]; p++) sum += m.val[p] * (double)direction[m.col[p]];
    return (float)(rows->metric == PLX__COSINE ? sum / sqrt(rows->norm[position]) : sum);
}

static plx_status place_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const tree_job *job = arg;
    (void)worker;
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = job->begin + begin; i < job->begin + end; i++)
        job->item[i].place = place_of(job->rows, job->item[i].position, job->direction[0]);
    return PLX_OK;
}

/* ---- cuts ---- */

static bool before(placed a, placed b) { return a.place < b.place || (a.place == b.place && a.position < b.position); }

/* Hoare's selection: what belongs before `kth` is before it. */
static void select_half(placed *item, plx_index count, plx_index kth)
{
    plx_index left = 0, right = count - 1;
    while (left < right) {
        placed pivot = item[left + (right - left) / 2];
        plx_index i = left, j = right;
        while (i <= j) {
            while (before(item[i], pivot)) i++;
            while (before(pivot, item[j])) j--;
            if (i > j) break;
            placed t = item[i];
            item[i++] = item[j];
            item[j--] = t;
        }
        if (kth <= j) right = j;
        else if (kth >= i) left = i;
        else return;
    }
}

/* Two different rows of a node; which ones depends on the tree, the node's place and its size only. */
static void draw_pair(const tree_job *job, plx_index begin, plx_index count, uint32_t *a, uint32_t *b)
{
    uint64_t bits = plx__rng_u64(job->seed, job->stream, (uint64_t)begin << 32 | (uint64_t)count);
    plx_index first = (plx_index)((bits & 0xffffffffu) % (uint64_t)count);
    plx_index second = (plx_index)((bits >> 32) % (uint64_t)(count - 1));
    *a = job->item[begin + first].position;
    *b = job->item[begin + second + (second >= first)].position;
}

static void cut_node(const tree_job *job, plx_index begin, plx_index count, int worker)
{
    uint32_t a, b;
    draw_pair(job, begin, count, &a, &b);
    set_direction(job->rows, a, b, job->direction[worker]);
    for (plx_index i = begin; i < begin + count; i++)
        job->item[i].place = place_of(job->rows, job->item[i].position, job->direction[worker]);
    clear_direction(job->rows, a, b, job->direction[worker]);
    select_half(job->item + begin, count, count / 2);
}

static plx_status cut_in_parallel(tree_job *job, plx_context *ctx, plx_index begin, plx_index count)
{
    uint32_t a, b;
    draw_pair(job, begin, count, &a, &b);
    set_direction(job->rows, a, b, job->direction[0]);
    job->begin = begin;
    PLX_TRY(plx__parallel_for(ctx, count, GRAIN, place_range, job));
    clear_direction(job->rows, a, b, job->direction[0]);
    select_half(job->item + begin, count, count / 2);
    return PLX_OK;
}

/* Cuts a node down to `leaves` leaves (a power of two) of equal depth. */
static void cut_down(const tree_job *job, plx_index begin, plx_index count, plx_index leaves, plx_index *leaf,
                     int worker)
{
    if (leaves == 1) {
        *leaf = begin;
        return;
    }
    cut_node(job, begin, count, worker);
    cut_down(job, begin, count / 2, leaves / 2, leaf, worker);
    cut_down(job, begin + count / 2, count - count / 2, leaves / 2, leaf + leaves / 2, worker);
}

static plx_status cut_nodes(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const tree_job *job = arg;
    for (plx_index node = begin; node < end; node++) {
        PLX_TRY(plx__poll(ctx));
        cut_down(job, job->start[node], job->start[node + 1] - job->start[node], job->leaves,
                 job->leaf + node * job->leaves, worker);
    }
    return PLX_OK;
}

/* The upper nodes: start[] of `nodes` of them, in order. */
static plx_status cut_upper(tree_job *job, plx_context *ctx, plx_index nodes)
{
    job->start[nodes] = job->rows->n;
    job->start[0] = 0;
    for (plx_index step = nodes; step > 1; step /= 2)
        for (plx_index node = 0; node < nodes; node += step) {
            plx_index begin = job->start[node], count = job->start[node + step] - begin;
            PLX_TRY(cut_in_parallel(job, ctx, begin, count));
            job->start[node + step / 2] = begin + count / 2;
        }
    return PLX_OK;
}

plx_status plx__projection_tree(plx__tree_leaves *out, plx_context *ctx, const plx__descent_rows *rows, plx_index most,
                                uint64_t tree)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index leaves = 1, nodes = 0, wide = plx__points_sparse(rows->source) ? rows->cols : rows->ld;
    tree_job job = {.rows = rows, .most = most, .seed = ctx->seed, .stream = PLX__STREAM('r', 'p', 't', 'r', tree)};
    while ((rows->n + leaves - 1) / leaves > most) leaves *= 2;
    nodes = plx__min(leaves, SIDE_BY_SIDE);
    out->count = leaves;
    PLX_TRY(plx__arena_bytes((void **)&out->order, scratch, rows->n, sizeof *out->order));
    PLX_TRY(plx__arena_i64(&out->start, scratch, leaves + 1));
    plx__mark mark = plx__arena_mark(scratch);
    PLX_TRY(plx__arena_bytes((void **)&job.item, scratch, rows->n, sizeof *job.item));
    PLX_TRY(plx__arena_i64(&job.start, scratch, nodes + 1));
    PLX_TRY(plx__arena_ptrs((void ***)&job.direction, scratch, plx__workers(ctx)));
    for (int t = 0; t < plx__workers(ctx); t++)
        PLX_TRY(plx__arena_zeroed((void **)&job.direction[t], scratch, wide, sizeof(float)));
    for (plx_index i = 0; i < rows->n; i++) job.item[i] = (placed){0, (uint32_t)i};
    PLX_TRY(cut_upper(&job, ctx, nodes));
    job.leaves = leaves / nodes;
    job.leaf = out->start;
    PLX_TRY(plx__parallel_for(ctx, nodes, 1, cut_nodes, &job));
    out->start[leaves] = rows->n;
    for (plx_index i = 0; i < rows->n; i++) out->order[i] = job.item[i].position;
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

double plx__projection_tree_bytes(plx_index n, plx_index cols, plx_index most, int workers)
{
    return 12.0 * (double)n + 32.0 * ((double)n / (double)most + 1) + 4.0 * (double)(cols + LANES) * workers;
}
