/*
 * Kernels and neighbours. Sums of the reference are long doubles, so that its own rounding does not count.
 */
#include "check.h"

/* ---- rows ---- */

/* Dense rows, or sparse ones with a dense picture. */
typedef struct rows {
    image dense;
    sparse csr;
    double *flat; /* count x cols */
    int64_t first, count, cols;
    bool is_sparse;
} rows;

static rows dense_rows(int64_t n, int64_t cols, double offset)
{
    rows r = {.dense = image_random(n, cols), .count = n, .cols = cols};
    r.flat = keep_bytes((size_t)(n * cols) * 8);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < cols; j++) *at(&r.dense, i, j) += offset;
    if (n > 3)
        for (int64_t j = 0; j < cols; j++) { /* equal rows, nearly equal ones and a zero row */
            *at(&r.dense, 1, j) = *at(&r.dense, 0, j);
            *at(&r.dense, 2, j) = *at(&r.dense, 0, j) * (1 + 1e-9 * draw());
            *at(&r.dense, 3, j) = 0;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < cols; j++) r.flat[i * cols + j] = *at(&r.dense, i, j);
    return r;
}

static rows sparse_rows(int64_t n, int64_t cols, bool counts)
{
    rows r = {.csr = sparse_random(n + 5, cols, 0.3, counts), .first = 2, .count = n, .cols = cols, .is_sparse = true};
    r.flat = densify(&r.csr) + 2 * cols;
    return r;
}

static plx_device_rows upload_rows(const rows *r)
{
    plx_device_rows out = {.dense = no_matrix()};
    if (!r->is_sparse) out.dense = upload(&r->dense);
    else out.csr = upload_csr(&r->csr, 0);
    out.first = r->first;
    out.count = r->count;
    return out;
}

typedef struct pair {
    long double dot, dist, nx, nz;
} pair;

static pair pair_of(const rows *a, int64_t i, const rows *b, int64_t j)
{
    pair p = {0, 0, 0, 0};
    for (int64_t c = 0; c < a->cols; c++) {
        long double x = a->flat[i * a->cols + c], z = b->flat[j * a->cols + c];
        p.dot += x * z;
        p.dist += (x - z) * (x - z);
        p.nx += x * x;
        p.nz += z * z;
    }
    return p;
}

/* ---- kernels ---- */

static double kernel_value(const plx_device_kernel *k, pair p)
{
    long double value = p.dist, scale = sqrtl(p.nx) * sqrtl(p.nz);
    if (k->kind == PLX_DEVICE_LINEAR) value = k->amplitude * p.dot;
    if (k->kind == PLX_DEVICE_RBF) value = k->amplitude * expl(-p.dist / (2 * (long double)k->width * k->width));
    if (k->kind == PLX_DEVICE_POLY) value = k->amplitude * powl(p.dot + k->coef0, k->degree);
    if (k->kind == PLX_DEVICE_COSINE) value = scale > 0 ? k->amplitude * fmaxl(-1, fminl(1, p.dot / scale)) : 0;
    return (double)value;
}

static uint8_t *some_present(int64_t n, bool wanted)
{
    uint8_t *out = keep_bytes((size_t)n + 1);
    for (int64_t i = 0; i < n; i++) out[i] = draw_below(5) > 0;
    return wanted ? out : NULL;
}

static double value_scale(const plx_device_kernel *k, pair p)
{
    double size = (double)(sqrtl(p.nx) * sqrtl(p.nz));
    if (k->kind == PLX_DEVICE_DIST_SQ) return (double)p.dist; /* of itself */
    if (k->kind == PLX_DEVICE_RBF) return 1;
    if (k->kind == PLX_DEVICE_COSINE) return 1;
    if (k->kind == PLX_DEVICE_LINEAR) return size + 1e-300;
    return pow(size + fabs(k->coef0) + 1, k->degree);
}

