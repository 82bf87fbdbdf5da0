/*
 * Choosing metrics by name.
 *
 * A wanted name is, in this order: a metric of the list; a family (`f1` for all `f1:CLASS`, or spelled out `f1:*`).
 * Anything else is an error that says which input would give the metric or which name is nearest.
 */
#include <stdio.h>
#include <string.h>

#include "eval/label_files.h"
#include "eval/metrics_store.h"

/* What each metric needs, for the message when the inputs do not give it. */
static const struct {
    const char *name, *needs;
} known[] = {
    {"accuracy", "truth and pred"},
    {"error", "truth and pred"},
    {"precision", "truth and pred"},
    {"recall", "truth and pred"},
    {"f1", "truth and pred"},
    {"macro_precision", "truth and pred"},
    {"macro_recall", "truth and pred"},
    {"macro_f1", "truth and pred"},
    {"weighted_f1", "truth and pred"},
    {"micro_precision", "truth and pred"},
    {"micro_recall", "truth and pred"},
    {"micro_f1", "truth and pred"},
    {"subset_accuracy", "truth and pred with multilabel"},
    {"hamming_loss", "truth and pred with multilabel"},
    {"h_precision", "multilabel and a hierarchy"},
    {"h_recall", "multilabel and a hierarchy"},
    {"h_f1", "multilabel and a hierarchy"},
    {"h_violations", "multilabel and a hierarchy"},
    {"auc", "truth and scores (and a positive class)"},
    {"prbep", "truth and scores (and a positive class)"},
    {"average_precision", "truth and scores (and a positive class)"},
    {"macro_auc", "truth and scores"},
    {"rmse", "predictions of a regression"},
    {"top", "topn and gold"},
    {"mrr", "topn and gold"},
    {"median_rank", "topn and gold"},
    {"nmi", "truth and pred with clusters"},
    {"nmi_geometric", "truth and pred with clusters"},
    {"cluster_entropy", "truth and pred with clusters"},
    {"cluster_accuracy", "truth and pred with clusters"},
    {"purity", "truth and pred with clusters"},
    {"pair_precision", "truth and pred with clusters"},
    {"pair_recall", "truth and pred with clusters"},
    {"pair_f", "truth and pred with clusters"},
    {"rand", "truth and pred with clusters"},
    {"ari", "truth and pred with clusters"},
    {"silhouette", "clusters and a data set (internal)"},
    {"davies_bouldin", "clusters and a data set (internal)"},
    {"calinski_harabasz", "clusters and a data set (internal)"},
    {"agreement", "views"},
    {"kappa", "views"},
    {"view_accuracy", "truth and views"},
    {"imbalance", "truth and views"},
    {"avg_rank", "table"},
    {"ttest", "table"},
    {"ttest_p", "table"},
    {"wilcoxon", "table"},
    {"wilcoxon_p", "table"},
    {"win", "table"},
    {"tie", "table"},
    {"loss", "table"},
    {"friedman", "table"},
    {"friedman_p", "table"},
};

enum { N_KNOWN = sizeof known / sizeof *known };

/* Length of the family part of a name; `f1:*` counts as the family too. */
static size_t family_length(const char *wanted)
{
    size_t len = strlen(wanted);
    return len >= 2 && strcmp(wanted + len - 2, ":*") == 0 ? len - 2 : len;
}

static bool in_family(const char *name, const char *family, size_t len)
{
    return strncmp(name, family, len) == 0 && name[len] == ':';
}

/* Index of the known metric or family that `wanted` names, with or without a `:CLASS` or `:*`; -1: none. */
static int known_index(const char *wanted)
{
    size_t len = strcspn(wanted, ":");
    for (int i = 0; i < N_KNOWN; i++)
        if (strncmp(wanted, known[i].name, len) == 0 && !known[i].name[len]) return i;
    return -1;
}

static bool has_family(const plx_metrics *m, const char *family)
{
    for (plx_index i = 0; i < m->count; i++)
        if (in_family(m->items[i].name, family, strlen(family))) return true;
    return false;
}

/* Nothing was found for `wanted`: its input is missing, or it is a slip (of a class name, when its family is there). */
static plx_status unknown_metric(plx_metrics *m, const char *wanted)
{
    char hint[160];
    const char **names = NULL;
    int k = known_index(wanted);
    if (k >= 0 && !has_family(m, known[k].name))
        PLX_FAIL(m->ctx, PLX_E_ARG, "metric '%s' is not among what these inputs give; it needs %s", wanted,
                 known[k].needs);
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(m->ctx), m->count + N_KNOWN));
    for (plx_index i = 0; i < m->count; i++) names[i] = m->items[i].name;
    for (int i = 0; i < N_KNOWN; i++) names[m->count + i] = known[i].name;
    PLX_FAIL(m->ctx, PLX_E_ARG, "metric '%s' is not known%s", wanted,
             plx__suggest(hint, sizeof hint, wanted, names, m->count + N_KNOWN));
}

typedef struct choice {
    plx_metrics *metrics;
    uint8_t *taken; /* per metric */
    plx__metric_item *kept;
    plx_index count;
} choice;

static void take(choice *c, plx_index i)
{
    if (c->taken[i]) return;
    c->taken[i] = 1;
    c->kept[c->count++] = c->metrics->items[i];
}

static plx_status take_wanted(choice *c, const char *wanted)
{
    plx_index exact = plx__map_get(&c->metrics->index, wanted), found = 0;
    if (exact >= 0) {
        take(c, exact);
        return PLX_OK;
    }
    for (plx_index i = 0; i < c->metrics->count; i++) {
        if (!in_family(c->metrics->items[i].name, wanted, family_length(wanted))) continue;
        take(c, i);
        found++;
    }
    return found ? PLX_OK : unknown_metric(c->metrics, wanted);
}

/* Warnings about metrics that were not asked for go too. */
static void keep_warnings(plx_metrics *m, const plx__map *index)
{
    plx_index kept = 0;
    for (plx_index i = 0; i < m->n_warnings; i++)
        if (!m->warnings[i].metric || plx__map_get(index, m->warnings[i].metric) >= 0)
            m->warnings[kept++] = m->warnings[i];
    m->n_warnings = kept;
}

plx_status plx__metrics_filter(plx_metrics *metrics, const char *list)
{
    plx__label_list wanted;
    plx__map index;
    choice c = {.metrics = metrics};
    plx_index before = -1;
    PLX_TRY(plx__text_list(&wanted, &metrics->arena, "metrics", list));
    PLX_TRY(plx__arena_u8(&c.taken, plx__scratch(metrics->ctx), metrics->count));
    PLX_TRY(PLX__ARENA_NEW(&c.kept, &metrics->arena, metrics->count));
    for (plx_index i = 0; i < wanted.count; i++)
        if (*wanted.labels[i]) PLX_TRY(take_wanted(&c, wanted.labels[i]));
    if (c.count == 0) PLX_FAIL(metrics->ctx, PLX_E_ARG, "metrics: the list names no metric");
    PLX_TRY(plx__map_init(&index, &metrics->arena, c.count));
    for (plx_index i = 0; i < c.count; i++) PLX_TRY(plx__map_add(&index, c.kept[i].name, i, &before));
    keep_warnings(metrics, &index);
    metrics->index = index;
    metrics->items = c.kept;
    metrics->count = c.count;
    metrics->capacity = c.count;
    return PLX_OK;
}
