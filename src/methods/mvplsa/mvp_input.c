/*
 * From the data set to the views of the model: sparse rows, scaled; one view cut into parts, or all views side by side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "core/parallel.h"
#include "core/ranks.h"
#include "core/rng.h"
#include "data/divided.h"
#include "methods/mvplsa/mvplsa.h"
#include "mixture/row_scaling.h"

#define SPLIT_STREAM PLX__STREAM('m', 'v', 'p', 's', 0)

/* ---- scaling rows ---- */

static double row_sum(plx_ccsr x, plx_index i) { return plx__sum(x.val + x.ptr[i], x.ptr[i + 1] - x.ptr[i]); }

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* rows=raw: tell when a few long documents decide everything. */
static plx_status warn_of_giants(mvp *m, const plx__view *v)
{
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    double *mass = NULL;
    plx_index rows = 0;
    PLX_TRY(plx__arena_f64(&mass, plx__scratch(m->ctx), m->n, 1));
    for (plx_index i = plx__held_begin(v); i < plx__held_end(v, m->n); i++) mass[i] = row_sum(v->csr, i);
    PLX_TRY(plx__held_share(m->ctx, v, mass, sizeof *mass));
    for (plx_index i = 0; i < m->n; i++)
        if (v->present[i]) mass[rows++] = mass[i];
    plx_index few = plx__max(1, rows / 100);
    qsort(mass, (size_t)rows, sizeof *mass, descending);
    double top = plx__sum(mass, plx__min(few, rows)), total = plx__sum(mass, rows);
    if (few < rows && top > 0.3 * total)
        plx__warn(m->ctx, "mvplsa: 1%% of the documents hold %.0f%% of the mass of view '%s'; consider rows=cap",
                  100 * top / total, v->name);
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return PLX_OK;
}

/* ---- the data set's own views ---- */

static plx_status open_own(mvp *m)
{
    const plx__view *scaled = NULL;
    plx__row_rule rule;
    PLX_TRY(plx__row_rule_of(&rule, m->run));
    PLX_TRY(PLX__ARENA_NEW(&m->own, plx__scratch(m->ctx), m->n_own));
    PLX_TRY(plx__require_counts(m->run, "gp, svm or hknn suit them"));
    PLX_TRY(plx__scale_rows(&scaled, m->run, NULL));
    for (plx_index v = 0; v < m->n_own; v++) {
        plx__view *own = &m->own[v];
        *own = scaled[v];
        if (!own->sparse) {
            plx_csr thin;
            PLX_TRY(plx__held_sparse(&thin, plx__scratch(m->ctx), own));
            own->csr = plx__ccsr(thin);
            own->sparse = true;
        }
        if (rule == PLX__ROWS_RAW && !m->run->fitted) PLX_TRY(warn_of_giants(m, own));
    }
    return PLX_OK;
}

/* ---- the views of the model ---- */

static plx_status one_view(mvp *m)
{
    plx_ccsr *parts = NULL;
    plx_csr joint;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(m->ctx), m->n_own));
    for (plx_index v = 0; v < m->n_own; v++) parts[v] = m->own[v].csr;
    PLX_TRY(plx__csr_hstack(&joint, plx__scratch(m->ctx), parts, m->n_own));
    m->n_views = 1;
    PLX_TRY(PLX__ARENA_NEW(&m->views, plx__scratch(m->ctx), 1));
    m->views[0] = (mvp_view){.name = "concat", .counts = plx__ccsr(joint), .features = joint.cols};
    return PLX_OK;
}

static plx_status stored_split(plx__feature_split *split, mvp *m)
{
    plx_cmat stored;
    int32_t *part = NULL;
    PLX_TRY(plx__store_shaped(&stored, m->ctx, m->run->fitted, "_split", 1, m->own[0].cols));
    PLX_TRY(plx__arena_i32(&part, plx__scratch(m->ctx), stored.cols));
    for (plx_index f = 0; f < stored.cols; f++) {
        double x = stored.data[f];
        part[f] = x >= 0 && x < (double)stored.cols ? (int32_t)x : -1;
    }
    return plx__feature_split_from(split, m->ctx, plx__scratch(m->ctx), "the model's split", part, stored.cols);
}

