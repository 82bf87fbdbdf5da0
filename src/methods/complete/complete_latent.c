/*
 * Views in terms of their principal components.
 */
#include <math.h>
#include <string.h>

#include "kernel/expansion.h"
#include "linalg/lowrank.h"
#include "methods/complete/complete_impl.h"

static bool standardised(const plx__view *v) { return !v->sparse && v->kind == PLX_VIEW_REAL; }

/* Means over the values that are there, deviations of standardised columns (1 elsewhere and for constants). */
static plx_status find_moments(complete_view *out, plx__arena *arena, const plx__view *v, const uint8_t *seen,
                               plx_index n, plx_index m)
{
    double *mean = NULL, *sd = NULL, *count = NULL;
    PLX_TRY(plx__arena_f64(&mean, arena, v->cols, 1));
    PLX_TRY(plx__arena_f64(&sd, arena, v->cols, 1));
    PLX_TRY(plx__arena_f64(&count, arena, v->cols, 1));
    double rows = 0;
    for (plx_index i = 0; i < n; i++) rows += seen[i * m];
    for (plx_index e = 0; e < v->cols; e++) count[e] = v->sparse ? rows : 0.0;
    for (plx_index i = 0; i < n; i++) {
        if (!seen[i * m]) continue;
        if (v->sparse)
            for (int64_t e = v->csr.ptr[i]; e < v->csr.ptr[i + 1]; e++) {
                bool there = !isnan(v->csr.val[e]);
                mean[v->csr.col[e]] += there ? v->csr.val[e] : 0.0;
                count[v->csr.col[e]] -= !there;
            }
        else
            for (plx_index e = 0; e < v->cols; e++) {
                double x = v->dense.data[i * v->dense.ld + e];
                mean[e] += isnan(x) ? 0.0 : x;
                count[e] += !isnan(x);
            }
    }
    for (plx_index e = 0; e < v->cols; e++) mean[e] = count[e] > 0 ? mean[e] / count[e] : 0.0;
    for (plx_index i = 0; i < n && standardised(v); i++)
        for (plx_index e = 0; e < v->cols && seen[i * m]; e++) {
            double x = v->dense.data[i * v->dense.ld + e] - mean[e];
            sd[e] += isnan(x) ? 0.0 : x * x / count[e];
        }
    for (plx_index e = 0; e < v->cols; e++) sd[e] = sd[e] > 1e-24 * mean[e] * mean[e] ? sqrt(sd[e]) : 1.0;
    out->mean = mean;
    out->sd = sd;
    return PLX_OK;
}

bool plx__complete_row(double *out, const complete_view *v, const plx__view *view, plx_index i)
{
    bool holes = false;
    if (view->sparse) {
        for (plx_index e = 0; e < v->d; e++) out[e] = -v->mean[e] / v->sd[e];
        for (int64_t e = view->csr.ptr[i]; e < view->csr.ptr[i + 1]; e++) {
            plx_index at = view->csr.col[e];
            double x = view->csr.val[e];
            holes |= isnan(x);
            out[at] = isnan(x) ? 0.0 : (x - v->mean[at]) / v->sd[at];
        }
        return holes;
    }
    for (plx_index e = 0; e < v->d; e++) {
        double x = view->dense.data[i * view->dense.ld + e];
        holes |= isnan(x);
        out[e] = isnan(x) ? 0.0 : (x - v->mean[e]) / v->sd[e];
    }
    return holes;
}

/* The leading right singular vectors of the standardised rows that are seen. Sparse rows without holes stay sparse. */
static plx_status find_basis(complete_view *out, complete *c, plx__arena *arena, const plx__view *v, plx_index rows,
                             const plx_index *row)
{
    plx_context *ctx = c->ctx;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat x, u, vt;
    double *s = NULL;
    out->r = plx__max(0, plx__min(plx__min(c->set->dimensions, v->cols), rows - 1));
    PLX_TRY(plx__arena_mat(&vt, arena, out->r, v->cols));
    out->basis = plx__cmat(vt);
    if (!out->r) return PLX_OK;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(ctx), rows, v->cols));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(ctx), rows, out->r));
    PLX_TRY(plx__arena_f64(&s, plx__scratch(ctx), out->r, 1));
    for (plx_index i = 0; i < rows; i++) plx__complete_row(x.data + i * x.ld, out, v, row[i]);
    plx__rsvd_options o = {.power = 4, .stream = 0};
    PLX_TRY(plx__rsvd(ctx, (plx__rsvd_input){.dense = plx__cmat(x)}, out->r, &o, u, s, vt));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Variance the components leave in every column. */
