/*
 * Kept as a private array, so that a model answers for a sample without any view as the fit did.
 */
#include "run/prior.h"

static const char PRIOR[] = "_prior";

static const char MAJORITY[] = "_majority"; /* models of version 1.0 keep the most frequent class only */

bool plx__prior_known(const plx__store *store)
{
    return plx__store_find(store, PRIOR) || plx__store_find(store, MAJORITY);
}

/* All the weight on the most frequent class. */
static plx_status majority_alone(const double **shares, int32_t *class, plx_context *ctx, const plx__store *store,
                                 plx_index n_classes)
{
    double majority = 0, *share = NULL;
    PLX_TRY(plx__store_scalar(&majority, ctx, store, MAJORITY));
    if (!(majority >= 0 && majority < (double)n_classes))
        PLX_FAIL(ctx, PLX_E_FORMAT, "the model's most frequent class is not one of its classes");
    PLX_TRY(plx__arena_f64(&share, plx__scratch(ctx), n_classes, 1));
    *class = (int32_t)majority;
    share[*class] = 1.0;
    *shares = share;
    return PLX_OK;
}

plx_status plx__prior_put(plx__store *store, plx_context *ctx, const plx__problem *p, const uint8_t *usable)
{
    plx_mat share;
    double *count = NULL, labelled = 0;
    if (plx__prior_known(store)) return PLX_OK;
    PLX_TRY(plx__arena_f64(&count, plx__scratch(ctx), p->n_classes, 1));
    for (plx_index i = 0; i < p->n; i++) {
        if (p->label[i] < 0 || (usable && !usable[i])) continue;
        count[p->label[i]] += 1.0;
        labelled += 1.0;
    }
    PLX_TRY(plx__store_new(&share, store, PRIOR, 1, p->n_classes));
    for (plx_index c = 0; c < p->n_classes; c++) share.data[c] = labelled > 0 ? count[c] / labelled : 0.0;
    return PLX_OK;
}

plx_status plx__prior_get(const double **shares, int32_t *class, plx_context *ctx, const plx__store *store,
                          plx_index n_classes)
{
    plx_cmat share;
    if (plx__store_find(store, MAJORITY)) return majority_alone(shares, class, ctx, store, n_classes);
    PLX_TRY(plx__store_shaped(&share, ctx, store, PRIOR, 1, n_classes));
    *shares = share.data;
    plx__argmax_rows(class, share);
    return PLX_OK;
}
