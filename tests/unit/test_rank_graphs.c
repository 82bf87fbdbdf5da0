/* Graph methods by several ranks: the ring of the neighbour search against the search of one process, to the byte; fits
 * against those of one process, with LAPACK on gathered rows in the place of PETSc and SLEPc; what is refused. */
#include "rank_engine.h"

#include "core/ranks.h"
#include "core/slabs.h"
#include "linalg/knn_ring.h"

/* ---- the ring ---- */

typedef struct ring_trial {
    plx_index n, cols, k;
    plx__metric metric;
    bool sparse, holes;
} ring_trial;

/* Whole numbers, hence many ties, and equal rows. */
static void make_rows(double *x, const ring_trial *t)
{
    plx__rng rng = plx__rng_start(7, PLX__STREAM('r', 'i', 'n', 'g', 0));
    for (plx_index p = 0; p < t->n * t->cols; p++) x[p] = random_count(&rng, 4);
    for (plx_index j = 0; j < t->cols && t->n > 5; j++) x[5 * t->cols + j] = x[j];
}

static bool is_there(const ring_trial *t, plx_index i) { return !t->holes || i % 7 != 3; }

/* Rows begin .. end-1 and nothing else. */
static plx__points rows_of(plx_context *ctx, const ring_trial *t, plx_index begin, plx_index end, uint8_t **present)
{
    double *all = malloc(sizeof *all * (size_t)(t->n * t->cols));
    plx_mat m;
    plx_csr thin;
    make_rows(all, t);
    assert_ok(ctx, plx__arena_mat(&m, plx__scratch(ctx), end - begin, t->cols));
    assert_ok(ctx, plx__arena_u8(present, plx__scratch(ctx), end - begin));
    for (plx_index i = begin; i < end; i++) {
        memcpy(m.data + (i - begin) * m.ld, all + i * t->cols, sizeof *all * (size_t)t->cols);
        (*present)[i - begin] = is_there(t, i);
    }
    free(all);
    if (!t->sparse) return plx__points_dense(plx__cmat(m));
    assert_ok(ctx, plx__csr_from_dense(&thin, plx__scratch(ctx), plx__cmat(m)));
    return plx__points_csr(plx__ccsr(thin));
}

static void ring_work(rank_job *job)
{
    const ring_trial *t = job->arg;
    plx_context *ctx = job->ctx;
    plx__slabs cut = plx__slabs_even(ctx, t->n);
    plx_index begin = 0, end = 0;
    uint8_t *here = NULL, *everywhere = NULL;
    int64_t *index = NULL, *expected = NULL;
    double *distance = NULL, *lengths = NULL;
    plx__slabs_mine(&begin, &end, ctx, cut);
    plx__points own = rows_of(ctx, t, begin, end, &here), all = rows_of(ctx, t, 0, t->n, &everywhere);
    assert_ok(ctx, plx__arena_i64(&index, plx__scratch(ctx), t->n * t->k));
    assert_ok(ctx, plx__arena_i64(&expected, plx__scratch(ctx), t->n * t->k));
    assert_ok(ctx, plx__arena_f64(&distance, plx__scratch(ctx), t->n, t->k));
    assert_ok(ctx, plx__arena_f64(&lengths, plx__scratch(ctx), t->n, t->k));
    plx__knn_options o = {.k = t->k, .metric = t->metric, .present = t->holes ? here : NULL, .self = true};
    assert_ok(ctx, plx__knn_ring(ctx, cut, own, &o, index, distance));
    o.present = t->holes ? everywhere : NULL;
    assert_ok(ctx, plx__knn(ctx, all, all, &o, expected, lengths));
    assert_memory_equal(index, expected, sizeof *index * (size_t)(t->n * t->k));
    for (plx_index p = 0; p < t->n * t->k; p++)
        assert_true(index[p] < 0 ? isnan(distance[p]) : memcmp(&distance[p], &lengths[p], sizeof *lengths) == 0);
}

