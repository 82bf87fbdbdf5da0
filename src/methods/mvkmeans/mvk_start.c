/*
 * Where the iteration starts: labels, k-means++, random classes, or a file. The start makes centroids and is then
 * forgotten: before the first E step unlabelled samples have no label.
 */
#include <string.h>

#include "core/number.h"
#include "core/ranks.h"
#include "core/rng.h"
#include "data/divided.h"
#include "data/lines.h"
#include "linalg/dense.h"
#include "methods/mvkmeans/mvkmeans.h"
#include "cluster/kmeanspp.h"

/* ---- the start assignment as one class per sample ---- */

static bool usable(const mvk *m, plx_index j)
{
    for (plx_index c = 0; c < m->n_channels; c++)
        if (m->channels[c].present[j]) return true;
    return false;
}

/* One integer per line of the caller's data; a given label wins. */
static plx_status read_file(mvk *m, int32_t *start)
{
    const plx__problem *p = m->run->problem;
    const char *name = m->set->init + strlen("file:"), *path = NULL;
    const char *const *lines = NULL;
    plx_index count = 0;
    PLX_TRY(plx__path_join(&path, plx__scratch(m->ctx), p->directory, name));
    PLX_TRY(plx__lines_read(&lines, &count, m->ctx, plx__scratch(m->ctx), path));
    if (count != p->rows)
        PLX_FAIL(m->ctx, PLX_E_DATA, "init = %s: the file has %lld lines, the data set %lld samples", m->set->init,
                 (long long)count, (long long)p->rows);
    for (plx_index j = 0; j < m->n; j++) {
        int64_t value = -1;
        if (!plx__parse_int64(&value, lines[p->row[j]]) || value < -1 || value >= m->k)
            PLX_FAIL(m->ctx, PLX_E_DATA, "init = %s: line %lld: '%s' is not an index from -1 (none) to %lld",
                     m->set->init, (long long)p->row[j] + 1, lines[p->row[j]], (long long)m->k - 1);
        start[j] = (int32_t)value;
    }
    return PLX_OK;
}

static void draw_classes(mvk *m, int32_t *start, plx_index restart)
{
    uint64_t stream = PLX__STREAM('m', 'v', 'k', 'r', restart);
    for (plx_index j = 0; j < m->n; j++)
        if (usable(m, j))
            start[j] =
                (int32_t)(plx__rng_uniform(m->ctx->seed, stream, (uint64_t)m->run->problem->row[j]) * (double)m->k);
}

/* ---- k-means++ ---- */

typedef struct spreading {
    mvk *m;
    double **centre; /* per channel: the newest centre, dense */
} spreading;

static bool has_channel(const void *arg, plx_index channel, plx_index sample)
{
    return ((const spreading *)arg)->m->channels[channel].present[sample];
}

static double cosine_distance(const void *arg, plx_index channel, plx_index sample)
{
    const spreading *q = arg;
    const mvk_channel *ch = &q->m->channels[channel];
    double cosine = 0;
    for (plx_index p = 0; p < ch->n_parts; p++) cosine += plx__part_dot(&ch->parts[p], sample, q->centre[channel]);
    return 1 - cosine;
}

static plx_status open_spreading(spreading *q, mvk *m)
{
    *q = (spreading){.m = m};
    PLX_TRY(PLX__ARENA_NEW(&q->centre, plx__scratch(m->ctx), m->n_channels));
    for (plx_index c = 0; c < m->n_channels; c++)
        PLX_TRY(plx__arena_f64(&q->centre[c], plx__scratch(m->ctx), m->channels[c].cols, 1));
    return PLX_OK;
}

/* Sample j becomes a centre; where rows are divided, the rank that has it tells the others. */
static plx_status set_centre(spreading *q, plx_index j)
{
    plx_context *ctx = q->m->ctx;
    for (plx_index c = 0; c < q->m->n_channels; c++) {
        const mvk_channel *ch = &q->m->channels[c];
        const plx__view *v = ch->parts[0].view;
        size_t bytes = (size_t)ch->cols * sizeof *q->centre[c];
        memset(q->centre[c], 0, bytes);
        for (plx_index p = 0; plx__holds(v, j) && p < ch->n_parts; p++) plx__part_add(q->centre[c], &ch->parts[p], j);
        if (v->divided) PLX_TRY(plx__peers_spread(ctx, plx__held_owner(ctx, v, j), q->centre[c], bytes));
    }
    return PLX_OK;
}

