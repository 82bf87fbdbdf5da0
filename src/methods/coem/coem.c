/*
 * coem: mixture models from several views by co-EM.
 *
 * Every view has components of its own; in turn, each view's components are estimated (M step) from responsibilities
 * that mix its own posteriors with those of the other views (Eq. 13), so that the views come to agree. The baselines
 * (one view, joined views, the product model) run through the same loop. Steps (A) start, (B) posteriors and
 * responsibilities, (C) prior, (D) M step, (E) objective are marked as on the docs page.
 */
#include "methods/coem/coem.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "run/checkpoint.h"
#include "run/clusters.h"
#include "run/restarts.h"
#include "linalg/dense.h"
#include "run/facts.h"

enum { STARTS_WITHOUT_LABELS = 5 };

static const plx__param_spec param_specs[] = {
    PLX__CLUSTERS_ROWS(
        coem_params, "", 1,
        "Number of components; required without labels, forbidden with labels (the classes are the components)."),
    PLX__TEXT(coem_params, mode, "coem",
              "coem: views that teach each other; single:VIEW, concat, merged: plain EM on one view, on all views side "
              "by side, on added views; joint: EM of the product model."),
    PLX__TEXT(coem_params, merge, "", "mode=merged: what is joined, e.g. a+b;c adds a and b and puts c beside them."),
    PLX__VIEW_CHOICE("likelihood", "auto", "auto|multinomial|gaussian|spherical|vmf",
                     "Model of a view's components. auto: real views gaussian, all others multinomial."),
    PLX__REAL(coem_params, eta, "1", 0, 1,
              "Weight of the other views' posteriors in a view's responsibilities; 0 leaves the views alone."),
    PLX__CHOICE(coem_params, anneal, "none", "none|linear|geometric", "How eta falls to 0 over the iterations."),
    PLX__INT(coem_params, anneal_steps, "50", 1, 1e9, "anneal=linear: eta is 0 from this iteration on."),
    {"anneal_rate", PLX_PARAM_REAL, PLX__BELOW_HI, offsetof(coem_params, anneal_rate), "0.9", 0, 1, NULL,
     "anneal=geometric: factor of eta per iteration; larger anneals more slowly."},
    PLX__CHOICE(coem_params, priors, "global", "global|view", "One prior for all views, or one per view."),
    PLX__REAL(coem_params, smoothing, "0.1", 0, INFINITY,
              "Multinomial: pseudo-count per component and feature; larger pulls towards the uniform distribution."),
    PLX__REAL(coem_params, prior_smoothing, "0", 0, INFINITY,
              "Pseudo-count per component in the priors; larger pulls towards equal components."),
    PLX__REAL_ABOVE(coem_params, var_floor, "1e-6", 0,
                    "Gaussian: least variance, as a share of the view's mean variance."),
    PLX__REAL_ABOVE(coem_params, kappa, "20", 0, "vmf: concentration; larger makes harder assignments."),
    PLX__TEXT(coem_params, init, "",
              "Start: labels, random, kmeans++, or file:F with n x components responsibilities. Default: labels, "
              "kmeans++ without any."),
    {"restarts", PLX_PARAM_INT, 0, offsetof(coem_params, restarts), "", 1, 1e6, NULL,
     "Seeded starts (random, kmeans++); the one with the largest final objective is kept. Default: 5 without labels, "
     "else 1."},
    PLX__INT(coem_params, max_iter, "200", 1, 1e9, "Most iterations."),
    PLX__REAL(coem_params, tol, "1e-7", 0, INFINITY,
              "Stop when the objective changes by less than this share, eta being constant; 0: exactly max_iter "
              "iterations."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"posterior", "n x m", 0, "Probabilities of the components by all views together; one-hot for labelled samples."},
    {"posterior.VIEW", "n x m", 0, "Probabilities by one view alone; zero rows where it is missing."},
    {"alpha", "priors x m", 0, "Priors of the components: one row, with priors=view one per view."},
    {"theta.VIEW", "m x d", 0, "Feature probabilities, means or directions of the components in one view."},
    {"var.VIEW", "m x d", PLX__SOMETIMES, "Variances of gaussian views (spherical: m x 1)."},
    {"loglik", "iterations x views", 0, "Log-likelihood of every view after every iteration."},
    {"eta", "iterations x 1", 0, "Weight of the consensus in every iteration."},
    {NULL, NULL, 0, NULL}};

