/*
 * Memory, products, factorisations and eigenpairs.
 */
#include "check.h"

/* ---- memory ---- */

static void memory_case(int64_t rows, int64_t cols)
{
    image from = image_random(rows, cols), to = image_random(rows, cols), host = image_random(rows, cols);
    image filled = image_copy(&to), written = image_copy(&to);
    plx_device_mat a = upload(&from), b = upload(&to), c = upload(&to);
    must(check.t->copy(check.d, b, a));
    must(check.t->fill(check.d, c, 2.5));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            *at(&filled, i, j) = 2.5;
            *at(&written, i, j) = *at(&from, i, j);
        }
    image got_b = download(&to, b), got_c = download(&to, c);
    compare_image(&got_b, NULL, &to, &written, 0, 1, false);
    compare_image(&got_c, NULL, &to, &filled, 0, 1, false);
    must(check.t->write(check.d, c, at(&host, 0, 0), host.ld));
    image back = image_copy(&from), expected = image_copy(&from);
    must(check.t->read(check.d, at(&back, 0, 0), back.ld, c));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) *at(&expected, i, j) = *at(&host, i, j);
    compare_image(&back, NULL, &from, &expected, 0, 1, false);
    case_end();
}

/* There and back in one piece, large enough that a device may copy it in parts. */
static void large_copy(int64_t count)
{
    image from = image_random(1, count);
    double *back = keep_bytes((size_t)count * 8), *host = from.data;
    plx_device_buffer *buffer = NULL;
    must(check.t->alloc(check.d, 8 * count, &buffer));
    must(check.t->write_bytes(check.d, buffer, 0, host, 8 * count));
    must(check.t->read_bytes(check.d, back, buffer, 0, 8 * count));
    compare_bytes(back, host, count * 8, "what came back");
    for (int64_t e = 0; e < count; e++) back[e] = 0;
    must(check.t->read_bytes(check.d, back, buffer, 8, 8 * (count - 1)));
    compare_bytes(back, host + 1, (count - 1) * 8, "what came back from the second number on");
    check.t->release(check.d, buffer);
    case_end();
}

static void memory_limits(void)
{
    plx_device_buffer *buffer = (plx_device_buffer *)&check;
    int64_t available = 0;
    must(check.t->memory_free(check.d, &available));
    int code = check.t->alloc(check.d, available + ((int64_t)1 << 40), &buffer);
    if (code != PLX_DEVICE_NOMEM || buffer) fail_case("too much memory: code %d", code);
    if (!check.t->error(check.d)[0]) fail_case("too much memory: no text");
    must(check.t->alloc(check.d, 0, &buffer));
    check.t->release(check.d, buffer);
    check.t->release(check.d, NULL);
    must(check.t->sync(check.d));
    case_end();
}

void check_memory(void)
{
    int count;
    const int64_t *size = check_sizes(&count);
    if (!begin_operation("memory")) return;
    for (int r = 0; r < count; r++)
        for (int c = 0; c < count; c++) memory_case(size[r], size[c]);
    for (int c = 0; c < 3; c++) large_copy(check.small ? 100 + 317 * c : 3000000 + 2097152 * c + c);
    memory_limits();
    end_operation();
}

/* ---- products ---- */

static double entry_of(const image *m, plx_device_trans t, int64_t i, int64_t j)
{
    return t == PLX_DEVICE_TRANSPOSED ? *at(m, j, i) : *at(m, i, j);
}

static void gemm_case(int64_t m, int64_t n, int64_t k, int flips, double beta)
{
    plx_device_trans ta = flips & 1 ? PLX_DEVICE_TRANSPOSED : PLX_DEVICE_PLAIN;
    plx_device_trans tb = flips & 2 ? PLX_DEVICE_TRANSPOSED : PLX_DEVICE_PLAIN;
    image a = ta ? image_random(k, m) : image_random(m, k), b = tb ? image_random(n, k) : image_random(k, n);
    image c = beta == 0 ? image_poison(m, n) : image_random(m, n), expected = image_copy(&c), got[2];
    double alpha = draw();
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += entry_of(&a, ta, i, l) * entry_of(&b, tb, l, j);
            *at(&expected, i, j) = alpha * sum + (beta == 0 ? 0 : beta * *at(&c, i, j));
        }
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&c);
        must(check.t->gemm(check.d, alpha, upload(&a), ta, upload(&b), tb, beta, to));
        got[run] = download(&c, to);
    }
    compare_image(&got[0], &got[1], &c, &expected, 1e-14, (double)k + 1, false);
    case_end();
}

static void syrk_case(int64_t n, int64_t k, int flip, double beta)
{
    plx_device_trans ta = flip ? PLX_DEVICE_TRANSPOSED : PLX_DEVICE_PLAIN;
    image a = flip ? image_random(k, n) : image_random(n, k);
    image c = beta == 0 ? image_poison(n, n) : image_random(n, n), expected = image_copy(&c), got[2];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += entry_of(&a, ta, i, l) * entry_of(&a, ta, j, l);
            *at(&expected, i, j) = 0.7 * sum + (beta == 0 ? 0 : beta * *at(&c, i, j));
        }
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&c);
        must(check.t->syrk(check.d, 0.7, upload(&a), ta, beta, to));
        got[run] = download(&c, to);
    }
    compare_image(&got[0], &got[1], &c, &expected, 1e-14, (double)k + 1, true);
    case_end();
}

