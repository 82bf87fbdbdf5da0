/*
 * Where EM starts: responsibilities from labels, at random, from k-means++ centres or a file; then one M step in every
 * channel from them.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "run/start_file.h"
#include "linalg/dense.h"
#include "methods/coem/coem.h"
#include "data/divided.h"
#include "data/row_parts.h"
#include "cluster/kmeanspp.h"

plx_status plx__coem_read_start(coem_start *out, const coem *m)
{
    static const char *const names[] = {"labels", "random", "kmeans++", "file:"};
    const char *text = m->set->init;
    char near[128];
    *out = m->seeded ? COEM_LABELS : COEM_KMEANSPP;
    if (!text[0]) return PLX_OK;
    for (int s = COEM_LABELS; s < COEM_FILE; s++)
        if (strcmp(text, names[s]) == 0) {
            *out = (coem_start)s;
            if (s == COEM_LABELS && !m->seeded)
                PLX_FAIL(m->ctx, PLX_E_ARG, "init = labels: no sample is labelled; use random, kmeans++ or file:F");
            return PLX_OK;
        }
    *out = COEM_FILE;
    if (plx__starts_with(text, "file:") && text[5]) return PLX_OK;
    PLX_FAIL(m->ctx, PLX_E_ARG, "init = %s: expected labels, random, kmeans++ or file:F%s", text,
             plx__suggest(near, sizeof near, text, names, COEM_FILE));
}

/* Responsibilities to start from, row by row: no array of samples x components is made for them. */
typedef struct beginning {
    coem_start from;
    plx_index restart;
    const int32_t *component; /* kmeans++: of every sample; -1: none */
    plx_mat given;            /* file: n x components */
} beginning;

/* ---- k-means++ ---- */

typedef struct spreading {
    coem *m;
    double **centre;     /* per channel: the newest centre, dense, and room for a count behind it */
    double *norm_sq;     /* per channel: its squared norm */
    bool *missing;       /* per channel: the newest centre lacks it */
    plx__row_part *part; /* per channel: unit rows, or the rows as they are */
    double *nearest;     /* n: mean distance to the nearest centre */
    int32_t *component;  /* n: whose centre that is; -1: none yet */
} spreading;

static bool directional(const coem_channel *ch) { return !plx__has_variance(ch->mix.set.likelihood); }

static bool has_channel(const void *arg, plx_index channel, plx_index sample)
{
    return ((const spreading *)arg)->m->channels[channel].view.present[sample];
}

/* 1 - cosine, or squared distance over the total variance of the view. A centre that lacks the view is at distance 1. */
static double distance(const void *arg, plx_index c, plx_index i)
{
    const spreading *q = arg;
    const coem_channel *ch = &q->m->channels[c];
    double total = ch->mix.total_variance;
    if (q->missing[c]) return 1;
    if (directional(ch)) return 1 - plx__part_dot(&q->part[c], i, q->centre[c]);
    return plx__view_row_dist_sq(&ch->view, i, q->centre[c], q->norm_sq[c]) / (total > 0 ? total : 1);
}

static plx_status open_spreading(spreading *q, coem *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    *q = (spreading){.m = m};
    PLX_TRY(PLX__ARENA_NEW(&q->centre, scratch, m->n_channels));
    PLX_TRY(PLX__ARENA_NEW(&q->missing, scratch, m->n_channels));
    PLX_TRY(PLX__ARENA_NEW(&q->part, scratch, m->n_channels));
    PLX_TRY(plx__arena_f64(&q->norm_sq, scratch, m->n_channels, 1));
    PLX_TRY(plx__arena_f64(&q->nearest, scratch, m->n, 1));
    PLX_TRY(plx__arena_i32(&q->component, scratch, m->n));
    for (plx_index i = 0; i < m->n; i++) q->component[i] = -1;
    for (plx_index c = 0; c < m->n_channels; c++) {
        const plx__view *v = &m->channels[c].view;
        PLX_TRY(plx__arena_f64(&q->centre[c], scratch, v->cols + 1, 1));
        PLX_TRY(plx__arena_f64(&q->part[c].factor, scratch, m->n, 1));
        q->part[c].view = v;
        for (plx_index i = plx__held_begin(v); i < plx__held_end(v, m->n); i++) {
            double norm = v->present[i] && directional(&m->channels[c]) ? plx__view_row_norm(v, i) : 1;
            if (v->present[i]) q->part[c].factor[i] = norm > 0 ? 1 / norm : 0;
        }
    }
    return PLX_OK;
}