static plx_status chosen_split(plx__feature_split *split, mvp *m)
{
    const char *text = m->set->split, *path = NULL;
    plx__arena *scratch = plx__scratch(m->ctx);
    int64_t parts = 0;
    plx_index cols = m->own[0].cols;
    if (plx__starts_with(text, "file:") && text[5]) {
        PLX_TRY(plx__path_join(&path, scratch, m->run->problem->directory, text + 5));
        plx_status st = plx__feature_split_read(split, m->ctx, scratch, path, cols);
        return st == PLX_OK ? st : plx__fail_prefix(m->ctx, st, "split = %s", text);
    }
    if (!plx__parse_int64(&parts, text) || parts < 1)
        PLX_FAIL(m->ctx, PLX_E_ARG, "split = %s: must be none, an integer >= 1 or file:F", text);
    if (parts > cols)
        PLX_FAIL(m->ctx, PLX_E_ARG, "split = %s: view '%s' has only %lld features", text, m->own[0].name,
                 (long long)cols);
    return plx__feature_split_random(split, m->ctx, scratch, cols, parts, SPLIT_STREAM);
}

static plx_status keep_split(mvp *m, const plx__feature_split *split)
{
    plx_mat stored;
    PLX_TRY(plx__store_new(&stored, m->run->out, "_split", 1, split->cols));
    for (plx_index f = 0; f < split->cols; f++) stored.data[f] = split->part[f];
    return PLX_OK;
}

static plx_status take_views(mvp *m, const plx__view *views, plx_index count)
{
    m->n_views = count;
    PLX_TRY(PLX__ARENA_NEW(&m->views, plx__scratch(m->ctx), count));
    for (plx_index v = 0; v < count; v++)
        m->views[v] = (mvp_view){.name = views[v].name, .counts = views[v].csr, .features = views[v].cols};
    return PLX_OK;
}

static plx_status split_view(mvp *m)
{
    plx__feature_split split;
    plx__view *parts = NULL;
    if (m->n_own != 1)
        PLX_FAIL(m->ctx, PLX_E_DATA, "split = %s: only data of one view can be split, there are %lld", m->set->split,
                 (long long)m->n_own);
    if (m->run->fitted) PLX_TRY(stored_split(&split, m));
    else PLX_TRY(chosen_split(&split, m));
    if (!m->run->fitted) PLX_TRY(keep_split(m, &split));
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(m->ctx), split.parts));
    PLX_TRY(plx__feature_split_apply(parts, m->ctx, plx__scratch(m->ctx), &split, &m->own[0], "split"));
    return take_views(m, parts, split.parts);
}

static plx_status open_views(mvp *m)
{
    bool split = strcmp(m->set->split, "none") != 0;
    if (m->set->model == MVP_MVPLSA) return split ? split_view(m) : take_views(m, m->own, m->n_own);
    if (split) PLX_FAIL(m->ctx, PLX_E_ARG, "split = %s: only model=mvplsa has several views", m->set->split);
    return one_view(m);
}

/* ---- classes and topics ---- */

static plx_status open_classes(mvp *m)
{
    const plx__problem *p = m->run->problem;
    bool labelled = m->run->fitted ? m->set->clusters < 1 : p->n_labelled > 0; /* the model was checked when fitted */
    if (labelled && m->set->clusters > 0)
        PLX_FAIL(m->ctx, PLX_E_ARG, "clusters = %lld: the number of classes comes from the labels; leave it out",
                 (long long)m->set->clusters);
    if (!labelled && m->set->clusters < 1)
        PLX_FAIL(m->ctx, PLX_E_ARG, "mvplsa: no labels; set clusters to the number of classes to find");
    m->z = labelled ? p->n_classes : m->set->clusters;
    m->width = plx__plsa_width(m->z);
    return PLX_OK;
}

double plx__mvp_topics(const plx__run *run, plx_index view)
{
    const mvp_params *set = run->params;
    return set->topics.list[set->topics.n_list == 1 ? 0 : plx__min(view, set->topics.n_list - 1)];
}