static void neighbours_are_those_of_one_process(void **state)
{
    static const ring_trial trials[] = {{61, 4, 5, PLX__EUCLID, false, false}, {61, 4, 5, PLX__COSINE, false, true},
                                        {61, 6, 5, PLX__EUCLID, true, true},   {61, 6, 5, PLX__COSINE, true, false},
                                        {61, 3, 30, PLX__EUCLID, false, true}, /* more than a rank has */
                                        {3, 3, 2, PLX__EUCLID, true, false},   /* ranks without rows */
                                        {600, 3, 4, PLX__EUCLID, false, false}};
    (void)state;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++)
        for (int ranks = 2; ranks <= MOST; ranks++) together(ranks, ring_work, &trials[k], "");
}

/* ---- ways to sum and share that a program brings along ---- */

/* By a ring, which the library uses for neither. */
static int ring_sum(double *x, int64_t count, void *payload)
{
    engine *e = payload;
    size_t bytes = sizeof *x * (size_t)count;
    double *going = malloc(bytes), *coming = malloc(bytes);
    e->calls++;
    memcpy(going, x, bytes);
    for (int step = 1; step < plx__ranks(e->ctx); step++) {
        assert_ok(e->ctx, plx__peers_pass(e->ctx, going, bytes, coming, bytes));
        for (int64_t i = 0; i < count; i++) x[i] += coming[i];
        memcpy(going, coming, bytes);
    }
    free(going);
    free(coming);
    return e->refuse;
}

static int ring_share(void *bytes, const size_t *offset, void *payload)
{
    engine *e = payload;
    int ranks = plx__ranks(e->ctx), have = plx__rank(e->ctx);
    e->calls++;
    for (int step = 1; step < ranks; step++) {
        int next = (have + ranks - 1) % ranks;
        assert_ok(e->ctx, plx__peers_pass(e->ctx, (char *)bytes + offset[have], offset[have + 1] - offset[have],
                                          (char *)bytes + offset[next], offset[next + 1] - offset[next]));
        have = next;
    }
    return e->refuse;
}

static void check_sharing(rank_job *job)
{
    plx_context *ctx = job->ctx;
    plx__slabs cut = plx__slabs_even(ctx, 23);
    plx_index begin = 0, end = 0, rows[23];
    double x[2] = {job->rank, 1};
    plx__slabs_mine(&begin, &end, ctx, cut);
    for (plx_index i = 0; i < 23; i++) rows[i] = i >= begin && i < end ? i : -1;
    assert_ok(ctx, plx__slabs_share(ctx, cut, rows, sizeof *rows, 1));
    for (plx_index i = 0; i < 23; i++) assert_int_equal(rows[i], i);
    assert_ok(ctx, plx__peers_add(ctx, x, 2));
    assert_true(x[0] == job->ranks * (job->ranks - 1) / 2 && x[1] == job->ranks); /* whole numbers: exact */
}

static plx_status add_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    (void)arg, (void)ctx;
    for (plx_index i = begin; i < end; i++) table[i % 2] += (double)i;
    return PLX_OK;
}

/* By the engine where nobody asks for the same bytes; the order of whole numbers does not show. */
static void check_any_order(rank_job *job)
{
    double table[2] = {-1, -1};
    job->ctx->deterministic = false;
    assert_ok(job->ctx, plx__slabs_sum(job->ctx, plx__slabs_cut(21, 2), 2, add_pane, NULL, table));
    assert_true(table[0] == 110 && table[1] == 100);
    job->ctx->deterministic = true;
    assert_ok(job->ctx, plx__slabs_sum(job->ctx, plx__slabs_cut(21, 2), 2, add_pane, NULL, table));
    assert_true(table[0] == 110 && table[1] == 100);
}

static void share_work(rank_job *job)
{
    engine e = {.ctx = job->ctx};
    plx_engines engines = PLX_ENGINES_INIT;
    double x = 1;
    check_sharing(job); /* by messages */
    engines.sum = ring_sum;
    engines.share = ring_share;
    engines.payload = &e;
    assert_ok(job->ctx, plx_context_set_engines(job->ctx, &engines));
    check_sharing(job);
    assert_int_equal(e.calls, 2);
    check_any_order(job);
    assert_int_equal(e.calls, 3);
    e.refuse = 1;
    assert_fails(job->ctx, plx__peers_add(job->ctx, &x, 1), PLX_E_IO, "a rank cannot be reached any more");
}

