/*
 * Joined views: concat puts all views side by side, merged adds views of one vocabulary first. The joined row of counts
 * has what is there of its parts; real views must be complete, because a gap has no neutral value.
 */
#include <string.h>

#include "linalg/csr.h"
#include "linalg/dense.h"
#include "methods/coem/coem.h"

typedef struct group {
    plx_index *views, count;
} group;

typedef struct plan {
    group *groups;
    plx_index count;
} plan;

/* ---- what is joined ---- */

static plx_status concat_plan(plan *out, plx__run *run)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    out->count = run->problem->n_views;
    PLX_TRY(PLX__ARENA_NEW(&out->groups, scratch, out->count));
    for (plx_index v = 0; v < out->count; v++) {
        PLX_TRY(plx__arena_i64(&out->groups[v].views, scratch, 1));
        out->groups[v].views[0] = v;
        out->groups[v].count = 1;
    }
    return PLX_OK;
}

static plx_status add_name(plx__run *run, plan *out, uint8_t *named, const char *name, size_t len)
{
    const plx__problem *x = run->problem;
    group *g = &out->groups[out->count];
    const char *text = NULL;
    plx_index v = -1;
    PLX_TRY(plx__arena_textn(&text, plx__scratch(run->ctx), name, len));
    PLX_TRY(plx__require_view(&v, run, text, "merge"));
    if (named[v]) PLX_FAIL(run->ctx, PLX_E_ARG, "merge: view '%s' is named twice", text);
    named[v] = 1;
    if (g->count && x->views[v].cols != x->views[g->views[0]].cols)
        PLX_FAIL(run->ctx, PLX_E_DATA,
                 "merge: views '%s' (%lld columns) and '%s' (%lld columns) cannot be added; separate them by ';'",
                 x->views[g->views[0]].name, (long long)x->views[g->views[0]].cols, text, (long long)x->views[v].cols);
    g->views[g->count++] = v;
    return PLX_OK;
}

/* a+b;c: groups by ';', members by '+'. */
static plx_status merge_plan(plan *out, plx__run *run)
{
    const char *text = ((const coem_params *)run->params)->merge;
    plx__arena *scratch = plx__scratch(run->ctx);
    plx_index most = run->problem->n_views;
    uint8_t *named = NULL;
    if (!text[0])
        PLX_FAIL(run->ctx, PLX_E_ARG, "mode = merged: merge is not set; say which views are added, e.g. merge=a+b;c");
    PLX_TRY(plx__arena_u8(&named, scratch, most));
    PLX_TRY(PLX__ARENA_NEW(&out->groups, scratch, most + 1));
    for (plx_index g = 0; g <= most; g++) PLX_TRY(plx__arena_i64(&out->groups[g].views, scratch, most + 1));
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, "+;");
        PLX_TRY(add_name(run, out, named, at, len));
        at += len;
        if (*at != '+') out->count++;
        if (!*at) return PLX_OK;
    }
}

static plx_status make_plan(plan *out, plx__run *run, coem_mode mode)
{
    *out = (plan){0};
    return mode == COEM_MERGED ? merge_plan(out, run) : concat_plan(out, run);
}

plx_status plx__coem_mark_used(uint8_t **out, plx__run *run, coem_mode mode, const char *single)
{
    plx_index view = -1, n_views = run->problem->n_views;
    plan p;
    PLX_TRY(plx__arena_u8(out, plx__scratch(run->ctx), n_views));
    if (mode == COEM_SINGLE) {
        PLX_TRY(plx__require_view(&view, run, single, "mode = single:VIEW, VIEW"));
        (*out)[view] = 1;
    } else if (mode == COEM_MERGED) {
        PLX_TRY(make_plan(&p, run, mode));
        for (plx_index g = 0; g < p.count; g++)
            for (plx_index k = 0; k < p.groups[g].count; k++) (*out)[p.groups[g].views[k]] = 1;
    } else memset(*out, 1, (size_t)n_views);
    return PLX_OK;
}

/* ---- checks ---- */

