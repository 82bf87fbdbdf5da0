/* Graph methods on data of which every rank has its own rows: graphs and local models to the byte those of a single
 * process, model files those of ranks that have all rows, and memory as it was stated. */
#include "divided_helpers.h"
#include "rank_engine.h"

enum { N = 233, CLASSES = 3, COLS = 5, MANY_COLS = 2100, SMALL_CHANGE = 64 << 10 };

/* What the views are. */
typedef enum shape {
    PLAIN = 0, /* a: sparse real numbers; b: dense ones; rows are missing, some are zero, some samples have neither */
    COMPLETE,  /* every sample has both */
    LONG,      /* many samples, dense only */
    BROAD,     /* more columns */
    MANY,      /* a has more columns than a matrix of their products is formed for */
    SIMILAR    /* b is a kernel view */
} shape;

typedef struct case_of {
    const char *method;
    const char *settings[12]; /* names and values */
    shape shape;
    bool clusters, gathers;
    bool sums; /* the model of a single process */
} case_of;

static int samples_of(shape s) { return s == LONG ? 1100 : s == BROAD ? 500 : s == MANY ? 600 : N; }
static int columns_of(shape s, int v) { return s == MANY && v == 0 ? MANY_COLS : s == BROAD ? 700 : COLS + v; }

static bool is_missing(shape s, int v, int i)
{
    if (s == COMPLETE || s == LONG) return false;
    return i % 17 == 3 || (v == 0 && i % 13 == 5) || (v == 1 && s != SIMILAR && i % 11 == 8);
}

static void fill(double *x, int v, int n, int cols)
{
    plx__rng rng = plx__rng_start(5, PLX__STREAM('d', 'g', 'r', 'a', v));
    memset(x, 0, sizeof *x * (size_t)n * (size_t)cols);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < cols && cols < MANY_COLS; j++) {
            double u = plx__next_uniform(&rng) + plx__next_uniform(&rng) - 0.7;
            x[i * cols + j] = (v == 0 && u < 0.1 ? 0 : u) + (j % CLASSES == i % CLASSES ? 0.9 : 0);
            if (i % 29 == 7) x[i * cols + j] = 0; /* a row that says nothing */
        }
        for (int e = 0; e < 6 && cols == MANY_COLS; e++)
            x[(size_t)i * (size_t)cols + (size_t)((int)random_count(&rng, 40) * CLASSES + i % CLASSES)] += 1;
    }
}

/* Similarities of samples on a circle. */
static void fill_similar(double *x, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i * n + j] = exp(-0.1 * pow(i % CLASSES - j % CLASSES, 2)) / (1 + fabs((double)(i - j)));
}

static void write_data(plx_context *ctx, shape s, const char *path)
{
    static const char *const names[] = {"a", "b"};
    int n = samples_of(s);
    plx_dataset *d = new_dataset(ctx, n);
    int *label = malloc(sizeof *label * (size_t)n);
    uint8_t *present = malloc((size_t)n);
    for (int v = 0; v < 2; v++) {
        bool similar = v == 1 && s == SIMILAR;
        int cols = similar ? n : columns_of(s, v);
        double *x = malloc(sizeof *x * (size_t)n * (size_t)cols);
        for (int i = 0; i < n; i++) present[i] = !is_missing(s, v, i);
        if (similar) fill_similar(x, n);
        else fill(x, v, n, cols);
        if (v == 0 && s != LONG) add_thin(d, ctx, names[v], PLX_VIEW_REAL, x, cols, present);
        else add_dense(d, ctx, names[v], similar ? PLX_VIEW_KERNEL : PLX_VIEW_REAL, x, cols, present);
        free(x);
    }
    for (int i = 0; i < n; i++) label[i] = i % 7 == 0 ? i % CLASSES : -1;
    set_labels(d, ctx, label);
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    plx_dataset_destroy(d);
    free(label);
    free(present);
}

/* ---- one rank ---- */

static bool sums_rows(const case_of *c) { return strcmp(c->method, "laprls") == 0; }
static bool uses_models(const case_of *c) { return strcmp(c->method, "llreg") == 0; }

/* The rows that a fit says are this rank's. */
typedef struct share {
    bool told;
    long long begin, end, n;
} share;

static void hear_of_share(plx_log_level level, const char *text, void *heard_)
{
    share *heard = heard_;
    (void)level;
    if (sscanf(text, "rows %lld to %lld of %lld are", &heard->begin, &heard->end, &heard->n) == 3) heard->told = true;
}

