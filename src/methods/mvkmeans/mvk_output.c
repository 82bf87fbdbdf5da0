/*
 * What mvkmeans leaves behind: labels, scores, arrays, the state for new samples, and facts about the run.
 */
#include <string.h>

#include "core/parallel.h"
#include "linalg/dense.h"
#include "methods/mvkmeans/mvkmeans.h"
#include "run/facts.h"

/* ---- scores at the final centroids ---- */

typedef struct finale {
    mvk *m;
    mvk_final *final;
    plx_mat mean;    /* n x k: mean cosine over the present channels */
    plx_mat *own;    /* per channel: n x k */
    plx_index first; /* sample the loop counts from */
} finale;

static void final_sample(finale *q, mvk_worker *w, plx_index begin, plx_index j)
{
    mvk *m = q->m;
    int s = plx__mvk_present_rows(m, w, begin, j);
    double *mean = q->mean.data + j * q->mean.ld;
    memset(mean, 0, (size_t)m->k * sizeof *mean);
    for (int v = 0; v < s; v++) plx__axpy(mean, 1.0, w->rows[v], m->k);
    if (m->rule == MVK_COTRAIN && !m->labelled[j]) {
        int32_t best = plx__mvk_argmax(mean, m->k);
        q->final->label[j] = best < 0 ? m->fallback_class : best;
    }
    if (s > 1) plx__scale(mean, 1.0 / s, m->k);
    for (plx_index c = 0; c < m->n_channels; c++) {
        const double *from = w->scores + (c * m->chunk + (j - begin)) * m->k_padded;
        memcpy(q->own[c].data + j * q->own[c].ld, from, (size_t)m->k * sizeof *from);
    }
}

static plx_status final_chunk(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    finale *q = arg;
    (void)ctx;
    begin += q->first;
    end += q->first;
    for (plx_index c = 0; c < q->m->n_channels; c++)
        PLX_TRY(plx__mvk_score_chunk(q->m, &q->m->workers[worker], c, begin, end));
    for (plx_index j = begin; j < end; j++) final_sample(q, &q->m->workers[worker], begin, j);
    return PLX_OK;
}

static plx_status score_all(mvk *m, mvk_final *final)
{
    finale q = {.m = m, .final = final};
    const char *name = NULL;
    plx_index end = 0;
    PLX_TRY(PLX__ARENA_NEW(&q.own, plx__scratch(m->ctx), m->n_channels));
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(plx__view_key(&name, m->ctx, "scores", m->channels[c].name));
        PLX_TRY(plx__sample_array(&q.own[c], m->run, name, m->k));
    }
    PLX_TRY(plx__sample_scores(&q.mean, m->run, m->k));
    plx__slabs_mine(&q.first, &end, m->ctx, m->cut);
    PLX_TRY(plx__parallel_for(m->ctx, end - q.first, m->chunk, final_chunk, &q));
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__share_rows(m->run, m->cut, q.own[c]));
    return plx__share_rows(m->run, m->cut, q.mean);
}

/* ---- labels ---- */

static plx_status class_names(const char ***out, mvk *m)
{
    plx__arena *arena = m->run->out->arena;
    PLX_TRY(PLX__ARENA_NEW(out, arena, m->k));
    for (plx_index i = 0; i < m->k; i++) {
        if (m->names) PLX_TRY(plx__arena_text(&(*out)[i], arena, m->names[i]));
        else PLX_TRY(plx__arena_printf(&(*out)[i], arena, "c%lld", (long long)i));
    }
    return PLX_OK;
}

/* Names of a set in class order, joined by '|'; the empty set of a hierarchy is "-", of a flat rule no label. */
static plx_status set_text(const char **out, mvk *m, const char *const *names, const uint16_t *set)
{
    plx__textbuf text;
    plx_index count = 0, last = 0;
    for (plx_index i = 0; i < m->k; i++)
        if (set[i]) {
            last = i;
            count++;
        }
    *out = count == 1 ? names[last] : m->hier ? "-" : NULL;
    if (count < 2) return PLX_OK;
    plx__textbuf_init(&text, m->run->out->arena);
    for (plx_index i = 0; i < m->k; i++)
        if (set[i]) plx__textbuf_printf(&text, "%s%s", text.len ? "|" : "", names[i]);
    return plx__textbuf_done(out, &text);
}

static plx_status write_labels(mvk *m, const mvk_final *final)
{
    plx__outcome *o = m->run->outcome;
    const char **names = NULL;
    plx_index end = 0;
    PLX_TRY(class_names(&names, m));
    o->kind = m->names ? PLX__OUTCOME_CLASSES : PLX__OUTCOME_CLUSTERS;
    plx__kept_rows(&o->first, &end, m->run);
    o->n = end - o->first;
    o->columns = names;
    PLX_TRY(PLX__ARENA_NEW(&o->label, m->run->out->arena, o->n));
    for (plx_index i = 0; i < o->n; i++) {
        plx_index j = o->first + i;
        if (final->sets) PLX_TRY(set_text(&o->label[i], m, names, final->sets + j * m->k));
        else o->label[i] = names[final->label[j]];
    }
    return PLX_OK;
}

/* ---- arrays ---- */

