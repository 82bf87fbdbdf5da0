#include "metrics_helpers.h"

#include "core/rng.h"
#include "eval/rank_core.h"

/* ---- the list ---- */

static void list_keeps_order_and_tells(void **state)
{
    (void)state;
    const char *truth[] = {"b", "a"}, *pred[] = {"b", "b"};
    assert_int_equal(plx_metrics_count(m), 0);
    assert_null(plx_metrics_name(m, 0));
    assert_ok(ctx, plx_metrics_classification(m, truth, pred, 2));
    assert_string_equal(plx_metrics_name(m, 0), "accuracy");
    assert_string_equal(plx_metrics_name(m, 2), "precision:a");
    assert_int_equal(plx_metrics_find(m, "nonsense"), -1);
    assert_true(isnan(plx_metrics_value(m, -1, NULL)));
    assert_null(plx_metrics_warning(m, 0));
    plx_index count = plx_metrics_count(m);
    assert_ok(ctx, plx_metrics_classification(m, truth, truth, 2));
    assert_int_equal(plx_metrics_count(m), count);
    assert_true(value_of("accuracy") == 1);
    plx_metrics_destroy(NULL);
}

static void json_is_flat_and_exact(void **state)
{
    (void)state;
    const char *truth[] = {"\xE9t\xC3\xA9", "x\"y", "x\"y"}, *pred[] = {"x\"y", "x\"y", "x\"y"}, *unknown[] = {"?"};
    const char *text = NULL;
    assert_ok(ctx, plx_metrics_classification(m, truth, pred, 3));
    assert_ok(ctx, plx_metrics_json(&text, m));
    assert_non_null(strstr(text, "\"accuracy\": 0.6666666666666666"));
    assert_non_null(strstr(text, "\"f1:x\\\"y\": 0.8"));
    assert_non_null(strstr(text, "\"recall:\\\\xE9t\xC3\xA9\": 0"));
    assert_ok(ctx, plx_metrics_classification(m, unknown, pred, 1));
    assert_ok(ctx, plx_metrics_json(&text, m));
    assert_non_null(strstr(text, "\"accuracy\": null"));
}

static int warned;
static void count_warning(plx_log_level level, const char *text, void *payload)
{
    (void)payload;
    warned += level == PLX_LOG_WARNING && strstr(text, "undefined") != NULL;
}

static void undefined_values_warn(void **state)
{
    (void)state;
    const char *truth[] = {"?", "?"}, *pred[] = {"a", "b"};
    warned = 0;
    plx_context_set_log(ctx, PLX_LOG_WARNING, count_warning, NULL);
    assert_ok(ctx, plx_metrics_classification(m, truth, pred, 2));
    assert_true(is_null("accuracy") && is_null("macro_f1"));
    assert_int_equal(plx_metrics_warning_count(m), 9);
    assert_int_equal(warned, 9);
    assert_string_equal(plx_metrics_warning(m, 0), "accuracy is undefined: no sample has a known truth value");
    assert_ok(ctx, plx_metrics_classification(m, NULL, NULL, 0));
    assert_fails(ctx, plx_metrics_classification(m, NULL, pred, 2), PLX_E_ARG, "NULL");
    assert_fails(ctx, plx_metrics_classification(m, truth, pred, -1), PLX_E_ARG, "negative");
    truth[1] = NULL;
    assert_fails(ctx, plx_metrics_classification(m, truth, pred, 2), PLX_E_ARG, "truth 1");
}

/* ---- classification ---- */

