/*
 * mvplsa: probabilistic latent semantic analysis over one or several views.
 *
 * Documents have classes z shared by all views, features have topics y of their view:
 *     p(f, d, v) = p(d) p(v) sum_{y,z} p(f|y,v) p(y|z,v) p(z|d).
 * EM in factorised form: the posterior over (y, z) is never formed, and the number of topics multiplies the number of
 * features, not the number of entries. mvp_estep.c and mvp_mstep.c have the two halves of an iteration.
 */
#include <math.h>
#include <string.h>

#include "run/checkpoint.h"
#include "run/clusters.h"
#include "core/parallel.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "methods/mvplsa/mvplsa.h"
#include "mixture/row_scaling.h"

static const plx__param_spec param_specs[] = {
    PLX__CHOICE(mvp_params, model, "mvplsa", "mvplsa|dplsa|plsa",
                "Views of their own, or all features side by side (dplsa), there with topics = classes (plsa)."),
    PLX__REALS(mvp_params, topics, "12", 1, 1e9, NULL, "Topics per view: one integer, or a list in view order."),
    PLX__CLUSTERS_ROWS(mvp_params, "", 1, "Number of classes to find; required without labels, forbidden with labels."),
    PLX__TEXT(mvp_params, init_z, "",
              "Start of p(z|d) for unlabelled documents: nb, mvc, uniform, random, or file:F with a row per sample. "
              "Default: nb with labels, mvc without."),
    PLX__REAL(mvp_params, init_mix, "0.01", 0, 1,
              "Share of the uniform distribution in every start of p(z|d); 0 keeps zeros, which EM never leaves."),
    PLX__REAL(mvp_params, nb_smoothing, "1", 0, INFINITY, "Pseudo-count per class and feature of the nb start."),
    PLX__TEXT(
        mvp_params, init_f, "random",
        "Start of p(f|y): random, or file:F with the features of all views below each other, a column per topic."),
    PLX__TEXT(mvp_params, init_y, "random",
              "Start of p(y|z): random, or file:F with the topics of all views below each other, a column per class."),
    PLX__INT(mvp_params, max_iter, "150", 0, 1e9, "Most iterations; 0 shows the start."),
    PLX__REAL(mvp_params, tol, "0", 0, INFINITY,
              "Stop when the log-likelihood changes relatively by no more than this; 0 runs max_iter iterations."),
    {"temper", PLX_PARAM_REAL, PLX__ABOVE_LO, offsetof(mvp_params, temper), "1", 0, 1, NULL,
     "Power the posterior is raised to in the E step; smaller is softer."},
    PLX__REAL(mvp_params, smoothing, "0", 0, INFINITY, "Pseudo-count added to the numerators of p(f|y)."),
    PLX__TEXT(mvp_params, split, "none",
              "Data of one view: cut its features into this many views at random, or file:F with a view index per "
              "feature; none leaves it whole."),
    PLX__INT(mvp_params, fold_iter, "50", 0, 1e9, "Iterations for new documents."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"pz", "n x Z", 0, "Class probabilities p(z|d) of every document."},
    {"pf.VIEW", "d x Y", PLX__SOMETIMES,
     "Feature probabilities p(f|y) of every topic of one view; dplsa and plsa: pf.concat."},
    {"py.VIEW", "Y x Z", PLX__SOMETIMES,
     "Topic probabilities p(y|z) of every class in one view; dplsa and plsa: py.concat."},
    {"loglik", "iterations+1 x 1", 0, "Log-likelihood at the start and after every iteration."},
    {NULL, NULL, 0, NULL}};

/* ---- the iteration ---- */

typedef struct course {
    plx__trace trace;
    plx_index iterations;
    double likelihood;
    bool converged;
} course;

/* E step at the current parameters with their likelihood; `last`: the likelihood is all that is needed. */
static plx_status measure(mvp *m, bool last, double *likelihood)
{
    double temper = m->set->temper, ignored = 0;
    if (temper == 1) return plx__mvp_e_step(m, 1.0, !last, likelihood);
    PLX_TRY(plx__mvp_tables(m, 1.0));
    PLX_TRY(plx__mvp_e_step(m, 1.0, false, likelihood));
    if (last) return PLX_OK;
    PLX_TRY(plx__mvp_tables(m, temper));
    return plx__mvp_e_step(m, temper, true, &ignored);
}

static plx_status require_likelihood(mvp *m, double likelihood)
{
    if (isfinite(likelihood)) return PLX_OK;
    PLX_FAIL(m->ctx, PLX_E_NUMERIC, "mvplsa: the likelihood is not finite; the counts are too large, use rows=unit");
}

