/*
 * cotrain: a round worked out by hand, what the rounds must respect whatever the learner, errors, threads. Values of whole
 * runs against an independent implementation are in tests/cases/cotrain.
 */
#include "fit_helpers.h"

enum { N = 40, COLS = 9, VIEWS = 3, K = 3 };

static const char *const VIEW_NAMES[VIEWS] = {"v1", "v2", "v3"};

/* Counts; class c prefers features c modulo 3. The first nine samples are labelled; some miss a view. */
static plx_dataset *make_data(plx_context *ctx, plx_index views, bool holes)
{
    plx_dataset *d = new_dataset(ctx, N);
    plx__rng r = plx__rng_start(6, PLX__STREAM('c', 'o', 't', 'r', views));
    double x[N * COLS];
    uint8_t present[N];
    int label[N];
    for (plx_index v = 0; v < views; v++) {
        for (int i = 0; i < N; i++) {
            present[i] = !holes || i < 9 || (i + v) % 4 != 0;
            for (int j = 0; j < COLS; j++)
                x[i * COLS + j] = random_count(&r, 4) * (plx__next_uniform(&r) < (j % K == i % K ? 0.9 : 0.35));
            x[i * COLS + i % K] += 1;
        }
        if (v == 1) add_dense(d, ctx, VIEW_NAMES[v], PLX_VIEW_COUNTS, x, COLS, present);
        else add_thin(d, ctx, VIEW_NAMES[v], PLX_VIEW_COUNTS, x, COLS, present);
    }
    for (int i = 0; i < N; i++) label[i] = i < 9 ? i % K : -1;
    set_labels(d, ctx, label);
    return d;
}

static const char *const BASES[5] = {"base=nb", "base=logistic", "base=rls", "base=svm", "base=gp"};

/* ---- by hand ---- */

/* Two features, naive Bayes without smoothing of zero: theta_A = (2/3, 1/3), theta_B = (1/3, 2/3), equal priors. A sample
 * (a, b) has log-odds (a - b) log 2. Of the pool 2..5 = (3,1), (1,3), (1,2), (5,4), A's surest is 2, B's 3. */
