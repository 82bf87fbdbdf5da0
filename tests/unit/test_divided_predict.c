/* New samples that are divided among ranks: each predicts its own, and labels, scores, arrays, files, metrics and warnings
 * are those of one process. */
#include "divided_helpers.h"

#include <math.h>

#include "api/model_impl.h"

#ifdef PLX_CHECKED
enum { PANES = 6, ONLY_SOME = 0 };
#else
enum { PANES = 2, ONLY_SOME = 1 }; /* panes are long: some methods, the others where they are short */
#endif
enum { N = PANES * PLX__PANE_ROWS + 7, FITTED = 90, COLS = 5, K = 3, FEW = 23 };

/* ---- data ---- */

/* How the new samples differ from those of the fit. */
enum { AS_FITTED = 0, SHUFFLED = 1, OTHER_STORE = 2, LACKS_VIEW = 4, COMPLETE = 8, WITH_IDS = 16 };

typedef struct rule {
    const char *method;
    bool dense, real;
    const char *settings[12];
    bool gathers; /* new samples are compared with each other */
    int change;
} rule;

/* Fitted: column j of the view. New and shuffled: they come the other way round, one is unknown and one is not there. */
static const char *const FEATURES[COLS] = {"f0", "f1", "f2", "f3", "f4"};
static const char *const SHUFFLED_FEATURES[COLS] = {"f4", "f3", "new", "f1", "f0"};

static double value_of(const rule *t, plx__rng *rng, int i, int column)
{
    double level = column % K == i % K ? 3 : 0;
    if (t->real) return plx__next_normal(rng) + level;
    return random_count(rng, 3) + random_count(rng, 2 + (int)level);
}

/* The last pane, which is short, and some samples elsewhere have no view at all; rows of zeros say nothing to some. */
static bool has_view(const rule *t, int i, int n, int v)
{
    if (n == FITTED || (t->change & COMPLETE)) return n != FITTED || i % 7 || v;
    return i < PANES * PLX__PANE_ROWS && i % 17 != 3 && (v || i % 13 != 5);
}

static void add_view(plx_dataset *d, plx_context *ctx, const rule *t, int n, int v)
{
    plx__rng rng = plx__rng_start(7, PLX__STREAM('p', 'r', 'e', 'd', (uint64_t)(n + v)));
    bool fresh = n != FITTED, dense = fresh && (t->change & OTHER_STORE) ? !t->dense : t->dense;
    plx_view_kind kind = t->real ? PLX_VIEW_REAL : PLX_VIEW_COUNTS;
    const char *const *names = fresh && (t->change & SHUFFLED) ? SHUFFLED_FEATURES : FEATURES;
    double *x = calloc((size_t)n * COLS, sizeof *x);
    uint8_t *present = calloc((size_t)n, 1);
    for (int i = 0; i < n; i++) {
        present[i] = has_view(t, i, n, v);
        for (int j = 0; j < COLS; j++) {
            double value = value_of(t, &rng, i, names == FEATURES ? j : COLS - 1 - j);
            x[i * COLS + j] = !t->real && fresh && i % 29 == 7 ? 0 : value;
        }
    }
    plx_cmat values = {x, n, COLS, COLS};
    plx_csr thin;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (dense) assert_ok(ctx, plx_dataset_add_dense(d, ctx, v ? "b" : "a", kind, values, names, present));
    else {
        plx__arena arena;
        plx__arena_init(&arena, ctx);
        for (plx_index i = 0; i < n; i++)
            if (!present[i]) memset(x + i * COLS, 0, COLS * sizeof *x);
        assert_ok(ctx, plx__csr_from_dense(&thin, &arena, values));
        assert_ok(ctx, plx_dataset_add_sparse(d, ctx, v ? "b" : "a", kind, plx__ccsr(thin), names, present));
        plx__arena_free(&arena);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    free(x);
    free(present);
}

static void set_ids(plx_dataset *d, plx_context *ctx, int n)
{
    char(*id)[16] = malloc((size_t)n * sizeof *id);
    const char **ids = malloc((size_t)n * sizeof *ids);
    for (int i = 0; i < n; i++) {
        snprintf(id[i], sizeof id[i], "s%d", i);
        ids[i] = id[i];
    }
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    free(ids);
    free(id);
}

static plx_dataset *make_data(plx_context *ctx, const rule *t, int n)
{
    plx_dataset *d = new_dataset(ctx, n);
    int *label = malloc((size_t)n * sizeof *label);
    if (t->change & WITH_IDS) set_ids(d, ctx, n);
    for (int v = 0; v < 2; v++)
        if (n == FITTED || !v || !(t->change & LACKS_VIEW)) add_view(d, ctx, t, n, v);
    for (int i = 0; i < n; i++) label[i] = i % K;
    set_labels(d, ctx, label);
    free(label);
    return d;
}

/* As the settings say, and else as a user has it. */
static plx_model *fit_rule(plx_context *ctx, const rule *t, const plx_dataset *d)
{
    plx_params *p = NULL;
    plx_model *m = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, t->method));
    for (int k = 0; t->settings[k]; k++) {
        char key[64];
        const char *equals = strchr(t->settings[k], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - t->settings[k]), t->settings[k]);
        assert_ok(ctx, plx_params_set(p, ctx, key, equals + 1));
    }
    assert_ok(ctx, plx_fit(&m, ctx, t->method, d, p, NULL));
    plx_params_destroy(p);
    return m;
}

