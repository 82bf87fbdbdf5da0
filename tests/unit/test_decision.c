/* From scores to labels: the largest score, and decision=share by a worked example with its corners. */
#include "fit_helpers.h"

#include "run/decision.h"

/* Five samples, two classes; samples 0 (A) and 1 (B) are labelled. */
enum { N = 5, K = 2 };

static const plx__param_table tables[] = {plx__decision_params, NULL};
static const plx__method toy = {.name = "toy"};
static const double SCORES[N * K] = {2, -2, -2, 2, 0.9, 0.0, 0.7, 0.1, 0.5, 0.4};

typedef struct scene {
    plx_context *ctx;
    plx_params *settings;
    plx__problem problem;
    plx__store store;
    plx__run run;
    int32_t label[N];
    uint8_t usable[N];
    double scores[N * K];
} scene;

static const int32_t SEEN[N] = {0, 1, -1, -1, -1}, EVERYBODY[N] = {0, 1, 0, 1, 0};

static void open_scene(scene *s, const int32_t *label, plx_index labelled)
{
    memset(s, 0, sizeof *s);
    s->ctx = test_context(1);
    assert_ok(s->ctx, plx__params_create(&s->settings, s->ctx, "toy", tables));
    s->problem = (plx__problem){.n = N, .n_classes = K, .label = label, .n_labelled = labelled};
    plx__store_init(&s->store, plx__scratch(s->ctx));
    s->run =
        (plx__run){.ctx = s->ctx, .method = &toy, .problem = &s->problem, .settings = s->settings, .out = &s->store};
    memset(s->usable, 1, N);
}

static void close_scene(scene *s)
{
    plx_params_destroy(s->settings);
    plx_context_destroy(s->ctx);
}

static plx_status decide_in(scene *s, plx__run *run)
{
    memcpy(s->scores, SCORES, sizeof SCORES);
    return plx__decide(s->label, run, (plx_mat){s->scores, N, K, K}, s->usable, false);
}

static plx_status decide(scene *s) { return decide_in(s, &s->run); }

static void argmax_takes_the_largest(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, SEEN, 2);
    assert_ok(s.ctx, decide(&s));
    const int32_t expected[] = {0, 1, 0, 0, 0};
    for (int i = 0; i < N; i++) assert_int_equal(s.label[i], expected[i]);
    const double ties[] = {1, 1, 0, 0};
    plx__argmax_rows(s.label, (plx_cmat){ties, 2, 2, 2});
    assert_true(s.label[0] == 0 && s.label[1] == 0); /* ties go to the smaller index */
    close_scene(&s);
}

/* Shares 1/2 each. Unlabelled scores of A: 0.5 0.7 0.9, of B: 0 0.1 0.4; their medians 0.7 and 0.1 are subtracted, so
 * sample 2 has 0.2 and -0.1 (A), sample 3 has 0 and 0 (tie: A), sample 4 has -0.2 and 0.3 (B). */
static void share_by_hand(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, SEEN, 2);
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "share"));
    assert_ok(s.ctx, decide(&s));
    const int32_t expected[] = {0, 1, 0, 0, 1};
    for (int i = 0; i < N; i++) assert_int_equal(s.label[i], expected[i]);
    plx_cmat kept;
    assert_ok(s.ctx, plx__store_dense(&kept, s.ctx, &s.store, "_share"));
    assert_close(kept.data[0], 0.7, 1e-15);
    assert_close(kept.data[1], 0.1, 1e-15);
    plx__run later = s.run; /* predicting uses the offsets of the fit */
    plx__store fresh;
    plx__store_init(&fresh, plx__scratch(s.ctx));
    later.fitted = &s.store;
    later.out = &fresh;
    assert_ok(s.ctx, decide_in(&s, &later));
    for (int i = 0; i < N; i++) assert_int_equal(s.label[i], expected[i]);
    close_scene(&s);
}

/* class_prior=0.25,0.75: quantile 0.75 of A = 0.7 + 0.5 (0.9 - 0.7) = 0.8; quantile 0.25 of B = 0.05. */
static void given_shares(void **state)
{
    (void)state;
    scene s;
    plx_cmat kept;
    open_scene(&s, SEEN, 2);
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "share"));
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "class_prior", "0.25,0.75"));
    assert_ok(s.ctx, decide(&s));
    assert_ok(s.ctx, plx__store_dense(&kept, s.ctx, &s.store, "_share"));
    assert_close(kept.data[0], 0.8, 1e-15);
    assert_close(kept.data[1], 0.05, 1e-15);
    const int32_t expected[] = {0, 1, 0, 1, 1}; /* 0.1 > -0.05; -0.1 < 0.05; -0.3 < 0.35 */
    for (int i = 0; i < N; i++) assert_int_equal(s.label[i], expected[i]);
    close_scene(&s);
}