/* ---- one run ---- */

/* What a run leaves beside its parameters. */
typedef struct course {
    plx__trace trace;
    double *loglik, *eta; /* iterations x n_channels, iterations */
    plx_index count, capacity;
    double objective;
    bool converged;
    bool cut; /* the time limit struck inside an iteration */
} course;

static plx_status remember(course *t, coem *m, double eta)
{
    plx_index s = m->n_channels;
    if (t->count == t->capacity) {
        plx_index capacity = 2 * t->capacity + 64;
        double *loglik = NULL, *etas = NULL;
        PLX_TRY(plx__arena_f64(&loglik, m->run->out->arena, capacity, s));
        PLX_TRY(plx__arena_f64(&etas, m->run->out->arena, capacity, 1));
        if (t->count) memcpy(loglik, t->loglik, (size_t)(t->count * s) * sizeof *loglik);
        if (t->count) memcpy(etas, t->eta, (size_t)t->count * sizeof *etas);
        t->loglik = loglik;
        t->eta = etas;
        t->capacity = capacity;
    }
    memcpy(t->loglik + t->count * s, plx__coem_loglik(m), (size_t)s * sizeof *t->loglik);
    t->eta[t->count++] = eta;
    return PLX_OK;
}

static double eta_at(const coem_params *set, plx_index t)
{
    double eta = set->eta;
    if (set->anneal == COEM_LINEAR) eta *= fmax(0, 1 - (double)t / (double)set->anneal_steps);
    if (set->anneal == COEM_GEOMETRIC) eta *= pow(set->anneal_rate, (double)t);
    return set->anneal == COEM_GEOMETRIC && eta < 1e-4 ? 0 : eta;
}

/* Both iterations at one eta, which a schedule has brought to 0, and no more than a share tol of change. */
static bool is_converged(const coem_params *set, const course *t, double last)
{
    if (set->tol == 0 || t->count < 2 || t->eta[t->count - 1] != t->eta[t->count - 2]) return false;
    if (set->anneal != COEM_CONSTANT && t->eta[t->count - 1] != 0) return false;
    return fabs(t->objective - last) <= set->tol * fabs(last);
}

/* (C), (D): the channel's responsibilities are in m->weights; by panes: their products with the rows are there too. */
static plx_status update_channel(coem *m, plx_index c)
{
    const double *mass = plx__coem_mass(m);
    plx__coem_set_prior(m, c);
    for (plx_index j = 0; j < m->m; j++) m->dead[j] = mass[j] <= PLX__LEAST_MASS;
    if (m->way != PLX__ALL_AT_ONCE) PLX_TRY(plx__view_mixture_finish(&m->channels[c].mix, mass));
    else if (plx__coem_there(m)) PLX_TRY(plx__coem_device_finish(m, c, mass));
    else PLX_TRY(plx__view_mixture_m_step(&m->channels[c].mix, m->weights, mass));
    return plx__coem_rescore(m, c);
}

/* The posteriors that measure an iteration are those the first channel of the next one learns from: one pass does both.*/
static plx_status iterate(coem *m, course *t)
{
    double eta = eta_at(m->set, t->count), next = eta_at(m->set, t->count + 1);
    for (plx_index c = 0; c < m->n_channels; c++) {
        t->cut = c > 0 && plx__out_of_time(m->ctx);
        if (t->cut) break;
        if (c > 0) PLX_TRY(plx__coem_posteriors(m, (coem_pass){.target = c, .target_eta = eta}));
        PLX_TRY(update_channel(m, c));
    }
    PLX_TRY(plx__coem_posteriors(m, (coem_pass){.target = 0, .target_eta = next, .measure = true, .eta = eta}));
    return remember(t, m, eta);
}