void check_dense_products(void)
{
    int count;
    const int64_t *size = check_sizes(&count);
    if (begin_operation("gemm")) {
        for (int m = 0; m < count; m++)
            for (int n = 0; n < count; n++)
                for (int flips = 0; flips < 4; flips++)
                    gemm_case(size[m], size[n], size[(m + 2 * n + flips) % count], flips, flips % 2 ? 0 : -0.5);
        end_operation();
    }
    if (begin_operation("syrk")) {
        for (int n = 0; n < count; n++)
            for (int k = 0; k < count; k++)
                for (int flip = 0; flip < 2; flip++) syrk_case(size[n], size[k], flip, k % 2 ? 0 : 1.5);
        if (!check.small) syrk_case(700, 50, 0, 0.5);
        end_operation();
    }
}

/* ---- factorisations ---- */

/* Positive definite, with other numbers above the diagonal. */
static image positive_matrix(int64_t n)
{
    image m = image_random(n, n), out = image_random(n, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int64_t l = 0; l < n; l++) sum += *at(&m, i, l) * *at(&m, j, l);
            *at(&out, i, j) = sum;
        }
    return out;
}

static void plain_cholesky(image *a)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = *at(a, i, j);
            for (int64_t l = 0; l < j; l++) sum -= *at(a, i, l) * *at(a, j, l);
            *at(a, i, j) = i == j ? sqrt(sum) : sum / *at(a, j, j);
        }
}

static image factor_of_size(int64_t n)
{
    image l = positive_matrix(n);
    plain_cholesky(&l);
    return l;
}

static void potrf_case(int64_t n)
{
    image a = positive_matrix(n), expected = image_copy(&a), got[2];
    plain_cholesky(&expected);
    for (int run = 0; run < 2; run++) {
        int64_t pivot = 77;
        plx_device_mat m = upload(&a);
        peak_begin();
        must(check.t->potrf(check.d, m, &pivot));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_POTRF, n, 0, 0));
        got[run] = download(&a, m);
    }
    compare_image(&got[0], &got[1], &a, &expected, 1e-11, 0, true);
    if (n >= 3) { /* a pivot that is not positive, or not a number */
        for (int kind = 0; kind < 2; kind++) {
            int64_t pivot = 77, bad = 1 + draw_below(n - 1);
            image b = image_copy(&a);
            *at(&b, bad, bad) = kind ? NAN : -1.0;
            int code = check.t->potrf(check.d, upload(&b), &pivot);
            if (code != PLX_DEVICE_NUMERIC || pivot != bad)
                fail_case("n = %lld: a bad pivot %lld gave code %d and pivot %lld", (long long)n, (long long)bad, code,
                          (long long)pivot);
        }
    }
    case_end();
}

/* B from a known X: op(L) X, X op(L), or L L' X. */
static void solve_case(int64_t n, int64_t m, int right, int flip, bool both)
{
    plx_device_trans t = flip ? PLX_DEVICE_TRANSPOSED : PLX_DEVICE_PLAIN;
    image l = factor_of_size(n), x = right ? image_random(m, n) : image_random(n, m), b = image_copy(&x), got[2];
    image clean = image_copy(&l);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) *at(&clean, i, j) = 0;
    for (int step = 0; step < (both ? 2 : 1); step++) { /* both: L' first, then L */
        plx_device_trans now = both ? (step ? PLX_DEVICE_PLAIN : PLX_DEVICE_TRANSPOSED) : t;
        image from = image_copy(step ? &b : &x);
        for (int64_t i = 0; i < b.rows; i++)
            for (int64_t j = 0; j < b.cols; j++) {
                double sum = 0;
                for (int64_t k = 0; k < n; k++)
                    sum += right ? *at(&from, i, k) * entry_of(&clean, now, k, j)
                                 : entry_of(&clean, now, i, k) * *at(&from, k, j);
                *at(&b, i, j) = sum;
            }
    }
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&b);
        if (both) must(check.t->potrs(check.d, upload(&l), to));
        else must(check.t->trsm(check.d, right, upload(&l), t, to));
        got[run] = download(&b, to);
    }
    compare_image(&got[0], &got[1], &b, &x, 1e-9, 1, false); /* condition of a few n squared */
    case_end();
}