static plx_model *fit_case(rank_job *job, const case_of *c, const plx_dataset *d)
{
    const char *arrays[] = {sums_rows(c) ? "laplacian" : "L", "A"};
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = NULL;
    plx_model *m = NULL;
    o.arrays = arrays;
    o.n_arrays = c->shape == BROAD ? 0 : uses_models(c) ? 2 : 1;
    assert_ok(job->ctx, plx_params_create(&p, job->ctx, c->method));
    for (int k = 0; c->settings[k]; k += 2)
        assert_ok(job->ctx, plx_params_set(p, job->ctx, c->settings[k], c->settings[k + 1]));
    assert_ok(job->ctx, plx_fit(&m, job->ctx, c->method, d, p, &o));
    plx_params_destroy(p);
    return m;
}

/* What a rank says it works on is what the cut of the method gives it, and no more. */
static void assert_share(const rank_job *job, const case_of *c, const share *heard)
{
    plx_index begin = 0, end = 0;
    assert_int_equal(heard->told, job->ranks > 1 && !c->gathers);
    if (!heard->told) return;
    plx__slabs cut = sums_rows(c) ? plx__slabs_cut(heard->n, PLX__PANE_ROWS) : plx__slabs_even(job->ctx, heard->n);
    plx__slabs_mine(&begin, &end, job->ctx, cut);
    assert_true(heard->begin == begin && heard->end == end);
}

static void save(const rank_job *job, const plx_model *m, const char *which, char path[128])
{
    snprintf(path, 128, "%s/%d_%d_%s.plx", job->folder, job->ranks, job->rank, which);
    assert_ok(job->ctx, plx_model_save(job->ctx, m, path));
}

/* Matrices of single processes and of ranks have the same bytes. */
static void write_matrix(const rank_job *job, const case_of *c, const plx_model *m)
{
    const char *names[] = {sums_rows(c) ? "laplacian" : "L", "A"};
    char path[128];
    snprintf(path, sizeof path, "%s/%d_%d.matrix", job->folder, job->ranks, job->rank);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int k = 0; k < (uses_models(c) ? 2 : 1); k++) {
        plx_cmat a = array_of(m, names[k]);
        double largest = 0;
        for (plx_index i = 0; i < a.rows; i++) {
            assert_int_equal(fwrite(a.data + i * a.ld, sizeof *a.data, (size_t)a.cols, f), a.cols);
            for (plx_index j = 0; j < a.cols; j++) largest = fmax(largest, fabs(a.data[i * a.ld + j]));
        }
        assert_true(a.rows > 0 && largest > 0);
    }
    fclose(f);
}

static void write_scores(const rank_job *job, const case_of *c, const plx_model *m)
{
    plx_cmat a = array_of(m, c->clusters ? "eigenvalues" : "scores");
    char path[128];
    snprintf(path, sizeof path, "%s/%d_%d.scores", job->folder, job->ranks, job->rank);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index j = 0; j < a.cols; j++) fprintf(f, "%a\n", a.data[i * a.ld + j]);
    fclose(f);
}

static void fit_work(rank_job *job)
{
    const case_of *c = job->arg;
    engine e = {.ctx = job->ctx};
    char own[128], all[128];
    share heard = {0};
    give_engine(&e, job->ctx);
    plx_context_set_log(job->ctx, PLX_LOG_DEBUG, hear_of_share, &heard);
    plx_dataset *d = read_here(job, 1);
    plx_model *m = fit_case(job, c, d);
    assert_share(job, c, &heard);
    save(job, m, "own", own);
    write_matrix(job, c, m);
    write_scores(job, c, m);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    d = read_here(job, 0);
    m = fit_case(job, c, d);
    save(job, m, "all", all);
    assert_same_files(own, all);
    assert_int_equal(e.calls > 0, job->ranks > 1 && !c->sums);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
}

/* ---- all of them ---- */

static void assert_close_scores(const char *folder, int ranks)
{
    char path[128];
    double x = 0, y = 0;
    plx_index count = 0;
    snprintf(path, sizeof path, "%s/1_0.scores", folder);
    FILE *f = fopen(path, "r");
    snprintf(path, sizeof path, "%s/%d_%d.scores", folder, ranks, ranks - 1);
    FILE *g = fopen(path, "r");
    assert_true(f && g);
    for (; fscanf(f, "%la", &x) == 1; count++) {
        assert_int_equal(fscanf(g, "%la", &y), 1);
        assert_true(fabs(x - y) <= 1e-9); /* direct solvers, condition up to 1e6 */
    }
    assert_true(count > 0 && fscanf(g, "%la", &y) != 1);
    fclose(f);
    fclose(g);
}

