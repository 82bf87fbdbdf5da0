/*
 * Offsets per class are found on the samples that were fitted and kept in the model: new samples are decided
 * by the same offsets.
 */
#include "run/decision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/dense.h"

/* One-sided 1 % of the normal distribution: how far shares must differ before chance no longer explains it. */
#define BEYOND_CHANCE 2.326
/* Of all samples that the largest class takes from others: what a user should hear of, and what auto mends. Shares of the
 * labels are none too certain themselves, so that less is better left alone. */
#define WORTH_A_WORD 0.1
#define WORTH_MENDING 0.25

#define DECISION_PARAMS(meaning)                                                                                       \
    {"decision",                                                                                                       \
     PLX_PARAM_CHOICE,                                                                                                 \
     PLX__NO_FIELD,                                                                                                    \
     0,                                                                                                                \
     "auto",                                                                                                           \
     0,                                                                                                                \
     0,                                                                                                                \
     "auto|argmax|share|centred",                                                                                      \
     "Largest score; scores shifted so that each class gets its share of the unlabelled samples; or largest score "    \
     "above the level each class is flat around. auto is " meaning "."},                                               \
    {                                                                                                                  \
        "class_prior", PLX_PARAM_REALS, PLX__NO_FIELD, 0, "labels", 0, 1, "labels",                                    \
            "Shares for decision=share: those among the labelled samples, or a list in class order."                   \
    }

const plx__param_spec plx__decision_params[] = {
    DECISION_PARAMS("argmax, and share where the largest class would swallow others"), PLX__PARAM_END};
const plx__param_spec plx__graph_decision_params[] = {
    DECISION_PARAMS("centred, and share where that loses the largest class"), PLX__PARAM_END};

/* by_itself: the setting is auto. */
static plx_status setting(plx__decision *out, bool *by_itself, plx__run *run)
{
    plx__value value;
    const plx__param_spec *spec = plx__param_find(run->settings->tables, "decision");
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "decision", NULL));
    *out = (plx__decision)value.word;
    *by_itself = value.word == 0;
    if (*by_itself) *out = spec == plx__graph_decision_params ? PLX__DECIDE_CENTRED : PLX__DECIDE_ARGMAX;
    return PLX_OK;
}

plx_status plx__decision_of(plx__decision *out, plx__run *run)
{
    bool by_itself;
    return setting(out, &by_itself, run);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear interpolation between order statistics; x is sorted, n >= 1. */
static double quantile(const double *x, plx_index n, double q)
{
    double at = q * (double)(n - 1), below = floor(at);
    plx_index i = (plx_index)below;
    return i + 1 < n ? x[i] + (at - below) * (x[i + 1] - x[i]) : x[n - 1];
}

static plx_status class_shares(double *share, plx__run *run)
{
    const plx__problem *p = run->problem;
    plx__value prior;
    PLX_TRY(plx__view_value(&prior, run->ctx, run->settings, "class_prior", NULL));
    if (prior.word < 0 && prior.n_list != p->n_classes)
        PLX_FAIL(run->ctx, PLX_E_ARG, "class_prior lists %lld shares for %lld classes", (long long)prior.n_list,
                 (long long)p->n_classes);
    for (plx_index i = 0; prior.word == 0 && i < p->n; i++)
        if (p->label[i] >= 0) share[p->label[i]] += 1.0 / (double)p->n_labelled;
    for (plx_index c = 0; prior.word < 0 && c < p->n_classes; c++) share[c] = prior.list[c];
    return PLX_OK;
}

/* Column c of the rows that count, of all processes: usable, and unlabelled unless `everybody`. */
static plx_status gather(plx_index *count, double *column, plx__run *run, plx_mat scores, plx_index c,
                         const uint8_t *usable, bool everybody)
{
    const plx__problem *p = run->problem;
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = begin; i < end; i++) column[i] = scores.data[i * scores.ld + c];
    PLX_TRY(plx__share_column(run, column));
    *count = 0;
    for (plx_index i = 0; i < p->n; i++)
        if (usable[i] && (everybody || p->label[i] < 0)) column[(*count)++] = column[i];
    return PLX_OK;
}

