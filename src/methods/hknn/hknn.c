/*
 * hknn: an ensemble of K-local-hyperplane nearest-neighbour classifiers, one per subset of the views.
 *
 * The distance to a class is that to the hyperplane through the K nearest training samples of the class
 * (hknn_distance.c); members are chosen by their leave-one-out predictions (hknn_members.c, hknn_select.c) and combined
 * by vote or by comparing vectors of predictions with those of the training samples (hknn_combine.c).
 */
#include <math.h>
#include <string.h>

#include "core/tally.h"
#include "methods/hknn/hknn.h"
#include "methods/hknn/hknn_input.h"
#include "run/facts.h"

enum { GRID_VALUES = 1 << 20 };

static const plx__param_spec param_specs[] = {
    {"k", PLX_PARAM_REAL_OR_WORD, 0, offsetof(hknn_params, k), "5", 1, INFINITY, "cv",
     "Neighbours per class, or cv: chosen per subset by leave-one-out error; more smooths."},
    {"lambda", PLX_PARAM_REAL_OR_WORD, 0, offsetof(hknn_params, lambda), "1", 0, INFINITY, "cv",
     "Penalty on the position within the hyperplane, or cv; larger stays near the neighbours' mean."},
    PLX__REALS(hknn_params, k_grid, "3,5,7", 1, GRID_VALUES, NULL, "Neighbours tried by k=cv."),
    PLX__REALS(hknn_params, lambda_grid, "0.1,1,10", 0, INFINITY, NULL, "Penalties tried by lambda=cv."),
    PLX__CHOICE(hknn_params, distance, "penalised", "penalised|residual",
                "Distance to a hyperplane: the penalised minimum, or its squared residual alone."),
    PLX__CHOICE(hknn_params, balance, "view", "none|view",
                "view: every view is divided by its spread, so that one with many columns does not decide alone."),
    PLX__CHOICE(hknn_params, missing, "zero", "zero|all",
                "Samples a subset serves: those with at least one of its views, the others' values taken as 0, or "
                "those with all."),
    {"max_subset", PLX_PARAM_REAL_OR_WORD, 0, offsetof(hknn_params, max_subset), "m", 1, INFINITY, "m",
     "Most views in a subset, or m: all."},
    PLX__TEXT(
        hknn_params, select, "all",
        "Members: all, random, similar (in leave-one-out error), forward, or list:S1,S2,... with views joined by +."),
    PLX__INT(hknn_params, members, "9", 1, 65536, "Members of select=random and similar, at most of forward."),
    PLX__INT(hknn_params, start, "0", 0, 65536, "select=similar: rank of the first member; 0 is the lowest error."),
    PLX__TEXT(
        hknn_params, validation, "loo",
        "select=forward: judged by leave-one-out, or by file:F with a 1 per line for labelled samples kept aside."),
    PLX__CHOICE(hknn_params, combine, "vote", "crv|vote|auto",
                "How members are combined: nearest vectors of predictions, vote, or what errs less leaving one out."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"loo_error", "S x 1", 0, "Leave-one-out error of every subset, in the order of `subsets` in the result."},
    {"chosen", "M x 1", 0, "Number of every member's subset, in the order of the ensemble."},
    {"member_predictions", "n x M", 0,
     "Class number every member predicts, leave-one-out for training samples; -1: none."},
    {"scores", "n x c", 0, "Share of every class among the members, or among the nearest training vectors."},
    {"distances", "n x c", PLX__SOMETIMES, "Distance to every class; select=list with one subset only."},
    {"validation_error", "t x 1", PLX__SOMETIMES, "select=forward: error of the ensemble after every step."},
    {NULL, NULL, 0, NULL}};

/* ---- settings ---- */

static plx_status check_whole(plx_context *ctx, const char *name, double value)
{
    if (value != floor(value)) PLX_FAIL(ctx, PLX_E_ARG, "%s = %g: expected a whole number >= 1", name, value);
    return PLX_OK;
}

