/*
 * The sparse Cholesky factorisation on Laplacians of neighbour graphs, beside CHOLMOD with the same kind of order
 * (AMD) where the build has it. Processor time of one thread, ordering included; the factor's size in entries.
 *
 * usage: bench_sparse_chol ROWS DIMENSIONS NEIGHBOURS [THREADS]     uniform points of a cube
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/ctx.h"
#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/knn.h"
#include "linalg/sparse_chol.h"
#include "linalg/supernodes.h"
#ifdef PLX_HAVE_REFERENCES
#include <cholmod.h>
#include <cblas.h>
#endif

static plx_context *ctx;

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_sparse_chol: %s\n", plx_context_error(ctx));
    exit(1);
}

static double processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* L + 0.01 I of the symmetric graph "one of the two is a neighbour of the other", weights 1. */
static plx_csr laplacian(plx_index n, plx_index dimensions, plx_index k)
{
    double *x = NULL, *distance = NULL, *val = NULL;
    int64_t *index = NULL;
    int32_t *row = NULL, *col = NULL;
    plx_csr one, turned, sum;
    plx__arena *s = plx__scratch(ctx);
    check(plx__arena_f64(&x, s, n, dimensions));
    check(plx__arena_f64(&distance, s, n, k));
    check(plx__arena_i64(&index, s, n * k));
    check(plx__arena_i32(&row, s, n * (k + 1)));
    check(plx__arena_i32(&col, s, n * (k + 1)));
    check(plx__arena_f64(&val, s, n * (k + 1), 1));
    for (plx_index i = 0; i < n * dimensions; i++) x[i] = plx__rng_uniform(1, 1, (uint64_t)i);
    plx__points p = plx__points_dense(plx__cmat_of(x, n, dimensions));
    plx__knn_options o = {.k = k, .self = false};
    check(plx__knn(ctx, p, p, &o, index, distance));
    for (plx_index i = 0; i < n * k; i++) row[i] = (int32_t)(i / k), col[i] = (int32_t)index[i], val[i] = -0.5;
    for (plx_index i = 0; i < n; i++) row[n * k + i] = col[n * k + i] = (int32_t)i;
    check(plx__csr_from_triplets(&one, s, n, n, n * (k + 1), row, col, val));
    check(plx__csr_transpose(&turned, s, plx__ccsr(one)));
    check(plx__csr_add(&sum, s, 1.0, plx__ccsr(one), 1.0, plx__ccsr(turned)));
    for (plx_index i = 0; i < n; i++) {
        double degree = 0;
        int64_t diagonal = -1;
        for (int64_t q = sum.ptr[i]; q < sum.ptr[i + 1]; q++) {
            if (sum.col[q] == i) diagonal = q;
            else degree -= sum.val[q];
        }
        sum.val[diagonal] = degree + 0.01;
    }
    return sum;
}

typedef struct figures {
    double order, factor, solve; /* seconds */
    double entries;
    plx_mat x;
} figures;

static figures ours(plx_ccsr a, plx_cmat b)
{
    figures f = {0};
    plx__supernodes nodes;
    plx__sparse_chol *c = NULL;
    double t = processor_time();
    check(plx__supernodes_find(&nodes, plx__scratch(ctx), a));
    f.order = processor_time() - t;
    f.entries = (double)nodes.panel[nodes.count];
    t = processor_time();
    check(plx__sparse_chol_create(&c, plx__scratch(ctx), a, "graph"));
    f.factor = processor_time() - t - f.order;
    check(plx__mat_clone(&f.x, plx__scratch(ctx), b));
    t = processor_time();
    check(plx__sparse_chol_solve(c, ctx, f.x));
    f.solve = processor_time() - t;
    return f;
}