static plx_status share_offsets(plx_mat offset, plx__run *run, plx_mat scores, const uint8_t *usable)
{
    const plx__problem *p = run->problem;
    double *share = NULL, *column = NULL;
    PLX_TRY(plx__arena_f64(&share, plx__scratch(run->ctx), p->n_classes, 1));
    PLX_TRY(plx__arena_f64(&column, plx__scratch(run->ctx), p->n, 1));
    PLX_TRY(class_shares(share, run));
    for (plx_index c = 0; c < p->n_classes; c++) {
        plx_index count = 0;
        PLX_TRY(gather(&count, column, run, scores, c, usable, false));
        if (!count) {
            plx__warn(run->ctx,
                      "%s: decision=share needs unlabelled samples and there are none; the largest score decides",
                      run->method->name);
            return PLX_OK;
        }
        qsort(column, (size_t)count, sizeof *column, ascending);
        offset.data[c] = quantile(column, count, 1.0 - share[c]);
    }
    return PLX_OK;
}

static plx_status mean_offsets(plx_mat offset, plx__run *run, plx_mat scores, const uint8_t *usable)
{
    const plx__problem *p = run->problem;
    double *column = NULL;
    PLX_TRY(plx__arena_f64(&column, plx__scratch(run->ctx), p->n, 1));
    for (plx_index c = 0; c < p->n_classes; c++) {
        plx_index count = 0;
        PLX_TRY(gather(&count, column, run, scores, c, usable, false));
        if (!count) PLX_TRY(gather(&count, column, run, scores, c, usable, true));
        offset.data[c] = count ? plx__sum(column, count) / (double)count : 0.0;
    }
    return PLX_OK;
}

static plx_status offsets(plx_cmat *out, plx__run *run, plx__decision how, plx_mat scores, const uint8_t *usable)
{
    plx_mat offset;
    if (run->fitted) return plx__store_shaped(out, run->ctx, run->fitted, "_share", 1, scores.cols);
    PLX_TRY(plx__store_new(&offset, run->out, "_share", 1, scores.cols));
    if (how == PLX__DECIDE_SHARE) PLX_TRY(share_offsets(offset, run, scores, usable));
    else PLX_TRY(mean_offsets(offset, run, scores, usable));
    *out = plx__cmat(offset);
    return PLX_OK;
}

/* ---- shares that got lost ---- */

/* How often each class is among the labelled samples and among the labels found for the others. */
typedef struct tally {
    double *given, *found; /* n_classes */
    double labelled, unlabelled;
    plx_index largest; /* class with the most labels */
} tally;

static plx_status count_classes(tally *t, plx__run *run, const int32_t *label, const uint8_t *usable)
{
    const plx__problem *p = run->problem;
    PLX_TRY(plx__arena_f64(&t->given, plx__scratch(run->ctx), p->n_classes, 1));
    PLX_TRY(plx__arena_f64(&t->found, plx__scratch(run->ctx), p->n_classes, 1));
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = 0; i < p->n; i++)
        if (p->label[i] >= 0) t->given[p->label[i]]++;
    for (plx_index i = begin; i < end; i++)
        if (p->label[i] < 0 && usable[i]) t->found[label[i - begin]]++;
    PLX_TRY(plx__share_counts(run, t->found, p->n_classes));
    for (plx_index c = 0; c < p->n_classes; c++) {
        t->labelled += t->given[c];
        t->unlabelled += t->found[c];
        if (t->given[c] > t->given[t->largest]) t->largest = c;
    }
    return PLX_OK;
}

/* How much larger the share of the labels that the class with the most of them has is than its share of the labels found,
 * in deviations of two samples of one population; 0 where the labels do not say by themselves that the classes are of
 * unequal size: equal numbers are a plan, not a sample. */
static double largest_falls_short(const tally *t, plx_index n_classes)
{
    double l = t->labelled, u = t->unlabelled, equal = 1.0 / (double)n_classes;
    if (l < 1 || u < 1) return 0;
    double given = t->given[t->largest] / l, found = t->found[t->largest] / u;
    double both = (t->given[t->largest] + t->found[t->largest]) / (l + u);
    if (!(given - equal > BEYOND_CHANCE * sqrt(equal * (1 - equal) / l)) || !(both < 1)) return 0;
    return (given - found) / sqrt(both * (1 - both) * (1 / l + 1 / u));
}

static void subtract(const plx__run *run, plx_mat scores, plx_cmat offset, const uint8_t *usable)
{
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = begin; i < end; i++)
        if (usable[i]) plx__axpy(scores.data + i * scores.ld, -1.0, offset.data, scores.cols);
}