static void prepare(const rule *t, const char *folder)
{
    char path[128];
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, t, FITTED), *fresh = make_data(ctx, t, N);
    plx_model *m = fit_rule(ctx, t, d);
    snprintf(path, sizeof path, "%s/model.plx", folder);
    assert_ok(ctx, plx_model_save(ctx, m, path));
    snprintf(path, sizeof path, "%s/new.h5mu", folder);
    assert_ok(ctx, plx_dataset_write(ctx, fresh, path));
    plx_model_destroy(m);
    plx_dataset_destroy(fresh);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- by all ranks ---- */

static plx_model *load_model(rank_job *job)
{
    char path[128];
    plx_model *m = NULL;
    snprintf(path, sizeof path, "%s/model.plx", job->folder);
    assert_ok(job->ctx, plx_model_load(&m, job->ctx, path));
    return m;
}

static plx_dataset *load_data(rank_job *job, int own_rows)
{
    char path[128];
    snprintf(path, sizeof path, "%s/new.h5mu", job->folder);
    return read_data(job->ctx, path, own_rows);
}

/* Metrics and warnings, which every rank has, and arrays that are not over samples. */
static void write_facts(rank_job *job, const plx_prediction *p, const plx_model *m, const plx_dataset *d)
{
    char path[160];
    plx_metrics *metrics = NULL;
    assert_ok(job->ctx, plx_prediction_metrics(&metrics, job->ctx, p, m, d));
    snprintf(path, sizeof path, "%s/facts_%d_%d.txt", job->folder, job->ranks, job->rank);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (plx_index i = 0; i < plx_metrics_count(metrics); i++)
        fprintf(f, "%s %a\n", plx_metrics_name(metrics, i), plx_metrics_value(metrics, i, NULL));
    for (plx_index i = 0; i < plx_prediction_warnings(p); i++) fprintf(f, "%s\n", plx_prediction_warning(p, i));
    fclose(f);
    plx_metrics_destroy(metrics);
}

/* By all ranks where the results are divided, else by the first one, whose results are those of all samples. */
static void write_files(rank_job *job, const plx_prediction *p, const plx_dataset *d)
{
    static const char *const endings[] = {"csv", "npy", "tsv"};
    char path[160];
    int number = 0;
    if (job->rank > 0 && !plx_prediction_divided(p)) return;
    snprintf(path, sizeof path, "%s/labels_%d.csv", job->folder, job->ranks);
    assert_ok(job->ctx, plx_prediction_write(job->ctx, p, d, path));
    for (const plx__array *a = p->store.first; a; a = a->next, number++) {
        snprintf(path, sizeof path, "%s/array%d_%d.%s", job->folder, number, job->ranks, endings[number % 3]);
        assert_ok(job->ctx, plx_prediction_array_write(job->ctx, p, a->name, path));
    }
}

static void predict_work(rank_job *job)
{
    const rule *t = job->arg;
    plx_model *m = load_model(job);
    plx_dataset *d = load_data(job, 1);
    plx_prediction *p = NULL;
    assert_ok(job->ctx, plx_predict(&p, job->ctx, m, d));
    assert_int_equal(plx_prediction_divided(p), job->ranks > 1 && !t->gathers);
    int64_t samples = plx_prediction_samples(p);
    if (plx_prediction_divided(p)) assert_ok(job->ctx, plx__peers_total(job->ctx, &samples, 1));
    assert_int_equal(samples, N);
    write_files(job, p, d);
    write_facts(job, p, m, d);
    plx_prediction_destroy(p);
    plx_dataset_destroy(d);
    plx_model_destroy(m);
}

