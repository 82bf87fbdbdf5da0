/*
 * One sweep is two products per relevant variable, X' Q for the marginals and X log P(f|w,c) for the clusters, with
 * Q = P(u) P(w|u) P(c|u) and X = P(f|u); the functional comes from the same sums, because P(f|w) does not depend on the
 * clusters.
 */
#include "cluster/bottleneck.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "mixture/softmax.h"

enum { SAMPLE_GRAIN = 128, FEATURE_GRAIN = 64 }; /* the latter is a multiple of the eight lanes of log */

/* ---- opening ---- */

static plx_index width_of(const plx__bottleneck *b) { return b->k * b->n_w; }

static plx_status open_variable(const plx__bottleneck *b, plx__ib_variable *v)
{
    plx__arena *scratch = plx__scratch(b->ctx);
    plx_index cells = plx__padded(v->cols * width_of(b));
    PLX_TRY(plx__arena_f64(&v->joint, scratch, cells, 1));
    PLX_TRY(plx__arena_f64(&v->log_given, scratch, cells, 1));
    return plx__arena_f64(&v->mass, scratch, width_of(b), 1);
}

plx_status plx__ib_open(plx__bottleneck *b)
{
    plx__arena *scratch = plx__scratch(b->ctx);
    plx_index widest = 0;
    PLX_TRY(plx__arena_mat(&b->pcu, scratch, b->n, b->k));
    PLX_TRY(plx__arena_mat(&b->next, scratch, b->n, b->k));
    PLX_TRY(plx__arena_mat(&b->wide, scratch, b->n, width_of(b)));
    PLX_TRY(plx__arena_mat(&b->pc, scratch, 1, b->k));
    for (plx_index i = 0; i < b->n_variables; i++) {
        PLX_TRY(open_variable(b, &b->variable[i]));
        b->variable[i].base = NAN;
        widest = plx__max(widest, b->variable[i].cols);
    }
    b->chunks = (b->n + SAMPLE_GRAIN - 1) / SAMPLE_GRAIN;
    return plx__arena_f64(&b->chunk, scratch, plx__max(b->chunks, widest / FEATURE_GRAIN + 1), 1);
}

double plx__ib_bytes(const plx_context *ctx, double n, double k, double n_w, double cols, double sparse_entries)
{
    (void)ctx;
    return 8 * n * k * (2 + n_w) + 16 * cols * k * n_w + 12 * sparse_entries + 8 * cols + 0.2 * (n + cols);
}

/* ---- marginals ---- */

/* Q of a sample. */
static plx_status weigh(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__bottleneck *b = arg;
    (void)ctx, (void)worker;
    for (plx_index u = begin; u < end; u++) {
        const double *p = b->pcu.data + u * b->k;
        double *q = b->wide.data + u * b->wide.ld;
        for (plx_index c = 0; c < b->k; c++)
            for (plx_index w = 0; w < b->n_w; w++) {
                double given = b->given.data ? b->given.data[u * b->given.ld + w] : 1.0;
                q[c * b->n_w + w] = b->weight[u] * p[c] * given;
            }
    }
    return PLX_OK;
}

typedef struct feature_job {
    const plx__bottleneck *b;
    plx__ib_variable *v;
} feature_job;

/* log P(f|w,c), and the chunk's part of sum P(f,w,c) log P(f|w,c). */
static plx_status take_logs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const feature_job *job = arg;
    const plx__bottleneck *b = job->b;
    plx_index width = width_of(b), first = begin * width, cells = (end - begin) * width;
    double *given = job->v->log_given + first, sum = 0;
    const double *joint = job->v->joint + first;
    (void)ctx, (void)worker;
    for (plx_index f = begin; f < end; f++)
        for (plx_index j = 0; j < width; j++) {
            double mass = job->v->mass[j];
            job->v->log_given[f * width + j] = mass > 0 ? job->v->joint[f * width + j] / mass : 0.0;
        }
    plx__log_floored8(given, given, plx__padded(cells));
    for (plx_index e = 0; e < cells; e++)
        if (joint[e] > 0) sum += joint[e] * given[e];
    b->chunk[begin / FEATURE_GRAIN] = sum;
    return PLX_OK;
}

/* sum over f, w of P(f,w) log P(f|w): clusters only share it out. */
static void find_base(const plx__bottleneck *b, plx__ib_variable *v)
{
    plx_index width = width_of(b);
    v->base = 0;
    for (plx_index w = 0; w < b->n_w; w++) {
        double mass = 0, sum = 0;
        for (plx_index c = 0; c < b->k; c++) mass += v->mass[c * b->n_w + w];
        for (plx_index f = 0; f < v->cols; f++) {
            double cell = 0;
            for (plx_index c = 0; c < b->k; c++) cell += v->joint[f * width + c * b->n_w + w];
            if (cell > 0) sum += cell * log(cell / mass);
        }
        v->base += sum;
    }
}

static plx_status variable_marginals(plx__bottleneck *b, plx__ib_variable *v)
{
    plx_mat joint = plx__mat_of(v->joint, v->cols, width_of(b));
    feature_job job = {b, v};
    PLX_TRY(plx__design_times_t(b->ctx, &v->rows, plx__cmat(b->wide), joint));
    PLX_TRY(plx__col_sums(b->ctx, v->mass, plx__cmat(joint)));
    PLX_TRY(plx__parallel_for(b->ctx, v->cols, FEATURE_GRAIN, take_logs, &job));
    if (isnan(v->base)) find_base(b, v);
    v->information = plx__sum(b->chunk, (v->cols + FEATURE_GRAIN - 1) / FEATURE_GRAIN) - v->base;
    return PLX_OK;
}

