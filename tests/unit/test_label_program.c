/*
 * Label programs against brute force, in value and in the choice among ties, and against integer programming (GLPK).
 */
#include <time.h>

#include "core/rng.h"
#include "labelsets/label_program.h"
#include "plx_test.h"
#ifdef PLX_HAVE_REFERENCES
#include "reference/label_glpk.h"
#endif

enum { MAX_K = 9, MAX_S = 4 };

typedef struct instance {
    plx_context *ctx;
    plx__label_rules rules;
    plx__label_weights w;
    plx__label_program *program;
    plx__label_work *work;
    plx_index k;
    int s;
    double score[MAX_S][MAX_K];
    const double *rows[MAX_S];
} instance;

static const char *const NAMES[16] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"};

/* Any DAG (edges to smaller indices) and mutex pairs between unrelated classes that stay unrelated when closed. */
static bool random_rules(instance *t, plx__rng *r, bool tree, bool close)
{
    int32_t subset[2 * MAX_K * MAX_K], mutex[2 * MAX_K * MAX_K], parent[MAX_K];
    bool exclude[MAX_K + 1]; /* by parent + 1: its classes below exclude each other */
    plx_index ns = 0, nm = 0;
    double free_share = plx__next_uniform(r) < 0.5 ? 0 : 0.5;
    for (int32_t i = 0; i <= t->k; i++) exclude[i] = plx__next_uniform(r) >= free_share;
    for (int32_t i = 0; i < t->k; i++) {
        parent[i] = tree ? (int32_t)plx__next_below(r, i + 1) - 1 : -1;
        if (tree && parent[i] >= 0) {
            subset[2 * ns] = i;
            subset[2 * ns++ + 1] = parent[i];
        }
        for (int32_t j = 0; !tree && j < i; j++)
            if (plx__next_uniform(r) < 0.3) {
                subset[2 * ns] = i;
                subset[2 * ns++ + 1] = j;
            }
    }
    for (int32_t i = 0; i < t->k; i++)
        for (int32_t j = 0; j < i; j++) {
            bool siblings = tree && parent[i] == parent[j] && exclude[parent[i] + 1];
            if (siblings || (!tree && plx__next_uniform(r) < 0.25)) {
                mutex[2 * nm] = i;
                mutex[2 * nm++ + 1] = j;
            }
        }
    plx_status st = plx__label_rules_pairs(&t->rules, plx__scratch(t->ctx), NAMES, t->k, subset, ns, mutex, nm, close);
    if (st != PLX_OK) plx__clear_error(t->ctx);
    return st == PLX_OK;
}

static void plan(instance *t)
{
    for (int v = 0; v < MAX_S; v++) t->rows[v] = t->score[v];
    assert_ok(t->ctx, plx__label_plan(&t->program, plx__scratch(t->ctx), &t->rules, t->w, t->s));
    assert_ok(t->ctx, plx__label_work_new(&t->work, plx__scratch(t->ctx), t->program));
}

static void random_scores(instance *t, plx__rng *r, double lowest, double step)
{
    for (int v = 0; v < t->s; v++)
        for (plx_index i = 0; i < t->k; i++) {
            double x = lowest + (1 - lowest) * plx__next_uniform(r);
            t->score[v][i] = step > 0 ? step * round(x / step) : x;
        }
}

/* One solver, or the search, which is asked for by name. */
static bool solve_by(uint16_t *pattern, plx__label_solver by, const instance *t)
{
    if (by != PLX__LABEL_SEARCH) return plx__label_solve_by(pattern, by, t->program, t->work, t->rows, t->s);
    if (t->rules.flat) return false;
    assert_ok(t->ctx, plx__label_search(pattern, t->ctx, t->program, t->rows, t->s));
    return true;
}

/* ---- in value ---- */

