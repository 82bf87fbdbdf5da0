/* Several ranks as threads of one process, joined by pipes: sums in the order of the ranks, rows shared, and fits whose
 * model files are those of a single process. */
#include "rank_helpers.h"

#include "core/ranks.h"
#include "core/slabs.h"
#include "linalg/lowrank.h"
#include "parallax/params.h"

/* ---- sums ---- */

enum { WIDTH = 70000 }; /* several segments */

static double value(plx_index i, plx_index j) { return (i % 3 == 0 ? 1e9 : 1.0 / (double)(i + 2)) / (double)(j + 1); }

static plx_status add(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    (void)arg, (void)ctx;
    for (plx_index i = begin; i < end; i++)
        for (plx_index j = 0; j < WIDTH; j++) table[j] += value(i, j);
    return PLX_OK;
}

static void sum_work(rank_job *job)
{
    plx__slabs cut = plx__slabs_cut(95, 10); /* ten slabs, the last one short */
    double *table = malloc(WIDTH * sizeof *table);
    int64_t counts[2] = {job->rank, 1};
    plx_index begin = 0, end = 0, rows[19];
    assert_ok(job->ctx, plx__slabs_sum(job->ctx, cut, WIDTH, add, NULL, table));
    assert_memory_equal(table, job->arg, WIDTH * sizeof *table);
    assert_ok(job->ctx, plx__peers_total(job->ctx, counts, 2));
    assert_int_equal(counts[0], job->ranks * (job->ranks - 1) / 2);
    assert_int_equal(counts[1], job->ranks);
    plx__slabs_mine(&begin, &end, job->ctx, cut);
    for (plx_index g = 0; g < 19; g++) rows[g] = -1;
    for (plx_index g = begin / 5; g < (end + 4) / 5; g++) rows[g] = g; /* a row for five samples */
    assert_ok(job->ctx, plx__slabs_share(job->ctx, cut, rows, sizeof *rows, 5));
    for (plx_index g = 0; g < 19; g++) assert_int_equal(rows[g], g);
    /* each link but the last carries the table once in either direction; the rest of the traffic is small */
    int64_t links = (job->rank > 0) + (job->rank < job->ranks - 1);
    int64_t sent = plx_context_bytes_sent(job->ctx) - links * WIDTH * (int64_t)sizeof(double);
    assert_true(sent >= 0 && sent < 4096);
    free(table);
}

static void sums_are_those_of_one_process(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double *alone = malloc(WIDTH * sizeof *alone);
    assert_ok(ctx, plx__slabs_sum(ctx, plx__slabs_cut(95, 10), WIDTH, add, NULL, alone));
    for (int ranks = 1; ranks <= MOST; ranks++) together(ranks, sum_work, alone, "");
    free(alone);
    plx_context_destroy(ctx);
}

/* ---- pivots ---- */

enum { SAMPLES = 95, COMMON = 61, DEEP = 17 };

typedef struct kernel_rows {
    plx_index n, at[SAMPLES];
    double x[SAMPLES][3];
} kernel_rows;

static plx_status rbf_column(void *arg, plx_context *ctx, plx_index j, plx_index begin, plx_index end, double *out)
{
    const kernel_rows *k = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) out[i - begin] = exp(-plx__dist_sq(k->x[i], k->x[j], 3));
    return PLX_OK;
}

/* Some of the samples have a row; two of three rows are there twice, so that pivots tie. */
static void make_rows(kernel_rows *k)
{
    plx__rng rng = plx__rng_start(5, PLX__STREAM('p', 'i', 'v', 't', 0));
    k->n = COMMON;
    for (plx_index i = 0; i < COMMON; i++) {
        k->at[i] = i + i / 2;
        for (int c = 0; c < 3; c++) k->x[i][c] = i % 3 == 1 ? k->x[i - 1][c] : 0.5 * plx__next_normal(&rng);
    }
}

typedef struct found_pivots {
    plx_index pivot[DEEP], rank;
    double z[COMMON][DEEP], corner[DEEP][DEEP], residual;
} found_pivots;