static void rows_and_sums_reach_all(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= MOST; ranks++) together(ranks, share_work, NULL, "");
}

/* ---- fits ---- */

enum { N = 230, COLS = 4, CLASSES = 3 };

typedef struct trial {
    const char *method;
    bool labelled, holes;
    const char *settings[6];
    const char *values; /* array whose numbers agree */
} trial;

/* Three groups that overlap, in two views; some samples have one view only, some none of the first half. */
static plx_dataset *make_data(plx_context *ctx, const trial *t)
{
    plx__rng rng = plx__rng_start(11, PLX__STREAM('g', 'r', 'p', 'h', 0));
    static const char *const names[] = {"a", "b"};
    plx_dataset *d = new_dataset(ctx, N);
    double x[N * COLS];
    uint8_t present[N];
    int label[N];
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < N; i++) {
            present[i] = !t->holes || i % 6 != v;
            for (int j = 0; j < COLS; j++)
                x[i * COLS + j] = (i % CLASSES == j ? 1.6 : 0.0) + plx__next_uniform(&rng) + plx__next_uniform(&rng);
        }
        add_dense(d, ctx, names[v], PLX_VIEW_REAL, x, COLS, present);
    }
    for (int i = 0; i < N; i++) label[i] = t->labelled && i % 11 == 0 ? i % CLASSES : -1;
    if (t->labelled) set_labels(d, ctx, label);
    return d;
}

/* What one process finds. */
typedef struct outcome {
    const trial *t;
    plx_index rows, cols;
    double *values;
    char **label;
} outcome;

static plx_model *fit_trial(plx_context *ctx, const trial *t)
{
    plx_dataset *d = make_data(ctx, t);
    plx_model *m = fit_model(ctx, t->method, d, t->settings);
    plx_dataset_destroy(d);
    return m;
}

static outcome fit_alone(const trial *t)
{
    plx_context *ctx = test_context(1);
    plx_context_set_seed(ctx, 3);
    plx_model *m = fit_trial(ctx, t);
    plx_cmat a = array_of(m, t->values);
    outcome o = {t, a.rows, a.cols, malloc(sizeof(double) * (size_t)(a.rows * a.cols)), calloc(N, sizeof *o.label)};
    for (plx_index i = 0; i < a.rows; i++)
        memcpy(o.values + i * a.cols, a.data + i * a.ld, sizeof(double) * (size_t)a.cols);
    for (plx_index i = 0; i < N; i++) o.label[i] = strdup(plx_prediction_label(plx_model_prediction(m), i));
    plx_model_destroy(m);
    plx_context_destroy(ctx);
    return o;
}

static void fit_work(rank_job *job)
{
    const outcome *o = job->arg;
    engine e = {.ctx = job->ctx};
    give_engine(&e, job->ctx);
    plx_model *m = fit_trial(job->ctx, o->t);
    plx_cmat a = array_of(m, o->t->values);
    assert_true(e.calls > 0);
    assert_int_equal(a.rows, o->rows);
    assert_int_equal(a.cols, o->cols);
    for (plx_index p = 0; p < a.rows * a.cols; p++) /* direct solvers, condition up to 1e6 */
        assert_true(fabs(a.data[p / a.cols * a.ld + p % a.cols] - o->values[p]) <= 1e-9);
    for (plx_index i = 0; i < N; i++)
        assert_string_equal(plx_prediction_label(plx_model_prediction(m), i), o->label[i]);
    plx_model_destroy(m);
}