#ifdef PLX_HAVE_REFERENCES
static void all_solvers_agree(instance *t, long served[PLX__LABEL_SOLVERS])
{
    uint16_t best[MAX_K], mine[MAX_K];
    assert_ok(t->ctx, glpk_solve(best, t->ctx, t->program, t->rows, t->s));
    double expected = plx__label_value(t->program, t->work, best, t->rows, t->s);
    for (plx__label_solver by = PLX__LABEL_FLAT_COVER; by <= PLX__LABEL_SEARCH; by++) {
        if (!solve_by(mine, by, t)) continue;
        served[by]++;
        double value = plx__label_value(t->program, t->work, mine, t->rows, t->s);
        if (fabs(value - expected) > 1e-8)
            fail_msg("%s: %.15g, GLPK %.15g (k %lld, s %d)", plx__label_solver_name(by), value, expected,
                     (long long)t->k, t->s);
    }
}

static void one_value_trial(plx__rng *r, int kind, long served[PLX__LABEL_SOLVERS])
{
    instance t = {.ctx = test_context(1)};
    bool flat = kind == 0;
    t.k = 1 + plx__next_below(r, flat ? 7 : 6);
    t.s = 1 + (int)plx__next_below(r, MAX_S);
    t.w = (plx__label_weights){0.2 + plx__next_uniform(r), 0.3 * plx__next_uniform(r), 1.5 * plx__next_uniform(r)};
    if (plx__next_uniform(r) < 0.5) t.w = (plx__label_weights){0.5, 0.1, 1};
    if (plx__next_uniform(r) < 0.1) t.w.disagree = 0;
    if (plx__next_uniform(r) < 0.1) t.w.violate = 0;
    bool close = plx__next_uniform(r) < 0.6;
    if (flat) assert_ok(t.ctx, plx__label_rules_flat(&t.rules, plx__scratch(t.ctx), t.k));
    if (flat || random_rules(&t, r, kind == 1, close)) {
        plan(&t);
        random_scores(&t, r, plx__next_uniform(r) < 0.5 ? 0 : -1, plx__next_uniform(r) < 0.2 ? 0.25 : 0);
        all_solvers_agree(&t, served);
    }
    plx_context_destroy(t.ctx);
}

static void solvers_agree_with_glpk(void **state)
{
    (void)state;
    plx__rng r = plx__rng_start(11, PLX__STREAM('g', 'l', 'p', 'k', 0));
    long served[PLX__LABEL_SOLVERS] = {0};
    clock_t start = clock();
    for (int trial = 0; trial < 4000 && (trial < 1500 || (double)(clock() - start) / CLOCKS_PER_SEC < 60); trial++)
        one_value_trial(&r, trial % 3, served);
    for (plx__label_solver by = PLX__LABEL_FLAT_COVER; by <= PLX__LABEL_SEARCH; by++) assert_true(served[by] > 100);
}

#endif

/* ---- ties ---- */

static int bits_of(const uint16_t *p, plx_index k)
{
    int count = 0;
    for (plx_index i = 0; i < k; i++) count += __builtin_popcount(p[i]);
    return count;
}

/* Better by the rule: value, fewest bits, lexicographically largest. */
static bool better(double value, const uint16_t *a, double other, const uint16_t *b, plx_index k)
{
    if (fabs(value - other) > 1e-12) return value > other;
    if (bits_of(a, k) != bits_of(b, k)) return bits_of(a, k) < bits_of(b, k);
    for (plx_index i = 0; i < k; i++)
        if (a[i] != b[i]) return a[i] > b[i];
    return false;
}

static void brute_force(instance *t, uint16_t *best)
{
    double most = -INFINITY;
    uint16_t y[MAX_K];
    for (unsigned long code = 0; code < 1ul << (t->k * t->s); code++) {
        for (plx_index i = 0; i < t->k; i++) y[i] = (uint16_t)(code >> (i * t->s) & ((1u << t->s) - 1));
        double value = plx__label_value(t->program, t->work, y, t->rows, t->s);
        if (most == -INFINITY || better(value, y, most, best, t->k)) {
            most = value;
            memcpy(best, y, sizeof *best * (size_t)t->k);
        }
    }
}

