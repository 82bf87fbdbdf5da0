/*
 * From projections to results: the shared space, real correlations, mate retrieval, a linear support vector machine.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/cosine_search.h"
#include "linalg/dense.h"
#include "methods/cca/canon.h"
#include "optim/svm_dual.h"
#include "run/facts.h"

/* ---- the shared space ---- */

static plx_status put_shared(canon *c, plx_mat *shared)
{
    PLX_TRY(plx__store_new(shared, c->run->out, "shared", c->n, c->k));
    for (plx_index i = 0; i < c->n; i++) {
        double *row = shared->data + i * shared->ld, count = 0;
        memset(row, 0, (size_t)c->k * sizeof *row);
        for (plx_index v = 0; v < c->m; v++) {
            if (!c->views[v].view->present[i]) continue;
            plx__axpy(row, 1.0, c->views[v].projection.data + i * c->views[v].projection.ld, c->k);
            count++;
        }
        if (count > 1) plx__scale(row, 1.0 / count, c->k);
    }
    return PLX_OK;
}

/* ---- samples two views share ---- */

static plx_status common_samples(plx_index **out, plx_index *count, canon *c, const canon_view *a, const canon_view *b)
{
    plx_index i = 0, j = 0;
    *count = 0;
    PLX_TRY(plx__arena_i64(out, plx__scratch(c->ctx), plx__min(a->n, b->n)));
    while (i < a->n && j < b->n) {
        plx_index here = a->sample[i], there = b->sample[j];
        if (here == there) (*out)[(*count)++] = here;
        i += here <= there;
        j += there <= here;
    }
    return PLX_OK;
}

static plx_status take_rows(plx_mat *out, canon *c, plx_mat from, const plx_index *rows, plx_index count)
{
    PLX_TRY(plx__arena_mat(out, plx__scratch(c->ctx), count, from.cols));
    for (plx_index i = 0; i < count; i++)
        memcpy(out->data + i * out->ld, from.data + rows[i] * from.ld, (size_t)from.cols * sizeof(double));
    return PLX_OK;
}

/* ---- correlation ---- */

/* Projections vary when their standard deviation is above this share of what the direction's length and the spread of
 * the view would allow: below, it is the rounding of a constant. */
static const double LEAST_VARIATION = 1e-10;

/* k: least sum of squares about the mean, per sample, at which a direction of the view varies. */
static plx_status least_squares(double **out, canon *c, const canon_view *v)
{
    double spread = 0;
    PLX_TRY(plx__arena_f64(out, plx__scratch(c->ctx), c->k, 1));
    PLX_TRY(plx__canon_spread(&spread, c->ctx, v));
    for (plx_index j = 0; j < c->k; j++) {
        if (v->w_square) (*out)[j] = v->w_square[j];
        for (plx_index i = 0; i < v->w.rows; i++) (*out)[j] += v->w.data[i * v->w.ld + j] * v->w.data[i * v->w.ld + j];
        (*out)[j] *= LEAST_VARIATION * spread * (LEAST_VARIATION * spread);
    }
    return PLX_OK;
}

typedef struct correlation { /* of all pairs of views so far, per direction */
    double *sum;
    plx_index *pairs;     /* in which it is defined */
    double *const *least; /* per view */
} correlation;

/* Adds the Pearson correlations of two views over the rows of their common samples; a direction that does not vary in
 * one of them has none. */
static void add_pearson(correlation *all, plx_cmat a, plx_cmat b, const double *least_a, const double *least_b,
                        const double *ma, const double *mb)
{
    double n = (double)a.rows;
    for (plx_index j = 0; j < a.cols; j++) {
        double ab = 0, aa = 0, bb = 0;
        for (plx_index i = 0; i < a.rows; i++) {
            double x = a.data[i * a.ld + j] - ma[j], y = b.data[i * b.ld + j] - mb[j];
            ab += x * y;
            aa += x * x;
            bb += y * y;
        }
        if (!(aa > n * least_a[j] && bb > n * least_b[j])) continue;
        all->sum[j] += fmax(-1.0, fmin(1.0, ab / (sqrt(aa) * sqrt(bb))));
        all->pairs[j]++;
    }
}

static plx_status add_correlation(canon *c, plx_index va, plx_index vb, correlation *all)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    const canon_view *a = &c->views[va], *b = &c->views[vb];
    plx_index *rows = NULL, count = 0;
    plx_mat x, y;
    double *mx = NULL, *my = NULL;
    PLX_TRY(common_samples(&rows, &count, c, a, b));
    PLX_TRY(take_rows(&x, c, a->projection, rows, count));
    PLX_TRY(take_rows(&y, c, b->projection, rows, count));
    PLX_TRY(plx__arena_f64(&mx, plx__scratch(c->ctx), c->k, 1));
    PLX_TRY(plx__arena_f64(&my, plx__scratch(c->ctx), c->k, 1));
    if (count > 1) {
        PLX_TRY(plx__col_means(c->ctx, mx, plx__cmat(x)));
        PLX_TRY(plx__col_means(c->ctx, my, plx__cmat(y)));
        add_pearson(all, plx__cmat(x), plx__cmat(y), all->least[va], all->least[vb], mx, my);
    }
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

