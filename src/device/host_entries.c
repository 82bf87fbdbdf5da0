/*
 * What the host device does entry by entry, its kernels and its neighbours: plain loops.
 */
#include <math.h>
#include <string.h>

#include "device/host_device.h"

/* Element i of a vector that is a row or a column; without one `otherwise`. */
static double item(plx_cmat v, plx_index i, double otherwise)
{
    if (!v.data) return otherwise;
    return v.data[v.cols == 1 ? i * v.ld : i];
}

static double *item_of(plx_mat v, plx_index i) { return v.data + (v.cols == 1 ? i * v.ld : i); }

int plx__host_triangle(plx_device *d, plx_device_mat a, plx_device_triangle how)
{
    int code = plx__host_enter(d);
    plx_mat m = plx__host_mat(a);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < m.rows; i++)
        for (plx_index j = 0; j < i; j++) {
            double *lower = &m.data[i * m.ld + j], *upper = &m.data[j * m.ld + i];
            if (how == PLX_DEVICE_MIRROR_LOWER) *upper = *lower;
            else if (how == PLX_DEVICE_MIRROR_UPPER) *lower = *upper;
            else *upper = 0;
        }
    return code;
}

int plx__host_combine(plx_device *d, double beta, plx_device_mat c, double alpha, plx_device_mat a, plx_device_mat l,
                      plx_device_mat r, double gamma, plx_device_mat u, plx_device_mat v, double shift)
{
    int code = plx__host_enter(d);
    plx_mat out = plx__host_mat(c);
    plx_cmat from = plx__host_cmat(a), left = plx__host_cmat(l), right = plx__host_cmat(r);
    plx_cmat x = plx__host_cmat(u), y = plx__host_cmat(v);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < out.rows; i++)
        for (plx_index j = 0; j < out.cols; j++) {
            double *to = &out.data[i * out.ld + j], sum = i == j ? shift : 0;
            if (from.data) sum += alpha * item(left, i, 1) * from.data[i * from.ld + j] * item(right, j, 1);
            if (x.data) sum += gamma * (item(x, i, 0) * item(y, j, 0) + item(y, i, 0) * item(x, j, 0));
            *to = beta == 0 ? sum : beta * *to + sum;
        }
    return code;
}

int plx__host_diagonal(plx_device *d, plx_device_mat a, plx_device_mat out, int set)
{
    int code = plx__host_enter(d);
    plx_mat m = plx__host_mat(a), v = plx__host_mat(out);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < m.rows; i++) {
        if (set) m.data[i * m.ld + i] = *item_of(v, i);
        else *item_of(v, i) = m.data[i * m.ld + i];
    }
    return code;
}

int plx__host_row_norms_sq(plx_device *d, plx_device_mat a, plx_device_mat out)
{
    int code = plx__host_enter(d);
    plx_cmat m = plx__host_cmat(a);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < m.rows; i++)
        *item_of(plx__host_mat(out), i) = plx__norm_sq(m.data + i * m.ld, m.cols);
    return code;
}

int plx__host_dot(plx_device *d, plx_device_mat a, plx_device_mat b, double *sum)
{
    int code = plx__host_enter(d);
    plx_cmat x = plx__host_cmat(a), y = plx__host_cmat(b);
    *sum = 0;
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < x.rows; i++)
        *sum += plx__dot(x.data + i * x.ld, y.data + i * y.ld, x.cols);
    return code;
}

int plx__host_gather(plx_device *d, plx_device_mat out, plx_device_mat a, const plx_device_buffer *row,
                     const plx_device_buffer *col)
{
    int code = plx__host_enter(d);
    plx_mat to = plx__host_mat(out);
    plx_cmat from = plx__host_cmat(a);
    const int64_t *rows = plx__host_values(row), *cols = plx__host_values(col);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < to.rows; i++)
        for (plx_index j = 0; j < to.cols; j++)
            to.data[i * to.ld + j] = from.data[(rows ? rows[i] : i) * from.ld + (cols ? cols[j] : j)];
    return code;
}

int plx__host_scatter_add(plx_device *d, plx_device_mat out, const plx_device_buffer *row, plx_device_mat a)
{
    int code = plx__host_enter(d);
    plx_mat to = plx__host_mat(out);
    plx_cmat from = plx__host_cmat(a);
    const int64_t *rows = plx__host_values(row);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < from.rows; i++)
        for (plx_index j = 0; j <= i; j++) to.data[rows[i] * to.ld + rows[j]] += from.data[i * from.ld + j];
    return code;
}

/* ---- kernels ---- */

static void clear_absent(plx_mat out, const uint8_t *a, const uint8_t *b, double value)
{
    for (plx_index i = 0; (a || b) && i < out.rows; i++)
        for (plx_index j = 0; j < out.cols; j++)
            if ((a && !a[i]) || (b && !b[j])) out.data[i * out.ld + j] = value;
}

