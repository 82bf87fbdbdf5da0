/*
 * Classes are those of the known labels and of the answers, in byte order.
 */
#include "explain/quality.h"

#include <math.h>
#include <string.h>

#include "core/number.h"
#include "data/classes.h"

enum { BINS = 10 };

/* ---- what is known ---- */

plx_status plx__judge(plx__judged *out, plx_context *ctx, const plx_dataset *data, const plx__outcome *answers)
{
    *out = (plx__judged){.n = answers->n, .answer = (const char *const *)answers->label};
    out->numbers = answers->kind == PLX__OUTCOME_NUMBERS;
    out->known = data->truth ? data->truth : data->labels;
    if (answers->scores.data && answers->kind == PLX__OUTCOME_CLASSES) {
        out->scores = plx__cmat(answers->scores);
        out->columns = answers->columns;
    }
    for (plx_index i = 0; out->known && i < out->n; i++) out->samples += out->known[i] != NULL;
    out->clusters = out->samples && answers->kind == PLX__OUTCOME_CLUSTERS;
    if (out->clusters) return plx__cross(&out->crossing, ctx, out->known, out->answer, out->n);
    if (out->samples) return PLX_OK;
    out->own = true;
    out->known = out->answer;
    for (plx_index i = 0; i < out->n; i++) out->samples += out->known && out->known[i] != NULL;
    return PLX_OK;
}

static bool number_of(double *out, const char *text) { return text && plx__parse_double(out, text); }

static double variance_of(const plx__judged *j)
{
    double sum = 0, squares = 0, count = 0, x = 0;
    for (plx_index i = 0; i < j->n; i++)
        if (number_of(&x, j->known[i])) sum += x, count++;
    double mean = count > 0 ? sum / count : 0;
    for (plx_index i = 0; i < j->n; i++)
        if (number_of(&x, j->known[i])) squares += (x - mean) * (x - mean);
    return count > 0 ? squares / count : 0;
}

plx_status plx__rightness(double *out, plx_context *ctx, const plx__judged *j, const char *const *answer)
{
    double spread = j->numbers ? variance_of(j) : 1;
    (void)ctx;
    for (plx_index i = 0; i < j->n; i++) {
        double x = 0, y = 0;
        out[i] = NAN;
        if (!j->known || !j->known[i]) continue;
        const char *said = j->clusters ? plx__class_of_cluster(&j->crossing, answer[i]) : answer[i];
        if (!j->numbers) out[i] = said && strcmp(said, j->known[i]) == 0;
        else if (number_of(&x, j->known[i]) && number_of(&y, answer[i]) && spread > 0)
            out[i] = 1 - (x - y) * (x - y) / spread;
    }
    return PLX_OK;
}

void plx__mean_error(const double *x, plx_index n, double *mean, double *error)
{
    double sum = 0, squares = 0, count = 0;
    for (plx_index i = 0; i < n; i++)
        if (!isnan(x[i])) sum += x[i], count++;
    *mean = count > 0 ? sum / count : NAN;
    for (plx_index i = 0; i < n; i++)
        if (!isnan(x[i])) squares += (x[i] - *mean) * (x[i] - *mean);
    *error = count > 1 ? sqrt(squares / (count - 1) / count) : NAN;
}

/* ---- classes ---- */

typedef struct counted {
    const char *const *name;
    plx_index classes;
    double *cell; /* known x answer */
} counted;

static plx_index class_of(const counted *c, const char *label)
{
    for (plx_index k = 0; label && k < c->classes; k++)
        if (strcmp(c->name[k], label) == 0) return k;
    return -1;
}

static plx_status count_classes(counted *c, plx_context *ctx, plx__arena *keep, const plx__judged *j)
{
    const char **all = NULL;
    PLX_TRY(PLX__ARENA_NEW(&all, plx__scratch(ctx), 2 * j->n));
    for (plx_index i = 0; i < j->n; i++) {
        all[i] = j->known[i];
        all[j->n + i] = j->known[i] ? j->answer[i] : NULL;
    }
    PLX_TRY(plx__class_names(&c->name, &c->classes, ctx, keep, (const char *const *)all, NULL, 2 * j->n));
    PLX_TRY(plx__arena_f64(&c->cell, plx__scratch(ctx), c->classes, c->classes));
    for (plx_index i = 0; i < j->n; i++) {
        plx_index known = class_of(c, j->known[i]), answer = class_of(c, j->answer[i]);
        if (known >= 0 && answer >= 0) c->cell[known * c->classes + answer]++;
    }
    return PLX_OK;
}

