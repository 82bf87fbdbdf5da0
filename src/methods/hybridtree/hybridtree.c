/*
 * hybridtree: hierarchical clustering from several views by Bregman-Ward merges.
 *
 * linear: the Ward tree of a weighted sum of the views' divergences; single: of one view; hybrid: split from the top,
 * every node by the view whose Ward tree halves it best (ht_split.c). The tree is cut by the order of its rows.
 */
#include "methods/hybridtree/hybridtree.h"

#include <math.h>

#include "kernel/prepared.h"
#include "run/clusters.h"
#include "run/facts.h"
#include "run/problem.h"

static const plx__param_spec param_specs[] = {
    PLX__TEXT(ht_params, mode, "linear",
              "linear: the Ward tree of a weighted sum over the views; hybrid: every node is split by the view that "
              "does it best; single:VIEW: the Ward tree of one view."),
    PLX__VIEW_CHOICE("divergence", "auto", "auto|euclid|kl|is",
                     "Squared Euclidean distance, generalised Kullback-Leibler or Itakura-Saito; auto: kl for counts, "
                     "binary values and probabilities that are not standardised, else euclid."),
    PLX__VIEW_CHOICE("scale", "auto", "auto|none|unit|zscore|tfidf|l1",
                     "Scaling of a view: rows to unit length, columns to mean 0 and deviation 1, tf-idf and unit "
                     "length, or rows to sum 1; auto chooses by what the view holds and by its divergence."),
    PLX__CHOICE(ht_params, rows, "raw", "raw|l1", "l1: scale=l1 for every view whose scale is not set."),
    PLX__CHOICE(ht_params, missing, "mean", "mean|eligible",
                "Samples without a view: mean takes the view's mean for their row; eligible (hybrid) lets a view split "
                "only nodes all of whose samples have it."),
    PLX__REALS(ht_params, weights, "", 0, INFINITY, NULL, "linear: a weight for every view; not set: all 1."),
    PLX__CHOICE(ht_params, balance, "cost", "cost|none",
                "linear: cost divides every weight by the view's cost over all samples."),
    PLX__CLUSTERS_ROWS(ht_params, "2", 1, "Clusters the tree is cut into, or auto."),
    PLX__CHOICE(ht_params, cut, "explained", "explained|goodness|size",
                "hybrid: which node is opened next: the one whose split explains most of its view's cost, is best in "
                "ratio, or has most samples."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"linkage", "(n-1) x 4", 0,
     "Rows: the two nodes joined, height and size; leaves are the fitted samples 0.., row r makes node n + r."},
    {"view", "(n-1) x 1", PLX__SOMETIMES, "mode=hybrid: number of the view that made the split, by row of linkage."},
    {"goodness", "(n-1) x 1", PLX__SOMETIMES | PLX__MAY_BE_INFINITE,
     "mode=hybrid: cost before the split over cost after it; inf is possible."},
    {"explained", "(n-1) x 1", PLX__SOMETIMES, "mode=hybrid: share of the view's whole cost that the split removes."},
    {NULL, NULL, 0, NULL}};

/* ---- settings ---- */

/* scale=auto: nothing for probabilities and where kl or is was asked for; standardised where many entries are not 0;
 * else rows of sum 1 for counts and binary values, of unit length for real ones. */
static plx_status scale_auto(plx__scale_kind *out, plx_context *ctx, const plx_params *settings, const plx__view *view,
                             const uint8_t *rows)
{
    plx__value divergence, row_rule;
    PLX_TRY(plx__view_value(&row_rule, ctx, settings, "rows", NULL));
    PLX_TRY(plx__view_value(&divergence, ctx, settings, "divergence", view->name));
    *out = PLX__SCALE_L1;
    if (row_rule.word == 1 && plx__view_value_level(settings, "scale", view->name) == 0) return PLX_OK;
    *out = PLX__SCALE_NONE;
    if (divergence.word > 1) return PLX_OK;
    *out = plx__scale_auto(view, rows);
    if (*out == PLX__SCALE_TFIDF) *out = PLX__SCALE_L1;
    return PLX_OK;
}

