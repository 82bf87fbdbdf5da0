/*
 * One system over all views: block v of K is the kernel of view v, and the graph ties the blocks together
 * through the samples. Views without labelled samples are learned through the graph alone.
 */
#include "methods/regularised/coupled_laplacian.h"

#include <math.h>
#include <string.h>

#include "graph/harmonic.h"

const char *const plx__coupled_extra[] = {"concat", NULL};

typedef struct coupled {
    plx__run *run;
    plx_index m;     /* views; classifier and graph number m are those of the concatenation */
    plx_index named; /* classifier that decides; -1: the mean */
    bool classify_concat;
    plx__expansion *x; /* m + 1; the last only where the concatenation takes part */
    uint8_t *active;   /* m + 1 */
    plx_mat *f;        /* m + 1 */
    double *weight;    /* m + 1, sum 1 */
    plx_csr laplacian; /* of all; ptr NULL: nobody needs it */
    double objective;
    plx_index iterations;
    bool converged;
} coupled;

/* ---- settings ---- */

static plx_status read_combine(coupled *z)
{
    const plx__coupled_params *p = z->run->params;
    z->classify_concat = p->classify_concat;
    z->named = -1;
    if (strcmp(p->combine, "mean") == 0) return PLX_OK;
    if (strcmp(p->combine, "concat") == 0) {
        z->named = z->m;
        z->classify_concat = true;
        return PLX_OK;
    }
    return plx__require_view(&z->named, z->run, p->combine, "combine");
}

static plx_status read_weights(coupled *z)
{
    const plx__coupled_params *p = z->run->params;
    plx_index extra = p->laplacian_concat ? 1 : 0, expected = z->m + extra;
    double sum = 0;
    PLX_TRY(plx__arena_f64(&z->weight, plx__scratch(z->run->ctx), z->m + 1, 1));
    if (p->laplacian_weights.word < 0)
        PLX_TRY(plx__view_numbers(z->weight, z->run, "laplacian_weights", &p->laplacian_weights, extra));
    for (plx_index v = 0; v < expected; v++) {
        if (p->laplacian_weights.word == 0) z->weight[v] = 1.0;
        sum += z->weight[v];
    }
    if (!(sum > 0))
        PLX_FAIL(z->run->ctx, PLX_E_ARG, "laplacian_weights: all weights are 0; give one view a weight > 0");
    for (plx_index v = 0; v < expected; v++) z->weight[v] /= sum;
    return PLX_OK;
}

static plx_status begin(coupled *z, plx__run *run)
{
    *z = (coupled){.run = run, .m = run->problem->n_views, .converged = true};
    PLX_TRY(PLX__ARENA_NEW(&z->x, plx__scratch(run->ctx), z->m + 1));
    PLX_TRY(PLX__ARENA_NEW(&z->f, plx__scratch(run->ctx), z->m + 1));
    PLX_TRY(plx__arena_u8(&z->active, plx__scratch(run->ctx), z->m + 1));
    PLX_TRY(read_combine(z));
    return read_weights(z);
}

/* View number of a classifier or graph, as the preparing functions count. */
static plx_index view_of(const coupled *z, plx_index v) { return v < z->m ? v : -1; }

static plx_status gamma_of(double *out, const coupled *z, const char *name, const char *view)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, z->run->ctx, z->run->settings, name, view));
    *out = value.number;
    return PLX_OK;
}

/* ---- the graph of all views ---- */

static plx_status put_laplacian(plx__run *run, const char *name, plx_ccsr l)
{
    plx_mat dense;
    if (!plx__wanted(run, name)) return PLX_OK;
    PLX_TRY(plx__store_new(&dense, run->out, name, run->problem->n, run->problem->n));
    plx__csr_to_dense(dense, l);
    return PLX_OK;
}

static plx_status view_laplacian(plx_csr *out, const coupled *z, plx_index v)
{
    const plx__prepared *data = &z->x[v].data;
    plx__graph_source source = {.rows = data->rows,
                                .bound = data->bound,
                                .present = data->present,
                                .is_kernel = data->kernel.kind == PLX__KERNEL_PRECOMPUTED,
                                .view = data->name,
                                .run = z->run};
    plx__graph_settings settings;
    const char *name = NULL;
    PLX_TRY(plx__graph_settings_of(&settings, z->run, data->name));
    PLX_TRY(plx__view_laplacian(out, z->run->ctx, &source, &settings));
    PLX_TRY(plx__joint_name(&name, z->run, "laplacian", data->name));
    return put_laplacian(z->run, name, plx__ccsr(*out));
}

