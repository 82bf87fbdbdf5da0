/*
 * Affinities of new samples to fitted ones: what the model keeps of a view, who among the new samples was fitted, and
 * blocks of rows by the rule that joins fitted samples.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "device/anywhere.h"
#include "linalg/knn.h"
#include "methods/spectral/affinity.h"

/* ---- what the model keeps ---- */

plx_status plx__affinity_put(plx__run *run, const char *what, const char *view, const double *values, plx_index count)
{
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, run->ctx, what, view));
    return plx__store_put(run->out, name, plx__cmat_of(values, 1, count));
}

plx_status plx__affinity_get(const double **out, plx__run *run, const char *what, const char *view, plx_index count)
{
    const char *name = NULL;
    plx_cmat m;
    PLX_TRY(plx__view_key(&name, run->ctx, what, view));
    PLX_TRY(plx__store_shaped(&m, run->ctx, run->fitted, name, 1, count));
    *out = m.data;
    return PLX_OK;
}

static int descending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* The k-th largest similarity of every sample to another one; 0 where fewer are there. */
static plx_status given_reach(double *reach, plx_context *ctx, const plx__affinity *a)
{
    double *row = NULL;
    plx_mat one;
    PLX_TRY(plx__arena_f64(&row, plx__scratch(ctx), a->n, 1));
    one = plx__mat_of(row, 1, a->n);
    for (plx_index i = 0; i < a->n; i++) {
        PLX_TRY(plx__affinity_block(ctx, a, i, i + 1, one));
        row[i] = 0.0;
        qsort(row, (size_t)a->n, sizeof *row, descending);
        reach[i] = a->k <= a->n ? row[a->k - 1] : 0.0;
    }
    return PLX_OK;
}

plx_status plx__affinity_keep(plx__run *run, const plx__affinity *a, bool mutual)
{
    const char *name = NULL;
    double *flags = NULL, *reach = NULL;
    PLX_TRY(plx__arena_f64(&flags, plx__scratch(run->ctx), a->n, 1));
    for (plx_index i = 0; i < a->n; i++) flags[i] = a->present[i];
    PLX_TRY(plx__affinity_put(run, "_present", a->name, flags, a->n));
    if (mutual && a->given && a->k > 0) {
        PLX_TRY(plx__arena_f64(&reach, plx__scratch(run->ctx), a->n, 1));
        PLX_TRY(given_reach(reach, run->ctx, a));
        PLX_TRY(plx__affinity_put(run, "_reach", a->name, reach, a->n));
    }
    if (a->given) return PLX_OK;
    PLX_TRY(plx__affinity_put(run, "_width", a->name, &a->width, 1));
    if (a->scale) PLX_TRY(plx__affinity_put(run, "_local", a->name, a->scale, a->n));
    PLX_TRY(plx__view_key(&name, run->ctx, "_rows", a->name));
    return plx__points_sparse(a->rows) ? plx__store_put_csr(run->out, name, a->rows.csr)
                                       : plx__store_put(run->out, name, a->rows.dense);
}

/* Distance of the k-th neighbour of every fitted sample. */
static plx_status row_reach(plx__affinity *a, plx_context *ctx)
{
    plx_index k = plx__min(a->k, plx__max(1, a->n - 1));
    int64_t *index = NULL;
    double *distance = NULL, *reach = NULL;
    plx__knn_options o = {.k = k, .metric = PLX__EUCLID, .present = a->present, .self = true};
    PLX_TRY(plx__arena_f64(&reach, plx__scratch(ctx), a->n, 1));
    PLX_TRY(plx__arena_i64(&index, plx__scratch(ctx), a->n * k));
    PLX_TRY(plx__arena_f64(&distance, plx__scratch(ctx), a->n, k));
    PLX_TRY(plx__neighbours(ctx, a->run, a->name, a->rows, NULL, &o, index, distance));
    for (plx_index i = 0; i < a->n; i++)
        reach[i] = k == a->k && index[i * k + k - 1] >= 0 ? distance[i * k + k - 1] : INFINITY;
    a->reach = reach;
    return PLX_OK;
}

