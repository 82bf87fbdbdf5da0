/*
 * Settings and data of mvkmeans: the assignment rule, and the views as unit rows (by a factor per row, not a copy).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/parallel.h"
#include "core/tally.h"
#include "data/divided.h"
#include "kernel/prepared.h"
#include "linalg/dense.h"
#include "methods/mvkmeans/mvkmeans.h"

enum { CHUNK_DOUBLES = 1 << 14, LEAST_CHUNK = 16, LARGEST_CHUNK = 256 };

/* ---- the rule ---- */

plx_status plx__mvk_read_rule(mvk_rule *rule, const char **single, plx__run *run)
{
    static const char *const names[] = {"single:", "concat",        "sumscore",       "prodscore",    "maxagree",
                                        "cotrain", "hier-sumscore", "hier-prodscore", "hier-maxagree"};
    const char *text = ((const mvk_params *)run->params)->assignment;
    char near[128];
    *single = NULL;
    if (plx__starts_with(text, names[MVK_SINGLE])) {
        *rule = MVK_SINGLE;
        *single = text + strlen(names[MVK_SINGLE]);
        return PLX_OK;
    }
    for (int r = MVK_CONCAT; r <= MVK_HIER_AGREE; r++)
        if (strcmp(text, names[r]) == 0) {
            *rule = (mvk_rule)r;
            return PLX_OK;
        }
    PLX_FAIL(run->ctx, PLX_E_ARG,
             "assignment = %s: expected single:VIEW, concat, sumscore, prodscore, maxagree, cotrain, hier-sumscore, "
             "hier-prodscore or hier-maxagree%s",
             text, plx__suggest(near, sizeof near, text, names + 1, MVK_HIER_AGREE));
}

/* ---- views ---- */

/* The view scaled as `scale` says, by what the model knows when predicting. */
static plx_status scaled_view(plx__view *out, mvk *m, plx_index view)
{
    const plx__view *own = &m->run->problem->views[view];
    plx__prepared data;
    PLX_TRY(plx__prepare_rows(&data, m->run, view));
    *out = (plx__view){.name = own->name,
                       .kind = own->kind,
                       .sparse = plx__points_sparse(data.rows),
                       .dense = data.rows.dense,
                       .csr = data.rows.csr,
                       .cols = data.cols,
                       .present_count = data.n_present,
                       .present = data.present,
                       .divided = own->divided,
                       .begin = own->begin,
                       .end = own->end,
                       .bound = own->bound};
    return PLX_OK;
}