static void potri_case(int64_t n)
{
    image l = factor_of_size(n), expected = image_copy(&l), got[2];
    double *unit = keep_bytes((size_t)n * sizeof(double));
    for (int64_t c = 0; c < n; c++) { /* column c of the inverse by two solves */
        for (int64_t i = 0; i < n; i++) {
            unit[i] = i == c;
            for (int64_t k = 0; k < i; k++) unit[i] -= *at(&l, i, k) * unit[k];
            unit[i] /= *at(&l, i, i);
        }
        for (int64_t i = n - 1; i >= 0; i--) {
            for (int64_t k = i + 1; k < n; k++) unit[i] -= *at(&l, k, i) * unit[k];
            unit[i] /= *at(&l, i, i);
        }
        for (int64_t i = c; i < n; i++) *at(&expected, i, c) = unit[i];
    }
    for (int run = 0; run < 2; run++) {
        plx_device_mat m = upload(&l);
        peak_begin();
        must(check.t->potri(check.d, m));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_POTRI, n, 0, 0));
        got[run] = download(&l, m);
    }
    compare_image(&got[0], &got[1], &l, &expected, 1e-9, 0, true);
    case_end();
}

void check_factors(void)
{
    int count;
    const int64_t *size = check_sizes(&count);
    if (begin_operation("potrf")) {
        for (int n = 0; n < count; n++) potrf_case(size[n]);
        if (!check.small) potrf_case(700);
        end_operation();
    }
    if (begin_operation("potrs")) {
        for (int n = 0; n < count; n++)
            for (int m = 0; m < count; m++) solve_case(size[n], size[m], 0, 0, true);
        end_operation();
    }
    if (begin_operation("trsm")) {
        for (int n = 0; n < count; n++)
            for (int m = 0; m < count; m++)
                for (int way = 0; way < 4; way++) solve_case(size[n], size[m], way / 2, way % 2, false);
        end_operation();
    }
    if (begin_operation("potri")) {
        for (int n = 0; n < count; n++) potri_case(size[n]);
        if (!check.small) potri_case(1100); /* more than two panels */
        end_operation();
    }
}

/* ---- eigenpairs ---- */

/* Eigenvalues by Jacobi's rotations, ascending. */
static void jacobi(double *a, int64_t n, double *values)
{
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = 0; q < p; q++) {
                double apq = a[p * n + q];
                off += apq * apq;
                if (fabs(apq) < 1e-300) continue;
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1);
                double s = t * c;
                for (int64_t k = 0; k < n; k++) {
                    double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (int64_t k = 0; k < n; k++) {
                    double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                }
            }
        if (off < 1e-28) break;
    }
    for (int64_t i = 0; i < n; i++) {
        double x = a[i * n + i];
        int64_t j = i;
        for (; j > 0 && values[j - 1] > x; j--) values[j] = values[j - 1];
        values[j] = x;
    }
}

/* A v = lambda v and v . w = [v is w]. */
static void check_vectors(const image *a, const image *v, const double *values, double scale)
{
    int64_t n = a->rows;
    for (int64_t j = 0; j < v->rows; j++) {
        for (int64_t i = 0; i < n; i++) {
            double sum = -values[j] * *at(v, j, i);
            for (int64_t k = 0; k < n; k++) sum += (k <= i ? *at(a, i, k) : *at(a, k, i)) * *at(v, j, k);
            if (!(fabs(sum) <= 1e-11 * scale)) {
                fail_case("pair %lld is off by %g", (long long)j, sum);
                return;
            }
        }
        for (int64_t l = 0; l <= j; l++) {
            double sum = -(double)(l == j);
            for (int64_t k = 0; k < n; k++) sum += *at(v, j, k) * *at(v, l, k);
            if (!(fabs(sum) <= 1e-11)) fail_case("vectors %lld and %lld: %g", (long long)j, (long long)l, sum);
        }
    }
}

static void eigen_case(int64_t n, int64_t count, bool vectors)
{
    image a = image_random(n, n), v = image_poison(count, n), got[2];
    double *copy = keep_bytes((size_t)(n * n) * 8), *expected = keep_bytes((size_t)n * 8);
    double *values[2] = {keep_bytes((size_t)n * 8), keep_bytes((size_t)n * 8)};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) copy[i * n + j] = j <= i ? *at(&a, i, j) : *at(&a, j, i);
    jacobi(copy, n, expected);
    double scale = n ? fmax(fabs(expected[0]), fabs(expected[n - 1])) : 1;
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = vectors ? upload(&v) : no_matrix(), matrix = upload(&a);
        peak_begin();
        must(check.t->sym_eigen(check.d, matrix, n - count, count, values[run], to));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_EIGEN, n, count, 0));
        if (vectors) got[run] = download(&v, to);
    }
    compare_bytes(values[0], values[1], count * 8, "the second run");
    compare_values(values[0], expected + n - count, count, 1e-12 * scale, 1);
    if (vectors) {
        compare_bytes(got[0].data, got[1].data, v.total * 8, "the second run");
        compare_image(&got[0], NULL, &v, &got[0], 0, 1, false);
        check_vectors(&a, &got[0], values[0], scale);
    }
    case_end();
}

void check_eigen(void)
{
    int count;
    const int64_t *size = check_sizes(&count);
    if (!begin_operation("sym_eigen")) return;
    for (int n = 0; n < count && size[n] <= 100; n++)
        for (int vectors = 0; vectors < 2; vectors++) {
            eigen_case(size[n], size[n], vectors);
            if (size[n] > 1) eigen_case(size[n], 1 + size[n] / 5, vectors);
        }
    end_operation();
}
