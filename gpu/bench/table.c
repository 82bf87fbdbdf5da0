/*
 * Times operations of a device through its table: bandwidth and rate it can reach, then what methods need.
 *
 *   bench_table LIBRARY NAME [SIZES...]
 *     ceilings                      copy of 4 GB (bytes read and written), product of 8192^3
 *     factor N                      potrf, potri and potrs of one right-hand side
 *     eigen N K                     the K largest pairs
 *     kernel N D                    rbf matrix of N rows of D columns, and its gradient sums
 *     knn N D K                     exact neighbours of all rows among themselves
 *     sweeps ROWS COLS PER_ROW W... spmm both ways, mixture (two channels), assign, class_sums, plsa
 *     texts ROWS COLS PER_ROW W...  the same with columns crowded like the words of 20 newsgroups
 *
 * One line a figure: NAME,WHAT,SECONDS,BYTES,OPERATIONS. Best of three after one to warm up, waiting for the device at
 * both ends. Bytes are compulsory: entries (8 bytes: counts fit single precision), tables and results once each.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parallax/device.h"

enum { MOST_SIZES = 16 };

static const plx_device_table *t;
static plx_device *d;
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static double draw(void) { return (double)(next_random() >> 11) * 0x1p-52 - 1.0; }

static double now(void)
{
    struct timespec s;
    clock_gettime(CLOCK_MONOTONIC, &s);
    return (double)s.tv_sec + 1e-9 * (double)s.tv_nsec;
}

static void must(int code)
{
    if (code == PLX_DEVICE_OK) return;
    fprintf(stderr, "bench_table: code %d: %s\n", code, d ? t->error(d) : "");
    exit(1);
}

static void *room(int64_t bytes)
{
    void *p = malloc((size_t)bytes);
    if (p) return p;
    fprintf(stderr, "bench_table: out of memory\n");
    exit(1);
}

static plx_device_mat device_matrix(int64_t rows, int64_t cols)
{
    plx_device_mat m = {NULL, 0, rows, cols, cols};
    must(t->alloc(d, 8 * rows * cols, &m.buffer));
    return m;
}

static plx_device_mat random_matrix(int64_t rows, int64_t cols, double shift)
{
    plx_device_mat m = device_matrix(rows, cols);
    double *host = room(8 * rows * cols);
    for (int64_t e = 0; e < rows * cols; e++) host[e] = draw() + shift;
    must(t->write(d, m, host, cols));
    free(host);
    return m;
}

static plx_device_buffer *bytes_on_device(const void *from, int64_t bytes)
{
    plx_device_buffer *b = NULL;
    must(t->alloc(d, bytes, &b));
    must(t->write_bytes(d, b, 0, from, bytes));
    return b;
}

/* ---- timing ---- */

typedef void step_fn(void *);

/* `before` (NULL: none) is not counted. */
static double best_time(step_fn *step, step_fn *before, void *arg, int repeats)
{
    double best = INFINITY;
    for (int r = 0; r <= repeats; r++) {
        if (before) before(arg);
        must(t->sync(d));
        double begin = now();
        step(arg);
        must(t->sync(d));
        if (r > 0 || repeats == 0) best = fmin(best, now() - begin);
    }
    return best;
}

static void report(const char *name, const char *what, double seconds, double bytes, double operations)
{
    printf("%s,%s,%.6g,%.6g,%.6g\n", name, what, seconds, bytes, operations);
    fflush(stdout);
}

/* ---- ceilings ---- */

typedef struct mats {
    plx_device_mat a, b, c;
    int64_t k;
    double *values;
} mats;

static void copy_step(void *arg) { must(t->copy(d, ((mats *)arg)->b, ((mats *)arg)->a)); }

static void gemm_step(void *arg)
{
    mats *m = arg;
    must(t->gemm(d, 1.0, m->a, PLX_DEVICE_PLAIN, m->b, PLX_DEVICE_TRANSPOSED, 0.0, m->c));
}

static void ceilings(void)
{
    mats m = {.a = device_matrix(1, (int64_t)1 << 29), .b = device_matrix(1, (int64_t)1 << 29)};
    must(t->fill(d, m.a, 1.5));
    report("ceilings", "copy", best_time(copy_step, NULL, &m, 5), 2.0 * 8 * (1 << 29), 0);
    t->release(d, m.a.buffer);
    t->release(d, m.b.buffer);
    mats p = {.a = random_matrix(8192, 8192, 0), .b = random_matrix(8192, 8192, 0), .c = device_matrix(8192, 8192)};
    report("ceilings", "product", best_time(gemm_step, NULL, &p, 5), 3.0 * 8 * 8192 * 8192, 2.0 * 8192 * 8192 * 8192);
}

/* ---- dense ---- */

static void refill(void *arg) { must(t->copy(d, ((mats *)arg)->b, ((mats *)arg)->a)); }