static plx_status open_topics(mvp *m)
{
    const plx__value *topics = &m->set->topics;
    if (m->set->model != MVP_PLSA && topics->n_list != 1 && topics->n_list != m->n_views)
        PLX_FAIL(m->ctx, PLX_E_ARG, "topics = %s: lists %lld numbers for %lld views", topics->text,
                 (long long)topics->n_list, (long long)m->n_views);
    for (plx_index v = 0; v < m->n_views; v++) {
        mvp_view *view = &m->views[v];
        double count = plx__mvp_topics(m->run, v);
        if (count != floor(count)) PLX_FAIL(m->ctx, PLX_E_ARG, "topics = %s: must be integers >= 1", topics->text);
        view->topics = m->set->model == MVP_PLSA ? m->z : (plx_index)count;
        view->order = m->set->model == MVP_PLSA ? MVP_SAME : view->topics < m->z ? MVP_BY_TOPIC : MVP_BY_CLASS;
        view->width = view->order == MVP_BY_TOPIC ? plx__plsa_width(view->topics) : m->width;
    }
    return PLX_OK;
}

/* ---- room ---- */

/* Blocks of documents with about equal numbers of entries. Each has sums of its own over all features, so there are
 * only as many as pay: a property of the data, never of the threads. length: entries of every document, in all views. */
static plx_status cut_blocks(plx_index **start, plx_index *count, plx_context *ctx, const int64_t *length, plx_index n,
                             double features)
{
    double entries = 0, seen = 0;
    for (plx_index d = 0; d < n; d++) entries += (double)length[d];
    plx_index pay = (plx_index)(entries / (2 * features)), next = 1;
    *count = plx__max(1, plx__min(plx__min(MVP_BLOCKS, pay), n));
    PLX_TRY(plx__arena_i64(start, plx__scratch(ctx), *count + 1));
    for (plx_index d = 0; d < n; d++) {
        seen += (double)length[d];
        while (next < *count && seen >= entries * (double)next / (double)*count) (*start)[next++] = d + 1;
    }
    for (; next <= *count; next++) (*start)[next] = n;
    return PLX_OK;
}

/* Entries of a row that are not 0; scaling changes none of them. */
static int64_t row_entries(const plx__view *v, plx_index i)
{
    int64_t count = 0;
    if (v->sparse) return v->csr.ptr[i + 1] - v->csr.ptr[i];
    for (plx_index j = 0; j < v->cols; j++) count += v->dense.data[i * v->dense.ld + j] != 0;
    return count;
}

static void bounds_of(plx_index *bound, const plx_context *ctx, const plx_index *start, plx_index count)
{
    plx_index first = 0, last = 0;
    for (int r = 0; r < plx__ranks(ctx); r++) {
        plx__mvp_blocks_of(&first, &last, ctx, count, r);
        bound[r] = start[first];
        bound[r + 1] = start[last];
    }
}

static plx_status open_blocks(mvp *m)
{
    int64_t *length = NULL;
    double features = 1;
    PLX_TRY(plx__arena_i64(&length, plx__scratch(m->ctx), m->n));
    for (plx_index v = 0; v < m->n_views; v++) {
        const int64_t *ptr = m->views[v].counts.ptr;
        for (plx_index d = 0; d < m->n; d++) length[d] += ptr[d + 1] - ptr[d];
        features += (double)m->views[v].features;
    }
    PLX_TRY(plx__held_share(m->ctx, &m->own[0], length, sizeof *length));
    PLX_TRY(cut_blocks(&m->start, &m->n_blocks, m->ctx, length, m->n, features));
    PLX_TRY(plx__arena_i64(&m->bound, plx__scratch(m->ctx), plx__ranks(m->ctx) + 1));
    bounds_of(m->bound, m->ctx, m->start, m->n_blocks);
    return plx__arena_f64(&m->block_sum, plx__scratch(m->ctx), m->n_blocks, 1);
}

static plx_status open_mixtures(mvp *m)
{
    double **const each[] = {&m->c, &m->next};
    bool all = m->run->checkpoint != NULL;
    plx_index begin = all ? 0 : m->bound[plx__rank(m->ctx)], end = all ? m->n : m->bound[plx__rank(m->ctx) + 1];
    for (int k = 0; k < 2; k++) {
        PLX_TRY(plx__arena_f64(each[k], plx__scratch(m->ctx), end - begin, m->width));
        *each[k] = plx__rows_at(*each[k], begin, m->width);
    }
    return PLX_OK;
}

/* ---- several processes ---- */

