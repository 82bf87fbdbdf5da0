/*
 * Fixtures as plain arrays that can be reordered, cut and extended before they become a data set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "core/rng.h"

static void *get(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

static raw *raw_new(plx_index n)
{
    raw *r = get(1, sizeof *r);
    r->n = n;
    r->label = get((size_t)n, sizeof *r->label);
    r->truth = get((size_t)n, sizeof *r->truth);
    return r;
}

static void view_new(raw_view *v, plx_index n, plx_index cols)
{
    v->cols = cols;
    v->x = get((size_t)(n * cols), sizeof *v->x);
    v->feature = get((size_t)cols, sizeof *v->feature);
    v->present = get((size_t)n, 1);
    memset(v->present, 1, (size_t)n);
}

static void fill_view(raw *r, raw_view *v, plx__rng *rng)
{
    for (plx_index j = 0; j < v->cols; j++) snprintf(v->feature[j], sizeof *v->feature, "f%d", (int)j);
    for (plx_index i = 0; i < r->n; i++) {
        for (plx_index j = 0; j < v->cols; j++) {
            bool own = j % r->classes == r->truth[i];
            v->x[i * v->cols + j] = (double)(plx_index)(plx__next_uniform(rng) * (own ? 7 : 3));
        }
        v->x[i * v->cols + r->truth[i] % v->cols] += 1;
    }
}

raw *raw_make_wide(const trial *t, plx_index n, plx_index classes, uint64_t seed, plx_index widen)
{
    static const char *const names[] = {"text", "link", "image", "sound"};
    static const plx_index cols[] = {7, 5, 6, 4};
    raw *r = raw_new(n);
    plx__rng rng = plx__rng_start(seed, 1);
    r->classes = classes;
    r->n_views = plx__max(2, t->about->min_views);
    if (t->about->max_views && r->n_views > t->about->max_views) r->n_views = t->about->max_views;
    for (plx_index i = 0; i < n; i++) {
        r->truth[i] = (int32_t)(i % classes);
        r->label[i] = (i / classes) % 2 == 0 ? r->truth[i] : -1;
    }
    for (plx_index v = 0; v < r->n_views; v++) {
        raw_view *view = &r->view[v];
        view_new(view, n, widen * cols[v]);
        snprintf(view->name, sizeof view->name, "%s", names[v]);
        view->kind = PLX_VIEW_COUNTS;
        view->named = true;
        fill_view(r, view, &rng);
    }
    return r;
}

raw *raw_make(const trial *t, plx_index n, plx_index classes, uint64_t seed)
{
    return raw_make_wide(t, n, classes, seed, 1);
}

raw *raw_rows(const raw *from, const plx_index *rows, plx_index count)
{
    raw *r = raw_new(count);
    r->classes = from->classes;
    r->n_views = from->n_views;
    for (plx_index i = 0; i < count; i++) {
        r->label[i] = from->label[rows[i]];
        r->truth[i] = from->truth[rows[i]];
    }
    for (plx_index v = 0; v < r->n_views; v++) {
        const raw_view *f = &from->view[v];
        raw_view *w = &r->view[v];
        *w = *f;
        view_new(w, count, f->cols);
        memcpy(w->feature, f->feature, (size_t)f->cols * sizeof *f->feature);
        for (plx_index i = 0; i < count; i++) {
            memcpy(w->x + i * f->cols, f->x + rows[i] * f->cols, (size_t)f->cols * sizeof(double));
            w->present[i] = f->present[rows[i]];
        }
    }
    return r;
}

raw *raw_clone(const raw *r)
{
    plx_index *all = get((size_t)r->n, sizeof *all);
    for (plx_index i = 0; i < r->n; i++) all[i] = i;
    raw *copy = raw_rows(r, all, r->n);
    free(all);
    return copy;
}

static void view_free(raw_view *v)
{
    free(v->x);
    free(v->feature);
    free(v->present);
}

void raw_free(raw *r)
{
    for (plx_index v = 0; v < r->n_views; v++) view_free(&r->view[v]);
    free(r->label);
    free(r->truth);
    free(r);
}

/* ---- changes ---- */