/* L = sum of weight times Laplacian. */
static plx_status combine_laplacians(coupled *z)
{
    plx_context *ctx = z->run->ctx;
    for (plx_index v = 0; v <= z->m; v++) {
        const char *name = NULL;
        plx_csr own, sum;
        if (!z->x[v].data.name) continue;
        PLX_TRY(plx__joint_name(&name, z->run, "laplacian", z->x[v].data.name));
        if (!(z->weight[v] > 0) && !plx__wanted(z->run, name)) continue;
        PLX_TRY(plx__report(ctx, "graph", v + 1, z->m + 1, NAN));
        PLX_TRY(view_laplacian(&own, z, v));
        if (!(z->weight[v] > 0)) continue;
        for (plx_index e = 0; e < plx__nnz(plx__ccsr(own)); e++) own.val[e] *= z->weight[v];
        if (!z->laplacian.ptr) {
            z->laplacian = own;
            continue;
        }
        PLX_TRY(plx__csr_add(&sum, plx__scratch(ctx), 1.0, plx__ccsr(z->laplacian), 1.0, plx__ccsr(own)));
        z->laplacian = sum;
    }
    return put_laplacian(z->run, "laplacian", plx__ccsr(z->laplacian));
}

/* ---- one classifier ---- */

/* Arrays of a classifier, under the name of its view. */
static plx_status put_classifier(const plx__learner *q, plx__run *run)
{
    const char *name = NULL, *view = q->x.data.name;
    PLX_TRY(plx__joint_name(&name, run, "alpha", view));
    PLX_TRY(plx__put_rows(run, name, q->sample, q->expanded, plx__cmat(q->alpha)));
    PLX_TRY(plx__joint_name(&name, run, "bias", view));
    PLX_TRY(plx__store_put(run->out, name, plx__cmat_of(q->b, 1, q->y.cols)));
    if (!q->hinge) return PLX_OK;
    PLX_TRY(plx__joint_name(&name, run, "dual", view));
    return plx__put_rows(run, name, q->sample, q->labelled, plx__cmat(q->dual));
}

/* Zero arrays of a classifier that was left out. */
static plx_status put_nothing(coupled *z, plx_index v, bool hinge)
{
    static const char *const stems[] = {"alpha", "f", "dual"};
    plx__run *run = z->run;
    const char *name = NULL, *view = z->x[v].data.name;
    plx_mat zero;
    for (int s = 0; s < (hinge ? 3 : 2); s++) {
        PLX_TRY(plx__joint_name(&name, run, stems[s], view));
        PLX_TRY(plx__store_new(&zero, run->out, name, run->problem->n, run->problem->n_classes));
    }
    PLX_TRY(plx__joint_name(&name, run, "bias", view));
    PLX_TRY(plx__store_new(&zero, run->out, name, 1, run->problem->n_classes));
    plx__warn(run->ctx, "%s: no labelled sample has view '%s'; its classifier is left out, its graph counts",
              run->method->name, view);
    return PLX_OK;
}

/* f_VIEW first without offset, as the objective wants it, then with. */
static plx_status finish_classifier(coupled *z, plx_index v, plx__learner *q)
{
    plx__run *run = z->run;
    const char *name = NULL;
    double objective = 0;
    PLX_TRY(put_classifier(q, run));
    PLX_TRY(plx__joint_name(&name, run, "f", q->x.data.name));
    PLX_TRY(plx__store_new(&z->f[v], run->out, name, run->problem->n, q->y.cols));
    PLX_TRY(plx__learner_values(q, run, z->f[v]));
    PLX_TRY(plx__learner_objective(&objective, q, run, z->f[v]));
    for (plx_index i = 0; i < q->n; i++) plx__axpy(z->f[v].data + q->sample[i] * z->f[v].ld, 1.0, q->b, q->y.cols);
    z->objective += objective;
    z->iterations += q->iterations;
    z->converged = z->converged && q->converged;
    return PLX_OK;
}

static plx_status learn(coupled *z, plx_index v, bool hinge)
{
    const plx__coupled_params *p = z->run->params;
    plx__mark mark = plx__arena_mark(plx__scratch(z->run->ctx));
    plx__harmonic h = {0};
    plx__learner q = {.x = z->x[v],
                      .tol = p->tol,
                      .bias = p->bias,
                      .hinge = hinge,
                      .one_class_ok = true,
                      .solver = (plx__system_solver)p->solver};
    PLX_TRY(gamma_of(&q.gamma_a, z, "gamma_a", q.x.data.name));
    PLX_TRY(gamma_of(&q.gamma_i, z, "gamma_i", q.x.data.name));
    PLX_TRY(plx__learner_collect(&q, z->run));
    if (!q.l) return put_nothing(z, v, hinge);
    if (q.gamma_i > 0) {
        PLX_TRY(plx__harmonic_begin(&h, z->run->ctx, plx__ccsr(z->laplacian), q.x.data.present));
        q.graph = plx__harmonic_apply;
        q.graph_arg = &h;
    }
    PLX_TRY(plx__learner_solve(&q, z->run));
    PLX_TRY(finish_classifier(z, v, &q));
    z->active[v] = 1;
    plx__arena_rewind(plx__scratch(z->run->ctx), mark);
    return PLX_OK;
}

/* ---- fit and predict ---- */

