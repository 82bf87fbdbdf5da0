/*
 * What measuring a view would bring, over what may be found: the expectation of q u u' in the form of sense.h.
 */
#include <math.h>
#include <string.h>

#include "methods/bct/sense.h"
#include "core/rng.h"
#include "linalg/factor.h"

/* One component's part: q, and a beside H as columns over the samples that have the view. */
typedef struct part {
    double q;
    plx_mat g; /* n_j x (1 + r) */
} part;

typedef struct maker {
    sense *s;
    const bct_view *v;
    plx_index at; /* the view's number in the density */
    plx_mat rows; /* features of the reference samples */
    part *parts;  /* k */
} maker;

/* ---- samples of the view ---- */

/* With pivots all kernel values follow from those with the pivots, else every sample of the view counts. */
static plx_status gather_rows(maker *m)
{
    const plx__density *d = &m->s->density;
    const bct_view *v = m->v;
    plx_index count = v->reduced ? v->pivots.rank : v->n, at = d->block[m->at], cols = d->block[m->at + 1] - at;
    PLX_TRY(plx__arena_mat(&m->rows, plx__scratch(m->s->ctx), count, cols));
    for (plx_index i = 0; i < count; i++) {
        plx_index sample = v->reduced ? v->pivots.sample[i] : v->sample[i];
        memcpy(m->rows.data + i * cols, d->x.data + sample * d->x.ld + at, (size_t)cols * sizeof(double));
    }
    return PLX_OK;
}

/* Kernel values with the reference (count x columns) as values with all samples of the view. */
static plx_status lift(plx_mat *out, maker *m, plx_mat values)
{
    plx_context *ctx = m->s->ctx;
    *out = values;
    if (!m->v->reduced) return PLX_OK;
    PLX_TRY(plx__tri_solve(ctx, m->v->pivots.corner, PLX__N, values));
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), m->v->n, values.cols));
    return plx__gemm(ctx, 1.0, m->v->x, PLX__N, plx__cmat(values), PLX__N, 0.0, *out);
}

/* g = S_j^-1 b for columns b. */
static plx_status solve(plx_mat *out, maker *m, plx_mat b)
{
    PLX_TRY(plx__mat_clone(out, plx__scratch(m->s->ctx), plx__cmat(b)));
    return plx__bct_solve(&m->s->b, m->v, *out);
}

static double column_product(plx_mat a, plx_mat b, plx_index c)
{
    double sum = 0;
    for (plx_index i = 0; i < a.rows; i++) sum += a.data[i * a.ld + c] * b.data[i * b.ld + c];
    return sum;
}

/* 1/(kappa(x,x) + s - b.g), never above 1/s. */
static double precision_of(const maker *m, double self, double told)
{
    return 1.0 / (m->v->variance + fmax(self - told, 0.0));
}

static sense_reference reference_of(const maker *m, plx_index c)
{
    const plx__density *d = &m->s->density;
    return (sense_reference){plx__cmat(m->rows), m->v->k.kernel, plx__density_mean(d, c, m->at),
                             plx__density_cov(d, c, m->at)};
}

/* b and g of given points x: reference x points, and kappa(x,x). */
static plx_status values_at(plx_mat *b, plx_mat *g, double **self, maker *m, plx_cmat x)
{
    plx_context *ctx = m->s->ctx;
    plx_mat by_row, by_column;
    PLX_TRY(plx__arena_f64(self, plx__scratch(ctx), x.rows, 1));
    PLX_TRY(plx__arena_mat(&by_row, plx__scratch(ctx), x.rows, m->rows.rows));
    PLX_TRY(plx__arena_mat(&by_column, plx__scratch(ctx), m->rows.rows, x.rows));
    PLX_TRY(plx__kernel_diagonal(ctx, &m->v->k.kernel, plx__points_dense(x), *self));
    PLX_TRY(
        plx__kernel_matrix(ctx, &m->v->k.kernel, plx__points_dense(x), plx__points_dense(plx__cmat(m->rows)), by_row));
    plx__mat_transpose(by_column, plx__cmat(by_row));
    PLX_TRY(lift(b, m, by_column));
    return solve(g, m, *b);
}

/* ---- the three expectations ---- */

/* x is the component's mean. */
static plx_status point_part(part *out, maker *m, plx_index c)
{
    plx_mat b;
    double *self = NULL;
    PLX_TRY(
        values_at(&b, &out->g, &self, m, plx__cmat_of(plx__density_mean(&m->s->density, c, m->at), 1, m->rows.cols)));
    out->q = precision_of(m, self[0], column_product(b, out->g, 0));
    return PLX_OK;
}

