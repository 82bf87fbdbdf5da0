/*
 * localmodels: a readable global classifier on few features, an unrestricted local one on all, and a small describable
 * region where the local one replaces the global one. lm_models.c has the linear models, lm_pattern.c the region.
 */
#include "methods/localmodels/localmodels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "run/facts.h"
#include "run/problem.h"

static const plx__param_spec param_specs[] = {
    PLX__CHOICE(lm_params, learner, "svm", "svm|logistic",
                "Linear learner of all three models: squared hinge loss, or logistic."),
    PLX__REAL_ABOVE(lm_params, reg, "10", 0, "Regularisation: 1/C of the svm, ridge of logistic; larger is flatter."),
    PLX__BOOL(lm_params, standardise, "true",
              "Features centred and divided by their deviation, both of the labelled samples."),
    PLX__TEXT(lm_params, global_view, "all", "Views of the global model, joined with +, or all."),
    PLX__TEXT(lm_params, local_view, "all", "Views of the local model."),
    PLX__TEXT(lm_params, pattern_view, "all", "Views that describe the pattern."),
    PLX__REAL_ABOVE(lm_params, global_features, "0.1", 0,
                    "Features of the global model: a number >= 1, or a share (at least ten, or all there are)."),
    PLX__REAL_ABOVE(lm_params, pattern_features, "10", 0, "The same for the pattern."),
    PLX__CHOICE(lm_params, pattern, "cib", "classification|ib|cib",
                "How the pattern is found: a classifier of what only the local model gets right, clusters of what the "
                "global model is unsure of, or such clusters beyond an irrelevant variable."),
    PLX__CHOICE(lm_params, irrelevant, "global", "global|clustering",
                "Irrelevant variable of cib: the class by the global model, or a clustering of all labelled samples."),
    PLX__INT(lm_params, pattern_clusters, "2", 1, 1e6, "Clusters of the pattern."),
    PLX__REAL_ABOVE(lm_params, beta, "10", 0, "Trade-off of the pattern's bottleneck; larger gives harder clusters."),
    PLX__INT(lm_params, bg_clusters, "8", 1, 1e6, "Clusters of the background."),
    {"bg_beta", PLX_PARAM_REAL, PLX__ABOVE_LO, offsetof(lm_params, bg_beta), "", 0, INFINITY, NULL,
     "Trade-off of the background's bottleneck. Default: beta."},
    PLX__TEXT(lm_params, ib_init, "random",
              "Start of the pattern's clusters: random, or file:F with n x clusters weights."),
    PLX__TEXT(lm_params, bg_init, "random", "The same for the background."),
    PLX__INT(lm_params, ib_iter, "200", 0, 1e9, "Most sweeps of either bottleneck."),
    PLX__REAL(lm_params, ib_tol, "1e-8", 0, INFINITY, "Sweeps stop when no membership changes by more than this."),
    {"rfe_step", PLX_PARAM_REAL, PLX__BELOW_HI, offsetof(lm_params, rfe_step), "0", 0, 1, NULL,
     "Share of the remaining features dropped in a round of the elimination; 0: one at a time."},
    PLX__REAL(lm_params, tau, "0.05", 0, 1, "Largest share of the labelled samples that the local model may decide."),
    PLX__CHOICE(lm_params, outputs, "cv", "cv|fit",
                "What the models say of labelled samples while the pattern is sought: by five folds, or by the models "
                "trained on all, which are seldom wrong there."),
    PLX__CHOICE(lm_params, missing, "zero", "zero|error",
                "A missing view: its columns are 0 after standardising, or refused."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"predictions", "n x 3: global, local, combined", PLX__CLASS_NUMBERS,
     "Class by the global, the local and the combined model."},
    {"inside", "n x 1", 0, "1 where the local model decides."},
    {"score", "n x 1", 0, "Score of the pattern."},
    {"threshold", "1 x 1", PLX__MAY_BE_INFINITE, "Score above which the local model decides; inf: nowhere."},
    {"rates", "1 x 5: global, local, combined, differ, inside", 0,
     "Of the labelled samples: accuracy of the global, local and combined model, how often the combined differs from "
     "the global, share inside."},
    {"prob_global", "n x K", 0, "Class probabilities by the global model."},
    {"weights_global", "functions x (features + 1)", 0, "Weights of the global model's features, bias last."},
    {"weights_local", "functions x (features + 1)", 0, "Weights of the local model."},
    {"weights_pattern", "1 x (features + 1)", PLX__SOMETIMES, "Weights of the pattern's classifier (classification)."},
    {"global_features", "features x 1", 0, "Columns of the global model, counted over its views side by side."},
    {"pattern_features", "features x 1", PLX__SOMETIMES, "Columns that describe the pattern, if there is one."},
    {"medoids", "k x 1", PLX__SOMETIMES | PLX__SAMPLE_NUMBERS, "The sample in the middle of each cluster (ib, cib)."},
    {"pcu", "|L| x k", PLX__SOMETIMES | PLX__SAMPLE_ORDER, "Memberships of the labelled samples (ib, cib)."},
    {"feature_information", "d x 1", PLX__SOMETIMES, "What every column tells about the clusters, in nats (ib, cib)."},
    {"background", "|L| x k", PLX__SOMETIMES | PLX__SAMPLE_ORDER,
     "Memberships in the background clustering (irrelevant=clustering)."},
    {NULL, NULL, 0, NULL}};