static plx_status find_noise(complete_view *out, complete *c, plx__arena *arena, const plx__view *v, plx_index rows,
                             const plx_index *row)
{
    double *noise = NULL, *x = NULL, *z = NULL;
    PLX_TRY(plx__arena_f64(&noise, arena, v->cols, 1));
    PLX_TRY(plx__arena_f64(&x, plx__scratch(c->ctx), v->cols, 1));
    PLX_TRY(plx__arena_f64(&z, plx__scratch(c->ctx), out->r, 1));
    for (plx_index i = 0; i < rows; i++) {
        plx__complete_row(x, out, v, row[i]);
        for (plx_index k = 0; k < out->r; k++) z[k] = plx__dot(x, out->basis.data + k * out->basis.ld, v->cols);
        for (plx_index k = 0; k < out->r; k++) plx__axpy(x, -z[k], out->basis.data + k * out->basis.ld, v->cols);
        for (plx_index e = 0; e < v->cols; e++) noise[e] += x[e] * x[e] / (double)rows;
    }
    for (plx_index e = 0; e < v->cols; e++) noise[e] = fmax(noise[e], 1e-6);
    out->noise = noise;
    return PLX_OK;
}

/* Rows with holes are left out of the components where at least half of the rows have none. */
static plx_status prefer_whole(plx_index *row, plx_index *rows, complete *c, const complete_view *out,
                               const plx__view *v)
{
    double *x = NULL;
    plx_index whole = 0, *kept = NULL;
    if (!v->missing_values) return PLX_OK;
    PLX_TRY(plx__arena_f64(&x, plx__scratch(c->ctx), v->cols, 1));
    PLX_TRY(plx__arena_i64(&kept, plx__scratch(c->ctx), *rows));
    for (plx_index i = 0; i < *rows; i++)
        if (!plx__complete_row(x, out, v, row[i])) kept[whole++] = row[i];
    if (2 * whole < *rows) return PLX_OK;
    memcpy(row, kept, (size_t)whole * sizeof *row);
    *rows = whole;
    return PLX_OK;
}

static plx_status learn_view(complete *c, plx__arena *arena, const plx__view *views, const uint8_t *seen, plx_index v)
{
    complete_view *out = &c->views[v];
    plx_index *row = NULL, rows = 0;
    *out = (complete_view){.name = views[v].name, .d = views[v].cols, .at = c->dims, .calibration = 1.0};
    PLX_TRY(plx__arena_i64(&row, plx__scratch(c->ctx), c->n));
    for (plx_index i = 0; i < c->n; i++)
        if (seen[i * c->m + v]) row[rows++] = i;
    PLX_TRY(find_moments(out, arena, &views[v], seen + v, c->n, c->m));
    PLX_TRY(prefer_whole(row, &rows, c, out, &views[v]));
    PLX_TRY(find_basis(out, c, arena, &views[v], rows, row));
    PLX_TRY(find_noise(out, c, arena, &views[v], rows, row));
    c->dims += out->r;
    return plx__poll(c->ctx);
}

plx_status plx__complete_project(plx_mat *out, const complete *c, plx__arena *arena, const plx__view *views,
                                 const uint8_t *seen, plx_index n)
{
    PLX_TRY(plx__arena_mat(out, arena, n, c->dims));
    for (plx_index v = 0; v < c->m; v++) {
        const complete_view *view = &c->views[v];
        double *x = NULL;
        PLX_TRY(plx__arena_f64(&x, plx__scratch(c->ctx), view->d, 1));
        for (plx_index i = 0; i < n; i++) {
            if (!seen[i * c->m + v]) continue;
            plx__complete_row(x, view, &views[v], i);
            for (plx_index k = 0; k < view->r; k++)
                out->data[i * out->ld + view->at + k] = plx__dot(x, view->basis.data + k * view->basis.ld, view->d);
        }
        PLX_TRY(plx__poll(c->ctx));
    }
    return PLX_OK;
}

plx_status plx__complete_learn_views(complete *c, plx__arena *arena, const plx__view *views, const uint8_t *seen)
{
    plx_mat z;
    c->dims = 0;
    c->seen = seen;
    PLX_TRY(PLX__ARENA_NEW(&c->views, arena, c->m));
    for (plx_index v = 0; v < c->m; v++) PLX_TRY(learn_view(c, arena, views, seen, v));
    PLX_TRY(plx__complete_project(&z, c, arena, views, seen, c->n));
    c->z = plx__cmat(z);
    return PLX_OK;
}