static plx_status recall_rows(plx__affinity *out, plx__run *run, const plx__affinity *fresh)
{
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, run->ctx, "_rows", fresh->name));
    const plx__array *rows = plx__store_find(run->fitted, name);
    if (!rows) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model lacks the array '%s'", name);
    out->rows = rows->sparse ? plx__points_csr(plx__ccsr(rows->csr)) : plx__points_dense(plx__cmat(rows->dense));
    if (plx__points_sparse(out->rows) != plx__points_sparse(fresh->rows) ||
        plx__points_cols(out->rows) != plx__points_cols(fresh->rows) || plx__points_rows(out->rows) != out->n)
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", fresh->name);
    return PLX_OK;
}

plx_status plx__affinity_recall(plx__affinity *out, plx__run *run, const plx__affinity *fresh, bool mutual)
{
    const char *name = NULL;
    const double *width = NULL;
    uint8_t *present = NULL;
    plx_cmat flags;
    PLX_TRY(plx__view_key(&name, run->ctx, "_present", fresh->name));
    PLX_TRY(plx__store_shaped(&flags, run->ctx, run->fitted, name, 1, -1));
    *out = *fresh;
    out->n = flags.cols;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(run->ctx), out->n));
    for (plx_index i = 0; i < out->n; i++) present[i] = flags.data[i] != 0;
    out->present = present;
    if (fresh->given) {
        if (plx__points_cols(fresh->rows) != out->n)
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's samples do not fit its view '%s'", fresh->name);
        return mutual && fresh->k > 0 ? plx__affinity_get(&out->reach, run, "_reach", fresh->name, out->n) : PLX_OK;
    }
    PLX_TRY(plx__affinity_get(&width, run, "_width", fresh->name, 1));
    out->width = *width;
    if (out->rule != PLX__WIDTH_LOCAL && !(out->width > 0))
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's width of view '%s' is not > 0", fresh->name);
    if (out->rule == PLX__WIDTH_LOCAL) PLX_TRY(plx__affinity_get(&out->scale, run, "_local", fresh->name, out->n));
    PLX_TRY(recall_rows(out, run, fresh));
    return mutual && out->k > 0 ? row_reach(out, run->ctx) : PLX_OK;
}

/* ---- blocks of rows ---- */

typedef struct near_list { /* neighbours of a block of new samples among the fitted, the sample itself left out */
    plx_index k;
    int64_t *index;
    double *distance;
} near_list;

static plx_status find_near(near_list *near, plx_context *ctx, const plx__affinity *fitted, const plx__affinity *fresh,
                            const plx_index *own, plx_index begin, plx_index end)
{
    plx_index most = plx__max(fitted->k, fitted->rule == PLX__WIDTH_LOCAL ? fitted->scale_k : 0);
    plx_index k = plx__min(fitted->n - 1, most) + 1;
    plx__knn_options o = {.k = k, .present = fitted->present, .query_present = fresh->present + begin};
    near->k = k;
    PLX_TRY(plx__arena_i64(&near->index, plx__scratch(ctx), (end - begin) * k));
    PLX_TRY(plx__arena_f64(&near->distance, plx__scratch(ctx), end - begin, k));
    PLX_TRY(plx__knn_anywhere(ctx, plx__points_range(fresh->rows, begin, end), fitted->rows, &o, near->index,
                              near->distance));
    for (plx_index i = begin; i < end; i++) {
        int64_t *index = near->index + (i - begin) * k;
        double *distance = near->distance + (i - begin) * k;
        plx_index at = 0;
        while (at < k && index[at] != own[i]) at++;
        if (own[i] < 0 || at == k) continue;
        memmove(index + at, index + at + 1, (size_t)(k - at - 1) * sizeof *index);
        memmove(distance + at, distance + at + 1, (size_t)(k - at - 1) * sizeof *distance);
        index[k - 1] = -1;
    }
    return PLX_OK;
}

/* Keeps, of one row of affinities, the near ones, those the sample is near to where pairs are mutual, and the sample
 * itself. */
