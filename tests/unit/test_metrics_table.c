#include "plx_test.h"

#include "core/rng.h"
#include "eval/paired_tests.h"
#include "eval/special.h"
#include "parallax/metrics.h"

static double value_of(const plx_metrics *m, const char *name)
{
    int defined = 0;
    plx_index i = plx_metrics_find(m, name);
    if (i < 0) fail_msg("no metric %s", name);
    double v = plx_metrics_value(m, i, &defined);
    if (!defined) fail_msg("metric %s is undefined", name);
    return v;
}

static bool is_null(const plx_metrics *m, const char *name)
{
    int defined = 1;
    plx_index i = plx_metrics_find(m, name);
    if (i < 0) fail_msg("no metric %s", name);
    plx_metrics_value(m, i, &defined);
    return !defined;
}

#define assert_relative(a, b, tol) assert_close((a) / (b), 1.0, (tol))

/* Values from mpmath with 40 digits: betainc(v/2, 1/2, 0, v/(v+t^2)), gammainc(k/2, x/2, inf), regularised. */
static void special_functions_match_mpmath(void **state)
{
    (void)state;
    static const struct {
        double t, freedom, p;
    } student[] = {{0.5, 1, 0.704832764699133452},
                   {2.0, 1, 0.295167235300866548},
                   {100000.0, 1, 6.36619772346360684e-6},
                   {1.0, 2, 0.422649730810374235},
                   {3.853399329035293, 8, 0.00485409156823609695},
                   {0.001, 5, 0.999240786772197651},
                   {30.0, 5, 7.71864862049605199e-7},
                   {12.0, 30, 5.58018541519925606e-13},
                   {25.0, 30, 1.20918223812870264e-21},
                   {1.96, 1000, 0.0502731849557487184},
                   {1.0, 1000, 0.317552418084672307},
                   {13.0, 1000, 8.16604690827090423e-36},
                   {0.7, 1000000, 0.483927467286541444},
                   {11.5, 1000000, 1.32502172607006577e-30},
                   {40.0, 9, 1.89829984493398265e-11},
                   {700.0, 12, 4.86590654500060247e-29},
                   {1e-08, 7, 0.999999992300170983},
                   {1.7163639242386268, 100000, 0.0860985521031224374}, /* last two: quadrature of the density */
                   {3.0, 100000000, 0.00269979672803749439}};
    static const struct {
        double x, freedom, p;
    } chi[] = {{0.1, 1, 0.751829634045849276},          {3.84, 1, 0.0500435212487051032},
               {130.0, 1, 4.09777649484491455e-30},     {6.8888888888888715, 2, 0.0319224918348959851},
               {2.0, 3, 0.572406704470879834},          {0.01, 5, 0.999999469972995731},
               {200.0, 5, 2.84062289864153168e-41},     {20.0, 19, 0.394578182086000811},
               {19.0, 19, 0.456836125591962383},        {150.0, 19, 2.19156359934607349e-22},
               {1000.0, 1000, 0.494052853829239642},    {900.0, 1000, 0.989282761908710258},
               {1500.0, 1000, 1.04546403859796573e-22}, {1e-06, 4, 0.999999999999875},
               {1200.0, 3, 7.33167159155067794e-260}};
    static const struct {
        double a, b, x, p;
    } beta[] = {{2.5, 3.5, 0.3, 0.296752989295666378},
                {0.5, 0.5, 0.9, 0.795167235300866572},
                {100, 200, 0.35, 0.732571464957544069},
                {1000, 3, 0.99, 0.0026356046544206668},
                {5, 100000.0, 2e-05, 0.0526584309535354524}};
    for (size_t i = 0; i < sizeof student / sizeof *student; i++) {
        assert_relative(plx__student_two_sided(student[i].t, student[i].freedom), student[i].p, 5e-13);
        assert_relative(plx__student_two_sided(-student[i].t, student[i].freedom), student[i].p, 5e-13);
    }
    for (size_t i = 0; i < sizeof chi / sizeof *chi; i++)
        assert_relative(plx__chi_square_upper(chi[i].x, chi[i].freedom), chi[i].p, 1e-12);
    for (size_t i = 0; i < sizeof beta / sizeof *beta; i++)
        assert_relative(plx__beta_inc(beta[i].a, beta[i].b, beta[i].x, 1 - beta[i].x), beta[i].p, 1e-12);
}