static plx_status seeded_classes(spreading *q, plx__kmeanspp *spread, uint8_t *has)
{
    mvk *m = q->m;
    for (plx_index j = 0; j < m->n; j++) {
        if (!m->labelled[j]) continue;
        if (m->label) has[m->label[j * m->label_width]] = 1;
        for (plx_index i = 0; !m->label && i < m->k; i++) has[i] |= m->pattern[j * m->k + i] != 0;
    }
    PLX_TRY(plx__mvk_all_centroids(m));
    for (plx_index i = 0; i < m->k; i++) {
        if (!has[i]) continue;
        for (plx_index c = 0; c < m->n_channels; c++)
            memcpy(q->centre[c], m->channels[c].centroids.data + i * m->channels[c].cols,
                   (size_t)m->channels[c].cols * sizeof(double));
        PLX_TRY(plx__kmeanspp_take(spread, m->ctx));
    }
    return PLX_OK;
}

/* Labelled classes have their centres; every other class in turn takes a sample far from all centres. */
static plx_status spread_centres(mvk *m, int32_t *start, plx_index restart)
{
    spreading q;
    plx__kmeanspp spread = {
        .n = m->n, .n_channels = m->n_channels, .present = has_channel, .distance = cosine_distance, .arg = &q};
    spread.divided = m->channels[0].parts[0].view;
    plx__rng rng = plx__rng_start(m->ctx->seed, PLX__STREAM('m', 'v', 'k', 'p', restart));
    uint8_t *has = NULL;
    plx_index covered = 0;
    PLX_TRY(open_spreading(&q, m));
    PLX_TRY(plx__kmeanspp_open(&spread, m->ctx));
    PLX_TRY(plx__arena_u8(&has, plx__scratch(m->ctx), m->k));
    for (plx_index j = 0; j < m->n; j++) covered += usable(m, j);
    if (!covered) return PLX_OK;
    if (m->seeded) PLX_TRY(seeded_classes(&q, &spread, has));
    for (plx_index i = 0; i < m->k; i++) {
        if (has[i]) continue;
        plx_index j = plx__kmeanspp_draw(&spread, &rng);
        start[j] = (int32_t)i;
        PLX_TRY(set_centre(&q, j));
        PLX_TRY(plx__kmeanspp_take(&spread, m->ctx));
    }
    return PLX_OK;
}

/* ---- from the start assignment to centroids ---- */

static void put_start(mvk *m, plx_index j, int32_t class)
{
    for (plx_index c = 0; c < m->label_width; c++) m->label[j * m->label_width + c] = class;
    if (!m->programs || class < 0) return;
    uint16_t bits = (uint16_t)(m->per_view ? (1u << m->n_channels) - 1 : 1u), *row = m->pattern + j * m->k;
    row[class] = bits;
    if (m->hier) plx__mvk_add_ancestors(m, row, bits);
}

static void clear_unlabelled(mvk *m)
{
    for (plx_index j = 0; j < m->n; j++) {
        if (m->labelled[j]) continue;
        for (plx_index c = 0; c < m->label_width; c++) m->label[j * m->label_width + c] = -1;
        if (m->taught) memset(m->taught + j * m->label_width, 0xff, (size_t)m->label_width * sizeof *m->taught);
        if (m->programs) memset(m->pattern + j * m->k, 0, (size_t)m->k * sizeof *m->pattern);
        if (m->report) memset(m->report + j * m->k, 0, (size_t)m->k * sizeof *m->report);
    }
}

static plx_status start_centroids(mvk *m)
{
    for (plx_index c = 0; c < m->n_channels; c++) plx__mat_fill(m->channels[c].centroids, 0);
    return plx__mvk_all_centroids(m);
}

plx_status plx__mvk_start_once(mvk *m, mvk_start from, plx_index restart)
{
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    int32_t *start = NULL;
    PLX_TRY(plx__arena_i32(&start, plx__scratch(m->ctx), m->n));
    for (plx_index j = 0; j < m->n; j++) start[j] = -1;
    clear_unlabelled(m);
    if (from == MVK_FROM_FILE) PLX_TRY(read_file(m, start));
    if (from == MVK_FROM_RANDOM) draw_classes(m, start, restart);
    if (from == MVK_FROM_KMEANSPP) PLX_TRY(spread_centres(m, start, restart));
    for (plx_index j = 0; j < m->n; j++)
        if (!m->labelled[j] && start[j] >= 0) put_start(m, j, start[j]);
    PLX_TRY(start_centroids(m));
    clear_unlabelled(m);
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return PLX_OK;
}
