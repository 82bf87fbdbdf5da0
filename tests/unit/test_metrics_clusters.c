#include "metrics_helpers.h"

#include "core/rng.h"
#include "eval/cluster_match.h"

/* ---- clusters ---- */

/* Classes a a b b, clusters x x x y: tp 1, fp 2, fn 1 of 6 pairs. */
static void clustering_by_hand(void **state)
{
    (void)state;
    const char *truth[] = {"a", "a", "b", "b", "?"}, *found[] = {"x", "x", "x", "y", "z"};
    assert_ok(ctx, plx_metrics_clustering(m, truth, found, 5, 0));
    assert_close(value_of("pair_precision"), 1.0 / 3, 1e-15);
    assert_close(value_of("pair_recall"), 1.0 / 2, 1e-15);
    assert_close(value_of("pair_f"), 2.0 / 5, 1e-15);
    assert_close(value_of("rand"), 3.0 / 6, 1e-15);
    assert_close(value_of("ari"), 0, 1e-15); /* e = 3 * 2 / 6 = 1 = tp */
    assert_close(value_of("purity"), 3.0 / 4, 0);
    assert_close(value_of("cluster_accuracy"), 3.0 / 4, 0);
    assert_close(value_of("cluster_entropy"), 3.0 / 4 * (log2(3) - 2.0 / 3), 1e-15);
    double h_t = log(2), h_p = log(4) - 0.75 * log(3), joint = 0.5 * log(2) + 0.5 * log(4);
    assert_close(value_of("nmi"), 2 * (h_t + h_p - joint) / (h_t + h_p), 1e-15);
    assert_close(value_of("nmi_geometric"), (h_t + h_p - joint) / sqrt(h_t * h_p), 1e-15);
}

static void clustering_degenerate(void **state)
{
    (void)state;
    const char *one[] = {"a", "a", "a"}, *apart[] = {"x", "y", "z"};
    assert_ok(ctx, plx_metrics_clustering(m, one, apart, 3, 0));
    assert_true(value_of("nmi") == 0 && value_of("nmi_geometric") == 0);
    assert_true(value_of("pair_precision") == 1); /* no pair is put together: 0/0 */
    assert_true(value_of("pair_recall") == 0 && value_of("pair_f") == 0 && value_of("ari") == 0);
    assert_ok(ctx, plx_metrics_clustering(m, apart, apart, 3, 0));
    assert_true(value_of("ari") == 1 && value_of("nmi") == 1 && value_of("pair_f") == 1 && value_of("rand") == 1);
    assert_ok(ctx, plx_metrics_clustering(m, one, apart, 1, 0));
    assert_true(value_of("rand") == 1 && value_of("ari") == 1 && value_of("nmi") == 1 && value_of("pair_f") == 1);
    const char *unknown[] = {"?", "?", "?"};
    assert_ok(ctx, plx_metrics_clustering(m, unknown, apart, 3, 0));
    assert_true(is_null("nmi") && is_null("ari"));
}

static void noise_is_a_cluster_unless_dropped(void **state)
{
    (void)state;
    const char *truth[] = {"a", "a", "b", "b"}, *found[] = {"c0", "noise", "noise", "c1"},
               *all[] = {"noise", "noise", "noise", "noise"};
    assert_ok(ctx, plx_metrics_clustering(m, truth, found, 4, 0));
    assert_close(value_of("purity"), 3.0 / 4, 0);
    assert_ok(ctx, plx_metrics_clustering(m, truth, found, 4, 1));
    assert_close(value_of("purity"), 1, 0);
    assert_close(value_of("cluster_accuracy"), 1, 0);
    assert_ok(ctx, plx_metrics_clustering(m, truth, all, 4, 1));
    assert_true(is_null("purity"));
    assert_non_null(strstr(plx_metrics_warning(m, 0), "noise"));
    found[0] = "?"; /* an unanswered sample is not dropped silently */
    assert_ok(ctx, plx_metrics_clustering(m, truth, found, 4, 1));
    assert_close(value_of("purity"), 1, 0);
    truth[0] = "b";
    assert_ok(ctx, plx_metrics_clustering(m, truth, found, 4, 1));
    assert_close(value_of("cluster_accuracy"), 1.0 / 2, 0);
}

/* Largest sum over all injective maps of rows to columns, by trying them all. */
static double best_match(const double *counts, int rows, int cols, int row, unsigned used)
{
    if (row == rows) return 0;
    double best = rows > cols ? best_match(counts, rows, cols, row + 1, used) : -1;
    for (int c = 0; c < cols; c++)
        if (!(used >> c & 1)) {
            double sum = counts[row * cols + c] + best_match(counts, rows, cols, row + 1, used | 1u << c);
            if (sum > best) best = sum;
        }
    return best;
}

static void matching_by_enumeration(void **state)
{
    (void)state;
    plx__rng r = plx__rng_start(1, PLX__STREAM('m', 'a', 't', 'c', 0));
    for (int trial = 0; trial < 300; trial++) {
        int rows = 1 + (int)plx__next_below(&r, 6), cols = 1 + (int)plx__next_below(&r, 6);
        double counts[36], matched = -1;
        for (int i = 0; i < rows * cols; i++) counts[i] = (double)plx__next_below(&r, trial % 2 ? 4 : 1000);
        assert_ok(ctx, plx__match_clusters(&matched, ctx, (plx_cmat){counts, rows, cols, cols}));
        assert_close(matched, best_match(counts, rows, cols, 0, 0), 0);
    }
    double matched = -1;
    assert_ok(ctx, plx__match_clusters(&matched, ctx, (plx_cmat){NULL, 0, 3, 3}));
    assert_close(matched, 0, 0);
}