static void special_functions_have_their_limits(void **state)
{
    (void)state;
    assert_true(plx__student_two_sided(0, 3) == 1);
    assert_true(plx__student_two_sided(INFINITY, 3) == 0);
    assert_true(plx__chi_square_upper(0, 2) == 1);
    assert_true(plx__chi_square_upper(INFINITY, 2) == 0);
    assert_true(plx__normal_two_sided(0) == 1);
    assert_relative(plx__normal_two_sided(-1.959963984540054), 0.05, 1e-12);
    for (double t = 0.1; t < 1000; t *= 1.7) { /* closed forms for one and two degrees */
        assert_relative(plx__student_two_sided(t, 1), 2 * atan2(1, t) / acos(-1.0), 1e-12);
        assert_close(plx__student_two_sided(t, 2), 1 - t / sqrt(2 + t * t), 1e-13);
        if (t < 600) assert_relative(plx__chi_square_upper(t, 2), exp(-t / 2), 1e-12);
    }
}

static void ranks_share_ties(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {3, 1, 3, 0, 3, 1}; /* sorted 0 1 1 3 3 3 */
    double rank[6], ties = 0;
    assert_ok(ctx, plx__mean_ranks(rank, &ties, ctx, x, 6));
    const double expected[] = {5, 2.5, 5, 1, 5, 2.5};
    for (int i = 0; i < 6; i++) assert_true(rank[i] == expected[i]);
    assert_true(ties == 24 + 6);
    plx_context_destroy(ctx);
}

/* All 2^n sign patterns of the ranks 1..n. */
static double wilcoxon_by_enumeration(double w, int n)
{
    long below = 0;
    for (long signs = 0; signs < 1L << n; signs++) {
        double sum = 0;
        for (int r = 1; r <= n; r++)
            if (signs >> (r - 1) & 1) sum += r;
        below += sum <= w;
    }
    double p = 2.0 * (double)below / (double)(1L << n);
    return p > 1 ? 1 : p;
}

static void wilcoxon_is_exact(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__rng r = plx__rng_start(3, PLX__STREAM('w', 'i', 'l', 'c', 0));
    for (int n = 1; n <= 12; n++)
        for (int trial = 0; trial < 5; trial++) {
            double d[12], plus = 0;
            for (int i = 0; i < n; i++) {
                bool positive = plx__next_uniform(&r) < 0.5;
                d[i] = positive ? i + 1 : -(i + 1);
                if (positive) plus += i + 1;
            }
            plx__test t;
            assert_ok(ctx, plx__wilcoxon(&t, ctx, d, n));
            double w = fmin(plus, n * (n + 1) / 2.0 - plus);
            assert_close(t.statistic, w, 0);
            assert_close(t.p, wilcoxon_by_enumeration(w, n), 1e-15);
        }
    plx_context_destroy(ctx);
}

/* n = 25 is still exact: W = 0 has p = 2 / 2^25. n = 26 and ties are normal; zeros do not count. */
static void wilcoxon_changes_to_normal(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double d[27];
    plx__test t;
    for (int i = 0; i < 27; i++) d[i] = i; /* d[0] = 0 is dropped */
    assert_ok(ctx, plx__wilcoxon(&t, ctx, d, 26));
    assert_close(t.p, ldexp(1, -24), 1e-20);
    assert_ok(ctx, plx__wilcoxon(&t, ctx, d, 27));
    assert_relative(t.p, erfc(175.5 / sqrt(26 * 27 * 53 / 24.0) / sqrt(2)), 1e-13);
    const double tied[] = {1, 1, -1, 2}; /* ranks 2 2 2 4: W- = 2, sum(t^3-t) = 24 */
    assert_ok(ctx, plx__wilcoxon(&t, ctx, tied, 4));
    assert_close(t.statistic, 2, 0);
    assert_relative(t.p, erfc(3 / sqrt(4 * 5 * 9 / 24.0 - 0.5) / sqrt(2)), 1e-13);
    const double zeros[] = {0, 0, 0};
    assert_ok(ctx, plx__wilcoxon(&t, ctx, zeros, 3));
    assert_true(t.statistic == 0 && t.p == 1);
    plx_context_destroy(ctx);
}