static plx_status scale_views(mvk *m)
{
    const plx__problem *p = m->run->problem;
    plx_index only = -1;
    if (m->rule == MVK_SINGLE) PLX_TRY(plx__require_view(&only, m->run, m->single, "assignment = single:VIEW, VIEW"));
    PLX_TRY(PLX__ARENA_NEW(&m->scaled, plx__scratch(m->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++)
        if (only < 0 || v == only) PLX_TRY(scaled_view(&m->scaled[v], m, v));
    return PLX_OK;
}

/* factor = 1 / norm for unit rows (or the norm itself, when the caller joins views). */
static plx_status measure_rows(mvk *m, plx__row_part *part, bool invert)
{
    const plx__view *v = part->view;
    PLX_TRY(plx__arena_f64(&part->factor, plx__scratch(m->ctx), m->n, 1));
    for (plx_index j = plx__held_begin(v); j < plx__held_end(v, m->n); j++) {
        plx__breathe(m->ctx, j);
        if (!v->present[j]) continue;
        double norm = plx__view_row_norm(v, j);
        if (!(norm <= 1e300))
            PLX_FAIL(m->ctx, PLX_E_DATA,
                     "mvkmeans: view '%s' row %lld: its values are too large to be normalised; scale the view", v->name,
                     (long long)m->run->problem->row[j]);
        if (norm >= 1e-300) part->factor[j] = invert ? 1 / norm : norm;
    }
    return PLX_OK;
}

static plx_status open_centroids(mvk *m, mvk_channel *ch)
{
    PLX_TRY(plx__arena_mat(&ch->centroids, plx__scratch(m->ctx), m->k, ch->cols));
    return plx__arena_mat(&ch->columns, plx__scratch(m->ctx), ch->cols, m->k_padded);
}

static plx_status view_channel(mvk *m, mvk_channel *ch, const plx__view *v)
{
    *ch = (mvk_channel){.name = v->name, .cols = v->cols, .n_parts = 1};
    PLX_TRY(PLX__ARENA_NEW(&ch->parts, plx__scratch(m->ctx), 1));
    PLX_TRY(plx__arena_u8(&ch->present, plx__scratch(m->ctx), m->n));
    ch->parts[0].view = v;
    PLX_TRY(measure_rows(m, &ch->parts[0], true));
    for (plx_index j = 0; j < m->n; j++) ch->present[j] = ch->parts[0].factor[j] > 0;
    return plx__held_share(m->ctx, v, ch->present, 1);
}

/* All views side by side: scaled rows over their joint norm, or unit rows over the root of their number. */
static plx_status concat_channel(mvk *m, mvk_channel *ch)
{
    const plx__problem *p = m->run->problem;
    bool unit = m->set->concat_norm == MVK_NORM_UNIT;
    *ch = (mvk_channel){.name = "concat", .n_parts = p->n_views};
    PLX_TRY(PLX__ARENA_NEW(&ch->parts, plx__scratch(m->ctx), p->n_views));
    PLX_TRY(plx__arena_u8(&ch->present, plx__scratch(m->ctx), m->n));
    for (plx_index v = 0; v < p->n_views; v++) {
        ch->parts[v].view = &m->scaled[v];
        ch->parts[v].first = ch->cols;
        ch->cols += p->views[v].cols;
        PLX_TRY(measure_rows(m, &ch->parts[v], false));
    }
    for (plx_index j = 0; j < m->n; j++) {
        double joint = 0, count = 0;
        for (plx_index v = 0; v < p->n_views; v++) {
            joint = hypot(joint, ch->parts[v].factor[j]);
            count += ch->parts[v].factor[j] > 0;
        }
        ch->present[j] = joint > 0;
        for (plx_index v = 0; v < p->n_views; v++) {
            double *f = &ch->parts[v].factor[j];
            if (*f > 0) *f = unit ? 1 / (*f * sqrt(count)) : 1 / joint;
        }
    }
    return plx__held_share(m->ctx, ch->parts[0].view, ch->present, 1);
}

static plx_status open_channels(mvk *m)
{
    const plx__problem *p = m->run->problem;
    plx_index view = 0;
    m->n_channels = m->rule == MVK_SINGLE || m->rule == MVK_CONCAT ? 1 : p->n_views;
    PLX_TRY(scale_views(m));
    PLX_TRY(PLX__ARENA_NEW(&m->channels, plx__scratch(m->ctx), m->n_channels));
    if (m->rule == MVK_CONCAT) PLX_TRY(concat_channel(m, &m->channels[0]));
    else if (m->rule == MVK_SINGLE) {
        PLX_TRY(plx__require_view(&view, m->run, m->single, "assignment = single:VIEW, VIEW"));
        PLX_TRY(view_channel(m, &m->channels[0], &m->scaled[view]));
    } else
        for (plx_index v = 0; v < p->n_views; v++) PLX_TRY(view_channel(m, &m->channels[v], &m->scaled[v]));
    return PLX_OK;
}

/* Samples that have views, but none the rule looks at; those without any are counted for every method. */
static void warn_unused(mvk *m)
{
    const plx__problem *p = m->run->problem;
    plx_index count = 0, first = -1;
    for (plx_index j = 0; j < m->n; j++) {
        bool used = false, has = false;
        for (plx_index c = 0; c < m->n_channels; c++) used |= m->channels[c].present[j];
        for (plx_index v = 0; v < p->n_views; v++) has |= p->views[v].present[j];
        if (used || !has) continue;
        if (first < 0) first = j;
        count++;
    }
    if (count)
        plx__warn_samples(m->ctx, count, p->ids[first],
                          "mvkmeans: " PLX__COUNT_HERE " samples have no view that is used, e.g. " PLX__FIRST_HERE
                          "; they get the most frequent label");
}

/* ---- all of it ---- */

plx_status plx__mvk_make_workers(mvk *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    m->n_workers = plx__workers(m->ctx);
    PLX_TRY(PLX__ARENA_NEW(&m->workers, scratch, m->n_workers));
    for (int t = 0; t < m->n_workers; t++) {
        mvk_worker *w = &m->workers[t];
        PLX_TRY(plx__arena_f64(&w->scores, scratch, m->n_channels * m->chunk, m->k_padded));
        PLX_TRY(plx__arena_f64(&w->spare, scratch, m->chunk, m->k_padded));
        PLX_TRY(plx__arena_f64(&w->effective, scratch, m->k_padded, 1));
        PLX_TRY(PLX__ARENA_NEW(&w->rows, scratch, m->n_channels + 1));
        PLX_TRY(PLX__ARENA_NEW(&w->pattern, scratch, 2 * m->k));
        PLX_TRY(PLX__ARENA_NEW(&w->report, scratch, m->k));
        if (m->program) PLX_TRY(plx__label_work_new(&w->label, scratch, m->program));
    }
    return PLX_OK;
}

static plx_index padded(plx_index k) { return (k + 7) / 8 * 8; }

/* A part of a pane. */
static plx_index samples_at_a_time(plx_index k)
{
    return plx__pane_part(plx__max(LEAST_CHUNK, plx__min(LARGEST_CHUNK, CHUNK_DOUBLES / padded(k))));
}

/* Not for rules that may search for a label set after the pass, nor for those that look at all samples in turn. */
bool plx__mvk_own_rows(plx__run *run, const plx_dataset *data)
{
    mvk_rule rule;
    const char *single = NULL;
    if (data->hierarchy || plx__mvk_read_rule(&rule, &single, run) != PLX_OK) return false;
    return rule == MVK_SINGLE || rule == MVK_CONCAT || rule == MVK_SUM || rule == MVK_PROD;
}

plx_status plx__mvk_open(mvk *m, plx__run *run)
{
    *m = (mvk){.run = run, .ctx = run->ctx, .set = run->params, .n = run->problem->n};
    PLX_TRY(plx__mvk_read_rule(&m->rule, &m->single, run));
    m->hier = m->rule >= MVK_HIER_SUM;
    m->per_view = m->rule == MVK_AGREE || m->rule == MVK_HIER_AGREE;
    m->programs = m->hier || m->per_view;
    PLX_TRY(open_channels(m));
    if (m->per_view && m->n_channels > PLX__LABEL_MAX_VIEWS)
        PLX_FAIL(m->ctx, PLX_E_ARG,
                 "assignment = %s: takes at most %d views (found %lld); use sumscore or hier-sumscore",
                 m->set->assignment, PLX__LABEL_MAX_VIEWS, (long long)m->n_channels);
    PLX_TRY(plx__mvk_open_classes(m));
    m->k_padded = padded(m->k);
    m->chunk = samples_at_a_time(m->k);
    m->cut = plx__slabs_cut(m->n, PLX__PANE_ROWS);
    m->cut.alone = m->rule == MVK_COTRAIN; /* its views label all samples in turn */
    plx_index widest = 0;
    for (plx_index c = 0; c < m->n_channels; c++) {
        PLX_TRY(open_centroids(m, &m->channels[c]));
        widest = plx__max(widest, m->channels[c].cols);
    }
    if (!run->fitted) {
        PLX_TRY(plx__arena_f64(&m->partial, plx__scratch(m->ctx), m->k + PLX__CLASS_SLABS, widest));
        PLX_TRY(plx__arena_f64(&m->sums, plx__scratch(m->ctx), m->k, widest));
    }
    warn_unused(m);
    if (m->programs) PLX_TRY(plx__mvk_plan(m));
    return plx__mvk_make_workers(m);
}
