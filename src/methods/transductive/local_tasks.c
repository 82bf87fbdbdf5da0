/*
 * The two tasks on a regularisation matrix L: F = (L + C)^-1 C Y, and clusters from the eigenvectors of the smallest
 * eigenvalues; and what new samples get from their local weights.
 */
#include <math.h>
#include <string.h>

#include "run/clusters.h"
#include "run/decision.h"
#include "methods/transductive/local.h"

const plx__param_spec plx__local_task_params[] = {
    PLX__CHOICE(plx__local_params, task, "", "classify|cluster",
                "What to do with the matrix; default: classify when there are labels, else cluster."),
    PLX__REAL_ABOVE(plx__local_params, c_l, "1", 0, "Weight of fitting the labels; larger trusts them more."),
    {"c_u", PLX_PARAM_REAL_OR_WORD, 0, offsetof(plx__local_params, c_u), "auto", 0, INFINITY, "auto",
     "Weight of pulling unlabelled samples to 0; auto = 0 when labels reach every sample, else 1e-6."},
    PLX__CLUSTERS_ROWS(plx__local_params, "", 2, "Number of clusters, or auto; required for task=cluster."),
    PLX__CHOICE(
        plx__local_params, discretise, "rotate", "rotate|kmeans|kmeans-unit",
        "From eigenvectors to clusters: nearest rotation to the axes, k-means on the rows, or k-means on the rows "
        "scaled to length 1."),
    PLX__PARAM_END};

/* ---- requirements ---- */

plx_status plx__local_task(plx__local_goal *out, plx__run *run)
{
    const plx__local_params *p = run->params;
    const plx__problem *x = run->problem;
    const char *name = run->method->name;
    plx_index seen = 0;
    uint8_t *used = NULL;
    *out = (plx__local_goal){.task = p->task};
    if (p->task == PLX__TASK_UNSET)
        out->task = x->n_labelled || p->clusters < 0 ? PLX__TASK_LABELS : PLX__TASK_CLUSTERS;
    if (out->task == PLX__TASK_CLUSTERS) {
        if (p->clusters < 2)
            PLX_FAIL(run->ctx, PLX_E_ARG,
                     "%s: task = cluster: the number of clusters is required; set clusters, or clusters=auto", name);
        if (p->clusters > x->n)
            PLX_FAIL(run->ctx, PLX_E_ARG, "clusters = %lld: there are %lld samples only; ask for fewer clusters",
                     (long long)p->clusters, (long long)x->n);
        return PLX_OK;
    }
    if (!x->n_labelled)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: no labels; label some samples, or set task=cluster and clusters", name);
    PLX_TRY(plx__arena_u8(&used, plx__scratch(run->ctx), x->n_classes));
    for (plx_index i = 0; i < x->n; i++)
        if (x->label[i] >= 0) used[x->label[i]] = 1;
    for (plx_index c = 0; c < x->n_classes; c++) seen += used[c];
    if (seen < 2)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: need at least two classes among the labelled samples (found %lld)", name,
                 (long long)seen);
    return PLX_OK;
}

/* c_u=auto where labels do not reach, or hardly. */
static const double C_U_UNREACHED = 1e-6;

plx_status plx__local_settle_reach(plx__local_goal *goal, plx__run *run, const plx__smoother *s)
{
    const plx__local_params *p = run->params;
    plx_index count = 0;
    uint8_t *unreached = NULL;
    double *c = NULL;
    goal->c_u = p->c_u.word < 0 ? p->c_u.number : 0.0;
    if (goal->task != PLX__TASK_LABELS || p->c_u.word < 0) return PLX_OK;
    PLX_TRY(plx__arena_f64(&c, plx__scratch(run->ctx), s->n, 1));
    for (plx_index i = 0; i < s->n; i++) c[i] = run->problem->label[i] >= 0;
    PLX_TRY(plx__smoother_unreached(&unreached, &count, run->ctx, s, c));
    if (!count) return PLX_OK;
    goal->c_u = C_U_UNREACHED;
    goal->unreached = unreached;
    plx__warn(run->ctx, "%s: no label reaches %lld of %lld samples; they get the class shares", run->method->name,
              (long long)count, (long long)s->n);
    return PLX_OK;
}