/* truth a a b b c, pred a b b ? d: tp a 1, b 1; fn a 1, b 1, c 1; fp b 1, d 1. */
static void classification_by_hand(void **state)
{
    (void)state;
    const char *truth[] = {"a", "a", "b", "b", "c", "?"}, *pred[] = {"a", "b", "b", "?", "d", "z"};
    assert_ok(ctx, plx_metrics_classification(m, truth, pred, 6));
    assert_close(value_of("accuracy"), 2.0 / 5, 1e-15);
    assert_close(value_of("error"), 3.0 / 5, 1e-15);
    assert_close(value_of("precision:a"), 1, 0);
    assert_close(value_of("recall:a"), 0.5, 0);
    assert_close(value_of("f1:a"), 2.0 / 3, 1e-15);
    assert_close(value_of("f1:b"), 2.0 / 4, 1e-15);
    assert_close(value_of("precision:c"), 0, 0);
    assert_close(value_of("recall:d"), 0, 0);
    assert_close(value_of("macro_precision"), (1 + 0.5) / 4, 1e-15);
    assert_close(value_of("macro_recall"), (0.5 + 0.5) / 4, 1e-15);
    assert_close(value_of("macro_f1"), (2.0 / 3 + 0.5) / 4, 1e-15);
    assert_close(value_of("weighted_f1"), (2 * 2.0 / 3 + 2 * 0.5) / 5, 1e-15);
    assert_close(value_of("micro_precision"), 2.0 / 4, 1e-15);
    assert_close(value_of("micro_recall"), 2.0 / 5, 1e-15);
    assert_close(value_of("micro_f1"), 4.0 / 9, 1e-15);
    assert_int_equal(plx_metrics_find(m, "f1:z"), -1);
    assert_int_equal(plx_metrics_find(m, "f1:?"), -1);
}

static void classification_of_one_class(void **state)
{
    (void)state;
    const char *truth[] = {"a", "a"}, *none[] = {"?", "?"};
    assert_ok(ctx, plx_metrics_classification(m, truth, truth, 2));
    assert_true(value_of("macro_f1") == 1 && value_of("micro_f1") == 1 && value_of("error") == 0);
    assert_ok(ctx, plx_metrics_classification(m, truth, none, 2));
    assert_true(value_of("accuracy") == 0 && value_of("micro_precision") == 0 && value_of("f1:a") == 0);
}

/* ---- sets of labels ---- */

/* Truth {a,b} {} {c}, predictions {a} {b} {?}: tp a 1, fn b 1, fp b 1, fn c 1; only nothing is exact. */
static void multilabel_by_hand(void **state)
{
    (void)state;
    const char *truth[] = {"a|b", "-", "c", "?", ""}, *pred[] = {" a |a|", "b", "?", "a", "-"};
    assert_ok(ctx, plx_metrics_multilabel(m, truth, pred, 5, NULL));
    assert_close(value_of("f1:a"), 1, 0);
    assert_close(value_of("f1:b"), 0, 0);
    assert_close(value_of("micro_f1"), 2.0 / (2 + 1 + 2), 1e-15);
    assert_close(value_of("macro_f1"), 1.0 / 3, 1e-15);
    assert_close(value_of("weighted_f1"), 1.0 / 3, 1e-15);
    assert_close(value_of("subset_accuracy"), 1.0 / 4, 0);
    assert_close(value_of("hamming_loss"), 3.0 / 12, 1e-15);
    assert_int_equal(plx_metrics_find(m, "h_f1"), -1);
    assert_int_equal(plx_metrics_find(m, "accuracy"), -1);
    const char *empty[] = {"", "-"}, *unknown[] = {"?"};
    assert_ok(ctx, plx_metrics_multilabel(m, empty, empty, 2, NULL));
    assert_true(value_of("subset_accuracy") == 1 && value_of("hamming_loss") == 0 && value_of("micro_f1") == 0);
    assert_ok(ctx, plx_metrics_multilabel(m, unknown, unknown, 1, NULL));
    assert_true(is_null("subset_accuracy"));
}

/* lion < cat < animal, dog < animal. Truth {lion}, {dog, x}; predictions {cat}, {animal}:
 * closed {lion,cat,animal} against {cat,animal}: tp 2, fn 1; {dog,animal,x} against {animal}: tp 1, fn 2. */
