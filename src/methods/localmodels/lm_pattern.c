/*
 * The local pattern: a score that is large where the local model should decide. By classification, the decision value
 * of a classifier for "global wrong, local right"; by the bottleneck, the largest cosine with the medoid of a cluster of
 * samples weighted by how unsure the global model is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "core/text.h"
#include "methods/localmodels/localmodels.h"
#include "run/start_file.h"

enum { SAMPLE_GRAIN = 64 };

static const double FEW_VALUES = 0.25;

/* ---- by classification ---- */

static plx_status by_classification(lm_pattern *out, lm *m, const lm_said *global, const lm_said *local)
{
    int32_t *is_local = NULL;
    plx_index count = 0;
    plx_mat rows;
    PLX_TRY(plx__arena_i32(&is_local, plx__scratch(m->ctx), m->l));
    for (plx_index i = 0; i < m->l; i++) {
        is_local[i] = global->label[i] != m->label[i] && local->label[i] == m->label[i];
        count += is_local[i];
    }
    if (count == 0 || count == m->l) return PLX_OK;
    PLX_TRY(plx__lm_labelled_rows(&rows, m, &m->pattern_block));
    return plx__lm_learn(&out->classifier, m, &m->pattern_block, plx__cmat(rows), is_local, 2,
                         m->set->pattern_features);
}

/* ---- by the bottleneck ---- */

/* P(v|u), sparse where that pays. */
static plx_status open_rows(plx__ib_variable *v, const lm *m, plx_cmat n)
{
    plx_mat rows;
    plx_csr thin;
    plx_index nonzero = 0;
    for (plx_index e = 0; e < n.rows * n.cols; e++) nonzero += n.data[e] != 0;
    v->cols = n.cols;
    if ((double)nonzero < FEW_VALUES * (double)n.rows * (double)n.cols) {
        PLX_TRY(plx__csr_from_dense(&thin, plx__scratch(m->ctx), n));
        plx__ib_normalise_csr(thin);
        return plx__design_open(&v->rows, m->ctx, plx__points_csr(plx__ccsr(thin)), NULL, "localmodels");
    }
    PLX_TRY(plx__mat_clone(&rows, plx__scratch(m->ctx), n));
    plx__ib_normalise_dense(rows);
    return plx__design_open(&v->rows, m->ctx, plx__points_dense(plx__cmat(rows)), NULL, "localmodels");
}

/* Start memberships of the labelled samples; *k may come from the file when `explicit` is not set. */
static plx_status read_start(plx_mat *out, const lm *m, const char *parameter, const char *text, const char *clusters,
                             plx_index *k)
{
    uint8_t *used = NULL;
    plx_mat all;
    bool fixed = plx__view_value_level(m->run->settings, clusters, NULL) > 0;
    out->data = NULL;
    if (strcmp(text, "random") == 0) return PLX_OK;
    if (!plx__starts_with(text, "file:") || !text[5])
        PLX_FAIL(m->ctx, PLX_E_ARG, "%s = %s: expected random or file:F", parameter, text);
    PLX_TRY(plx__arena_u8(&used, plx__scratch(m->ctx), m->x->n));
    for (plx_index i = 0; i < m->l; i++) used[m->labelled[i]] = 1;
    PLX_TRY(plx__start_file_read_some(&all, m->run, parameter, text, fixed ? *k : 0, used));
    *k = all.cols;
    PLX_TRY(plx__arena_mat(out, plx__scratch(m->ctx), m->l, *k));
    for (plx_index i = 0; i < m->l; i++)
        memcpy(out->data + i * *k, all.data + m->labelled[i] * all.ld, (size_t)*k * sizeof *out->data);
    return PLX_OK;
}

typedef struct clustering {
    const char *parameter, *start, *clusters;
    plx_index k;
    double beta;
    uint64_t stream;
} clustering;

