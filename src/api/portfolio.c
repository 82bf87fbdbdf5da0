/*
 * A portfolio: members by the look of the data, tempered by how much they agree, averaged.
 */
#include "api/portfolio_impl.h"

#include <math.h>
#include <string.h>

#include "active/label_ranking.h"
#include "api/advice.h"
#include "core/text.h"
#include "data/scale.h"
#include "linalg/dense.h"
#include "methods/registry.h"

enum { MANY = 10000, MANY_LABELS = 5000, STEPS = 60 };

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

plx_status plx__portfolio_open(plx_model *whole, plx_context *ctx)
{
    (void)ctx;
    PLX_TRY(PLX__ARENA_NEW(&whole->portfolio, &whole->arena, 1));
    *whole->portfolio = (plx__portfolio){.n_members = 0};
    return PLX__ARENA_NEW(&whole->portfolio->member, &whole->arena, PLX__MOST_MEMBERS);
}

void plx__portfolio_release(plx__portfolio *p)
{
    for (plx_index i = 0; p && i < p->n_members; i++) plx_model_destroy(p->member[i].model);
}

static plx__member *add_member(plx__portfolio *p, const plx__method *method)
{
    plx__member *m = &p->member[p->n_members++];
    *m = (plx__member){.method = method, .agreement = NAN, .power = 1};
    return m;
}

static bool ends_all(plx_status st) { return st == PLX_E_CANCELLED || st == PLX_E_INTERNAL; }

/* What one member is warned of is not about all of them. */
typedef struct silence {
    plx_log_fn log;
    plx__note **tail;
    plx__mark mark;
} silence;

static void silence_begin(silence *s, plx_context *ctx)
{
    *s = (silence){ctx->log, ctx->notes_tail, plx__arena_mark(plx__scratch(ctx))};
    ctx->log = NULL;
}

static void silence_end(const silence *s, plx_context *ctx)
{
    ctx->log = s->log;
    ctx->notes_tail = s->tail;
    *s->tail = NULL;
    plx__arena_rewind(plx__scratch(ctx), s->mark);
}

static plx_status fit_member(plx__member *m, plx_context *ctx, plx_model *whole, const plx_dataset *data,
                             const char *directory)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    silence quiet;
    o.directory = directory;
    silence_begin(&quiet, ctx);
    plx_status st = plx__fit(&m->model, ctx, m->method, data, NULL, &o, NULL);
    silence_end(&quiet, ctx);
    if (st == PLX_OK &&
        (m->model->fitted.outcome.kind != PLX__OUTCOME_CLASSES || !m->model->fitted.outcome.scores.data))
        st = plx__fail(ctx, PLX_E_UNSUPPORTED, "gives no scores of classes");
    if (st == PLX_OK || ends_all(st)) return st;
    plx_model_destroy(m->model);
    m->model = NULL;
    PLX_TRY(plx__arena_text(&m->reason, &whole->arena, ctx->error));
    plx__clear_error(ctx);
    return PLX_OK;
}

static plx_status fit_members(plx_model *whole, plx_context *ctx, const plx_dataset *data, const char *directory)
{
    plx__portfolio *p = whole->portfolio;
    const char *const *names = plx__portfolio_choice(&p->reason, data);
    plx_index answers = 0;
    for (; *names; names++) {
        const plx__method *method = NULL;
        PLX_TRY(plx__method_require(&method, ctx, *names));
        plx__member *m = add_member(p, method);
        PLX_TRY(fit_member(m, ctx, whole, data, directory));
        answers += m->model != NULL;
    }
    if (answers == 0) PLX_FAIL(ctx, PLX_E_DATA, "auto: no method takes these data: %s", p->member[0].reason);
    return PLX_OK;
}

/* All members have the classes of the labels, in one order; one that has others has no say. */
static const plx_model *agree_on_classes(plx__portfolio *p)
{
    const plx_model *first = NULL;
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
    return first;
}

