/*
 * Simulated acquisition: what is seen and what is not, order of steps, going on after an interruption.
 */
#include "acquire_helpers.h"

#define FIXED "kernel=rbf", "width=0.7", "amplitude=1", "view_variance=0.4", "components=1"

enum { MOST = 64 };

typedef struct log {
    plx_simulated state[MOST];
    int count, stop_at; /* stop_at 0: never */
} log_of_states;

static int note(const plx_simulated *s, void *payload)
{
    log_of_states *l = payload;
    assert_true(l->count < MOST);
    l->state[l->count++] = *s;
    return l->stop_at && l->count >= l->stop_at;
}

/* Views present wherever the toy says so; pairs (i, image) for i = 1, 4, 7, ... are hidden in the simulation. */
typedef struct scene {
    plx_context *ctx;
    toy t;
    plx_dataset *data;
    plx_pair hidden[8];
    plx_index n_hidden;
} scene;

static scene open_scene(const char *const *truth)
{
    static const char *const given[TOY_N] = {"A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B"};
    scene s = {.ctx = test_context(1), .t = make_toy(2, false)};
    s.data = toy_dataset(s.ctx, &s.t, 3, false);
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, truth ? truth : given));
    for (plx_index i = 1; i < TOY_N; i += 3) s.hidden[s.n_hidden++] = (plx_pair){i, 1};
    return s;
}

static void close_scene(scene *s)
{
    plx_dataset_destroy(s->data);
    plx_context_destroy(s->ctx);
}

static plx_status play(log_of_states *l, scene *s, const char *strategy, plx_simulate_options o)
{
    char text[32];
    snprintf(text, sizeof text, "strategy=%s", strategy);
    plx_params *p = acquire_settings(s->ctx, SETTINGS(FIXED, text, "cost.image=2"));
    plx_status st = plx_acquire_simulate(s->ctx, "bct", s->data, s->hidden, s->n_hidden, p, &o, note, l);
    plx_params_destroy(p);
    return st;
}

static plx_simulate_options steps(plx_index count, plx_index every)
{
    plx_simulate_options o = PLX_SIMULATE_OPTIONS_INIT;
    o.steps = count;
    o.retrain_every = every;
    return o;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void assert_same_states(const log_of_states *a, int from, const log_of_states *b)
{
    assert_int_equal(a->count - from, b->count);
    for (int i = 0; i < b->count; i++) {
        const plx_simulated *x = &a->state[from + i], *y = &b->state[i];
        assert_true(x->step == y->step && x->sample == y->sample && x->view == y->view && x->cost == y->cost);
        assert_true(same(x->accuracy, y->accuracy) && same(x->auc, y->auc) && same(x->rmse, y->rmse));
    }
}

/* Every hidden pair is revealed once; the last state is that of the complete data; the first choice is the best
 * candidate of the ranking on what is seen. */
static void reveals_everything(void **state)
{
    (void)state;
    static const char *const strategies[] = {"mi", "var", "random"};
    for (int k = 0; k < 3; k++) {
        scene s = open_scene(NULL);
        log_of_states l = {.count = 0};
        assert_ok(s.ctx, play(&l, &s, strategies[k], steps(100, 1)));
        assert_int_equal(l.count, s.n_hidden + 1);
        for (int i = 1; i < l.count; i++) {
            assert_true(l.state[i].view == 1 && l.state[i].sample % 3 == 1 && l.state[i].cost == 2 * i);
            for (int j = 1; j < i; j++) assert_true(l.state[i].sample != l.state[j].sample);
        }
        plx_model *full =
            fit_model(s.ctx, "bct", s.data, SETTINGS("kernel=rbf", "width=0.7", "amplitude=1", "view_variance=0.4"));
        plx_metrics *metrics = NULL;
        assert_ok(s.ctx, plx_prediction_metrics(&metrics, s.ctx, plx_model_prediction(full), full, s.data));
        assert_close(l.state[l.count - 1].auc, plx_metrics_value(metrics, plx_metrics_find(metrics, "auc"), NULL),
                     1e-12);
        plx_metrics_destroy(metrics);
        plx_model_destroy(full);
        close_scene(&s);
    }
}

static void first_choice_is_the_best_ranked(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    log_of_states l = {.count = 0};
    uint8_t present[3 * TOY_N];
    memset(present, 1, sizeof present);
    for (plx_index k = 0; k < s.n_hidden; k++) present[TOY_N + s.hidden[k].sample] = 0;
    plx_dataset *seen = NULL;
    assert_ok(s.ctx, plx_dataset_mask(&seen, s.ctx, s.data, present));
    plx_acquisition *a = acquire(s.ctx, seen, SETTINGS(FIXED), NULL);
    assert_ok(s.ctx, play(&l, &s, "mi", steps(1, 1)));
    assert_int_equal(l.state[1].sample, a->ranked[0].row);
    plx_acquisition_destroy(a);
    plx_dataset_destroy(seen);
    close_scene(&s);
}

/* Hidden values and true labels cannot be seen: changing them changes neither the first choice nor (values) the score
 * before it. */
static void hidden_is_hidden(void **state)
{
    (void)state;
    static const char *const wrong[TOY_N] = {"B", "A", "B", "A", "B", "B", "B", "A", "A", "A", "B", "B", "B", "A"};
    scene s = open_scene(NULL), other = open_scene(wrong);
    log_of_states a = {.count = 0}, b = {.count = 0}, c = {.count = 0};
    assert_ok(s.ctx, play(&a, &s, "mi", steps(5, 1)));
    assert_ok(other.ctx, play(&b, &other, "mi", steps(5, 1)));
    for (int i = 0; i < a.count; i++) assert_int_equal(a.state[i].sample, b.state[i].sample);
    assert_true(a.state[0].auc != b.state[0].auc);
    for (plx_index k = 0; k < s.n_hidden; k++) s.t.x[1][s.hidden[k].sample * TOY_COLS] += 3;
    plx_dataset_destroy(s.data);
    static const char *const given[TOY_N] = {"A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B"};
    s.data = toy_dataset(s.ctx, &s.t, 3, false);
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, given));
    assert_ok(s.ctx, play(&c, &s, "mi", steps(1, 1)));
    assert_true(c.state[0].auc == a.state[0].auc && c.state[1].sample == a.state[1].sample);
    close_scene(&s);
    close_scene(&other);
}