/* Means over the unlabelled: A 0.7, B 1/6. Samples 2 and 3 stay with A (0.2 > -1/6, 0 > -1/15), sample 4 goes to B
 * (-0.2 < 7/30). The scores hold what was compared. */
static void centred_by_hand(void **state)
{
    (void)state;
    scene s;
    const int32_t expected[] = {0, 1, 0, 0, 1};
    open_scene(&s, SEEN, 2);
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "centred"));
    assert_ok(s.ctx, decide(&s));
    for (int i = 0; i < N; i++) assert_int_equal(s.label[i], expected[i]);
    assert_close(s.scores[8], -0.2, 1e-15);
    assert_close(s.scores[9], 0.4 - 0.5 / 3, 1e-15);
    close_scene(&s);
    open_scene(&s, EVERYBODY, 5); /* nobody unlabelled: the mean over all, 0.42 and 0.1 */
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "centred"));
    assert_ok(s.ctx, decide(&s));
    assert_close(s.scores[8], 0.5 - 0.42, 1e-15);
    assert_close(s.scores[9], 0.4 - 0.1, 1e-15);
    close_scene(&s);
}

/* auto is argmax in one table and centred in the other. */
static void auto_by_method(void **state)
{
    (void)state;
    scene s;
    plx__decision how = PLX__DECIDE_SHARE;
    static const plx__param_table graph_tables[] = {plx__graph_decision_params, NULL};
    open_scene(&s, SEEN, 2);
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "auto"));
    assert_ok(s.ctx, plx__decision_of(&how, &s.run));
    assert_int_equal(how, PLX__DECIDE_ARGMAX);
    plx_params_destroy(s.settings);
    assert_ok(s.ctx, plx__params_create(&s.settings, s.ctx, "toy", graph_tables));
    s.run.settings = s.settings;
    assert_ok(s.ctx, plx__decision_of(&how, &s.run));
    assert_int_equal(how, PLX__DECIDE_CENTRED);
    close_scene(&s);
}

static void unusable_rows_take_no_part(void **state)
{
    (void)state;
    scene s;
    plx_cmat kept;
    open_scene(&s, SEEN, 2);
    s.usable[4] = 0;
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "share"));
    assert_ok(s.ctx, decide(&s));
    assert_ok(s.ctx, plx__store_dense(&kept, s.ctx, &s.store, "_share"));
    assert_close(kept.data[0], 0.8, 1e-15); /* median of 0.9 and 0.7 */
    assert_close(kept.data[1], 0.05, 1e-15);
    close_scene(&s);
}

static void corners(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, SEEN, 2);
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "share"));
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "class_prior", "0.2,0.3,0.5"));
    assert_fails(s.ctx, decide(&s), PLX_E_ARG, "class_prior lists 3 shares for 2 classes");
    close_scene(&s);
    open_scene(&s, EVERYBODY, 5);
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "share"));
    assert_ok(s.ctx, decide(&s)); /* nobody unlabelled: the largest score, and a warning */
    assert_int_equal(s.label[4], 0);
    assert_non_null(s.ctx->notes);
    assert_non_null(strstr(s.ctx->notes->text, "share"));
    close_scene(&s);
}

/* ---- the shares that centring loses ---- */

enum { LABELS = 30, MANY = 2 * LABELS };

/* 30 labels, `first` of them A, and 30 samples with scores 0 to 29 for A and 0 for B: centring takes 14.5 away. */
typedef struct crowd {
    int32_t seen[MANY], label[MANY];
    uint8_t usable[MANY];
    double scores[MANY * K];
} crowd;

static void make_crowd(crowd *w, int first)
{
    memset(w, 0, sizeof *w);
    for (int i = 0; i < MANY; i++) {
        w->seen[i] = i >= LABELS ? -1 : i >= first;
        w->usable[i] = 1;
        w->scores[i * K] = i >= LABELS ? i - LABELS : i < first ? 40 : -40;
    }
}

static int found_a(const crowd *w)
{
    int count = 0;
    for (int i = LABELS; i < MANY; i++) count += w->label[i] == 0;
    return count;
}