/* Mean over the pairs of views in which it is defined; 0 where there is none. */
static plx_status put_correlation(canon *c)
{
    correlation all = {0};
    double **least = NULL;
    plx_mat out;
    PLX_TRY(plx__store_new(&out, c->run->out, "correlation", c->k, 1));
    PLX_TRY(plx__arena_i64(&all.pairs, plx__scratch(c->ctx), c->k));
    PLX_TRY(plx__arena_f64(&all.sum, plx__scratch(c->ctx), c->k, 1));
    PLX_TRY(PLX__ARENA_NEW(&least, plx__scratch(c->ctx), c->m));
    for (plx_index v = 0; v < c->m; v++) PLX_TRY(least_squares(&least[v], c, &c->views[v]));
    all.least = least;
    for (plx_index a = 0; a < c->m; a++) {
        for (plx_index b = a + 1; b < c->m; b++) PLX_TRY(add_correlation(c, a, b, &all));
        PLX_TRY(plx__report(c->ctx, "correlation", a + 1, c->m, NAN));
    }
    for (plx_index j = 0; j < c->k; j++) out.data[j] = all.pairs[j] ? all.sum[j] / (double)all.pairs[j] : 0.0;
    return PLX_OK;
}

/* ---- retrieval ---- */

/* Shares of mates at rank 1 and up to 10, and the mean of 1/rank; NaN when no sample has both views. */
static plx_status retrieve(canon *c, const canon_view *from, const canon_view *to, double *row)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_index *samples = NULL, *mate = NULL, n = 0;
    plx_mat x, y;
    plx__search_result result = {0};
    PLX_TRY(common_samples(&samples, &n, c, from, to));
    PLX_TRY(take_rows(&x, c, from->projection, samples, n));
    PLX_TRY(take_rows(&y, c, to->projection, samples, n));
    PLX_TRY(plx__arena_i64(&mate, plx__scratch(c->ctx), n));
    PLX_TRY(plx__arena_f64(&result.rank, plx__scratch(c->ctx), n, 1));
    for (plx_index i = 0; i < n; i++) mate[i] = i;
    PLX_TRY(plx__cosine_search(c->ctx, plx__cmat(x), plx__cmat(y), mate, &result));
    double top1 = 0, top10 = 0, reciprocal = 0;
    for (plx_index i = 0; i < n; i++) {
        top1 += result.rank[i] <= 1;
        top10 += result.rank[i] <= 10;
        reciprocal += 1 / result.rank[i];
    }
    const double values[] = {(double)from->index, (double)to->index, n ? top1 / (double)n : NAN,
                             n ? top10 / (double)n : NAN, n ? reciprocal / (double)n : NAN};
    memcpy(row, values, sizeof values);
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

static plx_status put_retrieval(canon *c)
{
    plx_mat out;
    plx_index row = 0, pairs = c->m * (c->m - 1);
    if (!c->set->retrieval || (c->run->fitted && !plx__wanted(c->run, "retrieval"))) return PLX_OK;
    PLX_TRY(plx__store_new(&out, c->run->out, "retrieval", pairs, 5));
    for (plx_index a = 0; a < c->m; a++)
        for (plx_index b = 0; b < c->m; b++) {
            if (a == b) continue;
            PLX_TRY(retrieve(c, &c->views[a], &c->views[b], out.data + row++ * out.ld));
            PLX_TRY(plx__report(c->ctx, "retrieval", row, pairs, NAN));
        }
    return PLX_OK;
}

/* ---- support vector machine ---- */

typedef struct svm_job {
    plx_index *sample; /* labelled samples that have a view */
    plx_index l, outputs;
    plx_mat rows, gram; /* l x k, l x l */
    plx_mat weights;    /* k x outputs */
    plx_mat bias;       /* 1 x outputs */
} svm_job;

static plx_status svm_rows(svm_job *job, canon *c, plx_mat shared)
{
    const plx__problem *p = c->run->problem;
    PLX_TRY(plx__arena_i64(&job->sample, plx__scratch(c->ctx), c->n));
    for (plx_index i = 0; i < c->n; i++) {
        bool covered = false;
        for (plx_index v = 0; v < c->m; v++) covered |= c->views[v].view->present[i];
        if (covered && p->label[i] >= 0) job->sample[job->l++] = i;
    }
    PLX_TRY(take_rows(&job->rows, c, shared, job->sample, job->l));
    PLX_TRY(plx__arena_mat(&job->gram, plx__scratch(c->ctx), job->l, job->l));
    return plx__syrk(c->ctx, 1.0, plx__cmat(job->rows), PLX__N, 0.0, job->gram);
}

