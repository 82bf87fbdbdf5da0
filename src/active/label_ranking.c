/*
 * Criteria for asking labels, from class scores alone.
 */
#include "active/label_ranking.h"

#include <math.h>
#include <string.h>

#include "active/batch.h"
#include "core/rng.h"
#include "linalg/distance.h"

enum { CONFIDENCE = 0, MARGIN = 1, ENTROPY = 2, DISAGREEMENT = 3, RANDOM = 4 };

const plx__param_spec plx__label_params[] = {
    {"criterion", PLX_PARAM_CHOICE, PLX__NO_FIELD, 0, "margin", 0, 0, "confidence|margin|entropy|disagreement|random",
     "Labels: what makes a sample worth asking about: a low largest probability, a small lead of the best class, a "
     "high entropy, views that disagree, or chance."},
    {"density_weight", PLX_PARAM_REAL, PLX__NO_FIELD, 0, "0", 0, INFINITY, NULL,
     "Labels: power of the sample's mean cosine with all samples that multiplies the criterion; larger prefers typical "
     "samples, 0 ignores them."},
    PLX__PARAM_END};

typedef struct ranking {
    plx__run *run;
    plx_context *ctx;
    const plx__method *of;
    int criterion;
    double power;
    plx_mat p;        /* n x C: probabilities of the whole */
    plx_mat *views;   /* per view n x C, zero row: no say; data NULL: none */
    plx_index n_told; /* views with scores of their own */
    double *typical;  /* n, or NULL */
} ranking;

/* ---- probabilities ---- */

static bool is_distribution(const double *row, plx_index n)
{
    double sum = 0;
    for (plx_index c = 0; c < n; c++) {
        if (!(row[c] >= 0)) return false;
        sum += row[c];
    }
    return fabs(sum - 1) < 1e-6;
}

static void softmax(double *row, plx_index n)
{
    double largest = -INFINITY, sum = 0;
    for (plx_index c = 0; c < n; c++) largest = fmax(largest, row[c]);
    for (plx_index c = 0; c < n; c++) sum += row[c] = exp(row[c] - largest);
    for (plx_index c = 0; c < n; c++) row[c] /= sum;
}

bool plx__are_probabilities(plx_cmat scores, bool zero_means_none)
{
    for (plx_index i = 0; i < scores.rows; i++) {
        const double *row = scores.data + i * scores.ld;
        bool none = zero_means_none && plx__max_abs(row, scores.cols) == 0;
        if (!none && !is_distribution(row, scores.cols)) return false;
    }
    return true;
}

void plx__soften(plx_mat scores, bool zero_means_none)
{
    for (plx_index i = 0; i < scores.rows; i++) {
        double *row = scores.data + i * scores.ld;
        if (!zero_means_none || plx__max_abs(row, scores.cols) > 0) softmax(row, scores.cols);
    }
}

plx_status plx__class_probabilities(plx_mat *out, plx_context *ctx, plx_cmat scores, bool zero_means_none)
{
    PLX_TRY(plx__mat_clone(out, plx__scratch(ctx), scores));
    if (!plx__are_probabilities(scores, zero_means_none)) plx__soften(*out, zero_means_none);
    return PLX_OK;
}

static plx_status open_scores(ranking *r)
{
    const plx__outcome *o = r->run->outcome;
    if (o->kind != PLX__OUTCOME_CLASSES || !o->scores.data || o->scores.cols != r->run->problem->n_classes)
        PLX_FAIL(r->ctx, PLX_E_ARG,
                 "acquire: %s gives no scores of classes with these settings; labels cannot be ranked", r->of->name);
    return plx__class_probabilities(&r->p, r->ctx, plx__cmat(o->scores), false);
}

/* ---- the views' own classifiers ---- */

static plx_status open_views(ranking *r)
{
    const plx__problem *p = r->run->problem;
    if (r->criterion != DISAGREEMENT) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&r->views, plx__scratch(r->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views && r->of->view_scores; v++) {
        const char *name = NULL;
        int stem = (int)strlen(r->of->view_scores) - 4; /* "...VIEW" */
        PLX_TRY(plx__arena_printf(&name, plx__scratch(r->ctx), "%.*s%s", stem, r->of->view_scores, p->views[v].name));
        const plx__array *a = plx__store_find(r->run->out, name);
        if (!a || a->sparse || a->dense.rows != p->n || a->dense.cols != p->n_classes) continue;
        PLX_TRY(plx__class_probabilities(&r->views[v], r->ctx, plx__cmat(a->dense), true));
        r->n_told++;
    }
    if (r->n_told >= 2) return PLX_OK;
    PLX_FAIL(r->ctx, PLX_E_ARG,
             "criterion = disagreement: %s has no classifiers of single views to compare; use margin or entropy",
             r->of->name);
}

