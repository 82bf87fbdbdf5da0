/*
 * cotrain: the learners of all views label unlabelled samples for each other (Blum and Mitchell 1998).
 *
 * In every round each view's learner is trained on the shared labelled set L and teaches the samples of a small pool
 * it is surest of, a few per class; they join L with the taught labels and the pool is refilled. One view: self-training.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ranks.h"
#include "core/rng.h"
#include "core/slabs.h"
#include "data/divided.h"
#include "methods/cotrain/cotrain.h"
#include "mixture/naive_bayes.h"
#include "mixture/row_scaling.h"
#include "mixture/softmax.h"

static const plx__param_spec param_specs[] = {
    PLX__CHOICE(ct_params, base, "nb", "nb|logistic|rls|svm|gp", "Learner of every view."),
    PLX__INT(ct_params, rounds, "30", 0, 1e9, "Most rounds; 0 trains on the given labels only."),
    PLX__INT(ct_params, pool, "75", 0, 1e15, "Samples in the pool the learners choose from; 0: all unlabelled ones."),
    PLX__REALS(ct_params, grow, "proportional", 1, 1e15, "proportional",
               "Samples taught per view, class and round: one integer, a list in class order, or proportional to the "
               "labelled samples of the class, at least one."),
    PLX__CHOICE(ct_params, pool_order, "random", "random|index", "Order in which unlabelled samples enter the pool."),
    PLX__CHOICE(ct_params, prior, "given", "given|taught",
                "nb: class prior from the given labels, the same in every view and round, or estimated anew from the "
                "labelled set of every round, where one class can come to take all."),
    PLX__REAL(ct_params, smoothing, "1", 0, INFINITY, "nb: pseudo-count per class and feature."),
    PLX__REAL(ct_params, prior_smoothing, "0", 0, INFINITY, "nb: pseudo-count per class in the prior."),
    PLX__REAL_ABOVE(ct_params, reg, "1", 0, "logistic, rls: weight of the squared norm; svm: 1/C. Larger is smoother."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"posterior", "n x K", 0, "Class probabilities: the mean over the views a sample has."},
    {"posterior.VIEW", "n x K", 0, "Class probabilities by one view alone; zero rows where it is missing."},
    {"added", "n x 3", 0,
     "Round in which the sample was labelled (0: given, -1: never), class index, index of the teaching view (-1: "
     "none)."},
    {NULL, NULL, 0, NULL}};

typedef struct choice { /* what a view would teach */
    double odds;
    plx_index sample;
    int32_t label, view;
} choice;

typedef struct cotraining {
    plx__run *run;
    plx_context *ctx;
    const ct_params *set;
    plx_index n, k, n_views;
    ct_learner *learner; /* n_views */
    int32_t *label;      /* n: L as a class or -1 */
    plx_mat added;       /* n x 3 */
    double *grow;        /* k */
    double *shares;      /* k: prior from the given labels */
    plx_index *queue;    /* unlabelled samples with a view, in pool order; [0, next) have entered the pool */
    plx_index queued, next;
    plx_index *pool, n_pool;
    choice *best; /* n: per sample, view -1: not selected */
} cotraining;

/* ---- opening ---- */

static plx_status count_labels(cotraining *t, plx_index *count)
{
    const plx__problem *p = t->run->problem;
    for (plx_index i = 0; i < t->n; i++)
        if (p->label[i] >= 0) count[p->label[i]]++;
    for (plx_index c = 0; c < t->k; c++)
        if (!count[c])
            PLX_FAIL(t->ctx, PLX_E_DATA, "cotrain: class '%s' has no labelled sample; label one or remove the class",
                     p->classes[c]);
    return PLX_OK;
}

/* Learners other than nb cannot leave a class out. */
static plx_status check_views(cotraining *t)
{
    const plx__problem *p = t->run->problem;
    uint8_t *seen = NULL;
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(t->ctx), t->k));
    for (plx_index v = 0; t->set->base != CT_NB && v < t->n_views; v++) {
        memset(seen, 0, (size_t)t->k);
        for (plx_index i = 0; i < t->n; i++)
            if (p->label[i] >= 0 && p->views[v].present[i]) seen[p->label[i]] = 1;
        for (plx_index c = 0; c < t->k; c++)
            if (!seen[c])
                PLX_FAIL(t->ctx, PLX_E_DATA,
                         "cotrain: no labelled sample of class '%s' has view '%s'; label one, or use base=nb",
                         p->classes[c], p->views[v].name);
    }
    return PLX_OK;
}

