/*
 * mvkmeans: properties the mathematics promises, rules for odd samples, errors, and the same bytes for every number of
 * threads. Values against an independent implementation are in tests/cases/mvkmeans.
 */
#include "core/json.h"
#include "fit_helpers.h"

enum { VIEWS = 3, COLS = 12 };

static const char *const HIER_CLASSES[6] = {"Everything", "Food", "Fruit", "Vegetable", "Organization", "University"};
static const int32_t HIER_SUBSET[10] = {1, 0, 4, 0, 2, 1, 3, 1, 5, 4}, HIER_MUTEX[4] = {1, 4, 2, 3};
static const char *const VIEW_NAMES[VIEWS] = {"v1", "v2", "v3"};

/* Counts with a preference of class c for the features that are c modulo 3; every fifth sample is labelled, some miss a
 * view. Labels: leaf classes of the hierarchy, or A, B, C. */
static plx_dataset *make_data(plx_context *ctx, plx_index n, plx_index views, bool hierarchy, int labelled_every,
                              bool holes)
{
    static const char *const leaves[3] = {"Fruit", "Vegetable", "University"}, *const flat[3] = {"A", "B", "C"};
    plx_dataset *d = new_dataset(ctx, n);
    plx__rng r = plx__rng_start(4, PLX__STREAM('d', 'a', 't', 'a', n));
    double *x = calloc((size_t)(n * COLS), sizeof *x);
    uint8_t *present = calloc((size_t)n, 1);
    const char **labels = calloc((size_t)n, sizeof *labels);
    for (plx_index v = 0; v < views; v++) {
        for (plx_index i = 0; i < n; i++) {
            present[i] = !holes || (i + v) % 7 != 3;
            for (plx_index f = 0; f < COLS; f++)
                x[i * COLS + f] =
                    floor(4 * plx__next_uniform(&r) * (f % 3 == i % 3 ? 1.6 : 0.9)) * (plx__next_uniform(&r) < 0.6);
            x[i * COLS + i % 3] += 1;
        }
        if (v % 2) add_dense(d, ctx, VIEW_NAMES[v], PLX_VIEW_COUNTS, x, COLS, present);
        else add_thin(d, ctx, VIEW_NAMES[v], PLX_VIEW_COUNTS, x, COLS, present);
    }
    for (plx_index i = 0; labelled_every && i < n; i++)
        if (i % labelled_every < 1 || i < 3) labels[i] = (hierarchy ? leaves : flat)[i % 3];
    if (labelled_every) assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    if (hierarchy) assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, HIER_CLASSES, 6, HIER_SUBSET, 5, HIER_MUTEX, 2));
    free(x);
    free(present);
    free(labels);
    return d;
}

static plx_status fit_with(plx_model **out, plx_context *ctx, const plx_dataset *d, const char *const *settings,
                           const char *const *arrays, plx_index n_arrays)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = settings_of(ctx, "mvkmeans", settings);
    o.arrays = arrays;
    o.n_arrays = n_arrays;
    plx_status st = plx_fit(out, ctx, "mvkmeans", d, p, &o);
    plx_params_destroy(p);
    return st;
}

static const char *label_of(const plx_model *m, plx_index i) { return m->fitted.outcome.label[i]; }

typedef struct variant {
    const char *settings[5];
    bool hierarchy, seeded, monotone;
} variant;

static const variant VARIANTS[] = {
    {{"assignment=single:v2"}, false, true, true},
    {{"assignment=concat"}, false, true, true},
    {{"assignment=concat", "concat_norm=unit"}, false, true, true},
    {{"assignment=sumscore"}, false, true, true},
    {{"assignment=sumscore"}, true, true, true},
    {{"assignment=prodscore"}, false, true, false},
    {{"assignment=maxagree", "alpha2=0.01"}, false, true, true},
    {{"assignment=maxagree", "alpha2=0.03", "alpha3=0.3"}, false, true, true},
    {{"assignment=cotrain"}, false, true, false},
    {{"assignment=cotrain", "order=parallel", "max_iter=9"}, false, true, false},
    {{"assignment=hier-sumscore"}, true, true, true},
    {{"assignment=hier-sumscore", "score_scale=mean", "closure=false"}, true, true, true},
    {{"assignment=hier-prodscore"}, true, true, false},
    {{"assignment=hier-maxagree", "alpha2=0.02"}, true, true, true},
    {{"assignment=hier-maxagree", "alpha2=0.3", "alpha3=0.2"}, true, true, true},
    {{"assignment=sumscore", "clusters=4", "restarts=3"}, false, false, true},
    {{"assignment=maxagree", "clusters=3", "init=random"}, false, false, true},
    {{"assignment=cotrain", "clusters=3", "empty=reseed"}, false, false, false},
};
enum { N_VARIANTS = sizeof VARIANTS / sizeof *VARIANTS };