static plx_status check(plx__run *run)
{
    const hknn_params *p = run->params;
    static const char *const ways[] = {"all", "random", "similar", "forward"};
    bool known = plx__starts_with(p->select, "list:");
    for (int w = 0; w < 4; w++) known |= strcmp(p->select, ways[w]) == 0;
    if (!known)
        PLX_FAIL(run->ctx, PLX_E_ARG, "select = %s: expected all, random, similar, forward or list:S1,S2,...",
                 p->select);
    if (strcmp(p->validation, "loo") != 0 && !plx__starts_with(p->validation, "file:"))
        PLX_FAIL(run->ctx, PLX_E_ARG, "validation = %s: expected loo or file:F", p->validation);
    if (p->k.word < 0) PLX_TRY(check_whole(run->ctx, "k", p->k.number));
    for (plx_index i = 0; i < p->k_grid.n_list; i++) PLX_TRY(check_whole(run->ctx, "k_grid", p->k_grid.list[i]));
    if (p->k.word >= 0 && p->k_grid.n_list == 0) PLX_FAIL(run->ctx, PLX_E_ARG, "k = cv: k_grid is empty");
    if (p->lambda.word >= 0 && p->lambda_grid.n_list == 0)
        PLX_FAIL(run->ctx, PLX_E_ARG, "lambda = cv: lambda_grid is empty");
    return PLX_OK;
}

/* ---- who trains, who validates ---- */

typedef struct people {
    plx_index *train, n_train; /* grouped by class */
    plx_index *class_begin;
    int32_t *truth;          /* of the training samples */
    plx_index *held, n_held; /* validation samples */
    int32_t *held_truth;
    plx_index *place; /* n: place among the training samples, -1 */
} people;

static plx_status validation_flags(const uint8_t **out, const hknn *h)
{
    const plx__problem *x = h->run->problem;
    uint8_t *flags = NULL, *own = NULL;
    *out = NULL;
    if (strcmp(h->set->select, "forward") != 0 || strcmp(h->set->validation, "loo") == 0) return PLX_OK;
    PLX_TRY(
        plx__read_flags(&flags, h->ctx, plx__scratch(h->ctx), x->directory, h->set->validation, x->rows, "validation"));
    PLX_TRY(plx__arena_u8(&own, plx__scratch(h->ctx), x->n));
    for (plx_index i = 0; i < x->n; i++) own[i] = flags[x->row[i]];
    *out = own;
    return PLX_OK;
}

static plx_status sort_people(people *p, const hknn *h)
{
    const plx__problem *x = h->run->problem;
    plx__arena *scratch = plx__scratch(h->ctx);
    const uint8_t *aside = NULL;
    PLX_TRY(validation_flags(&aside, h));
    *p = (people){0};
    PLX_TRY(plx__arena_i64(&p->train, scratch, x->n_labelled));
    PLX_TRY(plx__arena_i64(&p->held, scratch, x->n_labelled));
    PLX_TRY(plx__arena_i64(&p->place, scratch, x->n));
    PLX_TRY(plx__arena_i64(&p->class_begin, scratch, h->classes + 1));
    PLX_TRY(plx__arena_i32(&p->truth, scratch, x->n_labelled));
    PLX_TRY(plx__arena_i32(&p->held_truth, scratch, x->n_labelled));
    for (plx_index i = 0; i < x->n; i++) {
        p->place[i] = -1;
        if (x->label[i] < 0 || !aside || !aside[i]) continue;
        p->held_truth[p->n_held] = x->label[i];
        p->held[p->n_held++] = i;
    }
    for (int32_t c = 0; c < h->classes; c++) {
        for (plx_index i = 0; i < x->n; i++) {
            if (x->label[i] != c || (aside && aside[i])) continue;
            p->place[i] = p->n_train;
            p->truth[p->n_train] = c;
            p->train[p->n_train++] = i;
        }
        p->class_begin[c + 1] = p->n_train;
    }
    if (p->n_train == 0)
        PLX_FAIL(h->ctx, PLX_E_DATA, "validation = %s: no labelled sample is left to learn from", h->set->validation);
    if (aside && p->n_held == 0)
        PLX_FAIL(h->ctx, PLX_E_DATA, "validation = %s: no labelled sample is marked 1", h->set->validation);
    return PLX_OK;
}