/* Scores and weights are multiples of 1/8, so that ties are frequent and exact. */
static void one_tie_trial(plx__rng *r, int kind, long served[PLX__LABEL_SOLVERS])
{
    instance t = {.ctx = test_context(1)};
    uint16_t best[MAX_K], mine[MAX_K];
    t.s = 1 + (int)plx__next_below(r, MAX_S);
    t.k = 1 + plx__next_below(r, t.s == 1 ? 8 : t.s == 2 ? 5 : t.s == 3 ? 4 : 3);
    t.w = (plx__label_weights){0.5, 0.125 * (double)plx__next_below(r, 3), 0.25 * (double)(1 + plx__next_below(r, 5))};
    bool close = plx__next_uniform(r) < 0.6;
    if (kind == 0) assert_ok(t.ctx, plx__label_rules_flat(&t.rules, plx__scratch(t.ctx), t.k));
    if (kind == 0 || random_rules(&t, r, kind == 1, close)) {
        plan(&t);
        random_scores(&t, r, plx__next_uniform(r) < 0.6 ? 0 : -1, 0.25);
        brute_force(&t, best);
        for (plx__label_solver by = PLX__LABEL_FLAT_COVER; by <= PLX__LABEL_SEARCH; by++) {
            if (!solve_by(mine, by, &t)) continue;
            served[by]++;
            if (memcmp(mine, best, sizeof *best * (size_t)t.k) != 0)
                fail_msg("%s chose another solution (k %lld, s %d, values %g and %g)", plx__label_solver_name(by),
                         (long long)t.k, t.s, plx__label_value(t.program, t.work, mine, t.rows, t.s),
                         plx__label_value(t.program, t.work, best, t.rows, t.s));
        }
    }
    plx_context_destroy(t.ctx);
}

static void ties_are_settled_by_the_rule(void **state)
{
    (void)state;
    plx__rng r = plx__rng_start(5, PLX__STREAM('t', 'i', 'e', 's', 0));
    long served[PLX__LABEL_SOLVERS] = {0};
    for (int trial = 0; trial < 6000; trial++) one_tie_trial(&r, trial % 3, served);
    for (plx__label_solver by = PLX__LABEL_FLAT_COVER; by <= PLX__LABEL_SEARCH; by++) assert_true(served[by] > 100);
}

/* ---- reporting ---- */

static void one_report_trial(plx__rng *r, int kind)
{
    instance t = {.ctx = test_context(1)};
    uint16_t pattern[MAX_K], mine[MAX_K], best[MAX_K], y[MAX_K], found[MAX_K];
    t.s = 2 + (int)plx__next_below(r, 2);
    t.k = 1 + plx__next_below(r, 7);
    t.w = (plx__label_weights){0.5, 0.125 * (double)plx__next_below(r, 2), 0.25 * (double)(1 + plx__next_below(r, 4))};
    if (kind == 0) assert_ok(t.ctx, plx__label_rules_flat(&t.rules, plx__scratch(t.ctx), t.k));
    if (kind == 0 || random_rules(&t, r, kind == 1, true)) {
        plan(&t);
        random_scores(&t, r, plx__next_uniform(r) < 0.6 ? 0 : -1, 0.25);
        bool solved = plx__next_uniform(r) < 0.6;
        if (!solved || !plx__label_solve(pattern, t.program, t.work, t.rows, t.s))
            for (plx_index i = 0; i < t.k; i++) pattern[i] = (uint16_t)plx__next_below(r, 1 << t.s);
        double sum[MAX_K], most = -INFINITY, value_mine = 0;
        for (plx_index i = 0; i < t.k; i++) {
            sum[i] = 0;
            for (int v = 0; v < t.s; v++) sum[i] += t.score[v][i];
        }
        assert_true(plx__label_report(mine, t.program, t.work, pattern, t.rows, t.s) != PLX__LABEL_NONE);
        if (kind) assert_ok(t.ctx, plx__label_search_report(found, t.ctx, t.program, pattern, t.rows, t.s));
        else memcpy(found, mine, sizeof found);
        for (unsigned code = 0; code < 1u << t.k; code++) {
            bool allowed = true;
            uint64_t set = 0;
            double value = 0;
            for (plx_index i = 0; i < t.k; i++) {
                y[i] = code >> i & 1;
                bool agreed = pattern[i] == 0 || pattern[i] == (1 << t.s) - 1;
                allowed &= !agreed || y[i] == (pattern[i] != 0);
                if (y[i]) set |= plx__label_bit(i);
                if (y[i]) value += t.w.score * sum[i];
            }
            if (!allowed) continue;
            value -= t.w.violate * t.s * (double)plx__label_violations(&t.rules, &set);
            if (memcmp(y, mine, sizeof *y * (size_t)t.k) == 0) value_mine = value;
            if (most == -INFINITY || better(value, y, most, best, t.k)) {
                most = value;
                memcpy(best, y, sizeof best);
            }
        }
        assert_close(value_mine, most, 1e-12);
        assert_memory_equal(mine, best, sizeof *best * (size_t)t.k);
        assert_memory_equal(found, best, sizeof *best * (size_t)t.k);
    }
    plx_context_destroy(t.ctx);
}