static void open_crowd(scene *s, crowd *w, int first)
{
    static const plx__param_table graph_tables[] = {plx__graph_decision_params, NULL};
    static const char *const names[] = {"A", "B"};
    make_crowd(w, first);
    open_scene(s, w->seen, LABELS);
    plx_params_destroy(s->settings);
    assert_ok(s->ctx, plx__params_create(&s->settings, s->ctx, "toy", graph_tables));
    s->run.settings = s->settings;
    s->problem.n = MANY;
    s->problem.classes = names;
}

static plx_status decide_crowd(crowd *w, plx__run *run, bool centred)
{
    return plx__decide(w->label, run, (plx_mat){w->scores, MANY, K, K}, w->usable, centred);
}

/* 24 of 30 labels are A, centred scores (-14.5 to 14.5 against 0) give 15 of 30: 0.3 = 2.43 standard errors, sqrt(0.65
 * 0.35 2 / 30) = 0.1232. Share takes the quantile 0.2 of A away, -14.5 + 0.2 29 = -8.7: A from 5.8 on, 24 of 30. */
static void auto_gives_lost_shares_back(void **state)
{
    (void)state;
    scene s;
    crowd w;
    plx_cmat kept;
    open_crowd(&s, &w, 24);
    assert_ok(s.ctx, decide_crowd(&w, &s.run, false));
    assert_int_equal(found_a(&w), 24);
    assert_ok(s.ctx, plx__store_dense(&kept, s.ctx, &s.store, "_share"));
    assert_close(kept.data[0], 5.8, 1e-12); /* the mean 14.5 and the shift in one */
    assert_close(w.scores[LABELS * K], -5.8, 1e-12);
    assert_non_null(s.ctx->notes);
    assert_non_null(
        strstr(s.ctx->notes->text, "class 'A' 50 % of the unlabelled samples, but it has 80 % of the labels"));
    make_crowd(&w, 24);
    plx__run later = s.run; /* new samples are decided by the same constants */
    plx__store fresh;
    plx__store_init(&fresh, plx__scratch(s.ctx));
    later.fitted = &s.store;
    later.out = &fresh;
    assert_ok(s.ctx, decide_crowd(&w, &later, false));
    assert_int_equal(found_a(&w), 24);
    close_scene(&s);
}

/* A method that leaves its offsets out has nothing to keep but the shift. */
static void auto_without_offsets(void **state)
{
    (void)state;
    scene s;
    crowd w;
    plx_cmat kept;
    open_crowd(&s, &w, 24);
    for (int i = LABELS; i < MANY; i++) w.scores[i * K] -= 14.5;
    assert_ok(s.ctx, decide_crowd(&w, &s.run, true));
    assert_int_equal(found_a(&w), 24);
    assert_ok(s.ctx, plx__store_dense(&kept, s.ctx, &s.store, "_share"));
    assert_close(kept.data[0], -8.7, 1e-12);
    plx__run later = s.run;
    plx__store fresh;
    plx__store_init(&fresh, plx__scratch(s.ctx));
    later.fitted = &s.store;
    later.out = &fresh;
    make_crowd(&w, 24);
    for (int i = LABELS; i < MANY; i++) w.scores[i * K] -= 14.5;
    assert_ok(s.ctx, decide_crowd(&w, &later, true));
    assert_int_equal(found_a(&w), 24);
    close_scene(&s);
}

/* 23 labels: 0.267 = 2.15 standard errors. 15 labels of each class are a plan. Asked for, centred stays. */
static void centred_stays(void **state)
{
    (void)state;
    scene s;
    crowd w;
    open_crowd(&s, &w, 23);
    assert_ok(s.ctx, decide_crowd(&w, &s.run, false));
    assert_int_equal(found_a(&w), 15);
    assert_null(s.ctx->notes);
    close_scene(&s);
    open_crowd(&s, &w, 15);
    for (int i = LABELS; i < MANY; i++) w.scores[i * K] = i == MANY - 1; /* the mean leaves one sample to A */
    assert_ok(s.ctx, decide_crowd(&w, &s.run, false));
    assert_int_equal(found_a(&w), 1);
    assert_null(s.ctx->notes);
    close_scene(&s);
    open_crowd(&s, &w, 24);
    assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "centred"));
    assert_ok(s.ctx, decide_crowd(&w, &s.run, false));
    assert_int_equal(found_a(&w), 15);
    assert_non_null(strstr(s.ctx->notes->text, "try decision=share"));
    close_scene(&s);
}

