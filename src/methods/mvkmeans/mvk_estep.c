/*
 * E step: every sample gets the label, or the label sets, that are best for its scores.
 *
 * Samples are independent: chunks of rows run in parallel, each worker with its own scores and solver memory. Sums
 * over samples are added chunk by chunk. Programs that only the search can solve are done afterwards, one by one.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "methods/mvkmeans/mvkmeans.h"

enum { WAITS_FOR_SET = 1, WAITS_FOR_REPORT = 2 };

typedef struct pass {
    mvk *m;
    bool assign, report;
    plx_index first;   /* sample the loop counts from */
    double *objective; /* per chunk */
    int64_t *flips;
} pass;

/* ---- patterns over the present views, and over all channels ---- */

static void expand(const mvk *m, uint16_t *pattern, plx_index j, int s)
{
    if (!m->per_view || s == m->n_channels) return;
    for (plx_index i = 0; i < m->k; i++) {
        unsigned all = 0;
        int at = s;
        for (plx_index c = 0; c < m->n_channels; c++)
            if (m->channels[c].present[j] && (pattern[i] >> --at & 1)) all |= 1u << (m->n_channels - 1 - c);
        pattern[i] = (uint16_t)all;
    }
}

static void compress(const mvk *m, uint16_t *to, const uint16_t *pattern, plx_index j, int s)
{
    if (!m->per_view || s == m->n_channels) {
        memcpy(to, pattern, (size_t)m->k * sizeof *to);
        return;
    }
    for (plx_index i = 0; i < m->k; i++) {
        unsigned present = 0;
        for (plx_index c = 0; pattern[i] && c < m->n_channels; c++)
            if (m->channels[c].present[j]) present = present << 1 | (pattern[i] >> (m->n_channels - 1 - c) & 1);
        to[i] = (uint16_t)present;
    }
}

/* ---- one sample of a label program ---- */

static bool all_zero(const double *const *rows, int s, plx_index k)
{
    for (int v = 0; v < s; v++)
        for (plx_index i = 0; i < k; i++)
            if (rows[v][i] != 0) return false;
    return true;
}

/* What the program of sample j sees: its views, or the one effective row. Returns the number of rows. */
static int program_rows(const mvk *m, mvk_worker *w, int s)
{
    if (m->per_view) return s;
    plx__mvk_effective(m, w, s);
    w->rows[0] = w->effective;
    return 1;
}

static bool no_evidence(const mvk *m, mvk_worker *w, int rows)
{
    return rows == 0 || all_zero((const double *const *)w->rows, rows, m->k);
}

static void fall_back(const mvk *m, uint16_t *pattern, int rows)
{
    for (plx_index i = 0; i < m->k; i++) pattern[i] = (uint16_t)(m->fallback[i] ? (1u << rows) - 1 : 0);
}

bool plx__mvk_solve_row(const mvk *m, mvk_worker *w, plx_index j, int s)
{
    int rows = program_rows(m, w, s);
    int by = MVK_NO_EVIDENCE;
    if (no_evidence(m, w, rows)) fall_back(m, w->pattern, rows);
    else by = (int)plx__label_solve(w->pattern, m->program, w->label, (const double *const *)w->rows, rows);
    if (by == PLX__LABEL_NONE) return false;
    w->served[by]++;
    expand(m, w->pattern, j, s);
    return true;
}

bool plx__mvk_report_row(const mvk *m, mvk_worker *w, plx_index j, int s)
{
    if (no_evidence(m, w, s)) {
        memcpy(w->report, m->fallback, (size_t)m->k * sizeof *w->report);
        return true;
    }
    uint16_t *present = w->pattern + m->k;
    compress(m, present, w->pattern, j, s);
    return plx__label_report(w->report, m->program, w->label, present, (const double *const *)w->rows, s) !=
           PLX__LABEL_NONE;
}

static double row_value(const mvk *m, mvk_worker *w, plx_index j, int s)
{
    int rows = m->per_view ? s : 1;
    if (rows == 0) return 0;
    uint16_t *present = w->pattern + m->k;
    compress(m, present, w->pattern, j, s);
    return plx__label_value(m->program, w->label, present, (const double *const *)w->rows, rows);
}