static void find_pivots(found_pivots *out, plx_context *ctx, const plx__pivot_options *o)
{
    kernel_rows k;
    double diagonal[COMMON];
    plx__pivoted p;
    plx_index begin = 0, end = COMMON;
    make_rows(&k);
    plx__slab_rows rows = {plx__slabs_cut(SAMPLES, 10), COMMON, k.at};
    plx__pivot_options divided = *o;
    divided.rows = &rows;
    plx__slab_rows_mine(&begin, &end, ctx, &rows);
    for (plx_index i = 0; i < COMMON; i++) diagonal[i] = i >= begin && i < end ? 1.0 : NAN; /* not to be looked at */
    assert_ok(ctx, plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, diagonal, COMMON, rbf_column, &k, &divided));
    memset(out, 0, sizeof *out);
    out->rank = p.rank;
    out->residual = p.residual;
    for (plx_index r = 0; r < p.rank; r++) {
        out->pivot[r] = p.pivot[r];
        memcpy(out->corner[r], p.corner.data + r * p.rank, (size_t)p.rank * sizeof(double));
    }
    for (plx_index i = begin; i < end; i++) memcpy(out->z[i], p.z.data + i * p.z.ld, (size_t)p.rank * sizeof(double));
    assert_ok(ctx, plx__slab_rows_share(ctx, &rows, out->z, sizeof out->z[0]));
}

static const plx__pivot_options pivot_options[] = {{.max_rank = DEEP},
                                                   {.threshold = 0.3, .stop = PLX__STOP_SUM, .max_rank = DEEP},
                                                   {.threshold = 0.7, .max_rank = DEEP}};

static void pivot_work(rank_job *job)
{
    for (int k = 0; k < 3; k++) {
        found_pivots own;
        find_pivots(&own, job->ctx, &pivot_options[k]);
        assert_memory_equal(&own, (const found_pivots *)job->arg + k, sizeof own);
    }
}

/* Against the factorisation that no process divides, and among ranks the bytes of one process. */
static void pivots_are_those_of_one_process(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    found_pivots alone[3];
    kernel_rows k;
    double ones[COMMON];
    make_rows(&k);
    for (plx_index i = 0; i < COMMON; i++) ones[i] = 1.0;
    for (int o = 0; o < 3; o++) {
        plx__pivoted p;
        find_pivots(&alone[o], ctx, &pivot_options[o]);
        assert_ok(ctx,
                  plx__pivoted_cholesky(&p, plx__scratch(ctx), ctx, ones, COMMON, rbf_column, &k, &pivot_options[o]));
        assert_true(p.rank == alone[o].rank && p.rank > 1 && (p.rank < DEEP) == (o > 0));
        for (plx_index r = 0; r < p.rank; r++) {
            assert_int_equal(p.pivot[r], alone[o].pivot[r]);
            assert_true(p.pivot[r] % 3 != 1); /* of two equal rows the first */
        }
        for (plx_index i = 0; i < COMMON; i++)
            assert_memory_equal(p.z.data + i * p.z.ld, alone[o].z[i], (size_t)p.rank * sizeof(double));
        assert_close(p.residual, alone[o].residual, 1e-12);
    }
    for (int ranks = 1; ranks <= MOST; ranks++) together(ranks, pivot_work, alone, "");
    plx_context_destroy(ctx);
}

/* ---- fits ---- */

typedef struct trial {
    const char *method;
    bool labelled, real;
    const char *settings[9]; /* in pairs */
} trial;

#ifdef PLX_CHECKED
enum { PANES = 6, ONLY_SOME = 0 };
#else
enum { PANES = 2, ONLY_SOME = 1 }; /* panes are long: a few fits, the others where they are short */
#endif
enum { N = PANES * PLX__PANE_ROWS + 7, COLS = 5, K = 2 };

/* Some samples lack a view. */
static bool has_holes(const trial *t)
{
    static const char *const methods[] = {"cca", "bct", "kcca", "corls", "gp"};
    for (int m = 0; m < 5; m++)
        if (strcmp(t->method, methods[m]) == 0) return true;
    return false;
}

/* Every second sample is labelled where only those count. */
static int label_every(const trial *t)
{
    bool pivots = t->settings[4] && strcmp(t->settings[4], "pivots") == 0;
    return pivots && (strcmp(t->method, "rls") == 0 || strcmp(t->method, "gp") == 0) ? 2 : 50;
}