/* The bottleneck of `b`, whose weight and given are set, on the rows of `v`. */
static plx_status cluster(plx__bottleneck *b, plx__ib_variable *v, const lm *m, const clustering *how)
{
    plx__ib_course course;
    plx_mat start;
    b->ctx = m->ctx;
    b->n = m->l;
    b->k = how->k;
    PLX_TRY(read_start(&start, m, how->parameter, how->start, how->clusters, &b->k));
    v->beta = how->beta;
    b->variable = v;
    b->n_variables = 1;
    PLX_TRY(plx__ib_open(b));
    if (start.data) plx__ib_start(b, plx__cmat(start));
    else PLX_TRY(plx__ib_draw(b, 1.0, how->stream));
    return plx__ib_run(b, m->run, how->parameter, m->set->ib_iter, m->set->ib_tol, &course);
}

/* P(w|u): what the global model says, or a clustering of all labelled samples. */
static plx_status open_irrelevant(plx__bottleneck *b, plx__ib_variable *v, const lm *m, const lm_said *global)
{
    plx__bottleneck background = {.n_w = 1};
    double *uniform = NULL;
    clustering how = {
        "bg_init", m->set->bg_init, "bg_clusters", m->set->bg_clusters, 0, PLX__STREAM('l', 'm', 'b', 'g', 0)};
    if (m->set->irrelevant == LM_IRRELEVANT_GLOBAL) {
        b->given = plx__cmat(global->probability);
        b->n_w = m->classes;
        return PLX_OK;
    }
    how.beta = m->set->bg_beta > 0 ? m->set->bg_beta : m->set->beta;
    PLX_TRY(plx__arena_f64(&uniform, plx__scratch(m->ctx), m->l, 1));
    for (plx_index i = 0; i < m->l; i++) uniform[i] = 1.0 / (double)m->l;
    background.weight = uniform;
    PLX_TRY(cluster(&background, v, m, &how));
    PLX_TRY(plx__store_put(m->run->out, "background", plx__cmat(background.pcu)));
    b->n_w = background.k;
    if (b->n_w > 1) b->given = plx__cmat(background.pcu);
    return PLX_OK;
}

/* P(u): how likely the global model is wrong, by its own account. */
static plx_status open_weights(plx__bottleneck *b, const lm *m, const lm_said *global)
{
    double *weight = NULL, sum = 0;
    PLX_TRY(plx__arena_f64(&weight, plx__scratch(m->ctx), m->l, 1));
    for (plx_index i = 0; i < m->l; i++) {
        double most = 0;
        for (plx_index c = 0; c < m->classes; c++)
            most = fmax(most, global->probability.data[i * global->probability.ld + c]);
        sum += weight[i] = 1.0 - most;
    }
    if (!(sum > 0))
        PLX_FAIL(m->ctx, PLX_E_NUMERIC,
                 "localmodels: the global model is certain everywhere, so that there is nothing to cluster; set "
                 "pattern=classification or a larger reg");
    for (plx_index i = 0; i < m->l; i++) weight[i] /= sum;
    b->weight = weight;
    return PLX_OK;
}

/* ---- description ---- */

/* m_v = sum_c P(v,c) log [P(v,c) / (P(v) P(c))]. */
static void feature_information(double *out, const plx__bottleneck *b)
{
    const plx__ib_variable *v = &b->variable[0];
    plx_index width = b->k * b->n_w;
    for (plx_index f = 0; f < v->cols; f++) {
        double all = 0, sum = 0;
        for (plx_index j = 0; j < width; j++) all += v->joint[f * width + j];
        for (plx_index c = 0; c < b->k; c++) {
            double both = 0;
            for (plx_index w = 0; w < b->n_w; w++) both += v->joint[f * width + c * b->n_w + w];
            if (both > 0) sum += both * log(both / (all * b->pc.data[c]));
        }
        out[f] = sum;
    }
}

/* The `count` largest, ties by index, ascending. */
static plx_status choose_features(lm_pattern *out, const lm *m, const double *information)
{
    plx_index d = m->pattern_block.cols;
    uint8_t *taken = NULL;
    out->count = plx__lm_wanted(m->set->pattern_features, d);
    PLX_TRY(plx__arena_u8(&taken, plx__scratch(m->ctx), d));
    PLX_TRY(plx__arena_i64(&out->column, plx__scratch(m->ctx), out->count));
    for (plx_index k = 0; k < out->count; k++) {
        plx_index best = -1;
        for (plx_index f = 0; f < d; f++)
            if (!taken[f] && (best < 0 || information[f] > information[best])) best = f;
        taken[best] = 1;
    }
    for (plx_index f = 0, k = 0; f < d; f++)
        if (taken[f]) out->column[k++] = f;
    return PLX_OK;
}

