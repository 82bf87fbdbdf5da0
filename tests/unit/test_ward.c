/* Ward trees against a plain reading of their definition; ties; sparse rows; sums over parts; bad input. */
#include "linalg_test.h"

#include "cluster/ward.h"

enum { MOST = 320, WIDEST = 12 };

/* ---- the definition: means from the members, costs as sums of divergences, every pair looked at ---- */

typedef struct plain_part {
    const double *x;
    int d;
    plx__bregman kind;
    double weight;
} plain_part;

static double plain_term(plx__bregman kind, double x, double m)
{
    if (kind == PLX__BREGMAN_EUCLID) return (x - m) * (x - m);
    if (kind == PLX__BREGMAN_IS) return x / m - log(x / m) - 1;
    return (x > 0 ? x * log(x / m) : 0) - x + m;
}

/* Cost of the samples whose group is one of two. */
static double plain_cost(const plain_part *p, const int *group, int n, int a, int b)
{
    double cost = 0;
    for (int j = 0; j < p->d; j++) {
        double sum = 0, members = 0;
        for (int i = 0; i < n; i++)
            if (group[i] == a || group[i] == b) sum += p->x[i * p->d + j], members++;
        for (int i = 0; i < n; i++)
            if (group[i] == a || group[i] == b) cost += plain_term(p->kind, p->x[i * p->d + j], sum / members);
    }
    return cost;
}

static double plain_merge(const plain_part *parts, int count, const int *group, int n, int a, int b)
{
    double cost = 0;
    for (int p = 0; p < count; p++)
        cost += parts[p].weight * (plain_cost(&parts[p], group, n, a, b) - plain_cost(&parts[p], group, n, a, a) -
                                   plain_cost(&parts[p], group, n, b, b));
    return cost;
}

typedef struct plain_tree {
    int first[MOST], second[MOST];
    double cost[MOST];
} plain_tree;

/* Groups carry the number of their smallest member; pairs are gone through in the order of the tie rule. */
static void plain_ward(plain_tree *t, const plain_part *parts, int count, int n)
{
    static double cost[MOST][MOST];
    int group[MOST], node[MOST];
    for (int i = 0; i < n; i++) group[i] = node[i] = i;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) cost[a][b] = plain_merge(parts, count, group, n, a, b);
    for (int r = 0; r + 1 < n; r++) {
        int best_a = -1, best_b = -1;
        for (int a = 0; a < n; a++)
            for (int b = a + 1; b < n && node[a] >= 0; b++) {
                if (node[b] < 0) continue;
                double now = best_a < 0 ? INFINITY : cost[best_a][best_b];
                if (best_a < 0 || cost[a][b] < now - 1e-11 * (fabs(now) + 1e-3)) best_a = a, best_b = b;
            }
        int x = node[best_a], y = node[best_b];
        t->first[r] = x < y ? x : y, t->second[r] = x < y ? y : x, t->cost[r] = cost[best_a][best_b];
        for (int i = 0; i < n; i++)
            if (group[i] == best_b) group[i] = best_a;
        node[best_a] = n + r, node[best_b] = -1;
        for (int b = 0; b < n; b++)
            if (node[b] >= 0 && b != best_a)
                cost[b < best_a ? b : best_a][b < best_a ? best_a : b] = plain_merge(parts, count, group, n, best_a, b);
    }
}

/* ---- comparison ---- */

static plx_context *open_context(int threads)
{
    plx_context_options options = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    options.threads = threads;
    assert_int_equal(plx_context_create(&ctx, &options), PLX_OK);
    return ctx;
}