/* 22 of 30 labels are A, beyond half by 0.233 = 2.56 standard errors, sqrt(0.25 / 30). All 30 others as A: 0.267 too
 * many = 3.04 standard errors, sqrt(0.867 0.133 2 / 30) = 0.0878; 25 of them: 0.1 = 0.94. */
static void a_class_that_swallows_others_is_told(void **state)
{
    static const struct {
        int labels;
        double shift;
        int found;
        bool told;
    } rows[] = {{22, 0, 30, true}, {22, 4.5, 25, false}, {15, 0, 30, false}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        scene s;
        crowd w;
        open_crowd(&s, &w, rows[r].labels);
        for (int i = LABELS; i < MANY; i++) w.scores[i * K] -= rows[r].shift;
        assert_ok(s.ctx, plx__params_set(s.settings, s.ctx, "decision", "argmax"));
        assert_ok(s.ctx, decide_crowd(&w, &s.run, false));
        assert_int_equal(found_a(&w), rows[r].found);
        assert_int_equal(s.ctx->notes != NULL, rows[r].told);
        if (rows[r].told)
            assert_non_null(strstr(s.ctx->notes->text, "the largest score gives class 'A' 100 % of the unlabelled "
                                                       "samples, but it has 73 % of the labels"));
        close_scene(&s);
    }
}

static void open_plain_crowd(scene *s, crowd *w, int first, double below)
{
    open_crowd(s, w, first);
    plx_params_destroy(s->settings);
    assert_ok(s->ctx, plx__params_create(&s->settings, s->ctx, "toy", tables));
    s->run.settings = s->settings;
    for (int i = LABELS; i < MANY; i++) w->scores[i * K] -= below;
}

/* auto without centring: 21 of 30 labels are A, 0.2 beyond half = 2.19 standard errors: not enough; with 22 all 30 as A
 * are 0.267 too many, and the quantile 8 / 30 of A, 29 8 / 30 = 7.73, is taken away: A from 8 on, 22 of 30. 27 of them (A
 * from 3 on) are 0.167 too many = 1.74 standard errors: chance. */
static void auto_mends_swallowing(void **state)
{
    scene s;
    crowd w;
    plx_cmat kept;
    (void)state;
    open_plain_crowd(&s, &w, 22, -1);
    assert_ok(s.ctx, decide_crowd(&w, &s.run, false));
    assert_int_equal(found_a(&w), 22);
    assert_ok(s.ctx, plx__store_dense(&kept, s.ctx, &s.store, "_share"));
    assert_close(kept.data[0], 1 + 29 * 8 / 30.0, 1e-12);
    assert_non_null(strstr(s.ctx->notes->text, "gets its share of the labels instead (decision=argmax: do not)"));
    plx__run later = s.run; /* new samples are decided by the same constants */
    plx__store fresh;
    plx__store_init(&fresh, plx__scratch(s.ctx));
    later.fitted = &s.store;
    later.out = &fresh;
    make_crowd(&w, 22);
    for (int i = LABELS; i < MANY; i++) w.scores[i * K] += 1;
    assert_ok(s.ctx, decide_crowd(&w, &later, false));
    assert_int_equal(found_a(&w), 22);
    close_scene(&s);
    static const struct {
        int labels;
        double below;
        int found;
    } alone[] = {{21, -1, 30}, {22, 2.5, 27}, {15, -1, 30}};
    for (size_t r = 0; r < sizeof alone / sizeof *alone; r++) {
        open_plain_crowd(&s, &w, alone[r].labels, alone[r].below);
        assert_ok(s.ctx, decide_crowd(&w, &s.run, false));
        assert_int_equal(found_a(&w), alone[r].found);
        assert_null(plx__store_find(&s.store, "_share"));
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argmax_takes_the_largest),
        cmocka_unit_test(share_by_hand),
        cmocka_unit_test(given_shares),
        cmocka_unit_test(unusable_rows_take_no_part),
        cmocka_unit_test(corners),
        cmocka_unit_test(centred_by_hand),
        cmocka_unit_test(auto_by_method),
        cmocka_unit_test(auto_gives_lost_shares_back),
        cmocka_unit_test(auto_without_offsets),
        cmocka_unit_test(a_class_that_swallows_others_is_told),
        cmocka_unit_test(auto_mends_swallowing),
        cmocka_unit_test(centred_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