static void kernel_case(plx_device_kernel k, const rows *a, const rows *b, bool same, int masks)
{
    uint8_t *pa = some_present(a->count, masks & 1), *pb = same ? pa : some_present(b->count, masks & 2);
    image out = image_poison(a->count, b->count), got[2];
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&out);
        plx_device_rows x = upload_rows(a), z = same ? x : upload_rows(b);
        plx_device_buffer *ma = upload_bytes(pa, a->count), *mb = same ? ma : upload_bytes(pb, b->count);
        peak_begin();
        must(check.t->kernel(check.d, &k, x, z, ma, mb, to));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_KERNEL, a->count, b->count, 0));
        got[run] = download(&out, to);
    }
    compare_bytes(got[0].data, got[1].data, out.total * 8, "the second run");
    compare_image(&got[0], NULL, &out, &got[0], 0, 1, false); /* borders, and no NaN is left */
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t j = 0; j < b->count; j++) {
            pair p = pair_of(a, i, b, j);
            bool absent = (pa && !pa[i]) || (pb && !pb[j]);
            double expected = absent ? (k.kind == PLX_DEVICE_DIST_SQ ? 1e300 : 0) : kernel_value(&k, p);
            double value = *at(&got[0], i, j), allowed = absent ? 0 : 1e-12 * value_scale(&k, p);
            if (!(fabs(value - expected) <= allowed)) {
                fail_case("kind %d, (%lld, %lld) of %lld x %lld: %.17g, expected %.17g", (int)k.kind, (long long)i,
                          (long long)j, (long long)a->count, (long long)b->count, value, expected);
                return;
            }
            if (allowed > 0 && fabs(value - expected) / allowed > check.worst)
                check.worst = fabs(value - expected) / allowed;
            if (same && value != *at(&got[0], j, i))
                fail_case("(%lld, %lld) is not symmetric", (long long)i, (long long)j);
            if (p.dist == 0 && !absent && k.kind == PLX_DEVICE_RBF && value != k.amplitude)
                fail_case("equal rows: %.17g", value);
        }
    case_end();
}

static const plx_device_kernel KERNELS[] = {{PLX_DEVICE_LINEAR, 1.5, 1, 1, 0},
                                            {PLX_DEVICE_RBF, 0.7, 1.3, 1, 0},
                                            {PLX_DEVICE_POLY, 2, 1, 3, 1},
                                            {PLX_DEVICE_COSINE, 1.1, 1, 1, 0},
                                            {PLX_DEVICE_DIST_SQ, 1, 1, 1, 0}};

static void kernel_cases(int64_t m, int64_t n, int64_t cols)
{
    for (int kind = 0; kind < 5; kind++)
        for (int way = 0; way < 6; way++) { /* dense, far from the origin, sparse; twice with the same rows */
            bool same = way >= 3;
            double offset = way % 3 == 1 ? 30 : 0;
            rows a = way % 3 < 2 ? dense_rows(m, cols, offset) : sparse_rows(m, cols, kind % 2);
            rows b = same ? a : way % 3 < 2 ? dense_rows(n, cols, offset) : sparse_rows(n, cols, kind % 2);
            if (way == 0 && n > 5 && m > 0) /* rows that both have */
                for (int64_t c = 0; c < cols; c++) *at(&b.dense, 5, c) = b.flat[5 * cols + c] = a.flat[c];
            kernel_case(KERNELS[kind], &a, &b, same, kind + way);
        }
}

static void base_case(int64_t m, int64_t n, bool rbf, double beta)
{
    plx_device_kernel k = {rbf ? PLX_DEVICE_RBF : PLX_DEVICE_LINEAR, 0.8, 1.2, 1, 0};
    image base = image_random(m, n), out = beta == 0 ? image_poison(m, n) : image_random(m, n), got[2];
    image expected = image_copy(&out);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double x = *at(&base, i, j), value = rbf ? 0.8 * exp(-x / (2 * 1.2 * 1.2)) : 0.8 * x;
            *at(&expected, i, j) = value + (beta == 0 ? 0 : *at(&out, i, j));
        }
    for (int run = 0; run < 2; run++) {
        plx_device_mat to = upload(&out);
        must(check.t->kernel_of_base(check.d, &k, upload(&base), beta, to));
        got[run] = download(&out, to);
    }
    compare_image(&got[0], &got[1], &out, &expected, 1e-15, 4, false);
    plx_device_mat here = upload(&base); /* in place */
    if (beta == 0) {
        must(check.t->kernel_of_base(check.d, &k, here, 0, here));
        image inside = download(&base, here), wanted = image_copy(&base);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) *at(&wanted, i, j) = *at(&expected, i, j);
        compare_image(&inside, NULL, &base, &wanted, 1e-15, 4, false);
    }
    case_end();
}