static void assert_like_one_process(const case_of *c, const char *folder, int ranks)
{
    char alone[128], many[128];
    for (int r = 0; r < ranks; r++) {
        snprintf(alone, sizeof alone, "%s/1_0.matrix", folder);
        snprintf(many, sizeof many, "%s/%d_%d.matrix", folder, ranks, r);
        assert_same_files(alone, many);
        if (!c->sums) continue;
        snprintf(alone, sizeof alone, "%s/1_0_own.plx", folder);
        snprintf(many, sizeof many, "%s/%d_%d_own.plx", folder, ranks, r);
        assert_same_files(alone, many);
    }
    assert_close_scores(folder, ranks);
}

static void describe(const case_of *c)
{
    print_message("  %s", c->method);
    for (int s = 0; c->settings[s]; s += 2) print_message(" %s=%s", c->settings[s], c->settings[s + 1]);
    print_message("\n");
}

static void assert_all(const case_of *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        char folder[64], path[128];
        plx_context *ctx = test_context(1);
        describe(&list[k]);
        make_directory(folder);
        snprintf(path, sizeof path, "%s/data.h5mu", folder);
        write_data(ctx, list[k].shape, path);
        plx_context_destroy(ctx);
        for (int ranks = 1; ranks <= (list[k].shape == LONG ? 3 : MOST); ranks += ranks == 3 ? 2 : 1) {
            together(ranks, fit_work, &list[k], folder);
            assert_like_one_process(&list[k], folder, ranks);
        }
        remove_directory(folder);
    }
}