static plx_status put_confusion(plx_explanation *e, plx_context *ctx, const counted *c)
{
    plx__section *s = NULL;
    plx__cell *row = NULL;
    PLX_TRY(plx__section_add(&s, e, "confusion", "Known class by answer", "known"));
    for (plx_index k = 0; k < c->classes; k++) PLX_TRY(plx__section_column(s, c->name[k]));
    PLX_TRY(PLX__ARENA_NEW(&row, plx__scratch(ctx), c->classes + 1));
    for (plx_index k = 0; k < c->classes; k++) {
        row[0] = plx__cell_text(c->name[k]);
        for (plx_index a = 0; a < c->classes; a++) row[1 + a] = plx__cell_number(c->cell[k * c->classes + a]);
        PLX_TRY(plx__section_row(s, row));
    }
    return PLX_OK;
}

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/* Returns the mean F1. */
static plx_status put_classes(double *macro, plx_explanation *e, const counted *c)
{
    plx__section *s = NULL;
    *macro = 0;
    PLX_TRY(plx__section_add(&s, e, "classes", "Quality by class", "class|samples|precision|recall|f1"));
    for (plx_index k = 0; k < c->classes; k++) {
        double right = c->cell[k * c->classes + k], known = 0, said = 0;
        for (plx_index a = 0; a < c->classes; a++) {
            known += c->cell[k * c->classes + a];
            said += c->cell[a * c->classes + k];
        }
        double p = ratio(right, said), r = ratio(right, known), f = ratio(2 * p * r, p + r);
        *macro += f / (double)c->classes;
        PLX_TRY(plx__section_row(s, (plx__cell[]){plx__cell_text(c->name[k]), plx__cell_number(known),
                                                  plx__cell_number(p), plx__cell_number(r), plx__cell_number(f)}));
    }
    return PLX_OK;
}

/* ---- scores that are probabilities ---- */

static bool are_probabilities(plx_cmat scores)
{
    for (plx_index i = 0; i < scores.rows; i++) {
        double sum = 0;
        for (plx_index c = 0; c < scores.cols; c++) {
            double p = scores.data[i * scores.ld + c];
            if (!(p >= 0 && p <= 1 + 1e-9)) return false;
            sum += p;
        }
        if (fabs(sum - 1) > 1e-6) return false;
    }
    return scores.rows > 0;
}

typedef struct calibrated {
    double log_loss, brier, gap; /* gap: expected calibration error */
    double count[BINS], sure[BINS], right[BINS], n;
} calibrated;

static void calibrate(calibrated *out, const plx__judged *j)
{
    *out = (calibrated){0};
    for (plx_index i = 0; i < j->n; i++) {
        const double *p = j->scores.data + i * j->scores.ld;
        plx_index known = -1, best = 0;
        double off = 0;
        if (!j->known[i]) continue;
        for (plx_index c = 0; c < j->scores.cols; c++) {
            if (strcmp(j->columns[c], j->known[i]) == 0) known = c;
            if (p[c] > p[best]) best = c;
        }
        if (known < 0) continue;
        for (plx_index c = 0; c < j->scores.cols; c++) off += (p[c] - (c == known)) * (p[c] - (c == known));
        int bin = (int)fmin(BINS - 1, floor(p[best] * BINS));
        out->n++;
        out->log_loss -= log(fmax(p[known], 1e-15));
        out->brier += off;
        out->count[bin]++;
        out->sure[bin] += p[best];
        out->right[bin] += best == known;
    }
    for (int b = 0; b < BINS; b++) out->gap += fabs(out->sure[b] - out->right[b]);
}

static plx_status put_calibration(plx_explanation *e, const calibrated *c)
{
    plx__section *s = NULL;
    PLX_TRY(plx__section_add(&s, e, "calibration", "Probability of the answer against how often it is right",
                             "from|to|samples|probability|right"));
    for (int b = 0; b < BINS; b++) {
        if (c->count[b] == 0) continue;
        PLX_TRY(plx__section_row(
            s, (plx__cell[]){plx__cell_number(b / (double)BINS), plx__cell_number((b + 1) / (double)BINS),
                             plx__cell_number(c->count[b]), plx__cell_number(c->sure[b] / c->count[b]),
                             plx__cell_number(c->right[b] / c->count[b])}));
    }
    return PLX_OK;
}

/* ---- by presence ---- */

static bool same_presence(const plx_dataset *d, plx_index a, plx_index b)
{
    for (plx_index v = 0; v < d->n_views; v++)
        if (d->views[v].present[a] != d->views[v].present[b]) return false;
    return true;
}

