/*
 * Directed neighbour lists are made symmetric by merging each row with that of the transpose; where both
 * directions exist with different values the smaller row's counts, so that the result does not depend on the
 * order of work.
 */
#include "graph/similarity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "graph/near_rows.h"

const plx__param_spec plx__graph_params[] = {PLX__GRAPH_PARAMS("10", "binary", "normalized"), PLX__PARAM_END};
const plx__param_spec plx__smooth_graph_params[] = {PLX__GRAPH_PARAMS("10", "binary", "scaled"), PLX__PARAM_END};

plx_status plx__graph_settings_of(plx__graph_settings *out, plx__run *run, const char *view)
{
    static const char *const names[] = {"graph_k",   "graph_metric",  "graph_weights", "graph_width",
                                        "graph_sym", "graph_scale_k", "laplacian",     "laplacian_power"};
    plx__value value[8];
    for (int i = 0; i < 8; i++) PLX_TRY(plx__view_value(&value[i], run->ctx, run->settings, names[i], view));
    *out = (plx__graph_settings){.k = (plx_index)value[0].number,
                                 .k_given = plx__view_value_level(run->settings, "graph_k", view) > 0,
                                 .metric = (plx__metric)value[1].word,
                                 .weights = (plx__edge_weights)value[2].word,
                                 .width = value[3].number,
                                 .mutual = value[4].word == 1,
                                 .scale_k = (plx_index)value[5].number,
                                 .laplacian = (plx__laplacian_kind)value[6].word,
                                 .power = (plx_index)value[7].number};
    return PLX_OK;
}

/* ---- from a directed relation to an undirected one ---- */

/* Merges row i of `a` with row i of its transpose `t`: all entries (or) or the common ones (and). Of two values the one
 * from the row of the smaller index counts, so that the result is symmetric to the last bit. Returns the number. */
static plx_index merge_row(plx_ccsr a, plx_ccsr t, plx_index i, bool mutual, int32_t *col, double *val)
{
    plx_index p = a.ptr[i], q = t.ptr[i], count = 0;
    while (p < a.ptr[i + 1] || q < t.ptr[i + 1]) {
        int32_t x = p < a.ptr[i + 1] ? a.col[p] : INT32_MAX, y = q < t.ptr[i + 1] ? t.col[q] : INT32_MAX;
        int32_t j = x < y ? x : y;
        if (x == y || !mutual) {
            if (col) {
                col[count] = j;
                val[count] = x == j && (y != j || i < j) ? a.val[p] : t.val[q];
            }
            count++;
        }
        p += x == j;
        q += y == j;
    }
    return count;
}

static plx_status undirected(plx_csr *out, plx_context *ctx, plx_ccsr a, bool mutual)
{
    plx_csr t;
    plx_index total = 0;
    PLX_TRY(plx__csr_transpose(&t, plx__scratch(ctx), a));
    for (plx_index i = 0; i < a.rows; i++) total += merge_row(a, plx__ccsr(t), i, mutual, NULL, NULL);
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), a.rows, a.rows, total));
    for (plx_index i = 0; i < a.rows; i++) {
        plx_index at = out->ptr[i];
        out->ptr[i + 1] = at + merge_row(a, plx__ccsr(t), i, mutual, out->col + at, out->val + at);
    }
    return PLX_OK;
}

/* ---- neighbours of rows ---- */

static plx_index among(const plx__graph_source *g, plx_index k)
{
    return plx__min(k, plx__max(1, plx__points_rows(g->rows) - 1));
}

plx_status plx__similarity_near(plx__near *out, plx_context *ctx, const plx__graph_source *g,
                                const plx__graph_settings *s)
{
    plx_index n = plx__points_rows(g->rows), k = among(g, s->k);
    if (s->weights == PLX__EDGES_LOCAL) k = plx__max(k, among(g, s->scale_k));
    *out = g->near;
    if (g->near.k >= k) return PLX_OK;
    *out = (plx__near){.k = k};
    plx__knn_options o = {.k = k, .metric = s->metric, .present = g->present, .self = true};
    PLX_TRY(plx__arena_i64(&out->index, plx__scratch(ctx), n * k));
    PLX_TRY(plx__arena_f64(&out->distance, plx__scratch(ctx), n, k));
    PLX_TRY(plx__neighbours(ctx, g->run, g->view, g->rows, g->bound, &o, out->index, out->distance));
    /* What the order of neighbours takes for 0 is 0 in the weights too: 1 - cos of collinear rows is mere rounding. */
    for (plx_index p = 0; p < n * k; p++)
        if (plx__distance_key(out->distance[p]) == 0) out->distance[p] = 0.0;
    return PLX_OK;
}

/* Directed edges to the first `kept`, with their distances as values. */
static plx_status directed(plx_csr *out, plx_context *ctx, const plx__near *near, plx_index kept, plx_index n)
{
    plx_index total = 0;
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), n, n, n * kept));
    for (plx_index i = 0; i < n; i++) {
        for (plx_index j = 0; j < kept && near->index[i * near->k + j] >= 0; j++) {
            out->col[total] = (int32_t)near->index[i * near->k + j];
            out->val[total++] = near->distance[i * near->k + j];
        }
        out->ptr[i + 1] = total;
    }
    return plx__csr_sort_rows(ctx, out);
}

