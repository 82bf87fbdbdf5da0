/*
 * From views to distributions P(f|u). prepare=auto turns real views with many values into shares of "high" and "low"
 * per column (min-max scaled, with 1 - x appended), and lifts others with negative entries by their column minima.
 */
#include <math.h>
#include <string.h>

#include "data/column_range.h"
#include "methods/infobottleneck/infobottleneck.h"

typedef enum rule { RULE_AS_IS = 0, RULE_TWO_SIDED = 1, RULE_LIFT = 2 } rule;

static const double MANY_VALUES = 0.25, FEW_VALUES = 0.25;

static double density(const plx__view *v)
{
    double entries = (double)v->present_count * (double)v->cols;
    return entries > 0 ? (double)v->nonzeros / entries : 0.0;
}

/* ---- the rule of a view ---- */

static bool any_negative(const plx__view *v, plx_index n)
{
    for (plx_index i = 0; i < n; i++) {
        plx_index count = v->sparse ? v->csr.ptr[i + 1] - v->csr.ptr[i] : v->cols;
        const double *x = v->sparse ? v->csr.val + v->csr.ptr[i] : v->dense.data + i * v->dense.ld;
        for (plx_index j = 0; j < count; j++)
            if (x[j] < 0) return true;
    }
    return false;
}

static rule rule_of(const plx__run *run, const plx__view *v)
{
    const ib_params *set = run->params;
    if (set->prepare != IB_PREPARE_AUTO) return RULE_AS_IS;
    if (v->kind == PLX_VIEW_REAL && density(v) >= MANY_VALUES) return RULE_TWO_SIDED;
    return any_negative(v, run->problem->n) ? RULE_LIFT : RULE_AS_IS;
}

typedef struct state {
    rule rule;
    plx_cmat range; /* 2 x cols: smallest and largest value of every column */
} state;

/* Names "_rule.VIEW" and "_range.VIEW". */
static plx_status fit_state(state *s, plx__run *run, const plx__view *v)
{
    const char *name = NULL;
    plx_mat range;
    s->rule = rule_of(run, v);
    double number = s->rule;
    PLX_TRY(plx__view_key(&name, run->ctx, "_rule", v->name));
    PLX_TRY(plx__store_put(run->out, name, plx__cmat_of(&number, 1, 1)));
    if (s->rule == RULE_AS_IS) return PLX_OK;
    PLX_TRY(plx__view_key(&name, run->ctx, "_range", v->name));
    PLX_TRY(plx__store_new(&range, run->out, name, 2, v->cols));
    PLX_TRY(plx__column_range(range.data, range.data + v->cols, run->ctx, v, run->problem->n, NULL));
    s->range = plx__cmat(range);
    return PLX_OK;
}

static plx_status load_state(state *s, plx__run *run, const plx__view *v)
{
    const char *name = NULL;
    double number = 0;
    PLX_TRY(plx__view_key(&name, run->ctx, "_rule", v->name));
    PLX_TRY(plx__store_scalar(&number, run->ctx, run->fitted, name));
    if (number != RULE_AS_IS && number != RULE_TWO_SIDED && number != RULE_LIFT)
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's way to prepare view '%s' is unknown", v->name);
    s->rule = (rule)number;
    if (s->rule == RULE_AS_IS) return PLX_OK;
    PLX_TRY(plx__view_key(&name, run->ctx, "_range", v->name));
    return plx__store_shaped(&s->range, run->ctx, run->fitted, name, 2, v->cols);
}

/* ---- rows ---- */

/* A row of the view in full. */
static void fill_row(double *out, const plx__view *v, plx_index i)
{
    if (!v->sparse) {
        memcpy(out, v->dense.data + i * v->dense.ld, (size_t)v->cols * sizeof *out);
        return;
    }
    memset(out, 0, (size_t)v->cols * sizeof *out);
    for (int64_t p = v->csr.ptr[i]; p < v->csr.ptr[i + 1]; p++) out[v->csr.col[p]] = v->csr.val[p];
}

