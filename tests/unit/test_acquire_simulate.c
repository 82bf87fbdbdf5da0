/*
 * Simulated acquisition: what is seen and what is not, order of steps, stopping, and going on after an interruption.
 */
#include "acquire_helpers.h"
#include "core/file.h"
#include "parallax/split.h"

#define FIXED "kernel=rbf", "width=0.7", "amplitude=1", "view_variance=0.4", "components=1", "cost.image=2"
#define NAMES(...) ((const char *const[]){__VA_ARGS__})

static const char *const given[TOY_N] = {"A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B", "A", "B"};

/* Views present wherever the toy says so; pairs (i, image) for i = 1, 4, 7, ... are hidden in the simulation. */
typedef struct scene {
    plx_context *ctx;
    toy t;
    plx_dataset *data;
    plx_pair hidden[8];
    plx_index n_hidden;
} scene;

static scene open_scene_on(plx_context *ctx, const char *const *truth)
{
    scene s = {.ctx = ctx, .t = make_toy(2, false)};
    s.data = toy_dataset(s.ctx, &s.t, 3, false);
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, truth ? truth : given));
    for (plx_index i = 1; i < TOY_N; i += 3) s.hidden[s.n_hidden++] = (plx_pair){i, 1};
    return s;
}

static scene open_scene(const char *const *truth) { return open_scene_on(test_context(1), truth); }

static void close_scene(scene *s)
{
    plx_dataset_destroy(s->data);
    plx_context_destroy(s->ctx);
}

/* Views are hidden unless labels alone are asked for. */
static plx_simulate_options options_of(const scene *s, plx_index steps, plx_index every)
{
    plx_simulate_options o = PLX_SIMULATE_OPTIONS_INIT;
    o.steps = steps;
    o.retrain_every = every;
    o.hidden = s->hidden;
    o.n_hidden = s->n_hidden;
    return o;
}

static plx_status play(plx_curves **out, scene *s, plx_acquire_kind kind, const char *method,
                       const char *const *settings, const plx_simulate_options *o)
{
    plx_params *p = settings_to_acquire(s->ctx, method, settings);
    plx_status st = plx_acquire_simulate(out, s->ctx, kind, method, s->data, p, o);
    plx_params_destroy(p);
    return st;
}

static plx_curves *features(scene *s, const char *const *strategies, plx_index count, plx_simulate_options o)
{
    plx_curves *c = NULL;
    o.strategies = strategies;
    o.n_strategies = count;
    assert_ok(s->ctx, play(&c, s, PLX_ACQUIRE_FEATURES, "bct", SETTINGS(FIXED), &o));
    return c;
}