/* Offsets of the classifiers there are; NULL with bias=0. */
static plx_status offsets_of(const plx_cmat **out, const coupled *z)
{
    const plx__coupled_params *p = z->run->params;
    const plx__store *store = z->run->fitted ? z->run->fitted : z->run->out;
    plx_cmat *bias = NULL;
    *out = NULL;
    if (!p->bias) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&bias, plx__scratch(z->run->ctx), z->m + 1));
    for (plx_index v = 0; v <= z->m; v++) {
        const char *name = NULL;
        if (!z->active[v]) continue;
        PLX_TRY(plx__joint_name(&name, z->run, "bias", z->x[v].data.name));
        PLX_TRY(plx__store_shaped(&bias[v], z->run->ctx, store, name, 1, z->run->problem->n_classes));
    }
    *out = bias;
    return PLX_OK;
}

static plx_status decide(const coupled *z)
{
    plx__joint j = {.count = z->m + 1, .in_mean = z->m, .named = z->named, .x = z->x, .active = z->active, .f = z->f};
    PLX_TRY(offsets_of(&j.bias, z));
    return plx__joint_decide(z->run, &j);
}

/* Which classifiers there are, and which views new samples are looked at in. */
static plx_status remember_active(const coupled *z)
{
    uint8_t *used = NULL;
    plx_mat flags;
    PLX_TRY(plx__store_new(&flags, z->run->out, "_active", 1, z->m + 1));
    PLX_TRY(plx__arena_u8(&used, plx__scratch(z->run->ctx), z->m));
    for (plx_index v = 0; v <= z->m; v++) flags.data[v] = z->active[v];
    for (plx_index v = 0; v < z->m; v++) used[v] = z->active[v] || z->active[z->m];
    return plx__mark_used(z->run, used);
}

plx_status plx__coupled_fit(plx__run *run, bool hinge)
{
    const plx__coupled_params *p = run->params;
    plx_index active = 0;
    coupled z;
    PLX_TRY(begin(&z, run));
    for (plx_index v = 0; v <= z.m; v++)
        if (v < z.m || p->laplacian_concat || z.classify_concat)
            PLX_TRY(plx__expansion_prepare(&z.x[v], run, view_of(&z, v)));
    PLX_TRY(combine_laplacians(&z));
    for (plx_index v = 0; v <= z.m; v++) {
        if (v < z.m || z.classify_concat) PLX_TRY(learn(&z, v, hinge));
        active += v < z.m && z.active[v];
    }
    if (!active)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: no labelled sample has any view; label one that has", run->method->name);
    PLX_TRY(plx__prior_put(run->out, run->ctx, run->problem, NULL));
    PLX_TRY(remember_active(&z));
    run->info->objective = z.objective;
    run->info->iterations = z.iterations;
    if (z.iterations || !z.converged) run->info->converged = z.converged;
    if (!z.converged) plx__warn_unsolved(run, z.iterations, 0);
    return decide(&z);
}

plx_status plx__coupled_predict(plx__run *run)
{
    coupled z;
    plx_cmat active;
    PLX_TRY(begin(&z, run));
    PLX_TRY(plx__store_shaped(&active, run->ctx, run->fitted, "_active", 1, z.m + 1));
    for (plx_index v = 0; v <= z.m; v++) {
        z.active[v] = active.data[v] != 0;
        if (!z.active[v]) continue;
        PLX_TRY(plx__expansion_prepare(&z.x[v], run, view_of(&z, v)));
        PLX_TRY(plx__joint_values(&z.f[v], run, &z.x[v], true));
    }
    return decide(&z);
}

/* Every view's prepared rows and graph, and the largest of the classifiers' systems. */
double plx__coupled_bytes(const plx__run *run, bool hinge)
{
    const plx__coupled_params *p = run->params;
    const plx__problem *x = run->problem;
    double n = (double)x->n, bytes = 0, most = 0, search = 0;
    bool concat = p->laplacian_concat || p->classify_concat || strcmp(p->combine, "concat") == 0;
    for (plx_index v = 0; v < x->n_views + (concat ? 1 : 0); v++) {
        plx_index view = v < x->n_views ? v : -1;
        plx__value k = {0};
        if (plx__view_value(&k, run->ctx, run->settings, "graph_k", plx__prepared_name(run, view)) != PLX_OK)
            return INFINITY;
        plx__graph_settings settings = {.k = (plx_index)k.number};
        if (!run->fitted) bytes += 3 * plx__similarity_bytes(x->n, &settings);
        if (!run->fitted)
            search = fmax(search, plx__graph_search_bytes(run, view, plx__prepared_name(run, view), settings.k));
        bytes += plx__prepared_bytes(run, view) + 8 * 4 * n * (double)x->n_classes;
        most = fmax(most, plx__learner_bytes(run, view, (plx__system_solver)p->solver, true, hinge));
    }
    if (plx__wanted(run, "laplacian")) bytes += 8 * n * n;
    for (plx_index i = 0; i < run->n_wanted; i++)
        if (strncmp(run->wanted[i], "laplacian_", 10) == 0) bytes += 8 * n * n;
    return bytes + fmax(most, search);
}
