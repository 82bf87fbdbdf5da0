/*
 * Views as blocks of columns: standardised for the learners, non-negative for the bottleneck. All statistics are those
 * of labelled rows that have the view; the columns of a missing view are 0 after both.
 */
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "data/column_range.h"
#include "methods/localmodels/localmodels.h"

/* ---- blocks ---- */

static plx_status finish_block(lm_block *b, const lm *m)
{
    PLX_TRY(plx__arena_i64(&b->first, plx__scratch(m->ctx), b->n_views + 1));
    for (plx_index k = 0; k < b->n_views; k++) b->first[k + 1] = b->first[k] + m->x->views[b->view[k]].cols;
    b->cols = b->first[b->n_views];
    return PLX_OK;
}

static plx_status all_views(lm_block *b, const lm *m)
{
    PLX_TRY(plx__arena_i64(&b->view, plx__scratch(m->ctx), m->x->n_views));
    for (plx_index v = 0; v < m->x->n_views; v++) b->view[b->n_views++] = v;
    return finish_block(b, m);
}

static plx_status take_view(lm_block *b, const lm *m, const char *parameter, const char *name)
{
    plx_index v = -1;
    PLX_TRY(plx__require_view(&v, m->run, name, parameter));
    for (plx_index k = 0; k < b->n_views; k++)
        if (b->view[k] == v) PLX_FAIL(m->ctx, PLX_E_ARG, "%s: view '%s' is named twice", parameter, name);
    b->view[b->n_views++] = v;
    return PLX_OK;
}

/* all, or names joined with +. */
static plx_status open_block(lm_block *b, const lm *m, const char *parameter, const char *text)
{
    *b = (lm_block){0};
    if (strcmp(text, "all") == 0) return all_views(b, m);
    PLX_TRY(plx__arena_i64(&b->view, plx__scratch(m->ctx), m->x->n_views));
    for (const char *at = text;;) {
        const char *end = strchr(at, '+'), *name = NULL;
        PLX_TRY(plx__arena_textn(&name, plx__scratch(m->ctx), at, end ? (size_t)(end - at) : strlen(at)));
        if (b->n_views == m->x->n_views) PLX_FAIL(m->ctx, PLX_E_ARG, "%s = %s: a view is named twice", parameter, text);
        PLX_TRY(take_view(b, m, parameter, name));
        if (!end) break;
        at = end + 1;
    }
    return finish_block(b, m);
}

/* ---- statistics ---- */

static bool counts(const lm *m, const plx__view *v, plx_index i) { return m->x->label[i] >= 0 && v->present[i]; }

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

/* sum of g(row) / count over the rows that count, g = x or (x - mean)^2. */
static void add_rows(double *sum, const lm *m, const plx__view *v, double *row, const double *mean, double count)
{
    for (plx_index i = 0; i < m->x->n; i++) {
        if (!counts(m, v, i)) continue;
        fill_row(row, v, i);
        for (plx_index j = 0; j < v->cols; j++) {
            double off = mean ? row[j] - mean[j] : row[j];
            sum[j] += (mean ? off * off : off) / count;
        }
    }
}

/* Mean and population deviation. A constant column has exactly its value and 1, so that it becomes 0. */
static plx_status find_standard(plx_mat out, const lm *m, const plx__view *v, plx_cmat range)
{
    double *mean = out.data, *deviation = out.data + out.ld, *row = NULL, count = 0;
    plx__mat_fill(out, 0.0);
    if (m->set->standardise) {
        PLX_TRY(plx__arena_f64(&row, plx__scratch(m->ctx), v->cols, 1));
        for (plx_index i = 0; i < m->x->n; i++) count += counts(m, v, i);
        add_rows(mean, m, v, row, NULL, count);
        add_rows(deviation, m, v, row, mean, count);
    }
    for (plx_index j = 0; j < v->cols; j++) {
        bool constant = range.data[j] == range.data[range.ld + j];
        if (m->set->standardise && constant) mean[j] = range.data[j];
        deviation[j] = constant || !m->set->standardise || !(deviation[j] > 0) ? 1.0 : sqrt(deviation[j]);
        if (!isfinite(mean[j]) || !isfinite(deviation[j]))
            PLX_FAIL(m->ctx, PLX_E_NUMERIC, "localmodels: view '%s' column %lld: values are too large; scale the view",
                     v->name, (long long)j);
    }
    return PLX_OK;
}

/* Arrays "_standard.VIEW" and "_range.VIEW". */
static plx_status fit_statistics(lm *m, plx_index view, const uint8_t *labelled)
{
    const plx__view *v = &m->x->views[view];
    const char *name = NULL;
    plx_mat range, standard;
    PLX_TRY(plx__view_key(&name, m->ctx, "_range", v->name));
    PLX_TRY(plx__store_new(&range, m->run->out, name, 2, v->cols));
    PLX_TRY(plx__column_range(range.data, range.data + v->cols, m->ctx, v, m->x->n, labelled));
    PLX_TRY(plx__view_key(&name, m->ctx, "_standard", v->name));
    PLX_TRY(plx__store_new(&standard, m->run->out, name, 2, v->cols));
    PLX_TRY(find_standard(standard, m, v, plx__cmat(range)));
    m->range[view] = plx__cmat(range);
    m->standard[view] = plx__cmat(standard);
    return PLX_OK;
}

static plx_status load_statistics(lm *m, plx_index view)
{
    const plx__view *v = &m->x->views[view];
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, m->ctx, "_range", v->name));
    PLX_TRY(plx__store_shaped(&m->range[view], m->ctx, m->run->fitted, name, 2, v->cols));
    PLX_TRY(plx__view_key(&name, m->ctx, "_standard", v->name));
    return plx__store_shaped(&m->standard[view], m->ctx, m->run->fitted, name, 2, v->cols);
}