static plx_simulated at(const plx_curves *c, plx_index i)
{
    plx_simulated x = PLX_SIMULATED_INIT;
    assert_int_equal(plx_curves_get(&x, c, i), PLX_OK);
    return x;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void assert_same_curves(const plx_curves *a, const plx_curves *b)
{
    assert_int_equal(plx_curves_count(a), plx_curves_count(b));
    for (plx_index i = 0; i < plx_curves_count(a); i++) {
        plx_simulated x = at(a, i), y = at(b, i);
        assert_true(x.run == y.run && x.strategy == y.strategy && x.step == y.step && x.sample == y.sample);
        assert_true(x.view == y.view && x.cost == y.cost && same(x.gain, y.gain) && same(x.accuracy, y.accuracy));
        assert_true(same(x.auc, y.auc) && same(x.rmse, y.rmse));
    }
}

/* Every hidden pair is revealed once; the last state is that of the complete data. */
static void reveals_everything(void **state)
{
    (void)state;
    static const char *const strategies[] = {"mi", "var", "random", "uncertainty", "chosen"};
    scene s = open_scene(NULL);
    plx_curves *c = features(&s, strategies, 5, options_of(&s, 100, 1));
    assert_int_equal(plx_curves_count(c), 5 * (s.n_hidden + 1));
    plx_model *full =
        fit_model(s.ctx, "bct", s.data, SETTINGS("kernel=rbf", "width=0.7", "amplitude=1", "view_variance=0.4"));
    plx_metrics *metrics = NULL;
    assert_ok(s.ctx, plx_prediction_metrics(&metrics, s.ctx, plx_model_prediction(full), full, s.data));
    double auc = plx_metrics_value(metrics, plx_metrics_find(metrics, "auc"), NULL);
    for (plx_index i = 0; i < plx_curves_count(c); i++) {
        plx_simulated x = at(c, i);
        assert_true(x.step == i % (s.n_hidden + 1) && x.cost == 2 * (double)x.step);
        if (x.step) assert_true(x.view == 1 && x.sample % 3 == 1);
        for (plx_index j = i - x.step + 1; j < i; j++) assert_true(at(c, j).sample != x.sample);
        if (x.step == s.n_hidden) assert_close(x.auc, auc, 1e-12);
        assert_true(isnan(x.gain) == (x.step == 0 || x.strategy == 2 || x.strategy == 3));
    }
    plx_metrics_destroy(metrics);
    plx_model_destroy(full);
    plx_curves_destroy(c);
    close_scene(&s);
}

static void first_choice_is_the_best_ranked(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    uint8_t present[3 * TOY_N];
    memset(present, 1, sizeof present);
    for (plx_index k = 0; k < s.n_hidden; k++) present[TOY_N + s.hidden[k].sample] = 0;
    plx_dataset *seen = NULL;
    assert_ok(s.ctx, plx_dataset_mask(&seen, s.ctx, s.data, present));
    plx_acquisition *a = acquire(s.ctx, seen, SETTINGS(FIXED), NULL);
    plx_curves *c = features(&s, NAMES("mi"), 1, options_of(&s, 1, 1));
    assert_int_equal(at(c, 1).sample, a->ranked[0].row);
    assert_true(at(c, 1).gain == a->ranked[0].score);
    plx_curves_destroy(c);
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
    plx_curves *a = features(&s, NAMES("mi"), 1, options_of(&s, 5, 1));
    plx_curves *b = features(&other, NAMES("mi"), 1, options_of(&other, 5, 1));
    for (plx_index i = 0; i < plx_curves_count(a); i++) assert_int_equal(at(a, i).sample, at(b, i).sample);
    assert_true(at(a, 0).auc != at(b, 0).auc);
    for (plx_index k = 0; k < s.n_hidden; k++) s.t.x[1][s.hidden[k].sample * TOY_COLS] += 3;
    plx_dataset_destroy(s.data);
    s.data = toy_dataset(s.ctx, &s.t, 3, false);
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, given));
    plx_curves *c = features(&s, NAMES("mi"), 1, options_of(&s, 1, 1));
    assert_true(at(c, 0).auc == at(a, 0).auc && at(c, 1).sample == at(a, 1).sample);
    plx_curves_destroy(a);
    plx_curves_destroy(b);
    plx_curves_destroy(c);
    close_scene(&s);
    close_scene(&other);
}

/* ---- labels ---- */

/* Labels of samples set aside for scoring are never asked for; each label is asked for once; with all of them the model
 * is the one that is fitted to them. */
