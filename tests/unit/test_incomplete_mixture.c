#include "linalg_test.h"

#include "mixture/incomplete_mixture.h"

static const plx_index WHOLE[] = {0, 3};

static plx__incomplete_data describe(plx_context *ctx, plx_mat x, const uint8_t *seen, plx_index n_blocks,
                                     const plx_index *block)
{
    plx__incomplete_data d = {.x = plx__cmat(x), .seen = seen, .n_blocks = n_blocks, .block = block};
    assert_ok(ctx, plx__incomplete_describe(&d, ctx, plx__scratch(ctx)));
    return d;
}

static uint8_t *all_seen(plx_context *ctx, plx_index count)
{
    uint8_t *seen = NULL;
    assert_ok(ctx, plx__arena_u8(&seen, plx__scratch(ctx), count));
    memset(seen, 1, (size_t)count);
    return seen;
}

/* About one entry in three missing; row 4 has nothing at all. */
static uint8_t *some_seen(plx_context *ctx, plx_index n, plx_index d)
{
    uint8_t *seen = all_seen(ctx, n * d);
    for (plx_index i = 0; i < n * d; i++) seen[i] = plx__rng_uniform(7, 8, (uint64_t)i) > 0.33 || i / d < 2;
    memset(seen + 4 * d, 0, (size_t)d);
    return seen;
}

static plx_status keep_trace(void *arg, plx_index iteration, double value)
{
    double *trace = arg;
    if (iteration <= 100) trace[iteration - 1] = value;
    return PLX_OK;
}

/* Without missing entries one component is the sample mean and covariance, whatever the number of steps. */
static void one_component_is_closed_form(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    enum { N = 50 };
    plx_mat x = test_mat(ctx, N, 3, 1);
    plx__incomplete_data d = describe(ctx, x, all_seen(ctx, 3 * N), 1, WHOLE);
    plx__incomplete_mixture mix;
    plx__incomplete_result r;
    plx__incomplete_options o = {.components = 1, .max_iter = 3, .what = "t"};
    assert_ok(ctx, plx__incomplete_fit(&mix, &r, ctx, plx__scratch(ctx), &d, &o));
    double mean[3] = {0}, log_likelihood = 0;
    for (plx_index i = 0; i < N; i++)
        for (int j = 0; j < 3; j++) mean[j] += at(x, i, j) / N;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double sum = 0;
            for (plx_index i = 0; i < N; i++) sum += (at(x, i, a) - mean[a]) * (at(x, i, b) - mean[b]) / N;
            assert_close(mix.cov.data[a * 3 + b], sum, 1e-12);
        }
    for (int j = 0; j < 3; j++) assert_close(mix.mean.data[j], mean[j], 1e-12);
    assert_true(mix.weight[0] == 1);
    /* at the maximum the mean of the quadratic forms is d: -1/2 (d log 2 pi + log |S| + d) */
    const double *s = mix.cov.data;
    double det =
        s[0] * (s[4] * s[8] - s[5] * s[7]) - s[1] * (s[3] * s[8] - s[5] * s[6]) + s[2] * (s[3] * s[7] - s[4] * s[6]);
    log_likelihood = -0.5 * (3 * log(2 * acos(-1.0)) + log(det) + 3);
    assert_close(r.log_likelihood, log_likelihood, 1e-12);
    plx_context_destroy(ctx);
}

