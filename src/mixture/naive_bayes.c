/*
 * Multinomial naive Bayes: counts of the labelled samples per class, smoothed; posteriors by one product with the
 * logarithms. (A), (B), (C) mark the steps of docs/methods/nb.md.
 */
#include "mixture/naive_bayes.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/slabs.h"
#include "data/divided.h"
#include "mixture/softmax.h"

static const double LOG_OF_ZERO = 1e-300; /* smoothing = 0: log 0 is taken as the log of this */

enum { ROWS_AT_A_TIME = 512 };

plx__nb_labels plx__nb_labels_of(const plx__problem *p, const char *who)
{
    plx__nb_labels l = {who, p->n, p->n_classes, p->label, p->classes};
    return l;
}

/* ---- training ---- */

/* (A) */
plx_status plx__nb_prior(double *prior, plx_context *ctx, const plx__nb_labels *l, double smoothing)
{
    double total = 0;
    for (plx_index c = 0; c < l->n_classes; c++) prior[c] = 0;
    for (plx_index i = 0; i < l->n; i++)
        if (l->label[i] >= 0) prior[l->label[i]] += 1;
    for (plx_index c = 0; c < l->n_classes; c++) {
        if (prior[c] == 0)
            PLX_FAIL(ctx, PLX_E_DATA, "%s: class '%s' has no labelled sample; label one or remove the class", l->who,
                     l->classes[c]);
        total += prior[c] += smoothing;
    }
    for (plx_index c = 0; c < l->n_classes; c++) prior[c] /= total;
    return PLX_OK;
}

void plx__nb_add_row(double *sum, const plx__view *v, plx_index i)
{
    if (v->sparse)
        for (int64_t k = v->csr.ptr[i]; k < v->csr.ptr[i + 1]; k++) sum[v->csr.col[k]] += v->csr.val[k];
    else plx__axpy(sum, 1.0, v->dense.data + i * v->dense.ld, v->cols);
}

typedef struct counting {
    const plx__nb_labels *labels;
    const plx__view *view;
} counting;

static plx_status count_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const counting *q = arg;
    const int32_t *label = q->labels->label;
    (void)ctx;
    for (plx_index i = begin; i < end; i++)
        if (label[i] >= 0 && q->view->present[i]) plx__nb_add_row(table + label[i] * q->view->cols, q->view, i);
    return PLX_OK;
}

void plx__nb_bounds(plx_index *bound, const plx_context *ctx, plx_index n)
{
    plx__slabs_bounds(bound, ctx, plx__slabs_cut(n, PLX__PANE_ROWS));
}

plx_status plx__nb_counts(plx_mat counts, plx_context *ctx, const plx__nb_labels *l, const plx__view *v)
{
    counting q = {l, v};
    PLX_ASSERT(counts.ld == v->cols);
    return plx__slabs_sum(ctx, plx__slabs_cut(l->n, PLX__PANE_ROWS), counts.rows * counts.cols, count_pane, &q,
                          counts.data);
}

plx_status plx__nb_masses(double *total, plx_context *ctx, const plx__nb_labels *l, plx_cmat counts, const char *view)
{
    for (plx_index c = 0; c < l->n_classes; c++) {
        total[c] = plx__sum(counts.data + c * counts.ld, counts.cols);
        if (!isfinite(total[c]))
            PLX_FAIL(ctx, PLX_E_NUMERIC,
                     "%s: the counts of class '%s' in view '%s' do not add up to a finite number; scale the view",
                     l->who, l->classes[c], view);
    }
    return PLX_OK;
}

static double probability(double count, double total, double smoothing, double d)
{
    double normaliser = smoothing * d + total;
    return normaliser > 0 ? (smoothing + count) / normaliser : 1.0 / d;
}

double plx__nb_log_theta(double count, double total, double smoothing, plx_index d)
{
    double t = probability(count, total, smoothing, (double)d);
    return log(t > 0 ? t : LOG_OF_ZERO);
}

void plx__nb_normalise(plx_mat counts, const double *total, double smoothing)
{
    for (plx_index c = 0; c < counts.rows; c++)
        for (plx_index f = 0; f < counts.cols; f++) {
            double *x = &counts.data[c * counts.ld + f];
            *x = probability(*x, total[c], smoothing, (double)counts.cols);
        }
}

/* (B) */
plx_status plx__nb_theta(plx_mat theta, double *total, plx_context *ctx, const plx__nb_labels *l, const plx__view *v,
                         double smoothing)
{
    PLX_TRY(plx__nb_counts(theta, ctx, l, v));
    PLX_TRY(plx__nb_masses(total, ctx, l, plx__cmat(theta), v->name));
    plx__nb_normalise(theta, total, smoothing);
    return PLX_OK;
}

/* ---- scoring ---- */

plx__points plx__view_points(const plx__view *v)
{
    return v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense);
}

plx_status plx__nb_table_scores(plx_context *ctx, plx__points rows, plx_cmat logs, plx_mat out)
{
    if (plx__points_sparse(rows)) return plx__spmm(ctx, 1.0, rows.csr, logs, 0.0, out);
    return plx__gemm(ctx, 1.0, rows.dense, PLX__N, logs, PLX__N, 0.0, out);
}

void plx__nb_logs(plx_cmat theta, plx_mat logs)
{
    for (plx_index c = 0; c < theta.rows; c++)
        for (plx_index f = 0; f < theta.cols; f++) {
            double t = theta.data[c * theta.ld + f];
            logs.data[f * logs.ld + c] = log(t > 0 ? t : LOG_OF_ZERO);
        }
}