static void gradient_case(int64_t n, bool rbf)
{
    plx_device_kernel k = {rbf ? PLX_DEVICE_RBF : PLX_DEVICE_LINEAR, 0.8, 1.2, 1, 0};
    image base = image_random(n, n), m = image_random(n, n);
    long double expected[2] = {0, 0}, size = 1e-300L;
    double sums[2][2], plain[2];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            long double x = *at(&base, i, j), value = rbf ? 0.8L * expl(-x / (2 * 1.2L * 1.2L)) : 0.8L * x;
            long double part = (j < i ? 2 : 1) * *at(&m, i, j) * value;
            expected[0] += part;
            expected[1] += rbf ? part * x : 0;
            size += fabsl(part);
        }
    for (int run = 0; run < 2; run++) must(check.t->kernel_gradient(check.d, &k, upload(&base), upload(&m), sums[run]));
    compare_bytes(sums[0], sums[1], sizeof sums[0], "the second run");
    for (int s = 0; s < 2; s++) plain[s] = (double)expected[s];
    compare_values(sums[0], plain, 2, 1e-14 * (double)size, 1);
    case_end();
}

void check_kernels(void)
{
    int count;
    const int64_t *size = check_sizes(&count);
    if (begin_operation("kernel")) {
        for (int m = 0; m < count; m++) kernel_cases(size[m], size[(m + 2) % count], size[(2 * m + 1) % count] % 70);
        end_operation();
    }
    if (begin_operation("kernel_of_base")) {
        for (int m = 0; m < count; m++)
            for (int what = 0; what < 4; what++) base_case(size[m], size[count - 1 - m], what & 1, what / 2);
        end_operation();
    }
    if (begin_operation("kernel_gradient")) {
        for (int n = 0; n < count; n++)
            for (int rbf = 0; rbf < 2; rbf++) gradient_case(size[n], rbf);
        end_operation();
    }
}

/* ---- neighbours ---- */

static double plain_key(double x)
{
    if (x < 1e-12) return 0;
    if (!isfinite(x)) return x;
    int shift = 11 - (int)floor(log10(x));
    double power = pow(10.0, abs(shift));
    return shift >= 0 ? rint(x * power) / power : rint(x / power) * power;
}

static double plain_distance(const rows *a, int64_t i, const rows *b, int64_t j, plx_device_metric metric)
{
    pair p = pair_of(a, i, b, j);
    long double chord = 0, nx = sqrtl(p.nx), nz = sqrtl(p.nz);
    if (metric == PLX_DEVICE_EUCLID) return (double)sqrtl(p.dist);
    if (nx == 0 || nz == 0) return 1;
    for (int64_t c = 0; c < a->cols; c++) {
        long double gap = a->flat[i * a->cols + c] / nx - b->flat[j * a->cols + c] / nz;
        chord += gap * gap;
    }
    return (double)(chord / 2);
}

static void plain_insert(double *distance, int64_t *index, int64_t k, double gap, int64_t number)
{
    double key = plain_key(gap);
    int64_t place = k;
    while (place > 0) {
        double other = plain_key(distance[place - 1]);
        int64_t old = index[place - 1];
        if (old >= 0 && (other < key || (other == key && old < number))) break;
        place--;
    }
    if (place == k) return;
    for (int64_t t = k - 1; t > place; t--) {
        distance[t] = distance[t - 1];
        index[t] = index[t - 1];
    }
    distance[place] = gap;
    index[place] = number;
}

typedef struct lists {
    int64_t *index;
    double *distance;
} lists;

static lists empty_lists(int64_t n, int64_t k)
{
    lists l = {keep_bytes((size_t)(n * k) * 8), keep_bytes((size_t)(n * k) * 8)};
    for (int64_t t = 0; t < n * k; t++) {
        l.index[t] = -1;
        l.distance[t] = INFINITY;
    }
    return l;
}

static void search_on_device(lists out, const rows *q, const rows *r, bool self, int64_t k, plx_device_metric metric,
                             const uint8_t *present)
{
    plx_device_rows queries = upload_rows(q), references = self ? queries : upload_rows(r);
    plx_device_buffer *index = upload_bytes(out.index, q->count * k * 8);
    plx_device_buffer *distance = upload_bytes(out.distance, q->count * k * 8);
    int64_t half = r->count / 2; /* two blocks of references, ascending */
    for (int block = 0; block < 2; block++) {
        int64_t from = block ? half : 0, many = block ? r->count - half : half;
        plx_device_rows part = references;
        if (part.csr) {
            part.first += from;
            part.count = many;
        } else {
            part.dense.offset += from * part.dense.ld;
            part.dense.rows = many;
        }
        plx_device_knn step = {sizeof step, queries, part, metric, k, from, self ? 0 : -1, NULL, index, distance};
        if (present) step.present = upload_bytes(present + from, many);
        peak_begin();
        must(check.t->knn(check.d, &step));
        peak_end(check.t->workspace(check.d, PLX_DEVICE_OP_KNN, q->count, many, k));
    }
    download_bytes(out.index, index, q->count * k * 8);
    download_bytes(out.distance, distance, q->count * k * 8);
}

