/*
 * corls: co-regularised least squares. One function per view and class, fitted together so that the views agree on all
 * samples, labelled or not:
 *
 *     sum_v mu_v/l_v sum_{i labelled, has v} (y_i - f_v(x_i))^2 + sum_v gamma_v |f_v|^2
 *       + sum_{u<v} gamma_c/n_uv sum_{i has u and v} (f_u(x_i) - f_v(x_i))^2
 *
 * f_v = K_v alpha_v solves (Gamma + B K) alpha = r, r = (mu_v/l_v) J_v y stacked, where row i of view v of B x is
 * (mu_v/l_v) J_v x_v + sum_u gamma_c/n_uv (x_v - x_u) over the other views u of sample i: kernel/kernel_system.h.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "methods/regularised/joint.h"

enum { DENSE_UP_TO = 4000, FORMED_UP_TO = 2000 }; /* stacked samples that are factorised; features of a formed matrix */

typedef struct params {
    double gamma_c, tol;
    bool orthogonal;
    const char *combine;
    int solver;
    plx_index max_iter, pivots;
} params;

static const plx__param_spec param_specs[] = {
    PLX__VIEW_REAL("gamma", "0.01", 0, PLX__ABOVE_LO,
                   "Weight of the squared norm of a view's function: larger is smoother."),
    PLX__REAL(params, gamma_c, "0.1", 0, INFINITY,
              "Weight of the agreement between views: larger makes them agree more."),
    PLX__VIEW_REAL("mu", "1", 0, PLX__ABOVE_LO, "Weight of the labels in a view's function: larger fits them closer."),
    PLX__BOOL(params, orthogonal, "0", "Constrain every view's function to sum to zero over its fitted samples."),
    PLX__TEXT(params, combine, "mean", "Score that decides: mean of the views a sample has, or the name of a view."),
    PLX__CHOICE(params, solver, "auto", "auto|dense|cg|primal",
                "Factorise the stacked system, iterate on it, or solve for the weights of linear kernels."),
    PLX__INT(
        params, pivots, "0", 0, 1e9,
        "Above 0: reduce every kernel to this many columns of its pivoted Cholesky factor; larger is nearer to the "
        "full kernel."),
    PLX__REAL_ABOVE(params, tol, "1e-10", 0,
                    "Relative residual at which the iterative solvers stop; larger is faster and coarser."),
    PLX__INT(params, max_iter, "1000", 1, 1e9, "Most steps of the iterative solvers."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"scores", "n x K", 0, "Score per class: mean over the views of a sample, or of the view named by combine."},
    {"alpha_VIEW", "n x K", 0, "Coefficients of the view's function; of its centred kernel when orthogonal=1."},
    {"f_VIEW", "n x K", 0, "Values of the view's function; zero rows for samples without the view."},
    {NULL, NULL, 0, NULL}};

typedef struct view_terms {
    plx__learner q; /* samples, labelled ones, targets; nothing else of it is used */
    double mu, gamma;
    plx__kernel_pivots pivots; /* when asked for */
    plx_index offset;
    plx_index *position; /* n: row of the sample in this view's block, -1: missing */
} view_terms;

typedef struct problem {
    plx__run *run;
    view_terms *view;
    plx_index m, size;
    double *pair; /* m x m: gamma_c / n_uv, 0 for pairs that share nobody */
    double even;  /* what all pairs of three or more views have in common; 0: nothing */
} problem;

/* ---- the terms ---- */

static double loss_weight(const view_terms *t) { return t->q.l ? t->mu / (double)t->q.l : 0.0; }

static plx_status begin_view(view_terms *t, plx__run *run, plx_index v)
{
    const plx__problem *p = run->problem;
    plx__value gamma, mu;
    PLX_TRY(plx__view_value(&gamma, run->ctx, run->settings, "gamma", p->views[v].name));
    PLX_TRY(plx__view_value(&mu, run->ctx, run->settings, "mu", p->views[v].name));
    t->gamma = gamma.number;
    t->mu = mu.number;
    PLX_TRY(plx__expansion_prepare(&t->q.x, run, v));
    PLX_TRY(plx__learner_collect(&t->q, run));
    PLX_TRY(plx__arena_i64(&t->position, plx__scratch(run->ctx), p->n));
    for (plx_index i = 0; i < p->n; i++) t->position[i] = -1;
    for (plx_index i = 0; i < t->q.n; i++) t->position[t->q.sample[i]] = i;
    return PLX_OK;
}

