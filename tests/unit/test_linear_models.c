/*
 * Linear classifiers: zero gradients at the optimum (computed here from the definitions), closed forms, dense and sparse
 * rows alike, and Newton's method on functions whose minimum is known.
 */
#include "optim/linear_models.h"

#include "core/rng.h"
#include "optim/newton_cg.h"
#include "plx_test.h"

enum { L = 17, P = 6, WIDE = 40, K = 3 };

typedef struct rows {
    plx_index l, p;
    double x[L][WIDE];
    int32_t label[L];
} rows;

static rows make_rows(plx_index p, double scale)
{
    rows r = {.l = L, .p = p};
    plx__rng g = plx__rng_start(9, PLX__STREAM('r', 'o', 'w', 's', p));
    for (int i = 0; i < L; i++) {
        r.label[i] = i % K;
        for (plx_index j = 0; j < p; j++)
            r.x[i][j] = plx__next_uniform(&g) < 0.5 ? 0 : scale * (plx__next_normal(&g) + (j % K == i % K));
        r.x[i][p - 1] = 1;
    }
    return r;
}

static plx__design design_of(plx_context *ctx, const rows *r, bool sparse)
{
    plx_mat dense;
    plx_csr thin;
    plx__design x;
    assert_ok(ctx, plx__arena_mat(&dense, plx__scratch(ctx), r->l, r->p));
    for (plx_index i = 0; i < r->l; i++) memcpy(dense.data + i * r->p, r->x[i], (size_t)r->p * sizeof(double));
    assert_ok(ctx, plx__csr_from_dense(&thin, plx__scratch(ctx), plx__cmat(dense)));
    plx__points points = sparse ? plx__points_csr(plx__ccsr(thin)) : plx__points_dense(plx__cmat(dense));
    assert_ok(ctx, plx__design_open(&x, ctx, points, r->label, "test"));
    return x;
}

static double score(const rows *r, plx_cmat w, plx_index i, plx_index c)
{
    double s = 0;
    for (plx_index j = 0; j < r->p; j++) s += r->x[i][j] * w.data[j * w.ld + c];
    return s;
}

/* Largest entry of the gradient of the logistic objective, from its definition. */
static double logistic_gradient(const rows *r, plx_cmat w, double lambda)
{
    double most = 0;
    for (plx_index j = 0; j < r->p; j++)
        for (plx_index c = 0; c < K; c++) {
            double g = lambda * w.data[j * w.ld + c];
            for (plx_index i = 0; i < r->l; i++) {
                double sum = 0, own = score(r, w, i, c);
                for (plx_index k = 0; k < K; k++) sum += exp(score(r, w, i, k) - own);
                g += r->x[i][j] * (1 / sum - (r->label[i] == c));
            }
            most = fmax(most, fabs(g));
        }
    return most;
}

static double svm_gradient(const rows *r, plx_cmat w, double lambda)
{
    double most = 0;
    for (plx_index j = 0; j < r->p; j++)
        for (plx_index c = 0; c < K; c++) {
            double g = w.data[j * w.ld + c];
            for (plx_index i = 0; i < r->l; i++) {
                double t = r->label[i] == c ? 1 : -1;
                g -= 2 / lambda * t * r->x[i][j] * fmax(0, 1 - t * score(r, w, i, c));
            }
            most = fmax(most, fabs(g));
        }
    return most;
}

/* (X'X + lambda I) W = X'T. */
static double ridge_residual(const rows *r, plx_cmat w, double lambda)
{
    double most = 0;
    for (plx_index j = 0; j < r->p; j++)
        for (plx_index c = 0; c < K; c++) {
            double g = lambda * w.data[j * w.ld + c];
            for (plx_index i = 0; i < r->l; i++) g += r->x[i][j] * (score(r, w, i, c) - (r->label[i] == c ? 1 : -1));
            most = fmax(most, fabs(g));
        }
    return most;
}

typedef plx_status (*fit_fn)(plx_context *, const plx__design *, double, plx_mat);
typedef double (*gap_fn)(const rows *, plx_cmat, double);

static void optimum_is_reached(void **state)
{
    static const fit_fn fits[3] = {plx__logistic_fit, plx__linear_svm_fit, plx__linear_ridge_fit};
    static const gap_fn gaps[3] = {logistic_gradient, svm_gradient, ridge_residual};
    static const double lambdas[3] = {1e-3, 1, 50}, scales[2] = {1, 30};
    (void)state;
    plx_context *ctx = test_context(1);
    for (int f = 0; f < 3; f++)
        for (int s = 0; s < 2; s++)
            for (int wide = 0; wide < 2; wide++)
                for (int l = 0; l < 3; l++) {
                    rows r = make_rows(wide ? WIDE : P, scales[s]);
                    plx_mat w[2];
                    for (int sparse = 0; sparse < 2; sparse++) {
                        plx__design x = design_of(ctx, &r, sparse);
                        assert_ok(ctx, plx__arena_mat(&w[sparse], plx__scratch(ctx), r.p, K));
                        if (sparse) plx__mat_fill(w[1], 0.3); /* the start does not matter */
                        assert_ok(ctx, fits[f](ctx, &x, lambdas[l], w[sparse]));
                        assert_true(gaps[f](&r, plx__cmat(w[sparse]), lambdas[l]) <= 1e-9);
                    }
                    for (plx_index i = 0; i < r.p * K; i++)
                        assert_close(w[0].data[i], w[1].data[i], 1e-6 * (1 + fabs(w[0].data[i])));
                }
    plx_context_destroy(ctx);
}