static double entropy(const double *p, plx_index n)
{
    double sum = 0;
    for (plx_index c = 0; c < n; c++) sum -= p[c] > 0 ? p[c] * log(p[c]) : 0.0;
    return sum;
}

/* Entropy of the mean of the views' distributions minus the mean of their entropies. */
static double disagreement(const ranking *r, plx_index i, double *mean)
{
    plx_index classes = r->p.cols, count = 0;
    double own = 0;
    memset(mean, 0, (size_t)classes * sizeof *mean);
    for (plx_index v = 0; v < r->run->problem->n_views; v++) {
        if (!r->views[v].data) continue;
        const double *row = r->views[v].data + i * r->views[v].ld;
        if (plx__max_abs(row, classes) == 0) continue;
        plx__axpy(mean, 1.0, row, classes);
        own += entropy(row, classes);
        count++;
    }
    if (count < 2) return 0;
    plx__scale(mean, 1.0 / (double)count, classes);
    return fmax(entropy(mean, classes) - own / (double)count, 0.0);
}

/* ---- how typical a sample is ---- */

/* typical_i += u_i . mean of u over the samples that have the view, u = rows of unit length. */
static plx_status add_typical(ranking *r, const plx__view *v, double *count)
{
    plx_index n = r->run->problem->n;
    plx__points rows = v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense);
    double *norm = NULL, *mean = NULL;
    PLX_TRY(plx__arena_f64(&norm, plx__scratch(r->ctx), n, 1));
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(r->ctx), v->cols, 1));
    PLX_TRY(plx__points_norms_sq(r->ctx, rows, norm));
    for (int pass = 0; pass < 2; pass++)
        for (plx_index i = 0; i < n; i++) {
            double scale = v->present[i] && norm[i] > 0 ? 1.0 / sqrt(norm[i]) : 0.0, dot = 0;
            if (!v->present[i]) continue;
            const double *x = v->sparse ? v->csr.val + v->csr.ptr[i] : v->dense.data + i * v->dense.ld;
            plx_index entries = v->sparse ? v->csr.ptr[i + 1] - v->csr.ptr[i] : v->cols;
            for (plx_index e = 0; e < entries; e++) {
                plx_index at = v->sparse ? v->csr.col[v->csr.ptr[i] + e] : e;
                if (pass == 0) mean[at] += scale * x[e] / (double)v->present_count;
                else dot += scale * x[e] * mean[at];
            }
            if (pass == 0) continue;
            r->typical[i] += fmax(dot, 0.0);
            count[i]++;
        }
    return PLX_OK;
}

static plx_status open_typical(ranking *r)
{
    const plx__problem *p = r->run->problem;
    double *count = NULL;
    if (r->power == 0) return PLX_OK;
    PLX_TRY(plx__arena_f64(&r->typical, plx__scratch(r->ctx), p->n, 1));
    PLX_TRY(plx__arena_f64(&count, plx__scratch(r->ctx), p->n, 1));
    for (plx_index v = 0; v < p->n_views; v++)
        if (p->views[v].kind != PLX_VIEW_KERNEL) PLX_TRY(add_typical(r, &p->views[v], count));
    for (plx_index i = 0; i < p->n; i++) r->typical[i] = count[i] > 0 ? r->typical[i] / count[i] : 0.0;
    return PLX_OK;
}

/* ---- the criterion ---- */

double plx__margin_worth(const double *p, plx_index n)
{
    double first = 0, second = 0;
    for (plx_index c = 0; c < n; c++) {
        second = fmax(second, fmin(first, p[c]));
        first = fmax(first, p[c]);
    }
    return 1 - (first - second);
}

static double largest(const double *p, plx_index n)
{
    double first = 0;
    for (plx_index c = 0; c < n; c++) first = fmax(first, p[c]);
    return first;
}

static double worth(const ranking *r, plx_index i, double *mean)
{
    const double *p = r->p.data + i * r->p.ld;
    double value = r->criterion == CONFIDENCE     ? 1 - largest(p, r->p.cols)
                   : r->criterion == MARGIN       ? plx__margin_worth(p, r->p.cols)
                   : r->criterion == ENTROPY      ? entropy(p, r->p.cols)
                   : r->criterion == DISAGREEMENT ? disagreement(r, i, mean)
                                                  : plx__rng_uniform(r->ctx->seed, PLX__STREAM('l', 'a', 'b', 'r', 0),
                                                                     (uint64_t)r->run->problem->row[i]);
    return r->typical ? value * pow(r->typical[i], r->power) : value;
}