/* The rows of one sample, or of all samples labelled `class`, summed up in their order. */
typedef struct centring {
    spreading *q;
    plx_index channel, sample;
    int32_t class;
    double *sum; /* cols, and the number of rows behind them */
} centring;

static void add_rows(void *arg)
{
    const centring *k = arg;
    const coem *m = k->q->m;
    const plx__view *v = &m->channels[k->channel].view;
    plx_index begin = plx__held_begin(v), end = plx__held_end(v, m->n);
    if (k->sample >= 0) {
        begin = plx__max(begin, k->sample);
        end = plx__min(end, k->sample + 1);
    }
    for (plx_index i = begin; i < end; i++) {
        if ((k->sample < 0 && m->label[i] != k->class) || !v->present[i]) continue;
        plx__part_add(k->sum, &k->q->part[k->channel], i);
        k->sum[v->cols]++;
    }
}

static plx_status set_centre(spreading *q, plx_index sample, int32_t class)
{
    coem *m = q->m;
    for (plx_index c = 0; c < m->n_channels; c++) {
        const plx__view *v = &m->channels[c].view;
        plx_index cols = v->cols;
        size_t bytes = (size_t)(cols + 1) * sizeof *q->centre[c];
        centring k = {q, c, sample, class, q->centre[c]};
        memset(q->centre[c], 0, bytes);
        PLX_TRY(plx__held_chain(m->ctx, v, q->centre[c], bytes, add_rows, &k));
        double count = q->centre[c][cols];
        double size = directional(&m->channels[c]) ? plx__norm(q->centre[c], cols) : count;
        if (size > 0) plx__scale(q->centre[c], 1 / size, cols);
        q->missing[c] = count == 0;
        q->norm_sq[c] = plx__norm_sq(q->centre[c], cols);
    }
    return PLX_OK;
}

/* Samples nearer to the newest centre, on average over their channels, than to any before go to its component. */
static void claim(spreading *q, int32_t component)
{
    coem *m = q->m;
    const plx__view *any = &m->channels[0].view;
    for (plx_index i = plx__held_begin(any); i < plx__held_end(any, m->n); i++) {
        double sum = 0;
        if (!m->views[i]) continue;
        for (plx_index c = 0; c < m->n_channels; c++)
            if (has_channel(q, c, i)) sum += fmax(0, distance(q, c, i));
        sum /= m->views[i];
        if (q->component[i] >= 0 && !(sum < q->nearest[i])) continue;
        q->component[i] = component;
        q->nearest[i] = sum;
    }
}

static bool class_is_labelled(const coem *m, int32_t class)
{
    for (plx_index i = 0; i < m->n; i++)
        if (m->label[i] == class) return true;
    return false;
}

/* Classes with labels have their centre; the others, in turn, a sample far from all centres. */
static plx_status spread_start(coem *m, beginning *start)
{
    spreading q;
    plx__kmeanspp spread = {
        .n = m->n, .n_channels = m->n_channels, .present = has_channel, .distance = distance, .arg = &q};
    spread.divided = &m->channels[0].view;
    plx__rng rng = plx__rng_start(m->ctx->seed, PLX__STREAM('c', 'e', 'm', 'p', start->restart));
    PLX_TRY(open_spreading(&q, m));
    PLX_TRY(plx__kmeanspp_open(&spread, m->ctx));
    for (int round = 0; round < 2; round++)
        for (int32_t j = 0; j < m->m; j++) {
            bool given = m->seeded && class_is_labelled(m, j);
            if (given != (round == 0)) continue;
            PLX_TRY(set_centre(&q, given ? -1 : plx__kmeanspp_draw(&spread, &rng), j));
            PLX_TRY(plx__kmeanspp_take(&spread, m->ctx));
            claim(&q, j);
        }
    start->component = q.component;
    return plx__held_share(m->ctx, &m->channels[0].view, q.component, sizeof *q.component);
}