/* ---- the answer ---- */

static plx_status put_answer(const lm *m, const lm_said *global, const lm_said *local, const lm_pattern *p)
{
    plx__run *run = m->run;
    plx_mat classes, inside, score, scores;
    int32_t *label = NULL;
    PLX_TRY(plx__store_new(&classes, run->out, "predictions", m->x->n, 3));
    PLX_TRY(plx__store_new(&inside, run->out, "inside", m->x->n, 1));
    PLX_TRY(plx__store_new(&score, run->out, "score", m->x->n, 1));
    PLX_TRY(plx__store_put(run->out, "prob_global", plx__cmat(global->probability)));
    PLX_TRY(plx__arena_mat(&scores, plx__scratch(m->ctx), m->x->n, m->classes));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(m->ctx), m->x->n));
    PLX_TRY(plx__lm_scores(score.data, m, p));
    PLX_TRY(plx__require_finite(run, plx__cmat(score), "pattern scores"));
    for (plx_index i = 0; i < m->x->n; i++) {
        bool in = score.data[i] > p->threshold;
        const lm_said *decides = in ? local : global;
        inside.data[i] = in;
        label[i] = decides->label[i];
        classes.data[3 * i] = global->label[i];
        classes.data[3 * i + 1] = local->label[i];
        classes.data[3 * i + 2] = label[i];
        memcpy(scores.data + i * m->classes, decides->probability.data + i * m->classes,
               (size_t)m->classes * sizeof(double));
    }
    PLX_TRY(plx__require_finite(run, plx__cmat(scores), "class probabilities"));
    return plx__outcome_classes(run, label, plx__cmat(scores));
}

/* ---- threshold and rates ---- */

typedef struct scored {
    double score;
    plx_index sample;
} scored;

static int descending(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

/* Labelled samples by falling score. */
static plx_status order_of(plx_index **out, const lm *m, const double *score)
{
    scored *list = NULL;
    PLX_TRY(plx__arena_i64(out, plx__scratch(m->ctx), m->l));
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(m->ctx), m->l));
    for (plx_index i = 0; i < m->l; i++) list[i] = (scored){score[i], i};
    qsort(list, (size_t)m->l, sizeof *list, descending);
    for (plx_index i = 0; i < m->l; i++) (*out)[i] = list[i].sample;
    return PLX_OK;
}

