#include "linalg_test.h"

#include "linalg/eigen.h"
#include "mixture/expected_kernel.h"

enum { N = 7, D = 4, Z = 2 };

typedef struct world {
    plx_context *ctx;
    plx__incomplete_mixture mix;
    plx__incomplete_data data;
    plx__moments moments;
} world;

static const plx_index BLOCK[] = {0, D};
static double weight[Z] = {0.3, 0.7};

/* Rows with different holes; rows 2 and 5 share a pattern, row 6 has nothing, row 0 everything. */
static const uint8_t SEEN[N * D] = {1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0};

/* In place: the moments point into the data. */
static void make_world(world *w, int threads, plx__cov_shape shape)
{
    *w = (world){.ctx = test_context(threads)};
    plx_mat x = test_mat(w->ctx, N, D, 1), cov = test_mat(w->ctx, Z * D, D, 2);
    for (int z = 0; z < Z; z++) {
        plx_mat spd = test_spd(w->ctx, D, 0.5, 3 + z);
        for (int i = 0; i < D * D; i++) cov.data[z * D * D + i] = 0.3 * spd.data[i];
    }
    w->mix = (plx__incomplete_mixture){Z, D, shape, weight, test_mat(w->ctx, Z, D, 7), cov};
    if (shape != PLX__COV_FULL) {
        w->mix.cov = test_mat(w->ctx, Z, D, 8);
        for (int i = 0; i < Z * D; i++) w->mix.cov.data[i] = 0.2 + w->mix.cov.data[i] * w->mix.cov.data[i];
    }
    w->data = (plx__incomplete_data){.x = plx__cmat(x), .seen = SEEN, .n_blocks = 1, .block = BLOCK};
    assert_ok(w->ctx, plx__incomplete_describe(&w->data, w->ctx, plx__scratch(w->ctx)));
    assert_ok(w->ctx, plx__incomplete_moments(&w->moments, w->ctx, plx__scratch(w->ctx), &w->mix, &w->data, true, "t"));
}

static double plain(const plx__expected *k, const double *x, const double *y)
{
    double dot = plx__dot(x, y, D), gap = plx__dist_sq(x, y, D);
    if (k->kind == PLX__EXPECT_RBF) return k->factor * exp(-gap / (2 * k->width * k->width));
    return k->factor * (k->kind == PLX__EXPECT_LINEAR ? dot : pow(dot + k->coef0, (double)k->degree));
}

/* A draw of row i given what it has: a component, then its conditional Gaussian through a Cholesky factor by hand. */
static void draw(double *out, const world *w, plx_index i, plx__rng *rng)
{
    const plx__moments *m = &w->moments;
    const plx__patterns *p = m->patterns;
    plx_index z = plx__next_weighted(rng, m->prob.data + i * Z, Z), q = p->of[i], o = p->observed[q], n = D - o;
    plx_mat v = m->cov[q * Z + z];
    double l[D][D] = {{0}}, e[D];
    memcpy(out, m->mean.data + (i * Z + z) * D, D * sizeof *out);
    for (plx_index a = 0; a < n; a++) {
        e[a] = plx__next_normal(rng);
        for (plx_index b = 0; b <= a; b++) {
            double sum = m->shape == PLX__COV_FULL ? v.data[a * v.ld + b] : a == b ? v.data[a] : 0.0;
            for (plx_index c = 0; c < b; c++) sum -= l[a][c] * l[b][c];
            l[a][b] = a == b ? sqrt(sum) : sum / l[b][b];
        }
        for (plx_index b = 0; b <= a; b++) out[p->column[q * D + o + a]] += l[a][b] * e[b];
    }
}

/* Mean of many draws within 5 standard errors, all pairs, a row with itself included. */
static void agrees_with_monte_carlo(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    const plx__expected kernels[] = {{PLX__EXPECT_RBF, 1.3, 0, 0, 2.0},
                                     {PLX__EXPECT_LINEAR, 0, 0, 0, 0.5},
                                     {PLX__EXPECT_POLY, 0, 2, 0.7, 1.0},
                                     {PLX__EXPECT_POLY, 0, 3, 1.0, 0.1}};
    for (int shape = 0; shape < 2; shape++) {
        world w;
        make_world(&w, 2, shape ? PLX__COV_DIAG : PLX__COV_FULL);
        plx__expected_rows all = {&w.moments, NULL, N};
        for (int k = 0; k < 4; k++) {
            double sum[N * N] = {0}, squares[N * N] = {0};
            plx__rng rng = plx__rng_start(5, PLX__STREAM('m', 'c', 't', 'e', k));
            plx_mat found = test_mat(w.ctx, N, N, 9);
            assert_ok(w.ctx, plx__expected_kernel(w.ctx, &kernels[k], all, all, found));
            for (int t = 0; t < DRAWS; t++) {
                double x[N][D];
                for (plx_index i = 0; i < N; i++) draw(x[i], &w, i, &rng);
                for (int i = 0; i < N; i++)
                    for (int j = 0; j <= i; j++) {
                        double value = plain(&kernels[k], x[i], x[j]);
                        sum[i * N + j] += value;
                        squares[i * N + j] += value * value;
                    }
            }
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= i; j++) {
                    double mean = sum[i * N + j] / DRAWS, variance = squares[i * N + j] / DRAWS - mean * mean;
                    assert_close(at(found, i, j), mean, 5 * sqrt(fmax(variance, 0) / DRAWS) + 1e-9);
                    assert_true(at(found, i, j) == at(found, j, i));
                }
        }
        plx_context_destroy(w.ctx);
    }
}

