/*
 * M step, all from the old parameters: with G = R C' summed over the blocks,
 *     A_new ~ A * (G B'),   B_new ~ B * (A' G)           (MVP_BY_CLASS)
 *     A_new ~ A * G,        B_new ~ B * (H C')           (MVP_BY_TOPIC; MVP_SAME without B)
 * with normalised columns. The column masses of A_new are known before A_new is (sum_z B_yz (A'G)_yz), so one pass over
 * the features reads A and a second one writes it, scaled, together with the table U = A_new B_new of the next E step.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/clones.h"
#include "methods/mvplsa/mvplsa.h"

typedef struct m_job {
    mvp *m;
    mvp_view *view;
    plx_index grain, partial_width;
    double *partial;          /* chunks x partial_width: A'G, or the column sums of A * G */
    double *mass;             /* topics: column sums of A_new before scaling */
    double *scale;            /* topics: 1 / mass, with smoothing; 0: no mass, the column stays */
    bool dead;                /* some scale is 0 */
    plx_mat b_new, b_columns; /* b_columns: B' (power), classes x topics */
} m_job;

enum { FEW_CLASSES = 8 }; /* G B' by rows instead of a product of matrices */

static double *sums_of(const m_job *job, plx_index f) { return job->view->scatter + f * job->view->width; }

/* The blocks' sums, added up in the first. */
static void join_blocks(const m_job *job, plx_index f, plx_index rows)
{
    const mvp_view *v = job->view;
    plx_index count = rows * v->width;
    for (plx_index b = 1; b < job->m->n_blocks; b++) {
        double *sum = sums_of(job, f);
        const double *more = sums_of(job, b * v->features + f);
        for (plx_index i = 0; i < count; i++) sum[i] += more[i];
    }
}

static plx_cmat powers_of(const m_job *job, plx_index f, plx_index rows, int worker)
{
    const mvp_view *v = job->view;
    double temper = job->m->set->temper;
    plx_cmat a = plx__csub(plx__cmat(v->a), f, 0, rows, v->topics);
    if (temper == 1) return a;
    plx_mat power = plx__mat_of(job->m->workers[worker].power, rows, v->topics);
    for (plx_index i = 0; i < rows * v->topics; i++) power.data[i] = pow(a.data[i], temper);
    return plx__cmat(power);
}

static plx_status gather_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const m_job *job = arg;
    const mvp_view *v = job->view;
    double *partial = job->partial + begin / job->grain * job->partial_width;
    for (plx_index f = begin; f < end; f += MVP_FEATURE_BLOCK) {
        plx_index rows = plx__min(end - f, MVP_FEATURE_BLOCK);
        join_blocks(job, f, rows);
        plx_cmat a = powers_of(job, f, rows, worker);
        if (v->order == MVP_BY_CLASS) {
            plx_cmat g = {sums_of(job, f), rows, job->m->z, v->width};
            PLX_TRY(plx__gemm_serial(ctx, 1.0, a, PLX__T, g, PLX__N, 1.0, plx__mat_of(partial, v->topics, job->m->z)));
            continue;
        }
        for (plx_index i = 0; i < rows; i++)
            for (plx_index y = 0; y < v->topics; y++) partial[y] += a.data[i * a.ld + y] * sums_of(job, f + i)[y];
    }
    return PLX_OK;
}

static double flushed(double x) { return x < MVP_FLUSH ? 0 : x; }

/* One row of A_new from the row of A (power) and its counts; a topic without mass keeps its column. */
PLX__CLONES static void new_row(const m_job *job, double *restrict out, const double *power, const double *counts)
{
    plx_index topics = job->view->topics;
    const double extra = job->m->set->smoothing, *scale = job->scale;
    if (job->dead) {
        for (plx_index y = 0; y < topics; y++)
            if (scale[y] > 0) out[y] = flushed((power[y] * counts[y] + extra) * scale[y]);
        return;
    }
    for (plx_index y = 0; y < topics; y++) {
        double x = (power[y] * counts[y] + extra) * scale[y];
        out[y] = x < MVP_FLUSH ? 0 : x;
    }
}

/* out = sum_z g_z (row z of B'). */
PLX__CLONES static void topic_counts(const m_job *job, double *restrict out, const double *g)
{
    plx_index topics = job->view->topics;
    for (plx_index y = 0; y < topics; y++) out[y] = g[0] * job->b_columns.data[y];
    for (plx_index z = 1; z < job->m->z; z++) {
        const double *row = job->b_columns.data + z * topics;
        for (plx_index y = 0; y < topics; y++) out[y] += g[z] * row[y];
    }
}

/* What A is multiplied with: G B' or G, for a block of features. */
static plx_status counts_of(plx_cmat *out, const m_job *job, plx_context *ctx, plx_index f, plx_index rows, int worker)
{
    const mvp_view *v = job->view;
    plx_cmat g = {sums_of(job, f), rows, v->order == MVP_BY_CLASS ? job->m->z : v->topics, v->width};
    plx_mat product = plx__mat_of(job->m->workers[worker].product, rows, v->topics);
    *out = g;
    if (v->order != MVP_BY_CLASS) return PLX_OK;
    *out = plx__cmat(product);
    if (job->m->z > FEW_CLASSES)
        return plx__gemm_serial(ctx, 1.0, g, PLX__N, plx__cmat(v->b_power), PLX__T, 0.0, product);
    for (plx_index i = 0; i < rows; i++) topic_counts(job, product.data + i * product.ld, g.data + i * g.ld);
    return PLX_OK;
}