/* Twice as small as the rule says, which the sum of the row makes up for: nothing overflows. */
static void prepare_row(double *row, const state *s, plx_index cols)
{
    const double *lo = s->range.data, *hi = s->range.data + s->range.ld;
    for (plx_index j = 0; j < cols && s->rule == RULE_TWO_SIDED; j++) {
        row[j] = plx__within_range(row[j], lo[j], hi[j], 0.5);
        row[cols + j] = 1.0 - row[j];
    }
    for (plx_index j = 0; j < cols && s->rule == RULE_LIFT; j++) row[j] = fmax(0.5 * row[j] - 0.5 * lo[j], 0.0);
}

static plx_status dense_rows(plx__points *out, plx__run *run, const plx__view *v, const state *s)
{
    plx_mat rows;
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(run->ctx), run->problem->n,
                           s->rule == RULE_TWO_SIDED ? 2 * v->cols : v->cols));
    for (plx_index i = 0; i < rows.rows; i++) {
        if (!v->present[i]) continue;
        fill_row(rows.data + i * rows.ld, v, i);
        prepare_row(rows.data + i * rows.ld, s, v->cols);
    }
    plx__ib_normalise_dense(rows);
    *out = plx__points_dense(plx__cmat(rows));
    return PLX_OK;
}

/* Columns that are lifted have entries everywhere else too: each row goes through its full form, twice. */
static plx_status lifted_rows(plx__points *out, plx__run *run, const plx__view *v, const state *s)
{
    plx_index n = run->problem->n, count = 0;
    double *row = NULL;
    plx_csr rows;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(run->ctx), v->cols, 1));
    for (int pass = 0; pass < 2; pass++) {
        if (pass) PLX_TRY(plx__arena_csr(&rows, plx__scratch(run->ctx), n, v->cols, count));
        count = 0;
        for (plx_index i = 0; i < n; i++) {
            if (v->present[i]) fill_row(row, v, i);
            if (v->present[i]) prepare_row(row, s, v->cols);
            for (plx_index j = 0; v->present[i] && j < v->cols; j++) {
                if (row[j] == 0) continue;
                if (pass) rows.col[count] = (int32_t)j, rows.val[count] = row[j];
                count++;
            }
            if (pass) rows.ptr[i + 1] = count;
        }
    }
    plx__ib_normalise_csr(rows);
    *out = plx__points_csr(plx__ccsr(rows));
    return PLX_OK;
}

static plx_status sparse_rows(plx__points *out, plx__run *run, const plx__view *v)
{
    plx_csr rows;
    if (v->sparse) PLX_TRY(plx__csr_clone(&rows, plx__scratch(run->ctx), v->csr));
    else PLX_TRY(plx__csr_from_dense(&rows, plx__scratch(run->ctx), v->dense));
    plx__ib_normalise_csr(rows);
    *out = plx__points_csr(plx__ccsr(rows));
    return PLX_OK;
}

/* Few values are kept sparse, however the view is stored. */
static bool kept_sparse(const plx__view *v, rule how)
{
    return how != RULE_TWO_SIDED && (v->sparse || (how == RULE_AS_IS && density(v) < FEW_VALUES));
}

static plx_status open_rows(plx__ib_variable *out, plx__run *run, const plx__view *v)
{
    state s = {0};
    plx__points rows;
    if (run->fitted) PLX_TRY(load_state(&s, run, v));
    else PLX_TRY(fit_state(&s, run, v));
    if (s.rule == RULE_AS_IS) PLX_TRY(plx__require_nonnegative(run, v));
    if (!kept_sparse(v, s.rule)) PLX_TRY(dense_rows(&rows, run, v, &s));
    else if (s.rule == RULE_LIFT) PLX_TRY(lifted_rows(&rows, run, v, &s));
    else PLX_TRY(sparse_rows(&rows, run, v));
    out->cols = plx__points_cols(rows);
    return plx__design_open(&out->rows, run->ctx, rows, NULL, v->name);
}

double plx__ib_row_bytes(const plx__run *run, plx_index view, double *cols, double *sparse)
{
    const plx__view *v = &run->problem->views[view];
    rule how = rule_of(run, v);
    double n = (double)run->problem->n, entries = (double)v->nonzeros;
    bool thin = kept_sparse(v, how);
    *cols = (how == RULE_TWO_SIDED ? 2.0 : 1.0) * (double)v->cols;
    if (thin && how == RULE_LIFT) entries = n * (double)v->cols; /* at most */
    *sparse = thin ? entries : 0.0;
    return thin ? 12 * entries + 8 * n : 8 * n * *cols;
}

