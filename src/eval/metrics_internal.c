/*
 * Internal indices of clusters in a list of metrics.
 */
#include <math.h>
#include <string.h>

#include "eval/internal_indices.h"
#include "eval/label_codes.h"
#include "eval/metrics_store.h"

static const char *const NAMES[] = {"silhouette", "davies_bouldin", "calinski_harabasz"};
enum { INDICES = 3 };

/* `view` NULL: over all views. */
static plx_status add_indices(plx_metrics *m, const plx__indices *x, const char *view)
{
    const double value[INDICES] = {x->silhouette, x->davies_bouldin, x->calinski_harabasz};
    static const char reason[] = "it needs two clusters of samples that have the view, and more samples than clusters";
    for (int i = 0; i < INDICES; i++) {
        bool defined = isfinite(value[i]);
        if (defined && view) PLX_TRY(plx__metrics_add(m, value[i], "%s:%s", NAMES[i], view));
        else if (defined) PLX_TRY(plx__metrics_add(m, value[i], "%s", NAMES[i]));
        else if (view) PLX_TRY(plx__metrics_undefined(m, reason, "%s:%s", NAMES[i], view));
        else PLX_TRY(plx__metrics_undefined(m, reason, "%s", NAMES[i]));
    }
    return PLX_OK;
}

/* Numbers of the clusters; noise and `?` are left out where they are to be. */
static plx_status encode_clusters(int32_t **out, plx_index *k, plx_context *ctx, const char *const *clusters,
                                  plx_index n, bool drop_noise)
{
    plx__codes codes;
    PLX_TRY(plx__codes_init(&codes, plx__scratch(ctx)));
    PLX_TRY(plx__arena_i32(out, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) {
        (*out)[i] = -1;
        if (plx__is_unknown(clusters[i]) || (drop_noise && strcmp(clusters[i], "noise") == 0)) continue;
        PLX_TRY(plx__codes_add(&(*out)[i], &codes, clusters[i]));
    }
    *k = codes.count;
    return PLX_OK;
}

plx_status plx__metrics_internal(plx_metrics *metrics, const plx_dataset *data, const char *const *clusters,
                                 bool drop_noise)
{
    plx_context *ctx = metrics->ctx;
    plx__index_view *views = NULL;
    plx__indices *x = NULL;
    plx_index n_views = 0, k = 0;
    int32_t *cluster = NULL;
    PLX_TRY(encode_clusters(&cluster, &k, ctx, clusters, data->n, drop_noise));
    PLX_TRY(plx__index_views(&views, &n_views, ctx, data->views, data->n_views, data->n));
    if (n_views == 0)
        PLX_FAIL(ctx, PLX_E_DATA, "the data set '%s' has no view with distances between samples", data->name);
    PLX_TRY(PLX__ARENA_NEW(&x, plx__scratch(ctx), n_views + 1));
    PLX_TRY(plx__internal_indices(x, ctx, views, n_views, data->n, cluster, k));
    PLX_TRY(add_indices(metrics, &x[n_views], NULL));
    for (plx_index v = 0; v < n_views; v++) PLX_TRY(add_indices(metrics, &x[v], views[v].name));
    return PLX_OK;
}