/* ---- the best of several runs ---- */

typedef struct attempt {
    coem *m;
    course *t;
    coem_start from;
    plx__restarts *restarts;
    bool resumed; /* the run begins with what a checkpoint held */
} attempt;

static plx_status course_state(plx__state *s, coem *m, course *t)
{
    plx__arena *arena = m->run->out->arena;
    PLX_TRY(plx__state_trace(s, &t->trace, arena));
    PLX_TRY(plx__state_item(s, "count", &t->count, sizeof t->count));
    PLX_TRY(plx__state_list(s, "loglik", (void **)&t->loglik, t->count * m->n_channels, sizeof *t->loglik, arena));
    PLX_TRY(plx__state_list(s, "eta", (void **)&t->eta, t->count, sizeof *t->eta, arena));
    if (plx__state_loading(s)) t->capacity = t->count;
    PLX_TRY(plx__state_item(s, "objective", &t->objective, sizeof t->objective));
    return plx__state_item(s, "converged", &t->converged, sizeof t->converged);
}

static plx_status fit_state(plx__state *s, void *arg)
{
    attempt *a = arg;
    coem *m = a->m;
    size_t priors = (size_t)((m->own_priors ? m->n_channels : 1) * m->padded);
    PLX_TRY(plx__state_restarts(s, a->restarts));
    if (a->restarts->at > 0) PLX_TRY(course_state(s, m, plx__restarts_kept(a->restarts, a->t)));
    PLX_TRY(course_state(s, m, a->t));
    PLX_TRY(plx__state_item(s, "alpha", m->alpha, priors * sizeof *m->alpha));
    PLX_TRY(plx__state_item(s, "dead", m->dead, (size_t)m->m));
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(plx__state_mat(s, "theta", m->channels[c].mix.theta));
        PLX_TRY(plx__state_mat(s, "var", m->channels[c].mix.var));
    }
    return PLX_OK;
}

/* What follows from the parameters. */
static plx_status refresh(coem *m)
{
    plx__coem_log_priors(m);
    for (plx_index c = 0; c < m->n_channels; c++) {
        plx__view_mixture_refresh(&m->channels[c].mix);
        PLX_TRY(plx__coem_rescore(m, c));
    }
    return PLX_OK;
}

/* The posteriors an iteration ends with are those the next one begins with. */
static plx_status begin_again(coem *m, const course *t)
{
    double eta = t->eta[t->count - 1];
    PLX_TRY(refresh(m));
    return plx__coem_posteriors(
        m, (coem_pass){.target = 0, .target_eta = eta_at(m->set, t->count), .measure = true, .eta = eta});
}

static plx_status begin(attempt *a, plx_index restart)
{
    bool resumed = a->resumed;
    a->resumed = false;
    if (resumed) return begin_again(a->m, a->t);
    *a->t = (course){0};
    plx__coem_device_pause(a->m, true); /* a start looks at log-likelihoods */
    PLX_TRY(plx__coem_start_once(a->m, a->from, restart));
    plx__coem_device_pause(a->m, false);
    return plx__coem_posteriors(a->m, (coem_pass){.target = 0, .target_eta = eta_at(a->m->set, 0)});
}