static plx_status check(plx__run *run)
{
    const ht_params *p = run->params;
    plx_index view = -1;
    ht_mode mode;
    PLX_TRY(plx__ht_read_mode(&mode, &view, run));
    if (p->clusters > run->problem->n)
        PLX_FAIL(run->ctx, PLX_E_ARG, "clusters = %lld: must be from 1 to %lld, the number of samples",
                 (long long)p->clusters, (long long)run->problem->n);
    return PLX_OK;
}

/* ---- trees of merges ---- */

static plx_status ward_tree(ht_tree *out, ht *h)
{
    plx__ward_part *parts = NULL;
    plx_index count = 0;
    bool balance = h->mode == HT_LINEAR && h->set->balance == 0;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(h->ctx), h->n_views));
    if (balance) PLX_TRY(plx__ht_totals(h));
    for (plx_index v = 0; v < h->n_views; v++) {
        ht_view *view = &h->view[v];
        if (!view->used) continue;
        if (h->mode == HT_SINGLE) view->weight = 1;
        if (balance) view->weight = view->total > 0 ? view->weight / view->total : 0;
        if (view->weight > 0) parts[count++] = (plx__ward_part){view->rows, view->kind, view->weight};
    }
    for (plx_index v = 0; v < h->n_views && count == 0; v++) /* all samples are alike: any view tells it */
        if (h->view[v].used) parts[count++] = (plx__ward_part){h->view[v].rows, h->view[v].kind, 1.0};
    return plx__ward(&out->merges, h->ctx, parts, count, NULL, h->n);
}

static plx_status open_tree(ht_tree *out, const ht *h)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    *out = (ht_tree){.merges.n = h->n};
    PLX_TRY(plx__arena_i32(&out->merges.first, scratch, h->n));
    PLX_TRY(plx__arena_i32(&out->merges.second, scratch, h->n));
    PLX_TRY(plx__arena_f64(&out->merges.cost, scratch, h->n, 1));
    if (h->mode != HT_HYBRID) return PLX_OK;
    PLX_TRY(plx__arena_i32(&out->view, scratch, h->n));
    PLX_TRY(plx__arena_f64(&out->goodness, scratch, h->n, 1));
    return plx__arena_f64(&out->explained, scratch, h->n, 1);
}

/* ---- outcome ---- */

static plx_status put_tree(const ht *h, const ht_tree *tree)
{
    const plx__merges *m = &tree->merges;
    plx_index n = h->n, rows = n - 1;
    double *size = NULL;
    plx_mat linkage, view, split;
    PLX_TRY(plx__store_new(&linkage, h->run->out, "linkage", rows, 4));
    PLX_TRY(plx__arena_f64(&size, plx__scratch(h->ctx), 2 * n, 1));
    for (plx_index i = 0; i < n; i++) size[i] = 1;
    for (plx_index r = 0; r < rows; r++) {
        double *row = linkage.data + 4 * r;
        size[n + r] = size[m->first[r]] + size[m->second[r]];
        row[0] = m->first[r], row[1] = m->second[r], row[2] = m->cost[r], row[3] = size[n + r];
    }
    if (!tree->view) return PLX_OK;
    PLX_TRY(plx__store_new(&view, h->run->out, "view", rows, 1));
    PLX_TRY(plx__store_new(&split, h->run->out, "_split_view", rows, 1)); /* among the views of the model */
    for (plx_index r = 0; r < rows; r++) {
        view.data[r] = (double)h->run->problem->given[tree->view[r]];
        split.data[r] = tree->view[r];
    }
    PLX_TRY(plx__store_put(h->run->out, "goodness", (plx_cmat){tree->goodness, rows, 1, 1}));
    return plx__store_put(h->run->out, "explained", (plx_cmat){tree->explained, rows, 1, 1});
}

static plx_status mark_used(const ht *h)
{
    uint8_t *used = NULL;
    if (h->mode != HT_SINGLE) return PLX_OK;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(h->ctx), h->n_views));
    for (plx_index v = 0; v < h->n_views; v++) used[v] = h->view[v].used;
    return plx__mark_used(h->run, used);
}