static bool all_finite(plx_mat x)
{
    for (plx_index i = 0; i < x.rows * x.cols; i++)
        if (!isfinite(x.data[i])) return false;
    return true;
}

/* Quotients of huge counts and small probabilities can overflow where the likelihood does not show it. */
static plx_status require_topics(mvp *m)
{
    for (plx_index v = 0; v < m->n_views; v++)
        if (!all_finite(m->views[v].a) || !all_finite(m->views[v].b))
            PLX_FAIL(m->ctx, PLX_E_NUMERIC,
                     "mvplsa: the topics of view '%s' are not finite; its counts are too large, use rows=unit",
                     m->views[v].name);
    return PLX_OK;
}

typedef struct journey {
    mvp *m;
    course *r;
} journey;

/* Parameters, and the tables that the M step made of them. */
static plx_status fit_state(plx__state *s, void *arg)
{
    const journey *j = arg;
    mvp *m = j->m;
    PLX_TRY(plx__state_trace(s, &j->r->trace, m->run->out->arena));
    PLX_TRY(plx__state_item(s, "iterations", &j->r->iterations, sizeof j->r->iterations));
    PLX_TRY(plx__state_item(s, "c", m->c, (size_t)(m->n * m->width) * sizeof *m->c));
    for (plx_index v = 0; v < m->n_views; v++) {
        mvp_view *view = &m->views[v];
        PLX_TRY(plx__state_mat(s, "a", view->a));
        PLX_TRY(plx__state_mat(s, "b", view->b));
        PLX_TRY(plx__state_mat(s, "b_power", view->b_power));
        PLX_TRY(plx__state_item(s, "table", view->table, (size_t)(view->features * view->width) * sizeof(double)));
    }
    return PLX_OK;
}

/* The start, or the parameters of a checkpoint: their E step comes next. */
static plx_status begin(journey *j)
{
    mvp *m = j->m;
    bool resumed = false;
    *j->r = (course){0};
    PLX_TRY(plx__checkpoint_resume(&resumed, m->run, fit_state, j));
    if (!resumed) {
        PLX_TRY(plx__mvp_start(m));
        PLX_TRY(plx__mvp_tables(m, 1.0));
    }
    PLX_TRY(measure(m, false, &j->r->likelihood));
    PLX_TRY(require_likelihood(m, j->r->likelihood));
    return resumed ? PLX_OK : plx__iterate(m->run, &j->r->trace, "em", 0, m->set->max_iter, j->r->likelihood);
}

static plx_status iterate(mvp *m, course *r)
{
    plx_index limit = m->set->max_iter;
    journey j = {m, r};
    PLX_TRY(begin(&j));
    while (r->iterations < limit && !r->converged && !plx__out_of_time(m->ctx)) {
        double before = r->likelihood;
        PLX_TRY(plx__mvp_m_step(m));
        r->iterations++;
        PLX_TRY(measure(m, r->iterations == limit, &r->likelihood));
        PLX_TRY(require_likelihood(m, r->likelihood));
        PLX_TRY(plx__iterate(m->run, &r->trace, "em", r->iterations, limit, r->likelihood));
        r->converged = fabs(r->likelihood - before) <= m->set->tol * fabs(before);
        if (!r->converged && r->iterations < limit) PLX_TRY(plx__checkpoint_keep(m->run, fit_state, &j));
    }
    return require_topics(m);
}

/* ---- results ---- */

static plx_status label_documents(mvp *m, plx_mat pz)
{
    int32_t *label = NULL;
    plx_cmat own = plx__kept_part(m->run, pz);
    PLX_TRY(plx__require_finite(m->run, plx__cmat(pz), "class probabilities"));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(m->ctx), own.rows));
    plx__argmax_rows(label, own);
    if (m->set->clusters > 0) return plx__outcome_clusters(m->run, label, m->z, own);
    return plx__outcome_classes(m->run, label, own);
}

/* With tol = 0 all iterations are what was asked for: no warning, though nothing says that EM has converged. */
static plx_status finish(mvp *m, const course *r)
{
    bool fixed = m->set->tol == 0 && r->iterations == m->set->max_iter;
    PLX_TRY(plx__store_put(m->run->out, "loglik", plx__cmat_of(r->trace.value, r->trace.count, 1)));
    PLX_TRY(plx__finish(m->run, &r->trace, r->iterations, r->converged || fixed, r->likelihood));
    m->run->info->converged = r->converged;
    return PLX_OK;
}