/* ---- the same bytes ---- */

static void assert_same_model(const plx_model *a, const plx_model *b)
{
    const plx__array *x = a->store.first, *y = b->store.first;
    for (; x && y; x = x->next, y = y->next) {
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->dense.rows, y->dense.rows);
        assert_memory_equal(x->dense.data, y->dense.data, (size_t)(x->dense.rows * x->dense.cols) * sizeof(double));
    }
    assert_true(!x && !y);
    assert_int_equal(a->facts.n_trace, b->facts.n_trace);
    assert_memory_equal(a->facts.trace, b->facts.trace, (size_t)a->facts.n_trace * sizeof(double));
    for (plx_index i = 0; i < a->fitted.outcome.n; i++) assert_string_equal(label_of(a, i), label_of(b, i));
}

static plx_model *fit_on_threads(plx_context **ctx, plx_dataset **d, const variant *v, int threads)
{
    static const char *const arrays[] = {"assign"};
    plx_model *m = NULL;
    *ctx = test_context(threads);
    *d = make_data(*ctx, 600, VIEWS, v->hierarchy, v->seeded ? 5 : 0, true);
    assert_ok(*ctx, fit_with(&m, *ctx, *d, v->settings, arrays, 1));
    return m;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int v = 0; v < N_VARIANTS; v++) {
        plx_context *ctx[3];
        plx_dataset *d[3];
        plx_model *m[3];
        static const int threads[3] = {1, 2, 7};
        for (int t = 0; t < 3; t++) m[t] = fit_on_threads(&ctx[t], &d[t], &VARIANTS[v], threads[t]);
        assert_same_model(m[0], m[1]);
        assert_same_model(m[0], m[2]);
        for (int t = 0; t < 3; t++) {
            plx_model_destroy(m[t]);
            plx_dataset_destroy(d[t]);
            plx_context_destroy(ctx[t]);
        }
    }
}

/* ---- what the mathematics promises ---- */

