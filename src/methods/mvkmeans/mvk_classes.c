/*
 * Classes, rules and given labels of mvkmeans; the label for samples without evidence; the label program.
 */
#include <stdlib.h>
#include <string.h>

#include "methods/mvkmeans/mvkmeans.h"

/* ---- which classes ---- */

/* Flat rules on a hierarchy know the classes that are nobody's superset. */
static plx_status leaf_classes(mvk *m)
{
    const plx__problem *p = m->run->problem;
    const plx__hierarchy *h = p->hierarchy;
    int32_t *leaf = NULL, next = 0;
    const char **names = NULL;
    PLX_TRY(plx__arena_i32(&leaf, plx__scratch(m->ctx), p->n_classes));
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(m->ctx), p->n_classes));
    for (plx_index s = 0; s < h->n_subset; s++) leaf[h->subset[2 * s + 1]] = -1;
    for (plx_index c = 0; c < p->n_classes; c++) {
        if (leaf[c] < 0) continue;
        names[next] = p->classes[c];
        leaf[c] = next++;
    }
    m->leaf_of = leaf;
    m->names = names;
    m->k = next;
    return PLX_OK;
}

static plx_status hierarchy_rules(mvk *m)
{
    const plx__hierarchy *h = m->run->problem->hierarchy;
    const char *const *names = m->run->problem->classes;
    plx__arena *scratch = plx__scratch(m->ctx);
    PLX_TRY(plx__label_rules_pairs(&m->rules, scratch, names, h->n_classes, h->subset, h->n_subset, h->mutex,
                                   h->n_mutex, m->set->closure));
    return plx__label_rules_pairs(&m->ancestors, scratch, names, h->n_classes, h->subset, h->n_subset, NULL, 0, true);
}

/* ---- given labels ---- */

/* The flat class of a labelled sample, -1 for none; several are an error naming the sample. */
static plx_status flat_label(int32_t *out, mvk *m, plx_index j)
{
    const plx__problem *p = m->run->problem;
    *out = -1;
    for (int64_t e = p->set_ptr[j]; e < p->set_ptr[j + 1]; e++) {
        int32_t c = m->leaf_of ? m->leaf_of[p->set_class[e]] : p->set_class[e];
        if (c < 0 || c == *out) continue;
        if (*out >= 0)
            PLX_FAIL(m->ctx, PLX_E_DATA, "mvkmeans: sample %s has several labels (%s); assignment = %s takes one%s",
                     p->ids[j], p->label_text[j], m->set->assignment,
                     p->hierarchy ? " leaf class, use a hier- assignment for sets"
                                  : ", sets need a hierarchy and a hier- assignment");
        *out = c;
    }
    return PLX_OK;
}

void plx__mvk_add_ancestors(const mvk *m, uint16_t *row, uint16_t bits)
{
    const plx__label_rules *r = &m->ancestors;
    for (plx_index i = 0; i < m->k; i++) {
        if (!(row[i] & bits)) continue;
        for (plx_index a = 0; a < m->k; a++)
            if (r->above[i * r->words + a / 64] & plx__label_bit(a)) row[a] = (uint16_t)(row[a] | bits);
    }
}

/* Bits a label of sample j has: one per present channel, or just one when all channels share it. */
static uint16_t present_bits(const mvk *m, plx_index j)
{
    unsigned bits = 0;
    if (!m->per_view) return 1;
    for (plx_index c = 0; c < m->n_channels; c++)
        if (m->channels[c].present[j]) bits |= 1u << (m->n_channels - 1 - c);
    return (uint16_t)bits;
}

/* The given set as 0/1 with all ancestors. */
static void given_set(const mvk *m, plx_index j, int32_t flat, uint16_t *row)
{
    const plx__problem *p = m->run->problem;
    memset(row, 0, (size_t)m->k * sizeof *row);
    if (!m->hier) {
        row[flat] = 1;
        return;
    }
    for (int64_t e = p->set_ptr[j]; e < p->set_ptr[j + 1]; e++) row[p->set_class[e]] = 1;
    plx__mvk_add_ancestors(m, row, 1);
}

