/*
 * Rows with the same pattern of missing entries share the factor of S_oo and the regression on it. Sums are
 * taken about the old means, so that large offsets do not cancel.
 */
#include "mixture/incomplete_mixture.h"

#include <math.h>
#include <string.h>

#include "mixture/incomplete_internal.h"

static const double NO_WEIGHT = 1e-10;

/* ---- M-step ---- */

typedef struct em_state {
    plx_context *ctx;
    const plx__incomplete_data *data;
    const plx__incomplete_options *o;
    plx__incomplete_mixture *mix;
    plx_mat overall_mean; /* 1 x d */
    plx_mat overall_cov;  /* of one component: d x d or 1 x d, with shape and cov_reg */
    plx__moments moments;
} em_state;

static double *cov_row(plx__incomplete_mixture *mix, plx_index z, plx_index j)
{
    return mix->shape == PLX__COV_FULL ? mix->cov.data + (z * mix->d + j) * mix->cov.ld
                                       : mix->cov.data + z * mix->cov.ld + j;
}

/* Diagonal entry (z, j): the place of it in either layout. */
static double *cov_diag(plx__incomplete_mixture *mix, plx_index z, plx_index j)
{
    return mix->shape == PLX__COV_FULL ? cov_row(mix, z, j) + j : cov_row(mix, z, j);
}

static void spherical(plx__incomplete_mixture *mix, plx_index z, plx_index begin, plx_index end)
{
    double sum = 0;
    for (plx_index j = begin; j < end; j++) sum += *cov_diag(mix, z, j);
    for (plx_index j = begin; j < end; j++) *cov_diag(mix, z, j) = sum / (double)(end - begin);
}

/* Mean and covariance of one component in one block from the sums about the old mean. */
static void update_block(plx__incomplete_mixture *mix, const plx__incomplete_sums *s, const plx__incomplete_data *data,
                         double cov_reg, plx_index z, plx_index b)
{
    plx_index begin = data->block[b], end = data->block[b + 1];
    double mass = s->mass[z * data->n_blocks + b];
    const double *first = s->first.data + z * s->first.ld;
    double *mean = mix->mean.data + z * mix->mean.ld;
    for (plx_index j = begin; j < end; j++) {
        double shift = first[j] / mass;
        if (!s->full) *cov_row(mix, z, j) = fmax(s->second.data[z * s->second.ld + j] / mass - shift * shift, 0.0);
        for (plx_index l = begin; s->full && l < end; l++)
            cov_row(mix, z, j)[l] =
                s->second.data[(z * mix->d + j) * s->second.ld + l] / mass - shift * (first[l] / mass);
    }
    for (plx_index j = begin; j < end; j++) mean[j] += first[j] / mass;
    if (mix->shape == PLX__COV_SPHERICAL) spherical(mix, z, begin, end);
    for (plx_index j = begin; j < end; j++) *cov_diag(mix, z, j) += cov_reg * data->spread[b];
}

static void take_overall(em_state *e, plx_index z, plx_index b)
{
    plx__incomplete_mixture *mix = e->mix;
    for (plx_index j = e->data->block[b]; j < e->data->block[b + 1]; j++) {
        mix->mean.data[z * mix->mean.ld + j] = e->overall_mean.data[j];
        if (mix->shape != PLX__COV_FULL) *cov_row(mix, z, j) = e->overall_cov.data[j];
        else memcpy(cov_row(mix, z, j), e->overall_cov.data + j * e->overall_cov.ld, (size_t)mix->d * sizeof(double));
    }
}

static void m_step(em_state *e, const plx__incomplete_sums *s)
{
    for (plx_index z = 0; z < e->mix->k; z++) {
        e->mix->weight[z] = s->weight[z] / (double)e->data->usable;
        for (plx_index b = 0; b < e->data->n_blocks; b++) {
            if (s->mass[z * e->data->n_blocks + b] < NO_WEIGHT) take_overall(e, z, b);
            else update_block(e->mix, s, e->data, e->o->cov_reg, z, b);
        }
    }
}

