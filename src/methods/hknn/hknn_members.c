/*
 * What every subset of the views predicts: leave-one-out for the training samples, ordinarily for others.
 *
 * The neighbours of the largest k serve every k of a grid, and leaving a sample out needs no other fit: it is passed
 * over among its own class's candidates.
 */
#include <math.h>

#include "core/parallel.h"
#include "methods/hknn/hknn.h"

enum { SAMPLE_GRAIN = 16, QUERY_BLOCK = 512 };
static const double SERVES_NOBODY = 2.0; /* above every error */

/* ---- the grid of settings ---- */

typedef struct grid {
    plx_index count, most_k;
    hknn_setting *setting; /* in the order in which ties are settled: smaller k, then larger lambda */
} grid;

static int by_preference(hknn_setting a, hknn_setting b)
{
    if (a.k != b.k) return a.k < b.k ? -1 : 1;
    return (a.lambda < b.lambda) - (a.lambda > b.lambda);
}

static void insert_setting(grid *g, hknn_setting s)
{
    plx_index at = g->count++;
    for (; at > 0 && by_preference(s, g->setting[at - 1]) < 0; at--) g->setting[at] = g->setting[at - 1];
    g->setting[at] = s;
    g->most_k = plx__max(g->most_k, s.k);
}

/* k = cv, lambda = cv: all pairs of the grids; a number stands for itself. */
static plx_status make_grid(grid *g, const hknn *h)
{
    const hknn_params *p = h->set;
    bool try_k = p->k.word >= 0, try_lambda = p->lambda.word >= 0;
    plx_index ks = try_k ? p->k_grid.n_list : 1, lambdas = try_lambda ? p->lambda_grid.n_list : 1;
    *g = (grid){0};
    PLX_TRY(PLX__ARENA_NEW(&g->setting, plx__scratch(h->ctx), ks * lambdas));
    for (plx_index a = 0; a < ks; a++)
        for (plx_index b = 0; b < lambdas; b++)
            insert_setting(g, (hknn_setting){(plx_index)(try_k ? p->k_grid.list[a] : p->k.number),
                                             try_lambda ? p->lambda_grid.list[b] : p->lambda.number});
    g->most_k = plx__min(g->most_k, h->train.n);
    return PLX_OK;
}

/* ---- leave-one-out ---- */

typedef struct loo_job {
    const hknn *h;
    const grid *g;
    plx_index subset;
    hknn_work *work;
    int32_t *predicted; /* l x settings */
    double *distance;   /* workers x classes */
    const double **row; /* workers x views */
} loo_job;

static plx_status leave_out_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const loo_job *job = arg;
    const hknn *h = job->h;
    const double **row = job->row + worker * h->n_views;
    for (plx_index i = begin; i < end; i++) {
        for (plx_index v = 0; v < h->n_views; v++) row[v] = h->between[v].data + i * h->between[v].ld;
        hknn_query q = {row, h->train.has + i * h->n_views, i};
        bool served = plx__hknn_neighbours(&job->work[worker], h, &q, job->subset);
        for (plx_index t = 0; t < job->g->count; t++)
            job->predicted[i * job->g->count + t] =
                served ? plx__hknn_classify(job->distance + worker * h->classes, &job->work[worker], h, job->subset,
                                            job->g->setting[t])
                       : -1;
        PLX_TRY(plx__poll(ctx));
    }
    return PLX_OK;
}

static int32_t class_of(const hknn *h, plx_index i)
{
    int32_t c = 0;
    while (i >= h->class_begin[c + 1]) c++;
    return c;
}

/* Wrong share of the samples the subset predicts. */
static double setting_error(const loo_job *job, plx_index t)
{
    plx_index wrong = 0, served = 0;
    for (plx_index i = 0; i < job->h->train.n; i++) {
        int32_t guess = job->predicted[i * job->g->count + t];
        served += guess >= 0;
        wrong += guess >= 0 && guess != class_of(job->h, i);
    }
    return served ? (double)wrong / (double)served : SERVES_NOBODY;
}

static plx_status leave_out_subset(hknn *h, loo_job *job, plx_index s)
{
    plx_index best = 0;
    double least = INFINITY;
    job->subset = s;
    PLX_TRY(plx__parallel_for(h->ctx, h->train.n, SAMPLE_GRAIN, leave_out_range, job));
    for (plx_index t = 0; t < job->g->count; t++) {
        double error = setting_error(job, t);
        if (error < least) best = t, least = error;
    }
    h->error[s] = least;
    h->setting[s] = job->g->setting[best];
    for (plx_index i = 0; i < h->train.n; i++)
        h->loo[i * h->subsets.count + s] = job->predicted[i * job->g->count + best];
    return PLX_OK;
}

/* Subsets that serve no training sample are dropped. */
static plx_status drop_idle_subsets(hknn *h)
{
    hknn_subsets *s = &h->subsets;
    plx_index count = s->count, kept = 0, *ptr = NULL;
    int32_t *view = NULL;
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(h->ctx), count + 1));
    PLX_TRY(plx__arena_i32(&view, plx__scratch(h->ctx), s->ptr[count]));
    for (plx_index a = 0; a < count; a++) {
        if (h->error[a] == SERVES_NOBODY) continue;
        plx_index views = s->ptr[a + 1] - s->ptr[a];
        for (plx_index p = 0; p < views; p++) view[ptr[kept] + p] = s->view[s->ptr[a] + p];
        ptr[kept + 1] = ptr[kept] + views;
        s->name[kept] = s->name[a];
        h->error[kept] = h->error[a];
        h->setting[kept] = h->setting[a];
        for (plx_index i = 0; i < h->train.n; i++) h->loo[i * count + kept] = h->loo[i * count + a];
        kept++;
    }
    if (!kept) PLX_FAIL(h->ctx, PLX_E_DATA, "hknn: no subset of the views serves two labelled samples; label more");
    for (plx_index i = 0; i < h->train.n; i++) /* rows move up, never past what is still to be read */
        for (plx_index a = 0; a < kept; a++) h->loo[i * kept + a] = h->loo[i * count + a];
    *s = (hknn_subsets){kept, ptr, view, s->name};
    return PLX_OK;
}