static int64_t commit_row(mvk *m, const uint16_t *pattern, plx_index j)
{
    uint16_t *row = m->pattern + j * m->k;
    int64_t flips = 0;
    for (plx_index i = 0; i < m->k; i++) flips += __builtin_popcount(row[i] ^ pattern[i]);
    memcpy(row, pattern, (size_t)m->k * sizeof *row);
    return flips;
}

/* ---- programs over a chunk ---- */

static void keep_own_score(mvk *m, mvk_worker *w, plx_index j, int s)
{
    if (!m->own_score) return;
    m->own_score[j] = 0;
    for (plx_index i = 0; i < m->k; i++)
        for (int v = 0; v < s && w->report[i]; v++) m->own_score[j] += w->rows[v][i];
}

static void report_sample(pass *q, mvk_worker *w, plx_index j, int s)
{
    mvk *m = q->m;
    if (!q->report || !m->per_view || m->labelled[j]) return;
    if (!plx__mvk_report_row(m, w, j, s)) {
        m->pending[j] |= WAITS_FOR_REPORT;
        return;
    }
    memcpy(m->report + j * m->k, w->report, (size_t)m->k * sizeof *w->report);
    keep_own_score(m, w, j, s);
}

static void program_sample(pass *q, mvk_worker *w, plx_index begin, plx_index j, double *objective, int64_t *flips)
{
    mvk *m = q->m;
    int s = plx__mvk_present_rows(m, w, begin, j);
    m->pending[j] = 0;
    if (q->assign && !m->labelled[j]) {
        if (!plx__mvk_solve_row(m, w, j, s)) {
            m->pending[j] = WAITS_FOR_SET;
            return;
        }
        *flips += commit_row(m, w->pattern, j);
    } else {
        program_rows(m, w, s);
        memcpy(w->pattern, m->pattern + j * m->k, (size_t)m->k * sizeof *w->pattern);
    }
    if (q->assign) *objective += row_value(m, w, j, s);
    report_sample(q, w, j, s);
}

/* ---- one label per sample ---- */

static void label_sample(pass *q, mvk_worker *w, plx_index begin, plx_index j, double *objective, int64_t *flips)
{
    mvk *m = q->m;
    int s = plx__mvk_present_rows(m, w, begin, j);
    const double *x = w->effective;
    if (s == 1 && m->rule != MVK_PROD) x = w->rows[0];
    else plx__mvk_effective(m, w, s);
    if (!m->labelled[j]) {
        int32_t best = plx__mvk_argmax(x, m->k);
        w->served[best < 0 ? MVK_NO_EVIDENCE : MVK_ARGMAX]++;
        if (best < 0) best = m->fallback_class;
        *flips += best == m->label[j] ? 0 : m->label[j] < 0 ? 1 : 2;
        m->label[j] = best;
    }
    *objective += x[m->label[j]];
    if (m->own_score) m->own_score[j] = x[m->label[j]];
}

static plx_status assign_chunk(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    pass *q = arg;
    mvk *m = q->m;
    mvk_worker *w = &m->workers[worker];
    double objective = 0;
    int64_t flips = 0;
    (void)ctx;
    begin += q->first;
    end += q->first;
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__mvk_score_chunk(m, w, c, begin, end));
    for (plx_index j = begin; j < end; j++) {
        if (m->programs) program_sample(q, w, begin, j, &objective, &flips);
        else label_sample(q, w, begin, j, &objective, &flips);
    }
    q->objective[begin / m->chunk] = objective;
    q->flips[begin / m->chunk] = flips;
    return PLX_OK;
}

/* ---- what was left to the search ---- */

static plx_status search_sample(pass *q, plx_index j, mvk_step *out)
{
    mvk *m = q->m;
    mvk_worker *w = &m->workers[0];
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__mvk_score_chunk(m, w, c, j, j + 1));
    int s = plx__mvk_present_rows(m, w, j, j), rows = program_rows(m, w, s);
    const double *const *scores = (const double *const *)w->rows;
    if (m->pending[j] & WAITS_FOR_SET) {
        PLX_TRY(plx__label_search(w->pattern, m->ctx, m->program, scores, rows));
        w->served[PLX__LABEL_SEARCH]++;
        expand(m, w->pattern, j, s);
        out->flips += commit_row(m, w->pattern, j);
        out->objective += row_value(m, w, j, s);
        m->pending[j] = 0;
        report_sample(q, w, j, s);
    }
    if (!(m->pending[j] & WAITS_FOR_REPORT)) return PLX_OK;
    uint16_t *present = w->pattern + m->k;
    compress(m, present, m->pattern + j * m->k, j, s);
    PLX_TRY(plx__label_search_report(w->report, m->ctx, m->program, present, scores, s));
    memcpy(m->report + j * m->k, w->report, (size_t)m->k * sizeof *w->report);
    keep_own_score(m, w, j, s);
    m->pending[j] = 0;
    return PLX_OK;
}