static void t_test_without_variance(void **state)
{
    (void)state;
    const double equal[] = {0.1, 0.1, 0.1}, none[] = {0, 0}, negative[] = {-2, -2, -2, -2};
    plx__test t = plx__paired_t(equal, 3);
    assert_true(isinf(t.statistic) && t.statistic > 0 && t.p == 0);
    t = plx__paired_t(none, 2);
    assert_true(t.statistic == 0 && t.p == 1);
    t = plx__paired_t(negative, 4);
    assert_true(isinf(t.statistic) && t.statistic < 0 && t.p == 0);
    const double hand[] = {1, 2, 3}; /* mean 2, sd 1: t = 2 sqrt(3) */
    t = plx__paired_t(hand, 3);
    assert_close(t.statistic, 2 * sqrt(3), 1e-14);
    const double huge[] = {1e300, 2e300, 3e300}, tiny[] = {1e-300, 2e-300, 3e-300};
    assert_close(plx__paired_t(huge, 3).statistic, 2 * sqrt(3), 1e-13);
    assert_close(plx__paired_t(tiny, 3).statistic, 2 * sqrt(3), 1e-13);
}

/* Three methods, four data sets by hand. Rows: (A best), (A = B tied), (C best), (A best).
 * Ranks A 1, 1.5, 3, 1 -> 6.5/4; B 2, 1.5, 2, 3 -> 8.5/4; C 3, 3, 1, 2 -> 9/4. */
static const double small[] = {0.9, 0.8, 0.7, 0.5, 0.5, 0.4, 0.1, 0.2, 0.3, 0.8, 0.6, 0.7};
static const char *const abc[] = {"A", "B", "C"};

static void table_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_metrics *m = NULL;
    assert_ok(ctx, plx_metrics_create(&m, ctx));
    assert_ok(ctx, plx_metrics_table(m, (plx_cmat){small, 4, 3, 3}, abc, NULL, 1));
    assert_close(value_of(m, "avg_rank:A"), 6.5 / 4, 1e-15);
    assert_close(value_of(m, "avg_rank:B"), 8.5 / 4, 1e-15);
    assert_close(value_of(m, "avg_rank:C"), 9.0 / 4, 1e-15);
    double sum = (6.5 * 6.5 + 8.5 * 8.5 + 81) / 16;
    assert_close(value_of(m, "friedman"), 12 * 4.0 / 12 * (sum - 12), 1e-13);
    assert_close(value_of(m, "friedman_p"), exp(-value_of(m, "friedman") / 2), 1e-14);
    /* A - B = 0.1 0 -0.1 0.2: after rounding to 12 decimals 0.1 and -0.1 tie. */
    assert_close(value_of(m, "wilcoxon:A|B"), 1.5, 0);
    assert_close(value_of(m, "win:A|B"), 2, 0);
    assert_close(value_of(m, "tie:A|B"), 1, 0);
    assert_close(value_of(m, "loss:A|B"), 1, 0);
    assert_close(value_of(m, "ttest:A|B"), 0.05 / (sqrt(0.05 / 3) / 2), 1e-12);
    assert_int_equal(plx_metrics_find(m, "win:B|A"), -1);
    assert_ok(ctx, plx_metrics_table(m, (plx_cmat){small, 4, 3, 3}, abc, NULL, 0));
    assert_close(value_of(m, "win:A|B"), 1, 0);
    assert_close(value_of(m, "loss:A|B"), 2, 0);
    assert_close(value_of(m, "avg_rank:A"), 4 - 6.5 / 4, 1e-15);
    assert_close(value_of(m, "ttest:A|B"), 0.05 / (sqrt(0.05 / 3) / 2), 1e-12);
    plx_metrics_destroy(m);
    plx_context_destroy(ctx);
}