plx_status plx__local_targets(plx_mat *y, double **c, plx__run *run, const plx__local_goal *goal)
{
    const plx__local_params *p = run->params;
    const plx__problem *x = run->problem;
    PLX_TRY(plx__arena_mat(y, plx__scratch(run->ctx), x->n, x->n_classes));
    PLX_TRY(plx__arena_f64(c, plx__scratch(run->ctx), x->n, 1));
    for (plx_index i = 0; i < x->n; i++) {
        (*c)[i] = x->label[i] >= 0 ? p->c_l : goal->c_u;
        for (plx_index k = 0; k < x->n_classes; k++)
            y->data[i * y->cols + k] = x->label[i] < 0 ? 0.0 : x->label[i] == k ? 1.0 : -1.0;
    }
    return PLX_OK;
}

/* ---- arrays ---- */

plx_status plx__local_put_matrix(plx__run *run, const char *name, plx_ccsr m)
{
    plx_mat dense;
    if (!plx__wanted(run, name)) return PLX_OK;
    PLX_TRY(plx__store_new(&dense, run->out, name, m.rows, m.cols));
    plx__csr_to_dense(dense, m);
    return PLX_OK;
}

/* The arrays of the other task are there, but empty. */
static plx_status put_empty(plx__run *run, const char *name, plx_index rows, plx_index cols)
{
    plx_mat none;
    return plx__store_new(&none, run->out, name, rows, cols);
}

/* ---- classification ---- */

/* Samples no label reaches have the shares of the classes among the labels for scores. */
static plx_status give_shares(plx_mat scores, plx__run *run, const uint8_t *unreached)
{
    const plx__problem *x = run->problem;
    double *share = NULL;
    PLX_TRY(plx__arena_f64(&share, plx__scratch(run->ctx), scores.cols, 1));
    for (plx_index i = 0; i < x->n; i++)
        if (x->label[i] >= 0) share[x->label[i]] += 1.0 / (double)x->n_labelled;
    for (plx_index i = 0; i < x->n; i++)
        if (unreached[i]) memcpy(scores.data + i * scores.ld, share, (size_t)scores.cols * sizeof *share);
    return PLX_OK;
}

/* covered NULL: every sample has a view. */
static plx_status label_by_scores(plx__run *run, plx_cmat f, const uint8_t *covered, const uint8_t *unreached)
{
    plx_mat scores;
    plx_index n = run->problem->n;
    int32_t *label = NULL;
    uint8_t *usable = NULL;
    PLX_TRY(plx__require_finite(run, f, "scores"));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), n));
    PLX_TRY(plx__arena_u8(&usable, plx__scratch(run->ctx), n));
    for (plx_index i = 0; i < n; i++) usable[i] = (!covered || covered[i]) && !(unreached && unreached[i]);
    PLX_TRY(plx__store_put(run->out, "F", f));
    PLX_TRY(plx__store_new(&scores, run->out, "scores", f.rows, f.cols));
    plx__mat_copy(scores, f);
    if (unreached) PLX_TRY(give_shares(scores, run, unreached));
    PLX_TRY(plx__decide(label, run, scores, usable, false));
    for (plx_index i = 0; i < n; i++)
        if (covered && !covered[i]) label[i] = -1;
    return plx__outcome_classes(run, label, plx__cmat(scores));
}

/* Where labels reach all samples, but only through next to nothing (groups of equal rows, say), auto does as where they
 * do not. */
