/*
 * mvkmeans: semi-supervised spherical k-means over any number of views, flat and with a class hierarchy.
 *
 * Hard EM: labelled samples keep their labels and seed the centroids; (E) every other sample gets the label, or the
 * sets of labels, that are optimal for its cosines (mvk_estep.c; mvk_cotrain.c), (M) every centroid becomes the
 * normalised sum of its members' unit rows (mvk_mstep.c), until no assignment changes.
 */
#include <math.h>
#include <string.h>

#include "core/slabs.h"
#include "kernel/prepared.h"
#include "run/checkpoint.h"
#include "run/clusters.h"
#include "run/restarts.h"
#include "linalg/dense.h"
#include "methods/mvkmeans/mvkmeans.h"

static const plx__param_spec param_specs[] = {
    PLX__TEXT(mvk_params, assignment, "sumscore",
              "How scores become labels: single:VIEW, concat, sumscore, prodscore, maxagree, cotrain, hier-sumscore, "
              "hier-prodscore or hier-maxagree."),
    PLX__REAL(mvk_params, alpha1, "0.5", 0, INFINITY,
              "Weight of the scores in maxagree and hier-maxagree; larger follows each view more."),
    PLX__REAL(mvk_params, alpha2, "0.1", 0, INFINITY, "Weight of disagreement between views; larger makes them agree."),
    PLX__REAL(mvk_params, alpha3, "1", 0, INFINITY,
              "Weight of a broken rule (exactly one label; subset and mutex); larger makes label sets consistent."),
    PLX__CHOICE(mvk_params, score_scale, "sum", "sum|mean",
                "hier-sumscore: sum of the present views' cosines, as published, or their mean."),
    PLX__BOOL(mvk_params, closure, "true",
              "Add what the constraints imply: subset is transitive, what is below exclusive classes is exclusive."),
    PLX__CHOICE(mvk_params, concat_norm, "raw", "raw|unit",
                "concat: join the scaled rows as they are, or each normalised first."),
    PLX__CHOICE(mvk_params, order, "sequential", "parallel|sequential",
                "cotrain: teach all views at once (as published, rarely converges) or one after the other."),
    PLX__TEXT(mvk_params, init, "",
              "Start: labels, kmeans++, random, or file:F with one class index per line (-1: none). Default: labels, "
              "kmeans++ without any."),
    PLX__CLUSTERS_ROWS(mvk_params, "", 1,
                       "Number of clusters, or auto; required without labels, forbidden with labels."),
    PLX__CHOICE(
        mvk_params, empty, "keep", "keep|reseed",
        "Cluster without members: keep its centroid, or give it the worst-placed sample (without labels only)."),
    PLX__INT(mvk_params, max_iter, "100", 1, 1e9, "Most iterations."),
    PLX__INT(mvk_params, restarts, "10", 1, 1e6,
             "Random starts without labels; the one with the largest objective is kept."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"assign", "n x K", PLX__ON_REQUEST, "Reported labels as 0/1 rows."},
    {"assign.VIEW", "n x K", PLX__ON_REQUEST, "Labels in one view as 0/1 rows; zero where it is missing."},
    {"scores.VIEW", "n x K", 0, "Cosines with the final centroids; zero where the view is missing."},
    {"centroids.VIEW", "K x d", 0, "Unit centroids (cotrain: the consensus ones)."},
    {"flips", "iterations x 1", 0, "Assignment bits that changed in every iteration."},
    {NULL, NULL, 0, NULL}};

/* ---- the start ---- */

static plx_status read_start(mvk_start *out, const mvk *m)
{
    static const char *const names[] = {"labels", "kmeans++", "random", "file:"};
    const char *text = m->set->init;
    char near[128];
    *out = m->seeded ? MVK_FROM_LABELS : MVK_FROM_KMEANSPP;
    if (!text[0]) return PLX_OK;
    for (int s = MVK_FROM_LABELS; s < MVK_FROM_FILE; s++)
        if (strcmp(text, names[s]) == 0) {
            *out = (mvk_start)s;
            if (s == MVK_FROM_LABELS && !m->seeded)
                PLX_FAIL(m->ctx, PLX_E_ARG, "init = labels: no sample is labelled; use kmeans++, random or file:F");
            return PLX_OK;
        }
    *out = MVK_FROM_FILE;
    if (plx__starts_with(text, "file:") && text[5]) return PLX_OK;
    PLX_FAIL(m->ctx, PLX_E_ARG, "init = %s: expected labels, kmeans++, random or file:F%s", text,
             plx__suggest(near, sizeof near, text, names, 3));
}

/* ---- one run ---- */

typedef struct trajectory {
    plx__trace trace;
    int64_t *flips;
    plx_index count, capacity;
    double objective;
    bool converged;
} trajectory;

static plx_status note_flips(trajectory *t, mvk *m, int64_t flips)
{
    if (t->count == t->capacity) {
        int64_t *bigger = NULL;
        plx_index capacity = 2 * t->capacity + 64;
        PLX_TRY(plx__arena_i64(&bigger, m->run->out->arena, capacity));
        if (t->count) memcpy(bigger, t->flips, (size_t)t->count * sizeof *bigger);
        t->flips = bigger;
        t->capacity = capacity;
    }
    t->flips[t->count++] = flips;
    return PLX_OK;
}

