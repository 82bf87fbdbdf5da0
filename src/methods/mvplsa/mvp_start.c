/*
 * Where the iteration starts: p(z|d) of the unlabelled documents from naive Bayes, a consensus of clusterings, a file
 * or at random; p(f|y) and p(y|z) at random or from files.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "core/rng.h"
#include "data/divided.h"
#include "methods/mvplsa/mvplsa.h"
#include "optim/assignment.h"
#include "cluster/consensus.h"
#include "mixture/naive_bayes.h"

/* random or file:F, else an error. */
static plx_status is_file(bool *out, mvp *m, const char *key, const char *text)
{
    *out = plx__starts_with(text, "file:") && text[5];
    if (*out || strcmp(text, "random") == 0) return PLX_OK;
    PLX_FAIL(m->ctx, PLX_E_ARG, "%s = %s: expected random or file:F", key, text);
}

/* ---- p(f|y) and p(y|z) ---- */

static plx_status normalise_columns(mvp *m, plx_mat x, const mvp_view *v, const char *key)
{
    for (plx_index j = 0; j < x.cols; j++) {
        double sum = 0;
        for (plx_index i = 0; i < x.rows; i++) sum += x.data[i * x.ld + j];
        if (!(sum > 0) || !isfinite(sum))
            PLX_FAIL(m->ctx, PLX_E_DATA, "%s: column %lld of the block of view '%s' has no positive sum", key,
                     (long long)j, v->name);
        for (plx_index i = 0; i < x.rows; i++) x.data[i * x.ld + j] /= sum;
    }
    return PLX_OK;
}

static void draw(plx_mat x, uint64_t seed, uint64_t stream)
{
    for (plx_index i = 0; i < x.rows * x.cols; i++) x.data[i] = plx__rng_uniform(seed, stream, (uint64_t)i) + 0.1;
}

static void identity(plx_mat x)
{
    for (plx_index i = 0; i < x.rows; i++) x.data[i * x.ld + i] = 1;
}

static plx_status start_features(mvp *m)
{
    const char *text = m->set->init_f;
    mvp_file file = {0};
    plx_index rows = 0, topics = 0, at = 0;
    bool from_file = false;
    PLX_TRY(is_file(&from_file, m, "init_f", text));
    for (plx_index v = 0; v < m->n_views; v++) {
        rows += m->views[v].features;
        topics = plx__max(topics, m->views[v].topics);
    }
    if (from_file) PLX_TRY(plx__mvp_read_file(&file, m, "init_f", text));
    if (from_file)
        PLX_TRY(plx__mvp_require_shape(m, &file, (mvp_shape){rows, topics, false, true, "features x topics"}));
    for (plx_index v = 0; v < m->n_views; v++) {
        plx_mat a = m->views[v].a;
        if (from_file) plx__mat_copy(a, plx__cmat(plx__sub(file.values, at, 0, a.rows, a.cols)));
        else draw(a, m->ctx->seed, PLX__STREAM('m', 'v', 'p', 'f', v));
        at += a.rows;
        PLX_TRY(normalise_columns(m, a, &m->views[v], "init_f"));
    }
    return PLX_OK;
}

static plx_status start_topics(mvp *m)
{
    const char *text = m->set->init_y;
    mvp_file file = {0};
    plx_index rows = 0, at = 0;
    bool from_file = false;
    PLX_TRY(is_file(&from_file, m, "init_y", text));
    for (plx_index v = 0; v < m->n_views; v++) rows += m->views[v].topics;
    if (m->set->model == MVP_PLSA) {
        identity(m->views[0].b);
        return PLX_OK;
    }
    if (from_file) PLX_TRY(plx__mvp_read_file(&file, m, "init_y", text));
    bool spare = m->set->model == MVP_DPLSA; /* one file serves mvplsa and dplsa */
    mvp_shape wanted = {rows, m->z, spare, false, "topics of all views x classes"};
    if (from_file) PLX_TRY(plx__mvp_require_shape(m, &file, wanted));
    for (plx_index v = 0; v < m->n_views; v++) {
        plx_mat b = m->views[v].b;
        if (from_file) plx__mat_copy(b, plx__cmat(plx__sub(file.values, at, 0, b.rows, b.cols)));
        else draw(b, m->ctx->seed, PLX__STREAM('m', 'v', 'p', 'y', v));
        at += b.rows;
        PLX_TRY(normalise_columns(m, b, &m->views[v], "init_y"));
    }
    return PLX_OK;
}

/* ---- p(z|d) ---- */

static plx_status mixtures_from_file(mvp *m, plx_mat c)
{
    const plx__problem *p = m->run->problem;
    mvp_file file;
    PLX_TRY(plx__mvp_read_file(&file, m, "init_z", m->set->init_z));
    PLX_TRY(plx__mvp_require_shape(m, &file, (mvp_shape){p->rows, m->z, false, false, "samples x classes"}));
    for (plx_index d = 0; d < m->n; d++) {
        const double *row = file.values.data + p->row[d] * file.values.ld;
        double sum = plx__sum(row, m->z);
        if (p->label[d] >= 0) continue;
        if (!(sum > 0) || !isfinite(sum))
            PLX_FAIL(m->ctx, PLX_E_DATA, "init_z = %s: row %lld has no positive sum", m->set->init_z,
                     (long long)p->row[d]);
        for (plx_index z = 0; z < m->z; z++) c.data[d * c.ld + z] = row[z] / sum;
    }
    return PLX_OK;
}