static plx_dataset *make_data(plx_context *ctx, const trial *t)
{
    int every = label_every(t);
    plx__rng rng = plx__rng_start(5, PLX__STREAM('p', 'e', 'e', 'r', 0));
    double *x = malloc(sizeof *x * N * COLS);
    int *label = malloc(sizeof *label * N);
    uint8_t *present = malloc(N);
    plx_dataset *d = new_dataset(ctx, N);
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < COLS; j++)
                x[i * COLS + j] = random_count(&rng, 3) + (j % K == i % K ? random_count(&rng, 3) : 0);
        for (int i = 0; i < N; i++) present[i] = !has_holes(t) || i % (5 + v) != 2;
        if (v) add_dense(d, ctx, "b", t->real ? PLX_VIEW_REAL : PLX_VIEW_COUNTS, x, COLS, present);
        else add_thin(d, ctx, "a", PLX_VIEW_COUNTS, x, COLS, present);
    }
    for (int i = 0; i < N; i++) label[i] = t->labelled && i % every == 1 ? i / every % K : -1;
    if (t->labelled) set_labels(d, ctx, label);
    free(x);
    free(label);
    free(present);
    return d;
}

static void fit_work(rank_job *job)
{
    const trial *t = job->arg;
    char path[128];
    plx_dataset *d = make_data(job->ctx, t);
    plx_params *p = NULL;
    plx_model *m = NULL;
    snprintf(path, sizeof path, "%s/%d_%d.plx", job->folder, job->ranks, job->rank);
    assert_ok(job->ctx, plx_params_create(&p, job->ctx, t->method));
    for (int k = 0; t->settings[k]; k += 2)
        assert_ok(job->ctx, plx_params_set(p, job->ctx, t->settings[k], t->settings[k + 1]));
    assert_ok(job->ctx, plx_fit(&m, job->ctx, t->method, d, p, NULL));
    assert_ok(job->ctx, plx_model_save(job->ctx, m, path));
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
}

static void assert_same_model(const char *folder, int ranks, int rank)
{
    char alone[128], together[128];
    snprintf(alone, sizeof alone, "%s/1_0.plx", folder);
    snprintf(together, sizeof together, "%s/%d_%d.plx", folder, ranks, rank);
    assert_same_files(alone, together);
}

static void fits_are_those_of_one_process(void **state)
{
    static const trial trials[] = {
        {"coem", true, false, {"max_iter", "3", NULL}},
        {"nb", true, false, {NULL}},
        {"coem", true, true, {"max_iter", "2", NULL}}, /* a gaussian view: every rank does it all */
        {"mvkmeans", true, false, {"max_iter", "3", NULL}},
        {"coem", false, false, {"clusters", "2", "restarts", "2", NULL}},
        {"mvkmeans", true, false, {"max_iter", "2", "assignment", "maxagree", NULL}},
        {"mvplsa", true, false, {"max_iter", "3", "topics", "3", NULL}},
        {"mvkmeans", true, false, {"max_iter", "2", "assignment", "cotrain", NULL}},
        {"cotrain", true, false, {"rounds", "9", "pool", "1", NULL}}, /* fewer entries than features */
        {"cotrain", true, false, {"rounds", "2", "pool", "0", NULL}},
        {"rls", true, false, {"solver", "primal", NULL}}, /* normal equations */
        {"rls", true, true, {"view", "b", NULL}},         /* few labels: a small kernel matrix */
        {"svm", true, false, {"solver", "primal", "view", "a", NULL}},
        {"svm", true, true, {"kernel", "rbf", NULL}},
        {"rls", true, false, {"solver", "primal", "view", "a", "kernel", "cosine", NULL}},
        {"cca", false, true, {"solver", "iterative", "dim", "2", NULL}},
        {"cca", false, true, {"solver", "iterative", "dim", "2", "missing", "pairwise", NULL}},
        {"cca", false, true, {"dim", "2", NULL}}, /* exact */
        {"colr", true, true, {"gem_iter", "3", NULL}},
        {"laprls", true, true, {"knn", "exact", "solver", "primal", NULL}}, /* left out where panes are long */
        {"colr", true, false, {"hyper", "fixed", "gem_iter", "3", "consensus", "all", NULL}},
        {"bct", true, true, {"pivots", "1", "kernel", "rbf", "width", "2", NULL}}, /* inference by the weights */
        {"bct", true, true, {"lowrank", "exact", "zero_rows", "present", NULL}},
        {"bct", true, true, {"pivots", "4", "kernel", "rbf", "optimize", "evidence", "max_iter", "3"}},
        {"kcca", false, true, {"gs_max", "4", "dim", "2", "retrieval", "0", NULL}},
        {"kcca",
         false,
         true,
         {"kernel", "rbf", "width", "3", "gs_max", "7", "dim", "2", NULL}}, /* means of all pairs */
        {"kcca", false, true, {"kernel", "rbf", "width", "3", "missing", "pairwise", "gs_max", "5"}},
        {"rls", true, true, {"kernel", "rbf", "width", "3", "pivots", "4", NULL}},
        {"corls", true, true, {"kernel", "rbf", "width", "3", "pivots", "4", "orthogonal", "1"}},
        {"corls", true, true, {"solver", "primal", NULL}},
        {"gp", true, true, {"kernel", "rbf", "width", "3", "pivots", "4", "combine", "sum"}},
        {"gp", true, true, {"kernel", "rbf", "width", "3", "pivots", "4", "optimize", "none"}},
        {"cca", false, true, {"dim", "2", "solver", "svd", NULL}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k += ONLY_SOME ? 3 : 1) {
        char folder[64];
        make_directory(folder);
        for (int ranks = 1; ranks <= (ONLY_SOME ? 3 : MOST); ranks += ranks == 3 ? 2 : 1) {
            together(ranks, fit_work, &trials[k], folder);
            for (int r = 0; r < ranks; r++) assert_same_model(folder, ranks, r);
        }
        remove_directory(folder);
    }
}

static int broken(int to, const void *bytes, size_t count, void *payload)
{
    (void)to, (void)bytes, (void)count, (void)payload;
    return 1;
}

static int broken_too(int from, void *bytes, size_t count, void *payload)
{
    (void)from, (void)bytes, (void)count, (void)payload;
    return 1;
}

static void refused(plx_context *ctx, plx_dataset *d, const char *method, const char *key, const char *value,
                    const char *said)
{
    plx_params *p = NULL;
    plx_model *m = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, method));
    assert_ok(ctx, plx_params_set(p, ctx, key, value));
    assert_fails(ctx, plx_fit(&m, ctx, method, d, p, NULL), PLX_E_UNSUPPORTED, said);
    plx_params_destroy(p);
}