static void assert_same(const char *folder, int ranks)
{
    static const char *const endings[] = {"csv", "npy", "tsv"};
    char stem[32] = "array0";
    assert_true(assert_like_one(folder, "labels", ranks, "csv"));
    for (int i = 1; assert_like_one(folder, stem, ranks, endings[(i - 1) % 3]); i++)
        snprintf(stem, sizeof stem, "array%d", i);
    assert_all_like_one(folder, "facts", ranks);
}

/* ---- beside a few samples by themselves ---- */

static void assert_close_rows(plx_cmat all, const plx_index *sample, plx_cmat few)
{
    assert_int_equal(few.rows, FEW);
    assert_int_equal(all.cols, few.cols);
    for (plx_index i = 0; i < few.rows; i++)
        for (plx_index j = 0; j < few.cols; j++) {
            double x = all.data[sample[i] * all.ld + j], y = few.data[i * few.ld + j];
            if (isnan(x) && isnan(y)) continue;
            assert_true(x == y || fabs(x - y) <= 1e-9 * fmax(1, fabs(x)));
        }
}

/* What is said of a sample does not depend on the others, which is why panes can be predicted one by one. */
static void few_work(rank_job *job)
{
    plx_model *m = load_model(job);
    plx_dataset *d = load_data(job, 0), *few = NULL;
    plx_prediction *all = NULL, *some = NULL;
    plx_index sample[FEW];
    for (plx_index i = 0; i < FEW; i++) sample[i] = 1 + i * (N - 9) / FEW;
    assert_ok(job->ctx, plx_dataset_select(&few, job->ctx, d, sample, FEW));
    assert_ok(job->ctx, plx_predict(&all, job->ctx, m, d));
    assert_ok(job->ctx, plx_predict(&some, job->ctx, m, few));
    for (plx_index i = 0; i < FEW; i++)
        assert_string_equal(plx_prediction_label(all, sample[i]), plx_prediction_label(some, i));
    if (some->outcome.columns) assert_close_rows(plx_prediction_scores(all), sample, plx_prediction_scores(some));
    for (const plx__array *a = some->store.first; a; a = a->next) {
        const plx__array *b = plx__store_find(&all->store, a->name);
        bool by_sample = plx__array_by_sample(plx__array_spec_find(m->method, a->name), 0);
        if (!by_sample) continue;
        assert_non_null(b);
        assert_close_rows(plx__cmat(b->dense), sample, plx__cmat(a->dense));
    }
    plx_prediction_destroy(all);
    plx_prediction_destroy(some);
    plx_dataset_destroy(few);
    plx_dataset_destroy(d);
    plx_model_destroy(m);
}

