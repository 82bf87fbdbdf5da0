/*
 * Hybrid trees against the definition: a Ward run for every node and view, nothing kept from one node to the next; what
 * the cut of a tree is; bad input.
 */
#include "fit_helpers.h"

#include "cluster/ward.h"

enum { N = 70, VIEWS = 3, COLS = 4 };

static double X[VIEWS][N * COLS];
static const plx__bregman KIND[VIEWS] = {PLX__BREGMAN_EUCLID, PLX__BREGMAN_KL, PLX__BREGMAN_IS};
static const char *const NAME[VIEWS] = {"a", "b", "c"};

static plx_dataset *make_views(plx_context *ctx)
{
    plx_dataset *d = new_dataset(ctx, N);
    for (int v = 0; v < VIEWS; v++) {
        for (int i = 0; i < N * COLS; i++) /* groups that differ from view to view */
            X[v][i] = exp(0.4 * plx__rng_normal(3, PLX__STREAM('h', 'y', 'b', 'r', v), (uint64_t)i)) +
                      (i / COLS % (v + 2) == i % COLS ? 3 : 0.2);
        add_dense(d, ctx, NAME[v], PLX_VIEW_REAL, X[v], COLS, NULL);
    }
    return d;
}

/* ---- the definition ---- */

typedef struct plain {
    plx_context *ctx;
    double total[VIEWS];
    int view[N][N + 1]; /* by smallest member and size; -1: no such node */
    double goodness[N][N + 1], explained[N][N + 1];
} plain;

static double cost_of(const plain *p, int v, const plx_index *rows, plx_index n)
{
    double cost = 0;
    plx__points x = plx__points_dense((plx_cmat){X[v], N, COLS, COLS});
    assert_ok(p->ctx, plx__bregman_cost(&cost, p->ctx, KIND[v], x, rows, n));
    return cost;
}

/* The halves of the last merge, the one with the first row first; its size is returned. */
static plx_index halves(const plain *p, int v, const plx_index *rows, plx_index n, plx_index *out)
{
    int32_t first[N], second[N], top[2 * N];
    double cost[N];
    plx__merges tree = {0, first, second, cost};
    plx__ward_part part = {plx__points_dense((plx_cmat){X[v], N, COLS, COLS}), KIND[v], 1.0};
    plx_index size = 0, at = 0;
    assert_ok(p->ctx, plx__ward(&tree, p->ctx, &part, 1, rows, n));
    for (plx_index q = 0; q < 2 * n - 2; q++) top[q] = (int32_t)q;
    for (plx_index r = n - 2; r-- > 0;) top[first[r]] = top[second[r]] = top[n + r];
    for (int half = 0; half < 2; half++)
        for (plx_index i = 0; i < n; i++)
            if ((top[i] == top[0]) == (half == 0)) out[at++] = rows[i], size += half == 0;
    return size;
}

static void split(plain *p, const plx_index *rows, plx_index n)
{
    plx_index best[N], half[N], size = 0;
    double goodness = 0, explained = 0;
    int view = -1;
    if (n < 2) return;
    for (int v = 0; v < VIEWS; v++) {
        plx_index k = halves(p, v, rows, n, half);
        double all = cost_of(p, v, rows, n), rest = cost_of(p, v, half, k) + cost_of(p, v, half + k, n - k);
        double g = all <= 1e-12 * p->total[v] ? 1 : rest <= 1e-12 * all ? INFINITY : all / rest;
        if (view >= 0 && !(g > goodness * (1 + 1e-12))) continue;
        view = v, goodness = g, explained = (all - rest) / p->total[v], size = k;
        memcpy(best, half, sizeof best);
    }
    p->view[rows[0]][n] = view, p->goodness[rows[0]][n] = goodness, p->explained[rows[0]][n] = explained;
    split(p, best, size);
    split(p, best + size, n - size);
}

static void hybrid_follows_the_definition(void **state)
{
    static plain p;
    plx_context *ctx = test_context(2);
    plx_dataset *d = make_views(ctx);
    const char *settings[] = {"mode=hybrid", "scale=none", "divergence.b=kl", "divergence.c=is", "clusters=5", NULL};
    plx_model *m = fit_model(ctx, "hybridtree", d, settings);
    plx_cmat linkage = array_of(m, "linkage"), view = array_of(m, "view"), goodness = array_of(m, "goodness");
    plx_cmat explained = array_of(m, "explained");
    plx_index all[N], smallest[2 * N], used[VIEWS] = {0};
    (void)state;
    p.ctx = ctx;
    for (plx_index i = 0; i < N; i++) all[i] = smallest[i] = i;
    for (int v = 0; v < VIEWS; v++) p.total[v] = cost_of(&p, v, all, N);
    for (int i = 0; i < N; i++)
        for (int s = 0; s <= N; s++) p.view[i][s] = -1;
    split(&p, all, N);
    for (plx_index r = 0; r < N - 1; r++) {
        plx_index a = (plx_index)linkage.data[4 * r], b = (plx_index)linkage.data[4 * r + 1];
        plx_index size = (plx_index)linkage.data[4 * r + 3];
        smallest[N + r] = plx__min(smallest[a], smallest[b]);
        plx_index at = smallest[N + r];
        assert_int_equal((int)view.data[r], p.view[at][size]);
        assert_true(goodness.data[r] == p.goodness[at][size] ||
                    fabs(goodness.data[r] / p.goodness[at][size] - 1) < 1e-9);
        assert_true(fabs(explained.data[r] - p.explained[at][size]) < 1e-12);
        assert_true(linkage.data[4 * r + 2] == (double)(r + 1));
        used[(int)view.data[r]]++;
    }
    assert_true(used[0] > 0 && used[1] > 0 && used[2] > 0);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void refuse(plx_context *ctx, const plx_dataset *d, const char *const *settings, const char *words)
{
    plx_model *m = NULL;
    assert_int_not_equal(try_fit(&m, ctx, "hybridtree", d, settings, NULL), PLX_OK);
    assert_null(m);
    if (!strstr(plx_context_error(ctx), words)) fail_msg("'%s' is not in: %s", words, plx_context_error(ctx));
}

static void what_is_refused(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_views(ctx), *holes = NULL;
    uint8_t present[N * VIEWS];
    (void)state;
    refuse(ctx, d, (const char *[]){"mode=other", NULL}, "mode = other");
    refuse(ctx, d, (const char *[]){"mode=single:z", NULL}, "z");
    refuse(ctx, d, (const char *[]){"clusters=71", NULL}, "clusters = 71");
    refuse(ctx, d, (const char *[]){"weights=1,2", NULL}, "weights");
    refuse(ctx, d, (const char *[]){"weights=0,0,0", NULL}, "weights");
    refuse(ctx, d, (const char *[]){"divergence=kl", "scale=zscore", NULL}, "negative");
    memset(present, 1, sizeof present);
    present[3] = present[N + 4] = present[2 * N + 5] = 0; /* view by view */
    assert_ok(ctx, plx_dataset_mask(&holes, ctx, d, present));
    refuse(ctx, holes, (const char *[]){"mode=hybrid", "missing=eligible", NULL}, "sample 3 lacks a");
    refuse(ctx, holes, (const char *[]){"missing=eligible", NULL}, "sample 3 lacks view 'a'");
    plx_dataset_destroy(holes);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hybrid_follows_the_definition),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