static void thin_row(double *row, const plx__affinity *fitted, const double *distance_sq, const int64_t *near,
                     plx_index n_near, plx_index own, uint8_t *keep)
{
    memset(keep, 0, (size_t)fitted->n);
    for (plx_index j = 0; j < plx__min(n_near, fitted->k) && near[j] >= 0; j++) keep[near[j]] = 1;
    for (plx_index j = 0; j < fitted->n; j++) {
        if (keep[j] || j == own) continue;
        bool reached = fitted->reach && (distance_sq ? sqrt(distance_sq[j]) <= fitted->reach[j] * (1 + 1e-11) + 1e-12
                                                     : row[j] >= fitted->reach[j]);
        if (!reached) row[j] = 0.0;
    }
}

/* The k largest similarities of a given row, the sample itself left out; ties to the smaller index. */
static void largest_of(int64_t *near, const double *row, plx_index n, plx_index k, plx_index own)
{
    plx_index count = 0;
    for (plx_index j = 0; j < n; j++) {
        if (j == own || row[j] <= 0) continue;
        plx_index at = count < k ? count++ : k;
        if (at == k && row[near[k - 1]] >= row[j]) continue;
        if (at == k) at = k - 1;
        for (; at > 0 && row[near[at - 1]] < row[j]; at--) near[at] = near[at - 1];
        near[at] = j;
    }
    if (count < k) near[count] = -1;
}

static plx_status given_rows(plx_context *ctx, const plx__affinity *fitted, const plx__affinity *fresh,
                             const plx_index *own, plx_index begin, plx_index end, plx_mat out)
{
    int64_t *near = NULL;
    uint8_t *keep = NULL;
    plx_index k = plx__min(fitted->k, fitted->n);
    PLX_TRY(plx__arena_i64(&near, plx__scratch(ctx), k + 1));
    PLX_TRY(plx__arena_u8(&keep, plx__scratch(ctx), fitted->n));
    PLX_TRY(plx__affinity_block(ctx, fresh, begin, end, out));
    for (plx_index i = begin; i < end; i++) {
        double *row = out.data + (i - begin) * out.ld;
        for (plx_index j = 0; j < fitted->n; j++)
            if (!fresh->present[i] || !fitted->present[j]) row[j] = 0.0;
        if (!fitted->k) continue;
        largest_of(near, row, fitted->n, k, own[i]);
        thin_row(row, fitted, NULL, near, k, own[i], keep);
    }
    return PLX_OK;
}

static double affinity_of(const plx__affinity *fitted, double distance_sq, double scale, plx_index j)
{
    if (fitted->rule != PLX__WIDTH_LOCAL) return exp(-0.5 * distance_sq / (fitted->width * fitted->width));
    double product = scale * fitted->scale[j];
    return product > 0 ? exp(-distance_sq / product) : distance_sq == 0 ? 1.0 : 0.0;
}

/* Local scale of a new sample: its graph_scale_k-th neighbour among the fitted, or the last one there is. */
static double fresh_scale(const plx__affinity *fitted, const near_list *near, plx_index i)
{
    double scale = 0;
    for (plx_index j = 0; j < plx__min(near->k, fitted->scale_k) && near->index[i * near->k + j] >= 0; j++)
        scale = near->distance[i * near->k + j];
    return scale;
}

static plx_status distance_rows(plx_context *ctx, const plx__affinity *fitted, const plx__affinity *fresh,
                                const plx_index *own, plx_index begin, plx_index end, plx_mat out)
{
    near_list near = {0};
    double *squared = NULL;
    uint8_t *keep = NULL;
    bool local = fitted->rule == PLX__WIDTH_LOCAL;
    PLX_TRY(plx__dist_sq_matrix(ctx, plx__points_range(fresh->rows, begin, end), fitted->rows, out));
    if (local || fitted->k) PLX_TRY(find_near(&near, ctx, fitted, fresh, own, begin, end));
    PLX_TRY(plx__arena_f64(&squared, plx__scratch(ctx), fitted->n, 1));
    PLX_TRY(plx__arena_u8(&keep, plx__scratch(ctx), fitted->n));
    for (plx_index i = 0; i < end - begin; i++) {
        double *row = out.data + i * out.ld, scale = local ? fresh_scale(fitted, &near, i) : 0;
        memcpy(squared, row, (size_t)fitted->n * sizeof *row);
        for (plx_index j = 0; j < fitted->n; j++)
            row[j] = fresh->present[begin + i] && fitted->present[j] ? affinity_of(fitted, row[j], scale, j) : 0.0;
        if (fitted->k) thin_row(row, fitted, squared, near.index + i * near.k, near.k, own[begin + i], keep);
    }
    return PLX_OK;
}

