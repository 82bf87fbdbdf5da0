/* Methods of weights, kernels and directions on data of which every rank has its own rows: the model files of a single
 * process, and nobody gathers. */
#include "divided_helpers.h"

#ifdef PLX_CHECKED
enum { PANES = 6, LONG_PANES = 0 };
#else
enum { PANES = 2, LONG_PANES = 1 }; /* too many labels for what is formed of all pairs of them */
#endif
enum { N = PANES * PLX__PANE_ROWS + 7, K = 3, MOST_COLS = 2100 };

/* What the views are. */
typedef enum shape {
    PLAIN = 0,   /* a: sparse real numbers; b: dense ones; c: sparse counts; rows are missing, some are zero */
    COMPLETE,    /* every sample has all of them */
    WIDE,        /* a has more columns than a matrix of their products is formed for */
    COUNTS,      /* counts only, b dense */
    COUNT_FEW,   /* of few labels */
    COUNT_WIDE,  /* and of many columns */
    FEW_LABELS,  /* one in twenty */
    NEARLY_EQUAL /* columns of a that differ by little */
} shape;

typedef struct case_of {
    trial t;
    shape shape;
    bool long_panes; /* where panes are long, too */
} case_of;

static bool only_counts(shape s) { return s >= COUNTS && s <= COUNT_WIDE; }
static bool has_few_labels(shape s) { return s == FEW_LABELS || s == COUNT_FEW || s == COUNT_WIDE; }
static bool is_wide(shape s, int v) { return (s == WIDE || s == COUNT_WIDE) && v == 0; }

static bool is_missing(shape s, int v, int i)
{
    if (s == COMPLETE || s == NEARLY_EQUAL) return false;
    return i % 17 == 3 || (v == 0 && i % 13 == 5) || (v == 2 && i % 11 == 8);
}

static double value_of(shape s, int v, plx__rng *rng, int i, int j, double first)
{
    double count = random_count(rng, 4), real = plx__next_uniform(rng) - 0.4;
    if (i % 29 == 7) return 0; /* a row that says nothing */
    if (v == 2 || only_counts(s)) return j % K == i % K ? count + 1 : count > 2;
    if (s == NEARLY_EQUAL && v == 0 && j == 1) return first + 1e-9 * real;
    return (v == 0 && count > 1 ? 0 : real) + (j % K == i % K);
}

/* Columns of which a row fills a few. */
static void fill_wide(double *x, int n, int cols, plx__rng *rng)
{
    memset(x, 0, sizeof *x * (size_t)n * (size_t)cols);
    for (int i = 0; i < n; i++)
        for (int e = 0; e < 4 && i % 29 != 7; e++)
            x[(size_t)i * (size_t)cols + (size_t)((int)random_count(rng, cols / K) * K + i % K)] =
                1 + random_count(rng, 3);
}

static void add_view(plx_dataset *d, plx_context *ctx, shape s, int v)
{
    static const char *const names[] = {"a", "b", "c"};
    int n = (int)plx_dataset_samples(d), cols = is_wide(s, v) ? MOST_COLS : 4 + v;
    plx__rng rng = plx__rng_start(5, PLX__STREAM('d', 'k', 'e', 'r', v));
    plx_view_kind kind = v == 2 || only_counts(s) ? PLX_VIEW_COUNTS : PLX_VIEW_REAL;
    double *x = calloc((size_t)n * (size_t)cols, sizeof *x);
    uint8_t *present = calloc((size_t)n, 1);
    for (int i = 0; i < n; i++) present[i] = !is_missing(s, v, i);
    if (cols == MOST_COLS) fill_wide(x, n, cols, &rng);
    for (int i = 0; i < n && cols < MOST_COLS; i++)
        for (int j = 0; j < cols; j++) x[i * cols + j] = value_of(s, v, &rng, i, j, x[i * cols]);
    if (v == 1) add_dense(d, ctx, names[v], kind, x, cols, present);
    else add_thin(d, ctx, names[v], kind, x, cols, present);
    free(x);
    free(present);
}