static void hierarchy_closes_upwards(void **state)
{
    (void)state;
    const char *classes[] = {"animal", "cat", "dog", "lion"},
               *subset[] = {"lion", "cat", "cat", "animal", "dog", "animal"};
    plx_metrics_hierarchy h = {sizeof h, classes, 4, subset, 3, NULL, 0};
    const char *truth[] = {"lion", "dog|x"}, *pred[] = {"cat", "animal"}, *unknown[] = {"?", "?"};
    assert_ok(ctx, plx_metrics_multilabel(m, truth, pred, 2, &h));
    assert_close(value_of("h_precision"), 1, 0);
    assert_close(value_of("h_recall"), 0.5, 0);
    assert_close(value_of("h_f1"), 2.0 / 3, 1e-15);
    assert_close(value_of("micro_f1"), 0, 0);
    assert_int_equal(plx_metrics_find(m, "f1:zebra"), -1);
    assert_int_equal(plx_metrics_warning_count(m), 1);
    assert_non_null(strstr(plx_metrics_warning(m, 0), "'x'"));
    assert_ok(ctx, plx_metrics_multilabel(m, unknown, pred, 2, &h));
    assert_true(is_null("h_f1"));
    subset[5] = "animl";
    assert_fails(ctx, plx_metrics_multilabel(m, truth, pred, 2, &h), PLX_E_DATA, "did you mean 'animal'");
    subset[4] = "animal";
    subset[5] = "lion";
    assert_fails(ctx, plx_metrics_multilabel(m, truth, pred, 2, &h), PLX_E_DATA, "cycle");
    subset[5] = NULL;
    assert_fails(ctx, plx_metrics_multilabel(m, truth, pred, 2, &h), PLX_E_ARG, "NULL");
    h.struct_size = 1;
    assert_fails(ctx, plx_metrics_multilabel(m, truth, pred, 2, &h), PLX_E_ARG, "struct_size");
}

/* lion < cat < animal, plant excludes animal. Broken: {cat} and {lion, animal} lack a superset, {lion, cat, animal,
 * plant} holds exclusive classes, declared for animal and implied for the others. */
static void broken_rules_are_counted(void **state)
{
    (void)state;
    const char *classes[] = {"animal", "cat", "lion", "plant"}, *subset[] = {"lion", "cat", "cat", "animal"};
    const char *mutex[] = {"plant", "animal"};
    plx_metrics_hierarchy h = {sizeof h, classes, 4, subset, 2, mutex, 1};
    const char *truth[] = {"cat", "cat", "cat", "cat", "cat", "cat", "cat", "?"};
    const char *pred[] = {"cat|animal", "cat", "lion|animal", "animal|cat|lion|plant", "plant|x", "?", "-", "cat"};
    assert_ok(ctx, plx_metrics_multilabel(m, truth, pred, 8, &h));
    assert_close(value_of("h_violations"), 3.0 / 7, 1e-15);
    mutex[0] = "plnt";
    assert_fails(ctx, plx_metrics_multilabel(m, truth, pred, 8, &h), PLX_E_DATA, "did you mean 'plant'");
    mutex[0] = "cat";
    assert_fails(ctx, plx_metrics_multilabel(m, truth, pred, 8, &h), PLX_E_DATA, "mutex");
    mutex[0] = NULL;
    assert_fails(ctx, plx_metrics_multilabel(m, truth, pred, 8, &h), PLX_E_ARG, "NULL");
}