static void reports_are_best(void **state)
{
    (void)state;
    plx__rng r = plx__rng_start(5, PLX__STREAM('r', 'e', 'p', 'o', 0));
    for (int trial = 0; trial < 2000; trial++) one_report_trial(&r, trial % 3);
}

/* ---- the plan ---- */

/* Depth-three tree of exclusive siblings: 200 classes, the family has 201 sets, and large programs are served. */
static void large_tree(instance *t, int32_t *subset, int32_t *mutex, plx_index k, plx_index fan)
{
    plx_index ns = 0, nm = 0;
    for (int32_t i = 1; i < k; i++) {
        subset[2 * ns] = i;
        subset[2 * ns++ + 1] = (int32_t)((i - 1) / fan);
        for (int32_t j = 1; j < i; j++)
            if ((j - 1) / fan == (i - 1) / fan) {
                mutex[2 * nm] = j;
                mutex[2 * nm++ + 1] = i;
            }
    }
    const char **names = calloc((size_t)k, sizeof *names);
    for (plx_index i = 0; i < k; i++) names[i] = "x";
    assert_ok(t->ctx, plx__label_rules_pairs(&t->rules, plx__scratch(t->ctx), names, k, subset, ns, mutex, nm, true));
    free(names);
}

static void large_trees_are_served(void **state)
{
    (void)state;
    enum { K = 200 };
    static int32_t subset[2 * K], mutex[2 * K * K];
    static double score[5][K];
    static uint16_t pattern[K], other[K];
    instance t = {.ctx = test_context(1), .w = {0.5, 0.1, 1}, .s = 5};
    const double *rows[5] = {score[0], score[1], score[2], score[3], score[4]};
    plx__rng r = plx__rng_start(8, 1);
    large_tree(&t, subset, mutex, K, 6);
    plan(&t);
    for (int trial = 0; trial < 20; trial++) {
        for (int v = 0; v < 5; v++)
            for (int i = 0; i < K; i++) score[v][i] = 0.6 * plx__next_uniform(&r);
        for (int s = 1; s <= 5; s++)
            assert_int_equal(plx__label_solve(pattern, t.program, t.work, rows, s),
                             s == 1 ? PLX__LABEL_BEST_SET : PLX__LABEL_SET_PER_VIEW);
    }
    /* the same scores in every view: the views agree with the best set of one */
    for (int v = 1; v < 5; v++) memcpy(score[v], score[0], sizeof score[0]);
    plx__label_solve(other, t.program, t.work, rows, 1);
    for (int s = 2; s <= 5; s++) {
        plx__label_solve(pattern, t.program, t.work, rows, s);
        for (int i = 0; i < K; i++) assert_int_equal(pattern[i], other[i] ? (1 << s) - 1 : 0);
    }
    plx_context_destroy(t.ctx);
}