static plx_status e_step(mvk *m, mvk_step *step, bool last)
{
    if (m->rule == MVK_COTRAIN) return plx__mvk_cotrain_step(m, step);
    return plx__mvk_assign(m, step, last);
}

static plx_status m_step(mvk *m)
{
    if (m->rule == MVK_COTRAIN) return plx__mvk_cotrain_teach(m);
    return plx__mvk_all_centroids(m);
}

/* ---- the best of several runs ---- */

typedef struct attempt {
    mvk *m;
    trajectory *t;
    mvk_start from;
    plx__restarts *restarts;
    bool resumed; /* the run begins with what a checkpoint held */
} attempt;

static plx_status trajectory_state(plx__state *s, mvk *m, trajectory *t)
{
    plx__arena *arena = m->run->out->arena;
    PLX_TRY(plx__state_trace(s, &t->trace, arena));
    PLX_TRY(plx__state_item(s, "count", &t->count, sizeof t->count));
    PLX_TRY(plx__state_list(s, "flips", (void **)&t->flips, t->count, sizeof *t->flips, arena));
    if (plx__state_loading(s)) t->capacity = t->count;
    PLX_TRY(plx__state_item(s, "objective", &t->objective, sizeof t->objective));
    return plx__state_item(s, "converged", &t->converged, sizeof t->converged);
}

/* An iteration ends with centroids; assignments are there to count what the next one changes. */
static plx_status fit_state(plx__state *s, void *arg)
{
    attempt *a = arg;
    mvk *m = a->m;
    size_t labels = (size_t)(m->n * m->label_width), bits = (size_t)(m->n * m->k);
    PLX_TRY(plx__state_restarts(s, a->restarts));
    if (a->restarts->at > 0) PLX_TRY(trajectory_state(s, m, plx__restarts_kept(a->restarts, a->t)));
    PLX_TRY(trajectory_state(s, m, a->t));
    if (m->label) PLX_TRY(plx__state_item(s, "label", m->label, labels * sizeof *m->label));
    if (m->taught) PLX_TRY(plx__state_item(s, "taught", m->taught, labels * sizeof *m->taught));
    if (m->pattern) PLX_TRY(plx__state_item(s, "pattern", m->pattern, bits * sizeof *m->pattern));
    if (m->report) PLX_TRY(plx__state_item(s, "report", m->report, bits * sizeof *m->report));
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__state_mat(s, "centroids", m->channels[c].centroids));
    return PLX_OK;
}

static plx_status begin(attempt *a, plx_index restart)
{
    bool resumed = a->resumed;
    a->resumed = false;
    plx__mvk_device_begin(a->m);
    for (plx_index c = 0; resumed && c < a->m->n_channels; c++) PLX_TRY(plx__mvk_refresh_columns(a->m, c));
    if (resumed) return PLX_OK;
    *a->t = (trajectory){0};
    return plx__mvk_start_once(a->m, a->from, restart);
}

static plx_status try_once(void *arg, plx_index restart, double *objective)
{
    attempt *a = arg;
    mvk *m = a->m;
    trajectory *t = a->t;
    plx_index limit = m->set->max_iter;
    PLX_TRY(begin(a, restart));
    while (!t->converged && t->count < limit) {
        mvk_step step;
        bool last = t->count + 1 >= limit || plx__out_of_time(m->ctx);
        PLX_TRY(e_step(m, &step, last));
        PLX_TRY(plx__mvk_reseed(m, &step));
        PLX_TRY(note_flips(t, m, step.flips));
        PLX_TRY(plx__iterate(m->run, &t->trace, "iterate", t->count, limit, step.objective));
        t->objective = step.objective;
        t->converged = step.flips == 0;
        if (t->converged) PLX_TRY(plx__mvk_report(m));
        else PLX_TRY(m_step(m));
        if (last) break;
        if (!t->converged) PLX_TRY(plx__checkpoint_keep(m->run, fit_state, a));
    }
    *objective = t->objective;
    return PLX_OK;
}

static plx_status best_run(mvk *m, trajectory *best, mvk_start from)
{
    attempt a = {.m = m, .t = best, .from = from};
    bool random = !m->seeded && (from == MVK_FROM_KMEANSPP || from == MVK_FROM_RANDOM);
    plx__restarts r = {.ctx = m->ctx, .runs = random ? m->set->restarts : 1, .run = try_once, .arg = &a};
    size_t bits = (size_t)(m->n * m->k);
    PLX_TRY(plx__restarts_keep(&r, best, sizeof *best));
    PLX_TRY(plx__restarts_keep(&r, m->label, (size_t)(m->n * m->label_width) * sizeof *m->label));
    PLX_TRY(plx__restarts_keep(&r, m->pattern, bits * sizeof *m->pattern));
    PLX_TRY(plx__restarts_keep(&r, m->report, bits * sizeof *m->report));
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__restarts_keep_mat(&r, m->channels[c].centroids));
    a.restarts = &r;
    PLX_TRY(plx__checkpoint_resume(&a.resumed, m->run, fit_state, &a));
    PLX_TRY(plx__mvk_device_open(m));
    PLX_TRY(plx__mvk_device_close(m, plx__restarts_run(&r)));
    best->converged = best->converged && !r.cut;
    for (plx_index c = 0; r.runs > 1 && c < m->n_channels; c++) PLX_TRY(plx__mvk_refresh_columns(m, c));
    return PLX_OK;
}

