/*
 * A portfolio: members by the look of the data, tempered by how much they agree, averaged.
 */
#include "api/portfolio_impl.h"

#include <math.h>
#include <string.h>

#include "active/label_ranking.h"
#include "core/text.h"
#include "data/scale.h"
#include "eval/fit_metrics.h"
#include "eval/rule_check.h"
#include "methods/registry.h"

enum { MANY = 10000, MANY_LABELS = 5000, MOST_MEMBERS = 8, STEPS = 60 };

/* Which of them, and why (docs/guide/choosing.md has the figures). */
static const char *const THIN[] = {"coem", "mvkmeans", "corls", "gp", "hknn", "mvll", NULL};
static const char *const FULL[] = {"hknn", "gp", "mvll", "svm", "corls", NULL};
static const char *const LARGE_THIN[] = {"coem", "mvkmeans", "nb", "svm", NULL};
static const char *const LARGE_FULL[] = {"svm", "mvkmeans", "rls", "coem", NULL};

/* ---- members ---- */

const char *const *plx__portfolio_choice(const char **reason, const plx_dataset *data)
{
    plx_index thin = 0, labelled = 0;
    for (plx_index v = 0; v < data->n_views; v++) thin += plx__scale_auto(&data->views[v], NULL) != PLX__SCALE_ZSCORE;
    for (plx_index i = 0; data->labels && i < data->n; i++) labelled += data->labels[i] != NULL;
    bool large = data->n > MANY || labelled > MANY_LABELS;
    if (2 * thin > data->n_views) {
        *reason = large ? "most views are thin (words, links) and there are many samples: methods that grow with their "
                          "number alone"
                        : "most views are thin (words, links): methods that learn from samples without a label, and "
                          "neighbours";
        return large ? LARGE_THIN : THIN;
    }
    *reason = large ? "most views are full of numbers and there are many samples: methods that grow with their number "
                      "alone"
                    : "most views are full of numbers: neighbours, Gaussian processes and margins";
    return large ? LARGE_FULL : FULL;
}

static bool ends_all(plx_status st) { return st == PLX_E_CANCELLED || st == PLX_E_INTERNAL; }

static plx_status fit_member(plx_portfolio *p, plx_context *ctx, plx__member *m, const plx_dataset *data,
                             const char *directory)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_log_fn log = ctx->log;
    plx__note **tail = ctx->notes_tail;
    o.directory = directory;
    ctx->log = NULL; /* what one member is warned of is not about all of them */
    plx_status st = plx__fit(&m->model, ctx, m->method, data, NULL, &o, NULL);
    ctx->log = log;
    ctx->notes_tail = tail;
    *tail = NULL;
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (st == PLX_OK &&
        (m->model->fitted.outcome.kind != PLX__OUTCOME_CLASSES || !m->model->fitted.outcome.scores.data))
        st = plx__fail(ctx, PLX_E_UNSUPPORTED, "gives no scores of classes");
    if (st == PLX_OK || ends_all(st)) return st;
    plx_model_destroy(m->model);
    m->model = NULL;
    PLX_TRY(plx__arena_text(&m->reason, &p->arena, ctx->error));
    plx__clear_error(ctx);
    return PLX_OK;
}

static plx_status fit_members(plx_portfolio *p, plx_context *ctx, const plx_dataset *data, const char *directory)
{
    const char *const *names = plx__portfolio_choice(&p->reason, data);
    plx_index answers = 0;
    PLX_TRY(PLX__ARENA_NEW(&p->member, &p->arena, MOST_MEMBERS));
    for (; names[p->n_members]; p->n_members++) {
        plx__member *m = &p->member[p->n_members];
        *m = (plx__member){.agreement = NAN, .power = 1};
        PLX_TRY(plx__method_require(&m->method, ctx, names[p->n_members]));
        PLX_TRY(fit_member(p, ctx, m, data, directory));
        answers += m->model != NULL;
    }
    if (answers == 0) PLX_FAIL(ctx, PLX_E_DATA, "auto: no method takes these data: %s", p->member[0].reason);
    return PLX_OK;
}

/* All members have the classes of the labels, in one order; one that has others has no say. */
static plx_status take_classes(plx_portfolio *p, plx_context *ctx)
{
    const plx_model *first = NULL;
    const char **names = NULL;
    for (plx_index i = 0; i < p->n_members; i++) {
        plx__member *m = &p->member[i];
        if (!m->model) continue;
        if (!first) first = m->model;
        bool same = m->model->n_classes == first->n_classes && m->model->fitted.outcome.scores.cols == first->n_classes;
        for (plx_index k = 0; same && k < first->n_classes; k++)
            same = strcmp(m->model->classes[k], first->classes[k]) == 0;
        if (same) continue;
        plx_model_destroy(m->model);
        m->model = NULL;
        m->reason = "its classes are not those of the others";
    }
    p->n_classes = first->n_classes;
    PLX_TRY(PLX__ARENA_NEW(&names, &p->arena, p->n_classes));
    for (plx_index k = 0; k < p->n_classes; k++) PLX_TRY(plx__arena_text(&names[k], &p->arena, first->classes[k]));
    p->classes = names;
    (void)ctx;
    return PLX_OK;
}