/* Not where the start is a consensus of clusterings, which look at all documents, nor where a view is split: the blocks
 * are cut by its parts. */
bool plx__mvp_own_rows(plx__run *run, const plx_dataset *data)
{
    const mvp_params *set = run->params;
    bool labelled = false;
    if (strcmp(set->split, "none") != 0) return false;
    for (plx_index i = 0; data->labels && i < data->n; i++) labelled |= data->labels[i] != NULL;
    return set->init_z[0] ? strcmp(set->init_z, "mvc") != 0 : labelled;
}

plx_status plx__mvp_whose_rows(plx_index *bound, plx__run *run)
{
    const plx__problem *p = run->problem;
    plx_index *start = NULL, count = 0;
    int64_t *length = NULL;
    double features = 1;
    PLX_TRY(plx__arena_i64(&length, plx__scratch(run->ctx), p->n));
    for (plx_index v = 0; v < p->n_views; v++) {
        const plx__view *view = &p->views[v];
        for (plx_index i = plx__held_begin(view); i < plx__held_end(view, p->n); i++) length[i] += row_entries(view, i);
        features += (double)view->cols;
    }
    PLX_TRY(plx__held_share(run->ctx, &p->views[0], length, sizeof *length));
    PLX_TRY(cut_blocks(&start, &count, run->ctx, length, p->n, features));
    bounds_of(bound, run->ctx, start, count);
    return PLX_OK;
}

plx_status plx__mvp_open_workers(mvp *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index topics = 1;
    int count = plx__workers(m->ctx);
    for (plx_index v = 0; v < m->n_views; v++) topics = plx__max(topics, m->views[v].topics);
    PLX_TRY(PLX__ARENA_NEW(&m->workers, scratch, count));
    for (int w = 0; w < count; w++) {
        mvp_worker *k = &m->workers[w];
        PLX_TRY(plx__arena_f64(&k->mix, scratch, m->width, 1));
        PLX_TRY(plx__arena_f64(&k->gain, scratch, m->width, 1));
        PLX_TRY(plx__arena_f64(&k->topic_mix, scratch, plx__plsa_width(topics), 1));
        PLX_TRY(plx__arena_f64(&k->topic_gain, scratch, plx__plsa_width(topics), 1));
        PLX_TRY(plx__arena_f64(&k->power, scratch, MVP_FEATURE_BLOCK, topics));
        PLX_TRY(plx__arena_f64(&k->product, scratch, MVP_FEATURE_BLOCK, topics));
    }
    return PLX_OK;
}

static plx_status open_model(mvp *m, mvp_view *v)
{
    const char *a = NULL, *b = NULL;
    plx__arena *scratch = plx__scratch(m->ctx);
    PLX_TRY(plx__view_key(&a, m->ctx, "pf", v->name));
    PLX_TRY(plx__view_key(&b, m->ctx, "py", v->name));
    PLX_TRY(plx__store_new(&v->a, m->run->out, a, v->features, v->topics));
    PLX_TRY(plx__store_new(&v->b, m->run->out, b, v->topics, m->z));
    PLX_TRY(plx__arena_mat(&v->b_power, scratch, v->topics, m->z));
    PLX_TRY(plx__arena_f64(&v->table, scratch, v->features, v->width));
    PLX_TRY(plx__arena_f64(&v->scatter, scratch, m->n_blocks * v->features, v->width));
    if (v->order == MVP_BY_TOPIC) PLX_TRY(plx__arena_f64(&v->b_counts, scratch, m->n_blocks * v->topics, m->z));
    return plx__mvp_open_room(m, v);
}

plx_status plx__mvp_open(mvp *m, plx__run *run)
{
    *m = (mvp){.run = run, .ctx = run->ctx, .set = run->params};
    m->n = run->problem->n;
    m->n_own = run->problem->n_views;
    PLX_TRY(open_classes(m));
    PLX_TRY(open_own(m));
    PLX_TRY(open_views(m));
    PLX_TRY(open_topics(m));
    if (run->fitted) return PLX_OK;
    PLX_TRY(open_blocks(m));
    PLX_TRY(open_mixtures(m));
    for (plx_index v = 0; v < m->n_views; v++) PLX_TRY(open_model(m, &m->views[v]));
    return plx__mvp_open_workers(m);
}