/* Against a plain count over (sample, class) pairs. */
static void multilabel_matches_brute_force(void **state)
{
    (void)state;
    enum { N = 60, C = 5 };
    static char text[2][N][16];
    const char *label[2][N];
    int has[2][N][C], tp = 0, fp = 0, fn = 0, exact = 0;
    plx__rng r = plx__rng_start(11, PLX__STREAM('m', 'l', 'a', 'b', 0));
    for (int i = 0; i < N; i++)
        for (int side = 0; side < 2; side++) {
            text[side][i][0] = '\0';
            for (int c = C - 1; c >= 0; c--) {
                has[side][i][c] = plx__next_uniform(&r) < 0.4;
                char name[3] = {(char)('a' + c), '|', '\0'};
                if (has[side][i][c]) strcat(text[side][i], name);
            }
            label[side][i] = text[side][i];
        }
    for (int i = 0; i < N; i++) {
        int wrong = 0;
        for (int c = 0; c < C; c++) {
            tp += has[0][i][c] && has[1][i][c];
            fp += !has[0][i][c] && has[1][i][c];
            fn += has[0][i][c] && !has[1][i][c];
            wrong += has[0][i][c] != has[1][i][c];
        }
        exact += wrong == 0;
    }
    assert_ok(ctx, plx_metrics_multilabel(m, label[0], label[1], N, NULL));
    assert_close(value_of("micro_precision"), (double)tp / (tp + fp), 1e-15);
    assert_close(value_of("micro_recall"), (double)tp / (tp + fn), 1e-15);
    assert_close(value_of("subset_accuracy"), (double)exact / N, 1e-15);
    assert_close(value_of("hamming_loss"), (double)(fp + fn) / (N * C), 1e-15);
}

/* ---- ranking ---- */

/* Scores 4 3 3 2 1 with positives 4, 3, 1: by hand. Pairs: 4 beats both; 3 ties one, beats 2; 1 loses both:
 * auc = (2 + 1.5 + 0)/6. R = 3: the cut is inside the tie {3,3}? a = 1, tied 2, so the cut falls at its end:
 * prbep = (1 + 2 * 1/2)/3. Average precision = 1/3 * 1 + 1/3 * 2/3 + 1/3 * 3/5. */
static void ranking_by_hand(void **state)
{
    (void)state;
    const char *truth[] = {"p", "p", "n", "n", "p", "?"}, *classes[] = {"p"};
    const double s[] = {4, 3, 3, 2, 1, NAN};
    assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 6, 1, 1}, classes, NULL, 0));
    assert_close(value_of("auc"), 3.5 / 6, 1e-15);
    assert_close(value_of("auc:p"), 3.5 / 6, 1e-15);
    assert_close(value_of("macro_auc"), 3.5 / 6, 1e-15);
    assert_close(value_of("prbep"), 2.0 / 3, 1e-15);
    assert_close(value_of("average_precision"), (1 + 2.0 / 3 + 3.0 / 5) / 3, 1e-15);
}

static void ranking_degenerate(void **state)
{
    (void)state;
    const char *truth[] = {"p", "p"}, *classes[] = {"p", "n"}, *twice[] = {"p", "p"};
    const double s[] = {0, -0.0, 1, 0};
    assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 2, 2, 2}, classes, "p", 0));
    assert_true(is_null("auc:p") && is_null("auc:n") && is_null("macro_auc") && is_null("auc") && is_null("prbep:n"));
    assert_true(value_of("prbep:p") == 1 && value_of("average_precision:p") == 1);
    assert_non_null(strstr(plx_metrics_warning(m, 0), "every sample"));
    truth[1] = "n";
    assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 2, 2, 2}, classes, "n", 0));
    assert_close(value_of("auc:n"), 0.5, 0); /* 0 and -0 tie */
    assert_close(value_of("prbep"), 0.5, 0);
    assert_close(value_of("average_precision"), 0.5, 0);
    assert_fails(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 2, 2, 2}, classes, "nn", 0), PLX_E_ARG,
                 "'nn' has no column");
    assert_fails(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 2, 2, 2}, twice, NULL, 0), PLX_E_DATA, "twice");
    const double bad[] = {1, 2, NAN, 0};
    assert_fails(ctx, plx_metrics_ranking(m, truth, (plx_cmat){bad, 2, 2, 2}, classes, NULL, 0), PLX_E_DATA,
                 "row 2, class 'p'");
    assert_fails(ctx, plx_metrics_ranking(m, truth, (plx_cmat){bad, 2, 2, 1}, classes, NULL, 0), PLX_E_ARG,
                 "no matrix");
    assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 0, 2, 2}, classes, NULL, 0));
    assert_true(is_null("macro_auc"));
}