/* Mean and covariance of b in closed form, q at the mean of its reciprocal. */
static plx_status moments_part(part *out, maker *m, plx_index c)
{
    sense_reference of = reference_of(m, c);
    plx_mat values, b;
    double self = 0, told = 0;
    PLX_TRY(plx__sense_moments(&values, &self, m->s->ctx, &of));
    PLX_TRY(lift(&b, m, values));
    PLX_TRY(solve(&out->g, m, b));
    for (plx_index r = 0; r < b.cols; r++) told += column_product(b, out->g, r);
    out->q = precision_of(m, self, told);
    for (plx_index i = 0; i < out->g.rows; i++)
        plx__scale(out->g.data + i * out->g.ld + 1, sqrt(out->q), out->g.cols - 1);
    return PLX_OK;
}

/* The mean of q u u' over draws: q = mean q_t, a = mean(q_t g_t)/q, H = columns sqrt(q_t/T) (g_t - a). */
static plx_status sample_part(part *out, maker *m, plx_index c)
{
    plx_context *ctx = m->s->ctx;
    sense_reference of = reference_of(m, c);
    plx_index draws = m->s->set->samples, n = m->v->n;
    plx_mat x, b, g, h;
    double *self = NULL, *q = NULL;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(ctx), draws, m->rows.cols));
    PLX_TRY(plx__arena_f64(&q, plx__scratch(ctx), draws, 1));
    PLX_TRY(plx__sense_draw(x, ctx, &of, PLX__STREAM('s', 'n', 'd', 'w', m->v->view * 4096 + c)));
    PLX_TRY(values_at(&b, &g, &self, m, plx__cmat(x)));
    out->q = 0;
    for (plx_index t = 0; t < draws; t++) {
        q[t] = precision_of(m, self[t], column_product(b, g, t)) / (double)draws;
        out->q += q[t];
    }
    PLX_TRY(plx__arena_mat(&out->g, plx__scratch(ctx), n, 1));
    for (plx_index i = 0; i < n; i++) {
        double *row = g.data + i * g.ld, *a = &out->g.data[i * out->g.ld];
        *a = plx__dot(row, q, draws) / out->q;
        for (plx_index t = 0; t < draws; t++) row[t] = sqrt(q[t]) * (row[t] - *a);
    }
    PLX_TRY(plx__sense_compress(&h, ctx, plx__cmat(g)));
    plx_mat mean = out->g;
    PLX_TRY(plx__arena_mat(&out->g, plx__scratch(ctx), n, 1 + h.cols));
    plx__mat_copy(plx__sub(out->g, 0, 0, n, 1), plx__cmat(mean));
    plx__mat_copy(plx__sub(out->g, 0, 1, n, h.cols), plx__cmat(h));
    return PLX_OK;
}

/* ---- all components ---- */

static plx_status make_parts(maker *m)
{
    plx_index k = m->s->density.mix.k;
    PLX_TRY(PLX__ARENA_NEW(&m->parts, plx__scratch(m->s->ctx), k));
    PLX_TRY(gather_rows(m));
    for (plx_index c = 0; c < k; c++) {
        PLX_TRY(plx__poll(m->s->ctx));
        switch (m->s->set->expectation) {
        case SENSE_POINT: PLX_TRY(point_part(&m->parts[c], m, c)); break;
        case SENSE_MOMENTS: PLX_TRY(moments_part(&m->parts[c], m, c)); break;
        default: PLX_TRY(sample_part(&m->parts[c], m, c)); break;
        }
    }
    return PLX_OK;
}

/* Columns of a part at the samples' places among the covered ones. */
static void place(plx_mat to, const bct_view *v, plx_mat from, plx_index from_column, plx_index column, plx_index count)
{
    for (plx_index i = 0; i < v->n; i++)
        memcpy(to.data + v->at[i] * to.ld + column, from.data + i * from.ld + from_column,
               (size_t)count * sizeof(double));
}

plx_status plx__sense_terms(sense_terms *out, sense *s, const bct_view *v)
{
    plx_index k = s->density.mix.k;
    maker m = {.s = s, .v = v, .at = s->modelled[v->view]};
    *out = (sense_terms){.k = k};
    PLX_TRY(make_parts(&m));
    PLX_TRY(plx__arena_f64(&out->q, plx__scratch(s->ctx), k, 1));
    PLX_TRY(plx__arena_i64(&out->first, plx__scratch(s->ctx), k + 1));
    out->first[0] = k;
    for (plx_index c = 0; c < k; c++) out->first[c + 1] = out->first[c] + m.parts[c].g.cols - 1;
    PLX_TRY(plx__arena_mat(&out->w, plx__scratch(s->ctx), s->b.n_cov, out->first[k]));
    for (plx_index c = 0; c < k; c++) {
        const plx_mat g = m.parts[c].g;
        out->q[c] = m.parts[c].q;
        place(out->w, v, g, 0, c, 1);
        place(out->w, v, g, 1, out->first[c], g.cols - 1);
    }
    return PLX_OK;
}