/* A tree of 60 classes, many scores above the price of a rule: the best set breaks rules; branch and bound and the counts per
 * subtree find the same one, which no change of one or two bits improves (values against GLPK and brute force: the small instances above). */
static void branching_finds_local_and_better_optima(void **state)
{
    (void)state;
    enum { K = 60 };
    static int32_t subset[2 * K], mutex[2 * K * K];
    static double score[K];
    uint16_t y[K], counted[K];
    instance t = {.ctx = test_context(1), .w = {1, 0, 0.5}, .s = 1};
    const double *rows[1] = {score};
    plx__rng r = plx__rng_start(21, 1);
    large_tree(&t, subset, mutex, K, 4);
    plan(&t);
    for (int trial = 0; trial < 10; trial++) {
        for (int i = 0; i < K; i++) score[i] = 0.9 * plx__next_uniform(&r);
        assert_true(plx__label_solve_by(y, PLX__LABEL_BRANCH, t.program, t.work, rows, 1));
        double value = plx__label_value(t.program, t.work, y, rows, 1);
        assert_true(plx__label_solve_by(counted, PLX__LABEL_SUBTREE_COUNTS, t.program, t.work, rows, 1));
        assert_memory_equal(y, counted, sizeof y);
        for (int i = 0; i < K; i++)
            for (int j = i; j < K; j++) {
                y[i] ^= 1;
                if (j > i) y[j] ^= 1;
                assert_true(plx__label_value(t.program, t.work, y, rows, 1) <= value + 1e-12);
                y[i] ^= 1;
                if (j > i) y[j] ^= 1;
            }
    }
    plx_context_destroy(t.ctx);
}

/* The search stops at its next node. */
static void search_can_be_stopped(void **state)
{
    (void)state;
    enum { K = 60 };
    static int32_t subset[2 * K], mutex[2 * K * K];
    double score[K];
    uint16_t y[K];
    instance t = {.ctx = test_context(1), .w = {1, 0, 0.5}, .s = 1};
    const double *rows[1] = {score};
    for (int i = 0; i < K; i++) score[i] = 0.9 * plx__rng_uniform(4, 1, (uint64_t)i);
    large_tree(&t, subset, mutex, K, 4);
    plan(&t);
    plx_context_cancel(t.ctx);
    assert_fails(t.ctx, plx__label_search(y, t.ctx, t.program, rows, 1), PLX_E_CANCELLED, "cancelled");
    plx_context_destroy(t.ctx);
}

/* Two exclusive classes that are each worth more than a broken rule: breaking it is best (erratum 2). */
static void heavy_classes_break_rules(void **state)
{
    (void)state;
    instance t = {.ctx = test_context(1), .w = {1, 0, 1}, .s = 1, .k = 2, .score = {{1.5, 1.25}}};
    int32_t mutex[2] = {0, 1};
    uint16_t y[2];
    assert_ok(t.ctx, plx__label_rules_pairs(&t.rules, plx__scratch(t.ctx), NAMES, 2, NULL, 0, mutex, 1, true));
    plan(&t);
    assert_int_not_equal(plx__label_solve(y, t.program, t.work, t.rows, 1), PLX__LABEL_BEST_SET);
    assert_true(y[0] && y[1]);
    assert_close(plx__label_value(t.program, t.work, y, t.rows, 1), 1.75, 1e-15);
    t.score[0][1] = 0.75; /* one heavy class alone does not pay for the broken rule */
    assert_int_equal(plx__label_solve(y, t.program, t.work, t.rows, 1), PLX__LABEL_BEST_SET);
    assert_true(y[0] && !y[1]);
    plx_context_destroy(t.ctx);
}

/* ---- rules ---- */