static plx_status update_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const m_job *job = arg;
    mvp_view *v = job->view;
    plx_cmat counts;
    bool by_class = v->order == MVP_BY_CLASS, tables = job->m->set->temper == 1;
    for (plx_index f = begin; f < end; f += MVP_FEATURE_BLOCK) {
        plx_index rows = plx__min(end - f, MVP_FEATURE_BLOCK);
        plx_cmat power = powers_of(job, f, rows, worker);
        plx_mat a = plx__sub(v->a, f, 0, rows, v->topics);
        PLX_TRY(counts_of(&counts, job, ctx, f, rows, worker));
        for (plx_index i = 0; i < rows; i++)
            new_row(job, a.data + i * a.ld, power.data + i * power.ld, counts.data + i * counts.ld);
        if (!tables) continue;
        plx_mat table = {v->table + f * v->width, rows, by_class ? job->m->z : v->topics, v->width};
        if (by_class)
            PLX_TRY(plx__gemm_serial(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(job->b_new), PLX__N, 0.0, table));
        else plx__mat_copy(table, plx__cmat(a));
    }
    return PLX_OK;
}

/* ---- B and the masses ---- */

static void add_partials(m_job *job, plx_index chunks)
{
    plx_index width = job->partial_width;
    for (plx_index c = 1; c < chunks; c++)
        for (plx_index i = 0; i < width; i++) job->partial[i] += job->partial[c * width + i];
}

/* Numerators B * (A'G) or B * (H C'), and the column masses of A. */
static void weigh(m_job *job)
{
    const mvp_view *v = job->view;
    plx_index z = job->m->z, size = v->topics * z;
    double *counts = v->order == MVP_BY_CLASS ? job->partial : v->b_counts;
    if (v->order == MVP_BY_CLASS) {
        for (plx_index y = 0; y < v->topics; y++) job->mass[y] = 0;
    } else {
        memcpy(job->mass, job->partial, (size_t)v->topics * sizeof *job->mass);
    }
    if (v->order == MVP_SAME) return;
    for (plx_index b = 1; v->order == MVP_BY_TOPIC && b < job->m->n_blocks; b++)
        for (plx_index i = 0; i < size; i++) counts[i] += counts[b * size + i];
    for (plx_index i = 0; i < size; i++) {
        job->b_new.data[i] = v->b_power.data[i] * counts[i];
        if (v->order == MVP_BY_CLASS) job->mass[i / z] += job->b_new.data[i];
    }
}

static void set_scales(m_job *job)
{
    const mvp_view *v = job->view;
    double all = job->m->set->smoothing * (double)v->features;
    for (plx_index y = 0; y < v->topics; y++) {
        double total = job->mass[y] + all;
        bool counts = total > MVP_FLUSH; /* less has no finite inverse */
        job->scale[y] = counts ? 1.0 / total : 0.0;
        job->dead |= !counts;
    }
}

/* A class without mass keeps its column. */
static void normalise_b(m_job *job)
{
    const mvp_view *v = job->view;
    for (plx_index z = 0; z < job->m->z; z++) {
        double sum = 0;
        for (plx_index y = 0; y < v->topics; y++) sum += job->b_new.data[y * job->m->z + z];
        for (plx_index y = 0; y < v->topics; y++) {
            double *x = &job->b_new.data[y * job->m->z + z];
            *x = sum > MVP_FLUSH ? flushed(*x / sum) : v->b.data[y * job->m->z + z];
        }
    }
}

static plx_status update_view(mvp *m, mvp_view *v)
{
    mvp_room *r = &v->room;
    m_job job = {.m = m, .view = v, .grain = r->grain, .partial_width = r->partial_width, .partial = r->partial};
    job.mass = r->mass;
    job.scale = r->scale;
    job.b_new = r->b_new;
    job.b_columns = r->b_columns;
    memset(r->partial, 0, (size_t)(r->chunks * r->partial_width) * sizeof(double));
    plx__mat_copy(job.b_new, plx__cmat(v->b));
    plx__mat_transpose(job.b_columns, plx__cmat(v->b_power));
    PLX_TRY(plx__parallel_for(m->ctx, v->features, job.grain, gather_rows, &job));
    add_partials(&job, r->chunks);
    weigh(&job);
    set_scales(&job);
    if (v->order != MVP_SAME) normalise_b(&job);
    PLX_TRY(plx__parallel_for(m->ctx, v->features, job.grain, update_rows, &job));
    plx__mat_copy(v->b, plx__cmat(job.b_new));
    if (m->set->temper == 1) plx__mat_copy(v->b_power, plx__cmat(job.b_new));
    return PLX_OK;
}

/* Room for all M steps. */
plx_status plx__mvp_open_room(mvp *m, mvp_view *v)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    mvp_room *r = &v->room;
    r->grain = plx__max(MVP_FEATURE_BLOCK, v->features / MVP_FEATURE_CHUNKS + 1);
    r->chunks = plx__max(1, (v->features + r->grain - 1) / r->grain);
    r->partial_width = v->order == MVP_BY_CLASS ? v->topics * m->z : v->topics;
    PLX_TRY(plx__arena_f64(&r->partial, scratch, r->chunks, r->partial_width));
    PLX_TRY(plx__arena_f64(&r->mass, scratch, v->topics, 1));
    PLX_TRY(plx__arena_f64(&r->scale, scratch, v->topics, 1));
    PLX_TRY(plx__arena_mat(&r->b_new, scratch, v->topics, m->z));
    return plx__arena_mat(&r->b_columns, scratch, m->z, v->topics);
}

plx_status plx__mvp_m_step(mvp *m)
{
    for (plx_index v = 0; v < m->n_views; v++) PLX_TRY(update_view(m, &m->views[v]));
    double *old = m->c;
    m->c = m->next;
    m->next = old;
    return PLX_OK;
}