static bool is_candidate(const plx__problem *p, plx_index i)
{
    bool covered = false;
    for (plx_index v = 0; v < p->n_views; v++) covered |= p->views[v].present[i];
    return covered && !p->label_text[i];
}

/* ---- several at once ---- */

typedef struct several {
    const plx__candidate *list;
    const plx_index *sample; /* of every candidate */
    const double *alone;     /* information of every sample by itself */
    plx__spread *spread;
} several;

static plx_status again(double *information, void *arg, plx_index k)
{
    const several *s = arg;
    *information = s->alone[s->sample[k]] * plx__spread_left(s->spread, s->sample[k]);
    return PLX_OK;
}

static plx_status take(void *arg, plx_index k)
{
    const several *s = arg;
    return plx__spread_take(s->spread, s->sample[k]);
}

static plx_status pick_batch(ranking *r, plx__candidate *list, const plx_index *sample, plx_index count,
                             const double *alone)
{
    several s = {list, sample, alone, NULL};
    plx_index size = 0;
    PLX_TRY(plx__batch_size(&size, r->run));
    if (!size) return PLX_OK;
    PLX_TRY(plx__spread_open(&s.spread, r->run, size));
    return plx__batch_pick(&(plx__batch){r->run, list, count, again, take, &s}, size);
}

static plx_status list_candidates(ranking *r)
{
    const plx__problem *p = r->run->problem;
    plx__candidate *list = NULL;
    plx_index *sample = NULL;
    plx_index count = 0;
    double *mean = NULL, cost = 1;
    plx_mat gain;
    PLX_TRY(plx__label_cost(&cost, r->run));
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(r->ctx), p->n));
    PLX_TRY(plx__arena_i64(&sample, plx__scratch(r->ctx), p->n));
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(r->ctx), r->p.cols, 1));
    PLX_TRY(plx__store_new(&gain, r->run->out, "label_gain", p->n, 1));
    for (plx_index i = 0; i < p->n; i++) {
        bool open = is_candidate(p, i) && plx__may_acquire(r->run, i, -1);
        gain.data[i] = open ? worth(r, i, mean) : 0.0;
        if (!open) continue;
        sample[count] = i;
        list[count++] = (plx__candidate){p->row[i], -1, gain.data[i], cost, 0};
    }
    PLX_TRY(plx__require_finite(r->run, plx__cmat(gain), "label gains"));
    PLX_TRY(pick_batch(r, list, sample, count, gain.data));
    return plx__candidates_put(r->run, list, count);
}

plx_status plx__rank_labels(plx__run *run, const plx__method *of)
{
    ranking r = {.run = run, .ctx = run->ctx, .of = of};
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "criterion", NULL));
    r.criterion = value.word;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "density_weight", NULL));
    r.power = value.number;
    PLX_TRY(open_scores(&r));
    PLX_TRY(open_views(&r));
    PLX_TRY(open_typical(&r));
    return list_candidates(&r);
}

/* Probabilities, of every view for disagreement; candidates; norms and means while it is found how typical samples are; what
 * a batch is spread by. */
double plx__rank_labels_bytes(const plx__run *run)
{
    const plx__problem *p = run->problem;
    plx__value criterion = {.word = 0}, power = {.number = 0}, batch = {.number = 0};
    double n = (double)p->n, classes = (double)p->n_classes,
           bytes = n * (8 * classes + 2 * sizeof(plx__candidate) + 24);
    if (plx__view_value(&criterion, run->ctx, run->settings, "criterion", NULL) != PLX_OK) return bytes;
    if (plx__view_value(&power, run->ctx, run->settings, "density_weight", NULL) != PLX_OK) return bytes;
    if (plx__view_value(&batch, run->ctx, run->settings, "batch", NULL) != PLX_OK) return bytes;
    if (criterion.word == DISAGREEMENT) bytes += 8 * n * classes * (double)p->n_views;
    for (plx_index v = 0; v < p->n_views && power.number > 0; v++) bytes += 8 * (n + (double)p->views[v].cols);
    if (power.number > 0) bytes += 16 * n;
    return bytes + (batch.number > 0 ? plx__spread_bytes(run, batch.number) : 0);
}