/* ---- start ---- */

static plx_status new_mix(plx__incomplete_mixture *mix, plx__arena *arena, plx_index k, plx_index d,
                          plx__cov_shape shape)
{
    *mix = (plx__incomplete_mixture){.k = k, .d = d, .shape = shape};
    PLX_TRY(plx__arena_f64(&mix->weight, arena, k, 1));
    PLX_TRY(plx__arena_mat(&mix->mean, arena, k, d));
    return plx__arena_mat(&mix->cov, arena, shape == PLX__COV_FULL ? k * d : k, d);
}

/* Where a mean is still to be found the sums are about the column means. */
static void start_at_means(plx__incomplete_mixture *mix, const plx__incomplete_data *data)
{
    for (plx_index z = 0; z < mix->k; z++)
        memcpy(mix->mean.data + z * mix->mean.ld, data->mean, (size_t)mix->d * sizeof(double));
}

/* Mean and covariance of all rows together: what a component without weight in a block keeps. */
static plx_status find_overall(em_state *e)
{
    plx__arena *scratch = plx__scratch(e->ctx);
    plx__incomplete_mixture one;
    plx__incomplete_sums s;
    plx_mat ones;
    if (e->o->overall) {
        e->overall_mean = e->o->overall->mean;
        e->overall_cov = e->o->overall->cov;
        return PLX_OK;
    }
    PLX_TRY(new_mix(&one, scratch, 1, e->data->x.cols, e->o->shape));
    PLX_TRY(plx__incomplete_sums_new(&s, scratch, &one, e->data->n_blocks));
    PLX_TRY(plx__arena_mat(&ones, scratch, e->data->x.rows, 1));
    plx__mat_fill(ones, 1.0);
    start_at_means(&one, e->data);
    PLX_TRY(plx__incomplete_start_sums(&s, e->ctx, e->data, plx__cmat(ones)));
    for (plx_index b = 0; b < e->data->n_blocks; b++) {
        if (s.mass[b] >= NO_WEIGHT) update_block(&one, &s, e->data, e->o->cov_reg, 0, b);
        else
            for (plx_index j = e->data->block[b]; j < e->data->block[b + 1]; j++) *cov_diag(&one, 0, j) = 1.0;
    }
    e->overall_mean = one.mean;
    e->overall_cov = one.cov;
    return PLX_OK;
}

static plx_status first_step(em_state *e)
{
    plx__mark mark = plx__arena_mark(plx__scratch(e->ctx));
    plx__incomplete_sums s;
    plx_mat start;
    plx_cmat given = e->o->start;
    PLX_TRY(plx__incomplete_sums_new(&s, plx__scratch(e->ctx), e->mix, e->data->n_blocks));
    if (!given.data) {
        PLX_TRY(plx__arena_mat(&start, plx__scratch(e->ctx), e->data->x.rows, e->mix->k));
        PLX_TRY(plx__incomplete_farthest_first(start, e->ctx, e->data));
        given = plx__cmat(start);
    }
    start_at_means(e->mix, e->data);
    PLX_TRY(plx__incomplete_start_sums(&s, e->ctx, e->data, given));
    m_step(e, &s);
    plx__arena_rewind(plx__scratch(e->ctx), mark);
    return PLX_OK;
}

/* ---- moments ---- */

static plx_status new_moments(plx__moments *out, plx__arena *arena, const plx__incomplete_mixture *mix,
                              const plx__incomplete_data *data, bool covariances)
{
    const plx__patterns *p = &data->patterns;
    *out = (plx__moments){.n = data->x.rows, .k = mix->k, .d = mix->d, .patterns = p, .shape = mix->shape};
    PLX_TRY(plx__arena_mat(&out->prob, arena, out->n, mix->k));
    PLX_TRY(plx__arena_mat(&out->mean, arena, out->n * mix->k, mix->d));
    if (!covariances) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&out->cov, arena, p->count * mix->k));
    for (plx_index q = 0; q < p->count; q++)
        for (plx_index z = 0; z < mix->k; z++) {
            plx_index m = p->d - p->observed[q];
            PLX_TRY(plx__arena_mat(&out->cov[q * mix->k + z], arena, mix->shape == PLX__COV_FULL ? m : 1, m));
        }
    return PLX_OK;
}