/* One against the rest; with two classes the second one is positive. */
static plx_status svm_output(svm_job *job, canon *c, plx_index output)
{
    const plx__problem *p = c->run->problem;
    plx_index positive = job->outputs == 1 ? 1 : output;
    const char *what = NULL;
    double *y = NULL, *a = NULL;
    plx__svm_result result;
    PLX_TRY(
        plx__arena_printf(&what, plx__scratch(c->ctx), "%s: class '%s'", c->run->method->name, p->classes[positive]));
    plx__svm_options o = {.cost = c->set->C, .bias = true, .tol = 1e-9, .gap = 1e-8, .what = what};
    PLX_TRY(plx__arena_f64(&y, plx__scratch(c->ctx), job->l, 1));
    PLX_TRY(plx__arena_f64(&a, plx__scratch(c->ctx), job->l, 1));
    for (plx_index i = 0; i < job->l; i++) y[i] = p->label[job->sample[i]] == positive ? 1.0 : -1.0;
    PLX_TRY(plx__svm_dual(c->ctx, plx__cmat(job->gram), y, &o, a, &result));
    if (!result.converged)
        plx__warn(c->ctx, "%s: the support vector machine stopped early (violation %g)", what, result.violation);
    for (plx_index i = 0; i < job->l; i++)
        for (plx_index j = 0; j < c->k; j++)
            job->weights.data[j * job->weights.ld + output] += a[i] * y[i] * job->rows.data[i * job->rows.ld + j];
    job->bias.data[output] = result.bias;
    return PLX_OK;
}

static plx_status svm_fit(canon *c, plx_mat shared)
{
    plx_index classes = c->run->problem->n_classes;
    svm_job job = {.outputs = classes == 2 ? 1 : classes};
    PLX_TRY(plx__store_new(&job.weights, c->run->out, "_svm.weights", c->k, job.outputs));
    PLX_TRY(plx__store_new(&job.bias, c->run->out, "_svm.bias", 1, job.outputs));
    plx__mat_fill(job.weights, 0.0);
    PLX_TRY(svm_rows(&job, c, shared));
    for (plx_index q = 0; q < job.outputs; q++) {
        PLX_TRY(svm_output(&job, c, q));
        PLX_TRY(plx__report(c->ctx, "svm", q + 1, job.outputs, NAN));
    }
    return PLX_OK;
}

static plx_status svm_decide(canon *c, plx_mat shared)
{
    const plx__store *state = c->run->fitted ? c->run->fitted : c->run->out;
    plx_index classes = c->run->problem->n_classes, outputs = classes == 2 ? 1 : classes;
    plx_cmat weights, bias;
    plx_mat f, decision;
    int32_t *label = NULL;
    PLX_TRY(plx__store_shaped(&weights, c->ctx, state, "_svm.weights", c->k, outputs));
    PLX_TRY(plx__store_shaped(&bias, c->ctx, state, "_svm.bias", 1, outputs));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(c->ctx), c->n, outputs));
    PLX_TRY(plx__store_new(&decision, c->run->out, "decision", c->n, classes));
    PLX_TRY(plx__gemm(c->ctx, 1.0, plx__cmat(shared), PLX__N, weights, PLX__N, 0.0, f));
    for (plx_index i = 0; i < c->n; i++)
        for (plx_index q = 0; q < classes; q++) {
            double value = f.data[i * f.ld + (outputs == 1 ? 0 : q)] + bias.data[outputs == 1 ? 0 : q];
            decision.data[i * decision.ld + q] = outputs == 1 && q == 0 ? -value : value;
        }
    PLX_TRY(plx__arena_i32(&label, plx__scratch(c->ctx), c->n));
    plx__argmax_rows(label, plx__cmat(decision));
    return plx__outcome_classes(c->run, label, plx__cmat(decision));
}

/* ---- all of it ---- */

static plx_status put_facts(canon *c)
{
    c->run->info->objective = plx__sum(c->rho, c->k);
    PLX_TRY(plx__store_put(c->run->out, "rho", (plx_cmat){c->rho, c->k, 1, 1}));
    return c->jitter > 0 ? plx__report_number(c->run, "jitter", c->jitter) : PLX_OK;
}

plx_status plx__canon_finish(canon *c)
{
    plx_mat shared;
    for (plx_index v = 0; v < c->m; v++)
        PLX_TRY(plx__require_finite(c->run, plx__cmat(c->views[v].projection), "projections"));
    PLX_TRY(put_shared(c, &shared));
    if (!c->run->fitted) {
        PLX_TRY(put_facts(c));
        PLX_TRY(put_correlation(c));
    }
    PLX_TRY(put_retrieval(c));
    if (c->set->classifier == CANON_NO_CLASSIFIER) return plx__outcome_nothing(c->run);
    if (!c->run->fitted) PLX_TRY(svm_fit(c, shared));
    return svm_decide(c, shared);
}