/* ---- tempering ---- */

static bool same_label(const plx__outcome *a, const plx__outcome *b, plx_index i)
{
    return a->label[i] && b->label[i] && strcmp(a->label[i], b->label[i]) == 0;
}

/* Samples without a label count; all of them where every one has. */
static void measure_agreement(plx_portfolio *p, plx_index n, bool all)
{
    for (plx_index a = 0; a < p->n_members; a++) {
        double sum = 0, count = 0;
        for (plx_index b = 0; p->member[a].model && b < p->n_members; b++) {
            if (a == b || !p->member[b].model) continue;
            for (plx_index i = 0; i < n; i++) {
                if (p->seen[i] && !all) continue;
                sum += same_label(&p->member[a].model->fitted.outcome, &p->member[b].model->fitted.outcome, i);
                count++;
            }
        }
        if (count > 0) p->member[a].agreement = sum / count;
    }
}

/* p_k^power / sum, from logarithms so that nothing over- or underflows. */
static double temper_row(double *out, const double *row, plx_index classes, double power)
{
    double top = -INFINITY, sum = 0, largest = 0;
    for (plx_index k = 0; k < classes; k++) {
        out[k] = power * log(fmax(row[k], 1e-12));
        top = fmax(top, out[k]);
    }
    for (plx_index k = 0; k < classes; k++) {
        out[k] = exp(out[k] - top);
        sum += out[k];
    }
    for (plx_index k = 0; k < classes; k++) {
        out[k] /= sum;
        largest = fmax(largest, out[k]);
    }
    return largest;
}

static double sureness(plx_cmat prob, const uint8_t *skip, double power, double *row)
{
    double sum = 0, count = 0;
    for (plx_index i = 0; i < prob.rows; i++) {
        if (skip && skip[i]) continue;
        sum += temper_row(row, prob.data + i * prob.ld, prob.cols, power);
        count++;
    }
    return count > 0 ? sum / count : 1;
}

/* The power at which the mean of the largest probability is the agreement; it rises with the power. */
static plx_status temper(plx__member *m, plx_context *ctx, const uint8_t *skip, plx_index classes)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double low = -6, high = 6, *row = NULL;
    double wanted = fmin(0.98, fmax(1.0 / (double)classes + 0.02, m->agreement));
    plx_mat prob;
    if (isnan(m->agreement)) return PLX_OK;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), classes, 1));
    PLX_TRY(plx__class_probabilities(&prob, ctx, plx__cmat(m->model->fitted.outcome.scores), false));
    for (int step = 0; step < STEPS; step++) {
        double middle = (low + high) / 2;
        if (sureness(plx__cmat(prob), skip, exp(middle), row) < wanted) low = middle;
        else high = middle;
    }
    m->power = exp((low + high) / 2);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- the mean ---- */