static void draw_mixtures(mvp *m, plx_mat c)
{
    uint64_t stream = PLX__STREAM('m', 'v', 'p', 'z', 0);
    for (plx_index d = 0; d < m->n; d++) {
        double *row = c.data + d * c.ld, sum = 0;
        uint64_t first = (uint64_t)d * (uint64_t)m->z;
        for (plx_index z = 0; z < m->z; z++)
            sum += row[z] = plx__rng_uniform(m->ctx->seed, stream, first + (uint64_t)z) + 0.1;
        for (plx_index z = 0; z < m->z; z++) row[z] /= sum;
    }
}

static plx_status mixtures_from_nb(mvp *m, plx_mat c)
{
    plx__nb_labels labels = plx__nb_labels_of(m->run->problem, "mvplsa: init_z = nb");
    if (!m->run->problem->n_labelled)
        PLX_FAIL(m->ctx, PLX_E_ARG, "init_z = nb: no sample is labelled; use mvc, uniform, random or file:F");
    plx__view *views = NULL;
    plx_index *bound = NULL;
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(m->ctx), m->n_own));
    PLX_TRY(plx__arena_i64(&bound, plx__scratch(m->ctx), plx__ranks(m->ctx) + 1));
    plx__nb_bounds(bound, m->ctx, m->n);
    for (plx_index v = 0; v < m->n_own; v++) { /* its sums cut the documents in another way */
        views[v] = m->own[v];
        PLX_TRY(plx__view_regroup(&views[v], m->ctx, plx__scratch(m->ctx), m->n, bound));
    }
    PLX_TRY(plx__nb_ensemble(c, m->ctx, &labels, views, m->n_own, m->set->nb_smoothing));
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return PLX_OK;
}

/* The consensus numbers its clusters as it likes: columns are matched to classes so that the labelled documents agree
 * most. */
static plx_status match_classes(mvp *m, plx_mat c)
{
    plx_mat agreement;
    plx_index *class_of = NULL;
    double *row = NULL;
    PLX_TRY(plx__arena_mat(&agreement, plx__scratch(m->ctx), m->z, m->z));
    PLX_TRY(plx__arena_i64(&class_of, plx__scratch(m->ctx), m->z));
    PLX_TRY(plx__arena_f64(&row, plx__scratch(m->ctx), m->z, 1));
    for (plx_index d = 0; d < m->n; d++)
        for (plx_index k = 0; m->run->problem->label[d] >= 0 && k < m->z; k++)
            agreement.data[k * m->z + m->run->problem->label[d]] += c.data[d * c.ld + k];
    PLX_TRY(plx__assignment(m->ctx, plx__cmat(agreement), true, class_of, NULL));
    for (plx_index d = 0; d < m->n; d++) {
        memcpy(row, c.data + d * c.ld, (size_t)m->z * sizeof *row);
        for (plx_index k = 0; k < m->z; k++) c.data[d * c.ld + class_of[k]] = row[k];
    }
    return PLX_OK;
}

static plx_status mixtures_from_mvc(mvp *m, plx_mat c)
{
    PLX_TRY(plx__consensus_memberships(c, m->ctx, m->own, m->n_own, m->n, m->z));
    return m->run->problem->n_labelled ? match_classes(m, c) : PLX_OK;
}

enum { FROM_NB, FROM_MVC, UNIFORM, RANDOM, N_NAMED };

static plx_status start_kind(int *out, mvp *m)
{
    static const char *const names[N_NAMED] = {"nb", "mvc", "uniform", "random"};
    const char *text = m->set->init_z;
    char near[128];
    *out = m->run->problem->n_labelled ? FROM_NB : FROM_MVC;
    if (!text[0]) return PLX_OK;
    for (int k = 0; k < N_NAMED; k++)
        if (strcmp(text, names[k]) == 0) {
            *out = k;
            return PLX_OK;
        }
    *out = N_NAMED;
    if (plx__starts_with(text, "file:") && text[5]) return PLX_OK;
    PLX_FAIL(m->ctx, PLX_E_ARG, "init_z = %s: expected nb, mvc, uniform, random or file:F%s", text,
             plx__suggest(near, sizeof near, text, names, N_NAMED));
}

static plx_status start_mixtures(mvp *m, plx_mat c)
{
    int kind = UNIFORM;
    PLX_TRY(start_kind(&kind, m));
    switch (kind) {
    case FROM_NB: return mixtures_from_nb(m, c);
    case FROM_MVC: return mixtures_from_mvc(m, c);
    case UNIFORM: plx__mat_fill(c, 1.0 / (double)m->z); return PLX_OK;
    case RANDOM: draw_mixtures(m, c); return PLX_OK;
    default: return mixtures_from_file(m, c);
    }
}

/* Zeros are absorbing: every start of an unlabelled document is mixed with the uniform one. */
static void mix_and_clamp(mvp *m, plx_cmat start)
{
    double mix = m->set->init_mix;
    for (plx_index d = m->bound[plx__rank(m->ctx)]; d < m->bound[plx__rank(m->ctx) + 1]; d++) {
        double *c = m->c + d * m->width;
        int32_t label = m->run->problem->label[d];
        for (plx_index z = 0; z < m->z; z++)
            c[z] = label >= 0 ? z == label : (1 - mix) * start.data[d * start.ld + z] + mix / (double)m->z;
    }
}

plx_status plx__mvp_start(mvp *m)
{
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    plx_mat start;
    PLX_TRY(start_features(m));
    PLX_TRY(start_topics(m));
    PLX_TRY(plx__arena_mat(&start, plx__scratch(m->ctx), m->n, m->z));
    PLX_TRY(start_mixtures(m, start));
    mix_and_clamp(m, plx__cmat(start));
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return PLX_OK;
}