/* Entropies and pairs straight from the definitions on random partitions. */
static void clustering_matches_brute_force(void **state)
{
    (void)state;
    enum { N = 40, K = 4 };
    static const char *const names[] = {"k0", "k1", "k2", "k3"};
    plx__rng r = plx__rng_start(2, PLX__STREAM('c', 'l', 'u', 's', 0));
    for (int trial = 0; trial < 30; trial++) {
        const char *truth[N], *found[N];
        int t[N], p[N];
        double joint[K][K] = {{0}}, pt[K] = {0}, pp[K] = {0}, tp = 0, fp = 0, fn = 0, tn = 0;
        for (int i = 0; i < N; i++) {
            t[i] = (int)plx__next_below(&r, 1 + trial % K);
            p[i] = plx__next_uniform(&r) < 0.6 ? t[i] : (int)plx__next_below(&r, K);
            truth[i] = names[t[i]];
            found[i] = names[p[i]];
            joint[t[i]][p[i]] += 1.0 / N;
            pt[t[i]] += 1.0 / N;
            pp[p[i]] += 1.0 / N;
        }
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++) {
                tp += t[i] == t[j] && p[i] == p[j];
                fp += t[i] != t[j] && p[i] == p[j];
                fn += t[i] == t[j] && p[i] != p[j];
                tn += t[i] != t[j] && p[i] != p[j];
            }
        double h_t = 0, h_p = 0, info = 0, conditional = 0;
        for (int a = 0; a < K; a++) {
            if (pt[a] > 0) h_t -= pt[a] * log(pt[a]);
            if (pp[a] > 0) h_p -= pp[a] * log(pp[a]);
            for (int b = 0; b < K; b++)
                if (joint[a][b] > 0) {
                    info += joint[a][b] * log(joint[a][b] / pt[a] / pp[b]);
                    conditional -= joint[a][b] * log2(joint[a][b] / pp[b]);
                }
        }
        double e = (tp + fp) * (tp + fn) / (tp + fp + fn + tn);
        assert_ok(ctx, plx_metrics_clustering(m, truth, found, N, 0));
        assert_close(value_of("nmi"), 2 * info / (h_t + h_p), 1e-13);
        assert_close(value_of("nmi_geometric"), h_t < 1e-12 || h_p < 1e-12 ? 0 : info / sqrt(h_t * h_p), 1e-13);
        assert_close(value_of("cluster_entropy"), conditional, 1e-13);
        assert_close(value_of("pair_precision"), tp / (tp + fp), 1e-15);
        assert_close(value_of("pair_f"), 2 * tp / (2 * tp + fp + fn), 1e-15);
        assert_close(value_of("rand"), (tp + tn) / (tp + tn + fp + fn), 1e-15);
        assert_close(value_of("ari"), (tp - e) / ((2 * tp + fp + fn) / 2 - e), 1e-13);
    }
}

/* ---- views ---- */

/* Views A, B, C over five samples; C predicts nothing. A and B share samples 0, 1, 3: equal at 0 and 3. */
static void views_by_hand(void **state)
{
    (void)state;
    const char *truth[] = {"x", "y", "x", "y", "?"}, *views[] = {"A", "B", "C"};
    const char *labels[] = {"x", "x", "?", "y", "x", "?", "y", "?", "?", "y", "y", "?", "x", "y", "?"};
    assert_ok(ctx, plx_metrics_views(m, truth, labels, 5, views, 3));
    assert_close(value_of("agreement:A|B"), 2.0 / 3, 1e-15);
    assert_close(value_of("agreement"), 2.0 / 3, 1e-15);
    assert_true(is_null("agreement:A|C") && is_null("kappa:B|C") && is_null("view_accuracy:C"));
    /* A: x y y, B: x x y: pe = (1*2 + 2*1)/9 = 4/9, kappa = (6/9 - 4/9)/(5/9). */
    assert_close(value_of("kappa:A|B"), 2.0 / 5, 1e-15);
    assert_close(value_of("view_accuracy:A"), 3.0 / 4, 0);
    assert_close(value_of("view_accuracy:B"), 2.0 / 3, 1e-15);
    assert_close(value_of("imbalance"), 3.0 / 4 - 2.0 / 3, 1e-15);
}

static void views_without_truth_or_partner(void **state)
{
    (void)state;
    const char *views[] = {"A", "B"}, *twice[] = {"A", "A"}, *same[] = {"x", "x", "x", "x"}, *missing[] = {"?", "?"};
    const char *unknown[] = {"?", "?"};
    assert_ok(ctx, plx_metrics_views(m, NULL, same, 2, views, 2));
    assert_true(value_of("kappa:A|B") == 1 && value_of("agreement") == 1);
    assert_int_equal(plx_metrics_find(m, "imbalance"), -1);
    assert_ok(ctx, plx_metrics_views(m, NULL, same, 2, views, 1));
    assert_true(is_null("agreement"));
    assert_ok(ctx, plx_metrics_views(m, missing, missing, 1, views, 2));
    assert_true(is_null("imbalance"));
    assert_ok(ctx, plx_metrics_views(m, unknown, same, 2, views, 2));
    assert_true(is_null("agreement") && is_null("view_accuracy:A"));
    assert_fails(ctx, plx_metrics_views(m, NULL, same, 2, twice, 2), PLX_E_DATA, "twice");
    assert_fails(ctx, plx_metrics_views(m, NULL, same, 2, views, 0), PLX_E_ARG, "at least one view");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, gone)
    const struct CMUnitTest tests[] = {
        TEST(clustering_by_hand),
        TEST(clustering_degenerate),
        TEST(noise_is_a_cluster_unless_dropped),
        TEST(matching_by_enumeration),
        TEST(clustering_matches_brute_force),
        TEST(views_by_hand),
        TEST(views_without_truth_or_partner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