/* Every class gets its share of the unlabelled samples by one more constant per class, kept with the others. */
static plx_status restore_shares(plx__run *run, plx_mat scores, const uint8_t *usable)
{
    const plx__array *known = plx__store_find(run->out, "_share");
    plx_mat shift, kept;
    PLX_TRY(plx__arena_mat(&shift, plx__scratch(run->ctx), 1, scores.cols));
    PLX_TRY(share_offsets(shift, run, scores, usable));
    subtract(run, scores, plx__cmat(shift), usable);
    if (!known) return plx__store_put(run->out, "_share", plx__cmat(shift));
    kept = known->dense;
    plx__axpy(kept.data, 1.0, shift.data, scores.cols);
    return PLX_OK;
}

#define TRY_SHARE "if the labels were drawn at random, try decision=share"
#define SHARES_INSTEAD(setting) "every class gets its share of the labels instead (decision=" setting ": do not)"

static void warn_of_shares(plx__run *run, const tally *t, const char *who, const char *remedy)
{
    plx__warn(run->ctx, "%s: %s class '%s' %.0f %% of the unlabelled samples, but it has %.0f %% of the labels; %s",
              run->method->name, who, run->problem->classes[t->largest], 100 * t->found[t->largest] / t->unlabelled,
              100 * t->given[t->largest] / t->labelled, remedy);
}

static plx_status decide_by_shares(int32_t *label, plx__run *run, plx_mat scores, const uint8_t *usable)
{
    PLX_TRY(restore_shares(run, scores, usable));
    plx__argmax_rows(label, plx__kept_part(run, scores));
    return PLX_OK;
}

/* Few labels and many features let the largest class swallow the others, which nobody sees who only reads the labels: auto
 * gives every class its share then, and argmax that was asked for is only commented on. */
static plx_status mind_swallowing(int32_t *label, plx__run *run, plx_mat scores, const uint8_t *usable, bool by_itself)
{
    tally t = {0};
    PLX_TRY(count_classes(&t, run, label, usable));
    if (largest_falls_short(&t, scores.cols) >= -BEYOND_CHANCE) return PLX_OK;
    double taken = t.found[t.largest] / t.unlabelled - t.given[t.largest] / t.labelled;
    bool mend = by_itself && taken >= WORTH_MENDING;
    if (taken >= WORTH_A_WORD)
        warn_of_shares(run, &t, "the largest score gives", mend ? SHARES_INSTEAD("argmax") : TRY_SHARE);
    return mend ? decide_by_shares(label, run, scores, usable) : PLX_OK;
}

/* Smooth scores carry the sizes of the classes in their level, which centring takes away; mostly their shape is enough.
 * Where it is not, auto gives the sizes back and a centred decision that was asked for is only commented on. */
static plx_status mind_centring(int32_t *label, plx__run *run, plx_mat scores, const uint8_t *usable, bool by_itself)
{
    tally t = {0};
    PLX_TRY(count_classes(&t, run, label, usable));
    if (largest_falls_short(&t, scores.cols) <= BEYOND_CHANCE) return PLX_OK;
    warn_of_shares(run, &t, "centred scores give", by_itself ? SHARES_INSTEAD("centred") : TRY_SHARE);
    return by_itself ? decide_by_shares(label, run, scores, usable) : PLX_OK;
}

/* Are constants taken from the scores? Of a model: whatever its fit kept. */
static bool has_offsets(const plx__run *run, plx__decision how, bool centred)
{
    if (run->fitted) return plx__store_find(run->fitted, "_share") != NULL;
    return how == PLX__DECIDE_SHARE || (how == PLX__DECIDE_CENTRED && !centred);
}

plx_status plx__decide(int32_t *label, plx__run *run, plx_mat scores, const uint8_t *usable, bool centred)
{
    plx__decision how = PLX__DECIDE_ARGMAX;
    bool by_itself = false;
    plx_cmat offset;
    PLX_TRY(setting(&how, &by_itself, run));
    if (has_offsets(run, how, centred)) {
        PLX_TRY(offsets(&offset, run, how, scores, usable));
        subtract(run, scores, offset, usable);
    }
    plx__argmax_rows(label, plx__kept_part(run, scores));
    if (run->fitted || how == PLX__DECIDE_SHARE) return PLX_OK;
    if (how == PLX__DECIDE_ARGMAX) return mind_swallowing(label, run, scores, usable, by_itself);
    return mind_centring(label, run, scores, usable, by_itself);
}
