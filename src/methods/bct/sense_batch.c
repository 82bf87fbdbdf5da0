/*
 * Several views to be measured together: after each the posterior covariance P of every problem gets the change that
 * the candidate makes to the precision, P <- P - G G', G = P V L^-T, L L' = I + V'PV, and with it P W, W'PW and the
 * diagonal of P. The expectations of two candidates in the same view are taken as if each were measured alone.
 */
#include <math.h>
#include <string.h>

#include "active/batch.h"
#include "linalg/factor.h"
#include "methods/bct/sense_gain.h"

/* What one candidate has changed: columns of G over all samples. */
typedef struct told {
    struct told *before;
    plx_mat g;
} told;

typedef struct several {
    sense *s;
    plx_mat variance; /* n x problems */
    told **last;      /* per problem */
    const plx_index *sample, *view;
} several;

static sense_job *job_of(const several *m, plx_index view, plx_index problem)
{
    return &m->s->kept[view * m->s->state.q + problem];
}

static plx_status again(double *information, void *arg, plx_index k)
{
    const several *m = arg;
    *information = 0;
    for (plx_index q = 0; q < m->s->state.q; q++) {
        const sense_job *job = job_of(m, m->view[k], q);
        double gain = 0;
        PLX_TRY(plx__sense_gain(&gain, job, m->s->ctx, m->sample[k], job->work));
        *information += gain;
    }
    return PLX_OK;
}

/* ---- starting ---- */

static plx_status open_job(several *m, sense_job *job)
{
    const sense *s = m->s;
    job->changed = &m->variance;
    PLX_TRY(plx__arena_mat(&job->all, plx__scratch(s->ctx), s->b.n, job->pw.cols));
    for (plx_index i = 0; i < s->b.n; i++)
        if (s->b.place[i] >= 0)
            memcpy(job->all.data + i * job->all.ld, job->pw.data + s->b.place[i] * job->pw.ld,
                   (size_t)job->pw.cols * sizeof(double));
    return PLX_OK;
}

static plx_status open_several(several *m)
{
    const sense *s = m->s;
    plx_index q = s->state.q;
    PLX_TRY(plx__arena_mat(&m->variance, plx__scratch(s->ctx), s->b.n, q));
    PLX_TRY(PLX__ARENA_NEW(&m->last, plx__scratch(s->ctx), q));
    for (plx_index i = 0; i < s->b.n; i++)
        for (plx_index c = 0; c < q; c++)
            m->variance.data[i * q + c] =
                s->b.place[i] < 0 ? 1.0 / s->set->vague : s->variance.data[i * s->variance.ld + c];
    for (plx_index k = 0; k < s->b.m * q; k++)
        if (s->kept[k].t) PLX_TRY(open_job(m, &s->kept[k]));
    return PLX_OK;
}

/* ---- taking ---- */

/* P e_i over all samples: K_c e_i - V (V'e_i), less what was told since. */
static plx_status find_column(double *out, several *m, plx_index i, plx_index problem)
{
    sense *s = m->s;
    plx_index place = s->b.place[i];
    plx_mat unit, column;
    PLX_TRY(plx__arena_mat(&unit, plx__scratch(s->ctx), s->b.n_cov, 1));
    PLX_TRY(plx__arena_mat(&column, plx__scratch(s->ctx), s->b.n_cov, 1));
    if (place < 0) out[i] = 1.0 / s->set->vague;
    else {
        plx_cmat v = plx__cmat(s->explained[problem]);
        unit.data[place] = 1.0;
        PLX_TRY(plx__bct_apply(&s->b, plx__cmat(unit), column));
        PLX_TRY(plx__gemv(s->ctx, -1.0, v, PLX__N, v.data + place * v.ld, 1.0, column.data));
        for (plx_index l = 0; l < s->b.n; l++)
            if (s->b.place[l] >= 0) out[l] = column.data[s->b.place[l]];
    }
    for (const told *t = m->last[problem]; t; t = t->before)
        for (plx_index l = 0; l < s->b.n; l++)
            out[l] -= plx__dot(t->g.data + l * t->g.ld, t->g.data + i * t->g.ld, t->g.cols);
    return PLX_OK;
}

