/*
 * From predicted components, or from neighbours, to values with standard deviations.
 */
#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "methods/complete/complete_impl.h"

void plx__complete_fill_row(double *value, double *deviation, const complete *c, plx_index v, const double *z)
{
    const complete_view *view = &c->views[v];
    memset(value, 0, (size_t)view->d * sizeof *value);
    for (plx_index k = 0; k < view->r; k++)
        if (z[k] != 0) plx__axpy(value, z[k], view->basis.data + k * view->basis.ld, view->d);
    for (plx_index e = 0; e < view->d; e++) {
        value[e] = view->mean[e] + view->sd[e] * value[e];
        deviation[e] = view->calibration * view->sd[e] * view->column[e];
    }
}

/* value += x, deviation += x^2, count += 1 of the entries of a row of the fit. */
static void add_row(double *value, double *deviation, double *count, const complete_view *view, plx_index l)
{
    if (plx__points_sparse(view->rows)) {
        plx_ccsr x = view->rows.csr;
        for (plx_index e = 0; e < view->d; e++) count[e]++;
        for (int64_t e = x.ptr[l]; e < x.ptr[l + 1]; e++) {
            bool there = !isnan(x.val[e]);
            value[x.col[e]] += there ? x.val[e] : 0.0;
            deviation[x.col[e]] += there ? x.val[e] * x.val[e] : 0.0;
            count[x.col[e]] -= !there;
        }
        return;
    }
    const double *x = view->rows.dense.data + l * view->rows.dense.ld;
    for (plx_index e = 0; e < view->d; e++) {
        if (isnan(x[e])) continue;
        value[e] += x[e];
        deviation[e] += x[e] * x[e];
        count[e]++;
    }
}