static void the_objective_never_decreases(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int v = 0; v < N_VARIANTS; v++) {
        if (!VARIANTS[v].monotone) continue;
        plx_dataset *d = make_data(ctx, 150, VIEWS, VARIANTS[v].hierarchy, VARIANTS[v].seeded ? 10 : 0, true);
        plx_model *m = fit_model(ctx, "mvkmeans", d, VARIANTS[v].settings);
        assert_int_equal(m->facts.converged, 1);
        for (plx_index t = 1; t < m->facts.n_trace; t++)
            assert_true(m->facts.trace[t] >= m->facts.trace[t - 1] - 1e-10);
        assert_close(m->facts.objective, m->facts.trace[m->facts.n_trace - 1], 0);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

static void assert_same_labels(const plx_model *a, const plx_model *b)
{
    for (plx_index i = 0; i < a->fitted.outcome.n; i++) assert_string_equal(label_of(a, i), label_of(b, i));
}

static void one_view_makes_the_rules_equal(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 90, 1, false, 9, false);
    plx_model *sum = fit_model(ctx, "mvkmeans", d, SETTINGS("assignment=sumscore"));
    static const char *const others[] = {"assignment=single:v1", "assignment=prodscore", "assignment=concat",
                                         "assignment=maxagree"};
    for (int o = 0; o < 4; o++) {
        plx_model *m = fit_model(ctx, "mvkmeans", d, SETTINGS(others[o]));
        assert_same_labels(sum, m);
        plx_model_destroy(m);
    }
    plx_model_destroy(sum);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void agreement_joins_or_frees_the_views(void **state)
{
    (void)state;
    static const char *const arrays[] = {"assign.v1", "assign.v2", "assign.v3"};
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 120, VIEWS, false, 8, true);
    plx_model *sum = fit_model(ctx, "mvkmeans", d, SETTINGS("assignment=sumscore")), *free_views = NULL;
    plx_model *tied = fit_model(ctx, "mvkmeans", d, SETTINGS("assignment=maxagree", "alpha2=50", "alpha3=200"));
    assert_same_labels(sum, tied);
    assert_ok(ctx, fit_with(&free_views, ctx, d, SETTINGS("assignment=maxagree", "alpha2=0"), arrays, 3));
    for (int v = 0; v < VIEWS; v++) {
        char name[32];
        snprintf(name, sizeof name, "scores.%s", VIEW_NAMES[v]);
        plx_cmat s = array_of(free_views, name), y = array_of(free_views, arrays[v]);
        for (plx_index i = 0; i < 120; i++) {
            if (plx_dataset_label(d, i) || !plx_dataset_present(d, v)[i]) continue;
            plx_index best = 0;
            for (plx_index c = 1; c < 3; c++)
                if (s.data[i * 3 + c] > s.data[i * 3 + best]) best = c;
            for (plx_index c = 0; c < 3; c++) assert_true((y.data[i * 3 + c] != 0) == (c == best));
        }
    }
    plx_model_destroy(free_views);
    plx_model_destroy(tied);
    plx_model_destroy(sum);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* At convergence another E step changes nothing: predicting the fitted samples gives the labels they got. */
static void new_samples_follow_the_same_rule(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int v = 0; v < N_VARIANTS; v++) {
        plx_dataset *d = make_data(ctx, 130, VIEWS, VARIANTS[v].hierarchy, VARIANTS[v].seeded ? 6 : 0, true);
        plx_model *m = fit_model(ctx, "mvkmeans", d, VARIANTS[v].settings);
        plx_prediction *p = NULL;
        assert_ok(ctx, plx_predict(&p, ctx, m, d));
        bool cotrain = strcmp(VARIANTS[v].settings[0], "assignment=cotrain") == 0;
        for (plx_index i = 0; i < 130 && (m->facts.converged || cotrain); i++)
            if (!plx_dataset_label(d, i)) assert_string_equal(plx_prediction_label(p, i), label_of(m, i));
        plx_prediction_destroy(p);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* ---- odd samples ---- */

static const plx__array *stored(const plx_model *m, const char *name) { return plx__store_find(&m->store, name); }

/* Sample 3 has nothing in any view, sample 4 a word nobody labelled uses. B is more frequent than A. */
static void no_evidence_means_the_most_frequent_label(void **state)
{
    (void)state;
    static const double x[6 * 3] = {1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0};
    static const int label[6] = {0, 1, 1, -1, -1, -1};
    static const char *const rules[] = {"assignment=sumscore", "assignment=prodscore", "assignment=maxagree",
                                        "assignment=cotrain", "assignment=concat"};
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 6);
    add_dense(d, ctx, "one", PLX_VIEW_COUNTS, x, 3, NULL);
    add_thin(d, ctx, "two", PLX_VIEW_COUNTS, x, 3, NULL);
    set_labels(d, ctx, label);
    for (int r = 0; r < 5; r++) {
        plx_model *m = fit_model(ctx, "mvkmeans", d, SETTINGS(rules[r]));
        assert_string_equal(label_of(m, 3), "B");
        assert_string_equal(label_of(m, 4), "B");
        assert_string_equal(label_of(m, 5), "A");
        assert_true(m->fitted.n_warnings >= 1);
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* The unlabelled sample is between two classes: the first wins. A class with no member keeps a zero centroid. */
static void ties_go_to_the_first_class(void **state)
{
    (void)state;
    static const double x[3 * 2] = {1, 0, 0, 1, 1, 1};
    static const int label[3] = {1, 0, -1};
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 3);
    add_dense(d, ctx, "one", PLX_VIEW_REAL, x, 2, NULL);
    set_labels(d, ctx, label);
    plx_model *m = fit_model(ctx, "mvkmeans", d, SETTINGS("max_iter=1"));
    assert_string_equal(label_of(m, 2), "A");
    assert_int_equal(m->facts.converged, 0);
    assert_close(array_of(m, "flips").data[0], 1, 0);
    /* one M step after the last E step: A holds (0,1) and (1,1)/sqrt 2 */
    double a = sqrt(0.5), norm = sqrt(a * a + (1 + a) * (1 + a));
    assert_close(array_of(m, "centroids.one").data[0], a / norm, 1e-15);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* All three start in cluster 0. Only reseeding fills cluster 1, with the sample that fits worst; 3 + 2 bits change. */
static void empty_clusters_are_kept_or_reseeded(void **state)
{
    (void)state;
    static const double x[3 * 2] = {1, 0, 1, 0.1, 0, 1};
    static const char *const rules[] = {"assignment=sumscore", "assignment=maxagree", "assignment=cotrain"};
    plx_context *ctx = test_context(1);
    char directory[64];
    plx_dataset *d = new_dataset(ctx, 3);
    add_dense(d, ctx, "one", PLX_VIEW_REAL, x, 2, NULL);
    make_directory(directory);
    write_file(directory, "start.txt", "0\n0\n0\n");
    plx_model *m = NULL;
    assert_ok(ctx, try_fit(&m, ctx, "mvkmeans", d, SETTINGS("clusters=2", "init=file:start.txt"), directory));
    assert_string_equal(label_of(m, 2), "c0");
    assert_close(array_of(m, "centroids.one").data[2], 0, 0);
    plx_model_destroy(m);
    for (int r = 0; r < 3; r++) {
        assert_ok(ctx, try_fit(&m, ctx, "mvkmeans", d,
                               SETTINGS(rules[r], "clusters=2", "init=file:start.txt", "empty=reseed"), directory));
        assert_string_equal(label_of(m, 0), "c0");
        assert_string_equal(label_of(m, 1), "c0");
        assert_string_equal(label_of(m, 2), "c1");
        assert_close(array_of(m, "flips").data[0], 5, 0);
        assert_int_equal(m->facts.converged, 1);
        plx_model_destroy(m);
    }
    remove_directory(directory);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void more_starts_are_never_worse(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 80, 2, false, 0, true);
    double last = -INFINITY;
    static const char *const restarts[] = {"restarts=1", "restarts=4", "restarts=12"};
    for (int r = 0; r < 3; r++) {
        plx_model *m = fit_model(ctx, "mvkmeans", d, SETTINGS("clusters=6", "init=random", restarts[r]));
        assert_true(m->facts.objective >= last);
        last = m->facts.objective;
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A start of k-means++ or at random beside labels, and a file whose lines for labelled samples do not count. */
static void starts_beside_labels(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 30, 2, true, 6, false);
    char directory[64], text[256] = "";
    for (int i = 0; i < 30; i++) strcat(text, i % 2 ? "-1\n" : "2\n");
    make_directory(directory);
    write_file(directory, "start.txt", text);
    static const char *const starts[] = {"init=kmeans++", "init=random", "init=file:start.txt", "init=labels"};
    static const char *const rules[] = {"assignment=sumscore", "assignment=hier-sumscore", "assignment=hier-maxagree",
                                        "assignment=cotrain"};
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < 4; r++) {
            plx_model *m = NULL;
            assert_ok(ctx, try_fit(&m, ctx, "mvkmeans", d, SETTINGS(rules[r], starts[s]), directory));
            assert_non_null(strstr(label_of(m, 0), "Fruit"));
            assert_non_null(strstr(label_of(m, 1), "Vegetable"));
            plx_model_destroy(m);
        }
    remove_directory(directory);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Held-out samples get what a prediction of them gets. */
static void held_out_samples_are_new_samples(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 60, VIEWS, true, 6, true);
    char directory[64], text[128] = "";
    for (int i = 0; i < 60; i++) strcat(text, i % 4 == 3 ? "1\n" : "0\n");
    make_directory(directory);
    write_file(directory, "held.txt", text);
    plx_model *m = NULL;
    plx_prediction *p = NULL;
    assert_ok(ctx,
              try_fit(&m, ctx, "mvkmeans", d, SETTINGS("assignment=hier-maxagree", "heldout=held.txt"), directory));
    assert_ok(ctx, plx_predict(&p, ctx, m, d));
    for (plx_index i = 3; i < 60; i += 4) assert_string_equal(plx_prediction_label(p, i), label_of(m, i));
    assert_int_equal(stored(m, "scores.v1")->dense.rows, 60);
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    remove_directory(directory);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- facts about the run ---- */

/* One root with ten exclusive classes, one more below the first of them, and nearly equal dense rows in three views:
 * every class is worth more than the rule it breaks, so the best single set violates it. One set per sample is found by counts per
 * subtree; three sets at once are too many for elimination and go to the search. */
static plx_dataset *crowded_data(plx_context *ctx)
{
    enum { K = 12, N = 14, F = 24 };
    static char names[K][8];
    const char *classes[K], *labels[N] = {0};
    int32_t subset[2 * K], mutex[2 * K * K];
    plx_index ns = 0, nm = 0;
    double x[N * F];
    plx_dataset *d = new_dataset(ctx, N);
    for (int32_t c = 0; c < K; c++) {
        snprintf(names[c], sizeof names[c], "k%02d", c);
        classes[c] = names[c];
        for (int32_t b = 1; b < c && c < K - 1; b++) {
            mutex[2 * nm] = b;
            mutex[2 * nm++ + 1] = c;
        }
        if (c) {
            subset[2 * ns] = c;
            subset[2 * ns++ + 1] = c < K - 1 ? 0 : 1;
        }
    }
    for (int i = 0; i < N; i++)
        for (int f = 0; f < F; f++) x[i * F + f] = 1 + 0.1 * (f == i) + 0.01 * ((i * f) % 7);
    for (int v = 0; v < 3; v++) add_dense(d, ctx, VIEW_NAMES[v], PLX_VIEW_REAL, x, F, NULL);
    for (int i = 0; i < K - 1; i++) labels[i] = names[i + 1];
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, classes, K, subset, ns, mutex, nm));
    return d;
}

static void expect_solver(plx_context *ctx, const plx_dataset *d, const char *const *settings, const char *solver,
                          int violating)
{
    plx_model *m = fit_model(ctx, "mvkmeans", d, settings);
    json_t *solvers = json_object_get(m->facts.extra, "solvers");
    assert_int_equal(json_integer_value(json_object_get(solvers, solver)), 3);
    assert_int_equal(json_integer_value(json_object_get(m->facts.extra, "constraint_violations")), violating);
    bool warned = false;
    for (plx_index w = 0; w < m->fitted.n_warnings; w++)
        warned |= strstr(m->fitted.warnings[w], "break a rule") != NULL;
    assert_true(warned == (violating > 0));
    plx_model_destroy(m);
}

static void solvers_are_counted(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = crowded_data(ctx);
    expect_solver(ctx, d, SETTINGS("assignment=hier-sumscore"), "subtree-counts", 3);
    expect_solver(ctx, d, SETTINGS("assignment=hier-sumscore", "score_scale=mean"), "best-set", 0);
    expect_solver(ctx, d, SETTINGS("assignment=hier-maxagree"), "set-per-view", 0);
    expect_solver(ctx, d, SETTINGS("assignment=hier-maxagree", "alpha3=0.45", "max_iter=1"), "search", 0);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- refusals ---- */

#define assert_refused(ctx, d, status, word, ...)                                                                      \
    do {                                                                                                               \
        plx_model *refused = NULL;                                                                                     \
        assert_fails(ctx, try_fit(&refused, ctx, "mvkmeans", d, SETTINGS(__VA_ARGS__), directory), status, word);      \
        assert_null(refused);                                                                                          \
    } while (0)

static void bad_settings_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    char directory[64];
    plx_dataset *flat = make_data(ctx, 12, 2, false, 4, false), *none = make_data(ctx, 12, 2, false, 0, false);
    plx_dataset *tree = make_data(ctx, 12, 2, true, 4, false);
    make_directory(directory);
    write_file(directory, "short.txt", "0\n1\n");
    write_file(directory, "wild.txt", "0\n1\n7\n0\n0\n0\n0\n0\n0\n0\n0\n0\n");
    write_file(directory, "words.txt", "0\n1\nx\n0\n0\n0\n0\n0\n0\n0\n0\n0\n");
    assert_refused(ctx, flat, PLX_E_ARG, "did you mean 'sumscore'", "assignment=sumscor");
    assert_refused(ctx, flat, PLX_E_ARG, "v9", "assignment=single:v9");
    assert_refused(ctx, flat, PLX_E_DATA, "hierarchy", "assignment=hier-sumscore");
    assert_refused(ctx, flat, PLX_E_ARG, "clusters = 3", "clusters=3");
    assert_refused(ctx, none, PLX_E_ARG, "clusters", "assignment=sumscore");
    assert_refused(ctx, none, PLX_E_ARG, "init = labels", "clusters=2", "init=labels");
    assert_refused(ctx, none, PLX_E_ARG, "init = sideways", "clusters=2", "init=sideways");
    assert_refused(ctx, none, PLX_E_DATA, "short.txt: the file has 2 lines", "clusters=2", "init=file:short.txt");
    assert_refused(ctx, none, PLX_E_DATA, "wild.txt: line 3", "clusters=2", "init=file:wild.txt");
    assert_refused(ctx, none, PLX_E_DATA, "words.txt: line 3: 'x'", "clusters=2", "init=file:words.txt");
    assert_refused(ctx, none, PLX_E_IO, "gone.txt", "clusters=2", "init=file:gone.txt");
    plx_params *p = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, "mvkmeans"));
    assert_fails(ctx, plx_params_set(p, ctx, "alpha2", "-1"), PLX_E_ARG, "alpha2");
    plx_params_destroy(p);
    plx_dataset_destroy(flat);
    plx_dataset_destroy(none);
    plx_dataset_destroy(tree);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

static void bad_labels_and_rules_are_named(void **state)
{
    (void)state;
    static const double x[4] = {1, 2, 3, 4};
    static const char *const sets[4] = {"A|B", "B", NULL, NULL}, *const leaves[4] = {"Fruit|University", "Fruit", NULL,
                                                                                     NULL};
    static const char *const inner[4] = {"Food", "Fruit", "University", NULL}, *const no_leaf[4] = {"Food", NULL, NULL,
                                                                                                    NULL};
    static const int32_t related[2] = {0, 2};
    const char *directory = NULL;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 4);
    add_dense(d, ctx, "one", PLX_VIEW_REAL, x, 1, NULL);
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, sets));
    assert_refused(ctx, d, PLX_E_DATA, "sample 0 has several labels (A|B)", "assignment=sumscore");
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, leaves));
    assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, HIER_CLASSES, 6, HIER_SUBSET, 5, HIER_MUTEX, 2));
    assert_refused(ctx, d, PLX_E_DATA, "sample 0 has several labels", "assignment=maxagree");
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, no_leaf));
    assert_refused(ctx, d, PLX_E_ARG, "leaf", "assignment=sumscore");
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, inner)); /* a label above the leaves does not count */
    plx_model *m = fit_model(ctx, "mvkmeans", d, SETTINGS("assignment=sumscore"));
    assert_int_equal(m->fitted.outcome.scores.cols, 3);
    plx_model_destroy(m);
    assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, HIER_CLASSES, 6, HIER_SUBSET, 5, related, 1));
    assert_refused(ctx, d, PLX_E_DATA, "mutex between 'Fruit' and 'Everything'", "assignment=hier-sumscore");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void refused_memory_is_reported(void **state)
{
    (void)state;
    static const variant some[] = {
        {{"assignment=hier-maxagree", "alpha2=0.3"}, true, true, true},
        {{"assignment=cotrain"}, false, true, true},
        {{"clusters=3", "restarts=2", "empty=reseed"}, false, false, true},
        {{"assignment=maxagree", "clusters=2", "empty=reseed", "restarts=2"}, false, false, true},
    };
    for (int v = 0; v < 4; v++) {
        bool done = false;
        plx_context *outer = test_context(1);
        plx_dataset *d = make_data(outer, 20, 2, some[v].hierarchy, some[v].seeded ? 4 : 0, true);
        for (long at = 1; !done; at++) {
            meter m = {0, 0, 0};
            plx_context *ctx = metered_context(&m, 1);
            plx_params *p = settings_of(ctx, "mvkmeans", some[v].settings);
            plx_model *model = NULL;
            long before = m.calls;
            m.fail_at = before + at;
            plx_status st = plx_fit(&model, ctx, "mvkmeans", d, p, NULL);
            done = st == PLX_OK && m.calls < m.fail_at;
            if (!done) assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
            plx_model_destroy(model);
            plx_params_destroy(p);
            plx_context_destroy(ctx);
            assert_int_equal(m.live, 0);
        }
        plx_dataset_destroy(d);
        plx_context_destroy(outer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(the_objective_never_decreases),
        cmocka_unit_test(one_view_makes_the_rules_equal),
        cmocka_unit_test(agreement_joins_or_frees_the_views),
        cmocka_unit_test(new_samples_follow_the_same_rule),
        cmocka_unit_test(no_evidence_means_the_most_frequent_label),
        cmocka_unit_test(ties_go_to_the_first_class),
        cmocka_unit_test(empty_clusters_are_kept_or_reseeded),
        cmocka_unit_test(more_starts_are_never_worse),
        cmocka_unit_test(starts_beside_labels),
        cmocka_unit_test(held_out_samples_are_new_samples),
        cmocka_unit_test(solvers_are_counted),
        cmocka_unit_test(bad_settings_are_named),
        cmocka_unit_test(bad_labels_and_rules_are_named),
        cmocka_unit_test(refused_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