/* One column that is not named after a class is the score of the positive class. */
static void ranking_by_free_column(void **state)
{
    (void)state;
    const char *truth[] = {"p", "n", "q|p"}, *score[] = {"score"}, *p[] = {"p"};
    const double s[] = {2, 1, 3};
    assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 3, 1, 1}, score, "p", 0));
    assert_close(value_of("auc"), 0.5, 0);
    assert_close(value_of("auc:p"), 0.5, 0);
    assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 3, 1, 1}, score, "p", 1));
    assert_close(value_of("auc"), 1, 0);
    assert_fails(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, 3, 1, 1}, p, "n", 0), PLX_E_ARG, "no column");
}

enum { N_SMALL = 7 };

static double auc_by_pairs(const double *s, const int *pos, int n)
{
    double won = 0, pairs = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (pos[i] && !pos[j]) {
                pairs++;
                won += s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0;
            }
    return won / pairs;
}

/* Mean of precision at R over all n! orders that sort the scores (ties broken every way). */
static void prbep_orders(const double *s, const int *pos, int n, int *order, int depth, int total, double *sum,
                         double *orders)
{
    if (depth == n) {
        int hits = 0;
        for (int i = 0; i < total; i++) hits += pos[order[i]];
        *sum += (double)hits / total;
        ++*orders;
        return;
    }
    for (int i = 0; i < n; i++) {
        bool used = false, fits = true;
        for (int k = 0; k < depth; k++) used |= order[k] == i;
        for (int j = 0; j < n && fits; j++) {
            bool taken = j == i;
            for (int k = 0; k < depth; k++) taken |= order[k] == j;
            fits = taken || s[j] <= s[i];
        }
        if (used || !fits) continue;
        order[depth] = i;
        prbep_orders(s, pos, n, order, depth + 1, total, sum, orders);
    }
}

static double average_precision_by_definition(const double *s, const int *pos, int n, int total)
{
    double sum = 0;
    for (int k = 0; k < n; k++) { /* each distinct threshold once: the first sample that has it */
        int above = 0, hits = 0, here = 0, first = 1;
        for (int i = 0; i < n; i++) {
            if (i < k && s[i] == s[k]) first = 0;
            above += s[i] >= s[k];
            hits += s[i] >= s[k] && pos[i];
            here += s[i] == s[k] && pos[i];
        }
        if (first) sum += (double)here / total * hits / above;
    }
    return sum;
}

static void ranking_matches_brute_force(void **state)
{
    (void)state;
    plx__rng r = plx__rng_start(5, PLX__STREAM('r', 'a', 'n', 'k', 0));
    for (int trial = 0; trial < 60; trial++) {
        double s[N_SMALL], sum = 0, orders = 0;
        int pos[N_SMALL], order[N_SMALL], total = 0;
        const char *truth[N_SMALL], *classes[] = {"p"};
        for (int i = 0; i < N_SMALL; i++) {
            s[i] = (double)plx__next_below(&r, 4) - 1.5;
            pos[i] = i < 2 ? i : plx__next_uniform(&r) < 0.5; /* one of each at least */
            truth[i] = pos[i] ? "p" : "n";
            total += pos[i];
        }
        prbep_orders(s, pos, N_SMALL, order, 0, total, &sum, &orders);
        assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, N_SMALL, 1, 1}, classes, NULL, 0));
        assert_close(value_of("auc"), auc_by_pairs(s, pos, N_SMALL), 1e-14);
        assert_close(value_of("prbep"), sum / orders, 1e-13);
        assert_close(value_of("average_precision"), average_precision_by_definition(s, pos, N_SMALL, total), 1e-14);
    }
}