static void potrf_step(void *arg)
{
    int64_t pivot;
    must(t->potrf(d, ((mats *)arg)->b, &pivot));
}

static void factor_again(void *arg)
{
    refill(arg);
    potrf_step(arg);
}

static void potri_step(void *arg) { must(t->potri(d, ((mats *)arg)->b)); }
static void potrs_step(void *arg) { must(t->potrs(d, ((mats *)arg)->b, ((mats *)arg)->c)); }

static void eigen_step(void *arg)
{
    mats *m = arg;
    must(t->sym_eigen(d, m->b, m->b.rows - m->k, m->k, m->values, m->c));
}

static void rbf_step(void *arg)
{
    mats *m = arg;
    plx_device_kernel k = {PLX_DEVICE_RBF, 1.0, 8.0, 1.0, 0.0};
    plx_device_rows rows = {m->a, NULL, 0, 0};
    must(t->kernel(d, &k, rows, rows, NULL, NULL, m->b));
}

static void gradient_step(void *arg)
{
    mats *m = arg;
    plx_device_kernel k = {PLX_DEVICE_RBF, 1.0, 8.0, 1.0, 0.0};
    must(t->kernel_gradient(d, &k, m->b, m->b, m->values));
}

static plx_device_mat kernel_matrix(int64_t n, int64_t cols, plx_device_mat *rows)
{
    *rows = random_matrix(n, cols, 0);
    mats m = {.a = *rows, .b = device_matrix(n, n)};
    plx_device_mat none = {NULL, 0, 0, 0, 0};
    rbf_step(&m);
    must(t->combine(d, 1.0, m.b, 0.0, none, none, none, 0.0, none, none, 1.0));
    return m.b;
}

static void factor(int64_t n)
{
    double cube = (double)n * (double)n * (double)n, square = 8.0 * (double)n * (double)n;
    plx_device_mat rows;
    mats m = {.a = kernel_matrix(n, 20, &rows), .b = device_matrix(n, n), .c = random_matrix(n, 1, 0)};
    report("factor", "potrf", best_time(potrf_step, refill, &m, 3), square, cube / 3);
    report("factor", "potrs", best_time(potrs_step, NULL, &m, 3), square, 2.0 * (double)n * (double)n);
    report("factor", "potri", best_time(potri_step, factor_again, &m, 2), square, 2 * cube / 3);
}

static void eigen(int64_t n, int64_t k)
{
    plx_device_mat rows;
    mats m = {.a = kernel_matrix(n, 20, &rows), .b = device_matrix(n, n), .c = device_matrix(k, n), .k = k};
    m.values = room(8 * k);
    report("eigen", "sym_eigen", best_time(eigen_step, refill, &m, 1), 8.0 * (double)n * (double)n,
           4.0 / 3 * (double)n * (double)n * (double)n);
}

static void kernel(int64_t n, int64_t cols)
{
    double square = 8.0 * (double)n * (double)n, sums[2];
    mats m = {.a = random_matrix(n, cols, 0), .b = device_matrix(n, n), .values = sums};
    report("kernel", "rbf", best_time(rbf_step, NULL, &m, 3), square, (double)n * (double)n * (double)cols);
    report("kernel", "gradient", best_time(gradient_step, NULL, &m, 3), square, 0);
}

/* ---- neighbours ---- */

typedef struct search {
    plx_device_mat rows;
    int64_t k;
    plx_device_buffer *index, *distance, *empty_index, *empty_distance;
} search;

static void clear_lists(void *arg)
{
    search *s = arg;
    int64_t count = s->rows.rows * s->k;
    plx_device_mat to = {s->distance, 0, 1, count, count}, from = {s->empty_distance, 0, 1, count, count};
    must(t->copy(d, to, from));
    to.buffer = s->index;
    from.buffer = s->empty_index;
    must(t->copy(d, to, from));
}

static void knn_step(void *arg)
{
    search *s = arg;
    plx_device_rows rows = {s->rows, NULL, 0, 0};
    plx_device_knn step = {sizeof step, rows, rows, PLX_DEVICE_EUCLID, s->k, 0, 0, NULL, s->index, s->distance};
    must(t->knn(d, &step));
}

static void knn(int64_t n, int64_t cols, int64_t k)
{
    search s = {.rows = random_matrix(n, cols, 0), .k = k};
    int64_t *index = room(8 * n * k);
    double *distance = room(8 * n * k);
    for (int64_t e = 0; e < n * k; e++) {
        index[e] = -1;
        distance[e] = INFINITY;
    }
    s.empty_index = bytes_on_device(index, 8 * n * k);
    s.empty_distance = bytes_on_device(distance, 8 * n * k);
    s.index = bytes_on_device(index, 8 * n * k);
    s.distance = bytes_on_device(distance, 8 * n * k);
    report("knn", "knn", best_time(knn_step, clear_lists, &s, n > 200000 ? 1 : 3), 8.0 * (double)(n * cols),
           2.0 * (double)n * (double)n * (double)cols);
}

