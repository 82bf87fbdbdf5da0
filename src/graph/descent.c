/*
 * Nearest-neighbour descent: a neighbour of a neighbour is likely to be a neighbour.
 *
 * Leaves of random-projection trees give every row a first list; rounds make the lists better (descent_round.c). When
 * rounds bring little more and the recall is still below the target, the lists are made longer, more is compared in a
 * round, and further trees are joined. Data whose trees find little begin with the longer lists.
 */
#include "graph/descent.h"

#include <math.h>
#include <string.h>

#include "device/anywhere.h"
#include "graph/descent_impl.h"

enum {
    FEWEST_ROWS = 4096, /* below, exact search is as fast */
    STAGES = 3,
    MOST_ROUNDS = 20, /* of a stage */
    LEAF_BYTES = 1 << 17
};

/* What a stage does: lists as long as this times those of the first, rows drawn, and trees joined before. Measured on
 * clouds of 50 dimensions (the hard case) and on curved surfaces of 8: bench/bench_neighbours.py. */
static const struct {
    double length;
    plx_index room;
    int trees;
} STAGE[STAGES] = {{1.0, 24, 4}, {1.5, 60, 4}, {3.0, 60, 4}};

static const double EASY = 0.5;     /* recall of the first trees from which on the first stage is enough */
static const double LITTLE = 0.005; /* gain of recall by a round that is not worth another */

typedef struct descent {
    plx_context *ctx;
    const plx__knn_options *o;
    double target;
    plx_index k; /* neighbours that every row has */
    plx__descent_rows rows;
    plx__descent_lists lists;
    plx__recall_sample sample;
    plx_index leaf;      /* most rows of a leaf */
    uint64_t trees;      /* made so far */
    plx__ranked **ranks; /* of a worker */
    int64_t *index;
    double *distance;
    plx__descent_report *report;
} descent;

/* Long enough to be good where k is small; for large k a part of it does. */
static plx_index first_length(plx_index k) { return plx__max(k + 10, plx__min(2 * k, 40)); }

static plx_index stage_length(plx_index k, int stage)
{
    return (plx_index)(STAGE[stage].length * (double)first_length(k));
}

/* Leaves fill lists of every stage, and a leaf's copy stays in the second cache. */
static plx_index leaf_rows(plx_index k, plx_index cols, bool sparse)
{
    plx_index fit = sparse ? 64 : LEAF_BYTES / (4 * plx__max(1, cols));
    return plx__max(2 * stage_length(k, STAGES - 1) + 4, plx__min(256, fit));
}

/* ---- results ---- */

static plx_status rank_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const descent *s = arg;
    plx__ranked *ranks = s->ranks[worker];
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = begin; i < end; i++) {
        plx_index count = plx__descent_rank(&s->rows, &s->lists, s->k, i, ranks), at = s->rows.row[i] * s->o->k;
        for (plx_index t = 0; t < count; t++) {
            s->index[at + t] = ranks[t].row;
            if (s->distance) s->distance[at + t] = ranks[t].distance;
        }
    }
    return PLX_OK;
}

/* A zero row has the cosine 0 with everything: all are as near, and the first ones are taken. */
static void rank_zero_row(const descent *s, plx_index row)
{
    plx_index count = 0;
    for (plx_index j = 0; j < plx__points_rows(s->rows.source) && count < s->o->k; j++) {
        if (j == row || (s->o->present && !s->o->present[j])) continue;
        s->index[row * s->o->k + count] = j;
        if (s->distance) s->distance[row * s->o->k + count] = 1.0;
        count++;
    }
}

static plx_status write_results(descent *s)
{
    plx_index all = plx__points_rows(s->rows.source);
    plx__arena *scratch = plx__scratch(s->ctx);
    uint8_t *done = NULL;
    PLX_TRY(plx__arena_u8(&done, scratch, all));
    PLX_TRY(plx__arena_ptrs((void ***)&s->ranks, scratch, plx__workers(s->ctx)));
    for (int t = 0; t < plx__workers(s->ctx); t++)
        PLX_TRY(plx__arena_bytes((void **)&s->ranks[t], scratch, s->lists.length, sizeof **s->ranks));
    for (plx_index p = 0; p < all * s->o->k; p++) {
        s->index[p] = -1;
        if (s->distance) s->distance[p] = NAN;
    }
    PLX_TRY(plx__parallel_for(s->ctx, s->rows.n, 256, rank_range, s));
    for (plx_index i = 0; i < s->rows.n; i++) done[s->rows.row[i]] = 1;
    for (plx_index i = 0; i < all; i++)
        if (!done[i] && (!s->o->present || s->o->present[i])) rank_zero_row(s, i);
    return PLX_OK;
}

/* ---- trees ---- */

typedef struct leaf_job {
    descent *s;
    const plx__tree_leaves *tree;
    plx__join_space *space;
} leaf_job;

static plx_status join_leaves(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const leaf_job *job = arg;
    for (plx_index l = begin; l < end; l++) {
        plx_index first = job->tree->start[l], count = job->tree->start[l + 1] - first;
        PLX_TRY(plx__poll(ctx));
        plx__join(&job->s->rows, &job->s->lists, job->tree->order + first, count, count, &job->space[worker]);
    }
    return PLX_OK;
}