static plx_status try_once(void *arg, plx_index restart, double *objective)
{
    attempt *a = arg;
    coem *m = a->m;
    course *t = a->t;
    PLX_TRY(begin(a, restart));
    while (t->count < m->set->max_iter && !t->converged && !(t->count && plx__out_of_time(m->ctx))) {
        double last = t->objective;
        PLX_TRY(iterate(m, t));
        t->objective = plx__coem_objective(m);
        if (!isfinite(t->objective))
            PLX_FAIL(m->ctx, PLX_E_NUMERIC,
                     "coem: the likelihood is not finite; values are too large, scale the views");
        PLX_TRY(plx__iterate(m->run, &t->trace, "iterate", t->count, m->set->max_iter, t->objective));
        t->converged = !t->cut && is_converged(m->set, t, last);
        if (!t->cut) PLX_TRY(plx__checkpoint_keep(m->run, fit_state, a));
    }
    *objective = t->objective;
    return PLX_OK;
}

static plx_status best_run(coem *m, course *best, coem_start from)
{
    attempt a = {.m = m, .t = best, .from = from};
    plx_index wanted = m->set->restarts > 0 ? m->set->restarts : m->seeded ? 1 : STARTS_WITHOUT_LABELS;
    plx_index runs = from == COEM_RANDOM || from == COEM_KMEANSPP ? wanted : 1;
    plx__restarts r = {.ctx = m->ctx, .runs = runs, .run = try_once, .arg = &a};
    size_t priors = (size_t)((m->own_priors ? m->n_channels : 1) * m->padded);
    PLX_TRY(plx__restarts_keep(&r, best, sizeof *best));
    PLX_TRY(plx__restarts_keep(&r, m->alpha, priors * sizeof *m->alpha));
    PLX_TRY(plx__restarts_keep(&r, m->dead, (size_t)m->m));
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(plx__restarts_keep_mat(&r, m->channels[c].mix.theta));
        PLX_TRY(plx__restarts_keep_mat(&r, m->channels[c].mix.var));
    }
    a.restarts = &r;
    PLX_TRY(plx__checkpoint_resume(&a.resumed, m->run, fit_state, &a));
    PLX_TRY(plx__coem_device_open(m));
    PLX_TRY(plx__coem_device_close(m, plx__restarts_run(&r)));
    best->converged = best->converged && !r.cut;
    return runs > 1 ? refresh(m) : PLX_OK;
}

/* ---- fit and predict ---- */

static plx_status report_empty(coem *m)
{
    plx_index empty = 0;
    plx__textbuf text;
    const char *names = NULL;
    plx__textbuf_init(&text, plx__scratch(m->ctx));
    for (plx_index j = 0; j < m->m; j++) {
        if (!m->dead[j]) continue;
        plx__textbuf_printf(&text, "%s%s%lld", empty ? ", " : "", m->seeded ? "class " : "c", (long long)j);
        empty++;
    }
    PLX_TRY(plx__textbuf_done(&names, &text));
    if (empty)
        plx__warn(m->ctx, "coem: empty_components: %lld (%s) lost all samples and keep their last parameters",
                  (long long)empty, names);
    return plx__report_count(m->run, "empty_components", empty);
}

static plx_status fit(plx__run *run)
{
    coem m;
    coem_start from;
    course t;
    PLX_TRY(plx__coem_open(&m, run));
    PLX_TRY(plx__coem_make_room(&m));
    PLX_TRY(plx__coem_open_cache(&m));
    PLX_TRY(plx__coem_read_start(&from, &m));
    PLX_TRY(best_run(&m, &t, from));
    PLX_TRY(plx__coem_write_model(&m));
    PLX_TRY(plx__store_put(run->out, "loglik", plx__cmat_of(t.loglik, t.count, m.n_channels)));
    PLX_TRY(plx__store_put(run->out, "eta", plx__cmat_of(t.eta, t.count, 1)));
    PLX_TRY(plx__coem_write_samples(&m));
    PLX_TRY(plx__finish(run, &t.trace, t.count, t.converged, t.objective));
    return report_empty(&m);
}

static plx_status predict(plx__run *run)
{
    coem m;
    PLX_TRY(plx__coem_open(&m, run));
    PLX_TRY(plx__coem_read_model(&m));
    return plx__coem_write_samples(&m);
}