static plx_status read_grow(cotraining *t, const plx_index *count)
{
    const plx__value *grow = &t->set->grow;
    plx_index least = count[0];
    for (plx_index c = 1; c < t->k; c++) least = plx__min(least, count[c]);
    if (grow->word < 0 && grow->n_list != 1 && grow->n_list != t->k)
        PLX_FAIL(t->ctx, PLX_E_ARG, "grow = %s: lists %lld numbers for %lld classes", grow->text,
                 (long long)grow->n_list, (long long)t->k);
    for (plx_index c = 0; c < t->k; c++) {
        if (grow->word == 0) t->grow[c] = floor((double)count[c] / (double)least + 0.5);
        else t->grow[c] = grow->list[grow->n_list == 1 ? 0 : c];
        if (t->grow[c] != floor(t->grow[c]))
            PLX_FAIL(t->ctx, PLX_E_ARG, "grow = %s: must be integers >= 1, or proportional", grow->text);
    }
    return PLX_OK;
}

static bool has_view(const plx__problem *p, plx_index i)
{
    for (plx_index v = 0; v < p->n_views; v++)
        if (p->views[v].present[i]) return true;
    return false;
}

static void fill_pool(cotraining *t, plx_index count)
{
    for (; count > 0 && t->next < t->queued; count--) t->pool[t->n_pool++] = t->queue[t->next++];
}

static plx_status open_pool(cotraining *t)
{
    const plx__problem *p = t->run->problem;
    plx__rng rng = plx__rng_start(t->ctx->seed, PLX__STREAM('c', 'o', 't', 'r', 0));
    PLX_TRY(plx__arena_i64(&t->queue, plx__scratch(t->ctx), t->n));
    PLX_TRY(plx__arena_i64(&t->pool, plx__scratch(t->ctx), t->n));
    for (plx_index i = 0; i < t->n; i++)
        if (p->label[i] < 0 && has_view(p, i)) t->queue[t->queued++] = i;
    if (t->set->pool_order == CT_RANDOM) plx__shuffle(&rng, t->queue, t->queued);
    fill_pool(t, t->set->pool ? t->set->pool : t->queued);
    return PLX_OK;
}

/* The row of a sample in the array of the model, where its results stay here. */
static void record(cotraining *t, plx_index sample, plx_index round, int32_t label, int32_t view)
{
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, t->run);
    if (sample < begin || sample >= end) return;
    double *row = t->added.data + sample * t->added.ld;
    row[0] = (double)round;
    row[1] = label;
    row[2] = view;
}

static plx_status open_labels(cotraining *t)
{
    PLX_TRY(plx__sample_array(&t->added, t->run, "added", 3));
    PLX_TRY(plx__arena_i32(&t->label, plx__scratch(t->ctx), t->n));
    PLX_TRY(PLX__ARENA_NEW(&t->best, plx__scratch(t->ctx), t->n));
    for (plx_index i = 0; i < t->n; i++) {
        t->label[i] = t->run->problem->label[i];
        t->best[i].view = -1;
        record(t, i, t->label[i] >= 0 ? 0 : -1, t->label[i], -1);
    }
    return PLX_OK;
}

/* The nb learner sees counts whose long rows are shortened, the others the rows as they are. */
static plx_status open_views(const plx__view **out, plx__run *run)
{
    const plx__problem *p = run->problem;
    *out = p->views;
    if (((const ct_params *)run->params)->base != CT_NB) return PLX_OK;
    PLX_TRY(plx__require_counts(run, "base=gp or base=svm suits them"));
    return plx__scale_rows(out, run, plx__is_countlike);
}

static plx_status open_learners(cotraining *t, plx__run *run)
{
    const plx__view *views = NULL;
    *t = (cotraining){.run = run, .ctx = run->ctx, .set = run->params};
    t->n = run->problem->n;
    t->k = run->problem->n_classes;
    t->n_views = run->problem->n_views;
    PLX_TRY(open_views(&views, run));
    PLX_TRY(PLX__ARENA_NEW(&t->learner, plx__scratch(t->ctx), t->n_views));
    for (plx_index v = 0; v < t->n_views; v++) PLX_TRY(plx__ct_open_learner(&t->learner[v], run, &views[v]));
    return PLX_OK;
}

