/*
 * Clusters have no names of their own, so an answer is compared with a class through the class that most samples of its
 * cluster have.
 */
#include "explain/crossing.h"

#include <stdlib.h>

#include "core/text.h"

enum { MOST_SHOWN = 40 };

/* The texts that occur, in byte order, and their places. */
static plx_status list_texts(const char ***out, plx_index *count, plx__map *index, plx_context *ctx,
                             const char *const *text, plx_index n)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index existing = -1;
    plx__map seen;
    PLX_TRY(plx__map_init(&seen, scratch, 16));
    for (plx_index i = 0; i < n; i++)
        if (text[i]) PLX_TRY(plx__map_add(&seen, text[i], i, &existing));
    *count = seen.count;
    PLX_TRY(PLX__ARENA_NEW(out, scratch, *count));
    for (plx_index k = 0; k < *count; k++) (*out)[k] = seen.keys[k];
    qsort(*out, (size_t)*count, sizeof **out, plx__compare_text);
    PLX_TRY(plx__map_init(index, scratch, *count));
    for (plx_index k = 0; k < *count; k++) PLX_TRY(plx__map_add(index, (*out)[k], k, &existing));
    return PLX_OK;
}

static void name_clusters(plx__crossing *c)
{
    for (plx_index k = 0; k < c->n_clusters; k++) {
        double most = 0;
        c->stands_for[k] = NULL;
        for (plx_index y = 0; y < c->n_classes; y++) {
            double count = c->counts.data[y * c->counts.ld + k];
            if (count > most) most = count, c->stands_for[k] = c->class_name[y];
        }
    }
}

plx_status plx__cross(plx__crossing *out, plx_context *ctx, const char *const *known, const char *const *cluster,
                      plx_index n)
{
    plx__map classes;
    PLX_TRY(list_texts(&out->class_name, &out->n_classes, &classes, ctx, known, n));
    PLX_TRY(list_texts(&out->cluster, &out->n_clusters, &out->clusters, ctx, cluster, n));
    PLX_TRY(plx__arena_mat(&out->counts, plx__scratch(ctx), out->n_classes, out->n_clusters));
    PLX_TRY(PLX__ARENA_NEW(&out->stands_for, plx__scratch(ctx), out->n_clusters));
    for (plx_index i = 0; i < n; i++)
        if (known[i] && cluster[i])
            out->counts
                .data[plx__map_get(&classes, known[i]) * out->counts.ld + plx__map_get(&out->clusters, cluster[i])]++;
    name_clusters(out);
    return PLX_OK;
}

const char *plx__class_of_cluster(const plx__crossing *c, const char *cluster)
{
    plx_index k = cluster ? plx__map_get(&c->clusters, cluster) : -1;
    return k < 0 ? NULL : c->stands_for[k];
}

plx_status plx__put_crossing(plx_explanation *e, plx_context *ctx, const plx__crossing *c)
{
    plx__cell *row = NULL;
    plx__section *s = NULL;
    if (!c->n_classes || !c->n_clusters || c->n_classes > MOST_SHOWN || c->n_clusters > MOST_SHOWN) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&row, plx__scratch(ctx), c->n_clusters + 1));
    PLX_TRY(plx__section_add(&s, e, "clusters", "Clusters beside classes", "class"));
    for (plx_index k = 0; k < c->n_clusters; k++) PLX_TRY(plx__section_column(s, c->cluster[k]));
    for (plx_index y = 0; y < c->n_classes; y++) {
        row[0] = plx__cell_text(c->class_name[y]);
        for (plx_index k = 0; k < c->n_clusters; k++)
            row[k + 1] = plx__cell_number(c->counts.data[y * c->counts.ld + k]);
        PLX_TRY(plx__section_row(s, row));
    }
    return PLX_OK;
}