static void labels_of_all_but_the_tested(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    plx_simulate_options o = options_of(&s, 100, 1);
    uint8_t test[TOY_N], chosen[TOY_N], asked[TOY_N] = {0};
    plx_curves *c = NULL;
    o.n_hidden = 0;
    o.labels = "1";
    o.test = 0.4;
    o.strategies = NAMES("chosen", "all");
    o.n_strategies = 2;
    assert_ok(s.ctx, play(&c, &s, PLX_ACQUIRE_LABELS, "svm", NULL, &o));
    assert_ok(s.ctx, plx_split_labels(chosen, s.ctx, s.data, "1"));
    assert_ok(s.ctx, plx_split_test(test, s.ctx, s.data, 0.4, 1));
    for (plx_index i = 1; i < plx_curves_count(c) - 2; i++) {
        plx_simulated x = at(c, i);
        assert_true(x.view == -1 && !test[x.sample] && !chosen[x.sample] && !asked[x.sample]++);
    }
    const char *labels[TOY_N], *truth[TOY_N];
    plx_index pool = 0;
    for (plx_index i = 0; i < TOY_N; i++) {
        bool scored = test[i] && !chosen[i];
        labels[i] = scored ? NULL : given[i];
        truth[i] = scored ? given[i] : NULL;
        pool += !scored && !chosen[i];
    }
    assert_ok(s.ctx, plx_dataset_set_labels(s.data, s.ctx, labels));
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, truth));
    plx_model *full = fit_model(s.ctx, "svm", s.data, NULL);
    plx_metrics *metrics = NULL;
    assert_ok(s.ctx, plx_prediction_metrics(&metrics, s.ctx, plx_model_prediction(full), full, s.data));
    double accuracy = plx_metrics_value(metrics, plx_metrics_find(metrics, "accuracy"), NULL);
    plx_simulated ends[] = {at(c, plx_curves_count(c) - 3), at(c, plx_curves_count(c) - 1)};
    for (int e = 0; e < 2; e++) assert_true(ends[e].step == pool && ends[e].accuracy == accuracy);
    plx_metrics_destroy(metrics);
    plx_model_destroy(full);
    plx_curves_destroy(c);
    close_scene(&s);
}

/* Labels and views in one curve, by their costs. */
static void any_of_both(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    plx_simulate_options o = options_of(&s, 100, 1);
    plx_curves *c = NULL;
    plx_index labels = 0, views = 0;
    o.labels = "2";
    o.test = 0.3;
    o.strategies = NAMES("chosen");
    o.n_strategies = 1;
    assert_ok(s.ctx, play(&c, &s, PLX_ACQUIRE_ANY, "colr", SETTINGS("cost.label=3", "components=1", "budget=14"), &o));
    double before = 0;
    for (plx_index i = 1; i < plx_curves_count(c); i++) {
        plx_simulated x = at(c, i);
        assert_true(x.cost - before == (x.view < 0 ? 3 : 1) && x.cost <= 14);
        before = x.cost;
        labels += x.view < 0;
        views += x.view == 1;
    }
    assert_true(labels > 0 && views > 0);
    plx_curves_destroy(c);
    close_scene(&s);
}

/* ---- going on ---- */

static char *read_text(const char *path, size_t *size)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    assert_non_null(f);
    *size = fread(text, 1, 1 << 16, f);
    fclose(f);
    return text;
}

static void write_text(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
}

/* Whatever is left of the file of states, also half a line: the same curves as without an interruption. */
static void goes_on_wherever_it_was_killed(void **state)
{
    (void)state;
    char path[] = "/tmp/plx_part_XXXXXX";
    close(mkstemp(path));
    for (plx_index every = 1; every <= 2; every++) {
        scene s = open_scene(NULL);
        plx_simulate_options o = options_of(&s, 6, every);
        plx_curves *whole = NULL, *rest = NULL;
        size_t size = 0;
        o.runs = 2;
        o.restart_every = 2;
        o.labels = "2";
        o.stable_rounds = 3;
        o.strategies = NAMES("chosen", "random", "all");
        o.n_strategies = 3;
        o.part = path;
        unlink(path);
        assert_ok(s.ctx, play(&whole, &s, PLX_ACQUIRE_ANY, "colr", SETTINGS("components=1"), &o));
        char *text = read_text(path, &size);
        for (size_t cut = 0; cut <= size; cut += 97) {
            write_text(path, text, cut < 40 ? 0 : cut); /* the head is out before anything else */
            assert_ok(s.ctx, play(&rest, &s, PLX_ACQUIRE_ANY, "colr", SETTINGS("components=1"), &o));
            assert_same_curves(whole, rest);
            plx_curves_destroy(rest);
        }
        assert_ok(s.ctx, plx_curves_write(s.ctx, whole, s.data, "/dev/null"));
        assert_false(plx__file_exists(path));
        o.steps = 5;
        write_text(path, text, size);
        assert_fails(s.ctx, play(&rest, &s, PLX_ACQUIRE_ANY, "colr", SETTINGS("components=1"), &o), PLX_E_FORMAT,
                     "another simulation");
        free(text);
        plx_curves_destroy(whole);
        close_scene(&s);
    }
    unlink(path);
}

