/*
 * Dense eigenvectors below a size where they are cheaper, else the known vectors of eigenvalue 1 and Lanczos
 * for the rest, repeated until no eigenvalue above the smallest taken is left.
 */
#include "methods/spectral/embedding.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "core/rng.h"
#include "device/anywhere.h"
#include "linalg/eigen.h"

enum { DENSE_UP_TO = 1000 }; /* nodes up to which all eigenvectors are computed */

/* ---- the normalised operator ---- */

plx_status plx__inverse_roots(double **out, plx_context *ctx, const double *degree, plx_index n)
{
    PLX_TRY(plx__arena_f64(out, plx__scratch(ctx), n, 1));
    for (plx_index i = 0; i < n; i++) (*out)[i] = degree[i] > 0 ? 1.0 / sqrt(degree[i]) : 0.0;
    return PLX_OK;
}

typedef struct normalised {
    const plx__affine *m;
    const double *root;  /* D^-1/2 */
    const double *known; /* D^1/2 on its component, of unit length there; NULL: nothing moved away */
    double *dots;        /* one per component */
    double *scaled;
    plx_cmat found; /* further vectors moved away, as columns; data NULL: none */
    bool *converged;
    double *found_dots;
    plx__rank_operator rows; /* several processes: the same operator by rows */
} normalised;

/* y -= 3 V V' x. */
static void move_found(const normalised *z, double *y, const double *x)
{
    plx_index k = z->found.cols;
    memset(z->found_dots, 0, (size_t)k * sizeof *z->found_dots);
    for (plx_index i = 0; i < z->found.rows; i++) plx__axpy(z->found_dots, x[i], z->found.data + i * z->found.ld, k);
    for (plx_index i = 0; i < z->found.rows; i++)
        y[i] -= 3.0 * plx__dot(z->found_dots, z->found.data + i * z->found.ld, k);
}

/* y = D^-1/2 A D^-1/2 x - 3 sum_c v_c v_c' x: eigenvalue 1 of the known vectors becomes -2, below all others. */
static plx_status apply_normalised(void *arg, plx_context *ctx, double *y, const double *x)
{
    normalised *z = arg;
    plx_index n = z->m->a.n;
    for (plx_index i = 0; i < n; i++) z->scaled[i] = z->root[i] * x[i];
    PLX_TRY(z->m->a.apply(z->m->a.arg, ctx, y, z->scaled));
    for (plx_index i = 0; i < n; i++) y[i] *= z->root[i];
    if (z->found.data) move_found(z, y, x);
    if (!z->known) return PLX_OK;
    memset(z->dots, 0, (size_t)z->m->n_components * sizeof *z->dots);
    for (plx_index i = 0; i < n; i++)
        if (z->m->component[i] >= 0) z->dots[z->m->component[i]] += z->known[i] * x[i];
    for (plx_index i = 0; i < n; i++)
        if (z->m->component[i] >= 0) y[i] -= 3.0 * z->known[i] * z->dots[z->m->component[i]];
    return PLX_OK;
}

/* ---- the same, divided among processes ---- */

/* y += D^-1/2 E D^-1/2 x. */
static plx_status add_extra(normalised *z, plx_context *ctx, plx_index begin, plx_index rows, const double *x,
                            double *y)
{
    double *scaled = z->scaled, *image = z->scaled + rows;
    for (plx_index i = 0; i < rows; i++) scaled[i] = z->root[begin + i] * x[i], image[i] = 0.0;
    PLX_TRY(z->m->add(z->m->a.arg, ctx, z->rows.cut, scaled, image));
    for (plx_index i = 0; i < rows; i++) y[i] += z->root[begin + i] * image[i];
    return PLX_OK;
}