static void write_data(plx_context *ctx, shape s, const char *path)
{
    int n = is_wide(s, 0) && LONG_PANES ? PLX__PANE_ROWS + 7 : N; /* all values of a wide view pass through memory */
    plx_dataset *d = new_dataset(ctx, n);
    int *label = malloc(sizeof *label * (size_t)n);
    for (int v = 0; v < 3; v++) add_view(d, ctx, s, v);
    for (int i = 0; i < n; i++)
        label[i] = i % (has_few_labels(s) ? (LONG_PANES ? 500 : 20) : 2) == 1 ? i / 3 % 7 ? i % K : i / 7 % K : -1;
    set_labels(d, ctx, label);
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, d->labels));
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    plx_dataset_destroy(d);
    free(label);
}

static void assert_fits_like_one(const case_of *c)
{
    char folder[64], path[128];
    plx_context *ctx = test_context(1);
    make_directory(folder);
    snprintf(path, sizeof path, "%s/data.h5mu", folder);
    write_data(ctx, c->shape, path);
    plx_context_destroy(ctx);
    for (int ranks = 1; ranks <= (LONG_PANES ? 3 : MOST); ranks += ranks == 3 ? 2 : 1) {
        assert_same_by_ranks(&c->t, folder, ranks);
    }
    remove_directory(folder);
}

static void assert_all(const case_of *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (LONG_PANES && !list[k].long_panes) continue;
        print_message("  %s", list[k].t.method);
        for (int s = 0; list[k].t.settings[s]; s += 2)
            print_message(" %s=%s", list[k].t.settings[s], list[k].t.settings[s + 1]);
        print_message("\n");
        assert_fits_like_one(&list[k]);
    }
}