plx_status plx__ib_marginals(plx__bottleneck *b)
{
    PLX_TRY(plx__parallel_for(b->ctx, b->n, SAMPLE_GRAIN, weigh, b));
    PLX_TRY(plx__gemv(b->ctx, 1.0, plx__cmat(b->pcu), PLX__T, b->weight, 0.0, b->pc.data));
    for (plx_index i = 0; i < b->n_variables; i++) PLX_TRY(variable_marginals(b, &b->variable[i]));
    return PLX_OK;
}

static plx_status add_compression(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__bottleneck *b = arg;
    double sum = 0;
    (void)ctx, (void)worker;
    for (plx_index u = begin; u < end; u++)
        for (plx_index c = 0; c < b->k; c++) {
            double p = b->pcu.data[u * b->k + c];
            if (p > 0) sum += b->weight[u] * p * log(p / b->pc.data[c]);
        }
    b->chunk[begin / SAMPLE_GRAIN] = sum;
    return PLX_OK;
}

plx_status plx__ib_compression(double *out, plx__bottleneck *b)
{
    for (plx_index c = 0; c < b->k; c++) b->pc.data[c] = fmax(b->pc.data[c], 0.0);
    PLX_TRY(plx__parallel_for(b->ctx, b->n, SAMPLE_GRAIN, add_compression, b));
    *out = plx__sum(b->chunk, b->chunks);
    return PLX_OK;
}

double plx__ib_functional(const plx__bottleneck *b, double compression)
{
    double value = compression;
    for (plx_index i = 0; i < b->n_variables; i++) value -= b->variable[i].beta * b->variable[i].information;
    return value;
}

/* ---- clusters ---- */

typedef struct assign_job {
    plx__bottleneck *b;
    double beta;
    const double *log_pc;
} assign_job;

/* next += beta sum_w P(w|u) (X log P(f|w,c)). */
static plx_status add_scores(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const assign_job *job = arg;
    const plx__bottleneck *b = job->b;
    (void)ctx, (void)worker;
    for (plx_index u = begin; u < end; u++) {
        double *score = b->next.data + u * b->k;
        const double *part = b->wide.data + u * b->wide.ld;
        for (plx_index c = 0; c < b->k; c++) {
            double sum = b->given.data ? plx__dot(part + c * b->n_w, b->given.data + u * b->given.ld, b->n_w) : part[c];
            score[c] += job->beta * sum;
        }
    }
    return PLX_OK;
}

static plx_status normalise(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const assign_job *job = arg;
    const plx__bottleneck *b = job->b;
    double most = 0;
    (void)ctx, (void)worker;
    for (plx_index u = begin; u < end; u++) {
        double *next = b->next.data + u * b->k;
        const double *old = b->pcu.data + u * b->k;
        plx__softmax_row(next, job->log_pc, b->k);
        for (plx_index c = 0; c < b->k; c++) most = fmax(most, fabs(next[c] - old[c]));
    }
    b->chunk[begin / SAMPLE_GRAIN] = most;
    return PLX_OK;
}

plx_status plx__ib_assign(plx__bottleneck *b, double factor, double *change)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    double *log_pc = NULL;
    assign_job job = {.b = b};
    PLX_TRY(plx__arena_f64(&log_pc, plx__scratch(b->ctx), b->k, 1));
    for (plx_index c = 0; c < b->k; c++) log_pc[c] = log(fmax(b->pc.data[c], 1e-300));
    job.log_pc = log_pc;
    plx__mat_fill(b->next, 0.0);
    for (plx_index i = 0; i < b->n_variables; i++) {
        const plx__ib_variable *v = &b->variable[i];
        job.beta = v->beta * factor;
        PLX_TRY(plx__design_times(b->ctx, &v->rows, plx__cmat_of(v->log_given, v->cols, width_of(b)), b->wide));
        PLX_TRY(plx__parallel_for(b->ctx, b->n, SAMPLE_GRAIN, add_scores, &job));
    }
    PLX_TRY(plx__parallel_for(b->ctx, b->n, SAMPLE_GRAIN, normalise, &job));
    plx_mat old = b->pcu;
    b->pcu = b->next;
    b->next = old;
    *change = 0;
    for (plx_index c = 0; c < b->chunks; c++) *change = fmax(*change, b->chunk[c]);
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

void plx__ib_profile(plx_mat out, const plx__bottleneck *b, const plx__ib_variable *v)
{
    plx_index width = width_of(b);
    for (plx_index j = 0; j < width; j++)
        for (plx_index f = 0; f < v->cols; f++)
            out.data[j * out.ld + f] = v->mass[j] > 0 ? v->joint[f * width + j] / v->mass[j] : 0.0;
}

void plx__ib_set_profile(plx__bottleneck *b, plx__ib_variable *v, plx_cmat profile)
{
    plx_index width = width_of(b);
    plx__mat_transpose(plx__mat_of(v->log_given, v->cols, width), profile);
    plx__log_floored8(v->log_given, v->log_given, plx__padded(v->cols * width));
}