plx_status plx__mvk_share_labels(mvk *m)
{
    return plx__slabs_share(m->ctx, m->cut, m->label, (size_t)m->label_width * sizeof *m->label, 1);
}

/* Do others look at the labels of a process's samples before the end? The M step and what counts flips do not. */
static bool labels_are_everywhere(const mvk *m)
{
    return m->run->fitted || m->run->checkpoint || m->own_score || m->programs;
}

/* What each process found out about its samples, to all of them. */
static plx_status share_pass(const pass *q)
{
    mvk *m = q->m;
    size_t bits = (size_t)m->k * sizeof *m->pattern;
    int64_t served[MVK_SERVERS] = {0};
    if (m->ctx->peers.ranks == 1 || m->cut.alone) return PLX_OK;
    PLX_TRY(plx__slabs_share(m->ctx, m->cut, q->objective, sizeof *q->objective, m->chunk));
    PLX_TRY(plx__slabs_share(m->ctx, m->cut, q->flips, sizeof *q->flips, m->chunk));
    if (labels_are_everywhere(m)) PLX_TRY(plx__mvk_share_labels(m));
    PLX_TRY(plx__slabs_share(m->ctx, m->cut, m->pattern, bits, 1));
    PLX_TRY(plx__slabs_share(m->ctx, m->cut, m->report, bits, 1));
    PLX_TRY(plx__slabs_share(m->ctx, m->cut, m->pending, sizeof *m->pending, 1));
    PLX_TRY(plx__slabs_share(m->ctx, m->cut, m->own_score, sizeof *m->own_score, 1));
    for (int t = 0; q->assign && t < m->n_workers; t++)
        for (int by = 0; by < MVK_SERVERS; by++) {
            served[by] += m->workers[t].served[by];
            m->workers[t].served[by] = 0;
        }
    if (!q->assign) return PLX_OK;
    PLX_TRY(plx__peers_total(m->ctx, served, MVK_SERVERS));
    memcpy(m->workers[0].served, served, sizeof served);
    return PLX_OK;
}

static plx_status run_pass(mvk *m, mvk_step *out, bool assign, bool report)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    pass q = {.m = m, .assign = assign, .report = report};
    plx_index chunks = (m->n + m->chunk - 1) / m->chunk, end = 0;
    *out = (mvk_step){0, 0};
    PLX_TRY(plx__arena_f64(&q.objective, scratch, chunks, 1));
    PLX_TRY(plx__arena_i64(&q.flips, scratch, chunks));
    if (assign)
        for (int t = 0; t < m->n_workers; t++) memset(m->workers[t].served, 0, sizeof m->workers[t].served);
    plx__slabs_mine(&q.first, &end, m->ctx, m->cut);
    PLX_TRY(plx__parallel_for(m->ctx, end - q.first, m->chunk, assign_chunk, &q));
    PLX_TRY(share_pass(&q));
    out->objective = plx__sum(q.objective, chunks);
    for (plx_index c = 0; c < chunks; c++) out->flips += q.flips[c];
    for (plx_index j = 0; m->programs && j < m->n; j++) {
        if (!m->pending[j]) continue;
        PLX_TRY(plx__poll(m->ctx));
        PLX_TRY(search_sample(&q, j, out));
    }
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

plx_status plx__mvk_assign(mvk *m, mvk_step *out, bool report)
{
    bool done = false;
    PLX_TRY(plx__mvk_device_assign(&done, m, out));
    return done ? PLX_OK : run_pass(m, out, true, report || m->own_score);
}

plx_status plx__mvk_report(mvk *m)
{
    mvk_step ignored;
    if (!m->per_view) return PLX_OK;
    return run_pass(m, &ignored, false, true);
}

/* ---- empty=reseed ---- */