/* Classes, and the views of the member that knows most of them; the members live as long as the whole. */
static void take_shape(plx_model *whole)
{
    const plx__portfolio *p = whole->portfolio;
    const plx_model *first = agree_on_classes(whole->portfolio), *widest = first;
    for (plx_index i = 0; i < p->n_members; i++)
        if (p->member[i].model && p->member[i].model->n_views > widest->n_views) widest = p->member[i].model;
    whole->classes = first->classes;
    whole->n_classes = first->n_classes;
    whole->hierarchy = first->hierarchy;
    whole->views = widest->views;
    whole->n_views = widest->n_views;
    whole->ignored = widest->ignored;
    whole->n_ignored = widest->n_ignored;
}

/* ---- tempering ---- */

static bool same_label(const plx__outcome *a, const plx__outcome *b, plx_index i)
{
    return a->label[i] && b->label[i] && strcmp(a->label[i], b->label[i]) == 0;
}

/* Samples that are not `seen` count; NULL: all of them. */
static void measure_agreement(plx__portfolio *p, const uint8_t *seen, plx_index n)
{
    for (plx_index a = 0; a < p->n_members; a++) {
        double sum = 0, count = 0;
        for (plx_index b = 0; p->member[a].model && b < p->n_members; b++) {
            if (a == b || !p->member[b].model) continue;
            for (plx_index i = 0; i < n; i++) {
                if (seen && seen[i]) continue;
                sum += same_label(&p->member[a].model->fitted.outcome, &p->member[b].model->fitted.outcome, i);
                count++;
            }
        }
        if (count > 0) p->member[a].agreement = sum / count;
    }
}