/* Rows with nothing missing have their plain kernel; a part of the rows has that part of the matrix; the same bytes for
 * every number of threads. */
static void parts_and_threads_agree(void **state)
{
    (void)state;
    static double first[N * N];
    const plx__expected kernels[] = {
        {PLX__EXPECT_RBF, 0.9, 0, 0, 1}, {PLX__EXPECT_LINEAR, 0, 0, 0, 1}, {PLX__EXPECT_POLY, 0, 4, 0.2, 1}};
    const plx_index some[] = {5, 0, 6};
    for (int k = 0; k < 3; k++)
        for (int t = 0; t < 3; t++) {
            world w;
            make_world(&w, thread_counts[t], PLX__COV_FULL);
            plx__expected_rows all = {&w.moments, NULL, N}, part = {&w.moments, some, 3};
            plx_mat whole = test_mat(w.ctx, N, N, 9), cut = test_mat(w.ctx, N, 3, 9);
            assert_ok(w.ctx, plx__expected_kernel(w.ctx, &kernels[k], all, all, whole));
            assert_ok(w.ctx, plx__expected_kernel(w.ctx, &kernels[k], all, part, cut));
            assert_close(at(whole, 0, 0), plain(&kernels[k], w.data.x.data, w.data.x.data), 1e-12 * at(whole, 0, 0));
            for (int i = 0; i < N; i++)
                for (int j = 0; j < 3; j++)
                    assert_close(at(cut, i, j), at(whole, i, some[j]), 1e-10 * fabs(at(cut, i, j)));
            if (t == 0) memcpy(first, whole.data, sizeof first);
            assert_memory_equal(first, whole.data, sizeof first);
            plx_context_destroy(w.ctx);
        }
}

/* Copies of one sample in two populations are independent: the value is below that of the sample with itself. */
static void another_population_is_independent(void **state)
{
    (void)state;
    world w;
    make_world(&w, 1, PLX__COV_FULL);
    plx__moments copy = w.moments;
    plx__expected k = {PLX__EXPECT_RBF, 1, 0, 0, 1};
    plx__expected_rows a = {&w.moments, NULL, N}, b = {&copy, NULL, N};
    plx_mat own = test_mat(w.ctx, N, N, 1), other = test_mat(w.ctx, N, N, 1);
    assert_ok(w.ctx, plx__expected_kernel(w.ctx, &k, a, a, own));
    assert_ok(w.ctx, plx__expected_kernel(w.ctx, &k, a, b, other));
    for (int i = 0; i < N; i++) {
        assert_true(at(own, i, i) == 1);
        assert_true(i == 0 ? fabs(at(other, i, i) - 1) < 1e-12 : at(other, i, i) < 0.999);
        for (int j = 0; j < N; j++)
            if (j != i) assert_close(at(own, i, j), at(other, i, j), 1e-12);
    }
    plx_context_destroy(w.ctx);
}

static void stays_positive_semidefinite(void **state)
{
    (void)state;
    world w;
    make_world(&w, 1, PLX__COV_FULL);
    const plx__expected kernels[] = {
        {PLX__EXPECT_RBF, 0.7, 0, 0, 1}, {PLX__EXPECT_LINEAR, 0, 0, 0, 1}, {PLX__EXPECT_POLY, 0, 3, 0.5, 1}};
    plx__expected_rows all = {&w.moments, NULL, N};
    for (int k = 0; k < 3; k++) {
        plx_mat found = test_mat(w.ctx, N, N, 9);
        double values[N];
        assert_ok(w.ctx, plx__expected_kernel(w.ctx, &kernels[k], all, all, found));
        assert_ok(w.ctx, plx__sym_eigen(w.ctx, found, values, (plx_mat){0}));
        assert_true(values[0] > -1e-10 * values[N - 1]);
    }
    plx_context_destroy(w.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_monte_carlo),
        cmocka_unit_test(parts_and_threads_agree),
        cmocka_unit_test(another_population_is_independent),
        cmocka_unit_test(stays_positive_semidefinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