/* prior=given: (labelled samples of the class + prior_smoothing) / normaliser, whatever views they have. */
static plx_status share_prior(cotraining *t, const plx_index *count)
{
    double total = 0;
    if (t->set->base != CT_NB || t->set->prior != CT_GIVEN) return PLX_OK;
    PLX_TRY(plx__arena_f64(&t->shares, plx__scratch(t->ctx), t->k, 1));
    for (plx_index c = 0; c < t->k; c++) total += t->shares[c] = (double)count[c] + t->set->prior_smoothing;
    for (plx_index c = 0; c < t->k; c++) t->shares[c] /= total;
    for (plx_index v = 0; v < t->n_views; v++) t->learner[v].shares = t->shares;
    return PLX_OK;
}

static plx_status open_training(cotraining *t, plx__run *run)
{
    plx_index *count = NULL;
    PLX_TRY(open_learners(t, run));
    PLX_TRY(plx__arena_i64(&count, plx__scratch(t->ctx), t->k));
    PLX_TRY(plx__arena_f64(&t->grow, plx__scratch(t->ctx), t->k, 1));
    PLX_TRY(count_labels(t, count));
    PLX_TRY(share_prior(t, count));
    PLX_TRY(check_views(t));
    PLX_TRY(read_grow(t, count));
    PLX_TRY(open_labels(t));
    return open_pool(t);
}

/* ---- one round ---- */

/* Log-odds of the best class c: S_c - logsumexp of the others; -1 when no class has a score. */
static int32_t surest_class(double *odds, const double *s, plx_index k)
{
    double rest = -INFINITY, sum = 0;
    plx_index c = 0;
    for (plx_index j = 1; j < k; j++)
        if (s[j] > s[c]) c = j;
    for (plx_index j = 0; j < k; j++)
        if (j != c) rest = fmax(rest, s[j]);
    if (s[c] == -INFINITY) return -1;
    for (plx_index j = 0; j < k && rest > -INFINITY; j++)
        if (j != c) sum += exp(s[j] - rest);
    *odds = rest > -INFINITY ? s[c] - (rest + log(sum)) : INFINITY;
    return (int32_t)c;
}

/* By class, then the surest first, then the lower sample. */
static int by_rank(const void *x, const void *y)
{
    const choice *a = x, *b = y;
    if (a->label != b->label) return a->label < b->label ? -1 : 1;
    if (a->odds > b->odds || a->odds < b->odds) return a->odds > b->odds ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

/* The first grow_c of every class; a sample wanted by several views goes to the surest, then the first. */
static void take_best(cotraining *t, const choice *list, plx_index count)
{
    double taken = 0;
    for (plx_index i = 0; i < count; i++) {
        choice *best = &t->best[list[i].sample];
        if (i == 0 || list[i].label != list[i - 1].label) taken = 0;
        if (taken++ >= t->grow[list[i].label]) continue;
        if (best->view < 0 || list[i].odds > best->odds) *best = list[i];
    }
}

/* Have these rows fewer entries than the view has features? Of a divided view a process counts its own. */
static plx_status are_brief(bool *out, plx_context *ctx, const plx__view *v, const plx_index *rows, plx_index count)
{
    double entries = 0;
    for (plx_index i = 0; v->sparse && i < count; i++)
        entries += (double)(v->csr.ptr[rows[i] + 1] - v->csr.ptr[rows[i]]);
    PLX_TRY(plx__held_total(ctx, v, &entries, 1));
    *out = v->sparse && entries < (double)v->cols;
    return PLX_OK;
}

/* What the view would teach each of the samples; the rows are divided among the processes. */
static plx_status judge(cotraining *t, plx_index v, const plx_index *rows, plx_index count, choice *list)
{
    ct_learner *h = &t->learner[v];
    plx__slabs cut = plx__slabs_cut(count, PLX__PANE_ROWS);
    plx_index begin = 0, end = 0;
    plx__points points;
    plx_mat scores = {0};
    PLX_TRY(are_brief(&h->brief, t->ctx, h->view, rows, count));
    plx__slabs_mine(&begin, &end, t->ctx, cut);
    PLX_TRY(plx__ct_own_rows(&points, t->ctx, h->view, rows, count, cut));
    if (end > begin) {
        PLX_TRY(plx__arena_mat(&scores, plx__scratch(t->ctx), end - begin, t->k));
        PLX_TRY(plx__ct_score(h, t->run, points, scores));
    }
    for (plx_index i = begin; i < end; i++) {
        list[i] = (choice){.sample = rows[i], .view = (int32_t)v};
        list[i].label = surest_class(&list[i].odds, scores.data + (i - begin) * scores.ld, t->k);
    }
    return plx__slabs_share(t->ctx, cut, list, sizeof *list, 1);
}

static plx_status choose_by(cotraining *t, plx_index v)
{
    plx__arena *scratch = plx__scratch(t->ctx);
    const ct_learner *h = &t->learner[v];
    plx_index *rows = NULL, count = 0, kept = 0;
    choice *list = NULL;
    PLX_TRY(plx__arena_i64(&rows, scratch, t->n_pool));
    for (plx_index i = 0; i < t->n_pool; i++)
        if (h->view->present[t->pool[i]]) rows[count++] = t->pool[i];
    if (!count || !h->teaches) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&list, scratch, count));
    PLX_TRY(judge(t, v, rows, count, list));
    for (plx_index i = 0; i < count; i++)
        if (list[i].label >= 0) list[kept++] = list[i];
    qsort(list, (size_t)kept, sizeof *list, by_rank);
    take_best(t, list, kept);
    return PLX_OK;
}