/* 0/1 rows: everything when channel < 0, else what the channel says; zero where it is missing. */
static void fill_assign(const mvk *m, const mvk_final *final, plx_mat out, plx_index channel)
{
    plx_index begin = 0, end = 0;
    plx__kept_rows(&begin, &end, m->run);
    for (plx_index j = begin; j < end; j++) {
        double *row = out.data + j * out.ld;
        memset(row, 0, (size_t)m->k * sizeof *row);
        if (channel >= 0 && !m->channels[channel].present[j]) continue;
        if (final->sets) {
            bool own = channel >= 0 && m->per_view;
            unsigned bit = own ? 1u << (m->n_channels - 1 - channel) : 1u;
            const uint16_t *set = (own ? m->pattern : final->sets) + j * m->k;
            for (plx_index i = 0; i < m->k; i++) row[i] = (set[i] & bit) != 0;
            continue;
        }
        bool own = channel >= 0 && m->rule == MVK_COTRAIN;
        int32_t label = own ? m->label[j * m->n_channels + channel] : final->label[j];
        if (label >= 0) row[label] = 1;
    }
}

/* New samples always get their arrays: rows put back for held-out samples need them. */
static plx_status write_assign(mvk *m, const mvk_final *final, const char *name, plx_index channel)
{
    plx_mat out;
    if (!m->run->fitted && !plx__wanted(m->run, name)) return PLX_OK;
    PLX_TRY(plx__sample_array(&out, m->run, name, m->k));
    fill_assign(m, final, out, channel);
    return PLX_OK;
}

plx_status plx__mvk_write(mvk *m, mvk_final *final)
{
    const char *name = NULL;
    PLX_TRY(score_all(m, final));
    PLX_TRY(write_labels(m, final));
    PLX_TRY(write_assign(m, final, "assign", -1));
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(plx__view_key(&name, m->ctx, "assign", m->channels[c].name));
        PLX_TRY(write_assign(m, final, name, c));
    }
    return PLX_OK;
}

/* ---- state ---- */

plx_status plx__mvk_write_state(mvk *m, const int64_t *flips, plx_index n_flips)
{
    plx_mat out;
    const char *name = NULL;
    double seeded = m->seeded;
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(plx__view_key(&name, m->ctx, "centroids", m->channels[c].name));
        PLX_TRY(plx__store_put(m->run->out, name, plx__cmat(m->channels[c].centroids)));
    }
    PLX_TRY(plx__store_new(&out, m->run->out, "flips", n_flips, 1));
    for (plx_index t = 0; t < n_flips; t++) out.data[t] = (double)flips[t];
    PLX_TRY(plx__store_put(m->run->out, "_seeded", plx__cmat_of(&seeded, 1, 1)));
    PLX_TRY(plx__store_new(&out, m->run->out, "_fallback", 1, m->k));
    for (plx_index i = 0; i < m->k; i++) out.data[i] = m->fallback[i];
    return PLX_OK;
}

plx_status plx__mvk_read_centroids(mvk *m)
{
    for (plx_index c = 0; c < m->n_channels; c++) {
        mvk_channel *ch = &m->channels[c];
        const char *name = NULL;
        plx_cmat from;
        PLX_TRY(plx__view_key(&name, m->ctx, "centroids", ch->name));
        PLX_TRY(plx__store_dense(&from, m->ctx, m->run->fitted, name));
        if (from.rows != m->k || from.cols != ch->cols)
            PLX_FAIL(m->ctx, PLX_E_FORMAT, "the model's array '%s' does not fit its view and classes", name);
        plx__mat_copy(ch->centroids, from);
        PLX_TRY(plx__mvk_refresh_columns(m, c));
    }
    return PLX_OK;
}

/* ---- facts ---- */

static const char *server_name(int by)
{
    if (by == MVK_ARGMAX) return "argmax";
    if (by == MVK_NO_EVIDENCE) return "no_evidence";
    return plx__label_solver_name((plx__label_solver)by);
}

static plx_status count_violations(plx_index *out, mvk *m, const mvk_final *final)
{
    uint64_t *set = NULL;
    *out = 0;
    if (!final->sets) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&set, plx__scratch(m->ctx), m->rules.words));
    for (plx_index j = 0; j < m->n; j++) {
        memset(set, 0, (size_t)m->rules.words * sizeof *set);
        for (plx_index i = 0; i < m->k; i++)
            if (final->sets[j * m->k + i]) set[i / 64] |= plx__label_bit(i);
        *out += plx__label_violations(&m->rules, set) > 0;
    }
    return PLX_OK;
}

/* Which solver served how many samples. */
static plx_status report_servers(const mvk *m)
{
    for (int by = PLX__LABEL_FLAT_COVER; by < MVK_SERVERS; by++) {
        int64_t total = 0;
        for (int t = 0; t < m->n_workers; t++) total += m->workers[t].served[by];
        if (total) PLX_TRY(plx__report_count_of(m->run, "solvers", server_name(by), total));
    }
    return PLX_OK;
}

plx_status plx__mvk_put_outcome(mvk *m, const mvk_final *final)
{
    plx_index violations = 0;
    PLX_TRY(count_violations(&violations, m, final));
    if (violations)
        plx__warn(m->ctx, "mvkmeans: the reported labels of %lld samples break a rule between classes; raise alpha3%s",
                  (long long)violations, m->rule == MVK_HIER_SUM ? " or set score_scale=mean" : "");
    PLX_TRY(report_servers(m));
    return plx__report_count(m->run, "constraint_violations", violations);
}