/* The class a sample stands for: its label, its first view's, or the first of its reported set; -1: none. */
static int32_t class_of(const mvk *m, plx_index j)
{
    for (plx_index c = 0; c < m->label_width; c++)
        if (m->label[j * m->label_width + c] >= 0) return m->label[j * m->label_width + c];
    for (plx_index i = 0; m->programs && i < m->k; i++)
        if (m->report[j * m->k + i]) return (int32_t)i;
    return -1;
}

static bool has_view(const mvk *m, plx_index j)
{
    for (plx_index c = 0; c < m->n_channels; c++)
        if (m->channels[c].present[j]) return true;
    return false;
}

/* Views are taught by each other's centroids, so a class without any needs its centroids at once. */
static plx_status place_centroid(mvk *m, plx_index j, int32_t i)
{
    for (plx_index c = 0; c < m->n_channels; c++) {
        mvk_channel *ch = &m->channels[c];
        double *row = ch->centroids.data + i * ch->centroids.ld;
        if (!ch->present[j]) continue;
        memset(row, 0, (size_t)ch->cols * sizeof *row);
        for (plx_index p = 0; p < ch->n_parts; p++) plx__part_add(row, &ch->parts[p], j);
        PLX_TRY(plx__mvk_refresh_columns(m, c));
    }
    return PLX_OK;
}

/* Sample j moves to class i in everything it has; returns the bits that changed. */
static int64_t move_sample(mvk *m, plx_index j, int32_t i)
{
    int64_t flips = 0;
    for (plx_index c = 0; c < m->label_width; c++) {
        int32_t *label = &m->label[j * m->label_width + c];
        if (m->label_width > 1 && !m->channels[c].present[j]) continue;
        flips += *label == i ? 0 : *label < 0 ? 1 : 2;
        *label = i;
        if (m->taught) m->taught[j * m->label_width + c] = i;
    }
    if (!m->programs) return flips;
    uint16_t *row = m->workers[0].pattern, all = 0;
    for (plx_index c = 0; c < m->n_channels; c++)
        if (m->channels[c].present[j]) all = (uint16_t)(all | 1u << (m->n_channels - 1 - c));
    memset(row, 0, (size_t)m->k * sizeof *row);
    memset(m->report + j * m->k, 0, (size_t)m->k * sizeof *row);
    row[i] = all;
    m->report[j * m->k + i] = 1;
    return commit_row(m, row, j);
}

/* Samples per class (by class_of), and whether any bit at all is set for a class. */
static void count_members(const mvk *m, plx_index *members, uint8_t *used)
{
    for (plx_index j = 0; j < m->n; j++) {
        int32_t own = class_of(m, j);
        if (own >= 0) {
            members[own]++;
            used[own] = 1;
        }
        for (plx_index c = 0; c < m->label_width; c++)
            if (m->label[j * m->label_width + c] >= 0) used[m->label[j * m->label_width + c]] = 1;
        for (plx_index i = 0; m->programs && i < m->k; i++) used[i] |= m->pattern[j * m->k + i] != 0;
    }
}

plx_status plx__mvk_reseed(mvk *m, mvk_step *step)
{
    if (!m->own_score) return PLX_OK;
    plx__arena *scratch = plx__scratch(m->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index *members = NULL;
    uint8_t *used = NULL, *taken = NULL;
    PLX_TRY(plx__arena_i64(&members, scratch, m->k));
    PLX_TRY(plx__arena_u8(&used, scratch, m->k));
    PLX_TRY(plx__arena_u8(&taken, scratch, m->n));
    count_members(m, members, used);
    for (int32_t i = 0; i < m->k; i++) {
        if (used[i]) continue;
        plx_index worst = -1;
        for (plx_index j = 0; j < m->n; j++) {
            int32_t own = class_of(m, j);
            if (taken[j] || own < 0 || members[own] < 2 || !has_view(m, j)) continue;
            if (worst < 0 || m->own_score[j] < m->own_score[worst]) worst = j;
        }
        if (worst < 0) break;
        members[class_of(m, worst)]--;
        members[i]++;
        taken[worst] = 1;
        step->flips += move_sample(m, worst, i);
        if (m->rule == MVK_COTRAIN) PLX_TRY(place_centroid(m, worst, i));
    }
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}