#ifdef PLX_HAVE_REFERENCES
static cholmod_sparse *lower_part(plx_ccsr a, cholmod_common *common)
{
    cholmod_sparse *s =
        cholmod_l_allocate_sparse((size_t)a.rows, (size_t)a.rows, (size_t)plx__nnz(a), 1, 1, 1, CHOLMOD_REAL, common);
    SuiteSparse_long *ptr = s->p, *row = s->i, to = 0;
    for (plx_index i = 0; i < a.rows; i++) {
        ptr[i] = to;
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1] && a.col[p] <= i; p++) {
            row[to] = a.col[p];
            ((double *)s->x)[to++] = a.val[p];
        }
    }
    ptr[a.rows] = to;
    return s;
}

static figures theirs(plx_ccsr a, plx_cmat b)
{
    figures f = {0};
    cholmod_common common;
    cholmod_l_start(&common);
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_AMD;
    cholmod_sparse *s = lower_part(a, &common);
    double t = processor_time();
    cholmod_factor *l = cholmod_l_analyze(s, &common);
    f.order = processor_time() - t;
    t = processor_time();
    cholmod_l_factorize(s, l, &common);
    f.factor = processor_time() - t;
    f.entries = l->is_super ? (double)l->xsize : (double)l->nzmax;
    cholmod_dense *rhs = cholmod_l_zeros((size_t)b.rows, (size_t)b.cols, CHOLMOD_REAL, &common);
    for (plx_index i = 0; i < b.rows; i++)
        for (plx_index j = 0; j < b.cols; j++) ((double *)rhs->x)[j * b.rows + i] = b.data[i * b.ld + j];
    t = processor_time();
    cholmod_dense *x = cholmod_l_solve(CHOLMOD_A, l, rhs, &common);
    f.solve = processor_time() - t;
    check(plx__arena_mat(&f.x, plx__scratch(ctx), b.rows, b.cols));
    plx__mat_transpose(f.x, plx__cmat_of(x->x, b.cols, b.rows));
    cholmod_l_free_dense(&x, &common);
    cholmod_l_free_dense(&rhs, &common);
    cholmod_l_free_factor(&l, &common);
    cholmod_l_free_sparse(&s, &common);
    cholmod_l_finish(&common);
    return f;
}
#endif

static void print_figures(const char *who, figures f)
{
    printf("  %-8s order %.2f s, factor %.2f s, 10 solutions %.3f s, %.1f million entries\n", who, f.order, f.factor,
           f.solve, f.entries * 1e-6);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 1;
    plx_index n = atoll(argv[1]), dimensions = atoll(argv[2]), k = atoll(argv[3]);
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = argc > 4 ? atoi(argv[4]) : 1;
    if (plx_context_create(&ctx, &o)) return 1;
    plx_csr a = laplacian(n, dimensions, k);
    plx_mat b;
    check(plx__arena_mat(&b, plx__scratch(ctx), n, 10));
    for (plx_index i = 0; i < 10 * n; i++) b.data[i] = plx__rng_normal(2, 1, (uint64_t)i);
    printf("sparse Cholesky, %lld points of %lld dimensions, %lld neighbours, %d threads (processor time):\n",
           (long long)n, (long long)dimensions, (long long)k, o.threads);
    figures f = ours(plx__ccsr(a), plx__cmat(b));
    print_figures("ours", f);
#ifdef PLX_HAVE_REFERENCES
    openblas_set_num_threads(1);
    figures g = theirs(plx__ccsr(a), plx__cmat(b));
    print_figures("CHOLMOD", g);
    double gap = 0, largest = 0;
    for (plx_index i = 0; i < 10 * n; i++) {
        gap = fmax(gap, fabs(f.x.data[i] - g.x.data[i]));
        largest = fmax(largest, fabs(g.x.data[i]));
    }
    printf("  ratio of the whole: %.2f; largest difference %.1e of the largest entry\n",
           (f.order + f.factor + f.solve) / (g.order + g.factor + g.solve), gap / largest);
#endif
    plx_context_destroy(ctx);
    return 0;
}