static plx_status solve(plx__smooth_result *result, plx__run *run, plx__smoother *s, double *c, plx_cmat y, plx_mat f)
{
    const plx__local_params *p = run->params;
    const char *name = run->method->name;
    plx_status st = plx__smoother_solve(run->ctx, s, c, y, f, name, result);
    bool pulled = false;
    for (plx_index i = 0; i < s->n; i++) pulled |= run->problem->label[i] < 0 && c[i] > 0;
    if (st != PLX_E_NUMERIC || p->c_u.word < 0 || pulled) return st;
    plx__clear_error(run->ctx);
    plx__warn(run->ctx, "%s: labels hardly reach some samples; c_u = %g holds them", name, C_U_UNREACHED);
    for (plx_index i = 0; i < s->n; i++) c[i] = run->problem->label[i] < 0 ? C_U_UNREACHED : c[i];
    return plx__smoother_solve(run->ctx, s, c, y, f, name, result);
}

static plx_status classify(plx__run *run, plx__smoother *s, const plx__local_goal *goal)
{
    plx_mat y, f;
    double *c = NULL;
    plx__smooth_result result;
    PLX_TRY(plx__local_targets(&y, &c, run, goal));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(run->ctx), s->n, y.cols));
    plx__info(run->ctx, "%s: %lld samples, %s", run->method->name, (long long)s->n, plx__smoother_route(run->ctx, s));
    PLX_TRY(plx__report(run->ctx, "solve", 0, 1, NAN));
    PLX_TRY(solve(&result, run, s, c, plx__cmat(y), f));
    PLX_TRY(plx__smoother_objective(&run->info->objective, run->ctx, s, c, plx__cmat(y), plx__cmat(f)));
    run->info->iterations = result.iterations;
    run->info->converged = result.iterations ? result.converged : -1;
    if (!result.converged)
        plx__warn(run->ctx, "%s: the iterative solver stopped before converging; scores are approximate",
                  run->method->name);
    PLX_TRY(put_empty(run, "embedding", s->n, 0));
    PLX_TRY(put_empty(run, "eigenvalues", 0, 1));
    PLX_TRY(plx__store_put(run->out, "_targets", plx__cmat(f)));
    return label_by_scores(run, plx__cmat(f), NULL, goal->unreached);
}

/* ---- clustering ---- */

static plx_status discretise(plx__run *run, plx_cmat h, int32_t *label, bool *converged)
{
    const plx__local_params *p = run->params;
    plx_mat rotation, number, unit;
    if (p->discretise == PLX__DISCRETISE_ROTATE) {
        PLX_TRY(plx__store_new(&rotation, run->out, "_rotation", h.cols, h.cols));
        PLX_TRY(plx__store_new(&number, run->out, "_number", 1, h.cols));
        return plx__rotate(label, run->ctx, h, rotation, number.data);
    }
    plx__kmeans_options options;
    plx__kmeans_result result;
    if (p->discretise == PLX__DISCRETISE_KMEANS_UNIT) {
        PLX_TRY(plx__mat_clone(&unit, plx__scratch(run->ctx), h));
        plx__unit_rows(unit);
        h = plx__cmat(unit);
    }
    PLX_TRY(plx__kmeans_options_of(&options, run, p->clusters, h.cols));
    PLX_TRY(plx__kmeans(&result, run->ctx, h, &options));
    memcpy(label, result.label, (size_t)h.rows * sizeof *label);
    *converged &= result.converged;
    return plx__store_put(run->out, "_centres", plx__cmat(result.centres));
}