static plx_status put_rates(const lm *m, const lm_said *global, const lm_said *local, const double *score,
                            double threshold)
{
    plx_mat rates;
    PLX_TRY(plx__store_new(&rates, m->run->out, "rates", 1, 5));
    plx__mat_fill(rates, 0.0);
    for (plx_index i = 0; i < m->l; i++) {
        bool in = score[i] > threshold;
        int32_t f = global->label[i], g = local->label[i], h = in ? g : f, y = m->label[i];
        double hit[5] = {f == y, g == y, h == y, h != f, in};
        for (int r = 0; r < 5; r++) rates.data[r] += hit[r];
    }
    for (int r = 0; r < 5; r++) rates.data[r] /= (double)m->l;
    PLX_TRY(plx__report_number(m->run, "global_accuracy", rates.data[0]));
    PLX_TRY(plx__report_number(m->run, "local_accuracy", rates.data[1]));
    PLX_TRY(plx__report_number(m->run, "combined_accuracy", rates.data[2]));
    return plx__report_number(m->run, "disagreement", rates.data[3]);
}

static plx_status settle_threshold(lm_pattern *p, const lm *m, const lm_said *global, const lm_said *local)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    double *all = NULL, *score = NULL;
    uint8_t *global_right = NULL, *local_right = NULL;
    plx_index *order = NULL;
    PLX_TRY(plx__arena_f64(&all, scratch, m->x->n, 1));
    PLX_TRY(plx__arena_f64(&score, scratch, m->l, 1));
    PLX_TRY(plx__arena_u8(&global_right, scratch, m->l));
    PLX_TRY(plx__arena_u8(&local_right, scratch, m->l));
    PLX_TRY(plx__lm_scores(all, m, p));
    for (plx_index i = 0; i < m->l; i++) {
        score[i] = all[m->labelled[i]];
        global_right[i] = global->label[i] == m->label[i];
        local_right[i] = local->label[i] == m->label[i];
    }
    PLX_TRY(order_of(&order, m, score));
    p->threshold = plx__lm_threshold(score, global_right, local_right, m->l, plx__lm_room(m->set->tau, m->l), order);
    return put_rates(m, global, local, score, p->threshold);
}

/* ---- fit and predict ---- */

static bool same_block(const lm_block *a, const lm_block *b)
{
    return a->n_views == b->n_views && memcmp(a->view, b->view, (size_t)a->n_views * sizeof *a->view) == 0;
}

enum { SLOW_ELIMINATION = 2000 };

static void warn_of_many(const lm *m)
{
    plx_index rounds = m->global_block.cols - plx__lm_wanted(m->set->global_features, m->global_block.cols);
    if (rounds < SLOW_ELIMINATION || m->set->rfe_step > 0) return;
    plx__warn(m->ctx, "localmodels: %lld features are eliminated one at a time; rfe_step=0.1 is much faster",
              (long long)rounds);
}

/* A class hierarchy may list classes that nobody has. */
static plx_status require_classes(const lm *m)
{
    plx_index *size = NULL;
    PLX_TRY(plx__arena_i64(&size, plx__scratch(m->ctx), m->classes));
    for (plx_index i = 0; i < m->l; i++) size[m->label[i]]++;
    for (plx_index c = 0; c < m->classes; c++)
        if (!size[c]) PLX_FAIL(m->ctx, PLX_E_DATA, "localmodels: class '%s' has no labelled sample", m->x->classes[c]);
    return PLX_OK;
}

static plx_status fit(plx__run *run)
{
    lm m;
    lm_said global, local, global_labelled, local_labelled;
    lm_pattern pattern;
    plx_mat rows, other;
    PLX_TRY(plx__lm_open(&m, run));
    PLX_TRY(require_classes(&m));
    warn_of_many(&m);
    PLX_TRY(plx__lm_labelled_rows(&rows, &m, &m.global_block));
    PLX_TRY(plx__lm_learn(&m.global, &m, &m.global_block, plx__cmat(rows), m.label, m.classes, m.set->global_features));
    PLX_TRY(plx__lm_apply(&global, &m, &m.global, m.classes));
    PLX_TRY(plx__lm_say_labelled(&global_labelled, &m, &m.global, plx__cmat(rows), &global));
    other = rows;
    if (!same_block(&m.global_block, &m.local_block)) PLX_TRY(plx__lm_labelled_rows(&other, &m, &m.local_block));
    PLX_TRY(plx__lm_learn(&m.local, &m, &m.local_block, plx__cmat(other), m.label, m.classes, 0));
    PLX_TRY(plx__lm_apply(&local, &m, &m.local, m.classes));
    PLX_TRY(plx__lm_say_labelled(&local_labelled, &m, &m.local, plx__cmat(other), &local));
    PLX_TRY(plx__lm_find_pattern(&pattern, &m, &global_labelled, &local_labelled));
    PLX_TRY(settle_threshold(&pattern, &m, &global_labelled, &local_labelled));
    PLX_TRY(plx__lm_model_put(&m, &m.global, "global", false));
    PLX_TRY(plx__lm_model_put(&m, &m.local, "local", true));
    PLX_TRY(plx__lm_pattern_put(&m, &pattern));
    return put_answer(&m, &global, &local, &pattern);
}