static plx_status add_scores(plx_mat sum, plx_context *ctx, plx_cmat scores, double power)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *row = NULL;
    plx_mat prob;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), sum.cols, 1));
    PLX_TRY(plx__class_probabilities(&prob, ctx, scores, false));
    for (plx_index i = 0; i < sum.rows; i++) {
        temper_row(row, prob.data + i * prob.ld, sum.cols, power);
        for (plx_index k = 0; k < sum.cols; k++) sum.data[i * sum.ld + k] += row[k];
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* A prediction of its own, whose labels are the largest means; ties go to the first class. */
static plx_status open_prediction(plx_prediction **out, plx_context *ctx, const plx_portfolio *p, plx_index n)
{
    plx_prediction *q = plx__alloc(ctx, sizeof *q);
    *out = q;
    if (!q) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *q = (plx_prediction){.method = p->member[0].method};
    plx__arena_init(&q->arena, ctx);
    plx__store_init(&q->store, &q->arena);
    q->outcome.kind = PLX__OUTCOME_CLASSES;
    q->outcome.n = n;
    q->outcome.columns = p->classes;
    PLX_TRY(PLX__ARENA_NEW(&q->outcome.label, &q->arena, n));
    return plx__arena_mat(&q->outcome.scores, &q->arena, n, p->n_classes);
}

static void decide(plx_prediction *q, const plx_portfolio *p, plx_index voters)
{
    plx_mat s = q->outcome.scores;
    for (plx_index i = 0; i < s.rows; i++) {
        plx_index best = 0;
        double *row = s.data + i * s.ld;
        for (plx_index k = 0; k < s.cols; k++) {
            row[k] /= (double)voters;
            if (row[k] > row[best]) best = k;
        }
        q->outcome.label[i] = p->classes[best];
    }
}

static plx_status combine_fitted(plx_portfolio *p, plx_context *ctx, plx_index n)
{
    plx_index voters = 0;
    PLX_TRY(open_prediction(&p->fitted, ctx, p, n));
    for (plx_index i = 0; i < p->n_members; i++) {
        const plx__member *m = &p->member[i];
        if (!m->model) continue;
        PLX_TRY(add_scores(p->fitted->outcome.scores, ctx, plx__cmat(m->model->fitted.outcome.scores), m->power));
        voters++;
    }
    decide(p->fitted, p, voters);
    return PLX_OK;
}

static plx_status note_seen(plx_portfolio *p, const plx_dataset *data, bool *all)
{
    *all = true;
    PLX_TRY(plx__arena_u8(&p->seen, &p->arena, data->n));
    for (plx_index i = 0; i < data->n; i++) {
        p->seen[i] = data->labels && data->labels[i];
        *all &= p->seen[i];
    }
    return PLX_OK;
}

static plx_status fit_all(plx_portfolio *p, plx_context *ctx, const plx_dataset *data, const char *directory)
{
    bool all = true;
    if (!data->labels) PLX_FAIL(ctx, PLX_E_DATA, "auto: data set '%s' has no labels to learn from", data->name);
    PLX_TRY(fit_members(p, ctx, data, directory));
    PLX_TRY(take_classes(p, ctx));
    PLX_TRY(note_seen(p, data, &all));
    measure_agreement(p, data->n, all);
    for (plx_index i = 0; i < p->n_members; i++)
        if (p->member[i].model) PLX_TRY(temper(&p->member[i], ctx, all ? NULL : p->seen, p->n_classes));
    return combine_fitted(p, ctx, data->n);
}

plx_status plx__portfolio_fit(plx_portfolio **out, plx_context *ctx, const plx_dataset *data, const char *directory)
{
    plx_portfolio *p = plx__alloc(ctx, sizeof *p);
    *out = NULL;
    if (!p) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *p = (plx_portfolio){.n_members = 0};
    plx__arena_init(&p->arena, ctx);
    plx_status st = fit_all(p, ctx, data, directory);
    if (st == PLX_OK) *out = p;
    else plx__portfolio_destroy(p);
    return st;
}

void plx__portfolio_destroy(plx_portfolio *p)
{
    if (!p) return;
    plx_context *ctx = p->arena.ctx;
    plx_prediction_destroy(p->fitted);
    for (plx_index i = 0; i < p->n_members; i++) plx_model_destroy(p->member[i].model);
    if (p->member && p->n_members < MOST_MEMBERS)
        plx_model_destroy(p->member[p->n_members].model); /* one that failed */
    plx__arena_free(&p->arena);
    plx__release(ctx, p, sizeof *p);
}

/* ---- new samples ---- */

static plx_status add_member(plx_prediction *q, plx_context *ctx, const plx__member *m, const plx_dataset *data,
                             plx_index *voters)
{
    plx_prediction *own = NULL;
    if (!m->model || !m->method->predict) return PLX_OK;
    PLX_TRY(plx__predict(&own, ctx, m->model, data, NULL, data->n, NULL, 0));
    plx_status st = add_scores(q->outcome.scores, ctx, plx__cmat(own->outcome.scores), m->power);
    plx_prediction_destroy(own);
    *voters += 1;
    return st;
}

plx_status plx__portfolio_predict(plx_prediction **out, plx_context *ctx, const plx_portfolio *p,
                                  const plx_dataset *data)
{
    plx_prediction *q = NULL;
    plx_index voters = 0;
    *out = NULL;
    plx_status st = open_prediction(&q, ctx, p, data->n);
    for (plx_index i = 0; st == PLX_OK && i < p->n_members; i++) st = add_member(q, ctx, &p->member[i], data, &voters);
    if (st == PLX_OK && voters == 0) st = plx__fail(ctx, PLX_E_UNSUPPORTED, "auto: no member can label new samples");
    if (st == PLX_OK) decide(q, p, voters);
    if (st == PLX_OK) *out = q;
    else plx_prediction_destroy(q);
    return st;
}

plx_status plx__portfolio_measure(plx_metrics *metrics, plx_context *ctx, const plx_prediction *prediction,
                                  const uint8_t *seen, const plx_dataset *data)
{
    const plx__outcome *o = &prediction->outcome;
    plx__fit_outcome about = {.kind = PLX__FIT_CLASSIFIER,
                              .n = o->n,
                              .truth = data->truth,
                              .pred = (const char *const *)o->label,
                              .seen = seen,
                              .scores = plx__cmat(o->scores),
                              .classes = o->columns,
                              .n_classes = o->scores.cols};
    plx_metrics_hierarchy h;
    if (data->n != o->n)
        PLX_FAIL(ctx, PLX_E_ARG, "the data set has %lld samples, the prediction %lld", (long long)data->n,
                 (long long)o->n);
    if (data->hierarchy) {
        PLX_TRY(plx__metrics_hierarchy(&h, plx__scratch(ctx), data->hierarchy));
        about.hierarchy = &h;
    }
    return plx__metrics_for_fit(metrics, &about);
}