/* One row x = (a, 1) of class 0 of 1: softmax of one class is 1, so only the norm is left. */
static void one_class(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[2] = {3, 1};
    int32_t label = 0;
    plx__design d;
    plx_mat w;
    assert_ok(ctx, plx__design_open(&d, ctx, plx__points_dense(plx__cmat_of(x, 1, 2)), &label, "test"));
    assert_ok(ctx, plx__arena_mat(&w, plx__scratch(ctx), 2, 1));
    w.data[0] = 5;
    assert_ok(ctx, plx__logistic_fit(ctx, &d, 0.5, w));
    assert_close(w.data[0], 0, 1e-9);
    /* min w.w/2 + (1 - 3a - b)^2: (a, b) = t (3, 1) with t = 2 (1 - 10 t), t = 2/21 */
    assert_ok(ctx, plx__linear_svm_fit(ctx, &d, 1.0, w));
    assert_close(w.data[0], 6.0 / 21, 1e-10);
    assert_close(w.data[1], 2.0 / 21, 1e-10);
    plx_context_destroy(ctx);
}

/* f = sum_i c_i (x_i - i)^2 + (x_i - i)^4: minimum at x_i = i. */
typedef struct quartic {
    plx_index n;
    const double *at;
    double x[8];
} quartic;

static plx_status quartic_value(void *arg, plx_context *ctx, const double *x, double *f, double *g)
{
    quartic *q = arg;
    (void)ctx;
    *f = 0;
    for (plx_index i = 0; i < q->n; i++) {
        double d = x[i] - (double)i, c = pow(10, (double)i - 3);
        *f += c * d * d + d * d * d * d;
        g[i] = 2 * c * d + 4 * d * d * d;
        q->x[i] = x[i];
    }
    return PLX_OK;
}

static plx_status quartic_curve(void *arg, plx_context *ctx, double *out, const double *v)
{
    const quartic *q = arg;
    (void)ctx;
    for (plx_index i = 0; i < q->n; i++) {
        double d = q->x[i] - (double)i;
        out[i] = v[i] * (2 * pow(10, (double)i - 3) + 12 * d * d);
    }
    return PLX_OK;
}

static void newton_finds_a_known_minimum(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    quartic q = {.n = 6};
    plx__newton_problem p = {6, 0.1, &q, quartic_value, quartic_curve};
    plx__newton_result result;
    double x[6] = {40, -30, 0, 2, 9, 100};
    assert_ok(ctx, plx__newton_cg(ctx, &p, x, 1e-10, 200, &result));
    assert_true(result.gradient_norm <= 1e-10 && result.iterations < 60);
    for (int i = 0; i < 6; i++) assert_close(x[i], i, 1e-6);
    assert_ok(ctx, plx__newton_cg(ctx, &p, x, 1e-10, 200, &result));
    assert_int_equal(result.iterations, 0);
    x[0] = NAN;
    assert_fails(ctx, plx__newton_cg(ctx, &p, x, 1e-10, 200, &result), PLX_E_NUMERIC, "finite");
    plx_context_destroy(ctx);
}

static void survives_refused_memory(void **state)
{
    static const fit_fn fits[3] = {plx__logistic_fit, plx__linear_svm_fit, plx__linear_ridge_fit};
    (void)state;
    rows r = make_rows(P, 1);
    for (int f = 0; f < 3; f++) {
        plx_status st = PLX_E_NOMEM;
        for (long k = 1; st != PLX_OK && k < 2000; k++) {
            meter m = {0, 0, 0};
            plx_context *ctx = metered_context(&m, 1);
            plx__design x = design_of(ctx, &r, true);
            plx_mat w;
            assert_ok(ctx, plx__arena_mat(&w, plx__scratch(ctx), r.p, K));
            m.calls = 0;
            m.fail_at = k;
            st = fits[f](ctx, &x, 1.0, w);
            assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
            plx_context_destroy(ctx);
            assert_int_equal(m.live, 0);
        }
        assert_int_equal(st, PLX_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum_is_reached),
        cmocka_unit_test(one_class),
        cmocka_unit_test(newton_finds_a_known_minimum),
        cmocka_unit_test(survives_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