static plx_status predict(plx__run *run)
{
    lm m;
    lm_said global, local;
    lm_pattern pattern;
    PLX_TRY(plx__lm_open(&m, run));
    PLX_TRY(plx__lm_model_get(&m.global, &m, &m.global_block, "global", m.classes));
    PLX_TRY(plx__lm_model_get(&m.local, &m, &m.local_block, "local", m.classes));
    PLX_TRY(plx__lm_pattern_get(&pattern, &m));
    PLX_TRY(plx__lm_apply(&global, &m, &m.global, m.classes));
    PLX_TRY(plx__lm_apply(&local, &m, &m.local, m.classes));
    return put_answer(&m, &global, &local, &pattern);
}

/* What is said of all samples and of labelled ones; their rows by block; elimination or folds with their Gram matrices,
 * or the bottleneck. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const lm_params *set = run->params;
    double n = (double)x->n, l = (double)x->n_labelled, k = (double)x->n_classes, d = 0, w = 1;
    double f = (double)plx__linear_functions(x->n_classes);
    for (plx_index v = 0; v < x->n_views; v++) d += (double)x->views[v].cols;
    if (set->pattern == LM_PATTERN_CIB) w = set->irrelevant ? (double)set->bg_clusters : k;
    double said = n * (8 * (2 * (f + k) + 3 * k + 9) + 25) + l * (16 * (f + k) + 80), models = 8 * d * (4 + 3 * f);
    double gram = d >= l ? 24 * l * l : 0, learn = 16 * l * (d + 1) + gram + 8 * d * (f + 4);
    double cluster = 24 * l * d + plx__ib_bytes(run->ctx, l, (double)set->pattern_clusters, w, d, 0);
    if (set->pattern == LM_PATTERN_CIB && set->irrelevant) cluster += plx__ib_bytes(run->ctx, l, w, 1, d, 0);
    return said + models + 8 * l * d +
           (set->pattern == LM_PATTERN_CLASSIFICATION ? 8 * l * d + learn : fmax(learn, cluster));
}

static const plx__param_table tables[] = {param_specs, plx__heldout_params, NULL};

const plx__method plx__method_localmodels = {
    .name = "localmodels",
    .title = "Interpretable global classifier with local patterns",
    .summary =
        "A linear model on few features that may be read, and a small region, described by its own few features, "
        "where a model on all features decides instead.",
    .citation = "ruping2005interpreting",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_IS_RANDOM,
    .min_views = 1,
    .min_classes = 2,
    .zero_rows = PLX__ZERO_ROWS_PRESENT,
    .params_size = sizeof(lm_params),
    .scores = "class probability",
    .growth = "linear",
    .params = tables,
    .arrays = array_specs,
    .transform = "prob_global",
    .profiles = {.array = "weights_global",
                 .kind = PLX__PROFILE_LOADINGS,
                 .columns = "global_features",
                 .views = "global_view",
                 .pattern = "pattern_features",
                 .pattern_views = "pattern_view",
                 .pattern_places = "_medoid_places"},
    .keep_samples = true,
    .memory = memory,
    .memory_remedy = "label fewer samples, or name fewer views",
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