/* Two columns, one entry missing: regression of the second on the first by hand. */
static void conditional_moments_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {3, 0, 0, 0, 1, 2}, weight[] = {1}, mean[] = {1, -1}, cov[] = {4, 1, 1, 9};
    const uint8_t seen[] = {1, 0, 0, 0, 1, 1};
    const plx_index block[] = {0, 2};
    plx__incomplete_data d = describe(ctx, plx__mat_of(x, 3, 2), seen, 1, block);
    plx__incomplete_mixture mix = {1, 2, PLX__COV_FULL, weight, plx__mat_of(mean, 1, 2), plx__mat_of(cov, 2, 2)};
    plx__moments m;
    plx_mat filled = test_mat(ctx, 3, 2, 1);
    assert_ok(ctx, plx__incomplete_moments(&m, ctx, plx__scratch(ctx), &mix, &d, true, "t"));
    plx__moments_mean(filled, &m);
    assert_int_equal(d.usable, 2);
    assert_true(at(filled, 0, 0) == 3 && fabs(at(filled, 0, 1) - (-1 + 2 * 0.25)) < 1e-15); /* mu + S21/S11 (x - mu) */
    assert_true(at(filled, 1, 0) == 1 && at(filled, 1, 1) == -1 && at(filled, 2, 1) == 2);
    assert_close(m.cov[m.patterns->of[0]].data[0], 9 - 0.25, 1e-15);
    assert_close(m.cov[m.patterns->of[1]].data[1], 1, 1e-15);
    assert_int_equal(m.cov[m.patterns->of[2]].cols, 0);
    plx_context_destroy(ctx);
}

/* Without cov_reg EM never lowers the likelihood; same bytes for every number of threads. */
static void em_climbs(void **state)
{
    (void)state;
    enum { N = 300 };
    static double first[3 * 3 * 2], trace[3][100];
    for (int t = 0; t < 3; t++) {
        plx_context *ctx = test_context(thread_counts[t]);
        plx_mat x = test_mat(ctx, N, 3, 2);
        for (plx_index i = 0; i < N; i++) x.data[3 * i] += i % 2 ? 4 : 0;
        plx__incomplete_data d = describe(ctx, x, some_seen(ctx, N, 3), 1, WHOLE);
        plx__incomplete_mixture mix;
        plx__incomplete_result r;
        plx__incomplete_options o = {.components = 2, .max_iter = 60, .what = "t", .told = keep_trace, .arg = trace[t]};
        assert_ok(ctx, plx__incomplete_fit(&mix, &r, ctx, plx__scratch(ctx), &d, &o));
        for (int i = 1; i < 60; i++) assert_true(trace[t][i] >= trace[t][i - 1] - 1e-12);
        assert_close(mix.weight[0] + mix.weight[1], 1, 1e-12);
        assert_int_equal(r.iterations, 60);
        if (t == 0) memcpy(first, mix.cov.data, sizeof first);
        assert_memory_equal(first, mix.cov.data, sizeof first);
        plx_context_destroy(ctx);
    }
}

/* Blocks are independent within the only component: each fits as if it were alone, a row without a block left out. */
static void blocks_fit_as_if_alone(void **state)
{
    (void)state;
    enum { N = 80 };
    plx_context *ctx = test_context(2);
    plx_mat x = test_mat(ctx, N, 5, 3), part = test_mat(ctx, N, 3, 4);
    uint8_t *seen = all_seen(ctx, 5 * N), *part_seen = all_seen(ctx, 3 * N);
    const plx_index block[] = {0, 2, 5};
    for (plx_index i = 0; i < N; i++) {
        bool gone = i % 3 == 0;
        for (int j = 0; j < 3; j++) {
            seen[5 * i + 2 + j] = part_seen[3 * i + j] = !gone;
            part.data[3 * i + j] = at(x, i, 2 + j);
        }
    }
    plx__incomplete_data both = describe(ctx, x, seen, 2, block), alone = describe(ctx, part, part_seen, 1, WHOLE);
    const plx__cov_shape shapes[] = {PLX__COV_FULL, PLX__COV_DIAG, PLX__COV_SPHERICAL};
    for (int s = 0; s < 3; s++) {
        plx__incomplete_mixture m, own;
        plx__incomplete_result r;
        plx__incomplete_options o = {.components = 1, .shape = shapes[s], .cov_reg = 0.01, .max_iter = 5, .what = "t"};
        assert_ok(ctx, plx__incomplete_fit(&m, &r, ctx, plx__scratch(ctx), &both, &o));
        assert_ok(ctx, plx__incomplete_fit(&own, &r, ctx, plx__scratch(ctx), &alone, &o));
        for (int j = 0; j < 3; j++) {
            assert_close(m.mean.data[2 + j], own.mean.data[j], 1e-12);
            if (s) assert_close(m.cov.data[2 + j], own.cov.data[j], 1e-12);
            for (int l = 0; s == 0 && l < 3; l++)
                assert_close(m.cov.data[(2 + j) * 5 + 2 + l], own.cov.data[j * 3 + l], 1e-12);
            for (int l = 0; s == 0 && l < 2; l++) assert_true(m.cov.data[(2 + j) * 5 + l] == 0);
        }
        if (s == 2) assert_true(own.cov.data[0] == own.cov.data[1] && own.cov.data[1] == own.cov.data[2]);
    }
    plx_context_destroy(ctx);
}