/* y += D^-1/2 A D^-1/2 x by products that need all of x. */
static plx_status add_product(normalised *z, plx_context *ctx, plx_index begin, plx_index rows, const double *x,
                              double *y)
{
    double *scaled = z->scaled, *image = z->scaled + z->m->a.n;
    for (plx_index i = 0; i < rows; i++) scaled[begin + i] = z->root[begin + i] * x[i];
    PLX_TRY(plx__slabs_share(ctx, z->rows.cut, scaled, sizeof *scaled, 1));
    PLX_TRY(z->m->a.apply(z->m->a.arg, ctx, image, scaled));
    for (plx_index i = 0; i < rows; i++) y[i] += z->root[begin + i] * image[begin + i];
    return PLX_OK;
}

/* Products of what is moved away with x: those of the found vectors, then those of the components. */
static void own_dots(const normalised *z, plx_index begin, plx_index end, const double *x, double *dots)
{
    plx_index found = z->found.cols;
    for (plx_index i = begin; i < end; i++) {
        if (found) plx__axpy(dots, x[i - begin], z->found.data + i * z->found.ld, found);
        if (z->known && z->m->component[i] >= 0) dots[found + z->m->component[i]] += z->known[i] * x[i - begin];
    }
}

/* What is not in the rows of the sparse matrix: E, and what is moved away. */
static plx_status add_rows(void *arg, plx_context *ctx, const double *x, double *y)
{
    normalised *z = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index begin = 0, end = 0, found = z->found.cols, width = found + (z->known ? z->m->n_components : 0);
    double *dots = NULL;
    plx__slabs_mine(&begin, &end, ctx, z->rows.cut);
    if (!z->m->sparse) PLX_TRY(add_product(z, ctx, begin, end - begin, x, y));
    else if (z->m->add) PLX_TRY(add_extra(z, ctx, begin, end - begin, x, y));
    if (!width) return PLX_OK;
    PLX_TRY(plx__arena_f64(&dots, plx__scratch(ctx), width, 1));
    own_dots(z, begin, end, x, dots);
    PLX_TRY(plx__peers_add(ctx, dots, width));
    for (plx_index i = begin; i < end; i++) {
        if (found) y[i - begin] -= 3.0 * plx__dot(dots, z->found.data + i * z->found.ld, found);
        if (z->known && z->m->component[i] >= 0) y[i - begin] -= 3.0 * z->known[i] * dots[found + z->m->component[i]];
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Rows of D^-1/2 S D^-1/2 of this process; none where A is products. */
static plx_status divide(normalised *z, plx_context *ctx)
{
    plx_index n = z->m->a.n, begin = 0, end = 0;
    plx_csr own, none;
    z->rows = (plx__rank_operator){.cut = plx__slabs_even(ctx, n), .add = add_rows, .arg = z};
    plx__slabs_mine(&begin, &end, ctx, z->rows.cut);
    PLX_TRY(plx__arena_csr(&none, plx__scratch(ctx), end - begin, n, 0));
    z->rows.rows = plx__ccsr(none);
    if (!z->m->sparse) return PLX_OK;
    plx_ccsr s = plx__csr_rows(plx__ccsr(*z->m->sparse), begin, end);
    PLX_TRY(plx__csr_add(&own, plx__scratch(ctx), 1.0, s, 0.0, plx__ccsr(none)));
    plx__csr_scale_rows(own, z->root + begin);
    plx__csr_scale_cols(own, z->root);
    z->rows.rows = plx__ccsr(own);
    return PLX_OK;
}

/* Largest pairs of the operator as it stands. */
static plx_status largest(plx_context *ctx, normalised *z, plx_index k, const plx__eigen_options *o, double *values,
                          plx_mat vectors, const char *what)
{
    plx__operator a = {z->m->a.n, apply_normalised, z};
    if (z->rows.add && plx__rank_eigen_serves(ctx, a.n, k))
        return plx__rank_eigen(ctx, &z->rows, k, PLX__LARGEST, o, values, vectors, what);
    return plx__eigen_few(ctx, a, k, PLX__LARGEST, o, values, vectors, what);
}

static plx_status open_normalised(normalised *z, plx_context *ctx, const plx__affine *m)
{
    double *root = NULL;
    *z = (normalised){.m = m};
    PLX_TRY(plx__inverse_roots(&root, ctx, m->degree, m->a.n));
    z->root = root;
    PLX_TRY(plx__arena_f64(&z->scaled, plx__scratch(ctx), m->a.n, 2));
    return plx__ranks(ctx) > 1 && (m->sparse || m->divided) ? divide(z, ctx) : PLX_OK;
}

/* ---- small: everything ---- */

static plx_status all_vectors(plx_context *ctx, normalised *z, plx_index k, double *values, plx_mat vectors)
{
    plx_index n = z->m->a.n;
    double *unit = NULL, *ascending = NULL;
    plx_mat dense, found;
    PLX_TRY(plx__arena_mat(&dense, plx__scratch(ctx), n, n));
    PLX_TRY(plx__arena_mat(&found, plx__scratch(ctx), n, k));
    PLX_TRY(plx__arena_f64(&unit, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&ascending, plx__scratch(ctx), k, 1));
    for (plx_index j = 0; j < n; j++) {
        unit[j] = 1.0;
        PLX_TRY(apply_normalised(z, ctx, dense.data + j * n, unit));
        unit[j] = 0.0;
    }
    PLX_TRY(plx__eigen_anywhere(ctx, dense, n - k, k, ascending, found));
    for (plx_index j = 0; j < k; j++) {
        values[j] = ascending[k - 1 - j];
        for (plx_index i = 0; i < n; i++) vectors.data[i * vectors.ld + j] = found.data[i * k + k - 1 - j];
    }
    return PLX_OK;
}

/* ---- large: known vectors, then Lanczos ---- */

/* Components by size, the largest first (ties: the first); `size` is overwritten. */
static plx_index take_largest(plx_index *size, plx_index count)
{
    plx_index best = 0;
    for (plx_index c = 1; c < count; c++)
        if (size[c] > size[best]) best = c;
    size[best] = -1;
    return best;
}

static plx_status known_vectors(double **known, plx_context *ctx, const plx__affine *m)
{
    double *volume = NULL;
    PLX_TRY(plx__arena_f64(known, plx__scratch(ctx), m->a.n, 1));
    PLX_TRY(plx__arena_f64(&volume, plx__scratch(ctx), m->n_components, 1));
    for (plx_index i = 0; i < m->a.n; i++)
        if (m->component[i] >= 0) volume[m->component[i]] += m->degree[i];
    for (plx_index i = 0; i < m->a.n; i++)
        if (m->component[i] >= 0) (*known)[i] = sqrt(m->degree[i] / volume[m->component[i]]);
    return PLX_OK;
}

/* The first columns of `vectors`: one per component. Returns how many were written through *written. */
static plx_status write_known(plx_context *ctx, const plx__affine *m, const double *known, plx_index k, double *values,
                              plx_mat vectors, plx_index *written)
{
    plx_index *size = NULL, *column = NULL;
    *written = plx__min(k, m->n_components);
    PLX_TRY(plx__arena_i64(&size, plx__scratch(ctx), m->n_components));
    PLX_TRY(plx__arena_i64(&column, plx__scratch(ctx), m->n_components));
    for (plx_index i = 0; i < m->a.n; i++)
        if (m->component[i] >= 0) size[m->component[i]]++;
    for (plx_index c = 0; c < m->n_components; c++) column[c] = -1;
    for (plx_index j = 0; j < *written; j++) {
        column[take_largest(size, m->n_components)] = j;
        values[j] = 1.0;
    }
    for (plx_index i = 0; i < m->a.n; i++) {
        memset(vectors.data + i * vectors.ld, 0, (size_t)k * sizeof(double));
        plx_index j = m->component[i] >= 0 ? column[m->component[i]] : -1;
        if (j >= 0) vectors.data[i * vectors.ld + j] = known[i];
    }
    return PLX_OK;
}

/* Insertion of one more pair into descending ones; the last drops out. */
static void insert_pair(double *values, plx_mat vectors, plx_index k, double value, const double *vector)
{
    plx_index at = k - 1;
    for (; at > 0 && values[at - 1] < value; at--) values[at] = values[at - 1];
    values[at] = value;
    for (plx_index i = 0; i < vectors.rows; i++) {
        double *row = vectors.data + i * vectors.ld;
        memmove(row + at + 1, row + at, (size_t)(k - 1 - at) * sizeof *row);
        row[at] = vector[i];
    }
}

/* The largest eigenvalue left when the vectors found are out of the way, as precisely as it takes to see whether it
 * lies above `floor`; *above tells, and then value and vector are precise. */
static plx_status look_above(bool *above, plx_context *ctx, normalised *z, double floor, double *value, double *vector,
                             uint64_t round, const char *what)
{
    static const double tolerances[] = {1e-3, 1e-5, 1e-10};
    plx_index n = z->m->a.n;
    for (int t = 0; t < 3; t++) {
        plx__eigen_options o = {.tol = tolerances[t],
                                .basis = plx__min(n, 40),
                                .stream = PLX__STREAM('m', 'o', 'r', 'e', round),
                                .below = floor,
                                .converged = z->converged};
        PLX_TRY(largest(ctx, z, 1, &o, value, plx__mat_of(vector, n, 1), what));
        *above = *value > floor + 1e-9;
        if (!*above && *value < floor - 2 * tolerances[t]) return PLX_OK;
    }
    return PLX_OK;
}

/* Lanczos sees one vector of a repeated eigenvalue: others that belong among the k largest are looked for until none is
 * left. */
static plx_status complete_pairs(plx_context *ctx, normalised *z, plx_index k, double *values, plx_mat vectors,
                                 const char *what)
{
    double *vector = NULL, value = 0;
    bool above = true;
    PLX_TRY(plx__arena_f64(&vector, plx__scratch(ctx), z->m->a.n, 1));
    PLX_TRY(plx__arena_f64(&z->found_dots, plx__scratch(ctx), k, 1));
    z->found = plx__cmat(vectors);
    for (plx_index round = 0; round < k && above && !plx__out_of_time(ctx); round++) {
        PLX_TRY(look_above(&above, ctx, z, values[k - 1], &value, vector, (uint64_t)round, what));
        if (above) insert_pair(values, vectors, k, value, vector);
    }
    z->found = (plx_cmat){0};
    return PLX_OK;
}

/* A few times k keeps the restarts few when many eigenvalues crowd near 1. */
static plx_index basis_for(plx_index n, plx_index k) { return plx__min(n, plx__max(3 * k + 20, 40)); }

static plx_status few_vectors(plx_context *ctx, normalised *z, plx_index k, double *values, plx_mat vectors,
                              const char *what)
{
    plx_index known_count = 0;
    double *known = NULL;
    plx_mat rest;
    plx__eigen_options options = {.tol = 1e-10, .basis = basis_for(z->m->a.n, k), .converged = z->converged};
    if (z->m->component) {
        PLX_TRY(known_vectors(&known, ctx, z->m));
        PLX_TRY(write_known(ctx, z->m, known, k, values, vectors, &known_count));
        PLX_TRY(plx__arena_f64(&z->dots, plx__scratch(ctx), z->m->n_components, 1));
        z->known = known;
    }
    if (known_count == k) return PLX_OK;
    PLX_TRY(plx__arena_mat(&rest, plx__scratch(ctx), z->m->a.n, k - known_count));
    PLX_TRY(largest(ctx, z, k - known_count, &options, values + known_count, rest, what));
    PLX_TRY(complete_pairs(ctx, z, k - known_count, values + known_count, rest, what));
    plx__mat_copy(plx__sub(vectors, 0, known_count, vectors.rows, k - known_count), plx__cmat(rest));
    return PLX_OK;
}

/* ---- small rows ---- */

/* Rows whose length is below what the vectors are precise to. */
static plx_status faint_rows(plx_index **rows, plx_index *count, plx_context *ctx, plx_cmat vectors)
{
    PLX_TRY(plx__arena_i64(rows, plx__scratch(ctx), vectors.rows));
    for (plx_index i = 0; i < vectors.rows; i++)
        if (plx__norm(vectors.data + i * vectors.ld, vectors.cols) < 1e-8) (*rows)[(*count)++] = i;
    return PLX_OK;
}

/* A node with hardly any affinity has a row that is all rounding, and is scaled to unit length afterwards. The row
 * follows from those of its neighbours, X = D^-1/2 A D^-1/2 X / eigenvalue, with full relative precision; a few rounds
 * reach nodes that hang on others of the kind. Rows of nodes without edges become 0. */
static plx_status sharpen_rows(plx_context *ctx, normalised *z, plx_index k, const double *values, plx_mat vectors)
{
    enum { ROUNDS = 3 };
    plx_index n = z->m->a.n, count = 0, *faint = NULL;
    double *x = NULL, *y = NULL;
    PLX_TRY(faint_rows(&faint, &count, ctx, plx__cmat(vectors)));
    if (!count) return PLX_OK;
    PLX_TRY(plx__arena_f64(&x, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&y, plx__scratch(ctx), n, 1));
    z->known = NULL; /* nothing is moved away here */
    for (plx_index step = 0; step < ROUNDS * k; step++) {
        plx_index j = step % k;
        for (plx_index i = 0; i < n; i++) x[i] = vectors.data[i * vectors.ld + j];
        PLX_TRY(apply_normalised(z, ctx, y, x));
        for (plx_index q = 0; q < count; q++)
            vectors.data[faint[q] * vectors.ld + j] = fabs(values[j]) > 1e-8 ? y[faint[q]] / values[j] : 0.0;
    }
    return PLX_OK;
}

static bool solved_densely(plx_index n, plx_index k) { return n <= DENSE_UP_TO || 2 * k + 1 >= n; }

double plx__spectral_bytes(plx_index n, plx_index k)
{
    double work = 8.0 * (double)n * (double)(k + 4);
    if (solved_densely(n, k)) return work + 8.0 * (double)n * (double)(2 * n + 30);
    return work + plx__eigen_few_bytes(n, k, basis_for(n, k));
}

plx_status plx__spectral_vectors(plx_context *ctx, const plx__affine *m, plx_index k, double *values, plx_mat vectors,
                                 bool *converged, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    normalised z;
    PLX_TRY(open_normalised(&z, ctx, m));
    bool small = solved_densely(m->a.n, k) && !(z.rows.add && plx__rank_eigen_serves(ctx, m->a.n, k));
    z.converged = converged;
    if (small && !(m->component && m->n_components >= k)) PLX_TRY(all_vectors(ctx, &z, k, values, vectors));
    else PLX_TRY(few_vectors(ctx, &z, k, values, vectors, what));
    PLX_TRY(sharpen_rows(ctx, &z, k, values, vectors));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- rows ---- */

plx_status plx__gram_rows(plx_context *ctx, plx_cmat y, plx_mat out)
{
    return plx__syrk(ctx, 1.0, y, PLX__N, 0.0, out);
}

plx_status plx__nystrom_map(plx_mat out, plx_context *ctx, plx_cmat vectors, const double *values, const double *degree)
{
    double *root = NULL;
    PLX_TRY(plx__inverse_roots(&root, ctx, degree, vectors.rows));
    for (plx_index i = 0; i < vectors.rows; i++)
        for (plx_index j = 0; j < vectors.cols; j++) {
            double v = vectors.data[i * vectors.ld + j];
            out.data[i * out.ld + j] = fabs(values[j]) > 1e-14 ? root[i] * v / values[j] : 0.0;
        }
    return PLX_OK;
}