/* Many samples of all magnitudes and signs: the radix sort against pairs, and the same bytes for every thread count. */
static void ranking_of_many(void **state)
{
    (void)state;
    enum { N = 500, C = 5 };
    static double s[N * C];
    const char *truth[N], *classes[] = {"a", "b", "c", "d", "e"};
    plx__rng r = plx__rng_start(6, PLX__STREAM('r', 'a', 'n', 'k', 1));
    for (int i = 0; i < N; i++) {
        truth[i] = classes[plx__next_below(&r, C)];
        for (int c = 0; c < C; c++)
            s[i * C + c] = i % 50 == 0 ? (i % 100 ? INFINITY : -INFINITY)
                                       : ldexp(plx__next_normal(&r), (int)plx__next_below(&r, 80) - 40);
    }
    assert_ok(ctx, plx_metrics_ranking(m, truth, (plx_cmat){s, N, C, C}, classes, "b", 0));
    double macro = 0;
    for (int c = 0; c < C; c++) {
        double column[N];
        int pos[N];
        char name[] = "auc:a";
        for (int i = 0; i < N; i++) {
            column[i] = s[i * C + c];
            pos[i] = truth[i] == classes[c];
        }
        name[4] = (char)('a' + c);
        assert_close(value_of(name), auc_by_pairs(column, pos, N), 1e-13);
        macro += value_of(name) / C;
    }
    assert_close(value_of("macro_auc"), macro, 1e-14);
    assert_true(value_of("auc") == value_of("auc:b"));
    const char *two = NULL, *one = NULL;
    assert_ok(ctx, plx_metrics_json(&two, m));
    for (int threads = 1; threads < 8; threads += 3) {
        plx_context *other = test_context(threads);
        plx_metrics *list = NULL;
        assert_ok(other, plx_metrics_create(&list, other));
        assert_ok(other, plx_metrics_ranking(list, truth, (plx_cmat){s, N, C, C}, classes, "b", 0));
        assert_ok(other, plx_metrics_json(&one, list));
        assert_string_equal(one, two);
        plx_metrics_destroy(list);
        plx_context_destroy(other);
    }
}

/* ---- retrieval ---- */

/* Ranks: query 0: item 1 of {3,2,2,1}: 1 + 1 + 1/2 = 2.5; query 1: best, 1; query 2 skipped; query 3: all tied, 2.5. */
static void retrieval_by_hand(void **state)
{
    (void)state;
    const double s[] = {3, 2, 2, 1, 0, 0, 0, 9, NAN, 1, 1, 1, 5, 5, 5, 5};
    const plx_index gold[] = {1, 3, -1, 0}, top[] = {1, 2, 3};
    assert_ok(ctx, plx_metrics_retrieval(m, (plx_cmat){s, 4, 4, 4}, gold, top, 3));
    assert_close(value_of("top:1"), 1.0 / 3, 1e-15);
    assert_close(value_of("top:2"), 1.0 / 3, 1e-15);
    assert_close(value_of("top:3"), 1, 0);
    assert_close(value_of("mrr"), (1 / 2.5 + 1 + 1 / 2.5) / 3, 1e-15);
    assert_close(value_of("median_rank"), 2.5, 0);
    const plx_index high[] = {4, 0, 0, 0}, nan_row[] = {0, 0, 1, 0}, none[] = {-1, -1, -1, -1}, zero[] = {0};
    assert_fails(ctx, plx_metrics_retrieval(m, (plx_cmat){s, 4, 4, 4}, high, top, 3), PLX_E_DATA, "0 to 3");
    assert_fails(ctx, plx_metrics_retrieval(m, (plx_cmat){s, 4, 4, 4}, nan_row, top, 3), PLX_E_DATA, "query 3, item 0");
    assert_fails(ctx, plx_metrics_retrieval(m, (plx_cmat){s, 4, 4, 4}, gold, zero, 1), PLX_E_ARG, "at least 1");
    assert_ok(ctx, plx_metrics_retrieval(m, (plx_cmat){s, 4, 4, 4}, none, top, 3));
    assert_true(is_null("mrr") && is_null("top:1") && is_null("median_rank"));
}