plx_status plx__incomplete_moments(plx__moments *out, plx_context *ctx, plx__arena *arena,
                                   const plx__incomplete_mixture *mix, const plx__incomplete_data *data,
                                   bool covariances, const char *what)
{
    double jitter = 0;
    PLX_TRY(new_moments(out, arena, mix, data, covariances));
    return plx__incomplete_sweep(ctx, mix, data, out, NULL, &jitter, what);
}

void plx__moments_mean(plx_mat out, const plx__moments *m)
{
    plx__mat_fill(out, 0.0);
    for (plx_index i = 0; i < m->n; i++)
        for (plx_index z = 0; z < m->k; z++)
            plx__axpy(out.data + i * out.ld, m->prob.data[i * m->prob.ld + z],
                      m->mean.data + (i * m->k + z) * m->mean.ld, m->d);
}

/* ---- EM ---- */

static plx_status e_step(em_state *e, plx__incomplete_sums *s, plx__incomplete_result *r)
{
    PLX_TRY(plx__incomplete_sums_new(s, plx__scratch(e->ctx), e->mix, e->data->n_blocks));
    PLX_TRY(plx__incomplete_sweep(e->ctx, e->mix, e->data, &e->moments, s, &r->jitter, e->o->what));
    r->log_likelihood = s->log_likelihood / (double)e->data->usable;
    return PLX_OK;
}

static plx_status iterate(em_state *e, plx__incomplete_result *r)
{
    double last = NAN;
    plx__incomplete_sums s;
    plx__mark mark = plx__arena_mark(plx__scratch(e->ctx));
    while (r->iterations < e->o->max_iter && !r->converged && !plx__out_of_time(e->ctx)) {
        PLX_TRY(e_step(e, &s, r));
        r->iterations++;
        if (e->o->told) PLX_TRY(e->o->told(e->o->arg, r->iterations, r->log_likelihood));
        r->converged = fabs(r->log_likelihood - last) < e->o->tol;
        last = r->log_likelihood;
        if (!r->converged) m_step(e, &s);
        plx__arena_rewind(plx__scratch(e->ctx), mark);
    }
    PLX_TRY(e_step(e, &s, r));
    plx__arena_rewind(plx__scratch(e->ctx), mark);
    return PLX_OK;
}

plx_status plx__incomplete_fit(plx__incomplete_mixture *out, plx__incomplete_result *result, plx_context *ctx,
                               plx__arena *arena, const plx__incomplete_data *data, const plx__incomplete_options *o)
{
    em_state e = {.ctx = ctx, .data = data, .o = o, .mix = out};
    *result = (plx__incomplete_result){0};
    if (o->components > data->usable)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: components = %lld is more than the %lld samples with an observed entry", o->what,
                 (long long)o->components, (long long)data->usable);
    PLX_TRY(new_mix(out, arena, o->components, data->x.cols, o->shape));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx)); /* `arena` may be scratch: nothing above is given back */
    PLX_TRY(find_overall(&e));
    PLX_TRY(first_step(&e));
    PLX_TRY(new_moments(&e.moments, plx__scratch(ctx), out, data, false));
    PLX_TRY(iterate(&e, result));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__incomplete_parameters(plx_index k, plx__cov_shape shape, plx_index n_blocks, const plx_index *block)
{
    double per_component = 0;
    for (plx_index b = 0; b < n_blocks; b++) {
        double d = (double)(block[b + 1] - block[b]);
        per_component += d + (shape == PLX__COV_FULL ? d * (d + 1) / 2 : shape == PLX__COV_DIAG ? d : 1.0);
    }
    return (double)(k - 1) + (double)k * per_component;
}