/* ---- opening ---- */

static plx_status refuse_missing(const lm *m)
{
    for (plx_index v = 0; v < m->x->n_views; v++)
        for (plx_index i = 0; i < m->x->n; i++)
            if (!m->x->views[v].present[i])
                PLX_FAIL(m->ctx, PLX_E_DATA, "missing = error: sample %s lacks view '%s'; set missing=zero",
                         m->x->ids[i], m->x->views[v].name);
    return PLX_OK;
}

static plx_status find_labelled(lm *m, uint8_t **flags)
{
    int32_t *label = NULL;
    PLX_TRY(plx__arena_u8(flags, plx__scratch(m->ctx), m->x->n));
    PLX_TRY(plx__arena_i64(&m->labelled, plx__scratch(m->ctx), m->x->n));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(m->ctx), m->x->n));
    for (plx_index i = 0; i < m->x->n; i++) {
        if (m->x->label[i] < 0) continue;
        (*flags)[i] = 1;
        label[m->l] = m->x->label[i];
        m->labelled[m->l++] = i;
    }
    m->label = label;
    return PLX_OK;
}

plx_status plx__lm_open(lm *m, plx__run *run)
{
    const lm_params *set = run->params;
    uint8_t *labelled = NULL;
    *m = (lm){.run = run, .ctx = run->ctx, .x = run->problem, .set = set, .classes = run->problem->n_classes};
    m->functions = plx__linear_functions(m->classes);
    PLX_TRY(open_block(&m->global_block, m, "global_view", set->global_view));
    PLX_TRY(open_block(&m->local_block, m, "local_view", set->local_view));
    PLX_TRY(open_block(&m->pattern_block, m, "pattern_view", set->pattern_view));
    if (set->missing == LM_MISSING_ERROR) PLX_TRY(refuse_missing(m));
    PLX_TRY(PLX__ARENA_NEW(&m->standard, plx__scratch(m->ctx), m->x->n_views));
    PLX_TRY(PLX__ARENA_NEW(&m->range, plx__scratch(m->ctx), m->x->n_views));
    PLX_TRY(find_labelled(m, &labelled));
    for (plx_index v = 0; v < m->x->n_views; v++) {
        if (run->fitted) PLX_TRY(load_statistics(m, v));
        else PLX_TRY(fit_statistics(m, v, labelled));
    }
    return PLX_OK;
}

/* ---- values ---- */

static double standardised(const lm *m, plx_index view, plx_index j, double x)
{
    plx_cmat s = m->standard[view];
    return (x - s.data[j]) / s.data[s.ld + j];
}

/* Counts as they are, other values within their range, constant ones 0. */
static double nonnegative(const lm *m, plx_index view, plx_index j, double x)
{
    plx_cmat r = m->range[view];
    if (m->x->views[view].kind == PLX_VIEW_COUNTS) return x;
    return plx__within_range(x, r.data[j], r.data[r.ld + j], 0.0);
}

typedef double (*value_fn)(const lm *m, plx_index view, plx_index j, double x);

static plx_status labelled_rows(plx_mat *out, const lm *m, const lm_block *b, value_fn value)
{
    PLX_TRY(plx__arena_mat(out, plx__scratch(m->ctx), m->l, b->cols));
    for (plx_index i = 0; i < m->l; i++)
        for (plx_index k = 0; k < b->n_views; k++) {
            const plx__view *v = &m->x->views[b->view[k]];
            double *row = out->data + i * out->ld + b->first[k];
            if (!v->present[m->labelled[i]]) continue;
            fill_row(row, v, m->labelled[i]);
            for (plx_index j = 0; j < v->cols; j++) row[j] = value(m, b->view[k], j, row[j]);
        }
    return PLX_OK;
}

plx_status plx__lm_labelled_rows(plx_mat *out, const lm *m, const lm_block *b)
{
    return labelled_rows(out, m, b, standardised);
}

plx_status plx__lm_nonnegative_rows(plx_mat *out, const lm *m, const lm_block *b)
{
    return labelled_rows(out, m, b, nonnegative);
}

/* Columns ascend within a view, and so do the entries of a sparse row. */
static void some(double *out, const lm *m, const lm_block *b, const plx_index *column, plx_index count,
                 plx_index sample, value_fn value)
{
    plx_index k = -1;
    int64_t at = 0;
    const plx__view *v = NULL;
    for (plx_index c = 0; c < count; c++) {
        while (k < 0 || column[c] >= b->first[k + 1]) {
            v = &m->x->views[b->view[++k]];
            if (v->sparse) at = v->csr.ptr[sample];
        }
        plx_index j = column[c] - b->first[k];
        double x = v->sparse ? 0.0 : v->dense.data[sample * v->dense.ld + j];
        if (v->sparse) {
            while (at < v->csr.ptr[sample + 1] && v->csr.col[at] < j) at++;
            if (at < v->csr.ptr[sample + 1] && v->csr.col[at] == j) x = v->csr.val[at];
        }
        out[c] = v->present[sample] ? value(m, b->view[k], j, x) : 0.0;
    }
}

void plx__lm_nonnegative_some(double *out, const lm *m, const lm_block *b, const plx_index *column, plx_index count,
                              plx_index sample)
{
    some(out, m, b, column, count, sample, nonnegative);
}

void plx__lm_standard_some(double *out, const lm *m, const lm_block *b, const plx_index *column, plx_index count,
                           plx_index sample)
{
    some(out, m, b, column, count, sample, standardised);
}