static void a_round_by_hand(void **state)
{
    static const double x[12] = {1, 0, 0, 1, 3, 1, 1, 3, 1, 2, 5, 4};
    static const double added[18] = {0, 0, -1, 0, 1, -1, 1, 0, 0, 1, 1, 0, -1, -1, -1, -1, -1, -1};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 6);
    add_dense(d, ctx, "v", PLX_VIEW_COUNTS, x, 2, NULL);
    set_labels(d, ctx, (int[]){0, 1, -1, -1, -1, -1});
    plx_model *m = fit_model(ctx, "cotrain", d, SETTINGS("grow=1", "rounds=1"));
    assert_same_matrix(array_of(m, "added"), (plx_cmat){added, 6, 3, 3}, 0);
    assert_int_equal(m->facts.iterations, 1);
    /* retrained: A has counts (4, 1), B (1, 4): theta (5/7, 2/7) and (2/7, 5/7) */
    plx_cmat p = array_of(m, "posterior");
    assert_close(p.data[2 * 4], 2.0 / 7 / (5.0 / 7 + 2.0 / 7), 1e-12); /* (1, 2): odds of A 2/5 */
    assert_close(p.data[2 * 5], 5.0 / 7, 1e-12);                       /* (5, 4): odds of A 5/2 */
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Both views want sample 2; the surer one teaches it. Equal ones: the first. */
static void the_surer_view_teaches(void **state)
{
    (void)state;
    for (int equal = 0; equal < 2; equal++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = new_dataset(ctx, 3);
        double x[6] = {1, 0, 0, 1, 2, 0}, y[6] = {1, 0, 0, 1, 0, equal ? 2 : 5};
        add_dense(d, ctx, "first", PLX_VIEW_COUNTS, x, 2, NULL);
        add_dense(d, ctx, "second", PLX_VIEW_COUNTS, y, 2, NULL);
        set_labels(d, ctx, (int[]){0, 1, -1});
        plx_model *m = fit_model(ctx, "cotrain", d, SETTINGS("grow=1"));
        plx_cmat added = array_of(m, "added");
        assert_close(added.data[6], 1, 0);
        assert_close(added.data[7], equal ? 0 : 1, 0);
        assert_close(added.data[8], equal ? 0 : 1, 0);
        assert_int_equal(m->facts.converged, 1); /* the pool is empty */
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

/* No rounds and one view: naive Bayes itself. */
static void no_rounds_is_the_learner(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 2, false);
    plx_model *a = fit_model(ctx, "cotrain", d, SETTINGS("rounds=0", "smoothing=0.5"));
    plx_model *b = fit_model(ctx, "nb", d, SETTINGS("smoothing=0.5"));
    assert_same_matrix(array_of(a, "posterior"), array_of(b, "posterior"), 1e-12);
    assert_same_matrix(array_of(a, "posterior.v2"), array_of(b, "posterior.v2"), 1e-12);
    assert_int_equal(a->facts.iterations, 0);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- what rounds respect ---- */

static void check_rounds(const plx_model *m, plx_index views, double grow, plx_index pool)
{
    plx_cmat added = array_of(m, "added");
    double count[64][K][VIEWS] = {{{0}}}, per_round[64] = {0}, last = 0;
    for (plx_index i = 0; i < added.rows; i++) {
        const double *row = added.data + i * added.ld;
        if (i < 9) assert_true(row[0] == 0 && row[1] == i % K && row[2] == -1);
        else assert_true((row[0] == -1 && row[1] == -1 && row[2] == -1) || (row[0] >= 1 && row[2] < (double)views));
        if (row[0] < 1) continue;
        count[(int)row[0]][(int)row[1]][(int)row[2]]++;
        per_round[(int)row[0]]++;
        last = fmax(last, row[0]);
    }
    assert_close(last, (double)m->facts.iterations, 0);
    for (int t = 1; t <= (int)last; t++) {
        assert_true(per_round[t] > 0 && (!pool || per_round[t] <= (double)pool));
        for (int c = 0; c < K; c++)
            for (int v = 0; v < VIEWS; v++) assert_true(count[t][c][v] <= grow);
    }
}

static void rounds_keep_the_rules(void **state)
{
    (void)state;
    for (int b = 0; b < 5; b++)
        for (plx_index views = 1; views <= VIEWS; views++) {
            plx_context *ctx = test_context(2);
            plx_dataset *d = make_data(ctx, views, true);
            plx_model *m = fit_model(ctx, "cotrain", d, SETTINGS(BASES[b], "grow=2", "pool=10", "rounds=5"));
            check_rounds(m, views, 2, 10);
            plx_model *all = fit_model(ctx, "cotrain", d, SETTINGS(BASES[b], "grow=100", "pool=0"));
            check_rounds(all, views, 100, 0);
            assert_int_equal(all->facts.iterations, 1); /* everybody at once */
            assert_int_equal(all->facts.converged, 1);
            plx_model_destroy(m);
            plx_model_destroy(all);
            plx_dataset_destroy(d);
            plx_context_destroy(ctx);
        }
}

/* With pool_order=index the samples enter the pool in order: the first round teaches from the first ones. */
static void the_pool_is_filled_in_order(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 2, false);
    plx_model *m = fit_model(ctx, "cotrain", d, SETTINGS("pool_order=index", "pool=6", "grow=1", "rounds=2"));
    plx_cmat added = array_of(m, "added");
    plx_index first = 0;
    for (plx_index i = 9; i < N; i++) {
        first += added.data[i * added.ld] == 1;
        if (added.data[i * added.ld] == 1) assert_true(i < 15);
    }
    for (plx_index i = 9; i < N; i++)
        if (added.data[i * added.ld] == 2) assert_true(i < 15 + first);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Labelled 4, 2 and 2 times: proportional growth is 2, 1, 1. */
static void growth_follows_the_classes(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 2, false);
    int label[N];
    for (int i = 0; i < N; i++) label[i] = i < 8 ? (i < 6 ? i % K : 0) : -1;
    set_labels(d, ctx, label);
    plx_model *a = fit_model(ctx, "cotrain", d, SETTINGS("rounds=4", "pool=0"));
    plx_model *b = fit_model(ctx, "cotrain", d, SETTINGS("rounds=4", "pool=0", "grow=2,1,1"));
    assert_same_matrix(array_of(a, "added"), array_of(b, "added"), 0);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- odd data ---- */

/* Class B has no labelled sample in view 2: left out there, until view 1 teaches one that has the view. View 2 itself is
 * infinitely sure that all are of class A, and of equal ones it teaches the first. */
static void nb_leaves_a_class_out(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 4);
    double x[8] = {3, 0, 0, 3, 2, 0, 0, 2}, y[8] = {3, 0, 9, 9, 2, 0, 0, 2};
    uint8_t present[4] = {1, 0, 1, 1};
    add_dense(d, ctx, "one", PLX_VIEW_COUNTS, x, 2, NULL);
    add_dense(d, ctx, "two", PLX_VIEW_COUNTS, y, 2, present);
    set_labels(d, ctx, (int[]){0, 1, -1, -1});
    plx_model *before = fit_model(ctx, "cotrain", d, SETTINGS("rounds=0"));
    plx_cmat p = array_of(before, "posterior.two");
    for (int i = 0; i < 4; i++) assert_true(p.data[2 * i + 1] == 0 && p.data[2 * i] == (i != 1));
    bool told = false;
    for (plx_index i = 0; i < plx_model_warnings(before); i++)
        told |= strstr(plx_model_warning(before, i), "has view 'two'") != NULL;
    assert_true(told);
    plx_model *after = fit_model(ctx, "cotrain", d, SETTINGS("grow=1", "rounds=2"));
    assert_true(array_of(after, "posterior.two").data[2 * 3 + 1] > 0.5);
    plx_model_destroy(before);
    plx_model_destroy(after);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A sample without any view is never pooled and gets the class frequencies of L. */
static void uncovered_samples(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 4);
    double x[8] = {3, 0, 2, 0, 0, 3, 0, 0};
    add_dense(d, ctx, "v", PLX_VIEW_COUNTS, x, 2, NULL); /* row 3 is zero: missing */
    set_labels(d, ctx, (int[]){0, 0, 1, -1});
    plx_model *m = fit_model(ctx, "cotrain", d, NULL);
    plx_cmat p = array_of(m, "posterior"), added = array_of(m, "added");
    assert_close(p.data[6], 2.0 / 3, 1e-15);
    assert_close(added.data[9], -1, 0);
    assert_int_equal(m->facts.iterations, 0);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- Gaussian processes ---- */

/* Without rounds every view's posterior is that of gp on this view; the first round takes what follows from them. */
static void gp_learners_are_gp(void **state)
{
    static const char *const view_settings[] = {"view=v1", "view=v2"};
    static const char *const posterior[] = {"posterior.v1", "posterior.v2"};
    double best[N];
    int expect[N];
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 2, false);
    plx_model *none = fit_model(ctx, "cotrain", d, SETTINGS("base=gp", "rounds=0"));
    plx_model *one = fit_model(ctx, "cotrain", d, SETTINGS("base=gp", "rounds=1", "grow=1", "pool=0"));
    for (int i = 0; i < N; i++) expect[i] = -1;
    for (int v = 0; v < 2; v++) {
        plx_model *g = fit_model(ctx, "gp", d, SETTINGS(view_settings[v]));
        plx_cmat p = array_of(g, "probability");
        assert_same_matrix(array_of(none, posterior[v]), p, 1e-12);
        for (int c = 0; c < K; c++) {
            int first = -1;
            for (int i = 9; i < N; i++) { /* the surest of those this view calls c */
                const double *q = p.data + i * K;
                bool own = q[c] >= q[0] && q[c] >= q[1] && q[c] >= q[2];
                if (own && (first < 0 || q[c] > p.data[first * K + c])) first = i;
            }
            if (first < 0) continue;
            double sure = p.data[first * K + c];
            if (expect[first] < 0 || sure > best[first]) {
                expect[first] = c;
                best[first] = sure;
            }
        }
        plx_model_destroy(g);
    }
    plx_cmat added = array_of(one, "added");
    for (int i = 9; i < N; i++) assert_close(added.data[3 * i + 1], expect[i], 0);
    plx_model_destroy(none);
    plx_model_destroy(one);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* More labelled samples than twice the features: the state is in weight space, and says the same. */
static void gp_learners_in_weight_space(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 1, false);
    int label[N];
    for (int i = 0; i < N; i++) label[i] = i < 30 ? i % K : -1;
    set_labels(d, ctx, label);
    plx_model *m = fit_model(ctx, "cotrain", d, SETTINGS("base=gp", "rounds=0"));
    plx_model *g = fit_model(ctx, "gp", d, NULL);
    assert_same_matrix(array_of(m, "posterior"), array_of(g, "probability"), 1e-12);
    plx_prediction *again = NULL;
    plx_cmat p = {0};
    assert_ok(ctx, plx_predict(&again, ctx, m, d));
    assert_ok(ctx, plx_prediction_array(&p, again, "posterior"));
    assert_same_matrix(p, array_of(m, "posterior"), 1e-12);
    plx_prediction_destroy(again);
    plx_model_destroy(m);
    plx_model_destroy(g);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- errors ---- */

static void refusals(void **state)
{
    static const struct {
        const char *settings[4];
        plx_status status;
        const char *word;
    } list[] = {
        {{"grow=1,2"}, PLX_E_ARG, "grow"},
        {{"grow=1.5"}, PLX_E_ARG, "grow"},
    };
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 2, false);
    plx_params *p = NULL;
    plx_model *m = NULL;
    int nobody[N];
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        assert_fails(ctx, try_fit(&m, ctx, "cotrain", d, list[i].settings, NULL), list[i].status, list[i].word);
    assert_ok(ctx, plx_params_create(&p, ctx, "cotrain"));
    assert_fails(ctx, plx_params_set(p, ctx, "base", "forest"), PLX_E_ARG, "base");
    assert_fails(ctx, plx_params_set(p, ctx, "grow", "0"), PLX_E_ARG, "grow");
    assert_fails(ctx, plx_params_set(p, ctx, "pool", "-1"), PLX_E_ARG, "pool");
    plx_params_destroy(p);
    for (int i = 0; i < N; i++) nobody[i] = -1;
    set_labels(d, ctx, nobody);
    assert_fails(ctx, try_fit(&m, ctx, "cotrain", d, NULL, NULL), PLX_E_DATA, "label");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void classes_without_samples(void **state)
{
    static const char *const classes[] = {"A", "B", "C", "D"};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_data(ctx, 2, false), *holes = NULL;
    plx_model *m = NULL;
    uint8_t present[2 * N];
    for (int i = 0; i < 2 * N; i++) present[i] = i < N || i % K != 0; /* class of (i - N) = 2, 5, 8: i % 3 = 0 */
    assert_ok(ctx, plx_dataset_mask(&holes, ctx, d, present));
    for (int b = 1; b < 5; b++) {
        assert_fails(ctx, try_fit(&m, ctx, "cotrain", holes, SETTINGS(BASES[b]), NULL), PLX_E_DATA, "view 'v2'");
        assert_fails(ctx, try_fit(&m, ctx, "cotrain", holes, SETTINGS(BASES[b]), NULL), PLX_E_DATA, "class 'C'");
    }
    assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 4, NULL, 0, NULL, 0));
    for (int b = 0; b < 5; b++)
        assert_fails(ctx, try_fit(&m, ctx, "cotrain", d, SETTINGS(BASES[b]), NULL), PLX_E_DATA, "'D'");
    plx_dataset_destroy(d);
    plx_dataset_destroy(holes);
    plx_context_destroy(ctx);
}