static void assert_tree(const plain_part *parts, int count, int n, bool sparse, bool subset)
{
    plx_context *ctx = open_context(2);
    static plain_tree plain;
    int32_t first[MOST], second[MOST];
    double cost[MOST];
    plx__merges tree = {0, first, second, cost};
    plx__ward_part given[3];
    plx_index sample[MOST];
    for (int i = 0; i < n; i++) sample[i] = 2 * i + 1;
    for (int p = 0; p < count; p++) {
        plx_mat rows;
        plx_csr thin;
        int step = subset ? 2 : 1;
        assert_int_equal(plx__arena_mat(&rows, plx__scratch(ctx), (plx_index)n * step, parts[p].d), PLX_OK);
        for (int i = 0; i < n; i++)
            memcpy(rows.data + (i * step + step - 1) * rows.ld, parts[p].x + i * parts[p].d,
                   (size_t)parts[p].d * sizeof(double));
        assert_int_equal(plx__csr_from_dense(&thin, plx__scratch(ctx), plx__cmat(rows)), PLX_OK);
        given[p] = (plx__ward_part){sparse ? plx__points_csr(plx__ccsr(thin)) : plx__points_dense(plx__cmat(rows)),
                                    parts[p].kind, parts[p].weight};
    }
    plain_ward(&plain, parts, count, n);
    assert_int_equal(plx__ward(&tree, ctx, given, count, subset ? sample : NULL, n), PLX_OK);
    for (int r = 0; r + 1 < n; r++) {
        assert_int_equal(first[r], plain.first[r]);
        assert_int_equal(second[r], plain.second[r]);
        assert_true(fabs(cost[r] - plain.cost[r]) <= 1e-9 * fabs(plain.cost[r]) + 1e-11);
    }
    plx_context_destroy(ctx);
}

/* Positive numbers, some of them 0 when `zeros` says so. */
static void fill(double *x, int n, int d, int stream, double zeros)
{
    for (int i = 0; i < n * d; i++) {
        uint64_t at = (uint64_t)i;
        x[i] = exp(0.8 * plx__rng_normal(7, PLX__STREAM('w', 'a', 'r', 'd', stream), at));
        if (plx__rng_uniform(8, PLX__STREAM('w', 'a', 'r', 'd', stream), at) < zeros) x[i] = 0;
    }
}

/* ---- tests ---- */

static double X[MOST * WIDEST], Y[MOST * WIDEST];

static void euclid_is_exact(void **state)
{
    (void)state;
    for (int d = 1; d <= 11; d += 5) {
        fill(X, 140, d, d, 0);
        plain_part part = {X, d, PLX__BREGMAN_EUCLID, 1.0};
        assert_tree(&part, 1, 140, false, false);
        assert_tree(&part, 1, 90, true, true);
    }
}

static void other_divergences_are_exact(void **state)
{
    (void)state;
    for (int stream = 0; stream < 6; stream++) {
        int d = 1 + 2 * stream;
        fill(X, 50, d, 20 + stream, stream % 2 ? 0.3 : 0);
        for (int i = 0; i < 50; i++) X[i * d] += 0.01; /* no row is zero throughout */
        plain_part kl = {X, d, PLX__BREGMAN_KL, 1.0};
        assert_tree(&kl, 1, 50, false, false);
        assert_tree(&kl, 1, 50, true, true);
        fill(Y, 50, d, 40 + stream, 0);
        plain_part is = {Y, d, PLX__BREGMAN_IS, 2.5};
        assert_tree(&is, 1, 50, false, true);
    }
}

static void parts_add_up(void **state)
{
    (void)state;
    fill(X, 60, 3, 60, 0);
    fill(Y, 60, 4, 61, 0.2);
    plain_part both[] = {{X, 3, PLX__BREGMAN_EUCLID, 0.7}, {Y, 4, PLX__BREGMAN_EUCLID, 3.0}};
    assert_tree(both, 2, 60, false, false);
    assert_tree(both, 2, 60, true, true);
    both[1].kind = PLX__BREGMAN_KL;
    assert_tree(both, 2, 60, false, true);
    assert_tree(both, 2, 60, true, false);
}

/* Grids: nearly all costs are ties, and lists of neighbours run out. */
static void ties_go_to_the_smaller_pair(void **state)
{
    (void)state;
    for (int i = 0; i < 150; i++) X[2 * i] = i % 5, X[2 * i + 1] = i / 5 % 6;
    plain_part grid = {X, 2, PLX__BREGMAN_EUCLID, 1.0};
    assert_tree(&grid, 1, 150, false, false);
    assert_tree(&grid, 1, 100, true, false);
    for (int i = 0; i < 60; i++) Y[i] = 1 + i * 7 % 5;
    plain_part line[] = {{Y, 1, PLX__BREGMAN_KL, 1.0}};
    assert_tree(line, 1, 60, false, false);
    line->kind = PLX__BREGMAN_EUCLID;
    assert_tree(line, 1, 60, false, false);
    for (int i = 0; i < 40; i++) Y[i] = 3;
    assert_tree(line, 1, 40, false, false);
}