static void least_squares_fit_own_rows(void **state)
{
    static const case_of cases[] = {
        {.t = {.method = "rls", .array = "alpha", .settings = {"solver", "primal"}}, .long_panes = true},
        {.t = {.method = "rls", .array = "alpha", .settings = {"solver", "primal", "view", "concat", "scale", "none"}}},
        {.t = {.method = "rls", .array = "alpha", .settings = {"solver", "primal", "view", "b", "kernel", "cosine"}}},
        {.t = {.method = "rls", .array = "alpha", .settings = {"solver", "primal", "view", "c", "kernel", "cosine"}}},
        {.t = {.method = "rls", .array = "alpha", .settings = {"solver", "primal", "view", "a", "bias", "0"}},
         .shape = COMPLETE},
        {.t = {.method = "rls", .array = "alpha", .settings = {"solver", "primal", "scale", "none"}},
         .shape = WIDE,
         .long_panes = true},
        {.t = {.method = "rls",
               .array = "alpha",
               .settings = {"solver", "primal", "view", "a", "gamma_a", "1e-16", "scale", "none"}},
         .shape = NEARLY_EQUAL},
        {.t = {.method = "rls", .array = "alpha", .settings = {"view", "joined"}}},
        {.t = {.method = "rls", .array = "alpha", .settings = {"solver", "auto", "view", "a"}}, .shape = FEW_LABELS},
        {.t = {.method = "rls", .settings = {"pivots", "4", "kernel", "rbf"}, .gathers = true}},
        {.t = {.method = "rls", .array = "alpha", .settings = {"pivots", "5"}}},
        {.t = {.method = "rls",
               .array = "alpha",
               .settings = {"pivots", "7", "kernel", "rbf", "width", "1.5", "view", "a"}},
         .long_panes = true},
        {.t = {.method = "rls",
               .array = "alpha",
               .settings = {"pivots", "7", "kernel", "rbf", "width", "1.5", "view", "b"}},
         .shape = FEW_LABELS},
        {.t = {.method = "rls", .array = "alpha", .settings = {"pivots", "9", "kernel", "poly", "scale", "unit"}},
         .shape = COMPLETE},
        {.t = {.method = "rls", .array = "alpha", .settings = {"pivots", "9", "kernel", "cosine", "view", "b"}},
         .shape = COMPLETE},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

static void classes_of_a_machine_need_labelled_rows(void **state)
{
    static const case_of cases[] = {
        {.t = {.method = "svm", .array = "alpha"}, .shape = FEW_LABELS, .long_panes = true},
        {.t = {.method = "svm", .array = "alpha", .settings = {"solver", "primal", "tol", "1e-3"}}},
        {.t = {.method = "svm", .array = "alpha", .settings = {"view", "b", "kernel", "cosine"}}},
        {.t = {.method = "svm", .array = "alpha", .settings = {"kernel", "rbf", "width", "2"}}},
        {.t = {.method = "svm", .array = "alpha", .settings = {"kernel", "poly", "view", "a", "solver", "cg"}}},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

static void learners_teach_each_other_on_own_rows(void **state)
{
    static const case_of cases[] = {
        {.t = {.method = "cotrain", .array = "added", .settings = {"rounds", "4", "pool", "20"}},
         .shape = COUNTS,
         .long_panes = true},
        {.t = {.method = "cotrain",
               .array = "added",
               .settings = {"rounds", "2", "pool", "0", "rows", "l1", "prior", "taught"}},
         .shape = COUNTS},
        {.t = {.method = "cotrain",
               .array = "added",
               .settings = {"rounds", "5", "pool", "100", "pool_order", "index"}},
         .shape = COUNT_FEW},
        {.t = {.method = "cotrain", .array = "added", .settings = {"rounds", "3", "zero_rows", "present"}},
         .shape = COUNT_WIDE},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

static void processes_choose_pivots_on_own_rows(void **state)
{
    static const case_of cases[] = {
        {.t = {.method = "gp", .array = "mean", .settings = {"pivots", "5", "max_iter", "3"}}, .shape = FEW_LABELS},
        {.t = {.method = "gp", .array = "mean", .settings = {"pivots", "5", "optimize", "none", "combine", "sum"}},
         .long_panes = true},
        {.t = {.method = "gp",
               .array = "mean",
               .settings = {"pivots", "6", "max_iter", "2", "view", "a", "kernel", "rbf", "width", "2", "amplitude",
                            "auto"}}},
        {.t = {.method = "gp",
               .array = "mean",
               .settings = {"pivots", "6", "max_iter", "2", "combine", "sum", "kernel", "rbf", "width", "2", "missing",
                            "zero", "amplitude", "auto"}},
         .shape = FEW_LABELS},
        {.t = {.method = "gp",
               .array = "mean",
               .settings = {"pivots", "6", "max_iter", "2", "scale", "unit", "missing", "zero"}}},
        {.t = {.method = "gp", .settings = {"pivots", "5", "optimize", "none", "missing", "error"}, .gathers = true},
         .shape = COMPLETE},
        {.t = {.method = "bct", .settings = {"pivots", "5"}}, .shape = FEW_LABELS},
        {.t = {.method = "bct", .settings = {"pivots", "6", "kernel", "rbf", "width", "2", "optimize", "none"}},
         .shape = FEW_LABELS,
         .long_panes = true},
        {.t = {.method = "bct", .settings = {"pivots", "4", "optimize", "evidence", "max_iter", "2"}},
         .shape = FEW_LABELS},
        {.t = {.method = "bct", .settings = {"lowrank", "exact", "optimize", "none", "scale", "unit"}},
         .shape = FEW_LABELS},
        {.t = {.method = "bct", .settings = {"lowrank", "exact", "zero_rows", "present", "optimize", "none"}},
         .shape = FEW_LABELS},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

static void views_agree_on_own_rows(void **state)
{
    static const case_of cases[] = {
        {.t = {.method = "corls", .array = "scores", .settings = {"solver", "primal", "max_iter", "5"}},
         .shape = WIDE,
         .long_panes = true},
        {.t = {.method = "corls",
               .array = "scores",
               .settings = {"solver", "primal", "max_iter", "5", "orthogonal", "1"}},
         .shape = WIDE},
        {.t = {.method = "corls", .array = "scores"}, .shape = WIDE},
        {.t = {.method = "corls", .array = "scores", .settings = {"solver", "primal"}}},
        {.t = {.method = "corls",
               .array = "scores",
               .settings = {"solver", "primal", "orthogonal", "1", "gamma_c", "3"}},
         .shape = COMPLETE},
        {.t = {.method = "corls", .array = "scores", .settings = {"kernel", "cosine"}}},
        {.t = {.method = "corls", .array = "scores", .settings = {"pivots", "5"}}, .shape = FEW_LABELS},
        {.t = {.method = "corls",
               .array = "scores",
               .settings = {"pivots", "6", "kernel", "rbf", "width", "2", "orthogonal", "1"}}},
        {.t = {.method = "colr", .array = "view_score", .settings = {"gem_iter", "3"}},
         .shape = FEW_LABELS,
         .long_panes = true},
        {.t = {.method = "colr",
               .array = "view_score",
               .settings = {"gem_iter", "3", "balance", "none", "scale", "none"}}},
        {.t = {.method = "colr",
               .array = "view_score",
               .settings = {"hyper", "fixed", "gem_iter", "3", "scale", "unit"}}},
        {.t = {.method = "colr", .array = "view_score", .settings = {"gem_iter", "2", "scale", "none"}}, .shape = WIDE},
        {.t = {.method = "colr",
               .array = "view_score",
               .settings = {"gem_iter", "2", "hyper", "fixed", "scale", "unit"}},
         .shape = WIDE},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

static void directions_are_found_on_own_rows(void **state)
{
    static const case_of cases[] = {
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "exact", "retrieval", "0"}}, .long_panes = true},
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "exact", "missing", "pairwise", "scale", "none"}}},
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "svd", "rank", "3"}}},
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "svd", "rank", "3", "missing", "pairwise"}}},
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "iterative", "retrieval", "0"}}, .long_panes = true},
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "iterative", "scale", "none", "classifier", "svm"}}},
        {.t = {.method = "cca", .settings = {"dim", "1", "solver", "iterative", "missing", "pairwise"}}},
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "iterative", "center", "0"}}, .shape = COMPLETE},
        {.t = {.method = "cca", .settings = {"dim", "2", "solver", "exact", "scale", "none"}}, .shape = WIDE},
        {.t = {.method = "kcca", .settings = {"dim", "2", "gs_max", "4", "retrieval", "0"}}, .long_panes = true},
        {.t = {.method = "kcca", .settings = {"dim", "2", "gs_max", "4", "scale", "none"}}, .shape = COMPLETE},
        {.t = {.method = "kcca", .settings = {"dim", "2", "gs_max", "4", "kernel", "cosine", "missing", "pairwise"}},
         .shape = COMPLETE},
        {.t = {.method = "kcca",
               .settings = {"dim", "2", "gs_max", "6", "kernel", "rbf", "width", "2", "center", "0"}}},
        {.t = {.method = "kcca",
               .settings = {"dim", "2", "gs_max", "6", "kernel", "rbf", "width", "2"},
               .gathers = true}},
        {.t = {.method = "kcca", .settings = {"dim", "2", "gs_max", "4", "missing", "pairwise"}, .gathers = true}},
        {.t = {.method = "kcca", .settings = {"dim", "2"}}},
    };
    (void)state;
    assert_all(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_squares_fit_own_rows),
        cmocka_unit_test(classes_of_a_machine_need_labelled_rows),
        cmocka_unit_test(learners_teach_each_other_on_own_rows),
        cmocka_unit_test(processes_choose_pivots_on_own_rows),
        cmocka_unit_test(directions_are_found_on_own_rows),
        cmocka_unit_test(views_agree_on_own_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
