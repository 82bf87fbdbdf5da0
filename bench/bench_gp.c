/*
 * Measures bct against the bare LAPACK and BLAS calls it cannot do without, in one run on the same threads, and its
 * weight-space form by growing numbers of samples. One line per claim.
 *
 * usage: bench_gp dense [SAMPLES=4000] [LABELLED=200] [THREADS]      two complete views, and one with gaps
 *        bench_gp evidence [SAMPLES=2000] [LABELLED=200] [THREADS]   maximum evidence of six hyper-parameters
 *        bench_gp pivots [SAMPLES=100000] [LABELLED=200] [THREADS]   two rbf views, 300 pivots; peak of the process
 */
#include <cblas.h>
#include <jansson.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "api/model_impl.h"
#include "core/rng.h"
#include "parallax/model.h"

enum { REPEATS = 3, FEATURES = 10, NEWTON_STEPS = 8 };

void openblas_set_num_threads(int threads);

static plx_context *ctx;
static int threads;

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_gp: %s\n", plx_context_error(ctx));
    exit(1);
}

/* ---- data ---- */

/* Two classes that differ by 1 in the first feature of both views; every `hole`-th sample lacks the second (0:
 * none). */
static plx_dataset *two_views(plx_index n, plx_index labelled, plx_index hole)
{
    static const char *const names[] = {"first", "second"};
    plx_dataset *d = NULL;
    plx__rng r = plx__rng_start(1, PLX__STREAM('g', 'p', 'b', 'n', 0));
    double *x = calloc((size_t)(n * FEATURES), sizeof *x);
    uint8_t *present = malloc((size_t)n);
    const char **label = calloc((size_t)n, sizeof *label);
    if (!x || !present || !label) exit(1);
    check(plx_dataset_create(&d, ctx, "two", n));
    for (int v = 0; v < 2; v++) {
        for (plx_index i = 0; i < n * FEATURES; i++) x[i] = plx__next_normal(&r);
        for (plx_index i = 0; i < n; i++) x[i * FEATURES] += (double)(i % 2);
        for (plx_index i = 0; i < n; i++) present[i] = v == 0 || !hole || i % hole != 0;
        check(plx_dataset_add_dense(d, ctx, names[v], PLX_VIEW_REAL, (plx_cmat){x, n, FEATURES, FEATURES}, NULL,
                                    present));
    }
    for (plx_index i = 0; i < labelled; i++) label[i * (n / labelled) + i % 2] = i % 2 ? "b" : "a";
    check(plx_dataset_set_labels(d, ctx, label));
    free(x);
    free(present);
    free(label);
    return d;
}

static plx_model *fit(const plx_dataset *d, const char *const *settings)
{
    plx_params *p = NULL;
    plx_model *m = NULL;
    check(plx_params_create(&p, ctx, "bct"));
    for (int i = 0; settings[i]; i += 2) check(plx_params_set(p, ctx, settings[i], settings[i + 1]));
    check(plx_fit(&m, ctx, "bct", d, p, NULL));
    plx_params_destroy(p);
    return m;
}

/* Best of several. *evaluations of the evidence, when there were any. */
static double fit_seconds(const plx_dataset *d, const char *const *settings, int repeats, double *evaluations)
{
    double best = INFINITY;
    for (int r = 0; r < repeats; r++) {
        double start = plx__now();
        plx_model *m = fit(d, settings);
        best = fmin(best, plx__now() - start);
        if (evaluations) *evaluations = (double)json_integer_value(json_object_get(m->facts.extra, "evaluations")) + 1;
        plx_model_destroy(m);
    }
    return best;
}

/* ---- bare calls ---- */

static double *spd(plx_index n)
{
    double *a = calloc((size_t)(n * n), sizeof *a);
    if (!a) exit(1);
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++) a[i * n + j] = 1.0 / (1.0 + (double)llabs(i - j)) + (i == j ? 3.0 : 0.0);
    return a;
}

static double potrf(plx_index n)
{
    double *a = spd(n), start = plx__now();
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)n, a, (int)n)) exit(1);
    start = plx__now() - start;
    free(a);
    return start;
}

/* What follows a factorisation: 'i' its inverse (potri), 't' that of the triangle (trtri), 's' a solve with n
 * columns by one triangle (trsm). */
static double after(plx_index n, char what)
{
    double *a = spd(n), *b = spd(n);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)n, a, (int)n)) exit(1);
    double start = plx__now();
    if (what == 'i') LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', (int)n, a, (int)n);
    else if (what == 't') LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', (int)n, a, (int)n);
    else
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)n, (int)n, 1.0, a, (int)n, b,
                    (int)n);
    start = plx__now() - start;
    free(a);
    free(b);
    return start;
}