/* Selected samples leave the pool for L; as many come in. */
static plx_status move_selected(cotraining *t, plx_index round, plx_index *count)
{
    plx__mark mark = plx__arena_mark(plx__scratch(t->ctx));
    plx_index kept = 0, moved = 0, *list = NULL;
    PLX_TRY(plx__arena_i64(&list, plx__scratch(t->ctx), t->n_pool));
    for (plx_index i = 0; i < t->n_pool; i++) {
        plx_index sample = t->pool[i];
        choice *c = &t->best[sample];
        if (c->view < 0) {
            t->pool[kept++] = sample;
            continue;
        }
        t->label[sample] = c->label;
        record(t, sample, round, c->label, c->view);
        list[moved++] = sample;
    }
    t->n_pool = kept;
    for (plx_index v = 0; v < t->n_views; v++)
        PLX_TRY(plx__ct_add_samples(&t->learner[v], t->run, list, moved, t->label));
    plx__arena_rewind(plx__scratch(t->ctx), mark);
    fill_pool(t, moved);
    *count = moved;
    return PLX_OK;
}

static plx_status train_all(cotraining *t)
{
    for (plx_index v = 0; v < t->n_views; v++) {
        PLX_TRY(plx__poll(t->ctx));
        PLX_TRY(plx__ct_train(&t->learner[v], t->run, t->label));
    }
    return PLX_OK;
}

/* Every view is trained and makes its choice; false when the time limit struck before the last one. */
static plx_status choose_all(cotraining *t, bool *complete)
{
    *complete = true;
    for (plx_index v = 0; v < t->n_views && *complete; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(t->ctx));
        PLX_TRY(plx__poll(t->ctx));
        PLX_TRY(plx__ct_train(&t->learner[v], t->run, t->label));
        PLX_TRY(choose_by(t, v));
        plx__arena_rewind(plx__scratch(t->ctx), mark);
        *complete = v + 1 == t->n_views || !plx__out_of_time(t->ctx);
    }
    return PLX_OK;
}

/* How teaching ended. */
typedef struct ending {
    plx_index rounds; /* in which samples were moved */
    bool exhausted;   /* nothing was left to teach */
    bool cut;         /* by the time limit; a round it interrupts teaches nothing */
} ending;

static plx_status teach(cotraining *t, ending *end)
{
    plx_index limit = t->set->rounds;
    *end = (ending){.exhausted = t->n_pool == 0};
    while (end->rounds < limit && !end->exhausted) {
        bool complete = false;
        end->cut = plx__out_of_time(t->ctx);
        if (!end->cut) PLX_TRY(choose_all(t, &complete));
        if (!complete) {
            end->cut = true;
            return PLX_OK;
        }
        plx_index moved = 0;
        PLX_TRY(move_selected(t, end->rounds + 1, &moved));
        end->exhausted = moved == 0 || t->n_pool == 0;
        end->rounds += moved > 0;
        PLX_TRY(plx__report(t->ctx, "round", plx__max(1, end->rounds), plx__max(1, limit), NAN));
    }
    return PLX_OK;
}

/* ---- the result ---- */

/* Class frequencies of L: what is known of a sample without any view. */
static plx_status keep_frequencies(cotraining *t)
{
    plx_mat f;
    double total = 0;
    PLX_TRY(plx__store_new(&f, t->run->out, "_frequencies", 1, t->k));
    for (plx_index i = 0; i < t->n; i++)
        if (t->label[i] >= 0) {
            f.data[t->label[i]] += 1;
            total++;
        }
    plx__mat_scale(f, 1.0 / total);
    return PLX_OK;
}