/* Columns from[0..count) of the view, in that order. */
static void choose_columns(raw *r, plx_index view, const plx_index *from, plx_index count)
{
    raw_view old = r->view[view], *v = &r->view[view];
    view_new(v, r->n, count);
    memcpy(v->present, old.present, (size_t)r->n);
    for (plx_index j = 0; j < count; j++) {
        memcpy(v->feature[j], old.feature[from[j]], sizeof *v->feature);
        for (plx_index i = 0; i < r->n; i++) v->x[i * count + j] = old.x[i * old.cols + from[j]];
    }
    view_free(&old);
}

void raw_move_feature(raw *r, plx_index view, const plx_index *from)
{
    choose_columns(r, view, from, r->view[view].cols);
}

void raw_drop_column(raw *r, plx_index view, plx_index column)
{
    plx_index keep[64], count = 0;
    for (plx_index j = 0; j < r->view[view].cols; j++)
        if (j != column) keep[count++] = j;
    choose_columns(r, view, keep, count);
}

/* A copy of column 0, moved to the front, under a name of its own. */
void raw_add_column(raw *r, plx_index view, const char *name)
{
    plx_index from[64] = {0}, cols = r->view[view].cols;
    for (plx_index j = 0; j < cols; j++) from[j + 1] = j;
    choose_columns(r, view, from, cols + 1);
    snprintf(r->view[view].feature[0], sizeof *r->view[view].feature, "%s", name);
}

void raw_swap_views(raw *r, plx_index a, plx_index b)
{
    raw_view keep = r->view[a];
    r->view[a] = r->view[b];
    r->view[b] = keep;
}

void raw_drop_view(raw *r, plx_index view)
{
    view_free(&r->view[view]);
    for (plx_index v = view; v + 1 < r->n_views; v++) r->view[v] = r->view[v + 1];
    r->n_views--;
}

plx_index *reversed_order(plx_index n)
{
    plx_index *order = get((size_t)n, sizeof *order);
    for (plx_index i = 0; i < n; i++) order[i] = n - 1 - i;
    return order;
}

plx_index *mixed_order(plx_index n)
{
    plx_index *order = get((size_t)n, sizeof *order), step = 2;
    while (n > 1) {
        plx_index a = step, b = n;
        while (b) {
            plx_index rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1 && step % n != 1) break;
        step++;
        if (step > 2 * n) break;
    }
    for (plx_index i = 0; i < n; i++) order[i] = (step * i + 1) % n;
    return order;
}

/* ---- data sets ---- */

static plx_status add_dense(plx_dataset *data, plx_context *ctx, const raw_view *v, plx_index n,
                            const char *const *names)
{
    plx_cmat values = {v->x, n, v->cols, v->cols};
    return plx_dataset_add_dense(data, ctx, v->name, v->kind, values, names, v->present);
}

static plx_status add_sparse(plx_dataset *data, plx_context *ctx, const raw_view *v, plx_index n,
                             const char *const *names)
{
    int64_t *ptr = get((size_t)n + 1, sizeof *ptr), nnz = 0;
    int32_t *col = get((size_t)(n * v->cols), sizeof *col);
    double *val = get((size_t)(n * v->cols), sizeof *val);
    for (plx_index i = 0; i < n; i++) {
        for (plx_index j = 0; j < v->cols; j++) {
            if (v->x[i * v->cols + j] == 0) continue;
            col[nnz] = (int32_t)j;
            val[nnz++] = v->x[i * v->cols + j];
        }
        ptr[i + 1] = nnz;
    }
    plx_ccsr values = {n, v->cols, ptr, col, val};
    plx_status st = plx_dataset_add_sparse(data, ctx, v->name, v->kind, values, names, v->present);
    free(ptr);
    free(col);
    free(val);
    return st;
}