/* P V over all samples; the columns of V as in sense_gain.c. */
static void fill_product(plx_mat out, const sense_job *job, const sense_candidate *c, const double *unit)
{
    for (plx_index l = 0; l < out.rows; l++) {
        double *row = out.data + l * out.ld, mean = 0;
        const double *all = job->all.data + l * job->all.ld;
        for (plx_index a = 0; a < c->means; a++)
            mean += c->weight[a] * c->weight[a] / c->total * all[(plx_index)c->number[a]];
        row[0] = sqrt(c->total) * (unit[l] - mean);
        for (plx_index a = 0; a < c->count; a++)
            row[1 + a] = c->weight[a] * (all[(plx_index)c->number[a]] - (a < c->means ? mean : 0.0));
    }
}

/* P W, W'PW of a view. */
static plx_status change_job(sense_job *job, plx_cmat g, plx_cmat covered)
{
    plx_mat wg;
    plx_context *ctx = job->s->ctx;
    PLX_TRY(plx__arena_mat(&wg, plx__scratch(ctx), job->w.cols, g.cols));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(job->w), PLX__T, covered, PLX__N, 0.0, wg));
    PLX_TRY(plx__gemm(ctx, -1.0, g, PLX__N, plx__cmat(wg), PLX__T, 1.0, job->all));
    PLX_TRY(plx__gemm(ctx, -1.0, plx__cmat(wg), PLX__N, plx__cmat(wg), PLX__T, 1.0, job->inner));
    for (plx_index c = 0; c < job->t->k; c++) { /* traces of H_c'P H_c */
        job->spread[c] = 0;
        for (plx_index h = job->first[c]; h < job->first[c + 1]; h++)
            job->spread[c] += job->inner.data[h * (job->inner.ld + 1)];
    }
    return PLX_OK;
}

static plx_status change_problem(several *m, plx_mat g, plx_index problem)
{
    sense *s = m->s;
    plx_mat covered;
    PLX_TRY(plx__arena_mat(&covered, plx__scratch(s->ctx), s->b.n_cov, g.cols));
    for (plx_index i = 0; i < s->b.n; i++) {
        const double *row = g.data + i * g.ld;
        m->variance.data[i * m->variance.ld + problem] -= plx__norm_sq(row, g.cols);
        if (s->b.place[i] >= 0) memcpy(covered.data + s->b.place[i] * covered.ld, row, (size_t)g.cols * sizeof *row);
    }
    for (plx_index j = 0; j < s->b.m; j++)
        if (job_of(m, j, problem)->t) PLX_TRY(change_job(job_of(m, j, problem), plx__cmat(g), plx__cmat(covered)));
    return PLX_OK;
}

static plx_status take_problem(several *m, plx_index k, plx_index problem)
{
    sense *s = m->s;
    sense_job *job = job_of(m, m->view[k], problem);
    plx_index i = m->sample[k];
    told *t = NULL;
    double *unit = NULL;
    plx_mat factor;
    sense_candidate c = plx__sense_candidate(job, i, job->work);
    if (!c.means) return PLX_OK;
    PLX_TRY(plx__sense_factor(&factor, job, s->ctx, &c, i, job->work));
    PLX_TRY(PLX__ARENA_NEW(&t, plx__scratch(s->ctx), 1));
    PLX_TRY(plx__arena_mat(&t->g, plx__scratch(s->ctx), s->b.n, c.count + 1));
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    PLX_TRY(plx__arena_f64(&unit, plx__scratch(s->ctx), s->b.n, 1));
    PLX_TRY(find_column(unit, m, i, problem));
    fill_product(t->g, job, &c, unit);
    PLX_TRY(plx__tri_solve_right(s->ctx, plx__cmat(factor), PLX__T, t->g));
    PLX_TRY(change_problem(m, t->g, problem));
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    t->before = m->last[problem];
    m->last[problem] = t;
    return PLX_OK;
}

static plx_status take(void *arg, plx_index k)
{
    several *m = arg;
    for (plx_index q = 0; q < m->s->state.q; q++) PLX_TRY(take_problem(m, k, q));
    return PLX_OK;
}

plx_status plx__sense_batch(sense *s, plx__candidate *list, plx_index count, const plx_index *sample,
                            const plx_index *view, plx_index size)
{
    several m = {.s = s, .sample = sample, .view = view};
    PLX_TRY(open_several(&m));
    return plx__batch_pick(&(plx__batch){s->run, list, count, again, take, &m}, size);
}