static plx_status validate(hknn_validation *out, const hknn *h, const people *p)
{
    int32_t *vectors = NULL, *every = NULL;
    *out = (hknn_validation){0};
    if (p->n_held == 0) return PLX_OK;
    PLX_TRY(plx__arena_i32(&vectors, plx__scratch(h->ctx), p->n_held * h->subsets.count));
    PLX_TRY(plx__arena_i32(&every, plx__scratch(h->ctx), h->subsets.count));
    for (plx_index s = 0; s < h->subsets.count; s++) every[s] = (int32_t)s;
    *out = (hknn_validation){p->n_held, vectors, p->held_truth};
    return plx__hknn_predict(vectors, NULL, h, p->held, p->n_held, every, h->subsets.count);
}

/* ---- outcome ---- */

static plx_status put_numbers(plx__store *out, const char *name, const int32_t *x, plx_index rows, plx_index cols)
{
    plx_mat m;
    PLX_TRY(plx__store_new(&m, out, name, rows, cols));
    for (plx_index i = 0; i < rows * cols; i++) m.data[i] = x[i];
    return PLX_OK;
}

/* Shares of the classes among the training samples, for samples that no member predicts. */
static void prior_row(double *row, const hknn *h)
{
    for (plx_index c = 0; c < h->classes; c++)
        row[c] = (double)(h->class_begin[c + 1] - h->class_begin[c]) / (double)h->train.n;
}

/* vectors: n x members; place: of every sample among the training samples, NULL: nobody is. */
static plx_status put_outcome(const hknn *h, const hknn_combiner *c, const int32_t *vectors, const plx_index *place)
{
    const plx__problem *x = h->run->problem;
    plx_mat scores;
    int32_t *label = NULL, *count = NULL;
    plx_index silent = 0, first = 0;
    PLX_TRY(plx__store_new(&scores, h->run->out, "scores", x->n, h->classes));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(h->ctx), x->n));
    PLX_TRY(plx__arena_i32(&count, plx__scratch(h->ctx), h->classes));
    for (plx_index i = 0; i < x->n; i++) {
        double *row = scores.data + i * scores.ld;
        label[i] = plx__hknn_combine(row, c, vectors + i * c->members, place ? place[i] : -1, count);
        if (label[i] >= 0) continue;
        if (silent++ == 0) first = i;
        label[i] = c->majority;
        prior_row(row, h);
    }
    if (silent)
        plx__warn_samples(h->ctx, silent, x->ids[first],
                          "hknn: no member serves " PLX__COUNT_HERE " samples, e.g. " PLX__FIRST_HERE
                          "; they get the most frequent class");
    return plx__outcome_classes(h->run, label, plx__cmat(scores));
}

/* Predictions of all samples; training samples are left out of their own neighbourhoods. `distances` of the only subset
 * when there is one by name. */
static plx_status predict_all(int32_t **vectors, const hknn *h, const int32_t *chosen, plx_index count)
{
    const plx__problem *x = h->run->problem;
    bool single = plx__starts_with(h->set->select, "list:") && count == 1;
    plx_index *every = NULL;
    plx_mat distances;
    PLX_TRY(plx__arena_i64(&every, plx__scratch(h->ctx), x->n));
    PLX_TRY(plx__arena_i32(vectors, plx__scratch(h->ctx), x->n * count));
    for (plx_index i = 0; i < x->n; i++) every[i] = i;
    if (single) {
        PLX_TRY(plx__store_new(&distances, h->run->out, "distances", x->n, h->classes));
        plx__mat_fill(distances, INFINITY);
    }
    PLX_TRY(plx__hknn_predict(*vectors, single ? &distances : NULL, h, every, x->n, chosen, count));
    return put_numbers(h->run->out, "member_predictions", *vectors, x->n, count);
}

/* ---- fitting ---- */