static int stop_soon(const plx_progress *progress, void *payload)
{
    (void)progress;
    return ++*(int *)payload >= 1;
}

static void threads_and_cancelling(void **state)
{
    (void)state;
    plx_curves *first = NULL;
    scene one = open_scene(NULL);
    for (int threads = 1; threads <= 4; threads += 3) {
        meter m = {0};
        scene s = open_scene_on(metered_context(&m, threads), NULL);
        plx_simulate_options o = options_of(&s, 4, 1);
        plx_curves *c = NULL;
        int told = 0;
        o.runs = 3;
        o.labels = "2";
        assert_ok(s.ctx, play(&c, &s, PLX_ACQUIRE_FEATURES, "bct", SETTINGS(FIXED), &o));
        if (first) assert_same_curves(first, c);
        if (first) plx_curves_destroy(first);
        first = NULL;
        if (threads == 1) { /* copied into another context's life */
            assert_ok(one.ctx, play(&first, &one, PLX_ACQUIRE_FEATURES, "bct", SETTINGS(FIXED), &o));
            assert_same_curves(first, c);
        }
        plx_curves_destroy(c);
        long before = m.live;
        plx_context_set_progress(s.ctx, stop_soon, &told);
        assert_int_equal(play(&c, &s, PLX_ACQUIRE_FEATURES, "bct", SETTINGS(FIXED), &o), PLX_E_CANCELLED);
        assert_null(c);
        assert_int_equal(m.live, before);
        close_scene(&s);
        assert_int_equal(m.live, 0);
    }
    close_scene(&one);
}

/* ---- stopping ---- */

/* Between fits there is nothing to be measured. */
static void fits_now_and_then(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    plx_curves *c = features(&s, NAMES("var"), 1, options_of(&s, 5, 2));
    plx_index count = plx_curves_count(c);
    for (plx_index i = 0; i < count; i++) assert_true(isnan(at(c, i).auc) == (i % 2 == 1 && i != count - 1));
    plx_curves_destroy(c);
    close_scene(&s);
}

static void stays_in_the_budget(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    plx_simulate_options o = options_of(&s, 5, 1);
    plx_curves *c = NULL;
    o.strategies = NAMES("chosen");
    o.n_strategies = 1;
    assert_ok(s.ctx, play(&c, &s, PLX_ACQUIRE_FEATURES, "bct", SETTINGS(FIXED, "budget=5"), &o));
    assert_int_equal(plx_curves_count(c), 3); /* none, one and two pairs */
    plx_curves_destroy(c);
    close_scene(&s);
}

static void stops_by_rule(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    plx_simulate_options o = options_of(&s, 5, 1);
    plx_curves *all = features(&s, NAMES("mi"), 1, o);
    double threshold = at(all, 3).gain; /* of the third pair; the next promises less */
    o.least_gain = threshold;
    plx_curves *some = features(&s, NAMES("mi"), 1, o);
    plx_index expected = 1;
    while (expected < plx_curves_count(all) && at(all, expected).gain >= threshold) expected++;
    assert_int_equal(plx_curves_count(some), expected);
    assert_true(expected < plx_curves_count(all));
    plx_curves_destroy(some);
    o.least_gain = 0;
    o.stable_rounds = 2; /* the toy's predictions do not change */
    some = features(&s, NAMES("mi"), 1, o);
    assert_true(plx_curves_count(some) >= 3 && plx_curves_count(some) <= plx_curves_count(all));
    plx_curves_destroy(some);
    plx_curves_destroy(all);
    close_scene(&s);
}

/* ---- figures ---- */

