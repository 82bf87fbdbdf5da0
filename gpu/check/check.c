/*
 * What the self-test shares: cases, images of matrices, comparisons.
 */
#include "check.h"

#include <stdarg.h>
#include <time.h>

checker check;
int64_t (*device_peak)(int restart);

static const char *wanted;
static int failed_operations, failures_before;
static uint64_t random_state;

/* ---- random numbers ---- */

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

double draw(void) { return (double)(next_random() >> 11) * 0x1p-52 - 1.0; }

int64_t draw_below(int64_t n) { return (int64_t)(next_random() >> 1) % n; }

double draw_normal(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += draw();
    return sum / 2;
}

/* ---- what a case holds ---- */

enum { MOST_HELD = 4096 };

static void *held_bytes[MOST_HELD];
static plx_device_buffer *held_buffers[MOST_HELD];
static plx_device_csr *held_csrs[MOST_HELD];
static int n_bytes, n_buffers, n_csrs;

void *keep_bytes(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p || n_bytes == MOST_HELD) {
        fprintf(stderr, "the self-test itself is out of memory\n");
        exit(2);
    }
    return held_bytes[n_bytes++] = p;
}

plx_device_buffer *hold(plx_device_buffer *buffer)
{
    if (n_buffers < MOST_HELD) held_buffers[n_buffers++] = buffer;
    return buffer;
}

plx_device_csr *hold_csr(plx_device_csr *csr)
{
    if (n_csrs < MOST_HELD) held_csrs[n_csrs++] = csr;
    return csr;
}

void case_end(void)
{
    while (n_csrs > 0) check.t->csr_release(check.d, held_csrs[--n_csrs]);
    while (n_buffers > 0) check.t->release(check.d, held_buffers[--n_buffers]);
    while (n_bytes > 0) free(held_bytes[--n_bytes]);
    check.cases++;
}

void fail_case(const char *format, ...)
{
    va_list args;
    if (check.failures++ - failures_before >= 5) return; /* the first few tell enough */
    printf("  %s, case %d: ", check.what, check.cases);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

void must(int code)
{
    if (code != PLX_DEVICE_OK) fail_case("code %d: %s", code, check.t->error(check.d));
}

void peak_begin(void)
{
    if (device_peak) (void)device_peak(1);
}

void peak_end(int64_t estimate)
{
    int64_t taken = device_peak ? device_peak(0) : 0;
    if (taken > estimate) fail_case("%lld bytes taken, %lld estimated", (long long)taken, (long long)estimate);
}

/* ---- images ---- */

static image image_shape(int64_t rows, int64_t cols)
{
    image m = {rows, cols, cols + draw_below(4), draw_below(5), 0, NULL};
    if (m.ld == 0) m.ld = 1;
    m.total = m.offset + rows * m.ld + draw_below(5);
    m.data = keep_bytes((size_t)m.total * sizeof(double));
    for (int64_t e = 0; e < m.total; e++) m.data[e] = 1e3 + draw();
    return m;
}

double *at(const image *m, int64_t i, int64_t j) { return m->data + m->offset + i * m->ld + j; }

image image_random(int64_t rows, int64_t cols)
{
    image m = image_shape(rows, cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) *at(&m, i, j) = draw();
    return m;
}

image image_poison(int64_t rows, int64_t cols)
{
    image m = image_shape(rows, cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) *at(&m, i, j) = NAN;
    return m;
}

image image_copy(const image *from)
{
    image m = *from;
    m.data = keep_bytes((size_t)m.total * sizeof(double));
    memcpy(m.data, from->data, (size_t)m.total * sizeof(double));
    return m;
}

plx_device_buffer *upload_bytes(const void *from, int64_t bytes)
{
    plx_device_buffer *buffer = NULL;
    if (!from) return NULL;
    must(check.t->alloc(check.d, bytes, &buffer));
    hold(buffer);
    must(check.t->write_bytes(check.d, buffer, 0, from, bytes));
    return buffer;
}

void download_bytes(void *to, const plx_device_buffer *from, int64_t bytes)
{
    must(check.t->read_bytes(check.d, to, from, 0, bytes));
}

plx_device_mat upload(const image *m)
{
    plx_device_mat out = {upload_bytes(m->data, m->total * 8), m->offset, m->rows, m->cols, m->ld};
    return out;
}

plx_device_mat no_matrix(void)
{
    plx_device_mat none = {NULL, 0, 0, 0, 0};
    return none;
}

image download(const image *like, plx_device_mat from)
{
    image m = image_copy(like);
    download_bytes(m.data, from.buffer, m.total * 8);
    return m;
}

/* ---- comparisons ---- */

static void note(double error, double allowed)
{
    double share = allowed > 0 ? error / allowed : error > 0 ? INFINITY : 0;
    if (share > check.worst) check.worst = share;
}

static bool inside(const image *m, int64_t e, bool lower, int64_t *i, int64_t *j)
{
    *i = (e - m->offset) / m->ld;
    *j = (e - m->offset) % m->ld;
    return e >= m->offset && *i < m->rows && *j < m->cols && (!lower || *j <= *i);
}

static double largest_of(const image *m, bool lower)
{
    double largest = 0;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++)
            if ((!lower || j <= i) && fabs(*at(m, i, j)) > largest) largest = fabs(*at(m, i, j));
    return largest;
}