static plx_status count_pairs(problem *z)
{
    const params *p = z->run->params;
    PLX_TRY(plx__arena_f64(&z->pair, plx__scratch(z->run->ctx), z->m, z->m));
    for (plx_index u = 0; u < z->m; u++)
        for (plx_index v = 0; v < z->m; v++) {
            plx_index shared = 0;
            for (plx_index i = 0; u != v && i < z->run->problem->n; i++)
                shared += z->view[u].position[i] >= 0 && z->view[v].position[i] >= 0;
            z->pair[u * z->m + v] = shared ? p->gamma_c / (double)shared : 0.0;
        }
    z->even = z->m > 2 ? z->pair[1] : 0.0;
    for (plx_index u = 0; u < z->m; u++)
        for (plx_index v = 0; v < z->m; v++)
            if (u != v && z->pair[u * z->m + v] != z->even) z->even = 0;
    return PLX_OK;
}

static plx_status begin(problem *z, plx__run *run)
{
    *z = (problem){.run = run, .m = run->problem->n_views};
    PLX_TRY(PLX__ARENA_NEW(&z->view, plx__scratch(run->ctx), z->m));
    for (plx_index v = 0; v < z->m; v++) {
        PLX_TRY(begin_view(&z->view[v], run, v));
        z->view[v].offset = z->size;
        z->size += z->view[v].q.n;
    }
    PLX_TRY(count_pairs(z));
    for (plx_index v = 0; v < z->m; v++) {
        double tied = 0;
        for (plx_index u = 0; u < z->m; u++) tied += z->pair[v * z->m + u];
        if (!z->view[v].q.l && !(tied > 0))
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "%s: view %s: nothing to learn from: no labelled sample has it%s; label one or leave the view out",
                     run->method->name, run->problem->views[v].name,
                     z->view[v].q.n ? " and nothing ties it to another view" : "");
    }
    return PLX_OK;
}

/* ---- B as a product ---- */

typedef struct coupling_job {
    const problem *z;
    plx_index first;   /* sample */
    plx_index *offset; /* from a view's row to the stacked one */
    plx_cmat x;
    plx_mat y;
    double *sums; /* one row per worker */
} coupling_job;

/* Where the row of sample i in view v is among the stacked ones; -1: it has none. */
static plx_index stacked_row(const coupling_job *job, plx_index v, plx_index i)
{
    plx_index at = job->z->view[v].position[i];
    return at < 0 ? -1 : at + job->offset[v];
}

/* The rows of sample i except the loss, all pairs of views being tied alike: by the sum over the views. */
static void couple_evenly(const coupling_job *job, plx_index i, double *sum)
{
    const problem *z = job->z;
    plx_index cols = job->x.cols;
    double present = 0;
    memset(sum, 0, (size_t)cols * sizeof *sum);
    for (plx_index v = 0; v < z->m; v++) {
        plx_index row = stacked_row(job, v, i);
        if (row < 0) continue;
        plx__axpy(sum, 1.0, job->x.data + row * job->x.ld, cols);
        present++;
    }
    for (plx_index v = 0; v < z->m; v++) {
        plx_index row = stacked_row(job, v, i);
        if (row < 0) continue;
        double *to = job->y.data + row * job->y.ld;
        const double *own = job->x.data + row * job->x.ld;
        for (plx_index c = 0; c < cols; c++) to[c] = z->even * (present * own[c] - sum[c]);
    }
}

/* The same with a weight of its own for every pair. */
static void couple_pairs(const coupling_job *job, plx_index i)
{
    const problem *z = job->z;
    for (plx_index v = 0; v < z->m; v++) {
        plx_index row = stacked_row(job, v, i);
        if (row < 0) continue;
        double *to = job->y.data + row * job->y.ld;
        memset(to, 0, (size_t)job->y.cols * sizeof *to);
        for (plx_index u = 0; u < z->m; u++) {
            double c = z->pair[v * z->m + u];
            plx_index other = stacked_row(job, u, i);
            if (c == 0 || other < 0) continue;
            plx__axpy(to, c, job->x.data + row * job->x.ld, job->x.cols);
            plx__axpy(to, -c, job->x.data + other * job->x.ld, job->x.cols);
        }
    }
}