static plx_status check(plx__run *run)
{
    coem_mode mode;
    const char *single = NULL;
    uint8_t *used = NULL;
    PLX_TRY(plx__coem_read_mode(&mode, &single, run));
    return plx__coem_mark_used(&used, run, mode, single);
}

/* A channel: its mixture, what the best of several starts keeps of it, and its part of the results. */
static double channel_bytes(const plx__run *run, const plx__view *view, plx_index m, bool several)
{
    plx__likelihood likelihood = PLX__MULTINOMIAL;
    double n = (double)run->problem->n, size = (double)plx__padded(m) * (double)view->cols;
    if (plx__coem_likelihood(&likelihood, run, view->name, view->kind) != PLX_OK) return 0;
    bool variance = plx__has_variance(likelihood);
    return plx__view_mixture_bytes(view, run->problem->n, likelihood, m) + n +
           8 * (double)m * (double)plx__kept_count(run) + 16 * n + 8 * size * ((variance ? 2 : 1) * (several ? 2 : 1));
}

/* The views a mode joins, as one, and the room for joining them. */
static double joined_bytes(const plx__run *run, plx_index m, bool several)
{
    const plx__problem *x = run->problem;
    const char *mode = ((const coem_params *)run->params)->mode;
    plx__view joined = {.name = mode, .kind = x->views[0].kind};
    double copies = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        joined.cols += view->cols;
        joined.nonzeros += view->nonzeros;
        joined.sparse |= view->sparse;
    }
    copies = joined.sparse ? 12 * (double)joined.nonzeros + 8 * (double)x->n : 8 * (double)x->n * (double)joined.cols;
    return channel_bytes(run, &joined, m, several) + copies * (joined.sparse && strcmp(mode, "merged") == 0 ? 2 : 1);
}

static bool is_used(const coem_params *set, const plx__view *view)
{
    return strncmp(set->mode, "single:", 7) != 0 || strcmp(set->mode + 7, view->name) == 0;
}

/* A process among others keeps the tables of its slabs until those before them are summed. */
static double slab_bytes(const plx__run *run, const plx__view *view, plx_index m)
{
    plx__mixture_cut cut = plx__mixture_cut_of(&view, 1, run->problem->n, m);
    if (plx__ranks(run->ctx) == 1) return 0;
    return 8 * (double)plx__slabs_most(run->ctx, cut.slabs) * (double)plx__padded(m) * (double)view->cols;
}

static bool joins(const coem_params *set)
{
    return strcmp(set->mode, "concat") == 0 || strcmp(set->mode, "merged") == 0;
}

/* With log-likelihoods and cache of `scored` samples, and weights of `weighed`. */
static double bytes_with(const plx__run *run, double scored, double weighed)
{
    const plx__problem *x = run->problem;
    const coem_params *set = run->params;
    plx_index m = set->clusters > 0 ? set->clusters : plx__max(1, x->n_classes);
    bool several = set->restarts > 1 || (set->restarts < 1 && !x->n_labelled);
    double n = (double)x->n, padded = (double)plx__padded(m), slabs = 0;
    double bytes = 8 * (padded * (n + 2 * weighed) + 2 * (double)plx__kept_count(run) * (double)m) + 64 * n;
    bytes += plx__scale_rows_bytes(run, plx__coem_scales_rows);
    if (joins(set)) return bytes + joined_bytes(run, m, several);
    bytes += plx__coem_cache_bytes((plx_index)scored, x->n_views, plx__padded(m));
    for (plx_index v = 0; v < x->n_views; v++) {
        if (!is_used(set, &x->views[v])) continue;
        bytes += channel_bytes(run, &x->views[v], m, several) - 8 * padded * (n - scored);
        slabs = fmax(slabs, slab_bytes(run, &x->views[v], m));
    }
    return bytes + slabs;
}