/* ---- sweeps ---- */

typedef struct sweep {
    int64_t rows, cols, entries, width;
    plx_device_csr *x;
    plx_device_mat table, sample, other, out; /* cols, rows, rows and cols x width */
    plx_device_buffer *label;
    double *host; /* priors and sums */
} sweep;

enum { CROWD_STEPS = 1 << 16 };

/* Columns crowded towards the first, for u from 0 to 1. The cube of u: the first hundredth has 22 % of the entries, the
 * first tenth 46 %. Like texts, by the law of Zipf and Mandelbrot with shift 80: of 18,136 columns the first 900, 1,800,
 * 3,600, 7,200 and 14,000 have 46, 58, 70, 83 and 95 %; in the counts of 20 newsgroups it is 46, 60, 74, 87 and 97 %. */
static void crowd(double *at, double cols, int like_texts)
{
    for (int k = 0; k <= CROWD_STEPS; k++) {
        double u = (double)k / CROWD_STEPS;
        at[k] = like_texts ? 80 * (pow(1 + cols / 80, u) - 1) : cols * u * u * u;
    }
}

static plx_device_csr *counts_matrix(sweep *s, int64_t per_row, int like_texts, int flags)
{
    static double at[CROWD_STEPS + 1];
    int64_t *ptr = room(8 * (s->rows + 1));
    int32_t *col = room(4 * s->rows * per_row);
    double *val = room(8 * s->rows * per_row);
    plx_device_csr *x = NULL;
    ptr[0] = 0;
    crowd(at, (double)s->cols, like_texts);
    for (int64_t i = 0; i < s->rows; i++) {
        int64_t e = ptr[i];
        for (int64_t p = 0; p < per_row; p++) { /* one of each stretch of the unit interval: ascending, none twice */
            double u = ((double)p + 0.5 * (draw() + 1)) / (double)per_row * CROWD_STEPS;
            int k = (int)u;
            int32_t c = (int32_t)(at[k] + (u - k) * (at[k + 1] - at[k]));
            if (c >= s->cols || (e > ptr[i] && col[e - 1] >= c)) continue;
            col[e] = c;
            val[e++] = (double)(1 + next_random() % 3);
        }
        ptr[i + 1] = e;
    }
    s->entries = ptr[s->rows];
    double begin = now();
    must(t->csr_create(d, s->rows, s->cols, ptr, col, val, flags, &x));
    must(t->sync(d));
    report(flags & PLX_DEVICE_FEW_COLUMNS ? "sweeps" : "sweeps many", "upload and transpose", now() - begin,
           12.0 * (double)s->entries, 0);
    free(ptr);
    free(col);
    free(val);
    return x;
}

static void spmm_step(void *arg)
{
    sweep *s = arg;
    must(t->spmm(d, 1.0, s->x, PLX_DEVICE_PLAIN, s->table, 0.0, s->sample));
}

static void flipped_step(void *arg)
{
    sweep *s = arg;
    must(t->spmm(d, 1.0, s->x, PLX_DEVICE_TRANSPOSED, s->sample, 0.0, s->out));
}

static void mixture_step(void *arg)
{
    sweep *s = arg;
    plx_device_channel c[2] = {{s->x, s->table, s->sample, 1, NULL, s->host},
                               {s->x, s->table, s->sample, 0, NULL, s->host}};
    double *sums = s->host + s->width, objective, loglik[2];
    plx_device_mixture q = {sizeof q, s->rows,  s->width, 2,   c,    s->label,        0,          0,
                            0.5,      s->other, 1,        0.5, sums, sums + s->width, &objective, loglik};
    must(t->mixture(d, &q));
}

static void assign_step(void *arg)
{
    sweep *s = arg;
    plx_device_channel c = {s->x, s->table, {NULL, 0, 0, 0, 0}, 0, NULL, NULL};
    double objective;
    int64_t flips, without;
    plx_device_assign q = {sizeof q, s->rows, s->width, 1,    &c,         NULL,   0,       1e-12,
                           0,        NULL,    s->label, NULL, &objective, &flips, &without};
    must(t->assign(d, &q));
}

static void class_step(void *arg)
{
    sweep *s = arg;
    plx_device_mat out = {s->out.buffer, 0, s->width, s->cols, s->cols};
    must(t->class_sums(d, s->x, s->label, NULL, s->width, out));
}

static void plsa_step(void *arg)
{
    sweep *s = arg;
    double likelihood;
    plx_device_plsa q = {sizeof q, s->x, s->table, s->sample, s->other, s->out, &likelihood};
    must(t->plsa(d, &q));
}