static plx_status couple_samples(void *arg, plx_context *ctx, plx_index begin_at, plx_index end, int worker)
{
    const coupling_job *job = arg;
    const problem *z = job->z;
    const int32_t *label = z->run->problem->label;
    (void)ctx;
    for (plx_index i = job->first + begin_at; i < job->first + end; i++) {
        if (z->even > 0) couple_evenly(job, i, job->sums + (plx_index)worker * job->x.cols);
        else couple_pairs(job, i);
        for (plx_index v = 0; v < z->m && label[i] >= 0; v++) {
            plx_index row = stacked_row(job, v, i);
            if (row < 0) continue;
            plx__axpy(job->y.data + row * job->y.ld, loss_weight(&z->view[v]), job->x.data + row * job->x.ld,
                      job->x.cols);
        }
    }
    return PLX_OK;
}

/* Samples first .. end-1, whose rows x and y have alone. */
static plx_status couple_part(void *arg, plx_context *ctx, plx_index first, plx_index end, plx_cmat x, plx_mat y)
{
    const problem *z = arg;
    coupling_job job = {.z = z, .first = first, .x = x, .y = y};
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index rows = 0;
    PLX_TRY(plx__arena_i64(&job.offset, plx__scratch(ctx), z->m));
    PLX_TRY(plx__arena_f64(&job.sums, plx__scratch(ctx), (plx_index)plx__workers(ctx), x.cols));
    for (plx_index v = 0; v < z->m; v++) {
        const plx__learner *q = &z->view[v].q;
        plx__slab_rows samples = {.n = q->n, .at = q->sample};
        plx_index begin = plx__slab_row(&samples, first);
        job.offset[v] = rows - begin;
        rows += plx__slab_row(&samples, end) - begin;
    }
    PLX_TRY(plx__parallel_for(ctx, end - first, plx__max(1, 65536 / plx__max(1, x.cols)), couple_samples, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status couple(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    return couple_part(arg, ctx, 0, ((const problem *)arg)->run->problem->n, x, y);
}

/* ---- solving ---- */

static plx_status choose_solver(plx__system_solver *out, const problem *z)
{
    const params *p = z->run->params;
    bool linear = true;
    *out = p->pivots > 0 ? PLX__SYSTEM_PRIMAL : (plx__system_solver)p->solver;
    if (p->pivots > 0) {
        plx__info(z->run->ctx, "corls: %lld samples of all views stacked, at most %lld pivots of every kernel",
                  (long long)z->size, (long long)p->pivots);
        return PLX_OK;
    }
    for (plx_index v = 0; v < z->m; v++) {
        linear = linear && z->view[v].q.x.linear;
        if (*out == PLX__SYSTEM_PRIMAL && !linear)
            PLX_FAIL(z->run->ctx, PLX_E_ARG,
                     "solver = primal: view '%s' needs a linear or cosine kernel; use dense or cg",
                     z->run->problem->views[v].name);
    }
    if (*out == PLX__SYSTEM_AUTO)
        *out = z->size <= DENSE_UP_TO ? PLX__SYSTEM_DENSE : linear ? PLX__SYSTEM_PRIMAL : PLX__SYSTEM_CG;
    plx__info(z->run->ctx, "corls: %lld samples of all views stacked, solver %s", (long long)z->size,
              plx__system_solver_name(*out));
    return PLX_OK;
}

/* The factor of a view's kernel in its place. */
static plx_status reduce_view(view_terms *t, const plx__kernel_system *s, problem *z, plx__system_block *block)
{
    plx__slab_rows whose = plx__block_whose(s, block);
    plx_index most = ((const params *)z->run->params)->pivots;
    if (!most) return PLX_OK;
    PLX_TRY(plx__pivot_expansion_find_for(&t->pivots, z->run, &t->q.x, t->q.sample, &whose, most));
    block->features = t->pivots.x;
    return PLX_OK;
}

static plx_status solve(problem *z, plx__system_block *block, plx_mat alpha, plx_mat f, plx__iter_result *result)
{
    const params *p = z->run->params;
    plx__kernel_system s = {.block = block,
                            .n_blocks = z->m,
                            .coupling = couple,
                            .coupling_part = couple_part,
                            .samples = z->run->problem->n,
                            .arg = z,
                            .tol = p->tol,
                            .max_iter = p->max_iter,
                            .what = "corls: matrix of all views"};
    plx_mat r;
    PLX_TRY(choose_solver(&s.solver, z));
    PLX_TRY(plx__arena_mat(&r, plx__scratch(z->run->ctx), z->size, alpha.cols));
    for (plx_index v = 0; v < z->m; v++) {
        view_terms *t = &z->view[v];
        block[v] = (plx__system_block){
            .x = &t->q.x, .sample = t->q.sample, .count = t->q.n, .gamma = t->gamma, .centred = p->orthogonal};
        PLX_TRY(reduce_view(t, &s, z, &block[v]));
        for (plx_index i = 0; i < t->q.l; i++)
            plx__axpy(r.data + (t->offset + t->q.labelled[i]) * r.ld, loss_weight(t), t->q.y.data + i * r.cols, r.cols);
    }
    return plx__system_solve(&s, z->run->ctx, plx__cmat(r), alpha, f, result);
}

static double objective(const problem *z, plx_cmat alpha, plx_cmat f)
{
    double loss = 0, norm = 0, apart = 0;
    for (plx_index v = 0; v < z->m; v++) {
        const view_terms *t = &z->view[v];
        for (plx_index i = 0; i < t->q.l; i++)
            loss += loss_weight(t) *
                    plx__dist_sq(t->q.y.data + i * f.cols, f.data + (t->offset + t->q.labelled[i]) * f.ld, f.cols);
        for (plx_index i = t->offset; i < t->offset + t->q.n; i++)
            norm += t->gamma * plx__dot(alpha.data + i * alpha.ld, f.data + i * f.ld, f.cols);
        for (plx_index u = 0; u < v; u++)
            for (plx_index i = 0; i < z->run->problem->n; i++) {
                plx_index a = t->position[i], b = z->view[u].position[i];
                if (a < 0 || b < 0) continue;
                apart += z->pair[v * z->m + u] *
                         plx__dist_sq(f.data + (t->offset + a) * f.ld, f.data + (z->view[u].offset + b) * f.ld, f.cols);
            }
    }
    return loss + norm + apart;
}

/* ---- results ---- */

/* alpha_VIEW, and what prediction needs: centred kernels are brought back to K itself. */
static plx_status keep_view(problem *z, plx_index v, const plx__system_block *block, plx_mat alpha)
{
    view_terms *t = &z->view[v];
    plx_mat own = plx__sub(alpha, t->offset, 0, t->q.n, alpha.cols);
    const char *name = NULL;
    PLX_TRY(plx__joint_name(&name, z->run, "alpha", t->q.x.data.name));
    PLX_TRY(plx__put_rows(z->run, name, t->q.sample, NULL, plx__cmat(own)));
    if (t->pivots.rank) return plx__pivot_expansion_keep(z->run, &t->q.x, &t->pivots, plx__cmat(block->weights));
    if (block->weights.data) return plx__expansion_keep_weights(z->run, &t->q.x, plx__cmat(block->weights));
    plx__system_plain(block, own);
    return plx__expansion_keep(z->run, &t->q.x, t->q.sample, t->q.n, plx__cmat(own));
}

/* Index of the view that decides; -1: the mean. */
static plx_status named_view(plx_index *out, plx__run *run)
{
    const params *p = run->params;
    *out = -1;
    return strcmp(p->combine, "mean") == 0 ? PLX_OK : plx__require_view(out, run, p->combine, "combine");
}

static plx_status decide(plx__run *run, const plx__expansion *x, plx_index named)
{
    plx_index m = run->problem->n_views;
    uint8_t *active = NULL;
    plx__joint j = {.count = m, .in_mean = m, .named = named, .x = x};
    PLX_TRY(plx__arena_u8(&active, plx__scratch(run->ctx), m));
    PLX_TRY(PLX__ARENA_NEW(&j.f, plx__scratch(run->ctx), m));
    memset(active, 1, (size_t)m);
    j.active = active;
    for (plx_index v = 0; v < m; v++) PLX_TRY(plx__joint_values(&j.f[v], run, &x[v], false));
    return plx__joint_decide(run, &j);
}

static plx_status report_outcome(plx__run *run, const plx__iter_result *result)
{
    run->info->iterations = result->iterations;
    if (result->iterations || !result->converged) run->info->converged = result->converged;
    if (!result->converged) plx__warn_unsolved(run, result->iterations, ((const params *)run->params)->max_iter);
    return PLX_OK;
}

static plx_status fit(plx__run *run)
{
    problem z;
    plx__system_block *block = NULL;
    plx__expansion *x = NULL;
    plx_mat alpha, f;
    plx_index named = -1;
    plx__iter_result result;
    PLX_TRY(named_view(&named, run));
    PLX_TRY(begin(&z, run));
    PLX_TRY(PLX__ARENA_NEW(&block, plx__scratch(run->ctx), z.m));
    PLX_TRY(PLX__ARENA_NEW(&x, plx__scratch(run->ctx), z.m));
    PLX_TRY(plx__arena_mat(&alpha, plx__scratch(run->ctx), z.size, run->problem->n_classes));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(run->ctx), z.size, run->problem->n_classes));
    PLX_TRY(plx__report(run->ctx, "solve", 0, 1, NAN));
    PLX_TRY(solve(&z, block, alpha, f, &result));
    run->info->objective = objective(&z, plx__cmat(alpha), plx__cmat(f));
    for (plx_index v = 0; v < z.m; v++) {
        PLX_TRY(keep_view(&z, v, &block[v], alpha));
        x[v] = z.view[v].q.x;
    }
    PLX_TRY(plx__prior_put(run->out, run->ctx, run->problem, NULL));
    PLX_TRY(report_outcome(run, &result));
    return decide(run, x, named);
}

static plx_status predict(plx__run *run)
{
    plx__expansion *x = NULL;
    plx_index named = -1;
    PLX_TRY(named_view(&named, run));
    PLX_TRY(PLX__ARENA_NEW(&x, plx__scratch(run->ctx), run->problem->n_views));
    for (plx_index v = 0; v < run->problem->n_views; v++) PLX_TRY(plx__expansion_prepare(&x[v], run, v));
    return decide(run, x, named);
}

/* ---- several processes ---- */

static bool has_linear_kernel(const plx__run *run, const plx__view *view)
{
    plx__value kernel = {.word = -1};
    return view->kind != PLX_VIEW_KERNEL &&
           plx__view_value(&kernel, run->ctx, run->settings, "kernel", view->name) == PLX_OK &&
           (kernel.word == PLX__KERNEL_LINEAR || kernel.word == PLX__KERNEL_COSINE);
}

static bool is_linear(const plx__run *run, plx_index v) { return has_linear_kernel(run, &run->problem->views[v]); }

static bool own_rows(plx__run *run, const plx_dataset *data)
{
    bool linear = true;
    for (plx_index v = 0; v < data->n_views; v++) linear = linear && has_linear_kernel(run, &data->views[v]);
    return plx__kernels_by_own_rows(run, data, NULL) && (((const params *)run->params)->pivots > 0 || linear);
}

static plx_status check(plx__run *run)
{
    const params *p = run->params;
    bool features = p->solver == PLX__SYSTEM_AUTO || p->solver == PLX__SYSTEM_PRIMAL;
    const char *solver = plx__system_solver_name((plx__system_solver)p->solver);
    if (p->pivots > 0 && !features)
        PLX_FAIL(run->ctx, PLX_E_ARG, "pivots = %lld: solver = %s works on the whole kernel; leave one of them out",
                 (long long)p->pivots, solver);
    if (plx__ranks(run->ctx) == 1 || p->pivots > 0) return PLX_OK;
    if (!features)
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "corls: solver = %s is not distributed: one process has to fit it; primal is", solver);
    for (plx_index v = 0; v < run->problem->n_views; v++)
        if (!is_linear(run, v))
            PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                     "corls: the kernel of view '%s' is not distributed: one process has to fit it; linear and cosine "
                     "are, and any with pivots > 0",
                     run->problem->views[v].name);
    return PLX_OK;
}