static void fits_agree_with_one_process(void **state)
{
    static const trial trials[] = {
        {"lapreg", true, true, {NULL}, "scores"},
        {"nlapreg", true, false, {"graph_sym=and", "c_u=0.01", NULL}, "scores"},
        {"lapreg", true, false, {"view_weights=cv", "cv_steps=2", "cv_folds=2", NULL}, "scores"},
        {"nlapreg", false, false, {"task=cluster", "clusters=3", NULL}, "eigenvalues"},
        {"llereg", true, true, {NULL}, "scores"},
        {"llreg", true, false, {"model=kernel", NULL}, "scores"},
        {"llreg", false, false, {"task=cluster", "clusters=3", NULL}, "eigenvalues"},
        {"mvll", true, true, {NULL}, "scores"},
        {"spectral", false, false, {"clusters=3", NULL}, "eigenvalues"},
        {"spectral", false, true, {"clusters=3", "combine=joint", "affinity_k=60", NULL}, "eigenvalues"},
        {"spectral", false, true, {"clusters=3", "unknown=zero", "width=median", NULL}, "eigenvalues"},
        {"spectral", false, true, {"clusters=3", NULL}, "eigenvalues"},
        {"smd", false, true, {"clusters=3", "affinity_k=30", NULL}, "singular_values"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        outcome o = fit_alone(&trials[k]);
        for (int ranks = 2; ranks <= 3; ranks++) together(ranks, fit_work, &o, "");
        for (int i = 0; i < N; i++) free(o.label[i]);
        free(o.label);
        free(o.values);
    }
}

/* ---- what is refused ---- */

static void refused(plx_context *ctx, const char *method, bool labelled, const char *const *settings, plx_status status,
                    const char *said)
{
    const trial t = {.method = method, .labelled = labelled};
    plx_dataset *d = make_data(ctx, &t);
    plx_model *m = NULL;
    assert_fails(ctx, try_fit(&m, ctx, method, d, settings, NULL), status, said);
    plx_dataset_destroy(d);
}

static void refusal_work(rank_job *job)
{
    plx_context *ctx = job->ctx;
    engine e = {.ctx = ctx, .refuse = 2};
    plx_engines engines = PLX_ENGINES_INIT;
    engines.solve = fake_solve;
    engines.payload = &e;
    refused(ctx, "lapreg", true, NULL, PLX_E_UNSUPPORTED, "lapreg: several processes need solvers");
    assert_ok(ctx, plx_context_set_engines(ctx, &engines));
    refused(ctx, "spectral", false, SETTINGS("clusters=2"), PLX_E_UNSUPPORTED, "spectral: several processes need");
    engines.eigen = fake_eigen;
    assert_ok(ctx, plx_context_set_engines(ctx, &engines));
    refused(ctx, "lapreg", true, NULL, PLX_E_INTERNAL, "lapreg: the solver of all processes failed: no");
    refused(ctx, "spectral", false, SETTINGS("clusters=2"), PLX_E_INTERNAL, "failed: none");
    e.refuse = 1;
    refused(ctx, "lapreg", true, SETTINGS("c_u=0.1"), PLX_E_NUMERIC, "failed: no");
    e.refuse = 0;
    e.unfinished = 1;
    refused(ctx, "spectral", false, SETTINGS("clusters=2"), PLX_E_NUMERIC, "not all of 1 eigenvalues converged");
    refused(ctx, "lapreg", true, SETTINGS("knn=approx"), PLX_E_UNSUPPORTED, "knn = approx (view 'a')");
    refused(ctx, "spectral", false, SETTINGS("clusters=2", "affinity_k=0"), PLX_E_UNSUPPORTED, "affinity_k = 0");
    refused(ctx, "smd", false, SETTINGS("clusters=2", "affinity_k=0"), PLX_E_UNSUPPORTED, "affinity_k = 0");
    refused(ctx, "lapsvm", true, NULL, PLX_E_UNSUPPORTED, "lapsvm is not distributed");
    refused(ctx, "laprls", true, SETTINGS("kernel=rbf"), PLX_E_UNSUPPORTED, "laprls: kernel = rbf (view 'a') is not");
    const trial t = {.method = "lapreg", .labelled = true, .settings = {NULL}};
    plx_model *m = fit_trial(ctx, &t); /* an unfinished system is an outcome */
    assert_int_equal(plx_model_converged(m), 0);
    assert_int_equal(plx_model_iterations(m), 4);
    plx_model_destroy(m);
    engines.struct_size = 1;
    assert_fails(ctx, plx_context_set_engines(ctx, &engines), PLX_E_ARG, "PLX_ENGINES_INIT");
}

static void refusals(void **state)
{
    (void)state;
    together(2, refusal_work, NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_those_of_one_process),
        cmocka_unit_test(rows_and_sums_reach_all),
        cmocka_unit_test(fits_agree_with_one_process),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