plx_status plx__hknn_leave_one_out(hknn *h)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    plx_index workers = plx__workers(h->ctx), count = h->subsets.count;
    grid g;
    loo_job job = {.h = h, .g = &g};
    PLX_TRY(make_grid(&g, h));
    PLX_TRY(PLX__ARENA_NEW(&h->setting, scratch, count));
    PLX_TRY(plx__arena_f64(&h->error, scratch, count, 1));
    PLX_TRY(plx__arena_i32(&h->loo, scratch, h->train.n * count));
    PLX_TRY(plx__hknn_work_new(&job.work, h, g.most_k));
    PLX_TRY(plx__arena_i32(&job.predicted, scratch, h->train.n * g.count));
    PLX_TRY(plx__arena_f64(&job.distance, scratch, workers, h->classes));
    PLX_TRY(PLX__ARENA_NEW(&job.row, scratch, workers * h->n_views));
    for (plx_index s = 0; s < count; s++) {
        PLX_TRY(leave_out_subset(h, &job, s));
        PLX_TRY(plx__report(h->ctx, "leave one out", s + 1, count, h->error[s]));
    }
    return drop_idle_subsets(h);
}

/* ---- other samples ---- */

typedef struct predict_job {
    const hknn *h;
    const plx_index *rows;
    const int32_t *chosen;
    plx_index count, first; /* members; sample of the block's first row */
    const plx_mat *to;      /* per view: squared distances of the block to the training samples */
    hknn_work *work;
    int32_t *out;
    plx_mat *distances; /* NULL: not wanted */
    double *distance;   /* workers x classes */
    const double **row;
} predict_job;

static plx_status predict_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const predict_job *job = arg;
    const hknn *h = job->h;
    const double **row = job->row + worker * h->n_views;
    for (plx_index b = begin; b < end; b++) {
        plx_index i = job->first + b;
        double *distance =
            job->distances ? job->distances->data + i * job->distances->ld : job->distance + worker * h->classes;
        for (plx_index v = 0; v < h->n_views; v++) row[v] = job->to[v].data + b * job->to[v].ld;
        plx_index sample = job->rows[i];
        hknn_query q = {row, h->all.has + sample * h->n_views, h->place ? h->place[sample] : -1};
        for (plx_index t = 0; t < job->count; t++) {
            plx_index s = job->chosen[t];
            bool served = plx__hknn_neighbours(&job->work[worker], h, &q, s);
            job->out[i * job->count + t] =
                served ? plx__hknn_classify(distance, &job->work[worker], h, s, h->setting[s]) : -1;
        }
        PLX_TRY(plx__poll(ctx));
    }
    return PLX_OK;
}

static plx_status block_distances(plx_mat *to, const hknn *h, const plx_index *rows, plx_index count)
{
    for (plx_index v = 0; v < h->n_views; v++) {
        plx__points some;
        PLX_TRY(plx__points_select(&some, h->ctx, h->all.view[v], rows, count));
        PLX_TRY(plx__arena_mat(&to[v], plx__scratch(h->ctx), count, h->train.n));
        PLX_TRY(plx__dist_sq_matrix(h->ctx, some, h->train.view[v], to[v]));
    }
    return PLX_OK;
}

plx_status plx__hknn_predict(int32_t *out, plx_mat *distances, const hknn *h, const plx_index *rows, plx_index n_rows,
                             const int32_t *chosen, plx_index count)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    plx__mark before = plx__arena_mark(scratch);
    plx_index workers = plx__workers(h->ctx), most_k = 1;
    plx_mat *to = NULL;
    predict_job job = {.h = h, .rows = rows, .chosen = chosen, .count = count, .out = out, .distances = distances};
    for (plx_index t = 0; t < count; t++) most_k = plx__max(most_k, h->setting[chosen[t]].k);
    PLX_TRY(PLX__ARENA_NEW(&to, scratch, h->n_views));
    PLX_TRY(plx__hknn_work_new(&job.work, h, most_k));
    PLX_TRY(plx__arena_f64(&job.distance, scratch, workers, h->classes));
    PLX_TRY(PLX__ARENA_NEW(&job.row, scratch, workers * h->n_views));
    job.to = to;
    for (job.first = 0; job.first < n_rows; job.first += QUERY_BLOCK) {
        plx__mark mark = plx__arena_mark(scratch);
        plx_index block = plx__min(QUERY_BLOCK, n_rows - job.first);
        PLX_TRY(block_distances(to, h, rows + job.first, block));
        PLX_TRY(plx__parallel_for(h->ctx, block, SAMPLE_GRAIN, predict_range, &job));
        PLX_TRY(plx__report(h->ctx, "predict", job.first + block, n_rows, NAN));
        plx__arena_rewind(scratch, mark);
    }
    plx__arena_rewind(scratch, before);
    return PLX_OK;
}