static void few_rows(void **state)
{
    (void)state;
    fill(X, 3, 2, 90, 0);
    plain_part part = {X, 2, PLX__BREGMAN_EUCLID, 1.0};
    for (int n = 1; n <= 3; n++) {
        part.kind = PLX__BREGMAN_EUCLID;
        assert_tree(&part, 1, n, false, false);
        part.kind = PLX__BREGMAN_KL;
        assert_tree(&part, 1, n, false, false);
    }
}

/* The spec's example of a cost that falls when two groups merge: chains would go wrong here. */
static void merging_may_bring_groups_nearer(void **state)
{
    (void)state;
    const double s[8] = {0.01798, 1.5935}, t[8] = {0.93746, 0.039}, r[8] = {2.27542, 5.5601};
    double both[8] = {0};
    for (int j = 0; j < 2; j++) both[j] = (31 * s[j] + 9 * t[j]) / 40;
    assert_true(fabs(plx__bregman_merge(PLX__BREGMAN_KL, s, 31, t, 9, 8) - 21.66) < 0.005);
    assert_true(fabs(plx__bregman_merge(PLX__BREGMAN_KL, s, 31, r, 3, 8) - 22.37) < 0.005);
    assert_true(fabs(plx__bregman_merge(PLX__BREGMAN_KL, t, 9, r, 3, 8) - 22.91) < 0.005);
    assert_true(fabs(plx__bregman_merge(PLX__BREGMAN_KL, both, 40, r, 3, 8) - 18.58) < 0.005);
}

/* Near-equal means: the leading term gap^2 / (2 m) s t / (s + t) is right to what the next one leaves. */
static void small_differences_do_not_cancel(void **state)
{
    (void)state;
    double x[8] = {0}, y[8] = {0};
    for (int e = 3; e <= 9; e++) {
        double gap = pow(10, -e);
        x[0] = 0.3, y[0] = 0.3 + gap;
        gap = y[0] - x[0];
        double expected = 2.0 * 5.0 / 7.0 * gap * gap / (2 * 0.3);
        assert_true(fabs(plx__bregman_merge(PLX__BREGMAN_KL, x, 2, y, 5, 8) / expected - 1) < 5 * gap + 1e-5);
        for (int j = 1; j < 8; j++) x[j] = y[j] = 1;
        assert_true(fabs(plx__bregman_merge(PLX__BREGMAN_IS, x, 2, y, 5, 8) * 0.3 / expected - 1) < 9 * gap + 1e-5);
        for (int j = 1; j < 8; j++) x[j] = y[j] = 0;
    }
    assert_true(plx__bregman_merge(PLX__BREGMAN_KL, x, 2, x, 5, 8) == 0);
}

static void threads_do_not_matter(void **state)
{
    double cost[3][600];
    (void)state;
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = open_context(thread_counts[t]);
        plx_mat rows = test_mat(ctx, 600, 3, 1);
        int32_t first[600], second[600];
        plx__merges tree = {0, first, second, cost[t]};
        plx__ward_part part = {plx__points_dense(plx__cmat(rows)), PLX__BREGMAN_EUCLID, 1.0};
        assert_int_equal(plx__ward(&tree, ctx, &part, 1, NULL, 600), PLX_OK);
        assert_memory_equal(cost[t], cost[0], 599 * sizeof(double));
        plx_context_destroy(ctx);
    }
}

static plx_status two_trees(plx_context *ctx)
{
    int32_t first[40], second[40];
    double cost[40];
    plx_cmat rows = {X, 40, 3, 3};
    plx_csr thin;
    plx__merges tree = {0, first, second, cost};
    plx__ward_part part = {plx__points_dense(rows), PLX__BREGMAN_EUCLID, 1.0};
    PLX_TRY(plx__ward(&tree, ctx, &part, 1, NULL, 40));
    PLX_TRY(plx__csr_from_dense(&thin, plx__scratch(ctx), rows));
    part = (plx__ward_part){plx__points_csr(plx__ccsr(thin)), PLX__BREGMAN_KL, 1.0};
    return plx__ward(&tree, ctx, &part, 1, NULL, 40);
}

static void survives_every_allocation_failure(void **state)
{
    (void)state;
    fill(X, 40, 3, 70, 0.2);
    sweep_allocations(two_trees, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(euclid_is_exact),
        cmocka_unit_test(other_divergences_are_exact),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(ties_go_to_the_smaller_pair),
        cmocka_unit_test(few_rows),
        cmocka_unit_test(merging_may_bring_groups_nearer),
        cmocka_unit_test(small_differences_do_not_cancel),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