plx_status plx__nb_view_scores(plx_context *ctx, const plx__view *v, plx_cmat theta, plx_mat out)
{
    plx_index begin = plx__held_begin(v), rows = plx__held_end(v, out.rows) - begin;
    if (!v->divided) return plx__nb_log_scores(ctx, plx__view_points(v), theta, out);
    PLX_ASSERT(v->sparse); /* a dense product is cut by its shape */
    out.data += begin * out.ld;
    out.rows = rows;
    return plx__nb_log_scores(ctx, plx__points_csr(plx__csr_rows(v->csr, begin, begin + rows)), theta, out);
}

/* One product with the transposed logarithms. */
plx_status plx__nb_log_scores(plx_context *ctx, plx__points rows, plx_cmat theta, plx_mat out)
{
    plx_mat logs;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_mat(&logs, plx__scratch(ctx), theta.cols, theta.rows));
    plx__nb_logs(theta, logs);
    PLX_TRY(plx__nb_table_scores(ctx, rows, plx__cmat(logs), out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- joining views ---- */

plx_status plx__nb_joint_open(plx__nb_joint *j, plx_context *ctx, const double *prior, plx_mat joint, bool product,
                              const plx__view *view)
{
    plx_index begin = view ? plx__held_begin(view) : 0, end = view ? plx__held_end(view, joint.rows) : joint.rows;
    *j = (plx__nb_joint){.product = product, .prior = prior, .joint = joint, .view = view};
    plx__mat_fill(plx__sub(joint, begin, 0, end - begin, joint.cols), 0);
    PLX_TRY(plx__arena_i32(&j->views, plx__scratch(ctx), joint.rows));
    PLX_TRY(plx__arena_f64(&j->log_prior, plx__scratch(ctx), joint.cols, 1));
    for (plx_index c = 0; c < joint.cols; c++) j->log_prior[c] = log(prior[c]);
    return PLX_OK;
}

static plx_status join_view(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__nb_joint *j = arg;
    plx_index k = j->own.cols, first = plx__held_begin(j->view);
    (void)ctx;
    (void)worker;
    for (plx_index i = first + begin; i < first + end; i++) {
        double *row = j->own.data + i * j->own.ld, *sum = j->joint.data + i * j->joint.ld;
        if (!j->view->present[i]) {
            memset(row, 0, (size_t)k * sizeof *row);
            continue;
        }
        if (j->product) plx__axpy(sum, 1.0, row, k);
        plx__softmax_row(row, j->log_prior, k);
        if (!j->product) plx__axpy(sum, 1.0, row, k);
        j->views[i]++;
    }
    return PLX_OK;
}

plx_status plx__nb_joint_add(plx__nb_joint *j, plx_context *ctx, const plx__view *view, plx_mat own)
{
    plx_index rows = plx__held_end(view, own.rows) - plx__held_begin(view);
    j->view = view;
    j->own = own;
    return plx__parallel_for(ctx, rows, ROWS_AT_A_TIME, join_view, j);
}

/* (C) */
static plx_status join_all(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__nb_joint *j = arg;
    plx_index k = j->joint.cols, first = j->view ? plx__held_begin(j->view) : 0;
    (void)ctx;
    (void)worker;
    for (plx_index i = first + begin; i < first + end; i++) {
        double *row = j->joint.data + i * j->joint.ld;
        if (!j->views[i]) memcpy(row, j->prior, (size_t)k * sizeof *row);
        else if (j->product) plx__softmax_row(row, j->log_prior, k);
        else plx__scale(row, 1.0 / j->views[i], k);
    }
    return PLX_OK;
}

plx_status plx__nb_joint_close(plx__nb_joint *j, plx_context *ctx)
{
    plx_index n = j->joint.rows, rows = j->view ? plx__held_end(j->view, n) - plx__held_begin(j->view) : n;
    PLX_TRY(plx__parallel_for(ctx, rows, ROWS_AT_A_TIME, join_all, j));
    if (!j->view || j->keep) return PLX_OK;
    return plx__held_share(ctx, j->view, j->joint.data, (size_t)j->joint.ld * sizeof(double));
}

plx_status plx__nb_ensemble(plx_mat posterior, plx_context *ctx, const plx__nb_labels *l, const plx__view *views,
                            plx_index n_views, double smoothing)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx__nb_joint j;
    plx_mat theta, own;
    double *prior = NULL, *total = NULL;
    PLX_TRY(plx__arena_f64(&prior, scratch, l->n_classes, 1));
    PLX_TRY(plx__arena_f64(&total, scratch, l->n_classes, 1));
    PLX_TRY(plx__nb_prior(prior, ctx, l, 0));
    PLX_TRY(plx__nb_joint_open(&j, ctx, prior, posterior, false, n_views ? &views[0] : NULL));
    PLX_TRY(plx__arena_mat(&own, scratch, l->n, l->n_classes));
    for (plx_index v = 0; v < n_views; v++) {
        plx__mark inner = plx__arena_mark(scratch);
        PLX_TRY(plx__arena_mat(&theta, scratch, l->n_classes, views[v].cols));
        PLX_TRY(plx__nb_theta(theta, total, ctx, l, &views[v], smoothing));
        PLX_TRY(plx__nb_view_scores(ctx, &views[v], plx__cmat(theta), own));
        PLX_TRY(plx__nb_joint_add(&j, ctx, &views[v], own));
        plx__arena_rewind(scratch, inner);
    }
    PLX_TRY(plx__nb_joint_close(&j, ctx));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}