/* Whether scores are margins was settled by those of the fit: one new sample must not decide it anew. */
static plx_status probabilities(plx_mat *out, plx_context *ctx, const plx__member *m, plx_cmat scores)
{
    PLX_TRY(plx__mat_clone(out, plx__scratch(ctx), scores));
    if (m->margins) plx__soften(*out, false);
    return PLX_OK;
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
    PLX_TRY(probabilities(&prob, ctx, m, plx__cmat(m->model->fitted.outcome.scores)));
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

static plx_status add_scores(plx_mat sum, plx_context *ctx, const plx__member *m, plx_cmat scores)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *row = NULL;
    plx_mat prob;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), sum.cols, 1));
    PLX_TRY(probabilities(&prob, ctx, m, scores));
    for (plx_index i = 0; i < sum.rows; i++) {
        temper_row(row, prob.data + i * prob.ld, sum.cols, m->power);
        for (plx_index k = 0; k < sum.cols; k++) sum.data[i * sum.ld + k] += row[k];
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Scores over the classes, all zero, and room for the labels. */
static plx_status open_answers(plx_prediction *q, plx__arena *arena, const plx_model *whole, plx_index n)
{
    q->outcome.kind = PLX__OUTCOME_CLASSES;
    q->outcome.n = n;
    q->outcome.columns = whole->classes;
    PLX_TRY(PLX__ARENA_NEW(&q->outcome.label, arena, n));
    return plx__arena_mat(&q->outcome.scores, arena, n, whole->n_classes);
}

/* The largest means; ties go to the first class. */
static void decide(plx_prediction *q, plx_index voters)
{
    plx_mat s = q->outcome.scores;
    for (plx_index i = 0; i < s.rows; i++) {
        plx_index best = 0;
        double *row = s.data + i * s.ld;
        for (plx_index k = 0; k < s.cols; k++) {
            row[k] /= (double)voters;
            if (row[k] > row[best]) best = k;
        }
        q->outcome.label[i] = q->outcome.columns[best];
    }
}

static plx_status combine_fitted(plx_model *whole, plx_context *ctx, plx_index n)
{
    const plx__portfolio *p = whole->portfolio;
    plx_index voters = 0;
    PLX_TRY(open_answers(&whole->fitted, &whole->arena, whole, n));
    for (plx_index i = 0; i < p->n_members; i++) {
        const plx__member *m = &p->member[i];
        if (!m->model) continue;
        PLX_TRY(add_scores(whole->fitted.outcome.scores, ctx, m, plx__cmat(m->model->fitted.outcome.scores)));
        voters++;
    }
    decide(&whole->fitted, voters);
    return PLX_OK;
}

/* ---- the fit ---- */

static plx_status note_seen(plx_model *whole, const plx_dataset *data, bool *all)
{
    uint8_t *seen = NULL;
    *all = true;
    PLX_TRY(plx__arena_u8(&seen, &whole->arena, data->n));
    for (plx_index i = 0; i < data->n; i++) {
        seen[i] = data->labels && data->labels[i];
        *all &= seen[i];
    }
    whole->seen = seen;
    whole->rows = whole->n_fitted = data->n;
    return PLX_OK;
}

/* What the members are weighed by, as arrays of the model. */
static plx_status keep_figures(plx_model *whole)
{
    const plx__portfolio *p = whole->portfolio;
    double agreement[PLX__MOST_MEMBERS], power[PLX__MOST_MEMBERS], margins[PLX__MOST_MEMBERS];
    for (plx_index i = 0; i < p->n_members; i++) {
        agreement[i] = p->member[i].agreement;
        power[i] = p->member[i].model ? p->member[i].power : NAN;
        margins[i] = p->member[i].margins;
    }
    PLX_TRY(plx__store_put(&whole->store, "agreement", (plx_cmat){agreement, p->n_members, 1, 1}));
    PLX_TRY(plx__store_put(&whole->store, "power", (plx_cmat){power, p->n_members, 1, 1}));
    return plx__store_put(&whole->store, "_margins", (plx_cmat){margins, p->n_members, 1, 1});
}

plx_status plx__portfolio_fit(plx_model *whole, plx_context *ctx, const plx_dataset *data, const char *directory)
{
    bool all = true;
    double started = plx__now(), used = plx__processor_time();
    if (!data->labels) PLX_FAIL(ctx, PLX_E_DATA, "auto: data set '%s' has no labels to learn from", data->name);
    PLX_TRY(plx__portfolio_open(whole, ctx));
    PLX_TRY(fit_members(whole, ctx, data, directory));
    take_shape(whole);
    PLX_TRY(note_seen(whole, data, &all));
    const uint8_t *skip = all ? NULL : whole->seen;
    measure_agreement(whole->portfolio, skip, data->n);
    for (plx_index i = 0; i < whole->portfolio->n_members; i++) {
        plx__member *m = &whole->portfolio->member[i];
        if (!m->model) continue;
        m->margins = !plx__are_probabilities(plx__cmat(m->model->fitted.outcome.scores), false);
        PLX_TRY(temper(m, ctx, skip, whole->n_classes));
    }
    PLX_TRY(combine_fitted(whole, ctx, data->n));
    PLX_TRY(keep_figures(whole));
    PLX_TRY(plx__advise_outcome(ctx, &whole->fitted.outcome));
    PLX_TRY(plx__take_notes(&whole->fitted.warnings, &whole->fitted.n_warnings, ctx, &whole->arena));
    whole->fitted.store = whole->store;
    whole->seconds = plx__now() - started;
    whole->processor_seconds = plx__processor_time() - used;
    return PLX_OK;
}

/* ---- new samples ---- */

static plx_status add_answers(plx_prediction *q, plx_context *ctx, const plx__member *m, const plx_dataset *data)
{
    plx_prediction *own = NULL;
    silence quiet;
    silence_begin(&quiet, ctx);
    plx_status st = plx__predict(&own, ctx, m->model, data, NULL, data->n, NULL, 0);
    if (st == PLX_OK) st = add_scores(q->outcome.scores, ctx, m, plx__cmat(own->outcome.scores));
    plx_prediction_destroy(own);
    silence_end(&quiet, ctx);
    return st;
}

plx_status plx__portfolio_answer(plx_prediction *out, plx_context *ctx, const plx_model *whole,
                                 const plx_dataset *matched)
{
    const plx__portfolio *p = whole->portfolio;
    plx_index voters = 0;
    PLX_TRY(open_answers(out, &out->arena, whole, matched->n));
    for (plx_index i = 0; i < p->n_members; i++) {
        if (!p->member[i].model || !p->member[i].method->predict) continue;
        PLX_TRY(add_answers(out, ctx, &p->member[i], matched));
        voters++;
    }
    if (voters == 0) PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "auto: no member can label new samples");
    decide(out, voters);
    return PLX_OK;
}