/* The steps with tables of `width` columns. Bytes: what must move at least. */
static void sweeps_of_width(sweep *s, int64_t width, const int32_t *no_label)
{
    char name[32];
    double entries = 8.0 * (double)s->entries, tables = 8.0 * (double)(s->cols * width),
           samples = 8.0 * (double)(s->rows * width), pointers = 8.0 * (double)s->rows;
    s->width = width;
    must(t->write_bytes(d, s->label, 0, no_label, 4 * s->rows));
    s->table = random_matrix(s->cols, width, 1.5);
    s->sample = device_matrix(s->rows, width);
    s->other = device_matrix(s->rows, width);
    s->out = device_matrix(s->cols, width);
    s->host = room(8 * 4 * width);
    for (int64_t j = 0; j < width; j++) s->host[j] = -3;
    snprintf(name, sizeof name, "sweeps %lld", (long long)width);
    report(name, "spmm", best_time(spmm_step, NULL, s, 3), entries + pointers + tables + samples, 0);
    report(name, "spmm transposed", best_time(flipped_step, NULL, s, 3), entries + tables + samples, 0);
    report(name, "mixture", best_time(mixture_step, NULL, s, 3), entries + pointers + tables + 3 * samples, 0);
    report(name, "assign", best_time(assign_step, NULL, s, 3), entries + pointers + tables + pointers, 0);
    report(name, "class_sums", best_time(class_step, NULL, s, 3), entries + tables + 0.5 * pointers, 0);
    must(t->fill(d, s->sample, 1.0 / (double)width));
    must(t->fill(d, s->other, 0.0));
    report(name, "plsa", best_time(plsa_step, NULL, s, 3), 2 * entries + pointers + 3 * tables + 4 * samples, 0);
    plx_device_buffer *used[] = {s->table.buffer, s->sample.buffer, s->other.buffer, s->out.buffer};
    for (int i = 0; i < 4; i++) t->release(d, used[i]);
    free(s->host);
}

static void sweeps(const int64_t *size, int given, int like_texts)
{
    sweep s = {.rows = size[0], .cols = size[1]};
    int32_t *label = room(4 * s.rows);
    int flags = 0;
    for (int64_t i = 0; i < s.rows; i++) label[i] = -1;
    s.label = bytes_on_device(label, 4 * s.rows);
    for (int i = 3; i < given; i++) {
        int wanted = PLX_DEVICE_BOTH_WAYS | (size[i] <= PLX_DEVICE_FEW ? PLX_DEVICE_FEW_COLUMNS : 0);
        if (wanted != flags) {
            t->csr_release(d, s.x);
            s.x = counts_matrix(&s, size[2], like_texts, flags = wanted);
            printf("sweeps,entries,%lld,,\n", (long long)s.entries);
        }
        sweeps_of_width(&s, size[i], label);
    }
    free(label);
}

/* ---- */

static void run(const char *name, const int64_t *size, int given)
{
    int64_t n = given > 0 ? size[0] : 0;
    if (strcmp(name, "ceilings") == 0) ceilings();
    else if (strcmp(name, "factor") == 0 && given >= 1) factor(n);
    else if (strcmp(name, "eigen") == 0 && given >= 2) eigen(n, size[1]);
    else if (strcmp(name, "kernel") == 0 && given >= 2) kernel(n, size[1]);
    else if (strcmp(name, "knn") == 0 && given >= 3) knn(n, size[1], size[2]);
    else if (strcmp(name, "sweeps") == 0 && given >= 4) sweeps(size, given, 0);
    else if (strcmp(name, "texts") == 0 && given >= 4) sweeps(size, given, 1);
    else fprintf(stderr, "bench_table: %s with %d sizes is nothing I know\n", name, given);
}

int main(int argc, char **argv)
{
    char why[256] = "";
    int64_t size[MOST_SIZES] = {0};
    plx_device_entry_fn entry = NULL;
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL, *symbol = NULL;
    if (!library) {
        fprintf(stderr, "usage: bench_table LIBRARY NAME [SIZES...]\n%s\n", argc > 2 ? dlerror() : "");
        return 2;
    }
    symbol = dlsym(library, PLX_DEVICE_ENTRY);
    memcpy(&entry, &symbol, sizeof symbol);
    t = entry ? entry(PLX_DEVICE_ABI) : NULL;
    if (!t || t->open(&d, 0, why, sizeof why) != PLX_DEVICE_OK) {
        fprintf(stderr, "bench_table: %s\n", why);
        return 1;
    }
    const int given = argc - 3 < MOST_SIZES ? argc - 3 : MOST_SIZES;
    for (int a = 0; a < given; a++) size[a] = strtoll(argv[a + 3], NULL, 10);
    run(argv[2], size, given);
    t->close(d); /* what it holds goes with the process */
    return 0;
}