/* What an iteration ends with, of the rank's own documents first. */
static plx_status put_mixtures(plx_mat *pz, mvp *m)
{
    PLX_TRY(plx__sample_array(pz, m->run, "pz", m->z));
    for (plx_index d = m->bound[plx__rank(m->ctx)]; d < m->bound[plx__rank(m->ctx) + 1]; d++) {
        plx__breathe(m->ctx, d);
        memcpy(pz->data + d * pz->ld, m->c + d * m->width, (size_t)m->z * sizeof(double));
    }
    return m->run->kept ? PLX_OK : plx__mvp_share(m, pz->data, m->z);
}

static plx_status fit(plx__run *run)
{
    mvp m;
    course r;
    plx_mat pz;
    PLX_TRY(plx__mvp_open(&m, run));
    PLX_TRY(plx__mvp_device_open(&m));
    PLX_TRY(plx__mvp_device_close(&m, iterate(&m, &r)));
    PLX_TRY(put_mixtures(&pz, &m));
    PLX_TRY(finish(&m, &r));
    return label_documents(&m, pz);
}

static plx_status predict(plx__run *run)
{
    mvp m;
    plx_mat pz;
    PLX_TRY(plx__mvp_open(&m, run));
    PLX_TRY(plx__store_new(&pz, run->out, "pz", m.n, m.z));
    PLX_TRY(plx__mvp_fold(&m, pz));
    return label_documents(&m, pz);
}

/* What the start of p(z|d) takes before the iteration begins: naive Bayes, or the clusterings of the views. */
static double start_bytes(const plx__run *run, double z)
{
    const plx__problem *x = run->problem;
    double n = (double)x->n, widest = 0, all = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        widest = fmax(widest, (double)x->views[v].cols);
        all += (double)x->views[v].cols;
    }
    return x->n_labelled ? 8 * z * (2 * n + 2 * widest) + 4 * n : 8 * z * (5 * n + 3 * all) + 256 * all + 64 * n;
}

static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const mvp_params *set = run->params;
    double n = (double)x->n, z = (double)(set->clusters > 0 ? set->clusters : x->n_classes), bytes = 0;
    double copies = (set->model != MVP_MVPLSA) + (strcmp(set->split, "none") != 0), entries = 0, features = 1, most = 1;
    for (plx_index v = 0; v < x->n_views; v++) {
        entries += (double)x->views[v].nonzeros;
        features += (double)x->views[v].cols;
    }
    double blocks = fmax(1, fmin(MVP_BLOCKS, entries / (2 * features)));
    for (plx_index v = 0; v < x->n_views; v++) {
        double d = (double)x->views[v].cols, y = set->model == MVP_PLSA ? z : plx__mvp_topics(run, v);
        double chunks = fmin(MVP_FEATURE_CHUNKS, d / MVP_FEATURE_BLOCK + 1);
        bytes += 8 * d * y + 8 * d * (fmin(z, y) + 7) * (1 + blocks) + 8 * y * z * (chunks + 4);
        bytes += (12 * plx__held_entries(&x->views[v], x->n) + 8 * n) * (copies + !x->views[v].sparse);
        most = fmax(most, y);
    }
    bytes += (double)plx__workers(run->ctx) * 8 * (2 * MVP_FEATURE_BLOCK * most + 4 * (z + most + 14));
    double own = run->checkpoint ? n : (double)plx__kept_count(run);
    return bytes + 8 * own * (4 * z + 14) + 8 * n * (z + 3) + start_bytes(run, z) + plx__scale_rows_bytes(run, NULL);
}

static const plx__param_table tables[] = {param_specs, plx__row_params, plx__heldout_params, plx__uncovered_params,
                                          NULL};
static const char *const extra_views[] = {"concat", NULL};

const plx__method plx__method_mvplsa = {
    .name = "mvplsa",
    .title = "Multi-view probabilistic latent semantic analysis",
    .summary =
        "Topic model of counts: document classes shared by all views, feature topics per view. Classifies with few "
        "labels or clusters without; dplsa and plsa on all features side by side.",
    .citation = "zhuang2012mvplsa",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM |
                    PLX_IS_FOR_COUNTS | PLX_IS_MONOTONE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_MISSING,
    .extra_views = extra_views,
    .params_size = sizeof(mvp_params),
    .scores = "class probability",
    .growth = "linear",
    .checkpoints = true,
    .streams = plx__streams_always,
    .ranks = PLX__RANKS_SUMS,
    .own_rows = plx__mvp_own_rows,
    .whose_rows = plx__mvp_whose_rows,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .profiles = {.array = "pf.VIEW", .mix = "py.VIEW"},
    .transform = "pz",
    .memory = memory,
    .memory_remedy =
        "use fewer topics, fit fewer documents at a time (heldout, then predict) or raise the memory limit",
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
