/* The pieces of EM: exp and log of vectors, softmax rows, M steps that nothing near them improves. */
#include "core/rng.h"
#include "linalg/vecmath.h"
#include "plx_test.h"
#include "mixture/view_mixture.h"

/* ---- exp and log ---- */

#define DEFINE_BOTH(SUFFIX, TARGET, VEC)                                                                               \
    TARGET static void exp8##SUFFIX(double *out, const double *in)                                                     \
    {                                                                                                                  \
        for (int k = 0; k < 8; k += PLX__LANES(VEC)) PLX__EXP(VEC, *(VEC##u *)(out + k), *(const VEC##u *)(in + k));   \
    }                                                                                                                  \
    TARGET static void log8##SUFFIX(double *out, const double *in)                                                     \
    {                                                                                                                  \
        for (int k = 0; k < 8; k += PLX__LANES(VEC)) PLX__LOG(VEC, *(VEC##u *)(out + k), *(const VEC##u *)(in + k));   \
    }

PLX__EACH_WIDTH(DEFINE_BOTH)

/* The library's functions in long double are the judge; both are within one unit in the last place. */
static void vectors_agree_with_libm(void **state)
{
    (void)state;
    plx__rng rng = plx__rng_start(1, 1);
    for (int r = 0; r < 20000; r++) {
        double x[8], y[8], e[8], l[8];
        for (int k = 0; k < 8; k++) {
            x[k] = -708 * plx__next_uniform(&rng) * (r % 2 ? 1 : 1e-3);
            y[k] = r % 3 ? pow(10, -300 * plx__next_uniform(&rng)) : 0.5 + plx__next_uniform(&rng);
        }
        double narrow[8];
        PLX__WIDEST(exp8)(e, x);
        PLX__WIDEST(log8)(l, y);
        exp8_128(narrow, x); /* the same bytes from registers of every width */
        assert_memory_equal(narrow, e, sizeof e);
        log8_128(narrow, y);
        assert_memory_equal(narrow, l, sizeof l);
        for (int k = 0; k < 8; k++) {
            assert_close(e[k] / (double)expl((long double)x[k]), 1, 3e-16);
            assert_close(l[k], (double)logl((long double)y[k]), 3e-16 * fmax(fabs(l[k]), 1e-3));
        }
    }
    double edge[8] = {0, -708, -708.5, -1e300, 1, -1e-320, -0.0, 700}, out[8];
    PLX__WIDEST(exp8)(out, edge);
    assert_true(out[0] == 1 && out[2] == 0 && out[3] == 0 && out[5] == 1 && out[6] == 1);
    assert_true(out[1] > 3e-308 && out[1] < 3.4e-308);
    assert_close(out[7] / exp(700), 1, 3e-16);
}

static void softmax_by_hand(void **state)
{
    (void)state;
    double z[8] = {log(1),         log(2),         log(5),         PLX__PAD_SCORE,
                   PLX__PAD_SCORE, PLX__PAD_SCORE, PLX__PAD_SCORE, PLX__PAD_SCORE};
    double p[8];
    assert_close(plx__softmax8(p, z, 8), log(8), 1e-15);
    assert_close(p[0], 0.125, 1e-16);
    assert_close(p[1], 0.25, 1e-16);
    assert_close(p[2], 0.625, 1e-15);
    for (int j = 3; j < 8; j++) assert_true(p[j] == 0);
    for (int j = 0; j < 3; j++) z[j] += 1e5; /* no overflow, same answer */
    assert_close(plx__softmax8(z, z, 8), 1e5 + log(8), 1e-10);
    assert_close(z[2], 0.625, 1e-10);
    double zero[8] = {0, 1, 1e-310, 1e-300, 2, 3, 4, 5};
    plx__log_floored8(p, zero, 8);
    assert_close(p[0], log(1e-300), 1e-12);
    assert_close(p[2], log(1e-300), 1e-12);
    assert_true(p[1] == 0);
}

/* ---- M steps ---- */

enum { N = 40, D = 6, M = 3, PAD = 8 };

typedef struct problem {
    plx__view view;
    double x[N * D];
    uint8_t present[N];
    double weights[N * PAD], mass[PAD];
} problem;

static void draw(problem *q, uint64_t seed)
{
    plx__rng rng = plx__rng_start(seed, 2);
    memset(q, 0, sizeof *q);
    for (int i = 0; i < N; i++) {
        double row[M], sum = 0;
        q->present[i] = i % 7 != 3;
        for (int j = 0; j < M; j++) sum += row[j] = plx__next_uniform(&rng);
        for (int f = 0; f < D; f++) {
            double value = floor(plx__next_uniform(&rng) * 5) + (f == 0);
            if (q->present[i]) q->x[i * D + f] = value;
        }
        for (int j = 0; q->present[i] && j < M; j++) q->mass[j] += q->weights[i * PAD + j] = row[j] / sum;
    }
    q->view =
        (plx__view){.name = "v", .kind = PLX_VIEW_REAL, .dense = {q->x, N, D, D}, .cols = D, .present = q->present};
    for (int i = 0; i < N; i++) q->view.present_count += q->present[i];
}

/* sum R L plus the logarithm of the smoothing prior: what the M step maximises. */
static double value(const problem *q, const plx__view_mixture *mix, plx_cmat theta, double smoothing)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; q->present[i] && j < M; j++) sum += q->weights[i * PAD + j] * mix->loglik.data[i * PAD + j];
    for (int k = 0; mix->set.likelihood == PLX__MULTINOMIAL && k < M * D; k++) sum += smoothing * log(theta.data[k]);
    return sum;
}

/* Parameters near the given ones that are still allowed: probabilities, directions, positive variances. */
static void disturb(double *theta, double *var, plx_index var_cols, plx__likelihood l, plx__rng *rng)
{
    for (int j = 0; j < M; j++) {
        double sum = 0, square = 0;
        for (int f = 0; f < D; f++) {
            double *t = &theta[j * D + f], by = 0.02 * plx__next_normal(rng);
            *t = l == PLX__MULTINOMIAL ? *t * exp(by) : *t + by;
            sum += *t;
            square += *t * *t;
        }
        for (int f = 0; f < D; f++) theta[j * D + f] /= l == PLX__MULTINOMIAL ? sum : l == PLX__VMF ? sqrt(square) : 1;
        for (plx_index f = 0; f < var_cols; f++) var[j * var_cols + f] *= exp(0.05 * plx__next_normal(rng));
    }
}

static void m_step_is_a_maximum(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__rng rng = plx__rng_start(5, 5);
    for (int l = PLX__MULTINOMIAL; l <= PLX__VMF; l++) {
        problem q;
        plx__view_mixture mix;
        plx__view_mixture_settings set = {(plx__likelihood)l, M, 0.3, 1e-6, 7};
        double theta[M * D], weights[N * PAD];
        draw(&q, (uint64_t)l + 1);
        memcpy(weights, q.weights, sizeof weights);
        const plx__view *list[] = {&q.view};
        plx__mixture_cut cut = plx__mixture_cut_of(list, 1, N, M);
        assert_ok(ctx, plx__view_mixture_open(&mix, ctx, &q.view, &cut, &set, PLX__ALL_AT_ONCE, true));
        assert_ok(ctx, plx__view_mixture_m_step(&mix, (plx_mat){weights, N, PAD, PAD}, q.mass));
        assert_ok(ctx, plx__view_mixture_scores(&mix));
        plx_cmat t = {theta, M, D, D};
        plx__view_mixture_get((plx_mat){theta, M, D, D}, &mix);
        double best = value(&q, &mix, t, 0.3), var[M * D];
        plx_index cols = mix.var.cols;
        if (cols) memcpy(var, mix.var.data, (size_t)(M * cols) * sizeof *var);
        for (int r = 0; r < 50; r++) {
            double near[M * D], near_var[M * D];
            memcpy(near, theta, sizeof near);
            memcpy(near_var, var, (size_t)(M * cols) * sizeof *var);
            disturb(near, near_var, cols, (plx__likelihood)l, &rng);
            plx__view_mixture_set(&mix, (plx_cmat){near, M, D, D}, (plx_cmat){near_var, M, cols, cols});
            assert_ok(ctx, plx__view_mixture_scores(&mix));
            double now = value(&q, &mix, (plx_cmat){near, M, D, D}, 0.3);
            if (!(now < best)) fail_msg("likelihood %d: %.17g near %.17g", l, now, best);
        }
        plx__arena_rewind(plx__scratch(ctx), (plx__mark){0});
    }
    plx_context_destroy(ctx);
}

/* One Gaussian: its log-density at a point, by hand. */
static void gaussian_density_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {1, 2, 3, 6}; /* two samples */
    uint8_t present[] = {1, 1};
    plx__view view = {
        .name = "v", .kind = PLX_VIEW_REAL, .dense = {x, 2, 2, 2}, .cols = 2, .present = present, .present_count = 2};
    plx__view_mixture mix;
    plx__view_mixture_settings set = {PLX__GAUSSIAN, 1, 0, 1e-6, 0};
    double weights[16] = {1, 0, 0, 0, 0, 0, 0, 0, 1}, mass[8] = {2};
    const plx__view *list[] = {&view};
    plx__mixture_cut cut = plx__mixture_cut_of(list, 1, 2, set.components);
    assert_ok(ctx, plx__view_mixture_open(&mix, ctx, &view, &cut, &set, PLX__ALL_AT_ONCE, true));
    assert_close(mix.total_variance, 5, 1e-15); /* variances 1 and 4 */
    assert_close(mix.floor, 2.5e-6, 1e-18);
    assert_ok(ctx, plx__view_mixture_m_step(&mix, (plx_mat){weights, 2, 8, 8}, mass));
    assert_ok(ctx, plx__view_mixture_scores(&mix));
    assert_close(mix.theta.data[1], 4, 1e-15);
    assert_close(mix.var.data[0], 1, 1e-15);
    assert_close(mix.var.data[1], 4, 1e-15);
    double expected = -0.5 * (1 + 1) - 0.5 * (log(2 * acos(-1.0) * 1) + log(2 * acos(-1.0) * 4));
    assert_close(mix.loglik.data[0], expected, 1e-14);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_agree_with_libm),
        cmocka_unit_test(softmax_by_hand),
        cmocka_unit_test(m_step_is_a_maximum),
        cmocka_unit_test(gaussian_density_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