/* ---- the irrelevant view ---- */

plx_status plx__ib_irrelevant(plx_index *out, plx__run *run)
{
    const ib_params *set = run->params;
    *out = -1;
    if (strcmp(set->irrelevant, "none") == 0) return PLX_OK;
    return plx__require_view(out, run, set->irrelevant, "irrelevant");
}

static plx_status open_irrelevant(plx__bottleneck *b, plx__run *run, const plx__view *v)
{
    plx_mat rows;
    PLX_TRY(plx__require_nonnegative(run, v));
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(run->ctx), b->n, v->cols));
    for (plx_index i = 0; i < b->n; i++) fill_row(rows.data + i * rows.ld, v, i);
    plx__ib_normalise_dense(rows);
    for (plx_index i = 0; i < b->n; i++)
        if (!v->present[i] || !(plx__max_abs(rows.data + i * rows.ld, rows.cols) > 0))
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "irrelevant = %s: sample %s lacks view '%s' or has zeros only there; the irrelevant view must be "
                     "complete",
                     v->name, run->problem->ids[i], v->name);
    b->n_w = v->cols;
    if (v->cols > 1) b->given = plx__cmat(rows);
    return PLX_OK;
}

/* ---- betas ---- */

/* One for all, or one per relevant view in the caller's order, those that nobody has included. */
static plx_status fit_betas(plx__bottleneck *b, const ib_views *views, plx__run *run)
{
    const plx__problem *x = run->problem;
    const plx__value *beta = &((const ib_params *)run->params)->beta;
    plx_index hidden = views->irrelevant < 0 ? x->n_given : x->given[views->irrelevant];
    plx_index relevant = x->n_given - (views->irrelevant >= 0);
    plx_mat kept;
    if (beta->n_list != 1 && beta->n_list != relevant)
        PLX_FAIL(run->ctx, PLX_E_ARG, "beta = %s: %lld values for %lld relevant views; give one, or one per view",
                 beta->text, (long long)beta->n_list, (long long)relevant);
    PLX_TRY(plx__store_new(&kept, run->out, "_beta", 1, b->n_variables));
    for (plx_index i = 0; i < b->n_variables; i++) {
        plx_index at = x->given[views->view[i]];
        kept.data[i] = beta->list[beta->n_list == 1 ? 0 : at - (at > hidden)];
        b->variable[i].beta = kept.data[i];
    }
    return PLX_OK;
}

static plx_status load_betas(plx__bottleneck *b, plx__run *run)
{
    plx_cmat kept;
    PLX_TRY(plx__store_shaped(&kept, run->ctx, run->fitted, "_beta", 1, b->n_variables));
    for (plx_index i = 0; i < b->n_variables; i++) b->variable[i].beta = kept.data[i];
    return PLX_OK;
}

plx_status plx__ib_input(plx__bottleneck *b, ib_views *views, plx__run *run)
{
    const plx__problem *x = run->problem;
    const ib_params *set = run->params;
    *b = (plx__bottleneck){.ctx = run->ctx, .n = x->n, .k = set->clusters, .n_w = 1};
    PLX_TRY(plx__ib_irrelevant(&views->irrelevant, run));
    PLX_TRY(PLX__ARENA_NEW(&b->variable, plx__scratch(run->ctx), x->n_views));
    PLX_TRY(plx__arena_i64(&views->view, plx__scratch(run->ctx), x->n_views));
    for (plx_index v = 0; v < x->n_views; v++)
        if (v != views->irrelevant) views->view[b->n_variables++] = v;
    for (plx_index i = 0; i < b->n_variables; i++) PLX_TRY(open_rows(&b->variable[i], run, &x->views[views->view[i]]));
    if (views->irrelevant >= 0) PLX_TRY(open_irrelevant(b, run, &x->views[views->irrelevant]));
    return run->fitted ? load_betas(b, run) : fit_betas(b, views, run);
}