plx_status plx__affinity_to_fitted(plx_context *ctx, const plx__affinity *fitted, const plx__affinity *fresh,
                                   const plx_index *own, plx_index begin, plx_index end, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (fitted->given) PLX_TRY(given_rows(ctx, fitted, fresh, own, begin, end, out));
    else PLX_TRY(distance_rows(ctx, fitted, fresh, own, begin, end, out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- who is who ---- */

static uint64_t hash_text(const char *text)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (; *text; text++) h = (h ^ (uint8_t)*text) * 1099511628211u;
    return h;
}

plx_status plx__identity_keep(plx__run *run)
{
    plx_mat hashes;
    PLX_TRY(plx__store_new(&hashes, run->out, "_ids", run->problem->n, 2));
    for (plx_index i = 0; i < run->problem->n; i++) {
        uint64_t h = hash_text(run->problem->ids[i]);
        hashes.data[2 * i] = (double)(h >> 32);
        hashes.data[2 * i + 1] = (double)(h & 0xffffffffu);
    }
    return PLX_OK;
}

typedef struct hashed {
    uint64_t hash;
    plx_index sample;
} hashed;

static int by_hash(const void *x, const void *y)
{
    const hashed *a = x, *b = y;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

static plx_index find_hash(const hashed *list, plx_index n, uint64_t h)
{
    plx_index low = 0, high = n;
    while (low < high) {
        plx_index middle = low + (high - low) / 2;
        if (list[middle].hash < h) low = middle + 1;
        else high = middle;
    }
    return low < n && list[low].hash == h ? list[low].sample : -1;
}

static bool rows_agree(const plx__affinity *fitted, const plx__affinity *fresh, plx_index n_views, plx_index sample,
                       plx_index i)
{
    for (plx_index v = 0; v < n_views; v++) {
        if (fitted[v].given || !fitted[v].present[sample] || !fresh[v].present[i]) continue;
        if (plx__point_distance(fitted[v].rows, sample, fresh[v].rows, i, PLX__EUCLID) > 0) return false;
    }
    return true;
}

plx_status plx__identity_find(plx_index **own, plx__run *run, const plx__affinity *fitted, const plx__affinity *fresh,
                              plx_index n_views)
{
    plx_index n = fitted[0].n;
    plx_cmat hashes;
    hashed *list = NULL;
    PLX_TRY(plx__store_shaped(&hashes, run->ctx, run->fitted, "_ids", n, 2));
    PLX_TRY(plx__arena_i64(own, plx__scratch(run->ctx), run->problem->n));
    PLX_TRY(PLX__ARENA_NEW(&list, plx__scratch(run->ctx), n));
    for (plx_index i = 0; i < n; i++) {
        double high = hashes.data[2 * i], low = hashes.data[2 * i + 1];
        if (!(high >= 0 && high < 4294967296.0 && low >= 0 && low < 4294967296.0))
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's list of its samples is damaged");
        list[i] = (hashed){(uint64_t)high << 32 | (uint64_t)low, i};
    }
    qsort(list, (size_t)n, sizeof *list, by_hash);
    for (plx_index i = 0; i < run->problem->n; i++) {
        plx_index sample = find_hash(list, n, hash_text(run->problem->ids[i]));
        (*own)[i] = sample >= 0 && rows_agree(fitted, fresh, n_views, sample, i) ? sample : -1;
    }
    return PLX_OK;
}