static plx_status fit(plx__run *run)
{
    ht h;
    ht_tree tree;
    int32_t *cluster = NULL;
    PLX_TRY(plx__ht_open(&h, run));
    PLX_TRY(open_tree(&tree, &h));
    PLX_TRY(plx__arena_i32(&cluster, plx__scratch(run->ctx), h.n));
    if (h.mode == HT_HYBRID) {
        PLX_TRY(plx__ht_totals(&h));
        PLX_TRY(plx__ht_hybrid(&tree, &h));
    } else {
        PLX_TRY(ward_tree(&tree, &h));
    }
    PLX_TRY(put_tree(&h, &tree));
    PLX_TRY(plx__ht_cut(cluster, run->ctx, &tree.merges, h.set->clusters));
    PLX_TRY(plx__ht_keep(&h, &tree, cluster));
    PLX_TRY(mark_used(&h));
    return plx__outcome_clusters(run, cluster, h.set->clusters, (plx_cmat){0});
}

static plx_status predict(plx__run *run)
{
    ht h;
    plx_cmat nodes;
    int32_t *cluster = NULL;
    PLX_TRY(plx__ht_open(&h, run));
    PLX_TRY(plx__arena_i32(&cluster, plx__scratch(run->ctx), h.n));
    PLX_TRY(plx__ht_descend(cluster, &h));
    PLX_TRY(plx__store_dense(&nodes, run->ctx, run->fitted, "_nodes"));
    return plx__outcome_clusters(run, cluster, nodes.rows + 1, (plx_cmat){0});
}

/* ---- descriptor ---- */

/* Scaled rows, complete ones where some are missing, the largest Ward run, and means above the cut. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const ht_params *p = run->params;
    double n = (double)x->n, rows = 0, all = 0, widest = 0, means = 0, k = (double)p->clusters;
    bool euclid = true, sparse = false;
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        bool thin = view->sparse && x->scale[v] != PLX__SCALE_ZSCORE;
        double cols = (double)view->cols, absent = n - (double)view->present_count;
        double entries = thin ? (double)view->nonzeros + absent * cols : n * (cols + 7);
        plx__bregman kind = PLX__BREGMAN_EUCLID;
        if (plx__ht_divergence(&kind, run->ctx, run->settings, view, x->scale[v]) != PLX_OK) kind = PLX__BREGMAN_KL;
        rows += plx__prepared_bytes(run, v) + (absent > 0 ? (thin ? 12.0 : 8.0) * entries : 0) + 24 * cols;
        all += entries;
        widest = fmax(widest, entries);
        means = fmax(means, 8.0 * (4 * k - 3) * cols);
        euclid = euclid && kind == PLX__BREGMAN_EUCLID;
        sparse = sparse || thin;
    }
    bool together = p->mode[0] == 'l';
    double ward = plx__ward_bytes(run->ctx, x->n, together ? all : widest, euclid, sparse);
    return rows + fmax(ward, means) + 160 * n + 40 * n * (double)x->n_views + 1e5;
}

static const plx__param_table tables[] = {param_specs, plx__heldout_params, NULL};

const plx__method plx__method_hybridtree = {
    .name = "hybridtree",
    .title = "Hierarchical clustering by Bregman-Ward merges and splits",
    .summary = "A tree over the samples from one view, from a weighted sum of all, or split by the best view at each "
               "node, under Euclidean, Kullback-Leibler or Itakura-Saito divergences.",
    .citation = "gupta2005hybrid",
    .task = PLX_TASK_CLUSTER,
    .capabilities =
        PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PRESENT,
    .scale_auto = scale_auto,
    .keep_samples = true,
    .clusters_array = "linkage",
    .params_size = sizeof(ht_params),
    .growth = "quadratic",
    .params = tables,
    .arrays = array_specs,
    .memory = memory,
    .memory_remedy = "take fewer samples, or divergence=euclid, which needs no matrix of them",
    .check = check,
    .fit = fit,
    .predict = predict};