static double bytes_of_a_pane(const plx__run *run)
{
    double pane = fmin((double)run->problem->n, 2.0 * PLX__PANE_ROWS);
    return bytes_with(run, pane, pane);
}

/* With the log-likelihoods of all samples of this process; each view would have a cut of its own. */
static double bytes_by_panes(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const coem_params *set = run->params;
    plx_index m = set->clusters > 0 ? set->clusters : plx__max(1, x->n_classes), most = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        plx__slabs cut = plx__mixture_cut_of(&view, 1, x->n, m).slabs;
        most = plx__max(most, plx__min(x->n, plx__slabs_most(run->ctx, cut) * cut.rows));
    }
    return bytes_with(run, (double)most, fmin((double)x->n, 2.0 * PLX__PANE_ROWS));
}

bool plx__coem_has_room(const plx__run *run, double taken)
{
    return !run->ctx->paging && bytes_by_panes(run) - taken <= plx__memory_left(run->ctx);
}

/* Views with variances, and joined ones, need all samples at once (plx__mixture_way). */
static bool is_whole(const plx__run *run)
{
    const plx__problem *x = run->problem;
    plx__likelihood likelihood = PLX__MULTINOMIAL;
    bool whole = joins(run->params) || (!run->ctx->paging && plx__ranks(run->ctx) == 1);
    for (plx_index v = 0; v < x->n_views && !whole; v++) {
        if (!is_used(run->params, &x->views[v])) continue;
        whole = plx__coem_likelihood(&likelihood, run, x->views[v].name, x->views[v].kind) != PLX_OK ||
                plx__has_variance(likelihood);
    }
    return whole;
}

static double memory(const plx__run *run)
{
    if (is_whole(run)) return bytes_with(run, (double)run->problem->n, (double)run->problem->n);
    return plx__coem_has_room(run, 0) ? bytes_by_panes(run) : bytes_of_a_pane(run);
}

/* Means or feature probabilities and variances of all components; rows of probabilities and priors sum to 1, directions
 * have length 1. */
static double free_parameters(const plx__store *store)
{
    double count = 0;
    for (const plx__array *a = store->first; a; a = a->next) {
        double entries = (double)a->dense.rows * (double)a->dense.cols;
        if (a->sparse) continue;
        if (plx__starts_with(a->name, "var.")) count += entries + (double)a->dense.rows;
        if (plx__starts_with(a->name, "theta.") || strcmp(a->name, "alpha") == 0)
            count += entries - (double)a->dense.rows;
    }
    return count;
}

static const plx__param_table tables[] = {param_specs, plx__row_params, plx__heldout_params, plx__uncovered_params,
                                          NULL};
static const char *const extra_views[] = {"concat", "merged", NULL};

const plx__method plx__method_coem = {
    .name = "coem",
    .title = "Mixture models from several views by co-EM",
    .summary = "One mixture per view, estimated so that the views' posteriors agree; clusters, or classifies from few "
               "labels and many unlabelled samples.",
    .citation = "bickel2005coem",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM |
                    PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PRESENT,
    .extra_views = extra_views,
    .params_size = sizeof(coem_params),
    .scores = "class probability",
    .growth = "linear",
    .checkpoints = true,
    .streams = plx__streams_always,
    .ranks = PLX__RANKS_SUMS,
    .own_rows = plx__coem_own_rows,
    .whose_rows = plx__coem_whose_rows,
    .own_results = true,
    .params = tables,
    .clusters_by = PLX__CLUSTERS_BIC,
    .clusters_array = "loglik",
    .free_parameters = free_parameters,
    .arrays = array_specs,
    .profiles = {.array = "theta.VIEW", .kind = PLX__PROFILE_LEVELS},
    .transform = "posterior",
    .view_scores = "posterior.VIEW",
    .memory_remedy =
        "use fewer components, fit fewer samples at a time (heldout, then predict) or raise the memory limit",
    .check = check,
    .memory = memory,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