void compare_bytes(const void *a, const void *b, int64_t bytes, const char *what)
{
    if (bytes > 0 && memcmp(a, b, (size_t)bytes) != 0) fail_case("%s differs", what);
}

void compare_image(const image *first, const image *second, const image *before, const image *expected,
                   double tolerance, double scale, bool lower)
{
    if (second) compare_bytes(first->data, second->data, first->total * 8, "the second run");
    if (scale == 0) scale = largest_of(expected, lower);
    for (int64_t e = 0; e < first->total; e++) {
        int64_t i, j;
        double got = first->data[e];
        if (!inside(first, e, lower, &i, &j)) {
            if (memcmp(&got, &before->data[e], sizeof got) != 0) {
                fail_case("number %lld of the buffer is not of the result and was changed", (long long)e);
                return;
            }
            continue;
        }
        double gap = fabs(got - *at(expected, i, j));
        if (got == *at(expected, i, j)) gap = 0; /* infinities too */
        note(gap, tolerance * scale);
        if (!(gap <= tolerance * scale)) {
            fail_case("%lld x %lld: entry (%lld, %lld) is %.17g, expected %.17g", (long long)first->rows,
                      (long long)first->cols, (long long)i, (long long)j, got, *at(expected, i, j));
            return;
        }
    }
}

void compare_values(const double *got, const double *expected, int64_t count, double tolerance, double least)
{
    for (int64_t i = 0; i < count; i++) {
        double allowed = tolerance * fmax(fabs(expected[i]), least), gap = fabs(got[i] - expected[i]);
        if (got[i] == expected[i]) gap = 0;
        note(gap, allowed);
        if (!(gap <= allowed)) {
            fail_case("number %lld of %lld is %.17g, expected %.17g", (long long)i, (long long)count, got[i],
                      expected[i]);
            return;
        }
    }
}

/* ---- sparse matrices ---- */

sparse sparse_random(int64_t rows, int64_t cols, double density, bool counts)
{
    sparse x = {rows, cols, keep_bytes((size_t)(rows + 1) * 8), NULL, NULL};
    x.col = keep_bytes((size_t)(rows * cols) * 4);
    x.val = keep_bytes((size_t)(rows * cols) * 8);
    int64_t full_row = rows ? draw_below(rows) : 0, full_col = cols ? draw_below(cols) : 0, empty = rows / 2;
    for (int64_t i = 0; i < rows; i++) {
        x.ptr[i + 1] = x.ptr[i];
        for (int64_t j = 0; j < cols; j++) {
            bool in = i == full_row || (j == full_col && i != empty) || 0.5 * (draw() + 1) < density;
            if (!in || (i == empty && i != full_row)) continue;
            x.col[x.ptr[i + 1]] = (int32_t)j;
            x.val[x.ptr[i + 1]++] = counts ? (double)(1 + draw_below(9)) : draw();
        }
    }
    return x;
}