static plx_status join_tree(descent *s)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx__tree_leaves tree;
    leaf_job job = {s, &tree, NULL};
    PLX_TRY(plx__projection_tree(&tree, s->ctx, &s->rows, s->leaf, s->trees++));
    PLX_TRY(PLX__ARENA_NEW(&job.space, plx__scratch(s->ctx), plx__workers(s->ctx)));
    for (int t = 0; t < plx__workers(s->ctx); t++)
        PLX_TRY(plx__join_space_open(&job.space[t], s->ctx, &s->rows, s->leaf));
    PLX_TRY(plx__parallel_for(s->ctx, tree.count, 4, join_leaves, &job));
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

static plx_status measure(descent *s)
{
    return plx__recall_measure(&s->report->recall, s->ctx, &s->sample, &s->rows, &s->lists);
}

/* The first trees are joined to the end, whatever the time: every row has a list then. */
static plx_status join_trees(descent *s, int stage)
{
    for (int t = 0; t < STAGE[stage].trees; t++) {
        PLX_TRY(plx__report(s->ctx, "neighbours", (plx_index)s->trees, 0, s->report->recall));
        PLX_TRY(join_tree(s));
    }
    return measure(s);
}

/* One tree puts the rows in order: their neighbours are then near them in memory. */
static plx_status sort_by_tree(descent *s)
{
    plx__tree_leaves tree;
    PLX_TRY(plx__projection_tree(&tree, s->ctx, &s->rows, s->leaf, s->trees++));
    return plx__descent_rows_sort(&s->rows, s->ctx, tree.order);
}

/* ---- the search ---- */

static plx_status run_rounds(descent *s, int stage)
{
    plx__descent_round round;
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    double gain = 1.0;
    PLX_TRY(plx__descent_round_open(&round, s->ctx, &s->rows, &s->lists, STAGE[stage].room));
    for (int r = 0; r < MOST_ROUNDS && s->report->recall < s->target && gain >= LITTLE; r++) {
        double before = s->report->recall;
        if (plx__out_of_time(s->ctx)) break;
        PLX_TRY(plx__descent_run_round(&round, s->ctx, (uint64_t)s->report->rounds++));
        PLX_TRY(measure(s));
        PLX_TRY(plx__report(s->ctx, "neighbours", s->report->rounds, 0, s->report->recall));
        gain = s->report->recall - before;
    }
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

static plx_status improve(descent *s)
{
    int stage = 0;
    PLX_TRY(plx__descent_lists_open(&s->lists, s->ctx, s->rows.n, stage_length(s->k, 0)));
    PLX_TRY(join_trees(s, 0));
    if (s->report->recall >= EASY) PLX_TRY(run_rounds(s, stage));
    while (s->report->recall < s->target && ++stage < STAGES && !plx__out_of_time(s->ctx)) {
        PLX_TRY(plx__descent_lists_grow(&s->lists, s->ctx, stage_length(s->k, stage)));
        PLX_TRY(join_trees(s, stage));
        PLX_TRY(run_rounds(s, stage));
    }
    s->report->length = s->lists.length;
    s->report->out_of_time = s->report->recall < s->target && plx__out_of_time(s->ctx);
    return write_results(s);
}

static plx_status search(descent *s)
{
    s->k = s->o->k;
    PLX_TRY(sort_by_tree(s));
    PLX_TRY(plx__recall_sample_take(&s->sample, s->ctx, &s->rows, s->k, s->o->present));
    plx_status st = improve(s);
    plx__descent_lists_close(&s->lists, s->ctx);
    return st;
}

static bool too_few(plx_index n, plx_index k, plx_index cols, bool sparse)
{
    return n < FEWEST_ROWS || n < 4 * leaf_rows(k, cols, sparse) || n > INT32_MAX / 2;
}

plx_status plx__descent_knn(plx_context *ctx, plx__points rows, const plx__knn_options *options, double target,
                            int64_t *index, double *distance, plx__descent_report *report)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    descent s = {.ctx = ctx, .o = options, .target = target, .index = index, .distance = distance, .report = report};
    bool sparse = plx__points_sparse(rows);
    plx_index cols = plx__points_cols(rows);
    *report = (plx__descent_report){.recall = 1.0, .exact = true};
    s.leaf = leaf_rows(options->k, cols, sparse);
    if (!too_few(plx__points_rows(rows), options->k, cols, sparse)) {
        PLX_TRY(plx__descent_rows_open(&s.rows, ctx, rows, options->metric, options->present));
        report->exact = too_few(s.rows.n, options->k, cols, sparse);
    }
    if (!report->exact) PLX_TRY(search(&s));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return report->exact ? plx__knn_anywhere(ctx, rows, rows, options, index, distance) : PLX_OK;
}

double plx__descent_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse)
{
    plx_index cols = (plx_index)(entries / (double)plx__max(1, n)), leaf = leaf_rows(k, cols, sparse);
    int workers = plx__workers(ctx), last = STAGES - 1;
    if (too_few(n, k, cols, sparse)) return plx__knn_bytes(ctx, n, k, entries, sparse);
    double lists =
        plx__descent_lists_bytes(n, stage_length(k, last)) + plx__descent_lists_bytes(n, stage_length(k, last - 1));
    double round = plx__descent_round_bytes(n, cols, sparse, STAGE[last].room, workers);
    double tree = plx__projection_tree_bytes(n, cols, leaf, workers);
    double leaves = (double)workers * plx__join_space_bytes(cols, sparse, leaf);
    double before = plx__recall_sample_bytes(ctx, n, k, entries, sparse);
    return plx__descent_rows_bytes(n, cols, sparse) + tree + fmax(before, lists + fmax(round, tree + leaves)) +
           (double)n;
}