static plx_status add_view(plx_dataset *data, plx_context *ctx, const raw_view *v, plx_index n)
{
    const char **names = get((size_t)v->cols, sizeof *names);
    for (plx_index j = 0; j < v->cols; j++) names[j] = v->feature[j];
    plx_status st = v->sparse ? add_sparse(data, ctx, v, n, v->named ? names : NULL)
                              : add_dense(data, ctx, v, n, v->named ? names : NULL);
    free(names);
    return st;
}

static const char *class_name(int32_t c)
{
    static char names[64][8];
    if (c < 0) return NULL;
    snprintf(names[c % 64], sizeof *names, "k%02d", (int)(c % 64));
    return names[c % 64];
}

plx_dataset *raw_dataset(trial *t, const raw *r, plx_context *ctx)
{
    plx_dataset *data = NULL;
    const char **labels = get((size_t)r->n, sizeof *labels), **truth = get((size_t)r->n, sizeof *truth);
    for (plx_index i = 0; i < r->n; i++) {
        labels[i] = class_name(r->label[i]);
        truth[i] = class_name(r->truth[i]);
    }
    plx_status st = plx_dataset_create(&data, ctx, "fixture", r->n);
    for (plx_index v = 0; st == PLX_OK && v < r->n_views; v++) st = add_view(data, ctx, &r->view[v], r->n);
    if (st == PLX_OK && needs_labels(t)) st = plx_dataset_set_labels(data, ctx, labels);
    if (st == PLX_OK) st = plx_dataset_set_truth(data, ctx, truth);
    free(labels);
    free(truth);
    if (st == PLX_OK) return data;
    complain(t, "fixture: %s", plx_context_error(ctx));
    exit(2);
}

/* ---- checksum ---- */

static uint64_t mix(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) sum = (sum ^ b[i]) * 1099511628211u;
    return sum;
}

static uint64_t mix_text(uint64_t sum, const char *text)
{
    return text ? mix(sum, text, strlen(text) + 1) : sum * 31 + 7;
}

static uint64_t mix_view(uint64_t sum, const plx_dataset *data, plx_index v)
{
    plx_view_info info = PLX_VIEW_INFO_INIT;
    plx_cmat dense;
    plx_ccsr csr;
    if (plx_dataset_view_info(&info, data, v) != PLX_OK) return 0;
    sum = mix_text(sum, info.name);
    sum = mix(sum, &info.kind, sizeof info.kind);
    sum = mix(sum, &info.present, sizeof info.present);
    sum = mix(sum, &info.missing_values, sizeof info.missing_values);
    sum = mix(sum, plx_dataset_present(data, v), (size_t)info.rows);
    for (plx_index j = 0; j < info.cols; j++) sum = mix_text(sum, plx_dataset_feature(data, v, j));
    if (plx_dataset_dense(&dense, data, v) == PLX_OK)
        for (plx_index i = 0; i < dense.rows; i++)
            sum = mix(sum, dense.data + i * dense.ld, (size_t)dense.cols * sizeof(double));
    if (plx_dataset_sparse(&csr, data, v) != PLX_OK) return sum;
    sum = mix(sum, csr.ptr, (size_t)(csr.rows + 1) * sizeof *csr.ptr);
    sum = mix(sum, csr.col, (size_t)csr.ptr[csr.rows] * sizeof *csr.col);
    return mix(sum, csr.val, (size_t)csr.ptr[csr.rows] * sizeof *csr.val);
}

uint64_t dataset_checksum(const plx_dataset *data)
{
    uint64_t sum = 14695981039346656037u;
    for (plx_index v = 0; v < plx_dataset_views(data); v++) sum = mix_view(sum, data, v);
    for (plx_index i = 0; i < plx_dataset_samples(data); i++) {
        sum = mix_text(sum, plx_dataset_id(data, i));
        sum = mix_text(sum, plx_dataset_label(data, i));
        sum = mix_text(sum, plx_dataset_truth(data, i));
    }
    for (plx_index c = 0; c < plx_dataset_classes(data); c++) sum = mix_text(sum, plx_dataset_class(data, c));
    return sum;
}