static plx_status open_arrays(mvk *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    PLX_TRY(plx__arena_u8(&m->labelled, scratch, m->n));
    PLX_TRY(PLX__ARENA_NEW(&m->fallback, scratch, m->k));
    if (m->programs) {
        if (m->n > INT64_MAX / 2 / plx__max(m->k, 1))
            PLX_FAIL(m->ctx, PLX_E_NOMEM, "mvkmeans: too many samples and classes");
        PLX_TRY(PLX__ARENA_NEW(&m->pattern, scratch, m->n * m->k));
        PLX_TRY(plx__arena_u8(&m->pending, scratch, m->n));
        if (m->per_view) PLX_TRY(PLX__ARENA_NEW(&m->report, scratch, m->n * m->k));
    } else {
        m->label_width = m->rule == MVK_COTRAIN ? m->n_channels : 1;
        PLX_TRY(plx__arena_i32(&m->label, scratch, m->n * m->label_width));
        memset(m->label, 0xff, (size_t)(m->n * m->label_width) * sizeof *m->label);
        if (m->rule == MVK_COTRAIN) {
            PLX_TRY(plx__arena_i32(&m->taught, scratch, m->n * m->label_width));
            memset(m->taught, 0xff, (size_t)(m->n * m->label_width) * sizeof *m->taught);
        }
    }
    if (m->set->empty == MVK_RESEED && !m->seeded && !m->run->fitted)
        PLX_TRY(plx__arena_f64(&m->own_score, scratch, m->n, 1));
    return PLX_OK;
}

static plx_status take_labels(mvk *m)
{
    uint16_t *row = NULL;
    PLX_TRY(PLX__ARENA_NEW(&row, plx__scratch(m->ctx), m->k));
    for (plx_index j = 0; j < m->n; j++) {
        int32_t flat = -1;
        if (m->run->problem->label[j] < 0) continue;
        if (!m->hier) {
            PLX_TRY(flat_label(&flat, m, j));
            if (flat < 0) continue;
        }
        m->labelled[j] = 1;
        for (plx_index c = 0; c < m->label_width; c++) {
            m->label[j * m->label_width + c] = flat;
            if (m->taught) m->taught[j * m->label_width + c] = flat;
        }
        if (!m->programs) continue;
        given_set(m, j, flat, row);
        uint16_t bits = present_bits(m, j);
        for (plx_index i = 0; i < m->k; i++) m->pattern[j * m->k + i] = row[i] ? bits : 0;
        if (m->per_view) memcpy(m->report + j * m->k, row, (size_t)m->k * sizeof *row);
    }
    return PLX_OK;
}

/* ---- the label without evidence ---- */

typedef struct labelled_set {
    const uint16_t *row;
    plx_index k;
} labelled_set;

/* Descending: the lexicographically largest comes first. */
static int by_set(const void *a_, const void *b_)
{
    const labelled_set *a = a_, *b = b_;
    for (plx_index i = 0; i < a->k; i++) {
        bool x = a->row[i] != 0, y = b->row[i] != 0;
        if (x != y) return x ? -1 : 1;
    }
    return 0;
}

static plx_status most_frequent_set(mvk *m)
{
    labelled_set *sets = NULL;
    plx_index n = 0, best = 0, length = 0, run_length = 0;
    PLX_TRY(PLX__ARENA_NEW(&sets, plx__scratch(m->ctx), m->n));
    for (plx_index j = 0; j < m->n; j++)
        if (m->labelled[j]) sets[n++] = (labelled_set){(m->report ? m->report : m->pattern) + j * m->k, m->k};
    qsort(sets, (size_t)n, sizeof *sets, by_set);
    for (plx_index i = 0; i < n; i++) {
        run_length = i > 0 && by_set(&sets[i - 1], &sets[i]) == 0 ? run_length + 1 : 1;
        if (run_length > length) {
            length = run_length;
            best = i;
        }
    }
    for (plx_index i = 0; n && i < m->k; i++) m->fallback[i] = sets[best].row[i] != 0;
    return PLX_OK;
}

static plx_status most_frequent_class(mvk *m)
{
    plx_index *count = NULL;
    PLX_TRY(plx__arena_i64(&count, plx__scratch(m->ctx), m->k));
    for (plx_index j = 0; j < m->n; j++) {
        if (!m->labelled[j]) continue;
        for (plx_index i = 0; i < m->k; i++)
            if (m->label ? m->label[j * m->label_width] == i : m->report[j * m->k + i]) count[i]++;
    }
    for (int32_t i = 1; i < m->k; i++)
        if (count[i] > count[m->fallback_class]) m->fallback_class = i;
    m->fallback[m->fallback_class] = 1;
    return PLX_OK;
}