static plx_status check_parts(plx__run *run, const plan *p, coem_mode mode)
{
    const plx__problem *x = run->problem;
    const char *word = mode == COEM_MERGED ? "merged" : "concat";
    const plx__view *first = &x->views[p->groups[0].views[0]];
    for (plx_index g = 0; g < p->count; g++)
        for (plx_index k = 0; k < p->groups[g].count; k++) {
            const plx__view *v = &x->views[p->groups[g].views[k]];
            if ((v->kind == PLX_VIEW_REAL) != (first->kind == PLX_VIEW_REAL))
                PLX_FAIL(run->ctx, PLX_E_DATA,
                         "mode = %s: view '%s' is real and view '%s' is not; use mode=coem or joint", word,
                         v->kind == PLX_VIEW_REAL ? v->name : first->name,
                         v->kind == PLX_VIEW_REAL ? first->name : v->name);
            if (v->kind == PLX_VIEW_REAL && v->present_count < x->n)
                PLX_FAIL(run->ctx, PLX_E_DATA,
                         "mode = %s: the real view '%s' is missing for %lld samples; use mode=coem or joint", word,
                         v->name, (long long)(x->n - v->present_count));
        }
    return PLX_OK;
}

/* ---- joining ---- */

static plx_status sparse_part(plx_ccsr *out, plx_context *ctx, const plx__view *v)
{
    plx_csr made;
    *out = v->csr;
    if (v->sparse) return PLX_OK;
    PLX_TRY(plx__csr_from_dense(&made, plx__scratch(ctx), v->dense));
    *out = plx__ccsr(made);
    return PLX_OK;
}

static plx_status join_sparse(plx__view *out, plx__run *run, const plan *p, const plx__view *views)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    plx_ccsr *parts = NULL;
    plx_csr joined;
    PLX_TRY(PLX__ARENA_NEW(&parts, scratch, p->count));
    for (plx_index g = 0; g < p->count; g++) {
        PLX_TRY(sparse_part(&parts[g], run->ctx, &views[p->groups[g].views[0]]));
        for (plx_index k = 1; k < p->groups[g].count; k++) {
            plx_ccsr more;
            plx_csr sum;
            PLX_TRY(sparse_part(&more, run->ctx, &views[p->groups[g].views[k]]));
            PLX_TRY(plx__csr_add(&sum, scratch, 1.0, parts[g], 1.0, more));
            parts[g] = plx__ccsr(sum);
        }
    }
    PLX_TRY(plx__csr_hstack(&joined, scratch, parts, p->count));
    out->sparse = true;
    out->csr = plx__ccsr(joined);
    out->nonzeros = plx__nnz(out->csr);
    return PLX_OK;
}

static plx_status join_dense(plx__view *out, plx__run *run, const plan *p, const plx__view *views)
{
    plx_mat joined;
    plx_index first = 0, n = run->problem->n;
    PLX_TRY(plx__arena_mat(&joined, plx__scratch(run->ctx), n, out->cols));
    for (plx_index g = 0; g < p->count; g++) {
        plx_index cols = views[p->groups[g].views[0]].cols;
        for (plx_index k = 0; k < p->groups[g].count; k++) {
            plx_cmat from = views[p->groups[g].views[k]].dense;
            for (plx_index i = 0; i < n; i++)
                plx__axpy(joined.data + i * joined.ld + first, 1.0, from.data + i * from.ld, cols);
        }
        first += cols;
    }
    out->dense = plx__cmat(joined);
    return PLX_OK;
}

plx_status plx__coem_join(plx__view *out, plx__run *run, coem_mode mode, const plx__view *views)
{
    const plx__problem *x = run->problem;
    plan p;
    bool sparse = false;
    uint8_t *present = NULL;
    PLX_TRY(make_plan(&p, run, mode));
    PLX_TRY(check_parts(run, &p, mode));
    *out = (plx__view){.name = mode == COEM_MERGED ? "merged" : "concat",
                       .kind = x->views[p.groups[0].views[0]].kind,
                       .present_count = x->n};
    for (plx_index g = 0; g < p.count; g++) {
        out->cols += x->views[p.groups[g].views[0]].cols;
        for (plx_index k = 0; k < p.groups[g].count; k++) sparse |= x->views[p.groups[g].views[k]].sparse;
    }
    PLX_TRY(plx__arena_u8(&present, plx__scratch(run->ctx), x->n));
    memset(present, 1, (size_t)x->n);
    out->present = present;
    return sparse ? join_sparse(out, run, &p, views) : join_dense(out, run, &p, views);
}