/* Centres: the row nearest the mean, then always the farthest; ties to the smaller index. */
static void farthest_first_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {-4, 4, 0, 1, -1, 9};
    const uint8_t seen[] = {1, 1, 1, 1, 1, 0};
    const plx_index block[] = {0, 1};
    plx__incomplete_data d = describe(ctx, plx__mat_of(x, 6, 1), seen, 1, block);
    plx_mat r = test_mat(ctx, 6, 3, 1);
    assert_ok(ctx, plx__incomplete_farthest_first(r, ctx, &d));
    const double expected[] = {0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0}; /* centres: 0, then -4, then 4 */
    for (int i = 0; i < 18; i++) assert_true(r.data[i] == expected[i]);
    plx_context_destroy(ctx);
}

static void too_many_components(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat x = test_mat(ctx, 4, 3, 1);
    plx__incomplete_data d = describe(ctx, x, all_seen(ctx, 12), 1, WHOLE);
    plx__incomplete_mixture mix;
    plx__incomplete_result r;
    plx__incomplete_options o = {.components = 5, .max_iter = 5, .what = "t"};
    assert_fails(ctx, plx__incomplete_fit(&mix, &r, ctx, plx__scratch(ctx), &d, &o), PLX_E_DATA, "components = 5");
    assert_close(plx__incomplete_parameters(2, PLX__COV_FULL, 1, WHOLE), 1 + 2 * (3 + 6), 0);
    assert_close(plx__incomplete_parameters(2, PLX__COV_DIAG, 1, WHOLE), 1 + 2 * 6, 0);
    assert_close(plx__incomplete_parameters(3, PLX__COV_SPHERICAL, 1, WHOLE), 2 + 3 * 4, 0);
    plx_context_destroy(ctx);
}

static plx_status fit_once(plx_context *ctx)
{
    static const double x[] = {1, 2, 3, 2, 1, 0, 4, 4, 4, 0, 1, 3};
    static const uint8_t seen[] = {1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1};
    plx__incomplete_data d = {.x = plx__cmat_of(x, 4, 3), .seen = seen, .n_blocks = 1, .block = WHOLE};
    plx__incomplete_mixture mix;
    plx__moments m;
    plx__incomplete_result r;
    plx__incomplete_options o = {.components = 2, .cov_reg = 0.1, .max_iter = 2, .what = "t"};
    PLX_TRY(plx__incomplete_describe(&d, ctx, plx__scratch(ctx)));
    PLX_TRY(plx__incomplete_fit(&mix, &r, ctx, plx__scratch(ctx), &d, &o));
    return plx__incomplete_moments(&m, ctx, plx__scratch(ctx), &mix, &d, true, "t");
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(fit_once, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_component_is_closed_form),
        cmocka_unit_test(conditional_moments_by_hand),
        cmocka_unit_test(em_climbs),
        cmocka_unit_test(blocks_fit_as_if_alone),
        cmocka_unit_test(farthest_first_by_hand),
        cmocka_unit_test(too_many_components),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