void plx__near_scales(double *scale, const plx__near *near, plx_index n, plx_index scale_k)
{
    for (plx_index i = 0; i < n; i++) {
        scale[i] = 0;
        for (plx_index j = 0; j < plx__min(near->k, scale_k) && near->index[i * near->k + j] >= 0; j++)
            scale[i] = near->distance[i * near->k + j];
    }
}

/* ---- cosine weights of edges that were found by another distance ---- */

typedef struct cosine_job {
    plx__points rows;
    const int32_t *at; /* where the row of a sample is; NULL: all are here */
    plx_csr edges;
    plx_index first; /* sample */
} cosine_job;

static plx_status cosine_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const cosine_job *q = arg;
    (void)ctx, (void)worker;
    for (plx_index i = q->first + begin; i < q->first + end; i++)
        for (plx_index p = q->edges.ptr[i]; p < q->edges.ptr[i + 1]; p++) {
            plx_index a = i, b = q->edges.col[p];
            if (q->at) a = q->at[a], b = q->at[b];
            q->edges.val[p] = plx__point_distance(q->rows, a, q->rows, b, PLX__COSINE);
        }
    return PLX_OK;
}

/* Processes with rows of their own go through the edges of some samples each. */
static plx_status cosine_distances(plx_csr edges, plx_context *ctx, const plx__graph_source *g)
{
    cosine_job job = {.rows = g->rows, .edges = edges};
    plx__near_rows near;
    if (!g->bound) return plx__parallel_for(ctx, edges.rows, 256, cosine_rows, &job);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__near_rows_open(&near, ctx, plx__ccsr(edges)));
    job.at = near.at;
    while (plx__near_rows_next(&near, ctx)) {
        plx__mark round = plx__arena_mark(plx__scratch(ctx));
        PLX_TRY(plx__near_rows_fetch(&job.rows, ctx, &near, g->rows, g->bound));
        job.first = near.begin;
        PLX_TRY(plx__parallel_for(ctx, near.end - near.begin, 256, cosine_rows, &job));
        plx__arena_rewind(plx__scratch(ctx), round);
    }
    PLX_TRY(plx__near_rows_share(ctx, near.cut, edges));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- weights ---- */

typedef struct weight_job {
    const plx__graph_settings *s;
    plx_csr w; /* distances become weights */
    double width;
    const double *scale;
} weight_job;

static double edge_weight(const weight_job *job, plx_index i, plx_index j, double d)
{
    switch (job->s->weights) {
    case PLX__EDGES_BINARY: return 1.0;
    case PLX__EDGES_HEAT: return job->width > 0 ? exp(-d * d / (2 * job->width * job->width)) : 1.0;
    case PLX__EDGES_COSINE: return fmax(0.0, 1.0 - d);
    case PLX__EDGES_LOCAL: break;
    }
    double product = job->scale[i] * job->scale[j];
    return product > 0 ? exp(-d * d / product) : d == 0 ? 1.0 : 0.0;
}

static plx_status weigh_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const weight_job *job = arg;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++)
        for (plx_index p = job->w.ptr[i]; p < job->w.ptr[i + 1]; p++)
            job->w.val[p] = edge_weight(job, i, job->w.col[p], job->w.val[p]);
    return PLX_OK;
}

static double mean_distance(plx_ccsr w)
{
    double sum = 0;
    for (plx_index p = 0; p < plx__nnz(w); p++) sum += w.val[p];
    return plx__nnz(w) ? sum / (double)plx__nnz(w) : 0.0;
}

static plx_status neighbour_graph(plx_csr *out, plx_context *ctx, const plx__graph_source *g,
                                  const plx__graph_settings *s)
{
    plx_index n = plx__points_rows(g->rows);
    plx__near near;
    plx_csr relation;
    double *scale = NULL;
    PLX_TRY(plx__similarity_near(&near, ctx, g, s));
    PLX_TRY(directed(&relation, ctx, &near, among(g, s->k), n));
    if (s->weights == PLX__EDGES_COSINE && s->metric != PLX__COSINE) PLX_TRY(cosine_distances(relation, ctx, g));
    PLX_TRY(undirected(out, ctx, plx__ccsr(relation), s->mutual));
    if (s->weights == PLX__EDGES_LOCAL) {
        PLX_TRY(plx__arena_f64(&scale, plx__scratch(ctx), n, 1));
        plx__near_scales(scale, &near, n, s->scale_k);
    }
    weight_job job = {s, *out, isnan(s->width) ? mean_distance(plx__ccsr(*out)) : s->width, scale};
    return plx__parallel_for(ctx, n, 256, weigh_rows, &job);
}

/* ---- kernel views ---- */

