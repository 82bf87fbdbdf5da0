/*
 * A model's tree, read from its arrays and cut down to the leaves that are shown.
 */
#ifndef PLX_API_TREE_IMPL_H
#define PLX_API_TREE_IMPL_H

#include "api/model_impl.h"
#include "core/text.h"

typedef struct plx__tree {
    const plx_model *model;
    plx_index n;            /* samples: nodes 0 .. n-1; row r of the linkage is node n + r */
    plx_index root, first;  /* nodes >= first are shown split, others as leaves */
    const double *linkage;  /* n - 1 rows of four, or NULL for one sample */
    const double *goodness; /* by row; NULL: not told */
    const double *explained;
    int32_t *view;       /* by row: view of the model that made the split; NULL: not told */
    int32_t *child;      /* by row: two nodes, the one with the smallest member first */
    plx_index *smallest; /* by node */
} plx__tree;

/* The tree of a model with at most `leaves` of them (0: all). */
plx_status plx__tree_open(plx__tree *t, plx_context *ctx, const plx_model *model, plx_index leaves);

static inline double plx__tree_height(const plx__tree *t, plx_index node)
{
    return node < t->n ? 0 : t->linkage[4 * (node - t->n) + 2];
}
static inline plx_index plx__tree_size(const plx__tree *t, plx_index node)
{
    return node < t->n ? 1 : (plx_index)t->linkage[4 * (node - t->n) + 3];
}
static inline bool plx__tree_is_split(const plx__tree *t, plx_index node) { return node >= t->n && node >= t->first; }

/* Nodes that are shown, every parent before its children, first children first; in scratch. */
plx_status plx__tree_order(plx_index **out, plx_index *count, plx_context *ctx, const plx__tree *t);

/* Name of a sample. */
const char *plx__tree_name(const plx__tree *t, plx_index sample);

void plx__tree_newick(plx__textbuf *out, const plx__tree *t, const plx_index *order, plx_index count);
void plx__tree_json(plx__textbuf *out, const plx__tree *t, const plx_index *order, plx_index count);
plx_status plx__tree_svg(plx__textbuf *out, plx_context *ctx, const plx__tree *t, const plx_index *order,
                         plx_index count);

#endif