static void predictions_are_those_of_one_process(void **state)
{
    static const rule rules[] = {
        {"nb", .change = WITH_IDS},
        {"mvkmeans", .dense = true, .real = true},
        {"svm", .settings = {"kernel=rbf", NULL}, .change = OTHER_STORE},
        {"cca", .dense = true, .real = true, .settings = {"dim=2", "classifier=svm", NULL}, .change = COMPLETE},
        {"coem", .settings = {"max_iter=3", NULL}, .change = SHUFFLED},
        {"rls", .dense = true, .settings = {"view=a", NULL}, .change = SHUFFLED | OTHER_STORE},
        {"gp", .dense = true, .settings = {"optimize=none", NULL}, .change = LACKS_VIEW},
        {"mvplsa", .settings = {"max_iter=3", "topics=4", NULL}},
        {"nb", .dense = true, .change = SHUFFLED | WITH_IDS},
        {"nb", .settings = {"rows=l1", "combine=product", NULL}, .change = LACKS_VIEW},
        {"coem", .dense = true, .real = true, .settings = {"max_iter=3", NULL}},
        {"coem", .settings = {"mode=concat", "max_iter=3", NULL}, .change = LACKS_VIEW | OTHER_STORE},
        {"mvkmeans", .settings = {"assignment=concat", "scale=tfidf", NULL}, .change = WITH_IDS},
        {"mvkmeans", .settings = {"assignment=single:b", NULL}, .change = WITH_IDS},
        {"rls", .dense = true, .real = true, .settings = {"scale=zscore", NULL}},
        {"svm", .dense = true, .real = true, .settings = {"decision=share", NULL}},
        {"laprls", .dense = true, .settings = {"kernel=rbf", NULL}, .change = OTHER_STORE},
        {"colaprls", .dense = true, .change = WITH_IDS},
        {"corls", .dense = true, .real = true},
        {"gp", .dense = true, .real = true, .settings = {"kernel=rbf", "pivots=12", "optimize=none", NULL}},
        {"bct", .dense = true, .real = true, .settings = {"pivots=12", "optimize=none", NULL}},
        {"bct", .settings = {"optimize=none", NULL}, .change = COMPLETE},
        {"cca", .settings = {"dim=2", NULL}, .change = COMPLETE | SHUFFLED},
        {"kcca", .dense = true, .real = true, .settings = {"kernel=rbf", "dim=2", NULL}, .change = COMPLETE},
        {"colr", .dense = true, .settings = {"gem_iter=2", NULL}},
        {"cotrain", .settings = {"rounds=2", NULL}},
        {"cotrain", .dense = true, .real = true, .settings = {"base=svm", "rounds=2", NULL}},
        {"hknn", .dense = true, .real = true},
        {"mrknn", .change = WITH_IDS},
        {"mrdbscan", .dense = true, .real = true, .settings = {"minpts=4", NULL}},
        {"localmodels", .dense = true, .change = COMPLETE},
        {"infobottleneck", .settings = {"clusters=3", NULL}, .change = COMPLETE},
        {"mvc", .settings = {"clusters=3", "max_iter=5", NULL}, .gathers = true},
        {"spectral", .dense = true, .real = true, .settings = {"clusters=3", NULL}, .gathers = true},
        {"auto", .dense = true, .gathers = true},
    };
    (void)state;
    for (size_t k = 0; k < (ONLY_SOME ? 7 : sizeof rules / sizeof *rules); k++) {
        char folder[64];
        print_message("  %s", rules[k].method);
        make_directory(folder);
        prepare(&rules[k], folder);
        if (!rules[k].gathers) together(1, few_work, &rules[k], folder);
        for (int ranks = 1; ranks <= (ONLY_SOME ? 3 : MOST); ranks += ranks == 3 ? 2 : 1) {
            together(ranks, predict_work, &rules[k], folder);
            assert_same(folder, ranks);
        }
        remove_directory(folder);
    }
    print_message("\n");
}

/* ---- all rows on every rank ---- */

/* Data that are read whole are predicted by all ranks together too, and everybody has all results. */
static void whole_work(rank_job *job)
{
    plx_model *m = load_model(job);
    plx_dataset *d = load_data(job, 0);
    plx_prediction *p = NULL;
    char path[128];
    assert_ok(job->ctx, plx_transform(&p, job->ctx, m, d));
    assert_false(plx_prediction_divided(p));
    assert_int_equal(plx_prediction_samples(p), N);
    snprintf(path, sizeof path, "%s/whole_%d_%d.csv", job->folder, job->ranks, job->rank);
    assert_ok(job->ctx, plx_prediction_write(job->ctx, p, d, path));
    snprintf(path, sizeof path, "%s/z_%d_%d.npy", job->folder, job->ranks, job->rank);
    assert_ok(job->ctx, plx_prediction_array_write(job->ctx, p, NULL, path));
    plx_prediction_destroy(p);
    plx_dataset_destroy(d);
    plx_model_destroy(m);
}

static void whole_data_come_out_whole(void **state)
{
    static const rule t = {.method = "nb"};
    char folder[64], alone[160], many[160];
    (void)state;
    make_directory(folder);
    prepare(&t, folder);
    together(1, whole_work, &t, folder);
    together(3, whole_work, &t, folder);
    for (int r = 0; r < 3; r++) {
        snprintf(alone, sizeof alone, "%s/whole_1_0.csv", folder);
        snprintf(many, sizeof many, "%s/whole_3_%d.csv", folder, r);
        assert_same_files(alone, many);
        snprintf(alone, sizeof alone, "%s/z_1_0.npy", folder);
        snprintf(many, sizeof many, "%s/z_3_%d.npy", folder, r);
        assert_same_files(alone, many);
    }
    remove_directory(folder);
}

/* ---- hardly any samples ---- */

static void one_sample_work(rank_job *job)
{
    const int *bare = job->arg;
    plx_model *m = load_model(job);
    plx_dataset *all = load_data(job, 1), *d = NULL;
    plx_prediction *p = NULL;
    char path[128];
    plx_index sample = *bare ? 3 : 4; /* the one has no view */
    assert_ok(job->ctx, plx_dataset_select(&d, job->ctx, all, &sample, 1));
    assert_ok(job->ctx, plx_predict(&p, job->ctx, m, d));
    assert_int_equal(plx_prediction_samples(p), job->rank == 0);
    snprintf(path, sizeof path, "%s/one%d_%d.csv", job->folder, *bare, job->ranks);
    assert_ok(job->ctx, plx_prediction_write(job->ctx, p, d, path));
    plx_prediction_destroy(p);
    plx_dataset_destroy(d);
    plx_dataset_destroy(all);
    plx_model_destroy(m);
}