/* Values of a kernel from what they are made of: squared distances, inner products or cosines. In place. */
static void make_values(const plx_device_kernel *k, double *x, plx_index n)
{
    if (k->kind == PLX_DEVICE_DIST_SQ) return;
    if (k->kind == PLX_DEVICE_RBF) plx__exp_scaled(x, n, -0.5 / (k->width * k->width), k->amplitude, x);
    else
        for (plx_index i = 0; i < n; i++)
            x[i] = k->amplitude * (k->kind == PLX_DEVICE_POLY ? pow(x[i] + k->coef0, k->degree) : x[i]);
}

static plx_status values_between(plx_device *d, const plx_device_kernel *k, plx__points a, plx__points b, plx_mat out)
{
    if (k->kind == PLX_DEVICE_COSINE) PLX_TRY(plx__cosine_matrix(d->ctx, a, b, out));
    else if (k->kind == PLX_DEVICE_LINEAR || k->kind == PLX_DEVICE_POLY) PLX_TRY(plx__points_inner(d->ctx, a, b, out));
    else PLX_TRY(plx__dist_sq_matrix(d->ctx, a, b, out));
    for (plx_index i = 0; i < out.rows; i++) make_values(k, out.data + i * out.ld, out.cols);
    return PLX_OK;
}

int plx__host_kernel(plx_device *d, const plx_device_kernel *kernel, plx_device_rows a, plx_device_rows b,
                     const plx_device_buffer *present_a, const plx_device_buffer *present_b, plx_device_mat out)
{
    int code = plx__host_enter(d);
    plx_mat to = plx__host_mat(out);
    if (code != PLX_DEVICE_OK) return code;
    code = plx__host_leave(d, values_between(d, kernel, plx__host_points(a), plx__host_points(b), to));
    if (code == PLX_DEVICE_OK)
        clear_absent(to, plx__host_values(present_a), plx__host_values(present_b),
                     kernel->kind == PLX_DEVICE_DIST_SQ ? 1e300 : 0.0);
    return code;
}

/* From the base of a kernel: squared distances of rbf, of the others what is only scaled. */
static double value_of(const plx_device_kernel *k, double base)
{
    double out = k->amplitude * base;
    if (k->kind == PLX_DEVICE_RBF) plx__exp_scaled(&base, 1, -0.5 / (k->width * k->width), k->amplitude, &out);
    return out;
}

int plx__host_kernel_of_base(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, double beta,
                             plx_device_mat out)
{
    int code = plx__host_enter(d);
    plx_mat to = plx__host_mat(out);
    plx_cmat from = plx__host_cmat(base);
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < to.rows; i++)
        for (plx_index j = 0; j < to.cols; j++) {
            double value = value_of(kernel, from.data[i * from.ld + j]), *at = &to.data[i * to.ld + j];
            *at = beta == 0 ? value : *at + value;
        }
    return code;
}

int plx__host_kernel_gradient(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, plx_device_mat m,
                              double *sums)
{
    int code = plx__host_enter(d);
    plx_cmat from = plx__host_cmat(base), weight = plx__host_cmat(m);
    sums[0] = sums[1] = 0;
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < from.rows; i++) {
        double row[2] = {0, 0};
        for (plx_index j = 0; j <= i; j++) {
            double at = from.data[i * from.ld + j];
            double part = (j < i ? 2.0 : 1.0) * weight.data[i * weight.ld + j] * value_of(kernel, at);
            row[0] += part;
            if (kernel->kind == PLX_DEVICE_RBF) row[1] += part * at;
        }
        sums[0] += row[0];
        sums[1] += row[1];
    }
    return code;
}

/* ---- neighbours ---- */

static bool before(double key, int64_t index, double other_distance, int64_t other_index)
{
    if (other_index < 0) return true;
    double other = plx__distance_key(other_distance);
    return key < other || (key == other && index < other_index);
}

static void insert(double *distance, int64_t *index, plx_index k, double gap, int64_t number)
{
    double key = plx__distance_key(gap);
    plx_index at = k;
    while (at > 0 && before(key, number, distance[at - 1], index[at - 1])) at--;
    if (at == k) return;
    memmove(distance + at + 1, distance + at, (size_t)(k - at - 1) * sizeof *distance);
    memmove(index + at + 1, index + at, (size_t)(k - at - 1) * sizeof *index);
    distance[at] = gap;
    index[at] = number;
}

int plx__host_knn(plx_device *d, const plx_device_knn *step)
{
    int code = plx__host_enter(d);
    plx__points queries = plx__host_points(step->queries), references = plx__host_points(step->references);
    plx__metric metric = step->metric == PLX_DEVICE_COSINE_DISTANCE ? PLX__COSINE : PLX__EUCLID;
    const uint8_t *present = plx__host_values(step->present);
    int64_t *index = (int64_t *)(void *)step->index->data;
    double *distance = (double *)(void *)step->distance->data;
    for (plx_index i = 0; code == PLX_DEVICE_OK && i < plx__points_rows(queries); i++)
        for (plx_index j = 0; j < plx__points_rows(references); j++) {
            int64_t number = step->first_reference + j;
            if ((present && !present[j]) || (step->first_query >= 0 && number == step->first_query + i)) continue;
            insert(distance + i * step->k, index + i * step->k, step->k,
                   plx__point_distance(queries, i, references, j, metric), number);
        }
    return code;
}