/* What new samples need: the training rows, their vectors, and the members. */
static plx_status keep_state(const hknn *h, const hknn_ensemble *e)
{
    plx__store *out = h->run->out;
    plx_mat member, setting, has, begin;
    double rule = e->combiner.vote;
    PLX_TRY(plx__store_new(&member, out, "_member_views", e->count, h->n_views));
    PLX_TRY(plx__store_new(&setting, out, "_member_settings", e->count, 2));
    PLX_TRY(plx__store_new(&has, out, "_train_has", h->train.n, h->n_views));
    PLX_TRY(plx__store_new(&begin, out, "_class_begin", 1, h->classes + 1));
    plx__mat_fill(member, 0.0);
    for (plx_index t = 0; t < e->count; t++) {
        plx_index s = e->chosen[t];
        for (plx_index p = h->subsets.ptr[s]; p < h->subsets.ptr[s + 1]; p++)
            member.data[t * member.ld + h->subsets.view[p]] = 1.0;
        setting.data[t * setting.ld] = (double)h->setting[s].k;
        setting.data[t * setting.ld + 1] = h->setting[s].lambda;
    }
    for (plx_index i = 0; i < h->train.n * h->n_views; i++) has.data[i] = h->train.has[i];
    for (plx_index c = 0; c <= h->classes; c++) begin.data[c] = (double)h->class_begin[c];
    PLX_TRY(plx__store_put(out, "_vote", (plx_cmat){&rule, 1, 1, 1}));
    PLX_TRY(put_numbers(out, "_vectors", e->vectors, h->train.n, e->count));
    return plx__hknn_keep_train(h);
}

static plx_status put_selection(const hknn *h, const hknn_ensemble *e)
{
    plx__store *out = h->run->out;
    PLX_TRY(plx__store_put(out, "loo_error", (plx_cmat){h->error, h->subsets.count, 1, 1}));
    PLX_TRY(put_numbers(out, "chosen", e->chosen, e->count, 1));
    if (e->n_trace) PLX_TRY(plx__store_put(out, "validation_error", (plx_cmat){e->trace, e->n_trace, 1, 1}));
    return plx__report_texts(h->run, "subsets", h->subsets.name, h->subsets.count);
}

static plx_status open_model(hknn *h, plx__run *run)
{
    const plx__problem *x = run->problem;
    *h = (hknn){.run = run, .ctx = run->ctx, .set = run->params, .n_views = x->n_views, .classes = x->n_classes};
    return plx__hknn_open_rows(h);
}

static plx_status fit(plx__run *run)
{
    hknn h;
    people p;
    hknn_validation validation;
    hknn_ensemble e;
    int32_t *vectors = NULL;
    PLX_TRY(open_model(&h, run));
    PLX_TRY(sort_people(&p, &h));
    PLX_TRY(plx__hknn_train_on(&h, p.train, p.n_train, p.class_begin));
    PLX_TRY(plx__hknn_subsets(&h));
    PLX_TRY(plx__hknn_leave_one_out(&h));
    PLX_TRY(validate(&validation, &h, &p));
    PLX_TRY(plx__hknn_select(&e, &h, &validation, p.truth));
    PLX_TRY(put_selection(&h, &e));
    PLX_TRY(keep_state(&h, &e));
    h.place = p.place;
    PLX_TRY(predict_all(&vectors, &h, e.chosen, e.count));
    return put_outcome(&h, &e.combiner, vectors, p.place);
}

/* ---- new samples ---- */

static plx_status load_members(hknn *h, int32_t **chosen, plx_index *count)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    plx_cmat member, setting;
    plx_index *ptr = NULL, n = 0;
    int32_t *view = NULL;
    PLX_TRY(plx__store_shaped(&member, h->ctx, h->run->fitted, "_member_views", -1, h->n_views));
    PLX_TRY(plx__store_shaped(&setting, h->ctx, h->run->fitted, "_member_settings", member.rows, 2));
    PLX_TRY(plx__arena_i64(&ptr, scratch, member.rows + 1));
    PLX_TRY(plx__arena_i32(&view, scratch, member.rows * h->n_views));
    PLX_TRY(PLX__ARENA_NEW(&h->setting, scratch, member.rows));
    PLX_TRY(plx__arena_i32(chosen, scratch, member.rows));
    for (plx_index t = 0; t < member.rows; t++) {
        for (plx_index v = 0; v < h->n_views; v++)
            if (member.data[t * member.ld + v] != 0) view[n++] = (int32_t)v;
        ptr[t + 1] = n;
        h->setting[t] = (hknn_setting){(plx_index)setting.data[t * setting.ld], setting.data[t * setting.ld + 1]};
        (*chosen)[t] = (int32_t)t;
        if (ptr[t + 1] == ptr[t] || h->setting[t].k < 1 || !(h->setting[t].lambda >= 0))
            PLX_FAIL(h->ctx, PLX_E_FORMAT, "the model's member %lld cannot be right", (long long)t);
    }
    h->subsets = (hknn_subsets){.count = member.rows, .ptr = ptr, .view = view};
    *count = member.rows;
    return PLX_OK;
}