/* C (m x n) = A B with `inner` terms. */
static double gemm(plx_index m, plx_index n, plx_index inner)
{
    double *a = calloc((size_t)(m * inner), sizeof *a), *b = calloc((size_t)(n * inner), sizeof *b);
    double *c = calloc((size_t)(m * n), sizeof *c);
    if (!a || !b || !c) exit(1);
    double start = plx__now();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)inner, 1.0, a, (int)m, b, (int)inner,
                0.0, c, (int)m);
    start = plx__now() - start;
    free(a);
    free(b);
    free(c);
    return start;
}

static double best_of(double (*f)(plx_index), plx_index n)
{
    double best = INFINITY;
    for (int r = 0; r < REPEATS; r++) best = fmin(best, f(n));
    return best;
}

static double best_after(plx_index n, char what)
{
    double best = INFINITY;
    for (int r = 0; r < REPEATS; r++) best = fmin(best, after(n, what));
    return best;
}

/* ---- parts ---- */

static void dense(plx_index n, plx_index l)
{
    static const char *const settings[] = {"kernel", "rbf", "width", "3", "amplitude", "1", NULL};
    plx_dataset *complete = two_views(n, l, 0), *holes = two_views(n, l, 10);
    double once = best_of(potrf, n), solve = best_after(n, 's');
    double pair = fit_seconds(complete, settings, REPEATS, NULL), short_cut = once + solve;
    printf("bct dense, 2 complete rbf views, n = %lld, %lld labelled: %.2f s; dpotrf + dtrsm for the variances %.2f s; "
           "ratio "
           "%.2f\n",
           (long long)n, (long long)l, pair, short_cut, pair / short_cut);
    plx_index part = n - n / 10 - (n % 10 != 0);
    double lacking = fit_seconds(holes, settings, REPEATS, NULL);
    double general = 2 * once + best_after(n, 'i') + best_after(n, 't') + best_of(potrf, part) + best_after(part, 'i');
    printf("bct dense, the second view missing for a tenth: %.2f s; 3 dpotrf, 2 dpotri, 1 dtrtri %.2f s; ratio %.2f\n",
           lacking, general, lacking / general);
    plx_dataset_destroy(complete);
    plx_dataset_destroy(holes);
}

/* What an evaluation with its gradient cannot do without: S_1 + S_2 factorised, T_1 and T_2 solved, K_c(:, l) = S_1
 * T_1; Newton steps, B and its inverse; T M and T M T' (one triangle) for both widths. */
static double bare_evaluation(plx_index n, plx_index l)
{
    double best = INFINITY;
    for (int r = 0; r < REPEATS; r++) {
        double sum = potrf(n) + 3 * gemm(n, l, n) /* two solves of two triangles each are two products */;
        for (int t = 0; t < NEWTON_STEPS; t++) sum += potrf(l);
        sum += after(l, 'i') + 2 * gemm(n, l, l) + gemm(n, n, l);
        best = fmin(best, sum);
    }
    return best;
}

static void evidence(plx_index n, plx_index l)
{
    static const char *const settings[] = {"kernel",   "rbf",      "width",    "3", "amplitude", "1",
                                           "optimize", "evidence", "max_iter", "8", NULL};
    plx_dataset *d = two_views(n, l, 0);
    double evaluations = 0, bare = bare_evaluation(n, l), seconds = fit_seconds(d, settings, 2, &evaluations);
    printf(
        "bct, evidence of 6 hyper-parameters, n = %lld, %lld labelled: %.2f s for %.0f evaluations; bare %.2f s; ratio "
        "%.2f\n",
        (long long)n, (long long)l, seconds, evaluations, bare * evaluations, seconds / (bare * evaluations));
    plx_dataset_destroy(d);
}

static void pivots(plx_index n, plx_index l)
{
    static const char *const settings[] = {"kernel", "rbf", "width", "3", "pivots", "300", NULL};
    struct rusage usage;
    plx_dataset *d = two_views(n, l, 10);
    double seconds = fit_seconds(d, settings, 1, NULL);
    getrusage(RUSAGE_SELF, &usage);
    printf("bct, 2 rbf views, 300 pivots, n = %lld, %lld labelled: %.2f s, %.2f GiB\n", (long long)n, (long long)l,
           seconds, (double)usage.ru_maxrss / 1048576.0);
    plx_dataset_destroy(d);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "dense";
    bool large = strcmp(part, "pivots") == 0, is_dense = strcmp(part, "dense") == 0;
    plx_index n = argc > 2 ? atoll(argv[2]) : large ? 100000 : is_dense ? 4000 : 2000;
    plx_index l = argc > 3 ? atoll(argv[3]) : 200;
    threads = argc > 4 ? atoi(argv[4]) : 2;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    if (plx_context_create(&ctx, &o) != PLX_OK) return 1;
    openblas_set_num_threads(threads);
    if (is_dense) dense(n, l);
    else if (large) pivots(n, l);
    else evidence(n, l);
    plx_context_destroy(ctx);
    return 0;
}
