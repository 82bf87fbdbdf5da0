#include "linalg_test.h"

#include "linalg/cosine_search.h"

static double cosine(plx_mat a, plx_index i, plx_mat b, plx_index j)
{
    double ab = 0, aa = 0, bb = 0;
    for (plx_index c = 0; c < a.cols; c++) {
        ab += at(a, i, c) * at(b, j, c);
        aa += at(a, i, c) * at(a, i, c);
        bb += at(b, j, c) * at(b, j, c);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0.0;
}

/* Against a plain count over all pairs, with several blocks of queries and items, for every number of threads. */
static void agrees_with_brute_force(void **state)
{
    (void)state;
    enum { Q = 300, N = 1500, TOP = 7 };
    static int64_t item[Q * TOP];
    static double similarity[Q * TOP], rank[Q];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_mat q = test_mat(ctx, Q, 9, 1), x = test_mat(ctx, N, 9, 2);
        plx_index mate[Q];
        for (plx_index i = 0; i < Q; i++) mate[i] = i % 5 ? (i * 37) % N : -1;
        plx__search_result r = {TOP, item, similarity, rank};
        assert_ok(ctx, plx__cosine_search(ctx, plx__cmat(q), plx__cmat(x), mate, &r));
        for (plx_index i = 0; i < Q; i++) {
            double own = mate[i] >= 0 ? cosine(q, i, x, mate[i]) : 0, ahead = 0, above_last = 0;
            for (plx_index j = 0; j < N; j++) {
                ahead += cosine(q, i, x, j) > own;
                above_last += cosine(q, i, x, j) > similarity[i * TOP + TOP - 1] + 1e-11;
            }
            if (mate[i] >= 0) assert_true(rank[i] == 1 + ahead);
            else assert_true(isnan(rank[i]));
            assert_true(above_last == TOP - 1);
            for (plx_index p = 0; p < TOP; p++) {
                assert_close(similarity[i * TOP + p], cosine(q, i, x, item[i * TOP + p]), 1e-11);
                if (p) assert_true(similarity[i * TOP + p] <= similarity[i * TOP + p - 1]);
            }
        }
        plx_context_destroy(ctx);
    }
}

/* Equal items share their ranks and are listed by index; a zero row has cosine 0 with everything. */
static void ties_and_zero_rows(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double q[] = {1, 0, 0, 0}, x[] = {3, 0, 0, 1, 1, 0, 5, 0};
    const plx_index mate[] = {3, 1};
    int64_t item[10];
    double similarity[10], rank[2];
    plx__search_result r = {5, item, similarity, rank};
    assert_ok(ctx, plx__cosine_search(ctx, plx__cmat_of(q, 2, 2), plx__cmat_of(x, 4, 2), mate, &r));
    assert_true(rank[0] == 2 && rank[1] == 2.5); /* three equal best: 1 + 2/2; all four equal: 1 + 3/2 */
    const int64_t first[] = {0, 2, 3, 1, -1}, second[] = {0, 1, 2, 3, -1};
    for (int p = 0; p < 5; p++) assert_true(item[p] == first[p] && item[5 + p] == second[p]);
    assert_true(similarity[0] == 1 && similarity[3] == 0 && isnan(similarity[4]) && similarity[5] == 0);
    plx_context_destroy(ctx);
}

/* Copies of one item in different blocks of a product tie all the same. */
static void copies_tie_across_blocks(void **state)
{
    (void)state;
    enum { N = 2500 };
    plx_context *ctx = test_context(2);
    plx_mat q = test_mat(ctx, 3, 31, 1), x = test_mat(ctx, N, 31, 2);
    int64_t item[3 * 4];
    double similarity[3 * 4], rank[3];
    const plx_index mate[3] = {5, 5, 5};
    for (plx_index i = 0; i < 3; i++) memcpy(q.data + i * 31, x.data + 5 * 31, 31 * sizeof(double));
    for (plx_index copy = 1023; copy < N; copy += 700) memcpy(x.data + copy * 31, x.data + 5 * 31, 31 * sizeof(double));
    plx__search_result r = {4, item, similarity, rank};
    assert_ok(ctx, plx__cosine_search(ctx, plx__cmat(q), plx__cmat(x), mate, &r));
    for (int i = 0; i < 3; i++) {
        assert_true(item[4 * i] == 5 && item[4 * i + 1] == 1023 && item[4 * i + 2] == 1723 && item[4 * i + 3] == 2423);
        assert_true(rank[i] == 2.5); /* four equal best */
    }
    plx_context_destroy(ctx);
}

static plx_status search_once(plx_context *ctx)
{
    const double x[] = {1, 2, 3, 4};
    const plx_index mate[] = {0, 1};
    int64_t item[2];
    double similarity[2], rank[2];
    plx__search_result r = {1, item, similarity, rank};
    return plx__cosine_search(ctx, plx__cmat_of(x, 2, 2), plx__cmat_of(x, 2, 2), mate, &r);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(search_once, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_brute_force),
        cmocka_unit_test(ties_and_zero_rows),
        cmocka_unit_test(copies_tie_across_blocks),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
