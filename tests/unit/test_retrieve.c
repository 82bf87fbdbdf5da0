#include "fit_helpers.h"
#include "parallax/retrieve.h"

enum { N = 40, D = 4 };

static double x[N * D], y[N * D];

static void make_views(void)
{
    plx__rng rng = plx__rng_start(9, 4);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) {
            x[i * D + j] = plx__next_normal(&rng);
            y[i * D + j] = 2 * x[i * D + j] + 0.3 * plx__next_normal(&rng);
        }
}

static plx_dataset *data_with(plx_context *ctx, plx_index n, const char *prefix, bool has_x, bool has_y)
{
    plx_dataset *d = new_dataset(ctx, n);
    char text[N][16];
    const char *ids[N];
    for (plx_index i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], "%s%d", prefix ? prefix : "", (int)i);
        ids[i] = text[i];
    }
    if (prefix) assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    if (has_x) add_dense(d, ctx, "x", PLX_VIEW_REAL, x, D, NULL);
    if (has_y) add_dense(d, ctx, "y", PLX_VIEW_REAL, y, D, NULL);
    return d;
}

typedef struct desk {
    plx_context *ctx;
    plx_dataset *both;
    plx_model *model;
} desk;

static desk open_desk(void)
{
    make_views();
    desk k = {.ctx = test_context(2)};
    k.both = data_with(k.ctx, N, "s", true, true);
    k.model = fit_model(k.ctx, "cca", k.both, SETTINGS("dim=3", "tau=0.1"));
    return k;
}

static void close_desk(desk *k)
{
    plx_model_destroy(k->model);
    plx_dataset_destroy(k->both);
    plx_context_destroy(k->ctx);
}

static double metric(plx_metrics *m, const char *name) { return plx_metrics_value(m, plx_metrics_find(m, name), NULL); }

/* One view here, the other there: mates by id; the figures are those the fit itself reports. */
static void finds_mates_across_views(void **state)
{
    (void)state;
    desk k = open_desk();
    plx_dataset *left = data_with(k.ctx, N, "s", true, false), *right = data_with(k.ctx, N, "s", false, true);
    plx_retrieval *r = NULL, *same = NULL;
    plx_metrics *m = NULL;
    plx_retrieve_options o = PLX_RETRIEVE_OPTIONS_INIT;
    o.top = 3;
    assert_ok(k.ctx, plx_retrieve(&r, k.ctx, k.model, left, right, &o));
    o.from = "x";
    o.to = "y";
    assert_ok(k.ctx, plx_retrieve(&same, k.ctx, k.model, k.both, k.both, &o));
    assert_ok(k.ctx, plx_retrieval_metrics(&m, k.ctx, r));
    plx_cmat own = array_of(k.model, "retrieval");
    assert_close(metric(m, "top1"), own.data[2], 1e-12);
    assert_close(metric(m, "top10"), own.data[3], 1e-12);
    assert_close(metric(m, "mrr"), own.data[4], 1e-12);
    assert_true(metric(m, "mates") == N && metric(m, "top3") >= metric(m, "top1") && metric(m, "median_rank") >= 1);
    assert_int_equal(plx_retrieval_queries(r), N);
    assert_int_equal(plx_retrieval_listed(r), 3);
    for (plx_index i = 0; i < N; i++) {
        assert_true(plx_retrieval_rank(r, i) == plx_retrieval_rank(same, i));
        for (plx_index p = 0; p < 3; p++) {
            assert_int_equal(plx_retrieval_item(r, i, p), plx_retrieval_item(same, i, p));
            if (p) assert_true(plx_retrieval_similarity(r, i, p) <= plx_retrieval_similarity(r, i, p - 1));
        }
        if (plx_retrieval_rank(r, i) == 1) assert_int_equal(plx_retrieval_item(r, i, 0), i);
    }
    assert_int_equal(plx_retrieval_item(r, 0, 3), -1);
    assert_true(isnan(plx_retrieval_similarity(r, N, 0)) && isnan(plx_retrieval_rank(r, -1)));
    plx_metrics_destroy(m);
    plx_retrieval_destroy(r);
    plx_retrieval_destroy(same);
    plx_dataset_destroy(left);
    plx_dataset_destroy(right);
    close_desk(&k);
}

/* Without ids rows are mates when there are as many on both sides; other ids, no mates. */
static void who_is_a_mate(void **state)
{
    (void)state;
    desk k = open_desk();
    plx_dataset *plain = data_with(k.ctx, N, NULL, true, false), *few = data_with(k.ctx, 7, NULL, false, true);
    plx_dataset *others = data_with(k.ctx, N, "t", false, true), *rows = data_with(k.ctx, N, NULL, false, true);
    const plx_dataset *const items[] = {rows, few, others};
    const double mates[] = {N, 0, 0};
    for (int t = 0; t < 3; t++) {
        plx_retrieval *r = NULL;
        plx_metrics *m = NULL;
        assert_ok(k.ctx, plx_retrieve(&r, k.ctx, k.model, plain, items[t], NULL));
        assert_ok(k.ctx, plx_retrieval_metrics(&m, k.ctx, r));
        assert_true(metric(m, "mates") == mates[t]);
        assert_int_equal(plx_retrieval_listed(r), t == 1 ? 7 : 10);
        if (!mates[t]) assert_true(plx_metrics_find(m, "top1") < 0 && isnan(plx_retrieval_rank(r, 0)));
        plx_metrics_destroy(m);
        plx_retrieval_destroy(r);
    }
    plx_dataset_destroy(plain);
    plx_dataset_destroy(few);
    plx_dataset_destroy(others);
    plx_dataset_destroy(rows);
    close_desk(&k);
}