/* ---- regression ---- */

static void regression_by_hand(void **state)
{
    (void)state;
    const char *truth[] = {"1", "?", "-2.5"}, *pred[] = {"2", "x", "0.5"};
    assert_ok(ctx, plx_metrics_regression(m, truth, pred, 3));
    assert_close(value_of("rmse"), sqrt(10.0 / 2), 1e-15);
    truth[1] = "3";
    assert_fails(ctx, plx_metrics_regression(m, truth, pred, 3), PLX_E_DATA, "'x'");
    truth[0] = truth[1] = truth[2] = "?";
    assert_ok(ctx, plx_metrics_regression(m, truth, pred, 3));
    assert_true(is_null("rmse"));
}

/* ---- allocation failure ---- */

static plx_status everything(plx_context *c, plx_metrics **list, const char **json)
{
    const char *truth[] = {"a|b", "b", "?", "a"}, *pred[] = {"a", "b|c", "a", "?"}, *classes[] = {"a", "b"};
    const char *subset[] = {"b", "a"}, *views[] = {"v", "w"};
    const char *labels[] = {"a", "b", "b", "b", "?", "a", "a", "?"};
    const double s[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const plx_index gold[] = {0, 1, -1, 0}, top[] = {1};
    plx_cmat scores = {s, 4, 2, 2};
    plx_metrics_hierarchy h = {sizeof h, classes, 2, subset, 1, NULL, 0};
    PLX_TRY(plx_metrics_create(list, c));
    PLX_TRY(plx_metrics_classification(*list, truth, pred, 4));
    PLX_TRY(plx_metrics_multilabel(*list, truth, pred, 4, &h));
    PLX_TRY(plx_metrics_ranking(*list, truth, scores, classes, "a", 1));
    PLX_TRY(plx_metrics_clustering(*list, truth, pred, 4, 1));
    PLX_TRY(plx_metrics_retrieval(*list, scores, gold, top, 1));
    PLX_TRY(plx_metrics_views(*list, truth, labels, 4, views, 2));
    PLX_TRY(plx_metrics_table(*list, scores, views, NULL, 1));
    return plx_metrics_json(json, *list);
}

static void survives_every_allocation_failure(void **state)
{
    (void)state;
    plx_status st = PLX_E_NOMEM;
    long k = 0;
    while (st != PLX_OK && k < 5000) {
        meter count = {0, ++k, 0};
        plx_context *c = metered_context(&count, 1);
        plx_metrics *list = NULL;
        const char *json = NULL;
        st = c ? everything(c, &list, &json) : PLX_E_NOMEM;
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        if (c && st != PLX_OK) assert_true(plx_context_error(c)[0] != '\0');
        plx_metrics_destroy(list);
        plx_context_destroy(c);
        assert_int_equal(count.live, 0);
    }
    assert_int_equal(st, PLX_OK);
    assert_true(k > 50);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, gone)
    const struct CMUnitTest tests[] = {
        TEST(list_keeps_order_and_tells),
        TEST(json_is_flat_and_exact),
        TEST(undefined_values_warn),
        TEST(classification_by_hand),
        TEST(classification_of_one_class),
        TEST(multilabel_by_hand),
        TEST(hierarchy_closes_upwards),
        TEST(broken_rules_are_counted),
        TEST(multilabel_matches_brute_force),
        TEST(ranking_by_hand),
        TEST(ranking_degenerate),
        TEST(ranking_by_free_column),
        TEST(ranking_matches_brute_force),
        TEST(ranking_of_many),
        TEST(retrieval_by_hand),
        TEST(regression_by_hand),
        TEST(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
