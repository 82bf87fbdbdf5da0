/*
 * Settings and samples of cca and kcca: which views count, which samples are fitted, where projections go.
 */
#include <string.h>

#include "linalg/dense.h"
#include "methods/cca/canon.h"

const plx__param_spec plx__canon_params[] = {
    PLX__INT(canon_params, dim, "100", 1, 1e9, "Number of directions; cut to the largest possible."),
    PLX__REAL(canon_params, tau, "0.5", 0, 1,
              "Regularisation: 0 maximises the correlation, 1 the covariance; larger is safer with few samples."),
    PLX__BOOL(canon_params, center, "true", "Centre every view (in feature space)."),
    PLX__CHOICE(canon_params, missing, "complete", "complete|pairwise",
                "Fit on the samples that have all views, or on all pairs of views a sample has."),
    PLX__CHOICE(canon_params, classifier, "none", "none|svm", "Linear classifier in the shared space."),
    PLX__REAL_ABOVE(canon_params, C, "1", 0,
                    "Cost of the support vector machine; larger fits the labels more closely."),
    PLX__BOOL(canon_params, retrieval, "true", "Measure how well a sample finds itself in another view."),
    PLX__PARAM_END};

/* ---- views and samples ---- */

static plx_status choose_views(canon *c)
{
    const plx__problem *p = c->run->problem;
    if (p->n_views < 2)
        PLX_FAIL(c->ctx, PLX_E_DATA, "%s: needs at least two views (found %lld that some sample has)",
                 c->run->method->name, (long long)p->n_views);
    PLX_TRY(PLX__ARENA_NEW(&c->views, plx__scratch(c->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) c->views[c->m++] = (canon_view){.view = &p->views[v], .index = v};
    return PLX_OK;
}

static plx_status choose_samples(canon *c)
{
    PLX_TRY(plx__arena_u8(&c->complete, plx__scratch(c->ctx), c->n));
    for (plx_index i = 0; i < c->n; i++) {
        c->complete[i] = 1;
        for (plx_index v = 0; v < c->m; v++) c->complete[i] &= c->views[v].view->present[i];
        c->n_complete += c->complete[i];
    }
    if (c->set->missing == CANON_COMPLETE && c->n_complete < 2)
        PLX_FAIL(c->ctx, PLX_E_DATA, "%s: %s all views; use missing=pairwise", c->run->method->name,
                 c->n_complete ? "only one sample has" : "no sample has");
    return PLX_OK;
}

/* complete: the same list for all views; pairwise: all samples that have the view. */
static plx_status list_samples(canon *c)
{
    for (plx_index v = 0; v < c->m; v++) {
        canon_view *view = &c->views[v];
        const uint8_t *take = c->set->missing == CANON_PAIRWISE ? view->view->present : c->complete;
        plx_index *list = NULL;
        PLX_TRY(plx__arena_i64(&list, plx__scratch(c->ctx), c->n));
        for (plx_index i = 0; i < c->n; i++)
            if (take[i]) list[view->n++] = i;
        view->sample = list;
    }
    return PLX_OK;
}

plx_status plx__canon_open(canon *c, plx__run *run)
{
    *c = (canon){.run = run, .ctx = run->ctx, .set = run->params, .n = run->problem->n};
    PLX_TRY(choose_views(c));
    PLX_TRY(choose_samples(c));
    return list_samples(c);
}

/* Prediction: the views the model was fitted with, and the number of its directions. */
plx_status plx__canon_open_fitted(canon *c, plx__run *run)
{
    const plx__problem *p = run->problem;
    const uint8_t *used = NULL;
    plx_cmat rho;
    *c = (canon){.run = run, .ctx = run->ctx, .set = run->params, .n = p->n};
    PLX_TRY(plx__used_views(&used, run->ctx, run->fitted, p->n_views));
    PLX_TRY(plx__store_shaped(&rho, run->ctx, run->fitted, "rho", -1, 1));
    PLX_TRY(PLX__ARENA_NEW(&c->views, plx__scratch(c->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) {
        plx_index *list = NULL;
        if (used && !used[v]) continue;
        canon_view *view = &c->views[c->m++];
        *view = (canon_view){.view = &p->views[v], .index = v};
        PLX_TRY(plx__arena_i64(&list, plx__scratch(c->ctx), p->n));
        for (plx_index i = 0; i < p->n; i++)
            if (p->views[v].present[i]) list[view->n++] = i;
        view->sample = list;
    }
    c->k = rho.rows;
    return PLX_OK;
}

plx_status plx__canon_check(plx__run *run)
{
    const canon_params *set = run->params;
    const plx__problem *p = run->problem;
    plx_index classes = 0;
    uint8_t *seen = NULL;
    if (set->classifier == CANON_NO_CLASSIFIER) return PLX_OK;
    PLX_TRY(plx__arena_u8(&seen, plx__scratch(run->ctx), p->n_classes));
    for (plx_index i = 0; i < p->n; i++)
        if (p->label[i] >= 0) seen[p->label[i]] = 1;
    for (plx_index k = 0; k < p->n_classes; k++) classes += seen[k];
    if (classes < 2)
        PLX_FAIL(run->ctx, PLX_E_DATA, "%s: classification needs labelled samples of at least two classes (found %lld)",
                 run->method->name, (long long)classes);
    return PLX_OK;
}

/* As many columns as centred samples have dimensions: any two such views can be made to agree. */
static void warn_trivial(canon *c)
{
    plx_index filled = 0;
    for (plx_index v = 0; v < c->m; v++) filled += c->views[v].r >= c->views[v].n - 1;
    if (c->set->tau == 0 && filled >= 2)
        plx__warn(c->ctx, "%s: correlations are trivially 1; use tau > 0", c->run->method->name);
}

plx_status plx__canon_set_dim(canon *c, plx_index largest)
{
    c->k = plx__min(c->set->dim, largest);
    if (c->k < c->set->dim)
        plx__warn(c->ctx, "%s: dim = %lld is more than the data allow; %lld directions are computed",
                  c->run->method->name, (long long)c->set->dim, (long long)c->k);
    warn_trivial(c);
    return plx__arena_f64(&c->rho, plx__scratch(c->ctx), c->k, 1);
}