sparse sparse_crowded(int64_t rows, int64_t cols, int64_t per_row, bool counts)
{
    sparse x = {rows, cols, keep_bytes((size_t)(rows + 1) * 8), NULL, NULL};
    x.col = keep_bytes((size_t)(rows * per_row) * 4);
    x.val = keep_bytes((size_t)(rows * per_row) * 8);
    for (int64_t i = 0; i < rows; i++) {
        int64_t e = x.ptr[i];
        for (int64_t p = 0; p < per_row && i % 50 != 7; p++) { /* one of each stretch of the unit interval: ascending */
            double u = ((double)p + 0.5 * (draw() + 1)) / (double)per_row;
            int32_t c = (int32_t)((double)cols * u * u * u);
            if (c >= cols || (e > x.ptr[i] && x.col[e - 1] >= c)) continue;
            x.col[e] = c;
            x.val[e++] = counts ? (double)(1 + draw_below(9)) : draw();
        }
        x.ptr[i + 1] = e;
    }
    for (int64_t e = 0; e < x.ptr[rows]; e++) x.col[e] = (int32_t)(cols - 1 - x.col[e]); /* the crowd is not in front */
    for (int64_t i = 0; i < rows; i++)
        for (int64_t a = x.ptr[i], b = x.ptr[i + 1] - 1; a < b; a++, b--) {
            int32_t column = x.col[a];
            x.col[a] = x.col[b];
            x.col[b] = column;
        }
    return x;
}

plx_device_csr *upload_csr(const sparse *x, int flags)
{
    plx_device_csr *csr = NULL;
    peak_begin();
    must(check.t->csr_create(check.d, x->rows, x->cols, x->ptr, x->col, x->val, flags, &csr));
    peak_end(check.t->csr_bytes(check.d, x->rows, x->cols, x->ptr[x->rows], flags));
    return hold_csr(csr);
}

double *densify(const sparse *x)
{
    double *out = keep_bytes((size_t)(x->rows * x->cols) * sizeof(double));
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t e = x->ptr[i]; e < x->ptr[i + 1]; e++) out[i * x->cols + x->col[e]] = x->val[e];
    return out;
}

/* ---- operations ---- */

const int64_t *check_sizes(int *count)
{
    static const int64_t full[] = {0, 1, 2, 31, 32, 33, 100, 257}, small[] = {0, 1, 3, 32, 37, 70};
    *count = check.small ? 6 : 8;
    return check.small ? small : full;
}

bool begin_operation(const char *name)
{
    if (wanted && !strstr(name, wanted)) return false;
    check.what = name;
    check.cases = 0;
    check.worst = 0;
    failures_before = check.failures;
    return true;
}

void end_operation(void)
{
    int failures = check.failures - failures_before;
    int code = check.t->sync(check.d);
    if (code != PLX_DEVICE_OK) {
        failures++;
        printf("  %s: %s\n", check.what, check.t->error(check.d));
    }
    failed_operations += failures > 0;
    printf("%-6s %-16s %4d cases, largest error %.2g of what is allowed\n", failures ? "FAILED" : "ok", check.what,
           check.cases, check.worst);
    fflush(stdout);
}

int check_device(const plx_device_table *table, int number, bool small, const char *pattern)
{
    char why[256] = "";
    plx_device_facts facts = {.struct_size = sizeof facts};
    const char *seed = getenv("CHECK_SEED");
    random_state =
        seed ? strtoull(seed, NULL, 10) : ((uint64_t)time(NULL) << 20) + (uint64_t)clock() + 88172645463325252u;
    check = (checker){.t = table, .small = small};
    wanted = pattern;
    failed_operations = 0;
    if (table->open(&check.d, number, why, sizeof why) != PLX_DEVICE_OK) {
        printf("cannot open: %s\n", why);
        return -1;
    }
    table->facts(check.d, &facts);
    printf("%s (%s), %.1f GB; CHECK_SEED=%llu\n", facts.name, facts.driver, (double)facts.memory / 1e9,
           (unsigned long long)random_state);
    check_memory();
    check_dense_products();
    check_factors();
    check_eigen();
    check_entries();
    check_kernels();
    if (table->knn) check_knn();
    if (table->csr_create) check_sparse_products();
    if (table->mixture) check_mixture();
    if (table->assign) check_assign();
    if (table->plsa) check_plsa();
    if (table->pivots) check_pivots();
    table->close(check.d);
    printf("%s\n", failed_operations ? "some operations FAILED" : "all operations are right");
    return failed_operations;
}