static plx_status presence_name(const char **out, plx_index *count, plx_context *ctx, const plx_dataset *d, plx_index i)
{
    *out = "";
    *count = 0;
    for (plx_index v = 0; v < d->n_views; v++) {
        if (!d->views[v].present[i]) continue;
        PLX_TRY(plx__arena_printf(out, plx__scratch(ctx), "%s%s%s", *out, *count ? "+" : "", d->views[v].name));
        ++*count;
    }
    if (!*count) *out = "none";
    return PLX_OK;
}

enum { MOST_PATTERNS = 64 };

static plx_status put_presence(plx_explanation *e, plx_context *ctx, const plx__judged *j, const plx_dataset *d,
                               const double *right)
{
    plx__section *s = NULL;
    double *some = NULL;
    plx_index first[MOST_PATTERNS], patterns = 0;
    PLX_TRY(plx__section_add(&s, e, "presence", "Quality by the views that are there",
                             "views|present|samples|right|error"));
    PLX_TRY(plx__arena_f64(&some, plx__scratch(ctx), j->n, 1));
    for (plx_index i = 0; i < j->n && patterns < MOST_PATTERNS; i++) {
        bool seen = false;
        for (plx_index k = 0; k < patterns && !seen; k++) seen = same_presence(d, first[k], i);
        if (seen || isnan(right[i])) continue;
        first[patterns++] = i;
        const char *name = NULL;
        plx_index count = 0, samples = 0;
        double mean = 0, error = 0;
        for (plx_index k = 0; k < j->n; k++) {
            some[k] = same_presence(d, i, k) ? right[k] : NAN;
            samples += !isnan(some[k]);
        }
        plx__mean_error(some, j->n, &mean, &error);
        PLX_TRY(presence_name(&name, &count, ctx, d, i));
        PLX_TRY(plx__section_row(s, (plx__cell[]){plx__cell_text(name), plx__cell_number((double)count),
                                                  plx__cell_number((double)samples), plx__cell_number(mean),
                                                  plx__cell_number(error)}));
    }
    return PLX_OK;
}

/* ---- all of it ---- */

/* Sets of labels have no confusion matrix. */
static bool any_sets(const plx__judged *j)
{
    for (plx_index i = 0; i < j->n; i++)
        if ((j->known[i] && strchr(j->known[i], '|')) || (j->answer[i] && strchr(j->answer[i], '|'))) return true;
    return false;
}

static plx_status put_number(plx__section *s, const char *name, double value, double error)
{
    return plx__section_row(s, (plx__cell[]){plx__cell_text(name), plx__cell_number(value), plx__cell_number(error)});
}

static plx_status put_class_sections(plx_explanation *e, plx_context *ctx, const plx__judged *j, plx__section *quality)
{
    counted c;
    calibrated p;
    double macro = 0;
    PLX_TRY(count_classes(&c, ctx, &e->arena, j));
    PLX_TRY(put_confusion(e, ctx, &c));
    PLX_TRY(put_classes(&macro, e, &c));
    PLX_TRY(put_number(quality, "macro_f1", macro, NAN));
    if (!j->scores.data || !are_probabilities(j->scores)) return PLX_OK;
    calibrate(&p, j);
    if (!(p.n > 0)) return PLX_OK;
    PLX_TRY(put_number(quality, "log_loss", p.log_loss / p.n, NAN));
    PLX_TRY(put_number(quality, "brier", p.brier / p.n, NAN));
    PLX_TRY(put_number(quality, "calibration_error", p.gap / p.n, NAN));
    return put_calibration(e, &p);
}

plx_status plx__explain_quality(plx_explanation *e, plx_context *ctx, const plx__judged *j, const plx_dataset *d)
{
    plx__section *s = NULL;
    double *right = NULL, mean = 0, error = 0;
    if (j->own || !j->samples) return PLX_OK;
    PLX_TRY(plx__arena_f64(&right, plx__scratch(ctx), j->n, 1));
    PLX_TRY(plx__rightness(right, ctx, j, j->answer));
    if (j->clusters) {
        PLX_TRY(plx__put_crossing(e, ctx, &j->crossing));
        return put_presence(e, ctx, j, d, right);
    }
    plx__mean_error(right, j->n, &mean, &error);
    PLX_TRY(plx__section_add(&s, e, "quality", "Quality", "metric|value|error"));
    PLX_TRY(plx__section_note(s,
                              "Of the %lld samples whose %s is known; of samples the model was fitted to, this is how "
                              "well it describes them.",
                              (long long)j->samples, j->numbers ? "value" : "class"));
    PLX_TRY(put_number(s, j->numbers ? "r2" : "accuracy", mean, error));
    if (!j->numbers && !any_sets(j)) PLX_TRY(put_class_sections(e, ctx, j, s));
    return put_presence(e, ctx, j, d, right);
}