static void rules_are_closed(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__arena *a = plx__scratch(ctx);
    plx__label_rules r;
    /* c below b below a; x exclusive with b, listed twice */
    int32_t subset[4] = {2, 1, 1, 0}, mutex[4] = {3, 1, 1, 3};
    assert_ok(ctx, plx__label_rules_pairs(&r, a, NAMES, 4, subset, 2, mutex, 2, true));
    assert_true(r.above[2] == (plx__label_bit(0) | plx__label_bit(1)));
    assert_true(r.exclusive[3] == (plx__label_bit(1) | plx__label_bit(2)));
    assert_true(r.exclusive[2] == plx__label_bit(3));
    uint64_t set = plx__label_bit(2) | plx__label_bit(3);
    assert_int_equal(plx__label_violations(&r, &set), 3);
    assert_ok(ctx, plx__label_rules_pairs(&r, a, NAMES, 4, subset, 2, mutex, 2, false));
    assert_false(r.closed);
    assert_int_equal(plx__label_violations(&r, &set), 1);
    plx_context_destroy(ctx);
}

static void contradictions_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__arena *a = plx__scratch(ctx);
    plx__label_rules r;
    int32_t chain[4] = {2, 1, 1, 0}, related[2] = {0, 2}, under_both[4] = {2, 0, 2, 1}, both[2] = {0, 1};
    assert_fails(ctx, plx__label_rules_pairs(&r, a, NAMES, 3, chain, 2, related, 1, false), PLX_E_DATA,
                 "mutex between 'c' and 'a'");
    assert_fails(ctx, plx__label_rules_pairs(&r, a, NAMES, 3, under_both, 2, both, 1, true), PLX_E_DATA, "class 'c'");
    assert_ok(ctx, plx__label_rules_pairs(&r, a, NAMES, 3, under_both, 2, both, 1, false));
    plx_context_destroy(ctx);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__arena *a = plx__scratch(ctx);
    plx__label_rules r;
    plx__label_program *p = NULL;
    assert_ok(ctx, plx__label_rules_flat(&r, a, 3));
    assert_fails(ctx, plx__label_plan(&p, a, &r, (plx__label_weights){-1, 0, 0}, 1), PLX_E_ARG, ">= 0");
    assert_fails(ctx, plx__label_plan(&p, a, &r, (plx__label_weights){1, 0, 0}, 99), PLX_E_ARG, "99");
    assert_null(p);
    plx_context_destroy(ctx);
}

static plx_status plan_once(plx_context *ctx)
{
    int32_t subset[4] = {2, 1, 1, 0}, mutex[4] = {3, 1, 3, 0};
    double score[4] = {0.1, 0.2, 0.3, 0.4};
    const double *rows[2] = {score, score};
    plx__label_rules r;
    plx__label_program *p = NULL;
    plx__label_work *w = NULL;
    uint16_t y[4];
    PLX_TRY(plx__label_rules_pairs(&r, plx__scratch(ctx), NAMES, 4, subset, 2, mutex, 2, true));
    PLX_TRY(plx__label_plan(&p, plx__scratch(ctx), &r, (plx__label_weights){0.5, 0.1, 1}, 2));
    PLX_TRY(plx__label_work_new(&w, plx__scratch(ctx), p));
    assert_int_not_equal(plx__label_solve(y, p, w, rows, 2), PLX__LABEL_NONE);
    return plx__label_search(y, ctx, p, rows, 2);
}

static void refused_memory_is_reported(void **state)
{
    (void)state;
    bool done = false;
    for (long at = 1; !done; at++) {
        meter m = {0, at, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx_status st = plan_once(ctx);
        done = st == PLX_OK && m.calls < at;
        if (!done) assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_closed),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(ties_are_settled_by_the_rule),
        cmocka_unit_test(reports_are_best),
        cmocka_unit_test(large_trees_are_served),
        cmocka_unit_test(branching_finds_local_and_better_optima),
        cmocka_unit_test(heavy_classes_break_rules),
        cmocka_unit_test(search_can_be_stopped),
        cmocka_unit_test(refused_memory_is_reported),
#ifdef PLX_HAVE_REFERENCES
        cmocka_unit_test(solvers_agree_with_glpk),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