static void table_degenerate(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_metrics *m = NULL;
    assert_ok(ctx, plx_metrics_create(&m, ctx));
    assert_ok(ctx, plx_metrics_table(m, (plx_cmat){small, 1, 2, 2}, abc, NULL, 1));
    assert_true(is_null(m, "ttest:A|B") && is_null(m, "ttest_p:A|B"));
    assert_true(value_of(m, "wilcoxon_p:A|B") == 1);
    assert_int_equal(plx_metrics_warning_count(m), 2);
    assert_ok(ctx, plx_metrics_table(m, (plx_cmat){small, 4, 1, 3}, abc, NULL, 1));
    assert_true(is_null(m, "friedman_p"));
    const double same[] = {0.3, 0.2, 0.5, 0.4, 0.7, 0.6}; /* A - B = 0.1 up to rounding: no variance */
    assert_ok(ctx, plx_metrics_table(m, (plx_cmat){same, 3, 2, 2}, abc, NULL, 1));
    assert_true(isinf(value_of(m, "ttest:A|B")));
    assert_true(value_of(m, "ttest_p:A|B") == 0);
    const char *json = NULL;
    assert_ok(ctx, plx_metrics_json(&json, m));
    assert_non_null(strstr(json, "1e308"));
    const double equal[] = {1, 1, 2, 2};
    assert_ok(ctx, plx_metrics_table(m, (plx_cmat){equal, 2, 2, 2}, abc, NULL, 1));
    assert_true(value_of(m, "ttest:A|B") == 0 && value_of(m, "ttest_p:A|B") == 1);
    assert_true(value_of(m, "wilcoxon_p:A|B") == 1 && value_of(m, "tie:A|B") == 2);
    assert_true(value_of(m, "friedman") == 0 && value_of(m, "friedman_p") == 1);
    plx_metrics_destroy(m);
    plx_context_destroy(ctx);
}

static void table_refuses_bad_values(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_metrics *m = NULL;
    const double hole[] = {1, NAN}, huge[] = {1e308, -1e308};
    const char *const twice[] = {"A", "A"}, *const rows[] = {"iris"};
    assert_ok(ctx, plx_metrics_create(&m, ctx));
    assert_fails(ctx, plx_metrics_table(m, (plx_cmat){hole, 1, 2, 2}, abc, rows, 1), PLX_E_DATA, "iris");
    assert_fails(ctx, plx_metrics_table(m, (plx_cmat){hole, 0, 2, 2}, abc, NULL, 1), PLX_E_DATA, "no data set");
    assert_fails(ctx, plx_metrics_table(m, (plx_cmat){small, 2, 2, 2}, twice, NULL, 1), PLX_E_DATA, "twice");
    assert_fails(ctx, plx_metrics_table(m, (plx_cmat){huge, 1, 2, 2}, abc, NULL, 1), PLX_E_NUMERIC, "too large");
    assert_fails(ctx, plx_metrics_table(m, (plx_cmat){small, 1, 2, 1}, abc, NULL, 1), PLX_E_ARG, "leading dimension");
    assert_fails(ctx, plx_metrics_table(m, (plx_cmat){small, 1, 2, 2}, NULL, NULL, 1), PLX_E_ARG, "NULL");
    plx_metrics_destroy(m);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_functions_match_mpmath),
        cmocka_unit_test(special_functions_have_their_limits),
        cmocka_unit_test(ranks_share_ties),
        cmocka_unit_test(wilcoxon_is_exact),
        cmocka_unit_test(wilcoxon_changes_to_normal),
        cmocka_unit_test(t_test_without_variance),
        cmocka_unit_test(table_by_hand),
        cmocka_unit_test(table_degenerate),
        cmocka_unit_test(table_refuses_bad_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