/* Unit rows are rounded to eps each; 1 - cos is half the square of their distance. */
static double distance_error(double distance, plx_device_metric metric)
{
    return 1e-12 * distance + (metric == PLX_DEVICE_EUCLID ? 1e-15 : 1e-15 * sqrt(2 * distance) + 1e-30);
}

/* `exact`: distances are such that equal ones are told from others in any arithmetic: the numbers must be right. */
static void knn_case(const rows *q, const rows *r, bool self, int64_t k, plx_device_metric metric, bool masked,
                     bool exact)
{
    lists expected = empty_lists(q->count, k), got[2] = {empty_lists(q->count, k), empty_lists(q->count, k)};
    uint8_t *present = some_present(r->count, masked);
    for (int64_t i = 0; i < q->count; i++)
        for (int64_t j = 0; j < r->count; j++)
            if (!(self && i == j) && (!present || present[j]))
                plain_insert(expected.distance + i * k, expected.index + i * k, k, plain_distance(q, i, r, j, metric),
                             j);
    for (int run = 0; run < 2; run++) search_on_device(got[run], q, r, self, k, metric, present);
    compare_bytes(got[0].index, got[1].index, q->count * k * 8, "the second run");
    compare_bytes(got[0].distance, got[1].distance, q->count * k * 8, "the second run");
    for (int64_t t = 0; t < q->count * k; t++) {
        int64_t i = t / k, found = got[0].index[t];
        double wanted = expected.distance[t], value = got[0].distance[t];
        bool fits = found == expected.index[t];
        if (!fits && !exact && found >= 0) /* as near as the one expected, within rounding */
            fits = (!present || present[found]) && !(self && found == i) &&
                   fabs(plain_distance(q, i, r, found, metric) - wanted) <= distance_error(wanted, metric);
        if (fits && (value == wanted || fabs(value - wanted) <= distance_error(wanted, metric))) continue;
        fail_case("place %lld of query %lld is %lld at %.15g, expected %lld at %.15g", (long long)(t % k), (long long)i,
                  (long long)found, value, (long long)expected.index[t], wanted);
        break;
    }
    case_end();
}

/* Numbers of few values: many equal distances. */
static void make_ties(rows *r)
{
    for (int64_t i = 0; i < r->count; i++)
        for (int64_t j = 0; j < r->cols; j++) *at(&r->dense, i, j) = r->flat[i * r->cols + j] = (double)draw_below(3);
}

void check_knn(void)
{
    static const int64_t lengths[] = {1, 3, 10, 40};
    int count;
    const int64_t *size = check_sizes(&count);
    if (!begin_operation("knn")) return;
    for (int m = 0; m < count; m++)
        for (int way = 0; way < 8; way++) { /* dense, ties, far from the origin, sparse */
            int64_t cols = way % 4 == 1 ? 3 : 2 + size[(m + way) % count] % 40, n = size[m],
                    other = size[(m + 1) % count];
            bool self = way / 4;
            rows q = way % 4 == 3 ? sparse_rows(n, cols, m % 2) : dense_rows(n, cols, way % 4 == 2 ? 50 : 0);
            rows r = self ? q : way % 4 == 3 ? sparse_rows(other, cols, m % 2) : dense_rows(other, cols, 0);
            if (way % 4 == 1) make_ties(&q);
            if (way % 4 == 1 && !self) make_ties(&r);
            knn_case(&q, &r, self, lengths[(m + way) % 4], (plx_device_metric)((m + way / 2) % 2), way % 3 == 0,
                     way % 4 == 1);
        }
    for (int wide = 0; !check.small && wide < 2; wide++) { /* more than one tile of products */
        rows q = dense_rows(wide ? 300 : 8300, 5, 0), r = dense_rows(wide ? 9000 : 40, 5, 0);
        knn_case(&q, &r, false, 10, PLX_DEVICE_EUCLID, false, false);
    }
    end_operation();
}