/* Of so many rows, those that a process works on at most. */
static double share_of(const plx__run *run, double rows)
{
    plx__slabs cut = plx__slabs_cut(run->problem->n, PLX__PANE_ROWS);
    return fmin(rows, (double)(plx__slabs_most(run->ctx, cut) * cut.rows));
}

/* Prepared and chosen rows of a view, its factor, blocks of values. */
static double pivot_bytes(const plx__run *run, plx_index v, double pivots)
{
    const plx__view *view = &run->problem->views[v];
    double n = (double)run->problem->n, k = (double)run->problem->n_classes;
    double entries = (view->sparse ? 1.5 : 1) * plx__held_values(view, run->problem->n);
    return plx__prepared_bytes(run, v) +
           plx__pivot_expansion_bytes(share_of(run, (double)view->present_count), pivots) +
           8 * (entries + fmin(n, 1024.0) * pivots + 4 * n * k);
}

/* Prepared and kept rows of every view, the stacked system, and n x K results. */
static double memory(const plx__run *run)
{
    const plx__problem *p = run->problem;
    const params *own = run->params;
    double size = 0, largest = 0, features = 0, bytes = 0, k = (double)p->n_classes;
    bool linear = true;
    for (plx_index v = 0; v < p->n_views; v++) {
        double pivots = fmin((double)own->pivots, (double)p->views[v].present_count);
        linear = linear && (own->pivots > 0 || is_linear(run, v));
        size += (double)p->views[v].present_count;
        largest = fmax(largest, (double)p->views[v].present_count);
        features += own->pivots > 0 ? pivots : (double)p->views[v].cols;
        bytes += own->pivots > 0 && !run->fitted ? pivot_bytes(run, v, pivots)
                                                 : plx__learner_bytes(run, v, PLX__SYSTEM_PRIMAL, false, false);
    }
    if (run->fitted) return bytes;
    plx__system_solver solver = own->pivots > 0 ? PLX__SYSTEM_PRIMAL : (plx__system_solver)own->solver;
    double table = features * (features <= FORMED_UP_TO ? features : k);
    bool copied = own->pivots == 0 || own->orthogonal; /* a factor serves as it is */
    if (solver == PLX__SYSTEM_AUTO)
        solver = size <= DENSE_UP_TO ? PLX__SYSTEM_DENSE : linear ? PLX__SYSTEM_PRIMAL : PLX__SYSTEM_CG;
    if (linear && solver != PLX__SYSTEM_CG) bytes += plx__row_passes_bytes(run->ctx, p->n, table);
    return bytes + 8 * 8 * size * k +
           plx__system_bytes(solver, linear && !own->orthogonal, size, largest, features, k,
                             copied ? share_of(run, largest) : 1);
}

static const plx__param_table tables[] = {
    param_specs,         plx__kernel_params,    plx__scale_params,     plx__decision_params,
    plx__heldout_params, plx__zero_rows_params, plx__uncovered_params, NULL};

const plx__method plx__method_corls = {
    .name = "corls",
    .title = "Co-regularised least squares",
    .summary = "Semi-supervised: one least-squares function per view, fitted together so that the views agree on "
               "unlabelled samples.",
    .citation = "sindhwani2005coreg",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE | PLX_IS_VIEW_FREE,
    .min_views = 1,
    .min_classes = 2,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .uncovered = PLX__UNCOVERED_PRIOR,
    .prior_array = "scores",
    .params_size = sizeof(params),
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "cubic; linear with pivots or solver=primal",
    .ranks = PLX__RANKS_SUMS, /* with linear and cosine kernels, or pivots */
    .own_rows = own_rows,
    .whose_rows = plx__whose_panes,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .transform = "scores",
    .view_scores = "f_VIEW",
    .memory = memory,
    .check = check,
    .memory_remedy = "set pivots (for example pivots=300), use solver=primal with linear kernels, or solver=cg, or "
                     "raise the memory limit",
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