static void a_single_sample_is_enough(void **state)
{
    static const rule t = {.method = "rls", .dense = true};
    char folder[64], alone[160], many[160];
    (void)state;
    make_directory(folder);
    prepare(&t, folder);
    for (int bare = 0; bare < 2; bare++)
        for (int ranks = 1; ranks <= 3; ranks++) {
            together(ranks, one_sample_work, &bare, folder);
            snprintf(alone, sizeof alone, "%s/one%d_1.csv", folder, bare);
            snprintf(many, sizeof many, "%s/one%d_%d.csv", folder, bare, ranks);
            assert_same_files(alone, many);
        }
    remove_directory(folder);
}

/* ---- failures ---- */

typedef struct fault {
    const char *method;
    const char *settings[8];
    bool nan;
    plx_status status;
    const char *message;
} fault;

static void fault_work(rank_job *job)
{
    const fault *f = job->arg;
    plx_model *m = load_model(job);
    plx_dataset *d = load_data(job, 1);
    plx_prediction *p = NULL;
    assert_fails(job->ctx, plx_predict(&p, job->ctx, m, d), f->status, f->message);
    assert_null(p);
    plx_dataset_destroy(d);
    plx_model_destroy(m);
}

/* A value that is missing far from the rows of rank 0. */
static void spoil(const rule *t, const char *folder)
{
    char path[128];
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, t, N);
    double *x = (double *)(uintptr_t)d->views[1].dense.data;
    x[(PANES * PLX__PANE_ROWS - 1) * COLS + 2] = NAN;
    d->views[1].missing_values = 1;
    snprintf(path, sizeof path, "%s/new.h5mu", folder);
    assert_ok(ctx, plx_dataset_write(ctx, d, path));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void all_ranks_end_as_one_process(void **state)
{
    static const fault faults[] = {
        {"rls", {"uncovered=error", NULL}, false, PLX_E_DATA, "has none of the model's views"},
        {"rls", {"view=b", NULL}, true, PLX_E_DATA, "column 2 ('f2'): nan"},
        {"lapreg", {NULL}, false, PLX_E_UNSUPPORTED, "cannot predict new ones"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        rule t = {.method = faults[k].method, .dense = true, .change = faults[k].nan ? COMPLETE : AS_FITTED};
        char folder[64];
        make_directory(folder);
        memcpy(t.settings, faults[k].settings, sizeof faults[k].settings);
        prepare(&t, folder);
        if (faults[k].nan) spoil(&t, folder);
        for (int ranks = 1; ranks <= 3; ranks++) together(ranks, fault_work, &faults[k], folder);
        remove_directory(folder);
    }
}

static int stop_now(const plx_progress *progress, void *payload)
{
    (void)progress, (void)payload;
    return 1;
}

/* One rank is asked to stop while it predicts: the others hear of it. */
static void cancel_work(rank_job *job)
{
    plx_model *m = load_model(job);
    plx_dataset *d = load_data(job, 1);
    plx_prediction *p = NULL;
    if (job->rank == job->ranks - 1) plx_context_set_progress(job->ctx, stop_now, NULL);
    assert_fails(job->ctx, plx_predict(&p, job->ctx, m, d), PLX_E_CANCELLED, "cancelled");
    assert_null(p);
    plx_context_set_progress(job->ctx, NULL, NULL);
    assert_ok(job->ctx, plx_predict(&p, job->ctx, m, d)); /* the context is as before */
    plx_prediction_destroy(p);
    plx_dataset_destroy(d);
    plx_model_destroy(m);
}

static void one_rank_can_be_stopped(void **state)
{
    static const rule t = {.method = "nb"};
    char folder[64];
    (void)state;
    make_directory(folder);
    prepare(&t, folder);
    together(2, cancel_work, &t, folder);
    remove_directory(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_those_of_one_process),
        cmocka_unit_test(whole_data_come_out_whole),
        cmocka_unit_test(a_single_sample_is_enough),
        cmocka_unit_test(all_ranks_end_as_one_process),
        cmocka_unit_test(one_rank_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