/* Posteriors by one view; each process has its own rows of it and of the joint ones. */
static plx_status view_posterior(cotraining *t, plx_index v, plx__slabs cut, plx_mat joint, int32_t *views)
{
    const ct_learner *h = &t->learner[v];
    const char *name = NULL;
    plx_index begin = 0, end = 0;
    plx_mat own;
    PLX_TRY(plx__view_key(&name, t->ctx, "posterior", h->view->name));
    PLX_TRY(plx__sample_array(&own, t->run, name, t->k));
    if (!h->able) return PLX_OK;
    plx__slabs_mine(&begin, &end, t->ctx, cut);
    if (end > begin)
        PLX_TRY(plx__ct_score(h, t->run, plx__points_range(plx__view_points(h->view), begin, end),
                              plx__sub(own, begin, 0, end - begin, t->k)));
    for (plx_index i = begin; i < end; i++) {
        double *row = own.data + i * own.ld;
        if (!h->view->present[i]) {
            memset(row, 0, (size_t)t->k * sizeof *row);
            continue;
        }
        plx__softmax_row(row, NULL, t->k);
        plx__axpy(joint.data + i * joint.ld, 1.0, row, t->k);
        views[i]++;
    }
    return plx__share_rows(t->run, cut, own);
}

static plx_status label_all(cotraining *t)
{
    plx_cmat frequency;
    plx_mat joint;
    int32_t *views = NULL, *label = NULL;
    plx_index begin = 0, end = 0;
    plx__slabs cut = plx__slabs_cut(t->n, PLX__PANE_ROWS);
    const plx__store *state = t->run->fitted ? t->run->fitted : t->run->out;
    PLX_TRY(plx__store_shaped(&frequency, t->ctx, state, "_frequencies", 1, t->k));
    PLX_TRY(plx__sample_array(&joint, t->run, "posterior", t->k));
    PLX_TRY(plx__arena_i32(&views, plx__scratch(t->ctx), t->n));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(t->ctx), plx__kept_count(t->run)));
    for (plx_index v = 0; v < t->n_views; v++) PLX_TRY(view_posterior(t, v, cut, joint, views));
    plx__slabs_mine(&begin, &end, t->ctx, cut);
    for (plx_index i = begin; i < end; i++) {
        double *row = joint.data + i * joint.ld;
        if (views[i]) plx__scale(row, 1.0 / views[i], t->k);
        else memcpy(row, frequency.data, (size_t)t->k * sizeof *row);
    }
    PLX_TRY(plx__share_rows(t->run, cut, joint));
    PLX_TRY(plx__require_finite(t->run, plx__cmat(joint), "posteriors"));
    plx__argmax_rows(label, plx__kept_part(t->run, joint));
    return plx__outcome_classes(t->run, label, plx__kept_part(t->run, joint));
}

static plx_status check(plx__run *run)
{
    static const char *const names[] = {"nb", "logistic", "rls", "svm", "gp"};
    int base = ((const ct_params *)run->params)->base;
    if (plx__ranks(run->ctx) > 1 && base != CT_NB)
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "cotrain: base = %s is not distributed: one process has to fit it; base = nb is", names[base]);
    return PLX_OK;
}

static plx_status fit(plx__run *run)
{
    cotraining t;
    ending end;
    PLX_TRY(open_training(&t, run));
    PLX_TRY(teach(&t, &end));
    for (plx_index v = 0; v < t.n_views; v++) t.learner[v].final = true;
    PLX_TRY(train_all(&t));
    PLX_TRY(keep_frequencies(&t));
    PLX_TRY(plx__finish(run, NULL, end.rounds, !end.cut, NAN));
    run->info->converged = end.exhausted; /* all rounds are what was asked for: no warning */
    return label_all(&t);
}

static plx_status predict(plx__run *run)
{
    cotraining t;
    plx_mat added;
    PLX_TRY(open_learners(&t, run));
    PLX_TRY(plx__store_new(&added, run->out, "added", t.n, 3));
    plx__mat_fill(added, -1.0);
    return label_all(&t);
}

/* Counts need only a process's rows, and the pool is a few. */
static bool own_rows(plx__run *run, const plx_dataset *data)
{
    (void)data;
    return ((const ct_params *)run->params)->base == CT_NB;
}