/* ---- fit and predict ---- */

/* What is reported: the labels themselves, the agreed sets, or (cotrain) labels by the consensus centroids. */
static plx_status open_final(mvk *m, mvk_final *final)
{
    *final = (mvk_final){.label = m->label, .sets = m->per_view ? m->report : m->pattern};
    if (m->rule != MVK_COTRAIN) return PLX_OK;
    PLX_TRY(plx__arena_i32(&final->label, plx__scratch(m->ctx), m->n));
    if (!m->run->fitted) PLX_TRY(plx__mvk_cotrain_consensus(m, final->label));
    for (plx_index j = 0; j < m->n; j++) final->label[j] = m->labelled[j] ? m->label[j * m->label_width] : -1;
    return PLX_OK;
}

static plx_status fit(plx__run *run)
{
    mvk m;
    mvk_start from;
    mvk_final final;
    trajectory t;
    PLX_TRY(plx__mvk_open(&m, run));
    PLX_TRY(read_start(&from, &m));
    PLX_TRY(best_run(&m, &t, from));
    if (!run->kept) PLX_TRY(plx__mvk_share_labels(&m));
    PLX_TRY(open_final(&m, &final));
    PLX_TRY(plx__mvk_write_state(&m, t.flips, t.count));
    PLX_TRY(plx__mvk_write(&m, &final));
    PLX_TRY(plx__finish(run, &t.trace, t.count, t.converged, t.objective));
    return plx__mvk_put_outcome(&m, &final);
}

static plx_status predict(plx__run *run)
{
    mvk m;
    mvk_step ignored;
    mvk_final final;
    PLX_TRY(plx__mvk_open(&m, run));
    PLX_TRY(plx__mvk_read_centroids(&m));
    if (m.rule != MVK_COTRAIN) PLX_TRY(plx__mvk_assign(&m, &ignored, true));
    PLX_TRY(open_final(&m, &final));
    return plx__mvk_write(&m, &final);
}

/* Before the classes are looked at: settings that cannot work on any data. */
static plx_status check(plx__run *run)
{
    mvk_rule rule;
    const char *single = NULL;
    plx_index view = 0;
    PLX_TRY(plx__mvk_read_rule(&rule, &single, run));
    if (single) PLX_TRY(plx__require_view(&view, run, single, "assignment = single:VIEW, VIEW"));
    return PLX_OK;
}

static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const mvk_params *set = run->params;
    double n = (double)x->n, k = (double)(set->clusters > 0 ? set->clusters : x->n_classes), cols = 0;
    double views = (double)x->n_views;
    double scaled = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        cols += (double)x->views[v].cols;
        scaled += plx__prepared_bytes(run, v);
    }
    double copies = set->clusters > 0 && set->restarts > 1 ? 6 : 5;
    copies += plx__slabs_cut(x->n, PLX__PANE_ROWS).count > 1;
    return scaled + 8 * (k + 32) * cols * copies +
           8 * (double)plx__kept_count(run) * k * (views + 1 + (double)run->n_wanted) + n * (16 * views + 24) +
           4 * n * k;
}

static const plx__param_table tables[] = {param_specs, plx__scale_params, plx__heldout_params, plx__uncovered_params,
                                          NULL};
static const char *const extra_views[] = {"concat", NULL};

const plx__method plx__method_mvkmeans = {
    .name = "mvkmeans",
    .title = "Multi-view spherical k-means with optimal label sets",
    .summary =
        "Few labels and many unlabelled samples: every sample gets the label, or the set of labels of a class "
        "hierarchy, that is optimal for its similarity to the class centroids in all views. Clusters without labels.",
    .citation = "dalvi2015mvhier",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_LABEL_SETS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM | PLX_IS_MONOTONE | PLX_IS_FEATURE_FREE | PLX_IS_VIEW_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_MISSING,
    .extra_views = extra_views,
    .params_size = sizeof(mvk_params),
    .scores = "cosine with the class or cluster, mean over the views",
    .growth = "linear",
    .checkpoints = true,
    .streams = plx__streams_always,
    .ranks = PLX__RANKS_SUMS,
    .own_rows = plx__mvk_own_rows,
    .whose_rows = plx__whose_panes,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .profiles = {.array = "centroids.VIEW", .kind = PLX__PROFILE_LEVELS},
    .view_scores = "scores.VIEW",
    .memory_remedy = "use fewer classes, fit fewer samples at a time (heldout, then predict) or raise the memory limit",
    .check = check,
    .memory = memory,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
