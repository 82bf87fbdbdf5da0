/*
 * Tiles of the joint distance: the distances of every view by one product each, then the min(r, b)-th smallest of the
 * common views pair by pair.
 */
#include <math.h>

#include "core/parallel.h"
#include "methods/mrdbscan/mrdbscan.h"

enum { ROW_GRAIN = 8 };

typedef struct tile_job {
    const mrd *m;
    plx_index i0, j0;
    const plx_mat *separation; /* per view, as plx__separation_matrix leaves it */
    double *sorted;            /* workers x views */
    plx_mat out;
} tile_job;

/* d_v / e_v where the radius is open, else 0 within the radius and infinity beyond. */
static double relative_distance(const mrd_view *v, double separation)
{
    double d = plx__separation_distance(v->metric, separation) / v->factor;
    if (v->free) return d / v->unit;
    return d <= v->radius + MRD_RADIUS_SLACK ? 0.0 : INFINITY;
}

/* Insertion sort: as many values as views. */
static double nth_smallest(double *x, plx_index count, plx_index nth)
{
    for (plx_index i = 1; i < count; i++) {
        double value = x[i];
        plx_index at = i;
        for (; at > 0 && x[at - 1] > value; at--) x[at] = x[at - 1];
        x[at] = value;
    }
    return x[nth - 1];
}

static double joint_distance(const tile_job *job, plx_index r, plx_index c, double *rho)
{
    const mrd *m = job->m;
    plx_index common = 0;
    for (plx_index v = 0; v < m->n_views; v++) {
        const mrd_view *view = &m->view[v];
        if (!view->has_a[job->i0 + r] || !view->has_b[job->j0 + c]) continue;
        rho[common++] = relative_distance(view, job->separation[v].data[r * job->separation[v].ld + c]);
    }
    if (common == 0) return INFINITY;
    return nth_smallest(rho, common, m->needed ? plx__min(m->needed, common) : common / 2 + 1);
}

static plx_status join_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const tile_job *job = arg;
    double *rho = job->sorted + worker * job->m->n_views;
    (void)ctx;
    for (plx_index r = begin; r < end; r++)
        for (plx_index c = 0; c < job->out.cols; c++)
            job->out.data[r * job->out.ld + c] = joint_distance(job, r, c, rho);
    return PLX_OK;
}

static plx_status mean_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const tile_job *job = arg;
    const mrd *m = job->m;
    (void)ctx, (void)worker;
    for (plx_index r = begin; r < end; r++)
        for (plx_index c = 0; c < job->out.cols; c++) {
            double sum = 0, common = 0;
            for (plx_index v = 0; v < m->n_views; v++) {
                const mrd_view *view = &m->view[v];
                if (!view->has_a[job->i0 + r] || !view->has_b[job->j0 + c]) continue;
                sum += plx__separation_distance(view->metric, job->separation[v].data[r * job->separation[v].ld + c]) /
                       view->factor;
                common++;
            }
            job->out.data[r * job->out.ld + c] = common > 0 ? sum / common : INFINITY;
        }
    return PLX_OK;
}

static plx_status tile(const mrd *m, plx_index i0, plx_index i1, plx_index j0, plx_index j1, plx_mat out,
                       plx__range_fn combine)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_mat *separation = NULL;
    tile_job job = {.m = m, .i0 = i0, .j0 = j0, .out = plx__sub(out, 0, 0, i1 - i0, j1 - j0)};
    PLX_TRY(PLX__ARENA_NEW(&separation, scratch, m->n_views));
    PLX_TRY(plx__arena_f64(&job.sorted, scratch, plx__workers(m->ctx), m->n_views));
    for (plx_index v = 0; v < m->n_views; v++) {
        const mrd_view *view = &m->view[v];
        PLX_TRY(plx__arena_mat(&separation[v], scratch, i1 - i0, j1 - j0));
        PLX_TRY(plx__separation_matrix(m->ctx, plx__points_range(view->a, i0, i1), plx__points_range(view->b, j0, j1),
                                       view->metric, separation[v]));
    }
    job.separation = separation;
    return plx__parallel_for(m->ctx, i1 - i0, ROW_GRAIN, combine, &job);
}

plx_status plx__mrd_tile(const mrd *m, plx_index i0, plx_index i1, plx_index j0, plx_index j1, plx_mat out)
{
    return tile(m, i0, i1, j0, j1, out, join_rows);
}

plx_status plx__mrd_mean_tile(const mrd *m, plx_index i0, plx_index i1, plx_index j0, plx_index j1, plx_mat out)
{
    return tile(m, i0, i1, j0, j1, out, mean_rows);
}

double plx__mrd_tile_bytes(double n_views) { return 8.0 * MRD_TILE_ROWS * MRD_TILE_COLS * (n_views + 1); }