static void negative_values(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 4);
    plx_model *m = NULL;
    double x[8] = {1, 2, 3, -1, 1, 1, -2, 0};
    add_dense(d, ctx, "signed", PLX_VIEW_REAL, x, 2, NULL);
    set_labels(d, ctx, (int[]){0, 1, -1, -1});
    assert_fails(ctx, try_fit(&m, ctx, "cotrain", d, NULL, NULL), PLX_E_DATA, "view 'signed' row 1");
    for (int b = 1; b < 5; b++) {
        m = fit_model(ctx, "cotrain", d, SETTINGS(BASES[b]));
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- threads ---- */

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int b = 0; b < 5; b++) {
        plx_context *ctx[2] = {test_context(1), test_context(7)};
        plx_dataset *d[2];
        plx_model *m[2];
        for (int t = 0; t < 2; t++) {
            d[t] = make_data(ctx[t], VIEWS, true);
            m[t] = fit_model(ctx[t], "cotrain", d[t], SETTINGS(BASES[b], "rounds=6", "pool=15"));
        }
        assert_same_matrix(array_of(m[0], "posterior"), array_of(m[1], "posterior"), 0);
        assert_same_matrix(array_of(m[0], "added"), array_of(m[1], "added"), 0);
        for (int t = 0; t < 2; t++) {
            plx_model_destroy(m[t]);
            plx_dataset_destroy(d[t]);
            plx_context_destroy(ctx[t]);
        }
    }
}

