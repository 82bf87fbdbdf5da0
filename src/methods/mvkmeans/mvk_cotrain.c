/*
 * Co-training (Bickel and Scheffer 2004, for any number of views): a view labels by its own scores, and is taught by
 * the scores of the others. At the end one set of centroids is made from the samples whose views agree.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/mvkmeans/mvkmeans.h"

/* A pass over the samples: label view `own` by its own scores, teach view `taught` by those of the others. */
typedef struct lesson {
    mvk *m;
    plx_index own, taught; /* ALL, NONE or a channel */
    double *objective;     /* per chunk: cosines of the own labels */
    int64_t *flips;
} lesson;

enum { ALL = -1, NONE = -2 };

static const double *row_of(const mvk *m, const mvk_worker *w, plx_index c, plx_index begin, plx_index j)
{
    return w->scores + (c * m->chunk + (j - begin)) * m->k_padded;
}

static bool concerns(plx_index which, plx_index c) { return which == ALL || which == c; }

/* Label by the sum of the scores of all present views but `without` (-1: of all); -2 when there is none. */
static int32_t label_by_others(const mvk *m, mvk_worker *w, plx_index without, plx_index begin, plx_index j)
{
    bool any = false;
    memset(w->effective, 0, (size_t)m->k * sizeof *w->effective);
    for (plx_index c = 0; c < m->n_channels; c++) {
        if (c == without || !m->channels[c].present[j]) continue;
        const double *x = row_of(m, w, c, begin, j);
        for (plx_index i = 0; i < m->k; i++) w->effective[i] += x[i];
        any = true;
    }
    return any ? plx__mvk_argmax(w->effective, m->k) : -2;
}

static int32_t or_fallback(const mvk *m, int32_t label) { return label < 0 ? m->fallback_class : label; }

static void own_label(lesson *q, mvk_worker *w, plx_index c, plx_index begin, plx_index j, double *objective,
                      int64_t *flips)
{
    mvk *m = q->m;
    const double *x = row_of(m, w, c, begin, j);
    int32_t *label = &m->label[j * m->n_channels + c];
    if (!m->labelled[j]) {
        int32_t best = plx__mvk_argmax(x, m->k);
        w->served[best < 0 ? MVK_NO_EVIDENCE : MVK_ARGMAX]++;
        best = or_fallback(m, best);
        *flips += best == *label ? 0 : *label < 0 ? 1 : 2;
        *label = best;
    }
    *objective += x[*label];
    if (m->own_score) m->own_score[j] += x[*label];
}

/* The others' label; a view that is alone keeps its own, by its present scores. */
static void teach(lesson *q, mvk_worker *w, plx_index c, plx_index begin, plx_index j)
{
    mvk *m = q->m;
    int32_t label = label_by_others(m, w, c, begin, j);
    if (label == -2) label = plx__mvk_argmax(row_of(m, w, c, begin, j), m->k);
    m->taught[j * m->n_channels + c] = or_fallback(m, label);
}

static plx_status lesson_chunk(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    lesson *q = arg;
    mvk *m = q->m;
    mvk_worker *w = &m->workers[worker];
    double objective = 0;
    int64_t flips = 0;
    (void)ctx;
    for (plx_index c = 0; c < m->n_channels; c++)
        if (concerns(q->own, c) || q->taught != NONE) PLX_TRY(plx__mvk_score_chunk(m, w, c, begin, end));
    for (plx_index j = begin; j < end; j++)
        for (plx_index c = 0; c < m->n_channels; c++) {
            if (!m->channels[c].present[j]) continue;
            if (concerns(q->own, c)) own_label(q, w, c, begin, j, &objective, &flips);
            if (concerns(q->taught, c) && !m->labelled[j]) teach(q, w, c, begin, j);
        }
    q->objective[begin / m->chunk] = objective;
    q->flips[begin / m->chunk] = flips;
    return PLX_OK;
}

static plx_status hold_lesson(mvk *m, mvk_step *out, plx_index own, plx_index taught)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    lesson q = {.m = m, .own = own, .taught = taught};
    plx_index chunks = (m->n + m->chunk - 1) / m->chunk;
    PLX_TRY(plx__arena_f64(&q.objective, scratch, chunks, 1));
    PLX_TRY(plx__arena_i64(&q.flips, scratch, chunks));
    PLX_TRY(plx__parallel_for(m->ctx, m->n, m->chunk, lesson_chunk, &q));
    out->objective += plx__sum(q.objective, chunks);
    for (plx_index c = 0; c < chunks; c++) out->flips += q.flips[c];
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

plx_status plx__mvk_cotrain_step(mvk *m, mvk_step *out)
{
    *out = (mvk_step){0, 0};
    for (int t = 0; t < m->n_workers; t++) memset(m->workers[t].served, 0, sizeof m->workers[t].served);
    if (m->own_score) memset(m->own_score, 0, (size_t)m->n * sizeof *m->own_score);
    if (m->set->order == MVK_PARALLEL) return hold_lesson(m, out, ALL, ALL);
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(hold_lesson(m, out, NONE, c));
        PLX_TRY(plx__mvk_centroids(m, c, m->taught + c, m->n_channels));
        PLX_TRY(hold_lesson(m, out, c, NONE));
    }
    return PLX_OK;
}

plx_status plx__mvk_cotrain_teach(mvk *m)
{
    if (m->set->order != MVK_PARALLEL) return PLX_OK;
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__mvk_centroids(m, c, m->taught + c, m->n_channels));
    return PLX_OK;
}

/* ---- the end ---- */

/* Given label, or the one all present views have; -1: they differ or there is none. */
static int32_t agreed_label(const mvk *m, plx_index j)
{
    int32_t label = -1;
    for (plx_index c = 0; c < m->n_channels; c++) {
        if (!m->channels[c].present[j]) continue;
        int32_t own = m->label[j * m->n_channels + c];
        if (label >= 0 && own != label) return -1;
        label = own;
    }
    return label;
}

plx_status plx__mvk_cotrain_consensus(mvk *m, int32_t *label)
{
    for (plx_index j = 0; j < m->n; j++) label[j] = agreed_label(m, j);
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__mvk_centroids(m, c, label, 1));
    return PLX_OK;
}