/* ---- responsibilities ---- */

static plx_status open_start(coem *m, beginning *start)
{
    if (start->from == COEM_LABELS) return plx__coem_check_classes(m);
    if (start->from == COEM_KMEANSPP && m->covered > 0) return spread_start(m, start);
    if (start->from == COEM_FILE) return plx__start_file_read(&start->given, m->run, "init", m->set->init, m->m);
    return PLX_OK;
}

static plx_index random_component(const coem *m, const beginning *start, plx_index i)
{
    uint64_t stream = PLX__STREAM('c', 'e', 'm', 'r', start->restart);
    plx_index j = (plx_index)(plx__rng_uniform(m->ctx->seed, stream, (uint64_t)i) * (double)m->m);
    return plx__min(j, m->m - 1);
}

/* Of sample i, padded; a label wins. */
static void start_row(const coem *m, const beginning *start, plx_index i, double *row)
{
    memset(row, 0, (size_t)m->padded * sizeof *row);
    if (m->label[i] >= 0) row[m->label[i]] = 1;
    else if (start->from == COEM_RANDOM) row[random_component(m, start, i)] = 1;
    else if (start->component && start->component[i] >= 0) row[start->component[i]] = 1;
    else if (start->given.data) {
        const double *given = start->given.data + i * start->given.ld;
        double sum = plx__sum(given, m->m);
        for (plx_index j = 0; j < m->m; j++) row[j] = given[j] / sum;
    }
}

/* ---- from responsibilities to parameters ---- */

/* Column sums over the rows that carry any, in sample order; `present` NULL: all samples with a channel. Returns their
 * number. `row` has room for one. */
static double start_mass(const coem *m, const beginning *start, const uint8_t *present, double *mass, double *row)
{
    double count = 0;
    memset(mass, 0, (size_t)m->padded * sizeof *mass);
    for (plx_index i = 0; i < m->n; i++) {
        if (present ? !present[i] : !m->views[i]) continue;
        start_row(m, start, i, row);
        plx__axpy(mass, 1.0, row, m->padded);
        count += plx__max_abs(row, m->m) > 0;
    }
    return count;
}

static void fill_start(void *arg, coem *m, plx_index c, plx_index begin, plx_index end)
{
    const uint8_t *present = m->channels[c].view.present;
    for (plx_index i = begin; i < end; i++) {
        double *to = plx__coem_weights(m, i);
        if (present[i]) start_row(m, arg, i, to);
        else memset(to, 0, (size_t)m->padded * sizeof *to);
    }
}

static plx_status start_channel(coem *m, beginning *start, plx_index c, double *mass)
{
    double count = start_mass(m, start, m->channels[c].view.present, mass, mass + m->padded);
    if (m->own_priors) plx__coem_prior_from(m, c, mass, count);
    return plx__coem_teach(m, c, fill_start, start, mass);
}

plx_status plx__coem_start_once(coem *m, coem_start from, plx_index restart)
{
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    beginning start = {.from = from, .restart = restart};
    double *mass = NULL;
    PLX_TRY(plx__arena_f64(&mass, plx__scratch(m->ctx), 2, m->padded));
    PLX_TRY(open_start(m, &start));
    double count = start_mass(m, &start, NULL, mass, mass + m->padded);
    if (!m->own_priors) plx__coem_prior_from(m, 0, mass, count);
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(start_channel(m, &start, c, mass));
    if (from == COEM_LABELS) PLX_TRY(plx__coem_start_orphans(m, mass));
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return PLX_OK;
}