/* ---- the prior ---- */

/* Of the labelled samples only one, of class A, has v2: with prior=given that view teaches nothing in the first round, with
 * prior=taught it teaches A. The prior of v1 is that of all given labels, two A and one B. */
static void a_view_of_one_class_does_not_teach(void **state)
{
    (void)state;
    static const double x[14] = {3, 1, 1, 3, 4, 1, 5, 1, 1, 4, 2, 1, 1, 2};
    for (int taught = 0; taught < 2; taught++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = new_dataset(ctx, 7);
        add_dense(d, ctx, "v1", PLX_VIEW_COUNTS, x, 2, NULL);
        add_dense(d, ctx, "v2", PLX_VIEW_COUNTS, x, 2, (uint8_t[]){1, 0, 0, 1, 1, 1, 1});
        set_labels(d, ctx, (int[]){0, 1, 0, -1, -1, -1, -1});
        plx_model *m = fit_model(ctx, "cotrain", d,
                                 SETTINGS("grow=1", "rounds=1", "pool=0", taught ? "prior=taught" : "prior=given"));
        plx_cmat added = array_of(m, "added");
        int by_v2 = 0;
        for (int i = 0; i < 7; i++) by_v2 += added.data[i * 3 + 2] == 1;
        assert_int_equal(by_v2, taught);
        const plx__array *prior = plx__store_find(&m->store, "_prior.v1");
        if (!taught) assert_close(prior->dense.data[0], 2.0 / 3, 1e-15);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_by_hand),
        cmocka_unit_test(the_surer_view_teaches),
        cmocka_unit_test(no_rounds_is_the_learner),
        cmocka_unit_test(rounds_keep_the_rules),
        cmocka_unit_test(the_pool_is_filled_in_order),
        cmocka_unit_test(growth_follows_the_classes),
        cmocka_unit_test(nb_leaves_a_class_out),
        cmocka_unit_test(a_view_of_one_class_does_not_teach),
        cmocka_unit_test(uncovered_samples),
        cmocka_unit_test(gp_learners_are_gp),
        cmocka_unit_test(gp_learners_in_weight_space),
        cmocka_unit_test(refusals),
        cmocka_unit_test(classes_without_samples),
        cmocka_unit_test(negative_values),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