static plx_status fill_near(double *value, double *deviation, const complete *c, plx_index v, const complete_rows *rows,
                            plx_index row, bool own, bool self)
{
    const complete_view *view = &c->views[v];
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_index k = view->choice.number, *near = NULL;
    double *count = NULL;
    PLX_TRY(plx__arena_i64(&near, plx__scratch(c->ctx), k));
    PLX_TRY(plx__arena_f64(&count, plx__scratch(c->ctx), view->d, 1));
    PLX_TRY(plx__complete_neighbours(near, k, c, v, own, self, rows, row));
    memset(value, 0, (size_t)view->d * sizeof *value);
    memset(deviation, 0, (size_t)view->d * sizeof *deviation);
    for (plx_index i = 0; i < k && near[i] >= 0; i++) add_row(value, deviation, count, view, near[i]);
    for (plx_index e = 0; e < view->d; e++) {
        double mean = count[e] > 0 ? value[e] / count[e] : view->mean[e], least = 0.1 * view->sd[e] * view->column[e];
        double spread = count[e] > 1 ? fmax(deviation[e] - count[e] * mean * mean, 0.0) / (count[e] - 1) : 0.0;
        value[e] = mean;
        deviation[e] = view->calibration * fmax(sqrt(spread * (1 + 1 / fmax(count[e], 1.0))), least);
    }
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

plx_status plx__complete_fill_near(double *value, double *deviation, const complete *c, plx_index v,
                                   const complete_rows *rows, plx_index row, bool self)
{
    return fill_near(value, deviation, c, v, rows, row, false, self);
}

/* ---- single entries ---- */

static bool is_hole(const plx__view *view, plx_index i, plx_index e)
{
    if (!view->sparse) return isnan(view->dense.data[i * view->dense.ld + e]);
    for (int64_t k = view->csr.ptr[i]; k < view->csr.ptr[i + 1]; k++)
        if (view->csr.col[k] == e) return isnan(view->csr.val[k]);
    return false;
}

/* z ~ N(prior, diag latent), x_o = V_o z + noise: the components given the entries that are there. Values and deviations
 * of the whole row. */
static plx_status fill_holes(double *value, double *deviation, const complete *c, plx_index v, const plx__view *view,
                             plx_index i, const double *prior)
{
    const complete_view *own = &c->views[v];
    plx__arena *scratch = plx__scratch(c->ctx);
    plx_index r = own->r;
    double *x = NULL, *z = NULL, *right = NULL;
    plx_mat a, seen;
    PLX_TRY(plx__arena_f64(&x, scratch, own->d, 1));
    PLX_TRY(plx__arena_f64(&z, scratch, r, 1));
    PLX_TRY(plx__arena_f64(&right, scratch, r, 1));
    PLX_TRY(plx__arena_mat(&a, scratch, r, r));
    PLX_TRY(plx__arena_mat(&seen, scratch, r, own->d));
    plx__complete_row(x, own, view, i);
    for (plx_index k = 0; k < r; k++) {
        const double *basis = own->basis.data + k * own->basis.ld;
        for (plx_index e = 0; e < own->d; e++)
            if (!is_hole(view, i, e)) seen.data[k * seen.ld + e] = basis[e] / sqrt(own->noise[e]);
        plx__axpy(x, -prior[k], basis, own->d);
    }
    for (plx_index e = 0; e < own->d; e++) x[e] = is_hole(view, i, e) ? 0.0 : x[e] / sqrt(own->noise[e]);
    PLX_TRY(plx__gemm(c->ctx, 1.0, plx__cmat(seen), PLX__N, plx__cmat(seen), PLX__T, 0.0, a));
    for (plx_index k = 0; k < r; k++) {
        a.data[k * (a.ld + 1)] += 1 / own->latent[k];
        right[k] = plx__dot(seen.data + k * seen.ld, x, own->d);
    }
    if (r) PLX_TRY(plx__cholesky_jitter(c->ctx, a, NULL, "complete: components", NULL, NULL));
    if (r) PLX_TRY(plx__chol_solve_vec(c->ctx, plx__cmat(a), right));
    for (plx_index k = 0; k < r; k++) z[k] = prior[k] + right[k];
    plx__complete_fill_row(value, deviation, c, v, z);
    for (plx_index e = 0; e < own->d; e++) {
        double left = own->noise[e];
        if (!is_hole(view, i, e)) continue;
        for (plx_index k = 0; k < r; k++) right[k] = own->basis.data[k * own->basis.ld + e];
        if (r) PLX_TRY(plx__tri_solve_vec(c->ctx, plx__cmat(a), PLX__N, right));
        deviation[e] = own->sd[e] * sqrt(left + plx__norm_sq(right, r));
    }
    return PLX_OK;
}

/* ---- all that is missing ---- */

typedef struct filling {
    const complete *c;
    const complete_rows *rows;
    plx_index v;
    const plx__view *view;
    plx_index *row, count; /* samples with something to fill */
    double *value, *deviation;
    plx_mat out;
    plx_index next;
} filling;

static bool has_holes(const plx__view *view, plx_index i)
{
    if (!view->missing_values) return false;
    for (int64_t k = view->sparse ? view->csr.ptr[i] : 0; view->sparse && k < view->csr.ptr[i + 1]; k++)
        if (isnan(view->csr.val[k])) return true;
    for (plx_index e = 0; e < view->cols && !view->sparse; e++)
        if (isnan(view->dense.data[i * view->dense.ld + e])) return true;
    return false;
}

/* Samples and entries to be filled. */
static plx_index list_rows(filling *f)
{
    plx_index entries = 0;
    for (plx_index i = 0; i < f->rows->n; i++) {
        bool there = f->rows->seen[i * f->c->m + f->v];
        if (there && !has_holes(f->view, i)) continue;
        f->row[f->count++] = i;
        for (plx_index e = 0; e < f->view->cols; e++) entries += !there || is_hole(f->view, i, e);
    }
    return entries;
}

static double clipped(const plx__view *view, double value)
{
    if (view->kind == PLX_VIEW_BINARY) return fmin(fmax(value, 0.0), 1.0);
    return view->kind == PLX_VIEW_REAL ? value : fmax(value, 0.0);
}

plx_status plx__complete_fill_sample(double *value, double *deviation, const complete *c, plx_index v,
                                     const plx__view *view, const complete_rows *rows, plx_index i, const double *z)
{
    int method = c->views[v].choice.method;
    bool there = rows->seen[i * c->m + v];
    if (method == COMPLETE_KNN) return fill_near(value, deviation, c, v, rows, i, there, false);
    if (there && method != COMPLETE_MEAN) return fill_holes(value, deviation, c, v, view, i, z);
    plx__complete_fill_row(value, deviation, c, v, z);
    return PLX_OK;
}

static plx_status fill_sample(filling *f, plx_index k, plx_cmat z)
{
    plx__mark mark = plx__arena_mark(plx__scratch(f->c->ctx));
    const complete_view *own = &f->c->views[f->v];
    plx_index i = f->row[k];
    bool there = f->rows->seen[i * f->c->m + f->v];
    PLX_TRY(plx__complete_fill_sample(f->value, f->deviation, f->c, f->v, f->view, f->rows, i, z.data + k * z.ld));
    for (plx_index e = 0; e < own->d; e++) {
        if (there && !is_hole(f->view, i, e)) continue;
        double *to = f->out.data + f->next++ * f->out.ld;
        to[0] = (double)i;
        to[1] = (double)e;
        to[2] = clipped(f->view, f->value[e]);
        to[3] = f->deviation[e];
    }
    plx__arena_rewind(plx__scratch(f->c->ctx), mark);
    return plx__poll(f->c->ctx);
}

static plx_status fill_view(filling *f)
{
    const complete *c = f->c;
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    const char *name = NULL;
    plx_mat z;
    PLX_TRY(plx__arena_i64(&f->row, plx__scratch(c->ctx), f->rows->n));
    PLX_TRY(plx__arena_f64(&f->value, plx__scratch(c->ctx), f->view->cols, 1));
    PLX_TRY(plx__arena_f64(&f->deviation, plx__scratch(c->ctx), f->view->cols, 1));
    plx_index entries = list_rows(f);
    PLX_TRY(plx__view_key(&name, c->ctx, "fill", f->view->name));
    PLX_TRY(plx__store_new(&f->out, c->run->out, name, entries, 4));
    PLX_TRY(plx__arena_mat(&z, plx__scratch(c->ctx), f->count, c->views[f->v].r));
    PLX_TRY(plx__complete_predict(z, c, f->v, &c->views[f->v].choice, f->rows, f->row, f->count));
    for (plx_index k = 0; k < f->count; k++) PLX_TRY(fill_sample(f, k, plx__cmat(z)));
    PLX_TRY(plx__require_finite(c->run, plx__cmat(f->out), "filled values"));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

plx_status plx__complete_put_fills(const complete *c, const plx__view *views, const complete_rows *rows)
{
    for (plx_index v = 0; v < c->m; v++) {
        filling f = {.c = c, .rows = rows, .v = v, .view = &views[v]};
        PLX_TRY(plx__report(c->ctx, "fill", v + 1, c->m, NAN));
        PLX_TRY(fill_view(&f));
    }
    return PLX_OK;
}