static void summaries(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    plx_simulate_options o = options_of(&s, 3, 1);
    plx_curve_summary a = PLX_CURVE_SUMMARY_INIT;
    o.runs = 3;
    o.labels = "2";
    plx_curves *c = features(&s, NAMES("mi", "random"), 2, o);
    double mean[3][2] = {{0}}, total = 0, squares = 0;
    for (plx_index i = 0; i < plx_curves_count(c); i++)
        if (at(c, i).step) mean[at(c, i).run][at(c, i).strategy] += at(c, i).auc / 3;
    assert_int_equal(plx_curves_summary(&a, c, 0, 1, NULL), PLX_OK);
    for (int r = 0; r < 3; r++) total += (mean[r][0] - mean[r][1]) / 3;
    for (int r = 0; r < 3; r++) squares += pow(mean[r][0] - mean[r][1] - total, 2);
    assert_string_equal(a.metric, "auc");
    assert_int_equal(a.runs, 3);
    assert_close(a.mean, (mean[0][0] + mean[1][0] + mean[2][0]) / 3, 1e-14);
    assert_close(a.difference, total, 1e-14);
    assert_close(a.difference_error, sqrt(squares / 2 / 3), 1e-8);
    assert_int_equal(plx_curves_summary(&a, c, 0, 1, "f1"), PLX_E_ARG);
    assert_int_equal(plx_curves_summary(&a, c, 0, -1, NULL), PLX_E_ARG);
    assert_null(plx_curves_strategy(c, 2));
    plx_curves_destroy(c);
    close_scene(&s);
}

static void refusals(void **state)
{
    (void)state;
    scene s = open_scene(NULL);
    plx_pair bad[] = {{1, 1}, {1, 1}}, far[] = {{99, 0}};
    plx_simulate_options o = options_of(&s, 2, 1);
    plx_curves *c = NULL;
#define TRY(method) plx_acquire_simulate(&c, s.ctx, PLX_ACQUIRE_FEATURES, method, s.data, NULL, &o)
    o.hidden = bad;
    o.n_hidden = 2;
    assert_fails(s.ctx, TRY("bct"), PLX_E_ARG, "given twice");
    o.hidden = far;
    o.n_hidden = 1;
    assert_fails(s.ctx, TRY("bct"), PLX_E_ARG, "no sample 99");
    o = options_of(&s, 2, 0);
    assert_fails(s.ctx, TRY("bct"), PLX_E_ARG, "retrain_every");
    o = options_of(&s, 2, 1);
    assert_fails(s.ctx, TRY("nb"), PLX_E_ARG, "available");
    o.strategies = NAMES("luck");
    o.n_strategies = 1;
    assert_fails(s.ctx, TRY("bct"), PLX_E_ARG, "mi|var|random");
    o = options_of(&s, 2, 1);
    o.n_hidden = 0;
    assert_fails(s.ctx, TRY("bct"), PLX_E_ARG, "no view is hidden");
    o = options_of(&s, 2, 1);
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, NULL));
    assert_fails(s.ctx, TRY("bct"), PLX_E_DATA, "no truth");
    toy t = make_toy(2, true);
    plx_dataset *whole = s.data;
    s.data = toy_dataset(s.ctx, &t, 3, false);
    assert_ok(s.ctx, plx_dataset_set_truth(s.data, s.ctx, given));
    o.hidden = (const plx_pair[]){{3, 1}};
    o.n_hidden = 1;
    assert_fails(s.ctx, TRY("bct"), PLX_E_ARG, "missing already");
    assert_null(c);
    plx_dataset_destroy(whole);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reveals_everything),
                                       cmocka_unit_test(first_choice_is_the_best_ranked),
                                       cmocka_unit_test(hidden_is_hidden),
                                       cmocka_unit_test(labels_of_all_but_the_tested),
                                       cmocka_unit_test(any_of_both),
                                       cmocka_unit_test(goes_on_wherever_it_was_killed),
                                       cmocka_unit_test(threads_and_cancelling),
                                       cmocka_unit_test(fits_now_and_then),
                                       cmocka_unit_test(stays_in_the_budget),
                                       cmocka_unit_test(stops_by_rule),
                                       cmocka_unit_test(summaries),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