/* A class nobody with a view is labelled with has no centroid and scores 0. */
static plx_status warn_unlabelled_classes(mvk *m)
{
    uint8_t *seen = NULL;
    plx_index missing = 0, first = -1;
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(m->ctx), m->k));
    for (plx_index j = 0; j < m->n; j++) {
        bool covered = false;
        for (plx_index c = 0; c < m->n_channels; c++) covered |= m->channels[c].present[j];
        if (!m->labelled[j] || !covered) continue;
        if (m->label) seen[m->label[j * m->label_width]] = 1;
        for (plx_index i = 0; !m->label && i < m->k; i++) seen[i] |= m->pattern[j * m->k + i] != 0;
    }
    for (plx_index i = 0; i < m->k; i++) {
        if (seen[i]) continue;
        if (first < 0) first = i;
        missing++;
    }
    if (missing)
        plx__warn(m->ctx,
                  "mvkmeans: %lld classes have no labelled sample with a view, e.g. '%s'; they cannot be predicted "
                  "unless the start gives them a centroid",
                  (long long)missing, m->names[first]);
    return PLX_OK;
}

/* ---- fitting and predicting ---- */

static plx_status has_given_label(bool *out, mvk *m)
{
    *out = false;
    for (plx_index j = 0; j < m->n; j++) {
        int32_t flat = 0;
        if (m->run->problem->label[j] < 0) continue;
        if (!m->hier) PLX_TRY(flat_label(&flat, m, j));
        if (flat >= 0) *out = true;
    }
    return PLX_OK;
}

static plx_status check_clusters(mvk *m)
{
    if (m->hier && !m->seeded)
        PLX_FAIL(m->ctx, PLX_E_DATA, "assignment = %s: no sample is labelled; a hier- assignment needs at least one",
                 m->set->assignment);
    if (m->seeded && m->set->clusters >= 0)
        PLX_FAIL(m->ctx, PLX_E_ARG,
                 "clusters = %lld: some samples are labelled, the labels give the classes; leave clusters out",
                 (long long)m->set->clusters);
    if (!m->seeded && m->set->clusters < 0)
        PLX_FAIL(m->ctx, PLX_E_ARG, "mvkmeans: no sample is labelled%s; label some, or set clusters=K to cluster",
                 m->leaf_of ? " with a leaf class" : "");
    return PLX_OK;
}

static plx_status read_state(mvk *m)
{
    plx_cmat fallback;
    double seeded = 0;
    PLX_TRY(plx__store_scalar(&seeded, m->ctx, m->run->fitted, "_seeded"));
    PLX_TRY(plx__store_dense(&fallback, m->ctx, m->run->fitted, "_fallback"));
    m->seeded = seeded != 0;
    if (!m->seeded) {
        m->k = fallback.cols;
        m->names = NULL;
    }
    if (fallback.cols != m->k || m->k < 1)
        PLX_FAIL(m->ctx, PLX_E_FORMAT, "the model's array '_fallback' does not fit its classes");
    PLX_TRY(open_arrays(m));
    for (plx_index i = m->k - 1; i >= 0; i--) {
        m->fallback[i] = fallback.data[i] != 0;
        if (m->fallback[i]) m->fallback_class = (int32_t)i;
    }
    return PLX_OK;
}

plx_status plx__mvk_open_classes(mvk *m)
{
    const plx__problem *p = m->run->problem;
    if (m->hier && !p->hierarchy)
        PLX_FAIL(m->ctx, PLX_E_DATA,
                 "assignment = %s: the data set has no hierarchy; add one or use sumscore, prodscore or maxagree",
                 m->set->assignment);
    m->k = p->n_classes;
    m->names = p->classes;
    if (p->hierarchy) PLX_TRY(hierarchy_rules(m));
    if (p->hierarchy && !m->hier) PLX_TRY(leaf_classes(m));
    if (m->run->fitted) return read_state(m);
    PLX_TRY(has_given_label(&m->seeded, m));
    PLX_TRY(check_clusters(m));
    if (!m->seeded) {
        m->k = m->set->clusters;
        m->names = NULL;
    }
    PLX_TRY(open_arrays(m));
    if (m->seeded) {
        PLX_TRY(take_labels(m));
        PLX_TRY(warn_unlabelled_classes(m));
    }
    return m->hier ? most_frequent_set(m) : most_frequent_class(m);
}

plx_status plx__mvk_plan(mvk *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx__label_weights each = {m->set->alpha1, m->set->alpha2, m->set->alpha3}, shared = {1, 0, m->set->alpha3};
    if (!m->hier) PLX_TRY(plx__label_rules_flat(&m->rules, scratch, m->k));
    return plx__label_plan(&m->program, scratch, &m->rules, m->per_view ? each : shared,
                           m->per_view ? (int)m->n_channels : 1);
}