static void graphs_are_those_of_one_process(void **state)
{
    static const case_of cases[] = {
        {.method = "lapreg"},
        {.method = "lapreg", .settings = {"graph_weights", "cosine", "scale", "none"}},
        {.method = "lapreg", .settings = {"graph_weights", "cosine", "graph_metric", "cosine"}},
        {.method = "lapreg", .settings = {"graph_weights", "heat", "graph_k", "4"}, .shape = COMPLETE},
        {.method = "lapreg", .settings = {"view_weights", "cv", "cv_steps", "2", "cv_folds", "2"}},
        {.method = "nlapreg", .settings = {"graph_weights", "cosine", "graph_sym", "and", "c_u", "0.01"}},
        {.method = "nlapreg", .settings = {"task", "cluster", "clusters", "3"}, .shape = COMPLETE, .clusters = true},
        {.method = "lapreg", .settings = {"c_u", "0.01"}, .shape = SIMILAR, .gathers = true},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

static void local_models_are_those_of_one_process(void **state)
{
    static const case_of cases[] = {
        {.method = "llereg"},
        {.method = "llereg", .settings = {"nonneg", "1", "neighbours", "4", "metric", "cosine"}, .shape = COMPLETE},
        {.method = "llreg"},
        {.method = "llreg", .shape = LONG},
        {.method = "llreg", .settings = {"lambda_scale", "none", "scale", "none"}},
        {.method = "llreg", .settings = {"model", "kernel", "kernel", "rbf", "width", "2"}, .shape = LONG},
        {.method = "llreg", .settings = {"model", "kernel", "kernel", "rbf", "width", "2", "expansion", "full"}},
        {.method = "llreg", .settings = {"model", "kernel", "kernel", "local", "graph_scale_k", "3"}},
        {.method = "llreg", .settings = {"model", "kernel", "kernel", "cosine"}},
        {.method = "llreg", .settings = {"model", "kernel", "kernel", "rbf"}, .gathers = true},
        {.method = "llreg", .settings = {"task", "cluster", "clusters", "3"}, .shape = COMPLETE, .clusters = true},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

static void classifiers_are_those_of_one_process(void **state)
{
    static const case_of cases[] = {
        {.method = "laprls", .sums = true},
        {.method = "laprls", .settings = {"graph_weights", "cosine", "view", "a"}, .sums = true},
        {.method = "laprls",
         .settings = {"graph_weights", "cosine", "view", "b", "kernel", "cosine", "scale", "none"},
         .sums = true},
        {.method = "laprls", .settings = {"graph_weights", "local", "view", "concat"}, .sums = true},
        {.method = "laprls", .settings = {"solver", "primal"}, .shape = MANY, .sums = true},
        {.method = "laprls", .settings = {"solver", "primal", "graph_weights", "cosine"}, .shape = MANY, .sums = true},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

/* ---- a model that cannot be ---- */

/* One rank meets it, all of them tell it. */
static void singular_work(rank_job *job)
{
    const case_of c = {.method = "llreg"};
    engine e = {.ctx = job->ctx};
    plx_params *p = NULL;
    plx_model *m = NULL;
    give_engine(&e, job->ctx);
    plx_dataset *d = read_here(job, 1);
    assert_ok(job->ctx, plx_params_create(&p, job->ctx, c.method));
    assert_ok(job->ctx, plx_params_set(p, job->ctx, "lambda", "1e-300"));
    assert_ok(job->ctx, plx_params_set(p, job->ctx, "neighbours", "12"));
    assert_ok(job->ctx, plx_params_set(p, job->ctx, "lambda_scale", "none"));
    assert_fails(job->ctx, plx_fit(&m, job->ctx, c.method, d, p, NULL), PLX_E_NUMERIC, "is singular");
    plx_params_destroy(p);
    plx_dataset_destroy(d);
}

static void ranks_fail_together(void **state)
{
    char folder[64], path[128];
    plx_context *ctx = test_context(1);
    (void)state;
    make_directory(folder);
    snprintf(path, sizeof path, "%s/data.h5mu", folder);
    write_data(ctx, PLAIN, path);
    plx_context_destroy(ctx);
    together(3, singular_work, NULL, folder);
    remove_directory(folder);
}

/* ---- memory ---- */

static void assert_stated(const rank_job *job, const case_of *c, const plx_model *m)
{
    double stated = m->memory.stated, taken = (double)m->memory.taken;
    if (taken > stated + SMALL_CHANGE || stated > 4 * taken + SMALL_CHANGE)
        fail_msg("%s, rank %d of %d: states %.0f and takes %.0f bytes", c->method, job->rank, job->ranks, stated,
                 taken);
}

/* The most that a rank has at once with its own rows, data included, beside what it has with all of them: they are
 * not gathered. */
static void memory_work(rank_job *job)
{
    const case_of *c = job->arg;
    engine e = {.ctx = job->ctx};
    int64_t most[2];
    job->ctx->arena_block = 1; /* every request a block of its own: what is taken is what was asked for */
    plx__arena_init(plx__scratch(job->ctx), job->ctx);
    give_engine(&e, job->ctx);
    for (int own = 0; own < 2; own++) {
        int64_t before = atomic_load(&job->ctx->memory_used);
        plx_dataset *d = read_here(job, own);
        plx_context_reset_memory_peak(job->ctx);
        plx_model *m = fit_case(job, c, d);
        most[own] = plx_context_memory_peak(job->ctx) - before;
        assert_stated(job, c, m);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    /* a pane of rows is read by rank 0 where panes are long; laprls solves for few features with all of them */
    if (!sums_rows(c) && job->ranks == MOST && job->rank > 0 && 4 * most[1] >= 3 * most[0])
        fail_msg("%s, rank %d: %lld bytes with its own rows, %lld with all", c->method, job->rank, (long long)most[1],
                 (long long)most[0]);
}

static void ranks_take_what_they_state(void **state)
{
    static const case_of cases[] = {
        {.method = "lapreg", .settings = {"scale", "none"}, .shape = BROAD},
        {.method = "lapreg", .settings = {"graph_weights", "cosine"}, .shape = BROAD},
        {.method = "nlapreg", .shape = BROAD},
        {.method = "llereg", .shape = BROAD},
        {.method = "llreg", .shape = BROAD},
        {.method = "llreg",
         .settings = {"model", "kernel", "kernel", "rbf", "width", "3", "scale", "none"},
         .shape = BROAD},
        {.method = "laprls", .shape = BROAD},
        {.method = "laprls", .settings = {"graph_weights", "cosine", "view", "b"}, .shape = BROAD},
        {.method = "laprls", .settings = {"solver", "primal", "scale", "none"}, .shape = MANY},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char folder[64], path[128];
        plx_context *ctx = test_context(1);
        make_directory(folder);
        snprintf(path, sizeof path, "%s/data.h5mu", folder);
        write_data(ctx, cases[k].shape, path);
        plx_context_destroy(ctx);
        for (int ranks = 2; ranks <= MOST; ranks += 3) together(ranks, memory_work, &cases[k], folder);
        remove_directory(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_those_of_one_process),      cmocka_unit_test(local_models_are_those_of_one_process),
        cmocka_unit_test(classifiers_are_those_of_one_process), cmocka_unit_test(ranks_fail_together),
        cmocka_unit_test(ranks_take_what_they_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