/* sum_u q_u (1 - cos(x_u, x)) = sum_u q_u - (sum_u q_u x_u/|x_u|) . x/|x|, so one pass finds the sums, one the best. */
static plx_status find_medoids(lm_pattern *out, const lm *m, const plx__bottleneck *b, plx_cmat n)
{
    plx_mat unit, pull;
    PLX_TRY(plx__arena_mat(&unit, plx__scratch(m->ctx), m->l, out->count));
    PLX_TRY(plx__arena_mat(&pull, plx__scratch(m->ctx), b->k, out->count));
    PLX_TRY(plx__arena_mat(&out->medoid, plx__scratch(m->ctx), b->k, out->count));
    PLX_TRY(plx__arena_i64(&out->medoid_row, plx__scratch(m->ctx), b->k));
    for (plx_index u = 0; u < m->l; u++)
        for (plx_index j = 0; j < out->count; j++) unit.data[u * out->count + j] = n.data[u * n.ld + out->column[j]];
    plx__unit_rows(unit);
    for (plx_index c = 0; c < b->k; c++) {
        double *sum = pull.data + c * out->count, best = -INFINITY;
        for (plx_index u = 0; u < m->l; u++)
            plx__axpy(sum, b->weight[u] * b->pcu.data[u * b->k + c], unit.data + u * out->count, out->count);
        for (plx_index u = 0; u < m->l; u++) {
            double gain = plx__dot(sum, unit.data + u * out->count, out->count);
            if (gain > best) best = gain, out->medoid_row[c] = u;
        }
        memcpy(out->medoid.data + c * out->count, unit.data + out->medoid_row[c] * out->count,
               (size_t)out->count * sizeof(double));
    }
    return PLX_OK;
}

static plx_status by_bottleneck(lm_pattern *out, lm *m, const lm_said *global)
{
    plx__bottleneck b = {.n_w = 1};
    plx__ib_variable v = {0};
    clustering how = {"ib_init",          m->set->ib_init,
                      "pattern_clusters", m->set->pattern_clusters,
                      m->set->beta,       PLX__STREAM('l', 'm', 'i', 'b', 0)};
    plx_mat n, information;
    PLX_TRY(plx__lm_nonnegative_rows(&n, m, &m->pattern_block));
    PLX_TRY(open_rows(&v, m, plx__cmat(n)));
    PLX_TRY(open_weights(&b, m, global));
    if (m->set->pattern == LM_PATTERN_CIB) PLX_TRY(open_irrelevant(&b, &v, m, global));
    PLX_TRY(cluster(&b, &v, m, &how));
    PLX_TRY(plx__store_put(m->run->out, "pcu", plx__cmat(b.pcu)));
    PLX_TRY(plx__store_new(&information, m->run->out, "feature_information", n.cols, 1));
    feature_information(information.data, &b);
    PLX_TRY(choose_features(out, m, information.data));
    return find_medoids(out, m, &b, plx__cmat(n));
}

plx_status plx__lm_find_pattern(lm_pattern *out, lm *m, const lm_said *global, const lm_said *local)
{
    *out = (lm_pattern){.threshold = INFINITY};
    if (m->set->pattern == LM_PATTERN_CLASSIFICATION) return by_classification(out, m, global, local);
    return by_bottleneck(out, m, global);
}

/* ---- scores ---- */

typedef struct score_job {
    const lm *m;
    const lm_pattern *p;
    double *score, *value; /* value: workers x count */
} score_job;

static plx_status score_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const score_job *job = arg;
    const lm_pattern *p = job->p;
    double *value = job->value + worker * p->count;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) {
        double best = -INFINITY;
        plx__lm_nonnegative_some(value, job->m, &job->m->pattern_block, p->column, p->count, i);
        plx__unit_rows(plx__mat_of(value, 1, p->count));
        for (plx_index c = 0; c < p->medoid.rows; c++)
            best = fmax(best, plx__dot(value, p->medoid.data + c * p->count, p->count));
        job->score[i] = best;
    }
    return PLX_OK;
}