static plx_status cluster(plx__run *run, plx__smoother *s)
{
    const plx__local_params *p = run->params;
    plx_index k = p->clusters;
    plx_mat h, values;
    int32_t *label = NULL;
    bool converged = true;
    PLX_TRY(plx__store_new(&values, run->out, "eigenvalues", k, 1));
    PLX_TRY(plx__store_new(&h, run->out, "embedding", s->n, k));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), s->n));
    PLX_TRY(plx__report(run->ctx, "eigenvectors", 0, 1, NAN));
    PLX_TRY(plx__smoother_smallest(run->ctx, s, k, values.data, h, &converged, run->method->name));
    PLX_TRY(discretise(run, plx__cmat(h), label, &converged));
    run->info->converged = converged ? -1 : 0;
    PLX_TRY(plx__store_put(run->out, "_targets", plx__cmat(h)));
    PLX_TRY(put_empty(run, "F", s->n, 0));
    PLX_TRY(put_empty(run, "scores", s->n, 0));
    run->info->objective = 0;
    for (plx_index j = 0; j < k; j++) run->info->objective += values.data[j];
    return plx__outcome_clusters(run, label, k, (plx_cmat){0});
}

plx_status plx__local_finish(plx__run *run, plx__smoother *s, const plx__local_goal *goal)
{
    plx_csr l;
    if (plx__wanted(run, "L")) {
        PLX_TRY(plx__smoother_matrix(&l, run->ctx, s));
        PLX_TRY(plx__local_put_matrix(run, "L", plx__ccsr(l)));
    }
    return goal->task == PLX__TASK_LABELS ? classify(run, s, goal) : cluster(run, s);
}

/* ---- new samples ---- */

static plx_status extend_clusters(plx__run *run, plx_mat h, const uint8_t *covered)
{
    const plx__local_params *p = run->params;
    plx_index k = h.cols;
    plx_cmat rotation = {0}, number = {0}, centres = {0};
    int32_t *label = NULL;
    double *spare = NULL;
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), h.rows));
    PLX_TRY(plx__arena_f64(&spare, plx__scratch(run->ctx), k, 1));
    if (p->discretise == PLX__DISCRETISE_ROTATE) {
        PLX_TRY(plx__store_shaped(&rotation, run->ctx, run->fitted, "_rotation", k, k));
        PLX_TRY(plx__store_shaped(&number, run->ctx, run->fitted, "_number", 1, k));
        for (plx_index c = 0; c < k; c++)
            if (!(number.data[c] >= 0 && number.data[c] < (double)k))
                PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's cluster numbers are damaged");
    } else {
        PLX_TRY(plx__store_shaped(&centres, run->ctx, run->fitted, "_centres", k, k));
    }
    if (p->discretise == PLX__DISCRETISE_KMEANS_UNIT) plx__unit_rows(h);
    for (plx_index i = 0; i < h.rows; i++) { /* scaling a row to unit length does not change its argmax */
        const double *row = h.data + i * h.ld;
        label[i] = centres.data ? plx__nearest_centre(row, centres)
                                : (int32_t)number.data[plx__rotated_label(row, rotation, spare)];
        if (!covered[i]) label[i] = -1;
    }
    PLX_TRY(plx__store_put(run->out, "embedding", plx__cmat(h)));
    PLX_TRY(put_empty(run, "F", h.rows, 0));
    PLX_TRY(put_empty(run, "scores", h.rows, 0));
    return plx__outcome_clusters(run, label, k, (plx_cmat){0});
}

plx_status plx__local_extend(plx__run *run, plx_ccsr weights, const uint8_t *covered)
{
    plx_cmat targets;
    plx_mat f;
    PLX_TRY(plx__store_shaped(&targets, run->ctx, run->fitted, "_targets", weights.cols, -1));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(run->ctx), weights.rows, targets.cols));
    PLX_TRY(plx__spmm(run->ctx, 1.0, weights, targets, 0.0, f));
    if (plx__store_find(run->fitted, "_rotation") || plx__store_find(run->fitted, "_centres"))
        return extend_clusters(run, f, covered);
    if (targets.cols != run->problem->n_classes)
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's scores do not fit its classes");
    PLX_TRY(put_empty(run, "embedding", f.rows, 0));
    return label_by_scores(run, plx__cmat(f), covered, NULL);
}