/* Stopped after any state and taken up again from the pairs known then: the same states as without stopping. */
static void goes_on_after_an_interruption(void **state)
{
    (void)state;
    for (plx_index every = 1; every <= 3; every++) {
        scene s = open_scene(NULL);
        log_of_states whole = {.count = 0};
        assert_ok(s.ctx, play(&whole, &s, "mi", steps(5, every)));
        for (int stop = 1; stop <= whole.count; stop++) {
            log_of_states part = {.stop_at = stop}, rest = {.count = 0};
            plx_pair known[MOST];
            plx_simulate_options o = steps(5, every);
            assert_int_equal(play(&part, &s, "mi", o), PLX_E_CANCELLED);
            for (int i = 1; i < part.count; i++) known[i - 1] = (plx_pair){part.state[i].sample, part.state[i].view};
            o.known = known;
            o.n_known = part.count - 1;
            assert_ok(s.ctx, play(&rest, &s, "mi", o));
            assert_same_states(&whole, o.n_known ? stop : 0, &rest);
        }
        close_scene(&s);
    }
}

/* Between fits there is nothing to be measured. */
static void fits_now_and_then(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    log_of_states l = {.count = 0};
    assert_ok(s.ctx, play(&l, &s, "var", steps(5, 2)));
    for (int i = 0; i < l.count; i++) assert_true(isnan(l.state[i].auc) == (i % 2 == 1 && i != l.count - 1));
    close_scene(&s);
}

static void stays_in_the_budget(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    log_of_states l = {.count = 0};
    plx_params *p = acquire_settings(s.ctx, SETTINGS(FIXED, "cost.image=2", "budget=5"));
    plx_simulate_options o = steps(5, 1);
    assert_ok(s.ctx, plx_acquire_simulate(s.ctx, "bct", s.data, s.hidden, s.n_hidden, p, &o, note, &l));
    assert_int_equal(l.count, 3); /* none, one and two pairs */
    plx_params_destroy(p);
    close_scene(&s);
}

static void refusals(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    log_of_states l = {.count = 0};
    plx_simulate_options o = steps(2, 1);
    plx_pair bad[] = {{1, 1}, {1, 1}}, far[] = {{99, 0}};
#define TRY(pairs, n, options) plx_acquire_simulate(s.ctx, "bct", s.data, pairs, n, NULL, options, note, &l)
    assert_fails(s.ctx, TRY(bad, 2, &o), PLX_E_ARG, "given twice");
    assert_fails(s.ctx, TRY(far, 1, &o), PLX_E_ARG, "no sample 99");
    o.known = far;
    o.n_known = 1;
    assert_fails(s.ctx, TRY(bad, 1, &o), PLX_E_ARG, "is not hidden");
    o = steps(2, 0);
    assert_fails(s.ctx, TRY(bad, 1, &o), PLX_E_ARG, "retrain_every");
    assert_fails(s.ctx, plx_acquire_simulate(s.ctx, "nb", s.data, bad, 1, NULL, NULL, note, &l), PLX_E_ARG,
                 "available");
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, NULL));
    o = steps(2, 1);
    assert_fails(s.ctx, TRY(bad, 1, &o), PLX_E_DATA, "no truth");
    toy t = make_toy(2, true);
    plx_dataset *holes = toy_dataset(s.ctx, &t, 3, false);
    static const char *const truth[TOY_N] = {"A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B"};
    assert_ok(s.ctx, plx_dataset_set_truth(holes, s.ctx, truth));
    plx_pair missing[] = {{3, 1}};
    assert_fails(s.ctx, plx_acquire_simulate(s.ctx, "bct", holes, missing, 1, NULL, &o, note, &l), PLX_E_ARG,
                 "missing already");
    assert_int_equal(l.count, 0);
    plx_dataset_destroy(holes);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reveals_everything),
                                       cmocka_unit_test(first_choice_is_the_best_ranked),
                                       cmocka_unit_test(hidden_is_hidden),
                                       cmocka_unit_test(goes_on_after_an_interruption),
                                       cmocka_unit_test(fits_now_and_then),
                                       cmocka_unit_test(stays_in_the_budget),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