plx_status plx__lm_scores(double *score, const lm *m, const lm_pattern *p)
{
    score_job job = {m, p, score, NULL};
    lm_said said;
    if (p->classifier.weight.data) {
        PLX_TRY(plx__lm_apply(&said, m, &p->classifier, 2));
        memcpy(score, said.decision.data, (size_t)m->x->n * sizeof *score);
        return PLX_OK;
    }
    memset(score, 0, (size_t)m->x->n * sizeof *score);
    if (!p->medoid.data) return PLX_OK;
    PLX_TRY(plx__arena_f64(&job.value, plx__scratch(m->ctx), plx__workers(m->ctx), p->count));
    return plx__parallel_for(m->ctx, m->x->n, SAMPLE_GRAIN, score_rows, &job);
}

/* ---- threshold ---- */

plx_index plx__lm_room(double tau, plx_index l)
{
    plx_index room = (plx_index)floor(tau * (double)l + 1e-9);
    return plx__max(room, tau > 0);
}

/* Above one distinct score and below the one before it. */
static double between(double low, double high)
{
    double middle = 0.5 * low + 0.5 * high;
    return middle < high ? middle : low;
}

double plx__lm_threshold(const double *score, const uint8_t *global_right, const uint8_t *local_right, plx_index l,
                         plx_index room, const plx_index *order)
{
    double best = INFINITY;
    plx_index gain = 0, most = 0;
    for (plx_index k = 0; k < l;) {
        double s = score[order[k]];
        for (; k < l && score[order[k]] == s; k++) gain += local_right[order[k]] - global_right[order[k]];
        if (k > room) break;
        if (gain <= most) continue;
        most = gain;
        best = k < l ? between(score[order[k]], s) : s - 1.0;
    }
    return best;
}

/* ---- in a model file ---- */

plx_status plx__lm_pattern_put(const lm *m, const lm_pattern *p)
{
    plx_mat columns, medoids, places;
    PLX_TRY(plx__store_put(m->run->out, "threshold", plx__cmat_of(&p->threshold, 1, 1)));
    if (p->classifier.weight.data) return plx__lm_model_put(m, &p->classifier, "pattern", false);
    if (!p->medoid.data) return PLX_OK;
    PLX_TRY(plx__store_new(&columns, m->run->out, "pattern_features", p->count, 1));
    PLX_TRY(plx__store_new(&medoids, m->run->out, "medoids", p->medoid.rows, 1));
    PLX_TRY(plx__store_new(&places, m->run->out, "_medoid_places", p->medoid.rows, 1));
    for (plx_index k = 0; k < p->count; k++) columns.data[k] = (double)p->column[k];
    for (plx_index c = 0; c < p->medoid.rows; c++)
        medoids.data[c] = places.data[c] = (double)m->x->row[m->labelled[p->medoid_row[c]]];
    return plx__store_put(m->run->out, "_medoids", plx__cmat(p->medoid));
}

plx_status plx__lm_pattern_get(lm_pattern *out, const lm *m)
{
    plx_cmat columns, medoids;
    *out = (lm_pattern){0};
    PLX_TRY(plx__store_scalar(&out->threshold, m->ctx, m->run->fitted, "threshold"));
    if (plx__store_find(m->run->fitted, "weights_pattern"))
        return plx__lm_model_get(&out->classifier, m, &m->pattern_block, "pattern", 2);
    if (!plx__store_find(m->run->fitted, "_medoids")) return PLX_OK;
    PLX_TRY(plx__store_shaped(&columns, m->ctx, m->run->fitted, "pattern_features", -1, 1));
    PLX_TRY(plx__store_shaped(&medoids, m->ctx, m->run->fitted, "_medoids", -1, columns.rows));
    out->count = columns.rows;
    PLX_TRY(plx__arena_i64(&out->column, plx__scratch(m->ctx), out->count));
    for (plx_index k = 0; k < out->count; k++) {
        if (!(columns.data[k] >= 0 && columns.data[k] < (double)m->pattern_block.cols) ||
            (k && !(columns.data[k] > columns.data[k - 1])))
            PLX_FAIL(m->ctx, PLX_E_FORMAT, "the model's features cannot be right");
        out->column[k] = (plx_index)columns.data[k];
    }
    return plx__mat_clone(&out->medoid, plx__scratch(m->ctx), medoids);
}