/* Samples that can be labelled in the end: the given ones, and what the rounds may teach. */
static double most_labelled(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const ct_params *set = run->params;
    double most = 0, views = (double)x->n_views, per_round = 0;
    for (plx_index g = 0; g < set->grow.n_list; g++) most = fmax(most, set->grow.list[g]);
    if (set->grow.word == 0) per_round = views * (double)x->n_labelled; /* proportional: at most n_c of class c */
    else per_round = views * most * (double)x->n_classes;
    if (set->pool) per_round = fmin(per_round, (double)set->pool);
    return fmin((double)x->n, (double)x->n_labelled + (double)set->rounds * per_round);
}

/* Rows taken out of a view. */
static double rows_bytes(const plx__view *v, double n, double rows)
{
    return v->sparse ? 12 * (double)v->nonzeros * rows / fmax(1, n) + 8 * rows : 8 * rows * (double)v->cols;
}

/* Training one view's learner on l samples. */
static double training_bytes(const plx__run *run, plx_index view, double l)
{
    const plx__view *v = &run->problem->views[view];
    double n = (double)run->problem->n, k = (double)run->problem->n_classes, p = (double)v->cols + 1;
    double rows = (v->sparse ? 3 : 2) * rows_bytes(v, n, l) + (v->sparse ? 44 * l + 8 * p : 8 * l) + 12 * n + 12 * p;
    double smaller = fmin(l, p);
    if (v->sparse) p = fmin(p, (double)v->nonzeros * l / fmax(1, n) + 1); /* columns in use */
    switch (((const ct_params *)run->params)->base) {
    case CT_NB: return 0;
    case CT_LOGISTIC: return rows + 8 * k * (11 * p + 2 * l);
    case CT_RLS: return rows + 8 * (smaller * smaller + k * (2 * p + 2 * l)) + (v->sparse ? 8 * l * smaller : 0);
    case CT_SVM: return rows + 8 * (k * p + 11 * p + 3 * l);
    default: return plx__ct_gp_bytes(run->problem, view) + 8 * n * k;
    }
}

/* Scoring the pool and, once, all samples. */
static double scoring_bytes(const plx__run *run, plx_index view)
{
    const ct_params *set = run->params;
    const plx__view *v = &run->problem->views[view];
    double n = (double)run->problem->n, k = (double)run->problem->n_classes;
    double pool = set->pool ? fmin((double)set->pool, n) : n;
    double tables = set->base == CT_NB ? 8 * k * (double)v->cols : 0;
    double copies = v->divided ? 2 : 1; /* as they come from other processes */
    return copies * rows_bytes(v, n, pool) + pool * (8 * k + (double)sizeof(choice) + 8) + tables;
}

static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    bool nb = ((const ct_params *)run->params)->base == CT_NB;
    double n = (double)x->n, k = (double)x->n_classes, bytes = 0, most = 0, l = most_labelled(run);
    double kept = (double)plx__kept_count(run);
    for (plx_index v = 0; v < x->n_views; v++) {
        bytes += 8 * k * ((double)x->views[v].cols + 1 + kept);
        most = fmax(most, fmax(training_bytes(run, v, l), scoring_bytes(run, v)));
    }
    return bytes + most + kept * (16 * k + 32) + n * (40 + (double)sizeof(choice)) +
           (nb ? plx__scale_rows_bytes(run, plx__is_countlike) : 0);
}

static const plx__param_table tables[] = {param_specs,         plx__row_params,       plx__zero_rows_params,
                                          plx__heldout_params, plx__uncovered_params, NULL};

const plx__method plx__method_cotrain = {
    .name = "cotrain",
    .title = "Co-training of the learners of all views",
    .summary =
        "Few labels and many unlabelled samples: every view's learner labels the samples it is surest of for all "
        "others, round by round; posteriors are averaged over views. One view: self-training.",
    .citation = "blum1998cotraining",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM |
                    PLX_IS_FOR_COUNTS,
    .min_views = 1,
    .min_classes = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .params_size = sizeof(ct_params),
    .scores = "class probability",
    .growth = "linear",
    .ranks = PLX__RANKS_SUMS, /* with base=nb */
    .streams = own_rows,
    .streams_with = "base=nb",
    .own_rows = own_rows,
    .whose_rows = plx__whose_panes,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .transform = "posterior",
    .view_scores = "posterior.VIEW",
    .memory = memory,
    .memory_remedy = "fit fewer samples at a time (heldout, then predict) or raise the memory limit",
    .check = check,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