/* Training vectors and classes of the ensemble. */
static plx_status load_combiner(hknn_combiner *c, const hknn *h, plx_index members)
{
    plx_cmat stored;
    int32_t *vectors = NULL, *truth = NULL;
    double vote = 0;
    PLX_TRY(plx__store_scalar(&vote, h->ctx, h->run->fitted, "_vote"));
    PLX_TRY(plx__store_shaped(&stored, h->ctx, h->run->fitted, "_vectors", h->train.n, members));
    PLX_TRY(plx__arena_i32(&vectors, plx__scratch(h->ctx), h->train.n * members));
    PLX_TRY(plx__arena_i32(&truth, plx__scratch(h->ctx), h->train.n));
    for (plx_index i = 0; i < h->train.n * members; i++) {
        if (!(stored.data[i] >= -1 && stored.data[i] < (double)h->classes))
            PLX_FAIL(h->ctx, PLX_E_FORMAT, "the model's predictions are out of range");
        vectors[i] = (int32_t)stored.data[i];
    }
    for (int32_t k = 0; k < h->classes; k++)
        for (plx_index i = h->class_begin[k]; i < h->class_begin[k + 1]; i++) truth[i] = k;
    *c = (hknn_combiner){h->train.n, members, h->classes, members, vectors, truth, vote != 0, plx__hknn_majority(h)};
    return PLX_OK;
}

static plx_status predict(plx__run *run)
{
    hknn h;
    hknn_combiner c;
    int32_t *chosen = NULL, *vectors = NULL;
    plx_index count = 0;
    PLX_TRY(open_model(&h, run));
    PLX_TRY(plx__hknn_load_train(&h));
    PLX_TRY(load_members(&h, &chosen, &count));
    PLX_TRY(load_combiner(&c, &h, count));
    PLX_TRY(predict_all(&vectors, &h, chosen, count));
    return put_outcome(&h, &c, vectors, NULL);
}

/* ---- descriptor ---- */

/* Scaled rows and their balanced copies, distances between training samples per view and of a block of samples, and
 * the predictions of all subsets. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const hknn_params *p = run->params;
    double n = (double)x->n, l = (double)x->n_labelled, m = (double)x->n_views, rows = 0, cols = 0;
    double subsets = pow(2, fmin(m, 16)), members = fmin(subsets, (double)p->members);
    double k = p->k.word < 0 ? p->k.number : 7;
    for (plx_index v = 0; v < x->n_views; v++) {
        rows += plx__prepared_bytes(run, v);
        cols += (double)x->views[v].cols;
    }
    if (strcmp(p->select, "all") == 0) members = subsets;
    return 2 * rows + 16 * l * cols + 8 * m * l * (l + fmin(n, 512)) + 4 * l * subsets + 12 * (n + l) * members +
           plx__hknn_work_bytes(l, (double)x->n_classes, k) * 8 + 8 * n * (double)x->n_classes + 1e6;
}

static const plx__param_table tables[] = {param_specs,           plx__scale_params,   plx__uncovered_params,
                                          plx__zero_rows_params, plx__heldout_params, NULL};

const plx__method plx__method_hknn = {
    .name = "hknn",
    .title = "Hyperplane nearest neighbours over subsets of the views",
    .summary = "An ensemble of K-local-hyperplane nearest-neighbour classifiers, one per subset of the views.",
    .citation = "okun2005views",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .min_classes = 2,
    .leave_one_out = true,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .scale_by_labelled = true,
    .uncovered = PLX__UNCOVERED_PRIOR,
    .prior_array = "scores",
    .params_size = sizeof(hknn_params),
    .scores = "share of the votes for the class",
    .growth = "quadratic",
    .params = tables,
    .arrays = array_specs,
    .transform = "scores",
    .memory = memory,
    .memory_remedy = "label fewer samples or set a smaller max_subset",
    .check = check,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