static void refusals(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_peers p = PLX_PEERS_INIT;
    const trial t = {"nb", true, false, {NULL}};
    plx_model *m = NULL;
    p.rank = 2;
    p.ranks = 2;
    assert_fails(ctx, plx_context_set_peers(ctx, &p), PLX_E_ARG, "rank 2");
    p.rank = 0;
    assert_fails(ctx, plx_context_set_peers(ctx, &p), PLX_E_ARG, "functions");
    p.send = broken;
    p.receive = broken_too;
    assert_ok(ctx, plx_context_set_peers(ctx, &p));
    plx_dataset *d = make_data(ctx, &t);
    assert_fails(ctx, plx_fit(&m, ctx, "nb", d, NULL, NULL), PLX_E_IO, "rank 1 cannot be reached");
    assert_fails(ctx, plx_fit(&m, ctx, "gp", d, NULL, NULL), PLX_E_UNSUPPORTED, "gp: pivots = 0 is not distributed");
    refused(ctx, d, "rls", "kernel", "rbf", "rls: kernel = rbf (view 'joined') is not distributed");
    refused(ctx, d, "rls", "solver", "cg", "rls: solver = cg is not distributed");
    refused(ctx, d, "colr", "graph", "rbf", "colr: graph = rbf is not distributed");
    refused(ctx, d, "cca", "tau", "0", "cca: tau = 0 with solver = exact is not distributed");
    refused(ctx, d, "bct", "kernel", "rbf", "bct: pivots = 0 with these kernels is not distributed");
    refused(ctx, d, "corls", "kernel", "rbf", "corls: the kernel of view 'a' is not distributed");
    refused(ctx, d, "corls", "solver", "dense", "corls: solver = dense is not distributed");
    refused(ctx, d, "bct", "task", "kernel", "bct: task = kernel is not distributed");
    refused(ctx, d, "cotrain", "base", "svm", "base = svm is not distributed: one process has to fit it; base = nb is");
    assert_ok(ctx, plx_context_set_peers(ctx, NULL));
    assert_ok(ctx, plx_fit(&m, ctx, "nb", d, NULL, NULL));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_one_process),
        cmocka_unit_test(pivots_are_those_of_one_process),
        cmocka_unit_test(fits_are_those_of_one_process),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