static void refuses_clearly(void **state)
{
    (void)state;
    desk k = open_desk();
    plx_retrieval *r = NULL;
    plx_metrics *m = NULL;
    plx_retrieve_options o = PLX_RETRIEVE_OPTIONS_INIT;
    int labels[N];
    for (int i = 0; i < N; i++) labels[i] = i % 2;
    o.from = "xx";
    assert_fails(k.ctx, plx_retrieve(&r, k.ctx, k.model, k.both, k.both, &o), PLX_E_ARG, "from = xx");
    o.from = NULL;
    o.top = 0;
    assert_fails(k.ctx, plx_retrieve(&r, k.ctx, k.model, k.both, k.both, &o), PLX_E_ARG, "top = 0");
    o.struct_size = 4096;
    assert_fails(k.ctx, plx_retrieve(&r, k.ctx, k.model, k.both, k.both, &o), PLX_E_ARG, "size");
    assert_fails(k.ctx, plx_retrieve(&r, k.ctx, NULL, k.both, k.both, NULL), PLX_E_ARG, "'model'");
    assert_fails(k.ctx, plx_retrieve(&r, k.ctx, k.model, NULL, k.both, NULL), PLX_E_ARG, "'queries'");
    assert_fails(k.ctx, plx_retrieve(&r, k.ctx, k.model, k.both, NULL, NULL), PLX_E_ARG, "'items'");
    assert_fails(k.ctx, plx_retrieve(NULL, k.ctx, k.model, k.both, k.both, NULL), PLX_E_ARG, "'out'");
    assert_fails(k.ctx, plx_retrieval_metrics(&m, k.ctx, NULL), PLX_E_ARG, "'retrieval'");
    assert_fails(k.ctx, plx_retrieval_write(k.ctx, NULL, NULL, NULL, "x"), PLX_E_ARG, "'retrieval'");
    assert_null(r);
    set_labels(k.both, k.ctx, labels);
    plx_model *rls = fit_model(k.ctx, "rls", k.both, SETTINGS("view=x"));
    assert_fails(k.ctx, plx_retrieve(&r, k.ctx, rls, k.both, k.both, NULL), PLX_E_UNSUPPORTED, "no space to search in");
    plx_retrieval_destroy(NULL);
    plx_model_destroy(rls);
    close_desk(&k);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    desk k = open_desk();
    bool done = false;
    for (long fail = 1; !done; fail++) {
        meter m = {0, 0, 0};
        plx_context *ctx = metered_context(&m, 1);
        plx_retrieval *r = NULL;
        plx_metrics *metrics = NULL;
        long before = m.live;
        m.calls = 0;
        m.fail_at = fail;
        plx_status st = plx_retrieve(&r, ctx, k.model, k.both, k.both, NULL);
        if (st == PLX_OK) st = plx_retrieval_metrics(&metrics, ctx, r);
        done = st == PLX_OK && m.calls < fail;
        if (!done && st != PLX_OK) assert_true(st == PLX_E_NOMEM && plx_context_error(ctx)[0]);
        m.fail_at = 0;
        plx_metrics_destroy(metrics);
        plx_retrieval_destroy(r);
        plx__call_begin(ctx);
        assert_true(m.live == before);
        plx_context_destroy(ctx);
    }
    close_desk(&k);
}

static void writes_a_table(void **state)
{
    (void)state;
    desk k = open_desk();
    char directory[64], path[96], line[256];
    plx_retrieval *r = NULL;
    plx_retrieve_options o = PLX_RETRIEVE_OPTIONS_INIT;
    o.top = 2;
    make_directory(directory);
    snprintf(path, sizeof path, "%s/hits.csv", directory);
    assert_ok(k.ctx, plx_retrieve(&r, k.ctx, k.model, k.both, k.both, &o));
    assert_ok(k.ctx, plx_retrieval_write(k.ctx, r, k.both, k.both, path));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "query,rank,item,similarity\n");
    assert_non_null(fgets(line, sizeof line, f));
    assert_true(strncmp(line, "s0,1,s0,1", 9) == 0); /* the sample itself */
    int count = 1;
    while (fgets(line, sizeof line, f)) count++;
    fclose(f);
    assert_int_equal(count, 2 * N);
    plx_dataset *small = data_with(k.ctx, 5, "s", true, true);
    assert_fails(k.ctx, plx_retrieval_write(k.ctx, r, small, k.both, path), PLX_E_ARG, "queries");
    plx_dataset_destroy(small);
    plx_retrieval_destroy(r);
    remove_directory(directory);
    close_desk(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_mates_across_views), cmocka_unit_test(who_is_a_mate),
        cmocka_unit_test(refuses_clearly),          cmocka_unit_test(survives_allocation_failures),
        cmocka_unit_test(writes_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