static plx_status check_weights(plx_context *ctx, plx_ccsr w, const char *view)
{
    for (plx_index i = 0; i < w.rows; i++)
        for (plx_index p = w.ptr[i]; p < w.ptr[i + 1]; p++)
            if (!(w.val[p] >= 0) || isinf(w.val[p]))
                PLX_FAIL(ctx, PLX_E_DATA,
                         "kernel view '%s' row %lld, column %lld: %g cannot be the weight of an edge; weights are >= 0",
                         view, (long long)i, (long long)w.col[p], w.val[p]);
    return PLX_OK;
}

/* Off-diagonal entries between present samples. */
static void drop_entries(plx_csr *a, const uint8_t *present)
{
    plx_index kept = 0, begin = 0;
    for (plx_index i = 0; i < a->rows; i++) {
        plx_index end = a->ptr[i + 1];
        for (plx_index p = begin; p < end; p++) {
            plx_index j = a->col[p];
            if (i == j || a->val[p] == 0 || (present && (!present[i] || !present[j]))) continue;
            a->col[kept] = a->col[p];
            a->val[kept++] = a->val[p];
        }
        begin = end;
        a->ptr[i + 1] = kept;
    }
}

typedef struct entry {
    double value;
    int32_t col;
} entry;

static int larger_first(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return (a->col > b->col) - (a->col < b->col);
}

/* The k largest entries of every row, ties to the smaller column. */
static plx_status keep_largest(plx_csr *out, plx_context *ctx, plx_ccsr a, plx_index k)
{
    entry *row = NULL;
    plx_index total = 0;
    PLX_TRY(PLX__ARENA_NEW(&row, plx__scratch(ctx), a.cols));
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), a.rows, a.cols, plx__nnz(a)));
    for (plx_index i = 0; i < a.rows; i++) {
        plx_index count = a.ptr[i + 1] - a.ptr[i];
        for (plx_index p = 0; p < count; p++) row[p] = (entry){a.val[a.ptr[i] + p], a.col[a.ptr[i] + p]};
        qsort(row, (size_t)count, sizeof *row, larger_first);
        for (plx_index p = 0; p < plx__min(k, count); p++) {
            out->col[total] = row[p].col;
            out->val[total++] = row[p].value;
        }
        out->ptr[i + 1] = total;
    }
    return plx__csr_sort_rows(ctx, out);
}

static plx_status kernel_graph(plx_csr *out, plx_context *ctx, const plx__graph_source *g, const plx__graph_settings *s)
{
    plx_csr given, mirrored, largest;
    if (plx__points_sparse(g->rows)) PLX_TRY(plx__csr_clone(&given, plx__scratch(ctx), g->rows.csr));
    else PLX_TRY(plx__csr_from_dense(&given, plx__scratch(ctx), g->rows.dense));
    drop_entries(&given, g->present);
    PLX_TRY(check_weights(ctx, plx__ccsr(given), g->view));
    PLX_TRY(plx__csr_transpose(&mirrored, plx__scratch(ctx), plx__ccsr(given)));
    PLX_TRY(plx__csr_add(out, plx__scratch(ctx), 0.5, plx__ccsr(given), 0.5, plx__ccsr(mirrored)));
    if (!s->k_given) return PLX_OK;
    PLX_TRY(keep_largest(&largest, ctx, plx__ccsr(*out), s->k));
    return undirected(out, ctx, plx__ccsr(largest), s->mutual);
}

plx_status plx__similarity_graph(plx_csr *out, plx_context *ctx, const plx__graph_source *source,
                                 const plx__graph_settings *settings)
{
    return source->is_kernel ? kernel_graph(out, ctx, source, settings) : neighbour_graph(out, ctx, source, settings);
}

double plx__similarity_bytes(plx_index n, const plx__graph_settings *s)
{
    double most = (double)plx__max(1, n - 1), k = fmin((double)s->k, most);
    double found = s->weights == PLX__EDGES_LOCAL ? fmax(k, fmin((double)s->scale_k, most)) : k;
    return (double)n * (16 * found + 12 * 4 * k + 40);
}

double plx__graph_search_bytes(const plx__run *run, plx_index view, const char *name, plx_index k)
{
    const plx__problem *p = run->problem;
    double entries = 0, held = 0;
    bool sparse = true, divided = false;
    for (plx_index v = 0; v < p->n_views; v++) {
        bool own = p->views[v].sparse && p->scale[v] != PLX__SCALE_ZSCORE; /* centring fills a sparse view */
        if (view >= 0 && v != view) continue;
        sparse = sparse && own;
        divided = divided || p->views[v].divided;
        held += (own ? 12 : 8) * plx__held_values(&p->views[v], p->n);
        entries += own ? (double)p->views[v].nonzeros : (double)p->n * (double)p->views[v].cols;
    }
    double search = plx__neighbours_bytes(run, name, k, entries, sparse), bytes = (sparse ? 12 : 8) * entries;
    if (!divided) return search;
    /* rows go where they are searched; or come for the weights, when the search is over */
    double share = (double)plx__slabs_even(run->ctx, p->n).rows / (double)plx__max(1, p->n);
    double moved = share * bytes + 16.0 * (double)p->n + fmax(search, held);
    return fmax(moved, plx__near_rows_bytes(run->ctx, p->n, k, bytes));
}
